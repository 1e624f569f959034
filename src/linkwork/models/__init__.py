"""The robots that come with Linkwork: a catalogue, and where each one's URDF file lies.

The files are our own, written from published dimensions by tools/models/generate.py. What comes
from where stands at the head of each file.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from linkwork.errors import UnknownNameError

__all__ = ["MODELS", "Model", "path"]


@dataclass(frozen=True, slots=True)
class Model:
    """One bundled robot.

    ``source`` says where dimensions and inertias come from; ``tip`` is the frame that inverse
    kinematics is usually asked for; ``degrees_of_freedom`` counts the velocities with a fixed base
    that the loops leave. ``closed`` says whether there are any: they stand in ``NAME.loops.yaml``.
    """

    name: str
    summary: str
    source: str
    tip: str
    degrees_of_freedom: int
    closed: bool = False


_ALL = (
    Model(
        "planar_2r",
        "two bars turning in the plane: the textbook arm",
        "dimensions and inertias ours",
        "tool0",
        2,
    ),
    Model(
        "planar_3r",
        "three bars turning in the plane",
        "dimensions and inertias ours",
        "tool0",
        3,
    ),
    Model(
        "scara",
        "four-axis SCARA with a sliding and turning quill",
        "dimensions of the Adept One (Schilling 1990); inertias ours",
        "tool0",
        4,
    ),
    Model(
        "puma560",
        "Unimation PUMA 560: six joints, spherical wrist",
        "dimensions and inertias: Armstrong, Khatib, Burdick 1986",
        "tool0",
        6,
    ),
    Model(
        "ur5e",
        "Universal Robots UR5e: six joints",
        "dimensions, masses, centres of mass: Universal Robots; inertia tensors ours",
        "tool0",
        6,
    ),
    Model(
        "panda",
        "Panda-like arm: seven joints",
        "dimensions and limits: Franka Emika; inertias: Gaz and others 2019",
        "tool0",
        7,
    ),
    Model(
        "two_arm_torso",
        "two seven-joint arms with grippers on a torso that lifts and turns",
        "dimensions and inertias ours",
        "left_tool0",
        18,
    ),
    Model(
        "mobile_arm",
        "wheeled base moving in the plane, six-joint arm, parallel gripper",
        "dimensions and inertias ours",
        "tool0",
        14,
    ),
    Model(
        "quadruped",
        "four legs of three joints, the Mini Cheetah's size",
        "dimensions and masses: Katz, Di Carlo, Kim 2019; inertia tensors ours",
        "fl_foot",
        12,
    ),
    Model(
        "humanoid",
        "thirty joints, the proportions of a person of 1.70 m and 60 kg",
        "segment lengths: Drillis, Contini 1966; masses: Winter 2009; inertia tensors ours",
        "right_hand",
        30,
    ),
    Model(
        "four_bar",
        "a crank and a rocker, joined by a coupler",
        "dimensions and inertias ours",
        "coupler_end",
        1,
        closed=True,
    ),
    Model(
        "slider_crank",
        "a crank, a rod and a slider in line with it",
        "dimensions and inertias ours",
        "slider_link",
        1,
        closed=True,
    ),
    Model(
        "five_bar",
        "two driven bars, and two that meet at the tool",
        "dimensions and inertias ours",
        "tool0",
        2,
        closed=True,
    ),
    Model(
        "stewart",
        "a platform on six driven legs: universal joint, slide, ball",
        "dimensions and inertias ours",
        "tool0",
        6,
        closed=True,
    ),
    Model(
        "delta",
        "three driven arms, three pairs of rods, a platform that stays level",
        "dimensions and inertias ours",
        "tool0",
        3,
        closed=True,
    ),
    Model(
        "excavator",
        "turntable, boom and stick, moved by two cylinders",
        "dimensions and inertias ours",
        "tool0",
        3,
        closed=True,
    ),
    Model(
        "gripper",
        "two jaws on parallelograms, which stay parallel, driven by gears",
        "dimensions and inertias ours",
        "left_tip",
        1,
        closed=True,
    ),
    Model(
        "linkage_leg",
        "a quadruped's leg, its knee bent from the hip through a four-bar",
        "dimensions and inertias ours",
        "foot",
        3,
        closed=True,
    ),
    Model(
        "double_wishbone",
        "a car's corner: two A-arms, upright and wheel, steering rack, coil-over",
        "dimensions and inertias ours",
        "wheel_link",
        3,
        closed=True,
    ),
    Model(
        "triped_leg",
        "a leg of the TriPed: two levers swing it by rods, a driven knee",
        "dimensions: TriP's documentation of the TriPed; inertias ours",
        "foot",
        4,
        closed=True,
    ),
    Model(
        "triped",
        "the TriPed: three such legs around one base",
        "dimensions: TriP's documentation of the TriPed; inertias ours",
        "leg_0_foot",
        12,
        closed=True,
    ),
)

MODELS: dict[str, Model] = {model.name: model for model in _ALL}


def path(name: str) -> Path:
    """The URDF file of a bundled model.

    Raises: UnknownNameError with the nearest names.
    """
    if name not in MODELS:
        raise UnknownNameError("bundled model", name, tuple(MODELS))
    return Path(__file__).resolve().with_name(f"{name}.urdf")
