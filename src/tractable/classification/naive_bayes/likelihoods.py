"""How the likelihoods of naive Bayes are estimated."""

from functools import reduce
from numbers import Real
from operator import add
from typing import Any

import numpy as np
from scipy.optimize import brentq

from tractable.arrays.special import gammaln
from tractable.base import NotYetDetermined, check_choice
from tractable.classification.naive_bayes.columns import NaiveColumns, family_of
from tractable.conjugate import ConjugateModel, NormalModel
from tractable.conjugate.increments import dirichlet_increment, gamma_increment
from tractable.data.table_columns import MOST_CATEGORIES, check_entries, many_categories
from tractable.distributions import (
    Categorical,
    NegativeBinomial,
    NormalGamma,
    Poisson,
    SmoothedEmpirical,
    Stacked,
    StudentT,
)
from tractable.primitives.naive_bayes import class_moments
from tractable.smoothing import check_window, select_bandwidth
from tractable.smoothing.rules import window_factor
from tractable.statistics import Counts, DiagonalMoments, KeptValues, Moments
from tractable.statistics.rows import check_squares
from tractable.value import value

__all__ = [
    "Estimation",
    "Tallies",
    "check_counted",
    "check_rule",
    "counts_of_classes",
    "family_evidence",
    "family_part",
    "kept_of_classes",
    "kernel_part",
    "moments_of_classes",
    "multinomial_rates",
    "normal_estimates",
    "normal_evidence",
    "normal_predictives",
    "poisson_evidence",
    "poisson_parts",
    "pooled",
    "shares_of_counts",
    "with_factorials",
]


@value
class Estimation:
    """What turns statistics into distributions.

    Parameters
    ----------
    bayes : bool
        Whether parameters are integrated out rather than estimated.
    pseudocounts : float
        Observations that the priors are worth.
    var_smoothing : float
        What is added to variances, as a share of the variance of the column, or `of_largest` of them.
    shared_variance : bool
        Whether a column has one variance in all classes.
    variance : float or array (d,), optional
        Variances that are known.
    bandwidth, kernel
        Of smoothed samples.
    min_categories : int or array (d,), optional
        Categories that a column has at least.
    """

    bayes: bool = False
    pseudocounts: float = 1.0
    var_smoothing: float = 1e-9
    of_largest: bool = False
    shared_variance: bool = False
    variance: Any = None
    bandwidth: Any = "silverman"
    kernel: Any = "gaussian"
    min_categories: Any = None


#: Below, a sum of squares may have been lost.
SMALL = 1e-290

#: A column that never varies is given so many roundings of its values as a standard deviation.
ROUNDINGS = 8.0


def moments_of_classes(
    x: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None
) -> list[DiagonalMoments]:
    """Return weight, mean and scatter of the observed entries of every class."""
    with np.errstate(invalid="ignore", over="ignore"):
        weight, mean, scatter, total = class_moments(x, codes, n_classes, weights)
        unseen = _unseen(x, codes, weights, total) if np.any(weight != total[:, None]) else 0.0 * total
    found = [
        DiagonalMoments(weight=weight[k], mean=mean[k], scatter=scatter[k], total=total[k], unseen=unseen[k])
        for k in range(n_classes)
    ]
    low, high = scatter.min(initial=1.0), scatter.max(initial=1.0)
    if not (low > SMALL and high < np.inf):  # what may be lost is looked for class by class
        for k in range(n_classes):
            own, some = codes == k, ~((scatter[k] > SMALL) & (scatter[k] < np.inf))
            w = None if weights is None else weights[own]
            if some.any():
                check_squares(scatter[k, some], x[np.ix_(own, some)], mean[k, some], w)
    return found


def _unseen(x: np.ndarray, codes: np.ndarray, weights: Any, total: np.ndarray) -> np.ndarray:
    if np.any(np.isinf(x)):
        raise ValueError("X contains infinity; remove the rows or mark the entries as missing (NaN)")
    nothing = np.isnan(x).all(axis=1)
    return np.bincount(codes[nothing], None if weights is None else weights[nothing], len(total)).astype(
        float
    )


def pooled(found: list[Any]) -> Any:
    """Return the statistic of all classes together."""
    return reduce(add, found)


def normal_estimates(found: list[DiagonalMoments], how: Estimation) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance of each class and column, (K, d)."""
    whole = pooled(found)
    variance, least = column_variance(whole)
    seen = np.stack([part.weight for part in found]) > 0
    mean = np.where(seen, np.stack([part.mean for part in found]), whole.mean)
    spread = np.where(seen, _variances(found, how, variance), variance)
    return mean, np.maximum(spread, least)


def column_variance(whole: DiagonalMoments) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of each column over all classes, and the least that one may have."""
    variance = np.maximum(whole.scatter / whole.weight, 0.0)
    limits = np.finfo(np.float64)
    size = np.where(whole.mean != 0, np.abs(whole.mean), 1.0)
    least = np.maximum(ROUNDINGS * limits.eps * size, np.sqrt(limits.tiny)) ** 2
    varies = np.sqrt(variance) > limits.eps * np.abs(whole.mean)
    return np.where(varies, variance, 0.0), np.where(varies, limits.tiny, least)


def _variances(found: list[DiagonalMoments], how: Estimation, variance: np.ndarray) -> np.ndarray:
    """Return the variances of columns (K, d): known, shared, or of each class, and smoothed."""
    K = len(found)
    if how.variance is not None:
        known = np.asarray(how.variance, dtype=np.float64)
        if known.ndim and known.shape != variance.shape:
            raise ValueError(f"variance must have one entry a column, {len(variance)}, got {known.shape}")
        return np.broadcast_to(known, (K, len(variance)))
    share = how.var_smoothing * (variance.max() if how.of_largest else variance)
    weight, scatter = (np.stack([getattr(part, name) for part in found]) for name in ("weight", "scatter"))
    if how.shared_variance:
        weight, scatter = (np.broadcast_to(a.sum(axis=0), a.shape) for a in (weight, scatter))
    return np.maximum(scatter, 0.0) / np.where(weight > 0, weight, 1.0) + share


def normal_predictives(found: list[DiagonalMoments], how: Estimation) -> list[StudentT]:
    """Return the distribution of each column: `NormalModel` after the rows of each class, many at once."""
    whole, strength = pooled(found), how.pseudocounts
    m, v = whole.mean, np.maximum(*column_variance(whole))
    weight, mean, scatter = (
        np.stack([getattr(part, name) for part in found]) for name in ("weight", "mean", "scatter")
    )
    after, step = strength + weight, np.where(weight > 0, mean - m, 0.0)
    shape = 0.5 * after
    rate = 0.5 * (strength * v + np.maximum(scatter, 0.0) + strength * weight / after * step**2)
    location, scale = m + weight / after * step, np.sqrt(rate * (after + 1.0) / (shape * after))
    return [
        StudentT(dof=2.0 * shape[:, j], location=location[:, j], scale=scale[:, j]) for j in range(len(m))
    ]


def normal_evidence(found: list[DiagonalMoments], how: Estimation) -> float:
    """Return Σ_k log p(columns of class k), means and precisions integrated out."""
    whole = pooled(found)
    variance, least = column_variance(whole)
    v, a = np.maximum(variance, least), 0.5 * how.pseudocounts
    total = 0.0
    for j in range(len(v)):
        prior = NormalGamma(mean=whole.mean[j], strength=how.pseudocounts, shape=a, rate=a * v[j])
        model = NormalModel(prior=prior)
        for part in found:
            moments = Moments(
                weight=part.weight[j], mean=part.mean[j : j + 1], scatter=part.scatter[j : j + 1, None]
            )
            total += model.log_evidence(moments)
    return total


def check_counted(
    layout: NaiveColumns, where: np.ndarray, x: np.ndarray, *, whole: bool = True
) -> np.ndarray:
    """Refuse columns that hold what their kind does not; return the greatest entry of each, NaN of none."""
    low, high = _ends(x)
    if np.any(np.isinf(high)) or np.any(np.isinf(low)):
        raise ValueError("X contains infinity")
    fine = np.ones(len(where), dtype=bool)
    if whole and np.any(x != np.floor(x)):
        fine = np.all((x == np.floor(x)) | np.isnan(x), axis=0)
    yes_or_no = np.isin(where, layout.where("bernoulli"))
    odd = np.flatnonzero((low < 0) | ~fine | (yes_or_no & (high > 1)))
    for i in odd[np.argsort(low[odd], kind="stable")]:  # what is negative is said first
        j = int(where[i])
        ends, kind = (float(low[i]), float(high[i])), layout.likelihoods[j]
        check_entries(layout.columns, j, *ends, whole=bool(fine[i]), kind=kind)
    return high


def _ends(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the greatest entry of each column that is not missing, NaN of none."""
    if len(x):
        low, high = x.min(axis=0), x.max(axis=0)
        if not np.any(np.isnan(low)):
            return low, high
    return np.fmin.reduce(x, axis=0, initial=np.nan), np.fmax.reduce(x, axis=0, initial=np.nan)


def counts_of_classes(
    layout: NaiveColumns,
    where: np.ndarray,
    x: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    weights: np.ndarray | None,
) -> list[Counts]:
    """Return how often each category of each column was seen in every class; missing ones count nothing."""
    high = check_counted(layout, where, x)
    most = int(np.nanmax(high, initial=0.0)) + 1
    if most > MOST_CATEGORIES:
        raise many_categories(layout.columns.label(int(where[int(np.nanargmax(high))])), most)
    if len(layout.where("bernoulli")) == len(layout.where("bernoulli", "categorical")):
        return _yes_and_no(x, codes, n_classes, weights)
    seen = ~np.isnan(x)
    d = x.shape[1]
    place = (codes.astype(np.int64)[:, None] * d + np.arange(d)) * most
    place = (place + np.where(seen, x, 0.0).astype(np.int64))[seen]
    one = None if weights is None else np.broadcast_to(weights[:, None], x.shape)[seen]
    tally = np.bincount(place, one, n_classes * d * most).astype(np.float64).reshape(n_classes, d, most)
    return [Counts(counts=part) for part in tally]


def _yes_and_no(x: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None) -> list[Counts]:
    """Return counts of zeros and ones: two products of matrices, or one where nothing is missing."""
    members = np.zeros((n_classes, len(x)))
    members[codes, np.arange(len(x))] = 1.0 if weights is None else weights
    x = np.asarray(x, dtype=np.float64)
    ones = members @ x
    whole = members.sum(axis=1, keepdims=True)
    if not np.all(np.isfinite(ones)):
        seen = ~np.isnan(x)
        ones, whole = members @ np.where(seen, x, 0.0), members @ seen.astype(np.float64)
    zeros = np.maximum(whole - ones, 0.0)
    return [Counts(counts=part) for part in np.stack([zeros, ones], axis=-1)]


class Tallies:
    """Counts of some columns in all classes, with the categories that each column has."""

    def __init__(self, layout: NaiveColumns, where: np.ndarray, found: list[Counts], how: Estimation) -> None:
        self.layout, self.where, self.how = layout, where, how
        most = max([1, *(part.n_classes for part in found)])
        self.counts = np.stack([part.padded(most).counts for part in found])  # (K, d, C)
        self.sizes = np.array([self._size(i, int(j)) for i, j in enumerate(where)], dtype=np.int64)

    def _size(self, i: int, j: int) -> int:
        if self.layout.likelihoods[j] == "bernoulli":
            return 2
        table = self.layout.columns.categories[j]
        if table is not None:
            return len(table)
        seen = np.flatnonzero(self.counts[:, i].any(axis=0))
        least = np.atleast_1d(1 if self.how.min_categories is None else self.how.min_categories)
        if len(least) not in (1, len(self.where)):
            raise ValueError(
                f"min_categories must have one entry a column, {len(self.where)}, got {len(least)}"
            )
        asked = int(least[i % len(least)])
        return max(asked, int(seen[-1]) + 1 if len(seen) else 1)

    def of(self, i: int) -> np.ndarray:
        """Return the counts of one column, (K, C)."""
        found, size = self.counts[:, i], int(self.sizes[i])
        return (
            found[:, :size] if found.shape[1] >= size else np.pad(found, ((0, 0), (0, size - found.shape[1])))
        )

    def shares(self, i: int) -> np.ndarray:
        """Return (n_kc + α) / (n_k + α C), (K, C); of a class of which nothing is known, those of all."""
        counts = self.of(i)
        smoothed = counts + self.how.pseudocounts
        total = smoothed.sum(axis=1, keepdims=True)
        if not np.all(total > 0):
            every = counts.sum(axis=0)
            smoothed = np.where(total > 0, smoothed, every if every.sum() > 0 else 1.0)
            total = smoothed.sum(axis=1, keepdims=True)
        return smoothed / total

    def probabilities(self, where: np.ndarray) -> np.ndarray:
        """Return the shares of ones of some columns of yes or no, (K, number of them)."""
        some = np.searchsorted(self.where, where)
        counts = self.counts[:, some, :2]
        counts = np.pad(counts, ((0, 0), (0, 0), (0, 2 - counts.shape[2])))
        smoothed = counts + self.how.pseudocounts
        total = smoothed.sum(axis=2, keepdims=True)
        if not np.all(total > 0):  # of a class of which nothing is known, those of all
            smoothed = np.where(total > 0, smoothed, counts.sum(axis=0))
            total = smoothed.sum(axis=2, keepdims=True)
        return smoothed[:, :, 1] / total[:, :, 0]

    def part(self, i: int) -> Categorical:
        """Return the distribution of one column of categories, a batch of classes."""
        return Categorical(probabilities=self.shares(i))

    def log_unseen(self, i: int) -> np.ndarray:
        """Return log α / (n_k + α (C + 1)), (K,): what a category has that would have been declared."""
        alpha, counts = self.how.pseudocounts, self.of(i)
        if not alpha > 0:
            return np.full(len(counts), -np.inf)
        return np.log(alpha) - np.log(counts.sum(axis=1) + alpha * (int(self.sizes[i]) + 1))

    def log_evidence(self) -> float:
        """Return Σ_k log p(columns of class k), the shares integrated out under Dirichlet priors."""
        found = (
            dirichlet_increment(np.full(int(n), float(self.how.pseudocounts)), self.of(i)).sum()
            for i, n in enumerate(self.sizes)
        )
        return float(sum(found))


def with_factorials(x: np.ndarray) -> np.ndarray:
    """Return counts and the logarithms of their factorials, which the evidence needs.

    Both are kept whatever the estimate: statistics do not depend on what will be made of them.
    """
    return np.concatenate([x, gammaln(np.asarray(x, dtype=np.float64) + 1.0)], axis=1)


def poisson_parts(found: list[DiagonalMoments], how: Estimation) -> list[Any]:
    """Return the distribution of each column, a batch of classes.

    The prior of a rate is worth `pseudocounts` rows of the average count: the estimate is
    (Σ x + a m) / (n + a), and with the rate integrated out a count is negative binomial.
    """
    shape, rate, usual = _gammas(found, how)
    if how.bayes:
        mean = shape / rate
        return [NegativeBinomial(shape=shape[:, j], mean=mean[:, j]) for j in range(len(usual))]
    nothing = rate == 0
    rates = np.where(nothing, usual, shape / np.where(nothing, 1.0, rate))
    return [Poisson(rate=rates[:, j]) for j in range(len(usual))]


def poisson_evidence(found: list[DiagonalMoments], how: Estimation) -> float:
    """Return Σ_k log p(columns of class k), the rates integrated out."""
    d = found[0].dim // 2
    _, _, usual = _gammas(found, how)
    prior = np.stack([how.pseudocounts * usual, np.full(d, how.pseudocounts)], axis=-1)
    total = 0.0
    for part in found:
        gain = np.stack([(part.weight * part.mean)[:d], part.weight[:d]], axis=-1)
        total += float(np.sum(gamma_increment(prior, gain))) - float(np.sum((part.weight * part.mean)[d:]))
    return total


def _gammas(found: list[DiagonalMoments], how: Estimation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return shape and rate of the belief about each rate, (K, d), and the average counts (d,)."""
    d = found[0].dim // 2
    weight, mean = (np.stack([getattr(part, name) for part in found])[:, :d] for name in ("weight", "mean"))
    whole = weight.sum(axis=0)
    # Where no class has counted anything, half a count is what may have been missed.
    usual = np.maximum(np.sum(weight * mean, axis=0), 0.5) / whole
    return weight * mean + how.pseudocounts * usual, weight + how.pseudocounts, usual


def multinomial_rates(found: list[DiagonalMoments], how: Estimation) -> np.ndarray:
    """Return the rates λ p_kj of Poisson distributions, (K, d), with λ the average total of a row.

    Given its total, a row of such counts is multinomial with shares p_k; the total itself, Poisson with the
    same λ in every class, says nothing of the class.
    """
    whole = pooled(found)
    length = max(float(whole.mean.sum()), 0.5 / float(whole.total))
    weight, mean = (np.stack([getattr(part, name) for part in found]) for name in ("weight", "mean"))
    counts = weight * mean
    a = how.pseudocounts
    usual = shares_of_counts(counts.sum(axis=0), whole.weight, a)
    shares = np.stack([shares_of_counts(*own, a, usual) for own in zip(counts, weight, strict=True)])
    return length * shares


def shares_of_counts(
    counts: np.ndarray, weight: np.ndarray, pseudocounts: float, usual: np.ndarray | None = None
) -> np.ndarray:
    """Return the shares p_j of totals, (d,), of which column j was observed in rows of weight n_j.

    Counts S_j are Poisson with means λ p_j n_j, where λ, the average total in this class, is free: totals say
    nothing of shares. Under a Dirichlet prior of α pseudocounts the mode has

        p_j = (S_j + α) / (S n_j / E + α d),    E = Σ_j n_j p_j,    S = Σ_j S_j,

    which is (S_j + α) / (S + α d) where nothing is missing, and in proportion to the mean counts S_j / n_j
    where α = 0. A column that was never observed has its `usual` share, and leaves the rest to the others.
    """
    seen = weight > 0
    if not np.all(seen):
        if usual is None or not np.any(seen):
            return np.full(len(counts), 1.0 / len(counts)) if usual is None else usual
        kept = shares_of_counts(counts[seen], weight[seen], pseudocounts, usual[seen] / usual[seen].sum())
        shares = np.array(usual)
        shares[seen] = kept * usual[seen].sum()
        return shares
    total, d = float(counts.sum()), len(counts)
    if not total + pseudocounts > 0:
        return np.full(d, 1.0 / d) if usual is None else usual
    low, high = float(weight.min()), float(weight.max())

    def shares_at(observed: float) -> np.ndarray:
        return (counts + pseudocounts) / (total * weight / observed + pseudocounts * d)

    if not total > 0 or not pseudocounts > 0 or low == high:
        shares = shares_at(high) if total > 0 else np.ones(d)
    else:
        shares = shares_at(brentq(lambda e: shares_at(e).sum() - 1.0, low, high, xtol=1e-14 * high))
    return shares / shares.sum()


def check_rule(bandwidth: Any) -> None:
    """Refuse a bandwidth that is neither a rule nor a positive number."""
    if isinstance(bandwidth, str):
        check_choice("bandwidth", bandwidth, ("silverman", "scott", "isj", "loo", "lscv"))
    elif isinstance(bandwidth, bool) or not (
        isinstance(bandwidth, Real) and 0.0 < float(bandwidth) < float("inf")
    ):
        raise ValueError(f"bandwidth must be a rule or a positive number, got {bandwidth!r}")


def kept_of_classes(
    kind: Any, x: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None
) -> list[Any]:
    """Return what a likelihood must know of one column, (n,), in every class; None where nothing was seen."""
    seen = ~np.isnan(x)
    if np.any(np.isinf(x)):
        raise ValueError("X contains infinity; remove the rows or mark the entries as missing (NaN)")
    found: list[Any] = []
    for k in range(n_classes):
        own = seen & (codes == k)
        w = None if weights is None else weights[own]
        found.append(_summary(kind, np.asarray(x[own], dtype=np.float64), w) if own.any() else None)
    return found


def kernel_part(found: list[KeptValues | None], how: Estimation, label: Any, classes: np.ndarray) -> Any:
    """Return the smoothed sample of each class; of a class without values, that of all of them."""
    whole = pooled([part for part in found if part is not None])
    moments = DiagonalMoments.of(whole.values, whole.weights)
    variance, least = column_variance(moments)
    unit = float(np.sqrt(np.maximum(variance, least))[0])
    members = []
    for part, name in zip(found, classes.tolist(), strict=True):
        try:
            members.append(_smoothed(whole if part is None else part, unit, how))
        except ValueError as error:
            raise NotYetDetermined(f"X: the column {label!r} in class {name!r}: {error}") from None
    return Stacked(members=members)


def _smoothed(part: KeptValues, unit: float, how: Estimation) -> Any:
    points = part.values[:, 0]
    return SmoothedEmpirical(
        points=points,
        bandwidth=_bandwidth(points, part.weights, unit, how),
        weights=part.weights,
        window=how.kernel,
    )


def _bandwidth(points: np.ndarray, weights: np.ndarray, unit: float, how: Estimation) -> float:
    """Return the bandwidth of a class; where its values do not vary, by the rule for those of all classes."""
    if not isinstance(how.bandwidth, str):
        return float(how.bandwidth)
    window = check_window(how.kernel)
    if _vary(points, weights):
        return float(select_bandwidth(points, how.bandwidth, weights=weights, kernel=window).bandwidth[0])
    return unit * (4.0 / (3.0 * max(float(weights.sum()), 1.0))) ** 0.2 * window_factor(window, 1)


def _vary(points: np.ndarray, weights: np.ndarray) -> bool:
    """Whether values, of a weight above one, differ by more than roundings."""
    total, size = float(weights.sum()), float(np.max(np.abs(points)))
    if len(points) < 2 or not total > 1.0 or not size > 0.0:
        return False
    u = points / size
    scatter = weights @ (u - np.average(u, weights=weights)) ** 2
    return bool(np.sqrt(scatter / (total - 1.0)) > ROUNDINGS * np.finfo(np.float64).eps)


def family_part(kind: Any, found: list[Any], label: Any, classes: np.ndarray) -> Any:
    """Return a family's fit, or a model's predictive, to the values of each class."""
    whole = pooled([part for part in found if part is not None])
    members = []
    for part, name in zip(found, classes.tolist(), strict=True):
        try:
            members.append(_one(kind, whole if part is None else part))
        except ValueError as error:
            raise NotYetDetermined(f"X: the column {label!r} in class {name!r}: {error}") from None
    return Stacked(members=members)


def family_evidence(kind: Any, found: list[Any]) -> float:
    """Return Σ_k log p(values of class k) under a conjugate model."""
    if not isinstance(kind, ConjugateModel):
        raise AttributeError("log_evidence_ needs conjugate priors, and families that are fitted have none")
    return float(sum(kind.log_evidence(part) for part in found if part is not None))


def _summary(kind: Any, x: np.ndarray, weights: np.ndarray | None) -> Any:
    if isinstance(kind, ConjugateModel):
        return kind.summarize(x, weights)
    statistic = None if kind == "kernel" else getattr(family_of(kind), "statistic", None)
    if statistic is None:
        return KeptValues.of(x[:, None], weights)
    return statistic.of(x if statistic is Counts else x[:, None], weights)


def _one(kind: Any, part: Any) -> Any:
    if isinstance(kind, ConjugateModel):
        return kind.update(part).predictive()
    family = family_of(kind)
    if isinstance(part, KeptValues):
        fitted = family.fit(part.values[:, 0], sample_weight=part.weights)
    else:
        fitted = family.from_statistic(part)
    return fitted[0] if fitted.batch_shape else fitted
