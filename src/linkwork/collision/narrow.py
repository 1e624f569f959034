"""Signed distance of two convex pieces, in the small language of `linkwork.compile.typed`.

A piece is a row of 24 numbers (`linkwork.collision.pieces`): a core (point, segment, box, cylinder,
ellipsoid, hull, prism, wedge) and a radius around it, in a body whose pose is given. Everything is
computed in the frame of piece A, so that a scene far from the origin loses nothing.

Prisms and wedges are what lies below a cell, or half a cell, of a height field. They have no radius
and no vertices: numbers 2 to 7 of their rows are the two sides of the cell from the corner at the
origin (below 0 against x or y), the heights of its neighbours along x and y over the origin, that
of the fourth corner (of a wedge, which has none, of the corner itself: that of a prism is 0), and
how far down they reach.

The distance is ``max over unit n of (min over B of n·b - max over A of n·a)``: every direction n
gives a lower bound, every pair of points of the two an upper one, also where they overlap.

1. Cores apart: Gilbert, Johnson and Keerthi's descent on the difference of the cores (1988), with
   the normal of a triangle taken from its edges, so that it is exact however small the gap.
   On cylinders and ellipsoids the direction leaps by Newton's step on their curvature.
2. Cores overlap, or nearly touch: a polytope inside the difference of the cores grows where its
   surface is nearest to the origin (van den Bergen 2001), starting from four far-apart corners.

Points and segments (spheres and capsules), and a ball and a box, have closed forms; a half-space
needs one support point.

Both end where the bounds from the two sides meet: within rounding for points, segments, boxes and
hulls, to 1e-10 of the pieces' size for cylinders and ellipsoids. Both have a most of steps. Where
these, or rounding, end them earlier the result is the lower bound, which a normal proves. Seen: one
in 10,000 pairs with a cylinder is 1e-7 of its size short; curved pieces that share an axis deep
within each other are 3e-6 short.
"""

from __future__ import annotations

from typing import NamedTuple

from linkwork.collision.pieces import GRID, N_PLANES, OUTER
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    Bool,
    PtrF64,
    PtrI64,
    bits_of,
    f64,
    i64,
    lane,
    lane_max,
    lanes,
    local_f64,
    local_i64,
    lowest_bit,
    offset,
    select,
    splat,
    sqrt,
    typed,
)

POINT = 0
SEGMENT = 1
BOX = 2
CYLINDER = 3
ELLIPSOID = 4
HULL = 5
HALF_SPACE = 6
PRISM = 7
WEDGE = 8

# how the numbers of a pair of pieces lie (`_place`): the rotation of B in A, the place of B in A,
# and the rotation and the place of A in the world
T = 9
R_WORLD = 12
P_WORLD = 21
PAIR = 24

# a corner of the difference B - A: its place, the point on A, and the direction it is least along
CORNER = 9

# how the numbers of a descent lie: four corners, their weights, the nearest point, and what is
# known of the distance
WEIGHTS = 36
NEAREST = 40
SCALE = 43
LOWER = 44
NORMAL = 45
CORNERS = 48
STEPS = 49
TRIED = 50
DESCENT = 56

GUESS = 8
"""Numbers of what `touches_near` remembers of two pieces."""

LAST_LANE = 1 << WIDTH - 1
"""The bit of the last lane: it is taken where numbers that are none leave no other."""

MOST_STEPS = 100
GAP = 1e-12  # of the distance: ends a descent (the normal is then exact to 1e-6)
ROUNDING = 2e-15  # of the scale: what float64 can tell apart
PROVEN = 1e-10  # of the scale: less between the bounds than this is enough
TOUCHING = 1e-10  # of the scale: nearer than this the normal is taken from the polytope
FLAT = 1e-13

# how the polytope lies: corners (as above), faces (normal, height) and, among the
# integers, faces (three corners, three neighbours), whether they live, and scratch
MOST_CORNERS = 128
MOST_FACES = 2 * MOST_CORNERS
FACES = CORNER * MOST_CORNERS
POLYTOPE = FACES + 4 * MOST_FACES
ALIVE = 6 * MOST_FACES
STACK = ALIVE + MOST_FACES
RIM = STACK + MOST_FACES  # from, to, face outside
STARTS = RIM + 3 * MOST_FACES  # the new face whose edge on the rim starts at a corner
USED = STARTS + MOST_CORNERS  # how many faces there ever were at a time
TABLES = USED + 1
NEVER = 1e300  # the height of a face that has no area
DEPTH_GAP = 1e-10  # of the scale
MOST_LEAPS = 8


class Solid(NamedTuple):
    """A convex piece of a body, the pose of the body, and the vertices of all pieces."""

    piece: PtrF64
    pose: PtrF64
    vertices: PtrF64


@typed
def closest(
    A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64, vertices: PtrF64, bound: F64, out: PtrF64
) -> F64:
    """Signed distance of two pieces (m); `out` gets the nearest points on A and B and the normal.

    The normal n points from A to B and distance = n·(p_B - p_A), also in overlap, where the
    distance is minus the least translation that parts them. As soon as the distance is known to
    be over `bound` the result is a lower bound of it that is over `bound`, and n separates by it.
    """
    if A[0] == HALF_SPACE or B[0] == HALF_SPACE:
        return _half_space(A, TA, B, TB, vertices, out)
    pair = local_f64(PAIR)
    s = local_f64(DESCENT)
    apart = _spheres_apart(A, TA, B, TB, out)
    if apart > bound:
        return apart
    if _has_form(A, B):
        return _by_form(A, TA, B, TB, out)
    _place(A, TA, B, TB, pair)
    rounding = A[1] + B[1]
    if apart < 0.0 and A[0] == HULL and A[2] > 0.0:
        beyond = _beyond_planes(A, B, vertices, pair, s)
        if beyond > bound + rounding:
            _turn(pair, s[NEAREST], s[NEAREST + 1], s[NEAREST + 2], out)
            return beyond - rounding
    else:
        _start(out, pair, s)
    gap = _descend(A, B, vertices, pair, s, 0.0, bound + rounding, False)
    if s[LOWER] > bound + rounding:
        _turn(pair, s[NORMAL], s[NORMAL + 1], s[NORMAL + 2], out)
        return s[LOWER] - rounding
    if gap > TOUCHING * s[SCALE] and gap - s[LOWER] <= PROVEN * s[SCALE]:
        _points(s)
    else:
        gap = _near_or_deep(A, B, vertices, pair, s, bound + rounding)
    _to_world(A[1], B[1], s, pair, out)
    return gap - rounding


@typed
def touches(A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64, vertices: PtrF64, margin: F64) -> Bool:
    """Whether two pieces are within `margin` of each other (m); numbers that are none: yes."""
    guess = local_f64(GUESS)
    for i in range(GUESS):
        guess[i] = 0.0
    return touches_near(A, TA, B, TB, vertices, margin, guess)


@typed
def touches_near(
    A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64, vertices: PtrF64, margin: F64, guess: PtrF64
) -> Bool:
    """As `touches`, with what was found of the pieces where they were near to where they are now.

    `guess` has `GUESS` numbers, zeros at first: a unit vector of the world that parts them perhaps,
    and whether a point of A, in its frame, follows that both hold perhaps. One look says so.
    """
    out = local_f64(9)
    pair = local_f64(PAIR)
    s = local_f64(DESCENT)
    if A[0] == HALF_SPACE or B[0] == HALF_SPACE:
        return not (_half_space(A, TA, B, TB, vertices, out) > margin)
    if guess[3] > 0.0 and margin >= 0.0:
        _place(A, TA, B, TB, pair)
        if _holds(B, pair, guess[4], guess[5], guess[6]):
            return True
    if _spheres_apart(A, TA, B, TB, out) > margin:
        return False
    known = guess[0] != 0.0 or guess[1] != 0.0 or guess[2] != 0.0
    if known and _parted(A, TA, B, TB, vertices, guess) > margin:
        return False
    reach = A[1] + B[1] + margin
    if A[0] == HULL and A[2] > 0.0:
        _place(A, TA, B, TB, pair)
        if _beyond_planes(A, B, vertices, pair, s) > reach:
            _turn(pair, s[NEAREST], s[NEAREST + 1], s[NEAREST + 2], out)
            for i in range(3):
                guess[i] = out[6 + i]
            return False
    else:
        if not known:
            for i in range(3):
                guess[i] = out[6 + i]
        if _has_form(A, B):
            return not (_by_form(A, TA, B, TB, out) > margin)
        for i in range(3):
            out[6 + i] = guess[i]
        _place(A, TA, B, TB, pair)
        _start(out, pair, s)
    _descend(A, B, vertices, pair, s, reach, reach, reach >= 0.0)
    if s[LOWER] > reach:
        _turn(pair, s[NORMAL], s[NORMAL + 1], s[NORMAL + 2], out)
        for i in range(3):
            guess[i] = out[6 + i]
        return False
    if s[CORNERS] < 0.0:
        guess[3] = 1.0
        for i in range(3):
            guess[4 + i] = s[TRIED + i]
    if reach < 0.0:
        return not (_near_or_deep(A, B, vertices, pair, s, reach) > reach)
    return True


@typed
def _parted(A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64, vertices: PtrF64, n: PtrF64) -> F64:
    """The distance of two pieces along a unit vector of the world."""
    high = height(A, TA, vertices, n[0], n[1], n[2])
    return -height(B, TB, vertices, -n[0], -n[1], -n[2]) - high


@typed
def _beyond_planes(A: PtrF64, B: PtrF64, vertices: PtrF64, pair: PtrF64, s: PtrF64) -> F64:
    """A lower bound of the distance of the cores of a hull and another piece.

    It is how far B, or what is around it, lies beyond one of the planes around A; the normal of
    this plane is written to NEAREST, where a descent starts.
    """
    planes = offset(vertices, i64(A[5]) + 3 * i64(A[6]))
    middle, half = local_f64(3), local_f64(3)
    for i in range(3):
        middle[i] = pair[T + i]
        half[i] = B[2 + i]
    if B[0] == HULL:
        _box_of_hull(B, vertices, pair, middle, half)
    elif B[0] == CYLINDER:
        half[1], half[2] = B[2], B[3]
    elif B[0] <= SEGMENT:
        half[0], half[1], half[2] = 0.0, 0.0, B[3] if B[0] == SEGMENT else 0.0
    elif B[0] >= PRISM:
        _box_of_prism(B, pair, middle, half)
    high, place = splat(-1e300), splat(0.0)
    for k in range(0, N_PLANES, WIDTH):
        x, y, z = lanes(planes, k), lanes(planes, N_PLANES + k), lanes(planes, 2 * N_PLANES + k)
        u = abs(x * pair[0] + (y * pair[3] + z * pair[6]))
        v = abs(x * pair[1] + (y * pair[4] + z * pair[7]))
        w = abs(x * pair[2] + (y * pair[5] + z * pair[8]))
        far = x * middle[0] + (y * middle[1] + (z * middle[2] - lanes(planes, 3 * N_PLANES + k)))
        if B[0] == CYLINDER:  # its circle in a polygon: no root is taken
            long = select(u > v, u, v)
            far = far - half[0] * (long + 0.4142135623731 * (u + v - long)) - half[2] * w
        else:
            far = far - (half[0] * u + (half[1] * v + half[2] * w))
        higher = far > high
        high = select(higher, far, high)
        place = select(higher, splat(f64(k)), place)
    highest = lane_max(high)
    at = lowest_bit(bits_of(high >= highest) | LAST_LANE)
    at += i64(lane(place, at))
    for i in range(3):
        s[NEAREST + i] = planes[i * N_PLANES + at]
    return highest


@typed
def _box_of_hull(B: PtrF64, vertices: PtrF64, pair: PtrF64, middle: PtrF64, half: PtrF64) -> None:
    """Write the middle, in A's frame, and the half lengths of the box around a hull."""
    first, n = i64(B[5]), i64(B[6])
    if B[2] > 0.0:
        box = offset(vertices, first + 3 * n + 4 * N_PLANES)
        for i in range(3):
            middle[i] += pair[3 * i] * box[0] + pair[3 * i + 1] * box[1] + pair[3 * i + 2] * box[2]
            half[i] = box[3 + i]
    else:  # few vertices: a cube around them, as large as the farthest
        far = 0.0
        for k in range(3 * n):
            far = max(far, abs(vertices[first + k]))
        for i in range(3):
            half[i] = far


@typed
def highest_of_prism(row: PtrF64) -> F64:
    """The greatest height of a prism's or wedge's top over its origin."""
    high = max(row[4], row[5])
    high = max(high, row[6])
    return max(high, 0.0)  # its origin is as high as a corner


@typed
def _box_of_prism(B: PtrF64, pair: PtrF64, middle: PtrF64, half: PtrF64) -> None:
    """Write the middle, in A's frame, and the half lengths of the box around a prism or wedge."""
    high = highest_of_prism(B)
    x, y, z = 0.5 * B[2], 0.5 * B[3], 0.5 * (high - B[7])
    half[0], half[1], half[2] = abs(x), abs(y), 0.5 * (high + B[7])
    for i in range(3):
        middle[i] += pair[3 * i] * x + pair[3 * i + 1] * y + pair[3 * i + 2] * z


@typed
def height(row: PtrF64, T: PtrF64, vertices: PtrF64, x: F64, y: F64, z: F64) -> F64:
    """The greatest height of a piece along a unit vector of the world."""
    u = T[0] * x + T[4] * y + T[8] * z
    v = T[1] * x + T[5] * y + T[9] * z
    w = T[2] * x + T[6] * y + T[10] * z
    a = row[8] * u + row[12] * v + row[16] * w
    b = row[9] * u + row[13] * v + row[17] * w
    c = row[10] * u + row[14] * v + row[18] * w
    px, py, pz = _farthest(row, vertices, a, b, c)
    high = T[3] * x + T[7] * y + T[11] * z + (u * row[11] + v * row[15] + w * row[19])
    return high + (a * px + b * py + c * pz) + row[1]


# ---------------------------------------------------------------------------------------- places


@typed
def _turn(pair: PtrF64, x: F64, y: F64, z: F64, out: PtrF64) -> None:
    """Write a direction of A's frame as one of the world at out[6]."""
    out[6] = pair[12] * x + pair[13] * y + pair[14] * z
    out[7] = pair[15] * x + pair[16] * y + pair[17] * z
    out[8] = pair[18] * x + pair[19] * y + pair[20] * z


@typed
def _spheres_apart(A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64, out: PtrF64) -> F64:
    """Gap between the bounding spheres; the direction between their centres at out[6]."""
    ax, ay, az = A[20], A[21], A[22]
    bx, by, bz = B[20], B[21], B[22]
    x = TB[3] - TA[3]
    y = TB[7] - TA[7]
    z = TB[11] - TA[11]
    x += TB[0] * bx + TB[1] * by + TB[2] * bz - (TA[0] * ax + TA[1] * ay + TA[2] * az)
    y += TB[4] * bx + TB[5] * by + TB[6] * bz - (TA[4] * ax + TA[5] * ay + TA[6] * az)
    z += TB[8] * bx + TB[9] * by + TB[10] * bz - (TA[8] * ax + TA[9] * ay + TA[10] * az)
    far = sqrt(x * x + y * y + z * z)
    if far > 0.0:
        out[6] = x / far
        out[7] = y / far
        out[8] = z / far
    else:
        out[6] = 1.0
        out[7] = 0.0
        out[8] = 0.0
    return far - A[23] - B[23]


@typed
def _rotation(body: PtrF64, piece: PtrF64, R: PtrF64) -> None:
    """Write the rotation of a piece in the world: 9 numbers by rows."""
    for i in range(3):
        x = body[4 * i]
        y = body[4 * i + 1]
        z = body[4 * i + 2]
        R[3 * i] = x * piece[8] + y * piece[12] + z * piece[16]
        R[3 * i + 1] = x * piece[9] + y * piece[13] + z * piece[17]
        R[3 * i + 2] = x * piece[10] + y * piece[14] + z * piece[18]


@typed
def _place(A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64, pair: PtrF64) -> None:
    """Write the pose of piece B in piece A, and that of piece A in the world, to `pair`."""
    RA = local_f64(9)
    RB = local_f64(9)
    _rotation(TA, A, RA)
    _rotation(TB, B, RB)
    ax = TA[0] * A[11] + TA[1] * A[15] + TA[2] * A[19]
    ay = TA[4] * A[11] + TA[5] * A[15] + TA[6] * A[19]
    az = TA[8] * A[11] + TA[9] * A[15] + TA[10] * A[19]
    x = TB[3] - TA[3] + (TB[0] * B[11] + TB[1] * B[15] + TB[2] * B[19] - ax)
    y = TB[7] - TA[7] + (TB[4] * B[11] + TB[5] * B[15] + TB[6] * B[19] - ay)
    z = TB[11] - TA[11] + (TB[8] * B[11] + TB[9] * B[15] + TB[10] * B[19] - az)
    for i in range(3):
        u = RA[i]
        v = RA[3 + i]
        w = RA[6 + i]
        pair[3 * i] = u * RB[0] + v * RB[3] + w * RB[6]
        pair[3 * i + 1] = u * RB[1] + v * RB[4] + w * RB[7]
        pair[3 * i + 2] = u * RB[2] + v * RB[5] + w * RB[8]
        pair[T + i] = u * x + v * y + w * z
    for k in range(9):
        pair[R_WORLD + k] = RA[k]
    pair[P_WORLD] = TA[3] + ax
    pair[P_WORLD + 1] = TA[7] + ay
    pair[P_WORLD + 2] = TA[11] + az


@typed
def _start(out: PtrF64, pair: PtrF64, s: PtrF64) -> None:
    """Write the direction between the centres, in A's frame, as the first of a descent."""
    for i in range(3):
        s[NEAREST + i] = out[6] * pair[12 + i] + out[7] * pair[15 + i] + out[8] * pair[18 + i]


@typed
def _to_world(radius_a: F64, radius_b: F64, s: PtrF64, pair: PtrF64, out: PtrF64) -> None:
    """Write the answer in the world: the point on A is at TRIED, from there to B's at NEAREST."""
    _turn(pair, s[NORMAL], s[NORMAL + 1], s[NORMAL + 2], out)
    x = s[TRIED]
    y = s[TRIED + 1]
    z = s[TRIED + 2]
    u = s[NEAREST]
    v = s[NEAREST + 1]
    w = s[NEAREST + 2]
    for i in range(3):
        R = 12 + 3 * i
        p = pair[P_WORLD + i] + (pair[R] * x + pair[R + 1] * y + pair[R + 2] * z)
        out[i] = p + radius_a * out[6 + i]
        p += pair[R] * u + pair[R + 1] * v + pair[R + 2] * w
        out[3 + i] = p - radius_b * out[6 + i]


# --------------------------------------------------------------------------------------- supports


@typed
def _farthest(row: PtrF64, vertices: PtrF64, x: F64, y: F64, z: F64) -> tuple[F64, F64, F64]:
    """Farthest point of a core in a direction, both in the piece's frame."""
    kind = row[0]
    if kind == HULL:
        return _farthest_vertex(row, vertices, x, y, z)
    if kind == CYLINDER or kind == ELLIPSOID:
        return _farthest_of_round(row, x, y, z)
    if kind == BOX:
        return (
            row[2] if x >= 0.0 else -row[2],
            row[3] if y >= 0.0 else -row[3],
            row[4] if z >= 0.0 else -row[4],
        )
    if kind >= PRISM:
        return _farthest_of_prism(row, x, y, z)
    return 0.0, 0.0, row[3] if z >= 0.0 else -row[3]


@typed
def _farthest_of_prism(row: PtrF64, x: F64, y: F64, z: F64) -> tuple[F64, F64, F64]:
    """The point that `_farthest` gives of a prism or wedge: a corner of its top, or below one."""
    up, low = z >= 0.0, -row[7]
    own = row[6] if row[0] == WEDGE else 0.0
    a, b, c = row[4] if up else low, row[5] if up else low, own if up else low
    u, v, w = 0.0, 0.0, c
    high = z * c
    along = x * row[2] + z * a
    if along > high:
        high = along
        u, w = row[2], a
    along = y * row[3] + z * b
    if along > high:
        high = along
        u, v, w = 0.0, row[3], b
    if row[0] == PRISM:
        d = row[6] if up else low
        if x * row[2] + y * row[3] + z * d > high:
            u, v, w = row[2], row[3], d
    return u, v, w


@typed
def _farthest_of_round(row: PtrF64, x: F64, y: F64, z: F64) -> tuple[F64, F64, F64]:
    """The point that `_farthest` gives of a cylinder or an ellipsoid."""
    if row[0] == CYLINDER:
        across = sqrt(x * x + y * y)
        t = row[2] / across if across > 0.0 else 0.0
        return t * x, t * y, row[3] if z >= 0.0 else -row[3]
    u = row[2] * x
    v = row[3] * y
    w = row[4] * z
    long = sqrt(u * u + v * v + w * w)
    t = 1.0 / long if long > 0.0 else 0.0
    return row[2] * (u * t), row[3] * (v * t), row[4] * (w * t)


@typed
def _cell(x: F64, y: F64, z: F64) -> I64:
    """The cell of a direction in the table of `pieces.by_direction`, where `GRID` is 4."""
    most = max(abs(x), abs(y))
    most = max(most, abs(z))
    is_x = abs(x) == most
    is_y = abs(y) == most
    main = select(is_x, x, select(is_y, y, z))
    u = select(is_x, y, select(is_y, z, x))
    v = select(is_x, z, select(is_y, x, y))
    face = select(is_x, 0, select(is_y, 2, 4)) + i64(main < 0.0)
    half = 0.5 * most  # cells end at these multiples: nothing is divided by the greatest
    i = i64(u >= -half) + (i64(u >= 0.0) + i64(u >= half))
    j = i64(v >= -half) + (i64(v >= 0.0) + i64(v >= half))
    return (face * GRID + i) * GRID + j


@typed
def _farthest_vertex(row: PtrF64, vertices: PtrF64, x: F64, y: F64, z: F64) -> tuple[F64, F64, F64]:
    """Farthest vertex of a hull in a direction."""
    first = i64(row[5])
    n = i64(row[6])
    if row[2] > 0.0:
        cell = offset(vertices, first + 3 * n + OUTER + 2 * _cell(x, y, z))
        first += i64(cell[0])
        n = i64(cell[1])
    return farthest_of_list(offset(vertices, first), n, x, y, z)


@typed
def farthest_of_list(vertices: PtrF64, n: I64, x: F64, y: F64, z: F64) -> tuple[F64, F64, F64]:
    """Farthest of n vertices, a multiple of WIDTH, in a direction."""
    last = n - WIDTH  # most lists are one or two WIDTH long: which, is not asked
    high = x * lanes(vertices, 0) + y * lanes(vertices, n)
    high = high + z * lanes(vertices, 2 * n)
    h = x * lanes(vertices, last) + y * lanes(vertices, n + last)
    h = h + z * lanes(vertices, 2 * n + last)
    if n <= 2 * WIDTH:
        most = lane_max(select(h > high, h, high))
        best = lowest_bit(bits_of(high >= most) | bits_of(h >= most) << WIDTH | LAST_LANE << WIDTH)
        best = best + (last - WIDTH if best >= WIDTH else 0)
        return vertices[best], vertices[best + n], vertices[best + 2 * n]
    higher = h > high
    high = select(higher, h, high)
    place = select(higher, splat(f64(last)), splat(0.0))
    for k in range(WIDTH, last, WIDTH):
        h = x * lanes(vertices, k) + y * lanes(vertices, n + k)
        h = h + z * lanes(vertices, 2 * n + k)
        higher = h > high
        high = select(higher, h, high)
        place = select(higher, splat(f64(k)), place)
    at = lowest_bit(bits_of(high >= lane_max(high)) | LAST_LANE)
    best = at + i64(lane(place, at))
    return vertices[best], vertices[best + n], vertices[best + 2 * n]


@typed
def _corner(
    A: PtrF64, B: PtrF64, vertices: PtrF64, pair: PtrF64, t: PtrF64, corner: PtrF64
) -> None:
    """Write the corner of B - A that is least along a direction of any length."""
    x = t[0]
    y = t[1]
    z = t[2]
    ax, ay, az = _farthest(A, vertices, x, y, z)
    u = -(pair[0] * x + pair[3] * y + pair[6] * z)
    v = -(pair[1] * x + pair[4] * y + pair[7] * z)
    w = -(pair[2] * x + pair[5] * y + pair[8] * z)
    bx, by, bz = _farthest(B, vertices, u, v, w)
    corner[0] = pair[0] * bx + pair[1] * by + pair[2] * bz + pair[9] - ax
    corner[1] = pair[3] * bx + pair[4] * by + pair[5] * bz + pair[10] - ay
    corner[2] = pair[6] * bx + pair[7] * by + pair[8] * bz + pair[11] - az
    corner[3] = ax
    corner[4] = ay
    corner[5] = az
    corner[6] = x
    corner[7] = y
    corner[8] = z


# ---------------------------------------------------------------------------------------- descent


@typed
def _descend(
    A: PtrF64,
    B: PtrF64,
    vertices: PtrF64,
    pair: PtrF64,
    s: PtrF64,
    low: F64,
    high: F64,
    common: Bool,
) -> F64:
    """Distance of the cores from above, 0 in overlap; `s` gets how it is attained.

    Ends early as soon as the distance is known to be over `high` (at LOWER, its normal at NORMAL)
    or not over `low`, or, where any ``common`` point is enough, as soon as B is known to hold a
    point of A's: it is at TRIED then, and CORNERS below 0. It starts from the direction at NEAREST.
    """
    n = 0
    found = 1e300
    over = 1.0
    curved = _is_curved(A) or _is_curved(B)
    leap = False
    missed = False
    s[SCALE] = 0.0
    s[LOWER] = -1e300
    s[NORMAL] = 1.0
    s[NORMAL + 1] = 0.0
    s[NORMAL + 2] = 0.0
    s[STEPS] = MOST_STEPS
    for k in range(MOST_STEPS):
        for i in range(3):
            s[TRIED + i] = over * s[NEAREST + i]
        leap = curved and not missed and s[LOWER] > 0.0
        if leap:
            _leap(A, B, pair, s, n, found)
        corner = offset(s, CORNER * n)
        between = found - s[LOWER]
        # the point itself is the direction, too: then nothing waits for its length
        way = offset(s, TRIED if leap else NEAREST)
        below = _support(A, B, vertices, pair, s, way, corner)
        missed = leap and found - s[LOWER] > 0.5 * between
        for i in range(3):
            s[SCALE] = max(s[SCALE], abs(corner[i]))
        s[CORNERS] = f64(n)
        s[STEPS] = f64(k)
        if below > high or found - below <= GAP * found + ROUNDING * s[SCALE]:
            return found
        if common and _holds(B, pair, corner[3], corner[4], corner[5]):
            s[CORNERS] = -1.0
            for i in range(3):
                s[TRIED + i] = corner[3 + i]
            return 0.0
        n = _nearest(s, n + 1, found)
        s[CORNERS] = f64(n)
        if common and n > 1 and n < 4:
            _points(s)
            if _holds(B, pair, s[TRIED], s[TRIED + 1], s[TRIED + 2]):
                s[CORNERS] = -1.0
                return 0.0
        nearer = 0.0
        if n < 4:
            x = s[NEAREST]
            y = s[NEAREST + 1]
            z = s[NEAREST + 2]
            nearer = sqrt(x * x + y * y + z * z)
        if nearer <= low or nearer <= FLAT * s[SCALE]:
            return nearer
        if not (nearer < found or leap):
            return nearer
        found = nearer
        over = 1.0 / nearer
    return found


@typed
def _holds(row: PtrF64, pair: PtrF64, x: F64, y: F64, z: F64) -> Bool:
    """Whether a box or a cylinder surely holds a point of A's frame; of others nothing is known."""
    if row[0] != BOX and row[0] != CYLINDER:
        return False
    x -= pair[T]
    y -= pair[T + 1]
    z -= pair[T + 2]
    u = pair[0] * x + pair[3] * y + pair[6] * z
    v = pair[1] * x + pair[4] * y + pair[7] * z
    w = pair[2] * x + pair[5] * y + pair[8] * z
    if row[0] == BOX:
        return abs(u) <= row[2] and abs(v) <= row[3] and abs(w) <= row[4]
    return u * u + v * v <= row[2] * row[2] and abs(w) <= row[3]


@typed
def _support(
    A: PtrF64, B: PtrF64, vertices: PtrF64, pair: PtrF64, s: PtrF64, way: PtrF64, corner: PtrF64
) -> F64:
    """Write the corner least along TRIED; the lower bound that it gives, kept if it is better.

    ``way`` is TRIED, or what has this direction and another length.
    """
    _corner(A, B, vertices, pair, way, corner)
    for i in range(3):
        corner[6 + i] = s[TRIED + i]
    below = s[TRIED] * corner[0] + s[TRIED + 1] * corner[1] + s[TRIED + 2] * corner[2]
    if below > s[LOWER]:
        s[LOWER] = below
        for i in range(3):
            s[NORMAL + i] = s[TRIED + i]
    return below


@typed
def _is_curved(row: PtrF64) -> Bool:
    """Whether a core is a cylinder or an ellipsoid."""
    return row[0] == CYLINDER or row[0] == ELLIPSOID


@typed
def _unit(x: F64, y: F64, z: F64, out: PtrF64) -> None:
    """Write a vector over its length."""
    t = 1.0 / sqrt(x * x + y * y + z * z)
    out[0] = t * x
    out[1] = t * y
    out[2] = t * z


@typed
def _bend(row: PtrF64, x: F64, y: F64, z: F64, u: F64, v: F64, w: F64) -> tuple[F64, F64, F64]:
    """The motion of the farthest point of a core when the direction x, y, z moves by u, v, w."""
    if row[0] == CYLINDER:
        across = sqrt(x * x + y * y)
        if across > 0.0:
            t = row[2] * ((x * v - y * u) / (across * across * across))
            return -y * t, x * t, 0.0
    elif row[0] == ELLIPSOID:
        a = row[2] * x
        b = row[3] * y
        c = row[4] * z
        long = sqrt(a * a + b * b + c * c)
        if long > 0.0:
            a = a / long
            b = b / long
            c = c / long
            u = row[2] * (u / long)
            v = row[3] * (v / long)
            w = row[4] * (w / long)
            t = a * u + b * v + c * w
            return row[2] * (u - t * a), row[3] * (v - t * b), row[4] * (w - t * c)
    return 0.0, 0.0, 0.0


@typed
def _bend_both(A: PtrF64, B: PtrF64, pair: PtrF64, t: PtrF64, c: PtrF64, out: PtrF64) -> None:
    """Write how fast the corner least along t moves against c when t turns towards c."""
    out[0], out[1], out[2] = _bend(A, t[0], t[1], t[2], c[0], c[1], c[2])
    if _is_curved(B):
        x = pair[0] * t[0] + pair[3] * t[1] + pair[6] * t[2]
        y = pair[1] * t[0] + pair[4] * t[1] + pair[7] * t[2]
        z = pair[2] * t[0] + pair[5] * t[1] + pair[8] * t[2]
        u = pair[0] * c[0] + pair[3] * c[1] + pair[6] * c[2]
        v = pair[1] * c[0] + pair[4] * c[1] + pair[7] * c[2]
        w = pair[2] * c[0] + pair[5] * c[1] + pair[8] * c[2]
        x, y, z = _bend(B, x, y, z, u, v, w)
        out[0] += pair[0] * x + pair[1] * y + pair[2] * z
        out[1] += pair[3] * x + pair[4] * y + pair[5] * z
        out[2] += pair[6] * x + pair[7] * y + pair[8] * z


@typed
def _leap(A: PtrF64, B: PtrF64, pair: PtrF64, s: PtrF64, n: I64, height: F64) -> None:
    """Turn the direction at TRIED to where curved surfaces will be nearest: a step of Newton's.

    A corner w was found along another direction than t; along t it lies H d further, where H is the
    surfaces' bend and d the turn. So moved, corners of one curved patch come together, and t turns
    by (H + height)⁻¹ w; where an edge of flat shapes is left between them, only across it.
    """
    f = local_f64(12)  # two directions at right angles to t, and how the corner moves along them
    r = local_f64(12)  # the corners in these directions, as they are and moved
    t = offset(s, TRIED)
    _across(t[0], t[1], t[2], f)
    f[3] = t[1] * f[2] - t[2] * f[1]
    f[4] = t[2] * f[0] - t[0] * f[2]
    f[5] = t[0] * f[1] - t[1] * f[0]
    _bend_both(A, B, pair, t, f, offset(f, 6))
    _bend_both(A, B, pair, t, offset(f, 3), offset(f, 9))
    xx = f[0] * f[6] + f[1] * f[7] + f[2] * f[8]
    xy = f[0] * f[9] + f[1] * f[10] + f[2] * f[11]
    yy = f[3] * f[9] + f[4] * f[10] + f[5] * f[11]
    x = 0.0
    y = 0.0
    for k in range(n):
        w = offset(s, CORNER * k)
        u = f[0] * w[6] + f[1] * w[7] + f[2] * w[8]
        v = f[3] * w[6] + f[4] * w[7] + f[5] * w[8]
        r[2 * k] = f[0] * w[0] + f[1] * w[1] + f[2] * w[2]
        r[2 * k + 1] = f[3] * w[0] + f[4] * w[1] + f[5] * w[2]
        r[6 + 2 * k] = r[2 * k] + (xx * u + xy * v)
        r[7 + 2 * k] = r[2 * k + 1] + (xy * u + yy * v)
        x += s[WEIGHTS + k] * r[6 + 2 * k]
        y += s[WEIGHTS + k] * r[7 + 2 * k]
    edges = _edges_left(r, n)
    if edges == 2:
        return
    if edges == 1:
        turn = (r[0] * x + r[1] * y) / (
            height + r[0] * r[0] * xx + 2.0 * r[0] * r[1] * xy + r[1] * r[1] * yy
        )
        x = turn * r[0]
        y = turn * r[1]
    else:
        det = (xx + height) * (yy + height) - xy * xy
        u = ((yy + height) * x - xy * y) / det
        y = ((xx + height) * y - xy * x) / det
        x = u
    _unit(t[0] + x * f[0] + y * f[3], t[1] + x * f[1] + y * f[4], t[2] + x * f[2] + y * f[5], t)


@typed
def _is_edge(r: PtrF64, i: I64, j: I64) -> Bool:
    """Whether moving two corners to one direction leaves most of what was between them."""
    x = r[2 * i] - r[2 * j]
    y = r[2 * i + 1] - r[2 * j + 1]
    u = r[6 + 2 * i] - r[6 + 2 * j]
    v = r[7 + 2 * i] - r[7 + 2 * j]
    return u * u + v * v > 0.25 * (x * x + y * y)


@typed
def _edges_left(r: PtrF64, n: I64) -> I64:
    """The number of directions that flat shapes leave between moved corners; what is across: r."""
    if n == 1:
        return 0
    i = 0
    j = 1
    edge = _is_edge(r, 0, 1)
    if n == 3:
        other = _is_edge(r, 0, 2)
        third = _is_edge(r, 1, 2)
        if edge and other and third:
            return 2
        if not edge:
            j = 2
            i = 0 if other else 1
            edge = other or third
    if not edge:
        return 0
    x = r[7 + 2 * j] - r[7 + 2 * i]
    y = r[6 + 2 * i] - r[6 + 2 * j]
    long = sqrt(x * x + y * y)
    if not (long > 0.0):
        return 0
    r[0] = x / long
    r[1] = y / long
    return 1


@typed
def _points(s: PtrF64) -> None:
    """Write the point on A of a finished descent at TRIED."""
    for i in range(3):
        p = 0.0
        for k in range(i64(s[CORNERS])):
            p += s[WEIGHTS + k] * s[CORNER * k + 3 + i]
        s[TRIED + i] = p


@typed
def _nearest(s: PtrF64, n: I64, found: F64) -> I64:
    """Drop the corners that the point nearest to the origin does not need; how many are left.

    Writes their weights and the point; 4 corners left hold the origin between them. All but the
    last were as near as `found`: what seems farther now has been rounded, and is tried again.
    """
    if n == 4:
        n = _tetrahedron(s, found * found)
        if n == 4:
            return 4
    elif n == 3:
        if not (_triangle(s, 0, 1, 2, offset(s, WEIGHTS)) < found * found):
            _rim(s, 0, 1, 2, offset(s, WEIGHTS))
    elif n == 2:
        _segment(s, 0, 1, offset(s, WEIGHTS))
    else:
        s[WEIGHTS] = 1.0
    left = _close_up(s, n)
    if left == 3:
        _foot_on_plane(s)
    elif left == 2:
        _foot_on_line(s)
    else:
        for i in range(3):
            s[NEAREST + i] = s[i]
    return left


@typed
def _close_up(s: PtrF64, n: I64) -> I64:
    """Drop the corners without weight; how many are left."""
    left = 0
    for k in range(n):
        if s[WEIGHTS + k] > 0.0:
            if left < k:
                s[WEIGHTS + left] = s[WEIGHTS + k]
                for i in range(CORNER):
                    s[CORNER * left + i] = s[CORNER * k + i]
            left += 1
    return left


@typed
def _foot_on_line(s: PtrF64) -> None:
    """Write the foot of the origin on the line through two corners, at right angles to it."""
    dx = s[9] - s[0]
    dy = s[10] - s[1]
    dz = s[11] - s[2]
    over = 1.0 / (dx * dx + dy * dy + dz * dz)
    near = 0 if s[WEIGHTS] > s[WEIGHTS + 1] else CORNER
    x = s[near]
    y = s[near + 1]
    z = s[near + 2]
    for _ in range(2):  # twice: the second time it is at right angles to all digits
        t = (x * dx + y * dy + z * dz) * over
        x -= t * dx
        y -= t * dy
        z -= t * dz
    s[NEAREST] = x
    s[NEAREST + 1] = y
    s[NEAREST + 2] = z


@typed
def _foot_on_plane(s: PtrF64) -> None:
    """Write the foot of the origin on the plane of three corners, along its exact normal."""
    ux = s[9] - s[0]
    uy = s[10] - s[1]
    uz = s[11] - s[2]
    vx = s[18] - s[0]
    vy = s[19] - s[1]
    vz = s[20] - s[2]
    nx = uy * vz - uz * vy
    ny = uz * vx - ux * vz
    nz = ux * vy - uy * vx
    t = (nx * s[0] + ny * s[1] + nz * s[2]) / (nx * nx + ny * ny + nz * nz)
    s[NEAREST] = t * nx
    s[NEAREST + 1] = t * ny
    s[NEAREST + 2] = t * nz


@typed
def _segment(w: PtrF64, i: I64, j: I64, weights: PtrF64) -> F64:
    """Weights of the point of a segment that is nearest to the origin; its squared distance."""
    a = offset(w, CORNER * i)
    b = offset(w, CORNER * j)
    dx = b[0] - a[0]
    dy = b[1] - a[1]
    dz = b[2] - a[2]
    dd = dx * dx + dy * dy + dz * dz
    t = 0.0
    if dd > 0.0:
        t = min(1.0, max(0.0, -(a[0] * dx + a[1] * dy + a[2] * dz) / dd))
    weights[0] = 1.0 - t
    weights[1] = t
    x = a[0] + t * dx
    y = a[1] + t * dy
    z = a[2] + t * dz
    return x * x + y * y + z * z


@typed
def _triangle(w: PtrF64, i: I64, j: I64, k: I64, weights: PtrF64) -> F64:
    """Weights of the point of a triangle that is nearest to the origin; its squared distance."""
    a = offset(w, CORNER * i)
    b = offset(w, CORNER * j)
    c = offset(w, CORNER * k)
    ux = b[0] - a[0]
    uy = b[1] - a[1]
    uz = b[2] - a[2]
    vx = c[0] - a[0]
    vy = c[1] - a[1]
    vz = c[2] - a[2]
    ua = -(ux * a[0] + uy * a[1] + uz * a[2])
    va = -(vx * a[0] + vy * a[1] + vz * a[2])
    ub = -(ux * b[0] + uy * b[1] + uz * b[2])
    vb = -(vx * b[0] + vy * b[1] + vz * b[2])
    uc = -(ux * c[0] + uy * c[1] + uz * c[2])
    vc = -(vx * c[0] + vy * c[1] + vz * c[2])
    on_a = ub * vc - uc * vb
    on_b = uc * va - ua * vc
    on_c = ua * vb - ub * va
    area = on_a + on_b + on_c
    sizes = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz)
    if on_a > 0.0 and on_b > 0.0 and on_c > 0.0 and area > 1e-28 * sizes:
        t = 1.0 / area
        p = on_a * t
        q = on_b * t
        r = on_c * t
        weights[0] = p
        weights[1] = q
        weights[2] = r
        x = p * a[0] + q * b[0] + r * c[0]
        y = p * a[1] + q * b[1] + r * c[1]
        z = p * a[2] + q * b[2] + r * c[2]
        return x * x + y * y + z * z
    return _rim(w, i, j, k, weights)


@typed
def _rim(w: PtrF64, i: I64, j: I64, k: I64, weights: PtrF64) -> F64:
    """Weights of the point of a triangle's rim that is nearest to the origin."""
    two = local_f64(2)
    best = _segment(w, i, j, two)
    weights[0] = two[0]
    weights[1] = two[1]
    weights[2] = 0.0
    other = _segment(w, j, k, two)
    if other < best:
        best = other
        weights[0] = 0.0
        weights[1] = two[0]
        weights[2] = two[1]
    other = _segment(w, i, k, two)
    if other < best:
        best = other
        weights[0] = two[0]
        weights[1] = 0.0
        weights[2] = two[1]
    return best


@typed
def _tetrahedron(s: PtrF64, found: F64) -> I64:
    """As `_nearest`, of four corners: 4 where the origin is inside, else 3 with their weights.

    Of the faces that the origin is beyond, the one that is nearest; of all where that is no nearer
    than what was found (`found` is its square).
    """
    beyond = _beyond(s)
    if beyond == 0:
        return 4
    three = local_f64(3)
    best = 1e300
    out = 3
    for _ in range(2):
        for face in range(4):
            if beyond % 2 == 1:
                i = 1 if face == 0 else 0
                j = 2 if face < 2 else 1
                k = 3 if face < 3 else 2
                far = _triangle(s, i, j, k, three)
                if far < best:
                    best = far
                    out = face
                    for m in range(3):
                        s[WEIGHTS + m] = three[m]
            beyond = beyond // 2
        if best < found:
            break
        beyond = 15
    for k in range(out, 3):
        for i in range(CORNER):
            s[CORNER * k + i] = s[CORNER * (k + 1) + i]
    return 3


@typed
def _beyond(s: PtrF64) -> I64:
    """The faces of four corners that the origin is beyond: bit k for the one without corner k."""
    dx = s[3 * CORNER]
    dy = s[3 * CORNER + 1]
    dz = s[3 * CORNER + 2]
    ax = s[0] - dx
    ay = s[1] - dy
    az = s[2] - dz
    bx = s[CORNER] - dx
    by = s[CORNER + 1] - dy
    bz = s[CORNER + 2] - dz
    cx = s[2 * CORNER] - dx
    cy = s[2 * CORNER + 1] - dy
    cz = s[2 * CORNER + 2] - dz
    x = by * cz - bz * cy
    y = bz * cx - bx * cz
    z = bx * cy - by * cx
    size = ax * x + ay * y + az * z
    without_a = dx * x + dy * y + dz * z
    x = cy * az - cz * ay
    y = cz * ax - cx * az
    z = cx * ay - cy * ax
    without_b = dx * x + dy * y + dz * z
    x = ay * bz - az * by
    y = az * bx - ax * bz
    z = ax * by - ay * bx
    without_c = dx * x + dy * y + dz * z
    aa = ax * ax + ay * ay + az * az
    bb = bx * bx + by * by + bz * bz
    cc = cx * cx + cy * cy + cz * cz
    if not (size * size > 1e-26 * aa * bb * cc):
        return 15
    faces = 0
    if without_a * size >= 0.0:
        faces += 1
    if without_b * size >= 0.0:
        faces += 2
    if without_c * size >= 0.0:
        faces += 4
    if (without_a + without_b + without_c + size) * size <= 0.0:
        faces += 8
    return faces


# ------------------------------------------------------------------------------------------ depth


@typed
def _near_or_deep(
    A: PtrF64, B: PtrF64, vertices: PtrF64, pair: PtrF64, s: PtrF64, high: F64
) -> F64:
    """As `_deep`, or what the descent knows of the distance from below where that is more.

    For cores that overlap or nearly touch, and where rounding stopped the descent.
    """
    normal = local_f64(3)
    lower = s[LOWER]
    for i in range(3):
        normal[i] = s[NORMAL + i]
    gap = _deep(A, B, vertices, pair, s, high)
    if lower > gap:
        gap = lower
        for i in range(3):
            s[NORMAL + i] = normal[i]
    for i in range(3):
        s[NEAREST + i] = gap * s[NORMAL + i]
    return gap


@typed
def _deep(A: PtrF64, B: PtrF64, vertices: PtrF64, pair: PtrF64, s: PtrF64, high: F64) -> F64:
    """Distance of cores that overlap: minus the least translation that parts them.

    Writes the point on A at TRIED of `s` and the normal at NORMAL. The value is that of a
    separating direction, so where the steps do not suffice it is a lower bound; so is one over
    `high`, of which no point is sought.
    """
    w = local_f64(POLYTOPE)
    t = local_i64(TABLES)
    if not _tetrahedron_inside(A, B, vertices, pair, s, w):
        return _deep_in_flat(s, w)
    _first_faces(w, t)
    s[LOWER] = -1e300
    s[STEPS] = MOST_CORNERS
    for new in range(4, MOST_CORNERS):
        face = _lowest(w, t)
        plane = offset(w, FACES + 4 * face)
        for i in range(3):
            s[TRIED + i] = -plane[i]
        below = _support(A, B, vertices, pair, s, offset(s, TRIED), offset(w, CORNER * new))
        if s[LOWER] > high:
            return s[LOWER]
        if not (-below - plane[3] > DEPTH_GAP * s[SCALE]):
            s[STEPS] = f64(new)
            break
        if not _grow(w, t, face, new, 1e-12 * s[SCALE]):
            break
    _foot(s, w, t, DEPTH_GAP * s[SCALE] - s[LOWER])
    if s[STEPS] == MOST_CORNERS:
        _polish(A, B, vertices, pair, s, w, t)
    return s[LOWER]


@typed
def _polish(
    A: PtrF64, B: PtrF64, vertices: PtrF64, pair: PtrF64, s: PtrF64, w: PtrF64, t: PtrI64
) -> None:
    """Leap from the lowest face of a polytope that was not finished, as long as depth falls."""
    x = s[TRIED]
    y = s[TRIED + 1]
    z = s[TRIED + 2]
    face = _lowest(w, t)
    plane = offset(w, FACES + 4 * face)
    _triangle(w, t[6 * face], t[6 * face + 1], t[6 * face + 2], offset(s, WEIGHTS))
    for i in range(CORNER):
        for k in range(3):
            s[CORNER * k + i] = w[CORNER * t[6 * face + k] + i]
    for i in range(3):
        s[TRIED + i] = -plane[i]
    n = 3
    for _ in range(MOST_LEAPS):
        before = s[LOWER]
        _leap(A, B, pair, s, n, before)
        _support(A, B, vertices, pair, s, offset(s, TRIED), s)
        if s[LOWER] > before:
            x = s[3]
            y = s[4]
            z = s[5]
        elif n == 1:
            break
        for i in range(3):
            s[TRIED + i] = s[NORMAL + i]
        _support(A, B, vertices, pair, s, offset(s, TRIED), s)
        s[WEIGHTS] = 1.0
        n = 1
    s[TRIED] = x
    s[TRIED + 1] = y
    s[TRIED + 2] = z


@typed
def _foot(s: PtrF64, w: PtrF64, t: PtrI64, high: F64) -> None:
    """Write the point on A of the point of the surface that is nearest to the origin at TRIED.

    It lies in one of the faces of least height, of which a flat side has several.
    """
    three = local_f64(3)
    best = 1e300
    for f in range(t[USED]):
        if t[ALIVE + f] == 1 and w[FACES + 4 * f + 3] <= high:
            i = t[6 * f]
            j = t[6 * f + 1]
            k = t[6 * f + 2]
            far = _triangle(w, i, j, k, three)
            if far < best:
                best = far
                for m in range(3):
                    s[TRIED + m] = (
                        three[0] * w[CORNER * i + 3 + m]
                        + three[1] * w[CORNER * j + 3 + m]
                        + three[2] * w[CORNER * k + 3 + m]
                    )


@typed
def _deep_in_flat(s: PtrF64, w: PtrF64) -> F64:
    """As `_deep` where the difference is flat: corners 3 and 4 lie on its two sides."""
    front = s[NORMAL] * w[27] + s[NORMAL + 1] * w[28] + s[NORMAL + 2] * w[29]
    back = -(s[NORMAL] * w[36] + s[NORMAL + 1] * w[37] + s[NORMAL + 2] * w[38])
    for i in range(3):
        p = 0.0
        for k in range(min(3, i64(s[CORNERS]))):
            p += s[WEIGHTS + k] * s[CORNER * k + 3 + i]
        s[TRIED + i] = p
    if back > front:
        for i in range(3):
            s[NORMAL + i] = -s[NORMAL + i]
        return back
    return front


@typed
def _across(x: F64, y: F64, z: F64, out: PtrF64) -> None:
    """Write a unit vector at right angles to this one (which may be 0)."""
    u = abs(x)
    v = abs(y)
    w = abs(z)
    if u <= v and u <= w:
        out[0], out[1], out[2] = 0.0, -z, y
    elif v <= w:
        out[0], out[1], out[2] = z, 0.0, -x
    else:
        out[0], out[1], out[2] = -y, x, 0.0
    long = sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2])
    if long > 0.0:
        for i in range(3):
            out[i] /= long
    else:
        out[0], out[1], out[2] = 1.0, 0.0, 0.0


@typed
def _swap(w: PtrF64, i: I64, j: I64) -> None:
    """Let two corners change places."""
    for m in range(CORNER):
        kept = w[CORNER * i + m]
        w[CORNER * i + m] = w[CORNER * j + m]
        w[CORNER * j + m] = kept


@typed
def _far_pair(A: PtrF64, B: PtrF64, vertices: PtrF64, pair: PtrF64, s: PtrF64, w: PtrF64) -> None:
    """Write the two of the outermost corners along the axes that are farthest apart."""
    for k in range(6):
        s[TRIED], s[TRIED + 1], s[TRIED + 2] = 0.0, 0.0, 0.0
        s[TRIED + k // 2] = 1.0 if k % 2 == 0 else -1.0
        _corner(A, B, vertices, pair, offset(s, TRIED), offset(w, CORNER * k))
        for m in range(3):
            s[SCALE] = max(s[SCALE], abs(w[CORNER * k + m]))
    far = -1.0
    first = 0
    second = 1
    for i in range(5):
        for j in range(i + 1, 6):
            x = w[CORNER * i] - w[CORNER * j]
            y = w[CORNER * i + 1] - w[CORNER * j + 1]
            z = w[CORNER * i + 2] - w[CORNER * j + 2]
            d = x * x + y * y + z * z
            if d > far:
                far = d
                first = i
                second = j
    _swap(w, 0, first)
    _swap(w, 1, second)


@typed
def _tetrahedron_inside(
    A: PtrF64, B: PtrF64, vertices: PtrF64, pair: PtrF64, s: PtrF64, w: PtrF64
) -> Bool:
    """Write four far-apart corners, faces turned outwards; False where there are no such four.

    Where the difference of the cores is flat its normal is at NORMAL, and corners 3 and 4 lie on
    its two sides.
    """
    axes = local_f64(9)
    _far_pair(A, B, vertices, pair, s, w)
    x = w[9] - w[0]
    y = w[10] - w[1]
    z = w[11] - w[2]
    _across(x, y, z, axes)
    long = max(1e-300, sqrt(x * x + y * y + z * z))
    axes[3] = (y * axes[2] - z * axes[1]) / long
    axes[4] = (z * axes[0] - x * axes[2]) / long
    axes[5] = (x * axes[1] - y * axes[0]) / long
    far = -1.0
    best = 2
    for k in range(4):
        for i in range(3):
            d = axes[3 * (k // 2) + i]
            s[TRIED + i] = d if k % 2 == 0 else -d
        c = offset(w, CORNER * (2 + k))
        _corner(A, B, vertices, pair, offset(s, TRIED), c)
        u = axes[0] * (c[0] - w[0]) + axes[1] * (c[1] - w[1]) + axes[2] * (c[2] - w[2])
        v = axes[3] * (c[0] - w[0]) + axes[4] * (c[1] - w[1]) + axes[5] * (c[2] - w[2])
        if u * u + v * v > far:
            far = u * u + v * v
            best = 2 + k
            for i in range(3):  # at right angles to the triangle
                axes[6 + i] = u * axes[3 + i] - v * axes[i]
    _swap(w, 2, best)
    high = sqrt(far)
    for i in range(3):
        s[NORMAL + i] = axes[6 + i] / high if high > FLAT * s[SCALE] else axes[i]
    return _fourth_corner(A, B, vertices, pair, s, w)


@typed
def _fourth_corner(
    A: PtrF64, B: PtrF64, vertices: PtrF64, pair: PtrF64, s: PtrF64, w: PtrF64
) -> Bool:
    """Write the corners farthest along and against NORMAL; False where they are in one plane."""
    heights = local_f64(2)
    for k in range(2):
        for i in range(3):
            s[TRIED + i] = s[NORMAL + i] if k == 0 else -s[NORMAL + i]
        c = offset(w, CORNER * (3 + k))
        _corner(A, B, vertices, pair, offset(s, TRIED), c)
        heights[k] = 0.0
        for i in range(3):
            heights[k] -= s[TRIED + i] * (c[i] - w[i])
    if not (max(heights[0], heights[1]) > FLAT * s[SCALE]):
        return False
    if heights[1] > heights[0]:
        _swap(w, 3, 4)
        _swap(w, 1, 2)
    return True


@typed
def _first_faces(w: PtrF64, t: PtrI64) -> None:
    """Write the faces of a tetrahedron: corner 3 is behind face 0, 1, 2."""
    t[USED] = 0
    _face(w, t, 0, 0, 1, 2)
    _face(w, t, 1, 0, 3, 1)
    _face(w, t, 2, 0, 2, 3)
    _face(w, t, 3, 1, 3, 2)
    t[3], t[4], t[5] = 1, 3, 2
    t[9], t[10], t[11] = 2, 3, 0
    t[15], t[16], t[17] = 0, 3, 1
    t[21], t[22], t[23] = 1, 2, 0


@typed
def _face(w: PtrF64, t: PtrI64, f: I64, i: I64, j: I64, k: I64) -> None:
    """Write a face: its corners and its plane."""
    a = offset(w, CORNER * i)
    b = offset(w, CORNER * j)
    c = offset(w, CORNER * k)
    t[6 * f], t[6 * f + 1], t[6 * f + 2] = i, j, k
    t[ALIVE + f] = 1
    t[USED] = t[USED] if f < t[USED] else f + 1
    ux = b[0] - a[0]
    uy = b[1] - a[1]
    uz = b[2] - a[2]
    vx = c[0] - a[0]
    vy = c[1] - a[1]
    vz = c[2] - a[2]
    nx = uy * vz - uz * vy
    ny = uz * vx - ux * vz
    nz = ux * vy - uy * vx
    sizes = (ux * ux + uy * uy + uz * uz) * (vx * vx + vy * vy + vz * vz)
    long = sqrt(nx * nx + ny * ny + nz * nz)
    plane = offset(w, FACES + 4 * f)
    if long > 1e-13 * sqrt(sizes):
        plane[0] = nx / long
        plane[1] = ny / long
        plane[2] = nz / long
        plane[3] = plane[0] * a[0] + plane[1] * a[1] + plane[2] * a[2]
    else:  # no area: never the nearest, never seen from outside
        plane[0], plane[1], plane[2], plane[3] = 0.0, 0.0, 0.0, NEVER


@typed
def _lowest(w: PtrF64, t: PtrI64) -> I64:
    """The living face nearest to the origin."""
    best = 0
    low = 2.0 * NEVER
    for f in range(t[USED]):
        if t[ALIVE + f] == 1:
            high = w[FACES + 4 * f + 3]
            if high < low:
                low = high
                best = f
    return best


@typed
def _grow(w: PtrF64, t: PtrI64, face: I64, new: I64, rounding: F64) -> Bool:
    """Add a corner: the faces that it sees from outside give way to new ones up to their rim.

    False where the rim is no simple ring (rounding), or nothing is left: it can grow no more.
    """
    corner = offset(w, CORNER * new)
    t[ALIVE + face] = 0
    t[STACK] = face
    seen = 1
    rim = 0
    done = 0
    while done < seen:
        f = t[STACK + done]
        done += 1
        for e in range(3):
            g = t[6 * f + 3 + e]
            if t[ALIVE + g] == 1:
                plane = offset(w, FACES + 4 * g)
                high = plane[0] * corner[0] + plane[1] * corner[1] + plane[2] * corner[2]
                if high > plane[3] + rounding:
                    t[ALIVE + g] = 0
                    t[STACK + seen] = g
                    seen += 1
                else:
                    t[RIM + 3 * rim] = t[6 * f + e]
                    t[RIM + 3 * rim + 1] = t[6 * f + (e + 1) % 3]
                    t[RIM + 3 * rim + 2] = g
                    rim += 1
    if rim < 3:
        return False
    return _sew(w, t, new, rim)


@typed
def _sew(w: PtrF64, t: PtrI64, new: I64, rim: I64) -> Bool:
    """Write the faces between a new corner and a rim; False where that is no simple ring."""
    for r in range(rim):
        t[STARTS + t[RIM + 3 * r]] = -1
        t[STARTS + t[RIM + 3 * r + 1]] = -1
    f = 0
    for r in range(rim):
        while f < t[USED] and t[ALIVE + f] == 1:
            f += 1
        if f == MOST_FACES:
            return False
        start = t[RIM + 3 * r]
        if t[STARTS + start] >= 0:
            return False
        t[STARTS + start] = f
        _face(w, t, f, start, t[RIM + 3 * r + 1], new)
        outside = t[RIM + 3 * r + 2]
        t[6 * f + 3] = outside
        for e in range(3):
            if t[6 * outside + (e + 1) % 3] == start and t[6 * outside + e] == t[RIM + 3 * r + 1]:
                t[6 * outside + 3 + e] = f
    for r in range(rim):
        f = t[STARTS + t[RIM + 3 * r]]
        following = t[STARTS + t[RIM + 3 * r + 1]]
        if following < 0:
            return False
        t[6 * f + 4] = following
        t[6 * following + 5] = f
    return True


# ----------------------------------------------------------------------------------- closed forms


@typed
def _half_space(A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64, vertices: PtrF64, out: PtrF64) -> F64:
    """As `closest` where one of the two is a half-space: one farthest point of the other."""
    pair = local_f64(PAIR)
    if A[0] == HALF_SPACE:
        _place(A, TA, B, TB, pair)
        return _above(A[1], B, vertices, pair, 0, out)
    _place(B, TB, A, TA, pair)
    return _above(B[1], A, vertices, pair, 3, out)


@typed
def _above(
    radius: F64, other: PtrF64, vertices: PtrF64, pair: PtrF64, own: I64, out: PtrF64
) -> F64:
    """Distance of a piece from the half-space whose frame it is in; `own` is its place in `out`."""
    sign = 1.0 if own == 0 else -1.0
    _turn(pair, 0.0, 0.0, sign, out)
    x = 0.0
    y = 0.0
    z = 0.0
    if other[0] != HALF_SPACE:
        x, y, z = _farthest(other, vertices, -pair[6], -pair[7], -pair[8])
    elif pair[8] > -1.0 + 1e-14:
        for i in range(6):
            out[i] = pair[P_WORLD + i % 3]
        return -NEVER
    u = pair[0] * x + pair[1] * y + pair[2] * z + pair[9]
    v = pair[3] * x + pair[4] * y + pair[5] * z + pair[10]
    gap = pair[6] * x + pair[7] * y + pair[8] * z + pair[11] - other[1]
    for i in range(3):
        R = 12 + 3 * i
        p = pair[P_WORLD + i] + (pair[R] * u + pair[R + 1] * v)
        out[own + i] = p + radius * pair[R + 2]
        out[3 - own + i] = p + gap * pair[R + 2]
    return gap - radius


@typed
def _has_form(A: PtrF64, B: PtrF64) -> Bool:
    """Whether two pieces have a closed form of their distance."""
    if A[0] == BOX:
        return B[0] == POINT
    return (B[0] <= SEGMENT and A[0] <= SEGMENT) or (A[0] == POINT and B[0] == BOX)


@typed
def _by_form(A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64, out: PtrF64) -> F64:
    """As `closest` of points, segments, and a point and a box."""
    pair = local_f64(PAIR)
    if A[0] == BOX:
        _place(A, TA, B, TB, pair)
        return _box_and_point(A, B[1], pair, 0, out)
    if B[0] == BOX:
        _place(B, TB, A, TA, pair)
        return _box_and_point(B, A[1], pair, 3, out)
    return _segments(A, TA, B, TB, out)


@typed
def _box_and_point(box: PtrF64, radius: F64, pair: PtrF64, own: I64, out: PtrF64) -> F64:
    """Distance of a ball from the box whose frame it is in; `own` is the box's place in `out`."""
    f = local_f64(6)  # the nearest point of the box, and from it to the ball's centre
    far = 0.0
    inside = 1e300
    side = 0
    for i in range(3):
        x = pair[T + i]
        f[i] = min(box[2 + i], max(-box[2 + i], x))
        f[3 + i] = x - f[i]
        far += f[3 + i] * f[3 + i]
        deep = box[2 + i] - abs(x)
        if deep < inside:
            inside = deep
            side = i
    far = sqrt(far)
    if far > 0.0:
        for i in range(3):
            f[3 + i] /= far
    else:
        far = -inside
        sign = 1.0 if f[side] >= 0.0 else -1.0
        f[3 + side] = sign
        f[side] = sign * box[2 + side]
    sign = 1.0 if own == 0 else -1.0
    _turn(pair, sign * f[3], sign * f[4], sign * f[5], out)
    for i in range(3):
        R = 12 + 3 * i
        p = pair[P_WORLD + i] + (pair[R] * f[0] + pair[R + 1] * f[1] + pair[R + 2] * f[2])
        out[own + i] = p + box[1] * sign * out[6 + i]
        out[3 - own + i] = p + (far - radius) * sign * out[6 + i]
    return far - radius - box[1]


@typed
def _segments(A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64, out: PtrF64) -> F64:
    """As `closest` of points and segments."""
    d = local_f64(12)  # half segment of A, of B, from A's centre to B's, at right angles to both
    for i in range(3):
        a = offset(TA, 4 * i)
        b = offset(TB, 4 * i)
        d[i] = (a[0] * A[10] + a[1] * A[14] + a[2] * A[18]) * A[3]
        d[3 + i] = (b[0] * B[10] + b[1] * B[14] + b[2] * B[18]) * B[3]
        out[i] = a[0] * A[11] + a[1] * A[15] + a[2] * A[19]
        d[6 + i] = b[3] - a[3] + (b[0] * B[11] + b[1] * B[15] + b[2] * B[19] - out[i])
    d[9] = d[1] * d[5] - d[2] * d[4]
    d[10] = d[2] * d[3] - d[0] * d[5]
    d[11] = d[0] * d[4] - d[1] * d[3]
    u, v = _nearest_of_lines(d)
    far = 0.0
    for i in range(3):
        d[6 + i] += v * d[3 + i] - u * d[i]
        far += d[6 + i] * d[6 + i]
    far = sqrt(far)
    scale = 0.0
    for i in range(6):
        scale = max(scale, abs(d[i]))
    if far > TOUCHING * scale:
        for i in range(3):
            out[6 + i] = d[6 + i] / far
    else:
        _normal_of_crossing(d, out)
    for i in range(3):
        p = TA[4 * i + 3] + (out[i] + u * d[i])
        out[i] = p + A[1] * out[6 + i]
        out[3 + i] = p + (far - B[1]) * out[6 + i]
    return far - A[1] - B[1]


@typed
def _nearest_of_lines(d: PtrF64) -> tuple[F64, F64]:
    """The places where two segments are nearest, each from -1 to 1 along it.

    The unclamped solution comes of the cross product, which is exact also where they are nearly
    parallel.
    """
    aa = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    bb = d[3] * d[3] + d[4] * d[4] + d[5] * d[5]
    ab = d[0] * d[3] + d[1] * d[4] + d[2] * d[5]
    ac = d[0] * d[6] + d[1] * d[7] + d[2] * d[8]
    bc = d[3] * d[6] + d[4] * d[7] + d[5] * d[8]
    nn = d[9] * d[9] + d[10] * d[10] + d[11] * d[11]
    u = 0.0
    v = 0.0
    if nn > 0.0:
        x = d[7] * d[5] - d[8] * d[4]
        y = d[8] * d[3] - d[6] * d[5]
        z = d[6] * d[4] - d[7] * d[3]
        u = min(1.0, max(-1.0, (x * d[9] + y * d[10] + z * d[11]) / nn))
    if bb > 0.0:
        v = min(1.0, max(-1.0, (ab * u - bc) / bb))
    if aa > 0.0:
        u = min(1.0, max(-1.0, (ab * v + ac) / aa))
    return u, v


@typed
def _normal_of_crossing(d: PtrF64, out: PtrF64) -> None:
    """Write the normal of segments that touch: at right angles to both."""
    aa = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
    bb = d[3] * d[3] + d[4] * d[4] + d[5] * d[5]
    nn = d[9] * d[9] + d[10] * d[10] + d[11] * d[11]
    normal = offset(out, 6)
    if nn > 1e-16 * aa * bb:
        long = sqrt(nn)
        if d[9] * d[6] + d[10] * d[7] + d[11] * d[8] < 0.0:
            long = -long
        for i in range(3):
            normal[i] = d[9 + i] / long
    elif aa > bb:
        _across(d[0], d[1], d[2], normal)
    else:
        _across(d[3], d[4], d[5], normal)
