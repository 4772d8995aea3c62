"""Kernel density estimation on a grid."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np

import tractable
from benchmarks.row import Row, within
from tractable.smoothing import binned_density

BANDWIDTH = 0.067


def setup(size, folder):  # noqa: ARG001  (no files)
    n, nodes = size
    x = np.random.default_rng(0).standard_normal(n)
    low, high = x.min() - 0.5, x.max() + 0.5
    return SimpleNamespace(x=x, nodes=nodes, low=low, high=high)


def ours(data):
    return binned_density(data.x, None, BANDWIDTH, data.low, data.high, data.nodes)


def exact(data):
    grid = np.linspace(data.low, data.high, data.nodes)
    model = tractable.KernelDensity(bandwidth=BANDWIDTH).fit(data.x[:, None])
    return SimpleNamespace(x=grid, prob=np.exp(model.score_samples(grid[:, None])))


def kdepys(data):
    from KDEpy import FFTKDE

    grid = np.linspace(data.low, data.high, data.nodes)
    return SimpleNamespace(x=grid, prob=FFTKDE(kernel="gaussian", bw=BANDWIDTH).fit(data.x)(grid))


def check(mine, theirs):
    """1e-4 of the peak, which is also more than the bound that ours gives."""
    peak = theirs.prob.max()
    assert mine.error_bound < 1e-4 * peak
    np.testing.assert_allclose(mine.prob, theirs.prob, atol=1e-4 * peak)


PEERS, TARGETS = {"exact (ours)": exact}, {}
if find_spec("KDEpy"):
    PEERS, TARGETS = {**PEERS, "KDEpy": kdepys}, {"KDEpy": within(1.5)}

ROW = Row(
    name="kde_grid",
    shows="Density of 1,000,000 numbers on 1,024 nodes, a bound on the error included.",
    setup=setup,
    size=(1_000_000, 1_024),
    dry_size=(20_000, 1_024),
    ours=ours,
    peers=PEERS,
    check=check,
    targets=TARGETS,
    limit="reading the numbers once and sharing each between two nodes.",
)
