"""The planes between Gaussian classes that share a covariance."""

import numpy as np

from tractable.classification.priors import log_priors
from tractable.covariance import Full
from tractable.data.blocks import map_rows
from tractable.value import value

__all__ = ["Planes", "class_planes"]

#: The largest error of a log odds that planes may have; beyond, distances to each mean are taken.
LARGEST_ERROR = 1e-10


@value
class Planes:
    """Scores b_k + w_kᵀ(x - centre): log p(C_k | x) up to a number that all classes share."""

    centre: np.ndarray  # (d,)
    coef: np.ndarray  # (K, d)
    offset: np.ndarray  # (K,), the scores at the centre
    exact: bool  # whether the means are near enough for planes to keep their digits

    def named(self) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients and scores at the origin; of two classes, those of the log odds alone."""
        coef, offset = self.coef, self.offset
        if len(coef) == 2:
            coef, offset = coef[1:] - coef[:1], offset[1:] - offset[:1]
        return coef, offset - coef @ self.centre

    def scores(self, x: np.ndarray) -> np.ndarray:
        """Return the scores of rows, (n, K)."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = map_rows(lambda rows: (rows - self.centre) @ self.coef.T + self.offset, x)
            near = bool(np.isfinite(found.sum()))
        if not near:
            far = ~np.isfinite(found[:, self.offset > -np.inf]).all(axis=1)
            found[far] = self.far_scores(x[far])
        return found

    def far_scores(self, x: np.ndarray) -> np.ndarray:
        """Return the scores of rows so far away that they overflow: relative to the largest, (n, K)."""
        size = np.maximum(np.abs(x).max(axis=1), np.abs(self.centre).max())[:, None]
        steep = np.abs(self.coef).max() or 1.0
        slope = (x / size - self.centre / size) @ (self.coef / steep).T
        below = slope - slope[:, self.offset > -np.inf].max(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            return np.where(self.offset > -np.inf, below * size * steep, -np.inf) + self.offset


def class_planes(means: np.ndarray, priors: np.ndarray, within: Full) -> Planes:
    """Return the planes of Gaussian classes: w_k = Σ⁻¹(μ_k - c), b_k = log p(C_k) - ½ |μ_k - c|²_Σ.

    c is the mean of the means by prior: about it, rows far from the origin lose no digits.
    """
    first = means[int(np.argmax(priors))]
    centre = first + priors @ (means - first)
    distance = within.mahalanobis(means - centre)
    return Planes(
        centre=centre,
        coef=within.solve(means - centre),
        offset=log_priors(priors) - 0.5 * distance,
        exact=bool(np.finfo(np.float64).eps * np.max(distance) < LARGEST_ERROR),
    )
