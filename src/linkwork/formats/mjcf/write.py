"""A URDF description as the text that MuJoCo makes an MJCF of, and what that MJCF does not hold.

MuJoCo reads URDF itself, but fuses links, drops visuals and cuts paths unless it is told not to,
has free joints in the world's body alone, refuses shapes without size, and leaves out what it does
not know without a word. What needs meshes or the mechanism stands in `mechanism.to_mjcf`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np

from linkwork.errors import DescriptionError, Finding, Level
from linkwork.formats.mjcf.flatten import DEEPEST
from linkwork.formats.urdf.convert import listed
from linkwork.formats.urdf.edit.records import renamed_meshes, root_of
from linkwork.formats.urdf.records import Box, ExtraElement, Joint, Link, Mesh, Robot, Shape
from linkwork.formats.urdf.write import to_text

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Structure
mjcf-size | warning | A shape of size zero is not written to MJCF: MuJoCo refuses such ones. | Give
    it its size, or leave it out.
# Converting to MJCF (`linkwork convert`)
mjcf-digits | note | MuJoCo writes six digits. | Nothing to do.
"""


def finding(level: Level, code: str, message: str, robot: Robot, name: str = "") -> Finding:
    """A finding about a description as a whole."""
    return Finding(level, code, message, robot.file or "", name=name)


# what MuJoCo does not take


def check_depth(robot: Robot) -> None:
    """Refuse chains that are too long: an MJCF nests each body in the one that carries it.

    Raises: DescriptionError.
    """
    below: dict[str, list[Joint]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint)
    most = DEEPEST - 4  # inside of <mujoco>, <worldbody> and the root; a body has elements too
    waiting = [(root_of(robot), 0)]
    while waiting:
        link, depth = waiting.pop()
        for joint in below.get(link, ()):
            if depth == most:
                message = f"it hangs on more than {most} joints, one after the other"
                hint = "an MJCF nests the bodies, and MuJoCo reads no more of them in each other"
                found = finding("error", "too-deep", message, robot, name=joint.child)
                raise DescriptionError([replace(found, line=joint.line, hint=hint)])
            waiting.append((joint.child, depth + 1))


def without_sizeless_shapes(robot: Robot) -> tuple[Robot, list[Finding]]:
    """The robot without shapes that have no size, and a warning for each."""
    found: list[Finding] = []

    def kept(link: Link, shapes: tuple[Any, ...]) -> tuple[Any, ...]:
        for shape in shapes:
            if _is_sizeless(shape.geometry):
                kind = type(shape.geometry).__name__.lower()
                message = f"a {kind} without size is left out, as MuJoCo takes none"
                own = finding("warning", "mjcf-size", message, robot, name=link.name)
                found.append(replace(own, line=shape.line, element=kind))
        return tuple(shape for shape in shapes if not _is_sizeless(shape.geometry))

    links = tuple(
        replace(link, visuals=kept(link, link.visuals), collisions=kept(link, link.collisions))
        for link in robot.links
    )
    return (replace(robot, links=links) if found else robot), found


def _is_sizeless(shape: Shape | None) -> bool:
    if isinstance(shape, Box):
        return min(shape.size) <= 0.0
    if isinstance(shape, Mesh):
        return shape.scale is not None and 0.0 in shape.scale
    return shape is not None and min(shape.radius, getattr(shape, "length", 1.0)) <= 0.0


def with_mesh_names(robot: Robot, names: Mapping[str, str | None]) -> Robot:
    """The robot with other names of meshes, without shapes that have none or no geometry.

    A geom's name is left out where another geom has it.
    """
    seen: set[str] = set()

    def kept(shapes: Iterable[Any]) -> Iterator[Any]:
        for shape in shapes:
            geometry = shape.geometry
            if geometry is None:
                continue
            if isinstance(geometry, Mesh) and names.get(geometry.filename) is None:
                continue
            yield replace(shape, name=None) if shape.name in seen else shape
            seen.add(shape.name)

    links = tuple(
        replace(link, visuals=tuple(kept(link.visuals)), collisions=tuple(kept(link.collisions)))
        for link in robot.links
    )
    return renamed_meshes(replace(robot, links=links), lambda name: names.get(name) or name)


def urdf_for_mujoco(robot: Robot, gravity: Sequence[float]) -> str:
    """The URDF with MuJoCo's own element: no link is fused, no visual dropped, no path cut.

    ``gravity`` is that of the robot, where the element does not say another.
    """
    own = ElementTree.Element("mujoco")
    for extra in robot.extra:
        if isinstance(extra, ExtraElement) and extra.tag == "mujoco":
            own.extend(ElementTree.fromstring(extra.xml))
    compiler = own.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(own, "compiler")
    option = own.find("option")
    if option is None:
        option = ElementTree.SubElement(own, "option")
    option.set("gravity", option.get("gravity", " ".join(f"{x:.17g}" for x in gravity)))
    for name in ("meshdir", "texturedir", "assetdir"):
        compiler.attrib.pop(name, None)
    compiler.set("fusestatic", compiler.get("fusestatic", "false"))
    for name in ("discardvisual", "strippath"):
        compiler.set(name, "false")
    others = tuple(e for e in robot.extra if getattr(e, "tag", "") != "mujoco")
    text = to_text(replace(robot, extra=others, comments=(), transmissions=(), source=None))
    end = text.rindex("</robot>")
    return text[:end] + ElementTree.tostring(own, encoding="unicode") + text[end:]


# what the MJCF does not hold


def left_out(robot: Robot) -> Iterator[Finding]:
    """A note for everything that the description says and the MJCF does not."""
    joints, links = robot.joints, robot.links
    mimics = "mimic joints become equality constraints, which a simulation holds softly"
    world = "the world of an MJCF has no mass: that of the link is left out"
    weigh = "links without <inertial> weigh what MuJoCo makes of their collision shapes"
    owners = (robot, *robot.links, *robot.joints)
    extras = [extra for owner in owners for extra in owner.extra if isinstance(extra, ExtraElement)]
    unknown = {f"<{extra.tag}>" for extra in extras if extra.tag != "mujoco"}
    given = [*robot.materials, *(v.material for link in links for v in link.visuals)]
    textures = {material.texture for material in given if material and material.texture}
    for what, names in {
        "transmissions are left out": [t.name for t in robot.transmissions],
        "safety controllers are left out": [j.name for j in joints if j.safety],
        "calibrations are left out": [j.name for j in joints if j.calibration],
        "limits of velocity are left out": [
            j.name for j in joints if j.limit and j.limit.velocity is not None
        ],
        "limits on one side, and without room between them, are left out": [
            j.name for j in joints if _has_lost_limits(j)
        ],
        world: [link.name for link in links if link.name == "world" and link.inertial],
        mimics: [j.name for j in joints if j.mimic],
        "textures are left out": sorted(textures),
        "elements that URDF does not define are left out": sorted(unknown),
        weigh: [link.name for link in links if link.inertial is None and link.collisions],
    }.items():
        if names:
            yield finding("note", "mjcf-lost", f"{what}: {listed(names)}", robot)
    precise = "MuJoCo writes numbers with six digits: poses may differ by a micrometre"
    yield finding("note", "mjcf-digits", precise, robot)


def _has_lost_limits(joint: Joint) -> bool:
    limit = joint.limit
    if limit is None or joint.type not in ("revolute", "prismatic"):
        return False
    if limit.lower is None or limit.upper is None:
        return limit.lower is not limit.upper
    return limit.lower >= limit.upper


# floating joints: MuJoCo has free joints in the world's body alone

_PARTS = ("TX", "TY", "TZ", "RB")


class FloatingBody(NamedTuple):
    """A body that can stand in the world's body, its joint, and where it is at ``qpos0``."""

    body: str
    joint: str
    pos: Sequence[float] = ()
    quat: Sequence[float] = ()


def split_free_joints(mujoco: Any, spec: Any) -> tuple[list[FloatingBody], list[str]]:
    """Three slides and a ball for each free joint that does not stand in the world's body.

    The motions are the same. Returns those of which nothing carries the body that moves, to be put
    there by `move_to_world`, and the names of the other joints.
    """
    still: list[FloatingBody] = []
    others: list[str] = []
    for joint in list(spec.joints):
        body = joint.parent
        if joint.type != mujoco.mjtJoint.mjJNT_FREE or body.parent.name == "world":
            continue
        name = joint.name
        carrier = body.parent
        while carrier.name != "world" and not carrier.joints:
            carrier = carrier.parent
        if carrier.name == "world":
            still.append(FloatingBody(body.name, name))
        else:
            others.append(name)
        losses = {"damping": joint.damping, "frictionloss": joint.frictionloss}
        for end, direction in zip(_PARTS, np.eye(3), strict=False):
            slide = mujoco.mjtJoint.mjJNT_SLIDE
            body.add_joint(name=f"{name}_{end}", type=slide, axis=direction, **losses)
        body.add_joint(name=f"{name}_{_PARTS[3]}", type=mujoco.mjtJoint.mjJNT_BALL, **losses)
        spec.delete(joint)
    return still, others


def placed(mujoco: Any, model: Any, floating: Sequence[FloatingBody]) -> list[FloatingBody]:
    """The same with their places in the world at ``qpos0``."""
    if not floating:
        return []
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    bodies = [data.body(each.body) for each in floating]
    return [
        each._replace(pos=body.xpos.tolist(), quat=body.xquat.tolist())
        for each, body in zip(floating, bodies, strict=True)
    ]


def move_to_world(root: ElementTree.Element, floating: Sequence[FloatingBody]) -> None:
    """Move these bodies into the world's body of an MJCF, where they have a free joint."""
    world = root.find("worldbody")
    if world is None:
        return
    for each in floating:
        pairs = ((above, body) for above in world.iter() for body in above.findall("body"))
        above, body = next(pair for pair in pairs if pair[1].get("name") == each.body)
        above.remove(body)
        parts = {f"{each.joint}_{end}" for end in _PARTS}
        free = ElementTree.Element("joint", {"name": each.joint, "type": "free"})
        for joint in [j for j in body.findall("joint") if j.get("name") in parts]:
            body.remove(joint)
            losses = {name: joint.get(name, "") for name in ("damping", "frictionloss")}
            free.attrib.update({name: text for name, text in losses.items() if text})
        body.insert(0, free)
        for name in ("pos", "quat", "axisangle", "xyaxes", "zaxis", "euler"):
            body.attrib.pop(name, None)
        for name, numbers in (("pos", each.pos), ("quat", each.quat)):
            body.set(name, " ".join(f"{number:.9g}" for number in numbers))
        world.append(body)
