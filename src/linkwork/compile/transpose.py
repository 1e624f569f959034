"""Register-block transposes: rows of memory to vectors with one row a lane, and back.

A block is k neighbouring columns of ``width`` rows, k a power of two up to the width. Where the
columns are no multiple of the width the last block overlaps the one before it: nothing outside the
rows is ever read or written. At width 1 a block is one number and nothing is transposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from linkwork.compile.emit import F64, I32, i64

_LINE = 8  # numbers in a line of the cache
_ALIGN = 8  # bytes: rows of float64 are aligned to one number, no more


def cover(start: int, stop: int, width: int) -> list[tuple[int, int]]:
    """Blocks (first column, columns) that together are the columns from ``start`` to ``stop`` - 1.

    Each has a power of two of columns, up to ``width``; only the last ones overlap others.
    """
    blocks: list[tuple[int, int]] = []
    at = start
    while at < stop:
        left = stop - at
        k = min(width, 1 << (left - 1).bit_length())
        if k > left:
            if k <= stop - start:
                at = stop - k
            else:
                k //= 2
        blocks.append((at, k))
        at += k
    return blocks


def read_block(b: Any, rows: Any, stride: int, column: int, k: int, width: int) -> list[Any]:
    """All numbers of a block in k vectors, as `columns_of` takes them.

    ``rows`` points to the first row, of ``stride`` numbers as all of them.
    """

    def piece(row: int) -> Any:
        return b.load(_place(b, rows, row * stride + column, k), align=_ALIGN)

    if width == 1:
        return [piece(0)]
    if k == 1:
        vector: Any = ir.Constant(ir.VectorType(F64, width), ir.Undefined)
        for row in range(width):
            vector = b.insert_element(vector, piece(row), ir.Constant(I32, row))
        return [vector]
    each = width // k
    return [
        _joined(b, [piece(2 * (pair * each + j) + odd) for j in range(each)])
        for pair in range(k // 2)
        for odd in (0, 1)
    ]


def columns_of(b: Any, pieces: Sequence[Any], width: int) -> list[Any]:
    """The columns of a block, one row a lane: the transpose of what `read_block` gives.

    Vector 2i holds pieces of even rows, vector 2i + 1 those of the rows after them. Numbers are
    unpacked in pairs first, then pairs are separated: on x86 each step is one instruction.
    """
    if len(pieces) == 1:
        return list(pieces)
    low: list[Any] = []
    high: list[Any] = []
    for x, y in zip(pieces[::2], pieces[1::2], strict=True):
        even, odd = _unpacked(b, x, y, width)
        low.append(even)
        high.append(odd)
    columns: list[Any] = [None] * len(pieces)
    columns[::2] = _separated(b, low, width)
    columns[1::2] = _separated(b, high, width)
    return columns


def write_block(b: Any, columns: Sequence[Any], rows: Any, stride: int, column: int) -> None:
    """Store k neighbouring columns, one row a lane, into rows."""
    k = len(columns)
    width = getattr(columns[0].type, "count", 1)
    if width == 1:
        pieces = list(columns)
    elif k == 1:
        pieces = [b.extract_element(columns[0], ir.Constant(I32, row)) for row in range(width)]
    elif k == width:
        pieces = columns_of(b, columns, width)
    else:
        pieces = _narrow_rows(b, columns, width)
    for row, piece in enumerate(pieces):
        b.store(piece, _place(b, rows, row * stride + column, k), align=_ALIGN)


def write_constants(b: Any, values: Sequence[float], rows: Any, at: int) -> None:
    """Store neighbouring numbers that are known now, ``at`` numbers after the first of the rows."""
    k = len(values)
    kind: Any = ir.VectorType(F64, k) if k > 1 else F64
    value = ir.Constant(kind, list(values) if k > 1 else values[0])
    b.store(value, _place(b, rows, at, k), align=_ALIGN)


def prefetch(b: Any, rows: Any, start: int, count: int, *, write: bool) -> list[Callable[[], None]]:
    """What writes the prefetches of ``count`` numbers, line by line, from ``start`` numbers on."""
    byte = ir.IntType(8).as_pointer()
    name = "llvm.prefetch.p0"
    kind = ir.FunctionType(ir.VoidType(), [byte, I32, I32, I32])
    function = b.module.globals.get(name) or ir.Function(b.module, kind, name)
    how = [ir.Constant(I32, n) for n in (int(write), 3, 1)]  # to be kept in the cache, data

    def one(at: int) -> None:
        b.call(function, [b.bitcast(b.gep(rows, [i64(at)]), byte), *how])

    return [lambda at=at: one(at) for at in range(start, start + count, _LINE)]


def _place(b: Any, rows: Any, at: int, k: int) -> Any:
    """A pointer to k numbers."""
    place = b.gep(rows, [i64(at)])
    return place if k == 1 else b.bitcast(place, ir.VectorType(F64, k).as_pointer())


def _shuffled(b: Any, x: Any, y: Any, picks: Sequence[int]) -> Any:
    """The lanes ``picks`` of x followed by y."""
    mask = ir.Constant(ir.VectorType(I32, len(picks)), [ir.Constant(I32, p) for p in picks])
    return b.shuffle_vector(x, y, mask)


def _unpacked(b: Any, x: Any, y: Any, width: int) -> tuple[Any, Any]:
    """(x0 y0 x2 y2 ...) and (x1 y1 x3 y3 ...)."""
    even = [p for k in range(0, width, 2) for p in (k, width + k)]
    return _shuffled(b, x, y, even), _shuffled(b, x, y, [p + 1 for p in even])


def _separated(b: Any, parts: list[Any], width: int) -> list[Any]:
    """From vectors of pairs of lanes: all first pairs, all second pairs, and so on."""
    if len(parts) == 1:
        return parts
    even = [p for k in range(0, 2 * width, 4) for p in (k, k + 1)]
    odd = [p + 2 for p in even]
    two = list(zip(parts[::2], parts[1::2], strict=True))
    found: list[Any] = [None] * len(parts)
    found[::2] = _separated(b, [_shuffled(b, x, y, even) for x, y in two], width)
    found[1::2] = _separated(b, [_shuffled(b, x, y, odd) for x, y in two], width)
    return found


def _joined(b: Any, parts: list[Any]) -> Any:
    """Vectors one after the other in a longer one."""
    while len(parts) > 1:
        n = 2 * parts[0].type.count
        two = zip(parts[::2], parts[1::2], strict=True)
        parts = [_shuffled(b, x, y, range(n)) for x, y in two]
    return parts[0]


def _narrow_rows(b: Any, columns: Sequence[Any], width: int) -> list[Any]:
    """The rows of 2 columns, or of 4 columns with 8 lanes."""
    k = len(columns)
    each = width // k
    unpacked = [_unpacked(b, x, y, width) for x, y in zip(columns[::2], columns[1::2], strict=True)]
    rows: list[Any] = [None] * width
    for odd in (0, 1):
        vectors = [pair[odd] for pair in unpacked]
        if k == 4:
            picks = [p + q for p in range(0, width, 2) for q in (0, 1, width, width + 1)]
            halves = picks[:width], picks[width:]
            vectors = [_shuffled(b, vectors[0], vectors[1], half) for half in halves]
        for v, vector in enumerate(vectors):
            for j in range(each):
                piece = _shuffled(b, vector, vector, range(j * k, j * k + k))
                rows[2 * (v * each + j) + odd] = piece
    return rows
