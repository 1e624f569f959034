"""Write docs/gallery.md, its pictures (every bundled model, mechanisms in motion, ten robots), and
the offline pages in examples/pages.

    python tools/docs/gallery.py           writes the page and all pictures
    python tools/docs/gallery.py --check   exits with 1 where the page, or one of what is made
                                           again (two pictures, a page), is out of date

The ten robots are those of example-robot-data: skeletons of their kinematics, none of their meshes.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "src"))  # of this checkout, whatever is installed
PAGE = ROOT / "docs" / "gallery.md"
FOLDER = ROOT / "docs" / "gallery"
PAGES = ROOT / "examples" / "pages"
OFFLINE = ("panda", "stewart", "excavator", "humanoid")
"""Models whose offline pages are kept."""
SIZE = (300, 240)
MOST_BYTES = 60_000

POSES: dict[str, dict[str, float]] = {
    "planar_2r": {"joint1": 0.7, "joint2": 0.9},
    "planar_3r": {"joint1": 0.3, "joint2": 0.7, "joint3": 0.8},
    "scara": {"joint1": -0.3, "joint2": 0.9, "joint3": 0.08},
    "puma560": {"joint2": -0.9, "joint3": 0.5, "joint5": 0.5},
    "ur5e": {
        "shoulder_pan_joint": 2.6, "shoulder_lift_joint": -1.2, "elbow_joint": 1.3,
        "wrist_1_joint": -1.6, "wrist_2_joint": -1.57,
    },
    "panda": {"joint1": 0.3, "joint2": -0.3, "joint4": -2.2, "joint6": 2.0, "joint7": 0.8},
    "two_arm_torso": {
        "lift": 0.15, "left_shoulder_pitch": -0.5, "left_shoulder_roll": 0.4, "left_elbow": -1.2,
        "right_shoulder_pitch": -0.2, "right_shoulder_roll": 0.3, "right_elbow": -1.5,
    },
    "mobile_arm": {"arm_1": 0.3, "arm_2": -0.5, "arm_3": 1.2, "arm_5": 0.7, "finger": 0.03},
    "quadruped": {
        f"{leg}_{joint}": angle
        for leg in ("fl", "fr", "rl", "rr")
        for joint, angle in (("hip", -0.7), ("knee", 1.4))
    },
    "humanoid": {
        "left_hip_pitch": -0.5, "left_knee": 0.7, "left_ankle_pitch": -0.2,
        "right_hip_pitch": 0.2, "right_knee": 0.3, "left_shoulder_pitch": 0.4,
        "left_shoulder_roll": 0.2, "left_elbow": -0.9, "right_shoulder_pitch": -0.7,
        "right_shoulder_roll": 0.2, "right_elbow": -1.3,
    },
}  # fmt: skip
"""Positions of joints that show more than neutral does."""

MOTIONS: dict[str, tuple[Sequence[float], Sequence[float]]] = {
    "four_bar": ([0.4], [2.2]),
    "slider_crank": ([0.5], [2.4]),
    "five_bar": ([0.2, -0.1], [0.7, 0.5]),
    "stewart": ([0.0] * 6, [0.08, 0.0, 0.06, 0.0, 0.02, 0.1]),
    "delta": ([0.0] * 3, [0.6, -0.1, 0.2]),
    "excavator": ([0.0, 0.05, -0.05], [0.0, 0.3, 0.2]),
    "gripper": ([0.1], [0.8]),
    "linkage_leg": ([0.0, -0.3, -0.4], [0.0, 0.4, 0.5]),
    "double_wishbone": ([-0.04, 0.0, 0.0], [0.05, 0.04, 0.0]),
    "triped_leg": ([0.0, 0.0, -1.6], [0.2, 0.2, -1.0]),
    "triped": ([0.0, 0.0, -1.6] * 3, [0.1, 0.1, -1.2] * 3),
}
"""Positions of the actuated joints of mechanisms with loops, at the beginning and at the end."""

CROUCHED = ("triped", "triped_leg")
"""Mechanisms that are shown where their motion ends: they are stretched at zero."""

REAL: dict[str, tuple[str, dict[str, float]]] = {
    "ur10_robot": ("Universal Robots UR10", {"shoulder_lift_joint": -1.1, "elbow_joint": 1.4}),
    "panda": ("Franka Emika Panda with its hand", {"panda_joint4": -1.8, "panda_joint6": 1.9}),
    "xarm7": ("UFACTORY xArm 7", {"joint2": -0.4, "joint4": 1.1}),
    "kinova": ("Kinova Jaco", {"j2s6s200_joint_2": 3.9, "j2s6s200_joint_3": 2.2}),
    "baxter": ("Rethink Baxter", {}),
    "tiago": ("PAL TIAGo", {"arm_2_joint": -0.4, "arm_4_joint": 1.2}),
    "talos_reduced": ("PAL TALOS", {}),
    "anymal": ("ANYbotics ANYmal", {}),
    "solo12": ("Solo 12", {f"{leg}_KFE": -1.2 for leg in ("FL", "FR")}),
    "allegro_left_hand": ("Allegro hand", {}),
}
"""Robots of example-robot-data: file, name, positions of joints."""

HEAD = """# Gallery

Every picture here is a drawing as `robot.plot(q).save("arm.svg")` writes it: vector graphics
without a background, for a page that is light or dark. [Drawings](viewing.md#drawings) says how to
make them; `python tools/docs/gallery.py` draws these again.
"""


def joint_positions(robot: Any, name: str) -> Any:
    """The configuration that a bundled model is shown at."""
    if name in CROUCHED:
        return motion(robot, name)[-1]
    q = robot.configuration(POSES.get(name, {}))
    return robot.assemble(q0=q).q if robot.loops else q


def motion(robot: Any, name: str) -> Any:
    """Configurations (3 or 5, nq) from one position of the actuated joints to another."""
    begin, end = (np.array(each) for each in MOTIONS[name])
    near, rows = robot.assemble(q0=robot.neutral()).q, []
    for share in np.linspace(0.0, 1.0, 5 if robot.n_q < 25 else 3):
        found = robot.assemble(begin + share * (end - begin), q0=near)
        if not found.success:
            raise SystemExit(f"{name}: {found.reason}")
        near = found.q
        rows.append(near)
    return np.array(rows)


def model_picture(name: str) -> str:
    """A bundled model with its shapes."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    robot = lw.load(name)
    return robot.plot(joint_positions(robot, name), size=SIZE).svg


def motion_picture(name: str) -> str:
    """The skeleton of a mechanism on its way."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    robot = lw.load(name)
    return robot.plot(motion(robot, name), shapes=False, labels=False, size=SIZE).svg


def real_picture(name: str) -> str:
    """The skeleton of a robot of example-robot-data."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    files = importlib.metadata.files("example-robot-data") or []
    file = sorted(str(f.locate()) for f in files if f.name == f"{name}.urdf")[0]
    title, positions = REAL[name]
    robot = lw.load(file)
    q = robot.configuration(positions)
    return robot.plot(q, shapes=False, labels=False, size=SIZE, title=title).svg


def path_picture() -> str:
    """An arm on its way, with the curve of its tool and its centre of mass."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    robot = lw.load("ur5e")
    begin, end = [2.6, -1.2, 1.3, -1.6, -1.57, 0.0], [4.2, -1.9, 1.9, -1.5, -1.57, 0.0]
    way = lw.trajectory.point_to_point(begin, end, duration=2.0)
    return robot.plot(path=way, com=True, frames="tool0", size=(420, 340)).svg


def symbols_picture() -> str:
    """A mechanism with names: joints of every tone, a loop, and what stands still."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set

    robot = lw.load("excavator")
    q = robot.assemble([0.0, 0.15, 0.1], q0=robot.neutral()).q
    return robot.plot(q, shapes=False, view="side", size=(420, 340)).svg


def pictures() -> Iterator[tuple[str, Callable[[], str]]]:
    """The name of each picture, and what draws it."""
    from linkwork import models  # noqa: PLC0415 -- after the path is set

    for name in models.MODELS:
        yield name, lambda name=name: model_picture(name)
    for name in MOTIONS:
        yield f"{name}-motion", lambda name=name: motion_picture(name)
    yield "drawing-path", path_picture
    yield "drawing-symbols", symbols_picture
    for name in REAL:
        yield f"real-{name}", lambda name=name: real_picture(name)


def page() -> str:
    """The whole page."""
    from linkwork import models  # noqa: PLC0415 -- after the path is set

    def table(names: Sequence[str], words: Sequence[str]) -> str:
        cells = [
            f"![{word}](gallery/{name}.svg)<br>{word}"
            for name, word in zip(names, words, strict=True)
        ]
        cells += [""] * (-len(cells) % 3)
        rows = [f"| {' | '.join(cells[k : k + 3])} |" for k in range(0, len(cells), 3)]
        return "\n".join(["| | | |", "|---|---|---|", *rows])

    bundled, closed = list(models.MODELS), list(MOTIONS)
    return "\n".join(
        [
            HEAD,
            "## Bundled models",
            "",
            "What each one is, and where its dimensions are from, stands in [models](models.md).",
            "",
            table(bundled, [f"`{name}`" for name in bundled]),
            "",
            "## Closed mechanisms in motion",
            "",
            "Skeletons of mechanisms with loops, with ghosts on the way. Driven joints are orange,",
            "passive ones grey, coupled ones purple; a green ring marks where a loop closes, and a",
            "green line is a rod. `robot.plot(qs, shapes=False)` draws them.",
            "",
            table([f"{name}-motion" for name in closed], [f"`{name}`" for name in closed]),
            "",
            "## Robots of others",
            "",
            "Skeletons of ten robots of example-robot-data (extra `robots`): kinematics alone.",
            "Where their meshes are at hand, `robot.plot(q)` draws their shapes.",
            "",
            table([f"real-{name}" for name in REAL], [title for title, _ in REAL.values()]),
            "",
            "## Offline pages",
            "",
            "Files that open from a disk, with sliders, a handle for inverse kinematics, and loops",
            "that stay closed ([one offline page](viewing.md#one-offline-page)):",
            ", ".join(f"[`{name}`](../examples/pages/{name}.html)" for name in OFFLINE) + ".",
            "",
        ]
    )


def offline_page(name: str) -> str:
    """The text of an offline page, with a motion to be played."""
    import linkwork as lw  # noqa: PLC0415 -- after the path is set
    from linkwork.view.motion import sweep  # noqa: PLC0415
    from linkwork.view.page import PageRobot, page_data, page_text  # noqa: PLC0415

    robot = lw.load(name)
    shown = PageRobot(robot, POSES.get(name))
    return page_text(page_data([shown], trajectory=sweep(robot)))


def frame_of(page: str) -> str:
    """The text of a page without its data, whose last digits may differ between processors."""
    return re.sub(r'(id="data">).*?</script>', r"\1", page, flags=re.DOTALL)


def alike(a: str, b: str) -> bool:
    """Whether two pictures are the same but for the last digit of their numbers."""
    number = re.compile(r"-?\d*\.?\d+")
    if number.sub("#", a) != number.sub("#", b):
        return False
    pairs = zip(number.findall(a), number.findall(b), strict=True)
    return all(abs(float(x) - float(y)) <= 0.21 for x, y in pairs)


def outdated() -> Iterator[str]:
    """What is not as it would be written now."""
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        yield "docs/gallery.md"
    known = {f"{name}.svg" for name, _ in pictures()}
    there = {path.name for path in FOLDER.glob("*")}
    yield from (f"docs/gallery/{name}" for name in sorted(known ^ there))
    for name, made in (
        ("scara", lambda: model_picture("scara")),
        ("five_bar-motion", lambda: motion_picture("five_bar")),
    ):
        path = FOLDER / f"{name}.svg"
        if not path.exists() or not alike(path.read_text(encoding="utf-8"), made()):
            yield f"docs/gallery/{name}.svg"
    path = PAGES / f"{OFFLINE[0]}.html"
    kept = path.read_text(encoding="utf-8") if path.exists() else ""
    if frame_of(kept) != frame_of(offline_page(OFFLINE[0])):
        yield path.relative_to(ROOT).as_posix()


def main() -> int:
    """Write or check; the exit code."""
    parser = argparse.ArgumentParser(description="write the gallery of drawings")
    parser.add_argument("--check", action="store_true", help="only say whether it is up to date")
    if parser.parse_args().check:
        found = list(outdated())
        if found:
            print(f"out of date: {', '.join(found)}; run python tools/docs/gallery.py")
        return 1 if found else 0
    FOLDER.mkdir(exist_ok=True)
    for name, made in pictures():
        text = made()
        if len(text.encode()) > MOST_BYTES:
            print(f"{name}.svg has {len(text.encode())} bytes, more than {MOST_BYTES}")
            return 1
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
    PAGES.mkdir(exist_ok=True)
    for name in OFFLINE:
        (PAGES / f"{name}.html").write_text(offline_page(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
