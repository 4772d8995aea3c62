"""Tensors that models do not take: one clear error, or the documented conversion."""

import numpy as np
import pytest

import tractable
from tractable.data.blocks import map_rows
from tractable.kernels import base
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


def test_too_few_rows_are_one_clear_error():
    with pytest.raises(ValueError, match="X has 1 rows, while a minimum of 2"):
        tractable.RidgeCV().fit(torch.ones(1, 3), torch.ones(1))


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
def test_arrays_of_numpy_are_not_moved_to_a_model_of_tensors(model, rows):
    X, y = rows
    model.fit(X, y)
    with pytest.raises(ValueError, match="X must be an array of torch"):
        model.predict(X.numpy())
    assert isinstance(model.numpy().predict(X.numpy()), np.ndarray)
    assert isinstance(model.fit(X.numpy(), y.numpy()).predict(X.numpy()), np.ndarray)


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
    from tractable.columns.membership import ClassCodes

    whole = ClassCodes.moments

    def limited(codes, x, about=None):
        if x.shape[0] > 20:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return whole(codes, x, about)

    monkeypatch.setattr(ClassCodes, "moments", limited)
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


def test_several_labels_a_row_are_those_of_the_host(rows):
    X, y = rows
    both = torch.stack([y, (X[:, 1] > 0.5).to(torch.int64) + 3], dim=1)
    host = tractable.KNeighborsClassifier(3).fit(X.numpy(), both.numpy())
    for given in (both, both.numpy()):
        other = tractable.KNeighborsClassifier(3).fit(X, given)
        np.testing.assert_array_equal(other.predict(X), host.predict(X.numpy()))
        for found, wanted in zip(other.predict_proba(X), host.predict_proba(X.numpy()), strict=True):
            assert isinstance(found, torch.Tensor)
            np.testing.assert_allclose(found, wanted)
        assert other.score(X, given) == host.score(X.numpy(), both.numpy())
        np.testing.assert_array_equal(other.numpy().predict(X.numpy()), host.predict(X.numpy()))


class AcceleratorError(RuntimeError):
    """As torch calls the error of a device that failed."""


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (torch.OutOfMemoryError("CUDA out of memory"), MemoryError, "too little memory"),
        (AcceleratorError("CUDA error: an illegal memory access"), RuntimeError, "the device failed"),
    ],
    ids=["full", "lost"],
)
def test_a_device_that_is_full_or_lost_is_one_clear_error(rows, error, kind, said, monkeypatch):
    X, y = rows
    model = tractable.GaussianProcessRegressor(optimizer=None).fit(X, y.double())
    before = vars(model).copy()

    def fails(*_, **__):
        raise error

    monkeypatch.setattr(base, "map_matrix_rows", fails)
    for ask in (lambda: model.fit(X, y.double()), lambda: model.predict_var(X)):
        with pytest.raises(kind, match=said):
            ask()
    assert vars(model) == before


def test_models_go_to_devices_that_are_there(rows):
    model = tractable.GaussianDensity().fit(rows[0].numpy())
    for place, said in (
        ("nowhere", "torch finds here"),
        ("meta", "which holds no numbers"),
        (3.5, "torch finds"),
    ):
        with pytest.raises(ValueError, match=f"device must .*{said}"):
            model.to(place)
    with pytest.raises(ValueError, match="device must not be 'meta'"):
        tractable.scan(np.ones((3, 2)), device="meta")
