"""The C library's functions that compiled code may call, by name.

They stand apart from the op table, so that code from the cache is linked without it.
"""

from __future__ import annotations

LIBM_NAMES: tuple[str, ...] = (
    "fmod", "remainder", "pow", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf",
    "sin", "cos", "tan", "atan", "atan2", "exp", "expm1", "log", "log1p", "hypot", "erfc",
    "fma",
)  # fmt: skip
"""In compiled code their names begin with ``lw_``."""
