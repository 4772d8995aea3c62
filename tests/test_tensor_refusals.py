"""Tensors that models do not take: one clear error, or the documented conversion."""

import numpy as np
import pytest

import tractable
from tractable.data.blocks import map_rows
from tractable.smoothing import sums

torch = pytest.importorskip("torch")


@pytest.fixture
def rows(rng):
    """Rows of two classes."""
    X = rng.standard_normal((40, 2))
    return torch.tensor(X), torch.tensor((X[:, 0] > 0).astype(int))


MODELS = [
    tractable.GaussianNB(),
    tractable.LogisticRegression(),
    tractable.LinearDiscriminant(),
    tractable.KNeighborsClassifier(3),
]
models = pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)


@models
def test_tensors_that_hold_no_dense_real_numbers_are_refused(model, rows):
    X, y = rows
    for bad, said in [
        (X.to_sparse(), "X is a sparse tensor"),
        (X.to("meta"), "X is on the device meta"),
        (X.to(torch.complex128), "X must be real"),
    ]:
        with pytest.raises(ValueError, match=said):
            model.fit(bad, y)


@models
def test_two_devices_are_refused(model, rows):
    X, y = rows
    with pytest.raises(ValueError, match="y is on the device meta"):
        model.fit(X, y.to("meta"))
    with pytest.raises(ValueError, match="sample_weight is on the device meta"):
        model.fit(X, y, torch.ones(40, device="meta"))
    with pytest.raises(ValueError, match="X is on the device meta"):
        model.fit(X, y).predict(X.to("meta"))


@models
def test_gradients_are_left_behind_and_short_numbers_are_widened(model, rows):
    X, y = rows
    wanted = model.fit(X, y).predict_proba(X)
    recorded = X.clone().requires_grad_()
    found = model.fit(recorded, y).predict_proba(recorded)
    assert not found.requires_grad
    torch.testing.assert_close(found, wanted)
    short = X.to(torch.bfloat16)
    torch.testing.assert_close(
        model.fit(short, y).predict_proba(short), model.fit(short.float(), y).predict_proba(short.float())
    )
    whole = torch.round(4.0 * X)
    torch.testing.assert_close(
        model.fit(whole.to(torch.int32), y).predict_proba(whole.to(torch.int32)),
        model.fit(whole, y).predict_proba(whole),
    )


@models
def test_weights_of_numpy_go_to_the_rows(model, rows):
    X, y = rows
    weights = np.arange(40) % 3
    found = model.fit(X, y, weights).predict_proba(X)
    torch.testing.assert_close(found, model.fit(X, y, torch.tensor(weights)).predict_proba(X))


def test_a_device_that_is_full_takes_smaller_blocks(rng):
    X, sizes = torch.tensor(rng.standard_normal((50, 2))), []

    def of(block):
        sizes.append(block.shape[0])
        if block.shape[0] > 10:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return block.sum(dim=1)

    torch.testing.assert_close(map_rows(of, X), X.sum(dim=1))
    assert max(sizes) == 50
    assert min(sizes) >= 5


def test_sums_over_rows_of_a_full_device_are_those_of_its_halves(rng, monkeypatch):
    X = torch.tensor(rng.standard_normal((60, 2)))
    y = (X[:, 0] > 0).to(torch.int64)
    wanted = tractable.GaussianNB().fit(X, y)
    from tractable.classification.naive_bayes import model

    whole = model.moments_of_classes

    def limited(x, *args):
        if x.shape[0] > 20:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(x, *args)

    monkeypatch.setattr(model, "moments_of_classes", limited)
    found = tractable.GaussianNB().fit(X, y)
    torch.testing.assert_close(found.theta_, wanted.theta_)
    torch.testing.assert_close(found.var_, wanted.var_)


@pytest.mark.parametrize("columns", [1, 2])
def test_windows_of_a_full_device_are_added_in_smaller_blocks(rng, monkeypatch, columns):
    X = torch.tensor(rng.standard_normal((60, columns)))
    model = tractable.KernelDensity(bandwidth=0.5).fit(X)
    wanted = model.score_samples(X)
    whole, sizes = sums.log_kernel_sums, []

    def limited(queries, *args):
        sizes.append(queries.shape[0])
        if queries.shape[0] > 8:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(queries, *args)

    monkeypatch.setattr(sums, "log_kernel_sums", limited)
    torch.testing.assert_close(model.score_samples(X), wanted)
    assert max(sizes) == 60
    sizes.clear()
    monkeypatch.setenv("TRACTABLE_DEVICE_MEMORY", str(64 * 60 * 8))  # eight rows of 60 pairs
    torch.testing.assert_close(model.score_samples(X), wanted)
    assert max(sizes) <= 8
