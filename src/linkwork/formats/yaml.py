"""YAML for plain tables: PyYAML's events made into values that know their lines.

What could mean more than it shows is refused with its line: anchors and aliases, tags, directives,
several documents, keys that are no texts or stand twice, words that YAML 1.1 and 1.2 read
differently. Nothing is constructed but dicts, lists, texts, numbers, truth values and None.

Source: YAML 1.2.2, chapter 10.3 (core schema), and YAML 1.1 for what PyYAML makes of plain words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from linkwork.errors import DescriptionError, Finding

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Loops
yaml | error | The text is no YAML, or more than plain tables. | See the line.
"""


DEEPEST, LONGEST_FILE, LONGEST_TEXT = 50, 500_000, 10_000
"""The largest depth of values, and most characters of a file and of one text in it."""

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)\Z")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = (".inf", ".nan")
_WORDS = {"": None, "~": None, "null": None, "true": True, "false": False}
_PREFIX = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its line: a dict or list of nodes, str, int, float, bool or None."""

    value: Any
    line: int

    def plain(self) -> Any:
        """The value with plain values inside."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value


def parse(text: str, file: str = "") -> Node:
    """The value of a text; None where it has no content.

    Raises: DescriptionError with the line of what is no YAML, or refused.
    """
    import yaml  # noqa: PLC0415  few descriptions need it

    if len(text) > LONGEST_FILE:
        _fail(file, 0, f"it has {len(text):,} characters; at most {LONGEST_FILE:,} are read")
    reader = _Reader(yaml, file)
    try:
        # Not libyaml, though quicker: it takes some texts that this one refuses.
        events = yaml.parse(text.removeprefix("\ufeff"), Loader=yaml.SafeLoader)
        return reader.document(events)
    except yaml.YAMLError as error:
        mark: Any = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        place: Any = getattr(error, "position", None)
        line = mark.line + 1 if mark else text.count("\n", 0, place) + 1 if place else 1
        what = getattr(error, "problem", None) or getattr(error, "reason", None) or "it is no YAML"
    except UnicodeError:
        line, what = 1, "it has characters that are none"
    _fail(file, line, f"it cannot be read: {what}")


def quoted(text: str) -> str:
    """A text in quotes, which every reader of YAML takes for the same text.

    Characters that cannot be seen are escaped: YAML refuses some and breaks lines at others.
    """
    plain = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08X}" for each in plain)


def _fail(file: str, line: int, why: str) -> NoReturn:
    hint = "plain mappings, lists, texts and numbers are read"
    raise DescriptionError([Finding("error", "yaml", why, file, line, hint=hint)]) from None


class _Reader:
    """Makes values of events, within limits."""

    def __init__(self, yaml: Any, file: str) -> None:
        self.yaml, self.file = yaml, file
        self.words = yaml.SafeLoader("")  # knows which plain words are not texts

    def document(self, events: Iterator[Any]) -> Node:
        """The value of the only document in which anything stands.

        Tools of ROS end each message with ``---``, behind which there is none.
        """
        yaml, found = self.yaml, Node(None, 1)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                if event.version or event.tags:
                    self.fail(event, "directives are not read")
                node = self.value(next(events), events, 0)
                if found.value is not None and node.value is not None:
                    self.fail(event, "a second document begins; one is read")
                found = node if found.value is None else found
        return found

    def fail(self, event: Any, why: str) -> NoReturn:
        """Refuse what stands at an event."""
        _fail(self.file, event.start_mark.line + 1, why)

    def value(self, event: Any, events: Iterator[Any], depth: int) -> Node:
        """The value that begins with an event."""
        yaml = self.yaml
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            self.fail(event, f"anchors and aliases are not read: '{event.anchor}'")
        if event.tag is not None:
            self.fail(event, f"tags are not read: '{event.tag:.60}'")
        if depth > DEEPEST:
            self.fail(event, f"it is nested deeper than {DEEPEST}")
        line = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):
            return Node(self.scalar(event), line)
        if isinstance(event, yaml.SequenceStartEvent):
            return Node(self.items(events, depth), line)
        return Node(self.entries(events, depth), line)

    def items(self, events: Iterator[Any], depth: int) -> list[Node]:
        """The items of a list that has begun."""
        found: list[Node] = []
        while not isinstance(event := next(events), self.yaml.SequenceEndEvent):
            found.append(self.value(event, events, depth + 1))
        return found

    def entries(self, events: Iterator[Any], depth: int) -> dict[str, Node]:
        """The entries of a mapping that has begun."""
        found: dict[str, Node] = {}
        while not isinstance(event := next(events), self.yaml.MappingEndEvent):
            if not isinstance(event, self.yaml.ScalarEvent):
                self.fail(event, "a key must be a text")
            key = self.value(event, events, depth + 1).value
            if not isinstance(key, str):
                self.fail(event, f"a key must be a text, not {event.value:.60}")
            if key in found:
                self.fail(event, f"the key '{key:.60}' stands here a second time")
            found[key] = self.value(next(events), events, depth + 1)
        return found

    def scalar(self, event: Any) -> Any:
        """A word as what it says; quoted or in a block, always a text."""
        text: str = event.value
        if len(text) > LONGEST_TEXT:
            self.fail(event, f"a text has {len(text):,} characters, more than {LONGEST_TEXT:,}")
        if not event.implicit[0]:
            return text
        if _INTEGER.match(text):
            return int(text) if len(text) < 19 else float(text)
        if _NUMBER.match(text):
            if text.lstrip("+-").startswith("0") and text.lstrip("+-").isdigit():
                self.fail(event, f"'{text:.60}' is octal to some readers; write it without zeros")
            return float(text)
        kind = self.words.resolve(self.yaml.ScalarNode, text, (True, False)).removeprefix(_PREFIX)
        plain = text.lower().lstrip("+-")
        if kind == "float" and plain in _NOT_FINITE:
            return float(text.lower().replace(".", ""))
        if plain in _WORDS and kind in ("null", "bool"):
            return _WORDS[plain]
        if kind != "str":
            self.fail(event, f"'{text:.60}' is a {kind} to some readers; put a text into quotes")
        return text
