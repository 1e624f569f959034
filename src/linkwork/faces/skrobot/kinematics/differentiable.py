"""Chains of links as arrays, functions of them, and solvers of many targets.

A chain is the dictionary that `extract_fk_parameters` gives; joints that follow others count as
joints of their own. It becomes a robot of the core. Arrays of NumPy go through its compiled
functions; for JAX the core's algorithms run on JAX's arrays, so that `jit`, `vmap` and `grad` go
through them. `create_batch_ik_solver` needs no arrays: it asks
`RobotModel.batch_inverse_kinematics`.
"""

# One name that programs use begins with an underscore.
# pyright: reportPrivateUsage=false, reportUnusedFunction=false
from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import poses
from linkwork.algorithms.forward_kinematics import fk, fk_all
from linkwork.algorithms.jacobian import jacobian
from linkwork.checks import finite_rows, rotation_matrices
from linkwork.errors import InputError, ShapeError
from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.backend import get_backend, list_backends
from linkwork.faces.skrobot.coordinates.base import Coordinates, inverse_matrix
from linkwork.faces.skrobot.coordinates.math import normalize_axis_mask
from linkwork.faces.skrobot.model.joint import leaders_of
from linkwork.mechanism.assemble import JointPart, LinkPart, Parts, assemble
from linkwork.mechanism.model import JointType
from linkwork.ops.numpy import NumpyOps
from linkwork.robot import Robot
from linkwork.spatial import rotations, se3, so3
from linkwork.spatial.poses import Pose, compose, inverse

Floats = NDArray[np.float64]
Chain = Mapping[str, Any]

_KINDS = {
    "revolute": JointType.REVOLUTE,
    "continuous": JointType.CONTINUOUS,
    "prismatic": JointType.PRISMATIC,
    "fixed": JointType.FIXED,
}
_LIMITED = ("revolute", "prismatic")
_END = "end of the chain"


def _key(chain: Chain) -> tuple[Any, ...]:
    names = ("link_translations", "link_rotations", "joint_axes", "base_position", "base_rotation")
    names += ("ee_offset_position", "ee_offset_rotation")
    names += ("joint_limits_lower", "joint_limits_upper")
    arrays = (np.ascontiguousarray(chain[name], np.float64).tobytes() for name in names)
    return (tuple(chain["joint_types"]), *arrays)


@lru_cache(maxsize=32)
def _made(kinds: tuple[str, ...], *data: bytes) -> Robot:
    flat = [np.frombuffer(each) for each in data]
    n = len(kinds)
    shifts, turns, axes = flat[0].reshape(n, 3), flat[1].reshape(n, 3, 3), flat[2].reshape(n, 3)
    names = ["base", *map(_link, range(n)), _END]
    joints = [_joint("base", "fixed", ("world", "base"), (flat[4].reshape(3, 3), flat[3]))]
    for k, kind in enumerate(kinds):
        limits = {"lower": flat[7][k], "upper": flat[8][k]} if kind in _LIMITED else {}
        place = turns[k], shifts[k]
        joints.append(
            _joint(_link(k), kind, (names[k], names[k + 1]), place, axis=axes[k], **limits)
        )
    joints.append(_joint(_END, "fixed", (names[n], _END), (flat[6].reshape(3, 3), flat[5])))
    return Robot(assemble(Parts("chain", [LinkPart(each) for each in ["world", *names]], joints)))


def _link(k: int) -> str:
    return f"link {k}"


def _joint(
    name: str, kind: str, ends: tuple[str, str], place: tuple[Floats, Floats], **rest: Any
) -> JointPart:
    (parent, child), (R, p) = ends, place
    return JointPart(
        name=f"joint of {name}", type=_KINDS[kind], parent=parent, child=child, R=R, p=p, **rest
    )


def robot_of(chain: Chain) -> Robot:
    """The core's robot of a chain; the last ones are kept."""
    return _made(*_key(chain))


def _moving(chain: Chain) -> NDArray[np.int64]:
    """The joints that move, in order."""
    return np.flatnonzero([kind != "fixed" for kind in chain["joint_types"]])


def _is_jax(backend: Any) -> bool:
    return getattr(backend, "name", backend) == "jax"


def _evaluated(backend: Any, chain: Chain, angles: Any, algorithm: Any, **static: Any) -> Any:
    """The result of an algorithm of the core for the angles (..., n) of all joints of a chain."""
    robot, moving = robot_of(chain), _moving(chain)
    if not _is_jax(backend):
        q = np.asarray(angles, np.float64)[..., moving]
        return getattr(robot, algorithm.__name__)(q, **static)
    import jax  # noqa: PLC0415  an extra

    from linkwork.ops.jax import JaxOps  # noqa: PLC0415  an extra

    o, m = JaxOps(), robot.mechanism

    def one(q: Any) -> Any:
        return algorithm(o, m, q, **static)

    q = backend.array(angles) if hasattr(backend, "array") else angles
    with jax.default_matmul_precision("highest"):
        return _stacked((one if q.ndim == 1 else jax.vmap(one))(q[..., moving]), q.ndim - 1)


def _stacked(found: Any, axis: int) -> Any:
    """An algorithm's list of blocks as one array."""
    from linkwork.ops.jax import jnp  # noqa: PLC0415  an extra

    return jnp.stack(found, axis=axis) if isinstance(found, (list, tuple)) else found


def _parts(T: Any) -> tuple[Any, Any]:
    return T[..., :3, 3], T[..., :3, :3]


def _frame_of(chain: Chain, link_index: int | None) -> str:
    n = int(chain["n_joints"])
    return _link(range(n)[-1 if link_index is None else link_index])


def _columns(backend: Any, chain: Chain, J: Any) -> Any:
    """A Jacobian (..., 6, k) with a column for every joint, zero for those that are fixed."""
    moving, n = _moving(chain), int(chain["n_joints"])
    if len(moving) == n:
        return J
    spread = np.zeros((len(moving), n))
    spread[np.arange(len(moving)), moving] = 1.0
    return J @ (backend.array(spread) if _is_jax(backend) else spread)


# what programs call


def forward_kinematics(backend: Any, joint_angles: Any, fk_params: Chain) -> tuple[Any, Any]:
    """The positions (n, 3) and rotations (n, 3, 3) of the links of a chain, for angles (n,).

    In the world, m; ``backend`` is that of `skrobot.backend`, whose arrays they are.
    """
    T = _evaluated(backend, fk_params, joint_angles, fk_all)
    m = robot_of(fk_params).mechanism
    rows = np.array([m.frame(_link(k)) for k in range(int(fk_params["n_joints"]))])
    return _parts(T[..., rows, :, :])


def batch_forward_kinematics(
    backend: Any, joint_angles_batch: Any, fk_params: Chain
) -> tuple[Any, Any]:
    """The positions (N, n, 3) and rotations (N, n, 3, 3) of links, for rows of angles (N, n)."""
    return forward_kinematics(backend, joint_angles_batch, fk_params)


def forward_kinematics_ee(backend: Any, joint_angles: Any, fk_params: Chain) -> tuple[Any, Any]:
    """The position (3,) and rotation (3, 3) of the end of a chain, for angles (n,)."""
    return _parts(_evaluated(backend, fk_params, joint_angles, fk, frame=_END))


def forward_kinematics_ee_batched_numpy(
    joint_angles_batch: ArrayLike, fk_params: Chain
) -> tuple[Floats, Floats]:
    """The positions (N, 3) and rotations (N, 3, 3) of the end of a chain, for angles (N, n)."""
    return forward_kinematics_ee("numpy", joint_angles_batch, fk_params)


def create_jax_fk_function(fk_params: Chain) -> Callable[[Any], tuple[Any, Any]]:
    """A function of angles (n,) on JAX: the position (3,) and rotation (3, 3) of the chain's end.

    Raises: MissingExtraError without JAX.
    """
    backend = get_backend("jax")

    def end_of_chain(joint_angles: Any) -> tuple[Any, Any]:
        return forward_kinematics_ee(backend, joint_angles, fk_params)

    return end_of_chain


def compute_full_jacobian(
    backend: Any, joint_angles: Any, fk_params: Chain, link_index: int | None = None
) -> Any:
    """The Jacobian (6, n) of a link of a chain, the last by default: linear, then angular rows."""
    frame = _frame_of(fk_params, link_index)
    return _columns(
        backend, fk_params, _evaluated(backend, fk_params, joint_angles, jacobian, frame=frame)
    )


def compute_jacobian(
    backend: Any, joint_angles: Any, fk_params: Chain, link_index: int | None = None
) -> Any:
    """The linear rows (3, n) of `compute_full_jacobian`."""
    return compute_full_jacobian(backend, joint_angles, fk_params, link_index)[..., :3, :]


def _end_jacobian(backend: Any, angles: Any, chain: Chain) -> tuple[Any, Any, Any]:
    J = _evaluated(backend, chain, angles, jacobian, frame=_END)
    return _columns(backend, chain, J), *forward_kinematics_ee(backend, angles, chain)


def compute_jacobian_analytical(
    backend: Any, joint_angles: Any, fk_params: Chain
) -> tuple[Any, Any, Any]:
    """The linear Jacobian (3, n) of the end of a chain, its position (3,) and rotation (3, 3)."""
    J, p, R = _end_jacobian(backend, joint_angles, fk_params)
    return J[..., :3, :], p, R


def compute_jacobian_analytical_batch(
    joint_angles_batch: Any, fk_params: Chain
) -> tuple[Any, Any, Any]:
    """The results of `compute_jacobian_analytical` on JAX, for angles (N, n)."""
    return compute_jacobian_analytical(get_backend("jax"), joint_angles_batch, fk_params)


def compute_geometric_jacobian_jax(
    joint_angles: Any, fk_params: Chain, return_non_mimic: bool = False
) -> tuple[Any, Any, Any]:
    """The Jacobian (6, n) of the end of a chain on JAX, its position (3,) and rotation (3, 3).

    ``return_non_mimic`` adds the columns of joints that follow others to those of their leaders.
    """
    backend = get_backend("jax")
    columns, p, R = _end_jacobian(backend, joint_angles, fk_params)
    if return_non_mimic:
        columns = columns @ backend.array(_folding(fk_params["mimic_parent_indices"], fk_params))
    return columns, p, R


def compute_geometric_jacobian_batched_numpy(
    joint_angles_batch: ArrayLike,
    fk_params: Chain,
    non_mimic_indices: Any = None,
    mimic_parent_indices: Any = None,
    mimic_multipliers: Any = None,
) -> tuple[Floats, Floats, Floats]:
    """The Jacobians (N, 6, n) of the end of a chain, positions (N, 3) and rotations (N, 3, 3).

    With ``non_mimic_indices`` only these columns, those of joints that follow others added to
    their leaders'.
    """
    columns, p, R = _end_jacobian("numpy", joint_angles_batch, fk_params)
    if non_mimic_indices is not None:
        leaders = mimic_parent_indices
        leaders = fk_params["mimic_parent_indices"] if leaders is None else leaders
        folding = _folding(leaders, fk_params, non_mimic_indices, mimic_multipliers)
        columns = columns @ folding
    return columns, p, R


def _folding(leaders: Any, chain: Chain, kept: Any = None, rates: Any = None) -> Floats:
    """The matrix (n, k) from columns of all joints to those of joints that follow none."""
    leaders = np.asarray(leaders, int)
    rates = np.asarray(chain["mimic_multipliers"] if rates is None else rates, np.float64)
    whole = np.eye(len(leaders))
    for k in np.flatnonzero(leaders >= 0).tolist():
        whole[k, leaders[k]] += rates[k]
    return whole[:, np.flatnonzero(leaders < 0) if kept is None else np.asarray(kept, int)]


def compute_manipulability(
    backend: Any, joint_angles: Any, fk_params: Chain, position_only: bool = True
) -> Any:
    """sqrt(det(J J^T)) of the last link of a chain; ``position_only`` of the linear rows alone."""
    whole = compute_full_jacobian(backend, joint_angles, fk_params)
    J = whole[..., :3, :] if position_only else whole
    if not _is_jax(backend):
        return np.sqrt(np.maximum(np.linalg.det(J @ np.swapaxes(J, -1, -2)), 0.0))
    from linkwork.ops.jax import jnp  # noqa: PLC0415  an extra

    return jnp.sqrt(jnp.maximum(jnp.linalg.det(J @ jnp.swapaxes(J, -1, -2)), 0.0))


# differences of poses


def _ops(*arrays: Any) -> Any:
    """The core's operations for arrays of NumPy, or of JAX."""
    if all(isinstance(each, (np.ndarray, list, tuple)) for each in arrays):
        return NumpyOps()
    from linkwork.ops.jax import JaxOps  # noqa: PLC0415  an extra

    return JaxOps()


def rotation_error_so3_log(actual_rot: Any, target_rot: Any) -> Any:
    """The rotation vector (3,) from one rotation (3, 3) to another, in the axes of the first."""
    o = _ops(actual_rot, target_rot)
    return so3.log(o, o.const(actual_rot).T @ o.const(target_rot))


def rotation_error_so3_log_batch(actual_rot_batch: Any, target_rot_batch: Any) -> Any:
    """The vectors (N, 3) of `rotation_error_so3_log` on JAX, for (N, 3, 3)."""
    import jax  # noqa: PLC0415  an extra

    return jax.vmap(rotation_error_so3_log)(
        *map(jax.numpy.asarray, (actual_rot_batch, target_rot_batch))
    )


def rotation_error_so3_log_batch_numpy(actual_rot: Any, target_rot: Any, xp: Any = np) -> Any:
    """The vectors (N, 3) of `rotation_error_so3_log`, for (N, 3, 3)."""
    if xp is not np:
        return rotation_error_so3_log_batch(actual_rot, target_rot)
    pairs = zip(np.asarray(actual_rot), np.asarray(target_rot), strict=True)
    return np.array([rotation_error_so3_log(*pair) for pair in pairs]).reshape(-1, 3)


def pose_error_se3_log(actual_pos: Any, actual_rot: Any, target_pos: Any, target_rot: Any) -> Any:
    """The twist (6,) that takes a pose to another in unit time, linear first, in its own axes."""
    o = _ops(actual_pos, actual_rot, target_pos, target_rot)
    actual = Pose(o.const(actual_rot), o.const(actual_pos))
    target = Pose(o.const(target_rot), o.const(target_pos))
    return se3.log(o, compose(o, inverse(o, actual), target))


def skew_symmetric_matrix(v: Any) -> Any:
    """The matrix (3, 3) that multiplies as the cross product with v (3,) does."""
    return rotations.skew(_ops(v), v)


# inverse kinematics of a chain


def _solved(chain: Chain, targets: Floats, starts: Any, threshold: float) -> Any:
    robot, moving = robot_of(chain), _moving(chain)
    n = int(chain["n_joints"])
    q0 = None if starts is None else np.asarray(starts, np.float64)[..., moving]
    found = robot.ik(targets, _END, q0=q0, position_tolerance=threshold)
    angles = np.zeros((*found.q.shape[:-1], n))
    angles[..., moving] = found.q
    return angles, found


def batch_solve_ik(  # noqa: PLR0913, PLR0917  as the original
    backend: Any,
    target_positions: Any,
    target_rotations: Any,
    fk_params: Chain,
    initial_angles: Any = None,
    max_iterations: int = 100,
    learning_rate: float = 0.1,
    pos_weight: float = 1.0,
    rot_weight: float = 0.1,
    pos_threshold: float = 0.001,
) -> tuple[Any, Any, Any]:
    """Angles (N, n) that bring the end of a chain to poses, success (N,) and position errors (N,).

    The core's solver finds them; weights, rate and iterations are taken and change nothing.
    """
    del max_iterations, learning_rate, pos_weight, rot_weight
    T = np.tile(np.eye(4), (len(target_positions), 1, 1))
    T[:, :3, 3], T[:, :3, :3] = np.asarray(target_positions), np.asarray(target_rotations)
    angles, found = _solved(fk_params, T, initial_angles, pos_threshold)
    given = (angles, found.success, found.position_error)
    return tuple(map(backend.array, given)) if _is_jax(backend) else given


def solve_ik_gradient_descent(  # noqa: PLR0913, PLR0917  as the original
    backend: Any,
    target_position: Any,
    target_rotation: Any,
    fk_params: Chain,
    initial_angles: Any = None,
    max_iterations: int = 100,
    learning_rate: float = 0.1,
    pos_weight: float = 1.0,
    rot_weight: float = 0.1,
    tolerance: float = 1e-4,
) -> tuple[Any, bool, float]:
    """The answer of `batch_solve_ik` for one pose: angles (n,), success, the position's error."""
    del max_iterations, learning_rate, pos_weight, rot_weight
    starts = None if initial_angles is None else np.asarray(initial_angles)[None]
    one = (np.asarray(target_position)[None], np.asarray(target_rotation)[None])
    angles, success, error = batch_solve_ik(
        "numpy", *one, fk_params, starts, pos_threshold=tolerance
    )
    row = backend.array(angles[0]) if _is_jax(backend) else angles[0]
    return row, bool(success[0]), float(error[0])


def create_dynamic_limit_mask(fk_params: Chain, angles: Any) -> Floats:
    """1 (n,) for joints that are inside the limits which the angles (n,) of others give, else 0."""
    q = np.asarray(angles, np.float64)
    found = np.ones(int(fk_params["n_joints"]))
    for entry in fk_params["dynamic_limit_tables"]:
        at, table = float(q[entry["target"]]), entry["table"]
        inside = table.min_angle_function(at) <= q[entry["joint"]] <= table.max_angle_function(at)
        found[entry["joint"]] = float(inside)
    return found


# --- chains of a robot, and solvers by its own inverse kinematics


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
            position_mask=normalize_axis_mask(position_mask).tolist(),
            rotation_mask=normalize_axis_mask(rotation_mask).tolist(),
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
