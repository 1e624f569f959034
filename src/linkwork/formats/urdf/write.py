"""Writing a URDF: the table of the format as text, in the order that the records know.

The text reads back as the same robot, and that one is written as the same bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from operator import itemgetter
from typing import Any
from xml.parsers import expat

from linkwork.errors import InputError
from linkwork.formats.urdf.convert import BadText, content_text, show
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement, Robot
from linkwork.formats.urdf.sheets import SHEET, Part, Sheet, as_attribute, items, sheet_of, values
from linkwork.formats.urdf.strays import NONE, Strays, comment_text, content, quoted, strays

_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
_STEP = "  "
_place_of = itemgetter(0)


def to_text(robot: Robot) -> str:
    """The description as XML text, which `read` gives back as the same robot.

    Order, comments and unknown elements stay where they were; what was made in code follows the
    record before it. Numbers are the shortest that read back as the same bits. Attributes that say
    what the standard says anyway are left out, where it does not ask for them.

    Raises: InputError naming the record and the field for a value that no file could hold.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"a records.Robot is written, not {type(robot).__name__}")
    pen = _Pen()
    try:
        pen.document(robot)
    except BadText as bad:
        _, message, hint = bad.complaint
        how = f" ({hint})" if hint else ""
        raise InputError(f"{path_text(pen.path)}: {message}{how}") from None
    text = "\n".join([*pen.lines, ""])
    if pen.raw:
        _check(text, pen)
    return text


def path_text(path: Sequence[tuple[str, Any]]) -> str:
    """Where a record is, from the outside: ``joint 'elbow' / limit``."""
    names: list[str] = []
    for tag, record in path[1:] or path:
        name = getattr(record, "name", None)
        names.append(f"{tag} '{show(name)}'" if isinstance(name, str) and name else tag)
    return " / ".join(names)


class _Pen:
    """The lines written so far, and the way from the root to the record that is being written.

    What stands in an element is gathered as (place, writer, arguments), sorted, and written.
    """

    def __init__(self) -> None:
        self.lines = [_DECLARATION]
        self.path: list[tuple[str, Any]] = []
        self.raw: list[tuple[int, str]] = []  # lines from which texts stand as they are, and whose

    def document(self, robot: Robot) -> None:
        """The root, with the comments around it."""
        self.path.append((SHEET.tag, robot))
        own = robot.position or 0
        around = strays(SHEET, robot).comments.get("", ())
        self.path.pop()
        after = [c for c in around if c.position is not None and c.position > own]
        for comment in around[: len(around) - len(after)]:
            self._comment("", comment)
        self._record("", SHEET, robot)
        for comment in after:
            self._comment("", comment)

    def _record(self, indent: str, sheet: Sheet, record: Any) -> None:
        self.path.append((sheet.tag, record))
        beside = strays(sheet, record) if record.extra or record.comments else NONE
        opening, _ = self._attributes(sheet, record)
        if beside.attributes:
            self.raw.append((len(self.lines), path_text(self.path)))
            opening += _extra_attributes(beside.attributes.get(sheet.tag, ()))
        self._element(indent, sheet.tag, opening, self._inside(sheet, record, beside))
        self.path.pop()

    def _element(self, indent: str, tag: str, attributes: str, inside: list[Any]) -> None:
        if not inside:
            self.lines.append(f"{indent}<{tag}{attributes}/>")
            return
        self.lines.append(f"{indent}<{tag}{attributes}>")
        within = indent + _STEP
        for _, write, arguments in inside:
            write(within, *arguments)
        self.lines.append(f"{indent}</{tag}>")

    def _comment(self, indent: str, comment: Comment) -> None:
        self.lines.append(indent + comment_text(comment))

    def _extra(self, indent: str, extra: ExtraElement) -> None:
        self.raw.append((len(self.lines), path_text(self.path)))
        self.lines.append(indent + extra.xml)

    def _text(self, indent: str, tag: str, text: str, beside: Strays) -> None:
        """An element that holds a text; the text first, since its place among others is unknown."""
        self.raw.append((len(self.lines), path_text(self.path)))
        attributes = _extra_attributes(beside.attributes.get(tag, ()))
        within = [(each.position, comment_text(each)) for each in beside.comments.get(tag, ())]
        within += [(each.position, each.xml) for each in beside.elements.get(tag, ())]
        places = _places([place for place, _ in within], 0)
        ordered = sorted(zip(places, within, strict=True), key=_place_of)
        inside = content(text) + "".join(xml for _, (_, xml) in ordered)
        self.lines.append(f"{indent}<{tag}{attributes}>{inside}</{tag}>")

    def _attributes(self, sheet: Sheet, record: Any) -> tuple[str, bool]:
        """The attributes of an element, and whether they say more than their absence would."""
        text, telling, field = "", False, sheet.packed
        try:
            for mark, value in values(sheet, record):
                field = mark.name
                if value is None:
                    if mark.attribute.required == "error":
                        raise BadText("missing", f"it is needed: {mark.attribute.kind.value}")
                    continue
                written = mark.write(value)
                if written != mark.default:
                    telling = True
                elif not mark.always:
                    continue
                text += f' {mark.name}="{quoted(written) if mark.quoted else written}"'
        except BadText as bad:
            raise _of_field(field, bad) from None
        return text, telling

    def _inside(self, sheet: Sheet, record: Any, beside: Strays) -> list[Any]:
        """What stands in an element, in its order."""
        found: list[Any] = []
        last = -1
        if beside is not NONE:
            comments = beside.comments.get(sheet.tag, ())
            _gather(found, comments, self._comment, last)
        for part in sheet.parts:
            if part.inline:
                last = self._gather_inline(found, part.inline, record, beside, last)
            elif part.text:
                last = self._gather_texts(found, part, sheet, record, beside, last)
            elif several := items(part, record):
                pairs = [(sheet_of(part, each), each) for each in several]
                places = _places([each.position for each in several], last)
                found += [
                    (place, self._record, pair) for place, pair in zip(places, pairs, strict=True)
                ]
                last = max(last, places[-1])
        if beside is not NONE:
            _gather(found, beside.elements.get(sheet.tag, ()), self._extra, last)
        found.sort(key=_place_of)
        return found

    def _gather_inline(
        self, found: list[Any], sheet: Sheet, record: Any, beside: Strays, last: int
    ) -> int:
        """An element that is no record, where there is something to say in it."""
        tag = sheet.tag
        attributes, telling = self._attributes(sheet, record)
        inside = self._inside(sheet, record, beside)
        laid = tag in record.layout
        if laid and not attributes and not inside:
            attributes = _defaults(sheet)  # it stood there, saying nothing new
        if not (telling or inside or (laid and attributes) or beside.within(tag)):
            return last
        attributes += _extra_attributes(beside.attributes.get(tag, ()))
        place = record.layout.index(tag) if laid else last
        found.append((place, self._element, (tag, attributes, inside)))
        return max(place, last)

    def _gather_texts(
        self, found: list[Any], part: Part, sheet: Sheet, record: Any, beside: Strays, last: int
    ) -> int:
        """Elements that hold a text. What stands beside it goes to the one it was in."""
        texts = () if as_attribute(sheet, record, part.field) else items(part, record)
        tag = part.tags[0]
        try:
            texts = [content_text(text) for text in texts]
        except BadText as bad:
            raise _of_field(part.field, bad) from None
        if not texts:
            if beside.within(tag):
                raise BadText("within", f"there is no <{tag}> that something could stand in")
            return last
        laid = [k for k, each in enumerate(record.layout) if each == tag] if record.layout else []
        places = _places([*laid, *[None] * len(texts)][: len(texts)], last)
        shares = _shares(beside, tag, places) if beside.within(tag) else [NONE] * len(texts)
        found += [
            (place, self._text, (tag, text, share))
            for place, text, share in zip(places, texts, shares, strict=True)
        ]
        return max(last, places[-1])


def _defaults(sheet: Sheet) -> str:
    """The attributes of an element that says what its absence would: ``<origin xyz="0 0 0"/>``."""
    return "".join(f' {mark.name}="{mark.default}"' for mark in sheet.marks if mark.default)


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
    found: list[Any],
    several: Sequence[Comment] | Sequence[ExtraElement],
    write: Callable[..., None],
    last: int,
) -> int:
    """Add comments or unknown elements to what stands in an element; the last place."""
    if not several:
        return last
    places = _places([each.position for each in several], last)
    found += [(place, write, (each,)) for place, each in zip(places, several, strict=True)]
    return max(last, places[-1])


def _shares(beside: Strays, tag: str, places: Sequence[int]) -> list[Strays]:
    """What stands in each of several elements with one tag: those from its position on."""
    shares = [Strays() for _ in places]
    for kind in ("attributes", "elements", "comments"):
        for each in getattr(beside, kind).get(tag, ()):
            k = bisect_right(places, each.position or 0) - 1
            getattr(shares[max(k, 0)], kind).setdefault(tag, []).append(each)
    return shares


def _extra_attributes(extras: Iterable[ExtraAttribute]) -> str:
    text, names = "", set[str]()
    for extra in extras:
        if extra.name in names:
            raise BadText("twice", f"extra has the attribute '{show(extra.name)}' twice")
        names.add(extra.name)
        text += f' {extra.name}="{quoted(extra.value)}"'
    return text


def _check(text: str, pen: _Pen) -> None:
    """That the text is XML, name spaces too: unknown elements and attributes are taken as given."""
    try:
        expat.ParserCreate("utf-8", "\n").Parse(text.encode(), True)
    except expat.ExpatError as error:
        starts = list(accumulate((line.count("\n") + 1 for line in pen.lines), initial=1))
        lines = [starts[k] for k, _ in pen.raw]
        whose = pen.raw[max(bisect_right(lines, error.lineno) - 1, 0)][1]
        line = show(text.splitlines()[error.lineno - 1].strip())
        hint = ""
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_UNBOUND_PREFIX]:
            hint = " (declare it: ExtraAttribute('robot', 'xmlns:prefix', 'its URI'))"
        reason = expat.ErrorString(error.code)
        raise InputError(f"{whose}: extra: {reason} in {line}{hint}") from None
