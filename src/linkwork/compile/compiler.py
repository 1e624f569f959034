"""Where machine code comes from: made for a target now, or found in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from linkwork.compile.cache import Cache, Entry, key_of, source_digest
from linkwork.compile.machine_code import COMPILING, MachineCode
from linkwork.compile.target import Target, host

Facts = dict[str, Any]


@dataclass(frozen=True)
class Made:
    """Code that is ready to run, and what is known of it."""

    facts: Facts
    code: MachineCode
    from_cache: bool
    seconds: float | None = None  # what making or finding it took, where there is a clock


class Compiler:
    """The target that code is made for, the cache that it is kept in, and a clock, if any."""

    def __init__(
        self,
        target: Target | None = None,
        cache: Cache | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.target = target or host()
        self.cache = cache or Cache(None)
        self.clock = clock

    def find(self, key: Sequence[str]) -> Made | None:
        """What the cache has under this key; None without a key."""
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

    def code(self, key: Sequence[str], make: Callable[[], tuple[Facts, bytes]]) -> Made:
        """Code from the cache, or else made, and kept for the next process.

        ``make`` gives facts (a JSON object) and relocatable object code for `target`.
        """
        with COMPILING:
            found = self.find(key)
            if found is not None:
                return found
            start = self._now()
            facts, object_code = make()
            code = MachineCode(object_code)
            made = Made(facts, code, False, self._now() - start if self.clock else None)
            if key:
                self.cache.write(self._name(key), Entry(facts, object_code))
            return made

    def _now(self) -> float:
        return self.clock() if self.clock else 0.0

    def _name(self, key: Sequence[str]) -> str:
        t = self.target
        target = (str(t.width), str(t.fused), t.cpu, t.features, t.triple)
        return key_of(source_digest(), *target, *key)
