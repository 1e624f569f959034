"""Paths around obstacles: problems of MotionBenchMaker, or made-up ones, each planned and verified.

    python -m benchmarks.planning                        # made-up forests and shelves, bundled arms
    python -m benchmarks.planning --problems FOLDER      # MotionBenchMaker, as VAMP ships it
    python -m benchmarks.planning --problems FOLDER --ompl 5        # beside OMPL and coal

FOLDER holds folders SET_ROBOT with sceneNNNN.yaml and requestNNNN.yaml; robots are those of
example-robot-data, and a Fetch that is drawn with solids, whose torso moves with its arm as the
problems ask. Times are the least of some runs and count everything that a user waits for: the
checks of start and goal, the search, the shortcuts, and the proof that nothing touches. One more
line has the mean time of a problem by one call of `plan_all` on one thread, with the tables of the
scenes made anew.
For the same sets (VAMP 0.6.4 built on one shared core, planning and simplification, median): Panda
173 us, UR5 185 us, Fetch 983 us; 34 % of its paths of Panda touch the meshes. PyPI has its source
alone, whose build fetches other repositories, so that it does not run here.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
import warnings
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.formats.yaml import parse
from linkwork.planning.search import Effort

Floats = NDArray[np.float64]


class Problem(NamedTuple):
    """A start, a goal and a scene, and the joints that move."""

    start: Floats
    goal: Floats
    joints: list[str]
    scene: lw.Scene


def main() -> None:
    """Plan everything, and print a line for each set."""
    asked = argparse.ArgumentParser(description="Paths around obstacles.")
    asked.add_argument("--problems", type=Path, help="a folder of MotionBenchMaker's problems")
    asked.add_argument("--robots", default="panda,ur5", help="of these robots")
    asked.add_argument("--runs", type=int, default=5, help="times are the least of so many")
    asked.add_argument("--overhang", type=float, default=0.02, help="of the cover (m)")
    asked.add_argument("--spacing", type=float, default=Effort().spacing)
    asked.add_argument("--ompl", type=int, default=0, help="so many of a set by OMPL and coal too")
    given = asked.parse_args()
    warnings.filterwarnings("ignore")
    print(f"{'set':28} {'solved':>9} {'median':>8} {'mean':>8} {'p95':>8} us {'length':>7}")
    effort = Effort(spacing=given.spacing)
    for name in given.robots.split(","):
        all_times: list[float] = []
        sets = from_files(given.problems, name) if given.problems else made_up(name)
        for label, robot, problems in sets:
            model = robot.collision(overhang=given.overhang)
            times, lengths, count = list[float](), list[float](), 0
            listed = list(problems)
            for problem in listed:
                count += 1
                planner = robot.planner(problem.joints, model=model, effort=effort)
                found, best = None, np.inf
                for _ in range(given.runs):
                    began = time.perf_counter()
                    found = planner.plan(problem.start, problem.goal[None], problem.scene)
                    best = min(best, time.perf_counter() - began)
                if found:
                    times.append(1e6 * best)
                    lengths.append(found.length)
                else:
                    print(f"  {label}: {found.reason if found is not None else ''}")
            all_times += times
            tell(label, times, lengths, count)
            together(robot, model, listed, effort)
            if given.ompl and given.problems:
                beside(robot, described(name), model, listed[: given.ompl])
        tell(f"all of {name}", all_times, [], len(all_times))


def beside(robot: lw.Robot, path: Path, model: Any, problems: list[Problem]) -> None:
    """Print how OMPL and coal do on some of the problems; see `planning_peers`."""
    from benchmarks.planning_peers import OmplCoal, missing  # noqa: PLC0415  not all have it

    if missing():
        print(f"  OMPL and coal are left out: {missing()} is not installed")
        return
    other = OmplCoal(robot, path, model.pairs)
    times, lengths = list[float](), list[float]()
    for problem in problems:
        seconds, length, _ = other.plan(problem, 10.0)
        if not np.isnan(length):
            times.append(1e6 * seconds)
            lengths.append(length)
    tell("  RRTConnect of OMPL, coal", times, lengths, len(problems))


def together(robot: lw.Robot, model: Any, problems: list[Problem], effort: Effort) -> None:
    """Print how long a problem takes in one call of `plan_all`, in scenes that are known."""
    if not problems:
        return
    planner = robot.planner(problems[0].joints, model=model, effort=effort)
    starts = np.stack([each.start for each in problems])
    goals = np.stack([each.goal for each in problems])
    scenes = [each.scene for each in problems]
    began = time.perf_counter()
    planner.plan_all(starts, goals, scenes, threads=1)
    each = 1e6 * (time.perf_counter() - began) / len(problems)
    print(f"{'  plan_all, tables of scenes made':38} {'':8} {each:8.0f} us a problem")


def tell(label: str, times: list[float], lengths: list[float], count: int) -> None:
    """Print the line of a set."""
    if not times:
        print(f"{label:28} {0:4d}/{count:4d}")
        return
    mean = f"{np.mean(lengths):7.2f}" if lengths else ""
    print(
        f"{label:28} {len(times):4d}/{count:4d} {np.median(times):8.0f} {np.mean(times):8.0f} "
        f"{np.percentile(times, 95):8.0f}    {mean}"
    )


def from_files(folder: Path, name: str) -> Iterator[tuple[str, lw.Robot, Iterator[Problem]]]:
    """The sets of a robot in a folder."""
    robot = lw.load(described(name))
    for one in sorted(folder.glob(f"*_{name}")):
        yield one.name, robot, read(robot, one)


def described(name: str) -> Path:
    """The description of a robot in example-robot-data; of Fetch our own, drawn with solids."""
    if name == "fetch":
        own = Path(lw.__file__).parent / "faces" / "skrobot" / "descriptions" / "fetch.urdf"
        # its torso is drawn 0.1 m too far forward, where the hand is at the start of the problems
        torso = '<origin xyz="{} 0 0.35"/>\n      <geometry><box size="{} 0.32 0.3"/>'
        text = own.read_text().replace(torso.format("0", "0.19"), torso.format("-0.1", "0.22"))
        made = Path(tempfile.mkdtemp()) / "fetch.urdf"
        made.write_text(text)
        return made
    files = metadata.files("example-robot-data") or []
    wanted = {"panda": "panda.urdf", "ur5": "ur5_robot.urdf"}[name]
    return next(Path(str(each.locate())) for each in files if each.name == wanted)


def read(robot: lw.Robot, folder: Path) -> Iterator[Problem]:
    """The problems of a folder."""
    names = list(robot.joint_names)
    for file in sorted(folder.glob("request*.yaml")):
        request = parse(file.read_text()).plain()
        state = request["start_state"]["joint_state"]
        at = dict(zip(state["name"], state["position"], strict=True))
        start = np.array([at.get(joint, 0.0) for joint in names])
        goal, joints = start.copy(), list[str]()
        for wish in request["goal_constraints"][0]["joint_constraints"]:
            joints.append(wish["joint_name"])
            goal[names.index(joints[-1])] = wish["position"]
        number = re.sub(r"\D", "", file.stem)
        yield Problem(start, goal, joints, lw.Scene.from_moveit(folder / f"scene{number}.yaml"))


def made_up(name: str) -> Iterator[tuple[str, lw.Robot, Iterator[Problem]]]:
    """Forests and shelves around a bundled arm."""
    robot = lw.load({"panda": "panda", "ur5": "ur5e"}[name])
    for label, make in (("forest", forest), ("shelf", shelf)):
        yield f"{label}_{name}", robot, around(robot, make)


def around(robot: lw.Robot, make: Any) -> Iterator[Problem]:
    """Fifty problems in scenes of one kind."""
    g, model = np.random.default_rng(0), robot.collision()
    for _ in range(50):
        scene = lw.Scene()
        make(scene, g)
        drawn = robot.random(400, seed=g)
        free = drawn[~model.collides(drawn, scene)]
        if len(free) > 1:
            yield Problem(free[0], free[-1], list(robot.joint_names), scene)


def forest(scene: lw.Scene, g: np.random.Generator) -> None:
    """Twelve thin trees."""
    for k in range(12):
        angle, radius = g.uniform(-np.pi, np.pi), g.uniform(0.35, 0.8)
        place = (radius * np.cos(angle), radius * np.sin(angle), 0.4)
        scene.add_cylinder(f"tree {k}", radius=0.02, length=0.8, pose=place)


def shelf(scene: lw.Scene, g: np.random.Generator) -> None:
    """Four boards between two sides, somewhere around the arm."""
    turn = lw.pose(rpy=[0, 0, g.uniform(-np.pi, np.pi)])
    for k in range(4):
        scene.add_box(f"board {k}", (0.35, 0.8, 0.02), turn @ lw.pose([0.6, 0, 0.1 + 0.27 * k]))
    for side in (-1, 1):
        T = turn @ lw.pose([0.6, 0.4 * side, 0.5])
        scene.add_box(f"side {side}", (0.35, 0.02, 0.85), T)


if __name__ == "__main__":
    main()
