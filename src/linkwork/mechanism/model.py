"""The frozen model of a mechanism: arrays over bodies, coordinates and frames.

Body 0 carries the root link. Joint i attaches body i to body ``parent[i]`` (``parent[0]`` is -1,
the world), so a parent always comes before its children. The z axis of every body frame lies along
the joint that moves the body: a revolute joint turns about z, a prismatic one slides along z, a
planar one moves in x-y and turns about z, a spherical one turns about any axis through its origin,
as a quaternion ``wxyz`` says, and has no axis of its own. The placement of a joint therefore
contains the smallest rotation that takes z to the joint's axis in the description, and the link's
own frame is a frame on its body. Links behind fixed joints are frames too, with their inertia
lumped.

A *coordinate* is a joint whose position stands in q. A coupled (mimic) joint has none of its own:
its position is ``multiplier * q_leader + offset``.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import Finding, UnknownNameError
from linkwork.mechanism.loops import Closures, Coupling, Loop

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


NumberKind: TypeAlias = Literal["length", "angle", "quaternion"]
"""The kind of a number of q or v: metres, radians, or one of the four of a quaternion."""


class JointType(Enum):
    """The motion that a joint leaves free, with its numbers of positions and of velocities."""

    FIXED = ("fixed", 0, 0)
    REVOLUTE = ("revolute", 1, 1)
    CONTINUOUS = ("continuous", 1, 1)
    PRISMATIC = ("prismatic", 1, 1)
    PLANAR = ("planar", 3, 3)
    FLOATING = ("floating", 7, 6)
    SPHERICAL = ("spherical", 4, 3)

    def __init__(self, label: str, n_q: int, n_v: int) -> None:
        self.label, self.n_q, self.n_v = label, n_q, n_v

    @property
    def turns(self) -> bool:
        """Whether it is a single rotation about z."""
        return self in (JointType.REVOLUTE, JointType.CONTINUOUS)

    @property
    def has_quaternion(self) -> bool:
        """Whether it turns about any axis: its velocities then lie along the axes of its body."""
        return self.n_q > self.n_v

    @property
    def n_lengths(self) -> int:
        """The number of its positions, and of its velocities, that are lengths; they come first."""
        return _LENGTHS.get(self, 0)

    @property
    def kinds_of_q(self) -> tuple[NumberKind, ...]:
        """The kind of each of its positions."""
        rest = self.n_q - self.n_lengths
        last: NumberKind = "quaternion" if self.has_quaternion else "angle"
        return ("length",) * self.n_lengths + (last,) * rest

    @property
    def kinds_of_v(self) -> tuple[NumberKind, ...]:
        """The kind of each of its velocities, by what it changes."""
        return ("length",) * self.n_lengths + ("angle",) * (self.n_v - self.n_lengths)


_LENGTHS = {JointType.PRISMATIC: 1, JointType.PLANAR: 2, JointType.FLOATING: 3}


class Placement(NamedTuple):
    """A frame in another one, as algorithms take it.

    A constant rotation is a list of rows of floats and a constant number is a float; whatever is
    of another type is a block, of which nothing is known before the algorithm runs.
    """

    R: Any  # (3, 3)
    p: list[Any]  # three numbers


@dataclass(frozen=True, eq=False, kw_only=True)
class Mechanism:
    """A mechanism that never changes; an edit returns a new one.

    Shapes: n_bodies (nb), coordinates (nc), positions (nq), velocities (nv), frames (nf),
    of which the first nl are those of links.
    Units: metre, radian, kilogram. Arrays are read-only.
    """

    name: str
    # bodies, and the joint that moves each of them
    body_names: tuple[str, ...]  # the link that the joint carries
    body_joint_names: tuple[str, ...]
    body_joint_types: tuple[JointType, ...]
    parent: Ints  # (nb,)
    R_parent_joint: Floats  # (nb, 3, 3) joint frame (z along the axis) in the parent body frame
    p_parent_joint: Floats  # (nb, 3)
    coordinate: Ints  # (nb,) the coordinate that the joint follows; -1 for a fixed base
    multiplier: Floats  # (nb,) 1 unless coupled
    offset: Floats  # (nb,) 0 unless coupled
    mass: Floats  # (nb,)
    p_body_com: Floats  # (nb, 3)
    I_com: Floats  # (nb, 3, 3) about the centre of mass, body axes
    # coordinates: the joints that q consists of
    joint_names: tuple[str, ...]
    joint_types: tuple[JointType, ...]
    q_start: Ints  # (nc + 1,)
    v_start: Ints  # (nc + 1,)
    lower: Floats  # (nq,) -inf where unlimited
    upper: Floats  # (nq,)
    angle_limit: Floats  # (nc,) rad, how far a spherical joint turns from 1 0 0 0; inf: any way
    velocity_limit: Floats  # (nv,)
    effort_limit: Floats  # (nv,)
    damping: Floats  # (nv,)
    friction: Floats  # (nv,)
    armature: Floats  # (nv,) inertia of rotors times the square of the gear ratio, kg m² or kg
    stiffness: Floats  # (nv,) of springs, N m/rad or N/m; 0 for joints of several velocities
    spring_position: Floats  # (nv,) where these are at rest, rad or m
    # frames: links, then joints, then those added by the user
    frame_names: tuple[str, ...]
    frame_body: Ints  # (nf,)
    R_body_frame: Floats  # (nf, 3, 3)
    p_body_frame: Floats  # (nf, 3)
    n_link_frames: int
    n_joint_frames: int
    # links as they were described: what parameters need (see `parameters.py`)
    frame_link: Ints  # (nf,) the link that a frame is fixed to, as the index of its frame
    link_parent: Ints  # (nl,) the link whose joint carries this one; -1 where there is none
    link_mass: Floats  # (nl,)
    link_com: Floats  # (nl, 3) in the link's frame
    link_I_com: Floats  # (nl, 3, 3) about the centre of mass, link axes
    default_gravity: Floats  # (3,) the free-fall acceleration in the world, m/s²
    findings: tuple[Finding, ...] = ()
    inertias_accepted: bool = False  # whether dynamics takes those that no real body has
    # links whose "mass" or "inertia" the description does not say; zero stands for it
    unknown_inertials: tuple[tuple[str, str], ...] = ()
    # beside the tree: constraints on q, and which joints are driven (empty: not said)
    loops: tuple[Loop, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    actuated: tuple[str, ...] = ()
    # configurations (nq,) that the description gives a name, such as an MJCF's keyframes
    named_configurations: tuple[tuple[str, tuple[float, ...]], ...] = ()

    def __post_init__(self) -> None:
        value: Any
        for value in vars(self).values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over every field: the same on every machine, in every process."""
        state = hashlib.sha256()
        for field in fields(self):
            value: Any = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                array: NDArray[Any] = np.asarray(cast("Any", value))
                kind = "<i8" if array.dtype.kind == "i" else "<f8"
                data = np.ascontiguousarray(array, kind).tobytes()
                text = f"{field.name} {kind} {array.shape}"
            else:
                data, text = repr(value).encode(errors="surrogatepass"), field.name
            state.update(f"{text} {len(data)}\n".encode() + data)
        return state.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return self is other or self.digest == other.digest

    def __hash__(self) -> int:
        return int(self.digest[:15], 16)

    def __repr__(self) -> str:
        """The name and how much there is; arrays are to be looked at one by one."""
        found = [
            f"'{self.name}'",
            _counted(self.n_bodies, "body", "bodies"),
            _counted(len(self.joint_names), "coordinate", "coordinates"),
        ]
        for members, one, more in (
            (self.loops, "loop", "loops"),
            (self.couplings, "coupling", "couplings"),
        ):
            if members:
                found.append(_counted(len(members), one, more))
        return f"Mechanism({', '.join(found)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, ({field.name: getattr(self, field.name) for field in fields(self)},)

    @property
    def n_bodies(self) -> int:
        """The number of bodies that move independently of their parents, the root body included."""
        return len(self.body_names)

    @property
    def n_q(self) -> int:
        """The number of positions: how long a configuration is."""
        return int(self.q_start[-1])

    @property
    def n_v(self) -> int:
        """The number of velocities: the degrees of freedom."""
        return int(self.v_start[-1])

    def q_slice(self, coordinate: int) -> slice:
        """The numbers of q that belong to a coordinate."""
        return self._q_slices[coordinate]

    def v_slice(self, coordinate: int) -> slice:
        """The numbers of v that belong to a coordinate."""
        return self._v_slices[coordinate]

    def q_indices(self, coordinates: Iterable[int]) -> list[int]:
        """The indices of q that belong to coordinates, in their order."""
        return [k for c in coordinates for k in _range(self._q_slices[c])]

    def v_indices(self, coordinates: Iterable[int]) -> list[int]:
        """The indices of v that belong to coordinates, in their order."""
        return [k for c in coordinates for k in _range(self._v_slices[c])]

    def coordinate_of_q(self, index: int) -> int:
        """The coordinate that a number of q belongs to."""
        return int(np.searchsorted(self.q_start, index, side="right")) - 1

    def coordinate_of_v(self, index: int) -> int:
        """The coordinate that a number of v belongs to."""
        return int(np.searchsorted(self.v_start, index, side="right")) - 1

    def joint_of_q(self, index: int) -> str:
        """The joint that a number of q belongs to."""
        return self.joint_names[self.coordinate_of_q(index)]

    def joint_of_v(self, index: int) -> str:
        """The joint that a number of v belongs to."""
        return self.joint_names[self.coordinate_of_v(index)]

    @cached_property
    def kinds_of_q(self) -> tuple[NumberKind, ...]:
        """The kind of each number of q (nq,)."""
        return tuple(kind for type in self.joint_types for kind in type.kinds_of_q)

    @cached_property
    def kinds_of_v(self) -> tuple[NumberKind, ...]:
        """The kind of each number of v (nv,): lengths a second, and angles a second."""
        return tuple(kind for type in self.joint_types for kind in type.kinds_of_v)

    @cached_property
    def _q_slices(self) -> list[slice]:
        return _spans(self.q_start)

    @cached_property
    def _v_slices(self) -> list[slice]:
        return _spans(self.v_start)

    @cached_property
    def _frame_index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.frame_names)}

    @cached_property
    def _joint_index(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.joint_names)}

    def frame(self, name: str) -> int:
        """The index of a frame.

        Raises: UnknownNameError with the nearest names.
        """
        try:
            return self._frame_index[name]
        except (KeyError, TypeError):
            raise UnknownNameError("frame", name, self.frame_names) from None

    def joint(self, name: str) -> int:
        """The index of a coordinate in `joint_names`.

        Raises: UnknownNameError with the nearest names.
        """
        try:
            return self._joint_index[name]
        except (KeyError, TypeError):
            raise UnknownNameError("joint", name, self.joint_names) from None

    def placement(self, body: int) -> Placement:
        """The joint frame of a body in the frame of its parent."""
        return Placement(self.R_parent_joint[body].tolist(), self.p_parent_joint[body].tolist())

    def frame_placement(self, frame: int) -> Placement:
        """A frame in the frame of its body."""
        return Placement(self.R_body_frame[frame].tolist(), self.p_body_frame[frame].tolist())

    def body_mass(self, body: int) -> Any:
        """The mass of a body: a float, or a block where it is an input."""
        return float(self.mass[body])

    def body_moment(self, body: int) -> list[Any]:
        """The mass of a body times its centre of mass: three numbers in the frame of the body."""
        return (self.mass[body] * self.p_body_com[body]).tolist()

    def body_inertia(self, body: int) -> list[Any]:
        """The inertia of a body about the origin of its frame, in its axes, kg m².

        Six numbers: ixx ixy ixz iyy iyz izz.
        """
        c = self.p_body_com[body]
        about = self.I_com[body] + self.mass[body] * (c @ c * np.eye(3) - np.outer(c, c))
        return about[np.triu_indices(3)].tolist()

    def joint_armature(self, k: int) -> Any:
        """The inertia that rotors add to velocity k: a float, or a block, see `body_mass`."""
        return float(self.armature[k])

    def joint_damping(self, k: int) -> Any:
        """The damping of velocity k that counts: 0, or a block where it is an input."""
        del k
        return 0.0

    def joint_friction(self, k: int) -> Any:
        """The Coulomb friction of velocity k that counts: 0, or a block where it is an input."""
        del k
        return 0.0

    def joint_spring(self, k: int) -> tuple[Any, Any]:
        """The stiffness of velocity k that counts, and where its spring is at rest."""
        del k
        return 0.0, 0.0

    def wrenches(self, body: int) -> list[tuple[int, Any]]:
        """The external wrenches on a body: their frames, and six numbers each.

        Force, then moment about the origin of the frame, along the axes of the world.
        """
        del body
        return []

    def gravity(self) -> list[Any]:
        """The free-fall acceleration: three numbers in the world, m/s²."""
        return self.default_gravity.tolist()

    def ancestry(self, body: int) -> list[int]:
        """The bodies from the root body to this one, both included."""
        path: list[int] = []
        while body >= 0:
            path.append(body)
            body = int(self.parent[body])
        return path[::-1]

    def coordinates_moving(self, frame: int) -> list[int]:
        """The coordinates that the pose of a frame depends on, in ascending order."""
        path = self.ancestry(int(self.frame_body[frame]))
        return sorted({int(self.coordinate[b]) for b in path} - {-1})

    @property
    def closures(self) -> Closures:
        """Loops, couplings and actuated joints together."""
        return Closures(self.loops, self.couplings, self.actuated)

    @property
    def is_closed(self) -> bool:
        """Whether loops or couplings constrain q."""
        return bool(self.loops or self.couplings)

    def followers(self) -> Iterator[int]:
        """The bodies whose joints are coupled to another one's coordinate."""
        for body, name in enumerate(self.body_joint_names):
            c = int(self.coordinate[body])
            if c >= 0 and self.joint_names[c] != name:
                yield body


def duplicates(names: Sequence[str]) -> list[str]:
    """The names that occur more than once, in order of first appearance."""
    if len(set(names)) == len(names):
        return []
    return [name for name, count in Counter(names).items() if count > 1]


def _spans(starts: Ints) -> list[slice]:
    ends: list[int] = starts.tolist()
    return [slice(*span) for span in pairwise(ends)]


def _range(span: slice) -> range:
    return range(span.start, span.stop)


def _counted(n: int, one: str, more: str) -> str:
    return f"{n} {one if n == 1 else more}"


def _rebuild(values: dict[str, Any]) -> Mechanism:
    """The mechanism for `pickle` and `copy`: the constructor makes the arrays read-only again."""
    return Mechanism(**values)
