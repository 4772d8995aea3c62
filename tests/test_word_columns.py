"""Word columns in linear models: reference and sum coding, and formulas."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import statsmodels.formula.api as smf
from sklearn.pipeline import make_pipeline

import tractable


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "island": rng.choice(["Torgersen", "Biscoe", "Dream"], n),
            "size": rng.uniform(1.0, 5.0, n),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    mass = 3.0 + 2.0 * np.log(frame["size"]) + 1.5 * (frame.island == "Dream") - 0.7 * (frame.sex == "m")
    frame["mass"] = np.asarray(mass + 0.3 * rng.standard_normal(n))
    return frame


@pytest.mark.parametrize(("coding", "mark"), [("reference", ""), ("sum", ", Sum")])
def test_tables_of_coded_words_equal_those_of_statsmodels(rows, coding, mark):
    X, y = rows[["island", "size", "sex"]], rows["mass"]
    model = make_pipeline(tractable.ContrastCoding(coding), tractable.LinearRegression()).fit(X, y)
    theirs = smf.ols(f"mass ~ C(island{mark}) + size + C(sex{mark})", rows).fit()
    ours = model[-1].summary()
    name = {"reference": "C(island)[T.{}]", "sum": "C(island, Sum)[S.{}]"}[coding]
    for island in ("Dream",):
        expected = theirs.params[name.format(island)], theirs.pvalues[name.format(island)]
        i = ours.names.index(f"island[{island}]")
        np.testing.assert_allclose([ours.coefficients[i], ours.p_values[i]], expected, rtol=1e-8)
    np.testing.assert_allclose([ours.r2, ours.aic], [theirs.rsquared, theirs.aic], rtol=1e-10)
    np.testing.assert_allclose(model.predict(X), theirs.fittedvalues, rtol=1e-10)
    # The whole column at once, whatever the coding.
    whole = tractable.compare_nested(
        model[-1],
        make_pipeline(tractable.ContrastCoding(coding), tractable.LinearRegression()).fit(
            X[["size", "sex"]], y
        )[-1],
    )
    test = ours.wald_test("island")
    assert test.dof == (2.0, 55.0)
    np.testing.assert_allclose(
        [test.statistic, test.p_value], [whole.f.statistic, whole.f.p_value], rtol=1e-8
    )


def test_names_order_and_references(rows):
    X = rows[["island", "size"]]
    names = tractable.ContrastCoding().fit(X).get_feature_names_out()
    assert names.tolist() == ["island[Dream]", "island[Torgersen]", "size"]
    names = tractable.ContrastCoding("sum").fit(X).get_feature_names_out()
    assert names.tolist() == ["island[Biscoe]", "island[Dream]", "size"]
    chosen = tractable.ContrastCoding(reference={"island": "Dream"}).fit(X)
    assert chosen.get_feature_names_out().tolist() == ["island[Biscoe]", "island[Torgersen]", "size"]
    ordered = X.assign(island=pd.Categorical(X.island, ["Dream", "Torgersen", "Biscoe", "none"]))
    found = tractable.ContrastCoding().fit(ordered)
    assert found.get_feature_names_out().tolist() == ["island[Torgersen]", "island[Biscoe]", "size"]


def test_codes_of_each_coding(rows):
    X = rows[["island"]]
    reference = tractable.ContrastCoding().fit_transform(X)
    assert set(reference.sum(axis=1)) == {0.0, 1.0}
    sums = tractable.ContrastCoding("sum").fit_transform(X)
    assert sums[X.island == "Torgersen"].to_numpy().tolist() == [[-1.0, -1.0]] * int(
        (X.island == "Torgersen").sum()
    )


def test_frames_of_polars_are_taken(rows):
    X = rows[["island", "size"]]
    coding = tractable.ContrastCoding().fit(X)
    np.testing.assert_array_equal(coding.transform(pl.from_pandas(X)), coding.transform(X))


def test_words_that_cannot_be_coded_are_named(rows):
    X = rows[["island", "size"]]
    coding = tractable.ContrastCoding().fit(X)
    with pytest.raises(ValueError, match="'Crozet' in the column 'island'"):
        coding.transform(X.assign(island="Crozet"))
    with pytest.raises(ValueError, match="words in the column 'size'"):
        coding.transform(X.assign(size="big"))
    with pytest.raises(ValueError, match="X must be a frame with the columns"):
        coding.transform(np.ones((2, 2)))
    with pytest.raises(ValueError, match="missing entries in the column 'island'"):
        tractable.ContrastCoding().fit(X.assign(island=X.island.where(X.index > 3)))
    with pytest.raises(ValueError, match="reference must be one of"):
        tractable.ContrastCoding(reference={"island": "Crozet"}).fit(X)
    with pytest.raises(ValueError, match="'colour', which X has no words in"):
        tractable.ContrastCoding(reference={"colour": "red"}).fit(X)
    with pytest.raises(ValueError, match="coding must be one of"):
        tractable.ContrastCoding("helmert").fit(X)


@pytest.mark.parametrize(
    "formula",
    [
        "mass ~ np.log(size) + island",
        "mass ~ size * sex",
        "np.log(mass) ~ size + C(island)",
        "mass ~ size - 1",
    ],
)
def test_formulas_equal_those_of_statsmodels(rows, formula):
    theirs = smf.ols(formula, rows.assign(mass=rows.mass + 9.0)).fit()
    ours = tractable.fit_formula(formula.replace("np.", ""), rows.assign(mass=rows.mass + 9.0))
    table = ours.summary()
    np.testing.assert_allclose(np.sort(table.coefficients), np.sort(theirs.params), rtol=1e-8)
    np.testing.assert_allclose(np.sort(table.p_values), np.sort(theirs.pvalues), rtol=1e-8)
    np.testing.assert_allclose([table.r2, table.aic], [theirs.rsquared, theirs.aic], rtol=1e-10)
    some = rows.iloc[:7]
    np.testing.assert_allclose(ours.predict(some), theirs.fittedvalues[:7], rtol=1e-10)
    assert ours.predict_interval(some).shape == (7, 2)


def test_formulas_name_categories_and_fit_any_model(rows):
    found = tractable.fit_formula("mass ~ size + island", pl.from_pandas(rows), tractable.Ridge(alpha=0.1))
    assert found.model.feature_names_in_.tolist() == ["size", "island[Dream]", "island[Torgersen]"]
    # A row of one island alone knows the categories of the fit.
    assert found.predict(rows[rows.island == "Dream"].iloc[:1]).shape == (1,)
    classes = tractable.fit_formula("sex ~ size + mass", rows, tractable.LogisticRegression(C=np.inf))
    assert classes.model.classes_.tolist() == ["f", "m"]
    theirs = smf.logit("male ~ size + mass", rows.assign(male=(rows.sex == "m") * 1)).fit(disp=0, tol=1e-14)
    np.testing.assert_allclose(classes.summary().p_values, theirs.pvalues, rtol=1e-8)


def test_weights_of_a_formula_are_repetitions(rows):
    times = np.arange(60) % 3
    a = tractable.fit_formula("mass ~ size + island", rows.assign(n=times), sample_weight="n")
    b = tractable.fit_formula("mass ~ size + island", rows.loc[np.repeat(np.arange(60), times)])
    np.testing.assert_allclose(a.summary().p_values, b.summary().p_values, rtol=1e-8)


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        ("mass ~ colour", "colour"),
        ("mass ~ log(", "formula"),
        ("mass", "formula must be a text of target ~ terms"),
        (3, "formula must be a text"),
        ("mass ~ 1", "formula must have a term"),
        ("~ size", "formula must have one target"),
    ],
)
def test_formulas_that_cannot_be_read_are_refused(rows, formula, said):
    with pytest.raises(ValueError, match=said):
        tractable.fit_formula(formula, rows)


def test_missing_entries_of_a_formula_are_refused(rows):
    for column in ("size", "mass"):
        with pytest.raises(ValueError, match=r"missing|null|NaN|nan"):
            tractable.fit_formula("mass ~ size", rows.assign(**{column: rows[column].where(rows.index > 3)}))
    with pytest.raises(ValueError, match="data must be a frame"):
        tractable.fit_formula("mass ~ size", np.ones((3, 2)))


def test_robust_tables_and_exposures_of_a_formula(rows):
    clusters = np.arange(len(rows)) % 7
    data = rows.assign(town=clusters, years=1.0 + clusters, claims=np.arange(len(rows)) % 5)
    found = tractable.fit_formula("mass ~ size + island", data)
    X, y = found.columns(data), data["mass"]
    want = found.model.summary(X, y, covariance="HC3")
    np.testing.assert_array_equal(found.summary(data, covariance="HC3").std_errors, want.std_errors)
    want = found.model.summary(X, y, clusters=clusters)
    np.testing.assert_array_equal(found.summary(data, clusters="town").std_errors, want.std_errors)
    counts = tractable.fit_formula("claims ~ size", data, tractable.PoissonRegression(), exposure="years")
    alone = tractable.PoissonRegression().fit(data[["size"]], data["claims"], exposure=data["years"])
    np.testing.assert_allclose(counts.model.coef_, alone.coef_)
    np.testing.assert_allclose(
        counts.predict(data, exposure="years"), alone.predict(data[["size"]], exposure=data["years"])
    )
    assert counts.predict_interval(data, exposure="years").shape == (len(data), 2)
    with pytest.raises(ValueError, match="exposure: data has no column 'centuries'"):
        tractable.fit_formula("claims ~ size", data, tractable.PoissonRegression(), exposure="centuries")


@pytest.mark.parametrize(
    "model", [tractable.LinearRegression(), tractable.PoissonRegression(), tractable.LogisticRegression()]
)
def test_words_in_a_linear_model_point_to_their_coding(rows, model):
    with pytest.raises(ValueError, match=r"'island' .*ContrastCoding codes words, fit_formula"):
        model.fit(rows[["size", "island"]], np.arange(len(rows)) % 2)


def test_what_a_formula_lacks_is_said_in_plain_text(rows):
    with pytest.raises(ValueError, match="formula cannot be read") as said:
        tractable.fit_formula("mass ~ size +", rows)
    assert "\x1b" not in str(said.value)


def test_fits_by_formulas_are_compared_and_shown_as_such(rows):
    small, large = (tractable.fit_formula(f, rows) for f in ("mass ~ size", "mass ~ size + island"))
    found, models = tractable.compare_nested(small, large), tractable.compare_nested(small.model, large.model)
    assert found.added == models.added
    assert found.p_value == models.p_value
    assert repr(small) == "FormulaFit('mass ~ size', LinearRegression())"


def test_categories_that_the_fit_had_not_seen_are_refused(rows):
    found = tractable.fit_formula("mass ~ island + size", rows)
    with pytest.raises(ValueError, match=r"categories that the rows of the fit had not: .*Mars"):
        found.predict(rows.assign(island="Mars"))
    with pytest.raises(ValueError, match="island"):
        found.predict(rows.assign(island=[None, *rows.island[1:]]))


def test_no_rows_are_refused(rows):
    with pytest.raises(ValueError, match="data must have a row"):
        tractable.fit_formula("mass ~ island", rows[:0])
    with pytest.raises(ValueError, match="X: found 0 sample"):
        tractable.ContrastCoding().fit(rows[:0])
