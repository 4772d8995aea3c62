"""Directions that tell classes apart: between them far, within them near."""

import numpy as np

from tractable.arrays.linalg import solve_triangular
from tractable.base import NotYetDetermined
from tractable.covariance import Full
from tractable.value import value

__all__ = ["Directions", "discriminant_directions"]


@value
class Directions:
    """Axes of the space in which classes differ, the best first."""

    centre: np.ndarray  # (d,), what is subtracted first
    axes: np.ndarray  # (d, m), m ≤ min(K - 1, d)
    ratios: np.ndarray  # (m,), variance between classes over variance within, along each

    @property
    def shares(self) -> np.ndarray:
        """Shares of the variance between classes along each; zeros where classes do not differ."""
        total = self.ratios.sum()
        return self.ratios / (total if total > 0 else 1.0)

    def check_components(self, n_components: int | None, n_classes: int) -> None:
        """Refuse to keep more directions than there are."""
        dim, most = self.axes.shape
        if n_components is not None and n_components > most:
            raise NotYetDetermined(
                f"n_components={n_components} is more than min(n_classes - 1, n_features) = {most}: "
                f"y has {n_classes} class{'' if n_classes == 1 else 'es'}, X {dim} columns"
            )


def discriminant_directions(means: np.ndarray, shares: np.ndarray, within: Full) -> Directions:
    """Return the directions w of greatest wᵀ S_B w / wᵀ S_W w, of unit variance within classes.

    In coordinates in which S_W is the identity they are the principal axes of the class means. Each is turned
    so that its largest entry there is positive; directions in which means do not differ come last.

    Parameters
    ----------
    means : array (K, d)
    shares : array (K,)
        How much each class counts for S_B = Σ_k π_k (m_k - m)(m_k - m)ᵀ.
    within : Full
        S_W, the covariance within classes.

    Examples
    --------
    >>> found = discriminant_directions(np.array([[0.0, 0.0], [4.0, 0.0]]), np.array([0.5, 0.5]),
    ...                                 Full(matrix=np.diag([4.0, 1.0])))
    >>> found.axes.tolist(), found.ratios.round(12).tolist()
    ([[0.5], [0.0]], [1.0])
    """
    first = means[int(np.argmax(shares))]
    centre = first + shares @ (means - first)
    white = within.whiten(means - centre)
    most = min(len(means) - 1, means.shape[1])
    _, singular, axes = np.linalg.svd(np.sqrt(shares)[:, None] * white, full_matrices=False)
    axes = axes[:most]
    largest = np.argmax(np.abs(axes), axis=1)[:, None]
    axes = axes * np.where(np.take_along_axis(axes, largest, axis=1) < 0, -1.0, 1.0)
    back = solve_triangular(within.cholesky, axes.T, transposed=True)
    return Directions(centre=centre, axes=back, ratios=singular[:most] ** 2)
