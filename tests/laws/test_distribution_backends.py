"""The same answers in every array library, as arrays of that library."""

import numpy as np
import pytest

from catalogue import COVARIANCES, DISTRIBUTIONS
from tractable.arrays.namespace import to_numpy
from tractable.distributions import MultivariateNormal, condition_precision, gaussian_from_quadratic
from tractable.testing.assertions import at, each
from tractable.testing.distribution_laws import fitted_to
from tractable.value import parameters

GAUSSIANS = [row for row in DISTRIBUTIONS if isinstance(row.make(), MultivariateNormal)]


def moved(record, backend):
    """The same value with its arrays in another library."""
    if isinstance(record, tuple):
        return tuple(moved(part, backend) for part in record)
    if not hasattr(record, "__dataclass_fields__"):
        return backend.asarray(record) if isinstance(record, np.ndarray) else record
    return type(record)(**{name: moved(x, backend) for name, x in parameters(record).items()})


def assert_same(found, expected, backend, scale=1.0, slack=1e-9):
    if isinstance(expected, tuple):
        scales = scale if isinstance(scale, tuple) else (scale,) * len(expected)
        for parts in zip(found, expected, scales, strict=True):
            assert_same(*parts[:2], backend, parts[2], slack)
        return
    assert backend.owns(found), f"{type(found)} is not an array of {backend.name}"
    found = to_numpy(found)
    assert found.dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found / scale, expected / scale, rtol=slack, atol=slack)


def first_of_each_family(rows):
    """Every row; those that are not the first of their family wait for `make test-all`."""
    kinds = [type(row.make()) for row in rows]
    return [
        pytest.param(row, id=row.name, marks=() if kinds.index(kind) == i else pytest.mark.slow)
        for i, (row, kind) in enumerate(zip(rows, kinds, strict=True))
    ]


@pytest.mark.parametrize("row", first_of_each_family(DISTRIBUTIONS))
def test_distributions_in_every_library(row, backend):
    d = row.make()
    there = moved(d, backend)
    x = d.sample(5, rng=0)
    own = moved(x, backend)
    spread = each(_size, each(np.zeros_like, d.stddev), d.stddev)
    assert_same(there.sample(5, rng=0), x, backend, spread)
    assert_same(there.log_prob(own), d.log_prob(x), backend)
    assert_same(there.prob(own), d.prob(x), backend, np.exp(np.max(d.log_prob(x))))
    assert_same(there.entropy(), d.entropy(), backend)
    assert_same(there.kl_divergence(there), d.kl_divergence(d), backend)
    for name in ("mean", "variance", "stddev", "mode"):
        assert_same(getattr(there, name), getattr(d, name), backend, each(_size, getattr(d, name), spread))
    if d.batch_shape:
        assert_same(there[0].mean, d[0].mean, backend, at(spread, 0))
    if hasattr(d, "cdf"):
        assert_same(there.cdf(own), d.cdf(x), backend)
        assert_same(there.icdf(0.3), d.icdf(0.3), backend, spread)
        above = d.probability_between(x, np.inf)
        assert_same(there.probability_between(own, np.inf), above, backend)
    if hasattr(d, "interval"):
        for ours, theirs in zip(d.interval(0.8), there.interval(0.8), strict=True):
            assert_same(theirs, ours, backend, spread)


def _size(x, spread):
    """How large an entry is, for comparing it with another: never zero."""
    return np.where(np.isfinite(x), np.abs(x), 0.0) + np.where(np.isfinite(spread), spread, 1.0)


@pytest.mark.parametrize("row", GAUSSIANS, ids=lambda row: row.name)
def test_gaussians_in_every_library(row, backend):
    d = row.make()
    there = moved(d, backend)
    x = np.array(d.sample(6, rng=1))
    x[0, ..., 0], x[1], x[2, ..., -1] = np.nan, np.nan, np.inf
    assert_same(there.log_prob(backend.asarray(x)), d.log_prob(x), backend)
    assert_same(there.mahalanobis(backend.asarray(x)), d.mahalanobis(x), backend)
    first = x[(slice(None), *(0,) * len(d.batch_shape))]
    spread = first.reshape((6,) + (1,) * len(d.batch_shape) + (d.dim,))
    assert_same(there.log_prob(backend.asarray(spread)), d.log_prob(spread), backend)
    both, log_scale = there.product(there)
    ours, our_scale = d.product(d)
    assert_same(both.mean, ours.mean, backend, d.stddev)
    assert_same(both.stddev, ours.stddev, backend, d.stddev)
    assert_same(log_scale, our_scale, backend)
    assert_same((there + there).stddev, (d + d).stddev, backend, d.stddev)
    A = np.ones((1, d.dim))
    assert_same(there.affine(backend.asarray(A)).stddev, d.affine(A).stddev, backend, d.affine(A).stddev)
    # An axis may point either way.
    axes, ours = there.principal_axes()[0], d.principal_axes()[0]
    assert_same(
        axes[..., :, :, None] * axes[..., :, None, :], ours[..., :, :, None] * ours[..., :, None, :], backend
    )
    assert_same(there.precision, d.precision, backend, 1 / d.stddev[..., :, None] / d.stddev[..., None, :])
    if d.dim > 1:
        values = np.array(d.sample(2, rng=2)[..., [-1]])
        theirs, ours = there.condition([-1], backend.asarray(values)), d.condition([-1], values)
        assert_same(theirs.mean, ours.mean, backend, d.stddev[..., :-1])
        assert_same(theirs.stddev, ours.stddev, backend, d.stddev[..., :-1])
        assert_same(there.marginal([-1, 0]).mean, d.marginal([-1, 0]).mean, backend)


@pytest.mark.parametrize("row", COVARIANCES, ids=lambda row: row.name)
def test_covariances_in_every_library(row, backend):
    c = row.make()
    there = moved(c, backend)
    scale = np.sqrt(c.diagonal)
    # Libraries round differently, and the condition number says how far that reaches.
    unit = c.dense() / scale[..., :, None] / scale[..., None, :]
    slack = max(1e-9, 1e-15 * np.max(np.linalg.cond(unit)))
    z = c.color(np.random.default_rng(0).standard_normal((4, *c.batch_shape, c.noise_dim)))
    own = backend.asarray(z)
    square = scale[..., :, None] * scale[..., None, :]
    assert_same(there.dense(), c.dense(), backend, square)
    assert_same(there.log_det, c.log_det, backend)
    assert_same(there.whiten(own), c.whiten(z), backend, slack=slack)
    assert_same(there.mahalanobis(own), c.mahalanobis(z), backend, slack=slack)
    assert_same(there.solve(own), c.solve(z), backend, 1 / scale, slack=slack)
    assert_same(there.scaled(3.0).dense(), c.scaled(3.0).dense(), backend, square)
    assert_same((there + there).dense(), (c + c).dense(), backend, square)
    assert_same(there.parallel(there).dense(), c.parallel(c).dense(), backend, square, slack=slack)
    if c.dim > 1:
        gain, rest = there.condition([0])
        ratio = scale[..., 1:, None] / scale[..., None, :1]
        assert_same(gain, c.condition([0])[0], backend, ratio, slack=slack)
        assert_same(rest.dense(), c.condition([0])[1].dense(), backend, square[..., 1:, 1:])


def test_precision_forms_in_every_library(backend):
    precision, linear = np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([1.0, 3.0])
    ours = gaussian_from_quadratic(precision, linear)
    theirs = gaussian_from_quadratic(backend.asarray(precision), backend.asarray(linear))
    assert_same(theirs.mean, ours.mean, backend)
    given = condition_precision(theirs.mean, backend.asarray(precision), [1], [4.0])
    assert_same(given.mean, condition_precision(ours.mean, precision, [1], [4.0]).mean, backend)


LEARNERS = [row for row in DISTRIBUTIONS if hasattr(row.make(), "fit") and not row.make().batch_shape]


@pytest.mark.spec("DIST-30")
@pytest.mark.parametrize("row", first_of_each_family(LEARNERS))
def test_fits_in_every_library(row, backend, rng):
    d = row.make()
    X, weight = d.sample(80, rng=rng), rng.integers(1, 4, 80).astype(float)
    ours = fitted_to(d, X, weight)
    theirs = fitted_to(moved(d, backend), moved(X, backend), backend.asarray(weight))
    for name in ("mode", "variance"):
        found, expected = getattr(theirs, name), getattr(ours, name)
        assert_same(found, expected, backend, each(_size, expected, ours.stddev), slack=1e-7)


def test_libraries_are_not_mixed(backend):
    d = moved(DISTRIBUTIONS[6].make(), backend)
    if backend.name.startswith("numpy"):
        assert_same(d.log_prob([[0.0, 0.0]]), d.log_prob(np.zeros((1, 2))), backend)
        return
    with pytest.raises(ValueError, match="x must be an array of"):
        d.log_prob(np.zeros((1, 2)))
    assert backend.owns(d.log_prob([[0.0, 0.0]]))
    with pytest.raises(ValueError, match="one library"):
        MultivariateNormal(mean=backend.asarray(np.zeros(2)), covariance=DISTRIBUTIONS[6].make().structure)
