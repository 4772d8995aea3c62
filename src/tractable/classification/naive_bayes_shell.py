"""What all naive Bayes classifiers do alike."""

from collections.abc import Callable
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from tractable.base import GenerativeClasses, ModelTags, check_answerable, check_columns, refuse_foreign
from tractable.base.labels import check_class_rows, check_labels
from tractable.classification.naive_bayes_categories import check_counted
from tractable.classification.naive_bayes_columns import NaiveColumns, learn_naive_columns, some_columns
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_fitted import FittedColumns
from tractable.classification.naive_bayes_model import columns_by_class, fitted_columns
from tractable.classification.naive_bayes_scores import LogLikelihoods
from tractable.classification.one_pass import OnePassClassifier
from tractable.classification.priors import class_priors, log_priors
from tractable.data import is_frame
from tractable.data.table_columns import DECLARE, warn_unseen
from tractable.data.table_reading import coded_frame, met_categories
from tractable.distributions import Mixture, Product
from tractable.engines import fold
from tractable.engines.blocks import map_rows
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

    # Learning

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> ByClass:
        self._check_parameters()
        refuse_foreign(X)
        reset = options["reset"]
        leave = tuple(name for name in (y, sample_weight) if isinstance(name, str))
        if is_frame(X):
            if reset:
                subject.layout_ = learn_naive_columns(self._told(), self._usual_kind, frame=X, leave=leave)
            X = coded_frame(X, subject.layout_.columns)
        rows, classes = check_class_rows(subject, X, y, sample_weight, **options)
        if reset and not hasattr(subject, "layout_"):
            names = getattr(subject, "feature_names_in_", None)
            subject.layout_ = learn_naive_columns(
                self._told(), self._usual_kind, names=names, width=subject.n_features_in_
            )
        found = fold(self._of(subject.layout_), rows.data, rows.y, weights=rows.weights, rows=BLOCK)
        if classes is None:
            check_labels(found.labels)
            return found
        return found.named(classes)

    def _of(self, layout: NaiveColumns) -> Callable[..., ByClass]:
        how = self._estimation()

        def of(x: np.ndarray, labels: np.ndarray, weights: Any = None) -> ByClass:
            return columns_by_class(self._prepared(x), labels, weights, layout=layout, how=how)

        return of

    def _learn_more(self, X: Any, y: Any, sample_weight: Any) -> None:
        if is_frame(X) and hasattr(self, "layout_"):
            # Categories that come later are numbered after those that are known.
            self.layout_ = replace(self.layout_, columns=met_categories(X, self.layout_.columns))
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
        score = LogLikelihoods(self.fitted_columns_, self.layout_, relative=relative)
        prior = log_priors(self.class_prior_)

        def joint(rows: np.ndarray) -> np.ndarray:
            found = score(rows)
            found += prior
            return found

        with np.errstate(over="ignore"):
            return map_rows(joint, x)

    def _events(self, X: Any) -> np.ndarray:
        """Return rows as the numbers that the distributions are of."""
        refuse_foreign(X)
        if is_frame(X):
            unseen = {"smooth": "extra"}.get(self._unseen(), self._unseen())
            X = coded_frame(X, self.layout_.columns, unseen)
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
        if not np.any(high >= sizes):
            return x
        j, value = where[int(np.argmax(high >= sizes))], high[int(np.argmax(high >= sizes))]
        label, unseen = self.layout_.columns.label(int(j)), self._unseen()
        if unseen == "error" or not np.all(fitted.log_unseen[:, where] > -np.inf):
            raise ValueError(
                f"X: the column {label!r} has no category {value:g} (by its code), which pseudocounts above "
                f'0 and unseen="smooth" would admit; {DECLARE}'
            )
        x = np.array(x, dtype=np.float64)
        if unseen == "missing":
            warn_unseen(label, value)
        extra = np.nan if unseen == "missing" else sizes.astype(np.float64)
        x[:, where] = np.where(x[:, where] >= sizes, extra, x[:, where])
        return x
