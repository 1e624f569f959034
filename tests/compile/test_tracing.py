"""Traces and recipes: names, row-major shapes, shared subexpressions, keys."""

from __future__ import annotations

import json
from collections.abc import Sequence

import casadi as cs
import numpy as np
import pytest

import linkwork.compile.tracing as tracing
from dynamics_cases import solid, static_of
from graph_values import of_assignments, of_graph, of_traced
from linkwork import load
from linkwork.algorithms.configuration import random
from linkwork.algorithms.independent_rows import check_movable
from linkwork.algorithms.registry import ALGORITHMS, evaluate
from linkwork.compile.graph import graph_of
from linkwork.compile.kernel import build
from linkwork.compile.optable import PAIRED
from linkwork.compile.recipe import (
    Recipe,
    Signature,
    algorithm_recipe,
    expression_recipe,
    recipe_of,
    size,
)
from linkwork.errors import UnknownNameError
from linkwork.mechanism.edit import actuate, close
from linkwork.ops.graph import ExpressionGraph, GraphOps
from linkwork.ops.numpy import NUMPY
from robots import every_joint_urdf, mechanism_from
from seeds import rng
from traced_functions import mixed, read, traced


def test_matrices_and_lists_are_row_major():
    def text(o, x):
        matrix = o.transpose(o.matrix([o.part(x, 0, 3), o.part(x, 3, 6)]))
        return {"matrix": matrix, "list": [matrix, 2 * matrix], "column": o.matrix([x])}

    t = tracing.trace_function("f", {"x": 6}, text)
    assert t.signature.output_shapes == ((2, 3), (2, 2, 3), (6,))
    values = of_graph(t.graph, t.outputs, [np.arange(6.0)])
    matrix, listed, column = ([values[k] for k in numbers] for numbers in t.outputs)
    assert np.array_equal(matrix, np.arange(6.0))
    assert np.array_equal(listed, [*np.arange(6.0), *2 * np.arange(6.0)])
    assert np.array_equal(column, np.arange(6.0))
    with pytest.raises(ValueError, match="one shape"):
        tracing.trace_function("f", {"x": 6}, lambda o, x: {"list": [x, o.part(x, 0, 2)]})


def test_repeated_work_is_shared_between_outputs():
    def text(o, x):
        return {"a": o.sin(x[0]) * o.sin(x[0]), "b": o.sin(x[0]) + x[1]}

    t = tracing.trace_function("f", {"x": 2}, text)
    assert [t.graph.operations[k] for k in t.order].count("SIN") == 1
    assert t.signature.output_names == ("a", "b")


@pytest.mark.sweep(7)
@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_every_algorithm_traces_to_its_stated_shape_and_values(name):
    m = mechanism_from(solid(every_joint_urdf()))
    entry = ALGORITHMS[name]
    if entry.needs_loops:
        m = actuate(close(m, "camera", "finger_c", "distance", distance=0.1), "elbow")
    static = static_of(name, m, m.frame_names[-1])
    t = tracing.trace(name, m, **static)
    assert t.signature.output_shapes == (entry.output(m),)
    g = rng(f"trace {name}")
    arrays = [
        random(m, g, 1)[0] if kind == "q" else g.normal(size=m.n_v) for _, kind in entry.inputs
    ]
    (traced,) = of_traced(t, *(array[None] for array in arrays))
    expected = evaluate(name, m, *arrays, **static)
    scale = max(1.0, float(np.abs(expected).max(initial=0.0)))
    within = 1e-9 if check_movable in entry.needs else 1e-13  # of what divides by masses
    np.testing.assert_allclose(traced, expected, rtol=0, atol=within * scale)


def test_an_algorithm_that_does_not_exist():
    with pytest.raises(UnknownNameError, match="jacobian"):
        tracing.trace("jacobien", mechanism_from(every_joint_urdf()))


# --- Single assignments and paired multiply-adds mean what the graph meant ---


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


# -------------------------------------------------------------------------------------- negations


def results(graph: ExpressionGraph, outputs: Sequence[Sequence[int]], x: np.ndarray) -> np.ndarray:
    values = of_graph(graph, outputs, [x])
    return np.array([values[k] for k in outputs[0]])


def negations(t: tracing.Traced) -> int:
    return sum(t.graph.operations[k] == "NEG" for k in t.order)


def test_sums_and_products_take_the_sign_of_what_is_held_the_other_way_round():
    def function(o, x):
        a = x[0] * x[1] - x[2] * x[3]
        return {"y": o.vector([-a, a * x[4] + x[5], x[5] - a, -2.0 * (a / x[4]), -x[0] - a])}

    t = tracing.trace_function("f", {"x": 6}, function)
    assert negations(t) == 0
    x = np.array([0.3, -0.7, 1.1, 0.9, -1.3, 0.2])
    assert np.array_equal(results(t.graph, t.outputs, x), function(NUMPY, x)["y"])


@pytest.mark.parametrize("name", ["fk_all", "jacobian", "com_jacobian", "mass_matrix"])
def test_fewer_negations_change_no_value(name: str):
    m, o = load("humanoid").mechanism, GraphOps()
    static = static_of(name, m, "left_wrist_roll_link")
    t = tracing.trace(name, m, **static)
    outputs = (tracing.row_major(o, evaluate(name, m, o.input(0, m.n_q), **static))[0],)
    q = random(m, rng(f"signs {name}"), 1)[0]
    assert np.array_equal(results(t.graph, t.outputs, q), results(o.graph, outputs, q))
    before = sum(o.graph.operations[k] == "NEG" for k in o.graph.needed(outputs))
    assert negations(t) < before


# -------------------------------------------------------------------------- recipes and signatures


def test_tracing_happens_once_and_late():
    calls = []

    def trace():
        calls.append(1)
        return traced("mixed", {"x": 3, "y": 2}, mixed)

    recipe = Recipe(("a", "b"), trace)
    assert not calls
    assert recipe.traced() is recipe.traced()
    assert recipe.graph(fused=True).nodes
    assert len(calls) == 1
    t = recipe.traced()
    assert recipe_of(t).traced() is t
    assert recipe_of(t).key == ()


def test_keys_tell_algorithms_mechanisms_arguments_and_parameters_apart():
    m = mechanism_from(every_joint_urdf())
    other = mechanism_from(every_joint_urdf(), base="floating")
    first, last = m.frame_names[0], m.frame_names[-1]
    recipes = [
        algorithm_recipe("fk", m, frame=last),
        algorithm_recipe("fk", m, frame=first),
        algorithm_recipe("fk", other, frame=last),
        algorithm_recipe("jacobian", m, frame=last),
        algorithm_recipe("jacobian", m, frame=last, reference="local"),
        algorithm_recipe("fk", m, (f"xyz:{last}",), frame=last),
        algorithm_recipe("fk", m, (f"rpy:{last}",), frame=last),
        algorithm_recipe("com", m),
    ]
    assert len({recipe.key for recipe in recipes}) == len(recipes)
    again = algorithm_recipe("jacobian", m, reference="local", frame=last)
    assert again.key == recipes[4].key
    assert again.about == {"robot": m.name, "frame": last, "reference": "local"}
    assert recipes[0].traced().signature.name == "fk"


def test_a_text_in_operations_is_traced():
    def text(o, x, y):
        assert o.name == "graph"
        return {"sum": x + 2.0 * y}

    recipe = expression_recipe(("text",), "sum", {"x": 2, "y": 2}, text)
    assert recipe.key == ("text",)
    found = build(recipe)([1.0, 2.0], [10.0, 20.0])
    assert found.tolist() == [21.0, 42.0]


# --- Signatures: what goes to the cache comes back, and nothing else is taken ---


def test_goes_through_json_unchanged():
    signature = traced("mixed", {"x": 3, "y": 2}, mixed).signature
    assert Signature.from_facts(json.loads(json.dumps(signature.to_facts()))) == signature
    assert signature.input_sizes == (3, 2)
    assert signature.output_sizes == (6,)
    assert signature.instructions > 10


@pytest.mark.parametrize("missing", ["name", "input_shapes", "instructions"])
def test_facts_that_are_not_whole_are_no_signature(missing):
    facts = traced("mixed", {"x": 3, "y": 2}, mixed).signature.to_facts()
    del facts[missing]
    with pytest.raises(KeyError):
        Signature.from_facts(facts)


def test_sizes():
    assert [size(()), size((4, 4)), size((0, 3))] == [1, 16, 0]
