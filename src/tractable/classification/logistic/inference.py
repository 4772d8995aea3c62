"""Covariance of the parameters of a fit, and whether classes are separable: one more pass over the rows."""

from dataclasses import fields
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from tractable.arrays.log_space import log_sum_exp
from tractable.arrays.namespace import device, namespace_of, to_numpy
from tractable.classification.logistic.problem import LogisticProblem, solver
from tractable.engines import NewtonResult
from tractable.engines.glm.laplace import determined_rank, mapped_covariance
from tractable.engines.glm.losses import Logit, Probit, Scaling, design
from tractable.engines.linear_estimate import NotComputedError
from tractable.primitives.in_place import add_to_diagonal
from tractable.primitives.threads import blas_for_columns
from tractable.value import value

_EPS = float(np.finfo(np.float64).eps)
#: Margins so small, relative to the size of a row, may be meant to be zero.
NEAR = (1e-2, 1e-4, 1e-6, 1e-8)
#: Coefficients that lose all but this part when rows near a boundary are put on it separate nothing.
STORED = 1e-3
#: A margin above this many times rounding is positive.
CLEAR = 1e3


class SeparableClassesWarning(UserWarning):
    """Hyperplanes separate the classes: without a penalty, coefficients grow without bound."""


@value
class CoefficientCurvature:
    """Curvature of the loss at the coefficients of a logistic regression, and their covariance by it.

    The covariance is computed when it is first asked for.

    Parameters
    ----------
    information : array (c p, c p), or a function that returns it, or None
        Curvature of the loss by the free coefficients of standardized columns, the intercepts first. A
        function is called when the curvature is first asked for, or stored. None where it is not known.
    coef : array (c, p)
        The free coefficients.
    class_map : array (k, c)
        The coefficients that users read, a row a class or one of two classes, by the free ones.
    ridge : array (p,)
        Penalty weights of squares.
    selected : array (p,) of bool
        Whether an L1 penalty may hold a coefficient at zero.
    shift, scale : arrays (d,)
        Of the columns; the scale is 0 for constant ones.
    penalty : float
        Penalty weight of the square of a coefficient in the units of its column.
    variability : array (c p, c p), optional
        The variance of the gradient, where it is not the curvature.

    Examples
    --------
    >>> curvature = CoefficientCurvature(
    ...     information=4.0 * np.eye(1),
    ...     coef=np.ones((1, 1)),
    ...     class_map=np.eye(1),
    ...     ridge=np.zeros(1),
    ...     selected=np.array([False]),
    ...     shift=np.zeros(1),
    ...     scale=np.ones(1),
    ...     penalty=0.0,
    ... )
    >>> curvature.covariance.tolist(), curvature.rank
    ([[0.25]], 1)
    """

    information: Any
    coef: np.ndarray
    class_map: np.ndarray
    ridge: np.ndarray
    selected: np.ndarray
    shift: np.ndarray
    scale: np.ndarray
    penalty: float
    variability: np.ndarray | None = None

    @cached_property
    def loss_curvature(self) -> np.ndarray:
        """Curvature of the loss."""
        if self.information is None:
            raise NotComputedError("standard errors were not asked for before X was changed: fit again")
        return self.information() if callable(self.information) else self.information

    def _parameters(self) -> dict[str, Any]:
        return {**{field.name: getattr(self, field.name) for field in fields(self)}, **self._stored()}

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), **self._stored()}

    def _stored(self) -> dict[str, Any]:
        """Return the curvature for a file, without rows; None where these were changed."""
        try:
            return {"information": self.loss_curvature}
        except NotComputedError:
            return {"information": None}

    @cached_property
    def hessian(self) -> np.ndarray:
        """Curvature of the loss and the squared penalty."""
        found = self.loss_curvature.copy()
        add_to_diagonal(found, np.tile(self.ridge, len(self.coef)))
        return found

    @cached_property
    def covariance(self) -> np.ndarray:
        """Covariance of intercepts and coefficients in the units of the columns, class after class."""
        return self._covariance(self.shift, held=np.nan)

    @cached_property
    def centered_covariance(self) -> np.ndarray:
        """The same for rows less their center, with 0 for coefficients held at 0."""
        return self._covariance(np.zeros_like(self.shift), held=0.0)

    @cached_property
    def rank(self) -> int:
        """How many parameters the rows determine."""
        finite = np.all(np.isfinite(np.diagonal(self.covariance)))
        return len(self.hessian) if finite else determined_rank(self.hessian)

    @property
    def own_information(self) -> np.ndarray:
        """The information of the coefficients of each class, those of the others held, (classes, p, p).

        It is XᵀWX with the weights p (1 - p) of the probabilities p of the class.
        """
        c, width = self.coef.shape
        axes = np.linalg.pinv(self.class_map)  # (c, classes)
        across = np.tensordot(axes.T, self.loss_curvature.reshape(c, width, c, width), axes=1)
        return np.einsum("kibj,bk->kij", across, axes)

    def _covariance(self, shift: np.ndarray, *, held: float) -> np.ndarray:
        """Return the covariance of the parameters of columns ``x - center + shift``."""
        known = (self.coef != 0.0) | ~self.selected
        with blas_for_columns(len(self.hessian)):
            mapping = self._column_map(shift)
            found = mapped_covariance(self.hessian, mapping, known.reshape(-1), self.variability)
        each = self.class_map @ self.coef
        index = np.arange(each.size).reshape(each.shape)
        # Nothing but the penalty bounds the coefficient of a constant column.
        constant = index[:, each.shape[1] - len(self.scale) :][:, self.scale == 0.0].reshape(-1)
        part = 1.0 if len(each) == 1 else 1.0 - 1.0 / len(each)
        found[constant, constant] = part / self.penalty if self.penalty > 0.0 else np.inf
        zeros = index[(each == 0.0) & self.selected]
        found[zeros], found[:, zeros] = held, held
        return found

    def _column_map(self, shift: np.ndarray) -> np.ndarray:
        """Return the matrix from free coefficients to those of the classes and columns, both flattened."""
        c, p = self.coef.shape
        first = p - len(self.scale)
        columns = np.diag(np.concatenate([np.ones(first), self.scale]))
        if first:
            columns[0, 1:] = -shift * self.scale
        found = np.kron(self.class_map, columns)
        if first and len(self.class_map) > 1 and c == len(self.class_map):
            # Intercepts sum to zero, which overparametrised ones leave open.
            intercepts = np.arange(c) * p
            found[intercepts] -= np.mean(found[intercepts], axis=0)
        return found


@value
class FitInference:
    """Curvature at the estimate, log-likelihood, and whether the classes are separable."""

    curvature: CoefficientCurvature | None  # None where there are many parameters
    log_likelihood: float
    separating: np.ndarray | None  # free coefficients that separate the classes, where looked for and found
    separable: bool | None  # None where it is not known


def infer(problem: LogisticProblem, found: NewtonResult, *, unpenalised: bool) -> FitInference:
    """Return the curvature over all rows, and, without a penalty, test for separability."""
    coef = found.x
    penalty = 0.5 * float(np.sum(problem.ridge * coef**2)) + float(np.sum(problem.lasso * np.abs(coef)))
    curvature = separating = None
    if problem.few_parameters:
        weighted = problem.class_factors is not None
        information: Any = None
        if found.curvature is not None and problem.held is None:  # of the last step of the search
            information = found.curvature()
        elif not (unpenalised or weighted):
            information = problem.deferred_information(found)
        curvature = CoefficientCurvature(
            information=problem.information(coef) if information is None else information,
            coef=coef,
            class_map=problem.link.class_coef(np.eye(len(coef))),
            ridge=problem.ridge,
            selected=problem.lasso > 0.0,
            shift=problem.standardizer.shift,
            scale=problem.standardizer.scale,
            penalty=problem.alpha / problem.mean_factor,
            variability=_variability(problem, coef) if weighted else None,
        )
    if unpenalised:
        # Where the search stopped and, where the curvature is known, the direction it was going.
        candidates = [coef]
        if curvature is not None:
            candidates += [-solver(curvature.hessian)(found.gradient.reshape(-1, 1)).reshape(coef.shape)]
        separating = _separating(problem, [each for each in candidates if np.any(each)])
    # Of many parameters only complete separation is found; a search cut short may not lead to any.
    known = unpenalised and problem.few_parameters and found.converged
    return FitInference(
        curvature=curvature,
        log_likelihood=penalty - found.value * problem.weight,
        separating=separating,
        separable=True if separating is not None else False if known else None,
    )


def _variability(problem: LogisticProblem, coef: np.ndarray) -> np.ndarray:
    """Return B of the sandwich A⁻¹ B A⁻¹ of a loss with class weights f: the variance of its gradient.

    Class weights are no frequencies. They change the loss, so that its curvature A is no longer the variance
    of its gradient, which is Σ_n w_n Σ_k p_k f_k² r_k r_kᵀ, r_k the derivative of the loss of a row of class
    k. The weighted fit estimates q_k ∝ f_k p_k, so p_k ∝ q_k / f_k. With the same weight f for all classes
    A⁻¹ B A⁻¹ is the inverse information of a fit without weights and with C f in place of C.
    """
    factors = np.asarray(problem.class_factors)
    ridge = np.diag(np.tile(problem.ridge, len(coef)))
    if np.all(factors == factors[0]):
        return problem.information(coef) * factors[0] + problem.mean_factor * ridge
    found: np.ndarray = problem.reduce(_gradient_variance, link=problem.link, coef=coef, factors=factors)
    return found + problem.mean_factor * ridge


def _gradient_variance(
    x: Any,
    codes: Any,
    weights: Any,
    *,
    link: Logit | Probit,
    coef: np.ndarray,
    scaling: Scaling,
    factors: np.ndarray,
) -> np.ndarray:
    """Return Σ_n w_n Σ_k p_k f_k² (r_k ⊗ z)(r_k ⊗ z)ᵀ of a block whose weights are w_n f of its class."""
    z, _ = link.residuals(x, codes, scaling, coef)
    xp = namespace_of(z)
    log_q = link.log_proba(z @ coef.T)
    log_p = log_q - xp.log(factors)
    p = xp.exp(log_p - log_sum_exp(log_p)[:, None])
    frequency, found = weights / xp.take(factors, codes), []
    for k in range(factors.shape[0]):
        _, r = link.residuals(x, xp.full_like(codes, k), scaling, coef)
        terms = xp.reshape(r[:, :, None] * z[:, None, :], (z.shape[0], -1))
        found.append((terms * (frequency * p[:, k] * factors[k] ** 2)[:, None]).T @ terms)
    return sum(found)


def _separating(problem: LogisticProblem, candidates: list[np.ndarray]) -> np.ndarray | None:
    """Return free coefficients that separate the classes, or None where no candidate leads to any.

    No row's own class has a smaller linear predictor than another there, and some a larger one (Albert and
    Anderson 1984). A search without a minimum moves along such coefficients, up to what it has still to
    lose. So rows near a boundary are put on it exactly, and the margins of all rows are then computed: up to
    the rounding of its own terms, what is found is certain.
    """
    rounding = 8.0 * _EPS * (8 + problem.shape[1])
    contrasts = problem.link.contrasts
    options: Any = {"contrasts": contrasts}
    for coef in candidates:
        unit = coef / np.max(np.abs(contrasts @ coef))
        low = problem.reduce(_Margins.of, coef=unit, **options).low
        if low > rounding:
            return unit
        for near in NEAR if problem.few_parameters else ():
            if low < -near:
                break
            boundary: _Boundary = problem.reduce(_Boundary.of, coef=unit, near=near, **options)
            cleaned = boundary.project(unit, contrasts)
            size = float(np.max(np.abs(contrasts @ cleaned)))
            if size < STORED:
                continue
            seen = problem.reduce(_Margins.of, coef=cleaned / size, **options)
            if seen.low >= -rounding and seen.high > CLEAR * rounding:
                return cleaned / size
    return None


@value
class _Margins:
    """The smallest and the largest margin, relative to the sizes of the rows; they add."""

    low: float
    high: float

    @classmethod
    def of(cls, x: Any, codes: Any, weights: Any = None, **options: Any) -> "_Margins":
        relative = _relative_margins(x, codes, weights, **options)[2]
        if not relative.shape[0]:
            return cls(low=np.inf, high=-np.inf)
        xp = namespace_of(relative)
        return cls(low=float(xp.min(relative)), high=float(xp.max(relative)))

    def __add__(self, other: "_Margins") -> "_Margins":
        return _Margins(low=min(self.low, other.low), high=max(self.high, other.high))


@value
class _Boundary:
    """Rows near the boundary of each pair of classes, as triangular factors; they add."""

    factors: dict[tuple[int, int], np.ndarray]

    @classmethod
    def of(cls, x: Any, codes: Any, weights: Any = None, *, near: float, **options: Any) -> "_Boundary":
        z, codes, relative, others = _relative_margins(x, codes, weights, **options)
        xp = namespace_of(z)
        close = xp.abs(relative) <= near

        def factor(a: int, b: int) -> np.ndarray:
            one, other = (codes == a)[:, None] & (others == b), (codes == b)[:, None] & (others == a)
            own = xp.nonzero(xp.any(close & (one | other), axis=1))[0]
            return to_numpy(xp.linalg.qr(xp.take(z, own, axis=0))[1])

        pairs = combinations(range(options["contrasts"].shape[0]), 2)
        return cls(factors={pair: factor(*pair) for pair in pairs})

    def __add__(self, other: "_Boundary") -> "_Boundary":
        both = {pair: np.concatenate([r, other.factors[pair]]) for pair, r in self.factors.items()}
        return _Boundary(factors={pair: np.linalg.qr(r, mode="r") for pair, r in both.items()})  # type: ignore[misc]

    def project(self, coef: np.ndarray, contrasts: np.ndarray) -> np.ndarray:
        """Return the coefficients without what gives these rows a margin."""
        rows = [np.kron((contrasts[a] - contrasts[b])[None, :], r) for (a, b), r in self.factors.items()]
        _, sizes, axes = np.linalg.svd(np.concatenate(rows), full_matrices=False)
        axes = axes[sizes > 64.0 * _EPS * coef.size * np.max(sizes, initial=0.0)]
        flat = coef.reshape(-1)
        for _ in range(2):  # the second time for rounding
            flat = flat - axes.T @ (axes @ flat)
        return flat.reshape(coef.shape)


def _relative_margins(
    x: Any, codes: Any, weights: Any, *, contrasts: np.ndarray, scaling: Scaling, coef: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return unit rows z, their classes, η_own - η_other for each other class, and those classes."""
    x, codes = (x, codes) if weights is None else (x[weights > 0], codes[weights > 0])
    z = design(x, scaling, coef.shape[1])
    xp = namespace_of(z)
    size = xp.sum(xp.abs(z), axis=1, keepdims=True)
    z = z / xp.where(size > 0.0, size, 1.0)
    eta, codes = z @ (contrasts @ coef).T, xp.astype(codes, xp.int64)
    others = (codes[:, None] + xp.arange(1, eta.shape[1], device=device(z))) % eta.shape[1]
    own = xp.take_along_axis(eta, codes[:, None], axis=1)
    return z, codes, own - xp.take_along_axis(eta, others, axis=1), others
