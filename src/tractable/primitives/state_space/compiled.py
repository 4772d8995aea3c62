"""Kalman's filter and the sums of a smoother: see `tractable.primitives.state_space`."""

import numpy as np

from tractable.primitives.compiled_options import compiled, entry


@compiled()
def _congruence(outer, inner, work, transposed):  # type: ignore[no-untyped-def]
    """Replace `inner`, symmetric, by outer · inner · outerᵀ, or outerᵀ · inner · outer where `transposed`."""
    s = len(inner)
    for i in range(s):
        for j in range(s):
            total = 0.0
            for l in range(s):
                total += (outer[l, i] if transposed else outer[i, l]) * inner[l, j]
            work[i, j] = total
    for i in range(s):
        for j in range(i + 1):
            total = 0.0
            for l in range(s):
                total += work[i, l] * (outer[l, j] if transposed else outer[j, l])
            inner[i, j] = total
            inner[j, i] = total


@entry(
    "MATRICES MATRICES DENSE_VECTOR MATRIX DENSE_VECTOR OUT_MATRICES OUT_MATRICES OUT_MATRIX "
    "OUT_DENSE_VECTOR OUT_MATRIX"
)
def kalman_filter(  # type: ignore[no-untyped-def]
    transitions, noises, observed, y, variances, means, covariances, innovations, spreads, gains
):
    """Predict and update, a step after the other."""
    n, c = y.shape
    s = len(observed)
    mean, before = np.zeros((s, c)), np.zeros((s, c))
    covariance, work = np.zeros((s, s)), np.empty((s, s))
    shared = np.empty(s)
    for k in range(n):
        step = transitions[k]
        for i in range(s):
            for j in range(c):
                total = 0.0
                for l in range(s):
                    total += step[i, l] * before[l, j]
                mean[i, j] = total
        _congruence(step, covariance, work, False)
        spread = variances[k]
        for i in range(s):
            total = 0.0
            for j in range(s):
                covariance[i, j] += noises[k, i, j]
                total += covariance[i, j] * observed[j]
            shared[i] = total
            spread += observed[i] * total
        spreads[k] = spread
        for i in range(s):
            gains[k, i] = shared[i] / spread
        for j in range(c):
            gap = y[k, j]
            for i in range(s):
                gap -= observed[i] * mean[i, j]
            innovations[k, j] = gap
            for i in range(s):
                before[i, j] = mean[i, j] + gains[k, i] * gap
                means[k, i, j] = before[i, j]
        for i in range(s):
            for j in range(i + 1):  # of the gain, as the square of a covariance may overflow or be zero
                left = covariance[i, j] - gains[k, i] * shared[j]
                covariance[i, j] = left
                covariance[j, i] = left
                covariances[k, i, j] = left
                covariances[k, j, i] = left


@entry(
    "MATRICES DENSE_VECTOR MATRIX DENSE_VECTOR MATRIX OUT_MATRICES OUT_MATRICES OUT_MATRIX OUT_DENSE_VECTOR"
)
def smoothing_sums(  # type: ignore[no-untyped-def]
    transitions, observed, innovations, variances, gains, slopes, curvatures, dual, precisions
):
    """Sum what later observations say of a state, backwards."""
    n, s = gains.shape
    c = innovations.shape[1]
    slope, after = np.zeros((s, c)), np.zeros((s, c))
    curvature, work = np.zeros((s, s)), np.empty((s, s))
    shared = np.empty(s)
    for k in range(n - 1, -1, -1):
        for j in range(c):
            gap = innovations[k, j] / variances[k]
            for i in range(s):
                gap -= gains[k, i] * after[i, j]
            dual[k, j] = gap
            for i in range(s):
                slope[i, j] = after[i, j] + observed[i] * gap
                slopes[k, i, j] = slope[i, j]
        precision = 1.0 / variances[k]
        for i in range(s):
            total = 0.0
            for j in range(s):
                total += curvature[i, j] * gains[k, j]
            shared[i] = total
            precision += gains[k, i] * total
        precisions[k] = precision
        for i in range(s):
            for j in range(s):
                curvature[i, j] += (
                    observed[i] * observed[j] * precision - observed[i] * shared[j] - shared[i] * observed[j]
                )
                curvatures[k, i, j] = curvature[i, j]
        step = transitions[k]
        for i in range(s):
            for j in range(c):
                total = 0.0
                for l in range(s):
                    total += step[l, i] * slope[l, j]
                after[i, j] = total
        _congruence(step, curvature, work, True)
