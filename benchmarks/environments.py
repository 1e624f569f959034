"""One virtual environment a peer, created on demand under benchmarks/.envs."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers import create_peer
from benchmarks.session import Seat

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ENVIRONMENTS = HERE / ".envs"
DATA_REQUIREMENT = "example-robot-data==6.0.0"
_DATA_INSIDE = Path("share/example-robot-data/robots")


class EnvironmentProblem(RuntimeError):
    """An environment that could not be made."""


def _python_of(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _run(command: Sequence[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise EnvironmentProblem(f"{what} failed:\n{tail}")


def ensure(name: str, requirement: Sequence[str], *, dependencies: bool = True) -> Path:
    """The interpreter of an environment that has exactly this list installed.

    A stamp with the list's digest stands in the folder; another list installs anew.
    Raises: EnvironmentProblem with the end of pip's message.
    """
    folder = ENVIRONMENTS / name
    python = _python_of(folder)
    text = "\n".join([sys.version, str(dependencies), *requirement])
    digest = hashlib.sha256(text.encode()).hexdigest()
    stamp = folder / "installed.sha256"
    if python.exists() and stamp.exists() and stamp.read_text() == digest:
        return python
    print(f"making {folder.relative_to(ROOT)}: {', '.join(requirement)}", file=sys.stderr)
    _run([sys.executable, "-m", "venv", "--clear", str(folder)], f"creating {folder}")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not dependencies:
        install.append("--no-deps")
    arguments: list[str] = []
    for item in requirement:
        arguments += ["--editable", str(ROOT)] if item == "linkwork" else [item]
    _run([*install, *arguments], f"installing {', '.join(requirement)}")
    stamp.write_text(digest)
    return python


def seat_for(name: str, *, here: bool, core: int | None) -> Seat:
    """Where a peer runs: its own environment, or with ``here`` the present one."""
    peer = create_peer(name)
    added = dict(peer.environment)
    if not here:
        return Seat(name, str(ensure(name, peer.requirement)), core, added)
    if name == "linkwork":
        paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        added["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return Seat(name, sys.executable, core, added)


def find_data() -> Path:
    """The robots folder of example-robot-data: the present environment's, or one made for it.

    Raises: EnvironmentProblem where neither has it.
    """
    try:
        files = importlib.metadata.files("example-robot-data") or []
        for file in files:
            if _DATA_INSIDE.as_posix() in file.as_posix():
                path = Path(str(file.locate())).resolve()
                return next(
                    p for p in path.parents if p.as_posix().endswith(_DATA_INSIDE.as_posix())
                )
    except importlib.metadata.PackageNotFoundError:
        pass
    ensure("robots", [DATA_REQUIREMENT], dependencies=False)
    for path in (ENVIRONMENTS / "robots").glob(f"**/{_DATA_INSIDE.as_posix()}"):
        return path
    raise EnvironmentProblem(f"{DATA_REQUIREMENT} has no folder {_DATA_INSIDE}; pass --data FOLDER")
