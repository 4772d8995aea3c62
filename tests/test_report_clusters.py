"""Clusters that were planted in a table are found, named, and told as surely as they are apart."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tractable
from section_code import run_code
from tractable.mixture import CollapsedComponentWarning
from tractable.plotting.regions import ellipse_points, mahalanobis_radius
from tractable.report import table_of
from tractable.report.clusters import section, separating_pair
from tractable.report.mixtures import _table_code, fitted_mixtures


def three_groups(rng, n=150):
    labels = np.arange(n) % 3
    centre = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    x = centre[labels] + rng.normal(size=(n, 2))
    return pd.DataFrame({"noise": rng.normal(size=n), "long": x[:, 0], "high": x[:, 1]}), labels


def same_partition(a, b):
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


def test_planted_clusters_are_found_and_named(rng):
    frame, labels = three_groups(rng)
    found = section(table_of(frame), rng=rng)
    assert found.findings["n_clusters"] == 3
    assert sorted(found.findings["sizes"]) == [50, 50, 50]
    assert found.findings["share_sure"] == 1.0
    assert {row[0] for row in found.findings["set_apart_by"]} <= {"long", "high"}
    assert "long and high" in found.pictures[1].alt
    assert all(row[0] in ("1", "2", "3") for row in found.tables[0].rows)
    assert same_partition(run_code(found, frame)["labels"], labels)


@pytest.mark.slow
def test_one_group_is_told_as_one(rng):
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    found = section(table_of(frame), rng=rng)
    assert found.findings["n_clusters"] == 1
    assert "one group" in found.meaning


@pytest.mark.slow
def test_what_is_usual_sets_no_cluster_apart(rng):
    """Two groups differ in one of two columns only, and one group differs from nothing."""
    x = np.r_[rng.normal(size=100), 20.0 + rng.normal(size=100)]
    found = section(table_of(pd.DataFrame({"x": x, "noise": rng.normal(size=200)})), rng=rng)
    assert found.findings["set_apart_by"] == [["x"], ["x"]]
    assert all("noise" not in row[-1] and "usual" not in row[-1] for row in found.tables[0].rows)
    alone = section(table_of(pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])), rng=rng)
    assert alone.findings["set_apart_by"] == [[]]
    assert alone.tables == ()  # of one group


@pytest.mark.slow
def test_components_about_one_point_are_no_groups(rng):
    """A narrow and a wide component about one point: a density, and not two groups."""
    x = np.concatenate([0.02 * rng.normal(size=(300, 2)), 5.0 * rng.normal(size=(300, 2))])
    found = section(table_of(pd.DataFrame(x, columns=["a", "b"])), rng=rng)
    assert found.findings["n_components"] >= 2
    assert found.findings["n_clusters"] == 1
    assert "no natural number of groups" in found.meaning


@pytest.mark.slow
def test_categories_and_holes_take_part(rng):
    n = 120
    kind = np.where(np.arange(n) % 2, "cat", "dog")
    x = np.where(kind == "cat", 4.0, 30.0) + rng.normal(size=n)
    x[:6] = np.nan
    frame = pd.DataFrame({"kind": kind, "weight": x, "side": rng.choice(["left", "right"], n)})
    found = section(table_of(frame), rng=rng)
    assert found.findings["n_clusters"] == 2
    assert {row[0] for row in found.findings["set_apart_by"]} <= {"kind", "weight"}
    labels = run_code(found, frame)["labels"]
    assert same_partition(labels, kind)


@pytest.mark.slow
def test_a_target_takes_no_part_and_is_compared(rng):
    frame, labels = three_groups(rng)
    frame["group"] = np.array(["x", "y", "z"])[labels]
    found = section(table_of(frame), target="group", rng=rng)
    counts = np.array([[int(entry) for entry in row[1:]] for row in found.tables[1].rows])
    assert sorted(counts.max(axis=0)) == [50, 50, 50]
    assert counts.sum() == 150
    assert "was not shown" in found.done


@pytest.mark.slow
def test_a_target_of_numbers_is_averaged_over_clusters(rng):
    frame, labels = three_groups(rng)
    frame["price"] = 100.0 * labels + rng.normal(size=len(labels))
    found = section(table_of(frame), target="price", rng=rng)
    means = sorted(float(row[1]) for row in found.tables[1].rows)
    np.testing.assert_allclose(means, [0.0, 100.0, 200.0], atol=5.0 / np.sqrt(50))


@pytest.mark.slow
def test_one_column_is_drawn_on_a_line(rng):
    x = np.concatenate([rng.normal(size=60), 20.0 + rng.normal(size=40)])
    found = section(table_of(pd.DataFrame({"x": x})), rng=rng)
    assert found.findings["sizes"] == [60, 40]
    assert len(found.pictures) == 2


def test_fitted_once_for_a_table(rng):
    table = table_of(three_groups(rng, 12)[0])
    assert fitted_mixtures(table) is fitted_mixtures(table)
    assert fitted_mixtures(table) is not fitted_mixtures(table_of(table.frame))


def test_many_ways_to_be_missing_make_columns_independent(rng):
    x = rng.normal(size=(100, 5)) + 9.0 * (np.arange(100) % 2)[:, None]
    x[rng.uniform(size=x.shape) < 0.2] = np.nan
    found = fitted_mixtures(table_of(pd.DataFrame(x, columns=list("abcde"))))
    assert found.mixed
    assert found.choice.best[0] == 2


@pytest.mark.slow
def test_numbers_beyond_the_memory_of_a_fit_are_sampled(rng):
    x = np.concatenate([rng.normal(size=1500), 20.0 + rng.normal(size=1500)])
    frame = pd.DataFrame({"x": x, "y": rng.normal(size=3000)})
    found = section(table_of(frame), rng=rng)
    assert "2,000 rows, chosen at random" in found.done
    assert found.findings["sizes"] == [1500, 1500]


@pytest.mark.parametrize(
    "frame",
    [
        {"x": [1.5]},
        {"x": [np.nan] * 30, "y": [None] * 30},
        {"x": [2.0] * 30, "y": ["a"] * 30},
        {"t": [f"word {i}" for i in range(30)]},
    ],
    ids=["one row", "all missing", "constants", "texts"],
)
def test_nothing_to_group(frame, rng):
    assert section(table_of(pd.DataFrame(frame)), rng=rng) is None


@pytest.mark.slow
def test_a_wide_table_says_what_it_uses(rng):
    z = rng.normal(size=(40, 1))
    x = np.concatenate([z + 0.1 * rng.normal(size=(40, 6)), rng.normal(size=(40, 60))], axis=1)
    names = [f"shared {j}" for j in range(6)] + [f"noise {j}" for j in range(60)]
    found = section(table_of(pd.DataFrame(x, columns=names)), rng=rng)
    assert any("most in common" in note for note in found.notes)
    used = fitted_mixtures(table_of(pd.DataFrame(x, columns=names))).rows.numbers
    assert {f"shared {j}" for j in range(6)} <= set(used)


@pytest.mark.slow
def test_columns_that_say_the_same_are_used_once(rng):
    frame, _ = three_groups(rng)
    frame["long in inches"] = frame["long"] / 2.54
    found = section(table_of(frame), rng=rng)
    assert any("other units" in note and "long in inches" in note for note in found.notes)


def test_ellipse_holds_nine_tenths(rng):
    covariance = np.array([[4.0, 1.0], [1.0, 2.0]])
    points = ellipse_points(np.array([1.0, 2.0]), covariance, mahalanobis_radius(0.9))
    ring = points.T - np.array([[1.0], [2.0]])
    radius2 = (ring * np.linalg.solve(covariance, ring)).sum(axis=0)
    np.testing.assert_allclose(radius2, radius2[0])
    draws = rng.multivariate_normal([0.0, 0.0], covariance, 20_000)
    inside = (draws.T * np.linalg.solve(covariance, draws.T)).sum(axis=0) <= radius2[0]
    assert abs(inside.mean() - 0.9) < 5.0 * np.sqrt(0.09 / 20_000)


def test_telling_pair_without_groups_is_the_most_alike(rng):
    x = rng.normal(size=100)
    frame = pd.DataFrame({"a": rng.normal(size=100), "b": x, "c": x + 0.1 * rng.normal(size=100)})
    assert separating_pair(frame, np.zeros(100, dtype=int)) == ("b", "c")


@pytest.mark.slow
def test_bundled_table(rng):
    table = table_of(tractable.datasets.load("penguins").frame)
    found = section(table, target="species", rng=rng)
    counts = np.array([[int(entry) for entry in row[1:]] for row in found.tables[1].rows])
    assert counts.max(axis=1).sum() / counts.sum() > 0.97  # clusters know the species, which they did not see


def test_one_group_is_not_said_where_every_larger_mixture_of_its_shape_shrank(rng, monkeypatch):
    """Those of another shape did not, but describe the rows worse."""
    x = rng.normal(size=200)
    table = table_of(pd.DataFrame({"a": x, "b": x + 0.1 * rng.normal(size=200)}))
    choice = fitted_mixtures(table).choice
    assert choice.best == (1, "full")
    collapsed = choice.collapsed.copy()
    collapsed[choice.covariance_types.index("full"), 1:] = True
    monkeypatch.setattr(type(choice), "collapsed", collapsed)
    meaning = section(table, rng=rng).meaning
    assert meaning.startswith("There is no natural number of groups: components shrank to single values in")
    assert meaning.endswith("larger mixtures with full covariances.")


def test_groups_of_a_table_with_categories_are_found_where_components_shrink_without_a_prior(rng):
    """A fourth of the rows has one value of a number, to which a component of every mixture would shrink."""
    n = 120
    dose = np.r_[np.zeros(n // 4), rng.normal(10.0, 1.0, n - n // 4)]
    drug = np.where(rng.random(n) < 0.95, dose > 5.0, dose < 5.0)
    arm = np.where(drug, "drug", "placebo")
    frame = pd.DataFrame({"dose": dose, "arm": arm, "age": rng.normal(50.0, 9.0, n)})
    found = section(table_of(frame), rng=rng)
    assert found.findings["sizes"] == [n - n // 4, n // 4]
    assert "A prior on the covariances keeps components from shrinking" in found.done
    model = run_code(found, frame)["model"]
    assert model.covariance_prior == "data"
    assert not model.collapsed_.any()


def test_code_that_fits_models_which_collapse_warns_of_none(rng):
    """They are not chosen, and a reader who runs the code of the page need not see to it."""
    rows = pd.DataFrame({"x": [0.0] * 20 + [*rng.normal(5.0, 1.0, 20)], "k": ["a"] * 20 + ["b"] * 20})
    tried = {"covariance_types": ("diag",), "n_components": np.array([1, 2])}
    for collapsed in (True, False):
        choice = SimpleNamespace(**tried, collapsed=np.array([[False, collapsed]]))
        code = _table_code(choice, None).replace("PART", "rows")
        with nullcontext() if collapsed else pytest.warns(CollapsedComponentWarning):
            exec(code, scope := {"tractable": tractable, "rows": rows})
        assert scope["model"].n_components == 1
