"""Positions as this library's programs give them, to configurations of `linkwork.Robot`.

Programs give a number for a joint about or along an axis, (2,) for a planar one (Linkwork has the
angle too, which stays 0) and (6,) xyz rpy or (4, 4) for a floating one (Linkwork has a quaternion);
by joint, by name, or in the order of the actuated joints.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.faces.urdfpy.utils import Floats, WrongTypeError, numbers, outside
from linkwork.faces.urdfpy.values import ForeignError
from linkwork.poses import pose, xyz_wxyz
from linkwork.spatial.rotations import align_z

if TYPE_CHECKING:
    from linkwork.faces.urdfpy.joint import Joint

AGREEMENT = 1.0e-9
"""How far a follower's given position may lie from what its leader's makes it without a warning."""

SHAPES = {"planar": ((2,),), "floating": ((6,), (4, 4))}


class Slot(NamedTuple):
    """Where in q the position of an actuated joint stands."""

    start: int
    joint: Joint


class Follower(NamedTuple):
    """A joint that follows the one at ``start``: factor * q[start] + offset."""

    start: int
    factor: float
    offset: float
    name: str
    leader: str


class Slots:
    """Where everything that a configuration may name stands in q."""

    def __init__(self, actuated: Sequence[Joint], others: Iterable[Joint]) -> None:
        self.actuated = list(actuated)
        self.names = [joint.name for joint in actuated]
        # an int for a single number, the fast way; None for a joint that does not move
        self.places: dict[Any, int | Slot | Follower | None] = {}
        start, quaternions = 0, list[int]()
        for joint in actuated:
            several = joint.joint_type in SHAPES
            place = Slot(start, joint) if several else start
            self.places[joint] = self.places[joint.name] = place
            if joint.joint_type == "floating":
                quaternions.append(start + 3)
            start += {"planar": 3, "floating": 7}.get(joint.joint_type, 1)
        self.n_q = start
        self.single = start == len(self.actuated)
        self.rest = np.zeros(start)
        self.rest[quaternions] = 1.0
        self.rest.setflags(write=False)
        by_name = {joint.name: joint for joint in (*actuated, *others)}
        for joint in others:
            follows = joint.mimic is not None and joint.joint_type != "fixed"
            place = self._follower(joint, by_name) if follows else None
            self.places[joint] = self.places[joint.name] = place

    def _follower(self, joint: Joint, by_name: Mapping[str, Joint]) -> Follower:
        factor, offset, at = 1.0, 0.0, joint
        while at.mimic is not None:
            factor, offset = factor * at.mimic.multiplier, factor * at.mimic.offset + offset
            at = by_name[at.mimic.joint]
        start = self.places[at]
        if not isinstance(start, int):
            raise InputError(f"joint '{joint.name}' follows '{at.name}', which has no position")
        return Follower(start, factor, offset, joint.name, at.name)

    def place(self, key: Any) -> int | Slot | Follower | None:
        """Where a joint, or the joint of a name, stands.

        Raises: UnknownNameError; WrongTypeError for what is neither.
        """
        try:
            return self.places[key]
        except (KeyError, TypeError):
            valid = [name for name in self.places if isinstance(name, str)]
            if isinstance(key, str):
                raise UnknownNameError("joint", key, valid) from None
        if hasattr(key, "joint_type"):
            raise ForeignError("joint", key.name, valid)
        kind = type(key).__name__
        raise WrongTypeError(f"a configuration is given by Joint or by name, not by {kind}")

    def configuration(self, cfg: Any) -> Floats:
        """One configuration (nq,): a mapping, or the positions of the actuated joints in order.

        Raises: UnknownNameError, WrongTypeError, InputError.
        """
        if cfg is None:
            return self.rest
        if isinstance(cfg, Mapping):
            return self._from_mapping(cfg)
        values = self._listed(cfg)
        if self.single:
            return numbers("the configuration", values, (self.n_q,))
        q = self.rest.copy()
        for joint, value in zip(self.actuated, values, strict=True):
            self._set(q, joint, value)
        return q

    def _listed(self, cfg: Any) -> Any:
        """The positions of the actuated joints, one for each."""
        if not isinstance(cfg, (list, tuple, np.ndarray)):
            kind = type(cfg).__name__
            raise WrongTypeError(f"a configuration is a dict, a list or an array, not {kind}")
        if len(cfg) != len(self.actuated):
            text = f"{len(self.actuated)} positions, one for each actuated joint, are needed"
            raise ShapeError(f"{text}, not {len(cfg)}")
        return cfg

    def _from_mapping(self, cfg: Mapping[Any, Any]) -> Floats:
        q = self.rest.copy()
        places, following = self.places, list[tuple[Follower, Any]]()
        for key, value in cfg.items():
            try:
                place = places[key]
            except (KeyError, TypeError):
                place = self.place(key)
            if isinstance(place, int):
                q[place] = value if type(value) is float else position(key, value)
            elif isinstance(place, Slot):
                self._set(q, place.joint, value)
            elif place is not None:
                following.append((place, value))
        given = [(place, q[place.start], position(place.name, value)) for place, value in following]
        _say_who_disagrees(given)
        return q

    def _set(self, q: Floats, joint: Joint, value: Any) -> None:
        """Put the position of one joint into q (..., nq), its rows where it has several."""
        place = self.places[joint]
        if isinstance(place, Slot):
            own = positions(joint, value)
            q[..., place.start : place.start + own.shape[-1]] = own
        elif isinstance(place, int):
            q[..., place] = position(joint.name, value)

    def batch(self, cfgs: Any) -> Floats:
        """Configurations (n, nq): a mapping to arrays, a list of mappings, or rows of positions.

        Raises: UnknownNameError, WrongTypeError, InputError.
        """
        if cfgs is None:
            return self.rest[None].copy()
        if isinstance(cfgs, Mapping):
            return self._columns(cfgs)
        if not isinstance(cfgs, (list, tuple, np.ndarray)):
            kind = type(cfgs).__name__
            raise WrongTypeError(f"configurations are a dict, a list or an array, not {kind}")
        if not len(cfgs):
            return np.zeros((0, self.n_q))
        if any(isinstance(cfg, Mapping) for cfg in cfgs) or not self.single:
            return np.array([self.configuration(cfg) for cfg in cfgs])
        return self._rows(cfgs)

    def _rows(self, cfgs: Any) -> Floats:
        """Configurations as rows of numbers."""
        n = self.n_q
        try:
            return numbers("the configurations", cfgs, (len(cfgs), n))
        except ShapeError:
            text = f"the configurations have the shape (n, {n}), for {n} actuated joints"
            raise ShapeError(f"{text}, not {np.shape(cfgs)}") from None

    def _columns(self, cfgs: Mapping[Any, Any]) -> Floats:
        """Configurations from the positions of each joint."""
        columns: list[tuple[int | Slot | Follower, Floats]] = []
        counts: dict[str, int] = {}
        for key, value in cfgs.items():
            place = self.place(key)
            if place is not None:
                name = getattr(key, "name", key)
                column = _column(name, place, value)
                counts[name] = len(column)
                columns.append((place, column))
        several = {n for n in counts.values() if n != 1}
        if len(several) > 1:
            listed = ", ".join(f"'{name}': {n}" for name, n in counts.items())
            raise ShapeError(f"the joints have different numbers of positions: {listed}")
        q = np.tile(self.rest, (several.pop() if several else 1, 1))
        for place, column in columns:
            if isinstance(place, Slot):
                q[:, place.start : place.start + column.shape[1]] = column
            elif isinstance(place, int):
                q[:, place] = column
        _say_who_disagrees(
            [(p, q[:, p.start], column) for p, column in columns if isinstance(p, Follower)]
        )
        return q

    def vector(self, cfg: Any) -> Floats:
        """The positions of the actuated joints in order, as one array; None is all zero.

        Raises: as `configuration`; InputError where a joint has several positions.
        """
        if not self.single:
            names = [j.name for j in self.actuated if j.joint_type in SHAPES]
            raise InputError(f"joint '{names[0]}' has several positions: there is no vector of one")
        return np.array(self.configuration(cfg))


def _column(name: str, place: int | Slot | Follower, value: Any) -> Floats:
    """The positions of one joint in a batch: (n,), or (n, 3) and (n, 7)."""
    if isinstance(place, Slot):
        if not hasattr(value, "__len__"):
            raise WrongTypeError(f"joint '{name}' takes a list of positions")
        return np.array([positions(place.joint, row) for row in value])
    column = np.atleast_1d(_finite(name, value))
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise ShapeError(f"joint '{name}' takes n numbers, not {column.shape}")
    return column


def _say_who_disagrees(given: Sequence[tuple[Follower, Any, Any]]) -> None:
    """Warn once of all followers whose positions are not what their leaders' make of them.

    Measured positions never agree to the last digits: leaders decide.
    """
    apart = [
        place
        for place, leader, value in given
        if (np.abs(place.factor * leader + place.offset - value) > AGREEMENT).any()
    ]
    if apart:  # without figures, so that Python shows it once and not at each step of a loop
        listed = " and ".join(f"'{p.name}' (follows '{p.leader}')" for p in apart[:2])
        more = f" and {len(apart) - 2} more" if len(apart) > 2 else ""
        warnings.warn(
            f"positions were given that differ from what the leader's makes of them, of {listed}"
            f"{more}: the leader's counts",
            stacklevel=outside(),
        )


def _finite(name: str, value: Any) -> Floats:
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"joint '{name}': {value!r:.60} is no position") from None
    if not np.isfinite(array).all():
        raise InputError(f"joint '{name}': {value!r:.60} is not finite")
    return array


def position(name: Any, value: Any) -> float:
    """The position of a joint that has one number.

    Raises: InputError, ShapeError.
    """
    label = getattr(name, "name", name)
    array = _finite(label, value)
    if array.size != 1:
        raise ShapeError(f"joint '{label}' takes one number, not {array.shape}")
    return float(array.reshape(()))


def positions(joint: Joint, value: Any) -> Floats:
    """What Linkwork takes for a planar joint (3,) or a floating one (7,).

    Raises: WrongTypeError, InputError, ShapeError.
    """
    if joint.joint_type == "planar":
        return np.array([*_plane(joint, value), 0.0])
    own = numbers(f"the position of joint '{joint.name}'", value, *SHAPES["floating"])
    if own.shape == (6,):
        return np.concatenate(xyz_wxyz(pose(own[:3], rpy=own[3:])))
    try:
        return np.concatenate(xyz_wxyz(own))
    except InputError:
        text = f"the position of joint '{joint.name}' is no rigid pose"
        raise InputError(f"{text}: a rotation, a column x y z, and below 0 0 0 1") from None


def _plane(joint: Joint, value: Any) -> Floats:
    """The two numbers of a planar joint; whatever else is given has a wrong shape, not type."""
    given = value if isinstance(value, (np.ndarray, list, tuple)) else np.asarray(value)
    return numbers(f"the position of joint '{joint.name}'", given, (2,))


def motion(joint: Joint, value: Any) -> Floats:
    """What a joint at a position does to its child: the pose (4, 4) in the joint's own frame.

    Raises: as `position` and `positions`.
    """
    kind, axis = joint.joint_type, joint.__dict__["_axis"]
    if kind == "planar":
        return pose(align_z(axis)[:, :2] @ _plane(joint, value))
    if kind == "floating":
        own = positions(joint, value)
        return (
            np.array(value, np.float64)
            if np.shape(value) == (4, 4)
            else pose(own[:3], wxyz=own[3:])
        )
    amount = position(joint.name, value)
    if kind == "prismatic":
        return pose(axis * amount)
    return pose(wxyz=[np.cos(amount / 2), *(np.sin(amount / 2) * axis)])


def motions(joint: Joint, values: Any, n: int) -> Floats:
    """What a joint at n positions does to its child: poses (n, 4, 4) in the joint's own frame.

    Raises: as `motion`; ShapeError where there are neither n positions nor one.
    """
    if joint.joint_type in SHAPES:
        rows = np.array([motion(joint, value) for value in values]).reshape(-1, 4, 4)
    else:
        amounts, axis = _column(joint.name, 0, values), joint.__dict__["_axis"]
        if joint.joint_type == "prismatic":
            rows = pose(amounts[:, None] * axis)
        else:
            half = 0.5 * amounts[:, None]
            rows = pose(wxyz=np.concatenate([np.cos(half), np.sin(half) * axis], axis=1))
    if len(rows) not in (1, n):
        raise ShapeError(f"joint '{joint.name}': {n} positions are needed, not {len(rows)}")
    return np.broadcast_to(rows, (n, 4, 4)).copy()


def is_valid(joint: Joint, value: Any) -> bool:
    """Whether a joint may have a position."""
    if joint.joint_type == "fixed":
        return True
    try:
        if joint.joint_type in SHAPES:
            positions(joint, value)
            return True
        amount = position(joint.name, value)
    except (TypeError, ValueError):
        return False
    limit = joint.limit
    if joint.joint_type == "continuous" or limit is None:
        return True
    lower = -np.inf if limit.lower is None else limit.lower
    upper = np.inf if limit.upper is None else limit.upper
    return bool(lower <= amount <= upper)
