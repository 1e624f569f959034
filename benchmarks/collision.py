"""Collision: Panda against 20 boxes and cylinders, and itself, beside coal and python-fcl.

All sides run in this process and have the same convex shapes and pairs. Verdicts are judged by the
signed distances of coal: where a side says otherwise, the table gives how many states and how deep
or far these are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from benchmarks import collision_peers as peers
from benchmarks import collision_work as work
from benchmarks.context import Context
from benchmarks.in_process import Case
from benchmarks.lines import Line

Floats = NDArray[np.float64]

FILE = "panda_description/urdf/panda.urdf"
SRDF = "panda_description/srdf/panda.srdf"
BASE = "panda_link0"
JOINTS = tuple(f"panda_joint{k}" for k in range(1, 8))
OVERHANG = 0.02
"""Of our outer spheres (m)."""
BATCH = 200_000
JUDGED = 1_000
"""States of which coal's distances judge the verdicts; Python loops are timed on these."""
SINGLE = 200
HUMANOID = "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf"
POSES = 100
"""Poses of a batch of inverse kinematics that stays clear."""
EXACT = 2e-6
"""What a verdict or a distance may differ by from coal's (m), whose own distances end at 1e-6."""

PUBLISHED = (
    "not run: no wheel, and each robot is compiled anew. Its C++ kernel for Panda (59 spheres, "
    "AVX2), measured apart from this run: 5.6 M states/s all free, 5.3 M random (blocks of 8); "
    "13.5 to 14.6 M inside its planner; 1 to 2 us a state from Python, no batch call",
    "its spheres do not cover the meshes: 24 to 34 % of its paths touch the scene on the meshes; "
    "its authors publish a median of 35 us a plan (arXiv 2309.14545)",
)
"""What is said of VAMP 0.6.4, whose lines are no part of a run."""


@dataclass
class Sides:
    """The robot and its scene as each side has it; None is one that is not here."""

    pairs: Sequence[tuple[str, str]]
    obstacles: Sequence[work.Obstacle]
    robot: peers.Robot
    ours: Any  # the model of Linkwork
    scene: Any
    to_ours: Callable[[Floats], Floats]


def run(context: Context, data: Path) -> None:
    """All questions."""
    core = context.report.settings.get("core")
    if core is not None:
        os.sched_setaffinity(0, {int(core)})
    for text in PUBLISHED:
        context.report.leave_out("vamp", "collision", text)
    try:
        robot = peers.Robot(data / FILE, data.parents[1], JOINTS, BASE)
    except ImportError as error:
        context.report.problem(f"collision needs Pinocchio and coal as judges: {error}")
        return
    sides = prepare(context, robot, data)
    limits = (robot.model.lowerPositionLimit[:7], robot.model.upperPositionLimit[:7])
    verdicts(context, sides, "unrelated states", work.unrelated(limits, BATCH, context.seed))
    verdicts(context, sides, "along motions", work.motions(limits, BATCH, context.seed))
    q = work.unrelated(limits, SINGLE, context.seed + 1)
    one_state(context, sides, q)
    self_distances(context, sides, q)
    clearances(context, sides, q)
    clear_poses(context, sides, data, limits)


def prepare(context: Context, robot: peers.Robot, data: Path) -> Sides:
    """The scene, our model of the robot where there is one, and pairs of links: ours or SRDF's."""
    obstacles = work.scene(context.seed)
    own = lw.load(data / FILE)
    columns = [int(own.mechanism.q_start[own.mechanism.joint(name)]) for name in JOINTS]

    def to_ours(q: Floats) -> Floats:
        out = np.zeros((*q.shape[:-1], own.n_q))
        out[..., columns] = q
        return out

    scene = lw.Scene()
    for each in obstacles:
        if each.sides is not None:
            scene.add_box(each.name, each.sides, each.T_world_obstacle)
        else:
            scene.add_cylinder(each.name, each.radius, each.length, each.T_world_obstacle)
    if not hasattr(own, "collision"):
        context.report.leave_out(context.ours, "collision", "Robot.collision is not there yet")
        return Sides(robot.every_pair(data / SRDF), obstacles, robot, None, scene, to_ours)
    model = own.collision(overhang=OVERHANG)
    pairs = [(pair.link_a, pair.link_b) for pair in model.pairs if pair.checked]
    return Sides(pairs, obstacles, robot, model, scene, to_ours)


def judged(depths: Floats, take: Callable[[Any], Any] = lambda r: r) -> Any:
    """A check of verdicts: how far from touching the states are that it is wrong about."""

    def judge(found: list[Any]) -> tuple[float, str]:
        said = np.concatenate([np.atleast_1d(take(r)) for r in found]).astype(bool)
        wrong = said[: len(depths)] != (depths[: len(said)] <= 0.0)
        far = np.abs(depths[: len(wrong)][wrong])
        share = f"{100 * said.mean():.0f} % touch"
        if not wrong.any():
            return 0.0, share
        return float(
            far.max()
        ), f"{share}; {wrong.sum()} of {len(wrong)} differ, by {far.max():.1e} m"

    return judge


def verdicts(context: Context, sides: Sides, what: str, q: Floats) -> None:
    """Many states: ours in one call, the others in a Python loop."""
    case = asked_of(context, f"collides, {what}")
    rows = [sides.robot.to(row) for row in q[:JUDGED]]
    depths = peers.ByPinocchio(sides.robot, sides.pairs, sides.obstacles).depths(rows)
    if sides.ours is not None:
        names = {"collides": sides.ours.collides, "scene": sides.scene}
        line = Line(f"model.collides, {len(q):,} rows", "r = collides(q, scene)", names, "batch")
        case.add(context.ours, line, [sides.to_ours(q)], per_item=len(q), check=judged(depths))
    _loops(context, case, sides, rows, depths)
    case.run()


def one_state(context: Context, sides: Sides, q: Floats) -> None:
    """One state a call."""
    case = asked_of(context, "collides, one state")
    rows = [sides.robot.to(row) for row in q]
    depths = peers.ByPinocchio(sides.robot, sides.pairs, sides.obstacles).depths(rows)
    if sides.ours is not None:
        names = {"collides": sides.ours.collides, "scene": sides.scene}
        line = Line("model.collides, one row", "r = collides(q, scene)", names, "single")
        case.add(context.ours, line, list(sides.to_ours(q)), check=judged(depths))
    _loops(context, case, sides, rows, depths)
    case.run()


def _loops(
    context: Context, case: Case, sides: Sides, rows: Sequence[Floats], depths: Floats
) -> None:
    given = (sides.robot, sides.pairs, sides.obstacles)
    pin = peers.ByPinocchio(*given)
    check = judged(depths)
    for label, how in (("all pairs", "geometry, found"), ("tree", "tree")):
        statement = f"r = collisions(model, data, {how}, q, True)"
        case.add("pinocchio", Line(f"computeCollisions, {label}", statement, pin.names(), "loop"),
                 rows, check=check)  # fmt: skip
    line = Line("DynamicAABBTree managers", "r = f(q)", {"f": peers.by_managers(*given)}, "loop")
    case.add("coal", line, rows, check=check)
    fcl = _fcl(context, sides)
    if fcl is not None:
        line = Line("DynamicAABBTree managers", "r = f(q)", {"f": fcl.collides}, "loop")
        case.add("python-fcl", line, rows, check=check)


def self_distances(context: Context, sides: Sides, q: Floats) -> None:
    """Distances of all pairs of links, with their nearest points; ours with gradients."""
    case = asked_of(context, f"distances of {len(sides.pairs)} self pairs")
    rows = [sides.robot.to(row) for row in q]
    pin = peers.ByPinocchio(sides.robot, sides.pairs, ())
    if sides.ours is not None:
        names = {"distances": sides.ours.distances}
        own = sides.to_ours(q)
        one = Line("model.distances, one row, gradients", "r = distances(q, gradients=True)", names)
        case.add(context.ours, one, list(own), check=_distances(sides, pin, rows))
        many = np.ascontiguousarray(np.tile(own, (50, 1)))
        label = f"model.distances, {len(many):,} rows, gradients"
        line = Line(label, "r = distances(q, gradients=True)", names, "batch")
        case.add(context.ours, line, [many], per_item=len(many))
    statement = "r = distances(model, data, geometry, found, q)"
    line = Line("computeDistances, no gradients", statement, pin.names(), "loop")
    case.add("pinocchio", line, rows)
    fcl = _fcl(context, sides)
    if fcl is not None:
        line = Line("distance, pair after pair", "r = f(q)", {"f": fcl.self_distances}, "loop")
        case.add("python-fcl", line, rows)
    case.run()


def _distances(sides: Sides, pin: peers.ByPinocchio, rows: Sequence[Floats]) -> Any:
    """A check of distances: the largest difference from coal's of pairs that are apart."""

    def judge(found: list[Any]) -> tuple[float, str]:
        worst = 0.0
        for q, result in zip(rows, found, strict=True):
            expected = pin.by_links(q)
            for pair, own in zip(result.pairs, result.distance, strict=True):
                theirs = expected[frozenset(pair)]
                if theirs > EXACT:
                    worst = max(worst, abs(float(own) - theirs))
        return worst, ""

    return judge


def clearances(context: Context, sides: Sides, q: Floats) -> None:
    """The nearest pair of all, scene and self."""
    case = asked_of(context, "clearance, self and scene")
    rows = [sides.robot.to(row) for row in q]
    pin = peers.ByPinocchio(sides.robot, sides.pairs, sides.obstacles)
    depths = pin.depths(rows)
    if sides.ours is not None:
        names = {"clearance": sides.ours.clearance, "scene": sides.scene}

        def check(found: list[Any]) -> tuple[float, str]:
            own = np.array([float(np.asarray(r.distance)) for r in found])
            apart = depths > EXACT
            return float(np.abs(own - depths)[apart].max(initial=0.0)), ""

        line = Line("model.clearance, one row", "r = clearance(q, scene)", names, "single")
        case.add(context.ours, line, list(sides.to_ours(q)), check=check)
    statement = "r = distances(model, data, geometry, found, q)"
    case.add("pinocchio", Line("computeDistances", statement, pin.names(), "loop"), rows)
    case.run()


def clear_poses(context: Context, sides: Sides, data: Path, limits: Any) -> None:
    """Inverse kinematics of poses of clear states, from anywhere: answers that touch nothing."""
    if sides.ours is None:
        return
    own = sides.ours.mechanism.name
    robot = lw.load(data / FILE)
    q = sides.to_ours(work.unrelated(limits, 10 * POSES, context.seed + 2))
    _clear_case(context, own, robot, sides.ours, sides.scene, q, ("panda_link8",))
    hands = lw.load(data / HUMANOID)
    frames = ("left_wrist_yaw_link", "right_wrist_yaw_link")
    # legs and fingers, which move no wrist, stay: otherwise some targets have no clear answer
    q = np.tile(hands.neutral(), (20 * POSES, 1))
    moved = list(hands.solver(tasks=[lw.ik.Pose(frame) for frame in frames]).problem.moved)
    q[:, moved] = hands.random(20 * POSES, seed=context.seed)[:, moved]
    _clear_case(context, hands.name, hands, hands.collision(), None, q, frames)


def _clear_case(
    context: Context,
    name: str,
    robot: Any,
    model: Any,
    scene: Any,
    q: Floats,
    frames: Sequence[str],
) -> None:
    """Some poses of one robot; answers that touch and are called solved are wrong."""
    q = q[~model.collides(q, scene)][:POSES]
    limits = lw.ik.Clearance(margin=0.0, scene=scene)
    solver = robot.solver(tasks=[lw.ik.Pose(frame) for frame in frames], limits=limits)
    targets = [robot.fk(q, frame) for frame in frames]

    def check(found: list[Any]) -> tuple[float, str]:
        wrong = max(float((r.success & model.collides(r.q, scene)).mean()) for r in found)
        solved = min(float(r.success.mean()) for r in found)
        return wrong, f"{100 * solved:.0f} % of {len(q)} poses solved"

    case = Case(context, "collision", name, f"{POSES} poses, clear, {len(frames)} frame(s)", 0.0)
    line = Line("solver.solve, limits=Clearance", "r = solve(q)", {"solve": solver.solve}, "batch")
    case.add(context.ours, line, [targets], per_item=len(q), check=check)
    case.run()


def asked_of(context: Context, operation: str) -> Case:
    """One question; answers of any side that are wrong by more than `EXACT` are not timed."""
    return Case(context, "collision", "panda", operation, EXACT)


def _fcl(context: Context, sides: Sides) -> peers.ByFcl | None:
    try:
        return peers.ByFcl(sides.robot, sides.pairs, sides.obstacles)
    except ImportError as error:
        context.report.leave_out("python-fcl", "collision", str(error))
        return None
