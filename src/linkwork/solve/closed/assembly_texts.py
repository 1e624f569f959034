"""The problem of assembling a mechanism as the texts of the pipeline.

A row is the positions of the actuated joints. Parameters are the positions that the closure depends
on and that are held, then all that is given, so that the answer has it. Rows that the lengths of
sides forbid (`polygons`) get one try, which says how far they stay open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from linkwork.compile.lanes import Stall
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.position_limits import limited_angles
from linkwork.ops.protocol import Block, Ops
from linkwork.solve import cones
from linkwork.solve.closed.polygons import at_rest, excess, polygons
from linkwork.solve.code import Texts
from linkwork.solve.problem import Problem, expanded
from linkwork.solve.step import step
from linkwork.solve.texts import far, inside, verify

STALL = Stall(steps=10, share=0.02)
"""A try that does not get nearer stands in a minimum that is not assembled. Shorter patience ends
tries that pass a saddle slowly, and with them the branch that `near` or neutral would lead to."""


def given_positions(m: Mechanism, actuated: Sequence[str]) -> tuple[int, ...]:
    """The indices in q of the actuated joints, in their order."""
    return tuple(k for name in actuated for k in expanded(m.q_start, [m.joint(name)]))


def assembly_texts(problem: Problem, given: Sequence[int]) -> Texts:
    """The texts of a problem of which q at the indices ``given`` is asked for."""
    held = problem.layout.n_parameters
    place = {k: i for i, k in enumerate(given)}
    m = problem.mechanism
    sides = polygons(m, problem.moved)

    def prepare(o: Ops, target: Block, q0: Block) -> dict[str, Block]:
        own = [target[place[k]] if k in place else q0[k] for k in problem.held]
        fault = [far(o, target, len(given))]
        if sides:
            beyond = excess(o, m, sides, at_rest(o, m, (target, given), q0, problem.moved))
            fault.append(o.select(o.less(0.0, beyond), 1.0, 0.0))
        return {
            "x0": o.vector(inside(o, problem, q0)),
            "parameters": o.vector([*own, *(target[i] for i in range(len(given)))]),
            "fault": o.vector(fault),
            "features": o.vector([]),
        }

    def step_(o: Ops, x: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        after, state = step(o, problem, x, o.part(parameters, 0, held), settings)
        return {"x": after, "state": state}

    def verify_(
        o: Ops, x: Block, q0: Block, parameters: Block, settings: Block
    ) -> dict[str, Block]:
        own = o.part(parameters, 0, held)
        plain = o.vector([0.0] * problem.layout.n_settings)
        found = verify(o, problem, x, q0, own, plain)
        q, measures = found["q"], found["measures"]
        values = [parameters[held + place[k]] if k in place else q[k] for k in range(m.n_q)]
        n = sum(len(task.groups) for task in problem.tasks)
        worst = o.maximum(measures[n], outside(o, m, values, given))
        return {
            "q": o.vector(values),
            "measures": o.vector([*(measures[k] for k in range(n)), worst]),
        }

    return Texts(
        key=("assembly", ",".join(map(str, given)), *problem.key),
        targets=((len(given),),),
        n_q=m.n_q,
        n=len(problem.moved),
        n_parameters=held + len(given),
        n_settings=problem.layout.n_settings,
        verify_needs_settings=False,
        prepare=prepare,
        step=step_,
        verify=verify_,
        stall=STALL,
    )


def outside(o: Ops, m: Mechanism, q: Sequence[Block], indices: Sequence[int]) -> Block:
    """How far these positions of q are outside of their limits; 0 inside."""
    worst: Block = o.const(0.0)
    for k in indices:
        if math.isfinite(m.upper[k]):
            worst = o.maximum(worst, q[k] - float(m.upper[k]))
        if math.isfinite(m.lower[k]):
            worst = o.maximum(worst, float(m.lower[k]) - q[k])
    for c in limited_angles(m, indices):
        wxyz = [q[int(m.q_start[c]) + k] for k in range(4)]
        worst = o.maximum(worst, cones.beyond(o, wxyz, float(m.angle_limit[c])))
    return worst
