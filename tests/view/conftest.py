"""A browser for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from browser import Browser, opened_browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with opened_browser(tmp_path_factory.mktemp("profile"), (900, 600)) as opened:
        yield opened
