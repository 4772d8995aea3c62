"""Kernels grown by evidence: what the data were made of is found, and the path says how."""

import numpy as np
import pandas as pd
import pytest

import tractable
from tractable.gaussian_process.kernel_search import strongest_period
from tractable.kernels import Sum, White
from tractable.testing.persistence_laws import survives_saving


@pytest.fixture(scope="module")
def seasons():
    """A trend and a season, whose parts are known."""
    rng = np.random.default_rng(5)
    x = np.sort(rng.uniform(0.0, 8.0, 90))[:, None]
    trend, season = 1.5 * x[:, 0], np.sin(2.0 * np.pi * x[:, 0] / 1.3)
    return x, trend, season, trend + season + 0.1 * rng.standard_normal(90)


@pytest.fixture(scope="module")
def found(seasons):
    x, _, _, y = seasons
    return tractable.search_kernel(x, y, max_depth=3, beam=1)


@pytest.mark.slow
def test_a_trend_and_a_season_are_found(found, seasons):
    x, trend, season, _ = seasons
    assert sorted(found.best.expression.split(" + ")) == ["Linear", "Periodic"]
    period = next(name for name in found.kernel.theta_names if "periodicity" in name)
    at = found.kernel.theta_names.index(period)
    assert np.exp(found.kernel.theta[at]) == pytest.approx(1.3, rel=0.02)
    parts = found.decompose(x)
    for name, expected in (("Linear", trend), ("Periodic", season)):
        (k,) = [i for i, part in enumerate(parts.names) if part.startswith(name)]
        gap = parts.mean[k] - expected
        assert np.std(gap - gap.mean()) < 0.1
    assert found.model.noise_variance_ == pytest.approx(0.01, rel=0.5)
    tractable.plot(parts)
    tractable.plot(found)


def test_the_path_rises_and_is_shown(found):
    criteria = [step.criterion for step in found.path]
    assert np.all(np.diff(criteria) > 0.0)
    assert [step.depth for step in found.path] == list(range(1, len(found.path) + 1))
    assert max(one.criterion for one in found.candidates) < found.best.criterion + 0.5
    assert found.best.expression in str(found)
    assert len(str(found).splitlines()) == len(found.path) + 1
    expressions = [one.expression for one in found.candidates]
    assert len(set(expressions)) == len(expressions)


def test_a_candidate_is_a_process_of_its_kernel(found, seasons):
    x, _, _, y = seasons
    best = found.best
    assert isinstance(best.kernel, Sum)
    assert isinstance(best.kernel.terms[-1], White)
    process = tractable.GaussianProcessRegressor(best.kernel, optimizer=None).fit(x, y)
    assert process.log_evidence_ == pytest.approx(best.log_evidence, abs=1e-6)
    assert process.loo_log_density_ == pytest.approx(best.loo_log_density, abs=0.05)
    p = len(best.kernel.theta)
    assert best.criterion == pytest.approx(best.log_evidence - 0.5 * p * np.log(90))
    assert found.model.log_evidence_ >= best.log_evidence - 1e-6


def test_noise_alone_needs_no_structure():
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0.0, 5.0, (60, 1)), rng.standard_normal(60)
    found = tractable.search_kernel(x, y, max_depth=2, beam=1)
    assert len(found.path) == 1


def test_columns_that_matter_are_found_in_a_frame():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.standard_normal((80, 3)), columns=["a", "b", "c"])
    y = np.sin(2.0 * frame["a"]) + 2.0 * frame["c"] + 0.1 * rng.standard_normal(80)
    found = tractable.search_kernel(frame, y, kernels=["rbf", "linear"], max_depth=2, beam=1)
    assert sorted(found.best.expression.split(" + ")) == ["Linear(c)", "RBF(a)"]
    assert found.model.score(frame, y) > 0.97
    found.decompose(frame)


def test_many_rows_are_searched_by_some_of_them():
    rng = np.random.default_rng(3)
    x = rng.uniform(0.0, 5.0, (150, 1))
    y = np.sin(2.0 * x[:, 0]) + 0.1 * rng.standard_normal(150)
    first, second = (
        tractable.search_kernel(x, y, kernels="rbf", max_depth=1, max_rows=50, random_state=4)
        for _ in range(2)
    )
    assert first.n_rows == 50
    assert len(first.model.X_train_) == 150
    assert first.best == second.best or first.best.criterion == second.best.criterion


def test_periods_from_a_periodogram():
    x = np.sort(np.random.default_rng(0).uniform(100.0, 110.0, 200))
    assert strongest_period(x, 3.0 * x + np.sin(2.0 * np.pi * x / 0.7)) == pytest.approx(0.7, rel=0.02)


def test_a_search_is_saved(found):
    survives_saving(found.best, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernels": ["rbf", "rbf"]}, "kernels"),
        ({"kernels": ["wavelet"]}, "kernels"),
        ({"kernels": []}, "kernels"),
        ({"kernels": None}, "kernels"),
        ({"kernels": 5}, "kernels"),
        ({"random_state": "a"}, "random_state"),
        ({"X": pd.DataFrame({"a": [1.0, 2.0], "b": ["u", "v"]})}, "X must have columns of numbers.*'b'"),
        ({"max_depth": 0}, "max_depth"),
        ({"beam": 1.5}, "beam"),
        ({"max_rows": 1}, "max_rows"),
        ({"X": [[1.0], [np.nan]]}, "X"),
        ({"X": [[1.0]], "y": [1.0]}, "X"),
        ({"X": [[1.0], [1.0]]}, "X"),
        ({"y": [1.0, np.nan]}, "y contains NaN: a search needs"),
        ({"y": [1.0]}, "y"),
        ({"y": [[1.0, 2.0], [3.0, 4.0]]}, "y"),
        ({"mean": "cubic"}, "mean"),
    ],
)
def test_bad_input_is_refused(options, message):
    arguments = {"X": [[1.0], [2.0]], "y": [1.0, 2.0]} | options
    with pytest.raises(ValueError, match=message):
        tractable.search_kernel(arguments.pop("X"), arguments.pop("y"), **arguments)
