"""Linear regression with priors, and with priors that are learned."""

from rows.row import Row
from tractable.linear_model import ARDRegression, BayesianLinearRegression, BayesianRidge

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
    Row("BayesianRidge", BayesianRidge),
    Row("BayesianRidge-em", lambda: BayesianRidge(method="em", tol=1e-4)),
    Row("BayesianRidge-origin", lambda: BayesianRidge(fit_intercept=False, compute_score=True)),
    Row("BayesianRidge-flat", lambda: BayesianRidge(alpha_1=0.0, alpha_2=0.0, lambda_1=0.0, lambda_2=0.0)),
    Row("ARDRegression", ARDRegression),
    Row("ARDRegression-origin", lambda: ARDRegression(fit_intercept=False, compute_score=True)),
    Row("ARDRegression-pruning", lambda: ARDRegression(threshold_lambda=30.0)),
]
