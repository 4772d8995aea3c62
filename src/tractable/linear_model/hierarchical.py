"""Predictions averaged over the coefficients and over both precisions: the reference for evidence."""

from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions import Mixture, Normal
from tractable.linear_model.evidence import EvidenceSpectrum
from tractable.statistics import LinearFactor

__all__ = ["hierarchical_predictive"]


def hierarchical_predictive(X: Any, y: Any, X_new: Any, *, alphas: Any, betas: Any) -> Mixture:
    """Return p(y | x, D) = ∫∫∫ p(y | x, w, β) p(w | α, β, D) p(α, β | D), by quadrature over a grid.

    The coefficients are integrated out in closed form, w ~ N(0, 1/α) with noise of variance 1/β. Every point
    of the grid has the same probability before the rows: logarithmic grids are flat in log α and log β from
    end to end, which is the prior. :class:`BayesianRidge` puts the peak in the place of the average.

    Parameters
    ----------
    X : array (n, d)
    y : array (n,)
    X_new : array (m, d)
        Where to predict.
    alphas : array (k,)
        Precisions of the coefficients.
    betas : array (l,)
        Precisions of the noise.

    Returns
    -------
    Mixture
        Of k l normals, of batch shape (m,).

    Examples
    --------
    >>> import numpy as np
    >>> grid = np.logspace(-2, 2, 30)
    >>> x = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> p = hierarchical_predictive(x, [1.1, 1.9, 3.2, 3.9], [[5.0]], alphas=grid, betas=grid)
    >>> p.mean.round(2), p.stddev.round(2)
    (array([5.]), array([0.38]))
    """
    X = as_reals("X", X)
    y, X_new = as_reals("y", y, X), as_reals("X_new", X_new, X)
    if X.ndim != 2 or y.ndim != 1 or not X.shape[0]:
        raise ValueError(f"X must be rows and y a vector, got shapes {tuple(X.shape)} and {tuple(y.shape)}")
    if X_new.ndim != 2 or X_new.shape[1] != X.shape[1]:
        raise ValueError(f"X_new must be rows of {X.shape[1]} columns, got shape {tuple(X_new.shape)}")
    alphas, betas = _precisions("alphas", alphas, X), _precisions("betas", betas, X)
    xp = namespace_of(X)
    spectrum = EvidenceSpectrum.of(LinearFactor.of(X, y), fit_intercept=False)
    points = [spectrum.at(float(a), float(b)) for a in alphas for b in betas]
    log_weights = xp.asarray([point.log_evidence for point in points], dtype=X.dtype)
    weights = xp.exp(log_weights - xp.max(log_weights))
    prior = xp.asarray([point.prior for point in points], dtype=X.dtype)
    noise = xp.asarray([point.noise for point in points], dtype=X.dtype)
    turned = X_new @ spectrum.basis
    total = noise * spectrum.singular[:, None] ** 2 + prior
    outside = xp.sum(X_new**2, axis=1) - xp.sum(turned**2, axis=1)
    outside = xp.where(outside > 0, outside, xp.zeros_like(outside))
    return Mixture(
        weights=weights / xp.sum(weights),
        components=Normal(
            mean=turned @ xp.stack([point.coef for point in points], axis=1),
            variance=1.0 / noise + turned**2 @ (1.0 / total) + outside[:, None] / prior,
        ),
    )


def _precisions(name: str, x: Any, like: Array) -> Array:
    x = as_reals(name, x, like)
    xp = namespace_of(x)
    if x.ndim != 1 or not x.shape[0] or not bool(xp.all((x > 0) & xp.isfinite(x))):
        raise ValueError(f"{name} must be positive and finite precisions, got shape {tuple(x.shape)}")
    return x
