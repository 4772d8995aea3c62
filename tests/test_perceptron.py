"""The perceptron: its rule, Novikoff's bound, what it says where classes cannot be told apart."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import tractable.primitives
from tractable import Perceptron
from tractable.arrays.namespace import to_numpy
from tractable.primitives.glm.agnostic import perceptron_pass as agnostic
from tractable.primitives.glm.compiled import perceptron_pass as compiled


def separable(rng, n=200, d=3, margin=0.2, n_classes=2):
    """Rows that unit planes tell apart by at least a margin, in φ = (1, x)."""
    planes = rng.normal(size=(n_classes, d + 1))
    planes[:, 0] *= 0.1  # no class is far off
    planes -= planes.mean(axis=0)
    planes /= np.linalg.norm(planes)
    X = rng.uniform(-1.0, 1.0, size=(40 * n, d))
    scores = np.sort(np.column_stack([np.ones(len(X)), X]) @ planes.T, axis=1)
    X = X[scores[:, -1] - scores[:, -2] > margin][:n]
    return X, np.argmax(np.column_stack([np.ones(len(X)), X]) @ planes.T, axis=1)


@pytest.mark.parametrize("k", [2, 4])
def test_twins_agree(k, backend, rng):
    n = 150  # more rows than are scored at once
    rows, codes = rng.integers(-4, 5, size=(n, 3)) / 4.0, rng.integers(0, k, n)
    codes[70:] = np.argmax(rows[70:] @ rng.integers(-2, 3, size=(3, k)), axis=1)  # long runs without mistakes
    rows[7] = 0.0
    weights = rng.choice([0.0, 0.5, 1.0, 2.25, 3.0], n)
    start = np.zeros((k, 3))
    ours = compiled.interpreted(rows, codes, weights, start)
    theirs = agnostic(*(backend.asarray(part) for part in (rows, codes, weights, start)))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(to_numpy(b), a, rtol=1e-12, atol=1e-12)


def test_a_mistake_adds_the_row():
    """Three rows by hand: φ = (1, x), and a plane of zero is wrong everywhere."""
    X, t = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1, -1, 1])
    model = Perceptron().partial_fit(X, t)
    w = np.zeros(3)
    for x, sign in zip(np.column_stack([np.ones(3), X]), t, strict=True):
        w += sign * x * (sign * (w @ x) <= 0)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_[0]), w)
    assert model.n_mistakes_ == 3


@pytest.mark.parametrize("order", range(5))
def test_novikoff(order, rng):
    """At most (R/γ)² mistakes, whatever the order of the rows."""
    X, y = separable(rng)
    turn = np.random.default_rng(order).permutation(len(X))
    model = Perceptron(max_iter=10_000).fit(X[turn], y[turn])
    assert model.converged_
    np.testing.assert_array_equal(model.predict(X), y)
    # The largest entry of X is below one: the unit is a half, and φ = (1, 2 x).
    phi = np.column_stack([np.ones(len(X)), X / model._unit_])
    w = np.append(model.intercept_, model.coef_[0] * model._unit_)
    gamma = np.min((2 * y - 1) * (phi @ w)) / np.linalg.norm(w)
    assert gamma > 0
    assert 0 < model.n_mistakes_ <= np.max(np.sum(phi**2, axis=1)) / gamma**2
    assert model.mistakes_[-1] == 0


def test_novikoff_of_several_classes(rng):
    X, y = separable(rng, n_classes=4, margin=0.1)
    model = Perceptron(max_iter=10_000).fit(X, y)
    assert model.converged_
    np.testing.assert_array_equal(model.predict(X), y)
    phi = np.column_stack([np.ones(len(X)), X / model._unit_])
    scores = phi @ np.column_stack([model.intercept_, model.coef_ * model._unit_]).T
    size = np.linalg.norm(np.column_stack([model.intercept_, model.coef_ * model._unit_]))
    own = scores[np.arange(len(X)), y]
    scores[np.arange(len(X)), y] = -np.inf
    gamma = np.min(own - scores.max(axis=1)) / size
    assert 0 < model.n_mistakes_ <= 2 * np.max(np.sum(phi**2, axis=1)) / gamma**2


def test_classes_that_planes_cannot_tell_apart_are_said():
    X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["even", "odd", "odd", "even"]
    with pytest.warns(ConvergenceWarning, match=r"mistakes in pass 50: the classes are not separated"):
        model = Perceptron(max_iter=50).fit(X, y)
    assert not model.converged_
    assert model.n_iter_ == 50


def test_the_pocket_holds_the_best_of_all_passes(rng):
    y = rng.integers(0, 2, 100)
    X = rng.normal(size=(100, 2)) + y[:, None]
    with pytest.warns(ConvergenceWarning):
        kept = Perceptron(max_iter=12, keep="pocket").fit(X, y).score(X, y)
    with pytest.warns(ConvergenceWarning):
        ends = [Perceptron(max_iter=passes).fit(X, y).score(X, y) for passes in range(1, 13)]
    assert kept == max(ends) > ends[-1]


def test_averages_and_pockets_are_better_where_classes_overlap(rng):
    y = rng.integers(0, 2, 2000)
    X = rng.normal(size=(2000, 5)) + 0.8 * y[:, None]
    found = {}
    for keep in ("last", "average", "pocket"):
        with pytest.warns(ConvergenceWarning):
            found[keep] = Perceptron(keep=keep, max_iter=30).fit(X, y).score(X, y)
    assert found["average"] >= found["last"] + 0.03
    assert found["pocket"] >= found["last"]


def test_the_average_is_over_all_visits(rng):
    X, y = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    model = Perceptron(keep="average").partial_fit(X, y)
    total, w = np.zeros(3), np.zeros(3)
    for x, sign in zip(np.column_stack([np.ones(40), X / model._unit_]), 2 * y - 1, strict=True):
        w = w + sign * x * (sign * (w @ x) <= 0)
        total += w
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_[0] * model._unit_), total / 40)


def test_weights_repeat_rows(rng):
    X, y = separable(rng)
    times = rng.integers(0, 4, len(X))
    weighted = Perceptron(max_iter=5000).fit(X, y, sample_weight=times)
    repeated = Perceptron(max_iter=5000).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-12)
    assert weighted.n_mistakes_ == repeated.n_mistakes_


def test_pieces_promise_their_classes(rng):
    X, y = separable(rng, n_classes=3, margin=0.05)
    order = np.argsort(y)
    model = Perceptron()
    for part in np.array_split(order, 4):
        model.partial_fit(X[part], y[part], classes=[0, 1, 2])
    assert list(model.classes_) == [0, 1, 2]
    with pytest.raises(ValueError, match="not among"):
        model.partial_fit(X[:2], ["a", "b"])
    with pytest.raises(ValueError, match="given before"):
        model.partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="1 class"):
        Perceptron().partial_fit(X[y == 0], y[y == 0])
    assert not hasattr(Perceptron(keep="pocket"), "partial_fit")


def test_orders_may_be_random(rng):
    X, y = separable(rng)
    one, same, other = (
        Perceptron(shuffle=True, random_state=seed, max_iter=5000).fit(X, y) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.coef_, same.coef_)
    assert not np.array_equal(one.coef_, other.coef_)


def test_units_a_power_of_two_apart_have_the_same_planes(rng):
    X, y = separable(rng)
    plain = Perceptron(max_iter=5000).fit(X, y)
    for unit in (2.0**-300, 2.0**300):
        scaled = Perceptron(max_iter=5000).fit(X * unit, y)
        np.testing.assert_allclose(scaled.coef_ * unit, plain.coef_, rtol=1e-12)
        np.testing.assert_array_equal(scaled.mistakes_, plain.mistakes_)


def test_a_frame_names_its_classes(rng):
    import pandas as pd

    X, y = separable(rng)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=np.array(["left", "right"])[y])
    model = Perceptron(max_iter=5000).fit(frame, "kind")
    assert list(model.classes_) == ["left", "right"]
    assert model.score(frame[["a", "b", "c"]], frame["kind"]) == 1.0


@pytest.mark.parametrize("bad", [{"max_iter": 0}, {"keep": "first"}])
def test_bad_parameters_are_named(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        tractable.Perceptron(**bad).fit([[0.0], [1.0]], [0, 1])
