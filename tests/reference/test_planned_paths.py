"""Planned paths against coal on the shapes of the files: none touches, 0.5 mm by 0.5 mm along it.

Scenes are made up around robots of example-robot-data: forests, shelves, cages, tables, narrow
slits. Besides arms there are an arm that carries a box, two arms side by side and an arm on wheels.
Between two configurations that coal looks at no point of the robot moves by more than that; links
against the scene, and against each other where the model looks at the pair. What is not solved must
say why. LINKWORK_PLAN_PROBLEMS sets another number of problems for each robot, 63 makes 504, and
looks that closely; by default it is 2 mm.
"""

from __future__ import annotations

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import linkwork as lw
from dynamics_engines import Pinocchio
from linkwork.scene import Box, Cylinder
from robots import example_robot_urdf
from seeds import rng

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
coal = pytest.importorskip("coal", reason="coal (pip install coal) is not installed")

Floats = NDArray[np.float64]

PROBLEMS = int(os.environ.get("LINKWORK_PLAN_PROBLEMS", "2"))
STEP = 5e-4 if "LINKWORK_PLAN_PROBLEMS" in os.environ else 2e-3
"""How far any point of the robot moves between two configurations that coal looks at (m)."""


# --- robots ---------------------------------------------------------------------------------------


def written(root: ET.Element, path: Path) -> Path:
    path.write_text(ET.tostring(root, encoding="unicode"))
    return path


def parts_of(name: str, prefix: str = "") -> list[ET.Element]:
    """Links and joints of a file of example-robot-data, meshes by their places, all renamed."""
    source = example_robot_urdf(name)
    folder = str(source)[: str(source).index("example-robot-data")]
    text = source.read_text().replace("package://", folder)
    text = re.sub(r'(\b(?:link|joint|name)=")', rf"\1{prefix}", text)
    return [each for each in ET.fromstring(text) if each.tag in ("link", "joint")]


def joint(name: str, kind: str, parent: str, child: str, xyz: str, axis: str = "") -> ET.Element:
    made = ET.Element("joint", name=name, type=kind)
    ET.SubElement(made, "parent", link=parent)
    ET.SubElement(made, "child", link=child)
    ET.SubElement(made, "origin", xyz=xyz, rpy="0 0 0")
    if axis:
        ET.SubElement(made, "axis", xyz=axis)
        ET.SubElement(made, "limit", lower="-1.5", upper="1.5", velocity="1", effort="100")
    return made


def two_arms(folder: Path) -> Path:
    """Two UR5 side by side on one table."""
    root = ET.Element("robot", name="two_arms")
    ET.SubElement(root, "link", name="table")
    for side, y in (("left_", "0.35"), ("right_", "-0.35")):
        root.extend(parts_of("ur5_robot", side))
        root.append(joint(f"{side}mount", "fixed", "table", f"{side}world", f"0 {y} 0"))
    return written(root, folder / "two_arms.urdf")


def arm_on_wheels(folder: Path) -> Path:
    """A UR5 on a box that drives and turns."""
    root = ET.Element("robot", name="arm_on_wheels")
    for name in ("floor", "along", "across", "cart"):
        ET.SubElement(root, "link", name=name)
    cart = root[-1]
    shape = ET.SubElement(cart, "collision")
    ET.SubElement(shape, "origin", xyz="0 0 0.2", rpy="0 0 0")
    ET.SubElement(ET.SubElement(shape, "geometry"), "box", size="0.6 0.4 0.3")
    root.append(joint("drive_x", "prismatic", "floor", "along", "0 0 0", "1 0 0"))
    root.append(joint("drive_y", "prismatic", "along", "across", "0 0 0", "0 1 0"))
    root.append(joint("turn", "revolute", "across", "cart", "0 0 0", "0 0 1"))
    root.extend(parts_of("ur5_robot"))
    root.append(joint("mount", "fixed", "cart", "world", "0.1 0 0.36"))
    return written(root, folder / "arm_on_wheels.urdf")


MADE: dict[str, Callable[[Path], Path]] = {"two arms": two_arms, "arm on wheels": arm_on_wheels}


# --- scenes ---------------------------------------------------------------------------------------


def forest(scene: lw.Scene, reach: float, g: np.random.Generator) -> None:
    for k in range(12):
        angle, radius = g.uniform(-np.pi, np.pi), reach * g.uniform(0.35, 0.9)
        place = (radius * np.cos(angle), radius * np.sin(angle), 0.4 * reach)
        scene.add_cylinder(f"tree {k}", radius=0.02 * reach, length=0.9 * reach, pose=place)


def shelf(scene: lw.Scene, reach: float, g: np.random.Generator) -> None:
    turn = lw.pose(rpy=[0, 0, g.uniform(-np.pi, np.pi)])
    for k in range(4):
        T = turn @ lw.pose([0.65 * reach, 0, reach * (0.1 + 0.3 * k)])
        scene.add_box(f"board {k}", reach * np.array([0.4, 0.9, 0.02]), T)
    for side in (-1, 1):
        T = turn @ lw.pose([0.65 * reach, 0.45 * side * reach, 0.5 * reach])
        scene.add_box(f"side {side}", reach * np.array([0.4, 0.02, 1.0]), T)


def cage(scene: lw.Scene, reach: float, g: np.random.Generator) -> None:
    for k in range(10):
        angle = 2 * np.pi * k / 10 + g.uniform(-0.1, 0.1)
        place = 0.75 * reach * np.array([np.cos(angle), np.sin(angle), 0.5])
        scene.add_box(f"bar {k}", reach * np.array([0.03, 0.03, 1.0]), place)


def table(scene: lw.Scene, reach: float, g: np.random.Generator) -> None:
    scene.add_box("top", reach * np.array([0.7, 1.2, 0.03]), reach * np.array([0.7, 0.0, 0.15]))
    for k in range(6):
        place = reach * np.array([g.uniform(0.4, 0.9), g.uniform(-0.5, 0.5), 0.15 + 0.1])
        if k % 2:
            scene.add_cylinder(f"can {k}", radius=0.04 * reach, length=0.17 * reach, pose=place)
        else:
            scene.add_box(f"box {k}", reach * np.array([0.08, 0.08, 0.17]), place)


def slit(scene: lw.Scene, reach: float, g: np.random.Generator) -> None:
    turn, gap = lw.pose(rpy=[0, 0, g.uniform(-np.pi, np.pi)]), 0.12 * reach
    for k, side in enumerate((-1, 1)):
        T = turn @ lw.pose([0.55 * reach, side * (0.4 * reach + gap), 0.4 * reach])
        scene.add_box(f"wall {k}", reach * np.array([0.05, 0.8, 0.8]), T)


KINDS = {"forest": forest, "shelf": shelf, "cage": cage, "table": table, "slit": slit}


# --- the judge ------------------------------------------------------------------------------------


class Judge:
    """The shapes of a file, and a scene, for coal."""

    def __init__(self, robot: lw.Robot, path: Path, pairs: Any, held: Any = None) -> None:
        """``pairs``: of links that are looked at; ``held``: an object at a joint."""
        self.robot = robot
        self.engine = Pinocchio(robot.mechanism, pin.buildModelFromUrdf(str(path)))
        source = path if "example-robot-data" in str(path) else example_robot_urdf("ur5_robot")
        folder = str(source)[: str(source).index("example-robot-data")]
        kind, model = pin.GeometryType.COLLISION, self.engine.model
        self.own = pin.buildGeomFromUrdf(model, str(path), kind, None, [folder])
        self.data = model.createData()
        of_link: dict[str, list[int]] = {}
        for k, each in enumerate(self.own.geometryObjects):
            of_link.setdefault(model.frames[each.parentFrame].name, []).append(k)
        self.pairs = [
            (a, b)
            for pair in pairs
            if pair.checked
            for a in of_link.get(pair.link_a, [])
            for b in of_link.get(pair.link_b, [])
        ]
        if held is not None:
            self.own.addGeometryObject(held)
        self.reaches = self._reaches()

    def _reaches(self) -> Floats:
        """How far any point that a number of q moves is from its axis at most (m), 1 of a slide."""
        model, m = self.engine.model, self.robot.mechanism
        far = np.zeros(model.njoints)  # from each joint to what hangs on it, whatever the others do
        for each in self.own.geometryObjects:
            each.geometry.computeLocalAABB()
            own = np.linalg.norm(each.placement.act(np.array(each.geometry.aabb_center)))
            at = each.parentJoint
            far[at] = max(far[at], float(own) + float(each.geometry.aabb_radius))
        for at in range(model.njoints - 1, 0, -1):
            span = slice(model.idx_qs[at], model.idx_qs[at] + model.nqs[at])
            ends = np.abs([model.lowerPositionLimit[span], model.upperPositionLimit[span]])
            slide = ends.max() if "P" in model.joints[at].shortname()[5:] else 0.0
            above = far[at] + slide + np.linalg.norm(model.jointPlacements[at].translation)
            far[model.parents[at]] = max(far[model.parents[at]], float(above))
        found = np.zeros(m.n_q)
        for own in self.engine.joints:
            assert own.ours.stop - own.ours.start == 1
            at = next(j for j in range(model.njoints) if model.idx_qs[j] == own.pin.start and j)
            slides = "P" in model.joints[at].shortname()[5:]
            found[own.ours] += abs(own.multiplier) * (1.0 if slides else far[at])
        return found

    def along(self, q: Floats) -> Floats:
        """Configurations along a path between which no point moves by more than a step (m)."""
        found = [q[:1]]
        for a, b in pairwise(q):
            n = max(1, int(np.ceil(np.abs(b - a) @ self.reaches / STEP)))
            found.append(a + np.arange(1, n + 1)[:, None] / n * (b - a))
        return np.concatenate(found)

    def touches(self, q: Floats, scene: lw.Scene) -> str:
        """The first two things that meet at configurations (n, nq); empty where none do."""
        geometry = self.own.copy()
        count = geometry.ngeoms
        for each in scene:
            solid = {
                Box: lambda s: coal.Box(*map(float, s.size)),
                Cylinder: lambda s: coal.Cylinder(float(s.radius), float(s.length)),
            }[type(each.shape)](each.shape)
            T = pin.SE3(np.array(each.T_world_object))
            geometry.addGeometryObject(pin.GeometryObject(each.name, 0, 0, T, solid))
        for a in range(count):
            own = geometry.geometryObjects[a]
            link = self.engine.model.frames[own.parentFrame].name
            if own.parentJoint:
                for b in range(count, geometry.ngeoms):
                    name = geometry.geometryObjects[b].name
                    if not {(name, link), (link, name)} & scene.allowed:
                        geometry.addCollisionPair(pin.CollisionPair(a, b))
        for a, b in self.pairs:
            geometry.addCollisionPair(pin.CollisionPair(a, b))
        found = geometry.createData()
        model = self.engine.model
        manager = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(model, geometry, found)
        for row in q:
            at = self.engine.configuration(row)
            if pin.computeCollisions(model, self.data, manager, at, True):
                pin.computeCollisions(model, self.data, geometry, found, at, True)
                hit = next(k for k, r in enumerate(found.collisionResults) if r.isCollision())
                pair = geometry.collisionPairs[hit]
                names = [geometry.geometryObjects[k].name for k in (pair.first, pair.second)]
                return f"{names[0]} meets {names[1]} at {row.tolist()}"
        return ""


def nearest_turns(robot: lw.Robot, start: Floats, goal: Floats) -> Floats:
    """The goal's pose with each joint in the turn of the start.

    An arm whose shoulder would have to turn through the table has no path to another turn of it.
    """
    turned = goal - 2 * np.pi * np.round((goal - start) / (2 * np.pi))
    low, high = robot.limits.lower, robot.limits.upper
    return np.where((turned >= low) & (turned <= high), turned, goal)


def problems(
    robot: lw.Robot, model: Any, label: str, n: int
) -> list[tuple[str, lw.Scene, Floats, Floats]]:
    """Scenes of all kinds, each with a start and a goal that are free."""
    g = rng(label)
    places = robot.fk_all(robot.random(200, seed=g))[..., :3, 3]
    reach = min(float(np.linalg.norm(places, axis=-1).max()), 1.5)
    found: list[tuple[str, lw.Scene, Floats, Floats]] = []
    for k in range(20 * n):
        kind = [*KINDS][k % len(KINDS)]
        scene = lw.Scene()
        KINDS[kind](scene, reach, g)
        drawn = robot.random(300, seed=g)
        free = drawn[~model.collides(drawn, scene)]
        if len(free) >= 2:
            found.append((kind, scene, free[0], nearest_turns(robot, free[0], free[-1])))
        if len(found) == n:
            break
    return found


def judged(robot: lw.Robot, judge: Judge, model: Any, label: str, n: int) -> None:
    """Plan problems, and let the judge look at the paths."""
    given = problems(robot, model, label, n)
    solved = looked = 0
    for kind, scene, start, goal in given:
        plan = robot.plan(start, goal, scene=scene, model=model, seconds=3.0)
        if not plan:
            assert "seconds" in plan.reason, (kind, plan.reason)
            continue
        solved += 1
        assert plan.proven
        q = judge.along(plan.q)
        looked += len(q)
        told = judge.touches(q, scene)
        assert not told, f"{kind}: {told}, from {start.tolist()} to {goal.tolist()}"
    print(f"{label}: {solved} of {len(given)} problems solved, {looked} configurations looked at")
    assert len(given) == n
    assert solved >= 0.8 * len(given)


@pytest.mark.parametrize(
    "name",
    [
        "ur5_robot",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("kinova", *MADE)  # wheels; more than one arm
        ),
    ],
)
def test_no_planned_path_touches_the_shapes(name: str, tmp_path: Path) -> None:
    path = MADE[name](tmp_path) if name in MADE else example_robot_urdf(name)
    robot = lw.load(path)
    model = robot.collision(allow=[str(example_robot_urdf("ur5_robot").parents[2])])
    judge = Judge(robot, path, model.pairs)
    judged(robot, judge, model, f"paths of {name}", PROBLEMS)


@pytest.mark.slow
def test_a_box_that_is_carried_touches_nothing() -> None:
    path = example_robot_urdf("panda")
    robot = lw.load(path)
    size, T = (0.05, 0.05, 0.2), lw.pose([0.0, 0.0, 0.2])
    fingers = ["panda_leftfinger", "panda_rightfinger"]
    shape = Box(np.array(size))
    model = robot.collision().with_attached("box", shape, "panda_hand", T, allowed=fingers)
    engine = pin.buildModelFromUrdf(str(path))
    frame = engine.frames[engine.getFrameId("panda_hand")]
    placement = frame.placement * pin.SE3(T)
    held = pin.GeometryObject("box", frame.parentJoint, 0, placement, coal.Box(*size))
    judge = Judge(robot, path, model.pairs, held)
    judged(robot, judge, model, "paths with a box", PROBLEMS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "ur5"])
def test_paths_of_motion_bench_maker_touch_nothing(name: str) -> None:
    """LINKWORK_PLAN_FOLDER is a folder of its problems, as `benchmarks.planning` takes it."""
    folder = os.environ.get("LINKWORK_PLAN_FOLDER")
    if folder is None:
        pytest.skip("LINKWORK_PLAN_FOLDER names no folder of problems")
    planning = pytest.importorskip("benchmarks.planning")
    solved = count = looked = 0
    for _, robot, given in planning.from_files(Path(folder), name):
        model = robot.collision()
        judge = Judge(robot, planning.described(name), model.pairs)
        for problem in given:
            count += 1
            planner = robot.planner(problem.joints, model=model)
            plan = planner.plan(problem.start, problem.goal[None], problem.scene)
            if not plan:
                print(f"{name}: {plan.reason}")
                continue
            solved += 1
            q = judge.along(plan.q)
            looked += len(q)
            assert not judge.touches(q, problem.scene)
    print(f"{name}: {solved} of {count} solved, {looked} configurations looked at")
    assert solved >= 0.98 * count
