"""The conditions of optimality, and the laws, reject the classic mistakes of logistic regression."""

import warnings

import numpy as np
import pytest
from scipy.special import expit

from logistic_optimality import assert_logistic_optimal
from tractable import LogisticRegression
from tractable.testing import classifier_laws, estimator_laws

C = 0.5


@pytest.fixture
def data(rng):
    X = rng.standard_normal((80, 3)) * [0.3, 1.0, 4.0] + 1.0
    return X, (X @ rng.standard_normal((3, 3)) + rng.gumbel(size=(80, 3))).argmax(axis=1)


def planes(model):
    return model.coef_, model.intercept_


def inverted_price(X, y):
    """The price itself taken for its inverse."""
    return planes(LogisticRegression(1.0 / C).fit(X, y))


def mean_for_sum(X, y):
    """The mean of the losses where their sum is meant."""
    return planes(LogisticRegression(C / len(y)).fit(X, y))


def priced_intercept(X, y):
    """The intercept as one more coefficient."""
    found = LogisticRegression(C, fit_intercept=False).fit(np.column_stack([np.ones(len(X)), X]), y)
    return found.coef_[:, 1:], found.coef_[:, 0]


def price_of_scaled_columns(X, y):
    """Columns of variance one are priced, whatever their units."""
    size = X.std(axis=0)
    found = LogisticRegression(C).fit(X / size, y)
    return found.coef_ / size, found.intercept_


def sigmoids_of_each_class(X, y):
    """One class against the rest, three times: no softmax."""
    each = [LogisticRegression(C).fit(X, y == k) for k in range(3)]
    return np.concatenate([m.coef_ for m in each]), np.concatenate([m.intercept_ for m in each])


def one_gradient_step(X, y):
    """A search that stops at once."""
    with pytest.warns(UserWarning, match="converge"):
        return planes(LogisticRegression(C, max_iter=1).fit(X, y))


def one_plane_too_few(X, y):
    """The first class without a plane, and the others priced as if it had none to pay for."""
    found = LogisticRegression(C).fit(X, y)
    return found.coef_ - found.coef_[0], found.intercept_ - found.intercept_[0]


MISTAKES = (
    inverted_price,
    mean_for_sum,
    priced_intercept,
    price_of_scaled_columns,
    sigmoids_of_each_class,
    one_gradient_step,
    one_plane_too_few,
)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.__name__)
@pytest.mark.spec("E004-21")
def test_conditions_of_optimality_have_power(mistake, data):
    X, y = data
    assert_logistic_optimal(X, y, *planes(LogisticRegression(C, tol=1e-14).fit(X, y)), C)
    with pytest.raises(AssertionError):
        assert_logistic_optimal(X, y, *mistake(X, y), C)


def half_the_price(X, y):
    return planes(LogisticRegression(0.1, l1_ratio=0.5).fit(X, y))


def thresholded_ridge(X, y):
    found = LogisticRegression(0.1).fit(X, y)
    return np.where(np.abs(found.coef_) > 0.1, found.coef_, 0.0), found.intercept_


def refitted_support(X, y):
    """No price on the columns that were chosen."""
    used = LogisticRegression(0.1, l1_ratio=1.0).fit(X, y).coef_[0] != 0.0
    found = LogisticRegression(np.inf).fit(X[:, used], y)
    coef = np.zeros((1, X.shape[1]))
    coef[0, used] = found.coef_[0]
    return coef, found.intercept_


@pytest.mark.parametrize("mistake", [half_the_price, thresholded_ridge, refitted_support])
def test_conditions_of_sparse_planes_have_power(mistake, rng):
    X = rng.standard_normal((80, 6))
    y = (rng.random(80) < expit(X @ [1.0, -0.5, 0.2, 0.0, 0.0, 0.1])).astype(int)
    honest = LogisticRegression(0.1, l1_ratio=1.0, tol=1e-14).fit(X, y)
    assert_logistic_optimal(X, y, *planes(honest), 0.1, l1_ratio=1.0)
    with pytest.raises(AssertionError):
        assert_logistic_optimal(X, y, *mistake(X, y), 0.1, l1_ratio=1.0)


class IgnoresWeights(LogisticRegression):
    """Every row counts once."""

    def fit(self, X, y=None, sample_weight=None):
        LogisticRegression().fit(X, y, sample_weight)  # which checks them
        return super().fit(X, y)


class SquaresWeights(LogisticRegression):
    """Weights twice: in the loss, and again in the rows."""

    def fit(self, X, y=None, sample_weight=None):
        if sample_weight is None:
            return super().fit(X, y)
        return super().fit(X, y, np.asarray(sample_weight, dtype=float) ** 2)


class OneBatch(LogisticRegression):
    """The first batch is all it reads."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X[:1] if isinstance(X, list) and y is None else X, y, sample_weight)


class OwnUnits(LogisticRegression):
    """Powers of the columns as they come, which overflow."""

    def predict_proba(self, X):
        with np.errstate(all="ignore"):
            scores = np.sum(X**4 * self.coef_ / X**3, axis=1) + self.intercept_[0]
            return np.column_stack([expit(-scores), expit(scores)])


class SaysItConverged(LogisticRegression):
    """A search that calls three steps enough."""

    def fit(self, X, y=None, sample_weight=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            early = LogisticRegression(max_iter=3).fit(X, y, sample_weight)
        self.__dict__.update(vars(early), max_iter=self.max_iter, converged_=True)
        return self


@pytest.mark.parametrize(
    ("laws", "law", "broken"),
    [
        (classifier_laws, "what_converged_is_optimal", SaysItConverged),
        (estimator_laws, "weights_are_repetitions", IgnoresWeights),
        (estimator_laws, "weights_are_repetitions", SquaresWeights),
        (estimator_laws, "batches_are_rows", OneBatch),
        (estimator_laws, "extreme_scales_change_the_scale_alone", OwnUnits),
    ],
)
def test_laws_have_power(laws, law, broken, rng):
    getattr(laws, law)(LogisticRegression(), rng)
    with pytest.raises(AssertionError):
        getattr(laws, law)(broken(), rng)
