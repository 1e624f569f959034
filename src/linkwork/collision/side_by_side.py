"""Signed distances of many pairs of pieces, eight descents side by side, a pair in a lane.

The descent is that of `linkwork.collision.narrow`. Of at most four corners the point nearest to the
origin is sought without branches: the least of what the newest corner, its three edges and its
three faces give. What ends is proven as there: the corner that is least along the direction to this
point bounds the distance from below. Cylinders and ellipsoids take a few steps more, without leaps.
A lane that ends takes the next pair. What does not come nearer, is nearer than `TOUCHING` or
overlaps is left to `narrow.closest`; so is a half-space and what has a closed form.
"""

from linkwork.collision.narrow import (
    BOX,
    CYLINDER,
    ELLIPSOID,
    GAP,
    HULL,
    MOST_STEPS,
    ROUNDING,
    SEGMENT,
    TOUCHING,
    farthest_of_list,
)
from linkwork.collision.pieces import GRID, OUTER
from linkwork.compile.typed import (
    F64,
    I64,
    WIDTH,
    Bool,
    Lanes,
    PtrF64,
    bits_of,
    f64,
    i64,
    lanes,
    local_f64,
    lowest_bit,
    offset,
    put,
    select,
    splat,
    sqrt,
    typed,
)

PLACED = 16
"""Numbers of a piece in the world: its pose and its sphere, as they lie in its row."""

NAN = float("nan")
SHARP, ROUND, BALL = -1.0, -2.0, -3.0  # in the place of a head: no lists, a cylinder, an ellipsoid
FLAT = 1e-26  # the least square of the sine between two edges of a face

# how the numbers of the descents lie, each once for every lane: the rotation and the place of B in
# A; three corners of B - A, and the points on A that they are of; the weights of these and of the
# newest corner in the nearest point
TURN = 0
PLACE = 9 * WIDTH
CORNERS = 12 * WIDTH
POINTS = 21 * WIDTH
WEIGHTS = 30 * WIDTH
# the direction in A, the farthest points along it, and what they are of
WAY = 33 * WIDTH
FARTHEST = 36 * WIDTH
FARTHEST_B = 39 * WIDTH
HALVES = 42 * WIDTH
HALVES_B = 45 * WIDTH
HEADS = 48 * WIDTH
HEADS_B = 51 * WIDTH
# what is known of the distance, and the most that matters
FOUND = 54 * WIDTH
SCALE = 55 * WIDTH
STEPS = 56 * WIDTH
HIGH = 57 * WIDTH
LONG = 58 * WIDTH
EIGHT = 59 * WIDTH


@typed
def placed_piece(piece: PtrF64, pose: PtrF64, out: PtrF64) -> None:
    """Write how a piece stands in the world (3, 4), and its sphere, from its body's origin."""
    for i in range(3):
        x, y, z = pose[4 * i], pose[4 * i + 1], pose[4 * i + 2]
        for j in range(4):
            out[4 * i + j] = x * piece[8 + j] + (y * piece[12 + j] + z * piece[16 + j])
        out[12 + i] = x * piece[20] + (y * piece[21] + z * piece[22])
    out[15] = piece[23]


@typed
def is_alone(A: PtrF64, B: PtrF64) -> Bool:
    """Whether a pair is left to `narrow.closest`: a half-space, or with a closed form."""
    a, b = A[0], B[0]
    if a > HULL or b > HULL:
        return True
    return (a <= SEGMENT and b <= SEGMENT) or (a == 0.0 and b == BOX) or (a == BOX and b == 0.0)


@typed
def spheres_apart(A: PtrF64, TA: PtrF64, B: PtrF64, TB: PtrF64) -> F64:
    """Gap of the spheres of two placed pieces."""
    x = TB[3] - TA[3] + (B[12] - A[12])
    y = TB[7] - TA[7] + (B[13] - A[13])
    z = TB[11] - TA[11] + (B[14] - A[14])
    return sqrt(x * x + (y * y + z * z)) - (A[15] + B[15])


@typed
def set_out(
    s: PtrF64,
    k: I64,
    A: PtrF64,
    placed_A: PtrF64,
    TA: PtrF64,
    B: PtrF64,
    placed_B: PtrF64,
    TB: PtrF64,
    bound: F64,
) -> None:
    """Begin a descent in lane k, along the way between the centres of the spheres."""
    x, y, z = TB[3] - TA[3], TB[7] - TA[7], TB[11] - TA[11]
    cx, cy, cz = (
        x + (placed_B[12] - placed_A[12]),
        y + (placed_B[13] - placed_A[13]),
        z + (placed_B[14] - placed_A[14]),
    )
    if not cx * cx + (cy * cy + cz * cz) > 0.0:
        cx = 1.0
    x += placed_B[3] - placed_A[3]
    y += placed_B[7] - placed_A[7]
    z += placed_B[11] - placed_A[11]
    for i in range(3):
        u, v, w = placed_A[i], placed_A[4 + i], placed_A[8 + i]
        for j in range(3):
            turn = u * placed_B[j] + (v * placed_B[4 + j] + w * placed_B[8 + j])
            s[TURN + (3 * i + j) * WIDTH + k] = turn
        s[PLACE + i * WIDTH + k] = u * x + (v * y + w * z)
        s[WAY + i * WIDTH + k] = u * cx + (v * cy + w * cz)
    for i in range(9):
        s[CORNERS + i * WIDTH + k] = NAN
    core_of(A, offset(s, HALVES + k), offset(s, HEADS + k))
    core_of(B, offset(s, HALVES_B + k), offset(s, HEADS_B + k))
    s[FOUND + k] = 1e300
    s[LONG + k] = sqrt(cx * cx + (cy * cy + cz * cz))
    s[SCALE + k] = 0.0
    s[STEPS + k] = 0.0
    s[HIGH + k] = bound + (A[1] + B[1])


@typed
def core_of(row: PtrF64, halves: PtrF64, lists: PtrF64) -> None:
    """Write the half edges of a box around the origin; of a hull, where its lists of vertices are.

    That is where the table of its cells is, numbers from a cell to the next, and where its vertices
    begin.
    """
    lists[0] = SHARP
    if row[0] == HULL:
        many = row[2] > 0.0
        lists[0] = row[5] + 3.0 * row[6] + (f64(OUTER) if many else 0.0)
        lists[WIDTH] = 2.0 if many else 0.0
        lists[2 * WIDTH] = row[5]
    round_ = row[0] == SEGMENT or row[0] == CYLINDER
    halves[0] = row[2]
    halves[WIDTH] = row[2] if round_ else row[3]
    halves[2 * WIDTH] = row[3] if round_ else row[4]
    if row[0] == CYLINDER:
        lists[0] = ROUND
    elif row[0] == ELLIPSOID:
        lists[0] = BALL


@typed
def cells(x: Lanes, y: Lanes, z: Lanes) -> Lanes:
    """The cells of directions in the table of `pieces.by_direction`, where `GRID` is 4."""
    u, v, w = abs(x), abs(y), abs(z)
    most = select(v > u, v, u)
    most = select(w > most, w, most)
    is_x, is_y = u >= most, v >= most
    main = select(is_x, x, select(is_y, y, z))
    a = select(is_x, y, select(is_y, z, x))
    b = select(is_x, z, select(is_y, x, y))
    face = select(is_x, splat(0.0), select(is_y, splat(2.0), splat(4.0)))
    face = select(main < 0.0, face + 1.0, face)
    half = 0.5 * most
    i = select(a >= 0.0, splat(2.0), splat(1.0))
    i = select(abs(a) >= half, select(a >= 0.0, splat(3.0), splat(0.0)), i)
    j = select(b >= 0.0, splat(2.0), splat(1.0))
    j = select(abs(b) >= half, select(b >= 0.0, splat(3.0), splat(0.0)), j)
    return (face * f64(GRID) + i) * f64(GRID) + j


@typed
def dot(x: Lanes, y: Lanes, z: Lanes, u: Lanes, v: Lanes, w: Lanes) -> Lanes:
    """The inner products of vectors."""
    return x * u + (y * v + z * w)


@typed
def cross(x: Lanes, y: Lanes, z: Lanes, u: Lanes, v: Lanes, w: Lanes) -> tuple[Lanes, Lanes, Lanes]:
    """The cross products of vectors."""
    return y * w - z * v, z * u - x * w, x * v - y * u


@typed
def supports(s: PtrF64, busy: I64, vertices: PtrF64) -> None:
    """Write the farthest point of A along each direction, and of B against it."""
    x, y, z = lanes(s, WAY), lanes(s, WAY + WIDTH), lanes(s, WAY + 2 * WIDTH)
    farthest(offset(s, HALVES), offset(s, HEADS), x, y, z, busy, vertices, offset(s, FARTHEST))
    t = offset(s, TURN)
    u = -dot(x, y, z, lanes(t, 0), lanes(t, 3 * WIDTH), lanes(t, 6 * WIDTH))
    v = -dot(x, y, z, lanes(t, WIDTH), lanes(t, 4 * WIDTH), lanes(t, 7 * WIDTH))
    w = -dot(x, y, z, lanes(t, 2 * WIDTH), lanes(t, 5 * WIDTH), lanes(t, 8 * WIDTH))
    farthest(
        offset(s, HALVES_B), offset(s, HEADS_B), u, v, w, busy, vertices, offset(s, FARTHEST_B)
    )


@typed
def farthest(
    halves: PtrF64,
    heads: PtrF64,
    x: Lanes,
    y: Lanes,
    z: Lanes,
    busy: I64,
    vertices: PtrF64,
    out: PtrF64,
) -> None:
    """Write the farthest points of eight cores, each along its direction."""
    a, b, c = lanes(halves, 0), lanes(halves, WIDTH), lanes(halves, 2 * WIDTH)
    put(out, 0, select(x >= 0.0, a, -a))
    put(out, WIDTH, select(y >= 0.0, b, -b))
    put(out, 2 * WIDTH, select(z >= 0.0, c, -c))
    head = lanes(heads, 0)
    curved = bits_of(head < SHARP) & busy
    if curved != 0:
        flat = select(head == ROUND, splat(0.0), c)
        p, q, r = a * x, b * y, flat * z
        long = sqrt(dot(p, q, r, p, q, r))
        over = select(long > 0.0, 1.0 / select(long > 0.0, long, 1.0), 0.0)
        put(out, 0, select(head < SHARP, a * (p * over), lanes(out, 0)))
        put(out, WIDTH, select(head < SHARP, b * (q * over), lanes(out, WIDTH)))
        put(out, 2 * WIDTH, select(head == BALL, c * (r * over), lanes(out, 2 * WIDTH)))
    at, way = local_f64(WIDTH), local_f64(3 * WIDTH)
    put(at, 0, head + lanes(heads, WIDTH) * cells(x, y, z))
    put(way, 0, x)
    put(way, WIDTH, y)
    put(way, 2 * WIDTH, z)
    bits = bits_of(head >= 0.0) & busy
    while bits != 0:
        k = lowest_bit(bits)
        bits &= bits - 1
        cell = offset(vertices, i64(at[k]))
        of = offset(vertices, i64(heads[2 * WIDTH + k] + cell[0]))
        u, v, w = way[k], way[WIDTH + k], way[2 * WIDTH + k]
        out[k], out[WIDTH + k], out[2 * WIDTH + k] = farthest_of_list(of, i64(cell[1]), u, v, w)


@typed
def nearest_of_corners(
    s: PtrF64, dx: Lanes, dy: Lanes, dz: Lanes
) -> tuple[Lanes, Lanes, Lanes, Lanes]:
    """The nearest points to the origin of three corners and a new one, which all of them need.

    Keeps the corners that they need and writes the weights, the new corner's first.
    """
    ax, ay, az = (
        lanes(s, CORNERS) - dx,
        lanes(s, CORNERS + WIDTH) - dy,
        lanes(s, CORNERS + 2 * WIDTH) - dz,
    )
    bx = lanes(s, CORNERS + 3 * WIDTH) - dx
    by = lanes(s, CORNERS + 4 * WIDTH) - dy
    bz = lanes(s, CORNERS + 5 * WIDTH) - dz
    cx = lanes(s, CORNERS + 6 * WIDTH) - dx
    cy = lanes(s, CORNERS + 7 * WIDTH) - dy
    cz = lanes(s, CORNERS + 8 * WIDTH) - dz
    aa, bb, cc = (
        dot(ax, ay, az, ax, ay, az),
        dot(bx, by, bz, bx, by, bz),
        dot(cx, cy, cz, cx, cy, cz),
    )
    # across edges: the squares of the distances of their lines are ratios, of which the least is
    # sought without a division
    ux, uy, uz = cross(dx, dy, dz, ax, ay, az)
    vx, vy, vz = cross(dx, dy, dz, bx, by, bz)
    wx, wy, wz = cross(dx, dy, dz, cx, cy, cz)
    top, low = dot(dx, dy, dz, dx, dy, dz), splat(1.0)
    t = -dot(dx, dy, dz, ax, ay, az)
    other = dot(ux, uy, uz, ux, uy, uz)
    is_a = (t > 0.0) & (t < aa)
    top, low = select(is_a, other, top), select(is_a, aa, low)
    t = -dot(dx, dy, dz, bx, by, bz)
    other = dot(vx, vy, vz, vx, vy, vz)
    is_b = (t > 0.0) & (t < bb) & (other * low < top * bb)
    top, low = select(is_b, other, top), select(is_b, bb, low)
    t = -dot(dx, dy, dz, cx, cy, cz)
    other = dot(wx, wy, wz, wx, wy, wz)
    is_c = (t > 0.0) & (t < cc) & (other * low < top * cc)
    top, low = select(is_c, other, top), select(is_c, cc, low)
    # faces
    nx, ny, nz = cross(ax, ay, az, bx, by, bz)
    nn, high = dot(nx, ny, nz, nx, ny, nz), dot(nx, ny, nz, dx, dy, dz)
    p, r = -dot(nx, ny, nz, vx, vy, vz), dot(nx, ny, nz, ux, uy, uz)
    is_ab = (p > 0.0) & (r > 0.0) & (p + r < nn) & (nn > FLAT * (aa * bb))
    is_ab = is_ab & (high * high * low < top * nn)
    top, low = select(is_ab, high * high, top), select(is_ab, nn, low)
    nx, ny, nz = cross(bx, by, bz, cx, cy, cz)
    nn, high = dot(nx, ny, nz, nx, ny, nz), dot(nx, ny, nz, dx, dy, dz)
    p, r = -dot(nx, ny, nz, wx, wy, wz), dot(nx, ny, nz, vx, vy, vz)
    is_bc = (p > 0.0) & (r > 0.0) & (p + r < nn) & (nn > FLAT * (bb * cc))
    is_bc = is_bc & (high * high * low < top * nn)
    top, low = select(is_bc, high * high, top), select(is_bc, nn, low)
    nx, ny, nz = cross(cx, cy, cz, ax, ay, az)
    nn, high = dot(nx, ny, nz, nx, ny, nz), dot(nx, ny, nz, dx, dy, dz)
    p, r = -dot(nx, ny, nz, ux, uy, uz), dot(nx, ny, nz, wx, wy, wz)
    is_ca = (p > 0.0) & (r > 0.0) & (p + r < nn) & (nn > FLAT * (cc * aa))
    is_ca = is_ca & (high * high * low < top * nn)
    # the last that was better is the least
    face = is_ab | is_bc | is_ca
    is_ab = is_ab & ~(is_bc | is_ca)
    is_bc = is_bc & ~is_ca
    is_b = is_b & ~is_c
    is_a = is_a & ~(is_b | is_c)
    edge = (is_a | is_b | is_c) & ~face
    first_a = is_ab | (is_a & edge)
    first_b = is_bc | (is_b & edge)
    first_c = is_ca | (is_c & edge)
    second_a, second_b, second_c = is_ca, is_ab, is_bc
    # what is kept: edges from the new corner, none where they are not needed
    ex = select(first_a, ax, select(first_b, bx, select(first_c, cx, 0.0)))
    ey = select(first_a, ay, select(first_b, by, select(first_c, cy, 0.0)))
    ez = select(first_a, az, select(first_b, bz, select(first_c, cz, 0.0)))
    fx = select(second_a, ax, select(second_b, bx, select(second_c, cx, 0.0)))
    fy = select(second_a, ay, select(second_b, by, select(second_c, cy, 0.0)))
    fz = select(second_a, az, select(second_b, bz, select(second_c, cz, 0.0)))
    for i in range(3):
        q = lanes(s, FARTHEST + i * WIDTH)
        a = lanes(s, POINTS + i * WIDTH)
        b = lanes(s, POINTS + (3 + i) * WIDTH)
        c = lanes(s, POINTS + (6 + i) * WIDTH)
        one = select(first_a, a, select(first_b, b, select(first_c, c, q)))
        two = select(second_a, a, select(second_b, b, select(second_c, c, q)))
        put(s, POINTS + i * WIDTH, q)
        put(s, POINTS + (3 + i) * WIDTH, one)
        put(s, POINTS + (6 + i) * WIDTH, two)
    put(s, CORNERS, dx)
    put(s, CORNERS + WIDTH, dy)
    put(s, CORNERS + 2 * WIDTH, dz)
    put(s, CORNERS + 3 * WIDTH, dx + ex)
    put(s, CORNERS + 4 * WIDTH, dy + ey)
    put(s, CORNERS + 5 * WIDTH, dz + ez)
    put(s, CORNERS + 6 * WIDTH, dx + fx)
    put(s, CORNERS + 7 * WIDTH, dy + fy)
    put(s, CORNERS + 8 * WIDTH, dz + fz)
    # the foot of the origin, at right angles to what is kept to all digits
    ux, uy, uz = cross(dx, dy, dz, ex, ey, ez)
    vx, vy, vz = cross(dx, dy, dz, fx, fy, fz)
    nx, ny, nz = cross(ex, ey, ez, fx, fy, fz)
    ee, nn = dot(ex, ey, ez, ex, ey, ez), dot(nx, ny, nz, nx, ny, nz)
    over = 1.0 / select(face, nn, select(edge, ee, 1.0))
    p = select(face, -dot(nx, ny, nz, vx, vy, vz), -dot(dx, dy, dz, ex, ey, ez)) * over
    r = dot(nx, ny, nz, ux, uy, uz) * over
    put(s, WEIGHTS, 1.0 - p - r)
    put(s, WEIGHTS + WIDTH, p)
    put(s, WEIGHTS + 2 * WIDTH, r)
    high = dot(nx, ny, nz, dx, dy, dz)
    tx, ty, tz = cross(ex, ey, ez, ux, uy, uz)
    return (
        select(face, nx * high, select(edge, tx, dx)),
        select(face, ny * high, select(edge, ty, dy)),
        select(face, nz * high, select(edge, tz, dz)),
        over,
    )


@typed
def look(s: PtrF64, busy: I64, vertices: PtrF64, corner: PtrF64) -> tuple[I64, I64]:
    """Write the corners that are least along the directions; which descents go on, which are met.

    The others are over their bound. Where they are met, the nearest points are those of the corners
    and weights that were there before.
    """
    supports(s, busy, vertices)
    x, y, z = lanes(s, FARTHEST_B), lanes(s, FARTHEST_B + WIDTH), lanes(s, FARTHEST_B + 2 * WIDTH)
    scale = lanes(s, SCALE)
    below = splat(0.0)
    for i in range(3):
        turn = offset(s, TURN + 3 * i * WIDTH)
        d = dot(x, y, z, lanes(turn, 0), lanes(turn, WIDTH), lanes(turn, 2 * WIDTH))
        d = d + (lanes(s, PLACE + i * WIDTH) - lanes(s, FARTHEST + i * WIDTH))
        put(corner, i * WIDTH, d)
        below = below + d * lanes(s, WAY + i * WIDTH)
        d = abs(d)
        scale = select(d > scale, d, scale)
    put(s, SCALE, scale)
    found, below = lanes(s, FOUND), below / lanes(s, LONG)
    over = bits_of(below > lanes(s, HIGH)) & busy
    met = bits_of(found - below <= found * GAP + scale * ROUNDING) & busy & ~over
    return busy & ~(over | met), met


@typed
def turn(s: PtrF64, busy: I64, corner: PtrF64) -> I64:
    """Turn the descents to the points that are nearest now; which of them come nearer."""
    x, y, z, over = nearest_of_corners(
        s, lanes(corner, 0), lanes(corner, WIDTH), lanes(corner, 2 * WIDTH)
    )
    put(s, WAY, x)
    put(s, WAY + WIDTH, y)
    put(s, WAY + 2 * WIDTH, z)
    long = sqrt(dot(x, y, z, x, y, z))
    near = long * over
    steps = lanes(s, STEPS) + 1.0
    put(s, STEPS, steps)
    good = (near < lanes(s, FOUND)) & (near > lanes(s, SCALE) * TOUCHING)
    put(s, LONG, long)
    put(s, FOUND, near)
    return bits_of(good & (steps < f64(MOST_STEPS))) & busy


@typed
def answer(
    s: PtrF64, k: I64, A: PtrF64, placed: PtrF64, TA: PtrF64, B: PtrF64, out: PtrF64
) -> None:
    """Write the record of a descent that is met, in the world."""
    own = offset(s, k)
    found = own[FOUND]
    out[0] = found - (A[1] + B[1])
    p, r, t = own[WEIGHTS], own[WEIGHTS + WIDTH], own[WEIGHTS + 2 * WIDTH]
    near, way = local_f64(3), local_f64(3)
    over = 1.0 / own[LONG]
    for i in range(3):
        at = offset(own, POINTS + i * WIDTH)
        near[i] = p * at[0] + (r * at[3 * WIDTH] + t * at[6 * WIDTH])
        way[i] = over * own[WAY + i * WIDTH]
    for i in range(3):
        R = offset(placed, 4 * i)
        n = R[0] * way[0] + (R[1] * way[1] + R[2] * way[2])
        at_A = TA[4 * i + 3] + (R[3] + (R[0] * near[0] + (R[1] * near[1] + R[2] * near[2])))
        out[1 + i] = at_A + A[1] * n
        out[4 + i] = at_A + (found - B[1]) * n
        out[7 + i] = n
