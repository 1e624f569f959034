"""The records of a model that MuJoCo compiled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from linkwork.errors import DescriptionError, Finding, Level
from linkwork.formats.mjcf.compiled import Compiled, place_of
from linkwork.formats.mjcf.equalities import Equalities, drives
from linkwork.formats.mjcf.flat import Flat
from linkwork.formats.mjcf.records import (
    Body,
    Geom,
    Joint,
    Keyframe,
    Mesh,
    MjcfModel,
    Place,
    Quaternion,
    Site,
    Vector,
)
from linkwork.formats.urdf.convert import show

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
    joints = _joints(m, _names(spec.joints, m.njnt, "joint"), places[1])
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
        keyframes=_keyframes(m, spec),
        drives=drives(m, _places(spec.actuators, flat)),
        problems=(
            *compiled.problems,
            *equalities.problems,
            *_unnamed(spec.bodies, "body", flat),
            *_unnamed(spec.joints, "joint", flat),
            *_unread(m, bodies, joints),
            *(
                Finding("note", "mjcf", f"MuJoCo: {show(word.strip(), 400)}", flat.file)
                for word in compiled.warnings
            ),
        ),
    )


def _places(items: Iterable[Any], flat: Flat) -> list[Place]:
    """Where each item was described, in the order of MuJoCo's numbers."""
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


def _keyframes(m: Any, spec: Any) -> tuple[Keyframe, ...]:
    names = _names(spec.keys, m.nkey, "key")
    return tuple(
        Keyframe(name, tuple(float(x) for x in qpos))
        for name, qpos in zip(names, m.key_qpos, strict=True)
    )


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


def _joints(m: Any, names: Sequence[str], places: Sequence[Place]) -> tuple[Joint, ...]:
    joints: list[Joint] = []
    for k in range(m.njnt):
        kind = _JOINT_TYPES[int(m.jnt_type[k])]
        start, dof = int(m.jnt_qposadr[k]), int(m.jnt_dofadr[k])
        size = _QUATERNION_SIZES.get(kind, 1)
        initial = tuple(float(x) for x in m.qpos0[start : start + size])
        limited = kind != "free" and bool(m.jnt_limited[k])
        low, high = (float(x) for x in m.jnt_actfrcrange[k])
        bounded = bool(m.jnt_actfrclimited[k]) and low == -high
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
                effort=high if bounded else None,
                damping=float(m.dof_damping[dof]),
                friction=float(m.dof_frictionloss[dof]),
                armature=float(m.dof_armature[dof]),
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
        pos, R = m.geom_pos[k], _matrix(m.geom_quat[k])
        quat = _quaternion(m.geom_quat[k])
        kind = point.type if point else types[int(m.geom_type[k])]
        mesh = (point.mesh if point else item.meshname) if kind in ("mesh", "sdf") else ""
        if mesh and not point:  # MuJoCo turned the mesh into its principal axes
            own = m.mesh(mesh).id
            R_raw = R @ _matrix(m.mesh_quat[own]).T
            pos = pos - R_raw @ m.mesh_pos[own]
            quat = _product(quat, _conjugate(_quaternion(m.mesh_quat[own])))
        geoms.append(
            Geom(
                name=item.name,
                body=int(m.geom_bodyid[k]),
                type=kind,
                size=(0.0, 0.0, 0.0) if point else _vector(m.geom_size[k]),
                pos=_vector(pos),
                quat=quat,
                rgba=_quaternion(_colour(m, k)),
                group=int(m.geom_group[k]),
                collides=bool(m.geom_contype[k] or m.geom_conaffinity[k]),
                mesh=_mesh(compiled, flat, mesh) if mesh else None,
                place=place_of(item, flat),
            )
        )
    return tuple(geoms)


def _colour(m: Any, k: int) -> Any:
    """A geom's colour; that of its material where it has none of its own."""
    material = int(m.geom_matid[k])
    own = m.geom_rgba[k]
    plain = bool(np.all(own == np.float32(0.5) * np.array([1, 1, 1, 2])))
    return m.mat_rgba[material] if material >= 0 and plain else own


def _mesh(compiled: Compiled, flat: Flat, name: str) -> Mesh:
    key, scale = compiled.files[name]
    source = flat.meshes.get(key)
    return Mesh(name=name, files=source.files if source else (), scale=scale)


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


def _unread(m: Any, bodies: Sequence[Body], joints: Sequence[Joint]) -> list[Finding]:
    """What the compiled model says that has no place in a mechanism."""
    poly = getattr(m, "dof_dampingpoly", None)
    damped = [poly is not None and bool(np.any(poly[d])) for d in m.jnt_dofadr]
    forced = [
        bool(limited) and low != -high
        for limited, (low, high) in zip(m.jnt_actfrclimited, m.jnt_actfrcrange, strict=True)
    ]
    balls = [_without_angle(m, k) for k in range(m.njnt)]
    of_joints: tuple[tuple[str, str, Iterable[Any]], ...] = (
        ("stiffness", "a spring (stiffness)", m.jnt_stiffness),
        ("damping", "damping that grows with the velocity", damped),
        ("effort", "a range of forces that is not symmetric", forced),
        ("angle", "a limit that leaves a ball joint no angle", balls),
    )
    found = [
        _listed("note", f"no-{code}", f"{text} is not read", chosen, "joint")
        for code, text, values in of_joints
        if (chosen := [j for j, value in zip(joints, values, strict=True) if value])
    ]
    floating = [body for body, value in zip(bodies, m.body_gravcomp, strict=True) if value]
    if floating:
        text = "the compensation of gravity (gravcomp) is not read"
        found.append(_listed("note", "no-gravcomp", text, floating, "body"))
    moved = [body for body in bodies if body.mocap]
    if moved:
        text = "a mocap body stays where it was described"
        found.append(_listed("warning", "mocap", text, moved, "body"))
    return found


def _listed(
    level: Level, code: str, text: str, items: Sequence[Body | Joint], element: str
) -> Finding:
    """One finding for several items, at the place of the first."""
    place = items[0].place
    more = f" (and of {len(items) - 1} more)" if len(items) > 1 else ""
    return Finding(level, code, text + more, place.file, place.line, element, items[0].name)


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


def _conjugate(q: Quaternion) -> Quaternion:
    return q[0], -q[1], -q[2], -q[3]


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    """The quaternion of turning by b, then by a."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def _matrix(q: Any) -> Any:
    w, x, y, z = (float(value) for value in q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
