"""What stands beside a description about loops, as records, and the values of a file made of them.

Lines are those of the file; they do not count when records are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from linkwork.errors import DescriptionError, Finding
from linkwork.formats.yaml import Node


@dataclass(frozen=True, slots=True)
class LoopRecord:
    """One loop as it is described; without a name it gets one."""

    frame_a: str
    frame_b: str
    kind: str = "pose"
    distance: float = 0.0
    name: str | None = None
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class CouplingRecord:
    """One coupling: rates and an offset, or operations as `expressions` has them."""

    joint: str
    leaders: tuple[str, ...]
    rates: tuple[float, ...] = ()
    offset: float = 0.0
    operations: tuple[tuple[str, tuple[float, ...]], ...] = ()
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class JointRecord:
    """A joint of the description that stands for others: one about each axis of its frame, in turn.

    Without axes it is fixed.
    """

    joint: str
    axes: str
    line: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class LoopsRecord:
    """What stands in one file beside a description."""

    loops: tuple[LoopRecord, ...] = ()
    couplings: tuple[CouplingRecord, ...] = ()
    actuated: tuple[str, ...] = ()
    file: str = ""
    joints: tuple[JointRecord, ...] = ()
    actuated_line: int = field(default=0, compare=False)


class Fields:
    """Takes values of a file apart; what is wrong is said with its line."""

    def __init__(self, file: str) -> None:
        self.file = file

    def fail(self, node: Node | None, why: str) -> NoReturn:
        """Refuse what stands at a node.

        Raises: DescriptionError.
        """
        line = node.line if node is not None else 0
        raise DescriptionError([Finding("error", "loops", why, self.file, line)]) from None

    def known(self, node: Node, names: Sequence[str], what: str) -> None:
        """Refuse keys that are none of ``names``."""
        for name, value in node.value.items():
            if name not in names:
                why = f"{what} has {', '.join(names)}; '{name:.60}' is none of them"
                self.fail(value, why)

    def mapping(self, node: Node, what: str) -> dict[str, Node]:
        """The entries of a mapping."""
        if not isinstance(node.value, dict):
            self.fail(node, f"{what} must be mappings, not {node.plain()!r:.60}")
        return cast("dict[str, Node]", node.value)

    def listed(self, node: Node | None, what: str) -> list[Node]:
        """The items of a list; none where there is nothing."""
        if node is None or node.value is None:
            return []
        if not isinstance(node.value, list):
            self.fail(node, f"{what} must be a list, not {node.plain()!r:.60}")
        return cast("list[Node]", node.value)

    def texts(self, node: Node | None, what: str) -> tuple[str, ...]:
        """The texts of a list."""
        return tuple(self.text(each, what) for each in self.listed(node, what))

    def text(self, node: Node | None, what: str, *, at: Node | None = None) -> str:
        """A text that is not empty; ``at`` is where it is missed."""
        value: Any = None if node is None else node.value
        if not isinstance(value, str) or not value:
            shown = None if node is None else node.plain()
            self.fail(node or at, f"{what} must be a text, not {shown!r:.60}")
        return value

    def number(self, node: Node | None, what: str) -> float:
        """A finite number; 0 where there is nothing."""
        if node is None:
            return 0.0
        value: Any = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(node, f"{what} must be a number, not {node.plain()!r:.60}")
        if not math.isfinite(value):
            self.fail(node, f"{what} must be a finite number, not {value}")
        return float(value)
