"""What rows of dimension reduction share: tables of a few factors, and comparisons of subspaces."""

import numpy as np


def table(size, folder):  # noqa: ARG001  (no files)
    """Return rows of a few strong factors in noise."""
    n_rows, n_columns, n_factors = size
    rng = np.random.default_rng(0)
    loadings = rng.standard_normal((n_factors, n_columns)) * np.linspace(3.0, 1.0, n_factors)[:, None]
    return rng.standard_normal((n_rows, n_factors)) @ loadings + rng.standard_normal((n_rows, n_columns))


def subspace(model):
    """Return the components of a fitted model."""
    return model.components_


def check_subspace(mine, theirs):
    """The same subspace: the sines of the angles between both are below 1e-10."""
    left = theirs - theirs @ mine.T @ mine
    assert np.max(np.abs(left)) < 1e-10, np.max(np.abs(left))
