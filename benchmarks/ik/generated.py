"""Chains made by code, as URDF: a snake, random chains, a base that drives, one that floats."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import numpy as np

Three = Sequence[float]


def joint(
    root: ET.Element, name: str, kind: str, parent: str, *,
    xyz: Three = (0, 0, 0), rpy: Three = (0, 0, 0), axis: Three = (0, 0, 1),
    limits: tuple[float, float] | None = None,
) -> str:  # fmt: skip
    """Add a joint and its child link, whose name is the joint's and "_link"; gives that."""
    child = f"{name}_link"
    ET.SubElement(root, "link", name=child)
    made = ET.SubElement(root, "joint", name=name, type=kind)
    ET.SubElement(made, "origin", xyz=_text(xyz), rpy=_text(rpy))
    ET.SubElement(made, "parent", link=parent)
    ET.SubElement(made, "child", link=child)
    if kind != "fixed":
        ET.SubElement(made, "axis", xyz=_text(axis))
    if limits is not None:
        ET.SubElement(
            made, "limit", lower=repr(limits[0]), upper=repr(limits[1]), effort="1", velocity="1"
        )
    return child


def _text(numbers: Three) -> str:
    return " ".join(repr(float(x)) for x in numbers)


def snake(joints: int) -> ET.Element:
    """Joints in turn about y and z, 0.1 m apart, each free to turn by 1.2 rad either way."""
    root = ET.Element("robot", name=f"snake{joints}")
    ET.SubElement(root, "link", name="base")
    last = "base"
    for k in range(joints):
        axis = (0, 1, 0) if k % 2 == 0 else (0, 0, 1)
        last = joint(
            root, f"j{k + 1}", "revolute", last, xyz=(0.1, 0, 0), axis=axis, limits=(-1.2, 1.2)
        )
    joint(root, "end", "fixed", last, xyz=(0.1, 0, 0))
    return root


def random_chain(joints: int, number: int) -> ET.Element:
    """A chain of turning, sliding and endlessly turning joints; the same for the same numbers.

    Axes and places are anywhere, links 0.1 to 0.4 m long; a joint turns by 1 to 3 rad either way,
    or slides by 0.1 to 0.4 m. At least four joints turn.
    """
    rng = np.random.default_rng((joints, number))
    root = ET.Element("robot", name=f"random{joints}_{number}")
    ET.SubElement(root, "link", name="base")
    kinds = ["revolute"] * 4 + list(
        rng.choice(["revolute", "prismatic", "continuous"], size=joints - 4, p=[0.5, 0.35, 0.15])
    )
    rng.shuffle(kinds)
    last = "base"
    for k, kind in enumerate(str(each) for each in kinds):
        xyz, axis = rng.normal(size=3), rng.normal(size=3)
        xyz *= rng.uniform(0.1, 0.4) / np.linalg.norm(xyz)
        rpy = rng.uniform(-math.pi, math.pi, 3)
        half = float(rng.uniform(1.0, 3.0) if kind == "revolute" else rng.uniform(0.1, 0.4))
        limits = None if kind == "continuous" else (-half, half)
        unit = (axis / np.linalg.norm(axis)).tolist()
        last = joint(
            root, f"j{k + 1}", kind, last,
            xyz=xyz.tolist(), rpy=rpy.tolist(), axis=unit, limits=limits,
        )  # fmt: skip
    joint(root, "end", "fixed", last, xyz=(0.1, 0.05, 0))
    return root


def on_base(root: ET.Element, base: str, *, floating: bool) -> ET.Element:
    """Put a robot on joints that stand for a free base, under a new root link ``floor``.

    It drives by 2 m each way and turns endlessly; or floats by 0.5 m, turning by 0.5 rad about each
    axis. Slides and turns, and no joint of a kind that half of the sides would not know.
    """
    ET.SubElement(root, "link", name="floor")
    last, axes = "floor", {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    far = 0.5 if floating else 2.0
    for name in "xyz" if floating else "xy":
        last = joint(root, f"base_{name}", "prismatic", last, axis=axes[name], limits=(-far, far))
    for name in "zyx" if floating else "z":
        limits, kind = ((-0.5, 0.5), "revolute") if floating else (None, "continuous")
        last = joint(root, f"base_turn_{name}", kind, last, axis=axes[name], limits=limits)
    made = ET.SubElement(root, "joint", name="base_carries", type="fixed")
    ET.SubElement(made, "parent", link=last)
    ET.SubElement(made, "child", link=base)
    return root


def save(root: ET.Element, path: Path) -> Path:
    """Write a description."""
    path.parent.mkdir(parents=True, exist_ok=True)
    ET.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    return path
