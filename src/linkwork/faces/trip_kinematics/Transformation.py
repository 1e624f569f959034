"""One edge of the tree of frames: a rotation and a translation, fixed or with a state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any, cast

from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.trip_kinematics.Utility import (
    hom_translation_matrix,
    quat_rotation_matrix,
    x_axis_rotation_matrix,
    y_axis_rotation_matrix,
    z_axis_rotation_matrix,
)
from linkwork.faces.trip_kinematics.values import (
    QUATERNION,
    NamesOfModule,
    UnknownKeyError,
    Values,
    WrongTypeError,
    computed,
    deep_copy,
    listed,
    mapping_of,
    number,
    quaternion_of,
)
from linkwork.ops import Ops
from linkwork.spatial import rotations
from linkwork.spatial.poses import Pose, compose, to_matrix

__all__ = [
    "EULER_ORDERS",
    "Transformation",
    "array_find",
    "hom_translation_matrix",
    "quat_rotation_matrix",
    "use_euler",
    "x_axis_rotation_matrix",
    "y_axis_rotation_matrix",
    "z_axis_rotation_matrix",
]

TRANSLATION = ("tx", "ty", "tz")
EULER = ("rx", "ry", "rz")
KEYS = (*TRANSLATION, *EULER, *QUATERNION)
EULER_ORDERS = {"xyz": ("rx", "ry", "rz"), "rpy": ("rz", "ry", "rx")}
"""The rotations that are multiplied, from left to right."""
_order = ["xyz"]


def use_euler(order: str) -> str:
    """Let transformations made from now on take Euler angles in this order; gives the one before.

    "xyz" is Rx Ry Rz: first about x, then about y, then about z, each about the axes as turned so
    far. "rpy" is Rz Ry Rx, the matrix that the original's documentation prints.

    Raises: InputError for another order.
    """
    before, _order[0] = _order[0], _known_order(order)
    return before


def _known_order(order: Any) -> str:
    if not isinstance(order, str) or order not in EULER_ORDERS:
        raise InputError(f"the order of Euler angles is 'xyz' or 'rpy', not {order!r:.40}")
    return order


def array_find(arr: Iterable[Any], obj: Any) -> int:
    """The index of an object in an array, -1 where it is not there."""
    for index, other in enumerate(arr):
        if other is obj or other == obj:
            return index
    return -1


class Transformation(metaclass=NamesOfModule):
    """A rotation about, then a translation along the axes of the parent's frame.

    ``values``: metres ``tx ty tz``, with angles ``rx ry rz`` (rad) or a quaternion ``qw qx qy qz``
    (of any length: only its direction counts, and none at all is no rotation); what is not given is
    0. The keys in ``state_variables`` can be changed later. Without ``parent`` it stands on the
    ground. ``euler`` is the order of the angles: see `use_euler`.

    Raises: InputError (a ValueError) for a key that is none, for angles beside a quaternion, for a
    state variable without a value; WrongTypeError for a parent that is none.
    """

    def __init__(
        self,
        name: str,
        values: Mapping[str, float],
        state_variables: Sequence[str] | None = None,
        parent: Any = None,
        *,
        euler: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise WrongTypeError(f"a transformation's name is a text, not {name!r:.40}")
        given = mapping_of(values, f"the values of transformation '{name}'")
        self.convention = Transformation.get_convention(given)
        states = _states_of(name, state_variables, given)
        above = parent_name(name, parent)
        self._name = name
        self._euler = _known_order(_order[0] if euler is None else euler)
        self._values: Values = {
            key: number(value, f"'{name}' {key}") for key, value in given.items()
        }
        self._states = tuple(key for key in self._values if key in states)
        self.children: list[str] = []
        self.parent: str = name if above is None else above
        if parent is not None:
            parent.add_children(name)

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"Transformation('{self._name}', {self._values}, {list(self._states)})"

    @staticmethod
    def get_convention(state: Mapping[str, Any]) -> str:
        """The convention of these keys: "euler" where there is an angle, "quaternion".

        Raises: InputError for a key that is none, or for keys of both.
        """
        strange = [key for key in state if key not in KEYS]
        if strange:
            raise InputError(f"Invalid key: {listed(strange)}; a transformation has {listed(KEYS)}")
        angles = [key for key in state if key in EULER]
        parts = [key for key in state if key in QUATERNION]
        if angles and parts:
            raise InputError(
                "State can't have euler angles and quaternions! "
                f"There are {listed(angles)} and {listed(parts)}: give one kind"
            )
        return "euler" if angles else "quaternion"

    def get_name(self) -> str:
        """The name."""
        return self._name

    def get_state(self) -> Values:
        """A copy of the values that can be changed."""
        return {key: self._values[key] for key in self._states}

    def set_state(self, state: Mapping[str, float]) -> None:
        """Change some or all values of the state; all of them or, where one is wrong, none.

        Raises: UnknownKeyError (a KeyError) for a key that is not of the state; InputError for a
        value that is not finite.
        """
        self._values.update(self.checked(state))

    def checked(self, state: Any) -> Values:
        """Changes of the state, with their values as they are kept.

        Raises: as `set_state`.
        """
        given = mapping_of(state, f"a state of transformation '{self._name}'")
        for key in given:
            if key not in self._states:
                raise UnknownKeyError(f"state variable of '{self._name}'", key, self._states)
        return {key: number(value, f"'{self._name}' {key}") for key, value in given.items()}

    def get_transformation_matrix(self) -> NDArray[Any]:
        """The matrix (4, 4) of the present state: floats, or objects where a value is a symbol."""
        return product([self])

    def add_children(self, child: str) -> None:
        """Note the name of a transformation or group that starts here."""
        self.children.append(child)

    def pose(self, o: Ops, values: Mapping[str, Any]) -> Pose:
        """The pose in the parent's frame where its values are these, numbers or scalar blocks."""
        p = o.vector([values.get(key, 0.0) for key in TRANSLATION])
        if self.convention == "quaternion":
            return Pose(rotations.from_quaternion(o, o.vector(quaternion_of(values))), p)
        turns = {"rx": rotations.rotation_x, "ry": rotations.rotation_y, "rz": rotations.rotation_z}
        first, second, third = (
            turns[key](o, values.get(key, 0.0)) for key in EULER_ORDERS[self._euler]
        )
        return Pose(first @ second @ third, p)

    @property
    def values(self) -> Values:
        """A copy of all values, constants and state."""
        return dict(self._values)

    @property
    def states(self) -> tuple[str, ...]:
        """The keys that can be changed, in the order of the values."""
        return self._states

    @property
    def euler(self) -> str:
        """The order of the Euler angles."""
        return self._euler

    def __copy__(self) -> Transformation:
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made._values = dict(self._values)
        made.children = list(self.children)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Transformation:
        return deep_copy(self, ("_values", "children"), memo)


def product(members: Sequence[Transformation]) -> NDArray[Any]:
    """The matrix (4, 4) of transformations one behind the other, at their present states."""
    owners = [(place, key) for place, member in enumerate(members) for key in member.values]

    def matrix(o: Ops, *numbers: Any) -> Any:
        values: list[Values] = [{} for _ in members]
        for (place, key), value in zip(owners, numbers, strict=True):
            values[place][key] = value
        poses = [member.pose(o, own) for member, own in zip(members, values, strict=True)]
        return to_matrix(o, reduce(lambda a, b: compose(o, a, b), poses))

    return computed(matrix, *(members[place].values[key] for place, key in owners))


def parent_name(name: str, parent: Any) -> str | None:
    """The name of what a transformation or a group stands on, None for the ground.

    Raises: WrongTypeError for what is neither a transformation nor a group.
    """
    if parent is None:
        return None
    if not (hasattr(parent, "add_children") and hasattr(parent, "get_transformation_matrix")):
        kind = type(parent).__name__
        raise WrongTypeError(
            f"the parent of '{name}' is a Transformation or a KinematicGroup, not {kind}"
        )
    return str(parent.get_name())


def _states_of(name: str, states: Any, values: Mapping[str, Any]) -> tuple[str, ...]:
    if states is None:
        return ()
    if isinstance(states, str) or not isinstance(states, Iterable):
        raise WrongTypeError(f"state_variables of '{name}' is a list of keys, not {states!r:.40}")
    found = tuple(cast("Iterable[str]", states))
    strange = [key for key in found if key not in values]
    if strange:
        raise InputError(
            f"state variables of '{name}' without a value: {listed(strange)}; "
            f"its values are {listed(values)}"
        )
    return found


def zeros(states: Iterable[str]) -> Values:
    """The state that a search starts from: zeros, and the quaternion that does not turn."""
    return {key: 1.0 if key == "qw" else 0.0 for key in states}
