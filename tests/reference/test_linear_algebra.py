"""Matrix identities of the textbooks (Bishop, PRML, section 2.3 and appendix C), and factors of any scale."""

import numpy as np
import pytest

from tractable.arrays import linalg
from tractable.arrays.gradient import check_gradient, numerical_gradient
from tractable.arrays.linalg import (
    block_inverse,
    cholesky,
    inv_triangular,
    is_pd,
    is_psd,
    jittered_cholesky,
    log_det_cholesky,
    rank_one_update,
    schur_complement,
    sherman_morrison,
    solve_cholesky,
    solve_triangular,
)

EPS = np.finfo(float).eps


@pytest.fixture
def spd(rng):
    root = rng.standard_normal((5, 8))
    return root @ root.T


@pytest.fixture
def low_rank(rng):
    root = rng.standard_normal((6, 3))
    return root @ root.T


# --- derivatives -------------------------------------------------------------------------------------------


@pytest.mark.spec("MATH-01")
def test_derivatives_of_linear_and_quadratic_forms(rng, spd):
    A, x = rng.standard_normal((3, 5)), rng.standard_normal(5)
    check_gradient(lambda t: A @ t, A, x)
    check_gradient(lambda t: t @ spd @ t, lambda t: 2.0 * spd @ t, x)
    B = rng.standard_normal((5, 5))
    check_gradient(lambda t: t @ B @ t, lambda t: (B + B.T) @ t, x)
    with pytest.raises(AssertionError, match="differences say"):
        check_gradient(lambda t: t @ B @ t, lambda t: 2.0 * B @ t, x)


@pytest.mark.spec("MATH-02")
def test_derivative_of_an_inverse(rng, spd):
    A, inverse = spd, np.linalg.inv(spd)
    check_gradient(np.linalg.inv, -np.einsum("ik,lj->ijkl", inverse, inverse), A)
    dA = rng.standard_normal((5, 5))
    along = numerical_gradient(lambda t: np.linalg.inv(A + t * dA), np.array(0.0))
    np.testing.assert_allclose(along, -inverse @ dA @ inverse, rtol=1e-8, atol=1e-10)


@pytest.mark.spec("MATH-03")
def test_derivative_of_a_log_determinant(rng, spd):
    check_gradient(lambda a: np.linalg.slogdet(a)[1], np.linalg.inv(spd).T, spd)
    dA = rng.standard_normal((5, 5))
    dA = dA + dA.T
    along = numerical_gradient(lambda t: log_det_cholesky(cholesky(spd + t * dA)), np.array(0.0))
    np.testing.assert_allclose(along, np.trace(np.linalg.solve(spd, dA)), rtol=1e-8)


@pytest.mark.parametrize("unit", [1e-100, 1e-8, 1.0, 1e8, 1e100])
def test_differences_find_the_scale_of_each_coordinate(unit):
    check_gradient(lambda x: np.sum(np.log(x)), lambda x: 1.0 / x, np.array([unit, 3.0]), rtol=1e-9)
    check_gradient(lambda x: np.sum(x**3), lambda x: 3.0 * x**2, np.array([unit]), rtol=1e-9)


def test_differences_keep_ten_digits_at_zero_and_near_it():
    for at in (0.0, 1e-9, -1e-30):
        np.testing.assert_allclose(numerical_gradient(np.exp, np.array(at)), np.exp(at), rtol=1e-10)
    np.testing.assert_allclose(numerical_gradient(np.cos, np.array(0.0)), 0.0, atol=1e-12)


def test_steps_out_of_the_domain_are_given_up():
    def root(x):
        if np.any(x < 0.0):
            raise ValueError("x must not be negative")
        return np.sqrt(x)

    np.testing.assert_allclose(numerical_gradient(root, np.array(1e-3)), 0.5 / np.sqrt(1e-3), rtol=1e-9)


def test_gradients_are_told_apart():
    x = np.array([1.0, 2.0])
    with pytest.raises(AssertionError, match="shape"):
        check_gradient(np.sum, np.ones(3), x)
    with pytest.raises(AssertionError, match="nan"):
        check_gradient(np.sum, np.array([1.0, np.nan]), x)
    with pytest.raises(AssertionError, match=r"index \(0,\)"):
        check_gradient(np.sum, np.array([1.0 + 1e-5, 1.0]), x)
    with pytest.raises(ValueError, match="f must be finite at x"):
        check_gradient(lambda x: x[0] * np.inf, np.ones(2), x)


# --- partitioned matrices ----------------------------------------------------------------------------------


@pytest.mark.spec("MATH-04")
@pytest.mark.parametrize("n_first", [1, 2, 4])
def test_the_partitioned_inverse_is_the_inverse(n_first, rng):
    a = rng.standard_normal((5, 5)) + 3.0 * np.eye(5)
    np.testing.assert_allclose(block_inverse(a, n_first) @ a, np.eye(5), atol=1e-12)
    first = block_inverse(a, n_first)[:n_first, :n_first]
    A, B, C, D = a[:n_first, :n_first], a[:n_first, n_first:], a[n_first:, :n_first], a[n_first:, n_first:]
    np.testing.assert_allclose(np.linalg.inv(first), A - B @ np.linalg.solve(D, C), rtol=1e-10, atol=1e-12)


@pytest.mark.spec("MATH-05")
def test_precision_blocks_in_terms_of_covariance_blocks(spd):
    a, b = [0, 3], [1, 2, 4]
    precision = np.linalg.inv(spd)
    cross, rest = spd[np.ix_(a, b)], spd[np.ix_(b, b)]
    precision_aa = np.linalg.inv(schur_complement(spd, a))
    np.testing.assert_allclose(precision_aa, precision[np.ix_(a, a)], rtol=1e-10)
    precision_ab = -precision_aa @ cross @ np.linalg.inv(rest)
    np.testing.assert_allclose(precision_ab, precision[np.ix_(a, b)], rtol=1e-10)


def test_schur_complement_orders_as_asked_and_keeps_scales(spd):
    np.testing.assert_array_equal(schur_complement(spd, [3, -5]), schur_complement(spd, [0, 3])[::-1, ::-1])
    scales = 10.0 ** np.array([-90.0, 60.0, 0.0, 100.0, -100.0])
    scaled = schur_complement(spd * np.outer(scales, scales), [0, 3])
    kept = np.outer(scales[[0, 3]], scales[[0, 3]])
    np.testing.assert_allclose(scaled / kept, schur_complement(spd, [0, 3]), rtol=1e-12)


@pytest.mark.parametrize("keep", [[0, 0], [5], [-6], [0, -5]])
def test_indices_to_keep_must_exist_once(keep, spd):
    with pytest.raises(ValueError, match="keep must hold different indices"):
        schur_complement(spd, keep)


def test_blocks_without_an_inverse_are_refused(spd):
    with pytest.raises(ValueError, match="last block of a must be finite and invertible"):
        block_inverse(np.zeros((2, 2)), 1)
    with pytest.raises(ValueError, match="a must be finite and invertible"):
        block_inverse(np.ones((2, 2)), 1)
    with pytest.raises(ValueError, match="n_first"):
        block_inverse(spd, 5)


# --- definiteness ------------------------------------------------------------------------------------------


@pytest.mark.spec("MATH-08", "W-09", "KER-18", "E003-12")
def test_a_matrix_that_is_semidefinite_only():
    A = np.array([[9.0, -15.0], [-15.0, 25.0]])
    assert is_psd(A)
    assert not is_pd(A)
    for x, form in (([5.0, 3.0], 0.0), ([5.0, 2.0], 25.0)):
        assert np.array(x) @ A @ np.array(x) == form == (3.0 * x[0] - 5.0 * x[1]) ** 2
    np.testing.assert_allclose(np.linalg.eigvalsh(A), [0.0, 34.0], atol=1e-13)
    with pytest.raises(ValueError, match="A must be positive definite"):
        cholesky(A, name="A")


@pytest.mark.spec("MATH-08")
@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_definiteness_does_not_depend_on_units(unit, spd, low_rank):
    for scales in (np.full(6, unit), unit ** np.linspace(-1.0, 1.0, 6)):
        outer = np.outer(scales, scales)
        assert is_pd(spd * outer[:5, :5])
        assert is_psd(low_rank * outer)
        assert not is_pd(low_rank * outer)
        indefinite = (low_rank - 0.1 * np.diag(np.diag(low_rank))) * outer
        assert not is_psd(indefinite)
        assert not is_pd(indefinite)


def test_definiteness_wants_symmetry_and_squares():
    assert not is_psd(np.array([[2.0, 1.0], [0.0, 2.0]]))
    assert not is_pd(np.array([[2.0, 1.0], [0.0, 2.0]]))
    assert is_psd(np.array([[1.0, 0.0], [0.0, -1e-3]]), tol=1e-2)
    assert is_psd(np.zeros((3, 3)))
    assert not is_pd(np.zeros((3, 3)))
    for check in (is_psd, is_pd):
        with pytest.raises(ValueError, match="a must be square"):
            check(np.ones((2, 3)))
        with pytest.raises(ValueError, match="a must be finite"):
            check(np.array([[np.nan]]))


# --- factors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [0.0, 100.0])
def test_a_factor_keeps_its_digits_at_mixed_scales(spread, spd, rng):
    scales = 10.0 ** rng.uniform(-spread, spread, 5)
    lower = cholesky(spd * np.outer(scales, scales))
    np.testing.assert_allclose(lower / scales[:, None], np.linalg.cholesky(spd), rtol=1e-12)
    white = solve_triangular(lower, scales[:, None])
    np.testing.assert_allclose(white, solve_triangular(np.linalg.cholesky(spd), np.ones((5, 1))), rtol=1e-11)
    solved = solve_cholesky(lower, scales[:, None]) * scales[:, None]
    np.testing.assert_allclose(solved, np.linalg.solve(spd, np.ones((5, 1))), rtol=1e-10)


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        (np.ones((2, 3)), "S must be square"),
        (np.ones(3), "S must be square"),
        (np.array([[1.0, np.inf], [np.inf, 1.0]]), "S must be finite"),
        (np.array([[np.nan]]), "S must be finite"),
        (np.array([[1.0, 0.5], [0.4, 1.0]]), "S must be symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "S must be positive"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), "S must be positive"),
        (-np.eye(2), "S must be positive"),
        (np.stack([np.eye(2), -np.eye(2)]), r"S must be positive .* index \(1,\)"),
    ],
)
@pytest.mark.parametrize("factorise", [cholesky, jittered_cholesky])
def test_what_has_no_factor_is_refused_by_name(factorise, matrix, complaint):
    with pytest.raises(ValueError, match=complaint):
        factorise(matrix, name="S")


def test_a_singular_matrix_is_no_accident_of_rounding(low_rank):
    with pytest.raises(ValueError, match="must be positive definite"):
        cholesky(low_rank)


@pytest.mark.parametrize("spread", [0.0, 100.0])
def test_jitter_is_reported_small_and_in_the_units_of_each_variable(spread, low_rank, rng):
    scales = 10.0 ** rng.uniform(-spread, spread, 6)
    a = low_rank * np.outer(scales, scales)
    factor = jittered_cholesky(a)
    relative = factor.jitter / np.diag(a)
    assert np.all(relative > 0.0)
    assert np.all(relative < 1e4 * EPS)
    rebuilt = (factor.lower / scales[:, None]) @ (factor.lower / scales[:, None]).T
    np.testing.assert_allclose(rebuilt, low_rank + np.diag(factor.jitter / scales**2), rtol=1e-12, atol=1e-13)


def test_no_jitter_where_none_is_needed(spd, low_rank):
    factor = jittered_cholesky(np.stack([low_rank, low_rank + np.eye(6)]))
    assert np.all(factor.jitter[0] > 0.0)
    np.testing.assert_array_equal(factor.jitter[1], np.zeros(6))
    np.testing.assert_array_equal(jittered_cholesky(spd).lower, cholesky(spd))


def test_a_variable_without_variance_borrows_the_largest_scale(spd):
    a = np.zeros((6, 6))
    a[:5, :5] = 1e80 * spd
    factor = jittered_cholesky(a)
    assert 0.0 < factor.jitter[5] < 1e5 * EPS * a.max()
    np.testing.assert_allclose(factor.lower[:5, :5], np.sqrt(1e80) * np.linalg.cholesky(spd), rtol=1e-9)
    assert np.all(jittered_cholesky(np.zeros((2, 2))).jitter > 0.0)


def test_the_caller_may_allow_more_jitter(low_rank):
    indefinite = low_rank - 1e-5 * np.diag(np.diag(low_rank))
    with pytest.raises(ValueError, match="matrix must be positive semi-definite"):
        jittered_cholesky(indefinite)
    factor = jittered_cholesky(indefinite, max_jitter=1e-3)
    assert np.all(factor.jitter > 0.9e-5 * np.diag(indefinite))
    with pytest.raises(ValueError, match="must be positive semi-definite"):
        jittered_cholesky(low_rank, max_jitter=0.0)


# --- rank-one updates --------------------------------------------------------------------------------------


@pytest.mark.spec("MATH-13")
@pytest.mark.parametrize("weight", [1.0, 0.25, 1e12, -0.05])
def test_a_factor_follows_a_rank_one_update(weight, spd, rng):
    v = rng.standard_normal(5)
    updated = rank_one_update(cholesky(spd), v, weight)
    expected = spd + weight * np.outer(v, v)
    np.testing.assert_allclose(updated @ updated.T, expected, rtol=1e-10, atol=1e-12)
    assert np.all(np.diag(updated) > 0.0)
    np.testing.assert_array_equal(np.triu(updated, 1), 0.0)


@pytest.mark.spec("MATH-13")
def test_a_thousand_updates_give_the_factor_of_the_sum(rng):
    X = rng.standard_normal((1000, 4))
    lower = np.eye(4)
    for row in X:
        lower = rank_one_update(lower, row)
    np.testing.assert_allclose(lower, np.linalg.cholesky(np.eye(4) + X.T @ X), rtol=1e-11)
    for row in X[:990]:
        lower = rank_one_update(lower, row, weight=-1.0)
    np.testing.assert_allclose(lower, np.linalg.cholesky(np.eye(4) + X[990:].T @ X[990:]), rtol=1e-8)


@pytest.mark.parametrize("weight", [-1.0, -2.0])
def test_a_downdate_that_leaves_nothing_is_refused(weight):
    with pytest.raises(ValueError, match="weight must leave the matrix positive definite"):
        rank_one_update(np.eye(3), np.array([0.0, 1.0, 0.0]), weight)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_updates_must_be_finite(bad):
    with pytest.raises(ValueError, match="weight must be finite"):
        rank_one_update(np.eye(2), np.ones(2), bad)
    with pytest.raises(ValueError, match="v must be finite"):
        rank_one_update(np.eye(2), np.array([1.0, bad]))


def test_weights_may_be_a_batch(spd, rng):
    v, weights = rng.standard_normal(5), np.array([0.5, 2.0])
    updated = rank_one_update(cholesky(spd), v, weights)
    for one, w in zip(updated, weights, strict=True):
        np.testing.assert_allclose(one, rank_one_update(cholesky(spd), v, w), rtol=1e-14)


@pytest.mark.spec("MATH-13")
def test_sherman_morrison(rng):
    a, u, v = rng.standard_normal((4, 4)) + 4.0 * np.eye(4), rng.standard_normal(4), rng.standard_normal(4)
    np.testing.assert_allclose(
        sherman_morrison(np.linalg.inv(a), u, v) @ (a + np.outer(u, v)), np.eye(4), atol=1e-12
    )
    np.testing.assert_allclose(
        sherman_morrison(np.linalg.inv(a), u) @ (a + np.outer(u, u)), np.eye(4), atol=1e-12
    )
    with pytest.raises(ValueError, match="u and v must be finite and leave the matrix invertible"):
        sherman_morrison(np.eye(2), np.array([1.0, 0.0]), np.array([-1.0, 0.0]))


@pytest.mark.parametrize("transposed", [False, True])
def test_large_systems_have_the_bits_of_scipy(transposed, rng, monkeypatch):
    """Without the interpreter's lock the routine is the same, in whatever order the arrays are."""
    lower, b = np.tril(rng.standard_normal((90, 90))) + 20.0 * np.eye(90), rng.standard_normal((90, 140))
    wide = np.repeat(lower, 2, axis=1)[:, ::2]
    given = [(a, c) for a in (lower, np.asfortranarray(lower), wide) for c in (b, np.asfortranarray(b))]
    assert all(a.size * c.shape[1] >= linalg.LARGE_SYSTEM for a, c in given)
    found = [linalg.solve_triangular(a, c, transposed=transposed) for a, c in given]
    monkeypatch.setattr(linalg, "LARGE_SYSTEM", np.inf)
    for x, (a, c) in zip(found, given, strict=True):
        np.testing.assert_array_equal(x, linalg.solve_triangular(a, c, transposed=transposed))


@pytest.mark.parametrize("d", [1, 2, 5, 8, 13, 40])
def test_many_triangles_are_inverted_as_one_is(d, rng):
    root = rng.standard_normal((3, 20, d, 2 * d)) * np.logspace(-50, 50, d)[:, None]
    lower = np.linalg.cholesky(root @ root.swapaxes(-1, -2))
    above = np.triu(np.ones((d, d)), 1)  # is not read
    found = inv_triangular(lower + above)
    assert np.all(found * above == 0.0)
    for each, inverse in zip(lower.reshape(-1, d, d), found.reshape(-1, d, d), strict=True):
        np.testing.assert_allclose(np.tril(inv_triangular(each)), inverse, rtol=1e-9, atol=0.0)
        np.testing.assert_allclose(inverse @ each, np.eye(d), atol=1e-11)
    lower[1, 7, d // 2, d // 2] = 0.0
    with pytest.raises(ValueError, match="zero on its diagonal"):
        inv_triangular(lower)
