"""Rows of one linear predictor in single precision: loss, gradient and products with the curvature.

Rows are read once: those of a tile stay in cache between the product with the coefficients and the sum of the
rows that follows it.
"""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry
from tractable.primitives.compiled_tiles import exp_tile
from tractable.primitives.em.compiled_blocks import FLOOR

#: Rows of a tile, and entries, at most.
TILE, TILE_ENTRIES = 64, 2**13
#: Rows whose sums are taken in single precision.
SINGLE_ROWS = 256


@entry("MATRIX DENSE_VECTOR DENSE_VECTOR OUT_SINGLE_MATRIX")
def features(x, shift, scale, out):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.glm.single_features`."""
    n, d = x.shape
    first = out.shape[1] - d
    for j in range(n):
        for i in range(first):
            out[j, i] = 1.0
        for i in range(d):
            out[j, first + i] = (x[j, i] - shift[i]) * scale[i]


@compiled(fastmath=FAST)
def _tile_rows(p):  # type: ignore[no-untyped-def]
    return min(TILE, max(4, TILE_ENTRIES // p // 4 * 4))


@compiled(fastmath=FAST)
def _times(x, start, n, coef, eta):  # type: ignore[no-untyped-def]
    """Write the products of the rows of a tile with a vector, four rows at a time."""
    zero, fours = np.float32(0.0), n - n % 4
    for j in range(0, fours, 4):
        first, second, third, fourth = x[start + j], x[start + j + 1], x[start + j + 2], x[start + j + 3]
        a, b, c, e = zero, zero, zero, zero
        for i in range(len(coef)):
            a += first[i] * coef[i]
            b += second[i] * coef[i]
            c += third[i] * coef[i]
            e += fourth[i] * coef[i]
        eta[j], eta[j + 1], eta[j + 2], eta[j + 3] = a, b, c, e
    for j in range(fours, n):
        first, a = x[start + j], zero
        for i in range(len(coef)):
            a += first[i] * coef[i]
        eta[j] = a


@compiled(fastmath=FAST)
def _move(part, total):  # type: ignore[no-untyped-def]
    """Add sums of single precision to those of double precision, and begin them anew."""
    for i in range(len(part)):
        total[i] += part[i]
        part[i] = 0.0


@compiled(fastmath=FAST)
def _add_rows(x, start, n, r, part, total, summed):  # type: ignore[no-untyped-def]
    """Add Σ_n r_n x_n of a tile to sums in single precision; of enough rows, these to those in double.

    Four rows are added at a time, so that sums are stored less often. The result is how many rows the sums in
    single precision are of.
    """
    p, fours = len(part), n - n % 4
    for j in range(0, fours, 4):
        a, b, c, e = np.float32(r[j]), np.float32(r[j + 1]), np.float32(r[j + 2]), np.float32(r[j + 3])
        first, second, third, fourth = x[start + j], x[start + j + 1], x[start + j + 2], x[start + j + 3]
        for i in range(p):
            part[i] += (a * first[i] + b * second[i]) + (c * third[i] + e * fourth[i])
    for j in range(fours, n):
        a, first = np.float32(r[j]), x[start + j]
        for i in range(p):
            part[i] += a * first[i]
    if summed + n < SINGLE_ROWS:
        return summed + n
    _move(part, total)
    return 0


@entry("SINGLE_MATRIX BYTES VECTOR SINGLE_VECTOR")
def two_class_loss(x, codes, w, coef):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.glm.single_loss`."""
    n_rows, p = x.shape
    rows = _tile_rows(p)
    eta, small, bits = np.empty(rows), np.empty(rows), np.empty(rows, np.int64)
    part, total, loss, summed = np.zeros(p, np.float32), np.zeros(p + 1), 0.0, 0
    for start in range(0, n_rows, rows):
        n = min(rows, n_rows - start)
        _times(x, start, n, coef, eta)
        for j in range(n):
            small[j] = -abs(eta[j])
        exp_tile(small, bits, n, FLOOR)
        run, product = 0.0, 1.0
        for j in range(n):
            weight, code = w[start + j] if w.size else 1.0, codes[start + j]
            behind = max(eta[j] if code == 0 else -eta[j], 0.0)
            if w.size:
                run += weight * (behind + np.log1p(small[j]))
            else:
                run += behind
                product *= 1.0 + small[j]  # between 1 and 2: one logarithm for a tile
            eta[j] = weight * ((1.0 if eta[j] >= 0.0 else small[j]) / (1.0 + small[j]) - code)
        loss += run + np.log(product)
        summed = _add_rows(x, start, n, eta, part, total, summed)
    _move(part, total)
    total[p] = loss
    return total


@entry("SINGLE_MATRIX SINGLE_VECTOR SINGLE_VECTOR")
def curvature_product(x, curvatures, v):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.glm.single_curvature_product`."""
    n_rows, p = x.shape
    rows = _tile_rows(p)
    u, part, total, summed = np.empty(rows), np.zeros(p, np.float32), np.zeros(p), 0
    for start in range(0, n_rows, rows):
        n = min(rows, n_rows - start)
        _times(x, start, n, v, u)
        for j in range(n):
            u[j] *= curvatures[start + j]
        summed = _add_rows(x, start, n, u, part, total, summed)
    _move(part, total)
    return total
