"""The libraries, each a process that is started again where it dies or hangs."""

from __future__ import annotations

import json
import os
import select
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.environments import ROOT, seat_for

SECONDS = 20.0
PROBE = Path(__file__).with_name("probe.py")

WITHOUT_MESHES = ("mujoco", "urdfpy")
"""These open every mesh: they are given a copy of the file with spheres for meshes."""

LIBRARIES = ("linkwork", "yourdfpy", "pinocchio", "urchin", "urdfpy", "mujoco")


def _python(name: str) -> tuple[str, dict[str, str]]:
    seat = seat_for(name, here=name == "linkwork", core=None)
    return seat.python, dict(seat.environment)


@dataclass
class Side:
    """One library: `ask` gives its answer for a file."""

    name: str
    process: subprocess.Popen[str] | None = None
    command: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        python, added = _python(self.name)
        self.command = [python, str(PROBE), self.name]
        self.environment = {**os.environ, "PYTHONNOUSERSITE": "1", **added}

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        """The answer; ``{"end": "crash"}`` or ``"hang"`` where none comes."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=self.environment,
                cwd=ROOT,
            )
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the process has no pipes")
        try:
            stdin.write(json.dumps(question) + "\n")
            stdin.flush()
        except BrokenPipeError:
            return {"end": "crash"}
        ready, _, _ = select.select([stdout], [], [], SECONDS)
        if not ready:
            self.close()
            return {"end": "hang"}
        line = stdout.readline()
        if not line:
            self.close()
            return {"end": "crash"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def without_meshes(path: Path, folder: Path) -> Path:
    """A copy of a file with small spheres for meshes; the file itself where it is no XML."""
    try:
        tree = ET.parse(path)
    except (ET.ParseError, ValueError, LookupError):
        return path
    root = tree.getroot()
    for geometry in root.iter("geometry"):
        for mesh in geometry.findall("mesh"):
            mesh.tag = "sphere"
            mesh.attrib.clear()
            mesh.set("radius", "0.01")
    for material in root.iter("material"):
        for texture in material.findall("texture"):
            material.remove(texture)
    copy = folder / path.name
    tree.write(copy)
    return copy
