"""Reading an MJCF: its kinematics and masses, as MuJoCo's own compiler understands them.

Defaults and classes, angles and Euler orders, frames, repetitions, inertia from shapes, sums of
masses: all of this is MuJoCo's business. Which files are opened, what is left out, and where in
the files a problem lies are ours (see `flatten`).
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from html import unescape
from itertools import takewhile
from math import isnan, nan
from pathlib import Path
from typing import Any, Literal
from xml.parsers import expat

import numpy as np
import numpy.typing as npt

from linkwork import extras
from linkwork.errors import (
    DescriptionError,
    Finding,
    InputError,
    Level,
    LinkworkError,
    MissingExtraError,
)
from linkwork.formats.mjcf.flatten import Flat, MeshFile, flatten
from linkwork.formats.mjcf.records import (
    Anchor,
    Body,
    Closure,
    Coupling,
    Drive,
    Geom,
    Joint,
    Keyframe,
    Mesh,
    MjcfModel,
    Place,
    Quaternion,
    Site,
    Terms,
    Vector,
)
from linkwork.formats.urdf.convert import show
from linkwork.formats.urdf.source import declaration_first, gather
from linkwork.ops.numpy import NUMPY, PLAIN
from linkwork.spatial.rotations import conjugate, from_quaternion, multiply_quaternions

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# MJCF
mjcf | error, note | What MuJoCo says of the file. | See its words.
mesh-mass | error | A mass follows from a mesh that cannot be read. | Give an `<inertial>`, or bring
    the mesh.
inactive | note | An equality that is not active is not read. | Nothing to do.
no-tendon | note | Tendons along sites are not read. | Nothing to do.
mocap | warning | A mocap body stays where it was described. | Use a free joint.
no-gravcomp | warning | Compensation of gravity is not read: such bodies weigh all that they have. |
    Add the forces yourself, as `external=`.
no-stiffness | warning | Springs of ball and free joints, and what of others is not linear, are not
    read. | Add them yourself.
no-damping | warning | Damping beyond the linear part is not read. | Add it yourself.
no-fluid | warning | Forces of a fluid (density, viscosity) are not read. | Add them yourself.
no-flag | warning | A flag that switches off a part of the physics is not read. | Remove the part.
no-effort | note | A range of forces that is not symmetric. | Mind it yourself.
no-angle | note | A limit that leaves a ball joint no angle. | Give the range its angle.
unnamed | note | Elements without a name get a number. | Name them.
"""


OpenMesh = Callable[[str, "str | None"], bytes]
"""From a place where a mesh file may be, and the MJCF's file, to its bytes. Raises InputError."""


class _Found(Exception):
    """The root element was reached."""


def is_mjcf(data: bytes) -> bool:
    """Whether the first element of an XML text is ``<mujoco>``.

    Nothing behind it is read. A text that is no XML is not MJCF.
    """
    roots: list[str] = []

    def start(tag: str = "", *_: object) -> None:
        roots.append(tag)
        raise _Found

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    parser.StartDoctypeDeclHandler = lambda *_: start()
    try:
        parser.Parse(declaration_first(data)[0], True)
    except (_Found, expat.ExpatError, ValueError, LookupError):
        pass
    finally:
        parser.StartElementHandler = parser.StartDoctypeDeclHandler = None
    return roots == ["mujoco"]


def read(
    source: str | os.PathLike[str] | bytes,
    *,
    file: str | None = None,
    allow: Sequence[str | os.PathLike[str]] = (),
    open_mesh: OpenMesh | None = None,
) -> MjcfModel:
    """The mechanism that a path, an XML text (it begins with '<') or bytes describe in MJCF.

    ``file`` is the name that messages use, and that included files are found by, where it is not
    the path. They must lie in its folder, the one above, or ``allow``. A mesh is opened only where
    a mass follows from it, by ``open_mesh`` (see `mechanism.from_mjcf.mesh_opener`).

    Raises: DescriptionError with file and line; MissingExtraError without the package ``mujoco``.
    """
    mujoco_module()
    data, name = gather(source, file)
    flat = flatten(data, name, allow=allow)
    model = extract(compiled(flat, name, open_mesh), flat, name)
    found = list(model.problems)
    for code, problem in flat.findings.items():
        more = flat.counts[code] - 1
        text = f" (here and at {more} more places)" if more else ""
        found.append(replace(problem, message=problem.message + text))
    own = flat.name or (Path(name).stem if name else "") or "mjcf"
    by_line = sorted(found, key=lambda problem: (problem.file, problem.line))
    return replace(model, name=own, problems=tuple(by_line))


# ---- what MuJoCo makes of a text

OLDEST = (3, 4)
"""The oldest MuJoCo that is used: before it, what MuJoCo refuses does not always have a line."""

_DIGITS = re.compile(r"\d+")

_ALONE = threading.Lock()

_LINE = re.compile(r"\bline (?:number=)?(\d+)", re.IGNORECASE)
_NAME = re.compile(r"Element name '(.*)', id -?\d+")
_NAMED = re.compile(r' name="([^"]*)"')
_INFO = re.compile(r"line (\d+)")
_KEY = re.compile(r"^Error: keyframe .*\bid (\d+)$", re.DOTALL)
_REPEATED = re.compile(r"repeated name '(.*)' in (\w+)")
_PREFIX = re.compile(r"^(XML )?(parse )?Error( \d+)?:\s*(Error:\s*|Schema violation:\s*)?", re.I)


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape that a point stands for."""

    type: str
    mesh: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """MuJoCo's model and specification, with what was changed in it."""

    model: Any
    spec: Any
    shapes: dict[int, Shape]  # by the geom's number
    meshes: dict[str, Mesh]  # by name, as they are written; files by the names that the text has
    warnings: tuple[str, ...]
    problems: tuple[Finding, ...] = ()


def mujoco_module() -> Any:
    """The package ``mujoco``, imported when it is first needed.

    Raises: MissingExtraError.
    """
    with extras.needed("reading MJCF needs", "mujoco", "mjcf"):
        import mujoco  # noqa: PLC0415 - an extra, and slow to import
    version: str = mujoco.__version__
    if tuple(map(int, _DIGITS.findall(version)[:2])) < OLDEST:
        raise MissingExtraError(
            f"reading MJCF needs mujoco {'.'.join(map(str, OLDEST))} or newer, and {version} is "
            "installed; update it with: pip install -U 'linkwork[mjcf]'"
        )
    return mujoco


def compiled(flat: Flat, file: str | None, open_mesh: OpenMesh | None) -> Compiled:
    """The model that MuJoCo compiles from a flat text.

    Raises: DescriptionError with what MuJoCo says, at its place in the files, or with every mesh
    that a mass follows from and that cannot be opened; MissingExtraError without MuJoCo.
    """
    mujoco = mujoco_module()
    failures = (ValueError, RuntimeError, mujoco.FatalError, mujoco.UnexpectedError, MemoryError)
    with heard(mujoco) as words:
        try:
            spec = mujoco.MjSpec.from_string(flat.text, include=flat.texts or None)
            meshes = {mesh.name: _written(mesh) for mesh in spec.meshes}
            pruned = _prune_tendons(mujoco, spec, flat)
            points, needed = _replaced(mujoco, spec, flat)
            assets = _opened(spec, flat, needed, file, open_mesh)
            if assets:
                spec.assets = assets
            model = spec.compile()
        except failures as error:
            if isinstance(error, LinkworkError):
                raise
            raise _described(error, flat) from None
    shapes = {int(geom.id): shape for geom, shape in points}
    return Compiled(model, spec, shapes, meshes, tuple(dict.fromkeys(words)), tuple(pruned))


def _written(mesh: Any) -> Mesh:
    """A mesh as it is written. MuJoCo turns it into its principal axes when it compiles."""
    scale, pos, quat = _vector(mesh.scale), _vector(mesh.refpos), _quaternion(mesh.refquat)
    points = np.asarray(mesh.uservert, np.float64).reshape(-1, 3)
    if len(points):
        R = np.array(from_quaternion(PLAIN, quat))
        points = (points - pos) @ R * scale
    faces = np.asarray(mesh.userface, np.int64).reshape(-1, 3)
    if np.prod(scale) < 0:  # mirrored: what was outside stays outside
        faces = faces[:, ::-1]
    return Mesh(
        name=mesh.name,
        files=(mesh.file,) if mesh.file else (),
        scale=scale,
        ref_pos=pos,
        ref_quat=quat,
        vertices=tuple(_vector(point) for point in points),
        faces=tuple((int(a), int(b), int(c)) for a, b, c in faces),
    )


@contextmanager
def heard(mujoco: Any) -> Generator[list[str], None, None]:
    """The warnings of MuJoCo meanwhile, instead of its lines on the screen and in a file.

    MuJoCo has one receiver of them for the whole process, so one thread at a time is in here.
    """
    words: list[str] = []
    with _ALONE:
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(words.append)
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                yield words
            words += [str(warning.message) for warning in caught]
        finally:
            mujoco.set_mju_user_warning(before)


def place_of(item: Any, flat: Flat) -> Place:
    """The place where a part of the specification was described."""
    found = _INFO.search(item.info)
    return flat.place(int(found[1])) if found else Place()


def _replaced(mujoco: Any, spec: Any, flat: Flat) -> tuple[list[tuple[Any, Shape]], dict[str, Any]]:
    """Put points in the place of shapes that need files and give no mass.

    Returns the points with what they were, and for each mesh that a mass follows from one of the
    shapes that do. Plugins' shapes that have a mass are refused.
    """
    meshes = {mesh.name for mesh in spec.meshes}
    points: list[tuple[Any, Shape]] = []
    needed: dict[str, Any] = {}
    errors: list[Finding] = []
    for geom in spec.geoms:
        plugged = geom.type == mujoco.mjtGeom.mjGEOM_SDF
        kind = "sdf" if plugged else "mesh" if geom.meshname else ""
        if not kind or (geom.meshname and geom.meshname not in meshes):
            continue  # MuJoCo says that there is no such mesh
        heavy = _gives_mass(mujoco, spec, geom, flat)
        if heavy and kind == "mesh" and geom.meshname not in flat.plugin_meshes:
            needed.setdefault(geom.meshname, geom)
            continue
        if heavy:
            whose = f"body '{geom.parent.name}'" if geom.parent.name else "a body without a name"
            message = f"the mass of {whose} follows from a plugin's shape, which is not read"
            errors.append(_mass_error(message, place_of(geom, flat), "geom", geom.name))
        points.append((geom, Shape(kind, geom.meshname)))
        geom.type, geom.meshname, geom.mass = mujoco.mjtGeom.mjGEOM_SPHERE, "", 0.0
        geom.size, geom.fromto = [1e-3, 0.0, 0.0], [nan] * 6
    if errors:
        raise DescriptionError(errors)
    for mesh in list(spec.meshes):
        if mesh.name not in needed:
            spec.delete(mesh)
    return points, needed


def _gives_mass(mujoco: Any, spec: Any, geom: Any, flat: Flat) -> bool:
    """Whether the mass or inertia of a body follows from a shape.

    The compiler settings are those of the ``<model>`` that the shape was attached from.
    Source: MuJoCo, XML reference, compiler: inertiafromgeom and inertiagrouprange.

    Raises: MissingExtraError with a MuJoCo older than 3.6, whose shapes do not know their own.
    """
    rules = getattr(geom, "compiler", None)
    if rules is None and flat.texts:
        raise MissingExtraError(
            "a <model> and shapes of files in one MJCF need mujoco 3.6 or newer; update it with: "
            "pip install -U 'linkwork[mjcf]'"
        )
    rules = spec.compiler if rules is None else rules
    body = geom.parent
    if body.name == "world" and body.id in (0, -1) and body.parent is None:
        return False
    low, high = rules.inertiagrouprange
    if not low <= geom.group <= high:
        return False
    from_shapes = rules.inertiafromgeom
    if from_shapes == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE:
        return False
    if from_shapes != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE and body.explicitinertial:
        return False
    if isnan(geom.mass):  # not given: by density
        return geom.density != 0
    return bool(geom.mass != 0)


def _opened(
    spec: Any, flat: Flat, needed: dict[str, Any], file: str | None, open_mesh: OpenMesh | None
) -> dict[str, bytes]:
    """The bytes of the files of these meshes, by the names that the text has for them.

    Raises: DescriptionError with every one that cannot be opened.
    """
    assets: dict[str, bytes] = {}
    errors: list[Finding] = []
    for name, geom in needed.items():
        key = spec.mesh(name).file
        source = flat.meshes.get(key)
        if source is None:
            continue  # its vertices stand in the MJCF
        try:
            assets[key] = _first(source, file, open_mesh)
        except InputError as error:
            message = f"the mass of body '{show(geom.parent.name)}' follows from it, but {error}"
            errors.append(_mass_error(message, source.place, "mesh", name))
    if errors:
        raise DescriptionError(errors)
    return assets


def _first(source: MeshFile, file: str | None, open_mesh: OpenMesh | None) -> bytes:
    """The content of a mesh file, from the first of its places that can be opened.

    Raises: InputError with the last reason.
    """
    if open_mesh is None:
        raise InputError(f"mesh '{show(source.name)}' is not opened: no folder for meshes is given")
    for place in source.files[:-1]:
        with suppress(InputError):
            return open_mesh(place, file)
    return open_mesh(source.files[-1], file)


def _mass_error(message: str, place: Place, element: str, name: str) -> Finding:
    found = _problem("error", "mesh-mass", message, place, element, name)
    return replace(found, hint="give the body an <inertial>, or bring the mesh")


def _described(error: BaseException, flat: Flat) -> DescriptionError:
    """MuJoCo's message, at the place in the files that it means."""
    text = str(error).strip() or type(error).__name__
    lines = [int(found) for found in _LINE.findall(text)]
    line = next((line for line in reversed(lines) if line), 0) or (
        _line_of_repeated(text, flat) or _line_of_key(text, flat)
    )
    place = flat.place(line)
    tag = flat.tags[line - 1] if 0 < line <= len(flat.tags) else ""
    named = _NAME.search(text)
    what = _PREFIX.sub("", text).split("\nElement ")[0].replace("\n", " ").strip()
    what = re.sub(  # mesh files as they were written
        r"\bmesh\d+\.\w+",
        lambda m: show(flat.meshes[m[0]].name) if m[0] in flat.meshes else m[0],
        what,
    )
    file = place.file or flat.file
    name = named[1] if named else ""
    message = f"MuJoCo: {show(what, 400)}"
    return DescriptionError(
        [Finding("error", "mjcf", message, file, place.line, show(tag), show(name))]
    )


def _line_of_repeated(text: str, flat: Flat) -> int:
    """The line of a name that is there twice: <replicate> makes names that MuJoCo has no line of.

    What it makes of a name begins with that name; the last of the longest is taken.
    """
    repeated = _REPEATED.search(text)
    if not repeated:
        return 0
    name, tag = repeated.groups()
    best = longest = 0
    for line, written in enumerate(flat.text.split("\n"), 1):
        named = _NAMED.search(written) if written.startswith(f"<{tag} ") else None
        own = unescape(named[1]) if named else ""
        if own and name.startswith(own) and len(own) >= longest:
            best, longest = line, len(own)
    return best


def _line_of_key(text: str, flat: Flat) -> int:
    """The line of a keyframe, which MuJoCo means by its number alone."""
    found = _KEY.search(text)
    lines = [line for line, tag in enumerate(flat.tags, 1) if tag == "key"]
    return lines[int(found[1])] if found and int(found[1]) < len(lines) else 0


# ---- loops, couplings and driven joints

_CONNECT, _WELD, _JOINT, _TENDON = range(4)
_OF_JOINT, _OF_JOINT_IN_PARENT, _OF_TENDON = 0, 1, 3
_SITE = 6
_ALONG_SITES = ("site", "geom", "pulley")
_WRAPS_SITE = 3
_UNTURNED: Quaternion = (1.0, 0.0, 0.0, 0.0)


def _prune_tendons(mujoco: Any, spec: Any, flat: Flat) -> list[Finding]:
    """Take out of a specification the tendons that are not read, and what belongs to them.

    A tendon along sites is read where it is a rod: between two of them, and held alone.
    """
    tendon_equality = mujoco.mjtEq.mjEQ_TENDON
    held = [e for e in spec.equalities if e.type == tendon_equality]
    alone = {equality.name1 for equality in held if not equality.name2}
    rods: set[str] = set()
    for tendon in list(spec.tendons):
        found = _INFO.search(tendon.info)
        line = int(found[1]) if found else 0
        if not 0 < line <= len(flat.tags) or flat.tags[line - 1] != "spatial":
            continue  # a sum of joints
        # told by the lines of the text: every element has its own there
        along = list(takewhile(_ALONG_SITES.__contains__, flat.tags[line:]))
        if along == ["site", "site"] and tendon.name in alone:
            rods.add(tendon.name)
            continue
        text = "tendons along sites are not read, but for rods between two"
        place = place_of(tendon, flat)
        flat.found("note", "no-tendon", text, place=place, element="tendon")
        spec.delete(tendon)
    known = {tendon.name for tendon in spec.tendons}
    problems: list[Finding] = []
    for equality in list(spec.equalities):
        if equality.type != tendon_equality:
            continue
        named = [name for name in (equality.name1, equality.name2) if name]
        lost = [n for n in named if n not in known or (n in rods and len(named) > 1)]
        if lost:
            text = f"the tendon '{show(lost[0])}' is not read: these joints move freely"
            problems.append(_problem("warning", "no-equality", text, place_of(equality, flat)))
            spec.delete(equality)
    for actuator in list(spec.actuators):
        target, pulls = actuator.target, actuator.trntype == mujoco.mjtTrn.mjTRN_TENDON
        if pulls and (target not in known or target in rods):
            text = f"the tendon '{show(target)}' is not read: it drives no joint here"
            problems.append(
                _problem("note", "no-actuator", text, place_of(actuator, flat), "actuator")
            )
            spec.delete(actuator)
    return problems


class Equalities:
    """The equalities and actuators of a compiled model."""

    def __init__(self, model: Any, names: Sequence[str], places: Sequence[Place]) -> None:
        self.m, self.names, self.places = model, names, places
        self.closures: list[Closure] = []
        self.couplings: list[Coupling] = []
        self.problems: list[Finding] = []
        for k in range(model.neq):
            self._equality(k)

    def _equality(self, k: int) -> None:
        m, kind, place = self.m, int(self.m.eq_type[k]), self.places[k]
        if not np.isfinite(m.eq_data[k]).all():
            raise DescriptionError(
                [_problem("error", "not-finite", "a number of it is not finite", place)]
            )
        if not m.eq_active0[k]:
            text = "it is not active at the start, and not read"
            self.problems.append(_problem("note", "inactive", text, place, name=self.names[k]))
        elif kind in (_CONNECT, _WELD):
            self._closure(k, weld=kind == _WELD and bool(m.eq_data[k][10]))
        elif kind in (_JOINT, _TENDON):
            one, two = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
            if kind == _TENDON and int(m.wrap_type[int(m.tendon_adr[one])]) == _WRAPS_SITE:
                self._rod(k, one)
                return
            # the joints of a joint or of a fixed tendon, with their factors
            terms, other = (
                ((number, 1.0),) if kind == _JOINT else tendon_terms(m, number)
                for number in (one, two if two >= 0 else one)
            )
            polynomial = tuple(float(x) for x in m.eq_data[k][:5])
            other = other if two >= 0 else ()
            self.couplings.append(Coupling(self.names[k], terms, other, polynomial, place))

    def _closure(self, k: int, *, weld: bool) -> None:
        m, data = self.m, self.m.eq_data[k]
        one, two = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
        if int(m.eq_objtype[k]) == _SITE:
            a, b = (self._at_site(s) for s in (one, two))
        elif int(m.eq_type[k]) == _WELD:  # the point of body 2 stands first
            a = Anchor(one, _vector(data[3:6]), _quaternion(data[6:10]))
            b = Anchor(two, _vector(data[0:3]), _UNTURNED)
        else:
            a = Anchor(one, _vector(data[0:3]), _UNTURNED)
            b = Anchor(two, _vector(data[3:6]), _UNTURNED)
        kind = "weld" if weld else "connect"
        self.closures.append(Closure(self.names[k], kind, a, b, self.places[k]))

    def _rod(self, k: int, tendon: int) -> None:
        """The length of a tendon counts from that at ``qpos0``."""
        m = self.m
        length = float(m.tendon_length0[tendon] + m.eq_data[k][0])
        if not length > 0.0:
            text = f"its length would be {length:.6g}: these joints move freely"
            problem = _problem("warning", "no-equality", text, self.places[k], name=self.names[k])
            self.problems.append(problem)
            return
        first = int(m.tendon_adr[tendon])
        a, b = (self._at_site(int(s)) for s in m.wrap_objid[first : first + 2])
        self.closures.append(Closure(self.names[k], "rod", a, b, self.places[k], length))

    def _at_site(self, s: int) -> Anchor:
        m = self.m
        return Anchor(int(m.site_bodyid[s]), _vector(m.site_pos[s]), _quaternion(m.site_quat[s]), s)


def tendon_terms(m: Any, tendon: int) -> Terms:
    """The joints of a fixed tendon, with their factors."""
    first = int(m.tendon_adr[tendon])
    terms = range(first, first + int(m.tendon_num[tendon]))
    found = [(int(m.wrap_objid[w]), float(m.wrap_prm[w])) for w in terms]
    return tuple(pair for pair in found if pair[1])


def driven_terms(m: Any, actuator: int) -> Terms:
    """The joints that an actuator drives, with the factors of its force."""
    kind, target = int(m.actuator_trntype[actuator]), int(m.actuator_trnid[actuator][0])
    if kind in (_OF_JOINT, _OF_JOINT_IN_PARENT):
        return ((target, 1.0),)
    return tendon_terms(m, target) if kind == _OF_TENDON else ()


def drives(m: Any, places: Sequence[Place]) -> tuple[Drive, ...]:
    """The joints that each actuator drives."""
    return tuple(
        Drive(tuple(j for j, _ in driven_terms(m, k)), places[k])
        for k in range(m.nu)
        if int(m.actuator_trntype[k]) in (_OF_JOINT, _OF_JOINT_IN_PARENT, _OF_TENDON)
    )


def force_ranges(m: Any) -> npt.NDArray[np.float64]:
    """The least and the greatest force of each joint's actuators, (njnt, 2), in N or N m.

    The forces of several actuators add up, as MuJoCo's do. One without a range of its force, or of
    a control that the force is a multiple of, leaves its joint without bounds; the joint's own
    range of forces (`actuatorfrcrange`) bounds the sum. Actuators of ball and free joints push
    along one direction of several, and bound nothing.

    Source: MuJoCo, XML reference: actuator/general, gear, forcerange, ctrlrange; and
    body/joint/actuatorfrcrange.
    """
    total = np.zeros((m.njnt, 2))
    driven = np.zeros(m.njnt, bool)
    for k in range(m.nu):
        span = np.array([-np.inf, np.inf])
        if m.actuator_biastype[k] == 0 and m.actuator_ctrllimited[k]:
            span = np.sort(m.actuator_gainprm[k][0] * m.actuator_ctrlrange[k])
        if m.actuator_forcelimited[k]:
            span = np.clip(span, *m.actuator_forcerange[k])
        for joint, factor in driven_terms(m, k):
            gear = factor * m.actuator_gear[k][0]
            total[joint] += np.sort(gear * span) if gear else 0.0
            driven[joint] = True
    scalar = np.array([_JOINT_TYPES[kind] in ("slide", "hinge") for kind in m.jnt_type], bool)
    total[~(driven & scalar)] = [-np.inf, np.inf]
    own = np.where(m.jnt_actfrclimited[:, None].astype(bool), m.jnt_actfrcrange, [-np.inf, np.inf])
    return np.clip(total, own[:, :1], own[:, 1:])


def _problem(
    level: Any, code: str, text: str, place: Place, element: str = "equality", name: str = ""
) -> Finding:
    return Finding(level, code, text, place.file, place.line, element, show(name))


# ---- records

_JOINT_TYPES: tuple[Literal["free", "ball", "slide", "hinge"], ...] = (
    "free",
    "ball",
    "slide",
    "hinge",
)
_QUATERNION_SIZES = {"free": 7, "ball": 4}


def extract(compiled: Compiled, flat: Flat, file: str | None) -> MjcfModel:
    """Everything about kinematics and masses; names are made for what has none.

    Raises: DescriptionError for numbers that are not finite.
    """
    m, spec = compiled.model, compiled.spec
    places = [_places(items, flat) for items in (spec.bodies, spec.joints, spec.sites)]
    bodies = _bodies(m, spec, _names(spec.bodies, m.nbody, "body"), places[0])
    forces = force_ranges(m)
    joints = _joints(m, _names(spec.joints, m.njnt, "joint"), places[1], forces)
    sites = _sites(m, _names(spec.sites, m.nsite, "site"), places[2])
    _check_finite(m, places)
    names = [item.name for item in _in_order(spec.equalities)]
    equalities = Equalities(m, names, _places(spec.equalities, flat))
    return MjcfModel(
        name="",
        file=file,
        bodies=bodies,
        joints=joints,
        sites=sites,
        geoms=_geoms(compiled, flat),
        closures=tuple(equalities.closures),
        couplings=tuple(equalities.couplings),
        keyframes=tuple(
            Keyframe(name, tuple(float(x) for x in qpos))
            for name, qpos in zip(_names(spec.keys, m.nkey, "key"), m.key_qpos, strict=True)
        ),
        drives=drives(m, _places(spec.actuators, flat)),
        gravity=_gravity(m),
        problems=(
            *compiled.problems,
            *equalities.problems,
            *_unnamed(spec.bodies, "body", flat),
            *_unnamed(spec.joints, "joint", flat),
            *_unread(m, bodies, joints, forces),
            *_unread_options(m, flat),
            *(
                Finding("note", "mjcf", f"MuJoCo: {show(word.strip(), 400)}", flat.file)
                for word in compiled.warnings
            ),
        ),
    )


_FLAGS = (
    "constraint",
    "equality",
    "frictionloss",
    "limit",
    "contact",
    "spring",
    "damper",
    "gravity",
)
"""Flags of the options, from the lowest bit on. Source: MuJoCo, API reference, mjtDisableBit."""


def _switched_off(m: Any) -> list[str]:
    return [name for bit, name in enumerate(_FLAGS) if int(m.opt.disableflags) >> bit & 1]


def _gravity(m: Any) -> Vector:
    return (0.0, 0.0, 0.0) if "gravity" in _switched_off(m) else _vector(m.opt.gravity)


def _unread_options(m: Any, flat: Flat) -> list[Finding]:
    """Findings on what the options say of the physics and a mechanism does not have."""
    off = [name for name in _switched_off(m) if name != "gravity"]
    place = flat.place(flat.tags.index("option") + 1) if "option" in flat.tags else Place()
    return [
        Finding("warning", code, text, place.file, place.line, "option")
        for code, text, found in (
            (
                "no-fluid",
                "the forces of a fluid (density, viscosity) are not read",
                m.opt.density or m.opt.viscosity,
            ),
            ("no-flag", f"it switches off {', '.join(off)}, which is not read", off),
        )
        if found
    ]


def _places(items: Iterable[Any], flat: Flat) -> list[Place]:
    """The places at which items were described, in the order of MuJoCo's numbers."""
    return [place_of(item, flat) for item in _in_order(items)]


def _in_order(items: Iterable[Any]) -> list[Any]:
    return sorted(items, key=lambda item: item.id)


def _names(items: Iterable[Any], count: int, kind: str) -> list[str]:
    """A name for each, in the order of MuJoCo's numbers: its own, or its kind and number."""
    given = [item.name for item in _in_order(items)][:count]
    taken = set(given)
    names: list[str] = []
    for number, own in enumerate(given):
        name = own or f"{kind}{number}"
        while not own and name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names


def _bodies(m: Any, spec: Any, names: Sequence[str], places: Sequence[Place]) -> tuple[Body, ...]:
    return tuple(
        Body(
            name=names[k],
            parent=int(m.body_parentid[k]) if k else -1,
            pos=_vector(m.body_pos[k]),
            quat=_quaternion(m.body_quat[k]),
            mass=float(m.body_mass[k]) if k else 0.0,
            com=_vector(m.body_ipos[k]),
            inertia=_vector(m.body_inertia[k]),
            inertia_quat=_quaternion(m.body_iquat[k]),
            mocap=bool(m.body_mocapid[k] >= 0),
            place=places[k],
        )
        for k in range(m.nbody)
    )


def _joints(
    m: Any, names: Sequence[str], places: Sequence[Place], forces: npt.NDArray[np.float64]
) -> tuple[Joint, ...]:
    joints: list[Joint] = []
    for k in range(m.njnt):
        kind = _JOINT_TYPES[int(m.jnt_type[k])]
        start, dof = int(m.jnt_qposadr[k]), int(m.jnt_dofadr[k])
        size = _QUATERNION_SIZES.get(kind, 1)
        initial = tuple(float(x) for x in m.qpos0[start : start + size])
        limited = kind != "free" and bool(m.jnt_limited[k])
        low, high = (float(x) for x in forces[k])
        joints.append(
            Joint(
                name=names[k],
                type=kind,
                body=int(m.jnt_bodyid[k]),
                pos=_vector(m.jnt_pos[k]),
                axis=_vector(m.jnt_axis[k]),
                start=start,
                ref=initial[0] if size == 1 else 0.0,
                initial=initial,
                lower=float(m.jnt_range[k][0]) if limited and size == 1 else None,
                upper=float(m.jnt_range[k][1]) if limited and not _without_angle(m, k) else None,
                effort=high if low == -high and high < np.inf else None,
                damping=float(m.dof_damping[dof]),
                friction=float(m.dof_frictionloss[dof]),
                armature=float(m.dof_armature[dof]),
                stiffness=float(m.jnt_stiffness[k]) if size == 1 else 0.0,
                spring_position=float(m.qpos_spring[start]) if size == 1 else 0.0,
                place=places[k],
            )
        )
    return tuple(joints)


def _sites(m: Any, names: Sequence[str], places: Sequence[Place]) -> tuple[Site, ...]:
    return tuple(
        Site(
            name=names[k],
            body=int(m.site_bodyid[k]),
            pos=_vector(m.site_pos[k]),
            quat=_quaternion(m.site_quat[k]),
            place=places[k],
        )
        for k in range(m.nsite)
    )


def _geoms(compiled: Compiled, flat: Flat) -> tuple[Geom, ...]:
    m = compiled.model
    geoms: list[Geom] = []
    types = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
    for k, item in enumerate(_in_order(compiled.spec.geoms)):
        point = compiled.shapes.get(k)
        pos, R = m.geom_pos[k], from_quaternion(NUMPY, m.geom_quat[k])
        quat = _quaternion(m.geom_quat[k])
        kind = point.type if point else types[int(m.geom_type[k])]
        mesh = (point.mesh if point else item.meshname) if kind in ("mesh", "sdf") else ""
        if mesh and not point:  # MuJoCo turned the mesh into its principal axes
            own = m.mesh(mesh).id
            R_raw = R @ from_quaternion(NUMPY, m.mesh_quat[own]).T
            pos = pos - R_raw @ m.mesh_pos[own]
            turned = conjugate(PLAIN, m.mesh_quat[own])
            quat = _quaternion(multiply_quaternions(PLAIN, quat, turned))
        # that of its material where it has none of its own
        own, material = m.geom_rgba[k], int(m.geom_matid[k])
        is_default = bool(np.all(own == np.float32(0.5) * np.array([1, 1, 1, 2])))
        colour = m.mat_rgba[material] if material >= 0 and is_default else own
        shown = None
        if mesh:
            shown = compiled.meshes[mesh]
            sources = [flat.meshes[key] for key in shown.files if key in flat.meshes]
            shown = replace(shown, files=sources[0].files if sources else ())
        geoms.append(
            Geom(
                name=item.name,
                body=int(m.geom_bodyid[k]),
                type=kind,
                size=(0.0, 0.0, 0.0) if point else _vector(m.geom_size[k]),
                pos=_vector(pos),
                quat=quat,
                rgba=_quaternion(colour),
                group=int(m.geom_group[k]),
                collides=bool(m.geom_contype[k] or m.geom_conaffinity[k]),
                mesh=shown,
                place=place_of(item, flat),
            )
        )
    return tuple(geoms)


def _unnamed(items: Iterable[Any], kind: str, flat: Flat) -> list[Finding]:
    nameless = [item for item in _in_order(items) if not item.name]
    if not nameless:
        return []
    place = place_of(nameless[0], flat)
    first = f"{kind}{nameless[0].id}"
    text = f"{len(nameless)} without a name are called by their number, as '{first}'"
    return [Finding("note", "unnamed", text, place.file, place.line, kind)]


def _without_angle(m: Any, k: int) -> bool:
    """Whether the range of a ball joint leaves it no angle, as where the file gives none."""
    return (
        bool(m.jnt_limited[k])
        and _JOINT_TYPES[int(m.jnt_type[k])] == "ball"
        and (float(m.jnt_range[k][1]) <= 0.0)
    )


def _unread(
    m: Any, bodies: Sequence[Body], joints: Sequence[Joint], forces: npt.NDArray[np.float64]
) -> list[Finding]:
    """Findings on parts of the compiled model that have no place in a mechanism."""
    poly = getattr(m, "dof_dampingpoly", None)
    damped = [poly is not None and bool(np.any(poly[d])) for d in m.jnt_dofadr]
    curve, yields = (getattr(m, f"jnt_{name}", None) for name in ("stiffnesspoly", "springyield"))
    bent = [
        any(more is not None and bool(np.any(more[k])) for more in (curve, yields))
        for k in range(m.njnt)
    ]
    forced = [low != -high for low, high in forces]
    balls = [_without_angle(m, k) for k in range(m.njnt)]
    turning = [
        _JOINT_TYPES[kind] in _QUATERNION_SIZES and k != 0.0
        for kind, k in zip(m.jnt_type, m.jnt_stiffness, strict=True)
    ]
    of_joints: tuple[tuple[Level, str, str, Iterable[Any]], ...] = (
        ("warning", "stiffness", "the spring of a ball or free joint", turning),
        ("warning", "stiffness", "what of a spring is not linear", bent),
        ("warning", "damping", "damping that grows with the velocity", damped),
        ("note", "effort", "a range of forces that is not symmetric", forced),
        ("note", "angle", "a limit that leaves a ball joint no angle", balls),
    )
    found = [
        _several(level, f"no-{code}", f"{text} is not read", chosen, "joint")
        for level, code, text, values in of_joints
        if (chosen := [j for j, value in zip(joints, values, strict=True) if value])
    ]
    floating = [body for body, value in zip(bodies, m.body_gravcomp, strict=True) if value]
    text = "the compensation of gravity (gravcomp) is not read"
    moved = [body for body in bodies if body.mocap]
    still = "a mocap body stays where it was described"
    found += [_several("warning", "no-gravcomp", text, floating, "body")] if floating else []
    return found + ([_several("warning", "mocap", still, moved, "body")] if moved else [])


def _several(
    level: Level, code: str, text: str, items: Sequence[Body | Joint], element: str
) -> Finding:
    """One finding for several items, at the place of the first."""
    more = f" (and of {len(items) - 1} more)" if len(items) > 1 else ""
    return _problem(level, code, text + more, items[0].place, element, items[0].name)


def _check_finite(m: Any, places: Sequence[Sequence[Place]]) -> None:
    """Refuse what overflowed on the way.

    Raises: DescriptionError.
    """
    fields = (
        ("body", 0, (m.body_pos, m.body_quat, m.body_mass, m.body_ipos, m.body_inertia)),
        ("joint", 1, (m.jnt_pos, m.jnt_axis, m.jnt_range)),
        ("site", 2, (m.site_pos, m.site_quat)),
    )
    errors = [
        Finding("error", "not-finite", "a number of it is not finite", at.file, at.line, element)
        for element, which, arrays in fields
        for array in arrays
        for k in np.flatnonzero(~np.isfinite(array).all(axis=tuple(range(1, array.ndim))))
        for at in [places[which][int(k)]]
    ]
    if errors:
        raise DescriptionError(dict.fromkeys(errors))


def _vector(values: Any) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _quaternion(values: Any) -> Quaternion:
    w, x, y, z = (float(value) for value in values)
    return w, x, y, z
