"""``linkwork demo``: thousands of inverse kinematics targets, every answer verified."""

from __future__ import annotations

import math

import numpy as np
from click.exceptions import Exit
from numpy.typing import NDArray

import linkwork as lw
from linkwork import models, settings
from linkwork.cli import output
from linkwork.cli.arguments import DemoArguments
from linkwork.errors import UnknownNameError
from linkwork.solve.tasks import TOLERANCES
from linkwork.terminal import Screen, progress_line
from linkwork.terminal_text import TextTable

Floats = NDArray[np.float64]

EVALUATIONS = 100_000
"""Poses in one timed call of forward kinematics."""

ROUNDING = 1.0e-9
"""By how much two computations of one pose may differ."""


def run(given: DemoArguments) -> None:
    """Load, compile, solve random targets, check each answer once more, tell."""
    name, targets, seed = given.robot, given.targets, given.seed
    if name not in models.MODELS:
        raise UnknownNameError("bundled model", name, tuple(models.MODELS))
    frame, clock = models.MODELS[name].tip, settings.clock
    start = clock()
    robot = lw.load(name)
    loaded = clock()
    poses = robot.fk(robot.random(targets, seed=seed), frame)
    robot.ik(poses[:2], frame)  # compiles what a batch runs on
    compiled = clock()
    with progress_line(f"solving {targets:,} targets") as told:
        begun = clock()
        result = robot.ik(poses, frame, seed=seed, progress=told)
        solving = clock() - begun
    differences = compare(robot.fk(result.q, frame), poses)
    false = count_false(robot, result, differences)
    q = robot.random(EVALUATIONS, seed=seed)
    out = robot.fk(q, frame)
    start_of_poses = clock()
    robot.fk(q, frame, out=out)  # into an array that is there already
    evaluating = clock() - start_of_poses

    solved, total = int(np.count_nonzero(result.success)), math.prod(result.shape)
    position, rotation = (
        float(np.max(errors, initial=0.0, where=result.success)) for errors in differences
    )
    n = settings.most_threads()
    threads = "one thread" if n == 1 else f"up to {n} threads"
    shown, screen = TextTable(("inverse kinematics, verified", "")), Screen()
    for row in (
        ("robot", f"{robot.name}, frame {frame}"),
        ("joints", f"{len(robot.joint_names)}"),
        ("loaded in", f"{loaded - start:.3f} s"),
        ("compiled in", f"{compiled - loaded:.3f} s, for this robot and processor"),
        ("targets", f"{total:,} random poses within reach"),
        ("solved", f"{solved:,} ({100.0 * solved / total:.4g} %)"),
        ("worst position error", f"{position:.2e} m, of {TOLERANCES['m']:.0e} allowed"),
        ("worst rotation error", f"{rotation:.2e} rad, of {TOLERANCES['rad']:.0e} allowed"),
        ("false successes", f"{false}, by a second forward kinematics"),
        ("targets per second", f"{total / solving:,.0f} solved, on {threads}"),
        ("poses per second", f"{EVALUATIONS / evaluating:,.0f} evaluated, on {threads}"),
    ):
        shown.add_row(*row)
    screen.print(shown, "")
    screen.print(output.heading("Try next"))
    commands = ("info {}", "fk {} --frame {}", "ik --help", "models")
    for command in commands:
        screen.print(f"  linkwork {command.format(name, frame)}")
    screen.print(output.heading("or in Python"))
    for line in (
        "import linkwork as lw",
        f'robot = lw.load("{name}")',
        f'T = robot.fk(robot.random(1000, seed=1), "{frame}")   # 1000 poses (1000, 4, 4)',
        f'print(robot.ik(T, "{frame}"))',
    ):
        screen.print(f"  {line}")
    if false:
        output.note("linkwork: answers that were called solved are not")
        raise Exit(1)


def compare(reached: Floats, wanted: Floats) -> tuple[Floats, Floats]:
    """Distances of poses (n, 4, 4) from those wanted: in metres (n,) and, nearly, in radians (n,).

    Two rotation matrices that are an angle apart differ by a matrix of the norm
    sqrt(8) sin(angle / 2), which for a small angle is sqrt(2) times the angle.
    """
    apart = reached - wanted
    position = np.linalg.norm(apart[..., :3, 3], axis=-1)
    return position, np.linalg.norm(apart[..., :3, :3], axis=(-2, -1)) / np.sqrt(2.0)


def count_false(robot: lw.Robot, result: lw.ik.IKResult, differences: tuple[Floats, Floats]) -> int:
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
