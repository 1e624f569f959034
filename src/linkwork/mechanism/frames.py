"""The named frames of a mechanism: of links, of joints, and those that users added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwork.errors import InputError, UnknownNameError
from linkwork.mechanism import rigid
from linkwork.mechanism.model import Floats, Ints
from linkwork.mechanism.parts import FramePart, LinkPart, Parts, Stacks
from linkwork.mechanism.tree import Tree, duplicates, indices

_KINDS = ("link", "joint", "user")


def frames_of(
    parts: Parts, tree: Tree, body: Ints, R: Floats, p: Floats, *, stacks: Stacks
) -> dict[str, Any]:
    """All frames on their bodies, in their order.

    Shapes: body (nl,), R (nl, 3, 3) and p (nl, 3) are the links' bodies and poses on them.
    Raises: InputError for a name that is used twice or numbers that are not finite,
    UnknownNameError for a frame on a link that does not exist.
    """
    names, on, counts = _derived(parts, tree)
    frames = sorted(parts.frames, key=lambda frame: _KINDS.index(frame.kind))
    names += [frame.name for frame in frames]
    twice = duplicates(names) if frames else []  # those of links and joints are new by their making
    if twice:
        raise InputError(f"the frame name '{twice[0]}' is used more than once")
    link = np.concatenate([on, _links_of(frames, parts)])
    R_frame, p_frame = R[link], p[link]
    if frames:
        own = slice(len(on), None)
        R_own = rigid.gather([frame.R for frame in frames], 3, 3)
        p_own = rigid.gather([frame.p for frame in frames], 3)
        rigid.check_finite("frame", [frame.name for frame in frames], "its pose", R_own, p_own)
        p_frame[own] += np.einsum("nij,nj->ni", R_frame[own], p_own)
        R_frame[own] = rigid.exact(R_frame[own] @ rigid.exact(R_own))
    for frame in frames:
        counts[frame.kind] += 1
    described = names[: counts["link"]]
    return {
        **_links_as_described(parts, tree, frames, described, stacks=stacks),
        "frame_link": np.concatenate([on, _fixed_to(frames, described)]),
        "frame_names": tuple(names),
        "frame_body": body[link],
        "R_body_frame": R_frame,
        "p_body_frame": p_frame + 0.0,
        "n_link_frames": counts["link"],
        "n_joint_frames": counts["joint"],
    }


def _links_of(frames: Sequence[FramePart], parts: Parts) -> Ints:
    if not frames:
        return np.zeros(0, np.int64)
    index = {link.name: k for k, link in enumerate(parts.links)}
    for frame in frames:
        if frame.link not in index:
            raise UnknownNameError("link", frame.link, list(index))
    return np.array([index[frame.link] for frame in frames], np.int64)


def _fixed_to(frames: Sequence[FramePart], links: list[str]) -> Ints:
    """The link that each frame is fixed to, among the frames of links."""
    index = {name: k for k, name in enumerate(links)} if frames else {}
    try:
        named = [index[frame.fixed_to or frame.link] for frame in frames]
    except KeyError as error:
        raise UnknownNameError("link", error.args[0], links) from None
    return np.array(named, np.int64)


def _links_as_described(
    parts: Parts, tree: Tree, frames: Sequence[FramePart], names: list[str], *, stacks: Stacks
) -> dict[str, Any]:
    """Which link carries each one, and its own mass; edits hand on what was described."""
    if parts.frames_complete:
        index = {name: k for k, name in enumerate(names)}
        own = [frame for frame in frames if frame.kind == "link"]
        links = [frame.described or LinkPart(frame.name) for frame in own]
        parent = np.array([index.get(frame.carrier or "", -1) for frame in own], np.int64)
        mass = np.array([link.mass for link in links], np.float64)
        com = rigid.gather([link.com for link in links], 3)
        inertia = rigid.gather([link.I_com for link in links], 3, 3)
    else:
        mass, com, inertia = stacks.mass, stacks.com, stacks.I_com
        carried = tree.incoming >= 0
        parent = np.full(len(mass), -1, np.int64)
        parent[carried] = tree.parent_link[tree.incoming[carried]]
    return {"link_parent": parent, "link_mass": mass, "link_com": com, "link_I_com": inertia}


def _derived(parts: Parts, tree: Tree) -> tuple[list[str], Ints, Counter[str]]:
    """The frames that links and joints have of themselves: names, links, and how many of each."""
    if parts.frames_complete:
        return [], np.zeros(0, np.int64), Counter()
    links = [link.name for link in parts.links]
    carrying = np.flatnonzero(tree.child_link >= 0)
    joints = [parts.joints[k].name for k in indices(carrying)]
    taken = {*links, *joints}
    if len(taken) < len(links) + len(joints):
        of_links = set(links)
        joints = [_beside(name, taken) if name in of_links else name for name in joints]
    on = np.concatenate([np.arange(len(links)), tree.child_link[carrying]])
    return links + joints, on, Counter(link=len(links), joint=len(joints))


def _beside(name: str, taken: set[str]) -> str:
    """The name of the frame of a joint that is called as a link is."""
    while name in taken:
        name += "/joint"
    taken.add(name)
    return name
