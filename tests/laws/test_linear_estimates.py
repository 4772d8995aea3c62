"""Every law of linear estimates on every model that holds one; the laws have power."""

import numpy as np
import pytest

from catalogue import ESTIMATORS, cross
from tractable import LinearRegression
from tractable.engines import CovarianceRoot, LinearEstimate
from tractable.testing import linear_estimate_laws
from tractable.testing.linear_estimate_laws import LINEAR_ESTIMATE_LAWS
from tractable.value import parameters, replace

#: Models without an estimate, though others of their class have one: coefficients that must not be negative,
#: or that an L1 penalty chooses, and precisions that prune columns.
ROWS = [
    row
    for row in ESTIMATORS
    if hasattr(type(model := row.make()), "_estimate")
    and not getattr(model, "positive", False)
    and not row.name.startswith(("ARDRegression", "LogisticRegression-lasso", "LogisticRegression-elastic"))
]


@pytest.mark.parametrize(("law", "make"), cross(LINEAR_ESTIMATE_LAWS, ROWS, most=1))
def test_law(law, make, rng):
    law(make(), rng)


class Altered(LinearRegression):
    """Least squares whose estimate has been tampered with."""

    @property
    def _estimate(self):
        fit = self._solution_
        own = {name: getattr(fit, name) for name in parameters(fit) if name in FIELDS}
        return self.alter(LinearEstimate(**own, scale=fit.scale, dof=fit.dof))


FIELDS = ("coef", "centre", "offset", "root", "has_intercept", "intercept")


class AtTheCentre(LinearEstimate):
    """The covariance of the offset under the name of the intercept's."""

    def _at_origin(self, factor):
        return factor


class OffsetForIntercept(Altered):
    """Standard errors at the centre."""

    def alter(self, fit):
        return AtTheCentre(**parameters(fit))


class Forgotten(Altered):
    """The span of the rows is forgotten: every coefficient is determined."""

    def alter(self, fit):
        return replace(fit, root=CovarianceRoot(factor=fit.root.factor))


class UnscaledErrors(LinearEstimate):
    """Standard errors that are variances."""

    @property
    def coef_std_errors(self):
        return super().coef_std_errors ** 2


class Variances(Altered):
    def alter(self, fit):
        return UnscaledErrors(**parameters(fit))


class TracelessHat(LinearEstimate):
    """A hat matrix without the mean."""

    def hat(self, x):
        return super().hat(x) - 1.0 / len(x)


class NoMean(Altered):
    def alter(self, fit):
        return TracelessHat(**parameters(fit))


class OtherWay(LinearEstimate):
    """Carries a covariance from the origin to the centre."""

    def from_centre(self, covariance):
        own = {**parameters(self), "centre": -self.centre}
        return LinearEstimate(**own).from_centre(covariance)


class CarriedTheOtherWay(Altered):
    def alter(self, fit):
        return OtherWay(**parameters(fit))


class NegativeCovariance(LinearEstimate):
    """A covariance of intercept and slope that is larger than both deviations allow."""

    def covariance(self, target=0):
        found = super().covariance(target).copy()
        found[0, 1] = found[1, 0] = 1.1 * np.sqrt(found[0, 0] * found[1, 1])
        return found


class Negative(Altered):
    def alter(self, fit):
        return NegativeCovariance(**parameters(fit))


class NoNoise(LinearRegression):
    """New targets as certain as the linear predictor."""

    def predict_dist(self, X, *, include_noise=True):
        return super().predict_dist(X, include_noise=False)


class AnotherCentre(Altered):
    """The offset at a centre that is not its own."""

    def alter(self, fit):
        return replace(fit, centre=fit.centre + 1.0)


@pytest.mark.parametrize(
    ("law", "broken"),
    [
        ("standard_errors_are_roots_of_the_covariance", Variances),
        ("standard_errors_are_roots_of_the_covariance", OffsetForIntercept),
        ("variances_of_rows_follow_from_the_covariance", OffsetForIntercept),
        ("predictive_variances_are_those_of_the_predictor_and_the_noise", NoNoise),
        ("the_hat_matrix_has_the_leverages", NoMean),
        ("the_prediction_is_that_of_intercept_and_coefficients", AnotherCentre),
        ("a_covariance_about_the_centre_is_that_at_the_origin", CarriedTheOtherWay),
        ("the_covariance_is_symmetric_and_positive", Negative),
        ("what_rows_and_prior_leave_open_is_infinite", Forgotten),
    ],
)
def test_laws_have_power(law, broken, rng):
    getattr(linear_estimate_laws, law)(LinearRegression(), rng)
    with pytest.raises(AssertionError):
        getattr(linear_estimate_laws, law)(broken(), rng)
