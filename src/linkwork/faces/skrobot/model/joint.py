"""Joints of this face: they hold their position and move the link that they carry.

A link's pose in its parent is ``T_fixed . motion(q)``: the joint's frame, then the joint's motion.
The link works it out when it is read (`Link._local`). To set the pose of a link that a joint
carries moves the joint's frame; its position stays.

A joint that follows another one (mimic) is where its leader puts it, always. To set a follower
moves its leader, and with it all that follow.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import itertools
import logging
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.checks import finite_number
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.native_call import Array, number_call
from linkwork.compile.recipe import expression_recipe
from linkwork.errors import InputError, ShapeError
from linkwork.faces.skrobot.coordinates.base import Coordinates, inverse_matrix
from linkwork.faces.skrobot.coordinates.compiled import compiled
from linkwork.faces.skrobot.coordinates.math import convert_to_axis_vector, direction
from linkwork.spatial.poses import pose_matrix

if TYPE_CHECKING:
    from linkwork.faces.skrobot.model.joint_limit_table import JointLimitTable
    from linkwork.faces.skrobot.model.link import Link

Floats = NDArray[np.float64]
Numbers = float | Floats

logger = logging.getLogger(__name__)


class Stamp:
    """A number that is another one after each change of a joint's or link's make-up, of any robot.

    What a robot's core was made of is compared only where this has changed. Each number is drawn
    once, so that threads that change their own robots cannot hide each other's changes.
    """

    now = 0
    _numbers = itertools.count(1)

    def move(self) -> None:
        """Say that something has changed; the change comes first."""
        self.now = next(self._numbers)


STAMP = Stamp()
structure_changed = STAMP.move

_FIVE_DEGREES = math.radians(5)
_XYZ = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


@cache
def combination() -> Callable[[Floats, Floats], Floats]:
    """The pose (4, 4) that is a sum of rows (3, 16) with coefficients (3,), compiled.

    The pose of a link is one of three matrices, with 1, sin and cos of its joint's angle.
    """

    def sums(o: Any, rows: Any, by: Any) -> dict[str, Any]:
        first, second, third = by[0], by[1], by[2]
        return {
            "T": o.vector(
                [first * rows[k] + second * rows[16 + k] + third * rows[32 + k] for k in range(16)]
            )
        }

    recipe = expression_recipe(("skrobot", "sum"), "combination", {"rows": 48, "by": 3}, sums)
    takes = [Array((3, 16)), Array((3,))]
    with COMPILING:
        return number_call(
            recipe, Array((4, 4)), settings.compiler(), _combined, takes=takes, fused=True
        )


def _combined(rows: Floats, by: Floats) -> Floats:
    return by.dot(rows).reshape(4, 4)


class JointLimitValue(float):
    """A bound of a joint with a table: the number now, and a function of its target's angle."""

    _of: Callable[[float], float]

    def __new__(cls, of: Callable[[float], float], target_angle: float) -> JointLimitValue:
        """The bound at this angle of the target, which knows the others."""
        made = super().__new__(cls, of(target_angle))
        made._of = of
        return made

    def __call__(self, target_angle: float) -> float:
        """The bound at an angle of the target joint."""
        return self._of(target_angle)

    def __reduce__(self) -> tuple[type[float], tuple[float]]:
        return float, (float(self),)


class Joint:
    """A joint of any kind: ends, limits, hooks and followers. Make one of its kinds.

    Angles are rad and lengths m, velocities of these in a second, torques N m or N. ``hooks`` are
    called without arguments each time that the joint has been set.
    """

    joint_dof: int
    type: str
    axis: Any
    _default_velocity: Any = 1.0
    _default_torque: Any = 1.0
    _lowest = -math.inf
    """The lower limit where none is given."""

    def __init__(  # noqa: PLR0913, PLR0917  as the original
        self,
        name: str | None = None,
        child_link: Link | None = None,
        parent_link: Link | None = None,
        min_angle: Any = -math.pi / 2,
        max_angle: Any = math.pi,
        max_joint_velocity: Any = None,
        max_joint_torque: Any = None,
        joint_min_max_table: JointLimitTable | None = None,
        joint_min_max_target: Joint | None = None,
        hooks: Sequence[Callable[[], object]] | None = None,
    ) -> None:
        self.name = name
        self.parent_link = parent_link
        self.child_link = child_link
        self.joint_min_max_table = joint_min_max_table
        self.joint_min_max_target = joint_min_max_target
        self._hooks = list(hooks or ())
        self._leader: tuple[Joint, float, float] | None = None
        self._followers: list[Joint] = []
        self._q: Any = self._rest()
        self._T_fixed = np.eye(4)
        self.min_angle = self._lowest if min_angle is None else min_angle
        self.max_angle = self._highest() if max_angle is None else max_angle
        self.max_joint_velocity = max_joint_velocity
        self.max_joint_torque = (
            self._default_torque if max_joint_torque is None else max_joint_torque
        )
        self._set_up_rates()
        if child_link is not None:
            self._take(child_link)

    def __repr__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"#<{type(self).__name__} {hex(id(self))}{name}>"

    # what kind it is

    @property
    def joint_type(self) -> str:
        """The joint's type, as URDF calls it: `type`."""
        return self.type

    @property
    def is_movable(self) -> bool:
        """Whether the joint has a degree of freedom."""
        return self.joint_dof > 0

    # limits

    @property
    def min_angle(self) -> Any:
        """The lower limit, rad or m; of a joint with several positions those of each (n,)."""
        return self._lower

    @min_angle.setter
    def min_angle(self, value: Any) -> None:
        self._lower = self._bound(value, "min_angle")
        structure_changed()

    @property
    def max_angle(self) -> Any:
        """The upper limit, rad or m; of a joint with several positions those of each (n,)."""
        return self._upper

    @max_angle.setter
    def max_angle(self, value: Any) -> None:
        self._upper = self._bound(value, "max_angle")
        structure_changed()

    min_joint_angle, max_joint_angle = min_angle, max_angle

    @property
    def max_joint_velocity(self) -> Any:
        """The limit of the velocity; what is not positive is replaced by a default, and logged."""
        return self._max_velocity

    @max_joint_velocity.setter
    def max_joint_velocity(self, value: Any) -> None:
        self._max_velocity = self._rated(value)
        structure_changed()

    @property
    def max_joint_torque(self) -> Any:
        """The limit of the torque or force."""
        return self._max_torque

    @max_joint_torque.setter
    def max_joint_torque(self, value: Any) -> None:
        self._max_torque = value
        structure_changed()

    @property
    def joint_min_max_table_min_angle(self) -> float:
        """The lower limit by the table, at its target's angle; called with an angle, the one there.

        Without a table it is `min_angle`.
        """
        return self._by_table("min_angle")

    @property
    def joint_min_max_table_max_angle(self) -> float:
        """The upper limit by the table, at its target's angle; called with an angle, the one there.

        Without a table it is `max_angle`.
        """
        return self._by_table("max_angle")

    def _by_table(self, which: str) -> float:
        table, target = self.joint_min_max_table, self.joint_min_max_target
        if table is None or target is None:
            return getattr(self, which)
        return JointLimitValue(getattr(table, f"{which}_function"), target.joint_angle())

    # position

    def joint_angle(
        self, v: Any = None, relative: bool | None = None, enable_hook: bool = True
    ) -> Any:
        """The joint's position, set to ``v`` (or moved by it, if ``relative``) where it is given.

        What is outside the limits is put at them, and logged. Followers go along; other hooks are
        called unless ``enable_hook`` is False.

        Raises: InputError (a ValueError) for what is no finite number; ShapeError for a wrong
        number of them.
        """
        if v is None:
            return self._value()
        wanted = self._clipped(self._numbers(v, bool(relative)))
        if self._leader is None:
            self._set(wanted)
        else:
            self._lead_to(wanted)
        if enable_hook:
            self._call_hooks()
        return self._value()

    def register_hook(self, hook: Callable[[], object]) -> None:
        """Add a function without arguments that is called each time that the joint has been set."""
        self._hooks.append(hook)

    def register_mimic_joint(self, joint: Joint, multiplier: float, offset: float) -> None:
        """Make another joint follow this one, at once: multiplier * angle + offset.

        Raises: InputError (a ValueError) where one of them has not one position, where they would
        follow each other, and for numbers that are not finite.
        """
        rate = finite_number(multiplier, "the multiplier of a mimic joint")
        shift = finite_number(offset, "the offset of a mimic joint")
        for one in (self, joint):
            if one.joint_dof != 1:
                raise InputError(
                    f"joint '{one.name}' has {one.joint_dof} positions; joints with one can follow "
                    "and be followed"
                )
        if any(above is joint for above in (self, *(way.leader for way in leaders_of(self)))):
            raise InputError(f"joints '{self.name}' and '{joint.name}' would follow each other")
        if joint._leader is not None:
            joint._leader[0]._followers.remove(joint)
        joint._leader = (self, rate, shift)
        self._followers.append(joint)
        structure_changed()
        self._set(self._q)

    def _set(self, q: Any) -> None:
        """Go to a position inside the limits, with all that follow."""
        self._move(q)
        if self._followers:
            waiting: list[Joint] = [self]
            while waiting:
                leader = waiting.pop()
                for follower in leader._followers:
                    _, rate, shift = follower._leader  # pyright: ignore[reportGeneralTypeIssues]
                    follower._move(rate * leader._q + shift)
                    follower._call_hooks()
                    waiting.append(follower)

    def _lead_to(self, q: float) -> None:
        """Put the joint that this one follows to where this one is at q, as far as limits allow."""
        leader: Joint = self
        while leader._leader is not None:
            above, rate, shift = leader._leader
            if rate == 0.0:
                return
            leader, q = above, (q - shift) / rate
        leader._set(leader._clipped(q))
        leader._call_hooks()

    def _move(self, q: Any) -> None:
        """Go to a position: the link is told that its pose has changed."""
        link = self.child_link
        if link is None:
            self._q = q
            return
        if link._mover is not self:
            self._take(link)
        self._q = q
        link._stale = True
        link.changed()

    def _call_hooks(self) -> None:
        for hook in self._hooks:
            hook()

    def _take(self, link: Link) -> None:
        """Become the joint that carries a link, which stays where it is."""
        self._T_fixed = link._local().dot(inverse_matrix(self._motion()))
        self._refit()
        link._mover = self
        structure_changed()

    def _fix(self, M: Floats) -> None:
        """Move the joint's frame so that the link has the local pose M (4, 4)."""
        self._T_fixed = M.dot(inverse_matrix(self._motion()))
        self._refit()
        structure_changed()

    def _refit(self) -> None:
        """Work out anew what depends on the joint's frame and axis."""

    # what each kind says

    def _rest(self) -> Any:
        """The position to begin at."""
        return 0.0

    def _value(self) -> Any:
        """The position as it is handed out."""
        return self._q

    def _highest(self) -> float:
        """The upper limit where none is given."""
        return math.inf

    def _bound(self, value: Any, what: str) -> Any:
        """A limit as it is kept."""
        return _number(value, self.name, what)

    def _rated(self, value: Any) -> Any:
        """A limit of the velocity as it is kept."""
        return self._default_velocity if value is None else value

    def _set_up_rates(self) -> None:
        """Begin with no velocity, acceleration and torque."""
        n = self.joint_dof
        still: Any = (0,) * n if n > 1 else 0.0
        self.joint_velocity = self.joint_acceleration = self.joint_torque = still

    def _numbers(self, v: Any, relative: bool) -> Any:
        raise NotImplementedError("make a RotationalJoint, LinearJoint, FixedJoint, ...")

    def _clipped(self, q: Any) -> Any:
        raise NotImplementedError

    def _motion(self) -> Floats:
        """The pose (4, 4) that the joint adds at its present position."""
        raise NotImplementedError

    def _screws(self) -> tuple[Floats, tuple[bool, ...]]:
        """The axes (dof, 3) that it turns about or slides along now, in its frame; which slide."""
        raise NotImplementedError

    def _pose(self) -> Floats:
        """The local pose (4, 4) of the link at the present position."""
        return self._T_fixed.dot(self._motion())

    def _make_up(self) -> tuple[Any, ...]:
        """The parts of the core's joints, to be compared."""
        numbers = (self.axis, self.min_angle, self.max_angle, self._max_velocity, self._max_torque)
        told = tuple(np.asarray(each, np.float64).tobytes() for each in numbers)
        return (id(self), self.name, self._T_fixed.tobytes(), *told)

    # in the world

    @property
    def default_coords(self) -> Coordinates:
        """The joint's frame in the parent link: a new frame; to assign one moves the link."""
        return Coordinates(self._T_fixed[:3, 3], self._T_fixed[:3, :3])

    @default_coords.setter
    def default_coords(self, coords: Coordinates) -> None:
        if self.child_link is not None:
            self.child_link._set_local(coords.T() @ self._motion())
            return
        self._T_fixed = coords.T()
        self._refit()
        structure_changed()

    def _world_frame(self) -> Floats:
        """The joint's frame (4, 4) in the world."""
        above = None if self.child_link is None else self.child_link.parent
        return self._T_fixed if above is None else above._world() @ self._T_fixed

    @property
    def world_axis(self) -> Floats:
        """The axis (3,) in the world; a row (3,) for each degree of freedom where there are more.

        Axes are those of the joint's frame, before its motion.
        """
        return np.asarray(self.axis, np.float64) @ self._world_frame()[:3, :3].T

    @property
    def world_position(self) -> Floats:
        """The origin (3,) of the joint's frame in the world, m."""
        return self._world_frame()[:3, 3].copy()

    def flip_axis(self) -> bool:
        """Reverse the joint's positive direction, the robot staying as it is; whether that is done.

        The axis and the position are negated, the limits negated and swapped. Followers stay where
        they are. False for joints that are fixed or have several degrees of freedom.

        Raises: InputError (a ValueError) for a joint with a table of limits, which is in terms of
        its present direction.
        """
        return False

    # its columns of a Jacobian, its share of a velocity limit

    def calc_jacobian(
        self, jacobian: Floats, row: int, column: int, joint: Joint, paxis: Any, *args: Any,
        **kwargs: Any,
    ) -> Floats:  # fmt: skip
        """Its columns of a Jacobian, in place: slides first, then turns where the link is.

        Arguments are those of `calc_jacobian_rotational` and `calc_jacobian_linear`; ``paxis`` is
        the axis of a joint with one position.
        """
        axes, slides = self._screws()
        for k, slide in enumerate(slides):
            make = calc_jacobian_linear if slide else calc_jacobian_rotational
            axis = paxis if self.joint_dof == 1 else axes[k]
            make(jacobian, row, column + k, joint, axis, *args, **kwargs)
        return jacobian

    def calc_angle_speed_gain(self, dav: ArrayLike, i: int, periodic_time: float) -> float:
        """The part of a step ``dav`` (n,), from entry ``i``, that the velocity limit allows.

        See `calc_angle_speed_gain_vector`.
        """
        return calc_angle_speed_gain_vector(self, dav, i, periodic_time)


class Following(NamedTuple):
    """A joint that another follows, which is at ``rate`` times its position, plus ``shift``."""

    leader: Joint
    rate: float
    shift: float


def leaders_of(joint: Joint) -> Iterator[Following]:
    """The joints that one follows, directly or not, the nearest first."""
    rate, shift = 1.0, 0.0
    while joint._leader is not None:
        joint, own_rate, own_shift = joint._leader
        shift += rate * own_shift
        rate *= own_rate
        yield Following(joint, rate, shift)


def leader_of(joint: Joint) -> Joint:
    """The joint that one follows in the end; itself where it follows none."""
    while joint._leader is not None:
        joint = joint._leader[0]
    return joint


def is_led_by(joint: Joint, leaders: set[int]) -> bool:
    """Whether a joint follows one of these, by their ids, directly or not."""
    return any(id(way.leader) in leaders for way in leaders_of(joint))


# ---- one degree of freedom


class _SingleJoint(Joint):
    """A joint with one position along or about an axis."""

    joint_dof = 1
    _lowest = -math.pi / 2

    def __init__(
        self, axis: Any = "z", max_joint_velocity: Any = None, max_joint_torque: Any = 100,
        *args: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        self._axis = _unit_axis(axis)
        self._coefficients = np.array([1.0, 0.0, 0.0])
        self._basis = np.zeros((3, 16))
        most: Any = {
            "max_joint_velocity": max_joint_velocity, "max_joint_torque": max_joint_torque
        }  # fmt: skip
        super().__init__(*args, **most, **kwargs)

    @property
    def axis(self) -> Floats:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The axis (3,), of length 1, in the joint's frame."""
        return self._axis.copy()

    @axis.setter
    def axis(self, axis: Any) -> None:
        self._axis = _unit_axis(axis)
        self._refit()
        if self.child_link is not None and self.child_link._mover is self:
            self._move(self._q)
        structure_changed()

    joint_axis = axis

    def _rated(self, value: Any) -> Any:
        if value is not None and value <= 0:
            logger.warning(
                "joint '%s': max_joint_velocity is %g and must be positive; it is set to %g",
                self.name, value, self._default_velocity,
            )  # fmt: skip
            value = None
        return super()._rated(value)

    def _numbers(self, v: Any, relative: bool) -> float:
        try:
            q = float(v)
        except (TypeError, ValueError):
            q = _one_number(v, self.name)
        if relative:
            q += self._q
        if not math.isfinite(q):
            raise InputError(f"joint '{self.name}': the angle must be finite, not {v!r:.40}")
        return q

    def _clipped(self, q: float) -> float:
        lower, upper = self._lower, self._upper
        if self.joint_min_max_table is not None:
            lower = self.joint_min_max_table_min_angle
            upper = self.joint_min_max_table_max_angle
        if q > upper:
            logger.warning("%r: joint_angle(%g) violates max_angle(%g)", self, q, upper)
            return float(upper)
        if q < lower:
            logger.warning("%r: joint_angle(%g) violates min_angle(%g)", self, q, lower)
            return float(lower)
        return q

    def flip_axis(self) -> bool:
        """As `Joint.flip_axis`."""
        if self.joint_min_max_table is not None:
            raise InputError(
                f"joint '{self.name}' has a table of limits in terms of its direction; take the "
                "table away (joint_min_max_table = None) and give one for the new direction"
            )
        self._axis = -self._axis + 0.0
        self._lower, self._upper = -self._upper, -self._lower
        self._q = -self._q
        for follower in self._followers:
            leader, rate, shift = follower._leader  # pyright: ignore[reportGeneralTypeIssues]
            follower._leader = (leader, -rate, shift)
        if self._leader is not None:
            leader, rate, shift = self._leader
            self._leader = (leader, -rate, -shift)
        self._refit()
        if self.child_link is not None and self.child_link._mover is self:
            self.child_link._stale = True
            self.child_link.changed()
        structure_changed()
        return True

    def _screws(self) -> tuple[Floats, tuple[bool, ...]]:
        return self.axis[None], (self.type == "prismatic",)

    def _pose(self) -> Floats:
        self._count(self._q)
        return combination()(self._basis, self._coefficients)

    def _make_up(self) -> tuple[Any, ...]:
        leader = self._leader and (id(self._leader[0]), *self._leader[1:])
        numbers = (self._lower, self._upper, self._max_velocity, self._max_torque)
        frame = self._T_fixed.tobytes()
        return (id(self), self.name, leader, frame, self._axis.tobytes(), *numbers)

    def _count(self, q: float) -> None:
        """Write the coefficients of the basis at a position."""
        raise NotImplementedError


class RotationalJoint(_SingleJoint):
    """A joint that turns about an axis: "x", "-z", ... or a vector (3,).

    Where only ``min_angle`` is given as a number, and ``max_angle`` is None, that is pi above it.
    """

    _default_velocity = _FIVE_DEGREES

    @property
    def type(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """ "continuous" where nothing limits it, else "revolute"."""
        free = math.isinf(self._lower) and math.isinf(self._upper)
        return "continuous" if free else "revolute"

    def _highest(self) -> float:
        return math.pi + self._lower

    def _refit(self) -> None:
        along = np.outer(self._axis, self._axis)
        x, y, z = self._axis
        terms = np.zeros((3, 4, 4))
        terms[0, :3, :3], terms[0, 3, 3] = along, 1.0
        terms[1, :3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
        terms[2, :3, :3] = np.eye(3) - along
        self._basis = (self._T_fixed @ terms).reshape(3, 16).copy()

    def _count(self, q: float) -> None:
        self._coefficients[1], self._coefficients[2] = math.sin(q), math.cos(q)

    def _motion(self) -> Floats:
        return pose_matrix(compiled("about")(self._axis, self._q), np.zeros(3))


class LinearJoint(_SingleJoint):
    """A joint that slides along an axis: "x", "-z", ... or a vector (3,)."""

    _default_velocity = math.pi / 4
    type = "prismatic"

    def _highest(self) -> float:
        return math.pi / 2

    def _refit(self) -> None:
        terms = np.zeros((3, 4, 4))
        terms[0] = self._T_fixed
        terms[1, :3, 3] = self._T_fixed[:3, :3] @ self._axis
        self._basis = terms.reshape(3, 16).copy()

    def _count(self, q: float) -> None:
        self._coefficients[1] = q

    def _motion(self) -> Floats:
        T = np.eye(4)
        T[:3, 3] = self._q * self._axis
        return T


class FixedJoint(Joint):
    """A joint that does not move; its angle is 0.0, whatever it is set to."""

    joint_dof = 0
    type = "fixed"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = {
            "min_angle": 0.0, "max_angle": 0.0, "max_joint_velocity": 0.0, "max_joint_torque": 0.0
        }  # fmt: skip
        super().__init__(*args, **{**kwargs, **given})
        self.axis = [0, 0, 1]

    def joint_angle(
        self, v: Any = None, relative: bool | None = None, enable_hook: bool = True
    ) -> float:
        """0.0: the joint does not move."""
        del v, relative, enable_hook
        return 0.0

    def _motion(self) -> Floats:
        return np.eye(4)

    def _screws(self) -> tuple[Floats, tuple[bool, ...]]:
        return np.zeros((0, 3)), ()


# ---- several degrees of freedom


class _MultiJoint(Joint):
    """A joint with several positions, as an array (n,)."""

    def __init__(
        self, max_joint_velocity: Any = None, max_joint_torque: Any = None,
        min_angle: Any = None, max_angle: Any = None, *args: Any, **kwargs: Any,
    ) -> None:  # fmt: skip
        given: Any = {
            "min_angle": min_angle, "max_angle": max_angle,
            "max_joint_velocity": max_joint_velocity, "max_joint_torque": max_joint_torque,
        }  # fmt: skip
        super().__init__(*args, **given, **kwargs)

    def _rest(self) -> Floats:
        return np.zeros(self.joint_dof)

    def _value(self) -> Floats:
        return self._q.copy()

    def _bound(self, value: Any, what: str) -> Floats:
        """A limit for each position (n,), also of one number for all."""
        array = np.array(value, np.float64)
        if array.ndim == 0 or array.shape == (1,):
            array = np.full(self.joint_dof, float(array.reshape(())))
        if array.shape != (self.joint_dof,):
            n = self.joint_dof
            raise ShapeError(f"joint '{self.name}': {what} is ({n},), not {array.shape}")
        if np.isnan(array).any():
            raise InputError(f"joint '{self.name}': {what} must not be NaN")
        return array

    def _numbers(self, v: Any, relative: bool) -> Floats:
        n = self.joint_dof
        try:
            q = np.array(v, np.float64)
        except (TypeError, ValueError):
            raise InputError(f"joint '{self.name}' takes {n} numbers, not {v!r:.40}") from None
        if q.ndim == 0 or q.shape == (1,):
            q = np.full(n, float(q.reshape(())))
        if q.shape != (n,):
            raise ShapeError(f"joint '{self.name}' takes {n} numbers, not shape {q.shape}")
        if not np.isfinite(q).all():
            raise InputError(f"joint '{self.name}': the angles must be finite, not {v!r:.60}")
        return q + self._q if relative else q

    def _clipped(self, q: Floats) -> Floats:
        inside = np.minimum(np.maximum(q, self._lower), self._upper)
        if not np.array_equal(inside, q):
            logger.warning("%r: joint_angle(%s) violates the limits; it is %s", self, q, inside)
        return inside


class _PlaneJoint(_MultiJoint):
    """x, y and a turn about z, in the joint's frame."""

    joint_dof = 3
    axis = _XYZ
    _R_plane: Floats | None = None
    """The plane's own axes (3, 3) in the joint's frame: its columns are x, y and its normal."""

    def _motion(self) -> Floats:
        x, y, yaw = self._q
        c, s = math.cos(yaw), math.sin(yaw)
        T = np.array([[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
        R = self._R_plane
        if R is not None:
            T[:3, :3], T[:3, 3] = R @ T[:3, :3] @ R.T, R @ T[:3, 3]
        return T

    def _set_plane(self, R: Floats) -> None:
        """Lay the plane across the third column of R (3, 3), in the joint's frame."""
        self._R_plane = R
        self.axis = tuple(map(tuple, R.T.tolist()))

    def _screws(self) -> tuple[Floats, tuple[bool, ...]]:
        return np.asarray(self.axis, np.float64), (True, True, False)


class OmniWheelJoint(_PlaneJoint):
    """A base on wheels that go any way: x and y (m), then a turn (rad) about the joint's z."""

    type = "planar"
    _default_velocity, _default_torque = (1.6, 1.6, math.pi / 4), (100, 100, 100)


class PlanarJoint(_PlaneJoint):
    """A joint that moves in a plane: x and y (m), then a turn (rad) about the joint's z."""

    type = "planar"
    _default_velocity = _default_torque = (math.inf,) * 3


class FloatingJoint(_MultiJoint):
    """A joint that moves any way: x y z (m), then turns (rad) about x, about y, about z as turned.

    R = Rx(rx) Ry(ry) Rz(rz), in the joint's frame.
    """

    joint_dof = 6
    type = "floating"
    axis = _XYZ + _XYZ
    _default_velocity = _default_torque = (math.inf,) * 6

    def _motion(self) -> Floats:
        T = np.eye(4)
        T[:3, 3] = self._q[:3]
        T[:3, :3] = compiled("from_rpy")(-self._q[3:]).T  # the inverse of Rz(-rz) Ry(-ry) Rx(-rx)
        return T

    def _screws(self) -> tuple[Floats, tuple[bool, ...]]:
        rx, ry = (float(a) for a in self._q[3:5])
        cx, sx, cy, sy = math.cos(rx), math.sin(rx), math.cos(ry), math.sin(ry)
        turns = [[1.0, 0.0, 0.0], [0.0, cx, sx], [sy, -sx * cy, cx * cy]]
        return np.vstack([np.eye(3), turns]), (True, True, True, False, False, False)


# ---- columns of a Jacobian


def calc_jacobian_default_rotate_vector(
    paxis: ArrayLike, world_default_coords: Coordinates, transform_coords: Coordinates
) -> Floats:
    """An axis (3,) of a joint, given in its frame, along the axes of another frame."""
    axis = world_default_coords.rotate_vector(np.asarray(paxis, np.float64))
    return transform_coords.inverse_rotate_vector(axis)


def calc_jacobian_rotational(  # noqa: PLR0913, PLR0917  as the original
    jacobian: Floats, row: int, column: int, joint: Any, paxis: ArrayLike, child_link: Coordinates,
    world_default_coords: Coordinates, move_target: Coordinates, transform_coords: Coordinates,
    rotation_mask: Any, position_mask: Any,
) -> Floats:  # fmt: skip
    """The Jacobian with the column of a turn about an axis through the child link, in place.

    Rows from ``row``: those of velocity that ``position_mask`` has, then those of angular velocity
    that ``rotation_mask`` has, along the axes of ``transform_coords``.
    """
    del joint
    axis = calc_jacobian_default_rotate_vector(paxis, world_default_coords, transform_coords)
    arm = np.asarray(move_target.worldpos(), np.float64) - child_link.worldpos()
    arm = transform_coords.inverse_rotate_vector(arm)
    return _with_column(
        jacobian, row, column, np.cross(axis, arm), axis, position_mask, rotation_mask
    )


def calc_jacobian_linear(  # noqa: PLR0913, PLR0917  as the original
    jacobian: Floats, row: int, column: int, joint: Any, paxis: ArrayLike, child_link: Coordinates,
    world_default_coords: Coordinates, move_target: Coordinates, transform_coords: Coordinates,
    rotation_mask: Any, position_mask: Any,
) -> Floats:  # fmt: skip
    """The Jacobian with the column of a slide along an axis, in place; rows as for a turn."""
    del joint, child_link, move_target
    axis = calc_jacobian_default_rotate_vector(paxis, world_default_coords, transform_coords)
    return _with_column(jacobian, row, column, axis, np.zeros(3), position_mask, rotation_mask)


def _with_column(
    jacobian: Floats, row: int, column: int, linear: Floats, angular: Floats,
    position_mask: Any, rotation_mask: Any,
) -> Floats:  # fmt: skip
    kept = [
        *linear[np.asarray(position_mask, bool)], *angular[np.asarray(rotation_mask, bool)]
    ]  # fmt: skip
    jacobian[row : row + len(kept), column] = kept
    return jacobian


# ---- limits in steps of inverse kinematics


def calc_angle_speed_gain_vector(
    joint: Joint, dav: ArrayLike, i: int, periodic_time: float
) -> float:
    """The share of a step ``dav`` (n,) that a joint may do in a time, 0 to 1, from entry ``i``.

    The least of min(1, max_joint_velocity / |dav / periodic_time|) of its positions; 1 where one of
    these is 0.
    """
    n = joint.joint_dof
    steps = np.asarray(dav, np.float64)[i + np.arange(n)].tolist()
    most = np.broadcast_to(joint.max_joint_velocity, (n,)).tolist()
    shares = [
        abs(limit * periodic_time / step)
        for step, limit in zip(steps, most, strict=True)
        if step != 0.0 and periodic_time != 0.0
    ]
    return min([1.0, *shares])


calc_angle_speed_gain_scalar = calc_angle_speed_gain_vector


def calc_joint_angle_min_max_for_limit_calculation(
    j: Joint, kk: int, jamm: Floats | None = None
) -> Floats:
    """The position ``kk`` of a joint, and its upper and lower limit (3,), into jamm if given."""
    found = np.zeros(3) if jamm is None else jamm
    found[0] = np.atleast_1d(j.joint_angle())[kk]
    found[1] = np.atleast_1d(j.max_angle)[kk]
    found[2] = np.atleast_1d(j.min_angle)[kk]
    return found


_LIMIT_MARGIN = math.radians(1)


def joint_angle_limit_weight(joint_list: Sequence[Joint]) -> Floats:
    """The push (n,) of the limits on each position: 0 where there is no limit.

    abs((max - min)² (2 q - max - min) / (4 (max - q)² (q - min)²)), where q is at least one degree
    from its limits; infinite for a range of zero.
    Source: Chan and Dubey, "A weighted least-norm solution based scheme for avoiding joint limits
    for redundant manipulators", IEEE Trans. Robotics and Automation 11 (1995) 286.
    """
    found: list[float] = []
    for q, upper, lower in _positions_in_limits(joint_list):
        if math.isinf(upper) or math.isinf(lower):
            found.append(0.0)
            continue
        inside = q
        if abs(upper - q) < _LIMIT_MARGIN:
            inside = upper - _LIMIT_MARGIN
        if abs(lower - q) < _LIMIT_MARGIN:
            inside = lower + _LIMIT_MARGIN
        below = 4.0 * (upper - inside) ** 2 * (inside - lower) ** 2
        above = (upper - lower) ** 2 * (2.0 * inside - upper - lower)
        found.append(abs(above / below) if below > 0.0 and upper > lower else math.inf)
    return np.array(found)


def joint_angle_limit_nspace(
    joint_list: Sequence[Joint], n_joint_dimension: int | None = None
) -> Floats:
    """A motion (n,) of each position towards the middle of its range, 1 at a limit.

    sign(r) r² with r = (max + min - 2 q) / (max - min); 0 where a limit is infinite, or there is no
    range.
    """
    n = calc_target_joint_dimension(joint_list) if n_joint_dimension is None else n_joint_dimension
    found = np.zeros(n)
    for k, (q, upper, lower) in enumerate(_positions_in_limits(joint_list)):
        if math.isfinite(upper) and math.isfinite(lower) and upper != lower:
            r = (upper + lower - 2.0 * q) / (upper - lower)
            found[k] = r * abs(r)
    return found


def _positions_in_limits(joint_list: Sequence[Joint]) -> list[tuple[float, float, float]]:
    """Each position of joints, with its upper and its lower limit."""
    found: list[tuple[float, float, float]] = []
    for joint in joint_list:
        if joint.joint_dof:
            angles = (joint.joint_angle(), joint.max_angle, joint.min_angle)
            found.extend(zip(*(np.atleast_1d(each).tolist() for each in angles), strict=True))
    return found


def calc_target_joint_dimension(joint_list: Sequence[Joint]) -> int:
    """The number of degrees of freedom of joints."""
    return sum(joint.joint_dof for joint in joint_list)


def places(joints: Sequence[Joint]) -> list[slice]:
    """The numbers of each joint among those of all."""
    ends = list(itertools.accumulate((joint.joint_dof for joint in joints), initial=0))
    return list(itertools.starmap(slice, itertools.pairwise(ends)))


def calc_target_joint_dimension_from_link_list(link_list: Sequence[Link]) -> int:
    """The number of degrees of freedom of the joints of links."""
    return sum(link.joint.joint_dof for link in link_list if link.joint is not None)


# ---- numbers


def _unit_axis(axis: Any) -> Floats:
    """An axis (3,) of length 1.

    Raises: InputError (a ValueError) for one without a direction.
    """
    return direction(convert_to_axis_vector(axis), "the axis of a joint") + 0.0


def _number(value: Any, name: str | None, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"joint '{name}': {what} is a number, not {value!r:.40}") from None
    if math.isnan(number):
        raise InputError(f"joint '{name}': {what} must not be NaN")
    return number


def _one_number(v: Any, name: str | None) -> float:
    """The only number of an array or list."""
    array = np.asarray(v)
    if array.size != 1 or array.dtype.kind not in "iufb":
        raise InputError(f"joint '{name}' takes one number, not {v!r:.60}")
    return float(array.reshape(()))
