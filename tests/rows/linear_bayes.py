"""Linear regression with priors, and with priors that are learned."""

from rows.row import Row
from tractable.linear_model import BayesianLinearRegression

ROWS = [
    Row("BayesianLinearRegression", BayesianLinearRegression),
    Row("BayesianLinearRegression-known", lambda: BayesianLinearRegression(noise_variance=0.25)),
    Row("BayesianLinearRegression-ml", lambda: BayesianLinearRegression(noise_variance="ml")),
    Row(
        "BayesianLinearRegression-origin",
        lambda: BayesianLinearRegression(prior_mean=1.0, prior_covariance=4.0, fit_intercept=False),
    ),
    Row(
        "BayesianLinearRegression-proper",
        lambda: BayesianLinearRegression(
            prior_precision=0.1, noise_shape=2.0, noise_scale=1.0, penalize_intercept=True
        ),
    ),
]
