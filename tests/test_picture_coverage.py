"""Intervals of one column hold 90 % unless told, by one name, whoever draws them."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import tractable
from tractable.distributions import (
    Beta,
    Empirical,
    MultivariateLaplace,
    MultivariateNormal,
    MultivariateStudentT,
    Normal,
    NormalGamma,
    grid_posterior,
)

ROWS = np.random.default_rng(0).normal(size=(60, 2))
LINE = ROWS[:, :1]
MIXTURE = tractable.GaussianMixture(2, random_state=0).fit(ROWS)
ONE_COLUMN = {
    "Normal": Normal(mean=0.0, variance=1.0),
    "Beta": Beta(alpha=2.0, beta=3.0),
    "MultivariateNormal": MultivariateNormal(mean=[0.0], covariance=[[1.0]]),
    "MultivariateStudentT": MultivariateStudentT(dof=3.0, location=[0.0], scale=[[4.0]]),
    "MultivariateLaplace": MultivariateLaplace(location=[0.0], scale=1.0),
    "Empirical": Empirical(values=[[1.0], [2.0], [4.0]]),
    "GridPosterior": grid_posterior(np.zeros_like, np.zeros_like, np.linspace(0.0, 1.0, 50)),
    "GaussianDensity": tractable.GaussianDensity().fit(LINE),
    "KernelDensity": tractable.KernelDensity().fit(LINE),
    "Histogram": tractable.Histogram(5).fit(LINE),
    "GaussianMixture": tractable.GaussianMixture(2, random_state=0).fit(LINE),
    "marginal": MIXTURE.marginal([1]),
    "condition": MIXTURE.condition({0: 0.5}),
}


def told(ax):
    return " ".join(text.get_text() for text in ax.get_legend().get_texts())


@pytest.mark.parametrize("x", ONE_COLUMN.values(), ids=ONE_COLUMN)
def test_one_column(x):
    usual = told(tractable.plot(x))
    assert "90%" in usual
    assert told(tractable.plot(x, coverage=0.5)) == usual.replace("90%", "50%")


@pytest.mark.parametrize(
    "x",
    [
        MultivariateNormal(mean=[0.0, 1.0], covariance=np.eye(2)),
        MIXTURE,
        tractable.KernelDensity().fit(ROWS),
        NormalGamma(mean=0.0, strength=1.0, shape=2.0, rate=3.0),
    ],
    ids=lambda x: type(x).__name__,
)
def test_two_columns_take_one_probability_or_several(x):
    assert told(tractable.plot(x, coverage=0.8)) == told(tractable.plot(x, coverages=[0.8]))
    assert "60%" in told(tractable.plot(x, coverages=[0.6, 0.8]))
    with pytest.raises(ValueError, match="coverage and coverages are the same"):
        tractable.plot(x, coverage=0.5, coverages=[0.5])
    with pytest.raises(ValueError, match="coverage must be probabilities between 0 and 1"):
        tractable.plot(x, coverage=1.5)
