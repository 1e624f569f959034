"""Formulas of this face that are compiled once they have been called often.

A formula of thirty products takes Python a microsecond. What it does to one value is traced, and
compiled without fusing any of its roundings, so that the bits stay those that Python gives: when a
formula is compiled cannot be seen in a result. Batches, subclasses and numbers that are not finite
go on as before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

_new = object.__new__
OFTEN = 1000
"""So many calls come before compiling pays: it takes 40 ms, from the cache 1.5."""

Kind = Any
"""A value type; float; a number n, for a tuple of n floats; or a tuple of these, for results."""


def filled(kind: Kind, left: Iterator[Any]) -> Any:
    """A value, a float or a tuple of floats out of numbers in a row; see `Value._held`."""
    if kind is float:
        return next(left)
    if isinstance(kind, int):
        return tuple([next(left) for _ in range(kind)])
    made = _new(kind)
    for name, each in kind._held:
        setattr(made, name, filled(each, left))
    return made


def flat(thing: Any) -> list[Any]:
    """The numbers of a value, of a number or of a tuple of such, in a row."""
    if isinstance(thing, tuple):
        return [x for each in thing for x in flat(each)]
    return list(thing._numbers()) if hasattr(thing, "_numbers") else [thing]


class Formula:
    """One formula: ``call`` it. ``takes`` and ``gives`` are the kinds of arguments and result."""

    __slots__ = ("_left", "call", "gives", "name", "plain", "takes")

    def __init__(
        self, name: str, plain: Callable[..., Any], takes: Sequence[Kind], gives: Kind
    ) -> None:
        self.name, self.plain, self.takes, self.gives = name, plain, tuple(takes), gives
        self._left = OFTEN
        self.call: Callable[..., Any] = self._counted

    @property
    def compiled(self) -> bool:
        """Whether calls go to compiled code."""
        return self._left <= 0

    def _counted(self, *given: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            self.compile()
        return self.plain(*given)

    def compile(self) -> None:
        """Use compiled code from now on."""
        from linkwork import settings  # noqa: PLC0415
        from linkwork.compile import native_call as calls  # noqa: PLC0415  loads what compiles
        from linkwork.compile.cache import package_digest  # noqa: PLC0415  loads what compiles
        from linkwork.compile.recipe import expression_recipe  # noqa: PLC0415

        def part(kind: Kind) -> Any:
            if kind is float:
                return calls.Number()
            if isinstance(kind, int):
                return calls.Numbers(kind)
            if isinstance(kind, tuple):
                return calls.Several(tuple([part(each) for each in kind]))
            return calls.Made(kind, tuple([(name, part(each)) for name, each in kind._held]))

        sizes = {f"x{k}": size for k, size in enumerate(_sizes(self.takes))}

        def expression(o: Any, *blocks: Any) -> dict[str, Any]:
            each = zip(blocks, sizes.values(), strict=True)
            left = iter([block[k] for block, size in each for k in range(size)])
            return {"numbers": o.vector(flat(self.plain(*[filled(k, left) for k in self.takes])))}

        key = (package_digest("faces/pykdl"), "formula", self.name, repr(sizes))
        recipe = expression_recipe(key, "formula", sizes, expression)
        takes = [part(kind) for kind in self.takes]
        self.call = calls.number_call(
            recipe, part(self.gives), settings.compiler(), self.plain, takes=takes, fused=False
        )
        self._left = 0


def _sizes(kinds: Sequence[Kind]) -> list[int]:
    """The number of numbers that each tuple or float among these holds."""
    found: list[int] = []
    for kind in kinds:
        if kind is float:
            found.append(1)
        elif isinstance(kind, int):
            found.append(kind)
        else:
            found += _sizes([each for _, each in kind._held])
    return found
