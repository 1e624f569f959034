"""Formulas of this face that are compiled once they have been called often.

A formula of thirty products takes Python a microsecond. What it does to one value is traced, and
compiled without fusing any of its roundings, so that the bits stay those that Python gives: when a
formula is compiled cannot be seen in a result. Batches, subclasses and numbers that are not finite
go on as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linkwork.faces.pykdl.values import Value

OFTEN = 1000
"""So many calls come before compiling pays: it takes 40 ms, from the cache 1.5."""

Kind = Any
"""A value type; float; a number n, for a tuple of n floats; or a tuple of these, for results."""


class Swift:
    """One formula: ``call`` it. ``takes`` and ``gives`` are the kinds of arguments and result."""

    __slots__ = ("_gives", "_left", "_plain", "_takes", "call")

    def __init__(self, plain: Callable[..., Any], takes: Sequence[Kind], gives: Kind) -> None:
        self._plain, self._takes, self._gives = plain, tuple(takes), gives
        self._left = OFTEN
        self.call: Callable[..., Any] = self._counted

    def _counted(self, *given: Any) -> Any:
        self._left -= 1
        if self._left == 0:
            self.compile()
        return self._plain(*given)

    def compile(self) -> None:
        """Use compiled code from now on."""
        from linkwork import settings  # noqa: PLC0415
        from linkwork.compile import number_call as calls  # noqa: PLC0415  loads what compiles
        from linkwork.compile.recipe import text_recipe  # noqa: PLC0415
        from linkwork.faces.pykdl.digest import digest  # noqa: PLC0415

        def part(kind: Kind) -> Any:
            if kind is float:
                return calls.Number()
            if isinstance(kind, int):
                return calls.Numbers(kind)
            if isinstance(kind, tuple):
                return calls.Several(tuple([part(each) for each in kind]))
            return calls.Made(kind, tuple([(name, part(each)) for name, each in kind._held]))

        sizes = {f"x{k}": size for k, size in enumerate(_sizes(self._takes))}

        def text(o: Any, *blocks: Any) -> dict[str, Any]:
            left = [
                [block[k] for k in range(n)]
                for block, n in zip(blocks, sizes.values(), strict=True)
            ]
            given = [_filled(kind, left) for kind in self._takes]
            return {"numbers": o.vector(_flat(self._plain(*given)))}

        name = f"{self._plain.__module__}.{self._plain.__qualname__}"
        recipe = text_recipe(("pykdl", digest(), "swift", name, repr(sizes)), "swift", sizes, text)
        takes = [part(kind) for kind in self._takes]
        compiler = settings.compiler()
        self.call = calls.number_call(
            recipe, part(self._gives), compiler, self._plain, takes=takes, fused=False
        )


def _sizes(kinds: Sequence[Kind]) -> list[int]:
    """How many numbers each tuple or float among these holds."""
    found: list[int] = []
    for kind in kinds:
        if kind is float:
            found.append(1)
        elif isinstance(kind, int):
            found.append(kind)
        else:
            found += _sizes([each for _, each in kind._held])
    return found


def _filled(kind: Kind, left: list[list[Any]]) -> Any:
    """A value of symbols, which are taken from the first of ``left`` on."""
    if kind is float:
        return left.pop(0)[0]
    if isinstance(kind, int):
        return tuple(left.pop(0))
    made = object.__new__(kind)
    for name, each in kind._held:
        setattr(made, name, _filled(each, left))
    return made


def _flat(result: Any) -> list[Any]:
    if isinstance(result, Value):
        return list(result._numbers())  # pyright: ignore[reportPrivateUsage] -- of this face
    if isinstance(result, tuple):
        return [x for each in result for x in _flat(each)]
    return [result]
