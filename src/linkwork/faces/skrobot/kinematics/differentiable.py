"""A chain of links as arrays, and inverse kinematics of many targets over the compiled solver.

The arrays are for programs that compute with them, in NumPy or JAX. `create_batch_ik_solver` needs
none of them: it asks `RobotModel.batch_inverse_kinematics`.
"""

# One name that programs use begins with an underscore.
# pyright: reportPrivateUsage=false, reportUnusedFunction=false
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork import poses
from linkwork.checks import finite_rows, rotation_matrices
from linkwork.errors import InputError, ShapeError
from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.backend import list_backends
from linkwork.faces.skrobot.coordinates.base import Coordinates, inverse_matrix
from linkwork.faces.skrobot.coordinates.math import normalize_mask
from linkwork.faces.skrobot.kinematics.arrays import (
    batch_forward_kinematics,
    batch_solve_ik,
    compute_full_jacobian,
    compute_geometric_jacobian_batched_numpy,
    compute_geometric_jacobian_jax,
    compute_jacobian,
    compute_jacobian_analytical,
    compute_jacobian_analytical_batch,
    compute_manipulability,
    create_dynamic_limit_mask,
    create_jax_fk_function,
    forward_kinematics,
    forward_kinematics_ee,
    forward_kinematics_ee_batched_numpy,
    pose_error_se3_log,
    rotation_error_so3_log,
    rotation_error_so3_log_batch,
    rotation_error_so3_log_batch_numpy,
    skew_symmetric_matrix,
    solve_ik_gradient_descent,
)
from linkwork.faces.skrobot.model.joint import leaders_of

Floats = NDArray[np.float64]

__all__ = [
    "batch_forward_kinematics",
    "batch_solve_ik",
    "compute_full_jacobian",
    "compute_geometric_jacobian_batched_numpy",
    "compute_geometric_jacobian_jax",
    "compute_jacobian",
    "compute_jacobian_analytical",
    "compute_jacobian_analytical_batch",
    "compute_manipulability",
    "create_batch_ik_solver",
    "create_dynamic_limit_mask",
    "create_jax_fk_function",
    "extract_fk_parameters",
    "forward_kinematics",
    "forward_kinematics_ee",
    "forward_kinematics_ee_batched_numpy",
    "normalize_axis_mask",
    "pose_error_se3_log",
    "rotation_error_so3_log",
    "rotation_error_so3_log_batch",
    "rotation_error_so3_log_batch_numpy",
    "skew_symmetric_matrix",
    "solve_ik_gradient_descent",
    "solve_ik_scipy",
]

normalize_axis_mask = normalize_mask


def extract_fk_parameters(
    robot_model: Any, link_list: Sequence[Any], move_target: Coordinates
) -> dict[str, Any]:
    """The chain from the parent of the first link to ``move_target``, as arrays.

    Of each of the n links, from the one before it: ``link_translations`` (n, 3) and
    ``link_rotations`` (n, 3, 3) where its joint's angle is ``ref_angles`` (n,), which is 0; what
    lies between two links of the list and is not in it stays where it is now. ``joint_axes``
    (n, 3) in the link's axes, ``joint_types`` ('revolute', 'continuous', 'prismatic' or 'fixed'),
    ``joint_names``, ``joint_limits_lower`` and ``joint_limits_upper`` (n,), half a turn where
    ``joint_limits_unbounded``. A follower has its leader's place in ``mimic_parent_indices``, else
    -1, with ``mimic_multipliers`` and ``mimic_offsets``. ``base_position``, ``base_rotation``: the
    first link's parent in the world; ``ee_offset_position``, ``ee_offset_rotation``: the target in
    the last link. ``dynamic_limit_tables`` lists the tables of limits: joint and target as places
    in the list, and the table.

    Raises: InputError for an empty list, links without a joint, or joints with several degrees of
    freedom.
    """
    links = list(link_list)
    joints = [_single_joint(link) for link in links]
    if not links:
        raise InputError("extract_fk_parameters needs at least one link")
    n = len(links)
    place = {id(joint): k for k, joint in enumerate(joints)}
    first = links[0].parent
    base = np.eye(4) if first is None else first._world()
    above, static = base, np.empty((n, 4, 4))
    for k, (link, joint) in enumerate(zip(links, joints, strict=True)):
        world = link._world()
        static[k] = inverse_matrix(above) @ world @ inverse_matrix(joint._motion())
        above = world
    ends = np.array([_ends(joint) for joint in joints])
    unbounded = ~np.isfinite(ends).any(axis=1)
    offset = inverse_matrix(above) @ move_target._world()
    leaders = [_leader(joint, place) for joint in joints]
    axes = [getattr(joint, "axis", None) for joint in joints]
    return {
        "n_joints": n,
        "link_translations": static[:, :3, 3].copy(),
        "link_rotations": static[:, :3, :3].copy(),
        "joint_axes": np.array([(0.0, 0.0, 1.0) if a is None else a for a in axes], np.float64),
        "joint_types": [_type(joint) for joint in joints],
        "joint_limits_lower": np.where(np.isfinite(ends[:, 0]), ends[:, 0], -math.pi),
        "joint_limits_upper": np.where(np.isfinite(ends[:, 1]), ends[:, 1], math.pi),
        "joint_limits_unbounded": unbounded,
        "joint_names": [joint.name for joint in joints],
        "ref_angles": np.zeros(n),
        "base_position": base[:3, 3].copy(),
        "base_rotation": base[:3, :3].copy(),
        "ee_offset_position": offset[:3, 3],
        "ee_offset_rotation": offset[:3, :3],
        "mimic_parent_indices": np.array([leader[0] for leader in leaders], np.int32),
        "mimic_multipliers": np.array([leader[1] for leader in leaders]),
        "mimic_offsets": np.array([leader[2] for leader in leaders]),
        "dynamic_limit_tables": [
            {"joint": k, "target": place[id(joint.joint_min_max_target)],
             "table": joint.joint_min_max_table}
            for k, joint in enumerate(joints)
            if getattr(joint, "joint_min_max_table", None) is not None
            and id(joint.joint_min_max_target) in place
        ],
    }  # fmt: skip


def _single_joint(link: Any) -> Any:
    joint = getattr(link, "joint", None)
    if joint is None:
        raise InputError(f"link {getattr(link, 'name', link)!r:.80} has no joint")
    if joint.joint_dof > 1:
        raise InputError(
            f"joint {joint.name!r:.80} has {joint.joint_dof} degrees of freedom: arrays of a chain "
            "have one for each joint"
        )
    return joint


def _ends(joint: Any) -> tuple[float, float]:
    return (0.0, 0.0) if joint.joint_dof == 0 else (float(joint.min_angle), float(joint.max_angle))


def _type(joint: Any) -> str:
    if joint.joint_dof == 0:
        return "fixed"
    if "prismatic" in joint.type or "linear" in joint.type:
        return "prismatic"
    return "revolute" if np.isfinite(_ends(joint)).any() else "continuous"


def _leader(joint: Any, place: dict[int, int]) -> tuple[int, float, float]:
    """A follower's leader's place, multiplier and offset, through leaders that are not there."""
    there = (way for way in leaders_of(joint) if id(way.leader) in place)
    return next(((place[id(leader)], rate, shift) for leader, rate, shift in there), (-1, 1.0, 0.0))


def _build_union_joint_mapping(
    link_lists: Sequence[Sequence[Any]], fk_params_list: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The joints of several chains, each once and without followers, and where each chain has them.

    ``task_mappings``: for each chain the places of its own joints among all. ``union_n_opt``: how
    many there are, with ``union_joint_refs``, ``union_joint_limits_lower`` and ``_upper`` and
    ``union_max_velocities`` (union_n_opt,). ``task_non_mimic_indices``: for each chain the places
    of its own joints in its list.

    Raises: InputError where there are not as many chains as dictionaries.
    """
    if len(link_lists) != len(fk_params_list):
        raise InputError(
            f"{len(link_lists)} lists of links and {len(fk_params_list)} dictionaries of parameters"
        )
    place: dict[int, int] = {}
    union: list[Any] = []
    lower: list[float] = []
    upper: list[float] = []
    mappings: list[NDArray[np.int32]] = []
    own: list[NDArray[np.int32]] = []
    for links, parameters in zip(link_lists, fk_params_list, strict=True):
        leaders = np.flatnonzero(parameters["mimic_parent_indices"] < 0).astype(np.int32)
        own.append(leaders)
        for k in leaders.tolist():
            joint = links[k].joint
            if id(joint) not in place:
                place[id(joint)] = len(union)
                union.append(joint)
                lower.append(float(parameters["joint_limits_lower"][k]))
                upper.append(float(parameters["joint_limits_upper"][k]))
        at = [place[id(links[k].joint)] for k in leaders.tolist()]
        mappings.append(np.array(at, np.int32))
    return {
        "task_mappings": mappings,
        "task_non_mimic_indices": own,
        "union_n_opt": len(union),
        "union_joint_limits_lower": np.array(lower),
        "union_joint_limits_upper": np.array(upper),
        "union_max_velocities": np.array(
            [math.inf if j.joint_dof == 0 else float(j.max_joint_velocity) for j in union]
        ),
        "union_joint_refs": union,
    }


class _Solver:
    """Angles of a chain's joints for many targets; see `create_batch_ik_solver`."""

    def __init__(
        self, robot_model: Any, links: list[Any], move_target: Coordinates, backend_name: str
    ) -> None:
        self.fk_params = extract_fk_parameters(robot_model, links, move_target)
        self.n_joints: int = self.fk_params["n_joints"]
        self.joint_limits_lower: Floats = self.fk_params["joint_limits_lower"]
        self.joint_limits_upper: Floats = self.fk_params["joint_limits_upper"]
        self.backend_name = backend_name
        self._robot, self._links, self._target = robot_model, links, move_target

    def __call__(  # noqa: PLR0913, PLR0917  as the original
        self,
        target_positions: Any,
        target_rotations: Any,
        initial_angles: Any = None,
        max_iterations: int = 30,
        damping: float = 0.01,
        pos_threshold: float = 0.001,
        rot_threshold: float = 0.1,
        position_mask: Any = True,
        rotation_mask: Any = True,
        rotation_mirror: Any = None,
        translation_tolerance: Any = None,
        rotation_tolerance: Any = None,
        attempts_per_pose: int = 1,
        random_initial_range: float = 0.7,
        retry_seed: str = "random",
        use_current_angles: bool = True,
        select_closest_to_initial: bool = False,
        joint_weights: Any = None,
        return_all_attempts: bool = False,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Angles (N, n), success (N,) and errors (N,), position (m) plus rotation (rad).

        Targets are positions (N, 3) and rotations (N, 3, 3) in the world. Starts are
        ``initial_angles``, (n,) or (N, n), else the present ones, or random ones without
        ``use_current_angles``. With ``return_all_attempts`` also a dictionary of all attempts:
        ``solutions`` (N, attempts, n), ``success`` and ``errors`` (N, attempts). ``damping`` has
        no effect: the solver chooses its own. The rest is as in `batch_inverse_kinematics`.

        Raises: ShapeError, InputError.
        """
        p = finite_rows(np.asarray(target_positions, np.float64), "target_positions", 3)
        R = rotation_matrices(target_rotations, "target_rotations")
        if p.ndim != 2 or R.shape != (len(p), 3, 3):
            raise ShapeError(
                f"targets are positions (N, 3) and rotations (N, 3, 3), not {p.shape} and {R.shape}"
            )
        # of the start it matters where the joints are that may move, and no others do
        starts: Any = "current" if use_current_angles else "random"
        if initial_angles is not None:
            starts = self._starts(np.asarray(initial_angles, np.float64), len(p))
        made = self._robot.batch_inverse_kinematics(
            [Coordinates(T) for T in poses.pose(p, R=R)],
            move_target=self._target,
            link_list=[link for link in self._links if link.joint.joint_dof],
            position_mask=normalize_mask(position_mask).tolist(),
            rotation_mask=normalize_mask(rotation_mask).tolist(),
            rotation_mirror=rotation_mirror,
            stop=max_iterations,
            thre=pos_threshold,
            rthre=rot_threshold,
            initial_angles=starts,
            attempts_per_pose=attempts_per_pose,
            random_initial_range=random_initial_range,
            retry_seed=retry_seed,
            translation_tolerance=translation_tolerance,
            rotation_tolerance=rotation_tolerance,
            select_closest_to_initial=select_closest_to_initial,
            joint_weights=joint_weights,
            backend=self.backend_name,
            **kwargs,
        )
        every = made.attempts
        angles = every.angle_vectors
        solutions = self._of_chain(np.array(made.solutions).reshape(len(p), angles.shape[-1]))
        success = np.array(made.success_flags, bool)
        whole = self._of_chain(angles)
        chosen = np.linalg.norm(whole - solutions[:, None, :], axis=2).argmin(axis=1)
        errors = every.errors[np.arange(len(p)), chosen] if len(p) else np.zeros(0)
        if not return_all_attempts:
            return solutions, success, errors
        attempts = {"solutions": whole, "success": every.success, "errors": every.errors}
        return solutions, success, errors, attempts

    def _of_chain(self, angles: Floats) -> Floats:
        """The angles (..., n) of the chain in angle vectors (..., k) of the robot; fixed ones 0."""
        place: dict[int, int] = {}
        count = 0
        for joint in self._robot.joint_list:
            place[id(joint)] = count
            count += joint.joint_dof
        made = np.zeros((*angles.shape[:-1], self.n_joints))
        for k, joint in enumerate(link.joint for link in self._links):
            if joint.joint_dof == 0:
                continue
            if id(joint) not in place:
                raise InputError(f"joint {joint.name!r:.80} is not in the robot's joint_list")
            made[..., k] = angles[..., place[id(joint)]]
        return made

    def _starts(self, angles: Floats, count: int) -> Floats:
        """Starts (N, joints that move) of angles (n,) or (N, n), or of those without followers."""
        leads = self.fk_params["mimic_parent_indices"] < 0
        moves = np.array([link.joint.joint_dof > 0 for link in self._links])
        own = np.flatnonzero(leads & moves)
        if angles.shape[-1:] == (self.n_joints,):
            angles = angles[..., own]
        if angles.shape not in ((len(own),), (count, len(own))):
            raise ShapeError(
                f"initial_angles has the shape ({self.n_joints},) or ({count}, {self.n_joints}), "
                f"not {angles.shape}"
            )
        return np.broadcast_to(angles, (count, len(own))).copy()


def create_batch_ik_solver(
    robot_model: Any,
    link_list: Sequence[Any],
    move_target: Coordinates,
    backend_name: str = "jax",
    method: str = "jacobian",
) -> _Solver:
    """A function that solves for many targets of a chain at once, and does not move the robot.

    ``solve(target_positions (N, 3), target_rotations (N, 3, 3), initial_angles=None, ...)`` gives
    angles (N, n) of the joints of ``link_list``, 0 for fixed ones, success (N,) and errors (N,).
    Every backend and method, 'jacobian' or 'gradient_descent', is the same compiled solver.

    Raises: InputError for another backend or method, or links without a joint.
    """
    if backend_name not in ("numpy", "jax"):
        raise InputError(
            f"Unknown backend: {backend_name!r:.40}. Available backends: {list_backends()}"
        )
    if method not in ("jacobian", "gradient_descent"):
        raise InputError(f"method is 'jacobian' or 'gradient_descent', not {method!r:.40}")
    return _Solver(robot_model, list(link_list), move_target, backend_name)


def solve_ik_scipy(  # noqa: PLR0913, PLR0917  as the original
    robot_model: Any,
    target_coords: Any,
    link_list: Sequence[Any],
    move_target: Coordinates,
    rotation_mask: Any = True,
    position_mask: Any = True,
    max_iterations: int = 100,
    pos_threshold: float = 0.001,
    rot_threshold: float = 0.1,
) -> Any:
    """The robot's `inverse_kinematics` with these links and thresholds: angle vector, or False."""
    return robot_model.inverse_kinematics(
        target_coords, move_target=move_target, link_list=list(link_list),
        rotation_mask=rotation_mask, position_mask=position_mask, stop=max_iterations,
        thre=pos_threshold, rthre=rot_threshold,
    )  # fmt: skip


def set_base_pose(robot_model: Any, base_pose: Coordinates) -> None:
    """Put a robot where a frame is in the world."""
    robot_model.newcoords(base_pose.copy_worldcoords(), relative_coords="world")


__getattr__ = refusing(__name__)
