"""The tree that links and joints form: who hangs on whom, and in which order.

Everything here is done for all joints at once. A quantity along the way to the root is found by
pointer doubling: in every round each joint takes over what the joint it points at has found and
points where that one points, so a chain of n joints needs log2(n) rounds and no recursion.
Source: Hillis and Steele, "Data parallel algorithms", CACM 29 (1986), section "Parallel prefix".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from linkwork.errors import DescriptionError
from linkwork.formats.structure import JointEntry, LinkEntry, check_mimics, check_structure
from linkwork.formats.urdf.findings import Findings
from linkwork.mechanism.model import Floats, Ints
from linkwork.mechanism.parts import Parts


class Tree(NamedTuple):
    """Indices into the lists of parts."""

    root: int  # the link that no joint carries
    parent_link: Ints  # (nj,) -1 for a joint that is a coordinate only
    child_link: Ints  # (nj,) likewise
    incoming: Ints  # (nl,) the joint that carries a link; -1 for the root
    order: Ints  # (nj,) the joints in the order of the tree


def indices(array: Ints) -> list[int]:
    """Indices as Python's own numbers, which lists take faster."""
    return list(map(int, array.tolist()))


def duplicates(names: Sequence[str]) -> list[str]:
    """The names that occur more than once, in order of first appearance."""
    if len(set(names)) == len(names):
        return []
    return [name for name, count in Counter(names).items() if count > 1]


def resolve(parts: Parts) -> Tree:
    """Find the tree, or every reason why there is none.

    The order: a joint is placed at its first appearance once its parent is placed, and the list is
    gone through again until all are placed. So a joint that stands behind its parent joint is
    placed in the same pass, one that stands before it in the next one.

    Raises: as `structure_error`.
    """
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
        raise structure_error(parts)
    passes, lost = _passes(np.where(parent >= 0, incoming[parent], -1))
    if len(lost):
        raise structure_error(parts)
    order = np.argsort(passes, kind="stable")
    return Tree(int(roots[0]), parent, child, incoming, order)


def structure_error(parts: Parts) -> DescriptionError:
    """The error with every fault of names, references, cycles and couplings, each at its place."""
    findings = Findings(None)
    links = [LinkEntry(link.name, link.line, link.file) for link in parts.links]
    joints = [
        JointEntry(
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
    check_structure(links, joints, findings)
    check_mimics(joints, findings)
    return findings.error()


def _passes(above: Ints) -> tuple[Ints, Ints]:
    """The pass in which each joint is placed, and the joints that no pass ever places."""
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


def fold_to_anchors(target: Ints, R: Floats, p: Floats) -> Ints:
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
