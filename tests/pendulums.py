"""Mechanisms whose motion is known, and one library of compiled simulations for all tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork import settings
from linkwork.mechanism.model import Mechanism
from linkwork.simulation.inputs import Options, Request, request_of
from linkwork.simulation.result import Simulation
from linkwork.simulation.time_loop import Library, run
from robots import mechanism_from
from seeds import rng

LIBRARY = Library(settings.compiler())

_SMALL = 'ixy="0" ixz="0" iyz="0"'


def pendulum_urdf(n: int, *, mass: float = 1.0, length: float = 1.0, more: str = "") -> str:
    """A chain of n equal point masses on rods without weight, swinging about y: j1, j2, ..."""
    links = ['<link name="base"/>']
    joints: list[str] = []
    for k in range(1, n + 1):
        inertia = f'<inertia ixx="0" iyy="0" izz="0" {_SMALL}/>'
        links.append(
            f'<link name="l{k}"><inertial><origin xyz="0 0 {-length}"/><mass value="{mass}"/>'
            f"{inertia}</inertial></link>"
        )
        parent, z = ("base", 0.0) if k == 1 else (f"l{k - 1}", -length)
        joints.append(
            f'<joint name="j{k}" type="continuous"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="0 0 {z}"/><axis xyz="0 1 0"/>{more}</joint>'
        )
    return f'<robot name="pendulum{n}">{"".join(links)}{"".join(joints)}</robot>'


def pendulum(n: int, **how: Any) -> Mechanism:
    """The mechanism of `pendulum_urdf`."""
    return mechanism_from(pendulum_urdf(n, **how))


def slider_urdf(limits: str = 'lower="-0.5" upper="0.5"') -> str:
    """A mass of 2 kg that slides along x between limits."""
    return f"""<robot name="slider"><link name="base"/>
      <link name="block"><inertial><mass value="2"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" {_SMALL}/></inertial></link>
      <joint name="slide" type="prismatic"><parent link="base"/><child link="block"/>
        <axis xyz="1 0 0"/><limit {limits} effort="100" velocity="10"/>
        <dynamics damping="3" friction="0"/></joint></robot>"""


def brick() -> Mechanism:
    """One free body with three different moments of inertia, its centre of mass off the origin."""
    return mechanism_from(
        f"""<robot name="brick"><link name="brick"><inertial><origin xyz="0.1 -0.05 0.2"/>
        <mass value="3"/><inertia ixx="0.02" iyy="0.05" izz="0.06" {_SMALL}/></inertial></link>
        </robot>""",
        "floating",
    )


def free_tree(n: int = 10, label: str = "free tree") -> Mechanism:
    """A floating tree of n bodies, branching, with skew axes."""
    random = rng(label)
    links: list[str] = []
    joints: list[str] = []
    for k in range(n):
        xyz, size = random.uniform(-0.1, 0.1, 3), random.uniform(0.01, 0.02, 3)
        links.append(
            f'<link name="l{k}"><inertial><origin xyz="{_text(xyz)}"/>'
            f'<mass value="{random.uniform(0.5, 1.5)}"/><inertia ixx="{size[0]}" iyy="{size[1]}" '
            f'izz="{size[2]}" {_SMALL}/></inertial></link>'
        )
        if k:
            where, axis = random.uniform(-0.3, 0.3, 3), random.standard_normal(3)
            parent = int(random.integers(max(0, k - 3), k))
            joints.append(
                f'<joint name="j{k}" type="continuous"><parent link="l{parent}"/>'
                f'<child link="l{k}"/><origin xyz="{_text(where)}" rpy="{_text(where)}"/>'
                f'<axis xyz="{_text(axis)}"/></joint>'
            )
    return mechanism_from(
        f'<robot name="tree">{"".join(links)}{"".join(joints)}</robot>', "floating"
    )


def _text(values: Any) -> str:
    return " ".join(f"{x:.17g}" for x in values)


def request(m: Mechanism, q0: Any, v0: Any = None, duration: float = 1.0, **how: Any) -> Request:
    """A checked request."""
    options = Options(duration=duration, **how)
    return request_of(
        m, q0, v0, options, inertias=lambda q, _rotors: np.ones((*q.shape[:-1], m.n_v))
    )


def simulated(
    m: Mechanism, q0: Any, v0: Any = None, duration: float = 1.0, **how: Any
) -> Simulation:
    """A simulation with the tests' library, on one thread unless it is told otherwise."""
    threads, progress = how.pop("threads", 1), how.pop("progress", None)
    options = Options(duration=duration, **how)
    return run(m, q0, v0, options, library=LIBRARY, threads=threads, progress=progress)


def orders(errors: Any) -> np.ndarray:
    """The orders that errors at halved steps show."""
    values = np.asarray(errors)
    return np.log2(values[:-1] / values[1:])
