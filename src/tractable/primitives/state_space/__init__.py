"""Linear Gaussian state-space models with one observation a step: Kalman's filter, and what a smoother needs.

The state of step k is x_k = A_k x_{k-1} + w_k, w_k ~ N(0, Q_k), and the observation y_k = hᵀx_k + ε_k,
ε_k ~ N(0, R_k). The first step has A = 0, so that Q is the covariance of its state.
"""

from typing import NamedTuple

import numpy as np

from tractable.primitives import runs_compiled
from tractable.primitives.state_space import agnostic

__all__ = ["FilteredStates", "SmoothingSums", "kalman_filter", "smoothing_sums"]

#: Elementary operations that a step costs in NumPy.
STEP = 2_000.0


class FilteredStates(NamedTuple):
    """The states given the observations so far; columns of observations differ in the means alone."""

    means: np.ndarray  # (n, s, c)
    covariances: np.ndarray  # (n, s, s)
    innovations: np.ndarray  # (n, c), y_k less its mean given the ones before
    variances: np.ndarray  # (n,), S_k, of the innovations
    gains: np.ndarray  # (n, s), K_k


class SmoothingSums(NamedTuple):
    """How later observations change the states: derivatives of the log density of observations from k on.

    With the predicted mean m and covariance P of step k, the state given all observations has the mean
    m + P r and the covariance P - P N P, which are those of Rauch, Tung and Striebel; in this form (Bryson
    and Frazier 1963) no covariance is inverted. C is the covariance of all observations.
    """

    slopes: np.ndarray  # (n, s, c), r_k, the derivative in the predicted mean
    curvatures: np.ndarray  # (n, s, s), N_k, minus the second derivative
    dual: np.ndarray  # (n, c), C⁻¹ y
    precisions: np.ndarray  # (n,), the diagonal of C⁻¹


def kalman_filter(
    transitions: np.ndarray, noises: np.ndarray, observed: np.ndarray, y: np.ndarray, variances: np.ndarray
) -> FilteredStates:
    """Return the states given the observations so far, O(n s³).

    Parameters
    ----------
    transitions : array (n, s, s)
        A, of the first step zero.
    noises : array (n, s, s)
        Q, of the first step the covariance of its state.
    observed : array (s,)
        h.
    y : array (n, c)
        Observations; each column is filtered as if it were alone.
    variances : array (n,)
        R, positive.

    Examples
    --------
    Two measurements of one number with the prior N(0, 1): Q of the second step is zero.

    >>> A, Q = np.array([[[0.0]], [[1.0]]]), np.array([[[1.0]], [[0.0]]])
    >>> found = kalman_filter(A, Q, np.ones(1), np.ones((2, 1)), np.ones(2))
    >>> found.means[:, 0, 0].round(4).tolist(), found.covariances[:, 0, 0].round(4).tolist()
    ([0.5, 0.6667], [0.5, 0.3333])
    """
    n, s = len(y), len(observed)
    out = FilteredStates(
        means=np.empty((n, s, y.shape[1])),
        covariances=np.empty((n, s, s)),
        innovations=np.empty(y.shape),
        variances=np.empty(n),
        gains=np.empty((n, s)),
    )
    if runs_compiled(y, STEP * n):
        from tractable.primitives.state_space.compiled import kalman_filter as compiled

        compiled(transitions, noises, observed, y, variances, *out)
    else:
        agnostic.kalman_filter(transitions, noises, observed, y, variances, *out)
    return out


def smoothing_sums(
    transitions: np.ndarray,
    observed: np.ndarray,
    innovations: np.ndarray,
    variances: np.ndarray,
    gains: np.ndarray,
) -> SmoothingSums:
    """Return what a smoother needs of the filter's innovations, backwards: O(n s³).

    Parameters
    ----------
    transitions, observed
        As of `kalman_filter`.
    innovations : array (n, c)
        Its innovations, or linear combinations of their columns.
    variances : array (n,)
        Their variances S.
    gains : array (n, s)
        K.

    Examples
    --------
    >>> A, Q, h = np.array([[[0.0]], [[1.0]]]), np.array([[[1.0]], [[0.0]]]), np.ones(1)
    >>> found = kalman_filter(A, Q, h, np.ones((2, 1)), np.ones(2))
    >>> sums = smoothing_sums(A, h, found.innovations, found.variances, found.gains)
    >>> sums.dual[:, 0].round(4).tolist()  # [[2, 1], [1, 2]]⁻¹ [1, 1]
    [0.3333, 0.3333]
    """
    n, s = gains.shape
    c = innovations.shape[1]
    out = SmoothingSums(
        slopes=np.empty((n, s, c)),
        curvatures=np.empty((n, s, s)),
        dual=np.empty((n, c)),
        precisions=np.empty(n),
    )
    if runs_compiled(innovations, STEP * n):
        from tractable.primitives.state_space.compiled import smoothing_sums as compiled

        compiled(transitions, observed, innovations, variances, gains, *out)
    else:
        agnostic.smoothing_sums(transitions, observed, innovations, variances, gains, *out)
    return out
