"""``linkwork demo``: thousands of inverse kinematics targets, every answer verified."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

import linkwork as lw
from linkwork import models, settings
from linkwork.cli import output
from linkwork.cli.arguments import DemoArguments
from linkwork.cli.progress import progress_of
from linkwork.errors import UnknownNameError
from linkwork.solve.tasks import TOLERANCES

Floats = NDArray[np.float64]

EVALUATIONS = 100_000
"""Poses in one timed call of forward kinematics."""

ROUNDING = 1.0e-9
"""By how much two computations of one pose may differ."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """The measurements of the demo; seconds are by the clock."""

    robot: lw.Robot
    frame: str
    result: lw.IKResult
    loading: float
    compiling: float
    solving: float
    differences: tuple[Floats, Floats]
    false_successes: int
    poses_a_second: float


def run(given: DemoArguments) -> None:
    """Load, compile, solve, verify, tell."""
    if given.robot not in models.MODELS:
        raise UnknownNameError("bundled model", given.robot, tuple(models.MODELS))
    report = measure(given.robot, given.targets, given.seed)
    screen = output.console()
    _show(screen, report)
    _show_what_next(screen, given.robot, report)
    if report.false_successes:
        output.note("linkwork: answers that were called solved are not")
        raise typer.Exit(1)


def measure(name: str, targets: int, seed: int) -> Report:
    """Solve ``targets`` random targets that can be reached, and check each answer once more."""
    frame, clock = models.MODELS[name].tip, settings.clock
    start = clock()
    robot = lw.load(name)
    loaded = clock()
    poses = robot.fk(robot.random(targets, seed=seed), frame)
    robot.ik(poses[:2], frame)  # compiles what a batch runs on
    compiled = clock()
    with progress_of(f"solving {targets:,} targets") as progress:
        begun = clock()
        result = robot.ik(poses, frame, seed=seed, progress=progress)
        solved = clock()
    differences = compare(robot.fk(result.q, frame), poses)
    return Report(
        robot=robot,
        frame=frame,
        result=result,
        loading=loaded - start,
        compiling=compiled - loaded,
        solving=solved - begun,
        differences=differences,
        false_successes=count_false(robot, result, differences),
        poses_a_second=_poses_a_second(robot, frame, seed),
    )


def compare(reached: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Distances of poses (n, 4, 4) from those wanted: in metres (n,) and, nearly, in radians (n,).

    Two rotation matrices that are an angle apart differ by a matrix of the norm
    sqrt(8) sin(angle / 2), which for a small angle is sqrt(2) times the angle.
    """
    apart = reached - wanted
    position = np.linalg.norm(apart[..., :3, 3], axis=-1)
    return position, np.linalg.norm(apart[..., :3, :3], axis=(-2, -1)) / np.sqrt(2.0)


def count_false(robot: lw.Robot, result: lw.IKResult, differences: tuple[Floats, Floats]) -> int:
    """The number of answers called solved that by this comparison or the limits are not."""
    position, rotation = differences
    limits = robot.limits
    fine = (
        (position <= TOLERANCES["m"] + ROUNDING)
        & (rotation <= TOLERANCES["rad"] + ROUNDING)
        & (result.q >= limits.lower).all(axis=-1)
        & (result.q <= limits.upper).all(axis=-1)
    )
    return int(np.count_nonzero(result.success & ~fine))


def _poses_a_second(robot: lw.Robot, frame: str, seed: int) -> float:
    """The rate of one call with many configurations, into an array that is there already."""
    q = robot.random(EVALUATIONS, seed=seed)
    out = robot.fk(q, frame)
    start = settings.clock()
    robot.fk(q, frame, out=out)
    return EVALUATIONS / (settings.clock() - start)


def _show(screen: Console, report: Report) -> None:
    result, robot = report.result, report.robot
    solved, total = int(np.count_nonzero(result.success)), math.prod(result.shape)
    position, rotation = report.differences
    threads = settings.most_threads()
    shown = output.table(("inverse kinematics, verified", ""))
    rows = (
        ("robot", f"{robot.name}, frame {report.frame}"),
        ("joints", f"{len(robot.joint_names)}"),
        ("loaded in", f"{report.loading:.3f} s"),
        ("compiled in", f"{report.compiling:.3f} s, for this robot and processor"),
        ("targets", f"{total:,} random poses within reach"),
        ("solved", f"{solved:,} ({100.0 * solved / total:.4g} %)"),
        ("worst position error", _worst(position, result, TOLERANCES["m"], "m")),
        ("worst rotation error", _worst(rotation, result, TOLERANCES["rad"], "rad")),
        ("false successes", f"{report.false_successes}, by a second forward kinematics"),
        ("targets per second", f"{total / report.solving:,.0f} solved, on {_threads(threads)}"),
        ("poses per second", f"{report.poses_a_second:,.0f} evaluated, on {_threads(threads)}"),
    )
    for row in rows:
        shown.add_row(*row)
    screen.print(shown, "", sep="\n")


def _worst(errors: Floats, result: lw.IKResult, allowed: float, unit: str) -> str:
    worst = float(np.max(errors, initial=0.0, where=result.success))
    return f"{worst:.2e} {unit}, of {allowed:.0e} allowed"


def _threads(n: int) -> str:
    return "one thread" if n == 1 else f"up to {n} threads"


def _show_what_next(screen: Console, name: str, report: Report) -> None:
    screen.print(output.heading("Try next"))
    for line in (
        f"linkwork info {name}",
        f"linkwork fk {name} --frame {report.frame}",
        "linkwork ik --help",
        "linkwork models",
    ):
        screen.print(f"  {line}")
    screen.print(output.heading("or in Python"))
    for line in (
        "import linkwork as lw",
        f'robot = lw.load("{name}")',
        f'T = robot.fk(robot.random(1000, seed=1), "{report.frame}")   # 1000 poses (1000, 4, 4)',
        f'print(robot.ik(T, "{report.frame}"))',
    ):
        screen.print(f"  {line}", soft_wrap=True)
