"""Where the descriptions come from: packages that hold URDF files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.environments import ENVIRONMENTS, ensure

PACKAGES = (
    "example-robot-data==6.0.0",
    "rtb-data==2.0.0",
    "pybullet==3.2.7",
    "scikit-robot==0.4.7",
    "mani-skill==3.0.1",
    "genesis-world==1.4.5",
    "dexmate-urdf==0.8.4",
)
"""The packages, pinned; a new list fetches anew."""


def folder(package: str) -> Path:
    """The folder that a package is installed in, made on demand.

    Raises: EnvironmentProblem where it cannot be fetched.
    """
    name = package.split("==", maxsplit=1)[0]
    ensure(f"corpus/{name}", [package], dependencies=False)
    return ENVIRONMENTS / "corpus" / name / ("Lib" if os.name == "nt" else "lib")


def descriptions(folders: Sequence[Path]) -> Iterator[Path]:
    """Every .urdf file below the folders, each content once, in the order of names."""
    seen: set[bytes] = set()
    for top in folders:
        for path in sorted(top.rglob("*.urdf")):
            if not path.is_file():
                continue
            content = path.read_bytes()
            if content not in seen:
                seen.add(content)
                yield path
