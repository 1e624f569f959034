"""Many loops: side by side, one after the other, and such that depend on each other."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
import pytest

import linkwork as lw
from closed_mechanisms import Closed, null_space, solved, with_every_kind
from dynamics_cases import near
from linkwork.algorithms.independent_rows import row_groups
from linkwork.compile.recipe import algorithm_recipe
from seeds import rng

CRANK, COUPLER, ROCKER, GROUND = 0.06, 0.3, 0.18, 0.3
RISE = float(np.arctan2(0.18, 0.24))  # of the coupler at neutral: a triangle of 3, 4 and 5


def bar(name: str, length: float, at: float = 0.5) -> str:
    """A bar of 2 kg a metre along x; ``at`` is the share of it at which its mass is."""
    mass, turn = 2.0 * length, 2.0 * length**3 / 12.0
    return (
        f'<link name="{name}"><inertial><origin xyz="{at * length} 0 0"/><mass value="{mass}"/>'
        f'<inertia ixx="{0.1 * turn}" iyy="{turn}" izz="{turn}" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
    )


def hinge(name: str, ends: tuple[str, str], x: float, y: float = 0.0, yaw: float = 0.0) -> str:
    return (
        f'<joint name="{name}" type="continuous"><parent link="{ends[0]}"/>'
        f'<child link="{ends[1]}"/><origin xyz="{x} {y} 0" rpy="0 0 {yaw}"/>'
        '<axis xyz="0 0 1"/></joint>'
    )


def linked(robot: lw.Robot, ends: tuple[str, str], at: tuple[float, float], kind: str) -> lw.Robot:
    """The robot with a loop between two links, at x of each; the second frame is turned to fit."""
    q, name = robot.neutral(), f"{ends[0]} {ends[1]}"
    T_a = np.eye(4)
    T_a[0, 3] = at[0]
    robot = robot.with_frame(f"{name} a", ends[0], T_a)
    T_b = np.linalg.inv(robot.fk(q, ends[1])) @ robot.fk(q, f"{name} a")
    assert T_b[0, 3] == pytest.approx(at[1], abs=1e-9)
    robot = robot.with_frame(f"{name} b", ends[1], T_b)
    return robot.with_loop(f"{name} a", f"{name} b", kind, name=name)


def four_bars(k: int, kind: str = "revolute") -> lw.Robot:
    """Four-bars on one base; with "pose" their rockers are two halves that are welded."""
    welded, text = kind == "pose", '<robot name="four_bars"><link name="base"/>'
    for i in range(k):
        names = crank, coupler, rocker, half = [f"{n}{i}" for n in ("a", "b", "c", "d")]
        lengths = CRANK, COUPLER, 0.5 * ROCKER if welded else ROCKER, 0.5 * ROCKER
        text += "".join(map(bar, names[: 3 + welded], lengths))
        text += hinge(f"j{crank}", ("base", crank), 0.0, float(i))
        text += hinge(f"j{coupler}", (crank, coupler), CRANK, 0.0, RISE)
        text += hinge(f"j{rocker}", ("base", rocker), GROUND, float(i), 0.5 * np.pi)
        if welded:
            text += hinge(f"j{half}", (coupler, half), COUPLER, 0.0, -0.5 * np.pi - RISE)
    robot = lw.load(text + "</robot>", loops=False)
    for i in range(k):
        ends = (f"d{i}", f"c{i}") if welded else (f"b{i}", f"c{i}")
        at = (0.5 * ROCKER, 0.5 * ROCKER) if welded else (COUPLER, ROCKER)
        robot = linked(robot, ends, at, kind)
    return robot.with_actuated([f"ja{i}" for i in range(k)])


def scissor(cells: int) -> lw.Robot:
    """Crossed bars, the ends of each cell hinged to the next; the first foot slides on the ground.

    A loop shares a bar with the one before and the one after it.
    """
    rise = np.pi / 6
    text, before = '<robot name="scissor"><link name="base"/>', "base"
    for i in range(cells):
        turn = rise if i == 0 else rise - (np.pi - rise)
        text += bar(f"a{i}", 1.0) + bar(f"b{i}", 1.0, at=0.0)  # b from the pivot on, both ways
        text += hinge(f"ja{i}", (before, f"a{i}"), 0.5 if i else 0.0, 0.0, turn)
        text += hinge(f"jb{i}", (f"a{i}", f"b{i}"), 0.5, 0.0, np.pi - 2 * rise)
        before = f"b{i}"
    robot = linked(lw.load(text + "</robot>", loops=False), ("base", "b0"),
                   (2 * 0.5 * np.cos(rise), -0.5), "y/")  # fmt: skip
    for i in range(cells - 1):
        robot = linked(robot, (f"a{i}", f"b{i + 1}"), (1.0, -0.5), "revolute")
    return robot.with_actuated(["ja0"])


def rack(p: int, q: int) -> lw.Robot:
    """Parallel bars across others, hinged wherever they cross: most loops follow from the rest."""
    rise = np.pi / 6
    text = '<robot name="rack"><link name="base"/>' + bar("a0", float(q))
    text += hinge("ja0", ("base", "a0"), 0.0, 0.0, rise)
    for j in range(q):
        text += bar(f"b{j}", float(p))
        text += hinge(f"jb{j}", ("a0", f"b{j}"), float(j), 0.0, np.pi - 2 * rise)
    for i in range(1, p):
        text += bar(f"a{i}", float(q))
        text += hinge(f"ja{i}", ("b0", f"a{i}"), float(i), 0.0, 2 * rise - np.pi)
    robot = lw.load(text + "</robot>", loops=False)
    for i in range(1, p):
        for j in range(1, q):
            robot = linked(robot, (f"a{i}", f"b{j}"), (float(j), float(i)), "revolute")
    return robot.with_actuated(["ja0", "jb0"])


def check_equations(robot: lw.Robot, label: str) -> None:
    """Accelerations at neutral are those of a null space, to 1e-8 of the largest."""
    random = rng(f"many loops {label}")
    q = getattr(robot, "at", robot.neutral())[None]
    N = null_space(robot.closure_jacobian(q[0]))
    v = (N @ random.normal(size=N.shape[1]))[None]
    tau = random.normal(size=(1, robot.n_v))
    case = Closed(robot, q, v, tau, tau)
    dv, _ = solved(case, tau, robot.closure_bias(q, v))
    near(robot.forward_dynamics(q, v, tau), dv, 1e-8)


def check_copies(k: int, kind: str) -> None:
    """Many four-bars side by side move as one does, each by its own forces."""
    one, many = four_bars(1, kind), four_bars(k, kind)
    random = rng(f"copies of four-bars {kind}")
    given = random.uniform(-0.2, 0.2, size=(k, 1))
    q = one.assemble(given, q0=np.tile(one.neutral(), (k, 1))).q
    v = np.array(
        [N @ random.normal(size=N.shape[1]) for N in map(null_space, one.closure_jacobian(q))]
    )
    tau = random.normal(size=v.shape)
    # q has one four-bar after the other, and where they stand does not matter
    expected = one.forward_dynamics(q, v, tau).ravel()
    found = many.forward_dynamics(*(x.ravel() for x in (q, v, tau)))
    near(found, expected, 1e-11)
    # rows are redundant, and forces the least that hold
    forces = one.loop_forces(q, v, tau).ravel()
    near(many.loop_forces(*(x.ravel() for x in (q, v, tau))), forces, 1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pose", pytest.param("revolute", marks=pytest.mark.slow)])
def test_four_bars_side_by_side_move_as_each_does_alone(kind: str):
    check_copies(3, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["revolute", "pose"])
@pytest.mark.parametrize("k", [24])
def test_many_four_bars_side_by_side_move_as_each_does_alone(kind: str, k: int):
    check_copies(k, kind)


@pytest.mark.parametrize("algorithm", ["forward_dynamics", "inverse_dynamics", "loop_forces"])
def test_what_loops_side_by_side_take_grows_with_their_number(algorithm: str):
    static = {} if algorithm != "inverse_dynamics" else {"free_motions": 0}
    few, many = (
        algorithm_recipe(algorithm, four_bars(k).mechanism, **static).traced() for k in (2, 6)
    )
    assert many.signature.instructions <= 3.01 * few.signature.instructions


@pytest.mark.sweep(1)
@pytest.mark.parametrize("robot", [lambda: scissor(3), lambda: rack(3, 3)], ids=["scissor", "rack"])
def test_loops_that_share_bars_solve_the_equations(robot: Callable[[], lw.Robot]):
    check_equations(robot(), "some")


@pytest.mark.slow
@pytest.mark.parametrize(
    "robot",
    [lambda: scissor(12), lambda: rack(4, 5), lambda: with_every_kind("floating")],
    ids=["scissor", "rack", "every kind"],
)
def test_many_loops_that_share_bars_solve_the_equations(robot: Callable[[], lw.Robot]):
    check_equations(robot(), "many")


def test_loops_are_grouped_with_those_that_they_depend_on_alone():
    groups = row_groups(four_bars(3, "pose").mechanism)
    assert [(len(g.rows), g.rank) for g in groups] == [(3, 3)] * 3
    assert [g.rank for g in row_groups(scissor(4).mechanism)] == [1, 2, 2, 2]
    assert [(len(g.rows), g.rank) for g in row_groups(rack(3, 3).mechanism)] == [(8, 4)]
    # of a row of cells, the hinge of one is held twice
    twice = scissor(4).with_loop("a1 b2 a", "a1 b2 b", "xy/", name="once more")
    groups = row_groups(twice.mechanism)
    assert [(len(g.rows), g.rank) for g in groups] == [(1, 1), (2, 2), (4, 2), (2, 2)]


def test_a_loop_that_cannot_be_closed_leaves_the_others_as_they_are():
    robot = four_bars(2)
    far = np.eye(4)
    far[0, 3] = 5.0
    robot = robot.with_frame("far", "base", far).with_loop("far", "a1", "position", name="open")
    groups = [g for g in row_groups(robot.mechanism) if g.rows[0] < 5]
    assert [(g.rows, g.rank) for g in groups] == [((0, 1), 2)]


@pytest.mark.slow
@pytest.mark.parametrize(("k", "most"), [(12, 5.0), (24, 15.0)])
def test_many_loops_give_a_first_result_soon(k: int, most: float, monkeypatch, tmp_path):
    robot = four_bars(k, "pose")
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    start = process_time()
    q = robot.neutral()
    robot.forward_dynamics(q, np.zeros(robot.n_v), np.zeros(robot.n_v))
    assert process_time() - start < most
