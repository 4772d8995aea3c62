"""Every law of kernels on every kernel, in every array library."""

import numpy as np
import pytest

from catalogue import KERNELS, cross
from rows.kernels import FAR_ROWS, HOLD_FUNCTIONS
from tractable.arrays.namespace import to_numpy
from tractable.testing.kernel_laws import (
    KERNEL_LAWS,
    KernelOfRows,
    blocks_of_rows_make_the_matrix,
    diagonal_is_that_of_the_matrix,
    gradient_is_the_derivative,
    matrix_is_positive_semidefinite,
    matrix_is_symmetric,
)
from tractable.testing.persistence_laws import PERSISTENCE_LAWS


@pytest.mark.spec("KER-01", "KER-02", "KER-03", "KER-04", "KER-07", "KER-08", "KER-09", "KER-10", "KER-11")
@pytest.mark.spec("KER-12", "KER-20", "KER-22")
@pytest.mark.parametrize(("law", "make"), cross(KERNEL_LAWS, KERNELS, most=1))
def test_kernel_law(law, make, rng):
    law(make(), rng)


@pytest.mark.parametrize(
    ("law", "make"),
    cross(
        [
            matrix_is_symmetric,
            matrix_is_positive_semidefinite,
            diagonal_is_that_of_the_matrix,
            gradient_is_the_derivative,
            blocks_of_rows_make_the_matrix,
        ],
        FAR_ROWS,
    ),
)
def test_kernel_law_far_out(law, make, rng):
    law(make(), rng)


def kernel_and_rows(row, rng, *numbers):
    made = row.make()
    if isinstance(made, KernelOfRows):
        return made.kernel, *(made.draw(rng, n) for n in numbers)
    return made, *(rng.standard_normal((n, max(2, made.n_columns))) for n in numbers)


@pytest.mark.parametrize("row", KERNELS, ids=lambda row: row.name)
def test_kernels_in_every_library(row, backend, rng):
    k, x, y = kernel_and_rows(row, rng, 9, 4)
    W = rng.standard_normal((9, 9))
    W += W.T
    own, other = backend.asarray(x), backend.asarray(y)
    size = 1e-12 * max(1.0, float(np.max(np.abs(k(x)))))
    for theirs, ours in ((k(own), k(x)), (k(own, other), k(x, y)), (k.diagonal(own), k.diagonal(x))):
        assert backend.owns(theirs)
        np.testing.assert_allclose(to_numpy(theirs), ours, rtol=1e-11, atol=size)
    assert tuple(k(own, other[:0, :]).shape) == (9, 0)
    np.testing.assert_allclose(
        to_numpy(k.multiply(own, other, other)), k.multiply(x, y, y), rtol=1e-10, atol=10.0 * size
    )
    gradient = k.contract_gradient(backend.asarray(W), own)
    assert isinstance(gradient, np.ndarray)
    np.testing.assert_allclose(gradient, k.contract_gradient(W, x), rtol=1e-10, atol=1e2 * size)


SAVED = [row for row in KERNELS if row.name not in HOLD_FUNCTIONS]


@pytest.mark.parametrize("row", SAVED, ids=lambda row: row.name)
def test_kernels_are_saved(row, rng):
    k, _ = kernel_and_rows(row, rng, 1)
    for law in PERSISTENCE_LAWS:
        law(k, rng)


@pytest.mark.parametrize("name", sorted(HOLD_FUNCTIONS))
def test_functions_are_not_saved(name, tmp_path):
    import tractable

    k = next(row for row in KERNELS if row.name == name).make()
    with pytest.raises(ValueError, match="function"):
        tractable.save(k, tmp_path / "kernel")
