"""Trajectories: least-time motions of a Panda through way points, beside toppra and ruckig.

All sides run in this process and have the same points and limits; toppra has the same spline, by
its own grid. Each line says how long its motion takes, and by how much it exceeds its limits where
it is looked at finely: a motion that exceeds them is no answer, but is timed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from benchmarks.context import Context
from benchmarks.in_process import Case
from benchmarks.lines import Line

Floats = NDArray[np.float64]

ACCELERATION = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])
JERK = 500.0
NEAR = np.array([0.0, 0.0, 0.0, -1.5, 0.0, 1.5, 0.0])
SIZE = 0.6
"""How far way points are from `NEAR` (rad)."""
TORQUE = 0.6
"""Share of the effort limits, so that torques limit the motion."""
POINTS = (5, 10, 50)
MANY = 1_000
LOOKS = 20_001
FINE = 1_638
"""Intervals of the finer line of ours: what toppra has for 50 points."""


def run(context: Context) -> None:
    """All questions."""
    core = context.report.settings.get("core")
    if core is not None:
        os.sched_setaffinity(0, {int(core)})
    robot = lw.load("panda")
    random = np.random.default_rng(context.seed)
    for m in POINTS:
        points = NEAR + random.uniform(-SIZE, SIZE, (m, 7))
        through_points(context, robot, points, torques=False)
        through_points(context, robot, points, torques=True)
    many(context, robot, NEAR + random.uniform(-SIZE, SIZE, (MANY, POINTS[-1], 7)))
    states(context, robot, random)


def asked_of(context: Context, operation: str) -> Case:
    """One question; whatever limits an answer exceeds, it is timed."""
    return Case(context, "trajectories", "panda", operation, np.inf)


def limits_of(robot: lw.Robot, *, torques: bool) -> dict[str, Any]:
    """Keywords of `time_optimal`."""
    torque = TORQUE * robot.limits.effort if torques else np.inf
    return {"robot": robot, "acceleration": ACCELERATION, "torque": torque}


def judged(robot: lw.Robot, limits: dict[str, Any], states: Callable[[Any], Any]) -> Any:
    """A check: by how much limits are exceeded at many instants, and how long it takes."""

    def judge(found: list[Any]) -> tuple[float, str]:
        duration, v, a, q = states(found[0])
        shares = [np.abs(v) / robot.limits.velocity, np.abs(a) / limits["acceleration"]]
        if np.isfinite(limits["torque"]).all():
            shares.append(np.abs(robot.inverse_dynamics(q, v, a)) / limits["torque"])
        excess = max(0.0, max(float(each.max()) for each in shares) - 1.0)
        return excess, f"{duration:.4f} s, limits exceeded by {excess:.1e}"

    return judge


def of_ours(made: Any) -> Any:
    """Duration, velocities, accelerations and positions of a trajectory of ours."""
    t = np.linspace(0.0, made.duration, LOOKS)
    return made.duration, made.velocity(t), made.acceleration(t), made(t)


def of_toppra(made: Any) -> Any:
    """The same of toppra's."""
    t = np.linspace(0.0, made.duration, LOOKS)
    return made.duration, made(t, 1), made(t, 2), made(t)


def through_points(context: Context, robot: lw.Robot, points: Floats, *, torques: bool) -> None:
    """One path through way points."""
    what = "velocity, acceleration, torque" if torques else "velocity, acceleration"
    case = asked_of(context, f"{len(points)} way points: {what}")
    limits = limits_of(robot, torques=torques)
    names = {"time_optimal": lw.trajectory.time_optimal, "limits": limits}
    check = judged(robot, limits, of_ours)
    line = Line("time_optimal", "r = time_optimal(q, **limits)", names, "usual")
    case.add(context.ours, line, [points], check=check)
    line = Line(f"time_optimal, {FINE} intervals",
                f"r = time_optimal(q, intervals={FINE}, **limits)", names, "fine")  # fmt: skip
    case.add(context.ours, line, [points], check=check)
    solve = _toppra(context, robot, limits, torques=torques)
    if solve is not None:
        line = Line("TOPPRA, Seidel, its own grid", "r = solve(q)", {"solve": solve}, "usual")
        case.add("toppra", line, [points], check=judged(robot, limits, of_toppra))
    case.run()


def _toppra(
    context: Context, robot: lw.Robot, limits: dict[str, Any], *, torques: bool
) -> Callable[[Floats], Any] | None:
    try:
        import toppra  # noqa: PLC0415  another side
        from toppra import algorithm, constraint  # noqa: PLC0415
    except ImportError as error:
        context.report.leave_out("toppra", "trajectories", str(error))
        return None
    toppra.setup_logging("ERROR")

    def both(limit: Floats) -> Floats:
        return np.stack([-limit, limit], axis=1)

    fixed = [
        constraint.JointVelocityConstraint(both(robot.limits.velocity)),
        constraint.JointAccelerationConstraint(both(ACCELERATION)),
    ]
    if torques:  # our inverse dynamics, one state a call, as toppra asks for it
        scheme = constraint.DiscretizationType.Interpolation
        fixed.append(
            constraint.JointTorqueConstraint(
                robot.inverse_dynamics, both(limits["torque"]), np.zeros(7), scheme
            )
        )

    def solve(points: Floats) -> Any:
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
        s = np.concatenate([[0.0], np.cumsum(lengths)])
        path = toppra.SplineInterpolator(s, points, bc_type="natural")
        return algorithm.TOPPRA(fixed, path, solver_wrapper="seidel").compute_trajectory(0, 0)

    return solve


def many(context: Context, robot: lw.Robot, paths: Floats) -> None:
    """Many paths in one call, on one core and on all that the run may use."""
    case = asked_of(context, f"{len(paths):,} paths of {paths.shape[1]} way points")
    limits = limits_of(robot, torques=True)
    names = {"time_optimal_all": lw.trajectory.time_optimal_all, "limits": limits}
    check = judged(robot, limits, lambda found: of_ours(found[0]))
    for label, more in (("one thread", "threads=1, "), ("all threads", "")):
        statement = f"r = time_optimal_all(q, {more}**limits)"
        line = Line(f"time_optimal_all, {label}, a path", statement, names, "batch")
        case.add(context.ours, line, [paths], per_item=len(paths), check=check)
    case.run()


def states(context: Context, robot: lw.Robot, random: np.random.Generator) -> None:
    """From state to state with bounded jerk."""
    case = asked_of(context, "state to state")
    limits = {"velocity": robot.limits.velocity, "acceleration": ACCELERATION, "jerk": JERK}
    pairs = list(NEAR + random.uniform(-SIZE, SIZE, (50, 2, 7)))
    try:
        import ruckig  # noqa: PLC0415  another side
    except ImportError as error:
        context.report.leave_out("ruckig", "trajectories", str(error))
        return
    names: dict[str, Any] = {"state_to_state": lw.trajectory.state_to_state, "limits": limits}
    line = Line("state_to_state", "r = state_to_state(q[0], q[1], **limits)", names, "usual")
    case.add(context.ours, line, pairs)
    asked = ruckig.InputParameter(7)
    asked.max_velocity, asked.max_acceleration = robot.limits.velocity, ACCELERATION
    asked.max_jerk = [JERK] * 7
    statement = """
        asked.current_position, asked.target_position = q[0], q[1]
        r = Trajectory(7)
        calculate(asked, r)
    """
    names = {"asked": asked, "calculate": ruckig.Ruckig(7).calculate,
             "Trajectory": ruckig.Trajectory}  # fmt: skip
    case.add("ruckig", Line("Ruckig.calculate", statement, names, "usual"), pairs)
    case.run()
