"""What failed in torch: functions that it lacks, arrays made beside the device, signs left to the library."""

import array_api_strict
import numpy as np
import pytest

from tractable import Empirical
from tractable.arrays.svd import svd_from_gram, thin_svd
from tractable.distributions.discrete.dirichlet_multinomial import fitted_concentrations


def test_samples_do_without_what_torch_lacks(monkeypatch):
    def lacking(_):
        raise NotImplementedError

    monkeypatch.setattr(array_api_strict, "unique_all", lacking)
    values = np.array([[2.0, 1.0], [0.0, 5.0], [2.0, 1.0]])
    d = Empirical(values=array_api_strict.asarray(values))
    np.testing.assert_array_equal(np.asarray(d.atoms), [[0.0, 5.0], [2.0, 1.0]])
    np.testing.assert_allclose(np.asarray(d.masses), [1 / 3, 2 / 3])


def test_a_sample_in_single_precision_is_searched_in_double():
    d = Empirical(values=np.array([1.0, 2.0, 4.0], dtype=np.float32))
    np.testing.assert_allclose(d.cdf(np.array([1.0, 1.5, 5.0])), [1 / 3, 1 / 3, 1.0], rtol=1e-6)


@pytest.mark.parametrize("decompose", [thin_svd, svd_from_gram])
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4)])
def test_the_largest_entry_of_a_right_vector_is_positive(decompose, shape, rng):
    for sign in (1.0, -1.0):
        a = sign * rng.standard_normal(shape)
        svd = decompose(a)
        largest = np.argmax(np.abs(svd.right), axis=0)
        assert np.all(np.take_along_axis(svd.right, largest[None], axis=0) > 0)
        np.testing.assert_allclose(svd.dense(), a, atol=1e-12)


def test_right_vectors_of_nothing_do_not_depend_on_the_library():
    svd = svd_from_gram(np.outer([1.0, 2.0, 2.0], [1.0, 2.0, 4.0]))
    np.testing.assert_allclose(svd.right[:, 1], np.array([20.0, -2.0, -4.0]) / np.sqrt(420.0))
    np.testing.assert_allclose(np.abs(svd.right[:, 2]), np.array([0.0, 4.0, 2.0]) / np.sqrt(20.0), atol=1e-12)


def test_ties_go_to_the_first_entry():
    assert np.all(thin_svd(np.array([[2.0, 1.0], [1.0, 2.0 + 1e-15]])).right[0] > 0)


def test_concentrations_are_fitted_on_the_device_of_the_counts(rng):
    device = array_api_strict.Device("device1")
    counts = rng.multinomial(9, rng.dirichlet([1.0, 2.0, 3.0], 40)).astype(float)
    found = fitted_concentrations(array_api_strict.asarray(counts, device=device))
    assert found.device == device
