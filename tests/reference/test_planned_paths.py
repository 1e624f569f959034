"""Planned paths against coal on the meshes of the files: none touches, 0.5 mm by 0.5 mm along it.

Scenes are made up around robots of example-robot-data: forests, shelves, cages, tables, narrow
slits, and an arm that carries a box. What is not solved must say why. LINKWORK_PLAN_PROBLEMS sets
another number of problems for each robot.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import linkwork as lw
from dynamics_engines import Pinocchio
from linkwork.scene import Box, Cylinder
from robots import example_robot_urdfs
from seeds import rng

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
coal = pytest.importorskip("coal", reason="coal (pip install coal) is not installed")

Floats = NDArray[np.float64]

PROBLEMS = int(os.environ.get("LINKWORK_PLAN_PROBLEMS", "3"))
STEP = 5e-4
"""How far any point of the robot moves between two configurations that coal looks at (m)."""


def path_of(name: str) -> Path:
    return next(path for path in example_robot_urdfs() if path.stem == name)


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
    """The meshes of a file, and a scene, for coal."""

    def __init__(self, robot: lw.Robot, path: Path) -> None:
        self.engine = Pinocchio(robot.mechanism, pin.buildModelFromUrdf(str(path)))
        folder = str(path)[: str(path).index("example-robot-data")]
        kind = pin.GeometryType.COLLISION
        self.own = pin.buildGeomFromUrdf(self.engine.model, str(path), kind, None, [folder])
        self.data = self.engine.model.createData()

    def touches(self, q: Floats, scene: lw.Scene, held: Any = None) -> NDArray[np.bool_]:
        """Whether something that moves meets the scene, for each configuration (n, nq)."""
        geometry = self.own.copy()
        if held is not None:
            geometry.addGeometryObject(held)
        count = geometry.ngeoms
        for each in scene:
            solid = {
                Box: lambda s: coal.Box(*map(float, s.size)),
                Cylinder: lambda s: coal.Cylinder(float(s.radius), float(s.length)),
            }[type(each.shape)](each.shape)
            T = pin.SE3(np.array(each.T_world_object))
            geometry.addGeometryObject(pin.GeometryObject(each.name, 0, 0, T, solid))
        for a in range(count):
            if geometry.geometryObjects[a].parentJoint:
                for b in range(count, geometry.ngeoms):
                    geometry.addCollisionPair(pin.CollisionPair(a, b))
        found = geometry.createData()
        verdicts = np.zeros(len(q), bool)
        for k, row in enumerate(q):
            at = self.engine.configuration(row)
            pin.updateGeometryPlacements(self.engine.model, self.data, geometry, found, at)
            verdicts[k] = pin.computeCollisions(geometry, found, True)
        return verdicts


def finely(robot: lw.Robot, plan: Any, reach: float, step: float = STEP) -> Floats:
    """Configurations along a path between which no point moves by more than a step (m)."""
    return plan.sample(step / (reach * np.sqrt(robot.n_v)))


def problems(
    robot: lw.Robot, model: Any, label: str, n: int
) -> list[tuple[str, lw.Scene, Floats, Floats]]:
    """Scenes of all kinds, each with a start and a goal that are free."""
    g = rng(label)
    places = robot.fk_all(robot.random(200, seed=g))[..., :3, 3]
    reach = float(np.linalg.norm(places, axis=-1).max())
    found: list[tuple[str, lw.Scene, Floats, Floats]] = []
    for k in range(20 * n):
        kind = [*KINDS][k % len(KINDS)]
        scene = lw.Scene()
        KINDS[kind](scene, reach, g)
        drawn = robot.random(300, seed=g)
        free = drawn[~model.collides(drawn, scene)]
        if len(free) >= 2:
            found.append((kind, scene, free[0], free[-1]))
        if len(found) == n:
            break
    return found


@pytest.mark.parametrize(
    "name",
    [
        "ur5_robot",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("panda", "z1", "xarm7", "kinova", "so100")
        ),
    ],
)
def test_no_planned_path_touches_the_meshes(name: str) -> None:
    path, often = path_of(name), name != "ur5_robot"
    robot = lw.load(path)
    model, judge = robot.collision(), Judge(robot, path)
    solved = 0
    given = problems(robot, model, f"paths of {name}", PROBLEMS if often else 1)
    for kind, scene, start, goal in given:
        plan = robot.plan(start, goal, scene=scene, seconds=3.0)
        if not plan:
            assert "seconds" in plan.reason, (kind, plan.reason)
            continue
        solved += 1
        assert plan.proven
        step = STEP if often else 4 * STEP
        hits = judge.touches(finely(robot, plan, model.reach, step), scene)
        assert not hits.any(), (kind, start.tolist(), goal.tolist())
    print(f"{name}: {solved} of {len(given)} problems solved")
    assert solved >= 0.8 * len(given)


@pytest.mark.slow
def test_a_box_that_is_carried_touches_nothing() -> None:
    path = path_of("panda")
    robot = lw.load(path)
    size, T = (0.05, 0.05, 0.2), lw.pose([0.0, 0.0, 0.2])
    scene = lw.Scene()
    shelf(scene, 0.9, rng("carried"))
    model = robot.collision().with_attached(
        "box",
        Box(np.array(size)),
        "panda_hand",
        T,
        allowed=["panda_leftfinger", "panda_rightfinger"],
    )
    judge = Judge(robot, path)
    frame = judge.engine.model.frames[judge.engine.model.getFrameId("panda_hand")]
    placement = frame.placement * pin.SE3(T)
    held = pin.GeometryObject("box", frame.parentJoint, 0, placement, coal.Box(*size))
    drawn = robot.random(400, seed=rng("carrying"))
    free = drawn[~model.collides(drawn, scene)]
    solved = 0
    for start, goal in zip(free[:10:2], free[1:11:2], strict=True):
        plan = robot.plan(start, goal, scene=scene, model=model, seconds=5.0)
        if plan:
            solved += 1
            assert not judge.touches(finely(robot, plan, model.reach), scene, held).any()
    assert solved >= 3
