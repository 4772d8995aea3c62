"""Effective sample sizes and R-hat of many parameters."""

from types import SimpleNamespace

import numpy as np

from benchmarks.row import Row, at_least
from tractable.sampling import diagnose


def setup(size, folder):  # noqa: ARG001  (no files)
    n_parameters, n_chains, n_draws = size
    rng = np.random.default_rng(0)
    return SimpleNamespace(draws=rng.standard_normal((n_chains, n_draws, n_parameters)))


def ours(data):
    found = diagnose(data.draws)
    return np.stack([found.ess_bulk, found.ess_tail, found.r_hat])


def arvizs(data):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import arviz

        table = arviz.convert_to_dataset({"x": data.draws})
        found = [arviz.ess(table), arviz.ess(table, method="tail"), arviz.rhat(table)]
    return np.stack([one["x"].values for one in found])


def check(mine, theirs):
    """Relative 1e-6."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)


ROW = Row(
    name="chain_diagnostics",
    shows="Bulk and tail effective sample sizes and R-hat of 1,000 parameters, 4 chains of 1,000 draws.",
    setup=setup,
    size=(1_000, 4, 1_000),
    dry_size=(3, 2, 20),
    ours=ours,
    peers={"arviz": arvizs},
    check=check,
    targets={"arviz": at_least(3.0)},
    limit="sorting the draws of each parameter, and their Fourier transforms.",
)
