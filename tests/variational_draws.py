"""Draws of the parameters of a mixture from what variational Bayes believes, by SciPy and the formulas."""

from types import SimpleNamespace

import numpy as np
from scipy.special import digamma, logsumexp
from scipy.stats import beta, dirichlet, gamma, wishart


def draws(model, rng, n):
    """log π (n, K), μ (n, K, d) and Λ (n, K, d, d), with their log densities (n,) under q and the prior."""
    matrices, *of_precisions = _precisions(model, rng, n)
    log_pi, *of_weights = _weights(model, rng, n)
    strength, d = model.mean_precision_, model.means_.shape[1]
    root = np.swapaxes(np.linalg.cholesky(matrices * strength[:, None, None]), -1, -2)
    noise = rng.standard_normal((n, *model.means_.shape, 1))
    means = model.means_ + np.linalg.solve(root, noise)[..., 0]
    log_det = np.linalg.slogdet(matrices)[1]

    def of_means(centre, strength):
        away = means - centre
        squared = strength * np.einsum("ski,skij,skj->sk", away, matrices, away)
        return 0.5 * (log_det + d * np.log(strength / (2 * np.pi)) - squared).sum(1)

    return SimpleNamespace(
        log_pi=log_pi,
        means=means,
        precisions=matrices,
        log_det=log_det,
        log_q=of_precisions[0] + of_weights[0] + of_means(model.means_, strength),
        log_p=of_precisions[1] + of_weights[1] + of_means(model.mean_prior_, model.mean_precision_prior_),
    )


def log_joint(x, drawn, k):
    """log p(x, k) of rows x, (n, d) or one for each draw, in component k."""
    away = x - drawn.means[:, k]
    squared = np.einsum("si,sij,sj->s", away, drawn.precisions[:, k], away)
    return drawn.log_pi[:, k] + 0.5 * (drawn.log_det[:, k] - squared - x.shape[-1] * np.log(2 * np.pi))


def responsibilities(model, X):
    """q(z) ∝ ∫ exp E log p(x, z), over what is missing, with the expectations written out."""
    d, dof = X.shape[1], np.broadcast_to(model.degrees_of_freedom_, len(model.means_))
    half = {"diag": dof / 2, "spherical": d * dof / 2}.get(model.covariance_type)
    if half is None:
        bent = digamma((dof[:, None] - np.arange(d)) / 2).sum(1) - d * np.log(dof / 2)
    else:
        bent = d * (digamma(half) - np.log(half))
    constants = _mean_log_weights(model.weight_concentration_) + 0.5 * (bent - d / model.mean_precision_)
    joint = constants + model.distribution_.components.log_prob(X[:, None])
    return np.exp(joint - logsumexp(joint, axis=1, keepdims=True))


def _mean_log_weights(given):
    if not isinstance(given, tuple):
        return digamma(given) - digamma(given.sum())
    taken, left = digamma(given) - digamma(np.sum(given, axis=0))
    return taken + np.concatenate([[0.0], np.cumsum(left)[:-1]])


def _weights(model, rng, n):
    given, alpha = model.weight_concentration_, model.weight_concentration_prior_
    if isinstance(given, tuple):
        v = beta(*given).rvs((n, len(given[0])), random_state=rng)
        left = np.cumsum(np.log1p(-v), axis=1)
        log_pi = np.log(v) + np.hstack([np.zeros((n, 1)), left[:, :-1]])
        return log_pi, beta(*given).logpdf(v).sum(1), beta(1.0, alpha).logpdf(v).sum(1)
    pi = dirichlet(given).rvs(n, random_state=rng)
    prior = dirichlet(np.full(len(given), alpha))
    return np.log(pi), dirichlet(given).logpdf(pi.T), prior.logpdf(pi.T)


def _precisions(model, rng, n):
    K, d = model.means_.shape
    dof, c = np.broadcast_to(model.degrees_of_freedom_, K), model.covariances_
    dof0, c0 = model.degrees_of_freedom_prior_, model.covariance_prior_
    if model.covariance_type in ("full", "tied"):
        scales = np.linalg.inv(c * (dof[:, None, None] if c.ndim == 3 else dof[0])).reshape(-1, d, d)
        q, p = [wishart(v, s) for v, s in zip(dof, scales, strict=False)], wishart(dof0, np.linalg.inv(c0))
        drawn = [np.reshape(each.rvs(n, random_state=rng), (n, d, d)) for each in q]
        log_q = sum(each.logpdf(x.transpose(1, 2, 0)) for each, x in zip(q, drawn, strict=True))
        log_p = sum(p.logpdf(x.transpose(1, 2, 0)) for x in drawn)
        return np.stack([drawn[k % len(drawn)] for k in range(K)], axis=1), log_q, log_p
    rows = d if model.covariance_type == "spherical" else 1
    spread, shape, shape0 = c.reshape(K, -1), 0.5 * rows * dof[:, None], 0.5 * rows * dof0
    q, p = gamma(shape, scale=1 / (shape * spread)), gamma(shape0, scale=2 / (rows * np.asarray(c0)))
    drawn = q.rvs((n, *spread.shape), random_state=rng)
    log_q, log_p = q.logpdf(drawn).sum((1, 2)), p.logpdf(drawn).sum((1, 2))
    return np.broadcast_to(drawn, (n, K, d))[..., None] * np.eye(d), log_q, log_p
