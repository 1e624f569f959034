"""The marks that the project set itself, so that a table says at once where it stands."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.results import Measurement, Summary
from benchmarks.stats import summarize
from benchmarks.tasks import DYNAMICS


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
    robots: tuple[str, ...] = ()  # all of them where none is named

    def applies(self, entry: Measurement) -> bool:
        """Whether an entry is the one that this mark speaks of."""
        asked = (self.case, self.operation, self.peer, self.role)
        if (entry.case, entry.operation, entry.peer, entry.role) != asked:
            return False
        if self.robots and entry.robot not in self.robots:
            return False
        return self.rows[0] <= entry.rows <= self.rows[1]

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
        Mark("single", operation, "bound", factor, robots=(robot,))
        for robot, factors in (("panda", (5.0, 5.0, 4.0)), ("talos", (4.0, 4.0, 1 / 0.3)))
        for operation, factor in zip(DYNAMICS, factors, strict=True)
    ),
    *(Mark("single", operation, "method", 2.5) for operation in DYNAMICS),
    *(
        Mark("batch", operation, "out", wide, narrow_factor=narrow, rows=(16_000, 16_000))
        for operation, wide, narrow in zip(
            DYNAMICS, (40.0, 25.0, 25.0), (25.0, 15.0, 15.0), strict=True
        )
    ),
    # "at 100,000 fresh rows at least 0.6 of the fill rate": both sides write memory just given. The
    # same for an array that exists, which is filled from the cache where it fits into that
    *(
        Mark("batch", operation, ours, 0.6, "linkwork", bound, rows=(16_001, 10**12))
        for operation in ("pose", "all_poses", "jacobian")
        for ours, bound in (("fresh", "memory fresh"), ("out", "memory"))
    ),
)


@dataclass(frozen=True)
class TimeMark:
    """Our line must take no longer than this."""

    case: str
    role: str
    limit_ns: float
    robots: tuple[str, ...]
    operations: tuple[str, ...] = ("pose", "all_poses", "jacobian")

    def applies(self, entry: Measurement) -> bool:
        """Whether an entry is the one that this mark speaks of."""
        return (
            (entry.case, entry.role, entry.peer) == (self.case, self.role, "linkwork")
            and entry.robot in self.robots
            and entry.operation in self.operations
        )


_ARMS = ("panda", "ur5", "pr2_arm", "talos_arm", "g1_arm")
TIME_MARKS = (
    TimeMark("compile", "nothing cached", 0.4e9, _ARMS),
    TimeMark("compile", "nothing cached", 2.0e9, ("talos",), ("all_poses",)),
    TimeMark("compile", "cached on disk", 80e6, (*_ARMS, "talos")),
    TimeMark("compile", "cached on disk, heavy imports done before", 20e6, (*_ARMS, "talos")),
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
    for limit in TIME_MARKS:
        if limit.applies(entry) and entry.measured:
            met = summarize(entry.times()).median <= limit.limit_ns
            said.append(f"{'met' if met else 'MISSED'} ({limit.limit_ns / 1e6:,.0f} ms)")
    return ", ".join(said)
