"""Gaussian processes of many rows: bounds, exact limits, gradients, streams, what is refused."""

import numpy as np
import pytest

import tractable
from tractable.arrays.gradient import check_gradient
from tractable.data import as_source
from tractable.gaussian_process import BayesianCommittee, GaussianProcessRegressor, NystromGaussianProcess
from tractable.gaussian_process.posteriors.exact import Observations, log_evidence
from tractable.gaussian_process.posteriors.inducing_points import (
    inducing_posterior,
    lower_bound,
    nystrom,
    pivoted_cholesky,
)
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


@pytest.mark.parametrize(
    ("kernel", "x", "landmarks", "named"),
    [
        (KERNEL, X, X[:3, :1], "landmarks must be rows"),
        (KERNEL, X, np.full((3, 2), np.nan), "landmarks must be finite"),
        (KERNEL, [["a", "b"]], X[:3], "x must be an array of real numbers"),
        ("rbf", X, X[:3], "kernel must be a kernel"),
    ],
)
def test_refusals_of_the_matrix_approximation(kernel, x, landmarks, named):
    with pytest.raises(ValueError, match=named):
        nystrom(kernel, x, landmarks)


@pytest.mark.parametrize(
    "kind", [NystromGaussianProcess, BayesianCommittee, tractable.StateSpaceGaussianProcess]
)
def test_batches_without_targets_are_refused(kind):
    with pytest.raises(ValueError, match="y is missing: the rows have no target"):
        kind().fit([X[:20], X[20:]])


# -- committees ---------------------------------------------------------------------------------------------


def committee(**options):
    return BayesianCommittee(KERNEL + White(0.1), **{"optimizer": None, "random_state": 0, **options})


def exact_process(x=X, y=Y):
    return GaussianProcessRegressor(KERNEL + White(0.1), mean="zero", optimizer=None).fit(x, y - y.mean())


@pytest.mark.spec("GP-15", "E000-52")
def test_members_are_combined_by_the_product_rule():
    """Σ*⁻¹ = Σ Σᵢ⁻¹ - (M - 1) K**⁻¹, at the queries together and at each alone."""
    model = committee(n_subsets=3, variant="bayesian").fit(X, Y)
    x = NEW[:3]
    precision, product = -2.0 * np.linalg.inv(KERNEL(x)), np.zeros(3)
    alone, said = -2.0 / KERNEL.diagonal(x), np.zeros(3)
    for member in model._members_:
        own = exact_process(member.rows.x, member.rows.y[:, 0])
        assert own.log_evidence_ is not None
        C = KERNEL(member.rows.x) + 0.1 * np.eye(len(member.rows.x))
        cross = KERNEL(x, member.rows.x)
        mean = cross @ np.linalg.solve(C, member.rows.y[:, 0])
        covariance = KERNEL(x) - cross @ np.linalg.solve(C, cross.T)
        precision += np.linalg.inv(covariance)
        product += np.linalg.solve(covariance, mean)
        alone += 1.0 / np.diag(covariance)
        said += mean / np.diag(covariance)
    joint = model.predict_joint(x, include_noise=False)
    np.testing.assert_allclose(joint.covariance, np.linalg.inv(precision), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(joint.mean - Y.mean(), np.linalg.solve(precision, product), rtol=1e-6)
    found = model.predict_dist(x, include_noise=False)
    np.testing.assert_allclose(found.variance, 1.0 / alone, rtol=1e-8)
    np.testing.assert_allclose(found.mean - Y.mean(), said / alone, rtol=1e-8)


@pytest.mark.spec("GP-15")
def test_many_joint_queries_are_the_exact_process():
    rng = np.random.default_rng(2)
    x = rng.uniform(0.0, 10.0, (90, 1))
    y = np.sin(x[:, 0]) + 0.3 * rng.standard_normal(90)
    kernel, queries = 1.0 * RBF(1.5), np.linspace(0.0, 10.0, 40)[:, None]
    model = BayesianCommittee(kernel + White(0.09), n_subsets=3, optimizer=None, random_state=0).fit(x, y)
    process = GaussianProcessRegressor(kernel + White(0.09), mean="zero", optimizer=None).fit(x, y - y.mean())
    expected = process.predict(queries)
    joint = np.abs(model.predict_joint(queries).mean - y.mean() - expected).max()
    alone = np.abs(model.predict(queries) - y.mean() - expected).max()
    assert joint < 1e-3
    assert joint < 0.1 * alone


@pytest.mark.parametrize("variant", ["bayesian", "robust"])
def test_one_block_is_the_exact_process(variant):
    model = committee(n_subsets=1, variant="bayesian").fit(X, Y)
    process = exact_process()
    np.testing.assert_allclose(model.predict(NEW) - Y.mean(), process.predict(NEW), rtol=1e-8)
    np.testing.assert_allclose(model.predict_var(NEW), process.predict_var(NEW), rtol=1e-8)
    assert model.block_log_evidence_ == pytest.approx(process.log_evidence_, rel=1e-10)
    # Far from all rows the prior is left; robust members say nothing there.
    far = committee(n_subsets=4, variant=variant).fit(X, Y).predict_dist([[50.0, 50.0]], include_noise=False)
    assert far.variance.item() == pytest.approx(1.5)
    assert far.mean.item() == pytest.approx(Y.mean())


def test_blocks_of_one_row_and_more_blocks_than_rows():
    model = committee(n_subsets=1000).fit(X[:8], Y[:8])
    assert model.n_subsets_ == 8
    assert np.all(np.isfinite(model.predict(NEW)))
    assert committee().fit(X, Y).n_subsets_ == 1
    found = committee(n_subsets=2).fit(X, Y).compare_to_exact(30)
    assert found.n_rows == 30
    assert found.mean_difference < 0.5
    assert 0.5 < found.stddev_ratio < 2.0


def test_a_committee_learns_hyper_parameters_from_all_blocks():
    rng = np.random.default_rng(1)
    x = rng.uniform(0.0, 10.0, (400, 1))
    y = np.sin(x[:, 0]) + 0.1 * rng.standard_normal(400)
    model = BayesianCommittee(n_subsets=4, max_iter=40, tol=1e-5, random_state=0).fit(x[:300], y[:300])
    assert model.noise_variance_**0.5 == pytest.approx(0.1, rel=0.2)
    inside = model.predict_interval(x[300:], 0.9)
    assert 0.8 < np.mean((inside[:, 0] <= y[300:]) & (y[300:] <= inside[:, 1])) <= 1.0
    assert model.score(x[300:], y[300:]) > 0.95


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n_subsets": 0}, "n_subsets"),
        ({"variant": "product"}, "variant"),
        ({"noise_variance": 1.0, "kernel": RBF() + White(0.1)}, "one or the other"),
        ({"kernel": "rbf"}, "kernel"),
    ],
)
def test_refusals_of_committees(options, named):
    with pytest.raises(ValueError, match=named):
        BayesianCommittee(**options).fit(X, Y)


# -- committees as a fold over blocks -----------------------------------------------------------------------

BLOCK = RNG.integers(0, 3, 60)
WEIGHTS = RNG.integers(0, 3, 60).astype(float)
#: By the covariance of rows, and in the space of three features.
KERNELS = [KERNEL + White(0.1), Linear() + White(0.1)]


def added_by_blocks(model, x=X, y=Y, weights=WEIGHTS):
    for b in range(3):
        model.partial_fit(x[b == BLOCK], y[b == BLOCK], weights[b == BLOCK])
    return model


@pytest.mark.spec("GP-15")
@pytest.mark.parametrize("kernel", KERNELS, ids=["dual", "primal"])
@pytest.mark.parametrize("variant", ["bayesian", "robust"])
def test_blocks_that_are_added_give_the_fit_on_them(kernel, variant):
    x = X.copy()
    x[40:] = x[:20]  # equal rows, within blocks and across them
    options = {"optimizer": None, "variant": variant}
    whole = BayesianCommittee(kernel, **options).fit(x, Y, WEIGHTS, blocks=BLOCK)
    found = added_by_blocks(BayesianCommittee(kernel, n_subsets=1, **options), x=x)
    assert found.n_subsets_ == whole.n_subsets_ == 3
    assert found.offset_ == pytest.approx(whole.offset_, rel=1e-12)
    assert found.block_log_evidence_ == pytest.approx(whole.block_log_evidence_, rel=1e-9)
    assert found.residual_dof_ == whole.residual_dof_
    np.testing.assert_allclose(found.predict(NEW), whole.predict(NEW), rtol=1e-9)
    np.testing.assert_allclose(found.predict_var(NEW), whole.predict_var(NEW), rtol=1e-9)
    one, other = (model.predict_joint(NEW[:4]) for model in (found, whole))
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-8)
    np.testing.assert_allclose(one.covariance, other.covariance, rtol=1e-7, atol=1e-10)


def test_a_fold_that_keeps_the_first_mean_of_targets_is_not_the_fit(monkeypatch):
    from tractable.gaussian_process import DualPosterior

    monkeypatch.setattr(DualPosterior, "lowered", lambda member, gap: member)
    whole = committee().fit(X, Y, WEIGHTS, blocks=BLOCK)
    found = added_by_blocks(committee(n_subsets=1))
    assert not np.allclose(found.predict(NEW), whole.predict(NEW), rtol=1e-9)


def test_hyper_parameters_that_were_learned_stay_when_blocks_are_added():
    first = BLOCK == 0
    options = {"n_subsets": 1, "max_iter": 20, "tol": 1e-4}
    model = BayesianCommittee(**options).partial_fit(X[first], Y[first])
    kernel, noise = model.kernel_, model.noise_variance_
    assert model.residual_dof_ < first.sum()
    model.partial_fit(X[~first], Y[~first])
    assert model.kernel_ == kernel
    assert model.noise_variance_ == noise
    assert model.residual_dof_ == 59 - model._n_learned_
    fixed = BayesianCommittee(kernel, noise_variance=noise, optimizer=None).fit(X, Y, blocks=~first)
    np.testing.assert_allclose(model.predict(NEW), fixed.predict(NEW), rtol=1e-9)


def test_blocks_come_from_files_and_streams(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y})
    frame.to_parquet(tmp_path / "rows.parquet")
    source = tractable.scan(tmp_path / "rows.parquet", features=["a", "b"], target="y")
    new = pd.DataFrame(NEW, columns=["a", "b"])
    held = committee(n_subsets=2).fit(frame[["a", "b"]], frame["y"])
    np.testing.assert_allclose(committee(n_subsets=2).fit(source).predict(new), held.predict(new), rtol=1e-9)
    # A file a block, and a batch a block.
    both = committee(n_subsets=1).partial_fit(source).partial_fit(source)
    stream = committee(n_subsets=1)
    for batch in as_source(np.tile(X, (2, 1)), np.tile(Y, 2), None).blocks(60):
        stream.partial_fit(batch.X, batch.y)
    twice = committee().fit(np.tile(X, (2, 1)), np.tile(Y, 2), blocks=np.repeat([0, 1], 60))
    assert both.n_subsets_ == stream.n_subsets_ == 2
    np.testing.assert_allclose(both.predict(new), twice.predict(NEW), rtol=1e-9)
    np.testing.assert_allclose(stream.predict(NEW), twice.predict(NEW), rtol=1e-9)


def test_a_call_that_is_refused_changes_nothing():
    model = committee().fit(X, Y)
    before = model.predict(NEW)
    bad = Y.copy()
    bad[3] = np.nan
    for x, y, options, named in (
        (X[:, :1], Y, {}, "features"),
        (X, bad, {}, "NaN"),
        (X, Y, {"blocks": [1, 2]}, "blocks must have a label for each of 60 rows"),
        (X, Y, {"blocks": [None] * 30 + [1] * 30}, "blocks must be labels of one type"),
        (X, Y, {"sample_weight": np.zeros(60)}, "sample_weight"),
    ):
        with pytest.raises(ValueError, match=named):
            model.partial_fit(x, y, **options)
        np.testing.assert_array_equal(model.predict(NEW), before)
    one = committee(n_subsets=1)
    for i in range(4):  # blocks of one row
        one.partial_fit(X[i : i + 1], Y[i : i + 1])
    whole = committee().fit(X[:4], Y[:4], blocks=np.arange(4))
    np.testing.assert_allclose(one.predict(NEW), whole.predict(NEW), rtol=1e-9)
