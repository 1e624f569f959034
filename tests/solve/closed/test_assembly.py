"""Assembly: the passive joints for positions of the actuated ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
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
    none = five.all_solutions([1.4, -1.4])
    assert none.q.shape == (0, 4) and "cannot be assembled" in none.reason


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
