"""Loops found in graphs, and long mechanisms within expressions, against what is written out."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from dynamics_cases import solid
from linkwork.compile.compiler import Compiler
from linkwork.compile.graph_loops import loops_of
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import Recipe, expression_recipe
from linkwork.compile.rolled import Loops
from linkwork.compile.target import new_module
from linkwork.compile.tracing import trace_function
from linkwork.mechanism.model import Mechanism
from linkwork.ops.numpy import NUMPY
from linkwork.simulation.equation_of_motion import System
from linkwork.simulation.integrators import RK4
from linkwork.simulation.native_rollout import rollout_loop
from linkwork.simulation.time_loop import recipes_of
from linkwork.solve.expressions import expressions_of
from linkwork.solve.inputs import Options, settings_of
from linkwork.solve.objectives import NearPosture
from linkwork.solve.problem import make_problem
from linkwork.solve.tasks import CenterOfMass, Direction, Pose, Position, RelativePose
from robots import every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng

HOST = Compiler()


def chain(n: int, types=("revolute", "prismatic"), **given) -> Mechanism:
    return mechanism_from(
        solid(random_tree(rng("chain"), n, types, mimic=0.1, shape="chain")), **given
    )


def in_loops(sizes, function) -> Kernel:
    """A function of vectors, all of it made loops."""
    traced = trace_function("function", sizes, function)
    return build(Recipe((), lambda: traced, roll=lambda: loops_of(traced)), compiler=HOST)


def agrees(kernel: Kernel, rows: list[np.ndarray], expected, *, atol: float) -> None:
    got = kernel(*rows)
    np.testing.assert_allclose(got, expected, rtol=0, atol=atol)
    assert np.array_equal(kernel(*[row[0] for row in rows]), got[0])  # the scalar code's bits


def test_sums_choices_and_single_expressions():
    n = 40
    weights = rng("weights").normal(size=n)

    def function(o, x, y):
        z = [weights[k] * x[k] + (o.sin(y[k]) if k % 3 else y[k]) for k in range(n)]
        chosen = [o.select(o.less(a, 0.0), o.minimum(a, y[0]), a * x[k]) for k, a in enumerate(z)]
        total = sum(z[1:], z[0])
        away = x[0]
        for k, a in enumerate(chosen):
            away = away - a if k % 2 else away + a
        least, most = z[0], chosen[0]
        for a, b in zip(z, chosen, strict=True):
            least, most = o.minimum(least, a), o.maximum(b, most)
        mean = total / n
        spread = [(a - mean) * (a - mean) for a in z]
        pairs = [o.dot(o.vector(z[k:]), o.vector(z[: n - k])) for k in range(5)]
        numbers = [total, away, least, most, sum(spread[1:], spread[0]), 0.0, 2.5, *pairs]
        return {"numbers": o.concat([o.vector(numbers), o.vector(chosen), x, o.vector(spread)])}

    kernel = in_loops({"x": n, "y": n}, function)
    rows = [rng(name).normal(size=(11, n)) for name in "xy"]
    expected = [function(NUMPY, *row)["numbers"] for row in zip(*rows, strict=True)]
    agrees(kernel, rows, expected, atol=1e-12)
    assert kernel.recipe.rolled().program.n_assignments < 350


def test_few_numbers_and_none():
    kernel = in_loops({"x": 3}, lambda o, x: {"y": o.vector([x[2], x[0] * x[1], 0.0])})
    assert kernel([2.0, 3.0, 5.0]).tolist() == [5.0, 6.0, 0.0]
    nothing = in_loops({"x": 0}, lambda o, x: {"y": o.const([4.0, 0.0])})
    assert nothing(np.zeros(0)).tolist() == [4.0, 0.0]


def last_link(m: Mechanism) -> str:
    return m.frame_names[int(np.flatnonzero(m.frame_body[: m.n_link_frames] == m.n_bodies - 1)[0])]


MECHANISMS = {
    "chain": lambda: chain(14),
    "tree of all types": lambda: mechanism_from(every_joint_urdf()),
    "floating tree": lambda: mechanism_from(
        solid(random_tree(rng("mixed"), 9, mimic=0.0)), base="floating"
    ),
}
TASKS = {
    "pose": lambda m: [Pose(last_link(m))],
    "priorities": lambda m: [
        Position(last_link(m)),
        Position(m.frame_names[2], priority=1),
        CenterOfMass(priority=2),
    ],
    "other frames": lambda m: [
        Pose(last_link(m)),
        RelativePose(last_link(m), m.frame_names[3]),
        Direction(m.frame_names[4], axis=(0.0, 1.0, 0.0)),
    ],
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("tasks", TASKS)
@pytest.mark.parametrize("kind", MECHANISMS)
def test_expressions_of_inverse_kinematics(kind: str, tasks: str):
    m = MECHANISMS[kind]()
    objectives = [NearPosture()] if tasks == "priorities" else []
    problem = make_problem(m, TASKS[tasks](m), objectives=objectives)
    expressions = expressions_of(problem)
    settings = settings_of(problem, Options())
    random, n = rng(f"{kind} {tasks}"), 9
    parameters = random.uniform(-1.0, 1.0, (n, expressions.n_parameters))
    q = np.array([random_configuration(random, m) for _ in range(n)])
    given = [q[:, list(problem.moved)], parameters, np.tile(settings, (n, 1))]
    sizes = {"x": expressions.n, "parameters": expressions.n_parameters, "settings": len(settings)}

    def function(o, x, parameters, settings):
        found = expressions.iterate(o, x, parameters, settings)
        seen = expressions.verify(o, x, o.const(q[0]), parameters, settings)
        return {"all": o.concat([found["x"], found["state"], seen["q"], seen["measures"]])}

    recipe = expression_recipe((), "ik", sizes, function, loops=Loops(always=True))
    assert recipe.rolled() is not None
    with np.errstate(all="ignore"):
        expected = np.array([function(NUMPY, *row)["all"] for row in zip(*given, strict=True)])
    agrees(build(recipe, compiler=HOST), given, expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("n", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_inverse_kinematics_of_a_long_chain(n: int):
    robot = lw.Robot(chain(n, ("revolute",)))
    random = rng(f"long {n}")
    q = np.array([random_configuration(random, robot.mechanism) for _ in range(30)])
    tip = last_link(robot.mechanism)
    targets = robot.fk(q, tip)
    found = robot.ik(targets, tip, q0=q + random.normal(scale=0.02, size=q.shape))
    assert found.success.all()
    np.testing.assert_allclose(robot.fk(found.q, tip), targets, atol=1e-4)
    alone = robot.ik(targets[3], tip, q0=q[3])
    assert alone.success
    again = robot.ik(targets, tip, q0=found.q, threads=2)
    assert np.array_equal(again.q, robot.ik(targets, tip, q0=found.q).q)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["rk4", "implicit"])
def test_roll_outs_of_a_long_chain(method: str):
    robot = lw.Robot(chain(52, ("revolute",)))
    random, h, gravity = rng("roll-out"), 1e-4, (0.0, 1.0, -2.0)
    q, v = random.normal(size=(2, robot.n_q))
    found = lw.simulate(robot, q, v, duration=3 * h, dt=h, method=method, gravity=gravity)

    def rates(q, v):
        return v, robot.forward_dynamics(q, v, np.zeros(robot.n_v), gravity=gravity)

    for _ in range(3):
        a = rates(q, v)
        b = rates(q + 0.5 * h * a[0], v + 0.5 * h * a[1])
        c = rates(q + 0.5 * h * b[0], v + 0.5 * h * b[1])
        d = rates(q + h * c[0], v + h * c[1])
        q, v = (x + h / 6.0 * (a[k] + 2.0 * b[k] + 2.0 * c[k] + d[k]) for k, x in enumerate((q, v)))
    moved = np.abs(q - found.q[0]).max()
    np.testing.assert_allclose(found.q[-1], q, atol=1e-9 if method == "rk4" else 1e-2 * moved)


@pytest.mark.slow
def test_the_code_of_a_roll_out_does_not_grow_with_the_joints():
    lines: list[int] = []
    for n in (500, 1000):
        system = System(
            mechanism_from(solid(random_tree(rng("long"), n, shape="chain", mimic=0.0)))
        )
        graphs = {name: each.code(fused=True) for name, each in recipes_of(system, RK4).items()}
        module = new_module("rollout", HOST.target)
        rollout_loop(module, graphs, system, RK4, HOST.target)
        lines.append(str(module).count("\n"))
    assert lines[1] < 1.1 * lines[0]
