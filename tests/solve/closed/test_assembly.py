"""Assembly: the passive joints for positions of the actuated ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from closed_mechanisms import parallelogram
from linkwork.compile.native_call import Part
from linkwork.compile.numpy_abi import array_abi
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.edit import close, couple
from linkwork.solve.closed.assembly import (
    Assembly,
    AssemblyMessages,
)
from linkwork.solve.tasks import Group
from seeds import rng


@pytest.fixture(scope="module")
def five():
    return lw.load("five_bar").assembler()


def test_any_leading_shape(five):
    given = rng("shapes").uniform(-0.3, 0.3, (3, 4, 2))
    whole = five.solve(given)
    assert whole.q.shape == (3, 4, 4) and whole.success.shape == (3, 4) and whole.success.all()
    one = five.solve(given[1, 2])
    np.testing.assert_array_equal(one.q, whole.q[1, 2])  # the same bits
    assert one.success is True and one.reason == "solved"
    listed = five.solve(given[1, 2].tolist())
    np.testing.assert_array_equal(listed.q, one.q)
    threads = five.solve(given, threads=3)
    np.testing.assert_array_equal(threads.q, whole.q)
    spread = five.solve(given[0], q0=whole.q[:, :1])
    assert spread.q.shape == (3, 4, 4) and spread.success.all()


def test_near_keeps_the_branch(five):
    up, down = five.all_solutions([0.1, -0.1]).q
    assert abs(up[1] - down[1]) > 0.5
    way = np.linspace(0.1, 0.45, 20)
    for q in (up, down):
        last = q
        for x in way:
            found = five.solve([x, -x], q0=last)
            assert found.success and np.abs(found.q - last).max() < 0.2
            last = found.q
        far = five.solve([way[-1], -way[-1]], q0=q)
        np.testing.assert_allclose(far.q, last, atol=1e-10)


def test_a_state_that_cannot_be_assembled_is_refused(five):
    result = five.solve([[1.4, -1.4], [0.0, 0.0]])
    assert result.success.tolist() == [False, True]
    assert "cannot be assembled" in result.reason_for(0) and "'hinge position'" in result.reason
    assert float(result.position_error[0]) > 0.01
    alone = five.solve([1.4, -1.4], q0=result.q[1])
    assert not alone.success and "the passive joints are singular there" in alone.reason
    with pytest.raises(InputError, match="apart must be a finite number from 0, not nan"):
        five.all_solutions([0.0, 0.0], apart=np.nan)
    none = five.all_solutions([1.4, -1.4])
    assert none.q.shape == (0, 4) and "cannot be assembled" in none.reason


def test_branches_of_a_platform_that_floats_are_found_from_one_another():
    delta = lw.load("delta")
    found = delta.assemblies([0.0, 0.0, 0.0])
    level = [q for q in found.q if abs(q[3]) > 1.0 - 1e-9]  # the platform is not turned
    assert [round(float(q[2]), 2) for q in level] == [0.0, 0.64]  # below the arms, and above them
    assert len(found.q) >= 8  # one had been all, since every start had the platform in one place
    np.testing.assert_allclose(np.linalg.norm(found.q[:, 3:7], axis=1), 1.0, atol=1e-12)
    above = delta.assemblies([0.0, 0.0, 0.0], q0=level[1])
    assert [round(float(above.q[k][2]), 2) for k in (0, -1)] != [0.0, 0.0]
    np.testing.assert_allclose(above.q[0], level[1], atol=1e-9)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["five_bar", "stewart"])
def test_what_is_refused_has_the_same_bits_alone(name):
    solver = lw.load(name).assembler()
    half = 1.5 if name == "five_bar" else 0.2
    given = rng(f"bits of {name}").uniform(-half, half, (400, solver.n_actuated))
    whole = solver.solve(given)
    refused = np.flatnonzero(~whole.success)
    assert 0 < refused.size < 200
    for k in (*refused[:10], *np.flatnonzero(whole.restarts)[:10]):
        alone = solver.solve(given[k])
        np.testing.assert_array_equal(alone.q, whole.q[k])
        assert alone.success == whole.success[k]
    threads = solver.solve(given, threads=3)
    np.testing.assert_array_equal(threads.q, whole.q)
    np.testing.assert_array_equal(threads.iterations, whole.iterations)


def test_a_given_position_outside_its_limits_is_refused(five):
    result = five.solve([1.6, 1.6])
    assert not result.success and "outside of its limits" in result.reason


def test_by_name():
    robot = lw.load("excavator")
    q = robot.assemble({"boom_slide": 0.1}).q
    names = robot.joint_names
    assert q[names.index("boom_slide")] == 0.1 and q[names.index("swing")] == 0.0
    q = robot.assemble({"swing": 1.0}, q0=q).q
    assert q[names.index("boom_slide")] == 0.1 and q[names.index("swing")] == 1.0
    with pytest.raises(UnknownNameError, match="no actuated joint named 'boom'"):
        robot.assemble({"boom": 0.1})
    with pytest.raises(ShapeError, match="must have shape"):
        robot.assemble({"swing": [0.1, 0.2]})


def test_joints_that_are_not_said_to_be_actuated():
    robot = lw.load("four_bar").with_actuated([])
    with pytest.raises(InputError, match="does not say which joints are actuated"):
        robot.assemble([0.1])
    by_rocker = robot.assemble({"rocker": 0.2})
    assert by_rocker.success and by_rocker.q[robot.joint_names.index("rocker")] == 0.2
    with pytest.raises(InputError, match="every joint in the loops of 'four_bar' is actuated"):
        robot.assembler(robot.joint_names)
    with pytest.raises(InputError, match="named twice"):
        robot.assembler(["crank", "crank"])
    with pytest.raises(UnknownNameError, match="no joint named 'cranc'"):
        robot.assembler("cranc")


@pytest.mark.parametrize(
    ("given", "near", "error", "message"),
    [
        ([0.1], None, ShapeError, "must have shape"),
        ([0.1, np.nan], None, InputError, r"actuated\[1\] is nan"),
        ([0.1, 0.2], [0.0] * 3, ShapeError, "q0 must have shape"),
        ([0.1, 0.2], [0.0, np.inf, 0.0, 0.0], InputError, r"q0\[1\]"),
        (np.zeros((2, 2)), np.zeros((3, 4)), ShapeError, "do not go together"),
        ("ab", None, InputError, "real numbers"),
        ([1e308, 1e308], None, InputError, "so large"),
    ],
)
def test_what_cannot_be_taken(five, given, near, error, message):
    with pytest.raises(error, match=message):
        five.solve(given, near)


def test_more_than_one_row_has_no_branches(five):
    with pytest.raises(ShapeError, match="one row"):
        five.all_solutions(np.zeros((2, 2)))
    with pytest.raises(TypeError, match="colour"):
        five.solve([0.0, 0.0], colour="red")


def test_couplings_are_kept():
    robot = lw.Robot(couple(lw.load("panda").mechanism, "joint1", "joint7", rate=0.5, offset=0.1))
    robot = robot.with_coupling("joint2", ("joint7", "joint3"), lambda a, b: np.sin(a) * b)
    robot = robot.with_actuated(["joint7", "joint3"])
    given = rng("couplings").uniform(-1, 1, (100, 2))
    result = robot.assemble(given)
    assert result.success.all()
    np.testing.assert_allclose(result.q[:, 0], 0.5 * given[:, 0] + 0.1, atol=1e-12)
    np.testing.assert_allclose(result.q[:, 1], np.sin(given[:, 0]) * given[:, 1], atol=1e-12)


def test_a_loop_that_fixes_everything():
    m = lw.load("four_bar").mechanism
    m = close(m, "crank_link", "rocker_end", "distance", distance=float(np.hypot(0.3, 0.18)))
    robot = lw.Robot(m)
    assert robot.mobility().degrees_of_freedom == 0
    assert robot.assemble([0.0]).success
    refused = robot.assemble([0.3])
    assert not refused.success and "distance" in refused.reason


def test_a_coupling_without_a_value_is_named():
    robot = lw.load("planar_3r").with_coupling("joint3", ["joint1", "joint2"], lambda a, b: a / b)
    robot = robot.with_actuated(["joint1", "joint2"])
    words = "the coupling of joint3 has no value at joint1 = 0.5, joint2 = 0"
    with pytest.raises(InputError, match=f"row 1 cannot be assembled: {words}"):
        robot.assemble([[0.5, 0.1], [0.5, 0.0]])
    with pytest.raises(InputError, match=f"row 0 cannot be assembled: {words}"):
        robot.assemble([0.5, 0.1], q0=[0.5, 0.0, 0.5])
    ends = robot.assemble([[0.5, 0.2], [0.5, 0.0]], q0=[0.1, 0.2, 0.5])
    assert ends.success.tolist() == [True, False]  # the way to infinity
    root = lw.load("planar_3r").with_coupling("joint3", "joint1", np.sqrt).with_actuated("joint1")
    with pytest.raises(InputError, match=r"joint1 = -0\.5"):
        root.assemble([-0.5])


def call_of(five: Assembly) -> Any:
    given = [Part(None, five.actuated, tuple(range(five.n_actuated)))]
    names = five.mechanism.joint_names
    places = tuple(names.index(name) for name in five.passive)
    return five.named(given, [Part("passive", five.passive, places)], lw.load("five_bar").neutral())


@pytest.mark.skipif(array_abi() is None, reason="the layout of objects is not known here")
def test_the_same_bits(five: Assembly):
    call, near = call_of(five), lw.load("five_bar").neutral()
    names = five.mechanism.joint_names
    for row in rng("named").uniform(-0.3, 0.3, (100, 2)):
        wanted = five.solve(row, near).q
        found = call(dict(zip(five.actuated, row.tolist(), strict=True)))["passive"]
        assert [found[n] for n in five.passive] == [wanted[names.index(n)] for n in five.passive]


def test_nothing_where_it_is_not_assembled(five: Assembly):
    call = call_of(five)
    far = dict.fromkeys(five.actuated, 100.0)
    for state in (far, dict.fromkeys(five.actuated, float("nan")), {}, None, [0.0, 0.0]):
        assert call(state) is None
    assert call(dict.fromkeys(five.actuated, 0)) is None  # whole numbers go the general way


GROUPS = (Group("rod", "m", 0, 1), Group("hinge rotation", "rad", 1, 3, chord=True))


def test_a_whole_sentence():
    m = lw.load("five_bar").mechanism
    words = AssemblyMessages(m, GROUPS)
    q = np.array([1.5, 0.0, 0.0, 0.0])
    text = words(q, np.array([0.04, 0.0, 0.5]), np.zeros(2))
    assert text == (
        "it cannot be assembled from there: 'rod' 0.2 m open; a joint would be outside of its "
        "limits; at a limit there: left (upper)"
    )


# --- the branch of a configuration, followed ---

DETERMINED = (
    *("four_bar", "slider_crank", "five_bar", "excavator", "gripper", "linkage_leg"),
    *("double_wishbone", "delta", "stewart"),
)
"""Bundled mechanisms whose passive joints follow from the actuated ones."""
STEPS = 600
TILTED = np.array([1.34886634, -1.07648683, 1.33324358])
"""Arms of the delta on whose straight way from neutral the level platform becomes singular."""


def joints_of(robot):
    """The numbers of q of the actuated joints, and those of v of the others."""
    m = robot.mechanism
    driven = [m.joint(name) for name in robot.actuated]
    others = [c for c in range(len(m.joint_types)) if c not in driven]
    return (
        [k for c in driven for k in range(m.q_start[c], m.q_start[c + 1])],
        [k for c in driven for k in range(m.v_start[c], m.v_start[c + 1])],
        [k for c in others for k in range(m.v_start[c], m.v_start[c + 1])],
    )


def goals(robot, n):
    """Positions (n, n_actuated) of the actuated joints over all of their ranges."""
    m, (given, _, _) = robot.mechanism, joints_of(robot)
    low = np.where(np.isfinite(m.lower), m.lower, -3.0)[given]
    high = np.where(np.isfinite(m.upper), m.upper, 3.0)[given]
    return rng(f"ways of {robot.name}").uniform(low, high, (n, len(given)))


class Walk:
    """A way in small steps, by singular values."""

    def __init__(self, robot, goal, steps=STEPS):
        m = robot.mechanism
        given, driven, passive = joints_of(robot)
        near = robot.neutral()
        self.q = np.tile(near, (len(goal), 1))
        self.fine = np.ones(len(goal), bool)
        way = (goal - near[given]) / steps
        inside = robot.assemble(near[given] + 0.01, q0=near).q
        rank = int(np.linalg.matrix_rank(robot.closure_jacobian(inside)[:, passive], tol=1e-7))
        before = None
        for k in range(1, steps + 1):
            J = robot.closure_jacobian(self.q)
            U, S, V = np.linalg.svd(J[..., passive], full_matrices=False)
            if before is not None:  # the sign of the determinant on what the joints determine
                turned = np.swapaxes(before[0], -1, -2) @ J[..., passive] @ before[1]
                self.fine &= np.linalg.det(turned) > 0.0
            before = U[..., :rank], np.swapaxes(V, -1, -2)[..., :rank]
            self._move(robot, passive, rank, (U, S, V), -(J[..., driven] @ way[..., None])[..., 0])
            self.q[:, given] = near[given] + k * way
            J = robot.closure_jacobian(self.q)
            parts = np.linalg.svd(J[..., passive], full_matrices=False)
            for _ in range(3):
                self._move(robot, passive, rank, parts, -robot.closure(self.q))
            self.fine &= np.abs(robot.closure(self.q)).max(axis=-1) < 1e-9
            inside = (self.q >= m.lower - 1e-9) & (self.q <= m.upper + 1e-9)
            self.fine &= inside.all(axis=-1)

    def _move(self, robot, passive, rank, parts, rates):
        U, S, V = parts
        along = np.einsum("nir,ni->nr", U[..., :rank], rates) / np.maximum(S[..., :rank], 1e-6)
        v = np.zeros((len(self.q), robot.n_v))
        v[:, passive] = np.clip(np.einsum("nr,nrj->nj", along, V[:, :rank]), -0.2, 0.2)
        self.q = robot.integrate(self.q, v)


@pytest.mark.slow  # a Stewart platform, whose small steps take long, is of the delta's kind
@pytest.mark.parametrize("name", [name for name in DETERMINED if name != "stewart"])
def test_bundled_mechanisms_stay_on_the_branch_that_small_steps_follow(name):
    robot = lw.load(name)
    goal = goals(robot, 100)
    found, walk = robot.assemble(goal, q0=robot.neutral()), Walk(robot, goal)
    # small steps lose a way next to a singularity sooner or later than steps that adapt
    assert np.count_nonzero(found.success != walk.fine) <= 0.01 * len(goal)
    both = found.success & walk.fine
    assert np.count_nonzero(both) > 0.5 * len(goal)
    away = np.abs(found.q - walk.q)[both]
    assert away.max() < 1e-6
    assert np.abs(robot.closure(found.q)).max() < 1e-11  # where it ends, too


@pytest.mark.parametrize("name", ["triped_leg", pytest.param("triped", marks=pytest.mark.slow)])
def test_where_joints_are_left_free_the_way_ends_assembled_too(name):
    robot = lw.load(name)
    found = robot.assemble(0.5 * goals(robot, 50), q0=robot.neutral())
    assert found.success.all()
    assert np.abs(robot.closure(found.q)).max() < 1e-11


def test_a_crank_goes_round_on_its_branch():
    robot = lw.load("four_bar")
    near = robot.neutral()
    found = robot.assemble([2.5], q0=near)
    np.testing.assert_allclose(found.q, [2.5, -2.70598337, 0.43789894], atol=1e-7)
    around = robot.assemble([2.5 + 6.0 * np.pi], q0=near).q
    np.testing.assert_allclose(around - found.q, [6.0 * np.pi, -6.0 * np.pi, 0.0], atol=1e-9)
    back = robot.assemble(near[:1], q0=found.q).q
    np.testing.assert_allclose(back, near, atol=1e-9)
    few = robot.assemble([100.0], q0=near, steps=50)
    assert not few.success and "steps= allows more" in few.reason
    assert 0.0 < few.q[0] < 100.0


def test_the_place_where_a_branch_ends_is_told():
    robot = lw.load("five_bar")
    found = robot.assemble([1.4, -1.4], q0=robot.neutral())
    assert not found.success
    place = f"left = {found.q[0]:.6g}, right = {found.q[2]:.6g}"
    assert "37.4 % of the way" in found.reason and place in found.reason
    assert "singular" in found.reason and "follow=False" in found.reason
    assert np.abs(robot.closure(found.q)).max() < 1e-12
    assert robot.singularities(found.q, "left_end").type_2 < 0.02
    np.testing.assert_allclose(found.q[[0, 2]], [np.pi / 6, -np.pi / 6], atol=1e-4)
    on = robot.assemble([0.4, -0.4], q0=found.q)  # and back from there
    np.testing.assert_allclose(on.q, robot.assemble([0.4, -0.4], q0=robot.neutral()).q, atol=1e-9)


def test_no_way_passes_a_point_where_branches_meet():
    delta = lw.load("delta")
    assert "singular" in delta.assemble(TILTED, q0=delta.neutral()).reason
    swing = lw.Robot(parallelogram())
    ends = swing.assemble([[1.5], [1.7], [-2.0]], q0=swing.neutral())
    assert ends.success.tolist() == [True, False, False]  # flat, the rods may cross or not
    np.testing.assert_allclose(ends.q[1:, 0], [0.5 * np.pi, -0.5 * np.pi], atol=1e-3)
    np.testing.assert_allclose(ends.q @ [1.0, 1.0, 0.0], 0.0, atol=1e-9)


def test_a_limit_on_the_way_ends_it():
    robot = lw.load("linkage_leg")
    m, (given, _, _) = robot.mechanism, joints_of(robot)
    goal = goals(robot, 50)
    inside = robot.assemble(goal, q0=robot.neutral()).q
    k = next(k for k in range(m.n_q) if k not in given and np.ptp(inside[:, k]) > 0.1)
    name = m.joint_names[int(np.searchsorted(m.q_start, k, side="right")) - 1]
    middle = 0.5 * (inside[:, k].max() + robot.neutral()[k])
    upper = m.upper.copy()
    upper[k] = middle
    narrow = lw.Robot(replace(m, upper=upper))
    found = narrow.assemble(goal, q0=narrow.neutral())
    beyond = inside[:, k] > middle + 1e-6
    assert beyond.any() and not found.success[beyond].any()
    row = int(np.flatnonzero(beyond)[0])
    assert f"at a limit: {name} (upper)" in found.reason_for(row)
    assert found.q[row, k] == pytest.approx(middle, abs=1e-3)


def test_near_may_be_open_or_only_a_start():
    robot = lw.load("four_bar")
    q = robot.assemble([0.5], q0=robot.neutral()).q
    moved = q + np.array([0.0, 0.05, -0.05])
    np.testing.assert_allclose(robot.assemble([0.6], q0=moved).q, robot.assemble([0.6], q0=q).q)
    five = lw.load("five_bar")
    far = five.assemble([0.0, 0.0], q0=[1.5, 0.0, -1.5, 0.0])
    assert not far.success and "q0 is not assembled" in far.reason
    assert five.assemble([0.0, 0.0], q0=[1.5, 0.0, -1.5, 0.0], follow=False).success
    any_branch = robot.assemble([2.5], q0=robot.neutral(), follow=False)
    assert any_branch.success
    for option in ({"tries": 5}, {"seed": 1}):
        with pytest.raises(InputError, match="follow=False takes q0 as the start of a search"):
            robot.assemble([2.5], q0=robot.neutral(), **option)


def test_one_row_has_the_bits_that_it_has_in_a_batch():
    solver = lw.load("five_bar").assembler()
    near = solver.solve([0.0, 0.0]).q
    goal = rng("bits of ways").uniform(-1.5, 1.5, (50, 2))
    whole = solver.solve(goal, q0=near)
    assert 5 < np.count_nonzero(whole.success) < 50
    for k in range(50):
        alone = solver.solve(goal[k], q0=near)
        np.testing.assert_array_equal(alone.q, whole.q[k])
    np.testing.assert_array_equal(solver.solve(goal, q0=near, threads=3).q, whole.q)
