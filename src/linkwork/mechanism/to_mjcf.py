"""A description as MJCF, made by MuJoCo's own compiler, with the meshes that it needs.

The description and its meshes are made such as MuJoCo takes them (`formats.mjcf.write`); inertias
that no body has become the nearest ones; loops and couplings become equalities and tendons;
MuJoCo compiles all that, and writes it. What is lost on the way is told.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias
from xml.etree import ElementTree

import numpy as np

from linkwork.conventions import GRAVITY
from linkwork.errors import (
    DescriptionError,
    Finding,
    InputError,
    Level,
    UnsupportedFeatureError,
)
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
from linkwork.formats.urdf.records import (
    ZERO,
    Document,
    Inertial,
    Joint,
    Link,
    Matrix3,
    Mesh,
    Robot,
)
from linkwork.geometry import guards
from linkwork.geometry.load import load
from linkwork.mechanism.loops import Coupling, Expression, Loop
from linkwork.mechanism.model import Floats, JointType, Mechanism

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

_WORLD = "world"

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
    are warnings. Where its base floats, the root link has a free joint of that name.

    Raises: DescriptionError for what MuJoCo does not compile, and for links under more joints than
    an MJCF can be read with; UnsupportedFeatureError for a floating link named as the world;
    MissingExtraError without ``mujoco``.
    """
    mujoco = mujoco_module()
    check_depth(document.robot)
    robot, sizeless = without_sizeless_shapes(document.robot)
    if mechanism is not None and mechanism.body_joint_types[0] is JointType.FLOATING:
        robot = _floating(robot, mechanism.body_joint_names[0])
    problems = [*left_out(robot), *sizeless]
    assets: dict[str, _Asset] = {}
    names: dict[str, str | None] = {}
    shapes = [shape for link in robot.links for shape in (*link.visuals, *link.collisions)]
    meshes = [shape.geometry for shape in shapes if isinstance(shape.geometry, Mesh)]
    for name in dict.fromkeys(mesh.filename for mesh in meshes):
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


def _floating(robot: Robot, joint: str) -> Robot:
    """The same robot on a floating joint, which hangs on the world.

    Raises: UnsupportedFeatureError for a link that is named as the world, which stands still.
    """
    if _WORLD in {link.name for link in robot.links}:
        raise UnsupportedFeatureError(
            f"'{robot.name}' floats and has a link '{_WORLD}', and that of an MJCF stands still; "
            "rename it (lw.urdf.rename), or load the description with base='fixed'"
        )
    (root,) = {link.name for link in robot.links} - {each.child for each in robot.joints}
    floating = Joint(joint, "floating", _WORLD, root)
    return replace(robot, links=(Link(_WORLD), *robot.links), joints=(floating, *robot.joints))


# --- meshes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Asset:
    """A mesh as MuJoCo gets it: under a short name, and under which name the MJCF has it."""

    data: bytes
    written: str
    new: bool  # to be written beside the MJCF
    remade: bool  # in another format than the file it comes from


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


# --- inertias -------------------------------------------------------------------------------------

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


# --- MuJoCo ---------------------------------------------------------------------------------------


def _compiled(
    mujoco: Any, robot: Robot, assets: dict[str, bytes], m: Mechanism | None
) -> tuple[ElementTree.Element, list[Finding]]:
    """The MJCF, and what MuJoCo warned of."""
    lost: dict[str, list[str]] = {}
    try:
        with heard(mujoco) as said:
            gravity = GRAVITY if m is None else m.default_gravity.tolist()
            spec = mujoco.MjSpec.from_string(urdf_for_mujoco(robot, gravity))
            spec.assets = assets
            _limit_balls(mujoco, spec)
            floating, split = split_free_joints(mujoco, spec)
            if m is not None:
                lost = _Adder(mujoco, spec, m).add_all()
            model, flat = _as_shells(mujoco, spec)
            _say_inertias(mujoco, spec, model)
            if m is not None:
                _settle_rods(spec, model, m)
            spec.compile()
            root = ElementTree.fromstring(str(spec.to_xml()))
            floating = placed(mujoco, model, floating)
            move_to_world(root, floating)
            ElementTree.indent(root)
    except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise _refusal(error, robot) from None
    problems = [] if m is None else list(_findings_of_loops(m, lost, robot))
    problems += [finding("note", "mujoco", f"MuJoCo: {t}", robot) for t in dict.fromkeys(said)]
    split += [joint.name for joint in robot.joints if joint.type == "planar"]
    if flat:
        message = f"meshes without a volume are shells for MuJoCo: {listed(flat)}"
        problems.append(finding("note", "mujoco-shell", message, robot))
    away = [each.joint for each in floating if any(each.pos) or abs(each.quat[0]) != 1.0]
    if away:
        message = "floating joints count from the world's origin there, not from their own"
        problems.append(finding("note", "mjcf-lost", f"{message}: {listed(away)}", robot))
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


def _findings_of_loops(m: Mechanism, lost: dict[str, list[str]], robot: Robot) -> Iterator[Finding]:
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
            body.fullinertia = [math.nan] * 6
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


# --- loops, couplings and actuated joints ---------------------------------------------------------

_ARM = 0.1  # of a hinge's points from its origin, as a share of the longest link
_HIGHEST_POWER = 4


def _settle_rods(spec: Any, model: Any, m: Mechanism) -> None:
    """Give the rods of a specification their lengths: MuJoCo counts from those at ``qpos0``."""
    lengths = {loop.name: loop.distance for loop in m.loops if loop.held.length}
    for equality in spec.equalities:
        if equality.name1 in lengths and equality.name1 == equality.name:
            apart = float(model.tendon_length0[model.tendon(equality.name1).id])
            equality.data[:5] = [lengths[equality.name1] - apart, 1.0, 0.0, 0.0, 0.0]


class _Adder:
    """Adds loops, couplings and motors to a specification, and keeps what cannot be added.

    MuJoCo holds points (connect), whole frames (weld), lengths (a tendon between two sites) and
    sums of joints by a polynomial. A hinge becomes two points of its axis: one row more than it
    needs, which is how MuJoCo's own models do it, as it has no hinge among its equalities. The
    lengths of rods are settled by `_settle_rods`.
    """

    def __init__(self, mujoco: Any, spec: Any, m: Mechanism) -> None:
        self.mujoco, self.spec, self.m = mujoco, spec, m
        self.lost: dict[str, list[str]] = {}
        ways = np.linalg.norm(np.vstack([m.p_parent_joint, m.p_body_frame]), axis=1)
        self.arm = _ARM * float(ways.max(initial=0.0)) or _ARM

    def add_all(self) -> dict[str, list[str]]:
        """Add all that stands beside the tree; the names of what cannot be, by what it is."""
        for loop in self.m.loops:
            self._loop(loop)
        for coupling in self.m.couplings:
            self._coupling(coupling)
        for name in self.m.actuated:
            self._motor(name)
        return self.lost

    def _loop(self, loop: Loop) -> None:
        """Add a loop, all of it or nothing."""
        kinds, held = self.mujoco.mjtEq, loop.held
        if held.length:
            tendon = self.spec.add_tendon(name=loop.name)
            for side, frame in (("a", loop.frame_a), ("b", loop.frame_b)):
                tendon.wrap_site(self._site(f"{loop.name}/{side}", frame, np.zeros(3)))
            self._equality(kinds.mjEQ_TENDON, loop.name, loop.name, "")
        elif held.across or held.position != "xyz" or len(held.rotation) == 1:
            self.lost.setdefault(f"loops of the kind '{loop.kind}'", []).append(loop.name)
        elif len(held.rotation) == 2:
            free = next(k for k, axis in enumerate("xyz") if axis not in held.rotation)
            for number, arm in (("1", self.arm), ("2", -self.arm)):
                at = arm * np.eye(3)[free]
                self._sites(kinds.mjEQ_CONNECT, loop, f"{loop.name}/{number}", at)
        else:
            kind = kinds.mjEQ_WELD if held.rotation else kinds.mjEQ_CONNECT
            self._sites(kind, loop, loop.name, np.zeros(3))

    def _sites(self, kind: Any, loop: Loop, name: str, at: Floats) -> None:
        """An equality of two sites, at this place in each of the loop's frames."""
        a = self._site(f"{name}/a", loop.frame_a, at)
        b = self._site(f"{name}/b", loop.frame_b, at)
        added = self._equality(kind, name, a, b)
        added.objtype = self.mujoco.mjtObj.mjOBJ_SITE

    def _site(self, name: str, frame: str, at: Floats) -> str:
        """A site on the body of the frame's link; MuJoCo fuses that later where it is asked to."""
        m, f = self.m, self.m.frame(frame)
        link = int(m.frame_link[f])
        back = m.R_body_frame[link].T
        quat = np.zeros(4)
        self.mujoco.mju_mat2Quat(quat, np.ascontiguousarray(back @ m.R_body_frame[f]).ravel())
        p = back @ (m.p_body_frame[f] + m.R_body_frame[f] @ at - m.p_body_frame[link])
        self.spec.body(m.frame_names[link]).add_site(name=name, pos=p, quat=quat)
        return name

    def _equality(self, kind: Any, name: str, one: str, two: str) -> Any:
        added = self.spec.add_equality(type=kind, name=name, name1=one, name2=two)
        added.data[0] = 0.0
        return added

    def _coupling(self, each: Coupling) -> None:
        """Add a coupling that is a polynomial of one joint, or a sum of several."""
        terms = polynomial(each.function)
        factors = None if terms is None else _of_one_leader(terms)
        if factors is not None:
            leader, numbers = factors
            name = each.leaders[leader] if any(numbers[1:]) else ""
            added = self._equality(self.mujoco.mjtEq.mjEQ_JOINT, each.name, each.joint, name)
            added.data[:5] = numbers
        elif terms is not None and all(sum(powers) <= 1 for powers in terms):
            self._sum(each, terms)
        else:
            what = "couplings by functions that are not polynomials"
            self.lost.setdefault(what, []).append(each.name)

    def _sum(self, each: Coupling, terms: Polynomial) -> None:
        """A coupling that is a sum: a tendon of the joint less its leaders."""
        tendon = self.spec.add_tendon(name=each.name)
        tendon.wrap_joint(each.joint, 1.0)
        offset = 0.0
        for powers, factor in terms.items():
            if any(powers):
                tendon.wrap_joint(each.leaders[powers.index(1)], -factor)
            else:
                offset = factor
        added = self._equality(self.mujoco.mjtEq.mjEQ_TENDON, each.name, each.name, "")
        added.data[:5] = [offset, 1.0, 0.0, 0.0, 0.0]

    def _motor(self, name: str) -> None:
        """Add a motor to an actuated joint, its control being the force in N or N m."""
        m = self.m
        c = m.joint(name)
        first = m.v_slice(c).start
        if m.joint_types[c].n_v != 1:
            self.lost.setdefault("motors of joints with several velocities", []).append(name)
            return
        transmission = self.mujoco.mjtTrn.mjTRN_JOINT
        motor = self.spec.add_actuator(name=name, target=name, trntype=transmission)
        motor.set_to_motor()
        effort = float(m.effort_limit[first])
        if np.isfinite(effort) and effort > 0.0:
            motor.ctrlrange = [-effort, effort]
            motor.ctrllimited = True


# --- the polynomial that an expression is ---------------------------------------------------------

Powers: TypeAlias = "tuple[int, ...]"
"""The power of each input."""
Polynomial: TypeAlias = "Mapping[Powers, float]"
"""Factors by the powers that they multiply."""

_MOST_TERMS = 1000


def polynomial(function: Expression) -> Polynomial | None:
    """The terms of an expression, multiplied out; None for one that is no polynomial."""
    none = (0,) * function.n_inputs
    found: list[Polynomial | None] = []
    for operation, arguments in function.nodes:
        if operation == "constant":
            found.append({none: float(arguments[0])})
        elif operation == "input":
            own = int(arguments[0])
            found.append({tuple(int(k == own) for k in range(function.n_inputs)): 1.0})
        else:
            terms = [found[int(place)] for place in arguments]
            known = [each for each in terms if each is not None]
            found.append(_applied(operation, known, none) if len(known) == len(terms) else None)
    last = found[-1]
    if last is None or not all(map(math.isfinite, last.values())):
        return None
    return {powers: factor for powers, factor in last.items() if factor}


def _of_one_leader(terms: Polynomial) -> tuple[int, list[float]] | None:
    """The leader and factors of a polynomial of at most one of them, of degree 4 or less."""
    used = {k for powers in terms for k, power in enumerate(powers) if power}
    if len(used) > 1 or any(sum(powers) > _HIGHEST_POWER for powers in terms):
        return None
    factors = [0.0] * (_HIGHEST_POWER + 1)
    for powers, factor in terms.items():
        factors[sum(powers)] += factor
    return min(used, default=0), factors


def _applied(operation: str, terms: list[Polynomial], none: Powers) -> Polynomial | None:
    """An operation on polynomials, or on numbers."""
    if operation in _ON_POLYNOMIALS:
        return _ON_POLYNOMIALS[operation](*terms)
    values = [_constant(each) for each in terms]
    try:
        value = None if None in values else _ON_NUMBERS[operation](*values)
    except ValueError:  # the root of a negative number
        return None
    return None if value is None else {none: value}


def _constant(terms: Polynomial) -> float | None:
    """The value of a polynomial without inputs."""
    left = {powers: value for powers, value in terms.items() if value}
    return None if any(map(any, left)) else sum(left.values())


def _added(one: Polynomial, two: Polynomial, factor: float) -> Polynomial:
    found = dict(one)
    for powers, value in two.items():
        found[powers] = found.get(powers, 0.0) + factor * value
    return found


def _polynomial_product(one: Polynomial, two: Polynomial) -> Polynomial | None:
    if len(one) * len(two) > _MOST_TERMS:
        return None
    found: dict[Powers, float] = {}
    for a, x in one.items():
        for b, y in two.items():
            powers = tuple(i + j for i, j in zip(a, b, strict=True))
            found[powers] = found.get(powers, 0.0) + x * y
    return {powers: value for powers, value in found.items() if value}


def _quotient(one: Polynomial, two: Polynomial) -> Polynomial | None:
    number = _constant(two)
    return _added({}, one, 1.0 / number) if number else None


_ON_POLYNOMIALS: Mapping[str, Callable[..., Polynomial | None]] = {
    "negative": lambda one: _added({}, one, -1.0),
    "add": lambda one, two: _added(one, two, 1.0),
    "subtract": lambda one, two: _added(one, two, -1.0),
    "multiply": _polynomial_product,
    "divide": _quotient,
}
_ON_NUMBERS: Mapping[str, Callable[..., float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": math.sqrt,
    "arctan2": math.atan2,
}
