"""Compiled calls that fill the values of this face from numbers, without arrays between.

Each is a text of the core's algorithms, arranged as KDL's solvers take and give numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from linkwork import settings
from linkwork.algorithms.registry import find
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.number_call import Number, Numbers, Result, Several, Vector, number_call
from linkwork.compile.recipe import text_recipe
from linkwork.faces.pykdl.digest import digest
from linkwork.faces.pykdl.solver import otherwise
from linkwork.mechanism.model import Mechanism
from linkwork.ops.protocol import Block, Ops
from linkwork.solve.least_squares import least_norm

if TYPE_CHECKING:
    from linkwork.faces.pykdl.core import Core

Call = Callable[..., Any]
Text = Callable[..., Mapping[str, Block]]

MOST_JOINTS = 12
"""Chains with more have their velocities solved by NumPy: what is unrolled grows as the cube."""


def pose_call(core: Core, count: int) -> Call:
    """q to the nine numbers of the rotation behind so many segments, and three of the origin."""

    def text(o: Ops, q: Block) -> dict[str, Block]:
        return {"pose": o.concat(_pose(o, core.robot.mechanism, q, count))}

    sizes = {"q": core.robot.n_q}
    return _made(core, ("pose", str(count)), sizes, text, _numbers(9, 3))


def velocity_call(core: Core, count: int) -> Call:
    """q, v to the numbers of a pose, of its velocity and of its angular velocity: 9, 3, 3, 3."""
    m = core.robot.mechanism

    def text(o: Ops, q: Block, v: Block) -> dict[str, Block]:
        twist = _of(o, m, "frame_velocity", (q, v), frame=str(count), reference="world-aligned")
        return {"motion": o.concat([*_pose(o, m, q, count), twist])}

    sizes = {"q": m.n_q, "v": m.n_v}
    return _made(core, ("velocity", str(count)), sizes, text, _numbers(9, 3, 3, 3))


def twist_call(core: Core, count: int, reference: str) -> Call:
    """q, v to the derivative of a Jacobian times v, as two vectors."""
    m = core.robot.mechanism

    def text(o: Ops, q: Block, v: Block) -> dict[str, Block]:
        static = {"frame": str(count), "reference": reference}
        return {"twist": _of(o, m, "jacobian_dot_v", (q, v), **static)}

    sizes = {"q": m.n_q, "v": m.n_v}
    return _made(core, ("twist", str(count), reference), sizes, text, _numbers(3, 3))


def forces_call(core: Core) -> Call:
    """q, v, dv, gravity, and force and torque for each segment in its own frame, to the forces.

    Those on segments that no joint moves are left out, and not taken.
    """
    m = core.robot.mechanism
    entry = find("inverse_dynamics")
    loaded = list(zip(core.wrenches, range(core.standing + 1, len(core.order)), strict=True))

    def text(
        o: Ops, q: Block, v: Block, dv: Block, gravity: Block, *parts: Block
    ) -> dict[str, Block]:
        poses = _of(o, m, "fk_all", (q,))
        given: dict[str, Block] = {"gravity": gravity}
        for i, (name, k) in enumerate(loaded):
            turn = poses[core.order[k]]
            given[name] = o.concat([_turned(o, turn, x) for x in parts[2 * i : 2 * i + 2]])
        forces = entry.run(o, m, (q, v, dv), given)
        rotors = [float(x) * dv[i] if x else None for i, x in enumerate(core.rotors)]
        total = [forces[i] if x is None else forces[i] + x for i, x in enumerate(rotors)]
        return {"forces": o.vector(total)}

    sizes = {"q": m.n_q, "v": m.n_v, "dv": m.n_v, "gravity": 3}
    sizes |= {f"{part} {k}": 3 for _, k in loaded for part in ("force", "torque")}
    key = ("forces", repr(core.rotors.tolist()))
    return _made(core, key, sizes, text, Vector(m.n_v))


def velocities_call(core: Core, count: int) -> Call:
    """q and a twist as two vectors to the least velocities that come nearest to it.

    With them come a number below the least singular value, and that over the Jacobian's norm; see
    `least_norm`.
    """
    m = core.robot.mechanism
    if not 0 < m.n_v <= MOST_JOINTS:
        return otherwise

    def text(o: Ops, q: Block, linear: Block, angular: Block) -> dict[str, Block]:
        J = _of(o, m, "jacobian", (q,), frame=str(count), reference="world-aligned")
        rows = [[o.row(J, i)[k] for k in range(m.n_v)] for i in range(6)]
        wanted = [x[k] for x in (linear, angular) for k in range(3)]
        x, bound, share = least_norm(o, rows, wanted)
        return {"velocities": o.vector([*x, bound, share])}

    result = Several((Vector(m.n_v), Number(), Number()))
    sizes = {"q": m.n_q, "linear": 3, "angular": 3}
    return _made(core, ("velocities", str(count)), sizes, text, result)


def towards_call(core: Core, count: int) -> Call:
    """As `velocities_call`, and what the twist leaves free goes towards positions.

    q, a twist as two vectors, these positions, weights, and the share of the way in a second.
    """
    m = core.robot.mechanism
    if not 0 < m.n_v <= MOST_JOINTS:
        return otherwise

    def text(
        o: Ops, q: Block, linear: Block, angular: Block, goal: Block, weights: Block, share: Block
    ) -> dict[str, Block]:
        J = _of(o, m, "jacobian", (q,), frame=str(count), reference="world-aligned")
        n = m.n_v
        rows = [[o.row(J, i)[k] for k in range(n)] for i in range(6)]
        way = [goal[k] - q[k] for k in range(n)]
        slope = [weights[k] * way[k] for k in range(n)]
        steepness = o.maximum(_product(slope, slope), 1e-300)  # where that is less, slope is 0
        step = share[0] * _product(slope, way) / steepness
        free = [step * x for x in slope]
        wanted = [x[k] for x in (linear, angular) for k in range(3)]
        rest = [x - _product(row, free) for x, row in zip(wanted, rows, strict=True)]
        x, bound, part = least_norm(o, rows, rest)
        found = [a + b for a, b in zip(x, free, strict=True)]
        return {"velocities": o.vector([*found, bound, part])}

    result = Several((Vector(m.n_v), Number(), Number()))
    sizes = {"q": m.n_q, "linear": 3, "angular": 3, "goal": m.n_v, "weights": m.n_v, "share": 1}
    return _made(core, ("towards", str(count)), sizes, text, result)


def _product(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return reduce(add, [x * y for x, y in zip(a, b, strict=True)])


def _of(o: Ops, m: Mechanism, name: str, inputs: Sequence[Block], **static: Any) -> Any:
    return find(name).run(o, m, inputs, **static)


def _pose(o: Ops, m: Mechanism, q: Block, count: int) -> list[Block]:
    rows = [o.row(_of(o, m, "fk", (q,), frame=str(count)), i) for i in range(3)]
    return [*[o.part(row, 0, 3) for row in rows], o.vector([row[3] for row in rows])]


def _turned(o: Ops, pose: Block, x: Block) -> Block:
    return o.vector([o.dot(o.part(o.row(pose, i), 0, 3), x) for i in range(3)])


def _numbers(*sizes: int) -> Result:
    return Several(tuple(Numbers(size) for size in sizes))


def _made(
    core: Core, key: tuple[str, ...], sizes: Mapping[str, int], text: Text, result: Result
) -> Call:
    recipe = text_recipe(
        ("pykdl", digest(), *key, core.robot.mechanism.digest), "chain", sizes, text
    )
    with COMPILING:
        return number_call(recipe, result, settings.compiler(), otherwise)
