"""A face of a library that does not exist, written into a folder, and the original beside it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from linkwork.faces.import_hook import ImportHook
from linkwork.faces.table import FaceEntry

FACE = {
    "ourface/__init__.py": (
        "from ourface.rotations import turn\n__version__ = '1.2'\nclass Robot:\n    pass\n"
    ),
    "ourface/rotations.py": "def turn(x):\n    return -x\n",
    "ourface/hidden.py": "raise RuntimeError('a file of the face was loaded by an old name')\n",
}
ORIGINAL = {
    "oldlib/__init__.py": "REAL = True\n",
    "oldlib/robot.py": "REAL = True\n",
    "oldlib/more.py": "REAL = True\n",
}
PARENT = {"bigold/__init__.py": "REAL = True\n", "bigold/other.py": "REAL = True\n"}
ENTRY = FaceEntry(
    "old",
    {"oldlib": "ourface", "oldlib.robot": "ourface", "oldlib.utils": "ourface.rotations"},
)
DOTTED = FaceEntry("big", {"bigold.Arms": "ourface", "bigold.Arms.utils": "ourface.rotations"})
NAMES = ("ourface", "oldlib", "bigold", "deep")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def forget() -> None:
    for name in list(sys.modules):
        if name.split(".")[0] in NAMES:
            del sys.modules[name]


@contextmanager
def clean(folder: Path) -> Iterator[ImportHook]:
    """A hook of its own, with the folder on the path; all is as before afterwards."""
    hook, path, finders = ImportHook(), list(sys.path), list(sys.meta_path)
    sys.path.insert(0, str(folder))
    sys.path_importer_cache.clear()
    forget()
    try:
        yield hook
    finally:
        sys.path[:], sys.meta_path[:] = path, finders
        forget()
