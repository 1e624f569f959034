"""The source of machine code: made for a target now, or found in the cache."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from linkwork.compile.cache import Cache, Entry, key_of, source_digest
from linkwork.compile.machine_code import COMPILING, MachineCode
from linkwork.compile.target import Target, host

Itself = TypeVar("Itself")
Facts = dict[str, Any]
Listener = Callable[[str], Callable[[bool | None], None]]
"""Called with the name of a piece of work when that begins; what it returns is called at the end,
with whether the code is kept for the next process, or None where the work was given up."""


@dataclass(frozen=True)
class Made:
    """Code that is ready to run, and what is known of it."""

    facts: Facts
    code: MachineCode
    from_cache: bool
    seconds: float | None = None  # what making or finding it took, where there is a clock


class Compiler:
    """The target that code is made for and the cache that it is kept in.

    ``clock`` measures what compiling took, and ``listener`` is told when it begins and ends.
    """

    def __init__(
        self,
        target: Target | None = None,
        cache: Cache | None = None,
        clock: Callable[[], float] | None = None,
        listener: Listener | None = None,
    ) -> None:
        self.target = target or host()
        self.cache = cache or Cache(None)
        self.clock = clock
        self._listener = listener
        self.libraries: dict[Sequence[str], MachineCode] = {}
        """The code that all of a process share, by its key: see `typed.library`."""
        self._written: list[bool] | None = None  # what the work in progress has kept, if any is

    @contextmanager
    def work(self, what: str) -> Generator[None, None, None]:
        """A piece of work for the listener: all that is traced and compiled in the body.

        Work inside other work is a part of it.
        """
        with COMPILING:
            if self._listener is None or self._written is not None:
                yield
                return
            written: list[bool] = []
            self._written, kept = written, None
            ended = self._listener(what)
            try:
                yield
                kept = bool(written) and all(written)
            finally:
                self._written = None
                ended(kept)

    def find(self, key: Sequence[str]) -> Made | None:
        """The entry of the cache under this key; None without a key."""
        if not key:
            return None
        start = self._now()
        entry = self.cache.read(self._name(key))
        if entry is None:
            return None
        with COMPILING:
            try:
                code = MachineCode(entry.object_code)
            except ValueError:  # whole, but no code: as if it were not there
                return None
            return Made(dict(entry.facts), code, True, self._now() - start if self.clock else None)

    def code(
        self,
        key: Sequence[str],
        make: Callable[[], tuple[Facts, bytes]],
        *,
        what: str = "a function",
    ) -> Made:
        """Code from the cache, or else made, and kept for the next process.

        ``make`` gives facts (a JSON object) and relocatable object code for `target`; ``what`` is
        its name for people.
        """
        with self.work(what):
            found = self.find(key)
            if found is not None:
                return found
            start = self._now()
            facts, object_code = make()
            code = MachineCode(object_code)
            made = Made(facts, code, False, self._now() - start if self.clock else None)
            kept = bool(key) and self.cache.write(self._name(key), Entry(facts, object_code))
            if self._written is not None:
                self._written.append(kept)
            return made

    def _now(self) -> float:
        return self.clock() if self.clock else 0.0

    def _name(self, key: Sequence[str]) -> str:
        t = self.target
        target = (str(t.width), str(t.fused), t.cpu, t.features, t.triple)
        return key_of(source_digest(), *target, *key)


def no_pickle(what: str) -> TypeError:
    """The error of what cannot be pickled because it holds compiled code."""
    return TypeError(
        f"{what} cannot be pickled: it holds compiled code, which belongs to this process; pickle "
        "the robot and ask it again there, which finds the code in the cache"
    )


class ProcessBound:
    """The base of kernels and of what holds them: stateless, so that a copy is the object itself.

    Raises: TypeError where it is pickled.
    """

    def __copy__(self: Itself) -> Itself:
        return self

    def __deepcopy__(self: Itself, memo: dict[int, Any]) -> Itself:
        return self

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise no_pickle(type(self).__name__)
