"""A loss of linear predictors: its value in every row, with derivatives, and its sum over the rows.

A row z of standardised columns, behind a leading 1 where there is an intercept, has the linear predictors
η = coef @ z, one or several. A loss says what η costs beside the target y: -log p(y | η), or a robust loss. A
class must have `Loss.terms` alone. `LossExpansion.of` sums a loss over a block of rows, so that
``fold(partial(LossExpansion.of, loss=loss, coef=coef), rows, y)`` is the loss over any source of rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.arrays.linalg import product
from tractable.arrays.namespace import Array, device, is_numpy_array, is_sparse, namespace_of
from tractable.primitives import SILENT
from tractable.primitives.glm.agnostic import features
from tractable.primitives.sparse_rows import StandardizedSparse
from tractable.statistics.rows import as_rows, as_weights
from tractable.value import value

#: Shift and scale of the columns: z = (x - shift) * scale.
Scaling = tuple[Any, Any]

#: Entries of the standardised columns of a part of a block, which stay in cache, and its fewest and most
#: rows: of fewer, threads wait for each other's interpreter.
TILE_ENTRIES, LEAST_ROWS, MOST_ROWS = 2**16, 512, 4096


@value
class LossTerms:
    """The loss of every row, and its derivatives by the linear predictors of the row.

    Parameters
    ----------
    value : array (n,)
        -log p(y | η) without terms that η does not change (see `Loss.log_base_measure`), or another loss.
    slope : array (n,), or (n, c) of c linear predictors
        The first derivative.
    curvature : array (n,) or (n, c, c), optional
        The second derivative; None where a loss has none.
    third : array (n,) or (n, c, c, c), optional
        The third derivative, which Laplace's approximation of a Gaussian process needs.
    """

    value: Array
    slope: Array
    curvature: Any = None
    third: Any = None


class Loss(ABC):
    """A loss of linear predictors; a subclass has `terms`, and the parameters of the loss as fields.

    Attributes
    ----------
    n_predictors : int
        The number c of linear predictors of a row, and of rows of the coefficients.
    convex, smooth : bool
        Whether the loss is convex in them, and has a slope everywhere.
    self_concordant : bool
        Whether the curvature bounds the third derivative, so that Newton's steps lead to the minimum from
        anywhere. Else the curvature may vanish where the slope does not, and L-BFGS takes the steps.
    of_classes : bool
        Whether targets are class codes.
    curvature_at_zero : float or None
        The mean of the second derivatives where all coefficients are zero, if it is the same for all targets.

    Examples
    --------
    The squared error, as a loss of one's own:

    >>> class SquaredError(Loss):
    ...     def terms(self, eta, y):
    ...         return LossTerms(value=0.5 * (y - eta) ** 2, slope=eta - y, curvature=np.ones_like(eta))
    >>> rows, y = np.array([[1.0], [2.0]]), np.array([1.0, 3.0])
    >>> found = LossExpansion.of(rows, y, loss=SquaredError(), coef=np.zeros((1, 1)))
    >>> float(found.value), found.gradient.tolist(), found.curvature.tolist()
    (5.0, [[-7.0]], [[5.0]])
    """

    n_predictors: int = 1
    convex: bool = True
    smooth: bool = True
    self_concordant: bool = False
    of_classes: bool = False
    curvature_at_zero: float | None = None

    @abstractmethod
    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return the loss of every row and its derivatives by η, (n,), or (n, c) of c linear predictors."""

    def log_base_measure(self, y: Array) -> Array:
        """Return the log density and the loss together, (n,): what the loss leaves out."""
        return 0.0 * y

    def expected_curvature(self, eta: Array) -> Array:
        """Return the Fisher information of η, (n,): the mean of the curvature over targets."""
        raise NotImplementedError(f"{type(self).__name__} has no distribution of targets")

    def margins(self, eta: Array, y: Array) -> Array:
        """Return what a direction η of linear predictors does to the loss of every row in the end, (n, m).

        The loss never rises along it where no margin is negative, and falls for ever where one is positive.
        A loss that has a minimum has none that is positive: by default the margin is -|η|.
        """
        return -namespace_of(eta).abs(eta)[:, None]

    def targets(self, y: Any) -> tuple[Any, Any]:
        """Return targets, and offsets of linear predictors or None: logarithms of a second column of y."""
        if y.ndim == 1:
            return y, None
        return y[:, 0], None if y.shape[1] == 1 else namespace_of(y).log(y[:, 1])

    @SILENT
    def expand(
        self, x: Any, y: Any, weights: Any, scaling: Scaling, coef: Array, curvature: str | None
    ) -> "LossExpansion":
        """Return the `LossExpansion` of rows: by `terms`, unless a loss has a faster way of its own.

        Parameters
        ----------
        x, y, weights, scaling, coef, curvature
            As in `LossExpansion.of`.
        """
        xp, c = namespace_of(coef), coef.shape[0]
        total, gradient, square = 0.0, xp.zeros_like(coef), 0.0 * coef[:1, :].T @ coef[:1, :]
        pairs = [(a, b) for a in range(c) for b in range(a, c)] if curvature else []
        blocks = dict.fromkeys(pairs, square)
        for z, eta, own, w in self.parts(x, y, weights, scaling, coef):
            found = self.terms(eta, own)
            total = total + (xp.sum(found.value) if w is None else product(w, found.value))
            gradient = gradient + product(xp.reshape(_times(found.slope, w), (-1, c)).T, z)
            if not curvature:
                continue
            each = found.curvature if curvature == "observed" else self.expected_curvature(eta)
            if each is None:
                raise ValueError(f"{type(self).__name__} has no second derivative: curvature must be None")
            each = xp.reshape(_times(each, w), (-1, c, c))
            for a, b in pairs:
                blocks[a, b] = blocks[a, b] + product((z * each[:, a, b][:, None]).T, z)
        hessian = None
        if curvature:
            rows = [xp.concat([blocks[min(a, b), max(a, b)] for b in range(c)], axis=1) for a in range(c)]
            hessian = xp.concat(rows, axis=0)
        return LossExpansion(value=total, gradient=gradient, curvature=hessian)

    def parts(self, x: Any, y: Any, weights: Any, scaling: Scaling, coef: Array) -> Iterator[tuple[Any, ...]]:
        """Yield parts of rows that stay in cache: z, η of shape (n,) or (n, c), targets, and weights or None.

        Rows without weight are left out. What is yielded is valid until the next part.

        Parameters
        ----------
        x, y, weights, scaling, coef
            As in `LossExpansion.of`.
        """
        if weights is not None and is_numpy_array(weights) and not np.all(weights > 0.0):
            some = weights > 0.0
            x, y, weights = x[some], y[some], weights[some]
        (y, offset), alone = self.targets(y), self.n_predictors == 1
        inner = coef[0, :] if alone else coef.T
        for rows, z in _tiles(x, scaling, coef.shape[1]):
            eta = product(z, inner)
            if offset is not None:
                eta = eta + (offset[rows] if alone else offset[rows][:, None])
            yield z, eta, y[rows, ...], None if weights is None else weights[rows]

    def residuals(self, x: Any, y: Any, scaling: Scaling, coef: Array) -> tuple[Any, Array]:
        """Return the design matrix (n, p) and the slope of each row's loss by η, (n, c).

        Parameters
        ----------
        x, y, scaling, coef
            As in `LossExpansion.of`.
        """
        z, (y, offset) = design(x, scaling, coef.shape[1]), self.targets(y)
        eta = z @ coef.T
        eta = eta if offset is None else eta + offset[:, None]
        slope = self.terms(eta[:, 0] if self.n_predictors == 1 else eta, y).slope
        return z, namespace_of(slope).reshape(slope, eta.shape)


@value
class LossExpansion:
    """Value, gradient and curvature of Σ_n w_n loss(η_n, y_n) at given coefficients; they add.

    Examples
    --------
    >>> from tractable.engines.glm import Logistic
    >>> rows, codes = np.array([[1.0], [1.0], [1.0]]), np.array([0, 0, 1])
    >>> at_zero = LossExpansion.of(rows, codes, loss=Logistic(), coef=np.zeros((1, 1)))
    >>> at_zero.gradient.tolist(), at_zero.curvature.tolist()
    ([[0.5]], [[0.75]])
    """

    value: Any
    gradient: Array  # (c, p)
    curvature: Any = None  # (c p, c p), the Hessian, or the Fisher information

    @classmethod
    def of(
        cls,
        x: Any,
        targets: Any,
        weights: Any = None,
        *,
        loss: Loss,
        coef: Array,
        scaling: Scaling | None = None,
        curvature: str | None = "observed",
    ) -> "LossExpansion":
        """Expand the loss of a block of rows.

        Parameters
        ----------
        x : array (n, d), or sparse rows without a curvature
            Rows.
        targets : array (n,), or (n, 2) with the exposure of each row, or (n, K) of class probabilities
            What the loss compares linear predictors with. The logarithms of exposures are added to these.
        weights : array (n,), optional
            How often each row counts; once when not given.
        loss : Loss
            The loss.
        coef : array (c, d), or (c, 1 + d) with the intercepts first
            Where the loss is expanded.
        scaling : shift and scale (d,) of the columns, optional
            The coefficients are of (x - shift) * scale; of x itself when not given.
        curvature : {"observed", "expected", None}
            The Hessian, its expectation, the Fisher information, or neither.
        """
        x = as_rows(x)
        if scaling is None:
            shift = namespace_of(x).zeros(x.shape[1], dtype=x.dtype, device=device(x))
            scaling = shift, shift + 1.0
        return loss.expand(x, targets, as_weights(weights, x), scaling, coef, curvature)

    def __add__(self, other: "LossExpansion") -> "LossExpansion":
        """Add the losses of two blocks of rows, at the same coefficients."""
        if not isinstance(other, LossExpansion):
            return NotImplemented
        return LossExpansion(
            value=self.value + other.value,
            gradient=self.gradient + other.gradient,
            curvature=None if self.curvature is None else self.curvature + other.curvature,
        )


def design(x: Any, scaling: Scaling, width: int) -> Any:
    """Return standardised rows, behind a column of ones where `width` says that there is an intercept.

    Of sparse rows it is a `StandardizedSparse`, which has products alone.
    """
    if is_sparse(x):
        shift, scale = scaling
        return StandardizedSparse(X=x, shift=shift, scale=scale, intercept=x.shape[1] < width)
    return features(as_rows(x), *scaling, width)


def _tiles(x: Any, scaling: Scaling, width: int) -> Iterator[tuple[slice, Any]]:
    """Yield slices of rows with their `design`; of NumPy's, in one array that stays in cache."""
    if not is_numpy_array(x):
        yield slice(None), design(x, scaling, width)
        return
    shift, scale = scaling
    rows = max(LEAST_ROWS, min(MOST_ROWS, TILE_ENTRIES // max(1, width)))
    held, first = np.ones((min(rows, len(x)), width)), width - x.shape[1]
    for start in range(0, len(x), rows):
        part = slice(start, start + rows)
        z = held[: len(x[part])]
        np.subtract(x[part], shift, out=z[:, first:])
        z[:, first:] *= scale
        yield part, z


def _times(terms: Array, weights: Array | None) -> Array:
    """Return terms of rows, of any shape (n, …), times their weights."""
    if weights is None:
        return terms
    return namespace_of(terms).reshape(weights, (-1,) + (1,) * (terms.ndim - 1)) * terms
