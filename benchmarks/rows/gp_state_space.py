"""The evidence of a Gaussian process over time in state-space form, with its gradient."""

from types import SimpleNamespace

import numpy as np

from benchmarks.row import Row, under
from tractable.gaussian_process.posteriors.exact import Observations, log_evidence
from tractable.gaussian_process.posteriors.state_space import StateSpacePosterior, jacobian_of
from tractable.kernels import Matern, Scaled

NOISE = 0.1
#: The rows whose evidence is compared with that of the exact process.
FIRST = 1_000


def setup(size, folder):  # noqa: ARG001  (no files)
    rng = np.random.default_rng(0)
    t = np.cumsum(rng.gamma(2.0, 0.05, size))
    y = np.sin(t) + 0.3 * rng.standard_normal(size)
    rows = [_rows(t[:n], y[:n]) for n in (size, min(FIRST, size))]
    return SimpleNamespace(t=t, all=rows[0], first=rows[1], kernel=Scaled(Matern(2.0, nu=1.5), 1.5))


def _rows(t, y):
    return Observations(x=t[:, None], y=y[:, None], basis=np.ones((len(t), 1)), noise_scale=np.ones(len(t)))


def ours(data):
    """The evidence and the gradient of all rows, and of the first."""
    found = []
    for rows in (data.first, data.all):
        posterior = StateSpacePosterior.of(data.kernel.markov_terms(), NOISE, rows, rows.x[:, 0])
        by_kernel, by_noise = posterior.gradient(NOISE, jacobian_of(data.kernel))
        found.append(np.array([posterior.log_evidence(NOISE), *by_kernel, by_noise]))
    return found[0]


def exact(data):
    found = log_evidence(data.kernel, NOISE, data.first)
    return np.array([found.value, *found.kernel_gradient, found.noise_gradient])


def check(mine, theirs):
    """The first 1,000 rows have the exact evidence and gradient, to 1e-6."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)


ROW = Row(
    name="gp_state_space",
    shows="Evidence and gradient of 100,000 times, Matérn 3/2; the peer has the first 1,000 alone.",
    setup=setup,
    size=100_000,
    dry_size=60,
    ours=ours,
    peers={"the exact process of 1,000 rows": exact},
    check=check,
    targets={"the exact process of 1,000 rows": under(1.0)},
    limit="a second is 10 microseconds a time: Kalman's filter, the sums of the smoother and the gradient.",
)
