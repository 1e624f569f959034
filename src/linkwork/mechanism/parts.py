"""A mechanism as plain parts, before it is put in order: what readers and edits hand to `assemble`.

A part knows others by name only. Links carry mass, joints lie between two links, frames stand on
links; nothing is lumped or renumbered yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from linkwork.errors import Finding
from linkwork.mechanism.loops import Beside
from linkwork.mechanism.model import Floats, JointType

_ZERO = np.zeros(3)
_ZERO_MATRIX = np.zeros((3, 3))
_IDENTITY = np.eye(3)
_Z = np.array([0.0, 0.0, 1.0])
for _shared in (_ZERO, _ZERO_MATRIX, _IDENTITY, _Z):
    _shared.setflags(write=False)


def zero() -> Floats:
    """The zero vector (3,), read-only."""
    return _ZERO


def zero_matrix() -> Floats:
    """The zero matrix (3, 3), read-only."""
    return _ZERO_MATRIX


def identity() -> Floats:
    """The rotation (3, 3) that turns nothing, read-only."""
    return _IDENTITY


def z_axis() -> Floats:
    """The unit vector (3,) along z, read-only."""
    return _Z


Named: TypeAlias = "tuple[tuple[str, Mapping[str, tuple[float, ...]]], ...]"
"""Configurations with a name: the positions of each joint. Joints that are none any more are left
out when these are put in order."""


class Mimic(NamedTuple):
    """A coupling: q = multiplier * q_leader + offset."""

    leader: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class LinkPart:
    """A rigid link: mass, centre of mass (3,) and inertia about it (3, 3), in the link's axes."""

    name: str
    mass: float = 0.0
    com: Floats = field(default_factory=zero)
    I_com: Floats = field(default_factory=zero_matrix)


@dataclass(frozen=True, slots=True, kw_only=True)
class JointPart:
    """A joint between two links.

    R (3, 3) and p (3,) place the joint frame in the parent link's frame; at position zero the child
    link's frame is the joint frame. The axis (3,) is a vector in the joint frame. Limits are None
    where there are none; the upper one of a spherical joint is how far it turns. With parent
    and child None it is a coordinate that only followers use.
    """

    name: str
    type: JointType
    parent: str | None
    child: str | None
    R: Floats = field(default_factory=identity)
    p: Floats = field(default_factory=zero)
    axis: Floats = field(default_factory=z_axis)
    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    mimic: Mimic | None = None


@dataclass(frozen=True, slots=True)
class FramePart:
    """A frame at R (3, 3), p (3,) in the frame of a link; `kind` says among which it is listed.

    The last three keep what was described when links have been lumped to bodies: the link that
    the frame is fixed to (default: `link`) and, for a link's own frame, the link itself and the
    one that carries it.
    """

    name: str
    link: str
    R: Floats = field(default_factory=identity)
    p: Floats = field(default_factory=zero)
    kind: Literal["link", "joint", "user"] = "user"
    fixed_to: str | None = None
    described: LinkPart | None = None
    carrier: str | None = None


class Stacks(NamedTuple):
    """The arrays of all joints (nj) and links (nl) of some parts, in their order."""

    R: Floats  # (nj, 3, 3)
    p: Floats  # (nj, 3)
    axis: Floats  # (nj, 3)
    mass: Floats  # (nl,)
    com: Floats  # (nl, 3)
    I_com: Floats  # (nl, 3, 3)


@dataclass(slots=True)
class Parts:
    """All parts of one mechanism, in the order of the description.

    The order of `joints` decides the order of q (see `assemble`). With `frames_complete`, `frames`
    lists every frame, and none is added for the links and the joints; edits use this, because
    their links stand for whole bodies. R_world_root (3, 3) and p_world_root (3,) place the root
    link of a fixed base in the world.
    """

    name: str
    links: list[LinkPart]
    joints: list[JointPart]
    frames: list[FramePart] = field(default_factory=list[FramePart])
    base: Literal["fixed", "floating"] = "fixed"
    base_joint: str | None = None
    R_world_root: Floats = field(default_factory=identity)
    p_world_root: Floats = field(default_factory=zero)
    frames_complete: bool = False
    findings: tuple[Finding, ...] = ()
    inertias_accepted: bool = False
    unknown_inertials: tuple[tuple[str, str], ...] = ()
    beside: Beside = field(default_factory=Beside)
    named: Named = ()
