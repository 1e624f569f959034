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

from linkwork.errors import DescriptionError, Finding, UnknownNameError
from linkwork.mechanism.model import Floats, Ints
from linkwork.mechanism.parts import Parts


class Tree(NamedTuple):
    """Indices into the lists of parts."""

    root: int  # the link that no joint carries
    parent_link: Ints  # (nj,) -1 for a joint that is a coordinate only
    child_link: Ints  # (nj,) likewise
    incoming: Ints  # (nl,) the joint that carries a link; -1 for the root
    order: Ints  # (nj,) the joints in the order of the tree


def error(code: str, element: str, name: str, message: str) -> Finding:
    """A fault of the parts; a reader has found those of its file before, with their lines."""
    return Finding("error", code, message, element=element, name=name)


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

    Raises: DescriptionError with every fault.
    """
    problems = _name_problems(parts)
    index = {link.name: k for k, link in enumerate(parts.links)}
    n_links = len(parts.links)
    parent = np.array(
        [-1 if j.parent is None else index.get(j.parent, -2) for j in parts.joints], np.int64
    )
    child = np.array(
        [-1 if j.child is None else index.get(j.child, -2) for j in parts.joints], np.int64
    )
    problems += _reference_problems(parts, parent, child, list(index))
    carrying = np.flatnonzero(child >= 0)
    incoming = np.full(n_links, -1, np.int64)
    incoming[child[carrying]] = carrying
    roots = np.flatnonzero(incoming < 0)
    if len(carrying) + len(roots) > n_links:
        problems += _parent_problems(parts, child)
    if len(roots) > 1:
        names = ", ".join(parts.links[k].name for k in indices(roots[:8]))
        problems.append(error("several-roots", "link", names, "several links have no parent"))
    if problems:
        raise DescriptionError(problems)
    above = np.where(parent >= 0, incoming[parent], -1)
    passes, lost = _passes(above)
    if len(lost) or not len(roots):
        raise DescriptionError([_cycle_problem(parts, above, lost)])
    order = np.argsort(passes, kind="stable")
    return Tree(int(roots[0]), parent, child, incoming, order)


def _name_problems(parts: Parts) -> list[Finding]:
    problems = [
        error("duplicate-name", kind, name, "the name is used more than once")
        for kind, names in (
            ("link", [link.name for link in parts.links]),
            ("joint", [joint.name for joint in parts.joints]),
        )
        for name in duplicates(names)
    ]
    if not parts.links:
        problems.append(error("no-link", "robot", parts.name, "there is no link"))
    return problems


def _reference_problems(parts: Parts, parent: Ints, child: Ints, names: list[str]) -> list[Finding]:
    problems: list[Finding] = []
    if min(parent.min(initial=0), child.min(initial=0)) >= 0:
        return problems
    wrong = (parent == -2) | (child == -2) | ((parent < 0) != (child < 0))
    for k in indices(np.flatnonzero(wrong)):
        joint = parts.joints[k]
        for role, name, at in (
            ("parent", joint.parent, parent[k]),
            ("child", joint.child, child[k]),
        ):
            if at == -1:
                problems.append(error("missing-link", "joint", joint.name, f"it has no {role}"))
            elif at == -2:
                text = f"its {role}: {UnknownNameError('link', name or '', names)}"
                problems.append(error("unknown-link", "joint", joint.name, text))
    return problems


def _parent_problems(parts: Parts, child: Ints) -> list[Finding]:
    """Links that several joints carry."""
    carrying = child[child >= 0]
    problems: list[Finding] = []
    for k in indices(np.flatnonzero(np.bincount(carrying, minlength=len(parts.links)) > 1)):
        above = [parts.joints[j].name for j in indices(np.flatnonzero(child == k))]
        text = f"child of {', '.join(above)}"
        problems.append(error("two-parents", "link", parts.links[k].name, text))
    return problems


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


def _cycle_problem(parts: Parts, above: Ints, lost: Ints) -> Finding:
    """Name one cycle: from any joint that is never placed, its ancestors run into it."""
    at, seen = int(lost[0]), dict[int, None]()
    while at not in seen:
        seen[at] = None
        at = int(above[at])
    path = list(seen)
    cycle = path[path.index(at) :]
    names = " < ".join(parts.joints[j].name for j in cycle[:8])
    more = f" and {len(cycle) - 8} more" if len(cycle) > 8 else ""
    return error("cycle", "joint", parts.joints[at].name, f"the joints form a cycle: {names}{more}")


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
