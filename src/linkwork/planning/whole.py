"""One problem in one call: ends that are looked at, two trees, a shorter path, and its proof.

What is out of the ordinary (an end that touches, a search that goes on, a path that does not hold)
is left to `planner`, which can say why and has other ways.
"""

from __future__ import annotations

from linkwork.compile.typed import (
    I64,
    WIDTH32,
    Bool,
    PtrF64,
    PtrI64,
    call_at,
    offset,
    pointer_f64,
    pointer_i64,
    typed,
)
from linkwork.planning.connect import (
    CHECK,
    EXACT,
    GOING,
    LISTED,
    MET,
    N_Q,
    PATH,
    ROWS,
    VERDICT,
    WHERE,
    N,
    begin,
    connect,
    shorter,
    write_path,
)

START, GOALS, N_GOALS, LOWER, UPPER, RESTING, N_RESTING, DIRECT, CAREFUL, STEPS = range(10)
TRIES, POINTS, FOUND, MOST_FOUND, COUNT, PROOF, JOB = range(10, 17)
"""Places in the record of a problem: addresses of the start (nq,), of the goals (N_GOALS, nq), of
the bounds of q (nq, each), and of the numbers of it that rest; whether start and goal may be
joined at once; in how many steps what balls leave open counts as touching, and how many steps there
are at most; how many shortcuts are tried; the address of room for points (N_GOALS + 1, n); of room
for a path (MOST_FOUND, nq), and how many points it has; the address of a proof."""

ROWS_OF, TWISTING, TABLES, REACHES, SWEPT, ROOM, TWISTS, NUMBERS, WHICH, COUNTS = (
    *(0, 1, 2, 8),
    *range(11, 17),
)
"""Places in a proof: the address of `collision.motion.motion_rows`, and of what it takes."""
PROVEN = 17
NEAR = 1e-5  # m: what motions must keep

HELD, ODD = 3, 4
"""Outcomes beside those of `connect`: a path that holds; something that has to be told or tried in
another way."""

SLACK = 1e-9  # rad or m: so far outside its limits a joint counts as within


@typed
def is_plain(search: PtrI64, job: PtrI64, q: PtrF64) -> Bool:
    """Whether a configuration is finite, within its limits, and elsewhere as the start."""
    n_q = search[N_Q]
    start, lower, upper = pointer_f64(job[START]), pointer_f64(job[LOWER]), pointer_f64(job[UPPER])
    resting = pointer_i64(job[RESTING])
    for i in range(n_q):
        if not (q[i] - q[i] == 0.0 and q[i] >= lower[i] - SLACK and q[i] <= upper[i] + SLACK):
            return False
    for i in range(job[N_RESTING]):
        k = resting[i]
        if not abs(q[k] - start[k]) <= SLACK:
            return False
    return True


@typed
def ends_are_free(search: PtrI64, job: PtrI64) -> Bool:
    """Whether the start and all goals are plain and touch nothing; the start fills the rows then.

    There are fifteen goals at most.
    """
    n_q, count = search[N_Q], 1 + job[N_GOALS]
    rows, verdict = pointer_f64(search[ROWS]), pointer_i64(search[VERDICT])
    start, goals = pointer_f64(job[START]), pointer_f64(job[GOALS])
    if count > WIDTH32:
        return False
    for k in range(count):
        own = start if k == 0 else offset(goals, (k - 1) * n_q)
        if not is_plain(search, job, own):
            return False
        for i in range(n_q):
            rows[k * n_q + i] = own[i]
    call_at(search[CHECK], rows, count, verdict, pointer_i64(search[LISTED]))
    if verdict[0] != 0:
        return False
    for k in range(1, WIDTH32):
        for i in range(n_q):
            rows[k * n_q + i] = start[i]
    for i in range(n_q):
        rows[i] = start[i]
    return True


@typed
def planned_of(search: PtrI64, q: PtrF64, out: PtrF64) -> None:
    """Write what moves of a configuration."""
    where = pointer_i64(search[WHERE])
    for j in range(search[N]):
        out[j] = q[where[j]]


@typed
def is_proven(n_q: I64, proof: PtrI64, q: PtrF64, count: I64) -> Bool:
    """Whether the straight motions between configurations, as many as these, touch nothing."""
    numbers, which = pointer_f64(proof[NUMBERS]), pointer_i64(proof[WHICH])
    one, tolerance = 1, NEAR
    velocity = offset(numbers, 1)
    records = offset(velocity, n_q)
    for k in range(count - 1):
        start, stop = offset(q, k * n_q), offset(q, (k + 1) * n_q)
        for i in range(n_q):
            velocity[i] = stop[i] - start[i]
        call_at(
            proof[ROWS_OF],
            start,
            stop,
            velocity,
            one,
            proof[TWISTING],
            pointer_i64(proof[TABLES]),
            pointer_f64(proof[TABLES + 1]),
            pointer_f64(proof[TABLES + 2]),
            pointer_f64(proof[TABLES + 3]),
            pointer_f64(proof[TABLES + 4]),
            pointer_f64(proof[TABLES + 5]),
            pointer_f64(proof[REACHES]),
            pointer_f64(proof[REACHES + 1]),
            pointer_i64(proof[REACHES + 2]),
            tolerance,
            proof[SWEPT],
            pointer_f64(proof[ROOM]),
            pointer_f64(proof[TWISTS]),
            numbers,
            records,
            which,
            pointer_i64(proof[COUNTS]),
        )
        if which[0] >= 0:
            return False
    return True


@typed
def solve(search: PtrI64, job: PtrI64) -> I64:
    """Look at the ends, search, make the path shorter and prove it.

    HELD with a path; MET where it does not hold, GOING and FULL as `connect`; ODD where the ends
    are not plain and free, and nothing has begun.
    """
    if not ends_are_free(search, job):
        return ODD
    n_q, n = search[N_Q], search[N]
    points, goals = pointer_f64(job[POINTS]), pointer_f64(job[GOALS])
    planned_of(search, pointer_f64(job[START]), points)
    for k in range(job[N_GOALS]):
        planned_of(search, offset(goals, k * n_q), offset(points, (k + 1) * n))
    search[EXACT] = 1
    state = begin(search, points, 1, offset(points, n), job[N_GOALS], job[DIRECT])
    if job[CAREFUL] > 0:
        search[EXACT] = 0
        if state == GOING:
            state = connect(search, min(job[CAREFUL], job[STEPS]))
    if state == GOING and job[STEPS] > job[CAREFUL]:
        search[EXACT] = 1
        state = connect(search, job[STEPS] - job[CAREFUL])
    if state != MET:
        return state
    count = write_path(search)
    if count < 0:
        return MET
    count = shorter(search, count, job[TRIES])
    if count > job[MOST_FOUND]:
        return MET
    found, path = pointer_f64(job[FOUND]), pointer_f64(search[PATH])
    start, where = pointer_f64(job[START]), pointer_i64(search[WHERE])
    for k in range(count):
        row = offset(found, k * n_q)
        for i in range(n_q):
            row[i] = start[i]
        for j in range(n):
            row[where[j]] = path[k * n + j]
    job[COUNT] = count
    return HELD if is_proven(n_q, pointer_i64(job[PROOF]), found, count) else MET
