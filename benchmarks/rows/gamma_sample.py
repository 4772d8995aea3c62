"""Draws from ten thousand different Gammas."""

from types import SimpleNamespace

import numpy as np

import tractable
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    n_draws, n_gammas = size
    rng = np.random.default_rng(0)
    shape, rate = 10.0 * rng.random(n_gammas) + 0.1, rng.random(n_gammas) + 0.5
    gammas = tractable.Gamma(shape=shape, rate=rate)
    return SimpleNamespace(n=n_draws, gammas=gammas, shape=shape, scale=1.0 / rate)


def ours(data):
    return data.gammas.sample(data.n, rng=np.random.default_rng(1))


def numpys(data):
    return np.random.default_rng(1).gamma(data.shape, data.scale, size=(data.n, len(data.shape)))


def check(mine, theirs):
    """The means of all draws, to five standard errors of their difference."""
    gap, n = mine.mean() - theirs.mean(), mine.size
    assert mine.shape == theirs.shape
    assert abs(gap) < 5.0 * np.sqrt((mine.var() + theirs.var()) / n)


ROW = Row(
    name="gamma_sample",
    shows="100 draws from each of 10,000 different Gammas.",
    setup=setup,
    size=(100, 10_000),
    dry_size=(1, 1_000),
    ours=ours,
    peers={"numpy": numpys},
    check=check,
    targets={"numpy": at_least(1.0)},
    limit="a normal and a uniform number a draw, by NumPy's own generator, on all cores.",
)
