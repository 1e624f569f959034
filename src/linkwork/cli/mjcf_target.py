"""A description as MJCF, made by MuJoCo's own compiler, with the meshes that it needs.

MuJoCo reads URDF itself, but not ``package://`` names, and of mesh files only binary STL and OBJ.
So the meshes are found and, where needed, made into STL before; and what MuJoCo leaves out of a
description without a word is told.
"""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from linkwork.cli.mjcf_floating import freed, placed, unfree
from linkwork.cli.mjcf_inertias import LEAST, Ready, made_ready, nearest_possible
from linkwork.cli.mjcf_loops import Lost, add_loops, settle_rods, told
from linkwork.errors import DescriptionError, Finding, InputError
from linkwork.formats.mjcf.compiled import mujoco_module
from linkwork.formats.mjcf.flat import DEEPEST
from linkwork.formats.urdf.edit.mesh_names import renamed_meshes
from linkwork.formats.urdf.edit.tree import root_of
from linkwork.formats.urdf.records import (
    Box,
    Document,
    ExtraElement,
    Joint,
    Link,
    Mesh,
    Robot,
    Shape,
)
from linkwork.formats.urdf.write import to_text
from linkwork.geometry import guards
from linkwork.geometry.load import load
from linkwork.locating import Folders, locate
from linkwork.mechanism.model import Mechanism

_ELEMENT = re.compile(r"Element name '(.*)', id")
_SHOWN = 6
_MOST_FACES = 200_000  # of an STL, for MuJoCo


@dataclass(frozen=True, slots=True)
class Made:
    """The text of an MJCF, the files to write beside it by their names, and what was lost."""

    text: str
    files: dict[str, bytes]
    problems: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _Asset:
    """A mesh as MuJoCo gets it: under a short name, and under which name the MJCF has it."""

    data: bytes
    written: str
    new: bool  # to be written beside the MJCF
    remade: bool  # in another format than the file it comes from


def to_mjcf(
    document: Document,
    folder: Path | None,
    *,
    copy: bool = False,
    allow: Folders = (),
    loops: Mechanism | None = None,
) -> Made:
    """The MJCF of a description, to be written into ``folder`` (None: nowhere, whole paths).

    Every link stays a body, and every visual a geom. ``copy`` puts all meshes into ``meshes/``;
    without it, those that MuJoCo reads stay where they are. ``loops`` is the mechanism of the
    description with its loops, couplings and actuated joints, which MuJoCo then has as equalities
    and motors; those that it cannot hold are warnings.

    Raises: DescriptionError for what MuJoCo does not compile, and for links under more joints than
    an MJCF can be read with; MissingExtraError without ``mujoco``.
    """
    mujoco = mujoco_module()
    _refuse_deep(document.robot)
    robot, sizeless = _without_sizeless(document.robot)
    problems = [*_left_out(robot), *sizeless]
    assets: dict[str, _Asset] = {}
    names: dict[str, str | None] = {}
    for name in dict.fromkeys(mesh.filename for _, mesh in _meshes(robot)):
        try:
            path = locate(name, robot.file, allow)
            data, suffix, as_it_is = _readable(path)
            names[name] = short = _free(path.stem, suffix, assets)
            new = copy or not as_it_is
            written = f"meshes/{short}" if new else _from(folder, path)
            assets[short] = _Asset(data, written, new=new, remade=not as_it_is)
        except InputError as error:
            names[name] = None
            message = f"shapes with this mesh are left out: {error}"
            problems.append(_problem("warning", "mesh-missing", message, robot, name=name))
    made_new = [name for name, short in names.items() if short and assets[short].remade]
    if made_new:
        message = f"meshes are written anew for MuJoCo, without colours: {_listed(made_new)}"
        problems.append(_problem("note", "mjcf-mesh", message, robot))
    ready = made_ready(_with_names(robot, names))
    problems += _of_inertias(ready, robot)
    text = _for_mujoco(ready.robot)
    contents = {name: asset.data for name, asset in assets.items()}
    root, more = _compiled(mujoco, text, contents, robot, loops)
    for mesh in root.iterfind("asset/mesh"):
        # MuJoCo was given all meshes under short names; here are those that they have on the disk
        mesh.set("file", assets[mesh.get("file", "")].written)
    files = {asset.written: asset.data for asset in assets.values() if asset.new}
    written = ElementTree.tostring(root, encoding="unicode") + "\n"
    return Made(written, files, tuple([*problems, *more]))


def _refuse_deep(robot: Robot) -> None:
    """An MJCF nests each body in the one that carries it, and its readers take only so many."""
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
                problem = _problem("error", "too-deep", message, robot, name=joint.child)
                raise DescriptionError([replace(problem, line=joint.line, hint=hint)])
            waiting.append((joint.child, depth + 1))


def _without_sizeless(robot: Robot) -> tuple[Robot, list[Finding]]:
    """The robot without shapes that have no size, which MuJoCo refuses, and a warning for each."""
    problems: list[Finding] = []

    def kept(link: Link, shapes: tuple[Any, ...]) -> tuple[Any, ...]:
        for shape in shapes:
            if _is_sizeless(shape.geometry):
                kind = type(shape.geometry).__name__.lower()
                message = f"a {kind} without size is left out, as MuJoCo takes none"
                line, file = shape.line, robot.file or ""
                problems.append(
                    Finding("warning", "mjcf-size", message, file, line, kind, link.name)
                )
        return tuple(shape for shape in shapes if not _is_sizeless(shape.geometry))

    links = tuple(
        replace(link, visuals=kept(link, link.visuals), collisions=kept(link, link.collisions))
        for link in robot.links
    )
    return (replace(robot, links=links) if problems else robot), problems


def _is_sizeless(shape: Shape | None) -> bool:
    if isinstance(shape, Box):
        return min(shape.size) <= 0.0
    if isinstance(shape, Mesh):
        return shape.scale is not None and 0.0 in shape.scale
    return shape is not None and min(shape.radius, getattr(shape, "length", 1.0)) <= 0.0


def _of_inertias(ready: Ready, robot: Robot) -> Iterator[Finding]:
    if ready.dropped:
        message = "links that never move lose a mass and inertia that no body has"
        yield _problem("note", "mjcf-lost", f"{message}: {_listed(ready.dropped)}", robot)
    if ready.points:
        message = f"masses without inertia get {LEAST:g} kg m2, as MuJoCo needs"
        yield _problem("note", "mjcf-lost", f"{message}: {_listed(ready.points)}", robot)
    if ready.unknown:
        message = "mass or inertia is not said: MuJoCo gets none, or 1e-9 kg m² for a mass without"
        yield _problem("warning", "mjcf-inertia", f"{message}: {_listed(ready.unknown)}", robot)
    if ready.mended:
        message = "inertias that no body has become the nearest ones that MuJoCo takes"
        yield _problem("warning", "mjcf-inertia", f"{message}: {_listed(ready.mended)}", robot)


# meshes


def _meshes(robot: Robot) -> Iterator[tuple[Link, Mesh]]:
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            if isinstance(shape.geometry, Mesh):
                yield link, shape.geometry


def _free(stem: str, suffix: str, taken: dict[str, _Asset]) -> str:
    """A short name that no other mesh has."""
    plain = re.sub(r"[^A-Za-z0-9_.\-]", "_", stem) or "mesh"
    name, number = f"{plain}{suffix}", 2
    while name in taken:
        name, number = f"{plain}_{number}{suffix}", number + 1
    return name


def _readable(path: Path) -> tuple[bytes, str, bool]:
    """A mesh file that MuJoCo reads, what its name ends in, and whether it is the file itself."""
    guards.check(path)
    data = path.read_bytes()
    suffix = path.suffix.lower()
    faces = _faces_of_stl(data) if suffix == ".stl" else 0
    if suffix == ".obj" or 0 < faces <= _MOST_FACES:
        return data, suffix, True
    mesh: Any = load(path).mesh()
    if len(mesh.faces) <= _MOST_FACES:
        return bytes(mesh.export(file_type="stl")), ".stl", False
    text: str = mesh.export(file_type="obj", include_color=False, include_texture=False)
    return text.encode(), ".obj", False


def _from(folder: Path | None, path: Path) -> str:
    """The name that a file has in an MJCF in this folder."""
    place = str(path)
    if folder is not None:
        with suppress(ValueError):  # on another drive
            place = os.path.relpath(path, os.path.realpath(folder))
    return place.replace(os.sep, "/")


def _faces_of_stl(data: bytes) -> int:
    """How many faces a binary STL has, 0 for another file."""
    faces = int.from_bytes(data[80:84], "little")
    return faces if len(data) == 84 + 50 * faces else 0


def _with_names(robot: Robot, names: dict[str, str | None]) -> Robot:
    """The robot with short names of meshes, without shapes that have no file.

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


# MuJoCo


def _for_mujoco(robot: Robot) -> str:
    """The URDF with MuJoCo's own element: no link is fused, no visual dropped, no path cut."""
    own = ElementTree.Element("mujoco")
    for extra in robot.extra:
        if isinstance(extra, ExtraElement) and extra.tag == "mujoco":
            own.extend(ElementTree.fromstring(extra.xml))
    compiler = own.find("compiler")
    if compiler is None:
        compiler = ElementTree.SubElement(own, "compiler")
    for name in ("meshdir", "texturedir", "assetdir"):
        compiler.attrib.pop(name, None)
    for name in ("discardvisual", "fusestatic", "strippath"):
        compiler.set(name, compiler.get(name, "false") if name == "fusestatic" else "false")
    others = tuple(e for e in robot.extra if getattr(e, "tag", "") != "mujoco")
    text = to_text(replace(robot, extra=others, comments=(), transmissions=(), source=None))
    end = text.rindex("</robot>")
    return text[:end] + ElementTree.tostring(own, encoding="unicode") + text[end:]


def _compiled(
    mujoco: Any, text: str, assets: dict[str, bytes], robot: Robot, loops: Mechanism | None
) -> tuple[ElementTree.Element, list[Finding]]:
    """The MJCF, and what MuJoCo warned of."""
    said: list[str] = []
    problems: list[Finding] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(said.append)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spec = mujoco.MjSpec.from_string(text)
            spec.assets = assets
            _limit_balls(mujoco, spec)
            floating, split = unfree(mujoco, spec)
            if loops is not None:
                problems += _of_loops(loops, add_loops(mujoco, spec, loops), robot)
            model, flat = _as_shells(mujoco, spec)
            _say_inertias(mujoco, spec, model)
            if loops is not None:
                settle_rods(spec, model, loops)
            spec.compile()
            root = ElementTree.fromstring(str(spec.to_xml()))
            freed(root, placed(mujoco, model, floating))
            ElementTree.indent(root)
    except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise _refused(error, robot) from None
    finally:
        mujoco.set_mju_user_warning(before)
    said += [str(warning.message) for warning in caught]
    problems += [_problem("note", "mujoco", f"MuJoCo: {t}", robot) for t in dict.fromkeys(said)]
    split += [joint.name for joint in robot.joints if joint.type == "planar"]
    if flat:
        message = f"meshes without a volume are shells for MuJoCo: {_listed(flat)}"
        problems.append(_problem("note", "mujoco-shell", message, robot))
    if split:
        message = "planar and floating joints become several joints, with other names"
        problems.append(_problem("note", "mjcf-lost", f"{message}: {_listed(split)}", robot))
    return root, problems


def _limit_balls(mujoco: Any, spec: Any) -> None:
    """The angles of ball joints count: MuJoCo reads them from a URDF, and leaves them without."""
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_BALL:
            most = float(joint.range[1])
            joint.range = [0.0, most]
            joint.limited = int(0.0 < most < math.pi)


def _of_loops(m: Mechanism, lost: list[Lost], robot: Robot) -> Iterator[Finding]:
    """What is said of loops, couplings and motors."""
    for what, names in told(lost):
        message = f"{what} are left out, as MuJoCo has none: {_listed(names)}"
        yield _problem("warning", "mjcf-loops", message, robot)
    without = {name for _, name in lost}
    held = [each.name for each in (*m.loops, *m.couplings) if each.name not in without]
    if held:
        message = "loops and couplings become equality constraints, which a simulation holds softly"
        yield _problem("note", "mjcf-lost", f"{message}: {_listed(held)}", robot)


def _as_shells(mujoco: Any, spec: Any) -> tuple[Any, list[str]]:
    """The compiled model, and the meshes without a volume: these are made shells."""
    flat: list[str] = []
    while True:
        try:
            return spec.compile(), flat
        except ValueError as error:
            named = _ELEMENT.search(str(error))
            mesh = spec.mesh(named[1]) if named and "volume is too small" in str(error) else None
            shell = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
            if mesh is None or mesh.inertia == shell:
                raise
            mesh.inertia = shell
            flat.append(str(mesh.name))


def _say_inertias(mujoco: Any, spec: Any, model: Any) -> None:
    """Write out the masses that follow from shapes: who reads them needs no mesh."""
    from_shapes = mujoco.mjtInertiaFromGeom
    always = spec.compiler.inertiafromgeom == from_shapes.mjINERTIAFROMGEOM_TRUE
    spec.compiler.inertiafromgeom = from_shapes.mjINERTIAFROMGEOM_AUTO
    for body in spec.bodies[1:]:
        mass = float(model.body_mass[body.id])
        if mass > 0.0 and (always or not body.explicitinertial):
            a, b, c = model.body_inertia[body.id].tolist()
            moments, _ = nearest_possible(((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c)))
            body.explicitinertial, body.mass = True, mass
            body.inertia = [row[k] for k, row in enumerate(moments)]
            body.fullinertia = [nan] * 6
            body.ipos, body.iquat = model.body_ipos[body.id], model.body_iquat[body.id]


def _refused(error: BaseException, robot: Robot) -> DescriptionError:
    text = " ".join(str(error).split()).removeprefix("Error: ")
    named = _ELEMENT.search(text)
    name = named[1] if named else ""
    items: Iterable[Link | Joint] = (*robot.links, *robot.joints)
    line = next((item.line for item in items if item.name == name), 0)
    hint = ""
    if "mass and inertia" in text:
        hint = "MuJoCo needs mass and inertia in every link that moves; add an <inertial>"
    elif "eigenvalues" in text:
        hint = "all principal moments of inertia are above 0; compute them anew"
    message = f"MuJoCo does not compile it: {text}"
    file = robot.file or ""
    return DescriptionError([Finding("error", "mujoco", message, file, line, name=name, hint=hint)])


# what is lost


def _left_out(robot: Robot) -> Iterator[Finding]:
    """What the description says and the MJCF does not."""
    told: list[tuple[str, Sequence[str]]] = [
        ("transmissions are left out", [t.name for t in robot.transmissions]),
        ("safety controllers are left out", [j.name for j in robot.joints if j.safety]),
        ("calibrations are left out", [j.name for j in robot.joints if j.calibration]),
        (
            "limits of velocity are left out",
            [j.name for j in robot.joints if j.limit and j.limit.velocity is not None],
        ),
        (
            "limits on one side, and without room between them, are left out",
            [j.name for j in robot.joints if _has_lost_limits(j)],
        ),
        (
            "the world of an MJCF has no mass: that of the link is left out",
            [link.name for link in robot.links if link.name == "world" and link.inertial],
        ),
        (
            "mimic joints become equality constraints, which a simulation holds softly",
            [j.name for j in robot.joints if j.mimic],
        ),
        ("textures are left out", sorted(_textures(robot))),
        (
            "elements that URDF does not define are left out",
            sorted({f"<{tag}>" for tag in _unknown(robot) if tag != "mujoco"}),
        ),
        (
            "links without <inertial> weigh what MuJoCo makes of their collision shapes",
            [link.name for link in robot.links if link.inertial is None and link.collisions],
        ),
    ]
    for what, names in told:
        if names:
            yield _problem("note", "mjcf-lost", f"{what}: {_listed(names)}", robot)
    precise = "MuJoCo writes numbers with six digits: poses may differ by a micrometre"
    yield _problem("note", "mjcf-digits", precise, robot)


def _has_lost_limits(joint: Joint) -> bool:
    limit = joint.limit
    if limit is None or joint.type not in ("revolute", "prismatic"):
        return False
    if limit.lower is None or limit.upper is None:
        return limit.lower is not limit.upper
    return limit.lower >= limit.upper


def _textures(robot: Robot) -> set[str]:
    given = [*robot.materials, *(v.material for link in robot.links for v in link.visuals)]
    return {material.texture for material in given if material and material.texture}


def _unknown(robot: Robot) -> Iterator[str]:
    for owner in (robot, *robot.links, *robot.joints):
        for extra in owner.extra:
            if isinstance(extra, ExtraElement):
                yield extra.tag


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def _problem(level: Any, code: str, message: str, robot: Robot, name: str = "") -> Finding:
    return Finding(level, code, message, robot.file or "", name=name)
