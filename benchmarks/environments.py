"""One virtual environment a peer, created on demand under benchmarks/.envs."""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
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


def _run(command: Sequence[str], what: str, folder: Path | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        tail = "\n".join((done.stderr or done.stdout).strip().splitlines()[-5:])
        raise EnvironmentProblem(f"{what} failed:\n{tail}")


def ensure(
    name: str,
    requirement: Sequence[str],
    *,
    debian: Sequence[str] = (),
    dependencies: bool = True,
) -> Path:
    """The interpreter of an environment that has exactly these lists installed.

    A stamp with the lists' digest stands in the folder; other lists install anew.
    Raises: EnvironmentProblem with the end of pip's message.
    """
    folder = ENVIRONMENTS / name
    python = _python_of(folder)
    text = "\n".join([sys.version, str(dependencies), *requirement, *debian])
    digest = hashlib.sha256(text.encode()).hexdigest()
    stamp = folder / "installed.sha256"
    if python.exists() and stamp.exists() and stamp.read_text() == digest:
        return python
    listed = ", ".join((*requirement, *debian))
    print(f"making {folder.relative_to(ROOT)}: {listed}", file=sys.stderr)
    _run([sys.executable, "-m", "venv", "--clear", str(folder)], f"creating {folder}")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not dependencies:
        install.append("--no-deps")
    arguments: list[str] = []
    for item in requirement:
        arguments += ["--editable", str(ROOT)] if item == "linkwork" else [item]
    _run([*install, *arguments], f"installing {', '.join(requirement)}")
    if debian:
        _unpack(debian, folder / "debian")
    stamp.write_text(digest)
    return python


def _unpack(packages: Sequence[str], folder: Path) -> None:
    """Fetch packages of Debian and unpack them into a folder; nothing of the system is changed."""
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise EnvironmentProblem(f"{', '.join(packages)}: there is no {program} here")
    folder.mkdir(parents=True, exist_ok=True)
    _run(["apt-get", "download", *packages], f"fetching {', '.join(packages)}", folder)
    for file in folder.glob("*.deb"):
        _run(["dpkg-deb", "-x", str(file), str(folder)], f"unpacking {file.name}")


def seat_for(name: str, *, here: bool, core: int | None) -> Seat:
    """Where a peer runs: its own environment, or with ``here`` the present one."""
    peer = create_peer(name)
    folder = str(ENVIRONMENTS / name)
    added = {key: value.replace("{folder}", folder) for key, value in peer.environment.items()}
    if not here:
        python = ensure(name, peer.requirement, debian=peer.debian, dependencies=peer.dependencies)
        return Seat(name, str(python), core, added)
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
