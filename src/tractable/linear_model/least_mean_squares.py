"""Least mean squares: linear regression by stochastic gradient descent, one row or batch at a time."""

import warnings
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d

from tractable.arrays.limits import check_squarable
from tractable.arrays.namespace import is_numpy_array
from tractable.arrays.random import as_generator, row_uniforms
from tractable.base import (
    Estimator,
    ModelTags,
    Rows,
    all_or_nothing,
    check_rows,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.parameters import check_number
from tractable.base.regressor import RegressorMixin
from tractable.data import Batch, Source
from tractable.engines import fold
from tractable.linear_model.rows import linear_predictor
from tractable.primitives.linear import gradient_pass
from tractable.statistics import DiagonalMoments, Moments, Standardizer
from tractable.statistics.rows import counts
from tractable.value import replace, value

#: Errors this many times the targets diverge.
DIVERGED = 1e3
#: Squared errors this small relative to squared targets are rounding, and may rise and fall.
ROUNDING = 1e-20
#: Errors this many times those of a constant are no better than it; steps in pure noise err a little more.
NO_BETTER = 1.5
#: Residuals with such a correlation to a feature are not yet those of least squares,
CORRELATED = 0.5
#: unless they are this small relative to the targets.
NEGLIGIBLE = 1e-4


@value
class FeatureScaling:
    """The features φ = [1, z] of standardized columns z, in which the steps are taken."""

    standardizer: Standardizer
    has_intercept: bool
    # Of the rows that it is learned from; None for columns as they are given
    moments: DiagonalMoments | None = None

    @classmethod
    def initial(cls, d: int, *, standardize: bool, fit_intercept: bool) -> "FeatureScaling":
        """Return the scaling before the first row: columns as they are.

        Parameters
        ----------
        d : int
            Number of columns.
        standardize : bool
            Whether later scalings divide by the spread of the rows so far.
        fit_intercept : bool
            Whether a column of ones is added.
        """
        moments = DiagonalMoments.empty(d) if standardize else None
        return cls(standardizer=Standardizer.identity(d), has_intercept=bool(fit_intercept), moments=moments)

    def updated(self, X: np.ndarray, w: np.ndarray) -> "FeatureScaling":
        """Return the scaling after more rows: their standard deviation, or root mean square about 0."""
        if self.moments is None or float(w.sum()) == 0.0:
            return self
        moments = self.moments + DiagonalMoments.of(X, w)
        found = Standardizer.from_moments(moments, centered=self.has_intercept)
        scale = np.where(found.varies, found.scale, 1.0)
        return replace(self, standardizer=replace(found, scale=scale), moments=moments)

    def rescaled(self, w: np.ndarray, after: "FeatureScaling") -> np.ndarray:
        """Return the weights of the same linear predictor for the features of a later scaling."""
        n, now, then = int(self.has_intercept), self.standardizer, after.standardizer
        moved = now.transform(then.shift) @ w[n:]
        return np.concatenate([w[:n] + moved, w[n:] * (now.scale / then.scale)])

    def features(self, X: np.ndarray) -> np.ndarray:
        """Return φ for each row."""
        columns = self.standardizer.transform(X)
        return np.column_stack([np.ones(len(X)), columns]) if self.has_intercept else columns

    def coefficients(self, w: np.ndarray) -> tuple[np.ndarray, float]:
        """Return coefficients and intercept in the units of X."""
        coef = w[int(self.has_intercept) :] * self.standardizer.scale
        return coef, float(w[0] - self.standardizer.shift @ coef) if self.has_intercept else 0.0


@value
class GradientDescent:
    """The state of a descent: weights, their sum for averaging, and the sizes of targets and features."""

    step: Any  # a number, a function of the number of the update, or None for the longest safe one
    w: np.ndarray  # (p,)
    total: np.ndarray  # (p,), the sum of the weights after each update
    n_summed: int = 0
    n_steps: int = 0
    target_square: float = 0.0  # largest mean square of the targets of a block
    safe_step: float = np.inf  # the step with which no update so far overshoots
    mean_square: float = 0.0  # mean |φ|²
    n_rows: int = 0  # of how many rows

    @property
    def average(self) -> np.ndarray:
        """The mean of the weights after each update (Polyak and Ruppert)."""
        return self.total / self.n_summed if self.n_summed else self.w

    @property
    def stable_step(self) -> float:
        """2 / mean |φ|², below which a constant step converges on average, since λmax ≤ mean |φ|²."""
        return 2.0 / (self.mean_square or 1.0)

    def rescaled(self, before: FeatureScaling, after: FeatureScaling) -> "GradientDescent":
        """Return the same descent for the features of a later scaling."""
        if after is before:
            return self
        return replace(self, w=before.rescaled(self.w, after), total=before.rescaled(self.total, after))

    def measured(self, phi: np.ndarray, w: np.ndarray, *, whole: bool) -> "GradientDescent":
        """Return the descent with the sizes of more features.

        Parameters
        ----------
        phi : array (n, p)
            Features.
        w : array (n,)
            Factors of their steps.
        whole : bool
            Whether one step is taken from all rows of the block.
        """
        n = self.n_rows + len(w)
        mean_square = (self.n_rows * self.mean_square + float(w @ _squared_lengths(phi))) / n
        step = min(self.safe_step, _safe_step(phi, w, whole=whole)) if self.step is None else self.safe_step
        return replace(self, n_rows=n, mean_square=mean_square, safe_step=step)

    def updated(
        self, phi: np.ndarray, y: np.ndarray, w: np.ndarray, batch_size: int
    ) -> tuple["GradientDescent", float]:
        """Return the descent after the batches of a block, and the sum of squared errors before each step.

        Parameters
        ----------
        phi, y, w : arrays (n, p), (n,) and (n,)
            Features, targets and factors of the steps.
        batch_size : int
            Rows of a step.
        """
        n = -(-len(y) // batch_size)
        step = (self.safe_step if self.safe_step < np.inf else 1.0) if self.step is None else self.step
        steps = np.array([_step_of(step, k) for k in range(self.n_steps + 1, self.n_steps + n + 1)])
        with np.errstate(over="ignore", invalid="ignore"):  # of steps that diverge
            after, total, loss = gradient_pass(phi, y, w, steps, batch_size, self.w)
        found = replace(
            self,
            w=after,
            total=self.total + total,
            n_summed=self.n_summed + n,
            n_steps=self.n_steps + n,
            target_square=max(self.target_square, float(w @ y**2 / len(y))),
        )
        return found, float(loss)

    def diverges(self, loss: float) -> bool:
        """Whether weights are not finite, or the mean squared error is on its way to infinity.

        Safe steps may jump where a row is very short, and come back at the next long one.
        """
        grown = self.step is not None and not loss <= DIVERGED**2 * self.target_square
        return grown or not bool(np.all(np.isfinite(self.w)))


@value
class _Epoch:
    """A descent and its scaling, with the summed squared error and the number of rows of an epoch."""

    descent: GradientDescent
    scaling: FeatureScaling
    loss: float = 0.0
    n_rows: int = 0


@value
class _ResidualSums:
    """Sums over rows of r φ, φ² and r² with the residuals r; they add over blocks."""

    sums: np.ndarray  # (2 p + 2,): Σ w r φ, Σ w φ², Σ w r² and Σ w

    @classmethod
    def of(
        cls, X: Any, y: Any, weights: Any = None, *, scaling: FeatureScaling, w: np.ndarray
    ) -> "_ResidualSums":
        """Sum over a block, for given weights of the features."""
        X, y, weights = _as_arrays(X, y, weights)
        phi = scaling.features(X)
        r = y - phi @ w
        last = [weights @ r**2, weights.sum()]
        return cls(sums=np.concatenate([(weights * r) @ phi, weights @ phi**2, last]))

    def __add__(self, other: "_ResidualSums") -> "_ResidualSums":
        return _ResidualSums(sums=self.sums + other.sums)

    @property
    def mean_square(self) -> float:
        """Mean squared error."""
        return float(self.sums[-2] / self.sums[-1])

    @property
    def correlations(self) -> np.ndarray:
        """Cosine of the residuals with each feature, without sign: zero at the least squares."""
        products, squares = np.split(self.sums[:-2], 2)
        lengths = np.sqrt(squares * self.sums[-2])
        return np.abs(products) / np.where(lengths > 0, lengths, 1.0)


class LeastMeanSquares(RegressorMixin, Estimator):
    """Linear regression by stochastic gradient steps, w ← w + η (t - wᵀφ) φ for each row.

    It approaches least squares without holding the rows or a matrix of their columns: for streams, and for
    very many columns. Constant steps converge on average where η < 2 / λmax, with λmax the largest eigenvalue
    of the average of φφᵀ (φ with a leading 1 for the intercept), and then fluctuate within a distance of
    order √η; steps that fall as a :class:`tractable.engines.StepSize`, or averaging, converge. Steps that
    diverge are an error that states the bound, and a `fit` that was still falling at its end is a warning.
    Approximate in a stream; :class:`tractable.LinearRegression` is exact there, at the cost of a matrix.

    Weights are frequencies of rows. Rows of weight zero are left out, and a step is as long as the weight of
    its row, relative to the mean: weights that are all the same change nothing. In a shuffled order equal
    rows are one row of the sum of their weights, so that a row of weight two is two equal rows, to the last
    step; and so it is with ``batch_size=None``. In the order of a stream, or without `shuffle`, both have the
    same limit, the least squares of the repeated rows, but not the same path to it.

    There is no `predict_dist`: a descent that has not converged has no noise variance and no covariance of
    its weights, and intervals without them do not cover. `LinearRegression` has both from one pass.

    Parameters
    ----------
    step : float, StepSize or callable, optional
        η; or the step for the N-th update, N from 1. By default 1 / max |φ|² over the rows seen so far, with
        which no update overshoots; 1 / λmax where all rows are one batch.
    batch_size : int, optional
        Rows whose average gradient is one update; None for all rows of a block.
    n_epochs : int
        Number of passes over the rows in `fit`.
    average : bool
        Whether the result is the mean of the weights after each update (Polyak and Ruppert), without those of
        the first of several epochs.
    standardize : bool
        Whether steps are taken in columns of mean zero and variance one (mean square one without an
        intercept) over the rows seen so far, which conditions them better; `coef_` is in the units of X.
    fit_intercept : bool
        Whether to fit an intercept.
    shuffle : bool
        Whether each epoch takes the rows in an order of its own, which depends on the rows and not on the
        order in which they are given; files and streams keep theirs.
    random_state : None, int, RandomState or Generator
        Source of randomness; with a seed the result is repeatable.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients.
    intercept_ : float
        The intercept; zero with ``fit_intercept=False``.
    n_steps_ : int
        Updates made so far.
    loss_curve_ : array of shape (n_epochs,)
        The mean squared error of each epoch, every row before its own update.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.linspace(-1.0, 1.0, 50)[:, None]
    >>> y = 1.0 + 3.0 * X[:, 0]
    >>> model = tractable.LeastMeanSquares(random_state=0).fit(X, y)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([3.]), 1.0)
    >>> tractable.LeastMeanSquares(step=9.0, random_state=0).fit(X, y)
    Traceback (most recent call last):
    ...
    ValueError: step is too large: ... 2/λmax = 2 ...
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="approximate")
    _descent_: GradientDescent
    _scaling_: FeatureScaling

    def __init__(
        self,
        *,
        step: float | Callable[[int], float] | None = None,
        batch_size: int | None = 1,
        n_epochs: int = 50,
        average: bool = False,
        standardize: bool = False,
        fit_intercept: bool = True,
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self.step, self.batch_size, self.n_epochs = step, batch_size, n_epochs
        self.average, self.standardize, self.fit_intercept = average, standardize, fit_intercept
        self.shuffle, self.random_state = shuffle, random_state

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows held in memory, in a file, or in a stream that can be repeated.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), their targets, and factors of their steps, relative to the mean.
        """
        self._check_parameters()
        rows = _with_one_target(check_rows(self, X, y, sample_weight, reset=True, supervised=True))
        if self.shuffle and not isinstance(rows.data, Source):
            rows = _merged(rows)
        state = self._initial()
        rng = as_generator(self.random_state, name="random_state")
        self._check_whole_batch_step(rows)
        mean_weight = float(fold(_weight_moments, rows.data, rows.y, weights=rows.weights).mean[0])
        losses = []
        for epoch in range(self.n_epochs):
            state = self._run_epoch(rows, state, epoch, rng, mean_weight)
            losses.append(state.loss / state.n_rows)
            if epoch == 0 and self.n_epochs > 1:
                none = np.zeros_like(state.descent.w)
                state = replace(state, descent=replace(state.descent, total=none, n_summed=0))
        self.loss_curve_ = np.array(losses)
        self._set_fitted(state)
        self._check_convergence(rows)
        return self

    @all_or_nothing(afresh=False)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take steps over more rows once, in the order they are given.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), their targets, and factors of their steps.
        """
        self._check_parameters()
        first = not hasattr(self, "_descent_")
        rows = _with_one_target(check_rows(self, X, y, sample_weight, reset=first, supervised=True))
        state = self._initial() if first else _Epoch(descent=self._descent_, scaling=self._scaling_)
        state = self._run_epoch(rows, state, 0, None)
        self.loss_curve_ = np.append(getattr(self, "loss_curve_", np.empty(0)), state.loss / state.n_rows)
        self._set_fitted(state)
        return self

    @by_blocks
    def predict(self, X: Any) -> np.ndarray:
        """Return intercept + xᵀ coef for each row."""
        return linear_predictor(self, X)

    def _initial(self) -> _Epoch:
        scaling = FeatureScaling.initial(
            self.n_features_in_, standardize=self.standardize, fit_intercept=self.fit_intercept
        )
        zeros = np.zeros(self.n_features_in_ + int(scaling.has_intercept))
        return _Epoch(descent=GradientDescent(step=self.step, w=zeros, total=zeros), scaling=scaling)

    def _run_epoch(
        self,
        rows: Rows,
        state: _Epoch,
        epoch: int,
        rng: np.random.Generator | None,
        mean_weight: float = 1.0,
    ) -> _Epoch:
        """Take the steps of all rows, shuffled where there is a generator, by weights over their mean."""
        state = replace(state, loss=0.0, n_rows=0)
        if isinstance(rows.data, Source):
            update = partial(self._updated, epoch=epoch, in_memory=False, mean_weight=mean_weight)
            state = rows.data.accumulate(update, state)
            if not state.n_rows:
                raise ValueError("sample_weight must have a positive entry, all are zero")
            return state
        X, y, w = _as_arrays(rows.data, rows.y, rows.weights)
        if rng is not None:
            order = rng.permutation(len(X)) if self.shuffle else np.arange(len(X))
            X, y, w = X[order], y[order], w[order]
        block = Batch(X=X, y=y, weights=w)
        return self._updated(state, block, epoch=epoch, in_memory=rng is not None, mean_weight=mean_weight)

    def _updated(
        self, state: _Epoch, block: Batch, *, epoch: int, in_memory: bool, mean_weight: float
    ) -> _Epoch:
        """Return the state after the steps of a block; the first epoch learns the scaling too."""
        X, y, w = _as_arrays(block.X, block.y, block.weights)
        if not len(y):
            return state
        w = w / mean_weight
        check_squarable("y", y)
        scaling = state.scaling.updated(X, w) if epoch == 0 else state.scaling
        descent = state.descent.rescaled(state.scaling, scaling)
        phi = scaling.features(X)
        if epoch == 0 or not in_memory:  # all rows together are measured once
            descent = descent.measured(phi, w, whole=self.batch_size is None)
        descent, loss = descent.updated(phi, y, w, min(self.batch_size or len(y), len(y)))
        if descent.diverges(loss / len(y)):
            raise ValueError(
                f"step is too large: the errors grow without bound after {descent.n_steps} updates. "
                f"{self._bound(descent, (phi, w) if in_memory else None)}"
            )
        return _Epoch(descent=descent, scaling=scaling, loss=state.loss + loss, n_rows=state.n_rows + len(y))

    def _bound(self, descent: GradientDescent, features: Any = None) -> str:
        """State which steps converge: from all rows where these are given, else from their sizes so far."""
        below = f"2 / mean |φ|² = {descent.stable_step:.3g} over the rows so far"
        if features is not None:
            below = f"2/λmax = {_stable_step(*features):.3g}"
        or_scaled = "" if self.standardize else ", or standardize=True,"
        return f"On average steps below {below} converge; smaller ones{or_scaled} may be needed"

    def _check_whole_batch_step(self, rows: Rows) -> None:
        """Refuse a constant step at or above 2/λmax where all rows are one batch, and λmax is known."""
        step = self.step
        if self.batch_size is not None or isinstance(rows.data, Source) or step is None or callable(step):
            return
        features = self._features(rows)
        if step >= _stable_step(*features):
            bound = self._bound(self._initial().descent, features)
            raise ValueError(f"step is too large: got {float(step)!r}. {bound}")

    def _features(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of rows in memory, and their weights over their mean."""
        X, _, w = _as_arrays(rows.data, rows.y, rows.weights)
        return self._initial().scaling.updated(X, w).features(X), w / w.mean()

    def _check_convergence(self, rows: Rows) -> None:
        """Compare the last epoch with the variation of the targets and with what least squares leaves."""
        targets = fold(_target_moments, rows.data, rows.y, weights=rows.weights)
        variance = float(targets.scatter[0, 0] / targets.weight)
        at_zero = variance + float(targets.mean[0]) ** 2
        of = partial(_ResidualSums.of, scaling=self._scaling_, w=self._weights())
        residuals = fold(of, rows.data, rows.y, weights=rows.weights)
        features = None if isinstance(rows.data, Source) else self._features(rows)
        _check_losses(
            self.loss_curve_,
            at_zero,
            variance if self.fit_intercept else at_zero,
            residuals,
            names=(["the intercept"] if self._scaling_.has_intercept else [])
            + [f"column {j} of X" for j in range(self.n_features_in_)],
            bound=self._bound(self._descent_, features),
        )

    def _weights(self) -> np.ndarray:
        return self._descent_.average if self.average else self._descent_.w

    def _set_fitted(self, state: _Epoch) -> None:
        self._descent_, self._scaling_ = state.descent, state.scaling
        self.coef_, self.intercept_ = self._scaling_.coefficients(self._weights())
        self.n_steps_ = self._descent_.n_steps

    def _check_parameters(self) -> None:
        if self.batch_size is not None:
            check_number("batch_size", self.batch_size, least=1, whole=True)
        check_number("n_epochs", self.n_epochs, least=1, whole=True)
        if self.step is not None and not callable(self.step):
            check_number("step", self.step, above=0.0)


def _check_losses(
    losses: np.ndarray,
    at_zero: float,
    level: float,
    residuals: _ResidualSums,
    *,
    names: list[str],
    bound: str,
) -> None:
    """Refuse a descent that ended further off than it began; warn of one that has not converged.

    `losses` are the mean squared errors of the epochs, `at_zero` that of weights of zero, and `level` that of
    the best constant. Steps that are too large make the errors rise and fall above it; steps that only need
    more epochs fall, epoch for epoch.
    """
    level = max(level, ROUNDING * at_zero)
    last, lowest = losses[-1], losses[:-1].min(initial=np.inf)
    if last > 4.0 * at_zero or (last > 4.0 * level and last > lowest):
        raise ValueError(
            f"step is too large: the mean squared error of the last epoch, {last:.3g}, is far above that of "
            f"a constant, {level:.3g}. {bound}"
        )
    falls = -np.diff(losses[-6:])
    if not len(falls):
        return
    if last > 4.0 * level or np.all(falls > 1e-3 * max(level, last)):
        _warn(
            f"its mean squared error still fell from {losses[-2]:.3g} to {last:.3g} in the last epoch; raise "
            "n_epochs or step, or try standardize=True"
        )
    elif last > NO_BETTER * level:
        _warn(
            f"the mean squared error of the last epoch, {last:.3g}, is above that of a constant, "
            f"{level:.3g}; smaller or falling steps, or average=True, come nearer"
        )
    elif residuals.mean_square > max(NEGLIGIBLE * level, NEGLIGIBLE**2 * at_zero):
        most = int(residuals.correlations.argmax())
        if residuals.correlations[most] > CORRELATED:
            _warn(
                f"its errors still follow {names[most]}, with a correlation of "
                f"{residuals.correlations[most]:.2f}; raise n_epochs, or try standardize=True where columns "
                "are of unlike scales"
            )


def _warn(what: str) -> None:
    warnings.warn(f"LeastMeanSquares has not converged: {what}", ConvergenceWarning, stacklevel=6)


def _step_of(step: Any, k: int) -> float:
    """Return the step of the k-th update, or refuse what a schedule returned."""
    if not callable(step):
        return float(step)
    given = step(k)
    if not (isinstance(given, Real) and 0.0 <= float(given) < np.inf):
        raise ValueError(f"step must give positive, finite numbers, got {given!r} for update {k}")
    return float(given)


def _safe_step(phi: np.ndarray, w: np.ndarray, *, whole: bool) -> float:
    """Return a step that shortens every error: 1/λmax for one batch of all rows, else 1 / max |φ|²."""
    if whole:
        return 0.5 * _stable_step(phi, w) if np.any(phi[w > 0]) else np.inf
    longest = float(np.max(w * _squared_lengths(phi)))
    return 1.0 / longest if longest > 0.0 else np.inf


def _stable_step(phi: np.ndarray, w: np.ndarray) -> float:
    """Return 2/λmax, the least constant step that does not converge on average."""
    _squared_lengths(phi)
    largest = float(np.linalg.norm(phi * np.sqrt(w / len(w))[:, None], ord=2)) ** 2
    return 2.0 / (largest or 1.0)


def _squared_lengths(phi: np.ndarray) -> np.ndarray:
    """Return |φ|² of each row."""
    check_squarable("X", phi, nonzero=True)
    return np.einsum("ij,ij->i", phi, phi)


def _with_one_target(rows: Rows) -> Rows:
    """Return rows with one target each; a column vector in memory is warned of once."""
    if isinstance(rows.data, Source):
        if not rows.data.in_memory:
            return rows
        held = rows.data.collect()  # a frame whose columns are named is shuffled as its arrays are
        rows = Rows(data=held.X, y=held.y, weights=held.weights)
    if not is_numpy_array(rows.data):
        raise ValueError(f"X must be a NumPy array, a frame or a source, got {type(rows.data).__name__}")
    return replace(rows, y=column_or_1d(rows.y, warn=True))


def _merged(rows: Rows) -> Rows:
    """Return the different rows, each with the sum of the weights, in an order that they alone determine."""
    X, y, w = _as_arrays(rows.data, rows.y, rows.weights)
    both = np.column_stack([X, y]) + 0.0  # no zero has a sign
    order = np.argsort(row_uniforms(both, 0), kind="stable")
    both = both[order]
    begins = np.flatnonzero(np.append(True, np.any(both[1:] != both[:-1], axis=1))[: len(both)])
    merged = both[begins]
    weights = np.add.reduceat(w[order], begins) if len(begins) else w
    return replace(rows, data=merged[:, :-1], y=merged[:, -1], weights=weights)


def _weight_moments(X: Any, y: Any, weights: Any = None) -> Moments:
    return Moments.of(_as_arrays(X, y, weights)[2][:, None])


def _target_moments(X: Any, y: Any, weights: Any = None) -> Moments:
    _, y, weights = _as_arrays(X, y, weights)
    return Moments.of(y[:, None], weights)


def _as_arrays(X: Any, y: Any, weights: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, targets and weights, without the rows of weight zero: they take no place in an order."""
    X, y = np.asarray(X, dtype=np.float64), column_or_1d(np.asarray(y, dtype=np.float64))
    w = counts(weights, y)
    counted = w > 0.0
    return (X, y, w) if np.all(counted) else (X[counted], y[counted], w[counted])
