"""Loops over the joints against what is written out joint by joint."""

from __future__ import annotations

import numpy as np
import pytest

from dynamics_cases import solid
from linkwork.algorithms.registry import ALGORITHMS, evaluate, find, parameters_of
from linkwork.compile.compiler import Compiler
from linkwork.compile.kernel import Kernel, build
from linkwork.compile.recipe import LONGEST_UNROLLED, algorithm_recipe
from linkwork.compile.target import Target, named
from linkwork.errors import LinkworkError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.parameters import find as find_parameters
from robots import ALL_TYPES, every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng

HOST = Compiler()
IN_PASSES = sorted(name for name, each in ALGORITHMS.items() if each.in_passes)
LARGEST = "regressor"
SOME_SLOW = [
    pytest.param(name, marks=pytest.mark.slow) if name == LARGEST else name for name in IN_PASSES
]
ARTICULATED = ("forward_dynamics", "forward_dynamics_derivatives", "inverse_mass_matrix")


def looped(name: str, m: Mechanism, target: Target | None = None, **static) -> Kernel:
    compiler = HOST if target is None else Compiler(target)
    return build(algorithm_recipe(name, m, loops=True, **static), compiler=compiler)


def inputs_of(name: str, m: Mechanism, n: int) -> list[np.ndarray]:
    random = rng(f"loops {name}")
    q = np.array([random_configuration(random, m) for _ in range(n)])
    given = {"q": q} | {key: random.normal(size=(n, m.n_v)) for key in ("v", "dv", "tau")}
    given |= {"q0": q, "q1": q[::-1].copy()}
    return [given[key] for key, _ in find(name).inputs]


def static_of(name: str, m: Mechanism) -> dict[str, str]:
    last = m.frame_names[m.n_link_frames - 1]
    given = {"base": m.frame_names[1], "frame": last, "reference": "local"}
    return {key: given[key] for key in find(name).static}


def agrees(name: str, m: Mechanism, kernel: Kernel, inputs: list[np.ndarray], **static) -> None:
    got = kernel(*inputs)
    expected = np.array([evaluate(name, m, *row, **static) for row in zip(*inputs, strict=True)])
    scale = max(1.0, np.abs(expected).max(initial=0))
    if name in ARTICULATED:  # an inverse is as exact as the matrix allows
        scale *= max(1.0, 1e-3 * np.linalg.cond(evaluate("mass_matrix", m, inputs[0][0])))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * scale)
    # one configuration by the scalar code has the bits of the vectors'
    assert np.array_equal(kernel(*[rows[0] for rows in inputs]), got[0])
    assert np.array_equal(kernel(*inputs, threads=2), got)


def chain(n: int) -> Mechanism:
    return mechanism_from(solid(random_tree(rng("chain"), n, mimic=0.0, shape="chain")))


def star(n: int) -> Mechanism:
    return mechanism_from(solid(random_tree(rng("star"), n, mimic=0.0, shape="star")))


HEAVY = ("coriolis_matrix", "forward_dynamics_derivatives", "inverse_dynamics_derivatives", LARGEST)


def mixed(name: str) -> Mechanism:
    """A tree that floats, with joints of all types, or of a few where each has much code."""
    types = ("revolute", "prismatic") if name in HEAVY else ALL_TYPES
    return mechanism_from(solid(random_tree(rng("mixed"), 6, types, mimic=0.0)), base="floating")


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", SOME_SLOW)
def test_a_tree_of_mixed_joints(name: str):
    m = mixed(name)
    static = static_of(name, m)
    agrees(name, m, looped(name, m, **static), inputs_of(name, m, 11), **static)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "name",
    [
        *("integrate", "fk_all", "jacobian", "inverse_dynamics"),
        pytest.param("mass_matrix", marks=pytest.mark.slow),
    ],
)
def test_every_type_of_joint_and_couplings(name: str):
    m = mechanism_from(every_joint_urdf())
    static = static_of(name, m)
    agrees(name, m, looped(name, m, **static), inputs_of(name, m, 5), **static)


@pytest.mark.parametrize("shape", [chain, pytest.param(star, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name",
    ["fk_all", "inverse_dynamics", pytest.param("forward_dynamics", marks=pytest.mark.slow)],
)
def test_long_ones_are_loops_by_themselves(name: str, shape):
    m = shape(LONGEST_UNROLLED + 30)
    recipe = algorithm_recipe(name, m)
    assert recipe.rolled() is not None
    agrees(name, m, build(recipe, compiler=HOST), inputs_of(name, m, 3))
    longer = algorithm_recipe(name, shape(LONGEST_UNROLLED + 60))
    sizes = [each.rolled().program.n_assignments for each in (recipe, longer)]
    assert sizes[0] == sizes[1]  # the code does not grow with the mechanism


def test_others_are_written_out():
    m = mechanism_from(random_tree(rng("short"), 6))
    assert algorithm_recipe("inverse_dynamics", m).rolled() is None
    bushy = star(LONGEST_UNROLLED - 10)
    assert algorithm_recipe("inverse_dynamics", bushy).rolled() is None
    long = chain(80)  # fewer joints, but each is carried by all before it
    assert algorithm_recipe("inverse_dynamics", long).rolled() is not None
    # a frame near the base, a parameter that moves one, an algorithm that is not written in passes
    assert algorithm_recipe("fk", long, frame=long.frame_names[2]).rolled() is None
    assert algorithm_recipe("inverse_dynamics", long, ["gravity"]).rolled() is not None
    moved = ["gravity", f"xyz:{long.frame_names[3]}"]
    assert algorithm_recipe("inverse_dynamics", long, moved).rolled() is None
    assert algorithm_recipe("all_positions", long).rolled() is None
    assert algorithm_recipe("inverse_dynamics", long, loops=False).rolled() is None


@pytest.mark.slow
def test_forward_dynamics_with_couplings():
    m = mechanism_from(solid(random_tree(rng("coupled"), 9, mimic=0.5)), base="floating")
    agrees(
        "forward_dynamics", m, looped("forward_dynamics", m), inputs_of("forward_dynamics", m, 11)
    )


OF_ALL = ("gravity", "armature", "damping", "friction")


@pytest.mark.sweep(4)  # derivatives are passes over the same parameters, and take longest
@pytest.mark.parametrize("name", [n for n in IN_PASSES if "derivatives" not in n and n != LARGEST])
def test_parameters_are_inputs(name: str):
    m = mixed(name)
    static, random = static_of(name, m), rng(f"parameters {name}")
    known = [each for each in parameters_of(name, m, **static) if each[:3] not in ("xyz", "rpy")]
    of_frames = [each for each in known if each not in OF_ALL]
    named = [each for each in OF_ALL if each in known]
    named += random.choice(of_frames, min(6, len(of_frames)), replace=False).tolist()
    if not named:
        return  # kinematics
    values = {each.name: random.normal(size=(3, each.size)) for each in find_parameters(m, named)}
    for each, block in values.items():
        if each.startswith(("mass", "payload", "armature", "damping", "friction")):
            values[each] = np.abs(block)
    inputs = inputs_of(name, m, 3)
    recipe = algorithm_recipe(name, m, named, loops=True, **static)
    got = build(recipe, compiler=HOST)(*inputs, *values.values())
    assert recipe.rolled() is not None
    for k, row in enumerate(zip(*inputs, strict=True)):
        given = {each: block[k] for each, block in values.items()}
        expected = evaluate(name, m, *row, parameters=given, **static)
        scale = max(1.0, np.abs(expected).max(initial=0))
        np.testing.assert_allclose(got[k], expected, rtol=0, atol=1e-9 * scale)


def test_parameters_without_effect_are_refused():
    m = chain(60)
    last = m.frame_names[m.n_link_frames - 1]
    with pytest.raises(LinkworkError, match="does not depend on 'damping'"):
        build(algorithm_recipe("mass_matrix", m, ["damping", f"mass:{last}"]), compiler=HOST)(
            np.zeros(m.n_q), np.zeros(m.n_v), [1.0]
        )


@pytest.mark.parametrize("level", ["x86-64-v3"])
def test_widths_have_the_same_bits(level: str):
    try:
        target = named(level)
    except LinkworkError as e:
        pytest.skip(f"needs a processor of this level: {e}")
    m = mechanism_from(random_tree(rng("bits"), 6))
    inputs = inputs_of("inverse_dynamics", m, 9)
    other = looped("inverse_dynamics", m, target)
    assert np.array_equal(other(*inputs), looped("inverse_dynamics", m)(*inputs))


def test_what_is_not_finite_is_named():
    m = chain(50)
    kernel = looped("inverse_dynamics", m)
    inputs = inputs_of("inverse_dynamics", m, 10)
    inputs[1][7, 3] = np.nan
    with pytest.raises(LinkworkError, match=r"row \[7\]"):
        kernel(*inputs)
    got = kernel(*inputs, on_bad="nan")
    assert np.isnan(got[7]).all() and np.isfinite(np.delete(got, 7, axis=0)).all()


def test_nothing_moves():
    m = mechanism_from('<robot name="one"><link name="a"/></robot>')
    assert looped("fk_all", m)(np.zeros((3, 0))).shape == (3, 1, 4, 4)
    assert looped("inverse_dynamics", m)(*[np.zeros((2, 0))] * 3).shape == (2, 0)
