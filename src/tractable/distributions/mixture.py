"""Mixtures: one of several distributions, chosen at random."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar, Self, cast

import numpy as np

from tractable.arrays.batched import as_reals, batch_index, diagonal_matrix
from tractable.arrays.log_space import log_sum_exp, softmax
from tractable.arrays.namespace import Array, all_true, device, is_numpy_array, namespace_of
from tractable.arrays.random import as_generator, either_seed_name, uniform
from tractable.covariance import Diagonal
from tractable.data.blocks import map_rows
from tractable.distributions.distribution import (
    Distribution,
    Univariate,
    as_count,
    broadcast_batches,
    numbers_only,
)
from tractable.distributions.expectation import expectation
from tractable.distributions.normal import MultivariateNormal, Normal
from tractable.distributions.probabilities import as_component_weights, log_or_minus_inf, over_batch
from tractable.distributions.student_t import MultivariateStudentT
from tractable.distributions.tails import upper_quantile
from tractable.distributions.vectors import Elliptical, coordinate_intervals, split_mapping
from tractable.engines.mode_search import Expansion, distinct_modes, grid_modes, newton_modes, pattern_modes
from tractable.engines.roots import bisect, increasing_root
from tractable.value import set_fields, value

#: How many draws the entropy and the divergence average over, by default.
N_DRAWS = 65_536

#: Levels of the quantiles in the tails of each component on the grid that modes are searched on; between them
#: the levels are even.
_TAIL = (0.0, 1e-12, 1e-9, 1e-7, 1e-5, 1e-4, 3e-4, 1e-3)

#: About how many points of that grid there are in all, and the fewest and most even levels of a component.
_N_POINTS, _FEWEST, _MOST = 2**15, 32, 255

#: Differences of a sum of probabilities from its level of so many roundings are none.
ROUNDINGS = 8.0

#: Components from which on they are scored together, and for how many entries of rows times components.
SEVERAL, FEW_ENTRIES = 4, 2**14

#: The most integers to try one by one.
_WIDEST = 2**16


@value
class Mixture(Distribution):
    """A mixture of distributions, weighted by probabilities.

    p(x) = Σ_k π_k p_k(x), Bishop (2.188): component k with probability π_k, then x from it.

    The components are one batched distribution, of which the last batch axis is k. A mixture of numbers has
    `cdf`, `icdf`, `survival` and `interval` too; one of vectors has not, but for the interval of each
    coordinate. Where components integrate out missing entries (NaN), so does the mixture, exactly.

    Parameters
    ----------
    components : Distribution of batch shape (*batch, K)
        The components, one for each entry of the last axis of the batch.
    weights : array (*batch, K), optional
        π, not negative, one in sum; equal when not given. Equal weights over draws of a posterior make the
        Monte Carlo predictive, ``Mixture(components=Normal(mean=draws, variance=1.0))``.

    Examples
    --------
    >>> from tractable import MultivariateNormal
    >>> pair = MultivariateNormal(mean=[[0.0, 0.0], [4.0, 2.0]], covariance=[[1.0, 0.5], [0.5, 1.0]])
    >>> d = Mixture(weights=[0.75, 0.25], components=pair)
    >>> d.mean, d.responsibilities([2.0, 1.0]).round(3)
    (array([1. , 0.5]), array([0.75, 0.25]))
    >>> d.condition([0], [4.0]).weights.round(3)
    array([0.001, 0.999])
    >>> from tractable import Normal
    >>> numbers = Mixture(weights=[0.5, 0.5], components=Normal(mean=[-2.0, 2.0], variance=1.0))
    >>> float(numbers.cdf(0.0)), float(numbers.icdf(0.75).round(3)), numbers.modes().round(3)
    (0.5, 2.0, array([-1.999,  1.999]))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"weights": 1}

    weights: Array
    components: Distribution

    def __init__(self, *, components: Distribution, weights: Any = None) -> None:
        if not isinstance(components, Distribution) or not components.batch_shape:
            raise ValueError(f"components must be one distribution with a batch of them, got {components!r}")
        weights = as_component_weights(weights, components)
        batch = broadcast_batches(weights=tuple(weights.shape), components=components.batch_shape)
        components = components if components.batch_shape == batch else components.expand(batch)
        if tuple(weights.shape) != batch:
            weights = namespace_of(weights).broadcast_to(weights, batch)
        set_fields(self, weights=weights, components=components)

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.components.event_shape

    @property
    def support(self) -> tuple[Any, Any] | None:
        """See `Distribution.support`: from the least of the components' to the greatest."""
        found = self.components.support
        if found is None:
            return None
        low, high = (x if not np.ndim(x) else as_reals("support", x, self.weights) for x in found)
        xp, axis = namespace_of(self.weights), -1 - len(self.event_shape)
        return low if not np.ndim(low) else xp.min(low, axis=axis), high if not np.ndim(high) else xp.max(
            high, axis=axis
        )

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """Whether the components' events are counted."""
        return self.components.discrete

    @property
    def n_components(self) -> int:
        """K."""
        return int(self.weights.shape[-1])

    @property
    def names(self) -> tuple[str, ...] | None:
        """What the components call their coordinates."""
        return getattr(self.components, "names", None)

    @property
    def mean(self) -> Array:
        return self._averaged(self.components.mean, len(self.event_shape))

    @property
    def variance(self) -> Array:
        """The law of total variance: the mean of the variances, and the variance of the means."""
        step = self.components.mean - self._beside_components(self.mean)
        return self._averaged(self.components.variance + step * step, len(self.event_shape))

    @property
    def covariance(self) -> Array:
        """The law of total covariance, for vectors: Σ_k π_k (Σ_k + (μ_k - μ)(μ_k - μ)ᵀ)."""
        step = self.components.mean - self._beside_components(self.mean)
        within: Array = self.components.covariance  # type: ignore[attr-defined]
        return self._averaged(within + step[..., :, None] * step[..., None, :], 2)

    @property
    def mode(self) -> Array:
        """A point of greatest density: the first of `modes`."""
        return over_batch(lambda one: one.modes()[0, ...], self.batch_shape, self, shape=self.event_shape)

    def modes(self) -> Array:
        """Return the local maxima of the density of one mixture, the highest first, (m, *event).

        Normal components: mean shift from every mean (Carreira-Perpiñán 2000), then Newton's method, kept
        where the Hessian is negative. For numbers that finds every mode; vectors may have modes that no mean
        leads to. Other families of numbers: the maxima on a grid of their quantiles, by golden section. Of
        vectors: pattern search from every component's mode, in short steps.
        """
        if self.batch_shape:
            raise ValueError(f"modes needs one mixture, got a batch of shape {self.batch_shape}; index it")
        return find_modes(self)

    def log_prob(self, x: Any) -> Array:
        return self._in_blocks(lambda rows: log_sum_exp(self._joint_of(rows)), self._event(x))

    def log_joint(self, x: Any) -> Array:
        """Return log p(x, k) = log π_k + log p_k(x), the complete data's: (*samples, *batch, K)."""
        return self._in_blocks(self._joint_of, self._event(x))

    def responsibilities(self, x: Any) -> Array:
        """Return p(k | x) ∝ π_k p_k(x), (*samples, *batch, K); where no component explains x, the weights."""
        return self._in_blocks(
            lambda rows: self._posterior_weights(self._of_components(rows)), self._event(x)
        )

    @either_seed_name
    def entropy(self, *, n_samples: int | None = None, rng: Any = 0) -> Array:
        """See `Distribution.entropy`; there is no closed form.

        Numbers: by quadrature or summation, unless `n_samples` is given. Otherwise the average of -log p over
        `n_samples` draws (65,536 when not given), an equal number from each component: its standard error is
        at most stddev(log p) / √n_samples. One seed gives one answer; other seeds show the spread.
        """
        return over_batch(
            lambda p: p._expected(lambda x: -p.log_prob(x), n_samples, rng),  # noqa: SLF001
            self.batch_shape,
            self,
        )

    @either_seed_name
    def kl_divergence(self, other: Any, *, n_samples: int | None = None, rng: Any = 0) -> Array:
        """See `Distribution.kl_divergence`; the other may be any distribution of the same events.

        Found as `entropy` is; an average below zero is given as zero.

        Parameters
        ----------
        other : Distribution
            The distribution that is compared.
        n_samples, rng
            As in `entropy`.
        """
        self._check_events(other)
        divergence = over_batch(
            lambda p, q: p._expected(partial(log_ratio, p, q), n_samples, rng),  # noqa: SLF001
            broadcast_batches(self=self.batch_shape, other=other.batch_shape),
            self,
            other,
        )
        xp = namespace_of(divergence)
        return xp.where(divergence < 0, xp.zeros_like(divergence), divergence)

    def marginal(self, dims: Any) -> "Mixture":
        """Return p(x_dims): the same mixture of the components' marginals."""
        return Mixture(weights=self.weights, components=self.components.marginal(dims))  # type: ignore[attr-defined]

    def condition(self, dims: Any, values: Any = None) -> "Mixture":
        """Return p(x_rest | x_dims = values): conditioned components, weighted by how they explain values.

        Arguments as of `MultivariateNormal.condition`.
        """
        if isinstance(dims, Mapping):
            dims, values = split_mapping(dims, values, self.components.mean)
        values = as_reals("values", values, self.weights)
        spread = values[None] if values.ndim == 0 else values[..., None, :]
        components: Any = self.components
        given = components.condition(dims, spread)
        if not spread.shape[-1]:
            return Mixture(weights=self.weights, components=given)
        return Mixture(
            weights=self._posterior_weights(components.marginal(dims).log_prob(spread)), components=given
        )

    @numbers_only
    def cdf(self, x: Any) -> Array:
        return self._averaged(self._numbers.cdf(self._event(x)[..., None]), 0)

    @numbers_only
    def survival(self, x: Any) -> Array:
        return self._averaged(self._numbers.survival(self._event(x)[..., None]), 0)

    @numbers_only
    def log_cdf(self, x: Any) -> Array:
        return self._log_averaged(self._numbers.log_cdf(self._event(x)[..., None]))

    @numbers_only
    def log_survival(self, x: Any) -> Array:
        return self._log_averaged(self._numbers.log_survival(self._event(x)[..., None]))

    @numbers_only
    def probability_between(self, low: Any, high: Any) -> Array:
        """See `Univariate.probability_between`: Σ_k π_k P_k, as accurate as the components."""
        low, high = self._event(low, "low"), self._event(high, "high")
        return self._averaged(self._numbers.probability_between(low[..., None], high[..., None]), 0)

    @numbers_only
    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`; it lies between the quantiles of the components, and is searched there."""
        q = self._quantile(q)
        xp = namespace_of(q)
        each = self._numbers.icdf(q[..., None])
        low, high = self._ends(each)
        q = xp.broadcast_to(q, low.shape)
        if self.discrete:
            found = self._least_integer(lambda k: self.cdf(k) >= q, low, high)
        else:
            # By rounding, an average may lie outside of what it is the average of.
            start = xp.minimum(xp.maximum(self._averaged(each, 0), low), high)
            found = self._root(q, low, high, start)
        return xp.where(q == 0, low, xp.where(q == 1, high, found))

    @numbers_only
    def isf(self, q: Any) -> Array:
        """See `Univariate.isf`; of whole numbers it is searched between those of the components."""
        q = self._quantile(q)
        if not self.discrete:
            return upper_quantile(self, q)
        low, high = self._ends(self._numbers.isf(q[..., None]))
        xp = namespace_of(q)
        q = xp.broadcast_to(q, low.shape)
        found = self._least_integer(lambda k: self.survival(k) <= q, low, high)
        return xp.where(q == 1, low, xp.where(q == 0, high, found))

    def _ends(self, each: Array) -> tuple[Array, Array]:
        """Return the least and the greatest of what present components have, (*samples, *batch)."""
        xp, present = namespace_of(each), self.weights > 0
        low = xp.min(xp.where(present, each, xp.full_like(each, xp.inf)), axis=-1)
        return low, xp.max(xp.where(present, each, xp.full_like(each, -xp.inf)), axis=-1)

    @property
    def interval(self) -> Callable[..., tuple[Array, Array]]:
        """The equal-tailed interval of numbers, or of each coordinate by itself, as a function of coverage.

        There is none where the coordinates of the components have none.
        """
        if self._has_cdf:
            return partial(Univariate.interval, self)  # type: ignore[arg-type]
        if not isinstance(self.components, MultivariateNormal | MultivariateStudentT):
            raise AttributeError("the components have no intervals", name="interval", obj=self)
        return partial(coordinate_intervals, self)

    @either_seed_name
    def sample_labelled(self, n_samples: int = 1, *, rng: Any = None) -> tuple[Array, Array]:
        """Draw events and the components they come from, (n, *batch, *event) and (n, *batch)."""
        return self._drawn(as_count(n_samples), as_generator(rng))

    def __getitem__(self, index: Any) -> Self:
        parts = index if isinstance(index, tuple) else (index,)
        whole = parts if any(i is Ellipsis for i in parts) else (*parts, ...)
        return type(self)(
            weights=self.weights[batch_index(index, 1)], components=self.components[(*whole, slice(None))]
        )

    def expand(self, batch_shape: tuple[int, ...]) -> Self:
        whole = (*batch_shape, self.n_components)
        weights = namespace_of(self.weights).broadcast_to(self.weights, whole)
        return type(self)(weights=weights, components=self.components.expand(whole))

    def _sample(self, n: int, rng: Any) -> Array:
        return self._drawn(n, rng)[0]

    def _drawn(self, n: int, rng: Any) -> tuple[Array, Array]:
        labels = self._labels(n, rng)
        return (self._selected if self.batch_shape else self._gathered)(labels, rng), labels

    def _labels(self, n: int, rng: Any) -> Array:
        """Draw components, with the probabilities of their weights; never one of weight zero."""
        xp = namespace_of(self.weights)
        total = xp.cumulative_sum(xp.astype(self.weights, xp.float64), axis=-1)
        bounds = total[..., :-1] / total[..., -1:]
        u = uniform(rng, (n, *self.batch_shape), like=total)
        if not self.batch_shape:
            return xp.astype(xp.searchsorted(bounds, u, side="right"), xp.int64)
        return xp.sum(xp.astype(u[..., None] >= bounds, xp.int64), axis=-1)

    def _gathered(self, labels: Array, rng: Any) -> Array:
        """Draw as often from each component as it was chosen, and put the draws in their positions."""
        xp = namespace_of(labels)
        order = xp.argsort(labels, stable=True)
        counts = [int(xp.sum(xp.astype(labels == k, xp.int64))) for k in range(self.n_components)]
        parts = [self.components[k].sample(count, rng=rng) for k, count in enumerate(counts) if count]
        if not parts:
            return self.components[0].sample(0, rng=rng)
        return xp.take(xp.concat(parts, axis=0), xp.argsort(order, stable=True), axis=0)

    def _selected(self, labels: Array, rng: Any) -> Array:
        """Draw from every component and keep the chosen one: for a batch, of few draws each."""
        xp, n_event = namespace_of(labels), len(self.event_shape)
        x = self.components.sample(labels.shape[0], rng=rng)
        numbers = xp.arange(self.n_components, dtype=labels.dtype, device=device(labels))
        chosen = (labels[..., None] == numbers)[(..., *(None,) * n_event)]
        return xp.sum(xp.where(chosen, x, xp.zeros_like(x)), axis=-1 - n_event)

    @property
    def _has_cdf(self) -> bool:
        return hasattr(self.components, "cdf")

    @property
    def _numbers(self) -> Univariate:
        return cast("Univariate", self.components)

    def _root(self, q: Array, low: Array, high: Array, start: Array) -> Array:
        xp = namespace_of(q)
        inner = (q > 0) & (q < 1)
        low, high, start = (xp.where(inner, x, xp.zeros_like(x)) for x in (low, high, start))
        rounding = ROUNDINGS * float(xp.finfo(q.dtype).eps) * q

        def excess(x: Array) -> tuple[Array, Array]:
            found = self.cdf(x) - q
            # Below the rounding of its terms the sum has no sign, and halving a bracket by it gains nothing.
            none = ~inner | (xp.abs(found) <= rounding)
            return xp.where(none, xp.zeros_like(q), found), self.prob(x)

        return increasing_root(excess, low, high, start=start)

    def _least_integer(self, reached: Callable[[Array], Array], low: Array, high: Array) -> Array:
        xp = namespace_of(low)
        bounded = xp.isfinite(low) & xp.isfinite(high)
        low, high = (xp.where(bounded, x, xp.zeros_like(x)) for x in (low, high))
        below = xp.where(low < high, low - 1.0 - 2.0 * xp.finfo(low.dtype).eps * low, low)
        return bisect(reached, xp.floor(below), high, whole=True)

    def _one_column(self) -> "Mixture":
        return Mixture(weights=self.weights, components=self.components.as_univariate())

    def _landmarks(self) -> Array:
        return self.components._landmarks()  # noqa: SLF001

    def _event(self, x: Any, name: str = "x", **options: Any) -> Array:
        return self.components._event(x, name, **options)  # noqa: SLF001

    @cached_property
    def _log_weights(self) -> Array:
        return log_or_minus_inf(self.weights)

    def _of_components(self, x: Array) -> Array:
        """Return log p_k(x), (*samples, *batch, K)."""
        rows = not self.batch_shape and is_numpy_array(x) and x.ndim == 2 and len(self.event_shape) == 1
        if rows and not np.isnan(x).any():
            # A kernel for complete rows of one distribution is faster than broadcasting over several; sums
            # over components are, too, where those of one row are not neighbours.
            if not isinstance(self.components, Elliptical):
                return np.stack([each.log_prob(x) for each in self._each]).T
            found = self._of_complete_rows(x)
            if not np.isnan(found).any():  # of infinite entries
                return found
        return self.components.log_prob(x[(..., None, *(slice(None),) * len(self.event_shape))])

    def _of_complete_rows(self, x: np.ndarray) -> np.ndarray:
        """Return log p_k(x) of finite rows, (n, K): of one component after the other, or of all if few."""
        if self.n_components >= SEVERAL and x.size * self.n_components <= FEW_ENTRIES:
            components: Any = self.components
            return components._log_density(x[:, None, :])  # noqa: SLF001
        return np.stack([each._log_density(x) for each in self._each]).T  # noqa: SLF001

    @cached_property
    def _each(self) -> tuple[Any, ...]:
        return tuple(self.components[k] for k in range(self.n_components))

    def _joint_of(self, x: Array) -> Array:
        return self._with_weights(self._of_components(x))

    def _with_weights(self, log_prob: Array) -> Array:
        """Return log π_k + log p_k; a component of weight zero is absent, whatever its density."""
        if is_numpy_array(log_prob) and (self.weights > 0).all():
            return self._log_weights + log_prob
        xp = namespace_of(log_prob)
        absent = xp.full_like(log_prob, -xp.inf)
        return xp.where(self.weights > 0, self._log_weights + log_prob, absent)

    def _posterior_weights(self, log_prob: Array) -> Array:
        xp = namespace_of(log_prob)
        log_joint = self._with_weights(log_prob)
        explained = xp.max(log_joint, axis=-1, keepdims=True) > -xp.inf
        found = softmax(log_joint)
        return found if all_true(explained) else xp.where(explained, found, self.weights)

    def _in_blocks(self, function: Callable[[Array], Array], x: Array) -> Array:
        """Score many rows of one mixture in blocks on all cores, which bounds the memory they take."""
        one = not self.batch_shape and x.ndim == 1 + len(self.event_shape) and is_numpy_array(x)
        return map_rows(function, x) if one else function(x)

    def _expected(self, f: Callable[[Array], Array], n_samples: int | None, rng: Any) -> Array:
        if n_samples is None and self._has_cdf:
            return expectation(f, self).value
        # Equally many draws of each component, weighted by π_k.
        xp, n = namespace_of(self.weights), N_DRAWS if n_samples is None else as_count(n_samples)
        x = self.components.sample(max(1, n // self.n_components), rng=rng)
        found = xp.reshape(f(xp.reshape(x, (-1, *self.event_shape))), tuple(x.shape[:2]))
        return self._averaged(xp.mean(found, axis=0), 0)

    def _averaged(self, x: Array, n_event: int) -> Array:
        """Return Σ_k π_k x_k, with k the axis before the event's."""
        xp = namespace_of(x)
        weights = self.weights[(..., *(None,) * n_event)]
        return xp.sum(weights * xp.where(weights > 0, x, xp.zeros_like(x)), axis=-1 - n_event)

    def _log_averaged(self, logs: Array) -> Array:
        """Return log Σ_k π_k exp(l_k)."""
        found = log_sum_exp(self._with_weights(logs))
        xp = namespace_of(found)
        return xp.where(found > 0.0, xp.zeros_like(found), found)  # by rounding

    def _beside_components(self, x: Array) -> Array:
        return x[(..., None, *(slice(None),) * len(self.event_shape))]


def log_ratio(p: Any, q: Any, x: Array) -> Array:
    """Return log p(x)/q(x), and 0 where there is no p."""
    ours, theirs = p.log_prob(x), q.log_prob(x)
    xp = namespace_of(ours)
    some = ours > -xp.inf
    return xp.where(some, ours, xp.zeros_like(ours)) - xp.where(some, theirs, xp.zeros_like(theirs))


def find_modes(mixture: Mixture) -> Array:
    """Return the local maxima of one mixture's density, the highest first, (m, *event)."""
    xp = namespace_of(mixture.weights)
    if isinstance(mixture.components, Normal):
        return find_modes(_as_vectors(mixture))[:, 0]
    if hasattr(mixture.components, "cdf"):
        found = _number_modes(mixture)
    elif isinstance(mixture.components, MultivariateNormal):
        found = normal_modes(mixture, _starts(mixture))
    elif len(mixture.event_shape) == 1:
        found = _vector_modes(mixture, _starts(mixture))
    else:
        found = _starts(mixture)
    order = xp.argsort(-mixture.log_prob(found), stable=True)
    return xp.take(found, order, axis=0)


def _starts(mixture: Mixture) -> Array:
    """Return the modes of the components of positive weight."""
    xp = namespace_of(mixture.weights)
    return xp.take(mixture.components.mode, xp.nonzero(mixture.weights > 0)[0], axis=0)


def _as_vectors(mixture: Mixture) -> Mixture:
    """Return a mixture of normal numbers as one of vectors of one entry."""
    mean, variance = mixture.components.mean[:, None], mixture.components.variance[:, None]
    components = MultivariateNormal(mean=mean, covariance=Diagonal(variances=variance))
    return Mixture(weights=mixture.weights, components=components)


def normal_modes(mixture: Any, starts: Array) -> Array:
    """Return the maxima of a mixture of normals that the starts (n, d) lead to, the highest first, (m, d)."""
    expand = NormalMixtureExpansion(mixture)
    return newton_modes(expand, starts, shift=expand.shifted)


class NormalMixtureExpansion:
    """log p of a mixture of normals and its derivatives, for `newton_modes`.

    With v_k = Λ_k (μ_k - x), g = Σ r_k v_k is the gradient and -∇² = Σ r_k (Λ_k - v_k v_kᵀ) + g gᵀ; the
    metric is Σ r_k Λ_k.
    """

    def __init__(self, mixture: Any) -> None:
        xp = namespace_of(mixture.weights)
        self.mixture = mixture
        self.precisions = mixture.components.precision
        self.flat = xp.reshape(self.precisions, (self.precisions.shape[0], -1))
        self.weighted_means = (self.precisions @ mixture.components.mean[..., None])[..., 0]

    def precision(self, r: Array) -> Array:
        """Return Σ r_k Λ_k, (n, d, d)."""
        d = self.precisions.shape[-1]
        return namespace_of(r).reshape(r @ self.flat, (-1, d, d))

    def shifted(self, x: Array) -> Array:
        """Return one step of mean shift (EM for x): the mean of the means, weighted by r_k Λ_k."""
        r = self.mixture.responsibilities(x)
        return namespace_of(x).linalg.solve(self.precision(r), (r @ self.weighted_means)[..., None])[..., 0]

    def __call__(self, x: Array) -> Expansion:
        """Return the expansion at points (n, d)."""
        xp = namespace_of(x)
        r = self.mixture.responsibilities(x)
        steps = xp.permute_dims(self.mixture.components.mean[:, None, :] - x, (0, 2, 1))
        v = xp.permute_dims(self.precisions @ steps, (2, 0, 1))
        g = xp.sum(r[..., None] * v, axis=1)
        precision = self.precision(r)
        spread = xp.matrix_transpose(v) @ (r[..., None] * v)
        curvature = precision - spread + g[:, :, None] * g[:, None, :]
        return Expansion(self.mixture.log_prob(x), g, curvature, precision)


def _number_modes(mixture: Any) -> Array:
    """Return the local maxima of one mixture of numbers, (m,).

    Every component brings a grid as fine as its own scale, with its ends and its mode, so that narrow maxima,
    cusps and poles are on it.
    """
    xp = namespace_of(mixture.weights)
    present = xp.nonzero(mixture.weights > 0)[0]
    centres = xp.take(mixture.components.mode, present, axis=0)
    grid = _grid(mixture, present, centres)
    return grid_modes(mixture.log_prob, grid, preferred=centres, whole=mixture.discrete)


def _grid(mixture: Any, present: Array, centres: Array) -> Array:
    xp = namespace_of(centres)
    n = min(max(_N_POINTS // centres.shape[0], _FEWEST), _MOST)
    levels = np.concatenate([_TAIL, np.arange(1, n + 1) / (n + 1), 1.0 - np.array(_TAIL)])
    q = xp.asarray(levels, dtype=centres.dtype, device=device(centres))
    quantiles = xp.take(mixture.components.icdf(q[:, None]), present, axis=1)
    points = xp.concat([xp.reshape(quantiles, (-1,)), centres])
    points = xp.sort(xp.unique_values(xp.take(points, xp.nonzero(xp.isfinite(points))[0], axis=0)))
    if mixture.discrete and float(points[-1] - points[0]) <= _WIDEST:
        return xp.arange(float(points[0]), float(points[-1]) + 1.0, dtype=points.dtype, device=device(points))
    # Half-ways too: where supports leave a gap, the valley is on none of the quantiles.
    half = 0.5 * (points[:-1] + points[1:])
    half = xp.floor(half) if mixture.discrete else half
    return xp.sort(xp.unique_values(xp.concat([points, half])))


def _vector_modes(mixture: Any, starts: Array) -> Array:
    """Return the local maxima of one mixture of vectors of any family that the starts lead to, (m, d)."""
    xp = namespace_of(starts)
    scale = _least_scale(mixture)
    counted = xp.asarray(_by_coordinate(lambda d: bool(d.discrete), mixture), device=device(starts))
    directions = _directions(starts, _by_coordinate(lambda d: d.support is not None, mixture))
    ends, heights = pattern_modes(mixture.log_prob, starts, directions, scale=scale, whole=counted)
    ends = xp.take(ends, xp.argsort(-heights, stable=True), axis=0)
    return distinct_modes(mixture.log_prob, ends, diagonal_matrix(1.0 / (scale * scale)))


def _directions(x: Array, free: list[bool]) -> Array:
    """Return ±e_i for entries that are free to move alone, and e_i - e_j, which keeps a sum, (m, d)."""
    xp = namespace_of(x)
    eye = np.eye(x.shape[-1])
    alone = eye[np.array(free)]
    pairs = [a - b for i, a in enumerate(eye) for j, b in enumerate(eye) if i != j]
    return xp.asarray(np.array([*alone, *-alone, *pairs]), dtype=x.dtype, device=device(x))


def _least_scale(mixture: Any) -> Array:
    """Return the least positive scale of the components in each coordinate, (d,)."""
    components = mixture.components
    scales = components.stddev
    xp = namespace_of(scales)
    if not bool(xp.all(xp.isfinite(scales))) and hasattr(components, "interval"):
        low, high = components.interval(0.5)
        scales = xp.where(xp.isfinite(scales), scales, 0.5 * (high - low))
    usable = xp.isfinite(scales) & (scales > 0) & (mixture.weights > 0)[:, None]
    least = xp.min(xp.where(usable, scales, xp.full_like(scales, xp.inf)), axis=0)
    return xp.where(xp.isfinite(least), least, xp.ones_like(least))


def _by_coordinate(holds: Callable[[Any], bool], d: Any) -> list[bool]:
    """Return a property of the distribution of each coordinate."""
    if hasattr(d, "components"):
        return _by_coordinate(holds, d.components)
    if hasattr(d, "parts"):
        found = {
            i: one
            for part, where in d.placed()
            for i, one in zip(where, _by_coordinate(holds, part), strict=True)
        }
        return [found[i] for i in range(len(found))]
    return [holds(d)] * int(np.prod(d.event_shape))
