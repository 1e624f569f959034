"""``linkwork fk``: poses of frames for given joint positions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import linkwork as lw
from linkwork.cli import inputs, output
from linkwork.cli.arguments import FkArguments
from linkwork.cli.inputs import Angles
from linkwork.errors import InputError
from linkwork.legible import legible

Floats = NDArray[np.float64]


class Poses(NamedTuple):
    """Poses of frames at configurations, in every notation.

    Shapes: q (n, nq); T (n, frames, 4, 4); xyz, rpy (n, frames, 3); wxyz (n, frames, 4).
    """

    frames: tuple[str, ...]
    q: Floats
    T: Floats
    xyz: Floats
    rpy: Floats
    wxyz: Floats


def run(given: FkArguments) -> None:
    """Print the poses, and write them where a file is asked for."""
    if given.all_frames and given.frame is not None and given.base_frame is None:
        raise InputError("give --frame or --all, not both")
    out = output.target_file(given.out)
    robot = inputs.open_robot(given, given.frame)
    q = inputs.configurations(robot, given.q, given.q_file, Angles(given.deg))
    poses = _compute(robot, np.atleast_2d(q), given)
    if out is not None:
        _write(out, poses, single=q.ndim == 1, all_frames=given.all_frames)
    if given.json:
        output.print_json(_as_json(robot, poses, given.base_frame))
    else:
        _show(output.console(), robot, poses, given)


def _compute(robot: lw.Robot, q: Floats, given: FkArguments) -> Poses:
    if given.all_frames:
        return _in_every_notation(robot.frame_names, q, robot.fk_all(q))
    frame = robot.tip if given.frame is None else given.frame
    return _in_every_notation((frame,), q, robot.fk(q, frame)[:, None])


def _in_every_notation(frames: tuple[str, ...], q: Floats, T: Floats) -> Poses:
    xyz, rpy = lw.xyz_rpy(T)
    return Poses(frames, q, T, xyz, rpy, lw.xyz_wxyz(T)[1])


def _as_json(robot: lw.Robot, poses: Poses, base: str | None) -> dict[str, Any]:
    results = [
        {
            "q": poses.q[row],
            "poses": [
                {
                    "frame": frame,
                    "matrix": poses.T[row, k],
                    "xyz": poses.xyz[row, k],
                    "rpy": poses.rpy[row, k],
                    "wxyz": poses.wxyz[row, k],
                }
                for k, frame in enumerate(poses.frames)
            ],
        }
        for row in range(len(poses.q))
    ]
    return {
        "robot": robot.name,
        "base": base,
        "q_names": inputs.position_labels(robot.mechanism),
        "results": results,
    }


def _write(path: Path, poses: Poses, *, single: bool, all_frames: bool) -> None:
    if path.suffix.lower() == ".npy":
        T = poses.T if all_frames else poses.T[:, 0]
        output.write_npy(path, T[0] if single else T)
        return
    names = (*inputs.POSITION, *inputs.WXYZ)
    if not all_frames:
        output.write_csv(path, names, np.hstack([poses.xyz[:, 0], poses.wxyz[:, 0]]).tolist())
        return
    output.write_csv(path, ("row", "frame", *names), _rows_of_all(poses))


def _rows_of_all(poses: Poses) -> Iterator[list[Any]]:
    for row in range(len(poses.q)):
        for k, frame in enumerate(poses.frames):
            yield [row, frame, *poses.xyz[row, k].tolist(), *poses.wxyz[row, k].tolist()]


def _show(screen: Console, robot: lw.Robot, poses: Poses, given: FkArguments) -> None:
    where = "the world" if given.base_frame is None else f"frame {given.base_frame}"
    n, many, angles = len(poses.q), len(poses.frames) > 1, Angles(given.deg)
    if n == 1 and not many:
        screen.print(output.heading(f"{robot.name}: pose of {poses.frames[0]} in {where}"))
        print_positions(screen, robot, poses.q[0], angles)
        screen.print(f"\nmatrix\n{output.matrix_text(poses.T[0, 0])}\n")
        screen.print(f"xyz (m)     {output.row_of(poses.xyz[0, 0])}")
        screen.print(f"rpy ({angles.unit})   {output.row_of(angles.shown(poses.rpy[0, 0]))}")
        screen.print(f"wxyz        {output.row_of(poses.wxyz[0, 0])}")
        return
    whose = "all frames" if many else poses.frames[0]
    screen.print(output.heading(f"{robot.name}: poses of {whose} in {where} (m, {angles.unit})"))
    columns = ("row", "frame", *inputs.POSITION, *inputs.RPY)
    shown = output.table(columns[0 if n > 1 else 1 :], numbers=6)
    for row, frame in list(np.ndindex(n, len(poses.frames)))[: _limit(n)]:
        cells = [*poses.xyz[row, frame], *angles.shown(poses.rpy[row, frame])]
        names = [str(row), poses.frames[frame]][0 if n > 1 else 1 :]
        shown.add_row(*names, *[output.number(cell) for cell in cells])
    screen.print(shown)
    output.tell_rest(n * len(poses.frames), _limit(n))


def _limit(n: int) -> int | None:
    return output.ROWS_SHOWN if n > 1 else None


def print_positions(screen: Console, robot: lw.Robot, q: Floats, angles: Angles) -> None:
    """One line with the joint positions by name; their unit is said where it is not the usual."""
    q = angles.shown(q, inputs.position_angles(robot.mechanism.joint_types))
    labels = inputs.position_labels(robot.mechanism)
    pairs = [f"{name}={output.short(value)}" for name, value in zip(labels, q, strict=True)]
    unit = " (deg)" if angles.degrees and pairs else ""
    screen.print("at " + (legible(" ".join(pairs)) or "no joints") + unit)
