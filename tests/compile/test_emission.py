"""The module of a version: rows, and the fast call beside one configuration only."""

from __future__ import annotations

from dataclasses import replace

import pytest

from linkwork.compile.emission import write_module
from linkwork.compile.graph import graph_of
from linkwork.compile.numpy_abi import array_abi
from linkwork.compile.target import host
from traced_functions import mixed, traced


@pytest.mark.parametrize("width", [1, 8])
def test_which_functions_a_module_has(width):
    t = traced("mixed", {"x": 3, "y": 2}, mixed)
    graph = graph_of(t, fuse=True)
    module, scratch = write_module(t.signature, graph, host(), (width, 100))
    names = {function.name for function in module.functions if not function.is_declaration}
    assert "rows" in names
    assert ("fast_call" in names) == (width == 1 and array_abi() is not None)
    assert scratch == 0
    assert module.triple == host().triple


def test_several_outputs_have_no_fast_call():
    t = traced("mixed", {"x": 3, "y": 2}, mixed)
    doubled = replace(
        t.signature,
        output_names=("a", "b"),
        output_shapes=t.signature.output_shapes * 2,
    )
    module, _ = write_module(doubled, graph_of(t, fuse=True), host(), (1, 100))
    assert "fast_call" not in {function.name for function in module.functions}
