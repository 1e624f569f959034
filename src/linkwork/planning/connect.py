"""Two trees that grow from start and goal until they meet, and the path made shorter.

A step draws a point, grows the smaller tree from its nearest node towards it by at most the range,
and lets the other tree grow towards the new node until it arrives or something is in the way. A
node from which no step succeeds draws only what is near it. Points are the quasi-random sequence
k a (mod 1) with a from the generalised golden ratio: a seed shifts it, and the same seed gives the
same path on every machine and any number of threads.

Motions are straight in the coordinates that are planned. They are looked at sixteen configurations
at a time, spread over the whole motion, so that one in the way is soon found; what lies between is
looked at when the path is whole (`search`).

Sources: J. Kuffner and S. LaValle, RRT-Connect, ICRA 2000. L. Jaillet, A. Yershova, S. LaValle and
T. Simeon, Adaptive tuning of the sampling domain for dynamic-domain RRTs, IROS 2005. W. Thomason,
Z. Kingston and L. Kavraki, Motions in microseconds via vectorized sampling-based planning, ICRA
2024 (configurations of a motion in lanes). M. Roberts, The unreasonable effectiveness of
quasirandom sequences, 2018.
"""

from __future__ import annotations

from linkwork.collision.motion import motion_rows
from linkwork.collision.spheres import ONE_OPEN, ONE_SURE, check_rows, look_between, settle_rows
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH32,
    Bool,
    PtrF64,
    PtrI64,
    bit_count,
    call_as,
    f32,
    f64,
    i64,
    offset,
    pointer_f32,
    pointer_f64,
    pointer_i64,
    sqrt,
    typed,
)
from linkwork.planning.nodes import (
    COUNT,
    N_LEAVES,
    PARENT,
    REACH,
    X,
    add_node,
    is_full,
    nearest_node,
)

N, N_Q, CHECK, LISTED, WHERE, NUMBERS, LOW, SPAN, PACE, PHASE, ROWS, VERDICT = range(12)
NARROW, SAMPLE, TARGET, POINT, TREES, STEPS, BLOCKS, ENDS, PATH, LENGTHS, MOST = range(12, 23)
LOOK, SETTLE, EXACT, MOTION, REFUSED, PATIENCE = range(23, 29)
MOTIONS, WORLD, PROOF, WHICH, COUNTED, PROVES = range(29, 35)
RECORD = 35
"""Places in the record of a search: how many coordinates are planned and how many q has; the check,
its arguments; of which number of q each coordinate is; addresses of: numbers (below), least values
and spans of the coordinates, pace and phase of their sequences, sixteen configurations, the verdict
about them, room (17 n float32), a sample, a target and a point (n each), the records of both trees;
how many steps and how many checks were made; the address of the two nodes that meet; of the path
(MOST, n) and of the lengths of its parts; the two halves of the check (see `NativeCheck`), and
whether what the first leaves open is decided (1) or counts as touching (0); the address of a start
and a change of q (nq, each), of a motion that is looked at; how many samples in a row were too far
away from the tree, and how many may be; the addresses of `collision.motion.motion_rows` (0: motions
are not proven) and of its record of the world, and of what it writes: a time and a record, two
things, counts; whether motions of the trees and of the path are proven too."""

RANGE, SPACING, NEAR, LEAST_NEAR, TUNING, PHASE_A, PHASE_B, LEAST_GAIN, NUMBER = range(9)
"""Places in the numbers of a search: the longest step, how far configurations of a motion lie apart
at most, how near a sample must be to a node from which a step has failed, at first and at least,
how much this changes; phases of the shortcuts' ends; the least part of a stretch that is gained."""

GOING, MET, FULL = range(3)

SIXTEEN = (1 << WIDTH32) - 1

ROUNDED = 1e-9  # blocks: so much more than a whole number of them is none more
AT_ENDS = 8  # configurations of sixteen that start and goal, next to something, may leave open
CUTS = 8  # passes over the corners of a path, at most
ALWAYS = 1e30  # the reach of a node from which no step has failed
MOST_PATIENCE = 1000  # samples: in many dimensions nearly all are too far away
MOST_BLOCKS = 500  # checks of sixteen between two looks at the clock
NEAR_BY = 1e-5  # m: what motions must keep
PACE_A, PACE_B = 0.7548776662466927, 0.5698402909980532  # the sequence in two dimensions


@typed
def distance(a: PtrF64, b: PtrF64, n: I64) -> F64:
    """The distance of two points."""
    total = 0.0
    for j in range(n):
        total = (b[j] - a[j]) * (b[j] - a[j]) + total
    return sqrt(total)


@typed
def on_the_way(a: PtrF64, b: PtrF64, t: F64, n: I64, out: PtrF64) -> None:
    """The point a + t (b - a)."""
    for j in range(n):
        out[j] = t * (b[j] - a[j]) + a[j]


@typed
def write_block(search: PtrI64, a: PtrF64, b: PtrF64, block: I64, blocks: I64) -> None:
    """Write sixteen configurations between a and b: every so many, from one on."""
    n, n_q = search[N], search[N_Q]
    rows, where = pointer_f64(search[ROWS]), pointer_i64(search[WHERE])
    part = 1.0 / f64(WIDTH32 * blocks)
    for k in range(WIDTH32):
        t = f64(k * blocks + block + 1) * part
        row = offset(rows, k * n_q)
        for j in range(n):
            row[where[j]] = t * (b[j] - a[j]) + a[j]


@typed
def write_motion(search: PtrI64, a: PtrF64, b: PtrF64) -> None:
    """Write a motion as one of q."""
    q, where = pointer_f64(search[MOTION]), pointer_i64(search[WHERE])
    change = offset(q, search[N_Q])
    for j in range(search[N]):
        q[where[j]] = a[j]
        change[where[j]] = b[j] - a[j]


@typed
def look_at_block(search: PtrI64, block: I64, blocks: I64, until: I64) -> None:
    """Look at the configurations of `write_block`, of the motion that was written, by balls."""
    part = 1.0 / f64(WIDTH32 * blocks)
    q = pointer_f64(search[MOTION])
    call_as(
        look_between,
        search[LOOK],
        q,
        offset(q, search[N_Q]),
        f64(block + 1) * part,
        f64(blocks) * part,
        until,
        pointer_i64(search[VERDICT]),
        pointer_i64(search[LISTED]),
    )
    search[BLOCKS] += 1


@typed
def blocks_of(search: PtrI64, a: PtrF64, b: PtrF64) -> I64:
    """The number of times that sixteen configurations of a motion are looked at."""
    sixteen = f64(WIDTH32) * pointer_f64(search[NUMBERS])[SPACING]
    # a step of the whole range is a whole number of them, and its length is rounded
    return max(i64(distance(a, b, search[N]) / sixteen + (1.0 - ROUNDED)), 1)


@typed
def motion_touches_surely(search: PtrI64, a: PtrF64, b: PtrF64) -> Bool:
    """Whether a configuration that is looked at between a and b, or b itself, surely touches."""
    verdict, blocks = pointer_i64(search[VERDICT]), blocks_of(search, a, b)
    write_motion(search, a, b)
    for block in range(blocks):
        look_at_block(search, block, blocks, ONE_SURE)
        if verdict[0] & SIXTEEN != 0:
            return True
    return False


@typed
def motion_free(search: PtrI64, a: PtrF64, b: PtrF64, most: I64) -> Bool:
    """Whether no configuration that is looked at between a and b, and b itself, touches.

    By the balls first, since one that surely touches saves the others. What these leave open is
    decided on the shapes, where that are at ``most`` so many of sixteen, and counts as touching
    where there are more.
    """
    rows = pointer_f64(search[ROWS])
    verdict, listed = pointer_i64(search[VERDICT]), pointer_i64(search[LISTED])
    blocks = blocks_of(search, a, b)
    until = ONE_SURE if most > 0 else ONE_OPEN
    left = 0  # blocks that are left open; one bit for all from the 63rd on
    write_motion(search, a, b)
    for block in range(blocks):
        look_at_block(search, block, blocks, until)
        if verdict[0] & SIXTEEN != 0 or bit_count(verdict[0]) > most:
            return False
        if verdict[0] != 0:
            left |= 1 << min(block, 62)
    if left == 0:
        return True
    if verdict[0] != 0:  # the last one, whose notes are still there
        write_block(search, a, b, blocks - 1, blocks)
        call_as(settle_rows, search[SETTLE], rows, WIDTH32, verdict, listed)
        if verdict[0] != 0:
            return False
        blocks_left = blocks - 1
    else:
        blocks_left = blocks
    for block in range(blocks_left):
        if (left >> min(block, 62)) & 1 != 0:
            write_block(search, a, b, block, blocks)
            call_as(check_rows, search[CHECK], rows, WIDTH32, verdict, listed)
            if verdict[0] != 0:
                return False
    return True


@typed
def is_proven(search: PtrI64) -> Bool:
    """Whether the motion that was written surely touches nothing."""
    q, proof = pointer_f64(search[MOTION]), pointer_f64(search[PROOF])
    change, stop = offset(q, search[N_Q]), pointer_f64(search[ROWS])
    which = pointer_i64(search[WHICH])
    for i in range(search[N_Q]):
        stop[i] = q[i] + change[i]
    call_as(
        motion_rows,
        search[MOTIONS],
        q,
        stop,
        change,
        1,
        NEAR_BY,
        pointer_i64(search[WORLD]),
        proof,
        offset(proof, 1),
        which,
        pointer_i64(search[COUNTED]),
    )
    return which[0] < 0


@typed
def may_go(search: PtrI64, a: PtrF64, b: PtrF64, most: I64) -> Bool:
    """Whether a path may go straight from a to b: `motion_free`, and proven where that is asked."""
    if not motion_free(search, a, b, most):
        return False
    return search[PROVES] == 0 or is_proven(search)


@typed
def motions_free(search: PtrI64, points: PtrF64, ends: PtrI64, count: I64, free: PtrI64) -> None:
    """Write for motions between points, given by the numbers of both ends, whether each is free."""
    n = search[N]
    for k in range(count):
        start, stop = offset(points, ends[2 * k] * n), offset(points, ends[2 * k + 1] * n)
        free[k] = i64(motion_free(search, start, stop, WIDTH32))


@typed
def draw(search: PtrI64, out: PtrF64) -> None:
    """The next point of the sequence."""
    low, span = pointer_f64(search[LOW]), pointer_f64(search[SPAN])
    pace, phase = pointer_f64(search[PACE]), pointer_f64(search[PHASE])
    for j in range(search[N]):
        u = phase[j] + pace[j]
        u = u - 1.0 if u >= 1.0 else u
        phase[j] = u
        out[j] = span[j] * u + low[j]


@typed
def nearest_to(search: PtrI64, tree: PtrI64, x: PtrF64) -> tuple[I64, I64]:
    """The node of a tree that is nearest to x, and its leaf."""
    n, narrow = search[N], pointer_f32(search[NARROW])
    for j in range(n):
        narrow[j] = f32(x[j])
    return nearest_node(tree, n, narrow)


@typed
def after_failure(reach: F64, numbers: PtrF64) -> F64:
    """The radius within which a node from which a step has failed takes samples."""
    if reach >= ALWAYS:
        return numbers[NEAR]
    return max(reach * (1.0 - numbers[TUNING]), numbers[LEAST_NEAR])


@typed
def decided(search: PtrI64, at_an_end: Bool) -> I64:
    """The number of configurations of sixteen that are decided on the shapes; see `motion_free`."""
    if search[EXACT] != 0:
        return WIDTH32
    return AT_ENDS if at_an_end else 0


@typed
def is_root(tree: PtrI64, node: I64) -> Bool:
    """Whether a node is a start or a goal."""
    return pointer_i64(tree[PARENT])[node] < 0


@typed
def reach_out(search: PtrI64, tree: PtrI64) -> I64:
    """Grow a tree by a step towards the next sample; its leaf, or -1. The new point is TARGET.

    A sample that is too far away from the tree is left, unless many in a row were; ever fewer of
    them then, until one is near again.
    """
    n, numbers = search[N], pointer_f64(search[NUMBERS])
    sample, target = pointer_f64(search[SAMPLE]), pointer_f64(search[TARGET])
    draw(search, sample)
    node, leaf = nearest_to(search, tree, sample)
    own = offset(pointer_f64(tree[X]), node * n)
    reaches = pointer_f64(tree[REACH])
    far = distance(own, sample, n)
    if far == 0.0:
        return -1
    if far > reaches[node]:
        search[REFUSED] += 1
        if search[REFUSED] < search[PATIENCE]:
            return -1
        search[PATIENCE] = max(search[PATIENCE] // 2, 1)
    else:
        search[PATIENCE] = min(2 * search[PATIENCE], MOST_PATIENCE)
    search[REFUSED] = 0
    on_the_way(own, sample, min(1.0, numbers[RANGE] / far), n, target)
    if not may_go(search, own, target, decided(search, is_root(tree, node))):
        reaches[node] = after_failure(reaches[node], numbers)
        return -1
    if reaches[node] < ALWAYS:
        reaches[node] = reaches[node] * (1.0 + numbers[TUNING])
    return add_node(tree, n, target, node, leaf, ALWAYS, pointer_f32(search[NARROW]))


@typed
def reach_for(search: PtrI64, tree: PtrI64, goal: PtrF64) -> I64:
    """Grow a tree straight towards a point: the last node, or -1 where it did not arrive."""
    n, numbers = search[N], pointer_f64(search[NUMBERS])
    point = pointer_f64(search[POINT])
    node, leaf = nearest_to(search, tree, goal)
    origin = node
    steps = i64(distance(offset(pointer_f64(tree[X]), node * n), goal, n) / numbers[RANGE]) + 1
    for k in range(steps):
        start = offset(pointer_f64(tree[X]), origin * n)
        on_the_way(start, goal, f64(k + 1) / f64(steps), n, point)
        start = offset(pointer_f64(tree[X]), node * n)
        if not may_go(search, start, point, decided(search, is_root(tree, node))):
            return -1
        if k + 1 == steps:
            break
        if is_full(tree):
            return -1
        leaf = add_node(tree, n, point, node, leaf, ALWAYS, pointer_f32(search[NARROW]))
        node = tree[COUNT] - 1
    return node


@typed
def connect(search: PtrI64, steps: I64) -> I64:
    """Grow both trees by so many steps at most: GOING, MET, or FULL where there is no more room.

    After `MOST_BLOCKS` checks it is GOING too.
    """
    trees, ends = pointer_i64(search[TREES]), pointer_i64(search[ENDS])
    last = search[BLOCKS] + MOST_BLOCKS
    for _ in range(steps):
        if search[BLOCKS] >= last:
            break
        side = 0
        if pointer_i64(trees[0])[COUNT] > pointer_i64(trees[1])[COUNT]:
            side = 1
        own, other = pointer_i64(trees[side]), pointer_i64(trees[1 - side])
        if is_full(own) or is_full(other):
            return FULL
        search[STEPS] += 1
        if reach_out(search, own) < 0:
            continue
        met = reach_for(search, other, pointer_f64(search[TARGET]))
        if met >= 0:
            ends[side] = own[COUNT] - 1
            ends[1 - side] = met
            return MET
    return GOING


@typed
def meet_at_once(search: PtrI64) -> Bool:
    """Whether a root of one tree is joined with one of the other by a motion that is free."""
    trees, ends = pointer_i64(search[TREES]), pointer_i64(search[ENDS])
    first, second = pointer_i64(trees[0]), pointer_i64(trees[1])
    n = search[N]
    for i in range(first[COUNT]):
        for j in range(second[COUNT]):
            start = offset(pointer_f64(first[X]), i * n)
            if may_go(search, start, offset(pointer_f64(second[X]), j * n), WIDTH32):
                ends[0] = i
                ends[1] = j
                return True
    return False


@typed
def write_path(search: PtrI64) -> I64:
    """Write the path through the two nodes that meet: how many points, or -1 without room."""
    trees, ends = pointer_i64(search[TREES]), pointer_i64(search[ENDS])
    n, path = search[N], pointer_f64(search[PATH])
    first, second = pointer_i64(trees[0]), pointer_i64(trees[1])
    parents = pointer_i64(first[PARENT])
    count, node = 0, ends[0]
    while node >= 0:
        count += 1
        node = parents[node]
    if count > search[MOST]:
        return -1
    node = ends[0]
    for k in range(count - 1, -1, -1):
        own = offset(pointer_f64(first[X]), node * n)
        for j in range(n):
            path[k * n + j] = own[j]
        node = parents[node]
    parents = pointer_i64(second[PARENT])
    node = ends[1]
    while node >= 0:
        own = offset(pointer_f64(second[X]), node * n)
        # both trees hold the point where they meet, or are joined by a motion
        if distance(offset(path, (count - 1) * n), own, n) > 0.0:
            if count == search[MOST]:
                return -1
            for j in range(n):
                path[count * n + j] = own[j]
            count += 1
        node = parents[node]
    return count


@typed
def drop_points(search: PtrI64, count: I64) -> I64:
    """Leave out points of the path that free motions pass by; how many are left."""
    n, path = search[N], pointer_f64(search[PATH])
    first = 0
    while first < count - 2:
        last = count - 1
        while last > first + 1:
            most = decided(search, first == 0 or last == count - 1)
            if may_go(search, offset(path, first * n), offset(path, last * n), most):
                break
            last -= 1
        gone = last - first - 1
        if gone > 0:
            for k in range(last * n, count * n):
                path[k - gone * n] = path[k]
            count -= gone
        first += 1
    return count


@typed
def place_on(path: PtrF64, lengths: PtrF64, count: I64, s: F64, n: I64, out: PtrF64) -> I64:
    """Write the point of a path at arc length s; the number of its part."""
    part = 0
    while part < count - 2 and s > lengths[part]:
        s -= lengths[part]
        part += 1
    t = s / lengths[part] if lengths[part] > 0.0 else 0.0
    here = offset(path, part * n)
    on_the_way(here, offset(here, n), min(t, 1.0), n, out)
    return part


@typed
def shortcuts(search: PtrI64, count: I64, tries: I64) -> I64:
    """Replace stretches of the path between two of its points by straight motions that are free.

    The result is how many points it then has.
    """
    n, path, lengths = search[N], pointer_f64(search[PATH]), pointer_f64(search[LENGTHS])
    numbers = pointer_f64(search[NUMBERS])
    a, b = pointer_f64(search[TARGET]), pointer_f64(search[POINT])
    whole, changed = 0.0, True
    for _ in range(tries):
        if count < 3 or count >= search[MOST]:
            break
        if changed:
            whole = 0.0
            for k in range(count - 1):
                own = offset(path, k * n)
                lengths[k] = distance(own, offset(own, n), n)
                whole += lengths[k]
            changed = False
        u, v = numbers[PHASE_A] + PACE_A, numbers[PHASE_B] + PACE_B
        u = u - 1.0 if u >= 1.0 else u
        v = v - 1.0 if v >= 1.0 else v
        numbers[PHASE_A] = u
        numbers[PHASE_B] = v
        first = place_on(path, lengths, count, min(u, v) * whole, n, a)
        last = place_on(path, lengths, count, max(u, v) * whole, n, b)
        if first == last:
            continue
        stretch = abs(u - v) * whole
        if distance(a, b, n) > (1.0 - numbers[LEAST_GAIN]) * stretch:
            continue
        if not may_go(search, a, b, decided(search, False)):
            continue
        # points first + 1 ... last go, a and b come
        shift = 2 - (last - first)
        if shift <= 0:
            for k in range((last + 1) * n, count * n):
                path[k + shift * n] = path[k]
        else:
            for k in range(count * n - 1, (last + 1) * n - 1, -1):
                path[k + shift * n] = path[k]
        for j in range(n):
            path[(first + 1) * n + j] = a[j]
            path[(first + 2) * n + j] = b[j]
        count += shift
        changed = True
    return count


@typed
def cut_corners(search: PtrI64, count: I64, passes: I64) -> I64:
    """Cut the corners of the path by straight motions that are free; how many points it then has.

    A cut goes from the middle of the part before a corner to the middle of the one after; where it
    is not free, the next pass tries one half as large.
    """
    n, path = search[N], pointer_f64(search[PATH])
    least = pointer_f64(search[NUMBERS])[LEAST_GAIN]
    a, b = pointer_f64(search[TARGET]), pointer_f64(search[POINT])
    share = 0.5
    for _ in range(passes):
        whole = 0.0
        for k in range(count - 1):
            whole += distance(offset(path, k * n), offset(path, (k + 1) * n), n)
        k = 1
        tried, cut = 0, 0
        while k < count - 1 and count < search[MOST]:
            here = offset(path, k * n)
            before, after = offset(path, (k - 1) * n), offset(path, (k + 1) * n)
            on_the_way(here, before, share, n, a)
            on_the_way(here, after, share, n, b)
            k += 1
            gain = distance(a, here, n) + distance(here, b, n) - distance(a, b, n)
            if gain < least * whole:
                continue
            tried += 1
            if may_go(search, a, b, decided(search, False)):
                for i in range(count * n - 1, k * n - 1, -1):
                    path[i + n] = path[i]
                for j in range(n):
                    path[(k - 1) * n + j] = a[j]
                    path[k * n + j] = b[j]
                count += 1
                cut += 1
                k += 1
        if tried == 0:
            break
        if 2 * cut < tried:
            share = 0.5 * share
    return count


@typed
def come_nearest(search: PtrI64, every: I64) -> F64:
    """The distance of the two trees, by each node of the first whose number ``every`` divides.

    The two nodes become the ends.
    """
    trees, ends = pointer_i64(search[TREES]), pointer_i64(search[ENDS])
    first, second = pointer_i64(trees[0]), pointer_i64(trees[1])
    n, least = search[N], ALWAYS
    for k in range(0, first[COUNT], every):
        own = offset(pointer_f64(first[X]), k * n)
        other, _ = nearest_to(search, second, own)
        far = distance(own, offset(pointer_f64(second[X]), other * n), n)
        if far < least:
            least = far
            ends[0] = k
            ends[1] = other
    return least


@typed
def add_root(search: PtrI64, side: I64, x: PtrF64) -> None:
    """Add a start (0) or a goal (1)."""
    tree = pointer_i64(pointer_i64(search[TREES])[side])
    leaf = 0
    if tree[COUNT] > 0:
        _, leaf = nearest_to(search, tree, x)
    add_node(tree, search[N], x, -1, leaf, ALWAYS, pointer_f32(search[NARROW]))


@typed
def shorter(search: PtrI64, count: I64, tries: I64) -> I64:
    """Make the path shorter; how many points it then has."""
    count = drop_points(search, count)
    if count < 3:
        return count
    count = shortcuts(search, count, tries)
    return cut_corners(search, count, CUTS)


@typed
def begin(
    search: PtrI64, starts: PtrF64, n_starts: I64, goals: PtrF64, n_goals: I64, direct: I64
) -> I64:
    """Begin a search: MET where a start is joined with a goal at once, else GOING.

    That is not tried where ``direct`` is 0.
    """
    trees, n = pointer_i64(search[TREES]), search[N]
    for side in range(2):
        tree = pointer_i64(trees[side])
        tree[COUNT] = 0
        tree[N_LEAVES] = 0
    for k in range(n_starts):
        add_root(search, 0, offset(starts, k * n))
    for k in range(n_goals):
        add_root(search, 1, offset(goals, k * n))
    if direct != 0 and meet_at_once(search):
        return MET
    return GOING
