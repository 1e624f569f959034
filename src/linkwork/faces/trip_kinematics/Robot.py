"""Robots made of groups and transformations, and where their frames are."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import UnsupportedFeatureError
from linkwork.faces.trip_kinematics.core import Core, Slot
from linkwork.faces.trip_kinematics.KinematicGroup import (
    KinematicGroup,
    OpenKinematicGroup,
    open_group_of,
)
from linkwork.faces.trip_kinematics.mappings import actuated_key
from linkwork.faces.trip_kinematics.Transformation import Transformation
from linkwork.faces.trip_kinematics.Utility import identity_transformation
from linkwork.faces.trip_kinematics.values import (
    NameClashError,
    NamesOfModule,
    UnknownKeyError,
    Values,
    WrongTypeError,
    as_array,
    as_sx,
    deep_copy,
    listed,
    mapping_of,
    symbol,
    unpacking,
)
from linkwork.robot import Robot as CoreRobot

__all__ = [
    "KinematicGroup",
    "OpenKinematicGroup",
    "Robot",
    "Transformation",
    "forward_kinematics",
    "identity_transformation",
]


class Robot(metaclass=NamesOfModule):
    """A tree of groups and transformations, in any order of the list.

    A transformation becomes a group of its own, with copies of what it says, and stays as it is; a
    group that is given is the robot's, so that its state set there is the robot's state.

    Raises: NameClashError (a KeyError) for actuated values, transformations or groups of one name;
    UnknownKeyError for a parent that is not in the list; WrongTypeError.
    """

    def __init__(self, kinematic_chain: Sequence[KinematicGroup | Transformation]) -> None:
        self._groups = {
            group.get_name(): group for group in _parents_first(_groups_of(kinematic_chain))
        }
        self._members = _members_of(self._groups)
        self._core = Core(self._groups.values())
        self._symbols: dict[tuple[str, str], Any] = {}
        self._closed: dict[tuple[str, ...], Core] = {}

    def __repr__(self) -> str:
        return f"Robot({list(self._groups)})"

    def get_groups(self) -> dict[str, KinematicGroup]:
        """Copies of the groups by name; transformations are groups of their own."""
        return copy.deepcopy(self._groups)

    def get_endeffectors(self) -> list[str]:
        """The names of all groups: the frames at their ends can be asked for."""
        return list(self._groups)

    def get_actuated_state(self) -> Values:
        """The actuated state of all groups."""
        found: Values = {}
        for group in self._groups.values():
            found.update(group.get_actuated_state() or {})
        return found

    def get_virtual_state(self) -> dict[str, Values]:
        """The state of all joints."""
        found: dict[str, Values] = {}
        for group in self._groups.values():
            found.update(group.get_virtual_state())
        return found

    def set_actuated_state(self, state: Mapping[str, float]) -> None:
        """Change some or all actuated values, of any groups; the virtual state follows.

        Only the mappings of these groups are called. Where one fails, nothing changes.

        Raises: UnknownKeyError (a KeyError), InputError, MappingError, what a mapping raises.
        """
        given = mapping_of(state, "an actuated state")
        owner = {key: g for g in self._groups.values() for key in g.actuated_keys}
        shares: dict[str, Values] = {}
        for key, value in given.items():
            if key not in owner:
                raise UnknownKeyError("actuated state", key, list(owner))
            shares.setdefault(owner[key].get_name(), {})[key] = value
        groups = self._groups
        for name, plan in [(n, groups[n].plan_actuated(s)) for n, s in shares.items()]:
            groups[name].take(plan)

    def set_virtual_state(self, state: Mapping[str, Mapping[str, float]]) -> None:
        """Change some or all values of joints, of any groups; the actuated state follows.

        Raises: as `set_actuated_state`.
        """
        self.take_from(state, {})

    def take_from(
        self, state: Mapping[str, Mapping[str, float]], begin: Mapping[str, Values]
    ) -> None:
        """As `set_virtual_state`; mappings that follow go from actuated states of their groups.

        Raises: as `set_actuated_state`.
        """
        shares: dict[str, dict[str, Any]] = {}
        for joint, values in mapping_of(state, "a virtual state").items():
            found = self._members.get(joint)
            if found is None or not found[1].states:
                valid = [name for name, (_, member) in self._members.items() if member.states]
                raise UnknownKeyError("joint", joint, valid)
            shares.setdefault(found[0].get_name(), {})[joint] = values
        groups = self._groups
        for name, plan in [(n, groups[n].plan_virtual(s, begin.get(n))) for n, s in shares.items()]:
            groups[name].take(plan)

    def pass_group_arg_a_to_v(self, argv_dict: Mapping[str, Any]) -> None:
        """Give arguments to the actuated_to_virtual mappings of the groups named.

        Raises: UnknownKeyError (a KeyError); then no group has got any.
        """
        self._pass_on(argv_dict, 0)

    def pass_group_arg_v_to_a(self, argv_dict: Mapping[str, Any]) -> None:
        """Give arguments to the virtual_to_actuated mappings of the groups named.

        Raises: UnknownKeyError (a KeyError); then no group has got any.
        """
        self._pass_on(argv_dict, 1)

    def get_symbolic_rep(self, endeffector: str, *, actuated: bool = False) -> Any:
        """The pose (4, 4) of an end effector as a CasADi SX of the virtual state.

        Its symbols are named JOINT_KEY; ``casadi.symvar`` lists them, and `get_symbols` gives
        each by its name. All end effectors of a robot have the same symbols. It also unpacks
        into ``pose, symbols, keys``, as what the original's code gives: ``keys`` has [joint, key]
        for each symbol, from the base to the end effector.

        With ``actuated`` it is one of the actuated state, with symbols named as its keys: this
        calls actuated_to_virtual with symbols, and takes mappings that compute with CasADi's
        functions or with NumPy's.

        Raises: UnknownKeyError (a KeyError) with the names that there are;
        UnsupportedFeatureError for a mapping that takes no symbols.
        """
        frame = self._core.frame(endeffector)
        needed = self._core.on_the_way(frame)
        if actuated:
            return self._fk(frame, self._actuated_symbols(needed))
        moving = [s for s in needed if s.key in self._members[s.member][1].states]
        symbols = [self._symbol(slot.member, slot.key) for slot in moving]
        values = self._values()
        for slot, own in zip(moving, symbols, strict=True):
            values[slot.member][slot.key] = own
        pose = self._fk(frame, values)
        return unpacking(pose, symbols, [[slot.member, slot.key] for slot in moving])

    def get_symbols(self) -> dict[str, Any]:
        """The symbols of the virtual state by their names, JOINT_KEY."""
        slots = self._core.slots
        return {actuated_key(s.member, s.key): self._symbol(s.member, s.key) for s in slots}

    # what solvers ask for

    @property
    def core(self) -> Core:
        """The robot of `linkwork` and where values stand in its q."""
        return self._core

    @property
    def members(self) -> dict[str, Transformation]:
        """The transformations of all groups by name, themselves."""
        return {name: member for name, (_, member) in self._members.items()}

    def closed_core(self, frame: str | None = None) -> Core:
        """`core` with the loops of the groups up to a frame (all) whose mappings are derived."""
        slots = self._core.slots if frame is None else self._core.on_the_way(frame)
        groups = {g.get_name(): g for slot in slots for g in [self._members[slot.member][0]]}
        closures = {name: g.loops for name, g in groups.items() if g.loops is not None}
        if not closures:
            return self._core
        names = tuple(closures)
        if names not in self._closed:
            made = Core(self._groups.values(), closures)
            self._closed.setdefault(names, made)
        return self._closed[names]

    def to_linkwork(self, *, closed: bool = False) -> CoreRobot:
        """The robot of `linkwork` of the virtual chains: a joint for each state variable.

        With ``closed`` the mechanisms that mappings are derived from stand beside them with their
        loops; their actuated joints have the names of the actuated state, and are its `actuated`
        together with the joints of all other groups.
        """
        if not closed:
            return self._core.robot
        core = self.closed_core()
        driven = [
            name
            for group in self._groups.values()
            for name in (
                core.actuated[group.get_name()].values()
                if group.get_name() in core.actuated
                else core.joints_of(group.members)
            )
        ]
        return core.robot.with_actuated(driven) if core.robot.loops else core.robot

    def configuration(self) -> Any:
        """q of `to_linkwork` at the present state, an array; a list where a value is a symbol."""
        return self._core.configuration(self._values())

    def fk(self, frame: str) -> NDArray[Any]:
        """The pose (4, 4) of a frame at the present state."""
        q = self.configuration()
        if isinstance(q, np.ndarray):
            return self._core.robot.fk(q, frame)
        return as_array(self._fk(frame, self._values()))

    def _values(self) -> dict[str, Values]:
        return {name: member.values for name, (_, member) in self._members.items()}

    def _fk(self, frame: str, values: Mapping[str, Mapping[str, Any]]) -> Any:
        """The pose as one SX."""
        q = self._core.configuration(values)
        return self._core.robot.symbolic("fk", frame)(as_sx([[value] for value in q]))

    def _symbol(self, member: str, key: str) -> Any:
        found = self._symbols.get((member, key))
        if found is None:
            found = self._symbols[member, key] = symbol(actuated_key(member, key))
        return found

    def _actuated_symbols(self, needed: Iterable[Slot]) -> dict[str, Values]:
        values = self._values()
        for group in {id(g): g for s in needed for g in [self._members[s.member][0]]}.values():
            symbols = {key: symbol(key) for key in group.actuated_keys}
            try:
                virtual = group.mappings[0].virtual(symbols, group.virtual_keys)
            except Exception as error:
                raise UnsupportedFeatureError(
                    f"actuated_to_virtual of group '{group}' takes no symbols of CasADi "
                    f"({type(error).__name__}: {error}): compute with functions that CasADi or "
                    "NumPy have, without branches on values and without solvers"
                ) from error
            for joint, own in virtual.items():
                values[joint].update(own)
        return values

    def _pass_on(self, argv_dict: Any, which: int) -> None:
        given = mapping_of(argv_dict, "the arguments of groups")
        for name in given:
            if name not in self._groups:
                raise UnknownKeyError("group", name, list(self._groups))
        before = {name: self._groups[name].mappings[which].passed for name in given}
        try:
            for name, arguments in given.items():
                self._groups[name].mappings[which].pass_on(arguments)
        except Exception:
            for name, arguments in before.items():
                self._groups[name].mappings[which].pass_on(arguments)
            raise

    def __copy__(self) -> Robot:
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        made._groups = {name: copy.copy(group) for name, group in self._groups.items()}
        made._members = _members_of(made._groups)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Robot:
        # what is compiled, and symbols, are shared
        made = deep_copy(self, ("_groups", "_members", "_core", "_symbols", "_closed"), memo)
        made._groups = copy.deepcopy(self._groups, memo)
        made._members = _members_of(made._groups)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """The state for a pickle: all but the symbols, which CasADi does not pickle."""
        return {**vars(self), "_symbols": {}}


def forward_kinematics(robot: Robot, endeffector: str) -> NDArray[Any]:
    """The pose (4, 4) of an end effector in the base frame, at the robot's present state.

    Raises: UnknownKeyError (a KeyError) with the names that there are; WrongTypeError.
    """
    if not isinstance(robot, Robot):
        raise WrongTypeError(f"forward_kinematics takes a Robot, not {type(robot).__name__}")
    return robot.fk(robot.core.frame(endeffector))


def _members_of(
    groups: Mapping[str, KinematicGroup],
) -> dict[str, tuple[KinematicGroup, Transformation]]:
    return {n: (group, member) for group in groups.values() for n, member in group.members.items()}


def _groups_of(chain: Any) -> list[KinematicGroup]:
    """The groups of a robot's parts; no two have a name in common."""
    if isinstance(chain, (KinematicGroup, Transformation)) or not isinstance(chain, Iterable):
        raise WrongTypeError("a Robot is made of a list of KinematicGroups and Transformations")
    groups: list[KinematicGroup] = []
    for part in chain:
        if isinstance(part, Transformation):
            groups.append(open_group_of(part))
        elif isinstance(part, KinematicGroup):
            groups.append(part)
        else:
            kind = type(part).__name__
            raise WrongTypeError(f"a Robot is made of groups and transformations, not of {kind}")

    owners: dict[tuple[str, str], KinematicGroup] = {}
    for group in groups:
        frames = {group.get_name(), *group.members}
        pairs = [("frame", name) for name in frames]
        for kind, name in [*pairs, *(("actuated value", key) for key in group.actuated_keys)]:
            other = owners.setdefault((kind, name), group)
            if other is not group:
                more = "More than one robot actuator has the same name! "
                raise NameClashError(
                    f"{more if kind == 'actuated value' else ''}groups '{other}' and '{group}' "
                    f"both have the {kind} '{name}': give each a unique name"
                )
    if len({id(group) for group in groups}) != len(groups):
        raise NameClashError("a group is in the list of the robot twice")
    return groups


def _parents_first(groups: Sequence[KinematicGroup]) -> list[KinematicGroup]:
    """The groups in an order in which each comes behind what it stands on."""
    owner = {member: g.get_name() for g in groups for member in g.members}
    owner.update({g.get_name(): g.get_name() for g in groups})
    carried: dict[str, list[KinematicGroup]] = {}
    order: list[KinematicGroup] = []
    for group in groups:
        if group.parent == group.get_name():
            order.append(group)
        elif group.parent in owner:
            carried.setdefault(owner[group.parent], []).append(group)
        else:
            raise UnknownKeyError(f"parent of '{group}' in the robot", group.parent, list(owner))
    for group in order:  # grows on the way
        order += carried.get(group.get_name(), [])
    if len(order) != len(groups):
        left = listed(group for group in groups if group not in order)
        raise NameClashError(f"{left} stand on each other, and none of them on the ground")
    return order
