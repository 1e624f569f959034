"""The quickest motions along many paths, each in the memory of the one before: the small language.

A path goes through stages: it is laid out on its grid (`paths`), its motion is found
(`reachability`) and written. One call takes any of them, for any number of paths.
"""

from __future__ import annotations

from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    PtrF64,
    PtrI64,
    any_of,
    call_as,
    lanes,
    offset,
    pointer_f64,
    pointer_i64,
    put,
    splat,
    typed,
)
from linkwork.trajectory.paths import (
    Cuts,
    Pieces,
    blended_pieces,
    cut,
    spline_pieces,
    write_motion,
    write_states,
)
from linkwork.trajectory.reachability import DONE, Intervals, N, Path, least_time

BENT, BLENDED, KERNEL, BOUNDS, LOWEST, NUMBERS = range(4, 10)
"""Places in the record of a question, behind its form (`least_time`): whether splines are bent at
their ends; whether lines are blended; the address of `listed` of the robot's ``path_forces``, 0 for
none; addresses of the bounds of `least_time`, of the least that positions and positions turned
round may be, in whole lanes, and of numbers: the deviation, and the speeds at both ends."""
DEVIATION, START, END = range(3)

ROW, POINTS, LEAST, SIZE = range(4)
PATH = 4
"""Places in the record of a path: the row where its points begin, how many they are, and how many
intervals there are at least; then how many there are, 0 where all points are the same."""

FLOATS = (
    *("breaks", "pieces", "spline", "starts", "steps", "q", "slopes", "bends", "span", "forces"),
    *("damping", "friction", "solve", "x", "u", "worst"),
)
WHOLE = ("stops", "piece_of", "first", "halts", "dirty", "tight", "place", "sizes", "arrays")
"""The memory of a path: float64 and int64 numbers, as `paths` and `least_time` have them. Of
``sizes`` see below; ``arrays`` are the addresses of those of the kernel: q, q', q'', what else it
takes, its results, and its scratch."""
BREAKS, PIECES, SPLINE, STARTS, STEPS, Q, SLOPES, BENDS, SPAN, FORCES = range(10)
DAMPING, FRICTION, SOLVE, X, U, WORST = range(10, 16)
STOPS, PIECE_OF, FIRST, HALTS, DIRTY, TIGHT, PLACE, SIZES, ARRAYS = range(16, 25)
N_PIECES, N_INTERVALS, N_STATES, OUTCOME = range(4)

LAID, FOUND, WRITTEN, CUT = 1, 2, 4, 8
"""Stages: laid and cut into intervals, found, written; and cut anew, with other ``stops``."""
OUTSIDE, NOT_FINITE = 5, 6
"""Outcomes beside those of `least_time`: positions outside their limits, forces that are no
numbers."""

EACH = 3
"""Intervals of a piece, at least."""
ROUNDS = 30


@typed
def listed(first: I64, end: I64, arrays: PtrI64) -> I64:
    """Rows of a kernel, by the addresses of its arrays and its scratch: -1, or the first bad one.

    This is what `compile.loops.emit_listed` writes, of which the signature is needed here.
    """
    raise NotImplementedError


@typed
def cuts_in(question: PtrI64, room: PtrI64) -> Cuts:
    """The intervals of the path, in the memory of addresses."""
    return Cuts(
        question[N],
        pointer_f64(room[PIECES]),
        pointer_i64(room[PIECE_OF]),
        pointer_i64(room[FIRST]),
        pointer_i64(room[HALTS]),
        pointer_f64(room[STARTS]),
        pointer_f64(room[STEPS]),
    )


@typed
def way_in(room: PtrI64) -> Pieces:
    """The pieces of the path, in the memory of addresses."""
    return Pieces(pointer_f64(room[BREAKS]), pointer_f64(room[PIECES]), pointer_i64(room[STOPS]))


@typed
def lay_out(question: PtrI64, room: PtrI64, points: PtrF64, m: I64, least: I64) -> None:
    """Lay out the path through points (m, n), in ``least`` intervals at least."""
    n, work = question[N], pointer_f64(room[SPLINE])
    way = way_in(room)
    if question[BLENDED] != 0:
        deviation = pointer_f64(question[NUMBERS])[DEVIATION]
        count = blended_pieces(points, m, n, deviation, way, work)
    else:
        count = spline_pieces(points, m, n, question[BENT], way, work)
    pointer_i64(room[SIZES])[N_PIECES] = count
    cut_up(question, room, least)


@typed
def cut_up(question: PtrI64, room: PtrI64, least: I64) -> None:
    """Cut the pieces that are laid into ``least`` intervals at least, and write their states."""
    sizes = pointer_i64(room[SIZES])
    count = sizes[N_PIECES]
    sizes[N_INTERVALS], sizes[N_STATES] = 0, 0
    if count == 0:
        return
    cuts = cuts_in(question, room)
    made = cut(way_in(room), count, least, EACH if count > 1 else 1, cuts)
    sizes[N_INTERVALS], sizes[N_STATES] = made, cuts.first[made]
    q, span = pointer_f64(room[Q]), pointer_f64(room[SPAN])
    write_states(cuts, made, q, pointer_f64(room[SLOPES]), pointer_f64(room[BENDS]), span)


@typed
def begun(speed: F64, slopes: PtrF64, n: I64) -> F64:
    """x where the motion has this speed |dq/dt|."""
    total = 0.0
    for j in range(n):
        total += slopes[j] * slopes[j]
    return speed * speed / total if speed > 0.0 else 0.0


@typed
def find(question: PtrI64, room: PtrI64) -> I64:
    """Find the motion along the path that is laid out: x and u, and an outcome."""
    n, sizes = question[N], pointer_i64(room[SIZES])
    size, states = sizes[N_INTERVALS], sizes[N_STATES]
    span, lowest = pointer_f64(room[SPAN]), pointer_f64(question[LOWEST])
    for k in range(0, 2 * ((n + WIDTH - 1) // WIDTH) * WIDTH, WIDTH):
        if any_of(lanes(span, k) < lanes(lowest, k)):
            return OUTSIDE
    cuts = cuts_in(question, room)
    slopes, forces = pointer_f64(room[SLOPES]), pointer_f64(room[FORCES])
    if question[KERNEL] != 0:
        bad = call_as(listed, question[KERNEL], 0, states, pointer_i64(room[ARRAYS]))
        if bad >= 0:
            return NOT_FINITE
        put(forces, 3 * n * states, splat(0.0))
    numbers, worst = pointer_f64(question[NUMBERS]), pointer_f64(room[WORST])
    begin = begun(numbers[START], slopes, n)
    end = begun(numbers[END], offset(slopes, (states - 1) * n), n)
    return least_time(
        Path(
            question,
            slopes,
            pointer_f64(room[BENDS]),
            forces,
            pointer_f64(room[DAMPING]),
            pointer_f64(room[FRICTION]),
        ),
        Intervals(size, cuts.first, cuts.halts, cuts.steps),
        states,
        pointer_f64(question[BOUNDS]),
        begin,
        end,
        ROUNDS,
        pointer_f64(room[SOLVE]),
        pointer_i64(room[DIRTY]),
        pointer_i64(room[TIGHT]),
        pointer_f64(room[X]),
        pointer_f64(room[U]),
        worst,
        pointer_i64(room[PLACE]),
    )


@typed
def motions(
    question: PtrI64,
    room: PtrI64,
    paths: PtrI64,
    first: I64,
    last: I64,
    points: PtrF64,
    stages: I64,
    out: PtrF64,
) -> I64:
    """Take paths through stages; the number of one that has no motion, or ``last``.

    ``room``: the addresses of the memory that `FLOATS` and `WHOLE` name; ``paths`` (last, PATH);
    ``points``: the points of all paths. ``out``: one motion after another, its times and its
    coefficients as `write_motion` has them, and room for `WIDTH` more numbers.
    """
    n, sizes = question[N], pointer_i64(room[SIZES])
    for k in range(first, last):
        path = offset(paths, k * PATH)
        if stages & LAID != 0:
            lay_out(question, room, offset(points, path[ROW] * n), path[POINTS], path[LEAST])
        if stages & CUT != 0:
            cut_up(question, room, path[LEAST])
        size = sizes[N_INTERVALS]
        path[SIZE] = size
        if size == 0:
            continue
        if stages & FOUND != 0:
            sizes[OUTCOME] = find(question, room)
            if sizes[OUTCOME] != DONE:
                return k
        if stages & WRITTEN != 0:
            coefficients = offset(out, size + 1)
            x, u = pointer_f64(room[X]), pointer_f64(room[U])
            write_motion(cuts_in(question, room), size, x, u, out, coefficients)
            out = offset(coefficients, size * 7 * n)
    return last
