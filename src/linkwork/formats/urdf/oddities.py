"""What a good file has little of: values read the first time, unknown things, every complaint.

`reader.Reader` builds on this; it has the events that every element goes through.
"""

from __future__ import annotations

import re
from typing import Any
from xml.parsers import expat

from linkwork.errors import Level
from linkwork.formats.urdf.convert import LONGEST, SPACE, BadText, show
from linkwork.formats.urdf.plans import DOCUMENT, TAGS, Branch, Place, Plan, new_memos
from linkwork.formats.urdf.problems import Findings
from linkwork.formats.urdf.records import Comment, ExtraAttribute, ExtraElement
from linkwork.formats.urdf.unknown import MISPLACED, Unknown

DEEPEST = 256
"""How deep elements may be nested."""

TAG = re.compile(rb"<(?:[^>\"']|\"[^\"]*\"|'[^']*')*>")
"""One tag, whatever its attributes hold."""

_XINCLUDE = "http://www.w3.org/2001/XInclude"


class Stop(Exception):
    """Reading cannot go on; the problem is already noted."""


class Oddities:
    """The state of a reader, and all that it does off the beaten track."""

    def __init__(self, data: bytes, problems: Findings) -> None:
        self.data, self.problems = data, problems
        self.parser = expat.ParserCreate("utf-8", "\n")
        self.plan: Plan = DOCUMENT
        self.values: list[Any] = DOCUMENT.template.copy()
        self.stack: list[tuple[Plan, list[Any], Branch]] = []
        self.memos = new_memos()
        self.texts: list[str] = []
        self.layouts: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.skipping = 0  # depth inside an element that is not read
        self.skipped = ("", 0, 0)
        self.place = 0  # of the element that is skipped
        self.spaces: list[tuple[str, str]] = []  # name spaces declared on the next element
        self.unknown = Unknown(problems)
        self.stray = 0  # the line of the record that stray text was last reported in

    def _text(self, plan: Plan) -> str:
        text = "".join(self.texts).strip(SPACE)
        self.texts.clear()
        if len(text) > LONGEST:
            self._note("error", "too-long", f"the text is longer than {LONGEST} characters")
        return text

    def _convert(self, place: Place, text: str, attributes: dict[str, str]) -> Any:
        """The value of a text that may be odd; when it has none a filler, or None for a finding."""
        level: Level = "warning"
        try:
            value = place.read(text)
            complaint = place.judge(value) if place.judge else None
        except BadText as bad:
            level = place.attribute.faulty
            value, complaint = (place.filler if level == "error" else None), bad.complaint
        if complaint is None:
            return value
        code, message, hint = complaint
        message = f"attribute '{place.attribute.name}': {message}"
        self._note(level, code, message, name=self._name(attributes), hint=hint)
        return value

    def _missing_attributes(self, plan: Plan, attributes: dict[str, str]) -> None:
        name = self._name(attributes)
        for place in plan.places.values():
            attribute = place.attribute
            if attribute.required and attribute.name not in attributes:
                message = f"attribute '{attribute.name}' is missing"
                hint = f"it is {attribute.kind.value}"
                self.values[place.index] = place.filler
                self._note(attribute.required, "missing-attribute", message, name=name, hint=hint)
            elif plan.packed and attribute.name in attributes:  # what is left of a matrix
                self._keep_attribute(plan, attribute.name, attributes[attribute.name])

    def _missing_child(self, tags: str, need: Level) -> None:
        line = self.values[self.plan.line]
        self._note(need, "missing-element", f"{tags} is missing", line=line)

    def _doubled(self, branch: Branch) -> None:
        """The first one counts; an error where the tree depends on it."""
        if not branch.plan.template:
            self.values = copy = self.values.copy()
            below = branch.plan
            copy[below.extra], copy[below.comments], copy[below.count] = (), (), 0
        hint = "the first one counts" if branch.doubled == "warning" else "leave one"
        self._note(branch.doubled, "doubled", "there is more than one here", hint=hint)

    def _keep(self, owner: list[Any], plan: Plan, extra: ExtraElement | ExtraAttribute) -> None:
        if owner[plan.extra]:
            owner[plan.extra].append(extra)
        else:
            owner[plan.extra] = [extra]

    def _keep_attribute(self, plan: Plan, name: str, text: str) -> None:
        position = None if plan.template else self.values[plan.count] - 1
        line = self.parser.CurrentLineNumber
        self._keep(self.values, plan, ExtraAttribute(plan.tag, name, text, position, line))

    def _keep_spaces(self) -> None:
        for name, uri in self.spaces:
            self._limit(uri)
            self._keep_attribute(self.plan, name, uri)
        self.spaces.clear()

    def _odd_attributes(self, plan: Plan, attributes: dict[str, str]) -> None:
        """Some are not known, or odd: read those that are known, keep the others as they are."""
        names: list[str] = []
        for name, text in attributes.items():
            place = plan.places.get(name)
            if place is not None:
                value = self.values[place.index] = self._convert(place, text, attributes)
                if value is None:
                    self._limit(text)
                    self._keep_attribute(plan, name, text)
                continue
            self._limit(name)
            self._limit(text)
            label = _label(name)
            names.append(label)
            self._keep_attribute(plan, label, text)
        if not names:
            return
        line, name = self.parser.CurrentLineNumber, self._name(attributes)
        self.unknown.attributes(plan.tag, plan.places, names, line=line, name=name)

    def _unknown(self, tag: str, attributes: dict[str, str]) -> None:
        """An element that does not stand here in URDF: its text is kept, or it is refused."""
        plan, parser = self.plan, self.parser
        uri, _, local = tag.partition("\n")
        label, line = _label(tag), parser.CurrentLineNumber
        if plan is DOCUMENT:
            message = f"the root element is <{show(label, 40)}>, not <robot>"
            self._error("root", message, line=line, hint="this is no URDF")
            raise Stop
        self._limit(label)
        if uri == _XINCLUDE:
            hint = "put the included text into the file"
            self._error("xinclude", "XInclude is not read", line=line, element=label, hint=hint)
        elif local and "xacro" in uri:
            hint = "expand the file with xacro first, if there is to be more in it"
            message = "a xacro element is left: kept, not used"
            self.problems.add(
                "warning",
                "xacro",
                message,
                line=line,
                element=label,
                name=self._name({}),
                hint=hint,
            )
        elif label in MISPLACED:
            message = f"a <{label}> cannot stand in a <{plan.tag}>"
            hint = "links and joints stand directly in <robot>"
            self._error("misplaced", message, line=line, element=label, hint=hint)
        else:
            known, name = tuple(plan.children), self._name({})
            self.unknown.element(plan.tag, known, label, tags=TAGS, line=line, name=name)
        self.spaces.clear()
        self._skip(label, attributes)

    def _outdone(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins whose field an attribute has filled: its text is kept as it stands."""
        message = f"<{tag}> says what the attribute '{tag}' says"
        self._note("warning", "doubled", message, hint="the attribute counts")
        self._skip(tag, attributes)

    def _skip(self, label: str, attributes: dict[str, str]) -> None:
        """Keep an element, which begins here, as text."""
        self.skipped = (label, self.parser.CurrentLineNumber, self.parser.CurrentByteIndex)
        self.place = self._placed()
        self._start_skipped(attributes)

    def _start_skipped(self, attributes: dict[str, str]) -> None:
        self.skipping += 1
        if self.skipping + len(self.stack) > DEEPEST:
            text = f"elements are nested more than {DEEPEST} deep"
            self._error("too-deep", text, line=self.parser.CurrentLineNumber)
            raise Stop
        for text in attributes.values():
            self._limit(text)

    def _keep_element(self) -> None:
        """Keep the text of an unknown element that has just ended."""
        label, line, start = self.skipped
        data = self.data
        tag = TAG.match(data, start)
        stop = tag.end() if tag else start
        if data[stop - 2 : stop] != b"/>":
            stop = data.index(b">", self.parser.CurrentByteIndex) + 1
        xml = data[start:stop].decode()
        self._keep(
            self.values, self.plan, ExtraElement(self.plan.tag, label, xml, self.place, line)
        )

    def _keep_comment(self, text: str, target: str) -> None:
        """Keep a comment or a processing instruction that stands between known elements."""
        values, k = self.values, self.plan.comments
        line = self.parser.CurrentLineNumber
        comment = Comment(self.plan.tag, text, self._placed(), line, target)
        if values[k]:
            values[k].append(comment)
        else:
            values[k] = [comment]

    def _placed(self) -> int:
        """The next position in the present record, for what is no element of the format."""
        values, plan = self.values, self.plan
        position: int = values[plan.count]
        values[plan.count] = position + 1
        if plan.layout:
            if position:
                values[plan.layout].append("")
            else:
                values[plan.layout] = [""]
        return position

    def _limit(self, text: str) -> None:
        if len(text) > LONGEST:
            message = f"a name or attribute is longer than {LONGEST} characters"
            self._error("too-long", message, line=self.parser.CurrentLineNumber)
            raise Stop

    def _name(self, attributes: dict[str, str]) -> str:
        """The name of the link, joint, material or transmission that is being read."""
        if len(self.stack) > 2:
            return str(self.stack[2][1][0] or "")
        return str(self.values[0] or attributes.get("name") or "")

    def _broken(self, error: expat.ExpatError) -> None:
        """XML that is not well formed: where, and which element was open."""
        reason = expat.ErrorString(error.code) or "it is not well formed"
        hint = _HINTS.get(reason, "")
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_TAG_MISMATCH]:
            tag = self.skipped[0] if self.skipping else self.plan.tag
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
        name: str | None = None,
        hint: str = "",
    ) -> None:
        self.problems.add(
            level,
            code,
            message,
            line=line or self.parser.CurrentLineNumber,
            element=self.plan.tag,
            name=self._name({}) if name is None else name,
            hint=hint,
        )

    def _error(
        self, code: str, message: str, *, line: int, element: str = "", hint: str = ""
    ) -> None:
        self.problems.add("error", code, message, line=line, element=element, hint=hint)


_HINTS = {
    "no element found": "the file is empty, or ends before its last element does",
    "not well-formed (invalid token)": "a character that XML does not allow, or not UTF-8",
    "undefined entity": "XML itself has only &lt; &gt; &amp; &quot; &apos;",
    "unbound prefix": "declare it on <robot> with xmlns:...",
}


def without_default_space(tag: str) -> str:
    """The name of an element in a default name space, which URDF does not care about."""
    _, _, rest = tag.partition("\n")
    return "" if "\n" in rest else rest


def _label(tag: str) -> str:
    """A name as written in the file: expat gives 'uri, name, prefix' on three lines."""
    uri, _, rest = tag.partition("\n")
    local, _, prefix = rest.partition("\n")
    if not local:
        return uri
    return f"{prefix}:{local}" if prefix else local
