"""One line on a terminal for a compilation that takes over a second."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TextIO

from linkwork import settings

_PATIENCE = 1.0
"""Seconds that pass before anything is said."""


class CompileLine:
    """The listener of a compiler that speaks to people, on standard error.

    "linkwork: compiling fk_all for talos ..." after a second, and how long it took at the end. It
    is silent where standard error is no terminal, unless it is to speak ``anywhere``.
    """

    def __init__(self, clock: Callable[[], float], *, anywhere: bool = False) -> None:
        self._clock, self._anywhere = clock, anywhere

    def __call__(self, what: str) -> Callable[[bool | None], None]:
        """Begin to wait; the function returned ends it, see `compile.compiler.Listener`."""
        stream = sys.stderr  # looked up now: programs and tests replace it
        if not (self._anywhere or settings.on_terminal(stream)):
            return _silent
        return _Wait(what, stream, self._clock).end


class _Wait:
    """A thread that speaks after a second; it has ended when `end` returns."""

    def __init__(self, what: str, stream: TextIO, clock: Callable[[], float]) -> None:
        self._what, self._stream, self._clock = what, stream, clock
        self._begin = clock()
        self._over = threading.Event()
        self._said = False
        self._thread = threading.Thread(target=self._speak, name="linkwork: compiling", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no threads here, or none any more: the work is done in silence
            self._over.set()

    def _speak(self) -> None:
        if not self._over.wait(_PATIENCE):
            self._said = True
            _write(self._stream, f"linkwork: compiling {self._what} ...")

    def end(self, kept: bool | None) -> None:
        """Stop waiting; where something was said, say how it ended."""
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()
        if self._said:
            after = ", kept for next time" if kept else "" if kept is not None else ", given up"
            _write(self._stream, f" {self._clock() - self._begin:.1f} s{after}\n")


def _silent(_kept: bool | None) -> None:
    """Nothing is said."""


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
        stream.flush()
    except (AttributeError, OSError, ValueError):
        pass  # a message that nobody can read must not stop the work
