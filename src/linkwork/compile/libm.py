"""The C library's functions that compiled code may call, by name.

They stand apart from the op table, so that code from the cache is linked without it.
"""

from __future__ import annotations

LIBM_NAMES: tuple[str, ...] = ("sin", "cos", "atan2", "fma")
"""In compiled code their names begin with ``lw_``."""
