"""Products: independent columns, each of a family of its own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, Self

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.distribution import Distribution, broadcast_batches, of_each
from tractable.distributions.vectors import VectorDistribution, as_names, taken
from tractable.value import set_fields, value


@value
class Product(VectorDistribution):
    """A product of distributions: independent columns, which may be of different families.

    p(x) = Π_j p_j(x_j): the columns of a table are independent, and may be of different families.

    An event is a row of numbers, the columns of each part in turn; a part of vectors takes several. A missing
    entry (NaN) is integrated out.

    Parameters
    ----------
    parts : mapping of str to Distribution, or sequence of Distribution
        Batches broadcast. A part of a mapping names its column; the columns of a part of vectors are called
        as it calls them or, where it has no names, by the part's name and a number.
    names : sequence of str, optional
        What the columns are called.

    Examples
    --------
    >>> from tractable import MultivariateNormal, Normal
    >>> place = MultivariateNormal(mean=[0.0, 1.0], covariance=[[2.0, 1.0], [1.0, 2.0]])
    >>> d = Product(parts={"age": Normal(mean=40.0, variance=100.0), "place": place})
    >>> d.names, d.mean
    (('age', 'place0', 'place1'), array([40.,  0.,  1.]))
    >>> d.condition({"place0": 2.0}).mean
    array([40.,  2.])
    """

    parts: tuple[Distribution, ...]
    names: tuple[str, ...] | None

    def __init__(
        self,
        *,
        parts: Mapping[str, Distribution] | Sequence[Distribution],
        names: Iterable[str] | None = None,
    ) -> None:
        if isinstance(parts, Mapping):
            names = _column_names(parts) if names is None else names
            parts = tuple(parts.values())
        parts = tuple(parts)
        for part in parts:
            if not isinstance(part, Distribution) or len(part.event_shape) > 1:
                raise ValueError(f"parts must be distributions of numbers or vectors, got {part!r}")
        if not parts or len({namespace_of(part.mean) for part in parts}) > 1:
            raise ValueError("parts must be distributions of one array library, at least one")
        batch = broadcast_batches(**{f"parts[{i}]": part.batch_shape for i, part in enumerate(parts)})
        whole = tuple(part if part.batch_shape == batch else part.expand(batch) for part in parts)
        set_fields(self, parts=whole, names=as_names(names, sum(map(_width, whole))))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.parts[0].batch_shape

    @property
    def dim(self) -> int:
        """Number of columns."""
        return sum(map(_width, self.parts))

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """Whether every column is counted; where only some are, log_prob mixes both kinds."""
        return all(part.discrete for part in self.parts)

    @property
    def support(self) -> tuple[Any, Any] | None:
        """See `Distribution.support`: a bound for each column, (*batch, d)."""
        if any(part.support is None for part in self.parts):
            return None
        low, high = (self._each(lambda part, end=end: part.support[end]) for end in (0, 1))  # type: ignore[misc]
        return low, high

    mean, variance, mode = map(of_each, ("mean", "variance", "mode"))

    @property
    def covariance(self) -> Array:
        """Covariance of the columns, (*batch, d, d): zero between parts."""
        xp = namespace_of(self.parts[0].mean)
        rows = []
        for i, part in enumerate(self.parts):
            own = part.covariance if part.event_shape else part.variance[..., None, None]  # type: ignore[attr-defined]
            none = xp.zeros_like(own[..., :1])
            blocks = [xp.broadcast_to(none, (*own.shape[:-1], _width(q))) for q in self.parts]
            blocks[i] = own
            rows.append(xp.concat(blocks, axis=-1))
        return xp.concat(rows, axis=-2)

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`: Σ_j log p_j(x_j), over the columns that are not NaN."""
        x = self._event(x)
        return _total(_observed(part, x[..., a:b]) for part, a, b in self._placed())

    def entropy(self) -> Array:
        return _total(part.entropy() for part in self.parts)

    def _divergence(self, other: "Product") -> Array:
        """Return the sum of the parts' divergences, of which the families must agree."""
        if list(map(_width, self.parts)) != list(map(_width, other.parts)):
            raise ValueError("other must have parts for the same columns")
        return _total(p.kl_divergence(q) for p, q in zip(self.parts, other.parts, strict=True))

    def marginal(self, dims: Any) -> "Product":
        """Return p(x_dims): positions, names or a slice; the columns of one part must stay side by side."""
        keep = self._resolved(dims)
        if not keep:
            raise ValueError("dims must name at least one column")
        homes = [self._home(i) for i in keep]
        order = list(dict.fromkeys(homes))
        if homes != [k for k in order for _ in range(homes.count(k))]:
            raise ValueError(f"dims must keep the columns of one part side by side, got {dims!r}")
        placed = self._placed()
        parts = []
        for k in order:
            part, start, _ = placed[k]
            inner = [i - start for i, home in zip(keep, homes, strict=True) if home == k]
            parts.append(part if inner == list(range(_width(part))) else part.marginal(inner))  # type: ignore[attr-defined]
        return Product(parts=parts, names=self._named(keep))

    def condition(self, dims: Any, values: Any = None) -> "Product":
        """Return p(x_rest | x_dims = values), of independent parts; NaN where nothing was observed.

        Arguments as of `MultivariateNormal.condition`.
        """
        given, rest, values = self._given(dims, values, self.mean, missing=True)
        if not rest:
            raise ValueError("dims must leave at least one column free")
        parts = []
        for k, (part, start, end) in enumerate(self._placed()):
            known = [n for n, i in enumerate(given) if self._home(i) == k]
            if len(known) < end - start:
                inner = [given[n] - start for n in known]
                parts.append(part.condition(inner, taken(values, known)) if known else part)  # type: ignore[attr-defined]
        batch = broadcast_batches(self=self.batch_shape, values=tuple(values.shape[:-1]))
        return Product(parts=[part.expand(batch) for part in parts], names=self._named(rest))

    def __getitem__(self, index: Any) -> Self:
        return type(self)(parts=tuple(part[index] for part in self.parts), names=self.names)

    def expand(self, batch_shape: tuple[int, ...]) -> Self:
        return type(self)(parts=tuple(part.expand(batch_shape) for part in self.parts), names=self.names)

    def _one_column(self) -> Any:
        return self.parts[0].as_univariate()

    def _sample(self, n: int, rng: Any) -> Array:
        return self._each(lambda part: part._sample(n, rng), n)  # noqa: SLF001

    def _each(self, of: Callable[[Distribution], Any], *samples: int) -> Array:
        """Return a property of every part, the columns side by side: (*samples, *batch, d)."""
        xp = namespace_of(self.parts[0].mean)
        found = []
        for part in self.parts:
            x = as_reals("parts", of(part), part.mean)
            x = x if part.event_shape and x.ndim else x[..., None]
            found.append(xp.broadcast_to(x, (*samples, *self.batch_shape, _width(part))))
        dtype = xp.result_type(*found)
        return xp.concat([xp.astype(x, dtype) for x in found], axis=-1)

    def _placed(self) -> list[tuple[Distribution, int, int]]:
        """Return each part with its first column and the one after its last."""
        ends = accumulate(map(_width, self.parts))
        return [(part, end - _width(part), end) for part, end in zip(self.parts, ends, strict=True)]

    def _home(self, column: int) -> int:
        return next(k for k, (_, _, end) in enumerate(self._placed()) if column < end)


def _width(part: Distribution) -> int:
    return int(part.event_shape[0]) if part.event_shape else 1


def _column_names(parts: Mapping[str, Distribution]) -> list[str]:
    names: list[str] = []
    for name, part in parts.items():
        own = getattr(part, "names", None) or [f"{name}{j}" for j in range(_width(part))]
        names += own if part.event_shape else [name]
    return names


def _observed(part: Distribution, x: Array) -> Array:
    """Return log p(x) of columns (..., width), and 0 where all of them are missing."""
    xp = namespace_of(x)
    missing = xp.all(xp.isnan(x), axis=-1)
    if part.event_shape:
        found = part.log_prob(x)
    else:
        found = part.log_prob(xp.where(missing, xp.zeros_like(x[..., 0]), x[..., 0]))
    return xp.where(missing, xp.zeros_like(found), found)


def _total(terms: Iterable[Array]) -> Array:
    return reduce(lambda a, b: a + b, terms)
