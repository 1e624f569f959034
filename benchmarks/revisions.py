"""Two revisions of Linkwork beside each other: ``python -m benchmarks.revisions OLD [NEW]``.

Each line is a few statements through public names that both revisions have. Every revision runs in
processes of its own, from a checkout of its own; the two take turns, round by round, on one core,
and the ratio is the median of the rounds' ratios. First calls run in fresh processes without a
cache.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.context import pick_core
from benchmarks.environments import find_data
from benchmarks.stats import ratio, summarize
from benchmarks.table import duration, factor

WORKER = """
import json, os, resource, sys, time, warnings
warnings.simplefilter("ignore")
data, clock = sys.argv[1], time.perf_counter
if sys.argv[2] != "None":
    os.sched_setaffinity(0, {int(sys.argv[2])})
space = {"data": data}
for request in sys.stdin:
    ask = json.loads(request)
    try:
        if "first" in ask:
            begin = clock()
            exec(ask["first"], space)
            took = clock() - begin
        else:
            if ask["name"] not in space:
                exec(ask["setup"], space)
                exec("def timed(n):\\n    for _ in range(n):\\n        " + ask["work"], space)
                space[ask["name"]] = space["timed"]
            work, n = space[ask["name"]], 1
            work(1)
            while True:
                begin = clock()
                work(n)
                took = clock() - begin
                if took > ask["seconds"] or n > 10**7:
                    break
                n = max(2 * n, int(1.1 * n * ask["seconds"] / max(took, 1e-7)))
            took = took / n
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        answer = {"seconds": took, "memory": memory}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"[:300]}
    print(json.dumps(answer), flush=True)
"""


@dataclass(frozen=True)
class Line:
    """One thing that is measured: statements that prepare it, and the statement that is timed."""

    group: str
    name: str
    setup: str
    work: str
    fresh: bool = False
    """Whether it is timed once in a new process, without a cache, after its preparation."""


def _robot(name: str) -> str:
    paths = {
        "panda": "panda_description/urdf/panda.urdf",
        "talos": "talos_data/robots/talos_reduced.urdf",
    }
    source = f"data + '/{paths[name]}'" if name in paths else repr(name)
    return f"import numpy as np, linkwork as lw\nrobot = lw.load({source})\n"


_STATE = """
rng = np.random.default_rng(5)
q1 = robot.random(seed=1)
v1, a1 = 0.3 * rng.normal(size=(2, robot.n_v))
q = robot.random(16000, seed=2)
v, a = 0.3 * rng.normal(size=(2, 16000, robot.n_v))
"""

_CHAIN = """
import numpy as np, linkwork as lw
LINK = (
    "<link name='l{k}'><inertial><origin xyz='0 0 0.05'/><mass value='0.3'/>"
    "<inertia ixx='1e-3' iyy='1e-3' izz='5e-4' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    "<joint name='j{k}' type='revolute'><parent link='l{before}'/><child link='l{k}'/>"
    "<origin xyz='0 0 0.1' rpy='{tilt} 0 0'/><axis xyz='{x} {y} 0'/>"
    "<limit lower='-2' upper='2' effort='9' velocity='3'/></joint>"
)
def chain(n):
    links = [LINK.format(k=k, before=k - 1, tilt=0.1 * (k % 3), x=k % 2, y=1 - k % 2)
             for k in range(1, n + 1)]
    return "<robot name='chain'><link name='l0'/>" + "".join(links) + "</robot>"
"""


def lines() -> Iterator[Line]:
    """All lines, in the order of the page."""
    yield from _startup()
    yield from _chains()
    yield from _calls()
    yield from _inverse_kinematics()
    yield from _closed_and_simulated()
    yield from _faces()


def _startup() -> Iterator[Line]:
    yield Line("import", "import linkwork", "", "import linkwork", fresh=True)
    for name in ("panda", "talos", "stewart"):
        setup = _robot(name)
        yield Line("load", name, setup, setup.splitlines()[-1].removeprefix("robot = "))
    functions = {
        "fk_all": "q1", "jacobian": "q1, frame", "mass_matrix": "q1",
        "inverse_dynamics": "q1, v1, a1",
        "forward_dynamics": "q1, v1, a1", "inverse_dynamics_derivatives": "q1, v1, a1",
        "forward_dynamics_derivatives": "q1, v1, a1",
    }  # fmt: skip
    for name in ("panda", "talos"):
        setup = _robot(name) + _STATE + "frame = robot.frame_names[-1]\n"
        for function, given in functions.items():
            work = f"robot.{function}({given})"
            yield Line("first call", f"{name} {function}", setup, work, fresh=True)
    for name in ("panda", "stewart"):
        setup = (
            _robot(name) + "frame = robot.frame_names[-1]\nT = robot.fk(robot.neutral(), frame)\n"
        )
        yield Line("first call", f"{name} ik", setup, "robot.ik(T, frame)", fresh=True)


def _chains() -> Iterator[Line]:
    begin = "robot = lw.load(text)\nq1 = robot.neutral()\nv1 = 0.1 + 0.0 * q1\n"
    for n in (100, 300, 1000):
        for function, given in (
            ("fk_all", "q1"),
            ("forward_dynamics", "q1, v1, v1"),
            ("mass_matrix", "q1"),
        ):
            if function == "mass_matrix" and n == 1000:
                continue
            setup = f"{_CHAIN}\ntext = chain({n})\n"
            work = f"{begin}robot.{function}({given})"
            yield Line(
                "chain, text to first call", f"{n} joints, {function}", setup, work, fresh=True
            )
    work = f"{begin}robot.ik(robot.fk(q1 + 0.1, 'l100'), 'l100')"
    yield Line(
        "chain, text to first call",
        "100 joints, ik",
        f"{_CHAIN}\ntext = chain(100)\n",
        work,
        fresh=True,
    )


def _calls() -> Iterator[Line]:
    functions = {
        "fk": "{q}, frame", "fk_all": "{q}", "jacobian": "{q}, frame",
        "inverse_dynamics": "{q}, {v}, {a}",
        "mass_matrix": "{q}", "forward_dynamics": "{q}, {v}, {a}", "com": "{q}",
        "inverse_dynamics_derivatives": "{q}, {v}, {a}",
    }  # fmt: skip
    for name in ("panda", "talos"):
        setup = _robot(name) + _STATE + "frame = robot.frame_names[-1]\n"
        for function, given in functions.items():
            work = f"robot.{function}({given.format(q='q1', v='v1', a='a1')})"
            yield Line("one configuration", f"{name} {function}", setup, work)
        for function, given in functions.items():
            made = given.format(q="q", v="v", a="a")
            into, out = f"out = robot.{function}({made}, threads=1)\n", ", out=out"
            if function == "inverse_dynamics_derivatives":  # several arrays, made anew
                into = out = ""
            work = f"robot.{function}({made}{out}, threads=1)"
            yield Line("16,000 configurations", f"{name} {function}", setup + into, work)
    bound = _robot("panda") + _STATE + "fk = robot.function('fk', 'panda_link8')\n"
    yield Line("one configuration", "panda function('fk', ...)", bound, "fk(q1)")


def _inverse_kinematics() -> Iterator[Line]:
    for name in ("panda", "ur5e", "puma560", "mobile_arm"):
        setup = _robot(name) + (
            "frame = robot.frame_names[-1]\nT = robot.fk(robot.random(10000, seed=3), frame)\n"
            "one = T[0]\nsolver = robot.solver(frame)\n"
        )
        yield Line(
            "inverse kinematics", f"{name}, 10,000 targets", setup, "solver.solve(T, threads=1)"
        )
        yield Line("inverse kinematics", f"{name}, one target, solver", setup, "solver.solve(one)")
        yield Line(
            "inverse kinematics", f"{name}, one target, robot.ik", setup, "robot.ik(one, frame)"
        )


def _closed_and_simulated() -> Iterator[Line]:
    for name in ("five_bar", "stewart", "delta"):
        setup = _robot(name) + (
            "drives = [robot.joint_names.index(name) for name in robot.actuated]\n"
            "at = robot.neutral()[drives]\n"
            "drives = at + 1e-2 * np.random.default_rng(3).random((1000, at.size))\n"
            "q = robot.assemble(drives).q\nv = np.zeros((1000, robot.n_v))\n"
        )
        work = "robot.assemble(drives, threads=1)"
        yield Line("closed mechanisms", f"{name} assemble, 1,000", setup, work)
        work = "robot.forward_dynamics(q, v, v, threads=1)"
        yield Line("closed mechanisms", f"{name} forward_dynamics, 1,000", setup, work)
    setup = _robot("panda") + "q = robot.random(100, seed=4)\n"
    for method in ("rk4", "euler", "implicit"):
        work = f"lw.simulate(robot, q, duration=0.1, dt=1e-3, method={method!r}, threads=1)"
        yield Line("simulation", f"panda, 100 x 100 steps, {method}", setup, work)
    work = "lw.simulate(robot, q[0], duration=0.3, method='dopri5')"
    yield Line("simulation", "panda, 0.3 s, dopri5", setup, work)


def _faces() -> Iterator[Line]:
    setup = (
        "import linkwork.faces.pykdl as kdl\nr = kdl.Rotation.RPY(0.1, 0.2, 0.3)\n"
        "x = kdl.Vector(1, 2, 3)\nf = kdl.Frame(r, x)\nt = kdl.Twist(x, x)\n"
    )
    works = "f * f|f * x|r * r|x + x|f.Inverse()|f * t|r.GetQuaternion()|kdl.Frame(r, x)"
    for work in works.split("|"):
        yield Line("PyKDL face", work, setup, work)


class Worker:
    """A process of one revision."""

    def __init__(self, source: Path, data: Path, core: int | None, *, cache: str) -> None:
        env = {**os.environ, "PYTHONPATH": str(source / "src"), "LINKWORK_CACHE": cache}
        command = [sys.executable, "-c", WORKER, str(data), str(core)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env)

    def ask(self, **request: Any) -> dict[str, Any]:
        """The answer to one request."""
        process = self._process
        if process.stdin is None or process.stdout is None:
            return {"error": "the process was not started"}
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        return json.loads(answer) if answer else {"error": "the process ended"}

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()


@contextmanager
def checkout(revision: str) -> Iterator[Path]:
    """A folder with the files of a revision; ``.`` is the working tree itself."""
    if revision == ".":
        yield Path(__file__).resolve().parent.parent
        return
    with tempfile.TemporaryDirectory(prefix="linkwork-revision-") as folder:
        git = ["git", "worktree", "add", "--detach", "--quiet", folder, revision]
        subprocess.run(git, check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", folder], check=True)


def measure(
    line: Line, sources: Sequence[Path], workers: Sequence[Worker], how: argparse.Namespace
) -> dict[str, Any]:
    """The seconds of a line in both revisions, round by round, or the error of one of them."""
    found: dict[str, Any] = {
        "group": line.group,
        "name": line.name,
        "seconds": ([], []),
        "memory": ([], []),
    }
    for _ in range(how.rounds if not line.fresh else max(1, how.rounds // 2)):
        for side, (source, worker) in enumerate(zip(sources, workers, strict=True)):
            if line.fresh:
                answer = _first_call(line, source, how)
            else:
                answer = worker.ask(
                    name=f"{line.group} {line.name}",
                    setup=line.setup,
                    work=line.work,
                    seconds=how.seconds,
                )
            if "error" in answer:
                return {**found, "error": f"{('old', 'new')[side]}: {answer['error']}"}
            found["seconds"][side].append(answer["seconds"])
            found["memory"][side].append(answer["memory"])
    return found


def _first_call(line: Line, source: Path, how: argparse.Namespace) -> dict[str, Any]:
    worker = Worker(source, how.data, how.core, cache="off")
    try:
        prepared = worker.ask(first=line.setup)
        return prepared if "error" in prepared else worker.ask(first=line.work)
    finally:
        worker.close()


def row(found: dict[str, Any]) -> list[str]:
    """The cells of a line: its name, old and new time, new over old, and memory of first calls."""
    if "error" in found:
        return [found["name"], "-", "-", "-", found["error"]]
    old, new = (summarize(values).median for values in found["seconds"])
    change = ratio(found["seconds"][1], found["seconds"][0])
    grown = [max(values) for values in found["memory"]]
    note = f"{grown[0]:,.0f} MB, {grown[1]:,.0f} MB" if found["group"].startswith("chain") else ""
    return [found["name"], duration(1e9 * old), duration(1e9 * new), factor(change.median), note]


def page(results: Sequence[dict[str, Any]], old: str, new: str) -> str:
    """Markdown tables of all lines, a group each."""
    text = [f"# {old} and {new} beside each other", ""]
    for group in dict.fromkeys(found["group"] for found in results):
        text += [
            f"## {group}",
            "",
            "| line | old | new | new ÷ old | |",
            "|---|---:|---:|---:|---|",
        ]
        text += [
            "| " + " | ".join(row(found)) + " |" for found in results if found["group"] == group
        ]
        text.append("")
    return "\n".join(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the lines; 1 where one could not be run."""
    made = argparse.ArgumentParser(prog="benchmarks.revisions", description=__doc__)
    made.add_argument("old", help="a revision of git")
    made.add_argument("new", nargs="?", default=".", help="a revision, or . for the working tree")
    made.add_argument(
        "--only", nargs="+", default=[""], help="lines whose group or name has this in it"
    )
    made.add_argument("--rounds", type=int, default=5)
    made.add_argument("--seconds", type=float, default=0.05, help="time per line and round")
    made.add_argument("--data", type=Path, help="the robots folder of example-robot-data")
    made.add_argument("--core", type=int, help="the core that the workers are bound to")
    made.add_argument("--page", type=Path, metavar="FILE", help="write the tables as Markdown")
    how = made.parse_args(arguments)
    how.data, how.core = how.data or find_data(), pick_core(how.core)
    results: list[dict[str, Any]] = []
    with ExitStack() as stack:
        sources = [stack.enter_context(checkout(revision)) for revision in (how.old, how.new)]
        cache = stack.enter_context(tempfile.TemporaryDirectory(prefix="linkwork-cache-"))
        workers = [
            Worker(s, how.data, how.core, cache=f"{cache}/{k}") for k, s in enumerate(sources)
        ]
        for line in lines():
            if not any(word in f"{line.group} {line.name}" for word in how.only):
                continue
            results.append(measure(line, sources, workers, how))
            print(f"{line.group:28}", *[f"{cell:>10}" for cell in row(results[-1])], flush=True)
        for worker in workers:
            worker.close()
    if how.page:
        how.page.write_text(page(results, how.old, how.new) + "\n", encoding="utf-8")
    return int(any("error" in found for found in results))


if __name__ == "__main__":
    raise SystemExit(main())
