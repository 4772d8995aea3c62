"""Beliefs about the mean and covariance of classes, and what they predict: Student-t distributions."""

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

__all__ = ["ClassBeliefs", "beliefs_of_each", "beliefs_sharing", "check_prior", "default_prior"]


@value
class ClassBeliefs:
    """What is believed of K classes, and what follows."""

    posterior: NormalWishart  # of batch K
    predictive: MultivariateStudentT  # of batch K
    log_evidence: float  # log p(X | y)


def check_prior(prior: Any, dim: int) -> None:
    """Refuse what is not a belief about one Gaussian of `dim` columns."""
    if not isinstance(prior, NormalWishart) or prior.batch_shape:
        raise ValueError(f"prior must be one NormalWishart or None, got {type(prior).__name__}")
    if prior.dim != dim:
        raise ValueError(f"prior must be of {dim} columns, as X has, got {prior.dim}")


def default_prior(moments: Moments) -> NormalWishart:
    """Return a belief in the units of the rows: one row's worth of mean, d rows' worth of covariance.

    It expects the mean of all rows and uncorrelated columns with their variances within classes: those about
    the mean of all where classes have no spread.
    """
    mean, weight = overall_mean(moments), moments.weight.sum()
    within = np.einsum("kii->i", moments.scatter) / weight
    step = moments.mean - mean
    total = within + moments.weight @ step**2 / weight
    size = np.max(np.abs(moments.mean), axis=0)
    _, constant = constant_columns(within, size)
    variances = np.where(constant, total, within)
    floor, constant = constant_columns(variances, size)
    structure = Diagonal(variances=np.where(constant, floor, variances))
    return MultivariateNormalModel.from_mean_strength(mean, 1.0, covariance=structure).prior


def beliefs_of_each(prior: NormalWishart, moments: Moments) -> ClassBeliefs:
    """Return what is believed of classes that have a mean and a covariance each."""
    model = MultivariateNormalModel(prior=prior)
    parts = [
        Moments(weight=w, mean=m, scatter=s)
        for w, m, s in zip(moments.weight, moments.mean, moments.scatter, strict=True)
    ]
    after = [model.update(part) for part in parts]
    said: list[Any] = [each.predictive() for each in after]
    return ClassBeliefs(
        posterior=NormalWishart(
            mean=np.stack([each.prior.location for each in after]),
            strength=np.stack([each.prior.strength for each in after]),
            dof=np.stack([each.prior.dof for each in after]),
            scale=np.stack([each.prior.scale for each in after]),
        ),
        predictive=MultivariateStudentT(
            dof=np.stack([each.dof for each in said]),
            location=np.stack([each.location for each in said]),
            scale=Full.from_cholesky(np.stack([each.structure.cholesky for each in said])),
        ),
        log_evidence=float(sum(model.log_evidence(part) for part in parts)),
    )


def beliefs_sharing(prior: NormalWishart, moments: Moments) -> ClassBeliefs:
    """Return what is believed of classes that have means of their own and one precision matrix.

    Λ ~ Wishart(ν, W) and μ_k ~ N(m, (bΛ)⁻¹) for each class: the scatter of every class about its mean, and of
    the means about m, is seen of the one Λ, so that ν' = ν + n and
    W'⁻¹ = W⁻¹ + Σ_k (S_k + b n_k / (b + n_k) (x̄_k - m)(x̄_k - m)ᵀ).
    """
    n, dim = moments.weight, prior.dim
    strength = prior.strength + n
    step = moments.mean - prior.location
    between = np.einsum("k,ki,kj->ij", prior.strength * n / strength, step, step)
    scale, growth = seen_scale(prior.scale, moments.scatter.sum(axis=0) + between)
    dof = prior.dof + n.sum()
    location = prior.location + (n / strength)[:, None] * step
    left = dof + 1.0 - dim
    structure = Full.from_precision(scale).scaled((strength + 1.0) / (strength * left))
    rise = wishart_increment(prior.dof, n.sum(), prior.scale, growth)
    return ClassBeliefs(
        posterior=NormalWishart(mean=location, strength=strength, dof=dof, scale=scale),
        predictive=MultivariateStudentT(dof=left, location=location, scale=structure),
        log_evidence=float(rise - 0.5 * dim * np.sum(np.log1p(n / prior.strength))),
    )
