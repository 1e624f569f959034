"""What a library's answer for one file is worth, beside the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.corpus.truth import Truth

VERDICTS = (
    "right",
    "wrong",
    "valid, refused",
    "faulty, refused",
    "faulty, accepted",
    "crash",
    "hang",
)
TOLERANCE = 1e-5  # of the robot's size: some libraries compute poses in single precision


def judge(truth: Truth, answer: dict[str, Any]) -> tuple[str, str]:
    """One of `VERDICTS`, and what there is to say about it."""
    if "end" in answer:
        return answer["end"], ""
    if "error" in answer:
        verdict = "faulty, refused" if truth.faults else "valid, refused"
        return verdict, answer["error"]
    if truth.faults:
        return "faulty, accepted", truth.faults[0]
    poses = answer["poses"]
    size = 1.0 + max(float(np.abs(T[:3, 3]).max()) for T in truth.poses.values())
    worst, where = 0.0, ""
    root = next(iter(truth.poses))
    missing = [name for name in truth.poses if name not in poses and name != root]
    if missing:
        return "wrong", f"{len(missing)} of {len(truth.poses)} links are not there: {missing[0]}"
    for name, T in truth.poses.items():
        if name == root and name not in poses:
            continue
        error = float(np.abs(np.array(poses[name]) - T).max())
        if not math.isfinite(error):
            return "wrong", f"link '{name}' is not finite"
        if error > worst:
            worst, where = error, name
    if worst > TOLERANCE * size:
        return "wrong", f"link '{where}' is off by {worst:.2g}"
    return "right", ""
