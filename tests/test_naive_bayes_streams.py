"""Naive Bayes over tables that come in pieces: text in files and in batches."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tractable
from tractable import CategoricalNB, GaussianNB, NaiveBayes


@pytest.fixture
def penguins():
    frame = tractable.datasets.load("penguins").frame.drop(columns="year")
    return frame.assign(times=np.arange(len(frame)) % 3 + 1.0, long=frame["bill_length_mm"] > 45.0)


def pieces(frame, n=5):
    return [frame.iloc[rows] for rows in np.array_split(np.arange(len(frame)), n)]


def same(model, other, X):
    assert model.likelihoods_ == other.likelihoods_
    assert model.categories_ == other.categories_
    assert model.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_text_of_files_is_learned_as_that_of_frames(kind, penguins, tmp_path):
    for i, piece in enumerate(pieces(penguins, 2)):
        write = piece.to_parquet if kind == "parquet" else piece.to_csv
        write(tmp_path / f"{i}.{kind}", index=False)
    source = tractable.scan(tmp_path)
    whole = NaiveBayes().fit(penguins, y="species", sample_weight="times")
    X = penguins.drop(columns=["species", "times"])
    same(NaiveBayes().fit(source, y="species", sample_weight="times"), whole, X)
    named = tractable.scan(tmp_path, target="species", weight="times")
    same(NaiveBayes().fit(named), whole, X)
    drawn, _ = NaiveBayes().fit(named).sample(5, random_state=0)
    assert list(drawn.column_names) == list(X.columns)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        tractable.LinearDiscriminant(),
        tractable.QuadraticDiscriminant(),
        tractable.LogisticRegression(),
        tractable.BayesianLogisticRegression(),
        tractable.LeastSquaresClassifier(),
        tractable.KNeighborsClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_classes_of_files_may_be_text(kind, model, penguins, tmp_path):
    columns = ["bill_length_mm", "bill_depth_mm", "species"]
    rows = penguins[columns].dropna()
    path = tmp_path / f"rows.{kind}"
    (rows.to_parquet if kind == "parquet" else rows.to_csv)(path, index=False)
    found = model.fit(tractable.scan(path), y="species")
    assert found.classes_.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    assert np.mean(found.predict(rows[columns[:2]]) == rows["species"]) > 0.8


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("named", [True, False])
def test_text_of_batches_is_learned_as_that_of_frames(library, named, penguins):
    convert = {
        "pandas": lambda f: f,
        "polars": pl.from_pandas,
        "pyarrow": lambda f: pl.from_pandas(f).to_arrow(),
    }
    X, y = penguins.drop(columns=["species", "times"]), penguins["species"].to_numpy()
    whole = NaiveBayes().fit(X, y)
    make = convert[library]
    if named:
        streamed = NaiveBayes().fit([make(p.drop(columns="times")) for p in pieces(penguins)], y="species")
    else:
        cuts = np.array_split(np.arange(len(X)), 5)
        streamed = NaiveBayes().fit(lambda: ((make(X.iloc[c]), y[c]) for c in cuts))
    same(streamed, whole, X)


def test_categories_of_streams_may_come_late(penguins):
    first = penguins.assign(island=penguins["island"].where(penguins.index > 200))
    X = first.drop(columns=["species", "times"])
    whole = NaiveBayes().fit(X, first["species"])
    parts = [(p.drop(columns=["species", "times"]), p["species"]) for p in pieces(first)]
    assert parts[0][0]["island"].isna().all()  # nothing is known of a column at first
    same(NaiveBayes().fit(parts), whole, X)
    later = NaiveBayes().fit(parts[3:]).partial_fit(parts[:3])
    np.testing.assert_allclose(later.predict_proba(X), whole.predict_proba(X), atol=1e-10)
    words = CategoricalNB().fit([(p[0][["island", "sex"]], p[1]) for p in parts])
    expected = CategoricalNB().fit(X[["island", "sex"]], first["species"])
    np.testing.assert_allclose(
        words.predict_proba(X[["island", "sex"]]), expected.predict_proba(X[["island", "sex"]])
    )


def test_batches_that_differ_are_refused(penguins):
    parts = pieces(penguins)
    with pytest.raises(ValueError, match="no column 'island' in batch 4"):
        NaiveBayes().fit([*parts[:4], parts[4].drop(columns="island")], y="species")
    with pytest.raises(ValueError, match="batch 1 is no frame"):
        NaiveBayes().fit([parts[0], np.zeros((2, 8))], y="species")
    with pytest.raises(ValueError, match="walked only once"):
        NaiveBayes().fit(iter(parts), y="species")
    with pytest.raises(ValueError, match="not numeric: 'island'"):
        GaussianNB().fit(parts, y="species")
    dates = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])})
    with pytest.raises(ValueError, match="'day' holds dates"):
        NaiveBayes().fit([(dates, [0, 1])])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_predictions_of_files_with_text(kind, penguins, tmp_path):
    path, out = tmp_path / f"rows.{kind}", tmp_path / "out.parquet"
    (penguins.to_parquet if kind == "parquet" else penguins.to_csv)(path, index=False)
    X = penguins.drop(columns=["species", "times"])
    numbers = ["bill_length_mm", "body_mass_g"]
    for model, asked in [(NaiveBayes().fit(X, penguins["species"]), X), (GaussianNB(), X[numbers])]:
        model.fit(asked, penguins["species"])
        tractable.predict_to(
            model, tractable.scan(path), out, method="predict_proba", columns=["island", "body_mass_g"]
        )
        found = pd.read_parquet(out)
        assert found["island"].tolist() == penguins["island"].tolist()
        np.testing.assert_array_equal(found["body_mass_g"], penguins["body_mass_g"])
        np.testing.assert_allclose(found.iloc[:, 2:], model.predict_proba(asked), atol=1e-10)
    with pytest.raises(ValueError, match="not numeric: 'species'"):
        tractable.predict_to(GaussianNB().fit(np.zeros((2, 9)), [0, 1]), tractable.scan(path), out)


@pytest.mark.parametrize("words", [False, True])
def test_statistics_of_some_classes_add_up_to_those_of_all(words, rng):
    X = np.column_stack(
        [rng.normal(size=60), rng.integers(0, 3, 60), rng.poisson(2.0, 60), rng.normal(size=60)]
    )
    X[::7] = np.nan
    y = np.repeat([3, 0, 2, 1], 15)
    y = np.array(["d", "a", "c", "b"])[y] if words else y
    model = NaiveBayes(["normal", "categorical", "poisson", "kernel"])
    whole = model.summarize(X, y)
    parts = [model.summarize(X[at], y[at]) for at in (slice(0, 20), slice(20, 40), slice(40, 60))]
    found = parts[0] + parts[1] + parts[2]
    assert found.labels.tolist() == whole.labels.tolist() == sorted(set(y.tolist()))
    np.testing.assert_array_equal(found.weight, whole.weight)
    for (label, part), (other, expected) in zip(found, whole, strict=True):
        moments, counts, totals, values = part.parts
        assert label == other
        assert part.total == expected.total == 15.0
        np.testing.assert_allclose(moments.mean, expected.parts[0].mean, rtol=1e-13)
        np.testing.assert_allclose(moments.scatter, expected.parts[0].scatter, rtol=1e-12)
        np.testing.assert_array_equal(counts.padded(3).counts, expected.parts[1].padded(3).counts)
        np.testing.assert_allclose(totals.total, expected.parts[2].total, rtol=1e-13)
        np.testing.assert_array_equal(np.sort(values.values[:, 0]), np.sort(expected.parts[3].values[:, 0]))
    learned = model.from_statistic(found)
    np.testing.assert_allclose(
        learned.predict_proba(X), NaiveBayes(model.likelihoods).fit(X, y).predict_proba(X)
    )
