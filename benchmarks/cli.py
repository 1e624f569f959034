"""The command line."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks import plot, table
from benchmarks.cases import compute, ik, startup
from benchmarks.context import Context, machine, pick_core
from benchmarks.environments import EnvironmentProblem, find_data, seat_for
from benchmarks.peers import peer_names
from benchmarks.results import Report
from benchmarks.session import Seat, Worker, WorkerError
from benchmarks.tasks import ARMS, DYNAMICS, ROBOTS, Task, prepare

CASES = {
    "fk": "pose of one frame: single calls and batches",
    "fk_all": "poses of all frames: single calls and batches",
    "jacobian": "Jacobian of one frame: single calls and batches",
    "dynamics": "inverse and forward dynamics, mass matrix: single calls and batches",
    "single": "poses and Jacobian, one configuration a call",
    "batch": "poses and Jacobian, batches",
    "load": "reading a URDF",
    "import": "processor time of the import beyond NumPy",
    "compile": "the first call in a fresh process",
    "ik": "inverse kinematics: batch and one target",
    "closed": "mechanisms with loops: assembling, ik, Jacobian of the actuation, dynamics",
    "collision": "what touches, distances: Panda among boxes and cylinders",
    "trajectories": "least-time motions through way points: Panda",
    "all": "everything",
}
_OPERATION = {"fk": "pose", "fk_all": "all_poses", "jacobian": "jacobian"}
DEFAULT_ROBOTS = {"ik": ARMS}


def parser() -> argparse.ArgumentParser:
    """The options."""
    about = "\n".join(f"  {name:9} {text}" for name, text in CASES.items())
    made = argparse.ArgumentParser(
        prog="benchmarks",
        description=f"Measure Linkwork beside its peers.\n\ncases:\n{about}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("cases", nargs="+", choices=list(CASES), metavar="case")
    made.add_argument("--robots", nargs="+", choices=list(ROBOTS), metavar="ROBOT",
                      help=f"of {', '.join(ROBOTS)} (default: panda, talos; ik: arms)")  # fmt: skip
    made.add_argument("--peers", nargs="+", choices=peer_names(), metavar="PEER",
                      help=f"of {', '.join(peer_names())} (default: all)")  # fmt: skip
    made.add_argument("--rows", nargs="+", type=int, default=[1, 16_000, 100_000],
                      help="1: single calls, more: a batch (default: 1 16000 100000)")  # fmt: skip
    made.add_argument("--targets", type=int, default=100_000, help="targets of the ik batch")
    made.add_argument("--loop-seconds", type=float, default=10.0,
                      help="time in which a slow side of ik is judged (default: 10)")  # fmt: skip
    made.add_argument("--rounds", type=int, default=7, help="how often the sides take turns")
    made.add_argument("--seconds", type=float, default=0.2, help="time per line and round")
    made.add_argument("--seed", type=int, help="of the inputs (default: drawn now, and printed)")
    made.add_argument("--here", action="store_true", help="run all peers in this environment")
    made.add_argument("--core", type=int, help="the core that the workers are bound to")
    made.add_argument("--data", type=Path, help="the robots folder of example-robot-data")
    made.add_argument("--memory", type=float, default=1.0, help="GiB that an output may take")
    made.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON")
    made.add_argument("--plot", type=Path, metavar="FILE", help="write the ratios as a PNG")
    made.add_argument("--verbose", action="store_true", help="show what the workers print")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases; 0 when all sides agreed and ran, 1 otherwise."""
    options = parser().parse_args(arguments)
    try:
        return _run(options)
    except (EnvironmentProblem, FileNotFoundError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _run(options: argparse.Namespace) -> int:
    if min(options.rows) < 1 or options.rounds < 1 or options.targets < 1:
        raise ValueError("--rows, --rounds and --targets must be at least 1")
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    core = pick_core(options.core)
    peers = options.peers or peer_names()
    peers = [name for name in peer_names() if name in peers]  # ours first: ratios are against it
    data = options.data or find_data()
    settings = {key: str(v) if isinstance(v, Path) else v for key, v in vars(options).items()}
    report = Report(machine(), {**settings, "seed": seed, "core": core, "peers": peers})
    print(f"seed {seed} (repeat with --seed {seed}); {report.machine['processor']}, core {core}")
    seats = take_seats(peers, report, here=options.here, core=core)
    with tempfile.TemporaryDirectory(prefix="linkwork-benchmarks-") as folder:
        context = Context(
            seats, Path(folder), seed, options.rounds, options.seconds, report,
            say=lambda text: print(f"... {text}", file=sys.stderr, flush=True),
            memory=options.memory, quiet=not options.verbose, ik_seconds=options.loop_seconds,
        )  # fmt: skip
        for case in expand(options.cases):
            _case(case, context, options, data)
            _write(report, options.json)  # what is measured is not lost with what comes after it
    for name, found in report.versions.items():
        print(f"{name} {found['version']}, NumPy {found['numpy']}, Python {found['python']}")
    table.show(report)
    if options.plot:
        reason = plot.save(report, options.plot)
        if reason:
            print(reason)
    return 1 if report.problems else 0


def _write(report: Report, file: Path | None) -> None:
    if file:
        file.write_text(json.dumps(report.as_dict(), indent=1) + "\n", encoding="utf-8")


def take_seats(
    peers: Sequence[str], report: Report, *, here: bool, core: int | None
) -> dict[str, Seat]:
    """Where each side runs; one that cannot be installed or imported is left out by name.

    Raises: EnvironmentProblem where that is our own side.
    """
    seats: dict[str, Seat] = {}
    for name in peers:
        try:
            seat = seat_for(name, here=here, core=core)
            with Worker(seat) as worker:
                worker.ask("check")
                report.versions[name] = worker.ask("hello")
        except (EnvironmentProblem, WorkerError) as error:
            if name == "linkwork":
                raise EnvironmentProblem(str(error)) from error
            report.leave_out(name, "everything", str(error))
            print(f"without {name}: {error}", file=sys.stderr)
        else:
            seats[name] = seat
    return seats


def expand(cases: Sequence[str]) -> list[str]:
    """Cases without "all" and without repetitions."""
    if "all" in cases:
        return ["single", "batch", "dynamics", "load", "import", "compile", "ik", "closed",
                "collision", "trajectories"]  # fmt: skip
    return list(dict.fromkeys(cases))


def _case(case: str, context: Context, options: argparse.Namespace, data: Path) -> None:
    if case == "import":
        startup.imports(context)
        return
    if case in ("closed", "collision", "trajectories"):
        # they run in this process, Linkwork with them: no other case needs that
        from benchmarks import closed, collision, trajectories  # noqa: PLC0415

        if case == "collision":
            collision.run(context, data)
        else:
            (closed if case == "closed" else trajectories).run(context)
        return
    names = options.robots or DEFAULT_ROBOTS.get(case, ("panda", "talos"))
    for name in names:
        task = prepare(ROBOTS[name], data, context.folder)
        if case == "load":
            startup.load(context, task)
        elif case == "ik":
            ik.run(context, task, options.targets)
        elif case == "compile":
            for operation in compute.OPERATIONS:
                startup.first_call(context, task, operation)
        else:
            _compute(case, context, task, options.rows)


def _compute(case: str, context: Context, task: Task, rows: Sequence[int]) -> None:
    operations = [_OPERATION[case]] if case in _OPERATION else list(compute.OPERATIONS)
    if case == "dynamics":
        operations = list(DYNAMICS)
    for count in rows:
        if (case == "single" and count > 1) or (case == "batch" and count == 1):
            continue
        for operation in operations:
            compute.run(context, task, operation, count)
