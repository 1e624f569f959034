"""The list of algorithms, and what holds of each: back ends, shapes, costs, what is refused."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import casadi as cs
import numpy as np
import pytest

import linkwork as lw
from dynamics_cases import case, small_mechanisms, solid
from graph_values import of_traced
from linkwork.algorithms.independent_rows import check_movable
from linkwork.algorithms.jacobian import REFERENCES
from linkwork.algorithms.registry import ALGORITHMS, evaluate, find
from linkwork.algorithms.sweep import InPasses
from linkwork.compile.tracing import trace
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.dynamics_checks import check_inertias
from linkwork.mechanism.model import Mechanism
from linkwork.ops.graph import GraphOps
from robots import (
    chain_urdf,
    every_joint_urdf,
    example_robot_urdfs,
    mechanism_from,
    random_configuration,
)
from seeds import rng

OF_TREES = [name for name, entry in ALGORITHMS.items() if not entry.needs_loops]
FRAMED = [name for name in OF_TREES if "reference" in ALGORITHMS[name].static]


def static_of(name: str, m: Mechanism) -> dict[str, str]:
    """Static arguments: the last frame in the first one, in axes of its own."""
    given = {"base": m.frame_names[0], "frame": m.frame_names[-1], "reference": "local"}
    return {key: given[key] for key in ALGORITHMS[name].static}


def inputs(name: str, m: Mechanism, n: int) -> list[np.ndarray]:
    random = rng(f"inputs of {name}")
    return [
        np.array([random_configuration(random, m) for _ in range(n)]).reshape(n, m.n_q)
        if kind == "q"
        else random.normal(size=(n, m.n_v))
        for _, kind in ALGORITHMS[name].inputs
    ]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_entry_describes_its_function(name: str):
    entry = ALGORITHMS[name]
    assert entry.name == name == entry.function.__name__
    signature = inspect.signature(entry.function).parameters
    positional = [k for k, p in signature.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    given = [key for key, _ in entry.inputs]
    in_passes = isinstance(entry.function, InPasses)
    assert positional == (["sweep", *given[1:]] if in_passes else ["o", "m", *given])
    keywords = [k for k, p in signature.items() if p.kind is p.KEYWORD_ONLY]
    loops = ("free_motions",) if entry.counts_free_motions else ()
    assert tuple(keywords) == (*entry.static, *loops)
    assert entry.summary.endswith(".") and len(entry.summary) < 100


@pytest.mark.parametrize("name", ALGORITHMS)
def test_shapes_are_as_promised(name: str, every_joint: Mechanism):
    entry = ALGORITHMS[name]
    m = case("every joint, floating") if entry.needs else every_joint
    m = lw.load("delta").mechanism if entry.needs_loops else m
    row = [rows[0] for rows in inputs(name, m, 1)]
    static = static_of(name, m)
    entry.check(m)
    result = evaluate(name, m, *row, **static)
    assert isinstance(result, np.ndarray) and result.dtype == np.float64
    assert result.shape == entry.output(m)
    assert np.isfinite(result).all()
    # plain lists are taken as well
    assert np.array_equal(evaluate(name, m, *[list(a) for a in row], **static), result)


@pytest.mark.parametrize("name", OF_TREES)
def test_a_robot_without_joints_has_every_shape(name: str):
    m = mechanism_from(solid('<robot name="r"><link name="a"/></robot>'), base="fixed")
    row = [np.zeros(0) for _ in ALGORITHMS[name].inputs]
    result = evaluate(name, m, *row, **static_of(name, m))
    assert result.shape == ALGORITHMS[name].output(m)
    assert np.isfinite(result).all()


def test_without_masses_there_are_no_forces_and_no_centre():
    m, one = mechanism_from(chain_urdf(300)), np.ones(300)
    assert not evaluate("inverse_dynamics", m, one, one, one).any()
    m = mechanism_from(chain_urdf(3))
    for name in ("gravity_forces", "potential_energy", "kinetic_energy", "mass_matrix"):
        assert not evaluate(name, m, *np.ones((len(ALGORITHMS[name].inputs), 3))).any()
    for name in ("com", "com_jacobian", "com_velocity", "com_acceleration", "centroidal_momentum"):
        with pytest.raises(InputError, match=r"'chain': .* masses of its 4 bodies add up to 0 kg"):
            evaluate(name, m, *np.zeros((len(ALGORITHMS[name].inputs), 3)))


# ------------------------------------------------------------------------------------- back ends


def calls() -> list[Any]:
    """Every algorithm, and those that have one with every reference, of these one by default.

    On JAX one reference: each is a program that takes seconds to compile.
    """
    found = []
    for name, entry in ALGORITHMS.items():
        for k, reference in enumerate(REFERENCES if "reference" in entry.static else [""]):
            for back_end in ["graph", "jax"] if k == 0 else ["graph"]:
                slow = [pytest.mark.slow] if k or back_end == "jax" else []
                case = (name, reference, back_end)
                found.append(pytest.param(*case, id=" ".join(case), marks=slow))
    return found


def mechanisms_for(name: str, every_joint: Mechanism) -> list[Mechanism]:
    """Mechanisms on which back ends differ by roundings of 1e-13 at most."""
    entry = ALGORITHMS[name]
    if entry.needs_loops:
        return [lw.load("excavator").mechanism]
    if check_movable in entry.needs:
        return small_mechanisms()[:1]
    if entry.needs or name in ("regressor", "coriolis_matrix", "centroidal_matrix"):
        return small_mechanisms()
    return [every_joint, mechanism_from(every_joint_urdf(), base="floating")]


@pytest.mark.parametrize(("name", "reference", "back_end"), calls())
def test_the_back_ends_agree(name: str, reference: str, back_end: str, every_joint, request):
    for m in mechanisms_for(name, every_joint):
        rows = inputs(name, m, 3)
        if ALGORITHMS[name].needs_loops:
            rows[0] = np.tile(lw.load("excavator").assemble().q, (3, 1))
        static = static_of(name, m) | ({"reference": reference} if reference else {})
        expected = [evaluate(name, m, *row, **static) for row in zip(*rows, strict=True)]
        if back_end == "graph":
            got = of_traced(trace(name, m, **static), *rows)
        else:
            jax = request.getfixturevalue("jax")
            batched = jax.vmap(lambda *row, m=m, k=static: evaluate(name, m, *row, **k))
            got = np.asarray(jax.jit(batched)(*[jax.numpy.asarray(row) for row in rows]))
        assert got.dtype == np.float64
        scale = max(1.0, np.abs(expected).max(initial=0))
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-13 * scale)
        if back_end == "jax":
            break


# -------------------------------------------------------------------------------------------- costs

COSTS = {  # operations at most, by robots
    "fk": {"panda": 166},
    "fk_all": {"panda": 365},
    "jacobian": {"panda": 209},
    "jacobian_dot_v": {"panda": 338},
    "jacobian_dot": {"panda": 433},
    "com": {"panda": 95},
    "com_jacobian": {"panda": 249},
    "gravity_forces": {"panda": 120, "ur5e": 62, "humanoid": 460, "mobile_arm": 75},
    "inverse_dynamics": {
        "panda": 710,
        "ur5e": 440,
        "humanoid": 3000,
        "panda.urdf": 900,
        "talos_reduced.urdf": 3300,
    },
    "mass_matrix": {"panda": 510, "ur5e": 310, "humanoid": 2600},
    "forward_dynamics": {"panda": 1400, "ur5e": 1050, "humanoid": 6500},
    "inverse_dynamics_derivatives": {"panda": 3400, "ur5e": 1850, "humanoid": 13600},
}


def cost(name: str, m: Mechanism, *parameters: str, **static: str) -> int:
    return trace(name, m, parameters, **static).signature.instructions


@pytest.mark.parametrize("name", COSTS)
def test_an_algorithm_costs_no_more_than_it_did(name: str):
    files = {path.name: path for path in example_robot_urdfs()}
    for robot, most in COSTS[name].items():
        m = mechanism_from(files[robot]) if robot in files else lw.load(robot).mechanism
        given = {"frame": "tool0"} if "frame" in ALGORITHMS[name].static else {}
        traced = trace(name, m, **given)
        assert traced.signature.instructions <= most, robot
        if name == "forward_dynamics":  # products of a reciprocal stay products
            assert sum(traced.graph.operations[k] == "DIV" for k in traced.order) <= m.n_v


def test_algorithms_cost_less_than_those_that_would_do_as_well():
    m = lw.load("panda").mechanism
    assert cost("inverse_dynamics_derivatives", m) < 6 * cost("inverse_dynamics", m)
    assert cost("coriolis_matrix", m) < cost("inverse_dynamics_derivatives", m) / 2
    assert cost("kinetic_energy", m) < min(cost("inverse_dynamics", m) / 2, cost("mass_matrix", m))
    humanoid = lw.load("humanoid").mechanism
    for each in (m, humanoid):
        assert cost("gravity_forces", each) < cost("com_jacobian", each)
        assert cost("com_velocity", each) < cost("com_jacobian", each) + 3 * each.n_v
    # only the way to a frame is computed
    m, depth = humanoid, [len(humanoid.ancestry(body)) for body in humanoid.frame_body.tolist()]
    last = m.frame_names[int(np.argmax(depth[: m.n_link_frames]))]
    fixed, moving = (cost("frame_velocity", m, frame=f) for f in (m.frame_names[0], last))
    assert fixed < 40 < moving < 1.2 * cost("jacobian", m, frame=last)


def test_a_parameter_costs_little():
    # the rotations around it stay the constants that they were, permutations too
    m = lw.load("panda").mechanism
    plain = cost("fk", m, frame="tool0")
    assert cost("fk", m, "xyz:tool0_joint", frame="tool0") <= plain + 3 + 12
    assert cost("fk", m, "xyz:joint1", frame="tool0") <= plain + 3 + 3
    # gravity along z alone leaves two rows of three out
    assert cost("gravity_forces", m, "gravity") <= 2.5 * cost("gravity_forces", m)


def test_what_is_zero_by_structure_stays_it():
    # the flange lies on the axis of the last joint, which therefore cannot move it
    m, o = lw.load("panda").mechanism, GraphOps()
    J = np.reshape(evaluate("jacobian", m, o.input(0, m.n_q), frame="tool0").numbers, (6, m.n_v))
    assert J[:3, 6].tolist() == [0, 0, 0] and J[3:, 6].any()
    blocks = evaluate("fk_all", m, o.input(0, m.n_q))
    assert {block.shape for block in blocks} == {(4, 4)} and len(blocks) == len(m.frame_names)


# -------------------------------------------------------------------------------------- refusals


def test_what_an_algorithm_needs_is_checked():
    m = mechanism_from(chain_urdf(2))
    find("fk").check(m)
    find("mass_matrix").check(m)
    for name in ("forward_dynamics", "inverse_mass_matrix", "forward_dynamics_derivatives"):
        find(name).check(m, "armature")
        find(name).check(m, ["payload:link1", "payload:link2"])
        with pytest.raises(InputError, match="link 'link2' has no mass and nothing behind joint"):
            find(name).check(m, ["payload:link1", "gravity"])
    text = solid(chain_urdf(2)).replace('izz="0.0025"', 'izz="0.5"', 1)
    m = mechanism_from(text, base="floating")
    for entry in ALGORITHMS.values():
        if check_inertias in entry.needs and not entry.needs_loops:
            with pytest.raises(InputError, match="'chain' has inertias that no real body has"):
                entry.check(m)
            entry.check(replace(m, inertias_accepted=True))


@pytest.mark.parametrize("name", ["fk", *FRAMED])
def test_names_that_do_not_exist_are_refused(name: str, every_joint: Mechanism):
    m = every_joint
    row = [np.zeros(m.n_q if kind == "q" else m.n_v) for _, kind in ALGORITHMS[name].inputs]
    with pytest.raises(UnknownNameError, match=r"no frame named 'tol'; nearest: tool"):
        evaluate(name, m, *row, frame="tol")
    if name in FRAMED:
        text = "reference='base' is not known; there are: 'world-aligned', 'local', 'world'"
        with pytest.raises(InputError, match=text):
            evaluate(name, m, *row, frame="tool", reference="base")
    with pytest.raises(UnknownNameError, match="no algorithm named 'jacobain'; nearest: jacobian"):
        evaluate("jacobain", m, np.zeros(3))


def test_wrong_inputs(every_joint: Mechanism):
    m = every_joint
    with pytest.raises(ShapeError, match=r"com: q of 'every joint' has the shape \(19,\), not \(3"):
        evaluate("com", m, np.zeros(3))
    with pytest.raises(ShapeError, match="one configuration at a time"):
        evaluate("com", m, np.zeros((2, m.n_q)))
    with pytest.raises(ShapeError, match="integrate takes q, v; 1 arrays came"):
        evaluate("integrate", m, np.zeros(m.n_q))
    with pytest.raises(ShapeError, match=r"\(19,\), not \(4,\)"):
        evaluate("com", m, GraphOps().input(0, 4))
    with pytest.raises(TypeError, match=r"CasADi's type SX: Robot.symbolic"):
        evaluate("com", m, cs.SX.sym("q", m.n_q))
