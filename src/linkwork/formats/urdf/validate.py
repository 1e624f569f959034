"""Records that were made or changed in code, judged by the rules that files are read by."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from linkwork.errors import InputError, Level
from linkwork.formats.urdf.check import check
from linkwork.formats.urdf.convert import BadText, Complaint, content_text
from linkwork.formats.urdf.findings import Findings, UnknownParts
from linkwork.formats.urdf.read import TAGS, filler
from linkwork.formats.urdf.records import Document, ExtraAttribute, ExtraElement, Robot
from linkwork.formats.urdf.schema import Kind
from linkwork.formats.urdf.specs import (
    ROBOT_SPEC,
    AttributeSpec,
    ChildSpec,
    ElementSpec,
    as_attribute,
    extras_of,
    items,
    says,
    spec_of,
    unread,
    values,
)


def checked(robot: Robot, file: str | None = None) -> Document:
    """The document that reading the written robot would give: all values, names and the tree.

    Values become what a file would hold: floats for integers and NumPy's numbers, tuples for lists
    and arrays. Records that need no change stay the same objects. ``file`` is the name that
    messages use and meshes are found by; by default the robot's own.

    Raises: DescriptionError with every error, each with the line of its record (0 where it was made
    in code); InputError for what is no `records.Robot`.
    """
    if not isinstance(robot, Robot):
        raise InputError(f"a records.Robot is checked, not {type(robot).__name__}")
    name = robot.file if file is None else file
    problems = Findings(name)
    made = _Judge(problems).record(ROBOT_SPEC, robot, _name_of(robot))
    check(made, problems)
    if problems.failed:
        raise problems.error()
    return Document(made if made.file == name else replace(made, file=name), problems.sorted())


class _Judge:
    """One pass over the records of one robot."""

    def __init__(self, problems: Findings) -> None:
        self.problems = problems
        self.unknown = UnknownParts(problems)
        self.memos: dict[Kind, dict[str, tuple[Any, Complaint | None]]] = {k: {} for k in Kind}

    def record(self, spec: ElementSpec, record: Any, name: str) -> Any:
        """The record, or one with the values that a file would hold; ``name`` of its link, ..."""
        at = _Where(spec, record, name, {})
        self._attributes(spec, at)
        if record.extra or record.comments:
            self._check_extras(at)
        self._inside(spec, at)
        return replace(record, **at.changes) if at.changes else record

    def _inside(self, spec: ElementSpec, at: _Where) -> None:
        for part in spec.children:
            if part.inline:
                self._inline(part, part.inline, at)
            elif part.text:
                self._texts(part, at)
            else:
                self._records(part, spec, at)

    def _inline(self, part: ChildSpec, spec: ElementSpec, at: _Where) -> None:
        """An element that is no record; without attributes it may be missing as a whole."""
        tag = spec.tag
        if not (part.required or says(spec, at.record) or _holds_extras(at.record, tag)):
            return
        self._attributes(spec, at)
        held = any(getattr(at.record, inner.field) for inner in spec.children)
        if held or _holds_extras(at.record, tag):
            self._inside(spec, at)
        elif part.required and not spec.attributes:
            self._missing(part, at.spec, at)

    def _missing(self, part: ChildSpec, spec: ElementSpec, at: _Where) -> None:
        if part.required:
            tags = " or ".join(f"<{tag}>" for tag in part.tags)
            self._add(part.required, Complaint("missing-element", f"{tags} is missing"), spec, at)

    def _attributes(self, spec: ElementSpec, at: _Where) -> None:
        made: list[Any] = []
        try:
            for attribute, value in values(spec, at.record):
                new = self._value(attribute, value, spec, at)
                made.append(new)
                if not spec.packed and new is not value:
                    at.changes[attribute.target] = new
        except BadText as bad:
            self._add("error", _of_field(spec.packed, bad.complaint), spec, at)
            made = [0.0] * 6
        if spec.packed:
            xx, xy, xz, yy, yz, zz = made
            matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)) if None not in made else None
            if not _is_matrix(getattr(at.record, spec.packed), matrix):
                at.changes[spec.packed] = matrix

    def _value(self, attribute: AttributeSpec, value: Any, spec: ElementSpec, at: _Where) -> Any:
        """The value that reading would give; the same object where that is an equal one."""
        need, kind = attribute.schema.required, attribute.schema.kind
        if value is None and (text := _unread_text(attribute, spec, at.record)) is not None:
            try:
                return attribute.read(text)
            except BadText as bad:
                self._add("warning", _of_attribute(attribute.name, bad.complaint), spec, at)
                return None
        if value is None:
            # an element that is no record is left out when it has nothing to say
            if need and (need == "error" or spec.record or _holds_extras(at.record, spec.tag)):
                self._missing_attribute(attribute, need, spec, at)
            return filler(attribute.schema)
        memo = self.memos[kind]
        try:
            text = attribute.write(value)
            found = memo.get(text)
            if found is None:
                new = attribute.read(text)
                found = memo[text] = (new, attribute.judge(new) if attribute.judge else None)
        except BadText as bad:
            self._add("error", _of_attribute(attribute.name, bad.complaint), spec, at)
            return filler(attribute.schema)
        if need and text == attribute.default and not attribute.always:
            self._missing_attribute(attribute, need, spec, at)
        new, complaint = found
        if complaint:
            self._add("warning", _of_attribute(attribute.name, complaint), spec, at)
        return value if _is_plain(value) else new

    def _missing_attribute(
        self, attribute: AttributeSpec, need: Level, spec: ElementSpec, at: _Where
    ) -> None:
        message = f"attribute '{attribute.name}' is missing"
        hint = f"it is {attribute.schema.kind.value}"
        self._add(need, Complaint("missing-attribute", message, hint), spec, at)

    def _texts(self, part: ChildSpec, at: _Where) -> None:
        """Elements that hold a text."""
        if as_attribute(at.spec, at.record, part.field):
            return
        made: list[str] = []
        try:
            several = items(part, at.record)
            for text in several:
                made.append(str(content_text(text)))
        except BadText as bad:
            self._add("error", _of_field(part.field, bad.complaint), at.spec, at)
            at.changes[part.field] = tuple(made) if part.repeated else None
            return
        if part.repeated and not isinstance(getattr(at.record, part.field), tuple):
            at.changes[part.field] = tuple(made)

    def _records(self, part: ChildSpec, spec: ElementSpec, at: _Where) -> None:
        """The records in one place; what is no such record is left out, and an error."""
        made: list[Any] = []
        changed = False
        try:
            several = items(part, at.record)
        except BadText as bad:
            several, changed = (), True
            self._add("error", bad.complaint, spec, at)
        for each in several:
            try:
                below = spec_of(part, each)
            except BadText as bad:
                self._add("error", bad.complaint, spec, at)
                changed = True
                continue
            new = self.record(below, each, _name_of(each) if spec is ROBOT_SPEC else at.name)
            changed |= new is not each
            made.append(new)
        if not several:
            self._missing(part, spec, at)
        if part.repeated:
            if changed or not isinstance(getattr(at.record, part.field), tuple):
                at.changes[part.field] = tuple(made)
        elif changed:
            at.changes[part.field] = made[0] if made else None

    def _check_extras(self, at: _Where) -> None:
        """Unknown elements and attributes, and comments."""
        record, spec = at.record, at.spec
        try:
            extras_of(spec, record)
        except BadText as bad:
            self._add("error", bad.complaint, spec, at)
            return
        ordered = _ordered(spec.tag, record.extra)
        if ordered != record.extra:
            at.changes["extra"] = ordered
        labels: dict[tuple[str, int | None], list[ExtraAttribute]] = {}
        for extra in record.extra:
            inner = spec.inner[extra.within]
            if isinstance(extra, ExtraElement):
                known = inner.tags if inner else ()
                self.unknown.element(
                    extra.within, known, extra.tag, tags=TAGS, line=extra.line, name=at.name
                )
            elif not extra.name.startswith("xmlns") and unread(inner, record, extra) is None:
                labels.setdefault((extra.within, extra.position), []).append(extra)
        for (within, _), extras in labels.items():
            inner = spec.inner[within]
            known = [attribute.name for attribute in inner.attributes] if inner else []
            names = [extra.name for extra in extras]
            line = extras[0].line
            self.unknown.attributes(within, known, names, line=line, name=at.name)

    def _add(self, level: Level, complaint: Complaint, spec: ElementSpec, at: _Where) -> None:
        code, message, hint = complaint
        line = at.record.line
        self.problems.add(
            level, code, message, line=line, element=spec.tag, name=at.name, hint=hint
        )


@dataclass(slots=True)
class _Where:
    """A record while it is judged: the name of its link or joint, and what a file would change."""

    spec: ElementSpec
    record: Any
    name: str
    changes: dict[str, Any]


def _holds_extras(record: Any, tag: str) -> bool:
    """Whether a comment or something unknown stands in an element."""
    return any(each.within == tag for each in (*record.extra, *record.comments))


def _unread_text(attribute: AttributeSpec, spec: ElementSpec, record: Any) -> str | None:
    """The text that a record keeps of an attribute without a value."""
    for extra in record.extra:
        if isinstance(extra, ExtraAttribute) and extra.within == spec.tag:
            if unread(spec, record, extra) is attribute:
                return extra.value
    return None


def _name_of(record: Any) -> str:
    name = getattr(record, "name", None)
    return name if isinstance(name, str) else ""


def _of_attribute(name: str, complaint: Complaint) -> Complaint:
    code, message, hint = complaint
    return Complaint(code, f"attribute '{name}': {message}", hint)


def _of_field(name: str, complaint: Complaint) -> Complaint:
    code, message, hint = complaint
    return Complaint(code, f"field '{name}': {message}", hint)


def _is_plain(value: Any) -> bool:
    """Whether a value is of the types that reading gives."""
    kind = type(value)
    return kind is float or kind is str or (kind is tuple and all(type(v) is float for v in value))


def _is_matrix(value: Any, matrix: tuple[Any, ...] | None) -> bool:
    if matrix is None:
        return value is None
    return type(value) is tuple and value == matrix and all(map(_is_plain, value))


def _ordered(tag: str, extra: Any) -> tuple[Any, ...]:
    """The order of reading: the attributes of the record's element, its name spaces, the rest."""

    def rank(each: Any) -> int:
        if not isinstance(each, ExtraAttribute) or each.within != tag:
            return 2
        return int(each.name.startswith("xmlns"))

    return tuple(sorted(extra, key=rank))
