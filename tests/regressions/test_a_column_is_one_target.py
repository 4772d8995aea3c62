"""One target given as a column is used, with one warning that points at the call; several are refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning

from tractable import ARDRegression, BayesianLinearRegression, BayesianRidge, LassoCV

models = pytest.mark.parametrize(
    "model",
    [LassoCV(), BayesianRidge(), ARDRegression(), BayesianLinearRegression()],
    ids=lambda m: type(m).__name__,
)


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(30, 2))
    return X, X[:, 0] + rng.normal(size=30)


@models
@pytest.mark.parametrize("as_column", [lambda y: y[:, None], lambda y: pd.DataFrame({"y": y})])
def test_a_column_is_a_target(model, rows, as_column):
    X, y = rows
    expected = model.fit(X, y).coef_
    with pytest.warns(DataConversionWarning, match="its one column is used") as said:
        found = model.fit(X, as_column(y)).coef_
    assert [w.filename for w in said] == [__file__]
    np.testing.assert_array_equal(found, expected)


@models
def test_two_columns_are_two_targets(model, rows):
    X, y = rows
    with pytest.raises(ValueError, match="y must be one target, got 2"):
        model.fit(X, np.column_stack([y, y]))
