"""One iteration of EM over rows with missing entries, beside one over the same rows complete."""

from types import SimpleNamespace

import numpy as np

import tractable
from benchmarks.row import Row, within
from tractable.primitives.em import PRODUCTS, group_by_pattern, mixture_pass, pattern_pass
from tractable.primitives.threads import ordered_map


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, dim, k = size
    rng = np.random.default_rng(0)
    X = 2.0 * rng.standard_normal((k, dim))[rng.integers(k, size=n_rows)] + rng.standard_normal((n_rows, dim))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    hidden = rng.random(X.shape) < 0.2
    hidden[:, 0] &= ~hidden.all(axis=1)  # no row is empty
    rows = group_by_pattern(np.where(hidden, np.nan, X))
    covariances = np.tile(np.cov(X, rowvar=False), (k, 1, 1))
    return SimpleNamespace(X=X, rows=rows, means=X[:k].copy(), covariances=covariances)


def ours(data):
    log_weights = np.full(len(data.means), -np.log(len(data.means)))

    def expected(part):
        return pattern_pass(data.rows, None, log_weights, data.means, data.covariances, part)

    sums, evidence = zip(*ordered_map(expected, data.rows.parts()), strict=True)
    return sum(sums), sum(evidence)


def complete(data):
    natural, dim = natural_parameters(data.means, data.covariances), data.means.shape[1]

    def expected(X, weights):
        sums, evidence = mixture_pass(X, weights, np.zeros(dim), np.ones(dim), natural, PRODUCTS)
        return np.append(sums.ravel(), evidence)

    *sums, evidence = tractable.fold(expected, data.X, rows=16384)
    return np.reshape(sums, (len(natural), -1)), evidence


def natural_parameters(means, covariances):
    """Return [constant, linear, upper triangle] of equally weighted Gaussians."""
    k, dim = means.shape
    precisions = np.linalg.inv(covariances)
    linear = np.einsum("kij,kj->ki", precisions, means)
    constant = -0.5 * (np.linalg.slogdet(covariances)[1] + (linear * means).sum(axis=1))
    i, j = np.triu_indices(dim)
    constant -= 0.5 * dim * np.log(2.0 * np.pi) + np.log(k)
    return np.column_stack([constant, linear, -precisions[:, i, j] * np.where(i == j, 0.5, 1.0)])


def check(mine, theirs):
    """The rows differ by what is hidden, but either counts each of them once: relative 1e-12."""
    np.testing.assert_allclose(mine[0][:, 0].sum(), theirs[0][:, 0].sum(), rtol=1e-12)


ROW = Row(
    name="gmm_missing",
    shows="One E-step of a Gaussian mixture, 100,000 × 8, K = 10, 20 % of the entries missing.",
    setup=setup,
    size=(100_000, 8, 10),
    dry_size=(300, 3, 2),
    ours=ours,
    peers={"ours, complete": complete},
    check=check,
    targets={"ours, complete": within(2.0)},
    limit="a Cholesky factor for each pattern and component, then the arithmetic of the entries there are.",
)
