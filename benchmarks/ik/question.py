"""What a solver is asked: which frames, whether turned, and whether the centre of mass counts.

Targets are always poses: (n, 4, 4) of one frame, or (n, k, 4, 4) of several, the centre of mass
last as a pose that is not turned. A side whose solver takes something else converts them before the
clock starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.matching import pose_errors

Floats = NDArray[np.float64]
POSITION, ROTATION = 1e-4, 1e-3
LIMIT = 1e-6
"""What an answer may lie beyond a limit: some sides keep limits in single precision."""
STRICT = 1e-12
"""The same for ours, which promises that every answer satisfies its limits exactly."""


@dataclass(frozen=True)
class Question:
    """One kind of target; ``frames`` empty means the robot's tip."""

    name: str = "pose"
    frames: tuple[str, ...] = ()
    turned: bool = True
    com: bool = False
    under: str = ""  # "posture" of a lower priority, or the objective "centred": must cost nothing

    @property
    def plain(self) -> bool:
        """Whether every side that has a solver can be asked: the pose of the tip."""
        return not self.frames and self.turned and not self.com and not self.under

    @property
    def several(self) -> bool:
        """Whether a target has more than one pose."""
        return len(self.frames) > 1 or self.com

    def as_dict(self) -> dict[str, Any]:
        """As a worker is told."""
        return {**asdict(self), "frames": list(self.frames)}


POSE = Question()


def from_dict(told: dict[str, Any]) -> Question:
    """The question that `Question.as_dict` told of."""
    frames: Sequence[str] = told["frames"]
    return Question(told["name"], tuple(frames), told["turned"], told["com"], told["under"])


def inside(q: Floats, lower: Floats, upper: Floats, beyond: float) -> NDArray[np.bool_]:
    """Which configurations (n, joints) keep to the limits (joints,), or lie so little beyond."""
    kept = ((q >= lower - beyond) & (q <= upper + beyond)).all(axis=1)
    return np.asarray(kept, dtype=np.bool_)


def true_answers(
    question: Question, wanted: Floats, reached: Floats, q: Floats, lower: Floats, upper: Floats
) -> NDArray[np.bool_]:
    """Which answers are true (n,): every error within 0.1 mm and 1 mrad, inside the limits.

    Shapes: wanted and reached as targets are; q (n, joints); lower and upper (joints,).
    """
    n = len(q)
    wanted, reached = wanted.reshape(n, -1, 4, 4), reached.reshape(n, -1, 4, 4)
    good = inside(q, lower, upper, LIMIT) & np.isfinite(q).all(axis=1)
    for k in range(wanted.shape[1]):
        away, turn = pose_errors(wanted[:, k], reached[:, k])
        turn_counts = question.turned and not (question.com and k == wanted.shape[1] - 1)
        good &= (away < POSITION) & ((turn < ROTATION) | (not turn_counts))
    return np.asarray(good, dtype=np.bool_)
