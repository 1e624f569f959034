"""Inverse kinematics on many chains, judged by Pinocchio: ``python -m benchmarks.ik``.

Linkwork alone on every chain by default: the table of what must hold. ``--peers`` puts others
beside it, on the same targets in the same run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import table
from benchmarks.cases import ik
from benchmarks.cli import take_seats
from benchmarks.context import Context, machine, pick_core
from benchmarks.environments import EnvironmentProblem, find_data
from benchmarks.ik.chains import Chain, chains
from benchmarks.ik.page import page
from benchmarks.peers import create_peer, peer_names
from benchmarks.results import Report, from_dict

GROUPS = ("five", "eight", "random", "tasks")


def solvers() -> list[str]:
    """The sides that have inverse kinematics."""
    return [name for name in peer_names() if create_peer(name).offers("ik")]


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.ik", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    names = ", ".join(chain.robot.name for chain in chains())
    add = made.add_argument
    groups = f"groups ({', '.join(GROUPS)}) or chains: {names} (default: all)"
    add("--chains", nargs="+", default=list(GROUPS), metavar="NAME", help=groups)
    add("--random", type=int, default=1, help="random chains of each length")
    sides, listed = [*solvers(), "all"], f"of {', '.join(solvers())}, or all"
    add("--peers", nargs="+", default=["linkwork"], choices=sides, metavar="PEER", help=listed)
    add("--targets", type=int, default=100_000, help="of each chain")
    add("--one", type=int, default=1_000, help="of them solved one by one; 0: none")
    add("--rounds", type=int, default=3, help="how often the sides take turns")
    add("--seconds", type=float, default=0.2, help="time per line and round")
    late = "after which a loop over targets is judged by what it has (30 at least)"
    add("--loop-seconds", type=float, default=20.0, help=late)
    hangs = "seconds after which a side that does not answer is ended, and left out"
    add("--patience", type=float, default=180.0, help=hangs)
    add("--seed", type=int, default=0, help="of the targets")
    add("--here", action="store_true", help="run all sides in this environment")
    add("--core", type=int, help="the core that the workers are bound to")
    add("--data", type=Path, help="the robots folder of example-robot-data")
    add("--json", type=Path, metavar="FILE", help="write everything as JSON")
    add("--page", type=Path, metavar="FILE", help="write the tables as a page")
    saved = "run nothing: make the page of saved results"
    add("--from", type=Path, nargs="+", metavar="FILE", dest="saved", help=saved)
    add("--verbose", action="store_true", help="show what the workers print")
    return made


def wanted(names: Sequence[str], random: int) -> list[Chain]:
    """The chains of these names or groups.

    Raises: ValueError for a name that is none.
    """
    every = chains(random)
    known = {chain.robot.name for chain in every} | set(GROUPS)
    for name in names:
        if name not in known:
            raise ValueError(f"no chain or group '{name}'; there are: {', '.join(sorted(known))}")
    return [chain for chain in every if {chain.robot.name, chain.group} & set(names)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0 when nothing of ours failed, 1 otherwise, 2 when it could not start."""
    options = parser().parse_args(arguments)
    try:
        if options.saved:
            reports = [from_dict(json.loads(path.read_text("utf-8"))) for path in options.saved]
        else:
            reports = [_run(options)]
    except (EnvironmentProblem, FileNotFoundError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    text = page(reports)
    print(text)
    if options.page:
        options.page.write_text(text, encoding="utf-8")
    return 1 if any(report.problems for report in reports) else 0


def _run(options: argparse.Namespace) -> Report:
    if min(options.targets, options.rounds, options.random) < 1 or options.one < 0:
        raise ValueError("--targets, --rounds and --random must be at least 1, --one at least 0")
    core = pick_core(options.core)
    asked = solvers() if "all" in options.peers else options.peers
    peers = [name for name in peer_names() if name in {*asked, "linkwork", "pinocchio"}]
    data = options.data or find_data()
    settings = {key: str(v) if isinstance(v, Path) else v for key, v in vars(options).items()}
    report = Report(machine(), {**settings, "core": core, "peers": peers})
    selected = wanted(options.chains, options.random)
    seats = take_seats(peers, report, here=options.here, core=core)
    with tempfile.TemporaryDirectory(prefix="linkwork-ik-") as folder:
        context = Context(
            seats, Path(folder), options.seed, options.rounds, options.seconds, report,
            say=lambda text: print(f"... {text}", file=sys.stderr, flush=True),
            quiet=not options.verbose, ik_seconds=options.loop_seconds, patience=options.patience,
        )  # fmt: skip
        for chain in selected:
            try:
                task = chain.task(data, context.folder)
            except (EnvironmentProblem, FileNotFoundError) as error:
                report.problem(f"{chain.robot.name}: {error}")
                continue
            ik.run(context, task, options.targets, question=chain.question, one=options.one)
            if (
                options.json
            ):  # after each chain: a long run that is stopped has not been for nothing
                options.json.write_text(json.dumps(report.as_dict(), indent=1) + "\n", "utf-8")
    for text in table.left_out(report):
        print(text, file=sys.stderr)
    return report


if __name__ == "__main__":
    sys.exit(main())
