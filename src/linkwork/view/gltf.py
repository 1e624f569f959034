"""glTF 2.0: a robot, and its motion, in one binary file that programs of others show.

Links are nodes in the tree of the robot, so that a node moves against the one above it as its
joint does; shapes hang on them. glTF has y up and metres: one node above all turns z up to y up.
Source: Khronos Group, glTF 2.0 specification, 2021 (ISO/IEC 12113:2022).
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import atomic
from linkwork.errors import InputError
from linkwork.geometry.normals import creased
from linkwork.locating import Folders
from linkwork.mechanism.named_positions import Configuration
from linkwork.poses import xyz_wxyz
from linkwork.view.model import Geometry, Kind, Part, Rgba, ViewModel, view_model
from linkwork.view.motion import configuration_to_show, motion_if_given

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]

GREY: Rgba = (0.72, 0.73, 0.75, 1.0)
"""The colour of what has none."""

_STILL = 1e-7
"""A node that moves by less (m, or the difference of two quaternions) is one that stands still."""


def export_glb(  # noqa: PLR0913  one call with every choice by name
    robot: Robot,
    path: str | os.PathLike[str],
    *,
    q: Configuration | None = None,
    trajectory: Any = None,
    times: ArrayLike | None = None,
    duration: float | None = None,
    row: int | tuple[int, ...] | None = None,
    kinds: Sequence[Kind] = ("visual",),
    allow: Folders = (),
) -> tuple[str, ...]:
    """Write a robot as a binary glTF file (.glb); returns what was left out, and why.

    Args:
        robot: The robot; one without shapes of these kinds is written as its skeleton.
        path: The file, whose name ends with .glb; it is replaced whole.
        q: The configuration, by default neutral, its loops closed; with a trajectory its first.
        trajectory: A motion, which becomes an animation: whatever `Robot.animate` takes.
        times: Instants (n,) in s, of configurations that have none.
        duration: How long the motion takes, s.
        row: Which roll-out of a batch of simulations, by default the first.
        kinds: "visual", "collision" or both.
        allow: Folders that meshes may lie in, beside the description's package.

    Raises: InputError for another name of the file, and as `linkwork.view.motion.motion`.
    """
    target = Path(path)
    if target.suffix.lower() != ".glb":
        raise InputError(f"'{target}' does not end with .glb, which is the format that is written")
    moving = motion_if_given(robot, trajectory, times=times, duration=duration, row=row)
    if q is not None and moving is not None:
        raise InputError("give q or a trajectory, which begins at its own configuration")
    shown = configuration_to_show(robot, q) if moving is None else moving.q[0]
    view = view_model(robot, kinds, allow=allow)
    file = _File(view)
    file.place(_local_poses(robot, view, shown[None])[0])
    if moving is not None and len(moving.times) > 1:
        file.animate(moving.times, _local_poses(robot, view, moving.q))
    atomic.write_bytes(target, file.data())
    return view.messages


def _local_poses(robot: Robot, view: ViewModel, q: Floats) -> Floats:
    """Poses of links in the links above them (n, n_links, 4, 4); of the root in the world."""
    T = robot.fk_all(q)[:, : len(view.links)]
    above = view.mechanism.link_parent
    placed = np.linalg.inv(T[:, above])  # of the root some other one, which is put right below
    placed[:, above < 0] = np.eye(4)
    return placed @ T


class _File:
    """The tree of a glTF file and its numbers, as they are added."""

    def __init__(self, view: ViewModel) -> None:
        self.view = view
        self.binary = bytearray()
        self.tree: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "Linkwork"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [],
            "meshes": [],
            "materials": [],
            "accessors": [],
            "bufferViews": [],
        }
        self._meshes: dict[tuple[Any, ...], int] = {}
        self._attributes: dict[int, tuple[dict[str, int], int]] = {}
        half = 0.5**0.5
        links = range(len(view.links))
        self.nodes = self.tree["nodes"]
        self.nodes.append({"name": view.name, "rotation": [-half, 0.0, 0.0, half], "children": []})
        self.nodes += [{"name": name} for name in view.links]
        for link in links:  # node 0 is the robot, node k + 1 link k
            above = int(view.mechanism.link_parent[link])
            self.nodes[above + 1].setdefault("children", []).append(link + 1)
        for part in view.parts:
            self._hang(part)
        if not view.parts:
            self._hang_skeleton()

    def place(self, T: Floats) -> None:
        """Put the links at their poses in those above them (n_links, 4, 4)."""
        xyz, wxyz = xyz_wxyz(T)
        for k, (p, turn) in enumerate(zip(xyz, wxyz[:, [1, 2, 3, 0]], strict=True)):
            self.nodes[k + 1] |= _trs(p, turn)

    def animate(self, times: Floats, T: Floats) -> None:
        """Add the motion of the links along poses in those above them (n, n_links, 4, 4)."""
        xyz, wxyz = xyz_wxyz(T)
        channels: list[dict[str, Any]] = []
        samplers: list[dict[str, Any]] = []
        instants = self._accessor(times[:, None], "SCALAR", bounds=True)
        for link in range(T.shape[1]):
            turns = wxyz[:, link]
            # q and -q are one rotation; neighbours are given the nearer signs, so that players
            # which go straight from one to the next take the short way
            dots = np.einsum("ij,ij->i", turns[1:], turns[:-1])
            signs = np.cumprod(np.append(1.0, np.where(dots < 0, -1.0, 1.0)))
            turns = (turns * signs[:, None])[:, [1, 2, 3, 0]]
            for what, kind, values in (
                ("translation", "VEC3", xyz[:, link]),
                ("rotation", "VEC4", turns),
            ):
                if np.abs(values - values[0]).max() <= _STILL:
                    continue
                output = self._accessor(values, kind)
                samplers.append({"input": instants, "output": output, "interpolation": "LINEAR"})
                target = {"node": link + 1, "path": what}
                channels.append({"sampler": len(samplers) - 1, "target": target})
        if channels:
            animation = {"name": "motion", "channels": channels, "samplers": samplers}
            self.tree["animations"] = [animation]

    def data(self) -> bytes:
        """The bytes of the file."""
        tree = {name: value for name, value in self.tree.items() if value != []}
        if self.binary:
            tree["buffers"] = [{"byteLength": len(self.binary)}]
        text = json.dumps(tree, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
        if self.binary:
            numbers = bytes(self.binary) + bytes(-len(self.binary) % 4)
            chunks += struct.pack("<II", len(numbers), 0x004E4942) + numbers
        return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks

    # shapes

    def _hang(self, part: Part) -> None:
        """Add the node of a part below that of its link."""
        if not len(self.view.geometries[part.geometry].faces):
            return
        key = part.geometry, part.rgba, part.texture
        if key not in self._meshes:
            attributes, faces = self._geometry(part.geometry)
            primitive = {
                "attributes": attributes,
                "indices": faces,
                "material": self._material(part.rgba, part.texture),
            }
            name = part.name or (part.file.stem if part.file else part.kind)
            self._meshes[key] = self._add("meshes", {"name": name, "primitives": [primitive]})
        node: dict[str, Any] = {
            "name": part.name or f"{self.view.links[part.link]} {part.kind}",
            "mesh": self._meshes[key],
        }
        p, wxyz = xyz_wxyz(part.T_link_part)
        node |= _trs(p, wxyz[[1, 2, 3, 0]])
        self.nodes[part.link + 1].setdefault("children", []).append(self._add("nodes", node))

    def _hang_skeleton(self) -> None:
        """Add the lines of each link as its mesh."""
        lines: dict[int, list[Any]] = {}
        for segment in self.view.segments:
            if segment.link_a == segment.link_b:  # what leads from one link to another would bend
                lines.setdefault(segment.link_a, []).extend([segment.p_a, segment.p_b])
        for link, points in lines.items():
            positions = self._accessor(np.array(points), "VEC3", bounds=True, target=_VERTICES)
            black = self._material((0.1, 0.1, 0.1, 1.0), None)
            primitive = {"attributes": {"POSITION": positions}, "mode": 1, "material": black}
            mesh = {"name": self.view.links[link], "primitives": [primitive]}
            self.nodes[link + 1]["mesh"] = self._add("meshes", mesh)

    def _geometry(self, index: int) -> tuple[dict[str, int], int]:
        """The accessors of a geometry: positions, normals and places in a texture; faces."""
        if index not in self._attributes:
            geometry: Geometry = self.view.geometries[index]
            shaded = creased(geometry.vertices, geometry.faces)
            points = geometry.vertices[shaded.source]
            found = {
                "POSITION": self._accessor(points, "VEC3", bounds=True, target=_VERTICES),
                "NORMAL": self._accessor(shaded.normals, "VEC3", target=_VERTICES),
            }
            if geometry.uv is not None:  # the lower left corner is 0 0 here, and the upper there
                uv = geometry.uv[shaded.source] * [1, -1] + [0, 1]
                found["TEXCOORD_0"] = self._accessor(uv, "VEC2", target=_VERTICES)
            faces = self._numbers(shaded.faces.reshape(-1), len(points))
            self._attributes[index] = found, faces
        return self._attributes[index]

    def _material(self, rgba: Rgba | None, texture: int | None) -> int:
        """The index of a material; colours are given as a screen shows them, glTF's are linear."""
        color = (1.0, 1.0, 1.0, 1.0) if rgba is None and texture is not None else rgba or GREY
        srgb = np.clip(color[:3], 0.0, 1.0)
        linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
        alpha = min(max(color[3], 0.0), 1.0)
        surface: dict[str, Any] = {
            "baseColorFactor": [*linear.round(6).tolist(), round(alpha, 6)],
            "metallicFactor": 0.1,
            "roughnessFactor": 0.6,
        }
        if texture is not None:
            surface["baseColorTexture"] = {"index": self._texture(texture)}
        material: dict[str, Any] = {"pbrMetallicRoughness": surface, "doubleSided": True}
        if alpha < 1.0:
            material["alphaMode"] = "BLEND"
        if material in self.tree["materials"]:
            return self.tree["materials"].index(material)
        return self._add("materials", material)

    def _texture(self, index: int) -> int:
        """The index of a texture, whose image lies in the file."""
        texture = self.view.textures[index]
        image = {"bufferView": self._view(texture.data, None), "mimeType": texture.media_type}
        self.tree.setdefault("samplers", [{"wrapS": 10497, "wrapT": 10497}])
        self.tree.setdefault("images", [])
        self.tree.setdefault("textures", [])
        return self._add("textures", {"source": self._add("images", image), "sampler": 0})

    # numbers

    def _add(self, kind: str, item: dict[str, Any]) -> int:
        self.tree[kind].append(item)
        return len(self.tree[kind]) - 1

    def _accessor(
        self, values: Any, kind: str, *, bounds: bool = False, target: int | None = None
    ) -> int:
        """The index of rows of numbers of single precision."""
        rows = np.ascontiguousarray(values, "<f4")
        view = self._view(rows.tobytes(), target)
        item: dict[str, Any] = {
            "bufferView": view, "componentType": 5126, "count": len(rows), "type": kind,
        }  # fmt: skip
        if bounds:
            item |= {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        return self._add("accessors", item)

    def _numbers(self, values: Any, n: int) -> int:
        """The index of numbers of vertices, of which there are n."""
        code, kind = (5123, "<u2") if n < 65535 else (5125, "<u4")
        view = self._view(values.astype(kind).tobytes(), _FACES)
        item = {"bufferView": view, "componentType": code, "count": len(values), "type": "SCALAR"}
        return self._add("accessors", item)

    def _view(self, data: bytes, target: int | None) -> int:
        """The index of a piece of the binary, which begins at a multiple of four."""
        self.binary += bytes(-len(self.binary) % 4)
        view: dict[str, Any] = {
            "buffer": 0, "byteOffset": len(self.binary), "byteLength": len(data),
        }  # fmt: skip
        if target is not None:
            view["target"] = target
        self.binary += data
        return self._add("bufferViews", view)


_VERTICES, _FACES = 34962, 34963


def _trs(p: Floats, xyzw: Floats) -> dict[str, Any]:
    """A pose as a node has it, as far as it is not that of the node above."""
    found: dict[str, Any] = {}
    if np.any(p):
        found["translation"] = p.tolist()
    if np.any(xyzw != (0.0, 0.0, 0.0, 1.0)):
        found["rotation"] = (xyzw / np.linalg.norm(xyzw)).tolist()
    return found
