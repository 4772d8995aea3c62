"""What all naive Bayes classifiers do alike."""

import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from tractable.base import GenerativeClasses, ModelTags, check_answerable, check_columns, refuse_foreign
from tractable.base.labels import check_class_rows
from tractable.classification.naive_bayes_categories import check_counted
from tractable.classification.naive_bayes_columns import NaiveColumns, learn_naive_columns, some_columns
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_fitted import FittedColumns
from tractable.classification.naive_bayes_model import columns_by_class, fitted_columns
from tractable.classification.naive_bayes_report import warnings_of
from tractable.classification.naive_bayes_scores import LogScores
from tractable.classification.one_pass import OnePassClassifier, class_priors, log_priors
from tractable.data import is_frame, is_streamed
from tractable.data.blocks import map_rows
from tractable.data.streamed_tables import CodedSource, StreamedTables, streamed_tables
from tractable.data.table_columns import DECLARE, warn_unseen
from tractable.data.table_reading import coded_frame, met_categories
from tractable.distributions import Mixture, Product
from tractable.engines import fold
from tractable.statistics import ByClass, SideBySide
from tractable.value import replace

__all__ = ["NaiveBayesShell"]


#: Rows of a block: merging the statistics of many classes costs as much as summarising a thousand rows.
BLOCK = 2**15


class NaiveBayesShell(GenerativeClasses, OnePassClassifier):
    """p(x | C_k) = Π_j p(x_j | C_k): the columns are independent given the class.

    A model supplies `_estimation()`, `_priors()`, `_told()` (likelihoods) and `_check_parameters()`.
    """

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact in one pass", missing_values=True
    )
    layout_: NaiveColumns
    fitted_columns_: FittedColumns

    #: What a column of numbers is when nothing else is said.
    _usual_kind: ClassVar[str] = "normal"
    #: Whether columns may be text, in streams as in frames.
    _reads_text: ClassVar[bool] = False

    def _estimation(self) -> Estimation:
        return Estimation()

    def _priors(self, counts: np.ndarray, classes: np.ndarray) -> np.ndarray:
        return class_priors(getattr(self, "priors", None), counts, classes)

    def _told(self) -> Any:
        """Return what the user says of the columns."""
        return None

    def _check_parameters(self) -> None:
        """Refuse parameters that are none."""

    def _unseen(self) -> str:
        return "smooth"

    def _prepared(self, x: np.ndarray) -> np.ndarray:
        """Return entries as the model takes them."""
        return x

    def _preparation(self) -> str | None:
        """Return how entries are prepared, which statistics that are added have in common."""
        return None

    # Learning

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> ByClass:
        self._check_parameters()
        refuse_foreign(X)
        reset = options["reset"]
        X, y, sample_weight = self._streamed(subject, X, y, sample_weight, reset=reset)
        leave = tuple(name for name in (y, sample_weight) if isinstance(name, str))
        if is_frame(X):
            if reset:
                subject.layout_ = self._layout(frame=X, leave=leave)
            X = coded_frame(X, subject.layout_.columns)
        rows, classes = check_class_rows(subject, X, y, sample_weight, **options)
        if reset and not hasattr(subject, "layout_"):
            names = getattr(subject, "feature_names_in_", None)
            subject.layout_ = self._layout(names=names, width=subject.n_features_in_)
        found = fold(self._of(subject.layout_), rows.data, rows.y, weights=rows.weights, rows=BLOCK)
        return found if classes is None else found.named(classes)

    def _streamed(self, subject: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        """Return streamed tables as numbers; what else there is, as it was."""
        tables = self._tables(X, y, sample_weight)
        if tables is None:
            return X, y, sample_weight
        if reset:
            digest, noted = tables.digest()
            found = self._layout(frame=digest)
            subject.layout_ = replace(found, columns=noted(found.columns))
        return CodedSource(tables=tables, columns=subject.layout_.columns), None, None

    def _tables(self, X: Any, y: Any, sample_weight: Any) -> StreamedTables | None:
        """Return streams of frames, for models that read text."""
        return streamed_tables(X, y, sample_weight) if self._reads_text and is_streamed(X) else None

    def _layout(self, **columns: Any) -> NaiveColumns:
        """Return what the columns are, and how their entries are taken."""
        found = learn_naive_columns(self._told(), self._usual_kind, **columns)
        return replace(found, preparation=self._preparation())

    def _of(self, layout: NaiveColumns) -> Callable[..., ByClass]:
        def of(x: np.ndarray, labels: np.ndarray, weights: Any = None) -> ByClass:
            return columns_by_class(self._prepared(x), labels, weights, layout=layout)

        return of

    def _learn_more(self, X: Any, y: Any, sample_weight: Any) -> None:
        if hasattr(self, "layout_"):
            # Categories that come later are numbered after those that are known.
            tables = self._tables(X, y, sample_weight)
            frame = X if tables is None else tables.digest()[0]
            if is_frame(frame):
                self.layout_ = replace(self.layout_, columns=met_categories(frame, self.layout_.columns))
        super()._learn_more(X, y, sample_weight)

    def _require_kind(self, statistic: Any) -> None:
        good = isinstance(statistic, ByClass) and all(isinstance(p, SideBySide) for p in statistic.parts)
        if not good:
            raise ValueError(
                f"statistic must be ByClass of SideBySide for this model, got {type(statistic).__name__}"
            )

    def _learn(self, statistic: ByClass) -> None:
        self._check_parameters()
        classes = self._known_classes(statistic)
        layout = reduce(lambda a, b: a if a is b else a + b, (part.about for part in statistic.parts))
        parts = tuple(p if p.about is layout else layout.recoded(p) for p in statistic.parts)
        if layout.preparation != self._preparation():
            raise ValueError(
                f"statistic is of entries with {layout.preparation}, and this model has {self._preparation()}"
            )
        statistic, self.layout_ = replace(statistic, parts=parts), layout
        names = self.layout_.columns.names
        named = names is not None and all(isinstance(name, str) for name in names)
        if named and not hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        counts = dict(zip(statistic.labels.tolist(), statistic.weight, strict=True))
        weight = np.array([counts.get(label, 0.0) for label in classes.tolist()])
        prior = self._priors(weight, classes)
        fitted = fitted_columns(statistic, classes, self.layout_, self._estimation())
        self.statistic_, self.classes_ = statistic, classes
        self.class_count_, self.class_prior_ = weight, prior
        self.fitted_columns_ = fitted

    def _report(self) -> None:
        for said in warnings_of(self.statistic_, self.layout_, self._estimation()):
            warnings.warn(said, UserWarning, stacklevel=4)

    def _forget(self) -> None:
        layout = self.layout_
        super()._forget()
        self.layout_ = layout

    # Answering

    @property
    def class_distributions_(self) -> Product:
        """p(x | C_k), one part a column, as a batch of the classes."""
        return self.fitted_columns_.product(self.layout_.columns.names)

    @property
    def distribution_(self) -> Mixture:
        """p(x), the mixture of the classes."""
        return Mixture(weights=self.class_prior_, components=self.class_distributions_)

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Return log p(x, C_k) = log p(C_k) + Σ_j log p(x_j | C_k).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_answerable(self)
        return self._joint(X, relative=False)

    def _log_scores(self, X: Any) -> np.ndarray:
        return self._joint(X, relative=True)

    def _joint(self, X: Any, *, relative: bool) -> np.ndarray:
        x = self._events(X)
        prior = log_priors(self.class_prior_)
        with np.errstate(over="ignore"):
            return map_rows(LogScores(self.fitted_columns_, self.layout_, prior, relative=relative), x)

    def _events(self, X: Any) -> np.ndarray:
        """Return rows as the numbers that the distributions are of."""
        refuse_foreign(X)
        if is_frame(X):
            unseen = {"smooth": "extra"}.get(self._unseen(), self._unseen())
            X = coded_frame(X, self.layout_.columns, unseen, strict=True)
        x = self._prepared(np.asarray(check_columns(self, X)))
        for kinds in (("bernoulli", "poisson"), ("multinomial",)):
            where = self.layout_.where(*kinds)
            if len(where):
                check_counted(self.layout_, where, some_columns(x, where), whole=kinds[0] != "multinomial")
        where = self.layout_.where("categorical")
        return self._known_categories(x, where) if len(where) else x

    def _known_categories(self, x: np.ndarray, where: np.ndarray) -> np.ndarray:
        """Return rows whose categories are known, missing, or the one after the last: what is not known."""
        high = check_counted(self.layout_, where, some_columns(x, where))
        fitted = self.fitted_columns_
        sizes = np.array([fitted.parts[j].probabilities.shape[-1] for j in where])
        odd = high >= sizes
        if not np.any(odd):
            return x
        unseen = self._unseen()
        for i in np.flatnonzero(odd):
            label, value = self.layout_.columns.label(int(where[i])), high[i]
            if unseen == "missing":
                warn_unseen(label, int(value))
            elif unseen == "error" or not np.all(fitted.log_unseen[:, where[i]] > -np.inf):
                self._refuse_unseen(label, value)
        x = np.array(x, dtype=np.float64)
        extra = np.nan if unseen == "missing" else sizes.astype(np.float64)
        x[:, where] = np.where(x[:, where] >= sizes, extra, x[:, where])
        return x

    def _refuse_unseen(self, label: Any, value: float) -> None:
        """Refuse a category, by its code, that a column did not have in learning."""
        raise ValueError(
            f"X: the column {label!r} has no category {value:g} (by its code), which pseudocounts above 0 "
            f'and unseen="smooth" would admit; {DECLARE}'
        )
