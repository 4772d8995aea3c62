"""The Dirichlet-multinomial distribution of counts with uncertain probabilities."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, namespace_of, to_numpy
from tractable.distributions.checks import check_positive
from tractable.distributions.discrete.beta_binomial import BetaBinomial
from tractable.distributions.discrete.counting import (
    CountVectors,
    as_counts,
    check_whole,
    one_total,
)
from tractable.distributions.discrete.multinomial import apportioned, check_row_totals, drawn_in_turn
from tractable.distributions.discrete.polya import category_term, fitted_concentrations, whole_term
from tractable.statistics.counts import Totals
from tractable.statistics.rows import as_whole_numbers
from tractable.value import value

__all__ = ["DirichletMultinomial"]


@value
class DirichletMultinomial(CountVectors):
    """DM(n | N, α) = N! Γ(A) / Γ(N + A) Π Γ(n_k + α_k) / (n_k! Γ(α_k)): N trials, μ ~ Dirichlet(α), A = Σ α.

    The predictive distribution of N trials under a Dirichlet prior; of one trial, category k comes up with
    probability α_k / A. The covariance is (N + A) / (1 + A) times that of a multinomial of these. Of
    several modes the one that favours the first categories is given.

    Parameters
    ----------
    n_trials : array (*batch,) of whole numbers
        N.
    concentration : array (*batch, K)
        α, positive, of at least two categories.

    Examples
    --------
    >>> d = DirichletMultinomial(n_trials=2, concentration=[1.0, 1.0, 2.0])
    >>> d.prob([[2, 0, 0], [0, 0, 2], [1, 0, 1]])
    array([0.1, 0.3, 0.2])
    >>> d.mean
    array([0.5, 0.5, 1. ])
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"n_trials": 0, "concentration": 1}

    n_trials: Array
    concentration: Array

    def __post_init__(self) -> None:
        self._settle(n_trials=check_whole, concentration=check_positive)
        if self.concentration.shape[-1] < 2:
            raise ValueError("concentration must have at least two categories")

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None, *, n_trials: Any = None) -> Self:
        """Return the maximum likelihood estimate of α, by Newton's method on its logarithm.

        There is none where X is no more spread out than multinomial counts, or has one category alone in
        every row.

        Parameters
        ----------
        X : array (n, *batch, K)
            Rows of counts that add up to the same N.
        sample_weight : array (n,), optional
            How often each row counts.
        n_trials : int, optional
            N; what rows add up to when not given.
        """
        n = one_total(Totals.of(X, sample_weight), n_trials)
        X = as_whole_numbers(X)
        check_row_totals(X, n)
        return cls(n_trials=n, concentration=fitted_concentrations(X, sample_weight))

    @property
    def expected_probabilities(self) -> Array:
        """See `CountVectors.expected_probabilities`: α / A."""
        return self.concentration / self._strength[..., None]

    @property
    def marginals(self) -> BetaBinomial:
        """The distribution of each count by itself: beta-binomial, a batch (*batch, K)."""
        a = self.concentration
        xp = namespace_of(a)
        before = xp.cumulative_sum(a, axis=-1) - a
        after = xp.flip(xp.cumulative_sum(xp.flip(a, axis=-1), axis=-1), axis=-1) - a
        # A large entry must not wash out what is left of the others.
        others = xp.stack([before, after])
        others = xp.where(others > 0, others, xp.zeros_like(others))
        return BetaBinomial(n_trials=self.n_trials[..., None], alpha=a, beta=xp.sum(others, axis=0))

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: D'Hondt's rule for α - 1 where an α_k exceeds 1, else one category alone.

        The next count of category k multiplies the probability by (n_k + α_k) / (n_k + 1).
        """
        xp = namespace_of(self.concentration)
        above = self.concentration - 1.0
        above = xp.where(above > 0, above, xp.zeros_like(above))
        most = xp.max(self.concentration, axis=-1, keepdims=True)
        alone = xp.astype(self.concentration == most, above.dtype)
        first = xp.where(xp.cumulative_sum(alone, axis=-1) == 1.0, alone, xp.zeros_like(alone))
        return apportioned(self.n_trials, xp.where(most > 1.0, above, first))

    def entropy(self) -> Array:
        """See `Distribution.entropy`: sums over the counts of each category."""
        return whole_term(self.n_trials, self._strength) - self._summed(self._terms)

    def kl_divergence(self, other: "DirichletMultinomial") -> Array:
        """See `Distribution.kl_divergence`: sums over the counts, and infinite where N differs."""
        self._check_family(other)
        xp = namespace_of(self.concentration)
        zero = 0.0 * (self.n_trials + other.n_trials)
        own = DirichletMultinomial(
            n_trials=self.n_trials + zero, concentration=self.concentration + zero[..., None]
        )
        alike = self.n_trials == other.n_trials
        there = DirichletMultinomial(n_trials=own.n_trials, concentration=other.concentration)
        each = own._summed(lambda x: own._terms(x) - there._terms(x))
        whole = whole_term(own.n_trials, own._strength) - whole_term(own.n_trials, there._strength)
        found = each - whole
        return xp.where(alike, xp.where(found > 0, found, 0.0 * found), xp.full_like(found, xp.inf))

    @property
    def _strength(self) -> Array:
        return namespace_of(self.concentration).sum(self.concentration, axis=-1)

    @property
    def _inflation(self) -> Array:
        return (self.n_trials + self._strength) / (1.0 + self._strength)

    def _terms(self, x: Array) -> Array:
        return category_term(x, self.concentration, self.n_trials[..., None], self._strength[..., None])

    def _log_mass(self, x: Array) -> Array:
        each = namespace_of(x).sum(self._terms(x), axis=-1)
        return each - whole_term(self.n_trials, self._strength)

    def _sample(self, n: int, rng: Any) -> Array:
        a = to_numpy(self.concentration).astype(np.float64)
        rest = np.flip(np.cumsum(np.flip(a, -1), -1), -1)
        trials = np.broadcast_to(to_numpy(self.n_trials).astype(np.int64), (n, *self.batch_shape))

        def probability(k: int) -> np.ndarray:
            return rng.beta(a[..., k], rest[..., k + 1], size=trials.shape)

        return as_counts(drawn_in_turn(rng, trials, probability, self.n_classes), like=self.concentration)
