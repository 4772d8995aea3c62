"""Normal-Wishart posteriors of Gaussian classes, and their predictive Student-t distributions."""

from typing import Any

import numpy as np

from tractable.classification.discriminant.moments import overall_mean
from tractable.conjugate import MultivariateNormalModel
from tractable.conjugate.wishart import seen_scale, wishart_increment
from tractable.covariance import Diagonal, Full
from tractable.covariance.shapes import constant_columns
from tractable.distributions import MultivariateStudentT, NormalWishart
from tractable.statistics import Moments
from tractable.value import value


@value
class ClassPosteriors:
    """Posteriors of K classes, their predictive distributions, and the evidence."""

    posterior: NormalWishart  # of batch K
    predictive: MultivariateStudentT  # of batch K
    log_evidence: float  # log p(X | y)


def check_prior(prior: Any, dim: int) -> None:
    """Refuse what is not the prior of one Gaussian of `dim` columns."""
    if not isinstance(prior, NormalWishart) or prior.batch_shape:
        raise ValueError(f"prior must be one NormalWishart or None, got {type(prior).__name__}")
    if prior.dim != dim:
        raise ValueError(f"prior must be of {dim} columns, as X has, got {prior.dim}")


def default_prior(moments: Moments) -> NormalWishart:
    """Return a prior in the units of the rows, as strong as one row for the mean and d for the covariance.

    It expects the mean of all rows and uncorrelated columns with their variances within classes: those about
    the mean of all rows where classes do not vary.
    """
    mean, weight = overall_mean(moments), moments.weight.sum()
    within = np.einsum("kii->i", moments.scatter) / weight
    total = within + moments.weight @ (moments.mean - mean) ** 2 / weight
    size = np.max(np.abs(moments.mean), axis=0)
    _, constant = constant_columns(within, size)
    variances = np.where(constant, total, within)
    floor, constant = constant_columns(variances, size)
    structure = Diagonal(variances=np.where(constant, floor, variances))
    return MultivariateNormalModel.from_mean_strength(mean, 1.0, covariance=structure).prior


def separate_posteriors(prior: NormalWishart, moments: Moments) -> ClassPosteriors:
    """Return the posteriors of classes that each have a mean and a precision matrix."""
    model = MultivariateNormalModel(prior=prior)
    parts = [
        Moments(weight=w, mean=m, scatter=s)
        for w, m, s in zip(moments.weight, moments.mean, moments.scatter, strict=True)
    ]
    after = [model.update(part) for part in parts]
    predictive: list[Any] = [each.predictive() for each in after]
    return ClassPosteriors(
        posterior=NormalWishart(
            mean=np.stack([each.prior.location for each in after]),
            strength=np.stack([each.prior.strength for each in after]),
            dof=np.stack([each.prior.dof for each in after]),
            scale=np.stack([each.prior.scale for each in after]),
        ),
        predictive=MultivariateStudentT(
            dof=np.stack([each.dof for each in predictive]),
            location=np.stack([each.location for each in predictive]),
            scale=Full.from_cholesky(np.stack([each.structure.cholesky for each in predictive])),
        ),
        log_evidence=float(sum(model.log_evidence(part) for part in parts)),
    )


def shared_posteriors(prior: NormalWishart, moments: Moments) -> ClassPosteriors:
    """Return the posteriors of classes that have means of their own and share one precision matrix.

    Λ ~ Wishart(ν, W) and μ_k ~ N(m, (bΛ)⁻¹) for each class: the scatter of every class about its mean, and of
    the means about m, informs the one Λ, so that ν' = ν + n and
    W'⁻¹ = W⁻¹ + Σ_k (S_k + b n_k / (b + n_k) (x̄_k - m)(x̄_k - m)ᵀ).
    """
    n, dim = moments.weight, prior.dim
    strength = prior.strength + n
    step = moments.mean - prior.location
    between = np.einsum("k,ki,kj->ij", prior.strength * n / strength, step, step)
    scale, growth = seen_scale(prior.scale, moments.scatter.sum(axis=0) + between)
    dof = prior.dof + n.sum()
    location = prior.location + (n / strength)[:, None] * step
    rest = dof + 1.0 - dim
    structure = Full.from_precision(scale).scaled((strength + 1.0) / (strength * rest))
    increment = wishart_increment(prior.dof, n.sum(), prior.scale, growth)
    return ClassPosteriors(
        posterior=NormalWishart(mean=location, strength=strength, dof=dof, scale=scale),
        predictive=MultivariateStudentT(dof=rest, location=location, scale=structure),
        log_evidence=float(increment - 0.5 * dim * np.sum(np.log1p(n / prior.strength))),
    )
