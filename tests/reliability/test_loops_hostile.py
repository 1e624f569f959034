"""Loops and couplings that are wrong or too much: the right answer, or an error that says so."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import DescriptionError, InputError, LinkworkError, UnknownNameError
from linkwork.formats.loops import LoopsRecord, from_text, to_text
from linkwork.mechanism.edit import with_loops
from seeds import rng

TREE = lw.load("four_bar", loops=False)
HINGE = ("coupler_end", "rocker_end")


def planar(*lengths: float, axis: str = "0 0 1") -> str:
    """A chain of hinges along x, with a frame ``end`` at its tip."""
    text = '<robot name="chain"><link name="l0"/>'
    for k, length in enumerate((0.0, *lengths[:-1])):
        text += (
            f'<link name="l{k + 1}"/><joint name="j{k + 1}" type="continuous">'
            f'<parent link="l{k}"/><child link="l{k + 1}"/><axis xyz="{axis}"/>'
            f'<origin xyz="{length} 0 0"/></joint>'
        )
    text += (
        f'<link name="end"/><joint name="tip" type="fixed"><parent link="l{len(lengths)}"/>'
        f'<child link="end"/><origin xyz="{lengths[-1]} 0 0"/></joint></robot>'
    )
    return text


# names and numbers


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (
            lambda r: r.with_loop("couper_end", "rocker_end"),
            UnknownNameError,
            "nearest: coupler_end",
        ),
        (lambda r: r.with_loop(*HINGE, "revolut"), UnknownNameError, "nearest: revolute"),
        (lambda r: r.with_loop(*HINGE, "xx"), InputError, "the axes held"),
        (lambda r: r.with_loop(*HINGE, ""), InputError, "the axes held"),
        (lambda r: r.with_loop(*HINGE, 3), InputError, "the axes held"),
        (lambda r: r.with_loop(*HINGE, "distance"), InputError, "distance above 0"),
        (
            lambda r: r.with_loop(*HINGE, "distance", distance=-1.0),
            InputError,
            "must be a finite number from 0",
        ),
        (
            lambda r: r.with_loop(*HINGE, "distance", distance=np.nan),
            InputError,
            "must be a finite number from 0",
        ),
        (
            lambda r: r.with_loop(*HINGE, "distance", distance=np.inf),
            InputError,
            "must be a finite number from 0",
        ),
        (lambda r: r.with_loop(*HINGE, "pose", distance=1.0), InputError, "'distance' alone"),
        (lambda r: r.with_loop("rocker_link", "rocker_end"), InputError, "are on one body"),
        (lambda r: r.with_loop("rocker_end", "rocker_end"), InputError, "are on one body"),
        (
            lambda r: r.with_loop(*HINGE, name="a").with_loop(*HINGE, name="a"),
            InputError,
            "two of the loop 'a'",
        ),
        (lambda r: r.with_loop(*HINGE, name=""), InputError, "must be a name"),
        (lambda r: r.with_coupling("crnk", "rocker"), UnknownNameError, "nearest: crank"),
        (lambda r: r.with_coupling("crank", "crank"), InputError, "coupled to itself"),
        (lambda r: r.with_coupling("crank", []), InputError, "at least one leader"),
        (
            lambda r: r.with_coupling("crank", ["rocker", "rocker"]),
            InputError,
            "names a leader twice",
        ),
        (lambda r: r.with_coupling("crank", "rocker", rate=np.nan), InputError, "finite"),
        (
            lambda r: r.with_coupling("crank", "rocker", rate=[1, 2]),
            InputError,
            "1 leaders, 2 rates",
        ),
        (
            lambda r: r.with_coupling("crank", "rocker", lambda x: x / 0.0 * 1.0),
            InputError,
            "divides by zero",
        ),
        (
            lambda r: r.with_coupling("crank", "rocker", lambda x: 1.0 if x > 0 else x),
            InputError,
            "branch",
        ),
        (
            lambda r: r.with_coupling("crank", "rocker", lambda x: "a"),
            InputError,
            "must give one number",
        ),
        (
            lambda r: r.with_coupling("crank", "rocker", lambda x: [x]),
            InputError,
            "must give one number",
        ),
        (lambda r: r.with_coupling("crank", "rocker", np.exp), LinkworkError, "exp"),
        (lambda r: r.with_actuated(["crank", "crank"]), InputError, "two of the actuated joint"),
        (lambda r: r.with_actuated("motor"), UnknownNameError, "motor"),
    ],
)
def test_wrong_edits_are_refused_and_change_nothing(change, kind, words):
    with pytest.raises(kind, match=words):
        change(TREE)
    assert not TREE.loops and not TREE.couplings and not TREE.actuated


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_positions_that_are_not_finite(bad):
    robot = lw.load("five_bar")
    for given in ([bad, 0.0], [[0.0, 0.0], [0.0, bad]], {"left": bad}):
        with pytest.raises(InputError, match="finite"):
            robot.assemble(given)
    near = robot.neutral()
    near[1] = bad
    with pytest.raises(InputError, match=r"finite|near"):
        robot.assemble([0.0, 0.0], q0=near)
    with pytest.raises(InputError):
        robot.closure(near)


@pytest.mark.parametrize("given", [[0.1], [0.1, 0.2, 0.3], "left", 1.0j, {"lef": 1.0}, [[["x"]]]])
def test_positions_of_the_wrong_shape_or_kind(given):
    with pytest.raises((LinkworkError, TypeError)) as caught:
        lw.load("five_bar").assemble(given)
    assert str(caught.value)


# what cannot be assembled, and what cannot move


def test_loops_that_fix_everything_leave_no_freedom():
    triangle = lw.load(planar(0.3, 0.4, 0.5)).with_loop("end", "l0", "position").with_actuated("j1")
    assert triangle.mobility().degrees_of_freedom == 1  # it turns about j1 as a whole
    welded = triangle.with_loop("l1", "l0", "pose", name="stop")
    mobility = welded.mobility()
    assert mobility.degrees_of_freedom == 0 and mobility.independent is False
    assert welded.assemble([0.0]).success
    assert not welded.assemble([0.5]).success
    q = welded.assemble([0.0]).q
    target = welded.fk(q, "l2")
    assert welded.ik(target, "l2").success
    target[0, 3] += 0.05
    assert not welded.ik(target, "l2").success


# redundant loops


@pytest.mark.slow
def test_a_parallelogram_has_one_freedom_in_every_kind():
    three, four = lw.load(planar(0.2, 0.5, 0.2)), lw.load(planar(0.2, 0.5, 0.2, 0.5))
    ground = three.with_frame("ground", "l0", lw.pose([0.5, 0.0, 0.0]))
    for kind, rows in (("revolute", 5), ("position", 3), ("xy", 2), ("pose", 6)):
        tree = (
            four.with_loop("l0", "end", kind)
            if kind == "pose"
            else ground.with_loop("ground", "end", kind)
        )
        mobility = tree.with_actuated("j1").mobility()
        assert (mobility.rows, mobility.degrees_of_freedom) == (rows, 1)
        assert len(mobility.redundant) == mobility.rows - mobility.rank


def test_the_same_loop_twice_is_redundant_and_solved():
    robot = TREE.with_loop(*HINGE, "revolute").with_loop(*HINGE, "revolute").with_actuated("crank")
    assert len({loop.name for loop in robot.loops}) == 2
    assert robot.mobility().degrees_of_freedom == 1
    assert robot.assemble(rng("twice").uniform(-1, 1, (20, 1))).success.all()


# couplings


def test_couplings_in_a_circle_hold_together_or_not_at_all():
    robot = (
        lw.load("panda")
        .with_coupling("joint1", "joint2", rate=0.5)
        .with_coupling("joint2", "joint1", rate=2.0)
    )
    assert robot.mobility().degrees_of_freedom == 6
    point = (
        lw.load("panda")
        .with_coupling("joint1", "joint2", rate=0.5)
        .with_coupling("joint2", "joint1")
    )
    assert point.mobility().degrees_of_freedom == 5
    never = lw.load("panda").with_coupling("joint1", "joint2", offset=1.0)
    never = never.with_coupling("joint2", "joint1", offset=1.0)
    with pytest.raises(InputError, match="cannot be assembled"):
        never.mobility()


def test_a_joint_that_is_coupled_and_actuated_drives_its_leader():
    robot = lw.load("panda").with_coupling("joint1", "joint2", rate=2.0).with_actuated("joint1")
    result = robot.assemble([0.6])
    assert result.success and result.q[1] == pytest.approx(0.3, abs=1e-12)
    both = robot.with_actuated(["joint1", "joint2"])
    assert both.mobility().independent is False
    with pytest.raises(InputError, match="none is passive"):
        both.assemble([0.6, 0.3])


# locked joints


def test_locked_joints_leave_what_they_leave():
    robot = lw.load("four_bar")
    q = robot.assemble([0.3]).q
    stiff = robot.with_locked(["crank"], [0.3])
    assert stiff.actuated == () and stiff.mobility().degrees_of_freedom == 0
    whole = robot.with_locked(list(robot.joint_names), q)
    assert not whole.loops and whole.n_q == 0
    with pytest.raises(InputError, match="is open by"):
        robot.with_locked(list(robot.joint_names), [0.3, 0.0, 0.0])


# many, and files


@pytest.mark.slow
def test_a_thousand_loops_are_read_and_written():
    many = 1000
    entries = "\n".join(
        f"  - {{name: n{k}, frame_a: coupler_end, frame_b: rocker_end, kind: revolute}}"
        for k in range(many)
    )
    start = time.perf_counter()
    record = from_text(f"version: 1\nloops:\n{entries}\n")
    m = with_loops(TREE.mechanism, record)
    assert len(m.loops) == many and from_text(to_text(record)) == record
    assert time.perf_counter() - start < 60.0  # a hang


TEXT = """\
version: 1
loops:
  - {name: hinge, frame_a: coupler_end, frame_b: rocker_end, kind: revolute}
  - frame_a: crank_link
    frame_b: rocker_link
    kind: distance
    distance: 0.4
couplings:
  - {joint: coupler, leaders: [crank], rates: [-2.0], offset: 0.1}
  - {joint: rocker, leaders: [crank], operations: [[input, 0], [sin, 0]]}
actuated: [crank]
"""
OTHER = """\
closed_loop: [['coupler_end', 'rocker_end'], ["crank_link", "rocker_link"]]
type: ['6d', '3d']
name_mot: ['crank']
joint_name: ['rocker', 'coupler']
joint_type: ['SPHERICAL', 'FIXED']
"""
PIECES = ("[", "]", "{", "}", ",", ":", "'", '"', "-", "\n", "  ", "&a ", "*a", "!!int ")
PIECES += ("1e999", "nan", ".inf", "-1", "null", "true", "frame_a", "kind", "6d", "\t", "\x00", "é")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("text", [TEXT, OTHER])
def test_damaged_files_are_understood_or_refused(text: str, tmp_path: Path):
    g = rng("damaged loops")
    document = lw.urdf.read("four_bar")
    understood = 0
    for _ in range(300):
        damaged = text
        for _ in range(int(g.integers(1, 4))):
            a = int(g.integers(len(damaged) + 1))
            b = min(len(damaged), a + int(g.choice([0, 1, 4, 30])))
            damaged = damaged[:a] + PIECES[int(g.integers(len(PIECES)))] + damaged[b:]
        path = tmp_path / "d.yaml"
        path.write_bytes(damaged.encode())
        try:
            robot = lw.load(document, loops=path)
        except DescriptionError as error:
            assert all(problem.message for problem in error.problems)
            continue
        understood += 1
        assert isinstance(robot.mechanism.loops, tuple)
        assert isinstance(from_text(damaged), LoopsRecord)
    assert understood < 290


def test_a_side_car_that_is_a_folder_or_a_pipe_is_refused(tmp_path: Path):
    with pytest.raises(DescriptionError, match="not a file"):
        lw.load("four_bar", loops=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"nothing\.yaml: error: there is no such file"):
        lw.load("four_bar", loops=tmp_path / "nothing.yaml")
    (tmp_path / "big.yaml").write_text("a: " + "x" * 3_000_000)
    with pytest.raises(DescriptionError, match="at most 2,000,000"):
        lw.load("four_bar", loops=tmp_path / "big.yaml")


# ----------------------------------------------------- couplings of any rate, many turns from zero


_WHEEL = """<link name="{0}"><inertial><mass value="1"/>
  <inertia ixx="1e-2" iyy="1e-2" izz="1e-2" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn_{0}" type="continuous"><parent link="base"/><child link="{0}"/>
  <axis xyz="0 0 1"/></joint>"""
WHEELS = f"""<robot name="gear"><link name="base"/>{_WHEEL.format("slow")}{_WHEEL.format("fast")}
</robot>"""
RATES = [1e-4, -0.01, 100.0, -1e4]


def gear(rate: float) -> Any:
    return lw.load(WHEELS).with_coupling("turn_fast", "turn_slow", rate=rate)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("rate", RATES)
def test_every_position_is_assembled(rate: float):
    slow = np.linspace(-20.0, 20.0, 101)
    wanted = np.stack([slow, rate * slow], axis=1)
    robot = gear(rate)
    for joint, given in (("turn_slow", slow), ("turn_fast", rate * slow)):
        driven = robot.with_actuated(joint)
        for found in (
            driven.assemble(given[:, None]),
            driven.assemble(given[:, None], q0=robot.neutral()),
            driven.assemble(given[:, None], q0=wanted + 1e-3),
        ):
            assert found.success.all()
            np.testing.assert_allclose(found.q, wanted, rtol=1e-12, atol=1e-12 / min(1, abs(rate)))
    assert robot.is_assembled(wanted).all()
    assert not robot.is_assembled(wanted + np.array([0.0, 1e-3 * (1.0 + abs(rate))])).any()


@pytest.mark.sweep(2)
@pytest.mark.parametrize("rate", RATES)
def test_rates_and_forces(rate: float):
    robot = gear(rate)
    q = robot.with_actuated("turn_slow").assemble([7.0]).q
    np.testing.assert_allclose(
        robot.with_actuated("turn_slow").passive_rates(q)[:, 0], [1.0, rate], rtol=1e-12
    )
    np.testing.assert_allclose(
        robot.with_actuated("turn_fast").passive_rates(q)[:, 0], [1.0 / rate, 1.0], rtol=1e-12
    )
    driven, still = robot.with_actuated("turn_slow"), np.zeros(2)
    dv = driven.forward_dynamics(q, still, [1.0, 0.0])
    wanted = np.array([1.0, rate]) / (1e-2 * (1.0 + rate**2))
    np.testing.assert_allclose(dv, wanted, atol=1e-9 * np.abs(wanted).max())
    np.testing.assert_allclose(driven.inverse_dynamics(q, still, dv), [1.0, 0.0], rtol=1e-9)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("rate", RATES)
def test_a_simulation_goes_on_for_many_turns(rate: float):
    robot = gear(rate)
    found = lw.simulate(robot, robot.neutral(), [10.0, 10.0 * rate], duration=20.0, dt=0.01)
    assert found.finished, found.reason
    np.testing.assert_allclose(found.q[-1], [200.0, 200.0 * rate], rtol=1e-9)
    np.testing.assert_allclose(found.energy, found.energy[0], rtol=1e-9)


def test_a_shaft_that_a_loop_also_holds_keeps_its_branch():
    """A gear on a four-bar's crank: the wheel may be at any number of turns."""
    robot = lw.load("four_bar")
    with_wheel = lw.load(WHEELS).with_coupling("turn_fast", "turn_slow", rate=100.0)
    assert with_wheel.with_actuated("turn_slow").assemble([3.0]).success
    near = robot.assemble([0.3]).q
    assert robot.assemble([0.31], q0=near).success


def test_half_a_turn_from_closed_is_not_assembled():
    robot = lw.load("planar_2r").with_loop("tool0", "base_link", "/xyz", name="level")
    q = np.zeros(robot.n_q)
    assert robot.is_assembled(q)
    q[0] = np.pi
    assert np.abs(robot.closure(q)).max() < 1e-12  # the rows are zero at the antipode
    assert not robot.is_assembled(q)
    assert robot.is_assembled([q, 0 * q]).tolist() == [False, True]
    with pytest.raises(InputError, match="'level rotation' is open by 2 rad"):
        robot.mobility(q)
    driven = robot.with_actuated(robot.joint_names[0])
    with pytest.raises(InputError, match="is not assembled"):
        driven.passive_rates(q)
    assert driven.passive_rates(0 * q).shape == (robot.n_v, 1)
