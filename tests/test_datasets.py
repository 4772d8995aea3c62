"""The tables in the wheel are what their papers describe."""

import subprocess
import sys

import numpy as np
import pytest

from tractable import datasets

SHAPES = {
    "old_faithful": (272, 2),
    "penguins": (344, 4),
    "iris": (150, 4),
    "wine": (178, 13),
    "diabetes": (442, 10),
    "food": (17, 4),
}


def test_every_table_is_known():
    assert set(datasets.names()) == set(SHAPES)


@pytest.mark.parametrize("name", datasets.names())
def test_a_table_agrees_with_its_frame(name):
    table = datasets.load(name)
    frame = table.frame
    assert table.name == name
    assert table.X.shape == SHAPES[name]
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X, frame[list(table.feature_names)].to_numpy(dtype=float))
    if table.target_name is None:
        assert table.y is None
    else:
        assert table.y.tolist() == frame[table.target_name].tolist()


@pytest.mark.parametrize("name", datasets.names())
def test_a_table_says_what_it_is_and_where_it_comes_from(name):
    table = datasets.load(name)
    for prose in (table.description, table.source, table.licence):
        assert prose
        assert "\n" not in prose


@pytest.mark.parametrize("name", datasets.names())
def test_rows_belong_to_the_caller(name):
    table = datasets.load(name)
    table.X[:] = 0.0
    assert np.nansum(np.abs(table.X)) > 0
    with pytest.raises(AttributeError):
        table.name = "mine"


def test_figures_of_the_papers():
    geyser = datasets.load("old_faithful").X
    np.testing.assert_allclose(geyser.mean(axis=0), [3.487783, 70.897059], rtol=1e-6)
    iris = datasets.load("iris")
    setosa = iris.X[iris.y == "setosa"]
    np.testing.assert_allclose(setosa.mean(axis=0), [5.006, 3.428, 1.462, 0.246], rtol=1e-12)
    penguins = datasets.load("penguins")
    assert np.isnan(penguins.X).any(axis=1).sum() == 2
    assert np.unique(penguins.y, return_counts=True)[1].tolist() == [152, 68, 124]
    assert np.unique(datasets.load("wine").y, return_counts=True)[1].tolist() == [59, 71, 48]
    diabetes = datasets.load("diabetes")
    np.testing.assert_allclose([diabetes.y.mean(), diabetes.y.min(), diabetes.y.max()], [152.133484, 25, 346])


def test_food_has_the_scatter_of_the_course():
    by_country = datasets.load("food").X.T
    centred = by_country - by_country.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(centred @ centred.T)[::-1]
    np.testing.assert_allclose(eigenvalues[:3], [315220.0373, 135784.8746, 16373.0881], rtol=0, atol=5e-5)
    assert datasets.load("food").feature_names[1] == "n_ireland"


def test_an_unknown_table_suggests_the_nearest():
    with pytest.raises(ValueError, match="name: no table 'irris'; did you mean 'iris'"):
        datasets.load("irris")
    with pytest.raises(ValueError, match="there are old_faithful, penguins"):
        datasets.load("zzz")


def test_arrays_need_no_pandas():
    code = "import sys; from tractable.datasets import load; load('wine').X; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
