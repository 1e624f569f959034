"""A robot as it is built up link by link, and its URDF text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

from shapes import HALF, ORIGIN, Inertia, Matrix, Solid, Vector, uniform

LICENCE = (
    "Licence: Apache-2.0, Linkwork's own work. Written by tools/models/generate.py;\n"
    "change it there, not here."
)
COLOURS = {
    "white": (0.93, 0.93, 0.92),
    "light_grey": (0.75, 0.76, 0.78),
    "grey": (0.5, 0.52, 0.55),
    "dark_grey": (0.22, 0.23, 0.25),
    "black": (0.08, 0.08, 0.09),
    "blue": (0.16, 0.42, 0.68),
    "light_blue": (0.45, 0.66, 0.84),
    "orange": (0.93, 0.48, 0.13),
    "yellow": (0.95, 0.77, 0.2),
    "red": (0.75, 0.16, 0.15),
    "green": (0.3, 0.6, 0.38),
    "steel": (0.66, 0.68, 0.7),
}
ALONG = {
    "x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-z": (0.0, 0.0, -1.0),
}


@dataclass(frozen=True)
class Limit:
    """What a joint can do; without lower and upper it turns for ever."""

    effort: float
    velocity: float
    lower: float | None = None
    upper: float | None = None


@dataclass(frozen=True)
class Place:
    """A joint's frame in its parent link."""

    xyz: Vector = ORIGIN
    rpy: Vector = ORIGIN


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Place:
    """A place with the parent's axes."""
    return Place((x, y, z))


def towards(xyz: Vector, way: Vector) -> Place:
    """A place whose z axis has the direction of ``way``."""
    across = math.hypot(way[0], way[1])
    yaw = math.atan2(way[1], way[0]) if across > 0.0 else 0.0
    return Place(xyz, (0.0, math.atan2(across, way[2]), yaw))


def modified_dh(a: float, alpha: float, d: float) -> Place:
    """Craig's convention: along x by a, about x by alpha, then along the new z by d."""
    sine, cosine = (0.0 if abs(v) < 1e-15 else v for v in (math.sin(alpha), math.cos(alpha)))
    return Place((a, -d * sine + 0.0, d * cosine + 0.0), (alpha, 0.0, 0.0))


@dataclass
class Robot:
    """Collects links and joints in order; `text` writes them.

    ``header`` says what it is, and where its dimensions and inertias come from.
    """

    name: str
    header: str
    _body: list[str] = field(default_factory=list)
    _colours: list[str] = field(default_factory=list)

    def link(
        self,
        name: str,
        *solids: Solid,
        mass: float | None = None,
        com: Vector | None = None,
        inertia: Inertia | None = None,
    ) -> None:
        """A link; with a mass its inertia is that of its solids, without either it is a frame."""
        if mass is not None:
            inertia = uniform(solids, mass, com)
        if not solids and inertia is None:
            self._body.append(f"  <link name={quoteattr(name)}/>")
            return
        lines = [f"  <link name={quoteattr(name)}>"]
        if inertia is not None:
            lines += _inertial(inertia)
        for solid in solids:
            self._use(solid.material)
            lines += _shape("visual", solid)
        for solid in solids:
            if solid.collides:
                lines += _shape("collision", solid)
        self._body += [*lines, "  </link>"]

    def joint(
        self,
        name: str,
        kind: str,
        links: tuple[str, str],
        place: Place | None = None,
        *,
        axis: str = "z",
        limit: Limit | None = None,
        mimic: tuple[str, float] | None = None,
    ) -> None:
        """A joint between two links (parent, child)."""
        lines = [f'  <joint name={quoteattr(name)} type="{kind}">']
        lines += [f"    <parent link={quoteattr(links[0])}/>"]
        lines += [f"    <child link={quoteattr(links[1])}/>"]
        lines += _origin(place or Place())
        if kind != "fixed":
            lines.append(f'    <axis xyz="{_vector(ALONG[axis])}"/>')
        if limit is not None:
            lines.append(_limit(limit))
        if mimic is not None:
            leader, multiplier = mimic
            lines.append(
                f'    <mimic joint={quoteattr(leader)} multiplier="{_number(multiplier)}"'
                ' offset="0"/>'
            )
        self._body += [*lines, "  </joint>"]

    def frame(self, name: str, parent: str, place: Place | None = None) -> None:
        """A massless link fixed to another: a named frame such as the tool's."""
        self.link(name)
        self.joint(f"{name}_joint", "fixed", (parent, name), place)

    def text(self) -> str:
        """The URDF file."""
        head = "\n".join(
            f"  {line}".rstrip() for line in f"{self.header.strip()}\n{LICENCE}".split("\n")
        )
        colours = []
        for name in self._colours:
            rgba = " ".join(_number(c) for c in (*COLOURS[name], 1.0))
            colours.append(f'  <material name="{name}">\n    <color rgba="{rgba}"/>\n  </material>')
        lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<!--\n{head}\n-->"]
        lines += [f"<robot name={quoteattr(self.name)}>", *colours, *self._body, "</robot>"]
        return "\n".join(lines) + "\n"

    def _use(self, colour: str) -> None:
        if colour not in self._colours:
            self._colours.append(colour)


def _inertial(inertia: Inertia) -> list[str]:
    tensor = inertia.tensor
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    # a product of inertia that is only rounding is written as zero
    floor = 1e-9 * max(tensor[k][k] for k in range(3))
    values = [tensor[i][j] for i in range(3) for j in range(i, 3)]
    values = [0.0 if abs(value) < floor else value for value in values]
    entries = " ".join(f'{n}="{value:.6g}"' for n, value in zip(names, values, strict=True))
    com = tuple(round(c, 6) + 0.0 for c in inertia.com)
    return [
        "    <inertial>",
        f'      <origin xyz="{_vector(com)}"/>',
        f'      <mass value="{_number(inertia.mass)}"/>',
        f"      <inertia {entries}/>",
        "    </inertial>",
    ]


def _shape(element: str, solid: Solid) -> list[str]:
    if solid.kind == "box":
        geometry = f'<box size="{_vector(solid.size)}"/>'
    elif solid.kind == "cylinder":
        radius, length = solid.size
        geometry = f'<cylinder radius="{_number(radius)}" length="{_number(length)}"/>'
    else:
        geometry = f'<sphere radius="{_number(solid.size[0])}"/>'
    lines = [f"    <{element}>"]
    lines += [f"  {line}" for line in _origin(Place(solid.xyz, solid.rpy))]
    lines.append(f"      <geometry>{geometry}</geometry>")
    if element == "visual":
        lines.append(f'      <material name="{solid.material}"/>')
    return [*lines, f"    </{element}>"]


def _origin(place: Place) -> list[str]:
    if place == Place():
        return []
    turn = f' rpy="{" ".join(map(_angle, place.rpy))}"' if any(place.rpy) else ""
    return [f'    <origin xyz="{_vector(place.xyz)}"{turn}/>']


def _limit(limit: Limit) -> str:
    ends = ""
    if limit.lower is not None and limit.upper is not None:
        ends = f'lower="{_angle(limit.lower)}" upper="{_angle(limit.upper)}" '
    effort, velocity = _number(limit.effort), _number(limit.velocity)
    return f'    <limit {ends}effort="{effort}" velocity="{velocity}"/>'


def _angle(angle: float) -> str:
    """Quarter turns keep all their digits, so that rotations by them come out exact."""
    quarters = round(angle / HALF)
    exact = quarters != 0 and abs(angle / HALF - quarters) < 1e-12
    return repr(quarters * HALF) if exact else _number(angle)


def _vector(values: tuple[float, ...]) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: float) -> str:
    """At most nine digits after the point: a nanometre."""
    text = f"{value:.9f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def matrix(xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> Matrix:
    """A symmetric inertia tensor from its six numbers, in URDF's order."""
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
