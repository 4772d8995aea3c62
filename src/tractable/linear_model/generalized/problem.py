"""The likelihood of a generalised linear model over a source of rows, and the search for its maximum."""

from functools import cached_property, partial
from typing import Any

import numpy as np

from tractable.arrays.limits import check_squarable, reciprocals
from tractable.arrays.linalg import symmetrize
from tractable.data import Batch, Source
from tractable.data.arrays import ArraySource
from tractable.data.blocks import sum_of_squares
from tractable.data.dispatch import sample_rows
from tractable.engines.fold import fold
from tractable.engines.glm.families import (
    Family,
    FamilyFit,
    NegativeBinomialFamily,
    PoissonFamily,
    expand_rows,
    split_rows,
    tiles,
)
from tractable.engines.glm.losses import LossExpansion, Scaling
from tractable.engines.newton import NewtonResult, newton
from tractable.statistics import DiagonalMoments, Standardizer
from tractable.value import replace, value

#: Rows of a block.
BLOCK = 2**15
#: Rows whose maximum is where the search over all rows starts, where there are this many times as many.
SAMPLE, MANY = 20_000, 5
#: Tolerance and most steps of the search over the sample.
ROUGH, FEW = 1e-4, 20
#: Curvatures this small, times their number and the machine's rounding, are no curvature.
LOST = 10.0
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
        x, y, exposure, w = split_rows(x, given, weights)
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
class FamilyProblem:
    """Minus the log-likelihood and the penalty over the weight of the rows, of standardized columns."""

    data: Source  # targets (n,), or with exposures (n, 2)
    family: Family
    standardizer: Standardizer
    weight: float
    alpha: float
    has_intercept: bool
    start: float  # the linear predictor of the mean of all rows

    @property
    def scaling(self) -> Scaling:
        """Shift and scale of the columns."""
        return self.standardizer.shift, self.standardizer.scale

    @cached_property
    def ridge(self) -> np.ndarray:
        """Penalty weights of squares, (p,); zero for the intercept."""
        with np.errstate(over="ignore", under="ignore"):
            penalty = np.minimum(self.alpha * self.standardizer.scale**2, 1e300)
        return np.append(np.zeros(int(self.has_intercept)), penalty)

    def expand(self, coef: np.ndarray, *, family: Any = None, **options: Any) -> LossExpansion:
        """Return the expansion of the objective: one pass over all rows."""
        of = partial(expand_rows, family=family or self.family, coef=coef, scaling=self.scaling, **options)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            found: LossExpansion = fold(of, self.data, rows=BLOCK, label="generalised linear model")
        return LossExpansion(
            value=found.value / self.weight,
            gradient=found.gradient / self.weight,
            curvature=np.asarray(found.curvature) / self.weight,
        )

    def fit_summary(self, coef: np.ndarray) -> FamilyFit:
        """Return deviance, information and log-likelihood at coefficients: one pass."""
        of = partial(FamilyFit.of, family=self.family, coef=coef, scaling=self.scaling)
        return fold(of, self.data, rows=BLOCK)

    @cached_property
    def sample(self) -> Source:
        """Rows drawn uniformly, at most `SAMPLE`."""
        rng, data = np.random.default_rng(0), self.data
        if isinstance(data, ArraySource):
            chosen = np.sort(rng.choice(data.n_rows, SAMPLE, replace=False, shuffle=False))
            w = None if data.weights is None else data.weights[chosen]
            return ArraySource(X=data.X[chosen], y=data.y[chosen], weights=w)  # type: ignore[index]
        beside = data.map(_append_targets, n_features=data.n_features + 2)
        both, w = sample_rows(beside, None, SAMPLE, rng)
        return ArraySource(X=both[:, :-2], y=both[:, -2:], weights=w)


def maximize(problem: FamilyProblem, *, tol: float, max_iter: int) -> NewtonResult:
    """Return the coefficients of the largest penalised likelihood, by Newton's method.

    Of many rows the search starts from the maximum of a sample.
    """
    start = np.zeros(len(problem.ridge))
    if problem.has_intercept:
        start[0] = problem.start
    n_rows = problem.data.n_rows
    if n_rows is not None and n_rows > MANY * SAMPLE:
        part = replace(problem, data=problem.sample)
        weight = float(np.sum(part.data.collect().row_weights))
        if weight > 0.0:
            part = replace(part, weight=weight)
            with np.errstate(over="ignore"):
                start = _search(part, _feasible(part, start), tol=ROUGH, max_iter=FEW).x
    return _search(problem, _feasible(problem, start), tol=tol, max_iter=max_iter)


def _feasible(problem: FamilyProblem, start: np.ndarray) -> np.ndarray:
    """Return a start with positive means; without an intercept and a logarithm, by least squares of 1/y."""
    if problem.family.link == "log" or (problem.has_intercept and not np.any(start[1:])):
        return start
    if np.isfinite(problem.expand(start).value):
        return start
    of = partial(_reciprocal_moments, width=len(start), scaling=problem.scaling)
    gram, cross = fold(of, problem.data, rows=BLOCK)[:, :-1], fold(of, problem.data, rows=BLOCK)[:, -1]
    found = _pseudo_solver(gram)(cross)
    if not np.isfinite(problem.expand(found).value):
        raise ValueError(
            'X and y: no start was found with positive means of all rows for link="inverse"; '
            'fit_intercept=True or link="log" has one'
        )
    return found


def _search(problem: FamilyProblem, start: np.ndarray, *, tol: float, max_iter: int) -> NewtonResult:
    ridge = problem.ridge

    def objective(coef: np.ndarray) -> tuple[Any, ...]:
        found = problem.expand(coef)
        value = found.value + 0.5 * float(np.sum(ridge * coef * coef))
        hessian = found.curvature + np.diag(ridge)
        if not np.all(np.isfinite(hessian)):
            return np.inf, found.gradient, hessian
        return value, found.gradient + ridge * coef, _pseudo_solver(hessian)

    return newton(objective, start, tol=tol, max_iter=max_iter)


def maximize_jointly(
    problem: FamilyProblem, poisson: NewtonResult, dispersion: float, *, tol: float, max_iter: int
) -> tuple[NewtonResult, NegativeBinomialFamily]:
    """Return coefficients and dispersion of the largest likelihood of negative binomial counts.

    The last of the parameters is the logarithm of the dispersion; the search starts at the coefficients of
    Poisson counts and a dispersion by moments.
    """
    ridge = np.append(problem.ridge, 0.0)

    def objective(parameters: np.ndarray) -> tuple[Any, ...]:
        coef, log_dispersion = parameters[:-1], float(np.clip(parameters[-1], *LOG_DISPERSION))
        family = NegativeBinomialFamily(dispersion=float(np.exp(log_dispersion)))
        found = problem.expand(coef, family=family, learn_dispersion=True)
        value = found.value + 0.5 * float(np.sum(ridge * parameters * parameters))
        gradient = found.gradient + ridge * parameters
        hessian = found.curvature + np.diag(ridge)
        if not np.all(np.isfinite(hessian)):
            return np.inf, gradient, hessian
        return value, gradient, _pseudo_solver(hessian)

    start = np.append(poisson.x, np.clip(np.log(dispersion), *LOG_DISPERSION))
    found = newton(objective, start, tol=tol, max_iter=max_iter)
    family = NegativeBinomialFamily(dispersion=float(np.exp(np.clip(found.x[-1], *LOG_DISPERSION))))
    return found, family


def without_columns(problem: FamilyProblem) -> FamilyProblem:
    """Return the problem of the intercept alone."""
    return replace(
        problem,
        data=problem.data.map(_without_columns, n_features=0),
        standardizer=Standardizer.identity(0),
        has_intercept=True,
        alpha=0.0,
    )


def null_deviance(problem: FamilyProblem, summary: TargetSummary) -> float:
    """Return the deviance of the model without columns, whose intercept is free; the exposures stay."""
    family = problem.family
    if isinstance(family, PoissonFamily):
        mean = summary.total / summary.exposure
    else:
        mean = summary.ratio / summary.weight
    eta = np.array([np.log(mean) if family.link == "log" else 1.0 / mean])
    if summary.has_exposure and isinstance(family, NegativeBinomialFamily):
        eta = _search(without_columns(problem), eta, tol=1e-12, max_iter=50).x
    of = partial(_deviance, family=family, mean=eta)
    return float(fold(of, problem.data, rows=BLOCK))


def _deviance(x: Any, targets: Any, weights: Any = None, *, family: Family, mean: np.ndarray) -> float:
    _, y, exposure, w = split_rows(x, targets, weights)
    found = family.deviance(y, family.mean(np.full(len(y), mean[0]), exposure))
    return float(np.sum(found) if w is None else w @ found)


def _reciprocal_moments(
    x: Any, targets: Any, weights: Any = None, *, width: int, scaling: Scaling
) -> np.ndarray:
    """Return Σ w z zᵀ and, in one more column, Σ w z / y."""
    x, y, _, w = split_rows(x, targets, weights)
    found = np.zeros((width, width + 1))
    for part, z in tiles(x, scaling, width):
        one = np.ones(len(z)) if w is None else w[part]
        found += (z * one[:, None]).T @ np.column_stack([z, 1.0 / y[part]])
    return found


def _pseudo_solver(hessian: np.ndarray) -> Any:
    """Return a function that solves with a curvature, whose directions without any are left out."""
    size = np.sqrt(np.abs(np.diagonal(hessian)))
    size = np.where(size > 0.0, size, 1.0)
    values, vectors = np.linalg.eigh(symmetrize(hessian / size / size[:, None]))
    sizes = np.abs(values)
    some = sizes > LOST * len(values) * _EPS * np.max(sizes, initial=0.0)
    kept, inverse = vectors[:, some], 1.0 / sizes[some]
    return lambda g: (kept @ (inverse * (kept.T @ (g / size)))) / size


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


def separating_direction(problem: FamilyProblem, found: NewtonResult) -> np.ndarray | None:
    """Return a direction along which the likelihood of counts grows for ever, or None.

    No row with a positive count has a component along it, and some rows of zero counts have, all of one sign:
    their means go to zero. A search without a maximum moves along such a direction at a constant speed, while
    the curvature along it vanishes.
    """
    step = found.curvature(found.gradient)[: len(problem.ridge)]
    size = float(np.linalg.norm(step))
    if size < MOVING:
        return None
    of = partial(_Reach.of, direction=-step / size, width=len(step), scaling=problem.scaling)
    reach: _Reach = fold(of, problem.data, rows=BLOCK)
    return -step / size if reach.separates else None


#: A Newton step of this length, in standardized columns, at a converged point: the search goes on for ever.
MOVING = 1e-2
#: Components along a direction, relative to those of zero counts, that are rounding or still shrinking.
NEAR = 1e-3


@value
class _Reach:
    """Extreme components of rows along a direction, of positive counts and of zero counts; they add."""

    positive: float  # largest |component| of rows with a positive count
    low: float  # smallest component of rows with a count of zero
    high: float  # largest

    @classmethod
    def of(
        cls,
        x: Any,
        targets: Any,
        weights: Any = None,
        *,
        direction: np.ndarray,
        width: int,
        scaling: Scaling,
    ) -> "_Reach":
        x, y, _, _ = split_rows(x, targets, weights)
        along = np.concatenate([np.zeros(0), *(z @ direction for _, z in tiles(x, scaling, width))])
        none = along[y == 0.0]
        return cls(
            positive=float(np.max(np.abs(along[y > 0.0]), initial=0.0)),
            low=float(np.min(none, initial=0.0)),
            high=float(np.max(none, initial=0.0)),
        )

    def __add__(self, other: "_Reach") -> "_Reach":
        return _Reach(
            positive=max(self.positive, other.positive),
            low=min(self.low, other.low),
            high=max(self.high, other.high),
        )

    @property
    def separates(self) -> bool:
        """Whether means of zero counts alone go to zero along the direction."""
        return self.low < 0.0 and max(self.positive, self.high) <= NEAR * -self.low


def _append_targets(batch: Batch) -> Batch:
    """Return a batch whose last columns are the target and the exposure."""
    y = np.asarray(batch.y, dtype=np.float64)
    y = y if y.ndim == 2 and y.shape[1] == 2 else np.column_stack([y, np.ones(len(y))])
    return Batch(X=np.column_stack([batch.X, y]), weights=batch.weights)


def _without_columns(batch: Batch) -> Batch:
    return replace(batch, X=np.empty((batch.n_rows, 0)))
