"""The two functions that turn the actuated state of a group into the virtual one, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from linkwork.errors import InputError
from linkwork.faces.trip_kinematics.mistakes import (
    MappingError,
    UnknownKeyError,
    WrongTypeError,
    listed,
)
from linkwork.faces.trip_kinematics.values import Values, copied, mapping_of, number

Keys = Mapping[str, Sequence[str]]
"""The keys of each joint that has a state."""
_ALIKE = 1.0e-6


class Following:
    """A mapping that takes, behind the state, the state of a group to go from."""

    follow: bool = True

    def __call__(self, state: Any, tips: Any = None) -> dict[str, Any]:
        """The other state at this one."""
        raise NotImplementedError(type(self).__name__)


class UserMapping:
    """A function of a program: it is given copies, and what it gives is checked.

    ``passed`` are arguments behind the state, the same in every call until they are replaced.
    """

    def __init__(self, function: Callable[..., Any], what: str, passed: Any) -> None:
        if not callable(function):
            raise WrongTypeError(f"{what} is a function, not {type(function).__name__}")
        self.function, self.what = function, what
        self.passed: tuple[Any, ...] = ()
        self.pass_on(passed)

    def pass_on(self, arguments: Any) -> None:
        """Replace the arguments behind the state; None for no arguments.

        Raises: WrongTypeError for what is no list.
        """
        if arguments is None:
            self.passed = ()
        elif isinstance(arguments, (str, Mapping)) or not isinstance(arguments, Iterable):
            kind = type(arguments).__name__
            raise WrongTypeError(f"the arguments of {self.what} are a list, not {kind}")
        else:
            self.passed = tuple(arguments)

    def __copy__(self) -> UserMapping:
        return UserMapping(self.function, self.what, self.passed)

    def virtual(
        self, actuated: Values, keys: Keys, present: Mapping[str, Any] | None = None
    ) -> dict[str, Values]:
        """The virtual state of an actuated one; ``present``: as for `raw`.

        Raises: MappingError where the function gives no finite state of the chain, and whatever
        the function itself raises.
        """
        return virtual_state(self.raw(dict(actuated), present), keys, self.what)

    def actuated(
        self,
        virtual: Mapping[str, Values],
        keys: Iterable[str],
        present: Mapping[str, Any] | None = None,
    ) -> Values:
        """The actuated state of a virtual one.

        Raises: as `virtual`.
        """
        return actuated_state(self.raw(copied(virtual), present), keys, self.what)

    def raw(self, state: Any, present: Mapping[str, Any] | None = None) -> Any:
        """What the function gives for a state.

        ``present`` is the state there is, both sides: one that is derived goes from there, where it
        is meant to follow and no arguments have been passed.
        """
        follows = isinstance(self.function, Following) and self.function.follow
        if follows and present is not None and not self.passed:
            return self.function(state, present)
        return self.function(state, *self.passed)


class OpenMapping:
    """The mappings of a group in which every state variable is actuated, under NAME_KEY."""

    passed: tuple[Any, ...] = ()

    def pass_on(self, arguments: Any) -> None:
        """Take no arguments.

        Raises: InputError where there are some.
        """
        if arguments is not None and len(arguments):
            raise InputError("an open chain has no mapping that takes arguments")

    def __copy__(self) -> OpenMapping:
        return OpenMapping()

    def virtual(
        self, actuated: Values, keys: Keys, present: Mapping[str, Any] | None = None
    ) -> dict[str, Values]:
        """The virtual state of an actuated one."""
        return {
            joint: {key: actuated[actuated_key(joint, key)] for key in own}
            for joint, own in keys.items()
        }

    def actuated(
        self,
        virtual: Mapping[str, Values],
        keys: Iterable[str],
        present: Mapping[str, Any] | None = None,
    ) -> Values:
        """The actuated state of a virtual one."""
        return {
            actuated_key(joint, key): value
            for joint, own in virtual.items()
            for key, value in own.items()
        }


AnyMapping = UserMapping | OpenMapping


def actuated_key(joint: str, key: str) -> str:
    """The name of an actuated value that is a state variable itself."""
    return f"{joint}_{key}"


def checked_keys(found: Any, wanted: Iterable[str], what: str) -> dict[Any, Any]:
    """A dict with exactly these keys, in any order.

    Raises: MappingError.
    """
    names = list(wanted)
    if not isinstance(found, Mapping):
        raise MappingError(f"{what} gave {type(found).__name__}, not a dict with {listed(names)}")
    given = mapping_of(found, what)
    if set(given) != set(names):
        raise MappingError(f"{what} gave the keys {listed(given)}; the state has {listed(names)}")
    return given


def virtual_state(found: Any, keys: Keys, what: str) -> dict[str, Values]:
    """What an actuated_to_virtual function gave, as a state.

    Raises: MappingError.
    """
    joints = checked_keys(found, keys, f"{what} does not fit virtual state: it")
    return {
        joint: _numbers(joints[joint], own, f"{what} does not fit virtual state: for '{joint}' it")
        for joint, own in keys.items()
    }


def actuated_state(found: Any, keys: Iterable[str], what: str) -> Values:
    """What a virtual_to_actuated function gave, as a state.

    Raises: MappingError.
    """
    return _numbers(found, list(keys), f"{what} does not fit actuated state: it")


def _numbers(found: Any, keys: Sequence[str], what: str) -> Values:
    given = checked_keys(found, keys, what)
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
