"""Distances and nearest points, all pairs; and the filter in single precision.

No `fastmath`: a distance is summed coordinate by coordinate, so every path to it gives the same bits.
"""

import numpy as np

from tractable.primitives.compiled_options import compiled, entry

#: Points met at a time: their coordinates stay in the cache while the rows pass.
_TILE = 256

_EUCLIDEAN, _MANHATTAN, _CHEBYSHEV, _HAMMING, _MINKOWSKI = 0, 1, 2, 3, 4


@entry("MATRIX MATRIX INT INT FLOAT OUT_MATRIX OUT_INDEX_MATRIX", fastmath=False)
def nearest(x, points, k, form, order, out_d, out_i):  # type: ignore[no-untyped-def]
    rows, (n, d) = len(x), points.shape
    cap = 2 * k + _TILE
    found_d, found_i = np.empty((rows, cap)), np.empty((rows, cap), np.int64)
    count, limit, worst = np.zeros(rows, np.int64), np.empty(rows), np.empty(rows)
    limit[:], worst[:] = np.inf, np.inf
    tile, keys = np.empty((d, _TILE)), np.empty(_TILE)
    for start in range(0, n, _TILE):
        end = min(start + _TILE, n)
        _fill_tile(points, start, end, tile)
        for r in range(rows):
            tile_keys(x[r], tile, end - start, form, keys)
            m, most, hit = count[r], limit[r], 0
            for j in range(end - start):
                hit |= keys[j] <= most
            if not hit:
                continue
            for j in range(end - start):
                if keys[j] <= most:
                    distance = finished(keys[j], x[r], points[start + j], form, order)
                    if m < k or distance < worst[r]:  # of equals the earlier ones stay
                        found_d[r, m], found_i[r, m] = distance, start + j
                        m += 1
            if m > cap - _TILE:
                cut_back(found_d[r], found_i[r], m, k)
                m = k
                worst[r] = found_d[r, 0]
                for j in range(1, k):
                    worst[r] = max(worst[r], found_d[r, j])
                limit[r] = key_limit(worst[r], d, form)
            count[r] = m
    for r in range(rows):
        cut_back(found_d[r], found_i[r], count[r], k)
        in_order(found_d[r], found_i[r], k)
        for j in range(k):
            out_d[r, j], out_i[r, j] = found_d[r, j], found_i[r, j]


@compiled()
def _fill_tile(points, start, end, tile):  # type: ignore[no-untyped-def]
    """Write points as the columns of a tile."""
    for j in range(end - start):
        for c in range(points.shape[1]):
            tile[c, j] = points[start + j, c]


@entry("MATRIX MATRIX DENSE_VECTOR INT FLOAT", fastmath=False)
def within(x, points, radii, form, order):  # type: ignore[no-untyped-def]
    rows, (n, d) = len(x), points.shape
    found, tile, keys, m = new_pairs(), np.empty((d, _TILE)), np.empty(_TILE), 0
    for start in range(0, n, _TILE):
        end = min(start + _TILE, n)
        _fill_tile(points, start, end, tile)
        for r in range(rows):
            tile_keys(x[r], tile, end - start, form, keys)
            found = room_for(found, m + _TILE)
            most = key_limit(radii[r], d, form)
            for j in range(end - start):
                if keys[j] <= most:
                    distance = finished(keys[j], x[r], points[start + j], form, order)
                    if distance <= radii[r]:
                        found[0][m], found[1][m], found[2][m] = r, start + j, distance
                        m += 1
    return found[0][:m].copy(), found[1][:m].copy(), found[2][:m].copy()


@compiled()
def new_pairs():  # type: ignore[no-untyped-def]
    """Return room for rows, indices and distances of pairs."""
    return np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024)


@compiled()
def room_for(found, n):  # type: ignore[no-untyped-def]
    """Return the arrays of pairs, doubled until they hold n."""
    rows, indices, distances = found
    while n > len(rows):
        rows, indices, distances = _doubled(rows), _doubled(indices), _doubled(distances)
    return rows, indices, distances


@compiled()
def _doubled(held):  # type: ignore[no-untyped-def]
    room = np.empty(2 * len(held), held.dtype)
    for i in range(len(held)):
        room[i] = held[i]
    return room


@compiled()
def pair_distance(a, b, form, order):  # type: ignore[no-untyped-def]
    """Distance of two rows, the bits of those of a tile."""
    key = 0.0
    for c in range(len(a)):
        step = a[c] - b[c]
        if form == _EUCLIDEAN:
            key += step * step
        elif form == _MANHATTAN:
            key += abs(step)
        elif form == _HAMMING:
            key += 1.0 if step != 0.0 else 0.0
        else:
            key = max(key, abs(step))
    return finished(key, a, b, form, order)


@compiled()
def tile_keys(row, tile, n, form, keys):  # type: ignore[no-untyped-def]
    """Fill a key for each point of a tile: cheap, and by it the distance is bounded from below."""
    keys[:n] = 0.0
    for c in range(len(row)):
        a, b = row[c], tile[c]
        if form == _EUCLIDEAN:
            for j in range(n):
                step = a - b[j]
                keys[j] += step * step
        elif form == _MANHATTAN:
            for j in range(n):
                keys[j] += abs(a - b[j])
        elif form == _HAMMING:
            for j in range(n):
                keys[j] += 1.0 if a != b[j] else 0.0
        else:
            for j in range(n):
                keys[j] = max(keys[j], abs(a - b[j]))


@compiled()
def finished(key, a, b, form, order):  # type: ignore[no-untyped-def]
    """Return the distance that belongs to a key."""
    if form == _EUCLIDEAN:
        return np.sqrt(key)
    if form == _HAMMING:
        return key / len(a)
    if form != _MINKOWSKI or key == 0.0:
        return key
    total = 0.0  # powers of differences over the largest: none overflows, whatever the order
    for c in range(len(a)):
        total += (abs(a[c] - b[c]) / key) ** order
    return key * total ** (1.0 / order)


@compiled()
def key_limit(distance, d, form):  # type: ignore[no-untyped-def]
    """Return a key that no point as near as this exceeds, rounding included."""
    if form == _EUCLIDEAN:
        return distance * distance * (1.0 + 1e-15) + 1e-322
    if form == _HAMMING:
        return distance * d + 0.5
    if form == _MINKOWSKI:
        return distance * (1.0 + 1e-12)
    return distance


@compiled()
def cut_back(key, idx, m, k):  # type: ignore[no-untyped-def]
    """Bring the k first of m in the order of (key, index) to the front (Hoare's selection)."""
    lo, hi = 0, m - 1
    while lo < hi:
        middle = (lo + hi) >> 1
        pivot, rank, i, j = key[middle], idx[middle], lo, hi
        while i <= j:
            while key[i] < pivot or (key[i] == pivot and idx[i] < rank):
                i += 1
            while key[j] > pivot or (key[j] == pivot and idx[j] > rank):
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                idx[i], idx[j] = idx[j], idx[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            hi = j
        elif k - 1 >= i:
            lo = i
        else:
            break


@compiled()
def in_order(key, idx, m):  # type: ignore[no-untyped-def]
    """Sort the first m by (key, index), in place (Shell's sort, Knuth's gaps)."""
    gap = 1
    while gap < m // 3:
        gap = 3 * gap + 1
    while gap:
        for i in range(gap, m):
            a, b, j = key[i], idx[i], i
            while j >= gap and (key[j - gap] > a or (key[j - gap] == a and idx[j - gap] > b)):
                key[j], idx[j] = key[j - gap], idx[j - gap]
                j -= gap
            key[j], idx[j] = a, b
        gap //= 3


@compiled()
def replace_worst(near, ids, k, apart, i):  # type: ignore[no-untyped-def]
    """Put a better neighbour in the place of the worst, on top of a heap by (distance, index)."""
    at = 0
    while True:
        child = 2 * at + 1
        if child >= k:
            break
        other = child + 1
        if other < k and (
            near[other] > near[child] or (near[other] == near[child] and ids[other] > ids[child])
        ):
            child = other
        if near[child] < apart or (near[child] == apart and ids[child] < i):
            break
        near[at], ids[at] = near[child], ids[child]
        at = child
    near[at], ids[at] = apart, i


#: Columns compared at a time: Numba makes an OR of comparisons a few vector instructions.
GROUP = 64

#: Minima of a tile taken at once, of every 16th column each.
LANES = 16


_filter = "SINGLE_VECTOR DENSE_VECTOR OUT_SINGLE_MATRIX OUT_LABEL_MATRIX"  # slack, doubt, key, idx


@entry("MATRIX DENSE_VECTOR FLOAT FLOAT OUT_SINGLE_MATRIX OUT_VECTOR")
def fill_single(points, centre, scale, smallest, rows, squares):  # type: ignore[no-untyped-def]
    """Write (y - centre) scale in single precision, small numbers as zeros, and |·|²."""
    for r in range(len(points)):
        total = 0.0
        for c in range(points.shape[1]):
            v = (points[r, c] - centre[c]) * scale
            rows[r, c] = v if abs(v) >= smallest else 0.0
            total += v * v
        squares[r] = total


@entry(f"SINGLE_MATRIX SINGLE_VECTOR INT INT FLOAT {_filter} OUT_INDICES OUT_SINGLE_VECTOR", fastmath=False)
def scan(gram, squares, first, k, widest, slack, doubt, key, idx, count, limit):  # type: ignore[no-untyped-def]
    """Push the columns of a tile that may be among the k nearest of each row into the row's buffer.

    A row whose buffer fills with columns that cannot be told apart is given up: its count becomes -1.
    `widest` is the largest slack.
    """
    rows, cols = gram.shape
    cap = key.shape[1]
    wide, least = np.empty(GROUP, np.float32), np.empty(LANES, np.float32)
    fewer = np.empty(LANES, np.int32)
    for r in range(rows):
        m, most = count[r], limit[r]
        if m < 0:
            continue
        if first == 0 and k <= LANES:
            # The k-th smallest of the minima over every 16th column bounds that of all columns.
            # 64 minima at a time, as one waits for the last of its lane.
            wide[:] = np.inf
            for g in range(0, cols, GROUP):
                row, square = gram[r, g : g + GROUP], squares[g : g + GROUP]
                for c in range(GROUP):
                    wide[c] = min(wide[c], row[c] + square[c])
            least[:] = np.inf
            for c in range(GROUP):
                least[c % LANES] = min(least[c % LANES], wide[c])
            most = np.nextafter(
                np.float32(np.float64(kth_smallest(least, k, fewer)) + widest + doubt[r]), np.float32(np.inf)
            )
        for g in range(0, cols, GROUP):
            row, square, hit = gram[r, g : g + GROUP], squares[g : g + GROUP], np.int32(0)
            for c in range(GROUP):
                hit |= np.int32(row[c] + square[c] < most)
            if not hit:
                continue
            for c in range(GROUP):
                low = row[c] + square[c]
                if low < most:
                    key[r, m], idx[r, m] = low, first + g + c
                    m += 1
            if m > cap - GROUP:
                most = _bound(key[r], idx[r], m, k, slack, doubt[r])
                m = _kept(key[r], idx[r], m, most)
                if m > cap - GROUP:
                    m = -1
                    break
        count[r], limit[r] = m, most


@compiled()
def kth_smallest(values, k, fewer):  # type: ignore[no-untyped-def]
    """Return the k-th smallest of a few values: the largest of those with fewer than k smaller ones.

    All are compared with all, without a branch; `fewer` has room to count.
    """
    n = len(values)
    fewer[:] = 0
    for i in range(n):
        one = values[i]
        for j in range(n):
            fewer[j] += np.int32(one < values[j])
    found = np.float32(-np.inf)
    for j in range(n):
        found = values[j] if fewer[j] < k and values[j] > found else found
    return found


@compiled()
def _bound(key, idx, m, k, slack, doubt):  # type: ignore[no-untyped-def]
    """Return an upper bound, in single precision, of the keys that may still be among the k smallest."""
    cut_back(key, idx, m, k)
    most = -np.inf
    for t in range(k):
        most = max(most, np.float64(key[t]) + slack[idx[t]])
    return np.float32(most + doubt)


@compiled()
def _kept(key, idx, m, most):  # type: ignore[no-untyped-def]
    kept = 0
    for t in range(m):
        if key[t] < most:
            key[kept], idx[kept] = key[t], idx[t]
            kept += 1
    return kept


@entry(f"MATRIX MATRIX INT {_filter} INDICES OUT_MATRIX OUT_INDEX_MATRIX", fastmath=False)
def refine(x, points, k, slack, doubt, key, idx, count, out_d, out_i):  # type: ignore[no-untyped-def]
    """Measure the columns that are left in double precision and write the k nearest, in order."""
    room = key.shape[1]
    distances, near = np.empty(room), np.empty(room, np.int64)
    for r in range(len(x)):
        m = count[r]
        if m < 0:
            continue
        m = _kept(key[r], idx[r], m, _bound(key[r], idx[r], m, k, slack, doubt[r]))
        for t in range(m):
            near[t] = idx[r, t]
        _measured(x[r], points, near, m, distances)
        cut_back(distances, near, m, k)
        in_order(distances, near, k)
        for t in range(k):
            out_d[r, t], out_i[r, t] = distances[t], near[t]


@compiled()
def _measured(row, points, ids, m, distances):  # type: ignore[no-untyped-def]
    """Fill the Euclidean distances from a row to some points, the bits of `pair_distance`; four at a time.

    A sum waits for the one before it; four sums of different points do not wait for each other.
    """
    d, t = len(row), 0
    while t + 4 <= m:
        a, b, c, e = ids[t], ids[t + 1], ids[t + 2], ids[t + 3]
        first = second = third = fourth = 0.0
        for i in range(d):
            v = row[i]
            first += (v - points[a, i]) * (v - points[a, i])
            second += (v - points[b, i]) * (v - points[b, i])
            third += (v - points[c, i]) * (v - points[c, i])
            fourth += (v - points[e, i]) * (v - points[e, i])
        distances[t], distances[t + 1] = np.sqrt(first), np.sqrt(second)
        distances[t + 2], distances[t + 3] = np.sqrt(third), np.sqrt(fourth)
        t += 4
    while t < m:
        distances[t] = pair_distance(row, points[ids[t]], _EUCLIDEAN, 2.0)
        t += 1


@entry("SINGLE_MATRIX SINGLE_VECTOR SINGLE_VECTOR", fastmath=False)
def count_hits(gram, squares, limit):  # type: ignore[no-untyped-def]
    """Count the entries of a tile that may lie within the radius of their row."""
    total = 0
    for r in range(gram.shape[0]):
        for c in range(gram.shape[1]):
            total += gram[r, c] + squares[c] < limit[r]
    return total


@entry("MATRIX MATRIX SINGLE_MATRIX SINGLE_VECTOR INT SINGLE_VECTOR DENSE_VECTOR INT", fastmath=False)
def fill_hits(x, points, gram, squares, first, limit, radii, found):  # type: ignore[no-untyped-def]
    """Measure these entries in double precision; return rows, columns and distances of those within."""
    rows, near, distances, m = np.empty(found, np.int64), np.empty(found, np.int64), np.empty(found), 0
    for r in range(gram.shape[0]):
        for c in range(gram.shape[1]):
            if gram[r, c] + squares[c] < limit[r]:
                distance = pair_distance(x[r], points[first + c], 0, 2.0)
                if distance <= radii[r]:
                    rows[m], near[m], distances[m] = r, first + c, distance
                    m += 1
    return rows[:m].copy(), near[:m].copy(), distances[:m].copy()
