"""Steps of configurations onto what is kept, and motions traced by such steps, compiled.

What is kept, and how configurations come onto it, is told by a record (`planning.kept`). Compiled
solvers, checks and maps of configurations are called by their addresses.
"""

from __future__ import annotations

from linkwork.collision.distances import RECORD, nearest_rows
from linkwork.collision.spheres import check_rows
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH32,
    Bool,
    PtrF64,
    PtrI64,
    call_as,
    f64,
    i64,
    local_i64,
    offset,
    pointer_f64,
    pointer_i64,
    sqrt,
    status_at,
    typed,
)
from linkwork.planning.nodes import add_nodes, nearest_nodes

LANES = 32
"""Configurations that are brought onto what is kept side by side, at most."""

N_Q, N_V, DIFFERENCE, INTEGRATE, MAP_ROOM, LOWER, UPPER, TURNING_Q, TURNING_V = range(9)
UNIT, STEERING, LIMITED, N_LIMITED, WAY, GIVEN, N_GIVEN, OTHERS, N_OTHERS = range(9, 18)
FOLLOWER, SOLVERS, N_SOLVERS, FROM, OFF, LED = range(18, 24)
DRIVERS, OTHERS_V, RATES, RATES_ROOM, RATED = range(24, 29)
KEPT = 29
"""Places in the record of what is kept: how many numbers q and v have; addresses of the compiled
rows of `difference` and `integrate` (0: numbers are subtracted and added), and of their scratch;
of the least and greatest q, and flags of numbers of q and of v that turn without end; of what the
size of a velocity is by, over all joints and over those that steer (nv each); of the joints with a
limited angle (place in q, cosine and sine of half of it) and how many there are; one of the ways;
of the numbers of q that drive, and of others that steer, with how many there are of each; of the
solver that follows branches (0: none), of the list of solvers of tasks and how many these are;
of room for configurations to come from, for their velocities and for numbers of them (LANES each);
of the numbers of v that drive, and of others that steer; of the compiled rows of the velocities by
those of what drives (0: none so far), their scratch and room for a row.
"""

FREE, DRIVEN, PROJECTED = range(3)
"""The ways: limits alone, loops that joints drive, and projections."""

FUNCTION, ARRAYS, TARGET, START, ANSWER, REPORT, N_REPORT = range(7)
SOLVER = 7
"""Places in the record of a solver: see `solve.program.Listed`."""

DONE = -1  # the status of a solver
SAME = 1e-6  # rad or m: configurations of one branch of assembly
TURN = 6.283185307179586

CHECK, CHECKED, VERDICTS, N, MOST, NOW, GOAL, SCALE, GOING, ARRIVED, COUNTS, WAYS = range(12)
LENGTH, ROUND, STEPS, CHECKS, BEFORE, AIM, GAP, LEFT, FAR, POINT, FOUND, FLAGS = range(12, 24)
PLACES = 24
MOTIONS = 25
"""Places in the record of motions: the check, its arguments and room for verdicts; how many motions
there are and how many steps each has at most; addresses of where they are and where they go to
(N, nq each), of what part of the step each takes, whether it goes on and whether it has arrived,
of how many points each has so far and of these (N, MOST, nq); of the length of a step; how many
rounds, steps and checks there were; room."""

LEAP = 3.0  # a step that moves all joints by more than so many times its length is cut
SMALLEST = 1.0 / 64.0  # no further than this
NEARER = 0.2  # the share of a step by which it must come nearer
THERE = 1e-5  # rad, m: a motion has arrived

PATH, POINTS, TURNS, NEAR, FORTH, BACK, NEAREST, CLEARANCE, RECORDS, SLOPES, SLOPE = range(11)
SMOOTHED = 11
"""Places in the record of a path that is made smoother: address of its points (n, nq), how many
these are and how many rounds there were; addresses of flags of points that may be too near to
something, of room for moves (n, nv each), of the numbers of `NativeNearest` (0: no clearance is
wished for), of the clearance, and of room for PUSHING pairs, their gradients and one more."""

GOING_ON, AT_REST, LACKING = range(3)
STILL = 1e-3  # of a step: what moves less is at rest
NEAR_AGAIN = 5  # rounds after which it is looked at again what is near
ENOUGH = 1.05  # times the clearance is far enough
PUSHING = 4  # nearest pairs that push a point away


@typed
def copy(a: PtrF64, b: PtrF64, n: I64) -> None:
    """Write n numbers of a to b."""
    for k in range(n):
        b[k] = a[k]


@typed
def whole_turns(angle: F64) -> F64:
    """The whole turns (rad) next to an angle."""
    turns = angle / TURN
    return TURN * f64(i64(turns + 0.5 if turns >= 0.0 else turns - 0.5))


@typed
def gap_rows(kept: PtrI64, a: PtrF64, b: PtrF64, n: I64, out: PtrF64) -> None:
    """Write the velocities (n, nv) that lead from a (n, nq) to b in a time of 1, the short way."""
    n_v, turning = kept[N_V], pointer_i64(kept[TURNING_V])
    if kept[DIFFERENCE] != 0:
        status_at(kept[DIFFERENCE], 0, n, a, b, out, pointer_f64(kept[MAP_ROOM]))
    else:
        for k in range(n * n_v):
            out[k] = b[k] - a[k]
    for j in range(n_v):
        if turning[j] != 0:
            for k in range(n):
                out[k * n_v + j] = out[k * n_v + j] - whole_turns(out[k * n_v + j])


@typed
def moved_rows(kept: PtrI64, q: PtrF64, v: PtrF64, n: I64, out: PtrF64) -> None:
    """Write the configurations (n, nq) after a time of 1."""
    if kept[INTEGRATE] != 0:
        status_at(kept[INTEGRATE], 0, n, q, v, out, pointer_f64(kept[MAP_ROOM]))
    else:
        for k in range(n * kept[N_Q]):
            out[k] = q[k] + v[k]


@typed
def size(v: PtrF64, by: PtrF64, n: I64) -> F64:
    """The size of a velocity (n,)."""
    total = 0.0
    for j in range(n):
        total = (v[j] * by[j]) * (v[j] * by[j]) + total
    return sqrt(total)


@typed
def bring_inside(kept: PtrI64, q: PtrF64, n: I64) -> None:
    """Bring configurations (n, nq) inside the limits."""
    n_q, low, high = kept[N_Q], pointer_f64(kept[LOWER]), pointer_f64(kept[UPPER])
    limited = pointer_f64(kept[LIMITED])
    for k in range(n):
        row = offset(q, k * n_q)
        for j in range(n_q):
            row[j] = min(max(row[j], low[j]), high[j])
        for c in range(kept[N_LIMITED]):
            wxyz = offset(row, i64(limited[3 * c]))
            real, imaginary = limited[3 * c + 1], limited[3 * c + 2]
            w = wxyz[0]
            turned = sqrt(wxyz[1] * wxyz[1] + wxyz[2] * wxyz[2] + wxyz[3] * wxyz[3])
            if turned * real > abs(w) * imaginary:
                whole = sqrt(w * w + turned * turned)
                wxyz[0] = whole * real if w >= 0.0 else -whole * real
                for j in range(1, 4):
                    wxyz[j] = wxyz[j] * (whole * imaginary / turned)


@typed
def solve_rows(solver: PtrI64, n: I64, ok: PtrI64) -> None:
    """Solve n rows; those that fail, or cannot be verified, are not ok any more."""
    report, columns = pointer_f64(solver[REPORT]), solver[N_REPORT]
    status = status_at(solver[FUNCTION], n, pointer_i64(solver[ARRAYS]))
    for k in range(n):
        if status != DONE or not report[k * columns] > 0.5:
            ok[k] = 0


@typed
def follow(kept: PtrI64, n: I64, ok: PtrI64) -> PtrF64:
    """Follow branches, from what stands in the solver to what its targets are; where they end."""
    solver = pointer_i64(kept[FOLLOWER])
    solve_rows(solver, n, ok)
    return pointer_f64(solver[ANSWER])


@typed
def drive(kept: PtrI64, x: PtrF64, near: PtrF64, n: I64, q: PtrF64, ok: PtrI64) -> None:
    """`onto`, where joints drive loops: they go straight to where x has them."""
    n_q, n_given, solver = kept[N_Q], kept[N_GIVEN], pointer_i64(kept[FOLLOWER])
    given, others = pointer_i64(kept[GIVEN]), pointer_i64(kept[OTHERS])
    start, target = pointer_f64(solver[START]), pointer_f64(solver[TARGET])
    copy(near, start, n * n_q)
    for k in range(n):
        for j in range(kept[N_OTHERS]):
            start[k * n_q + others[j]] = x[k * n_q + others[j]]
    bring_inside(kept, start, n)
    bring_inside(kept, x, n)
    for k in range(n):
        for j in range(n_given):
            target[k * n_given + j] = x[k * n_q + given[j]]
    copy(follow(kept, n, ok), q, n * n_q)


@typed
def stay_on_branch(kept: PtrI64, near: PtrF64, q: PtrF64, n: I64, ok: PtrI64) -> None:
    """Tell which q are where the joints that drive lead from ``near``."""
    n_q, n_v, n_given = kept[N_Q], kept[N_V], kept[N_GIVEN]
    solver, given = pointer_i64(kept[FOLLOWER]), pointer_i64(kept[GIVEN])
    start, target = pointer_f64(solver[START]), pointer_f64(solver[TARGET])
    asked, off, led = pointer_f64(kept[FROM]), pointer_f64(kept[OFF]), pointer_i64(kept[LED])
    count = 0
    for k in range(n):
        if ok[k] != 0:
            copy(offset(near, k * n_q), offset(start, count * n_q), n_q)
            copy(offset(q, k * n_q), offset(asked, count * n_q), n_q)
            for j in range(n_given):
                target[count * n_given + j] = q[k * n_q + given[j]]
            led[count] = 1
            count += 1
    if count == 0:
        return
    found = follow(kept, count, led)
    gap_rows(kept, found, asked, count, off)
    count = 0
    for k in range(n):
        if ok[k] != 0:
            for j in range(n_v):
                if not abs(off[count * n_v + j]) <= SAME:
                    led[count] = 0
            ok[k] = led[count]
            count += 1


@typed
def project(kept: PtrI64, x: PtrF64, near: PtrF64, n: I64, q: PtrF64, ok: PtrI64) -> None:
    """`onto` by projection."""
    n_q, turning = kept[N_Q], pointer_i64(kept[TURNING_Q])
    solvers = pointer_i64(kept[SOLVERS])
    bring_inside(kept, x, n)
    copy(x, q, n * n_q)
    for s in range(kept[N_SOLVERS]):
        solver = pointer_i64(solvers[s])
        copy(q, pointer_f64(solver[START]), n * n_q)
        solve_rows(solver, n, ok)
        copy(pointer_f64(solver[ANSWER]), q, n * n_q)
    for j in range(n_q):
        if turning[j] != 0:
            for k in range(n):
                q[k * n_q + j] = q[k * n_q + j] - whole_turns(q[k * n_q + j] - x[k * n_q + j])
    if kept[FOLLOWER] != 0:
        stay_on_branch(kept, near, q, n, ok)


@typed
def onto(kept: PtrI64, x: PtrF64, near: PtrF64, n: I64, q: PtrF64, ok: PtrI64) -> None:
    """Write configurations (n, nq) that keep what is kept, next to x, and whether there are some.

    They are on the branch of ``near``. What x holds is lost.
    """
    n_q, way = kept[N_Q], kept[WAY]
    for first in range(0, n, LANES):
        count, at = min(n - first, LANES), first * n_q
        own, found = offset(ok, first), offset(q, at)
        for k in range(count):
            own[k] = 1
        if way == DRIVEN:
            drive(kept, offset(x, at), offset(near, at), count, found, own)
        elif way == PROJECTED:
            project(kept, offset(x, at), offset(near, at), count, found, own)
        else:
            copy(offset(x, at), found, count * n_q)
            bring_inside(kept, found, count)


@typed
def is_there(gap: PtrF64, n: I64) -> Bool:
    """Whether a velocity leads nowhere."""
    for j in range(n):
        if not abs(gap[j]) <= THERE:
            return False
    return True


@typed
def leave_touching(motions: PtrI64, q: PtrF64, n: I64, n_q: I64, ok: PtrI64) -> None:
    """Configurations (n) that are ok, but touch something, are not ok any more."""
    rows, verdicts = pointer_f64(motions[POINT]), pointer_i64(motions[VERDICTS])
    count = 0
    for k in range(n):
        if ok[k] != 0:
            copy(offset(q, k * n_q), offset(rows, count * n_q), n_q)
            count += 1
    motions[CHECKS] += count
    if count > 0:
        call_as(check_rows, motions[CHECK], rows, count, verdicts, pointer_i64(motions[CHECKED]))
    count = 0
    for k in range(n):
        if ok[k] != 0:
            ok[k] = 1 - ((verdicts[count // WIDTH32] >> (count % WIDTH32)) & 1)
            count += 1


@typed
def aim(kept: PtrI64, motions: PtrI64, n: I64) -> None:
    """Write where a step of n motions, those in PLACES, would lead if nothing were kept."""
    n_q, n_v, length = kept[N_Q], kept[N_V], pointer_f64(motions[LENGTH])[0]
    now, goal = pointer_f64(motions[NOW]), pointer_f64(motions[GOAL])
    scale, places = pointer_f64(motions[SCALE]), pointer_i64(motions[PLACES])
    a, b = pointer_f64(motions[BEFORE]), pointer_f64(motions[AIM])
    gap, far = pointer_f64(motions[GAP]), pointer_f64(motions[FAR])
    for k in range(n):
        copy(offset(now, places[k] * n_q), offset(a, k * n_q), n_q)
        copy(offset(goal, places[k] * n_q), offset(b, k * n_q), n_q)
    gap_rows(kept, a, b, n, gap)
    for k in range(n):
        own = offset(gap, k * n_v)
        far[k] = size(own, pointer_f64(kept[STEERING]), n_v)
        share = length * scale[places[k]]
        share = 1.0 if far[k] <= share else share / far[k]
        for j in range(n_v):
            own[j] = own[j] * share
    moved_rows(kept, a, gap, n, pointer_f64(motions[POINT]))


@typed
def leave_astray(kept: PtrI64, motions: PtrI64, n: I64) -> None:
    """Steps that are ok, but leap or come no nearer, are not ok any more.

    A motion that leaps still goes on, unless its step is short already.
    """
    n_v, length, q = kept[N_V], pointer_f64(motions[LENGTH])[0], pointer_f64(motions[FOUND])
    scale, places = pointer_f64(motions[SCALE]), pointer_i64(motions[PLACES])
    gap, far = pointer_f64(motions[GAP]), pointer_f64(motions[FAR])
    left, going = pointer_f64(motions[LEFT]), pointer_i64(motions[GOING])
    ok = pointer_i64(motions[FLAGS])
    gap_rows(kept, pointer_f64(motions[BEFORE]), q, n, gap)
    gap_rows(kept, q, pointer_f64(motions[AIM]), n, left)
    for k in range(n):
        place, rest = places[k], offset(left, k * n_v)
        part = length * scale[place]
        going[place] = 0
        if ok[k] == 0:
            continue
        if size(offset(gap, k * n_v), pointer_f64(kept[UNIT]), n_v) > LEAP * length:
            ok[k] = 0
            going[place] = i64(scale[place] > SMALLEST)
        elif far[k] <= part:
            ok[k] = i64(is_there(rest, n_v))
        else:
            nearer = size(rest, pointer_f64(kept[STEERING]), n_v)
            ok[k] = i64(nearer <= far[k] - NEARER * part)


@typed
def step(kept: PtrI64, motions: PtrI64, n: I64) -> None:
    """Make a step of n motions, those in PLACES."""
    n_q, length = kept[N_Q], pointer_f64(motions[LENGTH])[0]
    q, ok, far = pointer_f64(motions[FOUND]), pointer_i64(motions[FLAGS]), pointer_f64(motions[FAR])
    now, ways = pointer_f64(motions[NOW]), pointer_f64(motions[WAYS])
    scale, places = pointer_f64(motions[SCALE]), pointer_i64(motions[PLACES])
    going, arrived = pointer_i64(motions[GOING]), pointer_i64(motions[ARRIVED])
    counts = pointer_i64(motions[COUNTS])
    aim(kept, motions, n)
    onto(kept, pointer_f64(motions[POINT]), pointer_f64(motions[BEFORE]), n, q, ok)
    leave_astray(kept, motions, n)
    leave_touching(motions, q, n, n_q, ok)
    for k in range(n):
        place = places[k]
        if going[place] != 0:  # it leaps
            scale[place] = 0.5 * scale[place]
        if ok[k] == 0:
            continue
        if far[k] <= length * scale[place]:
            arrived[place] = 1
        else:
            going[place] = 1
        scale[place] = min(1.5 * scale[place], 1.0)
        copy(offset(q, k * n_q), offset(now, place * n_q), n_q)
        row = place * motions[MOST] + counts[place]
        copy(offset(q, k * n_q), offset(ways, row * n_q), n_q)
        counts[place] += 1


@typed
def trace(kept: PtrI64, motions: PtrI64, rounds: I64) -> I64:
    """Go on with motions by so many steps each, at most; how many have not ended."""
    going, places = pointer_i64(motions[GOING]), pointer_i64(motions[PLACES])
    while motions[ROUND] < motions[MOST]:
        n = 0
        for k in range(motions[N]):
            if going[k] != 0:
                places[n] = k
                n += 1
        if n == 0 or rounds == 0:
            return n
        rounds -= 1
        motions[ROUND] += 1
        motions[STEPS] += n
        step(kept, motions, n)
    return 0


@typed
def downhill(kept: PtrI64, q: PtrF64, slope: PtrF64, out: PtrF64) -> None:
    """Write a gradient (nv,) by all joints as one by those that steer.

    What follows has its share of the joints that drive it.
    """
    n_v, n = kept[N_V], kept[N_GIVEN]
    steering, rates = pointer_f64(kept[STEERING]), pointer_f64(kept[RATED])
    drivers, others = pointer_i64(kept[DRIVERS]), pointer_i64(kept[OTHERS_V])
    for i in range(n_v):
        out[i] = slope[i] if kept[WAY] != DRIVEN else 0.0
    if kept[WAY] == DRIVEN:
        status_at(kept[RATES], 0, 1, q, rates, pointer_f64(kept[RATES_ROOM]))
        for j in range(kept[N_OTHERS]):
            out[others[j]] = slope[others[j]]
        for j in range(n):
            for i in range(n_v):
                out[drivers[j]] = rates[i * n + j] * slope[i] + out[drivers[j]]
    for i in range(n_v):
        # a direction that is not known is none
        if not (out[i] - out[i] == 0.0 and steering[i] > 0.0):
            out[i] = 0.0


@typed
def look_around(kept: PtrI64, path: PtrI64, q: PtrF64) -> Bool:
    """Whether q is nearer to something than wished for; the nearest pairs are written."""
    args, records = pointer_i64(path[NEAREST]), pointer_f64(path[RECORDS])
    order, which = local_i64(PUSHING + 8), local_i64(2 * PUSHING)
    wish = pointer_f64(path[CLEARANCE])[0]
    call_as(
        nearest_rows,
        args[0],
        q,
        1,
        pointer_i64(args[1]),
        PUSHING,
        ENOUGH * wish,
        order,
        records,
        which,
        path[SLOPES],
        0,
    )
    return records[0] < ENOUGH * wish


@typed
def push_away(kept: PtrI64, path: PtrI64, q: PtrF64, move: PtrF64) -> None:
    """Let a move (nv,) lead away from the nearest pairs; a tenth of it is left."""
    n_v, unit = kept[N_V], pointer_f64(kept[UNIT])
    wish, slope = pointer_f64(path[CLEARANCE])[0], pointer_f64(path[SLOPE])
    records, slopes = pointer_f64(path[RECORDS]), pointer_f64(path[SLOPES])
    for i in range(n_v):
        move[i] = 0.1 * move[i]
    for j in range(PUSHING):
        missing = min(ENOUGH * wish - records[j * RECORD], 0.5 * wish)
        if not missing > 0.0:
            continue
        downhill(kept, q, offset(slopes, j * n_v), slope)
        square = 1e-6
        for i in range(n_v):
            square = (slope[i] / unit[i]) * (slope[i] / unit[i]) + square
        for i in range(n_v):
            move[i] = (0.5 * missing / square) * (slope[i] / (unit[i] * unit[i])) + move[i]


@typed
def write_moves(kept: PtrI64, motions: PtrI64, path: PtrI64) -> Bool:
    """Write the moves of the inner points of a path; False where rates are missing."""
    n_q, n_v, count, q = kept[N_Q], kept[N_V], path[POINTS] - 2, pointer_f64(path[PATH])
    forth, back = pointer_f64(path[FORTH]), pointer_f64(path[BACK])
    steering, near = pointer_f64(kept[STEERING]), pointer_i64(path[NEAR])
    most = 0.5 * pointer_f64(motions[LENGTH])[0]
    gap_rows(kept, offset(q, n_q), q, count, back)
    gap_rows(kept, offset(q, n_q), offset(q, 2 * n_q), count, forth)
    for k in range(count):
        move = offset(forth, k * n_v)
        for j in range(n_v):
            move[j] = 0.25 * (move[j] + back[k * n_v + j]) if steering[j] > 0.0 else 0.0
        if near[k] != 0:
            near[k] = i64(look_around(kept, path, offset(q, (k + 1) * n_q)))
        if near[k] != 0:
            if kept[WAY] == DRIVEN and kept[RATES] == 0:
                return False
            push_away(kept, path, offset(q, (k + 1) * n_q), move)
        far = size(move, steering, n_v)
        if far > most:
            for j in range(n_v):
                move[j] = move[j] * (most / far)
    return True


@typed
def move_points(kept: PtrI64, motions: PtrI64, path: PtrI64) -> Bool:
    """Move the inner points of a path and back onto what is kept; whether all are at rest."""
    n_q, n_v, count, rest = kept[N_Q], kept[N_V], path[POINTS] - 2, True
    length, q = pointer_f64(motions[LENGTH])[0], pointer_f64(motions[FOUND])
    gap, far = pointer_f64(motions[GAP]), pointer_f64(motions[FAR])
    x, ok = pointer_f64(motions[POINT]), pointer_i64(motions[FLAGS])
    for first in range(0, count, LANES):
        n = min(count - first, LANES)
        own = offset(pointer_f64(path[PATH]), (first + 1) * n_q)
        moved_rows(kept, own, offset(pointer_f64(path[FORTH]), first * n_v), n, x)
        onto(kept, x, own, n, q, ok)
        gap_rows(kept, own, q, n, gap)
        for k in range(n):
            far[k] = size(offset(gap, k * n_v), pointer_f64(kept[UNIT]), n_v)
            if far[k] > LEAP * length:
                ok[k] = 0
        leave_touching(motions, q, n, n_q, ok)
        for k in range(n):
            if ok[k] != 0:
                copy(offset(q, k * n_q), offset(own, k * n_q), n_q)
                if far[k] > STILL * length:
                    rest = False
    return rest


@typed
def smooth(kept: PtrI64, motions: PtrI64, path: PtrI64, rounds: I64) -> I64:
    """Make a path smoother: GOING after so many rounds, AT_REST, or LACKING rates of what follows.

    Points go to the middle of their neighbours; those that are nearer to something than wished for
    are pushed away.
    """
    near = pointer_i64(path[NEAR])
    for _ in range(rounds):
        if path[TURNS] % NEAR_AGAIN == 0:
            for k in range(path[POINTS] - 2):
                near[k] = i64(path[NEAREST] != 0)
        if not write_moves(kept, motions, path):
            return LACKING
        path[TURNS] += 1
        if move_points(kept, motions, path):
            return AT_REST
    return GOING_ON


KERNELS = (gap_rows, onto, trace, smooth, nearest_nodes, add_nodes)
