"""What was measured, and the ratios that follow from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from benchmarks.stats import Summary, ratio, summarize

_FOLDERS = re.compile(r"(?<![\w./])(?:/[\w.@+-]+)+/(?=[\w.])")  # of this machine: nobody else's


@dataclass
class Measurement:
    """One line of one side: a time in ns per evaluation for every round."""

    case: str
    robot: str
    operation: str
    rows: int
    peer: str
    label: str
    role: str = ""
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    agreement: str = ""
    disagrees: bool = False
    notes: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def group(self) -> tuple[str, str, str, int]:
        """What is compared with what."""
        return (self.case, self.robot, self.operation, self.rows)

    @property
    def side_line(self) -> bool:
        """Whether it is only there to be set beside results: a memory bound, a rate for context."""
        return self.role.startswith(("memory", "context"))

    @property
    def measured(self) -> bool:
        """Whether there is a time."""
        return bool(self.cpu or self.wall)

    def times(self) -> list[float]:
        """Processor time where there is one, else wall time."""
        return self.cpu or self.wall

    def add(self, answer: dict[str, Any]) -> None:
        """Take in one round."""
        self.cpu.append(float(answer["cpu"]))
        self.wall.append(float(answer["wall"]))


@dataclass(frozen=True)
class LeftOut:
    """What was not measured, and why: a side, or one thing of a side."""

    peer: str
    what: str  # "everything", a robot, or an operation
    reason: str


@dataclass
class Report:
    """Everything of one run."""

    machine: dict[str, Any]
    settings: dict[str, Any]
    versions: dict[str, dict[str, Any]] = field(default_factory=dict)
    measurements: list[Measurement] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def problem(self, text: str) -> None:
        """Keep what did not work; the run then ends with exit code 1."""
        if text not in self.problems:
            self.problems.append(text)

    def leave_out(self, peer: str, what: str, reason: str) -> None:
        """Keep what another side does not have or refuses; that is a result, not a problem."""
        said = LeftOut(peer, what, _FOLDERS.sub("", " ".join(reason.split()))[:300])
        if said not in self.left_out:
            self.left_out.append(said)

    def as_dict(self) -> dict[str, Any]:
        """Everything, ratios included, as JSON takes it."""
        measurements: list[dict[str, Any]] = []
        for entry in self.measurements:
            record = asdict(entry)
            record["ratios"] = {
                role: asdict(value) for role, value in ratios(entry, self.measurements).items()
            }
            if entry.measured:
                record["median_ns"] = summarize(entry.times()).median
            measurements.append(record)
        return {
            "machine": self.machine,
            "settings": self.settings,
            "versions": self.versions,
            "measurements": measurements,
            "problems": self.problems,
            "left_out": [asdict(item) for item in self.left_out],
        }


def from_dict(saved: dict[str, Any]) -> Report:
    """The report that `Report.as_dict` saved."""
    known = {field.name for field in fields(Measurement)}
    return Report(
        saved["machine"],
        saved["settings"],
        saved["versions"],
        [
            Measurement(**{key: value for key, value in record.items() if key in known})
            for record in saved["measurements"]
        ],
        saved["problems"],
        [LeftOut(**item) for item in saved.get("left_out", [])],
    )


def joined(reports: Sequence[Report]) -> Report:
    """The report of several runs with different cases; circumstances are those of the first."""
    first = reports[0]
    for each in reports[1:]:
        first.versions.update(each.versions)
        first.measurements += each.measurements
        first.problems += [text for text in each.problems if text not in first.problems]
        first.left_out += [item for item in each.left_out if item not in first.left_out]
    return first


def references(entry: Measurement, everything: Iterable[Measurement]) -> list[Measurement]:
    """The lines that an entry is divided by: the first side's in the same group."""
    same = [m for m in everything if m.group == entry.group and m.measured]
    ours = next((m.peer for m in same), "")
    return [m for m in same if m.peer == ours and not m.side_line]


def ratios(entry: Measurement, everything: Iterable[Measurement]) -> dict[str, Summary]:
    """The entry's time over each of our lines' times, by role; above 1 means that we are faster."""
    if not entry.measured:
        return {}
    return {
        ours.role or ours.label: ratio(entry.times(), ours.times())
        for ours in references(entry, everything)
        if ours is not entry
        and bool(ours.cpu) == bool(entry.cpu)
        and (ours.peer != entry.peer or entry.side_line)
    }
