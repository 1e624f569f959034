"""The looks of materials by their names: the first definition in a description counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from linkwork.formats.urdf.findings import Findings
from linkwork.formats.urdf.records import Material, Rgba, Robot

# Rows of docs/check.md: code | levels | what it means | how to mend it.
CODES = """
# Looks
material-differs | warning | One name, two looks; the first counts. | Rename one.
material-undefined | warning | No colour or texture for this name. | Define it.
material-name | warning | A shared material without a name. | Give one.
material-unused | note | Nothing uses this material. | Remove it.
# Records and mechanisms made in code
duplicate-material | error | Two materials of one name, for urdfpy. | Rename one.
"""


Appearance: TypeAlias = "tuple[Rgba | None, str | None]"
"""A colour and the name of an image."""


def used_materials(robot: Robot) -> Iterator[Material]:
    """The materials that shapes have, in the order of the file."""
    for link in robot.links:
        for shape in (*link.visuals, *link.collisions):
            if shape.material is not None:
                yield shape.material


def material_names(robot: Robot) -> dict[str, None]:
    """Every name of a material, each once, in order; the empty one is no name."""
    everything = (*robot.materials, *used_materials(robot))
    return {material.name: None for material in everything if material.name}


def appearance(material: Material) -> Appearance | None:
    """The colour and texture of a material; None for a mere reference."""
    if material.rgba is None and not material.texture:
        return None
    return material.rgba, material.texture or None


def definitions(robot: Robot) -> dict[str, Material]:
    """Name to the material that defines it, of those that are defined."""
    found: dict[str, Material] = {}
    for material in (*robot.materials, *used_materials(robot)):
        if material.name and appearance(material) is not None:
            found.setdefault(material.name, material)
    return found


def appearances(robot: Robot) -> dict[str, Appearance]:
    """Name to what it looks like, of the materials that are defined."""
    defined = definitions(robot).items()
    return {name: looks for name, material in defined if (looks := appearance(material))}


def with_materials_of(original: Robot, part: Robot) -> Robot:
    """A part of a robot in which every shape looks as it did in the whole.

    Definitions that stood on shapes which are gone are given to the robot; materials of the robot
    that only such shapes used go with them.
    """
    used = {material.name for material in used_materials(part)}
    used_before = {material.name for material in used_materials(original)}
    kept = tuple(m for m in part.materials if m.name in used or m.name not in used_before)
    part = replace(part, materials=kept)
    before, now = appearances(original), appearances(part)
    names = material_names(part)
    lost = [name for name in names if name in before and now.get(name) != before[name]]
    carried = (Material(name, *before[name]) for name in lost)
    return replace(part, materials=(*kept, *carried))


def check_materials(robot: Robot, findings: Findings) -> None:
    """Add references that lead nowhere, one name for two looks, materials that nothing uses."""
    used = list(used_materials(robot))
    if not used and not robot.materials:
        return
    defined = definitions(robot)

    def warn(material: Material, code: str, message: str) -> None:
        findings.about("warning", "material", material, code, message)

    for material in (*robot.materials, *used):
        first, own = defined.get(material.name), appearance(material)
        if first is not None and own is not None and appearance(first) != own:
            message = f"it looks different from line {first.line}, which counts"
            warn(material, "material-differs", message)
    for material in (*robot.materials, *used):
        if appearance(material) is None and material.name not in defined:
            warn(material, "material-undefined", "no colour or texture is defined for it")
    names = {material.name for material in used}
    for material in robot.materials:
        if not material.name:
            warn(material, "material-name", "a material without a name cannot be used")
        elif material.name not in names:
            message = "nothing uses this material"
            findings.about("note", "material", material, "material-unused", message)
