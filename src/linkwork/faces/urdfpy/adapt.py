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
from linkwork.faces.urdfpy.utils import Floats, WrongTypeError, caller_level, numbers
from linkwork.faces.urdfpy.values import ForeignError
from linkwork.formats.structure import Mimic, final_leaders
from linkwork.poses import pose, xyz_wxyz
from linkwork.spatial.rotations import align_z

if TYPE_CHECKING:
    from linkwork.faces.urdfpy.joint import Joint

AGREEMENT = 1.0e-9
"""The distance of a follower's given position from what its leader makes it without a warning."""

SEVERAL = {"planar": 3, "floating": 7}
"""The numbers in q of a joint that has several."""


class Slot(NamedTuple):
    """The place in q of an actuated joint's position."""

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
    """The places in q of everything that a configuration may name."""

    def __init__(self, actuated: Sequence[Joint], others: Iterable[Joint]) -> None:
        self.actuated = list(actuated)
        self.names = [joint.name for joint in actuated]
        # an int for a single number, the fast way; None for a joint that does not move
        self.places: dict[Any, int | Slot | Follower | None] = {}
        start, quaternions = 0, list[int]()
        for joint in actuated:
            several = joint.joint_type in SEVERAL
            place = Slot(start, joint) if several else start
            self.places[joint] = self.places[joint.name] = place
            if joint.joint_type == "floating":
                quaternions.append(start + 3)
            start += SEVERAL.get(joint.joint_type, 1)
        self.n_q = start
        self.single = start == len(self.actuated)
        self.rest = np.zeros(start)
        self.rest[quaternions] = 1.0
        self.rest.setflags(write=False)
        own = {j.name: j.mimic for j in others if j.mimic is not None and j.joint_type != "fixed"}
        mimics = {name: Mimic(m.joint, m.multiplier, m.offset) for name, m in own.items()}
        leaders = final_leaders(mimics, self.names)
        for joint in others:
            follower = None
            if joint.name in leaders:
                leader, factor, offset = leaders[joint.name]
                start: Any = self.places[leader]  # one number: others lead nobody
                follower = Follower(start, factor, offset, joint.name, leader)
            self.places[joint] = self.places[joint.name] = follower

    def place(self, key: Any) -> int | Slot | Follower | None:
        """The place of a joint, or of the joint of a name.

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
        if not isinstance(cfg, Mapping):
            values = self._listed(cfg)
            if self.single:
                return numbers("the configuration", values, (self.n_q,))
            cfg = dict(zip(self.actuated, values, strict=True))
        q, places = self.rest.copy(), self.places
        given: Mapping[Any, Any] = cfg
        for key, value in given.items():
            try:
                place = places[key]
            except (KeyError, TypeError):
                place = self.place(key)  # which says what is wrong
            if type(place) is not int or not isinstance(value, (float, int)):
                return self._columns({key: [value] for key, value in given.items()})[0]
            q[place] = value
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
        n = self.n_q
        if not len(cfgs):
            return np.zeros((0, n))
        if any(isinstance(cfg, Mapping) for cfg in cfgs) or not self.single:
            return np.array([self.configuration(cfg) for cfg in cfgs])
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
        following = [(place, column) for place, column in columns if isinstance(place, Follower)]
        _say_who_disagrees([(p, q[:, p.start], column) for p, column in following])
        return q

    def vector(self, cfg: Any) -> Floats:
        """The positions of the actuated joints in order, as one array; None is all zero.

        Raises: as `configuration`; InputError where a joint has several positions.
        """
        if not self.single:
            names = [j.name for j in self.actuated if j.joint_type in SEVERAL]
            raise InputError(f"joint '{names[0]}' has several positions: there is no vector of one")
        return np.array(self.configuration(cfg))


def _column(name: str, place: int | Slot | Follower, value: Any) -> Floats:
    """The positions of one joint: (n,), or (n, 3) and (n, 7)."""
    if isinstance(place, Slot):
        if not hasattr(value, "__len__"):
            raise WrongTypeError(f"joint '{name}' takes a list of positions")
        return np.array([positions(place.joint, row) for row in value])
    try:
        column = np.atleast_1d(np.asarray(value, np.float64))
    except (TypeError, ValueError):
        raise InputError(f"joint '{name}': {value!r:.60} is no position") from None
    if not np.isfinite(column).all():
        raise InputError(f"joint '{name}': {value!r:.60} is not finite")
    if column.size != len(column):
        raise ShapeError(f"joint '{name}' takes one number a position, not {column.shape}")
    return column.reshape(-1)


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
            stacklevel=caller_level(),
        )


def positions(joint: Joint, value: Any) -> Floats:
    """A position of a planar (3,) or floating joint (7,), as Linkwork takes it.

    Raises: WrongTypeError, InputError, ShapeError.
    """
    what = f"the position of joint '{joint.name}'"
    if joint.joint_type == "planar":  # whatever else is given has a wrong shape, not type
        given = value if isinstance(value, (np.ndarray, list, tuple)) else np.asarray(value)
        return np.array([*numbers(what, given, (2,)), 0.0])
    own = numbers(what, value, (6,), (4, 4))
    if own.shape == (6,):
        return np.concatenate(xyz_wxyz(pose(own[:3], rpy=own[3:])))
    try:
        return np.concatenate(xyz_wxyz(own))
    except InputError:
        text = f"{what} is no rigid pose"
        raise InputError(f"{text}: a rotation, a column x y z, and below 0 0 0 1") from None


def motions(joint: Joint, values: Any) -> Floats:
    """The motion of a joint's child at n positions: poses (n, 4, 4) in the joint's own frame.

    Raises: as `positions`.
    """
    kind, axis = joint.joint_type, joint.__dict__["_axis"]
    if kind == "planar":
        return pose([positions(joint, value)[:2] @ align_z(axis)[:, :2].T for value in values])
    if kind == "floating":
        rows = [(value, positions(joint, value)) for value in values]
        return np.array(
            [
                np.array(value, np.float64)
                if np.shape(value) == (4, 4)
                else pose(own[:3], wxyz=own[3:])
                for value, own in rows
            ]
        ).reshape(-1, 4, 4)
    amounts = _column(joint.name, 0, values)[:, None]
    if kind == "prismatic":
        return pose(amounts * axis)
    return pose(wxyz=np.concatenate([np.cos(amounts / 2), np.sin(amounts / 2) * axis], axis=1))


def is_valid(joint: Joint, value: Any) -> bool:
    """Whether a joint may have a position."""
    if joint.joint_type == "fixed":
        return True
    try:
        if joint.joint_type in SEVERAL:
            positions(joint, value)
            return True
        (amount,) = _column(joint.name, 0, [value])
    except (TypeError, ValueError):
        return False
    limit = joint.limit
    if joint.joint_type == "continuous" or limit is None:
        return True
    lower = -np.inf if limit.lower is None else limit.lower
    upper = np.inf if limit.upper is None else limit.upper
    return bool(lower <= amount <= upper)
