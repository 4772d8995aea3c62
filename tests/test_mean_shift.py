"""Mean shift: modes, basins, outliers, seeds, bandwidths, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import MeanShift as Peer
from sklearn.exceptions import ConvergenceWarning

import tractable
from quick import some
from tractable import MeanShift, Mixture, MultivariateNormal
from tractable.covariance import Isotropic
from tractable.smoothing import WINDOWS, scott, silverman

TEN = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])[:, None]


def clouds(rng, n=400, dim=2, k=5, spread=5.0):
    return rng.standard_normal((n, dim)) + spread * rng.standard_normal((k, dim))[rng.integers(k, size=n)]


def kde(X, h, weights=None):
    """The kernel density estimate, as a mixture of equal Gaussians."""
    weights = np.ones(len(X)) if weights is None else weights
    components = MultivariateNormal(
        mean=X, covariance=Isotropic(variance=np.full(len(X), h * h), dim=X.shape[1])
    )
    return Mixture(weights=weights / weights.sum(), components=components)


@pytest.mark.spec("W-18", "DENS-19")
@pytest.mark.parametrize(
    ("h", "modes"), [(0.5, [9.299108, 0.421574]), (1.0, [9.186041, 0.447967]), (5.0, [7.154460])]
)
def test_the_ten_points(h, modes):
    model = MeanShift(bandwidth=h, kernel="gaussian").fit(TEN)
    np.testing.assert_allclose(model.cluster_centers_[:, 0], modes, atol=5e-7)
    if len(modes) == 2:
        np.testing.assert_array_equal(model.labels_, TEN[:, 0] < 5.0)


@pytest.mark.spec("DENS-19")
@pytest.mark.parametrize(("dim", "h"), some([(1, 0.4), (2, 0.8), (3, 1.2)], several=True))
def test_gaussian_modes_are_those_of_the_density(dim, h, rng):
    X, weights = clouds(rng, 120, dim), rng.integers(1, 4, 120).astype(float)
    model = MeanShift(bandwidth=h, kernel="gaussian").fit(X, sample_weight=weights)
    density = kde(X, h, weights)
    expected = density.modes()
    assert len(model.cluster_centers_) == len(expected)
    np.testing.assert_allclose(model.cluster_centers_, expected, atol=1e-6 * h)
    np.testing.assert_allclose(model.log_heights_, density.log_prob(model.cluster_centers_), atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("dim", some([1, 2, 3, 6]))
def test_flat_modes_are_those_of_the_peer(dim, rng):
    X = clouds(rng, 250, dim)
    h = 1.2 * np.sqrt(dim)
    mine, theirs = MeanShift(bandwidth=h, assign="nearest").fit(X), Peer(bandwidth=h).fit(X)
    np.testing.assert_allclose(mine.cluster_centers_, theirs.cluster_centers_, atol=1e-3 * h)
    assert np.mean(mine.labels_ == theirs.labels_) > 0.99
    outliers = MeanShift(bandwidth=h, assign="nearest", cluster_all=False).fit(X).labels_
    np.testing.assert_array_equal(outliers == -1, Peer(bandwidth=h, cluster_all=False).fit(X).labels_ == -1)


def test_flat_modes_stand_still(rng):
    """Each is the mean of the rows within a bandwidth, and its height the share of them over the volume."""
    X, h = clouds(rng), 1.5
    model = MeanShift(bandwidth=h).fit(X)
    for center, log_height in zip(model.cluster_centers_, model.log_heights_, strict=True):
        near = np.sum((X - center) ** 2, axis=1) <= h * h
        np.testing.assert_allclose(X[near].mean(axis=0), center, atol=1e-8)
        np.testing.assert_allclose(np.exp(log_height), near.mean() / (np.pi * h * h))
    assert np.all(np.diff(model.log_heights_) <= 0.0)
    apart = np.sqrt(np.sum((model.cluster_centers_[:, None] - model.cluster_centers_) ** 2, axis=2))
    assert np.all(apart[~np.eye(len(apart), dtype=bool)] > h)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
def test_rows_belong_to_the_mode_they_climb_to(kernel, rng):
    """A long cluster keeps its far end, which is nearer to the mode of another."""
    long = np.stack([np.linspace(0.0, 10.0, 800) ** 1.2 / 1.6, np.zeros(800)], axis=1)
    X = np.concatenate([long, 0.2 * rng.standard_normal((300, 2)) + [10.0, 2.5]])
    X += 0.05 * rng.standard_normal(X.shape)
    model = MeanShift(bandwidth=1.2 if kernel == "flat" else 0.5, kernel=kernel).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    far = model.labels_[800 - 20 : 800]
    assert np.all(far != model.labels_[-1])
    by_distance = MeanShift(bandwidth=model.bandwidth_, kernel=kernel, assign="nearest").fit(X)
    np.testing.assert_array_equal(by_distance.cluster_centers_, model.cluster_centers_)
    assert np.mean(by_distance.labels_ == model.labels_) < 1.0


@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
def test_seeds(kernel, rng):
    X, h = clouds(rng), 1.5
    every = MeanShift(bandwidth=h, kernel=kernel).fit(X)
    bins = MeanShift(bandwidth=h, kernel=kernel, bin_seeding=True).fit(X)
    for center in bins.cluster_centers_:
        assert np.sqrt(np.sum((every.cluster_centers_ - center) ** 2, axis=1)).min() <= h
    given = MeanShift(bandwidth=h, kernel=kernel, seeds=every.cluster_centers_[:1]).fit(X)
    np.testing.assert_allclose(given.cluster_centers_, every.cluster_centers_[:1], atol=1e-8)
    assert set(given.labels_) == {0}
    few = MeanShift(bandwidth=h, kernel=kernel, bin_seeding=True, min_bin_freq=20).fit(X)
    assert len(few.cluster_centers_) <= len(bins.cluster_centers_)


def test_outliers():
    X = np.concatenate([np.linspace(-0.5, 0.5, 11), [3.0, 0.9]])[:, None]
    model = MeanShift(bandwidth=1.0, cluster_all=False, seeds=[[0.0]]).fit(X)
    assert model.labels_[-2] == -1
    assert np.all(np.delete(model.labels_, -2) == 0)
    assert model.predict([[50.0], [0.1]]).tolist() == [-1, 0]
    assert MeanShift(bandwidth=1.0, seeds=[[0.0]]).fit(X).predict([[50.0]]).tolist() == [0]


def test_a_saddle_is_no_mode():
    """A seed exactly between two equal hills stands still there, and is pushed off."""
    X = np.array([[-2.0, 0.0], [2.0, 0.0]])
    model = MeanShift(bandwidth=1.0, kernel="gaussian", seeds=[[0.0, 0.0]]).fit(X)
    assert np.abs(model.cluster_centers_[0, 0]) > 1.9


@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
def test_bandwidths_follow_the_scale(kernel, rng):
    X = clouds(rng, 200) * [1.0, 1e6]
    for rule in (None, "gradient", "silverman", "scott"):
        a = MeanShift(bandwidth=rule, kernel=kernel).fit(X)
        b = MeanShift(bandwidth=rule, kernel=kernel).fit(X * [1e3, 1e-9] + [7.0, -3.0])
        np.testing.assert_allclose(b.bandwidth_, a.bandwidth_ * [1e3, 1e-9], rtol=1e-9)
        np.testing.assert_array_equal(a.labels_, b.labels_)
    window = WINDOWS["epanechnikov" if kernel == "flat" else "gaussian"]
    for rule, function in (("silverman", silverman), ("scott", scott)):
        found = MeanShift(bandwidth=rule, kernel=kernel).fit(X).bandwidth_
        np.testing.assert_allclose(found, function(X, None, window))


def test_a_bandwidth_for_each_column(rng):
    X = clouds(rng, 200)
    scaled = MeanShift(bandwidth=[1.5, 3.0]).fit(X * [1.0, 2.0])
    np.testing.assert_array_equal(MeanShift(bandwidth=1.5).fit(X).labels_, scaled.labels_)


@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_numbers_of_any_size(kernel, scale, rng):
    X = clouds(rng, 150)
    plain, scaled = (MeanShift(bandwidth=1.5 * s, kernel=kernel).fit(X * s) for s in (1.0, scale))
    np.testing.assert_array_equal(plain.labels_, scaled.labels_)
    np.testing.assert_allclose(scaled.cluster_centers_ / scale, plain.cluster_centers_, rtol=1e-7)
    far = MeanShift(bandwidth=1.5, kernel=kernel).fit(X + 1e7)
    np.testing.assert_allclose(far.cluster_centers_ - 1e7, plain.cluster_centers_, atol=1e-6)


@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
def test_degenerate_rows_with_a_number(kernel):
    same = MeanShift(bandwidth=1.0, kernel=kernel).fit(np.full((9, 2), 3.0))
    np.testing.assert_allclose(same.cluster_centers_, [[3.0, 3.0]])
    assert np.all(same.labels_ == 0)
    one = MeanShift(bandwidth=1.0, kernel=kernel).fit([[1.0, 2.0]])
    np.testing.assert_allclose(one.cluster_centers_, [[1.0, 2.0]])
    constant = MeanShift(bandwidth=1.0, kernel=kernel).fit([[0.0, 7.0], [0.5, 7.0], [9.0, 7.0]])
    assert constant.labels_.tolist() == [0, 0, 1]
    far = MeanShift(bandwidth=1.0, kernel=kernel).fit([[0.0], [1e100], [0.1]])
    assert far.labels_.tolist() == [0, 1, 0]


BAD = [
    ({"bandwidth": 0.0}, "bandwidth"),
    ({"bandwidth": -1.0}, "bandwidth"),
    ({"bandwidth": np.nan}, "bandwidth"),
    ({"bandwidth": np.inf}, "bandwidth"),
    ({"bandwidth": "wide"}, "bandwidth"),
    ({"bandwidth": [1.0, 0.0]}, "bandwidth"),
    ({"bandwidth": [1.0]}, "bandwidth has 1 entries"),
    ({"bandwidth": 1e-300}, "X / bandwidth has values so large that their squares overflow"),
    ({"kernel": "box"}, "kernel"),
    ({"assign": "far"}, "assign"),
    ({"min_bin_freq": 0}, "min_bin_freq"),
    ({"min_bin_freq": 99, "bin_seeding": True}, "min_bin_freq"),
    ({"max_iter": 0}, "max_iter"),
    ({"seeds": [[1.0]]}, "seeds"),
    ({"seeds": [[np.nan, 0.0]]}, "seeds"),
    ({"seeds": np.empty((0, 2))}, "seeds"),
    ({"seeds": [[1e5, 1e5]], "bandwidth": 1.0}, "seeds"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_parameters_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        MeanShift(**options).fit(np.arange(12.0).reshape(6, 2) ** 1.5)


@pytest.mark.parametrize(
    ("X", "message"), [([[1.0, 2.0]], "1 sample"), (np.ones((5, 2)), "constant columns")]
)
def test_rules_need_rows_that_vary(X, message):
    with pytest.raises(ValueError, match=message):
        MeanShift().fit(X)


def test_a_climb_cut_short_is_said(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = MeanShift(bandwidth=1.5, max_iter=1).fit(clouds(rng))
    assert not model.converged_


def test_rows_of_weight_zero_make_no_hill_but_have_a_label(rng):
    X, weights = np.array([[0.0], [0.2], [5.0], [5.1], [5.2]]), np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    model = MeanShift(bandwidth=1.0).fit(X, sample_weight=weights)
    np.testing.assert_allclose(model.cluster_centers_, [[0.1]])
    assert model.labels_.tolist() == [0] * 5


def test_tables_and_sources(rng, tmp_path):
    X = clouds(rng, 90)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(w=1.0 + np.arange(90) % 3)
    model = MeanShift(bandwidth=1.5).fit(frame, sample_weight="w")
    plain = MeanShift(bandwidth=1.5).fit(X, sample_weight=frame["w"].to_numpy())
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert list(model.feature_names_in_) == ["a", "b"]
    frame.to_parquet(tmp_path / "rows.parquet")
    source = tractable.scan(tmp_path / "rows.parquet", features=["a", "b"], weight="w")
    np.testing.assert_array_equal(MeanShift(bandwidth=1.5).fit(source).labels_, plain.labels_)


@pytest.mark.parametrize("h", [0.3, 0.6, 1.0])
def test_rows_on_a_lattice_with_many_ties(h, rng):
    """Flat summits and ridges: Newton's steps settle, and the modes are those of the density."""
    X, times = np.unique(rng.integers(0, 6, (300, 2)).astype(float), axis=0, return_counts=True)
    model = MeanShift(bandwidth=h, kernel="gaussian").fit(X, sample_weight=times)
    assert model.converged_
    expected = kde(X, h, times).modes()
    assert len(model.cluster_centers_) == len(expected)
    for center in expected:
        assert np.sqrt(np.sum((model.cluster_centers_ - center) ** 2, axis=1)).min() < 1e-6


def test_more_columns_than_rows_are_searched_within_the_span_of_the_rows(rng):
    """Rows of three columns, turned into 300: the same modes there, also of rows off the span."""
    X, new = clouds(rng, n=40, dim=3, k=3), rng.standard_normal((6, 3))
    basis = np.linalg.qr(rng.standard_normal((300, 4)))[0]
    small = MeanShift(kernel="gaussian", bandwidth=1.0).fit(X)
    large = MeanShift(kernel="gaussian", bandwidth=1.0).fit(X @ basis[:, :3].T)
    np.testing.assert_array_equal(large.labels_, small.labels_)
    np.testing.assert_allclose(large.cluster_centers_, small.cluster_centers_ @ basis[:, :3].T, atol=1e-8)
    off = np.column_stack([new, np.full(6, 2.0)]) @ basis.T
    np.testing.assert_array_equal(large.predict(off), small.predict(new))


@pytest.mark.parametrize("kernel", ["flat", "gaussian"])
def test_images_have_hundreds_of_columns(kernel, rng):
    X = rng.standard_normal((30, 784))
    model = MeanShift(kernel=kernel).fit(X)
    assert np.all(np.isfinite(model.cluster_centers_))
    assert np.all(np.isfinite(model.log_heights_))
