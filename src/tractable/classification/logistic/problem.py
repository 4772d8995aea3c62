"""Rows with codes for classes, in units in which columns have the mean 0 and the variance 1."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.linalg import jittered_cholesky, solve_cholesky
from tractable.base import Rows
from tractable.classification.labelled_rows import LabelledRows
from tractable.data import Batch, Source
from tractable.data.sample import sample_rows
from tractable.engines.glm.losses import Slope, Units, features
from tractable.engines.lbfgs import lbfgs
from tractable.engines.sparse.proximal_newton import proximal_newton
from tractable.primitives.threads import single_threaded_blas
from tractable.statistics import DiagonalMoments
from tractable.value import replace, value

__all__ = ["ClassRows", "Found", "LogisticProblem", "class_rows", "search", "solver"]

#: Rows that a thread is handed at a time.
BLOCK = 16_384
#: Rows of a block by which the middle half of a column is known, and the most that are held.
SOME, MOST = 256, 4096
#: A column whose standard deviation is this many times that of its middle half has rows far away.
FAR = 100.0
#: How far the quartiles of a Gaussian are apart, in standard deviations.
QUARTILES = 1.349


@value
class ClassRows:
    """Rows to walk: ``walk(of)`` is the sum of ``of(x, codes, weights)`` over blocks.

    Parameters
    ----------
    labelled : LabelledRows
    worth : array (K,) or None
        What rows of each class count, times their weights.
    shift, scale : arrays (d,)
        ``(x - shift) * scale`` has the mean 0 and the variance 1; of a column that never varies, 0. A column
        with rows so far away that they would hide the others has the quartiles of a Gaussian instead.
    total : array (K,)
        Weight of the rows of each class.
    """

    labelled: LabelledRows
    worth: np.ndarray | None
    shift: np.ndarray
    scale: np.ndarray
    total: np.ndarray

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known before a pass."""
        return self.labelled.rows.n_rows

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(np.sum(self.total))

    def walk(self, of: Callable[..., Any], **options: Any) -> Any:
        def block(x: Any, codes: Any, weights: Any = None) -> Any:
            return of(x, codes, self._counted(codes, weights))

        return self.labelled.fold(block, **{"rows": BLOCK, "label": "LogisticRegression", **options})

    def sample(self, n: int) -> "ClassRows":
        """Return at most n rows, each as likely as any other, whose weights add up to those of all."""
        rng, rows = np.random.default_rng(0), self.labelled.rows
        if isinstance(rows.data, Source):
            both, w = sample_rows(_WithCodes(self.labelled), None, n, rng)
            return self._scaled(both[:, :-1], both[:, -1].astype(np.int64), w)
        if len(rows.data) <= n:
            return self
        chosen = np.sort(rng.choice(len(rows.data), n, replace=False, shuffle=False))
        w = None if rows.weights is None else rows.weights[chosen]
        return self._scaled(rows.data[chosen], rows.y[chosen], w)

    def _counted(self, codes: Any, weights: Any) -> Any:
        if self.worth is None:
            return weights
        return self.worth[codes] if weights is None else self.worth[codes] * weights

    def _scaled(self, x: np.ndarray, codes: np.ndarray, weights: Any) -> "ClassRows":
        w = np.ones(len(x)) if weights is None else weights
        w = w * (self.weight / float(np.sum(self._counted(codes, w))))
        return replace(self, labelled=replace(self.labelled, rows=Rows(data=x, y=codes, weights=w)))


class _WithCodes(Source):
    """A source whose last column is the code of the class."""

    def __init__(self, labelled: LabelledRows) -> None:
        self._labelled = labelled

    @property
    def n_rows(self) -> int | None:
        return self._labelled.rows.n_rows

    @property
    def n_features(self) -> int:
        return int(self._labelled.rows.data.n_features) + 1

    @property
    def feature_names(self) -> None:
        return None

    def batches(self) -> Iterator[Batch]:
        for batch in self._labelled.batches():
            yield Batch(
                X=np.column_stack([batch.X, np.asarray(batch.y)]).astype(float), weights=batch.weights
            )


def class_rows(labelled: LabelledRows, class_weight: Any, *, located: bool) -> ClassRows:
    """Look at the rows once: return them in units of their columns."""
    k = len(labelled.classes)
    survey = labelled.fold(lambda x, y, weights=None: _Survey.of(x, y, weights, k), rows=BLOCK // 4)
    shift, scale = _units(survey, located=located)
    worth = _worth(class_weight, labelled.classes, survey.counts)
    total = survey.counts if worth is None else survey.counts * worth
    return ClassRows(labelled=labelled, worth=worth, shift=shift, scale=scale, total=total)


@value
class _Survey:
    moments: DiagonalMoments
    counts: np.ndarray
    some: np.ndarray  # a few of the rows

    @classmethod
    def of(cls, x: Any, codes: Any, weights: Any, k: int) -> "_Survey":
        seen = x if weights is None else x[weights > 0]
        return cls(
            moments=DiagonalMoments.of(x, weights),
            counts=np.bincount(codes, weights, minlength=k),
            some=np.asarray(seen[:: 1 + len(seen) // SOME], dtype=np.float64),
        )

    def __add__(self, other: "_Survey") -> "_Survey":
        some = np.concatenate([self.some, other.some])
        return _Survey(
            moments=self.moments + other.moments,
            counts=self.counts + other.counts,
            some=some if len(some) <= MOST else some[::2],
        )


def _units(survey: _Survey, *, located: bool) -> tuple[np.ndarray, np.ndarray]:
    mean = np.asarray(survey.moments.mean)
    spread = np.sqrt(survey.moments.scatter / survey.moments.total)
    low, middle, high = np.quantile(survey.some, [0.25, 0.5, 0.75], axis=0)
    with np.errstate(over="ignore"):
        half = (high - low) / QUARTILES
        far = (
            np.isfinite(half)
            & (half > 8.0 * np.finfo(np.float64).eps * np.abs(middle))
            & (spread > FAR * half)
        )
    mean, spread = np.where(far, middle, mean), np.where(far, half, spread)
    size = spread if located else np.hypot(spread, mean)
    varies = size > 8.0 * np.finfo(np.float64).eps * np.abs(mean)
    scale = np.where(varies, 1.0 / np.where(varies, size, 1.0), 0.0)
    return (mean if located else np.zeros_like(mean)), scale


def _worth(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray | None:
    """Return what rows of each class count: 1, what a dictionary says, or so much that classes are even."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.sum(counts) / (len(counts) * counts)
    if not isinstance(class_weight, Mapping):
        raise ValueError(f'class_weight must be None, "balanced" or a dictionary, got {class_weight!r}')
    unknown = [label for label in class_weight if label not in classes.tolist()]
    if unknown:
        raise ValueError(f"class_weight has the label {unknown[0]!r}, which y does not have")
    found = np.array([class_weight.get(label, 1.0) for label in classes.tolist()], dtype=np.float64)
    if not (np.all(np.isfinite(found)) and np.all(found > 0.0)):
        raise ValueError(f"class_weight must be positive numbers, got {dict(class_weight)}")
    return found


#: Rows whose curvature stands for that of all.
SAMPLE = 20_000
#: With more parameters their curvature is bounded by that of the columns alone.
MOST_PARAMETERS = 1500
#: Coordinate descent holds a square matrix of this many, at most.
MOST_SPARSE = 5000
#: A column that hardly varies in the sample is taken to curve at least by this share of the others.
LEAST_CURVATURE = 1e-3
#: Slopes below this share of the sizes of their terms are rounding.
LEAST_SHARE = 1e-8
#: The planes of a sample are wanted no more exactly than they are those of all rows.
ROUGH, FEW = 1e-5, 10


@value
class LogisticProblem:
    """Loss and penalty over the free planes, in units of the columns, divided by the weight of the rows.

    Parameters
    ----------
    rows : ClassRows
    link : Logit or Probit
    n_planes : int
    ridge, lasso : arrays (p,)
        Prices of squares and of absolute values, of the sum over rows; zero for the intercept.
    price : float
        The price of squares in the units of the columns.
    located : bool
        Whether there is an intercept: the first parameter of each plane.
    """

    rows: ClassRows
    link: Any
    n_planes: int
    ridge: np.ndarray
    lasso: np.ndarray
    price: float
    located: bool

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_planes, len(self.ridge)

    @property
    def units(self) -> Units:
        return self.rows.shift, self.rows.scale

    def objective(self, free: np.ndarray) -> tuple[float, np.ndarray]:
        """Return loss and squares, and their gradient: one pass over all rows."""
        found: Slope = self.rows.walk(lambda x, y, w: self.link.slope(x, y, w, self.units, free))
        total = self.rows.weight
        with np.errstate(over="ignore", under="ignore"):
            value = float(found.value) + 0.5 * float(np.sum(self.ridge * free * free))
            return value / total, (found.gradient + self.ridge * free) / total

    def information(self, free: np.ndarray, rows: ClassRows | None = None) -> np.ndarray:
        """Return the curvature of the loss over all rows, or some, (c p, c p): one pass."""
        walked = self.rows if rows is None else rows
        return walked.walk(lambda x, y, w: self.link.curvature(x, y, w, self.units, free))

    def hessian(self, free: np.ndarray) -> np.ndarray:
        """Return the curvature of the objective, guessed from a sample where there are many rows."""
        found = self.information(free, self.sample)
        if not self.exact:
            _lift(found, self.shape)
        return (found + np.diag(np.tile(self.ridge, self.n_planes))) / self.rows.weight

    def curvature(self, free: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function that solves with the curvature of the objective."""
        if self.n_planes * len(self.ridge) > MOST_PARAMETERS:
            return self._bounded
        solve = solver(self.hessian(free))
        return lambda g: solve(g.reshape(-1, 1)).reshape(g.shape)

    def settled(self, free: np.ndarray, slopes: np.ndarray, tol: float) -> bool:
        """Say whether slopes are small beside the sizes of the terms that they are sums of, |w r z|.

        One far row may make the curvature so large that a step promises next to nothing, though the others
        still pull all one way: this tells. Where no row pulls any more, planes part the classes.
        """

        def sizes(x: Any, codes: Any, weights: Any) -> np.ndarray:
            z, pulls = self.link.pulls(x, codes, self.units, free)
            z, pulls = np.abs(z), np.abs(pulls)
            pulls = np.column_stack([pulls, np.ones(len(pulls))])
            pulls = pulls if weights is None else pulls * weights[:, None]
            return np.concatenate([pulls[:, :-1].T @ z, pulls[:, -1:].T @ np.minimum(z, 1.0)])

        found = self.sample.walk(sizes)
        terms, reach = found[:-1] + np.abs(self.ridge * free), found[-1]
        share = max(np.sqrt(tol), LEAST_SHARE)
        pulled = terms > tol * reach
        return bool(np.all(np.abs(slopes)[pulled] * self.rows.weight <= share * terms[pulled]))

    @cached_property
    def sample(self) -> ClassRows:
        return self.rows.sample(SAMPLE)

    @property
    def exact(self) -> bool:
        """Whether the sample is all rows."""
        known = self.rows.n_rows
        return len(self.sample.labelled.rows.data) < SAMPLE if known is None else known <= SAMPLE

    @cached_property
    def _bounded(self) -> Callable[[np.ndarray], np.ndarray]:
        """Solve with an upper bound of the curvature, the same for all planes: ½ Σ w x xᵀ (Böhning)."""
        width, bound = len(self.ridge), self.link.bound / self.rows.weight
        if width > MOST_PARAMETERS:
            squares = self.sample.walk(lambda x, _, w: _squares(features(x, self.units, width), w))
            sizes = bound * squares + self.ridge / self.rows.weight
            sizes = np.where(sizes > 0.0, sizes, 1.0)
            return lambda g: g / sizes
        gram = self.sample.walk(lambda x, _, w: _gram(features(x, self.units, width), w))
        found = bound * gram + np.diag(self.ridge) / self.rows.weight
        _lift(found, (1, width))
        solve = solver(found)
        return lambda g: solve(g.T).T


@value
class Found:
    """Where a search ended."""

    free: np.ndarray  # (c, p)
    gradient: np.ndarray  # (c, p), of loss and squares, a row
    loss: float  # the objective, a row
    kkt: float  # largest breach of the conditions of optimality, a row
    n_iter: int
    converged: bool
    interrupted: bool


def search(problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int) -> Found:
    """Return the planes of the least objective; of many rows, from where a sample of them leads."""
    with single_threaded_blas():  # matrices are small, and the walks use every core
        if np.any(problem.lasso > 0.0):
            return _sparse(problem, start, tol=tol, max_iter=max_iter)
        if not (problem.exact or np.any(start)):
            part = replace(problem, rows=problem.sample)
            rough = _smooth(part, start, exact=False, refresh=(0, 2), tol=ROUGH, max_iter=FEW)
            if rough.interrupted:
                return rough
            start = rough.free
        return _smooth(
            problem,
            start,
            exact=problem.exact,
            refresh=(0,),
            tol=tol,
            max_iter=max_iter,
            extra_step=True,
            settled=lambda free, slopes: problem.settled(free, slopes, tol),
        )


def _smooth(problem: LogisticProblem, start: np.ndarray, *, exact: bool, **options: Any) -> Found:
    if problem.n_planes * len(problem.ridge) > MOST_PARAMETERS:
        exact, options = False, {**options, "refresh": None, "memory": 20}
    found = lbfgs(problem.objective, start, curvature=problem.curvature, exact=exact, **options)
    return Found(
        free=found.x,
        gradient=found.gradient,
        loss=found.value,
        kkt=float(np.max(np.abs(found.gradient), initial=0.0)),
        n_iter=found.n_iter,
        converged=found.converged,
        interrupted=found.interrupted,
    )


def _sparse(problem: LogisticProblem, start: np.ndarray, *, tol: float, max_iter: int) -> Found:
    c, p = problem.shape
    if c * p > MOST_SPARSE:
        raise ValueError(
            f"X has too many columns for l1_ratio > 0: {c * p} coefficients, at most {MOST_SPARSE}"
        )
    price = np.tile(problem.lasso, c) / problem.rows.weight

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = problem.objective(flat.reshape(c, p))
        return value, gradient.reshape(-1)

    def hessian(flat: np.ndarray) -> np.ndarray:
        return _pinned(problem.hessian(flat.reshape(c, p)), c, p, located=problem.located)

    def settled(flat: np.ndarray, breaches: np.ndarray) -> bool:
        return problem.settled(flat.reshape(c, p), breaches.reshape(c, p), tol)

    found = proximal_newton(
        objective, hessian, start.reshape(-1), price, tol=tol, max_iter=max_iter, settled=settled
    )
    return Found(
        free=found.x.reshape(c, p),
        gradient=found.gradient.reshape(c, p),
        loss=found.value,
        kkt=found.violation,
        n_iter=found.n_iter,
        converged=found.converged,
        interrupted=found.interrupted,
    )


def _pinned(hessian: np.ndarray, c: int, p: int, *, located: bool) -> np.ndarray:
    """Add curvature along the shift of all intercepts, which changes no probability, so that one is least."""
    if c > 1 and located:
        first = np.arange(c) * p
        size = float(np.mean(np.diagonal(hessian)[first]))
        hessian[np.ix_(first, first)] += size / c
    return hessian


def solver(hessian: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that solves with a curvature, lifted by as little as makes it definite."""
    factor = jittered_cholesky(hessian, max_jitter=1.0).lower
    return lambda columns: solve_cholesky(factor, columns)


def _lift(hessian: np.ndarray, shape: tuple[int, int]) -> None:
    """Lift the diagonal where columns hardly vary in a sample: too long a step would be halved many times."""
    diagonal = np.diagonal(hessian).reshape(shape)
    least = LEAST_CURVATURE * np.median(diagonal, axis=1, keepdims=True)
    places = np.arange(len(hessian))
    hessian[places, places] += np.maximum(least - diagonal, 0.0).reshape(-1)


def _gram(z: np.ndarray, weights: Any) -> np.ndarray:
    return z.T @ z if weights is None else (weights * z.T) @ z


def _squares(z: np.ndarray, weights: Any) -> np.ndarray:
    return np.sum(z * z, axis=0) if weights is None else weights @ (z * z)
