"""Models of p(x): what every fitted density has in common."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, to_numpy
from tractable.arrays.random import either_seed_name
from tractable.base.by_blocks import by_blocks
from tractable.base.estimator import check_answerable
from tractable.base.validation import check_columns, check_rows
from tractable.data import Batch, Source
from tractable.data.predict_to import FittedColumns
from tractable.value import value


@value
class LogLikelihood:
    """Σ w log p(x) and Σ w over a block of rows."""

    density: Any

    def __call__(self, block: Batch) -> np.ndarray:
        weights = block.row_weights
        return np.array([weights @ self.density.log_prob(block.X), weights.sum()])


@value
class EstimatedDensity:
    """The log density that a model gives rows of a source, of models that have no `distribution_`."""

    model: Any
    columns: FittedColumns

    def log_prob(self, X: Any) -> Array:
        """Return the model's `score_samples` of rows."""
        return self.model.score_samples(self.columns(X))


class DensityMixin:
    """`score_samples`, `score`, `sample`, `marginal`, `condition` and `outlier_scores`.

    A model supplies `distribution_`, the fitted distribution of a row.
    """

    _estimator_type = "density_estimator"
    distribution_: Any

    def __sklearn_tags__(self) -> Any:
        found = super().__sklearn_tags__()  # type: ignore[misc]
        found.estimator_type = "density_estimator"
        return found

    def _density(self) -> Any:
        """Return the fitted distribution; raise where there is none yet."""
        check_answerable(self)
        return self.distribution_

    @by_blocks
    def score_samples(self, X: Any) -> Array:
        """Return the log density of each row, (n_samples,).

        Missing entries (NaN) are marginalised where the model can.
        """
        return self._density().log_prob(check_columns(self, X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log density of the rows.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows.
        y : ignored
            Not used: there are no targets.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        check_answerable(self)
        rows = check_rows(self, X, None, sample_weight, reset=False)
        if isinstance(rows.data, Source):
            density = getattr(self, "distribution_", None)
            if density is None:
                density = EstimatedDensity(model=self, columns=FittedColumns.of(self, rows.data))
            total = rows.data.reduce(LogLikelihood(density=density))
            return float(total[0] / total[1])
        log_prob = to_numpy(self.score_samples(X))
        return float(np.average(log_prob, weights=None if rows.weights is None else to_numpy(rows.weights)))

    def outlier_scores(self, X: Any) -> Array:
        """Return how unusual each row is, minus its log density, (n_samples,)."""
        return -self.score_samples(X)

    @either_seed_name
    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Array:
        """Draw new rows from the fitted distribution.

        Parameters
        ----------
        n_samples : int
            How many.
        random_state : None, int, RandomState or Generator
            Where the random numbers come from.
        """
        return self._density().sample(n_samples, rng=random_state)

    def marginal(self, dims: Any) -> Any:
        """Return the fitted distribution of some columns, by their names or indices."""
        return self._density().marginal(dims)

    def condition(self, dims: Any, values: Any = None) -> Any:
        """Return the fitted distribution of the other columns, given the values of some.

        Parameters
        ----------
        dims : mapping from column to value, or column names or indices
            The columns that are given.
        values : array of shape (..., len(dims)), optional
            Their values; leading axes become batch axes of the distribution.
        """
        return self._density().condition(dims, values)


class CriteriaMixin(ABC):
    """`aic` and `bic` of densities of `n_parameters_` parameters.

    A model supplies `_log_likelihood`, Σ w log p(x) of rows and the weight that counts as their number.
    """

    n_parameters_: Any

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Akaike's criterion, -2 log p(X) + 2 parameters; lower is better.

        Parameters
        ----------
        X, sample_weight
            As in `fit`.
        """
        return 2.0 * self.n_parameters_ - 2.0 * self._log_likelihood(X, sample_weight)[0]

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Return Schwarz's criterion, -2 log p(X) + parameters · log n; lower is better.

        Parameters
        ----------
        X, sample_weight
            As in `fit`.
        """
        log_likelihood, weight = self._log_likelihood(X, sample_weight)
        return self.n_parameters_ * float(np.log(weight)) - 2.0 * log_likelihood

    @abstractmethod
    def _log_likelihood(self, X: Any, sample_weight: Any) -> tuple[float, float]:
        """Return Σ w log p(x), and the weight of the rows."""


class DegenerateCovarianceWarning(UserWarning):
    """A covariance is singular, as columns are constant or follow from others, or rows are few.

    It was made regular by what was added to its diagonal: `jitter_`, or of mixtures `reg_covar`.
    """
