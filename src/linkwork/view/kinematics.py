"""A robot's kinematics as JavaScript: what the page in the browser moves it with.

The text is the body of a function that returns an object: functions emitted from expression graphs,
traced from the same algorithms that Python compiles, and the numbers that go with them. The driver
`page/kinematics.js` strings them together: sliders, dragging, loops that stay closed.

    poses(q, out)        the pose (12) of the frame that each joint transform moves
    closure(q, out, J)   rows that are zero where loops are closed, and their derivative by v
    aim(T, target, out)  what is left of a pose (6), and the derivative (9) of its rotation
    gravity(q, out)      joint forces that hold the tree against gravity
    com(q, out)          the centre of mass
    integrate, difference  by joint type, of joints with quaternions

Poses are 12 numbers, the rows of a matrix (3, 4).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from linkwork.algorithms.center_of_mass import com
from linkwork.algorithms.closure import closure, closure_jacobian, n_rows
from linkwork.algorithms.configuration import one_difference, one_integrated
from linkwork.algorithms.inverse_dynamics import tree_gravity_forces
from linkwork.algorithms.registry import find
from linkwork.algorithms.sweep import FramePose, Sweep, poses
from linkwork.algorithms.vector3 import Scalar, as_vector
from linkwork.compile.graph import graph_of
from linkwork.compile.js_source import Script, number
from linkwork.compile.tracing import trace_function
from linkwork.errors import InputError
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.graph import GraphOps
from linkwork.ops.protocol import Block
from linkwork.spatial import so3

Expressions = Callable[..., Mapping[str, Any]]
"""A function ``(o, *vectors) -> {output: block}``."""

LONGEST_WITH_FORCES = 250_000
"""Characters of the kinematics of mechanisms that come with forces and a centre of mass."""


class PageKinematics(NamedTuple):
    """The text of a function body in JavaScript, and in words what it does without."""

    source: str
    messages: tuple[str, ...]


def page_kinematics(m: Mechanism) -> PageKinematics:
    """The kinematics of a mechanism for the page; see this module."""
    made = _Functions()
    q = {"q": m.n_q}
    made.add("poses", q, lambda o, q: {"out": _poses(o, m, q)})
    made.add("aim", {"T": 12, "target": 12}, _aim)
    for kind in (JointType.SPHERICAL, JointType.FLOATING):
        if kind in m.joint_types:
            _add_joint(made, kind)
    if m.is_closed:
        rows = {"out": closure, "J": closure_jacobian}
        made.add("closure", q, lambda o, q: {name: f(o, m, q) for name, f in rows.items()})
    if len(made.script.text()) > LONGEST_WITH_FORCES:
        made.messages.append(
            f"'{m.name}' has {m.n_v} degrees of freedom: the page goes without forces under "
            "gravity and without a centre of mass, whose texts would be long"
        )
    else:
        _add_forces(made, m)
    data = _text({**_tree(m), "joints": _joints(m), **_coordinates(m), **_closed(m)})
    functions = ",".join(made.names)
    source = f'"use strict";\n{made.script.text()}\nreturn {{{functions},data:{data}}}'
    return PageKinematics(source, tuple(made.messages))


class _Functions:
    """The emitted functions, their names, and what is left out."""

    def __init__(self) -> None:
        self.script, self.names, self.messages = Script(), list[str](), list[str]()

    def add(self, name: str, sizes: Mapping[str, int], function: Expressions) -> None:
        """Trace a function of vectors, and write it."""
        traced = trace_function(name, sizes, function)
        self.script.add(name, graph_of(traced, fuse=False), cleared=True)
        self.names.append(name)


def _add_forces(made: _Functions, m: Mechanism) -> None:
    """Functions of masses, where the description says them."""
    forces: list[tuple[str, str, str, Expressions]] = [
        ("gravity", "gravity_forces", "forces under gravity",
         lambda o, q: {"out": tree_gravity_forces(Sweep(o, m, q)).block(o)}),
        ("com", "com", "the centre of mass", lambda o, q: {"out": com(o, m, q)}),
    ]  # fmt: skip
    for name, algorithm, what, function in forces:
        try:
            find(algorithm).check(m)
            made.add(name, {"q": m.n_q}, function)
        except InputError as error:
            made.messages.append(f"the page goes without {what}: {error}")


# --- graphs --------------------------------------------------------------------------------------


def _poses(o: GraphOps, m: Mechanism, q: Block) -> Block:
    """The pose (12) of every transform, one after the other."""
    numbers: list[Scalar] = []
    for pose in poses(Sweep(o, m, q)):
        numbers += _twelve(pose)
    return as_vector(o, numbers)


def _twelve(pose: FramePose) -> list[Scalar]:
    return [x for row, p in zip(pose.R, pose.p, strict=True) for x in (*row, p)]


def _aim(o: GraphOps, T: Block, target: Block) -> Mapping[str, Block]:
    """The way (3) and the rotation vector (3) to the target, and its derivative (3, 3) by turns."""
    current, wanted = (
        o.matrix([o.vector([t[4 * i + j] for i in range(3)]) for j in range(3)])
        for t in (T, target)
    )
    way = [target[4 * i + 3] - T[4 * i + 3] for i in range(3)]
    turn = so3.log(o, wanted @ o.transpose(current))
    change = so3.right_jacobian_inverse(o, turn)
    return {"out": o.concat([o.vector(way), turn]), "D": change}


def _add_joint(made: _Functions, kind: JointType) -> None:
    """Moving along a velocity, and the way between two positions, of joints with quaternions."""
    n = kind.n_q
    made.add(
        f"integrate_{kind.label}",
        {"q": n, "v": kind.n_v},
        lambda o, q, v: {"out": one_integrated(o, kind, q, v)},
    )
    made.add(
        f"difference_{kind.label}",
        {"q0": n, "q1": n},
        lambda o, q0, q1: {"out": one_difference(o, kind, q0, q1)},
    )


# --- numbers -------------------------------------------------------------------------------------


def _tree(m: Mechanism) -> dict[str, Any]:
    """Transforms and their columns, and the frames that are fixed to them.

    ``columns``: the number of v, the transform, the axis, whether it turns, and the factor.
    ``frames``: the transform, and which of the ``places`` in its frame, where it is another one.
    """
    o = GraphOps()
    sweep = Sweep(o, m, o.input(0, m.n_q))
    last: dict[int, int] = {}
    columns: list[list[Any]] = []
    for k, step in enumerate(sweep.transforms):
        last[step.body] = k
        columns += [
            [step.start + i, k, axis, int(turns), step.factor]
            for i, (axis, turns) in enumerate(step.free)
        ]
    places: list[list[float]] = []
    frames: list[list[int]] = []
    known: dict[tuple[float, ...], int] = {}
    for frame in range(len(m.frame_names)):
        place = m.frame_placement(frame)
        twelve = tuple(x + 0.0 for x in _twelve(FramePose(place.R, place.p)))
        own = [last[int(m.frame_body[frame])]]
        if twelve != (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0):
            if twelve not in known:
                known[twelve] = len(places)
                places.append(list(twelve))
            own.append(known[twelve])
        frames.append(own)
    return {
        "nq": m.n_q,
        "nv": m.n_v,
        "steps": [step.parent for step in sweep.transforms],
        "columns": columns,
        "frames": frames,
        "places": places,
        "length": _length(m),
    }


def _length(m: Mechanism) -> float:
    """The longest way between joints, from the first that moves to a frame (m); 1 for none."""
    longest = 0.0
    for frame in range(len(m.frame_names)):
        way = [b for b in m.ancestry(int(m.frame_body[frame])) if m.body_joint_types[b].n_q]
        arms = [*(m.p_parent_joint[b] for b in way[1:]), m.p_body_frame[frame]] if way else []
        longest = max(longest, sum(float(np.linalg.norm(p)) for p in arms))
    return longest or 1.0


def _joints(m: Mechanism) -> list[list[Any]]:
    """The joints that move, in the order of their bodies.

    Their names, types, coordinates, and the multiplier and offset of those that follow another.
    """
    followers = set(m.followers())
    found: list[list[Any]] = []
    for body, kind in enumerate(m.body_joint_types):
        if kind.n_q:
            own = [m.body_joint_names[body], kind.label, int(m.coordinate[body])]
            follows = [float(m.multiplier[body]), float(m.offset[body])]
            found.append([*own, *(follows if body in followers else [])])
    return found


def _coordinates(m: Mechanism) -> dict[str, Any]:
    """The joints that q consists of: where their numbers stand, and limits."""
    limits = [
        [int(m.q_start[c]), kind.n_q, int(m.v_start[c]), kind.n_v, kind.n_lengths]
        for c, kind in enumerate(m.joint_types)
    ]
    return {
        "coordinates": limits,
        "lower": m.lower,
        "upper": m.upper,
        "angle": m.angle_limit,
    }


def _closed(m: Mechanism) -> dict[str, Any]:
    """The number of rows of the closure, what they are of, and the coordinates that are driven."""
    if not m.is_closed:
        return {"rows": 0, "actuated": []}
    parts = [[loop.name, len(loop.row_names)] for loop in m.loops]
    parts += [[each.name, 1] for each in m.couplings]
    return {
        "rows": n_rows(m),
        "parts": parts,
        "actuated": [m.joint(name) for name in m.actuated],
    }


def _text(value: Any) -> str:
    """A value as a literal of JavaScript."""
    if isinstance(value, dict):
        given: Mapping[str, Any] = value
        return "{" + ",".join(f"{key}:{_text(each)}" for key, each in given.items()) + "}"
    if isinstance(value, np.ndarray):
        return _text(value.tolist())
    if isinstance(value, (list, tuple)):
        items: Iterable[Any] = value
        return "[" + ",".join(_text(each) for each in items) + "]"
    if isinstance(value, str):
        return quoted(value)
    return number(float(value))


def quoted(text: str) -> str:
    """A string literal of JavaScript, of ASCII alone and without what ends a script element."""
    return json.dumps(text).replace("<", "\\u003c")
