"""Threads for the chunks of long calls: when they are worth it, and one pool, made at first use.

Starting a second thread takes some 40 microseconds, a chunk some 4 (measured at 2 cores, where the
first thread already works). So a thread is taken for each 200 microseconds of work, and a chunk
holds about 125; for one thread alone, which has nobody to share with, about two milliseconds.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from linkwork.checks import whole_number

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

_THREAD_NS = 200_000.0
_CHUNK_NS = 125_000.0
_ALONE_NS = 2_000_000.0
_CHUNK_ROWS = (64, 65_536)
_TILE = 64  # chunks are whole numbers of tiles at every width, and of lines of the cache


def row_cost_ns(instructions: int, results: int, width: int) -> float:
    """An estimate of the time for one row of a batch, from the graph alone.

    Measured at 8 lanes (Zen 5): 0.06 ns an instruction, 0.1 to 0.3 ns a number that is written.
    """
    return 0.5 * instructions / width + 0.15 * results


def threads_for(rows: int, cost_per_row_ns: float, most: int) -> int:
    """The number of threads, up to ``most``, for a batch: 1 below 400 microseconds of work."""
    return max(1, min(most, int(rows * cost_per_row_ns / _THREAD_NS)))


def chunk_rows(cost_per_row_ns: float, threads: int) -> int:
    """Rows between two returns to Python. No bit of a result depends on it."""
    least, most = _CHUNK_ROWS
    work = _CHUNK_NS if threads > 1 else _ALONE_NS
    wanted = work / max(cost_per_row_ns, work / most)
    return max(least, int(wanted) // _TILE * _TILE)


_lock = threading.Lock()
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def _pool(threads: int) -> ThreadPoolExecutor:
    """The pool of this process: a child of fork has none of its parent's threads."""
    key = (os.getpid(), threads)
    with _lock:
        for stale in [k for k in _pools if k[0] != key[0]]:
            del _pools[stale]
        if key not in _pools:
            from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  3 ms, not for all

            _pools[key] = ThreadPoolExecutor(threads, thread_name_prefix="linkwork")
        return _pools[key]


def thread_count(threads: Any) -> int:
    """A number of threads, checked.

    Raises: InputError.
    """
    return whole_number(threads, "threads")


def in_parallel(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int,
    *,
    halt: threading.Event | None = None,
) -> list[Result]:
    """``[work(item) for item in items]``, on up to ``threads`` threads; the first error is raised.

    The results do not depend on the number of threads. ``halt`` is set once an item has failed or
    the caller is interrupted: work that takes long looks at it now and then, and ends early.

    Raises: InputError for a number of threads that is none; whatever ``work`` raises.
    """
    threads = thread_count(threads)
    listed = list(items)
    if threads <= 1 or len(listed) <= 1:
        return [work(item) for item in listed]
    from concurrent.futures import wait  # noqa: PLC0415  3 ms, not for all

    job = _Job(work, listed, halt or threading.Event())
    helpers = min(int(threads), len(listed)) - 1
    futures = [_pool(int(threads) - 1).submit(job.run) for _ in range(helpers)]
    try:
        job.run()
    finally:
        running = [future for future in futures if not future.cancel()]  # the others never begin
        try:
            wait(running)
        except BaseException:
            job.halt.set()
            wait(running)  # they write into arrays that the caller is about to let go
            raise
    return job.outcome()


class _Job(Generic[Item, Result]):
    """Items that several threads take in their order, the caller's thread among them."""

    def __init__(
        self, work: Callable[[Item], Result], items: list[Item], halt: threading.Event
    ) -> None:
        self._work, self._items, self.halt = work, items, halt
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._results: dict[int, Result] = {}
        self._errors: dict[int, BaseException] = {}

    def run(self) -> None:
        """Work until no item is left, or one has failed."""
        while not self.halt.is_set():
            with self._lock:
                k = next(self._numbers)
            if k >= len(self._items):
                return
            try:
                self._results[k] = self._work(self._items[k])
            except BaseException as error:
                self._errors[k] = error
                self.halt.set()

    def outcome(self) -> list[Result]:
        """The results; or the error of the first item that failed, which does not depend on luck:
        items are taken in order, and those that were taken are finished."""
        if self._errors:
            raise self._errors[min(self._errors)]
        return [self._results[k] for k in range(len(self._items))]


def _forget_after_fork() -> None:
    """The child starts with no pool, and with a lock that nobody holds."""
    global _lock  # noqa: PLW0603 - the parent's lock may be held by a thread that is not here
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
