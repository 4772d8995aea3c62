"""Gaussian process regression with each kind of mean, noise and kernel."""

from rows.row import Row
from tractable.gaussian_process import (
    BayesianCommittee,
    GaussianProcessClassifier,
    GaussianProcessPoissonRegressor,
    GaussianProcessRegressor,
    NystromGaussianProcess,
    StateSpaceGaussianProcess,
)
from tractable.kernels import RBF, Constant, Cosine, Linear, Matern, White
from tractable.linear_model import PolynomialBasis

HOLDS = {"no_row_travels": "the model holds at most 20,000 rows, which `compare_to_exact` looks at"}
ROWS = [
    Row("GaussianProcessRegressor", GaussianProcessRegressor),
    Row(
        "GaussianProcessRegressor-fixed",
        lambda: GaussianProcessRegressor(4.0 * RBF(2.0) + White(0.5), mean="zero", optimizer=None),
    ),
    Row(
        "GaussianProcessRegressor-linear",
        lambda: GaussianProcessRegressor(2.0 * Matern(2.0, nu=1.5), mean="linear"),
    ),
    Row(
        "GaussianProcessRegressor-basis",
        lambda: GaussianProcessRegressor(
            2.0 * RBF(3.0), mean=PolynomialBasis(1), noise_variance=0.3, optimizer=None
        ),
    ),
    Row(
        "GaussianProcessRegressor-primal",
        lambda: GaussianProcessRegressor(Linear() + White(0.3), n_restarts_optimizer=1, random_state=0),
    ),
    Row("GaussianProcessClassifier", lambda: GaussianProcessClassifier(max_iter=6)),
    Row(
        "GaussianProcessClassifier-fixed",
        lambda: GaussianProcessClassifier(4.0 * RBF(2.0), nu=0.1, optimizer=None),
    ),
    Row(
        "GaussianProcessClassifier-one-vs-rest",
        lambda: GaussianProcessClassifier(
            2.0 * Matern(1.5, nu=2.5), link="probit", multi_class="one_vs_rest", optimizer=None
        ),
    ),
    Row(
        "GaussianProcessPoissonRegressor",
        lambda: GaussianProcessPoissonRegressor(1.0 * RBF(3.0), optimizer=None),
    ),
    Row(
        "GaussianProcessPoissonRegressor-learned",
        lambda: GaussianProcessPoissonRegressor(max_iter=30),
    ),
    Row(
        "NystromGaussianProcess",
        lambda: NystromGaussianProcess(
            4.0 * RBF(3.0) + White(0.5), inducing="pivoted_cholesky", n_inducing=40, optimizer=None
        ),
        exempt=HOLDS,
    ),
    Row(
        "NystromGaussianProcess-learned",
        lambda: NystromGaussianProcess(n_inducing=40, noise_variance=0.1, tol=1e-13, random_state=0),
        exempt=HOLDS,
    ),
    Row(
        "BayesianCommittee",
        lambda: BayesianCommittee(4.0 * RBF(2.0) + White(0.5), n_subsets=3, optimizer=None, random_state=0),
    ),
    Row(
        "BayesianCommittee-learned",
        lambda: BayesianCommittee(n_subsets=2, variant="bayesian", max_iter=30, random_state=0),
    ),
    Row(
        "StateSpaceGaussianProcess",
        lambda: StateSpaceGaussianProcess(2.0 * Matern(1.5, nu=1.5) + White(0.5), optimizer=None),
    ),
    Row(
        "StateSpaceGaussianProcess-learned",
        lambda: StateSpaceGaussianProcess(max_iter=60),
    ),
    Row(
        "StateSpaceGaussianProcess-sum",
        lambda: StateSpaceGaussianProcess(
            Matern(2.0, nu=2.5) + Constant(2.0) * Matern(0.5, nu=0.5) + 0.5 * Cosine(3.0),
            mean=PolynomialBasis(1),
            noise_variance=0.3,
            optimizer=None,
        ),
    ),
    Row("GaussianProcessRegressor-normalized", lambda: GaussianProcessRegressor(normalize_y=True)),
]
