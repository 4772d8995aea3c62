"""Trigamma, what Stirling's formula lacks, and gamma draws of very small shape, against mpmath."""

import mpmath
import numpy as np
import pytest

from tractable.arrays.gamma import stirling_error, trigamma
from tractable.arrays.namespace import to_numpy
from tractable.arrays.random import log_standard_gamma, standard_gamma
from tractable.testing.assertions import assert_mean

X = np.concatenate([np.geomspace(1e-8, 1e12, 101), [9.999999, 10.0, 10.000001]])


def rest(x):
    x = mpmath.mpf(x)
    return mpmath.loggamma(x) - ((x - 0.5) * mpmath.log(x) - x + mpmath.log(2 * mpmath.pi) / 2)


@pytest.mark.parametrize(
    ("function", "oracle"), [(trigamma, lambda x: mpmath.psi(1, x)), (stirling_error, rest)]
)
def test_pieces_to_the_last_digits(function, oracle, backend):
    with mpmath.workdps(50):
        expected = np.array([float(oracle(x)) for x in X])
    found = function(backend.asarray(X))
    assert backend.owns(found)
    error = np.abs(to_numpy(found) - expected) / np.maximum(1.0, np.abs(expected))
    assert error.max() < 4e-15


def test_trigamma_keeps_relative_digits():
    expected = np.array([float(mpmath.psi(1, x)) for x in X])
    np.testing.assert_allclose(trigamma(X), expected, rtol=4e-15)


@pytest.mark.parametrize("shape", [1e-4, 0.3, 1.0, 50.0])
def test_log_gamma_draws_have_the_moments_of_log_gamma(shape, rng):
    """E log g = ψ(a) and var log g = ψ′(a)."""
    draws = log_standard_gamma(rng, np.array([shape]), 50_000)
    mean, variance = float(mpmath.digamma(shape)), float(mpmath.psi(1, shape))
    assert_mean((draws - mean) / variance**0.5, 0.0, "logarithms")
    assert_mean((draws - mean) ** 2 / variance, 1.0, "squares of logarithms")


def test_gamma_draws_stay_in_their_library(backend):
    shape = backend.asarray(np.array([[0.5, 2.0, 9.0]]))
    for draw in (standard_gamma, log_standard_gamma):
        found = draw(3, shape, 7)
        assert backend.owns(found)
        assert tuple(found.shape) == (7, 1, 3)
        np.testing.assert_array_equal(to_numpy(found), draw(3, to_numpy(shape), 7))
