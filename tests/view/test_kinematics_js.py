"""The kinematics of the page, run under Node and compared with Python's."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from closed_mechanisms import with_every_kind
from linkwork.algorithms.registry import find
from linkwork.ik import Position
from linkwork.ops.numpy import NUMPY
from linkwork.view.kinematics import page_kinematics, quoted
from node import run_js
from robots import chain_urdf, every_joint_urdf, various_robot_urdfs
from seeds import rng

DRIVER = Path(lw.__file__).parent / "view" / "page" / "kinematics.js"
CLOSED = ["four_bar", "five_bar", "slider_crank", "delta", "stewart", "excavator", "gripper",
          "linkage_leg", "double_wishbone", "triped_leg", "triped"]  # fmt: skip
OF_ALL_KINDS = ["slider_crank", "five_bar", "gripper", "delta", "double_wishbone", "triped_leg"]
"""In the plane, with couplings, in space; of one freedom and of more."""
ARMS = ["panda", "ur5e", "puma560", "scara", "planar_3r"]


def in_page(robot, body: str, **data: Any) -> Any:
    """What ``body`` returns, with ``r``, the kinematics of a robot, and ``given`` in scope."""
    start = (
        f"const {{RobotKinematics}} = await import('{DRIVER.as_uri()}');"
        "const r = new RobotKinematics({kinematics: given.text});\n"
        "const most = (x) => Math.max(0, ...Array.from(x, Math.abs));"
        "const outside = (q) => Math.max(0, ...Array.from(q, (x, k) =>"
        " Math.max(x - r.upper[k], r.lower[k] - x)));\n"
    )
    text = page_kinematics(robot.mechanism).source
    return run_js(start + body, {"text": text, **data})


def twelve(T) -> np.ndarray:
    return np.asarray(T)[..., :3, :].reshape(*np.shape(T)[:-2], 12)


@cache
def assembled(name: str) -> tuple[Any, np.ndarray]:
    """A robot with loops, and a configuration where they are closed."""
    robot = lw.load(name)
    found = in_page(robot, "return r.close(given.q);", q=robot.neutral())
    assert found["success"]
    q = np.array(found["q"])
    assert np.abs(by_numpy("closure", robot, q)).max() <= 1e-10
    return robot, q


def by_numpy(algorithm: str, robot, *arrays) -> np.ndarray:
    """An algorithm for each row of arrays, in NumPy: nothing is compiled."""
    function, rows = (
        find(algorithm).function,
        np.broadcast_arrays(*arrays) if len(arrays) == 1 else arrays,
    )
    if rows[0].ndim == 1:
        return np.array(function(NUMPY, robot.mechanism, *rows))
    return np.array([function(NUMPY, robot.mechanism, *row) for row in zip(*rows, strict=True)])


# --- where things are ----------------------------------------------------------------------------

ROBOTS = ["panda", "ur5e", "humanoid", "quadruped", "mobile_arm", "two_arm_torso", *CLOSED]
EXAMPLES = various_robot_urdfs()


def check_places(robot) -> None:
    q = robot.random(6, seed=rng(f"places {robot.name}"))
    found = in_page(
        robot,
        "return given.q.map((q) => ({poses: r.poses(q), positions: r.positions(q).flat(),"
        " way: r.difference(given.q[0], q), there: r.integrate(q, given.v)}));",
        q=q,
        v=(v := rng("page v").normal(size=robot.n_v)),
    )
    poses = np.array([each["poses"] for each in found]).reshape(6, -1, 3, 4)
    expected = by_numpy("fk_all", robot, q)[..., :3, :]
    assert np.abs(poses - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())
    for key, wanted in (
        ("positions", by_numpy("all_positions", robot, q)),
        ("way", by_numpy("difference", robot, np.tile(q[:1], (6, 1)), q)),
        ("there", by_numpy("integrate", robot, q, np.tile(v, (6, 1)))),
    ):
        numbers = np.array([each[key] for each in found])
        np.testing.assert_allclose(numbers, wanted, rtol=0, atol=1e-12, err_msg=key)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("robot", [*ROBOTS, *EXAMPLES], ids=lambda r: getattr(r, "stem", r))
def test_poses_and_positions_are_pythons(robot):
    check_places(lw.load(robot))


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_every_type_of_joint_is_pythons(base):
    check_places(lw.load(every_joint_urdf(), base=base))


WEIGHED = ["panda", "stewart"]
MORE_WEIGHED = [*(name for name in CLOSED if name != "stewart"), "humanoid", "quadruped"]


@pytest.mark.parametrize(
    "name", [*WEIGHED, *(pytest.param(name, marks=pytest.mark.slow) for name in MORE_WEIGHED)]
)
def test_forces_and_masses_are_pythons(name):
    robot = lw.load(name)
    q = assembled(name)[1][None] if name in CLOSED else robot.random(3, seed=4)
    found = in_page(
        robot, "return given.q.map((q) => [r.gravityTorques(q), r.centerOfMass(q)]);", q=q
    )
    forces = by_numpy("gravity_forces", robot, q)
    np.testing.assert_allclose(np.array([f for f, _ in found]), forces, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        np.array([c for _, c in found]), by_numpy("com", robot, q), rtol=0, atol=1e-12
    )


def test_what_is_not_known_is_left_out_and_told():
    robot = lw.load("four_bar")
    assert page_kinematics(robot.mechanism).messages == ()
    light = lw.load(_without_masses())
    assert any("mass" in message for message in page_kinematics(light.mechanism).messages)
    assert in_page(light, "return [r.centerOfMass([0]), r.poses([0]).length];") == [None, 36]


def _without_masses() -> str:
    return (
        '<robot name="light"><link name="a"/><link name="b"/><joint name="j" type="revolute">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>'
    )


@pytest.mark.parametrize("name", ["panda", "two_arm_torso", "delta", "every joint"])
def test_the_derivative_of_a_drag_is_that_of_differences(name):
    """Rows of a frame for steps in units, and of the closure, against differences."""
    every = name == "every joint"
    robot = lw.load(every_joint_urdf(), base="floating") if every else lw.load(name)
    m = robot.mechanism
    closed = m.is_closed
    q = assembled(name)[1] if closed else robot.random(seed=3)
    v = 0.2 * rng("page target").normal(size=m.n_v)
    every_T = twelve(by_numpy("fk_all", robot, np.array(by_numpy("integrate", robot, q, v))))
    # of a frame that coupled joints carry, where there is one
    followers = list(m.followers())
    body = followers[-1] if followers else int(m.frame_body[m.n_link_frames - 1])
    frame = m.frame(m.body_names[body])
    T = every_T[frame]
    rows, slopes, by_steps, by_slopes = (
        np.array(x)
        for x in in_page(
            robot,
            """
        const free = new Uint8Array(r.nv).fill(1);
        const asked = {frame: given.frame, T: given.T, free, turn: 0.3};
        const at = (q) => { r.aim(q, given.frame, given.T);
          return Array.from(r.error, (x, k) => k < 3 ? x : 0.3 * x); };
        at(given.q);
        const rows = r.frameRows(asked);
        const open = (q) => r.nRows ? Array.from(r.openAt(q)) : [];
        open(given.q);
        const slopes = r.scaledRows(asked.free);
        const h = 1e-6, byAim = [], byOpen = [];
        for (let k = 0; k < r.nv; k++) {
          const way = new Float64Array(r.nv);
          way[k] = h * r.unit[k];
          const [a, b] = [r.integrate(given.q, way), r.integrate(given.q, way.map((x) => -x))];
          const [ea, eb, oa, ob] = [at(a), at(b), open(a), open(b)];
          byAim.push(ea.map((x, i) => (eb[i] - x) / (2 * h)));
          byOpen.push(oa.map((x, i) => (ob[i] - x) / (2 * h)));
        }
        return [rows, slopes, byAim, byOpen];""",
            q=q, frame=frame, T=T,
        )
    )  # fmt: skip
    np.testing.assert_allclose(rows.reshape(6, -1), by_steps.T, rtol=0, atol=1e-7)
    if closed:
        np.testing.assert_allclose(slopes.reshape(-1, m.n_v), by_slopes.T, rtol=0, atol=1e-7)


# --- frames that are dragged ---------------------------------------------------------------------

DRAGS = """
  return given.q.map((q, k) => { const f = r.drag(q, given.frame, given.T[k], given.options);
    return {...f, outside: outside(f.q)}; });"""


def drags(robot, q, T, frame=None, **options):
    index = robot.frame_names.index(frame or robot.tip)
    found = in_page(robot, DRAGS, q=q, T=twelve(T), frame=index, options=options)
    where = robot.fk(np.array([each["q"] for each in found]), frame or robot.tip)
    apart = np.linalg.norm(where[:, :3, 3] - np.asarray(T)[:, :3, 3], axis=1)
    told = np.array([each["positionError"] for each in found])
    np.testing.assert_allclose(told, apart, rtol=0, atol=1e-12)  # what is told is what is
    assert max(each["outside"] for each in found) <= 1e-12
    return found


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ARMS)
def test_a_drag_reaches_what_is_near(name):
    robot = lw.load(name)
    q, there = robot.random(100, seed=5), robot.random(100, seed=6)
    T = robot.fk(q + 0.1 * (there - q))
    found = drags(robot, q, T)
    reached = [each["positionError"] < 1e-6 and each["rotationError"] < 1e-6 for each in found]
    assert np.mean(reached) >= 0.97
    assert [each["reason"] == "" for each in found] == reached


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ARMS)
def test_many_drags_reach_what_is_anywhere(name):
    """One way downhill from anywhere to anywhere: limits are often in between, which it tells."""
    robot = lw.load(name)
    q, T = robot.random(100, seed=5), robot.fk(robot.random(100, seed=6))
    found = drags(robot, q, T)
    reached = np.array([each["positionError"] < 1e-6 and each["rotationError"] < 1e-6
                        for each in found])  # fmt: skip
    assert reached.mean() >= 0.35
    assert all(each["reason"] for each, good in zip(found, reached, strict=True) if not good)
    several = drags(robot, q, T, tries=20)
    assert np.mean([each["reason"] == "" for each in several]) >= 0.9


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ARMS)
def test_out_of_reach_it_comes_as_near_as_any(name):
    robot = lw.load(name)
    g = rng("out of reach")
    q = robot.random(40, seed=7)
    T = robot.fk(q)
    T[:, :3, 3] *= (2.2 + g.random(40))[:, None]
    best = robot.ik(T[:, :3, 3], tasks=Position(robot.tip), q0=q)
    least = np.linalg.norm(robot.fk(best.q)[:, :3, 3] - T[:, :3, 3], axis=1)
    found = drags(robot, q, T, positionOnly=True)
    excess = np.array([each["positionError"] for each in found]) - least
    assert excess.min() > -1e-3
    assert np.mean(excess < 5e-3) >= 0.75  # others lie behind limits
    beyond = [each for each, d in zip(found, least, strict=True) if d > 2e-3]
    assert all("out of reach by" in each["reason"] for each in beyond)
    assert any(" mm" in each["reason"] and "limit" in each["reason"] for each in beyond)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ARMS)
def test_dragged_past_its_reach_an_arm_goes_on_smoothly_and_then_rests(name):
    robot = lw.load(name)
    q = robot.random(seed=2)
    steps = in_page(
        robot,
        """
      let [q, found] = [Float64Array.from(given.q), []];
      for (let k = 0; k <= 70; k++) {
        const T = given.T.slice();
        T[3] += 0.01 * Math.min(k, 60);
        T[7] -= 0.01 * Math.min(k, 60);
        const f = r.drag(q, given.frame, T);
        found.push([f.positionError, most(r.difference(q, f.q))]);
        q = f.q;
      }
      return found;""",
        q=q,
        T=twelve(robot.fk(q)),
        frame=robot.frame_names.index(robot.tip),
    )
    apart, move = np.array(steps).T
    assert np.abs(np.diff(apart)).max() <= np.sqrt(2) * 0.01 + 1e-3  # as far as the target goes
    assert move.max() < 1.6
    assert move[-5:].max() < 5e-3  # what is free of seven joints still creeps


def test_what_cannot_be_turned_is_reached_in_position():
    """Three joints cannot turn the tool of a plane robot out of the plane."""
    robot = lw.load("planar_3r")
    q = np.array([[0.3, 0.5, -0.4]])
    T = robot.fk(q + 0.1)
    T[:, :3, :3] = T[:, :3, :3] @ np.array([[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]])
    (found,) = drags(robot, q, T)
    assert found["positionError"] < 1e-6
    assert found["rotationError"] == pytest.approx(np.arctan2(0.6, 0.8), abs=1e-3)
    assert "turned away by 36.9°" in found["reason"]


def test_limits_may_be_ignored():
    robot = lw.load("panda")
    q = robot.neutral()[None]
    T = robot.fk(q + np.array([0, 0, 0, 0, 0, 0, 0.0]))
    beyond = robot.mechanism.upper + 0.2
    index = robot.frame_names.index(robot.tip)
    target = twelve(robot.fk(beyond))
    free, held = in_page(
        robot,
        "return [true, false].map((ignoreLimits) => r.drag(given.q, given.frame, given.T,"
        " {ignoreLimits, iterations: 500}));",
        q=robot.mechanism.upper - 0.05, frame=index, T=target,
    )  # fmt: skip
    assert free["reason"] == ""
    assert free["pressed"] == []
    assert held["pressed"]
    assert "limit" in held["reason"]
    assert T.shape == (1, 4, 4)


def test_a_target_that_is_no_pose_moves_nothing():
    robot = lw.load("ur5e")
    q = robot.random(seed=1)
    T = twelve(robot.fk(q))
    T[3] = np.nan
    found = in_page(robot, "return r.drag(given.q, r.nFrames - 1, given.T);", q=q, T=T)
    assert found["q"] == q.tolist()
    assert "finite" in found["reason"]


def test_a_floating_base_stays_unless_it_is_dragged_itself():
    robot = lw.load("quadruped", base="floating")
    m = robot.mechanism
    q = robot.neutral()
    foot = next(k for k in range(m.n_link_frames - 1, 0, -1) if len(m.coordinates_moving(k)) > 3)
    base = m.frame_names.index(robot.link_names[0])
    T_foot, T_base = (robot.fk(q, m.frame_names[k]) for k in (foot, base))
    T_foot[:3, 3] += [0.02, 0.01, 0.05]
    turned = lw.load("planar_2r").fk([0.3, 0.4])[:3, :3]
    T_base[:3] = np.column_stack([turned, [0.4, -0.2, 0.7]])
    by_foot, by_base = in_page(
        robot,
        "return [[given.foot, given.T_foot], [given.base, given.T_base]].map("
        "([frame, T]) => r.drag(given.q, frame, T));",
        q=q, foot=foot, base=base, T_foot=twelve(T_foot), T_base=twelve(T_base),
    )  # fmt: skip
    assert by_foot["q"][:7] == q[:7].tolist()
    assert by_foot["positionError"] < 1e-6
    assert by_base["reason"] == ""
    np.testing.assert_allclose(robot.fk(by_base["q"], robot.link_names[0]), T_base, atol=1e-6)
    assert by_base["q"][7:] == q[7:].tolist()


def test_spherical_joints_are_dragged_inside_their_limits():
    robot = lw.load(every_joint_urdf())
    m = robot.mechanism
    q = robot.random(20, seed=8)
    T = robot.fk(robot.random(20, seed=9), "eye")
    found = drags(robot, q, T, frame="eye")
    c = m.joint("socket")
    after = np.array([each["q"] for each in found])[:, m.q_slice(c)]
    angle = 2 * np.arctan2(np.linalg.norm(after[:, 1:], axis=1), np.abs(after[:, 0]))
    assert angle.max() <= m.angle_limit[c] + 1e-12
    np.testing.assert_allclose(np.linalg.norm(after, axis=1), 1.0, rtol=0, atol=1e-12)
    assert sum(each["reason"] == "" for each in found) >= 10


# --- joints that are set -------------------------------------------------------------------------


def test_a_joint_ends_at_its_limit():
    robot = lw.load("panda")
    k = 1
    lower, upper = robot.mechanism.lower[k], robot.mechanism.upper[k]
    inside, beyond, free = in_page(
        robot,
        "return [[0.3], [9], [9, true]].map(([x, ignoreLimits]) =>"
        " r.setJoint(given.q, 1, [x], {ignoreLimits}));",
        q=robot.neutral(),
    )
    assert (inside["q"][k], inside["success"], inside["reason"]) == (0.3, True, "")
    assert (beyond["q"][k], beyond["success"]) == (upper, False)
    assert beyond["reason"] == f"{robot.joint_names[k]} ends at its limit"
    assert (free["q"][k], free["success"]) == (9.0, True)
    assert lower < upper


def test_a_coupled_joint_takes_its_leader_along():
    robot = lw.load("mobile_arm")
    m = robot.mechanism
    moving = [body for body in range(m.n_bodies) if m.body_joint_types[body].n_q]
    body = next(iter(m.followers()))
    at = m.q_start[m.coordinate[body]]
    leader = 0.5 * (m.lower[at] + m.upper[at])
    wanted = leader * m.multiplier[body] + m.offset[body]
    found = in_page(
        robot,
        "const f = r.setJoint(given.q, given.joint, [given.wanted]);"
        "return [f, r.positions(f.q)[given.joint]];",
        q=robot.neutral(), joint=moving.index(body), wanted=wanted,
    )  # fmt: skip
    assert found[0]["success"]
    assert found[1][0] == pytest.approx(wanted, abs=1e-15)


SWEEPS = """
  return r.joints.map((joint, k) => {
    const c = r.coordinates[joint.coordinate];
    if (c.nq !== 1 || joint.coupled) return null;
    const [start, low, high] = [given.q[c.q], given.lower[c.q], given.upper[c.q]];
    const values = [];
    for (const [a, b] of [[start, high], [high, low], [low, start]]) {
      for (let s = 0; s <= given.n; s++) values.push(a + ((b - a) * s) / given.n);
    }
    let [q, opening, beyond, reasons] = [Float64Array.from(given.q), 0, 0, new Set()];
    let jump = 0;
    for (const value of values) {
      const found = r.setJoint(q, k, [value]);
      jump = Math.max(jump, most(r.difference(q, found.q)));
      q = found.q;
      opening = Math.max(opening, r.opening(q));
      beyond = Math.max(beyond, outside(q));
      if (found.success && Math.abs(q[c.q] - value) > 1e-6) reasons.add("not where it was set");
      if (!found.success) reasons.add(found.reason);
      if (q.some(Number.isNaN)) reasons.add("NaN");
    }
    return {name: joint.name, opening, beyond, jump, reasons: [...reasons], q};
  }).filter(Boolean);"""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", OF_ALL_KINDS)
def test_loops_stay_closed_while_any_joint_goes_from_limit_to_limit(name):
    robot, q = every_kind() if name == "every kind" else assembled(name)
    check_sweeps(robot, q)


def test_a_slider_crank_goes_from_limit_to_limit_without_turning_round_and_round():
    check_sweeps(*assembled("slider_crank"))


def every_kind() -> tuple[Any, np.ndarray]:
    robot = with_every_kind()
    return robot, robot.at


def check_sweeps(robot, q) -> None:
    m = robot.mechanism
    lower, upper = (np.where(np.isfinite(x), x, sign * 2 * np.pi)
                    for x, sign in ((m.lower, -1), (m.upper, 1)))  # fmt: skip
    n = 40 if m.n_v < 30 else 8
    found = in_page(robot, SWEEPS, q=q, lower=lower, upper=upper, n=n)
    for each in found:
        assert each["jump"] < 2.0, each
        assert each["opening"] <= 1e-9, each
        assert each["beyond"] <= 1e-7, each
        assert np.abs(by_numpy("closure", robot, np.array(each["q"]))).max() <= 1e-9
        for reason in each["reasons"]:
            assert "stops at" in reason, each
            assert "limit" in reason or "close no farther" in reason


@pytest.mark.parametrize("name", ["four_bar", "slider_crank"])
def test_a_crank_turns_all_the_way_and_comes_back_to_where_it_was(name):
    robot, q = assembled(name)
    once, steps = in_page(
        robot,
        """
      const at = r.joints.findIndex((joint) => joint.name === "crank");
      const c = r.coordinates[r.joints[at].coordinate];
      const once = r.setJoint(given.q, at, [given.q[c.q] + 2 * Math.PI], {ignoreLimits: true});
      let [q, longest] = [Float64Array.from(given.q), 0];
      for (let k = 1; k <= 360; k++) {
        const f = r.setJoint(q, at, [given.q[c.q] + (2 * Math.PI * k) / 360], {ignoreLimits: true});
        longest = Math.max(longest, most(r.difference(q, f.q)));
        q = f.q;
      }
      return [once, {q, longest}];""",
        q=q,
    )
    assert once["success"]
    for found in (once, steps):
        turned = np.abs(np.array(found["q"]) - q)
        np.testing.assert_allclose(np.round(turned / (2 * np.pi)) * 2 * np.pi, turned, atol=1e-8)
    assert steps["longest"] < 0.1


def test_a_slider_leaves_its_dead_point_and_comes_back():
    """At the end of its stroke no speed of the crank moves it: which way it goes is chosen."""
    robot, q = assembled("slider_crank")
    m = robot.mechanism
    slider = m.q_start[m.joint("slider")]
    assert q[slider] == pytest.approx(0, abs=1e-9)
    found = in_page(
        robot,
        """
      const k = r.joints.findIndex((joint) => joint.name === "slider");
      let [q, path] = [Float64Array.from(given.q), []];
      for (const x of [-0.002, -0.01, -0.03, -0.06, -0.09, -0.06, -0.03, -0.01]) {
        const f = r.setJoint(q, k, [x]);
        path.push([f.success, r.opening(f.q), most(r.difference(q, f.q))]);
        q = f.q;
      }
      return [path, q];""",
        q=q,
    )
    for success, opening, move in found[0]:
        assert success
        assert opening <= 1e-9
        assert move < 1.5  # radians: it does not turn several times
    assert found[1][slider] == -0.01


def parallelogram() -> Any:
    """Cranks of one length: both ways of going on meet where all lies in one line."""
    links = "".join(
        f'<link name="{n}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"'
        ' ixz="0" iyz="0"/></inertial></link>'
        for n in ("ground", "crank", "coupler", "rocker", "end", "tip")
    )
    joint = (
        '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="{} 0 0"/>'
        '<axis xyz="0 0 1"/></joint>'
    )
    joints = "".join(
        joint.format(*each)
        for each in (
            ("j1", "continuous", "ground", "crank", 0),
            ("j2", "continuous", "crank", "coupler", 0.2),
            ("f1", "fixed", "coupler", "end", 0.5),
            ("j3", "continuous", "ground", "rocker", 0.5),
            ("f2", "fixed", "rocker", "tip", 0.2),
        )
    )
    robot = lw.load(f'<robot name="parallelogram">{links}{joints}</robot>')
    return robot.with_loop("end", "tip", "revolute", name="pin").with_actuated("j1")


@pytest.mark.parametrize("start", [1.0, np.pi / 2])
def test_a_parallelogram_stays_one_through_its_change_points(start):
    """Also where a step ends exactly where its four joints lie in one line."""
    robot = parallelogram()
    q = np.array([start, -start, start])
    assert robot.is_assembled(q)
    found = in_page(
        robot,
        """
      let q = Float64Array.from(given.q);
      const path = [];
      for (let k = 1; k <= 80; k++) {
        const f = r.setJoint(q, 0, [given.q[0] + (Math.PI * k) / 20]);
        q = f.q;
        path.push([...q, r.opening(q), f.success]);
      }
      return path;""",
        q=q,
    )
    for a, b, c, opening, success in found:
        assert success
        assert opening <= 1e-9
        assert a + b == pytest.approx(0, abs=1e-5)
        assert c == pytest.approx(a, abs=1e-5)


CIRCLES = """
  return given.frames.map((frame) => {
    let q = Float64Array.from(given.q);
    const T = r.poses(q).slice(12 * frame, 12 * frame + 12);
    let [opening, beyond, bad, reached] = [0, 0, 0, 0];
    for (let k = 0; k <= given.n; k++) {
      const a = (2 * Math.PI * k) / given.n;
      const to = T.slice();
      const far = given.far * r.length;
      to[3] += far * Math.sin(a);
      to[7] += 0.5 * far * Math.sin(2 * a);
      to[11] += 0.5 * far * (1 - Math.cos(a));
      const f = r.drag(q, frame, to, {positionOnly: given.positionOnly});
      q = f.q;
      opening = Math.max(opening, r.opening(q));
      beyond = Math.max(beyond, outside(q));
      reached += f.reason === "";
      bad += q.some(Number.isNaN) || !Number.isFinite(f.positionError);
    }
    return {opening, beyond, bad, reached};
  });"""


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", [*OF_ALL_KINDS, "every kind"])
def test_loops_stay_closed_while_any_frame_is_dragged(name):
    robot, q = every_kind() if name == "every kind" else assembled(name)
    frames = list(range(robot.mechanism.n_link_frames))[:: 1 + robot.mechanism.n_link_frames // 12]
    for positions in (False, True):
        found = in_page(robot, CIRCLES, q=q, frames=frames, n=24, far=0.15,
                        positionOnly=positions)  # fmt: skip
        for each in found:
            assert each["opening"] <= 1e-8, each
            assert each["beyond"] <= 1e-8, each
            assert each["bad"] == 0


@pytest.mark.parametrize("name", ["delta", "stewart"])
def test_platforms_follow_all_the_way(name):
    robot, q = assembled(name)
    frame = robot.frame_names.index("platform")
    (found,) = in_page(robot, CIRCLES, q=q, frames=[frame], n=24, far=0.1,
                       positionOnly=False)  # fmt: skip
    assert found["reached"] == 25


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", CLOSED)
def test_what_is_open_is_closed_with_a_joint_held(name):
    robot, q = assembled(name)
    m = robot.mechanism
    q = robot.integrate(q, 0.05 * rng("open loops").normal(size=m.n_v))
    found = in_page(robot, "return [r.close(given.q), r.close(given.q, {held: [0]})];", q=q)
    assert found[0]["success"]
    assert found[0]["error"] <= 1e-9
    if found[1]["success"]:
        c = int(m.coordinate[next(b for b in range(m.n_bodies) if m.body_joint_types[b].n_q)])
        np.testing.assert_array_equal(np.array(found[1]["q"])[m.q_slice(c)], q[m.q_slice(c)])


def test_a_coupling_by_a_function_stops_where_it_has_no_value():
    robot = lw.load("planar_3r")
    first, second, third = robot.joint_names
    tied = robot.with_coupling(third, (first, second), lambda a, b: np.sqrt(a + 0.5) * b)
    q = np.array([0.3, 0.2, np.sqrt(0.8) * 0.2])
    found, beyond = in_page(
        tied, "return [r.setJoint(given.q, 0, [1]), r.setJoint(given.q, 0, [-2])];", q=q
    )
    assert found["success"]
    assert found["q"][2] == pytest.approx(np.sqrt(1.5) * found["q"][1], abs=1e-10)
    assert beyond["q"][0] == pytest.approx(-0.5, abs=1e-2)
    assert beyond["reason"].startswith(f"{first} stops at -28.")


def test_a_robot_without_joints_is_shown():
    robot = lw.load('<robot name="one"><link name="a"/></robot>')
    poses, dragged, between = in_page(
        robot,
        "return [r.poses([]), r.drag([], 0, [1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0]),"
        " r.interpolate([], [], 0.5)];",
    )
    assert poses == twelve(np.eye(4)).tolist()
    assert dragged["reason"] == "out of reach by 1000 mm"
    assert between == []


def test_between_two_configurations_loops_are_closed():
    robot, q0 = assembled("stewart")
    found = in_page(
        robot,
        "const k = r.joints.findIndex((joint) => joint.name === 'slide1');"
        "const q1 = r.setJoint(given.q, k, [given.q[r.coordinates[k].q] + 0.05]).q;"
        "return [0, 0.25, 0.5, 1].map((s) => r.opening(r.interpolate(given.q, q1, s)));",
        q=q0,
    )
    assert max(found) <= 1e-9


# --- the text ------------------------------------------------------------------------------------


def test_the_text_is_small():
    assert len(page_kinematics(lw.load("panda").mechanism).source) < 7_000
    assert len(page_kinematics(lw.load("stewart").mechanism).source) < 30_000
    talos = [path for path in EXAMPLES if path.stem == "talos_full_v2"]
    if not talos:
        pytest.skip("example-robot-data is not installed")
    assert len(page_kinematics(lw.load(talos[0], base="floating").mechanism).source) < 40_000


def test_names_of_joints_are_text_and_nothing_else():
    name = "a\"'`</script>\\ \n${1} 日本"
    robot = lw.load(_without_masses().replace('"j"', '"JOINT"'))
    source = page_kinematics(robot.mechanism).source.replace('"JOINT"', "NAME")
    assert "NAME" in source
    assert "</" not in quoted(name)
    assert run_js(f"return {quoted(name)};") == name
    assert quoted(name).isascii()


@pytest.mark.slow
def test_a_long_chain_is_shown_and_dragged():
    robot = lw.load(chain_urdf(1000))
    made = page_kinematics(robot.mechanism)
    q = robot.neutral() + 0.01
    tip = len(robot.link_names) - 1
    T = twelve(robot.fk(q + 0.001, robot.frame_names[tip]))
    found = in_page(robot, "return [r.poses(given.q), r.drag(given.q, given.tip, given.T)];",
                    q=q, tip=tip, T=T)  # fmt: skip
    np.testing.assert_allclose(
        np.reshape(found[0], (-1, 3, 4)), robot.fk_all(q)[:, :3], rtol=0, atol=1e-9
    )
    assert found[1]["reason"] == ""
    assert len(made.source) < 1_000_000
