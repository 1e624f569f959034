"""Reading a URDF: one pass over the XML, every problem collected, nothing repaired or guessed.

The XML is read by expat, event by event: no tree of the file is built, every element knows its
exact line (libxml2 counts wrongly from line 65536 on), and a document type is refused at the
moment it begins, so that entities are never defined, expanded or fetched.

The table of the format is laid out once as a tree of builders, one for each element in each of its
places. A record is read into a list: its fields in order, then hidden places (what has been seen,
the numbers that are packed into a matrix). The builder of an element says which attribute and child
goes where, so that an event is a few look-ups.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from operator import itemgetter
from typing import Any
from xml.parsers import expat

from linkwork.errors import DescriptionError, Finding, Level
from linkwork.formats.urdf.check import check, check_closely
from linkwork.formats.urdf.convert import LONGEST, SHORT, SPACE, BadText, Values, show
from linkwork.formats.urdf.findings import EXTENSIONS, Findings
from linkwork.formats.urdf.records import (
    Comment,
    Document,
    ExtraAttribute,
    ExtraElement,
    Robot,
    Source,
)
from linkwork.formats.urdf.schema import MISPLACED, ROBOT, Attribute, Child, Element, Need
from linkwork.formats.urdf.source import (
    MENDABLE,
    as_utf8,
    check_joints,
    collector_paused,
    gather,
    given,
    well_formed,
)

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Files
xml | error | The XML is not well formed; nothing is guessed. | See the column.
doctype | error | A document type could define entities. | Remove it.
xinclude | error | XInclude is not followed. | Put the text into the file.
root | error | The outermost element is not `<robot>`. | Is it a URDF?
too-deep | error | Elements nested deeper than 256. | Flatten them.
# Structure
misplaced | error | A link or joint inside another element. | Move it to `<robot>`.
doubled | error, warning | A part that may stand once stands twice; an error where poses depend on
    it. | Leave one.
missing-element | error, warning | A part that must be there is not; an error where the tree depends
    on it. | Add it.
missing-attribute | error, warning | An attribute that must be there is not; an error where the tree
    depends on it. | Add it.
# Names and elements
stray-text | warning | Text that belongs to no element. | Remove it.
# Xacro
xacro | error, warning | The xacro package refuses or warns; or a xacro element is left in a URDF,
    and not used. | Where such elements are to say something, expand the file with `linkwork
    convert`.
"""


DEEPEST = 256
"""The greatest depth of nested elements."""

LONGEST_TAG = 4 * 1024 * 1024
"""The longest single tag or comment, in bytes."""

_CHUNK = 1 << 20  # bytes
_BIG = 1 << 14
_VALUE = re.compile(r"=\s*(?:\"([^\"]*)\"|'([^']*)')")
_TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")  # whatever its attributes hold
_XINCLUDE = "http://www.w3.org/2001/XInclude"


def read(
    source: str | os.PathLike[str] | bytes,
    *,
    file: str | None = None,
    keep_source: bool = False,
    accepted: Collection[str] = (),
) -> Document:
    """The description that a path, an XML text (it begins with '<') or bytes hold.

    ``file`` is the name that messages use and meshes are found by, where it is not the path.
    Mesh names are kept as written; no mesh is looked for. With ``keep_source`` the robot keeps the
    text, and is written as it stood where nothing was changed. Errors with codes in ``accepted``
    are warnings: for readers that have no use for what they are about.

    Raises: DescriptionError with every error of the file, each with its line.
    """
    kept, name = given(source, file)
    data = as_utf8(kept, name)
    check_joints(data, name)
    findings = Findings(name, accepted)
    with collector_paused(len(data) > _BIG):
        robot = Reader(data, findings).read()
        if robot is not None:
            check(robot, findings)
    if robot is None or findings.failed:
        raise findings.error()
    robot = replace(robot, file=name)
    if keep_source:
        robot = replace(robot, source=Source(kept, robot))
    return Document(robot, findings.sorted())


@dataclass(frozen=True, slots=True)
class Examined:
    """The findings, by line, and the robot as far as it could be read.

    ``robot`` is None where reading stopped before its end. Where ``whole`` is False some values
    could not be read and have fillers in their place, so nothing should be concluded from them.
    """

    robot: Robot | None
    problems: tuple[Finding, ...]
    whole: bool

    @property
    def failed(self) -> bool:
        """Whether there is an error among the problems."""
        return any(problem.level == "error" for problem in self.problems)


def examine(source: str | os.PathLike[str] | bytes, *, file: str | None = None) -> Examined:
    """All problems of a description: those that `read` finds, and those of `check_closely`.

    `read` raises what makes a description unusable; here nothing is raised, so that one run shows
    all there is to mend. The arguments are those of `read`. What only looks odd is looked for where
    every value could be read: a value that has none would give rise to suspicions of its own.
    """
    try:
        data, name = gather(source, file)
    except DescriptionError as error:
        return Examined(None, error.problems, False)
    findings = Findings(name)
    robot = Reader(data, findings).read()
    if robot is None:
        return Examined(None, findings.sorted(), False)
    whole = not findings.failed
    check(robot, findings)
    if whole:
        check_closely(robot, findings)
    return Examined(replace(robot, file=name), findings.sorted(), whole)


# ---- the table laid out for reading


def names_of(record: type) -> list[str]:
    """The fields of a record in the order of its arguments."""
    return [f.name for f in sorted(fields(record), key=lambda f: bool(f.kw_only))]


@cache
def draft(record: type) -> Any:
    """A class like a frozen record's whose objects can be written to.

    They become records when they are given that class, a quarter of the time of making frozen ones.
    """
    names = names_of(record)
    lines = [f"def __init__(self, {', '.join(names)}):", *(f" self.{n} = {n}" for n in names)]
    scope: dict[str, Any] = {}
    exec("\n".join(lines), scope)
    body = {
        "__slots__": vars(record)["__slots__"],
        "__init__": scope["__init__"],
        "__setattr__": object.__setattr__,
        "__delattr__": object.__delattr__,  # with both, the interpreter sets slots by itself
    }
    return type(record.__name__, record.__bases__, body)


_COMMENT, _EXTRA_ELEMENT = draft(Comment), draft(ExtraElement)


class Builder:
    """The reader of one element in its place. Numbers are places in the list of a record.

    ``home`` is the builder of the record whose list it fills: its own, or the one around it, whose
    attributes it gives (``inline``) or which gets its text. ``template`` starts the list of a
    record. ``index`` is the field of the owner's record that the element goes to; ``rival`` says
    whether an attribute may have filled it.
    """

    __slots__ = (
        *("around", "attributes", "children", "comments", "doubled", "draft", "extra", "home"),
        *("index", "index_of", "inline", "layout", "line", "lists", "n_fields", "needed"),
        *("needed_children", "packed", "position", "record", "repeated", "rival", "seen", "tag"),
        *("template", "text", "upper", "values"),
    )

    def __init__(self, element: Element, child: Child, around: Builder | None) -> None:
        self.tag, self.text, self.record = element.tag, element.text, element.record
        self.around = around
        self.inline = child.inline is not None and around is not None
        self.repeated = child.repeated
        self.doubled: Need = child.doubled
        self.template: list[Any] = []
        self.index_of: dict[str, int] = {}
        self.rival = False
        self.layout = 0  # 0 where every element is a record, which knows its place itself
        self.home = self if around is None or self.record else around.home
        if self.record:
            for name in names_of(self.record):
                self.place(name)
            self.n_fields, self.draft = len(self.template), draft(self.record)
            self.layout = self.index_of.get("layout", 0)
        self.line, self.position = self.home.place("line"), self.home.place("position")
        self.extra, self.comments = (self.home.place(name) for name in ("extra", "comments"))
        self.index, self.seen = -1, 0
        if around is not None:  # elements that share a field are alternatives
            self.index = around.home.place(child.field) if child.field else -1
            self.seen = around.home.place(f"{around.tag}: {child.field or self.tag} seen")
            around.home.template[self.seen] = False
        self.attributes: dict[str, tuple[int, Attribute]] = {}
        needed = child.required == "error" or not self.inline
        for attribute in element.attributes:
            at = self.home.place(attribute.target)
            self.attributes[attribute.name] = at, attribute
            self.home.template[at] = attribute.filler if needed else attribute.default
        self.values: dict[str, tuple[int, Values]] = {
            name: (at, attribute.values) for name, (at, attribute) in self.attributes.items()
        }
        self.needed = frozenset(a.name for a in element.attributes if a.required)
        self.packed = self.home.place(element.packed) if element.packed else 0
        if self.packed:  # the upper triangle of a symmetric matrix, from the list
            self.upper = itemgetter(*[at for at, _ in self.attributes.values()])
        self.children = {
            below.tag: Builder(below, child, self)
            for child in element.children
            for below in child.elements
        }
        self.needed_children: tuple[tuple[int, str, Need], ...] = tuple(
            (self.children[c.tags[0]].seen, " or ".join(f"<{tag}>" for tag in c.tags), c.required)
            for c in element.children
            if c.required
        )
        filled = {at for at, _ in self.attributes.values()}
        for below in self.children.values():
            below.rival = below.index in filled
        if self.record:
            lists = [c.index for c in self.children.values() if c.repeated]
            self.lists = (self.extra, self.comments, *lists)  # fields that are lists until the end
            for at in (*self.lists, self.layout):
                if at:
                    self.template[at] = ()

    def place(self, name: str) -> int:
        """The place of a field, or a new one behind them."""
        if name not in self.index_of:
            self.index_of[name] = len(self.template)
            self.template.append(None)
        return self.index_of[name]


_ROBOT = Child((ROBOT,), "robot", doubled="error")
DOCUMENT = Builder(Element("", children=(_ROBOT,)), Child((Element(""),)), None)
"""The builder that reading starts with, of what stands around the root."""


# ---- the events


class _Stop(Exception):
    """Reading cannot go on; the problem is already noted."""


class _WhiteSpace(dict[str, None]):
    """The white space between tags that has come before; ``other`` is called with any other text.

    Looking up what has come before takes no call of Python, and that is most of what comes.
    """

    __slots__ = ("other",)
    other: Callable[[str], None]

    def __missing__(self, text: str) -> None:
        if text.strip(SPACE):
            self.other(text)
        elif len(text) < SHORT:
            self[text] = None


class Reader:
    """One pass over one file, in UTF-8."""

    def __init__(self, data: bytes, findings: Findings) -> None:
        self.data, self.findings = data, findings
        self.parser = expat.ParserCreate("utf-8", "\n")
        self.builder: Any = DOCUMENT
        self.values: list[Any] = DOCUMENT.template.copy()
        self.order: list[str] = []  # the tags in the record so far, "" for what has none in URDF
        self.stack: list[tuple[list[Any], list[str]]] = []  # of the records around
        self.first: list[tuple[Builder, list[Any], list[str]]] = []  # of doubled elements
        self.white_space = _WhiteSpace()
        self.texts: list[str] = []  # of the element that holds one
        self.layouts: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.skipping = 0  # depth inside an element that is not read
        self.skipped = ("", 0, 0, 0)  # its tag, line, first byte and place
        self.spaces: list[tuple[str, str]] = []  # name spaces declared on the next element
        self.stray_line = 0  # of the record that stray text was last reported in

    def read(self, *, mend: bool = True) -> Robot | None:
        """The robot; None when reading stopped before its end.

        With ``mend`` a file that is no XML by a slip which leaves no doubt is read once more.
        """
        parser, before = self.parser, self.findings.mark()
        parser.buffer_text = True
        parser.namespace_prefixes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        self.white_space.other = self._stray_text
        parser.CharacterDataHandler = self.white_space.__getitem__
        parser.StartNamespaceDeclHandler = self._name_space
        parser.StartDoctypeDeclHandler = self._document_type
        parser.CommentHandler = self._comment
        parser.ProcessingInstructionHandler = lambda target, text: self._comment(text, target)
        try:
            self._feed()
        except _Stop:
            return None
        except expat.ExpatError as error:
            if mend and error.code in MENDABLE:
                self.findings.rewind(before)
                data = well_formed(self.data, self.findings)
                return Reader(data, self.findings).read(mend=False)
            self._broken(error)
            return None
        finally:
            # The handlers and the parser hold each other.
            parser.StartElementHandler = parser.EndElementHandler = None
            parser.CharacterDataHandler = parser.StartNamespaceDeclHandler = None
            parser.StartDoctypeDeclHandler = None
            parser.CommentHandler = parser.ProcessingInstructionHandler = None
            del self.white_space
        robot: Robot | None = self.values[DOCUMENT.index_of["robot"]]
        around: Sequence[Comment] = self.values[DOCUMENT.comments]
        if robot is None or not around:
            return robot
        above = [c for c in around if (c.position or 0) < (robot.position or 0)]
        return replace(robot, comments=(*above, *robot.comments, *around[len(above) :]))

    def _feed(self) -> None:
        """Hand over the data piece by piece, so that a tag without end is noticed."""
        parser, view, size = self.parser, memoryview(self.data), len(self.data)
        for start in range(0, size, _CHUNK):
            stop = min(start + _CHUNK, size)
            parser.Parse(view[start:stop], False)
            if stop - parser.CurrentByteIndex > LONGEST_TAG:
                text = f"a tag or comment is longer than {LONGEST_TAG:,} bytes"
                self._error("too-long", text)
                raise _Stop
        parser.Parse(b"", True)

    # Most of the time is spent in the two functions that follow: they call no others of ours.

    def _start(  # noqa: C901, PLR0912 -- see above
        self, tag: str, attributes: dict[str, str]
    ) -> None:
        """An element begins."""
        builder, owner = self.builder.children.get(tag), self.values
        if builder is None or (builder.rival and _is_filled(builder, owner)):
            self._start_other(tag, attributes)
            return
        order = self.order
        order.append(tag)
        self.builder = builder
        if builder.inline:
            values = owner
        else:
            self.stack.append((owner, order))
            if builder.text:  # it stands in the list of its owner
                self.parser.CharacterDataHandler = self.texts.append
                values = owner
            else:
                values = self.values = builder.template.copy()
                values[builder.line] = self.parser.CurrentLineNumber
                values[builder.position] = len(order) - 1
                self.order = []
        if not builder.repeated:
            if owner[builder.seen]:
                values = self._doubled(builder)
            owner[builder.seen] = True
        places = builder.values
        try:
            for name, text in attributes.items():
                index, known = places[name]
                values[index] = known[text]
        except (KeyError, BadText):
            self._odd_attributes(builder, attributes)
            self._missing_attributes(builder, attributes)
        else:
            if builder.needed and len(attributes) != len(places):
                self._missing_attributes(builder, attributes)
        if builder.packed:
            xx, xy, xz, yy, yz, zz = upper = builder.upper(values)
            whole = None not in upper
            values[builder.packed] = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)) if whole else None
        if self.spaces:
            self._keep_spaces()

    def _start_other(self, tag: str, attributes: dict[str, str]) -> None:
        """An element that begins and has no place here, or one whose field an attribute filled.

        An element in a default name space, which URDF does not care about, is as one without.
        """
        if tag in EXTENSIONS and self.builder is not DOCUMENT:
            self.spaces.clear()
            self._skip(tag)
            return
        _, _, rest = tag.partition("\n")
        local = "" if "\n" in rest else rest
        if tag in self.builder.children:
            message = f"<{tag}> says what the attribute '{tag}' says"
            self._note("warning", "doubled", message, hint="the attribute counts")
            self._skip(tag)
        elif local in self.builder.children:
            self._start(local, attributes)
        else:
            self._unknown(tag)

    def _end(self, _: str) -> None:  # noqa: C901, PLR0912 -- see above
        """An element ends: its record or text is given to its owner."""
        builder, values = self.builder, self.values
        for seen, tags, need in builder.needed_children:
            if not values[seen]:
                self._note(need, "missing-element", f"{tags} is missing", line=values[builder.line])
        self.builder = builder.around
        if builder.inline:
            if self.first and self.first[-1][0] is builder:
                self.values, self.order = self.first.pop()[1:]
            return
        inside = self.order
        owner, self.order = self.stack.pop()
        self.values = owner
        if builder.text:
            new: Any = self._text()
        else:
            for k in builder.lists:
                if values[k]:
                    values[k] = tuple(values[k])
            if builder.layout:
                layout = tuple(inside)  # few are different: each is held once
                values[builder.layout] = self.layouts.setdefault(layout, layout)
            new = builder.draft(*values[: builder.n_fields])
            new.__class__ = builder.record
        index = builder.index
        # of several where one belongs the first stays
        if builder.repeated:
            if owner[index]:
                owner[index].append(new)
            else:
                owner[index] = [new]
        elif owner[index] is None:
            owner[index] = new

    def _text(self) -> str:
        """The text of an element that holds one."""
        self.parser.CharacterDataHandler = self.white_space.__getitem__
        text = "".join(self.texts).strip(SPACE)
        self.texts.clear()
        if len(text) > LONGEST:
            message = f"the text is longer than {LONGEST} characters"
            self._note("error", "too-long", message)
        return text

    def _stray_text(self, text: str) -> None:
        """Text between two tags that belongs to no element."""
        line = self.values[self.builder.line]
        if self.stray_line != line:
            self.stray_line = line
            message = f"the text '{show(text.strip(SPACE), 40)}' belongs to no element"
            self._note("warning", "stray-text", message)

    def _comment(self, text: str, target: str = "") -> None:
        """Keep a comment, or a processing instruction, that stands between known elements."""
        if self.skipping:
            return
        builder, line = self.builder, self.parser.CurrentLineNumber
        comment = _COMMENT(builder.tag, text, self._placed(), line, target)
        comment.__class__ = Comment
        self._append(builder.comments, comment)

    def _name_space(self, prefix: str | None, uri: str) -> None:
        """A name space is declared on the element that begins next."""
        if not self.skipping:
            self.spaces.append((f"xmlns:{prefix}" if prefix else "xmlns", uri or ""))

    def _document_type(self, *_: object) -> None:
        """A document type begins: the one way to define entities, so it is not let in."""
        hint = "remove the <!DOCTYPE ...>; write what its entities stand for"
        message = "a document type is not read: it could define entities"
        self._error("doctype", message, hint=hint)
        raise _Stop

    # what a good file has little of: unknown things, odd values, complaints

    def _odd_attributes(self, builder: Builder, attributes: dict[str, str]) -> None:
        """Some are not known, or odd: read those that are known, keep the others as they are."""
        names: list[str] = []
        for name, text in attributes.items():
            if name in builder.attributes:
                index, attribute = builder.attributes[name]
                value = self.values[index] = self._odd_value(attribute, text, attributes)
                if value is None:
                    self._limit(text)
                    self._keep_attribute(name, text)
                continue
            self._limit(name)
            self._limit(text)
            label = _label(name)
            names.append(label)
            self._keep_attribute(label, text)
        if names:
            line, name = self.parser.CurrentLineNumber, self._name(attributes)
            self.findings.unknown_attributes(
                builder.tag, builder.attributes, names, line=line, name=name
            )

    def _odd_value(self, attribute: Attribute, text: str, attributes: dict[str, str]) -> Any:
        """The value of a text that may be odd; when it has none a filler, or None for a finding."""
        level: Level = "warning"
        try:
            value, complaint = attribute.values.judged(text)
        except BadText as bad:
            level = attribute.faulty
            value, complaint = (attribute.filler if level == "error" else None), bad.complaint
        if complaint is not None:
            code, message, hint = complaint
            message = f"attribute '{attribute.name}': {message}"
            self._note(level, code, message, name=self._name(attributes), hint=hint)
        return value

    def _missing_attributes(self, builder: Builder, attributes: dict[str, str]) -> None:
        if builder.needed <= attributes.keys():
            return
        name = self._name(attributes)
        for index, attribute in builder.attributes.values():
            if attribute.required and attribute.name not in attributes:
                message = f"attribute '{attribute.name}' is missing"
                hint = f"it is {attribute.kind.value}"
                self.values[index] = attribute.filler
                self._note(attribute.required, "missing-attribute", message, name=name, hint=hint)
            elif builder.packed and attribute.name in attributes:  # what is left of a matrix
                self._keep_attribute(attribute.name, attributes[attribute.name])

    def _doubled(self, below: Builder) -> list[Any]:
        """The values that the second of two elements fills: the first one counts.

        An error where the tree depends on it.
        """
        if not below.template:
            if below.inline:
                self.first.append((below, self.values, self.order))
            self.values = copy = self.values.copy()
            copy[below.extra], copy[below.comments], self.order = (), (), []
        hint = "the first one counts" if below.doubled == "warning" else "leave one"
        self._note(below.doubled, "doubled", "there is more than one here", hint=hint)
        return self.values

    def _append(self, index: int, kept: Any) -> None:
        """Keep something that the record does not define."""
        if self.values[index]:
            self.values[index].append(kept)
        else:
            self.values[index] = [kept]

    def _keep_attribute(self, name: str, text: str) -> None:
        builder = self.builder
        position = None if builder.template else len(self.order) - 1
        line = self.parser.CurrentLineNumber
        self._append(builder.extra, ExtraAttribute(builder.tag, name, text, position, line))

    def _keep_spaces(self) -> None:
        for name, uri in self.spaces:
            self._limit(uri)
            self._keep_attribute(name, uri)
        self.spaces.clear()

    def _unknown(self, tag: str) -> None:
        """An element that does not stand here in URDF: its text is kept, or it is refused."""
        builder = self.builder
        uri, _, local = tag.partition("\n")
        label = _label(tag)
        if builder is DOCUMENT:
            message = f"the root element is <{show(label, 40)}>, not <robot>"
            self._error("root", message, hint="this is no URDF")
            raise _Stop
        self._limit(label)
        if uri == _XINCLUDE:
            hint = "put the included text into the file"
            self._error("xinclude", "XInclude is not read", element=label, hint=hint)
        elif local and "xacro" in uri:
            hint = "expand the file with xacro first, if there is to be more in it"
            message = "a xacro element is left: kept, not used"
            self._note("warning", "xacro", message, element=label, hint=hint)
        elif label in MISPLACED:
            message = f"a <{label}> cannot stand in a <{builder.tag}>"
            hint = "links and joints stand directly in <robot>"
            self._error("misplaced", message, element=label, hint=hint)
        else:
            known, line = tuple(builder.children), self.parser.CurrentLineNumber
            name = self._name({})
            self.findings.unknown_element(builder.tag, known, label, line=line, name=name)
        self.spaces.clear()
        self._skip(label)

    def _skip(self, label: str) -> None:
        """Keep an element, which begins here, as text."""
        parser = self.parser
        self.skipped = label, parser.CurrentLineNumber, parser.CurrentByteIndex, self._placed()
        self.skipping = 1
        parser.StartElementHandler = self._start_skipped
        parser.EndElementHandler = self._end_skipped
        parser.CharacterDataHandler = None

    def _start_skipped(self, _: str, __: dict[str, str]) -> None:
        self.skipping += 1
        if self.skipping + len(self.stack) > DEEPEST:
            self._error("too-deep", f"elements are nested more than {DEEPEST} deep")
            raise _Stop

    def _end_skipped(self, _: str) -> None:
        self.skipping -= 1
        if self.skipping:
            return
        parser, builder, data = self.parser, self.builder, self.data
        label, line, start, place = self.skipped
        stop = parser.CurrentByteIndex
        tag = _TAG.match(data, start)
        if tag is None or tag.end() != stop or data[stop - 2 : stop] != b"/>":
            stop = data.index(b">", stop) + 1  # the end has a tag of its own
        xml = data[start:stop].decode()
        if len(xml) > LONGEST:
            for value in _VALUE.finditer(xml):
                self._limit(value[1] or value[2] or "")
        extra = _EXTRA_ELEMENT(builder.tag, label, xml, place, line)
        extra.__class__ = ExtraElement
        self._append(builder.extra, extra)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = (
            self.texts.append if builder.text else self.white_space.__getitem__
        )

    def _placed(self) -> int:
        """The next position in the present record, for what is no element of the format."""
        self.order.append("")
        return len(self.order) - 1

    def _limit(self, text: str) -> None:
        if len(text) > LONGEST:
            message = f"a name or attribute is longer than {LONGEST} characters"
            self._error("too-long", message)
            raise _Stop

    def _name(self, attributes: dict[str, str]) -> str:
        """The name of the link, joint, material or transmission that is being read."""
        if len(self.stack) > 2:
            return str(self.stack[2][0][0] or "")
        return str(self.values[0] or attributes.get("name") or "")

    def _broken(self, error: expat.ExpatError) -> None:
        """XML that is not well formed: where, and which element was open."""
        reason = expat.ErrorString(error.code) or "it is not well formed"
        hint = _HINTS.get(reason, "")
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]:
            tag = self.skipped[0] if self.skipping else self.builder.tag
            hint = f"<{show(tag, 40)}> was still open"
        message = f"the XML is broken at column {error.offset + 1}: {reason}"
        self._error("xml", message, line=error.lineno, hint=hint)

    def _note(
        self,
        level: Level,
        code: str,
        message: str,
        *,
        line: int = 0,
        element: str = "",
        name: str | None = None,
        hint: str = "",
    ) -> None:
        """A finding about the present element, unless another one is named."""
        self.findings.add(
            level,
            code,
            message,
            line=line or self.parser.CurrentLineNumber,
            element=element or self.builder.tag,
            name=self._name({}) if name is None else name,
            hint=hint,
        )

    def _error(
        self, code: str, message: str, *, line: int = 0, element: str = "", hint: str = ""
    ) -> None:
        """An error about the file, or about an element without a name."""
        line = line or self.parser.CurrentLineNumber
        self.findings.add("error", code, message, line=line, element=element, hint=hint)


_HINTS = {
    "no element found": "the file is empty, or ends before its last element does",
    "not well-formed (invalid token)": "a character that XML does not allow, or not UTF-8",
    "undefined entity": "XML itself has only &lt; &gt; &amp; &quot; &apos;",
    "unbound prefix": "declare it on <robot> with xmlns:...",
}


def _is_filled(builder: Builder, values: list[Any]) -> bool:
    """Whether an attribute has filled the field that an element goes to."""
    return values[builder.index] is not None and not values[builder.seen]


def _label(tag: str) -> str:
    """A name as written in the file: expat gives 'uri, name, prefix' on three lines."""
    uri, _, rest = tag.partition("\n")
    local, _, prefix = rest.partition("\n")
    if not local:
        return uri
    return f"{prefix}:{local}" if prefix else local
