"""Naive Bayes over the columns of any table."""

import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.devices import beside, on_host
from tractable.arrays.namespace import is_foreign_array, is_sparse, namespace_of
from tractable.arrays.random import either_seed_name
from tractable.base import (
    ClassifierMixin,
    ModelTags,
    OnePassEstimator,
    check_answerable,
    check_choice,
    check_columns,
    check_number,
    refuse_foreign,
)
from tractable.base.by_blocks import by_blocks
from tractable.base.labels import check_class_rows, check_labels
from tractable.base.validation import check_names, require_targets, sparse_rows
from tractable.classification.class_priors import class_priors, class_weights, known_classes, log_priors
from tractable.classification.naive_bayes.checks import check_rule, warnings_of
from tractable.columns import (
    ClassStatistics,
    ColumnLikelihoods,
    ColumnScores,
    Estimation,
    counted_entries,
    fitted_columns,
    learn_likelihoods,
    log_evidence,
    relative_scores,
)
from tractable.conjugate.increments import dirichlet_increment
from tractable.data.blocks import map_rows
from tractable.data.dispatch import is_streamed, with_passes
from tractable.data.frames import is_frame
from tractable.data.source import batch_rows
from tractable.data.streamed_tables import StreamedTables, streamed_tables
from tractable.data.table_columns import coded_frame, met_categories, table_of
from tractable.distributions import IndependentColumns, Mixture, Product
from tractable.distributions.independent_columns import some_columns
from tractable.engines import fold
from tractable.primitives.threads import even_rows
from tractable.statistics import ByClass, SideBySide
from tractable.value import replace

#: How categories that were not declared get a probability.
SMOOTHING = 'pseudocounts above 0 and unseen="smooth" admit others; '

#: Most rows of a block: merging the statistics of many classes costs as much as summarising a thousand rows.
BLOCK = 2**16


class BaseNaiveBayes(ClassifierMixin, OnePassEstimator):
    """p(x | C_k) = Π_j p(x_j | C_k): the columns are independent given the class.

    A model supplies `_declared()` (the likelihoods), `_estimation()` and `_check_parameters()`.
    """

    model_tags = ModelTags(
        kind="generative", parametric=True, streaming="exact in one pass", missing_values=True
    )
    _supervised = _by_class = True
    _layout_: ColumnLikelihoods
    _fitted_columns_: IndependentColumns

    #: Whether the pass that sums entries refuses infinity: rows are not read for it before.
    _finds_infinity: ClassVar[bool] = False
    #: The likelihood of columns of numbers that are not declared.
    _default: ClassVar[str] = "normal"
    # Parameters that only some of these classifiers have.
    priors: Any = None
    unseen: str = "smooth"
    binarize: float | None = None

    def _declared(self) -> Any:
        """Return the likelihoods that the user declares."""
        return self._default

    def _estimation(self) -> Estimation:
        return Estimation()

    def _priors(self, counts: np.ndarray, classes: np.ndarray) -> np.ndarray:
        return class_priors(self.priors, counts, classes)

    # Learning

    def _fold(self, subject: Any, X: Any, y: Any, sample_weight: Any, **options: Any) -> ByClass:
        reset, sparse = options["reset"], sparse_rows(self, X, y, sample_weight)
        if sparse is not None:
            require_targets(self, y)
            found = self._sparse_statistic(subject, sparse, y, reset=reset)
            if found is not None:
                return found
            X, y, sample_weight = sparse, None, None
        X, y, sample_weight = self._streamed(subject, X, y, sample_weight, reset=reset)
        leave = tuple(name for name in (y, sample_weight) if isinstance(name, str))
        if is_frame(X):
            if reset:
                subject._layout_ = self._layout(frame=X, leave=leave)
            X = coded_frame(X, subject._layout_.columns)
        rows, classes = check_class_rows(
            subject, X, y, sample_weight, finite=not self._finds_infinity, **options
        )
        if reset and not hasattr(subject, "_layout_"):
            names = getattr(subject, "feature_names_in_", None)
            subject._layout_ = self._layout(names=names, width=subject.n_features_in_)
        block = even_rows(rows.n_rows, min(BLOCK, batch_rows(subject.n_features_in_)))
        found = fold(ClassStatistics(layout=subject._layout_), rows.source, rows=block)
        return found if classes is None else found.named(classes)

    def _sparse_statistic(self, subject: Any, rows: Any, y: Any, *, reset: bool) -> ByClass | None:
        """Return the statistic of sparse rows without dense blocks, where that can be."""
        check_names(subject, None, rows.n_features, reset=reset)
        classes, codes = check_labels(y)
        if len(codes) != rows.n_rows:
            return None
        layout = self._layout(names=None, width=rows.n_features) if reset else subject._layout_
        x = counted_entries(layout, rows.X)
        if x is None:
            return None
        subject._layout_ = layout
        return ClassStatistics(layout=layout)(x, codes, rows.weights).named(classes)

    def _streamed(self, subject: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> Any:
        """Return streamed tables as a source of numbers, and other rows as they are."""
        X = with_passes(X)
        tables = self._tables(X, y, sample_weight)
        if tables is None:
            return X, y, sample_weight
        if reset:
            frame, noted = tables.distinct_values(self._declared_by_name())
            found = self._layout(frame=frame)
            subject._layout_ = replace(found, columns=noted(found.columns))
        return tables.coded(subject._layout_.columns), None, None

    def _tables(self, X: Any, y: Any, sample_weight: Any) -> StreamedTables | None:
        return streamed_tables(X, y, sample_weight) if self._reads_text and is_streamed(X) else None

    def _declared_by_name(self) -> Any:
        """Return the likelihoods of columns whose numbers may be categories; where all are codes, None."""
        return None if self._default == "categorical" else self._declared()

    def _layout(self, **columns: Any) -> ColumnLikelihoods:
        return replace(learn_likelihoods(self._declared(), self._default, **columns), binarize=self.binarize)

    def _learn_more(self, X: Any, y: Any, sample_weight: Any) -> None:
        X = with_passes(X)
        if hasattr(self, "_layout_"):
            # New categories are numbered after those that are known.
            tables = self._tables(X, y, sample_weight)
            frame = X if tables is None else tables.distinct_values(self._declared_by_name())[0]
            if is_frame(frame):
                self._layout_ = replace(self._layout_, columns=met_categories(frame, self._layout_.columns))
        super()._learn_more(X, y, sample_weight)

    def _require_kind(self, statistic: Any) -> None:
        good = isinstance(statistic, ByClass) and isinstance(statistic.parts, SideBySide)
        if not good:
            raise ValueError(
                f"statistic must be ByClass of SideBySide for this model, got {type(statistic).__name__}"
            )

    def _learn(self, statistic: ByClass) -> None:
        classes = known_classes(self, statistic)
        layout = statistic.parts.about
        if layout.binarize != self.binarize:
            raise ValueError(
                f"statistic is of entries with binarize={layout.binarize}, and this model has "
                f"binarize={self.binarize}"
            )
        self._layout_ = layout
        names = self._layout_.columns.names
        named = names is not None and all(isinstance(name, str) for name in names)
        if named and not hasattr(self, "feature_names_in_"):
            self.feature_names_in_ = np.asarray(names, dtype=object)
        weight = class_weights(statistic, classes)
        prior = self._priors(weight, classes)
        fitted = fitted_columns(statistic, classes, self._layout_, self._estimation())
        self.statistic_, self.classes_ = statistic, classes
        self.class_count_, self.class_prior_ = weight, prior
        self._fitted_columns_ = fitted

    def _report(self) -> None:
        for said in warnings_of(self.statistic_, self._layout_, self._estimation()):
            warnings.warn(said, UserWarning, stacklevel=4)

    def _forget(self) -> None:
        layout = self._layout_
        super()._forget()
        self._layout_ = layout

    # Prediction

    @property
    def class_distributions_(self) -> Product:
        """p(x | C_k), one part a column, as a batch of the classes."""
        return self._with_classes(self._fitted_columns_.product(self._layout_.columns.names))

    def _with_classes(self, learned: Any) -> Any:
        """Return parameters, which are learned on the host, where those of the classes are."""
        return beside(learned, self.class_prior_) if is_foreign_array(self.class_prior_) else learned

    @property
    def distribution_(self) -> Mixture:
        """p(x), the mixture of the classes."""
        return Mixture(weights=self.class_prior_, components=self.class_distributions_)

    @by_blocks
    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        check_answerable(self)
        return self._joint(X, relative=False)

    def condition(self, dims: Any, values: Any = None) -> Any:
        """Return the distribution of the other columns, given the values of some, whatever the class.

        Categories are given as in the table; a missing value (NaN, None) is integrated out.
        """
        check_answerable(self)
        given = self._layout_.columns.given(dims, values)
        return self.distribution_.condition({j: self._layout_.prepare(v) for j, v in given.items()})

    def _class_scores(self, X: Any) -> np.ndarray:
        if is_sparse(X):
            x = counted_entries(self._layout_, X)
            return relative_scores(self._fitted_columns_)(x) + log_priors(self.class_prior_)
        return self._joint(X, relative=True)

    def _answers_sparse(self, method: str, X: Any) -> bool:
        p = self._fitted_columns_.probability
        found = super()._answers_sparse(method, X) and not np.any((p == 0.0) | (p == 1.0))
        return found and counted_entries(self._layout_, X) is not None

    def _joint(self, X: Any, *, relative: bool) -> np.ndarray:
        x = self._events(X)
        with np.errstate(over="ignore", divide="ignore"):
            log_weights = namespace_of(self.class_prior_).log(self.class_prior_)
            if relative:
                found = map_rows(self._with_classes(relative_scores(self._fitted_columns_)), x)
                return found + log_weights
            scores = ColumnScores.of(self._fitted_columns_, on_host(log_weights))
            return map_rows(self._with_classes(scores), x)

    def _events(self, X: Any) -> np.ndarray:
        """Return rows as the numbers that the distributions are of."""
        if not self._learns_on_host:
            refuse_foreign(X)
        unseen = "extra" if self.unseen == "smooth" else self.unseen
        columns, fitted = self._layout_.columns, self._fitted_columns_
        if is_frame(X):
            X = coded_frame(X, columns, unseen, strict=True)
        x = self._layout_.prepare(check_columns(self, X))
        self._layout_.check_events(x)
        if not len(fitted.categorical):
            return x
        codes = some_columns(x, fitted.categorical)
        if ((codes >= 0.0) & (codes < fitted.sizes) & (codes == np.floor(codes))).all():
            return x
        smoothed = np.all(fitted.log_unseen > -np.inf, axis=0)  # type: ignore[operator]
        for which, how in ((~smoothed, "error" if unseen == "extra" else unseen), (smoothed, unseen)):
            where = fitted.categorical[which]
            if not len(where):
                continue
            codes = some_columns(x, where)
            known = columns.known_codes(where, codes, fitted.sizes[which], how, hint=SMOOTHING)
            if known is not codes:
                x = np.array(x, dtype=np.float64)
                x[:, where] = known
        return x


class NaiveBayes(BaseNaiveBayes):
    """Classifier with independent columns given the class, each column with a likelihood of its own.

    p(C_k | x) ∝ p(C_k) Π_j p(x_j | C_k): classes are scored by ln p(C_k) + Σ_j ln p(x_j | C_k). Independence
    given the class is seldom true and often good enough. Because of it a missing entry (NaN, None) drops out
    exactly, in fitting and in prediction. Learning is *exact in one pass* whatever the likelihoods: streams,
    `partial_fit` and `merge` give the fit of all rows at once. Text is read from frames, from batches of
    frames, and from files (:func:`tractable.scan`); streams are then read twice, for the categories and for
    their counts.

    Parameters
    ----------
    likelihoods : str, mapping, sequence, family or conjugate model, optional
        One for all columns, one for each in order, or ``{"visits": "poisson", "wage": "Gamma"}`` by name or
        position. Columns of a frame that are not declared: text and categories are "categorical", booleans
        "bernoulli" and all other numbers "normal"; columns of arrays are "normal".

        - "normal": mean and variance of each class;
        - "categorical": probabilities of categories; in arrays, codes 0, 1, …; "bernoulli": zeros and ones;
        - "poisson": counts with a rate of each class; "multinomial": counts that are multinomial given the
          total of a row, all columns declared so together;
        - "kernel": a kernel density estimate of each class, which stores the values: the model is as large as
          the data, as it is where a family below has no finite statistic;
        - a family of `tractable.distributions`, by name or itself, fitted to each class by maximum
          likelihood; or a conjugate model, whose predictive given each class's values is used.
    estimate : {"map", "bayes"}
        Estimated parameters, or their predictive distributions: Student-t for normal columns, negative
        binomial for counts. For categories both are the same. With "map" a class of one row has only
        `var_smoothing` as variance, with a warning; "bayes" is for classes of few rows.
    pseudocounts : float
        Strength of the priors in observations: α of each category, of the average count of a column, and
        with "bayes" of its mean and variance. 0, for "map" alone, is maximum likelihood, under which one
        category that a class has not shown excludes the class.
    priors : array of shape (n_classes,), optional
        p(C_k); by default the relative frequencies of the classes (with "bayes", `pseudocounts` smooth them
        too). A class given to `partial_fit` and not seen then has probability 0.
    unseen : {"smooth", "error", "missing"}
        Treatment of a category that a column did not have in fitting. "smooth": the probability it would have
        if it had been declared, α / (n_k + α (C + 1)); the others refuse it, or take it as missing with a
        warning. Each such category is scored as if it alone had been declared: the probabilities of several,
        and of the known ones beside them, add up to more than one.
    var_smoothing : float
        Added to the variances of normal columns, as a fraction of each column's variance over all classes.
    bandwidth : str or float
        Of "kernel" columns, as of :class:`tractable.KernelDensity`, chosen for each class. A class whose
        values do not vary has Silverman's for the standard deviation of all classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels, in order.
    class_count_, class_prior_ : arrays of shape (n_classes,)
        Weight of the rows of each class; p(C_k).
    class_distributions_ : Product of batch n_classes
        p(x | C_k), one part a column, over numbers and the codes of categories.
    distribution_ : Mixture
        p(x) = Σ_k p(C_k) p(x | C_k).
    likelihoods_ : dict from column to likelihood
        The likelihood of each column.
    categories_ : dict from column to its categories, of which position c has the code c
        The categories of each categorical column, in the order of their codes.
    log_evidence_ : float, with "bayes" where all columns have conjugate priors
        log p(X, y), parameters integrated out. Priors are centred on the columns' own averages over all
        classes, as strong as `pseudocounts`: comparable between models of the same columns.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.
    statistic_ : ByClass
        The statistic of the rows of each class.

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

    The expected flipper length of a heavy one:

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
        """See `tractable.tags`; with "kernel" columns the model is as large as the data."""
        return replace(BaseNaiveBayes.model_tags, parametric="kernel" not in self._named())

    @property
    def likelihoods_(self) -> dict[Any, Any]:
        """The likelihood of each column."""
        return {self._layout_.columns.label(j): kind for j, kind in enumerate(self._layout_.likelihoods)}

    @property
    def categories_(self) -> dict[Any, tuple[Any, ...]]:
        """The categories of each categorical column."""
        fitted = self._fitted_columns_
        return self._layout_.columns.values_of_categories(fitted.categorical, fitted.sizes)

    @property
    def log_evidence_(self) -> float:
        """Return log p(X, y), the parameters of columns and the class probabilities integrated out."""
        if self.estimate != "bayes":
            raise AttributeError('log_evidence_ is of models with estimate="bayes"')
        counts = self.class_count_
        if self.priors is None:
            labels = float(dirichlet_increment(np.full(len(counts), float(self.pseudocounts)), counts))
        else:
            some = counts > 0
            with np.errstate(divide="ignore"):
                labels = float(counts[some] @ np.log(self.class_prior_[some]))
        return labels + log_evidence(self.statistic_, self._layout_, self._estimation())

    @either_seed_name
    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> tuple[Any, np.ndarray]:
        """Draw new rows, as a table like the one that was fitted, and their classes."""
        codes, labels = super().sample(n_samples, random_state=random_state)
        return table_of(self._layout_.columns, codes), labels

    def _declared(self) -> Any:
        return self.likelihoods

    def _named(self) -> list[str]:
        """Return the likelihoods that are declared by name."""
        declared = self.likelihoods
        declared = declared.values() if isinstance(declared, Mapping) else declared
        several = isinstance(declared, Iterable) and not isinstance(declared, str)
        return [kind for kind in (declared if several else [declared]) if isinstance(kind, str)]

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
