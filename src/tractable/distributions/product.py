"""Products: independent parts, each of a family of its own: columns, or vectors of several."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, Self

import numpy as np

from tractable.arrays.batched import as_reals, positions, principal_block
from tractable.arrays.grouping import by_pattern
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.distributions.distribution import Distribution, broadcast_batches, of_each
from tractable.distributions.normal import MultivariateNormal
from tractable.distributions.vectors import VectorDistribution, as_names, taken
from tractable.value import set_fields, value


@value
class Product(VectorDistribution):
    """A product of distributions: independent parts, which may be of different families.

    p(x) = Π_j p_j(x_j): the columns of a table are independent, and may be of different families.

    An event is a row of numbers; a part of vectors takes several of its columns. A missing entry (NaN) is
    integrated out.

    Parameters
    ----------
    parts : mapping of str to Distribution, or sequence of Distribution
        Batches broadcast. A part of a mapping names its column; the columns of a part of vectors are called
        as it calls them or, where it has no names, by the part's name and a number.
    names : sequence of str, optional
        What the columns are called.
    columns : sequence of sequences of int, optional
        The positions in a row of the columns of each part; when not given, part after part.

    Examples
    --------
    >>> from tractable import MultivariateNormal, Normal
    >>> place = MultivariateNormal(mean=[0.0, 1.0], covariance=[[2.0, 1.0], [1.0, 2.0]])
    >>> d = Product(parts={"age": Normal(mean=40.0, variance=100.0), "place": place})
    >>> d.names, d.mean
    (('age', 'place0', 'place1'), array([40.,  0.,  1.]))
    >>> d.condition({"place0": 2.0}).mean
    array([40.,  2.])
    >>> between = Product(parts=[place, Normal(mean=40.0, variance=100.0)], columns=[[0, 2], [1]])
    >>> between.mean, between.condition([0], [2.0]).mean
    (array([ 0., 40.,  1.]), array([40.,  2.]))
    """

    parts: tuple[Distribution, ...]
    names: tuple[str, ...] | None
    columns: tuple[tuple[int, ...], ...] | None

    def __init__(
        self,
        *,
        parts: Mapping[str, Distribution] | Sequence[Distribution],
        names: Iterable[str] | None = None,
        columns: Sequence[Sequence[int]] | None = None,
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
        set_fields(
            self,
            parts=whole,
            names=as_names(names, sum(map(_width, whole))),
            columns=_checked_columns(columns, list(map(_width, whole))),
        )

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
        return self._in_place(self._in_place(self._stacked_covariance(), axis=-2), axis=-1)

    def _stacked_covariance(self) -> Array:
        """Return the covariance of the columns, part after part."""
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
        if self.columns is None:
            ends = list(accumulate(map(_width, self.parts)))
            slices = (x[..., a:b] for a, b in zip([0, *ends], ends, strict=False))
            return _total(map(_observed, self.parts, slices))
        return _total(_observed(part, taken(x, where)) for part, where in self.placed())

    def entropy(self) -> Array:
        return _total(part.entropy() for part in self.parts)

    def _divergence(self, other: "Product") -> Array:
        """Return the sum of the parts' divergences, of which the families must agree."""
        if [where for _, where in self.placed()] != [where for _, where in other.placed()]:
            raise ValueError("other must have parts for the same columns")
        return _total(p.kl_divergence(q) for p, q in zip(self.parts, other.parts, strict=True))

    def marginal(self, dims: Any) -> "Product":
        """Return p(x_dims): positions, names or a slice, in the order given."""
        keep = self._resolved(dims)
        if not keep:
            raise ValueError("dims must name at least one column")
        homes = {i: (k, n) for k, (_, where) in enumerate(self.placed()) for n, i in enumerate(where)}
        parts: list[Any] = []
        columns: list[list[int]] = []
        for k in dict.fromkeys(homes[i][0] for i in keep):
            part, mine = self.parts[k], [n for n, i in enumerate(keep) if homes[i][0] == k]
            inner = [homes[keep[n]][1] for n in mine]
            parts.append(part if inner == list(range(_width(part))) else part.marginal(inner))  # type: ignore[attr-defined]
            columns.append(mine)
        return Product(parts=parts, names=self._named(keep), columns=columns)

    def condition(self, dims: Any, values: Any = None) -> "Product":
        """Return p(x_rest | x_dims = values), of independent parts; NaN where nothing was observed.

        Arguments as of `MultivariateNormal.condition`.
        """
        given, rest, values = self._given(dims, values, self.mean, missing=True)
        if not rest:
            raise ValueError("dims must leave at least one column free")
        parts, columns, position = [], [], {i: n for n, i in enumerate(rest)}
        for part, where in self.placed():
            known = [n for n, i in enumerate(given) if i in where]
            if len(known) < len(where):
                inner = [where.index(given[n]) for n in known]
                parts.append(_conditioned(part, inner, taken(values, known)) if known else part)
                columns.append([position[i] for i in where if i in position])
        batch = broadcast_batches(self=self.batch_shape, values=tuple(values.shape[:-1]))
        return Product(parts=[part.expand(batch) for part in parts], names=self._named(rest), columns=columns)

    def __getitem__(self, index: Any) -> Self:
        return type(self)(
            parts=tuple(part[index] for part in self.parts), names=self.names, columns=self.columns
        )

    def expand(self, batch_shape: tuple[int, ...]) -> Self:
        return type(self)(
            parts=tuple(part.expand(batch_shape) for part in self.parts),
            names=self.names,
            columns=self.columns,
        )

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
        return self._in_place(xp.concat([xp.astype(x, dtype) for x in found], axis=-1), axis=-1)

    def placed(self) -> list[tuple[Distribution, tuple[int, ...]]]:
        """Return each part with the positions of its columns in a row."""
        if self.columns is not None:
            return list(zip(self.parts, self.columns, strict=True))
        ends = accumulate(map(_width, self.parts))
        return [
            (part, tuple(range(end - _width(part), end))) for part, end in zip(self.parts, ends, strict=True)
        ]

    def _in_place(self, x: Array, axis: int) -> Array:
        """Return columns, part after part along an axis, in their positions in a row."""
        if self.columns is None:
            return x
        order = np.argsort([i for where in self.columns for i in where])
        return namespace_of(x).take(x, positions(order, x), axis=axis)


def _width(part: Distribution) -> int:
    return int(part.event_shape[0]) if part.event_shape else 1


def _checked_columns(columns: Any, widths: list[int]) -> tuple[tuple[int, ...], ...] | None:
    """Return the columns of each part, None if they are part after part."""
    if columns is None:
        return None
    found = tuple(tuple(int(i) for i in where) for where in columns)
    flat = [i for where in found for i in where]
    if [len(where) for where in found] != widths or sorted(flat) != list(range(sum(widths))):
        raise ValueError(
            f"columns must be positions of each part, {widths} of them and none twice, got {columns!r}"
        )
    return None if flat == list(range(len(flat))) else found


def _conditioned(part: Any, inner: list[int], values: Array) -> Any:
    """Return a part of vectors given some of its columns; NaN where nothing was observed of a normal one."""
    xp = namespace_of(values)
    if not isinstance(part, MultivariateNormal) or not bool(xp.any(xp.isnan(values))):
        return part.condition(inner, values)
    rest = [i for i in range(part.dim) if i not in inner]
    batch = broadcast_batches(part=part.batch_shape, values=tuple(values.shape[:-1]))
    wide = part.expand(batch)
    flat = xp.broadcast_to(values, (*batch, len(inner)))
    missing = to_numpy(xp.isnan(flat))
    mean, covariance = taken(wide.mean, rest), principal_block(wide.covariance, rest, rest)
    for pattern, _ in by_pattern(missing.reshape(-1, len(inner))):
        seen = np.flatnonzero(~pattern).tolist()
        if not seen:
            continue
        here = xp.asarray(np.all(missing == pattern, axis=-1), device=device(values))
        observed = taken(flat, seen)
        given = part.marginal([*rest, *(inner[n] for n in seen)]).condition(
            range(len(rest), len(rest) + len(seen)),
            xp.where(here[..., None], observed, xp.zeros_like(observed)),
        )
        mean = xp.where(here[..., None], given.mean, mean)
        covariance = xp.where(here[..., None, None], given.covariance, covariance)
    return MultivariateNormal(mean=mean, covariance=covariance)


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
