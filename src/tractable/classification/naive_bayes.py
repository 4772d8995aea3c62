"""Naive Bayes over the columns of any table."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tractable.base import ModelTags, check_answerable, check_choice, check_number
from tractable.classification.naive_bayes_estimation import Estimation
from tractable.classification.naive_bayes_model import log_evidence
from tractable.classification.naive_bayes_samples import check_rule
from tractable.classification.naive_bayes_shell import NaiveBayesShell
from tractable.classification.one_pass import class_priors
from tractable.conjugate.rises import shares_rise
from tractable.data.table_writing import table_of
from tractable.value import replace

__all__ = ["NaiveBayes"]


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
