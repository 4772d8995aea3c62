"""Regression by the targets of the nearest rows, and their distribution."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.base import RegressorMixin, Rows, check_fitted, check_number, check_targets
from tractable.base.by_blocks import by_blocks, of_held_rows
from tractable.base.options import SklearnOptions
from tractable.base.regressor import check_levels
from tractable.distributions import Univariate
from tractable.distributions.checks import check_finite, check_nonnegative
from tractable.distributions.probabilities import log_or_minus_inf
from tractable.neighbors.leave_one_out import Trial, steps_to
from tractable.neighbors.search import NeighborModel, neighbor_weights
from tractable.spatial.counted import Counted
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.standardizer import Standardizer
from tractable.value import value

#: Ranks this near to a whole number, as a part of K, are that number.
RANK_ROUNDING = 1e-12


@value
class NeighborTargets(Univariate):
    """Weighted samples of numbers, one for each member of a batch: P(y) = Σ_j w_j [y = y_j] / Σ_j w_j.

    The batched sister of `tractable.Empirical`, for NumPy arrays.

    Parameters
    ----------
    values : array (*batch, K)
        Targets y_j of the K neighbours.
    weights : array (*batch, K)
        Not negative; of each member one at least positive.

    Examples
    --------
    >>> d = NeighborTargets(values=[[1.0, 2.0, 4.0], [5.0, 5.0, 8.0]], weights=np.ones((2, 3)))
    >>> d.mean.round(3), d.icdf(0.5), d[1].prob(5.0).round(3)
    (array([2.333, 6.   ]), array([2., 5.]), np.float64(0.667))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"values": 1, "weights": 1}
    discrete: ClassVar[bool] = True

    values: Array
    weights: Array

    def __post_init__(self) -> None:
        self._settle(values=check_finite, weights=check_nonnegative)
        if self.values.shape != self.weights.shape:
            raise ValueError(f"weights must have shape {self.values.shape}, got {self.weights.shape}")
        if not np.all(np.any(self.weights > 0.0, axis=-1)):
            raise ValueError("weights must have a positive entry for each member of the batch")

    @property
    def probabilities(self) -> np.ndarray:
        """Probability of each value, (*batch, K)."""
        return self.weights / self.weights.sum(axis=-1, keepdims=True)

    @property
    def atoms(self) -> np.ndarray:
        """The distinct values of one distribution that have a probability, in order."""
        if self.batch_shape:
            raise AttributeError("atoms are those of one distribution, not of a batch")
        return np.unique(self.values[self.weights > 0.0])

    @property
    def support(self) -> tuple[np.ndarray, np.ndarray]:
        """Least and greatest value, (*batch,) both."""
        values, probabilities = self._ordered
        counted = probabilities > 0.0
        low = np.min(np.where(counted, values, np.inf), axis=-1)
        return low, np.max(np.where(counted, values, -np.inf), axis=-1)

    @property
    def mean(self) -> np.ndarray:
        """See `Distribution.mean`."""
        return np.sum(self.probabilities * self.values, axis=-1)

    @property
    def variance(self) -> np.ndarray:
        """See `Distribution.variance`: the mean squared deviation, not an unbiased estimate."""
        return np.sum(self.probabilities * (self.values - self.mean[..., None]) ** 2, axis=-1)

    @property
    def mode(self) -> np.ndarray:
        """See `Distribution.mode`: the heaviest value; of equal ones the first."""
        heaviest = np.argmax(self._masses, axis=-1)
        return np.take_along_axis(self.values, heaviest[..., None], axis=-1)[..., 0]

    def log_prob(self, x: Any) -> np.ndarray:
        """Return the log of the probability at exactly x; -inf away from the values, NaN at NaN."""
        x = self._event(x)
        mass = np.sum(np.where(x[..., None] == self.values, self.probabilities, 0.0), axis=-1)
        return np.where(np.isnan(x), np.nan, log_or_minus_inf(mass))

    def cdf(self, x: Any) -> np.ndarray:
        """See `Univariate.cdf`: the probability of values not above x."""
        x = self._event(x)
        below = np.sum(np.where(self.values <= x[..., None], self.probabilities, 0.0), axis=-1)
        return np.where(np.isnan(x), np.nan, np.minimum(below, 1.0))

    def survival(self, x: Any) -> np.ndarray:
        """See `Univariate.survival`: the probability of values above x."""
        x = self._event(x)
        above = np.sum(np.where(self.values > x[..., None], self.probabilities, 0.0), axis=-1)
        return np.where(np.isnan(x), np.nan, np.minimum(above, 1.0))

    def icdf(self, q: Any) -> np.ndarray:
        """See `Univariate.icdf`: one of the values."""
        q = self._quantile(q)
        values, probabilities = self._ordered
        reached = np.cumsum(probabilities, axis=-1)
        # Level 0 is reached before the first value; the least that counts stands for it.
        q = np.maximum(q, np.finfo(float).tiny)[..., None] * (1.0 - 1e-14) * reached[..., -1:]
        column = np.minimum(np.sum(reached < q, axis=-1), values.shape[-1] - 1)
        values = np.broadcast_to(values, (*column.shape, values.shape[-1]))
        return np.take_along_axis(values, column[..., None], axis=-1)[..., 0]

    def isf(self, q: Any) -> np.ndarray:
        """See `Univariate.isf`: one of the values."""
        q = self._quantile(q)
        values, probabilities = self._ordered
        above = np.cumsum(probabilities[..., ::-1], axis=-1)[..., ::-1] - probabilities
        column = np.sum(above > q[..., None] * (1.0 + 1e-14), axis=-1)
        values = np.broadcast_to(values, (*column.shape, values.shape[-1]))
        return np.take_along_axis(values, column[..., None], axis=-1)[..., 0]

    def entropy(self) -> np.ndarray:
        """See `Distribution.entropy`."""
        return -np.sum(self.probabilities * np.log(np.where(self._masses > 0.0, self._masses, 1.0)), axis=-1)

    def kl_divergence(self, other: "NeighborTargets") -> np.ndarray:
        """See `Distribution.kl_divergence`: infinite where the other lacks one of these values."""
        if not isinstance(other, NeighborTargets):
            raise ValueError(f"other must be NeighborTargets, got {type(other).__name__}")
        batch = np.broadcast_shapes(self.batch_shape, other.batch_shape)
        every = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (self.values, self.probabilities))
        values, probabilities = (np.moveaxis(x, -1, 0) for x in every)
        ratio = np.where(probabilities > 0.0, self.log_prob(values) - other.log_prob(values), 0.0)
        return np.sum(probabilities * ratio, axis=0)

    def _sample(self, n: int, rng: Any) -> np.ndarray:
        return self.icdf(rng.random((n, *self.batch_shape)))

    @cached_property
    def _ordered(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.values, axis=-1, kind="stable")
        return tuple(np.take_along_axis(x, order, axis=-1) for x in (self.values, self.probabilities))  # type: ignore[return-value]

    @cached_property
    def _masses(self) -> np.ndarray:
        """The probability of each value, equal ones together, (*batch, K)."""
        same = self.values[..., :, None] == self.values[..., None, :]
        return np.sum(np.where(same, self.probabilities[..., None, :], 0.0), axis=-1)


class KNeighborsRegressor(RegressorMixin, NeighborModel):
    """K-nearest-neighbour regression: p(y | x) is the distribution of the targets of the K nearest rows.

    `predict_dist` is a discrete distribution: the targets of the neighbours, moved and spread so that its
    mean is the prediction ȳ and its variance the expected squared distance of a new target from it,
    s² (1 + Σ_j p_j² / c_j), where s² is the unbiased variance of the K targets and ȳ = Σ_j p_j y_j with
    neighbours that count c_j times. With uniform weights that is s² (1 + 1/K), or (K + 1)/(K - 1) times the
    mean squared deviation. Without noise (``include_noise=False``) the variance is that of ȳ,
    s² Σ_j p_j² / c_j. `predict_var` and standard deviations are those of `predict_dist`. One target has no
    spread: with K = 1 there is `predict` alone, and the others are refused.

    `predict_interval` and `predict_quantiles` allow for K targets being no more than a sample of p(y | x). A
    new target lies between the r-th smallest and the r-th largest of K with probability (K + 1 - 2r)/(K + 1),
    whatever p(y | x) is, as long as it hardly changes among the neighbours. An interval takes the largest r
    with r / (K + 1) ≤ (1 - coverage) / 2: it covers what it says, or a little more, and K targets cover at
    most (K - 1)/(K + 1), `max_coverage_`. A larger coverage is refused, and any with K = 1. Without noise the
    interval is Student's, ȳ ∓ t s / √K with K - 1 degrees of freedom. Each neighbour counts once in
    the spread and in intervals, whatever `weights` it has in the mean.

    Training stores the rows, arranged for the search. ``n_neighbors="loo"`` chooses K by
    leave-one-out, all numbers in one search.

    Parameters
    ----------
    n_neighbors : int or "loo"
        K, counted by weight, at most the total weight of the rows; of rows at equal distance the first given
        is the nearer. "loo" leaves out a row with all its weight and its copies.
    weights : {"uniform", "distance"} or callable
        The weight of a neighbour in the mean: 1, 1/distance (all of it at distance zero), or a function of
        an array of distances.
    metric : str, Metric or callable
        The distance between rows, as `KNeighborsClassifier` takes it.
    p : float
        The order of "minkowski".
    index : str or callable
        The search, exact or approximate, as `KNeighborsClassifier` takes it.
    max_neighbors : int, optional
        The largest number that "loo" tries; 2 √n when not given. Of more than 2,048 numbers so many
        are tried, evenly in the logarithm.
    random_state : None, int, RandomState or Generator
        Seed of an index that draws.

    Attributes
    ----------
    n_neighbors_ : int
        K.
    max_coverage_ : float
        The largest coverage of an interval for a new target, (K - 1) / (K + 1).
    loo_curve_ : NeighborCurve
        With "loo": R² of every number, averaged over targets, which `tractable.plot` draws.
    loo_scores_ : array
        Its scores.
    index_ : Index
        The stored rows, those of positive weight, in the order of the search.
    targets_ : array of shape (n_samples_fit_,) or (n_samples_fit_, n_targets)
        Targets of the stored rows.
    sample_weight_ : array of shape (n_samples_fit_,) or None
        Frequencies of the stored rows; None where none were given.
    row_indices_ : array of shape (n_samples_fit_,) of int
        Which of the `n_samples_given_` rows each stored one is.
    n_samples_fit_, n_samples_given_ : int
        Number of stored rows, and of rows given to `fit`.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    Examples
    --------
    >>> import tractable
    >>> model = tractable.KNeighborsRegressor(3).fit([[0.0], [1.0], [2.0], [9.0]], [0.0, 2.0, 1.0, 7.0])
    >>> model.predict([[1.2]]), model.predict_interval([[1.2]], coverage=0.5)
    (array([1.]), array([[0., 2.]]))
    """

    _several_targets = True

    _sklearn_options = SklearnOptions(
        ignored=("algorithm", "leaf_size"),
        limited={"metric_params": (None,)},
        values={"weights": {None: "uniform"}},
    )

    def _set_targets(self, rows: Rows) -> None:
        self.targets_ = check_targets(self, rows.y, rows.data)

    @by_blocks
    def predict(self, X: Any, return_std: bool = False, *, include_noise: bool = True) -> Any:
        """Return the mean of the neighbours' targets, and on request their standard deviation.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        return_std : bool
            Whether to return the standard deviation as well; refused with K = 1.
        include_noise : bool
            Whether the spread is that of a new target (default) or of the average of K.
        """
        check_fitted(self)
        if not return_std:
            near = self._near(X)
            targets, _ = self._targets_of(near)
            return namespace_of(targets).sum(self._shares(near, targets) * targets, axis=-1)
        if self._on_device:
            self._check_spread()
            mean, variance = self._moments_elsewhere(X, include_noise=include_noise)
            return mean, variance**0.5
        return super().predict(X, return_std, include_noise=include_noise)

    @by_blocks
    def predict_var(self, X: Any, *, include_noise: bool = True) -> Any:
        """Return the variance of a new target, or of the average of the neighbours' targets, (n_samples,).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether the spread is that of a new target (default) or of the average of K.
        """
        check_fitted(self)
        if self._on_device:
            self._check_spread()
            return self._moments_elsewhere(X, include_noise=include_noise)[1]
        return super().predict_var(X, include_noise=include_noise)

    def _moments_elsewhere(self, X: Any, *, include_noise: bool) -> tuple[Any, Any]:
        """Return the mean and the variance of `predict_dist`, of rows on a device."""
        near = self._near(X)
        xp, targets, counts = namespace_of(near.counts), *self._targets_of(near)
        p = self._shares(near, targets)
        mean, total = xp.sum(p * targets, axis=-1), xp.sum(counts, axis=-1)
        step = targets - (xp.sum(counts * targets, axis=-1) / total)[..., None]
        of_mean = xp.sum(p**2 / xp.where(p > 0.0, counts, 1.0), axis=-1)  # Var ȳ / σ²
        free = xp.where(total > 1.0, total - 1.0, xp.nan)
        return mean, xp.sum(counts * step**2, axis=-1) / free * (float(include_noise) + of_mean)

    def _targets_of(self, near: Counted) -> tuple[Any, Any]:
        """Return the targets of neighbours, (m, K) or (m, targets, K), and their counts, which broadcast."""
        xp = namespace_of(near.counts)
        found = xp.take(self.targets_, xp.reshape(near.indices, (-1,)), axis=0)
        found = xp.reshape(found, (*near.indices.shape, *self.targets_.shape[1:]))
        if found.ndim == 2:
            return found, near.counts
        return xp.permute_dims(found, (0, 2, 1)), xp.broadcast_to(
            near.counts[:, None, :], (found.shape[0], found.shape[2], found.shape[1])
        )

    def _shares(self, near: Counted, targets: Any) -> Any:
        """Return the share that each neighbour has of a prediction, beside the targets of neighbours."""
        weights = near.counts * neighbor_weights(self.weights, near)
        weights = weights if targets.ndim == 2 else weights[:, None, :]
        return weights / namespace_of(weights).sum(weights, axis=-1, keepdims=True)

    def _check_spread(self) -> None:
        """Refuse a spread of the target of one neighbour."""
        if self.n_neighbors_ < 2:
            raise ValueError(
                f"n_neighbors is {self.n_neighbors_}: the target of one neighbour has no spread, and no "
                "distribution; predict gives it, and n_neighbors of at least 2 a distribution"
            )

    @of_held_rows
    def predict_dist(self, X: Any, *, include_noise: bool = True) -> NeighborTargets:
        """Return the distribution of a new target, or of the average of the neighbours' targets.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether the spread is that of a new target (default) or of the average of K.

        Returns
        -------
        NeighborTargets
            Of batch shape (n_samples,), with a second axis for several targets.
        """
        check_fitted(self)
        self._refuse_tensors("the distribution of targets")
        self._check_spread()
        found, near = self._sample(X)
        p = found.probabilities
        counts = np.broadcast_to(near.counts if p.ndim == 2 else near.counts[:, None, :], p.shape)
        sample = NeighborTargets(values=found.values, weights=counts)
        of_mean = np.sum(p**2 / np.where(p > 0.0, counts, 1.0), axis=-1)  # Var ȳ / σ²
        total = near.total if p.ndim == 2 else near.total[:, None]
        unbiased = total / (total - 1.0)
        wider = np.sqrt(unbiased * (float(include_noise) + of_mean))[..., None]
        values = found.mean[..., None] + wider * (found.values - sample.mean[..., None])
        return NeighborTargets(values=values, weights=counts)

    def _sample(self, X: Any) -> tuple[NeighborTargets, Counted]:
        """Return the targets of the neighbours with their weights, and the neighbours."""
        near = self._near(X)
        weights = near.counts * neighbor_weights(self.weights, near)
        targets = self.targets_[near.indices]
        if self.targets_.ndim == 2:
            targets, weights = np.swapaxes(targets, 1, 2), weights[:, None, :]
        return NeighborTargets(values=targets, weights=weights), near

    @property
    def max_coverage_(self) -> float:
        """The largest coverage of an interval for a new target, (K - 1) / (K + 1)."""
        return (self.n_neighbors_ - 1) / (self.n_neighbors_ + 1)

    @by_blocks
    def predict_interval(self, X: Any, coverage: float = 0.9, *, include_noise: bool = True) -> np.ndarray:
        """Return the equal-tailed interval that holds the target with probability `coverage`, (n_samples, 2).

        Its ends are targets of neighbours, and K neighbours cover at most `max_coverage_`: more is refused.
        With one more axis before the last for several targets.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        coverage : float
            Probability, between 0 and 1.
        include_noise : bool
            Whether the interval is of a new target (default) or of the mean of the targets at x: then
            Student's interval, which supposes normal targets.
        """
        check_fitted(self)
        check_number("coverage", coverage, above=0.0, below=1.0)
        tail = 0.5 * (1.0 - coverage)
        self._check_levels("coverage", coverage, np.array([tail]), include_noise)
        return self.predict_quantiles(X, [tail, 1.0 - tail], include_noise=include_noise)

    @by_blocks
    def predict_quantiles(
        self, X: Any, alpha: Any = (0.05, 0.95), *, include_noise: bool = True
    ) -> np.ndarray:
        """Return quantiles of a new target at probabilities `alpha`, (n_samples, len(alpha)).

        A new target is below the j-th smallest of K with probability j / (K + 1). So a level below ½ is that
        of the largest j with j / (K + 1) not above it, one above ½ of the smallest with j / (K + 1) not below
        it; at ½ it is the median. Levels beyond 1 / (K + 1) and K / (K + 1) are refused.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        alpha : array of probabilities
            Levels of the quantiles, between 0 and 1.
        include_noise : bool
            As in `predict_interval`.
        """
        check_fitted(self)
        levels = check_levels(alpha)
        self._check_levels("alpha", alpha, levels, include_noise)
        if not include_noise:
            self._refuse_tensors("Student's interval of the mean")
        targets, counts = self._targets_of(self._near(X))
        find = _sample_quantiles if include_noise else _mean_quantiles
        return find(targets, counts, levels)

    def _check_levels(self, name: str, given: Any, levels: np.ndarray, include_noise: bool) -> None:
        """Refuse levels that a sample of K targets cannot give."""
        K, tail = self.n_neighbors_, float(np.min(np.minimum(levels, 1.0 - levels)))
        least = max(2, int(np.ceil(1.0 / tail - 1.0 - RANK_ROUNDING))) if include_noise else 2
        if least > K:
            raise ValueError(
                f"{name} = {given!r} needs n_neighbors of at least {least}: the targets of K neighbours "
                f"cover at most (K - 1)/(K + 1) of new ones, and n_neighbors is {K}"
            )

    def _trial(self, rows: Rows) -> Trial:
        targets = _standardized(self.targets_, rows.weights)

        def means(near: Counted, numbers: np.ndarray) -> Iterator[np.ndarray]:
            weights, m = neighbor_weights(self.weights, near), len(near.counts)
            sums, total = np.zeros((m, targets.shape[1])), np.zeros((m, 1))
            for step in steps_to(near.counts, numbers):
                for row, column, amount in step:
                    much = (amount * weights[row, column])[:, None]
                    sums[row] += much * targets[near.indices[row, column]]
                    total[row] += much
                yield np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0.0)

        return Trial(
            predictions=means,
            score_of=lambda mean, own: 1.0 - np.mean((mean - targets[own]) ** 2, axis=1),
            score="R²",
        )


def _sample_quantiles(targets: np.ndarray, counts: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return order statistics (..., levels) of samples (..., K), in which targets count so many times."""
    xp = namespace_of(targets)
    order = xp.argsort(targets, axis=-1, stable=True)
    values = xp.take_along_axis(targets, order, axis=-1)
    reached = xp.cumulative_sum(xp.take_along_axis(counts, order, axis=-1), axis=-1)
    total = reached[..., -1:]

    def at_rank(rank: np.ndarray) -> np.ndarray:
        below = xp.astype(reached < rank - RANK_ROUNDING * total, xp.int64)
        column = xp.clip(xp.sum(below, axis=-1, keepdims=True), max=values.shape[-1] - 1)
        return xp.take_along_axis(values, column, axis=-1)[..., 0]

    def quantile(level: float) -> np.ndarray:
        rank = level * (total + 1.0)
        below, above = xp.floor(rank + RANK_ROUNDING * total), xp.ceil(rank - RANK_ROUNDING * total)
        if level == 0.5:
            return 0.5 * at_rank(below) + 0.5 * at_rank(above)
        return at_rank(below if level < 0.5 else above)

    return xp.stack([quantile(float(level)) for level in levels], axis=-1)


def _mean_quantiles(targets: np.ndarray, counts: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return quantiles (..., levels) of the mean behind samples (..., K): ȳ + t s / √K, Student's."""
    from scipy.special import stdtrit

    total = np.sum(counts, axis=-1)
    mean = np.sum(counts * targets, axis=-1) / total
    scatter = np.sum(counts * (targets - mean[..., None]) ** 2, axis=-1)
    error = np.sqrt(scatter / (total - 1.0) / total)
    return mean[..., None] + error[..., None] * stdtrit(total[..., None] - 1.0, levels)


def _standardized(targets: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """Return targets (n, t) of mean zero and variance one; constant ones are zeros, predicted exactly."""
    y = targets.reshape(len(targets), -1)
    standardizer = Standardizer.from_moments(DiagonalMoments.of(y, weights))
    return np.where(standardizer.varies, standardizer.transform(y), 0.0)
