"""Writes the robots of the scikit-robot face: ``python tools/models/skrobot.py [folder]``.

Without a folder it writes to src/linkwork/faces/skrobot/descriptions. A test compares those files.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fetch import fetch
from kuka import kuka

FOLDER = Path(__file__).resolve().parents[2] / "src/linkwork/faces/skrobot/descriptions"


def texts() -> dict[str, str]:
    """The text of every file by its name."""
    made = {"fetch.urdf": fetch().text(), "kuka.urdf": kuka().text()}
    return {name: text.replace("generate.py", "skrobot.py") for name, text in made.items()}


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8")
