"""Rows of the host streamed to a device: the models, and the answers, of the rows themselves."""

import threading
from contextlib import nullcontext
from importlib.util import find_spec
from types import SimpleNamespace

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

    @pytest.mark.parametrize("kind", [">f8", np.longdouble, object, np.float16, np.uint64, bool])
    def test_targets_of_any_type_of_number(table, kind):
        X, y = table[COLUMNS].to_numpy(), np.abs(table["y"].to_numpy()).astype(kind)
        wanted = tractable.LinearRegression().fit(X, y).coef_
        streamed = tractable.LinearRegression().fit(tractable.scan(X, target=y, device=PLACE))
        np.testing.assert_allclose(streamed.coef_, wanted, rtol=1e-9)
        held = tractable.LinearRegression().fit(torch.tensor(X, device=PLACE), y)
        np.testing.assert_allclose(held.coef_.cpu(), wanted, rtol=1e-9)

    def test_targets_that_are_no_numbers_are_refused(table):
        X, words = table[COLUMNS].to_numpy(), table["label"].to_numpy()
        for given in (
            (torch.tensor(X, device=PLACE), words),
            (tractable.scan(X, target=words, device=PLACE),),
        ):
            with pytest.raises(ValueError, match="y must be numbers: could not convert string"):
                tractable.LinearRegression().fit(*given)

    @pytest.mark.parametrize("weighted", [False, True])
    def test_classes_that_are_words(table, weighted):
        X, words, w = (table[name].to_numpy() for name in (COLUMNS, "label", "w"))
        w = w - 1.0 if weighted else None  # some rows do not count
        for make in (tractable.GaussianNB, tractable.LinearDiscriminant, tractable.QuadraticDiscriminant):
            host = make().fit(X, words, sample_weight=w)
            other = make().fit(tractable.scan(X, target=words, weight=w, device=PLACE))
            np.testing.assert_allclose(other.predict_proba(X), host.predict_proba(X), rtol=1e-9, atol=1e-12)

    def test_batches_of_words_and_of_numbers_are_not_joined(table):
        X, words = table[COLUMNS].to_numpy(), table["label"].to_numpy().astype(str)
        batches = [(X[:100], words[:100]), (X[100:], np.ones(400))]
        with pytest.raises(ValueError, match="y has labels of two kinds"):
            tractable.LinearDiscriminant().fit(tractable.scan(batches, device=PLACE))

    def test_clusters_begin_at_draws_of_all_rows(table):
        X = table[COLUMNS].to_numpy()
        start = {"init": "k-means||", "random_state": 0, "n_init": 1}
        host = tractable.KMeans(2, **start).fit(tractable.data.as_source([X]))
        other = tractable.KMeans(2, **start).fit(tractable.scan([X], device=PLACE))
        np.testing.assert_allclose(other.cluster_centers_, host.cluster_centers_, rtol=1e-9)

    def test_blocks_are_answered_one_by_one_in_the_thread_that_waits_for_them(path, monkeypatch):
        there = tractable.GaussianDensity().fit(tractable.scan(path, COLUMNS)).to(PLACE)
        rows, threads = tractable.scan(path, COLUMNS, device=PLACE), set()
        answer = type(there).score_samples.__wrapped__

        def watched(self, X):
            threads.add(threading.current_thread())
            return answer(self, X)

        monkeypatch.setenv("TRACTABLE_NUM_THREADS", "3")
        monkeypatch.setattr(tractable.data.blocks, "stacked", lambda parts: parts)
        monkeypatch.setattr(type(there), "score_samples", tractable.base.by_blocks.by_blocks(watched))
        assert len(there.score_samples(rows)) > 1
        assert threads == {threading.current_thread()}

    @pytest.mark.parametrize("most", [0, 2**40])  # of memory that may be pinned
    @pytest.mark.parametrize(
        "x",
        [
            np.arange(3000.0).reshape(1000, 3),
            np.asfortranarray(np.arange(3000.0).reshape(1000, 3)),
            np.arange(3000, dtype=">i4").reshape(1000, 3)[::-2, ::-1],
            np.zeros((0, 3), dtype=np.float32),
            np.zeros((4, 0)),
            np.arange(1000) % 2 == 0,
        ],
    )
    def test_copies_are_made_by_way_of_pinned_memory(x, most, monkeypatch):
        """Of a GPU, as far as the host can show it."""
        pinned = []

        def empty(shape, dtype, device, pin_memory=False):
            if pin_memory:
                if not most:
                    raise RuntimeError("no memory can be pinned")
                pinned.append(int(np.prod(shape)) * dtype.itemsize)
            return torch.empty(shape, dtype=dtype, device=device)

        monkeypatch.setattr(device_stream, "BLOCK_BYTES", 4000)
        monkeypatch.setattr(device_stream, "COPIED_BYTES", 1000)
        upload = device_stream.Uploader("cpu")
        upload.stream = "another"
        cuda = SimpleNamespace(stream=lambda stream: nullcontext())
        upload.torch = SimpleNamespace(empty=empty, from_numpy=torch.from_numpy, cuda=cuda)
        x.flags.writeable = False
        with torch.device("meta"):  # where tensors are made of which nobody says where
            found = upload(x)
        assert found.numpy().dtype == x.dtype.newbyteorder("=")
        assert np.array_equal(found.numpy(), x)
        assert max(pinned, default=0) <= 1.1 * 4000
        assert bool(pinned) == bool(most and len(x))

    def test_a_pass_that_is_left_early_ends_its_thread(path):
        rows = tractable.scan(path, COLUMNS, device=PLACE).blocks()
        next(rows)
        rows.close()
        assert not any("read-ahead" in thread.name for thread in threading.enumerate())

    def test_what_cannot_be_streamed_is_refused(path):
        with pytest.raises(ValueError, match="device must be one that torch finds here, got 'nowhere'"):
            tractable.scan(path, device="nowhere")
        with pytest.raises(ValueError, match="path is an array of torch"):
            tractable.scan(torch.ones(3, 2), device=PLACE)
        with pytest.raises(ValueError, match="features are those of files"):
            tractable.scan(np.ones((3, 2)), features=[0], device=PLACE)
        with pytest.raises(ValueError, match="X has 0 features"):
            tractable.PCA().fit(tractable.scan(np.ones((3, 0)), device=PLACE))


def test_without_torch_a_device_is_refused(path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(devices, "import_module", missing)
    with pytest.raises(ImportError, match="needs torch"):
        tractable.scan(path, device="cuda")
