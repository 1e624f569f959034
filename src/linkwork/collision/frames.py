"""Compiled poses and twists of some links: all that collision needs of one robot in particular.

Everything else about collision is tables, and code that is the same for every robot. That code
calls these functions by their addresses, for one configuration or for one in each lane.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.jacobian import Seen
from linkwork.algorithms.joint_transforms import JointTransform
from linkwork.algorithms.sweep import FramePose, Sweep, poses
from linkwork.algorithms.vector3 import Scalar, negated, plus, times
from linkwork.checks import real_rows
from linkwork.compile.compiler import Compiler, Facts, Made, ProcessBound
from linkwork.compile.machine_code import COMPILING, MachineCode, object_code
from linkwork.compile.numpy_abi import address
from linkwork.compile.recipe import LONGEST_UNROLLED
from linkwork.compile.target import new_module
from linkwork.mechanism.model import JointType, Mechanism
from linkwork.ops.graph import ZERO, GraphOps

if TYPE_CHECKING:
    from linkwork.compile.graph import Graph
    from linkwork.compile.tracing import Traced

Ints = NDArray[np.int64]
Reals = NDArray[Any]
"""float32 or float64."""

Function = Literal["frames1", "frames32", "frames64", "twists1", "twists64"]

WIDTH_32, WIDTH_64 = 16, 8
"""Lanes on every machine: vectors that are wider than it has are split by LLVM."""


class _Kind(NamedTuple):
    lanes: int
    single: bool  # float32
    twists: bool


FUNCTIONS: dict[Function, _Kind] = {
    "frames1": _Kind(1, False, False),
    "frames32": _Kind(WIDTH_32, True, False),
    "frames64": _Kind(WIDTH_64, False, False),
    "twists1": _Kind(1, False, True),
    "twists64": _Kind(WIDTH_64, False, True),
}
"""The functions that there are: ``frames(q, poses)`` and ``twists(q, poses, twists)``, of pointers.

Number k of a configuration, a pose or a twist stands at ``[k * lanes + lane]``: q has n_q numbers,
poses 12 for each body, the rows of the 3x4 matrix T_world_body, and twists 6 for each. Pointers
need be aligned to one number only; what they point to may not overlap.
"""


class Frames(ProcessBound):
    """Poses of some links in the world, and twists that the numbers of v give them, compiled.

    Each function is made, or taken from the compiler's cache, when its address is first asked for.
    An address is good as long as this object is.
    """

    def __init__(self, mechanism: Mechanism, names: Sequence[str], compiler: Compiler) -> None:
        """``names``: links, or other frames; those that are fixed in the world may be among them.

        Raises: UnknownNameError.
        """
        self.mechanism, self.names, self._compiler = mechanism, tuple(names), compiler
        self._frames = [mechanism.frame(name) for name in self.names]
        self.n_q, self.n_v, self.n_bodies = mechanism.n_q, mechanism.n_v, len(self.names)
        self._made: dict[Function, Made] = {}
        self._carrying: dict[int, Frames] = {}

    def made(self, function: Function) -> Made:
        """The code of one of `FUNCTIONS`, and what is known of it."""
        with COMPILING:
            if function not in self._made:
                key = ("frames", function, self.mechanism.digest, *self.names)
                make = partial(_make, self.mechanism, self._frames, function, self._compiler)
                what = f"poses of links for {self.mechanism.name}"
                self._made[function] = self._compiler.code(key, make, what=what)
            return self._made[function]

    def carrying(self, place: int) -> Frames:
        """These frames, and behind them once more the one at ``place``, for what it carries."""
        return self._carrying.setdefault(place, _Carrying(self, place))

    def address(self, function: Function) -> int:
        """The address of one of `FUNCTIONS`."""
        return self.made(function).code.address(function)

    @cached_property
    def column_of(self) -> Ints:
        """The number of the twist that each number of v gives each body (n_bodies, n_v); -1: none.

        Twists are linear, then angular, in axes of the world: the linear part is the velocity of
        the point of the body that passes the world's origin, so that of a point p is ``linear +
        angular x p``.
        """
        facts = self.made("twists64" if "twists64" in self._made else "twists1").facts
        found = np.array(facts["column_of"], dtype=np.int64).reshape(self.n_bodies, self.n_v)
        found.setflags(write=False)
        return found

    @cached_property
    def n_twists(self) -> int:
        """The number of different twists."""
        return int(self.column_of.max(initial=-1)) + 1

    def float32_bound(self, reach: float, *, largest: float = 2.0 * math.pi) -> float:
        """The largest error of any point of a body by float32 poses (m), to first order.

        ``reach``: no point of the robot is farther than this from one of its joints or from the
        world's origin (m). ``largest``: no joint turns farther (rad), and no multiplier times the
        leader's position or offset of a coupled joint is larger. q itself is rounded to float32.

        With u = 2**-24, a turn is wrong by 20 u at most: 2.4 u by sine and cosine, 3 u by its
        placement, 15 u by two products of matrices; what a quaternion turns by 41 u. A position is
        by 3**0.5 x 5 u of the reach. All that is 50 u for each joint; u of the angle is lost where
        q is rounded, and 4 u more where it is coupled. Errors that are met are 1 to 4 per cent of
        the sum.
        """
        m, most = self.mechanism, 0.0
        for frame in self._frames:
            way = m.ancestry(int(m.frame_body[frame]))
            coupled = sum(m.multiplier[body] != 1.0 or m.offset[body] != 0.0 for body in way)
            n = 1 + sum(3 if m.body_joint_types[body] is JointType.PLANAR else 1 for body in way)
            most = max(most, 50.0 * n + (n + 4 * coupled) * largest)
        return 2.0**-24 * most * reach

    def poses(self, q: ArrayLike, function: Function = "frames1") -> Reals:
        """T_world_body without the last row (n, n_bodies, 3, 4), of q (n, n_q): for tests."""
        return self._called(function, q)[0]

    def twists(self, q: ArrayLike, function: Function = "twists1") -> Reals:
        """The twists (n, n_twists, 6), of q (n, n_q): for tests."""
        return self._called(function, q)[1]

    def _called(self, function: Function, q: ArrayLike) -> tuple[Reals, Reals]:
        kind = FUNCTIONS[function]
        real, lanes = np.float32 if kind.single else np.float64, kind.lanes
        rows = real_rows(np.atleast_2d(q), "q", self.n_q).astype(real)
        n, n_twists = len(rows), self.n_twists if kind.twists else 0
        sizes = 12 * self.n_bodies, 6 * n_twists
        found = [np.empty((n + lanes, size), real) for size in sizes]
        call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (2 + kind.twists))
        native = call(self.address(function))
        for first in range(0, n, lanes):
            own = np.ascontiguousarray(np.resize(rows[first : first + lanes], (lanes, self.n_q)).T)
            out = [np.empty((size, lanes), real) for size in sizes]
            native(address(own), *[address(each) for each in out[: 1 + kind.twists]])
            for block, values in zip(found, out, strict=True):
                block[first : first + lanes] = values.T
        poses, twists = (each[:n] for each in found)
        return poses.reshape(n, self.n_bodies, 3, 4), twists.reshape(n, n_twists, 6)


class _Carrying(Frames):
    """Frames of which one stands once more behind the others: nothing is traced for that.

    Its code calls that of the others by its address and copies a pose. So it belongs to this
    process, and is made in a few milliseconds where it is needed.
    """

    def __init__(self, base: Frames, place: int) -> None:
        super().__init__(base.mechanism, (*base.names, base.names[place]), base._compiler)
        self._base, self._place = base, place

    def made(self, function: Function) -> Made:
        with COMPILING:
            if function not in self._made:
                base, target = self._base.made(function), self._compiler.target
                module = new_module(function, target)
                places = 12 * self._place, 12 * self._base.n_bodies
                _emit_copy(module, function, base.code.address(function), *places)
                code = MachineCode(object_code(module, target, simplify=False, quick=True))
                rows = base.facts["column_of"]
                facts = {**base.facts, "column_of": [*rows, rows[self._place]]}
                self._made[function] = Made(facts, code, from_cache=False)
            return self._made[function]


def _emit_copy(module: Any, function: Function, address: int, source: int, goal: int) -> None:
    """Write the function at an address anew, with 12 numbers of poses copied at the end."""
    from llvmlite import ir  # noqa: PLC0415  few robots hold something

    kind = FUNCTIONS[function]
    real: Any = ir.FloatType() if kind.single else ir.DoubleType()
    of_function = ir.FunctionType(ir.VoidType(), [real.as_pointer()] * (2 + kind.twists))
    written: Any = ir.Function(module, of_function, function)
    b = ir.IRBuilder(written.append_basic_block())
    whole: Any = ir.IntType(64)
    b.call(b.inttoptr(whole(address), of_function.as_pointer()), written.args)
    lanes: Any = (ir.VectorType(real, kind.lanes) if kind.lanes > 1 else real).as_pointer()
    for k in range(12):
        two = [
            b.bitcast(b.gep(written.args[1], [whole((first + k) * kind.lanes)]), lanes)
            for first in (source, goal)
        ]
        b.store(b.load(two[0], align=4), two[1], align=4)
    b.ret_void()


def _make(
    m: Mechanism, frames: Sequence[int], function: Function, compiler: Compiler
) -> tuple[Facts, bytes]:
    from linkwork.compile.graph import graph_of  # noqa: PLC0415  not for cached code

    target, kind = compiler.target, FUNCTIONS[function]
    traced, column_of = _traced(m, frames, twists=kind.twists)
    graph = graph_of(traced, fuse=target.fused)
    module = new_module(function, target)
    _emit(module, graph, function, fused=target.fused)
    quick = m.n_bodies > LONGEST_UNROLLED  # they are written out here, too
    simplify = graph.n_assignments <= _LONG and not quick
    return {"column_of": column_of}, object_code(module, target, simplify=simplify, quick=quick)


_LONG = 3_000
"""Code with more assignments is not simplified: that takes half the time and gains 5 per cent."""


def _traced(m: Mechanism, frames: Sequence[int], *, twists: bool) -> tuple[Traced, list[list[int]]]:
    """The graph of all poses and, where asked for, of each twist once; and `Frames.column_of`."""
    from linkwork.compile.tracing import trace_function  # noqa: PLC0415  not for cached code

    way = sorted({body for frame in frames for body in m.ancestry(int(m.frame_body[frame]))})
    column_of = [[-1] * m.n_v for _ in frames]

    def run(o: GraphOps, q: Any) -> dict[str, Any]:
        sweep, rows, columns = Sweep(o, m, q, way), list[Scalar](), list[Any]()
        every, known = poses(sweep), dict[tuple[int, ...], int]()

        def place(_: int, step: JointTransform, body: FramePose) -> None:
            pose = body.at(step)
            rows.extend(chain(*[[*row, x] for row, x in zip(pose.R, pose.p, strict=True)]))

        def number(k: int, _: JointTransform, carried: dict[int, list[Scalar]]) -> None:
            for v_index, twist in carried.items():
                own = o.vector(twist)
                if any(each != ZERO for each in own.numbers):
                    found = known.setdefault(tuple(own.numbers), len(columns))
                    if found == len(columns):
                        columns.append(own)
                    column_of[k][v_index] = found

        sweep.frames(frames, place, every)
        if not twists:
            return {"poses": o.vector(rows)}
        sweep.frames(frames, number, sweep.outwards(dict[int, list[Scalar]], _twists, every))
        return {"poses": o.vector(rows), "twists": o.concat(columns)}

    return trace_function("frames", {"q": m.n_q}, run), column_of


def _twists(
    step: JointTransform, before: dict[int, list[Scalar]], pose: FramePose
) -> dict[int, list[Scalar]]:
    """The twists of what a transform carries, by their numbers of v."""
    seen, found = Seen(pose.R, [negated(x) for x in pose.p], None), dict(before)
    for k, axis in enumerate(step.free, start=step.start):
        own = [times(step.factor, x) for x in chain(*seen.twist(*axis))]
        found[k] = plus(found[k], own) if k in found else own
    return found


def _emit(module: Any, graph: Graph, function: Function, *, fused: bool) -> None:
    """Write one of `FUNCTIONS`."""
    from llvmlite import ir  # noqa: PLC0415  not for cached code

    from linkwork.compile.emit import F32, F64, Emitter  # noqa: PLC0415
    from linkwork.compile.loops import Ports, emit_nodes  # noqa: PLC0415

    kind = FUNCTIONS[function]
    real: Any = F32 if kind.single else F64
    pointers = [real.as_pointer()] * (2 + kind.twists)
    written: Any = ir.Function(module, ir.FunctionType(ir.VoidType(), pointers), function)
    for argument in written.args:
        argument.add_attribute("noalias")
    b = ir.IRBuilder(written.append_basic_block())
    e = Emitter(b, kind.lanes, fused=fused, real=real)

    vectors = [b.bitcast(array, e.type.as_pointer()) for array in written.args]
    ports = Ports(graph, b, vectors, align=e.n_bits // 8)
    ports.clear(e.const(0.0))
    emit_nodes(e, ports)
    b.ret_void()
