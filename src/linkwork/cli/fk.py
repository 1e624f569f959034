"""``linkwork fk``: poses of frames for given joint positions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.cli import inputs, output
from linkwork.cli.arguments import FkArguments
from linkwork.cli.inputs import Angles
from linkwork.errors import InputError
from linkwork.legible import legible, short
from linkwork.terminal import Screen
from linkwork.terminal_text import TextTable

Floats = NDArray[np.float64]


def run(given: FkArguments) -> None:
    """Print the poses, and write them where a file is asked for."""
    if given.all_frames and given.frame is not None and given.base_frame is None:
        raise InputError("give --frame or --all, not both")
    out = output.target_file(given.out)
    robot, angles = inputs.open_robot(given, given.frame), Angles(given.deg)
    q = inputs.configurations(robot, given.q, given.q_file, angles)
    rows = np.atleast_2d(q)
    frames = robot.frame_names
    if not given.all_frames:
        frames = (robot.tip if given.frame is None else given.frame,)
    T = robot.fk_all(rows) if given.all_frames else robot.fk(rows, frames[0])[:, None]
    xyz, rpy = lw.xyz_rpy(T)
    wxyz = lw.xyz_wxyz(T)[1]
    places = [(row, k) for row in range(len(rows)) for k in range(len(frames))]
    named = ("row", "frame") if given.all_frames else ()
    lines = (
        [*(k[0], frames[k[1]])[: len(named)], *xyz[k].tolist(), *wxyz[k].tolist()] for k in places
    )
    matrices = T if given.all_frames else T[:, 0]
    matrices = matrices[0] if q.ndim == 1 else matrices
    output.write_numbers(out, matrices, (*named, *inputs.POSITION, *inputs.WXYZ), lines)
    if given.json:
        poses: list[list[dict[str, Any]]] = [[] for _ in rows]
        for k in places:
            notations = {"matrix": T[k], "xyz": xyz[k], "rpy": rpy[k], "wxyz": wxyz[k]}
            poses[k[0]].append({"frame": frames[k[1]], **notations})
        output.print_json(
            {
                "robot": robot.name,
                "base": given.base_frame,
                "q_names": inputs.position_labels(robot.mechanism),
                "results": [{"q": q, "poses": own} for q, own in zip(rows, poses, strict=True)],
            }
        )
        return
    screen, many = Screen(), len(rows) > 1
    where = "the world" if given.base_frame is None else f"frame {given.base_frame}"
    if len(places) == 1:
        screen.print(output.heading(f"{robot.name}: pose of {frames[0]} in {where}"))
        print_positions(screen, robot, rows[0], angles)
        screen.print(f"\nmatrix\n{output.matrix_text(T[0, 0])}\n")
        screen.print(f"xyz (m)     {output.row_of(xyz[0, 0])}")
        screen.print(f"rpy ({angles.unit})   {output.row_of(angles.shown(rpy[0, 0]))}")
        screen.print(f"wxyz        {output.row_of(wxyz[0, 0])}")
        return
    whose = frames[0] if len(frames) == 1 else "all frames"
    screen.print(output.heading(f"{robot.name}: poses of {whose} in {where} (m, {angles.unit})"))
    columns = (*(("row",) if many else ()), "frame", *inputs.POSITION, *inputs.RPY)
    shown, limit = TextTable(columns, numbers=6), output.ROWS_SHOWN if many else None
    for k in places[:limit]:
        names = [str(k[0]), frames[k[1]]][0 if many else 1 :]
        shown.add_row(*names, *map(output.number, [*xyz[k], *angles.shown(rpy[k])]))
    screen.print(shown)
    output.tell_rest(len(places), limit)


def print_positions(screen: Screen, robot: lw.Robot, q: Floats, angles: Angles) -> None:
    """One line with the joint positions by name; their unit is said where it is not the usual."""
    q = angles.shown(q, inputs.position_angles(robot.mechanism.joint_types))
    labels = inputs.position_labels(robot.mechanism)
    pairs = [f"{name}={short(value)}" for name, value in zip(labels, q, strict=True)]
    unit = " (deg)" if angles.degrees and pairs else ""
    screen.print("at " + (legible(" ".join(pairs)) or "no joints") + unit)
