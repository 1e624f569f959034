"""Robots of this face: links and joints that move together, loaded or made in code.

Rows S0-001 to S0-050, but for reading descriptions from ROS (`ros.py`) and for the tables of limits
(`joint_limit_table.py`).
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import difflib
import logging
import math
import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import InputError, ShapeError
from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.coordinates.base import CascadedCoords
from linkwork.faces.skrobot.errors import WrongTypeError
from linkwork.faces.skrobot.model.batch_ik import BatchIK
from linkwork.faces.skrobot.model.batch_ik import (
    BatchIKResult as BatchIKResult,  # noqa: PLC0414  programs take it from here
)
from linkwork.faces.skrobot.model.collision import SelfCollision
from linkwork.faces.skrobot.model.core import Base, CoreModel, Kept
from linkwork.faces.skrobot.model.dynamics import Dynamics
from linkwork.faces.skrobot.model.ik_steps import StepsIK, joints_of, movable
from linkwork.faces.skrobot.model.inverse_kinematics import SingleIK
from linkwork.faces.skrobot.model.joint import (
    Joint,
    calc_target_joint_dimension,
    calc_target_joint_dimension_from_link_list,
    is_led_by,
    places,
)
from linkwork.faces.skrobot.model.legs import Legs
from linkwork.faces.skrobot.model.link import Link, find_link_path
from linkwork.faces.skrobot.model.loading import Loaded, OnError, load_text_or_file, made_of
from linkwork.formats.loops import LoopsRecord
from linkwork.locating import Folders
from linkwork.robot import Robot

Floats = NDArray[np.float64]

logger = logging.getLogger(__name__)

_NARROWEST = 1e-3
"""The narrowest range of a joint, rad or m, that samples may be drawn from."""


class CascadedLink(  # pyright: ignore[reportIncompatibleMethodOverride]  what a part needs of others
    SingleIK, StepsIK, BatchIK, Dynamics, SelfCollision, Legs, CascadedCoords
):
    """Links and joints of a part of a robot, and a frame.

    ``link_list`` and ``joint_list`` are lists that may be changed. The joints make their child
    links' parents known to the links. The others are those of `CascadedCoords`.
    """

    link_list: list[Link]
    joint_list: list[Joint]

    def __init__(
        self,
        link_list: list[Link] | None = None,
        joint_list: list[Joint] | None = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.link_list = [] if link_list is None else link_list
        self.joint_list = [] if joint_list is None else joint_list
        self._cores = Kept[Base, CoreModel]()
        self._named: dict[str, Link | Joint] = {}
        self._loops: LoopsRecord | None = None
        self.bodies: list[Any] = []
        self.collision_avoidance_link_list: list[Any] = []
        self.end_coords_list: list[Any] = []
        self.joint_angle_limit_weight_maps: dict[Any, Any] = {}
        for joint in self.joint_list:
            child, parent = joint.child_link, joint.parent_link
            if child is not None:
                child.add_parent_link(parent)
                if child.joint is None:
                    child.add_joint(joint)
            if parent is not None:
                parent.add_child_link(child)

    def __copy__(self) -> Any:
        """A model of the same links and joints at the same place; nothing hangs on it."""
        made: Any = super().__copy__()
        made._cores = Kept()
        return made

    # names

    @property
    def links(self) -> Mapping[str, Link]:
        """The links by name, in the order of `link_list`, whatever they are called."""
        return MappingProxyType({link.name: link for link in self.link_list})

    @property
    def joints(self) -> Mapping[str, Joint]:
        """The joints by name: those of `joint_list`, then fixed and other ones that links have."""
        found: dict[str, Joint] = {}
        for joint in (*self.joint_list, *(link.joint for link in self.link_list)):
            if joint is not None and joint.name:
                found.setdefault(joint.name, joint)
        return MappingProxyType(found)

    @property
    def joint_names(self) -> list[str | None]:
        """The names of `joint_list`."""
        return [joint.name for joint in self.joint_list]

    def __getattr__(self, name: str) -> Any:
        """A joint or a link by its name, where there is no attribute of this name."""
        if name.startswith("__") or "_named" not in self.__dict__:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        found = self._named.get(name)
        if found is None or found.name != name:
            self._named = {**self.links, **self.joints}
            found = self._named.get(name)
        if found is None:
            near = difflib.get_close_matches(name, self._named, n=3)
            hint = f"; nearest of its links and joints: {', '.join(near)}" if near else ""
            if name == "end_coords" or name.endswith("_end_coords"):
                hint = "; set it to the frame at the end: CascadedCoords(parent=link)"
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{hint}")
        return found

    def __dir__(self) -> list[str]:
        named = (*self.links, *self.joints)
        return [*super().__dir__(), *(name for name in named if name.isidentifier())]

    # the robot of Linkwork

    def _core(self, base: Base = None) -> CoreModel:
        """The robot of Linkwork behind this model, as it is made up now; see `CoreModel`."""
        kept = self._cores.get(base)
        if kept is None or not kept.is_current():
            kept = CoreModel(self, base)
            self._cores[base] = kept
        return kept

    def linkwork(self) -> Robot:
        """This model as Linkwork's own robot, as it is made up now.

        Joints and links have the same names, but for those that several have; joints with several
        degrees of freedom are several joints. It is the same object until the model is made up
        otherwise.
        """
        return self._core().robot

    def close_loops(self, joint_list: Sequence[Joint] | None = None) -> bool:
        """Move joints so that the loops of the description close; whether they do.

        The joints of ``joint_list`` stay, by default those that the description says are driven;
        the others are moved along their branch of assembly. Without loops nothing moves. Where
        they cannot be closed, everything stays where it is.

        Raises: UnknownNameError for a joint that is not this model's.
        """
        core = self._core()
        robot = core.robot
        if not (robot.loops or robot.couplings):
            return True
        q = core.q()
        m = robot.mechanism
        if joint_list is None:
            held = list(robot.actuated)
        else:
            held = [m.joint_of_q(core.positions(joint).start) for joint in joint_list]
        if not held:
            found = robot.assemble(q0=q)
        else:
            given = q[m.q_indices(map(m.joint, held))]
            found = robot.assembler(held).solve(given, q)
        if bool(found.success):
            core.set_q(found.q)
        return bool(found.success)

    def _loops_record(self) -> LoopsRecord | None:
        """The loops that close beside the tree."""
        return self._loops

    # angles

    def angle_vector(self, av: ArrayLike | None = None, return_av: Any = None) -> Floats:
        """The positions of all joints (n,) in the order of `joint_list`, set to ``av`` if given.

        n is the number of degrees of freedom: a joint with several takes as many numbers. What is
        outside the limits is put at them, and logged. A joint that follows one of the others is
        where its leader puts it, whatever its own number says. ``return_av`` is filled and
        returned where it is given.

        Raises: InputError, ShapeError (ValueErrors); then nothing has moved.
        """
        if av is not None:
            self._set_angles(av)
        found: list[float] = []
        for joint in self.joint_list:
            if joint.joint_dof == 1:
                found.append(joint._q)
            elif joint.joint_dof:
                found.extend(joint._q.tolist())
        if return_av is None:
            return np.array(found)
        if len(return_av) < len(found):
            raise ShapeError(
                f"return_av takes the {len(found)} angles, and has room for {len(return_av)}"
            )
        return_av[: len(found)] = found
        return return_av

    def _set_angles(self, av: ArrayLike) -> None:
        joints = self.joint_list
        values = self._angles(av)
        listed = {id(joint) for joint in joints if joint._followers}
        tables: list[tuple[int, Joint]] = []
        k = 0
        for joint in joints:
            n = joint.joint_dof
            if n == 1:
                if is_led_by(joint, listed):
                    pass
                elif joint.joint_min_max_table is not None:
                    tables.append((k, joint))
                elif joint._leader is not None or joint._hooks or joint._followers:
                    joint.joint_angle(values[k])
                else:
                    joint._move(joint._clipped(values[k]))
            elif n:
                joint.joint_angle(values[k : k + n])
            k += n
        if tables:
            told = np.array(values)
            for k, joint in tables:
                self.calc_joint_angle_from_min_max_table(k, joint, told)
        if listed:
            self._tell_of_followers(values)

    def _angles(self, av: ArrayLike) -> list[float]:
        """Finite numbers, one for each degree of freedom."""
        try:
            given = np.asarray(av, np.float64)
        except (TypeError, ValueError):
            raise InputError(f"an angle vector is numbers, not {av!r:.60}") from None
        n = calc_target_joint_dimension(self.joint_list)
        if given.shape != (n,):
            raise ShapeError(f"the angle vector of '{self.name}' is ({n},), not {given.shape}")
        values = given.tolist()
        if not all(map(math.isfinite, values)):
            wrong = next(k for k, value in enumerate(values) if not math.isfinite(value))
            raise InputError(f"the angle vector must be finite; number {wrong} is {values[wrong]}")
        return values

    def _tell_of_followers(self, values: Sequence[float]) -> None:
        """Log the numbers that were given for followers and that are not where they are."""
        for joint, span in zip(self.joint_list, places(self.joint_list), strict=True):
            if joint._leader is not None and abs(values[span.start] - joint._q) > 1e-6:
                told = (joint, joint._leader[0], joint._q, values[span.start])
                logger.info("%r follows %r: it is at %g, not %g", *told)

    def forward_kinematics(self, av: ArrayLike | None = None, return_av: Any = None) -> Floats:
        """As `angle_vector`, and the poses of all links are computed at once."""
        found = self.angle_vector(av, return_av)
        for link in self.link_list:
            link.update()
        return found

    def calc_joint_angle_from_min_max_table(self, index: int, j: Joint, av: Any) -> Any:
        """Set a joint with a table of limits, and the joint that they depend on, to ``av``.

        ``index`` is the joint's place in ``av`` (n,). Outside its bounds, the joint's angle and the
        target's are moved towards theirs, by a growing part of what is missing, until the bounds
        hold; then both are set, and written into ``av``, which is returned.

        Raises: InputError (a ValueError) for a joint without a table.
        """
        table, target = j.joint_min_max_table, j.joint_min_max_target
        if table is None or target is None:
            raise InputError(f"joint '{j.name}' has no table of limits: create_joint_limit_table")
        spans = zip(self.joint_list, places(self.joint_list), strict=True)
        at = next((span.start for joint, span in spans if joint is target), None)
        angle = float(av[index])
        other = float(target.joint_angle()) if at is None else float(av[at])
        for step in range(11):
            lower, upper = table.min_angle_function(other), table.max_angle_function(other)
            if lower <= angle <= upper:
                break
            low, high = _bounds_at(target, j, angle)
            angle += (min(max(angle, lower), upper) - angle) * step / 10
            other += (min(max(other, low), high) - other) * step / 10
        target.joint_angle(other)
        j.joint_angle(angle)
        av[index] = j.joint_angle()
        if at is not None:
            av[at] = target.joint_angle()
        return av

    def apply_joint_limit_table_constraints(self, max_iterations: int = 5) -> Floats:
        """Move joints with tables of limits into their bounds, over and over; the angle vector.

        At most ``max_iterations`` times, or until nothing moves. Where the bounds leave nothing the
        joint goes to their middle.
        """
        joints = [
            joint
            for joint in self.joint_list
            if joint.joint_min_max_table is not None and joint.joint_min_max_target is not None
        ]
        for _ in range(max_iterations):
            moved = False
            for joint in joints:
                lower = float(joint.joint_min_max_table_min_angle)
                upper = float(joint.joint_min_max_table_max_angle)
                angle = joint._q
                wanted = min(max(angle, lower), upper)
                if upper < lower:
                    middle = (lower + upper) / 2
                    wanted = middle if abs(angle - middle) > 1e-6 else angle
                if wanted != angle:
                    joint._set(wanted)
                    joint._call_hooks()
                    moved = True
            if not moved:
                break
        return self.angle_vector()

    # links

    @property
    def interlocking_joint_pairs(  # pyright: ignore[reportIncompatibleVariableOverride]
        self,
    ) -> list[tuple[Joint, Joint]]:
        """Pairs of joints that are to stay at the same angle; none, unless a subclass says so."""
        return []

    def find_link_route(self, to: Link, frm: Link | None = None) -> list[Link]:
        """The links from below the root, or from ``frm`` where it is on the way, down to a link.

        Links that are not in `link_list` are left out, as is the root.

        Raises: WrongTypeError (a TypeError) for what is no link.
        """
        inside = {id(link) for link in self.link_list}
        route: list[Link] = []
        at = _checked(to)
        if frm is not None:
            _checked(frm)
        while (above := _above(at)) is not None:
            if id(at) in inside:
                route.append(at)
                if at is frm:
                    break
            at = above
        route.reverse()
        return route

    def link_lists(self, to: Link, frm: Link | None = None) -> list[Link]:
        """The links from below the root down to a link, or on the way from ``frm`` to it.

        Where ``frm`` is not above it, the way leads up to the link that both hang on, which is in
        the list once, and down again. The root, and what is not in `link_list`, are left out.

        Raises: WrongTypeError (a TypeError) for what is no link.
        """
        if frm is None:
            return self.find_link_route(to)
        down, up = _upwards(_checked(to)), _upwards(_checked(frm))
        depth = {id(link): k for k, link in enumerate(down)}
        meeting = next((k for k, link in enumerate(up) if id(link) in depth), len(up))
        rest = down if meeting == len(up) else down[: depth[id(up[meeting])]]
        way = [*up[: meeting + 1], *reversed(rest)]
        inside = {id(link) for link in self.link_list}
        return [link for link in way if id(link) in inside and _above(link) is not None]

    def find_link_path(self, src_link: Link, target_link: Link) -> list[Link]:
        """The links on the way between two, both included; empty where there is no way.

        There is none to or from what is no link.
        """
        if not (isinstance(src_link, Link) and isinstance(target_link, Link)):
            return []
        return find_link_path(src_link, target_link)[0]

    @property
    def leaf_links(self) -> list[Link]:
        """The links of `link_list` that no other hangs on."""
        above = {id(_above(link)) for link in self.link_list}
        return [link for link in self.link_list if id(link) not in above]

    def calc_union_link_list(self, link_list: list[Any]) -> list[Link]:
        """The links of several lists, each once, in the order of their coming; one list as it is.

        Raises: WrongTypeError (a TypeError) for what is no list.
        """
        if not isinstance(link_list, list):
            raise WrongTypeError(f"link_list is a list of links or of lists, not {type(link_list)}")
        if not any(isinstance(each, list | tuple) for each in link_list):
            return link_list
        found: dict[int, Link] = {}
        for each in link_list:
            for link in each if isinstance(each, list | tuple) else [each]:
                found.setdefault(id(link), link)
        return list(found.values())

    def calc_target_joint_dimension(self, link_list: list[Any]) -> int:
        """The number of degrees of freedom of the joints of links, or of the union of lists."""
        return calc_target_joint_dimension_from_link_list(self.calc_union_link_list(link_list))


def _other_name(name: str) -> Any:
    """Another name of a limb or of its end, which is None where the robot has none."""
    return property(lambda robot: robot._get_limb(name), doc=f"As `{name}`; None without one.")


class RobotModel(CascadedLink):
    """A robot: a tree of links and joints, and a frame that they move with.

    ``root_link`` is hung on the robot, unless it hangs on something. Links and joints can also be
    had as attributes of their names, where the robot has no attribute of that name.
    """

    urdf_path: str | None
    """The path of the description that the robot was loaded from; None where it was none."""

    def __init__(
        self,
        link_list: list[Link] | None = None,
        joint_list: list[Joint] | None = None,
        root_link: Link | None = None,
    ) -> None:
        super().__init__(link_list, joint_list)
        self.urdf_path = None
        self._root_link = root_link
        if isinstance(root_link, Link) and root_link.parent is None:
            self.assoc(root_link)

    @property
    def root_link(self) -> Link | None:
        """The link that all others hang on, where there is one."""
        if self._root_link is not None:
            return self._root_link
        roots = [link for link in self.link_list if _above(link) is None]
        return roots[0] if len(roots) == 1 else None

    @root_link.setter
    def root_link(self, link: Link | None) -> None:
        self._root_link = link

    def assoc(
        self, child: Any, relative_coords: Any = "world", force: bool = False, **kwargs: Any
    ) -> Any:
        """As `CascadedCoords.assoc`; the root link may be hung on its robot again."""
        again = child is self._root_link and child is not None and child.parent is self
        return super().assoc(child, relative_coords, force or again, **kwargs)

    # loading

    @staticmethod
    def from_urdf(
        urdf_input: str | os.PathLike[str] | bytes,
        include_mimic_joints: bool = True,
        *,
        on_error: OnError = "raise",
        allow: Folders = (),
    ) -> RobotModel:
        """A robot from the text of a URDF, which begins with '<', or from a file, by its path.

        Raises: as `load_urdf_file`.
        """
        model = RobotModel()
        made = load_text_or_file(urdf_input, on_error=on_error, allow=allow)
        model._take_over(made, include_mimic_joints)
        return model

    def load_urdf(
        self, urdf: str | bytes, include_mimic_joints: bool = True, *, on_error: OnError = "raise"
    ) -> None:
        """Take over the links and joints of the text of a URDF.

        Raises: as `load_urdf_file`.
        """
        text = urdf.decode(errors="replace") if isinstance(urdf, bytes) else urdf
        if not isinstance(text, str) or not text.lstrip("\ufeff \t\r\n").startswith("<"):
            raise InputError(
                "load_urdf takes the text of a URDF, which begins with '<'; for a file: "
                "load_urdf_file(path)"
            )
        self._take_over(load_text_or_file(urdf, on_error=on_error), include_mimic_joints)

    def load_urdf_file(
        self,
        file_obj: str | os.PathLike[str] | IO[Any],
        include_mimic_joints: bool = True,
        *,
        on_error: OnError = "raise",
        allow: Folders = (),
    ) -> None:
        """Take over the links and joints of a URDF or xacro file, by its path or as an open file.

        Joints begin at zero, or at the limit that is nearest to it. Without
        ``include_mimic_joints`` followers are not in `joint_list`; they follow all the same. A
        joint whose parent or child does not exist is an error, or is left out with a warning where
        ``on_error`` is "warn". Meshes are opened when they are asked for; ``allow`` are folders
        that they may lie in, beside the description's package.

        Raises: DescriptionError (a ValueError) with every problem of the description, and then the
        robot is as it was; MissingFileError (a FileNotFoundError too); UnsupportedFeatureError.
        """
        made = load_text_or_file(file_obj, on_error=on_error, allow=allow)
        self._take_over(made, include_mimic_joints)

    def load_urdf_from_robot_description(
        self,
        param_name: str = "/robot_description",
        include_mimic_joints: bool = True,
        timeout_seconds: float = 10,
    ) -> None:
        """Take over the robot that a parameter of ROS describes.

        Where the environment's ROS_VERSION is 2, the nodes are asked for it, else the parameter
        server, again and again until it is there or ``timeout_seconds`` have passed.

        Raises: NoRosError (a RuntimeError) without ROS, and where the parameter is not found.
        """
        from linkwork.faces.skrobot.model.ros import robot_description  # noqa: PLC0415  few need it

        self.load_urdf(robot_description(param_name, timeout_seconds), include_mimic_joints)

    @staticmethod
    def from_robot_description(
        param_name: str = "/robot_description", include_mimic_joints: bool = True
    ) -> RobotModel:
        """A robot that a parameter of ROS describes: `load_urdf_from_robot_description`."""
        model = RobotModel()
        model.load_urdf_from_robot_description(param_name, include_mimic_joints)
        return model

    def _take_over(self, loaded: Loaded, include_mimic_joints: bool) -> None:
        """Become the robot of a description."""
        links, joints, roots = made_of(loaded)
        moving = [joint for joint in joints if joint.joint_dof]
        if not include_mimic_joints:
            moving = [joint for joint in moving if joint._leader is None]
        for old in (self._root_link, *self.link_list):
            if old is not None and old.parent is self:
                self.dissoc(old)
        self.name = loaded.name
        self.urdf_path = loaded.file
        self.link_list, self.joint_list = links, moving
        self._loops = loaded.loops
        self._root_link = roots[0] if len(roots) == 1 else None
        for root in roots:
            self.assoc(root, relative_coords="local")
        self.init_pose()

    # poses

    def init_pose(self) -> Floats:
        """Put every joint at zero, or at the limit that is nearest to it; the angle vector."""
        for joint in self.joint_list:
            if joint._leader is None and joint.joint_dof:
                joint._set(np.minimum(np.maximum(0.0, joint.min_angle), joint.max_angle) + 0.0)
                joint._call_hooks()
        return self.angle_vector()

    def reset_pose(self) -> Any:
        """The pose that a robot of a kind begins at.

        Raises: NotImplementedError on this class: each kind says its own.
        """
        raise NotImplementedError("reset_pose is for robots of a kind: a subclass says its pose")

    def reset_manip_pose(self) -> Any:
        """The pose that a robot of a kind begins manipulation at.

        Raises: NotImplementedError on this class: each kind says its own.
        """
        raise NotImplementedError(
            "reset_manip_pose is for robots of a kind: a subclass says its pose"
        )

    # limits

    @property
    def joint_min_angles(self) -> Floats:
        """The lower limits (n,), in the order of `angle_vector`; -inf where there is none."""
        return _bounds_of(self.joint_list, "min_angle")

    @property
    def joint_max_angles(self) -> Floats:
        """The upper limits (n,), in the order of `angle_vector`; inf where there is none."""
        return _bounds_of(self.joint_list, "max_angle")

    @staticmethod
    def sanitize_joint_limits(
        min_angles: ArrayLike, max_angles: ArrayLike, joint_limit_eps: float = _NARROWEST
    ) -> tuple[Floats, Floats]:
        """Limits (n,), -pi and pi where they are infinite.

        Raises: InputError (a ValueError) where one leaves less than ``joint_limit_eps``.
        """
        lower, upper = np.array(min_angles, np.float64), np.array(max_angles, np.float64)
        lower[lower == -np.inf], upper[upper == np.inf] = -np.pi, np.pi
        narrow = np.flatnonzero(~(upper - lower >= joint_limit_eps))
        if len(narrow):
            k = int(narrow[0])
            raise InputError(
                f"joint limits are too narrow: those of number {k} are {lower.flat[k]:g} and "
                f"{upper.flat[k]:g}, less than {joint_limit_eps:g} apart"
            )
        return lower, upper

    @staticmethod
    def joint_limits_from_joint_list(joint_list: Sequence[Joint]) -> tuple[Floats, Floats]:
        """The limits (n,) of joints, as `sanitize_joint_limits` has them."""
        limits = _bounds_of(joint_list, "min_angle"), _bounds_of(joint_list, "max_angle")
        return RobotModel.sanitize_joint_limits(*limits)

    # joints of links

    @staticmethod
    def joint_list_from_link_list(
        link_list: Sequence[Link], ignore_fixed_joint: bool = True
    ) -> list[Joint]:
        """The joints that carry links, without those of links that have none.

        Fixed joints are left out unless ``ignore_fixed_joint`` is False.
        """
        if ignore_fixed_joint:
            return joints_of(link_list)
        return [link.joint for link in link_list if link.joint is not None]

    @staticmethod
    def filter_movable_links(link_list: Sequence[Link]) -> list[Link]:
        """The links whose joint moves."""
        return movable(link_list)

    # limbs: the parts of a robot of a kind

    @property
    def rarm(self) -> RobotModel:
        """The right arm.

        Raises: NotImplementedError on this class: each kind of robot says its own limbs.
        """
        raise _no_limb("rarm")

    @property
    def larm(self) -> RobotModel:
        """The left arm; as `rarm`."""
        raise _no_limb("larm")

    @property
    def rleg(self) -> RobotModel:
        """The right leg; as `rarm`."""
        raise _no_limb("rleg")

    @property
    def lleg(self) -> RobotModel:
        """The left leg; as `rarm`."""
        raise _no_limb("lleg")

    def _get_limb(self, attr_name: str) -> Any:
        """A limb, or its end, by the name of the attribute; None where the robot has none."""
        try:
            return getattr(self, attr_name)
        except (AttributeError, NotImplementedError):
            return None

    _get_end_coords = _get_limb

    right_arm, right_arm_end_coords = _other_name("rarm"), _other_name("rarm_end_coords")
    left_arm, left_arm_end_coords = _other_name("larm"), _other_name("larm_end_coords")
    right_leg, right_leg_end_coords = _other_name("rleg"), _other_name("rleg_end_coords")
    left_leg, left_leg_end_coords = _other_name("lleg"), _other_name("lleg_end_coords")
    arm, arm_end_coords = _other_name("rarm"), _other_name("rarm_end_coords")


# ---- helpers


def _no_limb(name: str) -> NotImplementedError:
    return NotImplementedError(f"{name} is for robots of a kind: a subclass says what it is")


def _checked(link: Any) -> Link:
    if not isinstance(link, Link):
        raise WrongTypeError(f"Support only Link class. get type=={type(link)}")
    return link


def _above(link: Link) -> Link | None:
    """The link that another hangs on, by its joint or else as a frame; None for a root."""
    if link.parent_link is not None:
        return link.parent_link
    at: Any = link.parent
    while at is not None and not isinstance(at, Link):
        at = at.parent
    return at


def _upwards(link: Link) -> list[Link]:
    """A link and all that it hangs on."""
    found: list[Link] = []
    at: Link | None = link
    while at is not None:
        found.append(at)
        at = _above(at)
    return found


def _bounds_at(joint: Joint, target: Joint, angle: float) -> tuple[float, float]:
    """The bounds of a joint where another one, which its table may depend on, is at an angle."""
    table = joint.joint_min_max_table
    if table is None or joint.joint_min_max_target is not target:
        return joint.joint_min_max_table_min_angle, joint.joint_min_max_table_max_angle
    return table.min_angle_function(angle), table.max_angle_function(angle)


def _bounds_of(joints: Sequence[Joint], which: str) -> Floats:
    """The limits (n,) of joints, a number for each degree of freedom."""
    found = [np.atleast_1d(getattr(joint, which)) for joint in joints if joint.joint_dof]
    return np.concatenate(found).astype(np.float64) if found else np.zeros(0)


__getattr__ = refusing(__name__)
