"""Every function of arrays, in every array library: the same answer, type, precision and device."""

from pathlib import Path

import numpy as np
import pytest

from special_functions import special
from tractable.arrays import gradient, linalg, saddle_point, svd
from tractable.arrays.namespace import namespace_of, to_numpy
from tractable.testing.array_laws import ARRAY_LAWS, ArrayFunction


def matrix(rng, d=4):
    return rng.standard_normal((d, d)) + d * np.eye(d)


def positive_definite(rng, d=4):
    root = rng.standard_normal((d, d + 3))
    return root @ root.T + np.eye(d)


def factor(rng, d=4):
    return np.linalg.cholesky(positive_definite(rng, d))


def line(rng):
    return (3.0 * rng.standard_normal(5),)


def positive(rng):
    return (rng.gamma(1.0, 3.0, 5) + 0.1,)


def shares(rng):
    return (rng.uniform(0.05, 0.95, 5),)


FUNCTIONS = {
    "block_inverse": (lambda a: linalg.block_inverse(a, 2), lambda rng: (matrix(rng),)),
    "cholesky": (linalg.cholesky, lambda rng: (positive_definite(rng),)),
    "inv_triangular": (linalg.inv_triangular, lambda rng: (factor(rng),)),
    "inv_triangular, wide": (linalg.inv_triangular, lambda rng: (factor(rng, 12),)),
    "is_pd": (linalg.is_pd, lambda rng: (positive_definite(rng),)),
    "is_psd": (linalg.is_psd, lambda rng: (positive_definite(rng),)),
    "jittered_cholesky": (linalg.jittered_cholesky, lambda rng: (positive_definite(rng),)),
    "log_det_cholesky": (linalg.log_det_cholesky, lambda rng: (factor(rng),)),
    "rank_one_update": (linalg.rank_one_update, lambda rng: (factor(rng), rng.standard_normal(4))),
    "schur_complement": (lambda a: linalg.schur_complement(a, [3, 1]), lambda rng: (positive_definite(rng),)),
    "sherman_morrison": (
        linalg.sherman_morrison,
        lambda rng: (positive_definite(rng), rng.random(4), rng.random(4)),
    ),
    "solve_cholesky": (linalg.solve_cholesky, lambda rng: (factor(rng), rng.standard_normal((4, 2)))),
    "solve_triangular": (linalg.solve_triangular, lambda rng: (factor(rng), rng.standard_normal((4, 2)))),
    "solve_triangular, transposed": (
        lambda lower, b: linalg.solve_triangular(lower, b, transposed=True),
        lambda rng: (factor(rng), rng.standard_normal((4, 2))),
    ),
    "pinv": (svd.pinv, lambda rng: (rng.standard_normal((5, 3)),)),
    "orientation": (svd.orientation, lambda rng: (rng.standard_normal((4, 3)),)),
    "svd_from_gram": (svd.svd_from_gram, lambda rng: (np.outer(rng.random(5), [1.0, 2.0, 4.0]),)),
    "thin_svd": (svd.thin_svd, lambda rng: (rng.standard_normal((3, 5)),)),
    "truncated_svd": (lambda a: svd.truncated_svd(a, 2), lambda rng: (rng.standard_normal((5, 3)),)),
    "diagonals": (linalg.diagonals, lambda rng: (matrix(rng),)),
    "factor_if_definite": (lambda a: linalg.factor_if_definite(a)[0], lambda rng: (positive_definite(rng),)),
    "symmetrize": (linalg.symmetrize, lambda rng: (matrix(rng),)),
    "betaln": (special.betaln, lambda rng: (*positive(rng), *positive(rng))),
    "count_deviance": (saddle_point.count_deviance, lambda rng: (*positive(rng), *positive(rng))),
    "digamma": (special.digamma, positive),
    "erf": (special.erf, line),
    "erfc": (special.erfc, line),
    "factorial_rest": (saddle_point.factorial_rest, positive),
    "gammaln": (special.gammaln, positive),
    "log1m_exp": (special.log1m_exp, lambda rng: (-rng.gamma(1.0, 3.0, 5) - 0.01,)),
    "log1p_exp": (special.log1p_exp, line),
    "log_ndtr": (special.log_ndtr, line),
    "log_sigmoid": (special.log_sigmoid, line),
    "log_softmax": (special.log_softmax, line),
    "log_sum_exp": (special.log_sum_exp, line),
    "log_sum_exp, weighted": (
        lambda x, w: special.log_sum_exp(x, weights=w),
        lambda rng: (*line(rng), rng.random(5)),
    ),
    "logit": (special.logit, shares),
    "multigammaln": (lambda a: special.multigammaln(a + 1.0, 3), positive),
    "ndtri": (special.ndtri, shares),
    "sigmoid": (special.sigmoid, line),
    "softmax": (special.softmax, line),
    "softmax_and_log_sum": (lambda x: special.softmax_and_log_sum(x)[0], line),
    "softmax_and_log_sum, the sum": (lambda x: special.softmax_and_log_sum(x)[1], line),
    "stirling_error": (special.stirling_error, positive),
    "trigamma": (special.trigamma, positive),
    "xlog1py": (special.xlog1py, lambda rng: (*line(rng), *positive(rng))),
    "xlogy": (special.xlogy, lambda rng: (*line(rng), *positive(rng))),
    "numerical_gradient": (
        lambda x: gradient.numerical_gradient(lambda y: namespace_of(y).sum(y * y * y), x),
        lambda rng: (rng.uniform(1.0, 2.0, 5),),
    ),
}


@pytest.mark.parametrize("law", ARRAY_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_law(law, name, backend, rng):
    function, draw = FUNCTIONS[name]
    law(ArrayFunction(function=function, draw=draw, asarray=backend.asarray), rng)


def test_every_function_is_in_the_table():
    here = Path(__file__)
    beside = here.with_name("test_backends_incomplete.py").read_text()  # has a table of its own
    public = {*linalg.__all__, *svd.__all__, *vars(special)} - {"Factor", "SVD"}
    public -= {"product"}  # of vectors and matrices, not of batches of them
    public -= {"beta_tails", "gamma_tails", "large_gamma_quantile", "quantile"}  # parts of those in the table
    assert {name for name in public - set(FUNCTIONS) if f'"{name}": (' not in beside} == set()


def test_check_gradient_reads_every_library(backend):
    x = backend.asarray(np.array([0.5, 2.0]))
    gradient.check_gradient(lambda y: namespace_of(y).sum(y**3), lambda y: 3.0 * y**2, x)
    with pytest.raises(AssertionError, match=r"index \(1,\)"):
        gradient.check_gradient(
            lambda y: namespace_of(y).sum(y**3), backend.asarray(np.array([0.75, 11.0])), x
        )


@pytest.mark.parametrize("d", [0, 1])
def test_the_smallest_matrices_are_matrices(d, backend):
    a = backend.asarray(np.ones((2, d, d)))
    lower = linalg.cholesky(a)
    assert tuple(lower.shape) == (2, d, d)
    assert tuple(linalg.jittered_cholesky(a).jitter.shape) == (2, d)
    assert tuple(linalg.solve_cholesky(lower, backend.asarray(np.ones((d, 3)))).shape) == (2, d, 3)
    np.testing.assert_array_equal(to_numpy(linalg.log_det_cholesky(lower)), [0.0, 0.0])
    assert bool(namespace_of(a).all(linalg.is_psd(a) & linalg.is_pd(a)))


SHAPES = [
    ((), ()),
    ((), (2, 3)),
    ((1,), (3,)),
    ((3,), ()),
    ((3,), (2, 3)),
    ((9,), ()),
    ((9,), (2, 1)),
    ((3, 3), (3, 1)),
]


@pytest.mark.parametrize(("lower_batch", "b_batch"), SHAPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_triangular_solves_broadcast(lower_batch, b_batch, order, backend, rng):
    lower = np.tril(rng.standard_normal((*lower_batch, 5, 5))) + 5.0 * np.eye(5)
    lower = np.asarray(lower, order=order)
    b = np.asarray(rng.standard_normal((*b_batch, 5, 2)), order=order)
    for transposed in (False, True):
        x = to_numpy(
            linalg.solve_triangular(backend.asarray(lower), backend.asarray(b), transposed=transposed)
        )
        factor = np.swapaxes(lower, -1, -2) if transposed else lower
        np.testing.assert_allclose(factor @ x, np.broadcast_to(b, x.shape), rtol=1e-10, atol=1e-12)


def test_right_hand_sides_must_fit(backend):
    with pytest.raises(ValueError, match="b must be"):
        linalg.solve_triangular(backend.asarray(np.eye(3)), backend.asarray(np.ones((2, 1))))
    with pytest.raises(ValueError, match="b must be"):
        linalg.solve_triangular(backend.asarray(np.eye(3)), backend.asarray(np.ones(3)))
