"""Poisson regression of many rows."""

import statsmodels.api as sm

from benchmarks.generalized import row

ROW = row(
    name="poisson_regression",
    shows="PoissonRegression().fit of 500,000 × 20 counts, standard errors included.",
    model="PoissonRegression",
    peer="PoissonRegressor",
    family=sm.families.Poisson(),
    target="counts",
)
