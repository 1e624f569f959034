"""``linkwork show``: robots in a page of the browser, or in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork import npz
from linkwork.cli import inputs, output
from linkwork.cli.arguments import ShowArguments
from linkwork.cli.inputs import Angles
from linkwork.errors import InputError, ShapeError
from linkwork.terminal import progress_line
from linkwork.view.live import Viewer
from linkwork.view.motion import Motion, configuration_to_show, motion
from linkwork.view.page import PageRobot

Floats = NDArray[np.float64]

FILES = (".svg", ".png", ".html", ".glb", ".gif", ".mp4")
"""Ends of the names of files that --out writes."""

_GAP = 0.4
"""Metres between robots that stand beside each other."""


def run(given: ShowArguments) -> None:
    """Show the robots until Ctrl-C, or write the file."""
    out = output.target_file(given.out, FILES, "--out")
    _check(given, out)
    robot, angles = inputs.open_robot(given, None), Angles(given.deg)
    q, ghost = (
        inputs.configuration(robot, each, option, angles) if each else None
        for each, option in ((given.q, "--q"), (given.ghost, "--ghost"))
    )
    moving = None
    if given.trajectory is not None:
        moving = motion_of(robot, given.trajectory, given.duration)
    scene = None
    if given.scene is not None:
        scene = inputs.open_scene(given.scene, tuple(given.allow or ()))
    others = [lw.load(name) for name in given.more or []]
    standing = _beside(robot, q if moving is None else moving.q[0], others)
    if out is not None:
        with output.options_named(), progress_line(f"writing {out.name}"):
            wish = _Wish(given, robot, q, ghost, moving, standing, scene)
            told = _WRITERS[out.suffix.lower()](wish, out)
        for message in told if isinstance(told, tuple) else told.messages:
            output.note(f"linkwork: {output.in_options(message)}")
        output.note(f"written: {given.out}")
        return
    with output.options_named(), progress_line(f"opening {robot.name}"):
        viewer = robot.view(
            q if moving is None else moving.q[0],
            robots=standing,
            ghost=ghost,
            units="rad" if given.rad else "deg",
            show=_shown(given),
            scene=scene,
            allow=given.allow or (),
            port=given.port,
            host=given.host,
            open=given.browser,
        )
        if moving is not None:
            viewer.play(moving)
    until_stopped(viewer)


def until_stopped(viewer: Viewer) -> None:
    """Wait until Ctrl-C, which is the usual end of a page."""
    try:
        with viewer:
            output.note("linkwork: Ctrl-C ends it")
            viewer.wait()
    except KeyboardInterrupt:
        output.note("")


def _check(given: ShowArguments, out: Path | None) -> None:
    """Refuse options that exclude each other, or mean nothing together."""
    ending = "" if out is None else out.suffix.lower()
    if given.trajectory is not None and given.q:
        raise InputError("a trajectory says where the robot is: give --q or --trajectory, not both")
    if given.duration is not None and given.trajectory is None and ending not in (".gif", ".mp4"):
        raise InputError("--duration says how long a motion lasts: give --trajectory too")
    if given.render and ending != ".png":
        raise InputError("--render is for --out with a .png: say which file to write")
    alone = ending == ".glb" or (ending in (".svg", ".png") and not given.render)
    if given.more and alone:
        raise InputError(f"a {ending} shows one robot: leave out {', '.join(given.more)}")
    if given.scene and alone:
        raise InputError(f"a {ending} has no scene: leave out --scene")
    if given.ghost and ending == ".glb":
        raise InputError(f"a {ending} has no ghost: leave out --ghost")
    of_page = (given.port is not None, given.host != "127.0.0.1", given.browser is not None)
    if out is not None and any(of_page):
        raise InputError("--port, --host and --browser are for the page that is served: leave out "
                         "them or --out")  # fmt: skip


def _shown(given: ShowArguments) -> tuple[str, ...] | None:
    """Names for `show` at first; None for those of the page itself."""
    return ("collision", "loops", "ground", "shadow") if given.collision else None


def _beside(robot: lw.Robot, q: Floats | None, others: list[lw.Robot]) -> list[PageRobot]:
    """The other robots, one after the other along y, with room between them."""
    standing: list[PageRobot] = []
    if not others:
        return standing
    edge = _reach(robot, q)[1] + _GAP
    for each in others:
        least, most = _reach(each, None)
        T = np.eye(4)
        T[1, 3] = edge - least
        standing.append(PageRobot(each, T_world_robot=T))
        edge += most - least + _GAP
    return standing


def _reach(robot: lw.Robot, q: Floats | None) -> tuple[float, float]:
    """The least and the largest y of the robot's frames."""
    y = robot.fk_all(configuration_to_show(robot, q))[:, 1, 3]
    return float(y.min()), float(y.max())


# files


@dataclass(frozen=True)
class _Wish:
    """A robot as it is to be shown in a file."""

    given: ShowArguments
    robot: lw.Robot
    q: Floats | None
    ghost: Floats | None
    motion: Motion | None
    others: Sequence[PageRobot]
    scene: lw.Scene | None

    @property
    def how(self) -> dict[str, Any]:
        """The options of every kind of file."""
        return {"allow": self.given.allow or ()}


def _drawing(wish: _Wish, out: Path) -> Any:
    if wish.given.render:
        return _film(wish, out)
    q = wish.q
    if wish.ghost is not None:  # of several the last one is drawn in full
        q = np.array([wish.ghost, configuration_to_show(wish.robot, q)])
    shapes = "collision" if wish.given.collision else None
    path = None if wish.motion is None else wish.motion.q
    drawn = wish.robot.plot(q, shapes=shapes, path=path, **wish.how)
    drawn.save(out)
    return drawn


def _page(wish: _Wish, out: Path) -> Any:
    return wish.robot.export_html(
        out,
        q=wish.q,
        ghost=wish.ghost,
        trajectory=wish.motion,
        robots=wish.others,
        scene=wish.scene,
        show=_shown(wish.given),
        units="rad" if wish.given.rad else "deg",
        **wish.how,
    )


def _glb(wish: _Wish, out: Path) -> Any:
    kinds = ("collision",) if wish.given.collision else ("visual",)
    return wish.robot.export_glb(out, q=wish.q, trajectory=wish.motion, kinds=kinds, **wish.how)


def _film(wish: _Wish, out: Path) -> Any:
    return wish.robot.render(
        out,
        wish.q,
        trajectory=wish.motion,
        duration=None if wish.motion is not None else wish.given.duration,
        scene=wish.scene,
        ghost=wish.ghost,
        robots=wish.others,
        show=_shown(wish.given),
        **wish.how,
    )


_WRITERS: Mapping[str, Callable[[_Wish, Path], Any]] = {
    ".svg": _drawing,
    ".png": _drawing,
    ".html": _page,
    ".glb": _glb,
    ".gif": _film,
    ".mp4": _film,
}


# motions in files


def motion_of(robot: lw.Robot, name: str, duration: float | None) -> Motion:
    """The motion in a file: as trajectories and simulations write it, or configurations.

    Raises: InputError, ShapeError.
    """
    if Path(name).suffix.lower() == ".npz":
        trajectory, times = _saved_motion(name)
    else:
        trajectory, times = _listed_motion(robot, name)
    made = motion(robot, trajectory, times=times)
    return made if duration is None else motion(robot, made, duration=duration)


def _saved_motion(name: str) -> tuple[Any, Floats | None]:
    """A trajectory, or the positions and times of a simulation; of a batch the first roll-out."""
    arrays = npz.read(name, "cannot be read as a motion")
    if "coefficients" in arrays:
        return lw.trajectory.load(name), None
    if "times" not in arrays or "q" not in arrays:
        raise InputError(f"{name} holds no motion: there are no arrays 'times' and 'q' in it")
    q = arrays["q"].reshape(-1, *arrays["q"].shape[-2:])[0]
    n = int(np.isfinite(q).all(axis=-1).cumprod().sum())  # it may have been stopped
    return q[:n], arrays["times"][:n]


def _listed_motion(robot: lw.Robot, name: str) -> tuple[Floats, Floats | None]:
    """Positions by row, and their times where a column has them."""
    read, names = inputs.read_numbers(name), inputs.position_labels(robot.mechanism)
    if not isinstance(read, inputs.Table) or read.header is None:
        values = read.values if isinstance(read, inputs.Table) else np.atleast_2d(read)
        if values.ndim != 2 or values.shape[1] != robot.n_q:
            raise ShapeError(
                f"{name} has the shape {values.shape}; configurations of '{robot.name}' have "
                f"(n, {robot.n_q})"
            )
        return values, None
    header, values = read.header, read.values
    if "row" in header:
        values = values[values[:, header.index("row")] == values[0, header.index("row")]]
    clock = next((header.index(each) for each in ("time", "t") if each in header), None)
    own = next((p for p in ("q ", "q_", "") if f"{p}{names[0]}" in header), "") if names else ""
    wanted = [f"{own}{each}" for each in names]
    q = inputs.columns(inputs.Table(name, header, values), wanted, ignored=header)
    return q, None if clock is None else values[:, clock]
