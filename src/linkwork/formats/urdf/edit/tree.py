"""The tree that links and joints make: roots, what lies below a link, the path down to it.

Linear in the number of links, without recursion; for descriptions that `check` has let pass.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from linkwork.errors import InputError, UnknownNameError
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.records import Document, Joint, Robot


def robot_of(document: Document) -> Robot:
    """The records of a document.

    Raises: InputError for anything else, such as a loaded robot.
    """
    if not isinstance(document, Document):
        given = type(document).__name__
        raise InputError(
            f"a Document is edited, not {given}; linkwork.urdf.read gives one, "
            "and linkwork.urdf.document makes one of records"
        )
    return document.robot


def holders(robot: Robot) -> dict[str, Joint]:
    """Link to the joint that it hangs on; all but the root are in it."""
    return {joint.child: joint for joint in robot.joints}


def root_of(robot: Robot) -> str:
    """The name of the link that hangs on no joint."""
    holder = holders(robot)
    return next(link.name for link in robot.links if link.name not in holder)


def path_to(robot: Robot, link: str) -> list[Joint]:
    """The joints from the root down to a link."""
    holder, path = holders(robot), list[Joint]()
    while link in holder:
        path.append(holder[link])
        link = path[-1].parent
    return path[::-1]


def below(robot: Robot, link: str) -> set[str]:
    """The link and all that hang on it."""
    children: dict[str, list[str]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint.child)
    found, waiting = {link}, [link]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            found.add(child)
            waiting.append(child)
    return found


def link_names(robot: Robot) -> list[str]:
    """The links' names, in order."""
    return [link.name for link in robot.links]


def joint_names(robot: Robot) -> list[str]:
    """The joints' names, in order."""
    return [joint.name for joint in robot.joints]


def known(kind: str, name: str, names: Collection[str]) -> None:
    """Raises: UnknownNameError when there is no such name."""
    if name not in names:
        raise UnknownNameError(kind, name, list(names))


def free(name: str, taken: Collection[str]) -> str:
    """The name, with a number behind it where it is taken."""
    number, new = 1, name
    while new in taken:
        number += 1
        new = f"{name}_{number}"
    return new


def listed(names: Collection[str], most: int = 5) -> str:
    """Names for a message: the first few in quotes, and how many more there are."""
    shown = [f"'{show(name)}'" for name in list(names)[:most]]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown) + more


def renaming(kind: str, changes: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """The changes of names that are changes, once they have been found possible.

    Raises: UnknownNameError for an old name that does not exist; InputError for a new one that is
    taken, given twice, or no name, and for what is no mapping.
    """
    if not isinstance(changes, Mapping):
        given = type(changes).__name__
        raise InputError(f"new names of a {kind} are given as {{old: new}}, not as {given}")
    names = dict.fromkeys(names)
    unchanged, new_names = set(names), dict[str, str]()
    for old, new in changes.items():
        known(kind, old, names)
        blank = kind in ("link", "joint") and not str(new).strip()
        if not isinstance(new, str) or blank:
            raise InputError(f"{kind} '{show(old)}' cannot be renamed to {new!r}: give it a name")
        unchanged.discard(old)
    for old, new in changes.items():
        other = new_names.setdefault(new, old)
        if other != old or new in unchanged:
            by = f"it is given to '{show(other)}' too" if other != old else "another one has it"
            raise InputError(
                f"{kind} '{show(old)}' cannot be renamed to '{show(new)}': {by}; names are unique"
            )
    return {old: new for old, new in changes.items() if old != new}
