"""``linkwork ik``: joint positions that bring frames to poses, or do other tasks."""

from __future__ import annotations

import dataclasses
import itertools
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from click.exceptions import Exit
from numpy.typing import NDArray

import linkwork as lw
from linkwork import settings
from linkwork.cli import closed, inputs, output
from linkwork.cli.arguments import IkArguments
from linkwork.cli.inputs import Angles
from linkwork.errors import InputError, UnknownNameError
from linkwork.solve.result import summary, table
from linkwork.terminal import Screen, progress_line
from linkwork.terminal_text import TextTable

Floats = NDArray[np.float64]

NOT_SOLVED = 1
"""The exit code where the input was right, and some targets were not reached."""


MOST_PRESETS = 50
"""So many answers a page offers at most."""


class Asked(NamedTuple):
    """The request: a frame at poses, or tasks that bring their targets."""

    frame: str | None  # the one that has a target, if any has
    tasks: list[lw.ik.Task] | None  # None: the pose of the frame, and nothing else
    targets: Floats | dict[str, Floats] | None  # those that are not the tasks' own


@output.options_named()
def run(given: IkArguments) -> None:
    """Solve, print, write; exit with 1 where some targets are not solved."""
    _check(given)
    out = output.target_file(given.out)
    robot = inputs.open_robot(given, given.frame[0] if given.frame else None)
    for frame in given.frame or []:
        inputs.check_frame(robot, frame, "--frame")
    q0 = inputs.configuration(robot, given.q0, "--q0", Angles(given.deg)) if given.q0 else None
    asked = _tasks_of(robot, given, robot.neutral() if q0 is None else q0)
    result, names = _solve(robot, asked, q0, given)
    output.write_solutions(out, inputs.position_labels(robot.mechanism), result)
    if given.json:
        output.print_json(_as_json(robot, asked, given, result, names))
    elif result.shape == ():
        _show_one(robot, asked, given, result, names)
    else:
        _show_many(robot, asked, given, result, names)
    if given.show:
        _show_page(robot, result, q0)
    if not np.all(result.success):
        first = "not solved: " if result.shape == () else ""
        output.note(f"linkwork: {first}{result.reason}")
        raise Exit(NOT_SOLVED)


# what is asked


def _check(given: IkArguments) -> None:
    """Refuse options that exclude each other."""
    if given.every and given.best is not None:
        raise InputError("give --all or --best, not both")
    if given.every and given.poses is not None:
        raise InputError("--all takes one target, and --poses gives many: leave out one of them")
    if given.errors and given.json:
        raise InputError("give --errors or --json, not both")
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


def _tasks_of(robot: lw.Robot, given: IkArguments, home: Floats) -> Asked:
    """The poses of one frame, or the tasks; --task comes after what is asked of frames."""
    more = [task_of(text, home) for text in given.task or []]
    frames = given.frame or []
    if given.target:
        names = frames or [robot.tip]
        pairs = zip(names, given.target, strict=True)
        one = names[0] if len(names) == 1 else None
        return Asked(one, [*(target_task(*pair, Angles(given.deg)) for pair in pairs), *more], None)
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


def _solve(
    robot: lw.Robot, asked: Asked, q0: Floats | None, given: IkArguments
) -> tuple[lw.ik.IKResult, tuple[str, ...]]:
    """The solutions, and the names of the tasks."""
    best = given.best is not None
    choice: dict[str, Any] = {"best_of": given.best_of, "choose": given.best} if best else {}
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
    if asked.tasks is None:
        solver = robot.solver(asked.frame, joints, limits=limits)
    else:
        solver = robot.solver(joints=joints, tasks=asked.tasks, limits=limits)
    how: dict[str, Any] = {
        "options": options,
        "threads": settings.most_threads() if given.threads is None else given.threads,
    }
    with progress_line("solving") as told:
        if given.every:
            result = solver.all_solutions(asked.targets, q0, **how)
            if 0 not in result.shape:
                return result, solver.problem.order  # else the search says why there is none
        result = solver.solve(asked.targets, q0, progress=told, **how)
    return result, solver.problem.order


# what is told


def _show_page(robot: lw.Robot, result: lw.ik.IKResult, q0: Floats | None) -> None:
    """The answer in a page, the start as its ghost; of several the first, the others as presets."""
    from linkwork.cli.show import until_stopped  # noqa: PLC0415  few need it

    answers = [one.q for _, one in itertools.islice(result.rows(), MOST_PRESETS)]
    if not answers:
        return
    presets = {f"answer {k}": q for k, q in enumerate(answers)} if len(answers) > 1 else {}
    ghost = robot.neutral() if q0 is None else q0
    until_stopped(robot.view(answers[0], ghost=ghost, presets=presets))


def _as_json(
    robot: lw.Robot, asked: Asked, given: IkArguments, result: lw.ik.IKResult, names: Sequence[str]
) -> dict[str, Any]:
    gaps = closed.gap(robot, result.q) if robot.mechanism.is_closed else None
    rows: list[dict[str, Any]] = []
    for row, one in result.rows():
        told = one.to_dict()
        del told["seconds"]  # that of all
        if one.cost is None:
            del told["cost"]
        closure = {} if gaps is None else {"closure": gaps[row]}
        rows.append({"q": told.pop("q"), **closure, **told})
    return {
        "robot": robot.name,
        "base": given.base_frame,
        "frame": asked.frame,
        "tasks": names,
        "q_names": inputs.position_labels(robot.mechanism),
        "targets": 1 if given.every and result.shape != () else math.prod(result.shape),
        "solved": int(np.count_nonzero(result.success)),
        "results": rows,
    }


def _show_many(
    robot: lw.Robot, asked: Asked, given: IkArguments, result: lw.ik.IKResult, names: Sequence[str]
) -> None:
    screen, listed = Screen(), ", ".join(names)
    what = f"poses of {asked.frame}" if asked.tasks is None else f"targets of {listed}"
    solved, total = int(np.count_nonzero(result.success)), math.prod(result.shape)
    title = f"{solved} of {total} {what} solved"
    if given.every:
        title = f"{total} solution{'s' if total > 1 else ''} for {_one_of(asked, names)}"
    screen.print(output.heading(f"{robot.name}: {title}"))
    labels = inputs.position_labels(robot.mechanism)
    angles, unit = Angles(given.deg), " (deg)" if given.deg else ""
    turning = inputs.position_angles(robot.mechanism.joint_types)
    columns = ("row", "solved", "error (m)", "error (rad)", f"q{unit}: " + " ".join(labels))
    shown = TextTable(columns)
    for row, one in itertools.islice(result.rows(), output.ROWS_SHOWN):
        shown.add_row(
            str(row[0]),
            "yes" if one.success else "no",
            f"{one.position_error:.1e}",
            f"{one.rotation_error:.1e}",
            " ".join(output.number(v, 4) for v in angles.shown(one.q, turning)),
        )
    screen.print(shown)
    if given.errors:
        screen.print("", *summary(result))
    output.tell_rest(total, output.ROWS_SHOWN)


def _one_of(asked: Asked, names: Sequence[str]) -> str:
    """The request of one target in words."""
    return f"pose of {asked.frame}" if asked.tasks is None else ", ".join(names)


def _show_one(
    robot: lw.Robot, asked: Asked, given: IkArguments, result: lw.ik.IKResult, names: Sequence[str]
) -> None:
    screen = Screen()
    word = "solved" if result.success else "not solved; the nearest that was found"
    screen.print(output.heading(f"{robot.name}: {_one_of(asked, names)} {word}"))
    screen.print(inputs.joint_table(robot, result.q, Angles(given.deg)), "")
    if given.errors or len(names) > 1:
        screen.print(table(result), "")
    screen.print(f"position error   {result.position_error:.3e} m")
    screen.print(f"rotation error   {result.rotation_error:.3e} rad")
    if robot.mechanism.is_closed:
        screen.print(f"loops open by    {float(closed.gap(robot, result.q)):.1e} (m, rad)")
    screen.print(f"steps            {result.iterations}")
    screen.print(f"restarts         {result.restarts}")
    if result.cost is not None:
        screen.print(f"{given.best} of {given.best_of:<10} {result.cost:.6g}")


# tasks


_TEXTS = ("position", "rotation", "axes", "axes_of", "mirror", "name")
"""Arguments of tasks that are words; all others are numbers."""


class Kind(NamedTuple):
    """The words behind the name of a kind: names, then numbers, then ARGUMENT=VALUE."""

    make: Any  # the task's class: what it takes differs
    names: tuple[str, ...]
    counts: tuple[int, ...]  # of numbers that may be given
    target: Callable[[list[float]], Any]


def _pose(values: list[float]) -> Floats:
    """x y z, then roll pitch yaw or a quaternion."""
    if len(values) == 6:
        return lw.pose(values[:3], rpy=values[3:])
    return lw.pose(values[:3], wxyz=values[3:])


def _rotation(values: list[float]) -> Floats:
    return _pose([0.0, 0.0, 0.0, *values])[:3, :3]


_FRAME = ("FRAME",)
KINDS: Mapping[str, Kind] = {
    "pose": Kind(lw.ik.Pose, _FRAME, (6, 7), _pose),
    "position": Kind(lw.ik.Position, _FRAME, (3,), list),
    "orientation": Kind(lw.ik.Orientation, _FRAME, (3, 4), _rotation),
    "pointing": Kind(lw.ik.Pointing, _FRAME, (3,), list),
    "direction": Kind(lw.ik.Direction, _FRAME, (3,), list),
    "line": Kind(lw.ik.OnLine, _FRAME, (6,), list),
    "plane": Kind(lw.ik.OnPlane, _FRAME, (6,), list),
    "relative": Kind(lw.ik.RelativePose, ("FRAME", "OTHER"), (6, 7), _pose),
    "com": Kind(lw.ik.CenterOfMass, (), (3,), list),
    "posture": Kind(lw.ik.Posture, (), (), list),
    "coupling": Kind(lw.ik.JointCoupling, ("JOINT", "OTHER"), (0,), list),
    "manipulability": Kind(lw.ik.Manipulability, _FRAME, (1,), list),
}


def task_of(text: str, home: Floats) -> lw.ik.Task:
    """The task that a text means, such as "pointing tool0 1 0 0.5 priority=1".

    ``home`` (nq,) is what a posture without numbers is.

    Raises: UnknownNameError for a kind or an argument; InputError for all else.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"--task {text!r}: {str(error).lower()}") from None
    if not words:
        raise InputError(f"--task is empty: say a kind, one of {', '.join(KINDS)}")
    kind = KINDS.get(words[0])
    if kind is None:
        raise UnknownNameError("kind of task", words[0], list(KINDS))
    named = [word for word in words[1:] if "=" in word]
    plain = [word for word in words[1:] if "=" not in word]
    names, rest = plain[: len(kind.names)], plain[len(kind.names) :]
    if len(names) < len(kind.names):
        raise InputError(f"--task {text!r} takes: {_form(words[0], kind)}")
    values = inputs.numbers(" ".join(rest), f"--task {text!r}") if rest else []
    chosen = _arguments(kind, named, text)
    if words[0] == "posture":
        target: Any = values if values or "joints" in chosen else home
    elif len(values) not in kind.counts:
        raise InputError(
            f"--task {text!r} takes {_counts(kind)} numbers, not {len(values)}: "
            f"{_form(words[0], kind)}"
        )
    else:
        target = kind.target(values) if values else None
    if isinstance(target, list) and len(target) == 1:
        target = target[0]
    return kind.make(*names, *([] if target is None else [target]), **chosen)


def _counts(kind: Kind) -> str:
    return " or ".join(str(count) for count in kind.counts)


def _form(name: str, kind: Kind) -> str:
    """The form of a task of this kind."""
    numbers = [f"{_counts(kind)} numbers"] if kind.counts != (0,) else []
    return ", ".join([" ".join([name, *kind.names]), *numbers, "ARGUMENT=VALUE"])


def _arguments(kind: Kind, entries: Sequence[str], text: str) -> dict[str, Any]:
    """The arguments of a task by name, as its class takes them."""
    allowed = [
        field.name
        for field in dataclasses.fields(kind.make)
        if field.name not in ("frame", "other", "joint", "target", "at_least")
    ]
    found: dict[str, Any] = {}
    for entry in entries:
        key, _, value = entry.partition("=")
        name = key.replace("-", "_")
        if name not in allowed:
            raise UnknownNameError("argument of this task", key, allowed)
        if name in found:
            raise InputError(f"--task {text!r} gives {key} twice")
        found[name] = _value(name, value, f"--task {text!r}: {key}")
    return found


def _value(name: str, value: str, what: str) -> Any:
    if name in _TEXTS:
        return value
    if name == "joints":
        return [part.strip() for part in value.split(",")]
    numbers = inputs.numbers(value, what)
    if name == "priority":
        if len(numbers) != 1 or not numbers[0].is_integer():
            raise InputError(f"{what} must be a whole number from 0, not {value!r}")
        return int(numbers[0])
    return numbers[0] if len(numbers) == 1 else numbers


def target_task(frame: str, text: str, angles: Angles) -> lw.ik.Task:
    """The task that --target gives a frame: a position, or a whole pose.

    Raises: InputError.
    """
    values = inputs.numbers(text, "--target")
    if len(values) == 3:
        return lw.ik.Position(frame, values)
    if len(values) == 6:
        values[3:] = angles.typed(values[3:]).tolist()
    if len(values) in (6, 7):
        return lw.ik.Pose(frame, _pose(values))
    raise InputError(
        "--target takes 3 numbers (the position alone), 6 (with roll, pitch, yaw) or 7 (with a "
        f"quaternion w, x, y, z), not {len(values)}: {text!r}"
    )
