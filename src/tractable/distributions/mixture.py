"""Mixtures: one of several distributions, chosen at random."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.arrays.random import as_generator
from tractable.arrays.special import log_softmax, log_sum_exp
from tractable.covariance.rows import as_reals, batch_index
from tractable.data.blocks import map_rows
from tractable.distributions.component_weights import as_component_weights
from tractable.distributions.coordinate_intervals import coordinate_intervals
from tractable.distributions.distribution import Distribution, as_count, broadcast_batches
from tractable.distributions.members import over_batch
from tractable.distributions.mixture_draws import averaged_over_draws, draw, log_ratio
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.multivariate_student_t import MultivariateStudentT
from tractable.distributions.shares import log_or_minus_inf
from tractable.distributions.univariate import Univariate
from tractable.distributions.vectors import split_mapping
from tractable.value import value

__all__ = ["Mixture"]

#: How many draws the entropy and the divergence average over, unless told.
N_DRAWS = 65_536


@value
class Mixture(Distribution):
    """p(x) = Σ_k π_k p_k(x), Bishop (2.188): component k with probability π_k, then x from it.

    The components are one batched distribution, of which the last batch axis is k. A mixture of numbers is
    made as a `UnivariateMixture`, which has `cdf` and `icdf` too. Where components integrate out
    missing entries (NaN), so does the mixture, exactly.

    Parameters
    ----------
    components : Distribution of batch shape (*batch, K)
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
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"weights": 1}

    weights: Array
    components: Distribution

    def __new__(cls, *, components: Any, weights: Any = None) -> "Mixture":  # noqa: ARG004
        """Make a mixture of numbers a `UnivariateMixture`."""
        from tractable.distributions.univariate_mixture import UnivariateMixture

        kind = UnivariateMixture if cls is Mixture and isinstance(components, Univariate) else cls
        return super().__new__(kind)

    def __init__(self, *, components: Distribution, weights: Any = None) -> None:
        if not isinstance(components, Distribution) or not components.batch_shape:
            raise ValueError(f"components must be one distribution with a batch of them, got {components!r}")
        weights = as_component_weights(weights, components)
        batch = broadcast_batches(weights=tuple(weights.shape), components=components.batch_shape)
        components = components if components.batch_shape == batch else components.expand(batch)
        object.__setattr__(self, "weights", namespace_of(weights).broadcast_to(weights, batch))
        object.__setattr__(self, "components", components)

    @property
    def event_shape(self) -> tuple[int, ...]:
        """See `Distribution.event_shape`."""
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
        """See `Distribution.mean`: Σ_k π_k μ_k."""
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

        Normal components: mean-shift from every mean (Carreira-Perpiñán 2000), polished by Newton's method,
        kept where the Hessian is negative. For numbers that finds every mode; vectors may have modes that no
        mean leads to. Other families of numbers: the hills of a grid of their quantiles, by golden section.
        Of vectors: pattern search from every component's mode, in short steps.
        """
        from tractable.distributions.mixture_modes import find_modes

        if self.batch_shape:
            raise ValueError(f"modes needs one mixture, got a batch of shape {self.batch_shape}; index it")
        return find_modes(self)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`: log Σ_k π_k p_k(x), summed in log space."""
        return self._in_blocks(lambda rows: log_sum_exp(self._joint_of(rows)), self._event(x))

    def log_joint(self, x: Any) -> Array:
        """Return log p(x, k) = log π_k + log p_k(x), the complete data's: (*samples, *batch, K)."""
        return self._in_blocks(self._joint_of, self._event(x))

    def responsibilities(self, x: Any) -> Array:
        """Return p(k | x) ∝ π_k p_k(x), (*samples, *batch, K); where no component explains x, the weights."""
        return self._in_blocks(lambda rows: self._shares(self._of_components(rows)), self._event(x))

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

    def kl_divergence(self, other: Any, *, n_samples: int | None = None, rng: Any = 0) -> Array:
        """See `Distribution.kl_divergence`; the other may be any distribution of the same events.

        Found as `entropy` is; an average below zero is given as zero.
        """
        if not isinstance(other, Distribution):
            raise TypeError(f"other must be a distribution, got {type(other).__name__}")
        if other.event_shape != self.event_shape:
            raise ValueError(f"other must have events of shape {self.event_shape}, got {other.event_shape}")
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

        Parameters
        ----------
        dims : positions, names, a slice, or a mapping of names or positions to values
        values : array (*batch, len(dims))
            What was observed; leading axes become batch axes.
        """
        if isinstance(dims, Mapping):
            dims, values = split_mapping(dims, values, self.components.mean)
        values = as_reals("values", values, self.weights)
        spread = values[None] if values.ndim == 0 else values[..., None, :]
        components: Any = self.components
        given = components.condition(dims, spread)
        if not spread.shape[-1]:
            return Mixture(weights=self.weights, components=given)
        return Mixture(weights=self._shares(components.marginal(dims).log_prob(spread)), components=given)

    @property
    def interval(self) -> Callable[..., tuple[Array, Array]]:
        """The equal-tailed interval of each coordinate by itself, as a function of its coverage.

        There is none where the coordinates of the components have none.
        """
        if not isinstance(self.components, MultivariateNormal | MultivariateStudentT):
            raise AttributeError("the components have no intervals", name="interval", obj=self)
        return partial(coordinate_intervals, self)

    def sample_labelled(self, n_samples: int = 1, *, rng: Any = None) -> tuple[Array, Array]:
        """Draw events and the components they come from, (n, *batch, *event) and (n, *batch)."""
        return draw(self, as_count(n_samples), as_generator(rng))

    def __getitem__(self, index: Any) -> Self:
        parts = index if isinstance(index, tuple) else (index,)
        whole = parts if any(i is Ellipsis for i in parts) else (*parts, ...)
        return type(self)(
            weights=self.weights[batch_index(index, 1)], components=self.components[(*whole, slice(None))]
        )

    def expand(self, batch_shape: tuple[int, ...]) -> Self:
        """See `Distribution.expand`."""
        whole = (*batch_shape, self.n_components)
        weights = namespace_of(self.weights).broadcast_to(self.weights, whole)
        return type(self)(weights=weights, components=self.components.expand(whole))

    def _sample(self, n: int, rng: Any) -> Array:
        return draw(self, n, rng)[0]

    def _event(self, x: Any, name: str = "x") -> Array:
        return self.components._event(x, name)  # noqa: SLF001

    @cached_property
    def _log_weights(self) -> Array:
        return log_or_minus_inf(self.weights)

    def _of_components(self, x: Array) -> Array:
        """Return log p_k(x), (*samples, *batch, K)."""
        rows = not self.batch_shape and is_numpy_array(x) and x.ndim == 2 and len(self.event_shape) == 1
        if rows and not np.any(np.isnan(x)):
            # A kernel for complete rows of one distribution is faster than broadcasting over several.
            return np.stack([each.log_prob(x) for each in self._each], axis=-1)
        return self.components.log_prob(x[(..., None, *(slice(None),) * len(self.event_shape))])

    @cached_property
    def _each(self) -> tuple[Any, ...]:
        return tuple(self.components[k] for k in range(self.n_components))

    def _joint_of(self, x: Array) -> Array:
        return self._with_weights(self._of_components(x))

    def _with_weights(self, log_prob: Array) -> Array:
        """Return log π_k + log p_k; a component of weight zero is absent, whatever its density."""
        xp = namespace_of(log_prob)
        absent = xp.full_like(log_prob, -xp.inf)
        return xp.where(self.weights > 0, self._log_weights + log_prob, absent)

    def _shares(self, log_prob: Array) -> Array:
        xp = namespace_of(log_prob)
        log_joint = self._with_weights(log_prob)
        explained = xp.max(log_joint, axis=-1, keepdims=True) > -xp.inf
        return xp.where(explained, xp.exp(log_softmax(log_joint)), self.weights)

    def _in_blocks(self, function: Callable[[Array], Array], x: Array) -> Array:
        """Score many rows of one mixture in blocks on all cores, which bounds the memory they take."""
        one = not self.batch_shape and x.ndim == 1 + len(self.event_shape) and is_numpy_array(x)
        return map_rows(function, x) if one else function(x)

    def _expected(self, f: Callable[[Array], Array], n_samples: int | None, rng: Any) -> Array:
        return averaged_over_draws(self, f, N_DRAWS if n_samples is None else as_count(n_samples), rng)

    def _averaged(self, x: Array, n_event: int) -> Array:
        """Return Σ_k π_k x_k, with k the axis before the event's."""
        xp = namespace_of(x)
        weights = self.weights[(..., *(None,) * n_event)]
        return xp.sum(weights * xp.where(weights > 0, x, xp.zeros_like(x)), axis=-1 - n_event)

    def _beside_components(self, x: Array) -> Array:
        return x[(..., None, *(slice(None),) * len(self.event_shape))]
