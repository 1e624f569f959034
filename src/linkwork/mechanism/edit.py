"""Edits: each takes a mechanism apart, changes the parts, and assembles a new mechanism.

The parts of a mechanism have one link for each body, in the frame of the body, and every frame as
a frame on one of them. Assembled again unchanged they give the same mechanism to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from linkwork.checks import rigid_pose
from linkwork.errors import InputError, UnsupportedFeatureError
from linkwork.mechanism import rigid
from linkwork.mechanism.assemble import assemble, with_beside
from linkwork.mechanism.beside import beside_kept, beside_locked, led_along
from linkwork.mechanism.locking import joint_pose, positions_for
from linkwork.mechanism.loops import Beside, Loop, coupling
from linkwork.mechanism.model import Floats, JointType, Mechanism
from linkwork.mechanism.parts import FramePart, JointPart, LinkPart, Mimic, Parts, z_axis


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
        beside=Beside(m.loops, m.couplings, m.actuated),
        named=tuple((name, _by_joint(m, q)) for name, q in m.named_configurations),
    )


def _by_joint(m: Mechanism, q: Sequence[float]) -> dict[str, tuple[float, ...]]:
    """The positions (nq,) of each joint."""
    starts = m.q_start.tolist()
    return {
        name: tuple(q[start:stop])
        for name, start, stop in zip(m.joint_names, starts, starts[1:], strict=False)
    }


def _coordinate_part(m: Mechanism, c: int) -> JointPart:
    """A coordinate with its limits, between no links."""
    at, v = int(m.q_start[c]), int(m.v_start[c])
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
    held = led_along(m, positions_for(m, names, at))
    parts = parts_of(m)
    parts.beside = Beside()
    if parts.base_joint in held:
        kind, position = JointType.FLOATING, held[parts.base_joint]
        parts.R_world_root, parts.p_world_root = joint_pose(kind, position)
        parts.base, parts.base_joint = "fixed", None
    kept: list[JointPart] = []
    for joint in parts.joints:
        leader, factor, shift = joint.mimic or Mimic(joint.name)
        if leader not in held:
            kept.append(joint)
        elif joint.child is not None:
            position = factor * held[leader] + shift if joint.mimic else held[leader]
            kept.append(_fixed(joint, *joint_pose(joint.type, position)))
    parts.joints = kept
    locked = assemble(parts)
    return with_beside(locked, beside_locked(m, locked, held))


def _fixed(joint: JointPart, R: Floats, p: Floats) -> JointPart:
    """A joint that holds its child at R (3, 3), p (3,) in the joint frame."""
    R_parent, p_parent = joint.R, joint.p
    return replace(
        joint,
        type=JointType.FIXED,
        R=rigid.exact(R_parent @ R),
        p=p_parent + R_parent @ p,
        mimic=None,
    )


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
    _check_reversible(m, reversed_bodies)
    parts = parts_of(m)
    new = {
        m.body_names[int(m.parent[b])]: _inverse(m.R_parent_joint[b], m.p_parent_joint[b])
        for b in reversed_bodies
    }
    kept = {m.body_names[b] for b in path}
    carried = {m.body_joint_names[b] for b in path - {common}}
    backwards = {m.body_joint_names[b] for b in reversed_bodies}
    parts.links = [_moved_link(k, new.get(k.name)) for k in parts.links if k.name in kept]
    parts.frames = [_moved_frame(f, new.get(f.link)) for f in parts.frames if f.link in kept]
    parts.joints = _chain_joints(parts.joints, carried, backwards, new)
    parts.base, parts.base_joint = "fixed", None
    R_body_base, p_body_base = m.R_body_frame[start], m.p_body_frame[start]
    parts.R_world_root, parts.p_world_root = _inverse(R_body_base, p_body_base)
    parts.beside = Beside()
    chain = assemble(parts)
    return with_beside(chain, beside_kept(m, chain)) if m.is_closed or m.actuated else chain


_Pose = tuple[Floats, Floats]


def _inverse(R: Floats, p: Floats) -> _Pose:
    return R.T, -(R.T @ p)


def _check_reversible(m: Mechanism, bodies: Sequence[int]) -> None:
    wide = [b for b in bodies if m.body_joint_types[b].n_q != 1]
    if wide:
        named = ", ".join(
            f"'{m.body_joint_names[b]}' ({m.body_joint_types[b].label})" for b in wide
        )
        raise UnsupportedFeatureError(
            f"a subchain cannot pass these joints backwards: {named}; "
            "choose a base that lies on the root's side of them"
        )


def _moved_link(link: LinkPart, pose: _Pose | None) -> LinkPart:
    """A link described in another frame of it, in which its old frame has this pose."""
    if pose is None:
        return link
    R, p = pose
    inertia = rigid.turned(R[None], link.I_com[None])[0]
    return replace(link, com=p + R @ link.com, I_com=inertia)


def _moved_frame(frame: FramePart, pose: _Pose | None) -> FramePart:
    if pose is None:
        return frame
    R, p = pose
    return replace(frame, R=R @ frame.R, p=p + R @ frame.p)


def _chain_joints(
    joints: Sequence[JointPart], carried: set[str], backwards: set[str], new: dict[str, _Pose]
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
            result.append(replace(joint, parent=parent, child=child, R=R, p=p, axis=-z_axis()))
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
    taken = {loop.name for loop in m.loops}
    if name is None:
        name = first = f"{frame_a}-{frame_b}"
        number = 2
        while name in taken:
            name, number = f"{first}_{number}", number + 1
    added = Loop(name, frame_a, frame_b, kind, distance)  # pyright: ignore[reportArgumentType] -- checked there
    return with_beside(m, Beside((*m.loops, added), m.couplings, m.actuated))


def couple(
    m: Mechanism,
    joint: str,
    leaders: str | Sequence[str],
    function: Callable[..., Any] | None = None,
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
    return with_beside(m, Beside(m.loops, (*m.couplings, added), m.actuated))


def actuate(m: Mechanism, joints: str | Sequence[str]) -> Mechanism:
    """The mechanism whose actuated joints are these, in this order, and no others.

    Raises: UnknownNameError for joints that are not in q; InputError for one that is named twice.
    """
    names = (joints,) if isinstance(joints, str) else tuple(joints)
    return with_beside(m, Beside(m.loops, m.couplings, names))
