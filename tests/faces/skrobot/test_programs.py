"""Programs written for scikit-robot, run as they stand."""

from __future__ import annotations

import contextlib
import io
import logging
import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

from fresh_python import program_as
from linkwork import faces, models
from linkwork.faces.skrobot import data
from skrobot_robots import needs_robots

FETCH = """
import numpy as np
import skrobot
from skrobot.models import Fetch
from skrobot.model import RobotModel

robot = Fetch()
robot.reset_pose()

# several poses at once, as in the documentation of batch_inverse_kinematics
target_poses = np.array([
    [0.8, -0.3, 0.8, 0.0, np.deg2rad(30), np.deg2rad(-30)],
    [0.7, -0.2, 0.9, 0.0, np.deg2rad(45), np.deg2rad(-15)],
])
solutions, success_flags = robot.batch_inverse_kinematics(target_poses)
for i, (solution, success) in enumerate(zip(solutions, success_flags)):
    if success:
        robot.angle_vector(solution)
        break
print(success_flags, np.round(robot.rarm.end_coords.worldpos(), 3) + 0.0)

cog = robot.centroid()
print(np.allclose(cog, robot.centroid(update_mass_properties=False)))
print(RobotModel().centroid())

all_links = robot.link_lists(robot.gripper_link, robot.root_link)
movable = RobotModel.filter_movable_links(all_links)
print(len(all_links), len(movable), len(robot.leaf_links))

torques = robot.torque_vector()
force = np.array([10, 0, 0])
loaded = robot.torque_vector(force_list=[force], target_coords=[robot.rarm.end_coords])
now = robot.angle_vector()
moving = robot.torque_vector(
    calc_statics_p=False, av_prev=now - 0.01, av=now, av_next=now + 0.01, dt=0.01)
print(len(torques), bool(np.abs(loaded - torques).max() > 1), len(moving))
print(skrobot.__version__, Fetch.__module__)
"""
PR2 = """
import numpy as np
from skrobot.coordinates import make_coords, Coordinates
from skrobot.models import PR2

robot = PR2()
current_angles = robot.angle_vector()
new_angles = np.zeros(len(robot.joint_list))
robot.angle_vector(new_angles)
result_array = np.zeros(len(robot.joint_list))
for i in range(100):
    angles = robot.angle_vector(return_av=result_array)
print(angles is result_array, robot.forward_kinematics(new_angles).shape)
all_links = robot.link_lists(robot.r_gripper_tool_frame, robot.root_link)
print(len(all_links))

robot.reset_manip_pose()
target = make_coords(pos=[0.6, -0.2, 0.9])
robot.rarm.inverse_kinematics(target, rotation_mask=True)
print(np.allclose(robot.rarm.end_coords.worldpos(), target.worldpos(), atol=1e-3))

# the older words for masks, and a frame that is moved step by step
arm = [link for link in robot.larm.link_list]
rot = robot.larm.end_coords.copy_worldcoords()
for step in range(5):
    rot.translate([0.01, 0, 0.02], 'world')
    av = robot.inverse_kinematics(
        rot, link_list=arm, move_target=robot.larm_end_coords, rotation_axis=False)
    assert av is not False
print(np.allclose(robot.larm_end_coords.worldpos(), rot.worldpos(), atol=1e-3))
robot.look_at_hand('larm')
eye = robot.head_end_coords
to_hand = robot.larm_end_coords.worldpos() - eye.worldpos()
print(round(float(eye.worldrot()[:, 2] @ to_hand / np.linalg.norm(to_hand)), 4))
robot.gripper_distance(0.04, arm='rarm')
print(round(robot.gripper_distance(arm='rarm'), 6))
"""
VIEWERS = """
import time
import numpy as np
import skrobot

viewer = skrobot.viewers.TrimeshSceneViewer(resolution=(640, 480))
robots = [skrobot.models.Kuka(), skrobot.models.Fetch()]
box = skrobot.model.Box(extents=[0.2, 0.3, 0.4], with_sdf=True)
box.translate([0.8, 0, 0.2])
plane = skrobot.model.Box(extents=(2, 2, 0.01), face_colors=(1.0, 1.0, 1.0), pos=(0, 0, -0.1))
axis = skrobot.model.Axis.from_cascoords(robots[0].rarm.end_coords)
for k, robot in enumerate(robots):
    robot.translate([0, k, 0])
    viewer.add(robot)
for link in (box, plane, axis):
    viewer.add(link)
viewer.set_camera([np.deg2rad(45), -np.deg2rad(0), np.deg2rad(135)], distance=1.5)
viewer.show()
while viewer.is_active:
    robots[0].angle_vector(robots[0].angle_vector() + 0.01)
    viewer.redraw()
    time.sleep(0.01)
for _ in range(5):
    robots[0].rarm.joint_list[1].joint_angle(0.1, relative=True)
    viewer.redraw()
print(round(float(robots[0].rarm.joint_list[1].joint_angle()), 6))
print(box.sdf(np.array([[0.8, 0.0, 0.2]])).tolist())
while not viewer.has_exit:
    time.sleep(0.1)
viewer.wait_until_close()
print('closed')
"""
HAND_MADE = """
import numpy as np
from skrobot.coordinates import CascadedCoords, Coordinates, make_cascoords
from skrobot.coordinates.math import rpy_matrix
from skrobot.model import Box, Cylinder, Link, RobotModel, RotationalJoint, LinearJoint

base, upper = Box([0.2, 0.2, 0.1], name='base'), Cylinder(0.03, 0.4, name='upper')
fore = Link(name='fore')
base.assoc(upper)
upper.translate([0, 0, 0.3])
upper.assoc(fore)
fore.translate([0, 0, 0.5])
joints = []
for kind, parent, child in ((RotationalJoint, base, upper), (LinearJoint, upper, fore)):
    joint = kind(child_link=child, parent_link=parent, name=child.name + '_joint', axis='x')
    child.add_joint(joint)
    child.add_parent_link(parent)
    parent.add_child_link(child)
    joints.append(joint)
robot = RobotModel(link_list=[base, upper, fore], joint_list=joints)
end = CascadedCoords(parent=fore, name='end')
robot.end_coords = end
robot.angle_vector(np.array([np.pi / 2, 0.1]))
print(np.round(end.worldpos(), 3) + 0.0)
robot.translate([1, 0, 0])
print(np.round(end.worldpos(), 3) + 0.0, robot.upper is upper)
c = Coordinates(pos=[0.1, 0.2, 0.3], rot=rpy_matrix(np.pi / 2, np.pi / 3, np.pi / 5))
print(np.round(c.inverse_transform_vector(c.transform_vector([1, 2, 3])), 6))
parent, child = make_cascoords(pos=[1, 0, 0]), make_cascoords(pos=[2, 0, 0])
parent.assoc(child)
parent.rotate(np.pi, 'z')
print(np.round(child.worldpos(), 6) + 0.0)
"""
TOUCHING = """
import numpy as np
from skrobot.models import Kuka

robot = Kuka()
robot.reset_manip_pose()
hit, pairs = robot.self_collision_check()
print(hit, type(pairs).__name__)
folded = robot.angle_vector()
folded[1], folded[3], folded[5] = 2.0, -2.0, 0.0
robot.angle_vector(folded)
more = robot.self_collision_check()[1]
print([tuple(name[-6:] for name in pair) for pair in more - pairs])
"""


def run(tmp_path: Path, text: str) -> list[str]:
    here = {"LINKWORK_BROWSER": "0", "SSH_CONNECTION": "", "SSH_TTY": ""}
    return program_as("skrobot", text, tmp_path, **here)


@pytest.mark.slow
def test_a_robot_with_its_poses_masses_and_torques(tmp_path: Path):
    assert run(tmp_path, FETCH) == [
        "[True, True] [ 0.8 -0.3  0.8]",
        "True",
        "[0. 0. 0.]",
        "9 8 7",
        "14 True 14",
        "0.4.7 linkwork.faces.skrobot.models.fetch",
    ]


@needs_robots
@pytest.mark.slow
def test_a_robot_with_two_arms_and_a_head(tmp_path: Path):
    assert run(tmp_path, PR2) == ["True (30,)", "13", "True", "True", "1.0", "0.04"]


@pytest.mark.slow
def test_a_loop_with_a_viewer(tmp_path: Path):
    assert run(tmp_path, VIEWERS) == ["0.5", "[-0.1]", "closed"]


@pytest.mark.slow
def test_a_robot_made_in_code(tmp_path: Path):
    assert run(tmp_path, HAND_MADE) == [
        "[ 0.1 -0.2  0.3]",
        "[ 0.1 -0.2  0.3] True",
        "[1. 2. 3.]",
        "[0. 0. 0.]",
    ]


@pytest.mark.slow
def test_a_robot_that_touches_itself(tmp_path: Path):
    first, second = run(tmp_path, TOUCHING)
    assert first.endswith("set")
    assert second == "[('link_0', 'link_5')]"


# what a program prints with the original, statement by statement

PROGRAMS = Path(__file__).parent / "programs"
DESCRIPTIONS = Path(data.fetch_urdfpath()).parent
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")
LABEL = re.compile(r"(?m)^(?P<name>.+?) (?:=|!!) ")


def statements(text: str) -> dict[str, str]:
    """What was printed, by name; arrays go over several lines."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        match = LABEL.match(line)
        name = match["name"] if match else name
        found[name] = f"{found[name]} {line}" if not match else line
    return found


def same(ours: str, theirs: str) -> bool:
    """Whether words are the same, and numbers within 2e-4 (angles of theirs are float32)."""
    if re.sub(r"[\s\d.e-]+", "", ours) != re.sub(r"[\s\d.e-]+", "", theirs):
        return False
    first, second = (list(map(float, NUMBER.findall(each))) for each in (ours, theirs))
    return len(first) == len(second) and all(
        abs(a - b) <= 2e-4 * (1 + abs(b)) for a, b in zip(first, second, strict=True)
    )


SLOW = ("batch", "dynamics", "legs", "reach", "two_arms")
NAMES = [
    pytest.param(path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
    for path in sorted(PROGRAMS.glob("*.txt"))
]


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_those_of_the_original(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    for robot in ("fetch", "kuka"):
        shutil.copy(DESCRIPTIONS / f"{robot}.urdf", tmp_path)
    shutil.copy(models.path("humanoid"), tmp_path)
    text = (PROGRAMS / "show.py").read_text() + (PROGRAMS / f"{name}.py").read_text()
    said = io.StringIO()
    level = logging.root.manager.disable
    faces.install("skrobot")
    try:
        with contextlib.redirect_stdout(said), np.printoptions(), warnings.catch_warnings():
            exec(compile(text, f"{name}.py", "exec"), {"__name__": "__main__"})
    finally:
        faces.uninstall("skrobot")
        logging.disable(level)
    ours = statements(said.getvalue())
    theirs = statements((PROGRAMS / f"{name}.txt").read_text())
    wrong = {key: (ours.get(key), line) for key, line in theirs.items()
             if key not in ours or not same(ours[key], line)}  # fmt: skip
    assert not wrong
    assert len(theirs) >= 12
