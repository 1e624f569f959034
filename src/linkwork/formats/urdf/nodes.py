"""The text of one element as nodes, with the bytes and lines where they stand: for `moulds`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from linkwork.formats.urdf.oddities import DEEPEST, TAG

WIDTH = 7
"""How many digits stand for a value in the text of a shape."""

_PREFIX = re.compile(r"[<\s/]([A-Za-z_][A-Za-z0-9_.\-]*):")


class NoMouldError(Exception):
    """The shape has something that needs a word, or that is not plain."""


@dataclass(slots=True)
class Node:
    """An element, or a comment, which has no tag.

    ``line`` counts the line breaks before it, ``start`` and ``stop`` are the bytes of an element.
    Names with a prefix are as expat gives them: the name space, a line break, the name.
    """

    tag: str
    line: int = 0
    start: int = 0
    stop: int = 0
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    children: list[Node] = field(default_factory=list["Node"])
    texts: list[str] = field(default_factory=list[str])


def parsed(text: str) -> Node:
    """The one element that an ASCII text is.

    Raises: NoMouldError where it is not one, for elements too deep inside each other, and for what
    is none of element, text and comment.
    """
    # The file's root declares the prefixes of name spaces; what they mean is not needed here.
    declared = "".join(f" xmlns:{p}='{p}'" for p in dict.fromkeys(_PREFIX.findall(text)))
    return _Builder(f"<robot{declared}>".encode(), text.encode()).node()


class _Builder:
    """The events of one text."""

    def __init__(self, before: bytes, data: bytes) -> None:
        self.before, self.data = before, data
        self.root = Node("")
        self.stack = [self.root]
        self.parser = expat.ParserCreate("utf-8", "\n")
        self.parser.buffer_text = True

    def node(self) -> Node:
        """The one node."""
        parser = self.parser
        try:
            parser.Parse(self.before, False)
            parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
            parser.CharacterDataHandler, parser.CommentHandler = self.characters, self.comment
            parser.ProcessingInstructionHandler = self.refused
            parser.StartNamespaceDeclHandler = self.refused
            parser.Parse(self.data, False)
        except expat.ExpatError:
            raise NoMouldError from None
        finally:
            # The handlers and the parser hold each other.
            parser.StartElementHandler = parser.EndElementHandler = None
            parser.CharacterDataHandler = parser.CommentHandler = None
            parser.ProcessingInstructionHandler = parser.StartNamespaceDeclHandler = None
        nodes, texts = self.root.children, self.root.texts
        if len(self.stack) > 1 or texts or len(nodes) != 1 or not nodes[0].tag:
            raise NoMouldError
        return nodes[0]

    def _at(self) -> int:
        return self.parser.CurrentByteIndex - len(self.before)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        node = Node(tag, self.parser.CurrentLineNumber - 1, self._at(), attributes=attributes)
        self.stack[-1].children.append(node)
        self.stack.append(node)
        if len(self.stack) > DEEPEST // 2:
            raise NoMouldError

    def end(self, _: str) -> None:
        """An element ends."""
        if len(self.stack) == 1:
            raise NoMouldError  # it is that around all
        node = self.stack.pop()
        tag = TAG.match(self.data, node.start)
        node.stop = tag.end() if tag else node.start
        if self.data[node.stop - 2 : node.stop] != b"/>":
            node.stop = self.data.index(b">", self._at()) + 1

    def characters(self, content: str) -> None:
        """Text between tags."""
        self.stack[-1].texts.append(content)

    def comment(self, content: str) -> None:
        """A comment."""
        line = self.parser.CurrentLineNumber - 1
        self.stack[-1].children.append(Node("", line, texts=[content]))

    def refused(self, *_: object) -> None:
        """A processing instruction, or a name space of an element's own."""
        raise NoMouldError
