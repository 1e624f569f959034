"""Signed distances of a robot to itself and to obstacles, the nearest of them, and gradients.

A *thing* is a body of the robot, a row of the scene or one of its `aggregates`; rows stand still
and are numbered after the bodies, aggregates after them. For one configuration a cheap lower bound
of every distance comes first: the ball around a body against the balls of others, and against boxes
with rounded edges that hold the obstacles, in lanes; of an aggregate it is how far that ball is
from its parts, at least. Pieces are looked at, eight pairs `side_by_side`, in the order of these
bounds, and only where the bound is below what is already known to be near enough. Ball against ball
and ball against box are exact signed distances, and a larger solid is nearer, so the bounds hold in
overlap too.

A record has 10 numbers: the distance (m, below 0 in overlap), the nearest point of each of the two
things and the unit normal from the first to the second, all in the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.collision.aggregates import Aggregates, aggregate_away, aggregate_distance
from linkwork.collision.cloud import Aggregate, aggregate_at
from linkwork.collision.narrow import (
    Solid,
    closest,
    height,
)
from linkwork.collision.side_by_side import (
    EIGHT,
    PLACED,
    answer,
    is_alone,
    look,
    placed_piece,
    set_out,
    spheres_apart,
    turn,
)
from linkwork.compile.numpy_abi import address
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    Bool,
    Lanes,
    PtrF64,
    PtrI64,
    bits_of,
    call_at,
    lanes,
    local_f64,
    local_i64,
    lowest_bit,
    offset,
    pointer_f64,
    pointer_i64,
    put,
    select,
    sqrt,
    typed,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PIECE, POSE, BALL, BOUND, RECORD = 24, 12, 4, 16, 10
"""Numbers of a piece, of a pose, of a ball, of a rounded box and of a record."""

# places in `Tables.index`: numbers of things, and where lists begin
N_BODIES, N_PAIRS, N_ROWS, N_MOVERS, N_ALLOWED, N_Q, N_V = 0, 1, 2, 3, 4, 5, 6
RANGES, PAIRS, MOVERS, ALLOWED, COLUMNS = 7, 8, 9, 10, 11
N_AGGREGATES, AGGREGATES, AGGREGATE_NUMBERS = 12, 13, 14  # the last is a place in `Tables.vertices`
N_TURNS, TURNS = 15, 16
FIRST_LIST = 17

TABLES, FRAMES, TWISTING, ROOM, TWISTS, WORLD = 0, 6, 7, 8, 9, 10
"""Places in the record that kernels of rows read: the addresses of six tables (`Tables.addresses`),
of `frames1` and `twists1`, of room for `Tables.room` numbers and for twists; and its size."""

INF = float("inf")
INFINITELY_FAR = np.array([0.0, 0.0, 0.0, INF, -INF, *[0.0] * 11])
"""A rounded box that is."""

ALL_BUSY = (1 << WIDTH) - 1

MOST = 4 * WIDTH
"""Pairs that are looked at together where only the nearest is sought."""

FAR = 1e300
"""A lower bound of the distance of what is not checked."""


# ---------------------------------------------------------------------------------------- tables


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of a robot and a scene for the kernels of this file; arrays are C-contiguous.

    ``index``: counts, places of lists, and the lists: first and count of the pieces of each body;
    pairs of bodies; bodies that are checked against obstacles; pairs of a body and a row of the
    scene that are not; the number of the twist that each number of v gives each body (-1: none);
    ``index`` of the aggregates, whose ``numbers`` stand behind the ``vertices``; the joints with
    quaternions.
    ``boxes``: rounded boxes around the rows, eight by eight, number by number: for each axis its
    components, the least and the greatest place along it, then the radius.
    """

    index: Ints
    pieces: Floats
    balls: Floats
    rows: Floats
    boxes: Floats
    vertices: Floats
    aggregates: Aggregates | None = None  # whose arrays ``index`` has addresses of

    @property
    def n_bounds(self) -> int:
        """The number of bounds of a configuration, with those that fill up lanes."""
        n_pairs, n_rows, n_movers = self.index[[N_PAIRS, N_ROWS, N_MOVERS]].tolist()
        across = _filled(n_rows) + _filled(int(self.index[N_AGGREGATES]))
        return _filled(n_pairs) + n_movers * across

    @property
    def room(self) -> int:
        """The size of the kernels' scratch array: poses twice, balls and pieces placed, bounds."""
        placed = PLACED * len(self.pieces)
        return (2 * POSE + BALL) * (int(self.index[N_BODIES]) + 1) + placed + self.n_bounds

    @cached_property
    def addresses(self) -> list[int]:
        """The addresses of the tables, in the order in which kernels take them."""
        own = (self.index, self.pieces, self.balls, self.rows, self.boxes, self.vertices)
        return [address(each) for each in own]


@dataclass(frozen=True, eq=False)
class Bodies:
    """The bodies of a robot, as tables.

    ``of_body`` (n_b, 2): first and count of the pieces of each; ``pieces`` (n_p, 24); ``balls``
    (n_b, 4): one that holds each body, in its frame; ``pairs`` (n, 2): those that are checked;
    ``movers``: the bodies that are checked against obstacles; ``column_of`` (n_b, n_v): see
    `Frames`. ``turns`` (n, 3): of each joint with a quaternion the first number of it in q, that of
    its turns in v, and how many lengths are before both.
    """

    of_body: Ints
    pieces: Floats
    balls: Floats
    pairs: Ints
    movers: Ints
    column_of: Ints
    n_q: int
    turns: Ints

    @cached_property
    def index(self) -> Ints:
        """The ``index`` of `Tables` where nothing stands around them."""
        lists = [self.of_body, self.pairs, self.movers, self.column_of, self.turns]
        parts = [np.asarray(each, np.int64).ravel() for each in lists]
        head = np.zeros(FIRST_LIST, np.int64)
        head[[N_BODIES, N_V]] = self.column_of.shape
        head[[N_PAIRS, N_MOVERS, N_Q]] = len(self.pairs), len(self.movers), self.n_q
        head[N_TURNS] = len(self.turns)
        places = [RANGES, PAIRS, MOVERS, COLUMNS, TURNS, ALLOWED]
        head[places] = FIRST_LIST + np.cumsum([0, *(len(part) for part in parts)])
        return np.concatenate([head, *parts])


def tables(
    bodies: Bodies,
    rows: ArrayLike,
    vertices: ArrayLike,
    boxes: Floats,
    *,
    allowed: Sequence[tuple[int, int]] | Ints = (),
    aggregates: Aggregates | None = None,
) -> Tables:
    """The tables of a robot and a scene.

    ``rows`` (n, 24): obstacles, in the world; ``vertices``: those of the robot's pieces and of the
    rows; ``boxes`` (n, 16): boxes with rounded edges that hold the rows, number by number as in
    `Tables`, those of half-spaces without ends but one; ``allowed``: pairs of a body and a row, or
    an aggregate, numbered after rows, that are not checked.
    """
    obstacles = np.ascontiguousarray(rows, np.float64).reshape(-1, PIECE)
    flat = np.ascontiguousarray(vertices, np.float64)
    permitted = np.asarray(allowed, np.int64).ravel()
    n_aggregates, of_aggregates, numbers = 0, np.zeros(0, np.int64), np.zeros(0)
    if aggregates is not None and aggregates.count:
        n_aggregates, of_aggregates, numbers = (
            aggregates.count,
            aggregates.index,
            aggregates.numbers,
        )
    index = np.concatenate([bodies.index, permitted, of_aggregates])
    index[N_ROWS], index[N_ALLOWED] = len(obstacles), len(permitted) // 2
    index[N_AGGREGATES], index[AGGREGATE_NUMBERS] = n_aggregates, len(flat)
    index[AGGREGATES] = index[ALLOWED] + len(permitted)
    return Tables(
        index,
        np.ascontiguousarray(bodies.pieces),
        np.ascontiguousarray(bodies.balls),
        obstacles,
        in_lanes(boxes, WIDTH, INFINITELY_FAR),
        np.concatenate([flat, numbers]) if len(numbers) else flat,
        aggregates,
    )


def in_lanes(boxes: Floats, width: int, filler: Floats) -> Floats:
    """Boxes (n, 16), so many side by side, number by number; ``filler`` fills up the last."""
    filled = np.empty((-(-len(boxes) // width) * width, BOUND))
    filled[: len(boxes)], filled[len(boxes) :] = boxes, filler
    return np.ascontiguousarray(filled.reshape(-1, width, BOUND).transpose(0, 2, 1)).ravel()


def _filled(n: int) -> int:
    return -(-n // WIDTH) * WIDTH


# ----------------------------------------------------------------------------------------- bounds


class Things(NamedTuple):
    """The arrays of `Tables`, and the poses of bodies, for kernels.

    ``poses``: of the bodies, then one that is the world's. ``placed``: room for the bodies' balls
    in the world, then for their pieces.
    """

    index: PtrI64
    pieces: PtrF64
    balls: PtrF64
    rows: PtrF64
    boxes: PtrF64
    vertices: PtrF64
    poses: PtrF64
    placed: PtrF64


class Descents(NamedTuple):
    """Pairs of pieces whose distances are sought in lanes, and where these go.

    ``limit``: see `pieces_apart`; ``state``: see `side_by_side`; ``whose``: see `of_lane`.
    """

    limit: PtrF64
    records: PtrF64
    state: PtrF64
    whose: PtrI64


@typed
def ball_in_world(pose: PtrF64, ball: PtrF64, out: PtrF64) -> None:
    """Write the ball of a body as one of the world."""
    for i in range(3):
        row = offset(pose, 4 * i)
        out[i] = row[0] * ball[0] + (row[1] * ball[1] + (row[2] * ball[2] + row[3]))
    out[3] = ball[3]


@typed
def balls_apart(a: PtrF64, b: PtrF64) -> F64:
    """Signed distance of two balls."""
    x = a[0] - b[0]
    y = a[1] - b[1]
    z = a[2] - b[2]
    return sqrt(x * x + (y * y + z * z)) - (a[3] + b[3])


@typed
def beyond(ball: PtrF64, axis: PtrF64) -> Lanes:
    """The distances of a ball's centre beyond eight boxes along one of their axes."""
    t = lanes(axis, 0) * ball[0] + (lanes(axis, WIDTH) * ball[1] + lanes(axis, 2 * WIDTH) * ball[2])
    above = t - lanes(axis, 4 * WIDTH)
    below = lanes(axis, 3 * WIDTH) - t
    return select(above > below, above, below)


@typed
def boxes_apart(ball: PtrF64, boxes: PtrF64) -> Lanes:
    """Signed distances of a ball and eight rounded boxes."""
    u = beyond(ball, boxes)
    v = beyond(ball, offset(boxes, 5 * WIDTH))
    w = beyond(ball, offset(boxes, 10 * WIDTH))
    most = select(u > v, u, v)
    most = select(w > most, w, most)
    u = select(u > 0.0, u, 0.0)
    v = select(v > 0.0, v, 0.0)
    w = select(w > 0.0, w, 0.0)
    far = sqrt(u * u + (v * v + w * w))
    return select(most > 0.0, far, most) - (lanes(boxes, 15 * WIDTH) + ball[3])


@typed
def aggregate_of(things: Things, k: I64) -> Aggregate:
    """The aggregate with a number."""
    index = things.index
    numbers = offset(things.vertices, index[AGGREGATE_NUMBERS])
    return aggregate_at(k, offset(index, index[AGGREGATES]), numbers)


@typed
def place_balls(things: Things) -> None:
    """Write the balls of all bodies in the world."""
    for body in range(things.index[N_BODIES]):
        ball_in_world(
            offset(things.poses, body * POSE),
            offset(things.balls, body * BALL),
            offset(things.placed, body * BALL),
        )


@typed
def filled(n: I64) -> I64:
    """The next multiple of WIDTH."""
    return (n + WIDTH - 1) // WIDTH * WIDTH


@typed
def bounds_of(things: Things, bounds: PtrF64) -> I64:
    """Write a lower bound of the distance of each pair, then of each mover and row; how many."""
    index = things.index
    n_pairs = index[N_PAIRS]
    pairs = offset(index, index[PAIRS])
    for k in range(n_pairs):
        a = offset(things.placed, pairs[2 * k] * BALL)
        bounds[k] = balls_apart(a, offset(things.placed, pairs[2 * k + 1] * BALL))
    n = filled(n_pairs)
    for k in range(n_pairs, n):
        bounds[k] = FAR
    across = filled(index[N_ROWS])
    for m in range(index[N_MOVERS]):
        ball = offset(things.placed, index[index[MOVERS] + m] * BALL)
        for k in range(0, across, WIDTH):
            put(bounds, n + k, boxes_apart(ball, offset(things.boxes, k * BOUND)))
        n += across
    leave_out(index, offset(bounds, filled(n_pairs)))
    return n


@typed
def leave_out(index: PtrI64, bounds: PtrF64) -> None:
    """Set the bounds of what may touch so far that nobody looks at it."""
    allowed = offset(index, index[ALLOWED])
    across = filled(index[N_ROWS])
    for k in range(index[N_ALLOWED]):
        for m in range(index[N_MOVERS]):
            if index[index[MOVERS] + m] == allowed[2 * k] and allowed[2 * k + 1] < index[N_ROWS]:
                bounds[m * across + allowed[2 * k + 1]] = FAR


@typed
def aggregate_bounds(things: Things, limit: F64, bounds: PtrF64) -> I64:
    """Write lower bounds of distances of movers and aggregates, `FAR` over a limit; how many."""
    index = things.index
    n_aggregates = index[N_AGGREGATES]
    across = filled(n_aggregates)
    point = local_i64(1)
    for m in range(index[N_MOVERS]):
        ball = offset(things.placed, index[index[MOVERS] + m] * BALL)
        for k in range(across):
            bounds[m * across + k] = FAR
        for k in range(n_aggregates):
            if not is_allowed(index, index[index[MOVERS] + m], index[N_ROWS] + k):
                d = aggregate_away(aggregate_of(things, k), ball, limit, point)
                if point[0] >= 0:
                    bounds[m * across + k] = d
    return index[N_MOVERS] * across


@typed
def is_allowed(index: PtrI64, body: I64, row: I64) -> Bool:
    """Whether a body may touch a row, or an aggregate."""
    allowed = offset(index, index[ALLOWED])
    for k in range(index[N_ALLOWED]):
        if allowed[2 * k] == body and allowed[2 * k + 1] == row:
            return True
    return False


# --------------------------------------------------------------------------------------- distances


@typed
def n_pieces(index: PtrI64) -> I64:
    """The number of pieces of all bodies."""
    last = index[RANGES] + 2 * (index[N_BODIES] - 1)
    return index[last] + index[last + 1] if index[N_BODIES] > 0 else 0


@typed
def none_placed(things: Things) -> None:
    """Note that the pieces of no body are placed yet: by a radius below 0 of its first."""
    index, placed = things.index, offset(things.placed, things.index[N_BODIES] * BALL)
    for body in range(index[N_BODIES]):
        if index[index[RANGES] + 2 * body + 1] > 0:
            placed[index[index[RANGES] + 2 * body] * PLACED + PLACED - 1] = -1.0


@typed
def place_pieces(body: I64, things: Things) -> None:
    """Write the pieces of a body as `side_by_side.placed_piece` does, if they are not yet."""
    ranges = offset(things.index, things.index[RANGES])
    placed = offset(things.placed, things.index[N_BODIES] * BALL)
    first, n = ranges[2 * body], ranges[2 * body + 1]
    if n > 0 and placed[first * PLACED + PLACED - 1] < 0.0:
        pose = offset(things.poses, body * POSE)
        for k in range(first, first + n):
            placed_piece(offset(things.pieces, k * PIECE), pose, offset(placed, k * PLACED))


@typed
def pieces_apart(wanted: PtrI64, n: I64, things: Things, limit: PtrF64, records: PtrF64) -> None:
    """Write the records of a list of pairs, as `listed` has it, but of aggregates `nothing`.

    Of each pair of many pieces, first the two whose spheres are nearest; at last, when it is known
    how near these are, those that may be nearer. ``limit``: the most that matters, and 1 where it
    falls to what is found, since only the nearest is sought.
    """
    index = things.index
    descents = Descents(limit, records, local_f64(EIGHT), local_i64(5 * WIDTH))
    ranges, busy = offset(index, index[RANGES]), 0
    for m in range(2 * n):  # the last first: hands, of many pieces, which are known soon then
        first = m < n
        k = (n if first else 2 * n) - 1 - m
        a, b, count = wanted[4 * k], wanted[4 * k + 1], wanted[4 * k + 3]
        if first:
            nothing(offset(records, k * RECORD))
        if b == -2:
            continue
        count = ranges[2 * a + 1] * (ranges[2 * b + 1] if b >= 0 else count)
        if count > 1 or (first and count == 1):
            busy = feed(offset(wanted, 4 * k), k, first, things, descents, busy)
    while busy != 0:
        busy = advance(things, descents, busy)


@typed
def feed(entry: PtrI64, k: I64, first: Bool, things: Things, descents: Descents, busy: I64) -> I64:
    """Begin the descents of a pair: that of its two nearest pieces, or all others; who is busy.

    Where all are busy, steps are taken until one is not.
    """
    index = things.index
    ranges, n_bodies = offset(index, index[RANGES]), index[N_BODIES]
    a, b = entry[0], entry[1]
    if b >= 0 and descents.limit[0] < INF:
        balls = things.placed
        if balls_apart(offset(balls, a * BALL), offset(balls, b * BALL)) > descents.limit[0]:
            return busy
    place_pieces(a, things)
    if b >= 0:
        place_pieces(b, things)
    first_own, n_own = ranges[2 * a], ranges[2 * a + 1]
    first_other, n_others, that = entry[2], entry[3], n_bodies
    if b >= 0:
        first_other, n_others, that = ranges[2 * b], ranges[2 * b + 1], b
    record = offset(descents.records, k * RECORD)
    one, other, least = first_own, first_other, INF  # the nearest two: begun first, and not again
    for i in range(first_own, first_own + n_own if n_own * n_others > 1 else first_own):
        for j in range(first_other, first_other + n_others):
            x, at_x, T_x = piece_of(i, a, things)
            y, at_y, T_y = piece_of(j, that, things)
            gap = spheres_apart(at_x, T_x, at_y, T_y)
            if gap < least:
                one, other, least = i, j, gap
    i, j = first_own, first_other
    for _ in range(1 if first else n_own * n_others):
        at, at_other = one if first else i, other if first else j
        j += 1
        if j == first_other + n_others:
            i, j = i + 1, first_other
        if not first and at == one and at_other == other:
            continue
        x, at_x, T_x = piece_of(at, a, things)
        y, at_y, T_y = piece_of(at_other, that, things)
        bound = min(descents.limit[0], record[0])
        if bound < INF and spheres_apart(at_x, T_x, at_y, T_y) > bound:
            continue
        if is_alone(x, y):
            alone(x, T_x, y, T_y, things.vertices, descents.limit, record)
            continue
        if record[0] < INF:  # along the normal of what is known, where a single piece ends there
            n, high, low = offset(record, 7), 0.0, 0.0
            for m in range(3):
                high += n[m] * record[1 + m]
                low += n[m] * record[4 + m]
            if n_own > 1:
                high = height(x, T_x, things.vertices, n[0], n[1], n[2])
            if n_others > 1:
                low = -height(y, T_y, things.vertices, -n[0], -n[1], -n[2])
            if low - high > bound:
                continue
        while busy == ALL_BUSY:
            busy = advance(things, descents, busy)
        lane = lowest_bit(ALL_BUSY & ~busy)
        set_out(descents.state, lane, x, at_x, T_x, y, at_y, T_y, min(descents.limit[0], record[0]))
        mine = offset(descents.whose, 5 * lane)
        mine[0], mine[1], mine[2], mine[3], mine[4] = k, at, at_other, a, that
        busy = busy | (1 << lane)
    return busy


@typed
def piece_of(k: I64, body: I64, things: Things) -> tuple[PtrF64, PtrF64, PtrF64]:
    """A piece of a body, or a row, how it stands in the world, and the pose that this adds to."""
    n_bodies = things.index[N_BODIES]
    piece = offset(things.pieces, k * PIECE)
    at = offset(things.placed, n_bodies * BALL + k * PLACED)
    if body == n_bodies:
        piece = offset(things.rows, k * PIECE)
        at = offset(piece, 8)
    return piece, at, offset(things.poses, body * POSE)


@typed
def alone(
    one: PtrF64,
    T_one: PtrF64,
    other: PtrF64,
    T_other: PtrF64,
    vertices: PtrF64,
    limit: PtrF64,
    record: PtrF64,
) -> None:
    """Write the record of two pieces where they are nearer than what it says."""
    found = local_f64(RECORD)
    high = min(limit[0], record[0])
    found[0] = closest(one, T_one, other, T_other, vertices, high, offset(found, 1))
    if not found[0] > high:
        keep(found, record, limit)


@typed
def keep(found: PtrF64, record: PtrF64, limit: PtrF64) -> None:
    """Write a record over one that is no nearer."""
    for i in range(RECORD):
        record[i] = found[i]
    if limit[1] > 0.0 and found[0] < limit[0]:
        limit[0] = found[0]


@typed
def advance(things: Things, descents: Descents, busy: I64) -> I64:
    """Take a step of all descents and write the records of those that end; who is busy then."""
    corner, found = local_f64(3 * WIDTH), local_f64(RECORD)
    going, met = look(descents.state, busy, things.vertices, corner)
    while met != 0:
        lane = lowest_bit(met)
        met &= met - 1
        k, one, other, a, b = of_lane(descents.whose, lane)
        x, at_x, T_x = piece_of(one, a, things)
        y, _, _ = piece_of(other, b, things)
        answer(descents.state, lane, x, at_x, T_x, y, found)
        record = offset(descents.records, k * RECORD)
        if not found[0] > record[0]:
            keep(found, record, descents.limit)
    if going == 0:
        return 0
    busy = turn(descents.state, going, corner)
    left = going & ~busy
    while left != 0:
        lane = lowest_bit(left)
        left &= left - 1
        k, one, other, a, b = of_lane(descents.whose, lane)
        x, _, T_x = piece_of(one, a, things)
        y, _, T_y = piece_of(other, b, things)
        alone(x, T_x, y, T_y, things.vertices, descents.limit, offset(descents.records, k * RECORD))
    return busy


@typed
def of_lane(whose: PtrI64, lane: I64) -> tuple[I64, I64, I64, I64, I64]:
    """The record that a lane is for, its two pieces and their bodies."""
    own = offset(whose, 5 * lane)
    return own[0], own[1], own[2], own[3], own[4]


@typed
def body_aggregate(a: I64, k: I64, things: Things, bound: F64, record: PtrF64) -> F64:
    """Signed distance of a body and an aggregate, as `aggregate_distance` gives it of one piece."""
    index = things.index
    own = offset(index, index[RANGES] + 2 * a)
    world = offset(things.poses, index[N_BODIES] * POSE)
    best = bound
    near = False
    for i in range(own[1]):
        piece = offset(things.pieces, (own[0] + i) * PIECE)
        T = offset(things.poses, a * POSE)
        d = aggregate_distance(
            aggregate_of(things, k), Solid(piece, T, things.vertices), world, best, record
        )
        if d < FAR:
            near = True
            best = d
    return best if near else FAR


@typed
def listed_near(wanted: PtrI64, n: I64, things: Things, limit: PtrF64, records: PtrF64) -> None:
    """Write the records of `listed`, where the balls are placed."""
    pieces_apart(wanted, n, things, limit, records)
    for k in range(n):
        a, record = wanted[4 * k], offset(records, k * RECORD)
        if wanted[4 * k + 1] == -2:
            d = body_aggregate(a, wanted[4 * k + 2], things, limit[0], record)
            if d > limit[0] or d >= FAR:
                nothing(record)


@typed
def wanted_of(index: PtrI64, k: I64, out: PtrI64) -> None:
    """Write the pair that a bound is of as `listed` has it."""
    a, b = things_of(index, k)
    n_bodies, n_rows = index[N_BODIES], index[N_ROWS]
    out[0], out[1], out[2], out[3] = a, b, 0, 0
    if b >= n_bodies + n_rows:
        out[1], out[2] = -2, b - n_bodies - n_rows
    elif b >= n_bodies:
        out[1], out[2], out[3] = -1, b - n_bodies, 1


@typed
def things_wanted(index: PtrI64, entry: PtrI64) -> tuple[I64, I64]:
    """The body and the other thing of an entry that `wanted_of` wrote."""
    b = entry[1]
    if b < 0:
        b = entry[2] + index[N_BODIES] + (index[N_ROWS] if b == -2 else 0)
    return entry[0], b


@typed
def things_of(index: PtrI64, k: I64) -> tuple[I64, I64]:
    """The body and the other thing that a bound is of."""
    n_pairs = filled(index[N_PAIRS])
    if k < n_pairs:
        pair = offset(index, index[PAIRS] + 2 * k)
        return pair[0], pair[1]
    n_bodies = index[N_BODIES]
    n_rows = index[N_ROWS]
    k -= n_pairs
    across = filled(n_rows)
    if k < index[N_MOVERS] * across:
        return index[index[MOVERS] + k // across], n_bodies + k % across
    k -= index[N_MOVERS] * across
    across = filled(index[N_AGGREGATES])
    return index[index[MOVERS] + k // across], n_bodies + n_rows + k % across


# ----------------------------------------------------------------------------------------- nearest


@typed
def least_bounds(bounds: PtrF64, n_bounds: I64, n: I64, within: F64, order: PtrI64) -> I64:
    """Write which n bounds are least, the least first, of those up to ``within``; how many."""
    count = 0
    limit = within
    for start in range(0, n_bounds, WIDTH):
        bits = bits_of(lanes(bounds, start) <= limit)
        while bits != 0:
            k = start + lowest_bit(bits)
            bits &= bits - 1
            bound = bounds[k]
            if count == n:
                if bound >= limit:
                    continue
            else:
                count += 1
            j = count - 1
            while j > 0 and bounds[order[j - 1]] > bound:
                order[j] = order[j - 1]
                j -= 1
            order[j] = k
            if count == n:
                limit = bounds[order[n - 1]]
    return count


@typed
def insert(record: PtrF64, a: I64, b: I64, at: I64, records: PtrF64, which: PtrI64) -> None:
    """Put a record among those before place ``at``, in order; the one at that place is lost."""
    while at > 0 and records[(at - 1) * RECORD] > record[0]:
        for i in range(RECORD):
            records[at * RECORD + i] = records[(at - 1) * RECORD + i]
        which[2 * at] = which[2 * at - 2]
        which[2 * at + 1] = which[2 * at - 1]
        at -= 1
    for i in range(RECORD):
        records[at * RECORD + i] = record[i]
    which[2 * at] = a
    which[2 * at + 1] = b


@typed
def nearest(
    things: Things, n: I64, within: F64, order: PtrI64, records: PtrF64, which: PtrI64
) -> I64:
    """Write the n nearest pairs of things up to ``within`` metres, the nearest first; how many.

    ``poses``: of the bodies, then one that is the world's. ``room``: for balls, pieces and bounds.
    ``which``: the body and the other thing of each record. Places that are left over get the
    distance inf, and things -1.
    """
    index = things.index
    bounds = offset(things.placed, index[N_BODIES] * BALL + n_pieces(index) * PLACED)
    place_balls(things)
    none_placed(things)
    n_bounds = bounds_of(things, bounds)
    limit, most = local_f64(2), WIDTH
    limit[0], limit[1] = min(within, FAR / 2.0), 0.0
    if n == 1:  # many at a time: each that is found leaves less to the others
        limit[1], most = 1.0, MOST
    n_bounds += aggregate_bounds(things, limit[0], offset(bounds, n_bounds))
    wanted, found = local_i64(4 * MOST), local_f64(MOST * RECORD)
    n_first = least_bounds(bounds, n_bounds, n, limit[0], order)
    count, at, held, bits = 0, 0, 0, 0
    start = -WIDTH
    while start < n_bounds:
        k = -1
        if at < n_first:  # first what is likely to be nearest, then all that may still be nearer
            k = order[at]
            at += 1
        elif bits != 0:
            k = start + lowest_bit(bits)
            bits &= bits - 1
        else:
            start += WIDTH
            if start < n_bounds:
                bits = bits_of(lanes(bounds, start) <= limit[0])
        if k >= 0 and bounds[k] <= limit[0]:
            bounds[k] = FAR
            wanted_of(index, k, offset(wanted, 4 * held))
            held += 1
        likely = start < 0 and at == n_first
        if held == most or likely or start >= n_bounds:
            listed_near(wanted, held, things, limit, found)
            for m in range(held):
                record = offset(found, m * RECORD)
                if not record[0] > limit[0]:
                    if count < n:
                        count += 1
                    a, b = things_wanted(index, offset(wanted, 4 * m))
                    insert(record, a, b, count - 1, records, which)
                    if count == n:
                        limit[0] = records[(n - 1) * RECORD]
            held = 0
    for k in range(count, n):
        nothing(offset(records, k * RECORD))
        which[2 * k] = -1
        which[2 * k + 1] = -1
    return count


@typed
def nothing(record: PtrF64) -> None:
    """Write the record of what is too far away: the distance inf and zeros."""
    record[0] = INF
    for i in range(1, RECORD):
        record[i] = 0.0


@typed
def gradient(record: PtrF64, a: I64, b: I64, index: PtrI64, twists: PtrF64, out: PtrF64) -> None:
    """Write the gradient of the distance of two things in the tangent of q (n_v).

    It is n · (velocity of B at its point - velocity of A at its point), where n is the normal: 0
    of joints that carry both, and of what is too far away.
    """
    n_v = index[N_V]
    n_bodies = index[N_BODIES]
    if record[0] == INF:
        for k in range(n_v):
            out[k] = 0.0
        return
    columns = offset(index, index[COLUMNS])
    on_a = local_f64(3)
    on_b = local_f64(3)
    normal = offset(record, 7)
    moment(offset(record, 1), normal, on_a)
    moment(offset(record, 4), normal, on_b)
    for k in range(n_v):
        moved_a = columns[a * n_v + k] if a >= 0 else -1
        moved_b = columns[b * n_v + k] if b >= 0 and b < n_bodies else -1
        rate = 0.0
        if moved_a != moved_b:
            if moved_b >= 0:
                rate += power(offset(twists, 6 * moved_b), normal, on_b)
            if moved_a >= 0:
                rate -= power(offset(twists, 6 * moved_a), normal, on_a)
        out[k] = rate


@typed
def moment(p: PtrF64, n: PtrF64, out: PtrF64) -> None:
    """Write p x n."""
    out[0] = p[1] * n[2] - p[2] * n[1]
    out[1] = p[2] * n[0] - p[0] * n[2]
    out[2] = p[0] * n[1] - p[1] * n[0]


@typed
def power(twist: PtrF64, n: PtrF64, about: PtrF64) -> F64:
    """The speed along n of the point whose moment with n is given."""
    linear = twist[0] * n[0] + (twist[1] * n[1] + twist[2] * n[2])
    return linear + (twist[3] * about[0] + (twist[4] * about[1] + twist[5] * about[2]))


# ------------------------------------------------------------------------------------------- rows


@typed
def things_in(tables: PtrI64, poses: PtrF64, placed: PtrF64) -> Things:
    """The things of a list of `Tables.addresses`; the pose of the world is written."""
    index = pointer_i64(tables[0])
    pose = offset(poses, index[N_BODIES] * POSE)
    for i in range(POSE):
        pose[i] = 1.0 if i % 5 == 0 else 0.0
    return Things(
        index,
        pointer_f64(tables[1]),
        pointer_f64(tables[2]),
        pointer_f64(tables[3]),
        pointer_f64(tables[4]),
        pointer_f64(tables[5]),
        poses,
        placed,
    )


@typed
def poses_at(q: PtrF64, world: PtrI64, twisting: Bool, poses: PtrF64, twists: PtrF64) -> None:
    """Write the poses of the bodies, and the twists where they are asked for."""
    if twisting:
        call_at(world[TWISTING], q, poses, twists)
    else:
        call_at(world[FRAMES], q, poses)


@typed
def carry(
    record: PtrF64, a: I64, b: I64, index: PtrI64, before: PtrF64, after: PtrF64, out: PtrF64
) -> None:
    """Write a record as it is at other poses: the point of A carried with A, the normal with B.

    Both points become that of A, so that `gradient` gives the rate of n · (point of B - point of A)
    with all three carried along: 0 of joints that carry both.
    """
    for i in range(RECORD):
        out[i] = record[i]
    if a >= 0 and a < index[N_BODIES]:
        old, new = offset(before, a * POSE), offset(after, a * POSE)
        for i in range(3):
            out[1 + i] = new[4 * i + 3]
            for k in range(3):
                own = 0.0
                for j in range(3):
                    own += old[4 * j + k] * (record[1 + j] - old[4 * j + 3])
                out[1 + i] += new[4 * i + k] * own
    if b >= 0 and b < index[N_BODIES]:
        old, new = offset(before, b * POSE), offset(after, b * POSE)
        for i in range(3):
            out[7 + i] = 0.0
            for k in range(3):
                own = 0.0
                for j in range(3):
                    own += old[4 * j + k] * record[7 + j]
                out[7 + i] += new[4 * i + k] * own
    for i in range(3):
        out[4 + i] = out[1 + i]


@typed
def nearest_rows(
    q: PtrF64,
    n_rows: I64,
    world: PtrI64,
    n: I64,
    within: F64,
    order: PtrI64,
    records: PtrF64,
    which: PtrI64,
    gradients: I64,
    others: I64,
) -> None:
    """`nearest` for each row of q, with `gradient` where the address of gradients is not 0.

    ``world``: see `WORLD`. ``order``: n. ``others``: 0, or the address of configurations at which
    the gradients are taken, of the points that were found at q.
    """
    index, poses, twists = (
        pointer_i64(world[TABLES]),
        pointer_f64(world[ROOM]),
        pointer_f64(world[TWISTS]),
    )
    slopes, n_v = pointer_f64(gradients), index[N_V]
    elsewhere, carried = offset(poses, (index[N_BODIES] + 1) * POSE), local_f64(RECORD)
    things = things_in(offset(world, TABLES), poses, offset(elsewhere, index[N_BODIES] * POSE))
    for row in range(n_rows):
        twisting = gradients != 0 and others == 0
        poses_at(offset(q, row * index[N_Q]), world, twisting, poses, twists)
        own = offset(records, row * n * RECORD)
        pairs = offset(which, row * n * 2)
        nearest(things, n, within, order, own, pairs)
        if gradients != 0:
            if others != 0:
                there = offset(pointer_f64(others), row * index[N_Q])
                call_at(world[TWISTING], there, elsewhere, twists)
            for k in range(n):
                a, b = pairs[2 * k], pairs[2 * k + 1]
                record, slope = offset(own, k * RECORD), offset(slopes, (row * n + k) * n_v)
                if others != 0:
                    carry(record, a, b, index, poses, elsewhere, carried)
                    gradient(carried, a, b, index, twists, slope)
                else:
                    gradient(record, a, b, index, twists, slope)


@typed
def listed(wanted: PtrI64, n: I64, things: Things, within: F64, records: PtrF64) -> None:
    """Write the record of each pair of a list; those over ``within`` metres get the distance inf.

    ``wanted`` (n, 4): two bodies and 0, 0; a body, -1, and first and count of the rows of an
    obstacle; or a body, -2, an aggregate and 0. ``placed``: for the balls and pieces in the world.
    """
    place_balls(things)
    none_placed(things)
    limit = local_f64(2)
    limit[0], limit[1] = within, 0.0
    listed_near(wanted, n, things, limit, records)


@typed
def distances_rows(
    q: PtrF64,
    n_rows: I64,
    world: PtrI64,
    wanted: PtrI64,
    n: I64,
    within: F64,
    records: PtrF64,
    gradients: I64,
) -> None:
    """`listed` for each row of q, with `gradient` where the address of gradients is not 0."""
    index, poses, twists = (
        pointer_i64(world[TABLES]),
        pointer_f64(world[ROOM]),
        pointer_f64(world[TWISTS]),
    )
    slopes, n_v = pointer_f64(gradients), index[N_V]
    things = things_in(offset(world, TABLES), poses, offset(poses, (index[N_BODIES] + 1) * POSE))
    for row in range(n_rows):
        poses_at(offset(q, row * index[N_Q]), world, gradients != 0, poses, twists)
        own = offset(records, row * n * RECORD)
        listed(wanted, n, things, within, own)
        if gradients != 0:
            for k in range(n):
                a, b = wanted[4 * k], wanted[4 * k + 1]
                slope = offset(slopes, (row * n + k) * n_v)
                gradient(offset(own, k * RECORD), a, b, index, twists, slope)
