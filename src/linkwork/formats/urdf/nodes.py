"""XML that is to be written: elements with their attributes, and texts as they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

STEP = "  "
"""How much deeper the inside of an element stands."""


@dataclass(slots=True, eq=False)
class Node:
    """An element, or where ``tag`` is empty XML that is taken as it is (``text``).

    ``attributes`` are escaped. ``text`` of an element is all that stands in it. ``position`` is
    that of the record, or its place in the layout of the record; None for what was made in code.
    ``silent`` is a comment. ``whose`` names the record where something unknown stands in it.
    """

    tag: str
    attributes: dict[str, str]
    position: int | None
    children: list[Node] = field(default_factory=list["Node"])
    text: str | None = None
    silent: bool = False
    whose: str = ""

    def same(self, other: Node) -> bool:
        """Whether two nodes are the same XML, whatever the order of attributes."""
        return (
            self.tag == other.tag
            and self.attributes == other.attributes
            and self.text == other.text
            and len(self.children) == len(other.children)
            and all(a.same(b) for a, b in zip(self.children, other.children, strict=True))
        )

    def says(self) -> Any:
        """What it says to a reader of the robot: all but comments."""
        children = [child.says() for child in self.children if not child.silent]
        return self.tag, self.attributes, self.text, children


def lines_of(node: Node, indent: str, step: str) -> Iterator[tuple[str, str]]:
    """The lines of a node, each with the record to which unknown XML in it belongs, or nothing."""
    if not node.tag:
        yield indent + (node.text or ""), node.whose
        return
    opening = f"{indent}<{node.tag}" + "".join(f' {k}="{v}"' for k, v in node.attributes.items())
    if node.text is not None:
        yield f"{opening}>{node.text}</{node.tag}>", node.whose
    elif not node.children:
        yield f"{opening}/>", node.whose
    else:
        yield f"{opening}>", node.whose
        for child in node.children:
            yield from lines_of(child, indent + step, step)
        yield f"{indent}</{node.tag}>", ""
