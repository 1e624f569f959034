"""Conditions as CasADi has them: the numbers 1 and 0."""

from __future__ import annotations

from typing import Any

from linkwork.compile.emit import Emitter


def _number(e: Emitter, bit: Any) -> Any:
    return e.builder.select(bit, e.const(1.0), e.const(0.0))


def _bit(e: Emitter, a: Any) -> Any:
    return e.builder.fcmp_unordered("!=", a, e.const(0.0))


def compare(e: Emitter, relation: str, a: Any, b: Any) -> Any:
    """1 where the relation holds, 0 elsewhere and for NaN."""
    return _number(e, e.builder.fcmp_ordered(relation, a, b))


def differs(e: Emitter, a: Any, b: Any) -> Any:
    """1 where a is not b, also for NaN."""
    return _number(e, e.builder.fcmp_unordered("!=", a, b))


def negate(e: Emitter, a: Any) -> Any:
    """1 where a is 0."""
    return _number(e, e.builder.fcmp_ordered("==", a, e.const(0.0)))


def both(e: Emitter, a: Any, b: Any) -> Any:
    """1 where neither is 0."""
    return _number(e, e.builder.and_(_bit(e, a), _bit(e, b)))


def either(e: Emitter, a: Any, b: Any) -> Any:
    """1 where one is not 0."""
    return _number(e, e.builder.or_(_bit(e, a), _bit(e, b)))


def if_else_zero(e: Emitter, condition: Any, a: Any) -> Any:
    """A where the condition is not 0, else 0."""
    return e.builder.select(_bit(e, condition), a, e.const(0.0))
