"""Edits: each takes a mechanism apart, changes the parts, and assembles a new mechanism.

The parts of a mechanism have one link for each body, in the frame of the body, and every frame as
a frame on one of them. Assembled again unchanged they give the same mechanism to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np

from linkwork.checks import finite_number, finite_rows, real_array, rigid_pose
from linkwork.errors import (
    DescriptionError,
    Finding,
    InputError,
    LinkworkError,
    ShapeError,
    UnsupportedFeatureError,
)
from linkwork.formats.loops import CouplingRecord, LoopRecord, LoopsRecord
from linkwork.mechanism import parameters, rigid
from linkwork.mechanism.assemble import (
    FramePart,
    JointPart,
    LinkPart,
    Mimic,
    Parts,
    assemble,
    with_closures,
)
from linkwork.mechanism.dynamics_checks import TOLERANCE
from linkwork.mechanism.loops import (
    Closures,
    Coupling,
    Expression,
    Loop,
    checked,
    coupling,
    free_name,
    gap_between,
)
from linkwork.mechanism.model import Floats, JointType, Mechanism, duplicates
from linkwork.mechanism.named_positions import configuration_from
from linkwork.mechanism.position_limits import inside_limits
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import inertias
from linkwork.spatial.poses import Pose, inverse

_CLOSED_WITHIN = 1.0e-6
"""A loop that is locked must be closed so far (m, or sines of angles), and a coupling hold."""


def parts_of(m: Mechanism) -> Parts:
    """The parts of a mechanism, one link for each body; `assemble` makes the same one of them."""
    bodies = range(m.n_bodies)
    floating = m.body_joint_types[0] is JointType.FLOATING
    joints: list[JointPart] = []
    follows = set(m.followers())
    done = 1 if floating else 0
    for b in bodies[1:]:
        c = int(m.coordinate[b])
        if b not in follows:
            joints += [_coordinate_part(m, k) for k in range(done, c)]  # those without a body
            done = c + 1
        joints.append(_joint_part(m, b, follower=b in follows))
    joints += [_coordinate_part(m, k) for k in range(done, len(m.joint_names))]
    return Parts(
        name=m.name,
        links=[
            LinkPart(m.body_names[b], float(m.mass[b]), m.p_body_com[b], m.I_com[b]) for b in bodies
        ],
        joints=joints,
        frames=[_frame_part(m, k) for k in range(len(m.frame_names))],
        base="floating" if floating else "fixed",
        base_joint=m.body_joint_names[0] if floating else None,
        frames_complete=True,
        findings=m.findings,
        inertias_accepted=m.inertias_accepted,
        unknown_inertials=m.unknown_inertials,
        gravity=m.default_gravity,
        closures=m.closures,
        named=tuple(
            (title, {name: q[m.q_slice(c)] for c, name in enumerate(m.joint_names)})
            for title, q in m.named_configurations
        ),
    )


def _coordinate_part(m: Mechanism, c: int) -> JointPart:
    """A coordinate with its limits, between no links."""
    at, v = m.q_indices([c])[0], m.v_indices([c])[0]
    single = m.joint_types[c].n_q == 1
    upper = float(m.upper[at] if single else m.angle_limit[c])
    return JointPart(
        name=m.joint_names[c],
        type=m.joint_types[c],
        parent=None,
        child=None,
        lower=float(m.lower[at]) if single else None,
        upper=upper if np.isfinite(upper) or single else None,
        velocity=float(m.velocity_limit[v]),
        effort=float(m.effort_limit[v]),
        damping=float(m.damping[v]),
        friction=float(m.friction[v]),
        armature=float(m.armature[v]),
        stiffness=float(m.stiffness[v]),
        spring_position=float(m.spring_position[v]),
    )


def _joint_part(m: Mechanism, b: int, *, follower: bool) -> JointPart:
    c = int(m.coordinate[b])
    if follower:
        mimic = Mimic(m.joint_names[c], float(m.multiplier[b]), float(m.offset[b]))
        kind = m.body_joint_types[b]
        part = JointPart(
            name=m.body_joint_names[b], type=kind, parent=None, child=None, mimic=mimic
        )
    else:
        part = _coordinate_part(m, c)
    return replace(
        part,
        parent=m.body_names[int(m.parent[b])],
        child=m.body_names[b],
        R=m.R_parent_joint[b],
        p=m.p_parent_joint[b],
    )


def _frame_part(m: Mechanism, k: int) -> FramePart:
    kind: Literal["link", "joint", "user"] = "user"
    if k < m.n_link_frames:
        kind = "link"
    elif k < m.n_link_frames + m.n_joint_frames:
        kind = "joint"
    link = m.body_names[int(m.frame_body[k])]
    frame = FramePart(
        m.frame_names[k],
        link,
        m.R_body_frame[k],
        m.p_body_frame[k],
        kind,
        fixed_to=m.frame_names[int(m.frame_link[k])],
    )
    if kind != "link":
        return frame
    mass, above = float(m.link_mass[k]), int(m.link_parent[k])
    return replace(
        frame,
        described=LinkPart(frame.name, mass, m.link_com[k], m.link_I_com[k]),
        carrier=m.frame_names[above] if above >= 0 else None,
    )


def lock(
    m: Mechanism,
    joints: str | Sequence[str],
    at: Mapping[str, Any] | Sequence[Any] | Floats | float | None = None,
) -> Mechanism:
    """The mechanism with these coordinates held: their joints become fixed, frames stay.

    `at` says where: a mapping from names to positions (those not in it at neutral), one entry for
    each of `joints`, the position of the only one, or a whole configuration (nq,); neutral by
    default, which is zero clamped to the limits. What is outside the limits by rounding alone, at
    most 1e-6, is put at them. Followers of a locked leader are locked at the position that they
    then have, and so is a joint that is coupled to locked ones alone. A floating base that is
    locked becomes a fixed one, standing there. Loops
    between frames that are then on one body are dropped where they are closed.

    Raises: UnknownNameError for names that are no coordinates; InputError for a follower (lock its
    leader), a name given twice, positions that are not finite, not clear or outside the limits, or
    where a loop or a coupling cannot hold; ShapeError for a wrong number of them.
    """
    names = [joints] if isinstance(joints, str) else list(joints)
    held = _with_coupled(m, _positions_to_lock(m, names, at))
    parts = parts_of(m)
    parts.closures = Closures()
    if parts.base_joint in held:
        position = held[parts.base_joint]
        parts.R_world_root, parts.p_world_root = rigid.joint_pose(JointType.FLOATING, position)
        parts.base, parts.base_joint = "fixed", None
    kept: list[JointPart] = []
    for joint in parts.joints:
        leader, factor, shift = joint.mimic or Mimic(joint.name)
        if leader not in held:
            kept.append(joint)
        elif joint.child is not None:
            position = factor * held[leader] + shift if joint.mimic else held[leader]
            R, p = rigid.joint_pose(joint.type, position)
            T = {"R": rigid.exact(joint.R @ R), "p": joint.p + joint.R @ p}
            kept.append(replace(joint, type=JointType.FIXED, mimic=None, **T))
    parts.joints = kept
    locked = assemble(parts)
    return with_closures(locked, _closures_of_locked(m, locked, held))


def _positions_to_lock(
    m: Mechanism,
    names: Sequence[str],
    at: Mapping[str, Any] | Sequence[Any] | Floats | float | None,
) -> dict[str, Floats]:
    """The positions (n_q,) at which to lock each of these coordinates."""
    follower = {m.body_joint_names[b]: m.joint_names[int(m.coordinate[b])] for b in m.followers()}
    for name in names:
        leader = follower.get(str(name))
        if leader is not None:
            raise InputError(
                f"'{name}' follows '{leader}' and has no position of its own; lock '{leader}'"
            )
        m.joint(name)
    for name in duplicates(names):
        raise InputError(f"'{name}' is to be locked twice; name each joint once")
    if isinstance(at, Mapping):
        given = dict(at)
        for name in set(given) - set(names):
            m.joint(name)
            raise InputError(f"a position is given for '{name}', which is not to be locked")
    else:
        given = {} if at is None else _in_order(m, names, at)
    q = inside_limits(
        m,
        configuration_from(m, {name: at for name, at in given.items() if at is not None}),
        m.q_indices(m.joint(name) for name in names),
        "with_locked",
        whose="cannot be locked at",
        hint="lock it inside them, or change the limits in the description",
    )
    return {name: q[m.q_slice(m.joint(name))] for name in names}


def _in_order(m: Mechanism, names: Sequence[str], at: Any) -> dict[str, Any]:
    """Positions from one entry for each name, or from a whole configuration."""
    values: list[Any] = list(at) if hasattr(at, "__len__") and not isinstance(at, str) else [at]
    if len(names) == 1 and 1 < len(values) == m.joint_types[m.joint(names[0])].n_q:
        return {names[0]: values}
    by_entry = len(values) == len(names)
    if len(values) == m.n_q and not any(map(np.ndim, values)):
        parts = [m.q_slice(m.joint(name)) for name in names]
        if by_entry and [part.start for part in parts] != list(range(m.n_q)):
            raise InputError(
                "it is not clear whether these positions are in the order of the names or of q; "
                "give a mapping from names to positions"
            )
        return {name: values[part] for name, part in zip(names, parts, strict=True)}
    if by_entry:
        return dict(zip(names, values, strict=True))
    raise ShapeError(
        f"with_locked takes one position for each of the {len(names)} names, or a configuration of "
        f"{m.n_q} numbers, not {len(values)} values"
    )


def _with_coupled(m: Mechanism, held: Mapping[str, Floats]) -> dict[str, Floats]:
    """The held positions, and those of joints that are coupled to held ones alone."""
    found = dict(held)
    waiting = list(m.couplings)
    while ready := [each for each in waiting if all(name in found for name in each.leaders)]:
        for each in ready:
            inputs = [np.float64(found[name][0]) for name in each.leaders]
            value = float(each.function.value(NUMPY, inputs))
            own = found.setdefault(each.joint, np.array([value]))
            if abs(float(own[0]) - value) > _CLOSED_WITHIN:
                raise InputError(
                    f"'{each.joint}' is coupled to {_named(each)}, which puts it at {value:.9g}; "
                    f"it cannot be locked at {float(own[0]):.9g}"
                )
        waiting = [each for each in waiting if each not in ready]
    for each in waiting:
        if each.joint in held:
            raise InputError(
                f"'{each.joint}' is coupled to {_named(each)} and cannot be locked by itself; "
                f"lock {_named(each)}"
            )
    return found


def _named(each: Coupling) -> str:
    return ", ".join(f"'{name}'" for name in each.leaders)


def _closures_of_locked(m: Mechanism, locked: Mechanism, held: Mapping[str, Floats]) -> Closures:
    """The loops and couplings that are left when some joints are locked at ``held``."""
    loops: list[Loop] = []
    for loop in m.loops:
        a, b = locked.frame(loop.frame_a), locked.frame(loop.frame_b)
        if locked.frame_body[a] != locked.frame_body[b]:
            loops.append(loop)
            continue
        back = locked.R_body_frame[a].T
        p = back @ (locked.p_body_frame[b] - locked.p_body_frame[a])
        gap = gap_between(loop, back @ locked.R_body_frame[b], p)
        if gap > _CLOSED_WITHIN:
            raise InputError(
                f"with these joints locked nothing moves in the loop '{loop.name}' any more, and "
                f"it is open by {gap:.3g}; lock at a configuration that is assembled"
            )
    couplings: list[Coupling] = []
    for each in m.couplings:
        if each.joint in held:
            continue
        function, leaders = each.function, list(each.leaders)
        for name in each.leaders:
            if name in held:
                function = function.with_input(leaders.index(name), float(held[name][0]))
                leaders.remove(name)
        couplings.append(Coupling(each.joint, tuple(leaders), function))
    actuated = tuple(name for name in m.actuated if name not in held)
    return Closures(tuple(loops), tuple(couplings), actuated)


def subchain(m: Mechanism, base: str, tip: str) -> Mechanism:
    """The chain between two frames as a mechanism of its own, its world being the base frame.

    It has the bodies on the path from the base's body to the tip's, with their inertia and all
    their frames. Side branches are dropped, with their mass: what a joint off the path moves
    is not part of the chain. Where the path leads towards the root of the tree, joints are
    passed backwards; they keep their names, their q with its sign, and their limits. A
    coordinate whose own joint is off the path stays when a joint on the path follows it. Loops
    between two bodies of the chain stay, and so do couplings among its joints.
    The order of q is that of `assemble` for the joints in their old order.

    Raises: UnknownNameError for frames that do not exist; UnsupportedFeatureError for planar,
    floating and spherical joints that would be passed backwards.
    """
    start, end = m.frame(base), m.frame(tip)
    up = m.ancestry(int(m.frame_body[start]))[::-1]
    down = m.ancestry(int(m.frame_body[end]))
    common = max(set(up) & set(down))
    reversed_bodies = up[: up.index(common)]
    path = {*up[: up.index(common) + 1], *down[down.index(common) :]}
    wide = [b for b in reversed_bodies if m.body_joint_types[b].n_q != 1]
    if wide:
        named = ", ".join(
            f"'{m.body_joint_names[b]}' ({m.body_joint_types[b].label})" for b in wide
        )
        raise UnsupportedFeatureError(
            f"a subchain cannot pass these joints backwards: {named}; "
            "choose a base that lies on the root's side of them"
        )
    parts = parts_of(m)
    places = {b: Pose(m.R_parent_joint[b], m.p_parent_joint[b]) for b in reversed_bodies}
    new = {m.body_names[int(m.parent[b])]: inverse(NUMPY, T) for b, T in places.items()}
    kept = {m.body_names[b] for b in path}
    carried = {m.body_joint_names[b] for b in path - {common}}
    backwards = {m.body_joint_names[b] for b in reversed_bodies}
    parts.links = [link for link in parts.links if link.name in kept]
    for k, link in enumerate(parts.links):
        if link.name in new:
            pose = new[link.name]
            com, I_com = pose.p + pose.R @ link.com, inertias.turned(pose.R, link.I_com)
            parts.links[k] = replace(link, com=com, I_com=I_com)
    parts.frames = [frame for frame in parts.frames if frame.link in kept]
    for k, frame in enumerate(parts.frames):
        if frame.link in new:
            pose = new[frame.link]
            R, p = pose.R @ frame.R, pose.p + pose.R @ frame.p
            parts.frames[k] = replace(frame, R=R, p=p)
    parts.joints = _chain_joints(parts.joints, carried, backwards, new)
    parts.base, parts.base_joint = "fixed", None
    at_base = Pose(m.R_body_frame[start], m.p_body_frame[start])
    parts.R_world_root, parts.p_world_root = inverse(NUMPY, at_base)
    parts.closures = Closures()
    chain = assemble(parts)
    frames, joints = set(chain.frame_names), set(chain.joint_names)
    loops = [
        loop
        for loop in m.loops
        if {loop.frame_a, loop.frame_b} <= frames
        and chain.frame_body[chain.frame(loop.frame_a)]
        != chain.frame_body[chain.frame(loop.frame_b)]
    ]
    couplings = [each for each in m.couplings if {each.joint, *each.leaders} <= joints]
    actuated = [name for name in m.actuated if name in joints]
    return with_closures(chain, Closures(tuple(loops), tuple(couplings), tuple(actuated)))


def _chain_joints(
    joints: Sequence[JointPart], carried: set[str], backwards: set[str], new: dict[str, Pose]
) -> list[JointPart]:
    """The joints on the path, turned round where it leads backwards, and leaders off the path.

    A joint places its child at X J(q). Backwards the child carries the parent, at J(q)⁻¹ X⁻¹:
    J(q)⁻¹ moves about the opposite axis, and X⁻¹ is the pose of the parent's old frame in its new.
    """
    leaders = {j.mimic.leader for j in joints if j.mimic and j.name in carried}
    result: list[JointPart] = []
    for joint in joints:
        turned = joint.name in backwards
        parent, child = (joint.child, joint.parent) if turned else (joint.parent, joint.child)
        R, p = new.get(parent or "", (np.eye(3), np.zeros(3)))
        if turned:
            result.append(replace(joint, parent=parent, child=child, R=R, p=p, axis=-joint.axis))
        elif joint.name in carried:
            result.append(replace(joint, R=R @ joint.R, p=p + R @ joint.p))
        elif joint.name in leaders:
            result.append(replace(joint, parent=None, child=None))
    return result


def with_frame(m: Mechanism, name: str, parent_frame: str, T_parent_frame: Any) -> Mechanism:
    """The mechanism with one more frame, at a pose (4, 4) in the frame `parent_frame`.

    The pose is taken as given; it must be rigid, see `checks.rigid_pose`.

    Raises: UnknownNameError for the parent, ShapeError, InputError for a name that is taken or
    empty and for a pose that is not rigid.
    """
    parent = m.frame(parent_frame)
    if not isinstance(name, str):
        raise InputError(f"a frame's name is text, not {name!r}")
    if not name or name in m.frame_names:
        why = "already exists" if name else "needs a name"
        raise InputError(f"the frame '{name}' {why}; choose one that is not in frame_names")
    T = rigid_pose(T_parent_frame, f"frame '{name}': its pose")
    R, p = rigid.exact(T[:3, :3]), T[:3, 3]
    R_body, p_body = m.R_body_frame[parent], m.p_body_frame[parent]
    parts = parts_of(m)
    on = m.body_names[int(m.frame_body[parent])]
    fixed_to = m.frame_names[int(m.frame_link[parent])]
    pose = R_body @ R, p_body + R_body @ p
    parts.frames.append(FramePart(name, on, *pose, fixed_to=fixed_to))
    return assemble(parts)


def close(
    m: Mechanism,
    frame_a: str,
    frame_b: str,
    kind: str | Sequence[str] = "pose",
    *,
    name: str | None = None,
    distance: float = 0.0,
) -> Mechanism:
    """The mechanism with a loop that closes between two frames.

    ``kind``: one of `loops.KINDS`, or the axes of frame a that are held: ``"xy"`` of position,
    ``"xy/z"`` of position and rotation. ``distance`` (m) is a rod's length. Without a name the loop
    is called after its frames.

    Raises: UnknownNameError for frames and kinds; InputError for names that are taken, frames on
    one body, and distances that are none.
    """
    name = free_name(f"{frame_a}-{frame_b}", m.loops) if name is None else name
    added = Loop(name, frame_a, frame_b, kind, distance)  # pyright: ignore[reportArgumentType] -- checked there
    return with_closures(m, m.closures._replace(loops=(*m.loops, added)))


def couple(
    m: Mechanism,
    joint: str,
    leaders: str | Sequence[str],
    function: Callable[..., Any] | Expression | None = None,
    *,
    rate: float | Sequence[float] = 1.0,
    offset: float = 0.0,
) -> Mechanism:
    """The mechanism with a joint that is where others' positions put it.

    Either ``rate`` times each leader's position, added up, plus ``offset``; or a ``function`` of
    them, which may use numbers, their arithmetic and `ops.graph.FUNCTIONS` of NumPy. It is called
    once, here; what it computed is kept.

    Raises: UnknownNameError for joints; InputError, UnsupportedFeatureError as `loops.coupling`.
    """
    added = coupling(joint, leaders, function, rate=rate, offset=offset)
    return with_closures(m, m.closures._replace(couplings=(*m.couplings, added)))


def actuate(m: Mechanism, joints: str | Sequence[str]) -> Mechanism:
    """The mechanism whose actuated joints are these, in this order, and no others.

    Raises: UnknownNameError for joints that are not in q; InputError for one that is named twice.
    """
    names = (joints,) if isinstance(joints, str) else tuple(joints)
    return with_closures(m, m.closures._replace(actuated=names))


def with_payload(
    m: Mechanism, frame: str, mass: Any, com: Any = (0.0, 0.0, 0.0), inertia: Any = None
) -> Mechanism:
    """The mechanism with one more body, fixed to a frame.

    ``mass`` (kg) lies at ``com`` (3,) in the frame (m). ``inertia`` about it, along the axes of the
    frame (kg m²): (3, 3), or ixx ixy ixz iyy iyz izz; by default that of a point mass. The link
    that the frame is fixed to weighs more by it: no link, joint or frame is added.

    Raises: UnknownNameError for the frame; ShapeError; InputError for a joint in place of a frame,
    for numbers that are not finite, a mass that is not positive, and inertias of no real body.
    """
    k = parameters.find(m, f"payload:{frame}")[0].frame
    load = _payload(f"payload on '{frame}'", mass, com, inertia, accepted=m.inertias_accepted)
    link, body = int(m.frame_link[k]), int(m.frame_body[k])
    R_body_frame, p_body_frame = m.R_body_frame[k], m.p_body_frame[k]
    R_link_body = m.R_body_frame[link].T
    parts = parts_of(m)
    parts.links[body] = _together(parts.links[body], load, R_body_frame, p_body_frame)
    described = parts.frames[link].described
    if described is not None:
        p_link_frame = R_link_body @ (p_body_frame - m.p_body_frame[link])
        described = _together(described, load, R_link_body @ R_body_frame, p_link_frame)
        parts.frames[link] = replace(parts.frames[link], described=described)
    return assemble(parts)


def _payload(what: str, mass: Any, com: Any, inertia: Any, *, accepted: bool) -> LinkPart:
    """The payload in its frame, checked."""
    weight = finite_number(mass, f"{what}: its mass (kg)", above=0.0)
    at = finite_rows(com, f"{what}: its com", 3)
    about = real_array(np.zeros(6) if inertia is None else inertia, f"{what}: its inertia")
    if at.shape != (3,) or about.shape not in ((3, 3), (6,)):
        raise ShapeError(
            f"{what}: com is (3,) and inertia (3, 3), or (6,) for ixx ixy ixz iyy iyz izz; not "
            f"{at.shape} and {about.shape}"
        )
    about = finite_rows(about, f"{what}: its inertia", about.shape[-1])
    if about.shape == (6,):
        about = about[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    if np.abs(about - about.T).max() > TOLERANCE * np.abs(about).max():
        raise InputError(f"{what}: its inertia is not symmetric: {about.tolist()}")
    about = 0.5 * (about + about.T)
    why = None if accepted else inertias.is_physical(weight, about, tolerance=TOLERANCE)
    if why is not None:
        raise InputError(f"{what}: {why}; the inertia is about the centre of mass, in kg m²")
    return LinkPart(what, weight, at, about)


def _together(link: LinkPart, load: LinkPart, R: Floats, p: Floats) -> LinkPart:
    """A link and a payload, whose frame is at R, p in the link's, as one."""
    mass, com, I_com = inertias.lump(
        np.zeros(2, np.int64),
        1,
        mass=np.array([link.mass, load.mass]),
        com=np.stack([link.com, p + R @ load.com]),
        inertia=np.stack([link.I_com, inertias.turned(R, load.I_com)]),
    )
    return replace(link, mass=float(mass[0]), com=com[0], I_com=I_com[0])


# --- mechanisms beside each other -----------------------------------------------------------------


class Attachment(NamedTuple):
    """A mechanism that comes to stand beside another one, on its root."""

    name: str  # in front of the names of its links, frames, loops and other joints
    mechanism: Mechanism
    leaders: Mapping[str, str]  # the joint of the other one that each of these joints follows
    joints: Mapping[str, str]  # new names of joints

    def own(self, name: str) -> str:
        """The name of a link, frame or loop of the mechanism in the whole."""
        return f"{self.name}: {name}"

    def joint(self, name: str) -> str:
        """The joint of the whole that has the position of one of the mechanism's."""
        return self.leaders.get(name) or self.joints.get(name) or self.own(name)


def with_attached(m: Mechanism, attachments: Sequence[Attachment]) -> Mechanism:
    """The mechanism with others beside it, their loops and couplings among its own.

    Raises: UnsupportedFeatureError for a mechanism on a floating base.
    """
    whole = parts_of(m)
    root = whole.links[0].name
    for each in attachments:
        other, own = parts_of(each.mechanism), each.own
        if other.base != "fixed":
            raise UnsupportedFeatureError(f"the mechanism '{each.name}' is not on a fixed base")
        whole.links += [LinkPart(own(link.name)) for link in other.links]
        name, ground = own("ground joint"), own(other.links[0].name)
        whole.joints.append(JointPart(name=name, type=JointType.FIXED, parent=root, child=ground))
        for joint in other.joints:
            mimic = joint.mimic and joint.mimic._replace(leader=each.joint(joint.mimic.leader))
            if mimic is None and joint.name in each.leaders:
                mimic = Mimic(each.leaders[joint.name])
            names = {
                "name": each.joint(joint.name) if mimic is None else own(joint.name),
                "parent": joint.parent and own(joint.parent),
                "child": joint.child and own(joint.child),
            }
            whole.joints.append(replace(joint, mimic=mimic, **names))
        for frame in other.frames:
            names = {
                "name": own(frame.name),
                "link": own(frame.link),
                "fixed_to": frame.fixed_to and own(frame.fixed_to),
                "carrier": frame.carrier and own(frame.carrier),
            }
            described = frame.described and LinkPart(own(frame.name))
            whole.frames.append(replace(frame, described=described, **names))
        there, more = whole.closures, other.closures
        loops = [
            replace(p, name=own(p.name), frame_a=own(p.frame_a), frame_b=own(p.frame_b))
            for p in more.loops
        ]
        couplings = [
            replace(c, joint=each.joint(c.joint), leaders=tuple(map(each.joint, c.leaders)))
            for c in more.couplings
        ]
        whole.closures = Closures(
            (*there.loops, *loops), (*there.couplings, *couplings), there.actuated
        )
    return assemble(whole)


# --- loops of a file ------------------------------------------------------------------------------


def with_loops(m: Mechanism, record: LoopsRecord) -> Mechanism:
    """The mechanism with all that a record says, beside what it has.

    Raises: DescriptionError with every entry that does not fit: names that do not exist, kinds.
    """
    entries: list[tuple[str, int, Any]] = [("loops", each.line, each) for each in record.loops]
    entries += [("couplings", each.line, each) for each in record.couplings]
    entries += [("actuated", record.actuated_line, record.actuated)] if record.actuated else []
    found: list[Finding] = []
    for element, line, each in entries:
        try:
            m = _with_entry(m, each)
        except LinkworkError as error:
            found.append(Finding("error", "loops", str(error), record.file, line, element))
    if found:
        raise DescriptionError(found)
    return m


def _with_entry(m: Mechanism, each: LoopRecord | CouplingRecord | Sequence[str]) -> Mechanism:
    if isinstance(each, LoopRecord):
        kind, distance = each.kind, each.distance
        return close(m, each.frame_a, each.frame_b, kind, name=each.name, distance=distance)
    if not isinstance(each, CouplingRecord):
        return actuate(m, each)
    if not each.operations:
        return couple(m, each.joint, each.leaders, rate=each.rates, offset=each.offset)
    return couple(m, each.joint, each.leaders, checked(len(each.leaders), each.operations))


def loops_record(m: Mechanism) -> LoopsRecord:
    """The loops, couplings and actuated joints of a mechanism, as a file says them."""
    loops = [
        LoopRecord(loop.frame_a, loop.frame_b, loop.kind, loop.distance, loop.name)
        for loop in m.loops
    ]
    couplings = [
        CouplingRecord(each.joint, each.leaders, operations=each.function.nodes)
        for each in m.couplings
    ]
    return LoopsRecord(tuple(loops), tuple(couplings), m.actuated)
