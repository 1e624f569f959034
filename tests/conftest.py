"""Tests keep compiled code in a folder of their own, made for this run and deleted after it."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Workers of a parallel run inherit the folder of the process that started them."""
    if not hasattr(config, "workerinput") and "LINKWORK_CACHE" not in os.environ:
        folder = tempfile.mkdtemp(prefix="linkwork-tests-")
        os.environ["LINKWORK_CACHE"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
