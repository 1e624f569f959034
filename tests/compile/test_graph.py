"""Single assignments and paired multiply-adds mean what the graph meant."""

from __future__ import annotations

import casadi as cs
import numpy as np

from graph_values import of_assignments
from linkwork.compile.graph import graph_of
from linkwork.compile.optable import PAIRED
from seeds import rng
from traced_functions import mixed, read, traced


def test_pairing_keeps_the_value_and_saves_nodes():
    t = traced("mixed", {"x": 3, "y": 2}, mixed)
    plain, fused = graph_of(t, fuse=False), graph_of(t, fuse=True)
    assert len(fused.nodes) < len(plain.nodes)
    assert any(node.op is not None and node.op.name in PAIRED for node in fused.nodes)
    g = rng("pairing")
    for _ in range(50):
        x, y = g.normal(size=3), g.normal(size=2)
        expected = np.array(t.function(x, y)).ravel()
        np.testing.assert_allclose(of_assignments(plain, x, y)[0], expected, rtol=1e-14, atol=1e-14)
        np.testing.assert_allclose(of_assignments(fused, x, y)[0], expected, rtol=1e-13, atol=1e-13)


def test_each_form_of_multiply_add():
    x = cs.SX.sym("x", 3)
    a, b, c = x[0], x[1], x[2]
    forms = {"FMA": a * b + c, "FMS": a * b - c, "FNMA": c - a * b}
    for kind, expression in forms.items():
        graph = graph_of(read(cs.Function("f", [x], [expression])), fuse=True)
        assert [n.op.name for n in graph.nodes if n.op is not None] == [kind]
        ((value,),) = of_assignments(graph, np.array([3.0, 5.0, 7.0]))
        assert value == {"FMA": 22, "FMS": 8, "FNMA": -8}[kind]


def test_a_product_that_is_used_twice_is_not_paired():
    x = cs.SX.sym("x", 3)
    product = x[0] * x[1]
    graph = graph_of(read(cs.Function("f", [x], [product + x[2], product])), fuse=True)
    assert all(node.op is not PAIRED["FMA"] for node in graph.nodes)


def test_every_node_is_needed_and_comes_after_its_arguments():
    graph = graph_of(traced("mixed", {"x": 3, "y": 2}, mixed), fuse=True)
    used = {p for output in graph.outputs for p in output.values()}
    for k, node in enumerate(graph.nodes):
        if node.kind not in ("input", "const"):
            assert all(a < k for a in node.args)
            used.update(node.args)
    assert used == set(range(len(graph.nodes)))
