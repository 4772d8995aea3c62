"""Factors and inverses in the memory of a large matrix, in blocks so small that a small one has many."""

import numpy as np
import pytest

from conftest import BACKENDS
from tractable.arrays import linalg
from tractable.arrays.namespace import to_numpy
from tractable.data import blocks
from tractable.gaussian_process.posteriors.exact import Observations, factorized, log_evidence
from tractable.kernels import RBF, Matern, White
from tractable.primitives import in_place

OTHERS = [b for b in BACKENDS if not b.name.startswith("numpy")]


@pytest.fixture(params=[7, 16, 64], ids="block {}".format)
def _small_blocks(request, monkeypatch):
    monkeypatch.setattr(in_place, "BLOCK", request.param)
    monkeypatch.setattr(in_place, "HOST_BLOCK", request.param)
    monkeypatch.setattr(in_place, "LEAST_ROWS", request.param + 1)
    monkeypatch.setattr(in_place, "LEAST_PART", 1 + request.param // 4)
    monkeypatch.setattr(linalg, "LARGE", request.param)
    monkeypatch.setattr(blocks, "DEVICE_ENTRIES", 50 * request.param)


@pytest.fixture
def spd(rng):
    root = rng.standard_normal((50, 60))
    return root @ root.T


@pytest.mark.usefixtures("_small_blocks")
@pytest.mark.parametrize("library", [b for b in BACKENDS if b.name == "numpy"] + OTHERS, ids=lambda b: b.name)
class TestInPlace:
    """The matrix is its factor, and then its inverse."""

    def test_factor_solutions_and_inverse(self, library, spd, rng):
        unread = np.where(np.tri(50, dtype=bool), spd, np.nan)
        matrix, wanted = library.asarray(unread), np.linalg.cholesky(spd)
        lower, good = in_place.cholesky_in_place(matrix)
        assert good
        assert lower is matrix
        np.testing.assert_allclose(to_numpy(lower), wanted, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(np.triu(to_numpy(lower), 1), 0.0)
        b = rng.standard_normal((50, 3))
        for transposed in (False, True):
            found = linalg.solve_triangular(lower, library.asarray(b), transposed=transposed)
            np.testing.assert_allclose(
                to_numpy(found), np.linalg.solve(wanted.T if transposed else wanted, b), rtol=1e-7, atol=1e-9
            )
        inverse = in_place.inverse_in_place(lower)
        assert inverse is matrix
        wanted = np.linalg.inv(spd)
        np.testing.assert_allclose(np.tril(to_numpy(inverse)), np.tril(wanted), atol=1e-9 * wanted.max())

    def test_a_matrix_without_a_factor_is_seen(self, library, spd):
        singular = spd.copy()
        singular[-1, :-1], singular[-1, -1] = spd[0, :-1], spd[0, 0]
        assert not in_place.cholesky_in_place(library.asarray(singular))[1]
        assert not in_place.cholesky_in_place(library.asarray(-spd))[1]

    @pytest.mark.parametrize("kernel", [1.5 * RBF([1.0, 2.0]), Matern(nu=2.5) * RBF(3.0) + 0.1 * White(0.5)])
    def test_evidence_gradient_and_leave_one_out(self, library, kernel, rng):
        x = rng.standard_normal((40, 2))
        given = {"x": x, "y": np.sin(x), "basis": np.ones((40, 1)), "noise_scale": rng.uniform(1.0, 2.0, 40)}
        rows = Observations(**given)
        there = Observations(**{name: library.asarray(each) for name, each in given.items()})
        mine, theirs = (log_evidence(kernel, 0.1, each) for each in (there, rows))
        np.testing.assert_allclose(mine.value, theirs.value, rtol=1e-10)
        np.testing.assert_allclose(mine.kernel_gradient, theirs.kernel_gradient, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(mine.noise_gradient, theirs.noise_gradient, rtol=1e-8)
        mine, theirs = (factorized(kernel, 0.1, each) for each in (there, rows))
        np.testing.assert_allclose(to_numpy(mine.precisions()), theirs.precisions(), rtol=1e-9)
        bound = mine.rounding(mine.lower)
        np.testing.assert_allclose(to_numpy(bound), theirs.rounding(theirs.lower), rtol=1e-9)


@pytest.mark.parametrize("n", [40, 600])
@pytest.mark.parametrize("kind", ["single", "by columns", "strided", "read-only"])
def test_other_matrices_of_the_host_are_copied(n, kind, rng, monkeypatch):
    """BLAS is given doubles in C order alone: what lies beside a matrix is not overwritten."""
    monkeypatch.setattr(in_place, "LEAST_ROWS", 513)
    root = rng.standard_normal((n, n + 50))
    spd = root @ root.T
    around = np.zeros((2 * n, 2 * n), dtype=np.float32 if kind == "single" else np.float64)
    given = {"by columns": np.asfortranarray(spd), "strided": around[::2, ::2]}.get(kind, around[:n, :n])
    given[...] = spd
    given.flags.writeable = kind != "read-only"
    before, wanted = around.copy(), np.asarray(given, dtype=np.float64).copy()
    lower, good = in_place.cholesky_in_place(given)
    assert good
    np.testing.assert_array_equal(around, before)
    np.testing.assert_allclose(lower, np.linalg.cholesky(wanted), atol=1e-9 * n)
    given = lower.astype(np.float32) if kind == "single" else np.asfortranarray(lower)
    inverse = in_place.inverse_in_place(given)
    np.testing.assert_allclose(np.tril(inverse), np.tril(np.linalg.inv(wanted)), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [513, 700, 1030])
def test_threads_change_nothing_on_the_host(n, rng, monkeypatch):
    monkeypatch.setattr(in_place, "LEAST_ROWS", 513)
    root = rng.standard_normal((n, n + 50))
    matrix, found = root @ root.T, []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", threads)
        lower, good = in_place.cholesky_in_place(matrix.copy())
        assert good
        found.append((lower.copy(), np.tril(in_place.inverse_in_place(lower))))
    for lower, inverse in found:
        np.testing.assert_array_equal(lower, found[0][0])
        np.testing.assert_array_equal(inverse, found[0][1])
    lower, inverse = found[0]
    np.testing.assert_allclose(lower @ lower.T, matrix, rtol=1e-12, atol=1e-12 * n)
    both = inverse + np.tril(inverse, -1).T
    np.testing.assert_allclose(both @ matrix, np.eye(n), atol=1e-9)
    monkeypatch.setattr(in_place, "routine", lambda *_: None)  # a BLAS whose sizes have 64 bits
    whole, good = in_place.cholesky_in_place(matrix.copy())
    assert good
    np.testing.assert_allclose(whole, lower, atol=1e-11)
    np.testing.assert_allclose(np.tril(in_place.inverse_in_place(whole)), inverse, atol=1e-9)


class OutOfMemoryError(RuntimeError):
    """As torch's and CuPy's are called."""


def test_a_block_without_memory_is_cut_in_halves(monkeypatch):
    tried = []

    def of(rows):
        tried.append(rows)
        if rows.stop - rows.start > 3:
            raise OutOfMemoryError
        return list(range(rows.start, rows.stop))

    found = blocks.map_matrix_rows(of, 10, 5, OTHERS[0].asarray(np.zeros(1)), 1)
    assert [row for part in found for row in part] == list(range(10))
    assert tried[0] == slice(0, 10)
    monkeypatch.setenv("TRACTABLE_DEVICE_MEMORY", str(64 * 5 * 2))
    assert blocks.matrix_rows(OTHERS[0].asarray(np.zeros(1)), 5, 1) == 2

    def broken(rows):
        raise OutOfMemoryError(rows)

    with pytest.raises(OutOfMemoryError):
        blocks.map_matrix_rows(broken, 4, 5, OTHERS[0].asarray(np.zeros(1)), 1)
