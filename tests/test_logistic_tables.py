"""Regression tables of logistic regression: equal to statsmodels on the tables that come with it."""

import importlib
import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import chi2

import tractable
from tractable.classification.logistic import SeparableClassesWarning
from tractable.regression_tables import CollinearityWarning

#: Tables, and what of their targets is a class.
TABLES = {
    "spector": lambda y: y,
    "fair": lambda y: y > 0,
    "anes96": lambda y: y > 3,
    "modechoice": lambda y: y,
    "randhie": lambda y: y > 0,
    "statecrime": lambda y: y > 7,
    "ccard": lambda y: y > 200,
}


def table(name):
    loaded = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas()
    X, y = loaded.exog, loaded.endog
    X = X.drop(columns=[c for c in X.columns if np.ptp(X[c]) == 0.0])
    return X.astype(float), y


def close(ours, theirs, rtol=1e-8):
    np.testing.assert_allclose(ours, np.asarray(theirs), rtol=rtol, atol=0.0)


@pytest.fixture(scope="module", params=TABLES)
def pair(request):
    X, y = table(request.param)
    y = TABLES[request.param](y).astype(int)
    return X, y, tractable.LogisticRegression(C=np.inf).fit(X, y), sm.Logit(y, sm.add_constant(X))


def fitted(peer, **options):
    return peer.fit(disp=0, method="newton", maxiter=100, tol=1e-12, **options)


def test_tables_equal_those_of_statsmodels(pair):
    _, _, model, peer = pair
    ours, theirs = model.summary(), fitted(peer)
    close(ours.coefficients, theirs.params)
    close(ours.std_errors, theirs.bse)
    close(ours.test_values, theirs.tvalues)
    close(ours.p_values, theirs.pvalues)
    close(ours.intervals, theirs.conf_int())
    close([ours.aic, ours.bic, ours.log_likelihood], [theirs.aic, theirs.bic, theirs.llf])
    close([ours.pseudo_r2, ours.null_log_likelihood], [theirs.prsquared, theirs.llnull])
    ratio = ours.likelihood_ratio_test
    close([ratio.statistic, ratio.dof[0]], [theirs.llr, theirs.df_model])
    close(ratio.p_value, chi2.sf(ratio.statistic, ratio.dof[0]), rtol=1e-12)
    assert "likelihood ratio H0: all slopes are 0" in str(ours)


def test_robust_and_clustered_covariances_equal_those_of_statsmodels(pair):
    X, y, model, peer = pair
    clusters = np.arange(len(y)) % 11
    close(model.summary(X, y, covariance="HC0").p_values, fitted(peer, cov_type="HC0").pvalues)
    theirs = fitted(peer, cov_type="cluster", cov_kwds={"groups": clusters})
    close(model.summary(X, y, clusters=clusters).std_errors, theirs.bse)
    n, p = len(X), X.shape[1] + 1
    close(model.robust_covariance(X, y, covariance="HC1"), model.robust_covariance(X, y) * n / (n - p))


@pytest.mark.parametrize("kind", ["HC2", "HC3"])
def test_leverages_correct_robust_covariances(kind):
    """By the definition, for R's vcovHC of a glm: statsmodels has HC0 for all of them."""
    X, y = table("spector")
    model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    Z = sm.add_constant(X).to_numpy()
    p = model.predict_proba(X)[:, 1]
    bread = np.linalg.inv((Z * (p * (1.0 - p))[:, None]).T @ Z)
    h = p * (1.0 - p) * np.einsum("ij,jk,ik->i", Z, bread, Z)
    meat = (Z * ((y - p) ** 2 / (1.0 - h) ** (1 if kind == "HC2" else 2)).to_numpy()[:, None]).T @ Z
    close(model.robust_covariance(X, y, covariance=kind), bread @ meat @ bread)
    several = tractable.LogisticRegression(C=np.inf).fit(X, np.arange(len(y)) % 3)
    with pytest.raises(ValueError, match="two classes"):
        several.robust_covariance(X, np.arange(len(y)) % 3, covariance=kind)


def test_variance_inflation_is_of_weighted_regressions(pair):
    X, _, model, _ = pair
    if len(X) > 2000:
        return
    design = sm.add_constant(X)
    p = model.predict_proba(X)[:, 1]
    r2 = [
        sm.WLS(X.iloc[:, j], design.drop(columns=X.columns[j]), weights=p * (1 - p)).fit().rsquared
        for j in range(X.shape[1])
    ]
    ours = model.summary()
    close(ours.inflation[1:], 1.0 / (1.0 - np.array(r2)))
    weighted = np.sqrt(p * (1 - p))[:, None] * design.to_numpy()
    close(ours.condition_number, np.linalg.cond(weighted), rtol=1e-6)


def test_variance_inflation_of_several_classes():
    X, y = table("anes96")
    X, y = X[["logpopul", "age", "educ"]], np.minimum(y.astype(int), 2)
    model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    fits = [sm.WLS(X[c], sm.add_constant(X.drop(columns=c)), weights=p * (1 - p)).fit() for c in X.columns]
    want = [1.0 / (1.0 - each.rsquared) for each in fits]
    close(model.summary().inflation.reshape(3, 4)[1, 1:], want)
    close(model.summary(reference=0).inflation.reshape(2, 4)[0, 1:], want)


def test_influence_equals_that_of_statsmodels(pair):
    X, y, model, _ = pair
    if len(X) > 2000:
        X, y = X.iloc[::10], y.iloc[::10]
        model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    peer = sm.GLM(y, sm.add_constant(X), sm.families.Binomial()).fit(tol=1e-12)
    ours, theirs = model.influence(X, y), peer.get_influence()
    close(ours.leverage, theirs.hat_matrix_diag)
    close(ours.studentized, theirs.resid_studentized)
    close(ours.cooks_distance, theirs.cooks_distance[0])


def test_several_classes_equal_those_of_statsmodels():
    X, y = table("anes96")
    X = X[["logpopul", "selfLR", "age", "educ"]]
    y = np.array(["d", "i", "i", "i", "i", "i", "r"])[y.astype(int)]
    model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    peer = sm.MNLogit(np.unique(y, return_inverse=True)[1], sm.add_constant(X))
    ours, theirs = model.summary(reference="d"), peer.fit(disp=0, method="newton", tol=1e-12)
    close(ours.coefficients, theirs.params.T.to_numpy().ravel())
    close(ours.p_values, theirs.pvalues.T.to_numpy().ravel())
    close([ours.aic, ours.bic, ours.pseudo_r2], [theirs.aic, theirs.bic, theirs.prsquared])
    assert ours.likelihood_ratio_test.dof == (theirs.df_model,)
    assert ours.names[:2] == ("i: intercept", "i: logpopul")
    robust = model.summary(X, y, covariance="HC0", reference="d")
    theirs = peer.fit(disp=0, method="newton", tol=1e-12, cov_type="HC0")
    close(robust.std_errors, theirs.bse.T.to_numpy().ravel())
    each = model.summary()
    close(each.coefficients.reshape(3, 5)[:, 1:], model.coef_)
    # A column in all classes together: whatever the coding of the classes.
    close(each.wald_test("age").statistic, ours.wald_test("age").statistic)
    assert each.wald_test("age").dof == (2.0,)
    with pytest.raises(ValueError, match="reference must be one of the classes"):
        model.summary(reference="x")


def test_probit_equals_that_of_statsmodels():
    X, y = table("spector")
    ours = tractable.LogisticRegression(C=np.inf, link="probit").fit(X, y)
    peer = sm.Probit(y, sm.add_constant(X))
    close(ours.summary().p_values, fitted(peer).pvalues)
    close(ours.summary(X, y, covariance="HC0").p_values, fitted(peer, cov_type="HC0").pvalues)
    with pytest.raises(ValueError, match="link='logit'"):
        ours.influence(X, y)


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((120, 3)) + np.array([50.0, 0.0, 0.0])
    y = (X @ np.array([0.5, -1.0, 0.0]) - 25.0 + rng.logistic(size=120) > 0).astype(int)
    return X, y, rng.integers(0, 8, 120)


@pytest.mark.parametrize("options", [{}, {"covariance": "HC0"}, {"covariance": "HC1"}, {"clusters": True}])
def test_weights_are_repetitions(rows, options):
    X, y, clusters = rows
    times = 1 + np.arange(120) % 3
    again = np.repeat(np.arange(120), times)
    found = []
    for which, weights in ((np.arange(120), times), (again, None)):
        model = tractable.LogisticRegression(C=np.inf).fit(X[which], y[which], sample_weight=weights)
        given = {"clusters": clusters[which]} if "clusters" in options else options
        found.append(model.summary(X[which], y[which], weights, **given) if given else model.summary())
    a, b = found
    close(a.p_values, b.p_values, rtol=1e-7)
    close(a.covariance, b.covariance, rtol=1e-7)
    close([a.aic, a.bic, a.pseudo_r2], [b.aic, b.bic, b.pseudo_r2])


def test_streams_have_the_same_table(rows, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y, _ = rows
    whole = tractable.LogisticRegression(C=np.inf).fit(X, y)
    pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    source = tractable.scan(tmp_path / "rows.parquet", features=["a", "b", "c"], target="y")
    streamed = tractable.LogisticRegression(C=np.inf).fit(source)
    close(streamed.summary().p_values, whole.summary().p_values)
    close(streamed.summary(source, covariance="HC0").p_values, whole.summary(X, y, covariance="HC0").p_values)
    close(streamed.influence(source).cooks_distance, whole.influence(X, y).cooks_distance)


def test_nested_models_are_compared_by_the_likelihood_ratio(rows):
    X, y, _ = rows
    small, large = (tractable.LogisticRegression(C=np.inf).fit(X[:, :k], y) for k in (1, 3))
    a, b = (fitted(sm.Logit(y, sm.add_constant(X[:, :k]))) for k in (1, 3))
    found = tractable.compare_nested(small, large)
    assert found.f is None
    close(found.likelihood_ratio.statistic, 2.0 * (b.llf - a.llf))
    assert found.likelihood_ratio.dof == (2.0,)
    assert found.p_value == found.likelihood_ratio.p_value


def test_a_penalty_has_a_posterior_and_no_tests(rows):
    X, y, _ = rows
    model = tractable.LogisticRegression(C=2.0).fit(X, y)
    found = model.summary()
    close(found.intervals[1:], model.coef_interval()[0])
    assert found.covariance_type == "posterior"
    assert "p_value" not in found.to_frame()
    for call in (lambda: found.p_values, lambda: found.aic, lambda: found.wald_test("x0")):
        with pytest.raises(ValueError, match=r"no tests|no AIC"):
            call()
    with pytest.raises(ValueError, match="maximum likelihood"):
        model.robust_covariance(X, y)
    with pytest.raises(ValueError, match="maximum likelihood"):
        tractable.compare_nested(model, tractable.LogisticRegression(C=2.0).fit(X[:, :1], y))


def test_class_weights_have_the_sandwich_and_no_likelihood(rows):
    X, y, _ = rows
    model = tractable.LogisticRegression(C=np.inf, class_weight={0: 1.0, 1: 4.0}).fit(X, y)
    found = model.summary()
    close(found.std_errors[1:], model.coef_std_errors_[0])
    assert found.log_likelihood is None
    assert "class weights" in str(found)


def test_separable_classes_have_no_table():
    X, y = np.arange(12.0)[:, None], np.arange(12) > 5
    with pytest.warns(SeparableClassesWarning):
        model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    for call in (model.summary, lambda: model.influence(X, y), lambda: model.robust_covariance(X, y)):
        with pytest.raises(ValueError, match="hyperplanes separate"):
            call()


def test_dependent_columns_are_said_to_be_undetermined(rows):
    X, y, _ = rows
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.ones(120)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tractable.LogisticRegression(C=np.inf).fit(X, y)
    with pytest.warns(CollinearityWarning, match="inflation up to inf"):
        found = model.summary()
    alone = tractable.LogisticRegression(C=np.inf).fit(X[:, :3], y).summary()
    assert np.isinf(found.std_errors).tolist() == [False, True, True, False, True, True]
    close(found.p_values[[0, 3]], alone.p_values[[0, 3]], rtol=1e-6)
    close([found.aic, found.n_parameters], [alone.aic, 4.0])
    assert "the rows do not determine x0, x1, x3, x4" in str(found)
    with pytest.raises(ValueError, match="linearly dependent columns, x0, x1, x3"):
        model.robust_covariance(X, y)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"covariance": "HC9"}, "covariance must be one of"),
        ({"covariance": "clustered"}, "clusters must be given"),
        ({"covariance": "HC0", "X": None}, "X must be given"),
        ({"covariance": "HC0", "X": np.ones((120, 2))}, "the rows of the fit: 3 columns"),
        ({"reference": 1}, "reference must be 0"),
    ],
)
def test_wrong_options_are_named(rows, options, said):
    X, y, _ = rows
    with pytest.raises(ValueError, match=said):
        tractable.LogisticRegression(C=np.inf).fit(X, y).summary(**{"X": X, "y": y, **options})
