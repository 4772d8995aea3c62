"""Steps to the degrees of freedom of Student's t, from sums of a fixed size, against the likelihood."""

import numpy as np
import pytest
from scipy.stats import multivariate_t

from tractable.engines.roots import log_minus_digamma_root
from tractable.engines.student_t import ScaleMixture


def likelihood(rows, dof):
    return multivariate_t.logpdf(
        rows, loc=np.zeros(rows.shape[1]), shape=np.eye(rows.shape[1]), df=dof
    ).mean()


def sums_of(rows, dof):
    student = ScaleMixture(dof=np.array([dof]), dim=rows.shape[1])
    squared = np.sum(rows**2, axis=1)[None]
    return student, student.sums(np.ones_like(squared), *student.precisions(squared))


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("tails", [0.5, 3.0, 50.0])
@pytest.mark.parametrize("dof", [0.1, 1.0, 4.0, 30.0, 1e3])
def test_each_step_raises_the_likelihood_by_what_it_promises(dof, tails, dim, rng):
    rows = rng.standard_t(tails, (400, 1)) * np.ones((1, dim)) + 0.1 * rng.normal(size=(400, dim))
    student, sums = sums_of(rows, dof)
    here = likelihood(rows, dof)
    likelier, gain = student.likelier_dof(sums, 0.01)
    assert likelihood(rows, likelier[0]) - here >= 0.5 * gain[0] - 1e-12
    assert gain[0] >= 0.0
    expanded = student.expanded_dof(sums, np.ones(1), 0.01)
    assert likelihood(rows, expanded[0]) >= here - 1e-12


def test_sums_of_blocks_are_those_of_all_rows(rng):
    rows = rng.standard_t(3.0, (50, 2))
    whole, parts = sums_of(rows, 4.0)[1], [sums_of(part, 4.0)[1] for part in (rows[:20], rows[20:])]
    for name in ("weight", "precision", "excess", "spread"):
        np.testing.assert_allclose(getattr(parts[0] + parts[1], name), getattr(whole, name), rtol=1e-12)


def test_the_shape_of_a_gamma_is_found_over_all_sizes():
    from tractable.arrays.gamma import log_minus_digamma

    shapes = np.geomspace(1e-9, 1e12, 2001)
    np.testing.assert_allclose(log_minus_digamma_root(log_minus_digamma(shapes)), shapes, rtol=1e-13)
