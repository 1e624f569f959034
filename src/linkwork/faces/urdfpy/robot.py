"""Rows S2-072, S2-160 to S2-189 and S2-203: a robot as a whole, its members, robots of robots."""

from __future__ import annotations

import copy as copying
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

import numpy as np

from linkwork import settings
from linkwork.errors import Finding, InputError, UnknownNameError
from linkwork.faces.urdfpy import drawing, files
from linkwork.faces.urdfpy.base import URDFTypeWithMesh
from linkwork.faces.urdfpy.joint import Joint, Transmission, lacks_limit
from linkwork.faces.urdfpy.kinematics import Core, ForwardKinematics, Kinematics
from linkwork.faces.urdfpy.link import Link, Material, defines
from linkwork.faces.urdfpy.utils import WrongTypeError, pose
from linkwork.faces.urdfpy.values import ForeignError, Parts, Source, Text, Writer
from linkwork.formats.structure import JointEntry, LinkEntry, check_mimics, check_structure
from linkwork.formats.urdf import records
from linkwork.formats.urdf.edit.records import below
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.read import Reader
from linkwork.locating import Folders

if TYPE_CHECKING:
    from linkwork.view.live import Viewer


def _member(owned: Sequence[Any], given: Any, kind: type) -> Any:
    """One of these, by itself or by its name."""
    for one in owned:
        if one is given or (isinstance(given, str) and one.name == given):
            return one
    names, label = [one.name for one in owned], kind.__name__.lower()
    if isinstance(given, str):
        raise UnknownNameError(label, given, names)
    if isinstance(given, kind):
        raise ForeignError(label, getattr(given, "name", ""), names)
    raise WrongTypeError(f"a {label} or its name is needed, not {type(given).__name__}")


class _Members(Parts):
    """One of the lists that a robot is made of: a copy, which methods of the robot replace."""

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        held = super().__get__(owner, kind)
        return held if owner is None else list(held)

    def __set__(self, owner: Any, value: Any) -> None:
        raise AttributeError(f"{self.what(owner)} is a copy: use the robot's methods to change it")


class _Materials(_Members):
    def written(self, owner: Any, writer: Writer) -> dict[str, Any]:
        return {"materials": tuple(own._to_record(writer) for own in owner._beside())}


def _mapped(name: str) -> Any:
    """The property of one of these lists by name."""

    def mapped(self: URDF) -> dict[str, Any]:
        return {member.name: member for member in self.__dict__[f"_{name}"]}

    return property(mapped, doc=f"The {name} by name; a copy.")


class URDF(URDFTypeWithMesh, ForwardKinematics):
    """A robot: links, the joints between them, transmissions and materials.

    The links and joints form one tree. Lists and maps are copies; `add` and `remove` change what
    the robot is made of, its members are changed in place.

    Raises: DescriptionError with everything that is wrong, InputError, WrongTypeError.
    """

    _RECORD = records.Robot
    _names = ()

    name: Any = Text("The name of the robot.")
    links: Any = _Members("The links, in the order of the file; a copy.", Link, required=True)
    joints: Any = _Members("The joints, in the order of the file; a copy.", Joint)
    transmissions: Any = _Members(
        "The transmissions, in the order of the file; a copy.", Transmission
    )
    materials: Any = _Materials("The materials, those of visuals included; a copy.", Material)
    link_map, joint_map = _mapped("links"), _mapped("joints")
    transmission_map, material_map = _mapped("transmissions"), _mapped("materials")

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
        self._change(links=links, joints=joints, transmissions=transmissions, materials=materials)

    def _change(self, **changes: Any) -> None:
        """Take these members instead of those of their kind, if all form a robot; else none."""
        kinds = type(self)._values
        lists = {
            name: kinds[name].check(self, changes.get(name, self.__dict__.get(f"_{name}")))
            for name in URDF._ELEMENTS
        }
        if self.reading is None or any(self.reading[name] != lists[name] for name in lists):
            _validate(self.name, **lists)
        lists["materials"], findings = _shared_materials(lists["links"], lists["materials"])
        self.__dict__.update({f"_{name}": held for name, held in lists.items()})
        self._findings += findings
        self._kinematics.forget()

    def __copy__(self) -> Any:
        return copying.deepcopy(self)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The doubts about the description, though it can be used."""
        return tuple(self._findings)

    @property
    def other_xml(self) -> str | None:
        """The text of one ``<extra>``: what the description has beside the elements of URDF.

        Name spaces that the robot declares are declared on it.

        Raises: WrongTypeError, InputError where it is set to what is no XML.
        """
        if self._other_xml is not None or self.record is None:
            return self._other_xml
        inside, opened = "", "<extra"
        for each in self.record.extra:
            if each.within == "robot" and isinstance(each, records.ExtraElement):
                inside += "" if self._replaces(each) else each.xml
            elif each.within == "robot" and each.name.partition(":")[0] == "xmlns":
                opened += f" {each.name}={quoteattr(each.value)}"
        return f"{opened}>{inside}</extra>" if inside else f"{opened} />"

    @other_xml.setter
    def other_xml(self, value: Any) -> None:
        if isinstance(value, (bytes, bytearray)):
            try:
                value = bytes(value).decode()
            except UnicodeDecodeError as error:
                raise InputError(f"URDF.other_xml is no UTF-8 text: {error}") from None
        if value is None:
            value = None if self.record is None else ""
        elif isinstance(value, str):
            _other_elements(value)
        else:
            raise WrongTypeError(f"URDF.other_xml is a text, not {type(value).__name__}")
        self._other_xml = value

    # its record

    @classmethod
    def _judge(cls, record: Any, source: Source, of: str = "") -> None:
        super()._judge(record, source)
        first: dict[str, records.Material] = {}
        for own in record.materials:
            if own.name and first.setdefault(own.name, own) is not own:
                text = (
                    f"two materials with name '{own.name}': line {first[own.name].line} has it too"
                )
                source.wrong("material", own, text, "duplicate-material")

    def _beside(self) -> list[Material]:
        """The materials that stand beside the links: all but those that were read in a visual."""
        worn = [shape.material for link in self.links for shape in link.visuals]
        inside = {id(own) for own in worn if own is not None and own.inside}
        return [own for own in self.materials if not own.inside or id(own) not in inside]

    def _to_record(self, writer: Writer) -> Any:
        shown = [shape for link in self.links for shape in link.visuals]
        as_read = [shape.material_as_read() for shape in shown]
        writer.defined |= {own.name for own in self._beside()}
        writer.defined |= {own.name for own in as_read if own and defines(own)}
        return super()._to_record(writer)

    def _extra(self, extra: records.Extra) -> records.Extra:
        made = super()._extra(extra)
        if self._other_xml is None:
            return made
        kept = [
            each
            for each in made
            if not (isinstance(each, records.ExtraElement) and each.within == "robot")
            or self._replaces(each)
        ]
        return (*kept, *_other_elements(self._other_xml))

    # its tree

    def _core(self) -> Core:
        links, joints = self.__dict__["_links"], self.__dict__["_joints"]
        return self._kinematics.core(self.name, links, joints, self._validate)

    def _validate(self) -> None:
        _validate(self.name, self.links, self.joints, self.transmissions, self.materials)

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
        parents = {joint.parent for joint in self.joints}
        return [link for link in self.links if link.name not in parents]

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
        lower, upper = self.joint_limit_cfgs
        bounds = [(lower.get(j, -np.inf), upper.get(j, np.inf)) for j in self.actuated_joints]
        return np.array(bounds, np.float64).reshape(-1, 2)

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
        if lazy_load_meshes is None:
            lazy_load_meshes = not settings.load_meshes_at_once()
        for part in () if lazy_load_meshes else robot.parts():
            part._open()
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
        other._change(materials=materials)
        return other

    def join(
        self, other: URDF, link: Any, origin: Any = None, name: str | None = None, prefix: str = ""
    ) -> Any:
        """A new robot: this one with ``other`` fixed to ``link`` at ``origin`` (4, 4) or (6,).

        Raises: DescriptionError for names that both have; give a ``prefix`` to the other's.
        """
        at = _member(self.links, link, Link).name
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
            origin=pose("origin", origin),
        )
        named = {material.name for material in made.materials}
        made._change(
            links=made.links + second.links,
            joints=[*made.joints, mount, *second.joints],
            transmissions=made.transmissions + second.transmissions,
            materials=made.materials + [m for m in second.materials if m.name not in named],
        )
        return made

    def add_link(self, link: Link, joint: Joint) -> None:
        """Add a link and the joint that it hangs on.

        Raises: DescriptionError where no robot follows; then nothing has changed. So do the others.
        """
        self._change(links=[*self.links, link], joints=[*self.joints, joint])

    def remove_link(self, link: Any) -> None:
        """Remove a link or the one of a name, and all that hangs on it.

        Transmissions that drive nothing else go too. Raises: InputError for the base;
        DescriptionError where a joint that stays follows one that goes.
        """
        first = _member(self.links, link, Link)
        if first is self.base_link:
            raise InputError(f"link '{first.name}' is the base: without it there is no robot")
        tree: Any = self  # with joints that have a parent and a child, as records have
        gone = below(tree, first.name)
        joints = [joint for joint in self.joints if joint.child not in gone]
        left = {joint.name for joint in joints}
        self._change(
            links=[own for own in self.links if own.name not in gone],
            joints=joints,
            transmissions=[
                t
                for t in self.transmissions
                if not t.joints or any(j.name in left for j in t.joints)
            ],
        )

    def remove_joint(self, joint: Any) -> None:
        """Remove a joint or the one of a name, and all that hangs on it."""
        self.remove_link(_member(self.joints, joint, Joint).child)

    def add_transmission(self, transmission: Transmission) -> None:
        """Add a transmission."""
        self._change(transmissions=[*self.transmissions, transmission])

    def remove_transmission(self, transmission: Any) -> None:
        """Remove a transmission, or the one of a name."""
        gone = _member(self.transmissions, transmission, Transmission)
        self._change(transmissions=[t for t in self.transmissions if t is not gone])

    def add_material(self, material: Material) -> None:
        """Add a material."""
        self._change(materials=[*self.materials, material])

    def remove_material(self, material: Any) -> None:
        """Remove a material that no visual has, or the one of a name.

        Raises: InputError where a visual has it.
        """
        gone = _member(self.materials, material, Material)
        if any(shape.material is gone for link in self.links for shape in link.visuals):
            raise InputError(f"material '{gone.name}' is in use")
        self._change(materials=[own for own in self.materials if own is not gone])

    # to be seen

    def show(self, cfg: Any = None, use_collision: bool = False) -> Viewer | None:
        """Show the robot at a configuration, in a page of the browser, until that is closed.

        Where no browser is opened (over SSH, without a desktop, in a notebook) it returns at once
        the `linkwork.view.live.Viewer`, with the address of the page.

        Raises: as `link_fk`.
        """
        return drawing.show(self, self._core(), [cfg], 1.0, use_collision)

    def animate(
        self, cfg_trajectory: Any = None, loop_time: float = 3.0, use_collision: bool = False
    ) -> Viewer | None:
        """Show the robot moving along ``cfg_trajectory`` and back within ``loop_time`` seconds.

        It maps joints or names to lists of positions, equally spaced in time, or is an array of
        the actuated joints' positions (n, joints); without it every joint with limits goes from
        limit to limit. It ends as `show`.

        Raises: ValueError where lists differ in length, TypeError.
        """
        loop = drawing.frames(self, cfg_trajectory, loop_time)
        return drawing.show(self, self._core(), loop, loop_time, use_collision)

    def __repr__(self) -> str:
        return f"<URDF '{self.name}': {len(self.links)} links, {len(self.joints)} joints>"


def _validate(
    name: str,
    links: Sequence[Link],
    joints: Sequence[Joint],
    transmissions: Sequence[Transmission],
    materials: Sequence[Material],
) -> None:
    """Refuse what forms no robot: tree, names and couplings by the rules for files, and more."""
    findings = Findings(None)
    entries = [
        JointEntry(
            joint.name,
            joint.joint_type,
            joint.parent,
            joint.child,
            None if joint.mimic is None else joint.mimic.joint,
            _line(joint),
            None if joint.mimic is None else _line(joint.mimic),
        )
        for joint in joints
    ]
    check_structure([LinkEntry(link.name, _line(link)) for link in links], entries, findings)
    check_mimics(entries, findings)

    def wrong(owner: Any, code: str, message: str, hint: str = "") -> None:
        of, line = owner._standard.tag, _line(owner)
        findings.add("error", code, message, line=line, element=of, name=owner.name, hint=hint)

    for element, owners in (("transmission", transmissions), ("material", materials)):
        taken: set[str] = set()
        for owner in owners:
            if owner.name in taken:
                wrong(owner, f"duplicate-{element}", f"two {element}s with name '{owner.name}'")
            taken |= {owner.name} - {""}  # several materials may have no name
    for joint in joints:
        if lacks_limit(joint):
            wrong(joint, "missing-limits", lacks_limit(joint))
    known = {joint.name for joint in joints}
    for owner in transmissions:
        for own in [own.name for own in owner.joints if own.name not in known]:
            hint = findings.nearest(own, known)
            wrong(owner, "transmission-joint", f"joint '{own}' does not exist", hint)
    if findings.failed:
        raise findings.error()


def _line(owner: Any) -> int:
    return 0 if owner.record is None else owner.record.line


def _shared_materials(
    links: Sequence[Link], materials: Sequence[Material]
) -> tuple[list[Material], list[Finding]]:
    """One material for each name: the visuals' are replaced by the first of their name.

    Returns the materials with the new ones of visuals, and findings where two of one name look
    different. A material without a name belongs to its visual alone.
    """
    shared = {material.name: material for material in materials}
    listed, findings = list(materials), list[Finding]()
    for shape in (shape for link in links for shape in link.visuals):
        material: Material | None = shape.material
        if material is None:
            continue
        first = shared.setdefault(material.name, material) if material.name else None
        if first is material and material not in listed:
            listed.append(material)
        elif first is not None and first is not material:
            if material.has_appearance and first.appearance()[1] != material.appearance()[1]:
                text = "it looks different from the first of its name, which counts"
                about = (text, "", _line(material), "material", material.name)
                findings.append(Finding("warning", "material-differs", *about))
            shape.material = first
        shape.material_read = shape.material, shape.material.appearance()
    return listed, findings


def _other_elements(text: str) -> tuple[records.ExtraElement, ...]:
    """The elements inside the text's ``<extra>``, or the text's own where there is none."""
    if not text.strip():
        return ()
    source = f'<robot name="r"><link name="l"/><extra>{text}</extra></robot>'
    findings = Findings(None)
    if Reader(source.encode(), findings).read() is None or findings.failed:
        raise InputError(f"URDF.other_xml is not XML: {findings.error()}")
    try:
        inner = list(ET.fromstring(f"<extra>{text}</extra>"))
    except ET.ParseError as error:
        raise InputError(f"URDF.other_xml is not XML: {error}") from None
    if len(inner) == 1 and inner[0].tag == "extra":
        inner = list(inner[0])
    found: list[records.ExtraElement] = []
    for element in inner:
        element.tail = None
        xml = ET.tostring(element, encoding="unicode")
        found.append(records.ExtraElement("robot", str(element.tag), xml))
    return tuple(found)
