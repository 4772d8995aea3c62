"""Distributions of vectors: coordinates by position or name, observed values, missing entries."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals, batch_index, matvec, positions
from tractable.arrays.grouping import by_pattern
from tractable.arrays.linalg import cholesky
from tractable.arrays.namespace import Array, device, freeze, is_numpy_array, namespace_of, to_numpy
from tractable.covariance import Covariance, Full, as_structure, other_dims, resolve_dims
from tractable.data.blocks import map_rows
from tractable.distributions.checks import check_finite
from tractable.distributions.distribution import Distribution, broadcast_batches
from tractable.value import parameters


class VectorDistribution(Distribution):
    """A distribution of vectors (d,), whose coordinates may have names."""

    #: What the coordinates are called, where they have names.
    names: tuple[str, ...] | None = None

    @property
    @abstractmethod
    def dim(self) -> int:
        """Number of coordinates."""

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.dim,)

    def _resolved(self, dims: Any) -> tuple[int, ...]:
        """Return coordinates given by position, by name or as a slice as positions."""
        return resolve_dims(dims, self.dim, self.names)

    def _named(self, dims: Iterable[int]) -> tuple[str, ...] | None:
        return None if self.names is None else tuple(self.names[i] for i in dims)

    def _given(
        self, dims: Any, values: Any, like: Array, *, missing: bool = False
    ) -> tuple[tuple[int, ...], tuple[int, ...], Array]:
        """Return the arguments of `condition`: the observed positions, the others, and the values."""
        if isinstance(dims, Mapping):
            dims, values = split_mapping(dims, values, like)
        given = self._resolved(dims)
        return given, other_dims(given, self.dim), as_values(values, given, like, missing=missing)


class Elliptical(VectorDistribution):
    """A density that depends on x through (x - center)ᵀ Σ⁻¹ (x - center) alone, Σ a covariance structure."""

    structure: Covariance

    #: The parameters that the center and the structure are given as.
    _center_name: ClassVar[str]
    _structure_name: ClassVar[str]

    @property
    def _center(self) -> Array:
        """The center, (*batch, d)."""
        return getattr(self, self._center_name)

    @abstractmethod
    def _log_density(self, x: Array) -> Array:
        """Return the log density of complete rows."""

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.structure.dim

    @property
    def mode(self) -> Array:
        return self._center

    def log_prob(self, x: Any) -> Array:
        """Return the log density over the last axis.

        A missing entry (NaN) is integrated out, so a row is scored by what was observed of it; a row of
        nothing but NaN has log probability 0.
        """
        return self._observed(self._event(x), "_log_density", -np.inf)

    def marginal(self, dims: Any) -> Any:
        """Return p(x_dims): positions, names or a slice, in the order given."""
        keep = self._resolved(dims)
        return self._of(keep, taken(self._center, keep), self.structure.marginal(keep))

    def condition(self, dims: Any, values: Any = None) -> Any:
        """Return p(x_rest | x_dims = values), with center μ_r + Σ_rg Σ_gg⁻¹ (values - μ_g).

        Its matrix is Σ_rr - Σ_rg Σ_gg⁻¹ Σ_gr.

        Parameters
        ----------
        dims : positions, names, a slice, or a mapping of names or positions to values
            Which coordinates were observed; a mapping holds their values as well, and `values` is left out.
        values : array (*batch, len(dims))
            What was observed; leading axes become batch axes, and share one covariance.
        """
        given, rest, values = self._given(dims, values, self._center)
        gain, structure = self.structure.condition(given)
        step = values - taken(self._center, given)
        center = taken(self._center, rest) + matvec(gain, step)
        return self._of(rest, center, structure, **self._updated(given, step, structure))

    def _updated(self, given: tuple[int, ...], step: Array, structure: Covariance) -> dict[str, Any]:
        """Return the other parameters that change where the given coordinates are observed."""
        return {}

    @abstractmethod
    def _of(self, dims: tuple[int, ...], center: Array, structure: Covariance, **changes: Any) -> Any:
        """Return the distribution of some coordinates, with their center and structure."""

    def mahalanobis(self, x: Any, *, squared: bool = False) -> Array:
        """Return √((x - μ)ᵀ Σ⁻¹ (x - μ)) over the last axis, or its square; over observed entries only."""
        distance = self._observed(self._event(x), "_squared", np.inf)
        return distance if squared else namespace_of(distance).sqrt(distance)

    def __getitem__(self, index: Any) -> Self:
        shared = not self.structure.batch_shape
        structure = self.structure if shared else self.structure.expanded_item(self.batch_shape, index)
        arrays = {k: x[batch_index(index, self.parameter_ndims[k])] for k, x in self._arrays().items()}
        return type(self)(**{**parameters(self), **arrays, self._structure_name: structure})

    def _observed(self, x: Array, measure: str, at_infinity: float) -> Array:
        """Measure complete rows at once; where that gives NaN, look for missing and infinite entries."""
        xp, out = namespace_of(x), self._in_blocks(measure, x)
        if not bool(xp.any(xp.isnan(out))):
            return out
        out = self._incomplete(x, measure)
        return xp.where(xp.any(xp.isinf(x), axis=-1), xp.full_like(out, at_infinity), out)

    def _incomplete(self, x: Array, measure: str) -> Array:
        """Measure rows by the marginals of the entries that are observed."""
        return over_observed(lambda d, rows: self.marginal(d)._in_blocks(measure, rows), x, self.batch_shape)  # noqa: SLF001

    def _in_blocks(self, measure: str, x: Array) -> Array:
        """Measure many rows of one distribution in cache-sized blocks, on all cores."""
        function = getattr(self, measure)
        one = x.ndim == 2 and not self.batch_shape and is_numpy_array(x)
        return map_rows(function, x) if one else function(x)

    def _squared(self, x: Array) -> Array:
        # Far enough out, squares overflow to infinity: the right answer, and no cause for a warning.
        with np.errstate(over="ignore", invalid="ignore"):
            return self.structure.mahalanobis(x, self._center)

    def _over_batch(self, x: Array, n_event: int) -> Array:
        return namespace_of(x).broadcast_to(x, self.batch_shape + tuple(x.shape[x.ndim - n_event :]))


def as_vectors(X: Any) -> Array:
    """Return rows (n, d) of finite numbers, at least one."""
    X = as_reals("X", X)
    if X.ndim != 2 or not X.shape[0]:
        raise ValueError(f"X must be rows of shape (n, d) with n at least 1, got {tuple(X.shape)}")
    check_finite("X", X)
    return X


def as_location(name: str, x: Any, structure: Covariance) -> Array:
    """Return a mean (*batch, d) that fits the structure's library, dtype, dimension and batch."""
    like = structure.cholesky if isinstance(structure, Full) else structure.diagonal
    xp = namespace_of(like)
    if hasattr(x, "dtype") and namespace_of(x, like) is not xp:
        raise ValueError(f"{name} and covariance must be arrays of one library")
    x = as_reals(name, x, like)
    if x.ndim < 1 or x.shape[-1] != structure.dim:
        raise ValueError(f"{name} must have shape (*batch, {structure.dim}), got {tuple(x.shape)}")
    check_finite(name, x)
    batch = broadcast_batches(**{name: tuple(x.shape[:-1]), "covariance": structure.batch_shape})
    x = freeze(x if x.dtype == like.dtype else xp.astype(x, xp.result_type(x, like)))
    return x if tuple(x.shape[:-1]) == batch else xp.broadcast_to(x, (*batch, structure.dim))


def as_scale(name: str, scale: Any, like: Any) -> Covariance:
    """Return a structure as it is, and a matrix (*batch, d, d) as `Full`; errors name the argument."""
    if isinstance(scale, Covariance):
        return scale
    scale = as_reals(name, scale)
    cholesky(scale, name=name)
    return as_structure(scale, like=like)


def as_names(names: Iterable[str] | None, dim: int) -> tuple[str, ...] | None:
    """Return the names of the coordinates: distinct strings, one each."""
    if names is None:
        return None
    names = (names,) if isinstance(names, str) else tuple(names)
    if len(names) != dim or len(set(names)) < dim or not all(isinstance(n, str) for n in names):
        raise ValueError(f"names must be {dim} distinct strings, got {names!r}")
    return names


def as_values(values: Any, given: Sequence[int], like: Array, *, missing: bool = False) -> Array:
    """Return observed values (*batch, len(given)), finite, or NaN where they may be `missing`."""
    if values is None:
        raise ValueError("values must be the observed values of dims, got None")
    values = as_reals("values", values, like)
    if values.ndim == 0:
        values = values[None]
    if values.shape[-1] != len(given):
        raise ValueError(
            f"values must have {len(given)} entries on the last axis, got shape {tuple(values.shape)}"
        )
    xp = namespace_of(values)
    check_finite("values", xp.where(xp.isnan(values), xp.zeros_like(values), values) if missing else values)
    return values


def split_mapping(observed: Mapping[Any, Any], values: Any, like: Array) -> tuple[list[Any], Array]:
    """Return the dims and the values, stacked on a last axis, of ``{dim: value}``."""
    if values is not None:
        raise ValueError("values must not be given twice: dims is a mapping that has them")
    xp = namespace_of(like)
    columns = [as_reals("values", v, like) for v in observed.values()]
    if not columns:
        return [], xp.zeros((0,), dtype=like.dtype, device=device(like))
    shape = np.broadcast_shapes(*(tuple(c.shape) for c in columns))
    return list(observed), xp.stack([xp.broadcast_to(c, shape) for c in columns], axis=-1)


def taken(x: Array, dims: Sequence[int]) -> Array:
    """Return some of the entries of the last axis."""
    return namespace_of(x).take(x, positions(dims, x), axis=-1)


Measure = Callable[[tuple[int, ...], Array], Array]


def over_observed(measure: Measure, x: Array, batch_shape: tuple[int, ...]) -> Array:
    """Measure rows (*samples, *batch, d) by their observed coordinates; a row of nothing but NaN measures 0.

    ``measure(dims, rows)`` takes the positions of the observed coordinates and rows of only those.
    """
    n_batch = len(batch_shape)
    xp = namespace_of(x)
    if x.ndim <= n_batch:
        x = xp.reshape(x, (1,) * (n_batch + 1 - x.ndim) + tuple(x.shape))
    own = tuple(x.shape[x.ndim - n_batch - 1 : -1])
    return _grouped(measure, x, batch_shape) if prod(own) == 1 else _selected(measure, x, batch_shape)


def _grouped(measure: Measure, x: Array, batch_shape: tuple[int, ...]) -> Array:
    """Every distribution of the batch sees the same rows: gather those of a pattern, and put them back."""
    xp = namespace_of(x)
    n_axes = x.ndim - len(batch_shape) - 1
    samples, rest = tuple(x.shape[:n_axes]), tuple(x.shape[n_axes:])
    rows = xp.reshape(x, (prod(samples), *rest))
    missing = to_numpy(xp.isnan(rows)).reshape(prod(samples), rest[-1])
    groups = by_pattern(missing)
    parts = [
        _measured(measure, pattern, xp.take(rows, positions(group, x), axis=0), batch_shape)
        for pattern, group in groups
    ]
    order = np.concatenate([group for _, group in groups])
    measured = xp.take(xp.concat(parts, axis=0), positions(np.argsort(order), x), axis=0)
    return xp.reshape(measured, samples + batch_shape)


def _selected(measure: Measure, x: Array, batch_shape: tuple[int, ...]) -> Array:
    """Each distribution of the batch has rows of its own: measure all by each pattern, and select."""
    xp = namespace_of(x)
    missing = xp.isnan(x)
    out = xp.zeros(np.broadcast_shapes(tuple(x.shape[:-1]), batch_shape), dtype=x.dtype, device=device(x))
    for pattern, _ in by_pattern(to_numpy(missing).reshape(-1, x.shape[-1])):
        here = xp.all(missing == xp.asarray(pattern, device=device(x)), axis=-1)
        out = xp.where(here, _measured(measure, pattern, x, batch_shape), out)
    return out


def _measured(measure: Measure, pattern: np.ndarray, rows: Array, batch_shape: tuple[int, ...]) -> Array:
    xp = namespace_of(rows)
    observed = np.flatnonzero(~pattern)
    if not len(observed):
        shape = np.broadcast_shapes(tuple(rows.shape[:-1]), batch_shape)
        return xp.zeros(shape, dtype=rows.dtype, device=device(rows))
    return measure(tuple(observed.tolist()), xp.take(rows, positions(observed, rows), axis=-1))


def coordinate_intervals(d: Any, coverage: float = 0.9) -> tuple[Array, Array]:
    """Return the equal-tailed interval (low, high) of each coordinate by itself, (*batch, d) both."""
    ends = [d.marginal([j]).as_univariate().interval(coverage) for j in range(d.event_shape[0])]
    lows, highs = zip(*ends, strict=True)
    xp = namespace_of(*lows)
    return xp.stack(lows, axis=-1), xp.stack(highs, axis=-1)
