"""The way from the world to one frame: what moves it, and by which arm.

The way is cut at *anchors*, points on the axes of the joints, and each segment from one anchor to
the next is one vector in world axes. A distance along an axis is not added up before the
axis changes, so constants that meet on one axis (parallel joints, slides) become one product.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from linkwork.algorithms.axes import (
    Axes,
    Scalar,
    along_columns,
    applied,
    is_zero,
    placed,
    reference_axes,
    signed_axis,
    signed_permutation,
    transposed,
    wanted_signs,
)
from linkwork.algorithms.joint_motion import (
    body_axes,
    displacement,
    joint_axes,
    joint_position,
)
from linkwork.mechanism.model import JointType, Mechanism, Placement
from linkwork.ops.protocol import Block, Ops


class Motion(NamedTuple):
    """One number of v at work: a turn about, or a slide along, ``sign * axis``."""

    v_index: int
    factor: float  # the multiplier of a coupled joint
    axis: Block  # (3,)
    sign: int
    turns: bool
    anchor: int  # how many segments lie before the point that the axis goes through
    along: int = 0  # how many segments after that lie along the axis itself


@dataclass(slots=True)
class Path:
    """A frame carried along the way; afterwards, the way itself.

    ``pending`` are the components along ``axes.columns`` that no segment contains yet. ``spin`` is
    the last turn: its column and its place in ``motions``, until a segment follows it.
    """

    o: Ops
    axes: Axes
    pending: list[Scalar] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    spin: tuple[int, int] | None = None
    segments: list[Block] = field(default_factory=list[Block])
    motions: list[Motion] = field(default_factory=list[Motion])

    def shift(self, local: list[Scalar]) -> None:
        """Move along the frame's own axes."""
        for j, value in enumerate(local):
            if not is_zero(value):
                k = self.axes.which[j]
                signed = value if self.axes.sign[j] > 0 else -value
                at = self.pending[k]
                self.pending[k] = signed if is_zero(at) else at + signed

    def place(self, at: Placement) -> None:
        """Move to a frame that is placed in this one."""
        self.shift(at.p)
        if signed_permutation(at.R) is None:
            self.flush()
            self.spin = None
        self.axes = placed(self.o, self.axes, at.R)

    def flush(self, keep: int = -1) -> None:
        """Make segments of what is pending, but for the component along column ``keep``.

        What lies along the axis of the last turn comes first and by itself: that turn's own arm
        can do without it.
        """
        first = set[int]() if self.spin is None else {self.spin[0]} - {keep}
        for chosen in (first, {0, 1, 2} - first - {keep}):
            parts: list[Scalar] = [x if k in chosen else 0.0 for k, x in enumerate(self.pending)]
            segment = along_columns(self.axes, parts)
            if segment is None:
                continue
            self.segments.append(segment)
            if self.spin is not None and chosen is first:
                turn = self.spin[1]
                self.motions[turn] = self.motions[turn]._replace(along=1)
            self.spin = None
        self.pending = [x if k == keep else 0.0 for k, x in enumerate(self.pending)]

    def down(self, m: Mechanism, q: Block, body: int, wanted: tuple[int, int] = (1, 1)) -> None:
        """Through the joint of a body, from joint frame to body; ``wanted`` as in `turned`."""
        type = m.body_joint_types[body]
        if type is JointType.FIXED:
            return
        position = joint_position(m, q, body)
        local = displacement(type, position)
        if type.has_quaternion:
            self.shift(local or [])
            self.flush()
            self.spin = None
            self.axes = body_axes(self.o, type, self.axes, position)
            self.record(m, body)
            return
        if local is not None:
            self.shift(local)
        if type is not JointType.PRISMATIC:
            self.flush(keep=self.axes.which[2])
        self.record(m, body)
        self.axes = body_axes(self.o, type, self.axes, position, wanted)
        if type is not JointType.PRISMATIC:
            self.spin = self.axes.which[2], len(self.motions) - 1

    def up(self, m: Mechanism, q: Block, body: int, wanted: tuple[int, int] = (1, 1)) -> None:
        """Through the joint of a body the other way, from the body to its joint frame."""
        type = m.body_joint_types[body]
        if type is JointType.FIXED:
            return
        position = joint_position(m, q, body)
        local = displacement(type, position)
        if type.has_quaternion:
            self.flush()
            self.record(m, body)
            self.axes = joint_axes(self.o, type, self.axes, position)
        else:
            if type is not JointType.PRISMATIC:
                self.flush(keep=self.axes.which[2])
            self.axes = joint_axes(self.o, type, self.axes, position, wanted)
            self.record(m, body)
        if local is not None:
            self.shift([x if is_zero(x) else -x for x in local])

    def record(self, m: Mechanism, body: int) -> None:
        """Note what the joint of a body moves, about or along the present axes."""
        type = m.body_joint_types[body]
        start, factor = int(m.v_start[int(m.coordinate[body])]), float(m.multiplier[body])
        for k, (axis, turns) in enumerate(free_axes(type)):
            vector, sign = signed_axis(self.axes, axis)
            motion = Motion(start + k, factor, vector, sign, turns, len(self.segments))
            self.motions.append(motion)


def free_axes(type: JointType) -> list[tuple[int, bool]]:
    """For each number of v: the axis, and whether it turns about it or slides along it.

    The axes are those of the body for a floating or spherical joint and of the joint frame for the
    others.
    """
    if type.turns:
        return [(2, True)]
    if type is JointType.PRISMATIC:
        return [(2, False)]
    if type is JointType.PLANAR:
        return [(0, False), (1, False), (2, True)]
    if type.has_quaternion:
        return [*((k, False) for k in range(type.n_lengths)), (0, True), (1, True), (2, True)]
    return []


def path_down(o: Ops, m: Mechanism, q: Block, frame: int, since: int = -1) -> Path:
    """From the world to a frame; vectors in world axes.

    ``since``: a body that carries the frame stands for the world, as if it stood still.
    """
    path = Path(o, reference_axes(o))
    way = [body for body in m.ancestry(int(m.frame_body[frame])) if body > since]
    _down(path, m, q, way, frame)
    return path


def path_up(o: Ops, m: Mechanism, q: Block, frame: int) -> Path:
    """From a frame to the world's side of its first joint; vectors in the frame's own axes."""
    path = Path(o, reference_axes(o))
    _up(path, m, q, frame, m.ancestry(int(m.frame_body[frame])))
    return path


def path_between(o: Ops, m: Mechanism, q: Block, base: int, frame: int) -> Path:
    """From a frame to another one; vectors in the axes of the first.

    It turns at the last body that carries both: joints that move both do not count.
    """
    up, down = (m.ancestry(int(m.frame_body[k])) for k in (base, frame))
    shared = set(up) & set(down)
    path = Path(o, reference_axes(o))
    _up(path, m, q, base, [body for body in up if body not in shared])
    _down(path, m, q, [body for body in down if body not in shared], frame)
    return path


def _down(path: Path, m: Mechanism, q: Block, way: list[int], frame: int) -> None:
    """Through the joints of these bodies, parents first, and on to a frame of the last one."""
    # the frame's axes are all asked for, on the way only the joints' axes are
    places = [*(m.placement(body) for body in way), m.frame_placement(frame)]
    for body, place, after in zip(way, places, places[1:], strict=False):
        path.place(place)
        asked = (0, 1, 2) if after is places[-1] else (2,)
        path.down(m, q, body, wanted_signs(after.R, asked))
    path.place(places[-1])
    path.flush()


def _up(path: Path, m: Mechanism, q: Block, frame: int, way: list[int]) -> None:
    """From a frame through the joints of these bodies, which are given parents first."""
    path.place(_inverse(path.o, m.frame_placement(frame)))
    for body in reversed(way):
        back = _inverse(path.o, m.placement(body))
        path.up(m, q, body, wanted_signs(back.R, axes=(2,)))
        path.place(back)


def _inverse(o: Ops, at: Placement) -> Placement:
    back = transposed(o, at.R)
    return Placement(back, applied(back, [-x for x in at.p]))


def sums_from_start(segments: list[Block]) -> list[Block | None]:
    """The sum of the first k segments, for k from 0 to their number; None where there is none."""
    sums: list[Block | None] = [None]
    for segment in segments:
        before = sums[-1]
        sums.append(segment if before is None else before + segment)
    return sums


def sums_to_end(segments: list[Block]) -> list[Block | None]:
    """The sum of all but the first k segments, for k from 0 to their number."""
    sums: list[Block | None] = [None]
    for segment in reversed(segments):
        after = sums[-1]
        sums.append(segment if after is None else segment + after)
    return sums[::-1]
