"""What ``linkwork assemble`` takes; loads neither NumPy nor a compiler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import typer

from linkwork.cli.arguments import Json, RobotArguments, Threads, text_option

_VALUES = (
    "Positions of actuated joints. Those that are not named are where --near has them. Where the "
    "description does not say which joints are actuated, the named ones are."
)
_FILE = (
    "Positions of the actuated joints from a .csv or .npy file, one row each: columns by name, or "
    "in their order."
)
_OUT = (
    "Write the result to this file as well: .npy with the joint positions, .csv with success and "
    "errors beside them."
)


@dataclass(frozen=True, kw_only=True)
class AssembleArguments(RobotArguments):
    """Assemble a mechanism with loops: all joint positions for given ones of its actuated joints.

    Every answer is closed within 1e-12 m and rad and inside the limits before it counts as
    assembled. The exit code is 0 when all are assembled, 1 when some are not, 2 when the input is
    wrong. What is left open, and by how much, is told on standard error.
    """

    examples: ClassVar[tuple[str, ...]] = (
        "linkwork assemble four_bar crank=0.4",
        "linkwork assemble five_bar left=0.2 right=-0.1 --all",
        "linkwork assemble delta --json",
    )

    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME=VALUE]...", help=_VALUES, show_default=False),
    ] = None
    file: Annotated[str | None, text_option("--file", metavar="FILE", text=_FILE)] = None
    near: Annotated[
        list[str] | None,
        text_option(
            "--near",
            metavar="Q",
            text="Joint positions to go from, following their branch: numbers in quotes, or "
            "name=value. Without it the search starts at neutral, then at random.",
        ),
    ] = None
    follow: Annotated[
        bool,
        typer.Option(
            "--follow/--no-follow",
            help="Whether the branch of --near is followed, or any branch is searched for from "
            "there.",
        ),
    ] = True
    every: Annotated[
        bool, typer.Option("--all", help="All branches that are found, the nearest first.")
    ] = False
    seed: Annotated[
        int | None, text_option("--seed", metavar="N", text="Picks the random starts.")
    ] = None
    tries: Annotated[
        int | None, text_option("--tries", metavar="N", text="Tries for each row, at most.")
    ] = None
    steps: Annotated[
        int | None,
        text_option("--steps", metavar="N", text="Steps of a try, or of a way, at most."),
    ] = None
    threads: Threads = None
    json: Json = False
    out: Annotated[str | None, text_option("--out", metavar="FILE", text=_OUT)] = None
