"""Draw the pictures of docs/render.md.

python tools/docs/render_pictures.py
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # of this checkout, whatever is installed
DOCS = ROOT / "docs"


def main() -> int:
    """Write both pictures."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    panda = lw.load("panda")
    q = [0.3, -0.6, 0.2, -2.1, 0.1, 1.6, 0.7]
    panda.render(DOCS / "render-panda.png", q, size=(640, 480), view=(-40, 18))
    five = lw.load("five_bar")
    way = five.assemble([[0.2, -0.1], [0.7, 0.5], [0.2, -0.1]]).q
    how = {"times": [0.0, 0.8, 1.6], "size": (320, 240), "fps": 12.5}
    five.render(DOCS / "render-five-bar.gif", trajectory=way, **how)
    return 0


if __name__ == "__main__":
    sys.exit(main())
