"""The part of YAML that plain tables need: mappings, lists and scalars, in block or flow style.

No anchors, tags, folded texts, several documents or keys that are no text: what is outside of the
part is refused with its line, never read as something else. Mappings keep their order.

Source: YAML 1.2.2, chapters 7 (flow style) and 8 (block style).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

from linkwork.errors import DescriptionError, Problem

_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_KEY = re.compile(r"""("[^"\n]*"|'[^'\n]*'|[^\s\[\]{}"'#,&*!|>%@`-][^:#\[\]{}"]*)\s*:(\s|\Z)""")
_MARK = re.compile(r"[&*!|>%@`?]")
_DEEPEST = 50
_LONGEST = 1_000_000


class _Line(NamedTuple):
    number: int
    indent: int
    text: str


def parse(text: str, file: str = "") -> Any:
    """The value of a text: dicts, lists, str, int, float, bool and None.

    Raises: DescriptionError with the line of what is none, or outside of the part.
    """
    if len(text) > _LONGEST:
        _fail(file, 0, f"longer than {_LONGEST} characters")
    lines = list(_lines(text, file))
    if not lines:
        return None
    reader = _Reader(lines, file)
    value = reader.block(lines[0].indent, 0)
    if reader.at < len(lines):
        _fail(file, lines[reader.at].number, "is indented like nothing above it")
    return value


def _fail(file: str, line: int, why: str) -> NoReturn:
    hint = "plain mappings, lists, texts and numbers are read"
    raise DescriptionError([Problem("error", "yaml", why, file, line, hint=hint)]) from None


def _lines(text: str, file: str) -> Iterator[_Line]:
    """The lines without comments, those of an open bracket joined."""
    whole, first, indent = "", 0, 0
    for number, raw in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
        if "\t" in raw[: len(raw) - len(raw.lstrip())]:
            _fail(file, number, "is indented by a tabulator; use spaces")
        line = _without_comment(raw).rstrip()
        if whole:
            whole += " " + line.strip()
        elif not line.strip() or (line == "---" and not first):
            continue
        else:
            whole, first, indent = line.strip(), number, len(line) - len(line.lstrip())
        if _open_brackets(whole) <= 0:
            yield _Line(first, indent, whole)
            whole = ""
    if whole:
        _fail(file, first, "has a bracket that is never closed")


def _quoted(text: str) -> Iterator[tuple[str, bool]]:
    """Each character, and whether it stands in quotes."""
    quote = ""
    before = " "
    for c in text:
        if quote:
            yield c, True
            quote = "" if c == quote else quote
        elif c in "'\"" and before in " [{,:":
            quote = c
            yield c, True
        else:
            yield c, False
        before = c


def _without_comment(raw: str) -> str:
    before = " "
    for place, (c, quoted) in enumerate(_quoted(raw)):
        if c == "#" and not quoted and before in " \t":
            return raw[:place]
        before = c
    return raw


def _open_brackets(text: str) -> int:
    plain = [c for c, quoted in _quoted(text) if not quoted]
    return sum(plain.count(c) for c in "[{") - sum(plain.count(c) for c in "]}")


class _Reader:
    """Reads block style line by line."""

    def __init__(self, lines: list[_Line], file: str) -> None:
        self.lines, self.file, self.at = lines, file, 0

    def block(self, indent: int, depth: int) -> Any:
        """The mapping, list or scalar whose lines begin at ``indent``."""
        line = self.lines[self.at]
        if depth > _DEEPEST:
            _fail(self.file, line.number, "is nested too deeply")
        if _is_item(line.text):
            return self._list(indent, depth)
        if _KEY.match(line.text):
            return self._mapping(indent, depth)
        self.at += 1
        return _Flow(line, self.file).whole()

    def _list(self, indent: int, depth: int) -> list[Any]:
        found: list[Any] = []
        while self._goes_on(indent) and _is_item(self.lines[self.at].text):
            line = self.lines[self.at]
            rest = line.text[1:].lstrip()
            if not rest:
                self.at += 1
                found.append(self._below(indent, depth, same=False))
                continue
            inner = indent + len(line.text) - len(rest)
            self.lines[self.at] = _Line(line.number, inner, rest)
            found.append(self.block(inner, depth + 1))
        return found

    def _mapping(self, indent: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while self._goes_on(indent):
            line = self.lines[self.at]
            match = _KEY.match(line.text)
            if match is None:
                _fail(self.file, line.number, f"is no 'key: value': {line.text:.60}")
            key, rest = str(_scalar(match[1].strip(), line, self.file)), line.text[match.end() :]
            if key in found:
                _fail(self.file, line.number, f"has the key '{key:.60}' a second time")
            self.at += 1
            if rest.strip():
                found[key] = _Flow(line._replace(text=rest.strip()), self.file).whole()
            else:
                found[key] = self._below(indent, depth, same=True)
        return found

    def _goes_on(self, indent: int) -> bool:
        if self.at >= len(self.lines):
            return False
        line = self.lines[self.at]
        if line.indent > indent:
            _fail(self.file, line.number, "is indented more than what it follows")
        return line.indent == indent

    def _below(self, indent: int, depth: int, *, same: bool) -> Any:
        """The value on the lines after a key or a dash; None where there is none."""
        if self.at >= len(self.lines):
            return None
        line = self.lines[self.at]
        deeper = line.indent > indent
        if deeper or (same and line.indent == indent and _is_item(line.text)):
            return self.block(line.indent, depth + 1)
        return None


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


class _Flow:
    """Reads flow style from one text."""

    def __init__(self, line: _Line, file: str) -> None:
        self.line, self.text, self.file, self.at = line, line.text, file, 0

    def whole(self) -> Any:
        """The value of all of it."""
        if self.text[0] not in "[{":
            return _scalar(self.text, self.line, self.file)
        value = self._value(0)
        if self.text[self.at :].strip():
            self._fail(f"goes on after its end: {self.text[self.at :].strip():.40}")
        return value

    def _fail(self, why: str) -> NoReturn:
        _fail(self.file, self.line.number, why)

    def _value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            self._fail("is nested too deeply")
        c = self._peek()
        if c == "[":
            return [value for _, value in self._items("]", depth)]
        if c == "{":
            found: dict[str, Any] = {}
            for key, value in self._items("}", depth):
                if not key or key in found:
                    self._fail(f"has a key twice, or a value without one: {key or value!r:.40}")
                found[key] = value
            return found
        return self._word(",]}")

    def _items(self, end: str, depth: int) -> Iterator[tuple[str, Any]]:
        self.at += 1
        while self._peek() != end:
            key = ""
            if end == "}":
                key = str(self._word(":,}"))
                if self._peek() != ":":
                    self._fail(f"has no ':' after '{key:.40}'")
                self.at += 1
            yield key, self._value(depth + 1)
            if self._peek() == ",":
                self.at += 1
            elif self._peek() != end:
                self._fail(f"wants ',' or '{end}' before {self.text[self.at :]:.40}")
        self.at += 1

    def _peek(self) -> str:
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1
        if self.at >= len(self.text):
            self._fail("ends inside of a bracket")
        return self.text[self.at]

    def _word(self, ends: str) -> Any:
        first = self._peek()
        start = self.at
        if first in "'\"":
            stop = self.text.find(first, start + 1)
            if stop < 0:
                self._fail("has a quote that is never closed")
            self.at = stop + 1
        else:
            while self.at < len(self.text) and self.text[self.at] not in ends:
                self.at += 1
        return _scalar(self.text[start : self.at].strip(), self.line, self.file)


def _scalar(text: str, line: _Line, file: str) -> Any:
    """A word as what it says; quoted, always a text."""
    if text[:1] in ("'", '"'):
        if len(text) < 2 or text[-1] != text[0] or text[0] in text[1:-1] or "\\" in text:
            _fail(file, line.number, f"has quotes or backslashes that are not read: {text:.60}")
        return text[1:-1]
    if _MARK.match(text) or text.startswith(("- ", "[", "{")) or ": " in text:
        _fail(file, line.number, f"is not read: {text:.60}")
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.match(text) and len(text) < 19:
        return int(text)
    return float(text) if _NUMBER.match(text) else text
