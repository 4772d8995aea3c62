"""Sums over rows of large tables have one thread of BLAS: others would spin beside the pool."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import tractable
from tractable.arrays import linalg


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (tractable.Ridge(), (22_000, 200)),
        (tractable.Ridge(), (60, 600)),
        (tractable.ElasticNet(), (300, 600)),
        (tractable.LassoLars(), (300, 600)),
    ],
    ids=["tall ridge", "wide ridge", "elastic net", "lars"],
)
def test_sums_over_rows_have_one_thread_of_blas(model, shape, rng, monkeypatch, threads_of_blas):
    seen = set()

    def watched(a, b):
        seen.update(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")
        return linalg.product(a, b)

    monkeypatch.setattr("tractable.primitives.linear.product", watched)
    monkeypatch.setattr("tractable.linear_model.sparse.columns.product", watched)
    X = rng.standard_normal(shape)
    model.fit(X, X[:, 0] + rng.standard_normal(len(X)))
    assert seen == {1}
    assert np.isfinite(model.coef_).all()
