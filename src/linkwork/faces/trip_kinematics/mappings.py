"""The two functions that turn the actuated state of a group into the virtual one, and back.

They are a program's own, or derived from a mechanism with loops: a robot of `linkwork` in which
the joints of the virtual chain and the actuated ones stand beside each other, with loops that close
between them. Either side given, the core assembles the mechanism, and the other side is read off.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import real_array
from linkwork.compile.native_call import Part
from linkwork.errors import InputError, ShapeError
from linkwork.faces.trip_kinematics.Transformation import Transformation
from linkwork.faces.trip_kinematics.values import (
    MappingError,
    NotAssembledError,
    UnknownKeyError,
    Values,
    WrongTypeError,
    is_symbol,
    listed,
    mapping_of,
    number,
)
from linkwork.robot import Robot
from linkwork.solve.closed.assembly import Assembly

# mappings


Keys = Mapping[str, Sequence[str]]
"""The keys of each joint that has a state."""
_ALIKE = 1.0e-6


class GroupMapping:
    """A function of a program, or of an open group: it is given copies, and its result is checked.

    ``passed`` are arguments behind the state, the same in every call until they are replaced; a
    mapping that is ``closed`` takes none.
    """

    def __init__(
        self, function: Callable[..., Any], what: str, passed: Any = None, *, closed: bool = False
    ) -> None:
        if not callable(function):
            raise WrongTypeError(f"{what} is a function, not {type(function).__name__}")
        self.function, self.what, self.closed = function, what, closed
        self.passed: tuple[Any, ...] = ()
        self.pass_on(passed)

    def pass_on(self, arguments: Any) -> None:
        """Replace the arguments behind the state; None for no arguments.

        Raises: WrongTypeError for what is no list; InputError for arguments of an open chain.
        """
        given = () if arguments is None else arguments
        if isinstance(given, (str, Mapping)) or not isinstance(given, Iterable):
            kind = type(arguments).__name__
            raise WrongTypeError(f"the arguments of {self.what} are a list, not {kind}")
        taken = tuple(cast("Iterable[Any]", given))
        if taken and self.closed:
            raise InputError("an open chain has no mapping that takes arguments")
        self.passed = taken

    def virtual(
        self, actuated: Values, keys: Keys, present: Mapping[str, Any] | None = None
    ) -> dict[str, Values]:
        """The virtual state of an actuated one.

        ``present`` is the state there is, both sides: a function that follows goes from there,
        where no arguments have been passed.

        Raises: MappingError where the function gives no finite state of the chain, and whatever
        the function itself raises.
        """
        what = f"{self.what} does not fit virtual state:"
        joints = _with_keys(self._found(dict(actuated), present), keys, f"{what} it")
        return {j: _numbers(joints[j], own, f"{what} for '{j}' it") for j, own in keys.items()}

    def actuated(
        self,
        virtual: Mapping[str, Values],
        keys: Iterable[str],
        present: Mapping[str, Any] | None = None,
    ) -> Values:
        """The actuated state of a virtual one; as `virtual`."""
        found = self._found({name: dict(values) for name, values in virtual.items()}, present)
        return _numbers(found, list(keys), f"{self.what} does not fit actuated state: it")

    def _found(self, state: Any, present: Mapping[str, Any] | None) -> Any:
        if present is not None and not self.passed and getattr(self.function, "follow", False):
            return self.function(state, present)
        return self.function(state, *self.passed)


def actuated_key(joint: str, key: str) -> str:
    """The name of an actuated value that is a state variable itself."""
    return f"{joint}_{key}"


def joined(virtual: Mapping[str, Values]) -> Values:
    """A virtual state as the actuated one of an open group: values under NAME_KEY."""
    return {actuated_key(j, k): value for j, own in virtual.items() for k, value in own.items()}


def parted(keys: Keys, actuated: Values) -> dict[str, Values]:
    """The virtual state of an actuated one of an open group."""
    return {j: {key: actuated[actuated_key(j, key)] for key in own} for j, own in keys.items()}


def _with_keys(found: Any, wanted: Iterable[str], what: str) -> dict[Any, Any]:
    """A dict with exactly these keys, in any order."""
    names = list(wanted)
    if not isinstance(found, Mapping):
        raise MappingError(f"{what} gave {type(found).__name__}, not a dict with {listed(names)}")
    given = mapping_of(found, what)
    if set(given) != set(names):
        raise MappingError(f"{what} gave the keys {listed(given)}; the state has {listed(names)}")
    return given


def _numbers(found: Any, keys: Sequence[str], what: str) -> Values:
    given = _with_keys(found, keys, what)
    try:
        return {key: number(given[key], f"'{key}'") for key in keys}
    except (InputError, WrongTypeError) as error:
        raise MappingError(f"{what} gave no finite number: {error}") from error


def merged(state: Mapping[str, Any], changes: Any, what: str) -> Values:
    """A flat state with some values changed.

    Raises: UnknownKeyError, InputError.
    """
    given = mapping_of(changes, what)
    for key in given:
        if key not in state:
            raise UnknownKeyError(what, key, list(state))
    return {**state, **{key: number(value, f"'{key}'") for key, value in given.items()}}


def differ(a: Any, b: Any) -> bool:
    """Whether two states, or two values, are known to differ."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return any(differ(a[key], b[key]) for key in b)
    return isinstance(a, float) and isinstance(b, float) and abs(a - b) > _ALIKE


# derived


Floats = NDArray[np.float64]
Joints = Mapping[str, Mapping[str, str]]
"""The joint of the mechanism for each key of each transformation of the virtual chain."""

_STARTS = 64
"""Starts from which other assemblies are searched for where the way from the start is lost."""


class DerivedMappings(NamedTuple):
    """The two mappings of a group."""

    actuated_to_virtual: DerivedMapping
    virtual_to_actuated: DerivedMapping


def derived_mappings(
    robot: Robot,
    virtual: Joints | Sequence[Transformation],
    actuated: Mapping[str, str] | Sequence[str] | None = None,
    *,
    near: Mapping[str, float] | ArrayLike | None = None,
    follow: bool = True,
) -> DerivedMappings:
    """Both mappings of a group, from a robot of `linkwork` with loops.

    ``virtual``: the joint of the robot for each key of each transformation, ``{"gimbal": {"rx":
    "roll"}}``; or the virtual chain itself where the joints are named NAME_KEY. ``actuated``: the
    joint for each key of the actuated state, or the joints where these are the keys; by default the
    robot's actuated ones. ``near`` is where searches begin, an assembled configuration or positions
    by name; joints that are not named, and all by default, are at neutral. In a group that is set,
    they begin at its present state with ``follow``, so that it stays on its branch of assembly.

    Raises: UnknownNameError for joints; InputError where nothing is given or mapped, or the robot
    has no loops; WrongTypeError.
    """
    if not isinstance(robot, Robot):
        raise WrongTypeError(f"mappings are derived from a Robot, not from {type(robot).__name__}")
    loops = DerivedLoops(robot, _virtual(virtual), _actuated(robot, actuated), near)
    return DerivedMappings(
        DerivedMapping(loops, follow=follow, gives="virtual"),
        DerivedMapping(loops, follow=follow, gives="actuated"),
    )


class DerivedLoops:
    """A mechanism, which of its joints are virtual and which actuated, and where searches begin."""

    def __init__(
        self,
        robot: Robot,
        virtual: Mapping[tuple[str, str], str],
        actuated: Mapping[str, str],
        near: Mapping[str, float] | ArrayLike | None,
    ) -> None:
        m = robot.mechanism
        if not m.is_closed:
            raise InputError(
                f"'{m.name}' has no loops, so nothing can be derived: close them first"
            )
        self.robot, self.virtual, self.actuated = robot, dict(virtual), dict(actuated)
        for side, joints in (("virtual", self.virtual), ("actuated", self.actuated)):
            if not joints:
                raise InputError(f"no {side} joint of '{m.name}' is named")
            for name in joints.values():
                if m.joint_types[m.joint(name)].n_q != 1:
                    raise InputError(f"joint '{name}' of '{m.name}' has several positions")
        if near is None:
            near = robot.neutral()
        elif isinstance(near, Mapping):
            near = robot.configuration(near)
        self.near: Floats = real_array(near, "near").copy()
        if self.near.shape != (m.n_q,) or not np.isfinite(self.near).all():
            raise ShapeError(f"near takes {m.n_q} finite numbers, not {self.near.shape}")
        self.near.setflags(write=False)

    def place(self, joint: str) -> int:
        """The place of a joint's position in q."""
        m = self.robot.mechanism
        return m.q_slice(m.joint(joint)).start

    @cached_property
    def others(self) -> bool:
        """Whether there are joints in the loops that are neither virtual nor actuated."""
        named = {*self.virtual.values(), *self.actuated.values()}
        return not named.issuperset(self.robot.joint_names)

    def whole(self, q: Floats) -> Floats:
        """q with the joints that are neither virtual nor actuated as near to closed as can be."""
        if not self.others:
            return q
        joints = list(dict.fromkeys([*self.virtual.values(), *self.actuated.values()]))
        return self.robot.assembler(joints).solve(q[[self.place(n) for n in joints]], q).q


class DerivedMapping:
    """One of the two mappings: a function of a state, and of ``tips`` where searches begin.

    Tips hold all of the state that is looked for, and any of the other. Without them every call
    begins at the same configuration, so that it is a function of the state alone. The branch of
    assembly that is near to where it begins is kept; where there is none on the way the nearest of
    the others is taken. It may be shared by threads.

    Raises: UnknownKeyError, InputError; NotAssembledError (a RuntimeError and a ValueError) where
    the mechanism cannot be assembled, or not within its limits.
    """

    def __init__(
        self, loops: DerivedLoops, *, follow: bool, gives: Literal["virtual", "actuated"]
    ) -> None:
        self.loops, self.follow = loops, bool(follow)
        self.gives: Literal["virtual", "actuated"] = gives
        virtual = _Side(loops, list(loops.virtual), list(loops.virtual.values()))
        actuated = _Side(loops, [("", k) for k in loops.actuated], list(loops.actuated.values()))
        self._given, self._found = (
            (actuated, virtual) if gives == "virtual" else (virtual, actuated)
        )

    def __call__(self, state: Any, tips: Any = None) -> dict[str, Any]:
        """The other state at this one."""
        if tips is None:
            found = self._native(state)
            if found is not None:
                return found
        values = self._given.values(state)
        return self._found.made(self._assembled(values, self._start(tips, values)).tolist())

    def batch(
        self,
        states: ArrayLike,
        *,
        near: ArrayLike | None = None,
        on_bad: Literal["raise", "nan"] = "raise",
        threads: int = 1,
    ) -> Floats:
        """Many states at once: (..., n) in the order of `given` to (..., m) in that of `found`.

        ``near``: configurations (..., nq) of the mechanism where searches begin.

        Raises: ShapeError, InputError; NotAssembledError that names the first row that cannot be
        assembled, unless these are to be NaN.
        """
        rows = real_array(states, "states")
        start = self.loops.near if near is None else near
        result = self.solver.solve(rows, start, threads=threads)
        q, fine = result.q.reshape(-1, result.q.shape[-1]), np.ravel(result.success)
        flat = np.broadcast_to(rows, (*result.q.shape[:-1], rows.shape[-1]))
        flat = flat.reshape(-1, rows.shape[-1])
        for row in np.flatnonzero(~fine):
            try:
                q[row] = self._assembled(flat[row].tolist(), self.loops.near)
            except NotAssembledError as error:
                if on_bad == "raise":
                    raise NotAssembledError(f"row {row}: {error}") from None
                q[row] = np.nan
        return q[:, self._found.places].reshape(*result.q.shape[:-1], len(self._found.places))

    @property
    def given(self) -> tuple[str, ...]:
        """The columns that `batch` takes, virtual ones as JOINT_KEY."""
        return self._given.names

    @property
    def found(self) -> tuple[str, ...]:
        """The columns that `batch` gives."""
        return self._found.names

    @cached_property
    def solver(self) -> Assembly:
        """The core's solver for the joints that are not given."""
        return self.loops.robot.assembler(self._given.joints)

    @cached_property
    def _native(self) -> Callable[[Any], dict[str, Any] | None]:
        """The compiled call from dict to dict; None where the search from `near` fails."""
        given = self._given.parts(range(len(self._given.places)))
        found = self._found.parts(self._found.places)
        return self.solver.named(given, found, self.loops.near)

    def _start(self, tips: Any, values: Sequence[float]) -> Floats:
        """The configuration that a search for a state at ``values`` begins at."""
        if tips is None:
            return self.loops.near
        given = mapping_of(tips, "tips")
        q = self.loops.near.copy()
        q[self._found.places] = self._found.values(given, "tips")
        q[self._given.places] = (
            self._given.values(given, "tips") if self._given.there(given) else values
        )
        return self.loops.whole(q)

    def _assembled(self, values: Sequence[float], start: Floats) -> Floats:
        """q at the given values, near to the start."""
        rows = np.array(values)
        result = self.solver.solve(rows, start)
        if bool(result.success):
            return result.q
        others = self.solver.all_solutions(rows, start, starts=_STARTS).q
        if len(others):
            return others[0]
        shown = ", ".join(
            f"{name} = {value:.6g}" for name, value in zip(self._given.names, values, strict=True)
        )
        raise NotAssembledError(
            f"'{self.loops.robot.name}' cannot be assembled at {shown}: {result.reason}"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(DerivedMapping, follow=self.follow, gives=self.gives), (self.loops,)


class _Side:
    """The virtual or the actuated state: where its values stand in dicts, and in q."""

    def __init__(
        self, loops: DerivedLoops, keys: Sequence[tuple[str, str]], joints: Sequence[str]
    ) -> None:
        self.joints = tuple(joints)
        self.places = [loops.place(joint) for joint in joints]
        self.own: dict[str, tuple[str, ...]] = {}  # the keys of each transformation; "" for none
        for member, key in keys:
            self.own[member] = (*self.own.get(member, ()), key)
        self.names = tuple(actuated_key(m, k) if m else k for m, k in keys)

    def there(self, given: Mapping[Any, Any]) -> bool:
        """Whether a dict has anything of this state."""
        return any(name in given for name in (set(self.own) - {""} or self.names))

    def values(self, state: Any, what: str = "") -> list[float]:
        """The numbers of a state, in order.

        Raises: UnknownKeyError, InputError.
        """
        of = what or ("an actuated state" if "" in self.own else "a virtual state")
        given, found = mapping_of(state, of), []
        flat = len(self.own) == 1 and not any(member in given for member in self.own)
        for member, own in self.own.items():
            inner, name = given, of
            if member and not (what and flat):
                inner, name = (
                    mapping_of(given.get(member, {}), f"'{member}'"),
                    f"{of} of '{member}'",
                )
            for key in own:
                if key not in inner:
                    raise UnknownKeyError(f"key of {name}", key, [str(k) for k in inner])
                if is_symbol(inner[key]):
                    text = f"'{key}' is a symbol: a mapping that is derived takes numbers"
                    raise WrongTypeError(text)
                found.append(number(inner[key], key))
        return found

    def parts(self, places: Iterable[int]) -> list[Part]:
        """The keys of each transformation, with a place for each."""
        left = iter(places)
        return [
            Part(member or None, own, tuple(next(left) for _ in own))
            for member, own in self.own.items()
        ]

    def made(self, q: Sequence[float]) -> dict[str, Any]:
        """The state at q."""
        found: dict[str, Any] = {}
        for part in self.parts(self.places):
            own = {key: q[k] for key, k in zip(part.keys, part.places, strict=True)}
            found.update({part.member: own} if part.member else own)
        return found


def _virtual(given: Any) -> dict[tuple[str, str], str]:
    """The joint for each transformation and key."""
    if isinstance(given, Mapping):
        of = mapping_of(given, "virtual")
        return {
            (str(member), str(key)): str(joint)
            for member, own in of.items()
            for key, joint in mapping_of(own, f"the joints of '{member}'").items()
        }
    members: list[Any] = list(given) if isinstance(given, Iterable) else [given]
    if not all(isinstance(member, Transformation) for member in members):
        raise WrongTypeError("virtual takes a dict of joints, or a list of Transformations")
    return {
        (member.get_name(), key): actuated_key(member.get_name(), key)
        for member in members
        for key in member.states
    }


def _actuated(robot: Robot, given: Any) -> dict[str, str]:
    """The joint for each key of the actuated state."""
    if given is None:
        return {name: name for name in robot.actuated}
    if isinstance(given, Mapping):
        return {str(k): str(v) for k, v in mapping_of(given, "actuated").items()}
    names = [given] if isinstance(given, str) else list(given)
    return {str(name): str(name) for name in names}
