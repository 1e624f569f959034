"""The check of many configurations: does the robot touch itself or the scene?

Sixteen configurations are the lanes of float32 vectors. Balls that cover the robot (`cover`) are
tested against boxes with rounded edges that hold the obstacles, and against each other, from the
ball of a whole link down to the finest. What is clear of all is free. Balls that lie inside of the
robot and touch a box that lies inside of an obstacle are a hit. What is left, a few pairs of pieces
in a few lanes, is decided on the convex pieces in float64 (`narrow`). So the verdict is that of the
pieces, whatever the balls are; their radii count the rounding (see `tables`).
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.collision.aggregates import aggregate_holds, aggregate_touches, is_field
from linkwork.collision.apart import lanes_apart
from linkwork.collision.cloud import (
    Aggregate,
    aggregate_at,
    point_piece,
    points_near,
)
from linkwork.collision.height_field import piece_in_field
from linkwork.collision.narrow import (
    GUESS,
    Solid,
    touches,
    touches_near,
)
from linkwork.collision.tree import visit_near
from linkwork.compile.typed import (
    F32,
    F64,
    I64,
    WIDTH,
    WIDTH32,
    Bool,
    Lanes32,
    Mask32,
    PtrF32,
    PtrF64,
    PtrI64,
    any_of,
    bit_count,
    bits_of,
    call_at,
    f32,
    f64,
    i64,
    lane_max,
    lanes,
    local_f32,
    local_f64,
    local_i64,
    lowest_bit,
    mask_of,
    offset,
    pointer_f32,
    pointer_f64,
    pointer_i64,
    put,
    select,
    sqrt,
    typed,
)

PIECE, POSE, BALL, BOX, PLANE = 24, 12, 4, 16, 4
"""Numbers of a row: a piece, a pose (rows of 3x4), a ball (x, y, z, r), a rounded box (for each
axis its three components, the centre along it and the half length; then the radius), a half-space
(the normal and its offset)."""

BODY = 7
"""The number of a piece's body in its row."""

ENTRY, MOST_TODO = 6, 4096
FULL = 1 + ENTRY * MOST_TODO
"""Numbers of a note, how many there may be, and where the lanes are marked that had no room: there
all pieces are looked at. Each note has first and count of pieces of one body, the same of another
(or the row of an obstacle, or the number of an aggregate and of the part of the body), whether it
is a body's (0), an obstacle's (-1) or an aggregate's (-2), and the lanes."""

OF_AGGREGATE = -2
"""The mark of a note of an aggregate."""

VAST = 1e30
"""The radius (m) that balls have at most where aggregates are asked."""

MOST_BALLS = 64
"""Balls of a part, and inner balls of a body, at most."""

SIXTEENS = 64
"""Sixteens of balls of a body that are tested together against those of another."""

GUESSES = 8
MEMORY, MOST_ROWS = GUESS + 1, 2.0**28
"""Pairs of pieces of a note of which something is remembered: which one it is, and a guess."""

FEW = 5
"""Lanes of a block that are looked at one by one, with balls as lanes; more are together."""

MANY = 192
"""Rows of a scene of which all are looked at; more are found by their tree."""

LOST = 1e-5
"""By so much (m) the difference of two radii in float32 may be too small."""

ALL_LANES, ONE_SURE, ONE_OPEN = range(3)
"""The ends of a look by balls: every lane surely touches, one does, or one may."""

# places in `ints` of a robot
N_BODIES, N_PAIRS, N_Q, BODY_RANGES, PART_RANGES, PAIRS, MOVES, INNER, POOL = range(9)
PIECES, SIDE_BY_SIDE, HEAD = 9, 10, 11
# places in `ints` of a scene
N_ROWS, N_PLANES, PLANE_ROWS, N_ALLOWED, ALLOWED, N_AGGREGATES, SCENE_HEAD = range(7)
# numbers of a part: first and count of its balls, and of its pieces in the pool of lists of pieces
PART = 4


@typed
def place(pose: PtrF32, ball: PtrF32, out: PtrF32) -> None:
    """The centre of a ball of a body, in the world, in all lanes."""
    x, y, z = ball[0], ball[1], ball[2]
    for i in range(3):
        row = offset(pose, 4 * i * WIDTH32)
        put(
            out,
            i * WIDTH32,
            lanes(row, 0) * x
            + (lanes(row, WIDTH32) * y + (lanes(row, 2 * WIDTH32) * z + lanes(row, 3 * WIDTH32))),
        )


@typed
def beyond(x: Lanes32, y: Lanes32, z: Lanes32, axis: PtrF32) -> Lanes32:
    """The distances of points beyond a box along one of its axes, 0 within it."""
    u = abs(axis[0] * x + (axis[1] * y + (axis[2] * z - axis[3]))) - axis[4]
    return select(u > 0.0, u, f32(0.0))


@typed
def near_box(centre: PtrF32, radius: F32, box: PtrF32) -> Mask32:
    """The lanes in which a ball meets a rounded box."""
    x, y, z = lanes(centre, 0), lanes(centre, WIDTH32), lanes(centre, 2 * WIDTH32)
    u, v = beyond(x, y, z, box), beyond(x, y, z, offset(box, 5))
    w = beyond(x, y, z, offset(box, 10))
    reach = radius + box[15]
    return u * u + (v * v + w * w) < reach * reach


@typed
def beyond_of_many(x: F32, y: F32, z: F32, axis: PtrF32) -> Lanes32:
    """The distances of a point beyond each of sixteen boxes along one of their axes."""
    u = lanes(axis, 0) * x + (
        lanes(axis, WIDTH32) * y + (lanes(axis, 2 * WIDTH32) * z - lanes(axis, 3 * WIDTH32))
    )
    u = abs(u) - lanes(axis, 4 * WIDTH32)
    return select(u > 0.0, u, f32(0.0))


@typed
def near_boxes(x: F32, y: F32, z: F32, radius: F32, boxes: PtrF32) -> I64:
    """The rounded boxes of sixteen that a ball meets, as bits."""
    u = beyond_of_many(x, y, z, boxes)
    v = beyond_of_many(x, y, z, offset(boxes, 5 * WIDTH32))
    w = beyond_of_many(x, y, z, offset(boxes, 10 * WIDTH32))
    reach = lanes(boxes, 15 * WIDTH32) + radius
    return bits_of(u * u + (v * v + w * w) < reach * reach)


@typed
def rows_near(x: F32, y: F32, z: F32, radius: F32, boxes: PtrF32, chunks: I64, rows: PtrI64) -> I64:
    """Write which of the boxes in sixteens a ball meets; how many."""
    n = 0
    for chunk in range(chunks):
        bits = near_boxes(x, y, z, radius, offset(boxes, chunk * WIDTH32 * BOX))
        while bits != 0:
            rows[n] = chunk * WIDTH32 + lowest_bit(bits)
            bits &= bits - 1
            n += 1
    return n


@typed
def near_plane(centre: PtrF32, radius: F32, plane: PtrF32) -> Mask32:
    """The lanes in which a ball meets a half-space."""
    x, y, z = lanes(centre, 0), lanes(centre, WIDTH32), lanes(centre, 2 * WIDTH32)
    return plane[0] * x + (plane[1] * y + (plane[2] * z - plane[3])) < radius


@typed
def near_balls(a: PtrF32, radius_a: F32, b: PtrF32, radius_b: F32) -> Mask32:
    """The lanes in which two balls meet."""
    x = lanes(a, 0) - lanes(b, 0)
    y = lanes(a, WIDTH32) - lanes(b, WIDTH32)
    z = lanes(a, 2 * WIDTH32) - lanes(b, 2 * WIDTH32)
    reach = radius_a + radius_b
    return x * x + (y * y + z * z) < reach * reach


@typed
def near_ball(centre: PtrF32, radius: F32, ball: PtrF32) -> Mask32:
    """The lanes in which a ball meets one that is the same in all."""
    x, y, z = lanes(centre, 0) - ball[0], lanes(centre, WIDTH32) - ball[1], ball[2]
    z_apart = lanes(centre, 2 * WIDTH32) - z
    reach = radius + ball[3]
    return x * x + (y * y + z_apart * z_apart) < reach * reach


@typed
def near_shape(centre: PtrF32, radius: F32, plane: Bool, shape: PtrF32) -> I64:
    """The lanes in which a ball meets a rounded box or a half-space, as bits."""
    if plane:
        return bits_of(near_plane(centre, radius, shape))
    return bits_of(near_box(centre, radius, shape))


@typed
def any_inside(
    pose: PtrF32, balls: PtrF32, n: I64, plane: Bool, shape: PtrF32, live: I64, room: PtrF32
) -> I64:
    """The lanes in which one of n balls of a body meets an obstacle."""
    found = 0
    for k in range(n):
        ball = offset(balls, k * BALL)
        place(pose, ball, room)
        found |= near_shape(room, ball[3], plane, shape) & live
        if found == live:
            break
    return found


@typed
def remember(
    todo: PtrI64, first_a: I64, n_a: I64, first_b: I64, n_b: I64, body_b: I64, found: I64
) -> None:
    """Note pieces that are to be looked at in these lanes; todo[0] counts the entries."""
    n = todo[0]
    if n == MOST_TODO:
        todo[FULL] |= found
        return
    if n > 0:
        last = offset(todo, 1 + (n - 1) * ENTRY)
        if (
            last[0] == first_a
            and last[1] == n_a
            and last[2] == first_b
            and last[3] == n_b
            and last[4] == body_b
        ):
            last[5] |= found
            return
    made = offset(todo, 1 + n * ENTRY)
    made[0] = first_a
    made[1] = n_a
    made[2] = first_b
    made[3] = n_b
    made[4] = body_b
    made[5] = found
    todo[0] = n + 1


class Bodies(NamedTuple):
    """The tables of a robot, the balls of its bodies, and sixteen poses of each, in lanes."""

    robot: PtrI64
    balls: PtrF32
    poses: PtrF32


class Obstacle(NamedTuple):
    """A rounded box that holds an obstacle and one inside it, or half-spaces that do."""

    plane: Bool
    shape: PtrF32
    inner: PtrF32


class Asked(NamedTuple):
    """Lanes that are asked for, when no more is (see `ALL_LANES`), and the notes."""

    given: I64
    until: I64
    todo: PtrI64


class Balls(NamedTuple):
    """Balls of a body, its poses in lanes, and a ball that holds them all, its centre in lanes."""

    pose: PtrF32
    balls: PtrF32
    n: I64
    whole: PtrF32
    radius: F32


class Sixteens(NamedTuple):
    """Balls of a body, n times sixteen side by side, its pose, and a ball that holds them all."""

    pose: PtrF32
    balls: PtrF32
    n: I64
    whole: PtrF32


class Exact(NamedTuple):
    """Tables of a robot and a scene, and sixteen poses of each body, in twice eight lanes."""

    robot: PtrI64
    scene: PtrI64
    ranges: PtrI64
    pieces: PtrF64
    rows: PtrF64
    vertices: PtrF64
    poses: PtrF64


@typed
def is_allowed(scene: PtrI64, body: I64, row: I64) -> Bool:
    """Whether a body may touch an obstacle."""
    listed = offset(scene, scene[ALLOWED])
    for k in range(scene[N_ALLOWED]):
        if listed[2 * k] == body and listed[2 * k + 1] == row:
            return True
    return False


@typed
def body_against(
    body: I64, row: I64, obstacle: Obstacle, bodies: Bodies, near: I64, todo: PtrI64, room: PtrF32
) -> I64:
    """The lanes in which a body surely touches an obstacle; what may touch is noted."""
    robot, balls = bodies.robot, bodies.balls
    pose = offset(bodies.poses, body * POSE * WIDTH32)
    parts = offset(robot, robot[BODY_RANGES] + 2 * body)
    hit = 0
    tried = 0
    for k in range(parts[0], parts[0] + parts[1]):
        part = offset(robot, robot[PART_RANGES] + PART * k)
        ball = offset(balls, (robot[N_BODIES] + k) * BALL)
        place(pose, ball, room)
        live = near_shape(room, ball[3], obstacle.plane, obstacle.shape) & near & ~hit
        if live == 0:
            continue
        own = offset(balls, part[0] * BALL)
        found = any_inside(pose, own, part[1], obstacle.plane, obstacle.shape, live, room)
        if found == 0:
            continue
        if found & ~tried != 0:
            inner_balls = offset(robot, robot[INNER] + 2 * body)
            own = offset(balls, inner_balls[0] * BALL)
            hit |= any_inside(
                pose, own, inner_balls[1], obstacle.plane, obstacle.inner, found & ~tried, room
            )
            tried |= found
            found &= ~hit
        if found != 0:
            remember(todo, part[2], part[3], row, 1, -1, found)
    return hit


@typed
def pose_of_one(poses: PtrF32, body: I64, k: I64, out: PtrF32) -> None:
    """The pose of a body in lane k."""
    source = offset(poses, body * POSE * WIDTH32 + k)
    for i in range(POSE):
        out[i] = source[i * WIDTH32]


@typed
def place_many(pose: PtrF32, balls: PtrF32, out: PtrF32) -> None:
    """The centres of sixteen balls of a body, side by side, in the world."""
    x, y, z = lanes(balls, 0), lanes(balls, WIDTH32), lanes(balls, 2 * WIDTH32)
    for i in range(3):
        row = offset(pose, 4 * i)
        put(out, i * WIDTH32, row[0] * x + (row[1] * y + (row[2] * z + row[3])))


@typed
def many_near_shape(centre: PtrF32, radii: Lanes32, plane: Bool, shape: PtrF32) -> Bool:
    """Whether one of sixteen balls meets a rounded box or a half-space."""
    x, y, z = lanes(centre, 0), lanes(centre, WIDTH32), lanes(centre, 2 * WIDTH32)
    if plane:
        return any_of(shape[0] * x + (shape[1] * y + (shape[2] * z - shape[3])) < radii)
    u, v = beyond(x, y, z, shape), beyond(x, y, z, offset(shape, 5))
    w = beyond(x, y, z, offset(shape, 10))
    reach = radii + shape[15]
    # fillers have the radius -inf, whose square would be a reach
    return any_of((u * u + (v * v + w * w) < reach * reach) & (reach > 0.0))


@typed
def one_against(
    pose: PtrF32, balls: PtrF32, n: I64, plane: Bool, shape: PtrF32, room: PtrF32
) -> Bool:
    """Whether one of n sixteens of balls meets an obstacle."""
    for k in range(n):
        these = offset(balls, k * BALL * WIDTH32)
        place_many(pose, these, room)
        if many_near_shape(room, lanes(these, 3 * WIDTH32), plane, shape):
            return True
    return False


@typed
def lanes_against(
    body: I64, row: I64, obstacle: Obstacle, bodies: Bodies, near: I64, todo: PtrI64, room: PtrF32
) -> I64:
    """As `body_against`, lane by lane."""
    robot = bodies.robot
    pose = local_f32(12)
    own = offset(robot, robot[SIDE_BY_SIDE] + 4 * body)
    pieces = offset(robot, robot[PIECES] + 2 * body)
    hit, undecided = 0, 0
    bits = near
    while bits != 0:
        one = bits & -bits
        bits &= bits - 1
        pose_of_one(bodies.poses, body, lowest_bit(one), pose)
        if one_against(
            pose, offset(bodies.balls, own[0]), own[1], obstacle.plane, obstacle.shape, room
        ):
            if one_against(
                pose, offset(bodies.balls, own[2]), own[3], obstacle.plane, obstacle.inner, room
            ):
                hit |= one
            else:
                undecided |= one
    if undecided != 0:
        remember(todo, pieces[0], pieces[1], row, 1, -1, undecided)
    return hit


@typed
def near_one(pose: PtrF32, balls: PtrF32, n: I64, one: PtrF32, placed: PtrF32, near: PtrI64) -> I64:
    """The number of sixteens, of n of a body, that have balls which meet one ball.

    Writes the number of each and the bits of the balls, and to ``placed`` where its balls are.
    """
    x, y, z = one[0], one[1], one[2]
    kept = 0
    for k in range(n):
        these, at = offset(balls, k * BALL * WIDTH32), offset(placed, kept * 3 * WIDTH32)
        place_many(pose, these, at)
        dx, dy, dz = lanes(at, 0) - x, lanes(at, WIDTH32) - y, lanes(at, 2 * WIDTH32) - z
        reach = lanes(these, 3 * WIDTH32) + one[3]
        near[2 * kept] = k
        near[2 * kept + 1] = bits_of(dx * dx + (dy * dy + dz * dz) < reach * reach)
        kept += min(near[2 * kept + 1], 1)
    return kept


@typed
def balls_meet(a: Sixteens, b: Sixteens, room: PtrF32) -> Bool:
    """Whether one of the balls of a body meets one of another's."""
    for i in range(0, a.n, SIXTEENS):
        for j in range(0, b.n, SIXTEENS):
            if some_meet(
                Sixteens(
                    a.pose, offset(a.balls, i * BALL * WIDTH32), min(a.n - i, SIXTEENS), a.whole
                ),
                Sixteens(
                    b.pose, offset(b.balls, j * BALL * WIDTH32), min(b.n - j, SIXTEENS), b.whole
                ),
                room,
            ):
                return True
    return False


@typed
def some_meet(a: Sixteens, b: Sixteens, room: PtrF32) -> Bool:
    """As `balls_meet`, of at most `SIXTEENS` of each."""
    near_a, near_b = local_i64(2 * SIXTEENS), local_i64(2 * SIXTEENS)
    kept_a = near_one(a.pose, a.balls, a.n, b.whole, room, near_a)
    if kept_a == 0:
        return False
    others = offset(room, kept_a * 3 * WIDTH32)
    kept_b = near_one(b.pose, b.balls, b.n, a.whole, others, near_b)
    for i in range(kept_a):
        own = offset(room, i * 3 * WIDTH32)
        radii = offset(a.balls, (near_a[2 * i] * BALL + 3) * WIDTH32)
        bits = near_a[2 * i + 1] if kept_b > 0 else 0
        while bits != 0:
            k = lowest_bit(bits)
            bits &= bits - 1
            x, y, z, radius = own[k], own[WIDTH32 + k], own[2 * WIDTH32 + k], radii[k]
            for j in range(kept_b):
                at = offset(others, j * 3 * WIDTH32)
                dx, dy, dz = lanes(at, 0) - x, lanes(at, WIDTH32) - y, lanes(at, 2 * WIDTH32) - z
                reach = lanes(b.balls, (near_b[2 * j] * BALL + 3) * WIDTH32) + radius
                if any_of(dx * dx + (dy * dy + dz * dz) < reach * reach):
                    return True
    return False


@typed
def ball_of_lane(centres: PtrF32, body: I64, k: I64, radius: F32, out: PtrF32) -> None:
    """The ball of a body in lane k."""
    for i in range(3):
        out[i] = centres[(3 * body + i) * WIDTH32 + k]
    out[3] = radius


@typed
def lanes_of_pair(
    a: I64, b: I64, bodies: Bodies, centres: PtrF32, near: I64, todo: PtrI64, room: PtrF32
) -> I64:
    """The lanes in which two bodies surely touch, lane by lane; what may touch is noted."""
    robot, balls = bodies.robot, bodies.balls
    pose_a, pose_b = local_f32(12), local_f32(12)
    whole_a, whole_b = local_f32(4), local_f32(4)
    side_a = offset(robot, robot[SIDE_BY_SIDE] + 4 * a)
    side_b = offset(robot, robot[SIDE_BY_SIDE] + 4 * b)
    hit, undecided = 0, 0
    bits = near
    while bits != 0:
        one = bits & -bits
        bits &= bits - 1
        k = lowest_bit(one)
        pose_of_one(bodies.poses, a, k, pose_a)
        pose_of_one(bodies.poses, b, k, pose_b)
        ball_of_lane(centres, a, k, balls[a * BALL + 3], whole_a)
        ball_of_lane(centres, b, k, balls[b * BALL + 3], whole_b)
        if balls_meet(
            Sixteens(pose_a, offset(balls, side_a[0]), side_a[1], whole_a),
            Sixteens(pose_b, offset(balls, side_b[0]), side_b[1], whole_b),
            room,
        ):
            if balls_meet(
                Sixteens(pose_a, offset(balls, side_a[2]), side_a[3], whole_a),
                Sixteens(pose_b, offset(balls, side_b[2]), side_b[3], whole_b),
                room,
            ):
                hit |= one
            else:
                undecided |= one
    if undecided != 0:
        pieces = robot[PIECES]
        of_a, of_b = offset(robot, pieces + 2 * a), offset(robot, pieces + 2 * b)
        remember(todo, of_a[0], of_a[1], of_b[0], of_b[1], 0, undecided)
    return hit


@typed
def rows_met(
    centre: PtrF32,
    radius: F32,
    boxes: PtrF32,
    around: PtrF32,
    rows: PtrI64,
    n: I64,
    given: I64,
    near: PtrI64,
) -> I64:
    """Keep the rows of a list whose boxes a ball meets, with the lanes where it does; how many.

    Balls around many boxes are tested before, all of them and without a branch: which ones are met
    is hard to foresee. Few boxes are those that were found for this block: most of them are met.
    """
    kept = n
    if n > FEW:
        kept = 0
        for r in range(n):
            row = rows[r]
            rows[kept] = row
            kept += min(bits_of(near_ball(centre, radius, offset(around, row * BALL))) & given, 1)
    left = kept
    kept = 0
    for r in range(left):
        row = rows[r]
        bits = bits_of(near_box(centre, radius, offset(boxes, row * BOX))) & given
        rows[kept] = row
        near[kept] = bits
        kept += min(bits, 1)
    return kept


@typed
def box_against(
    body: I64,
    row: I64,
    scene: PtrI64,
    boxes: PtrF32,
    bodies: Bodies,
    near: I64,
    todo: PtrI64,
    room: PtrF32,
) -> I64:
    """The lanes in which a body surely touches the piece of a row; what may touch is noted."""
    if is_allowed(scene, body, row):
        return 0
    shape = offset(boxes, row * BOX)
    inner = offset(shape, scene[N_ROWS] * BOX)
    if bit_count(near) <= FEW:
        return lanes_against(body, row, Obstacle(False, shape, inner), bodies, near, todo, room)
    return body_against(body, row, Obstacle(False, shape, inner), bodies, near, todo, room)


@typed
def is_enough(asked: Asked, hit: I64) -> Bool:
    """Whether what is known of the lanes is all that is asked for."""
    if asked.until == ALL_LANES:
        return hit == asked.given
    return hit != 0 or (asked.until == ONE_OPEN and asked.todo[0] != 0)


@typed
def against_scene(
    bodies: Bodies,
    scene: PtrI64,
    shapes: PtrF32,
    tree: PtrI64,
    tree_numbers: PtrF64,
    rows: PtrI64,
    asked: Asked,
    room: PtrF32,
    centres: PtrF32,
) -> I64:
    """The lanes in which the robot surely touches the scene; what may touch is noted.

    The last bodies come first: a hand touches more often than a base. ``until``: when no more is
    asked for (see `ALL_LANES`). ``shapes``: boxes of all rows, sixteen by sixteen, number by
    number; boxes one by one; inner boxes; balls around the boxes; half-spaces; inner half-spaces.
    ``tree``: of the rows, asked where there are many; ``rows``: room for twice as many.
    """
    robot = bodies.robot
    hit = 0
    n_rows, n_planes, n_bodies = scene[N_ROWS], scene[N_PLANES], robot[N_BODIES]
    wholes = offset(centres, n_bodies * 3 * WIDTH32)
    chunks = (n_rows + WIDTH32 - 1) // WIDTH32
    singles = offset(shapes, chunks * WIDTH32 * BOX)
    around = offset(singles, 2 * n_rows * BOX)
    meeting = offset(rows, n_rows)
    planes = offset(around, n_rows * BALL)
    inner_planes = offset(planes, n_planes * PLANE)
    for body in range(n_bodies):  # by itself: what one waits for, the others fill
        centre, whole = offset(centres, body * 3 * WIDTH32), offset(wholes, body * BALL)
        ball = offset(bodies.balls, body * BALL)
        place(offset(bodies.poses, body * POSE * WIDTH32), ball, centre)
        x, y, z = lanes(centre, 0), lanes(centre, WIDTH32), lanes(centre, 2 * WIDTH32)
        whole[0], whole[1], whole[2] = centre[8], centre[WIDTH32 + 8], centre[2 * WIDTH32 + 8]
        dx, dy, dz = x - whole[0], y - whole[1], z - whole[2]
        whole[3] = sqrt(lane_max(dx * dx + (dy * dy + dz * dz))) * 1.000001 + ball[3]
    for body in range(n_bodies - 1, -1, -1):
        ball, whole = offset(bodies.balls, body * BALL), offset(wholes, body * BALL)
        centre = offset(centres, body * 3 * WIDTH32)
        if is_enough(asked, hit):
            break
        if robot[robot[MOVES] + body] == 0:
            continue
        swept = whole[3]
        together = n_rows <= MANY or swept < 3.0 * ball[3]
        bits = asked.given & ~hit
        while bits != 0:  # all lanes, or one after the other
            these = bits if together else bits & -bits
            bits &= ~these
            if n_rows <= MANY:
                n = rows_near(whole[0], whole[1], whole[2], swept, shapes, chunks, rows)
            else:
                k = 8 if together else lowest_bit(these)
                u, v = f64(centre[k]), f64(centre[WIDTH32 + k])
                w = f64(centre[2 * WIDTH32 + k])
                reach = f64(swept if together else ball[3])
                n = visit_near(tree, tree_numbers, u, v, w, reach, rows, n_rows)
            n = rows_met(centre, ball[3], singles, around, rows, n, these, meeting)
            for r in range(n):
                left = meeting[r] & ~hit
                if left != 0 and not is_enough(asked, hit):
                    hit |= box_against(
                        body, rows[r], scene, singles, bodies, left, asked.todo, room
                    )
        for k in range(n_planes):
            plane = offset(planes, k * PLANE)
            near = bits_of(near_plane(centre, ball[3], plane)) & asked.given & ~hit
            row = scene[scene[PLANE_ROWS] + k]
            if near != 0 and not is_allowed(scene, body, row):
                inner = offset(inner_planes, k * PLANE)
                hit |= body_against(
                    body, row, Obstacle(True, plane, inner), bodies, near, asked.todo, room
                )
    return hit


@typed
def aggregate_in(listed: PtrI64, k: I64) -> Aggregate:
    """The aggregate with a number, of the scene in the list of addresses."""
    numbers = pointer_f64(listed[AGGREGATE_NUMBERS])
    return aggregate_at(k, pointer_i64(listed[AGGREGATES]), numbers)


@typed
def lanes_in_aggregate(
    k: I64, surely: Bool, centre: PtrF32, radius: F32, live: I64, listed: PtrI64
) -> I64:
    """The lanes in which a ball may meet an aggregate, or surely touches it."""
    aggregate = aggregate_in(listed, k)
    ball, found, bits = local_f64(4), 0, live if radius >= 0.0 else 0
    ball[3] = min(f64(radius), VAST)
    while bits != 0:
        lane = lowest_bit(bits)
        bits &= bits - 1
        for i in range(3):
            ball[i] = f64(centre[i * WIDTH32 + lane])
        if surely:
            if aggregate_holds(aggregate, ball):
                found |= 1 << lane
        elif aggregate_touches(aggregate, ball):
            found |= 1 << lane
    return found


@typed
def balls_in_aggregate(
    k: I64,
    surely: Bool,
    pose: PtrF32,
    balls: PtrF32,
    n: I64,
    live: I64,
    room: PtrF32,
    listed: PtrI64,
) -> I64:
    """The lanes in which one of n balls of a body may meet an aggregate, or surely touches it."""
    found = 0
    for i in range(n):
        ball = offset(balls, i * BALL)
        place(pose, ball, room)
        found |= lanes_in_aggregate(k, surely, room, ball[3], live & ~found, listed)
        if found == live:
            break
    return found


@typed
def body_in_aggregate(
    body: I64, k: I64, bodies: Bodies, near: I64, todo: PtrI64, room: PtrF32, listed: PtrI64
) -> I64:
    """The lanes in which a body surely touches an aggregate; what may touch is noted."""
    balls = bodies.balls
    robot, pose = pointer_i64(listed[ROBOT]), offset(bodies.poses, body * POSE * WIDTH32)
    parts = offset(robot, robot[BODY_RANGES] + 2 * body)
    hit, tried = 0, 0
    for p in range(parts[0], parts[0] + parts[1]):
        part = offset(robot, robot[PART_RANGES] + PART * p)
        own = offset(balls, (robot[N_BODIES] + p) * BALL)
        found = balls_in_aggregate(k, False, pose, own, 1, near & ~hit, room, listed)
        own = offset(balls, part[0] * BALL)
        found = balls_in_aggregate(k, False, pose, own, part[1], found, room, listed)
        new = found & ~tried
        if new != 0:
            inner = offset(robot, robot[INNER] + 2 * body)
            own = offset(balls, inner[0] * BALL)
            hit |= balls_in_aggregate(k, True, pose, own, inner[1], new, room, listed)
            tried |= found
            found &= ~hit
        if found != 0:
            remember(todo, part[2], part[3], k, p, OF_AGGREGATE, found)
    return hit


@typed
def against_aggregates(
    bodies: Bodies, asked: Asked, room: PtrF32, centres: PtrF32, listed: PtrI64
) -> I64:
    """The lanes in which the robot surely touches an aggregate; what may touch is noted.

    ``centres``: as `against_scene` has written them.
    """
    robot, scene = pointer_i64(listed[ROBOT]), pointer_i64(listed[SCENE])
    n_bodies, hit, ball = robot[N_BODIES], 0, local_f64(4)
    for body in range(n_bodies - 1, -1, -1):
        if is_enough(asked, hit):
            break
        if robot[robot[MOVES] + body] == 0:
            continue
        centre = offset(centres, body * 3 * WIDTH32)
        whole = offset(centres, (3 * n_bodies * WIDTH32) + body * BALL)
        for i in range(3):
            ball[i] = f64(whole[i])
        ball[3] = min(f64(whole[3]), VAST)
        for k in range(scene[N_AGGREGATES]):
            if is_allowed(scene, body, scene[N_ROWS] + k):
                continue
            if not aggregate_touches(aggregate_in(listed, k), ball):
                continue
            radius, left = bodies.balls[body * BALL + 3], asked.given & ~hit
            near = lanes_in_aggregate(k, False, centre, radius, left, listed)
            if near != 0:
                hit |= body_in_aggregate(body, k, bodies, near, asked.todo, room, listed)
    return hit


@typed
def balls_against(a: Balls, b: Balls, live: I64, room: PtrF32) -> I64:
    """The lanes in which one of the balls of a body meets one of another's."""
    found = 0
    near_b = local_i64(MOST_BALLS)
    other = offset(room, 3 * WIDTH32)
    for j in range(b.n):
        ball, at = offset(b.balls, j * BALL), offset(other, j * 3 * WIDTH32)
        place(b.pose, ball, at)
        near_b[j] = bits_of(near_balls(at, ball[3], a.whole, a.radius)) & live
    for i in range(a.n):
        ball = offset(a.balls, i * BALL)
        place(a.pose, ball, room)
        near_a = bits_of(near_balls(room, ball[3], b.whole, b.radius)) & live & ~found
        if near_a == 0:
            continue
        for j in range(b.n):
            if near_a & near_b[j] != 0:
                at = offset(other, j * 3 * WIDTH32)
                found |= bits_of(near_balls(room, ball[3], at, b.balls[j * BALL + 3])) & live
    return found


@typed
def against_itself(
    bodies: Bodies, asked: Asked, room: PtrF32, centres: PtrF32, listed: PtrI64
) -> I64:
    """The lanes in which the robot surely touches itself; what may touch is noted.

    Balls that are larger than the robot's have to be clear all the same: what a table of distances
    says of two bodies (see `apart`) has to be more than that.
    """
    robot, balls = bodies.robot, bodies.balls
    hit = 0
    apart, of_apart = pointer_i64(listed[APART]), pointer_f64(listed[APART_NUMBERS])
    narrow, usual = pointer_f32(listed[NARROW]), pointer_f32(listed[BALLS])
    pairs = offset(robot, robot[PAIRS])
    part_balls = offset(balls, robot[N_BODIES] * BALL)
    placed, rest = -1, room  # the body whose parts lie at the beginning of the room: pairs share it
    for k in range(robot[N_PAIRS]):
        a, b = pairs[2 * k], pairs[2 * k + 1]
        centre_a, centre_b = offset(centres, a * 3 * WIDTH32), offset(centres, b * 3 * WIDTH32)
        radius_b = balls[b * BALL + 3]
        near = bits_of(near_balls(centre_a, balls[a * BALL + 3], centre_b, radius_b))
        near = near & asked.given & ~hit
        tried = 0
        if near != 0 and apart[k] != 0:
            larger = balls[a * BALL + 3] - usual[a * BALL + 3]
            larger += radius_b - usual[b * BALL + 3]
            extra = f64(larger) * 1.00001 + LOST if larger > 0.0 else 0.0
            near &= ~lanes_apart(offset(apart, apart[k]), of_apart, narrow, near, extra)
        if near == 0:
            continue
        if is_enough(asked, hit):
            break
        if bit_count(near) <= FEW:
            hit |= lanes_of_pair(a, b, bodies, centres, near, asked.todo, rest)
            continue
        pose_a = offset(bodies.poses, a * POSE * WIDTH32)
        pose_b = offset(bodies.poses, b * POSE * WIDTH32)
        parts_a = offset(robot, robot[BODY_RANGES] + 2 * a)
        parts_b = offset(robot, robot[BODY_RANGES] + 2 * b)
        if placed != a:
            for i in range(parts_a[1]):
                ball = offset(part_balls, (parts_a[0] + i) * BALL)
                place(pose_a, ball, offset(room, i * 3 * WIDTH32))
            rest = offset(room, parts_a[1] * 3 * WIDTH32)
            placed = a
        for j in range(parts_b[1]):
            ball = offset(part_balls, (parts_b[0] + j) * BALL)
            place(pose_b, ball, offset(rest, j * 3 * WIDTH32))
        free_room = offset(rest, parts_b[1] * 3 * WIDTH32)
        for i in range(parts_a[0], parts_a[0] + parts_a[1]):
            part_a = offset(robot, robot[PART_RANGES] + PART * i)
            ball = offset(part_balls, i * BALL)
            own = offset(room, (i - parts_a[0]) * 3 * WIDTH32)
            near_i = bits_of(near_balls(own, ball[3], centre_b, radius_b)) & near & ~hit
            if near_i == 0 or is_enough(asked, hit):
                continue
            for j in range(parts_b[1]):
                radius = part_balls[(parts_b[0] + j) * BALL + 3]
                other = offset(rest, j * 3 * WIDTH32)
                live = bits_of(near_balls(own, ball[3], other, radius)) & near_i & ~hit
                if live == 0 or is_enough(asked, hit):
                    continue
                part_b = offset(robot, robot[PART_RANGES] + PART * (parts_b[0] + j))
                found = balls_against(
                    Balls(pose_a, offset(balls, part_a[0] * BALL), part_a[1], own, ball[3]),
                    Balls(pose_b, offset(balls, part_b[0] * BALL), part_b[1], other, radius),
                    live,
                    free_room,
                )
                if found & ~tried != 0:
                    inner_a = offset(robot, robot[INNER] + 2 * a)
                    inner_b = offset(robot, robot[INNER] + 2 * b)
                    own_a, own_b = (
                        offset(balls, inner_a[0] * BALL),
                        offset(balls, inner_b[0] * BALL),
                    )
                    inside_a = Balls(pose_a, own_a, inner_a[1], centre_a, balls[a * BALL + 3])
                    inside_b = Balls(pose_b, own_b, inner_b[1], centre_b, radius_b)
                    hit |= balls_against(inside_a, inside_b, found & ~tried, free_room)
                    tried |= found
                    found &= ~hit
                if found != 0:
                    remember(asked.todo, part_a[2], part_a[3], part_b[2], part_b[3], 0, found)
    return hit


@typed
def pose_of_lane(exact: Exact, body: I64, k: I64, out: PtrF64) -> None:
    """The pose of a body in lane k of sixteen."""
    half = k // WIDTH * exact.robot[N_BODIES]
    source = offset(exact.poses, (half + body) * POSE * WIDTH + k % WIDTH)
    for i in range(POSE):
        out[i] = source[i * WIDTH]


@typed
def pieces_touch(entry: PtrI64, exact: Exact, k: I64, guesses: PtrF64) -> Bool:
    """Whether noted pieces touch in lane k; see `narrow.touches_near` for the guesses."""
    pose_a, pose_b = local_f64(12), local_f64(12)
    pool = offset(exact.robot, exact.robot[POOL])
    body_a, body_b = -1, -1
    for i in range(entry[0], entry[0] + entry[1]):
        a = offset(exact.pieces, pool[i] * PIECE)
        if i64(a[BODY]) != body_a:
            body_a = i64(a[BODY])
            pose_of_lane(exact, body_a, k, pose_a)
        for j in range(entry[2], entry[2] + entry[3]):
            if entry[4] < 0:
                b = offset(exact.rows, j * PIECE)
                for n in range(POSE):
                    pose_b[n] = 1.0 if n % 5 == 0 else 0.0
            else:
                b = offset(exact.pieces, pool[j] * PIECE)
                if i64(b[BODY]) != body_b:
                    body_b = i64(b[BODY])
                    pose_of_lane(exact, body_b, k, pose_b)
            kept = offset(guesses, MEMORY * ((i * entry[3] + j) % GUESSES))
            own, guess = f64(2 * i - entry[4] + 1) * MOST_ROWS + f64(j), offset(kept, 1)
            if kept[0] != own:  # what is there is of other pieces
                kept[0] = own
                for n in range(GUESS):
                    guess[n] = 0.0
            if touches_near(a, pose_a, b, pose_b, exact.vertices, 0.0, guess):
                return True
    return False


@typed
def anything_touches(exact: Exact, k: I64, listed: PtrI64) -> Bool:
    """Whether any pieces touch in lane k: what is done where notes had no room."""
    robot = exact.robot
    entry, pose = local_i64(ENTRY), local_f64(12)
    guesses = local_f64(MEMORY * GUESSES)
    for i in range(MEMORY * GUESSES):
        guesses[i] = 0.0
    for a in range(robot[N_BODIES]):
        entry[0] = exact.ranges[2 * a]
        entry[1] = exact.ranges[2 * a + 1]
        if robot[robot[MOVES] + a] == 0:
            continue
        pose_of_lane(exact, a, k, pose)
        if body_in_aggregates(a, pose, listed):
            return True
        for row in range(exact.scene[N_ROWS]):
            entry[2] = row
            entry[3] = 1
            entry[4] = -1
            if is_allowed(exact.scene, a, row):
                continue
            if pieces_touch(entry, exact, k, guesses):
                return True
    pairs = offset(robot, robot[PAIRS])
    for p in range(robot[N_PAIRS]):
        for j in range(2):
            entry[2 * j] = exact.ranges[2 * pairs[2 * p + j]]
            entry[2 * j + 1] = exact.ranges[2 * pairs[2 * p + j] + 1]
        entry[4] = 0
        if pieces_touch(entry, exact, k, guesses):
            return True
    return False


@typed
def exact_poses(
    robot: PtrI64, wanted: I64, q: PtrF64, last: I64, frames64: I64, wide: PtrF64
) -> None:
    """Write the float64 poses of the wanted lanes into ``wide``.

    ``q``: the rows of the block, the ``last`` one again where there are no more. ``wide``: room for
    q of eight lanes, and for the poses of all sixteen.
    """
    n_q = robot[N_Q]
    poses = offset(wide, n_q * WIDTH)
    size = robot[N_BODIES] * POSE * WIDTH
    for half in range(2):
        if (wanted >> (half * WIDTH)) & 255 == 0:
            continue
        for k in range(WIDTH):
            row = offset(q, min(half * WIDTH + k, last) * n_q)
            for i in range(n_q):
                wide[i * WIDTH + k] = row[i]
        call_at(frames64, wide, offset(poses, half * size))


@typed
def moved_ball(pose: PtrF64, ball: PtrF64, out: PtrF64) -> None:
    """A ball of a body, in the world."""
    for i in range(3):
        row = offset(pose, 4 * i)
        out[i] = row[0] * ball[0] + (row[1] * ball[1] + (row[2] * ball[2] + row[3]))
    out[3] = ball[3]


@typed
def ball_in_aggregate(pose: PtrF64, ball: PtrF64, k: I64, listed: PtrI64, out: PtrF64) -> Bool:
    """Whether a ball of a body may meet an aggregate; where it is in the world goes to ``out``."""
    moved_ball(pose, ball, out)
    return aggregate_touches(aggregate_in(listed, k), out)


@typed
def part_in_aggregate(part: PtrI64, pose: PtrF64, k: I64, listed: PtrI64) -> Bool:
    """Whether a part of a body, at a pose, touches an aggregate."""
    robot, balls = pointer_i64(listed[ROBOT]), pointer_f64(listed[EXACT_BALLS])
    pieces, vertices = pointer_f64(listed[PIECES_OF_ROBOT]), pointer_f64(listed[VERTICES])
    aggregate = aggregate_in(listed, k)
    found, most = pointer_i64(listed[FOUND]), listed[MOST_FOUND]
    pool = offset(robot, robot[POOL])
    ball, world, row = local_f64(4), local_f64(12), local_f64(24)
    for i in range(POSE):
        world[i] = 1.0 if i % 5 == 0 else 0.0
    if is_field(aggregate):
        for p in range(part[2], part[2] + part[3]):
            piece = offset(pieces, pool[p] * PIECE)
            if piece_in_field(aggregate, Solid(piece, pose, vertices), world):
                return True
        return False
    for i in range(part[1]):
        if ball_in_aggregate(pose, offset(balls, (part[0] + i) * BALL), k, listed, ball):
            n = min(points_near(aggregate, ball, found, most), most)
            for j in range(n):
                point_piece(aggregate, found[j], row)
                for p in range(part[2], part[2] + part[3]):
                    if touches(offset(pieces, pool[p] * PIECE), pose, row, world, vertices, 0.0):
                        return True
    return False


@typed
def body_in_aggregates(body: I64, pose: PtrF64, listed: PtrI64) -> Bool:
    """Whether a body at a pose touches an aggregate."""
    robot, scene = pointer_i64(listed[ROBOT]), pointer_i64(listed[SCENE])
    balls, ball = pointer_f64(listed[EXACT_BALLS]), local_f64(4)
    parts = offset(robot, robot[BODY_RANGES] + 2 * body)
    for k in range(scene[N_AGGREGATES]):
        if is_allowed(scene, body, scene[N_ROWS] + k):
            continue
        for p in range(parts[0], parts[0] + parts[1]):
            own = offset(balls, (robot[N_BODIES] + p) * BALL)
            if ball_in_aggregate(pose, own, k, listed, ball):
                if part_in_aggregate(offset(robot, robot[PART_RANGES] + PART * p), pose, k, listed):
                    return True
    return False


@typed
def noted_in_aggregate(entry: PtrI64, exact: Exact, k: I64, listed: PtrI64) -> Bool:
    """Whether the part of a note touches its aggregate in lane k."""
    robot, pose = exact.robot, local_f64(12)
    pool = offset(robot, robot[POOL])
    pose_of_lane(exact, i64(exact.pieces[pool[entry[0]] * PIECE + BODY]), k, pose)
    part = offset(robot, robot[PART_RANGES] + PART * entry[3])
    return part_in_aggregate(part, pose, entry[2], listed)


@typed
def decide(exact: Exact, todo: PtrI64, given: I64, listed: PtrI64) -> I64:
    """The lanes in which noted pieces touch, of those that are given."""
    hit = 0
    guesses = local_f64(MEMORY * GUESSES)
    for e in range(todo[0]):
        entry = offset(todo, 1 + e * ENTRY)
        bits = entry[5] & given & ~hit
        for i in range(MEMORY * GUESSES):
            guesses[i] = 0.0
        while bits != 0:
            k = lowest_bit(bits)
            bits &= bits - 1
            if entry[4] == OF_AGGREGATE:
                if noted_in_aggregate(entry, exact, k, listed):
                    hit |= 1 << k
            elif pieces_touch(entry, exact, k, guesses):
                hit |= 1 << k
    bits = todo[FULL] & given & ~hit
    while bits != 0:
        k = lowest_bit(bits)
        bits &= bits - 1
        if anything_touches(exact, k, listed):
            hit |= 1 << k
    return hit


# places in the list of numbers and addresses that `check_rows` and `check_one` read: the greatest
# sizes of numbers of q; code; tables of the robot; of the scene; room; and what `check_one` needs
MOST, FRAMES32, FRAMES64 = range(3)
ROBOT, BALLS, RANGES, PIECES_OF_ROBOT, EXACT_BALLS = range(3, 8)
SCENE, SHAPES, ROWS, VERTICES, TREE, TREE_NUMBERS, AGGREGATES, AGGREGATE_NUMBERS = range(8, 16)
NARROW, WIDE, NOTES, FOUND, MOST_FOUND, BAD, APART, APART_NUMBERS = range(16, 24)
VERDICT, EDITS, KNOWN_EDITS, QUATERNIONS, N_QUATERNIONS, LISTED = range(24, 30)


@typed
def looked(given: I64, far: I64, balls: PtrF32, until: I64, listed: PtrI64) -> I64:
    """The lanes of those given that surely touch, where `NARROW` has their q; see `look`.

    Those that are ``far`` are not looked at, but noted.
    """
    robot, narrow = pointer_i64(listed[ROBOT]), pointer_f32(listed[NARROW])
    todo = pointer_i64(listed[NOTES])
    n_bodies, known = robot[N_BODIES], given & ~far
    poses = offset(narrow, robot[N_Q] * WIDTH32)
    centres = offset(poses, n_bodies * POSE * WIDTH32)
    room = offset(centres, n_bodies * 4 * WIDTH32)
    call_at(listed[FRAMES32], narrow, poses)
    todo[0] = 0
    todo[FULL] = far
    bodies = Bodies(robot, balls, poses)
    asked = Asked(known, until, todo)
    sure = against_scene(
        bodies,
        pointer_i64(listed[SCENE]),
        pointer_f32(listed[SHAPES]),
        pointer_i64(listed[TREE]),
        pointer_f64(listed[TREE_NUMBERS]),
        pointer_i64(listed[FOUND]),
        asked,
        room,
        centres,
    )
    if pointer_i64(listed[SCENE])[N_AGGREGATES] > 0 and not is_enough(asked, sure):
        left = Asked(known & ~sure, until, todo)
        sure |= against_aggregates(bodies, left, room, centres, listed)
    if not is_enough(asked, sure):
        rest = Asked(known & ~sure, until, todo)
        sure |= against_itself(bodies, rest, room, centres, listed)
    return sure


@typed
def look(q: PtrF64, first: I64, last: I64, listed: PtrI64) -> I64:
    """The lanes in which configurations surely touch; what may touch is noted.

    They are the rows of q from ``first`` on, ``last`` + 1 of them; what float32 does not decide is
    noted too. At `BAD` is then one more than the number of the last row that is not finite, where
    there is one.
    """
    most, bad = pointer_f64(listed[MOST]), pointer_i64(listed[BAD])
    n_q, narrow = pointer_i64(listed[ROBOT])[N_Q], pointer_f32(listed[NARROW])
    block = offset(q, first * n_q)
    far = 0
    for k in range(last + 1):
        row = offset(block, k * n_q)
        for i in range(n_q):
            x = row[i]
            narrow[i * WIDTH32 + k] = f32(x)
            if not abs(x) <= most[i]:
                far |= 1 << k
                narrow[i * WIDTH32 + k] = f32(0.0)
                if not x - x == 0.0:
                    bad[0] = first + k + 1
    if last < WIDTH32 - 1:  # the last row again where there are no more
        for i in range(n_q):
            numbers = offset(narrow, i * WIDTH32)
            put(numbers, 0, select(mask_of((2 << last) - 1), lanes(numbers, 0), numbers[last]))
    given = (2 << last) - 1
    return looked(given, far, pointer_f32(listed[BALLS]), ALL_LANES, listed)


@typed
def check_rows(q: PtrF64, n: I64, verdicts: PtrI64, listed: PtrI64) -> None:
    """Write the verdicts of n configurations: a number for sixteen rows of q, a bit for each.

    Rooms: for q and poses of sixteen lanes, for balls of each body and for the balls of a pair
    (float32); for `exact_poses`; for notes; for rows that are found. A configuration with a number
    of greater size than ``most`` is decided on the pieces alone, since the radii do not count its
    rounding.
    """
    n_q = pointer_i64(listed[ROBOT])[N_Q]
    for start in range(0, n, WIDTH32):
        last = min(n - start, WIDTH32) - 1
        sure = look(q, start, last, listed)
        verdicts[start // WIDTH32] = sure | settled(offset(q, start * n_q), last, sure, listed)


@typed
def look_between(
    q: PtrF64,
    change: PtrF64,
    first: F64,
    step: F64,
    until: I64,
    verdict: PtrI64,
    listed: PtrI64,
) -> None:
    """The verdict of the balls on sixteen configurations, q + (first + k step) change.

    A bit for each that surely touches, sixteen more for those that are left open. ``until``: when
    no more is asked for; see `ALL_LANES`. Where they are is known to float32: who asks for a proof
    looks again.
    """
    most, robot = pointer_f64(listed[MOST]), pointer_i64(listed[ROBOT])
    narrow, times = pointer_f32(listed[NARROW]), local_f32(WIDTH32)
    every = (1 << WIDTH32) - 1
    for k in range(WIDTH32):
        times[k] = f32(first + f64(k) * step)
    t, far = lanes(times, 0), 0
    for i in range(robot[N_Q]):
        x, y = q[i], q[i] + change[i]
        if not (abs(x) <= most[i] and abs(y) <= most[i]):
            far = every
            x, y = 0.0, 0.0
        put(narrow, i * WIDTH32, t * f32(y - x) + f32(x))
    sure = looked(every, far, pointer_f32(listed[BALLS]), until, listed)
    left = every & ~sure & noted(pointer_i64(listed[NOTES]))
    verdict[0] = sure | left << WIDTH32


@typed
def settle_rows(q: PtrF64, n: I64, verdicts: PtrI64, listed: PtrI64) -> None:
    """Turn what `look_between` wrote last, of the same rows, into the verdict of `check_rows`."""
    sure = verdicts[0] & ((1 << WIDTH32) - 1)
    verdicts[0] = sure | settled(q, n - 1, sure, listed)


@typed
def settled(block: PtrF64, last: I64, sure: I64, listed: PtrI64) -> I64:
    """The lanes that touch of those that the last `look` has left open; see `check_rows`."""
    robot, wide = pointer_i64(listed[ROBOT]), pointer_f64(listed[WIDE])
    todo = pointer_i64(listed[NOTES])
    left = (2 << last) - 1 & ~sure
    open_ = noted(todo) & left
    if open_ == 0:
        return 0
    exact_poses(robot, open_, block, last, listed[FRAMES64], wide)
    exact = Exact(
        robot,
        pointer_i64(listed[SCENE]),
        pointer_i64(listed[RANGES]),
        pointer_f64(listed[PIECES_OF_ROBOT]),
        pointer_f64(listed[ROWS]),
        pointer_f64(listed[VERTICES]),
        offset(wide, robot[N_Q] * WIDTH),
    )
    return decide(exact, todo, left, listed)


@typed
def noted(todo: PtrI64) -> I64:
    """The lanes in which something was noted."""
    found = todo[FULL]
    for e in range(todo[0]):
        found |= todo[ENTRY * (e + 1)]
    return found


@typed
def check_one(
    first: I64, n: I64, q: PtrF64, listed: PtrI64, verdict: PtrF64, scratch: PtrF64
) -> I64:
    """Whether one configuration touches: 1 or 0, as a number; for `compile.native_call.row_call`.

    Returns -1, or 0 where that is not known: the scene has been edited, or q is not finite, or has
    a quaternion of a length that is none of a unit quaternion's.
    """
    if pointer_i64(listed[EDITS])[0] != listed[KNOWN_EDITS]:
        return 0
    starts = pointer_i64(listed[QUATERNIONS])
    for k in range(listed[N_QUATERNIONS]):
        at = offset(q, starts[k])
        long = at[0] * at[0] + at[1] * at[1] + at[2] * at[2] + at[3] * at[3]
        if not (long > 0.5 and long < 2.0):
            return 0
    found, bad = pointer_i64(listed[VERDICT]), pointer_i64(listed[BAD])
    check_rows(q, 1, found, listed)
    if bad[0] != 0:
        bad[0] = 0
        return 0
    verdict[0] = f64(found[0] & 1)
    return -1
