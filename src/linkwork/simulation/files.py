"""Simulations as files: .npz with every array, .csv with a line for each kept state."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.atomic import replacing
from linkwork.errors import InputError
from linkwork.mechanism.named_positions import labels

if TYPE_CHECKING:
    from linkwork.simulation.result import EventRecord, Simulation


def save(simulation: Simulation, path: str | os.PathLike[str]) -> None:
    """Write a simulation; the ending of the name says how.

    Raises: InputError for another ending than .npz or .csv, or where the file cannot be written.
    """
    name = Path(path)
    kind = name.suffix.lower()
    if kind == ".npz":
        arrays = contents(simulation)
        with replacing(name) as file:
            np.savez_compressed(file, **arrays)  # pyright: ignore[reportArgumentType]
    elif kind == ".csv":
        with replacing(name) as file:
            text = TextIOWrapper(file, encoding="utf-8", newline="")
            lines = csv.writer(text, lineterminator="\n")
            lines.writerow(header(simulation))
            lines.writerows(rows(simulation))
            text.flush()
            text.detach()
    else:
        raise InputError(f"{path}: the name of the file to write must end in .npz or .csv")


def contents(simulation: Simulation) -> dict[str, Any]:
    """The arrays of a .npz file; names are those of `Simulation`."""
    return {
        "times": simulation.times,
        "q": simulation.q,
        "v": simulation.v,
        "torques": simulation.torques,
        "kinetic_energy": simulation.kinetic_energy,
        "potential_energy": simulation.potential_energy,
        "finished": simulation.finished,
        "failed_at": simulation.failed_at,
        "ended_at": simulation.ended_at,
        "joint_names": np.array(simulation.mechanism.joint_names),
    }


def plain(simulation: Simulation) -> dict[str, Any]:
    """A simulation as plain data: the result of `Simulation.to_dict`."""
    m, arrays = simulation.mechanism, contents(simulation)
    del arrays["joint_names"]
    return {
        "robot": m.name,
        "q_names": labels(m, velocities=False),
        "v_names": labels(m, velocities=True),
        **{name: _listed(a) for name, a in arrays.items()},
        "energy": _listed(simulation.energy),
        "limit_excess": _listed(simulation.limit_excess),
        "energy_drift": _listed(simulation.energy_drift),
        "events": _records(simulation.events),
        "singular_passages": _records(simulation.singular_passages),
        "reason": simulation.reason,
    }


def _records(events: Sequence[EventRecord]) -> list[dict[str, Any]]:
    return [
        {**vars(event), "row": list(event.row), "q": _listed(event.q), "v": _listed(event.v)}
        for event in events
    ]


def _listed(a: Any) -> Any:
    """Python's own numbers in lists; None for those that are not finite."""
    array = np.asarray(a)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        array = np.where(np.isfinite(array), array, None)  # pyright: ignore[reportCallIssue, reportArgumentType]
    return array.tolist()


def header(simulation: Simulation) -> list[str]:
    """The columns of a .csv file."""
    m = simulation.mechanism
    q, v = labels(m, velocities=False), labels(m, velocities=True)
    row = ["row"] if simulation.shape else []
    names = [*[f"q {x}" for x in q], *[f"v {x}" for x in v], *[f"torque {x}" for x in v]]
    return [*row, "time", *names, "kinetic energy", "potential energy"]


def rows(simulation: Simulation) -> Iterator[list[Any]]:
    """The lines of a .csv file, the roll-outs of a batch one after the other."""
    batch = bool(simulation.shape)
    for number, row in enumerate(np.ndindex(simulation.shape)):
        parts = (simulation.q[row], simulation.v[row], simulation.torques[row])
        energies = (simulation.kinetic_energy[row], simulation.potential_energy[row])
        table = np.column_stack([simulation.times, *parts, *energies])
        for line in table.tolist():
            yield [number, *line] if batch else line
