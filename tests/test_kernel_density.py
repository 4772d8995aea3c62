"""KernelDensity: the worked example, bandwidths, domains, grids, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

import tractable
from rows.smoothed import TEN
from tractable.density import KernelDensity
from tractable.distributions import SmoothedEmpirical
from tractable.primitives import native
from tractable.smoothing import select_bandwidth, silverman

X = np.array(TEN)[:, None]


@pytest.mark.spec("W-18", "DENS-06", "DENS-16")
def test_the_ten_points():
    model = KernelDensity(bandwidth=0.5).fit(X)
    expected = [0.21576965, 0.17339735, 0.00000000, 0.30390526]
    np.testing.assert_allclose(np.exp(model.score_samples([[0.5], [1.0], [5.0], [9.0]])), expected, atol=5e-9)
    np.testing.assert_allclose(KernelDensity(bandwidth="loo").fit(X).bandwidth_, 0.571448, atol=5e-7)
    np.testing.assert_allclose(KernelDensity(bandwidth="lscv").fit(X).bandwidth_, 0.750815, atol=5e-7)


@pytest.mark.spec("DENS-18")
@pytest.mark.parametrize("method", ["silverman", "scott", "isj", "loo", "lscv"])
def test_bandwidths_by_name(method, rng):
    rows = rng.standard_normal((80, 2)) * [1.0, 1e6]
    model = KernelDensity(bandwidth=method).fit(rows)
    np.testing.assert_allclose(model.bandwidth_, select_bandwidth(rows, method).bandwidth)
    assert hasattr(model, "search_") == (method in ("loo", "lscv"))


def test_bandwidths_by_number(rng):
    rows = rng.standard_normal((30, 2))
    scores = KernelDensity(bandwidth=0.5).fit(rows).score_samples(rows)
    for same in ([0.5, 0.5], 0.25 * np.eye(2)):
        np.testing.assert_allclose(KernelDensity(bandwidth=same).fit(rows).score_samples(rows), scores)
    np.testing.assert_array_equal(KernelDensity(bandwidth=0.5).fit(rows).bandwidth_, [0.5, 0.5])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("gaussian",) * 2, ("epanechnikov",) * 2, ("exponential",) * 2, ("linear",) * 2, ("cosine",) * 2],
)
@pytest.mark.parametrize("dim", [1, 3])
def test_scores_are_those_of_scikit_learn(ours, theirs, dim, rng):
    from sklearn.neighbors import KernelDensity as Theirs

    rows, weights = rng.standard_normal((60, dim)), rng.integers(1, 4, 60)
    far = np.concatenate([rows[:20] + 0.1, 5.0 * rows[20:30]])
    mine = KernelDensity(bandwidth=1.2, kernel=ours).fit(rows, sample_weight=weights)
    other = Theirs(bandwidth=1.2, kernel=theirs).fit(rows, sample_weight=weights)
    expected = other.score_samples(far)
    np.testing.assert_allclose(mine.score_samples(far)[expected > -600], expected[expected > -600], rtol=1e-7)


def test_frames_have_names(rng):
    frame = pd.DataFrame(rng.standard_normal((50, 3)), columns=["a", "b", "c"])
    model = KernelDensity().fit(frame)
    np.testing.assert_allclose(
        model.marginal("b").log_prob([[0.3]]),
        SmoothedEmpirical(points=frame[["b"]].to_numpy(), bandwidth=model.bandwidth_[1:2]).log_prob([[0.3]]),
    )
    given = model.condition({"a": 0.2, "c": -0.1})
    assert given.names == ("b",)
    joint = model.score_samples(pd.DataFrame([[0.2, 0.5, -0.1]], columns=["a", "b", "c"]))
    part = model.marginal(["a", "c"]).log_prob([[0.2, -0.1]])
    np.testing.assert_allclose(given.log_prob([[0.5]]), joint - part)


def test_walls_and_periods(rng):
    wait = rng.exponential(size=(300, 1))
    free, walled = KernelDensity().fit(wait), KernelDensity(bounds=(0.0, np.inf)).fit(wait)
    assert walled.cdf([[0.0]])[0] == 0.0
    assert free.cdf([[0.0]])[0] > 0.02
    assert np.all(walled.sample(200, random_state=0) >= 0.0)
    assert walled.score_samples([[-0.1]])[0] == -np.inf
    # Reflection doubles the density at the wall, where the free estimate falls off.
    np.testing.assert_allclose(walled.score_samples([[0.0]]), free.score_samples([[0.0]]) + np.log(2.0))
    angle = np.mod(rng.standard_normal((200, 1)), 2 * np.pi)
    turning = KernelDensity(bandwidth=0.3, period=2 * np.pi).fit(angle)
    np.testing.assert_allclose(turning.score_samples([[0.1]]), turning.score_samples([[0.1 + 2 * np.pi]]))
    both = KernelDensity(bandwidth=0.3, bounds=[None, (0, np.inf)], period=[(0, 2 * np.pi), None])
    assert np.isfinite(both.fit(np.hstack([angle, wait[:200]])).score_samples([[6.2, 0.0]])).all()


@pytest.mark.spec("DENS-13")
@pytest.mark.parametrize("weighted", [False, True])
def test_grids_are_within_their_bound(weighted, rng):
    """The estimate is a convolution: by FFT it is the same, up to a bound that is stated and kept."""
    rows = np.concatenate([rng.standard_normal(4000), 6.0 + 0.1 * rng.standard_normal(1000)])[:, None]
    weights = rng.integers(0, 4, 5000).astype(float) if weighted else None
    for h in (0.02, 0.3):
        model = KernelDensity(bandwidth=h).fit(rows, sample_weight=weights)
        for options in ({}, {"low": -1.0, "high": 2.0}):
            grid = model.evaluate_grid(512, **options)
            exact = np.exp(model.score_samples(grid.x[:, None]))
            assert grid.path == "binned FFT"
            assert np.abs(grid.prob - exact).max() <= grid.error_bound
            assert grid.error_bound <= 1e-4 * exact.max()


@pytest.mark.spec("DENS-13")
def test_rows_far_from_a_grid_cost_it_nothing(rng):
    """A row a million bandwidths away once asked for as many nodes; a window wider than the grid, too."""
    rows = rng.standard_normal((200, 1))
    far = KernelDensity(bandwidth=0.3).fit(np.append(rows, [[1e6], [-1e9]], axis=0))
    grid = far.evaluate_grid(100, low=-3.0, high=3.0)
    assert grid.path == "binned FFT"
    exact = np.exp(far.score_samples(grid.x[:, None]))
    assert np.abs(grid.prob - exact).max() <= grid.error_bound
    for h, low, high in ((1e6, -3.0, 3.0), (0.3, 1e5, 1e5 + 9.0), (0.3, -1e9, 1e9)):
        model = KernelDensity(bandwidth=h).fit(rows)
        grid = model.evaluate_grid(100, low=low, high=high)
        exact = np.exp(model.score_samples(grid.x[:, None]))
        assert np.abs(grid.prob - exact).max() <= grid.error_bound


@pytest.mark.spec("DENS-13")
@pytest.mark.parametrize("h", [1e-3, 1e-5, 1e-8])
def test_grids_too_coarse_for_their_windows_are_exact(h, rng):
    rows = rng.standard_normal(500)
    # Nodes beside rows, as windows so narrow are missed by most.
    model = KernelDensity(bandwidth=h).fit(rows[:, None])
    grid = model.evaluate_grid(3, low=rows[0] - h, high=rows[0] + h)
    wide = model.evaluate_grid(2, low=rows[0] - 0.5 * h, high=rows[0] + 3.0)
    for found in (grid, wide):
        u = (found.x[:, None] - rows) / h
        exact = np.exp(-0.5 * u * u).sum(axis=1) / (500 * h * np.sqrt(2 * np.pi))
        assert np.abs(found.prob - exact).max() <= found.error_bound
        assert found.error_bound <= 1e-4 * exact.max()
    assert h == 1e-3 or wide.path == ("fast Gauss transform" if native(rows) else "dense")


def test_a_grid_is_of_the_rows_that_were_fitted(rng):
    rows = rng.standard_normal((50, 1))
    model = KernelDensity(bandwidth=0.3).fit(rows)
    before = model.evaluate_grid(16)
    rows += 100.0
    np.testing.assert_array_equal(model.evaluate_grid(16).prob, before.prob)
    assert model.distribution_ is model.distribution_
    fresh = KernelDensity(bandwidth=0.3)
    for name in ("distribution_", "evaluation_", "evaluation_error_"):
        assert not hasattr(fresh, name)


@pytest.mark.parametrize("method", ["silverman", "isj", "loo"])
def test_bandwidths_of_a_period_do_not_depend_on_where_it_begins(method, rng):
    angle = rng.normal(0.0, 0.1, (300, 1))
    expected = KernelDensity(bandwidth=method).fit(angle).bandwidth_
    for turned in (np.mod(angle, 2 * np.pi), angle + 2 * np.pi * rng.integers(-9, 9, (300, 1))):
        model = KernelDensity(bandwidth=method, period=2 * np.pi).fit(turned)
        np.testing.assert_allclose(model.bandwidth_, expected, rtol=1e-6)
    hours = np.column_stack([rng.uniform(0.0, 1000.0, 500), rng.standard_normal(500)])
    found = KernelDensity(bandwidth="scott", period=[24.0, None]).fit(hours).bandwidth_
    plain = KernelDensity(bandwidth="scott").fit(np.mod(hours, [24.0, 1e9])).bandwidth_
    np.testing.assert_allclose(found[0], plain[0], rtol=0.1)
    np.testing.assert_allclose(found[1], KernelDensity(bandwidth="scott").fit(hours).bandwidth_[1])


@pytest.mark.parametrize("given", [{"kernel": "biweight"}, {"bounds": (-5.0, 20.0)}, {"kernel": "laplace"}])
def test_other_grids_are_exact(given):
    model = KernelDensity(bandwidth=0.5, **given).fit(X)
    grid = model.evaluate_grid(50)
    np.testing.assert_allclose(grid.prob, np.exp(model.score_samples(grid.x[:, None])), rtol=1e-10)
    assert grid.path == model.evaluation_
    assert grid.error_bound == model.evaluation_error_ * grid.prob.max()
    assert model.evaluation_error_ == model.distribution_.evaluation_error


def test_users_windows(rng):
    def logistic(u):
        return 0.25 / np.cosh(0.5 * u) ** 2

    model = KernelDensity(kernel=logistic).fit(X)
    assert model.evaluation_ == "dense"
    np.testing.assert_allclose(model.bandwidth_ / silverman(X), 0.5, atol=0.2)
    assert np.isfinite(model.sample(5, random_state=0)).all()


def test_it_is_searched_by_scikit_learn(rng):
    found = GridSearchCV(KernelDensity(), {"bandwidth": [0.01, 0.4, 5.0]}).fit(rng.standard_normal((90, 1)))
    assert found.best_params_["bandwidth"] == 0.4


def test_it_draws_its_picture():
    ax = tractable.plot(KernelDensity(bandwidth=0.5).fit(X), data=X)
    assert ax.get_ylabel() == "density"


@pytest.mark.parametrize(
    ("given", "rows", "what"),
    [
        ({"bandwidth": 0.0}, X, "bandwidth"),
        ({"bandwidth": -1.0}, X, "bandwidth"),
        ({"bandwidth": np.nan}, X, "bandwidth"),
        ({"bandwidth": [1.0, 2.0]}, X, "bandwidth"),
        ({"bandwidth": "wide"}, X, "bandwidth"),
        ({"bandwidth": {}}, X, "bandwidth"),
        ({"bandwidth": True}, X, "bandwidth"),
        ({"bandwidth": [[-1.0]]}, X, "bandwidth"),
        ({"bandwidth": "loo", "search": "all"}, X, "search"),
        ({"bandwidth": "lscv", "kernel": "tophat"}, X, "lscv"),
        ({"kernel": "gauss"}, X, "kernel"),
        ({"kernel": np.cos}, X, "kernel"),
        ({"bounds": (0.0, 1.0)}, X, "bounds"),
        ({"bounds": [(0.0, 1.0), (0.0, 1.0)]}, X, "bounds"),
        ({}, np.ones((5, 2)), "constant columns"),
        ({}, X[:1], "1 sample"),
        ({}, 1e-200 * X, "X has columns that vary by so little"),
    ],
)
def test_what_cannot_be_fitted_says_why(given, rows, what):
    with pytest.raises(ValueError, match=what):
        KernelDensity(**given).fit(rows)


def test_questions_of_one_column_are_refused_for_two(rng):
    model = KernelDensity().fit(rng.standard_normal((20, 2)))
    for ask in (lambda: model.icdf(0.5), model.evaluate_grid, lambda: model.interval(0.5)):
        with pytest.raises(ValueError, match="2 columns"):
            ask()
    one = KernelDensity().fit(X)
    for options in ({"n": 1}, {"n": 2.5}, {"low": 1.0, "high": 0.0}, {"low": np.nan}):
        with pytest.raises(ValueError, match=r"n must|low"):
            one.evaluate_grid(**options)
    with pytest.raises(ValueError, match="X"):
        one.score_samples(np.empty((0, 1)))
    with pytest.raises(ValueError, match="X"):
        one.score_samples([[1.0, 2.0]])
