"""What the compiled code of this face is kept under, besides the sources that make it."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from linkwork.compile.cache import key_of


@cache
def digest() -> str:
    """A hash of this face's modules; where they cannot be read, one that no other process has."""
    try:
        files = sorted(Path(__file__).parent.glob("*.py"))
        return key_of(*[x for file in files for x in (file.name, file.read_bytes())])
    except OSError:
        return os.urandom(16).hex()
