"""Rows S2-160 to S2-188 and S2-203: a robot as a whole, its members, and robots made of robots."""

from __future__ import annotations

import copy as copying
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from linkwork import settings
from linkwork.errors import Finding, InputError, UnknownNameError
from linkwork.faces.urdfpy import drawing, files, other_xml
from linkwork.faces.urdfpy.base import Attributes, Elements, URDFTypeWithMesh
from linkwork.faces.urdfpy.description import added_tags
from linkwork.faces.urdfpy.joint import Joint
from linkwork.faces.urdfpy.kinematics import Core, ForwardKinematics, Kinematics
from linkwork.faces.urdfpy.link import Link, Material
from linkwork.faces.urdfpy.transmission import Transmission
from linkwork.faces.urdfpy.validation import members, share_materials, validate
from linkwork.faces.urdfpy.values import ForeignError, Text, WrongTypeError, pose
from linkwork.formats.urdf import records
from linkwork.locating import Folders


def _member(owned: Sequence[Any], given: Any, kind: type, label: str) -> Any:
    """One of these, by itself or by its name.

    Raises: UnknownNameError; WrongTypeError for what is neither.
    """
    for one in owned:
        if one is given or (isinstance(given, str) and one.name == given):
            return one
    names = [one.name for one in owned]
    if isinstance(given, str):
        raise UnknownNameError(label, given, names)
    if isinstance(given, kind):
        raise ForeignError(label, getattr(given, "name", ""), names)
    raise WrongTypeError(f"a {label} or its name is needed, not {type(given).__name__}")


_KINDS = {"links": Link, "joints": Joint, "transmissions": Transmission, "materials": Material}
"""The lists that a robot is made of."""


class URDF(URDFTypeWithMesh, ForwardKinematics):
    """A robot: links, the joints between them, transmissions and materials.

    The links and joints form one tree. Lists and maps are copies; `add` and `remove` change what
    the robot is made of, its members are changed in place.

    Raises: DescriptionError with everything that is wrong, InputError, WrongTypeError.
    """

    _ATTRIBS: ClassVar[Attributes] = {"name": (str, True)}
    _ELEMENTS: ClassVar[Elements] = {
        "links": (Link, True, True),
        "joints": (Joint, False, True),
        "transmissions": (Transmission, False, True),
        "materials": (Material, False, True),
    }
    _TAG = "robot"

    name: Any = Text("The name of the robot.")

    # the members that are known to form a robot, while a description is read
    judged: list[list[Any]] | None = None

    def __init__(
        self,
        name: str,
        links: Sequence[Link] | None = None,
        joints: Sequence[Joint] | None = None,
        transmissions: Sequence[Transmission] | None = None,
        materials: Sequence[Material] | None = None,
        other_xml: str | bytes | None = None,
    ) -> None:
        self.name = name
        self._kinematics = Kinematics()
        self._other_xml: str | None = None
        self._findings: list[Finding] = []
        self.other_xml = other_xml
        self.set_members(
            *[
                members(name, given, kind)
                for (name, kind), given in zip(
                    _KINDS.items(), (links, joints, transmissions, materials), strict=True
                )
            ]
        )

    def set_members(
        self,
        links: list[Link],
        joints: list[Joint],
        transmissions: list[Transmission],
        materials: list[Material],
    ) -> None:
        """Take these as what the robot is made of, if they form one; else nothing changes.

        Raises: DescriptionError with everything that is wrong.
        """
        if self.judged != [links, joints, transmissions, materials]:
            validate(self.name, links, joints, transmissions, materials)
        materials, findings = share_materials(links, materials)
        self._links, self._joints = links, joints
        self._transmissions, self._materials = transmissions, materials
        self._findings += findings
        self._kinematics.forget()

    def __copy__(self) -> Any:
        return copying.deepcopy(self)

    def _validate(self) -> None:
        validate(self.name, self._links, self._joints, self._transmissions, self._materials)

    # what it is made of

    @property
    def links(self) -> list[Link]:
        """The links, in the order of the file; a copy."""
        return list(self._links)

    @property
    def joints(self) -> list[Joint]:
        """The joints, in the order of the file; a copy."""
        return list(self._joints)

    @property
    def transmissions(self) -> list[Transmission]:
        """The transmissions; a copy."""
        return list(self._transmissions)

    @property
    def materials(self) -> list[Material]:
        """The materials, those of visuals included; a copy."""
        return list(self._materials)

    @property
    def link_map(self) -> dict[str, Link]:
        """The links by name; a copy."""
        return {link.name: link for link in self._links}

    @property
    def joint_map(self) -> dict[str, Joint]:
        """The joints by name; a copy."""
        return {joint.name: joint for joint in self._joints}

    @property
    def transmission_map(self) -> dict[str, Transmission]:
        """The transmissions by name; a copy."""
        return {transmission.name: transmission for transmission in self._transmissions}

    @property
    def material_map(self) -> dict[str, Material]:
        """The materials by name; a copy."""
        return {material.name: material for material in self._materials}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is doubtful in the description, though it can be used."""
        return tuple(self._findings)

    @property
    def other_xml(self) -> str | None:
        """What the description has beside the elements of URDF: the text of one ``<extra>``.

        Raises: WrongTypeError, InputError where it is set to what is no XML.
        """
        if self._other_xml is not None or self.record is None:
            return self._other_xml
        return other_xml.text_of(self.record.extra, added_tags(type(self)))

    @other_xml.setter
    def other_xml(self, value: Any) -> None:
        text = other_xml.as_text(value)
        if text is None and self.record is not None:
            text = ""
        self._other_xml = text

    def extras(self, extra: Sequence[Any]) -> tuple[Any, ...]:
        """``extra`` of the record that is saved, with what a program has set `other_xml` to."""
        if self._other_xml is None:
            return tuple(extra)
        kept = [
            e
            for e in extra
            if not (isinstance(e, records.ExtraElement) and e.within == "robot")
            or e.tag in added_tags(type(self))
        ]
        return (*kept, *other_xml.elements(self._other_xml))

    # its tree

    def _core(self) -> Core:
        return self._kinematics.core(self.name, self._links, self._joints, self._validate)

    @property
    def actuated_joints(self) -> list[Joint]:
        """The joints that move by themselves: neither fixed nor followers.

        From the base outwards, in the order of the file where depths are equal.
        """
        return list(self._core().slots.actuated)

    @property
    def actuated_joint_names(self) -> list[str]:
        """The names of `actuated_joints`."""
        return [joint.name for joint in self._core().slots.actuated]

    @property
    def base_link(self) -> Link:
        """The link that has no parent."""
        return self._core().links[0]

    @property
    def end_links(self) -> list[Link]:
        """The links that have no children, in the order of the file."""
        parents = {joint.parent for joint in self._joints}
        return [link for link in self._links if link.name not in parents]

    @property
    def joint_limit_cfgs(self) -> tuple[dict[Joint, float], dict[Joint, float]]:
        """The lower and the upper bounds of the actuated joints that have them, by joint."""
        bounded = [joint for joint in self.actuated_joints if joint.limit is not None]
        lower = {j: j.limit.lower for j in bounded if j.limit.lower is not None}
        upper = {j: j.limit.upper for j in bounded if j.limit.upper is not None}
        return lower, upper

    @property
    def joint_limits(self) -> Any:
        """The bounds (n, 2) of the actuated joints, infinite where there is none."""
        return drawing.joint_limits(self.actuated_joints)

    def cfg_to_vector(self, cfg: Any = None) -> Any:
        """A configuration as an array, one position for each of `actuated_joints`.

        Raises: as `link_fk`; ValueError for robots with planar or floating joints.
        """
        return self._core().slots.vector(cfg)

    # files

    @classmethod
    def load(
        cls,
        file_obj: Any,
        lazy_load_meshes: bool | None = None,
        *,
        allow: Folders = (),
        strict: bool = False,
    ) -> Any:
        """The robot that a file describes: its path, or an open file.

        Meshes and images are found from the description's place: beside it, in its package
        (``package://`` too), on the ROS paths, and in the folders ``allow``. They are opened when
        they are first asked for, or at once with ``lazy_load_meshes=False``; the environment's
        LINKWORK_ALLOW and LINKWORK_LOAD_MESHES=1 say the same from outside. ``strict=True`` also
        refuses inertias that no body has, and materials of one name that look different.

        Raises: DescriptionError (a ValueError) with every error of the file, each with its line.
        """
        robot = files.load(cls, file_obj, allow, strict=strict)
        if lazy_load_meshes is False or (
            lazy_load_meshes is None and settings.load_meshes_at_once()
        ):
            files.open_all(robot)
        return robot

    def save(self, file_obj: Any, *, allow_outside: bool = False) -> None:
        """Write the robot, its meshes and its textures: to a path, or to an open file.

        A mesh or texture with a plain relative name goes to that name beside the new file, as the
        bytes that were read where it has not been changed. One whose name leads outside (absolute,
        ``..``, ``package://``) stays where it is if the new file, loaded without ``allow``, finds
        it there; else it goes to ``meshes/`` beside the new file and is named so there, or, with
        ``allow_outside=True``, to its own name. Everything is written whole or not at all, the
        description last.

        Raises: InputError, DescriptionError for what no file can say.
        """
        files.save(self, file_obj, allow_outside=allow_outside)

    def findings_from(self, found: Iterable[Finding]) -> None:
        """Keep what a reader found doubtful."""
        self._findings += found

    # other robots

    def copy(  # pyright: ignore[reportIncompatibleMethodOverride] -- as in the original
        self,
        name: str | None = None,
        prefix: str = "",
        scale: Any = None,
        collision_only: bool = False,
    ) -> Any:
        """A copy that shares nothing, with ``prefix`` before the names of all that it is made of.

        ``scale``, one number or three, makes it larger with the densities it has, as
        `URDFType.copy` tells; ``collision_only`` leaves out visuals and materials.

        Raises: InputError.
        """
        other = super().copy(prefix, scale)
        if name is not None:
            other.name = name
        for link in other.links if collision_only else ():
            link.visuals = []
        materials = [] if collision_only else other.materials
        other.set_members(other.links, other.joints, other.transmissions, materials)
        return other

    def join(
        self, other: URDF, link: Any, origin: Any = None, name: str | None = None, prefix: str = ""
    ) -> Any:
        """A new robot: this one with ``other`` fixed to ``link`` at ``origin`` (4, 4) or (6,).

        Raises: DescriptionError for names that both have; give a ``prefix`` to the other's.
        """
        at = _member(self._links, link, Link, "link").name
        if not hasattr(other, "base_link"):
            raise WrongTypeError(f"URDF.join takes a URDF, not {type(other).__name__}")
        made, second = copying.deepcopy(self), other.copy(prefix=prefix)
        if name is not None:
            made.name = name
        mount = Joint(
            name=f"{self.name}_join_{prefix}{other.name}_joint",
            joint_type="fixed",
            parent=at,
            child=second.base_link.name,
            origin=pose(None, "origin", origin),
        )
        named = {material.name for material in made.materials}
        made.set_members(
            made.links + second.links,
            [*made.joints, mount, *second.joints],
            made.transmissions + second.transmissions,
            made.materials + [own for own in second.materials if own.name not in named],
        )
        return made

    def _change(self, **changes: list[Any]) -> None:
        """Take other members, if they form a robot; else nothing changes.

        Raises: WrongTypeError for what is no such member; DescriptionError.
        """
        self.set_members(
            *[
                members(name, changes.get(name, getattr(self, name)), kind)
                for name, kind in _KINDS.items()
            ]
        )

    def add_link(self, link: Link, joint: Joint) -> None:
        """Add a link and the joint that it hangs on.

        Raises: DescriptionError where no robot follows; then nothing has changed. So do the others.
        """
        self._change(links=[*self._links, link], joints=[*self._joints, joint])

    def remove_link(self, link: Any) -> None:
        """Remove a link or the one of a name, and all that hangs on it.

        Transmissions that drive nothing else go too. Raises: InputError for the base;
        DescriptionError where a joint that stays follows one that goes.
        """
        first = _member(self._links, link, Link, "link")
        if first is self.base_link:
            raise InputError(f"link '{first.name}' is the base: without it there is no robot")
        children: dict[str, list[str]] = {}
        for joint in self._joints:
            children.setdefault(joint.parent, []).append(joint.child)
        gone, level = {first.name}, [first.name]
        while level:
            level = [child for name in level for child in children.get(name, ())]
            gone.update(level)
        joints = [joint for joint in self._joints if joint.child not in gone]
        left = {joint.name for joint in joints}
        self._change(
            links=[own for own in self._links if own.name not in gone],
            joints=joints,
            transmissions=[
                t
                for t in self._transmissions
                if not t.joints or any(j.name in left for j in t.joints)
            ],
        )

    def remove_joint(self, joint: Any) -> None:
        """Remove a joint or the one of a name, and all that hangs on it."""
        self.remove_link(_member(self._joints, joint, Joint, "joint").child)

    def add_transmission(self, transmission: Transmission) -> None:
        """Add a transmission."""
        self._change(transmissions=[*self._transmissions, transmission])

    def remove_transmission(self, transmission: Any) -> None:
        """Remove a transmission, or the one of a name."""
        gone = _member(self._transmissions, transmission, Transmission, "transmission")
        self._change(transmissions=[t for t in self._transmissions if t is not gone])

    def add_material(self, material: Material) -> None:
        """Add a material."""
        self._change(materials=[*self._materials, material])

    def remove_material(self, material: Any) -> None:
        """Remove a material that no visual has, or the one of a name.

        Raises: InputError where a visual has it.
        """
        gone = _member(self._materials, material, Material, "material")
        if any(shape.material is gone for link in self._links for shape in link.visuals):
            raise InputError(f"material '{gone.name}' is in use")
        self._change(materials=[own for own in self._materials if own is not gone])

    # to be seen

    def show(self, cfg: Any = None, use_collision: bool = False) -> None:
        """Show the robot at a configuration, in a window of pyrender, until it is closed.

        Raises: as `link_fk`; MissingExtraError where pyrender is not installed.
        """
        drawing.show(self, cfg, use_collision)

    def animate(
        self, cfg_trajectory: Any = None, loop_time: float = 3.0, use_collision: bool = False
    ) -> None:
        """Show the robot moving along ``cfg_trajectory`` and back within ``loop_time`` seconds.

        It maps joints or names to lists of positions, equally spaced in time; without it every
        joint with limits goes from limit to limit. It ends when the window is closed.

        Raises: ValueError where lists differ in length, TypeError; MissingExtraError where pyrender
        is not installed.
        """
        drawing.animate(self, cfg_trajectory, loop_time, use_collision)

    def __repr__(self) -> str:
        return f"<URDF '{self.name}': {len(self._links)} links, {len(self._joints)} joints>"
