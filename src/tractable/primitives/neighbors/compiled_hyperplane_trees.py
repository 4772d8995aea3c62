"""Construction and search of trees of hyperplanes, and neighbour lists from their leaves.

No `fastmath`: a point is projected by one and the same sum when a tree is grown and when it is searched.
"""

import numpy as np

from tractable.primitives.compiled_options import compiled, entry
from tractable.primitives.neighbors.compiled import (
    in_order,
    kth_smallest,
    new_pairs,
    pair_distance,
    replace_worst,
    room_for,
)
from tractable.primitives.neighbors.compiled_seeds import seed_rows

_EUCLIDEAN = 0

_planes = "MATRIX DENSE_VECTOR INDEX_MATRIX MASK"  # normals, offsets, children, look_back
# x, about, points, order, roots, planes, ptr, members, slack, depth
_search = f"MATRIX MATRIX MATRIX INDICES INDICES {_planes} INDICES LABELS DENSE_VECTOR INT"
_lists = "OUT_SINGLE_MATRIX OUT_LABEL_MATRIX OUT_INDICES"  # near, ids, measured
_groups = "MATRIX LABELS INDICES"  # x, ids, ptr
_parts = "OUT_MATRIX OUT_VECTOR OUT_LABELS OUT_INDICES"  # normals, offsets, parts, ends


@compiled()
def projection(row, normal):  # type: ignore[no-untyped-def]
    """Return row · normal."""
    total = 0.0
    for j in range(len(row)):
        total += row[j] * normal[j]
    return total


@compiled()
def _projections(x, ids, normal, out):  # type: ignore[no-untyped-def]
    """Write the `projection` of some rows: of four at a time, whose sums do not wait for one another."""
    n = len(ids)
    for i in range(0, n - 3, 4):
        p, q, r, s = x[ids[i]], x[ids[i + 1]], x[ids[i + 2]], x[ids[i + 3]]
        a, b, c, e = 0.0, 0.0, 0.0, 0.0
        for j in range(len(normal)):
            step = normal[j]
            a += p[j] * step
            b += q[j] * step
            c += r[j] * step
            e += s[j] * step
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, e
    for i in range(n - n % 4, n):
        out[i] = projection(x[ids[i]], normal)


@compiled()
def _farthest(x, ids, row):  # type: ignore[no-untyped-def]
    best, place = -1.0, ids[0]
    for i in ids:
        apart = pair_distance(x[i], row, _EUCLIDEAN, 2.0)
        if apart > best:
            best, place = apart, i
    return place


@compiled()
def unit(a, b, out):  # type: ignore[no-untyped-def]
    """Write the direction from a to b, of length one; zero where they are equal."""
    apart = pair_distance(a, b, _EUCLIDEAN, 2.0)
    for j in range(len(a)):
        out[j] = (b[j] - a[j]) / apart if apart > 0.0 else 0.0


@compiled()
def _direction(x, ids, uniforms, far, normal):  # type: ignore[no-untyped-def]
    """Write the direction from one row of a group to another that differs, if there is one."""
    n = len(ids)
    a, b = ids[min(int(uniforms[0] * n), n - 1)], ids[min(int(uniforms[1] * n), n - 1)]
    if far:
        a = _farthest(x, ids, x[a])
    if far or pair_distance(x[a], x[b], _EUCLIDEAN, 2.0) == 0.0:
        b = _farthest(x, ids, x[a])
    unit(x[a], x[b], normal)


@compiled()
def select(key, n, k):  # type: ignore[no-untyped-def]
    """Bring the k smallest of n keys to the front; return how many keys were moved, as a rule 3 n.

    By quickselect: the keys below a pivot, then those equal to it, in turn. A pivot is the median of three
    keys at random positions, of a fixed seed: of keys that rise and fall, those at fixed positions are all
    extreme. Every key is moved, without a branch, which would be mispredicted half of the time.
    """
    lo, hi, moved, state = 0, n, 0, 1
    while hi - lo > 1:
        state = (state * 16807) % 2147483647
        a = key[lo + state % (hi - lo)]
        state = (state * 16807) % 2147483647
        b = key[lo + state % (hi - lo)]
        state = (state * 16807) % 2147483647
        c = key[lo + state % (hi - lo)]
        pivot, below = max(min(a, b), min(max(a, b), c)), lo
        moved += hi - lo
        for t in range(lo, hi):
            this, key[t] = key[t], key[below]
            key[below] = this
            below += this < pivot
        if k < below:
            hi = below
            continue
        upto = below
        for t in range(below, hi):
            this, key[t] = key[t], key[upto]
            key[upto] = this
            upto += this <= pivot
        moved += hi - below
        if k <= upto:
            break
        lo = upto
    return moved


@compiled()
def _cut(key, n):  # type: ignore[no-untyped-def]
    """Return how many keys go left, half of them or as near as equal keys stay together, and the offset."""
    middle = n // 2
    below, above = -np.inf, np.inf
    for i in range(n):
        if i < middle:
            below = max(below, key[i])
        else:
            above = min(above, key[i])
    if below == above:
        fewer, most, down, up = 0, 0, -np.inf, np.inf
        for t in key:
            fewer += t < below
            most += t <= below
            down = max(down, t) if t < below else down
            up = min(up, t) if t > below else up
        if fewer and (middle - fewer <= most - middle or most == n):
            middle, below = fewer, down
        else:
            middle, above = most, up
    offset = 0.5 * below + 0.5 * above
    return middle, offset if below <= offset < above else below


@compiled()
def _spill(ranks, ids, left, margin, out):  # type: ignore[no-untyped-def]
    """Write both parts, the nearest of either side in both of them; return where the first ends."""
    n = len(ids)
    both = max(0, min(int(margin * n), left - 1, n - left - 1))
    for t in range(left + both):
        out[t] = ids[ranks[t]]
    for t in range(left - both, n):
        out[2 * both + t] = ids[ranks[t]]
    return left + both, n + 2 * both


@entry(f"{_groups} MATRIX FLOAT BOOL {_parts}", fastmath=False)
def halve(x, ids, ptr, uniforms, margin, far, normals, offsets, halves, ends):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.neighbors.halve`. Parts keep the order of rows: memory is read one way."""
    key, ranked, ranks, end = np.empty(len(ids)), np.empty(len(ids)), np.empty(len(ids), np.int64), 0
    for s in range(len(ptr) - 1):
        held = ids[ptr[s] : ptr[s + 1]]
        n, normal = len(held), normals[s]
        _direction(x, held, uniforms[s], far, normal)
        _projections(x, held, normal, key)
        for i in range(n):
            ranked[i] = key[i]
        if margin > 0.0:
            for i in range(n):
                ranks[i] = i
            in_order(ranked, ranks, n)
        else:
            select(ranked, n, n // 2)
        left, offset = _cut(ranked[:n], n)
        offsets[s] = offset
        if margin > 0.0:
            first, both = _spill(ranks, held, left, margin, halves[end:])
        else:
            i, j = end, end + left
            for t in range(n):  # without a branch, which would be mispredicted half of the time
                right = key[t] > offset
                halves[j if right else i] = held[t]
                i, j = i + (not right), j + right
            first, both = left, n
        ends[2 * s], ends[2 * s + 1] = end + first, end + both
        end += both


@compiled()
def _descend(q, node, nearest, trees, slack, nodes, bounds, top):  # type: ignore[no-untyped-def]
    """Go down to a leaf; note the other sides of planes that may be looked behind, and how far they are."""
    normals, offsets, children, look_back = trees
    steps = 1
    while node >= 0:
        over = projection(q, normals[node]) - offsets[node]
        side = 1 if over > 0.0 else 0
        if look_back[node]:
            nodes[top] = children[node, 1 - side]
            bounds[top] = max(nearest, abs(over) - slack)
            top += 1
        node = children[node, side]
        steps += 1
    return -1 - node, top, steps


@compiled()
def _next_leaf(q, limit, trees, slack, nodes, bounds, top):  # type: ignore[no-untyped-def]
    """Descend to the next leaf that may hold a point within the limit; -1 where there is none."""
    while top:
        top -= 1
        if bounds[top] <= limit:
            return _descend(q, nodes[top], bounds[top], trees, slack, nodes, bounds, top)
    return -1, 0, 0


@entry(f"MATRIX INT {_planes} INT OUT_INDICES", fastmath=False)
def leaves_of(x, root, normals, offsets, children, look_back, depth, out):  # type: ignore[no-untyped-def]
    """Write the leaf to which each row descends."""
    trees = normals, offsets, children, look_back
    nodes, bounds = np.empty(depth + 1, np.int64), np.empty(depth + 1)
    for r in range(len(x)):
        out[r] = _descend(x[r], root, 0.0, trees, 0.0, nodes, bounds, 0)[0]


@entry(f"{_search} OUT_MATRIX OUT_INDEX_MATRIX OUT_INDICES OUT_INDICES OUT_LABELS", fastmath=False)
def tree_nearest(  # type: ignore[no-untyped-def]
    x, about, points, order, roots, normals, offsets, children, look_back, ptr, members, slack, depth,
    near, ids, visited, measured, seen,
):  # fmt: skip
    """See `tractable.primitives.neighbors.tree_nearest`; seen begins at -1.

    It ends as the last row by which each point was measured.
    """
    trees, k = (normals, offsets, children, look_back), near.shape[1]
    near[:], ids[:] = np.inf, len(points)
    nodes, bounds = np.empty(depth + 1, np.int64), np.empty(depth + 1)
    for r in range(len(x)):
        q = x[r]
        for root in roots:
            nodes[0], bounds[0], top = root, 0.0, 1
            while True:
                leaf, top, steps = _next_leaf(about[r], near[r, 0], trees, slack[r], nodes, bounds, top)
                if leaf < 0:
                    break
                visited[r] += steps
                for i in members[ptr[leaf] : ptr[leaf + 1]]:
                    if seen[i] == r:
                        continue
                    seen[i] = r
                    measured[r] += 1
                    apart, index = pair_distance(q, points[i], _EUCLIDEAN, 2.0), order[i]
                    if apart < near[r, 0] or (apart == near[r, 0] and index < ids[r, 0]):
                        replace_worst(near[r], ids[r], k, apart, index)
        in_order(near[r], ids[r], k)
        for t in range(k - 1, -1, -1):
            if near[r, t] < np.inf:
                break
            ids[r, t] = -1


@entry(f"{_search} DENSE_VECTOR OUT_INDICES OUT_INDICES", fastmath=False)
def tree_within(  # type: ignore[no-untyped-def]
    x, about, points, order, roots, normals, offsets, children, look_back, ptr, members, slack, depth,
    radii, visited, measured,
):  # fmt: skip
    trees, seen = (normals, offsets, children, look_back), np.empty(len(points), np.int32)
    seen[:] = -1
    nodes, bounds = np.empty(depth + 1, np.int64), np.empty(depth + 1)
    found, m = new_pairs(), 0
    for r in range(len(x)):
        q = x[r]
        for root in roots:
            nodes[0], bounds[0], top = root, 0.0, 1
            while True:
                leaf, top, steps = _next_leaf(about[r], radii[r], trees, slack[r], nodes, bounds, top)
                if leaf < 0:
                    break
                visited[r] += steps
                for i in members[ptr[leaf] : ptr[leaf + 1]]:
                    if seen[i] == r:
                        continue
                    seen[i] = r
                    measured[r] += 1
                    apart = pair_distance(q, points[i], _EUCLIDEAN, 2.0)
                    if apart <= radii[r]:
                        if m == len(found[0]):
                            found = room_for(found, m + 1)
                        found[0][m], found[1][m], found[2][m] = r, order[i], apart
                        m += 1
    return found[0][:m].copy(), found[1][:m].copy(), found[2][:m].copy()


#: Rows of a leaf measured at a time, and groups of its columns of which the minima are taken.
STRIP, GROUPS = 64, 32

FAR = np.float32(1e30)


@compiled()
def _insert(near, ids, apart, i):  # type: ignore[no-untyped-def]
    """Insert i into a list sorted by distance, in which it is not; the last falls out."""
    t = len(near) - 1
    while t > 0 and near[t - 1] > apart:
        near[t], ids[t] = near[t - 1], ids[t - 1]
        t -= 1
    near[t], ids[t] = apart, i


@compiled(fastmath={"contract"})
def _square(a, b, scale):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(len(a)):
        step = (a[c] - b[c]) * scale
        total += step * step
    return np.float32(total)


@compiled(fastmath={"contract"})
def _about_itself(x, held, scale, rows, squares):  # type: ignore[no-untyped-def]
    """Write the points of a leaf about their mean, and |y|², far where there is none; return the largest."""
    n, d = len(held), x.shape[1]
    mean = np.zeros(d)
    for i in held:
        for c in range(d):
            mean[c] += x[i, c]
    for c in range(d):
        mean[c] /= n
    rows[n:], squares[n:] = 0.0, FAR
    largest = np.float32(0.0)
    for i in range(n):
        total = 0.0
        for c in range(d):
            step = (x[held[i], c] - mean[c]) * scale
            rows[i, c] = np.float32(step)
            total += step * step
        squares[i] = np.float32(total)
        largest = max(largest, squares[i])
    return largest


@compiled()
def _kth_at_most(apart, k, least, fewer):  # type: ignore[no-untyped-def]
    """Return a bound of the k-th smallest distance: the k-th smallest of the minima of groups of columns.

    A group is every 32nd column, so that minima are taken of 32 groups at once.
    """
    least[:] = FAR
    for first in range(0, len(apart), GROUPS):
        for j in range(GROUPS):
            least[j] = min(least[j], apart[first + j])
    return kth_smallest(least, k, fewer)


@compiled()
def _met(pieces, i, j, n_trees):  # type: ignore[no-untyped-def]
    """Whether two points are in one piece of any of the first trees."""
    met = False
    for t in range(n_trees):
        met |= pieces[i, t] == pieces[j, t]
    return met


@compiled()
def _fill(near, ids, apart, others, m, ranks):  # type: ignore[no-untyped-def]
    """Write the nearest of m candidates, in order, to a list that is empty.

    The rank of each is how many are nearer: all are compared with all, without a branch.
    """
    for i in range(m):
        ranks[i] = 0
    for i in range(m):
        one = apart[i]
        for j in range(m):
            ranks[j] += np.int32(one < apart[j]) | (np.int32(one == apart[j]) & np.int32(i < j))
    for i in range(m):
        if ranks[i] < len(near):
            near[ranks[i]], ids[ranks[i]] = apart[i], others[i]


@entry(f"MATRIX INDICES LABELS INT INT FLOAT OUT_LABEL_MATRIX {_lists}", fastmath={"contract"})
def join(x, ptr, members, first, tree, scale, pieces, near, ids, measured):  # type: ignore[no-untyped-def]
    """Measure all pairs of each piece of a tree's leaves as |y|² + |z|² - 2 y·z, in single precision.

    Pieces are numbered from `first`. Pairs that met in an earlier tree are in each other's lists already, or
    too far apart for them.
    """
    d, k, widest = x.shape[1], near.shape[1], 0
    for leaf in range(len(ptr) - 1):
        widest = max(widest, ptr[leaf + 1] - ptr[leaf])
    widest = -(-widest // GROUPS) * GROUPS
    room, every = np.empty((widest, d), np.float32), np.empty(widest, np.float32)
    strip, least = np.empty(STRIP * widest, np.float32), np.empty(GROUPS, np.float32)
    hits, fewer = np.empty(widest, np.int32), np.empty(GROUPS, np.int32)
    apart, others, ranks = (
        np.empty(widest, np.float32),
        np.empty(widest, np.int32),
        np.empty(widest, np.int32),
    )
    for leaf in range(len(ptr) - 1):
        held = members[ptr[leaf] : ptr[leaf + 1]]
        n = len(held)
        for i in held:
            pieces[i, tree] = first + leaf
        wide = -(-n // GROUPS) * GROUPS
        rows, squares = room[:wide], every[:wide]
        if n < 2:
            continue
        # What is nearer than rounding to single precision can tell is measured in double precision.
        doubt = np.float32((d + 8) * 2.0**-19) * _about_itself(x, held, scale, rows, squares)
        for top in range(0, n, STRIP):
            high = min(STRIP, n - top)
            gram = strip[: high * wide].reshape(high, wide)
            np.dot(rows[top : top + high], rows.T, gram)
            for i in range(top, top + high):
                me, products = held[i], gram[i - top]
                measured[me] += n - 1
                products[i] = -FAR
                for j in range(wide):
                    products[j] = squares[j] - np.float32(2.0) * products[j]
                limit = near[me, -1] - squares[i]
                if limit == np.inf and k <= GROUPS:
                    limit = _kth_at_most(products, k, least, fewer)
                limit, m = max(limit, doubt - squares[i]), 0
                for j in range(n):  # without a branch, which would be mispredicted
                    hits[m] = j
                    m += products[j] <= limit
                new = 0
                for j in hits[:m]:
                    others[new], apart[new] = held[j], products[j] + squares[i]
                    new += (j != i) & (not _met(pieces, me, held[j], tree))
                for t in range(new):
                    if apart[t] < doubt:
                        apart[t] = _square(x[me], x[others[t]], scale)
                if ids[me, 0] < 0 and new <= 2 * GROUPS:
                    _fill(near[me], ids[me], apart, others, new, ranks)
                    continue
                for t in range(new):
                    if apart[t] < near[me, -1]:
                        _insert(near[me], ids[me], apart[t], others[t])


_mended = "MATRIX SINGLE_MATRIX INT INT FLOAT LABEL_MATRIX INT LABEL_MATRIX"


@entry(f"{_mended} {_lists}", fastmath={"contract", "reassoc"})
def mend(x, rows, start, end, scale, pieces, n_trees, old, near, ids, measured):  # type: ignore[no-untyped-def]
    """Offer points start to end the neighbours of their neighbours in the lists `old`.

    Not those that they met in one of the first trees. `rows` are the points about their mean times the scale,
    in single precision: half as many bytes to fetch. What is nearer than their rounding can tell is measured
    in double precision.
    """
    d, k = x.shape[1], old.shape[1]
    doubt = np.float32(d * 2.0**-26)
    seen, others = np.empty(len(x), np.int32), np.empty(k * k + 1, np.int32)
    seen[:] = -1
    for i in range(start, end):
        row, seen[i] = rows[i], i
        for a in old[i]:
            if a >= 0:
                seen[a] = i
        m = 0
        for a in old[i]:
            if a < 0:
                break
            for j in old[a]:
                if j < 0:
                    break
                others[m] = j  # without a branch, which would be mispredicted
                m += seen[j] != i
                seen[j] = i
        new = 0
        for j in others[:m]:
            others[new] = j
            new += not _met(pieces, i, j, n_trees)
        measured[i] += new
        for j in others[:new]:
            other, apart = rows[j], np.float32(0.0)
            for c in range(d):
                step = row[c] - other[c]
                apart += step * step
            if apart < doubt:
                apart = _square(x[i], x[j], scale)
            if apart < near[i, -1]:
                _insert(near[i], ids[i], apart, j)


@entry("MATRIX INT INT INDICES LABEL_MATRIX OUT_MATRIX OUT_INDEX_MATRIX", fastmath=False)
def finish(x, start, end, order, ids, distances, indices):  # type: ignore[no-untyped-def]
    """Measure the candidates of points start to end in double precision and write the nearest, in order."""
    width, k = ids.shape[1], distances.shape[1]
    apart, names = np.empty(width), np.empty(width, np.int64)
    for i in range(start, end):
        m = 0
        for j in ids[i]:
            if j >= 0:
                apart[m], names[m] = pair_distance(x[i], x[j], 0, 2.0), order[j]
                m += 1
        in_order(apart, names, m)
        m, row = min(m, k), order[i]
        for j in range(m):
            distances[row, j], indices[row, j] = apart[j], names[j]
        distances[row, m:], indices[row, m:] = np.inf, -1


@compiled()
def _means(rows, right, centers):  # type: ignore[no-untyped-def]
    """Write the means of both sides; return how many rows are on the right."""
    n, d = rows.shape
    sums, count = np.zeros((2, d)), 0
    for i in range(n):
        side = 1 if right[i] else 0
        count += side
        for c in range(d):
            sums[side, c] += rows[i, c]
    for c in range(d):
        centers[0, c] = sums[0, c] / max(n - count, 1)
        centers[1, c] = sums[1, c] / max(count, 1)
    return count


@compiled()
def _between(rows, centers, normal, right):  # type: ignore[no-untyped-def]
    """Put rows on the side of the nearer centre; return the offset of the plane and how many changed."""
    unit(centers[0], centers[1], normal)
    offset = 0.5 * (projection(centers[0], normal) + projection(centers[1], normal))
    changed = 0
    for i in range(len(rows)):
        side = projection(rows[i], normal) > offset
        changed += side != right[i]
        right[i] = side
    return offset, changed


@entry(f"{_groups} MATRICES INT {_parts}", fastmath=False)
def part(x, ids, ptr, uniforms, max_iter, normals, offsets, parts, ends):  # type: ignore[no-untyped-def]
    widest = 0
    for s in range(len(ptr) - 1):
        widest = max(widest, ptr[s + 1] - ptr[s])
    room, sides = np.empty((widest, x.shape[1])), np.empty(widest, np.bool_)
    centers = np.empty((2, x.shape[1]))
    d = x.shape[1]
    for s in range(len(ptr) - 1):
        held = ids[ptr[s] : ptr[s + 1]]
        n = len(held)
        rows, right = room[:n], sides[:n]
        for i in range(n):
            for c in range(d):
                rows[i, c] = x[held[i], c] - x[held[0], c]
        seeds = seed_rows(rows, uniforms[s])
        for c in range(d):
            centers[0, c], centers[1, c] = rows[seeds[0], c], rows[seeds[1], c]
        right[:] = False
        offset, changed = _between(rows, centers, normals[s], right)
        for _ in range(max_iter):
            if not 0 < _means(rows, right, centers) < n:
                break
            offset, changed = _between(rows, centers, normals[s], right)
            if not changed:
                break
        # The rows were taken about the first; the plane is said where they lie, and parts them as it says.
        offsets[s] = offset + projection(x[held[0]], normals[s])
        count = 0
        for i in range(n):
            right[i] = projection(x[held[i]], normals[s]) > offsets[s]
            count += right[i]
        i, j = ptr[s], ptr[s] + n - count
        ends[2 * s], ends[2 * s + 1] = j, ptr[s + 1]
        for t in range(n):
            if right[t]:
                parts[j] = held[t]
                j += 1
            else:
                parts[i] = held[t]
                i += 1
