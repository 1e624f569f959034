"""The names of the C library: what the op table and the vector functions call, and no more."""

from __future__ import annotations

from linkwork.compile.libm import LIBM_NAMES
from linkwork.compile.optable import OP_TABLE

# what the vector functions leave to the library beyond their range, and what error functions need
FALLBACKS = {"sin", "cos", "tan", "atan", "atan2", "exp", "expm1", "log", "log1p", "hypot"}


def test_the_list_is_what_the_table_calls():
    called = {op.libm for op in OP_TABLE.values() if op.libm}
    assert set(LIBM_NAMES) == called | FALLBACKS | {"erfc", "fma"}
    assert len(set(LIBM_NAMES)) == len(LIBM_NAMES)
