"""Crafted and damaged files: every one is refused by a ValueError, or gives a model that works."""

import io
import warnings
import zipfile
from itertools import pairwise

import numpy as np
import pytest

import tractable
from persistence_samples import archived, npy_bytes
from quick import some
from tractable.persistence import load, save

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3)) + np.repeat([[0.0], [3.0]], 30, axis=0)
Y = X @ [1.0, -2.0, 0.5] + 0.1 * RNG.normal(size=60)
LABELS = np.repeat(["a", "b"], 30)

MODELS = {
    "GaussianDensity": lambda: tractable.GaussianDensity().fit(X),
    "GaussianMixture": lambda: tractable.GaussianMixture(2, random_state=0).fit(X),
    "KMeans": lambda: tractable.KMeans(2, random_state=0).fit(X),
    "KernelDensity": lambda: tractable.KernelDensity().fit(X),
    "KNeighborsClassifier": lambda: tractable.KNeighborsClassifier(3).fit(X, LABELS),
    "LinearRegression": lambda: tractable.LinearRegression().fit(X, Y),
    "Ridge": lambda: tractable.Ridge().fit(X, Y),
    "BayesianLinearRegression": lambda: tractable.BayesianLinearRegression().fit(X, Y),
    "LogisticRegression": lambda: tractable.LogisticRegression().fit(X, LABELS),
    "BayesianLogisticRegression": lambda: tractable.BayesianLogisticRegression().fit(X, LABELS),
    "LinearDiscriminant": lambda: tractable.LinearDiscriminant().fit(X, LABELS),
    "Perceptron": lambda: tractable.Perceptron(random_state=0).fit(X, LABELS),
    "GaussianNB": lambda: tractable.GaussianNB().fit(X, LABELS),
    "SplineBasis": lambda: tractable.SplineBasis().fit(X),
}
QUESTIONS = ("score_samples", "predict_proba", "predict", "predict_interval", "transform")


@pytest.fixture(scope="module", params=some(MODELS, 6))
def members(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / request.param
    save(MODELS[request.param](), path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def outcome(path):
    """Load a file and ask the model; anything but a ValueError or answers is an error."""
    try:
        model = load(path)
    except ValueError:
        return "refused"
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for question in QUESTIONS:
            if hasattr(model, question):
                try:
                    getattr(model, question)(X[:4])
                except ValueError:
                    return "refused"
    return "works"


def altered(array):
    """An array, changed in every way that another program might."""
    if array.dtype.kind == "f" and array.size:
        for position, number in ((0, np.nan), (-1, np.inf), (0, 1e300)):
            changed = array.copy()
            changed.flat[position] = number
            yield changed
        yield from (-array - 1.0, 0.0 * array, np.full_like(array, np.nan), array.astype(complex))
    if array.dtype.kind in "fi":
        yield from (array.astype(np.int64), array.astype(np.float32), array.astype(str))
    yield array[None]
    if array.ndim:
        yield from (array[:-1], np.concatenate([array, array[-1:]]), array[..., :0], array.reshape(-1))
        yield np.ascontiguousarray(array.T)


def test_altered_arrays(members, tmp_path):
    """With their checksums made right again."""
    found = []
    for name in members:
        if name != "model.json":
            for changed in altered(np.load(io.BytesIO(members[name]))):
                path = archived({**members, name: npy_bytes(changed)}, tmp_path / "m")
                found.append(outcome(path))
    assert "refused" in found


def test_swapped_arrays(members, tmp_path):
    names = [name for name in members if name != "model.json"]
    for a, b in pairwise(names):
        outcome(archived({**members, a: members[b], b: members[a]}, tmp_path / "m"))


def test_flipped_bits_and_truncated_files(members, tmp_path):
    whole = archived(members, tmp_path / "m").read_bytes()
    rng = np.random.default_rng(0)
    for position in rng.integers(len(whole), size=60):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        (tmp_path / "m").write_bytes(damaged)
        outcome(tmp_path / "m")
    for length in rng.integers(len(whole), size=20):
        (tmp_path / "m").write_bytes(whole[:length])
        assert outcome(tmp_path / "m") == "refused"


def test_not_a_number_in_a_posterior_is_refused(tmp_path):
    """Its moments were searched for without end."""
    model = MODELS["BayesianLogisticRegression"]()
    model.coef_ = np.full_like(model.coef_, np.nan)
    save(model, tmp_path / "m")
    with pytest.raises(ValueError, match=r"cannot load .*BayesianLogisticRegression.coef_ holds NaN"):
        load(tmp_path / "m")


def test_axes_that_do_not_fit_are_refused_by_name(tmp_path):
    for name, change in {"coef_": lambda x: x[:-1], "intercept_": lambda x: np.zeros((2, 2))}.items():
        model = MODELS["Ridge"]()
        setattr(model, name, change(getattr(model, name)))
        save(model, tmp_path / "m")
        with pytest.raises(ValueError, match=f"Ridge.{name} has the shape"):
            load(tmp_path / "m")
