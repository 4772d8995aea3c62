"""Linear regression one row at a time, by gradient steps."""

import warnings
from collections.abc import Callable, Iterator
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
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
from tractable.primitives.linear import gradient_pass
from tractable.statistics import Moments
from tractable.value import replace, value

__all__ = [
    "Descent",
    "LeastMeanSquares",
    "Leftover",
    "Scaling",
    "auto_step",
    "check_course",
    "check_targets",
    "stable_step",
]


Block = tuple[np.ndarray, np.ndarray, np.ndarray]


#: Sizes of which the squares are numbers, and their sums.
_LARGE = 1e150
#: Errors this many times the targets are on their way to infinity.
_TOO_FAR = 1e3
#: Squared errors this small beside squared targets are rounding, and may rise and fall.
_ROUNDED = 1e-20
#: Errors this many times those of a constant are no better; steps among mere noise err a little more than it.
_NO_BETTER = 1.5
#: Errors with such a cosine to a feature are not yet those of least squares,
_FOLLOWS = 0.5
#: unless they are this small beside the targets.
_LITTLE = 1e-4


@value
class Scaling:
    """The columns that steps are taken in: [1, (x - centre) / scale]."""

    centre: np.ndarray  # (d,)
    scale: np.ndarray  # (d,)
    n_located: int
    weight: float = 0.0  # of the rows that it is learned from
    spread: np.ndarray | None = None  # (d,), of those rows; None for columns as they are given

    @classmethod
    def start(cls, d: int, *, standardize: bool, fit_intercept: bool) -> "Scaling":
        """Begin with columns as they are; with `standardize` rows that follow change that."""
        spread = np.zeros(d) if standardize else None
        return cls(centre=np.zeros(d), scale=np.ones(d), n_located=int(fit_intercept), spread=spread)

    def following(self, X: np.ndarray, w: np.ndarray) -> "Scaling":
        """Return the scaling after more rows: by the standard deviation of all, or their size about 0."""
        more = float(w.sum())
        if self.spread is None or more == 0.0:
            return self
        first = X[0] if self.n_located else np.zeros(X.shape[1])
        centre = first + self.n_located * (w @ (X - first) / more)
        weight, step = self.weight + more, centre - self.centre
        old, new = np.sqrt(self.weight / weight), np.sqrt(more / weight)
        parts = old * self.spread, new * _rms(X - centre, w), old * new * np.abs(step)
        spread = np.hypot(np.hypot(*parts[:2]), parts[2])
        return Scaling(
            centre=self.centre + new**2 * step,
            scale=np.where(spread > 0.0, spread, 1.0),
            n_located=self.n_located,
            weight=weight,
            spread=spread,
        )

    def retold(self, w: np.ndarray, after: "Scaling") -> np.ndarray:
        """Return the weights of the same plane in the columns of a later scaling."""
        n = self.n_located
        moved = (after.centre - self.centre) / self.scale @ w[n:]
        return np.concatenate([w[:n] + moved, w[n:] * (after.scale / self.scale)])

    def features(self, X: np.ndarray) -> np.ndarray:
        """Return φ for each row."""
        columns = (X - self.centre) / self.scale
        return np.column_stack([np.ones(len(X)), columns]) if self.n_located else columns

    def in_units(self, w: np.ndarray) -> tuple[np.ndarray, float]:
        """Return coefficients and intercept in the units of X."""
        coef = w[self.n_located :] / self.scale
        return coef, float(w[0] - self.centre @ coef) if self.n_located else 0.0


@value
class Descent:
    """Where a descent is: the weights, the sum of those before, and how large targets and features were."""

    step: Any  # a number, a function of the number of the update, or None for the longest safe one
    w: np.ndarray  # (p,)
    total: np.ndarray  # (p,)
    n_summed: int
    n_steps: int
    power: float  # largest mean square of the targets of a block
    safe: float = np.inf  # the step with which no update so far overshoots
    length: float = 0.0  # root of the mean |φ|²
    n_rows: int = 0  # that this is of

    @classmethod
    def at_rest(cls, p: int, step: float | Callable[[int], float] | None) -> "Descent":
        """Begin with weights of zero."""
        zeros = np.zeros(p)
        return cls(step=step, w=zeros, total=zeros, n_summed=0, n_steps=0, power=0.0)

    @property
    def average(self) -> np.ndarray:
        """The mean of the weights after each update."""
        return self.total / self.n_summed if self.n_summed else self.w

    def retold(self, before: Scaling, after: Scaling) -> "Descent":
        """Return the same way, told in the columns of a later scaling."""
        if after is before:
            return self
        return replace(self, w=before.retold(self.w, after), total=before.retold(self.total, after))

    @property
    def stable(self) -> float:
        """2 / mean |φ|², a constant step below which converges on average: λmax is no more than the mean."""
        return _in_units(2.0, self.length or 1.0)

    def measured(self, phi: np.ndarray, w: np.ndarray, *, whole: bool) -> "Descent":
        """Return the descent that knows how long these rows are, too."""
        n, size = self.n_rows + len(w), _size(phi)
        block = size * float(np.linalg.norm(phi / size * np.sqrt(w / n)[:, None]))
        return replace(
            self,
            n_rows=n,
            length=float(np.hypot(self.length * np.sqrt(self.n_rows / n), block)),
            safe=min(self.safe, auto_step(phi, w, whole=whole)) if self.step is None else self.safe,
        )

    def walked(
        self, phi: np.ndarray, y: np.ndarray, w: np.ndarray, batch_size: int
    ) -> tuple["Descent", float]:
        """Return the descent after the batches of a block, and the summed squared error on the way."""
        n = -(-len(y) // batch_size)
        numbers = range(self.n_steps + 1, self.n_steps + n + 1)
        step = (self.safe if self.safe < np.inf else 1.0) if self.step is None else self.step
        steps = np.array([_stepped(step, k) for k in numbers])
        with np.errstate(over="ignore", invalid="ignore"):
            moved, total, loss = gradient_pass(phi, y, w, steps, batch_size, self.w)
        after = replace(
            self,
            w=moved,
            total=self.total + total,
            n_summed=self.n_summed + n,
            n_steps=self.n_steps + n,
            power=max(self.power, float(w @ y**2 / len(y))),
        )
        return after, float(loss)

    def sound(self, loss: float) -> bool:
        """Whether the weights are finite and the mean squared error is not on its way to infinity.

        Safe steps may jump where a row is very short, and come back at the next long one.
        """
        return bool(np.all(np.isfinite(self.w))) and (self.step is None or loss <= _TOO_FAR**2 * self.power)


@value
class Leftover:
    """Sums over rows of what a plane left: of r φ, φ² and r². It adds up over blocks.

    Parameters
    ----------
    products : array (p,)
    squares : array (p,)
    errors : float
    weight : float
    n_located : int
    """

    products: np.ndarray
    squares: np.ndarray
    errors: float
    weight: float
    n_located: int

    @classmethod
    def of(cls, phi: np.ndarray, r: np.ndarray, w: np.ndarray, n_located: int) -> "Leftover":
        """Sum over a block of features and errors."""
        return cls(
            products=(w * r) @ phi,
            squares=w @ phi**2,
            errors=float(w @ r**2),
            weight=float(w.sum()),
            n_located=n_located,
        )

    def __add__(self, other: "Leftover") -> "Leftover":
        return Leftover(
            products=self.products + other.products,
            squares=self.squares + other.squares,
            errors=self.errors + other.errors,
            weight=self.weight + other.weight,
            n_located=self.n_located,
        )

    @property
    def square(self) -> float:
        """Mean squared error."""
        return self.errors / self.weight

    @property
    def along(self) -> np.ndarray:
        """Cosine of the errors with each feature: zero at the least squares, in any units."""
        lengths = np.sqrt(self.squares) * self.errors**0.5
        return np.abs(self.products) / np.where(lengths > 0, lengths, 1.0)

    @property
    def follows(self) -> float:
        """The largest of those."""
        return float(self.along.max(initial=0.0))

    @property
    def name(self) -> str:
        """The feature that has it."""
        place = int(self.along.argmax()) - self.n_located
        return "the intercept" if place < 0 else f"column {place} of X"


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


def check_targets(y: np.ndarray) -> None:
    """Refuse targets of which the squared errors are no numbers."""
    size = float(np.max(np.abs(y), initial=0.0))
    if size > _LARGE:
        raise ValueError(f"y must be in units nearer to one: of a size of {size:.1g}, its squares overflow")


def _stepped(step: Any, k: int) -> float:
    """Return the step of the k-th update, or say that a schedule gave none."""
    if not callable(step):
        return float(step)
    given = step(k)
    if not (isinstance(given, Real) and 0.0 <= float(given) < np.inf):
        raise ValueError(f"step must give positive, finite numbers, got {given!r} for update {k}")
    return float(given)


def check_course(losses: np.ndarray, at_rest: float, level: float, left: Leftover, *, bound: str) -> None:
    """Refuse a descent that ended further off than it began, and say where one has not come to an end.

    `losses` are the mean squared errors of the epochs, `at_rest` that of weights of zero, `level` that of the
    best constant, and `left` is what the plane that was learned leaves. Steps that keep no plane at all
    wander at some level above it, up and down; those that only need more of them fall, epoch for epoch.
    """
    level = max(level, _ROUNDED * at_rest)
    last, lowest = losses[-1], losses[:-1].min(initial=np.inf)
    if last > 4.0 * at_rest or (last > 4.0 * level and last > lowest):
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
    elif last > _NO_BETTER * level:
        _warn(
            f"the mean squared error of the last epoch, {last:.3g}, is above that of a constant, "
            f"{level:.3g}; smaller or falling steps, or average=True, come nearer"
        )
    elif left.square > max(_LITTLE * level, _LITTLE**2 * at_rest) and left.follows > _FOLLOWS:
        _warn(
            f"its errors still follow {left.name}, with a correlation of {left.follows:.2f}; raise n_epochs, "
            "or try standardize=True where columns are in unlike units"
        )


def _warn(what: str) -> None:
    warnings.warn(f"LeastMeanSquares has not converged: {what}", ConvergenceWarning, stacklevel=5)


def auto_step(phi: np.ndarray, w: np.ndarray, *, whole: bool) -> float:
    """Return a step that shortens every error: 1/λmax for one batch of all rows, else 1 / max |φ|²."""
    size = _size(phi)
    longest = float(np.max(w * np.sum((phi / size) ** 2, axis=1)))
    if longest == 0.0:
        return np.inf
    return 0.5 * stable_step(phi, w) if whole else _in_units(1.0 / longest, size)


def stable_step(phi: np.ndarray, w: np.ndarray) -> float:
    """Return 2/λmax, the least constant step that does not converge on average."""
    size = _size(phi)
    weighted = phi / size * np.sqrt(w / len(w))[:, None]
    largest = float(np.linalg.norm(weighted, ord=2)) ** 2
    return _in_units(2.0 / (largest or 1.0), size)


def _rms(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Return the root of the mean square of each column, where squares may be no numbers."""
    size = np.abs(x).max(axis=0)
    size[size == 0.0] = 1.0
    return size * np.sqrt(w @ (x / size) ** 2 / w.sum())


def _size(phi: np.ndarray) -> float:
    return float(np.max(np.abs(phi), initial=0.0)) or 1.0


def _in_units(step: float, size: float) -> float:
    """Return the step of features that were divided by their size, or say that it is no number."""
    if not 1.0 / _LARGE < size < _LARGE:
        raise ValueError(
            f"X must be in units nearer to one, or standardize=True: of a size of {size:.1g}, steps are no "
            "floating-point numbers"
        )
    return step / size**2
