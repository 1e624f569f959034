"""Assembly: the passive joints for given actuated ones, the branches, and why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.algorithms.closure import valueless
from linkwork.algorithms.independent_rows import change_point, change_points
from linkwork.checks import (
    broadcast_rows,
    finite_rows,
    leading_shape,
    real_rows,
    whole_number,
)
from linkwork.compile.compiler import Compiler, ProcessBound
from linkwork.compile.lanes import Stall
from linkwork.compile.native_call import Part, mapping_call
from linkwork.compile.threads import thread_count
from linkwork.errors import InputError, ShapeError, UnknownNameError
from linkwork.mechanism.model import Mechanism
from linkwork.mechanism.named_positions import Configuration
from linkwork.mechanism.neutral import neutral
from linkwork.ops.protocol import Block, Ops
from linkwork.renamed import renamed_keyword
from linkwork.solve.closed.following import End, following_expressions
from linkwork.solve.closed.polygons import at_rest, longest_excess, polygons
from linkwork.solve.expressions import (
    ROUNDING,
    Expressions,
    far,
    inside,
    iteration,
    outside,
    verified,
)
from linkwork.solve.inputs import configuration, settings_of
from linkwork.solve.messages import UNITS, at_limits
from linkwork.solve.options import Options, changed
from linkwork.solve.problem import Problem, make_problem
from linkwork.solve.program import Otherwise, Program, Refused, program_of
from linkwork.solve.result import AllSolutions, Column, IKResult, Terms
from linkwork.solve.seeds import starting_points, starts_of
from linkwork.solve.selection import distance, distinct
from linkwork.solve.tasks import Closed, Group

Floats = NDArray[np.float64]
Actuated = ArrayLike | Mapping[str, float]

_STEPS = 50
_TRIES = 200
"""So many find what few starts lead to: one state in 500 of a Stewart platform needs over 50."""
_CLOSER = 0.25
"""The search goes on to this share of the squared tolerance, so that rounding decides nothing."""
_ITERATIONS = 5000
"""Iterations of a way that is followed: a crank's fifty turns."""
_NONE = np.zeros((0, 0))
_OPEN = 1.0e-12
_MET = 1.0e-3
"""So little of the rows' rank is left where a way ends next to a change point."""
_AT_LIMIT = 1.0e-3
"""So near to a limit (rad, m) is at it where steps that got shorter ended a way."""


class _How(NamedTuple):
    """A program and the numbers of one call of it."""

    program: Program
    options: Options
    numbers: Floats
    terms: Terms


class Assembly(ProcessBound):
    """A compiled solver for the passive joints of a mechanism, to be called again and again.

    ``actuated`` are the joints whose positions are given, by default those that the mechanism says;
    all others that a loop or coupling depends on are passive. It holds no state between calls.

    Source: damped least squares with damping in proportion to the error (Sugihara, 2011), on the
    normal equations of sparse blocks, iterated in vector lanes.
    Raises: UnknownNameError, InputError.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        actuated: str | Sequence[str] | None = None,
        *,
        compiler: Compiler | None = None,
    ) -> None:
        self.mechanism = m = mechanism
        self.actuated = actuated_names(m, actuated)
        looped = [m.joint_names[c] for c in Closed().bind(m).coordinates]
        self.passive = tuple(name for name in looped if name not in self.actuated)
        if not self.passive:
            raise InputError(f"every joint in the loops of '{m.name}' is actuated: none is passive")
        self.problem = make_problem(m, Closed(), joints=self.passive)
        self._neutral = neutral(m)
        self._compiler = compiler or Compiler()
        self._given = given_positions(m, self.actuated)

    @cached_property
    def _search(self) -> _How:
        """From starts to any branch."""
        expressions = assembly_expressions(self.problem, self._given)
        starts = np.ascontiguousarray(np.stack(starts_of(self.problem)))
        return self._how(self._program(expressions, starts), Options(steps=_STEPS, tries=_TRIES))

    @cached_property
    def _following(self) -> _How:
        """From ``q0`` along its branch."""
        expressions = following_expressions(self.problem, self._given)
        starts = np.zeros((3, expressions.n))  # of tries at random points: there are none
        program = self._program(expressions, starts)
        return self._how(program, Options(steps=_ITERATIONS), following=True)

    def _program(self, expressions: Expressions, starts: Floats) -> Program:
        with self._compiler.work(f"the assembly of {self.mechanism.name}"):
            return program_of(expressions, starts, (), compiler=self._compiler)

    def _how(self, program: Program, options: Options, *, following: bool = False) -> _How:
        """The numbers of a search, or of a way that is followed."""
        problem = self.problem
        columns = tuple(Column(t.name, g, t.priority) for t in problem.tasks for g in t.groups)
        settings = settings_of(problem, options)
        most = settings[: len(columns)].copy()
        settings[: len(columns)] *= _CLOSER
        numbers, thresholds = settings.tolist(), [*most.tolist(), ROUNDING]
        named = {"seed": options.seed, "seed_try": -1, "checked": 0}
        if following:
            if options.tries is not None or options.seed:
                raise InputError(
                    "tries and seed are those of a search, but the way from q0 is followed; "
                    "follow=False takes q0 as the start of a search"
                )
            iterations = options.steps or _ITERATIONS
            # the expression counts by itself; the lanes are never the first to end
            named |= {"steps": iterations + 3, "tries": 1}
            numbers.append(float(iterations))
            thresholds[-1:] = [float(End.ARRIVED), math.inf, ROUNDING]
        else:
            named |= {"steps": options.steps_for(problem), "tries": options.tries_for(problem)}
        messages = AssemblyMessages(
            self.mechanism,
            tuple(column.group for column in columns),
            self._given if following else None,
        )
        terms = Terms(columns, most, messages, messages.solved)
        return _How(program, options, program.options(named, numbers, thresholds), terms)

    @property
    def n_actuated(self) -> int:
        """The number of positions of the actuated joints."""
        return len(self._given)

    def solve(  # noqa: PLR0913  all but two are named options
        self,
        actuated: Actuated,
        q0: Configuration | None = None,
        *,
        follow: bool = True,
        steps: int | None = None,
        tries: int | None = None,
        seed: int | None = None,
        options: Options | None = None,
        threads: int = 1,
        near: Configuration | None = None,
    ) -> IKResult:
        """Configurations that are assembled, with the actuated joints at these positions.

        ``actuated`` (..., n_actuated) in the order of `actuated`, or by name: what is not named
        is where ``q0`` has it. From ``q0`` (..., nq) the actuated joints go straight to these
        positions, and the others are followed on their branch of assembly, past no singularity.
        Where that branch ends on the way, or a joint would leave its limits, ``success`` is False,
        ``q`` is the assembled configuration where it ends, and ``reason`` says so. A ``q0`` that
        is open is closed first, with its actuated joints where they are. ``follow=False``: it is
        only where a search for any branch starts. Without ``q0`` that search starts at neutral;
        it goes on at random. What is neither stays where ``q0``, or neutral, has it.

        Raises: ShapeError, InputError for what is not finite or has the wrong shape, and for
        options of a search (``tries``, ``seed``) where a way is followed.
        """
        if near is not None:
            q0 = renamed_keyword("Assembly.solve", "near", "q0", near, q0)
        following = follow and q0 is not None
        how = self._following if following else self._search
        changes = _changes(steps, tries, seed)
        if options is None and changes == _changes(None, None, None):
            row = how.program.one(actuated, self._neutral if q0 is None else q0, how.numbers)
            n_q = self.mechanism.n_q
            if row is not None and row[n_q] != 0.0:
                return IKResult(row[:n_q], row[n_q:], how.terms, _NONE)
        else:
            chosen = changed(options or how.options, changes)
            how = self._how(how.program, chosen, following=following)
        clock = self._compiler.clock
        begin = clock() if clock else math.nan
        given, start, lead = self._rows(actuated, q0)
        q, report = self._run(how, given, start, thread_count(threads))
        took = clock() - begin if clock else math.nan
        shape = (*lead, q.shape[1]), (*lead, report.shape[1])
        return IKResult(q.reshape(shape[0]), report.reshape(shape[1]), how.terms, given, took)

    def named(
        self, given: Sequence[Part], found: Sequence[Part], q0: Configuration
    ) -> Callable[[Any], dict[str, Any] | None]:
        """``call(state)``: from a dict of positions to a dict of positions, in one native call.

        ``given`` are its parts with their places among the actuated positions, ``found`` those of
        the result with their places in q. The way from ``q0`` (nq,) is followed as by `solve`. It
        returns None where that does not assemble it, and for anything but dicts of floats.
        """
        how = self._following
        program, sizes = how.program, how.program.sizes
        if not program.made.facts["one"]:
            return Otherwise()
        kept = [np.ascontiguousarray(configuration(q0, self.mechanism, "q0")), how.numbers]
        return mapping_call(
            (tuple(given), tuple(found)),
            (sizes.n_q + sizes.report, sizes.n_q),
            self._compiler,
            Otherwise(program, kept),
            rows=program.made.code.address("one"),
            arrays=[a.ctypes.data for a in kept],
        )

    def all_solutions(  # noqa: PLR0913  all but two are named options
        self,
        actuated: Actuated,
        q0: Configuration | None = None,
        *,
        starts: int = 500,
        apart: float = 1.0e-3,
        steps: int | None = None,
        tries: int | None = None,
        seed: int | None = None,
        options: Options | None = None,
        threads: int = 1,
    ) -> AllSolutions:
        """Every branch that is found from ``starts`` starts (n, nq), the nearest to ``q0`` first.

        Branches that differ by less than ``apart`` (radians of the joint that differs most) are
        one. Of a mechanism that the actuated joints do not fix these are samples.

        Raises: as `solve`; ShapeError for more than one row.
        """
        n = whole_number(starts, "starts")
        given, start, lead = self._rows(actuated, q0)
        if lead != ():
            raise ShapeError(f"all branches are those of one row, not of rows of shape {lead}")
        usual = options or Options(steps=_STEPS, tries=1)
        how = self._how(self._search.program, changed(usual, _changes(steps, tries, seed)))
        points = starting_points(self.problem, start, n, how.options.seed)[0]
        many, points = np.repeat(given, n, axis=0), np.ascontiguousarray(points)
        q, report = self._run(how, many, points, thread_count(threads))
        solved = np.flatnonzero(report[:, 0] > 0.5)
        away = distance(self.problem, q[solved], np.repeat(start, solved.size, axis=0))
        solved = solved[np.argsort(away, kind="stable")]
        solved = solved[distinct(self.problem, q[solved], apart)]
        best = int(report[:, 1:-3].max(axis=1).argmin())
        why = how.terms.explain(q[best], report[best][1:-2], given[0])
        why = "solved" if solved.size else why
        return AllSolutions(q[solved], report[solved], how.terms, why_none=why)

    def _rows(
        self, actuated: Actuated, q0: Configuration | None
    ) -> tuple[Floats, Floats, tuple[int, ...]]:
        """The given positions (N, n), the starts (N, nq) and the leading shape."""
        m = self.mechanism
        start = self._neutral if q0 is None else configuration(q0, m, "q0")
        given = self._by_name(actuated, start) if isinstance(actuated, Mapping) else actuated
        rows = finite_rows(given, "actuated", self.n_actuated)
        lead = leading_shape({"actuated": rows, "q0": start})
        return broadcast_rows(rows, lead), broadcast_rows(start, lead), lead

    def _by_name(self, actuated: Mapping[str, Any], start: Floats) -> Floats:
        """The rows of positions by name, those that are not named from the start."""
        m, values = self.mechanism, start[..., list(self._given)].copy()
        places: dict[str, list[int]] = {}
        for name in self.actuated:
            c = m.joint(name)
            q = range(int(m.q_start[c]), int(m.q_start[c + 1]))
            places[name] = [self._given.index(k) for k in q]
        for name, value in actuated.items():
            if name not in places:
                raise UnknownNameError("actuated joint", str(name), self.actuated)
            where = places[name]
            own = np.asarray(real_rows(np.atleast_1d(value), f"actuated['{name}']", len(where)))
            if own.ndim > 1:
                raise ShapeError("positions by name are those of one row; give an array for more")
            values[..., where] = own
        return values

    def _run(self, how: _How, given: Floats, start: Floats, threads: int) -> tuple[Floats, Floats]:
        try:
            return how.program.run([given], start, how.numbers, threads=threads)
        except Refused as refused:
            q = start[refused.row].copy()
            why = valueless(self.mechanism, q)
            q[list(self._given)] = given[refused.row]
            why = valueless(self.mechanism, q) or why
            why = why or "it has numbers so large that nothing could be verified"
            raise InputError(f"row {refused.row} cannot be assembled: {why}") from None


STALL = Stall(steps=10, share=0.02)
"""A try that does not get nearer stands in a minimum that is not assembled. Shorter patience ends
tries that pass a saddle slowly, and with them the branch that `q0` or neutral would lead to."""


def _changes(steps: int | None, tries: int | None, seed: int | None) -> tuple[Any, ...]:
    """Changes of options, as `changed` takes them."""
    return (None, None, steps, tries, seed, None, None, None)


def given_positions(m: Mechanism, actuated: Sequence[str]) -> tuple[int, ...]:
    """The indices in q of the actuated joints, in their order."""
    return tuple(k for name in actuated for k in m.q_indices([m.joint(name)]))


def assembly_expressions(problem: Problem, given: Sequence[int]) -> Expressions:
    """The expressions of closing a problem's loops with q at the indices ``given`` as asked for.

    A row is these positions. Parameters are the positions that the closure depends on and that are
    held, then all that is given, so that the answer has it. Rows that the lengths of sides forbid
    (`polygons`) get one try, which says how far they stay open.
    """
    held = problem.layout.n_parameters
    place = {k: i for i, k in enumerate(given)}
    m = problem.mechanism
    sides = polygons(m, problem.moved)

    def prepare(o: Ops, target: Block, q0: Block) -> dict[str, Block]:
        own = [target[place[k]] if k in place else q0[k] for k in problem.held]
        fault = [far(o, target, len(given))]
        if sides:
            beyond = longest_excess(o, m, sides, at_rest(o, m, (target, given), q0, problem.moved))
            fault.append(o.select(o.less(0.0, beyond), 1.0, 0.0))
        return {
            "x0": o.vector(inside(o, problem, q0)),
            "parameters": o.vector([*own, *(target[i] for i in range(len(given)))]),
            "fault": o.vector(fault),
            "features": o.vector([]),
        }

    def iterate(o: Ops, x: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        after, state = iteration(o, problem, x, o.part(parameters, 0, held), settings)
        return {"x": after, "state": state}

    def verify(o: Ops, x: Block, q0: Block, parameters: Block, settings: Block) -> dict[str, Block]:
        own = o.part(parameters, 0, held)
        plain = o.vector([0.0] * problem.layout.n_settings)
        found = verified(o, problem, x, q0, own, plain)
        q, measures = found["q"], found["measures"]
        values = [parameters[held + place[k]] if k in place else q[k] for k in range(m.n_q)]
        n = sum(len(task.groups) for task in problem.tasks)
        worst = o.maximum(measures[n], outside(o, m, values, given))
        return {
            "q": o.vector(values),
            "measures": o.vector([*(measures[k] for k in range(n)), worst]),
        }

    return Expressions(
        key=("assembly", ",".join(map(str, given)), *problem.key),
        inputs=((len(given),),),
        n_q=m.n_q,
        n=len(problem.moved),
        n_parameters=held + len(given),
        n_settings=problem.layout.n_settings,
        prepare=prepare,
        iterate=iterate,
        verify=verify,
        stall=STALL,
    )


def actuated_names(m: Mechanism, actuated: str | Sequence[str] | None) -> tuple[str, ...]:
    """The joints that are meant: those that are named, or those that the mechanism says.

    Raises: UnknownNameError, InputError.
    """
    if actuated is None:
        if not m.actuated:
            raise InputError(
                f"'{m.name}' does not say which joints are actuated: name them, "
                "or use actuate([...]) first"
            )
        return m.actuated
    names = (actuated,) if isinstance(actuated, str) else tuple(actuated)
    for name in names:
        m.joint(name)
        if names.count(name) > 1:
            raise InputError(f"'{name}' is named twice among the actuated joints")
    return names


@dataclass(frozen=True, eq=False)
class AssemblyMessages:
    """Messages for failures, found when asked for; it can be pickled.

    ``given`` are the indices in q of the joints whose way was followed; None for a search.
    """

    mechanism: Mechanism
    groups: tuple[Group, ...]
    given: tuple[int, ...] | None = None

    def __call__(self, q: Floats, measures: Floats, _parameters: Floats) -> str:
        """A message on how far each loop stays open and why, or where a branch ends.

        Shapes: q (nq,), measures (groups + 1,), with two more of a way.
        """
        m = self.mechanism
        left = ", ".join(open_parts(self.groups, measures))
        if self.given is not None:
            return self._on_the_way(q, End(round(float(measures[-3]))), float(measures[-2]), left)
        parts = [f"it cannot be assembled from there: {left} open"] if left else []
        if measures[-1] > ROUNDING:
            parts.append("a joint would be outside of its limits")
        at = at_limits(m, range(len(m.joint_names)), q)
        if at:
            parts.append(f"at a limit there: {', '.join(at)}")
        return "; ".join(parts)

    def solved(self, q: Floats) -> str:
        """The word for success, and whether q (nq,) is a change point."""
        known = change_point(self.mechanism, q)
        return f"solved; {known}" if known else "solved"

    def _on_the_way(self, q: Floats, end: End, share: float, left: str) -> str:
        m, given = self.mechanism, self.given or ()
        if end is End.OPEN_AT_START:
            return (
                "q0 is not assembled, and cannot be assembled with its actuated joints where "
                f"they are: {left} open"
            )
        if end is End.ARRIVED:
            return "a joint would be outside of its limits"
        places: list[str] = []
        for name, start, stop in zip(m.joint_names, m.q_start, m.q_start[1:], strict=False):
            if int(start) in given:
                values = ", ".join(f"{x:.6g}" for x in q[int(start) : int(stop)])
                places.append(f"{name} = {values}" if stop - start == 1 else f"{name} = ({values})")
        where = f"after {100.0 * share:.4g} % of the way from q0, at {', '.join(places)}"
        if end is End.ITERATIONS:
            return f"{where}, the iterations are used up: steps= allows more"
        passive = [c for c in range(len(m.joint_names)) if int(m.q_start[c]) not in given]
        at = at_limits(m, passive, q, within=_AT_LIMIT)
        why = f"at a limit: {', '.join(at)}" if at else "the passive joints are singular there"
        met = change_points(m, q, _MET)
        if met and not at:
            why += f", next to a change point of {', '.join(map(repr, met))}"
        return (
            f"it cannot be assembled on the branch of q0, which ends {where}; {why}; "
            "follow=False searches for any branch"
        )


def open_parts(groups: Sequence[Group], measures: Floats, within: float = _OPEN) -> list[str]:
    """Each group of rows that is not closed within so much, and by how much."""
    found: list[str] = []
    for group, squared in zip(groups, measures, strict=False):
        error = float(group.error(squared))
        if error > within:
            found.append(f"'{group.name}' {error:.3g}{UNITS[group.unit]}")
    return found
