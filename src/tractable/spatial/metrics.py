"""Metrics: Euclidean, Mahalanobis, Minkowski, cosine, haversine and others; functions; given distances."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.linalg import cholesky, solve_triangular
from tractable.arrays.namespace import freeze
from tractable.primitives.neighbors import distances as all_distances
from tractable.spatial.checks import as_rows
from tractable.value import value


class Metric(ABC):
    """A distance between vectors.

    An index stores ``rows(points)`` and measures these by the elementary distance `form` (one of
    `tractable.primitives.neighbors.FORMS`), from which `outer` makes the metric's own; `inner` inverts.
    Both increase, so neighbours are the same. A Mahalanobis distance is thus Euclidean between whitened
    rows, and the cosine distance half the square of the Euclidean between rows of length one. An index
    serves every metric whose form is among its `forms`. A metric of the form "pairs" measures all pairs of
    rows itself, by `pairs`, which `Brute` alone serves.
    """

    #: Whether rows are to be taken about the points' mean before anything else.
    about_mean: ClassVar[bool] = False
    #: Whether entries of rows may be missing (NaN). Rows without an entry in common are infinitely far apart.
    missing: ClassVar[bool] = False
    #: Whether distances may be measured by several threads.
    threaded: ClassVar[bool] = True

    @property
    @abstractmethod
    def form(self) -> str:
        """The elementary distance."""

    @property
    def order(self) -> float:
        """Of a Minkowski distance."""
        return 2.0

    def rows(self, name: str, x: np.ndarray) -> np.ndarray:
        """Return rows as the elementary distance wants them; `name` is what an error calls them."""
        return x

    def pairs(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the elementary distances (m, n) of all pairs of rows (m, d) and (n, d), made ready."""
        return all_distances(x, y, self.form, self.order)

    def outer(self, distances: np.ndarray) -> np.ndarray:
        """Return the metric's distances, given elementary ones."""
        return distances

    def inner(self, distances: np.ndarray) -> np.ndarray:
        """Return elementary distances that are no less than those that belong to the metric's."""
        return distances

    def __call__(self, x: Any, y: Any) -> np.ndarray:
        """Return the distances between rows of x (m, d) and of y (n, d), an array (m, n)."""
        x = as_rows("x", x, missing=self.missing)
        y = as_rows("y", y, x.shape[1], missing=self.missing)
        if self.about_mean and len(y):
            x, y = x - y.mean(axis=0), y - y.mean(axis=0)
        return self.outer(self.pairs(self.rows("x", x), self.rows("y", y)))


@value
class Euclidean(Metric):
    """The Euclidean distance.

    d(x, y) = √Σ(x - y)². Served by every index.

    Examples
    --------
    >>> Euclidean()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[5.]])
    """

    form: ClassVar[str] = "euclidean"


@value
class Mahalanobis(Metric):
    """The Mahalanobis distance.

    d(x, y) = √((x - y)ᵀ Σ⁻¹ (x - y)), the Euclidean distance of whitened rows. Served by every index.

    Parameters
    ----------
    covariance : array (d, d)
        Σ, symmetric and positive definite.

    Examples
    --------
    >>> Mahalanobis(covariance=[[4.0, 0.0], [0.0, 1.0]])([[0.0, 0.0]], [[2.0, 0.0]])
    array([[1.]])
    """

    form: ClassVar[str] = "euclidean"
    about_mean: ClassVar[bool] = True

    covariance: np.ndarray

    def __init__(self, *, covariance: Any) -> None:
        matrix = as_rows("covariance", covariance)
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"covariance must be square, got shape {matrix.shape}")
        object.__setattr__(self, "covariance", freeze(matrix))
        self._lower  # noqa: B018  (refuses a matrix that is no covariance)

    @cached_property
    def _lower(self) -> np.ndarray:
        return cholesky(self.covariance, name="covariance")

    def rows(self, name: str, x: np.ndarray) -> np.ndarray:
        """See `Metric.rows`: L⁻¹ x, where Σ = L Lᵀ."""
        dim = len(self.covariance)
        if x.shape[1] != dim:
            raise ValueError(f"{name} must have {dim} columns as the covariance has, got {x.shape[1]}")
        return np.ascontiguousarray(solve_triangular(self._lower, x.T).T)


@value
class Minkowski(Metric):
    """The Minkowski distance of order m.

    d(x, y) = (Σ|x - y|^m)^(1/m). Served by exact indexes, and with m = 2 by all.

    Parameters
    ----------
    m : float
        At least 1: below, ways round would be shorter. 1 is the Manhattan distance, 2 the Euclidean,
        infinity Chebyshev's.

    Examples
    --------
    >>> Minkowski(m=3)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[1.2599]])
    """

    m: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", _checked_order(self.m))

    @property
    def form(self) -> str:
        """See `Metric.form`."""
        return {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}.get(self.m, "minkowski")

    @property
    def order(self) -> float:
        """See `Metric.order`."""
        return self.m


@value
class Chebyshev(Metric):
    """The Chebyshev distance, the largest difference of coordinates.

    d(x, y) = max|x - y|. Served by exact indexes.

    Examples
    --------
    >>> Chebyshev()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[4.]])
    """

    form: ClassVar[str] = "chebyshev"


@value
class Cosine(Metric):
    """The cosine distance.

    d(x, y) = 1 - x·y / (|x| |y|), half the squared distance of rows of length one. Served by every index.

    Taken by differences, so that directions which nearly agree keep their digits. A row of zeros has no
    direction and is refused.

    Examples
    --------
    >>> Cosine()([[2.0, 0.0]], [[0.0, 1.0], [-3.0, 0.0]])
    array([[1., 2.]])
    """

    form: ClassVar[str] = "euclidean"

    def rows(self, name: str, x: np.ndarray) -> np.ndarray:
        """See `Metric.rows`: x / |x|."""
        largest = np.max(np.abs(x), axis=1, initial=0.0, keepdims=True)
        if not np.all(largest > 0.0):
            raise ValueError(f"{name} must have no row of zeros under the cosine distance")
        unit = x / largest
        return unit / np.sqrt(np.einsum("ij,ij->i", unit, unit))[:, None]

    def outer(self, distances: np.ndarray) -> np.ndarray:
        """See `Metric.outer`: half the square."""
        return 0.5 * distances**2

    def inner(self, distances: np.ndarray) -> np.ndarray:
        """See `Metric.inner`."""
        return np.sqrt(2.0 * distances) * (1.0 + 1e-12)


@value
class Hamming(Metric):
    """The Hamming distance, the fraction of coordinates that differ.

    Served by brute force.

    Examples
    --------
    >>> Hamming()([[0.0, 1.0, 2.0, 3.0]], [[0.0, 1.0, 0.0, 3.0]])
    array([[0.25]])
    """

    form: ClassVar[str] = "hamming"


@value
class Haversine(Metric):
    """The great-circle distance on a sphere of radius one, between rows (latitude, longitude) in radians.

    d(x, y) = 2 asin √(sin²(Δlat/2) + cos lat cos lat' sin²(Δlon/2)) = 2 asin(|u - v| / 2), where u and v are
    the points in space. Served by every index. Times 6371 it is kilometres on Earth.

    Examples
    --------
    >>> paris, berlin = np.radians([[48.857, 2.352], [52.520, 13.405]])
    >>> (6371.0 * Haversine()([paris], [berlin])).round(0)
    array([[877.]])
    """

    form: ClassVar[str] = "euclidean"

    def rows(self, name: str, x: np.ndarray) -> np.ndarray:
        """See `Metric.rows`: the points in space, (n, 3)."""
        if x.shape[1] != 2:
            raise ValueError(
                f"{name} must have two columns, latitude and longitude in radians, under the haversine "
                f"distance, got {x.shape[1]}"
            )
        (latitude, longitude), level = x.T, np.cos(x[:, 0])
        return np.stack([level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)], axis=1)

    def outer(self, distances: np.ndarray) -> np.ndarray:
        """See `Metric.outer`: the arc of a chord."""
        return np.where(np.isfinite(distances), 2.0 * np.arcsin(np.minimum(0.5 * distances, 1.0)), distances)

    def inner(self, distances: np.ndarray) -> np.ndarray:
        """See `Metric.inner`."""
        return 2.0 * np.sin(0.5 * np.minimum(distances, np.pi)) * (1.0 + 1e-12) + 1e-15


@value
class NanEuclidean(Metric):
    """The Euclidean distance of the entries that two rows have in common, scaled up to all columns.

    d(x, y)² = (d / c) Σ (x - y)² over the c of d columns in which both are observed: missing entries (NaN)
    are taken to differ as the others do on average. Rows that have no entry in common are infinitely far
    apart. Served by brute force.

    Examples
    --------
    >>> NanEuclidean()([[0.0, np.nan, 1.0]], [[3.0, 4.0, 1.0], [np.nan, 1.0, np.nan]]).round(4)
    array([[3.6742,    inf]])
    """

    form: ClassVar[str] = "pairs"
    missing: ClassVar[bool] = True

    def pairs(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """See `Metric.pairs`."""
        squares, common = np.zeros((len(x), len(y))), np.zeros((len(x), len(y)))
        for ours, theirs in zip(x.T, y.T, strict=True):
            step = ours[:, None] - theirs
            both = ~np.isnan(step)
            squares += np.where(both, step, 0.0) ** 2
            common += both
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(common > 0, np.sqrt(squares * (x.shape[1] / common)), np.inf)


@value
class FunctionMetric(Metric):
    """A distance that a function of two vectors returns. Served by brute force, a call a pair of rows.

    Parameters
    ----------
    function : callable
        Of two arrays (d,); it returns a finite number that is not negative. It need not be a metric: the
        neighbours of x are the rows y of the least ``function(x, y)``.

    Examples
    --------
    >>> FunctionMetric(function=lambda x, y: abs(x[0] - y[0]))([[0.0, 9.0]], [[3.0, 4.0], [1.0, 2.0]])
    array([[3., 1.]])
    """

    form: ClassVar[str] = "pairs"
    threaded: ClassVar[bool] = False

    function: Callable[[np.ndarray, np.ndarray], float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function must be a function of two vectors, got {self.function!r}")

    def pairs(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """See `Metric.pairs`."""
        found = np.empty((len(x), len(y)))
        for i, ours in enumerate(x):
            for j, theirs in enumerate(y):
                found[i, j] = self._checked(self.function(ours, theirs))
        return found

    def _checked(self, distance: Any) -> float:
        number = np.asarray(distance)
        if number.shape != () or number.dtype.kind not in "biuf" or not 0.0 <= number < np.inf:
            raise ValueError(
                "metric must be a function of two rows that returns a finite number, not negative, got "
                f"{distance!r:.60}"
            )
        return float(number)


@value
class Precomputed(Metric):
    """Distances that are given: a row holds the distances of an object from every point.

    The points of an index are then a square matrix of distances. Served by brute force.

    Parameters
    ----------
    columns : array of int, optional
        Which columns are those of the points, where distances from others are given too; all when not given.

    Examples
    --------
    >>> from tractable.spatial import Brute
    >>> index = Brute([[0.0, 2.0, 5.0], [2.0, 0.0, 4.0], [5.0, 4.0, 0.0]], Precomputed())
    >>> index.query([[3.0, 1.0, 9.0]], k=2)[1].tolist()
    [[1, 0]]
    """

    form: ClassVar[str] = "pairs"

    columns: np.ndarray | None = None

    def rows(self, name: str, x: np.ndarray) -> np.ndarray:
        """See `Metric.rows`: the distances from the points."""
        if np.any(x < 0.0):
            raise ValueError(f"{name} must be distances, and some are negative")
        return x if self.columns is None else np.ascontiguousarray(x[:, self.columns])

    def pairs(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """See `Metric.pairs`: what is given."""
        if x.shape[1] != len(y):
            raise ValueError(
                f'with metric="precomputed" rows are distances from every point: {len(y)} points need as '
                f"many columns, got {x.shape[1]}"
            )
        return x


def as_metric(metric: Metric | str | Callable[..., Any]) -> Metric:
    """Return a metric, given one, its name, or a function of two vectors.

    Examples
    --------
    >>> as_metric("manhattan")
    Minkowski(m=1.0)
    """
    found = NAMED.get(ALIASES.get(metric, metric)) if isinstance(metric, str) else metric
    if isinstance(found, Metric):
        return found
    if callable(found) and not isinstance(found, type):
        return FunctionMetric(function=found)
    raise ValueError(
        f"metric must be one of {', '.join(NAMED)}, a Metric or a function of two rows, got {metric!r}"
    )


def minkowski(x: Any, y: Any, m: float = 2.0) -> np.ndarray:
    """Return (Σ|x - y|^m)^(1/m) along the last axis.

    Parameters
    ----------
    x, y : arrays (..., d)
        Vectors; their leading axes broadcast.
    m : float
        At least 1. 1 adds absolute differences, 2 is the Euclidean distance, infinity takes the largest.

    Examples
    --------
    >>> float(minkowski([0.0, 0.0], [3.0, 4.0])), float(minkowski([0.0, 0.0], [3.0, 4.0], 1))
    (5.0, 7.0)
    """
    m = _checked_order(m)
    step = np.abs(_vectors("x", x) - _vectors("y", y))
    largest = np.max(step, axis=-1, initial=0.0)
    if m == np.inf:
        return largest
    unit = np.where(largest > 0.0, largest, 1.0)  # no power overflows, whatever m
    return largest * np.sum((step / unit[..., None]) ** m, axis=-1) ** (1.0 / m)


def _vectors(name: str, x: Any) -> np.ndarray:
    found = np.asarray(x, dtype=np.float64)
    if not found.ndim or not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite vectors, got {x!r:.60}")
    return found


def _checked_order(m: Any) -> float:
    if not isinstance(m, Real) or m is True or not float(m) >= 1.0:
        raise ValueError(f"m must be a number of at least 1, got {m!r}")
    return float(m)


#: Metrics without parameters, by name.
NAMED = {
    "euclidean": Euclidean(),
    "manhattan": Minkowski(m=1),
    "chebyshev": Chebyshev(),
    "cosine": Cosine(),
    "hamming": Hamming(),
    "haversine": Haversine(),
    "nan_euclidean": NanEuclidean(),
}

#: Other names of scikit-learn and SciPy; Minkowski's distance without an order is of order 2.
ALIASES = {"l2": "euclidean", "minkowski": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}
