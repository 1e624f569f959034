"""Compiled code of the face is kept under a hash of its sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from linkwork.faces.pykdl import digest as module
from linkwork.faces.pykdl.digest import digest


@pytest.fixture(autouse=True)
def _anew():
    digest.cache_clear()
    yield
    digest.cache_clear()


def test_the_same_sources_have_the_same_hash():
    first = digest()
    digest.cache_clear()
    assert digest() == first


def test_other_sources_have_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    file = tmp_path / "formula.py"
    monkeypatch.setattr(module, "__file__", str(file))
    found = set()
    for text in ("a + b", "a - b"):
        file.write_text(text, encoding="utf-8")
        digest.cache_clear()
        found.add(digest())
    assert len(found) == 2


def test_sources_that_cannot_be_read_are_shared_with_nobody(monkeypatch: pytest.MonkeyPatch):
    def refuse(self: Path) -> bytes:
        raise OSError("not here")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    first = digest()
    digest.cache_clear()
    assert digest() != first
