"""Neighbours by every metric of scikit-learn's, by functions and by given distances; several labels a row."""

import numpy as np
import pytest
from sklearn import neighbors
from sklearn.model_selection import GridSearchCV

import tractable

METRICS = [
    {"p": 1},
    {"p": np.inf},
    {"metric": "minkowski", "p": 3},
    {"metric": "l1"},
    {"metric": "l2"},
    {"metric": "cityblock"},
    {"metric": lambda x, y: np.sqrt(np.abs(x - y)).sum()},
    {"metric": "haversine"},
    {"metric": "nan_euclidean"},
    {"metric": "precomputed"},
]


def rows_of(metric, rng):
    """Return rows to learn from, and new ones, that a metric takes."""
    x, new = rng.normal(size=(60, 2)), rng.normal(size=(9, 2))
    if metric == "precomputed":
        return [np.linalg.norm(rows[:, None] - x, axis=-1) for rows in (x, new)]
    if metric == "nan_euclidean":
        x[::7, 0], x[1::7, 1], new[::2, 1] = np.nan, np.nan, np.nan
        return x, new
    return x, new


@pytest.mark.parametrize("given", METRICS, ids=lambda given: "-".join(map(str, given.values()))[:20])
def test_neighbours_of_every_metric_are_scikit_learns(given, rng):
    x, new = rows_of(given.get("metric"), rng)
    codes, number = rng.integers(0, 3, 60), rng.normal(size=60)
    cases = {
        "KNeighborsClassifier": {"y": codes, "weights": "distance"},
        "KNeighborsRegressor": {"y": number},
        "NearestNeighbors": {"y": None},
    }

    def fitted(name, y, **more):
        made = (getattr(library, name)(n_neighbors=5, **more, **given) for library in (neighbors, tractable))
        return [model.fit(x, y) for model in made]

    (theirs, ours), (their_line, line), (their_search, search) = (
        fitted(name, **case) for name, case in cases.items()
    )
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-12)
    np.testing.assert_allclose(line.predict(new), their_line.predict(new), atol=1e-12)
    for rows in (None, new):
        for found, wanted in zip(ours.kneighbors(rows), theirs.kneighbors(rows), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-12)
        ours_near, theirs_near = (
            m.radius_neighbors_graph(rows, 0.7, mode="distance").toarray() for m in (search, their_search)
        )
        np.testing.assert_allclose(ours_near, theirs_near, atol=1e-12)


def test_orders_and_given_distances_are_searched_over(rng):
    x, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    search = GridSearchCV(tractable.KNeighborsClassifier(), {"p": [1, 2], "n_neighbors": [3, 5]}).fit(x, y)
    theirs = GridSearchCV(neighbors.KNeighborsClassifier(), {"p": [1, 2], "n_neighbors": [3, 5]}).fit(x, y)
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    between = np.linalg.norm(x[:, None] - x, axis=-1)
    given = GridSearchCV(tractable.KNeighborsClassifier(metric="precomputed"), {"n_neighbors": [3, 5]})
    np.testing.assert_allclose(
        given.fit(between, y).cv_results_["mean_test_score"],
        theirs.cv_results_["mean_test_score"][theirs.cv_results_["param_p"] == 2],
    )


def test_rows_of_weight_zero_are_no_columns_of_given_distances(rng):
    x, y, weights = rng.normal(size=(40, 2)), rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    new = rng.normal(size=(5, 2))
    between, apart = (np.linalg.norm(rows[:, None] - x, axis=-1) for rows in (x, new))
    for k in (4, "loo"):
        given = tractable.KNeighborsClassifier(k, metric="precomputed").fit(between, y, sample_weight=weights)
        plain = tractable.KNeighborsClassifier(k).fit(x, y, sample_weight=weights)
        np.testing.assert_allclose(given.predict_proba(apart), plain.predict_proba(new))
        assert given.n_neighbors_ == plain.n_neighbors_


SQUARE = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))


@pytest.mark.parametrize(
    ("given", "rows", "message"),
    [
        ({"metric": "precomputed"}, SQUARE[:, :4], "X must be a square matrix of distances"),
        ({"metric": "precomputed"}, -SQUARE, "X must be distances, and some are negative"),
        ({"metric": "haversine"}, SQUARE, "X must have two columns, latitude and longitude"),
        (
            {"metric": lambda x, y: np.nan},
            SQUARE,
            "metric must be a function of two rows that returns a finite",
        ),
        (
            {"metric": lambda x, y: x - y},
            SQUARE,
            "metric must be a function of two rows that returns a finite",
        ),
        (
            {"metric": lambda x, y: -1.0},
            SQUARE,
            "metric must be a function of two rows that returns a finite",
        ),
        (
            {"metric": lambda x, y: "far"},
            SQUARE,
            "metric must be a function of two rows that returns a finite",
        ),
        ({"metric": "no metric"}, SQUARE, "metric must be one of euclidean"),
        ({"metric": dict}, SQUARE, "metric must be one of euclidean"),
        ({"p": 0.5}, SQUARE, "p must be a number from 1"),
        ({"p": "two"}, SQUARE, "p must be a number from 1"),
        ({"metric": "precomputed", "index": "kd_tree"}, SQUARE, "is not served by KDTree"),
    ],
)
@pytest.mark.parametrize("name", ["NearestNeighbors", "KNeighborsClassifier", "KNeighborsRegressor"])
def test_metrics_that_are_none_are_refused_by_fit(name, given, rows, message):
    with pytest.raises(ValueError, match=message):
        getattr(tractable, name)(n_neighbors=2, **given).fit(rows, np.arange(9))


def test_rows_that_cannot_be_compared_are_refused(rng):
    x, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    x[:, 1] = np.nan
    model = tractable.KNeighborsClassifier(metric="nan_euclidean").fit(x, y)
    with pytest.raises(ValueError, match=r"X must have an observed entry .* row 1 has none"):
        model.predict([[1.0, np.nan], [np.nan, 3.0]])
    x[5:, 0] = np.nan
    few = tractable.NearestNeighbors(n_neighbors=7, metric="nan_euclidean").fit(x)
    assert np.sum(few.kneighbors([[0.0, 0.0]])[1] >= 0) == 5
    for name in ("NearestNeighbors", "KNeighborsClassifier", "KNeighborsRegressor"):
        with pytest.raises(ValueError, match="X must have an observed entry: all are missing"):
            getattr(tractable, name)(metric="nan_euclidean").fit(np.full_like(x, np.nan), y)
    given = tractable.NearestNeighbors(n_neighbors=2, metric="precomputed").fit(SQUARE)
    with pytest.raises(ValueError, match="X must be distances from the rows of the fit"):
        given.kneighbors(-SQUARE)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_several_labels_a_row_are_scikit_learns(weights, rng):
    x, new = rng.normal(size=(90, 3)), rng.normal(size=(20, 3))
    codes = np.stack([rng.integers(0, 3, 90), rng.integers(0, 2, 90)], axis=1)
    for y in (codes, codes.astype(str), codes > 0):
        theirs, ours = (s.KNeighborsClassifier(5, weights=weights).fit(x, y) for s in (neighbors, tractable))
        for classes, wanted in zip(ours.classes_, theirs.classes_, strict=True):
            np.testing.assert_array_equal(classes, wanted)
        for found, wanted in zip(ours.predict_proba(new), theirs.predict_proba(new), strict=True):
            np.testing.assert_allclose(found, wanted, atol=1e-12)
        predicted, tied = (
            ours.predict(new),
            [
                np.isclose(np.sort(p, axis=1)[:, -1], np.sort(p, axis=1)[:, -2])
                for p in ours.predict_proba(new)
            ],
        )
        assert np.all((predicted == theirs.predict(new)) | np.stack(tied, axis=1))
        for label in (0, 1):
            alone = tractable.KNeighborsClassifier(5, weights=weights).fit(x, y[:, label])
            np.testing.assert_array_equal(predicted[:, label], alone.predict(new))
    assert ours.score(x, codes > 0) == np.mean(np.all(ours.predict(x) == (codes > 0), axis=1))
    assert ours.score(x, codes > 0, np.arange(90)) <= 1.0
    batches = [new[:7], new[7:]]
    np.testing.assert_array_equal(ours.predict_proba(batches)[1], ours.predict_proba(new)[1])
    for call in (ours.predict_dist, ours.decide):
        with pytest.raises(ValueError, match="is for one label a row, and y had 2"):
            call(new)
    with pytest.raises(ValueError, match="y must be labels of shape"):
        ours.score(x, codes[:, 0])
    loo = tractable.KNeighborsClassifier("loo", max_neighbors=9).fit(x, codes)
    left_out = [
        tractable.KNeighborsClassifier(loo.n_neighbors_).fit(np.delete(x, i, 0), np.delete(codes, i, 0))
        for i in range(90)
    ]
    right = [np.all(m.predict(x[i : i + 1])[0] == codes[i]) for i, m in enumerate(left_out)]
    np.testing.assert_allclose(loo.loo_curve_.best_score, np.mean(right))


def test_models_of_several_labels_and_given_distances_are_saved_and_not_drawn(rng, tmp_path):
    x, codes = rng.normal(size=(30, 2)), rng.integers(0, 3, (30, 2))
    several = tractable.KNeighborsClassifier(3).fit(x, codes.astype(str))
    given = tractable.KNeighborsClassifier(3, metric="precomputed").fit(
        np.abs(x[:, :1] - x[:, 0]), codes[:, 0]
    )
    for model, rows, refused in (
        (several, x, "several labels"),
        (given, np.abs(x[:, :1] - x[:, 0]), "given"),
    ):
        tractable.save(model, tmp_path / "model.tractable")
        loaded = tractable.load(tmp_path / "model.tractable")
        np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))
        with pytest.raises(ValueError, match=refused):
            tractable.plot(model)
    several.codes_ = several.codes_ + 2
    tractable.save(several, tmp_path / "model.tractable")
    with pytest.raises(ValueError, match="codes_ are not those of its classes_"):
        tractable.load(tmp_path / "model.tractable")
