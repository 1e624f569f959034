"""What materials look like, by their names: the first definition in a description counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from linkwork.formats.urdf.records import Material, Rgba, Robot

Look: TypeAlias = "tuple[Rgba | None, str | None]"


def worn(robot: Robot) -> Iterator[Material]:
    """The materials that shapes have, in order."""
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            if shape.material is not None:
                yield shape.material


def names(robot: Robot) -> dict[str, None]:
    """Every name of a material, each once, in order; the empty one is no name."""
    everything = (*robot.materials, *worn(robot))
    return {material.name: None for material in everything if material.name}


def look_of(material: Material) -> Look | None:
    """What a material looks like; None for a mere reference."""
    if material.rgba is None and not material.texture:
        return None
    return material.rgba, material.texture or None


def looks(robot: Robot) -> dict[str, Look]:
    """Name to look, for the materials that are defined."""
    found: dict[str, Look] = {}
    for material in (*robot.materials, *worn(robot)):
        look = look_of(material)
        if look is not None and material.name:
            found.setdefault(material.name, look)
    return found


def with_looks_of(original: Robot, part: Robot) -> Robot:
    """A part of a robot in which every shape looks as it did in the whole.

    Definitions that stood on shapes which are gone are given to the robot; materials of the robot
    that only such shapes used go with them.
    """
    used = {material.name for material in worn(part)}
    used_before = {material.name for material in worn(original)}
    kept = tuple(m for m in part.materials if m.name in used or m.name not in used_before)
    part = replace(part, materials=kept)
    before, now = looks(original), looks(part)
    lost = [name for name in names(part) if name in before and now.get(name) != before[name]]
    carried = (Material(name, *before[name]) for name in lost)
    return replace(part, materials=(*kept, *carried))
