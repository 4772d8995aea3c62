"""Gaussian processes of many rows: bounds, exact limits, gradients, streams, what is refused."""

import numpy as np
import pytest

import tractable
from tractable.arrays.gradient import check_gradient
from tractable.data import as_source
from tractable.engines.gaussian_process import Observations, log_evidence
from tractable.engines.inducing_points import inducing_posterior, lower_bound, nystrom, pivoted_cholesky
from tractable.gaussian_process import GaussianProcessRegressor, NystromGaussianProcess
from tractable.kernels import RBF, Linear, Matern, Polynomial, White

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (60, 2))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * RNG.standard_normal(60) + 3.0
NEW = RNG.uniform(-2.0, 2.0, (7, 2))
KERNEL = 1.5 * RBF([1.0, 2.0])


def exact(kernel=KERNEL, noise=0.1, x=X, y=Y):
    rows = Observations(x=x, y=y[:, None], basis=x[:, :0], noise_scale=np.ones(len(x)))
    return log_evidence(kernel, noise, rows, gradient=False).value


@pytest.mark.spec("GP-16")
def test_nystrom_is_exact_at_full_rank():
    kernel = Linear() + Polynomial(2)  # of six features
    landmarks = X[:8]
    found = nystrom(kernel, X, landmarks)
    np.testing.assert_allclose(found.matrix, kernel(X), atol=1e-8)
    assert found.error == pytest.approx(0.0, abs=1e-8)
    # Of more than its rank it is K_NM K_MM⁻¹ K_MN, and what is left out is positive semi-definite.
    found = nystrom(KERNEL, X, X[:10])
    direct = KERNEL(X, X[:10]) @ np.linalg.solve(KERNEL(X[:10]), KERNEL(X[:10], X))
    np.testing.assert_allclose(found.matrix, direct, atol=1e-9)
    rest = np.linalg.eigvalsh(KERNEL(X) - found.matrix)
    assert rest.min() > -1e-10
    assert found.error == pytest.approx(rest.sum(), rel=1e-8)
    values, vectors = found.eigenpairs()
    np.testing.assert_allclose(vectors * values @ vectors.T, found.matrix, atol=1e-9)
    assert np.all(values <= np.linalg.eigvalsh(KERNEL(X))[::-1][:10] + 1e-9)


def test_the_bound_rises_to_the_evidence():
    data, order = as_source(X, Y, None), pivoted_cholesky(KERNEL, X, 60)
    bounds = [
        inducing_posterior(KERNEL, 0.1, X[order[:m]], data, 0.0).lower_bound for m in (3, 6, 12, 25, 50)
    ]
    assert np.all(np.diff(bounds) > -1e-6)
    assert bounds[-1] == pytest.approx(exact(), abs=1e-4)
    assert np.all(np.array(bounds) <= exact() + 1e-6)


def test_gradients_of_the_bound_are_those_of_differences():
    kernel, weights = 1.5 * Matern([1.0, 2.0], nu=2.5) + 0.2 * Linear(), RNG.integers(1, 4, 60).astype(float)
    data, points = as_source(X, Y, weights), X[:9] + 0.01

    def bound(theta):
        at = kernel.with_theta(theta[:-1])
        return inducing_posterior(at, float(np.exp(theta[-1])), points, data, 3.0).lower_bound

    _, gradient, by_noise = lower_bound(kernel, 0.2, points, data, 3.0)
    check_gradient(bound, np.append(gradient, by_noise), np.append(kernel.theta, np.log(0.2)), rtol=1e-5)


def test_with_the_rows_as_points_it_is_the_exact_process():
    model = NystromGaussianProcess(KERNEL + White(0.1), inducing=X, optimizer=None).fit(X, Y)
    peer = GaussianProcessRegressor(KERNEL + White(0.1), mean="zero", optimizer=None).fit(X, Y - Y.mean())
    np.testing.assert_allclose(model.predict(NEW) - Y.mean(), peer.predict(NEW), atol=1e-6)
    np.testing.assert_allclose(model.predict_var(NEW), peer.predict_var(NEW), rtol=1e-6)
    assert model.lower_bound_ == pytest.approx(peer.log_evidence_, abs=1e-4)
    found = NystromGaussianProcess(KERNEL, n_inducing=500, noise_variance=0.1, optimizer=None).fit(X, Y)
    assert len(found.inducing_points_) == 60  # there are no more rows
    assert model.trace_gap_ < 1e-6


@pytest.mark.parametrize("inducing", ["kmeans", "pivoted_cholesky"])
def test_few_points_are_enough_for_a_smooth_function(inducing):
    rng = np.random.default_rng(1)
    x = rng.uniform(0.0, 10.0, (1500, 1))
    y = np.sin(x[:, 0]) + 0.1 * rng.standard_normal(1500)
    model = NystromGaussianProcess(n_inducing=20, inducing=inducing, max_iter=40, tol=1e-5, random_state=0)
    model.fit(x[:1000], y[:1000])
    assert model.noise_variance_**0.5 == pytest.approx(0.1, rel=0.15)
    inside = model.predict_interval(x[1000:], 0.9)
    covered = np.mean((inside[:, 0] <= y[1000:]) & (y[1000:] <= inside[:, 1]))
    assert 0.86 < covered < 0.94
    found = model.compare_to_exact(200)
    assert found.approximate_log_evidence <= found.log_evidence + 1e-6
    assert found.approximate_log_evidence == pytest.approx(found.log_evidence, abs=1.0)
    assert found.mean_difference < 0.05
    assert found.stddev_ratio == pytest.approx(1.0, abs=0.05)


def test_batches_and_files_give_the_fit_in_memory(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y})
    frame.to_parquet(tmp_path / "rows.parquet")
    options = {"kernel": KERNEL + White(0.1), "n_inducing": 10, "optimizer": None, "random_state": 0}
    held = NystromGaussianProcess(**options).fit(frame[["a", "b"]], frame["y"])
    source = tractable.scan(tmp_path / "rows.parquet", features=["a", "b"], target="y")
    read = NystromGaussianProcess(**options).fit(source)
    np.testing.assert_allclose(read.inducing_points_, held.inducing_points_)
    assert read.lower_bound_ == pytest.approx(held.lower_bound_, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n_inducing": 0}, "n_inducing"),
        ({"inducing": "grid"}, "inducing"),
        ({"inducing": np.zeros((3, 5))}, "inducing must be rows of 2 columns"),
        ({"noise_variance": 0.0}, "noise_variance"),
        ({"kernel": RBF() + White(0.1), "noise_variance": 1.0}, "one or the other"),
        ({"kernel": RBF() * (1.0 * White(0.1) + RBF())}, "kernel must have white noise as a term"),
        ({"kernel": 3.0}, "kernel"),
    ],
)
def test_refusals_of_inducing_points(options, named):
    with pytest.raises(ValueError, match=named):
        NystromGaussianProcess(**options).fit(X, Y)


def test_landmarks_are_rows():
    with pytest.raises(ValueError, match="landmarks must be rows"):
        nystrom(KERNEL, X, X[:3, :1])
