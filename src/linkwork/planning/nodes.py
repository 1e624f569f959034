"""The nodes of a search tree, kept so that the nearest one is found among thousands.

Nodes lie in leaves of sixteen, one in each float32 lane, and a box around each leaf says how near
its nodes can be. Sixteen boxes are looked at in one step; leaves whose box is farther than the best
node found are left out. A leaf that is full is cut in two at the middle of its longest side.
"""

from __future__ import annotations

from linkwork.compile.typed import (
    F32,
    F64,
    I64,
    WIDTH32,
    Bool,
    PtrF32,
    PtrF64,
    PtrI64,
    bits_of,
    f32,
    lane_min,
    lanes,
    lowest_bit,
    offset,
    pointer_f32,
    pointer_f64,
    pointer_i64,
    put,
    select,
    splat,
    typed,
)

COUNT, ROOM, N_LEAVES, X, PARENT, REACH, BOXES, POINTS, IDS, FILL, BOUNDS, TREE = range(12)
"""Places in the record of a tree: how many nodes there are and how many fit, how many leaves, then
the addresses of: positions (nodes, n), parents, how far each node reaches (see `connect`), boxes,
points in lanes, their nodes, how many each leaf has, and room for a bound of each leaf."""

FAR = 1e17  # where empty lanes are; its square is a float32


@typed
def is_full(tree: PtrI64) -> Bool:
    """Whether there may be no room for one more node: there is a leaf for every other one."""
    return tree[COUNT] >= tree[ROOM] or 2 * tree[N_LEAVES] >= tree[ROOM]


@typed
def leaf_bounds(tree: PtrI64, n: I64, x: PtrF32) -> I64:
    """The leaf whose box is nearest to x; the squared distances of all are written."""
    boxes, bounds = pointer_f32(tree[BOXES]), pointer_f32(tree[BOUNDS])
    best, nearest = f32(3e38), 0
    for first in range(0, tree[N_LEAVES], WIDTH32):
        total = splat(f32(0.0))
        for j in range(n):
            low = offset(boxes, 2 * (first * n + j * WIDTH32))
            below, above = lanes(low, 0) - x[j], x[j] - lanes(low, WIDTH32)
            gap = select(below > above, below, above)
            gap = select(gap > 0.0, gap, f32(0.0))
            total = total + gap * gap
        put(bounds, first, total)
        least = lane_min(total)
        if least < best:
            best = least
            nearest = first + lowest_bit(bits_of(total <= least))
    return nearest


@typed
def nearest_in_leaf(tree: PtrI64, leaf: I64, n: I64, x: PtrF32, best: F32) -> tuple[F32, I64]:
    """The squared distance of the leaf's nearest node and its lane, -1 where none is below best."""
    points = offset(pointer_f32(tree[POINTS]), leaf * n * WIDTH32)
    total = splat(f32(0.0))
    for j in range(n):
        apart = lanes(points, j * WIDTH32) - x[j]
        total = total + apart * apart
    least = lane_min(total)
    if least < best:
        return least, lowest_bit(bits_of(total <= least))
    return best, -1


@typed
def nearest_node(tree: PtrI64, n: I64, x: PtrF32) -> tuple[I64, I64]:
    """The node nearest to x, and its leaf."""
    ids, bounds = pointer_i64(tree[IDS]), pointer_f32(tree[BOUNDS])
    leaf = leaf_bounds(tree, n, x)
    best, place = nearest_in_leaf(tree, leaf, n, x, f32(3e38))
    node = ids[leaf * WIDTH32 + place]
    bounds[leaf] = f32(3e38)
    for first in range(0, tree[N_LEAVES], WIDTH32):
        bits = bits_of(lanes(bounds, first) < best)
        while bits != 0:
            other = first + lowest_bit(bits)
            bits &= bits - 1
            if bounds[other] < best:
                best, place = nearest_in_leaf(tree, other, n, x, best)
                if place >= 0:
                    leaf = other
                    node = ids[other * WIDTH32 + place]
    return node, leaf


@typed
def new_leaf(tree: PtrI64, n: I64) -> I64:
    """The number of one more leaf, which is empty."""
    leaf = tree[N_LEAVES]
    tree[N_LEAVES] = leaf + 1
    points = offset(pointer_f32(tree[POINTS]), leaf * n * WIDTH32)
    fill, boxes = pointer_i64(tree[FILL]), pointer_f32(tree[BOXES])
    fill[leaf] = 0
    for j in range(n):
        put(points, j * WIDTH32, splat(f32(FAR)))
        if leaf % WIDTH32 == 0:
            low = offset(boxes, 2 * (leaf * n + j * WIDTH32))
            put(low, 0, splat(f32(FAR)))
            put(low, WIDTH32, splat(f32(-FAR)))
    return leaf


@typed
def put_in_leaf(tree: PtrI64, n: I64, leaf: I64, node: I64, x: PtrF32, step: I64) -> None:
    """Put a node into a leaf that has room; x[0], x[step], ... are its coordinates."""
    fill, ids = pointer_i64(tree[FILL]), pointer_i64(tree[IDS])
    points = offset(pointer_f32(tree[POINTS]), leaf * n * WIDTH32)
    block = offset(pointer_f32(tree[BOXES]), 2 * n * (leaf // WIDTH32) * WIDTH32)
    place, lane = fill[leaf], leaf % WIDTH32
    for j in range(n):
        value = x[j * step]
        points[j * WIDTH32 + place] = value
        low = offset(block, 2 * j * WIDTH32 + lane)
        low[0] = min(low[0], value)
        low[WIDTH32] = max(low[WIDTH32], value)
    ids[leaf * WIDTH32 + place] = node
    fill[leaf] = place + 1


@typed
def empty_leaf(tree: PtrI64, n: I64, leaf: I64) -> None:
    """Take all nodes out of a leaf."""
    points = offset(pointer_f32(tree[POINTS]), leaf * n * WIDTH32)
    block = offset(pointer_f32(tree[BOXES]), 2 * n * (leaf // WIDTH32) * WIDTH32)
    fill = pointer_i64(tree[FILL])
    fill[leaf] = 0
    for j in range(n):
        put(points, j * WIDTH32, splat(f32(FAR)))
        low = offset(block, 2 * j * WIDTH32 + leaf % WIDTH32)
        low[0] = f32(FAR)
        low[WIDTH32] = f32(-FAR)


@typed
def longest_side(tree: PtrI64, n: I64, leaf: I64) -> tuple[I64, F32]:
    """The longest side of a leaf's box, and where its middle is."""
    block = offset(pointer_f32(tree[BOXES]), 2 * n * (leaf // WIDTH32) * WIDTH32)
    side, length, middle = 0, f32(-1.0), f32(0.0)
    for j in range(n):
        low = offset(block, 2 * j * WIDTH32 + leaf % WIDTH32)
        if low[WIDTH32] - low[0] > length:
            side = j
            length = low[WIDTH32] - low[0]
            middle = (low[WIDTH32] + low[0]) / 2.0
    return side, middle


@typed
def insert(tree: PtrI64, n: I64, leaf: I64, node: I64, x: PtrF32, copy: PtrF32) -> I64:
    """Put a node into a leaf, which is cut in two first where it is full; the leaf it is in."""
    fill = pointer_i64(tree[FILL])
    if fill[leaf] == WIDTH32:
        ids = offset(pointer_i64(tree[IDS]), leaf * WIDTH32)
        points = offset(pointer_f32(tree[POINTS]), leaf * n * WIDTH32)
        side, middle = longest_side(tree, n, leaf)
        other = new_leaf(tree, n)
        for j in range(n):
            put(copy, j * WIDTH32, lanes(points, j * WIDTH32))
        empty_leaf(tree, n, leaf)
        for k in range(WIDTH32):
            own = offset(copy, k)
            # where all are at one place each leaf gets half; ids[k] is read before it is written
            high = own[side * WIDTH32] > middle or (own[side * WIDTH32] == middle and k % 2 == 1)
            put_in_leaf(tree, n, other if high else leaf, ids[k], own, WIDTH32)
        if fill[leaf] == WIDTH32 or (x[side] > middle and fill[other] < WIDTH32):
            leaf = other
    put_in_leaf(tree, n, leaf, node, x, 1)
    return leaf


@typed
def add_node(
    tree: PtrI64, n: I64, x: PtrF64, parent: I64, leaf: I64, reach: F64, room: PtrF32
) -> I64:
    """Add a node at x, whose nearest lies in this leaf; the leaf that it is in.

    Its number is the count of nodes before, and there must be room for it. ``room``: 17 n numbers.
    """
    node = tree[COUNT]
    own, parents = offset(pointer_f64(tree[X]), node * n), pointer_i64(tree[PARENT])
    reaches = pointer_f64(tree[REACH])
    for j in range(n):
        own[j] = x[j]
        room[j] = f32(x[j])
    parents[node] = parent
    reaches[node] = reach
    if tree[N_LEAVES] == 0:
        leaf = new_leaf(tree, n)
    tree[COUNT] = node + 1
    return insert(tree, n, leaf, node, room, offset(room, n))


@typed
def nearest_nodes(
    tree: PtrI64, n: I64, x: PtrF64, count: I64, narrow: PtrF32, found: PtrI64
) -> None:
    """Write the nodes that are nearest to points (count, n). ``narrow``: room for n numbers."""
    for k in range(count):
        for j in range(n):
            narrow[j] = f32(x[k * n + j])
        found[k], _ = nearest_node(tree, n, narrow)


@typed
def add_nodes(
    tree: PtrI64, n: I64, x: PtrF64, parents: PtrI64, count: I64, reach: F64, narrow: PtrF32
) -> None:
    """Add nodes at points (count, n), for which there must be room. ``narrow``: 17 n numbers."""
    for k in range(count):
        own, leaf = offset(x, k * n), 0
        if tree[COUNT] > 0:
            for j in range(n):
                narrow[j] = f32(own[j])
            _, leaf = nearest_node(tree, n, narrow)
        add_node(tree, n, own, parents[k], leaf, reach, narrow)
