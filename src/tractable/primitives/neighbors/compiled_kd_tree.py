"""Construction and search of k-d trees."""

import numpy as np

from tractable.primitives.compiled_options import compiled, entry
from tractable.primitives.neighbors.compiled import (
    cut_back,
    finished,
    in_order,
    key_limit,
    new_pairs,
    replace_worst,
    room_for,
    tile_keys,
)

#: A bound is a sum of terms added and taken away again: what its rounding cannot reach.
_SURE = 1.0 - 1e-12


#: Nodes that wait: the right children above a node. Every split halves, so that 2⁶⁴ points have no more.
_WAITING = 64

#: The most coordinates of which a pivot is a rank.
_SAMPLE = 128


@entry(
    "MATRIX OUT_INDICES INT OUT_INDEX_MATRIX OUT_INDICES OUT_VECTOR OUT_VECTOR OUT_VECTOR OUT_MATRIX",
    fastmath=False,
)
def build(points, order, leaf_size, nodes, dims, lows, highs, packed, around):  # type: ignore[no-untyped-def]
    """Split at medians of the widest side, down to leaves; return how many nodes were made.

    Nodes come in preorder: the left child follows its parent. A row of `nodes` is first point, last + 1,
    right child (0 for a leaf), depth; `around` is the box of all points.
    """
    # Where leaves will be packed lie the rows that are not yet, in the order of `order`: parts are read one
    # after another.
    rows = packed.reshape(points.shape)
    for i in range(len(points)):
        for c in range(points.shape[1]):
            rows[i, c] = points[i, c]
    made, waiting, todo = 0, 1, np.empty((_WAITING + 1, 4), np.int64)
    boxes = np.empty((_WAITING + 1, 2, points.shape[1]))
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3] = 0, len(points), -1, 0
    _box(rows, 0, len(points), around)
    for c in range(points.shape[1]):
        boxes[0, 0, c], boxes[0, 1, c] = around[0, c], around[1, c]
    sample = np.empty(_SAMPLE)
    while waiting:
        waiting -= 1
        first, last, parent, depth = todo[waiting, 0], todo[waiting, 1], todo[waiting, 2], todo[waiting, 3]
        node = made
        made += 1
        if parent >= 0:
            nodes[parent, 2] = node
        nodes[node, 0], nodes[node, 1], nodes[node, 2], nodes[node, 3] = first, last, 0, depth
        dim, widest, box = 0, 0.0, boxes[waiting]
        if last - first > leaf_size:
            for c in range(points.shape[1]):
                if box[1, c] - box[0, c] > widest:
                    dim, widest = c, box[1, c] - box[0, c]
        if widest == 0.0:
            _sort(order[first:last])
            _pack(points, order, first, last, packed)
            continue
        middle = (first + last) // 2
        _select(rows, order, dim, first, last - 1, middle, sample)
        _box(rows, middle, last, box)
        _box(rows, first, middle, boxes[waiting + 1])
        dims[node], lows[node], highs[node] = dim, boxes[waiting + 1, 1, dim], box[0, dim]
        todo[waiting, 0], todo[waiting, 1] = middle, last
        todo[waiting, 2], todo[waiting, 3] = node, depth + 1
        todo[waiting + 1, 0], todo[waiting + 1, 1] = first, middle
        todo[waiting + 1, 2], todo[waiting + 1, 3] = -1, depth + 1
        waiting += 2
    return made


@compiled()
def _box(rows, first, last, box):  # type: ignore[no-untyped-def]
    """Fill the smallest and the largest coordinates of rows."""
    for c in range(rows.shape[1]):
        low = high = other_low = other_high = rows[first, c]
        for i in range(first + 1, last - 1, 2):  # two at a time: none waits for the one before
            a, b = rows[i, c], rows[i + 1, c]
            low, high = min(low, a), max(high, a)
            other_low, other_high = min(other_low, b), max(other_high, b)
        a = rows[last - 1, c]
        box[0, c], box[1, c] = min(low, other_low, a), max(high, other_high, a)


@compiled()
def _sort(ids):  # type: ignore[no-untyped-def]
    """Sort integers in place (Shell's sort, Knuth's gaps); they are few, or mostly sorted already."""
    gap = 1
    while gap < len(ids) // 3:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, len(ids)):
            a, j = ids[i], i
            while j >= gap and ids[j - gap] > a:
                ids[j] = ids[j - gap]
                j -= gap
            ids[j] = a
        gap //= 3


@compiled()
def _pack(points, order, first, last, packed):  # type: ignore[no-untyped-def]
    """Write a leaf's coordinates in one piece, one coordinate after another."""
    d, at = points.shape[1], first * points.shape[1]
    for c in range(d):
        for i in range(first, last):
            packed[at] = points[order[i], c]
            at += 1


@compiled()
def _select(rows, order, dim, lo, hi, middle, sample):  # type: ignore[no-untyped-def]
    """Bring the rows with the smaller coordinates of a range before its middle.

    A pivot is a rank of some of the coordinates, a little beyond the middle as seen from the nearer end
    (Floyd and Rivest 1975): the first leaves half of the range and the second little of that.
    """
    while lo < hi:
        n = hi - lo + 1
        m = min(_SAMPLE, max(1, n // 16))
        for t in range(m):
            sample[t] = rows[lo + (2 * t + 1) * n // (2 * m), dim]
        rank = m * (middle - lo) // n
        margin = int(0.7 * np.sqrt(m)) if m > 8 else 0
        rank += margin if 2 * (middle - lo) <= n else -margin
        pivot = _nth(sample, m, min(max(rank, 0), m - 1))
        split = _parted(rows, order, dim, lo, hi, pivot, False)
        if middle < split:
            hi = split - 1
        elif split > lo:
            lo = split
        else:  # none is smaller
            split = _parted(rows, order, dim, lo, hi, pivot, True)
            if middle < split:
                break
            lo = split


@compiled()
def _parted(rows, order, dim, lo, hi, pivot, equal):  # type: ignore[no-untyped-def]
    """Bring the rows below the pivot, or `equal` to it too, to the front; return where the others begin.

    Without branches: which way a row goes cannot be foreseen.
    """
    split = lo
    for i in range(lo, hi + 1):
        v = rows[i, dim]
        for c in range(rows.shape[1]):
            rows[i, c], rows[split, c] = rows[split, c], rows[i, c]
        order[i], order[split] = order[split], order[i]
        split += (v <= pivot) if equal else (v < pivot)
    return split


@compiled()
def _nth(values, n, rank):  # type: ignore[no-untyped-def]
    """Return the value of a rank among the first n, whose order is lost (Hoare's selection)."""
    lo, hi = 0, n - 1
    while lo < hi:
        pivot, i, j = values[(lo + hi) >> 1], lo, hi
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            hi = j
        elif rank >= i:
            lo = i
        else:
            break
    return values[rank]


# order, nodes, dims, lows, highs, packed, box
_tree = "INDICES INDEX_MATRIX INDICES DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR MATRIX"


@entry(
    f"MATRIX INT INT FLOAT {_tree} OUT_MATRIX OUT_INDEX_MATRIX OUT_INDICES OUT_INDICES OUT_LABELS",
    fastmath=False,
)
def nearest(  # type: ignore[no-untyped-def]
    x, k, form, power, order, nodes, dims, lows, highs, packed, box, out_d, out_i, visited, measured, entered
):
    """See `tractable.primitives.neighbors.kd_tree`; `entered` ends as the last row to enter a leaf."""
    tree = nodes, dims, lows, highs
    d = x.shape[1]
    keys, side = np.empty(_largest_leaf(nodes)), np.empty(d)
    todo = _todo(nodes)
    for r in range(len(x)):
        row, near, ids = x[r], out_d[r], out_i[r]
        near[:] = np.inf
        ids[:] = len(order)
        limit, seen = np.inf, 0
        top = _start(row, box, form, side, todo)
        visited[r] = 0
        while True:
            node, top, opened = _next_leaf(row, limit, form, tree, side, todo, top)
            if node < 0:
                break
            visited[r] += opened
            entered[node] = r
            first, last = nodes[node, 0], nodes[node, 1]
            n = last - first
            seen += n
            tile = packed[first * d : last * d].reshape((d, n))
            tile_keys(row, tile, n, form, keys)
            for j in range(n):
                if keys[j] <= limit:
                    i = order[first + j]
                    apart = finished(keys[j], row, tile[:, j], form, power)
                    if apart < near[0] or (apart == near[0] and i < ids[0]):
                        replace_worst(near, ids, k, apart, i)
                        limit = key_limit(near[0], d, form)
        in_order(near, ids, k)
        measured[r] = seen


@entry(f"MATRIX DENSE_VECTOR INT FLOAT {_tree} OUT_INDICES OUT_INDICES", fastmath=False)
def within(  # type: ignore[no-untyped-def]
    x, radii, form, power, order, nodes, dims, lows, highs, packed, box, visited, measured
):
    tree = nodes, dims, lows, highs
    d = x.shape[1]
    keys, side = np.empty(_largest_leaf(nodes)), np.empty(d)
    todo = _todo(nodes)
    found, m = new_pairs(), 0
    for r in range(len(x)):
        row, limit = x[r], key_limit(radii[r], d, form)
        top = _start(row, box, form, side, todo)
        visited[r] = measured[r] = 0
        while True:
            node, top, opened = _next_leaf(row, limit, form, tree, side, todo, top)
            if node < 0:
                break
            visited[r] += opened
            first, last = nodes[node, 0], nodes[node, 1]
            n = last - first
            measured[r] += n
            tile = packed[first * d : last * d].reshape((d, n))
            tile_keys(row, tile, n, form, keys)
            found = room_for(found, m + n)
            for j in range(n):
                if keys[j] <= limit:
                    apart = finished(keys[j], row, tile[:, j], form, power)
                    if apart <= radii[r]:
                        found[0][m], found[1][m], found[2][m] = r, order[first + j], apart
                        m += 1
    return found[0][:m].copy(), found[1][:m].copy(), found[2][:m].copy()


@entry(f"MATRIX INDICES INT INT {_tree} OUT_MATRICES", fastmath=False)
def scatters(  # type: ignore[no-untyped-def]
    points, ks, start, end, order, nodes, dims, lows, highs, packed, box, out
):
    """Sum (y - x)(y - x)ᵀ over the k points nearest to x, for points x `order[start:end]` and each k of `ks`.

    Numbers of neighbours grow, and count x itself. Points are met leaf by leaf: the k-th neighbour of a point
    is no farther than that of the one before and the way between the two, so few candidates are collected.
    """
    tree = nodes, dims, lows, highs
    d, most, last_k = points.shape[1], _largest_leaf(nodes), len(ks) - 1
    k = ks[last_k]
    keys, side, todo = np.empty(most), np.empty(d), _todo(nodes)
    room = 3 * k + most
    near, ids, worst = np.empty(room + most), np.empty(room + most, np.int64), np.inf
    for r in range(start, end):
        row, limit = points[order[r]], np.inf
        if r > start:
            before, step = points[order[r - 1]], 0.0
            for c in range(d):
                step += (row[c] - before[c]) ** 2
            limit = (np.sqrt(step) + np.sqrt(worst)) ** 2 * (1.0 + 1e-9)
        top, m = _start(row, box, 0, side, todo), 0
        while True:
            node, top, _ = _next_leaf(row, limit, 0, tree, side, todo, top)
            if node < 0:
                break
            first, last = nodes[node, 0], nodes[node, 1]
            n = last - first
            tile_keys(row, packed[first * d : last * d].reshape((d, n)), n, 0, keys)
            for j in range(n):
                near[m], ids[m] = keys[j], order[first + j]
                m += keys[j] <= limit
            if m > room:
                cut_back(near, ids, m, k)
                m, limit = k, _largest(near, k)
        for a in range(last_k, -1, -1):
            cut_back(near, ids, m if a == last_k else ks[a + 1], ks[a])
        worst = _largest(near, k)
        held = (r - start) * len(ks)
        _add_scatters(row, points, ids, ks, out[held : held + len(ks)])


@compiled()
def _largest(values, n):  # type: ignore[no-untyped-def]
    found = values[0]
    for j in range(1, n):
        found = max(found, values[j])
    return found


@compiled()
def _add_scatters(row, points, ids, ks, out):  # type: ignore[no-untyped-def]
    """Fill the sum of (y - x)(y - x)ᵀ over the first k points, for each k, (len(ks), d, d)."""
    d, begin = len(row), 0
    for a in range(len(ks)):
        for u in range(d):
            for v in range(u + 1):
                out[a, u, v] = out[a - 1, u, v] if a else 0.0
        for j in range(begin, ks[a]):
            y = points[ids[j]]
            for u in range(d):
                for v in range(u + 1):
                    out[a, u, v] += (y[u] - row[u]) * (y[v] - row[v])
        for u in range(d):
            for v in range(u):
                out[a, v, u] = out[a, u, v]
        begin = ks[a]


@compiled()
def _next_leaf(row, limit, form, tree, side, todo, top):  # type: ignore[no-untyped-def]
    """Return the next leaf that may hold a point within the limit (-1: none), the stack, and nodes opened."""
    stack, bounds, sides = todo
    nodes = tree[0]
    while top:
        top -= 1
        node, dim, bound = stack[top, 0], stack[top, 1], bounds[top]
        if node < 0:
            side[dim] = sides[top]
            continue
        if bound * _SURE > limit:
            continue
        side[dim], sides[top] = sides[top], side[dim]
        stack[top, 0] = -1
        depth = nodes[node, 3]
        node, top = _descend(row, node, bound, limit, form, tree, side, stack, bounds, sides, top + 1)
        return node, top, 1 + nodes[node, 3] - depth
    return -1, 0, 0


@compiled()
def _descend(row, node, bound, limit, form, tree, side, stack, bounds, sides, top):  # type: ignore[no-untyped-def]
    """Go down to the leaf on the row's side; farther children that may hold neighbours are stacked."""
    nodes, dims, lows, highs = tree
    while nodes[node, 2]:
        dim = dims[node]
        below, above = row[dim] - lows[node], highs[node] - row[dim]
        right = below > above
        away = below if right else above
        far = _farther(bound, side[dim], away, form)
        if far * _SURE <= limit:
            stack[top, 0] = node + 1 if right else nodes[node, 2]
            stack[top, 1], bounds[top], sides[top] = dim, far, max(away, side[dim])
            top += 1
        node = nodes[node, 2] if right else node + 1
    return node, top


@compiled()
def _largest_leaf(nodes):  # type: ignore[no-untyped-def]
    most = 0
    for node in range(len(nodes)):
        if nodes[node, 2] == 0:
            most = max(most, nodes[node, 1] - nodes[node, 0])
    return most


@compiled()
def deepest(nodes):  # type: ignore[no-untyped-def]
    """Return the depth of the deepest node."""
    depth = 0
    for node in range(len(nodes)):
        depth = max(depth, nodes[node, 3])
    return depth


@compiled()
def _todo(nodes):  # type: ignore[no-untyped-def]
    """Room for what is left to do: nodes with the side that changes, and sides to change back."""
    room = 2 * (deepest(nodes) + 2)
    return np.empty((room, 2), np.int64), np.empty(room), np.empty(room)


@compiled()
def _start(row, box, form, side, todo):  # type: ignore[no-untyped-def]
    """Put the root on the stack; its bound is how far the row lies from the box of all points."""
    stack, bounds, sides = todo
    bound = 0.0
    for c in range(len(row)):
        side[c] = max(box[0, c] - row[c], row[c] - box[1, c], 0.0)
        bound = _farther(bound, 0.0, side[c], form)
    stack[0, 0], stack[0, 1], bounds[0], sides[0] = 0, 0, bound, side[0]
    return 1


@compiled()
def _farther(bound, old, new, form):  # type: ignore[no-untyped-def]
    """Return the bound of a cell that is farther away along one side."""
    if new <= old:
        return bound
    if form == 0:
        return bound + (new - old) * (new + old)
    return bound + (new - old) if form == 1 else max(bound, new)
