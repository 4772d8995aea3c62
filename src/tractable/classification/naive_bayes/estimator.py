"""Naive Bayes over the columns of any table."""

import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from tractable.base import ModelTags, check_answerable, check_choice, check_columns, check_number
from tractable.base.classifier import GenerativeClassifierMixin
from tractable.base.labels import check_class_rows
from tractable.base.validation import refuse_foreign
from tractable.classification.naive_bayes.columns import NaiveColumns, learn_naive_columns, some_columns
from tractable.classification.naive_bayes.likelihoods import Estimation, check_counted, check_rule
from tractable.classification.naive_bayes.model import (
    FittedColumns,
    columns_by_class,
    fitted_columns,
    log_evidence,
    warnings_of,
)
from tractable.classification.naive_bayes.scores import LogScores
from tractable.classification.one_pass import OnePassClassifier, class_priors, log_priors
from tractable.conjugate.increments import shares_rise
from tractable.data.blocks import map_rows
from tractable.data.dispatch import is_streamed
from tractable.data.frames import is_frame
from tractable.data.streamed_tables import CodedSource, StreamedTables, streamed_tables
from tractable.data.table_columns import DECLARE, coded_frame, met_categories, table_of, warn_unseen
from tractable.distributions.mixture import Mixture
from tractable.distributions.product import Product
from tractable.engines.fold import fold
from tractable.statistics.by_class import ByClass
from tractable.statistics.side_by_side import SideBySide
from tractable.value import replace

__all__ = ["NaiveBayes", "NaiveBayesShell"]

#: Rows of a block: merging the statistics of many classes costs as much as summarising a thousand rows.
BLOCK = 2**15


class NaiveBayesShell(GenerativeClassifierMixin, OnePassClassifier):
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


class NaiveBayes(NaiveBayesShell):
    """p(C_k | x) ∝ p(C_k) Π_j p(x_j | C_k): every column of a table has a likelihood of its own.

    Given the class the columns are taken as independent, which is seldom true and often good enough: classes
    are scored by ln p(C_k) + Σ_j ln p(x_j | C_k). Since columns are independent a missing entry (NaN, None)
    drops out exactly, in learning and in asking. Whatever the likelihoods, learning is exact in one pass:
    streams, `partial_fit` and `merge` give what all rows at once would. Text is read from frames, from
    batches of frames, and from files (:func:`tractable.scan`); streams are then walked twice, for the
    categories and for their counts.

    Parameters
    ----------
    likelihoods : str, mapping, sequence, family or conjugate model, optional
        One for all columns, one for each in order, or ``{"visits": "poisson", "wage": "Gamma"}`` by name or
        position. Of columns of a frame that are not told, text and categories are "categorical", booleans
        "bernoulli" and all other numbers "normal"; columns of arrays are "normal".

        - "normal": mean and variance of each class;
        - "categorical": shares of categories; in arrays, codes 0, 1, …; "bernoulli": zeros and ones;
        - "poisson": counts with a rate of each class; "multinomial": counts that share a row's total, all
          columns so called together;
        - "kernel": a smoothed sample of each class, which keeps the values: a pass is exact, and the model is
          as large as the data, as it is where a family below has no finite statistic;
        - a family of `tractable.distributions`, by name or itself, fitted to each class by maximum
          likelihood; or a conjugate model, of which the predictive is taken after each class's values.
    estimate : {"map", "bayes"}
        Estimated parameters, or their predictive distributions: Student-t for normal columns, negative
        binomial for counts. For categories both are the same. A class of one row has no variance of its own,
        and with "map" only `var_smoothing`, so that hardly any other row is taken for one of it, which is
        said; "bayes" is for classes of few rows.
    pseudocounts : float
        What the priors are worth in observations: α of each category, of the average count of a column, and
        with "bayes" of its mean and variance. 0, for "map" alone, is maximum likelihood, under which one
        category that a class has not shown vetoes it.
    priors : array of shape (n_classes,), optional
        p(C_k); by default the shares of the classes (with "bayes", `pseudocounts` smooth them too). A class
        that was promised and not seen then has none.
    unseen : {"smooth", "error", "missing"}
        What becomes of a category that a column did not have in learning. "smooth": what it would have if it
        had been declared, α / (n_k + α (C + 1)), which is the answer of a model that knew of it; the others
        refuse it, or leave it out with a warning. Each such category is scored as if it alone had been
        declared: the probabilities of several, and of the known ones beside them, add up to more than one.
    var_smoothing : float
        Added to the variances of normal columns, as a share of each column's variance over all classes.
    bandwidth : str or float
        Of "kernel" columns, as of :class:`tractable.KernelDensity`, chosen for each class. A class whose
        values do not vary has Silverman's for the deviation of all classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    class_count_, class_prior_ : arrays of shape (n_classes,)
        Weight of the rows of each class; p(C_k).
    class_distributions_ : Product of batch n_classes
        p(x | C_k), one part a column, over numbers and the codes of categories.
    distribution_ : Mixture
        p(x) = Σ_k p(C_k) p(x | C_k).
    likelihoods_ : dict from column to likelihood
    categories_ : dict from column to its categories, of which position c has the code c
    log_evidence_ : float, with "bayes" where all columns have conjugate priors
        log p(X, y), parameters integrated out. Priors are centred on the columns' own averages over all
        classes, as strong as `pseudocounts` say: comparable between models of the same columns.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    Examples
    --------
    >>> import tractable
    >>> penguins = tractable.datasets.load("penguins").frame.drop(columns="year")
    >>> model = tractable.NaiveBayes(estimate="bayes").fit(penguins, y="species")
    >>> model.likelihoods_["island"], model.likelihoods_["body_mass_g"]
    ('categorical', 'normal')
    >>> light = penguins.drop(columns="species").iloc[:1].assign(bill_length_mm=None, island=None)
    >>> model.predict_proba(light).round(3)
    array([[0.859, 0.141, 0.   ]])

    Given a heavy one, what else?

    >>> float(model.condition({"body_mass_g": 5500.0}).mean[2].round(1))
    15.0
    """

    _reads_text = True

    def __init__(
        self,
        likelihoods: Any = None,
        *,
        estimate: str = "map",
        pseudocounts: float = 1.0,
        priors: Any = None,
        unseen: str = "smooth",
        var_smoothing: float = 1e-9,
        bandwidth: Any = "silverman",
    ) -> None:
        self.likelihoods = likelihoods
        self.estimate = estimate
        self.pseudocounts = pseudocounts
        self.priors = priors
        self.unseen = unseen
        self.var_smoothing = var_smoothing
        self.bandwidth = bandwidth

    @property
    def model_tags(self) -> ModelTags:  # type: ignore[override]
        """What kind of model this is: with "kernel" columns, as large as the data."""
        return replace(NaiveBayesShell.model_tags, parametric="kernel" not in self._named())

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()
        found.input_tags.categorical = True
        found.input_tags.string = True
        return found

    @property
    def likelihoods_(self) -> dict[Any, Any]:
        """The likelihood of each column."""
        return {self.layout_.columns.label(j): kind for j, kind in enumerate(self.layout_.likelihoods)}

    @property
    def categories_(self) -> dict[Any, tuple[Any, ...]]:
        """The categories of each categorical column."""
        tables, parts = self.layout_.columns.categories, self.fitted_columns_.parts
        found: dict[Any, tuple[Any, ...]] = {}
        for j in self.layout_.where("categorical"):
            table = tables[j]
            found[self.layout_.columns.label(int(j))] = (
                tuple(range(parts[j].probabilities.shape[-1])) if table is None else table
            )
        return found

    @property
    def log_evidence_(self) -> float:
        """Return log p(X, y), the parameters of columns and the shares of classes integrated out."""
        if self.estimate != "bayes":
            raise AttributeError('log_evidence_ is of models with estimate="bayes"')
        counts = self.class_count_
        if self.priors is None:
            labels = float(shares_rise(np.full(len(counts), float(self.pseudocounts)), counts))
        else:
            some = counts > 0
            with np.errstate(divide="ignore"):
                labels = float(counts[some] @ np.log(self.class_prior_[some]))
        return labels + log_evidence(self.statistic_, self.layout_, self._estimation())

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[Any, np.ndarray]:
        """Draw new rows, as a table like the one that was fitted, and their classes.

        Parameters
        ----------
        n_samples : int
        random_state : None, int, RandomState or Generator

        Returns
        -------
        X : frame or array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        """
        codes, labels = super().sample(n_samples, random_state=random_state)
        return table_of(self.layout_.columns, codes), labels

    def condition(self, dims: Any, values: Any = None) -> Any:
        """Return the distribution of the other columns, given the values of some, whatever the class.

        Parameters
        ----------
        dims : mapping from column to value, or column names or positions
            Categories are given as the values they have in the table.
        values : array of shape (..., len(dims)), optional
            Leading axes become batch axes of the answer; a missing value (NaN, None) says nothing.

        Returns
        -------
        Mixture
            Of a `Product` over the other columns, in order; its weights are the classes' probabilities.
        """
        check_answerable(self)
        return self.distribution_.condition(self.layout_.columns.given(dims, values))

    def _told(self) -> Any:
        # A table of likelihoods by name is not changed by those who ask.
        return dict(self.likelihoods) if isinstance(self.likelihoods, Mapping) else self.likelihoods

    def _named(self) -> list[str]:
        """Return the likelihoods that are told by name."""
        told = self._told()
        told = told.values() if isinstance(told, Mapping) else told
        several = isinstance(told, Iterable) and not isinstance(told, str)
        return [kind for kind in (told if several else [told]) if isinstance(kind, str)]

    def _unseen(self) -> str:
        return self.unseen

    def _check_parameters(self) -> None:
        check_choice("estimate", self.estimate, ("map", "bayes"))
        check_choice("unseen", self.unseen, ("smooth", "error", "missing"))
        check_number("pseudocounts", self.pseudocounts, least=0.0)
        check_number("var_smoothing", self.var_smoothing, least=0.0)
        check_rule(self.bandwidth)
        if self.estimate == "bayes" and not self.pseudocounts > 0:
            raise ValueError('pseudocounts must be above 0 where estimate="bayes": priors must be proper')
        if self.estimate == "bayes" and "multinomial" in self._named():
            raise ValueError(
                'likelihoods: "multinomial" columns are estimated alone; with estimate="bayes" take '
                '"poisson", whose counts given their total are Dirichlet-multinomial'
            )

    def _estimation(self) -> Estimation:
        return Estimation(
            bayes=self.estimate == "bayes",
            pseudocounts=float(self.pseudocounts),
            var_smoothing=float(self.var_smoothing),
            bandwidth=self.bandwidth,
        )

    def _priors(self, counts: np.ndarray, classes: np.ndarray) -> np.ndarray:
        smoothed = counts + (self.pseudocounts if self.estimate == "bayes" else 0.0)
        return class_priors(self.priors, smoothed, classes)
