"""Pictures of a frame's Jacobian: velocity and force ellipsoids, and its condition along a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.checks import finite_number, finite_rows
from linkwork.errors import InputError, ShapeError
from linkwork.mechanism.named_positions import labels
from linkwork.plots.figures import (
    BEYOND,
    GREY,
    draw_skeleton,
    drawing_with,
    equal,
    names_of_plane,
    one_axes,
    panels,
    skeleton,
)
from linkwork.plots.motions import Motion, states_to_plot

if TYPE_CHECKING:
    from linkwork.robot import Robot

Floats = NDArray[np.float64]
Kind = Literal["velocity", "force"]
Rows = Literal["linear", "angular"]

_ROWS = {"linear": slice(0, 3), "angular": slice(3, 6)}
_NOTHING = 1.0e-9
"""Share of the largest singular value below which one is zero by structure."""
_SAMPLES = 50  # random configurations that structure is judged at
_UNITS = {
    ("velocity", "linear"): "m/s",
    ("velocity", "angular"): "rad/s",
    ("force", "linear"): "N",
    ("force", "angular"): "N m",
}


def frame_jacobian(robot: Robot, q: Floats, frame: str | None) -> Floats:
    """The Jacobian (..., 6, n) of a frame, linear rows first, axes of the world.

    Of a robot with loops and actuated joints: from their speeds.

    Raises: UnknownNameError; InputError, also where a robot with loops is not assembled.
    """
    closed = robot.mechanism.is_closed and robot.actuated
    return robot.actuation_jacobian(q, frame) if closed else robot.jacobian(q, frame)


def manipulability(jacobian: Floats, rank: int) -> Floats:
    """The product of the ``rank`` largest singular values (...) of matrices (..., m, n).

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", IJRR 4 (1985).
    """
    return np.prod(np.linalg.svd(jacobian, compute_uv=False)[..., :rank], axis=-1)


def structural_rank(jacobians: Floats) -> int:
    """The rank that matrices (k, m, n) have where they are not singular."""
    values = np.linalg.svd(jacobians, compute_uv=False)
    largest = values[:, 0].max(initial=0.0)
    if largest <= 1e-12:
        return 0
    return int((values > _NOTHING * largest).sum(axis=1).max())


def random_rows(robot: Robot, n: int, seed: int | np.random.Generator = 0) -> Floats:
    """Random configurations (n, nq), where what has no end (`resting`) stays at neutral."""
    m, q = robot.mechanism, robot.random(n, seed=seed)
    for name in resting(robot):
        numbers = m.q_slice(m.joint(name))
        q[:, numbers] = robot.neutral()[numbers]
    return q


def sample(robot: Robot, n: int, seed: int = 0) -> Floats:
    """Random configurations (n, nq) that are assembled; fewer where loops resist."""
    m, q = robot.mechanism, random_rows(robot, n, seed)
    if not m.is_closed:
        return q
    if robot.actuated:
        numbers = m.q_indices([m.joint(name) for name in robot.actuated])
        found = robot.assemble(q[:, numbers])
    else:
        found = robot.assemble(q0=q)
    return found.q[np.asarray(found.success)]


def resting(robot: Robot) -> list[str]:
    """The joints that have no end: bases that float or drive, slides without limits.

    Loops may bound what has no limits, so of a robot with loops it is none.
    """
    m = robot.mechanism
    bounded = np.isfinite(m.lower) & np.isfinite(m.upper)
    endless = [k for k, kind in enumerate(m.kinds_of_q) if kind == "length" and not bounded[k]]
    return [] if m.is_closed else list(dict.fromkeys(map(m.joint_of_q, endless)))


class Sight(NamedTuple):
    """A projection: rows (2 or 3, 3) that take a point to the picture, and their names."""

    rows: Floats
    names: tuple[str, ...]

    @property
    def in_space(self) -> bool:
        """Whether it is drawn in space."""
        return len(self.rows) == 3


def sight_of(robot: Robot, frame: str | None, plane: str | None, q: Floats | None = None) -> Sight:
    """The plane that is named, else that in which the frame moves, else space."""
    named = names_of_plane(plane)
    eye = np.eye(3)
    if named is None:
        q = sample(robot, _SAMPLES) if q is None or not len(q) else q
        columns = np.concatenate(list(frame_jacobian(robot, q, frame)[:, :3]), axis=1)
        U, s, _ = np.linalg.svd(columns, full_matrices=False)
        small = s <= _NOTHING * max(float(s[0]), 1e-12)
        if not small[2]:
            return Sight(eye, ("x", "y", "z"))
        across = [k for k in range(3) if np.abs(columns[k]).max() <= _NOTHING * max(s[0], 1e-12)]
        if not across:
            return Sight(U[:, :2].T, ("along", "across"))
        # of a motion on a line, the plane that shows most of the robot
        lines = np.concatenate([skeleton(robot, each) for each in q[:1]])
        extent = np.ptp(lines.reshape(-1, 3), axis=0) if len(lines) else np.zeros(3)
        normal = min(across, key=lambda k: (round(float(extent[k]), 9), -k))
        a, b = (k for k in range(3) if k != normal)
        named = (a, b)
    return Sight(eye[list(named)], tuple("xyz"[k] for k in named))


def ellipsoids(  # noqa: PLR0913  all but three are named choices
    robot: Robot,
    q: ArrayLike | None = None,
    frame: str | None = None,
    *,
    kind: Kind = "velocity",
    rows: Rows = "linear",
    plane: str | None = None,
    by_limits: bool = False,
    scale: float | None = None,
    axes: Any = None,
) -> Any:
    """Axes with the velocity or force ellipsoids of a frame, at one or several q (nq,), (n, nq).

    Velocity: those that joint speeds of norm 1 (rad/s, m/s) give; force: those that joint forces
    of norm 1 (N m, N) hold. ``by_limits`` measures each joint by its velocity or effort limit
    instead, so that joints of both kinds count alike. ``rows``: "linear" (m/s, N) or "angular"
    (rad/s, N m). Where the frame moves in a plane, or a ``plane`` is named ("xz"), it is drawn
    there, as seen from the third axis; else in space. ``scale`` is the length of 1 in the picture
    (m), by default one that fits most of them; what does not, as forces next to singularities,
    ends at the robot's size. Of a robot with loops the joints are the actuated ones.

    Source: T. Yoshikawa, "Manipulability of robotic mechanisms", IJRR 4 (1985).
    Raises: UnknownNameError, ShapeError, InputError; MissingExtraError without matplotlib.
    """
    pictures = drawing_with()
    for name, given, known in (
        ("kind", kind, ("velocity", "force")), ("rows", rows, ("linear", "angular")),
    ):  # fmt: skip
        if given not in known:
            raise InputError(f"{name} must be '{known[0]}' or '{known[1]}', not {given!r:.40}")
    m = robot.mechanism
    configurations = finite_rows(
        robot.neutral() if q is None else q, "q", robot.n_q, labels(m, velocities=False)
    )
    if configurations.ndim > 2:
        raise ShapeError(f"q must have shape (nq,) or (n, nq), not {configurations.shape}")
    configurations = configurations.reshape(-1, robot.n_q)
    jacobians = frame_jacobian(robot, configurations, frame)
    if by_limits:
        jacobians = jacobians * _joint_limits(robot, kind)
    sight = sight_of(robot, frame, plane, configurations if m.is_closed else None)
    axes = one_axes(axes, (6.5, 5.6), space=sight.in_space)
    drawn = [skeleton(robot, each) @ sight.rows.T for each in configurations]
    centres = robot.fk(configurations, frame)[:, :3, 3] @ sight.rows.T
    bodies = np.concatenate([*(lines.reshape(-1, len(sight.rows)) for lines in drawn), centres])
    size = max(float(np.ptp(bodies, axis=0).max()), 1e-9)
    directions, lengths = _principal(sight.rows @ jacobians[:, _ROWS[rows]], kind)
    if scale is None:
        largest = lengths.max(axis=1)
        usual = float(np.median(largest[np.isfinite(largest)])) if np.isfinite(largest).any() else 1
        scale, most = _round(0.3 * size / (usual or 1.0)), size
    else:
        scale, most = finite_number(scale, "scale", above=0.0), np.inf
    half = scale * lengths
    half = np.where(np.isfinite(half), np.minimum(half, most), size)
    for k, lines in enumerate(drawn):
        strength = 1.0 if len(drawn) == 1 else 0.35 + 0.65 * (k + 1) / len(drawn)
        draw_skeleton(axes, lines, strength=strength)
        colour = pictures.COLOURS[k % 6 if len(drawn) > 1 else 0]
        _draw_ellipsoid(axes, centres[k], directions[k], half[k], colour)
    reach = half.max(axis=1, initial=0.0)[:, None]
    equal(axes, np.concatenate([bodies, centres - reach, centres + reach]))
    if not sight.in_space:
        axes.set_xlabel(f"{sight.names[0]} (m)")
        axes.set_ylabel(f"{sight.names[1]} (m)")
        axes.grid(visible=True, alpha=0.2)
    name = robot.tip if frame is None else frame
    unit = _UNITS[kind, rows]
    of = "of the joints' limits" if by_limits else f"for joint {_JOINT[kind]} of norm 1"
    axes.set_title(
        f"{rows} {kind} of {name} {of}; 1 {unit} is {scale:.3g} m", fontsize="small", loc="left"
    )
    return axes


_JOINT = {"velocity": "speeds", "force": "forces"}


def _joint_limits(robot: Robot, kind: Kind) -> Floats:
    """Factors of the columns of the Jacobian, for joints measured by their limits.

    Raises: InputError for a joint that has none.
    """
    m = robot.mechanism
    limits = m.velocity_limit if kind == "velocity" else m.effort_limit
    names = labels(m, velocities=True)
    numbers = list(range(m.n_v))
    if m.is_closed and robot.actuated:
        numbers = m.v_indices([m.joint(name) for name in robot.actuated])
    for k in numbers:
        if not (np.isfinite(limits[k]) and limits[k] > 0.0):
            what = "velocity" if kind == "velocity" else "effort"
            raise InputError(f"'{names[k]}' has no {what} limit; by_limits needs one of each joint")
    # Jᵀ F = tau with tau_k measured by its limit: the columns of J divided by the limits
    chosen = limits[numbers]
    return chosen if kind == "velocity" else 1.0 / chosen


def _principal(jacobians: Floats, kind: Kind) -> tuple[Floats, Floats]:
    """The principal directions (n, d, d), as columns, and half lengths (n, d) of ellipsoids."""
    directions, values, _ = np.linalg.svd(jacobians)
    d = jacobians.shape[1]
    lengths = np.zeros((len(jacobians), d))
    lengths[:, : values.shape[1]] = values
    if kind == "force":
        with np.errstate(divide="ignore"):
            lengths = 1.0 / np.where(lengths <= 1e-12 * lengths.max(initial=1e-300), 0.0, lengths)
    return directions, lengths


def _draw_ellipsoid(
    axes: Any, centre: Floats, directions: Floats, half: Floats, colour: str
) -> None:
    """One ellipse or ellipsoid about a point, with its principal axes."""
    turn = np.linspace(0.0, 2.0 * np.pi, 121)
    stretched = directions * half
    if len(centre) == 2:
        outline = centre[:, None] + stretched @ np.array([np.cos(turn), np.sin(turn)])
        axes.fill(*outline, color=colour, alpha=0.2, linewidth=0.0, zorder=3)
        axes.plot(*outline, color=colour, linewidth=1.6, zorder=3.1)
    else:
        around, up = turn[::4], np.linspace(0.0, np.pi, 25)[:, None]
        flat, level = np.sin(up), np.cos(up) + 0.0 * around
        ball = np.array([np.cos(around) * flat, np.sin(around) * flat, level])
        surface = centre[:, None, None] + np.einsum("ij,jkl->ikl", stretched, ball)
        axes.plot_surface(*surface, color=colour, alpha=0.25, linewidth=0.0, shade=True)
        flat = np.array([np.cos(turn), np.sin(turn)])
        for a, b in ((0, 1), (1, 2), (0, 2)):
            ring = centre[:, None] + stretched[:, [a, b]] @ flat
            axes.plot(*ring, color=colour, linewidth=1.1)
    for k in range(len(centre)):
        ends = np.stack([centre - stretched[:, k], centre + stretched[:, k]])
        axes.plot(*ends.T, color=colour, linewidth=0.9, zorder=3.1)
    axes.plot(*centre[:, None], "o", color=colour, markersize=4.0, zorder=3.2)


def _round(value: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above a number."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(k * power for k in (1.0, 2.0, 5.0) if k * power <= value * (1 + 1e-12)))


def condition(
    robot: Robot,
    motion: Motion,
    frame: str | None = None,
    *,
    threshold: float = 50.0,
    length: float | None = None,
    axes: Any = None,
) -> NDArray[Any]:
    """Axes (2,) with the condition number of a frame's Jacobian along a motion, and its smallest
    singular value.

    ``motion`` is a path q (n, nq), arrays (times, q), a `Trajectory` or a `Simulation`. Metres and
    radians do not mix, so rows of translation (singular values in m) and of rotation have a line
    each; with ``length`` (m), by which translations are divided, one more has all rows together.
    Where a condition is above ``threshold`` the stretch is shaded. Directions that the frame never
    moves in, like those out of the plane of a planar arm, do not count. Of a robot with loops the
    Jacobian is that from the actuated joints' speeds.

    Raises: UnknownNameError, ShapeError; InputError, also where the frame does not move.
    """
    pictures = drawing_with()
    threshold = finite_number(threshold, "threshold", above=1.0)
    if length is not None:
        length = finite_number(length, "length", above=0.0)
    states = states_to_plot(robot, motion)
    along = frame_jacobian(robot, states.q, frame)
    anywhere = np.concatenate([frame_jacobian(robot, sample(robot, _SAMPLES), frame), along])
    found: dict[str, Floats] = {}
    for name, rows, by in (
        ("translation", slice(0, 3), 1.0), ("rotation", slice(3, 6), 1.0),
        ("all rows", slice(0, 6), length),
    ):  # fmt: skip
        if by is not None:
            weights = np.array([1.0 / by] * 3 + [1.0] * 3)[rows, None]
            rank = structural_rank(weights * anywhere[:, rows])
            if rank:
                values = np.linalg.svd(weights * along[:, rows], compute_uv=False)
                found[name] = np.asarray(values[:, :rank], np.float64)
    if not found:
        raise InputError(f"no joint moves '{robot.tip if frame is None else frame}'")
    drawn = panels(axes, 2, height=2.4, columns=1)
    highest, near = threshold, np.zeros(len(states.q), bool)
    for (name, values), k in zip(found.items(), (0, 1, 2), strict=False):
        smallest = values[:, -1]
        with np.errstate(divide="ignore"):
            number = values[:, 0] / np.where(smallest > 1e-15 * values[:, 0], smallest, 0.0)
        unit = {"translation": "m", "rotation": "1"}.get(name, f"1, lengths by {length} m")
        line: dict[str, Any] = {"color": pictures.COLOURS[(0, 5, 2)[k]], "linewidth": 1.6}
        drawn[0].plot(states.across, number, label=name, **line)
        drawn[1].plot(states.across, smallest, label=f"{name} ({unit})", **line)
        near |= number > threshold
        highest = max(highest, float(number[np.isfinite(number)].max(initial=1.0)))
    for axis in drawn:
        _shade(axis, states.across, near)
        axis.grid(visible=True, which="both", alpha=0.2)
        axis.margins(x=0.0)
        axis.tick_params(labelsize="small")
        pictures.legend_beside(axis)
    drawn[0].set_yscale("log")
    drawn[0].set_ylim(0.9, min(highest * 2.0, 1e9))
    drawn[0].axhline(threshold, color=GREY, linestyle="--", linewidth=1.0)
    drawn[0].set_ylabel("condition number")
    drawn[1].set_ylim(bottom=0.0)
    drawn[1].set_ylabel("smallest singular value")
    drawn[1].set_xlabel(states.across_label)
    return drawn


def _shade(axis: Any, across: Floats, marked: NDArray[np.bool_]) -> None:
    """Shade the stretches that are marked."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]]).astype(int)))
    middle = 0.5 * (across[1:] + across[:-1])
    borders = np.concatenate([across[:1], middle, across[-1:]])
    for start, end in edges.reshape(-1, 2):
        axis.axvspan(borders[start], borders[end], color=BEYOND, alpha=0.16, linewidth=0.0)
