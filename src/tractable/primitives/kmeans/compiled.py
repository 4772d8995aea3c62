"""Nearest centres with Hamerly's bounds, seeding by k-means++, and sums of distances to clusters."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry, read_only
from tractable.primitives.compiled_tiles import tile_squares

_given = "MATRIX DENSE_VECTOR DENSE_VECTOR FLOAT MATRIX"  # x, w, shift, scale, centers
_moved = "DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR"  # half, move, drop

EPS = 2.0**-52
EPS_SINGLE = 2.0**-23
#: Bounds are kept in single precision, rounded to the safe side.
UP, DOWN = 1.0 + 2.0**-22, 1.0 - 2.0**-22
#: Rows whose bounds are looked at together.
CHUNK = 1024


# Rows are passed by number: making a view of each takes longer than its arithmetic.
@compiled(fastmath=FAST)
def _distance(x, r, shift, scale, centers, k):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[1]):
        total += ((x[r, i] - shift[i]) * scale - centers[k, i]) ** 2
    return total


@compiled(fastmath=FAST)
def _square(x, r, center):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(x.shape[1]):
        total += (x[r, i] - center[i]) ** 2
    return total


@compiled(fastmath=FAST)
def _scores_and_two_nearest(block, doubled, squares, scores, best, second, arg):  # type: ignore[no-untyped-def]
    """Find the smallest two of |c|² - 2 c·x for the columns of a block; rows lie along the vector lanes."""
    np.dot(doubled, block, scores)
    K, B = scores.shape
    best[:], second[:], arg[:] = np.inf, np.inf, 0
    for k in range(K):
        row, square = scores[k], squares[k]
        for j in range(B):
            v = row[j] + square
            second[j] = min(second[j], max(v, best[j]))
            arg[j] = k if v < best[j] else arg[j]
            best[j] = min(v, best[j])


@compiled(fastmath=FAST)
def _measure(x, r, shift, scale, centers):  # type: ignore[no-untyped-def]
    """Return the smallest two squared distances, by differences, and the nearest centre (first of equals)."""
    best, second, arg = np.inf, np.inf, 0
    for k in range(len(centers)):
        v = _distance(x, r, shift, scale, centers, k)
        if v < best:
            best, second, arg = v, best, k
        elif v < second:
            second = v
    return best, second, arg


@compiled(fastmath=FAST)
def _add(x, r, shift, scale, weight, sums, k):  # type: ignore[no-untyped-def]
    for i in range(x.shape[1]):
        sums[k, i] += weight * ((x[r, i] - shift[i]) * scale)


@compiled(fastmath=FAST)
def _load(x, rows, shift, scale, buffer, block, norms):  # type: ignore[no-untyped-def]
    """Write rows as the columns of a block, by way of a buffer, and note their squared norms."""
    n, d = len(rows), x.shape[1]
    for j in range(n):
        r, square = rows[j], 0.0
        for i in range(d):
            v = (x[r, i] - shift[i]) * scale
            buffer[j, i] = v
            square += v * v
        norms[j] = square
    for i in range(d):
        for j in range(n):
            block[i, j] = buffer[j, i]


@compiled(fastmath=FAST)
def _bound(best, second, norms, slack, over, under):  # type: ignore[no-untyped-def]
    """Bound the distances to the nearest centre and to the next, and count the rows that stay open."""
    open_rows = 0
    for j in range(len(norms)):
        low, high = np.float64(best[j]), np.float64(second[j])
        over[j] = np.sqrt(max(low + norms[j], 0.0) + slack[j]) * UP
        under[j] = np.sqrt(max(high + norms[j] - slack[j], 0.0)) * DOWN
        open_rows += not high - low > slack[j]  # NaN, where rows overflow, is open too
    return open_rows


@compiled(fastmath=FAST)
def _undecided(x, shift, scale, centers, half, move, drop, labels, upper, lower, start, stop, queue):  # type: ignore[no-untyped-def]
    """Move the bounds of rows with the centres, and queue the rows that they leave undecided.

    Without branches, so that the processor fetches many rows at once.
    """
    m = 0
    for r in range(start, stop):
        a = labels[r]
        least = max(lower[r] - drop[a], 0.0) * DOWN
        most = (upper[r] + move[a]) * UP
        lower[r], upper[r] = least, most
        queue[m] = r
        m += most >= max(least, half[a])
    left = 0
    for q in range(m):
        r = queue[q]
        a = labels[r]
        most = np.sqrt(_distance(x, r, shift, scale, centers, a)) * UP
        upper[r] = most
        queue[left] = r
        left += most >= max(np.float64(lower[r]), half[a])
    return left


@compiled(fastmath=FAST)
def _move_to(x, r, shift, scale, centers, weight, old, k, exact, sums, counts):  # type: ignore[no-untyped-def]
    """Move a row from one centre to another in the sums; return by how much it came nearer."""
    counts[k] += weight
    _add(x, r, shift, scale, weight, sums, k)
    if old < 0:
        return 0.0
    counts[old] -= weight
    _add(x, r, shift, scale, -weight, sums, old)
    return max(weight * (_distance(x, r, shift, scale, centers, old) - exact), 0.0)


@compiled(fastmath=FAST)
def _reassign_all(x, w, shift, scale, centers, labels, sums, counts):  # type: ignore[no-untyped-def]
    """Measure every row from every centre: for few centres and columns that is less than to keep bounds."""
    n, d = x.shape
    block, square, best = np.empty((d, CHUNK)), np.empty(CHUNK), np.empty(CHUNK)
    arg = np.empty(CHUNK, np.int64)  # as wide as the numbers beside it
    cost = gain = 0.0
    changed = 0
    for start in range(0, n, CHUNK):
        m = min(CHUNK, n - start)
        for i in range(d):
            for j in range(m):
                block[i, j] = (x[start + j, i] - shift[i]) * scale
        best[:], arg[:] = np.inf, 0
        for k in range(len(centers)):
            for j in range(m):
                square[j] = (block[0, j] - centers[k, 0]) ** 2
            for i in range(1, d):
                for j in range(m):
                    square[j] += (block[i, j] - centers[k, i]) ** 2
            for j in range(m):
                arg[j] = k if square[j] < best[j] else arg[j]
                best[j] = min(square[j], best[j])
        for j in range(m):
            r, k = start + j, arg[j]
            old = labels[r]
            if k == old:
                continue
            labels[r] = k
            weight = w[r] if len(w) else 1.0
            cost += weight * best[j] if old < 0 else 0.0
            gain += _move_to(x, r, shift, scale, centers, weight, old, k, best[j], sums, counts)
            changed += 1
    return cost, gain, changed


@compiled(fastmath=FAST)
def _reassign(x, w, shift, scale, centers, half, move, drop, labels, upper, lower, sums, counts, B):  # type: ignore[no-untyped-def]
    if B == 0:
        return _reassign_all(x, w, shift, scale, centers, labels, sums, counts)
    n, d = x.shape
    K = len(centers)
    doubled, squares = np.empty((K, d)), np.zeros(K)
    doubled_single, squares_single = np.empty((K, d), np.float32), np.empty(K, np.float32)
    longest = 0.0
    for k in range(K):
        for i in range(d):
            doubled[k, i] = doubled_single[k, i] = -2.0 * centers[k, i]
            squares[k] += centers[k, i] * centers[k, i]
        squares_single[k] = squares[k]
        longest = max(longest, np.sqrt(squares[k]))
    buffer, block = np.zeros((B, d), np.float32), np.zeros((d, B), np.float32)
    scores = np.empty((K, B), np.float32)
    best, second, arg = np.empty(B, np.float32), np.empty(B, np.float32), np.empty(B, np.int32)
    buffer_double, block_double, scores_double = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))
    low, high = np.empty(B), np.empty(B)
    norms, slack, over, under = np.zeros(B), np.zeros(B), np.zeros(B), np.zeros(B)
    queue = np.empty(CHUNK + B, np.int64)  # what is left of one chunk goes before the next
    cost = gain = 0.0
    waiting = changed = 0
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        if labels[start] < 0:
            for r in range(start, stop):
                queue[waiting + r - start] = r
            waiting += stop - start
        else:
            waiting += _undecided(
                x, shift, scale, centers, half, move, drop, labels, upper, lower, start, stop, queue[waiting:]
            )
        done = 0
        while waiting - done >= B or (stop == n and done < waiting):
            rows = queue[done : min(done + B, waiting)]
            done += len(rows)
            _load(x, rows, shift, scale, buffer, block, norms)
            # Survey the block in single precision, and again in double where that leaves many rows open.
            _scores_and_two_nearest(block, doubled_single, squares_single, scores, best, second, arg)
            for j in range(B):
                reach = 2.0 * np.sqrt(norms[j]) * longest + longest * longest
                slack[j] = (d + 6) * (EPS_SINGLE * reach + 1e-37)
            open_rows = _bound(best, second, norms, slack, over, under)
            if open_rows > B // 8:
                if block_double.size == 0:
                    buffer_double, block_double = np.zeros((B, d)), np.zeros((d, B))
                    scores_double = np.empty((K, B))
                _load(x, rows, shift, scale, buffer_double, block_double, norms)
                for j in range(B):
                    slack[j] *= EPS / EPS_SINGLE
                _scores_and_two_nearest(block_double, doubled, squares, scores_double, low, high, arg)
                open_rows = _bound(low, high, norms, slack, over, under)
            elif open_rows:
                for j in range(B):
                    low[j], high[j] = best[j], second[j]
            for j in range(len(rows)):
                r, k = rows[j], arg[j]
                if open_rows and not high[j] - low[j] > slack[j]:
                    near, next_near, k = _measure(x, r, shift, scale, centers)
                    error = (d + 6) * EPS * near
                    over[j] = np.sqrt(near + error) * UP
                    under[j] = np.sqrt(max(next_near - error, 0.0)) * DOWN
                upper[r], lower[r] = over[j], under[j]
                old = labels[r]
                if k == old:
                    continue
                labels[r] = k
                weight = w[r] if len(w) else 1.0
                exact = _distance(x, r, shift, scale, centers, k)
                cost += weight * exact if old < 0 else 0.0
                gain += _move_to(x, r, shift, scale, centers, weight, old, k, exact, sums, counts)
                changed += 1
        for q in range(done, waiting):
            queue[q - done] = queue[q]
        waiting -= done
    return cost, gain, changed


@entry(f"{_given} {_moved} OUT_LABELS OUT_SINGLE_VECTOR OUT_SINGLE_VECTOR OUT_MATRIX OUT_VECTOR INT")
def reassign(x, w, shift, scale, centers, half, move, drop, labels, upper, lower, sums, counts, B):  # type: ignore[no-untyped-def]
    return _reassign(x, w, shift, scale, centers, half, move, drop, labels, upper, lower, sums, counts, B)


@compiled(fastmath=FAST)
def _cluster_sums(x, w, shift, scale, centers, labels, sums, counts):  # type: ignore[no-untyped-def]
    cost, away, row = 0.0, -1.0, -1
    for r in range(len(x)):
        k, weight = labels[r], w[r] if len(w) else 1.0
        distance = _distance(x, r, shift, scale, centers, k)
        cost += weight * distance
        counts[k] += weight
        _add(x, r, shift, scale, weight, sums, k)
        if weight > 0.0 and distance > away:
            away, row = distance, r
    return cost, away, row


@entry(f"{_given} LABELS OUT_MATRIX OUT_VECTOR")
def cluster_sums(x, w, shift, scale, centers, labels, sums, counts):  # type: ignore[no-untyped-def]
    return _cluster_sums(x, w, shift, scale, centers, labels, sums, counts)


@compiled(fastmath=FAST)
def _spread(centers, move, half, drop):  # type: ignore[no-untyped-def]
    """Fill in `half` and `drop` of `tractable.primitives.kmeans.Movement`, given the moves."""
    half[:] = np.inf
    drop[:] = 0.0
    for k in range(len(centers)):
        for other in range(k):
            apart = 0.5 * np.sqrt(_square(centers, k, centers[other])) * (1.0 - 1e-12)
            half[k], half[other] = min(half[k], apart), min(half[other], apart)
            drop[k], drop[other] = max(drop[k], move[other]), max(drop[other], move[k])


@entry("MATRIX DENSE_VECTOR DENSE_VECTOR FLOAT OUT_MATRIX FLOAT OUT_LABELS OUT_VECTOR INT")
def lloyd(x, w, shift, scale, centers, least, labels, costs, B):  # type: ignore[no-untyped-def]
    n, d, K = len(x), x.shape[1], len(centers)
    upper, lower = np.zeros(n, np.float32), np.zeros(n, np.float32)
    half, move, drop = np.zeros(K), np.zeros(K), np.zeros(K)
    sums, counts = np.zeros((K, d)), np.zeros(K)
    # The same memory, as `reassign` and `cluster_sums` have it.
    here, halved, moved, dropped = read_only(centers), read_only(half), read_only(move), read_only(drop)
    labels[:] = -1
    for step in range(len(costs)):
        settled = False
        if step:
            total = 0.0
            costs[step] = costs[step - 1]
            for k in range(K):
                if not counts[k] > 0.0:
                    return -1, False
                square = 0.0
                for i in range(d):
                    mean = sums[k, i] / counts[k]
                    square += (mean - centers[k, i]) ** 2
                    centers[k, i] = mean
                move[k] = np.sqrt(square) * (1.0 + 1e-12)
                costs[step] -= counts[k] * square
                total += square
            settled = total <= least
            if B:
                _spread(centers, move, half, drop)
        cost, gain, _ = _reassign(
            x, w, shift, scale, here, halved, moved, dropped, labels, upper, lower, sums, counts, B
        )
        costs[step] = costs[step] - gain if step else cost
        if step and len(w):  # differences of weights would gather rounding
            sums[:], counts[:] = 0.0, 0.0
            costs[step], _, _ = _cluster_sums(x, w, shift, scale, here, read_only(labels), sums, counts)
        if settled:
            return step, True
    return len(costs) - 1, False


BLOCK = 512

#: Columns from which on the triangle inequality spares more than it takes to look at every row.
SPARED = 8

#: A quarter, less what rounding may add to the squared distances that it multiplies.
QUARTER = 0.25 - 1e-11


@compiled()
def _mass(w, closest, even, i):  # type: ignore[no-untyped-def]
    count = w[i] if len(w) else 1.0
    return count if even else count * closest[i]


@compiled()
def _draw(w, closest, even, levels, rows):  # type: ignore[no-untyped-def]
    """Fill in the rows in which the cumulative mass first exceeds each share of the whole."""
    n = len(closest)
    total, last = 0.0, 0
    for i in range(n):
        m = _mass(w, closest, even, i)
        total += m
        last = i if m > 0.0 else last
    order = np.empty(len(levels), np.int64)  # of the levels, of which there are few
    for new in range(len(levels)):
        at = new
        while at > 0 and levels[order[at - 1]] > levels[new]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = new
    held, i = 0.0, -1
    for t in order:
        while i < last and (i < 0 or held <= levels[t] * total):
            i += 1
            held += _mass(w, closest, even, i)
        rows[t] = i


@compiled(fastmath={"contract"})
def _nearer(block, n, center, closest, out):  # type: ignore[no-untyped-def]
    """Fill in min(closest, |x - center|²) for the columns of a transposed block."""
    for j in range(n):
        out[j] = 0.0
    few = len(center) % 4
    for i in range(few):
        for j in range(n):
            out[j] += (block[i, j] - center[i]) ** 2
    for i in range(few, len(center), 4):
        a, b, c, d = center[i], center[i + 1], center[i + 2], center[i + 3]
        for j in range(n):
            out[j] += ((block[i, j] - a) ** 2 + (block[i + 1, j] - b) ** 2) + (
                (block[i + 2, j] - c) ** 2 + (block[i + 3, j] - d) ** 2
            )
    for j in range(n):
        out[j] = min(out[j], closest[j])


@compiled(fastmath={"contract"})
def _costs(x, w, closest, centers, keep, costs):  # type: ignore[no-untyped-def]
    """Sum w min(closest, |x - c|²) for each candidate; with `keep`, write it down for the only one."""
    n, d = x.shape
    block, out = np.empty((d, BLOCK)), np.empty(BLOCK)
    costs[:] = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        for i in range(d):
            for j in range(m):
                block[i, j] = x[start + j, i]
        for t in range(len(centers)):
            _nearer(block, m, centers[t], closest[start : start + m], out)
            for j in range(m):
                costs[t] += out[j] * (w[start + j] if len(w) else 1.0)
            if keep:
                for j in range(m):
                    closest[start + j] = out[j]


@compiled(fastmath=FAST)
def _gains(x, w, closest, owner, centers, apart, number, gains):  # type: ignore[no-untyped-def]
    """Sum w max(closest - |x - c|², 0) for each candidate; with a `number`, write down the only one under it.

    `apart` (candidates, centres) holds a `QUARTER` of the squared distances to the centres so far. A row that
    is nearer to its own centre than half of the distance between that and the candidate is not nearer to the
    candidate, and is passed over.
    """
    n, queue = len(x), np.empty(BLOCK, np.int64)
    gains[:] = 0.0
    for start in range(0, n, BLOCK):
        for t in range(len(centers)):
            m = 0
            for i in range(start, min(start + BLOCK, n)):  # without branches
                queue[m] = i
                m += closest[i] > apart[t, owner[i]]
            for q in range(m):
                i = queue[q]
                square = _square(x, i, centers[t])
                if square < closest[i]:
                    gains[t] += (closest[i] - square) * (w[i] if len(w) else 1.0)
                    if number >= 0:
                        closest[i], owner[i] = square, number


@compiled()
def _seeding_costs(x, w, closest, owner, centers, apart, number, costs):  # type: ignore[no-untyped-def]
    """See `seeding_costs`."""
    if apart.shape[1] == 0:
        _costs(x, w, closest, centers, number >= 0, costs)
        return
    _gains(x, w, closest, owner, centers, apart, number, costs)
    costs *= -1.0
    if number >= 0:
        costs[0] = 0.0
        for i in range(len(x)):
            costs[0] += _mass(w, closest, False, i)


@compiled()
def seed_rows(x, w, uniforms):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.kmeans.kmeans_plus_plus`; no weights are an empty array."""
    n, d = x.shape
    K, trials = uniforms.shape
    chosen, tried = np.empty(K, np.int64), np.empty(trials, np.int64)
    centers, costs = np.empty((trials, d)), np.empty(trials)
    apart = np.zeros((trials, K if d >= SPARED else 0))
    closest, owner = np.empty(n), np.zeros(n, np.int32)
    closest[:] = total = np.inf
    for k in range(K):
        greedy = 0.0 < total < np.inf
        m = trials if greedy else 1
        _draw(w, closest, not greedy, uniforms[k, :m], tried)
        for t in range(m):
            for i in range(d):
                centers[t, i] = x[tried[t], i]
            for j in range(k if apart.shape[1] else 0):
                apart[t, j] = QUARTER * _square(x, chosen[j], centers[t])
        best = 0
        if greedy:
            _seeding_costs(x, w, closest, owner, read_only(centers), read_only(apart), -1 - k, costs)
            for t in range(1, trials):
                best = t if costs[t] < costs[best] else best
        chosen[k] = tried[best]
        one = slice(best, best + 1)
        _seeding_costs(x, w, closest, owner, read_only(centers[one]), read_only(apart[one]), k, costs[:1])
        total = costs[0]
    return chosen


@entry("MATRIX DENSE_VECTOR MATRIX", fastmath=False)
def seeds(x, w, uniforms):  # type: ignore[no-untyped-def]
    return seed_rows(x, w, uniforms)


@entry("MATRIX DENSE_VECTOR OUT_VECTOR OUT_LABELS MATRIX MATRIX INT", fastmath=False)
def seeding_costs(x, w, closest, owner, centers, apart, number):  # type: ignore[no-untyped-def]
    """Return Σ w min(closest, |x - c|²) for each candidate, but for a constant; see `_gains`.

    Without columns of `apart`, all distances are measured. With a `number`, the only candidate becomes the
    centre of that number: the sum is complete.
    """
    costs = np.empty(len(centers))
    _seeding_costs(x, w, closest, owner, centers, apart, number, costs)
    return costs


#: Columns met at a time: sixteen of them fit the first-level cache.
_TILE = 256


@entry("MATRIX MATRIX DENSE_VECTOR INDICES", fastmath={"contract", "reassoc"})
def distance_sums(x, columns, weights, starts):  # type: ignore[no-untyped-def]
    n, n_groups = x.shape[0], len(starts) - 1
    out = np.zeros((n, n_groups))
    squares = np.empty(_TILE)
    for k in range(n_groups):
        for start in range(starts[k], starts[k + 1], _TILE):
            end = min(start + _TILE, starts[k + 1])
            for i in range(n):
                tile_squares(x[i], columns, start, end - start, squares)
                total = 0.0
                for j in range(end - start):
                    total += weights[start + j] * np.sqrt(squares[j])
                out[i, k] += total
    return out


@entry(
    "MATRIX MATRIX DENSE_VECTOR INDICES MATRIX DENSE_VECTOR DENSE_VECTOR", fastmath={"contract", "reassoc"}
)
def distance_sums_of_products(x, columns, weights, starts, products, row_squares, column_squares):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.kmeans.distance_sums`; x · columns and their squares are given."""
    n, n_groups = x.shape[0], len(starts) - 1
    out = np.zeros((n, n_groups))
    squares = np.empty(_TILE)
    for i in range(n):
        for k in range(n_groups):
            total = 0.0
            for start in range(starts[k], starts[k + 1], _TILE):
                end = min(start + _TILE, starts[k + 1])
                product, other = products[i, start:end], column_squares[start:end]
                doubtful = 0
                for j in range(end - start):
                    both = row_squares[i] + other[j]
                    squares[j] = both - 2.0 * product[j]
                    doubtful += squares[j] < 0.01 * both
                if doubtful:
                    _repair(x[i], columns, start, row_squares[i], other, squares)
                for j in range(end - start):
                    total += weights[start + j] * np.sqrt(squares[j])
            out[i, k] = total
    return out


@compiled(fastmath={"contract", "reassoc"})
def _repair(row, columns, start, row_square, other, squares):  # type: ignore[no-untyped-def]
    """Take the differences where the products have cancelled."""
    for j in range(len(other)):
        if squares[j] < 0.01 * (row_square + other[j]):
            total = 0.0
            for c in range(len(row)):
                step = columns[c, start + j] - row[c]
                total += step * step
            squares[j] = total


#: A squared distance below this fraction of the squared lengths has lost digits in their difference.
_CANCELLED = 1e-6

_stored = "DENSE_VECTOR UNSIGNED INDICES DENSE_VECTOR"  # data, columns, indptr, w


@entry(
    f"{_stored} MATRIX DENSE_VECTOR FLOAT {_moved} OUT_LABELS OUT_SINGLE_VECTOR OUT_SINGLE_VECTOR OUT_MATRIX "
    "OUT_VECTOR",
    fastmath=FAST,
)
def sparse_reassign(  # type: ignore[no-untyped-def]
    data, columns, indptr, w, points, squares, scale, half, move, drop, labels, upper, lower, sums, counts
):
    """See `reassign`: of sparse rows and points (d, K), neither shifted nor scaled; bounds are scaled."""
    K = points.shape[1]
    products = np.empty(K)
    cost = gain = 0.0
    changed = 0
    for r in range(len(labels)):
        start, end, old = indptr[r], indptr[r + 1], labels[r]
        length = own = 0.0
        if old >= 0:
            least, most = max(lower[r] - drop[old], 0.0) * DOWN, (upper[r] + move[old]) * UP
            lower[r], upper[r] = least, most
            if most < max(np.float64(lower[r]), half[old]):
                continue
            product = 0.0
            for at in range(start, end):
                length += data[at] * data[at]
                product += data[at] * points[columns[at], old]
            slack = (end - start + 6) * EPS * (length + squares[old])
            own = length + squares[old] - 2.0 * product
            upper[r] = scale * np.sqrt(max(own, 0.0) + slack) * UP
            if upper[r] < max(np.float64(lower[r]), half[old]):
                continue
        length = _stored_products(data[start:end], columns[start:end], points, products)
        near, best, second, longest = 0, np.inf, np.inf, 0.0
        for k in range(K):
            score = squares[k] - 2.0 * products[k]
            longest = max(longest, squares[k])
            if score < best:
                near, best, second = k, score, best
            elif score < second:
                second = score
        slack = (end - start + 6) * EPS * (length + longest)
        upper[r] = scale * np.sqrt(max(best + length, 0.0) + slack) * UP
        lower[r] = scale * np.sqrt(max(second + length - slack, 0.0)) * DOWN
        if near == old:
            continue
        labels[r] = near
        weight = w[r] if len(w) else 1.0
        exact = _sparse_distance(
            data, columns, start, end, points, near, best + length, squares[near] + length
        )
        changed += 1
        if old < 0:
            cost += weight * exact
        else:
            own = squares[old] - 2.0 * products[old] + length
            own = _sparse_distance(data, columns, start, end, points, old, own, squares[old] + length)
            gain += max(weight * (own - exact), 0.0)
            counts[old] -= weight
            _add_stored(data, columns, start, end, -weight, sums, old)
        counts[near] += weight
        _add_stored(data, columns, start, end, weight, sums, near)
    return cost, gain, changed


@entry(f"{_stored} MATRIX DENSE_VECTOR LABELS OUT_MATRIX OUT_VECTOR", fastmath=FAST)
def sparse_cluster_sums(data, columns, indptr, w, points, squares, labels, sums, counts):  # type: ignore[no-untyped-def]
    """See `cluster_sums`: of sparse rows and points (d, K), neither shifted nor scaled."""
    cost, away, row = 0.0, -1.0, -1
    for r in range(len(labels)):
        start, end, k, weight = indptr[r], indptr[r + 1], labels[r], w[r] if len(w) else 1.0
        length = product = 0.0
        for at in range(start, end):
            length += data[at] * data[at]
            product += data[at] * points[columns[at], k]
        size = length + squares[k]
        square = _sparse_distance(data, columns, start, end, points, k, size - 2.0 * product, size)
        cost += weight * square
        counts[k] += weight
        _add_stored(data, columns, start, end, weight, sums, k)
        if weight > 0.0 and square > away:
            away, row = square, r
    return cost, away, row


@compiled(fastmath=FAST)
def _stored_products(row, at, points, products):  # type: ignore[no-untyped-def]
    """Write the products of a sparse row with all points (d, K), and return its squared length."""
    n, K = len(row), points.shape[1]
    length = 0.0
    for k in range(K):
        products[k] = 0.0
    for h in range(n // 4):  # four entries at a time: products are read and written less often
        i = 4 * h
        a, b, c, d = row[i], row[i + 1], row[i + 2], row[i + 3]
        first, second, third, fourth = points[at[i]], points[at[i + 1]], points[at[i + 2]], points[at[i + 3]]
        length += a * a + b * b + c * c + d * d
        for k in range(K):
            products[k] += a * first[k] + b * second[k] + c * third[k] + d * fourth[k]
    for i in range(n // 4 * 4, n):
        a, first = row[i], points[at[i]]
        length += a * a
        for k in range(K):
            products[k] += a * first[k]
    return length


@compiled(fastmath=FAST)
def _add_stored(data, columns, start, end, weight, sums, k):  # type: ignore[no-untyped-def]
    into = sums[k]
    for at in range(start, end):
        into[columns[at]] += weight * data[at]


@compiled(fastmath=FAST)
def _sparse_distance(data, columns, start, end, points, k, square, size):  # type: ignore[no-untyped-def]
    """Return |x - y_k|² of a sparse row with sorted columns; by differences in all where it cancelled."""
    if square >= _CANCELLED * size:
        return square
    total, at = 0.0, start
    for j in range(points.shape[0]):
        x = 0.0
        if at < end and columns[at] == j:
            x = data[at]
            at += 1
        total += (x - points[j, k]) ** 2
    return total
