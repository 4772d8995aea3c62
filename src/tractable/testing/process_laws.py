"""Laws of Gaussian processes at known hyper-parameters: posteriors are those of joint normals."""

from typing import Any

import numpy as np

from tractable.arrays.gradient import check_gradient
from tractable.arrays.random import as_generator
from tractable.testing.assertions import check_laws, laws_above
from tractable.testing.estimator_laws import assert_close, assert_same_predictions, cloned

N_ROWS, N_COLUMNS, N_FIRST = 24, 2, 16


def _example(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((N_ROWS, N_COLUMNS))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(N_ROWS) + 2.0


def _fitted(estimator: Any, X: Any, y: Any) -> Any:
    return cloned(estimator).fit(X, y)


def evidence_is_a_chain_of_predictions(estimator: Any, rng: np.random.Generator) -> None:
    """The joint prediction of later rows is the rest: log p(y₁, y₂) = log p(y₁) + log p(y₂ | y₁)."""
    X, y = _example(rng)
    first, whole = _fitted(estimator, X[:N_FIRST], y[:N_FIRST]), _fitted(estimator, X, y)
    later = first.predict_joint(X[N_FIRST:]).log_prob(y[N_FIRST:])
    np.testing.assert_allclose(whole.log_evidence_, first.log_evidence_ + float(later), rtol=1e-7)


def more_rows_are_a_fit_to_all(estimator: Any, rng: np.random.Generator) -> None:
    """`partial_fit` of later rows is `fit` on all rows."""
    X, y = _example(rng)
    grown = _fitted(estimator, X[:N_FIRST], y[:N_FIRST]).partial_fit(X[N_FIRST:], y[N_FIRST:])
    whole = _fitted(estimator, X, y)
    assert_same_predictions(grown, whole, X)
    assert_close(grown.predict_var(X), whole.predict_var(X))
    np.testing.assert_allclose(grown.log_evidence_, whole.log_evidence_, rtol=1e-8)


def rows_left_out_are_predicted_by_the_others(estimator: Any, rng: np.random.Generator) -> None:
    """`leave_one_out` is the prediction of each row by a fit to the others."""
    X, y = _example(rng)
    found = _fitted(estimator, X, y).leave_one_out()
    for i in (0, N_ROWS - 1):
        others = np.arange(N_ROWS) != i
        left = _fitted(estimator, X[others], y[others]).predict_dist(X[i : i + 1])
        np.testing.assert_allclose(
            [found.mean[i], found.variance[i]], [left.mean[0], left.variance[0]], rtol=1e-7
        )


def gradients_are_those_of_differences(estimator: Any, rng: np.random.Generator) -> None:
    """The gradient of `log_marginal_likelihood` is that of differences."""
    X, y = _example(rng)
    model = _fitted(estimator, X, y)
    theta = np.array(model.theta_)
    if len(theta):
        check_gradient(
            model.log_marginal_likelihood, model.log_marginal_likelihood(theta, eval_gradient=True)[1], theta
        )


def joint_predictions_have_the_margins_of_rows(estimator: Any, rng: np.random.Generator) -> None:
    """`predict_joint` has the means and variances of `predict_dist`, and `predict` its covariance."""
    X, y = _example(rng)
    model, new = _fitted(estimator, X, y), rng.standard_normal((5, N_COLUMNS))
    for noise in (True, False):
        joint, each = (
            model.predict_joint(new, include_noise=noise),
            model.predict_dist(new, include_noise=noise),
        )
        assert_close(np.asarray(joint.mean), np.asarray(each.mean))
        assert_close(np.diag(joint.covariance), np.asarray(each.variance), 1e-6)
        covariance = model.predict(new, return_cov=True, include_noise=noise)[1]
        assert_close(np.asarray(covariance), np.asarray(joint.covariance), 1e-6)


def the_order_of_rows_does_not_matter(estimator: Any, rng: np.random.Generator) -> None:
    """Rows in another order give the same process."""
    X, y = _example(rng)
    order = rng.permutation(N_ROWS)
    assert_same_predictions(_fitted(estimator, X[order], y[order]), _fitted(estimator, X, y), X)


def parts_add_up(estimator: Any, rng: np.random.Generator) -> None:
    """The means of the parts of the kernel and of the mean add up to the prediction."""
    X, y = _example(rng)
    model, new = _fitted(estimator, X, y), rng.standard_normal((5, N_COLUMNS))
    assert_close(np.sum(model.decompose(new).mean, axis=0), model.predict(new))


PROCESS_LAWS = laws_above(globals())


def check_process(process: Any, rng: Any = 0) -> None:
    """Run every law of Gaussian processes on an estimator whose hyper-parameters are known.

    Examples
    --------
    >>> from tractable import GaussianProcessRegressor
    >>> from tractable.kernels import RBF, White
    >>> check_process(GaussianProcessRegressor(RBF() + White(0.1), optimizer=None))
    """
    check_laws(PROCESS_LAWS, process, as_generator(rng))
