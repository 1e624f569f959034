"""Robots for the face of exudyn.robotics and for the original: the same numbers for both."""

from __future__ import annotations

from typing import Any

import numpy as np

from seeds import random_pose, rng

KINDS = ("Rx", "Ry", "Rz", "Px", "Py", "Pz")


def near_pose(random: np.random.Generator) -> np.ndarray:
    return random_pose(random, random.normal(size=3) / 3.0)


def random_robot(
    module: Any,
    name: str,
    count: int,
    *,
    tree: bool = False,
    kinds: tuple[str, ...] = KINDS,
    gains: bool = False,
    local: bool = True,
    base: bool = True,
) -> Any:
    """A robot of a module's classes with random numbers; a tree has every parent, and two roots."""
    random = rng(f"exudyn robot {name}")
    pose = near_pose(random) if base else np.eye(4)
    robot = module.Robot(
        gravity=random.normal(size=3) * 5.0,
        base=module.RobotBase(HT=pose),
        tool=module.RobotTool(HT=np.eye(4) if tree else near_pose(random)),
        referenceConfiguration=random.uniform(-0.5, 0.5, count),
    )
    for k in range(count):
        arms = random.normal(size=(6, 3)) / 3.0
        robot.AddLink(
            module.RobotLink(
                mass=random.uniform(0.5, 2.0),
                COM=random.normal(size=3) / 5.0,
                inertia=np.sum(arms**2) * np.eye(3) - arms.T @ arms,
                preHT=near_pose(random),
                localHT=near_pose(random) if local else np.eye(4),
                jointType=str(random.choice(kinds)),
                parent=int(random.integers(-1, k)) if tree and k > 0 else -2,
                PDcontrol=(20.0, 2.0) if gains else (None, None),
            )
        )
    return robot
