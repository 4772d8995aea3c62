"""Metric multidimensional scaling by majorisation of the stress (SMACOF)."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.random import as_generator
from tractable.base import FitInterrupted, all_or_nothing, check_choice, check_number
from tractable.base.options import SklearnOptions
from tractable.manifold.base import Embedding
from tractable.manifold.classical_scaling import classical_scaling
from tractable.primitives.stress import guttman_transform
from tractable.value import value


class MetricMDS(Embedding):
    """Metric multidimensional scaling: a map whose distances are as near as possible to given ones.

    It minimises the stress Σ_{i<j} (δ_ij - |z_i - z_j|)² by majorisation (SMACOF, de Leeuw 1977): every step
    replaces the stress by a quadratic function that is nowhere below it, and moves to its minimum, so that
    the stress never rises. From the classical solution, one search finds a good minimum, and always the same.

    All distances are held: n² numbers. A new row is placed by itself, where its own stress is least.

    Parameters
    ----------
    n_components : int
        Dimensions of the map.
    metric : str or Metric
        "euclidean", "manhattan", "chebyshev", "cosine", "hamming", or a value of `tractable.spatial`; or
        "precomputed": X is then the matrix of distances, symmetric and zero on the diagonal.
    init : {"classical", "random"}
        Whether the search starts at the classical solution, or from Gaussian positions.
    n_init : int
        How many random starts are tried, of which the best is kept.
    max_iter : int
        The most steps of a search.
    eps : float
        A search ends where a step reduces the stress by less than this fraction of Σ_{i<j} δ_ij².
    random_state : None, int, RandomState or Generator
        Seed of random starts.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        The map, of mean zero. Rows of weight zero are placed as new ones are.
    stress_ : float
        The stress of the map.
    normalized_stress_ : float
        √(stress / Σ_{i<j} δ_ij²): zero where all distances are kept, one of a map in one point.
    objective_trace_ : array of shape (n_iter_ + 1,)
        Minus the stress, at the start and after each step.
    converged_ : bool
        Whether the search ended by `eps`.
    n_iter_ : int
        The number of steps.
    rows_, row_indices_, sample_weight_
        The rows of positive weight, which new ones are compared with (not with ``metric="precomputed"``);
        which of the rows given they are; how often each counts, None where no weights were given.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    ClassicalMDS : the solution in closed form, which keeps inner products.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> flat = tractable.MetricMDS(metric="manhattan").fit(square)  # no plane has these distances
    >>> round(flat.stress_, 4), flat.converged_
    (0.3431, True)
    """

    _sklearn_options = SklearnOptions(ignored=("n_init",))

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        init: str = "classical",
        n_init: int = 4,
        max_iter: int = 300,
        eps: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.eps = eps
        self.random_state = random_state

    @all_or_nothing(afresh=True, square=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Search for the map of least stress.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), or distances (n_samples, n_samples) where they are precomputed, and
            how often each row counts; y is ignored.
        """
        self._check_parameters()
        rows = self._store(X, sample_weight)
        distances = self._distances_from(rows[self.row_indices_])
        weights = np.ones(len(distances)) if self.sample_weight_ is None else self.sample_weight_
        found = self._search(distances, weights)
        total = 0.5 * float(weights @ (distances**2 @ weights))
        self.stress_, self.objective_trace_ = found.stress, -found.trace
        self.normalized_stress_ = float(np.sqrt(found.stress / total)) if total > 0.0 else 0.0
        self.converged_, self.n_iter_ = found.converged, len(found.trace) - 1
        self._set_embedding(rows, found.points)
        if found.interrupted:
            raise FitInterrupted
        if not found.converged:
            warnings.warn(
                f"the stress has not settled in {self.max_iter} steps; raise max_iter",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _check_parameters(self) -> None:
        check_number("n_components", self.n_components, least=1, whole=True)
        check_choice("init", self.init, ["classical", "random"])
        check_number("n_init", self.n_init, least=1, whole=True)
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_number("eps", self.eps, least=0.0)

    def _search(self, distances: np.ndarray, weights: np.ndarray) -> "StressFit":
        options: dict[str, Any] = {"max_iter": self.max_iter, "tol": float(self.eps)}
        if self.init == "classical":
            start = classical_scaling(distances**2, self.n_components, weights).points
            return smacof(distances, start, weights, **options)
        rng, best = as_generator(self.random_state, name="random_state"), None
        for _ in range(self.n_init):
            start = distances.mean() * rng.standard_normal((len(distances), self.n_components))
            found = smacof(distances, start, weights, **options)
            best = found if best is None or found.stress < best.stress else best
            if found.interrupted:
                break
        assert best is not None
        return best

    def _embed(self, rows: np.ndarray) -> np.ndarray:
        """Place rows by their stress; one that equals a row of the fit is where that is."""
        distances = self._distances_from(rows)
        weights = np.ones(len(self._points)) if self.sample_weight_ is None else self.sample_weight_
        nearest = np.argmin(distances, axis=1)
        known = np.take_along_axis(distances, nearest[:, None], axis=1)[:, 0] == 0.0
        points = self._points[nearest]
        if not known.all():
            points[~known] = embed_by_stress(
                distances[~known], self._points, weights, max_iter=self.max_iter, tol=float(self.eps) ** 2
            )
        return points


@value
class StressFit:
    """A map of least stress.

    Parameters
    ----------
    points : array (n, p)
        The map, of weighted mean zero.
    trace : array (n_iter + 1,)
        The stress Σ_{i<j} w_i w_j (δ_ij - d_ij)² at the start, and after each step; it never rises.
    converged : bool
        Whether the last step reduced the stress by less than the tolerance.
    interrupted : bool
        Whether it ended by Ctrl-C: use what is here, then raise KeyboardInterrupt again.
    """

    points: np.ndarray
    trace: np.ndarray
    converged: bool
    interrupted: bool = False

    @property
    def stress(self) -> float:
        """The stress of the map."""
        return float(self.trace[-1])


def smacof(
    distances: np.ndarray, start: np.ndarray, weights: np.ndarray, *, max_iter: int, tol: float
) -> StressFit:
    """Reduce the stress of a map by z_i ← Σ_j w_j (δ_ij / d_ij)(z_i - z_j) / Σ_j w_j until it settles.

    Parameters
    ----------
    distances : array (n, n)
        δ, symmetric.
    start : array (n, p)
        The map to begin with.
    weights : array (n,)
        How often each point counts.
    max_iter : int
        The most steps.
    tol : float
        The search ends where a step reduces the stress by less than this fraction of Σ_{i<j} w_i w_j δ_ij².

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    >>> delta = np.linalg.norm(square[:, None] - square, axis=2)
    >>> found = smacof(delta, square * [2.0, 1.0], np.ones(4), max_iter=100, tol=1e-12)
    >>> found.converged, round(found.stress, 6)
    (True, 0.0)
    """
    total = weights.sum()
    points = start - weights @ start / total
    enough = tol * 0.5 * float(weights @ (distances**2 @ weights))
    sums, each = guttman_transform(distances, points, weights, points)
    trace, settled, interrupted = [0.5 * float(weights @ each)], False, False
    try:
        while not settled and len(trace) <= max_iter:
            moved = sums / total
            moved -= weights @ moved / total
            sums, each = guttman_transform(distances, moved, weights, moved)
            points = moved
            trace.append(0.5 * float(weights @ each))
            settled = trace[-2] - trace[-1] <= enough
    except KeyboardInterrupt:
        interrupted = True
    return StressFit(points=points, trace=np.array(trace), converged=settled, interrupted=interrupted)


def embed_by_stress(
    distances: np.ndarray, references: np.ndarray, weights: np.ndarray, *, max_iter: int, tol: float
) -> np.ndarray:
    """Return points (m, p) of least stress Σ_j w_j (δ_ij - |y_i - z_j|)², each by itself, about fixed ones.

    Each starts where squared distances, which are linear in y_i but for |y_i|², place it, and moves by
    majorisation until a step is shorter than √tol times the mean δ.

    Parameters
    ----------
    distances : array (m, n)
        δ, of each point from all references.
    references : array (n, p)
        z, of weighted mean zero.
    weights : array (n,)
        How often each reference counts.
    max_iter : int
        The most steps.
    tol : float
        See above.

    Examples
    --------
    >>> square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    >>> delta = np.linalg.norm(np.array([[0.5, 0.2]])[:, None] - square, axis=2)
    >>> embed_by_stress(delta, square, np.ones(4), max_iter=100, tol=1e-12).round(4).tolist()
    [[0.5, 0.2]]
    """
    total = weights.sum()
    spread = (weights * references.T) @ references
    squares = np.sum(references**2, axis=1) - distances**2
    points = 0.5 * ((weights * squares) @ references) @ np.linalg.pinv(spread, rcond=1e-12, hermitian=True)
    mean = weights @ references / total
    reach = distances @ weights / total  # no point of least stress is farther from their mean
    size = np.abs(points).max(axis=1)
    points *= (reach / np.maximum(size, reach))[:, None] if np.all(reach > 0.0) else 1.0
    short = tol * reach**2
    moving = np.arange(len(points))
    for _ in range(max_iter):
        sums, _ = guttman_transform(distances[moving], points[moving], weights, references)
        moved = sums / total + mean
        far = np.sum((moved - points[moving]) ** 2, axis=1) > short[moving]
        points[moving] = moved
        moving = moving[far]
        if not len(moving):
            break
    return points
