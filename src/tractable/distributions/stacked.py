"""A batch of distributions that are held one by one."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.distributions.distribution import (
    Distribution,
    Univariate,
    broadcast_batches,
    numbers_only,
    of_each,
)
from tractable.distributions.vectors import split_mapping
from tractable.value import set_fields, value


@value
class Stacked(Distribution):
    """A batch whose members are of different families, or of a family that has no batches.

    It holds the components of a `Mixture` of different families, such as a normal and a Laplace distribution.

    Parameters
    ----------
    members : sequence of Distribution
        Of events of one shape, each a single distribution.
    shape : tuple of int, optional
        Of the batch that the members fill in order; one axis when not given.

    Examples
    --------
    >>> from tractable import Laplace, Mixture, Normal
    >>> both = Stacked(members=[Normal(mean=0.0, variance=1.0), Laplace(location=5.0, scale=0.1)])
    >>> both.mean, both.log_prob(5.0).round(3)
    (array([0., 5.]), array([-13.419,   1.609]))
    >>> Mixture(weights=[0.5, 0.5], components=both).responsibilities([0.0, 4.0]).round(3)
    array([[1.   , 0.   ],
           [0.371, 0.629]])
    """

    members: tuple[Distribution, ...]
    shape: tuple[int, ...]

    def __init__(self, *, members: Iterable[Distribution], shape: Iterable[int] | None = None) -> None:
        members = tuple(members)
        for member in members:
            if not isinstance(member, Distribution) or member.batch_shape:
                raise ValueError(f"members must be distributions, none of them a batch, got {member!r}")
        if len({member.event_shape for member in members}) != 1:
            raise ValueError("members must be distributions of events of one shape, at least one")
        if len({bool(member.discrete) for member in members}) > 1:
            raise ValueError(
                "members must all be of counted events or all of measured ones: a probability and a density "
                "are not to be compared"
            )
        if len({namespace_of(member.mean) for member in members}) > 1:
            raise ValueError("members must be distributions of one array library")
        shape = (len(members),) if shape is None else tuple(int(n) for n in shape)
        if int(np.prod(shape)) not in (len(members), 0):
            raise ValueError(f"shape {shape} does not fit {len(members)} members")
        set_fields(self, members=members, shape=shape)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.shape

    @property
    def event_shape(self) -> tuple[int, ...]:
        return self.members[0].event_shape

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """Whether events are counted: under every member, or under none."""
        return self.members[0].discrete

    @property
    def names(self) -> tuple[str, ...] | None:
        """What the members call their coordinates."""
        return getattr(self.members[0], "names", None)

    @property
    def support(self) -> tuple[Any, Any] | None:
        if any(member.support is None for member in self.members):
            return None
        low, high = (self._each(lambda m, end=end: self._filled(m.support[end])) for end in (0, 1))  # type: ignore[misc]
        return low, high

    mean, variance, mode = map(of_each, ("mean", "variance", "mode"))

    @property
    def covariance(self) -> Array:
        """Covariance of the coordinates of vectors, (*batch, d, d)."""
        return self._each(lambda member: member.covariance, event=self.event_shape * 2)

    def log_prob(self, x: Any) -> Array:
        return self._at("log_prob", x)

    @numbers_only
    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`; there is none where a member has none."""
        return self._at("cdf", x)

    @numbers_only
    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`; there is none where a member has none."""
        return self._at("icdf", q)

    @numbers_only
    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`; there is none where a member has none."""
        return self._at("survival", x)

    @numbers_only
    def log_cdf(self, x: Any) -> Array:
        """See `Univariate.log_cdf`; there is none where a member has none."""
        return self._at("log_cdf", x)

    @numbers_only
    def log_survival(self, x: Any) -> Array:
        """See `Univariate.log_survival`; there is none where a member has none."""
        return self._at("log_survival", x)

    @numbers_only
    def isf(self, q: Any) -> Array:
        """See `Univariate.isf`; there is none where a member has none."""
        return self._at("isf", q)

    probability_between = numbers_only(Univariate.probability_between)
    interval = numbers_only(Univariate.interval)

    @property
    def _has_cdf(self) -> bool:
        return all(hasattr(member, "cdf") for member in self.members)

    def _one_column(self) -> "Stacked":
        return Stacked(members=[member.as_univariate() for member in self.members], shape=self.shape)

    def _at(self, name: str, x: Any) -> Array:
        """Return what a function of each member is of its own part of x."""
        x = self._event(x)
        xp, n_event = namespace_of(x), len(self.event_shape)
        lead = tuple(x.shape[: x.ndim - n_event])
        whole = broadcast_batches(x=lead, self=self.shape)
        x = xp.reshape(x, (1,) * (len(whole) - len(lead)) + tuple(x.shape))
        n_samples = len(whole) - len(self.shape)
        own = tuple(x.shape[n_samples : len(whole)])  # 1 where members share the argument
        samples = tuple(x.shape[:n_samples])
        rest = (slice(None),) * n_event
        found = [
            getattr(member, name)(
                x[(..., *(i if n > 1 else 0 for i, n in zip(position, own, strict=True)), *rest)]
            )
            for position, member in zip(np.ndindex(self.shape), self._placed, strict=True)
        ]
        if not found:
            return xp.zeros(whole, dtype=x.dtype, device=device(x))
        return xp.reshape(xp.stack(found, axis=-1), (*samples, *self.shape))

    def entropy(self) -> Array:
        return self._each(lambda member: member.entropy(), event=())

    def kl_divergence(self, other: Any) -> Array:
        """See `Distribution.kl_divergence`: of the members, which must be of a family with the other's."""
        self._check_events(other)
        batch = broadcast_batches(self=self.shape, other=other.batch_shape)
        p, q = self.expand(batch), other.expand(batch)
        others = iter(q.members if isinstance(q, Stacked) else [q[i] for i in np.ndindex(batch)])
        return p._each(lambda member: member.kl_divergence(next(others)), event=())  # noqa: SLF001

    def __getitem__(self, index: Any) -> Self:
        """Return some of the batch; `members` are the distributions themselves."""
        chosen = np.asarray(self._positions[index])
        return type(self)(
            members=[self.members[i] for i in chosen.ravel()] or self.members, shape=chosen.shape
        )

    def expand(self, batch_shape: tuple[int, ...]) -> Self:
        positions = np.broadcast_to(self._positions, tuple(batch_shape))
        return type(self)(
            members=[self.members[i] for i in positions.ravel()] or self.members, shape=positions.shape
        )

    def marginal(self, dims: Any) -> "Stacked":
        """Return the members' distributions of some dimensions; see `MultivariateNormal.marginal`."""
        members = [member.marginal(dims) for member in self._able("marginal")]
        return Stacked(members=members, shape=self.shape)

    def condition(self, dims: Any, values: Any = None) -> "Stacked":
        """Return the members' distributions of the other dimensions, given values of some.

        Arguments as of `MultivariateNormal.condition`: axes of values before the last are broadcast with the
        batch.
        """
        members = self._able("condition")
        if isinstance(dims, Mapping):
            dims, values = split_mapping(dims, values, self.members[0].mean)
        values = as_reals("values", values, self.members[0].mean)
        batch = broadcast_batches(values=tuple(values.shape[:-1]), self=self.shape)
        wide = namespace_of(values).broadcast_to(values, (*batch, *values.shape[-1:]))
        places = np.broadcast_to(np.arange(len(members)).reshape(self.shape), batch)
        given = [members[int(places[at])].condition(dims, wide[at]) for at in np.ndindex(batch)]
        return Stacked(members=given, shape=batch)

    def _able(self, question: str) -> tuple[Any, ...]:
        """Return the members, each of which answers a question."""
        for member in self.members:
            if not hasattr(member, question):
                raise AttributeError(f"{question}: a member is a {type(member).__name__}, which has none")
        return self.members

    @property
    def _positions(self) -> np.ndarray:
        return np.arange(len(self._placed)).reshape(self.shape)

    @property
    def _placed(self) -> tuple[Distribution, ...]:
        """The members of the batch; an empty batch keeps some to know its events by, and has none."""
        return self.members if int(np.prod(self.shape)) else ()

    def _sample(self, n: int, rng: Any) -> Array:
        xp = namespace_of(self.members[0].mean)
        drawn = [member._sample(n, rng) for member in self._placed]  # noqa: SLF001
        if not drawn:
            return self._nothing((n, *self.shape, *self.event_shape))
        return xp.reshape(xp.stack(drawn, axis=1), (n, *self.shape, *self.event_shape))

    def _each(self, of: Callable[[Any], Any], event: tuple[int, ...] | None = None) -> Array:
        """Return a property of every member, (*batch, *event)."""
        shape = (*self.shape, *(self.event_shape if event is None else event))
        if not self._placed:
            return self._nothing(shape)
        xp = namespace_of(self.members[0].mean)
        return xp.reshape(xp.stack([of(member) for member in self._placed]), shape)

    def _filled(self, end: Any) -> Array:
        """Return a bound as an array of the shape of an event."""
        like = self.members[0].mean
        return namespace_of(like).broadcast_to(as_reals("support", end, like), self.event_shape)

    def _nothing(self, shape: tuple[int, ...]) -> Array:
        like = self.members[0].mean
        return namespace_of(like).zeros(shape, dtype=like.dtype, device=device(like))
