"""The perceptron: linear discriminant functions corrected by their mistakes."""

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from tractable.arrays.limits import check_coefficients, check_squarable, reciprocals
from tractable.arrays.random import as_generator
from tractable.base import (
    ClassifierMixin,
    Estimator,
    ModelTags,
    all_or_nothing,
    check_choice,
    check_class_rows,
    check_labels,
    check_number,
)
from tractable.base.options import SklearnOptions
from tractable.base.validation import check_query
from tractable.classification.labelled_rows import labelled_rows
from tractable.data import ArraySource, Batch, Source
from tractable.engines import fold
from tractable.primitives.glm import perceptron_pass
from tractable.statistics import Extremes
from tractable.value import value

KEEPS = ("last", "average", "pocket")

#: Weights (K, p), their sums over visits, number of visits, and weight of the mistakes of a pass.
State = tuple[np.ndarray, np.ndarray, float, float]


class Perceptron(ClassifierMixin, Estimator):
    """Linear discriminant functions that learn from mistakes alone (Rosenblatt 1962).

    For two classes with t = ±1 the rule is w ← w + t φ where t wᵀφ ≤ 0, with φ = (1, x). For several the row
    is added to the weights of its class and subtracted from those of the class that scored higher. Where
    hyperplanes separate the classes with a margin γ, it makes at most (R/γ)² mistakes, R = max |φ|, whatever
    the order of the rows (Novikoff 1962); for K > 2 at most 2 (R/γ)². Where they do not, it never converges,
    which is warned of, and the average of its weights, or the best ones found, is the better answer.

    It has no probabilities and no `predict_dist`, as it maximises no likelihood and the scale of its scores
    means nothing: :class:`tractable.LogisticRegression` has them. The constant entry of φ is the largest
    power of two within the largest entry of X, so that sums of whole numbers stay exact. Units that are a
    power of two apart give the same hyperplanes; others may give somewhat different ones, as the constant is
    between half of the largest entry and all of it. Columns of unlike units are better standardized first.

    Parameters
    ----------
    max_iter : int
        Maximum number of passes over the rows.
    keep : {"last", "average", "pocket"}
        Which weights are learned: those after the last correction; the average over all visits (Freund and
        Schapire 1999); or of those at the end of a pass the ones with the fewest mistakes (after Gallant
        1990, whose pocket also tries weights within a pass): with `shuffle` it tries more of them.
    fit_intercept : bool
        Whether discriminant functions have an intercept.
    shuffle : bool
        Whether each pass takes rows held in memory in an order of its own.
    random_state : None, int, RandomState or Generator
        Of the orders.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    coef_ : array of shape (1, n_features) for two classes, or (n_classes, n_features)
        Coefficients of the discriminant functions.
    intercept_ : array of shape (1,) or (n_classes,)
        Their intercepts; 0 where there are none.
    converged_ : bool
        Whether a whole pass was without mistakes: the classes are separated.
    mistakes_ : array of shape (n_iter_,)
        Weight of the mistakes of each pass.
    n_mistakes_ : float
        Their sum.
    n_iter_ : int
        Number of passes.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

    Notes
    -----
    A row of weight m is visited m times in a row. Sources are walked in their order, pass by pass, with the
    same answer as their rows in memory; `partial_fit` is one pass over more rows.

    Examples
    --------
    >>> import tractable
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["no", "no", "no", "yes"]
    >>> model = tractable.Perceptron().fit(X, y)
    >>> model.predict(X).tolist(), model.converged_, model.n_mistakes_
    (['no', 'no', 'no', 'yes'], True, 18.0)
    """

    model_tags = ModelTags(kind="mapping", parametric=True, streaming="exact over several passes")

    # A rate scales the weights alone; the others belong to a penalty, to early stopping, and to a loss
    # without an end: training stops when a pass makes no mistake.
    _sklearn_options = SklearnOptions(
        ignored=("eta0", "alpha", "l1_ratio", "validation_fraction", "n_iter_no_change", "tol"),
        limited={
            "penalty": (None,),
            "early_stopping": (False,),
            "class_weight": (None,),
            "warm_start": (False,),
        },
    )

    def __init__(
        self,
        *,
        max_iter: int = 1000,
        keep: str = "last",
        fit_intercept: bool = True,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        self.max_iter = max_iter
        self.keep = keep
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go through the rows until a pass has no mistakes, or `max_iter` times.

        Parameters
        ----------
        X, y, sample_weight
            Rows in memory, in files or in a stream that can be repeated, their labels, and their weights.
        """
        self._check_parameters()
        data, classes = labelled_rows(self, X, y, sample_weight)
        rng = as_generator(self.random_state, name="random_state") if self.shuffle else None
        extremes = fold(_extremes, data)
        self._begin(classes, max(-float(np.min(extremes.low)), float(np.max(extremes.high)), 0.0))
        augment = self._augment()
        width = self._weights_.shape[1]
        # Rows in memory are one batch, which is shuffled as a whole.
        rows: Any = augment(data) if isinstance(data, ArraySource) else data.map(augment, n_features=width)
        best: tuple[float, np.ndarray] = (np.inf, self._weights_)
        while len(self.mistakes_) < self.max_iter and not self.converged_:
            self._pass(rows, rng)
            if self.keep == "pocket":
                wrong = _Mistakes(weights=self._weights_)
                errors = rows.reduce(wrong) if isinstance(rows, Source) else wrong(rows)
                best = min(best, (errors, self._weights_), key=lambda found: found[0])
        self._set_coef(best[1] if self.keep == "pocket" else self._weights_)
        if not self.converged_:
            warnings.warn(
                f"Perceptron still made {self.mistakes_[-1]:g} mistakes in pass {self.n_iter_}: the classes "
                "are not separated by hyperplanes, or need more passes (max_iter)",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    @available_if(lambda self: self.keep != "pocket")
    @all_or_nothing(afresh=False)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go through more rows once, in the order they are given; not for a pocket, which needs all rows.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`, held in memory.
        classes : array, optional
            All the classes there are; those of the first rows when not given.
        """
        self._check_parameters()
        begun = hasattr(self, "_weights_")
        rows, seen = check_class_rows(self, X, y, sample_weight, reset=not begun)
        if seen is None:
            raise ValueError("X must be rows held in memory for partial_fit; fit walks sources")
        if classes is not None:
            declared = check_labels(np.asarray(classes))[0]
            if begun and not np.array_equal(declared, self.classes_):
                raise ValueError(
                    f"classes={list(declared)} is not what was given before, {list(self.classes_)}"
                )
        if not begun:
            size = float(np.max(np.abs(rows.data), initial=0.0))
            self._begin(seen if classes is None else declared, size)
        unknown = np.setdiff1d(seen, self.classes_)
        if len(unknown):
            raise ValueError(f"y has the label {unknown[0]!r}, which is not among {list(self.classes_)}")
        codes = np.searchsorted(self.classes_, seen)[rows.y]
        self._pass(self._augment()(Batch(X=rows.data, y=codes, weights=rows.weights)), None)
        self._set_coef(self._weights_)
        return self

    @property
    def n_iter_(self) -> int:
        """Number of passes."""
        return len(self.mistakes_)

    @property
    def n_mistakes_(self) -> float:
        """Weight of the mistakes of all passes."""
        return float(self.mistakes_.sum())

    def _class_scores(self, X: Any) -> np.ndarray:
        scores = check_query(self, X) @ self.coef_.T + self.intercept_
        return scores if len(self.classes_) > 2 else np.column_stack([np.zeros(len(scores)), scores])

    def _check_parameters(self) -> None:
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_choice("keep", self.keep, KEEPS)

    def _begin(self, classes: np.ndarray, size: float) -> None:
        """Set the state of the search before the first pass; `size` is the largest entry of X."""
        if len(classes) < 2:
            raise ValueError(f"y must have two classes at least, got {len(classes)} class")
        check_squarable("X", size)
        self.classes_ = classes
        self._unit_ = 2.0 ** np.floor(np.log2(size)) if size > 0.0 else 1.0
        reciprocals(np.asarray(self._unit_))
        self._weights_ = np.zeros((len(classes), int(self.fit_intercept) + self.n_features_in_))
        self._weight_sums_, self._n_visits_ = np.zeros_like(self._weights_), 0.0
        self.mistakes_, self.converged_ = np.zeros(0), False

    def _augment(self) -> "_Augment":
        return _Augment(unit=self._unit_, intercept=bool(self.fit_intercept))

    def _pass(self, rows: Batch | Source, rng: np.random.Generator | None) -> None:
        """Visit rows once, and record how often the weights were wrong."""
        visit = partial(_visit, rng=rng)
        state: State = self._weights_, self._weight_sums_, self._n_visits_, 0.0
        state = rows.accumulate(visit, state) if isinstance(rows, Source) else visit(state, rows)
        self._weights_, self._weight_sums_, self._n_visits_, wrong = state
        self.mistakes_ = np.append(self.mistakes_, wrong)
        self.converged_ = wrong == 0.0

    def _set_coef(self, weights: np.ndarray) -> None:
        weights = self._weight_sums_ / self._n_visits_ if self.keep == "average" else weights
        weights = weights[1:] if len(weights) == 2 else weights
        first = int(self.fit_intercept)
        with np.errstate(over="ignore"):
            self.coef_ = check_coefficients(weights[:, first:] / self._unit_)
        self.intercept_ = weights[:, 0] if first else np.zeros(len(weights))


def _extremes(x: Any, codes: Any, weights: Any = None) -> Extremes:  # noqa: ARG001
    return Extremes.of(x)


@value
class _Augment:
    """Divides the rows of a batch by a unit, and puts a column of ones before them."""

    unit: float
    intercept: bool

    def __call__(self, batch: Batch | ArraySource) -> Batch:
        x = np.asarray(batch.X, dtype=np.float64) / self.unit
        x = np.column_stack([np.ones(len(x)), x]) if self.intercept else np.ascontiguousarray(x)
        w = np.ones(len(x)) if batch.weights is None else np.asarray(batch.weights, dtype=np.float64)
        return Batch(X=x, y=np.asarray(batch.y, dtype=np.int64), weights=w)


@value
class _Mistakes:
    """The weight of the rows of a block that given weights have on the wrong side."""

    weights: np.ndarray

    def __call__(self, block: Batch) -> float:
        scores, codes = block.X @ self.weights.T, np.asarray(block.y)[:, None]
        own = np.take_along_axis(scores, codes, axis=1)[:, 0]
        np.put_along_axis(scores, codes, -np.inf, axis=1)
        return float(np.asarray(block.weights) @ (scores.max(axis=1) >= own))


def _visit(state: State, block: Batch, *, rng: np.random.Generator | None) -> State:
    """Visit the rows of a block once, in a random order where there is a generator."""
    weights, sums, visits, wrong = state
    x, codes, w = block.X, np.asarray(block.y), np.asarray(block.weights)
    if rng is not None:
        order = rng.permutation(len(x))
        x, codes, w = x[order], codes[order], w[order]
    weights, more, mistakes, n = perceptron_pass(x, codes, w, weights)
    return weights, sums + more, visits + n, wrong + mistakes
