"""How many clusters: every criterion's choice, and the choice's reasons."""

import numpy as np
import pytest

import tractable
from tractable import metrics
from tractable.engines.kmeans import kmeans
from tractable.mixture.partitions import best_partition
from tractable.selection import select_n_clusters
from tractable.selection.n_clusters import gap_statistic

W02 = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
EVERY = ("calinski_harabasz", "silhouette", "davies_bouldin", "gap", "elbow")


def blobs(rng, n_clusters=3, n=25):
    corners = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0], [12.0, 12.0]])[:n_clusters]
    return np.concatenate([corner + rng.standard_normal((n, 2)) for corner in corners])


@pytest.mark.spec("CLU-14", "W-02")
def test_the_index_of_eight_points_is_largest_at_five():
    found = select_n_clusters(W02, range(2, 8), n_init=30, random_state=0)
    assert found.best == found.choices["calinski_harabasz"] == 5
    np.testing.assert_allclose(
        found.inertias, [best_partition(W02, k).inertia for k in range(2, 8)], rtol=1e-9
    )
    known = [5.74547, 15.07267, 14.16667, 19.85795, 19.75, 16.625]
    np.testing.assert_allclose(found.scores["calinski_harabasz"], known, atol=5.1e-6)
    # The course's three clusters win only where no more than four are tried.
    assert select_n_clusters(W02, [4, 2, 3, 3], n_init=30, random_state=0).best == 3


@pytest.mark.spec("CLU-14")
def test_every_criterion_finds_clusters_that_are_there(rng):
    X = blobs(rng)
    found = select_n_clusters(X, range(2, 7), criterion=EVERY, n_init=5, n_references=8, random_state=0)
    assert found.choices == dict.fromkeys(EVERY, 3)
    assert (found.criterion, found.best) == ("calinski_harabasz", 3)
    assert found.best_fit is found.fits[1]
    for name, score in (
        ("calinski_harabasz", metrics.calinski_harabasz_score),
        ("silhouette", metrics.silhouette_score),
        ("davies_bouldin", metrics.davies_bouldin_score),
    ):
        np.testing.assert_allclose(
            found.scores[name], [score(X, fit.labels) for fit in found.fits], rtol=1e-12
        )


@pytest.mark.spec("CLU-14")
def test_the_gap_is_its_definition_and_may_choose_one_cluster(rng):
    X = rng.uniform(size=(60, 2))
    found = select_n_clusters(X, range(1, 5), criterion="gap", n_init=3, n_references=20, random_state=0)
    assert found.best == 1
    assert repr(found).endswith(f"\n1 cluster: {found.rule}")
    gap, error = found.scores["gap"], found.gap_errors
    assert all(gap[i] < gap[i + 1] - error[i + 1] for i in range(found.best - 1))
    assert gap[0] >= gap[1] - error[1]


def test_the_gap_draws_from_the_box_of_the_principal_directions(rng):
    """By hand, from the same uniforms: rows in a tilted box, whose own box has other sides."""
    long = rng.uniform(size=(200, 2)) * [10.0, 1.0]
    turn = np.array([[np.sqrt(0.5), -np.sqrt(0.5)], [np.sqrt(0.5), np.sqrt(0.5)]])
    X = long @ turn + 100.0
    inertias = np.array([kmeans(X, None, k, rng).inertia for k in (1, 2)])
    gap, error = gap_statistic(
        X, None, inertias, np.array([1, 2]), np.random.default_rng(3), n_init=1, n_draws=4
    )
    axes = np.linalg.eigh(np.cov(X.T))[1]
    sides = np.ptp(X @ axes, axis=0)
    again, logs = np.random.default_rng(3), []
    for _ in range(4):
        rows = sides * again.random((200, 2))
        logs.append([np.log(kmeans(rows, None, k, again, max_iter=300).inertia) for k in (1, 2)])
    np.testing.assert_allclose(gap, np.mean(logs, axis=0) - np.log(inertias), rtol=1e-7)
    np.testing.assert_allclose(error, np.std(logs, axis=0) * np.sqrt(1.25), rtol=1e-7)
    # Rows without clusters have no gap worth the name.
    assert abs(gap[0]) < 0.3


def test_where_no_gap_is_large_enough_the_last_number_is_chosen():
    """Four clusters, and three tried at most: each gap is more than an error below the next."""
    X = blobs(np.random.default_rng(2), 4)
    found = select_n_clusters(X, [1, 2, 3], criterion="gap", n_init=3, n_references=5, random_state=0)
    gap, error = found.scores["gap"], found.gap_errors
    assert (gap[:-1] < gap[1:] - error[1:]).all()
    assert found.best == 3


def test_the_elbow_is_farthest_below_the_chord(rng):
    found = select_n_clusters(blobs(rng), range(1, 8), criterion="elbow", n_init=5, random_state=0)
    w, k = found.inertias, found.n_clusters
    heights = (w - w[-1]) / (w[0] - w[-1])
    across = (k - 1) / 6
    # The distance from the line through (0, 1) and (1, 0), by the cross product.
    np.testing.assert_allclose(found.scores["elbow"], -(across + heights - 1) / np.sqrt(2), rtol=1e-12)
    assert found.best == k[np.argmax(found.scores["elbow"])] == 3


def test_weights_are_repetitions(rng):
    X = blobs(rng, n=8)
    counts = rng.integers(0, 4, len(X))
    options = {"criterion": EVERY, "n_init": 2, "n_references": 3, "random_state": 5}
    a = select_n_clusters(X, range(2, 5), sample_weight=counts, **options)
    b = select_n_clusters(np.repeat(X, counts, axis=0), range(2, 5), **options)
    assert a.choices == b.choices
    for name in EVERY:
        np.testing.assert_allclose(a.scores[name], b.scores[name], rtol=1e-8, err_msg=name)
    np.testing.assert_allclose(a.gap_errors, b.gap_errors, rtol=1e-6)


@pytest.mark.slow
def test_one_seed_one_answer_wherever_the_rows_are_and_in_any_units(rng):
    X = np.round(blobs(rng) * 1024) / 1024
    options = {"criterion": EVERY, "n_init": 2, "n_references": 3, "random_state": 1}
    here = select_n_clusters(X, range(2, 6), **options)
    for other in (X, X + 2.0**27, 1e100 * X, 1e-100 * X):
        there = select_n_clusters(other, range(2, 6), **options)
        assert there.choices == here.choices
        for name in EVERY:
            np.testing.assert_allclose(there.scores[name], here.scores[name], rtol=1e-6, atol=1e-9)


def test_it_says_what_it_chose_and_why(rng):
    found = select_n_clusters(blobs(rng), range(2, 5), criterion=["silhouette", "elbow"], random_state=0)
    lines = repr(found).splitlines()
    assert lines[0].split() == ["K", "inertia", "silhouette", "elbow"]
    assert lines[2].count("*") == 2
    assert lines[-1] == "3 clusters: the largest mean silhouette"
    assert tractable.select_n_clusters is select_n_clusters


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"X": [[1.0], [np.nan], [2.0]]}, "X contains NaN"),
        ({"X": W02[:, 0]}, "X must be rows of finite numbers"),
        ({"X": 1e200 * W02}, "X has values so large that their squares overflow"),
        ({"X": [W02, W02]}, "X is a source or a stream of batches"),
        ({"X": "rows"}, "X must be an array of real numbers"),
        ({"n_clusters": range(2, 9)}, "n_clusters must stay below the 8 different rows, got 8"),
        ({"n_clusters": range(1, 4)}, "n_clusters must be whole numbers from 2"),
        ({"n_clusters": []}, "n_clusters must be whole numbers from 2"),
        ({"n_clusters": range(3), "criterion": "gap"}, "n_clusters must be whole numbers from 1"),
        ({"n_clusters": [2.5]}, "n_clusters must be whole numbers"),
        ({"n_clusters": 3}, "n_clusters must be whole numbers"),
        ({"n_clusters": [2, 3], "criterion": "elbow"}, "n_clusters must be at least 3 numbers"),
        ({"criterion": "bic"}, "criterion must be of calinski_harabasz"),
        ({"criterion": []}, "criterion must be of calinski_harabasz"),
        ({"n_init": 0}, "n_init must be a whole number from 1"),
        ({"n_references": 1}, "n_references must be a whole number from 2"),
        ({"n_references": "many"}, "n_references must be a whole number"),
        ({"random_state": -1}, "rng must be"),
        ({"sample_weight": np.ones(3)}, "sample_weight must have one entry a row"),
        ({"sample_weight": np.zeros(8)}, "sample_weight must have a positive entry"),
        (
            {"sample_weight": np.r_[np.ones(3), np.zeros(5)]},
            "n_clusters must stay below the 3 different rows",
        ),
    ],
)
def test_refusals(options, named):
    given = {"X": W02, "n_clusters": range(2, 6), **options}
    with pytest.raises(ValueError, match=named):
        select_n_clusters(given.pop("X"), given.pop("n_clusters"), **given)


def test_arrays_of_other_libraries_are_not_moved_silently():
    import array_api_strict

    with pytest.raises(ValueError, match="X must be an array of NumPy"):
        select_n_clusters(array_api_strict.asarray(W02))
