"""Gamma regression of many rows."""

import statsmodels.api as sm

from benchmarks.generalized import row

ROW = row(
    name="gamma_regression",
    shows="GammaRegression().fit of 500,000 × 20 amounts, standard errors included.",
    model="GammaRegression",
    peer="GammaRegressor",
    family=sm.families.Gamma(sm.families.links.Log()),
    target="amounts",
)
