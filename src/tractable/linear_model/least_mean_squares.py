"""Linear regression one row at a time, by gradient steps."""

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from tractable.arrays.namespace import is_numpy_array
from tractable.arrays.random import as_generator
from tractable.base import (
    Estimator,
    ModelTags,
    Rows,
    all_or_nothing,
    check_columns,
    check_fitted,
    check_rows,
)
from tractable.base.parameters import check_number
from tractable.data import Source
from tractable.linear_model.gradient_steps import (
    Descent,
    Scaling,
    check_course,
    check_targets,
    stable_step,
)
from tractable.linear_model.leftover import Leftover
from tractable.statistics import Moments
from tractable.value import replace

__all__ = ["LeastMeanSquares"]

Block = tuple[np.ndarray, np.ndarray, np.ndarray]


class LeastMeanSquares(RegressorMixin, Estimator):
    """Linear regression by stochastic gradient steps, w ← w + η (t - wᵀφ) φ for each row.

    It approaches least squares without holding the rows or a matrix of their columns: for streams, and for
    very many columns. Constant steps converge on average where η < 2 / λmax, with λmax the largest eigenvalue
    of the average of φφᵀ (φ with a leading 1 for the intercept), and then wander within a distance of order
    √η; steps that fall as a :class:`tractable.engines.StepSize`, or averaging, come to rest. Steps that
    diverge are an error that says the bound, and a `fit` that was still falling at its end is a warning.
    Approximate in a stream; :class:`tractable.LinearRegression` is exact there, at the cost of a matrix.

    Parameters
    ----------
    step : float, StepSize or callable, optional
        η; or the step for the N-th update, N from 1. By default 1 / max |φ|² over the rows seen so far, with
        which no update overshoots; 1 / λmax where all rows are one batch.
    batch_size : int, optional
        Rows whose average gradient is one update; None for all rows at hand.
    n_epochs : int
        How often `fit` goes through the rows.
    average : bool
        Whether the answer is the mean of the weights after each update (Polyak and Ruppert), but for those of
        the first of several epochs.
    standardize : bool
        Whether steps are taken in columns of mean zero and variance one (mean square one where there is no
        intercept), as they are in the rows seen so far. It makes the steps fit all directions better;
        `coef_` is in the units of X.
    fit_intercept : bool
    shuffle : bool
        Whether each epoch takes the rows in an order of its own; files and streams keep theirs.
    random_state : None, int, RandomState or Generator

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    n_steps_ : int
        Updates made so far.
    loss_curve_ : array of shape (n_epochs,)
        The mean squared error of each pass, every row before its own update.

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
    descent_: Descent

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
        self.step = step
        self.batch_size = batch_size
        self.n_epochs = n_epochs
        self.average = average
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows held in memory, in a file, or in a stream that can be walked again.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or column name
        sample_weight : array of shape (n_samples,) or column name, optional
            How much each row pulls, relative to the mean of the weights of rows held in memory.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = _one_target(check_rows(self, X, y, sample_weight, reset=True, supervised=True))
        alone = not isinstance(rows.data, Source)
        rng = as_generator(self.random_state)
        self._refuse_steps_beyond_the_bound(rows)
        for epoch in range(self.n_epochs):
            walked = [self._follow(b, epoch=epoch, alone=alone) for b in self._blocks(rows, rng)]
            self._note(np.sum([loss for loss, _ in walked]) / np.sum([n for _, n in walked]))
            if epoch == 0 and self.n_epochs > 1:
                self.descent_ = replace(self.descent_, total=0.0 * self.descent_.w, n_summed=0)
        self._name()
        self._check_course(rows)
        return self

    @all_or_nothing(afresh=False)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go through more rows once, in the order they are given.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or column name
        sample_weight : array of shape (n_samples,) or column name, optional
            Factors of the steps.

        Returns
        -------
        self
        """
        self._check_parameters()
        first = not hasattr(self, "descent_")
        rows = _one_target(check_rows(self, X, y, sample_weight, reset=first, supervised=True))
        walked = [self._follow(block) for block in self._blocks(rows, None)]
        self._note(np.sum([loss for loss, _ in walked]) / np.sum([n for _, n in walked]))
        self._name()
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the plane at each row.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_fitted(self)
        return self.intercept_ + check_columns(self, X).astype(np.float64) @ self.coef_

    def _blocks(self, rows: Rows, rng: np.random.Generator | None) -> Iterator[Block]:
        if isinstance(rows.data, Source):
            for batch in rows.data.batches():
                yield _block(batch.X, batch.y, batch.weights)
            return
        if not is_numpy_array(rows.data):
            raise ValueError(f"X must be a NumPy array, a frame or a source, got {type(rows.data).__name__}")
        X, y, w = _block(rows.data, rows.y, rows.weights)
        if rng is None:
            yield X, y, w
            return
        order = rng.permutation(len(X)) if self.shuffle else np.arange(len(X))
        yield X[order], y[order], w[order] / w.mean()

    def _follow(self, block: Block, *, epoch: int = 0, alone: bool = False) -> tuple[float, int]:
        """Take the steps of a block, and return its summed squared error and its number of rows."""
        X, y, w = block
        check_targets(y)
        if epoch == 0:
            self._learn_scaling(X, w)
        phi = self.scaling_.features(X)
        descent = self.descent_
        if epoch == 0 or not alone:  # in the columns of now; all rows together are as they were
            descent = descent.measured(phi, w, whole=self.batch_size is None)
        self.descent_, loss = descent.walked(phi, y, w, self.batch_size or len(y))
        if not self.descent_.sound(loss / len(y)):
            raise ValueError(
                f"step is too large: the errors grow without bound after {self.descent_.n_steps} updates. "
                f"{self._bound(phi, w) if alone else self._bound()}"
            )
        return loss, len(y)

    def _learn_scaling(self, X: np.ndarray, w: np.ndarray) -> None:
        """Scale the columns as all rows so far say, and keep the plane."""
        if not hasattr(self, "descent_"):
            self.scaling_ = self._unscaled(X)
            self.descent_ = Descent.at_rest(X.shape[1] + self.scaling_.n_located, self.step)
        before, self.scaling_ = self.scaling_, self.scaling_.following(X, w)
        self.descent_ = self.descent_.retold(before, self.scaling_)

    def _unscaled(self, X: np.ndarray) -> Scaling:
        return Scaling.start(X.shape[1], standardize=self.standardize, fit_intercept=self.fit_intercept)

    def _bound(self, phi: np.ndarray | None = None, w: np.ndarray | None = None) -> str:
        """Say which steps converge: exactly where all rows are here, else from how long they were so far."""
        if phi is None or w is None:
            below = f"2 / mean |φ|² = {self.descent_.stable:.3g} over the rows so far"
        else:
            below = f"2/λmax = {stable_step(phi, w):.3g}"
        or_scaled = "" if self.standardize else ", or standardize=True,"
        return f"On average steps below {below} converge; smaller ones{or_scaled} may be needed"

    def _refuse_steps_beyond_the_bound(self, rows: Rows) -> None:
        """Where all rows are one batch, λmax is known, and the bound exact."""
        if self.batch_size is not None or self.step is None or callable(self.step):
            return
        if isinstance(rows.data, Source):
            return
        phi, w = self._first(rows)
        if self.step >= stable_step(phi, w):
            raise ValueError(f"step is too large: got {float(self.step)!r}. {self._bound(phi, w)}")

    def _check_course(self, rows: Rows) -> None:
        """Compare the last epoch with what the targets themselves amount to."""
        of = [Moments.of(y[:, None], w) for _, y, w in self._blocks(rows, None)]
        total = sum(of[1:], of[0])
        level = float(total.scatter[0, 0] / total.weight)
        at_rest = level + float(total.mean[0]) ** 2
        check_course(
            self.loss_curve_,
            at_rest,
            level if self.fit_intercept else at_rest,
            self._left(rows),
            bound=self._bound() if isinstance(rows.data, Source) else self._bound(*self._first(rows)),
        )

    def _left(self, rows: Rows) -> Leftover:
        """Return what the plane leaves of the targets."""
        w = self._weights()
        of = [
            Leftover.of(phi, y - phi @ w, weights, self.scaling_.n_located)
            for X, y, weights in self._blocks(rows, None)
            for phi in [self.scaling_.features(X)]
        ]
        return sum(of[1:], of[0])

    def _first(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of the first block, and its weights."""
        X, _, w = next(self._blocks(rows, None))
        return self._unscaled(X).following(X, w).features(X), w / w.mean()

    def _note(self, loss: float) -> None:
        self.loss_curve_ = np.append(getattr(self, "loss_curve_", np.empty(0)), loss)

    def _weights(self) -> np.ndarray:
        return self.descent_.average if self.average else self.descent_.w

    def _name(self) -> None:
        self.coef_, self.intercept_ = self.scaling_.in_units(self._weights())
        self.n_steps_ = self.descent_.n_steps

    def _check_parameters(self) -> None:
        if self.batch_size is not None:
            check_number("batch_size", self.batch_size, least=1, whole=True)
        check_number("n_epochs", self.n_epochs, least=1, whole=True)
        if self.step is not None and not callable(self.step):
            check_number("step", self.step, above=0.0)


def _one_target(rows: Rows) -> Rows:
    """Return rows in memory with one target each; a column vector is warned of once."""
    return replace(rows, y=column_or_1d(rows.y, warn=True)) if is_numpy_array(rows.data) else rows


def _block(X: Any, y: Any, weights: Any) -> Block:
    targets = column_or_1d(np.asarray(y, dtype=np.float64))
    w = np.ones(len(targets)) if weights is None else np.asarray(weights, dtype=np.float64)
    return np.asarray(X, dtype=np.float64), targets, w
