"""Inverse kinematics of our face beside scikit-robot's, one target a call, from one start.

`python -m benchmarks.skrobot_ik --other PYTHON`, the interpreter of an environment with
scikit-robot 0.4.7. Both sides get the same robots, targets and starts, each in a process of its
own: poses of random configurations, from the middle of the joints' ranges, and poses near to the
start. An answer counts where the core's forward kinematics at it is within 1 mm and 1 degree of
what was asked for, inside the limits. Times are processor time of all calls, unsolved ones too.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

ROBOTS = {
    "Panda": ("panda_description/urdf/panda.urdf", "panda_link8", "panda_link1"),
    "PR2 right arm": (
        "pr2_description/urdf/pr2.urdf", "r_gripper_palm_link", "r_shoulder_pan_link"
    ),
    "PR2 left arm": (
        "pr2_description/urdf/pr2.urdf", "l_gripper_palm_link", "l_shoulder_pan_link"
    ),
    "Tiago (Fetch-like)": (
        "tiago_description/robots/tiago_no_hand.urdf", "arm_tool_link", "torso_lift_link"
    ),
}  # fmt: skip
"""File, the link that is brought to targets, the first link that its arm moves."""
OURS, THEIRS = "linkwork.faces.skrobot", "skrobot"
KINDS: dict[str, dict[str, Any]] = {
    "pose": {},
    "position": {"rotation_mask": False},
    "pose but a turn": {"rotation_mask": "xy"},
}
STARTS = ("random", "near")


def measure(module: str, folder: Path) -> dict[str, Any]:
    """Seconds a call of one side; its answers are written into the folder."""
    model = import_module(f"{module}.model").RobotModel
    frames = import_module(f"{module}.coordinates")
    found: dict[str, Any] = {}
    for name, (_, tip, first) in json.loads((folder / "robots.json").read_text()).items():
        data = np.load(folder / f"{name}.npz")
        robot = model.from_urdf((folder / f"{name}.urdf").read_text())
        links = {link.name: link for link in robot.link_list}
        end = frames.CascadedCoords(parent=links[tip])
        chain, link = [], links[tip]
        while link.name != first:
            chain.append(link)
            link = link.parent_link
        chain = [each for each in [link, *chain[::-1]] if each.joint.joint_dof]
        start = dict(zip(data["names"].tolist(), data["start"].tolist(), strict=True))
        q = np.array([start.get(joint.name, 0.0) for joint in robot.joint_list])
        found[name] = {"names": [joint.name for joint in robot.joint_list]}
        for far in STARTS:
            targets = [frames.Coordinates(pos=T[:3, 3], rot=T[:3, :3]) for T in data[far]]
            for kind, masks in KINDS.items():
                for _ in range(2):  # the first time is to compile: rare targets need other code
                    answers, seconds = [], 0.0
                    for target in targets:
                        robot.angle_vector(q)
                        begin = process_time()
                        robot.inverse_kinematics(target, move_target=end, link_list=chain, **masks)
                        seconds += process_time() - begin
                        answers.append(np.array(robot.angle_vector(), np.float64))
                key = f"{far}, {kind}"
                found[name][key] = seconds / len(targets)
                np.save(folder / f"{module} {name} {key}.npy", np.array(answers))
    return found


def prepare(folder: Path, seed: int, n: int, chosen: Sequence[str]) -> dict[str, Any]:
    """Write robots, starts and targets; the robots of the core, to judge by."""
    import linkwork as lw  # noqa: PLC0415  the other side has neither
    from benchmarks.environments import find_data  # noqa: PLC0415

    data, rng = find_data(), np.random.default_rng(seed)
    found: dict[str, Any] = {}
    for name in chosen:
        path, tip, first = ROBOTS[name]
        text = re.sub(r"<(visual|collision)\b.*?</\1>", "", (data / path).read_text(), flags=re.S)
        (folder / f"{name}.urdf").write_text(text)
        robot = lw.load(str(folder / f"{name}.urdf"))
        m, limits = robot.mechanism, robot.limits
        low = np.where(np.isfinite(limits.lower), limits.lower, -np.pi)
        high = np.where(np.isfinite(limits.upper), limits.upper, np.pi)
        start = low + 0.45 * (high - low)
        outer = set(m.coordinates_moving(m.frame(first)))
        moving = m.q_indices(
            c for c in m.coordinates_moving(m.frame(tip)) if c not in outer or _carries(m, first, c)
        )
        q = np.tile(start, (n, 1))
        q[:, moving] = rng.uniform(low, high, (n, robot.n_q))[:, moving]
        near = np.tile(start, (n, 1))
        near[:, moving] += rng.uniform(-0.2, 0.2, (n, len(moving)))
        near = np.clip(near, low, high)
        np.savez(
            folder / f"{name}.npz",
            random=robot.fk(q, tip), near=robot.fk(near, tip),
            names=np.array(robot.joint_names), start=start,
        )  # fmt: skip
        found[name] = robot
    (folder / "robots.json").write_text(json.dumps({name: ROBOTS[name] for name in found}))
    return found


def _carries(m: Any, link: str, c: int) -> bool:
    """Whether a coordinate is that of the joint which carries a link."""
    return int(m.coordinate[m.frame_body[m.frame(link)]]) == c


def solved(robot: Any, name: str, folder: Path, side: dict[str, Any], module: str, key: str) -> Any:
    """The share of targets that one side's answers reach."""
    far, kind = key.split(", ")
    goal = np.load(folder / f"{name}.npz")[far]
    angles = np.load(folder / f"{module} {name} {key}.npy")
    q = angles[:, [side["names"].index(joint) for joint in robot.joint_names]]
    T = robot.fk(q, ROBOTS[name][1])
    away = np.linalg.norm(T[:, :3, 3] - goal[:, :3, 3], axis=1)
    cosine = 0.5 * (np.einsum("nij,nij->n", T[:, :3, :3], goal[:, :3, :3]) - 1.0)
    if kind == "position":
        cosine = np.ones(len(q))
    elif kind != "pose":
        cosine = np.einsum("ni,ni->n", T[:, :3, 2], goal[:, :3, 2])
    turned = np.arccos(np.clip(cosine, -1.0, 1.0))
    slack = 1e-5  # the original's answers are float32
    inside = (q >= robot.limits.lower - slack).all(axis=1)
    inside &= (q <= robot.limits.upper + slack).all(axis=1)
    return float(np.mean((away < 1e-3 + slack) & (turned < np.radians(1.0) + slack) & inside))


def worker(python: str, module: str, folder: Path) -> dict[str, Any]:
    """What one side measures, in a process of its own."""
    told = folder / f"{module}.json"
    call = [python, str(Path(__file__).resolve()), "--worker", module, str(folder), str(told)]
    done = subprocess.run(call, check=False, capture_output=True, text=True, env=os.environ)
    if done.returncode:
        raise SystemExit(f"{module}: {done.stderr[-2000:]}")
    return json.loads(told.read_text())


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.skrobot_ik", description=__doc__)
    parser.add_argument("--other", help="the Python of an environment with scikit-robot")
    parser.add_argument("--targets", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--robots", nargs="*", default=list(ROBOTS), choices=list(ROBOTS))
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        robots = prepare(folder, options.seed, options.targets, options.robots)
        sides = {OURS: worker(sys.executable, OURS, folder)}
        if options.other:
            sides[THEIRS] = worker(options.other, THEIRS, folder)
        else:
            print("LEFT OUT: the original; --other names its Python")
        print("| robot | targets, asked | solved | original | a call | original | ratio |")
        print("|---|---|---:|---:|---:|---:|---:|")
        for name, robot in robots.items():
            for key in (f"{far}, {kind}" for far in STARTS for kind in KINDS):
                shares, times = [""] * 2, [""] * 2
                for k, (module, side) in enumerate(sides.items()):
                    shares[k] = f"{solved(robot, name, folder, side[name], module, key):.1%}"
                    times[k] = f"{1e6 * side[name][key]:.0f} us"
                seconds = [side[name][key] for side in sides.values()]
                ratio = f"{seconds[1] / seconds[0]:.0f}" if len(seconds) > 1 else ""
                print(f"| {' | '.join([name, key, *shares, *times, ratio])} |")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 5 and sys.argv[1] == "--worker":
        Path(sys.argv[4]).write_text(json.dumps(measure(sys.argv[2], Path(sys.argv[3]))))
    else:
        sys.exit(main())
