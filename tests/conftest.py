"""Compiled code in a folder of the run's own, deleted after it; and which tests are slow."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections import defaultdict
from hashlib import sha256
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Workers of a parallel run inherit the folder of the process that started them.

    XLA leaves most of its optimisations out: what JAX computes is looked at, and not how fast.
    """
    os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    if not hasattr(config, "workerinput") and "LINKWORK_CACHE" not in os.environ:
        folder = tempfile.mkdtemp(prefix="linkwork-tests-")
        os.environ["LINKWORK_CACHE"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_collection(session: pytest.Session) -> None:
    """What is collected stays: it took the garbage collector two fifths of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.enable()


@pytest.fixture(scope="module", autouse=True)
def _what_is_there_stays() -> None:
    """Have the garbage collector go through what a file makes, not a million objects before it."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each worker goes through its share in order, and then takes over from the others.

    So the tests of a file stay together, which share what is loaded and traced.
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling  # noqa: PLC0415  only where it is installed

    return WorkStealingScheduling(config, log)


SLOW_FOLDERS = ("benchmarks",)
"""Folders whose tests are slow, all of them: what is not of the library itself."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow the tests of `SLOW_FOLDERS`, and what sweeps leave out.

    Of a test with the mark ``sweep(n)``, n of its parameters run by default; the rest is slow.

    With ``sweep(n, by="name")`` these are n values of one parameter, with all values of the others.
    Which ones follows from their names and the file: it is the same in every process, and the tests
    of a file take the same robots, which are compiled once.
    """
    for item in items:
        if item.path.parent.name in SLOW_FOLDERS:
            item.add_marker(pytest.mark.slow)
    sweeps: dict[str, dict[bytes, list[pytest.Item]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        mark, values = item.get_closest_marker("sweep"), getattr(item, "callspec", None)
        if mark is None or values is None:
            continue
        by = mark.kwargs.get("by")
        if by is None or by in values.params:
            file, _, test = item.nodeid.partition("[")[0].partition("::")
            value = f"{file}[{values.params[by] if by else values.id}"
            sweeps[f"{file}::{test}"][sha256(value.encode()).digest()].append(item)
    for drawn in sweeps.values():
        for k, value in enumerate(sorted(drawn)):
            for item in drawn[value]:
                mark = item.get_closest_marker("sweep")
                if mark is not None and k >= mark.args[0]:
                    item.add_marker(pytest.mark.slow)
