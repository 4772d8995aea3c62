"""Softmax regression (loss, gradient and Hessian) over blocks of rows, and the perceptron's updates."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry
from tractable.primitives.compiled_tiles import exp_tile
from tractable.primitives.em.compiled_blocks import FLOOR, exp_below_top


@compiled(fastmath=FAST)
def fill(features, x, start, n, shift, scale):  # type: ignore[no-untyped-def]
    """Write a block of rows, shifted and scaled, behind the ones of the intercept where there is one."""
    d = x.shape[1]
    first = features.shape[1] - d
    for j in range(n):
        for i in range(d):
            features[j, first + i] = (x[start + j, i] - shift[i]) * scale[i]
    features[n:] = 0.0


@compiled(fastmath=FAST)
def _behind(scores, n, start, codes, targets, w, behind, mass):  # type: ignore[no-untyped-def]
    """Write by how much the best score of a row exceeds those of its targets, and the row's weight."""
    K = scores.shape[0]
    for j in range(n):
        best = scores[0, j]
        for k in range(1, K):
            best = max(best, scores[k, j])
        weight = w[start + j] if w.size else 1.0
        if targets.size:
            lag, target = 0.0, 0.0
            for k in range(K):
                t = targets[start + j, k]
                if t != 0.0:
                    lag += t * (best - scores[k, j])
                    target += t
            behind[j], mass[j] = weight * lag, weight * target
        else:
            behind[j], mass[j] = weight * (best - scores[codes[start + j], j]), weight


@compiled(fastmath=FAST)
def _block_loss(behind, mass, total, n, weighted):  # type: ignore[no-untyped-def]
    """Return the loss of a block, summed in short runs: its roundings must not hide the last Newton steps."""
    loss = 0.0
    for first in range(0, n, 32):
        last = min(first + 32, n)
        run, product = 0.0, 1.0
        for j in range(first, last):
            run += behind[j]
        if weighted:
            for j in range(first, last):
                run += mass[j] * np.log(total[j])
        else:
            for j in range(first, last):
                product *= total[j]  # between 1 and K: one logarithm for 32 rows
            run += np.log(product)
        loss += run
    return loss


@entry("MATRIX CODES ROWS VECTOR VECTOR VECTOR MATRIX INT")
def softmax_loss(x, codes, targets, w, shift, scale, coef, block):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.glm.softmax_loss`; an empty `targets` means hard classes."""
    n_rows = x.shape[0]
    K, P = coef.shape
    features, scores = np.ones((block, P)), np.empty((K, block))
    top, total, bits = np.empty(block), np.empty(block), np.empty(block, np.int64)
    behind, mass = np.empty(block), np.empty(block)
    gradient, part, loss = np.zeros((K, P)), np.empty((K, P)), 0.0
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        fill(features, x, start, n, shift, scale)
        np.dot(coef, features.T, scores)
        _behind(scores, n, start, codes, targets, w, behind, mass)
        exp_below_top(scores, top, total, bits)
        loss += _block_loss(behind, mass, total, n, bool(w.size or targets.size))
        for j in range(block):
            total[j] = mass[j] / total[j] if j < n else 0.0
        for k in range(K):
            for j in range(block):
                scores[k, j] *= total[j]
        for j in range(n):
            weight = w[start + j] if w.size else 1.0
            if targets.size:
                for k in range(K):
                    scores[k, j] -= weight * targets[start + j, k]
            else:
                scores[codes[start + j], j] -= weight
        np.dot(scores, features, part)
        gradient += part
    return loss, gradient


@compiled(fastmath=FAST)
def _products(features, pairs):  # type: ignore[no-untyped-def]
    """Write all products x_i x_j, i ≤ j, of every row."""
    B, P = features.shape
    for j in range(B):
        f = 0
        for i in range(P):
            for l in range(i, P):
                pairs[j, f] = features[j, i] * features[j, l]
                f += 1


@entry("MATRIX VECTOR VECTOR VECTOR MATRIX INT")
def softmax_curvature(x, mass, shift, scale, coef, block):  # type: ignore[no-untyped-def]
    """Return Σ_n mass_n p_na p_nb x_n x_nᵀ for a < b, (K (K - 1) / 2, P, P).

    They are one product of pairs of classes with pairs of columns.
    """
    n_rows = x.shape[0]
    K, P = coef.shape
    Q, F = K * (K - 1) // 2, P * (P + 1) // 2
    features, scores = np.ones((block, P)), np.empty((K, block))
    top, total, bits = np.empty(block), np.empty(block), np.empty(block, np.int64)
    both, pairs = np.empty((Q, block)), np.empty((block, F))
    sums, part, found = np.zeros((Q, F)), np.empty((Q, F)), np.empty((Q, P, P))
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        fill(features, x, start, n, shift, scale)
        np.dot(coef, features.T, scores)
        exp_below_top(scores, top, total, bits)
        for j in range(block):
            weight = mass[start + j] if mass.size and j < n else 1.0
            top[j] = weight / (total[j] * total[j]) if j < n else 0.0
        q = 0
        for a in range(K):
            for b in range(a + 1, K):
                for j in range(block):
                    both[q, j] = scores[a, j] * scores[b, j] * top[j]
                q += 1
        _products(features, pairs)
        np.dot(both, pairs, part)
        sums += part
    for q in range(Q):
        f = 0
        for i in range(P):
            for l in range(i, P):
                found[q, i, l] = found[q, l, i] = sums[q, f]
                f += 1
    return found


@compiled(fastmath=FAST)
def _counted_once(z, small, n, codes, start):  # type: ignore[no-untyped-def]
    """Return the loss of a block of rows that count once, in short runs; turn z into p - t."""
    loss = 0.0
    for first in range(0, n, 32):
        last = min(first + 32, n)
        run, product = 0.0, 1.0
        for j in range(first, last):
            run += max(z[j] if codes[start + j] == 0 else -z[j], 0.0)
            product *= 1.0 + small[j]  # between 1 and 2: one logarithm for 32 rows
        loss += run + np.log(product)
    for j in range(n):
        z[j] = (1.0 if z[j] >= 0.0 else small[j]) / (1.0 + small[j]) - codes[start + j]
    return loss


@compiled(fastmath=FAST)
def _counted(z, small, n, codes, targets, w, start):  # type: ignore[no-untyped-def]
    """Return the loss of a block of weighted rows, or of rows with soft targets; turn z into p - t."""
    loss = 0.0
    for first in range(0, n, 32):
        run = 0.0
        for j in range(first, min(first + 32, n)):
            i = start + j
            weight = w[i] if w.size else 1.0
            one = targets[i, 1] if targets.size else float(codes[i])
            other = targets[i, 0] if targets.size else 1.0 - one
            target = one + other
            run += weight * (one * max(-z[j], 0.0) + other * max(z[j], 0.0) + target * np.log1p(small[j]))
            z[j] = weight * (target * (1.0 if z[j] >= 0.0 else small[j]) / (1.0 + small[j]) - one)
        loss += run
    return loss


@compiled(fastmath=FAST)
def _scores(x, start, n, shift, scale, coef, intercept, z):  # type: ignore[no-untyped-def]
    """Write the linear predictor of each row of a block."""
    for j in range(n):
        total = intercept
        for i in range(x.shape[1]):
            total += (x[start + j, i] - shift[i]) * scale[i] * coef[i]
        z[j] = total


@compiled(fastmath=FAST)
def _add_weighted_rows(x, start, n, shift, scale, z, part, total):  # type: ignore[no-untyped-def]
    """Add Σ_n z_n (x_n - shift) scale of a block, four rows at a time, so that sums are stored less often."""
    d, fours = x.shape[1], n - n % 4
    part[:] = 0.0
    for j in range(0, fours, 4):
        a, b, c, e = z[j], z[j + 1], z[j + 2], z[j + 3]
        for i in range(d):
            first = a * (x[start + j, i] - shift[i]) + b * (x[start + j + 1, i] - shift[i])
            second = c * (x[start + j + 2, i] - shift[i]) + e * (x[start + j + 3, i] - shift[i])
            part[i] += scale[i] * (first + second)
    for j in range(fours, n):
        for i in range(d):
            part[i] += z[j] * (x[start + j, i] - shift[i]) * scale[i]
    for i in range(d):
        total[len(total) - d + i] += part[i]
    if len(total) > d:  # the intercept
        residual = 0.0
        for j in range(n):
            residual += z[j]
        total[0] += residual


@entry("MATRIX BYTES ROWS VECTOR DENSE_VECTOR DENSE_VECTOR MATRIX INT")
def two_class_loss(x, codes, targets, w, shift, scale, coef, block):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.glm.softmax_loss`, for two classes."""
    n_rows, d = x.shape
    P = coef.shape[1]
    z, small, bits = np.empty(block), np.empty(block), np.empty(block, np.int64)
    difference = coef[1] - coef[0]
    intercept = difference[0] if d < P else 0.0
    slope, part, loss = np.zeros(P), np.empty(d), 0.0
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        _scores(x, start, n, shift, scale, difference[P - d :], intercept, z)
        for j in range(n):
            small[j] = -abs(z[j])
        exp_tile(small, bits, n, FLOOR)
        if w.size or targets.size:
            loss += _counted(z, small, n, codes, targets, w, start)
        else:
            loss += _counted_once(z, small, n, codes, start)
        _add_weighted_rows(x, start, n, shift, scale, z, part, slope)
    gradient = np.empty((2, P))
    for i in range(P):
        gradient[0, i], gradient[1, i] = -slope[i], slope[i]
    return loss, gradient


@compiled(fastmath=FAST)
def _product(a, b, n):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(n):
        total += a[j] * b[j]
    return total


@compiled(fastmath=FAST)
def _four_products(a, b, c, d):  # type: ignore[no-untyped-def]
    """Return a · c, a · d, b · c and b · d: four sums for four numbers read."""
    ac = ad = bc = bd = 0.0
    for j in range(len(a)):
        ac += a[j] * c[j]
        ad += a[j] * d[j]
        bc += b[j] * c[j]
        bd += b[j] * d[j]
    return ac, ad, bc, bd


@entry("MATRIX BYTES ROWS VECTOR DENSE_VECTOR DENSE_VECTOR MATRIX INT")
def two_class_expansion(x, codes, targets, w, shift, scale, coef, block):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.glm.softmax_expansion`, for two classes.

    Without codes and targets the loss and its gradient are left out. Columns of a block are contiguous, and
    their products are sums that vectorise: threads that call BLAS for so small products wait for each other.
    """
    n_rows, d = x.shape
    P = coef.shape[1]
    first, even = P - d, P + P % 2
    features, weighted = np.zeros((even, block)), np.zeros((even, block))
    z, small, bits = np.empty(block), np.empty(block), np.empty(block, np.int64)
    spread, difference = np.empty(block), coef[1] - coef[0]
    loss, gradient, found = 0.0, np.zeros((2, P)), np.zeros((even, even))
    for j in range(block if first else 0):
        features[0, j] = 1.0
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        for j in range(n):
            z[j] = difference[0] if first else 0.0
        for i in range(first, P):
            column, center, size, slope = features[i], shift[i - first], scale[i - first], difference[i]
            for j in range(n):
                column[j] = (x[start + j, i - first] - center) * size
            for j in range(n):
                z[j] += column[j] * slope
        for j in range(n):
            small[j] = -abs(z[j])
        exp_tile(small, bits, n, FLOOR)
        for j in range(block):  # p (1 - p), times the weight of the row
            spread[j] = small[j] / ((1.0 + small[j]) * (1.0 + small[j])) if j < n else 0.0
        for j in range(n if w.size else 0):
            spread[j] *= w[start + j]
        for j in range(n if targets.size else 0):
            spread[j] *= targets[start + j, 0] + targets[start + j, 1]
        if codes.size or targets.size:
            if w.size or targets.size:
                loss += _counted(z, small, n, codes, targets, w, start)
            else:
                loss += _counted_once(z, small, n, codes, start)
            for i in range(P):
                gradient[1, i] += _product(features[i], z, n)
        for i in range(P):
            for j in range(block):
                weighted[i, j] = features[i, j] * spread[j]
        for i in range(0, even, 2):
            for l in range(i, even, 2):
                products = _four_products(weighted[i], weighted[i + 1], features[l], features[l + 1])
                found[i, l] += products[0]
                found[i, l + 1] += products[1]
                found[i + 1, l] += products[2]
                found[i + 1, l + 1] += products[3]
    for i in range(P):
        gradient[0, i] = -gradient[1, i]
        for l in range(i):
            found[i, l] = found[l, i]
    return loss, gradient, found[:P, :P]


@compiled(fastmath={"contract", "reassoc"})
def _margin(row: np.ndarray, coef: np.ndarray, other: np.ndarray) -> float:
    """Return the linear predictor of a class at a row, less that of another."""
    total = 0.0
    for j in range(len(row)):
        total += (coef[j] - other[j]) * row[j]
    return total


@compiled()
def _rival(row: np.ndarray, code: int, coef: np.ndarray) -> int:
    """Return the best other class where it is not below the row's own, else -1."""
    if len(coef) == 2:
        return 1 - code if _margin(row, coef[1 - code], coef[code]) >= 0.0 else -1
    best, rival = -np.inf, -1
    for k in range(len(coef)):
        if k != code:
            margin = _margin(row, coef[k], coef[code])
            if margin > best:
                best, rival = margin, k
    return rival if best >= 0.0 else -1


@compiled()
def _is_blank(row: np.ndarray) -> bool:
    size = 0.0
    for j in range(len(row)):
        size += abs(row[j])
    return size == 0.0


@entry("MATRIX INDICES DENSE_VECTOR MATRIX", fastmath=False)
def perceptron_pass(rows, codes, weights, start):  # type: ignore[no-untyped-def]
    coef, late, total = start.copy(), np.zeros(start.shape), np.empty(start.shape)
    mistakes, visits = 0.0, 0.0
    for i in range(len(rows)):
        row, code, left = rows[i], codes[i], weights[i]
        while left > 0.0:
            rival = _rival(row, code, coef)
            # A row that is right, or all zeros, changes nothing however often it is visited.
            share = left if rival < 0 or _is_blank(row) else min(left, 1.0)
            if rival >= 0:
                mistakes += share
                for j in range(len(row)):
                    step = share * row[j]
                    coef[code, j] += step
                    coef[rival, j] -= step
                    late[code, j] += visits * step
                    late[rival, j] -= visits * step
            visits += share
            left -= share
    # A step made after m visits is in the coefficients of all visits but the first m.
    for k in range(len(coef)):
        for j in range(coef.shape[1]):
            total[k, j] = visits * coef[k, j] - late[k, j]
    return coef, total, mistakes, visits
