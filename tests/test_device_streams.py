"""Rows of the host streamed to a device: the models, and the answers, of the rows themselves."""

from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest

import tractable
from tractable.arrays import devices
from tractable.data import device_stream

COLUMNS = ["a", "b", "c"]


@pytest.fixture
def table(rng):
    X = rng.standard_normal((500, 3)) + 3.0 * rng.integers(0, 2, (500, 1))
    y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(500)
    return pd.DataFrame(X, columns=COLUMNS).assign(
        y=y, label=np.where(y > 9.0, "high", "low"), w=rng.integers(1, 4, 500).astype(float)
    )


@pytest.fixture
def path(table, tmp_path, monkeypatch):
    monkeypatch.setattr(device_stream, "BLOCK_BYTES", 8 * 3 * 120)  # several blocks
    table.to_parquet(tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


MODELS = {
    "LinearRegression": (tractable.LinearRegression, "y"),
    "PCA": (tractable.PCA, None),
    "GaussianMixture": (lambda: tractable.GaussianMixture(2, random_state=0), None),
    "KMeans": (lambda: tractable.KMeans(2, random_state=0, n_init=1), None),
    "LinearDiscriminant": (tractable.LinearDiscriminant, "label"),
    "NystromGaussianProcess": (
        lambda: tractable.NystromGaussianProcess(n_inducing=10, optimizer=None, random_state=0),
        "y",
    ),
}

if find_spec("torch"):  # as in `conftest.py`: where it is installed
    import torch

    PLACE = "cuda" if torch.cuda.is_available() else "cpu"

    @pytest.mark.parametrize("name", MODELS)
    def test_a_model_of_a_stream_is_that_of_the_rows(name, path, table):
        make, target = MODELS[name]
        given = {"features": COLUMNS, "target": target, "weight": "w"}
        host = make().fit(tractable.scan(path, **given))
        other = make().fit(tractable.scan(path, **given, device=PLACE))
        ask = "predict" if hasattr(host, "predict") else "transform"
        wanted, found = getattr(host, ask)(table[COLUMNS]), getattr(other, ask)(table[COLUMNS])
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
        else:
            assert np.array_equal(found, wanted)

    def test_rows_in_memory_are_streamed_too(table, path):
        X, y, w = table[COLUMNS].to_numpy(), table["y"].to_numpy(), table["w"].to_numpy()
        host = tractable.Ridge().fit(X, y, sample_weight=w)
        other = tractable.Ridge().fit(tractable.scan(X, target=y, weight=w, device=PLACE))
        np.testing.assert_allclose(other.coef_, host.coef_, rtol=1e-10)
        frame = tractable.scan(table[[*COLUMNS, "y"]], target="y", device=PLACE)
        assert frame.feature_names == tuple(COLUMNS)
        blocks = list(tractable.scan(path, features=COLUMNS, target="label", device=PLACE).blocks())
        assert len(blocks) > 1
        assert all(isinstance(block.X, torch.Tensor) and block.X.device.type == PLACE for block in blocks)
        assert blocks[0].y[0] in ("high", "low")  # words, which no tensor holds

    def test_predictions_are_made_where_the_model_is(path, table):
        rows, both = (tractable.scan(path, COLUMNS, target, device=PLACE) for target in (None, "y"))
        model = tractable.LinearRegression().fit(both)
        wanted = model.predict(table[COLUMNS])
        np.testing.assert_allclose(model.predict(rows), wanted, rtol=1e-12)
        there = model.to(PLACE)
        found = there.predict(rows)
        assert isinstance(found, torch.Tensor)
        np.testing.assert_allclose(found.cpu(), wanted, rtol=1e-10)
        np.testing.assert_allclose(there.score(both), model.score(both), rtol=1e-10)
        named = tractable.scan(path, ["c", "a", "b"], device=PLACE)
        np.testing.assert_allclose(there.predict(named).cpu(), wanted, rtol=1e-10)

    def test_models_that_store_rows_store_them_on_the_device(path, table):
        model = tractable.KernelRidge().fit(tractable.scan(path, COLUMNS, "y", device=PLACE))
        assert isinstance(model.X_fit_, torch.Tensor)
        wanted = tractable.KernelRidge().fit(table[COLUMNS], table["y"]).dual_coef_
        np.testing.assert_allclose(model.dual_coef_.cpu(), wanted, rtol=1e-8, atol=1e-8)
        with pytest.raises(ValueError, match="not moved to the host silently"):
            tractable.NadarayaWatson().fit(tractable.scan(path, COLUMNS, "y", device=PLACE))

    def test_a_block_without_memory_is_uploaded_in_halves(path, monkeypatch):
        class OutOfMemoryError(RuntimeError):
            """As torch's is called."""

        upload = device_stream.Uploader.__call__

        def small(self, x):
            if x is not None and len(x) > 40:
                raise OutOfMemoryError
            return upload(self, x)

        monkeypatch.setattr(device_stream.Uploader, "__call__", small)
        blocks = list(tractable.scan(path, COLUMNS, "y", "w", device=PLACE).blocks())
        assert sum(block.n_rows for block in blocks) == 500
        assert max(block.n_rows for block in blocks) <= 40

    def test_what_cannot_be_streamed_is_refused(path):
        with pytest.raises(ValueError, match="device must be one that torch finds here, got 'nowhere'"):
            tractable.scan(path, device="nowhere")
        with pytest.raises(ValueError, match="path is an array of torch"):
            tractable.scan(torch.ones(3, 2), device=PLACE)
        with pytest.raises(ValueError, match="features are those of files"):
            tractable.scan(np.ones((3, 2)), features=[0], device=PLACE)


def test_without_torch_a_device_is_refused(path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(devices, "import_module", missing)
    with pytest.raises(ImportError, match="needs torch"):
        tractable.scan(path, device="cuda")
