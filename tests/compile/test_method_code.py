"""The code of the dispatchers: one for a process, from the cache where it is there."""

from __future__ import annotations

import numpy as np
import pytest

from linkwork.compile import method_code
from linkwork.compile.cache import Cache
from linkwork.compile.compiler import Compiler
from linkwork.compile.dispatch import dispatcher
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.target import host

needs_layout = pytest.mark.skipif(
    array_abi() is None, reason="this Python does not lay out arrays as dispatchers need"
)


class Thing:
    """What a dispatcher calls on its general way."""

    def double(self, x, how=None):
        """Twice x."""
        return 2.0 * x


@needs_layout
def test_dispatchers_of_kept_code_work(tmp_path):
    for _ in range(2):
        code = method_code.dispatch_code(Compiler(host(), Cache(tmp_path / "c")))
        assert code is not None
        bound = lambda how: np.negative
        made = dispatcher(code, Thing.double, Thing(), bound, arrays=1, choices=("how",))
        x = np.arange(3.0)
        assert np.array_equal(made(x), 2 * x)  # the general way, which remembers the bound one
        assert np.array_equal(made(x), -x)
    assert len(list((tmp_path / "c").glob("*.kernel"))) == 1


def test_no_code_where_layouts_are_unknown(monkeypatch):
    monkeypatch.setattr(method_code, "array_abi", lambda: None)
    assert method_code.dispatch_code(Compiler(host())) is None
