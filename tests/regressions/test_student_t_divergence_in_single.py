"""In single precision the divergence of two Student-t distributions was NaN, with warnings."""

import numpy as np
import pytest

from tractable import MultivariateStudentT, StudentT


def single(x):
    return np.asarray(x, dtype=np.float32)


def test_it_is_that_of_double_precision_rounded():
    p, q = ({"dof": 9.0, "location": 1.0, "scale": 2.0}, {"dof": 3.0, "location": 0.0, "scale": 1.0})
    expected = StudentT(**p).kl_divergence(StudentT(**q))
    rounded = [StudentT(**{name: single(x) for name, x in d.items()}) for d in (p, q)]
    found = rounded[0].kl_divergence(rounded[1])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.parametrize("dof", [1.0, 4.0])
def test_vectors_too(dof):
    p, q = (MultivariateStudentT(dof=dof, location=single([c, 0.0]), scale=single(np.eye(2))) for c in (0, 1))
    expected = MultivariateStudentT(dof=dof, location=[0.0, 0.0], scale=np.eye(2)).kl_divergence(
        MultivariateStudentT(dof=dof, location=[1.0, 0.0], scale=np.eye(2))
    )
    found = p.kl_divergence(q)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-6)
