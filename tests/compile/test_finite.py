"""What has to be looked at to find all that is not finite."""

from __future__ import annotations

import casadi as cs
import numpy as np
import pytest

from linkwork.compile.finite import to_be_tested
from linkwork.compile.graph import graph_of
from seeds import rng
from traced_functions import read


def looked_at(x, *results):
    graph = graph_of(read(cs.Function("f", [x], [cs.vertcat(*results)])), fuse=True)
    positions, elements = to_be_tested(graph)
    found = {e for e, p in graph.outputs[0].items() if p in positions}
    return found, elements[0]


def test_a_value_that_another_one_shows_need_not_be_looked_at():
    x = cs.SX.sym("x", 3)
    first = x[0] * x[1] + 1
    assert looked_at(x, first, cs.sin(first) - x[2]) == ({1}, set())


def test_inputs_that_no_result_shows_are_looked_at():
    x = cs.SX.sym("x", 4)
    assert looked_at(x, x[1] + x[2], 1) == ({0}, {0, 3})
    assert looked_at(x, x[0], x[1]) == (set(), {0, 1, 2, 3})


@pytest.mark.parametrize(
    "hide",
    [
        lambda a: 1 / a,
        lambda a: 2.0 / (1 + a),
        lambda a: cs.atan2(a, 1),
        lambda a: cs.fmin(a, 1),
        lambda a: a > 0,
        lambda a: cs.if_else(a > 0, a, 1.0),
    ],
)
def test_what_hides_an_infinity_does_not_count(hide):
    x = cs.SX.sym("x", 1)
    assert looked_at(x, hide(x * 2)) == ({0}, {0})
    assert looked_at(x, x * 2, hide(x * 2) + 1) == ({0, 1}, set())


def random_graph(random):
    x = cs.SX.sym("x", 4)
    values = [x[k] for k in range(4)]
    operations = [
        lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a * b + a,
        lambda a, b: a / b, cs.fmax, lambda a, _: cs.atan2(a, 1),
        lambda a, _: -a, lambda a, _: a * a, lambda a, b: cs.if_else(a > b, b, 2),
    ]  # fmt: skip
    for _ in range(12):
        a, b = (values[k] for k in random.integers(len(values), size=2))
        values.append(operations[random.integers(len(operations))](a, b))
    chosen = [values[k] for k in random.integers(len(values), size=3)]
    return graph_of(read(cs.Function("f", [x], [cs.vertcat(*chosen)])), fuse=True)


def evaluate(graph, x):
    """All values of a graph, by NumPy."""
    values = []
    for node in graph.nodes:
        if node.kind == "input":
            values.append(x[node.args[1]])
        elif node.kind == "const":
            values.append(np.float64(node.value))
        else:
            arguments = [values[a] for a in node.args]
            values.append(node.op.numpy(*arguments))
    return values


def test_no_input_and_no_result_that_is_not_finite_is_missed():
    random = rng("missed")
    specials = np.array([0.0, 1.0, -2.0, 1e200, -1e200, 1e308, np.inf, -np.inf, np.nan])
    with np.errstate(all="ignore"):
        for _ in range(150):
            graph = random_graph(random)
            positions, elements = to_be_tested(graph)
            for _ in range(20):
                x = random.choice(specials, size=4, p=[0.15] * 4 + [0.1] * 2 + [0.2 / 3] * 3)
                values = evaluate(graph, x)
                computed = [p for p in graph.outputs[0].values() if graph.nodes[p].kind != "const"]
                results = [values[p] for p in computed]
                bad = not np.isfinite([*x, *results]).all()
                seen = [values[p] for p in positions] + [x[e] for e in elements[0]]
                assert bad == (not np.isfinite(seen).all())
