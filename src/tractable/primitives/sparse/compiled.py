"""A Cholesky factor, row by row, of columns that come and go."""

import numpy as np

from tractable.primitives.compiled_options import compiled, entry
from tractable.primitives.sparse.agnostic import DEPENDENT, PARALLEL

FAST = {"contract", "reassoc", "nsz"}


@compiled(fastmath=FAST)
def _forward(factor, b, k):  # type: ignore[no-untyped-def]
    """Solve L x = b in place."""
    for i in range(k):
        row, total = factor[i], b[i]
        for j in range(i):
            total -= row[j] * b[j]
        b[i] = total / row[i]


@compiled(fastmath=FAST)
def back_substitute(factor, b, k):  # type: ignore[no-untyped-def]
    """Solve Lᵀ x = b in place, so that L is still read along its rows."""
    for i in range(k - 1, -1, -1):
        row = factor[i]
        b[i] /= row[i]
        x = b[i]
        for j in range(i):
            b[j] -= x * row[j]


@entry("MATRIX OUT_VECTOR INT", fastmath=FAST)
def solve_rows(factor, b, k):  # type: ignore[no-untyped-def]
    _forward(factor, b, k)
    back_substitute(factor, b, k)


@entry("OUT_MATRIX INT DENSE_VECTOR FLOAT", fastmath=FAST)
def append_row(factor, k, cross, own):  # type: ignore[no-untyped-def]
    row = factor[k]
    for i in range(k):
        row[i] = cross[i]
    _forward(factor, row, k)
    pivot = own
    for i in range(k):
        pivot -= row[i] * row[i]
    if not pivot > DEPENDENT * own:
        return False
    row[k] = np.sqrt(pivot)
    return True


@entry("OUT_MATRIX INT INT", fastmath=FAST)
def remove_row(factor, k, at):  # type: ignore[no-untyped-def]
    cosine, sine = np.empty(k), np.empty(k)
    for i in range(at, k - 1):
        row, below = factor[i], factor[i + 1]
        for j in range(i + 2):
            row[j] = below[j]
        # Each row sits one place too far to the right: the rotations of the rows above, then its own.
        for j in range(at, i):
            x, y = row[j], row[j + 1]
            row[j] = cosine[j] * x + sine[j] * y
            row[j + 1] = cosine[j] * y - sine[j] * x
        length = np.hypot(row[i], row[i + 1])
        cosine[i], sine[i] = row[i] / length, row[i + 1] / length
        row[i], row[i + 1] = length, 0.0


@entry("MATRIX INDICES DENSE_VECTOR INT", fastmath=FAST)
def weighted_rows(matrix, which, weights, n_columns):  # type: ignore[no-untyped-def]
    return sum_of_rows(matrix, which, weights, n_columns)


@compiled(fastmath=FAST)
def sum_of_rows(matrix, which, weights, n_columns):  # type: ignore[no-untyped-def]
    total = np.zeros(n_columns)
    k, i = len(which), 0
    while i + 4 <= k:
        first, second = matrix[which[i]], matrix[which[i + 1]]
        third, fourth = matrix[which[i + 2]], matrix[which[i + 3]]
        s, t, u, v = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for j in range(len(total)):
            total[j] += s * first[j] + t * second[j] + u * third[j] + v * fourth[j]
        i += 4
    while i < k:
        row, s = matrix[which[i]], weights[i]
        for j in range(len(total)):
            total[j] += s * row[j]
        i += 1
    return total


@entry("DENSE_VECTOR DENSE_VECTOR MASK FLOAT BOOL", fastmath=False)
def first_to_enter(heights, slopes, free, level, positive):  # type: ignore[no-untyped-def]
    first, soonest = 0, np.inf
    for j in range(len(heights)):
        if not free[j]:
            continue
        closing = 1.0 - slopes[j]
        if closing > PARALLEL:
            way = max(level - heights[j], 0.0) / closing
            if way < soonest:
                first, soonest = j, way
        closing = 1.0 + slopes[j]
        if closing > PARALLEL and not positive:
            way = max(level + heights[j], 0.0) / closing
            if way < soonest:
                first, soonest = j, way
    return first, soonest


#: Iterations without progress after which rounding is all that is left.
_PATIENCE = 20


@entry(
    "MATRIX DENSE_VECTOR FLOAT FLOAT FLOAT FLOAT BOOL INT OUT_VECTOR OUT_VECTOR OUT_INDICES OUT_MATRIX INT",
    fastmath=FAST,
)
def solve_lasso(  # type: ignore[no-untyped-def]
    gram, moment, square, penalty, ridge, tol, positive, max_iter, w, q, support, factor, k
):
    """See `tractable.primitives.sparse.solve_lasso`; all arrays of the state are changed in place."""
    sign, step = np.zeros(len(w)), np.empty(len(w))
    for i in range(k):
        sign[support[i]] = np.sign(w[support[i]])
    gap, lowest, waited = np.inf, np.inf, 0
    for iteration in range(1, max_iter + 1):
        k, whole = _newton(gram, penalty, ridge, w, q, sign, support, factor, k, step)
        if not whole:
            continue
        gap, value = _gap(moment, square, penalty, ridge, positive, w, q)
        if gap <= tol:
            return k, iteration, gap
        waited = waited + 1 if value >= lowest else 0
        if waited > _PATIENCE:
            break
        lowest = min(lowest, value)
        k = _enter(gram, penalty, ridge, positive, w, q, sign, support, factor, k, step)
    return k, max_iter, gap


@compiled(fastmath=FAST)
def _newton(gram, penalty, ridge, w, q, sign, support, factor, k, step):  # type: ignore[no-untyped-def]
    """Walk to the minimum over the support with its signs, or to the first sign that would change.

    With the signs fixed the objective is quadratic. Columns that reach zero leave; so do those that came in
    together with others and would set out against their sign.
    """
    for i in range(k):
        j = support[i]
        step[i] = q[j] - ridge * w[j] - penalty * sign[j]
    solve_rows(factor, step, k)
    length = 1.0
    for i in range(k):
        j = support[i]
        if (w[j] + step[i]) * sign[j] <= 0.0:
            length = min(length, abs(w[j] / step[i]) if step[i] != 0.0 else 0.0)
    _move(gram, support, step, length, k, w, q)
    if length == 1.0:
        return k, True
    before = k
    for i in range(before - 1, -1, -1):
        j = support[i]
        if w[j] * sign[j] <= 1e-14 * abs(step[i]) and step[i] * sign[j] <= 0.0:
            k = _leave(gram, i, w, q, sign, support, factor, k)
    return k, k == before


@compiled(fastmath=FAST)
def _enter(gram, penalty, ridge, positive, w, q, sign, support, factor, k, step):  # type: ignore[no-untyped-def]
    """Take in every column whose correlation is above the penalty.

    One that follows from those in use waits until it is alone, and the support is at its minimum.
    """
    before = k
    for j in range(len(w)):
        size = q[j] if positive else abs(q[j])
        if sign[j] != 0.0 or not size > penalty * (1.0 + 1e-12):
            continue
        sign[j] = np.sign(q[j])
        if _append(gram, ridge, j, support, factor, k, step):
            k += 1
        elif k == before > 0:
            return _exchange(gram, ridge, j, w, q, sign, support, factor, k, step)
        else:
            sign[j] = 0.0
    return k


@compiled(fastmath=FAST)
def _append(gram, ridge, j, support, factor, k, step):  # type: ignore[no-untyped-def]
    for i in range(k):
        step[i] = gram[j, support[i]]
    if not append_row(factor, k, step, gram[j, j] + ridge) or k + 1 == len(factor):
        return False
    support[k] = j
    return True


@compiled(fastmath=FAST)
def _exchange(gram, ridge, j, w, q, sign, support, factor, k, step):  # type: ignore[no-untyped-def]
    """Take in column j, which follows from those in use: x_j = Σ z_i x_i.

    The fit does not change along (1, -z), the penalty falls: walk until a column in use reaches zero, and
    let it go. The row that could not be appended holds L⁻¹ of the products of j with the others.
    """
    for i in range(k):
        step[i] = factor[k, i]
    back_substitute(factor, step, k)
    blocking, length = -1, np.inf
    for i in range(k):
        step[i] *= -sign[j]
        if step[i] * sign[support[i]] < 0.0 and abs(w[support[i]] / step[i]) < length:
            blocking, length = i, abs(w[support[i]] / step[i])
    if blocking < 0:
        sign[j] = 0.0
        return k
    _move(gram, support, step, length, k, w, q)
    _shift(gram, j, sign[j] * length, w, q)
    k = _leave(gram, blocking, w, q, sign, support, factor, k)
    if _append(gram, ridge, j, support, factor, k, step):
        return k + 1
    _shift(gram, j, -w[j], w, q)
    sign[j] = 0.0
    return k


@compiled(fastmath=FAST)
def _leave(gram, at, w, q, sign, support, factor, k):  # type: ignore[no-untyped-def]
    j = support[at]
    _shift(gram, j, -w[j], w, q)
    w[j], sign[j] = 0.0, 0.0
    remove_row(factor, k, at)
    for i in range(at, k - 1):
        support[i] = support[i + 1]
    return k - 1


@compiled(fastmath=FAST)
def _shift(gram, j, change, w, q):  # type: ignore[no-untyped-def]
    """Change one coefficient, and what is left of the correlations with it."""
    if change != 0.0:
        w[j] += change
        row = gram[j]
        for i in range(len(w)):
            q[i] -= change * row[i]


@compiled(fastmath=FAST)
def _move(gram, support, step, length, k, w, q):  # type: ignore[no-untyped-def]
    """Change all coefficients in use."""
    if length != 0.0:
        change, used = np.empty(k), support[:k]
        for i in range(k):
            change[i] = length * step[i]
            w[used[i]] += change[i]
        q -= sum_of_rows(gram, used, change, len(q))


@compiled(fastmath=FAST)
def _gap(moment, square, penalty, ridge, positive, w, q):  # type: ignore[no-untyped-def]
    """Primal less dual objective, and the primal; the dual point is the residual, shrunk to be feasible."""
    top, size, fit, left, norm = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(len(w)):
        slope = q[j] - ridge * w[j]
        top = max(top, slope if positive else abs(slope))
        if w[j] != 0.0:
            size += abs(w[j])
            fit += w[j] * moment[j]
            left += w[j] * q[j]
            norm += w[j] * w[j]
    rest = max(square - fit - left, 0.0) + ridge * norm
    dual_scale = min(1.0, penalty / top) if top > 0.0 else 1.0
    primal = 0.5 * rest + penalty * size
    return primal + 0.5 * dual_scale * dual_scale * rest - dual_scale * (square - fit), primal


@entry("MATRIX DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR INT BOOL", fastmath=False)
def coordinate_sweeps(hessian, slope, penalty_weights, x, n_sweeps, positive):  # type: ignore[no-untyped-def]
    u, q = x.copy(), slope.copy()
    for _ in range(n_sweeps):
        moved = False
        for j in range(len(u)):
            a = hessian[j, j]
            if a <= 0.0:
                continue
            correlation = a * u[j] - q[j]
            rest = max((correlation if positive else abs(correlation)) - penalty_weights[j], 0.0) / a
            step = (rest if correlation > 0.0 else -rest) - u[j]
            if step != 0.0:
                moved = True
                u[j] += step
                for i in range(len(u)):
                    q[i] += step * hessian[j, i]
        if not moved:
            break
    return u, q


#: Rounds over the coefficients that are not zero between two over all, and columns that are read together.
_INNER, _TOGETHER = 4, 4
#: The products of k columns with each other, and their factor, take as long as k / 8 rounds, and at least 10.
_FEW_ROUNDS, _FACTORED = 10.0, 8.0
#: Evaluations of the duality gap after which its fall is that of the descent, not of the start.
_FIRST_GAPS = 4


@entry("MATRIX DENSE_VECTOR FLOAT FLOAT BOOL FLOAT BOOL INT OUT_VECTOR OUT_VECTOR", fastmath=FAST)
def column_descent(  # type: ignore[no-untyped-def]
    columns, squares, penalty, ridge, positive, tol, rough, max_iter, w, residual
):
    p, visited, gap, k, n_gaps = len(w), 0.0, np.inf, 0, 0
    every, used, step = np.arange(p), np.empty(p, dtype=np.int64), np.empty(_TOGETHER)
    products = np.empty((p // _TOGETHER, _TOGETHER, _TOGETHER))
    products_of_used = np.empty_like(products)
    _products(columns, every, p, products)
    while visited < max_iter * p:
        before, since, same = gap, visited, True
        problem = columns, squares, penalty, ridge, positive
        largest = _round(problem, every, p, products, step, w, residual)
        k_before, k = k, 0
        for j in range(p):
            if w[j] != 0.0:
                same = same and k < k_before and used[k] == j
                used[k] = j
                k += 1
        same = same and k == k_before
        dense = 4 * k > 3 * p  # rounds over all take hardly longer, and the products are there
        if not (same or dense):
            _products(columns, used, k, products_of_used)
            visited += 0.5 * k
        visited += p
        for _ in range(_INNER):
            if dense:
                change = _round(problem, every, p, products, step, w, residual)
            else:
                change = _round(problem, used, k, products_of_used, step, w, residual)
            visited += p if dense else k
            if change <= 0.1 * largest:
                break
        gap = _column_gap(problem, rough, step, w, residual)
        visited, n_gaps = visited + 0.5 * p, n_gaps + 1
        if gap <= tol:
            break
        if n_gaps < _FIRST_GAPS or (k > len(residual) and ridge > 0.0):
            continue
        # Rounds over the columns in use until then, if the gap goes on to fall as fast as it did.
        rounds, fall = (visited - since) / max(k, 1), np.log(before / gap)
        ahead = rounds * np.log(gap / tol) / fall if fall > 0.0 else np.inf
        # A support that is far from settled takes several factors, each of some k rounds.
        worth = max(k / _FACTORED, _FEW_ROUNDS) if same else max(k, 10.0 * _FEW_ROUNDS)
        if ahead > (4.0 if rough else 1.0) * worth:
            break
    return gap, visited / max(p, 1)


@compiled(fastmath=FAST)
def _round(problem, which, k, products, step, w, residual):  # type: ignore[no-untyped-def]
    """Minimise over one coefficient after the other; return the largest square of how far the fit moved.

    The correlations of a few columns are computed together, and their products tell how each changes with the
    coefficients before it: the residual is read and written once for all of them.
    """
    columns, squares, penalty, ridge, positive = problem
    largest, n_groups = 0.0, k // _TOGETHER
    for group in range(n_groups):
        chosen = which[_TOGETHER * group : _TOGETHER * (group + 1)]
        _correlations(columns, chosen, residual, step)
        moved = False
        for a in range(_TOGETHER):
            j, correlation = chosen[a], step[a]
            for b in range(a):
                correlation -= step[b] * products[group, a, b]
            step[a] = _change(correlation, squares[j], penalty, ridge, positive, w[j])
            if step[a] != 0.0:
                moved = True
                w[j] += step[a]
                largest = max(largest, squares[j] * step[a] * step[a])
        if moved:
            _subtract(columns, chosen, step, residual)
    for i in range(_TOGETHER * n_groups, k):
        j, correlation = which[i], 0.0
        column = columns[j]
        for at in range(len(residual)):
            correlation += column[at] * residual[at]
        change = _change(correlation, squares[j], penalty, ridge, positive, w[j])
        if change != 0.0:
            w[j] += change
            largest = max(largest, squares[j] * change * change)
            for at in range(len(residual)):
                residual[at] -= change * column[at]
    return largest


@compiled(fastmath=FAST)
def _change(correlation, square, penalty, ridge, positive, here):  # type: ignore[no-untyped-def]
    """Return how far a coefficient is from its minimum, of a column with this correlation; zeros stay."""
    if square == 0.0:
        return 0.0
    correlation += square * here
    size = max((correlation if positive else abs(correlation)) - penalty, 0.0) / (square + ridge)
    return (size if correlation > 0.0 else -size) - here


@compiled(fastmath=FAST)
def _correlations(columns, chosen, vector, found):  # type: ignore[no-untyped-def]
    """Write the products of four columns with a vector."""
    first, second, third, fourth = (
        columns[chosen[0]],
        columns[chosen[1]],
        columns[chosen[2]],
        columns[chosen[3]],
    )
    s, t, u, v = 0.0, 0.0, 0.0, 0.0
    for i in range(len(vector)):
        x = vector[i]
        s += first[i] * x
        t += second[i] * x
        u += third[i] * x
        v += fourth[i] * x
    found[0], found[1], found[2], found[3] = s, t, u, v


@compiled(fastmath=FAST)
def _subtract(columns, chosen, step, residual):  # type: ignore[no-untyped-def]
    first, second, third, fourth = (
        columns[chosen[0]],
        columns[chosen[1]],
        columns[chosen[2]],
        columns[chosen[3]],
    )
    s, t, u, v = step[0], step[1], step[2], step[3]
    for i in range(len(residual)):
        residual[i] -= s * first[i] + t * second[i] + u * third[i] + v * fourth[i]


@compiled(fastmath=FAST)
def _products(columns, which, k, products):  # type: ignore[no-untyped-def]
    """Write the products of each column with those before it among the four that are read together."""
    for group in range(k // _TOGETHER):
        first, second = columns[which[_TOGETHER * group]], columns[which[_TOGETHER * group + 1]]
        third, fourth = columns[which[_TOGETHER * group + 2]], columns[which[_TOGETHER * group + 3]]
        s, t, u, x, y, z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(len(first)):
            s += first[i] * second[i]
            t += first[i] * third[i]
            u += second[i] * third[i]
            x += first[i] * fourth[i]
            y += second[i] * fourth[i]
            z += third[i] * fourth[i]
        own = products[group]
        own[1, 0], own[2, 0], own[2, 1], own[3, 0], own[3, 1], own[3, 2] = s, t, u, x, y, z


@compiled(fastmath=FAST)
def _column_gap(problem, rough, step, w, residual):  # type: ignore[no-untyped-def]
    """Primal less dual objective, as `_gap`; of a `rough` solution with a ridge, by the better dual point.

    The residual itself is feasible where there is a ridge: its gap falls with the squares of slopes.
    """
    columns, _, penalty, ridge, positive = problem
    p, chosen = len(w), np.empty(_TOGETHER, dtype=np.int64)
    top, size, fit, norm, rest, beyond = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for first in range(0, p, _TOGETHER):
        for a in range(_TOGETHER):
            chosen[a] = min(first + a, p - 1)
        _correlations(columns, chosen, residual, step)
        for a in range(min(_TOGETHER, p - first)):
            j, correlation = first + a, step[a]
            slope = correlation - ridge * w[j]
            top = max(top, slope if positive else abs(slope))
            above = max((correlation if positive else abs(correlation)) - penalty, 0.0)
            size += abs(w[j])
            norm += w[j] * w[j]
            fit += w[j] * correlation
            beyond += above * above
    for i in range(len(residual)):
        rest += residual[i] * residual[i]
    # The dual point is the residual times `dual_scale`, and its product with y is |y - Xw|² + wᵀXᵀ(y - Xw).
    dual_scale = min(1.0, penalty / top) if top > 0.0 else 1.0
    linear = penalty * size + 0.5 * ridge * norm * (1.0 + dual_scale * dual_scale) - dual_scale * fit
    gap = 0.5 * rest * (1.0 - dual_scale) ** 2 + linear
    if rough and ridge > 0.0:
        gap = min(gap, penalty * size + 0.5 * ridge * norm - fit + 0.5 * beyond / ridge)
    return gap
