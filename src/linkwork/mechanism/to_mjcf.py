"""A description as MJCF, made by MuJoCo's own compiler, with the meshes that it needs.

The description and its meshes are made such as MuJoCo takes them (`formats.mjcf.write`); inertias
that no body has become the nearest ones; what stands beside the tree becomes equalities
(`to_mjcf_loops`); MuJoCo compiles all that, and writes it. What is lost on the way is told.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from linkwork.errors import DescriptionError, Finding, InputError, Level
from linkwork.formats.mjcf.read import heard, mujoco_module
from linkwork.formats.mjcf.write import (
    check_depth,
    finding,
    left_out,
    move_to_world,
    placed,
    split_free_joints,
    urdf_for_mujoco,
    with_mesh_names,
    without_sizeless_shapes,
)
from linkwork.formats.urdf.convert import listed
from linkwork.formats.urdf.records import ZERO, Document, Inertial, Link, Matrix3, Mesh, Robot
from linkwork.geometry import guards
from linkwork.geometry.load import load
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.to_mjcf_loops import Lost, add_loops, settle_rods

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Converting to MJCF (`linkwork convert`)
mujoco | error, note | What MuJoCo says of a URDF that it compiles. | See the hint.
mujoco-shell | note | A mesh without a volume is a shell for MuJoCo. | Close it.
mjcf-lost | note | What the MJCF does not have. | Add it by hand if it is needed.
mjcf-loops | warning | A loop, coupling or motor that MuJoCo has no equality or actuator for is left
    out. | Write it another way, as points or polynomials.
mjcf-inertia | warning | An inertia that no body has is replaced by the nearest one that MuJoCo
    takes. | Compute it anew.
mjcf-mesh | note | Meshes are written anew, without colours. | Nothing to do.
"""


_ELEMENT = re.compile(r"Element name '(.*)', id")
_MOST_FACES = 200_000  # of an STL, for MuJoCo

LEAST_INERTIA = 1e-9
"""kg m², of a mass that has no inertia."""


@dataclass(frozen=True, slots=True)
class Mjcf:
    """The text of an MJCF, the files to write beside it by their names, and what was lost."""

    text: str
    files: dict[str, bytes]
    findings: tuple[Finding, ...]


def to_mjcf(
    document: Document,
    folder: Path | None,
    *,
    find: Callable[[str], Path],
    copy: bool = False,
    mechanism: Mechanism | None = None,
) -> Mjcf:
    """The MJCF of a description, to be written into ``folder`` (None: nowhere, whole paths).

    Every link stays a body, and every visual a geom. ``find`` gives the file of a mesh's name, or
    raises InputError. ``copy`` puts all meshes into ``meshes/``; without it, those that MuJoCo
    reads stay where they are. ``mechanism`` is that of the description with its loops, couplings
    and actuated joints, which MuJoCo then has as equalities and motors; those that it cannot hold
    are warnings.

    Raises: DescriptionError for what MuJoCo does not compile, and for links under more joints than
    an MJCF can be read with; MissingExtraError without ``mujoco``.
    """
    mujoco = mujoco_module()
    check_depth(document.robot)
    robot, sizeless = without_sizeless_shapes(document.robot)
    problems = [*left_out(robot), *sizeless]
    assets: dict[str, _Asset] = {}
    names: dict[str, str | None] = {}
    for name in dict.fromkeys(_mesh_names(robot)):
        try:
            path = find(name)
            data, suffix, as_it_is = _readable(path)
            names[name] = short = _free_name(path.stem, suffix, assets)
            new = copy or not as_it_is
            written = f"meshes/{short}" if new else _name_from(folder, path)
            assets[short] = _Asset(data, written, new=new, remade=not as_it_is)
        except InputError as error:
            names[name] = None
            message = f"shapes with this mesh are left out: {error}"
            problems.append(finding("warning", "mesh-missing", message, robot, name=name))
    remade = [name for name, short in names.items() if short and assets[short].remade]
    if remade:
        message = f"meshes are written anew for MuJoCo, without colours: {listed(remade)}"
        problems.append(finding("note", "mjcf-mesh", message, robot))
    robot, changed = with_possible_inertias(with_mesh_names(robot, names))
    contents = {name: asset.data for name, asset in assets.items()}
    root, more = _compiled(mujoco, robot, contents, mechanism)
    for mesh in root.iterfind("asset/mesh"):
        # MuJoCo was given all meshes under short names; here are those that they have on the disk
        mesh.set("file", assets[mesh.get("file", "")].written)
    files = {asset.written: asset.data for asset in assets.values() if asset.new}
    text = ElementTree.tostring(root, encoding="unicode") + "\n"
    return Mjcf(text, files, (*problems, *changed, *more))


# meshes


@dataclass(frozen=True, slots=True)
class _Asset:
    """A mesh as MuJoCo gets it: under a short name, and under which name the MJCF has it."""

    data: bytes
    written: str
    new: bool  # to be written beside the MJCF
    remade: bool  # in another format than the file it comes from


def _mesh_names(robot: Robot) -> Iterator[str]:
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            if isinstance(shape.geometry, Mesh):
                yield shape.geometry.filename


def _free_name(stem: str, suffix: str, taken: dict[str, _Asset]) -> str:
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
    faces = int.from_bytes(data[80:84], "little")  # of an STL, where it is a binary one
    is_binary_stl = suffix == ".stl" and len(data) == 84 + 50 * faces
    if suffix == ".obj" or (is_binary_stl and 0 < faces <= _MOST_FACES):
        return data, suffix, True
    mesh: Any = load(path).mesh()
    if len(mesh.faces) <= _MOST_FACES:
        return bytes(mesh.export(file_type="stl")), ".stl", False
    text: str = mesh.export(file_type="obj", include_color=False, include_texture=False)
    return text.encode(), ".obj", False


def _name_from(folder: Path | None, path: Path) -> str:
    """The name that a file has in an MJCF in this folder."""
    place = str(path)
    if folder is not None:
        with suppress(ValueError):  # on another drive
            place = os.path.relpath(path, os.path.realpath(folder))
    return place.replace(os.sep, "/")


# inertias

_ROOM = 1.2e-5  # of the largest moment: three numbers of six digits are this far off together
_ROUNDS = 50
_SMALLEST = 1e-14  # kg m²; MuJoCo refuses moments below 1e-15
_NONE: Matrix3 = (ZERO, ZERO, ZERO)
_LEAST: Matrix3 = (
    (LEAST_INERTIA, 0.0, 0.0),
    (0.0, LEAST_INERTIA, 0.0),
    (0.0, 0.0, LEAST_INERTIA),
)
_LOST = "links that never move lose a mass and inertia that no body has"
_POINTS = "masses without inertia get 1e-09 kg m2, as MuJoCo needs"
_UNKNOWN = "mass or inertia is not said: MuJoCo gets none, or 1e-9 kg m² for a mass without"
_MENDED = "inertias that no body has become the nearest ones that MuJoCo takes"


def with_possible_inertias(robot: Robot) -> tuple[Robot, list[Finding]]:
    """The robot with inertias that MuJoCo takes, and what was changed.

    MuJoCo refuses a whole robot for one inertia that no body has; it writes six digits and holds
    the triangle inequality to the last one of them, so that a flat plate can come out as an inertia
    that it does not read again. Links that move with a negative mass stay as they are. In links
    that never move a mass or inertia that is not positive has no effect, and is left out.
    """
    moving = _moving_links(robot)
    dropped: list[str] = []
    points: list[str] = []
    mended: list[str] = []
    unknown: list[str] = []

    def fitted(link: Link, own: Inertial) -> Inertial | None:
        if own.mass is None:  # unknown; MuJoCo makes what it can of the collision shapes
            unknown.append(link.name)
            return None
        if own.mass == 0 and not (own.inertia and any(map(any, own.inertia))):
            return replace(own, inertia=own.inertia or _NONE, extra=())
        if own.inertia is None or (own.mass > 0 and not any(map(any, own.inertia))):
            (unknown if own.inertia is None else points).append(link.name)
            return replace(own, inertia=_LEAST, extra=())  # that has what is left of a matrix
        nearest, distance = nearest_possible_inertia(own.inertia)
        if own.mass < 0 and link.name in moving:
            return own
        if (own.mass < 0 or not _is_definite(own.inertia)) and link.name not in moving:
            dropped.append(link.name)
            return None
        if distance > 2 * _ROOM:
            mended.append(link.name)
        return replace(own, inertia=nearest)

    links = tuple(
        link if link.inertial is None else replace(link, inertial=fitted(link, link.inertial))
        for link in robot.links
    )
    changed: list[Finding] = []
    for code, message, names in (
        ("mjcf-lost", _LOST, dropped),
        ("mjcf-lost", _POINTS, points),
        ("mjcf-inertia", _UNKNOWN, unknown),
        ("mjcf-inertia", _MENDED, mended),
    ):
        level: Level = "note" if code == "mjcf-lost" else "warning"
        if names:
            changed.append(finding(level, code, f"{message}: {listed(names)}", robot))
    return replace(robot, links=links), changed


def nearest_possible_inertia(inertia: Matrix3) -> tuple[Matrix3, float]:
    """An inertia that a body has, near one that is not zero, and how far from it.

    The distance is that of the moments, by the largest of them. Moments that are not positive, or
    too small for MuJoCo, become `LEAST_INERTIA`; then the nearest ones that keep the triangle
    inequality with some room are taken. An inertia that is possible already comes back as it is.

    Source: projections on the half spaces a + b >= (1 + room) c, one after the other (Kaczmarz).
    """
    matrix = np.array(inertia)
    scale = float(np.abs(matrix).max())
    given, axes = np.linalg.eigh(matrix / scale)
    moments = given if given[0] * scale > _SMALLEST else np.maximum(given, LEAST_INERTIA / scale)
    for _ in range(_ROUNDS):  # another moment may be the largest then
        order = np.argsort(moments, kind="stable")
        normal = np.array([1.0, 1.0, -(1.0 + _ROOM)])[np.argsort(order)]
        lacking = -float(normal @ moments)
        if lacking <= 0.0:
            break
        moments = moments + normal * ((lacking + 1e-7 * moments.max()) / 3.0)
    if np.array_equal(moments, given):
        return inertia, 0.0
    new = (axes * moments) @ axes.T * scale
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (0.5 * (new + new.T)).tolist()
    distance = float(np.linalg.norm(moments - given)) / float(np.abs(given).max())
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)), distance


def _is_definite(inertia: Matrix3) -> bool:
    matrix = np.array(inertia)
    return bool(np.linalg.eigvalsh(matrix / np.abs(matrix).max())[0] > 0.0)


def _moving_links(robot: Robot) -> set[str]:
    """The links that some joint moves."""
    below: dict[str, list[str]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint.child)
    waiting = [joint.child for joint in robot.joints if joint.type != "fixed"]
    moving: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in moving:
            moving.add(name)
            waiting += below.get(name, ())
    return moving


# MuJoCo


def _compiled(
    mujoco: Any, robot: Robot, assets: dict[str, bytes], m: Mechanism | None
) -> tuple[ElementTree.Element, list[Finding]]:
    """The MJCF, and what MuJoCo warned of."""
    lost: Lost = {}
    try:
        with heard(mujoco) as said:
            spec = mujoco.MjSpec.from_string(urdf_for_mujoco(robot))
            spec.assets = assets
            _limit_balls(mujoco, spec)
            floating, split = split_free_joints(mujoco, spec)
            if m is not None:
                lost = add_loops(mujoco, spec, m)
            model, flat = _as_shells(mujoco, spec)
            _say_inertias(mujoco, spec, model)
            if m is not None:
                settle_rods(spec, model, m)
            spec.compile()
            root = ElementTree.fromstring(str(spec.to_xml()))
            move_to_world(root, placed(mujoco, model, floating))
            ElementTree.indent(root)
    except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise _refusal(error, robot) from None
    problems = [] if m is None else list(_findings_of_loops(m, lost, robot))
    problems += [finding("note", "mujoco", f"MuJoCo: {t}", robot) for t in dict.fromkeys(said)]
    split += [joint.name for joint in robot.joints if joint.type == "planar"]
    if flat:
        message = f"meshes without a volume are shells for MuJoCo: {listed(flat)}"
        problems.append(finding("note", "mujoco-shell", message, robot))
    if split:
        message = "planar and floating joints become several joints, with other names"
        problems.append(finding("note", "mjcf-lost", f"{message}: {listed(split)}", robot))
    return root, problems


def _limit_balls(mujoco: Any, spec: Any) -> None:
    """Let angles of ball joints count: MuJoCo reads them from a URDF, and does not hold them."""
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_BALL:
            most = float(joint.range[1])
            joint.range = [0.0, most]
            joint.limited = int(0.0 < most < math.pi)


def _findings_of_loops(m: Mechanism, lost: Lost, robot: Robot) -> Iterator[Finding]:
    """Findings about loops, couplings and motors."""
    for what, names in lost.items():
        message = f"{what} are left out, as MuJoCo has none: {listed(names)}"
        yield finding("warning", "mjcf-loops", message, robot)
    without = {name for names in lost.values() for name in names}
    held = [each.name for each in (*m.loops, *m.couplings) if each.name not in without]
    if held:
        message = "loops and couplings become equality constraints, which a simulation holds softly"
        yield finding("note", "mjcf-lost", f"{message}: {listed(held)}", robot)


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
            moments, _ = nearest_possible_inertia(((a, 0.0, 0.0), (0.0, b, 0.0), (0.0, 0.0, c)))
            body.explicitinertial, body.mass = True, mass
            body.inertia = [row[k] for k, row in enumerate(moments)]
            body.fullinertia = [nan] * 6
            body.ipos, body.iquat = model.body_ipos[body.id], model.body_iquat[body.id]


def _refusal(error: BaseException, robot: Robot) -> DescriptionError:
    """The error of a description that MuJoCo does not compile, with the line of what it names."""
    text = " ".join(str(error).split()).removeprefix("Error: ")
    named = _ELEMENT.search(text)
    name = named[1] if named else ""
    line = next((i.line for i in (*robot.links, *robot.joints) if i.name == name), 0)
    hint = ""
    if "mass and inertia" in text:
        hint = "MuJoCo needs mass and inertia in every link that moves; add an <inertial>"
    elif "eigenvalues" in text:
        hint = "all principal moments of inertia are above 0; compute them anew"
    found = finding("error", "mujoco", f"MuJoCo does not compile it: {text}", robot, name=name)
    return DescriptionError([replace(found, line=line, hint=hint)])
