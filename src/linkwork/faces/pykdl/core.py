"""The robot of `linkwork` behind a chain, and its compiled functions.

Each segment becomes a link whose frame is that of the segment; the frame that its joint moves is
another link, fixed to it. Names of KDL need not be unique, so links, joints and frames have
numbers: frame 0 is the base, frame k stands behind k segments. A joint with a scale follows a
coordinate of its own.

Calls fill the values of this face from numbers, without arrays between: expressions of the core's
algorithms, arranged as KDL's solvers take and give numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from linkwork import settings
from linkwork.algorithms.registry import find
from linkwork.compile.cache import package_digest
from linkwork.compile.kernel import build
from linkwork.compile.machine_code import COMPILING
from linkwork.compile.native_call import Array, Kind, Number, Numbers, Several, number_call
from linkwork.compile.recipe import Recipe, expression_recipe
from linkwork.faces.pykdl.chain import Content, Joint, Segment
from linkwork.faces.pykdl.formulas import filled
from linkwork.faces.pykdl.frame import Frame
from linkwork.faces.pykdl.inertias import RigidBodyInertia
from linkwork.mechanism.assemble import JointPart, LinkPart, Mimic, Parts, assemble
from linkwork.mechanism.model import JointType
from linkwork.ops.protocol import Block, Ops
from linkwork.robot import Robot
from linkwork.solve.least_squares import least_norm

Call = Callable[..., Any]

MOST_CORES = 64
"""So many are kept for chains to come; a chain that is there keeps its own."""
MOST_JOINTS = 12
"""Chains with more have their velocities solved by NumPy: what is unrolled grows as the cube."""


_SINGULAR = (np.zeros(0), 0.0, 0.0)


class _Asked(NamedTuple):
    """A call: the sizes of its inputs, what it computes, what it makes of that, and otherwise.

    What compiled code does not take goes by default to a kernel, which says what is wrong.
    """

    sizes: dict[str, int]
    expression: Callable[..., Block]
    result: Kind
    general: Call | None = None


@lru_cache(maxsize=MOST_CORES)
def core_of(content: Content) -> Core:
    """The core of segments: for the same numbers, mostly the same one.

    Programs make chains and solvers anew at each call; what is found here costs them nothing.
    """
    return Core(content.segments)


class Core:
    """The functions of a chain. It never changes: a chain that grows gets another."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.robot = Robot(assemble(_parts(segments)), tip=str(len(segments)))
        self.rotors = np.array([s.getJoint().inertia for s in segments if s.getJoint().moves])
        self.has_rotors = bool(self.rotors.any())
        names = self.robot.frame_names
        self.order = [names.index(str(k)) for k in range(len(segments) + 1)]
        """The index in `fk_all` of the frame behind so many segments."""
        first = next((k for k, s in enumerate(segments) if s.getJoint().moves), len(segments))
        self.standing = first
        """The number of segments that no joint moves: nothing of the chain feels forces on them."""
        self.wrenches = tuple(f"wrench:{k + 1}" for k in range(first, len(segments)))
        """The names of the wrenches on the others, as parameters."""
        self._functions: dict[Any, Call] = {}
        self.kept: dict[type, dict[Any, Call]] = {}
        """The calls that solvers of each kind have asked for: programs make solvers anew."""

    def function(self, algorithm: str, count: int | None = None, *static: tuple[str, Any]) -> Call:
        """An algorithm of the frame behind so many segments, or of the whole chain.

        ``static`` are names and values of its other arguments.
        """
        key = (algorithm, count, static)
        found = self._functions.get(key)
        if found is None:
            frame = () if count is None else (str(count),)
            found = self._functions[key] = self.robot.function(algorithm, *frame, **dict(static))
        return found

    def call(self, name: str, *which: Any) -> Call:
        """One of the calls below, made at its first use."""
        key = (name, *which)
        found = self._functions.get(key)
        if found is None:
            asked: _Asked = getattr(self, f"_{name}")(*which)
            whole = (
                package_digest("faces/pykdl"),
                *map(str, key),
                str(self.rotors),
                self.robot.mechanism.digest,
            )
            recipe = expression_recipe(
                whole, "chain", asked.sizes, lambda o, *a: {"found": asked.expression(o, *a)}
            )
            general = asked.general or self._general(recipe, asked.result)
            with COMPILING:
                found = number_call(recipe, asked.result, settings.compiler(), general)
            self._functions[key] = found
        return found

    def _general(self, recipe: Recipe, result: Kind) -> Call:
        """A call of the same recipe for arguments of any kind, which says what is wrong."""
        names = [f"joint '{name}'" for name in self.robot.joint_names]
        labels: dict[str, list[str]] = dict.fromkeys(("q", "v", "dv"), names)
        kernel = cache(partial(build, recipe, compiler=settings.compiler(), labels=labels))

        def call(*given: Any) -> Any:
            row = kernel()(*given)
            left = iter(row.tolist())
            parts: tuple[Any, ...] = result.parts if isinstance(result, Several) else ()
            return tuple([filled(part.size, left) for part in parts]) if parts else row

        return call

    def _pose(self, count: int) -> _Asked:
        """q to the nine numbers of a rotation behind so many segments, and three of the origin."""

        def expression(o: Ops, q: Block) -> Block:
            return o.concat(self._pose_rows(o, q, count))

        return _Asked(self._sizes("q"), expression, _numbers(9, 3))

    def _motion(self, count: int) -> _Asked:
        """q, v to the numbers of a pose, its velocity and its angular velocity: 9, 3, 3, 3."""

        def expression(o: Ops, q: Block, v: Block) -> Block:
            static = {"frame": str(count), "reference": "world-aligned"}
            twist = self._of(o, "frame_velocity", (q, v), **static)
            return o.concat([*self._pose_rows(o, q, count), twist])

        return _Asked(self._sizes("q", "v"), expression, _numbers(9, 3, 3, 3))

    def _jacobian_dot_v(self, count: int, reference: str) -> _Asked:
        """q, v to the derivative of a Jacobian times v, as two vectors."""

        def expression(o: Ops, q: Block, v: Block) -> Block:
            static = {"frame": str(count), "reference": reference}
            return self._of(o, "jacobian_dot_v", (q, v), **static)

        return _Asked(self._sizes("q", "v"), expression, _numbers(3, 3))

    def _forces(self) -> _Asked:
        """q, v, dv, gravity, and force and torque for each segment in its own frame, to the forces.

        Those on segments that no joint moves are left out, and not taken.
        """
        m, entry = self.robot.mechanism, find("inverse_dynamics")
        loaded = list(zip(self.wrenches, range(self.standing + 1, len(self.order)), strict=True))

        def expression(o: Ops, q: Block, v: Block, dv: Block, gravity: Block, *parts: Any) -> Block:
            poses = self._of(o, "fk_all", (q,))
            given: dict[str, Block] = {"gravity": gravity}
            for i, (name, k) in enumerate(loaded):
                rows = [o.part(o.row(poses[self.order[k]], j), 0, 3) for j in range(3)]
                six = [o.dot(row, x) for x in parts[2 * i : 2 * i + 2] for row in rows]
                given[name] = o.vector(six)
            forces = entry.run(o, m, (q, v, dv), given)
            rotors = enumerate(self.rotors.tolist())
            return o.vector([forces[i] + x * dv[i] if x else forces[i] for i, x in rotors])

        sizes = {**self._sizes("q", "v", "dv"), "gravity": 3}
        sizes |= {f"{part} {k}": 3 for _, k in loaded for part in ("force", "torque")}
        return _Asked(sizes, expression, Array((m.n_v,)))

    def velocities(self, count: int, towards: bool) -> Call:
        """A call of q and a twist as two vectors: the least velocities that come nearest to it.

        What the twist leaves free goes ``towards`` positions: these, weights, and the share of the
        way in a second. With the velocities come a number below the least singular value, and that
        over the Jacobian's norm (`solve.least_norm`); both are 0 where the general functions must
        find velocities.
        """
        if not 0 < self.robot.n_v <= MOST_JOINTS:
            return lambda *_given: _SINGULAR
        return self.call("velocity", count, towards)

    def _velocity(self, count: int, towards: bool) -> _Asked:
        n = self.robot.n_v

        def expression(o: Ops, q: Block, linear: Block, angular: Block, *free: Block) -> Block:
            J = self._of(o, "jacobian", (q,), frame=str(count), reference="world-aligned")
            rows = [[o.row(J, i)[k] for k in range(n)] for i in range(6)]
            twist = [x[k] for x in (linear, angular) for k in range(3)]
            if not towards:
                x, bound, share = least_norm(o, rows, twist)
                return o.vector([*x, bound, share])
            goal, weights, a = free
            way = [goal[k] - q[k] for k in range(n)]
            slope = [weights[k] * way[k] for k in range(n)]
            steepness = o.maximum(_dot(slope, slope), 1e-300)  # where that is less, slope is 0
            step = a[0] * _dot(slope, way) / steepness
            motion = [step * x for x in slope]
            wanted = zip(twist, rows, strict=True)
            x, bound, share = least_norm(o, rows, [t - _dot(row, motion) for t, row in wanted])
            return o.vector([*[p + r for p, r in zip(x, motion, strict=True)], bound, share])

        sizes = {**self._sizes("q"), "linear": 3, "angular": 3}
        if towards:
            sizes |= {"goal": n, "weights": n, "share": 1}
        result = Several((Array((n,)), Number(), Number()))
        return _Asked(sizes, expression, result, lambda *given: _SINGULAR)

    def _sizes(self, *names: str) -> dict[str, int]:
        return dict.fromkeys(names, self.robot.n_q)

    def _of(self, o: Ops, name: str, inputs: Sequence[Block], **static: Any) -> Any:
        return find(name).run(o, self.robot.mechanism, inputs, **static)

    def _pose_rows(self, o: Ops, q: Block, count: int) -> list[Block]:
        pose = self._of(o, "fk", (q,), frame=str(count))
        rows = [o.row(pose, i) for i in range(3)]
        return [*[o.part(row, 0, 3) for row in rows], o.vector([row[3] for row in rows])]


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return reduce(add, [x * y for x, y in zip(a, b, strict=True)])


def _numbers(*sizes: int) -> Kind:
    return Several(tuple(Numbers(size) for size in sizes))


def _parts(segments: Sequence[Segment]) -> Parts:
    links, joints = [LinkPart("0")], list[JointPart]()
    for k, segment in enumerate(segments):
        before, own, moved = str(k), str(k + 1), f"moved {k + 1}"
        links.append(_link(own, segment.getInertia()))
        joint, tip = segment.getJoint(), segment.getFrameToTip()
        if not joint.moves:
            joints.append(_fixed(f"joint {k + 1}", before, own, tip))
            continue
        links.append(LinkPart(moved))
        joints += _moving(f"joint {k + 1}", (before, moved), joint)
        tip.p -= joint.JointOrigin()  # its joint adds no offset at position 0
        joints.append(_fixed(f"tip {k + 1}", moved, own, tip))
    return Parts("chain", links, joints, inertias_accepted=True)


def _link(name: str, inertia: RigidBodyInertia) -> LinkPart:
    """A link with the inertia about its centre of gravity, where KDL has it about the origin."""
    centre = inertia.getCOG()
    about = inertia.RefPoint(centre).getRotationalInertia()
    return LinkPart(name, inertia.getMass(), centre.ToArray(), about.ToArray())


def _fixed(name: str, parent: str, child: str, place: Frame) -> JointPart:
    R, p = place.M.ToArray(), place.p.ToArray()
    return JointPart(name=name, type=JointType.FIXED, parent=parent, child=child, R=R, p=p)


def _moving(name: str, ends: tuple[str, str], joint: Joint) -> list[JointPart]:
    """A joint that moves; before it the coordinate that it follows, where it has a scale."""
    kind = JointType.REVOLUTE if joint.turns else JointType.PRISMATIC
    place: Any = {"p": joint.JointOrigin().ToArray(), "axis": joint.JointAxis().ToArray()}
    whole = joint.scale == 1.0
    parent, child = ends if whole else (None, None)
    first = JointPart(name=name, type=kind, parent=parent, child=child, **place)
    if whole:
        return [first]
    mimic = Mimic(name, joint.scale, 0.0)
    scaled = f"{name} scaled"
    follower = JointPart(
        name=scaled, type=kind, parent=ends[0], child=ends[1], mimic=mimic, **place
    )
    return [first, follower]
