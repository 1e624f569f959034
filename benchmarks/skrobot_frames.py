"""Frames of our face of scikit-robot beside the original's: `python -m benchmarks.skrobot_frames`.

``--other`` is the interpreter of an environment with scikit-robot 0.4.7. Both sides run this file
as a program of their own, in turn; the least of all rounds counts, in microseconds a call. Ratios
are theirs over ours.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import timeit
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

OURS, THEIRS = "linkwork.faces.skrobot", "skrobot"
CALLS = """
c.translate(v) | c.translate(v, 'world') | c.rotate(.1, 'z') | c.rotate(.1, axis, 'world')
k.translate(v) | k.rotate(.1, 'z') | k.transform(c) | k.newcoords(c) | k.newcoords(R, v)
k.newcoords(c, relative_coords='world') | c * d | c.inverse_transformation() | c.T() | k.worldpos()
k.worldcoords() | k.copy_worldcoords() | c.transformation(d) | c.difference_position(d)
c.difference_rotation(d) | c.interpolate(d, .3) | c.rotate_vector(v) | c.transform_vector(many)
c.quaternion_wxyz | F.make_coords() | F.make_coords(pos=v, rot=R) | F.make_cascoords(pos=v, rot=q)
c.align_axis_to_direction(axis) | k.move_coords(d, k) | parent.assoc(free, force=True)
M.rpy_matrix(.1, .2, .3) | M.rotation_matrix(.1, axis) | M.matrix2quaternion(R)
M.quaternion2matrix(q) | M.quaternion_multiply(q, q) | M.matrix2ypr(R) | M.matrix_log(R)
M.normalize_mask('xy') | M.normalize_vector(v) | M.quaternion_slerp(q, p, .3)
chain[0].translate(v); chain[-1].worldpos() | chain[30].translate(v); chain[-1].worldpos()
tree[0].translate(v); tree[-1].worldpos() | tree[0].translate(v); [t.worldpos() for t in tree]
long[0].translate(v); long[-1].worldpos()
"""
LENGTH = 500
"""Frames of the long chain: the original goes down by recursion, and fails at some 1000."""


def measure(module: str) -> dict[str, float]:
    """Microseconds of each call on one side; nan where it fails."""
    F = import_module(f"{module}.coordinates")
    M = import_module(f"{module}.coordinates.math")

    def chain(n: int, parent: Any) -> list[Any]:
        made = [F.make_cascoords(pos=[0.1, 0, 0]).rotate(0.1, "z") for _ in range(n)]
        for k in range(n - 1, 0, -1):
            made[parent(k)].assoc(made[k], "local")
        return made

    v, axis, many = np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.6, 0.8]), np.ones((100, 3))
    c, d = F.make_coords(pos=v).rotate(0.3, "x"), F.make_coords(pos=-v).rotate(0.5, "y")
    parent = F.make_cascoords(pos=v).rotate(0.4, "z")
    k, free = F.make_cascoords(parent=parent, pos=v), F.make_cascoords(pos=v)
    q, R = M.quaternion_from_axis_angle(0.3, axis), M.rotation_matrix(0.3, axis)
    names = {
        **{"F": F, "M": M, "v": v, "axis": axis, "many": many, "c": c, "d": d, "k": k, "q": q},
        **{"parent": parent, "free": free, "R": R, "p": M.quaternion_from_axis_angle(1, [1, 0, 0])},
        "chain": chain(60, lambda k: k - 1),
        "tree": chain(60, lambda k: k - 1 if k % 12 else 0),
        "long": chain(LENGTH, lambda k: k - 1),
    }
    found: dict[str, float] = {}
    for call in calls():
        timer = timeit.Timer(call, globals=names)
        try:
            count, seconds = timer.autorange()
            count = max(1, int(count * 0.02 / max(seconds, 1e-9)))
            found[call] = 1e6 * min(timer.repeat(5, count)) / count
        except RecursionError:
            found[call] = float("nan")
    return found


def calls() -> list[str]:
    """The calls, one by one."""
    return [call.strip() for line in CALLS.strip().splitlines() for call in line.split("|")]


def run(interpreter: str, module: str) -> dict[str, float]:
    """What one side measures, in a process of its own."""
    source = str(Path(__file__).resolve().parent.parent / "src")
    path = source if module == OURS else ""
    done = subprocess.run(
        [interpreter, "-W", "ignore", __file__, "--side", module],
        capture_output=True, text=True, check=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both sides in turn and print a table."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--other", help="the interpreter of the original's environment")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--side", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.side:
        print(json.dumps(measure(given.side)))
        return 0
    if not given.other:
        parser.error("--other is needed: the interpreter of an environment with scikit-robot")
    ours = dict.fromkeys(calls(), float("inf"))
    theirs = dict(ours)
    for _ in range(given.rounds):
        for found, interpreter, module in (
            (ours, sys.executable, OURS), (theirs, given.other, THEIRS)
        ):  # fmt: skip
            for call, time in run(interpreter, module).items():
                found[call] = min(found[call], time)
    print(f"{'call':58} {'ours':>9} {'theirs':>9} {'ratio':>7}")
    for call in calls():
        ratio = theirs[call] / ours[call]
        print(f"{call:58} {ours[call]:8.2f}µ {theirs[call]:8.2f}µ {ratio:7.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
