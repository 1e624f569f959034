"""Axes that plots are drawn on: given ones checked, new ones where none are given."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import InputError

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]

GREY, LIGHT = "#59616c", "#e3e6ea"
BEYOND = "#D55E00"
"""The colour of what breaks a limit, or is near a singularity."""
MAP = "viridis"
"""Colours of maps, from dark to light; told apart by colour-blind people too."""


def drawing_with() -> Any:
    """`simulation.pictures`, imported where something is drawn.

    Raises: MissingExtraError without matplotlib.
    """
    return import_module("linkwork.simulation.pictures")


def one_axes(axes: Any, size: tuple[float, float], *, space: bool = False) -> Any:
    """These axes, or those of a new figure; in space where it is asked for.

    Raises: InputError for what is no axes, or not of this kind; MissingExtraError.
    """
    pictures = drawing_with()
    if axes is None:
        return pictures.new_figure(size).add_subplot(projection="3d" if space else None)
    if not hasattr(axes, "add_line"):
        raise InputError(f"axes must be one matplotlib Axes, not {type(axes).__name__}")
    if (axes.name == "3d") is not space:
        raise InputError(
            "this is drawn in space: make the axes with projection='3d', or name a plane"
            if space
            else "this is drawn in a plane: make the axes without projection='3d'"
        )
    return axes


def panels(axes: Any, n: int, *, height: float = 1.7, columns: int | None = None) -> NDArray[Any]:
    """So many axes (n,) above and beside each other, these or those of a new figure.

    Raises: InputError where there are more or fewer; MissingExtraError.
    """
    pictures = drawing_with()
    if axes is not None:
        given = np.asarray(axes, dtype=object).reshape(-1)
        if len(given) != n or not all(hasattr(each, "add_line") for each in given):
            raise InputError(
                f"there are {n} panels to draw: axes must be {n} matplotlib Axes, not "
                f"{len(given)} of {type(given[0]).__name__ if len(given) else 'anything'}"
            )
        return given
    wide = columns or (1 if n < 4 else 2 if n < 9 else 3 if n < 19 else 4)
    rows = -(-n // wide)
    size = (max(6.5, 3.4 * wide), 0.9 + height * rows)
    made = pictures.new_figure(size).subplots(rows, wide, sharex=True, squeeze=False)
    flat = made.reshape(-1)
    for empty in flat[n:]:
        empty.remove()
    for axis in flat[max(0, n - wide) : n]:
        axis.tick_params(labelbottom=True)
    return flat[:n]


def bottom(axes: NDArray[Any]) -> list[Any]:
    """The axes of these that have none of them below."""
    places = [axis.get_subplotspec() for axis in axes]
    if any(place is None for place in places):
        return list(axes)
    lowest: dict[Any, int] = {}
    for place in places:
        column = (place.get_gridspec(), place.colspan.start)
        lowest[column] = max(lowest.get(column, 0), place.rowspan.stop)
    return [
        axis
        for axis, place in zip(axes, places, strict=True)
        if lowest[place.get_gridspec(), place.colspan.start] == place.rowspan.stop
    ]


def skeleton(robot: Robot, q: Floats) -> Floats:
    """The lines of a robot at one configuration, from joint to joint (n, 2, 3), m."""
    from linkwork.view.model import view_model  # noqa: PLC0415  not all need it

    poses = robot.fk_all(q)
    lines: list[Any] = []
    for line in view_model(robot, kinds=()).segments:
        ends = ((line.link_a, line.p_a), (line.link_b, line.p_b))
        lines.append([poses[link, :3, :3] @ np.array(p) + poses[link, :3, 3] for link, p in ends])
    return np.array(lines).reshape(-1, 2, 3)


def draw_skeleton(axes: Any, lines: Floats, *, strength: float = 1.0, halo: bool = False) -> None:
    """Lines (n, 2, d) as bars with dots where they meet, in a plane (d = 2) or in space."""
    long = lines[np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1) > 1e-9]
    if not len(long):
        return
    gaps = np.full((len(long), 1, long.shape[2]), np.nan)
    path = np.concatenate([long, gaps], axis=1).reshape(-1, long.shape[2])
    how: dict[str, Any] = {"color": GREY, "alpha": strength, "solid_capstyle": "round"}
    if halo:  # so that it is seen on any colour
        from matplotlib.patheffects import withStroke  # noqa: PLC0415  an extra

        how["path_effects"] = [withStroke(linewidth=5.5, foreground="white")]
    axes.plot(*path.T, linewidth=3.0, zorder=2, **how)
    dots = np.unique(np.round(long.reshape(-1, long.shape[2]), 9), axis=0)
    axes.plot(*dots.T, "o", color=GREY, alpha=strength, markersize=4.5, zorder=2.1)


def equal(axes: Any, points: Floats, *, margin: float = 0.06) -> None:
    """The same scale along all axes, with these points (n, d) in sight."""
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * max(float((high - low).max()), 1e-9)
    if axes.name == "3d":
        middle, half = 0.5 * (low + high), 0.5 * (high - low) + room
        half = np.maximum(half, 0.3 * half.max())
        for k, name in enumerate("xyz"):
            getattr(axes, f"set_{name}lim")(middle[k] - half[k], middle[k] + half[k])
            getattr(axes, f"set_{name}label")(f"{name} (m)", fontsize="small")
        axes.set_box_aspect(half, zoom=1.0)
        axes.tick_params(labelsize="x-small")
        axes.locator_params(nbins=5)
    else:
        axes.set_xlim(low[0] - room, high[0] + room)
        axes.set_ylim(low[1] - room, high[1] + room)
        axes.set_aspect("equal")


def names_of_plane(plane: str | None) -> tuple[int, int] | None:
    """The two axes of a plane by name: "xz" is (0, 2).

    Raises: InputError for another name.
    """
    if plane is None:
        return None
    if not (isinstance(plane, str) and len(plane) == 2 and len(set(plane) & set("xyz")) == 2):
        raise InputError(f"plane must be two of x, y, z, as in 'xz', not {plane!r:.40}")
    return "xyz".index(plane[0]), "xyz".index(plane[1])
