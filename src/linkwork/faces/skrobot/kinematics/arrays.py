"""Kinematics of a chain as functions of arrays, of NumPy or of JAX.

A chain is the dictionary that `extract_fk_parameters` gives; joints that follow others count as
joints of their own. It becomes a robot of the core. Arrays of NumPy go through its compiled
functions; for JAX the core's algorithms run on JAX's arrays, so that `jit`, `vmap` and `grad` go
through them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.forward_kinematics import fk, fk_all
from linkwork.algorithms.jacobian import jacobian
from linkwork.faces.skrobot.backend import get_backend
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
    """As `forward_kinematics`, for rows of angles (N, n): (N, n, 3) and (N, n, 3, 3)."""
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
    """As `compute_jacobian_analytical` on JAX, for angles (N, n)."""
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
    """As `rotation_error_so3_log` on JAX, for (N, 3, 3)."""
    import jax  # noqa: PLC0415  an extra

    return jax.vmap(rotation_error_so3_log)(
        *map(jax.numpy.asarray, (actual_rot_batch, target_rot_batch))
    )


def rotation_error_so3_log_batch_numpy(actual_rot: Any, target_rot: Any, xp: Any = np) -> Any:
    """As `rotation_error_so3_log`, for (N, 3, 3)."""
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
    """As `batch_solve_ik`, for one pose: angles (n,), success and the position's error."""
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
