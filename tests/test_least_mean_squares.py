"""Sequential gradient learning: the sign that converges, schedules, batches, averages, divergence said."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import tractable
from quick import some
from tractable import LeastMeanSquares, LinearRegression
from tractable.arrays.namespace import to_numpy
from tractable.engines import StepSize
from tractable.primitives.linear import gradient_pass
from tractable.primitives.linear.agnostic import gradient_pass as agnostic


def problem(rng, n=400, d=3, noise=0.1):
    X = rng.normal(size=(n, d))
    return X, 2.0 + X @ np.arange(1.0, d + 1) + noise * rng.normal(size=n)


@pytest.mark.parametrize("batch_size", [1, 4, 7, 30])
def test_twins_agree(batch_size, backend, rng):
    rows, targets, weights = rng.normal(size=(30, 3)), rng.normal(size=30), rng.uniform(size=30)
    given = rows, targets, weights, rng.uniform(0.0, 0.1, size=-(-30 // batch_size))
    compiled = gradient_pass(*given, batch_size, np.ones(3))
    theirs = [backend.asarray(part) for part in given]
    for found in (
        agnostic(*theirs, batch_size, backend.asarray(np.ones(3))),
        gradient_pass(*theirs, batch_size, backend.asarray(np.ones(3))),
    ):
        for ours, other in zip(compiled, found, strict=True):
            np.testing.assert_allclose(to_numpy(other), ours, rtol=1e-12)


@pytest.mark.spec("SEQ-10", "E004-13")
def test_a_step_adds_the_error_times_the_features():
    """One row, one update: w + η (t - wᵀφ) φ with φ = (1, x). Subtracting it goes away from the target."""
    model = LeastMeanSquares(step=0.1).partial_fit([[2.0]], [3.0])
    np.testing.assert_allclose([model.intercept_, *model.coef_], [0.3, 0.6])
    model.partial_fit([[1.0]], [2.0])
    error = 2.0 - (0.3 + 0.6)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [0.3 + 0.1 * error, 0.6 + 0.1 * error])
    assert model.n_steps_ == 2


@pytest.mark.spec("E004-13")
def test_the_printed_sign_diverges(rng):
    X, y = problem(rng)
    phi, ones = np.column_stack([np.ones(len(X)), X]), np.ones(len(X))
    steps = np.full(len(X), 0.02)
    right = gradient_pass(phi, y, ones, steps, 1, np.zeros(4))[0]
    wrong = gradient_pass(phi, y, ones, -steps, 1, np.zeros(4))[0]
    np.testing.assert_allclose(right, [2.0, 1.0, 2.0, 3.0], atol=0.2)
    assert np.abs(wrong).max() > 1e3


@pytest.mark.spec("SEQ-10")
@pytest.mark.parametrize(
    "options",
    [
        {"step": StepSize(offset=10.0)},
        {"step": 0.02, "average": True},
        {"step": 0.1, "average": True, "batch_size": 16, "standardize": True},
        {"batch_size": None, "n_epochs": 200},
        {"step": lambda k: 0.5 / k**0.75, "batch_size": 4},
    ],
    ids=["schedule", "average", "batches", "all rows", "function"],
)
def test_it_approaches_least_squares(options, rng):
    """Nearer than the coefficients' own standard errors."""
    X, y = problem(rng)
    exact = LinearRegression().fit(X, y)
    model = LeastMeanSquares(random_state=0, **options).fit(X, y)
    np.testing.assert_array_less(np.abs(model.coef_ - exact.coef_), exact.coef_std_errors_)
    assert abs(model.intercept_ - exact.intercept_) < exact.intercept_std_error_
    assert model.loss_curve_.shape == (model.n_epochs,)
    assert model.loss_curve_[-1] < 0.1 * model.loss_curve_[0]


@pytest.mark.slow
def test_falling_steps_come_to_rest_and_constant_ones_wander(rng):
    X, y = problem(rng, noise=1.0)
    exact = LinearRegression().fit(X, y).coef_
    far = [
        np.abs(LeastMeanSquares(step=step, average=average, random_state=1).fit(X, y).coef_ - exact).max()
        for step, average in ((0.05, False), (0.05, True), (StepSize(offset=5.0), False))
    ]
    assert max(far[1:]) < 0.1 * far[0]


@pytest.mark.spec("SEQ-11")
def test_one_batch_of_all_rows_is_gradient_descent(rng):
    """w ← w - η dE/dw with E the mean squared error halved; weights are how often a row counts."""
    X, y = problem(rng, n=30)
    times = rng.integers(1, 4, size=30)
    phi, w = np.column_stack([np.ones(30), X]), np.zeros(4)
    for _ in range(3):
        w = w + 0.1 * phi.T @ (times * (y - phi @ w)) / times.sum()
    with pytest.warns(ConvergenceWarning, match="still fell"):
        model = LeastMeanSquares(step=0.1, batch_size=None, n_epochs=3).fit(X, y, sample_weight=times)
    np.testing.assert_allclose([model.intercept_, *model.coef_], w)
    few = LeastMeanSquares(batch_size=7, n_epochs=1, random_state=0).fit(X, y)
    assert few.n_steps_ == 5


@pytest.mark.spec("SEQ-12")
def test_steps_above_the_bound_diverge_and_it_is_said(rng):
    X, y = problem(rng)
    phi = np.column_stack([np.ones(len(X)), X])
    bound = 2.0 / np.linalg.eigvalsh(phi.T @ phi / len(X)).max()
    below = LeastMeanSquares(step=0.99 * bound, batch_size=None, n_epochs=2000).fit(X, y)
    np.testing.assert_allclose(below.coef_, LinearRegression().fit(X, y).coef_, atol=1e-6)
    with pytest.raises(ValueError, match=f"step is too large.*2/λmax = {bound:.3g}"):
        LeastMeanSquares(step=1.01 * bound, batch_size=None, n_epochs=2000).fit(X, y)
    with pytest.raises(ValueError, match="step is too large"):
        LeastMeanSquares(step=5.0 * bound, random_state=0).fit(X, y)


@pytest.mark.spec("SEQ-12")
def test_steps_that_diverge_slowly_are_no_answer(rng):
    """A few epochs above the bound are not yet infinite; single rows diverge well below it."""
    X, y = problem(rng)
    phi = np.column_stack([np.ones(len(X)), X])
    bound = 2.0 / np.linalg.eigvalsh(phi.T @ phi / len(X)).max()
    with pytest.raises(ValueError, match=f"step is too large.*2/λmax = {bound:.3g}"):
        LeastMeanSquares(step=1.01 * bound, batch_size=None, n_epochs=2).fit(X, y)
    noisy = y + 10.0 * rng.standard_normal(len(X))
    for shift in (0.0, 1e3):
        with pytest.raises(ValueError, match="step is too large"):
            LeastMeanSquares(step=0.4, random_state=0).fit(X, noisy + shift)
    with pytest.raises(ValueError, match="step is too large"):
        LeastMeanSquares(step=0.4, random_state=0).fit([(X[:200], noisy[:200]), (X[200:], noisy[200:])])


@pytest.mark.slow
def test_a_constant_target_and_pure_noise_are_no_divergence(rng):
    X = rng.standard_normal((50, 3))
    for y in (np.full(50, 5.0), np.zeros(50), rng.standard_normal(50), 1e6 + rng.standard_normal(50)):
        for options in ({}, {"batch_size": None, "n_epochs": 500}, {"step": 0.01, "n_epochs": 500}):
            model = LeastMeanSquares(random_state=0, **options).fit(X, y)
            assert np.mean((model.predict(X) - y) ** 2) <= 2.0 * np.var(y) + 1e-9


@pytest.mark.slow
def test_a_descent_that_was_still_falling_says_so(rng):
    X, y = problem(rng)
    with pytest.warns(ConvergenceWarning, match=r"still fell.*n_epochs"):
        LeastMeanSquares(step=1e-5, random_state=0).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="still fell"):
        LeastMeanSquares(step=1e-7, random_state=0).fit(X, y + 1e3)


@pytest.mark.parametrize("scale", some([1e-100, 1e-3, 1e3, 1e100, [1e-3, 1.0, 1e3]]))
def test_columns_in_unlike_units_are_not_left_in_silence(rng, scale):
    """Single steps see the largest feature alone: the others, or the intercept, are never learned."""
    X, y = problem(rng)
    with pytest.warns(ConvergenceWarning, match=r"errors still follow|still fell|above that of a constant"):
        LeastMeanSquares(random_state=0).fit(scale * X, y)
    rows = [(scale * X[:200], y[:200]), (scale * X[200:], y[200:])]
    with pytest.warns(ConvergenceWarning, match=r"errors still follow|still fell|above that of a constant"):
        LeastMeanSquares(random_state=0).fit(rows)
    model = LeastMeanSquares(standardize=True, average=True, random_state=0).fit(scale * X, y)
    np.testing.assert_allclose(scale * model.coef_, [1.0, 2.0, 3.0], atol=0.1)


def test_steps_that_end_above_a_constant_say_so(rng):
    X = rng.standard_normal((400, 30))
    with pytest.warns(ConvergenceWarning, match="above that of a constant"):
        LeastMeanSquares(step=0.03, random_state=0).fit(X, rng.standard_normal(400))


@pytest.mark.parametrize("batch_size", [1, None])
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_sizes_that_are_no_numbers_are_one_clear_error(rng, batch_size, size):
    X, y = problem(rng)
    model = LeastMeanSquares(batch_size=batch_size, fit_intercept=size > 1.0, random_state=0)
    with pytest.raises(ValueError, match=r"X (must be in units nearer to one|has values so (large|small))"):
        model.fit(size * X, y)
    with pytest.raises(ValueError, match=r"y (must be in units nearer to one|has values so (large|small))"):
        model.fit(X, 1e200 * y)
    with pytest.raises(ValueError, match=r"squares (over|under)flow"):
        LeastMeanSquares(standardize=True).fit(size * X, y)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -0.1, None, "a"])
def test_a_schedule_that_gives_no_step_is_named(bad, rng):
    X, y = problem(rng)
    with pytest.raises(ValueError, match=r"step must give positive, finite numbers.*update 3"):
        LeastMeanSquares(step=lambda k: bad if k == 3 else 0.01).fit(X, y)


@pytest.mark.spec("SEQ-12")
def test_a_stream_that_diverges_leaves_the_model_as_it_was(rng):
    X, y = problem(rng)
    model = LeastMeanSquares(step=0.05).partial_fit(X[:100], y[:100])
    before = model.coef_
    with pytest.raises(ValueError, match="step is too large"):
        model.partial_fit(1e3 * X[100:], y[100:])
    assert model.coef_ is before
    assert model.n_steps_ == 100


@pytest.mark.spec("SEQ-10")
def test_a_stream_of_pieces_is_one_pass_in_order(rng):
    X, y = problem(rng)
    pieces = LeastMeanSquares(step=StepSize(offset=20.0), average=True)
    for part in np.array_split(np.arange(len(X)), 7):
        pieces.partial_fit(X[part], y[part])
    options = {"step": StepSize(offset=20.0), "average": True, "shuffle": False, "n_epochs": 1}
    whole = LeastMeanSquares(**options).fit(X, y)
    np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-12)
    batches = [(X[:150], y[:150]), (X[150:], y[150:])]
    np.testing.assert_allclose(LeastMeanSquares(**options).fit(batches).coef_, whole.coef_, rtol=1e-12)


def test_standardised_columns_give_coefficients_in_their_own_units(rng):
    X, y = problem(rng)
    scales, shift = np.array([1e-3, 1.0, 1e4]), np.array([5.0, -1e3, 1e6])
    exact = LinearRegression().fit(X * scales + shift, y)
    model = LeastMeanSquares(standardize=True, average=True, random_state=0).fit(X * scales + shift, y)
    np.testing.assert_allclose(model.coef_ * scales, exact.coef_ * scales, atol=2e-3)
    np.testing.assert_allclose(
        model.predict(X * scales + shift), exact.predict(X * scales + shift), atol=0.02
    )
    origin = LeastMeanSquares(standardize=True, fit_intercept=False, random_state=0).fit(X, y)
    assert origin.intercept_ == 0.0


def test_a_seed_settles_the_order_and_a_saved_stream_goes_on(rng, tmp_path):
    X, y = problem(rng)
    first, second, other = (LeastMeanSquares(random_state=seed).fit(X, y).coef_ for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
    model = LeastMeanSquares(step=StepSize(offset=20.0)).partial_fit(X[:200], y[:200])
    tractable.save(model, tmp_path / "half")
    loaded = tractable.load(tmp_path / "half").partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(loaded.coef_, model.partial_fit(X[200:], y[200:]).coef_)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"step": 0.0}, "step"),
        ({"step": np.inf}, "step"),
        ({"batch_size": 0}, "batch_size"),
        ({"n_epochs": 0}, "n_epochs"),
        ({"n_epochs": None}, "n_epochs"),
    ],
)
def test_bad_parameters_are_refused(options, named):
    with pytest.raises(ValueError, match=named):
        LeastMeanSquares(**options).fit([[0.0], [1.0]], [0.0, 1.0])


def test_arrays_of_other_libraries_are_refused():
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(ValueError, match="NumPy"):
        LeastMeanSquares().fit(strict.asarray([[0.0], [1.0]]), strict.asarray([0.0, 1.0]))


def coefficients(model):
    return np.append(model.intercept_, model.coef_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", [{}, {"batch_size": 5, "average": True, "standardize": True}])
def test_rows_of_no_weight_are_left_out_of_a_random_order_too(options, rng):
    X, y = problem(rng, n=60)
    w = rng.integers(0, 4, 60).astype(float)
    some_, all_ = (LeastMeanSquares(random_state=0, **options) for _ in range(2))
    some_.fit(X[w > 0], y[w > 0], w[w > 0])
    np.testing.assert_array_equal(coefficients(all_.fit(X, y, w)), coefficients(some_))
    np.testing.assert_array_equal(all_.loss_curve_, some_.loss_curve_)
    batches = [(X, y, w)], [(X[w > 0], y[w > 0], w[w > 0])]
    streamed = [coefficients(LeastMeanSquares(**options).fit(rows)) for rows in batches]
    np.testing.assert_array_equal(*streamed)
    for learn in (LeastMeanSquares().fit, LeastMeanSquares().partial_fit):
        with pytest.raises(ValueError, match="sample_weight must have a positive entry"):
            learn([(X, y, np.zeros(60))])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("options", [{}, {"batch_size": 5, "average": True, "standardize": True}])
def test_a_row_of_weight_two_is_two_rows_in_any_order_to_the_last_step(options, rng):
    X, y = problem(rng, n=40)
    X[:4, 0] = [0.0, -0.0, 0.0, -0.0]
    w = rng.integers(0, 4, 40)
    order = rng.permutation(w.sum())
    repeated = np.repeat(X, w, axis=0)[order], np.repeat(y, w)[order]
    weighted, again = (LeastMeanSquares(random_state=0, **options) for _ in range(2))
    weighted.fit(X, y, w)
    np.testing.assert_array_equal(coefficients(again.fit(*repeated)), coefficients(weighted))
    np.testing.assert_array_equal(again.loss_curve_, weighted.loss_curve_)


@pytest.mark.parametrize("batch_size", [1, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("form", ["weighted", "ignored"])
def test_weights_in_a_random_order_have_the_limit_of_repeated_rows(form, batch_size, rng):
    """Over orders, the mean result tends to the least squares of the repeated rows as the step falls to 0.

    Its distance is c η + O(η²), so that 2 w(η/2) - w(η) is at the limit up to its standard error; weights
    that are left out of account are found out.
    """
    x = rng.standard_normal((12, 1))
    y, w = 1.0 + 2.0 * x[:, 0] + rng.standard_normal(12), np.tile([1, 3], 6)
    A = np.column_stack([np.ones(12), x])
    limit = np.linalg.solve(A.T @ (w[:, None] * A), A.T @ (w * y))
    table = {"weighted": (x, y, w), "ignored": (x, y)}

    def ends(step, n_epochs, seeds):
        make = lambda seed: LeastMeanSquares(  # noqa: E731
            step=step, batch_size=batch_size, n_epochs=n_epochs * batch_size, random_state=seed
        )
        return np.array([coefficients(make(seed).fit(*table[form])) for seed in seeds])

    found = 2.0 * ends(0.01, 120, range(12)) - ends(0.02, 60, range(12, 24))
    errors = found.std(axis=0, ddof=1) / np.sqrt(len(found))
    holds = np.all(np.abs(found.mean(axis=0) - limit) <= 4.0 * errors)
    assert holds == (form != "ignored")
