"""Reading an MJCF: its kinematics and masses, as MuJoCo's own compiler understands them.

Defaults and classes, angles and Euler orders, frames, repetitions, inertia from shapes, sums of
masses: all of this is MuJoCo's business. Which files are opened, what is left out, and where in
the files a problem lies are ours (see `flatten`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from linkwork.errors import Finding
from linkwork.formats.mjcf.compiled import Compiled, OpenMesh, compiled, mujoco_module
from linkwork.formats.mjcf.extract import extract
from linkwork.formats.mjcf.flat import Flat
from linkwork.formats.mjcf.flatten import flatten
from linkwork.formats.mjcf.records import MjcfModel
from linkwork.formats.urdf.source import gather

__all__ = ["Compiled", "MjcfModel", "OpenMesh", "read"]


def read(
    source: str | os.PathLike[str] | bytes,
    *,
    file: str | None = None,
    allow: Sequence[str | os.PathLike[str]] = (),
    open_mesh: OpenMesh | None = None,
) -> MjcfModel:
    """The mechanism that a path, an XML text (it begins with '<') or bytes describe in MJCF.

    ``file`` is the name that messages use, and that included files are found by, where it is not
    the path. They must lie in its folder, the one above, or ``allow``. A mesh is opened only where
    a mass follows from it, by ``open_mesh`` (see `mechanism.from_mjcf.mesh_opener`).

    Raises: DescriptionError with file and line; MissingExtraError without the package ``mujoco``.
    """
    mujoco_module()
    data, name = gather(source, file)
    flat = flatten(data, name, allow=allow)
    model = extract(compiled(flat, name, open_mesh), flat, name)
    return replace(model, name=_name(flat, name), problems=_findings(flat, model.problems))


def _name(flat: Flat, file: str | None) -> str:
    """The model's name, or that of its file."""
    return flat.name or (Path(file).stem if file else "") or "mjcf"


def _findings(flat: Flat, others: Sequence[Finding]) -> tuple[Finding, ...]:
    """What was left out, and what is odd, in the order of the lines."""
    found = [
        replace(problem, message=f"{problem.message}{_more(flat.counts[code])}")
        for code, problem in flat.findings.items()
    ]
    return tuple(sorted([*found, *others], key=lambda problem: (problem.file, problem.line)))


def _more(count: int) -> str:
    return f" (here and at {count - 1} more places)" if count > 1 else ""
