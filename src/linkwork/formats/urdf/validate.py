"""Records that were made or changed in code, judged by the rules that files are read by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linkwork.errors import InputError, Level
from linkwork.formats.urdf.check import check
from linkwork.formats.urdf.convert import BadText, Complaint, content_text
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Document, ExtraAttribute, ExtraElement, Robot
from linkwork.formats.urdf.schema import ROBOT, Attribute, Child, Element
from linkwork.formats.urdf.write import extras_of


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
    findings = Findings(name)
    made = _Judge(ROBOT, robot, _name_of(robot), findings).judged()
    check(made, findings)
    if findings.failed:
        raise findings.error()
    return Document(made if made.file == name else replace(made, file=name), findings.sorted())


class _Judge:
    """One pass over a record, which belongs to the link, joint, ... of this name."""

    def __init__(self, element: Element, record: Any, name: str, findings: Findings) -> None:
        self.element, self.record, self.name, self.findings = element, record, name, findings
        self.changes: dict[str, Any] = {}  # to what a file would hold
        self.occupied = {each.within for each in (*record.extra, *record.comments)}

    def judged(self) -> Any:
        """The record, or one with the values that a file would hold."""
        self._attributes(self.element)
        if self.occupied:
            self._extras()
        self._inside(self.element)
        return replace(self.record, **self.changes) if self.changes else self.record

    def _inside(self, element: Element) -> None:
        for child in element.children:
            if child.inline:
                self._inline(child, child.inline)
            elif child.text:
                self._texts(child)
            else:
                self._records(child, element)

    def _inline(self, child: Child, element: Element) -> None:
        """An element that is no record; without attributes it may be missing as a whole."""
        occupied = element.tag in self.occupied
        if not (child.required or element.has_values(self.record) or occupied):
            return
        self._attributes(element)
        if occupied or any(getattr(self.record, inner.field) for inner in element.children):
            self._inside(element)
        elif child.required and not element.attributes:
            self._missing(child, self.element)

    def _missing(self, child: Child, element: Element) -> None:
        if child.required:
            tags = " or ".join(f"<{tag}>" for tag in child.tags)
            self._add(child.required, Complaint("missing-element", f"{tags} is missing"), element)

    def _attributes(self, element: Element) -> None:
        made: list[Any] = []
        try:
            for attribute, value in element.values(self.record):
                new = self._value(attribute, value, element)
                made.append(new)
                if not element.packed and new is not value:
                    self.changes[attribute.target] = new
        except BadText as bad:
            self._add("error", bad.complaint, element, f"field '{element.packed}'")
            made = [0.0] * 6
        if element.packed:
            xx, xy, xz, yy, yz, zz = made
            matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)) if None not in made else None
            given = getattr(self.record, element.packed)
            if (
                type(given) is not type(matrix)
                or given != matrix
                or not all(map(_is_plain, given or ()))
            ):
                self.changes[element.packed] = matrix

    def _value(self, attribute: Attribute, value: Any, element: Element) -> Any:
        """The value that reading would give; the same object where that is an equal one."""
        need, table = attribute.required, attribute.values
        where = f"attribute '{attribute.name}'"
        if value is None and (text := self._unread_text(attribute, element)) is not None:
            try:
                return table.read(text)
            except BadText as bad:
                self._add("warning", bad.complaint, element, where)
                return None
        missing = value is None
        if missing:
            # an element that is no record is left out when it has nothing to say
            missing = need == "error" or bool(element.record) or element.tag in self.occupied
            new = attribute.filler
        else:
            try:
                text = table.write(value)
                new, complaint = table.judged(text)
            except BadText as bad:
                self._add("error", bad.complaint, element, where)
                return attribute.filler
            if complaint:
                self._add("warning", complaint, element, where)
            missing = text == attribute.default_text and not attribute.always
            new = value if _is_plain(value) else new
        if need and missing:
            message, hint = f"{where} is missing", f"it is {attribute.kind.value}"
            self._add(need, Complaint("missing-attribute", message, hint), element)
        return new

    def _unread_text(self, attribute: Attribute, element: Element) -> str | None:
        """The text that the record keeps of an attribute without a value."""
        for extra in self.record.extra:
            if isinstance(extra, ExtraAttribute) and extra.within == element.tag:
                if element.unread(self.record, extra) is attribute:
                    return extra.value
        return None

    def _texts(self, child: Child) -> None:
        """Elements that hold a text."""
        if self.element.is_attribute(self.record, child.field):
            return
        made: list[str] = []
        try:
            for text in child.items(self.record):
                made.append(str(content_text(text)))
        except BadText as bad:
            self._add("error", bad.complaint, self.element, f"field '{child.field}'")
            self.changes[child.field] = tuple(made) if child.repeated else None
            return
        if child.repeated and not isinstance(getattr(self.record, child.field), tuple):
            self.changes[child.field] = tuple(made)

    def _records(self, child: Child, element: Element) -> None:
        """The records in one place; what is no such record is left out, and an error."""
        made: list[Any] = []
        changed = False
        try:
            several = child.items(self.record)
        except BadText as bad:
            several, changed = (), True
            self._add("error", bad.complaint, element)
        for each in several:
            try:
                below = child.element_of(each)
            except BadText as bad:
                self._add("error", bad.complaint, element)
                changed = True
                continue
            name = _name_of(each) if element is ROBOT else self.name
            new = _Judge(below, each, name, self.findings).judged()
            changed |= new is not each
            made.append(new)
        if not several:
            self._missing(child, element)
        if child.repeated:
            if changed or not isinstance(getattr(self.record, child.field), tuple):
                self.changes[child.field] = tuple(made)
        elif changed:
            self.changes[child.field] = made[0] if made else None

    def _extras(self) -> None:
        """Unknown elements and attributes, and comments."""
        record, own, findings = self.record, self.element, self.findings
        try:
            extras_of(own, record)
        except BadText as bad:
            self._add("error", bad.complaint, own)
            return

        def rank(extra: Any) -> int:
            """The order of reading: attributes of the record's element, name spaces, the rest."""
            if not isinstance(extra, ExtraAttribute) or extra.within != own.tag:
                return 2
            return int(extra.name.startswith("xmlns"))

        ordered = tuple(sorted(record.extra, key=rank))
        if ordered != record.extra:
            self.changes["extra"] = ordered
        labels: dict[tuple[str, int | None], list[ExtraAttribute]] = {}
        for extra in record.extra:
            inner = own.inner[extra.within]
            if isinstance(extra, ExtraElement):
                line, name = extra.line, self.name
                findings.unknown_element(extra.within, inner.tags, extra.tag, line=line, name=name)
            elif not extra.name.startswith("xmlns") and inner.unread(record, extra) is None:
                labels.setdefault((extra.within, extra.position), []).append(extra)
        for (within, _), extras in labels.items():
            known = [attribute.name for attribute in own.inner[within].attributes]
            names, line = [extra.name for extra in extras], extras[0].line
            findings.unknown_attributes(within, known, names, line=line, name=self.name)

    def _add(self, level: Level, complaint: Complaint, element: Element, where: str = "") -> None:
        code, message, hint = complaint
        message = f"{where}: {message}" if where else message
        line, tag = self.record.line, element.tag
        self.findings.add(level, code, message, line=line, element=tag, name=self.name, hint=hint)


def _name_of(record: Any) -> str:
    name = getattr(record, "name", None)
    return name if isinstance(name, str) else ""


def _is_plain(value: Any) -> bool:
    """Whether a value is of the types that reading gives."""
    kind = type(value)
    return kind is float or kind is str or (kind is tuple and all(type(v) is float for v in value))
