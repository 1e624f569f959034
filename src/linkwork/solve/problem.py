"""An inverse kinematics problem as data: what moves, between which limits, towards what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PoseProblem:
    """Bring one frame to a pose by some of the coordinates that move it.

    ``moved`` are indices into q, ``moved_v`` into v; ``held`` are those positions that the frame's
    pose also depends on but that stay as they are given.
    """

    mechanism: Mechanism
    frame: str
    coordinates: tuple[int, ...]
    moved: tuple[int, ...]
    moved_v: tuple[int, ...]
    held: tuple[int, ...]
    length: float  # m, what the frame can reach from its first joint, at least roughly

    @cached_property
    def lower(self) -> Floats:
        """Lower limits of what moves (n,)."""
        return self.mechanism.lower[list(self.moved)]

    @cached_property
    def upper(self) -> Floats:
        """Upper limits of what moves (n,)."""
        return self.mechanism.upper[list(self.moved)]

    @cached_property
    def is_angle(self) -> NDArray[np.bool_]:
        """Which of the moved positions are angles (n,)."""
        flags = np.zeros(self.mechanism.n_q, dtype=bool)
        for c, kind in enumerate(self.mechanism.joint_types):
            stop = int(self.mechanism.q_start[c + 1])
            if kind.turns or kind is JointType.PLANAR:
                flags[stop - 1] = True
        return flags[list(self.moved)]

    @cached_property
    def wraps(self) -> NDArray[np.bool_]:
        """Which of the moved positions are angles without limits (n,)."""
        return self.is_angle & np.isinf(self.lower) & np.isinf(self.upper)


def pose_problem(m: Mechanism, frame: str, joints: Sequence[str] | None = None) -> PoseProblem:
    """The problem of moving ``frame`` by ``joints``, by default all between base and frame.

    Raises: UnknownNameError for a frame or joint; InputError where no joint moves the frame, for a
    joint that does not, and for reversed limits.
    """
    moving = m.coordinates_moving(m.frame(frame))
    if not moving:
        raise InputError(f"no joint moves frame '{frame}': it is fixed to the base")
    chosen = moving if joints is None else _chosen(m, frame, moving, joints)
    moved = _expand(m.q_start, chosen)
    for c in chosen:
        part = slice(int(m.q_start[c]), int(m.q_start[c + 1]))
        if np.any(m.lower[part] > m.upper[part]):
            raise InputError(
                f"joint '{m.joint_names[c]}' has its lower limit above its upper one: "
                f"{m.lower[part]} > {m.upper[part]}; mend the description"
            )
    held = [k for k in _expand(m.q_start, moving) if k not in set(moved)]
    return PoseProblem(
        mechanism=m,
        frame=frame,
        coordinates=tuple(chosen),
        moved=tuple(moved),
        moved_v=tuple(_expand(m.v_start, chosen)),
        held=tuple(held),
        length=_length(m, frame),
    )


def _chosen(m: Mechanism, frame: str, moving: list[int], joints: Sequence[str]) -> list[int]:
    if isinstance(joints, str):
        joints = [joints]
    if not joints:
        allowed = ", ".join(m.joint_names[c] for c in moving)
        raise InputError(f"joints is empty: nothing would move '{frame}'; these do: {allowed}")
    chosen = sorted({m.joint(name) for name in joints})
    idle = [m.joint_names[c] for c in chosen if c not in moving]
    if idle:
        allowed = ", ".join(m.joint_names[c] for c in moving)
        raise InputError(f"{', '.join(idle)} does not move frame '{frame}'; these do: {allowed}")
    return chosen


def _expand(starts: NDArray[np.int64], coordinates: Sequence[int]) -> list[int]:
    return [k for c in coordinates for k in range(int(starts[c]), int(starts[c + 1]))]


def _length(m: Mechanism, frame: str) -> float:
    """The sum of the lengths between the joints from the first that moves to the frame, in metres.

    Bounded slides count with their larger end. With nothing to measure it is 1.
    """
    index = m.frame(frame)
    body = int(m.frame_body[index])
    path = [b for b in m.ancestry(body) if m.body_joint_types[b] is not JointType.FIXED]
    total = float(np.linalg.norm(m.p_body_frame[index]))
    for place, b in enumerate(path):
        if place > 0:
            total += float(np.linalg.norm(m.p_parent_joint[b]))
        if m.body_joint_types[b] is JointType.PRISMATIC:
            start = int(m.q_start[int(m.coordinate[b])])
            ends = np.abs(
                m.multiplier[b] * np.array([m.lower[start], m.upper[start]]) + m.offset[b]
            )
            total += float(np.max(ends[np.isfinite(ends)], initial=0.0))
    return total if total > 0.0 else 1.0
