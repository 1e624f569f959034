"""Loops found in a graph: what is done alike for many numbers is written once, as a loop.

A graph that contains a long mechanism (inverse kinematics, a step of a simulation) has calls of
`Program`s for what goes from joint to joint, and the rest of it grows with the mechanism too: each
joint has its column, its limits, its share in sums. Those parts are alike. Expressions of one shape
(the same operations on inputs, constants and results, whichever elements they are) are one *class*;
a class of many becomes a loop whose body is written once and loads by tables, or by a stride where
elements follow each other. A long sum, or the least or largest of many, is a loop over its terms.

    graph -> folds (long sums) -> classes -> those that are kept in memory -> loops in order

Expressions that are used once are computed where they are used, so that memory holds only what is
used again. Sums are added up class by class: their last bits differ from those of what is written
out, and are the same at every width.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork.compile.rolled import Address, Body, Call, Index, Loop, Program, Rolled
from linkwork.compile.tracing import Traced

Places = NDArray[np.int64]

_LEAST_TERMS = 12
"""Shorter sums are written out."""
_LEAST_MEMBERS = 4
"""Classes of fewer expressions are written out one by one."""
_WIDEST = 64
"""Sums that are added up side by side, so that they share what they load; more go one by one."""
_LONGEST_BODY = 1_500
"""Expressions after which a new loop is begun."""

_COMMUTE = {"ADD", "MUL", "FMIN", "FMAX", "AND", "OR"}
_FAMILY = {"ADD": "ADD", "SUB": "ADD", "FMIN": "FMIN", "FMAX": "FMAX", "AND": "AND", "OR": "OR"}
"""Operations that long ones are made of, and what they are added up by."""

Color = int
"""The number of a class."""


class _Term(NamedTuple):
    """A term of a sum, and whether it is taken away."""

    number: int
    taken: bool


@dataclass
class _Class:
    """Expressions of one shape."""

    color: Color
    operation: str
    members: list[int] = field(default_factory=list[int])
    arguments: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    kept: bool = False  # whether its values stand in memory
    memory: int = -1

    def table(self) -> Places:
        """The arguments (members, arity)."""
        return np.array(self.arguments, dtype=np.int64).reshape(len(self.members), -1)


@dataclass
class _Item:
    """A piece of work that ``write`` writes into a body that runs ``count`` times, or a call.

    It waits for what it ``needs``; what it ``gives`` is there when all items that give it are done.
    """

    count: int
    needs: set[Hashable]
    gives: Hashable
    write: Callable[[Body], None] | None = None
    call: Call | None = None
    reads_back: bool = False  # whether it loads what an earlier item has stored


def loops_of(traced: Traced) -> Rolled:
    """A traced function with calls of programs as a program."""
    program = _Finder(traced).program()
    signature = replace(traced.signature, instructions=program.instructions())
    return Rolled(signature, program)


class _Finder:
    """Finds the loops of one graph."""

    def __init__(self, traced: Traced) -> None:
        self.traced, self.graph = traced, traced.graph
        signature = traced.signature
        self.out = Program()
        self.inputs = [self.out.new_memory("input", n) for n in signature.input_sizes]
        self.outputs = [self.out.new_memory("output", n) for n in signature.output_sizes]
        self.items: list[_Item] = []
        self.color = np.zeros(len(self.graph), dtype=np.int64)
        self.rank = np.zeros(len(self.graph), dtype=np.int64)
        self.classes: list[_Class] = []
        self._output_sizes = [program.output_sizes for program in self.graph.programs]
        self._known: dict[Hashable, Color] = {}
        self._results: dict[int, int] = {}  # the memory of what a call gives
        self._tables: dict[bytes, str] = {}
        self._columns: dict[bytes, int] = {}
        self._values: dict[int, int] = {}  # expressions of the body that is written one by one
        self._value_body: Body | None = None

    def program(self) -> Program:
        """The loops."""
        calls = [k for k in self.traced.order if self.graph.operations[k] == "CALL"]
        uses = self._count(calls)
        folds, absorbed = self._folds(uses)
        for k in self.traced.order:
            if k not in absorbed:
                self._classify(k, folds)
        self._classify(0, folds)  # the zero, which outputs and calls may be
        targets = [
            (f"output {which}", self.outputs[which], numbers)
            for which, numbers in enumerate(self.traced.outputs)
        ]
        for call in calls:
            targets += self._call(call)
        self._keep(uses, folds)
        for what, memory, numbers in targets:
            self._store(what, memory, numbers)
        for each in self.classes:
            if each.operation == "FOLD":
                self._fold(each, folds)
            elif each.kept:
                self._class(each)
        self._order()
        return self.out

    # what belongs together

    def _count(self, calls: Sequence[int]) -> list[int]:
        """The uses of each expression."""
        uses = [0] * len(self.graph)
        for k in self.traced.order:
            for argument in self.graph.below(k):
                uses[argument] += 1
        for numbers in self.traced.outputs:
            for k in numbers:
                uses[k] += 1
        return uses

    def _folds(self, uses: list[int]) -> tuple[dict[int, list[_Term]], set[int]]:
        """The terms of each long sum, and what is a part of one and needed nowhere else."""
        operations, arguments = self.graph.operations, self.graph.arguments
        folds: dict[int, list[_Term]] = {}
        absorbed: set[int] = set()
        for root in reversed(self.traced.order):
            family = _FAMILY.get(operations[root])
            if family is None or root in absorbed:
                continue
            terms: list[_Term] = []
            inside: list[int] = []
            stack = [_Term(root, False)]
            while stack:
                k, taken = stack.pop()
                operation = operations[k]
                own = _FAMILY.get(operation) == family or (operation == "NEG" and family == "ADD")
                if not own or (k != root and uses[k] != 1):
                    terms.append(_Term(k, taken))
                    continue
                inside.append(k)
                if operation == "NEG":
                    stack.append(_Term(arguments[k][0], not taken))
                    continue
                a, b = arguments[k]
                stack.append(_Term(b, taken != (operation == "SUB")))
                stack.append(_Term(a, taken))
            if len(terms) >= _LEAST_TERMS:
                folds[root] = terms
                absorbed.update(k for k in inside if k != root)
        return folds, absorbed

    def _classify(self, k: int, folds: dict[int, list[_Term]]) -> None:
        """Put an expression into its class; its arguments are in theirs."""
        operation, arguments = self.graph.operations[k], self.graph.arguments[k]
        color = self.color
        if operation == "INPUT":
            key: Hashable = (operation, arguments[0])
            arguments = arguments[1:]
        elif operation == "RESULT":
            which, element = self._result(*arguments)
            key, arguments = (operation, arguments[0], which), (element,)
        elif operation == "CONST":
            key = operation
        elif operation == "CALL":
            return
        elif k in folds:
            kinds = sorted({(term.taken, int(color[term.number])) for term in folds[k]})
            key, operation, arguments = ("FOLD", _FAMILY[operation], *kinds), "FOLD", ()
        else:
            if operation in _COMMUTE and color[arguments[0]] > color[arguments[1]]:
                arguments = arguments[::-1]
            key = (operation, *[int(color[a]) for a in arguments])
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self.classes)
            self.classes.append(_Class(found, operation))
        own = self.classes[found]
        color[k], self.rank[k] = found, len(own.members)
        own.members.append(k)
        own.arguments.append(arguments)

    def _result(self, call: int, element: int) -> tuple[int, int]:
        """The result of a call that an element is of, and its place there."""
        which, program = 0, self.graph.arguments[call][0]
        sizes = self._output_sizes[program]
        while element >= sizes[which]:
            element -= sizes[which]
            which += 1
        return which, element

    def _keep(self, uses: list[int], folds: dict[int, list[_Term]]) -> None:
        """Give memory to what is used more than once, and to sums."""
        for each in self.classes:
            if each.operation in ("INPUT", "RESULT", "CONST"):
                continue
            each.kept = each.operation == "FOLD" or any(uses[k] != 1 for k in each.members)
            if each.kept:
                each.memory = self.out.new_memory("state", len(each.members), 1)

    # pieces of work

    def _call(self, call: int) -> list[tuple[str, int, Sequence[int]]]:
        """A call, and what is stored for it: its inputs, one after the other."""
        which, *arguments = self.graph.arguments[call]
        program: Program = self.graph.programs[which]
        sizes, results = program.input_sizes, program.output_sizes
        given = [self.out.new_memory("state", size) for size in sizes]
        found = [self.out.new_memory("state", size) for size in results]
        self._results[call] = found[0]
        targets: list[tuple[str, int, Sequence[int]]] = []
        at = 0
        for k, (size, memory) in enumerate(zip(sizes, given, strict=True)):
            targets.append((f"input {k} of {call}", memory, arguments[at : at + size]))
            at += size
        made = Call(program, tuple(given), tuple(found))
        needs: set[Hashable] = {what for what, _, numbers in targets if numbers}
        self.items.append(_Item(0, needs, ("call", call), call=made))
        return targets

    def _store(self, what: str, memory: int, numbers: Sequence[int]) -> None:
        """Store expressions in a row, class by class."""
        every = np.array(numbers, dtype=np.int64)
        for color in np.unique(self.color[every]).tolist():
            places = np.flatnonzero(self.color[every] == color)
            self._item(partial(self._stored, memory, every, places), every[places], what)

    def _stored(self, memory: int, every: Places, which: Places, body: Body, at: Places) -> None:
        value = self._value(body, every[which[at]])
        self._put(body, self._address(memory, which[at]), value)

    def _class(self, own: _Class) -> None:
        self._item(partial(self._computed, own), np.array(own.members), ("class", own.color))

    def _computed(self, own: _Class, body: Body, at: Places) -> None:
        members = np.array(own.members)[at]
        value = self._applied(body, own, members)
        self._put(body, self._address(own.memory, at), value)
        if len(at) == 1:
            self._values[int(members[0])] = value

    def _fold(self, own: _Class, folds: dict[int, list[_Term]]) -> None:
        """A long sum: the first term of each member, then a loop for each class of terms."""
        operation = _FAMILY[self.graph.operations[own.members[0]]]
        kinds: dict[tuple[bool, int], list[list[int]]] = {}
        for place, k in enumerate(own.members):
            for term in folds[k]:
                kind = term.taken, int(self.color[term.number])
                groups = kinds.setdefault(kind, [[] for _ in own.members])
                groups[place].append(term.number)
        first = min(kinds)
        begin = np.array([group.pop(0) for group in kinds[first]])
        done: Hashable = ("class", own.color, 0)
        self._item(partial(self._begun, own, begin, first[0]), begin, done)
        left = {kind: groups for kind, groups in sorted(kinds.items()) if any(groups)}
        for n, (kind, groups) in enumerate(left.items()):
            after = ("class", own.color, n + 1)
            lengths = {len(group) for group in groups}
            write: Any
            if len(lengths) == 1 and len(groups) <= _WIDEST:
                terms = np.array(groups)
                write, count = partial(self._side_by_side, own, terms, operation, kind[0]), terms[0]
            else:
                pairs = [(t, m, k) for m, group in enumerate(groups) for t, k in enumerate(group)]
                _, places, count = np.array(sorted(pairs)).T
                write = partial(self._one_by_one, own, (places, count), operation, kind[0])
            self._item(write, count, after, after=done)
            done = after
        self.items.append(_Item(0, {done}, ("class", own.color)))

    def _begun(self, own: _Class, begin: Places, taken: bool, body: Body, at: Places) -> None:
        value = self._value(body, begin[at])
        value = body.ops.graph.negative(value) if taken else value
        self._put(body, self._address(own.memory, at), value)

    def _side_by_side(
        self, own: _Class, terms: Places, operation: str, taken: bool, body: Body, at: Places
    ) -> None:
        for place, row in enumerate(terms):
            address = self._address(own.memory, np.full(len(at), place))
            self._added(body, address, row[at], operation, taken)

    def _one_by_one(
        self,
        own: _Class,
        pairs: tuple[Places, Places],
        operation: str,
        taken: bool,
        body: Body,
        at: Places,
    ) -> None:
        places, terms = pairs
        self._added(body, self._address(own.memory, places[at]), terms[at], operation, taken)

    def _added(
        self, body: Body, address: Address, terms: Places, operation: str, taken: bool
    ) -> None:
        value = self._value(body, terms)
        before = self._load(body, address)
        operation = "SUB" if taken else operation
        self._put(body, address, body.ops.graph.node(operation, before, value))

    def _item(
        self,
        write: Callable[[Body, Places], None],
        numbers: Places,
        gives: Hashable,
        *,
        after: Hashable = None,
    ) -> None:
        """Work for these expressions: a loop, or one by one where they are few.

        ``after``: the work whose numbers it adds to, and loads for that.
        """
        needs, adds = self._needs(int(numbers[0]), gives), after is not None
        if adds:
            needs.add(after)
        if adds or len(numbers) >= _LEAST_MEMBERS:
            every = np.arange(len(numbers))
            self.items.append(
                _Item(len(numbers), needs, gives, lambda body: write(body, every), None, adds)
            )
            return
        for k in range(len(numbers)):
            one = np.array([k])
            self.items.append(_Item(1, needs, gives, lambda body, one=one: write(body, one)))

    def _needs(self, number: int, gives: Hashable) -> set[Hashable]:
        """The classes in memory and the calls that an expression is computed from."""
        needs: set[Hashable] = set()
        stack = [number]
        while stack:
            k = stack.pop()
            own = self.classes[self.color[k]]
            if own.operation == "RESULT":
                needs.add(("call", self.graph.arguments[k][0]))
            elif own.kept and ("class", own.color) != gives:
                needs.add(("class", own.color))
            elif own.operation not in ("INPUT", "CONST"):
                stack.extend(own.arguments[self.rank[k]])
        return needs

    # the bodies

    def _value(self, body: Body, numbers: Places) -> int:
        """The expression in a body of what has these numbers, one for each time that it runs."""
        own = self.classes[self.color[numbers[0]]]
        one = len(numbers) == 1
        if one and self._value_body is body and int(numbers[0]) in self._values:
            return self._values[int(numbers[0])]
        if own.operation == "CONST":
            return self._constants(body, numbers)
        if own.operation in ("INPUT", "RESULT"):
            elements = own.table()[self.rank[numbers], 0]
            which = self.graph.arguments[own.members[0]]
            if own.operation == "INPUT":
                return self._load(body, self._address(self.inputs[which[0]], elements))
            memory = self._results[which[0]] + self._result(*which)[0]
            return self._load(body, self._address(memory, elements))
        if own.kept:
            return self._load(body, self._address(own.memory, self.rank[numbers]))
        return self._applied(body, own, numbers)

    def _applied(self, body: Body, own: _Class, numbers: Places) -> int:
        table = own.table()[self.rank[numbers]]
        arguments = [self._value(body, column) for column in table.T]
        return body.ops.graph.node(own.operation, *arguments)

    def _constants(self, body: Body, numbers: Places) -> int:
        values = np.array([self.graph.values[k] for k in numbers.tolist()], dtype=np.float64)
        graph = body.ops.graph
        if np.all(values == values[0]):
            return graph.constant(float(values[0]))
        key = values.tobytes()
        if key not in self._columns:
            self._columns[key] = self.out.new_memory("table", len(values), 1, values)
        return self._load(body, Address(self._columns[key], ((Index("own"), 1),)))

    def _load(self, body: Body, address: Address) -> int:
        (number,) = body.load(address).numbers
        return number

    def _put(self, body: Body, address: Address, value: int) -> None:
        body.stores.append((address, value, False))

    def _address(self, memory: int, elements: Places) -> Address:
        """The addresses of these elements of a memory in a loop: by a stride, or by a table."""
        first = int(elements[0])
        steps = np.diff(elements)
        if not np.any(steps):
            return Address(memory, (), first)
        if np.all(steps == steps[0]):
            return Address(memory, ((Index("own"), int(steps[0])),), first)
        column = elements.astype(np.int32)
        key = column.tobytes()
        if key not in self._tables:
            self._tables[key] = f"places {len(self._tables)}"
            self.out.tables[self._tables[key]] = column
        return Address(memory, ((Index("own", self._tables[key]), 1),))

    # their order

    def _order(self) -> None:  # noqa: C901  one story: what waits, what is ready, what is written
        """Write the items when what they need is there, those of one count together."""
        missing: dict[Hashable, int] = defaultdict(int)
        for item in self.items:
            missing[item.gives] += 1
        waiting: dict[Hashable, list[_Item]] = defaultdict(list)
        left = {id(item): len(item.needs) for item in self.items}
        ready: list[_Item] = []
        for item in self.items:
            for need in item.needs:
                waiting[need].append(item)
            if not item.needs:
                ready.append(item)

        def finished(items: Iterable[_Item]) -> None:
            for item in items:
                missing[item.gives] -= 1
                if missing[item.gives]:
                    continue
                for other in waiting.pop(item.gives, ()):
                    left[id(other)] -= 1
                    if not left[id(other)]:
                        ready.append(other)

        def next_of(wanted: Callable[[_Item], bool]) -> list[_Item]:
            found = [item for item in ready if wanted(item)]
            ready[:] = [item for item in ready if not wanted(item)]
            return found

        while ready:
            body = Body()
            self._values, self._value_body = {}, body
            while single := next_of(
                lambda item: item.count < 2 and item.call is None and not item.reads_back
            ):
                for item in single:
                    if item.write is not None:
                        item.write(body)
                finished(single)
            if body.stores:
                self.out.loops.append(Loop(0, 1, {0: body}))
            called = next_of(lambda item: item.call is not None)
            self.out.loops += [item.call for item in called if item.call is not None]
            batch = next_of(lambda _: True)
            by_count: dict[int, list[_Item]] = defaultdict(list)
            for item in batch:
                by_count[item.count].append(item)
            for count, items in by_count.items():
                self._loop(count, items)
            finished([*called, *batch])

    def _loop(self, count: int, items: Sequence[_Item]) -> None:
        body = Body()
        for item in items:
            if len(body.ops.graph) > _LONGEST_BODY:
                self.out.loops.append(Loop(0, count, {0: body}))
                body = Body()
            if item.write is not None:
                item.write(body)
        self.out.loops.append(Loop(0, count, {0: body}))
