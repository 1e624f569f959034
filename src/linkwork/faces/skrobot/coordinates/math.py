"""Rotations, quaternions and poses as functions of arrays: ``skrobot.coordinates.math``.

Results are new arrays, float64 but where numbers are only picked or reordered. Angles are in
radians, quaternions ``wxyz`` where the name does not say otherwise; "rpy" is roll, pitch, yaw and
"ypr" the reverse, of R = Rz(yaw) Ry(pitch) Rx(roll). "..." in a shape stands for leading axes.

One rotation goes through the formulas of `compiled`, many through those of `linkwork.poses`.
"""
# Some names that programs use begin with an underscore.
# pyright: reportUnusedFunction=false, reportConstantRedefinition=false

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork import poses
from linkwork.checks import real_array, shown
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.faces.skrobot.coordinates.compiled import compiled
from linkwork.faces.skrobot.errors import WrongTypeError
from linkwork.ops.numpy import NUMPY, NumpyOps
from linkwork.ops.protocol import Block
from linkwork.spatial import rotations, so3
from linkwork.spatial.poses import pose_matrix

Floats = NDArray[np.float64]

pi = math.pi

_AXES = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "xy": (1.0, 1.0, 0.0),
    "yx": (1.0, 1.0, 0.0),
    "yz": (0.0, 1.0, 1.0),
    "zy": (0.0, 1.0, 1.0),
    "zx": (1.0, 0.0, 1.0),
    "xz": (1.0, 0.0, 1.0),
    "xyz": (1.0, 1.0, 1.0),
    "xx": (1.0, 0.0, 0.0),
    "yy": (0.0, 1.0, 0.0),
    "zz": (0.0, 0.0, 1.0),
}
_DIRECTIONS = {
    sign + name: (-1.0 if sign else 1.0) * np.array(axis)
    for name, axis in _AXES.items()
    for sign in ("", "-")
}
_VALID = 2e-3  # how far from a rotation a matrix may be: one of three digits is taken
_EXACT = 1e-12  # up to here it is kept as it is
_UNIT = 1e-3  # how far from 1 the length of a quaternion may be
_FLOAT64 = np.dtype(np.float64)
_EPS = np.float64(4.0 * np.finfo(np.float64).eps)
_NEAR_X = 0.9  # from this x of a direction on, y is the hint for the other axes


class _StackedOps(NumpyOps):
    """The operations on components that are numbers of any type, or arrays of them."""

    def vector(self, scalars: Sequence[Block]) -> Block:
        return np.stack(scalars)

    def matrix(self, columns: Sequence[Block]) -> Block:
        return np.stack(columns, axis=1)

    def const(self, value: Any) -> Block:
        return value


_STACKED = _StackedOps()


# --- checks ---------------------------------------------------------------------------------------


def finite(value: Any, what: str, *shapes: tuple[int, ...]) -> Floats:
    """Finite numbers of one of these shapes, as an array of their own.

    Raises: InputError, ShapeError.
    """
    array = real_array(value, what)
    if array.shape not in shapes:
        listed = " or ".join(map(str, shapes))
        raise ShapeError(f"{what} has the shape {listed}, not {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{what} must be finite, not {array.tolist()}")
    return array.copy() if array is value or array.base is not None else array


def ready(value: Any, what: str, *shape: int) -> Floats:
    """Numbers of one shape as a compiled formula takes them: perhaps the array itself.

    Whether they are finite it finds out itself.

    Raises: InputError, ShapeError.
    """
    if not (type(value) is np.ndarray and value.dtype == _FLOAT64 and value.shape == shape):
        value = finite(value, what, shape)
    return value if value.flags.c_contiguous else np.ascontiguousarray(value)


def rows(value: Any, what: str, *tail: int) -> Floats:
    """Finite numbers whose shape ends in ``tail``.

    Raises: InputError, ShapeError.
    """
    array = real_array(value, what)
    if array.shape[-len(tail) :] != tail:
        raise ShapeError(
            f"{what} has a shape (..., {str(tail)[1:-1].rstrip(',')}), not {array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError(f"{what} must be finite, not {shown(array.tolist())}")
    return array


def rotations_in(matrix: Any) -> Floats:
    """The rotations (..., 3, 3) of matrices (..., 3, 3) or poses (..., 4, 4), as they are.

    Raises: InputError, ShapeError.
    """
    if type(matrix) is np.ndarray and matrix.dtype == _FLOAT64 and matrix.shape == (3, 3):
        return matrix
    array = real_array(matrix, "matrix")
    return rows(array if array.shape[-2:] != (4, 4) else array[..., :3, :3], "matrix", 3, 3)


def number(value: Any, what: str) -> np.float64:
    """One finite number.

    Raises: InputError.
    """
    array = real_array(value, what)
    if array.ndim or not math.isfinite(float(array)):
        raise InputError(f"{what} must be a finite number, not {shown(value)}")
    return np.float64(array)


def convert_to_axis_vector(axis: Any) -> Floats:
    """The axis (3,) of a name as 'x', '-z' or 'xy', or of three numbers, as they are.

    None and False stand for (1, 1, 1), True for (0, 0, 0).

    Raises: UnsupportedFeatureError for a name that is unknown; ShapeError, InputError.
    """
    if isinstance(axis, str):
        named = _DIRECTIONS.get(axis)
        if named is None:
            raise UnsupportedFeatureError(
                f"no axis is called {axis!r:.40}: 'x', 'y', 'z', '-x', ... or three numbers"
            )
        return named.copy()
    if axis is None or isinstance(axis, (bool, np.bool_)):
        return np.zeros(3) if axis else np.ones(3)
    return finite(axis, "axis", (3,))


def normalize_mask(mask: Any) -> NDArray[np.int64]:
    """The axes x, y, z that count (3,), as ones and zeros.

    True: all. False or None: none. Text: the axes it names, as 'xy'. Three numbers or truth values:
    those that are not zero.

    Raises: InputError for unknown text, another length or another type.
    """
    if mask is None or isinstance(mask, (bool, np.bool_)):
        return np.full(3, int(mask or 0))
    if isinstance(mask, str):
        named = _AXES.get(mask)
        if named is None:
            raise InputError(f"Unknown mask string: {mask!r:.40}: 'x', 'y', 'z', 'xy', ... 'xyz'")
        return np.array(named, np.int64)
    if isinstance(mask, (list, tuple, np.ndarray)):
        if np.shape(mask) != (3,):
            raise InputError(f"Mask must have 3 elements, not the shape {np.shape(mask)}")
        return np.array([int(bool(one)) for one in mask])
    raise InputError(
        f"Invalid mask type: {type(mask).__name__}: True, False, text or three numbers"
    )


def _check_valid_rotation(rotation: Any) -> Floats:
    """A rotation (3, 3) that is one within 2e-3; made exact where it is not within 1e-12.

    Raises: ShapeError; InputError for what is skew, mirrored or not finite.
    """
    R = real_array(rotation, "rotation")
    if R.shape != (3, 3):
        raise ShapeError(f"Rotation must be specified as a 3x3 array, not {R.shape}")
    try:
        *gram, determinant = compiled("gram")(np.ascontiguousarray(R)).tolist()
        deviation = max(map(abs, gram)) if determinant > 0.0 else math.inf
    except InputError:  # numbers that are not finite
        deviation = math.inf
    if not deviation <= _VALID:
        raise InputError(
            "Illegal rotation: columns must have length 1, stand across each other and be "
            f"right-handed within {_VALID:g} (orthonormalize_rotation_matrix makes them so), got "
            f"{R.tolist()}"
        )
    return R.copy() if deviation <= _EXACT else orthonormalize_rotation_matrix(R)


def rotation_of(rot: Any, order: str = "wxyz", *, check: bool = True) -> Floats:
    """The rotation (3, 3) of a matrix, of yaw, pitch, roll (3,), or of a quaternion (4,).

    ``check`` refuses matrices that are no rotations and quaternions whose length is not 1 within
    1e-3.

    Raises: InputError, ShapeError.
    """
    if order not in ("wxyz", "xyzw"):
        raise InputError(f"Invalid input_quaternion_order: {order!r:.40}: 'wxyz' or 'xyzw'")
    given = real_array(rot, "rotation")
    if given.shape == (3,):
        return compiled("from_rpy")(finite(given, "yaw, pitch, roll", (3,))[::-1].copy())
    if given.shape == (4,):
        q = given if order == "wxyz" else given[[3, 0, 1, 2]]
        norm = math.sqrt(float(q @ q))
        if not (abs(norm - 1.0) <= _UNIT if check else norm > 0.0):
            raise InputError(f"Invalid quaternion. Must be norm 1.0, get {norm}")
        return compiled("matrix")(q.copy())
    if given.shape != (3, 3):
        raise ShapeError(
            "Rotation must be specified as a 3x3 matrix, yaw, pitch, roll or a quaternion, not an "
            f"array of shape {given.shape}"
        )
    return _check_valid_rotation(given) if check else given.copy()


normalize_axis_mask = normalize_mask


def is_mask_array(val: Any) -> bool:
    """Whether a value is a list or an array of three."""
    return isinstance(val, (list, np.ndarray)) and np.shape(val) == (3,)


def convert_legacy_axis_to_mask(axis: Any) -> tuple[NDArray[np.int64], str | None]:
    """An older name of the free axes as a mask (3,) of those that count, and a mirror axis or None.

    'x' counts y and z, 'xy' z; 'xm' counts all and mirrors x; True, 'xyz': all; False, None: none;
    three numbers are the mask.

    Raises: InputError.
    """
    if isinstance(axis, str) and axis != "xyz":
        if axis in ("xm", "ym", "zm"):
            return np.ones(3, np.int64), axis[0]
        if axis not in _AXES:
            raise InputError(f"Unknown axis string: {axis!r:.40}: 'x', 'xx', 'xy', ... or 'xm'")
        return 1 - np.array(_AXES[axis], np.int64), None
    return normalize_mask(axis), None


def select_by_axis(vector: Any, axis: Any) -> Any:
    """The elements of a vector (3,) by `convert_legacy_axis_to_mask`; all for a mirror axis.

    Raises: InputError.
    """
    if not (axis is None or isinstance(axis, (bool, np.bool_, str))):
        raise InputError(f"axis {shown(axis)} is not supported: True, False, None or text")
    return select_by_mask(vector, *convert_legacy_axis_to_mask(axis))


def select_by_mask(vector: Any, mask: Any, mirror_axis: str | None = None) -> Any:
    """The elements of a vector (3,) whose mask is not zero; all where a mirror axis is named.

    Raises: InputError.
    """
    if np.shape(vector) != (3,):
        raise ShapeError(f"vector has the shape (3,), not {np.shape(vector)}")
    chosen = normalize_mask(mask) != 0
    return np.array(vector) if mirror_axis is not None else np.asarray(vector)[chosen]


def to_numpy_array(arr: Any) -> NDArray[Any]:
    """A list, tuple or array as an array.

    Raises: WrongTypeError.
    """
    if not isinstance(arr, (list, tuple, np.ndarray)):
        raise WrongTypeError(f"a list, a tuple or an array, not {shown(arr)}")
    return np.asarray(arr)


# --- vectors --------------------------------------------------------------------------------------


def normalize_vector(v: Any, ord: Any = 2) -> Floats:
    """Vectors (..., n) of length 1 in the same directions; zero where they are zero.

    ``ord`` is the order of the norm, as `numpy.linalg.norm` takes it.

    Raises: InputError.
    """
    plain = type(v) is np.ndarray and v.dtype == _FLOAT64
    vectors: Floats = v if plain else real_array(v, "v")
    if vectors.ndim == 1 and ord == 2:
        square = float(vectors.dot(vectors))
        if 1e-200 < square < 1e200:
            return vectors / math.sqrt(square)
    if vectors.ndim == 0 or not np.isfinite(vectors).all():
        raise InputError(f"v must be a finite vector, not {shown(v)}")
    largest = np.abs(vectors).max(axis=-1, keepdims=True)  # so that no square leaves float64
    scaled = vectors / np.where(largest > 0.0, largest, 1.0)
    length = np.linalg.norm(scaled, ord=ord, axis=-1, keepdims=True)
    return np.asarray(scaled / np.where(length > 0.0, length, 1.0), np.float64)


def direction(v: Any, what: str) -> Floats:
    """A vector (3,) of length 1 in a direction.

    Raises: InputError for one that is zero or not finite; ShapeError.
    """
    unit = normalize_vector(finite(v, what, (3,)))
    if not unit.any():
        raise InputError(f"{what} needs nonzero directions, not {shown(v)}")
    return unit


def cross_product(a: Any, b: Any) -> NDArray[Any]:
    """a x b of vectors (..., 3)."""
    return np.cross(a, b)


def triple_product(a: Any, b: Any, c: Any) -> Any:
    """a . (b x c) of vectors (3,): the signed volume that they span."""
    return np.dot(a, np.cross(b, c))


def skew_symmetric_matrix(v: Any) -> NDArray[Any]:
    """The matrix (3, 3) of v x ... of a vector (3,).

    Raises: ShapeError.
    """
    if np.shape(v) != (3,):
        raise ShapeError(f"v has the shape (3,), not {np.shape(v)}")
    return rotations.skew(_STACKED, np.asarray(v))


outer_product_matrix = skew_symmetric_matrix


def midpoint(p: float, a: Any, b: Any) -> Floats:
    """The point a share ``p`` of the way from a to b.

    Raises: InputError.
    """
    first = real_array(a, "a")
    return first + p * (real_array(b, "b") - first)


def transform(m: Any, v: Any) -> Floats:
    """m v."""
    return np.matmul(real_array(m, "m"), real_array(v, "v"))


def transform_point(matrix: Any, point: Any) -> Floats:
    """R v + p of points (..., 3), for a pose (4, 4).

    Raises: InputError, ShapeError.
    """
    pose = finite(matrix, "matrix", (4, 4))
    return rows(point, "point", 3) @ pose[:3, :3].T + pose[:3, 3]


def angle_between_vectors(
    v1: Any, v2: Any, normalize: bool = True, directed: bool = True
) -> np.float64:
    """The angle between two vectors (n,), from 0 to pi; of undirected axes up to pi / 2.

    ``normalize`` changes nothing: vectors of any length are taken. To a zero vector it is pi / 2.

    Source: W. Kahan, "How futile are mindless assessments of roundoff", section 12 (2006), which
    keeps all digits.
    Raises: InputError, ShapeError.
    """
    a, b = normalize_vector(v1), normalize_vector(v2)
    if a.ndim != 1 or a.shape != b.shape:
        raise ShapeError(f"two vectors (n,), not {a.shape} and {b.shape}")
    if not (a.any() and b.any()):
        return np.float64(math.pi / 2)
    angle = 2.0 * np.arctan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    return np.float64(angle if directed else min(angle, math.pi - angle))


def counter_clockwise_angle_between_vectors(
    v1: Any, v2: Any, normal_vector: Any = None
) -> np.float64:
    """The angle from one vector (3,) to another, counter-clockwise seen from the tip of a normal.

    It is from 0 to 2 pi, atan2(n . (a x b), a . b) with the unit normal n, which is the angle of
    vectors across n. Without a normal it is that of v1 x v2, and the angle is at most pi.

    Raises: InputError, ShapeError.
    """
    if normal_vector is None:
        return angle_between_vectors(v1, v2)
    a, b = finite(v1, "v1", (3,)), finite(v2, "v2", (3,))
    normal = direction(normal_vector, "normal_vector")
    angle = math.atan2(np.cross(a, b) @ normal, a @ b)
    return np.float64(angle if angle >= 0.0 else angle + 2.0 * math.pi)


def clockwise_angle_between_vectors(v1: Any, v2: Any, normal_vector: Any = None) -> np.float64:
    """The rest of `counter_clockwise_angle_between_vectors` to 2 pi; 0 where that is 0."""
    angle = counter_clockwise_angle_between_vectors(v1, v2, normal_vector)
    return np.float64(2.0 * math.pi - angle if angle > 0.0 else 0.0)


ccw_angle_between_vectors = counter_clockwise_angle_between_vectors
cw_angle_between_vectors = clockwise_angle_between_vectors


def is_parallel_two_vectors(v1: Any, v2: Any) -> bool:
    """Whether two vectors (3,) are parallel or opposite, to the last digits; zero is to all."""
    return bool(np.linalg.norm(np.cross(normalize_vector(v1), normalize_vector(v2))) <= _EPS)


def normalize_angle(angle: Any) -> Any:
    """Angles in [-pi, pi)."""
    folded = np.mod(real_array(angle, "angle") + math.pi, 2.0 * math.pi) - math.pi
    return folded if folded.ndim else np.float64(folded)


# --- rotations ------------------------------------------------------------------------------------


def rotation_matrix(theta: Any, axis: Any, skip_normalization: bool = False) -> Floats:
    """The rotation (3, 3) by an angle about an axis, a name or three numbers of any length.

    ``skip_normalization`` changes nothing: the result is a rotation either way.

    Raises: InputError for an axis that is zero or what is not finite; UnsupportedFeatureError for
    a name that is unknown.
    """
    named = _DIRECTIONS.get(axis) if type(axis) is str else None
    about = ready(convert_to_axis_vector(axis), "axis", 3) if named is None else named
    angle = theta if type(theta) is float else float(number(theta, "theta"))
    try:
        return compiled("about")(about, angle)
    except InputError:
        raise InputError(
            "a rotation has a finite angle theta (rad) and an axis that is not zero, not "
            f"{shown(theta)} and {shown(axis)}"
        ) from None


def rodrigues(axis: Any, theta: Any = None, skip_normalization: bool = False) -> Floats:
    """The rotations (3, 3) or (N, 3, 3) about axes (3,) or (N, 3) of any length.

    The angles ``theta`` are a number or (N,); without them they are the lengths of the axes.
    ``skip_normalization`` changes nothing.

    Raises: InputError for an axis without direction where ``theta`` is given; ShapeError.
    """
    axes = rows(axis, "axis", 3)
    if theta is None:
        vectors = axes
    else:
        units = normalize_vector(axes)
        if not units.any(axis=-1).all():
            raise InputError(f"an axis of rotation has a direction, not {shown(axis)}")
        angles = real_array(theta, "theta")
        vectors = (angles.reshape(-1, 1) if angles.ndim else angles) * units
    if vectors.size == 3:
        return compiled("exp")(ready(vectors.reshape(3), "axis", 3))
    return poses.pose(wxyz=rotation_vector_to_quaternion(vectors))[..., :3, :3].copy()


def axis_angle_vector_to_rotation_matrix(omega: Any, p: float = 1.0) -> Floats:
    """The rotation (3, 3) of a share ``p`` of a rotation vector (3,).

    Raises: InputError, ShapeError.
    """
    return compiled("exp")(number(p, "p") * finite(omega, "omega", (3,)))


matrix_exponent = axis_angle_vector_to_rotation_matrix


def rotation_matrix_to_axis_angle_vector(m: Any) -> Floats:
    """The rotation vector (3,) of a rotation (3, 3): its axis times its angle, up to pi.

    Raises: InputError, ShapeError.
    """
    return compiled("log")(ready(m, "matrix", 3, 3))


matrix_log = rotation_matrix_to_axis_angle_vector


def axis_angle_from_matrix(rotation: Any) -> Floats:
    """`rotation_matrix_to_axis_angle_vector`."""
    return rotation_matrix_to_axis_angle_vector(rotation)


def rotation_angle(mat: Any, return_angular_velocity: bool = False) -> Any:
    """The angle, up to pi, and the axis (3,) of a rotation (3, 3); None and None where it is none.

    With ``return_angular_velocity`` their product (3,), or None.

    Raises: InputError for what is no rotation; ShapeError.
    """
    vector = compiled("log")(_check_valid_rotation(mat))
    angle = np.float64(np.linalg.norm(vector))
    if return_angular_velocity:
        return vector if angle > 0.0 else None
    return (angle, vector / angle) if angle > 0.0 else (None, None)


inverse_rodrigues = rotation_angle


def orthonormalize_rotation_matrix(matrix: Any) -> Floats:
    """The rotations (..., 3, 3) nearest to matrices (..., 3, 3).

    Source: the polar factor, by the singular value decomposition.
    Raises: ShapeError, InputError.
    """
    u, _, vt = np.linalg.svd(rows(matrix, "matrix", 3, 3))
    u[..., 2] *= np.sign(np.linalg.det(u) * np.linalg.det(vt))[..., None]
    return u @ vt


def interpolate_rotation_matrices(p: float, r1: Any, r2: Any) -> Floats:
    """The rotation (3, 3) a share ``p`` of the way from one to another, turning about one axis.

    Raises: InputError, ShapeError.
    """
    first, second = ready(r1, "r1", 3, 3), ready(r2, "r2", 3, 3)
    way = compiled("log")(first.T.dot(second))
    return first.dot(compiled("exp")(number(p, "p") * way))


midrot = interpolate_rotation_matrices


def rotation_distance(R1: Any, R2: Any, check: bool = True) -> float:
    """The angle between two rotations, matrices (3, 3) or rotation vectors (3,), from 0 to pi.

    ``check`` refuses matrices that are no rotations.

    Raises: InputError, ShapeError.
    """

    def matrix(R: Any) -> Floats:
        if np.shape(R) == (3,):
            return compiled("exp")(finite(R, "rotation", (3,)))
        return _check_valid_rotation(R) if check else orthonormalize_rotation_matrix(R)

    return float(np.linalg.norm(compiled("log")(matrix(R1).T.dot(matrix(R2)))))


rotation_geodesic_distance = rotation_distance


def rotate_vector_by_axis_angle(vec: Any, theta: Any, axis: Any) -> Floats:
    """Vectors (..., 3) turned by an angle about an axis, a name or three numbers."""
    return rows(vec, "vec", 3) @ rotation_matrix(theta, axis).T


rotate_vector = rotate_vector_by_axis_angle


def rotate_matrix_by_axis_angle(
    matrix: Any, theta: Any, axis: Any, world: Any = None, skip_normalization: bool = False
) -> Floats:
    """A matrix (3, 3) turned by an angle about an own axis, or with ``world`` about the world's."""
    turn = rotation_matrix(theta, axis, skip_normalization)
    given = rows(matrix, "matrix", 3, 3)
    return turn @ given if world else given @ turn


rotate_matrix = rotate_matrix_by_axis_angle


def rotation_matrix_from_vectors(a: Any, b: Any) -> Floats:
    """The smallest rotation (3, 3) that takes the direction of one vector (3,) to that of another.

    Opposite ones are half a turn about an axis across both, across x too where it can be.

    Raises: InputError for a zero vector.
    """
    start = direction(a, "rotation_matrix_from_vectors")
    goal = direction(b, "rotation_matrix_from_vectors")
    cross = NUMPY.cross(start, goal)
    sine, cosine = math.sqrt(cross.dot(cross)), float(start.dot(goal))
    if sine < _EXACT:
        if cosine > 0.0:
            return np.eye(3)
        cross = NUMPY.cross(start, (1.0, 0.0, 0.0))
        if np.linalg.norm(cross) < _EXACT:
            cross = NUMPY.cross(start, (0.0, 1.0, 0.0))
    # near half a turn it matters that the axis is across to the last digits
    cross -= cross.dot(start) / start.dot(start) * start
    return rotation_matrix(math.atan2(sine, cosine), cross)


def rotation_matrix_from_axis(
    first_axis: Any = (1, 0, 0), second_axis: Any = (0, 1, 0), axes: str = "xy"
) -> Floats:
    """The rotation (3, 3) whose first axis of ``axes`` is a direction, and its second near another.

    Source: the second by Gram and Schmidt.
    Raises: InputError for two directions that are parallel or zero, or unknown axes.
    """
    if axes not in ("xy", "yx", "xz", "zx", "yz", "zy"):
        raise InputError(f"Valid axes are 'xy', 'yx', 'xz', 'zx', 'yz', 'zy', not {shown(axes)}")
    first = direction(first_axis, "first_axis")
    second = direction(second_axis, "second_axis")
    second = second - (first @ second) * first
    if np.linalg.norm(second) < _EXACT:
        raise InputError(
            f"first_axis {shown(first_axis)} and second_axis {shown(second_axis)} are parallel"
        )
    second = normalize_vector(second)
    i, j = ("xyz".index(name) for name in axes)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    made = np.empty((3, 3))
    made[:, i], made[:, j], made[:, 3 - i - j] = first, second, sign * np.cross(first, second)
    return made


def rotation_matrix_z_to_axis(axis: Any) -> Floats:
    """A rotation (3, 3) whose z axis is a direction (3,), and its x axis near x, or near y.

    Raises: InputError for a zero direction.
    """
    unit = direction(axis, "axis")
    near = (0, 1, 0) if abs(unit[0]) > _NEAR_X else (1, 0, 0)
    return rotation_matrix_from_axis(unit, near, "zx")


def look_at_rotation(
    camera_pos: Any, target: Any = None, up: Any = None, return_matrix: bool = True
) -> Floats:
    """The rotation (3, 3) of the world in a camera that looks at a target along z, x right, y down.

    Its rows are the camera's axes, as in the original. The target is the origin and ``up`` is z
    where they are not given. Where camera and target are one the rotation is none; where it looks
    along ``up``, that is replaced by y, or z. Without ``return_matrix`` the rotation vector (3,).

    Raises: InputError, ShapeError.
    """
    start = finite(camera_pos, "camera_pos", (3,))
    goal = np.zeros(3) if target is None else finite(target, "target", (3,))
    ahead = normalize_vector(goal - start)
    R = np.eye(3)
    if ahead.any():
        above = [(0.0, 0.0, 1.0) if up is None else finite(up, "up", (3,)), (0, 1, 0), (0, 0, 1)]
        sides = (np.cross(ahead, normalize_vector(one)) for one in above)
        right = normalize_vector(next(side for side in sides if np.linalg.norm(side) > 1e-6))
        R = np.stack([right, np.cross(ahead, right), ahead])
    return R if return_matrix else compiled("log")(R)


def random_rotation() -> Floats:
    """A random rotation (3, 3), all equally likely."""
    return compiled("matrix")(random_quaternion())


def random_translation() -> Floats:
    """Three random numbers (3,) between 0 and 1."""
    return np.random.random(3)


# --- roll, pitch, yaw -----------------------------------------------------------------------------


def matrix2rpy(matrix: Any) -> Floats:
    """Roll, pitch, yaw (..., 3) of rotations (..., 3, 3) or poses; yaw is 0 at the gimbal lock.

    Raises: InputError, ShapeError.
    """
    R = rotations_in(matrix)
    if R.ndim == 2:
        return compiled("rpy")(ready(R, "matrix", 3, 3))
    T = np.zeros((*R.shape[:-2], 4, 4))
    T[..., :3, :3], T[..., 3, 3] = R, 1.0
    rpy = poses.xyz_rpy(T)[1]
    locked = R[..., 0, 0] ** 2 + R[..., 1, 0] ** 2 < rotations.TINY
    if np.any(locked):  # the core has roll 0 there; only their sum or difference is known
        roll = np.where(rpy[..., 1] > 0.0, -rpy[..., 2], rpy[..., 2])
        rpy[..., 0] = np.where(locked, roll, rpy[..., 0])
        rpy[..., 2] = np.where(locked, 0.0, rpy[..., 2])
    return rpy


def matrix2ypr(matrix: Any) -> Floats:
    """Yaw, pitch, roll (..., 3) of rotations (..., 3, 3) or poses; yaw is 0 at the gimbal lock."""
    return matrix2rpy(matrix)[..., ::-1].copy()


def rpy2matrix(roll: Any, pitch: Any, yaw: Any) -> Floats:
    """The rotation (3, 3) Rz(yaw) Ry(pitch) Rx(roll).

    Raises: InputError.
    """
    angles = [
        angle if type(angle) is float else number(angle, name)
        for name, angle in (("roll", roll), ("pitch", pitch), ("yaw", yaw))
    ]
    return compiled("from_rpy")(np.array(angles))


def ypr2matrix(yaw: Any, pitch: Any, roll: Any) -> Floats:
    """The rotation (3, 3) Rz(yaw) Ry(pitch) Rx(roll)."""
    return rpy2matrix(roll, pitch, yaw)


def rpy_matrix(az: Any, ay: Any, ax: Any) -> Floats:
    """The rotation (3, 3) Rz(az) Ry(ay) Rx(ax): yaw, pitch, roll."""
    return rpy2matrix(ax, ay, az)


def rotation_matrix_from_rpy(rpy: Any) -> Floats:
    """The rotation (3, 3) of yaw, pitch, roll (3,)."""
    return rpy_matrix(*finite(rpy, "yaw, pitch, roll", (3,)))


def rpy_angle(matrix: Any) -> tuple[Floats, Floats]:
    """The two triples yaw, pitch, roll (..., 3) of rotations (..., 3, 3), yaws apart by pi."""
    ypr = matrix2ypr(matrix)
    return ypr, _second_ypr(ypr, np.copysign(math.pi, ypr[..., 1]))


def _second_ypr(ypr: Floats, half_turn: Any) -> Floats:
    yaw, pitch, roll = ypr[..., 0], ypr[..., 1], ypr[..., 2]
    other_roll = np.where(roll > 0.0, roll - math.pi, roll + math.pi)
    return np.stack([yaw + math.pi, half_turn - pitch, other_roll], axis=-1)


def quaternion2rpy(q: Any) -> tuple[Floats, Floats]:
    """The two triples yaw, pitch, roll (..., 3) of quaternions (..., 4)."""
    ypr = matrix2ypr(quaternion2matrix(q, normalize=True))
    return ypr, _second_ypr(ypr, math.pi)


rpy_from_quat = quaternion2rpy


def rpy2quaternion(rpy: Any) -> Floats:
    """The quaternion (4,) of yaw, pitch, roll (3,); it changes its sign with a turn of 2 pi."""
    yaw, pitch, roll = (
        quaternion_from_axis_angle(angle, axis)
        for angle, axis in zip(
            finite(rpy, "yaw, pitch, roll", (3,)), ((0, 0, 1), (0, 1, 0), (1, 0, 0)), strict=True
        )
    )
    return quaternion_multiply(yaw, quaternion_multiply(pitch, roll))


quat_from_rpy = rpy2quaternion


def invert_yaw_pitch_roll(
    yaw: Any = 0.0, pitch: Any = 0.0, roll: Any = 0.0
) -> tuple[np.float64, np.float64, np.float64]:
    """Yaw, pitch and roll of the inverse of a rotation that is given by them."""
    inverse = matrix2ypr(ypr2matrix(yaw, pitch, roll).T)
    return inverse[0], inverse[1], inverse[2]


# --- quaternions ----------------------------------------------------------------------------------


def wxyz2xyzw(quat: Any) -> NDArray[Any]:
    """Quaternions (..., 4) with w last instead of first."""
    return np.roll(to_numpy_array(quat), -1, axis=-1)


def xyzw2wxyz(quat: Any) -> NDArray[Any]:
    """Quaternions (..., 4) with w first instead of last."""
    return np.roll(to_numpy_array(quat), 1, axis=-1)


def quaternion_norm(q: Any) -> Any:
    """The length of a quaternion (4,); of several (N, 4) it is (N, 1)."""
    given = rows(q, "q", 4)
    if given.ndim == 1:
        return np.float64(np.linalg.norm(given))
    return np.linalg.norm(given, axis=-1, keepdims=True)


def quaternion_normalize(q: Any) -> Floats:
    """Quaternions (..., 4) of length 1.

    Raises: InputError for a zero one.
    """
    unit = normalize_vector(ready(q, "q", 4) if np.ndim(q) == 1 else rows(q, "q", 4))
    if not unit.any(axis=-1).all():
        raise InputError("a quaternion that is a rotation is not zero")
    return unit


def quaternion_conjugate(quaternion: Any) -> Floats:
    """The conjugates (..., 4)."""
    return rows(quaternion, "quaternion", 4) * (1.0, -1.0, -1.0, -1.0)


def quaternion_inverse(quaternion: Any) -> Floats:
    """The inverses (..., 4) of quaternions of any length.

    Raises: InputError for a zero one.
    """
    given = rows(quaternion, "quaternion", 4)
    square = (given * given).sum(axis=-1, keepdims=True)
    if not square.all():
        raise InputError("a zero quaternion has no inverse")
    return quaternion_conjugate(given) / square


def quaternion_multiply(quaternion1: Any, quaternion0: Any) -> Floats:
    """The products (..., 4): the second rotation, then the first."""
    if np.ndim(quaternion1) == 1 == np.ndim(quaternion0):
        first, second = ready(quaternion1, "quaternion1", 4), ready(quaternion0, "quaternion0", 4)
        return compiled("quaternion_product")(first, second)
    first, second = rows(quaternion1, "quaternion1", 4), rows(quaternion0, "quaternion0", 4)
    a, b = (np.moveaxis(q, -1, 0) for q in np.broadcast_arrays(first, second))
    return np.moveaxis(rotations.multiply_quaternions(_STACKED, a, b), 0, -1)


def quaternion2matrix(q: Any, normalize: bool = False) -> Floats:
    """The rotations (..., 3, 3) of quaternions (..., 4).

    Raises: InputError for one whose length is not 1 within 1e-5, unless ``normalize`` is asked for.
    """
    given = ready(q, "q", 4) if np.ndim(q) == 1 else rows(q, "q", 4)
    squares = given.dot(given) if given.ndim == 1 else (given * given).sum(axis=-1)
    # twice the tolerance of the length, for the square
    if not (normalize or np.abs(squares - 1.0).max() <= 6e-5):
        raise InputError("quaternion q's norm is not 1: give normalize=True to make it so")
    if given.ndim == 1:
        return compiled("matrix")(given)
    return poses.pose(wxyz=given)[..., :3, :3].copy()


rotation_matrix_from_quat = quaternion2matrix


def matrix2quaternion(m: Any) -> Floats:
    """The quaternions (..., 4), w >= 0, of rotations (..., 3, 3) or poses (..., 4, 4).

    Raises: InputError, ShapeError.
    """
    R = rotations_in(m)
    if R.ndim == 2:
        return compiled("quaternion")(ready(R, "matrix", 3, 3))
    T = np.zeros((*R.shape[:-2], 4, 4))
    T[..., :3, :3], T[..., 3, 3] = R, 1.0
    return poses.xyz_wxyz(T)[1]


quat_from_rotation_matrix = matrix2quaternion


def quaternion_from_axis_angle(theta: Any, axis: Any) -> Floats:
    """The quaternion (4,) of an angle about an axis, a name or three numbers of any length.

    Raises: InputError for an axis without direction.
    """
    half = 0.5 * number(theta, "theta")
    unit = direction(convert_to_axis_vector(axis), "an axis of rotation")
    return np.concatenate([[np.cos(half)], np.sin(half) * unit])


def axis_angle_from_quaternion(quat: Any) -> Floats:
    """The rotation vector (3,) of a quaternion (4,), up to pi."""
    return so3.quaternion_log(NUMPY, _upper(quaternion_normalize(quat)))


def rotation_vector_to_quaternion(rvec: Any) -> Floats:
    """The quaternions (..., 4) of rotation vectors (..., 3)."""
    vectors = rows(rvec, "rvec", 3)
    angle = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.concatenate(
        [np.cos(0.5 * angle), 0.5 * np.sinc(angle / (2.0 * math.pi)) * vectors], axis=-1
    )


rvec_to_quaternion = rotation_vector_to_quaternion


def quaternion_from_vectors(a: Any, b: Any) -> Floats:
    """The quaternion (4,) of `rotation_matrix_from_vectors`."""
    return matrix2quaternion(rotation_matrix_from_vectors(a, b))


def quaternion_distance(q1: Any, q2: Any, absolute: bool = False) -> Any:
    """The angles (...) between quaternions (..., 4) from 0 to 2 pi, or up to pi with ``absolute``.

    q and -q are the same rotation and 2 pi apart, with ``absolute`` 0.

    Raises: InputError, ShapeError.
    """
    a, b = quaternion_normalize(q1), quaternion_normalize(q2)
    angle = 4.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1))
    angle = np.minimum(angle, 2.0 * math.pi - angle) if absolute else angle
    return angle if angle.ndim else np.float64(angle)


def quaternion_absolute_distance(q1: Any, q2: Any) -> Any:
    """The angles (...) between the rotations of quaternions (..., 4), from 0 to pi."""
    return quaternion_distance(q1, q2, absolute=True)


def quaternion_slerp(
    q0: Any, q1: Any, fraction: Any, spin: int = 0, shortestpath: bool = True
) -> Floats:
    """The quaternion (4,) a share of the way on the great circle from one to another.

    ``spin`` adds half turns of that circle; ``shortestpath`` takes -q1 where it is nearer. Shares
    of 0 and 1 give q0 and q1 themselves, made unit.

    Source: K. Shoemake, "Animating rotation with quaternion curves", SIGGRAPH (1985).
    Raises: InputError, ShapeError.
    """
    start = quaternion_normalize(ready(q0, "q0", 4))
    goal = quaternion_normalize(ready(q1, "q1", 4))
    share = number(fraction, "fraction")
    if share in (0.0, 1.0):
        return goal if share else start
    if shortestpath and float(start @ goal) < 0.0:
        goal = -goal
    apart, together = goal - start, goal + start
    angle = 2.0 * math.atan2(math.sqrt(apart.dot(apart)), math.sqrt(together.dot(together)))
    whole = angle + spin * math.pi
    if math.sin(angle) < _EXACT:
        return start
    return (math.sin((1.0 - share) * whole) * start + math.sin(share * whole) * goal) / math.sin(
        whole
    )


def random_quaternion() -> Floats:
    """A random quaternion (4,), all rotations equally likely."""
    return quaternion_normalize(np.random.standard_normal(4))


def _upper(q: Floats) -> Floats:
    return -q if q[0] < 0.0 else q


# --- poses ----------------------------------------------------------------------------------------


def rotation_translation2matrix(rotation: Any, translation: Any) -> Floats:
    """The pose (4, 4) of a rotation (3, 3) and a position (3,).

    Raises: InputError, ShapeError.
    """
    R, p = finite(rotation, "rotation", (3, 3)), finite(translation, "translation", (3,))
    return pose_matrix(R, p)


def matrix2rotation_translation(matrix: Any) -> tuple[Floats, Floats]:
    """The rotations (..., 3, 3) and positions (..., 3) of poses (..., 4, 4)."""
    T = rows(matrix, "matrix", 4, 4)
    return T[..., :3, :3].copy(), T[..., :3, 3].copy()


def xyzrpy2matrix(xyz: Any, rpy: Any) -> Floats:
    """The pose (4, 4) of a position (3,) and roll, pitch, yaw (3,)."""
    return rotation_translation2matrix(
        compiled("from_rpy")(finite(rpy, "rpy", (3,))), finite(xyz, "xyz", (3,))
    )


def matrix2xyzrpy(matrix: Any) -> tuple[Floats, Floats]:
    """The positions (..., 3) and roll, pitch, yaw (..., 3) of poses (..., 4, 4)."""
    R, p = matrix2rotation_translation(matrix)
    return p, matrix2rpy(R)


def matrix2translation_quaternion_wxyz(matrix: Any) -> tuple[Floats, Floats]:
    """The positions (..., 3) and quaternions (..., 4) of poses (..., 4, 4)."""
    R, p = matrix2rotation_translation(matrix)
    return p, matrix2quaternion(R)


def matrix2translation_quaternion_xyzw(matrix: Any) -> tuple[Floats, Floats]:
    """The positions (..., 3) and quaternions (..., 4), w last, of poses (..., 4, 4)."""
    p, q = matrix2translation_quaternion_wxyz(matrix)
    return p, wxyz2xyzw(q)


def rpy2homogeneous(roll: Any, pitch: Any, yaw: Any) -> Floats:
    """The pose (4, 4) at the origin with the rotation Rz(yaw) Ry(pitch) Rx(roll)."""
    return rotation_translation2matrix(rpy2matrix(roll, pitch, yaw), np.zeros(3))


def matrix_relative(parent: Any, child: Any) -> Floats:
    """The poses (..., 4, 4) of ``child`` in ``parent``, both given in one frame."""
    above, below = rows(parent, "parent", 4, 4), rows(child, "child", 4, 4)
    back = np.swapaxes(above[..., :3, :3], -1, -2)
    made = np.zeros((*np.broadcast_shapes(above.shape, below.shape)[:-2], 4, 4))
    made[..., :3, :3] = back @ below[..., :3, :3]
    gap = below[..., :3, 3] - above[..., :3, 3]
    made[..., :3, 3] = (back @ gap[..., None])[..., 0]
    made[..., 3, 3] = 1.0
    return made


def make_matrix(r: int, c: int) -> Floats:
    """Zeros (r, c)."""
    return np.zeros((r, c))


# --- Jacobians ------------------------------------------------------------------------------------


def manipulability(J: Any) -> Any:
    """sqrt(det(J Jᵀ)) (...) of matrices (..., m, n); 0 where rows depend on each other.

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", IJRR 4 (1985).
    """
    matrix = real_array(J, "J")
    singular = np.linalg.svd(matrix, compute_uv=False)
    if matrix.shape[-2] > matrix.shape[-1]:
        return np.zeros(matrix.shape[:-2])[()]
    return np.prod(singular, axis=-1)


def sr_inverse(J: Any, k: Any = 1.0, weight_vector: Any = None) -> Floats:
    """W Jᵀ (J W Jᵀ + k)⁻¹ (..., n, m) of J (..., m, n), with W = diag(weight_vector) or none.

    ``k`` is a number or (...).

    Source: Y. Nakamura, H. Hanafusa, "Inverse kinematic solutions with singularity robustness for
    robot manipulator control", J. Dyn. Sys. 108 (1986).
    Raises: ShapeError; numpy.linalg.LinAlgError where k is 0 and J W Jᵀ singular.
    """
    matrix = real_array(J, "J")
    weighted = np.swapaxes(matrix, -1, -2)
    if weight_vector is not None:
        weighted = finite(weight_vector, "weight_vector", (matrix.shape[-1],))[:, None] * weighted
    damping = real_array(k, "k")[..., None, None] * np.eye(matrix.shape[-2])
    normal = matrix @ weighted + damping  # symmetric, so that solve may stand on its left
    solved = np.linalg.solve(normal, np.swapaxes(weighted, -1, -2))
    return np.asarray(np.swapaxes(solved, -1, -2), np.float64)


def sr_inverse_org(J: Any, k: Any = 1.0) -> Floats:
    """Jᵀ (J Jᵀ + k)⁻¹ (..., n, m)."""
    return sr_inverse(J, k)


def batch_sr_inverse(J_batch: Any, k_values: Any, weight_vector: Any = None) -> Floats:
    """`sr_inverse` of matrices (N, m, n) with numbers ``k_values`` (N,)."""
    return sr_inverse(J_batch, k_values, weight_vector)


def jacobian_inverse(
    J: Any,
    manipulability_limit: float = 0.1,
    manipulability_gain: float = 0.001,
    weight: Any = None,
) -> Floats:
    """`sr_inverse` (..., n, m), damped only where the manipulability is below the limit.

    There k = gain (1 - manipulability / limit)².
    """
    near = np.asarray(manipulability(J)) / manipulability_limit
    k = np.where(near < 1.0, manipulability_gain * (1.0 - near) ** 2, 0.0)
    return sr_inverse(J, k, weight)


# --- the rest -------------------------------------------------------------------------------------


def rotation_log(R: Floats) -> Floats:
    """The rotation vector (3,) of a rotation (3, 3) that needs no check."""
    return compiled("log")(np.ascontiguousarray(R))


def _check_valid_translation(translation: Any) -> Floats:
    """Three finite numbers, as (3,), (3, 1) or (1, 3).

    Raises: InputError, ShapeError.
    """
    p = real_array(translation, "translation")
    if p.shape not in ((3,), (3, 1), (1, 3)):
        raise ShapeError(f"Translation must be three numbers, not an array of shape {p.shape}")
    return finite(p.reshape(3), "translation", (3,))


def _wrap_axis(axis: Any) -> Floats:
    return convert_to_axis_vector(axis)


def warn_rotation_axis_deprecated(stacklevel: int = 2) -> None:
    """Warn that ``rotation_axis`` is called ``rotation_mask`` now, and names what counts."""
    warnings.warn(
        "rotation_axis is deprecated: use rotation_mask, which names the axes that count",
        DeprecationWarning,
        stacklevel=stacklevel + 1,
    )


def warn_translation_axis_deprecated(stacklevel: int = 2) -> None:
    """Warn that ``translation_axis`` is called ``position_mask`` now, and names what counts."""
    warnings.warn(
        "translation_axis is deprecated: use position_mask, which names the axes that count",
        DeprecationWarning,
        stacklevel=stacklevel + 1,
    )
