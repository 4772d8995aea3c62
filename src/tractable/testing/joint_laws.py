"""Laws of joint distributions, of Gaussians and of products of independent columns."""

from typing import Any

import numpy as np

from tractable.testing.assertions import (
    assert_mean,
    assert_same_matrix,
    check_laws,
    laws_above,
    rounding_error,
)


def chain_rule_holds_for_columns(d: Any, rng: np.random.Generator) -> None:
    """The chain rule, log p(x) = log p(x_g) + log p(x_r | x_g), for every column g."""
    x = d.sample(4, rng=rng)
    for given in range(_dim(d)):
        rest = [j for j in range(_dim(d)) if j != given]
        if rest:
            conditional = d.condition([given], x[..., [given]])
            parts = d.marginal([given]).log_prob(x[..., [given]]) + conditional.log_prob(x[..., rest])
            _assert_close(parts, d.log_prob(x))


def conditioning_twice_is_conditioning_once(d: Any, rng: np.random.Generator) -> None:
    """Conditioning on a column and then on another is conditioning on both."""
    if _dim(d) < 3:
        return
    x = d.sample(2, rng=rng)
    first, last = x[0][..., [0]], x[0][..., [-1]]
    steps = d.condition([0], first).condition([-1], last)
    at_once = d.condition([-1, 0], x[0][..., [-1, 0]])
    _assert_close(steps.log_prob(x[1][..., 1:-1]), at_once.log_prob(x[1][..., 1:-1]))


def conditioning_on_nothing_is_idle(d: Any, rng: np.random.Generator) -> None:
    """p(x | nothing) = p(x)."""
    x = d.sample(3, rng=rng)
    for given in (d.condition([], np.empty(0)), d.condition({})):
        assert given.batch_shape == d.batch_shape
        _assert_close(given.log_prob(x), d.log_prob(x))


def values_become_batch_axes(d: Any, rng: np.random.Generator) -> None:
    """Many values at once are as many conditionals."""
    if _dim(d) < 2:
        return
    x = d.sample(3, rng=rng)
    many = d.condition([0], x[..., [0]])
    assert many.batch_shape == (3, *d.batch_shape)
    for i in range(3):
        one = d.condition([0], x[i][..., [0]])
        _assert_close(many[i].log_prob(x[i][..., 1:]), one.log_prob(x[i][..., 1:]))


def marginals_compose(d: Any, rng: np.random.Generator) -> None:
    """A marginal of a marginal is a marginal, in the order asked for; moments are those of the whole."""
    backwards = list(range(_dim(d)))[::-1]
    keep = backwards[: max(1, _dim(d) - 1)]
    reversed_, part = d.marginal(backwards), d.marginal(keep)
    x = d.sample(4, rng=rng)
    _assert_close(reversed_.log_prob(x[..., backwards]), d.log_prob(x))
    _assert_close(reversed_.marginal(range(len(keep))).log_prob(x[..., keep]), part.log_prob(x[..., keep]))
    np.testing.assert_allclose(part.mean, d.mean[..., keep], rtol=1e-12)
    np.testing.assert_allclose(part.variance, d.variance[..., keep], rtol=1e-12)


def missing_columns_are_integrated_out(d: Any, rng: np.random.Generator) -> None:
    """A NaN entry is integrated out; where nothing is observed the log probability is 0."""
    x = np.array(d.sample(_dim(d) + 1, rng=rng))
    for hole in range(_dim(d)):
        x[hole][..., hole] = np.nan
    x[-1] = np.nan
    scored = d.log_prob(x)
    np.testing.assert_allclose(scored[-1], 0.0, atol=1e-15)
    for hole in range(_dim(d)):
        seen = [j for j in range(_dim(d)) if j != hole]
        if seen:
            _assert_close(scored[hole], d.marginal(seen).log_prob(x[hole][..., seen]))


def names_are_positions(d: Any, rng: np.random.Generator) -> None:
    """Where columns have names, they work as positions do."""
    if getattr(d, "names", None) is None:
        return
    x = d.sample(2, rng=rng)
    last = d.names[-1]
    _assert_close(d.marginal(last).log_prob(x[..., [-1]]), d.marginal([-1]).log_prob(x[..., [-1]]))
    if _dim(d) < 2:
        return
    given = d.condition({last: x[0][..., -1]})
    assert given.names == d.names[:-1]
    _assert_close(given.log_prob(x[1][..., :-1]), d.condition([-1], x[0][..., [-1]]).log_prob(x[1][..., :-1]))


JOINT_LAWS = laws_above(globals())


def _dim(d: Any) -> int:
    return int(d.event_shape[0])


def _assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def chain_rule_holds(d: Any, rng: np.random.Generator) -> None:
    """The chain rule, log p(x) = log p(x_g) + log p(x_r | x_g), for several ways to part coordinates."""
    x = d.sample(3, rng=rng)
    for given, rest in _splits(d.dim):
        parts = d.marginal(given).log_prob(x[..., given]) + d.condition(given, x[..., given]).log_prob(
            x[..., rest]
        )
        _assert_within(parts, d.log_prob(x), d)


def conditioning_in_steps_is_conditioning_at_once(d: Any, rng: np.random.Generator) -> None:
    """Conditioning on a coordinate and then on another is conditioning on both."""
    if d.dim < 3:
        return
    x = d.sample(1, rng=rng)[0]
    at_once = d.condition([0, d.dim - 1], x[..., [0, d.dim - 1]])
    steps = d.condition([0], x[..., [0]]).condition([-1], x[..., [-1]])
    _assert_same(steps, at_once, d)


def condition_on_nothing_changes_nothing(d: Any, rng: np.random.Generator) -> None:
    """p(x | nothing) = p(x)."""
    _assert_same(d.condition([], np.empty(0)), d, d)


def marginal_of_marginal_is_marginal(d: Any, rng: np.random.Generator) -> None:
    """Marginals compose, in any order of coordinates."""
    order = np.arange(d.dim)[::-1]
    keep = order[: max(1, d.dim - 1)]
    _assert_same(d.marginal(order).marginal(range(len(keep))), d.marginal(keep), d)
    np.testing.assert_array_equal(d.marginal(keep).mean, d.mean[..., keep])
    np.testing.assert_allclose(d.marginal(keep).variance, d.variance[..., keep], rtol=1e-14)


def missing_entries_are_marginalised(d: Any, rng: np.random.Generator) -> None:
    """A NaN entry is integrated out; where nothing is observed the log probability is 0."""
    x = d.sample(6, rng=rng)
    holes = rng.random((6,) + (1,) * len(d.batch_shape) + (d.dim,)) < 0.4
    holes[0], holes[1] = True, False
    broken = np.where(holes, np.nan, x)
    scored = d.log_prob(broken)
    np.testing.assert_array_equal(scored[0], 0.0)
    for row, hole in enumerate(holes.reshape(6, d.dim)):
        seen = np.flatnonzero(~hole)
        if len(seen):
            _assert_within(scored[row], d.marginal(seen).log_prob(x[row][..., seen]), d)
    _assert_within(d.mahalanobis(broken, squared=True)[1], d.mahalanobis(x[1], squared=True), d)


def affine_maps_move_the_density(d: Any, rng: np.random.Generator) -> None:
    """Change of variables, log p_y(Ax + b) = log p_x(x) - log |det A|; A may also drop dimensions."""
    size = _typical(d)
    A = size[:, None] * (rng.standard_normal((d.dim, d.dim)) + 2.0 * np.eye(d.dim)) / size
    b = size * rng.standard_normal(d.dim)
    x = d.sample(4, rng=rng)
    moved = d.affine(A, b)
    _assert_within(moved.log_prob(x @ A.T + b), d.log_prob(x) - np.linalg.slogdet(A)[1], d, 1e2)
    row = d.affine(A[:1])
    np.testing.assert_allclose(
        row.variance[..., 0], A[0] @ d.covariance @ A[0], rtol=rounding_error(d.covariance)
    )


def products_hold_pointwise(d: Any, rng: np.random.Generator) -> None:
    """Pointwise, log p(x) + log q(x) = log scale + log r(x), where r is the product."""
    size = _typical(d)
    other = d.affine(size[:, None] * (0.5 * np.eye(d.dim) + 0.1) / size, 0.3 * size)
    both, log_scale = d.product(other)
    x = both.sample(4, rng=rng)
    _assert_within(both.log_prob(x) + log_scale, d.log_prob(x) + other.log_prob(x), d, 1e3)
    squared, log_scale = d.product(d)
    _assert_within(squared.log_prob(x) + log_scale, 2.0 * d.log_prob(x), d, 1e3)


def sums_add_means_and_covariances(d: Any, rng: np.random.Generator) -> None:
    """The sum of independent vectors has the sum of the means and of the covariances."""
    other = d.affine(2.0 * np.eye(d.dim))
    total = d + other
    np.testing.assert_allclose(total.mean, d.mean + other.mean, rtol=1e-14)
    assert_same_matrix(total.covariance, 5.0 * d.covariance)


def principal_axes_decorrelate(d: Any, rng: np.random.Generator) -> None:
    """Σ = Uᵀ diag(λ) U with orthonormal rows; U (x - μ) has covariance diag(λ), not its inverse."""
    axes, variances = d.principal_axes()
    columns = np.swapaxes(axes, -1, -2)
    np.testing.assert_allclose(axes @ columns, np.broadcast_to(np.eye(d.dim), axes.shape), atol=1e-12)
    np.testing.assert_allclose(
        (columns * variances[..., None, :]) @ axes, d.covariance, atol=1e-12 * np.max(d.variance)
    )
    assert np.all(np.diff(variances, axis=-1) <= 1e-12 * np.max(variances))
    y = np.einsum("...ij,n...j->n...i", axes, d.sample(20_000, rng=rng) - d.mean)
    if np.all(variances > 1e-10 * np.max(variances)):
        assert_mean(y * (y / variances), 1.0, "squares along the principal axes")


def mahalanobis_is_in_the_density(d: Any, rng: np.random.Generator) -> None:
    """The exponent is -½ Δ², and Δ² is chi-square with d degrees of freedom."""
    x = d.sample(20_000, rng=rng)
    squared = d.mahalanobis(x, squared=True)
    np.testing.assert_allclose(d.mahalanobis(x) ** 2, squared, rtol=1e-12)
    _assert_within(d.log_prob(x) - d.log_prob(d.mean), -0.5 * squared, d)
    assert_mean(squared, float(d.dim), "squared Mahalanobis distances")
    inside = d.mahalanobis(x) <= d.credible_radius(0.8)
    assert_mean(inside, 0.8, "fraction of draws within the credible radius")


def precision_inverts_covariance(d: Any, rng: np.random.Generator) -> None:
    """Λ Σ = I."""
    left, right = d.stddev[..., :, None], d.stddev[..., None, :]
    product = (left * d.precision * right) @ (d.covariance / left / right)
    np.testing.assert_allclose(
        product, np.broadcast_to(np.eye(d.dim), product.shape), atol=rounding_error(d.covariance)
    )


GAUSSIAN_LAWS = laws_above(globals())


def _typical(d: Any) -> np.ndarray:
    """A scale for each coordinate, the same for the whole batch."""
    return np.exp(np.log(d.stddev).reshape(-1, d.dim).mean(axis=0))


def _splits(dim: int) -> list[tuple[list[int], list[int]]]:
    """Some ways to part the coordinates in two, out of order on purpose."""
    if dim < 2:
        return []
    last = list(range(dim - 1, 0, -1))
    parts = [([0], list(range(1, dim))), (last, [0])]
    return parts if dim < 4 else [*parts, ([2, 0], [i for i in range(dim) if i not in (0, 2)])]


def _assert_within(found: Any, expected: Any, d: Any, factor: float = 1.0) -> None:
    slack = factor * rounding_error(d.covariance) + 1e-12 + 4e-16 * np.max(np.abs(d.mean) / d.stddev)
    size = 1.0 + np.max(np.abs(expected)) + np.max(np.abs(d.structure.log_det))
    np.testing.assert_allclose(found, expected, rtol=0, atol=slack * size * 10)


def _assert_same(a: Any, b: Any, d: Any) -> None:
    slack = rounding_error(d.covariance)
    np.testing.assert_allclose(a.mean, b.mean, rtol=slack, atol=slack * np.max(d.stddev))
    assert_same_matrix(a.covariance, b.covariance, within=slack)


def density_is_the_product_of_the_parts(d: Any, rng: np.random.Generator) -> None:
    """The log density of a row is the sum of its columns'."""
    x = d.sample(5, rng=rng)
    total, seen = np.zeros((5, *d.batch_shape)), []
    for part, where in d.placed():
        total = total + part.log_prob(x[..., list(where)] if part.event_shape else x[..., where[0]])
        seen += where
    assert sorted(seen) == list(range(d.event_shape[0]))
    np.testing.assert_allclose(d.log_prob(x), total, rtol=1e-13, atol=1e-13)


def entropies_of_parts_add_up(d: Any, rng: np.random.Generator) -> None:
    """Entropies and divergences are sums over the parts."""
    np.testing.assert_allclose(d.entropy(), sum(part.entropy() for part in d.parts), rtol=1e-13)
    if d.batch_shape:
        other = d[np.roll(np.arange(d.batch_shape[0]), 1)]
        parts = zip(d.parts, other.parts, strict=True)
        np.testing.assert_allclose(
            d.kl_divergence(other), sum(p.kl_divergence(q) for p, q in parts), rtol=1e-13, atol=1e-13
        )


def parts_are_independent(d: Any, rng: np.random.Generator) -> None:
    """Given the columns of one part, the others are distributed as before."""
    if len(d.parts) < 2:
        return
    given = list(d.placed()[0][1])
    rest = [i for i in range(d.event_shape[0]) if i not in given]
    x = d.sample(3, rng=rng)
    conditional = d.condition(given, x[0][..., given])
    np.testing.assert_array_equal(conditional.log_prob(x[..., rest]), d.marginal(rest).log_prob(x[..., rest]))
    assert np.all(d.covariance[..., given, :][..., rest] == 0)


PRODUCT_LAWS = laws_above(globals())


def check_joint(distribution: Any, rng: Any = 0) -> None:
    """Run every law of joint distributions on one.

    Examples
    --------
    >>> import tractable
    >>> check_joint(tractable.MultivariateNormal(mean=[0.0, 1.0], covariance=[[2.0, 1.0], [1.0, 2.0]]))
    """
    check_laws(JOINT_LAWS, distribution, rng)


def check_gaussian(distribution: Any, rng: Any = 0) -> None:
    """Run every law of Gaussians on one.

    Examples
    --------
    >>> import tractable
    >>> check_gaussian(tractable.MultivariateNormal(mean=[0.0, 1.0], covariance=[[2.0, 1.0], [1.0, 2.0]]))
    """
    check_laws(GAUSSIAN_LAWS, distribution, rng)


def check_product(product: Any, rng: Any = 0) -> None:
    """Run every law of products on one.

    Examples
    --------
    >>> from tractable import Normal, Product
    >>> check_product(Product(parts=[Normal(mean=0.0, variance=1.0), Normal(mean=1.0, variance=2.0)]))
    """
    check_laws(PRODUCT_LAWS, product, rng)
