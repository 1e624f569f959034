"""Every MJCF of some folders beside MuJoCo itself: ``python -m benchmarks.corpus.mjcf FOLDER ...``.

Each file, each content once, is compiled by MuJoCo and read by Linkwork in a process of its own.
Of those that both take, the masses, the poses of bodies and sites and the mass matrix are compared.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpus.probe import part
from linkwork.terminal import progress_line

Floats = NDArray[np.float64]
SECONDS = 120.0
COMPARED = ("mass", "center of mass", "inertia", "poses", "sites", "mass matrix")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read all files, print the tables of what loads and of the largest differences."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.corpus.mjcf", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="one for each package")
    parser.add_argument("--json", type=Path, help="write what became of every file to this file")
    given = parser.parse_args(arguments)
    files = [(top.name, path) for top in given.folders for path in models(top)]
    found: dict[str, Any] = {}
    with progress_line("comparing") as tell:
        for k, (top, path) in enumerate(files):
            found[str(path)] = {"package": top, **compared(path)}
            if tell is not None:
                tell(k + 1, len(files))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    print(tables(found))
    return 0


def models(top: Path) -> Iterator[Path]:
    """The files whose root is ``<mujoco>``, each content once, in the order of names."""
    seen: set[bytes] = set()
    for path in sorted(p for p in top.rglob("*") if p.suffix in (".xml", ".mjcf") and p.is_file()):
        content = path.read_bytes()
        if b"<mujoco" in content and content not in seen:
            seen.add(content)
            yield path


def compared(path: Path, seconds: float = SECONDS) -> dict[str, Any]:
    """What both make of a file: an error or "" for ``mujoco`` and ``linkwork``, the differences."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(str(path), theirs))
    process.start()
    theirs.close()
    try:
        return ours.recv() if ours.poll(seconds) else {"mujoco": "hang", "linkwork": "hang"}
    except EOFError:
        return {"mujoco": "crash", "linkwork": "crash"}
    finally:
        process.kill()
        process.join()


def _answer(path: str, pipe: Any) -> None:
    import linkwork as lw  # noqa: PLC0415

    mujoco = part("mujoco")

    warnings.simplefilter("ignore")
    answer: dict[str, Any] = {"mujoco": "", "linkwork": ""}
    model = robot = None
    try:
        spec = mujoco.MjSpec.from_file(path)
        spec.compiler.fusestatic = spec.compiler.discardvisual = False
        model = spec.compile()
        answer["balls"] = int(np.sum(model.jnt_type == mujoco.mjtJoint.mjJNT_BALL))
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        answer["mujoco"] = str(error)
    try:
        robot = lw.load(path)
    except lw.LinkworkError as error:
        answer["linkwork"] = f"{type(error).__name__}: {error}"
    if model is not None and robot is not None:
        answer["codes"] = sorted({finding.code for finding in robot.findings})
        answer["differences"], answer["said"] = _differences(mujoco, model, robot)
    pipe.send(answer)


def _differences(mujoco: Any, model: Any, robot: Any) -> tuple[dict[str, float], str]:
    """The largest differences, relative to the largest number of a kind, and what was refused."""
    import linkwork as lw  # noqa: PLC0415

    found, said, m = dict[str, float](), "", robot.mechanism
    data, q, change = _moved(mujoco, model, robot)
    links = list(robot.link_names)
    rows = [links.index(_name(model.body(k), "body")) for k in range(1, model.nbody)]
    found["mass"] = _relative(m.link_mass[rows], model.body_mass[1:])
    heavy = model.body_mass[1:] > 0
    found["center of mass"] = _relative(m.link_com[rows][heavy], model.body_ipos[1:][heavy])
    tensors = [_tensor(mujoco, model, k) for k in range(1, model.nbody)]
    found["inertia"] = _relative(m.link_I_com[rows], np.array(tensors).reshape(-1, 3, 3))
    poses = dict(zip(robot.frame_names, robot.fk_all(q), strict=True))
    bodies = np.array([poses[_name(model.body(k), "body")] for k in range(model.nbody)])
    found["poses"] = max(
        _relative(bodies[:, :3, 3], data.xpos),
        _relative(bodies[:, :3, :3].reshape(-1, 9), data.xmat),
    )
    added = robot.frame_names[m.n_link_frames + m.n_joint_frames :][: model.nsite]
    places = np.array([poses[name][:3, 3] for name in added]).reshape(-1, 3)
    found["sites"] = _relative(places, data.site_xpos)
    try:
        found["mass matrix"] = _mass_matrix(mujoco, model, data, robot.mass_matrix(q), change)
    except lw.LinkworkError as error:
        said = f"{type(error).__name__}: {error}"
    return found, said


def _moved(mujoco: Any, model: Any, robot: Any) -> tuple[Any, Floats, Floats]:
    """MuJoCo's data at a random configuration, ours, and the matrix from our v to ``qvel``."""
    m, data = robot.mechanism, mujoco.MjData(model)
    generator = np.random.default_rng(0)
    q, change = robot.neutral(), np.zeros((model.nv, m.n_v))
    same = model.njnt == len(m.joint_names)  # and in the same order; names may have been changed
    for k in range(model.njnt):
        c = k if same else m.joint_names.index(_name(model.joint(k), "joint"))
        own = slice(int(m.q_start[c]), int(m.q_start[c + 1]))
        value = generator.normal(size=own.stop - own.start)
        at, dof, v = int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k]), int(m.v_start[c])
        if len(value) >= 4:
            value[-4:] /= np.linalg.norm(value[-4:])
        size = {7: 6, 4: 3}.get(len(value), 1)
        change[dof : dof + size, v : v + size] = np.eye(size)
        if len(value) == 7:  # ours is the velocity in the body's own axes
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, value[3:])
            change[dof : dof + 3, v : v + 3] = R.reshape(3, 3)
        q[own] = data.qpos[at : at + len(value)] = value
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    return data, q, change


def _mass_matrix(mujoco: Any, model: Any, data: Any, ours: Floats, change: Floats) -> float:
    mujoco.mj_makeM(model, data)
    whole = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, whole)
    return _relative(ours, change.T @ whole @ change)


def _tensor(mujoco: Any, model: Any, k: int) -> Floats:
    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, model.body_iquat[k])
    R = flat.reshape(3, 3)
    return R @ np.diag(model.body_inertia[k]) @ R.T


def _name(item: Any, kind: str) -> str:
    return item.name or f"{kind}{item.id}"


def _relative(a: Floats, b: Floats) -> float:
    if not np.size(b):
        return 0.0
    return float(np.abs(a - b).max() / max(1e-300, float(np.abs(b).max())))


def tables(found: dict[str, dict[str, Any]]) -> str:
    """Markdown: what loads, package by package, and the largest differences over all files."""
    packages = dict.fromkeys(row["package"] for row in found.values())
    lines = ["| package | MuJoCo compiles | Linkwork reads |", "|---|---|---|"]
    for package in [*packages, ""]:
        rows = [r for r in found.values() if r["package"] == package or not package]
        whole = [r for r in rows if not r["mujoco"]]
        read = sum(not r["linkwork"] for r in whole)
        lines.append(f"| {package or 'together'} | {len(whole)} | {read} |")
    lines += ["", "| compared | files | largest relative difference |", "|---|---|---|"]
    whole = [row["differences"] for row in found.values() if "differences" in row]
    for what in COMPARED:
        values = [row[what] for row in whole if what in row]
        lines.append(f"| {what} | {len(values)} | {max(values, default=0.0):.1e} |")
    lines.append("")
    for path, row in found.items():
        if row["linkwork"] and not row["mujoco"]:
            lines.append(f"- `{Path(path).name}`: {row['linkwork'].splitlines()[0][:160]}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
