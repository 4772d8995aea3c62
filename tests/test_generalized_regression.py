"""Poisson, gamma and negative binomial regression: statsmodels' results, exposures, streams, bad input."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import gamma, nbinom, poisson

import tractable
from tractable import GammaRegression, NegativeBinomialRegression, PoissonRegression
from tractable.linear_model import SeparableCountsWarning

LOG, INVERSE = sm.families.links.Log(), sm.families.links.InversePower()


@pytest.fixture(scope="module")
def visits():
    """Visits to doctors, of the RAND health insurance experiment."""
    table = sm.datasets.randhie.load_pandas()
    return table.exog.to_numpy(float)[:4000], table.endog.to_numpy(float)[:4000]


@pytest.fixture(scope="module")
def scotland():
    table = sm.datasets.scotland.load_pandas()
    return table.exog.to_numpy(float), table.endog.to_numpy(float)


def peer(X, y, family, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sm.GLM(y, sm.add_constant(X), family=family, **options).fit(tol=1e-14, maxiter=200)


def assert_equal_to_peer(model, found, *, rtol=1e-8):
    """Coefficients, standard errors, likelihood, criteria and deviances are statsmodels'."""
    d = len(model.coef_)
    pairs = {
        "parameters": (np.append(model.intercept_, model.coef_), found.params[: d + 1]),
        "errors": (np.append(model.intercept_std_error_, model.coef_std_errors_), found.bse[: d + 1]),
        "covariance": (model.parameter_covariance_, found.cov_params()[: d + 1, : d + 1]),
        "likelihood": (model.log_likelihood_, found.llf),
        "aic": (model.aic_, found.aic),
        "bic": (model.bic_, found.bic_llf if hasattr(found, "bic_llf") else found.bic),
        "z": (model.z_values_, found.tvalues[1 : d + 1]),
    }
    if hasattr(found, "null_deviance"):
        pairs["deviance"] = (model.deviance_, found.deviance)
        pairs["null"] = (model.null_deviance_, found.null_deviance)
        pairs["pearson"] = (model.pearson_chi2_, found.pearson_chi2)
        pairs["dof"] = (model.residual_dof_, found.df_resid)
    for name, (ours, theirs) in pairs.items():
        scale = np.max(np.abs(theirs))
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol * 1e-3 * scale, err_msg=name)


class TestAgainstStatsmodels:
    def test_poisson(self, visits):
        X, y = visits
        model = PoissonRegression().fit(X, y)
        found = peer(X, y, sm.families.Poisson())
        assert_equal_to_peer(model, found)
        np.testing.assert_allclose(model.p_values_, found.pvalues[1:], rtol=1e-6)
        np.testing.assert_allclose(model.coef_interval(), found.conf_int()[1:], rtol=1e-8)
        np.testing.assert_allclose(model.predict(X[:5]), found.predict(sm.add_constant(X))[:5], rtol=1e-10)

    def test_poisson_with_exposures_and_weights(self, visits, rng):
        X, y = visits
        e, w = rng.uniform(0.5, 2.0, len(y)), rng.integers(1, 4, len(y)).astype(float)
        model = PoissonRegression().fit(X, y, w, exposure=e)
        assert_equal_to_peer(model, peer(X, y, sm.families.Poisson(), exposure=e, freq_weights=w))

    def test_the_test_of_overdispersion(self, visits):
        from statsmodels.discrete._diagnostics_count import test_poisson_dispersion as peer_test

        X, y = visits
        found = PoissonRegression().fit(X, y).overdispersion_test()
        theirs = peer_test(sm.Poisson(y, sm.add_constant(X)).fit(disp=0)).summary_frame()
        np.testing.assert_allclose(found.statistic, theirs["statistic"][1], rtol=1e-6)  # Dean's B

    def test_negative_binomial_with_its_dispersion(self, visits):
        X, y = visits
        model = NegativeBinomialRegression().fit(X, y)
        found = sm.NegativeBinomial(y, sm.add_constant(X)).fit(disp=0, maxiter=500, method="newton")
        assert_equal_to_peer(model, found)
        np.testing.assert_allclose(model.dispersion_, found.params[-1], rtol=1e-8)
        np.testing.assert_allclose(model.dispersion_std_error_, found.bse[-1], rtol=1e-8)

    def test_negative_binomial_of_a_given_dispersion(self, visits, rng):
        X, y = visits
        e = rng.uniform(0.5, 2.0, len(y))
        model = NegativeBinomialRegression(dispersion=0.7, tol=1e-14).fit(X, y, exposure=e)
        assert_equal_to_peer(model, peer(X, y, sm.families.NegativeBinomial(alpha=0.7), exposure=e))

    @pytest.mark.parametrize(("link", "theirs"), [("log", LOG), ("inverse", INVERSE)])
    def test_gamma(self, scotland, link, theirs):
        X, y = scotland
        model = GammaRegression(link=link).fit(X, y)
        found = peer(X, y, sm.families.Gamma(theirs))
        assert_equal_to_peer(model, found)
        np.testing.assert_allclose(model.dispersion_, found.scale, rtol=1e-8)

    def test_a_penalty_is_scikit_learns(self, visits):
        from sklearn.linear_model import PoissonRegressor

        X, y = visits
        theirs = PoissonRegressor(alpha=0.3, solver="newton-cholesky", tol=1e-12).fit(X, y)
        model = PoissonRegression(alpha=0.3).fit(X, y)
        np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8)
        np.testing.assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-8)


class TestExposures:
    def test_a_column_of_a_frame_a_file_and_two_columns_are_the_same(self, rng, tmp_path):
        age, years = rng.uniform(18, 80, 300), rng.uniform(0.5, 2.0, 300)
        claims = rng.poisson(years * np.exp(1.0 - 0.02 * age)).astype(float)
        frame = pd.DataFrame({"age": age, "years": years, "claims": claims})
        want = PoissonRegression().fit(frame[["age"]], claims, exposure=years)
        frame.to_parquet(tmp_path / "claims.parquet")
        source = tractable.scan(tmp_path / "claims.parquet", features=["age"], target=["claims", "years"])
        found = [
            PoissonRegression().fit(frame, "claims", exposure="years"),
            PoissonRegression().fit(frame[["age", "years"]], claims, exposure="years"),
            PoissonRegression().fit(age[:, None], np.column_stack([claims, years])),
            PoissonRegression().fit(source),
        ]
        for model in found:
            np.testing.assert_allclose(model.coef_, want.coef_, rtol=1e-10)
            assert model.n_features_in_ == 1
        each = want.predict(frame[["age", "years"]], exposure="years")
        np.testing.assert_allclose(each, years * want.predict(frame[["age"]]))
        assert want.predict_interval(frame[["age"]], exposure=years).shape == (300, 2)

    def test_an_exposure_of_amounts_multiplies_them(self, rng):
        X, e = rng.standard_normal((200, 2)), rng.uniform(0.5, 2.0, 200)
        y = e * np.exp(X @ [0.3, -0.2]) * rng.gamma(4.0, 0.25, 200)
        one, other = GammaRegression().fit(X, y, exposure=e), GammaRegression().fit(X, y / e)
        np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
        np.testing.assert_allclose(one.deviance_, other.deviance_, rtol=1e-9)


class TestDistributions:
    """With many rows the predictive distribution is the family's own."""

    def test_of_many_rows(self, rng):
        X = rng.standard_normal((20_000, 2))
        mean = np.exp(X @ [0.3, -0.5] + 1.0)
        y = rng.poisson(mean)
        count = PoissonRegression().fit(X, y)
        levels = [0.05, 0.5, 0.95]
        theirs = poisson.ppf(np.array(levels), count.predict(X[:50])[:, None])
        assert np.mean(count.predict_quantiles(X[:50], levels) == theirs) > 0.97
        varied = rng.poisson(mean * rng.gamma(2.0, 0.5, len(mean)))
        model = NegativeBinomialRegression().fit(X, varied)
        n, mu = 1.0 / model.dispersion_, model.predict(X[:50])
        theirs = nbinom.ppf(np.array(levels), n, (n / (n + mu))[:, None])
        assert np.mean(model.predict_quantiles(X[:50], levels) == theirs) > 0.97
        amount = GammaRegression().fit(X, mean * rng.gamma(4.0, 0.25, len(mean)))
        a = 1.0 / amount.dispersion_
        theirs = gamma.ppf(np.array(levels), a, scale=amount.predict(X[:50])[:, None] / a)
        np.testing.assert_allclose(amount.predict_quantiles(X[:50], levels), theirs, rtol=2e-3)

    def test_a_dispersion_of_zero_is_poisson(self, rng):
        X = rng.standard_normal((200, 1))
        y = np.round(np.exp(2.0 + 0.3 * X[:, 0]))  # varies less than Poisson's
        model, want = NegativeBinomialRegression().fit(X, y), PoissonRegression().fit(X, y)
        assert model.dispersion_ == 0.0
        np.testing.assert_allclose(model.coef_, want.coef_, rtol=1e-12)
        np.testing.assert_allclose(model.predict_interval(X[:4]), want.predict_interval(X[:4]))


class TestManyRows:
    @pytest.mark.parametrize("model", [PoissonRegression(), GammaRegression(), NegativeBinomialRegression()])
    def test_the_start_from_a_sample_changes_nothing(self, model, rng):
        """It begins the search where there are more than 10,000 rows: these are a few, repeated."""
        few = rng.standard_normal((3000, 3)) + 5.0
        counts = 1.0 + rng.poisson(np.exp(0.2 * few @ [1.0, 0.5, -0.5]) * rng.gamma(2.0, 0.5, 3000))
        want = model.fit(few, counts, np.full(3000, 4.0))
        coef, errors = want.coef_, want.coef_std_errors_
        X, y = np.tile(few, (4, 1)), np.tile(counts, 4)
        for rows in (X, [(X[:5000], y[:5000]), (X[5000:], y[5000:])]):
            found = model.fit(rows, y if rows is X else None)
            np.testing.assert_allclose(found.coef_, coef, rtol=1e-9)
            np.testing.assert_allclose(found.coef_std_errors_, errors, rtol=1e-9)


class TestBadInput:
    X = np.arange(12.0).reshape(6, 2) ** 1.5
    y = np.array([1.0, 2.0, 4.0, 3.0, 5.0, 2.0])

    @pytest.mark.parametrize("model", [PoissonRegression(), NegativeBinomialRegression(), GammaRegression()])
    @pytest.mark.parametrize(
        ("y", "match"),
        [
            (-y, "y must not be negative"),
            (0.0 * y, "y"),
            (y * np.nan, "y contains NaN"),
            (y[:-1], "y must have one entry a row"),
        ],
    )
    def test_targets(self, model, y, match):
        with pytest.raises(ValueError, match=match):
            model.fit(self.X, y)
        with pytest.raises(ValueError, match="y" if len(y) == 6 else "rows"):
            model.fit([(self.X, y)])

    @pytest.mark.parametrize("exposure", [0.0, -1.0, np.nan, [1.0, 2.0], "a", [0.0] + [1.0] * 5])
    def test_exposures(self, exposure):
        with pytest.raises(ValueError, match="exposure"):
            PoissonRegression().fit(self.X, self.y, exposure=exposure)

    def test_exposures_of_streams(self):
        both = np.column_stack([self.y, np.zeros(6)])
        with pytest.raises(ValueError, match="exposure must be positive"):
            PoissonRegression().fit([(self.X, both)])
        with pytest.raises(ValueError, match="a source brings its own"):
            PoissonRegression().fit([(self.X, self.y)], exposure=2.0)
        with pytest.raises(ValueError, match='needs link="log"'):
            GammaRegression(link="inverse").fit(self.X, self.y, exposure=2.0)

    def test_no_amount_is_zero(self):
        with pytest.raises(ValueError, match="y must be positive"):
            GammaRegression().fit(self.X, self.y - 1.0)

    @pytest.mark.parametrize(
        "model",
        [PoissonRegression(), NegativeBinomialRegression(dispersion=0.5), NegativeBinomialRegression()],
    )
    def test_separable_counts(self, model, rng):
        group = np.repeat([0.0, 1.0], 50)
        y = np.where(group == 1.0, 0.0, rng.poisson(3.0, 100))
        with pytest.warns(SeparableCountsWarning, match="has no maximum"):
            model.fit(group[:, None], y)
        assert model.separable_
        assert model.coef_[0] < -8.0
        for ask in (model.coef_interval, model.summary, lambda: model.influence(group[:, None], y)):
            with pytest.raises(ValueError, match="alpha > 0 has both"):
                ask()
        penalised = PoissonRegression(alpha=0.01).fit(group[:, None], y)
        assert not penalised.separable_
        assert np.all(np.isfinite(penalised.coef_interval()))

    def test_perfect_collinearity(self, rng):
        x, other = rng.standard_normal((200, 1)), rng.standard_normal((200, 1))
        y = rng.poisson(np.exp(0.5 * x[:, 0] + 1.0))
        model = PoissonRegression().fit(np.hstack([x, 2.0 * x, other]), y)
        want = PoissonRegression().fit(np.hstack([x, other]), y)
        assert np.isinf(model.coef_std_errors_).tolist() == [True, True, False]
        np.testing.assert_allclose(model.coef_std_errors_[2], want.coef_std_errors_[1], rtol=1e-8)
        both, rows = np.hstack([x, 2.0 * x, other])[:5], np.hstack([x, other])[:5]
        np.testing.assert_allclose(model.predict(both), want.predict(rows), rtol=1e-8)
        np.testing.assert_allclose(model.predict_var(both), want.predict_var(rows), rtol=1e-6)
        assert model.residual_dof_ == pytest.approx(197.0)
        with pytest.raises(ValueError, match="is not determined"):
            model.predict_interval([[1.0, 0.0, 0.0]])

    def test_a_constant_column(self, rng):
        X = np.column_stack([rng.standard_normal(100), np.full(100, 3.0)])
        y = rng.poisson(np.exp(X[:, 0]))
        model = PoissonRegression().fit(X, y)
        assert np.isinf(model.coef_std_errors_[1])
        assert model.coef_[1] == 0.0
        assert np.all(np.isfinite(model.predict_interval(X)))
        with pytest.raises(ValueError, match="is not determined"):
            model.predict_interval([[0.0, 4.0]])


class TestSummary:
    def test_the_table_is_the_models(self, visits):
        X, y = visits
        table = PoissonRegression().fit(X, y).summary(coverage=0.9)
        found = peer(X, y, sm.families.Poisson())
        np.testing.assert_allclose(table.p_values, found.pvalues, rtol=1e-6)
        np.testing.assert_allclose(table.intervals, found.conf_int(alpha=0.1), rtol=1e-7)
        np.testing.assert_allclose(table.null_log_likelihood, found.llnull, rtol=1e-10)
        assert "use NegativeBinomialRegression" in str(table)
        assert "Pearson" in table._repr_html_()

    def test_a_penalty_has_no_tests(self, visits):
        table = PoissonRegression(alpha=0.1).fit(*visits).summary()
        assert table.covariance_type == "posterior"
        with pytest.raises(ValueError, match="no tests"):
            _ = table.p_values
