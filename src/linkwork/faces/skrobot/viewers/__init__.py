"""Viewers: ``skrobot.viewers``, all of them a page of the browser.

``show`` opens the page where there is a desktop, and elsewhere tells its address. A viewer is
active until its pages are closed. Without a desktop, and not over ssh, nobody could open or close
it: it is then inactive unless a page is open, so that loops and ``wait_until_close`` return.
"""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.errors import InputError
from linkwork.faces.refusals import refusing
from linkwork.faces.skrobot.coordinates import Coordinates
from linkwork.faces.skrobot.coordinates.math import finite
from linkwork.faces.skrobot.model import CascadedLink, Link
from linkwork.faces.skrobot.viewers.drawn import DrawnRobot, scene_of
from linkwork.loading import load
from linkwork.spatial.poses import pose_matrix
from linkwork.view.live import ShownRobot, Viewer, view
from linkwork.view.page import PageRobot
from linkwork.view.render import render

Floats = NDArray[np.float64]

__all__ = [
    "VIEWER_HELP",
    "VIEWER_TYPES",
    "DummyViewer",
    "JupyterNotebookViewer",
    "MitsubaViewer",
    "PyrenderViewer",
    "TrimeshSceneViewer",
    "ViserViewer",
    "ViserVisualizer",
    "create_viewer",
    "look_at_pose",
]

VIEWER_TYPES = ("trimesh", "pyrender", "viser", "mitsuba")
"""Names that `create_viewer` takes."""
VIEWER_HELP = f"Viewer backend to use ({', '.join(VIEWER_TYPES)})."
"""A text for the help of programs that let their users choose."""

_NOTHING = '<robot name="scene"><link name="world"/></robot>'
_PATIENCE = 30.0
"""Seconds within which a browser that was opened must have fetched the page."""
_AWAY = 2.0
"""Seconds that a page may be away while it loads itself again."""


class _PageViewer:
    """A page of the browser with robots and links that are added to it."""

    def __init__(self, resolution: Any = None, update_interval: Any = None, **kwargs: Any) -> None:
        """A viewer of pictures ``resolution`` (2,) pixels wide and high; it opens nothing yet."""
        self._size = (960, 720) if resolution is None else tuple(int(n) for n in resolution)
        self._title = kwargs.pop("title", None)
        self._drawn: dict[int, DrawnRobot] = {}
        self._shown: dict[int, ShownRobot] = {}
        self._told: dict[int, Floats] = {}  # where robots were when the page was last told
        self._links: dict[int, Link] = {}
        self._placed: Any = None  # where the links were and how they looked when last shown
        self._page: Viewer | None = None
        self._only_links: ShownRobot | None = None  # what stands for a robot where there is none
        self._seen = 0.0  # when a page was last open
        self._closed = False
        self._from: tuple[float, float] | str = "iso"

    # what is seen

    def add(self, geometry: Any, **_how: Any) -> None:
        """Show a robot, or a link.

        Raises: TypeError for anything else.
        """
        if isinstance(geometry, CascadedLink):
            if id(geometry) not in self._drawn:
                drawn = self._drawn[id(geometry)] = DrawnRobot(geometry)
                if self._page is not None:
                    self._show_robot(id(geometry), drawn)
        elif isinstance(geometry, Link):
            self._links[id(geometry)] = geometry
            self._show_links()
        else:
            kind = type(geometry).__name__
            raise TypeError(f"geometry must be Link or CascadedLink, not {kind}")

    def delete(self, geometry: Any) -> None:
        """Show a robot or a link no more; what was not added is passed over."""
        if self._links.pop(id(geometry), None) is not None:
            self._show_links()
        if self._drawn.pop(id(geometry), None) is None or self._page is None:
            return
        gone = self._shown.pop(id(geometry))
        if not self._shown:
            self._only_links = self._page.add(load(_NOTHING))
        self._page.remove(gone)

    def redraw(self) -> None:
        """Show robots and links where they are now."""
        if self._page is None or self._page.closed:
            return
        for key, shown in list(self._shown.items()):
            drawn = self._drawn[key]
            if drawn.looks_different():
                drawn = self._drawn[key] = DrawnRobot(drawn.model)
                self._told[key] = q = drawn.q()
                self._shown[key] = self._page.add(drawn.robot, q=q)
                self._page.remove(shown)
                continue
            q = drawn.q()
            # not beside shown.q: the user of the page may have moved it a moment ago
            if not np.array_equal(q, self._told[key]):
                self._told[key] = shown.q = q
        self._show_links()

    def set_camera(
        self,
        angles: ArrayLike | None = None,
        distance: float | None = None,
        center: ArrayLike | None = None,
        resolution: Any = None,
        fov: Any = None,
        coords_or_transform: Any = None,
    ) -> None:
        """The camera of pictures of `save_image`: Euler angles (3,) about x, y and z, rad,
        of a camera that looks along its -z, or its pose in the world.

        The picture is always as near as shows all, so ``distance``, ``center`` and ``fov`` do
        nothing; in the page, the user turns the view.
        """
        if resolution is not None:
            self._size = tuple(int(n) for n in resolution)
        back: Floats | None = None
        if coords_or_transform is not None:
            given = coords_or_transform
            pose = given.worldcoords().T() if isinstance(given, Coordinates) else given
            back = np.asarray(pose, np.float64)[:3, 2]
        elif angles is not None:
            x, y, z = np.asarray(angles, np.float64)
            turned = Coordinates().rotate(z, "z").rotate(y, "y").rotate(x, "x")
            back = turned.worldrot()[:, 2]
        if back is not None:
            azimuth = float(np.degrees(np.arctan2(back[1], back[0])))
            self._from = (azimuth, float(np.degrees(np.arcsin(np.clip(back[2], -1.0, 1.0)))))

    def save_image(self, file_obj: Any) -> None:
        """Write a picture (PNG) into a file, by name or open for binary writing.

        Raises: as `linkwork.view.render.render`.
        """
        for key, drawn in self._drawn.items():
            if self._page is None and drawn.looks_different():
                self._drawn[key] = DrawnRobot(drawn.model)
        self.redraw()
        robots = [PageRobot(each.robot, each.q()) for each in self._drawn.values()]
        robots = robots or [PageRobot(load(_NOTHING))]
        scene = scene_of(list(self._links.values())) if self._links else None
        with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
            file = Path(folder) / "picture.png"
            first, *others = robots
            how: dict[str, Any] = {"size": self._size, "view": self._from}
            render(first.robot, file, first.q, robots=others, scene=scene, **how)
            picture = file.read_bytes()
        if isinstance(file_obj, (str, os.PathLike)):
            Path(file_obj).write_bytes(picture)
        else:
            file_obj.write(picture)

    # how long it is seen

    def show(self, *_args: Any, open_browser: bool | None = None, **_how: Any) -> Any:
        """Open the page, or tell its address where there is no desktop; it returns at once.

        In a notebook it gives what the cell shows.
        """
        if self._page is None or self._page.closed:
            self._open(open_browser)
        self.redraw()
        return self._page if self._in_notebook() else None

    @property
    def is_active(self) -> bool:
        """Whether somebody can see it, or will: False once its pages are closed."""
        page = self._page
        if self._closed or page is None or page.closed:
            return False
        now = settings.clock()
        if page.open_pages:
            self._seen = now
            self._was_open = True
            return True
        if self._in_notebook():
            return True
        if self._was_open:
            return now - self._seen < _AWAY
        if page.browser:
            return now - self._seen < _PATIENCE
        return settings.over_ssh()

    @property
    def has_exit(self) -> bool:
        """Whether it is no longer active."""
        return not self.is_active

    def pause(self, duration: float, fps: float = 30.0) -> None:
        """Wait ``duration`` seconds, redrawing; without anybody who sees it, return at once."""
        end = settings.clock() + float(duration)
        while self.is_active and (left := end - settings.clock()) > 0.0:
            self.redraw()
            settings.wait(min(left, 1.0 / float(fps)))

    def wait_until_close(
        self, redraw: bool = True, interval: float = 0.1, message: str | None = None, **_how: Any
    ) -> None:
        """Return when its pages have been closed; at once where nobody can open one."""
        while self.is_active:
            if redraw:
                self.redraw()
            settings.wait(interval)

    def close(self) -> None:
        """End: the page is told, and works on alone."""
        self._closed = True
        if self._page is not None:
            self._page.close()

    @property
    def page(self) -> Viewer | None:
        """The page as Linkwork has it, None before `show`."""
        return self._page

    @property
    def url(self) -> str | None:
        """The address of the page, None before `show`."""
        return None if self._page is None else self._page.url

    # inside

    _was_open = False

    @staticmethod
    def _in_notebook() -> bool:
        return False

    def _open(self, open_browser: bool | None) -> None:
        keys, robots = list(self._drawn), list[PageRobot]()
        for key in keys:
            self._told[key] = q = self._drawn[key].q()
            robots.append(PageRobot(self._drawn[key].robot, q))
        nothing = [] if robots else [PageRobot(load(_NOTHING))]
        first, *others = robots or nothing
        scene = scene_of(list(self._links.values())) if self._links else None
        self._placed = self._places()
        opened = None if open_browser is not False else False
        self._page = view(
            first.robot, first.q, robots=others, scene=scene, title=self._title,
            port=0, open=opened,
        )  # fmt: skip
        self._closed, self._was_open, self._seen = False, False, settings.clock()
        if robots:
            self._shown = dict(zip(keys, self._page.robots, strict=True))
        else:
            self._only_links = self._page.robots[0]
        self._page.on_change(self._moved)

    def _show_robot(self, key: int, drawn: DrawnRobot) -> None:
        assert self._page is not None  # noqa: S101  called with a page alone
        self._told[key] = q = drawn.q()
        self._shown[key] = self._page.add(drawn.robot, q=q)
        if self._only_links is not None:
            self._page.remove(self._only_links)
            self._only_links = None

    def _show_links(self) -> None:
        if self._page is None or self._page.closed:
            return
        places = self._places()
        if places == self._placed:
            return
        self._placed = places
        self._page.scene = scene_of(list(self._links.values()))

    def _places(self) -> Any:
        """The places and looks of loose links, to see whether one has changed."""
        return [
            (key, link.worldcoords().T().tobytes(), _looks(link))
            for key, link in self._links.items()
        ]

    def _moved(self, shown: ShownRobot) -> None:
        """The user of the page has moved a robot."""
        for key, each in self._shown.items():
            if each is shown:
                self._drawn[key].take(shown.q)
                self._told[key] = self._drawn[key].q()


def _looks(link: Link) -> Any:
    """The identity of a link's look: it changes when its mesh is replaced or coloured."""
    colors = link.colors
    return id(link.visual_mesh), None if colors is None else colors.tobytes()


class TrimeshSceneViewer(_PageViewer):
    """The viewer of most programs."""


class PyrenderViewer(_PageViewer):
    """As `TrimeshSceneViewer`, with frames at joints."""

    def __init__(self, resolution: Any = None, update_interval: Any = None, **kwargs: Any) -> None:
        super().__init__(resolution, update_interval, **kwargs)
        self._axes: dict[int, list[Link]] = {}  # the links of each joint's arrow

    def add_joint_axis(
        self,
        joint: Any,
        sphere_radius: float = 0.01,
        axis_length: float = 0.1,
        axis_radius: float = 0.003,
        axis_color: Any = None,
    ) -> None:
        """Show a joint's axis, as an arrow that moves with its child link."""
        from linkwork.faces.skrobot.model import Cylinder, Sphere  # noqa: PLC0415  few need them

        rgba = [255, 0, 0, 255] if axis_color is None else axis_color
        along = np.asarray(joint.axis, np.float64)
        frame = Coordinates().align_axis_to_direction(along)
        rod = Cylinder(axis_radius, axis_length, face_colors=rgba)
        rod.newcoords(Coordinates(pos=0.5 * axis_length * along, rot=frame.worldrot()))
        made: list[Link] = [Sphere(sphere_radius, color=rgba), rod]
        for link in made:
            joint.child_link.assoc(link, relative_coords="local")
            self.add(link)
        self._axes[id(joint)] = made

    def delete_joint_axis(self, joint: Any) -> None:
        """Show a joint's axis no more."""
        for link in self._axes.pop(id(joint), []):
            self.delete(link)
            joint.child_link.dissoc(link)


class MitsubaViewer(PyrenderViewer):
    """As `PyrenderViewer`."""

    def __init__(
        self,
        resolution: Any = None,
        update_interval: Any = None,
        title: str | None = None,
        *_lights: Any,
        **kwargs: Any,
    ) -> None:
        """Arguments of light, ground and samples are taken as in the original, and do nothing."""
        super().__init__(resolution, update_interval, title=title, **kwargs)


class ViserViewer(_PageViewer):
    """As `TrimeshSceneViewer`: the page always has sliders for joints, and a grid."""

    def __init__(
        self,
        draw_grid: bool = True,
        enable_ik: bool = False,
        enable_motion_planning: bool = False,
        line_thickness: float = 0.005,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._asked = (draw_grid, enable_ik, enable_motion_planning, line_thickness)

    def show(self, open_browser: bool = True, **how: Any) -> Any:
        """Open the page, or with ``open_browser=False`` only tell its address."""
        return super().show(open_browser=None if open_browser else False, **how)


ViserVisualizer = ViserViewer


class JupyterNotebookViewer(_PageViewer):
    """A page in the cell of a notebook; it is always active."""

    def __init__(self, resolution: Any = None, height: int = 500) -> None:
        super().__init__(resolution)
        self._height = height

    def show(self, update_in_place: bool = False) -> Any:
        """The page, for the cell to show."""
        super().show()
        return self._page

    def update(self, update_in_place: bool = False) -> Any:
        """Show robots and links where they are now; gives the page."""
        self.redraw()
        return self._page

    def to_html(self, escape_quotes: bool = False, enable_updates: bool = False) -> str:
        """The page as the text of a frame, which works alone."""
        if self._page is None:
            self.show()
        assert self._page is not None  # noqa: S101  show has made it
        text = self._page._repr_html_()
        return text.replace('"', "&quot;") if escape_quotes else text

    def _repr_html_(self) -> str:
        return self.to_html()

    @staticmethod
    def _in_notebook() -> bool:
        return True


class DummyViewer:
    """A viewer that shows nothing, for programs that are run unseen."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Takes what the others take."""

    def _nothing(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: it returns at once."""

    add = delete = redraw = show = close = set_camera = save_image = _nothing
    pause = wait_until_close = _nothing

    @property
    def is_active(self) -> bool:
        """False."""
        return False

    @property
    def has_exit(self) -> bool:
        """True."""
        return True


_VIEWERS: dict[str, Callable[..., Any]] = {
    "trimesh": TrimeshSceneViewer,
    "pyrender": PyrenderViewer,
    "viser": ViserViewer,
    "mitsuba": MitsubaViewer,
    "notebook": JupyterNotebookViewer,
}


def create_viewer(name: str = "trimesh", **kwargs: Any) -> Any:
    """The viewer of this name: "trimesh", "pyrender", "viser", "mitsuba" or "notebook".

    Raises: InputError for another name.
    """
    if name not in _VIEWERS:
        raise InputError(f"a viewer is one of {', '.join(_VIEWERS)}, not {name!r}")
    if name == "notebook":
        return JupyterNotebookViewer(kwargs.get("resolution"), kwargs.get("height", 500))
    return _VIEWERS[name](**kwargs)


def look_at_pose(eye: ArrayLike, target: ArrayLike, up: ArrayLike = (0.0, 0.0, 1.0)) -> Floats:
    """The pose (4, 4) of a camera at ``eye`` that looks along its -z at ``target``, y towards up.

    Raises: InputError where ``up`` is along the view, or there is no view.
    """
    at, upwards = (finite(each, name, (3,)) for each, name in ((eye, "eye"), (up, "up")))
    back = at - finite(target, "target", (3,))
    across = np.cross(upwards, back)
    if not across.any() or np.linalg.norm(across) < 1e-9 * np.linalg.norm(back):
        raise InputError(f"up {tuple(upwards.tolist())} is parallel to the view direction")
    x, z = across / np.linalg.norm(across), back / np.linalg.norm(back)
    return pose_matrix(np.column_stack([x, np.cross(z, x), z]), at)


__getattr__ = refusing(__name__)
