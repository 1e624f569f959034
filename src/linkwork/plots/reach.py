"""Pictures of a frame's reach: points of random configurations, maps of proven poses."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork import settings
from linkwork.checks import finite_number, real_array, rotation_matrices, whole_number
from linkwork.errors import InputError, ShapeError, UnsupportedFeatureError
from linkwork.plots.figures import (
    LIGHT,
    MAP,
    draw_skeleton,
    drawing_with,
    equal,
    names_of_plane,
    one_axes,
    skeleton,
)
from linkwork.plots.jacobians import (
    Sight,
    frame_jacobian,
    manipulability,
    random_rows,
    resting,
    sample,
    sight_of,
    structural_rank,
)
from linkwork.solve.tasks import Position
from linkwork.terminal import progress_line

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]

_ON_PLANE = 1.0e-6
"""The distance (m) from a plane within which a point counts as on it."""
_STEPS_TO_PLANE = 25
_SEEN_FROM = (28.0, -45.0)
"""Degrees above the horizon, and about z."""
_AT_ONCE = 1.0e-9
"""Seconds for a target: so the solver does not look for what is nearest to one that is out of
reach, which would take a thousand times as long. One try is made all the same."""
_LONG = 50_000  # poses from which a terminal is shown how far they are


def workspace(
    robot: Robot,
    frame: str | None = None,
    *,
    plane: str | None = None,
    at: float = 0.0,
    n: int = 100_000,
    seed: int = 0,
    colour: Literal["manipulability", "density"] = "manipulability",
    axes: Any = None,
) -> Any:
    """Axes with the points that a frame's origin has in n random configurations inside the limits.

    A frame that moves in a plane, or a slice where a ``plane`` is named ("xz", with its third
    coordinate ``at``, m), is drawn as a map of cells, each with the best manipulability (of the
    linear rows) or the number of configurations in it; else as points in space (at most
    8000, without the quarter towards the viewer).
    Configurations of a slice are moved onto its plane along the Jacobian, and kept where they come
    within 1e-6 m of it inside the limits. Bases that float or drive, and slides without limits,
    stay at neutral. Robots with loops are assembled at random positions of their actuated joints.

    Raises: UnknownNameError, InputError; UnsupportedFeatureError for slices of robots with loops;
    MissingExtraError without matplotlib.
    """
    drawing_with()
    n = whole_number(n, "n", most=10_000_000)
    at = finite_number(at, "at")
    if colour not in ("manipulability", "density"):
        raise InputError(f"colour must be 'manipulability' or 'density', not {colour!r:.40}")
    sight = sight_of(robot, frame, None)
    named = names_of_plane(plane)
    sliced = named is not None and sight.in_space
    if named is not None:
        sight = Sight(np.eye(3)[list(named)], tuple("xyz"[k] for k in named))
    axes = one_axes(axes, (6.5, 5.4), space=sight.in_space)
    q = sample(robot, n, whole_number(seed, "seed", least=0))
    if sliced:
        assert_open(robot, "slices of the workspace")
        q = _onto_plane(robot, frame, q, normal=3 - sum(named or ()), at=at)
    if not len(q):
        raise InputError(
            f"no configuration was found with {robot.tip if frame is None else frame} "
            + (f"on the plane {plane} at {at:g} m" if sliced else "and the loops closed")
        )
    points = robot.fk(q, frame)[:, :3, 3] @ sight.rows.T
    linear = sight.rows @ frame_jacobian(robot, q, frame)[:, :3]
    worth = manipulability(linear, structural_rank(linear[:200]))
    neutral = q[0] if robot.mechanism.is_closed else robot.neutral()
    lines = skeleton(robot, neutral) @ sight.rows.T
    if sight.in_space:
        _draw_points(axes, points, worth, lines, colour)
    else:
        _draw_cells(axes, points, worth, lines, colour)
        axes.set_xlabel(f"{sight.names[0]} (m)")
        axes.set_ylabel(f"{sight.names[1]} (m)")
    name = robot.tip if frame is None else frame
    where = f" at {'xyz'[3 - sum(named)]} = {at:g} m" if sliced and named else ""
    axes.set_title(f"workspace of {name}{where}", fontsize="small", loc="left")
    return axes


def assert_open(robot: Robot, what: str) -> None:
    """Refuse a robot with loops.

    Raises: UnsupportedFeatureError.
    """
    if robot.mechanism.is_closed:
        raise UnsupportedFeatureError(f"{what} of robots with loops ({robot.name}) is not computed")


def _onto_plane(robot: Robot, frame: str | None, q: Floats, *, normal: int, at: float) -> Floats:
    """Configurations (n, nq) moved until the frame is on a plane; those that get there."""
    m = robot.mechanism
    lower, upper = m.lower, m.upper
    one_each = robot.n_q == robot.n_v
    if not one_each:
        fixed = sum(kind.n_q for kind in m.joint_types if kind.has_quaternion)
        if fixed and not one_each:
            raise UnsupportedFeatureError(
                f"slices of the workspace of {robot.name}, which has quaternions in q, "
                "are not computed"
            )
    for _ in range(_STEPS_TO_PLANE):
        away = robot.fk(q, frame)[:, normal, 3] - at
        if (np.abs(away) <= 1e-3 * _ON_PLANE).all():
            break
        row = robot.jacobian(q, frame)[:, normal]
        # joints at a limit that they would be pushed through stay
        pushed = -away[:, None] * row
        stuck = ((q >= upper) & (pushed > 0.0)) | ((q <= lower) & (pushed < 0.0))
        row = np.where(stuck, 0.0, row)
        size = (row * row).sum(axis=1, keepdims=True)
        move = -away[:, None] * row / np.maximum(size, 1e-12)
        largest = np.abs(move).max(axis=1, keepdims=True)
        q = np.clip(q + move * np.minimum(1.0, 0.5 / np.maximum(largest, 1e-300)), lower, upper)
    there = np.abs(robot.fk(q, frame)[:, normal, 3] - at) <= _ON_PLANE
    return q[there]


def _draw_cells(axes: Any, points: Floats, worth: Floats, lines: Floats, colour: str) -> None:
    """A map of square cells: how many points are in each, or the best of them."""
    low, high = points.min(axis=0), points.max(axis=0)
    size = max(float((high - low).max()), 1e-9)
    cell = size / np.clip(0.25 * np.sqrt(len(points)), 8.0, 160.0)
    count = np.maximum(np.ceil((high - low) / cell - 1e-9).astype(int), 1)
    start = 0.5 * (low + high) - 0.5 * count * cell
    edges = [start[k] + cell * np.arange(count[k] + 1) for k in range(2)]
    place = np.clip(((points - start) / cell).astype(int), 0, count - 1)
    flat = place[:, 1] * count[0] + place[:, 0]
    values = np.zeros(int(count.prod()))
    if colour == "density":
        np.add.at(values, flat, 1.0)
    else:
        np.maximum.at(values, flat, worth)
    reached = np.zeros(len(values), bool)
    reached[flat] = True
    shown = np.ma.array(values, mask=~reached).reshape(count[1], count[0])
    how: dict[str, Any] = {"cmap": MAP, "rasterized": True, "zorder": 1}
    if colour == "density":
        from matplotlib.colors import LogNorm  # noqa: PLC0415  an extra

        how["norm"] = LogNorm(1.0, max(float(values.max()), 2.0))
    else:  # a few cells near singular assemblies would leave one colour for all others
        how["vmax"] = float(np.quantile(values[reached], 0.98)) or 1.0
    mesh = axes.pcolormesh(*edges, shown, **how)
    draw_skeleton(axes, lines, halo=True)
    label = "configurations" if colour == "density" else "manipulability"
    more = "max" if float(values.max()) > float(mesh.get_clim()[1]) * (1 + 1e-9) else "neither"
    axes.figure.colorbar(mesh, ax=axes, shrink=0.85, label=label, extend=more)
    equal(axes, np.concatenate([points, lines.reshape(-1, 2)]))


def _draw_points(axes: Any, points: Floats, worth: Floats, lines: Floats, colour: str) -> None:
    """Points in space, at most 5000, the least manipulable first."""
    values, label = worth, "manipulability"
    if colour == "density":
        values, label = _neighbours(points), "points within a twentieth"
    seen = np.flatnonzero(~_towards_viewer(points))
    some = seen[np.linspace(0, len(seen) - 1, min(8000, len(seen))).astype(int)]
    draw_skeleton(axes, lines)
    dots = axes.scatter(
        *points[some].T, c=values[some], s=6.0, cmap=MAP, alpha=0.8, linewidths=0.0,
        rasterized=True,
    )  # fmt: skip
    axes.figure.colorbar(dots, ax=axes, shrink=0.7, pad=0.1, label=label)
    equal(axes, np.concatenate([points, lines.reshape(-1, 3)]), margin=0.0)
    axes.view_init(*_SEEN_FROM)


def _towards_viewer(points: Floats) -> NDArray[np.bool_]:
    """The quarter of points (n, 3) that stands before the others: it is cut out of pictures."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return (points[:, 0] > middle[0]) & (points[:, 1] < middle[1])


def _neighbours(points: Floats) -> Floats:
    """Numbers of points in the cell of each, of 20 along the longest side."""
    low = points.min(axis=0)
    cell = max(float(np.ptp(points, axis=0).max()), 1e-9) / 20.0
    place = ((points - low) / cell).astype(int)
    _, inverse, count = np.unique(place, axis=0, return_inverse=True, return_counts=True)
    return count[inverse.reshape(-1)].astype(float)


# --- maps of poses ---


@dataclass(frozen=True, eq=False, kw_only=True)
class ReachMap:
    """The poses of a grid that a frame reaches, each with a configuration that proves it.

    ``points`` (..., 3) in m; ``rotations`` (k, 3, 3), None where any orientation will do;
    ``reached`` (..., k) and ``q`` (..., k, nq): of what was not reached, q has no meaning.
    ``step`` is the distance of neighbouring points, ``plane`` the plane they are in.
    """

    points: Floats
    rotations: Floats | None
    reached: NDArray[np.bool_]
    q: Floats
    step: float
    sight: Sight

    @property
    def share(self) -> Floats:
        """The share (...) of the orientations that are reached at each point."""
        return self.reached.mean(axis=-1)


def reach_map(  # noqa: PLR0913  all but two are named choices
    robot: Robot,
    frame: str | None = None,
    *,
    plane: str | None = None,
    at: float = 0.0,
    orientations: Literal["any"] | int | ArrayLike = "any",
    step: float | None = None,
    box: ArrayLike | None = None,
    searches: int = 100,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ReachMap:
    """The points of a grid that a frame's origin reaches, and its orientations there.

    Each pose is a problem of inverse kinematics, and reached is what has a solution that was
    verified: nothing is guessed. What is not reached was not found in so many ``searches``, in turn
    from random configurations and from the solutions of neighbouring points.

    ``plane`` ("xz", with its third coordinate ``at``, m) is by default that in which the frame
    moves, and without one the grid is in space. ``orientations``: "any"; a number of them, evenly
    spread (of a frame that turns about one axis only, about that); or rotations (3, 3), (k, 3, 3).
    ``step`` (m) is the distance of points, by default a fortieth of the reach in a plane, a
    sixteenth in space. ``box`` (2, 2) or (2, 3) has the grid's lowest and highest corner, by
    default around all that random configurations reach. ``progress(done, total)`` is called
    after each search; a terminal is shown a bar. What has no end stays, as in `workspace`.

    Raises: UnknownNameError, ShapeError, InputError.
    """
    at = finite_number(at, "at")
    some = sample(robot, 4000, whole_number(seed, "seed", least=0))
    if not len(some):
        raise InputError(f"no configuration of {robot.name} was found that closes its loops")
    sight = sight_of(robot, frame, None, some[:50])
    named = names_of_plane(plane)
    if not sight.in_space and (named is None):
        at_plane = robot.fk(some[0], frame)[:3, 3]
        at_plane = at_plane - sight.rows.T @ (sight.rows @ at_plane)
    elif named is not None:
        sight = Sight(np.eye(3)[list(named)], tuple("xyz"[k] for k in named))
        at_plane = at * np.eye(3)[3 - sum(named)]
    else:
        at_plane = np.zeros(3)
    points, step = _grid(robot.fk(some, frame)[:, :3, 3] @ sight.rows.T, box, step)
    points = points @ sight.rows + at_plane
    rotations = _rotations(robot, frame, orientations, some)
    searches, still = whole_number(searches, "searches"), resting(robot)
    if rotations is None:
        name = robot.tip if frame is None else frame
        solver, targets = robot.solver(tasks=Position(name), fixed=still), points[..., None, :]
    else:
        targets = np.zeros((*points.shape[:-1], len(rotations), 4, 4))
        solver = robot.solver(frame, fixed=still)
        targets[..., :3, :3] = rotations
        targets[..., :3, 3] = points[..., None, :]
        targets[..., 3, 3] = 1.0
    lead = targets.shape[: points.ndim]
    starts = _Starts(robot, np.zeros(lead, bool), np.tile(robot.neutral(), (*lead, 1)), seed)
    threads = settings.most_threads() if threads is None else threads
    alone = progress is None and starts.reached.size >= _LONG
    line = f"searching for {starts.reached.size:,} poses"
    with progress_line(line) if alone else nullcontext(progress) as tell:
        for search in range(searches):
            asked, q0 = starts.of(search)
            if asked.any():
                how: dict[str, Any] = {"seed": seed + search, "tries": 1, "seconds": _AT_ONCE}
                found = solver.solve(targets[asked], q0, threads=threads, **how)
                starts.put(asked, np.asarray(found.success), found.q)
            if tell is not None:
                tell(search + 1, searches)
    return ReachMap(
        points=points,
        rotations=rotations,
        reached=starts.reached,
        q=starts.q,
        step=step,
        sight=sight,
    )


class _Starts:
    """Poses reached (..., k), configurations q (..., k, nq) that reach them, and what to try next.

    In turn from wherever the solver begins (later from random configurations), and from the
    solutions of the neighbour on each side.
    """

    def __init__(self, robot: Robot, reached: NDArray[np.bool_], q: Floats, seed: int) -> None:
        self.reached, self.q = reached, q
        self._robot, self._rng = robot, np.random.default_rng(seed)
        self._sides = [(axis, by) for by in (1, -1) for axis in range(reached.ndim - 1)]

    def of(self, search: int) -> tuple[NDArray[np.bool_], Floats | None]:
        """The poses that are asked for, and the configurations (n, nq) before; None: any."""
        missing, turn = ~self.reached, search % (len(self._sides) + 1)
        if turn:
            axis, by = self._sides[turn - 1]
            missing &= np.roll(self.reached, by, axis)
            return missing, np.roll(self.q, by, axis)[missing]
        if search:
            return missing, random_rows(self._robot, int(missing.sum()), self._rng)
        return missing, None

    def put(self, asked: NDArray[np.bool_], good: NDArray[np.bool_], q: Floats) -> None:
        """Keep what was found for the poses that were asked for."""
        self.q[asked] = np.where(good[:, None], q, self.q[asked])
        self.reached[asked] = good


def reachability(robot: Robot, frame: str | None = None, *, axes: Any = None, **how: Any) -> Any:
    """Axes with the share of orientations that are reached at each point of a grid.

    ``how`` are the keywords of `reach_map`, whose result it draws: in a plane as a map of cells, in
    space as cubes, without the quarter towards the viewer, so that the inside is seen. Nothing is
    drawn where nothing was reached.

    Raises: as `reach_map`; MissingExtraError without matplotlib.
    """
    drawing_with()
    if axes is not None:
        one_axes(axes, (0.0, 0.0), space=getattr(axes, "name", "") == "3d")
    made = reach_map(robot, frame, **how)
    sight = made.sight
    axes = one_axes(axes, (6.5, 5.4), space=sight.in_space)
    share = np.ma.array(made.share, mask=~made.reached.any(axis=-1))
    solved = made.q[made.reached]
    some = solved[0] if len(solved) and robot.mechanism.is_closed else robot.neutral()
    lines = skeleton(robot, some) @ sight.rows.T
    places = made.points @ sight.rows.T
    one = made.reached.shape[-1] == 1
    label = "reached" if one else "share of orientations reached"
    how_drawn: dict[str, Any] = {"cmap": _one_colour() if one else MAP, "vmin": 0.0, "vmax": 1.0}
    if sight.in_space:
        flat, values = places.reshape(-1, 3), np.asarray(made.share).reshape(-1)
        seen = made.reached.any(axis=-1).reshape(-1) & ~_towards_viewer(flat)
        draw_skeleton(axes, lines)
        drawn = axes.scatter(
            *flat[seen].T, c=values[seen], s=_dot_size(flat, made.step), marker="s",
            alpha=0.85, linewidths=0.0, rasterized=True, **how_drawn,
        )  # fmt: skip
        equal(axes, flat, margin=0.0)
        axes.view_init(*_SEEN_FROM)
    else:
        x, y = places[0, :, 0], places[:, 0, 1]
        edges = [np.append(c, c[-1] + made.step) - 0.5 * made.step for c in (x, y)]
        axes.set_facecolor(LIGHT)
        drawn = axes.pcolormesh(*edges, share, rasterized=True, zorder=1, **how_drawn)
        draw_skeleton(axes, lines, halo=True)
        equal(axes, np.concatenate([places.reshape(-1, 2), lines.reshape(-1, 2)]))
        axes.set_xlabel(f"{sight.names[0]} (m)")
        axes.set_ylabel(f"{sight.names[1]} (m)")
    if not one:
        axes.figure.colorbar(
            drawn, ax=axes, shrink=0.8, pad=0.1 if sight.in_space else 0.03, label=label
        )
    name = robot.tip if frame is None else frame
    count = int(made.reached.sum())
    axes.set_title(
        f"reach of {name}: {count:,} of {made.reached.size:,} "
        f"{'points' if made.rotations is None else 'poses'}",
        fontsize="small", loc="left",
    )  # fmt: skip
    return axes


def _one_colour() -> Any:
    from matplotlib.colors import ListedColormap  # noqa: PLC0415  an extra

    return ListedColormap([drawing_with().COLOURS[4]])


def _dot_size(points: Floats, step: float) -> float:
    """The area of a marker (points²) about as large as a cell."""
    extent = max(float(np.ptp(points, axis=0).max()), 1e-9)
    return float(np.clip((230.0 * step / extent) ** 2, 2.0, 200.0))


def _grid(reached: Floats, box: ArrayLike | None, step: float | None) -> tuple[Floats, float]:
    """Points (ny, nx, 2) or (nx, ny, nz, 3) at even distances, and the distance."""
    d = reached.shape[1]
    if box is None:
        low, high = reached.min(axis=0), reached.max(axis=0)
    else:
        corners = real_array(box, "box")
        if corners.shape != (2, d):
            raise ShapeError(f"box must have shape (2, {d}): two corners, not {corners.shape}")
        low, high = corners
        if not (np.isfinite(corners).all() and (high > low).all()):
            raise InputError("box must have a lowest and a highest corner, finite, each above")
    size = max(float((high - low).max()), 1e-6)
    if step is None:
        step = size / (40.0 if d == 2 else 16.0)
    step = finite_number(step, "step", above=0.0)
    room = 0.0 if box is not None else step
    count = np.floor((high - low + 2 * room) / step + 1e-9).astype(int) + 1
    if float(np.prod(count.astype(float))) > 2e7:
        raise InputError(f"step = {step:g} m would be {np.prod(count.astype(float)):.3g} points")
    start = 0.5 * (low + high) - 0.5 * (count - 1) * step
    along = [start[k] + step * np.arange(count[k]) for k in range(d)]
    grid = np.meshgrid(*along, indexing="xy" if d == 2 else "ij")
    return np.stack(grid, axis=-1), step


def _rotations(robot: Robot, frame: str | None, given: Any, some: Floats) -> Floats | None:
    """The rotations (k, 3, 3) that are asked for, None for any.

    Raises: InputError, ShapeError.
    """
    if isinstance(given, str):
        if given != "any":
            raise InputError(
                f"orientations must be 'any', a number of them, or rotations, not '{given:.40}'"
            )
        return None
    if np.ndim(given) == 0:
        k = whole_number(given, "orientations", most=100_000)
        turning = frame_jacobian(robot, some[:50], frame)[:, 3:]
        if structural_rank(turning) == 1:
            columns = np.concatenate(list(turning), axis=1)
            axis = np.linalg.svd(columns, full_matrices=False)[0][:, 0]
            return _about(axis, k) @ robot.fk(some[0], frame)[:3, :3]
        return _spread(k)
    R = rotation_matrices(given, "orientations")
    if R.ndim > 3:
        raise ShapeError(f"orientations must have shape (3, 3) or (k, 3, 3), not {R.shape}")
    return R.reshape(-1, 3, 3)


def _about(axis: Floats, k: int) -> Floats:
    """Rotations (k, 3, 3) about an axis, evenly spread over a turn. Source: O. Rodrigues (1840)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn = (2.0 * np.pi * np.arange(k) / k)[:, None, None]
    return np.eye(3) + np.sin(turn) * K + (1.0 - np.cos(turn)) * (K @ K)


def _spread(k: int) -> Floats:
    """Rotations (k, 3, 3), evenly spread.

    Source: M. Alexa, "Super-Fibonacci spirals: fast, low-discrepancy sampling of SO(3)", CVPR 2022.
    """
    phi, psi = np.sqrt(2.0), 1.533751168755204288118041
    s = np.arange(k) + 0.5
    r, R = np.sqrt(s / k), np.sqrt(1.0 - s / k)
    a, b = 2.0 * np.pi * s / phi, 2.0 * np.pi * s / psi
    x, y, z, w = r * np.sin(a), r * np.cos(a), R * np.sin(b), R * np.cos(b)
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], axis=-1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], axis=-1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1),
        ],
        axis=-2,
    )
