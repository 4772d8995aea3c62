"""Worked examples, rows of labels, exact tables and refusals of tables of probabilities."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tractable
from tractable import Empirical, Factor, Moments, ProbabilityTable, bayes_rule, expectation

F = Fraction
SALARY = ProbabilityTable(
    probabilities=[[0.05, 0.1, 0.2], [0.3, 0.25, 0.1]],
    axes={"salary": ["high", "low"], "profession": ["teacher", "driver", "doctor"]},
)
PERSON = {"person": ["tourist", "local"]}
PRIOR = ProbabilityTable(probabilities=[F(1, 5), F(4, 5)], axes=PERSON)
SPEAKS = ProbabilityTable(
    probabilities=[[F(1, 2), F(1, 2)], [F(1, 10), F(9, 10)]], axes={"english": [True, False]}, given=PERSON
)


@pytest.mark.spec("PROB-07", "PROB-08", "W-04")
def test_a_marginal_is_a_sum_over_professions():
    assert float(SALARY.probability(salary="high")) == pytest.approx(0.35)
    assert SALARY.marginal("salary").probabilities == pytest.approx([0.35, 0.65])


@pytest.mark.spec("PROB-12", "PROB-13", "W-05")
def test_an_english_speaker_is_a_tourist_with_probability_five_ninths():
    joint = PRIOR * SPEAKS
    assert joint.is_exact
    assert joint.probability(english=True) == F(9, 50)
    assert bayes_rule(PRIOR, SPEAKS).condition({"english": True}).probability(person="tourist") == F(5, 9)
    assert joint.event(person="tourist").given(joint.event(english=True)) == F(5, 9)


@pytest.mark.spec("PROB-06", "PROB-15")
@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame], ids=["dict", "pandas", "polars"])
def test_paired_observations_are_relative_frequencies(frame):
    rows = {"x": ["a", "b", "a", "a", "b"], "y": [1, 1, 2, 2, 2]}
    table = ProbabilityTable.fit(frame(rows), exact=True)
    assert table.axes == (("x", ("a", "b")), ("y", (1, 2)))
    assert table.probabilities.tolist() == [[F(1, 5), F(2, 5)], [F(1, 5), F(1, 5)]]
    weighted = ProbabilityTable.fit(frame(rows), [1, 0, 2, 0, 1])
    np.testing.assert_allclose(weighted.probabilities, [[0.25, 0.5], [0.0, 0.25]])
    smooth = ProbabilityTable.fit(frame(rows), pseudocounts=1.0)
    np.testing.assert_allclose(smooth.probabilities, np.array([[2, 3], [2, 2]]) / 9)


def test_categories_of_a_frame_are_its_levels():
    frame = pd.DataFrame({"size": pd.Categorical(["S", "L"], categories=["S", "M", "L"], ordered=True)})
    assert ProbabilityTable.fit(frame).axes == (("size", ("S", "M", "L")),)


@pytest.mark.spec("PROB-11")
def test_three_variables_factorise_two_ways():
    rng = np.random.default_rng(0)
    joint = ProbabilityTable(
        probabilities=rng.dirichlet(np.ones(8)).reshape(2, 2, 2), axes={"a": 2, "b": 2, "c": 2}
    )
    for order in ("abc", "cab"):
        one, two, three = joint.chain_rule(list(order))
        again = (one * two * three).marginal(["a", "b", "c"])
        np.testing.assert_allclose(again.probabilities, joint.probabilities, rtol=1e-12)


@pytest.mark.spec("PROB-17", "PROB-21", "PROB-22")
def test_expectations_and_covariances_are_those_of_the_sample():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(200, 3)).astype(float)
    X[:, 1] += X[:, 0]
    table = ProbabilityTable.fit(X)
    np.testing.assert_allclose(table.covariance, Empirical(values=X).covariance, rtol=1e-12, atol=1e-12)
    moments = Moments.of(X)
    np.testing.assert_allclose(table.cross_covariance([0], [1, 2]), moments.scatter[:1, 1:] / 200, atol=1e-12)
    mean, square = (float(table.expectation(lambda x0, x1, k=k: (x0 * x1) ** k)) for k in (1, 2))
    product = X[:, 0] * X[:, 1]
    np.testing.assert_allclose([mean, square - mean**2], [product.mean(), product.var()], rtol=1e-12)
    np.testing.assert_allclose(expectation(lambda x: x[:, 0] * x[:, 1], table).value, mean, rtol=1e-12)


def test_exact_tables_stay_exact():
    joint = PRIOR * SPEAKS
    assert joint.marginal("english").probabilities.tolist() == [F(9, 50), F(41, 50)]
    assert joint.conditional("english").probabilities[0].tolist() == [F(5, 9), F(4, 9)]
    assert joint.expectation(lambda english: english) == F(9, 50)
    assert not joint.is_independent("person", "english")
    assert (PRIOR * PRIOR_OF_COIN).is_independent("person", "coin")
    assert joint.condition(joint.event(person="local")).probability(english=True) == F(1, 10)
    np.testing.assert_allclose(joint.log_prob([[0, 1]]), np.log(0.1))


PRIOR_OF_COIN = ProbabilityTable(probabilities=[F(1, 3), F(2, 3)], axes={"coin": ["head", "tail"]})


def test_information_given_a_common_cause_vanishes():
    cause = ProbabilityTable(probabilities=[0.3, 0.7], axes={"z": 2})
    first = ProbabilityTable(probabilities=[[0.9, 0.1], [0.2, 0.8]], axes={"x": 2}, given={"z": 2})
    second = ProbabilityTable(probabilities=[[0.6, 0.4], [0.1, 0.9]], axes={"y": 2}, given={"z": 2})
    joint = cause * first * second
    assert joint.is_independent("x", "y", given="z")
    assert not joint.is_independent("x", "y")
    assert (
        float(joint.mutual_information("x", "y", given="z"))
        < 1e-12
        < float(joint.mutual_information("x", "y"))
    )


def test_factors_eliminate_variables_by_name():
    a = Factor(values=[0.6, 0.4], axes={"a": 2})
    ab = Factor(values=[[0.7, 0.3], [0.1, 0.9]], axes={"a": 2, "b": 2})
    cb = Factor(values=[[0.5, 0.2], [0.5, 0.8]], axes={"c": 2, "b": 2})
    found = (a * ab).sum("a") * cb
    np.testing.assert_allclose(found.sum("b").values, np.einsum("a,ab,cb->c", a.values, ab.values, cb.values))
    best = (a * ab * cb).argmax()
    assert best == {"a": 1, "b": 1, "c": 1}
    zero = Factor(values=[0.0, 1.0], axes={"a": 2})
    assert (zero / zero).values.tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="other must be positive"):
        a / zero
    with pytest.raises(ValueError, match="same levels"):
        a * Factor(values=[1.0, 1.0], axes={"a": ["x", "y"]})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ProbabilityTable(probabilities=[0.5, 0.4], axes={"a": 2}), "add up to 1"),
        (lambda: ProbabilityTable(probabilities=[F(1, 2), F(1, 3)], axes={"a": 2}), "add up to 1, got 5/6"),
        (lambda: ProbabilityTable(probabilities=[0.5, np.nan], axes={"a": 2}), "probabilities"),
        (lambda: ProbabilityTable(probabilities=[0.5, 0.5], axes={"a": 3}), r"shape \(3,\)"),
        (lambda: ProbabilityTable(probabilities=[0.5, 0.5], axes={"a": ["x", "x"]}), "distinct levels"),
        (lambda: ProbabilityTable(probabilities=[0.5, 0.5], axes={"a": [None, "x"]}), "missing levels"),
        (lambda: ProbabilityTable(probabilities=[0.5, 0.5], axes=["a"]), "axes must map"),
        (lambda: ProbabilityTable(probabilities=1.0, axes={}), "at least one variable"),
        (lambda: ProbabilityTable(probabilities=["a", "b"], axes={"a": 2}), "probabilities must be"),
        (lambda: ProbabilityTable(probabilities=[[0.5], [0.5, 1]], axes={"a": 2}), "rows of one length"),
        (lambda: SALARY.condition({"salary": "middling"}), "no level 'middling'"),
        (lambda: SALARY.condition({"wage": "high"}), "wage"),
        (lambda: SALARY.condition({"salary": "high", "profession": "driver"}), "leave at least one"),
        (lambda: SALARY.condition("salary"), "values must be"),
        (lambda: SALARY.marginal([]), "at least one axis"),
        (lambda: SALARY.chain_rule(["salary"]), "order must name all"),
        (lambda: SALARY.event(salary="high") & PRIOR.event(person="local"), "same table"),
        (lambda: SALARY.expectation(3), "f must be"),
        (lambda: SALARY * SALARY, "both tables"),
        (lambda: PRIOR.conditional("person"), "leave at least one"),
        (lambda: bayes_rule(SPEAKS, PRIOR), "likelihood must be conditional"),
        (lambda: bayes_rule([0.5, 0.5], [0.0, 0.0]), "likelihood must be positive"),
        (lambda: bayes_rule([0.5, 0.4], [0.1, 0.2]), "prior"),
        (lambda: bayes_rule([0.5, 0.5], [0.1, 0.2, 0.3]), "hypotheses on their last axes"),
        (lambda: bayes_rule([F(1, 2), F(1, 3)], [F(1), F(1)]), "prior must be probabilities"),
        (lambda: bayes_rule([F(1, 2), F(1, 2)], [F(0), F(0)]), "likelihood must be positive"),
        (lambda: SALARY.expectation(lambda salary: salary), "f must return numbers"),
        (lambda: SALARY.expectation(lambda salary: np.ones(7)), "f must return numbers"),
        (lambda: ProbabilityTable.fit({"x": ["a"]}, pseudocounts=[1.0]), "pseudocounts must be one number"),
        (lambda: bayes_rule([0.5, 0.5], log_likelihood=[np.nan, 0.0]), "log_likelihood"),
        (lambda: ProbabilityTable.fit({"x": ["a", None]}), "missing"),
        (lambda: ProbabilityTable.fit({"x": ["a"], "y": [1, 2]}), "one length"),
        (lambda: ProbabilityTable.fit(np.zeros((0, 2)), axes={"a": 2, "b": 2}), "positive weight"),
        (lambda: ProbabilityTable.fit({"x": ["a"]}, axes={"x": ["b", "c"]}), "no level 'a'"),
        (lambda: ProbabilityTable.fit({"x": ["a"]}, pseudocounts=-1.0), "pseudocounts"),
        (lambda: Factor(values=[-1.0, 2.0], axes={"a": 2}), "values must be finite and not negative"),
        (lambda: Factor(values=[1.0, 2.0], axes={"a": 2}).sum("b"), "no axis 'b'"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bayes_rule_of_fractions_is_exact_and_of_small_numbers_keeps_them():
    assert bayes_rule([F(1, 5), F(4, 5)], [F(1, 2), F(1, 10)]).tolist() == [F(5, 9), F(4, 9)]
    np.testing.assert_allclose(bayes_rule([F(1, 5), F(4, 5)], [0.5, 0.1]), [5 / 9, 4 / 9])
    # The products are below what floats represent, their ratio is not.
    np.testing.assert_allclose(bayes_rule([1e-200, 1.0], [1e-200, 0.0]), [1.0, 0.0])
    np.testing.assert_allclose(bayes_rule([0.25, 0.75], [1e308, 1e308]), [0.25, 0.75])


def test_cross_covariance_of_an_exact_table_is_exact(rng):
    counts = rng.integers(1, 9, size=(2, 3, 2))
    p = np.array([F(int(c), int(counts.sum())) for c in counts.ravel()], dtype=object).reshape(2, 3, 2)
    axes = {"a": [-1, 2], "b": ["x", "y", "z"], "c": [F(1, 3), F(1, 2)]}
    exact = ProbabilityTable(probabilities=p, axes=axes)
    close = ProbabilityTable(probabilities=p.astype(float), axes=axes)
    found = exact.cross_covariance(["a", "b"], "c")
    assert found.shape == (2, 1)
    assert all(isinstance(cell, F) for cell in found.ravel())
    np.testing.assert_allclose(found.astype(float), close.cross_covariance(["a", "b"], "c"), rtol=1e-10)
    x, y = (exact.marginal(name) for name in "ac")
    by_expectations = exact.expectation(lambda a, c: a * c)
    by_expectations -= x.expectation(lambda a: a) * y.expectation(lambda c: c)
    assert found[0, 0] == by_expectations


def test_a_factor_of_great_numbers_is_normalised():
    table = ProbabilityTable.from_factor(
        Factor(values=[[1e308, 1e308], [1e-300, 3e-300]], axes={"a": 2, "b": 2}), "a"
    )
    np.testing.assert_allclose(table.probabilities, [[0.5, 0.5], [0.25, 0.75]])


def test_a_conditional_table_is_a_batch():
    assert SPEAKS.batch_shape == (2,)
    assert SPEAKS.condition({"person": "local"}).probability(english=True) == F(1, 10)
    np.testing.assert_allclose(SPEAKS.mean[:, 0], [0.5, 0.1])
    by_rows = SALARY.condition(["profession"], np.array([["doctor"], ["driver"]]))
    assert by_rows.batch_shape == (2,)
    np.testing.assert_allclose(by_rows.probabilities, [[2 / 3, 1 / 3], [2 / 7, 5 / 7]])


def test_text_and_frame():
    assert str(SPEAKS).splitlines()[0].split() == ["person", "True", "False"]
    assert "given person" in str(SPEAKS)
    frame = SALARY.to_frame()
    assert list(frame.columns) == ["salary", "profession", "probability"]
    assert frame.probability.sum() == pytest.approx(1.0)
    wide = ProbabilityTable(probabilities=np.full((40, 30), 1 / 1200), axes={"a": 40, "b": 30})
    assert "and 16 more rows" in str(wide)
    assert "and 6 more columns" in str(wide)


def test_tables_are_saved(tmp_path):
    tractable.save(SALARY, tmp_path / "table")
    again = tractable.load(tmp_path / "table")
    assert again.axes == SALARY.axes
    np.testing.assert_array_equal(again.probabilities, SALARY.probabilities)
