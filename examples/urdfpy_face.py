"""A program written for urdfpy, on Linkwork: two lines more, and the rest as it was.

Run it with ``python examples/urdfpy_face.py``, or, as a program without these two lines would be,
with ``linkwork run --as urdfpy examples/urdfpy_face.py``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import linkwork as lw
from linkwork import faces

faces.install("urdfpy")  # from here on the old name leads to Linkwork

from urdfpy import URDF  # noqa: E402 -- there is no such module before the line above

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "arm.urdf"
    lw.urdf.write(lw.urdf.read("ur5e"), path)  # a robot to try it with
    robot = URDF.load(str(path))

print(f"{len(robot.links)} links on '{robot.base_link.name}'")
print("joints:", ", ".join(joint.name for joint in robot.actuated_joints))

# Poses come by link, for joints by name, by object, or in the order of actuated_joints.
fk = robot.link_fk(cfg={"shoulder_pan_joint": 1.0, "elbow_joint": -0.5})
tool = robot.link_map["tool0"]
print("position of the tool (m):", np.round(fk[tool][:3, 3], 4))

# A thousand configurations are one call.
lower, upper = robot.joint_limit_cfgs
turns = {joint: np.linspace(lower[joint], upper[joint], 1000) for joint in robot.actuated_joints}
path_of_tool = robot.link_fk_batch(turns, link=tool)[:, :3, 3]
print("farthest from the base (m):", round(float(np.linalg.norm(path_of_tool, axis=1).max()), 4))

# Objects may be changed; the next call counts it.
robot.joint_map["wrist_3_joint"].origin[2, 3] += 0.05
moved = robot.link_fk({"shoulder_pan_joint": 1.0, "elbow_joint": -0.5}, link=tool)
distance = float(np.linalg.norm(moved[:3, 3] - fk[tool][:3, 3]))
print(f"the tool has moved by {distance:.3f} m")
if abs(distance - 0.05) > 1e-12:
    raise SystemExit("the change of the wrist was not counted")
