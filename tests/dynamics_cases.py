"""Mechanisms for dynamics, their states, and algorithms on rows, on numbers and on CasADi's SX.

CasADi's differentiation and its machine are judges of ours.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as cs
import numpy as np

from graph_values import of_traced
from linkwork.algorithms import registry
from linkwork.algorithms.registry import find
from linkwork.compile.symbolic import on_symbols
from linkwork.compile.tracing import Traced, trace
from linkwork.loading import load
from linkwork.mechanism.dynamics_checks import check_inertias, check_movable
from linkwork.mechanism.model import Mechanism
from robots import ALL_TYPES, every_joint_urdf, mechanism_from, random_configuration, random_tree
from seeds import rng

_BOX = (
    '<inertial><origin xyz="0.03 -0.02 0.04" rpy="0.2 0.1 -0.3"/><mass value="0.7"/>'
    '<inertia ixx="0.002" ixy="0.0003" ixz="-0.0001" iyy="0.003" iyz="0.0002" izz="0.0025"/>'
    "</inertial>"
)
_BASES = ("fixed", "floating")
TREES = {  # the joints' types, and the share of coupled ones
    "everything": (ALL_TYPES, 0.25),
    "turns and slides": (("revolute", "prismatic"), 0.0),
    "coupled": (("revolute", "continuous", "prismatic"), 0.6),
    "planar and floating": (("planar", "floating"), 0.0),
    "spherical": (("spherical", "revolute", "spherical"), 0.0),
}


def solid(text: str) -> str:
    """The description with a weight for each link that has none."""
    return re.sub(r'<link name="(\w+)"/>', rf'<link name="\1">{_BOX}</link>', text)


@functools.cache
def case_texts() -> dict[str, tuple[str, str]]:
    """Descriptions, with their bases, in which forces determine every acceleration."""
    random = rng("dynamics cases")
    found = {f"every joint, {base}": (solid(every_joint_urdf()), base) for base in _BASES}
    for name, (types, mimic) in TREES.items():
        for k, base in enumerate(_BASES):
            text = solid(random_tree(random, 5 - k, types, mimic=mimic))
            found[f"{name}, {base}"] = (text, base)
    return found


@functools.cache
def case(name: str) -> Mechanism:
    """The mechanism of one of `case_texts`."""
    m = mechanism_from(*case_texts()[name])
    check_inertias(m)
    check_movable(m)
    return m


def states(m: Mechanism, random: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    """Configurations (n, nq), velocities (n, nv), accelerations (n, nv)."""
    q = np.array([random_configuration(random, m) for _ in range(n)])
    return q, random.normal(size=(n, m.n_v)), random.normal(size=(n, m.n_v))


def static_of(algorithm: str, m: Mechanism, frame: str) -> dict[str, str]:
    """The frames that an algorithm takes: the one that is named, relative to the first link."""
    given = {"base": m.frame_names[0], "frame": frame}
    return {key: name for key, name in given.items() if key in find(algorithm).static}


def random_inputs(
    name: str, m: Mechanism, draw: np.random.Generator, rows: int | None = None
) -> list[np.ndarray]:
    """What an algorithm is called with: one configuration, velocity, ..., or so many of each."""

    def one(kind: str) -> np.ndarray:
        return random_configuration(draw, m) if kind == "q" else draw.normal(size=m.n_v)

    kinds = [kind for _, kind in find(name).inputs]
    if rows is None:
        return [one(kind) for kind in kinds]
    return [np.array([one(kind) for _ in range(rows)]) for kind in kinds]


def evaluate(
    name: str,
    m: Mechanism,
    *arrays: Any,
    parameters: Mapping[str, Any] | None = None,
    **static: Any,
) -> Any:
    """`registry.evaluate`, which takes SX as well: an SX then, or a list of them."""
    given = dict(parameters or {})
    blocks = [*arrays, *given.values()]
    n = len(arrays)

    def run(*blocks: Any) -> Any:
        values = dict(zip(given, blocks[n:], strict=True))
        return registry.evaluate(name, m, *blocks[:n], parameters=values, **static)

    if any(isinstance(block, cs.SX) for block in blocks):
        return on_symbols(lambda o, *lifted: run(*lifted), *blocks)
    return run(*blocks)


def as_column(result: Any) -> cs.SX:
    """A block, or a list of them, as one dense column in row-major order."""
    blocks = result if isinstance(result, list) else [result]
    # CasADi counts column after column: transposed, a matrix comes out row after row
    return cs.vertcat(*[cs.vec(cs.densify(block).T) for block in blocks])


def graph(name: str, m: Mechanism, parameters: Sequence[str] = (), **static: str) -> cs.Function:
    """An algorithm as a CasADi function of columns, its output one column in row-major order."""
    return _graph(name, m, tuple(parameters), tuple(sorted(static.items())))


@functools.lru_cache(maxsize=32)
def _graph(name: str, m: Mechanism, parameters: tuple[str, ...], static: Any) -> cs.Function:
    sizes = find(name).sizes(m, parameters)
    symbols = {key: cs.SX.sym(f"x{k}", size) for k, (key, size) in enumerate(sizes.items())}
    own = [symbols[key] for key in sizes if key not in parameters]
    given = {key: symbols[key] for key in parameters}
    result = evaluate(name, m, *own, parameters=given, **dict(static))
    return cs.Function("f", list(symbols.values()), [as_column(result)])


def rows(
    name: str,
    m: Mechanism,
    *arrays: np.ndarray,
    parameters: Mapping[str, np.ndarray] | None = None,
    **static: str,
) -> np.ndarray:
    """An algorithm on rows of inputs; parameters are the same for all rows, or rows as well."""
    given, n = dict(parameters or {}), len(arrays[0])
    values = [np.broadcast_to(value, (n, np.shape(value)[-1])) for value in given.values()]
    return of_traced(_traced(name, m, tuple(given), tuple(static.items())), *arrays, *values)


@functools.lru_cache(maxsize=32)
def _traced(name: str, m: Mechanism, parameters: tuple[str, ...], static: Any) -> Traced:
    return trace(name, m, parameters, **dict(static))


def near(got: Any, expected: Any, within: float = 1e-11) -> None:
    """Alike within this share of the largest number, or of 1."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(got, expected, rtol=0, atol=within * scale)


def condition(M: np.ndarray) -> float:
    """How far apart, at most, the smallest and the largest number are that matrices lead to."""
    return max(1e3, float(np.linalg.cond(M).max()))


def everything(m: Mechanism, random: np.random.Generator) -> dict[str, np.ndarray]:
    """Values for all that may count in dynamics besides: on two frames that move, too."""
    moving = [k for k, b in enumerate(m.frame_body) if b > 0 or m.body_joint_types[0].n_v]
    frames = {m.frame_names[int(random.choice(moving))] for _ in range(2)}
    found = {f"wrench:{name}": random.normal(size=6) for name in sorted(frames)}
    found["gravity"] = random.normal(size=3) * 5
    for name in ("armature", "damping", "friction"):
        found[name] = random.uniform(0.1, 1, m.n_v)
    return found


def differences(function: Any, q: np.ndarray, m: Mechanism, h: float = 1e-3) -> np.ndarray:
    """Central differences of rows of results along `integrate`, in a new last axis (nv).

    Fourth order: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h. ``function`` takes rows of q, and
    gets each row 4 nv times, one after the other.
    """
    steps = np.concatenate([h * k * np.eye(m.n_v) for k in (1, -1, 2, -2)])
    moved = rows("integrate", m, np.repeat(q, len(steps), axis=0), np.tile(steps, (len(q), 1)))
    values = function(moved)
    values = values.reshape(len(q), 4, m.n_v, *values.shape[1:])
    near_, back, far, far_back = (values[:, k] for k in range(4))
    return np.moveaxis((8 * (near_ - back) - (far - far_back)) / (12 * h), 1, -1)


def small_mechanisms() -> list[Mechanism]:
    """An arm, a floating body with a coupled pair of joints, and a planar joint.

    JAX compiles dynamics number by number, which takes long for more joints.
    """
    return [
        load("scara").mechanism,
        mechanism_from(_FLOATING, base="floating"),
        mechanism_from(_PLANAR),
    ]


_FLOATING = solid("""<robot name="floating"><link name="base"/><link name="arm"/><link name="rod"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
<origin xyz="0.1 0 0.2"/><axis xyz="0 1 0"/></joint>
<joint name="slide" type="prismatic"><parent link="base"/><child link="rod"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" velocity="1" effort="1"/><mimic joint="turn" multiplier="0.5"/></joint>
</robot>""")
_PLANAR = solid("""<robot name="planar"><link name="base"/><link name="table"/><link name="arm"/>
<joint name="plane" type="planar"><parent link="base"/><child link="table"/>
<origin xyz="0 0.5 0" rpy="0.1 0.1 0"/><axis xyz="0.3 0.4 1"/></joint>
<joint name="turn" type="continuous"><parent link="table"/><child link="arm"/>
<origin xyz="0.1 0 0.2"/><axis xyz="0 1 0"/></joint></robot>""")
