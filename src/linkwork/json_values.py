"""Results as JSON takes them; needs no NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast


def as_json(value: Any) -> Any:
    """Dicts, lists and Python's own numbers; None for what JSON has no number for."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value).items()
        return {str(key): as_json(item) for key, item in pairs}
    if hasattr(value, "tolist"):  # an array, or a number of NumPy's
        return as_json(value.tolist())
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in cast("list[Any]", value)]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
