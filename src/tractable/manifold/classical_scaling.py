"""Classical scaling: points whose distances are, or are nearest to, given ones."""

import numpy as np

from tractable.arrays.limits import power_of_two
from tractable.arrays.numbers import check_number
from tractable.primitives.threads import blas_for_rows
from tractable.value import value

#: Up to so many points all eigenvalues are computed; of more the largest alone, by Lanczos' method.
DENSE = 400

#: Components that may be asked for beyond the number of points; their coordinates are zeros.
MOST_COMPONENTS = 65_536

#: Eigenvalues below this fraction of the largest are rounding.
NEGLIGIBLE = 1e-12


@value
class ScaledPoints:
    """Points from distances, and what it takes to add further points.

    Parameters
    ----------
    points : array (n, p)
        Coordinates along the principal axes, of weighted mean zero; zero along axes with no extent.
    eigenvalues : array (p,)
        The largest of W^½ B W^½, in falling order: Σ_i w_i z_i² along each axis; those that are not
        positive belong to axes that no points in a Euclidean space have.
    mean_squares : array (n,)
        The weighted mean of the squared distances of each point.
    weights : array (n,)
        How often each point counts.
    """

    points: np.ndarray
    eigenvalues: np.ndarray
    mean_squares: np.ndarray
    weights: np.ndarray

    def embed(self, squared: np.ndarray) -> np.ndarray:
        """Return the coordinates of further points, given their squared distances (m, n) from all points.

        z = ½ Λ⁻¹ Zᵀ W (μ - d²), Gower (1968), with μ the mean squares: the projection, on the axes, of a
        point that has these distances. A point of the map is placed where it is.
        """
        size = np.max(self.eigenvalues, initial=0.0)
        extent = np.where(self.eigenvalues > NEGLIGIBLE * size, self.eigenvalues, np.inf)
        axes = 0.5 * self.weights[:, None] * self.points / extent
        return (self.mean_squares - squared) @ axes


def classical_scaling(
    squared: np.ndarray, n_components: int, weights: np.ndarray | None = None
) -> ScaledPoints:
    """Return points from the squares of their distances, by the eigenvectors of B = -½ J D² Jᵀ.

    J = I - 1 wᵀ/Σw centres. Where distances are Euclidean, B_ij is the inner product of centred points, and
    their principal components are the result (Torgerson 1952); other distances have negative eigenvalues too,
    and the points are those of the positive ones. Each axis is turned so that its largest coordinate is
    positive.

    Parameters
    ----------
    squared : array (n, n)
        D², symmetric.
    n_components : int
        The dimension of the points; axes beyond n are zero.
    weights : array (n,), optional
        How often each point counts, positive.

    Examples
    --------
    >>> line = np.array([0.0, 1.0, 3.0])
    >>> found = classical_scaling((line[:, None] - line) ** 2, 1)
    >>> found.points.ravel().round(4).tolist(), found.eigenvalues.round(4).tolist()
    ([-1.3333, -0.3333, 1.6667], [4.6667])
    >>> found.embed(np.array([[4.0, 1.0, 1.0]])).round(4).tolist()  # the point 2
    [[0.6667]]
    """
    n = len(squared)
    check_number("n_components", n_components, least=1, most=max(n, MOST_COMPONENTS), whole=True)
    w = np.ones(n) if weights is None else weights
    root, mean_squares = np.sqrt(w), squared @ w / w.sum()
    kept = min(n_components, n)
    with blas_for_rows(n):
        if n <= max(DENSE, 4 * kept):
            inner = squared - mean_squares - mean_squares[:, None] + w @ mean_squares / w.sum()
            values, vectors = np.linalg.eigh(-0.5 * root[:, None] * inner * root)
            values, vectors = values[::-1][:kept], vectors[:, ::-1][:, :kept]
        else:
            values, vectors = _largest(squared, w, kept)
    extent = np.where(values > NEGLIGIBLE * max(values[0], 0.0), values, 0.0)
    points = vectors * np.sqrt(extent) / root[:, None]
    far = np.argmax(np.abs(points), axis=0)
    points = points * np.where(points[far, np.arange(kept)] < 0.0, -1.0, 1.0)
    beyond = n_components - kept
    return ScaledPoints(
        points=np.pad(points, ((0, 0), (0, beyond))),
        eigenvalues=np.pad(values, (0, beyond)),
        mean_squares=mean_squares,
        weights=w,
    )


def _largest(squared: np.ndarray, w: np.ndarray, kept: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of W^½ B W^½, in falling order, and their vectors; B is never formed."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    root, total, unit = np.sqrt(w), w.sum(), power_of_two(float(squared.max()))

    def multiply(v: np.ndarray) -> np.ndarray:
        v = root * np.ravel(v)
        u = squared @ (v - w * (v.sum() / total))
        return root * (u - w @ u / total) * (-0.5 / unit)

    operator = LinearOperator(squared.shape, multiply, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(len(w))
    values, vectors = eigsh(operator, kept, which="LA", v0=start, tol=1e-10)
    order = np.argsort(values)[::-1]
    return values[order] * unit, vectors[:, order]
