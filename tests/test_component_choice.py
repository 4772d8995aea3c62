"""How many components, and of which shape: what is chosen, left out, refused and said."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import tractable
from tractable.mixture import CollapsedComponentWarning, GaussianMixture
from tractable.mixture.gaussian.starts import ShortRuns
from tractable.selection import select_components

IRIS = tractable.datasets.load("iris").X


@pytest.fixture(scope="module")
def rounded():
    """Rows on a lattice, where mixtures of many components collapse."""
    with pytest.warns(CollapsedComponentWarning):
        return select_components(IRIS.round(0), range(1, 6), ["full", "diag", "spherical"])


def test_collapsed_mixtures_are_left_out(rounded):
    assert rounded.collapsed.any()
    assert rounded.collapsed.flat[np.argmin(rounded.scores["bic"])]
    assert not rounded.best_model.collapsed_.any()
    for name, table in rounded.scores.items():
        assert table[rounded.position(name)] == table[~rounded.collapsed].min()


def test_of_collapsed_mixtures_only_the_lowest_is_chosen():
    with pytest.warns(CollapsedComponentWarning):
        found = select_components(IRIS.round(0), [5, 6], "diag")
    assert found.collapsed.all()
    assert found.best == (int(found.n_components[np.argmin(found.scores["bic"][0])]), "diag")
    assert "collapsed in all of them" in repr(found)


def test_the_table_marks_them(rounded):
    lines = repr(rounded).splitlines()
    cells = "".join(lines[1:-2])
    assert cells.count("!") == rounded.collapsed.sum()
    assert cells.count("*") == 1
    assert lines[-1] == "! components collapsed: left out of the choice"
    assert "!" not in repr(select_components(IRIS, [1, 2], "full"))


def test_the_picture_marks_them(rounded):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = tractable.plot(rounded)
    marked = {line.get_label(): line for line in ax.get_lines()}["collapsed: left out"]
    assert len(marked.get_xdata()) == rounded.collapsed.sum()
    chosen = {line.get_label(): line for line in ax.get_lines()}
    number, kind = rounded.best
    assert any(label.startswith(f"{number} component") and kind in label for label in chosen)
    pyplot.close("all")


def test_warnings_are_said_once_and_name_the_fits():
    hasty = GaussianMixture(max_iter=1, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = select_components(IRIS.round(0), range(1, 6), ["full", "diag"], estimator=hasty)
    kinds = [warning.category for warning in caught]
    assert sorted(kinds, key=str) == sorted({CollapsedComponentWarning, ConvergenceWarning}, key=str)
    said = {warning.category: str(warning.message) for warning in caught}
    named = said[CollapsedComponentWarning].split(":")[0].split(", ")
    where = [(i, j) for i in range(2) for j in range(5) if found.collapsed[i, j]]
    assert named == [f"{found.n_components[j]} {found.covariance_types[i]}" for i, j in where]
    assert "2 full" in said[ConvergenceWarning]
    assert all(warning.filename == __file__ for warning in caught)


def test_one_shape_needs_no_list():
    found = select_components(IRIS, [1, 2], "tied")
    assert found.covariance_types == ("tied",)


def test_weights_are_repetitions(rng):
    X, w = IRIS[::3], rng.integers(0, 3, size=50)
    weighted = select_components(X, [1, 2], ["full", "diag"], sample_weight=w)
    repeated = select_components(np.repeat(X, w, axis=0), [1, 2], ["full", "diag"])
    np.testing.assert_allclose(weighted.scores["bic"], repeated.scores["bic"], rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"n_components": [2, 151]}, "n_components must be at most the 150 rows of X that count, got 151"),
        ({"sample_weight": np.r_[np.ones(3), np.zeros(147)]}, "n_components must be at most the 3 rows"),
        ({"n_components": []}, "n_components must be whole numbers from 1"),
        ({"n_components": [0, 1]}, "n_components must be whole numbers from 1"),
        ({"n_components": [1.5]}, "n_components must be whole numbers from 1"),
        ({"n_components": 3}, "n_components must be whole numbers from 1"),
        ({"covariance_types": []}, "covariance_types must name at least one"),
        ({"covariance_types": "round"}, "covariance_types must be one of"),
        ({"covariance_types": ["full", 3]}, "covariance_types must be one of"),
        ({"criterion": "cv"}, "criterion must be one of"),
        ({"estimator": tractable.KMeans()}, "estimator must be a GaussianMixture, got KMeans"),
        ({"X": tractable.data.as_source(IRIS)}, "X must be an array of NumPy or a frame, held in memory"),
        ({"X": [IRIS[:50], IRIS[50:]]}, "X must be an array of NumPy or a frame, held in memory"),
        ({"X": np.where(IRIS > 7, np.inf, IRIS)}, "X contains infinity"),
        ({"sample_weight": np.ones(3)}, "sample_weight must have one entry a row"),
    ],
)
def test_refusals_come_before_any_fit(given, named, monkeypatch):
    monkeypatch.setattr(GaussianMixture, "fit", lambda *_, **__: pytest.fail("a mixture was fitted"))
    options = {"X": IRIS, "n_components": range(1, 5), **given}
    with pytest.raises(ValueError, match=named):
        select_components(options.pop("X"), options.pop("n_components"), **options)


@pytest.fixture(params=["full", "tied", "diag", "spherical"])
def problem(request):
    model = GaussianMixture(2, covariance_type=request.param)
    rows = model._validate_rows(IRIS[::2], None, np.tile([1.0, 2.0, 0.5], 25), reset=True)
    return model._em_problem(rows, fitted=False)


def test_runs_side_by_side_are_the_runs_one_by_one(problem, rng):
    z, w = problem.standardizer.transform(IRIS[::2]), np.tile([1.0, 2.0, 0.5], 25)
    runs = ShortRuns(problem=problem, z=z, weights=w, tol=1e-3, max_iter=40)
    seeds = [rng.choice(75, size=k, replace=False) for k in (3, 1, 4, 2)]
    together = dict(runs.ends([(len(seed), seed) for seed in seeds]))
    for seed in seeds:
        ((_, alone),) = runs.ends([(len(seed), seed)])
        found = together[len(seed)]
        assert alone.regular == found.regular
        np.testing.assert_allclose(alone.objective, found.objective, rtol=1e-9)
        np.testing.assert_allclose(alone.params.means, found.params.means, rtol=1e-6, atol=1e-9)
        # The objective is that of the search which goes on from here, in standardized columns.
        step = problem.data.reduce(problem.expect(found.params))
        jacobian = w.sum() * problem.standardizer.log_jacobian
        np.testing.assert_allclose(found.objective, step.objective - jacobian, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::tractable.base.density.DegenerateCovarianceWarning")
@pytest.mark.filterwarnings("ignore::tractable.mixture.CollapsedComponentWarning")
def test_missing_entries_constant_columns_and_few_distinct_rows(rng):
    X = IRIS[::2].copy()
    X[rng.random(X.shape) < 0.1] = np.nan
    tables = [np.column_stack([X, np.full(75, 3.0)]), np.repeat(IRIS[:3], 5, axis=0)]
    for found in (select_components(table, [1, 2, 4]) for table in tables):
        assert all(np.all(np.isfinite(scores)) for scores in found.scores.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["iris", "old_faithful"])
def test_no_search_of_as_many_fits_is_better(name):
    from sklearn.mixture import GaussianMixture as Peer

    X = tractable.datasets.load(name).X
    X = X / X.std(axis=0)
    found = select_components(X, range(1, 8))
    given = {"n_init": 3, "random_state": 0, "tol": 1e-4, "max_iter": 500}
    theirs = min(
        Peer(number, covariance_type=kind, **given).fit(X).bic(X)
        for kind in found.covariance_types
        for number in found.n_components
    )
    assert found.scores["bic"][~found.collapsed].min() <= theirs + 0.05
