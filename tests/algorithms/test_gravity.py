"""Gravity's forces and energy: differences, the centre of mass, Pinocchio, the back ends."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from linkwork.algorithms.axes import Axes
from linkwork.algorithms.gravity import _turning
from linkwork.algorithms.registry import evaluate
from linkwork.compile.tracing import trace
from linkwork.formats.urdf.read import read
from linkwork.loading import load
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.from_urdf import from_urdf
from linkwork.mechanism.model import STANDARD_GRAVITY, JointType, Mechanism
from robots import (
    chain_urdf,
    every_joint_urdf,
    example_robot_urdfs,
    mechanism_from,
    random_configuration,
    random_tree,
    total_inertia,
)
from seeds import rng

G = np.array(STANDARD_GRAVITY)


def trees(aligned_tree, seed: str) -> list[Mechanism]:
    random = rng(seed)
    found = [aligned_tree(random, 9) for _ in range(20)]
    found += [mechanism_from(random_tree(random, 9)) for _ in range(15)]
    found += [mechanism_from(random_tree(random, 9), base="floating") for _ in range(10)]
    return found


def near(got, expected, within: float = 1e-12) -> None:
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(got, expected, rtol=0, atol=within * scale)


def test_energy_is_that_of_the_centre_of_mass(aligned_tree):
    random = rng("energy")
    for m in trees(aligned_tree, "gravity trees"):
        q, g = random_configuration(random, m), random.normal(size=3)
        mass, centre, _ = total_inertia(m, q)
        near(evaluate("potential_energy", m, q), -mass * G @ centre)
        other = evaluate("potential_energy", m, q, parameters={"gravity": g})
        near(other, -mass * g @ centre)


def test_forces_are_the_derivative_of_the_energy(aligned_tree, along):
    random = rng("force")
    for m in trees(aligned_tree, "gravity trees 2"):
        q = random_configuration(random, m)
        slope = along("potential_energy", m)(q)
        near(evaluate("gravity_forces", m, q), slope, 1e-9)


def test_forces_by_the_jacobian_of_the_centre_of_mass(aligned_tree):
    random = rng("virtual work")
    for m in trees(aligned_tree, "gravity trees 3"):
        q, g = random_configuration(random, m), random.normal(size=3)
        work = -m.mass.sum() * evaluate("com_jacobian", m, q).T
        near(evaluate("gravity_forces", m, q), work @ G)
        near(evaluate("gravity_forces", m, q, parameters={"gravity": g}), work @ g)


def test_a_pendulum_and_a_lift():
    parts = Parts(
        name="two",
        links=[LinkPart("a", 5.0), LinkPart("b", 2.0), LinkPart("c", 3.0, np.array([0.5, 0, 0]))],
        joints=[
            JointPart(name="lift", type=JointType.PRISMATIC, parent="a", child="b"),
            JointPart(
                name="swing",
                type=JointType.REVOLUTE,
                parent="b",
                child="c",
                axis=np.array([0.0, -1.0, 0.0]),
            ),
        ],
    )
    m = assemble(parts)
    got = evaluate("gravity_forces", m, np.array([0.7, 0.3]))
    near(got, [5 * 9.80665, 3 * 9.80665 * 0.5 * np.cos(0.3)])
    energy = 9.80665 * (2 * 0.7 + 3 * (0.7 + 0.5 * np.sin(0.3)))
    near(evaluate("potential_energy", m, np.array([0.7, 0.3])), energy)


def test_a_floating_base_carries_everything():
    m = mechanism_from(every_joint_urdf(), base="floating")
    q = random_configuration(rng("weight"), m)
    R = evaluate("fk", m, q, frame="base")[:3, :3]
    mass, centre, _ = total_inertia(m, q)
    got = evaluate("gravity_forces", m, q)
    near(got[:3], R.T @ (-mass * G))
    near(got[3:6], R.T @ np.cross(centre - q[:3], -mass * G))


def test_without_mass_there_is_no_force():
    m = mechanism_from(chain_urdf(3))
    assert not evaluate("gravity_forces", m, np.ones(3)).any()
    assert evaluate("potential_energy", m, np.ones(3)).tolist() == 0.0
    rigid = mechanism_from('<robot name="r"><link name="a"/></robot>')
    assert evaluate("gravity_forces", rigid, np.zeros(0)).shape == (0,)


def test_the_back_ends_agree(every_joint: Mechanism, agree):
    random = rng("gravity back ends")
    for m in (every_joint, mechanism_from(every_joint_urdf(), base="floating")):
        q = np.array([random_configuration(random, m) for _ in range(4)])
        agree("gravity_forces", m, q)
        agree("potential_energy", m, q)


@pytest.mark.parametrize("signs", list(itertools.product((1, -1), repeat=3)))
def test_signs_are_taken_into_the_difference(signs: tuple[int, int, int]):
    g, moment = np.array([0.3, -0.7, 0.2]), [1.1, 0.4, -0.6]
    axes = Axes((g[2], g[0], g[1]), (1, 2, 0), signs)  # components of signs * g
    x, y, z = np.cross(np.array(signs) * g, moment)
    got = [_turning(axes, i, j, moment) for i, j in ((1, 2), (2, 0), (0, 1))]
    near(got, [x, y, z])
    assert _turning(axes, 0, 1, [0.0, 2.0, 0.0]) == signs[0] * g[0] * 2
    assert _turning(axes, 0, 1, [2.0, 0.0, 0.0]) == -signs[1] * g[1] * 2


def test_it_is_cheap():
    # one pass down and one up: less than the Jacobian of the centre of mass alone
    for name, most in (("panda", 120), ("ur5e", 61), ("humanoid", 463), ("mobile_arm", 85)):
        m = load(name).mechanism
        n, other = (
            trace(each, m).signature.instructions for each in ("gravity_forces", "com_jacobian")
        )
        assert n <= most and n < other


def test_a_long_chain():
    m = mechanism_from(chain_urdf(2000))
    assert not evaluate("gravity_forces", m, np.ones(2000)).any()


# --------------------------------------------------------------------------------- Pinocchio


@pytest.mark.parametrize("part", range(4))
def test_pinocchio(part: int):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    from reference.test_pinocchio import Pair, pinocchio_model  # noqa: PLC0415  needs Pinocchio

    random = rng(f"gravity pinocchio {part}")
    for k in range(40):
        document = read(random_tree(random, int(random.integers(1, 12))))
        base = "floating" if k % 3 == 0 else "fixed"
        m = from_urdf(document, base=base)
        model = pinocchio_model(document, base, m.body_joint_names[0])
        pair = Pair(m, model, model.createData())
        q, g = random_configuration(random, m), random.normal(size=3)
        for gravity, parameters in ((G, None), (g, {"gravity": g})):
            model.gravity.linear = gravity
            theirs = np.zeros(model.nv)
            if model.nv:
                theirs = pin.computeGeneralizedGravity(model, pair.data, pair.configuration(q))
            got = evaluate("gravity_forces", m, q, parameters=parameters)
            near(got, pair.tangent(q).T @ theirs, 1e-11)
            zero = np.zeros(model.nv)
            rnea = (
                pin.rnea(model, pair.data, pair.configuration(q), zero, zero) if model.nv else zero
            )
            near(got, pair.tangent(q).T @ rnea, 1e-11)


@pytest.mark.parametrize("path", example_robot_urdfs()[::4], ids=lambda path: path.stem)
def test_real_robots(path: Path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    from reference.test_pinocchio import Pair  # noqa: PLC0415  needs Pinocchio

    m, model = from_urdf(read(path)), pin.buildModelFromUrdf(str(path))
    model.gravity.linear = G
    pair = Pair(m, model, model.createData())
    if model.nv:
        q = random_configuration(rng(f"gravity {path.name}"), m)
        theirs = pin.computeGeneralizedGravity(model, pair.data, pair.configuration(q))
        near(evaluate("gravity_forces", m, q), pair.tangent(q).T @ theirs, 1e-11)
