"""The perceptron: planes corrected by their mistakes."""

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if

from tractable.arrays.random import as_generator
from tractable.base import (
    Estimator,
    ModelTags,
    all_or_nothing,
    check_choice,
    check_class_rows,
    check_labels,
    check_number,
)
from tractable.classification.decision_functions import DiscriminantScores
from tractable.classification.labelled_rows import LabelledRows, labelled_rows
from tractable.data import Source
from tractable.primitives.glm import perceptron_pass

__all__ = ["Perceptron"]

Block = tuple[np.ndarray, np.ndarray, np.ndarray]

KEEPS = ("last", "average", "pocket")


class Perceptron(DiscriminantScores, Estimator):
    """Planes that learn from mistakes alone: a row on the wrong side is added to the plane of its class.

    For two classes with t = ±1 the rule is w ← w + t φ where t wᵀφ ≤ 0, with φ = (1, x). For several the row
    is also taken from the plane that was mistaken for its own. Where the classes can be told apart by planes
    with a margin γ, it makes at most (R/γ)² mistakes, R = max |φ|, whatever the order of the rows (Novikoff
    1962); for K > 2 at most 2 (R/γ)². Where they cannot, it never comes to rest, which is said, and the
    average of its planes, or the best it met, is the better answer.

    It has no probabilities: :class:`tractable.LogisticRegression` has. The constant entry of φ is the
    largest power of two within the largest entry of X, so that sums of whole numbers stay exact. Units that
    are a power of two apart have the same planes; others may have somewhat other ones, as the constant is
    between half of the largest entry and all of it. Columns of unlike units are better standardised first.

    Parameters
    ----------
    max_iter : int
        The most passes over the rows.
    keep : {"last", "average", "pocket"}
        Which planes are learned: those after the last correction; the average over all visits (Freund and
        Schapire 1999); or of those at the end of a pass the ones with the fewest mistakes (after Gallant
        1990, whose pocket also tries planes within a pass): with `shuffle` it meets more of them.
    fit_intercept : bool
        Whether planes may miss the origin.
    shuffle : bool
        Whether each pass takes rows held in memory in an order of its own.
    random_state : None, int, RandomState or Generator

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) for two classes, or (n_classes, n_features)
    intercept_ : array of shape (1,) or (n_classes,)
    converged_ : bool
        Whether a whole pass was without mistakes: the classes are told apart.
    mistakes_ : array of shape (n_iter_,)
        Mistakes of each pass, by weight; `n_mistakes_` is their sum.
    n_iter_ : int
        Passes made.
    planes_, sums_, n_visits_, unit_
        Where the search is, for `partial_fit`.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

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
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or column name
            Classes: numbers or words.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        self._check_parameters()
        rows = labelled_rows(self, X, y, sample_weight, reset=True)
        rng = as_generator(self.random_state) if self.shuffle else None
        self._begin(rows.classes, max((_size(batch.X) for batch in rows.batches()), default=0.0))
        best: tuple[float, np.ndarray] = (np.inf, self.planes_)
        held = None if isinstance(rows.rows.data, Source) else list(self._blocks(rows))
        while len(self.mistakes_) < self.max_iter and not self.converged_:
            self._pass(_shuffled(self._blocks(rows) if held is None else held, rng))
            if self.keep == "pocket":
                wrong = self._errors(self._blocks(rows) if held is None else held)
                best = min(best, (wrong, self.planes_), key=lambda found: found[0])
        self._name(best[1] if self.keep == "pocket" else self.planes_)
        if not self.converged_:
            warnings.warn(
                f"Perceptron still made {self.mistakes_[-1]:g} mistakes in pass {self.n_iter_}: the classes "
                "are not told apart by planes, or need more passes (max_iter)",
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
        X : array or frame of shape (n_samples, n_features)
        y : array of shape (n_samples,) or column name
        classes : array of labels, optional
            All the classes there are; those of the first rows when not given.
        sample_weight : array of shape (n_samples,) or column name, optional

        Returns
        -------
        self
        """
        self._check_parameters()
        begun = hasattr(self, "planes_")
        rows, seen = check_class_rows(self, X, y, sample_weight, reset=not begun)
        if seen is None:
            raise ValueError("X must be rows held in memory for partial_fit; fit walks sources")
        if classes is not None:
            promised = check_labels(np.asarray(classes))[0]
            if begun and not np.array_equal(promised, self.classes_):
                raise ValueError(
                    f"classes={list(promised)} is not what was given before, {list(self.classes_)}"
                )
        if not begun:
            self._begin(seen if classes is None else promised, _size(rows.data))
        unknown = np.setdiff1d(seen, self.classes_)
        if len(unknown):
            raise ValueError(f"y has the label {unknown[0]!r}, which is not among {list(self.classes_)}")
        codes = np.searchsorted(self.classes_, seen)[rows.y]
        self._pass([self._block(rows.data, codes, rows.weights)])
        self._name(self.planes_)
        return self

    def _scores(self, rows: np.ndarray) -> np.ndarray:
        planes = rows @ self.coef_.T + self.intercept_
        return planes if len(self.classes_) > 2 else np.column_stack([np.zeros(len(planes)), planes])

    @property
    def n_iter_(self) -> int:
        """Passes made."""
        return len(self.mistakes_)

    @property
    def n_mistakes_(self) -> float:
        """Mistakes made in all passes, by weight."""
        return float(self.mistakes_.sum())

    def _begin(self, classes: np.ndarray, size: float) -> None:
        if len(classes) < 2:
            raise ValueError(f"y must have two classes at least, got {len(classes)} class")
        self.classes_ = classes
        self.unit_ = 2.0 ** np.floor(np.log2(size)) if size > 0.0 else 1.0
        self.planes_ = np.zeros((len(classes), int(self.fit_intercept) + self.n_features_in_))
        self.sums_, self.n_visits_ = np.zeros_like(self.planes_), 0.0
        self.mistakes_, self.converged_ = np.zeros(0), False

    def _pass(self, blocks: Iterable[Block]) -> None:
        """Visit rows once, and remember how often the planes were wrong."""
        wrong = 0.0
        for x, codes, w in blocks:
            self.planes_, sums, mistakes, visits = perceptron_pass(x, codes, w, self.planes_)
            self.sums_, self.n_visits_ = self.sums_ + sums, self.n_visits_ + visits
            wrong += mistakes
        self.mistakes_ = np.append(self.mistakes_, wrong)
        self.converged_ = wrong == 0.0

    def _errors(self, blocks: Iterable[Block]) -> float:
        """Return the weight of the rows that the planes, as they are, have on the wrong side."""
        wrong = 0.0
        for x, codes, w in blocks:
            scores = x @ self.planes_.T
            own = np.take_along_axis(scores, codes[:, None], axis=1)[:, 0]
            np.put_along_axis(scores, codes[:, None], -np.inf, axis=1)
            wrong += float(w @ (scores.max(axis=1) >= own))
        return wrong

    def _blocks(self, rows: LabelledRows) -> Iterator[Block]:
        for batch in rows.batches():
            yield self._block(batch.X, batch.y, batch.weights)

    def _block(self, X: Any, codes: Any, weights: Any) -> Block:
        x = np.asarray(X, dtype=np.float64) / self.unit_
        x = np.column_stack([np.ones(len(x)), x]) if self.fit_intercept else np.ascontiguousarray(x)
        w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
        return x, np.asarray(codes, dtype=np.int64), w

    def _name(self, planes: np.ndarray) -> None:
        planes = self.sums_ / self.n_visits_ if self.keep == "average" else planes
        planes = planes[1:] if len(planes) == 2 else planes
        located = int(self.fit_intercept)
        self.coef_ = planes[:, located:] / self.unit_
        self.intercept_ = planes[:, 0] if located else np.zeros(len(planes))

    def _check_parameters(self) -> None:
        check_number("max_iter", self.max_iter, least=1, whole=True)
        check_choice("keep", self.keep, KEEPS)


def _size(x: Any) -> float:
    return float(np.max(np.abs(x), initial=0.0))


def _shuffled(blocks: Iterable[Block], rng: np.random.Generator | None) -> Iterator[Block]:
    """Iterate over blocks, their rows in a random order where there is one."""
    for x, codes, w in blocks:
        order = slice(None) if rng is None else rng.permutation(len(x))
        yield x[order], codes[order], w[order]
