"""The chains that inverse kinematics is measured on, and what is asked of each."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus.packages import folder as package_folder
from benchmarks.ik import generated
from benchmarks.ik.question import POSE, Question
from benchmarks.tasks import ARMS, ROBOTS, Robot, Task, prepare


@dataclass(frozen=True)
class Chain:
    """A robot of a file, or of a description that ``make`` gives from the data folder."""

    robot: Robot
    group: str  # "five", "eight", "random" or "tasks"
    question: Question = POSE
    make: Callable[[Path], ET.Element] | None = None
    package: str = ""  # that has the file, where it is not the data folder

    def task(self, data: Path, folder: Path) -> Task:
        """The chain made ready in a folder.

        Raises: FileNotFoundError, ValueError, EnvironmentProblem where the file cannot be had.
        """
        if self.package:
            top = package_folder(self.package)
            found = next(iter(sorted(top.rglob(self.robot.file))), None)
            if found is None:
                raise FileNotFoundError(f"{self.package} has no {self.robot.file}")
            data = found.parents[len(Path(self.robot.file).parts) - 1]
        elif self.make is not None:
            made = folder / "made"
            generated.save(self.make(data), made / self.robot.file)
            data = made
        return prepare(self.robot, data, folder)


def _read(file: str) -> Callable[[Path], ET.Element]:
    def root(data: Path) -> ET.Element:
        return ET.parse(data / file).getroot()

    return root


_TALOS = "talos_data/robots/talos_reduced.urdf"
_TIAGO = "tiago_description/robots/tiago.urdf"


def _eight() -> list[Chain]:
    def snake(_data: Path) -> ET.Element:
        return generated.snake(12)

    def driving(data: Path) -> ET.Element:
        return generated.on_base(_read(_TIAGO)(data), "base_footprint", floating=False)

    robots = (
        Robot("icub_arm", "icub_description/robots/icub.urdf", "base_link", "l_hand_dh_frame", 10),
        Robot("xarm7", "xarm_description/urdf/xarm7.urdf", "world", "link_eef", 7),
        Robot("baxter_arm", "baxter_description/urdf/baxter.urdf", "base", "left_gripper", 7),
        Robot(
            "kinova", "kinova_description/robots/kinova.urdf", "base", "j2s6s200_end_effector", 6
        ),
        Robot("tiago_arm", _TIAGO, "base_footprint", "hand_tool_link", 8),
    )
    iiwa = Robot("iiwa", "urdf/lbr_iiwa_14_r820.urdf", "base_link", "tool0", 7)
    return [
        Chain(robots[0], "eight"),
        Chain(Robot("snake12", "snake12.urdf", "base", "end_link", 12), "eight", make=snake),
        Chain(
            Robot("tiago_driving", "tiago_driving.urdf", "floor", "hand_tool_link", 11),
            "eight", make=driving,
        ),
        Chain(iiwa, "eight", package="rtb-data==2.0.0"),
        *(Chain(robot, "eight") for robot in robots[1:]),
    ]  # fmt: skip


def _random(each: int) -> list[Chain]:
    def made(joints: int, number: int) -> Chain:
        name = f"random{joints}_{number}"
        robot = Robot(name, f"{name}.urdf", "base", "end_link", joints)
        return Chain(robot, "random", make=lambda _data: generated.random_chain(joints, number))

    return [made(joints, 1 + k) for joints in range(6, 11) for k in range(each)]


def _tasks() -> list[Chain]:
    """More than a pose, or less: a position, something below, two arms, a humanoid's balance."""

    def floating(data: Path) -> ET.Element:
        return generated.on_base(_read(_TALOS)(data), "base_link", floating=True)

    position = Question("position", turned=False)
    hands = ("gripper_left_base_link", "gripper_right_base_link")
    feet = ("left_sole_link", "right_sole_link")
    below = [
        Question(f"{name} over {under}", turned=turned, under=under)
        for name, turned in (("pose", True), ("position", False))
        for under in ("posture", "centred")
    ]
    two = Robot("talos_two_arms", _TALOS, "base_link", hands[0], 16, more=hands[1:])
    whole = Robot(
        "talos_floating", "talos_floating.urdf", "floor", hands[0], 38, whole=True, spread=0.3
    )
    return [
        *(Chain(ROBOTS[name], "tasks", position) for name in ("panda", "talos_arm")),
        *(Chain(ROBOTS["panda"], "tasks", question) for question in below),
        Chain(two, "tasks", Question("two arms", hands)),
        Chain(
            whole, "tasks", Question("humanoid with centre of mass", (*feet, hands[0]), com=True),
            floating,
        ),
    ]  # fmt: skip


def chains(random: int = 1) -> list[Chain]:
    """All of them, those of the spine first; so many random ones of each length."""
    five = [Chain(ROBOTS[name], "five") for name in ARMS]
    return [*five, *_eight(), *_random(random), *_tasks()]
