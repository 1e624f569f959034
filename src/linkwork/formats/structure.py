"""The structure of any description: its names, what they refer to, the tree, who follows whom.

Whoever reads or makes a description, of whatever format, says what it has as entries, which know
their place in the file. Every fault of its structure is found and worded here. All walks are linear
in the number of entries and free of recursion.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.findings import Findings

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Structure
no-link | error | There is no link. | A robot has one at least.
duplicate-link | error | Two links of one name. | Rename one.
duplicate-joint | error | Two joints of one name. | Rename one.
unknown-link | error | A joint's parent or child is not there. | Mind the spelling.
same-link | error | A joint's parent is its child. | Name another link.
two-parents | error | A link hangs on two joints. | URDF is a tree: cut the loop.
several-roots | error | Links that nothing connects. | Join them to the root.
cycle | error | Links that hang on each other in a circle. | Cut it at one joint.
# Couplings
mimic-unknown | error | The joint to follow does not exist. | Mind the spelling.
mimic-self | error | A joint follows itself. | Name its leader.
mimic-cycle | error | Joints follow each other in a circle. | One must lead.
mimic-leader | error | The leader has no single position. | Follow another joint.
mimic-type | error | The follower has no single position. | Use a hinge or slider.
fixed-follower | warning | A fixed joint follows: no effect. | Remove `<mimic>`.
# Records and mechanisms made in code
missing-link | error | A joint without parent or child. | Name it.
"""


COUPLED = frozenset({"revolute", "continuous", "prismatic"})
"""The types of joints that have one position: these can follow and lead."""


class LinkEntry(NamedTuple):
    """A link by its name, and where it stands."""

    name: str
    line: int = 0
    file: str = ""


class JointEntry(NamedTuple):
    """A joint between two links; both are None for a coordinate that only followers use.

    ``leader`` is the joint that it mimics, ``mimic_line`` where that stands (as the joint: None).
    """

    name: str
    type: str
    parent: str | None
    child: str | None
    leader: str | None = None
    line: int = 0
    mimic_line: int | None = None
    file: str = ""


class Mimic(NamedTuple):
    """A coupling: q = multiplier * q_leader + offset."""

    leader: str
    multiplier: float = 1.0
    offset: float = 0.0


def check_structure(
    links: Sequence[LinkEntry], joints: Sequence[JointEntry], findings: Findings, line: int = 0
) -> None:
    """Add every reason why no unique finite tree follows; ``line`` is that of the whole robot."""
    if not links:
        hint = "a robot has at least one <link>"
        findings.add("error", "no-link", "there is no link", line=line, element="robot", hint=hint)
    link_index = _by_name("link", "duplicate-link", links, findings)
    _by_name("joint", "duplicate-joint", joints, findings)
    carriers = _check_references(joints, link_index, findings)
    roots = [links[k] for name, k in link_index.items() if name not in carriers and name]
    if len(roots) > 1:
        message = f"{len(roots)} links have no parent, so they are unconnected: {_listed(roots)}"
        hint = "one link is the root; join the others to it"
        findings.about("error", "link", roots[1], "several-roots", message, hint)
    above = {child: joint.parent or "" for child, joint in carriers.items()}
    for cycle in cycles(above):
        message = f"{len(cycle)} links form a cycle: {_chain(cycle[::-1])}"
        first = min((carriers[link] for link in cycle), key=lambda joint: joint.line)
        findings.about("error", "joint", first, "cycle", message)


def _by_name(
    element: str,
    code: str,
    entries: Sequence[LinkEntry] | Sequence[JointEntry],
    findings: Findings,
) -> dict[str, int]:
    """Name to number, of the first one; the others are errors."""
    index: dict[str, int] = {}
    for k, entry in enumerate(entries):
        first = index.setdefault(entry.name, k)
        if first != k and entry.name:
            line = entries[first].line
            where = f"a {element} of line {line}" if line else f"another {element}"
            findings.about("error", element, entry, code, f"the name is taken: {where} has it")
    return index


def _check_references(
    joints: Sequence[JointEntry], links: Mapping[str, int], findings: Findings
) -> dict[str, JointEntry]:
    """Links that exist, each with one parent; each link's carrier."""
    carriers: dict[str, JointEntry] = {}
    for joint in joints:
        parent, child = joint.parent, joint.child
        if parent is None and child is None:
            continue
        for end, link in (("parent", parent), ("child", child)):
            if link is None:
                findings.about("error", "joint", joint, "missing-link", f"it has no {end}")
            elif link not in links and link:
                message = f"the {end} link '{show(link)}' does not exist"
                hint = findings.nearest(link, links)
                findings.about("error", "joint", joint, "unknown-link", message, hint)
        if parent == child:
            if parent:
                message = f"parent and child are the same link '{show(parent)}'"
                findings.about("error", "joint", joint, "same-link", message)
            continue
        first = carriers.setdefault(child or "", joint)
        if first is not joint and child:
            at = f" (line {first.line})" if first.line else ""
            message = (
                f"link '{show(child)}' has a parent already: it hangs on joint "
                f"'{show(first.name)}'{at}"
            )
            hint = "a loop cannot be written in URDF; close it by a constraint instead"
            findings.about("error", "joint", joint, "two-parents", message, hint)
    return carriers


def check_mimics(joints: Sequence[JointEntry], findings: Findings) -> None:
    """Add what is wrong with couplings.

    Each leader exists and has one position; each follower has one as well; there are no cycles.
    """
    if not any(joint.leader for joint in joints):
        return
    index: dict[str, JointEntry] = {}
    for joint in joints:
        index.setdefault(joint.name, joint)
    leader_of: dict[str, str] = {}
    for joint in joints:
        if not joint.leader:
            continue
        if joint.type == "fixed":  # whatever it says is without effect
            message = "a fixed joint cannot follow another one; its <mimic> is not used"
            findings.about("warning", "joint", joint, "fixed-follower", message)
            continue
        if joint.type in COUPLED:
            leader_of.setdefault(joint.name, joint.leader)
        _check_leader(joint, joint.leader, index, findings)
    for cycle in cycles(leader_of):
        if len(cycle) > 1:  # one that mimics itself is reported already
            message = f"joints mimic each other in a cycle: {_chain(cycle)}"
            first = min((index[name] for name in cycle), key=lambda joint: joint.line)
            findings.about("error", "joint", first, "mimic-cycle", message)


def _check_leader(
    joint: JointEntry, leader: str, index: Mapping[str, JointEntry], findings: Findings
) -> None:
    hint = "" if joint.type in COUPLED else "revolute, continuous and prismatic joints can"
    shown = f"it mimics joint '{show(leader)}'"
    if leader == joint.name:
        code, message = "mimic-self", "the joint mimics itself"
    elif leader not in index:
        code, message = "mimic-unknown", f"{shown}, which does not exist"
        hint = findings.nearest(leader, index)
    elif (kind := index[leader].type) not in COUPLED:
        code, message = "mimic-leader", f"{shown}, which is {kind} and has no single position"
    elif joint.type not in COUPLED:
        code, message = "mimic-type", f"a {joint.type} joint cannot follow another one"
    else:
        return
    findings.about("error", "joint", joint, code, message, hint, line=joint.mimic_line)


# ---- walks


def cycles(above: Mapping[str, str]) -> Iterator[list[str]]:
    """The cycles of names of which each has at most one other above it, each from where it is met.

    From each name the walk goes up until one that was met before; met on the same walk: a cycle.
    """
    walk_of: dict[str, int] = {}
    for number, start in enumerate(above):
        if start in walk_of:
            continue
        name = start
        while name in above and name not in walk_of:
            walk_of[name] = number
            name = above[name]
        if walk_of.get(name) != number:
            continue
        cycle = [name]
        while above[cycle[-1]] != name:
            cycle.append(above[cycle[-1]])
        yield cycle


def root_first(
    links: Collection[str], ends: Sequence[tuple[str, str]]
) -> tuple[str, list[int]] | None:
    """The root and the joints, one branch after the other; None where they make no tree.

    ``ends`` are the parent and the child of each joint.
    """
    below: dict[str, list[int]] = {}
    for k, (parent, _) in enumerate(ends):
        below.setdefault(parent, []).append(k)
    children, names = {child for _, child in ends}, set(links)
    roots = [link for link in links if link not in children]
    if len(roots) != 1 or not len(children) == len(ends) == len(links) - 1 == len(names) - 1:
        return None
    order: list[int] = []
    waiting = below.get(roots[0], [])[::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += reversed(below.get(ends[order[-1]][1], []))
    return (roots[0], order) if len(order) == len(ends) and children <= names else None


def final_leaders(mimics: Mapping[str, Mimic], joints: Collection[str]) -> dict[str, Mimic]:
    """Each follower's coupling to the joint at the end of its chain; none for chains without end.

    Every joint is passed once, however long the chains are.
    """
    found: dict[str, Mimic | None] = {}
    for start in mimics:
        chain: dict[str, Mimic] = {}
        at = start
        while at in mimics and at not in found and at not in chain:
            chain[at] = mimics[at]
            at = mimics[at].leader
        # the end is a joint that leads, one that is settled, or nothing
        end = found.get(at) if at in mimics else Mimic(at) if at in joints else None
        for name, own in reversed(chain.items()):
            if end is not None:  # q = m1 (m2 q_leader + b2) + b1
                _, m, b = own
                same = end.leader == own.leader
                end = own if same else Mimic(end.leader, m * end.multiplier, m * end.offset + b)
            found[name] = end
    return {name: coupling for name in mimics if (coupling := found[name]) is not None}


def untaken(name: str, taken: set[str]) -> str:
    """This name, or one like it that is free; it is taken from now on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _chain(names: Sequence[str]) -> str:
    """The names of a cycle and the first again; the first few and the last where they are many."""
    few = names if len(names) <= 8 else [*names[:6], "...", names[-1]]
    return " -> ".join(map(show, [*few, names[0]]))


def _listed(entries: Sequence[LinkEntry]) -> str:
    names = [
        f"'{show(entry.name)}'" + (f" (line {entry.line})" if entry.line else "")
        for entry in entries[:8]
    ]
    return ", ".join(names) + (f" and {len(entries) - 8} more" if len(entries) > 8 else "")
