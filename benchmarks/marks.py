"""The marks that the project set itself, so that a table says at once where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.results import Measurement, Summary


@dataclass(frozen=True)
class Mark:
    """Our line must be faster than another side's line by this factor."""

    case: str
    operation: str
    ours: str  # role of our line
    factor: float
    peer: str = "pinocchio"
    role: str = "mark"  # role of the other side's line
    narrow_factor: float | None = None  # without AVX-512
    rows: tuple[int, int] = (0, 10**12)

    def applies(self, entry: Measurement) -> bool:
        """Whether an entry is the one that this mark speaks of."""
        return (entry.case, entry.operation, entry.peer, entry.role) == (
            self.case,
            self.operation,
            self.peer,
            self.role,
        ) and self.rows[0] <= entry.rows <= self.rows[1]

    def wanted(self, wide: bool) -> float:
        """The factor on this processor."""
        return self.factor if wide or self.narrow_factor is None else self.narrow_factor


MARKS = (
    Mark("single", "pose", "bound", 5.0),
    Mark("single", "pose", "method", 4.0),
    Mark("single", "jacobian", "bound", 5.0),
    Mark("single", "jacobian", "method", 1 / 0.45),
    Mark("batch", "pose", "out", 40.0, narrow_factor=25.0, rows=(16_000, 16_000)),
    Mark("batch", "jacobian", "out", 40.0, narrow_factor=25.0, rows=(16_000, 16_000)),
    *(
        Mark("batch", operation, "out", 0.6, "linkwork", "memory", rows=(16_001, 10**12))
        for operation in ("pose", "all_poses", "jacobian")
    ),
)
IK_POSE_SHARE = 60.0  # a batch solves at no less than 1/60 of the pose rate
IK_ONE_MEDIAN_NS, IK_ONE_P99_NS = 10_000.0, 50_000.0


def judge(entry: Measurement, found: dict[str, Summary], wide: bool) -> str:
    """What the marks say about an entry, or an empty text."""
    said: list[str] = []
    for mark in MARKS:
        if mark.applies(entry) and mark.ours in found:
            wanted, have = mark.wanted(wide), found[mark.ours].median
            said.append(f"{mark.ours} {'met' if have >= wanted else 'MISSED'} ({wanted:.3g})")
    return ", ".join(said)
