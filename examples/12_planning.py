"""From a description and a scene file to a motion that the motors can follow."""

from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork import models

# any URDF and any scene file (docs/scene.md says how they are written) will do
robot = lw.load(models.path("panda"))
scene = lw.Scene.from_yaml(Path(__file__).parent / "planning" / "shelf.yaml")

# a cup is in the hand: it stays upright on the way, and all stays 10 mm away from the shelf
start = np.array([-1.0, 0.3, 0.0, -1.8, 0.0, 2.1, 0.8])
upright = lw.ik.Direction("tool0")
plan = robot.plan(start, {"joint1": 1.0}, scene=scene, keep=upright, clearance=0.01)
print(plan.success, plan.proven)
print("leans by", plan.errors()["tool0"] < 1e-4 and "less than 0.1 mrad")

# the quickest motion along it under limits of velocity, acceleration and torque, with the cup
loaded = robot.with_payload("tool0", 0.4, [0.0, 0.0, 0.05])
torque = 0.7 * robot.limits.effort
motion = lw.trajectory.along(plan, robot=loaded, acceleration=15.0, torque=torque)
used = motion.uses(robot=loaded, velocity=robot.limits.velocity, acceleration=15.0, torque=torque)
print("takes", round(motion.duration, 1), "s")
print({name: bool(share.max() <= 1.000001) for name, share in used.items()})

message = motion.to_ros(0.01)  # the fields of a ROS JointTrajectory
print(len(message["points"]) > 100, message["joint_names"][0])
