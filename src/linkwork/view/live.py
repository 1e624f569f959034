"""Robots in a page of the browser that is tied to Python: what moves here moves there, and back.

The page computes by itself whatever is needed to move the robot. Python tells it what to show, and
hears from it where the user has put the robot; when Python ends, the page works on alone.
"""

from __future__ import annotations

import atexit
import html
import sys
import threading
import weakref
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.checks import finite_number, finite_rows, real_array, whole_number
from linkwork.errors import InputError, ShapeError
from linkwork.legible import legible
from linkwork.locating import Folders
from linkwork.mechanism.named_positions import Configuration, labels
from linkwork.mechanism.neutral import quaternion_starts
from linkwork.view.motion import MovingObjects, configuration_to_show, displacements, motion
from linkwork.view.page import (
    BUDGET,
    PageRobot,
    Units,
    beside,
    messages_of,
    motion_data,
    page_data,
    page_text,
    scene_data,
)
from linkwork.view.server import Message, PageServer, is_loopback

if TYPE_CHECKING:
    from linkwork.collision.model import CollisionModel
    from linkwork.robot import Robot
    from linkwork.scene import Scene

Floats = NDArray[np.float64]

_SECONDS_TO_LOAD = 10.0
"""So long a process that ends waits for the browser that it has opened to fetch the page."""
_MOST_TOLD = 3
"""So many messages on what is not shown are told beside the address."""
_MOST_TOUCHES = 50
"""So many pairs that touch are told to pages."""
_UNIT_TOLERANCE = 1.0e-3
"""So far from 1 the length of a quaternion from a page may be."""


def view(  # noqa: PLR0913  one call with every choice by name
    robot: Robot,
    q: Configuration | None = None,
    *,
    robots: Sequence[PageRobot] = (),
    scene: Scene | None = None,
    collision: CollisionModel | bool = False,
    ghost: Configuration | None = None,
    presets: Mapping[str, Configuration] | None = None,
    units: Units = "deg",
    show: Sequence[str] | None = None,
    title: str | None = None,
    allow: Folders = (),
    meshes_budget: int = BUDGET,
    port: int | None = None,
    host: str = "127.0.0.1",
    open: bool | None = None,
    height: int = 600,
) -> Viewer:
    """A page in the browser with a robot that can be moved, from here and there.

    Args:
        robot: The robot.
        q: Where it begins (nq,), or by joint name; by default neutral, with its loops closed.
        robots: More robots that stand beside it, as `PageRobot`.
        scene: What stands around it.
        collision: A collision model of the robot, or True for its own: the page then says what
            touches, of the robot and of the scene, and paints it red, wherever it is moved.
        ghost: A second configuration, which is seen through.
        presets: Configurations by name, for buttons of the page.
        units: The unit in which angles are shown: "deg" or "rad".
        show: What is seen at first; see `export_html`.
        title: The page's title; by default the names of the robots.
        allow: Folders that meshes may lie in besides the description's package.
        meshes_budget: The number of triangles of a robot; one that has more is simplified.
        port: The port of this machine; where it is taken, the next that is free. 0 is any.
        host: The address that is served: this machine alone, or with "0.0.0.0" all who can
            reach it and have the address with its token.
        open: Whether the page is opened in a browser; by default where there is a desktop. The
            address is told on standard error. A notebook shows the page in the cell instead.
        height: The page's height in a notebook, in pixels.

    What is opened ends with the process, with `Viewer.close`, or with a ``with`` block.

    Raises: InputError, ShapeError, UnknownNameError before anything is opened.
    """
    if not isinstance(collision, bool) and not hasattr(collision, "distances"):
        raise InputError(
            "collision is True or a model, as robot.collision() gives it, not "
            f"{type(collision).__name__}"
        )
    first = PageRobot(robot, q, ghost, presets or {}, allow=allow)
    viewer = Viewer(
        beside(first, robots),
        {
            "scene": scene,
            "units": units,
            "show": show,
            "title": title,
            "meshes_budget": meshes_budget,
        },
        collision=robot.collision() if collision is True else collision or None,
        host=host,
        port=port,
        height=height,
    )
    viewer.announce(asked_for=port, open=open)
    return viewer


def animate(
    robot: Robot,
    trajectory: Any = None,
    *,
    times: ArrayLike | None = None,
    duration: float | None = None,
    row: int | tuple[int, ...] | None = None,
    loop: bool | None = None,
    objects: MovingObjects | None = None,
    **how: Any,
) -> Viewer:
    """A page in the browser with a robot on its way along a trajectory, to be played and stopped.

    ``trajectory``, ``times``, ``duration``, ``row`` and ``loop`` are those of
    `linkwork.view.motion.motion`; without a trajectory every joint goes to its limits and back.
    ``objects``: see `Viewer.play`. ``how``: as `view`.

    Raises: as `motion` and `view`.
    """
    moving = motion(robot, trajectory, times=times, duration=duration, row=row, loop=loop)
    if objects:  # what is wrong with them is said before a page is opened
        displacements(objects, how.get("scene"), np.zeros(1))
    viewer = view(robot, moving.q[0], **how)
    viewer.play(moving, objects=objects)
    return viewer


class ShownRobot:
    """A robot in a page: where it is, and what is seen with it."""

    def __init__(self, made: PageRobot, tell: Callable[[str, Message], None]) -> None:
        """A robot for a page; ``tell`` takes the kind of a change, and what is to be said."""
        robot = made.robot
        self.robot = robot
        self._made = made
        self._q = configuration_to_show(robot, made.q)
        self._ghost = None if made.ghost is None else configuration_to_show(robot, made.ghost)
        self._tell = tell
        self._labels = labels(robot.mechanism, velocities=False)

    @property
    def q(self) -> Floats:
        """The configuration (nq,): as put here, or as the user of the page has moved it since.

        Setting it moves it in the page at once; so do positions by joint name.

        Raises: ShapeError, InputError, UnknownNameError.
        """
        return self._q.copy()

    @q.setter
    def q(self, q: Configuration) -> None:
        self._q = (
            configuration_to_show(self.robot, q)
            if isinstance(q, Mapping)
            else _one(q, "q", self.robot.n_q, self._labels)
        )
        self._tell("q", {"q": self._q.tolist()})

    @property
    def ghost(self) -> Floats | None:
        """A second configuration (nq,), which is seen through, or None.

        Raises: as `q`.
        """
        return None if self._ghost is None else self._ghost.copy()

    @ghost.setter
    def ghost(self, q: Configuration | None) -> None:
        self._ghost = None if q is None else configuration_to_show(self.robot, q)
        self._tell("ghost", {"q": _listed(self._ghost)})

    def for_the_page(self) -> PageRobot:
        """The entry of the page."""
        return replace(self._made, q=self._q, ghost=self._ghost)

    def moved_by_page(self, q: Any) -> None:
        """Take over where the user of a page has moved it.

        Raises: InputError, ShapeError for what is no configuration.
        """
        found = _one(q, "q", self.robot.n_q, self._labels)
        for start in quaternion_starts(self.robot.mechanism):
            if abs(float(np.linalg.norm(found[start : start + 4])) - 1.0) > _UNIT_TOLERANCE:
                raise InputError(f"q[{start}:{start + 4}] must be a quaternion of length 1")
        self._q = found

    def __repr__(self) -> str:
        return f"ShownRobot('{self.robot.name}', q={np.array2string(self._q, precision=4)})"


class Viewer:
    """Robots in a page of the browser, as `view` opens it.

    It may be used from several threads. A process that is forked does not have it.
    """

    def __init__(
        self,
        robots: Sequence[PageRobot],
        page: Mapping[str, Any],
        *,
        collision: CollisionModel | None = None,
        host: str = "127.0.0.1",
        port: int | None = None,
        height: int = 600,
    ) -> None:
        """Serve a page with these robots; ``page`` has the options of `page_data`.

        ``collision`` is the model of the first robot, which stands in the world's origin.
        """
        self._collision, self._touches = collision, None
        self._judge = _Listeners()  # what touches is found in a thread of its own
        if collision is not None:
            self._judge.add(self._tell_touches)
        self._height = whole_number(height, "height", least=100, most=10_000)
        self._lock = threading.RLock()
        self._robots: list[ShownRobot] = []
        for each in robots:
            self._take_in(each)
        self._options = dict(page)
        self._trajectory: dict[str, Any] | None = None
        # objects that move with the trajectory, and a scene to move them in
        self._moving: tuple[MovingObjects, Scene] | None = None
        self._instant: float | None = None  # of the trajectory, at which its objects are seen
        self._made: dict[str, Any] | None = None  # what of the page stays as it is
        self._browser = False
        self._listeners = _Listeners()
        self._page(None)  # what is wrong is said here, and the browser need not wait
        self._server = PageServer(self._page, self._received, host=host, port=port)
        self._judged(self._robots[0])
        _OPEN.add(self)

    # what is shown

    @property
    def robots(self) -> tuple[ShownRobot, ...]:
        """The robots of the page, the first one being that which `view` was called for."""
        return tuple(self._robots)

    @property
    def q(self) -> Floats:
        """The configuration (nq,) of the first robot; see `ShownRobot.q`."""
        return self._robots[0].q

    @q.setter
    def q(self, q: Configuration) -> None:
        self._robots[0].q = q

    @property
    def ghost(self) -> Floats | None:
        """A second configuration of the first robot, or None; see `ShownRobot.ghost`."""
        return self._robots[0].ghost

    @ghost.setter
    def ghost(self, q: Configuration | None) -> None:
        self._robots[0].ghost = q

    @property
    def scene(self) -> Scene | None:
        """The scene around the robots. One that has changed is shown where it is set again."""
        return self._options["scene"]

    @scene.setter
    def scene(self, scene: Scene | None) -> None:
        told = scene_data(scene)
        with self._lock:
            self._options["scene"], self._made = scene, None
            if self._trajectory is not None:
                self._trajectory = {**self._trajectory, "objects": {}}
            self._moving = None
        self._server.send("scene", {"type": "scene", **told})
        self._judged(self._robots[0])

    def add(
        self,
        robot: Robot,
        T_world_robot: ArrayLike | None = None,
        q: Configuration | None = None,
        *,
        allow: Folders = (),
    ) -> ShownRobot:
        """One more robot, with its base at a pose (4, 4) in the world, at q (nq,).

        Pages that are open load themselves again.

        Raises: ShapeError, InputError, UnknownNameError.
        """
        with self._lock:
            shown = self._take_in(PageRobot(robot, q, T_world_robot=T_world_robot, allow=allow))
            self._made = None
            self._page(None)
        self._server.send("replace", {"type": "replace"})
        return shown

    def remove(self, shown: ShownRobot) -> None:
        """Take a robot away that `add` has given. Pages that are open load themselves again.

        Raises: InputError for one that is not in the page, or the last one.
        """
        with self._lock:
            if shown not in self._robots:
                raise InputError(f"the robot '{shown.robot.name}' is not in this page")
            if len(self._robots) == 1:
                raise InputError("a page shows at least one robot: close it to take away the last")
            number = self._robots.index(shown)
            played = None if self._trajectory is None else self._trajectory["robot"]
            if played is not None and played >= number:
                moved = {**(self._trajectory or {}), "robot": played - 1}
                self._trajectory = None if played == number else moved
            self._robots.remove(shown)
            self._made = None
            self._page(None)
        self._server.send("replace", {"type": "replace"})

    def play(
        self,
        trajectory: Any = None,
        *,
        robot: int = 0,
        times: ArrayLike | None = None,
        duration: float | None = None,
        row: int | tuple[int, ...] | None = None,
        loop: bool | None = None,
        objects: MovingObjects | None = None,
    ) -> None:
        """Let a robot, the first or another by its number, go along a trajectory.

        The trajectory is whatever `motion` takes. It is played at once where a page is open, which
        can stop it, go to any instant of it and play it again.

        ``objects`` of the scene move with it: by name T_world_object (4, 4) as a function of the
        time in s. A scene that is set anew stands still.

        Raises: as `motion`.
        """
        shown = self._robots[whole_number(robot, "robot", least=0, most=len(self._robots) - 1)]
        made = motion(shown.robot, trajectory, times=times, duration=duration, row=row, loop=loop)
        scene = self.scene
        told = motion_data(made, robot, scene=scene, objects=objects)
        with self._lock:
            self._trajectory, self._instant = told, None
            self._moving = (dict(objects), scene.copy()) if objects and scene is not None else None
        self._server.send("trajectory", {"type": "trajectory", **self._trajectory})

    def on_change(self, callback: Callable[[ShownRobot], Any]) -> None:
        """Call a function with the robot that the user of a page has moved, after each move.

        It is called in a thread of its own, with the newest state where it takes longer than the
        moves do. What it raises is told on standard error.

        Raises: InputError for what cannot be called.
        """
        if not callable(callback):
            raise InputError(f"on_change takes a function of the robot, not {callback!r:.60}")
        self._listeners.add(callback)

    @property
    def messages(self) -> tuple[str, ...]:
        """Messages on what is left out or shown simpler: meshes that are missing, or very large."""
        with self._lock:
            return () if self._made is None else messages_of(self._made)

    # how long it is shown

    @property
    def url(self) -> str:
        """The address of the page, with the token without which nothing is answered."""
        return self._server.url

    @property
    def browser(self) -> bool:
        """Whether a browser was opened for it."""
        return self._browser

    @property
    def open_pages(self) -> int:
        """The number of pages that are open."""
        return self._server.open_pages

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._server.closed

    def wait(self, *, until_pages_close: bool = False) -> None:
        """Return when the viewer is closed, from another thread or by Ctrl-C.

        With ``until_pages_close`` also when the last page that was open has been closed.
        """
        self._server.wait(until_pages_close=until_pages_close)

    def close(self) -> None:
        """End: pages are told and work on alone, the port is free. Closing twice is once."""
        self._server.close()
        self._listeners.close()
        self._judge.close()
        _OPEN.discard(self)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def leave(self) -> None:
        """Close, once a browser that was opened for it has the page."""
        if self._browser and not self.closed:
            self._server.fetched.wait(_SECONDS_TO_LOAD)
        self.close()

    def announce(self, *, asked_for: int | None = None, open: bool | None = None) -> None:
        """Say where the page is, and open a browser as `view` says; ``asked_for`` is a port."""
        notebook, server = _in_a_notebook(), self._server
        if asked_for and server.port != asked_for:
            _say(f"port {asked_for} is taken: port {server.port} is used instead")
        if not notebook:
            _say(f"{self._name()} is shown at {server.url}")
        if not is_loopback(server.host):
            _say(f"whoever reaches this machine can see and move the robot at {server.outside_url}")
        elif not notebook and settings.over_ssh():
            there = f"{server.port}:127.0.0.1:{server.port}"
            _say(f"from the machine in front of you: ssh -L {there} and the name of this one")
        told = self.messages
        for text in told[:_MOST_TOLD]:
            _say(text)
        if len(told) > _MOST_TOLD:
            _say(f"and {len(told) - _MOST_TOLD} more, which the page lists")
        if settings.has_desktop() and not notebook if open is None else open:
            self._browser = webbrowser.open(server.url)

    # for notebooks, and people

    def _repr_html_(self) -> str:
        """The page inside a notebook: tied to Python while that runs, and working alone after."""
        live = None
        if not self.closed:
            self._server.embedded = True
            live = {**self._server.for_a_page, "url": self._server.address}
        text = html.escape(self._page(live), quote=True)
        style = f"width:100%;height:{self._height}px;border:0;border-radius:8px"
        return (
            f'<iframe srcdoc="{text}" style="{style}" allow="fullscreen; clipboard-write"></iframe>'
        )

    def __repr__(self) -> str:
        if self.closed:
            return f"Viewer({self._name()}: closed)"
        n = self.open_pages
        return f"Viewer({self._name()}: {self.url}, {n} page{'' if n == 1 else 's'} open)"

    # inside

    def _name(self) -> str:
        return ", ".join(each.robot.name for each in self._robots)

    def _take_in(self, made: PageRobot) -> ShownRobot:
        def tell(kind: str, message: Message) -> None:
            with self._lock:
                if shown not in self._robots:
                    return  # it has been removed
                index = self._robots.index(shown)
            told = {"type": kind, "robot": index, **message}
            self._server.send(f"{kind} {index}", told)
            if kind == "q":
                self._judged(shown)

        shown = ShownRobot(made, tell)
        self._robots.append(shown)
        return shown

    def _page(self, live: Message | None) -> str:
        """The text of the page as things are now."""
        with self._lock:
            if self._made is None:
                robots = [each.for_the_page() for each in self._robots]
                self._made = page_data(robots, **self._options)
            made: dict[str, Any] = dict(self._made)
            made["robots"] = [
                {**data, "q": each.q.tolist(), "ghost": _listed(each.ghost)}
                for data, each in zip(made["robots"], self._robots, strict=True)
            ]
            made["trajectory"] = self._trajectory
            made["touches"] = self._touches
        return page_text(made, live=live)

    def _received(self, said: Any) -> dict[str, Message]:
        """A state that a page has sent, taken over; and what the other pages are to know.

        Raises: InputError for what is no state.
        """
        index = said.get("robot") if isinstance(said, dict) else None
        if isinstance(index, bool) or not isinstance(index, int):
            raise InputError('a state is {"robot": its number, "q": [its positions]}')
        if not 0 <= index < len(self._robots):
            raise InputError(f"there is no robot {index}")
        shown = self._robots[index]
        instant = said.get("instant")
        if instant is not None:
            instant = finite_number(instant, "instant")
        shown.moved_by_page(said.get("q"))
        self._instant = instant
        self._listeners.notify(shown)
        self._judged(shown if instant is None else self._robots[0])
        told = {"type": "q", "robot": index, "q": shown.q.tolist(), "page": str(said.get("page"))}
        return {f"q {index}": told}

    def _judged(self, shown: ShownRobot) -> None:
        """See to it that what touches is told."""
        if self._collision is not None and shown is self._robots[0]:
            self._judge.notify(shown)

    def _tell_touches(self, shown: ShownRobot) -> None:
        """Tell pages which pairs touch, the deepest first, where that has changed."""
        if self._collision is None:
            return
        found = self._collision.distances(shown.q, self._scene_now(), within=0.0)
        order = [int(k) for k in np.argsort(found.distance) if found.distance[k] <= 0.0]
        pairs = [[*found.pairs[k], -float(found.distance[k])] for k in order[:_MOST_TOUCHES]]
        told = {"robot": 0, "pairs": pairs, "count": len(order)}
        if told != self._touches:
            self._touches = told
            self._server.send("touches", {"type": "touches", **told})

    def _scene_now(self) -> Scene | None:
        """The scene, with the objects of the trajectory where pages show them."""
        with self._lock:
            scene, moving, instant = self.scene, self._moving, self._instant
        if moving is None or instant is None:
            return scene
        objects, moved = moving
        for name, pose_at in objects.items():
            moved.move(name, pose_at(instant))
        return moved


class _Listeners:
    """Functions that are called with what has changed, in a thread that starts with the first."""

    def __init__(self) -> None:
        self._callbacks: list[Callable[[ShownRobot], Any]] = []
        self._changed: dict[int, ShownRobot] = {}
        self._condition = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False

    def add(self, callback: Callable[[ShownRobot], Any]) -> None:
        with self._condition:
            self._callbacks.append(callback)
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(
                    target=self._run, name="linkwork page changes", daemon=True
                )
                self._thread.start()

    def notify(self, shown: ShownRobot) -> None:
        with self._condition:
            if self._callbacks:
                self._changed[id(shown)] = shown
                self._condition.notify()

    def close(self) -> None:
        with self._condition:
            self._closed = True
            self._condition.notify()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=1.0)  # a function of the user's may still be at work

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._closed or bool(self._changed))
                if self._closed:
                    return
                changed, self._changed = list(self._changed.values()), {}
                callbacks = list(self._callbacks)
            for shown in changed:
                for callback in callbacks:
                    try:
                        callback(shown)
                    except Exception:
                        sys.excepthook(*sys.exc_info())  # pyright: ignore[reportArgumentType]


def _listed(q: Floats | None) -> list[float] | None:
    return None if q is None else q.tolist()


def _one(q: Any, name: str, n: int, names: Sequence[str]) -> Floats:
    """One configuration (n,), as a new array.

    Raises: ShapeError, InputError.
    """
    found = finite_rows(np.asarray(real_array([] if q is None else q, name)), name, n, names)
    if found.ndim != 1:
        raise ShapeError(f"{name} is one configuration ({n},), not {found.shape}")
    return found.copy()


# the process


_OPEN: weakref.WeakSet[Viewer] = weakref.WeakSet()


def _close_all() -> None:
    """At the end of the process: a browser that was opened gets the page, then all is closed."""
    for viewer in list(_OPEN):
        viewer.leave()


atexit.register(_close_all)


def _in_a_notebook() -> bool:
    """Whether results are shown in the cells of a notebook."""
    module = sys.modules.get("IPython")
    shell = None if module is None else module.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def _say(text: str) -> None:
    sys.stderr.write(f"linkwork: {legible(text)}\n")
    sys.stderr.flush()
