"""Class-wise moments, and log-densities of rows given each class."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry
from tractable.primitives.linear.compiled import NEAR

_FAST = {"contract", "nsz", "arcp"}


@entry("MATRIX INDICES DENSE_VECTOR INT", fastmath=_FAST)
def class_moments(x, codes, w, K):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.naive_bayes.class_moments`; an empty `w` counts every row once."""
    n, d = x.shape
    total, sums, scatter = np.zeros(K), np.zeros((K, d)), np.zeros((K, d))
    shift, known = np.zeros((K, d)), np.zeros(K, np.bool_)  # sums are about the first row that counts
    for i in range(n):
        c, row = codes[i], x[i]
        one = 1.0 if w.size == 0 else w[i]
        about, first, second = shift[c], sums[c], scatter[c]
        if not known[c] and one > 0.0:
            known[c] = True
            for j in range(d):
                about[j] = row[j]
        total[c] += one
        for j in range(d):
            step = row[j] - about[j]
            first[j] += one * step
            second[j] += one * step * step
    complete = near = True
    for c in range(K):
        own = total[c] if total[c] > 0.0 else 1.0
        for j in range(d):
            moved = sums[c, j] * (sums[c, j] / own)
            complete &= np.isfinite(sums[c, j])  # a missing entry makes its sum NaN
            scatter[c, j] -= moved
            near &= moved <= NEAR * scatter[c, j]
            sums[c, j] = shift[c, j] + sums[c, j] / own
    weight = np.zeros((K, 1 if complete else d))
    if complete:
        for c in range(K):
            weight[c, 0] = total[c]
    else:
        _observed_means(x, codes, w, weight, sums)
    if not (complete and near):
        _scatter_about(x, codes, w, complete, weight, sums, scatter)
    return weight, sums, scatter, total


@compiled(fastmath=_FAST)
def _scatter_about(x, codes, w, complete, weight, means, scatter):  # type: ignore[no-untyped-def]
    """Replace scatters by those of the observed entries about the means, whose rounding is corrected."""
    K, d = means.shape
    left = np.zeros((K, d))
    scatter[:] = 0.0
    for i in range(len(x)):
        c, row = codes[i], x[i]
        one = 1.0 if w.size == 0 else w[i]
        centre, first, second = means[c], left[c], scatter[c]
        for j in range(d):
            step = row[j] - centre[j]
            step = step if complete or step == step else 0.0  # noqa: PLR0124  (a missing entry)
            first[j] += one * step
            second[j] += one * step * step
    for c in range(K):
        own = weight[c]
        for j in range(d):
            n_c = own[0] if complete else own[j]
            step = left[c, j] / (n_c if n_c > 0.0 else 1.0)
            means[c, j] += step
            scatter[c, j] -= n_c * step * step


@compiled(fastmath=_FAST)
def _observed_means(x, codes, w, weight, means):  # type: ignore[no-untyped-def]
    """Replace weights and means by those of the observed entries."""
    n, d = x.shape
    weight[:], means[:] = 0.0, 0.0
    for i in range(n):
        c = codes[i]
        one = 1.0 if w.size == 0 else w[i]
        for j in range(d):
            if not np.isnan(x[i, j]):
                weight[c, j] += one
                means[c, j] += one * x[i, j]
    for c in range(len(means)):
        for j in range(d):
            means[c, j] /= weight[c, j] if weight[c, j] > 0.0 else 1.0


@entry("MATRIX INDICES DENSE_VECTOR FLOAT FLOAT OUT_MATRIX", fastmath=_FAST)
def class_sums(x, codes, w, low, high, out):  # type: ignore[no-untyped-def]
    """Add to `out`, (K, d), the rows of each class; an empty `w` counts every row once."""
    n, d = x.shape
    outside = False
    for i in range(n):
        into, row = out[codes[i]], x[i]
        one = 1.0 if w.size == 0 else w[i]
        for j in range(d):
            into[j] += one * row[j]
            outside |= not (low <= row[j] <= high)
    if outside:
        out[:] = np.nan


@entry("MATRIX INDICES DENSE_VECTOR FLOAT FLOAT FLOAT OUT_MATRIX", fastmath=_FAST)
def class_sums_above(x, codes, w, low, high, threshold, out):  # type: ignore[no-untyped-def]
    """Add to `out`, (K, d), the weight of the entries above a threshold."""
    n, d = x.shape
    outside = False
    for i in range(n):
        into, row = out[codes[i]], x[i]
        one = 1.0 if w.size == 0 else w[i]
        for j in range(d):
            into[j] += one if row[j] > threshold else 0.0
            outside |= not (low <= row[j] <= high)
    if outside:
        out[:] = np.nan


@entry("MATRIX INDICES DENSE_VECTOR OUT_MATRICES", fastmath=_FAST)
def category_counts(x, codes, w, out):  # type: ignore[no-untyped-def]
    """Add to `out`, (K, d, C), the weight of the rows with each category; return if all codes are whole."""
    n, d = x.shape
    whole = True
    for i in range(n):
        into, row = out[codes[i]], x[i]
        one = 1.0 if w.size == 0 else w[i]
        for j in range(d):
            if not np.isnan(row[j]):
                category = np.int64(row[j])
                whole &= row[j] == category
                into[j, category] += one
    return whole


@entry("DENSE_VECTOR UNSIGNED INDICES INDICES DENSE_VECTOR OUT_MATRIX", fastmath=_FAST)
def sparse_class_sums(data, columns, starts, codes, w, out):  # type: ignore[no-untyped-def]
    """Add to `out`, (K, d), the sums of the stored entries of each class."""
    for i in range(len(codes)):
        into = out[codes[i]]
        one = 1.0 if w.size == 0 else w[i]
        for at in range(starts[i], starts[i + 1]):
            into[columns[at]] += one * data[at]


@entry("MATRIX MATRIX MATRIX MATRIX OUT_MATRIX")
def diagonal_scores(x, means, scales, log_norms, out):  # type: ignore[no-untyped-def]
    n, d = x.shape
    K = len(means)
    whole = np.zeros(K)
    for k in range(K):
        for j in range(d):
            whole[k] += log_norms[k, j]
    row = np.empty(d)
    for i in range(n):
        missing = False
        for j in range(d):
            row[j] = x[i, j]
            missing |= np.isnan(row[j])
        if missing:
            _observed(row, means, scales, log_norms, out[i])
            continue
        for k in range(K):
            centre, scale = means[k], scales[k]
            away = 0.0
            for j in range(d):
                z = (row[j] - centre[j]) * scale[j]
                away += z * z
            out[i, k] = whole[k] - 0.5 * away


@compiled(fastmath=FAST)
def _observed(row, means, scales, log_norms, out):  # type: ignore[no-untyped-def]
    for k in range(len(means)):
        found = 0.0
        for j in range(len(row)):
            if not np.isnan(row[j]):
                z = (row[j] - means[k, j]) * scales[k, j]
                found += log_norms[k, j] - 0.5 * z * z
        out[k] = found


@entry("OUT_MATRIX", fastmath=False)
def softmax_rows(scores):  # type: ignore[no-untyped-def]
    """Replace scores by their softmax, row by row."""
    n, K = scores.shape
    for i in range(n):
        row = scores[i]
        top = row[0]
        for k in range(1, K):
            top = max(top, row[k])
        total = 0.0
        for k in range(K):
            # Where all are -inf, or some +inf, equal scores still have equal probabilities.
            row[k] = 1.0 if row[k] == top else np.exp(row[k] - top)
            total += row[k]
        for k in range(K):
            row[k] /= total


@entry("MATRIX MATRIX INDICES OUT_MATRIX", fastmath=False)
def category_scores(x, tables, starts, out):  # type: ignore[no-untyped-def]
    """Add to `out` the table entries of the categories of each row."""
    n, d = x.shape
    K = tables.shape[1]
    for i in range(n):
        row = out[i]
        for j in range(d):
            if not np.isnan(x[i, j]):
                table_row = tables[starts[j] + np.int64(x[i, j])]
                for k in range(K):
                    row[k] += table_row[k]
