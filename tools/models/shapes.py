"""Uniform solids in a link's frame: what a model is drawn with, collides with and weighs.

Only the standard library is used, so that the written files have the same digits everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

Vector = tuple[float, float, float]
Matrix = tuple[Vector, Vector, Vector]

HALF = math.pi / 2
ORIGIN: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Solid:
    """A box (x, y, z), a cylinder (radius, length along z) or a sphere (radius), and its place."""

    kind: str
    size: tuple[float, ...]
    material: str
    xyz: Vector = ORIGIN
    rpy: Vector = ORIGIN
    collides: bool = True
    weighs: bool = True

    @property
    def volume(self) -> float:
        """Of the solid, in cubic metres."""
        if self.kind == "box":
            return self.size[0] * self.size[1] * self.size[2]
        if self.kind == "cylinder":
            return math.pi * self.size[0] ** 2 * self.size[1]
        return 4 / 3 * math.pi * self.size[0] ** 3

    def inertia(self, mass: float) -> Matrix:
        """About the solid's own centre, in the link's axes."""
        if self.kind == "box":
            x, y, z = (mass / 12 * side**2 for side in self.size)
            principal = (y + z, x + z, x + y)
        elif self.kind == "cylinder":
            radius, length = self.size
            across = mass / 12 * (3 * radius**2 + length**2)
            principal = (across, across, mass / 2 * radius**2)
        else:
            principal = (2 / 5 * mass * self.size[0] ** 2,) * 3
        R = rotation(self.rpy)
        return _matrix(
            [sum(R[i][k] * principal[k] * R[j][k] for k in range(3)) for j in range(3)]
            for i in range(3)
        )

    def mirrored(self) -> Solid:
        """The same solid on the other side of the x-z plane."""
        (x, y, z), (roll, pitch, yaw) = self.xyz, self.rpy
        return replace(self, xyz=(x, -y, z), rpy=(-roll, pitch, -yaw))


def box(material: str, size: Vector, xyz: Vector = ORIGIN, rpy: Vector = ORIGIN) -> Solid:
    """A box centred at xyz."""
    return Solid("box", size, material, xyz, rpy)


def ball(material: str, radius: float, xyz: Vector = ORIGIN) -> Solid:
    """A sphere centred at xyz."""
    return Solid("sphere", (radius,), material, xyz)


def rod(material: str, radius: float, start: Vector, end: Vector) -> Solid:
    """A cylinder whose axis runs from start to end."""
    d = tuple(b - a for a, b in zip(start, end, strict=True))
    length = math.sqrt(sum(c * c for c in d))
    middle = tuple((a + b) / 2 for a, b in zip(start, end, strict=True))
    pitch = math.atan2(math.hypot(d[0], d[1]), d[2])
    yaw = math.atan2(d[1], d[0]) if math.hypot(d[0], d[1]) > 0 else 0.0
    return Solid("cylinder", (radius, length), material, middle, (0.0, pitch, yaw))


def disc(material: str, radius: float, length: float, axis: str, xyz: Vector = ORIGIN) -> Solid:
    """A cylinder along x, y or z, centred at xyz."""
    half = tuple(length / 2 if name == axis else 0.0 for name in "xyz")
    start = tuple(c - h for c, h in zip(xyz, half, strict=True))
    end = tuple(c + h for c, h in zip(xyz, half, strict=True))
    return rod(material, radius, start, end)


def decoration(solid: Solid) -> Solid:
    """The same solid, only seen: it neither collides nor weighs."""
    return replace(solid, collides=False, weighs=False)


@dataclass(frozen=True)
class Inertia:
    """Mass, centre of mass, and the inertia about it in the link's axes."""

    mass: float
    com: Vector
    tensor: Matrix

    def mirrored(self) -> Inertia:
        """The same body on the other side of the x-z plane."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.tensor
        x, y, z = self.com
        return Inertia(self.mass, (x, -y, z), ((xx, -xy, xz), (-xy, yy, -yz), (xz, -yz, zz)))


def uniform(solids: Sequence[Solid], mass: float, com: Vector | None = None) -> Inertia:
    """Solids of one density that weigh `mass` together; what overlaps counts twice.

    A given centre of mass replaces the solids' own; the inertia about it is theirs about theirs.
    """
    solids = [solid for solid in solids if solid.weighs]
    total = sum(solid.volume for solid in solids)
    shares = [mass * solid.volume / total for solid in solids]
    own: Vector = tuple(
        sum(m * s.xyz[k] for m, s in zip(shares, solids, strict=True)) / mass for k in range(3)
    )
    tensor = [[0.0] * 3 for _ in range(3)]
    for share, solid in zip(shares, solids, strict=True):
        r = [solid.xyz[k] - own[k] for k in range(3)]
        inertia = solid.inertia(share)
        for i in range(3):
            for j in range(3):
                parallel = (i == j) * sum(c * c for c in r) - r[i] * r[j]
                tensor[i][j] += inertia[i][j] + share * parallel
    return Inertia(mass, own if com is None else com, _matrix(tensor))


def rotation(rpy: Vector) -> Matrix:
    """URDF's roll, pitch, yaw: about the fixed axes x, then y, then z."""
    (sr, cr), (sp, cp), (sy, cy) = ((_exact(math.sin(a)), _exact(math.cos(a))) for a in rpy)
    return (
        (cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        (sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        (-sp, cp * sr, cp * cr),
    )


def _exact(value: float) -> float:
    """Zero for the sine of pi and the cosine of pi/2."""
    return 0.0 if abs(value) < 1e-15 else value


def _matrix(rows) -> Matrix:
    return tuple(tuple(row) for row in rows)
