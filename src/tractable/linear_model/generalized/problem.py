"""Generalised linear models as problems of linear predictors: targets, dispersions, deviances."""

from typing import Any

import numpy as np

from tractable.arrays.limits import check_squarable, reciprocals
from tractable.arrays.linalg import product, symmetrize
from tractable.data import Batch, Source
from tractable.data.blocks import sum_of_squares
from tractable.engines.fold import fold
from tractable.engines.glm.losses import FamilyLoss, LossExpansion, NegativeBinomial, Poisson, Scaling, design
from tractable.engines.glm.problem import BLOCK, LOST, Curvature, LinearPredictorProblem, Penalty
from tractable.engines.glm.search import minimize
from tractable.engines.newton import NewtonResult, newton
from tractable.statistics import DiagonalMoments, Standardizer
from tractable.statistics.rows import counts
from tractable.value import parameters, replace, value

#: Bounds of the logarithm of a dispersion that is learned.
LOG_DISPERSION = (-30.0, 30.0)
_EPS = float(np.finfo(np.float64).eps)


@value
class TargetSummary:
    """Moments of the columns, and sums of targets and exposures; they add."""

    moments: DiagonalMoments
    weight: float
    least: float  # the smallest target
    most: float  # the largest
    total: float  # Σ w y
    exposure: float  # Σ w e
    ratio: float  # Σ w y / e
    has_exposure: bool
    wrong_exposure: bool

    @classmethod
    def of(cls, x: Any, targets: Any, weights: Any = None) -> "TargetSummary":
        """Summarise a block of rows."""
        if targets is None:
            raise ValueError("y is missing: the source has no target; name its column")
        given = np.asarray(targets, dtype=np.float64)
        if given.ndim == 2 and given.shape[1] > 2:
            raise ValueError(
                f"y must be one target, or two columns, the target and its exposure; got {given.shape[1]}"
            )
        _check_block(x, given)
        x, y, exposure, w = _targets(x, given, weights)
        one = np.ones(len(y)) if w is None else w
        positive = exposure > 0.0
        return cls(
            moments=DiagonalMoments.of(x, w),
            weight=float(np.sum(one)),
            least=float(np.min(y, initial=np.inf)),
            most=float(np.max(y, initial=-np.inf)),
            total=float(one @ y),
            exposure=float(one @ exposure),
            ratio=float(one @ (y / np.where(positive, exposure, 1.0))),
            has_exposure=given.ndim == 2 and given.shape[1] == 2,
            wrong_exposure=not bool(np.all(positive)),
        )

    def __add__(self, other: "TargetSummary") -> "TargetSummary":
        sums = ("moments", "weight", "total", "exposure", "ratio")
        return TargetSummary(
            least=min(self.least, other.least),
            most=max(self.most, other.most),
            has_exposure=self.has_exposure or other.has_exposure,
            wrong_exposure=self.wrong_exposure or other.wrong_exposure,
            **{name: getattr(self, name) + getattr(other, name) for name in sums},
        )

    def standardizer(self, *, centered: bool) -> Standardizer:
        """Return the standardizer of the columns, with the scale 0 for constant ones."""
        found = Standardizer.from_moments(self.moments)
        stddev = np.sqrt(self.moments.scatter / self.moments.total)
        shift, varies = found.shift, found.varies
        if not centered:
            stddev = np.hypot(stddev, shift)
            shift, varies = np.zeros_like(shift), stddev > 0.0
        scale = np.where(varies, reciprocals(np.where(varies, stddev, 1.0)), 0.0)
        return Standardizer(shift=shift, scale=scale, varies=varies)


def _check_block(x: Any, y: np.ndarray) -> None:
    """Refuse NaN, infinity and numbers too large to square, in a block of a stream."""
    for name, part in (("X", x), ("y", y)):
        squares = sum_of_squares(np.asarray(part))
        if np.isnan(squares):
            raise ValueError(f"{name} contains NaN or infinity: leave out the rows with missing entries")
        if not np.isfinite(squares):
            check_squarable(name, np.asarray(part))


def summarize_targets(data: Source, *, positive: bool) -> TargetSummary:
    """Return the summary of all rows, or refuse targets, exposures and weights that no model here has."""
    found: TargetSummary = fold(TargetSummary.of, data, rows=BLOCK)
    if not found.weight > 0.0:
        raise ValueError("sample_weight must have a positive entry, all are zero")
    check_squarable("sample_weight", found.weight)
    check_squarable("sample_weight", min(found.weight, 1.0), nonzero=True)
    check_squarable("y", found.most)
    if found.wrong_exposure:
        raise ValueError("exposure must be positive and finite: a row has an exposure of zero or less")
    if found.least < 0.0:
        raise ValueError(f"y must not be negative: it has the entry {found.least:g}")
    if positive and found.least == 0.0:
        raise ValueError("y must be positive for a gamma distribution: it has the entry 0")
    if found.most == 0.0:
        raise ValueError("y is 0 in every row: the mean has no logarithm, and coefficients no estimate")
    return found


@value
class FamilyFit:
    """What the rows say of fitted means: sums over rows, which add."""

    deviance: float
    pearson: float  # Σ (y - μ)² / V(μ)
    log_saturated: float  # the log-likelihood at μ = y, at a dispersion of one
    excess: float  # Σ (y - μ)² - y, by which counts vary more than Poisson's
    squares: float  # Σ μ²
    information: np.ndarray  # (p, p), Fisher's, of the coefficients at a dispersion of one

    @classmethod
    def of(
        cls,
        x: Any,
        targets: Any,
        weights: Any = None,
        *,
        loss: FamilyLoss,
        coef: np.ndarray,
        scaling: Scaling,
    ) -> "FamilyFit":
        """Sum over a block of rows.

        Parameters
        ----------
        x, targets, weights, loss, coef, scaling
            As in `LossExpansion.of`; the coefficients are (1, p).
        """
        sums, saturated, p = np.zeros(4), 0.0, coef.shape[1]
        information = np.zeros((p, p))
        for z, eta, own, w in loss.parts(x, targets, weights, scaling, coef):
            mean = loss.mean(eta)
            one = counts(w, own)
            square = (own - mean) ** 2
            # A mean may be so small that it is zero, as is the count.
            relative = np.divide(square, loss.variance(mean), out=np.zeros_like(square), where=square > 0.0)
            sums += [
                one @ loss.deviance(own, mean),
                one @ relative,
                one @ (square - own),
                one @ (mean * mean),
            ]
            bend = one * loss.expected_curvature(eta)
            information += product((z * bend[:, None]).T, z)
            saturated += float(one @ loss.saturated(own))
        deviance, pearson, excess, squares = (float(part) for part in sums)
        return cls(
            deviance=deviance,
            pearson=pearson,
            log_saturated=saturated,
            excess=excess,
            squares=squares,
            information=information,
        )

    def __add__(self, other: "FamilyFit") -> "FamilyFit":
        mine, theirs = parameters(self), parameters(other)
        return FamilyFit(**{name: part + theirs[name] for name, part in mine.items()})


def _targets(x: Any, targets: Any, weights: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return rows that count, their targets, exposures (ones where there are none) and weights, (n,) each."""
    given = np.asarray(targets, dtype=np.float64)
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    if w is not None and not np.all(w > 0.0):
        some = w > 0.0
        x, given, w = x[some], given[some], w[some]
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim == 1:
        return x, given, np.broadcast_to(1.0, given.shape), w
    return x, given[:, 0], given[:, 1], w


@value
class FamilyProblem(LinearPredictorProblem):
    """Minus the log-likelihood and the penalty over the weight of the rows, of standardized columns.

    Targets are (n,), or (n, 2) with exposures.
    """

    loss: FamilyLoss
    start: float  # the linear predictor of the mean of all rows

    def fit_summary(self, coef: np.ndarray) -> FamilyFit:
        """Return deviance, information and log-likelihood at coefficients (p,): one pass."""
        return self.reduce(FamilyFit.of, loss=self.loss, coef=coef[None, :])

    def feasible(self, coef: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Return coefficients that give all rows positive means, where the link does not."""
        if self.loss.link == "log" or np.isfinite(self.expansion(coef, curvature=None).value):
            return coef
        return otherwise


def maximize(problem: FamilyProblem, *, tol: float, max_iter: int) -> NewtonResult:
    """Return the coefficients (p,) of the largest penalised likelihood, by Newton's method."""
    start = np.zeros(problem.shape)
    if problem.has_intercept:
        start[0, 0] = problem.start
    elif problem.loss.link != "log":
        start = _least_squares_of_inverses(problem, start)
    found = minimize(problem, start, tol=tol, max_iter=max_iter)
    return replace(found, x=found.x[0], gradient=found.gradient[0])


def _least_squares_of_inverses(problem: FamilyProblem, start: np.ndarray) -> np.ndarray:
    """Return a start with positive means, without an intercept and a logarithm."""
    moments = problem.reduce(_reciprocal_moments, width=start.shape[1])
    found = Curvature(hessian=moments[:, :-1])(moments[:, -1])[None, :]
    if not np.any(problem.feasible(found, start)):
        raise ValueError(
            'X and y: no start was found with positive means of all rows for link="inverse"; '
            'fit_intercept=True or link="log" has one'
        )
    return found


def maximize_jointly(
    problem: FamilyProblem, poisson: NewtonResult, dispersion: float, *, tol: float, max_iter: int
) -> tuple[NewtonResult, NegativeBinomial]:
    """Return coefficients and dispersion of the largest likelihood of negative binomial counts.

    The last of the parameters is the logarithm of the dispersion; the search starts at the coefficients of
    Poisson counts and a dispersion by moments.
    """
    ridge = np.append(problem.ridge, 0.0)

    def at(parameters: np.ndarray) -> NegativeBinomial:
        return NegativeBinomial(dispersion=float(np.exp(np.clip(parameters[-1], *LOG_DISPERSION))))

    def objective(parameters: np.ndarray) -> tuple[Any, ...]:
        found = joint_expansion(problem, parameters[:-1], at(parameters))
        value = float(found.value) + 0.5 * float(np.sum(ridge * parameters * parameters))
        hessian = np.asarray(found.curvature) + np.diag(ridge)
        gradient = (found.gradient[0] + ridge * parameters) / problem.weight
        if not np.all(np.isfinite(hessian)):
            return np.inf, gradient, hessian
        return value / problem.weight, gradient, Curvature(hessian=hessian / problem.weight)

    start = np.append(poisson.x, np.clip(np.log(dispersion), *LOG_DISPERSION))
    found = newton(objective, start, tol=tol, max_iter=max_iter)
    return found, at(found.x)


def joint_expansion(problem: FamilyProblem, coef: np.ndarray, loss: NegativeBinomial) -> LossExpansion:
    """Return the loss of all rows by coefficients (p,) and the logarithm of the dispersion, the last."""
    return replace(problem, loss=replace(loss, learned=True)).expansion(coef[None, :])


def without_columns(problem: FamilyProblem) -> FamilyProblem:
    """Return the problem of the intercept alone."""
    return replace(
        problem,
        data=problem.data.map(_without_columns, n_features=0),
        standardizer=Standardizer.identity(0),
        has_intercept=True,
        penalty=Penalty(),
        mean_squares=1.0,
    )


def null_deviance(problem: FamilyProblem, summary: TargetSummary) -> float:
    """Return the deviance of the model without columns, whose intercept is free; the exposures stay."""
    loss = problem.loss
    mean = summary.total / summary.exposure if isinstance(loss, Poisson) else summary.ratio / summary.weight
    eta = float(np.log(mean) if loss.link == "log" else 1.0 / mean)
    if summary.has_exposure and isinstance(loss, NegativeBinomial):
        bare = replace(without_columns(problem), start=eta)
        eta = float(maximize(bare, tol=1e-12, max_iter=50).x[0])
    return float(problem.reduce(_deviance, loss=loss, eta=eta))


def _deviance(
    x: Any,
    targets: Any,
    weights: Any = None,
    *,
    loss: FamilyLoss,
    eta: float,
    scaling: Scaling,  # noqa: ARG001
) -> float:
    _, y, exposure, w = _targets(x, targets, weights)
    return float(counts(w, y) @ loss.deviance(y, loss.mean(eta + np.log(exposure))))


def _reciprocal_moments(
    x: Any, targets: Any, weights: Any = None, *, width: int, scaling: Scaling
) -> np.ndarray:
    """Return Σ w z zᵀ and, in one more column, Σ w z / y."""
    x, y, _, w = _targets(x, targets, weights)
    z = design(x, scaling, width)
    return (z * counts(w, y)[:, None]).T @ np.column_stack([z, 1.0 / y])


def curvature_root(information: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return G with G Gᵀ the (pseudo-)inverse of an information, and the directions that have none.

    Examples
    --------
    >>> root, undetermined = curvature_root(np.diag([4.0, 0.0]))
    >>> abs(root).tolist(), abs(undetermined).tolist()
    ([[0.5], [0.0]], [[0.0], [1.0]])
    """
    size = np.sqrt(np.diagonal(information))
    size = np.where(size > 0.0, size, 1.0)[:, None]
    values, vectors = np.linalg.eigh(symmetrize(information / size / size.T))
    some = values > LOST * len(values) * _EPS * np.max(values, initial=0.0)
    return vectors[:, some] / np.sqrt(values[some]) / size, vectors[:, ~some] / size


def _without_columns(batch: Batch) -> Batch:
    return replace(batch, X=np.empty((batch.n_rows, 0)))
