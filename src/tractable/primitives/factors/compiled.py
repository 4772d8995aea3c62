"""The small matrices of the E-step of models with latent factors, several patterns at a time."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry

#: Pivots multiplied before a logarithm is taken: each is at most the inverse of the least noise.
_PIVOTS = 8

#: Patterns whose matrices are inverted at a time, a pattern a lane of the vector unit.
_LANES = 32


@compiled(fastmath=FAST)
def _invert(m, r, lower, inverse, det, log_det):  # type: ignore[no-untyped-def]
    """Invert packed positive definite matrices (q, lanes); fill `inverse`, packed, and log determinants."""
    lanes = m.shape[1]
    det[:] = 1.0
    log_det[:] = 0.0
    for i in range(r):
        for j in range(i + 1):
            row = i * (i + 1) // 2 + j
            for l in range(lanes):
                lower[row, l] = m[row, l]
            for k in range(j):
                a, c = i * (i + 1) // 2 + k, j * (j + 1) // 2 + k
                for l in range(lanes):
                    lower[row, l] -= lower[a, l] * lower[c, l]
            if i == j:
                for l in range(lanes):
                    det[l] *= lower[row, l]
                    lower[row, l] = 1.0 / np.sqrt(lower[row, l])  # the inverse of the diagonal is stored
            else:
                c = j * (j + 3) // 2
                for l in range(lanes):
                    lower[row, l] *= lower[c, l]
        if i % _PIVOTS == _PIVOTS - 1 or i == r - 1:
            for l in range(lanes):
                log_det[l] += np.log(det[l])
                det[l] = 1.0
    for j in range(r):  # the inverse of the factor takes its place
        for i in range(j + 1, r):
            row = i * (i + 1) // 2 + j
            d = j * (j + 3) // 2
            for l in range(lanes):
                lower[row, l] *= lower[d, l]
            for k in range(j + 1, i):
                a, c = i * (i + 1) // 2 + k, k * (k + 1) // 2 + j
                for l in range(lanes):
                    lower[row, l] += lower[a, l] * lower[c, l]
            d = i * (i + 3) // 2
            for l in range(lanes):
                lower[row, l] *= -lower[d, l]
    for i in range(r):
        for j in range(i + 1):
            row = i * (i + 1) // 2 + j
            for l in range(lanes):
                inverse[row, l] = 0.0
            for k in range(i, r):
                a, c = k * (k + 1) // 2 + i, k * (k + 1) // 2 + j
                for l in range(lanes):
                    inverse[row, l] += lower[a, l] * lower[c, l]


@entry("MATRIX MATRIX MATRIX INDICES DENSE_VECTOR")
def latent_moments(matrices, shift, b, begins, w):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.factors.agnostic.latent_moments`."""
    P, q = matrices.shape
    n_rows, r = b.shape
    wz, first, second = np.empty((n_rows, r)), np.zeros((P, r)), np.zeros((P, q))
    m, lower, inverse = np.empty((q, _LANES)), np.empty((q, _LANES)), np.empty((q, _LANES))
    det, log_dets = np.empty(_LANES), np.empty(_LANES)
    square, z, centred = np.empty((r, r)), np.empty(r), np.empty(r)
    explained, log_det = 0.0, 0.0
    for start in range(0, P, _LANES):
        lanes = min(_LANES, P - start)
        for l in range(_LANES):
            at = start + min(l, lanes - 1)  # the last pattern fills the lanes that are left
            for e in range(q):
                m[e, l] = matrices[at, e]
        _invert(m, r, lower, inverse, det, log_dets)
        for l in range(lanes):
            p = start + l
            e = 0
            for i in range(r):
                for j in range(i + 1):
                    square[i, j] = square[j, i] = inverse[e, l]
                    e += 1
            total = 0.0
            for n in range(begins[p], begins[p + 1]):
                weight = w[n]
                total += weight
                for i in range(r):
                    centred[i] = b[n, i] - shift[p, i]
                    z[i] = 0.0
                for i in range(r):
                    for j in range(r):
                        z[j] += square[i, j] * centred[i]
                e = 0
                for i in range(r):
                    step = weight * z[i]
                    wz[n, i] = step
                    explained += step * centred[i]
                    first[p, i] += step
                    for j in range(i + 1):
                        second[p, e] += step * z[j]
                        e += 1
            for e in range(q):
                second[p, e] += total * inverse[e, l]
            log_det += total * log_dets[l]
    return wz, first, second, explained, log_det
