"""Laplace's approximation of the posterior of planes: a Gaussian at the mode, by the curvature there."""

from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from tractable.arrays.linalg import cholesky
from tractable.arrays.log_space import LOG_2PI
from tractable.classification.labelled_rows import LabelledRows
from tractable.engines import newton
from tractable.engines.glm.losses import LinkExpansion, Logit, Probit
from tractable.statistics import DiagonalMoments
from tractable.value import value

__all__ = ["LaplacePosterior", "PlaneProblem", "laplace", "most_evident"]

#: How small and how large the precision may become, in standardised columns.
LEAST, MOST = 1e-8, 1e12


@value
class PlaneProblem:
    """Rows of known classes, in standardised columns, and the losses of planes over them.

    Two classes have one plane; K > 2 have K - 1 contrasts, orthonormal combinations of the planes of all
    classes, which sum to zero.

    Parameters
    ----------
    rows : LabelledRows
    link : Logit or Probit
    centre, scale : array (d,)
        Columns are (x - centre) / scale.
    located : bool
        Whether planes have an intercept.
    contrasts : array (K, m)
        The planes of the classes, by those that are searched; for two classes a plane and nothing.
    """

    rows: LabelledRows
    link: Logit | Probit
    centre: np.ndarray
    scale: np.ndarray
    located: bool
    contrasts: np.ndarray

    @classmethod
    def of(cls, rows: LabelledRows, *, link: str, fit_intercept: bool) -> "PlaneProblem":
        """Learn the units of the columns in a pass over the rows."""
        moments = rows.fold(_moments)
        spread = np.sqrt(np.asarray(moments.scatter / moments.weight))
        centre = np.asarray(moments.mean)
        if not fit_intercept:
            spread, centre = np.hypot(spread, centre), np.zeros_like(centre)
        # What is constant up to rounding has no spread of its own.
        flat = spread <= 1e-14 * np.abs(moments.mean)
        scale = np.where(flat, np.where(moments.mean == 0.0, 1.0, np.abs(moments.mean)), spread)
        classes = Logit.of(len(rows.classes), free=False)
        return cls(
            rows=rows,
            link=classes if link == "logit" else Probit(),
            centre=centre,
            scale=scale,
            located=fit_intercept,
            contrasts=classes.mix,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of planes searched, and of the entries of each."""
        return self.contrasts.shape[1], len(self.centre) + int(self.located)

    def expand(self, b: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the loss of planes b (m p,), its gradient and its Hessian: one pass over the rows."""
        units = self.centre, 1.0 / self.scale
        of = partial(LinkExpansion.of, link=self.link, units=units, free=b.reshape(self.shape))
        found = self.rows.fold(of)
        return found.value, found.gradient, found.curvature


@value
class LaplacePosterior:
    """N(mode, H⁻¹) of planes in standardised columns, H the Hessian of -log posterior at its mode.

    Parameters
    ----------
    mode : array (m p,)
    root : array (m p, m p)
        G with G Gᵀ = H⁻¹.
    price : array (m p,)
        The prior's precisions; zero for intercepts, of which nothing is believed.
    log_evidence : float
        log p(y | X) ≈ log p(y | mode) + log p(mode) + ½ m p log 2π - ½ log |H|; where the prior is flat its
        density is one.
    well_determined : float
        γ = Σ_j (1 - α_j Σ_jj) over the coefficients: how many of them the rows determine.
    n_iter : int
        Newton steps.
    converged : bool
    """

    mode: np.ndarray
    root: np.ndarray
    price: np.ndarray
    log_evidence: float
    well_determined: float
    n_iter: int
    converged: bool


def laplace(
    problem: PlaneProblem, precision: np.ndarray, start: np.ndarray | None = None, *, max_iter: int = 100
) -> LaplacePosterior:
    """Find the mode of the posterior by Newton's method, and the Gaussian there.

    Parameters
    ----------
    problem : PlaneProblem
    precision : array (d,)
        Of the coefficients, in standardised columns.
    start : array (m p,), optional
    """
    m, p = problem.shape
    price = np.tile(np.append(np.zeros(p - len(precision)), precision), m)

    def objective(b: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        loss, gradient, hessian = problem.expand(b)
        return loss + 0.5 * float(price @ b**2), gradient + price * b, hessian + np.diag(price)

    first = np.zeros(m * p) if start is None else start
    found = newton(objective, first, tol=1e-13, max_iter=max_iter, vanishing=True)
    try:
        lower = cholesky(found.curvature)
    except ValueError:
        raise ValueError(
            "alpha is too small for X and y: the classes are told apart so well, or columns follow from each "
            "other so closely, that the posterior has no width in some direction that the rows know of"
        ) from None
    root = solve_triangular(lower, np.eye(m * p), lower=True).T
    told = price > 0.0
    log_prior = 0.5 * float(np.sum(np.log(price[told]) - LOG_2PI))
    # (Σ H)_jj of the rows' part of H, which is 1 - α Σ_jj without cancellation.
    known = np.sum((root @ root.T) * (found.curvature - np.diag(price)), axis=1)
    log_det = 2.0 * float(np.sum(np.log(np.diagonal(lower))))
    return LaplacePosterior(
        mode=found.x,
        root=root,
        price=price,
        log_evidence=-found.value + log_prior + 0.5 * (m * p * LOG_2PI - log_det),
        well_determined=float(np.sum(known[told])),
        n_iter=found.n_iter,
        converged=found.converged,
    )


def most_evident(problem: PlaneProblem, *, max_iter: int = 100) -> LaplacePosterior:
    """Find the precision at MacKay's fixed point, α = γ / |w|², shared by all standardised columns.

    The point is where log γ - log |w|² - log α crosses zero, found by Brent's method from warm starts; where
    the rows know nothing of the coefficients it is not reached, and the largest precision is taken.
    """
    from scipy.optimize import brentq

    met: dict[float, LaplacePosterior] = {}
    latest: list[np.ndarray] = []

    def excess(log_alpha: float) -> float:
        precision = np.full(len(problem.centre), np.exp(log_alpha))
        found = laplace(problem, precision, latest[-1] if latest else None, max_iter=max_iter)
        met[log_alpha] = found
        latest.append(found.mode)
        size = float(np.sum(found.mode[found.price > 0.0] ** 2))
        if size == 0.0:
            return 1.0
        return float(np.log(found.well_determined) - np.log(size)) - log_alpha

    low, high = np.log(LEAST), np.log(MOST)
    place = 0.0
    if excess(place) > 0.0:
        low = place
        if excess(high) > 0.0:
            return met[high]
    else:
        high = place
        if excess(low) < 0.0:
            return met[low]
    place = float(brentq(excess, low, high, xtol=1e-10, rtol=1e-12))
    return met[place] if place in met else laplace(problem, np.full(len(problem.centre), np.exp(place)))


def _moments(X: Any, codes: Any, weights: Any = None) -> DiagonalMoments:  # noqa: ARG001
    return DiagonalMoments.of(X, weights)
