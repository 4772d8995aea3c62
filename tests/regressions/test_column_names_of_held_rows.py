"""Models that hold their rows refused targets and weights that were named as columns of a frame."""

import numpy as np
import pandas as pd
import pytest

from tractable import LassoCV, RobustRegression, scan
from tractable.data import as_source

MODELS = [LassoCV, RobustRegression]


@pytest.fixture
def frame(rng):
    X = rng.standard_normal((60, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(60)
    return pd.DataFrame({"a": X[:, 0], "t": y, "b": X[:, 1], "w": rng.integers(1, 4, 60), "c": X[:, 2]})


@pytest.mark.parametrize("model", MODELS)
def test_columns_may_be_named(model, frame):
    X, y, w = frame[["a", "b", "c"]], frame["t"], frame["w"]
    apart = model().fit(X, y, w)
    for named in (
        model().fit(frame, "t", "w"),
        model().fit(frame.drop(columns="w"), "t", w.to_numpy()),
        model().fit(frame.drop(columns="t"), y.to_numpy(), "w"),
        model().fit(as_source(frame, "t", "w")),
    ):
        np.testing.assert_allclose(named.coef_, apart.coef_, rtol=1e-10)
        assert named.feature_names_in_.tolist() == ["a", "b", "c"]
        np.testing.assert_allclose(named.predict(X), apart.predict(X), rtol=1e-10)


@pytest.mark.parametrize("model", MODELS)
def test_what_is_not_in_memory_is_still_refused(model, frame, tmp_path):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for X in (scan(tmp_path / "rows.csv", target="t"), [(np.eye(3), np.ones(3))]):
        with pytest.raises(ValueError, match="X must be rows in memory"):
            model().fit(X)
    with pytest.raises(ValueError, match="'z'"):
        model().fit(frame, "z")
    with pytest.raises(ValueError, match="y contains NaN"):
        model().fit(frame.assign(t=np.nan), "t", "w")
