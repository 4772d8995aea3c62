"""Regression tables of linear models: equal to statsmodels on the tables that come with it."""

import importlib
import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.outliers_influence import variance_inflation_factor

import tractable
from tractable.regression_tables import CollinearityWarning

#: Tables of numbers with a target, by name.
TABLES = [
    "ccard",
    "copper",
    "engel",
    "longley",
    "randhie",
    "scotland",
    "spector",
    "stackloss",
    "star98",
    "statecrime",
]
ROBUST = ["HC0", "HC1", "HC2", "HC3"]


def table(name):
    loaded = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas()
    X, y = loaded.exog, loaded.endog
    y = y if y.ndim == 1 else y.iloc[:, 0]
    X = X.drop(columns=[c for c in X.columns if np.ptp(X[c]) == 0.0])
    return X.astype(float), y.astype(float)


def close(ours, theirs, rtol=1e-8):
    np.testing.assert_allclose(ours, np.asarray(theirs), rtol=rtol, atol=0.0)


@pytest.fixture(scope="module", params=TABLES)
def pair(request):
    X, y = table(request.param)
    model = tractable.LinearRegression().fit(X, y)
    return X, y, model, sm.OLS(y, sm.add_constant(X))


def summary(model, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollinearityWarning)
        return model.summary(*args, **options)


def test_tables_equal_those_of_statsmodels(pair):
    _, _, model, peer = pair
    ours, theirs = summary(model), peer.fit()
    close(ours.coefficients, theirs.params)
    close(ours.std_errors, theirs.bse)
    close(ours.test_values, theirs.tvalues)
    close(ours.p_values, theirs.pvalues)
    close(ours.intervals, theirs.conf_int())
    close(ours.covariance, theirs.cov_params())
    one = {
        "r2": theirs.rsquared,
        "adjusted_r2": theirs.rsquared_adj,
        "aic": theirs.aic,
        "bic": theirs.bic,
        "log_likelihood": theirs.llf,
        "residual_dof": theirs.df_resid,
        "noise_variance": theirs.mse_resid,
    }
    for name, expected in one.items():
        close(getattr(ours, name), expected)
    close([ours.f_test.statistic, ours.f_test.p_value], [theirs.fvalue, theirs.f_pvalue])
    close(summary(model, coverage=0.8).intervals, theirs.conf_int(0.2))


@pytest.mark.parametrize("kind", ROBUST)
def test_robust_covariances_equal_those_of_statsmodels(pair, kind):
    X, y, model, peer = pair
    ours, theirs = summary(model, X, y, covariance=kind), peer.fit(cov_type=kind, use_t=True)
    close(ours.std_errors, theirs.bse)
    close(ours.p_values, theirs.pvalues, rtol=1e-7)  # of t far out, whose error p multiplies
    close(ours.covariance, model.robust_covariance(X, y, covariance=kind), rtol=1e-14)


def test_influence_equals_that_of_statsmodels(pair):
    X, y, model, peer = pair
    if len(X) > 1000:
        X, y = X.iloc[:500], y.iloc[:500]
        model, peer = tractable.LinearRegression().fit(X, y), sm.OLS(y, sm.add_constant(X))
    ours, theirs = model.influence(X, y), peer.fit().get_influence()
    close(ours.leverage, theirs.hat_matrix_diag)
    close(ours.studentized_internal, theirs.resid_studentized_internal, rtol=1e-7)
    close(ours.studentized, theirs.resid_studentized_external, rtol=1e-7)
    close(ours.cooks_distance, theirs.cooks_distance[0], rtol=1e-7)
    close(ours.dffits, theirs.dffits[0], rtol=1e-7)
    assert list(ours.to_frame()["cooks_distance"]) == list(ours.cooks_distance)


def test_variance_inflation_equals_that_of_statsmodels(pair):
    X, _, model, _ = pair
    design = sm.add_constant(X).to_numpy()
    theirs = [variance_inflation_factor(design, j) for j in range(1, design.shape[1])]
    ours = summary(model)
    close(ours.inflation[1:], theirs)
    assert np.isnan(ours.inflation[0])
    close(ours.condition_number, np.linalg.cond(design), rtol=1e-6)


def test_longley_warns_of_collinearity_and_says_so_in_the_table():
    X, y = table("longley")
    model = tractable.LinearRegression().fit(X, y)
    with pytest.warns(CollinearityWarning, match="GNP, YEAR, POP"):
        found = model.summary()
    assert "variance inflation up to 1789, condition number 4.859e+09" in str(found)
    assert "variance inflation" in found._repr_html_()


@pytest.fixture
def rows():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 3)) + np.array([10.0, 0.0, -3.0])
    y = X @ [1.0, -2.0, 0.0] + 4.0 + (0.5 + np.abs(X[:, 1])) * rng.standard_normal(80)
    return X, y, rng.integers(0, 9, 80)


def test_clusters_equal_those_of_statsmodels(rows):
    X, y, clusters = rows
    theirs = sm.OLS(y, sm.add_constant(X)).fit(cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True)
    model = tractable.LinearRegression().fit(X, y)
    ours = model.summary(X, y, clusters=clusters)
    close(ours.std_errors, theirs.bse)
    close(ours.p_values, theirs.pvalues)
    assert ours.t_dof == 8.0
    assert ours.covariance_type == "clustered"
    words = np.array(list("abcdefghi"))[clusters]
    close(model.robust_covariance(X, y, clusters=words), ours.covariance, rtol=1e-14)
    close([ours.f_test.statistic, ours.f_test.p_value], [theirs.fvalue, theirs.f_pvalue])


def test_clusters_may_be_a_column_of_the_frame(rows):
    pd = pytest.importorskip("pandas")
    X, y, clusters = rows
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = tractable.LinearRegression().fit(frame, y)
    named = model.robust_covariance(frame.assign(town=clusters), y, clusters="town")
    close(named, model.robust_covariance(frame, y, clusters=clusters), rtol=1e-14)


def test_clusters_of_one_row_each_are_hc1(rows):
    X, y, _ = rows
    model = tractable.LinearRegression().fit(X, y)
    close(
        model.robust_covariance(X, y, clusters=np.arange(80)), model.robust_covariance(X, y, covariance="HC1")
    )


@pytest.mark.parametrize("options", [{}, *({"covariance": kind} for kind in ROBUST), {"clusters": True}])
def test_weights_are_repetitions(rows, options):
    X, y, clusters = rows
    times = np.arange(80) % 4
    again = np.repeat(np.arange(80), times)
    found = []
    for which, weights in ((np.arange(80), times), (again, None)):
        model = tractable.LinearRegression().fit(X[which], y[which], sample_weight=weights)
        given = {"clusters": clusters[which]} if "clusters" in options else options
        found.append(model.summary(X[which], y[which], weights, **given) if given else model.summary())
    a, b = found
    close(a.p_values, b.p_values)
    close(a.covariance, b.covariance)
    close([a.aic, a.bic, a.r2, a.adjusted_r2], [b.aic, b.bic, b.r2, b.adjusted_r2])
    close(a.inflation[1:], b.inflation[1:])


def test_influence_of_weights_is_that_of_repetitions(rows):
    X, y, _ = rows
    times = np.arange(80) % 4
    again = np.repeat(np.arange(80), times)
    a = tractable.LinearRegression().fit(X, y, times).influence(X, y, times)
    b = tractable.LinearRegression().fit(X[again], y[again]).influence(X[again], y[again])
    close(a.to_frame().to_numpy()[again], b.to_frame().to_numpy())


def test_streams_and_merged_halves_have_the_same_table(rows, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, _ = rows
    whole = tractable.LinearRegression().fit(X, y)
    halves = [tractable.LinearRegression().fit(X[half], y[half]) for half in (slice(0, 33), slice(33, 80))]
    close(halves[0].merge(halves[1]).summary().p_values, whole.summary().p_values)
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    source = tractable.scan(tmp_path / "rows.parquet", features=["a", "b", "c"], target="y")
    streamed = tractable.LinearRegression().fit(source)
    close(streamed.summary().p_values, whole.summary().p_values)
    for kind in ROBUST:
        ours = streamed.summary(source, covariance=kind)
        close(ours.covariance, whole.robust_covariance(X, y, covariance=kind))
    close(streamed.influence(source).dffits, whole.influence(X, y).dffits)


def test_weighted_least_squares_equal_those_of_statsmodels(rows):
    X, y, clusters = rows
    v = 0.5 + np.abs(X[:, 1])
    model = tractable.LinearRegression().fit(X, y, noise_variance=v)
    peer = sm.WLS(y, sm.add_constant(X), weights=1.0 / v)
    ours, theirs = model.summary(), peer.fit()
    close(ours.p_values, theirs.pvalues)
    close([ours.r2, ours.aic, ours.bic], [theirs.rsquared, theirs.aic, theirs.bic])
    for kind in ROBUST:
        ours = model.summary(X, y, covariance=kind, noise_variance=v)
        close(ours.std_errors, peer.fit(cov_type=kind).bse)
    theirs = peer.fit(cov_type="cluster", cov_kwds={"groups": clusters})
    close(model.summary(X, y, clusters=clusters, noise_variance=v).std_errors, theirs.bse)
    with pytest.raises(ValueError, match="noise_variance must be given where it was given to fit"):
        model.robust_covariance(X, y)


def test_without_an_intercept(rows):
    X, y, _ = rows
    model = tractable.LinearRegression(fit_intercept=False).fit(X, y)
    ours, theirs = model.summary(X, y, covariance="HC2"), sm.OLS(y, X).fit(cov_type="HC2", use_t=True)
    close(ours.p_values, theirs.pvalues)
    close([ours.r2, ours.adjusted_r2], [theirs.rsquared, theirs.rsquared_adj])
    assert ours.names == ("x0", "x1", "x2")
    others = [sm.OLS(X[:, j], np.delete(X, j, axis=1)).fit() for j in range(3)]  # R² about the origin
    close(ours.inflation, [1.0 / (1.0 - each.rsquared) for each in others])


def test_several_targets_have_a_table_each(rows):
    X, y, _ = rows
    both = np.column_stack([y, y**2])
    model = tractable.LinearRegression().fit(X, both)
    for t in (0, 1):
        alone = tractable.LinearRegression().fit(X, both[:, t])
        ours = model.summary(X, both, covariance="HC3", target=t)
        close(ours.covariance, alone.robust_covariance(X, both[:, t]))
        close([ours.aic, ours.r2], [alone.summary().aic, alone.summary().r2])
    for call in (model.summary, lambda: model.influence(X, both), lambda: model.summary(target=2)):
        with pytest.raises(ValueError, match="target must be"):
            call()


@pytest.mark.parametrize("name", ["longley", "stackloss", "statecrime"])
def test_nested_models_equal_those_of_statsmodels(name):
    X, y = table(name)
    small, large = (tractable.LinearRegression().fit(part, y) for part in (X.iloc[:, :2], X))
    a, b = (sm.OLS(y, sm.add_constant(part)).fit() for part in (X.iloc[:, :2], X))
    found = tractable.compare_nested(large, small)
    close([found.f.statistic, found.f.p_value, found.f.dof[0]], b.compare_f_test(a))
    ratio = found.likelihood_ratio
    close([ratio.statistic, ratio.p_value, ratio.dof[0]], b.compare_lr_test(a))
    assert found.added == tuple(X.columns[2:])
    assert found.p_value == found.f.p_value
    assert "likelihood ratio H0:" in str(found)
    assert len(found.to_frame()) == 2


def test_models_that_are_not_nested_are_refused(rows):
    X, y, _ = rows
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])

    def fit(X, y):
        return tractable.LinearRegression().fit(X, y)

    large = fit(frame, y)
    with pytest.raises(ValueError, match="does not have d"):
        tractable.compare_nested(fit(frame[["a"]].rename(columns={"a": "d"}), y), large)
    with pytest.raises(ValueError, match="the same rows, got 79 and 80"):
        tractable.compare_nested(fit(frame[["a"]][1:], y[1:]), large)
    with pytest.raises(ValueError, match="the same targets"):
        tractable.compare_nested(fit(frame[["a"]], y**2), large)
    with pytest.raises(ValueError, match="both have 4"):
        tractable.compare_nested(large, large)
    with pytest.raises(ValueError, match="a must be a fitted model with summary"):
        tractable.compare_nested(tractable.KMeans(), large)


def test_dependent_columns_are_said_to_be_undetermined(rows):
    X, y, _ = rows
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = tractable.LinearRegression().fit(X, y)
    with pytest.warns(CollinearityWarning, match="inf"):
        found = model.summary()
    assert np.isinf(found.std_errors).tolist() == [False, True, True, False, True]
    assert np.isnan(found.p_values).tolist() == [False, True, True, False, True]
    assert "the rows do not determine x0, x1, x3" in str(found)
    peer = sm.OLS(y, sm.add_constant(X[:, :3])).fit(cov_type="HC1", use_t=True)
    robust = summary(model, X, y, covariance="HC1")
    close(robust.p_values[[0, 3]], np.asarray(peer.pvalues)[[0, 3]])
    close([found.r2, found.aic], [peer.rsquared, peer.aic])


def test_named_coefficients_are_tested_together(rows):
    X, y, _ = rows
    found = tractable.LinearRegression().fit(X, y).summary()
    theirs = sm.OLS(y, sm.add_constant(X)).fit().f_test(np.eye(4)[2:])
    ours = found.wald_test(["x1", "x2"])
    close([ours.statistic, ours.p_value], [theirs.statistic, theirs.pvalue])
    with pytest.raises(ValueError, match="'x9'"):
        found.wald_test("x9")


def test_the_table_as_frame_and_html(rows):
    X, y, _ = rows
    found = tractable.LinearRegression().fit(X, y).summary()
    frame = found.to_frame()
    assert list(frame.columns) == ["coefficient", "std_error", "t", "p_value", "low", "high", "vif"]
    assert list(frame.index) == ["intercept", "x0", "x1", "x2"]
    page = found._repr_html_()
    assert page.count("<tr>") == 5
    assert "H0: all slopes are 0: F(3, 76)" in page


def test_an_exact_fit_says_so():
    X = np.arange(6.0)[:, None]
    found = tractable.LinearRegression().fit(X, 2.0 * X[:, 0]).summary()
    assert "fitted without error" in str(found)
    assert found.std_errors.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"covariance": "HC9"}, "covariance must be one of"),
        ({"covariance": "clustered"}, "clusters must be given"),
        ({"covariance": "HC0", "clusters": [1, 2]}, "clusters are for covariance='clustered'"),
        ({"clusters": [1, 2]}, "clusters must have one entry a row"),
        ({"clusters": [1] * 80}, "clusters must be two at least"),
        ({"coverage": 1.5}, "coverage must be"),
    ],
)
def test_wrong_options_are_named(rows, options, said):
    X, y, _ = rows
    with pytest.raises(ValueError, match=said):
        tractable.LinearRegression().fit(X, y).summary(X, y, **options)


def test_robust_tables_need_the_rows(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="X must be given"):
        tractable.LinearRegression().fit(X, y).summary(covariance="HC3")


@pytest.mark.parametrize(
    "model",
    [
        tractable.LinearRegression(),
        tractable.PoissonRegression(),
        tractable.GammaRegression(),
        tractable.NegativeBinomialRegression(),
        tractable.QuantileRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize(
    ("n", "y"), [(1, [2.0]), (2, [1.0, 3.0]), (6, [1.0] * 6)], ids=["one", "two", "constant"]
)
def test_tables_of_too_few_rows_print_no_number_that_there_is_not(model, n, y):
    table = model.fit(np.arange(float(n))[:, None], np.array(y)).summary()
    assert "nan" not in str(table)
    assert "[, ]" not in str(table)
    assert table._heading().startswith(f"{type(model).__name__}: {n} row{'s' * (n > 1)},")


def test_a_constant_target_is_no_evidence_against_slopes_of_zero():
    """With nothing to explain and no noise, F is 0/0."""
    x, y = np.sin(np.arange(12.0)).reshape(6, 2), np.full(6, 3.0)
    for model in (tractable.LinearRegression(), tractable.GammaRegression()):
        assert np.isnan(model.fit(x, y).summary().f_test.p_value)
        small = type(model)().fit(x[:, :1], y)
        assert np.isnan(tractable.compare_nested(small, model).f.p_value)
