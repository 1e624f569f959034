"""One pool of threads, made at first use, for the chunks of long calls."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

import numpy as np

from linkwork.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = threading.Lock()
_pools: dict[tuple[int, int], ThreadPoolExecutor] = {}


def _pool(threads: int) -> ThreadPoolExecutor:
    """The pool of this process: a child of fork has none of its parent's threads."""
    key = (os.getpid(), threads)
    with _lock:
        for stale in [k for k in _pools if k[0] != key[0]]:
            del _pools[stale]
        if key not in _pools:
            _pools[key] = ThreadPoolExecutor(threads, thread_name_prefix="linkwork")
        return _pools[key]


def in_parallel(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> list[Result]:
    """``[work(item) for item in items]``, on up to ``threads`` threads; the first error is raised.

    The results do not depend on the number of threads.

    Raises: InputError for a number of threads that is none; whatever ``work`` raises.
    """
    if not isinstance(threads, (int, np.integer)) or threads < 1:
        given = repr(threads) if isinstance(threads, (int, float)) else type(threads).__name__
        raise InputError(f"threads must be a whole number from 1, not {given}")
    listed = list(items)
    if threads <= 1 or len(listed) <= 1:
        return [work(item) for item in listed]
    futures = [_pool(threads).submit(work, item) for item in listed]
    try:
        return [future.result() for future in futures]
    except BaseException:
        for future in futures:
            future.cancel()
        wait(futures)  # those that run write into arrays that the caller is about to let go
        raise


def _forget_after_fork() -> None:
    """The child starts with no pool, and with a lock that nobody holds."""
    global _lock  # noqa: PLW0603 - the parent's lock may be held by a thread that is not here
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
