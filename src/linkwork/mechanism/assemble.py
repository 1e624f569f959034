"""From parts to the frozen model: the tree, its coordinates, its bodies and its frames.

Readers and edits hand over *parts*, which know each other by name only: links carry mass, joints
lie between two links, frames stand on links. Here they are put in order, fixed joints are lumped,
mimic chains resolved to their leaders, and axes turned along z.

Everything is done for all joints at once. A quantity along the way to the root is found by pointer
doubling: in every round each joint takes over what the joint it points at has found and points
where that one points, so a chain of n joints needs log2(n) rounds and no recursion.
Source: Hillis and Steele, "Data parallel algorithms", CACM 29 (1986), section "Parallel prefix".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from linkwork.conventions import FOLLOWER_TOLERANCE, GRAVITY
from linkwork.errors import DescriptionError, Finding, InputError, UnknownNameError
from linkwork.formats import structure
from linkwork.formats.structure import Mimic
from linkwork.formats.urdf.findings import Findings
from linkwork.mechanism import rigid
from linkwork.mechanism.loops import Closures
from linkwork.mechanism.model import Floats, Ints, JointType, Mechanism, duplicates
from linkwork.spatial import inertias

__all__ = ["FramePart", "JointPart", "LinkPart", "Mimic", "Parts", "Stacks", "assemble"]

# --- parts ----------------------------------------------------------------------------------------

_ZERO = np.zeros(3)
_ZERO_MATRIX = np.zeros((3, 3))
_IDENTITY = np.eye(3)
_Z = np.array([0.0, 0.0, 1.0])
for _shared in (_ZERO, _ZERO_MATRIX, _IDENTITY, _Z):
    _shared.setflags(write=False)

Named: TypeAlias = "tuple[tuple[str, Mapping[str, tuple[float, ...]]], ...]"
"""Configurations with a name: the positions of each joint. Joints that are none any more are left
out when these are put in order."""


@dataclass(frozen=True, slots=True)
class LinkPart:
    """A rigid link: mass, centre of mass (3,) and inertia about it (3, 3), in the link's axes.

    ``line`` and ``file`` say where it was described; 0 and "" for what was made in code.
    """

    name: str
    mass: float = 0.0
    com: Floats = field(default_factory=lambda: _ZERO)
    I_com: Floats = field(default_factory=lambda: _ZERO_MATRIX)
    line: int = 0
    file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointPart:
    """A joint between two links.

    R (3, 3) and p (3,) place the joint frame in the parent link's frame; at position zero the child
    link's frame is the joint frame. The axis (3,) is a vector in the joint frame. Limits are None
    where there are none; the upper one of a spherical joint is how far it turns. With parent
    and child None it is a coordinate that only followers use. ``line`` and ``file`` are as those of
    a link.
    """

    name: str
    type: JointType
    parent: str | None
    child: str | None
    R: Floats = field(default_factory=lambda: _IDENTITY)
    p: Floats = field(default_factory=lambda: _ZERO)
    axis: Floats = field(default_factory=lambda: _Z)
    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    spring_position: float = 0.0
    mimic: Mimic | None = None
    line: int = 0
    file: str = ""


@dataclass(frozen=True, slots=True)
class FramePart:
    """A frame at R (3, 3), p (3,) in the frame of a link; `kind` says among which it is listed.

    The last three keep what was described when links have been lumped to bodies: the link that
    the frame is fixed to (default: `link`) and, for a link's own frame, the link itself and the
    one that carries it.
    """

    name: str
    link: str
    R: Floats = field(default_factory=lambda: _IDENTITY)
    p: Floats = field(default_factory=lambda: _ZERO)
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
    link of a fixed base in the world, and `gravity` (3,) is the free-fall acceleration there.
    """

    name: str
    links: list[LinkPart]
    joints: list[JointPart]
    frames: list[FramePart] = field(default_factory=list[FramePart])
    base: Literal["fixed", "floating"] = "fixed"
    base_joint: str | None = None
    R_world_root: Floats = field(default_factory=lambda: _IDENTITY)
    p_world_root: Floats = field(default_factory=lambda: _ZERO)
    frames_complete: bool = False
    findings: tuple[Finding, ...] = ()
    inertias_accepted: bool = False
    unknown_inertials: tuple[tuple[str, str], ...] = ()
    closures: Closures = field(default_factory=Closures)
    named: Named = ()
    gravity: Floats = field(default_factory=lambda: np.array(GRAVITY))


# --- the mechanism --------------------------------------------------------------------------------


def assemble(parts: Parts, stacks: Stacks | None = None) -> Mechanism:
    """The mechanism that these parts form; the parts stay as they are.

    ``stacks`` are the arrays of the parts, for a caller who has them in one piece.

    Order of bodies and of q: by first appearance of the joint once its parent is placed; the list
    of joints is gone through again until all are placed. Links behind fixed joints become frames,
    their inertia is lumped. Body frames are chosen so that z lies along the joint's axis; a fixed
    base has its body frame in the world frame. Frames: links, then joints (the child link's
    frame; `name/joint` where a link has the same name), then the others. Rotation entries within
    2.5e-16 of 0, 1, -1 become exact. Velocity and effort limits, damping and friction of a joint
    hold for each of its velocities; planar and floating joints have no position limits,
    and `upper` of a spherical one is how far it turns from 1 0 0 0.

    Raises: DescriptionError with every fault of names, references, cycles and couplings; InputError
    for numbers that are not finite and for zero axes.
    """
    tree = _resolve(parts)
    leaders = _final_leaders(parts)
    stacks = stacks or Stacks(
        _gather([joint.R for joint in parts.joints], 3, 3),
        _gather([joint.p for joint in parts.joints], 3),
        _gather([joint.axis for joint in parts.joints], 3),
        np.array([link.mass for link in parts.links], np.float64),
        _gather([link.com for link in parts.links], 3),
        _gather([link.I_com for link in parts.links], 3, 3),
    )
    coordinates = _coordinates(parts, tree, leaders)
    placed = _place(parts, tree, stacks)
    frames = _frames(parts, tree, placed, stacks)
    links = frozenset(frames["frame_names"][: frames["n_link_frames"]])
    made = Mechanism(
        name=parts.name,
        inertias_accepted=parts.inertias_accepted,
        default_gravity=np.array(parts.gravity),
        unknown_inertials=tuple(each for each in parts.unknown_inertials if each[0] in links),
        **_bodies(parts, tree, placed, leaders, coordinates["joint_names"]),
        **_inertias(parts, placed, stacks),
        **coordinates,
        **frames,
    )
    return with_closures(made, parts.closures) if any(parts.closures) else made


def with_closures(m: Mechanism, closures: Closures) -> Mechanism:
    """The same tree with these loops, couplings and actuated joints beside it.

    Raises: UnknownNameError for frames and joints; InputError for names that occur twice, frames on
    one body, and couplings of joints with several positions.
    """
    for what, names in (
        ("loop", [loop.name for loop in closures.loops]),
        ("actuated joint", closures.actuated),
    ):
        for name in duplicates(names):
            raise InputError(f"there are two of the {what} '{name}'; names must differ")
    for loop in closures.loops:
        a, b = m.frame(loop.frame_a), m.frame(loop.frame_b)
        if m.frame_body[a] == m.frame_body[b]:
            raise InputError(
                f"loop '{loop.name}': '{loop.frame_a}' and '{loop.frame_b}' are on one body, so "
                "nothing is closed between them"
            )
    for name in closures.actuated:
        m.joint(name)
    for each in closures.couplings:
        for name in (each.joint, *each.leaders):
            n_positions = m.joint_types[m.joint(name)].n_q
            if n_positions != 1:
                raise InputError(
                    f"{each.name}: '{name}' has {n_positions} positions; joints with one can be "
                    "coupled"
                )
    return replace(m, **closures._asdict())


# --- the tree -------------------------------------------------------------------------------------


class _Tree(NamedTuple):
    """Indices into the lists of parts."""

    root: int  # the link that no joint carries
    parent_link: Ints  # (nj,) -1 for a joint that is a coordinate only
    child_link: Ints  # (nj,) likewise
    incoming: Ints  # (nl,) the joint that carries a link; -1 for the root
    order: Ints  # (nj,) the joints in the order of the tree


def _resolve(parts: Parts) -> _Tree:
    """The tree of these parts."""
    index = {link.name: k for k, link in enumerate(parts.links)}
    n_links = len(parts.links)
    parent = np.array(
        [-1 if j.parent is None else index.get(j.parent, -2) for j in parts.joints], np.int64
    )
    child = np.array(
        [-1 if j.child is None else index.get(j.child, -2) for j in parts.joints], np.int64
    )
    carrying = np.flatnonzero(child >= 0)
    incoming = np.full(n_links, -1, np.int64)
    incoming[child[carrying]] = carrying
    roots = np.flatnonzero(incoming < 0)
    named = len(index) == n_links and len({joint.name for joint in parts.joints}) == len(child)
    joined = min(parent.min(initial=0), child.min(initial=0)) >= -1
    joined = joined and not ((parent < 0) != (child < 0)).any()
    if not (named and joined and len(roots) == 1 and len(carrying) + 1 == n_links):
        raise _structure_error(parts)
    passes, lost = _passes(np.where(parent >= 0, incoming[parent], -1))
    if len(lost):
        raise _structure_error(parts)
    order = np.argsort(passes, kind="stable")
    return _Tree(int(roots[0]), parent, child, incoming, order)


def _structure_error(parts: Parts) -> DescriptionError:
    """The error with every fault of names, references, cycles and couplings, each at its place."""
    findings = Findings(None)
    links = [structure.LinkEntry(link.name, link.line, link.file) for link in parts.links]
    joints = [
        structure.JointEntry(
            joint.name,
            joint.type.label,
            joint.parent,
            joint.child,
            joint.mimic and joint.mimic.leader,
            joint.line,
            file=joint.file,
        )
        for joint in parts.joints
    ]
    for element, entries in (("link", links), ("joint", joints)):
        for entry in entries:
            if not entry.name:
                findings.about("error", element, entry, "empty-name", "the name is empty")
    structure.check_structure(links, joints, findings)
    structure.check_mimics(joints, findings)
    return findings.error()


def _passes(above: Ints) -> tuple[Ints, Ints]:
    """The pass in which each joint is placed, and the joints that no pass ever places.

    A joint that stands behind its parent joint is placed in the same pass, one that stands before
    it in the next one.
    """
    own = np.arange(len(above))
    if (above < own).all():  # nothing stands before its parent
        return np.zeros(len(above), np.int64), own[:0]
    pointer = above.copy()
    passes = (pointer > own).astype(np.int64)
    active = np.flatnonzero(pointer >= 0)
    for _ in range(len(above).bit_length() + 1):
        if not len(active):
            break
        target = pointer[active]
        passes[active] += passes[target]
        pointer[active] = pointer[target]
        active = active[pointer[active] >= 0]
    return passes, active


# --- coordinates: the joints that q consists of ---------------------------------------------------

_FLOATING_BASE = "floating_base"


class _Range(NamedTuple):
    """Limits of a joint and what stands against its velocity; infinite where nothing limits."""

    lower: float = -np.inf
    upper: float = np.inf
    angle: float = np.inf  # how far a spherical joint turns
    velocity: float = np.inf
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    spring_position: float = 0.0


def _coordinates(parts: Parts, tree: _Tree, leaders: Mapping[str, Mimic]) -> dict[str, Any]:
    """Everything that the model keeps for each coordinate, each number of q and each of v.

    The coordinates are in the order of the tree, a floating base first.

    Raises: InputError for numbers that are NaN, and for a spherical joint that cannot turn.
    """
    ordered = [parts.joints[k] for k in tree.order.tolist()]
    own = [j for j in ordered if j.type is not JointType.FIXED and j.name not in leaders]
    followers = [j for j in ordered if j.name in leaders and j.child is not None]
    ranges = {joint.name: _range_of(joint) for joint in (*own, *followers)}
    findings = _carry_followers(ranges, followers, leaders)
    names, types = [joint.name for joint in own], [joint.type for joint in own]
    if parts.base == "floating":
        taken = {joint.name for joint in parts.joints}
        name = parts.base_joint or _FLOATING_BASE
        while name in taken:
            name += "_"
        names, types = [name, *names], [JointType.FLOATING, *types]
        ranges[name] = _Range()
    found = [ranges[name] for name in names]
    n_q, n_v = [kind.n_q for kind in types], [kind.n_v for kind in types]
    return {
        "joint_names": tuple(names),
        "joint_types": tuple(types),
        "q_start": np.array([0, *accumulate(n_q)], np.int64),
        "v_start": np.array([0, *accumulate(n_v)], np.int64),
        "lower": _repeated((each.lower for each in found), n_q),
        "upper": _repeated((each.upper for each in found), n_q),
        "angle_limit": np.array([each.angle for each in found], np.float64),
        "velocity_limit": _repeated((each.velocity for each in found), n_v),
        "effort_limit": _repeated((each.effort for each in found), n_v),
        "damping": _repeated((each.damping for each in found), n_v),
        "friction": _repeated((each.friction for each in found), n_v),
        "armature": _repeated((each.armature for each in found), n_v),
        "stiffness": _repeated((each.stiffness for each in found), n_v),
        "spring_position": _repeated((each.spring_position for each in found), n_v),
        "named_configurations": tuple(
            (title, tuple(x for name in names for x in positions[name]))
            for title, positions in parts.named
        ),
        "findings": (*parts.findings, *findings),
    }


def _repeated(values: Iterable[float], count: list[int]) -> Floats:
    given = np.array([*values], np.float64)
    return given if sum(count) == len(count) else np.repeat(given, count)


def _range_of(j: JointPart) -> _Range:
    single = j.type.n_q == 1
    spring = (j.stiffness, j.spring_position) if single else (0.0, 0.0)
    given = (j.lower, j.upper, j.velocity, j.effort, j.damping, j.friction, j.armature, *spring)
    if [value for value in given if value is not None and math.isnan(value)]:
        raise InputError(f"joint '{j.name}': one of its limits or its dynamics is NaN")
    angle = np.inf
    if j.type is JointType.SPHERICAL and j.upper is not None:
        if not j.upper > 0.0:
            raise InputError(
                f"joint '{j.name}': the limit of its angle must be above 0 rad, not {j.upper:g}; "
                "a joint that does not turn is a fixed one"
            )
        angle = j.upper if j.upper < np.pi else np.inf  # half a turn is as far as any can
    return _Range(
        j.lower if single and j.lower is not None else -np.inf,
        j.upper if single and j.upper is not None else np.inf,
        angle,
        np.inf if j.velocity is None else j.velocity,
        np.inf if j.effort is None else j.effort,
        j.damping,
        j.friction,
        j.armature,
        *spring,
    )


def _final_leaders(parts: Parts) -> dict[str, Mimic]:
    """The leader at the end of each follower's chain, with multiplier and offset of the chain.

    A fixed joint has no position to couple: its own mimic is without effect.

    Raises: as `_structure_error`, for leaders that do not exist, that have no single position, or
    that follow each other; InputError for numbers that are not finite.
    """
    types = {joint.name: joint.type for joint in parts.joints}
    following = {
        joint.name: joint.mimic
        for joint in parts.joints
        if joint.mimic is not None and joint.type is not JointType.FIXED
    }
    if not following:
        return {}
    for name, mimic in following.items():
        if not (math.isfinite(mimic.multiplier) and math.isfinite(mimic.offset)):
            raise InputError(f"joint '{name}': multiplier and offset of its mimic must be finite")
    leaders = structure.final_leaders(following, types)
    coupled = [types[n].n_q == types[m.leader].n_q == 1 for n, m in leaders.items()]
    if not (all(coupled) and len(coupled) == len(following)):
        raise _structure_error(parts)
    return leaders


def _carry_followers(
    ranges: dict[str, _Range], followers: Sequence[JointPart], leaders: Mapping[str, Mimic]
) -> list[Finding]:
    """Put on leaders, in place, what holds and resists their followers; findings of what cannot be.

    A follower moves at m times its leader's velocity, so that what it has counts at the leader by
    the rate m: limits divided by it, damping, armature and stiffness times m², Coulomb friction
    times |m|. Two springs are one, at rest where they hold each other.
    Limits of effort stay out: they are those of a motor, which the leader's force is not taken
    from. A follower whose limits leave its leader no position or but one, or no velocity, does not
    limit it: a gripper that its file freezes is a slip of the file.
    """
    findings: list[Finding] = []
    for joint in followers:
        own = ranges[joint.name]
        leader, m, b = leaders[joint.name]
        on = ranges[leader]
        low, high, velocity = on.lower, on.upper, on.velocity
        texts: list[str] = []
        if not (math.isinf(own.lower) and math.isinf(own.upper)):
            if m == 0:
                left = low, high
                met = own.lower <= b <= own.upper
            else:
                ends = sorted(((own.lower - b) / m, (own.upper - b) / m))
                left = max(low, ends[0]), min(high, ends[1])
                met = own.lower <= own.upper and left[0] <= left[1]
            shown = f"its limits [{own.lower:g}, {own.upper:g}]"
            rule = f"follows {m:g} * '{leader}' + {b:g}"
            if met and left[1] - left[0] <= FOLLOWER_TOLERANCE < high - low:
                texts.append(
                    f"{shown} leave '{leader}', whose limits are [{low:g}, {high:g}], nothing but "
                    f"{left[0] + 0.0:g}, as it {rule}: they are not counted"
                )
            elif not met:
                texts.append(
                    f"{shown} cannot be met: it {rule}, whose limits are [{low:g}, {high:g}]; they "
                    "are not counted"
                )
            else:
                low, high = left
        if m != 0 and own.velocity > 0:
            velocity = min(velocity, own.velocity / abs(m))
        elif m != 0 and velocity > 0:
            texts.append(
                f"its velocity limit {own.velocity:g} would hold '{leader}', which it follows, "
                f"still: it is not counted, and '{leader}' keeps its own, {velocity:g}"
            )
        stiffness = on.stiffness + m * m * own.stiffness
        pull = on.stiffness * on.spring_position + m * own.stiffness * (own.spring_position - b)
        ranges[leader] = on._replace(
            lower=low,
            upper=high,
            velocity=velocity,
            damping=on.damping + m * m * own.damping,
            friction=on.friction + abs(m) * own.friction,
            armature=on.armature + m * m * own.armature,
            stiffness=stiffness,
            spring_position=pull / stiffness if own.stiffness and stiffness else on.spring_position,
        )
        for text in texts:
            findings.append(Finding("warning", "follower-limits", text, "", 0, "mimic", joint.name))
    return findings


# --- bodies ---------------------------------------------------------------------------------------


class _Placed(NamedTuple):
    """The body of every link, and its pose in that body's frame."""

    moving: Ints  # (nb - 1,) the joints that move bodies 1, 2, ...
    body: Ints  # (nl,)
    R: Floats  # (nl, 3, 3)
    p: Floats  # (nl, 3)
    R_joint: Floats  # (nj, 3, 3) the joint frame with z along the axis, in the parent link's frame
    p_joint: Floats  # (nj, 3)


def _place(parts: Parts, tree: _Tree, stacks: Stacks) -> _Placed:
    """Put every link onto a body."""
    names = [joint.name for joint in parts.joints]
    R_joint, p_joint = rigid.exact(stacks.R), stacks.p
    root = np.asarray(parts.R_world_root, float), np.asarray(parts.p_world_root, float)
    _check_finite("joint", names, "its placement", R_joint, p_joint)
    if root[0] is not _IDENTITY or root[1] is not _ZERO:
        _check_finite("root of", [parts.name], "its placement", *(x[None] for x in root))
    R_align = _alignments(parts, names, stacks)

    n_links = len(parts.links)
    R, p = np.zeros((n_links, 3, 3)), np.zeros((n_links, 3))
    R[tree.root], p[tree.root] = rigid.exact(root[0]), root[1]
    carried = np.flatnonzero(tree.incoming >= 0)
    by = tree.incoming[carried]
    fixed = np.array([joint.type is JointType.FIXED for joint in parts.joints], bool)
    stiff = fixed[by][:, None]
    R[carried] = np.where(stiff[..., None], R_joint[by], np.swapaxes(R_align[by], 1, 2))
    p[carried] = np.where(stiff, p_joint[by], 0.0)
    target = np.arange(n_links)
    target[carried] = np.where(fixed[by], tree.parent_link[by], carried)
    anchor = _fold_to_anchors(target, R, p)

    in_tree = tree.order[tree.child_link[tree.order] >= 0]
    moving = in_tree[~fixed[in_tree]]
    body_of_anchor = np.zeros(n_links, np.int64)
    body_of_anchor[tree.child_link[moving]] = np.arange(1, len(moving) + 1)
    return _Placed(
        moving, body_of_anchor[anchor], rigid.exact(R), p + 0.0, R_joint @ R_align, p_joint
    )


def _fold_to_anchors(target: Ints, R: Floats, p: Floats) -> Ints:
    """Express poses in the frame of the link that each is rigidly attached to, in place.

    `target` (nl,) is the link that R (nl, 3, 3) and p (nl, 3) are given in; it is the link itself
    for an anchor, whose pose is given in its body frame. Returns the anchor of every link.
    """
    pointer = target.copy()
    final = pointer == np.arange(len(target))
    active = np.flatnonzero(~final)
    while len(active):
        t = pointer[active]
        p[active] = p[t] + np.einsum("nij,nj->ni", R[t], p[active])
        R[active] = R[t] @ R[active]
        ready = final[t]
        pointer[active] = pointer[t]
        final[active] = ready
        active = active[~ready]
    return pointer


def _alignments(parts: Parts, names: list[str], stacks: Stacks) -> Floats:
    """The rotations of z onto the axes of the joints that have one; the others turn nothing."""
    R = np.zeros((len(names), 3, 3))
    R[:] = np.eye(3)
    without = (JointType.FIXED, JointType.FLOATING, JointType.SPHERICAL)
    having = [k for k, joint in enumerate(parts.joints) if joint.type not in without]
    axis = stacks.axis[having]
    if (np.rint(axis) == axis).all() and (np.abs(axis).sum(axis=1) == 1).all():
        R[having] = _STRAIGHT[(axis @ _NUMBERS).astype(np.int64)]
        return R
    owners = [names[k] for k in having]
    _check_finite("joint", owners, "its axis", axis)
    empty = np.flatnonzero(~axis.any(axis=1))
    if len(empty):
        name = owners[int(empty[0])]
        raise InputError(f"joint '{name}': its axis is zero, so nothing says how it moves")
    R[having] = rigid.align_z(axis)
    return R


_NUMBERS = np.array([1.0, 2.0, 3.0])
_STRAIGHT = rigid.align_z(np.array([*np.eye(3)[[2, 0, 1, 2]], *-np.eye(3)[[2, 1, 0]]]))
"""Alignments with the axes by 1, 2, 3 for x, y, z, and from behind for their opposites; nothing has
the number 0."""


def _bodies(
    parts: Parts,
    tree: _Tree,
    placed: _Placed,
    leaders: Mapping[str, Mimic],
    coordinates: tuple[str, ...],
) -> dict[str, Any]:
    """The bodies and the joints that move them."""
    joints = [parts.joints[k] for k in placed.moving.tolist()]
    carried = [parts.links[k].name for k in tree.child_link[placed.moving].tolist()]
    on = tree.parent_link[placed.moving]
    R = placed.R[on] @ placed.R_joint[placed.moving]
    p = placed.p[on] + np.einsum("nij,nj->ni", placed.R[on], placed.p_joint[placed.moving])
    floating = parts.base == "floating"
    base_type = JointType.FLOATING if floating else JointType.FIXED
    index = {name: k for k, name in enumerate(coordinates)}
    own = [leaders.get(joint.name) or Mimic(joint.name) for joint in joints]
    return {
        "body_names": (parts.links[tree.root].name, *carried),
        "body_joint_names": (coordinates[0] if floating else "", *(joint.name for joint in joints)),
        "body_joint_types": (base_type, *(joint.type for joint in joints)),
        "parent": np.concatenate([[-1], placed.body[on]]).astype(np.int64),
        "R_parent_joint": rigid.exact(np.concatenate([np.eye(3)[None], R])),
        "p_parent_joint": np.concatenate([np.zeros((1, 3)), p]) + 0.0,
        "coordinate": np.array([0 if floating else -1, *(index[m.leader] for m in own)], np.int64),
        "multiplier": np.array([1.0, *(mimic.multiplier for mimic in own)]),
        "offset": np.array([0.0, *(mimic.offset for mimic in own)]),
    }


def _inertias(parts: Parts, placed: _Placed, stacks: Stacks) -> dict[str, Any]:
    """The inertia of every body, lumped from its links."""
    names = [link.name for link in parts.links]
    mass, com, inertia = stacks.mass, stacks.com, stacks.I_com
    _check_finite("link", names, "its mass, centre and inertia", mass, com, inertia)
    com = placed.p + np.einsum("nij,nj->ni", placed.R, com)
    inertia = inertias.turned(placed.R, inertia)
    n_bodies = len(placed.moving) + 1
    total, centre, about = inertias.lump(placed.body, n_bodies, mass=mass, com=com, inertia=inertia)
    return {"mass": total, "p_body_com": centre, "I_com": about}


# --- frames: of links, of joints, and those that users added --------------------------------------


def _frames(parts: Parts, tree: _Tree, placed: _Placed, stacks: Stacks) -> dict[str, Any]:
    """All frames on their bodies, in their order, and the links as they were described."""
    names: list[str] = []
    on: Ints = np.zeros(0, np.int64)
    counts: Counter[str] = Counter()
    if not parts.frames_complete:  # those that links and joints have of themselves
        links = [link.name for link in parts.links]
        carrying = np.flatnonzero(tree.child_link >= 0)
        joints = [parts.joints[k].name for k in carrying.tolist()]
        taken, of_links = {*links, *joints}, set(links)
        for k, name in enumerate(joints):
            if name in of_links:
                while name in taken:
                    name += "/joint"  # noqa: PLW2901  the name that is free
                taken.add(name)
                joints[k] = name
        names, counts = links + joints, Counter(link=len(links), joint=len(joints))
        on = np.concatenate([np.arange(len(links)), tree.child_link[carrying]])
    frames = sorted(parts.frames, key=lambda frame: ("link", "joint", "user").index(frame.kind))
    names += [frame.name for frame in frames]
    for name in duplicates(names) if frames else ():  # the others are new by their making
        raise InputError(f"the frame name '{name}' is used more than once")
    counts.update(frame.kind for frame in frames)
    described = names[: counts["link"]]
    index = {link.name: k for k, link in enumerate(parts.links)} if frames else {}
    carriers = {name: k for k, name in enumerate(described)} if frames else {}
    link = np.concatenate([on, _found(index, [frame.link for frame in frames])])
    fixed_to = _found(carriers, [frame.fixed_to or frame.link for frame in frames])
    R_frame, p_frame = placed.R[link], placed.p[link]
    if frames:
        own = slice(len(on), None)
        R_own = _gather([frame.R for frame in frames], 3, 3)
        p_own = _gather([frame.p for frame in frames], 3)
        _check_finite("frame", [frame.name for frame in frames], "its pose", R_own, p_own)
        p_frame[own] += np.einsum("nij,nj->ni", R_frame[own], p_own)
        R_frame[own] = rigid.exact(R_frame[own] @ rigid.exact(R_own))
    if parts.frames_complete:  # an edit hands on what was described
        own_frames = [frame for frame in frames if frame.kind == "link"]
        links = [frame.described or LinkPart(frame.name) for frame in own_frames]
        parent = np.array([carriers.get(f.carrier or "", -1) for f in own_frames], np.int64)
        mass = np.array([link.mass for link in links], np.float64)
        com = _gather([link.com for link in links], 3)
        inertia = _gather([link.I_com for link in links], 3, 3)
    else:
        mass, com, inertia = stacks.mass, stacks.com, stacks.I_com
        parent = np.full(len(mass), -1, np.int64)
        carried = tree.incoming >= 0
        parent[carried] = tree.parent_link[tree.incoming[carried]]
    return {
        "link_parent": parent,
        "link_mass": mass,
        "link_com": com,
        "link_I_com": inertia,
        "frame_link": np.concatenate([on, fixed_to]),
        "frame_names": tuple(names),
        "frame_body": placed.body[link],
        "R_body_frame": R_frame,
        "p_body_frame": p_frame + 0.0,
        "n_link_frames": counts["link"],
        "n_joint_frames": counts["joint"],
    }


def _found(index: Mapping[str, int], names: Sequence[str]) -> Ints:
    """The indices (n,) of links."""
    for name in names:
        if name not in index:
            raise UnknownNameError("link", name, list(index))
    return np.array([index[name] for name in names], np.int64)


# --- arrays of parts ------------------------------------------------------------------------------


def _gather(rows: Sequence[Floats], *shape: int) -> Floats:
    """Arrays of one shape as a new array (n, *shape)."""
    return np.array(rows, dtype=np.float64).reshape(len(rows), *shape)


def _check_finite(kind: str, names: Sequence[str], what: str, *values: Floats) -> None:
    """Refuse numbers that are not finite, naming the first part that has them."""
    for array in values:
        if not np.isfinite(array).all():
            good = np.isfinite(array).reshape(len(names), -1).all(axis=1)
            name = names[int(np.argmin(good))]
            raise InputError(f"{kind} '{name}': {what} must be finite numbers")
