"""One problem in one call: ends that are looked at, two trees, a shorter path, and its proof.

What is out of the ordinary is left to `planner`: an end that touches, of which it says why; the
clock, between parts of a long search; a path that does not hold, which is looked for more finely.
"""

from __future__ import annotations

from linkwork.collision.spheres import check_rows
from linkwork.compile.typed import (
    I64,
    WIDTH32,
    Bool,
    PtrF64,
    PtrI64,
    call_as,
    offset,
    pointer_f64,
    pointer_i64,
    typed,
)
from linkwork.planning.connect import (
    CHECK,
    EXACT,
    LISTED,
    MET,
    MOTION,
    MOTIONS,
    N_Q,
    PATH,
    ROWS,
    STEPS,
    VERDICT,
    WHERE,
    N,
    begin,
    connect,
    is_proven,
    motion_touches_surely,
    shorter,
    write_path,
)

START, GOALS, N_GOALS, KNOWN, LOWER, UPPER, RESTING, N_RESTING, DIRECT, CAREFUL = range(10)
MOST_STEPS, TRIES, POINTS, FOUND, COUNT = range(10, 15)
JOB = 15
"""Places in the record of a problem: addresses of the start (nq,) and of the goals (N_GOALS, nq);
whether both are known to be free; addresses of the bounds of q (nq, each), and of the numbers of it
that rest; whether start and goal may be joined at once; in how many steps what balls leave open
counts as touching, and how many steps there are in one call; how many shortcuts are tried;
addresses of room for points (N_GOALS + 1, n) and for a path (MOST, nq); how many it has."""

HELD, MISSED, ODD = 3, 4, 5
"""Outcomes beside those of `connect`: a path that holds; one that is short and does not; ends that
have to be told or tried in another way."""

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
    """Whether the start and all goals, fifteen at most, are plain and touch nothing."""
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
    call_as(check_rows, search[CHECK], rows, count, verdict, pointer_i64(search[LISTED]))
    return verdict[0] == 0


@typed
def planned_of(search: PtrI64, q: PtrF64, out: PtrF64) -> None:
    """Write what moves of a configuration."""
    where = pointer_i64(search[WHERE])
    for j in range(search[N]):
        out[j] = q[where[j]]


@typed
def holds(search: PtrI64, q: PtrF64, count: I64) -> Bool:
    """Whether the straight motions between configurations, as many as these, touch nothing."""
    n_q, motion = search[N_Q], pointer_f64(search[MOTION])
    for k in range(count - 1):
        start, stop = offset(q, k * n_q), offset(q, (k + 1) * n_q)
        for i in range(n_q):
            motion[i] = start[i]
            motion[n_q + i] = stop[i] - start[i]
        if not is_proven(search):
            return False
    return True


@typed
def goes_straight(search: PtrI64, job: PtrI64) -> Bool:
    """Whether the straight motion to a goal is proven; it is the path then."""
    n_q, n = search[N_Q], search[N]
    points, start = pointer_f64(job[POINTS]), pointer_f64(job[START])
    goals, found = pointer_f64(job[GOALS]), pointer_f64(job[FOUND])
    for k in range(job[N_GOALS]):
        if motion_touches_surely(search, points, offset(points, (k + 1) * n)):
            continue
        goal = offset(goals, k * n_q)
        for i in range(n_q):
            found[i] = start[i]
            found[n_q + i] = goal[i]
        if holds(search, found, 2):
            job[COUNT] = 2
            return True
    return False


@typed
def made_short(search: PtrI64, job: PtrI64) -> I64:
    """Make the path shorter and prove it: HELD or MISSED; MET for want of room or of a proof."""
    n_q, n = search[N_Q], search[N]
    count = write_path(search)
    if count < 0 or search[MOTIONS] == 0:
        return MET
    count = shorter(search, count, job[TRIES])
    found, path = pointer_f64(job[FOUND]), pointer_f64(search[PATH])
    start, where = pointer_f64(job[START]), pointer_i64(search[WHERE])
    for k in range(count):
        row = offset(found, k * n_q)
        for i in range(n_q):
            row[i] = start[i]
        for j in range(n):
            row[where[j]] = path[k * n + j]
    job[COUNT] = count
    return HELD if holds(search, found, count) else MISSED


@typed
def go_on(search: PtrI64, job: PtrI64) -> I64:
    """Go on with a search; where the trees meet, make the path shorter and prove it."""
    careful, steps = job[CAREFUL] - search[STEPS], job[MOST_STEPS]
    search[EXACT] = 1
    if careful > 0:
        search[EXACT] = 0
        steps = min(careful, steps)
    state = connect(search, steps)
    if state == MET:
        return made_short(search, job)
    return state


@typed
def solve(search: PtrI64, job: PtrI64) -> I64:
    """Look at the ends, search for a path, make it shorter and prove it.

    HELD with a path; MISSED where that does not hold; MET where it was not made shorter, for want
    of room or of a proof; GOING and FULL as `connect`, after which one may `go_on`; ODD where the
    ends are not plain and free, and nothing has begun.
    """
    if job[KNOWN] == 0 and not ends_are_free(search, job):
        return ODD
    n_q, n = search[N_Q], search[N]
    start, rows, q = pointer_f64(job[START]), pointer_f64(search[ROWS]), pointer_f64(search[MOTION])
    for i in range(n_q):
        q[i] = start[i]
        for k in range(WIDTH32):
            rows[k * n_q + i] = start[i]
    points, goals = pointer_f64(job[POINTS]), pointer_f64(job[GOALS])
    planned_of(search, start, points)
    for k in range(job[N_GOALS]):
        planned_of(search, offset(goals, k * n_q), offset(points, (k + 1) * n))
    direct = job[DIRECT]
    if direct != 0 and search[MOTIONS] != 0:
        if goes_straight(search, job):
            return HELD
        direct = 0
    if begin(search, points, 1, offset(points, n), job[N_GOALS], direct) == MET:
        return made_short(search, job)
    return go_on(search, job)
