"""Mechanisms with more closure than they need, next to or at which their branches meet."""

from __future__ import annotations

from typing import Any

import numpy as np

import linkwork as lw


def _bar(name: str, end: str) -> str:
    """A slender bar of 1 kg from the origin to ``end``, with some thickness."""
    x = np.array([float(t) for t in end.split()])
    own = (x @ x * np.eye(3) - np.outer(x, x)) / 12.0 + 1e-3 * np.eye(3)
    inertia = " ".join(
        f'i{"xyz"[i]}{"xyz"[j]}="{own[i, j]:.17g}"' for i in range(3) for j in range(i, 3)
    )
    middle = " ".join(f"{t:.17g}" for t in 0.5 * x)
    return (
        f'<link name="{name}"><inertial><origin xyz="{middle}"/><mass value="1"/>'
        f"<inertia {inertia}/></inertial></link>"
    )


def _joint(name: str, parent: str, child: str, at: str, rpy: str = "0 0 0", kind: str = "") -> str:
    kind = kind or "continuous"
    axis = '<axis xyz="0 0 1"/>' if kind != "fixed" else ""
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}" rpy="{rpy}"/>{axis}</joint>'
    )


def four_bar(*off: float) -> Any:
    """Parallelograms in the plane of x and y, rods of 0.4 m and bars of 1 m, one rod longer each.

    ``off`` tells by how much; loops are hinge0, hinge1, ... and joints a0, b0, c0, a1, ... At zero
    each is a line, where its two branches meet: (a, -a, a) is the parallelogram's.
    """
    text = '<robot name="parallelogram"><link name="ground"/>'
    for k, more in enumerate(off):
        rod = f"{0.4 + more:.17g} 0 0"
        text += _bar(f"left{k}", "0.4 0 0") + _bar(f"coupler{k}", "1 0 0") + _bar(f"right{k}", rod)
        text += f'<link name="end{k}"/><link name="tip{k}"/>'
        text += _joint(f"a{k}", "ground", f"left{k}", "0 0 0")
        text += _joint(f"b{k}", f"left{k}", f"coupler{k}", "0.4 0 0")
        text += _joint(f"c{k}", "ground", f"right{k}", "1 0 0")
        text += _joint(f"end{k}", f"coupler{k}", f"end{k}", "1 0 0", kind="fixed")
        text += _joint(f"tip{k}", f"right{k}", f"tip{k}", rod, kind="fixed")
    robot = lw.load(text + "</robot>")
    for k in range(len(off)):
        robot = robot.with_loop(f"end{k}", f"tip{k}", "revolute", name=f"hinge{k}")
    return robot.with_actuated([f"a{k}" for k in range(len(off))])


def bennett(twist: float = 0.6, lengths: tuple[float, float] = (0.5, 0.8)) -> Any:
    """Bennett's linkage: four hinges with skew axes, opposite bars alike, sin(twist) / length too.

    It moves although counting freedoms forbids it: its closure has redundant rows everywhere.
    """
    a, b = lengths
    other = float(np.arcsin(np.sin(twist) * b / a))
    turns = [f"{x:.17g} 0 0" for x in (twist, other, twist, other)]
    ends = [f"{x} 0 0" for x in (a, b, a, b)]
    text = (
        '<robot name="bennett"><link name="ground"/>'
        + _bar("one", ends[1]) + _bar("two", ends[2]) + _bar("three", ends[3])
        + '<link name="end"/>'
        + _joint("a", "ground", "one", ends[0], turns[0])
        + _joint("b", "one", "two", ends[1], turns[1])
        + _joint("c", "two", "three", ends[2], turns[2])
        + _joint("end", "three", "end", ends[3], turns[3], kind="fixed") + "</robot>"
    )  # fmt: skip
    return lw.load(text).with_loop("ground", "end", "revolute", name="hinge").with_actuated("a")
