"""A model fitted on a file is asked about files: predictions, scores, diagnostics and metrics."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tractable
from tractable import metrics, scan

NAMES = ["a", "b", "c"]


@pytest.fixture
def table(rng):
    """Rows with a number, a class and a weight, as a frame."""
    frame = pd.DataFrame(rng.standard_normal((300, 3)), columns=NAMES)
    frame["y"] = frame[NAMES] @ [1.0, -2.0, 0.5] + rng.standard_normal(300)
    frame["label"] = np.where(frame["y"] > 0, "up", "down")
    frame["w"] = rng.integers(1, 4, 300).astype(float)
    return frame


@pytest.fixture
def path(table, tmp_path):
    """A file with the columns of the table in another order, in small row groups."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.Table.from_pandas(table[["w", "c", "label", "y", "b", "a"]]), path, row_group_size=70)
    return path


def test_a_regression_is_judged_on_the_file_it_learned_from(table, path):
    source = scan(path, features=NAMES, target="y", weight="w")
    model = tractable.LinearRegression().fit(source)
    X, y, w = table[NAMES], table["y"].to_numpy(), table["w"].to_numpy()
    np.testing.assert_allclose(model.predict(source), model.predict(X))
    mean, std = model.predict(source, return_std=True)
    np.testing.assert_allclose(std, model.predict(X, return_std=True)[1])
    np.testing.assert_allclose(model.predict_interval(source, 0.8), model.predict_interval(X, 0.8))
    np.testing.assert_allclose(model.predict_dist(source).log_prob(y), model.predict_dist(X).log_prob(y))
    for asked in (metrics.r2_score, metrics.mean_absolute_error):
        assert asked(source, mean) == pytest.approx(asked(y, mean, sample_weight=w), rel=1e-12)
    for asked in (metrics.crps, metrics.log_predictive_density):
        found = asked(model.predict_dist(source), source)
        assert found == pytest.approx(asked(model.predict_dist(X), y, sample_weight=w), rel=1e-12)
    found, want = tractable.diagnose(model, source), tractable.diagnose(model, X, y, sample_weight=w)
    np.testing.assert_allclose(found.studentized, want.studentized)
    assert str(found) == str(want)
    assert str(tractable.diagnose(model, table[[*NAMES, "y", "w"]], "y", sample_weight="w")) == str(want)


def test_columns_are_found_by_name(table, path):
    model = tractable.GaussianMixture(2, random_state=0).fit(table[NAMES])
    wider = scan(path, features=["w", "c", "y", "b", "a"])
    np.testing.assert_allclose(model.predict_proba(wider), model.predict_proba(table[NAMES]))
    np.testing.assert_allclose(model.outlier_scores(wider), model.outlier_scores(table[NAMES]))
    with pytest.raises(ValueError, match="X: no column 'a'"):
        model.predict(scan(path, features=["b", "c", "y"]))


def test_a_classifier_is_judged_on_a_file(table, path):
    source = scan(path, features=NAMES, target="label", weight="w")
    model = tractable.LogisticRegression().fit(source)
    np.testing.assert_array_equal(model.predict(source), model.predict(table[NAMES]))
    np.testing.assert_allclose(model.proba_interval(source), model.proba_interval(table[NAMES]))
    found = metrics.log_loss(source, model.predict_proba(source))
    labels, w = table["label"], table["w"].to_numpy()
    want = metrics.log_loss(labels, model.predict_proba(table[NAMES]), sample_weight=w)
    assert found == pytest.approx(want, rel=1e-12)
    assert metrics.accuracy_score(source, model.predict(source)) == pytest.approx(model.score(source))


def test_tables_with_text_are_streamed_too(table, path):
    source = scan(path, features=["a", "label"])
    model = tractable.TableMixture(2, random_state=0).fit(table[["a", "label"]])
    np.testing.assert_allclose(model.score_samples(source), model.score_samples(table[["a", "label"]]))
    np.testing.assert_array_equal(model.predict(source), model.predict(table[["a", "label"]]))


def test_bad_sources_are_refused(table, path):
    model = tractable.LinearRegression().fit(table[NAMES].to_numpy(), table["y"])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(scan(path, features=["a", "b"]))
    with pytest.raises(ValueError, match="X is a path; open it with"):
        model.predict(str(path))
    with pytest.raises(ValueError, match="X has no rows"):
        model.predict([np.empty((0, 3))])
    with pytest.raises(ValueError, match="y is missing"):
        metrics.r2_score(scan(path, features=NAMES), table["y"])
    with pytest.raises(ValueError, match="y is missing"):
        tractable.diagnose(model, scan(path, features=NAMES))
    with pytest.raises(ValueError, match="not fitted"):
        tractable.LinearRegression().predict(scan(path, features=NAMES))


@pytest.mark.slow
def test_criteria_of_mixtures_are_those_of_the_rows(table, path):
    X, w = table[NAMES], table["w"].to_numpy()
    for model in (tractable.GaussianMixture(2, random_state=0), tractable.StudentTMixture(2, random_state=0)):
        source = scan(path, features=NAMES, weight="w")
        model.fit(source)
        for name in ("aic", "bic", "icl"):
            found, want = getattr(model, name)(source), getattr(model, name)(X, sample_weight=w)
            assert found == pytest.approx(want, rel=1e-12)
            assert getattr(model, name)(table[[*NAMES, "w"]], "w") == pytest.approx(want, rel=1e-12)
            batches = [(X[i : i + 70], None, w[i : i + 70]) for i in range(0, 300, 70)]
            assert getattr(model, name)(batches) == pytest.approx(want, rel=1e-12)
    kinds = table[["a", "label"]]
    model = tractable.TableMixture(2, random_state=0).fit(kinds)
    for name in ("aic", "bic", "icl"):
        found = getattr(model, name)(scan(path, features=["a", "label"]))
        assert found == pytest.approx(getattr(model, name)(kinds), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["MixtureOfRegressors", "MixtureOfExperts"])
def test_criteria_of_mixtures_of_regressions_are_those_of_the_rows(table, path, kind):
    source = scan(path, features=NAMES, target="y", weight="w")
    model = getattr(tractable, kind)(2, random_state=0, alpha=0.1).fit(source)
    X, y, w = table[NAMES], table["y"].to_numpy(), table["w"].to_numpy()
    for name in ("log_likelihood", "aic", "bic"):
        want = getattr(model, name)(X, y, w)
        assert getattr(model, name)(source) == pytest.approx(want, rel=1e-12)
        assert getattr(model, name)(table[[*NAMES, "y", "w"]], "y", "w") == pytest.approx(want, rel=1e-12)
    np.testing.assert_allclose(model.responsibilities(source), model.responsibilities(X, y))


def test_hat_matrix_of_a_file_has_its_weights(table, path):
    source = scan(path, features=NAMES, target="y", weight="w")
    X, w = table[NAMES], table["w"].to_numpy()
    for model in (tractable.LinearRegression(), tractable.Ridge(2.0)):
        model.fit(source)
        want = model.hat_matrix(X, w)
        np.testing.assert_allclose(model.hat_matrix(source), want)
        np.testing.assert_allclose(model.hat_matrix(table[[*NAMES, "w"]], "w"), want)
        np.testing.assert_allclose(model.hat_matrix([X[:100], X[100:]]), model.hat_matrix(X))


def test_neighbours_of_the_rows_of_a_file(table, path):
    source, X = scan(path, features=NAMES), table[NAMES]
    model = tractable.NearestNeighbors(n_neighbors=4).fit(source)
    for found, want in zip(model.kneighbors(source, 3), model.kneighbors(X, 3), strict=True):
        np.testing.assert_allclose(found, want)
    np.testing.assert_array_equal(
        model.kneighbors([X[:100], X[100:]], return_distance=False),
        model.kneighbors(X, return_distance=False),
    )
    for mode in ("connectivity", "distance"):
        graph = model.kneighbors_graph(source, mode=mode) - model.kneighbors_graph(X, mode=mode)
        assert graph.nnz == 0 or np.abs(graph.data).max() < 1e-12
    for found, want in zip(model.radius_neighbors(source, 0.8), model.radius_neighbors(X, 0.8), strict=True):
        assert [list(row) for row in found] == [list(row) for row in want]
    assert (model.radius_neighbors_graph(source, 0.8) != model.radius_neighbors_graph(X, 0.8)).nnz == 0


def test_missing_entries_of_a_file_are_imputed(table, path, tmp_path):
    frame = table[["a", "label"]].copy()
    frame.loc[::7, "a"] = np.nan
    frame.loc[1::9, "label"] = None
    frame.to_parquet(tmp_path / "holes.parquet", row_group_size=70)
    source = scan(tmp_path / "holes.parquet", features=["a", "label"])
    model = tractable.TableMixture(2, random_state=0).fit(frame)
    pd.testing.assert_frame_equal(model.impute(source), model.impute(frame), check_dtype=False)
    for found, want in zip(
        model.impute(source, 2, random_state=0), model.impute(frame, 2, random_state=0), strict=True
    ):
        pd.testing.assert_frame_equal(found, want, check_dtype=False)


def test_numbers_declared_as_categories_are_collected_from_all_batches(table):
    table = table.assign(zone=np.arange(300) % 7 + 20)[["a", "zone", "label"]]
    batches = [table.iloc[:3], table.iloc[3:]]
    likelihoods = {"zone": "categorical"}
    want = tractable.NaiveBayes(likelihoods=likelihoods).fit(table, "label")
    found = tractable.NaiveBayes(likelihoods=likelihoods).fit(batches, "label")
    X = table[["a", "zone"]]
    np.testing.assert_allclose(found.predict_proba(X), want.predict_proba(X))
