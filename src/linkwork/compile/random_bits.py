"""Random numbers from a counter: the same key gives the same number, in any order, on any thread.

The finaliser is that of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014). The same function is written for LLVM and for Python.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

from linkwork.compile.emit import F64, i64

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15
_MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST_SHIFT = 31
_UNIT = 2.0**-53


def _word(value: int) -> Any:
    return i64(value - (1 << 64) if value >> 63 else value)


def absorb(b: Any, key: Any, bits: Any) -> Any:
    """A new key from a key and 64 more bits (LLVM)."""
    x = b.add(b.xor(key, bits), _word(_GOLDEN))
    for shift, factor in _MIX:
        x = b.mul(b.xor(x, b.lshr(x, i64(shift))), _word(factor))
    return b.xor(x, b.lshr(x, i64(_LAST_SHIFT)))


def unit_interval(b: Any, bits: Any) -> Any:
    """A float64 in [0, 1) from 64 bits (LLVM)."""
    return b.fmul(b.uitofp(b.lshr(bits, i64(11)), F64), ir.Constant(F64, _UNIT))


def absorb_reference(key: int, bits: int) -> int:
    """`absorb` in Python."""
    x = ((key ^ bits) + _GOLDEN) & _MASK
    for shift, factor in _MIX:
        x = ((x ^ (x >> shift)) * factor) & _MASK
    return x ^ (x >> _LAST_SHIFT)


def unit_interval_reference(bits: int) -> float:
    """`unit_interval` in Python."""
    return (bits >> 11) * _UNIT
