"""``skrobot.kinematics.differentiable``: chains as arrays, and solvers of batches over them."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linkwork import poses
from linkwork.faces.skrobot.backend import get_backend
from linkwork.faces.skrobot.coordinates import Coordinates, make_cascoords
from linkwork.faces.skrobot.coordinates.math import rotation_matrix_to_axis_angle_vector, rpy_matrix
from linkwork.faces.skrobot.kinematics import differentiable as chains
from linkwork.faces.skrobot.kinematics.differentiable import (
    _build_union_joint_mapping,
    create_batch_ik_solver,
    extract_fk_parameters,
)
from linkwork.faces.skrobot.model import JointLimitTable, RobotModel
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


# functions of arrays

jax_too = pytest.mark.parametrize("name", ["numpy", pytest.param("jax", marks=pytest.mark.slow)])


def backend_of(name: str) -> Any:
    if name == "jax":
        pytest.importorskip("jax")
    return get_backend(name)


@jax_too
def test_poses_and_jacobians_are_those_of_the_robot(name: str):
    backend = backend_of(name)
    robot, tool = arm()
    links = links_of(robot, "abfcde")
    parameters = extract_fk_parameters(robot, links, tool)
    q = np.array([link.joint.joint_angle() for link in links])
    close = {"atol": 1e-10 if name == "numpy" else 5e-6}
    positions, rotations = chains.forward_kinematics(backend, backend.array(q), parameters)
    for k, link in enumerate(links):
        assert_allclose(positions[k], link.worldpos(), **close)
        assert_allclose(rotations[k], link.worldrot(), **close)
    many = chains.batch_forward_kinematics(backend, backend.array([q, q + 0.1]), parameters)
    assert np.shape(many[0]) == (2, 6, 3)
    assert_allclose(many[1][0], rotations, **close)
    p, R = chains.forward_kinematics_ee(backend, backend.array(q), parameters)
    assert_allclose(p, tool.worldpos(), **close)
    assert_allclose(R, tool.worldrot(), **close)

    J = np.asarray(chains.compute_full_jacobian(backend, backend.array(q), parameters))
    assert J.shape == (6, 6)
    assert not J[:, 2].any()  # of the fixed joint
    moved = [(k, step) for k, step in enumerate(np.eye(6) * 1e-4) if k != 2]
    for k, step in moved:
        after = pose_by(parameters | {"ee_offset_position": np.zeros(3)}, q + step)
        before = pose_by(parameters | {"ee_offset_position": np.zeros(3)}, q - step)
        assert_allclose(J[:3, k], (after - before)[:3, 3] / 2e-4, atol=1e-5)
    linear, *_ = chains.compute_jacobian_analytical(backend, backend.array(q), parameters)
    for k, step in moved:
        way = (pose_by(parameters, q + step) - pose_by(parameters, q - step))[:3, 3]
        assert_allclose(linear[:, k], way / 2e-4, atol=1e-5)
    first = chains.compute_jacobian(backend, backend.array(q), parameters, link_index=1)
    assert_allclose(np.asarray(first)[:, 2:], 0.0, atol=1e-12)
    volume = chains.compute_manipulability(backend, backend.array(q), parameters)
    assert_allclose(volume, np.sqrt(np.linalg.det(J[:3] @ J[:3].T)), atol=1e-5)
    whole = chains.compute_manipulability(backend, backend.array(q), parameters, False)
    assert_allclose(whole, np.sqrt(max(np.linalg.det(J @ J.T), 0.0)), atol=1e-5)


def test_columns_of_followers_are_added_to_their_leaders():
    robot, tool = arm()
    parameters = extract_fk_parameters(robot, links_of(robot, "abfcde"), tool)
    q = np.array([[0.1, 0.2, 0.0, 0.3, 0.7, 0.4], [0.2, 0.1, 0.0, 0.1, 0.3, 0.2]])
    J, p, R = chains.compute_geometric_jacobian_batched_numpy(q, parameters)
    assert (J.shape, p.shape, R.shape) == ((2, 6, 6), (2, 3), (2, 3, 3))
    assert_allclose(p, chains.forward_kinematics_ee_batched_numpy(q, parameters)[0])
    own = [0, 1, 3, 5]
    folded, *_ = chains.compute_geometric_jacobian_batched_numpy(q, parameters, own)
    assert_allclose(folded[..., 2], J[..., 3] + 2.0 * J[..., 4])
    assert_allclose(folded[..., [0, 1, 3]], J[..., [0, 1, 5]])


@pytest.mark.slow
def test_functions_of_jax_have_gradients():
    jax = pytest.importorskip("jax")
    robot, tool = arm()
    parameters = extract_fk_parameters(robot, links_of(robot, "abfcde"), tool)
    q = np.array([0.1, 0.2, 0.0, 0.3, 0.7, 0.4])
    end = chains.create_jax_fk_function(parameters)
    J, p, R = chains.compute_geometric_jacobian_jax(jax.numpy.asarray(q), parameters)
    assert_allclose(jax.jacfwd(lambda q: end(q)[0])(q), J[:3], atol=5e-6)
    assert_allclose(jax.jit(jax.vmap(lambda q: end(q)[1]))(np.tile(q, (3, 1)))[2], R, atol=5e-6)
    some = chains.compute_jacobian_analytical_batch(np.tile(q, (3, 1)), parameters)
    assert_allclose(some[0][1], J[:3], atol=5e-6)
    assert_allclose(some[1][1], p, atol=5e-6)
    own, *_ = chains.compute_geometric_jacobian_jax(q, parameters, return_non_mimic=True)
    leading = parameters["mimic_parent_indices"] < 0
    assert own.shape == (6, leading.sum())


@pytest.mark.slow
def test_differences_of_poses():
    R, S = rpy_matrix(0.1, 0.2, 0.3), rpy_matrix(-0.4, 0.3, 0.1)
    turn = chains.rotation_error_so3_log(R, S)
    assert_allclose(turn, rotation_matrix_to_axis_angle_vector(R.T @ S), atol=1e-12)
    assert_allclose(chains.rotation_error_so3_log_batch_numpy([R, S], [S, R]), [turn, -turn])
    twist = chains.pose_error_se3_log(np.array([1.0, 2, 3]), R, np.array([1.5, 2, 3]), S)
    assert_allclose(twist, [0.48253, 0.09846, 0.10984, *turn], atol=1e-5)  # the original's numbers
    assert_allclose(
        chains.skew_symmetric_matrix([1.0, 2, 3]) @ [4, 5, 6], np.cross([1, 2, 3], [4, 5, 6])
    )
    jax = pytest.importorskip("jax")
    batch = jax.jit(chains.rotation_error_so3_log_batch)
    two = batch(np.array([R, S]), np.array([S, R]))
    assert_allclose(two, [turn, -turn], atol=1e-6)
    slope = jax.jit(jax.jacfwd(lambda R: chains.rotation_error_so3_log(R, S)))(jax.numpy.asarray(R))
    assert np.isfinite(slope).all()


@pytest.mark.slow
def test_chains_are_solved_by_the_core():
    robot, tool = arm()
    links = links_of(robot, "abce")
    parameters = extract_fk_parameters(robot, links, tool)
    q = np.array([[0.4, 0.3, 0.2, -0.3], [1.0, 0.5, -0.4, 0.5]])
    p, R = chains.forward_kinematics_ee_batched_numpy(q, parameters)
    angles, success, errors = chains.batch_solve_ik("numpy", p, R, parameters, q + 0.05)
    assert success.all()
    assert errors.max() < 1e-3
    assert_allclose(chains.forward_kinematics_ee_batched_numpy(angles, parameters)[0], p, atol=1e-3)
    one, solved, error = chains.solve_ik_gradient_descent("numpy", p[1], R[1], parameters, q[1])
    assert one.shape == (4,) and solved and error < 1e-4
    far = chains.solve_ik_gradient_descent("numpy", p[1] + 9.0, R[1], parameters)
    assert not far[1] and far[2] > 1.0
    goal = Coordinates(p[0], R[0])
    moving = [robot.links[name] for name in "abce"]
    answer = chains.solve_ik_scipy(robot, goal, moving, tool, rotation_mask=False)
    assert answer is not False
    assert_allclose(tool.worldpos(), p[0], atol=1e-3)


def test_limits_that_depend_on_others():
    robot, tool = arm()
    table = JointLimitTable(robot.jc, -1.0, 1.0, [-0.5, -0.1], [0.1, 0.5])
    robot.je.joint_min_max_table, robot.je.joint_min_max_target = table, robot.jc
    parameters = extract_fk_parameters(robot, links_of(robot, "abcde"), tool)
    inside = np.array([0.0, 0.0, 1.0, 0.0, 0.4])
    outside = np.array([0.0, 0.0, -1.0, 0.0, 0.4])
    assert chains.create_dynamic_limit_mask(parameters, inside).tolist() == [1.0] * 5
    assert chains.create_dynamic_limit_mask(parameters, outside).tolist() == [1.0] * 4 + [0.0]
