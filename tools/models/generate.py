"""Writes the bundled models: ``python tools/models/generate.py [folder]``.

Without a folder it writes to src/linkwork/models. A test compares those files with `texts`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from double_wishbone import double_wishbone
from excavator import excavator
from humanoid import humanoid
from linkage_leg import linkage_leg
from linkages import five_bar, four_bar, slider_crank
from mobile_arm import mobile_arm
from panda import panda
from parallel import delta, stewart
from parallel_gripper import gripper
from planar import planar_2r, planar_3r
from puma560 import puma560
from quadruped import quadruped
from scara import scara
from triped import triped, triped_leg
from two_arm_torso import two_arm_torso
from ur5e import ur5e

FOLDER = Path(__file__).resolve().parents[2] / "src" / "linkwork" / "models"
BUILDERS = (
    planar_2r,
    planar_3r,
    scara,
    puma560,
    ur5e,
    panda,
    two_arm_torso,
    mobile_arm,
    quadruped,
    humanoid,
)
CLOSED = (
    four_bar,
    slider_crank,
    five_bar,
    stewart,
    delta,
    excavator,
    gripper,
    linkage_leg,
    double_wishbone,
    triped_leg,
    triped,
)


def texts() -> dict[str, str]:
    """The text of every file by its name."""
    files = {f"{robot.name}.urdf": robot.text() for robot in (build() for build in BUILDERS)}
    for build in CLOSED:
        robot, loops = build()
        files[f"{robot.name}.urdf"] = robot.text()
        files[f"{robot.name}.loops.yaml"] = loops.text()
    return files


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    for name, text in texts().items():
        (folder / name).write_text(text, encoding="utf-8")
