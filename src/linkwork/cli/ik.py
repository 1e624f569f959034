"""``linkwork ik``: joint positions that bring a frame to one pose or to many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

import linkwork as lw
from linkwork.cli import files, inputs, output
from linkwork.cli.arguments import IkArguments
from linkwork.cli.fk import tell_rest
from linkwork.cli.progress import busy, progress_of
from linkwork.errors import InputError

Floats = NDArray[np.float64]

NOT_SOLVED = 1
"""The exit code where the input was right, and some targets were not reached."""


def run(given: IkArguments) -> None:
    """Solve, print, write; exit with 1 where some targets are not solved."""
    out = files.target(given.out)
    robot = inputs.open_robot(given, given.frame)
    targets = _targets(given)
    frame = robot.tip if given.frame is None else given.frame
    result = _solve(robot, frame, targets, given)
    if out is not None:
        _write(out, robot, result)
    if given.json:
        output.print_json(_as_json(robot, frame, given, result))
    else:
        _show(output.console(), robot, frame, result)
    if not result.success.all():
        output.note(f"linkwork: {_unsolved(result)}")
        raise typer.Exit(NOT_SOLVED)


def _targets(given: IkArguments) -> Floats:
    """One pose (4, 4), or those of a file (n, 4, 4)."""
    if given.poses is not None:
        if any(text is not None for text in (given.xyz, given.rpy, given.wxyz)):
            raise InputError("give --poses, or --xyz with --rpy or --wxyz, not both")
        return inputs.poses_from(given.poses)
    if given.xyz is None:
        raise InputError('say where to: --xyz "x y z", or --poses FILE for many')
    return inputs.pose_of(given.xyz, given.rpy, given.wxyz)


def _solve(robot: lw.Robot, frame: str, targets: Floats, given: IkArguments) -> lw.IKResult:
    options = lw.IKOptions(
        position_tolerance=given.position_tolerance,
        rotation_tolerance=given.rotation_tolerance,
        steps=given.steps,
        tries=given.tries,
        seed=given.seed,
    )
    joints = None if given.joints is None else [n.strip() for n in given.joints.split(",")]
    q0 = inputs.configuration(robot, given.q0, "--q0") if given.q0 else None
    with busy("compiling"):
        robot.solver(frame, joints)
    with progress_of("solving") as progress:
        return robot.ik(
            targets,
            frame,
            q0=q0,
            joints=joints,
            options=options,
            threads=given.threads,
            progress=progress,
        )


def _unsolved(result: lw.IKResult) -> str:
    """How many, and why the first: the result's own words."""
    return f"not solved: {result.reason}" if result.success.ndim == 0 else result.reason


def _rows(result: lw.IKResult) -> Iterator[tuple[tuple[int, ...], Floats]]:
    """The row of each target in the result, () for a single one, and its joint positions."""
    for row in np.ndindex(result.success.shape):
        yield row, result.q[row]


def _as_json(
    robot: lw.Robot, frame: str, given: IkArguments, result: lw.IKResult
) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "base": given.base_frame,
        "frame": frame,
        "q_names": inputs.position_labels(robot.mechanism),
        "targets": int(result.success.size),
        "solved": int(np.count_nonzero(result.success)),
        "results": [
            {
                "q": q,
                "success": result.success[row],
                "position_error": result.position_error[row],
                "rotation_error": result.rotation_error[row],
                "iterations": result.iterations[row],
                "restarts": result.restarts[row],
                "reason": result.reason_for(*row),
            }
            for row, q in _rows(result)
        ],
    }


def _write(path: Path, robot: lw.Robot, result: lw.IKResult) -> None:
    if path.suffix.lower() == ".npy":
        files.write_npy(path, result.q)
        return
    header = (*inputs.position_labels(robot.mechanism), *inputs.RESULT_COLUMNS)
    rows = (
        [
            *q.tolist(),
            int(result.success[row]),
            float(result.position_error[row]),
            float(result.rotation_error[row]),
        ]
        for row, q in _rows(result)
    )
    files.write_csv(path, header, rows)


def _show(screen: Console, robot: lw.Robot, frame: str, result: lw.IKResult) -> None:
    if result.success.ndim == 0:
        _show_one(screen, robot, frame, result)
        return
    solved, total = int(np.count_nonzero(result.success)), result.success.size
    screen.print(output.heading(f"{robot.name}: {solved} of {total} poses of {frame} solved"))
    labels = inputs.position_labels(robot.mechanism)
    columns = ("row", "solved", "error (m)", "error (rad)", "q: " + " ".join(labels))
    shown = output.table(columns)
    for row, q in list(_rows(result))[: output.ROWS_SHOWN]:
        shown.add_row(
            str(row[0]),
            "yes" if result.success[row] else "no",
            f"{result.position_error[row]:.1e}",
            f"{result.rotation_error[row]:.1e}",
            " ".join(output.number(v, 4) for v in q),
        )
    screen.print(shown)
    tell_rest(total, output.ROWS_SHOWN)


def _show_one(screen: Console, robot: lw.Robot, frame: str, result: lw.IKResult) -> None:
    word = "solved" if result.success else "not solved; the nearest that was found"
    screen.print(output.heading(f"{robot.name}: pose of {frame} {word}"))
    shown = output.table(("joint", "position", "lower", "upper"), numbers=3)
    limits = robot.limits
    for k, name in enumerate(inputs.position_labels(robot.mechanism)):
        bounds = (output.short(limits.lower[k]), output.short(limits.upper[k]))
        shown.add_row(name, output.number(result.q[k]), *bounds)
    screen.print(shown, "", sep="\n")
    screen.print(f"position error   {result.position_error:.3e} m")
    screen.print(f"rotation error   {result.rotation_error:.3e} rad")
    screen.print(f"steps            {int(result.iterations)}")
    screen.print(f"restarts         {int(result.restarts)}")
