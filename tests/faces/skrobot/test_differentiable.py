"""``skrobot.kinematics.differentiable``: chains as arrays, and solvers of batches over them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linkwork import poses
from linkwork.faces.skrobot.coordinates import make_cascoords
from linkwork.faces.skrobot.kinematics.differentiable import (
    _build_union_joint_mapping,
    create_batch_ik_solver,
    extract_fk_parameters,
)
from linkwork.faces.skrobot.model import RobotModel
from seeds import rng

ARM = """<robot name="arm"><link name="base"/>
<link name="a"/><link name="b"/><link name="f"/><link name="c"/><link name="d"/><link name="e"/>
<joint name="ja" type="prismatic"><parent link="base"/><child link="a"/>
 <origin xyz="0 0 1" rpy="0 0 0.1"/><axis xyz="0 1 0"/>
 <limit lower="-1" upper="2" effort="1" velocity="3"/></joint>
<joint name="jb" type="continuous"><parent link="a"/><child link="b"/>
 <origin xyz="0.1 0 0"/><axis xyz="0 0 -1"/><limit effort="1" velocity="3"/></joint>
<joint name="jf" type="fixed"><parent link="b"/><child link="f"/><origin xyz="0 0.2 0"/></joint>
<joint name="jc" type="revolute"><parent link="f"/><child link="c"/><origin xyz="0 0 0.3"/>
 <axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="3"/></joint>
<joint name="jd" type="revolute"><parent link="c"/><child link="d"/><origin xyz="0 0 0.3"/>
 <axis xyz="1 0 0"/><limit lower="-3" upper="3" effort="1" velocity="3"/>
 <mimic joint="jc" multiplier="2" offset="0.1"/></joint>
<joint name="je" type="revolute"><parent link="d"/><child link="e"/><origin xyz="0 0 0.3"/>
 <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="3"/></joint>
</robot>"""


def arm() -> tuple[Any, Any]:
    """The arm, moved away from the origin and from zero, and a tool at its end."""
    robot: Any = RobotModel.from_urdf(ARM)
    robot.translate([1, 2, 3]).rotate(0.3, "x")
    for joint, angle in ((robot.ja, 0.5), (robot.jb, 1.0), (robot.jc, 0.2), (robot.je, 0.3)):
        joint.joint_angle(angle)
    return robot, make_cascoords(parent=robot.e, pos=[0.1, 0.2, 0.3]).rotate(0.5, "z")


def links_of(robot: Any, names: str) -> list[Any]:
    return [robot.links[name] for name in names]


def pose_by(parameters: dict[str, Any], q: Any) -> Any:
    """The pose of the target by the arrays alone."""
    T = poses.pose(parameters["base_position"], R=parameters["base_rotation"])
    for k in range(parameters["n_joints"]):
        moved = parameters["joint_axes"][k] * (q[k] - parameters["ref_angles"][k])
        slides = parameters["joint_types"][k] == "prismatic"
        R = np.eye(3)
        if not slides and moved.any():
            angle = np.linalg.norm(moved)
            R = poses.pose(
                wxyz=[np.cos(angle / 2), *np.sin(angle / 2) * moved / angle]
            )[:3, :3]  # fmt: skip
        static = poses.pose(parameters["link_translations"][k], R=parameters["link_rotations"][k])
        T = T @ static @ poses.pose(moved if slides else np.zeros(3), R=R)
    offset = poses.pose(parameters["ee_offset_position"], R=parameters["ee_offset_rotation"])
    return T @ offset


@pytest.mark.parametrize("names", ["abfcde", "abcde", "bce", "cde", "e"])
def test_arrays_give_the_pose_of_the_target(names: str):
    robot, tool = arm()
    links = links_of(robot, names)
    parameters = extract_fk_parameters(robot, links, tool)
    for angle in (0.3, -0.4):
        q = [link.joint.joint_angle() if link.joint.joint_dof else 0.0 for link in links]
        assert_allclose(pose_by(parameters, q), tool.worldcoords().T(), atol=1e-12)
        if "d" in names or "c" not in names:  # what is not in the list stays where it was
            links[0].joint.joint_angle(angle)
    robot.je.joint_angle(0.1)
    assert parameters["n_joints"] == len(names)
    shapes = {"link_translations": (3,), "link_rotations": (3, 3), "joint_axes": (3,)}
    for key, shape in (shapes | {"joint_limits_lower": (), "ref_angles": ()}).items():
        assert parameters[key].shape == (len(names), *shape)


def test_arrays_as_the_original_has_them():
    robot, tool = arm()
    made = extract_fk_parameters(robot, links_of(robot, "abfcde"), tool)
    assert made["joint_types"] == [
        "prismatic", "continuous", "fixed", "revolute", "revolute", "revolute"
    ]  # fmt: skip
    assert made["joint_names"] == ["ja", "jb", "jf", "jc", "jd", "je"]
    assert_allclose(made["joint_limits_lower"], [-1, -np.pi, 0, -1, -3, -1])
    assert_allclose(made["joint_limits_upper"], [2, np.pi, 0, 1, 3, 1])
    assert_array_equal(made["joint_limits_unbounded"], [False, True, *[False] * 4])
    assert_array_equal(made["mimic_parent_indices"], [-1, -1, -1, -1, 3, -1])
    assert_array_equal(made["mimic_multipliers"], [1, 1, 1, 1, 2, 1])
    assert_array_equal(made["mimic_offsets"], [0, 0, 0, 0, 0.1, 0])
    assert made["dynamic_limit_tables"] == []
    union = _build_union_joint_mapping(
        [links_of(robot, "abcde"), links_of(robot, "ce")],
        [extract_fk_parameters(robot, links_of(robot, names), tool) for names in ("abcde", "ce")],
    )
    assert union["union_n_opt"] == 4
    assert union["union_joint_refs"] == [robot.ja, robot.jb, robot.jc, robot.je]
    for key, expected in (("task_mappings", ([0, 1, 2, 3], [2, 3])),
                          ("task_non_mimic_indices", ([0, 1, 2, 4], [0, 1]))):  # fmt: skip
        for one, other in zip(union[key], expected, strict=True):
            assert_array_equal(one, other)
    assert_allclose(union["union_joint_limits_lower"], [-1, -np.pi, -1, -1])
    assert_allclose(union["union_joint_limits_upper"], [2, np.pi, 1, 1])
    assert_allclose(union["union_max_velocities"], [3, 3, 3, 3])


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_solver_finds_what_is_there_and_moves_nothing(backend: str):
    robot, tool = arm()
    links = links_of(robot, "abfcde")
    random = rng("skrobot batch solver")
    targets, angles = [], []
    for _ in range(6):
        for joint in (robot.ja, robot.jb, robot.jc, robot.je):
            joint.joint_angle(random.uniform(-0.8, 0.8))
        targets.append(tool.worldcoords().T())
        angles.append([j.joint_angle() if j else 0.0 for j in
                       (robot.ja, robot.jb, None, robot.jc, robot.jd, robot.je)])  # fmt: skip
    T, q = np.array(targets), np.array(angles)
    before = robot.angle_vector()
    solver = create_batch_ik_solver(robot, links, tool, backend_name=backend)
    solutions, success, errors = solver(
        T[:, :3, 3], T[:, :3, :3], initial_angles=q + 0.05, rot_threshold=0.001
    )
    assert solutions.shape == (6, 6)
    assert success.dtype == bool
    assert success.all()
    assert (errors < 0.002).all()
    assert_array_equal(robot.angle_vector(), before)
    for k in range(6):
        made = pose_by(solver.fk_params, solutions[k])
        assert np.linalg.norm(made[:3, 3] - T[k, :3, 3]) < 0.001
        assert_allclose(solutions[k, 4], 2 * solutions[k, 3] + 0.1, atol=1e-12)
    assert (solver.n_joints, solver.backend_name) == (6, backend)
    far = solver([[9.0, 9, 9]], [np.eye(3)], attempts_per_pose=3, return_all_attempts=True)
    assert not far[1][0]
    assert far[3]["solutions"].shape == (1, 3, 6)
    assert far[3]["errors"].shape == far[3]["success"].shape == (1, 3)
    assert far[2][0] == far[3]["errors"].min()
    position_only = solver(T[:1, :3, 3], [np.eye(3)], rotation_mask=False, attempts_per_pose=4)
    assert position_only[1][0]


def test_a_solver_takes_the_arguments_of_the_original():
    robot, tool = arm()
    solver = create_batch_ik_solver(robot, links_of(robot, "abcde"), tool, "numpy", "jacobian")
    names = list(inspect.signature(solver).parameters)
    assert names[:8] == [
        "target_positions", "target_rotations", "initial_angles", "max_iterations", "damping",
        "pos_threshold", "rot_threshold", "position_mask",
    ]  # fmt: skip
    for wrong in ({"backend_name": "torch"}, {"method": "magic"}):
        with pytest.raises(ValueError):
            create_batch_ik_solver(robot, links_of(robot, "ab"), tool, **wrong)
    with pytest.raises(ValueError, match="at least one link"):
        extract_fk_parameters(robot, [], tool)
    with pytest.raises(ValueError, match="no joint"):
        extract_fk_parameters(robot, [robot.base], tool)
    with pytest.raises(ValueError):
        solver(np.zeros((2, 3)), np.eye(3))
    with pytest.raises(ValueError, match="initial_angles"):
        solver(np.zeros((2, 3)), [np.eye(3)] * 2, initial_angles=np.zeros(3))
    with pytest.raises(ValueError):
        _build_union_joint_mapping([[]], [])
