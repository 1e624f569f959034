"""What is asked of pages that are served."""

from __future__ import annotations

import json
import re
import time
from typing import Any
from urllib.request import urlopen


def data_of(text: str) -> Any:
    """What a page shows, from its text."""
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def page_of(viewer: Any) -> Any:
    """What the page of a viewer shows."""
    with urlopen(viewer.url) as answer:
        return data_of(answer.read().decode())


def until(what: Any, seconds: float = 5.0) -> None:
    """Wait until something holds."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.005)
