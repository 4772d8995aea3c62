"""Exact Gaussian processes: the data, the contenders, and what they must agree on."""

import warnings
from types import SimpleNamespace

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor, kernels

import tractable
from tractable.gaussian_process.posteriors.exact import Observations, log_evidence
from tractable.kernels import RBF, Scaled, White

NOISE, HEIGHT = 0.1, 1.5

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # those of torch within GPyTorch
        import gpytorch
        import torch
except ImportError:
    gpytorch = None


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, n_columns, *n_new = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n_rows)
    lengths = np.linspace(1.0, 4.0, n_columns)
    new = rng.standard_normal((*n_new, n_columns)) if n_new else None
    return SimpleNamespace(X=X, y=y, lengths=lengths, new=new, held={})


# -- evidence and its gradient ------------------------------------------------------------------------------


def evidence(data):
    """Value, and derivatives by the logarithms of the height, the length scales and the noise."""
    rows = Observations(x=data.X, y=data.y[:, None], basis=data.X[:, :0], noise_scale=np.ones(len(data.X)))
    found = log_evidence(Scaled(RBF(data.lengths), HEIGHT), NOISE, rows)
    return np.array([found.value, *found.kernel_gradient, found.noise_gradient])


def their_kernel(lengths, height=HEIGHT, noise=NOISE):
    return kernels.ConstantKernel(height) * kernels.RBF(lengths) + kernels.WhiteKernel(noise)


def their_evidence(data):
    if "evidence" not in data.held:
        model = GaussianProcessRegressor(their_kernel(data.lengths), alpha=0.0, optimizer=None)
        data.held["evidence"] = model.fit(data.X, data.y)
    model = data.held["evidence"]
    value, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    return np.array([value, *gradient])


def bare(data):
    """The factor and the inverse of a matrix of that size, and nothing else."""
    from scipy.linalg import lapack

    if "matrix" not in data.held:
        data.held["matrix"] = RBF(data.lengths)(data.X) + NOISE * np.eye(len(data.X))
    factor, _ = lapack.dpotrf(data.held["matrix"], lower=1)
    return lapack.dpotri(factor, lower=1, overwrite_c=1)[0]


def check_evidence(mine, theirs):
    """Value and gradient to 1e-8; the bare inverse has neither."""
    if theirs.ndim == 1:
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())


def torch_model(data, height=HEIGHT, lengths=None, noise=NOISE):
    """A model of GPyTorch with the same kernel."""

    class Exact(gpytorch.models.ExactGP):
        """A process of mean zero."""

        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(
                gpytorch.kernels.RBFKernel(ard_num_dims=x.shape[1])
            )

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    constraint = gpytorch.constraints.GreaterThan(1e-10)
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=constraint).double()
    x, y = torch.as_tensor(data.X), torch.as_tensor(data.y)
    model = Exact(x, y, likelihood).double()
    model.covar_module.outputscale = height  # on the host, where GPyTorch has the bounds that it checks
    model.covar_module.base_kernel.lengthscale = torch.as_tensor(data.lengths if lengths is None else lengths)
    likelihood.noise = noise
    return model.to(x.device), likelihood.to(x.device)


def torch_objective(data, model, likelihood):
    """The log evidence by Cholesky, with derivatives of all parameters."""
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    settings = gpytorch.settings
    with settings.fast_computations(False, False, False), settings.max_cholesky_size(10**6):
        model.zero_grad()
        value = marginal(model(model.train_inputs[0]), model.train_targets) * len(data.y)
        (-value).backward()
    return value.detach()


def torch_evidence(data):
    if "torch" not in data.held:
        data.held["torch"] = torch_model(data)
    return np.array([float(torch_objective(data, *data.held["torch"]))])


# -- a whole fit --------------------------------------------------------------------------------------------


def fitted(data):
    ones = np.ones(data.X.shape[1])
    kernel = Scaled(RBF(ones)) + White(1.0)
    return tractable.GaussianProcessRegressor(kernel, mean="zero").fit(data.X, data.y).log_evidence_


def their_fit(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = GaussianProcessRegressor(their_kernel(np.ones(data.X.shape[1]), 1.0, 1.0), alpha=0.0)
        return model.fit(data.X, data.y).log_marginal_likelihood_value_


def torch_fit(data):
    """GPyTorch by L-BFGS, until a step changes the evidence of a row by less than 1e-9."""
    model, likelihood = torch_model(data, 1.0, np.ones(data.X.shape[1]), 1.0)
    options = {"max_iter": 500, "history_size": 10, "line_search_fn": "strong_wolfe"}
    search = torch.optim.LBFGS(
        model.parameters(), tolerance_change=1e-9 * len(data.y), tolerance_grad=1e-4, **options
    )
    search.step(lambda: -torch_objective(data, model, likelihood))
    return float(torch_objective(data, model, likelihood))


def check_fit(mine, theirs):
    """As high an evidence, or a higher one."""
    assert mine >= theirs - 1e-4 * (1.0 + abs(theirs))


# -- predictions --------------------------------------------------------------------------------------------


def predicted(data):
    if "ours" not in data.held:
        kernel = Scaled(RBF(data.lengths), HEIGHT) + White(NOISE)
        model = tractable.GaussianProcessRegressor(kernel, mean="zero", optimizer=None)
        data.held["ours"] = model.fit(data.X, data.y)
    return np.array(data.held["ours"].predict(data.new, return_std=True))


def their_prediction(data):
    if "theirs" not in data.held:
        model = GaussianProcessRegressor(their_kernel(data.lengths), alpha=0.0, optimizer=None)
        data.held["theirs"] = model.fit(data.X, data.y)
    return np.array(data.held["theirs"].predict(data.new, return_std=True))


def check_prediction(mine, theirs):
    """Means and standard deviations to 1e-8."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-8)
