"""Mixtures over tables: against slow obvious EM, with holes, frames, conditions and draws."""

import warnings
from itertools import islice

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.special import logsumexp
from scipy.stats import bernoulli, norm, poisson

import tractable
from rows.discrete_mixtures import KINDS, expected, frame, table, table_numbers, table_steps
from tractable.engines import decompose_evidence
from tractable.engines.kmeans import KMeansProblem
from tractable.mixture import CollapsedComponentWarning
from tractable.mixture.table.steps import TableProblem
from tractable.testing.statistic_laws import assert_same_statistic
from tractable.value import parameters, replace


def slow_em(x, kinds, start, n_iter, reg=0.0):
    """Maximum likelihood EM, a loop over components and columns, by SciPy's densities."""
    pi, parts = start
    trace = []
    for _ in range(n_iter):
        joint = np.log(pi) + np.column_stack(
            [sum(log_density(*p) for p in zip(kinds, x.T, k, strict=True)) for k in parts]
        )
        trace.append(logsumexp(joint, axis=1).sum())
        r = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        pi = r.mean(axis=0)
        parts = [[average(kind, column, w) for kind, column in zip(kinds, x.T, strict=True)] for w in r.T]
    return pi, parts, trace


def log_density(kind, column, p):
    seen = ~np.isnan(column)
    found = np.zeros(len(column))
    c = column[seen]
    if kind == "normal":
        found[seen] = norm.logpdf(c, p[0], np.sqrt(p[1]))
    elif kind == "poisson":
        found[seen] = poisson.logpmf(c, p)
    elif kind == "bernoulli":
        found[seen] = bernoulli.logpmf(c, p)
    else:
        with np.errstate(divide="ignore"):
            found[seen] = np.log(p)[c.astype(int)]
    return found


def average(kind, column, w):
    seen = ~np.isnan(column)
    c, w = column[seen], w[seen]
    mean = w @ c / w.sum()
    if kind == "normal":
        return mean, w @ (c - mean) ** 2 / w.sum()
    return np.bincount(c.astype(int), w, minlength=3) / w.sum() if kind == "categorical" else mean


def test_iterations_are_those_of_the_slow_loop():
    x = table()
    steps = table_steps(x, alpha=0.0, reg=0.0)
    params = steps.initial(np.random.default_rng(0))
    scaled = steps.encoding.standardizer[[0, 4]]
    parts = [
        [
            (m[0] / scale[0] + mean[0], v[0] / scale[0] ** 2),
            rate[0],
            share,
            one[0],
            (m[1] / scale[1] + mean[1], v[1] / scale[1] ** 2),
        ]
        for _, m, v, rate, one, share in zip(*parameters(params).values(), strict=True)
        for mean, scale in [(scaled.shift, scaled.scale)]
    ]
    pi, parts, trace = slow_em(x, KINDS, (params.weights, parts), 8)
    mine = []
    for _ in range(8):
        sums = expected(steps, params)
        mine.append(sums.objective)
        params = steps.maximize(sums)
    np.testing.assert_allclose(mine, trace, rtol=1e-10)
    np.testing.assert_allclose(params.weights, pi, rtol=1e-8)
    np.testing.assert_allclose(params.rates[:, 0], [k[1] for k in parts], rtol=1e-8)
    np.testing.assert_allclose(params.probabilities, [k[2] for k in parts], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(params.ones[:, 0], [k[3] for k in parts], rtol=1e-8, atol=1e-12)


def test_a_constant_normal_column_changes_nothing(rng):
    """A normal column that never varies has the same density in all components."""
    x = table(holes=0.2)[:, 1:4]
    x = x[~np.isnan(x).all(axis=1)]
    fast = table_steps(x, KINDS[1:4])
    params = fast.initial(np.random.default_rng(3))
    slow = table_steps(np.column_stack([x, np.ones(len(x))]), (*KINDS[1:4], "normal"))
    wide = replace(params, means=np.zeros((3, 1)), variances=np.ones((3, 1)))
    a, b = expected(fast, params), expected(slow, wide)
    for mine, theirs in zip(a.parts[1:], b.parts[1:], strict=True):
        assert_same_statistic(mine, theirs)
    np.testing.assert_allclose(a.weight, b.weight, rtol=1e-10)


def test_a_missing_entry_drops_out_exactly():
    x = table(holes=0.2)
    model = tractable.TableMixture(3, kinds=KINDS, random_state=0).fit(x)
    row = x[0].copy()
    row[2] = np.nan
    each = np.array([0.0, 1.0, 2.0])
    filled = np.repeat(row[None], 3, axis=0)
    filled[:, 2] = each
    total = logsumexp(model.score_samples(filled))
    np.testing.assert_allclose(model.score_samples(row[None])[0], total, rtol=1e-12)
    assert model.score_samples(np.full((1, 5), np.nan))[0] == pytest.approx(0.0, abs=1e-12)


def test_rows_of_nothing_change_nothing():
    x = table()
    extra = np.vstack([x, np.full((4, 5), np.nan)])
    a, b = (tractable.TableMixture(3, kinds=KINDS, random_state=0).fit(rows) for rows in (x, extra))
    assert b.n_unseen_ == 4.0
    np.testing.assert_allclose(a.score_samples(x), b.score_samples(x), rtol=1e-4)


@pytest.mark.spec("GMM-17", "GMM-18")
def test_the_evidence_of_a_table_is_taken_apart(rng):
    x = table()
    model = tractable.TableMixture(3, kinds=KINDS, random_state=0).fit(x)
    parts = decompose_evidence(rng.dirichlet(np.ones(3), len(x)), model.distribution_.log_joint(x))
    assert parts.bound + parts.divergence == pytest.approx(model.score_samples(x).sum())


@pytest.fixture(params=["pandas", "polars"])
def any_frame(request):
    return frame() if request.param == "pandas" else pl.from_pandas(frame())


def fitted(X, **options):
    return tractable.TableMixture(3, kinds={"visits": "poisson"}, random_state=0, **options).fit(X)


def test_kinds_come_from_types_or_are_told(any_frame):
    model = fitted(any_frame)
    kinds = ("normal", "poisson", "categorical", "bernoulli", "normal")
    assert model.kinds_ == dict(zip(("size", "visits", "class", "member", "price"), kinds, strict=True))
    assert model.categories_ == {"class": ("high", "low", "mid")}


def test_a_frame_is_the_array_of_its_codes(any_frame):
    codes = table()
    codes[:, 2] = np.array([1.0, 2.0, 0.0, np.nan])[np.nan_to_num(codes[:, 2], nan=3.0).astype(int)]
    kinds = ("normal", "poisson", "categorical", "bernoulli", "normal")
    by_codes = tractable.TableMixture(3, kinds=kinds, random_state=0).fit(codes)
    np.testing.assert_allclose(fitted(any_frame).score_samples(any_frame), by_codes.score_samples(codes))


def test_any_columns_given_any_others(any_frame):
    model = fitted(any_frame)
    joint, d = model.distribution_, model.condition({"class": "mid", "visits": 6})
    assert d.names == ("size", "member", "price")
    row = [2.0, 1.0, 9_960.0]
    whole = joint.log_prob([row[0], 6.0, 2.0, row[1], row[2]])
    np.testing.assert_allclose(
        d.log_prob(row), whole - joint.marginal(["visits", "class"]).log_prob([6.0, 2.0])
    )
    by_list = model.condition(["class", "visits"], np.array([["mid", 6], ["low", 1]], dtype=object))
    np.testing.assert_allclose(by_list.log_prob(row)[0], d.log_prob(row))


def test_what_is_missing_among_the_given_says_nothing(any_frame):
    model = fitted(any_frame)
    less = model.condition({"visits": 6.0}).marginal(["size", "member", "price"])
    more = model.condition({"visits": 6.0, "class": None})
    np.testing.assert_allclose(more.log_prob([2.0, 1.0, 9_960.0]), less.log_prob([2.0, 1.0, 9_960.0]))


def test_imputing_keeps_what_was_seen_and_fills_the_rest(any_frame):
    model = fitted(any_frame)
    full = model.impute(any_frame)
    assert type(full) is type(any_frame)
    before, after = (f if hasattr(f, "iloc") else f.to_pandas() for f in (any_frame, full))
    assert not after.isna().any().any()
    for name in before:
        seen = before[name].notna().to_numpy()
        assert (before[name][seen] == after[name][seen]).all()
    assert set(after["class"]) <= {"low", "mid", "high"}


def test_what_is_imputed_is_the_mean_and_the_likeliest():
    x = table(holes=0.2)
    model = tractable.TableMixture(3, kinds=KINDS, random_state=0).fit(x)
    full = model.impute(x)
    i = int(np.flatnonzero(np.isnan(x[:, 0]) & ~np.isnan(x[:, 1:]).any(axis=1))[0])
    np.testing.assert_allclose(full[i, 0], model.condition([1, 2, 3, 4], x[i, 1:]).mean[0])
    i = int(np.flatnonzero(np.isnan(x[:, 2]) & ~np.isnan(np.delete(x, 2, axis=1)).any(axis=1))[0])
    given = model.condition([0, 1, 3, 4], x[i, [0, 1, 3, 4]])
    assert full[i, 2] == np.argmax(given.log_prob([[0.0], [1.0], [2.0]]))


@pytest.mark.slow
def test_draws_of_holes_follow_the_conditional_distribution():
    x = table()
    model = tractable.TableMixture(3, kinds=KINDS, random_state=0).fit(x)
    row = np.array([[np.nan, 6.0, np.nan, np.nan, 9_950.0]])
    draws = np.array(model.impute(row, 4_000, random_state=0))[:, 0]
    given = model.condition([1, 4], [6.0, 9_950.0])
    free = draws[:, [0, 2, 3]]
    assert np.all(draws[:, [1, 4]] == row[:, [1, 4]])
    np.testing.assert_array_less(np.abs(free.mean(axis=0) - given.mean), 5.0 * given.stddev / np.sqrt(4_000))
    # Holes of one row are drawn together: they depend on one another.
    product = np.prod(free - given.mean, axis=1, where=[True, True, False])
    assert abs(product.mean() - given.covariance[0, 1]) < 5.0 * product.std() / np.sqrt(4_000)
    np.testing.assert_array_equal(draws, np.array(model.impute(row, 4_000, random_state=0))[:, 0])


def test_samples_are_tables_of_the_fitted_kind(any_frame):
    model = fitted(any_frame)
    rows, labels = model.sample(20, random_state=0)
    assert type(rows) is type(any_frame)
    assert list(rows.columns) == list(any_frame.columns)
    assert np.all(np.isfinite(model.score_samples(rows)))
    assert labels.shape == (20,)


def test_weights_may_be_a_column(any_frame):
    weights = np.arange(len(any_frame)) % 3
    wide = any_frame.copy() if hasattr(any_frame, "iloc") else any_frame.with_columns(pl.Series("w", weights))
    if hasattr(wide, "iloc"):
        wide["w"] = weights
    named = tractable.TableMixture(3, kinds={"visits": "poisson"}, random_state=0).fit(
        wide, sample_weight="w"
    )
    given = tractable.TableMixture(3, kinds={"visits": "poisson"}, random_state=0).fit(
        any_frame, sample_weight=weights
    )
    np.testing.assert_allclose(named.score_samples(any_frame), given.score_samples(any_frame))


def test_warm_starts_go_on_where_the_fit_ended():
    x = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = tractable.TableMixture(3, kinds=KINDS, random_state=0, warm_start=True, max_iter=3).fit(x)
        before = model.lower_bound_
        model.fit(x)
    assert model.objective_trace_[0] == pytest.approx(before)
    assert model.lower_bound_ > before
    with pytest.raises(ValueError, match="warm_start"):
        model.fit(np.where(x == 2.0, 3.0, x))


def test_the_number_of_parameters_is_counted():
    model = tractable.TableMixture(3, kinds=KINDS, random_state=0).fit(table())
    assert model.n_parameters_ == 2 + 3 * (2 + 1 + 2 + 1 + 2)
    assert model.bic(table()) > model.aic(table())


def test_a_component_that_collapses_is_said():
    x = np.concatenate([np.zeros((30, 1)), np.random.default_rng(0).normal(5.0, 1.0, (70, 1))])
    with pytest.warns(CollapsedComponentWarning, match="collapsed"):
        model = tractable.TableMixture(2, random_state=0).fit(x)
    assert model.collapsed_.sum() == 1


@pytest.mark.parametrize(
    ("options", "rows", "named"),
    [
        ({"kinds": "normal"}, None, "kinds"),
        ({"kinds": {0: "gamma"}}, None, "kinds"),
        ({"kinds": {9: "normal"}}, None, "kinds"),
        ({"kinds": ["normal"]}, None, "kinds"),
        ({"kinds": {0: "poisson"}}, None, "Negative values"),
        ({"kinds": {4: "poisson"}}, None, "whole"),
        ({"kinds": {1: "bernoulli"}}, None, "zeros and ones"),
        ({"kinds": {1: "categorical"}}, np.full((9, 5), 1e6), "codes"),
        ({"alpha": -1.0}, None, "alpha"),
        ({"reg_covar": -1.0}, None, "reg_covar"),
        ({"covariance_prior": "tight"}, None, "covariance_prior"),
        ({"covariance_prior": np.eye(2)}, None, "covariance_prior"),
        ({}, np.full((9, 5), np.nan), "X"),
        ({"n_components": 10}, table(9), "n_components"),
    ],
)
def test_bad_input_is_named(options, rows, named):
    x = table() if rows is None else rows
    with pytest.raises(ValueError, match=named):
        tractable.TableMixture(**options).fit(x)


def test_categories_never_seen_are_named(any_frame):
    model = fitted(any_frame)
    with pytest.raises(ValueError, match="no category 'huge'"):
        model.condition({"class": "huge"})
    with pytest.raises(ValueError, match="dims"):
        model.condition({"clas": "low"})


@pytest.mark.parametrize(
    ("spoiled", "named"),
    [
        (frame().assign(day=pd.date_range("2020", periods=150)), "day"),
        (frame().set_axis(["a", "a", "b", "c", "d"], axis=1), "one name"),
        (frame().assign(size=None), "size"),
    ],
)
def test_columns_that_make_no_sense_are_named(spoiled, named):
    with pytest.raises(ValueError, match=named):
        tractable.TableMixture().fit(spoiled)


def test_an_arrow_table_is_a_frame():
    model = fitted(pa.Table.from_pandas(frame()))
    np.testing.assert_allclose(model.score_samples(frame()), fitted(frame()).score_samples(frame()))


def test_the_prior_of_large_counts_is_told_from_usual_ones():
    """Counts near 1e12 say of a row what any number does: some units, not 1e12 of them."""
    x = np.random.default_rng(0).poisson(1e12, size=(200, 1)).astype(float)
    model = tractable.TableMixture(1, kinds=["poisson"]).fit(x)
    assert model.lower_bound_ == pytest.approx(model.score(x), abs=1e-3)
    assert -20.0 < model.lower_bound_ < 0.0


def test_one_column_given_the_others_has_intervals(any_frame):
    model = fitted(any_frame)
    given = model.condition({"class": "mid", "visits": 6})
    price = given.marginal(["price"]).as_univariate()
    low, high = price.interval(0.9)
    np.testing.assert_allclose(price.cdf(high) - price.cdf(low), 0.9)
    np.testing.assert_allclose(price.mean, given.mean[2])
    with pytest.raises(ValueError, match="as_univariate needs one column"):
        given.as_univariate()


def test_rows_far_from_the_origin_fit_as_well():
    x = table(holes=0.0)[:, [0, 4]]
    near, far = (tractable.TableMixture(3, random_state=0).fit(x + shift) for shift in (0.0, 1e8))
    np.testing.assert_allclose(far.score_samples(x + 1e8), near.score_samples(x), rtol=1e-5)


def test_an_interrupted_start_is_not_swallowed_and_earlier_searches_are_kept(monkeypatch):
    begun = iter([True, False])
    whole = TableProblem.initial

    def start(self, rng):
        if next(begun):
            return whole(self, rng)
        monkeypatch.setattr(KMeansProblem, "run_em", interrupt)
        return whole(self, rng)

    def interrupt(self, params, max_iter):
        raise KeyboardInterrupt

    monkeypatch.setattr(TableProblem, "initial", start)
    model = tractable.TableMixture(3, kinds=KINDS, random_state=0, n_init=2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(table())
    one = tractable.TableMixture(3, kinds=KINDS, random_state=0)
    monkeypatch.undo()
    np.testing.assert_array_equal(model.score_samples(table()), one.fit(table()).score_samples(table()))


def test_parameters_are_read_as_numbers():
    steps = table_steps(table())
    assert np.all(np.isfinite(table_numbers(steps.initial(np.random.default_rng(0)))))


def interrupted_after(calls, error):
    left = iter(range(calls))
    whole = TableProblem.expect

    def expect(self, params):
        if next(left, None) is None:
            raise error
        return whole(self, params)

    return expect


def test_a_killed_fit_goes_on_where_it_was(tmp_path, monkeypatch):
    model = tractable.TableMixture(3, kinds=KINDS, random_state=0, n_init=2, tol=1e-10)
    path = tmp_path / "fit.checkpoint"
    with monkeypatch.context() as patch, tractable.checkpoint(path, every=0.0):
        patch.setattr(TableProblem, "expect", interrupted_after(12, MemoryError("killed")))
        with pytest.raises(MemoryError):
            model.fit(table())
        kept = path.read_bytes()
    path.write_bytes(kept)
    with tractable.checkpoint(path, every=0.0):
        model.fit(table())
    undisturbed = tractable.TableMixture(3, kinds=KINDS, random_state=0, n_init=2, tol=1e-10).fit(table())
    np.testing.assert_array_equal(model.objective_trace_, undisturbed.objective_trace_)
    np.testing.assert_array_equal(model.score_samples(table()), undisturbed.score_samples(table()))


def test_an_interrupted_fit_keeps_the_best_so_far(monkeypatch):
    model = tractable.TableMixture(5, kinds=KINDS, random_state=0)  # of no column's categories: one start
    with monkeypatch.context() as patch:
        patch.setattr(TableProblem, "expect", interrupted_after(4, KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            model.fit(table())
    assert model.n_iter_ == 3
    assert not model.converged_
    assert np.all(np.isfinite(model.score_samples(table())))


def correlated(n=400, seed=0):
    """Two groups with a category each, in which numbers have other correlations; some are missing."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, n)
    u, v = rng.normal(size=(2, n))
    second = np.where(z == 0, 0.9, -0.9) * u + 0.44 * v
    x = np.column_stack([u + 4.0 * z, np.where(rng.random(n) < 0.9, z, 1 - z), second])
    return np.where(rng.random(x.shape) < 0.15, np.nan, x)


def test_full_covariances_of_numbers_alone_are_those_of_a_gaussian_mixture():
    x = correlated()[:, [0, 2]]
    x = x[~np.isnan(x).all(axis=1)]
    options = {"reg_covar": 1e-9, "tol": 1e-12, "max_iter": 2000}
    mine = tractable.TableMixture(1, covariance_type="full", **options).fit(x)
    gaussian = tractable.GaussianMixture(1, **options).fit(x)
    normal = mine.distribution_.components.parts[0]
    np.testing.assert_allclose(normal.mean, gaussian.means_, rtol=1e-6)
    np.testing.assert_allclose(normal.covariance, gaussian.covariances_, rtol=1e-5)
    np.testing.assert_allclose(mine.score_samples(x), gaussian.score_samples(x), rtol=1e-5)
    assert mine.n_parameters_ == gaussian.n_parameters_ == 5


@pytest.mark.parametrize("kind", ["diag", "full"])
@pytest.mark.parametrize("prior", ["data", np.diag([0.5, 2.0])], ids=["data", "given"])
def test_a_prior_on_covariances_is_that_of_a_gaussian_mixture(kind, prior):
    x = correlated(300)[:, [0, 2]]
    x = x[~np.isnan(x).any(axis=1)]
    options = {
        "covariance_prior": prior,
        "reg_covar": 1e-9,
        "tol": 1e-13,
        "max_iter": 5000,
        "random_state": 0,
    }
    mine = tractable.TableMixture(2, covariance_type=kind, **options).fit(x)
    gaussian = tractable.GaussianMixture(2, covariance_type=kind, **options).fit(x)
    np.testing.assert_allclose(np.sort(mine.weights_), np.sort(gaussian.weights_), rtol=1e-4)
    np.testing.assert_allclose(mine.score_samples(x), gaussian.score_samples(x), atol=1e-4)


def test_components_with_a_prior_do_not_collapse_on_a_repeated_value():
    x = np.column_stack(
        [np.r_[np.zeros(60), np.random.default_rng(0).normal(5.0, 1.0, 60)], np.arange(120) % 3]
    )
    kinds, options = {1: "categorical"}, {"random_state": 0}
    with pytest.warns(CollapsedComponentWarning):
        free = tractable.TableMixture(2, kinds=kinds, **options).fit(x)
    kept = tractable.TableMixture(2, kinds=kinds, covariance_prior="data", **options).fit(x)
    assert free.collapsed_.any()
    assert not kept.collapsed_.any()
    # (S_k + N_k reg + Ψ) / (N_k + ν + d + 1), of 60 equal rows with S_k = 0; ν + d + 1 = 5 for d = 1.
    of_zero = np.asarray(kept.distribution_.components.parts[0].variance).min()
    assert of_zero == pytest.approx(x[:, 0].var() * (1.0 / 2.0**2 + 60 * 1e-6) / (60 + 5), rel=1e-6)


@pytest.mark.parametrize("kind", ["diag", "full"])
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_a_prior_on_variances_says_nothing_of_columns_without_any(kind, noise, rng):
    """One of two categories all but determines the other: components collapse, and a prior is tried."""
    a = rng.choice(list("uvw"), 300)
    b = np.where(rng.random(300) < noise, rng.permutation(a), a)
    x = pd.DataFrame({"a": a, "b": np.char.add(b, "x")})
    options = {"covariance_type": kind, "random_state": 0}
    free = tractable.TableMixture(3, **options).fit(x)
    held = tractable.TableMixture(3, covariance_prior="data", **options).fit(x)
    np.testing.assert_array_equal(held.score_samples(x), free.score_samples(x))
    assert held.lower_bound_ == free.lower_bound_


def test_full_covariances_see_relations_within_a_component():
    x = correlated(2000)
    kinds = {1: "categorical"}
    by_type = {
        kind: tractable.TableMixture(2, kinds=kinds, covariance_type=kind, random_state=0).fit(x)
        for kind in ("diag", "full")
    }
    assert by_type["full"].bic(x) < by_type["diag"].bic(x) - 500.0
    given = by_type["full"].condition({0: 1.0, 1: 0}).as_univariate()
    assert float(given.mean) == pytest.approx(0.9, abs=0.1)
    assert float(given.stddev) == pytest.approx(0.44, abs=0.1)
    assert float(by_type["diag"].condition({0: 1.0, 1: 0}).as_univariate().stddev) > 0.8


def test_imputed_numbers_follow_the_others_of_their_row():
    x = correlated(2000)
    model = tractable.TableMixture(2, kinds={1: "categorical"}, covariance_type="full", random_state=0).fit(x)
    row = np.array([[1.0, 0.0, np.nan], [np.nan, np.nan, np.nan]])
    filled = model.impute(row)
    mean = float(model.condition({0: 1.0, 1: 0}).as_univariate().mean)
    assert filled[0, 2] == pytest.approx(mean, rel=1e-9)
    np.testing.assert_allclose(filled[1, [0, 2]], np.asarray(model.distribution_.mean)[[0, 2]], rtol=1e-9)
    many = np.stack(model.impute(np.repeat(row[:1], 500, axis=0), n_draws=4, random_state=0))[:, :, 2]
    assert abs(many.mean() - mean) < 5.0 * many.std() / np.sqrt(many.size)
    assert many.std() == pytest.approx(float(model.condition({0: 1.0, 1: 0}).as_univariate().stddev), rel=0.1)


def test_conditions_with_missing_values_are_those_of_what_was_observed():
    model = tractable.TableMixture(2, kinds={1: "categorical"}, covariance_type="full", random_state=0)
    model.fit(correlated())
    rows = model.condition({0: [1.0, np.nan], 1: [np.nan, 1.0]})
    for i, given in enumerate(({0: 1.0}, {1: 1.0})):
        alone = model.condition(given).marginal([-1])
        np.testing.assert_allclose(rows.marginal([-1]).mean[i], alone.mean, rtol=1e-12)
        np.testing.assert_allclose(rows.marginal([-1]).variance[i], alone.variance, rtol=1e-12)


def test_covariance_type_is_checked():
    with pytest.raises(ValueError, match="covariance_type"):
        tractable.TableMixture(covariance_type="tied").fit(correlated())


def test_a_start_divides_clusters_by_the_categories_of_a_column(monkeypatch):
    """Of the penguins: species and sexes, a better fit than from what k-means finds."""
    frame = tractable.datasets.load("penguins").frame.drop(columns="year")
    model = tractable.TableMixture(6, covariance_type="diag", random_state=0).fit(frame)
    partitions = TableProblem._partitions
    monkeypatch.setattr(TableProblem, "_partitions", lambda *given: islice(partitions(*given), 1))
    plain = tractable.TableMixture(6, covariance_type="diag", random_state=0).fit(frame)
    assert model.bic(frame) < plain.bic(frame) - 100.0
