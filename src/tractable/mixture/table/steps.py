"""The two steps of EM for mixtures over the columns of a table."""

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

import numpy as np

from tractable.arrays import log_det_cholesky
from tractable.arrays.log_space import LOG_2PI, log_sum_exp
from tractable.base import Rows
from tractable.covariance import Diagonal, Full
from tractable.covariance.shapes import CovariancePrior
from tractable.data import Batch, Prepared, as_source, sample_rows
from tractable.distributions.independent_columns import ColumnScores, smoothed_rates, some_columns
from tractable.engines.em import EMProblem
from tractable.engines.kmeans import kmeans
from tractable.mixture.table.model import BLOCK_ENTRIES, EncodedRows, TableEncoding, TableParameters
from tractable.primitives.em import PatternRows
from tractable.statistics.rows import counts
from tractable.value import parameters, replace, value

#: Rows that the initial clusters are found in.
INITIAL_ROWS = 20_000

#: Rows and steps of EM by which initial partitions are compared.
TRIED_ROWS, TRIED_STEPS = 2000, 5

#: The indicators of a column of more categories are projected on so many directions before k-means.
MANY = 128

#: The logarithm of the smallest normal number, in place of that of zero.
LOG_ZERO = float(np.log(np.finfo(np.float64).tiny))

#: Smaller responsibilities are zero: denormal numbers make matrix products a hundred times slower.
LEAST_RESPONSIBILITY = 1e-100


@value
class TableSums:
    """Sums over rows weighted by their responsibilities, the log likelihood, and the log prior."""

    weight: np.ndarray  # (K,)
    mass: np.ndarray  # (K, p), of the observed entries of normal columns; (K, 1) of rows if these are joint
    first: np.ndarray  # (K, p), about the means
    second: np.ndarray  # (K, p), or (K, p, p)
    seen: np.ndarray  # (K, c), of the observed counts
    counts: np.ndarray  # (K, c)
    seen_ones: np.ndarray  # (K, b), of the observed zeros and ones
    ones: np.ndarray  # (K, b)
    categories: np.ndarray  # (K, number of categories)
    log_likelihood: float
    penalty: float
    params: TableParameters  # of the responsibilities

    @property
    def objective(self) -> float:
        """The penalised log likelihood."""
        return self.log_likelihood + self.penalty

    def __add__(self, other: "TableSums") -> "TableSums":
        """Add the sums of two blocks at the same parameters; the log prior counts once."""
        once: dict[str, Any] = {"penalty": self.penalty, "params": self.params}
        added = {
            name: mine + getattr(other, name) for name, mine in parameters(self).items() if name not in once
        }
        return TableSums(**added, **once)


@value
class TableExpectation:
    """The E-step at some parameters: called with encoded rows, it returns their `TableSums`."""

    params: TableParameters
    scores: ColumnScores
    penalty: float

    def __call__(self, block: EncodedRows) -> TableSums:
        """Return r_nk ∝ π_k Π_j p(x_nj | k), and the sums that r weights."""
        joint = self.scores(block.x)
        if block.patterns is not None:
            joint += observed_scores(block.patterns, self.params.means, self.params.variances)
        evidence = log_sum_exp(joint)
        responsibilities = np.exp(joint - evidence[:, None])
        responsibilities[responsibilities < LEAST_RESPONSIBILITY] = 0.0
        total = evidence.sum() if block.weights is None else evidence @ block.weights
        sums = weighted_sums(block, responsibilities, self.params, self.scores.columns)
        return replace(sums, log_likelihood=float(total) + block.log_base, penalty=self.penalty)


def weighted_sums(
    block: EncodedRows, responsibilities: np.ndarray, params: TableParameters, columns: Any
) -> TableSums:
    """Return the sums of a block that responsibilities (n, K) weight."""
    r = responsibilities if block.weights is None else responsibilities * block.weights[:, None]
    weight = r.sum(axis=0)
    seen, counts = _totals(r, weight, block, columns.counted)
    seen_ones, ones = _totals(r, weight, block, columns.binary)
    if block.patterns is None:
        mass, first, second = _about_means(r, weight, block, columns.normal, params.means)
    else:
        mass = weight[:, None]
        first, second = completed_sums(block.patterns, r, params.means, params.variances)
    return TableSums(
        weight=weight,
        mass=mass,
        first=first,
        second=second,
        seen=seen,
        counts=counts,
        seen_ones=seen_ones,
        ones=ones,
        categories=(block.indicators.T @ r).T,
        log_likelihood=0.0,
        penalty=0.0,
        params=params,
    )


def _totals(
    r: np.ndarray, weight: np.ndarray, block: EncodedRows, where: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ_n r_nk over the observed entries of some columns, and Σ_n r_nk x_nj, (K, len(where)) each."""
    x = some_columns(block.x, where)
    if block.complete[where].all():
        return np.repeat(weight[:, None], len(where), axis=1), r.T @ x
    seen = ~np.isnan(x)
    return r.T @ seen.astype(np.float64), r.T @ np.where(seen, x, 0.0)


def _about_means(
    r: np.ndarray, weight: np.ndarray, block: EncodedRows, where: np.ndarray, means: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Σ_n r_nk, Σ_n r_nk (z - m_k) and Σ_n r_nk (z - m_k)² over observed entries, (K, p) each."""
    z, complete = some_columns(block.x, where), bool(block.complete[where].all())
    mass = np.repeat(weight[:, None], len(where), axis=1)
    if not complete:
        mass = r.T @ (~np.isnan(z)).astype(np.float64)
    first, second = np.zeros_like(means), np.zeros_like(means)
    for k, mean in enumerate(means):
        step = z - mean
        if not complete:
            np.nan_to_num(step, copy=False, nan=0.0)
        first[k] = r[:, k] @ step
        np.multiply(step, step, out=step)
        second[k] = r[:, k] @ step
    return mass, first, second


def _by_pattern(rows: PatternRows) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield which columns each pattern observes, the positions of its rows, and their entries."""
    for i, mask in enumerate(rows.masks):
        o, (a, b) = np.flatnonzero(mask), rows.begins[i : i + 2]
        entries = rows.flat[rows.starts[i] : rows.starts[i] + (b - a) * len(o)]
        yield o, rows.order[a:b], entries.reshape(b - a, len(o))


def _factors(covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the lower Cholesky factors L of covariances (K, d, d), and W = L⁻¹, which whitens."""
    try:
        lower = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        lower = Full.jittered(covariances).cholesky
    return lower, np.linalg.inv(lower)


def observed_scores(rows: PatternRows, means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Return log N(z_o | m_k, Σ_k) of the observed entries of rows, (n, K), 0 where there are none.

    All components at once: blocks of a table are small, and a call for each would take longer.
    """
    found = np.zeros((rows.n_rows, len(means)))
    for o, where, z in _by_pattern(rows):
        if len(o):
            lower, whitener = _factors(covariances[:, o[:, None], o])
            white = whitener @ (z - means[:, None, o]).transpose(0, 2, 1)
            constants = log_det_cholesky(lower) + len(o) * LOG_2PI
            found[where] = -0.5 * (np.einsum("kon,kon->nk", white, white) + constants)
    return found


def completed_sums(
    rows: PatternRows, r: np.ndarray, means: np.ndarray, covariances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ_n r_nk E[z - m_k] and Σ_n r_nk E[(z - m_k)(z - m_k)ᵀ] given the observed entries of rows.

    With the gain G = Σ_mo Σ_oo⁻¹ the missing entries of a row are m_m + G (z_o - m_o) on average, with the
    covariance Σ_mm - G Σ_om. Responsibilities r (n, K) are in the order of the rows before they were grouped.
    """
    first, second = np.zeros_like(means), np.zeros_like(covariances)
    p = means.shape[1]
    for o, where, z in _by_pattern(rows):
        m = np.setdiff1d(np.arange(p), o)
        mine = r[where].T  # (K, rows)
        step = z - means[:, None, o]  # (K, rows, o)
        weighted = mine[:, :, None] * step
        if not len(m):
            first += weighted.sum(axis=1)
            second += weighted.transpose(0, 2, 1) @ step
            continue
        spread = np.zeros((len(means), p, len(o)))  # from the observed entries to all
        spread[:, o, np.arange(len(o))] = 1.0
        if len(o):
            gain = np.linalg.solve(covariances[:, o[:, None], o], covariances[:, o[:, None], m])  # (K, o, m)
            spread[:, m] = gain.transpose(0, 2, 1)
        left = covariances[:, m[:, None], m] - spread[:, m] @ covariances[:, o[:, None], m]
        second[:, m[:, None], m] += mine.sum(axis=1)[:, None, None] * left
        first += (spread @ weighted.sum(axis=1)[:, :, None])[:, :, 0]
        second += spread @ (weighted.transpose(0, 2, 1) @ step) @ spread.transpose(0, 2, 1)
    return first, second


@value
class TableProblem(EMProblem):
    """EM for a mixture over the columns of a table; see `tractable.base.EMEstimator`.

    `alpha` pseudo-observations of each category, and of the average count, are a Dirichlet and a gamma prior;
    `reg_covar` is added to the standardized variances of normal columns as if every entry had an error of
    that variance (where columns have covariances, every entry of every row). `prior` is an inverse Wishart
    prior on the covariances, or on the variances. All of them are in the objective, which both steps
    increase.
    """

    rows: Rows | None  # None for an M-step alone
    encoding: TableEncoding
    n_components: int
    alpha: float
    reg_covar: np.ndarray  # (number of normal columns,)
    prior: CovariancePrior
    total: float = 0.0  # weight of the rows with an observed entry
    unseen: float = 0.0  # weight of the others

    @cached_property
    def data(self) -> Prepared:
        """The encoded rows."""
        assert self.rows is not None
        width = 2 * len(self.encoding.columns.kinds) + self.n_components * (1 + len(self.encoding.normal))
        source = as_source(self.rows.data, None, self.rows.weights)
        return source.prepare(self.encoding, rows=max(256, BLOCK_ENTRIES // width))

    def expect(self, params: TableParameters) -> TableExpectation:
        """Return the E-step at these parameters."""
        columns = self.encoding.independent_columns(params)
        with np.errstate(divide="ignore"):
            log_weights = np.maximum(np.log(params.weights), LOG_ZERO)
        scores = ColumnScores.of(
            columns, log_weights, relative=True, average=self.encoding.average, least=LOG_ZERO
        )
        if self.encoding.joint:
            _, whitener = _factors(params.variances)  # (Σ⁻¹)_jj = Σ_i W_ij²
            floor = 0.5 * np.sum(whitener**2, axis=1) @ self.reg_covar
            scores = replace(scores, log_weights=scores.log_weights - floor)
        else:
            scores = replace(scores, log_norm=scores.log_norm - 0.5 * self.reg_covar / params.variances)
        return TableExpectation(params=params, scores=scores, penalty=self._log_prior(scores, params))

    def maximize(self, sums: TableSums) -> TableParameters:
        """Return the averages of the sums; a component without rows keeps its parameters."""
        before, alpha, encoding = sums.params, self.alpha, self.encoding
        some = np.where(sums.mass > 0, sums.mass, 1.0)
        step = sums.first / some
        if encoding.joint:
            variances = sums.second / some[:, :, None] - step[:, :, None] * step[:, None, :]
            variances = 0.5 * (variances + variances.transpose(0, 2, 1)) + np.diag(self.reg_covar)
            mass, pseudo = sums.mass[:, :, None], self.prior.scatter
        else:
            variances = np.maximum(sums.second / some - step * step, 0.0) + self.reg_covar
            mass, pseudo = sums.mass, np.diag(self.prior.scatter)
        if self.prior.weight:
            variances = (mass * variances + pseudo) / (mass + self.prior.weight)
        there = mass + self.prior.weight > 0
        rows = sums.seen_ones + 2.0 * alpha
        return TableParameters(
            weights=sums.weight / sums.weight.sum(),
            means=before.means + step,
            variances=np.where(there, variances, before.variances),
            rates=smoothed_rates(sums.counts, sums.seen, alpha, encoding.average, before.rates),
            ones=np.where(rows > 0, (sums.ones + alpha) / np.where(rows > 0, rows, 1.0), before.ones),
            probabilities=encoding.categories.probabilities(sums.categories + alpha, before.probabilities),
        )

    def initial(self, rng: np.random.Generator) -> TableParameters:
        """Return the M-step from a partition of some of the encoded rows.

        It is that of k-means, or fewer clusters of k-means each divided by the categories of a column, as of
        animals by their sex: whichever has the highest objective after a few steps of EM on part of the rows.
        """
        assert self.rows is not None
        choice, draw = rng.spawn(2)  # what one draws must not depend on how many rows the other looked at
        x, weights = sample_rows(self.rows.data, self.rows.weights, INITIAL_ROWS, draw)
        starts = [self.from_responsibilities(x, weights, r) for r in self._partitions(x, weights, choice)]
        if len(starts) == 1:
            return starts[0]
        some = slice(None, None, -(-len(x) // TRIED_ROWS))
        block = self._encoded(x[some], None if weights is None else weights[some])
        return max(starts, key=lambda params: self._objective_after(TRIED_STEPS, params, block))

    def _partitions(self, x: np.ndarray, weights: Any, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield responsibilities of rows, (n, K)."""
        points, K, encoding = self._points(x), self.n_components, self.encoding
        clusters = cache(lambda k: np.eye(k)[kmeans(points, weights, k, rng).labels])
        yield clusters(K)
        where = np.concatenate([encoding.binary, encoding.categorical])
        for j, m in zip(where, [*np.full(len(encoding.binary), 2), *encoding.sizes], strict=True):
            if 1 < m <= K and K % m == 0:
                own = np.where(np.isnan(x[:, j, None]), 1.0 / m, x[:, j, None] == np.arange(m))
                found = (clusters(K // m)[:, :, None] * own[:, None, :]).reshape(len(x), K)
                if (found.sum(axis=0) >= 1.0).all():
                    yield found

    def _objective_after(self, n_steps: int, params: TableParameters, block: EncodedRows) -> float:
        """Return the objective of a block after so many steps of EM on it."""
        for _ in range(n_steps):
            params = self.maximize(self.expect(params)(block))
        return self.expect(params)(block).objective

    def _encoded(self, x: np.ndarray, weights: Any) -> EncodedRows:
        """Return the rows with an observed entry as the steps of EM take them."""
        seen = ~np.isnan(x).all(axis=1)
        return self.encoding(Batch(X=x[seen], weights=None if weights is None else weights[seen]))

    def from_responsibilities(
        self, x: np.ndarray, weights: Any, responsibilities: np.ndarray
    ) -> TableParameters:
        """Return the M-step from given responsibilities (n, K) of rows."""
        block, seen = self._encoded(x, weights), ~np.isnan(x).all(axis=1)
        average = self._average(block)
        columns = self.encoding.independent_columns(average)
        return self.maximize(weighted_sums(block, responsibilities[seen], average, columns))

    def _average(self, block: EncodedRows) -> TableParameters:
        """Return components that are all like the average row."""
        K, encoding = self.n_components, self.encoding
        p = len(encoding.normal)
        seen = (block.indicators.T @ counts(block.weights, block.x))[None] + 1.0
        return TableParameters(
            weights=np.full(K, 1.0 / K),
            means=np.zeros((K, p)),
            variances=np.repeat(np.eye(p)[None], K, axis=0) if encoding.joint else np.ones((K, p)),
            rates=np.repeat(encoding.average[None], K, axis=0),
            ones=np.repeat(encoding.standardizer.shift[None, encoding.binary], K, axis=0),
            probabilities=np.repeat(encoding.categories.probabilities(seen, 0.0), K, axis=0),
        )

    def _points(self, x: np.ndarray) -> np.ndarray:
        """Return rows as points for k-means: standardized numbers, 0 where missing, and indicators."""
        encoding = self.encoding
        z = encoding.standardizer.transform(x)
        flat = np.where(np.isnan(z), 0.0, z)[:, np.concatenate([encoding.normal, encoding.counted])]
        sizes = [*np.full(len(encoding.binary), 2), *encoding.sizes]
        where = np.concatenate([encoding.binary, encoding.categorical])
        codes = [_indicators(x[:, j], int(n)) for j, n in zip(where, sizes, strict=True)]
        return np.concatenate([flat, *codes], axis=1, dtype=np.float64, casting="unsafe")

    def _log_prior(self, scores: ColumnScores, params: TableParameters) -> float:
        """Return the log priors: α Σ log θ of categories, α Σ (m log r/m - (r - m)) of rates r, log p(Σ)."""
        found = 0.0
        if self.prior.weight:
            joint = self.encoding.joint
            found = self.prior.log_prob(
                Full.jittered(params.variances) if joint else Diagonal(variances=params.variances)
            )
        if not self.alpha:
            return found
        average, rates = self.encoding.average, scores.columns.rate
        counts = average * scores.log_ratio - (rates - average)
        categories = scores.log_one.sum() + scores.log_zero.sum() + scores.tables.sum()
        return found + self.alpha * float(categories + counts.sum())


def _indicators(codes: np.ndarray, size: int) -> np.ndarray:
    """Return an indicator of each category, (n, size), zeros where an entry is missing.

    Many are projected on few random directions, always the same, which about keeps distances.
    """
    if size <= MANY:
        return codes[:, None] == np.arange(size)
    seen = ~np.isnan(codes)
    signs = np.random.default_rng(0).integers(0, 2, (size, MANY), dtype=np.int8)
    found = np.zeros((len(codes), MANY), dtype=np.float32)
    found[seen] = (2.0 * signs[codes[seen].astype(np.int64)] - 1.0) / np.sqrt(MANY)
    return found
