"""Fitted candidates as values: called with rows of a frame, each returns one distribution a row.

They are values, and not functions, so that the best of them can be saved.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions import Categorical, Normal, StudentT
from tractable.value import parameters, value

#: The least probability of a class, so that log scores are finite.
MIN_PROBABILITY = 1e-15

#: The most levels of a category that are told apart; all others are as the most frequent.
MAX_LEVELS = 20


def class_probabilities(proba: np.ndarray) -> Categorical:
    """Return classes with these probabilities, or numbers proportional to them, none of them zero."""
    proba = np.maximum(proba, MIN_PROBABILITY)
    return Categorical(probabilities=proba / proba.sum(axis=1, keepdims=True))


@value
class Encoder:
    """From frames with some columns to numbers, standardised; see `encoder`.

    Parameters
    ----------
    numbers, ordered : tuple of str
        The columns of numbers, and those of ordered categories.
    levels : tuple of (str, tuple)
        By column of other categories: the levels that have an indicator.
    gaps : tuple of str
        The columns of which an indicator says where entries are missing.
    means : array (columns,)
        By which missing entries are replaced.
    shift, scale : array (columns,)
        By which numbers are standardised.
    """

    numbers: tuple[str, ...]
    ordered: tuple[str, ...]
    levels: tuple[tuple[str, tuple[Any, ...]], ...]
    gaps: tuple[str, ...]
    means: np.ndarray
    shift: np.ndarray
    scale: np.ndarray

    def __call__(self, X: Any) -> np.ndarray:
        """Return the rows as numbers."""
        x = encoded_columns(X, self.numbers, self.ordered, self.levels)
        filled = (np.where(np.isnan(x), self.means, x) - self.shift) / self.scale
        return np.hstack([filled, X[list(self.gaps)].isna().to_numpy(dtype=np.float64)])


def encoder(X: Any) -> Encoder:
    """Return a function from frames with the columns of X to numbers, as learned from X.

    Numbers are standardised. A category is one column a level but the most frequent, of the `MAX_LEVELS` most
    frequent; an ordered one is a column for each step, which says whether an entry is beyond it, so that a
    model that shrinks coefficients takes neighbouring levels to be alike. A missing entry is the mean of each
    of them, and a column that has some gives one more that says where: one for all that have them in the same
    rows, so that the model determines its coefficient.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> X = DataFrame({"x": [1.0, 3.0, 5.0, 3.0], "c": ["a", "b", "a", None]})
    >>> encoder(X)(X).round(3)
    array([[-1.414,  0.   ,  0.   ],
           [ 0.   ,  1.   ,  0.   ],
           [ 1.414,  0.   ,  0.   ],
           [ 0.   ,  0.333,  1.   ]])
    """
    numbers = number_columns(X)
    ordered = tuple(name for name in X.columns if getattr(X[name].dtype, "ordered", False))
    others = [name for name in X.columns if name not in numbers and name not in ordered]
    levels = tuple((name, _levels(X[name])) for name in others)
    missing = X.isna().loc[:, X.isna().any()]
    x = encoded_columns(X, numbers, ordered, levels)
    known = ~np.isnan(x)
    count = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, x, 0.0).sum(axis=0) / count
    spread = np.sqrt((np.where(known, x - means, 0.0) ** 2).sum(axis=0) / count)
    is_number = np.arange(x.shape[1]) < len(numbers)
    return Encoder(
        numbers=numbers,
        ordered=ordered,
        levels=levels,
        gaps=tuple(missing.columns[~missing.T.duplicated()]),
        means=means,
        shift=np.where(is_number, means, 0.0),
        scale=np.where(is_number & (spread > 0.0), spread, 1.0),
    )


def encoded_columns(
    X: Any,
    numbers: Sequence[str],
    ordered: Sequence[str],
    levels: Sequence[tuple[str, tuple[Any, ...]]],
) -> np.ndarray:
    """Return numbers, the steps of ordered categories and the indicators of other levels, side by side."""
    steps = [_steps(X[name]) for name in ordered]
    indicators = [_indicators(X[name], known) for name, known in levels]
    return np.hstack([X[list(numbers)].to_numpy(dtype=np.float64), *steps, *indicators])


def number_columns(X: Any) -> tuple[str, ...]:
    """Return the names of the columns of a frame that are numbers."""
    return tuple(name for name in X.columns if X[name].dtype.kind == "f")


def _levels(column: Any) -> tuple[Any, ...]:
    """Return the levels that have a column: the most frequent, without the first."""
    counts = column.value_counts()
    counts = counts[counts > 0].sort_index().sort_values(ascending=False, kind="stable")
    return tuple(counts.index[1:MAX_LEVELS])


def _indicators(column: Any, levels: tuple[Any, ...]) -> np.ndarray:
    """Return which level each entry is, (n, levels); NaN where it is missing."""
    from pandas import Index

    codes = Index(list(levels), dtype=object).get_indexer(column.astype(object))
    return np.where(column.isna().to_numpy()[:, None], np.nan, codes[:, None] == np.arange(len(levels)))


def _steps(column: Any) -> np.ndarray:
    """Return whether entries of an ordered category are beyond each level; NaN where they are missing."""
    codes = np.asarray(column.cat.codes, dtype=np.float64)[:, None]
    return np.where(codes < 0.0, np.nan, codes >= np.arange(1, max(len(column.cat.categories), 2)))


@value
class SameForAll:
    """The same distribution for every row."""

    distribution: Any

    def __call__(self, X: Any) -> Any:
        """Return it once a row."""
        return self.distribution.expand((len(X),))


@value
class EncodedModel:
    """An estimator of rows that an `Encoder` made numbers of."""

    encode: Encoder
    model: Any

    def __call__(self, X: Any) -> Any:
        """Return the estimator's predictive distribution, or its probabilities of classes."""
        Z = self.encode(X)
        if hasattr(self.model, "classes_"):
            return class_probabilities(self.model.predict_proba(Z))
        return self.model.predict_dist(Z)


@value
class NearNumbers:
    """The mean of the neighbours, with normal errors."""

    encode: Encoder
    model: Any
    noise: float

    def __call__(self, X: Any) -> Normal:
        """Return the predictive distributions."""
        return Normal(mean=self.model.predict(self.encode(X)), stddev=self.noise)


@value
class NearClasses:
    """The votes of the neighbours, and one more vote split by the base rates."""

    encode: Encoder
    model: Any
    rates: np.ndarray

    def __call__(self, X: Any) -> Categorical:
        """Return the probabilities of the classes."""
        k = self.model.n_neighbors_
        return class_probabilities((k * self.model.predict_proba(self.encode(X)) + self.rates) / (k + 1))


@value
class FrameModel:
    """An estimator of classes from some columns of a frame as they are."""

    columns: tuple[str, ...]
    model: Any
    as_array: bool = False

    def __call__(self, X: Any) -> Categorical:
        """Return the probabilities of the classes."""
        part = X[list(self.columns)]
        return class_probabilities(self.model.predict_proba(part.to_numpy() if self.as_array else part))


@value
class JointModel:
    """A mixture of all columns and the target, conditioned on the columns; unknown categories are missing."""

    columns: tuple[str, ...]
    model: Any

    def __call__(self, X: Any) -> Any:
        """Return the distributions of the target given the other entries of each row."""
        known = self.model.categories_
        rows = {
            name: X[name].where(X[name].isin(known[name]), None) if name in known else X[name]
            for name in self.columns
        }
        given = self.model.condition({name: column.to_numpy() for name, column in rows.items()})
        return given.as_univariate()


@value
class BoostedTrees:
    """Trees of scikit-learn's gradient boosting as arrays, nodes of all trees one after another.

    Rows are numbers and codes of categories, NaN where an entry is missing. A row of a category that was not
    there when the trees were grown goes where a missing entry goes.
    """

    columns: tuple[str, ...]  # in the order of the trees
    categories: tuple[tuple[Any, ...] | None, ...]  # by column: those whose positions are codes
    starts: np.ndarray  # (trees + 1,), the first node of each tree
    outputs: np.ndarray  # (trees,), the class that a tree adds to
    feature: np.ndarray  # (nodes,), as all that follow
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    is_leaf: np.ndarray
    addend: np.ndarray  # what a leaf adds
    bitset: np.ndarray  # the row of `sets` of a split of categories, -1 for a threshold
    sets: np.ndarray  # (splits, codes), whether a code goes to the left
    baseline: np.ndarray  # (outputs,)

    def __post_init__(self) -> None:
        """Refuse nodes that no tree has; children come after their parents, so that every walk ends."""
        if not (self._has_lengths_and_kinds() and self._has_walks_that_end() and self._has_codes_in_sets()):
            raise ValueError("the nodes of the trees do not fit each other")

    def _has_lengths_and_kinds(self) -> bool:
        whole = (self.starts, self.outputs, self.feature, self.left, self.right, self.bitset)
        nodes = (*whole[2:], self.threshold, self.missing_left, self.is_leaf, self.addend)
        flat = all(x.ndim == 1 for x in (*whole, *nodes, self.baseline)) and self.sets.ndim == 2
        return (
            flat
            and all(x.dtype.kind in "iu" for x in whole)
            and all(x.dtype.kind == "f" for x in (self.threshold, self.addend, self.baseline))
            and all(x.dtype == bool for x in (self.missing_left, self.is_leaf, self.sets))
            and len({len(x) for x in nodes}) == 1
            and len(self.categories) == len(self.columns)
            and len(self.outputs) == len(self.starts) - 1
            and _are_indexes(self.outputs, len(self.baseline))
        )

    def _has_walks_that_end(self) -> bool:
        size, ids = len(self.feature), np.arange(len(self.feature))
        starts = self.starts.astype(np.int64)
        sizes = starts[1:] - starts[:-1]
        if self.starts[0] != 0 or self.starts[-1] != size or (sizes < 1).any():
            return False
        ends, inner = np.repeat(self.starts[1:], sizes), ~self.is_leaf
        ahead = all(
            (ids < child)[inner].all() and (child < ends)[inner].all() for child in (self.left, self.right)
        )
        return ahead and _are_indexes(self.feature[inner], len(self.columns))

    def _has_codes_in_sets(self) -> bool:
        split = ~self.is_leaf & (self.bitset >= 0)
        n_codes = np.array([0 if known is None else len(known) for known in self.categories], dtype=np.int64)
        most = n_codes[self.feature[split]]
        return _are_indexes(self.bitset[split], len(self.sets)) and bool(
            ((most > 0) & (most <= self.sets.shape[1])).all()
        )

    @classmethod
    def of(cls, model: Any, columns: Sequence[str], categories: Sequence[tuple[Any, ...] | None]) -> Any:
        """Return the trees of a fitted model.

        Parameters
        ----------
        model : HistGradientBoostingRegressor or HistGradientBoostingClassifier
            Of scikit-learn, fitted to `coded_rows`.
        columns : sequence of str
            The names of the columns of these rows, in their order.
        categories : sequence
            By column: the categories whose positions are codes; None of a number.
        """
        grown = [(k, tree) for trees in model._predictors for k, tree in enumerate(trees)]  # noqa: SLF001
        sizes = [len(tree.nodes) for _, tree in grown]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        nodes = np.concatenate([tree.nodes for _, tree in grown])
        begin = np.repeat(starts[:-1], sizes)
        words = [tree.raw_left_cat_bitsets for _, tree in grown]
        n_sets = np.concatenate([[0], np.cumsum([len(part) for part in words])])
        bits = np.concatenate(words)[:, :, None] >> np.arange(32, dtype=np.uint32) & 1
        split = nodes["is_categorical"].astype(bool) & ~nodes["is_leaf"].astype(bool)
        return cls(
            columns=tuple(columns),
            categories=tuple(categories),
            starts=starts,
            outputs=np.array([k for k, _ in grown]),
            feature=nodes["feature_idx"].astype(np.int64),
            threshold=nodes["num_threshold"].astype(np.float64),
            left=nodes["left"].astype(np.int64) + begin,
            right=nodes["right"].astype(np.int64) + begin,
            missing_left=nodes["missing_go_to_left"].astype(bool),
            is_leaf=nodes["is_leaf"].astype(bool),
            addend=nodes["value"].astype(np.float64),
            bitset=np.where(split, nodes["bitset_idx"].astype(np.int64) + np.repeat(n_sets[:-1], sizes), -1),
            sets=bits.reshape(len(bits), 32 * bits.shape[1]).astype(bool),
            baseline=np.ravel(model._baseline_prediction).astype(np.float64),  # noqa: SLF001
        )

    def __call__(self, X: Any) -> np.ndarray:
        """Return the baseline and what the leaves of the rows add to it, (n, outputs)."""
        Z = coded_rows(X, self.columns, self.categories)
        found = np.tile(self.baseline, (len(Z), 1))
        for start, output in zip(self.starts[:-1], self.outputs, strict=True):
            found[:, output] += self.addend[self._leaves(Z, int(start))]
        return found

    def _leaves(self, Z: np.ndarray, root: int) -> np.ndarray:
        at = np.full(len(Z), root)
        walking = np.arange(len(Z)) if not self.is_leaf[root] else np.zeros(0, dtype=np.int64)
        while len(walking):
            node = at[walking]
            z, sets = Z[walking, self.feature[node]], self.bitset[node]
            missing = np.isnan(z)
            left = z <= self.threshold[node]
            if (of_category := sets >= 0).any():
                codes = np.where(missing, 0.0, z)[of_category].astype(np.int64)
                left[of_category] = self.sets[sets[of_category], codes]
            left = np.where(missing, self.missing_left[node], left)
            at[walking] = np.where(left, self.left[node], self.right[node])
            walking = walking[~self.is_leaf[at[walking]]]
        return at


def _are_indexes(x: np.ndarray, length: int) -> bool:
    return bool(((x >= 0) & (x < length)).all())


def coded_rows(X: Any, columns: Sequence[str], categories: Sequence[tuple[Any, ...] | None]) -> np.ndarray:
    """Return columns of a frame as numbers: categories by their positions, NaN where unknown or missing."""
    from pandas import Index

    found = np.empty((len(X), len(columns)))
    for j, (name, known) in enumerate(zip(columns, categories, strict=True)):
        if known is None:
            found[:, j] = X[name].to_numpy(dtype=np.float64)
        else:
            codes = Index(list(known), dtype=object).get_indexer(X[name].astype(object))
            found[:, j] = np.where(codes < 0, np.nan, codes)
    return found


@value
class BoostedNumbers:
    """Gradient-boosted trees with Student's t errors."""

    trees: BoostedTrees
    errors: StudentT

    def __call__(self, X: Any) -> StudentT:
        """Return the predictive distributions."""
        given = parameters(self.errors)
        return StudentT(**{**given, "location": self.trees(X)[:, 0] + given["location"]})


@value
class BoostedClasses:
    """Gradient-boosted trees with a temperature."""

    trees: BoostedTrees
    temperature: float

    def __call__(self, X: Any) -> Categorical:
        """Return the probabilities of the classes."""
        scores = self.trees(X)
        if scores.shape[1] == 1:
            scores = np.hstack([np.zeros_like(scores), scores])
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        return tempered(p / p.sum(axis=1, keepdims=True), self.temperature)


def tempered(proba: np.ndarray, temperature: float) -> Categorical:
    """Return classes with probabilities ∝ p^(1/T)."""
    log_p = np.log(np.maximum(proba, MIN_PROBABILITY)) / temperature
    return class_probabilities(np.exp(log_p - log_p.max(axis=1, keepdims=True)))


@value
class LogTransformed:
    """The distribution of y, given that of log y: p(y) = p(log y) / y for y > 0.

    It has a median but not always a mean: if log y is Student's t, the mean of y is infinite.

    Parameters
    ----------
    base : distribution of numbers
        Of log y, one batch entry a row.

    Examples
    --------
    >>> from tractable import Normal
    >>> d = LogTransformed(base=Normal(mean=[0.0, 1.0], stddev=0.5))
    >>> d.median.round(3), d.cdf([1.0, np.e]).round(3), d.log_prob([1.0, -1.0]).round(3)
    (array([1.   , 2.718]), array([0.5, 0.5]), array([-0.226,   -inf]))
    """

    base: Any

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self.base.batch_shape)

    @property
    def median(self) -> np.ndarray:
        return _exp(self.base.icdf(0.5))

    def log_prob(self, y: Any) -> np.ndarray:
        log_y, outside = _log(y)
        return np.where(outside, -np.inf, self.base.log_prob(log_y) - log_y)

    def cdf(self, y: Any) -> np.ndarray:
        log_y, outside = _log(y)
        return np.where(outside, 0.0, self.base.cdf(log_y))

    def icdf(self, q: Any) -> np.ndarray:
        return _exp(self.base.icdf(q))

    def interval(self, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the equal-tailed interval: the exponentials of the ends of that of log y."""
        low, high = self.base.interval(coverage)
        return _exp(low), _exp(high)


@value
class OfLogarithm:
    """A model of the logarithm of the target, from rows some columns of which are in logarithms too."""

    base: Any
    columns: tuple[str, ...]

    def __call__(self, X: Any) -> LogTransformed:
        """Return the distributions of the target."""
        return LogTransformed(base=self.base(logged(X, self.columns)))


def logged(X: Any, columns: Sequence[str]) -> Any:
    """Return a frame with some columns in logarithms; entries without one are missing."""
    return X.assign(**{name: np.log(X[name].where(X[name] > 0.0)) for name in columns})


def point_prediction(d: Any) -> np.ndarray:
    """Return one number for each row: the mean, or the median if the logarithm was modelled."""
    return np.asarray(d.median if isinstance(d, LogTransformed) else d.mean)


def absolute_errors(d: Any, y: np.ndarray) -> np.ndarray:
    """Return how far predictions are from targets y; of classes, 1 where the most probable is not the true.

    Examples
    --------
    >>> from tractable import Categorical, Normal
    >>> absolute_errors(Normal(mean=[1.0, 2.0], stddev=1.0), np.array([1.5, 2.0]))
    array([0.5, 0. ])
    >>> absolute_errors(Categorical(probabilities=[[0.9, 0.1], [0.6, 0.4]]), np.array([0, 1]))
    array([0., 1.])
    """
    if isinstance(d, Categorical):
        return np.asarray(d.probabilities.argmax(axis=-1) != y, dtype=np.float64)
    return np.abs(point_prediction(d) - y)


def _log(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms, 0 for numbers that are not positive, and the mask of these."""
    y = np.asarray(y, dtype=np.float64)
    outside = y <= 0.0
    return np.log(np.where(outside, 1.0, y)), outside


def _exp(x: Any) -> np.ndarray:
    with np.errstate(over="ignore"):  # an end of an interval may overflow to infinity
        return np.exp(x)
