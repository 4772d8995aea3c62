"""Every law of regression tables on every estimator that has one; the laws have power."""

import numpy as np
import pytest

from catalogue import ESTIMATORS, cross
from tractable import LinearRegression, PoissonRegression
from tractable.regression_tables import RegressionSummary
from tractable.testing import regression_table_laws
from tractable.testing.regression_table_laws import REGRESSION_TABLE_LAWS
from tractable.value import parameters, replace

#: After an L1 penalty has chosen coefficients, with class weights beside a penalty, and of coefficients that
#: must not be negative, there is no table.
WITHOUT = ("LogisticRegression-lasso", "LogisticRegression-elastic", "LogisticRegression-weak")
ROWS = [
    row
    for row in ESTIMATORS
    if hasattr(model := row.make(), "summary")
    and row.name not in WITHOUT
    and not getattr(model, "positive", False)
]


@pytest.mark.parametrize(("law", "make"), cross(REGRESSION_TABLE_LAWS, ROWS, most=1))
def test_law(law, make, rng):
    law(make(), rng)


class Altered(LinearRegression):
    """Least squares whose table has been tampered with."""

    def summary(self, *args, **options):
        return self.alter(super().summary(*args, **options))


class OneSided(RegressionSummary):
    @property
    def p_values(self):
        return 0.5 * super().p_values


class OneTailed(Altered):
    """p-values of one tail."""

    def alter(self, table):
        return OneSided(**parameters(table))


class Variances(Altered):
    """Intervals by t beside tests by z: the degrees of freedom are left out of the p-values alone."""

    def alter(self, table):
        return NormalTests(**parameters(table))


class NormalTests(RegressionSummary):
    @property
    def p_values(self):
        return replace(RegressionSummary(**parameters(self)), t_dof=None).p_values


class RowsAsGiven(Altered):
    """Counts the rows, and not their weights."""

    def alter(self, table):
        return replace(table, n_rows=float(regression_table_laws.N_ROWS))


class InflationAboutTheOrigin(Altered):
    """VIF of columns that are not centred, which depends on their origin."""

    def alter(self, table):
        at = self.statistic_
        columns = at.uncentred()[:, : at.dim]
        gram = columns.T @ columns
        found = np.diagonal(gram) * np.diagonal(np.linalg.inv(gram))
        return replace(table, inflation=np.append(np.nan, found))


class Forgetful(Altered):
    """Slopes in the table before the intercept."""

    def alter(self, table):
        order = np.roll(np.arange(len(table.names)), -1)
        return replace(table, coefficients=table.coefficients[order])


class LeveragedScores(LinearRegression):
    """HC3 under the name of HC0."""

    def robust_covariance(self, X, y=None, sample_weight=None, *, covariance=None, **options):
        kind = "HC3" if covariance == "HC0" else covariance
        return super().robust_covariance(X, y, sample_weight, covariance=kind, **options)


class MeanSquares(LinearRegression):
    """Equal noise under the name of HC0."""

    def robust_covariance(self, X, y=None, sample_weight=None, *, covariance=None, **options):
        if covariance == "HC0":
            return self.summary().covariance
        return super().robust_covariance(X, y, sample_weight, covariance=covariance, **options)


class Unscaled(Altered):
    """Comparable units by coefficients that were standardized and not put back."""

    def alter(self, table):
        factor = np.append(1.0, self.statistic_.stddev[: self.statistic_.dim])
        return replace(
            table,
            coefficients=table.coefficients * factor,
            covariance=table.covariance * factor * factor[:, None],
        )


class FullDeviance(PoissonRegression):
    """A null model with one more parameter: the likelihood ratio has the wrong degrees of freedom."""

    def summary(self, *args, **options):
        return replace(super().summary(*args, **options), n_intercepts=0)


class HalfTheLeverage(LinearRegression):
    """Leverages that leave the intercept out."""

    def influence(self, X, y=None, sample_weight=None, **options):
        found = super().influence(X, y, sample_weight, **options)
        return replace(found, leverage=found.leverage - 1.0 / len(X))


@pytest.mark.parametrize(
    ("law", "broken"),
    [
        ("errors_tests_and_intervals_follow_from_the_covariance", OneTailed),
        ("errors_tests_and_intervals_follow_from_the_covariance", Variances),
        ("rows_of_the_fit_are_counted", RowsAsGiven),
        ("origins_of_columns_change_the_intercept_alone", InflationAboutTheOrigin),
        ("coefficients_and_intervals_are_the_models", Forgetful),
        ("order_of_columns_is_the_order_of_the_table", Forgetful),
        ("units_of_columns_do_not_matter", Unscaled),
        ("hc0_is_the_sandwich_by_brute_force", LeveragedScores),
        ("hc0_is_the_sandwich_by_brute_force", MeanSquares),
        ("robust_covariances_are_ordered_and_clusters_of_one_row_are_hc1", LeveragedScores),
        ("criteria_follow_from_the_likelihood", FullDeviance),
        ("leverages_sum_to_the_parameters", HalfTheLeverage),
    ],
)
def test_laws_have_power(law, broken, rng):
    honest = PoissonRegression if broken is FullDeviance else LinearRegression
    getattr(regression_table_laws, law)(honest(), rng)
    with pytest.raises(AssertionError):
        getattr(regression_table_laws, law)(broken(), rng)


class Bare(Altered):
    """A page without the lines of the coefficients."""

    def alter(self, table):
        return NoPage(**parameters(table))


class NoPage(RegressionSummary):
    def _repr_html_(self):
        return "<table></table>"


def test_a_page_without_coefficients_is_rejected(rng):
    with pytest.raises(AssertionError):
        regression_table_laws.text_page_and_frame_have_every_coefficient(Bare(), rng)
