"""From parts to the frozen model: order, fixed joints lumped, couplings resolved, axes along z."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from linkwork.errors import InputError
from linkwork.mechanism import rigid
from linkwork.mechanism.coordinates import Coordinates, find, limits_of
from linkwork.mechanism.frames import frames_of
from linkwork.mechanism.loops import Beside, check_beside
from linkwork.mechanism.model import Floats, Ints, JointType, Mechanism
from linkwork.mechanism.parts import (
    FramePart,
    JointPart,
    LinkPart,
    Mimic,
    Parts,
    Stacks,
    identity,
    zero,
)
from linkwork.mechanism.tree import Tree, fold_to_anchors, indices, resolve
from linkwork.spatial import inertias

__all__ = ["FramePart", "JointPart", "LinkPart", "Mimic", "Parts", "assemble"]


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
    tree = resolve(parts)
    coordinates = find(parts, tree)
    stacks = stacks or _stacked(parts)
    placed = _place(parts, tree, stacks)
    frames = frames_of(parts, tree, placed.body, placed.R, placed.p, stacks=stacks)
    links = frozenset(frames["frame_names"][: frames["n_link_frames"]])
    made = Mechanism(
        name=parts.name,
        inertias_accepted=parts.inertias_accepted,
        unknown_inertials=tuple(each for each in parts.unknown_inertials if each[0] in links),
        **_bodies(parts, tree, placed, coordinates),
        **_inertias(parts, placed, stacks),
        **limits_of(parts, coordinates),
        **frames,
    )
    return with_beside(made, parts.beside) if any(parts.beside) else made


def _stacked(parts: Parts) -> Stacks:
    joints, links = parts.joints, parts.links
    return Stacks(
        rigid.gather([joint.R for joint in joints], 3, 3),
        rigid.gather([joint.p for joint in joints], 3),
        rigid.gather([joint.axis for joint in joints], 3),
        np.array([link.mass for link in links], np.float64),
        rigid.gather([link.com for link in links], 3),
        rigid.gather([link.I_com for link in links], 3, 3),
    )


def with_beside(m: Mechanism, beside: Beside) -> Mechanism:
    """The same tree with these loops, couplings and actuated joints beside it.

    Raises: as `loops.check_beside`.
    """
    check_beside(
        beside,
        body_of=dict(zip(m.frame_names, m.frame_body.tolist(), strict=True)),
        n_positions={n: kind.n_q for n, kind in zip(m.joint_names, m.joint_types, strict=True)},
    )
    return replace(m, **beside._asdict())


class _Placed(NamedTuple):
    """Where every link is: its body and its pose in that body's frame."""

    moving: Ints  # (nb - 1,) the joints that move bodies 1, 2, ...
    body: Ints  # (nl,)
    R: Floats  # (nl, 3, 3)
    p: Floats  # (nl, 3)
    R_joint: Floats  # (nj, 3, 3) the joint frame with z along the axis, in the parent link's frame
    p_joint: Floats  # (nj, 3)


def _place(parts: Parts, tree: Tree, stacks: Stacks) -> _Placed:
    """Put every link onto a body."""
    names = [joint.name for joint in parts.joints]
    R_joint, p_joint = rigid.exact(stacks.R), stacks.p
    root = np.asarray(parts.R_world_root, float), np.asarray(parts.p_world_root, float)
    rigid.check_finite("joint", names, "its placement", R_joint, p_joint)
    if root[0] is not identity() or root[1] is not zero():
        rigid.check_finite("root of", [parts.name], "its placement", *(x[None] for x in root))
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
    anchor = fold_to_anchors(target, R, p)

    in_tree = tree.order[tree.child_link[tree.order] >= 0]
    moving = in_tree[~fixed[in_tree]]
    body_of_anchor = np.zeros(n_links, np.int64)
    body_of_anchor[tree.child_link[moving]] = np.arange(1, len(moving) + 1)
    return _Placed(
        moving, body_of_anchor[anchor], rigid.exact(R), p + 0.0, R_joint @ R_align, p_joint
    )


def _alignments(parts: Parts, names: list[str], stacks: Stacks) -> Floats:
    """The rotations of z onto the axes of the joints that have one; the others turn nothing."""
    R = np.zeros((len(names), 3, 3))
    R[:] = np.eye(3)
    without = (JointType.FIXED, JointType.FLOATING, JointType.SPHERICAL)
    having = [k for k, joint in enumerate(parts.joints) if joint.type not in without]
    axis = stacks.axis[having]
    straight = rigid.straight(axis)
    if straight is not None:
        R[having] = straight
        return R
    owners = [names[k] for k in having]
    rigid.check_finite("joint", owners, "its axis", axis)
    largest = np.max(np.abs(axis), axis=1, initial=0.0)
    if not largest.all():
        name = owners[int(np.argmin(largest))]
        raise InputError(f"joint '{name}': its axis is zero, so nothing says how it moves")
    axis = axis / largest[:, None]  # first this, so that squares neither overflow nor vanish
    length = np.sqrt(np.einsum("ni,ni->n", axis, axis))
    R[having] = rigid.align_z(rigid.exact(axis / length[:, None]))
    return R


def _bodies(parts: Parts, tree: Tree, placed: _Placed, coordinates: Coordinates) -> dict[str, Any]:
    """The bodies and the joints that move them."""
    joints = [parts.joints[k] for k in indices(placed.moving)]
    carried = [parts.links[k].name for k in indices(tree.child_link[placed.moving])]
    on = tree.parent_link[placed.moving]
    R = placed.R[on] @ placed.R_joint[placed.moving]
    p = placed.p[on] + np.einsum("nij,nj->ni", placed.R[on], placed.p_joint[placed.moving])
    floating = parts.base == "floating"
    base_type = JointType.FLOATING if floating else JointType.FIXED
    base_joint = coordinates.names[0] if floating else ""
    own = [coordinates.leaders.get(joint.name) or Mimic(joint.name) for joint in joints]
    leading = [coordinates.index[mimic.leader] for mimic in own]
    return {
        "body_names": (parts.links[tree.root].name, *carried),
        "body_joint_names": (base_joint, *(joint.name for joint in joints)),
        "body_joint_types": (base_type, *(joint.type for joint in joints)),
        "parent": np.concatenate([[-1], placed.body[on]]).astype(np.int64),
        "R_parent_joint": rigid.exact(np.concatenate([np.eye(3)[None], R])),
        "p_parent_joint": np.concatenate([np.zeros((1, 3)), p]) + 0.0,
        "coordinate": np.array([0 if floating else -1, *leading], np.int64),
        "multiplier": np.array([1.0, *(mimic.multiplier for mimic in own)]),
        "offset": np.array([0.0, *(mimic.offset for mimic in own)]),
    }


def _inertias(parts: Parts, placed: _Placed, stacks: Stacks) -> dict[str, Any]:
    """The inertia of every body, lumped from its links."""
    names = [link.name for link in parts.links]
    mass, com, inertia = stacks.mass, stacks.com, stacks.I_com
    rigid.check_finite("link", names, "its mass, centre and inertia", mass, com, inertia)
    com = placed.p + np.einsum("nij,nj->ni", placed.R, com)
    inertia = inertias.turned(placed.R, inertia)
    n_bodies = len(placed.moving) + 1
    total, centre, about = inertias.lump(placed.body, n_bodies, mass=mass, com=com, inertia=inertia)
    return {"mass": total, "p_body_com": centre, "I_com": about}
