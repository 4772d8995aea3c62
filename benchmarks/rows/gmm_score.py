"""Log densities of rows under a Gaussian mixture."""

from types import SimpleNamespace

import numpy as np
from sklearn.mixture import GaussianMixture as Peer

from benchmarks.mixtures import clusters, start
from benchmarks.row import Row, at_least
from tractable.mixture import GaussianMixture


def setup(size, folder):  # noqa: ARG001  (no files)
    X = clusters(size)
    options = start(size, "full", X) | {"max_iter": 1000, "tol": 1e-3}
    return SimpleNamespace(X=X, ours=GaussianMixture(**options).fit(X), peer=Peer(**options).fit(X))


def ours(data):
    return data.ours.score_samples(data.X)


def theirs(data):
    return data.peer.score_samples(data.X)


def check(mine, theirs):
    """Two fits of the same rows: 1e-2 nats on average."""
    assert abs(np.mean(mine) - np.mean(theirs)) < 1e-2


ROW = Row(
    name="gmm_score",
    shows="Log densities of 100,000 × 16 rows under a mixture of 10 Gaussians.",
    setup=setup,
    size=(100_000, 16, 10),
    dry_size=(400, 3, 2),
    ours=ours,
    peers={"scikit-learn": theirs},
    check=check,
    targets={"scikit-learn": at_least(3.0)},
    limit="A triangular product of d²/2 multiplications for every row and component, in cache.",
)
