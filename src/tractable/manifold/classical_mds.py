"""Classical multidimensional scaling."""

from typing import Any, Self

import numpy as np

from tractable.base import all_or_nothing, check_number
from tractable.base.options import SklearnOptions
from tractable.manifold.base import Embedding
from tractable.manifold.classical_scaling import ScaledPoints, classical_scaling


class ClassicalMDS(Embedding):
    """Classical multidimensional scaling: points whose distances are, or are nearest to, given ones.

    The coordinates are eigenvectors of B = -½ J D² J, D² the squared distances and J = I - 11ᵀ/n, scaled by
    the roots of their eigenvalues (Torgerson 1952). Of Euclidean distances B holds inner products, and the
    map is that of principal component analysis, whose variances are the eigenvalues over n. Of other
    distances some eigenvalues are negative; the map has the positive ones.

    All distances are held: n² numbers.

    Parameters
    ----------
    n_components : int
        Dimensions of the map. Those for which there are no positive eigenvalues are zero.
    metric : str or Metric
        "euclidean", "manhattan", "chebyshev", "cosine", "hamming", or a value of `tractable.spatial`; or
        "precomputed": X is then the matrix of distances, symmetric and zero on the diagonal.

    Attributes
    ----------
    embedding_ : array of shape (n_samples, n_components)
        The map, of mean zero, along its principal axes. Rows of weight zero are placed as new ones are.
    eigenvalues_ : array of shape (n_components,)
        Of B, in falling order: the sum of squares of each coordinate.
    rows_, row_indices_, sample_weight_
        The rows of positive weight, which new ones are compared with (not with ``metric="precomputed"``);
        which of the rows given they are; how often each counts, None where no weights were given.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    MetricMDS : distances as near as possible, instead of inner products.
    Isomap : the same of distances along the data.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> distances = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> model = tractable.ClassicalMDS(metric="precomputed").fit(distances)
    >>> found = model.embedding_
    >>> np.linalg.norm(found[:, None] - found, axis=2).round(6).tolist()
    [[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]]
    >>> # A new point half way between the last two:
    >>> bool(np.allclose(model.transform([[np.sqrt(13.0), 2.0, 2.0]]), found[1:].mean(axis=0)))
    True
    """

    _sklearn_options = SklearnOptions(limited={"metric_params": (None,)})

    def __init__(self, n_components: int = 2, *, metric: Any = "euclidean") -> None:
        self.n_components = n_components
        self.metric = metric

    @all_or_nothing(afresh=True, square=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the map of the rows.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), or distances (n_samples, n_samples) where they are precomputed, and
            how often each row counts; y is ignored.
        """
        check_number("n_components", self.n_components, least=1, whole=True)
        rows = self._store(X, sample_weight)
        distances = self._distances_from(rows[self.row_indices_])
        found = classical_scaling(distances**2, self.n_components, self.sample_weight_)
        self.eigenvalues_, self._mean_squares_ = found.eigenvalues, found.mean_squares
        self._set_embedding(rows, found.points)
        return self

    def _embed(self, rows: np.ndarray) -> np.ndarray:
        weights = self.sample_weight_
        scaled = ScaledPoints(
            points=self._points,
            eigenvalues=self.eigenvalues_,
            mean_squares=self._mean_squares_,
            weights=np.ones(len(self._points)) if weights is None else weights,
        )
        return scaled.embed(self._distances_from(rows) ** 2)
