"""What pieces of meshes look like: colours, textures, and copies that share nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from linkwork.errors import InputError
from linkwork.geometry import guards
from linkwork.geometry.beside import Beside

Rgba = tuple[float, float, float, float]

_SLOTS = (
    "image",
    "baseColorTexture",
    "emissiveTexture",
    "metallicRoughnessTexture",
    "normalTexture",
    "occlusionTexture",
)
_GREY = (102, 102, 102, 255)


@dataclass(slots=True)
class Look:
    """The colour and texture of a piece, and the images of its material as bytes of files."""

    rgba: Rgba | None = None
    texture: Path | None = None
    images: dict[str, bytes] = field(default_factory=dict[str, bytes])


def taken(mesh: Any, beside: Beside) -> Look:
    """The look of a mesh. Images are taken out of its material, as they are in their files."""
    look = Look()
    visual = mesh.visual
    material = getattr(visual, "material", None)
    if material is None:
        look.rgba = _one_color(visual)
        return look
    for slot in _SLOTS:
        image = getattr(material, slot, None)
        if image is None:
            continue
        setattr(material, slot, None)
        file = beside.marked(image)
        if file is None and getattr(image, "format", None) is None:
            continue  # trimesh's own, in the place of one that is not there
        try:
            data = guards.read(file).data if file else _bytes_of(image)
            guards.check_image(data, file or beside.mesh)
        except InputError as error:
            beside.left_out.append(str(error))
            continue
        look.images[slot] = data
        if slot in ("image", "baseColorTexture"):
            look.texture = file
    look.rgba = _material_color(material, bool(look.images))
    return look


def given(mesh: Any, look: Look) -> None:
    """Put images, undecoded, into the material of a mesh that is a copy."""
    for slot, data in look.images.items():
        setattr(mesh.visual.material, slot, guards.open_image(data, slot))


def joined(parts: Sequence[tuple[Any, Rgba | None]]) -> Any:
    """One mesh of several, with the colours of the pieces as colours of their faces."""
    import trimesh  # noqa: PLC0415  only who opens meshes needs it

    vertices, faces, colors = list[Any](), list[Any](), list[Any]()
    colored, count = False, 0
    for mesh, rgba in parts:
        vertices.append(np.asarray(mesh.vertices))
        faces.append(np.asarray(mesh.faces) + count)
        count += len(mesh.vertices)
        color = np.broadcast_to(np.array(_GREY, np.uint8), (len(mesh.faces), 4))
        if rgba is not None:
            eight = np.round(255 * np.array(rgba)).astype(np.uint8)
            color, colored = np.broadcast_to(eight, color.shape), True
        elif mesh.visual.kind in ("vertex", "face"):
            color, colored = np.asarray(mesh.visual.face_colors), True
        colors.append(color)
    if not parts:
        return trimesh.Trimesh()
    face_colors = np.vstack(colors) if colored else None
    return trimesh.Trimesh(
        np.vstack(vertices), np.vstack(faces), face_colors=face_colors, process=False
    )


def _material_color(material: Any, textured: bool) -> Rgba | None:
    """The colour of a material; None where the file gives none."""
    if hasattr(material, "baseColorFactor"):
        color = material.baseColorFactor
        return (1.0, 1.0, 1.0, 1.0) if color is None else _rgba(color)
    if "kd" not in material.kwargs:  # the diffuse colour is trimesh's own
        return (1.0, 1.0, 1.0, 1.0) if textured else None
    color = list(_rgba(material.diffuse))
    for key, clear in (("d", False), ("tr", True)):
        value = material.kwargs.get(key)
        text = str(value[-1] if isinstance(value, list) and value else value)
        if value is not None and re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", text, re.IGNORECASE):
            opaque = 1 - float(text) if clear else float(text)
            # programs disagree on what Tr 1 means; nobody means a part that cannot be seen
            color[3] = min(opaque, 1.0) if opaque > 0 else 1.0
            break
    return (color[0], color[1], color[2], color[3])


def _one_color(visual: Any) -> Rgba | None:
    """The colour of all faces, where they have the same one."""
    if visual.kind not in ("face", "vertex"):
        return None
    colors = np.asarray(visual.face_colors if visual.kind == "face" else visual.vertex_colors)
    return _rgba(colors[0]) if len(colors) and (colors == colors[0]).all() else None


def _rgba(color: Any) -> Rgba:
    """Four numbers from 0 to 1, of three or four from 0 to 255."""
    red, green, blue, alpha = [*(float(c) / 255 for c in color), 1.0][:4]
    return (red, green, blue, alpha)


def _bytes_of(image: Any) -> bytes:
    """The file that an image inside a mesh file was opened from."""
    file = getattr(image, "fp", None)
    if isinstance(file, BytesIO):
        return file.getvalue()
    made = BytesIO()
    image.save(made, "PNG")
    return made.getvalue()
