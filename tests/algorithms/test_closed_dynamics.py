"""Dynamics with loops: accelerations, and the forces that hold loops together."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from closed_dynamics_cases import closed_case
from linkwork.algorithms.closed_dynamics import (
    accelerated,
    held,
    loop_forces,
    loop_wrenches,
    moved,
    proximal,
    settled,
)
from linkwork.algorithms.independent_rows import RowGroup, Scales, independent_rows
from linkwork.conventions import GRAVITY
from linkwork.ops.numpy import NUMPY
from seeds import rng


def test_both_equations_are_solved():
    random = rng("closed dynamics")
    A = random.normal(size=(5, 5))
    M, J = A @ A.T + np.eye(5), random.normal(size=(3, 5))
    J[2] = J[0] - 2 * J[1]  # redundant
    push, bias = random.normal(size=5), J @ random.normal(size=5)
    lower = {(i, j): float(M[i, j]) for i in range(5) for j in range(i + 1)}
    rows = [dict(enumerate(map(float, row))) for row in J]
    scales = Scales([1.0] * 3, [1.0] * 5)
    independent = independent_rows(NUMPY, rows, scales, [RowGroup((0, 1, 2), tuple(range(5)), 2)])
    by = held(NUMPY, lower, 5, independent)
    dv, f = map(np.array, moved(by, dict(enumerate(map(float, push))), list(bias)))
    np.testing.assert_allclose(M @ dv, push + J.T @ f, atol=1e-9)
    np.testing.assert_allclose(J @ dv, -bias, atol=1e-9)
    np.testing.assert_allclose(f, np.linalg.pinv(J.T) @ (M @ dv - push), atol=1e-9)


def test_rows_may_be_in_any_axes():
    case = closed_case("position, fixed")
    state = case.q[0], case.v[0], case.every[0]
    plain = accelerated(NUMPY, case.m, *state)
    named = accelerated(NUMPY, case.m, *state, in_frame_a=True)
    np.testing.assert_allclose(plain.dv, named.dv, atol=1e-9)
    sizes = [np.linalg.norm(each.forces) for each in (plain, named)]
    assert abs(sizes[0] - sizes[1]) < 1e-7 * sizes[0]


def entries(A: np.ndarray) -> dict[tuple[int, int], float]:
    return {(i, j): float(A[i, j]) for i in range(len(A)) for j in range(i + 1)}


def test_none_at_all():
    assert settled(proximal({}, 0), []) == []


@pytest.mark.parametrize("small", [1.0, 1e-3, 0.0])
def test_unknowns_ahead(small: float):
    """Also where rows alone hardly determine what they meet."""
    random = rng(f"ahead {small}")
    A, C = (random.normal(size=(n, n)) for n in (4, 3))
    A[3] = A[2] + small * A[3]
    whole = np.block([[-(C @ C.T + np.eye(3)), random.normal(size=(3, 4))], [np.zeros((4, 7))]])
    whole[3:, 3:] = A @ A.T
    whole = np.tril(whole.T) + np.tril(whole.T, -1).T
    b = whole @ random.normal(size=7)
    x = np.array(settled(proximal(entries(whole), 7, 3), list(b)))
    np.testing.assert_allclose(whole @ x, b, atol=1e-11 * np.abs(x).max())


HANGING = """<robot name="hanging"><link name="world"/><link name="arm"><inertial>
<origin xyz="0.5 0 0"/><mass value="2"/><inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0"
iyz="0"/></inertial></link><joint name="hinge" type="continuous"><parent link="world"/>
<child link="arm"/><axis xyz="0 1 0"/></joint></robot>"""


@pytest.mark.parametrize("kind", ["position", "distance"])
def test_a_beam_on_a_support_gives_it_half_its_weight(kind: str):
    robot = lw.load(HANGING)
    tip = np.eye(4)
    tip[0, 3] = 1.0
    above = tip.copy()
    above[2, 3] = 0.3 if kind == "distance" else 0.0
    robot = robot.with_frame("tip", "arm", tip).with_frame("hook", "world", above)
    distance = 0.3 if kind == "distance" else 0.0
    robot = robot.with_loop("hook", "tip", kind, name="support", distance=distance)
    zero = np.zeros(1)
    half = 0.5 * 2.0 * -GRAVITY[2]
    wrench = robot.loop_wrenches(zero, zero, zero)["support"]
    np.testing.assert_allclose(wrench, [0.0, 0.0, half, 0.0, 0.0, 0.0], atol=1e-9)
    f = robot.loop_forces(zero, zero, zero)
    # the rod is pulled: it would be longer, so what holds it is negative
    np.testing.assert_allclose(f, [-half] if kind == "distance" else [0, 0, half], atol=1e-9)
    np.testing.assert_allclose(robot.forward_dynamics(zero, zero, zero), 0.0, atol=1e-12)


def test_shapes():
    case = closed_case("everything")
    state = case.q[0], case.v[0], case.every[0]
    assert np.shape(loop_forces(NUMPY, case.m, *state)) == (6,)
    assert [np.shape(w) for w in loop_wrenches(NUMPY, case.m, *state)] == [(6,)] * 2
