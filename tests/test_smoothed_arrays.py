"""Smoothed samples in every array library: the same answers, walls, periods, levels and moments included."""

import numpy as np
import pytest

from quick import some
from tractable.arrays.namespace import to_numpy
from tractable.distributions import SmoothedEmpirical

NUMBERS = np.array([0.1, 0.4, 2.0, 2.5, 7.0])
DOMAINS = [
    {},
    {"period": 3.0},
    pytest.param({"bounds": (0, 10)}, marks=pytest.mark.slow),
    pytest.param({"bounds": (0, None)}, marks=pytest.mark.slow),
    pytest.param({"bounds": (0.0, 1e9)}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("window", ["gaussian", "biweight"])
@pytest.mark.parametrize("domain", some(DOMAINS))
def test_numbers(backend, window, domain):
    ours, theirs = (
        SmoothedEmpirical(points=make(NUMBERS), bandwidth=make(0.5), window=window, **domain)
        for make in (np.asarray, backend.asarray)
    )
    x, q = np.array([0.2, 1.0, 2.9, 40.0]), np.array([0.01, 0.3, 0.9])
    for name in ("log_prob", "cdf", "survival"):
        found = getattr(theirs, name)(backend.asarray(x))
        assert backend.owns(found)
        np.testing.assert_allclose(to_numpy(found), getattr(ours, name)(x), rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(to_numpy(theirs.icdf(backend.asarray(q))), ours.icdf(q), rtol=1e-9)
    for name in ("mean", "variance"):
        np.testing.assert_allclose(float(getattr(theirs, name)), getattr(ours, name), rtol=1e-8)


@pytest.mark.parametrize(
    "given",
    [
        {"bandwidth": 0.5},
        {"bandwidth": [0.5, 0.8], "bounds": (-9, 9)},
        {"bandwidth": 0.5, "period": (6.0, None)},
        {"bandwidth": 0.5, "bounds": (-5, None), "window": "biweight"},
        {"bandwidth": [[0.5, 0.1], [0.1, 0.4]]},
    ],
)
def test_vectors(backend, given, rng):
    x = rng.standard_normal((20, 2))
    h = np.asarray(given["bandwidth"])
    ours, theirs = (
        SmoothedEmpirical(**{**given, "points": make(x), "bandwidth": make(h)})
        for make in (np.asarray, backend.asarray)
    )
    np.testing.assert_allclose(to_numpy(theirs.log_prob(backend.asarray(x))), ours.log_prob(x), rtol=1e-10)
    assert backend.owns(theirs.sample(3, rng=0))
    if "window" not in given:
        np.testing.assert_allclose(to_numpy(theirs.covariance), ours.covariance, rtol=1e-9)
        some = [theirs.condition([0], backend.asarray([0.3])).mean, theirs.marginal([1]).mean]
        expected = [ours.condition([0], [0.3]).mean, ours.marginal([1]).mean]
        for found, known in zip(some, expected, strict=True):
            np.testing.assert_allclose(to_numpy(found), known, rtol=1e-9)
