"""Loops of a file put beside a mechanism, and back."""

from __future__ import annotations

from linkwork.errors import DescriptionError, Finding, LinkworkError
from linkwork.formats.loops import CouplingRecord, LoopRecord, LoopsRecord
from linkwork.mechanism import edit
from linkwork.mechanism.assemble import with_beside
from linkwork.mechanism.expressions import checked
from linkwork.mechanism.loops import Beside, Coupling, coupling
from linkwork.mechanism.model import Mechanism


def with_loops(m: Mechanism, record: LoopsRecord) -> Mechanism:
    """The mechanism with all that a record says, beside what it has.

    Raises: DescriptionError with every entry that does not fit: names that do not exist, kinds.
    """
    problems: list[Finding] = []
    for loop in record.loops:
        try:
            m = edit.close(
                m, loop.frame_a, loop.frame_b, loop.kind, name=loop.name, distance=loop.distance
            )
        except LinkworkError as error:
            problems.append(_problem(error, record, loop.line, "loops"))
    for each in record.couplings:
        try:
            added = _coupling(each)
            m = with_beside(m, Beside(m.loops, (*m.couplings, added), m.actuated))
        except LinkworkError as error:
            problems.append(_problem(error, record, each.line, "couplings"))
    if record.actuated:
        try:
            m = edit.actuate(m, record.actuated)
        except LinkworkError as error:
            problems.append(_problem(error, record, record.actuated_line, "actuated"))
    if problems:
        raise DescriptionError(problems)
    return m


def _problem(error: LinkworkError, record: LoopsRecord, line: int, element: str) -> Finding:
    return Finding("error", "loops", str(error), record.file, line, element)


def _coupling(record: CouplingRecord) -> Coupling:
    if not record.operations:
        return coupling(record.joint, record.leaders, rate=record.rates, offset=record.offset)
    function = checked(len(record.leaders), record.operations)
    return coupling(record.joint, record.leaders, function)


def loops_record(m: Mechanism) -> LoopsRecord:
    """What stands beside a mechanism, as a file says it."""
    loops = [
        LoopRecord(loop.frame_a, loop.frame_b, loop.kind, loop.distance, loop.name)
        for loop in m.loops
    ]
    couplings = [
        CouplingRecord(each.joint, each.leaders, operations=each.function.nodes)
        for each in m.couplings
    ]
    return LoopsRecord(tuple(loops), tuple(couplings), m.actuated)
