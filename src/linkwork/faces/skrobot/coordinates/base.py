"""Rows S0-060 to S0-099: frames, alone and hanging on each other.

A frame keeps its pose as a matrix (4, 4) that is never written again once it is stored: moving a
frame stores a new one. So matrices may be shared inside; what is handed out is always a copy.
A frame that hangs on others (`CascadedCoords`) keeps its world pose too, until it or one above it
moves. Below a marked frame all are marked and above a clean one all are clean, which is why a move
stops at marked frames and a read at the first clean one.
"""
# Frames read each other's matrices and marks: a copy at each step of a chain would be its cost.
# pyright: reportPrivateUsage=false, reportConstantRedefinition=false

from __future__ import annotations

import copy as _copying
import math
import warnings
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.checks import finite_number, real_array, shown
from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates.compiled import compiled
from linkwork.faces.skrobot.coordinates.math import (
    _check_valid_translation,
    convert_legacy_axis_to_mask,
    convert_to_axis_vector,
    finite,
    normalize_mask,
    random_rotation,
    random_translation,
    rotation_log,
    rotation_matrix,
    rotation_matrix_from_vectors,
    rotation_of,
    rpy_angle,
)
from linkwork.faces.skrobot.errors import AttachedError, WrongTypeError
from linkwork.ops.numpy import NUMPY
from linkwork.spatial import rotations, se3
from linkwork.spatial.poses import Pose, pose_matrix

Floats = NDArray[np.float64]

_IDENTITY = np.eye(4)


def inverse_matrix(M: Floats) -> Floats:
    """The matrix (4, 4) of the inverse of a rigid pose (4, 4)."""
    return compiled("inverse")(M)


def _vectors(v: Any) -> Floats:
    """Vectors (3,) or (N, 3)."""
    array = v if type(v) is np.ndarray and v.dtype == np.float64 else real_array(v, "vector")
    if array.shape[-1:] != (3,):
        raise ShapeError(f"a vector has the shape (3,) or (N, 3), not {array.shape}")
    return array


def _three(vec: Any) -> Floats:
    """A finite vector (3,), perhaps the array itself."""
    if type(vec) is np.ndarray and vec.dtype == np.float64 and vec.shape == (3,):
        if all(map(math.isfinite, vec.tolist())):
            return vec
    return finite(vec, "vec", (3,))


def _frame(value: Any, what: str) -> Coordinates:
    if not isinstance(value, Coordinates):
        raise WrongTypeError(f"{what} must be Coordinates, not {type(value).__name__}")
    return value


def _frame_or_transform(value: Any) -> Floats:
    if isinstance(value, Transform):
        return pose_matrix(value.rotation, value.translation)
    return _frame(value, "a factor")._local()


class Transform:
    """A pose as a function of vectors; ``t_12 * t_23`` is ``t_23`` after ``t_12``."""

    def __init__(self, translation: Any, rotation: Any) -> None:
        self.translation = np.array(translation, np.float64)
        self.rotation = np.array(rotation, np.float64)
        if self.translation.shape != (3,) or self.rotation.shape != (3, 3):
            raise ShapeError(
                "Transform takes a translation (3,) and a rotation (3, 3), not "
                f"{self.translation.shape} and {self.rotation.shape}"
            )

    def transform_vector(self, vec: Any) -> Floats:
        """R v + p of vectors (3,) or (N, 3)."""
        return _vectors(vec) @ self.rotation.T + self.translation

    def rotate_vector(self, vec: Any) -> Floats:
        """R v of vectors (3,) or (N, 3)."""
        return _vectors(vec) @ self.rotation.T

    def inverse_transformation(self) -> Transform:
        """The inverse."""
        back = self.rotation.T
        return Transform(-back @ self.translation, back)

    def __mul__(self, tf_23: Any) -> Transform:
        """``tf_23`` after this one.

        Raises: WrongTypeError.
        """
        if not isinstance(tf_23, (Transform, Coordinates)):
            raise WrongTypeError(f"a Transform is multiplied by one, not by {shown(tf_23)}")
        R, p = np.asarray(tf_23.rotation), np.asarray(tf_23.translation)
        return Transform(R @ self.translation + p, R @ self.rotation)


class Coordinates:
    """A frame: a position and a rotation in the world.

    ``pos`` is (3,) in metres or a pose (4, 4), which has the rotation too. ``rot`` is a matrix
    (3, 3), yaw, pitch, roll (3,) or a quaternion (4,) in ``input_quaternion_order``. ``hook`` is
    called before position or rotation is read. Without ``check_validity`` matrices are taken as
    they are.

    Raises: InputError, ShapeError.
    """

    _name: str = ""
    _hook: Callable[[], Any] | None = None
    _parent: Coordinates | None = None
    _descendants: list[CascadedCoords] | tuple[()] = ()
    _marked = False  # whether the world pose that is kept is no longer right
    _M: Floats

    def __init__(
        self,
        pos: Any = None,
        rot: Any = None,
        name: str | None = None,
        hook: Callable[[], Any] | None = None,
        check_validity: bool = True,
        input_quaternion_order: str = "wxyz",
    ) -> None:
        if name is not None:
            self.name = name
        self._hook = hook
        self._M = _IDENTITY
        if pos is None and rot is None:
            return
        p: Any = 0.0
        if pos is not None:
            p = real_array(pos, "translation")
            if p.shape == (4, 4):
                rot, p = p[:3, :3], p[:3, 3]
            p = _check_valid_translation(p)
        R = (
            np.eye(3)
            if rot is None
            else rotation_of(rot, input_quaternion_order, check=check_validity)
        )
        self._M = pose_matrix(R, p)

    # --- the pose, as the rest of the face sees it ---

    def _local(self) -> Floats:
        """The pose (4, 4) relative to the parent; not to be written to, nor to be kept."""
        return self._M

    def _world(self) -> Floats:
        """The pose (4, 4) in the world; not to be written to."""
        return self._M

    def _set_local(self, M: Floats) -> None:
        """Store a pose (4, 4) that nobody writes to any more."""
        self._M = M
        self.changed()

    def _set_world(self, W: Floats) -> None:
        self._set_exact(self._from_world(W))

    def _set_exact(self, M: Floats) -> None:
        """Store a pose (4, 4) that was computed from others, its rotation exact again."""
        self._set_local(compiled("polished")(M))

    def _above(self) -> Floats | None:
        """The world pose of what this frame hangs on; None for the world."""
        return None

    def _from_world(self, W: Floats) -> Floats:
        above = self._above()
        return W if above is None else inverse_matrix(above).dot(W)

    # --- reading ---

    def T(self) -> Floats:
        """The pose (4, 4), relative to the parent."""
        return self._local().copy()

    @property
    def rotation(self) -> Floats:
        """The rotation (3, 3), relative to the parent; set from all that ``rot`` may be."""
        if self._hook is not None:
            self._hook()
        return self._local()[:3, :3].copy()

    @rotation.setter
    def rotation(self, rotation: Any) -> None:
        self._set_local(pose_matrix(rotation_of(rotation), self._local()[:3, 3]))

    rotation_matrix = rotation

    @property
    def translation(self) -> Floats:
        """The position (3,) in metres, relative to the parent."""
        if self._hook is not None:
            self._hook()
        return self._local()[:3, 3].copy()

    @translation.setter
    def translation(self, translation: Any) -> None:
        p = _check_valid_translation(translation)
        self._set_local(pose_matrix(self._local()[:3, :3], p))

    translation_vector = translation

    @property
    def name(self) -> str:
        """The frame's name; '' where it has none."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if not isinstance(name, str):
            raise WrongTypeError(f"name should be string, get {type(name).__name__}")
        self._name = name

    @property
    def parent(self) -> Coordinates | None:
        """The frame that is given as the parent; a frame that hangs on one is a CascadedCoords."""
        return self._parent

    @parent.setter
    def parent(self, parent: Coordinates | None) -> None:
        if not (parent is None or isinstance(parent, Coordinates)):
            raise InputError(f"parent should be None or Coordinates, not {shown(parent)}")
        self._parent = parent

    @property
    def dimension(self) -> int:
        """3."""
        return 3

    @property
    def x_axis(self) -> Floats:
        """The x axis (3,), relative to the parent."""
        return self._local()[:3, 0].copy()

    @property
    def y_axis(self) -> Floats:
        """The y axis (3,), relative to the parent."""
        return self._local()[:3, 1].copy()

    @property
    def z_axis(self) -> Floats:
        """The z axis (3,), relative to the parent."""
        return self._local()[:3, 2].copy()

    @property
    def quaternion(self) -> Floats:
        """`quaternion_wxyz`."""
        return self.quaternion_wxyz

    @property
    def quaternion_wxyz(self) -> Floats:
        """The quaternion (4,) of `rotation`, w >= 0."""
        return compiled("pose_quaternion")(self._local())

    @property
    def quaternion_xyzw(self) -> Floats:
        """The quaternion (4,) of `rotation`, w last and >= 0."""
        return self.quaternion_wxyz[[1, 2, 3, 0]]

    def worldpos(self) -> Floats:
        """The position (3,) in the world."""
        return self._world()[:3, 3].copy()

    def worldrot(self) -> Floats:
        """The rotation (3, 3) in the world."""
        return self._world()[:3, :3].copy()

    def worldcoords(self) -> Coordinates:
        """This frame itself, whose pose is in the world."""
        return self

    def world_quaternion_wxyz(self) -> Floats:
        """The quaternion (4,) of `worldrot`, w >= 0."""
        return compiled("pose_quaternion")(self._world())

    def world_quaternion_xyzw(self) -> Floats:
        """The quaternion (4,) of `worldrot`, w last and >= 0."""
        return self.world_quaternion_wxyz()[[1, 2, 3, 0]]

    def world_position_quaternion_wxyz(self) -> tuple[Floats, Floats]:
        """`worldpos` and `world_quaternion_wxyz`."""
        return self.worldpos(), self.world_quaternion_wxyz()

    def world_position_quaternion_xyzw(self) -> tuple[Floats, Floats]:
        """`worldpos` and `world_quaternion_xyzw`."""
        return self.worldpos(), self.world_quaternion_xyzw()

    def copy_worldcoords(self) -> Coordinates:
        """A plain frame at this one's place in the world, without name or parent."""
        made = Coordinates.__new__(Coordinates)
        made._M = self._world()
        return made

    copy = copy_coords = coords = copy_worldcoords  # copy.deepcopy copies the whole tree

    def get_transform(self) -> Transform:
        """The world pose as a function of vectors."""
        W = self._world()
        return Transform(W[:3, 3], W[:3, :3])

    def rpy_angle(self) -> tuple[Floats, Floats]:
        """The two triples yaw, pitch, roll (3,) of `rotation`."""
        warnings.warn(
            "rpy_angle() does not say its order: use matrix2ypr() or matrix2rpy()",
            DeprecationWarning,
            stacklevel=2,
        )
        return rpy_angle(self._local()[:3, :3])

    def axis(self, ax: Any) -> Floats:
        """One of the own axes (3,), 'x', '-y', ... or three numbers, in the world.

        Raises: UnsupportedFeatureError for a name that is unknown; ShapeError, InputError.
        """
        return self._world()[:3, :3] @ convert_to_axis_vector(ax)

    # --- vectors ---

    def rotate_vector(self, v: Any) -> Floats:
        """R v of vectors (3,) or (N, 3): own axes to the world's."""
        return _vectors(v).dot(self._world()[:3, :3].T)

    def inverse_rotate_vector(self, v: Any) -> Floats:
        """Rᵀ v of vectors (3,) or (N, 3): the world's axes to own ones."""
        return _vectors(v).dot(self._world()[:3, :3])

    def transform_vector(self, v: Any) -> Floats:
        """R v + p of points (3,) or (N, 3): own coordinates to the world's."""
        W = self._world()
        return _vectors(v).dot(W[:3, :3].T) + W[:3, 3]

    def inverse_transform_vector(self, vec: Any) -> Floats:
        """Rᵀ (v - p) of points (3,) or (N, 3): the world's coordinates to own ones."""
        W = self._world()
        return (_vectors(vec) - W[:3, 3]).dot(W[:3, :3])

    def parent_orientation(self, v: Any, wrt: Any) -> Floats:
        """A direction (3,) given in ``wrt``, in the parent: R v of 'local', v of 'parent', 'world'.

        Of other frames it is turned by their rotation in the world.

        Raises: InputError.
        """
        vector = _vectors(v)
        if isinstance(wrt, Coordinates):
            if wrt is self:
                wrt = "local"
            elif wrt is self._parent:
                wrt = "parent"
            else:
                return vector @ wrt._world()[:3, :3].T
        if wrt == "local":
            return vector @ self._local()[:3, :3].T
        if wrt in ("parent", "world", None):
            return vector.copy()
        raise _unknown_wrt(wrt)

    # --- differences ---

    def inverse_transformation(self, dest: Coordinates | None = None) -> Coordinates:
        """The inverse of `T`, as a new frame or in ``dest``."""
        back = inverse_matrix(self._local())
        if dest is None:
            return _plain(back)
        _frame(dest, "dest")._set_local(back)
        return dest

    def transformation(self, c2: Coordinates, wrt: Any = "local") -> Coordinates:
        """The way from here to another frame, as a new frame.

        With the world poses W1 and W2: 'local' W1⁻¹ W2; 'parent' and 'world' W2 W1⁻¹; in another
        frame X, X⁻¹ W2 W1⁻¹ X.

        Raises: InputError, WrongTypeError.
        """
        W1, W2 = self._world(), _frame(c2, "c2")._world()
        if _is(wrt, "local") or wrt is self:
            return _plain(inverse_matrix(W1).dot(W2))
        way = W2.dot(inverse_matrix(W1))
        if _is(wrt, "parent", "world") or wrt is None or wrt is self._parent:
            return _plain(way)
        if isinstance(wrt, Coordinates):
            X = wrt._world()
            return _plain(inverse_matrix(X).dot(way).dot(X))
        raise _unknown_wrt(wrt)

    def difference_position(
        self, coords: Coordinates, position_mask: Any = True, **kwargs: Any
    ) -> Floats:
        """The position (3,) of another frame in own coordinates; 0 where the mask has none.

        Raises: InputError for a mask that is none, WrongTypeError.
        """
        mask = _mask(position_mask, kwargs, "translation_axis", "position_axis")
        W = self._world()
        return mask * (_frame(coords, "coords")._world()[:3, 3] - W[:3, 3]).dot(W[:3, :3])

    def difference_rotation(
        self,
        coords: Coordinates,
        rotation_mask: Any = True,
        rotation_mirror: Any = None,
        **kwargs: Any,
    ) -> Floats:
        """The rotation vector (3,) to another frame in own axes; 0 where the mask has none.

        With a mirror axis 'x', 'y' or 'z' half a turn about it is free: the other frame is taken as
        it is or so turned, whichever is nearer.

        Raises: InputError for a mask that is none; UnsupportedFeatureError for a mirror that is no
        axis; WrongTypeError.
        """
        mask = _mask(rotation_mask, kwargs, "rotation_axis")
        W1, W2 = self._world(), _frame(coords, "coords")._world()
        way = compiled("between")(W1, W2)
        if rotation_mirror is not None and rotation_mirror is not False:
            turned = W2[:3, :3].dot(rotation_matrix(np.pi, rotation_mirror))
            other = compiled("between")(W1, pose_matrix(turned, W2[:3, 3]))
            if other.dot(other) < way.dot(way):
                way = other
        return mask * way

    def interpolate(self, other: Coordinates, ratio: float) -> Coordinates:
        """A new frame between the world poses of this (0) and another (1): `slerp`."""
        return self.slerp(other, ratio)

    def slerp(self, other: Coordinates, ratio: float) -> Coordinates:
        """A new frame between world poses: on a line, turning at a constant rate, the shorter way.

        Raises: InputError for a ratio outside [0, 1]; WrongTypeError.
        """
        ratio, W1, W2 = self._between(other, ratio)
        return _plain(compiled("on_line")(W1, W2, ratio))

    def lerp(self, other: Coordinates, ratio: float) -> Coordinates:
        """A new frame between world poses: on a line, quaternions linear and made unit again.

        Raises: InputError for a ratio outside [0, 1]; WrongTypeError.
        """
        ratio, W1, W2 = self._between(other, ratio)
        q1, q2 = compiled("pose_quaternion")(W1), compiled("pose_quaternion")(W2)
        q = (1.0 - ratio) * q1 + ratio * (q2 if float(q1 @ q2) >= 0.0 else -q2)
        R = compiled("matrix")(q)
        return _plain(pose_matrix(R, (1.0 - ratio) * W1[:3, 3] + ratio * W2[:3, 3]))

    def _between(self, other: Coordinates, ratio: Any) -> tuple[float, Floats, Floats]:
        W2 = _frame(other, "other")._world()
        return finite_number(ratio, "ratio", least=0.0, most=1.0), self._world(), W2

    # --- moving ---

    def newcoords(
        self,
        c: Any,
        pos: Any = None,
        check_validity: bool = True,
        relative_coords: Any = "local",
    ) -> Coordinates:
        """Set the pose; returns this frame.

        ``c`` is a frame, or with ``pos`` (3,) a rotation as ``rot`` of the constructor. 'local',
        'parent' and None: relative to the parent. 'world': in the world, where the frame ``c``
        gives its world pose. A frame: relative to that one.

        Raises: InputError for text that is none of these, WrongTypeError for other types.
        """
        if not (relative_coords is None or isinstance(relative_coords, (str, Coordinates))):
            raise WrongTypeError(
                "relative_coords must be 'world', 'local', 'parent' or Coordinates, not "
                f"{shown(relative_coords)}"
            )
        if pos is None:
            target = _frame(c, "without pos the target")
            M = (target._world() if _is(relative_coords, "world") else target._local()).copy()
        else:
            M = pose_matrix(rotation_of(c, check=check_validity), _check_valid_translation(pos))
        if isinstance(relative_coords, Coordinates):
            self._set_world(relative_coords._world().dot(M))
        elif _is(relative_coords, "world"):
            self._set_world(M)
        elif relative_coords in ("local", "parent", None):
            self._set_local(M)
        else:
            raise InputError(
                f"relative_coords {relative_coords!r:.40} is not supported: 'world', 'local', "
                "'parent' or Coordinates"
            )
        return self

    def translate(self, vec: Any, wrt: Any = "local") -> Coordinates:
        """Move by a vector (3,) in metres along the axes of ``wrt``; returns this frame.

        ``wrt`` is 'local', 'parent', 'world' or a frame.

        Raises: InputError, ShapeError.
        """
        v = _three(vec)
        M = self._local().copy()
        axes = self._axes_in_parent(wrt)
        M[:3, 3] += v if axes is None else axes.dot(v)
        self._set_local(M)
        return self

    def rotate(
        self, theta: Any, axis: Any = None, wrt: Any = "local", skip_normalization: bool = False
    ) -> Coordinates:
        """Turn in place by an angle (rad) about an axis of ``wrt``; returns this frame.

        ``axis`` is 'x', '-y', ... or three numbers of any length; without it ``theta`` may be a
        rotation (3, 3). ``wrt`` is 'local', 'parent', 'world' or a frame.

        Raises: UnsupportedFeatureError for the name of an axis that is unknown; InputError.
        """
        if axis is None and np.ndim(theta) > 0:
            return self.rotate_with_matrix(theta, wrt)
        return self._turn(rotation_matrix(theta, axis, skip_normalization), wrt)

    def rotate_with_matrix(self, mat: Any, wrt: Any = "local") -> Coordinates:
        """Turn in place by a rotation (3, 3) in the axes of ``wrt``; returns this frame.

        Raises: InputError, ShapeError.
        """
        return self._turn(rotation_of(mat), wrt)

    def _turn(self, Q: Floats, wrt: Any) -> Coordinates:
        M = self._local()
        R = M[:3, :3]
        if _is(wrt, "local") or wrt is self:
            turned = R.dot(Q)
        else:
            axes = self._axes_in_parent(wrt)
            turned = Q.dot(R) if axes is None else axes.dot(Q).dot(axes.T).dot(R)
        self._set_exact(pose_matrix(turned, M[:3, 3]))
        return self

    def orient_with_matrix(self, rotation_matrix: Any, wrt: Any = "world") -> Coordinates:
        """Set the rotation, given as (3, 3) in the axes of ``wrt``; returns this frame.

        Raises: WrongTypeError for a ``wrt`` that is none; InputError, ShapeError.
        """
        Q = rotation_of(rotation_matrix)
        try:
            axes = self._axes_in_parent(wrt)
        except InputError as error:
            raise WrongTypeError(str(error)) from None
        self._set_local(pose_matrix(Q if axes is None else axes @ Q, self._local()[:3, 3]))
        return self

    def _axes_in_parent(self, wrt: Any) -> Floats | None:
        """The rotation (3, 3) of ``wrt`` in the parent; None where it is the parent itself.

        Raises: InputError.
        """
        if _is(wrt, "local") or wrt is self:
            return self._local()[:3, :3]
        if _is(wrt, "parent") or wrt is self._parent:
            return None
        above = self._above()
        if _is(wrt, "world") or wrt is None:
            return None if above is None else above[:3, :3].T
        if isinstance(wrt, Coordinates):
            axes = wrt._world()[:3, :3]
            return axes if above is None else above[:3, :3].T @ axes
        raise _unknown_wrt(wrt)

    def align_axis_to_direction(
        self, direction: Any, axis: Any = "z", wrt: Any = "world", eps: float | None = 0.005
    ) -> Coordinates:
        """Turn in place, by the smallest rotation, so that an own axis points in a direction (3,).

        The direction is in the axes of ``wrt``: 'world', 'local' or a frame; a zero direction is
        its z axis. An axis that points the opposite way is turned by half a turn about one across
        it and the own x axis. ``eps`` has no effect: the result is exact. Returns this frame.

        Raises: InputError, UnsupportedFeatureError for a name of an axis that is unknown.
        """
        own = convert_to_axis_vector(axis)
        if not own.any():
            raise InputError(f"the axis to align has a direction, not {shown(axis)}")
        goal = finite(direction, "direction", (3,))
        if not goal.any():
            goal = np.array([0.0, 0.0, 1.0])
        back = self._world()[:3, :3].T
        if isinstance(wrt, Coordinates) and wrt is not self:
            goal = back @ wrt._world()[:3, :3] @ goal
        elif _is(wrt, "world"):
            goal = back @ goal
        elif not (wrt is self or _is(wrt, "local")):
            raise _unknown_wrt(wrt)
        return self._turn(rotation_matrix_from_vectors(own, goal), "local")

    def transform(
        self, c: Coordinates, wrt: Any = "local", out: Coordinates | None = None
    ) -> Coordinates:
        """Move by the pose of ``c`` in ``wrt``; returns this frame, or ``out`` where given.

        'local': M c. 'parent': c M. 'world': the world pose W becomes c W. In another frame X it
        becomes X c X⁻¹ W. With ``out`` that frame takes the new local pose and this one stays.

        Raises: InputError, WrongTypeError.
        """
        C, M = _frame(c, "c")._local(), self._local()
        if out is not None:
            _frame(out, "out")
        if _is(wrt, "local") or wrt is self:
            moved = M.dot(C)
        elif _is(wrt, "parent") or (wrt is not None and wrt is self._parent):
            moved = C.dot(M)
        elif _is(wrt, "world") or wrt is None:
            moved = self._from_world(C.dot(self._world()))
        elif isinstance(wrt, Coordinates):
            X = wrt._world()
            moved = self._from_world(X.dot(C).dot(inverse_matrix(X)).dot(self._world()))
        else:
            raise _unknown_wrt(wrt)
        target = self if out is None else out
        target._set_exact(moved)
        return target

    def move_coords(self, target_coords: Coordinates, local_coords: Coordinates) -> Coordinates:
        """Move so that a frame that moves along comes to the world pose of another.

        Returns `worldcoords`.

        Raises: WrongTypeError.
        """
        goal = _frame(target_coords, "target_coords")._world()
        held = _frame(local_coords, "local_coords")._world()
        self._set_world(goal.dot(inverse_matrix(held)).dot(self._world()))
        return self.worldcoords()

    def changed(self) -> bool:
        """Mark what hangs on this frame; returns False."""
        _mark(list(self._descendants))
        return False

    def disable_hook(self) -> tuple[bool, Callable[[], Any] | None]:
        """Take the hook away: whether there was one, and it."""
        hook, self._hook = self._hook, None
        return hook is not None, hook

    # --- operators ---

    def __mul__(self, other_c: Any) -> Coordinates:
        """A new plain frame with the pose `T` of this times that of another.

        Raises: WrongTypeError.
        """
        return _plain(self._local().dot(_frame_or_transform(other_c)))

    def __pow__(self, exponent: Any) -> Coordinates:
        """A new plain frame: the motion `T` on its screw taken a real number of times; -1 inverts.

        Raises: InputError.
        """
        times = finite_number(exponent, "exponent")
        if times == -1.0:
            return self.inverse_transformation()
        M = self._local()
        twist = se3.log(NUMPY, Pose(M[:3, :3], M[:3, 3]))
        R, p = se3.exp(NUMPY, times * np.asarray(twist))
        return _plain(pose_matrix(R, p))

    def isclose(self, other: Coordinates, atol: float = 1e-8) -> bool:
        """Whether two world poses agree, each number within ``atol``; ``==`` is identity."""
        gap = np.abs(self._world() - _frame(other, "other")._world())
        return bool(gap.max() <= atol)

    def __repr__(self) -> str:
        W = self._world()
        x, y, z = W[:3, 3].tolist()
        roll, pitch, yaw = rotations.to_rpy(NUMPY, W[:3, :3]).tolist()
        name = f":{self._name}" if self._name else ""
        return (
            f"#<{type(self).__name__}{name} {id(self):#x} {x:.3f} {y:.3f} {z:.3f} / "
            f"{yaw:.1f} {pitch:.1f} {roll:.1f}>"
        )


class CascadedCoords(Coordinates):
    """A frame that may hang on another and move with it; ``pos`` and ``rot`` are relative to it."""

    _W: Floats  # the world pose, right where the frame is not marked

    def __init__(self, parent: Any = None, *args: Any, **kwargs: Any) -> None:
        self._marked = True
        self._descendants = []
        super().__init__(*args, **kwargs)
        if parent is not None:
            self.parent = parent

    # --- the pose ---

    def _world(self) -> Floats:
        if not self._marked:
            return self._W
        path: list[Any] = [self]
        above = self._parent
        while above is not None and above._marked:  # a plain frame is never marked
            path.append(above)
            above = above._parent
        path.reverse()
        product = compiled("product")
        steps = [frame._local() for frame in path]
        if above is not None:
            steps[0] = product(above._world(), steps[0])
        else:
            steps[0] = steps[0].copy()  # a link may write to its local pose again
        W = steps[0]
        for frame, W in zip(path, accumulate(steps, product), strict=True):
            frame._W = W
            frame._marked = False
        return W

    def _above(self) -> Floats | None:
        return None if self._parent is None else self._parent._world()

    def changed(self) -> bool:
        """Mark the world poses of this frame and all that hangs on it as old; returns False."""
        _mark([self])
        return False

    def update(self, force: bool = False) -> None:
        """Compute the world pose, if it is old or ``force`` says so."""
        if force:
            self.changed()
        self._world()

    def worldcoords(self) -> Coordinates:
        """A new plain frame at this one's place in the world."""
        return self.copy_worldcoords()

    def parentcoords(self) -> Coordinates:
        """A new frame at the parent's place in the world, or at the world's origin."""
        if self._parent is None:
            return CascadedCoords(name="worldcoords")
        return self._parent.copy_worldcoords()

    # --- the names that arguments have here ---

    def newcoords(  # pyright: ignore[reportIncompatibleMethodOverride]
        self,
        target: Any,
        pos: Any = None,
        check_validity: bool = True,
        relative_coords: Any = "local",
    ) -> Coordinates:
        """`Coordinates.newcoords`; 'local' and 'parent' are relative to the parent."""
        return super().newcoords(target, pos, check_validity, relative_coords)

    def rotate_with_matrix(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, matrix: Any, wrt: Any = "local"
    ) -> Coordinates:
        """`Coordinates.rotate_with_matrix`."""
        return super().rotate_with_matrix(matrix, wrt)

    def inverse_transform_vector(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, v: Any
    ) -> Floats:
        """`Coordinates.inverse_transform_vector`."""
        return super().inverse_transform_vector(v)

    # --- the tree ---

    @property
    def parent(self) -> Coordinates | None:
        """The frame that this one hangs on; setting it keeps the pose relative to it."""
        return self._parent

    @parent.setter
    def parent(self, parent: Coordinates | None) -> None:
        if not (parent is None or isinstance(parent, Coordinates)):
            raise InputError(f"parent should be None or Coordinates, not {shown(parent)}")
        self._hang_on(parent)

    @property
    def descendants(self) -> list[CascadedCoords]:
        """The frames that hang on this one, in the order in which they came."""
        return list(self._descendants)

    def _hang_on(self, parent: Coordinates | None) -> None:
        """Leave the parent for another, with the local pose as it is.

        Raises: InputError where the parent is this frame or hangs on it.
        """
        if parent is self._parent:
            return
        if parent is not None:
            _refuse_cycle(self, parent)
        old = self._parent
        if old is not None:
            old._descendants = [frame for frame in old._descendants if frame is not self]
        self._parent = parent
        if parent is not None:
            if isinstance(parent._descendants, tuple):
                parent._descendants = []
            parent._descendants.append(self)
        self._reparented()
        self.changed()

    def _reparented(self) -> None:
        """Called when the parent is another one; for links, whose structure it is."""

    def assoc(
        self, child: Any, relative_coords: Any = "world", force: bool = False, **kwargs: Any
    ) -> Any:
        """Let another frame hang on this one; returns it.

        'world' and None keep its pose in the world. 'local': its pose in the world becomes the one
        relative to this frame. A frame: its world pose becomes the one relative to this frame. A
        child that hangs on another frame is refused unless ``force`` says to take it away.

        Raises: InputError where the child is this frame or one above it; AttachedError;
        WrongTypeError.
        """
        if child is self:
            raise InputError(
                "Cannot associate a coordinate system with itself: a frame is not its own parent"
            )
        _frame(child, "child")
        if "c" in kwargs:
            relative_coords = kwargs.pop("c")
        if kwargs:
            raise WrongTypeError(f"assoc takes no argument {next(iter(kwargs))!r:.40}")
        old = child._parent
        if old is not None and old is not self and not force:
            raise AttachedError(
                f"child already has an assoc relation with {old.name!r:.80}. To overwrite this, "
                "please specify force=True."
            )
        if old is self and not force:
            raise AttachedError(
                f"child already has an assoc relation with {self.name!r:.80}. To overwrite this, "
                "please specify force=True."
            )
        if relative_coords is None or _is(relative_coords, "world"):
            M = inverse_matrix(self._world()).dot(child._world())
        elif _is(relative_coords, "local"):
            M = child._world()
        elif isinstance(relative_coords, Coordinates):
            M = relative_coords._world()
        else:
            raise WrongTypeError(
                "relative_coords must be 'world', 'local', None or Coordinates, not "
                f"{shown(relative_coords)}"
            )
        if isinstance(child, CascadedCoords):
            child._hang_on(self)
        else:
            child._parent = self
        child._set_exact(M)
        return child

    def dissoc(self, child: Any) -> None:
        """Let a frame that hangs on this one go, at its place in the world; no other is touched."""
        if isinstance(child, CascadedCoords) and child._parent is self:
            W = child._world()
            child._hang_on(None)
            child._set_local(W)

    # --- copies ---

    def __copy__(self) -> CascadedCoords:
        """A frame of the same kind at the same place on the same parent; nothing hangs on it."""
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._parent, made._descendants, made._marked = None, [], True
        made._hang_on(self._parent)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> CascadedCoords:
        """A copy of the whole tree; frames first, so that long chains need no deep recursion."""
        missing = [frame for frame in _tree_of(self) if id(frame) not in memo]
        for frame in missing:
            memo[id(frame)] = type(frame).__new__(type(frame))
        for frame in missing:
            made = memo[id(frame)]
            for key, value in frame.__dict__.items():
                made.__dict__[key] = _copying.deepcopy(value, memo)
        return memo[id(self)]


def _plain(M: Floats) -> Coordinates:
    made = Coordinates.__new__(Coordinates)
    made._M = M
    return made


def _is(value: Any, *names: str) -> bool:
    return isinstance(value, str) and value in names


def _unknown_wrt(wrt: Any) -> InputError:
    return InputError(f"wrt {shown(wrt)} not supported: 'local', 'parent', 'world' or Coordinates")


def _mask(mask: Any, kwargs: dict[str, Any], *older: str) -> NDArray[np.int64]:
    """A mask (3,); by an older name of the argument, an axis that is free instead."""
    free = [key for key in older if key in kwargs]
    if not free:
        return normalize_mask(mask)
    return convert_legacy_axis_to_mask(kwargs[free[0]])[0]


def _mark(frames: list[CascadedCoords]) -> None:
    while frames:
        frame = frames.pop()
        if not frame._marked:
            frame._marked = True
            frames += frame._descendants


def _refuse_cycle(child: CascadedCoords, parent: Coordinates) -> None:
    if parent is not child and not child._descendants:
        return  # nothing hangs on it, so the parent does not
    above: Coordinates | None = parent
    while above is not None:
        if above is child:
            raise InputError(
                f"{parent.name!r:.80} is or hangs on {child.name!r:.80}: "
                "a frame cannot be above itself"
            )
        above = above._parent


def carriers(frame: Any) -> list[Any]:
    """A frame and all that it hangs on, from below."""
    found: list[Any] = []
    while frame is not None:
        found.append(frame)
        frame = getattr(frame, "parent", None)
    return found


def _tree_of(frame: Coordinates) -> Iterator[Coordinates]:
    """The topmost frame above one, and all that hangs on it."""
    left = carriers(frame)[-1:]
    while left:
        frame = left.pop()
        yield frame
        left += frame._descendants


def coordinates_p(x: Any) -> bool:
    """Whether a value is a frame."""
    return isinstance(x, Coordinates)


def wrt(coords: Coordinates, vec: Any) -> Floats:
    """Points (3,) or (N, 3) in a frame's coordinates, in the world's."""
    return coords.transform_vector(vec)


def transform_coords(
    c1: Coordinates, c2: Coordinates, out: Coordinates | None = None
) -> Coordinates:
    """A frame, new or ``out``, with the local pose of the first frame times that of the second.

    Raises: WrongTypeError.
    """
    if out is None:
        return c1 * c2
    _frame(out, "out")._set_local((c1 * c2)._M)
    return out


def coordinates_distance(
    c1: Coordinates, c2: Coordinates, c: Coordinates | None = None
) -> tuple[np.float64, float]:
    """The distance in metres and the angle, up to pi, between two frames in the world.

    Where ``c`` is given, those of its pose in the world instead.
    """
    W = (c1.transformation(c2) if c is None else c)._world()
    return np.float64(np.linalg.norm(W[:3, 3])), float(np.linalg.norm(rotation_log(W[:3, :3])))


def slerp_coordinates(c1: Coordinates, c2: Coordinates, t: float) -> Coordinates:
    """`Coordinates.slerp`."""
    return c1.slerp(c2, t)


def lerp_coordinates(c1: Coordinates, c2: Coordinates, t: float) -> Coordinates:
    """`Coordinates.lerp`."""
    return c1.lerp(c2, t)


def random_coords() -> Coordinates:
    """A new frame with a random position between 0 and 1 and a random rotation."""
    return Coordinates(pos=random_translation(), rot=random_rotation())


def make_coords(*args: Any, **kwargs: Any) -> Coordinates:
    """`Coordinates` of the same arguments."""
    return Coordinates(*args, **kwargs)


def make_cascoords(*args: Any, **kwargs: Any) -> CascadedCoords:
    """`CascadedCoords` of the same arguments."""
    return CascadedCoords(*args, **kwargs)


worldcoords = CascadedCoords(name="worldcoords")
"""The frame of the world, for programs that read it; moving it changes nothing else."""
