"""Writing a URDF: records as XML, in the order that they know, or as changes of what was read.

The text reads back as the same robot, and that one is written as the same bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from operator import itemgetter
from typing import Any
from xml.parsers import expat

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import BadText, content_text, show
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import Reader
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement, Robot
from linkwork.formats.urdf.rewrite import STEP, Node, lines_of, rewritten
from linkwork.formats.urdf.source import collector_paused, encoded, gather, text_of
from linkwork.formats.urdf.specs import (
    NONE,
    ROBOT_SPEC,
    ChildSpec,
    ElementSpec,
    Extras,
    as_attribute,
    comment_text,
    content,
    extras_of,
    items,
    quoted,
    says,
    spec_of,
    values,
)

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
    large = isinstance(robot, Robot) and len(robot.links) + len(robot.joints) > _MANY
    with collector_paused(large):
        return encoded(*_written(robot))


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
        robot = Reader(gather(changed, None)[0], Findings(None)).read()
        return None if robot is None else nodes_of(robot)

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
    pen = _Pen()
    try:
        return pen.document(robot)
    except BadText as bad:
        _, message, hint = bad.complaint
        how = f" ({hint})" if hint else ""
        raise InputError(f"{path_text(pen.path)}: {message}{how}") from None


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
    """Where a record is, from the outside: ``joint 'elbow' / limit``."""
    names: list[str] = []
    for tag, record in path[1:] or path:
        name = getattr(record, "name", None)
        names.append(f"{tag} '{show(name)}'" if isinstance(name, str) and name else tag)
    return " / ".join(names)


class _Pen:
    """Records made into nodes, and the way from the root to the record that is at work."""

    def __init__(self) -> None:
        self.path: list[tuple[str, Any]] = []

    def document(self, robot: Robot) -> list[Node]:
        """The root, with the comments around it."""
        self.path.append((ROBOT_SPEC.tag, robot))
        own = robot.position or 0
        around = extras_of(ROBOT_SPEC, robot).comments.get("", ())
        self.path.pop()
        after = [c for c in around if c.position is not None and c.position > own]
        nodes = [_comment(comment) for comment in around[: len(around) - len(after)]]
        nodes.append(self._record(ROBOT_SPEC, robot))
        return nodes + [_comment(comment) for comment in after]

    def _record(self, spec: ElementSpec, record: Any) -> Node:
        self.path.append((spec.tag, record))
        extras = extras_of(spec, record) if record.extra or record.comments else NONE
        attributes, _ = self._attributes(spec, record)
        if extras.attributes:
            attributes |= _extra_attributes(extras.attributes.get(spec.tag, ()))
        node = Node(spec.tag, attributes, record.position)
        if extras.attributes:
            node.whose = path_text(self.path)
        node.children = self._inside(spec, record, extras)
        self.path.pop()
        return node

    def _extra(self, extra: ExtraElement) -> Node:
        return Node("", {}, extra.position, text=extra.xml, whose=path_text(self.path))

    def _text(self, tag: str, text: str, position: int | None, extras: Extras) -> Node:
        """An element that holds a text; the text first, since its place among others is unknown."""
        attributes = _extra_attributes(extras.attributes.get(tag, ()))
        within = [(each.position, comment_text(each)) for each in extras.comments.get(tag, ())]
        within += [(each.position, each.xml) for each in extras.elements.get(tag, ())]
        places = _places([place for place, _ in within], 0)
        ordered = sorted(zip(places, within, strict=True), key=_place_of)
        inside = content(text) + "".join(xml for _, (_, xml) in ordered)
        return Node(tag, attributes, position, text=inside, whose=path_text(self.path))

    def _attributes(self, spec: ElementSpec, record: Any) -> tuple[dict[str, str], bool]:
        """The attributes of an element, and whether they say more than their absence would."""
        texts: dict[str, str] = {}
        telling, field = False, spec.packed
        try:
            for attribute, value in values(spec, record):
                field = attribute.name
                if value is None:
                    if attribute.schema.required == "error":
                        raise BadText("missing", f"it is needed: {attribute.schema.kind.value}")
                    continue
                written = attribute.write(value)
                if written != attribute.default:
                    telling = True
                elif not attribute.always:
                    continue
                texts[attribute.name] = quoted(written) if attribute.quoted else written
        except BadText as bad:
            raise _of_field(field, bad) from None
        return texts, telling

    def _inside(self, spec: ElementSpec, record: Any, extras: Extras) -> list[Node]:
        """What stands in an element, in its order."""
        found: list[tuple[int, Node]] = []
        last = -1
        if extras is not NONE:
            comments = extras.comments.get(spec.tag, ())
            _gather(found, comments, _comment, last)
        for part in spec.children:
            if part.inline:
                if part.required or says(part.inline, record) or extras.within(part.tags[0]):
                    last = self._gather_inline(found, part.inline, record, extras, last)
            elif part.text:
                last = self._gather_texts(found, part, spec, record, extras, last)
            elif several := items(part, record):
                pairs = [(spec_of(part, each), each) for each in several]
                places = _places([each.position for each in several], last)
                found += [
                    (place, self._record(*pair)) for place, pair in zip(places, pairs, strict=True)
                ]
                last = max(last, places[-1])
        if extras is not NONE:
            _gather(found, extras.elements.get(spec.tag, ()), self._extra, last)
        found.sort(key=_place_of)
        return [node for _, node in found]

    def _gather_inline(
        self,
        found: list[tuple[int, Node]],
        spec: ElementSpec,
        record: Any,
        extras: Extras,
        last: int,
    ) -> int:
        """An element that is no record, where there is something to say in it."""
        tag = spec.tag
        attributes, telling = self._attributes(spec, record)
        inside = self._inside(spec, record, extras)
        laid = tag in record.layout
        if laid and not attributes and not inside:
            attributes = _defaults(spec)  # it stood there, saying nothing new
        if not (telling or inside or (laid and attributes) or extras.within(tag)):
            return last
        attributes |= _extra_attributes(extras.attributes.get(tag, ()))
        place = record.layout.index(tag) if laid else last
        node = Node(tag, attributes, place if laid else None, inside)
        if extras.attributes:
            node.whose = path_text(self.path)
        found.append((place, node))
        return max(place, last)

    def _gather_texts(
        self,
        found: list[tuple[int, Node]],
        part: ChildSpec,
        spec: ElementSpec,
        record: Any,
        extras: Extras,
        last: int,
    ) -> int:
        """Elements that hold a text. What stands extras it goes to the one it was in."""
        texts = () if as_attribute(spec, record, part.field) else items(part, record)
        tag = part.tags[0]
        try:
            texts = [content_text(text) for text in texts]
        except BadText as bad:
            raise _of_field(part.field, bad) from None
        if not texts:
            if extras.within(tag):
                raise BadText("within", f"there is no <{tag}> that something could stand in")
            return last
        laid = [k for k, each in enumerate(record.layout) if each == tag] if record.layout else []
        positions = [*laid, *[None] * len(texts)][: len(texts)]
        places = _places(positions, last)
        shares = _shares(extras, tag, places) if extras.within(tag) else [NONE] * len(texts)
        found += [
            (place, self._text(tag, text, position, share))
            for place, text, position, share in zip(places, texts, positions, shares, strict=True)
        ]
        return max(last, places[-1])


def _comment(comment: Comment) -> Node:
    return Node("", {}, comment.position, text=comment_text(comment), silent=True)


def _defaults(spec: ElementSpec) -> dict[str, str]:
    """The attributes of an element that says what its absence would: ``<origin xyz="0 0 0"/>``."""
    return {attribute.name: attribute.default for attribute in spec.attributes if attribute.default}


def _of_field(field: str, bad: BadText) -> BadText:
    code, message, hint = bad.complaint
    return BadText(code, f"field '{field}': {message}", hint)


def _places(positions: Sequence[int | None], last: int) -> list[int]:
    """Where the items of one tuple go: never before the one before; None as that one.

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
) -> int:
    """Add comments or unknown elements to what stands in an element; the last place."""
    if not several:
        return last
    places = _places([each.position for each in several], last)
    found += [(place, node_of(each)) for place, each in zip(places, several, strict=True)]
    return max(last, places[-1])


def _shares(extras: Extras, tag: str, places: Sequence[int]) -> list[Extras]:
    """What stands in each of several elements with one tag: those from its position on."""
    shares = [Extras() for _ in places]
    for kind in ("attributes", "elements", "comments"):
        for each in getattr(extras, kind).get(tag, ()):
            k = bisect_right(places, each.position or 0) - 1
            getattr(shares[max(k, 0)], kind).setdefault(tag, []).append(each)
    return shares


def _extra_attributes(extras: Iterable[ExtraAttribute]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for extra in extras:
        if extra.name in texts:
            raise BadText("twice", f"extra has the attribute '{show(extra.name)}' twice")
        texts[extra.name] = quoted(extra.value)
    return texts


def _check(text: str, nodes: Sequence[Node]) -> None:
    """That the text is XML, name spaces too: unknown elements and attributes are taken as given."""
    try:
        expat.ParserCreate("utf-8", "\n").Parse(text.encode(), True)
    except expat.ExpatError as error:
        whose = _whose(nodes, error.lineno)
        line = show(text.splitlines()[error.lineno - 1].strip())
        hint = ""
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_UNBOUND_PREFIX]:
            hint = " (declare it: ExtraAttribute('robot', 'xmlns:prefix', 'its URI'))"
        reason = expat.ErrorString(error.code)
        raise InputError(f"{whose}: extra: {reason} in {line}{hint}") from None


def _whose(nodes: Sequence[Node], lineno: int) -> str:
    """The record with unknown XML that stands at a line of the text, or last before it."""
    line, whose = 2, ""  # behind the declaration
    for node in nodes:
        for piece, owner in lines_of(node, "", STEP):
            if owner and (line <= lineno or not whose):
                whose = owner
            line += piece.count("\n") + 1
    return whose
