"""A generative classifier: Bayes' rule over any class-conditional densities."""

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import has_fit_parameter

from tractable.arrays.random import as_generator, either_seed_name
from tractable.base import (
    ClassifierMixin,
    DegenerateCovarianceWarning,
    ModelTags,
    OnePassEstimator,
    all_or_nothing,
    check_answerable,
    check_class_rows,
    check_count,
)
from tractable.base.validation import check_names, check_query
from tractable.classification.class_priors import (
    check_seen,
    check_spread,
    class_priors,
    class_weights,
    known_classes,
    log_priors,
    no_spread,
)
from tractable.classification.labelled_rows import (
    RowsOfClass,
    all_alike,
    column_moments,
    column_names,
    concatenated,
    grouped_by_class,
    location,
    moved_rows,
    plain_labels,
    rows_of_block,
    rows_of_classes,
)
from tractable.data import MAX_BATCH_ROWS, Batch, is_frame
from tractable.distributions import Distribution, Mixture, Stacked
from tractable.statistics import ByClass
from tractable.value import value

T = TypeVar("T")


def _one_pass(estimator: Any) -> bool:
    """Whether the densities are exact in one pass."""
    return bool(estimator.model_tags.streaming == "exact in one pass")


@value
class ClassSummaries:
    """Maps a block of labelled rows to the statistics of the densities of its classes."""

    density: Any

    def __call__(self, block: Batch) -> ByClass:
        return self.of(rows_of_block(block), block.X.shape[1])

    def of(self, parts: list[RowsOfClass], dim: int) -> ByClass:
        """Summarise the rows of each class, of so many columns."""
        return ByClass(
            labels=np.concatenate([part.name for part in parts]) if parts else np.zeros(0),
            parts=tuple(_new(self.density, part.label).summarize(part.X, **part.options) for part in parts),
            dim=dim,
        )


def _new(density: Any, label: Any) -> Any:
    """Return a fresh density for a class."""
    found = density
    if isinstance(density, Mapping):
        if label not in density:
            raise ValueError(f"density has no estimator for the class {label!r} of y: {list(density)}")
        found = density[label]
    if isinstance(found, type):
        raise ValueError(f"density must be an estimator and not its class: {found.__name__}()")
    if not (hasattr(found, "fit") and hasattr(found, "score_samples")):
        raise ValueError(
            f"density must be an estimator with fit and score_samples, got {type(found).__name__}"
        )
    return clone(found)


def _fitted(density: Any, part: RowsOfClass, parts: list[RowsOfClass]) -> Any:
    """Return the density of a class; it may need the spread of others, where its rows are all alike."""
    mine = _new(density, part.label)
    if not part.alike:
        return mine.fit(part.X, **part.options)
    X, options = part.X, part.options
    if has_fit_parameter(mine, "sample_weight"):  # many rows alike are one that counts as often
        X, options = location(part), {"sample_weight": np.array([part.weight])}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DegenerateCovarianceWarning)
            return mine.fit(X, **options)
    except (ValueError, DegenerateCovarianceWarning) as error:
        moved = moved_rows(part, parts)
        if moved is None:
            raise (error if isinstance(error, ValueError) else no_spread(part.label)) from None
    _warn_moved()
    return _new(density, part.label).fit(moved[0], **moved[1])


def _with_spread(part: Any, statistic: ByClass) -> Any:
    """Return the statistic of a class; of rows all alike, that of others' deviations, moved to them."""
    if not (hasattr(part, "moved") and all_alike(part)):
        return part
    others = [each for each in statistic.parts if type(each) is type(part) and not all_alike(each)]
    if not others:
        return part
    _warn_moved()
    deviations = reduce(add, [each.moved(-column_moments(each)[1]) for each in others])
    return deviations.moved(column_moments(part)[1] - column_moments(deviations)[1])


def _warn_moved() -> None:
    warnings.warn(
        "there is one sample, or samples that are all alike, and no spread: the density is that of the other "
        "classes' samples about their means, moved to this one",
        DegenerateCovarianceWarning,
        stacklevel=2,
    )


class GenerativeClassifier(ClassifierMixin, OnePassEstimator):
    """A classifier from any density of the rows of each class: p(C_k | x) ∝ p(C_k) p(x | C_k).

    A copy of the density is fitted to the rows of each class. The classifier takes what the density takes:
    weights, missing values, sources; where the density is exact in one pass, so is the classifier, with
    `partial_fit`, `merge`, `summarize` and `from_statistic`. For two classes the posterior is σ(a) with the
    log odds a = log p(x | C₂) p(C₂) - log p(x | C₁) p(C₁), which `decision_function` returns.

    A class of a single row, or of rows that are all alike, has no spread. Where its density cannot do without
    (Gaussians, mixtures, kernels with a bandwidth by rule), it is fitted to the rows of the other classes,
    each less the mean of its class, moved to the row of this one: the class is taken to spread as the others
    do, which is warned of. Of Gaussians this is the covariance within the other classes, from their
    statistics alone. Classes that are without spread themselves count for nothing there. Where all are, in
    tables with words, and where the statistic of no other class is of the same kind (full covariances beside
    diagonal ones, `PCA`), such a class is refused; in a stream it waits for more rows.

    Parameters
    ----------
    density : estimator, or mapping from class to estimator
        With `fit` and `score_samples`: `GaussianDensity`, `GaussianMixture`, `KernelDensity`, `Histogram`,
        `TableMixture` for tables with words, or another library's.
    priors : array of shape (n_classes,), optional
        p(C_k); the relative weights of the classes when not given.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, in order.
    class_prior_, class_count_ : arrays of shape (n_classes,)
        p(C_k), and the weight of the rows of each class.
    estimators_ : tuple of n_classes fitted densities
        None for a class that was declared to `partial_fit` and has no rows, whose prior is 0.
    class_distributions_ : tuple of n_classes distributions, where the densities have them
        p(x | C_k).
    distribution_ : Mixture
        p(x) = Σ_k p(C_k) p(x | C_k), where the densities have distributions.
    statistic_ : ByClass, where the density is exact in one pass
        The statistics of the densities.
    n_features_in_, feature_names_in_ : int, array of str
        Number of columns, and their names where they had any.

    See Also
    --------
    tractable.QuadraticDiscriminant : Gaussian classes, faster.
    tractable.NaiveBayes : columns independent within classes.

    Examples
    --------
    A class of two components, and one between them:

    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(-4.0, 1.0, 100), rng.normal(4.0, 1.0, 100), rng.normal(0.0, 1.0, 100)])
    >>> y = np.repeat(["outer", "outer", "inner"], 100)
    >>> model = tractable.GenerativeClassifier(tractable.KernelDensity()).fit(X[:, None], y)
    >>> model.predict([[-4.0], [0.0], [4.0]]).tolist()
    ['outer', 'inner', 'outer']
    """

    _supervised = _by_class = True

    def __init__(self, density: Any, *, priors: Any = None) -> None:
        self.density = density
        self.priors = priors

    @property
    def model_tags(self) -> ModelTags:  # type: ignore[override]
        """See `tractable.tags`: what the densities are."""
        each = [getattr(density, "model_tags", None) for density in self._densities()]
        streams = {"no" if t is None else t.streaming for t in each}
        streaming: Any = streams.pop() if len(streams) == 1 else "no"
        return ModelTags(
            kind="generative",
            parametric=bool(each) and all(t is not None and t.parametric for t in each),
            streaming=streaming,
            missing_values=bool(each) and all(t is not None and t.missing_values for t in each),
        )

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        for density in self._densities():
            if hasattr(density, "__sklearn_tags__"):
                takes = density.__sklearn_tags__().input_tags
                for name in ("string", "categorical", "positive_only"):
                    setattr(found.input_tags, name, getattr(takes, name))
        return found

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit a density to the rows of each class.

        Parameters
        ----------
        X, y, sample_weight
            Rows in memory, in files or in a stream, their labels, and how often each counts.
        """
        if _one_pass(self):
            self._learn(self._fold(self, X, y, sample_weight, reset=True))
            return self
        parts = rows_of_classes(self, X, y, sample_weight, words=self._words())
        classes = np.concatenate([part.name for part in parts]) if parts else np.zeros(0)
        labels = [part.label for part in parts]
        fitted = class_by_class(lambda _, part: _fitted(self.density, part, parts), labels, parts)
        self._set_fitted(classes, fitted, np.array([part.weight for part in parts]))
        return self

    @available_if(_one_pass)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, where the density is exact in one pass: as if all had been given at once.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array, optional
            All the classes there are, where some may be seen later; those that are seen when not given.
        """
        return super().partial_fit(X, y, classes, sample_weight)

    @available_if(_one_pass)
    def merge(self, other: Any) -> Self:
        """See `OnePassEstimator.merge`: where the density is exact in one pass."""
        return super().merge(other)

    @available_if(_one_pass)
    def summarize(self, X: Any, y: Any = None, sample_weight: Any = None) -> ByClass:
        """See `OnePassEstimator.summarize`: where the density is exact in one pass.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        """
        return super().summarize(X, y, sample_weight)

    @available_if(_one_pass)
    def from_statistic(self, statistic: ByClass) -> Self:
        """See `OnePassEstimator.from_statistic`: where the density is exact in one pass."""
        return super().from_statistic(statistic)

    @either_seed_name
    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[Any, np.ndarray]:
        """Draw classes, and rows from their densities; tables where the densities draw tables."""
        check_answerable(self)
        rng = as_generator(random_state)
        n = check_count("n_samples", n_samples, least=1)
        codes = rng.choice(len(self.classes_), size=n, p=self.class_prior_)
        parts = []
        for k in np.unique(codes):
            found = self.estimators_[k].sample(int(np.sum(codes == k)), random_state=rng)
            parts.append(found[0] if isinstance(found, tuple) else found)  # mixtures label what they draw
        return concatenated(parts, codes), self.classes_[codes]

    def _densities(self) -> list[Any]:
        given = list(self.density.values()) if isinstance(self.density, Mapping) else [self.density]
        return [density for density in given if not isinstance(density, type)]

    def _words(self) -> bool:
        return bool(self.__sklearn_tags__().input_tags.string)

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> ByClass:
        rows, classes = check_class_rows(subject, X, y, sample_weight, reset=options["reset"])
        of = ClassSummaries(density=self.density)
        if classes is None:
            return rows.data.reduce(of, rows=MAX_BATCH_ROWS)
        # The densities fold the rows of each class themselves.
        return of.of(grouped_by_class(rows.data, rows.y, rows.weights, classes), rows.data.shape[1])

    def _require_kind(self, statistic: Any) -> None:
        if not isinstance(statistic, ByClass):
            raise ValueError(f"statistic must be ByClass, got {type(statistic).__name__}")

    def _learn(self, statistic: ByClass) -> None:
        classes = known_classes(self, statistic)
        fitted: list[Any] = [None] * len(classes)
        labels = plain_labels(statistic.labels)
        learned = class_by_class(
            lambda k, part: _new(self.density, k).from_statistic(_with_spread(part, statistic)),
            labels,
            statistic.parts,
        )
        for k, density in zip(np.searchsorted(classes, statistic.labels), learned, strict=True):
            fitted[k] = density
        self.statistic_ = statistic
        self._set_fitted(classes, fitted, class_weights(statistic, classes))

    def _set_fitted(self, classes: np.ndarray, fitted: list[Any], counts: np.ndarray) -> None:
        self.classes_, self.class_count_ = classes, counts
        self.class_prior_ = class_priors(self.priors, counts, classes)
        check_seen(self.class_prior_, counts, classes)
        gaussian = [k for k, density in enumerate(fitted) if hasattr(density, "jitter_")]
        variances = [np.diagonal(np.asarray(fitted[k].covariance_)) for k in gaussian]
        check_spread(classes[gaussian], variances, [fitted[k].jitter_ for k in gaussian])
        self.estimators_: tuple[Any, ...] = tuple(fitted)
        found = [getattr(density, "distribution_", None) for density in self.estimators_]
        seen = [k for k, density in enumerate(self.estimators_) if density is not None]
        members: list[Any] = [found[k] for k in seen if isinstance(found[k], Distribution)]
        if len(members) == len(seen):
            self.class_distributions_ = tuple(found)
            self.distribution_ = Mixture(weights=self.class_prior_[seen], components=Stacked(members=members))

    def _class_scores(self, X: Any) -> np.ndarray:
        if self._words() and is_frame(X):
            names = column_names(X)
            check_names(self, names, len(names), reset=False)
            rows = X
        else:
            rows = check_query(self, X)
        scores = np.full((len(rows), len(self.classes_)), -np.inf)
        for k, log_prior in enumerate(log_priors(self.class_prior_)):
            if log_prior > -np.inf:
                scores[:, k] = log_prior + np.asarray(self.estimators_[k].score_samples(rows))
        return scores


def class_by_class(work: Callable[[Any, Any], T], labels: Sequence[Any], items: Sequence[Any]) -> list[T]:
    """Return ``work(label, item)`` for each class; each warning is issued once, with its classes.

    Warnings point to the first line outside of this library.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     found = class_by_class(lambda k, n: warnings.warn("few rows") or n, ["ash", "birch"], [3, 1])
    >>> found, [str(warning.message) for warning in said]
    ([3, 1], ["classes 'ash', 'birch': few rows"])
    """
    heard: dict[tuple[type[Warning], str], list[str]] = {}
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for label, item in zip(labels, items, strict=True):
            found.append(work(label, item))
            for kind in dict.fromkeys((warning.category, str(warning.message)) for warning in caught):
                heard.setdefault(kind, []).append(repr(label))
            caught.clear()
    for (category, message), names in heard.items():
        which = f"class{'es' if len(names) > 1 else ''} {', '.join(names)}"
        warnings.warn(f"{which}: {message}", category, stacklevel=_outside())
    return found


def _outside() -> int:
    """Return the `stacklevel` of the first frame that is not of this library, seen from the caller."""
    level, frame = 1, sys._getframe(1)  # noqa: SLF001
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tractable."):
        level, frame = level + 1, frame.f_back
    return level
