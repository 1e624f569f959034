"""Shaded pictures and films of a robot in a file, made without a display.

They are drawn by the page of `page.py`, in a browser without a window, which hands each picture to
a server of this process (`server.py`): what one sees in the page is what is in the file.
"""

from __future__ import annotations

import base64
import html
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.atomic import write_bytes
from linkwork.checks import finite_number, finite_rows, whole_number
from linkwork.errors import InputError, ProgramError
from linkwork.locating import Folders
from linkwork.mechanism.named_positions import Configuration
from linkwork.terminal import progress_line
from linkwork.view.browser import VARIABLE, Browser, found
from linkwork.view.camera import View, camera
from linkwork.view.films import ENDINGS, Film, film_for
from linkwork.view.motion import (
    Motion,
    MovingObjects,
    configuration_to_show,
    displacements,
    motion,
    sweep,
)
from linkwork.view.page import PageRobot, beside, page_data, page_text
from linkwork.view.server import Message, PageServer
from linkwork.view.strokes import Posture

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]

MOST_PICTURES = 5_000
"""Pictures that a film may have."""
BACKGROUND = "#f4f6f8"
_OPENING = 28.0
"""The height that the camera sees, in degrees."""
_MARGIN = 0.06
"""The share of the picture that stays free on each side."""
_SAMPLED = 40
"""Configurations of a film, evenly apart, that are looked at to have all of it in the picture."""
_FINE = {True: 2, False: 1}
"""Samples of a pixel each way, of one picture and of films; each sample is smooth besides."""
_LARGEST_CANVAS = 8192  # samples
_LONG = 20
"""A film of so many pictures says on a terminal how far it is."""


class Look(NamedTuple):
    """A camera: where it stands, unit vectors (3,) to the right, upward and back to it.

    It sees in perspective, and fills a picture of a size (w, h) in pixels.
    """

    eye: Floats
    right: Floats
    up: Floats
    toward: Floats
    size: tuple[int, int]

    @property
    def scale(self) -> float:
        """Pixels for what is as large as its distance."""
        return self.size[1] / (2.0 * np.tan(np.radians(_OPENING / 2.0)))

    def pixels(self, points: ArrayLike) -> Floats:
        """Places (..., 2) of points of the world (..., 3), m, in the picture, y downward.

        Points that are not in front of the camera are nowhere: NaN.

        Raises: ShapeError, InputError.
        """
        way = finite_rows(points, "points", 3) - self.eye
        far = -(way @ self.toward)
        far = np.where(far > 0.0, far, np.nan)
        x = 0.5 * self.size[0] + self.scale * (way @ self.right) / far
        y = 0.5 * self.size[1] - self.scale * (way @ self.up) / far
        return np.stack([x, y], axis=-1)


@dataclass(frozen=True, eq=False)
class Rendered:
    """A picture or a film that was written: its file, ``size`` in pixels, ``duration`` in s.

    ``camera`` says where things are in it, ``messages`` what could not be shown. A notebook shows
    the file.
    """

    path: Path
    size: tuple[int, int]
    n_frames: int
    duration: float
    messages: tuple[str, ...]
    camera: Look

    def pixels(self, points: ArrayLike) -> Floats:
        """Places (..., 2) of points of the world (..., 3), m, in the picture, y downward."""
        return self.camera.pixels(points)

    def _repr_mimebundle_(self, **_which: Any) -> dict[str, Any]:
        shown: dict[str, Any] = {"text/plain": repr(self)}
        if not self.path.is_file():
            return shown
        data = base64.b64encode(self.path.read_bytes()).decode()
        ending = self.path.suffix.lower()
        if ending == ".png":
            return {**shown, "image/png": data}
        alt = html.escape(self.path.name, quote=True)
        if ending == ".gif":
            text = f'<img alt="{alt}" src="data:image/gif;base64,{data}">'
        else:
            source = f"data:video/mp4;base64,{data}"
            how = 'controls loop autoplay muted style="max-width:100%"'
            text = f'<video {how} src="{source}">{alt}</video>'
        return {**shown, "text/html": text}

    def __repr__(self) -> str:
        film = f", {self.n_frames} pictures, {self.duration:.6g} s" if self.duration else ""
        told = "".join(f"\n  {message}" for message in self.messages)
        return f"Rendered('{self.path}', {self.size[0]} x {self.size[1]}{film}){told}"


def render(  # noqa: PLR0913  one call with every choice by name
    robot: Robot,
    path: str | os.PathLike[str],
    q: Configuration | None = None,
    *,
    trajectory: Any = None,
    times: ArrayLike | None = None,
    duration: float | None = None,
    row: int | tuple[int, ...] | None = None,
    scene: Any = None,
    objects: MovingObjects | None = None,
    ghost: Configuration | None = None,
    robots: Sequence[PageRobot] = (),
    size: tuple[int, int] = (960, 720),
    fps: float = 30.0,
    show: Sequence[str] | None = None,
    view: View = "auto",
    background: str | Sequence[float] | None = BACKGROUND,
    allow: Folders = (),
    patience: float = 60.0,
) -> Rendered:
    """A shaded picture (.png) of a robot at q, or a film (.gif, .mp4) of its motion, in a file.

    Chromium, Chrome or Edge draws it, without a window: one of this machine, or the one that the
    variable LINKWORK_RENDER_BROWSER names. Films are written with the extra `render`.

    Args:
        robot: The robot.
        path: The file to write, whole or not at all; its ending says what is made.
        q: Where it stands (nq,) or by joint name, by default neutral with its loops closed; a film
            without a trajectory begins there.
        trajectory: What a film shows: whatever `linkwork.view.motion.motion` takes. Without one
            every joint goes to its limits and back.
        times: The instants (n,) of a trajectory without times of its own, s.
        duration: How long a film takes, s.
        row: Which roll-out of a batch of simulations, by default the first.
        scene: What stands around it, a `linkwork.Scene`.
        objects: Objects of the scene that move in a film: by name T_world_object (4, 4) as a
            function of the time in s.
        ghost: A second configuration, which is seen through.
        robots: More robots that stand beside it.
        size: Width and height in pixels.
        fps: Pictures a second.
        show: What is seen; see `export_html`.
        view: "front" (from x), "side" (x to the right), "top", "iso", or degrees (azimuth from x
            towards y, elevation) of where the viewer stands; "auto" looks across the plane in
            which the robot moves, where there is one.
        background: A colour, "#rrggbb" or three numbers from 0 to 1, or None for a .png that is
            transparent but for the robot and its shadow.
        allow: Folders that meshes may lie in besides the description's package.
        patience: Seconds without a new picture after which it is given up.

    Raises: ProgramError where there is no browser, or it fails; MissingExtraError; InputError,
    ShapeError, UnknownNameError. Nothing is written then.
    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{target.name}: a picture is written to .png, a film to .gif or .mp4")
    wanted = _size(size)
    colour = _colour(background, ending)
    finite_number(patience, "patience", above=0.0)
    rows, instants = _rows(robot, ending, q, trajectory, times, duration, row, fps)
    if objects and ending == ".png":
        raise InputError("objects move in a film: a .png shows the scene as it stands")
    moved = displacements(objects, scene, instants) if objects else {}
    camera(view, None, np.zeros((1, 3)))  # what is no view is refused before a browser is started
    film = film_for(ending, wanted, len(rows), float(fps))
    several = beside(PageRobot(robot, rows[0], ghost, allow=allow), robots)
    studio = _Studio(film, len(rows), wanted)
    with (
        closing(studio),
        Browser(found(), studio.url, dark=colour is not None and _is_dark(colour)) as browser,
        progress_line(f"drawing {target.name}") if len(rows) >= _LONG else nullcontext() as tell,
    ):
        data = page_data(several, scene=scene, show=show, title=robot.name)
        points = _points(data, [each.robot for each in several], rows, moved)
        look = _fitted(camera(view, _axes(robot, rows[0]), points), points, wanted)
        data["options"]["camera"] = {
            "position": look.eye.tolist(),
            "target": (look.eye - _distance(look, points) * look.toward).tolist(),
            "opening": _OPENING,
        }
        samples = _samples(wanted, one=len(rows) == 1)
        data["record"] = {
            "size": wanted,
            "samples": samples,
            "smooth": samples == 1,
            "form": film.form,
            "background": colour,
            "box": [points.min(axis=0).tolist(), points.max(axis=0).tolist()],
            "q": [np.round(row, 9).tolist() for row in rows],
            "objects": {
                name: np.round(each[:, :3].reshape(len(rows), 12), 9).tolist()
                for name, each in moved.items()
            },
        }
        studio.draw(data, browser, float(patience), tell)
    written, seconds = film.finished()
    write_bytes(target, written)
    messages = tuple(said for each in data["robots"] for said in each["messages"])
    return Rendered(target, wanted, len(rows), seconds, messages, look)


# --- what is asked for ----------------------------------------------------------------------------


def _size(given: Any) -> tuple[int, int]:
    if not (isinstance(given, Sequence) and len(given) == 2):
        raise InputError(f"size must be (width, height) in pixels, not {given!r:.40}")
    width, height = (
        whole_number(n, f"{what} of size", least=16, most=_LARGEST_CANVAS)
        for n, what in zip(given, ("width", "height"), strict=True)
    )
    return width, height


def _samples(size: tuple[int, int], *, one: bool) -> int:
    """Samples of a pixel each way, of which a canvas has not too many."""
    return _FINE[one] if _FINE[one] * max(size) <= _LARGEST_CANVAS else 1


def _colour(given: Any, ending: str) -> str | None:
    """A colour as "#rrggbb"; None for none."""
    if given is None:
        if ending != ".png":
            raise InputError(f"background=None is for a .png: a {ending} is not transparent")
        return None
    if isinstance(given, str):
        digits = given.removeprefix("#")
        if (
            given.startswith("#")
            and len(digits) == 6
            and set(digits.lower()) <= set("0123456789abcdef")
        ):
            return given.lower()
        if given == "white":
            return "#ffffff"
        raise InputError(f"background must be a colour like '#f4f6f8', not {given!r:.40}")
    rgb = finite_rows(given, "background", 3)
    if rgb.shape != (3,) or (rgb < 0.0).any() or (rgb > 1.0).any():
        raise InputError("background must be '#rrggbb', three numbers from 0 to 1, or None")
    return "#" + "".join(f"{round(255.0 * float(each)):02x}" for each in rgb)


def _is_dark(colour: str) -> bool:
    r, g, b = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b < 90.0


def _rows(
    robot: Robot,
    ending: str,
    q: Configuration | None,
    trajectory: Any,
    times: ArrayLike | None,
    duration: float | None,
    row: int | tuple[int, ...] | None,
    fps: float,
) -> tuple[Floats, Floats]:
    """The configurations (n, nq) of the pictures, and their instants (n,), s."""
    rate = finite_number(fps, "fps", above=0.0, most=240.0)
    if ending == ".png":
        if any(each is not None for each in (trajectory, times, duration, row)):
            raise InputError("a .png is one picture: write a motion to .gif or .mp4")
        return configuration_to_show(robot, q)[None], np.zeros(1)
    if duration is not None:
        _refuse_long(finite_number(duration, "duration", above=0.0), rate)
    if q is None:
        moving = motion(robot, trajectory, times=times, duration=duration, row=row)
    elif trajectory is not None or times is not None:
        raise InputError("a trajectory says where the robot is: leave out q")
    else:
        moving = sweep(robot, configuration_to_show(robot, q), duration=duration)
    return _pictures_of(robot, moving, rate)


def _pictures_of(robot: Robot, moving: Motion, rate: float) -> tuple[Floats, Floats]:
    """Configurations (n, nq) at so many instants (n,) a second; of a loop without its end."""
    _refuse_long(moving.duration, rate)
    n = round(moving.duration * rate) + (0 if moving.loop and moving.duration else 1)
    instants = np.minimum(np.arange(max(n, 1)) / rate, moving.duration)
    return moving.at(robot, instants), instants


def _refuse_long(seconds: float, rate: float) -> None:
    """Refuse a film of too many pictures.

    Raises: InputError.
    """
    if seconds * rate > MOST_PICTURES:
        raise InputError(
            f"{seconds:.6g} s at {rate:g} pictures a second are more than {MOST_PICTURES} "
            "pictures: lower fps, or give a shorter duration"
        )


# --- the camera -----------------------------------------------------------------------------------


def _axes(robot: Robot, q: Floats) -> list[tuple[bool, Floats]] | None:
    """For each joint whether it turns, and its axis in the world; None where one turns anyhow."""
    m = robot.mechanism
    if any(kind.has_quaternion for kind in m.body_joint_types):
        return None
    return Posture(m, q).axes


def _points(
    data: Mapping[str, Any], robots: Sequence[Robot], rows: Floats, moved: Mapping[str, Floats]
) -> Floats:
    """Points (n, 3) of the world that the picture has room for, of all that the page shows.

    ``moved`` are displacements (k, 4, 4) of objects of the scene.
    """
    binary = base64.b64decode(data["binary"])
    picked = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _SAMPLED)).astype(int))
    some = rows[picked]
    everything: list[Floats] = []
    for k, (robot, shown) in enumerate(zip(robots, data["robots"], strict=True)):
        T_world_robot = _pose(shown["T_world_robot"])
        outer = [_outermost(each, binary) for each in shown["geometries"]]
        kinds = {part["kind"] for part in shown["parts"]}
        kind = "visual" if "visual" in kinds else "collision"
        parts = [part for part in shown["parts"] if part["kind"] == kind]
        there = [np.asarray(shown["q"])] if k else list(some)
        for q in there if shown["ghost"] is None else [*there, np.asarray(shown["ghost"])]:
            at = Posture(robot.mechanism, q)
            poses = {link: at.frame_pose(link) for link in {part["link"] for part in parts}}
            found = [
                _moved(poses[part["link"]] @ _pose(part["T"]), outer[part["geometry"]])
                for part in parts
            ]
            found.append(at.points)
            everything += [_moved(T_world_robot, each) for each in found]
    for each in (data["scene"] or {"objects": []})["objects"]:
        outer = _outermost(data["scene"]["geometries"][each["geometry"]], binary)
        there = _moved(_pose(each["T"]), outer)
        ways = moved[each["name"]][picked] if each["name"] in moved else [np.eye(4)]
        everything += [_moved(way, there) for way in ways]
    return np.concatenate(everything)


def _outermost(geometry: Mapping[str, Any], binary: bytes) -> Floats:
    """The vertices (n, 3) of a geometry that are farthest in some directions."""
    n, start = geometry["n_vertices"], geometry["data"][0]
    numbers = np.frombuffer(binary, "<u2", 3 * n, start).reshape(n, 3)
    vertices = np.asarray(geometry["lower"]) + np.asarray(geometry["step"]) * numbers
    if not n:
        return vertices
    return vertices[np.unique((vertices @ _DIRECTIONS.T).argmax(axis=0))]


def _directions() -> Floats:
    """Directions (n, 3) to all sides: cube, its edges and corners."""
    grid = np.stack(np.meshgrid(*3 * [np.arange(-2.0, 3.0)]), axis=-1).reshape(-1, 3)
    return grid[np.abs(grid).max(axis=1) == 2.0]


_DIRECTIONS = _directions()


def _pose(twelve: Sequence[float]) -> Floats:
    return np.vstack([np.reshape(twelve, (3, 4)), [0.0, 0.0, 0.0, 1.0]])


def _moved(T: Floats, points: Floats) -> Floats:
    return points @ T[:3, :3].T + T[:3, 3]


def _fitted(direction: Any, points: Floats, size: tuple[int, int]) -> Look:
    """The camera that looks along a direction and has these points (n, 3) in its picture."""
    right, up, toward = _not_straight_down(direction)
    own = points @ np.stack([right, up, toward]).T
    half = np.tan(np.radians(_OPENING / 2.0)) * (1.0 - 2.0 * _MARGIN)
    slope = half * np.array([size[0] / size[1], 1.0])
    spread = max(float(np.ptp(own, axis=0).max()), 1e-3)
    middle = 0.5 * (own.min(axis=0) + own.max(axis=0))
    away = 0.0
    for _ in range(12):  # nearer points lean outward: the middle moves with the distance
        way = own - middle
        away = float((np.abs(way[:, :2]) / slope + way[:, 2:]).max())
        away = max(away, float(way[:, 2].max()) + 0.5 * spread)
        leaning = way[:, :2] / (away - way[:, 2:])
        shift = 0.5 * (leaning.min(axis=0) + leaning.max(axis=0)) * away
        middle = middle + np.append(shift, 0.0)
    eye = (middle + np.array([0.0, 0.0, away])) @ np.stack([right, up, toward])
    return Look(eye, right, up, toward, size)


def _not_straight_down(direction: Any) -> tuple[Floats, Floats, Floats]:
    """The vectors of a camera, tilted where it looks along z: the page has z upward."""
    right, toward = direction.right, direction.toward
    if abs(float(toward[2])) > 1.0 - 1e-9:
        toward = toward - 1e-4 * np.sign(toward[2]) * direction.up
        toward = toward / np.linalg.norm(toward)
    return right, np.cross(toward, right), toward


def _distance(look: Look, points: Floats) -> float:
    """The distance from the camera to the middle of what is shown."""
    depths = (look.eye - points) @ look.toward
    return float(0.5 * (depths.min() + depths.max()))


# --- drawing --------------------------------------------------------------------------------------


class _Studio:
    """The server that a browser has the page from, and hands its pictures to."""

    def __init__(self, film: Film, n: int, size: tuple[int, int]) -> None:
        self._film, self._n = film, n
        self._text: Future[Mapping[str, Any]] = Future()
        self._drawn = 0
        self._done = False
        self._failed: Exception | None = None
        self._changed = threading.Condition()
        # so long as its pixels are not compressed at all
        most = 4 * size[0] * size[1] + 65536
        self._server = PageServer(self._page, self._said, port=0, picture=self._take, largest=most)
        self.url = self._server.url

    def draw(
        self,
        data: Mapping[str, Any],
        browser: Browser,
        patience: float,
        tell: Callable[[int, int], None] | None,
    ) -> None:
        """Let the browser draw what the page has to show, and wait until all pictures are there.

        Raises: ProgramError.
        """
        self._text.set_result(data)
        drawn, since = 0, settings.clock()
        with self._changed:
            while not self._done:
                self._changed.wait(_LOOK_AGAIN)
                if self._failed is not None:
                    raise self._failed
                if self._drawn > drawn:
                    drawn, since = self._drawn, settings.clock()
                    if tell is not None:
                        tell(drawn, self._n)
                self._check_on(browser, settings.clock() - since, patience)

    def _check_on(self, browser: Browser, silent: float, patience: float) -> None:
        """Give up where nothing more is to come.

        Raises: ProgramError.
        """
        if self._done:
            return
        where = f"after {self._drawn} of {self._n} pictures"
        ended = browser.has_ended
        if ended is not None:
            raise ProgramError(
                f"{browser.name} ended by itself {where}, with status {ended}. {_saying(browser)}"
            )
        if silent > patience:
            raise ProgramError(
                f"{browser.name} has drawn nothing for {patience:g} s, {where}, and was ended: "
                f"give it more time by `patience`, or another browser by {VARIABLE}. "
                f"{_saying(browser)}"
            )

    def close(self) -> None:
        """End the server. A browser that still waits for the page gets none."""
        self._text.cancel()
        self._server.close()

    # in the server's thread

    def _page(self, live: Message) -> str:
        return page_text(self._text.result(), live=live)

    def _take(self, number: int, picture: bytes) -> None:
        """The next picture.

        Raises: InputError for another one.
        """
        if number != self._drawn or number >= self._n:
            raise InputError(f"picture {self._drawn} of {self._n} is awaited, not {number}")
        try:
            self._film.add(picture)
        except InputError:
            raise
        except Exception as error:  # told where it is waited for
            self._note(failed=error)
            raise InputError("the film cannot be written") from None
        self._drawn += 1
        self._note()

    def _said(self, said: Any) -> dict[str, Message]:
        """The page's last word.

        Raises: InputError.
        """
        if said == {"done": True} and self._drawn == self._n:
            self._note(done=True)
        elif isinstance(said, dict) and "failed" in said:
            self._note(failed=ProgramError(f"the page could not draw: {said['failed']!s:.500}"))
        else:
            raise InputError("the pictures are not all there")
        return {}

    def _note(self, *, done: bool = False, failed: Exception | None = None) -> None:
        with self._changed:
            self._done = self._done or done
            self._failed = self._failed or failed
            self._changed.notify_all()


_LOOK_AGAIN = 0.2  # s, whether the browser is still there


def _saying(browser: Browser) -> str:
    said = browser.said
    return f"It said:\n{said}" if said else "It said nothing."
