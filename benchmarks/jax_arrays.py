"""linkwork.jax beside other libraries on JAX: `python -m benchmarks.jax_arrays`.

Poses, inverse dynamics and inverse kinematics of a Panda, in batches; the same URDF, configurations
and targets for all, in one run. ``--other`` is the interpreter of an environment with scikit-robot
(and jaxlie), MuJoCo's MJX, adam or PyRoki: what of them is there runs, in a process of its own.
What one gives is compared with the compiled kernels first, and has no time where it does not agree.
Times are the least of several rounds, after compilation, of float32 unless ``--float64``; the time
of the first call stands beside. On a machine with a GPU that JAX sees, it runs there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

TIP = "panda_link8"
ROUNDS = 5
LINES = ("poses", "inverse dynamics", "inverse kinematics")
CLOSE = {"float32": 2e-4, "float64": 1e-8}
"""How far results may be from the kernels', of the largest number."""


# --- what a side runs -----------------------------------------------------------------------------


def measure(side: str, folder: Path, dtype: str) -> dict[str, Any]:
    """Times of one side, and its first results, which are written into the folder."""
    import jax  # noqa: PLC0415  the environment is the side's own

    jax.config.update("jax_enable_x64", dtype == "float64")
    data = {key: np.asarray(x, dtype) for key, x in np.load(folder / "data.npz").items()}
    calls = SIDES[side](folder, data)
    device = jax.devices()[0]
    found: dict[str, Any] = {"device": f"{device.platform}: {device.device_kind}"}
    for line, (call, inputs) in calls.items():
        for n in json.loads((folder / "rows.json").read_text()):
            key = f"{line}, {n}"
            if line == "inverse kinematics" and n > 100_000 and device.platform == "cpu":
                continue  # minutes
            given = [jax.device_put(data[name][:n]) for name in inputs]
            start = perf_counter()
            result = jax.block_until_ready(call(*given))
            first = perf_counter() - start
            times: list[float] = []
            for _ in range(ROUNDS if first < 10.0 else 1):
                start = perf_counter()
                jax.block_until_ready(call(*given))
                times.append(perf_counter() - start)
            found[key] = {"first": first, "row": min(times) / n}
            np.save(folder / f"{side} {key}.npy", np.asarray(result)[:1000])
    return found


Calls = dict[str, tuple[Callable[..., Any], list[str]]]


def linkwork(folder: Path, data: dict[str, Any]) -> Calls:
    """Ours."""
    import jax  # noqa: PLC0415

    import linkwork as lw  # noqa: PLC0415
    import linkwork.jax as lj  # noqa: PLC0415

    m = lj.robot(lw.load(folder / "panda.urdf"))
    return {
        "poses": (jax.jit(lambda q: lj.fk(m, q, TIP)), ["q"]),
        "inverse dynamics": (
            jax.jit(lambda q, v, dv: lj.inverse_dynamics(m, q, v, dv)), ["q", "v", "dv"],
        ),
        "inverse kinematics": (jax.jit(lambda T: lj.ik(m, T, TIP).q), ["targets"]),
    }  # fmt: skip


def mjx(folder: Path, data: dict[str, Any]) -> Calls:
    """MuJoCo's MJX: poses of all bodies come together."""

    mujoco: Any = import_module("mujoco")
    mjx: Any = import_module("mujoco.mjx")

    import jax  # noqa: PLC0415

    model = mujoco.MjModel.from_xml_path(str(folder / "panda.urdf"))
    m, start = mjx.put_model(model), mjx.make_data(model)
    body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "panda_link7")

    def pose(q: Any) -> Any:
        d = mjx.kinematics(m, start.replace(qpos=q))
        return d.xpos[body], d.xmat[body]

    def forces(q: Any, v: Any, dv: Any) -> Any:
        d = mjx.inverse(m, start.replace(qpos=q, qvel=v, qacc=dv))
        return d.qfrc_inverse

    offset = np.eye(4, dtype=data["q"].dtype)
    offset[2, 3] = 0.107  # of the flange

    def poses(q: Any) -> Any:
        p, R = jax.vmap(pose)(q)
        T = jax.numpy.zeros((len(q), 4, 4), q.dtype).at[:, :3, :3].set(R.reshape(-1, 3, 3))
        return T.at[:, :3, 3].set(p).at[:, 3, 3].set(1.0) @ offset

    return {
        "poses": (jax.jit(poses), ["q"]),
        "inverse dynamics": (jax.jit(jax.vmap(forces)), ["q", "v", "dv"]),
    }


def adam(folder: Path, data: dict[str, Any]) -> Calls:
    """adam: it has a floating base, which stands still here; forces are M dv and the bias."""

    computations: Any = import_module("adam.jax").KinDynComputations

    import jax  # noqa: PLC0415

    names = json.loads((folder / "names.json").read_text())
    kin = computations.from_urdf(str(folder / "panda.urdf"), names)
    eye, still = np.eye(4, dtype=data["q"].dtype), np.zeros(6, data["q"].dtype)

    def forces(q: Any, v: Any, dv: Any) -> Any:
        M = kin.mass_matrix(eye, q)
        return M[6:, 6:] @ dv + kin.bias_force(eye, q, still, v)[6:]

    return {
        "poses": (jax.jit(jax.vmap(lambda q: kin.forward_kinematics(TIP, eye, q))), ["q"]),
        "inverse dynamics": (jax.jit(jax.vmap(forces)), ["q", "v", "dv"]),
    }


def pyroki(folder: Path, data: dict[str, Any]) -> Calls:
    """PyRoki's poses."""

    jaxlie: Any = import_module("jaxlie")
    pyroki: Any = import_module("pyroki")
    yourdfpy: Any = import_module("yourdfpy")

    import jax  # noqa: PLC0415

    urdf = yourdfpy.URDF.load(str(folder / "panda.urdf"), load_meshes=False)
    robot = pyroki.Robot.from_urdf(urdf)
    index = robot.links.names.index(TIP)
    order = json.loads((folder / "names.json").read_text())
    columns = np.array([order.index(name) for name in robot.joints.actuated_names])

    def poses(q: Any) -> Any:
        return jaxlie.SE3(robot.forward_kinematics(q[:, columns])[:, index]).as_matrix()

    return {"poses": (jax.jit(poses), ["q"])}


def skrobot(folder: Path, data: dict[str, Any]) -> Calls:
    """scikit-robot's batch of inverse kinematics on JAX; targets come as its own objects."""
    coordinates: Any = import_module("skrobot.coordinates")
    model: Any = import_module("skrobot.model.robot_model").RobotModel

    robot = model.from_urdf((folder / "panda.urdf").read_text())
    link = next(each for each in robot.link_list if each.name == TIP)
    robot.end_coords = coordinates.CascadedCoords(parent=link)
    order = json.loads((folder / "names.json").read_text())
    made = [joint.name for joint in robot.joint_list]
    every = [
        coordinates.Coordinates(pos=T[:3, 3], rot=T[:3, :3])
        for T in data["targets"][:1000].astype(float)
    ]
    columns = [made.index(name) for name in order]

    def solve(targets: Any) -> Any:
        found = robot.batch_inverse_kinematics(
            every[: len(targets)], move_target=robot.end_coords, attempts_per_pose=10, backend="jax"
        )
        return np.array(found[0], float)[:, columns]

    return {"inverse kinematics": (solve, ["targets"])}


SIDES: dict[str, Callable[[Path, dict[str, Any]], Calls]] = {
    "linkwork": linkwork, "mjx": mjx, "adam": adam, "pyroki": pyroki, "skrobot": skrobot,
}  # fmt: skip
WITHOUT_MORE = {"skrobot": 1000}
"""Sides that take their targets one object after the other, and for how many that is done."""


# --- the whole ------------------------------------------------------------------------------------


def prepare(folder: Path, rows: list[int], seed: int) -> dict[str, np.ndarray]:
    """Write robot, configurations and targets; the kernels' results to judge by."""
    import re  # noqa: PLC0415

    import linkwork as lw  # noqa: PLC0415  the other side does not have it
    from benchmarks.environments import find_data  # noqa: PLC0415

    path = find_data() / "panda_description/urdf/panda.urdf"
    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", path.read_text(), flags=re.S)
    (folder / "panda.urdf").write_text(text)
    robot = lw.load(folder / "panda.urdf")
    n, draw = max(rows), np.random.default_rng(seed)
    q = robot.random(n, seed=seed).astype(np.float32).astype(float)
    v, dv = draw.normal(size=(2, n, robot.n_v)).astype(np.float32).astype(float)
    targets = robot.fk(robot.random(n, seed=seed + 1), TIP)
    np.savez(folder / "data.npz", q=q, v=v, dv=dv, targets=targets)
    (folder / "rows.json").write_text(json.dumps(rows))
    (folder / "names.json").write_text(json.dumps(list(robot.joint_names)))
    return {
        "poses": robot.fk(q[:1000], TIP),
        "inverse dynamics": robot.inverse_dynamics(q[:1000], v[:1000], dv[:1000]),
        "inverse kinematics": targets[:1000],
    }


def agreement(folder: Path, side: str, key: str, expected: np.ndarray, dtype: str) -> str:
    """How results agree with the kernels: the share of targets reached, or nothing if they do."""
    found = np.load(folder / f"{side} {key}.npy").astype(float)
    expected = expected[: len(found)]
    if not key.startswith("inverse kinematics"):
        away = np.abs(found - expected).max() / max(1.0, np.abs(expected).max())
        return "" if away < CLOSE[dtype] else f"does not agree: {away:.1e}"
    import linkwork as lw  # noqa: PLC0415

    T = lw.load(folder / "panda.urdf").fk(found, TIP)
    near = np.linalg.norm(T[:, :3, 3] - expected[:, :3, 3], axis=1) < 1e-3
    cosine = 0.5 * (np.einsum("nij,nij->n", T[:, :3, :3], expected[:, :3, :3]) - 1.0)
    near &= np.arccos(np.clip(cosine, -1.0, 1.0)) < np.deg2rad(1.0)
    return f"{100 * near.mean():.1f} % reached"


def run(side: str, python: str, folder: Path, dtype: str) -> dict[str, Any]:
    """What a side measures in a process of its own; why not, where it does not run."""
    command = [python, __file__, "--side", side, "--folder", str(folder), "--dtype", dtype]
    ours = {"PYTHONPATH": os.pathsep.join(sys.path)} if side == "linkwork" else {}
    environment = os.environ | ours
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        return {"missing": (done.stderr.strip().splitlines() or ["no word"])[-1][:160]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def main() -> None:
    """Run all sides and print one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 100_000])
    parser.add_argument(
        "--other", nargs="*", default=[], help="interpreters of environments with other libraries"
    )
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        folder: Path = given.folder
        rows = json.loads((folder / "rows.json").read_text())
        most = WITHOUT_MORE.get(given.side)
        if most:
            (folder / "rows.json").write_text(json.dumps([n for n in rows if n <= most]))
        print(json.dumps(measure(given.side, folder, given.dtype)))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected = prepare(folder, given.rows, given.seed)
        for side in SIDES:
            found: dict[str, Any] = {}
            for python in [sys.executable] if side == "linkwork" else given.other:
                (folder / "rows.json").write_text(json.dumps(given.rows))
                found = run(side, python, folder, given.dtype)
                if "missing" not in found:
                    break
            if not found:
                continue
            if "missing" in found:
                print(f"{side}: does not run here: {found['missing']}")
                continue
            print(f"{side}, {found.pop('device')}, {given.dtype}")
            for key, times in found.items():
                line = key.partition(",")[0]
                says = agreement(folder, side, key, expected[line], given.dtype)
                if says.startswith("does not"):
                    print(f"  {key}: {says}")
                    continue
                rate = 1.0 / times["row"]
                print(f"  {key}: {rate:,.0f} a second, first call {times['first']:.1f} s {says}")


if __name__ == "__main__":
    main()
