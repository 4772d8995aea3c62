"""Kernel density estimation on a grid."""

from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np

import tractable
from benchmarks.row import Row, within

BANDWIDTH = 0.067


def setup(size, folder):  # noqa: ARG001  (no files)
    n, nodes = size
    x = np.random.default_rng(0).standard_normal(n)
    margin = 4.0 * BANDWIDTH
    return SimpleNamespace(x=x, grid=np.linspace(x.min() - margin, x.max() + margin, nodes))


def ours(data):
    """From rows to the density on a grid, through the estimator."""
    return tractable.KernelDensity(bandwidth=BANDWIDTH).fit(data.x[:, None]).evaluate_grid(len(data.grid))


def exact(data):
    model = tractable.KernelDensity(bandwidth=BANDWIDTH).fit(data.x[:, None])
    return SimpleNamespace(x=data.grid, prob=np.exp(model.score_samples(data.grid[:, None])))


def kdepys(data):
    from KDEpy import FFTKDE

    model = FFTKDE(kernel="gaussian", bw=BANDWIDTH).fit(data.x)
    return SimpleNamespace(x=data.grid, prob=model.evaluate(data.grid))


def check(mine, theirs):
    """1e-4 of the peak, which is also more than the bound that ours gives."""
    peak = theirs.prob.max()
    np.testing.assert_allclose(mine.x, theirs.x, atol=1e-12)
    assert mine.error_bound < 1e-4 * peak
    np.testing.assert_allclose(mine.prob, theirs.prob, atol=1e-4 * peak)


PEERS = {"exact (ours)": exact, **({"KDEpy": kdepys} if find_spec("KDEpy") else {})}

ROW = Row(
    name="kde_grid",
    shows="Density of 1,000,000 numbers on 1,024 nodes, from the fit on, a bound on the error included.",
    setup=setup,
    size=(1_000_000, 1_024),
    dry_size=(20_000, 1_024),
    ours=ours,
    peers=PEERS,
    check=check,
    targets={"KDEpy": within(1.5)},
    limit="checking and copying the numbers once, and sharing each between two nodes.",
    absent=() if "KDEpy" in PEERS else ("KDEpy",),
)
