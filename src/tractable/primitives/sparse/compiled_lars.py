"""Least-angle regression from knot to knot, as long as one column enters or leaves at each."""

import numpy as np

from tractable.primitives.compiled_options import compiled, entry
from tractable.primitives.sparse.agnostic import PARALLEL
from tractable.primitives.sparse.compiled import (
    FAST,
    append_row,
    remove_row,
    solve_rows,
    sum_of_rows,
)

#: Knots after which correlations are computed anew, so that rounding does not gather in them.
RENEW = 32
#: Correlations are computed anew, too, when the penalty has fallen to this fraction of what it was then.
RENEWAL_FALL = 0.1
#: Correlations that differ by less, relative to the lengths of column and target, are one.
TIE = 1e-13
#: A correlation at the penalty rises above it where it falls more slowly by this.
RISING = 1e-9
#: A column of which less than this is independent of those in use before it costs digits of their direction.
INDEPENDENT = 1e-4


@entry(
    "MATRIX DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR FLOAT INT FLOAT BOOL BOOL INT FLOAT FLOAT INT "
    "OUT_VECTOR OUT_VECTOR OUT_VECTOR OUT_VECTOR OUT_MASK OUT_INDICES OUT_MATRIX "
    "OUT_VECTOR OUT_MATRIX OUT_INDEX_MATRIX OUT_INDICES",
    fastmath=FAST,
)
def follow_knots(  # type: ignore[no-untyped-def]
    gram, moment, lengths, ties, zero, rank, least, positive, drop, n_knots, penalty, renewed, k,
    w, q, sign, towards, dependent, active, factor,
    levels, values, columns, counts,
):  # fmt: skip
    """See `tractable.primitives.sparse.follow_knots`; all arrays of the state are changed in place."""
    p, m, aim, fresh = len(moment), 0, np.empty(len(factor)), np.empty(len(factor))
    while m < len(levels) and _is_above(q, ties, least, positive):
        length = 0.0
        for i in range(k):
            aim[i] = sign[active[i]]
        solve_rows(factor, aim, k)
        for i in range(k):
            j = active[i]
            length += aim[i] * sign[j]
            if drop and aim[i] * sign[j] <= 0.0 and abs(w[j]) * lengths[j] <= zero:
                return m, k, penalty, renewed, False
        along = sum_of_rows(gram, active[:k], aim, p)
        slack = TIE * np.sqrt(max(length, 0.0))
        entering, entry_ = _entering(q, along, sign, dependent, ties, lengths, slack, penalty, positive)
        if entering == -2:
            return m, k, penalty, renewed, False
        leaving, exit_ = _leaving(aim, w, sign, active, k) if drop else (-1, np.inf)
        if k >= rank:
            entry_ = np.inf
        length = min(entry_, exit_)
        if length >= penalty - least or length <= TIE * penalty:
            break
        if exit_ > entry_:
            leaving = -1
            side = 1.0 if q[entering] - length * along[entering] >= 0.0 else -1.0
            for i in range(k):
                fresh[i] = gram[entering, active[i]]
            tied = penalty - side * q[entering] <= ties[entering]
            if tied or k == len(factor) or not append_row(factor, k, fresh, gram[entering, entering]):
                break
        penalty -= length
        _land(factor, moment, penalty, sign, active, k, lengths, zero, drop, length, leaving, aim, fresh, w)
        if (n_knots + m) % RENEW == 0 or penalty <= RENEWAL_FALL * renewed:
            for i in range(k):
                fresh[i] = w[active[i]]
            explained = sum_of_rows(gram, active[:k], fresh, p)
            for j in range(p):
                q[j] = moment[j] - explained[j]
            renewed = penalty
        else:
            for j in range(p):
                q[j] -= length * along[j]
        levels[m], counts[m] = penalty, k
        for i in range(k):
            j = active[i]
            columns[m, i], values[m, i], towards[j] = j, w[j], aim[i]
        m += 1
        if leaving >= 0:
            j = active[leaving]
            w[j], sign[j], towards[j] = 0.0, 0.0, 0.0
            remove_row(factor, k, leaving)
            k -= 1
            for i in range(leaving, k):
                active[i] = active[i + 1]
            dependent[:] = False
        else:
            active[k], sign[entering] = entering, np.sign(q[entering])
            k += 1
            if factor[k - 1, k - 1] < INDEPENDENT * lengths[entering]:
                return m, k, penalty, renewed, True
    return m, k, penalty, renewed, False


@compiled(fastmath=FAST)
def _is_above(q, ties, least, positive):  # type: ignore[no-untyped-def]
    """Return whether a correlation is above the last penalty, by more than rounding."""
    above = False
    for j in range(len(q)):
        above |= (q[j] if positive else abs(q[j])) - least > ties[j] + TIE * least
    return above


@compiled(fastmath=FAST)
def _entering(q, along, sign, dependent, ties, lengths, slack, penalty, positive):  # type: ignore[no-untyped-def]
    """Return the first column to enter, and after which fall of the penalty; -2 where one enters at once."""
    first, soonest = -1, np.inf
    for j in range(len(q)):
        if sign[j] != 0.0 or dependent[j]:
            continue
        for side in (1.0, -1.0):
            if side < 0.0 and positive:
                continue
            left, closing = penalty - side * q[j], 1.0 - side * along[j]
            if left <= ties[j] and closing > RISING + slack * lengths[j]:
                return -2, 0.0
            if closing > PARALLEL and max(left, 0.0) < soonest * closing:
                first, soonest = j, max(left, 0.0) / closing
    return first, soonest


@compiled(fastmath=FAST)
def _leaving(aim, w, sign, active, k):  # type: ignore[no-untyped-def]
    """Return the place of the first coefficient to reach zero, and after which fall of the penalty."""
    first, soonest = -1, np.inf
    for i in range(k):
        j = active[i]
        if aim[i] * sign[j] < 0.0 and -w[j] / aim[i] < soonest:
            first, soonest = i, -w[j] / aim[i]
    return first, soonest


@compiled(fastmath=FAST)
def _land(  # type: ignore[no-untyped-def]
    factor, moment, penalty, sign, active, k, lengths, zero, drop, length, leaving, aim, fresh, w
):
    """Set the coefficients in use at a knot: solved for anew, where that changes no sign, or else moved."""
    for i in range(k):
        fresh[i] = moment[active[i]] - penalty * sign[active[i]]
    solve_rows(factor, fresh, k)
    exact = True
    for i in range(k):
        j = active[i]
        if drop and (i == leaving or fresh[i] * sign[j] < 0.0):
            exact &= abs(fresh[i]) * lengths[j] <= zero
    for i in range(k):
        j = active[i]
        there = fresh[i] if exact else w[j] + length * aim[i]
        kept = not drop or (i != leaving and there * sign[j] > 0.0)
        w[j] = there if kept else 0.0
