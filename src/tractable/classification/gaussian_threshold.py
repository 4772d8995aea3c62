"""The threshold between two Gaussian classes on a line that makes the fewest mistakes."""

import numpy as np

__all__ = ["gaussian_threshold"]


def gaussian_threshold(means: np.ndarray, variances: np.ndarray, weights: np.ndarray) -> float:
    """Return the t for which deciding by x > t is wrong least often, of x ~ N(m_k, v_k) with prior ∝ w_k.

    Mistakes are fewest where the weighted densities cross, a root of a quadratic. Where they do not cross
    (one class is the more probable everywhere), or a class does not vary, it is half-way between the means.

    Parameters
    ----------
    means : array (2,)
        The first not above the second.
    variances, weights : arrays (2,)

    Examples
    --------
    >>> gaussian_threshold(np.array([0.0, 4.0]), np.ones(2), np.ones(2))
    2.0
    >>> round(gaussian_threshold(np.array([0.0, 4.0]), np.array([1.0, 4.0]), np.ones(2)), 3)
    1.66
    """
    midpoint = 0.5 * float(means[0] + means[1])
    if not np.all(variances > 0.0):
        return midpoint
    # About the midpoint: a t² + b t + c is twice the log odds of the second class.
    m, p = means - midpoint, 1.0 / variances
    a = p[0] - p[1]
    b = 2.0 * (m[1] * p[1] - m[0] * p[0])
    c = m[0] ** 2 * p[0] - m[1] ** 2 * p[1] + np.log(p[1] / p[0]) + 2.0 * np.log(weights[1] / weights[0])
    roots = _real_roots(float(a), float(b), float(c))
    if not roots:
        return midpoint
    return midpoint + float(min(roots, key=lambda t: _mistakes(t, m, variances, weights)))


def _real_roots(a: float, b: float, c: float) -> list[float]:
    """Return the real roots of a t² + b t + c, without cancellation."""
    if a == 0.0:
        return [-c / b] if b else []
    square = b * b - 4.0 * a * c
    if square < 0.0:
        return []
    q = -0.5 * (b + np.copysign(np.sqrt(square), b))
    return [q / a] + ([c / q] if q else [])


def _mistakes(t: float, means: np.ndarray, variances: np.ndarray, weights: np.ndarray) -> float:
    from scipy.special import ndtr

    z = (t - means) / np.sqrt(variances)
    return float(weights[0] * ndtr(-z[0]) + weights[1] * ndtr(z[1]))
