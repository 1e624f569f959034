"""JavaScript of kernels, run under Node and compared with the kernels they stand for."""

from __future__ import annotations

import itertools

import casadi as cs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwork as lw
from dynamics_cases import random_inputs, static_of
from graph_values import of_traced
from linkwork.compile import js_source as module
from linkwork.compile.graph import graph_of
from linkwork.compile.js_source import js_source, number
from linkwork.compile.kernel import build
from linkwork.compile.optable import OP_TABLE
from linkwork.compile.recipe import Signature
from linkwork.compile.tracing import Traced, trace
from linkwork.errors import InputError
from linkwork.ops.graph import ExpressionGraph
from node import run_js
from robots import (
    chain_urdf,
    every_joint_urdf,
    mechanism_from,
)
from seeds import rng
from traced_functions import mixed, traced

EDGES = [
    *(float(x) for x in "0 -0 1 -1 0.5 -0.5 2 3.7 -8.25 1e-300 5e-324 1e300 -1e300 1e16".split()),
    *(float(x) for x in "1.5707963267948966 1e6 0.1 -0.9999999 1.0000001 inf -inf nan".split()),
]
ELEMENTARY = {"SIN", "COS", "ATAN2"}
ULPS = 2
"""The elementary functions of V8 stay this near to NumPy's; measured: 1."""


def text_of(t, **how) -> str:
    return js_source(graph_of(t, fuse=False), t.signature, **how)


def run(t, *arrays, name="f") -> np.ndarray:
    """The function for each row of the arrays (n, k)."""
    call = f"return given[0].map((_, k) => {name}(...given.map((a) => a[k])));"
    return np.array(
        run_js(f"{text_of(t, name=name)}\n{call}", [np.asarray(a, float) for a in arrays])
    )


def own_graph(build_graph, n_in: int) -> Traced:
    """A graph as `build_graph` makes it node by node, nothing of it simplified."""
    graph = ExpressionGraph()
    inputs = [graph.input(0, k) for k in range(n_in)]
    outputs = tuple(build_graph(graph, inputs))
    order = graph.needed([outputs])
    signature = Signature("f", ("x",), ((n_in,),), ("y",), ((len(outputs),),), len(order))
    return Traced(signature, graph, (outputs,), tuple(order))


def same(found, expected, *, ulps: float = 0) -> np.ndarray:
    """Whether numbers are alike, NaN and the sign of zero included."""
    found, expected = np.asarray(found), np.asarray(expected)
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= ulps * np.spacing(np.abs(expected))
    equal = (found == expected) & (np.signbit(found) == np.signbit(expected))
    return equal | near | (np.isnan(found) & np.isnan(expected))


# --- operations ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def operations():
    """Every operation of the table at every edge: its values in JavaScript."""
    text, points = [], {}
    for op in OP_TABLE.values():
        t = own_graph(lambda g, x, op=op: [g.node(op.name, *x)], op.arity)
        text.append(text_of(t, name=f"op_{op.name.lower()}"))
        points[op.name] = list(itertools.product(EDGES, repeat=op.arity))
    calls = ",".join(
        f"{name}: given.{name}.map((x) => op_{name.lower()}(x)[0])" for name in OP_TABLE
    )
    return points, run_js("\n".join(text) + f"\nreturn {{{calls}}};", points)


@pytest.mark.parametrize("name", sorted(OP_TABLE))
def test_every_operation_of_the_table(name, operations):
    points, found = operations[0][name], np.array(operations[1][name])
    with np.errstate(all="ignore"):
        expected = np.array([float(OP_TABLE[name].numpy(*map(np.float64, p))) for p in points])
    good = same(found, expected, ulps=ULPS * (name in ELEMENTARY))
    if name in ("FMIN", "FMAX"):  # of 0 and -0 either may be the smaller one
        good |= (found == 0) & (expected == 0)
    wrong = np.flatnonzero(~good)
    assert wrong.size == 0, [(points[k], found[k], expected[k]) for k in wrong[:5]]


def test_elementary_functions_stay_near_numpys():
    g = rng("elementary in js")
    x = np.concatenate([g.normal(size=2000) * s for s in (0.1, 1.0, 10.0, 1e4)])
    pairs = np.column_stack([x, g.permutation(x)])
    t = traced(
        "e", {"x": 2}, lambda x: cs.vertcat(cs.sin(x[0]), cs.cos(x[0]), cs.atan2(x[0], x[1]))
    )
    expected = np.column_stack([np.sin(x), np.cos(x), np.arctan2(*pairs.T)])
    assert same(run(t, pairs), expected, ulps=ULPS).all()


EXACT = sorted(set(OP_TABLE) - ELEMENTARY)


@pytest.mark.parametrize("sample", range(8))
def test_any_nest_of_operations_is_computed_as_it_stands(sample):
    """Brackets, signs beside signs, truth values as numbers and numbers as truth values."""
    g = rng(f"nests of operations {sample}")

    def graph(e, x):
        made = [*x, *(e.constant(c) for c in (0.5, -2.0, 1e-9, -1.0, 3.0, np.inf))]
        for _ in range(150):
            op = OP_TABLE[EXACT[g.integers(len(EXACT))]]
            near = made[-12:] if g.random() < 0.7 else made
            made.append(e.node(op.name, *(near[k] for k in g.integers(len(near), size=op.arity))))
        return [*made[-40:], x[0], x[0], made[8], 0, made[-1]]

    t = own_graph(graph, 3)
    x = np.column_stack([g.choice(EDGES, 60), g.normal(size=60), g.choice([0.0, 1.0, -3.0], 60)])
    with np.errstate(all="ignore"):
        expected = of_traced(t, x).reshape(len(x), -1)
    found = run(t, x)
    good = same(found, expected) | ((found == 0) & (expected == 0))
    assert good.all(), np.argwhere(~good)[:5]


@settings(max_examples=300)
@given(st.floats(allow_nan=False, width=64))
def test_constants_are_the_shortest_text_that_reads_back(value):
    text = number(value)
    assert float(text.replace("Infinity", "inf")) == value
    assert np.isinf(value) or len(text) <= len(repr(value))


def test_constants_are_read_back_by_the_engine():
    g = rng("constants in js")
    values = [*g.normal(size=50), *(10.0 ** g.uniform(-300, 300, 50)), 0.1, 5e-324, 1e22, 1e21,
              -1.7976931348623157e308, 123456789.0, -3.0, 1200.0, 1e5, 0.001, np.inf]  # fmt: skip
    t = own_graph(lambda e, x: [e.constant(v) for v in values], 1)
    assert run(t, [[0.0]])[0].tolist() == values


# --- functions -----------------------------------------------------------------------------------


def check(m, name, rows=5, tolerance=1e-12):
    t = trace(name, m, **static_of(name, m, m.frame_names[m.n_link_frames - 1]))
    arrays = random_inputs(name, m, rng(f"js {name}"), rows)
    expected = build(t)(*arrays).reshape(rows, -1)
    found = run(t, *arrays)
    scale = np.maximum(1.0, np.abs(expected).max(axis=1, initial=0.0))[:, None]
    assert (np.abs(found - expected) / scale).max(initial=0.0) <= tolerance


@pytest.mark.sweep(2)
@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize(
    "name", ["fk_all", "jacobian", "integrate", "difference", "all_positions", "mass_matrix"]
)
def test_every_type_of_joint_agrees_with_the_kernel(name, base):
    check(mechanism_from(every_joint_urdf(), base=base), name)


OPEN = ["panda", "ur5e", "scara", "puma560", "humanoid", "quadruped", "mobile_arm", "two_arm_torso"]
CLOSED = ["four_bar", "five_bar", "slider_crank", "delta", "stewart", "excavator", "gripper",
          "linkage_leg", "double_wishbone", "triped_leg", "triped"]  # fmt: skip


@pytest.mark.sweep(3)
@pytest.mark.parametrize("robot", OPEN)
def test_poses_of_robots_agree_with_the_kernel(robot):
    """Those of real robots are in tests/view/test_kinematics_js.py."""
    check(lw.load(robot).mechanism, "fk_all")


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ["closure", "closure_jacobian"])
@pytest.mark.parametrize("robot", CLOSED)
def test_closures_agree_with_the_kernel(robot, name):
    check(lw.load(robot).mechanism, name)


def test_couplings_by_functions_agree_with_the_kernel():
    robot = lw.load("planar_3r")
    first, second, third = robot.joint_names
    tied = robot.with_coupling(third, (first, second), lambda a, b: np.sin(a) * b - 0.25 * a)
    for name in ("closure", "closure_jacobian"):
        check(tied.mechanism, name)


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, pytest.param(150, marks=pytest.mark.slow)])
def test_long_mechanisms_are_written_in_parts(n):
    m = mechanism_from(chain_urdf(n))
    check(m, "fk_all", rows=2)


def test_parts_give_the_same_bits(monkeypatch):
    m = mechanism_from(every_joint_urdf(), base="floating")
    t = trace("mass_matrix", m)
    q = random_inputs("mass_matrix", m, rng("parts"), 4)
    whole = run(t, *q)
    monkeypatch.setattr(module, "LONGEST_PART", 40)
    text = text_of(t, name="f")
    assert text.count("\nfunction f_$") > 10
    assert np.array_equal(run(t, *q), whole)


def test_outputs_are_made_or_filled_whole():
    t = trace("fk", lw.load("planar_2r").mechanism, frame="tool0")
    found = run_js(
        text_of(t, name="f")
        + "const own = new Float64Array(16).fill(7); const same = f([0.1, 0.2], own) === own;"
        + "return {own, same, made: f(Float64Array.of(0.1, 0.2))};"
    )
    assert found["same"] is True
    assert found["own"] == found["made"]


def test_names_of_inputs_may_be_those_of_functions_and_variables():
    inputs = {"s": 1, "c": 1, "W": 1, "a": 1, "new": 1, "f": 1, "out": 1, "1 é": 1}
    t = traced("f", inputs, lambda *x: cs.vertcat(cs.sin(x[0]), *[2.0 * v * v for v in x]))
    found = run(t, *[[[float(k)]] for k in range(8)], name="g")[0]
    assert found.tolist() == [0.0, *[2.0 * k * k for k in range(8)]]


@pytest.mark.parametrize("name", ["2x", "a b", "let", "class", "Math", "é", "a;", "int", "await"])
def test_a_name_that_javascript_does_not_take_is_refused(name):
    with pytest.raises(InputError, match="a name for a JavaScript function"):
        text_of(traced("f", {"x": 1}, lambda x: x), name=name)


@pytest.mark.parametrize("robot", ["*/ let x; /*", "a\nb", "日本", "</script>", "", "class"])
def test_any_robot_name_gives_a_valid_text(robot):
    t = traced("mixed", {"x": 3, "y": 2}, mixed)
    text = text_of(t, about={"robot": robot, "frame": robot}, labels={"x": [robot] * 3})
    assert run_js(f"{text}\nreturn 1;") == 1


def test_the_kernel_gives_it():
    robot = lw.load("ur5e")
    kernel = robot.kernel("fk", "tool0")
    text = kernel.js_source()
    assert "q: in, 6 numbers" in text
    assert "[2] joint 'elbow_joint'" in text
    assert "const ur5e_fk_tool0 = " in text
    q = robot.random(seed=1)
    found = run_js(f"{text}\nreturn ur5e_fk_tool0(given);", q)
    np.testing.assert_allclose(np.reshape(found, (4, 4)), kernel(q), rtol=0, atol=1e-14)
