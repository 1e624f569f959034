"""Compiled code of simulations, kept as long as it is used: one library for a compiler."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, cast

from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import Recipe

Item = TypeVar("Item")


class Library:
    """Compiled code by key; the entries that were not used for longest are let go.

    Compiled code belongs to its process, so a copy or a pickle holds ``remake``, a function of a
    module, which gives the library of whatever process it is called in.
    """

    def __init__(
        self, compiler: Compiler, *, most: int = 64, remake: Callable[[], Library] | None = None
    ) -> None:
        self.compiler = compiler
        self._most = most
        self._remake = remake or unshared
        self._found: OrderedDict[tuple[str, ...], Any] = OrderedDict()
        self._lock = threading.RLock()

    def get(self, key: tuple[str, ...], make: Callable[[], Item]) -> Item:
        """The entry of this key, made where it is not there."""
        with self._lock:
            if key not in self._found:
                self._found[key] = make()
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)
            return cast("Item", self._found[key])

    def __reduce__(self) -> tuple[Callable[[], Library], tuple[()]]:
        return self._remake, ()

    def kernel(self, recipe: Recipe) -> Kernel:
        """The kernel of a recipe."""
        return self.get(("kernel", *recipe.key), lambda: build(recipe, compiler=self.compiler))


def unshared() -> Library:
    """A library with a compiler of its own, which keeps nothing on disk."""
    return Library(Compiler())
