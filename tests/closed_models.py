"""Mechanisms with loops whose motion is known, for tests of simulations."""

from __future__ import annotations

import math

import numpy as np

import linkwork as lw
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


LENGTH, TWISTS = 0.4, (0.6, 1.1)  # of a Bennett linkage: of one link, and of both


def bennett(size: float = 1.0) -> lw.Robot:
    """Bennett's linkage: four hinges in space whose rows are redundant by lengths and twists alone.

    Links of length a and twist alpha, b and beta in turn, with a / sin(alpha) = b / sin(beta);
    masses of 1 kg. ``size`` multiplies lengths.
    """
    alpha, beta = TWISTS
    a = LENGTH * size
    b = a * math.sin(beta) / math.sin(alpha)
    text = (
        '<robot name="bennett"><link name="base"/>'
        + "".join(_link(name, length) for name, length in (("l1", a), ("l2", b), ("l3", a)))
        + '<link name="end"/><link name="foot"/>'
        + _hinge("j1", "base", "l1", 0.0, 0.0)
        + _hinge("j2", "l1", "l2", a, alpha)
        + _hinge("j3", "l2", "l3", b, beta)
        + _hinge("j4", "l3", "end", a, alpha, "fixed")
        + _hinge("foot", "base", "foot", -b, -beta, "fixed")
        + "</robot>"
    )
    return lw.load(text).with_loop("foot", "end", "revolute", name="hinge").with_actuated("j1")


def bennett_angle(angle: float) -> float:
    """The second angle of Bennett's linkage, by its first.

    Source: G. T. Bennett, "A new mechanism", Engineering 76 (1903).
    """
    alpha, beta = TWISTS
    share = math.sin(0.5 * (beta + alpha)) / math.sin(0.5 * (beta - alpha))
    return 2.0 * math.atan(share / math.tan(0.5 * angle))


def _link(name: str, length: float) -> str:
    inertia = length * length / 12.0
    return (
        f'<link name="{name}"><inertial><origin xyz="{0.5 * length!r} 0 {0.1 * length!r}"/>'
        f'<mass value="1"/><inertia ixx="{inertia!r}" iyy="{1.2 * inertia!r}" '
        f'izz="{0.9 * inertia!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )


def _hinge(
    name: str, parent: str, child: str, along: float, twist: float, kind: str = "continuous"
) -> str:
    """A hinge about z, where a link of this length and twist ends."""
    axis = "" if kind == "fixed" else '<axis xyz="0 0 1"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{along!r} 0 0" rpy="{twist!r} 0 0"/>{axis}</joint>'
    )
