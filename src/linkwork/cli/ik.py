"""``linkwork ik``: joint positions that bring frames to poses, or do other tasks."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

import linkwork as lw
from linkwork import settings
from linkwork.cli import closed, ik_tasks, inputs, output
from linkwork.cli.arguments import IkArguments
from linkwork.cli.inputs import Angles
from linkwork.cli.progress import progress_of
from linkwork.errors import InputError
from linkwork.solve.show import show, table

Floats = NDArray[np.float64]

NOT_SOLVED = 1
"""The exit code where the input was right, and some targets were not reached."""


class Asked(NamedTuple):
    """The request: a frame at poses, or tasks that bring their targets."""

    frame: str | None  # the one that has a target, if any has
    tasks: list[lw.ik.Task] | None  # None: the pose of the frame, and nothing else
    targets: Floats | dict[str, Floats] | None  # those that are not the tasks' own


class Found(NamedTuple):
    """The solutions; ``names`` are those of the tasks."""

    result: lw.ik.IKResult
    names: tuple[str, ...]


def run(given: IkArguments) -> None:
    """Solve, print, write; exit with 1 where some targets are not solved."""
    _check(given)
    out = output.target_file(given.out)
    angles = Angles(given.deg)
    robot = inputs.open_robot(given, given.frame[0] if given.frame else None)
    for frame in given.frame or []:
        inputs.check_frame(robot, frame, "--frame")
    q0 = inputs.configuration(robot, given.q0, "--q0", angles) if given.q0 else None
    asked = _asked(robot, given, robot.neutral() if q0 is None else q0)
    found = _solve(robot, asked, q0, given)
    result = found.result
    if out is not None:
        output.write_solutions(out, inputs.position_labels(robot.mechanism), result)
    if given.json:
        output.print_json(_as_json(robot, asked, given, found))
    else:
        _show(output.console(), robot, found, _what(asked, found), given)
    if not np.all(result.success):
        output.note(f"linkwork: {_unsolved(result)}")
        raise typer.Exit(NOT_SOLVED)


# what is asked


def _check(given: IkArguments) -> None:
    """Refuse options that exclude each other."""
    if given.every and given.best is not None:
        raise InputError("give --all or --best, not both")
    if given.every and given.poses is not None:
        raise InputError("--all takes one target, and --poses gives many: leave out one of them")
    if given.show and given.json:
        raise InputError("give --show or --json, not both")
    turned = [text for text in (given.rpy, given.wxyz) if text is not None]
    if given.poses is not None and (given.xyz is not None or turned):
        raise InputError("give --poses, or --xyz with --rpy or --wxyz, not both")
    if given.target and (given.poses is not None or given.xyz is not None or turned):
        raise InputError("give --target, or --poses or --xyz, not both")
    frames, targets = given.frame or [], given.target or []
    if given.base_frame is not None and len(frames) > 1:
        raise InputError("a chain from --from ends at one --frame, not at several")
    if targets and len(targets) != max(1, len(frames)):
        raise InputError(
            f"give as many --target as --frame: there are {len(targets)} and {len(frames)}"
        )
    if len(frames) > 1 and not targets:
        raise InputError("say where to: several --frame take as many --target")
    bare = not targets and given.poses is None and given.xyz is None
    alone = given.task and not turned and (not frames or given.base_frame is not None)
    if bare and not alone:
        raise InputError(
            'say where to: --xyz "x y z", --target, --task, or --poses FILE for many targets'
        )


def _asked(robot: lw.Robot, given: IkArguments, home: Floats) -> Asked:
    """The poses of one frame, or the tasks; --task comes after what is asked of frames."""
    more = [ik_tasks.task_of(text, home) for text in given.task or []]
    frames = given.frame or []
    if given.target:
        names = frames or [robot.tip]
        pairs = zip(names, given.target, strict=True)
        one = names[0] if len(names) == 1 else None
        return Asked(
            one, [*(ik_tasks.target_task(*pair, Angles(given.deg)) for pair in pairs), *more], None
        )
    if given.poses is not None:
        poses = inputs.poses_from(given.poses)
    elif given.xyz is not None:
        poses = inputs.pose_of(given.xyz, given.rpy, given.wxyz, Angles(given.deg))
    else:
        return Asked(None, more, None)
    frame = frames[0] if frames else robot.tip
    if not more:
        return Asked(frame, None, poses)
    return Asked(frame, [lw.ik.Pose(frame), *more], {frame: poses})


# the search


def _solve(robot: lw.Robot, asked: Asked, q0: Floats | None, given: IkArguments) -> Found:
    choice: dict[str, Any] = {}
    if given.best is not None:
        choice = {"best_of": given.best_of, "choose": given.best}
    options = lw.ik.Options(
        position_tolerance=given.position_tolerance,
        rotation_tolerance=given.rotation_tolerance,
        steps=given.steps,
        tries=given.tries,
        seed=given.seed,
        **choice,
    )
    joints = None if given.joints is None else [n.strip() for n in given.joints.split(",")]
    margin = given.limits_margin
    limits = [] if margin is None else [lw.ik.PositionLimit(margin)]
    threads = settings.most_threads() if given.threads is None else given.threads
    if asked.tasks is None:
        solver = robot.solver(asked.frame, joints, limits=limits)
    else:
        solver = robot.solver(joints=joints, tasks=asked.tasks, limits=limits)
    names = solver.problem.order
    with progress_of("solving") as progress:
        if given.every:
            result = solver.all_solutions(asked.targets, q0, options=options, threads=threads)
            if 0 not in result.shape:
                return Found(result, names)  # else the search says why there is none
        result = solver.solve(
            asked.targets, q0, options=options, threads=threads, progress=progress
        )
    return Found(result, names)


def _unsolved(result: lw.ik.IKResult) -> str:
    """The number of targets that are not solved, and why the first, as the result says it."""
    return f"not solved: {result.reason}" if result.shape == () else result.reason


# what is told


def _as_json(robot: lw.Robot, asked: Asked, given: IkArguments, found: Found) -> dict[str, Any]:
    result = found.result
    several = given.every and result.shape != ()
    gaps = closed.gap(robot, result.q) if closed.is_closed(robot) else None
    head = {
        "robot": robot.name,
        "base": given.base_frame,
        "frame": asked.frame,
        "tasks": found.names,
        "q_names": inputs.position_labels(robot.mechanism),
        "targets": 1 if several else math.prod(result.shape),
        "solved": int(np.count_nonzero(result.success)),
    }
    rows = [_row_as_json(one, None if gaps is None else gaps[row]) for row, one in result.rows()]
    return {**head, "results": rows}


def _row_as_json(one: lw.ik.IKResult, gap: Any) -> dict[str, Any]:
    """The result of one target; the time is that of all, and a cost is not always there."""
    told = one.to_dict()
    del told["seconds"]
    if one.cost is None:
        del told["cost"]
    return told if gap is None else {"q": told.pop("q"), "closure": gap, **told}


def _what(asked: Asked, found: Found) -> tuple[str, str]:
    """The request in words, for one target and for several."""
    if asked.tasks is None:
        return f"pose of {asked.frame}", f"poses of {asked.frame}"
    names = ", ".join(found.names)
    return names, f"targets of {names}"


def _show(
    screen: Console, robot: lw.Robot, found: Found, what: tuple[str, str], given: IkArguments
) -> None:
    result = found.result
    if result.shape == ():
        _show_one(screen, robot, found, what[0], given)
        return
    solved, total = int(np.count_nonzero(result.success)), math.prod(result.shape)
    title = f"{solved} of {total} {what[1]} solved"
    if given.every:
        title = f"{total} solution{'s' if total > 1 else ''} for {what[0]}"
    screen.print(output.heading(f"{robot.name}: {title}"))
    labels = inputs.position_labels(robot.mechanism)
    angles, unit = Angles(given.deg), " (deg)" if given.deg else ""
    turning = inputs.position_angles(robot.mechanism.joint_types)
    columns = ("row", "solved", "error (m)", "error (rad)", f"q{unit}: " + " ".join(labels))
    shown = output.table(columns)
    for row, one in itertools.islice(result.rows(), output.ROWS_SHOWN):
        shown.add_row(
            str(row[0]),
            "yes" if one.success else "no",
            f"{one.position_error:.1e}",
            f"{one.rotation_error:.1e}",
            " ".join(output.number(v, 4) for v in angles.shown(one.q, turning)),
        )
    screen.print(shown)
    if given.show:
        screen.print("")
        show(result, screen)
    output.tell_rest(total, output.ROWS_SHOWN)


def _show_one(
    screen: Console, robot: lw.Robot, found: Found, what: str, given: IkArguments
) -> None:
    result = found.result
    word = "solved" if result.success else "not solved; the nearest that was found"
    screen.print(output.heading(f"{robot.name}: {what} {word}"))
    position = "position (deg, m)" if given.deg else "position"
    shown = output.table(("joint", position, "lower", "upper"), numbers=3)
    values = (result.q, robot.limits.lower, robot.limits.upper)
    turning = inputs.position_angles(robot.mechanism.joint_types)
    told = [Angles(given.deg).shown(each, turning) for each in values]
    labels = inputs.position_labels(robot.mechanism)
    for name, q, lower, upper in zip(labels, *told, strict=True):
        shown.add_row(name, output.number(q), output.short(lower), output.short(upper))
    screen.print(shown, "", sep="\n")
    if given.show or len(found.names) > 1:
        screen.print(table(result), "", sep="\n")
    screen.print(f"position error   {result.position_error:.3e} m")
    screen.print(f"rotation error   {result.rotation_error:.3e} rad")
    if closed.is_closed(robot):
        screen.print(f"loops open by    {float(closed.gap(robot, result.q)):.1e} (m, rad)")
    screen.print(f"steps            {result.iterations}")
    screen.print(f"restarts         {result.restarts}")
    if result.cost is not None:
        screen.print(f"{given.best} of {given.best_of:<10} {result.cost:.6g}")
