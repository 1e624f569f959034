"""Our face of scikit-robot beside the original: `python -m benchmarks.skrobot_batch`.

``--other`` is the interpreter of an environment with scikit-robot 0.4.7 and JAX. Both sides get the
same robots, targets and starts, and run this file as a program of their own, in turn: batches of
inverse kinematics (both backends of the original), torques, angles with one end pose, loading. An
answer counts where the core's own forward kinematics at it is within 1 mm and 1 degree of the
target, inside the limits. Times are the least of several rounds, of batches those of a second;
ours are of as many threads as the processor has, like those of JAX.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

ROBOTS = {
    "Panda": ("panda_description/urdf/panda.urdf", "panda_link8", 7),
    "PR2 arm": ("pr2_description/urdf/pr2.urdf", "r_gripper_palm_link", 8),
    "Fetch-like (Tiago)": ("tiago_description/robots/tiago_no_hand.urdf", "arm_tool_link", 8),
}
OURS, THEIRS = "linkwork.faces.skrobot", "skrobot"
BATCHES = (
    ("numpy", 100, 1), ("numpy", 20, 10), ("jax", 1000, 1), ("jax", 10_000, 1), ("jax", 1000, 10),
)  # fmt: skip
"""Backends, targets and attempts; the original takes milliseconds for each target with NumPy."""
ROUNDS = 5


# --- what either side runs ------------------------------------------------------------------------


def measure(module: str, folder: Path) -> dict[str, Any]:
    """Times of one side, and its answers, which are written into the folder."""
    found: dict[str, Any] = {}
    for name in json.loads((folder / "robots.json").read_text()):
        found[name] = of_robot(module, folder, name)
    return found


def of_robot(module: str, folder: Path, name: str) -> dict[str, Any]:
    model = import_module(f"{module}.model.robot_model").RobotModel
    frames = import_module(f"{module}.coordinates")
    text = (folder / f"{name}.urdf").read_text()
    data = np.load(folder / f"{name}.npz")
    path = str(folder / f"{name}.urdf")
    times: dict[str, Any] = {"load": least(lambda: model.from_urdf(path), 3, 1)}
    robot = model.from_urdf(text)
    link = next(each for each in robot.link_list if each.name == ROBOTS[name][1])
    end = robot.end_coords = frames.CascadedCoords(parent=link)
    start = dict(zip(data["names"].tolist(), data["start"].tolist(), strict=True))
    q = np.array([start.get(joint.name, 0.0) for joint in robot.joint_list])
    robot.angle_vector(q)
    targets = [frames.Coordinates(pos=T[:3, 3], rot=T[:3, :3]) for T in data["targets"]]
    for backend, n, attempts in BATCHES:
        few = targets[:n]

        def call(few: Any = few, attempts: int = attempts, backend: str = backend) -> Any:
            return robot.batch_inverse_kinematics(
                few, move_target=end, attempts_per_pose=attempts, backend=backend
            )

        solutions = call()[0]  # compiles
        key = f"batch of {n}, {backend}, attempts: {attempts}"
        times[key] = least(call, 3, 1, seconds=1.0) / n
        np.save(folder / f"{module} {name} {key}.npy", np.array(solutions, np.float64))
    times["names"] = [joint.name for joint in robot.joint_list]
    robot.angle_vector(q)
    calls = {
        "torque_vector()": robot.torque_vector,
        "inverse_dynamics()": robot.inverse_dynamics,
        "torque_vector(backend='jax')": lambda: np.asarray(robot.torque_vector(backend="jax")),
        "torque_vector(motion)": lambda: robot.torque_vector(
            calc_statics_p=False, av=q, av_prev=q - 1e-4, av_next=q + 1e-4
        ),
        "angle_vector(q); end.worldpos()": lambda: (robot.angle_vector(q), end.worldpos()),
    }
    for key, each in calls.items():
        each()
        times[key] = least(each, ROUNDS, 20)
    return times


def least(call: Any, rounds: int, count: int, seconds: float = 0.0) -> float:
    """The least seconds of a call, of so many rounds and for so long at least."""
    end = perf_counter() + seconds
    found = timeit.repeat(call, repeat=rounds, number=count)
    while perf_counter() < end:
        found += timeit.repeat(call, repeat=1, number=count)
    return min(found) / count


# --- the whole ------------------------------------------------------------------------------------


def prepare(folder: Path, seed: int, n: int) -> dict[str, Any]:
    """Write robots, starts and targets; the robots of the core, to judge by."""
    import linkwork as lw  # noqa: PLC0415  the other side has neither
    from benchmarks.environments import find_data  # noqa: PLC0415

    data = find_data()
    rng = np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for name, (path, tip, _) in ROBOTS.items():
        text = re.sub(r"<(visual|collision)\b.*?</\1>", "", (data / path).read_text(), flags=re.S)
        (folder / f"{name}.urdf").write_text(text)
        robot = lw.load(str(folder / f"{name}.urdf"))
        limits = robot.limits
        low = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
        high = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
        q = rng.uniform(low, high, (n, robot.n_q))
        start = low + 0.45 * (high - low)
        np.savez(
            folder / f"{name}.npz",
            targets=robot.fk(q, tip), names=np.array(robot.joint_names), start=start,
        )  # fmt: skip
        found[name] = robot
    (folder / "robots.json").write_text(json.dumps(list(found)))
    return found


def solved(robot: Any, name: str, folder: Path, side: dict[str, Any], module: str, key: str) -> Any:
    """The share of targets that one side's answers reach."""
    targets = np.load(folder / f"{name}.npz")["targets"]
    angles = np.load(folder / f"{module} {name} {key}.npy")
    order = [side["names"].index(joint) for joint in robot.joint_names]
    q = angles[:, order]
    T, goal = robot.fk(q, ROBOTS[name][1]), targets[: len(q)]
    away = np.linalg.norm(T[:, :3, 3] - goal[:, :3, 3], axis=1)
    cosine = 0.5 * (np.einsum("nij,nij->n", T[:, :3, :3], goal[:, :3, :3]) - 1.0)
    turned = np.arccos(np.clip(cosine, -1.0, 1.0))
    slack = 1e-5  # the original's answers are float32
    inside = (q >= robot.limits.lower - slack).all(axis=1)
    inside &= (q <= robot.limits.upper + slack).all(axis=1)
    return float(np.mean((away < 1e-3) & (turned < np.radians(1.0)) & inside))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.skrobot_batch", description=__doc__)
    parser.add_argument("--other", help="the Python of an environment with scikit-robot and jax")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--robots", nargs="*", default=list(ROBOTS))
    options = parser.parse_args(arguments)
    for name in set(ROBOTS) - set(options.robots):
        del ROBOTS[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        robots = prepare(folder, options.seed, max(n for _, n, _ in BATCHES))
        sides = {OURS: worker(sys.executable, OURS, folder)}
        if options.other:
            sides[THEIRS] = worker(options.other, THEIRS, folder)
        else:
            print("LEFT OUT: the original; --other names its Python")
        for name, robot in robots.items():
            print(f"\n## {name}\n\n| call | ours | original | ratio | ours solved | original |")
            print("|---|---:|---:|---:|---:|---:|")
            for key, ours in sides[OURS][name].items():
                if key == "names":
                    continue
                theirs = sides.get(THEIRS, {}).get(name, {}).get(key)
                cells = [micro(ours), micro(theirs), f"{theirs / ours:.0f}" if theirs else ""]
                for module in (OURS, THEIRS):
                    side = sides.get(module, {}).get(name)
                    reached = ""
                    if side and key.startswith("batch"):
                        reached = f"{solved(robot, name, folder, side, module, key):.1%}"
                    cells.append(reached)
                print(f"| {key} | {' | '.join(cells)} |")
    return 0


def micro(seconds: float | None) -> str:
    return "" if seconds is None else f"{1e6 * seconds:.2f} us"


def worker(python: str, module: str, folder: Path) -> dict[str, Any]:
    """What one side measures, in a process of its own."""
    begin = perf_counter()
    told = folder / f"{module}.json"
    call = [python, str(Path(__file__).resolve()), "--worker", module, str(folder), str(told)]
    done = subprocess.run(call, check=False, capture_output=True, text=True, env=os.environ)
    if done.returncode:
        raise SystemExit(f"{module}: {done.stderr[-2000:]}")
    print(f"{module}: {perf_counter() - begin:.0f} s", file=sys.stderr)
    return json.loads(told.read_text())


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "--worker":
        place = Path(sys.argv[3])
        chosen = json.loads((place / "robots.json").read_text())
        Path(sys.argv[4]).write_text(json.dumps(measure(sys.argv[2], place)))
    else:
        sys.exit(main())
