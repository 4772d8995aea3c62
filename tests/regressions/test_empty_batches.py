"""Quadratures asked an empty batch for its largest member, and mixtures refused one."""

import numpy as np
import pytest

from tractable import Mixture, MultivariateNormal, Normal, StudentT, expectation


def test_divergence_of_no_student_t():
    d = StudentT(dof=[], location=0.0, scale=1.0)
    assert d.kl_divergence(d).shape == (0,)


def test_mixtures_of_no_members():
    pair = MultivariateNormal(mean=np.zeros((0, 3, 2)), covariance=np.eye(2))
    d = Mixture(components=pair)
    assert d.mode.shape == (0, 2)
    assert d.entropy().shape == d.kl_divergence(d).shape == (0,)


@pytest.mark.parametrize("n_samples", [None, 100])
def test_expectations_over_no_members(n_samples):
    none = Normal(mean=np.zeros((0, 2)), variance=1.0)
    found = expectation(lambda x: x[:, None] ** np.arange(3), none, n_samples=n_samples)
    assert found.value.shape == found.standard_error.shape == (0, 2, 3)
