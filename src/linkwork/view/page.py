"""The page: robots, scene and motion in one HTML file that needs nothing else.

It carries three.js (as built by ``tools/page``), our own modules of ``view/page/`` put together,
the kinematics as JavaScript, and the data: one JSON object with shapes quantised to 16 bits an
axis. It opens from a disk, asks no network for anything, and a strict Content-Security-Policy lets
nothing but these texts run. The live page is the same one with the address of its channel.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import atomic
from linkwork.checks import rigid_pose, whole_number
from linkwork.errors import InputError
from linkwork.geometry.simplify import BUDGET, SimpleMesh
from linkwork.locating import Folders
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration
from linkwork.view.kinematics import page_kinematics
from linkwork.view.model import Geometry, ViewModel, view_model
from linkwork.view.motion import (
    Motion,
    MovingObjects,
    configuration_to_show,
    displacements,
    driven_joints,
    even_instants,
    motion_if_given,
)

if TYPE_CHECKING:
    from linkwork.robot import Robot
    from linkwork.scene import Scene

Floats = NDArray[np.float64]
Units = Literal["deg", "rad"]

SHOWN = (
    *("visual", "collision", "skeleton", "loops", "frames", "axes", "inertia", "com", "torques"),
    *("scene", "ground", "shadow"),
)
"""Names for ``show``."""

MODULES = (
    *("dom.js", "shapes.js", "stage.js", "compass.js", "robot.js", "kinematics.js", "panel.js"),
    *("tools.js", "motion.js", "live.js", "record.js", "app.js"),
)
"""The modules of the page, each after what it imports."""

_STEPS = 65535  # of a coordinate in the box of its geometry
_IMPORT = re.compile(r"(?m)^import [^;]*;\n")
_EXPORT = re.compile(r"(?m)^export (?=(?:class|(?:async )?function|const) (\w+))")
_COMMENT = re.compile(r"(?m)^\s*//.*\n|^\s*/\*\*.*\*/\n|^[ \t]+")
_ENDS_A_SCRIPT = re.compile(r"</?script|<!--", re.IGNORECASE)


@dataclass(frozen=True)
class PageRobot:
    """A robot as a page shows it.

    ``q`` is where it stands (nq,) or by joint name, by default neutral with its loops closed;
    ``ghost`` a second, pale configuration; ``presets`` are configurations by name, offered beside
    those of the description; ``T_world_robot`` (4, 4) is where its base is; ``allow`` are folders
    that meshes may lie in besides the description's package.
    """

    robot: Robot
    q: Configuration | None = None
    ghost: Configuration | None = None
    presets: Mapping[str, Configuration] = field(default_factory=dict[str, Configuration])
    T_world_robot: ArrayLike | None = None
    allow: Folders = ()

    def __post_init__(self) -> None:
        """Raises: InputError for what is no robot."""
        if not hasattr(self.robot, "mechanism"):
            raise InputError(
                f"a Robot is needed, as linkwork.load gives it, not {self.robot!r:.60}"
            )


def beside(first: PageRobot, more: Sequence[PageRobot]) -> list[PageRobot]:
    """The robots of a page: the first, and those that stand beside it.

    Raises: InputError for what is no PageRobot.
    """
    for each in more if isinstance(more, Iterable) else (more,):
        if not isinstance(each, PageRobot):
            raise InputError(
                f"robots must be PageRobots, as in [PageRobot(robot)], not {each!r:.60}"
            )
    return [first, *more]


def export_html(  # noqa: PLR0913  one call with every choice by name
    robot: Robot,
    path: str | os.PathLike[str],
    *,
    q: Configuration | None = None,
    trajectory: Any = None,
    times: ArrayLike | None = None,
    duration: float | None = None,
    row: int | tuple[int, ...] | None = None,
    scene: Scene | None = None,
    objects: MovingObjects | None = None,
    ghost: Configuration | None = None,
    presets: Mapping[str, Configuration] | None = None,
    show: Sequence[str] | None = None,
    units: Units = "deg",
    title: str | None = None,
    allow: Folders = (),
    meshes_budget: int = BUDGET,
    robots: Sequence[PageRobot] = (),
) -> tuple[str, ...]:
    """Write one offline page with a robot that can be moved: a file that opens from a disk.

    Returns what was left out or made simpler, and why.

    Args:
        robot: The robot.
        path: The file to write.
        q: Where it stands (nq,), or by joint name; by default neutral, with its loops closed.
        trajectory: A motion to play: whatever `linkwork.view.motion.motion` takes. Without one the
            page offers sweeps of the joints from limit to limit.
        times: The instants (n,) of a trajectory without times of its own, s.
        duration: How long the trajectory takes, s.
        row: Which roll-out of a batch of simulations, by default the first.
        scene: What stands around it, a `linkwork.Scene`.
        objects: Objects of the scene that move with the trajectory: by name T_world_object (4, 4)
            as a function of the time in s.
        ghost: A second configuration, which is seen through.
        presets: Configurations by name, to choose from.
        show: What is seen at first, of `SHOWN`; by default the shapes, loops, scene, ground and
            shadow, and of a robot without shapes its skeleton. What is not named is not seen, a
            scene neither.
        units: The unit in which angles are shown at first: "deg" or "rad".
        title: The page's title; by default the names of the robots.
        allow: Folders that meshes may lie in besides the description's package.
        meshes_budget: The number of triangles of a robot; one that has more is simplified.
        robots: More robots that stand beside it.

    Raises: InputError, ShapeError, UnknownNameError before anything is written.
    """
    first = PageRobot(robot, q, ghost, presets or {}, allow=allow)
    moving = motion_if_given(robot, trajectory, times=times, duration=duration, row=row)
    if moving is not None and q is None:
        first = PageRobot(robot, moving.q[0], ghost, presets or {}, allow=allow)
    data = page_data(
        beside(first, robots),
        scene=scene,
        trajectory=moving,
        objects=objects,
        show=show,
        units=units,
        title=title,
        meshes_budget=meshes_budget,
    )
    atomic.write_bytes(path, page_text(data).encode())
    return messages_of(data)


# --- data -----------------------------------------------------------------------------------------


def page_data(
    robots: Sequence[PageRobot],
    *,
    scene: Scene | None = None,
    trajectory: Motion | None = None,
    objects: MovingObjects | None = None,
    show: Sequence[str] | None = None,
    units: Units = "deg",
    title: str | None = None,
    meshes_budget: int = BUDGET,
) -> dict[str, Any]:
    """All that a page shows, ready to be written as JSON: metres, radians, poses as 12 numbers.

    ``trajectory`` is one of the first robot; ``meshes_budget`` the number of triangles of each.

    Raises: InputError, ShapeError, UnknownNameError.
    """
    if units not in ("deg", "rad"):
        raise InputError(f"units must be 'deg' or 'rad', not {units!r:.40}")
    for name in show or ():
        if name not in SHOWN:
            raise InputError(f"show has {name!r:.40}: what can be shown is {', '.join(SHOWN)}")
    if not robots:
        raise InputError("a page shows at least one robot")
    whole_number(meshes_budget, "meshes_budget")
    if objects and trajectory is None:
        raise InputError("objects move with a trajectory, and there is none")
    moving = None if trajectory is None else motion_data(trajectory, scene=scene, objects=objects)
    binary = bytearray()
    shown = [_robot_data(each, binary, meshes_budget) for each in robots]
    return {
        "format": 1,
        "title": title or ", ".join(dict.fromkeys(each["name"] for each in shown)),
        "robots": shown,
        "scene": None if scene is None else _scene(scene, binary),
        "trajectory": moving,
        "options": {"units": units, "show": None if show is None else list(show), "camera": None},
        "live": None,
        "binary": base64.b64encode(binary).decode(),
    }


def messages_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Messages on what a page leaves out or shows simpler, each once."""
    return tuple(dict.fromkeys(text for robot in data["robots"] for text in robot["messages"]))


def motion_data(
    moving: Motion,
    robot: int = 0,
    *,
    scene: Scene | None = None,
    objects: MovingObjects | None = None,
) -> dict[str, Any]:
    """A motion as the page plays it, of the robot with this number; objects as `displacements`."""
    times = even_instants(moving.duration)
    found = displacements(objects, scene, times) if objects else {}
    return {
        "robot": robot,
        "times": _rounded(moving.times, 9),
        "q": [_rounded(q, 9) for q in moving.q],
        "loop": moving.loop,
        "objects": {
            name: [_rounded(T[:3].reshape(-1), 6) for T in moved] for name, moved in found.items()
        },
    }


def scene_data(scene: Scene | None) -> dict[str, Any]:
    """A scene by itself, as a page takes it later: ``scene`` and the ``binary`` of its shapes."""
    binary = bytearray()
    found = None if scene is None else _scene(scene, binary)
    return {"scene": found, "binary": base64.b64encode(binary).decode()}


def _robot_data(shown: PageRobot, binary: bytearray, meshes_budget: int) -> dict[str, Any]:
    robot, m = shown.robot, shown.robot.mechanism
    model = view_model(robot, allow=shown.allow).simplified(meshes_budget)
    q = configuration_to_show(robot, shown.q)
    T_world_robot = (
        np.eye(4)
        if shown.T_world_robot is None
        else rigid_pose(shown.T_world_robot, "T_world_robot")
    )
    presets = {**robot.named_configurations, **shown.presets}
    kinematics = page_kinematics(m)
    geometries = _Geometries(binary)
    return {
        "name": m.name,
        "links": list(model.links),
        "frames": list(m.frame_names),
        "frame_link": m.frame_link.tolist(),
        "link_joint": _link_joints(m),
        "joints": _joints(robot, model, q),
        "parts": [
            {
                "link": part.link,
                "kind": part.kind,
                "geometry": geometries.add(model.geometries[part.geometry]),
                "T": _twelve(part.T_link_part),
                "rgba": None if part.rgba is None else _rounded(np.asarray(part.rgba), 4),
                "texture": part.texture,
                "name": part.name,
                "file": None if part.file is None else part.file.name,
                "held": part.held,
            }
            for part in model.parts
        ],
        "geometries": geometries.found,
        "textures": [
            {"data": _appended(binary, each.data), "type": each.media_type}
            for each in model.textures
        ],
        "segments": [[s.link_a, list(s.p_a), s.link_b, list(s.p_b)] for s in model.segments],
        "loops": [
            {
                "name": loop.name,
                "kind": loop.kind,
                "frame_a": loop.frame_a,
                "frame_b": loop.frame_b,
                "distance": loop.distance,
            }
            for loop in model.loops
        ],
        "masses": [
            {
                "link": each.link,
                "mass": each.mass,
                "com": each.com.tolist(),
                "inertia": each.inertia[np.triu_indices(3)].tolist(),
            }
            for each in model.masses
        ],
        "q": q.tolist(),
        "neutral": configuration_to_show(robot).tolist(),
        "ghost": None
        if shown.ghost is None
        else configuration_to_show(robot, shown.ghost).tolist(),
        "presets": {
            name: configuration_to_show(robot, each).tolist() for name, each in presets.items()
        },
        "tip": _tip(robot),
        "T_world_robot": _twelve(T_world_robot),
        "messages": [*model.messages, *kinematics.messages],
        "kinematics": kinematics.source,
    }


def _tip(robot: Robot) -> int | None:
    """The frame that is meant where none is named, as an index; None where there is no such one."""
    try:
        return robot.mechanism.frame(robot.tip)
    except InputError:
        return None


def _link_joints(m: Mechanism) -> list[int]:
    """The joint that moves each link, as an index of the page's joints; -1 for the base's links."""
    moving = [body for body, kind in enumerate(m.body_joint_types) if kind.n_q]
    index = {body: k for k, body in enumerate(moving)}
    return [index.get(int(body), -1) for body in m.frame_body[: m.n_link_frames]]


def _joints(robot: Robot, model: ViewModel, q: Floats) -> list[dict[str, Any]]:
    """The joints that move; one that follows others names them as its leaders."""
    m = robot.mechanism
    following = {each.joint: each.leaders for each in m.couplings}
    driven = driven_joints(robot, q) if m.is_closed else m.joint_names
    found: list[dict[str, Any]] = []
    for mark in model.joints:
        joint: dict[str, Any] = {
            "name": mark.name,
            "type": mark.type,
            "link": mark.link,
            "at": list(mark.at),
            "axis": None if mark.axis is None else list(mark.axis),
        }
        if mark.index is None:
            body = m.body_joint_names.index(mark.name)
            leader, factor = int(m.coordinate[body]), float(m.multiplier[body])
            place = m.q_slice(leader)
            ends = factor * np.array([m.lower[place], m.upper[place]]) + float(m.offset[body])
            lower, upper = np.min(ends, axis=0), np.max(ends, axis=0)
            own = {"q": None, "v": None, "leaders": [m.joint_names[leader]], "effort": None}
        else:
            place, rates = m.q_slice(mark.index), m.v_slice(mark.index)
            lower, upper = m.lower[place], m.upper[place]
            own = {
                "q": [place.start, place.stop - place.start],
                "v": [rates.start, rates.stop - rates.start],
                "leaders": list(following.get(mark.name, ())),
                "effort": _or_none(m.effort_limit[rates]),
            }
        found.append(
            {
                **joint,
                **own,
                "lower": _or_none(lower),
                "upper": _or_none(upper),
                "coupled": mark.index is None or mark.name in following,
                "actuated": mark.name in driven,
            }
        )
    return found


def _scene(scene: Scene, binary: bytearray) -> dict[str, Any]:
    """A scene as the page takes it.

    Raises: InputError for what is none, such as one of its objects.
    """
    if not hasattr(scene, "shown"):
        raise InputError(f"scene must be a Scene or None, not {scene!r:.60}")
    geometries = _Geometries(binary)
    objects = [
        {
            "name": each.name,
            "T": _twelve(each.T_world_part),
            "geometry": geometries.add(each.geometry),
            "rgba": None if each.rgba is None else list(each.rgba),
        }
        for each in scene.shown()
    ]
    return {"objects": objects, "geometries": geometries.found}


def _twelve(T: Floats) -> list[float]:
    """The first three rows of a pose."""
    return (np.asarray(T, np.float64)[:3].reshape(-1) + 0.0).tolist()


def _or_none(values: Iterable[float]) -> list[float | None]:
    """Numbers, with None for what is not finite: JSON has no infinity."""
    return [float(x) if math.isfinite(x) else None for x in values]


def _rounded(values: Floats, digits: int) -> list[float]:
    return (np.round(values, digits) + 0.0).tolist()


def _appended(binary: bytearray, data: bytes) -> list[int]:
    """Offset and length of bytes that are appended."""
    binary += data
    return [len(binary) - len(data), len(data)]


class _Geometries:
    """Geometries as they are written, each once: quantised, vertices that coincide made one."""

    def __init__(self, binary: bytearray) -> None:
        self.found: list[dict[str, Any]] = []
        self._binary = binary
        self._known: dict[int, int] = {}
        self._written: dict[bytes, int] = {}
        self._alive: list[Geometry | SimpleMesh] = []

    def add(self, geometry: Geometry | SimpleMesh) -> int:
        """The index of a geometry."""
        if id(geometry) not in self._known:
            self._alive.append(geometry)
            self._known[id(geometry)] = self._write(geometry)
        return self._known[id(geometry)]

    def _write(self, geometry: Geometry | SimpleMesh) -> int:
        lower, step, numbers = quantised(np.asarray(geometry.vertices, np.float64))
        faces = np.asarray(geometry.faces, np.int64)
        uv = None if geometry.uv is None or not len(faces) else np.asarray(geometry.uv, np.float64)
        corners = faces
        if len(faces):
            key = numbers.astype(np.uint64) @ np.array([1 << 32, 1 << 16, 1], np.uint64)
            _, first, place = np.unique(key, return_index=True, return_inverse=True)
            numbers, faces = numbers[first], place.reshape(-1)[faces]
            a, b, c = faces.T
            flat = (a == b) | (b == c) | (c == a)
            faces, corners = faces[~flat], corners[~flat]
        bits = 16 if len(numbers) <= _STEPS else 32
        data = numbers.astype("<u2").tobytes() + faces.astype(f"<u{bits // 8}").tobytes()
        entry: dict[str, Any] = {
            "n_vertices": len(numbers),
            "n_faces": len(faces),
            "lower": lower.tolist(),
            "step": step.tolist(),
            "bits": bits,
        }
        if uv is not None:
            # of every corner: where a picture is cut, a vertex has several places in it
            uv_lower, uv_step, places = quantised(uv)
            entry["uv"] = {"lower": uv_lower.tolist(), "step": uv_step.tolist(), "start": len(data)}
            data += places[corners.reshape(-1)].astype("<u2").tobytes()
        digest = hashlib.sha256(json.dumps(entry).encode() + data).digest()
        if digest not in self._written:
            entry["data"] = _appended(self._binary, data)
            self._written[digest] = len(self.found)
            self.found.append(entry)
        return self._written[digest]


def quantised(points: Floats) -> tuple[Floats, Floats, NDArray[np.uint16]]:
    """Points (n, k) as numbers from 0 to 65535: ``lower`` (k,), ``step`` (k,), numbers (n, k).

    ``lower + step * numbers`` is each point within half a step.
    """
    if not len(points):
        return np.zeros(points.shape[1]), np.zeros(points.shape[1]), points.astype(np.uint16)
    lower = points.min(axis=0)
    step = (points.max(axis=0) - lower) / _STEPS
    numbers = np.round((points - lower) / np.where(step > 0.0, step, 1.0))
    return lower, step, numbers.astype(np.uint16)


# --- text -----------------------------------------------------------------------------------------


def page_text(data: Mapping[str, Any], *, live: Mapping[str, Any] | None = None) -> str:
    """The page of `page_data` as one text of HTML.

    ``live`` is what the page must know of the server that it talks to: ``url``, ``token``,
    ``since``.
    """
    kinematics = [str(each["kinematics"]) for each in data["robots"]]
    light = {
        **data,
        "robots": [{**each, "kinematics": None} for each in data["robots"]],
        "live": None if live is None else dict(live),
    }
    scripts = [_three(), _program(kinematics)]
    style = _own("page.css")
    policy = [
        "default-src 'none'",
        "script-src " + " ".join(_hash_source(each) for each in scripts),
        f"style-src {_hash_source(style)}",
        "img-src data: blob:",
        "connect-src " + ("'none'" if live is None else f"'self' {live['url']}"),
        "base-uri 'none'",
        "form-action 'none'",
    ]
    parts = {
        "policy": html.escape("; ".join(policy)),
        "title": html.escape(str(data["title"])),
        "style": style,
        "data": script_json(light),
        "scripts": f'<script>{scripts[0]}</script>\n<script type="module">{scripts[1]}</script>',
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _own("page.html"))


def script_json(data: Any) -> str:
    """JSON that may stand in a script element: ASCII, and without a sign that could end it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def _program(kinematics: Sequence[str]) -> str:
    """Our modules as one, and the kinematics of each robot as a function of its own."""
    functions = ",\n".join(f"() => {{{text}}}" for text in kinematics)
    text = f"{_modules()}\nstart([{functions}].map((made) => made()));\n"
    if _ENDS_A_SCRIPT.search(text):
        raise InputError("the kinematics have a text that would end the page's script")
    return text


@cache
def _modules() -> str:
    """Our modules one after the other, each in a scope from which it hands out what it exports.

    Comments and indentation are left out.
    """
    made: list[str] = []
    for name in MODULES:
        text = _IMPORT.sub("", _own(name))
        exported = ", ".join(_EXPORT.findall(text))
        body = _COMMENT.sub("", _EXPORT.sub("", text))
        made.append(f"const {{{exported}}} = (() => {{\n{body}return {{{exported}}};\n}})();\n")
    return "".join(made)


@cache
def _three() -> str:
    return _own("three.min.js")


@cache
def _own(name: str) -> str:
    return (resources.files("linkwork.view") / "page" / name).read_text(encoding="utf-8")


def _hash_source(text: str) -> str:
    """The source of a policy that lets exactly this text run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
