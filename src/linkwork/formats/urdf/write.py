"""Writing a URDF: records as XML, in the order that they know, or as changes of what was read.

The text reads back as the same robot, and that one is written as the same bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import chain
from operator import itemgetter
from typing import Any
from xml.parsers import expat

from linkwork.errors import InputError, Level
from linkwork.formats.urdf.convert import (
    LONGEST,
    SPACE,
    BadText,
    Complaint,
    content_text,
    label_text,
    show,
)
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import Reader
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement, Robot
from linkwork.formats.urdf.rewrite import STEP, Node, lines_of, rewritten
from linkwork.formats.urdf.schema import ELEMENTS, MISPLACED, ROBOT, Attribute, Child, Element
from linkwork.formats.urdf.source import collector_paused, encoded, gather, text_of

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# MJCF
name | error | Characters that no name can have. | Remove them.
# Records and mechanisms made in code
symmetric | error | An inertia that is not symmetric. | Write (m + m.T) / 2.
extra | error | The text of an unknown element is not that one. | Mend the XML.
known | error | URDF's own element among the unknown ones. | Make it a record.
within | error | A comment inside what is not there. | Put it elsewhere.
comment | error | A comment that XML cannot hold. | No two hyphens.
twice | error | An unknown attribute stands twice. | Remove one.
"""


_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_MANY = 5000  # links and joints, which come to about 1 MB
_place_of = itemgetter(0)


def to_text(robot: Robot) -> str:
    """The description as XML text, which `read` gives back as the same robot.

    What `linkwork.urdf.read` gave is written as it stood, byte for byte, except where a record was
    changed. Anything else is written in order, two spaces deep, comments and unknown elements where
    they were; what was made in code follows the record before it. Numbers are then the shortest
    that read back as the same bits, and attributes that say what the standard says anyway are left
    out, where it does not ask for them.

    Raises: InputError naming the record and the field for a value that no file could hold.
    """
    return _written(robot)[0]


def to_bytes(robot: Robot) -> bytes:
    """The description as a file holds it: `to_text`, in the encoding of the file that was read.

    Raises: as `to_text`.
    """
    with collector_paused(is_large(robot)):
        return encoded(*_written(robot))


def is_large(robot: Robot) -> bool:
    """Whether Python's collector would look at the records of a robot again and again."""
    parts = (robot.links, robot.joints) if isinstance(robot, Robot) else ()
    return sum(len(part) for part in parts if isinstance(part, (tuple, list))) > _MANY


def _written(robot: Robot) -> tuple[str, str]:
    """The text of a robot, and its encoding ("" where that is nobody's)."""
    source = robot.source if isinstance(robot, Robot) else None
    if source is not None and _unchanged(robot, source.robot):
        return text_of(source.text)
    nodes = nodes_of(robot)
    if source is None:
        return plain_text(nodes), ""
    old, encoding = text_of(source.text)

    def said(changed: str) -> list[Node] | None:
        read = Reader(gather(changed, None)[0], Findings(None)).read()
        if read == robot:
            return nodes  # equal records say the same
        return None if read is None else nodes_of(read)

    new = rewritten(old, nodes_of(source.robot), nodes, said)
    return (plain_text(nodes), "") if new is None else (new, encoding)


def _unchanged(robot: Robot, read: Robot) -> bool:
    """Whether a robot holds the very records that were read."""
    names = (f.name for f in fields(Robot) if f.name not in ("source", "file"))
    return all(getattr(robot, name) is getattr(read, name) for name in names)


def nodes_of(robot: Robot) -> list[Node]:
    """The root of a description as XML, and the comments around it, in order.

    Raises: InputError naming the record and the field for a value that no file could hold.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"a records.Robot is written, not {type(robot).__name__}")
    walk = Walk()
    try:
        return walk.document(robot)[0]
    except BadText as bad:
        _, message, hint = bad.complaint
        how = f" ({hint})" if hint else ""
        raise InputError(f"{path_text(walk.path)}: {message}{how}") from None


def plain_text(nodes: Sequence[Node]) -> str:
    """The text of a description that no file has held.

    Raises: InputError for unknown XML that is not well formed where it stands.
    """
    pieces = [piece for node in nodes for piece in lines_of(node, "", STEP)]
    text = "\n".join([_DECLARATION, *[line for line, _ in pieces], ""])
    if any(owner for _, owner in pieces):
        _check(text, nodes)
    return text


def path_text(path: Sequence[tuple[str, Any]]) -> str:
    """The path of a record, from the outside: ``joint 'elbow' / limit``."""
    names: list[str] = []
    for tag, record in path[1:] or path:
        name = name_of(record)
        names.append(f"{tag} '{show(name)}'" if name else tag)
    return " / ".join(names)


class Walk:
    """One pass over a robot by the table: the nodes of its XML, and the values of its file.

    With ``findings`` (checking) every fault and oddity is one of them, and what is wrong is left
    out or filled. Without (writing) the first value that no file could hold is raised as BadText.
    """

    def __init__(self, findings: Findings | None = None) -> None:
        self.findings = findings
        self.path: list[tuple[str, Any]] = []  # from the root to the record that is at work
        self.extras = NONE  # of that record
        self.changes: dict[str, Any] = {}  # of that record, to what its file would hold

    def document(self, robot: Robot) -> tuple[list[Node], Robot]:
        """The root with the comments around it, and the robot as its file would have it."""
        root, made = self._record(ROBOT, robot)
        own = robot.position or 0
        around = [] if self.findings else [c for c in robot.comments if not c.within]
        after = [c for c in around if c.position is not None and c.position > own]
        before = around[: len(around) - len(after)]
        return [*map(_comment, before), root, *map(_comment, after)], made

    def _record(self, element: Element, record: Any) -> tuple[Node, Any]:
        """The node of a record, and the record; another one where its file would hold others."""
        self.path.append((element.tag, record))
        outer, self.extras, self.changes = (self.extras, self.changes), NONE, {}
        try:
            self.extras = extras_of(element, record)
        except BadText as bad:
            self._say("error", bad.complaint, element)
        if self.findings and self.extras is not NONE:
            self._note_extras(element, record, self.findings)
        attributes, _ = self._attributes(element, record)
        node = Node(element.tag, attributes, record.position, ordered=len(attributes))
        if self.extras.attributes:
            attributes |= self._extra_attributes(element, self.extras)
            node.whose = path_text(self.path)
        node.children = self._inside(element, record)
        if self.findings and self.changes:
            record = replace(record, **self.changes)
        self.extras, self.changes = outer
        self.path.pop()
        return node, record

    # attributes

    def _attributes(  # noqa: C901, PLR0912 -- one attribute after the other
        self, element: Element, record: Any
    ) -> tuple[dict[str, str], bool]:
        """The attributes of an element, and whether they say more than their absence would."""
        texts: dict[str, str] = {}
        values: list[Any] = []
        telling = False
        try:
            pairs = element.values(record)
        except BadText as bad:
            self._say("error", bad.complaint, element, f"field '{element.packed}'")
            pairs = [(attribute, 0.0) for attribute in element.attributes]
        for attribute, value in pairs:
            if value is None:
                new = self._absent(attribute, element, record)
                values.append(new)
                if not element.packed and new is not None:
                    self.changes[attribute.target] = new
                continue
            if value is attribute.default and attribute.is_plain:
                values.append(value)  # there is nothing to judge, and nothing to say
                continue
            table = attribute.values
            try:
                text = table.write(value)
                new, odd = (value, None) if self.findings is None else table.judged(text)
            except BadText as bad:
                self._say("error", bad.complaint, element, f"attribute '{attribute.name}'")
                text, new = "", attribute.filler
            else:
                if odd:
                    self._say("warning", odd, element, f"attribute '{attribute.name}'")
                if new is not value and _is_plain(value):
                    new = value
            values.append(new)
            if not element.packed and new is not value:
                self.changes[attribute.target] = new
            if text != attribute.default_text:
                telling = True
            elif not attribute.always:
                self._lacks(attribute, element)
                continue
            texts[attribute.name] = quoted(text) if attribute.quoted else text
        if element.packed and self.findings:
            xx, xy, xz, yy, yz, zz = values
            matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)) if None not in values else None
            given = getattr(record, element.packed)
            same_type = type(given) is type(matrix) and all(map(_is_plain, given or ()))
            if not same_type or given != matrix:
                self.changes[element.packed] = matrix
        return texts, telling

    def _absent(self, attribute: Attribute, element: Element, record: Any) -> Any:
        """The value that reading would give where the record has none."""
        for extra in self.extras.attributes.get(element.tag, ()):
            if element.unread(record, extra) is attribute:  # its text, which has no value
                try:
                    return attribute.values.read(extra.value)
                except BadText as bad:
                    where = f"attribute '{attribute.name}'"
                    self._say("warning", bad.complaint, element, where)
                    return None
        # an element that is no record is left out when it has nothing to say
        if attribute.required == "error" or element.record or self.extras.within(element.tag):
            self._lacks(attribute, element)
        return attribute.filler

    def _lacks(self, attribute: Attribute, element: Element) -> None:
        if attribute.required:
            message = f"attribute '{attribute.name}' is missing"
            complaint = Complaint("missing-attribute", message, f"it is {attribute.kind.value}")
            self._say(attribute.required, complaint, element)

    def _extra_attributes(self, element: Element, extras: Extras) -> dict[str, str]:
        texts: dict[str, str] = {}
        for extra in extras.attributes.get(element.tag, ()):
            if extra.name in texts:
                message = f"extra has the attribute '{show(extra.name)}' twice"
                self._say("error", Complaint("twice", message), element)
            texts[extra.name] = quoted(extra.value)
        return texts

    # what stands in an element

    def _inside(self, element: Element, record: Any) -> list[Node]:
        """The items of an element, in their order."""
        found: list[tuple[int, Node]] = []
        last = -1
        _gather(found, self.extras.comments.get(element.tag, ()), _comment, last)
        for child in element.children:
            if child.inline:
                last = self._inline(found, child, child.inline, record, last)
            elif child.text:
                last = self._texts(found, child, element, record, last)
            else:
                last = self._records(found, child, element, record, last)

        if self.extras.elements:
            whose = path_text(self.path)

            def node_of(extra: ExtraElement) -> Node:
                return Node("", {}, extra.position, text=extra.xml, whose=whose)

            _gather(found, self.extras.elements.get(element.tag, ()), node_of, last)
        if len(found) > 1:
            found.sort(key=_place_of)
        return [node for _, node in found]

    def _records(
        self, found: list[tuple[int, Node]], child: Child, element: Element, record: Any, last: int
    ) -> int:
        """Add the records of one place; the last place."""
        value = getattr(record, child.field)
        if value is (() if child.repeated else None):  # most places are empty
            self._miss(child, element)
            return last
        nodes: list[Node] = []
        made: list[Any] = []
        changed = False
        try:
            several = child.items(record)
        except BadText as bad:
            several, changed = (), True
            self._say("error", bad.complaint, element)
        for each in several:
            try:
                below = child.element_of(each)
            except BadText as bad:
                changed = True
                self._say("error", bad.complaint, element)
                continue
            node, new = self._record(below, each)
            nodes.append(node)
            made.append(new)
            changed |= new is not each
        if not several:
            self._miss(child, element)
        if child.repeated:
            if changed or not isinstance(getattr(record, child.field), tuple):
                self.changes[child.field] = tuple(made)
        elif changed:
            self.changes[child.field] = made[0] if made else None
        if not nodes:
            return last
        places = _places([node.position for node in nodes], last)
        found += zip(places, nodes, strict=True)
        return max(last, places[-1])

    def _inline(
        self, found: list[tuple[int, Node]], child: Child, element: Element, record: Any, last: int
    ) -> int:
        """Add an element that is no record, if there is something to say in it; the last place."""
        tag, extras = element.tag, self.extras
        if element.is_plain and extras is NONE and tag not in record.layout:
            if all([getattr(record, a.target) is a.default for a in element.attributes]):
                return last  # as most are: there is nothing to say
        occupied = extras.within(tag)
        if not (child.required or occupied or element.has_values(record)):
            return last
        attributes, telling = self._attributes(element, record)
        inside: list[Node] = []
        if occupied or any(getattr(record, inner.field) for inner in element.children):
            inside = self._inside(element, record)
        elif not element.attributes:
            self._miss(child, ELEMENTS[type(record)])
        laid = tag in record.layout
        if laid and not attributes and not inside and tag not in extras.attributes:
            # it stood there, saying nothing new, such as <origin xyz="0 0 0"/>
            every = element.attributes
            attributes = {a.name: a.default_text for a in every if a.default_text}
        if not (telling or inside or occupied or (laid and attributes)):
            return last
        place = record.layout.index(tag) if laid else last
        node = Node(tag, attributes, place if laid else None, inside, ordered=len(attributes))
        if extras.attributes:
            attributes |= self._extra_attributes(element, extras)
            node.whose = path_text(self.path)
        found.append((place, node))
        return max(place, last)

    def _texts(
        self, found: list[tuple[int, Node]], child: Child, element: Element, record: Any, last: int
    ) -> int:
        """Add elements that hold a text; the last place.

        Of what else stands in them each gets what follows on its place. The text comes first, since
        its own place among that is unknown.
        """
        tag, extras = child.tags[0], self.extras
        texts: list[str] = []
        if not element.is_attribute(record, child.field):
            try:
                texts += (str(content_text(text)) for text in child.items(record))
                if child.repeated and not isinstance(getattr(record, child.field), tuple):
                    self.changes[child.field] = tuple(texts)
            except BadText as bad:
                self._say("error", bad.complaint, element, f"field '{child.field}'")
                self.changes[child.field] = tuple(texts) if child.repeated else None
        if not texts:
            if extras.within(tag):
                message = f"there is no <{tag}> that something could stand in"
                self._say("error", Complaint("within", message), element)
            return last
        laid = [k for k, each in enumerate(record.layout) if each == tag]
        positions = [*laid, *[None] * len(texts)][: len(texts)]
        places = _places(positions, last)
        shares = [Extras() for _ in places]
        for kind in ("attributes", "elements", "comments"):
            for each in getattr(extras, kind).get(tag, ()):
                k = max(bisect_right(places, each.position or 0) - 1, 0)
                getattr(shares[k], kind).setdefault(tag, []).append(each)
        for place, text, position, own in zip(places, texts, positions, shares, strict=True):
            attributes = self._extra_attributes(child.elements[0], own)
            within = [(each.position, comment_text(each)) for each in own.comments.get(tag, ())]
            within += [(each.position, each.xml) for each in own.elements.get(tag, ())]
            orders = _places([order for order, _ in within], 0)
            ordered = sorted(zip(orders, within, strict=True), key=_place_of)
            inside = content(text) + "".join(xml for _, (_, xml) in ordered)
            whose = path_text(self.path)
            found.append((place, Node(tag, attributes, position, text=inside, whose=whose)))
        return max(last, places[-1])

    # what there is to say

    def _say(self, level: Level, complaint: Complaint, element: Element, where: str = "") -> None:
        code, message, hint = complaint
        message = f"{where}: {message}" if where and not message.startswith(where) else message
        if self.findings is None:
            if level == "error":
                raise BadText(code, message, hint)
            return
        line, owner = self.path[-1][1].line, name_of(self.path[:2][-1][1])
        self.findings.add(
            level, code, message, line=line, element=element.tag, name=owner, hint=hint
        )

    def _miss(self, child: Child, element: Element) -> None:
        if child.required:
            tags = " or ".join(f"<{tag}>" for tag in child.tags)
            self._say(child.required, Complaint("missing-element", f"{tags} is missing"), element)

    def _note_extras(self, element: Element, record: Any, findings: Findings) -> None:
        """Put the extras of a record into the order of reading, and note what is unknown."""

        def rank(extra: Any) -> int:
            """Attributes of the record's element come first, then name spaces, then the rest."""
            if not isinstance(extra, ExtraAttribute) or extra.within != element.tag:
                return 2
            return int(extra.name.startswith("xmlns"))

        ordered = tuple(sorted(record.extra, key=rank))
        if ordered != record.extra:
            self.changes["extra"] = ordered
        owner = name_of(self.path[:2][-1][1])
        labels: dict[tuple[str, int | None], list[ExtraAttribute]] = {}
        for extra in record.extra:
            inner = element.inner[extra.within]
            if isinstance(extra, ExtraElement):
                line, tags = extra.line, inner.tags
                findings.unknown_element(extra.within, tags, extra.tag, line=line, name=owner)
            elif not extra.name.startswith("xmlns") and inner.unread(record, extra) is None:
                labels.setdefault((extra.within, extra.position), []).append(extra)
        for (within, _), extras in labels.items():
            known = [attribute.name for attribute in element.inner[within].attributes]
            names, line = [extra.name for extra in extras], extras[0].line
            findings.unknown_attributes(within, known, names, line=line, name=owner)


def name_of(record: Any) -> str:
    """The name of a record; empty where it has none that is a text."""
    name = getattr(record, "name", None)
    return name if isinstance(name, str) else ""


def _is_plain(value: Any) -> bool:
    """Whether a value is of the types that reading gives."""
    kind = type(value)
    return kind is float or kind is str or (kind is tuple and all(type(v) is float for v in value))


def _comment(comment: Comment) -> Node:
    return Node("", {}, comment.position, text=comment_text(comment), silent=True)


def _places(positions: Sequence[int | None], last: int) -> list[int]:
    """The places of the items of one tuple: never before the one before; None as that one.

    Those in front that know no place go to the first that does; where none does, to ``last``.
    """
    place = next((position for position in positions if position is not None), last)
    places: list[int] = []
    for position in positions:
        if position is not None and position > place:
            place = position
        places.append(place)
    return places


def _gather(
    found: list[tuple[int, Node]],
    several: Sequence[Comment] | Sequence[ExtraElement],
    node_of: Callable[[Any], Node],
    last: int,
) -> None:
    """Add comments or unknown elements to what stands in an element."""
    if several:
        places = _places([each.position for each in several], last)
        found += [(place, node_of(each)) for place, each in zip(places, several, strict=True)]


def _check(text: str, nodes: Sequence[Node]) -> None:
    """That the text is XML, name spaces too: unknown elements and attributes are taken as given."""
    try:
        expat.ParserCreate("utf-8", "\n").Parse(text.encode(), True)
    except expat.ExpatError as error:
        line, whose = 2, ""  # behind the declaration: the record at the line, or last before it
        for piece, owner in chain.from_iterable(lines_of(node, "", STEP) for node in nodes):
            if owner and (line <= error.lineno or not whose):
                whose = owner
            line += piece.count("\n") + 1
        shown = show(text.splitlines()[error.lineno - 1].strip())
        hint = ""
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_UNBOUND_PREFIX]:
            hint = " (declare it: ExtraAttribute('robot', 'xmlns:prefix', 'its URI'))"
        reason = expat.ErrorString(error.code)
        raise InputError(f"{whose}: extra: {reason} in {shown}{hint}") from None


# ---- what a record has besides its fields

_TAG = re.compile(r"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
"""The text of one tag, whatever its attributes hold."""

_NAME = re.compile(r"[^\s<>=\"'/&!?\x00-\x20]+")
_ESCAPED = {
    **{"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"},
    **{"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"},
}
_SPECIAL = re.compile('[&<>"\t\n\r]')
_IN_TEXT = re.compile("[&<>\r]")


def quoted(text: str) -> str:
    """The text of an attribute, between its quotes."""
    return _SPECIAL.sub(lambda match: _ESCAPED[match[0]], text)


def content(text: str) -> str:
    """The text of an element."""
    return _IN_TEXT.sub(lambda match: _ESCAPED[match[0]], text)


class Extras:
    """The extras and comments of one record, by the element they stand in."""

    __slots__ = ("attributes", "comments", "elements")

    def __init__(self) -> None:
        self.attributes: dict[str, list[ExtraAttribute]] = {}
        self.elements: dict[str, list[ExtraElement]] = {}
        self.comments: dict[str, list[Comment]] = {}

    def within(self, tag: str) -> bool:
        """Whether anything stands in this element."""
        return tag in self.attributes or tag in self.elements or tag in self.comments


NONE = Extras()
"""Of the many records that have none."""


def extras_of(element: Element, record: Any) -> Extras:  # noqa: C901 -- one case after the other
    """The extra content of a record, besides its fields.

    Raises: BadText for what stands in no element of this record, or could not be read back.
    """
    if not record.extra and not record.comments:
        return NONE
    found = Extras()
    for extra in record.extra:
        if isinstance(extra, ExtraElement):
            inner = _inner(element, extra.within)
            filled = {t for f, t in inner.twice.items() if getattr(record, f)}
            _check_xml(inner, extra, filled)
            found.elements.setdefault(extra.within, []).append(extra)
        elif isinstance(extra, ExtraAttribute):
            inner = _inner(element, extra.within)
            if inner.unread(record, extra) is None:
                name = label_text(extra.name)
                if not _NAME.fullmatch(name):
                    raise BadText("name", f"'{show(name)}' is no name of an attribute")
                if name in inner.known:
                    message = f"'{show(name)}' is an attribute of URDF"
                    raise BadText("known", message, "use its field")
            label_text(extra.value)
            found.attributes.setdefault(extra.within, []).append(extra)
        else:
            raise BadText("type", f"extra holds {type(extra).__name__}, which is no extra")
    for comment in record.comments:
        if not isinstance(comment, Comment):
            raise BadText("type", f"comments holds {type(comment).__name__}")
        if comment.within or element is not ROBOT:
            _inner(element, comment.within)
        comment_text(comment)
        found.comments.setdefault(comment.within, []).append(comment)
    return found


def _inner(element: Element, within: str) -> Element:
    """The part of an element that something stands in."""
    if within not in element.inner:
        hint = "there are: " + ", ".join(element.inner)
        raise BadText("within", f"'{show(str(within))}' is no element of <{element.tag}>", hint)
    return element.inner[within]


def _check_xml(within: Element, extra: ExtraElement, filled: set[str]) -> None:
    """That the text is one element with this tag, and one that URDF does not define here.

    ``filled`` are the elements whose fields attributes have filled.
    """
    tag, xml = extra.tag, extra.xml
    if not isinstance(tag, str) or not isinstance(xml, str):
        raise BadText("type", "an ExtraElement has a tag and a text")
    if (tag in within.tags and tag not in filled) or tag in MISPLACED:
        raise BadText("known", f"<{show(tag)}> is an element of URDF", "make it a record")
    start = _TAG.match(xml)
    alone = start is not None and start[0].endswith("/>") and start.end() == len(xml)
    closed = re.search(r"</([^\s>]+)\s*>\Z", xml) if start and not alone else None
    if start is None or not re.match(rf"<{re.escape(tag)}[\s/>]", xml):
        raise BadText("extra", f"the text of <{show(tag)}> does not begin with its tag")
    if not alone and (closed is None or closed[1] != tag):
        raise BadText("extra", f"the text of <{show(tag)}> is not this one element")
    try:
        expat.ParserCreate("utf-8").Parse(xml.encode(), True)
    except (expat.ExpatError, UnicodeEncodeError) as error:
        raise BadText("extra", f"the text of <{show(tag)}> is broken XML: {error}") from None


def comment_text(comment: Comment) -> str:
    """A comment, or a processing instruction, as it is written.

    Raises: BadText for what would end it early.
    """
    text, target = comment.text, comment.target
    if not isinstance(text, str):
        raise BadText("type", f"a comment is a text, not {type(text).__name__}")
    for start in range(0, len(text), LONGEST):  # it may have any length
        label_text(text[start : start + LONGEST])
    if "\r" in text:
        raise BadText("comment", "a carriage return cannot stand in a comment")
    if target:
        if not _NAME.fullmatch(label_text(target)) or target.lower() == "xml":
            raise BadText("comment", f"'{show(target)}' is no name of a processing instruction")
        if "?>" in text or text != text.lstrip(SPACE):
            raise BadText("comment", "'?>' or leading white space in a processing instruction")
        return f"<?{target} {text}?>" if text else f"<?{target}?>"
    if "--" in text or text.endswith("-"):
        raise BadText("comment", "'--' would end the comment", "write - - or another sign")
    return f"<!--{text}-->"
