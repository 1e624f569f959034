"""Mechanisms with loops whose motion is known, for tests of simulations."""

from __future__ import annotations

import numpy as np

from linkwork.mechanism import edit
from linkwork.mechanism.model import Mechanism
from robots import mechanism_from

ROD, COUPLER = (0.7, 0.4), (1.1, 0.8)  # mass, length
_NONE = 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"'


def _bar(name: str, mass: float, at: str) -> str:
    """A bar whose mass is in one point."""
    return (
        f'<link name="{name}"><inertial><origin xyz="{at}"/><mass value="{mass}"/>'
        f"<inertia {_NONE}/></inertial></link>"
    )


def _joint(name: str, parent: str, child: str, at: str) -> str:
    return (
        f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}"/><axis xyz="0 1 0"/></joint>'
    )


def parallelogram(kind: str = "pose") -> Mechanism:
    """A coupler on two equal rods, swinging about y: a, then b, then c beside. At zero it hangs.

    ``pose``: the loop is closed by all six rows, of which four follow from the others.
    """
    (mass, r), (heavy, d) = ROD, COUPLER
    text = (
        '<robot name="parallelogram"><link name="base"/>'
        + _bar("left", mass, f"0 0 {-0.5 * r}")
        + _bar("coupler", heavy, f"{0.5 * d} 0 0")
        + _bar("right", mass, f"0 0 {-0.5 * r}")
        + '<link name="end"/><link name="tip"/>'
        + _joint("a", "base", "left", "0 0 0")
        + _joint("b", "left", "coupler", f"0 0 {-r}")
        + _joint("c", "base", "right", f"{d} 0 0")
        + '<joint name="end" type="fixed"><parent link="coupler"/><child link="end"/>'
        + f'<origin xyz="{d} 0 0"/></joint>'
        + '<joint name="tip" type="fixed"><parent link="right"/><child link="tip"/>'
        + f'<origin xyz="0 0 {-r}"/></joint></robot>'
    )
    axes = ("xz", "") if kind == "point" else "position"
    closed = edit.close(mechanism_from(text), "end", "tip", axes, name="hinge")
    return edit.actuate(closed, ["a"])


def equal_pendulum() -> tuple[float, float]:
    """Inertia about the pivots (kg m²) and m g l over g (kg m) of the parallelogram's swing."""
    (mass, r), (heavy, _) = ROD, COUPLER
    return 2.0 * mass * (0.5 * r) ** 2 + heavy * r * r, 2.0 * mass * 0.5 * r + heavy * r


def swung(angle: float) -> np.ndarray:
    """The parallelogram with its rods turned by an angle."""
    return np.array([angle, -angle, angle])
