"""Passes over a mechanism as loops: what is done for a joint is traced once for each kind of joint.

The graph of a long mechanism is long, and so is the time that it takes to trace and to compile.
Here the passes of an algorithm that is written over a `Sweep` become a `Program` of loops: numbers
of joints stand in tables, what passes find stands in memory, and the graph of a loop's body reads
and writes both at addresses that tables of whole numbers give. Its size does not depend on the
number of joints.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwork.algorithms.body_masses import body_inertia
from linkwork.algorithms.joint_transforms import (
    UNTURNED,
    Inertia,
    JointTransform,
    fixed_in,
    joint_layout,
    joint_transforms,
)
from linkwork.algorithms.parametric import Parametric
from linkwork.algorithms.registry import find
from linkwork.algorithms.sweep import (
    FRAME_POSES,
    FramePose,
    OfVelocities,
    Output,
    States,
    bodies_of,
    poses,
    spring_places,
    values_of,
)
from linkwork.algorithms.vector3 import Scalar, applied, transposed
from linkwork.compile.graph import Graph, assignments
from linkwork.compile.recipe import Signature, is_long
from linkwork.errors import InputError
from linkwork.mechanism.model import Floats, JointType, Mechanism, Placement
from linkwork.mechanism.parameters import Parameter
from linkwork.mechanism.parameters import find as find_parameters
from linkwork.ops.graph import Expressions, GraphOps

S = TypeVar("S")
Whole = NDArray[np.int32]


# ------------------------------------------------------------------------------------ the program


@dataclass(frozen=True, slots=True)
class Index:
    """A whole number that changes while a loop runs: ``table[cursor] + offset``, or the cursor's.

    Cursors are "own", the joint that a loop is at, and for those that carry it "at" and "above".
    """

    cursor: str
    table: str = ""
    offset: int = 0

    def __add__(self, more: Any) -> Index:
        return replace(self, offset=self.offset + int(more))


@dataclass
class Memory:
    """Numbers in a row: an input, a result, a table of constants, or what passes find."""

    kind: Literal["input", "output", "table", "state"]
    records: int
    record: int = 1  # numbers that a record has; a state has one for each joint
    values: Floats | None = None  # of a table
    zero: bool = False  # whether it is zero to begin with

    @property
    def size(self) -> int:
        """The count of its numbers."""
        return self.records * self.record


class Address(NamedTuple):
    """A place in a memory: an offset, and indices times strides; None is the length of a record."""

    memory: int
    terms: tuple[tuple[Index, int | None], ...] = ()
    offset: int = 0


@dataclass
class Body:
    """The body of a loop: a graph that loads from addresses, and stores."""

    ops: GraphOps = field(default_factory=GraphOps)
    loads: dict[Address, int] = field(default_factory=dict[Address, int])
    stores: list[tuple[Address, int, bool]] = field(
        default_factory=list[tuple[Address, int, bool]]
    )  # address, expression, whether it is added to what is there

    def load(self, address: Address) -> Expressions:
        """The number at an address, as it is before this pass stores anything."""
        which = self.loads.setdefault(address, len(self.loads))
        return Expressions(self.ops.graph, (), [self.ops.graph.input(which, 0)])

    def store(self, address: Address, value: Scalar, *, add: bool = False) -> None:
        """Store a number when the pass ends."""
        (number,) = self.ops.const(value).numbers
        self.stores.append((address, number, add))

    def graph(self, *, fuse: bool) -> Graph:
        """Its assignments; there is one input for each load, one output with all that is stored."""
        outputs = (tuple(number for _, number, _ in self.stores),)
        order = self.ops.graph.needed(outputs)
        return assignments(
            self.ops.graph, order, outputs, ((1,) * len(self.loads), (len(self.stores),)), fuse=fuse
        )


@dataclass
class Loop:
    """Bodies by the kind of the joint, for ``first`` to ``last``, or back from it.

    Where there are ``above`` bodies, by the kinds of the joint and of one that carries it, they run
    after the joint's own for each that does, nearest first.
    """

    first: int
    last: int
    bodies: dict[int, Body]
    backwards: bool = False
    above: dict[tuple[int, int], Body] | None = None
    kinds: str = "kind"  # the table of the kinds

    def every_body(self) -> list[Body]:
        """All bodies."""
        return [*self.bodies.values(), *(self.above or {}).values()]


@dataclass
class Columns:
    """Loops that run one after the other for each number of v, which is their cursor "column"."""

    n: int
    loops: list[Loop]


@dataclass(frozen=True)
class Call:
    """A program run on memories of another: the numbers of those that it reads and fills."""

    program: Program
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True)
class Solve:
    """A x = b for a symmetric positive definite matrix; x takes the place of b, A is used up.

    Both are numbers of memories: (n, n), of which the lower triangle counts, and (n,).
    """

    n: int
    matrix: int
    vector: int


@dataclass(eq=False)
class Program:
    """Loops, and calls of other programs, that run one after the other."""

    memories: list[Memory] = field(default_factory=list[Memory])
    tables: dict[str, Whole] = field(default_factory=dict[str, Whole])
    loops: list[Loop | Columns | Call | Solve] = field(
        default_factory=list["Loop | Columns | Call | Solve"]
    )

    def new_memory(
        self, kind: Any, records: int, record: int = 1, values: Floats | None = None
    ) -> int:
        """The number of a new memory."""
        self.memories.append(Memory(kind, records, record, values))
        return len(self.memories) - 1

    def sizes(self, kind: str) -> tuple[int, ...]:
        """The sizes of the memories of a kind."""
        return tuple(each.size for each in self.memories if each.kind == kind)

    @property
    def input_sizes(self) -> tuple[int, ...]:
        """The sizes of the inputs."""
        return self.sizes("input")

    @property
    def output_sizes(self) -> tuple[int, ...]:
        """The sizes of the results."""
        return self.sizes("output")

    @property
    def n_assignments(self) -> int:
        """The number of assignments of all bodies, each counted once."""
        called = {id(call.program): call.program for call in self.calls()}
        return sum(
            len(body.ops.graph) for loop, _ in self.every_loop() for body in loop.every_body()
        ) + sum(program.n_assignments for program in called.values())

    def calls(self) -> list[Call]:
        """The calls of other programs."""
        return [each for each in self.loops if isinstance(each, Call)]

    @property
    def room(self) -> int:
        """The numbers in memory that are neither inputs, results nor tables; calls share theirs."""
        return sum(self.sizes("state")) + max(
            [call.program.room for call in self.calls()], default=0
        )

    def every_loop(self) -> Iterator[tuple[Loop, int]]:
        """All loops, with the times that each of them runs."""
        for each in self.loops:
            if isinstance(each, Columns):
                yield from ((loop, each.n) for loop in each.loops)
            elif isinstance(each, Loop):
                yield each, 1

    def instructions(self) -> int:
        """The operations, loads and stores of a configuration; of carriers, one for each joint."""
        found = 0
        for loop, times in self.every_loop():
            bodies = loop.every_body()
            longest = max((len(b.ops.graph) + len(b.stores) for b in bodies), default=0)
            found += times * (loop.last - loop.first) * longest
        solved = sum(each.n**3 // 6 for each in self.loops if isinstance(each, Solve))
        return found + solved + sum(call.program.instructions() for call in self.calls())


# ------------------------------------------------------------------------ states in, and out again


class _Slot(int):
    """The place of a number in a record."""


def _taken_apart(value: Any, leaves: list[Any], *, constants: bool) -> Any:
    """The structure of a state, its numbers put to ``leaves``; constants may stay in it."""
    if value is None or (constants and type(value) is float):
        return value
    if isinstance(value, (tuple, list)):
        parts = [_taken_apart(each, leaves, constants=constants) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    leaves.append(value)
    return _Slot(len(leaves) - 1)


def _put_together(structure: Any, leaf: Callable[[int], Any]) -> Any:
    if isinstance(structure, _Slot):
        return leaf(int(structure))
    if isinstance(structure, (tuple, list)):
        parts = [_put_together(each, leaf) for each in structure]
        return type(structure)(*parts) if hasattr(structure, "_fields") else type(structure)(parts)
    return structure


class _States:
    """The states that a pass found: a record for each joint, whose structure its kind decides."""

    def __init__(self, sweep: RolledSweep, memory: int) -> None:
        self._sweep, self.memory = sweep, memory
        self.structures: dict[int, Any] = {}

    def at(self, index: Index, kind: int | None = None) -> Any:
        """The state at an index; without a kind, the structure that all have."""
        if kind is None:
            kind = next(iter(self.structures))
        now = self._sweep.now
        return _put_together(
            self.structures[kind],
            lambda k: now.load(Address(self.memory, ((index, None),), k)),
        )

    def of_joint(self, joint: int) -> Any:
        """The state of one joint."""
        start = joint * self._sweep.program.memories[self.memory].record
        now = self._sweep.now
        structure = next(iter(self.structures.values()))
        return _put_together(structure, lambda k: now.load(Address(self.memory, (), start + k)))


class _Vector:
    """An input, whose elements are at whole numbers or indices."""

    def __init__(self, sweep: RolledSweep, memory: int) -> None:
        self._sweep, self._memory = sweep, memory

    def __getitem__(self, at: Any) -> Expressions:
        if isinstance(at, Index):
            term = ((replace(at, offset=0), 1),)
            return self._sweep.now.load(Address(self._memory, term, at.offset))
        return self._sweep.now.load(Address(self._memory, (), int(at)))


class _RolledOutput(Output):
    """A result that is stored entry by entry where the passes say so."""

    def __init__(self, sweep: RolledSweep, kind: str, shape: tuple[int, ...]) -> None:
        super().__init__(shape)
        self._sweep, self.memory = sweep, sweep.new_memory(kind, prod(shape))
        sweep.program.memories[self.memory].zero = True

    def _address(self, at: tuple[Any, ...]) -> Address:
        terms: list[tuple[Index, int]] = []
        offset = 0
        for axis, index in enumerate(at):
            stride = prod(self.shape[axis + 1 :])
            if isinstance(index, Index):
                terms.append((replace(index, offset=0), stride))
                index = index.offset  # noqa: PLW2901  what is left of it is a number
            offset += stride * index
        return Address(self.memory, tuple(terms), offset)

    def put(self, at: tuple[Any, ...], value: Scalar) -> None:
        """Set the entry at these indices."""
        self._sweep.now.store(self._address(at), value)

    def get(self, *at: Any) -> Scalar:
        """The entry at these indices, as it is before this pass stores anything."""
        return self._sweep.now.load(self._address(at))

    def add(self, at: tuple[Any, ...], value: Scalar) -> None:
        """Add to the entry at these indices."""
        self._sweep.now.store(self._address(at), value, add=True)


# -------------------------------------------------------------------------------------- the sweep


WEIGHTS = ("mass", "com", "inertia", "payload")
"""Quantities that a body's inertia depends on."""


_OWN, _PARENT = Index("own"), Index("own", "parent")
_MATRIX_PLACES = [(i, j) for i in range(3) for j in range(3)]


class RolledSweep:
    """The passes of `algorithms.sweep.Sweep`, on tables and loops.

    Joints are counted from 1; 0 is the world.
    """

    def __init__(
        self,
        m: Mechanism,
        sizes: Sequence[int],
        bodies: Iterable[int] | None = None,
        given: Sequence[Parameter] = (),
    ) -> None:
        """``sizes``: the lengths of the inputs, q first; ``bodies`` as `Sweep` takes them.

        Parameters that are ``given`` are inputs after the others; those that matter are ``asked``
        for.
        """
        self.m, self.program, self.now = m, Program(), Body()
        self.asked: set[str] = set()
        self.inputs = [_Vector(self, self.new_memory("input", size)) for size in sizes]
        self._given = {each.name: (each, self.new_memory("input", each.size)) for each in given}
        self._bodies = np.arange(m.n_bodies) if bodies is None else np.array(list(bodies))
        self._lay_out()
        self._places: _States | None = None

    @property
    def o(self) -> GraphOps:
        """The operations of the pass that is being traced."""
        return self.now.ops

    def new_memory(
        self, kind: Any, records: int, record: int = 1, values: Floats | None = None
    ) -> int:
        """The number of a new memory."""
        return self.program.new_memory(kind, records, record, values)

    def _new_states(self, records: int | None = None) -> int:
        """The number of a memory of states, by default one for each joint; see `_keep`."""
        return self.new_memory("state", self.n_joints + 1 if records is None else records, 0)

    def _lay_out(self) -> None:
        """The tables of whole numbers: parent, kind, and the first numbers of q and v."""
        layout = joint_layout(self.m, self._bodies.tolist())
        self.n_joints, self._kinds = len(layout.kind), layout.kinds
        self._last, self._body, self._owner = layout.last, layout.body, layout.owner
        for name in ("parent", "kind", "body", "q", "v"):
            self._new_table(name, getattr(layout, name))

    def _new_table(self, name: str, column: Any) -> None:
        """A table of whole numbers by joint; the world's is 0."""
        self.program.tables[name] = np.concatenate([[0], column]).astype(np.int32)

    def _numbers(self, rows: Floats, *, constants: bool = True) -> list[Any]:
        """Numbers of each joint, to be loaded in a pass; those that all have may be constants.

        Each is a float, or a function of an index.
        """
        same = np.full(rows.shape[1], constants)
        if constants and len(rows):
            same = np.all(rows == rows[:1], axis=0)
        kept = np.flatnonzero(~same)
        values = np.zeros((len(rows) + 1, len(kept)))
        values[1:] = rows[:, kept]
        memory = self.new_memory("table", len(values), len(kept), values)
        place = {int(column): k for k, column in enumerate(kept)}

        def at(k: int) -> Any:
            return lambda index: self.now.load(Address(memory, ((index, None),), place[k]))

        return [float(rows[0, k]) if same[k] and len(rows) else at(k) for k in range(rows.shape[1])]

    def _placed(self) -> _States:
        """The states of `_place`; its loop comes before the first that asks for it."""
        if self._places is None:
            self._places = self._place()
        return self._places

    def _place(self) -> _States:
        """The placement of each joint's frame in the one before, which all passes read."""
        m, body = self.m, self._body
        rows = np.column_stack(
            [
                m.R_parent_joint[body].reshape(-1, 9),
                m.p_parent_joint[body],
                m.multiplier[body],
                m.offset[body],
            ]
        )
        numbers = self._numbers(rows)
        self._factor = numbers[12]
        memory = self._new_states()
        found = _States(self, memory)
        q = self.inputs[0]

        def visit(kind: int) -> list[Any]:
            type, part = self._kinds[kind]
            given = [_number(x, _OWN) for x in numbers]
            start = Index("own", "q")
            position = [_coupled(q[start + k], given[12], given[13]) for k in range(type.n_q)]
            at = fixed_in(_placement(given))
            step = joint_transforms(self.o, type, at, position)[part]
            return [*[step.R[i][j] for i, j in _MATRIX_PLACES], *step.r]

        bodies: dict[int, Body] = {}
        for kind in range(len(self._kinds)):
            self.now = bodies[kind] = Body()
            found.structures[kind] = self._keep(memory, visit(kind))
        self._loop(bodies)
        return found

    def _loop(self, bodies: dict[int, Body], *, backwards: bool = False) -> None:
        self.program.loops.append(Loop(1, self.n_joints + 1, bodies, backwards))

    def _keep(
        self,
        memory: int,
        state: Any,
        index: Index | int = _OWN,
        *,
        add: bool = False,
        constants: bool = False,
    ) -> Any:
        """Store or add a state's numbers in a record; its structure, where constants may stay.

        In the record of one joint, by its number, others have been kept before.
        """
        leaves: list[Any] = []
        structure = _taken_apart(state, leaves, constants=constants)
        place = self.program.memories[memory]
        place.record = max(place.record, len(leaves))
        for k, leaf in enumerate(leaves):
            if isinstance(index, Index):
                address = Address(memory, ((index, None),), k)
            else:
                address = Address(memory, (), index * place.record + k)
            self.now.store(address, leaf, add=add)
        return structure

    def _transform(self, kind: int | None, cursor: str = "own") -> JointTransform:
        """The transform at a cursor; without a kind, what it leaves free is not known."""
        index = Index(cursor)
        R, r = _placement(self._placed().at(index))
        free: tuple[tuple[int, bool], ...] = ()
        owner = True
        if kind is not None:
            type, part = self._kinds[kind]
            at = fixed_in(Placement(UNTURNED, [0.0] * 3))
            zeros: list[Any] = [self.o.const(0.0)] * 3 + [self.o.const(1.0)] * 4
            like = joint_transforms(self.o, type, at, zeros)[part]
            free, owner = like.free, like.owner
        start: Any = Index(cursor, "v")
        factor = _number(self._factor, index)
        body: Any = Index(cursor, "body")
        return JointTransform(0, body, owner, free, start, factor, R, None, R, r)

    def _each_kind(
        self, states: Sequence[_States], visit: Callable[[int, JointTransform, list[Any]], None]
    ) -> dict[int, Body]:
        """The bodies of a loop: ``visit(kind, transform, states)`` traced for each kind."""
        self._placed()
        bodies: dict[int, Body] = {}
        for kind in range(len(self._kinds)):
            self.now = bodies[kind] = Body()
            given = [state.at(_OWN, kind) for state in states]
            visit(kind, self._transform(kind), given)
        return bodies

    def outwards(self, world: Callable[[], S], visit: Callable[..., S], *states: States) -> States:
        """As `Sweep.outwards`; what is found must have the structure of ``world``."""
        memory = self._new_states()
        found = _States(self, memory)
        self.now = Body()
        structure = self._keep(memory, world())
        self.program.loops.append(Loop(0, 1, {0: self.now}))

        def run(kind: int, step: JointTransform, given: list[Any]) -> None:
            found.structures[kind] = structure
            self._keep(memory, visit(step, found.at(_PARENT, kind), *given))

        self._loop(self._each_kind(states, run))
        return found

    def inwards(
        self, own: States, visit: Callable[..., tuple[Any, Any]], *states: States
    ) -> States:
        """As `Sweep.inwards`; totals must have one structure."""
        memory = self._new_states()
        totals = _States(self, memory)

        def copy(kind: int, _: JointTransform, given: list[Any]) -> None:
            totals.structures[kind] = self._keep(memory, given[0])

        self._loop(self._each_kind([own], copy))
        kept_memory = self._new_states()
        kept = _States(self, kept_memory)
        same: list[bool] = []

        def run(kind: int, step: JointTransform, given: list[Any]) -> None:
            total = totals.at(_OWN, kind)
            keeping, handed = visit(step, total, *given)
            same.append(keeping is total)
            if keeping is not total:
                kept.structures[kind] = self._keep(kept_memory, keeping, constants=True)
            self._keep(memory, handed, _PARENT, add=True)

        self._loop(self._each_kind(states, run), backwards=True)
        return totals if all(same) else kept

    def each(self, visit: Callable[..., Any], *states: States, backwards: bool = False) -> States:
        """As `Sweep.each`."""
        memory = self._new_states()
        found = _States(self, memory)

        def run(kind: int, step: JointTransform, given: list[Any]) -> None:
            found.structures[kind] = self._keep(memory, visit(step, *given), constants=True)

        bodies = self._each_kind(states, run)
        if any(body.stores for body in bodies.values()):
            self._loop(bodies, backwards=backwards)
        return found

    def up(
        self,
        begin: Callable[..., S],
        carry: Callable[[JointTransform, S], S],
        meet: Callable[..., None],
        *states: States,
    ) -> None:
        """As `Sweep.up`; ``carry`` must not ask what the joint leaves free."""
        memory = self._new_states(records=1)
        carried = _States(self, memory)
        index = Index("own", "first")  # the one record, for all
        self.program.tables.setdefault("first", np.zeros(self.n_joints + 1, np.int32))

        def start(kind: int, step: JointTransform, given: list[Any]) -> None:
            carried.structures[kind] = self._keep(memory, begin(step, *given), index)

        bodies = self._each_kind(states, start)
        above: dict[tuple[int, int], Body] = {}
        for kind in range(len(self._kinds)):
            for other in range(len(self._kinds)):
                self.now = above[kind, other] = Body()
                now = carry(self._transform(None, "at"), carried.at(index, kind))
                own = [state.at(_OWN, kind) for state in states]
                there = [state.at(Index("above"), other) for state in states]
                meet(self._transform(kind), *own, self._transform(other, "above"), *there, now)
                self._keep(memory, now, index)
        self.program.loops.append(Loop(1, self.n_joints + 1, bodies, above=above))

    def frames(self, frames: Iterable[int], visit: Callable[..., None], *states: States) -> None:
        """As `Sweep.frames`."""
        m, chosen = self.m, np.array(list(frames))
        name = f"joint of frame {len(self.program.loops)}"
        self._new_table(name, self._last[m.frame_body[chosen]])
        rows = np.column_stack([m.R_body_frame[chosen].reshape(-1, 9), m.p_body_frame[chosen]])
        numbers = self._numbers(rows)
        self.now = Body()
        at = fixed_in(_placement([_number(x, _OWN) for x in numbers]))
        visit(_OWN + -1, at, *[state.at(Index("own", name)) for state in states])
        self.program.loops.append(Loop(1, len(chosen) + 1, {0: self.now}))

    def velocities(self, values: Callable[[int], Scalar], visit: Callable[..., None]) -> None:
        """As `Sweep.velocities`; values must be constants."""
        rows = np.array([[float(values(k))] for k in range(self.m.n_v)]).reshape(-1, 1)
        if np.any(rows):
            (number,) = self._numbers(rows)
            self.now = Body()
            visit(_OWN + -1, _number(number, _OWN))
            self.program.loops.append(Loop(1, len(rows) + 1, {0: self.now}))

    def of_velocities(self, quantity: OfVelocities, visit: Callable[..., None]) -> None:
        """Visits to a quantity of each number of v (see `Sweep.of_velocities`)."""
        if quantity not in self._given:
            self.velocities(values_of(self.m, quantity), visit)
            return
        self.now = Body()
        visit(_OWN, self._parameter(quantity, _OWN))
        self.program.loops.append(Loop(0, self.m.n_v, {0: self.now}))

    def springs(self, visit: Callable[..., None]) -> None:
        """Visits to each number of v that may have a spring (see `Sweep.springs`)."""
        v, q = spring_places(self.m)
        if "stiffness" not in self._given or not v:
            return
        self._new_table("spring v", v)
        self._new_table("spring q", q)
        (rest,) = self._numbers(self.m.spring_position[v][:, None])
        self.now = Body()
        k = Index("own", "spring v")
        stretch = self.q[Index("own", "spring q")] + -1.0 * _number(rest, _OWN)
        visit(k, self._parameter("stiffness", k), stretch)
        self.program.loops.append(Loop(1, len(v) + 1, {0: self.now}))

    def of_masses(self, find: Callable[[Mechanism], Scalar]) -> Callable[[], Scalar]:
        """A number of all masses together (see `Sweep.of_masses`)."""
        if not any(each.quantity in WEIGHTS for each, _ in self._given.values()):
            known = find(self.m)
            return lambda: known
        memory = self.new_memory("state", 1)
        self.now = Body()
        self.now.store(Address(memory), self._with_given(find))
        self.program.loops.append(Loop(0, 1, {0: self.now}))
        return lambda: self.now.load(Address(memory))

    def gravity(self) -> list[Scalar]:
        """The free-fall acceleration in the world (see `Sweep.gravity`)."""
        if "gravity" not in self._given:
            return self.m.gravity()
        return [self._parameter("gravity", k) for k in range(3)]

    def armature(self, step: JointTransform, k: int) -> Scalar:
        """As `Sweep.armature`."""
        start: Any = step.start
        if "armature" in self._given:
            return self._parameter("armature", start + k)
        if self._armature is None:
            return 0.0
        return self.now.load(Address(self._armature, ((start, 1),), k))

    @cached_property
    def _armature(self) -> int | None:
        """The table of the rotors' inertia; None where all are zero."""
        values = np.array([self.m.joint_armature(k) for k in range(self.m.n_v)])
        return self.new_memory("table", len(values), 1, values) if np.any(values) else None

    def _parameter(self, name: str, at: Index | int) -> Scalar:
        """A number of a parameter that is given."""
        self.asked.add(name)
        return _Vector(self, self._given[name][1])[at]

    def _with_given(self, visit: Callable[[Parametric], S]) -> S:
        """``visit(m)`` of the mechanism with the blocks of what is given of links and frames."""
        of_frames = {k: memory for k, (each, memory) in self._given.items() if each.frame >= 0}
        sizes = self.program.memories
        blocks = {
            name: self.o.vector([_Vector(self, memory)[k] for k in range(sizes[memory].size)])
            for name, memory in of_frames.items()
        }
        m = Parametric(self.o, self.m, blocks)
        found = visit(m)
        self.asked |= blocks.keys() - set(m.unused())
        return found

    @property
    def q(self) -> Any:
        """The configuration."""
        return self.inputs[0]

    def coordinates(self, visit: Callable[[JointType, Any, Any], None]) -> None:
        """As `Sweep.coordinates`."""
        m, found = self.m, dict[JointType, int]()
        types = [JointType.REVOLUTE if type.turns else type for type in m.joint_types]
        kinds = [found.setdefault(type, len(found)) for type in types]
        for name, column in (("q", m.q_start[:-1]), ("v", m.v_start[:-1]), ("kind", kinds)):
            self._new_table(f"coordinate {name}", column)
        bodies: dict[int, Body] = {}
        for type, kind in found.items():
            self.now = bodies[kind] = Body()
            visit(type, Index("own", "coordinate q"), Index("own", "coordinate v"))
        n = len(m.joint_types)
        self.program.loops.append(Loop(1, n + 1, bodies, kinds="coordinate kind"))

    def inertias(self, *, points: bool = False, base: bool = False) -> States:
        """The `Inertia` of each body by itself, whatever those before it could carry as well."""
        m, body = self.m, self._body
        c = m.p_body_com[body]
        outer = m.mass[body][:, None, None] * c[:, :, None] * c[:, None, :]
        trace = np.trace(m.I_com[body], axis1=1, axis2=2)[:, None, None]
        second = 0.5 * trace * np.eye(3) - m.I_com[body] + outer
        rows = np.column_stack(
            [m.mass[body], m.mass[body][:, None] * c, second.reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]]]
        )
        rows *= self._owner[:, None]
        weighed = self._concerned(WEIGHTS, base=base)
        numbers = self._numbers(rows, constants=not weighed)

        def visit(_: JointTransform) -> Inertia:
            mass, x, y, z, xx, xy, xz, yy, yz, zz = (_number(each, _OWN) for each in numbers)
            return Inertia(mass, [x, y, z], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

        found = self.each(visit)
        for each, joint in weighed.items():
            self.now = Body()
            own = self._with_given(lambda m, each=each: body_inertia(m, each, points=points))
            self._keep(found.memory, own, joint)
            self.program.loops.append(Loop(0, 1, {0: self.now}))
        return found

    def _concerned(self, quantities: Collection[str], *, base: bool = False) -> dict[int, int]:
        """The bodies with given parameters of these quantities, and their joints.

        A base that stands still is left out, unless ``base`` asks for it.
        """
        m, found = self.m, dict[int, int]()
        for each, _ in self._given.values():
            if each.quantity in quantities:
                body = int(m.frame_body[each.frame])
                fixed = m.body_joint_types[body] is JointType.FIXED
                if self._last[body] and (base or not fixed):
                    found[body] = int(self._last[body])
        return found

    def pushed(self, on: Callable[..., Any]) -> States:
        """The push on each body (see `Sweep.pushed`); zeros where others have one."""
        joints = self._concerned(("wrench",))
        if not joints:
            return self.each(lambda step: None)
        sweep: Any = self
        every = poses(sweep)
        memory = self._new_states()
        found = _States(self, memory)
        zero = on([([0.0] * 6, [0.0] * 3)], lambda vector: vector)

        def clear(kind: int, step: JointTransform, given: list[Any]) -> None:
            found.structures[kind] = self._keep(memory, zero)

        self._loop(self._each_kind((), clear))
        for body, joint in joints.items():
            self.now = Body()
            pose: FramePose = every.of_joint(joint)

            def push(m: Parametric, body: int = body, pose: FramePose = pose) -> Any:
                wrenches = [(w, m.frame_placement(frame).p) for frame, w in m.wrenches(body)]
                return on(wrenches, lambda vector: applied(transposed(pose.R), vector))

            self._keep(memory, self._with_given(push), joint)
            self.program.loops.append(Loop(0, 1, {0: self.now}))
        return found

    def output(self, *shape: int) -> Output:
        """A result of this shape, zero to begin with."""
        return _RolledOutput(self, "output", shape)

    def scratch(self, *shape: int) -> Output:
        """As `Sweep.scratch`."""
        return _RolledOutput(self, "state", shape)

    def solve(self, matrix: Output, vector: Output) -> None:
        """The solution of A x = b in the place of b (see `Sweep.solve`)."""
        assert isinstance(matrix, _RolledOutput)  # noqa: S101  made by this sweep
        assert isinstance(vector, _RolledOutput)  # noqa: S101
        self.program.loops.append(Solve(vector.shape[0], matrix.memory, vector.memory))

    def columns(self, visit: Callable[[Any], None]) -> None:
        """As `Sweep.columns`; outputs are not to be made anew in it."""
        before, self.program.loops = self.program.loops, []
        visit(Index("column"))
        inside = [each for each in self.program.loops if isinstance(each, Loop)]
        self.program.loops = before
        self.program.loops.append(Columns(self.m.n_v, inside))

    def to_world(
        self,
        own: States,
        hand: Callable[[JointTransform, S], S],
        arrive: Callable[[S], None],
    ) -> None:
        """As `Sweep.to_world`."""
        zero, memory = Body(), self._new_states()
        self.program.loops.append(Loop(0, 1, {0: zero}))
        totals = _States(self, memory)

        def copy(kind: int, _: JointTransform, given: list[Any]) -> None:
            totals.structures[kind] = self._keep(memory, given[0])

        def run(kind: int, step: JointTransform, _: list[Any]) -> None:
            self._keep(memory, hand(step, totals.at(_OWN, kind)), _PARENT, add=True)

        self._loop(self._each_kind([own], copy))
        self._loop(self._each_kind([], run), backwards=True)
        for k in range(self.program.memories[memory].record):
            zero.store(Address(memory, (), k), 0.0)
        self.now = Body()
        arrive(totals.of_joint(0))
        self.program.loops.append(Loop(0, 1, {0: self.now}))

    def at(self, states: States, frame: int) -> Any:
        """As `Sweep.at`."""
        return states.of_joint(int(self._last[int(self.m.frame_body[frame])]))

    def links(self) -> States:
        """As `Sweep.links`."""
        m = self.m
        frames = np.array([m.frame(m.body_names[body]) for body in self._body])
        rows = np.column_stack([m.R_body_frame[frames].reshape(-1, 9), m.p_body_frame[frames]])
        numbers = self._numbers(rows)

        def visit(step: JointTransform) -> FramePose | None:
            if not step.owner:
                return None
            return FramePose(*_placement([_number(x, _OWN) for x in numbers]))

        return self.each(visit)


def _placement(numbers: Sequence[Any]) -> Placement:
    """A placement of nine numbers of its rotation, row by row, and three of its origin."""
    return Placement([list(numbers[3 * i : 3 * i + 3]) for i in range(3)], list(numbers[9:12]))


def _number(x: Any, index: Index) -> Scalar:
    return x(index) if callable(x) else x


def _coupled(value: Any, factor: Scalar, offset: Scalar) -> Scalar:
    return factor * value + offset


# ------------------------------------------------------------------------------ of an algorithm


class Rolled(NamedTuple):
    """An algorithm as a program, and the names and shapes of what goes in and out."""

    signature: Signature
    program: Program


class _Known(NamedTuple):
    """A program, the shapes of its results, and the parameters that matter to it."""

    program: Program
    shapes: list[tuple[int, ...]]
    asked: set[str]


class Loops:
    """Functions of long mechanisms as programs that a graph calls; each is made once.

    A back end of expressions has it as its ``loops``; see `algorithms.sweep.looped`.
    """

    def __init__(self, *, always: bool = False) -> None:
        """``always``: also of mechanisms that are not long."""
        self._always = always
        self.used = False
        self._known: dict[tuple[Any, ...], _Known] = {}

    def __call__(
        self,
        o: GraphOps,
        by_sweep: Callable[..., Any],
        m: Mechanism,
        inputs: Sequence[Any],
        bodies: Sequence[int] | None,
        static: dict[str, Any],
    ) -> list[Any] | None:
        """The results of a call; None for a mechanism that is to be written out."""
        n_bodies = m.n_bodies if bodies is None else len(bodies)
        given = m.given if isinstance(m, Parametric) else []
        if not n_bodies or any(each.quantity in FRAME_POSES for each in given):
            return None
        if not self._always and not is_long(m, bodies):
            return None
        blocks = [o.const(each) for each in inputs]
        key = (by_sweep, m.digest, tuple(bodies or ()), *given, *sorted(static.items()))
        if key not in self._known:
            sweep = RolledSweep(m, [len(block.numbers) for block in blocks], bodies, given)
            found = by_sweep(sweep, *sweep.inputs[1:], **static)
            outputs: list[Output] = found if isinstance(found, list) else [found]
            shapes = [each.shape for each in outputs]
            self._known[key] = _Known(sweep.program, shapes, sweep.asked)
        self.used = True
        program, shapes, asked = self._known[key]
        if isinstance(m, Parametric):
            nothing = [o.const([0.0] * each.size) for each in given]
            blocks += [
                m.ask(each) if each.name in asked else zero
                for each, zero in zip(given, nothing, strict=True)
            ]
        arguments = [k for block in blocks for k in block.numbers]
        numbers = o.graph.call(program, arguments, sum(program.output_sizes))
        results: list[Any] = []
        for shape, size in zip(shapes, program.output_sizes, strict=True):
            if len(shape) <= 2:
                results.append(Expressions(o.graph, shape, numbers[:size]))
            else:
                step = prod(shape[-2:])
                parts = [numbers[k : k + step] for k in range(0, size, step)]
                results.append([Expressions(o.graph, shape[-2:], part) for part in parts])
            numbers = numbers[size:]
        return results


def roll(algorithm: str, m: Mechanism, parameters: Sequence[str] = (), **static: Any) -> Rolled:
    """A registered algorithm that is written in passes, traced for one mechanism.

    ``parameters``, which move no frames, are inputs after its own.

    Raises: InputError for an algorithm that is not, or for parameters without effect.
    """
    entry = find(algorithm)
    if entry.in_passes is None:
        raise InputError(f"{algorithm} is not written in passes over the joints")
    own, sizes = entry.sizes(m), entry.sizes(m, parameters)
    given = find_parameters(m, parameters)
    sweep = RolledSweep(m, tuple(own.values()), bodies_of(m, static), given)
    in_passes: Callable[..., Any] = entry.in_passes
    _, *rest = sweep.inputs
    in_passes(sweep, *rest, **static)
    unused = [each.name for each in given if each.name not in sweep.asked]
    if unused:
        raise entry.without_effect(m, unused, static)
    signature = Signature(
        name=algorithm,
        input_names=tuple(sizes),
        input_shapes=tuple((size,) for size in sizes.values()),
        output_names=(algorithm,),
        output_shapes=(entry.output(m),),
        instructions=sweep.program.instructions(),
    )
    return Rolled(signature, sweep.program)
