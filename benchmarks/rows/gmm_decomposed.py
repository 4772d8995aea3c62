"""EM iterations of a Gaussian mixture of one shape (VEV) and of common axes (VVE), beside those of `full`."""

from types import SimpleNamespace

from benchmarks.mixtures import clusters, iterated, start
from benchmarks.row import Row, at_least
from tractable.mixture import GaussianMixture


def setup(size, folder):  # noqa: ARG001  (no files)
    X = clusters(size)
    return SimpleNamespace(X=X, start=start(size, "full", X))


def shaped(*names):
    """Fit every shape; the time of one is what they take over their number."""
    fits = [iterated(GaussianMixture, covariance_type=name) for name in names]
    return lambda data: [fit(data) for fit in fits]


def check(mine, theirs):
    """As many numbers: the models differ, and so do their covariances."""
    assert {len(found) for found in mine} == {len(found) for found in theirs}


ROW = Row(
    name="gmm_decomposed",
    shows="Ten EM iterations of Gaussian mixtures VEV and VVE beside two of full: 100,000 × 8, K = 5.",
    setup=setup,
    size=(100_000, 8, 5),
    dry_size=(400, 3, 2),
    ours=shaped("VEV", "VVE"),
    peers={"full": shaped("full", "full")},
    check=check,
    targets={"full": at_least(0.5)},
    limit="The E-step, which is that of full; the M-step of common axes turns 28 pairs of them a sweep.",
)
