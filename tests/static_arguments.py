"""Arguments of algorithms that are fixed before tracing, for tests that go over all of them."""

from __future__ import annotations

from linkwork.algorithms.registry import find
from linkwork.mechanism.model import Mechanism


def static_of(algorithm: str, m: Mechanism, frame: str) -> dict[str, str]:
    """The frames that an algorithm takes: the one that is named, relative to the first link."""
    given = {"base": m.frame_names[0], "frame": frame}
    return {key: name for key, name in given.items() if key in find(algorithm).static}
