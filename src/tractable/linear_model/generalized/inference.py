"""Robust covariances and the influence of rows, of fitted generalised linear models: passes over the rows."""

from typing import Any

import numpy as np

from tractable.data import Source
from tractable.engines.glm.losses import FamilyLoss, NegativeBinomial, Scaling, design
from tractable.regression_tables import Influence, products_of_scores, sandwich, squared_factor
from tractable.value import value


@value
class RowScores:
    """Gradients of the log-likelihood of rows at the fit, at a dispersion of one, with their leverages.

    Parameters
    ----------
    loss : FamilyLoss
        Minus the log-likelihood.
    coef : array (p,)
        Of standardised columns.
    scaling : shift and scale (d,)
        Of the columns.
    root : array (p, r)
        G with G Gᵀ the inverse of the curvature of minus the log-likelihood, of coefficients at a dispersion
        of one.
    joint_root : array (p, r), or (p + 1, r + 1) with `learned`
        The same of all parameters.
    kind : {"HC0", "HC1", "HC2", "HC3", "clustered"}
        The covariance whose factors the scores have.
    learned : bool
        Whether the logarithm of the dispersion of a `NegativeBinomial` is the last of the parameters.
    """

    loss: FamilyLoss
    coef: np.ndarray
    scaling: Scaling
    root: np.ndarray
    joint_root: np.ndarray
    kind: str = "HC0"
    learned: bool = False

    def __call__(self, x: Any, targets: Any) -> np.ndarray:
        z, y, eta = self._rows(x, targets)
        found = self.loss.terms(eta, y)
        kind = "HC0" if self.kind == "clustered" else self.kind
        factor = np.sqrt(squared_factor(kind, self._leverage(z, found.curvature)))
        scores = -found.slope[:, None] * z
        if self.learned and isinstance(self.loss, NegativeBinomial):
            scores = np.column_stack([scores, -self.loss.dispersion_terms(eta, y)[1]])
        return factor[:, None] * scores

    def influence(self, x: Any, targets: Any, *, dispersion: float) -> Influence:
        """Return the influence of rows by one Newton step without each (Pregibon)."""
        z, y, eta = self._rows(x, targets)
        mean = self.loss.mean(eta)
        residuals = (y - mean) / np.sqrt(dispersion * self.loss.variance(mean))
        leverage = self._leverage(z, self.loss.terms(eta, y).curvature)
        return Influence.of(residuals, leverage, n_parameters=self.root.shape[1])

    def _rows(self, x: Any, targets: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        z = design(np.asarray(x, dtype=np.float64), self.scaling, len(self.coef))
        y, offset = self.loss.targets(np.asarray(targets, dtype=np.float64))
        return z, y, z @ self.coef + (0.0 if offset is None else offset)

    def _leverage(self, z: np.ndarray, curvature: np.ndarray) -> np.ndarray:
        return np.minimum(curvature * np.sum((z @ self.root) ** 2, axis=1), 1.0)


def robust_covariance(of: RowScores, data: Source, clusters: Any, *, n_rows: float) -> tuple[np.ndarray, Any]:
    """Return the sandwich of the coefficients of standardised columns, and the number of clusters.

    Parameters
    ----------
    of : RowScores
        Of the fit.
    data : Source
        The rows of the fit.
    clusters : array (n,) or None
        Which cluster each row belongs to.
    n_rows : float
        n, as frequencies count the rows.
    """
    p, width = of.root.shape[1], len(of.coef)
    if not n_rows > p:
        raise ValueError(f"X must have more rows than the {p} parameters for a robust covariance")
    products, n_clusters = products_of_scores(of, data, clusters)
    sizes: Any = {"n_rows": n_rows, "n_parameters": p, "n_clusters": n_clusters}
    found = sandwich(of.joint_root @ of.joint_root.T, products, kind=of.kind, **sizes)
    return found[:width, :width], n_clusters
