"""Whether a link's mass and inertia fit its size: slips of units that no other check can see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from linkwork.errors import Finding
from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import (
    Box,
    Capsule,
    Collision,
    Link,
    Mesh,
    Robot,
    Shape,
    Sphere,
    Visual,
)
from linkwork.mechanism.from_urdf import rotation_from_rpy
from linkwork.mechanism.model import Floats

DENSEST = 22_600.0
"""kg/m³, osmium: nothing on earth is denser."""

_SPARE = 3.0  # inertias are often identified and shapes drawn coarsely: slips of units are larger
_THINNEST = 2e-3  # metres; flat shapes are taken for sheets of this thickness
_SMALL = 0.01  # of the link's size: a radius of gyration below this is a slip
_LIGHT = 1e-2  # kg; lighter links are often mere place holders


class _Sized(NamedTuple):
    """A link with mass, and the box (2, 3) around its shapes in its frame."""

    link: Link
    box: Floats


def check_sizes(robot: Robot, meshes: Mapping[str, Floats] | None = None) -> tuple[Finding, ...]:
    """Findings on centres of mass, inertias and masses that the links' shapes do not allow.

    ``meshes`` has the box (2, 3) around each mesh by its name, unscaled. Links with a shape of
    unknown size are passed over.

    Source: half the trace of an inertia about the centre of mass is the sum of m_i d_i², with d_i
    the distance of the mass m_i from the centre; so it is at most m d² for the farthest point.
    """
    problems = Findings(robot.file)
    with np.errstate(over="ignore", invalid="ignore"):  # such a box has no known size
        sized = [
            _Sized(link, box)
            for link in robot.links
            if link.inertial is not None
            and (link.inertial.mass or 0.0) > 0
            and link.inertial.inertia is not None
            and (box := _box_of(link, meshes or {})) is not None
        ]
    if sized:
        _judge(sized, problems)
    return problems.sorted()


def _box_of(link: Link, meshes: Mapping[str, Floats]) -> Floats | None:
    """The box (2, 3) around all shapes of a link; None where one of them has no known size."""
    shapes: Sequence[Visual | Collision] = (*link.visuals, *link.collisions)
    boxes: list[Floats] = []
    for shape in shapes:
        local = None if shape.geometry is None else _local_box(shape.geometry, meshes)
        if local is None or not np.isfinite(local).all():
            return None
        centre, half = local.mean(axis=0), (local[1] - local[0]) / 2
        if any(shape.rpy):
            R = rotation_from_rpy(shape.rpy)
            centre, half = R @ centre, np.abs(R) @ half
        centre = centre + np.array(shape.xyz)
        boxes.append(np.array([centre - half, centre + half]))
    if not boxes or not np.isfinite(boxes).all():
        return None
    return np.array([np.min([b[0] for b in boxes], axis=0), np.max([b[1] for b in boxes], axis=0)])


def _local_box(shape: Shape, meshes: Mapping[str, Floats]) -> Floats | None:
    """The box (2, 3) around a shape in its own frame."""
    if isinstance(shape, Mesh):
        box = meshes.get(shape.filename)
        if box is None or shape.scale is None:
            return None
        return np.sort(box * np.array(shape.scale), axis=0)
    if isinstance(shape, Box):
        half = np.array(shape.size) / 2
    elif isinstance(shape, Sphere):
        half = np.full(3, shape.radius)
    else:
        ends = shape.radius if isinstance(shape, Capsule) else 0.0
        half = np.array([shape.radius, shape.radius, shape.length / 2 + ends])
    half = np.abs(half)
    return np.array([-half, half])


def _judge(sized: list[_Sized], problems: Findings) -> None:
    """All links at once: (n,) masses, (n, 3) centres, (n, 2, 3) boxes."""
    inertials = [s.link.inertial for s in sized if s.link.inertial is not None]
    mass = np.array([inertial.mass for inertial in inertials], np.float64)
    com = np.array([inertial.xyz for inertial in inertials])
    inertia = np.array([inertial.inertia for inertial in inertials], np.float64)
    box = np.array([s.box for s in sized])
    with np.errstate(over="ignore", invalid="ignore"):  # numbers near the largest become infinite
        measured = _measured(mass, com, inertia, box)
    size, outside, reach, gyration, density = measured
    for k, (link, _) in enumerate(sized):
        if outside[k] > max(size[k], 0.02):
            _suspect(
                problems,
                link,
                "com-outside",
                f"the centre of mass is {outside[k]:.3g} m outside the link, "
                f"which is {size[k]:.3g} m across",
                "metres, in the link's frame?",
            )
        elif gyration[k] > _SPARE * reach[k]:
            _suspect(
                problems,
                link,
                "large-inertia",
                f"its {mass[k]:.3g} kg would lie {gyration[k]:.3g} m from their centre on average, "
                f"but the link reaches {reach[k]:.3g} m",
                "is it in kg m², about the centre of mass?",
            )
        elif mass[k] > _LIGHT and density[k] > DENSEST:
            _suspect(
                problems,
                link,
                "dense",
                f"{mass[k]:.3g} kg in the box around the link are {density[k]:,.0f} kg/m³, "
                "more than any metal",
                "kilograms? are its shapes in metres?",
            )
        elif mass[k] > _LIGHT and 0 < gyration[k] < _SMALL * size[k]:
            _suspect(
                problems,
                link,
                "small-inertia",
                f"its {mass[k]:.3g} kg would lie {gyration[k]:.2g} m from their centre on average, "
                f"and the link is {size[k]:.3g} m across",
                "is it in kg m²?",
            )


def _measured(
    mass: Floats, com: Floats, inertia: Floats, box: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Of each link (n,): its diagonal, how far its centre of mass is outside, the distance from
    there to the farthest corner, the mean distance of its mass, and its mean density.
    """
    extent = box[:, 1] - box[:, 0]
    outside = np.maximum(0, np.maximum(box[:, 0] - com, com - box[:, 1]))
    reach = np.abs(box - com[:, None]).max(axis=1)
    # half the trace is the sum of m d² about the centre, whatever the axes are
    about = np.trace(inertia, axis1=1, axis2=2) / 2 / mass
    density = mass / np.maximum(extent, _THINNEST).prod(axis=1)
    return (
        np.linalg.norm(extent, axis=1),
        np.linalg.norm(outside, axis=1),
        np.linalg.norm(reach, axis=1),
        np.sqrt(np.maximum(about, 0)),
        density,
    )


def _suspect(problems: Findings, link: Link, code: str, message: str, hint: str) -> None:
    line = link.inertial.line if link.inertial else link.line
    problems.add("warning", code, message, line=line, element="inertial", name=link.name, hint=hint)
