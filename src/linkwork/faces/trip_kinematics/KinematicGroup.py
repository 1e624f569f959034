"""Groups: an open chain that stands for a closed one, and the mappings to what is actuated."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from numpy.typing import NDArray

from linkwork.errors import InputError
from linkwork.faces.trip_kinematics.mappings import (
    DerivedLoops,
    DerivedMapping,
    GroupMapping,
    differ,
    joined,
    merged,
    parted,
)
from linkwork.faces.trip_kinematics.Transformation import Transformation, parent_name, product
from linkwork.faces.trip_kinematics.Utility import identity_transformation
from linkwork.faces.trip_kinematics.values import (
    MappingError,
    NamesOfModule,
    NotFiniteError,
    StateWarning,
    StaticGroupError,
    UnknownKeyError,
    Values,
    WrongTypeError,
    deep_copy,
    listed,
    mapping_of,
    number,
)

__all__ = [
    "KinematicGroup",
    "OpenKinematicGroup",
    "Transformation",
    "identity_transformation",
]


class Plan(NamedTuple):
    """A state that a group can take, checked and not yet taken."""

    virtual: dict[str, Values]
    actuated: Values


class KinematicGroup(metaclass=NamesOfModule):
    """An open chain of transformations, and the mappings between its state and an actuated one.

    ``virtual_chain`` has no branches; its order is free. The group takes copies: what happens to
    these transformations later does not touch it. Mappings are functions of a state (a dict), then
    of the arguments that are passed on; they give the other state. Both are called once here. With
    neither an actuated state nor mappings every state variable is actuated, as NAME_KEY.

    Raises: InputError (a ValueError) where the state or a mapping is missing, or the chain is none;
    MappingError (a RuntimeError) where a mapping gives other keys; WrongTypeError.
    """

    def __init__(
        self,
        name: str,
        virtual_chain: Sequence[Transformation],
        actuated_state: Mapping[str, float] | None = None,
        actuated_to_virtual: Callable[..., Any] | None = None,
        virtual_to_actuated: Callable[..., Any] | None = None,
        act_to_virt_args: Any = None,
        virt_to_act_args: Any = None,
        parent: Any = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise WrongTypeError(f"a group's name is a text, not {name!r:.40}")
        self._name = name
        self.members, below = _in_order(name, virtual_chain)
        above = parent_name(name, parent)
        if below is not None and above is not None and below != above:
            text = f"has the parent '{above}', and its chain begins on '{below}'"
            raise InputError(f"group '{name}' {text}")
        self.parent: str = name if above is None and below is None else str(above or below)
        self.children: list[str] = []
        self.virtual_keys = {t.get_name(): t.states for t in self.members.values() if t.states}
        functions = (actuated_to_virtual, virtual_to_actuated)
        _refuse_half_a_group(name, self.virtual_keys, actuated_state, functions)
        if actuated_state is None or actuated_to_virtual is None or virtual_to_actuated is None:
            self.mappings = (
                GroupMapping(partial(parted, self.virtual_keys), "an open group", closed=True),
                GroupMapping(joined, "an open group", closed=True),
            )
            self._actuated: Values = joined(self._virtual())
        else:
            given = mapping_of(actuated_state, f"the actuated state of group '{name}'")
            self._actuated = {key: number(v, f"'{name}' {key}") for key, v in given.items()}
            what = f"group '{name}'"
            self.mappings = (
                GroupMapping(actuated_to_virtual, f"{what}: actuated_to_virtual", act_to_virt_args),
                GroupMapping(virtual_to_actuated, f"{what}: virtual_to_actuated", virt_to_act_args),
            )
            self._try_mappings()
        if parent is not None:
            parent.add_children(name)

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        kind = type(self).__name__
        return f"{kind}('{self._name}', {list(self.members)}, {self._actuated})"

    @staticmethod
    def object_list_to_key_lists(object_lst: Mapping[str, Any]) -> list[str]:
        """The keys of a dict as a list."""
        return list(object_lst.keys())

    def get_name(self) -> str:
        """The name."""
        return self._name

    def add_children(self, child: str) -> None:
        """Note the name of a transformation or group that starts where this one ends."""
        self.children.append(child)

    def get_virtual_chain(self) -> dict[str, Transformation]:
        """Copies of the transformations by name, from the first to the last."""
        return copy.deepcopy(self.members)

    def get_virtual_state(self) -> dict[str, Values]:
        """A copy of the state of each joint of the chain."""
        return self._virtual()

    def get_actuated_state(self) -> Values | None:
        """A copy of the actuated state; None where nothing moves."""
        return dict(self._actuated) if self.virtual_keys else None

    @property
    def virtual_state(self) -> dict[str, Values]:
        """A copy of the virtual state; setting it is `set_virtual_state`."""
        return self._virtual()

    @virtual_state.setter
    def virtual_state(self, state: Mapping[str, Mapping[str, float]]) -> None:
        self.set_virtual_state(state)

    @property
    def actuated_state(self) -> Values | None:
        """A copy of the actuated state; setting it is `set_actuated_state`."""
        return self.get_actuated_state()

    @actuated_state.setter
    def actuated_state(self, state: Mapping[str, float]) -> None:
        self.set_actuated_state(state)

    def get_transformation_matrix(self) -> NDArray[Any]:
        """The matrix (4, 4) from the start of the chain to its end, at the present state."""
        return product(list(self.members.values()))

    def set_actuated_state(self, state: Mapping[str, float]) -> None:
        """Change some or all actuated values; the virtual state follows.

        Where the mapping fails, or a key or a value is wrong, nothing changes.

        Raises: StaticGroupError (a RuntimeError) where nothing moves; UnknownKeyError (a ValueError
        and a KeyError); InputError; MappingError; whatever the mapping raises.
        """
        self.take(self.plan_actuated(state))

    def set_virtual_state(self, state: Mapping[str, Mapping[str, float]]) -> None:
        """Change some or all values of joints; the actuated state follows.

        Where the mapping fails, or a key or a value is wrong, nothing changes.

        Raises: as `set_actuated_state`.
        """
        self.take(self.plan_virtual(state))

    def pass_arg_a_to_v(self, argv: Any) -> None:
        """From now on give these arguments to actuated_to_virtual, behind the state."""
        self.mappings[0].pass_on(argv)

    def pass_arg_v_to_a(self, argv: Any) -> None:
        """From now on give these arguments to virtual_to_actuated, behind the state."""
        self.mappings[1].pass_on(argv)

    # what robots and solvers ask for

    @property
    def loops(self) -> DerivedLoops | None:
        """The loops that both mappings are derived from; None where they are not."""
        first, second = (mapping.function for mapping in self.mappings)
        if not (isinstance(first, DerivedMapping) and isinstance(second, DerivedMapping)):
            return None
        return first.loops if first.loops is second.loops else None

    @property
    def actuated_keys(self) -> tuple[str, ...]:
        """The keys of the actuated state."""
        return tuple(self._actuated)

    def plan_actuated(self, state: Any) -> Plan:
        """The state that `set_actuated_state` would come to.

        Raises: as it does.
        """
        self._refuse_static()
        actuated = merged(self._actuated, state, f"actuated state of group '{self._name}'")
        return Plan(
            self.mappings[0].virtual(actuated, self.virtual_keys, self._present()), actuated
        )

    def plan_virtual(self, state: Any, begin: Values | None = None) -> Plan:
        """The state that `set_virtual_state` would come to.

        ``begin``: the actuated state that a mapping which follows goes from, in the place of the
        present state.

        Raises: as it does.
        """
        self._refuse_static()
        given = mapping_of(state, f"a virtual state of group '{self._name}'")
        virtual = self._virtual()
        for joint, changes in given.items():
            if joint not in virtual:
                raise UnknownKeyError(f"joint of group '{self._name}'", joint, list(virtual))
            virtual[joint].update(self.members[joint].checked(changes))
        present = self._present() if begin is None else {**begin, **virtual}
        return Plan(virtual, self.mappings[1].actuated(virtual, self._actuated, present))

    def take(self, plan: Plan) -> None:
        """Take a state that was planned."""
        for joint, values in plan.virtual.items():
            self.members[joint].set_state(values)
        self._actuated = dict(plan.actuated)

    def _virtual(self) -> dict[str, Values]:
        return {joint: self.members[joint].get_state() for joint in self.virtual_keys}

    def _present(self) -> dict[str, Any]:
        return {**self._actuated, **self._virtual()}

    def _refuse_static(self) -> None:
        if not self.virtual_keys:
            raise StaticGroupError(
                f"group '{self._name}' has no state: none of its transformations "
                f"({listed(self.members)}) has state variables"
            )

    def _try_mappings(self) -> None:
        """Call both mappings with the state that there is, and compare what they give with it.

        Values that are not finite are no error yet: the state that a group is made with is often
        none that the mechanism can have.
        """
        virtual, actuated = self._virtual(), self._actuated
        far = False
        for gives, wanted in (
            (lambda: self.mappings[0].virtual(actuated, self.virtual_keys), virtual),
            (lambda: self.mappings[1].actuated(virtual, actuated), actuated),
        ):
            try:
                far = differ(gives(), wanted) or far
            except MappingError as error:
                if not isinstance(error.__cause__, NotFiniteError):
                    raise
                far = True
        if far:
            text = (
                f"the virtual and the actuated state that group '{self._name}' is made with do not "
                "agree: set one of them (set_virtual_state or set_actuated_state) before use"
            )
            warnings.warn(text, StateWarning, stacklevel=3)

    def __copy__(self) -> KinematicGroup:
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made.members = {name: copy.copy(member) for name, member in self.members.items()}
        made._actuated = dict(self._actuated)
        made.mappings = copy.copy(self.mappings[0]), copy.copy(self.mappings[1])
        made.children = list(self.children)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> KinematicGroup:
        # mappings share what is compiled for them
        made = deep_copy(self, ("members", "mappings", "children", "_actuated"), memo)
        made.members = copy.deepcopy(self.members, memo)
        return made


class OpenKinematicGroup(KinematicGroup):
    """A group in which every state variable is actuated, under the name NAME_KEY."""

    def __init__(
        self, name: str, virtual_chain: Sequence[Transformation], parent: Any = None
    ) -> None:
        super().__init__(name, virtual_chain, parent=parent)


def open_group_of(member: Transformation) -> OpenKinematicGroup:
    """The group of a transformation alone; the transformation stays as it is."""
    group = OpenKinematicGroup(member.get_name(), [member])
    group.parent = member.parent
    group.children = list(member.children)
    return group


def _in_order(name: str, chain: Any) -> tuple[dict[str, Transformation], str | None]:
    """Copies of the members of a chain, from the first to the last; and what the first stands on.

    Raises: WrongTypeError, InputError.
    """
    what = f"the virtual chain of group '{name}'"
    members = _members_of(name, what, chain)
    above: dict[str, str] = {}
    starts: list[str] = []
    for key, member in members.items():
        if member.parent == key or member.parent not in members:
            starts.append(key)
            continue
        other = above.setdefault(member.parent, key)
        if other != key:
            text = f"'{member.parent}' carries '{other}' and '{key}'"
            raise InputError(f"{what} must be one open chain: {text}")
    if len(starts) != 1:
        text = f"one stands on none of the others, not {listed(starts)}"
        raise InputError(f"{what} must be one open chain: {text}")
    order = starts
    while order[-1] in above:
        order.append(above[order[-1]])
    if len(order) != len(members):
        lost = listed(key for key in members if key not in order)
        raise InputError(f"group '{name}': {lost} stand on each other, and not on '{order[0]}'")
    first = members[order[0]]
    below = None if first.parent == order[0] else first.parent
    return {key: members[key] for key in order}, below


def _members_of(name: str, what: str, chain: Any) -> dict[str, Transformation]:
    if isinstance(chain, Transformation) or not isinstance(chain, Iterable):
        raise WrongTypeError(f"{what} is a list of Transformations")
    members: dict[str, Transformation] = {}
    for member in chain:
        if not isinstance(member, Transformation):
            raise WrongTypeError(f"{what} has a {type(member).__name__} in it")
        if member.get_name() in members:
            raise InputError(f"group '{name}': two transformations are named '{member}'")
        members[member.get_name()] = copy.copy(member)
    if not members:
        raise InputError(f"{what} is empty")
    return members


def _refuse_half_a_group(
    name: str, keys: Mapping[str, Any], state: Any, functions: tuple[Any, Any]
) -> None:
    """The original's rules of what must be given together."""
    count = sum(function is not None for function in functions)
    if state is None and not count:
        return
    if not keys:
        text = (
            " is static, none of its transformations has state variables: it takes neither an "
            "actuated state nor mappings"
        )
    elif state is None:
        text = ": Actuated state is missing. There is a mapping, and no state for it"
    elif not count:
        text = (
            ": Mappings missing. There is an actuated state without mappings; leave it out as well "
            "for one value for each state variable"
        )
    elif count == 1:
        text = ": Only one mapping provided. Give both actuated_to_virtual and virtual_to_actuated"
    else:
        return
    raise InputError(f"group '{name}'{text}")
