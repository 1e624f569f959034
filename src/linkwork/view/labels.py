"""Names beside points of a drawing, where they cover neither each other nor much else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linkwork.view.primitives import Anchor, Circle, Layer, Mark, Path, Text

Floats = NDArray[np.float64]

SIZE = 11.0  # pixels
_CELL = 3.0  # pixels of the grid on which it is known what is drawn where
_WAYS = tuple(
    (float(np.cos(a)), float(np.sin(a))) for a in np.radians([0, 180, -35, 35, 215, 145, -90, 90])
)
_AWAY = (0.0, 6.0, 14.0, 26.0, 42.0, 62.0, 90.0, 130.0)  # pixels beyond the symbol
_BESIDE = 10.0  # pixels up to which a name needs no line to its symbol
_INK = "#767c85"

Box: TypeAlias = tuple[float, float, float, float]
"""Left, top, right, bottom."""


class Label(NamedTuple):
    """A name, and the point (2,) that it belongs to."""

    text: str
    at: Floats


def placed_labels(
    labels: Sequence[Label], drawn: Iterable[Layer], size: tuple[float, float], symbol: float
) -> tuple[list[Mark], list[str]]:
    """The names in free places, with lines to points that are far; and those that have no room."""
    if not labels:
        return [], []
    busy = _occupied([mark for layer in drawn for mark in layer.marks], size)
    boxes: list[Box] = []
    marks, left_out = list[Mark](), list[str]()
    for label in labels:
        best = _best(label, boxes, busy, size, symbol)
        if best is None:
            left_out.append(label.text)
            continue
        boxes.append(best.box)
        if best.away > _BESIDE:
            line = _leader(label.at, best.box, symbol)
            marks.append(line)
            _occupy(busy, line.points())
        marks.append(best.text)
    return marks, left_out


class _Place(NamedTuple):
    """A place for a name: what it costs, its mark and box, and how far it is from its symbol."""

    cost: float
    text: Text
    box: Box
    away: float


def _best(
    label: Label,
    taken: Sequence[Box],
    busy: NDArray[np.bool_],
    size: tuple[float, float],
    symbol: float,
) -> _Place | None:
    """The place that costs least: it is near, and covers little."""
    best: _Place | None = None
    for away in _AWAY:
        if best is not None and best.cost < 0.5 * away:
            break  # what is farther costs more
        for k, (x, y) in enumerate(_WAYS):
            text, box = _candidate(label, x, y, symbol + 4.0 + away)
            if not _within(box, size) or any(_overlap(box, other) for other in taken):
                continue
            if away > _BESIDE and _crosses(_leader(label.at, box, symbol), taken):
                continue
            cost = 3.0 * _covered(busy, box) + 0.5 * away + 0.4 * k
            if best is None or cost < best.cost:
                best = _Place(cost, text, box, away)
    return best


def _candidate(label: Label, x: float, y: float, away: float) -> tuple[Text, Box]:
    """The name in one direction from its point, and the box around it."""
    anchor: Anchor = "start" if x > 0.3 else "end" if x < -0.3 else "middle"
    at = label.at + away * np.array([x, y])
    at[1] += 0.27 * SIZE + 0.5 * SIZE * y
    text = Text(at, label.text, SIZE, anchor, _INK)
    low, high = text.points()
    return text, (
        float(low[0]) - 2.0,
        float(low[1]) - 1.0,
        float(high[0]) + 2.0,
        float(high[1]) + 1.0,
    )


def _leader(at: Floats, box: Box, symbol: float) -> Path:
    """A thin line from the symbol at a point to the nearest place of a box."""
    end = np.array([np.clip(at[0], box[0], box[2]), np.clip(at[1], box[1], box[3])])
    way = end - at
    length = float(np.linalg.norm(way))
    start = at + way * min(symbol / max(length, 1e-9), 0.9)
    return Path((np.array([start, end]),), _INK, 0.7, opacity=0.7)


def _crosses(line: Path, boxes: Sequence[Box]) -> bool:
    """Whether a line of two points goes through one of the boxes."""
    start, end = line.points()
    points = start + np.linspace(0.0, 1.0, 24)[:, None] * (end - start)
    return any(
        bool(((points >= [a, b]) & (points <= [c, d])).all(axis=1).any()) for a, b, c, d in boxes
    )


def _within(box: Box, size: tuple[float, float]) -> bool:
    return box[0] >= 2.0 and box[1] >= 2.0 and box[2] <= size[0] - 2.0 and box[3] <= size[1] - 2.0


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _occupied(drawn: Iterable[Mark], size: tuple[float, float]) -> NDArray[np.bool_]:
    """The cells in which something is drawn."""
    busy = np.zeros([int(np.ceil(x / _CELL)) + 1 for x in size[::-1]], bool)
    for mark in drawn:
        if isinstance(mark, Circle):
            turns = np.linspace(0.0, 2.0 * np.pi, 16)
            ring = np.stack([np.cos(turns), np.sin(turns)], axis=1)
            _occupy(busy, mark.center + mark.radius * ring)
        elif isinstance(mark, Text):
            low, high = mark.points()
            grid = [np.arange(a, b + _CELL, _CELL) for a, b in zip(low, high, strict=True)]
            _occupy(busy, np.stack(np.meshgrid(*grid), axis=-1).reshape(-1, 2))
        else:
            for line in mark.lines:
                _occupy(busy, np.concatenate([line, line[:1]]) if mark.closed else line)
    return busy


def _occupy(busy: NDArray[np.bool_], line: Floats) -> None:
    """Mark the cells along a line (n, 2)."""
    way = np.diff(line, axis=0)
    count = np.ceil(np.linalg.norm(way, axis=1) / _CELL).astype(int) + 1
    of = np.repeat(np.arange(len(count)), count)
    share = (np.arange(len(of)) - (np.cumsum(count) - count)[of]) / count[of]
    points = np.concatenate([line[of] + share[:, None] * way[of], line[-1:]])
    cells = (points / _CELL).astype(int)
    inside = (cells >= 0).all(axis=1) & (cells < busy.shape[::-1]).all(axis=1)
    busy[cells[inside, 1], cells[inside, 0]] = True


def _covered(busy: NDArray[np.bool_], box: Box) -> int:
    """The number of cells with something drawn that a box covers."""
    left, top, right, bottom = (max(int(x / _CELL), 0) for x in box)
    return int(np.count_nonzero(busy[top : bottom + 1, left : right + 1]))
