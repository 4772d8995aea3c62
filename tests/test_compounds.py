"""Mixtures and products by hand: batches, names, refusals, saving, and answers known beforehand."""

import numpy as np
import pytest

import tractable
from tractable.distributions import (
    Bernoulli,
    Mixture,
    MultivariateNormal,
    Normal,
    Poisson,
    Product,
    Wishart,
)

PAIR = MultivariateNormal(
    mean=[[0.0, 0.0], [4.0, 2.0]], covariance=[[1.0, 0.5], [0.5, 1.0]], names=("a", "b")
)


@pytest.mark.spec("GMM-16")
def test_same_components_other_weights_are_other_mixtures():
    """A batch of three mixtures over shared components: means, modes and medians move with the weights."""
    weights = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    d = Mixture(weights=weights, components=Normal(mean=[-2.0, 3.0], variance=[1.0, 0.25]))
    assert d.batch_shape == (3,)
    np.testing.assert_allclose(d.mean, weights @ [-2.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(d.mode, [3.0, 3.0, -2.0], atol=1e-3)
    x = np.linspace(-4.0, 5.0, 7)
    densities = d.prob(x[:, None])
    assert densities.shape == (7, 3)
    parts = d[0].components.prob(x[:, None])
    np.testing.assert_allclose(densities, parts @ weights.T, rtol=1e-12)
    assert np.all(np.diff(d.icdf(0.5)) < 0)


def test_a_mixture_of_numbers_is_univariate():
    d = Mixture(components=Normal(mean=[0.0, 1.0], variance=1.0))
    assert type(d) is Mixture
    assert all(hasattr(d, name) for name in ("cdf", "icdf", "survival", "probability_between", "interval"))
    np.testing.assert_array_equal(d.weights, [0.5, 0.5])
    pair = Mixture(components=PAIR)
    assert type(pair) is Mixture
    for name in ("cdf", "icdf", "survival", "probability_between"):
        assert not hasattr(pair, name)
    with pytest.raises(AttributeError, match="marginal"):
        d.marginal([0])
    assert not hasattr(d, "covariance")


def test_each_coordinate_of_vectors_has_an_interval():
    """What lies below and above it is as likely, by the distribution function of that coordinate."""
    d = Mixture(weights=[0.3, 0.7], components=PAIR)
    low, high = d.condition(["a"], [[1.0], [2.0], [3.0]]).interval(0.8)
    assert low.shape == high.shape == (3, 1)
    for j, (a, b) in enumerate(zip(*d.interval(0.8), strict=True)):
        number = Mixture(weights=d.weights, components=Normal(mean=PAIR.mean[:, j], variance=1.0))
        np.testing.assert_allclose(number.cdf([a, b]), [0.1, 0.9], rtol=1e-12)
    assert not hasattr(Mixture(components=Wishart(dof=[4.0, 5.0], scale=np.eye(2))), "interval")


def test_conditioning_chooses_components():
    d = Mixture(weights=[0.5, 0.5], components=PAIR)
    near = d.condition({"a": 0.0})
    assert near.weights[0] > 0.999
    np.testing.assert_allclose(near.mean, near.weights @ (PAIR.condition([0], [0.0]).mean), rtol=1e-12)
    many = d.condition(["a"], np.linspace(-1.0, 5.0, 7)[:, None])
    assert many.batch_shape == (7,)
    assert np.all(np.diff(many.weights[:, 1]) > 0)
    assert many.names == ("b",)
    # As far out as this no component has density in floating point, but one is nearer.
    far = d.condition([0], [1e6])
    np.testing.assert_allclose(far.weights, [0.0, 1.0], atol=1e-300)


def test_far_from_every_component():
    d = Mixture(weights=[0.3, 0.7], components=Normal(mean=[0.0, 1.0], variance=1.0))
    np.testing.assert_allclose(d.responsibilities(1e5), [0.0, 1.0])
    np.testing.assert_array_equal(d.responsibilities(np.inf), [0.3, 0.7])
    assert d.log_prob(np.inf) == -np.inf
    assert np.isnan(d.log_prob(np.nan))


def test_weights_with_rounding_are_shares():
    d = Mixture(weights=[0.1] * 10, components=Normal(mean=np.arange(10.0), variance=1.0))
    np.testing.assert_allclose(d.weights.sum(), 1.0, rtol=1e-15)
    single = Mixture(
        weights=np.full(3, 1 / 3, dtype="float32"), components=Normal(mean=[0.0, 1.0, 2.0], variance=1.0)
    )
    np.testing.assert_allclose(single.weights.sum(), 1.0, rtol=1e-15)


@pytest.mark.parametrize(
    "weights",
    [[0.5, 0.6], [1.2, -0.2], [np.nan, 1.0], [0.2, 0.3, 0.5], 1.0, [[0.5, 0.5], [0.4, 0.4]], ["a", "b"]],
)
def test_bad_weights_are_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        Mixture(weights=weights, components=PAIR)


def test_bad_components_and_parts_are_refused():
    with pytest.raises(ValueError, match="components"):
        Mixture(components=Normal(mean=0.0, variance=1.0))
    with pytest.raises(ValueError, match="components"):
        Mixture(components=[Normal(mean=0.0, variance=1.0)])
    with pytest.raises(ValueError, match="modes needs one mixture"):
        Mixture(weights=[[0.5, 0.5]] * 2, components=PAIR).modes()
    with pytest.raises(ValueError, match="n_samples"):
        Mixture(components=PAIR).sample_labelled(-1)
    for parts in ([], [3.0], [Wishart(dof=5.0, scale=np.eye(2))]):
        with pytest.raises(ValueError, match="parts"):
            Product(parts=parts)
    with pytest.raises(ValueError, match="names"):
        Product(parts=[Normal(mean=0.0, variance=1.0)], names=["a", "b"])
    with pytest.raises(ValueError, match="batch shapes"):
        Product(parts=[Normal(mean=[0.0, 1.0], variance=1.0), Normal(mean=[0.0, 1.0, 2.0], variance=1.0)])


def test_products_of_different_families():
    d = Product(parts={"smokes": Bernoulli(probability=0.25), "visits": Poisson(rate=2.0), "place": PAIR[0]})
    assert d.names == ("smokes", "visits", "a", "b")
    x = np.array([[1.0, 3.0, 0.5, 0.0], [0.0, np.nan, np.nan, 0.2], [np.nan] * 4])
    scored = d.log_prob(x)
    first = np.log(0.25) + Poisson(rate=2.0).log_prob(3.0) + PAIR[0].log_prob([0.5, 0.0])
    np.testing.assert_allclose(
        scored, [first, np.log(0.75) + PAIR[0].log_prob([np.nan, 0.2]), 0.0], rtol=1e-12
    )
    assert d.log_prob([0.5, 1.0, 0.0, 0.0]) == -np.inf
    np.testing.assert_allclose(d.covariance[2:, 2:], PAIR[0].covariance)
    part = d.marginal(["b", "a", "smokes"])
    assert part.names == ("b", "a", "smokes")
    np.testing.assert_allclose(part.mean, d.mean[[3, 2, 0]])
    given = d.condition({"a": 1.0, "visits": 2.0})
    assert given.names == ("smokes", "b")
    np.testing.assert_allclose(given.mean, [0.25, 0.5])
    mixed = d.marginal([2, 0, 3])  # of a pair, with another column between
    np.testing.assert_allclose(mixed.mean, d.mean[[2, 0, 3]])
    np.testing.assert_allclose(mixed.covariance, d.covariance[np.ix_([2, 0, 3], [2, 0, 3])])
    with pytest.raises(ValueError, match="dims"):
        d.marginal([])
    with pytest.raises(ValueError, match="at least one column"):
        d.condition([0, 1, 2, 3], np.zeros(4))
    assert not d.discrete
    assert d.support[0].tolist() == [0.0, 0.0, -np.inf, -np.inf]


def test_compounds_are_saved(tmp_path):
    table = Product(parts={"n": Poisson(rate=[1.0, 5.0]), "x": Normal(mean=[0.0, 2.0], variance=1.0)})
    for i, d in enumerate(
        [
            Mixture(components=PAIR),
            Mixture(components=PAIR).marginal("a"),
            table,
            Mixture(weights=[0.2, 0.8], components=table),
            Mixture(components=Normal(mean=[0.0, 1.0], variance=1.0)),
        ]
    ):
        tractable.save(d, tmp_path / f"{i}.zip")
        again = tractable.load(tmp_path / f"{i}.zip")
        assert type(again) is type(d)
        x = d.sample(3, rng=0)
        np.testing.assert_array_equal(again.log_prob(x), d.log_prob(x))


def test_many_rows_are_scored_in_blocks(rng):
    d = Mixture(weights=[0.4, 0.6], components=PAIR)
    X = rng.normal(size=(200_003, 2))
    X[5, 0] = np.nan
    # Few rows with missing entries are scored in NumPy, and many by compiled code: equal up to rounding.
    np.testing.assert_allclose(d.log_prob(X)[:50], d.log_prob(X[:50]), rtol=1e-15)
    np.testing.assert_allclose(d.log_prob(X)[-50:], d.log_prob(X[-50:]), rtol=1e-13)
    assert d.responsibilities(X).shape == (200_003, 2)
