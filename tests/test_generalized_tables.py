"""Regression tables of generalised linear models: equal to statsmodels on the tables that come with it."""

import importlib
import warnings

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import chi2, f

import tractable
from tractable.regression_tables import CollinearityWarning

POISSON, LOG, INVERSE = (
    sm.families.Poisson(),
    sm.families.Gamma(sm.families.links.Log()),
    sm.families.Gamma(sm.families.links.InversePower()),
)
#: A model, a table, and statsmodels' family.
CASES = {
    "poisson-fair": (tractable.PoissonRegression(), "fair", POISSON),
    "poisson-cpunish": (tractable.PoissonRegression(), "cpunish", POISSON),
    "negative-binomial-fair": (
        tractable.NegativeBinomialRegression(dispersion=2.0),
        "fair",
        sm.families.NegativeBinomial(alpha=2.0),
    ),
    "gamma-scotland": (tractable.GammaRegression(), "scotland", LOG),
    "gamma-inverse-scotland": (tractable.GammaRegression(link="inverse"), "scotland", INVERSE),
}


def table(name):
    loaded = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas()
    X, y = loaded.exog.astype(float), np.ceil(loaded.endog) if name == "fair" else loaded.endog
    X = X.drop(columns=[c for c in X.columns if np.ptp(X[c]) == 0.0])
    return (X.iloc[:1500], y.iloc[:1500]) if len(X) > 1500 else (X, y)


def close(ours, theirs, rtol=1e-8):
    np.testing.assert_allclose(ours, np.asarray(theirs), rtol=rtol, atol=0.0)


def summary(model, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollinearityWarning)
        return model.summary(*args, **options)


@pytest.fixture(scope="module", params=CASES)
def case(request):
    model, name, family = CASES[request.param]
    X, y = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the inverse link
        peer = sm.GLM(y, sm.add_constant(X), family=family)

    def fitted(**options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # The deviance is flat at its minimum: coefficients tell to more digits where to end.
            return peer.fit(tol=1e-13, tol_criterion="params", maxiter=200, **options)

    return X, y, model.fit(X, y), fitted


def test_tables_equal_those_of_statsmodels(case):
    _, _, model, fitted = case
    ours, theirs = summary(model), fitted(use_t=model.dispersion_ < 1.0 and not hasattr(model, "dispersion"))
    close(ours.coefficients, theirs.params)
    close(ours.std_errors, theirs.bse)
    close(ours.test_values, theirs.tvalues)
    close(ours.p_values, theirs.pvalues, rtol=1e-7)
    close(ours.intervals, theirs.conf_int(), rtol=1e-7)
    close([ours.log_likelihood, ours.aic, ours.bic], [theirs.llf, theirs.aic, theirs.bic_llf])
    close([ours.deviance, ours.null_deviance], [theirs.deviance, theirs.null_deviance])


def test_robust_covariances_equal_those_of_statsmodels(case):
    X, y, model, fitted = case
    clusters = np.arange(len(y)) % 7
    close(model.robust_covariance(X, y), fitted(cov_type="HC0").cov_params(), rtol=1e-6)
    close(summary(model, X, y, covariance="HC0").std_errors, fitted(cov_type="HC0").bse)
    theirs = fitted(cov_type="cluster", cov_kwds={"groups": clusters})
    found = summary(model, X, y, clusters=clusters)
    close(found.std_errors, theirs.bse)
    assert found.covariance_type == "clustered"
    n, p = len(X), X.shape[1] + 1
    close(model.robust_covariance(X, y, covariance="HC1"), model.robust_covariance(X, y) * n / (n - p))


def test_influence_equals_that_of_statsmodels(case):
    X, y, model, fitted = case
    ours, theirs = model.influence(X, y), fitted().get_influence()
    close(ours.leverage, theirs.hat_matrix_diag)
    # A residual near zero has the error of its mean.
    np.testing.assert_allclose(ours.studentized, theirs.resid_studentized, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.cooks_distance, theirs.cooks_distance[0], rtol=1e-7, atol=1e-12)


def test_variance_inflation_is_of_weighted_regressions(case):
    X, _, model, _ = case
    mean = model.predict(X)
    weights = {
        "PoissonRegression": mean,
        "NegativeBinomialRegression": mean / (1.0 + 2.0 * mean),
        "GammaRegression": np.ones_like(mean) if getattr(model, "link", "log") == "log" else mean**2,
    }[type(model).__name__]
    design = sm.add_constant(X)
    r2 = [
        sm.WLS(X.iloc[:, j], design.drop(columns=X.columns[j]), weights=weights).fit().rsquared
        for j in range(X.shape[1])
    ]
    ours = summary(model)
    close(ours.inflation[1:], 1.0 / (1.0 - np.array(r2)))
    weighted = np.sqrt(np.asarray(weights))[:, None] * design.to_numpy()
    close(ours.condition_number, np.linalg.cond(weighted), rtol=1e-5)


def test_leverages_of_hc2_and_hc3(case):
    X, y, model, _ = case
    h = model.influence(X, y).leverage
    Z = sm.add_constant(X).to_numpy()
    family = CASES[next(k for k, v in CASES.items() if v[0] is model)][2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the inverse link
        theirs = sm.GLM(y, Z, family=family)
    slope = theirs.score_factor(summary(model).coefficients, scale=1.0)
    bread = np.linalg.inv(-theirs.hessian(summary(model).coefficients, scale=1.0))
    for kind, power in (("HC2", 1), ("HC3", 2)):
        meat = (Z * (slope**2 / (1.0 - h) ** power)[:, None]).T @ Z
        close(model.robust_covariance(X, y, covariance=kind), bread @ meat @ bread, rtol=1e-5)


def test_likelihood_ratios_of_a_learned_dispersion():
    X, y = table("fair")
    ours = tractable.NegativeBinomialRegression().fit(X, y).summary()
    theirs = sm.NegativeBinomial(y, sm.add_constant(X)).fit(disp=0, method="newton", maxiter=200)
    close([ours.log_likelihood, ours.null_log_likelihood], [theirs.llf, theirs.llnull])
    ratio = ours.likelihood_ratio_test
    close([ratio.statistic, ours.pseudo_r2], [theirs.llr, theirs.prsquared])
    close(ratio.p_value, theirs.llr_pvalue, rtol=1e-6)  # 1e-103, with the digits of the statistic
    close(ours.p_values, theirs.pvalues[:-1], rtol=1e-6)  # z, as statsmodels and R have it
    assert ratio.dof == (X.shape[1],)
    robust = sm.NegativeBinomial(y, sm.add_constant(X)).fit(
        disp=0, method="newton", maxiter=200, cov_type="HC0"
    )
    close(
        tractable.NegativeBinomialRegression().fit(X, y).summary(X, y, covariance="HC0").std_errors,
        robust.bse[:-1],
        rtol=1e-7,
    )
    small = tractable.NegativeBinomialRegression().fit(X.iloc[:, :4], y)
    found = tractable.compare_nested(small, ours).likelihood_ratio
    theirs_small = sm.NegativeBinomial(y, sm.add_constant(X.iloc[:, :4])).fit(disp=0, method="newton")
    close(found.statistic, 2.0 * (theirs.llf - theirs_small.llf), rtol=1e-6)


def test_a_dispersion_that_is_estimated_is_tested_by_f():
    X, y = table("scotland")
    small, large = (tractable.GammaRegression().fit(part, y) for part in (X.iloc[:, :4], X))
    a, b = (sm.GLM(y, sm.add_constant(part), family=LOG).fit(tol=1e-14) for part in (X.iloc[:, :4], X))
    found, k = tractable.compare_nested(small, large), X.shape[1] - 4
    explained = (a.deviance - b.deviance) / b.scale
    close([found.f.statistic, found.f.p_value], [explained / k, f.sf(explained / k, k, b.df_resid)])
    close(
        [found.likelihood_ratio.statistic, found.likelihood_ratio.p_value],
        [explained, chi2.sf(explained, k)],
    )
    ours = summary(large)
    close(ours.f_test.statistic, (b.null_deviance - b.deviance) / b.scale / b.df_model)
    close(ours.explained_deviance, 1.0 - b.deviance / b.null_deviance)
    assert str(ours.f_test) in str(ours)


def test_without_an_intercept_there_is_no_null_model():
    X, y = table("cpunish")
    found = summary(tractable.PoissonRegression(fit_intercept=False).fit(X / X.std(), y))
    assert found.null_log_likelihood is None
    assert found.null_deviance is None
    assert "likelihood ratio" not in str(found)
    with pytest.raises(ValueError, match="no deviance"):
        found.explained_deviance  # noqa: B018


def test_nearly_dependent_columns_are_warned_of():
    X, y = table("scotland")
    with pytest.warns(CollinearityWarning, match="COUTAX"):
        found = tractable.GammaRegression(link="inverse").fit(X, y).summary()
    assert "variance inflation up to 107, condition number" in str(found)
    penalised = tractable.GammaRegression(alpha=1.0).fit(X, y).summary()  # a prior tells them apart
    assert penalised.covariance_type == "posterior"


def test_exposures_files_weights_and_column_names_have_the_same_robust_table(rng, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rng.standard_normal((120, 2)), columns=["a", "b"])
    frame["years"], frame["town"] = rng.uniform(0.5, 2.0, 120), rng.integers(0, 9, 120)
    frame["claims"] = rng.poisson(frame["years"] * np.exp(0.3 * frame["a"]) * rng.gamma(2.0, 0.5, 120))
    X, y, e = frame[["a", "b"]], frame["claims"], frame["years"]
    model = tractable.PoissonRegression().fit(X, y, exposure=e)
    want = model.robust_covariance(X, y, exposure=e, covariance="HC3")
    frame.to_parquet(tmp_path / "claims.parquet")
    source = tractable.scan(tmp_path / "claims.parquet", features=["a", "b"], target=["claims", "years"])
    close(model.robust_covariance(source, covariance="HC3"), want)
    named = frame[["a", "b", "years", "town"]]
    close(
        model.robust_covariance(named, y, exposure="years", clusters="town"),
        model.robust_covariance(X, y, exposure=e, clusters=frame["town"]),
    )
    w = np.arange(120) % 3
    again = np.repeat(np.arange(120), w)
    weighted = tractable.PoissonRegression().fit(X, y, w, exposure=e)
    repeated = tractable.PoissonRegression().fit(X.iloc[again], y.iloc[again], exposure=e.iloc[again])
    for kind in ("HC0", "HC1", "HC2", "HC3"):
        close(
            weighted.robust_covariance(X, y, w, exposure=e, covariance=kind),
            repeated.robust_covariance(X.iloc[again], y.iloc[again], exposure=e.iloc[again], covariance=kind),
            rtol=1e-7,
        )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"covariance": "HC9"}, "covariance must be one of"),
        ({"covariance": "clustered"}, "clusters must be given"),
        ({"clusters": [1, 2]}, "clusters must have one entry a row"),
        ({"covariance": "HC0", "X": None}, "X must be given"),
        ({"covariance": "HC0", "X": np.ones((60, 1))}, "of 2 columns"),
        ({"covariance": "HC0", "alpha": 1.0}, "maximum likelihood"),
    ],
)
def test_wrong_options_are_named(options, said, rng):
    X, y = rng.standard_normal((60, 2)), rng.poisson(3.0, 60)
    options = dict(options)
    model = tractable.PoissonRegression(alpha=options.pop("alpha", 0.0)).fit(X, y)
    rows = options.pop("X", X)
    with pytest.raises(ValueError, match=said):
        model.summary(rows, y, **options)


def test_without_rows_to_spare_there_is_no_dispersion_to_measure_influence_by(rng):
    X, y = rng.standard_normal((4, 3)), np.array([1.0, 2.0, 3.0, 5.0])
    with pytest.raises(ValueError, match="too few rows"):
        tractable.GammaRegression().fit(X, y).influence(X, y)
    X = rng.standard_normal((20, 3))
    with pytest.raises(ValueError, match="fitted without error"):
        tractable.GammaRegression().fit(X, np.exp(X[:, 0])).influence(X, np.exp(X[:, 0]))
