"""Pictures of sparse paths."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import tractable


@pytest.fixture
def data(rng):
    X = rng.standard_normal((40, 10))
    return X, X[:, :3] @ [3.0, -2.0, 1.0] + rng.standard_normal(40)


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_largest_columns_are_named(data):
    path = tractable.lasso_path(*data, n_alphas=20)
    ax = tractable.plot(path, named=3)
    assert labels(ax) == ["x0", "x1", "x2"]
    assert ax.xaxis_inverted()
    assert ax.get_xscale() == "log"
    shown = {tuple(line.get_ydata()) for line in ax.get_lines() if len(line.get_ydata()) == 20}
    assert {tuple(coef) for coef in path.coefs if coef.any()} == shown


def test_knots_are_marked_and_norms_are_the_way(data):
    path = tractable.lars_path(*data)
    ax = tractable.plot(path)
    norms = np.abs(path.coefs).sum(axis=0)
    marks = [line.get_xdata()[0] for line in ax.get_lines() if list(line.get_ydata()) == [0, 1]]
    np.testing.assert_allclose(marks, norms)


def test_both_choices_of_cross_validation_are_shown(data):
    model = tractable.LassoCV(alphas=15).fit(*data)
    ax = tractable.plot(model, named=2)
    assert labels(ax)[-2:] == ["least error", "one standard error"]


def test_what_has_no_such_picture_is_said(data):
    X, y = data
    with pytest.raises(ValueError, match="against must be"):
        tractable.plot(tractable.lasso_path(X, y, n_alphas=3), against="time")
    with pytest.raises(ValueError, match="one target"):
        tractable.plot(tractable.LassoLars(0.1).fit(X, np.column_stack([y, y])))
