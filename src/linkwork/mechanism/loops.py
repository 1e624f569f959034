"""What stands beside the tree: loops, couplings, and which joints are actuated.

A loop is two frames on two bodies and the relative motion that they leave free; a coupling is a
joint whose position is a function of others'. Both are constraints on q: they take nothing away
from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism.expressions import Expression, affine, traced

Floats = NDArray[np.float64]


class Held(NamedTuple):
    """Which components of position and of rotation a loop holds, by the axes of its frame a.

    ``across``: the z axis of frame a stays across the x axis of frame b. ``length``: the distance
    of the two origins stays.
    """

    position: str
    rotation: str
    across: bool = False
    length: bool = False


KINDS: dict[str, Held] = {
    "pose": Held("xyz", "xyz"),
    "revolute": Held("xyz", "xy"),
    "prismatic": Held("xy", "xyz"),
    "cylindrical": Held("xy", "xy"),
    "planar": Held("z", "xy"),
    "position": Held("xyz", ""),
    "universal": Held("xyz", "", across=True),
    "distance": Held("", "", length=True),
}
"""The kinds of loops by the joint that closes them: weld, hinge about z, slide along z, both, plane
across z, ball, universal joint (turning about z of a and x of b), and a rod with two balls."""


@dataclass(frozen=True)
class Loop:
    """A loop that closes between two frames.

    ``kind`` is one of `KINDS`, or the axes of frame a whose position and rotation are held:
    ``"xy/z"``, ``"xy"`` for position alone. ``distance`` (m) is that of the kind of this name.
    """

    name: str
    frame_a: str
    frame_b: str
    kind: str = "pose"
    distance: float = 0.0

    def __post_init__(self) -> None:
        for what in ("name", "frame_a", "frame_b"):
            value: Any = getattr(self, what)
            if not isinstance(value, str) or not value:
                raise InputError(f"the {what} of a loop must be a name, not {value!r:.60}")
        object.__setattr__(self, "kind", kind_of(self.kind))
        object.__setattr__(self, "distance", self._checked_distance())

    def _checked_distance(self) -> float:
        value: Any = self.distance
        number = isinstance(value, (int, float, np.integer, np.floating))
        if isinstance(value, bool) or not (number and math.isfinite(value) and value >= 0.0):
            raise InputError(f"loop '{self.name}': distance must be from 0 (m), not {value!r:.40}")
        if self.held.length and value == 0.0:
            raise InputError(
                f"loop '{self.name}': a distance of 0 is the kind 'position'; give distance above 0"
            )
        if not self.held.length and value != 0.0:
            raise InputError(f"loop '{self.name}': distance belongs to the kind 'distance' alone")
        return float(value)

    @property
    def held(self) -> Held:
        """What it holds."""
        found = KINDS.get(self.kind)
        if found is not None:
            return found
        position, rotation = self.kind.split("/")
        return Held(position, rotation)

    @property
    def row_names(self) -> tuple[str, ...]:
        """What each of its rows holds, position first."""
        held = self.held
        if held.length:
            return ("distance",)
        rows = [f"position {axis}" for axis in held.position]
        rows += [f"rotation {axis}" for axis in held.rotation]
        return (*rows, "rotation across") if held.across else tuple(rows)


@dataclass(frozen=True)
class Coupling:
    """A joint with one position, which is a function of those of its leaders."""

    joint: str
    leaders: tuple[str, ...]
    function: Expression

    @property
    def name(self) -> str:
        """What it is called in messages and results."""
        return f"coupling of {self.joint}"


def kind_of(given: Any) -> str:
    """A kind of loop by its name, or by axes: "xy", "xy/z" or ("xy", "z").

    Raises: UnknownNameError for a name; InputError for axes that are none.
    """
    if isinstance(given, str) and given in KINDS:
        return given
    parts: Any = given.split("/") if isinstance(given, str) else given
    listed = list(parts) if isinstance(parts, (list, tuple)) else []
    if isinstance(given, str) and set(given) - set("xyz/"):
        raise UnknownNameError("kind of loop", given, tuple(KINDS))
    parts = [*listed, ""] if len(listed) == 1 else listed
    fine = len(parts) == 2 and all(isinstance(part, str) for part in parts)
    fine = fine and all(set(p) <= set("xyz") and len(set(p)) == len(p) for p in parts)
    if not fine or not any(parts):
        names = ", ".join(KINDS)
        raise InputError(
            f"the kind of a loop is one of {names}, or the axes held such as 'xy' (position) or "
            f"'xy/z' (position and rotation), not {given!r:.60}"
        )
    return "/".join("".join(sorted(part)) for part in parts)


def coupling(
    joint: str,
    leaders: str | Sequence[str],
    function: Callable[..., Any] | Expression | None = None,
    *,
    rate: float | Sequence[float] = 1.0,
    offset: float = 0.0,
) -> Coupling:
    """A coupling by a function of the leaders' positions, or by rates and an offset.

    Raises: InputError for numbers that do not fit; what tracing the function raises.
    """
    names = (leaders,) if isinstance(leaders, str) else tuple(leaders)
    if not names:
        raise InputError(f"the coupling of '{joint}' needs at least one leader")
    if joint in names:
        raise InputError(f"'{joint}' cannot be coupled to itself")
    if len(set(names)) < len(names):
        raise InputError(f"the coupling of '{joint}' names a leader twice")
    if isinstance(function, Expression):
        if function.n_inputs != len(names):
            raise InputError(f"the function of '{joint}' takes {function.n_inputs} leaders")
        return Coupling(joint, names, function)
    if function is not None:
        return Coupling(joint, names, traced(function, len(names)))
    rates = [rate] * len(names) if isinstance(rate, (int, float)) else list(rate)
    if len(rates) != len(names):
        raise InputError(f"the coupling of '{joint}' has {len(names)} leaders, {len(rates)} rates")
    return Coupling(joint, names, affine(rates, offset))


class Beside(NamedTuple):
    """All that stands beside a tree."""

    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    actuated: tuple[str, ...] = ()


def check_beside(
    beside: Beside,
    *,
    body_of: dict[str, int],
    n_positions: dict[str, int],
) -> None:
    """Check what stands beside a tree: ``body_of`` each frame, ``n_positions`` of each joint in q.

    Raises: UnknownNameError for frames and joints; InputError for names that occur twice, frames on
    one body, and couplings of joints with several positions.
    """
    _once("loop", (loop.name for loop in beside.loops))
    _once("actuated joint", beside.actuated)
    for loop in beside.loops:
        for frame in (loop.frame_a, loop.frame_b):
            if frame not in body_of:
                raise UnknownNameError("frame", frame, tuple(body_of))
        if body_of[loop.frame_a] == body_of[loop.frame_b]:
            raise InputError(
                f"loop '{loop.name}': '{loop.frame_a}' and '{loop.frame_b}' are on one body, so "
                "nothing is closed between them"
            )
    named = [*beside.actuated, *(n for c in beside.couplings for n in (c.joint, *c.leaders))]
    for name in named:
        if name not in n_positions:
            raise UnknownNameError("joint", name, tuple(n_positions))
    for each in beside.couplings:
        for name in (each.joint, *each.leaders):
            if n_positions[name] != 1:
                raise InputError(
                    f"{each.name}: '{name}' has {n_positions[name]} positions; joints with one "
                    "can be coupled"
                )


def _once(what: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"there are two of the {what} '{name}'; names must differ")
        seen.add(name)


def gap_between(loop: Loop, R: Floats, p: Floats) -> float:
    """How far a loop is from closed, frame b being at R (3, 3), p (3,) in frame a.

    The largest of its errors in metres and, of rotations, in sines of angles and cosines missed.
    """
    held = loop.held
    if held.length:
        return abs(float(np.linalg.norm(p)) - loop.distance)
    errors = [abs(float(p["xyz".index(axis)])) for axis in held.position]
    if held.across:
        errors.append(abs(float(R[2, 0])))
    if len(held.rotation) == 3:
        errors.append(float(np.abs(R - np.eye(3)).max()))
    elif len(held.rotation) == 2:
        free = "xyz".index(next(axis for axis in "xyz" if axis not in held.rotation))
        errors.append(float(np.abs(R[:, free] - np.eye(3)[free]).max()))
    elif held.rotation:
        k = "xyz".index(held.rotation)
        i, j = (k + 1) % 3, (k + 2) % 3
        errors.append(abs(0.5 * float(R[j, i] - R[i, j])))
    return max(errors)
