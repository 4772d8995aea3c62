"""Pictures of beliefs and of what they predict say what they show."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

import tractable
from catalogue import CONJUGATE_MODELS
from tractable.conjugate import (
    BernoulliModel,
    CategoricalModel,
    NormalModel,
    NormalPrecisionModel,
    PoissonModel,
)
from tractable.distributions import Beta, Gamma, NormalGamma, Wishart


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("row", CONJUGATE_MODELS, ids=lambda row: row.name)
def test_beliefs_are_drawn(row):
    model = row.make()
    ax = tractable.plot(model)
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    ax.figure.canvas.draw()


def test_curves_are_the_densities():
    coin = BernoulliModel(prior=Beta(alpha=2.0, beta=3.0))
    ax = tractable.plot(coin)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("probability", "density")
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(y, coin.prior.prob(x))
    ax = tractable.plot(PoissonModel(prior=Gamma(shape=3.0, rate=1.0)), show="predictive")
    assert ax.get_ylabel() == "probability"


def test_updates_are_drawn_over_each_other():
    coin = BernoulliModel(prior=Beta(alpha=1.0, beta=1.0))
    steps = coin.trace([coin.summarize([1, 0]), coin.summarize([1, 1, 1])])
    ax = tractable.plot(steps)
    assert [line.get_label() for line in ax.lines] == ["prior", "after 1", "after 2"]
    for line, model in zip(ax.lines, steps, strict=True):
        x, y = line.get_data()
        np.testing.assert_allclose(y, model.prior.prob(x))
    counts = PoissonModel(prior=Gamma(shape=3.0, rate=1.0))
    later = counts.trace([counts.summarize([4, 5, 6])])
    ax = tractable.plot(later, show="predictive", labels=["before", "after"])
    x, y = ax.lines[1].get_data()
    np.testing.assert_allclose(y, later[1].predictive().prob(x))
    assert ax.get_ylabel() == "probability"


def test_shares_have_bars_and_intervals():
    die = CategoricalModel.laplace(6).update_rows([0, 2, 4, 3, 3, 5])
    ax = tractable.plot(die, names=list("abcdef"))
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], die.mean())
    assert [label.get_text() for label in ax.get_xticklabels()] == list("abcdef")


def test_regions_hold_their_probability(rng):
    model = NormalModel(prior=NormalGamma(mean=5.0, strength=6.0, shape=4.5, rate=38.0))
    ax = tractable.plot(model, coverages=(0.9,))
    draws = model.prior.sample(20_000, rng=rng)
    path = max((p for c in ax.collections for p in c.get_paths()), key=lambda p: len(p.vertices))
    held = path.contains_points(np.column_stack(draws)).mean()
    # The grid and the cut at 99.99 % cost less than a percent.
    assert abs(held - 0.9) < 0.01 + 5 * np.sqrt(0.09 / 20_000)


def test_refusals_name_what_is_wrong():
    coin = BernoulliModel(prior=Beta(alpha=1.0, beta=1.0))
    with pytest.raises(ValueError, match="show"):
        tractable.plot(coin, show="posterior")
    with pytest.raises(ValueError, match="labels"):
        tractable.plot(coin.trace([coin.summarize([1])]), labels=["one"])
    matrix = NormalPrecisionModel(prior=Wishart(dof=3.0, scale=np.eye(2)), known_mean=[0.0, 0.0])
    with pytest.raises(ValueError, match="number"):
        tractable.plot(matrix.trace([matrix.summarize([[1.0, 2.0]])]))
