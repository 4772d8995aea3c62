"""The two steps of EM for mixtures over the columns of a table."""

from collections.abc import Iterator
from functools import cache, cached_property
from operator import add
from typing import Any

import numpy as np

from tractable.arrays.log_space import log_sum_exp
from tractable.base import Rows
from tractable.columns import (
    BernoulliColumns,
    CategoricalColumns,
    CategoryPrior,
    ColumnFamily,
    ColumnScores,
    CountColumns,
    NormalColumns,
    NormalPrior,
    RatePrior,
    Responsibilities,
)
from tractable.columns.joint_normal import JointNormalScores, factors, joint_estimate, joint_moments
from tractable.covariance import Diagonal, Full
from tractable.covariance.shapes import CovariancePrior
from tractable.data import Batch, Prepared, as_source, sample_rows
from tractable.distributions.independent_columns import some_columns
from tractable.engines.em import EMProblem
from tractable.engines.kmeans import kmeans
from tractable.mixture.table.model import BLOCK_ENTRIES, EncodedRows, TableEncoding, TableParameters
from tractable.statistics import Counts, DiagonalMoments, Moments, Totals
from tractable.statistics.rows import counts
from tractable.value import replace, set_fields, value

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
    """The statistics of rows weighted by responsibilities, the log likelihood, and the log prior."""

    weight: np.ndarray  # (K,)
    parts: tuple[Any, ...]  # of the normal columns, of counts, of zeros and ones, and of categories
    log_likelihood: float
    penalty: float
    params: TableParameters  # of the responsibilities

    def __init__(self, **fields: Any) -> None:
        """Set the fields; those of files of earlier versions have sums in the place of `parts`."""
        if "parts" not in fields:
            sums = {name: fields.pop(name) for name in _EARLIER_SUMS}
            fields["parts"] = _parts_of_sums(fields["weight"], fields["params"].means, **sums)
        set_fields(self, **fields)

    @property
    def objective(self) -> float:
        """The penalised log likelihood."""
        return self.log_likelihood + self.penalty

    def __add__(self, other: "TableSums") -> "TableSums":
        """Add the sums of two blocks at the same parameters; the log prior counts once."""
        return replace(
            self,
            weight=self.weight + other.weight,
            parts=tuple(map(add, self.parts, other.parts)),
            log_likelihood=self.log_likelihood + other.log_likelihood,
        )


#: The fields of `TableSums` in files of earlier versions; the first two sums are about the means.
_EARLIER_SUMS = ("mass", "first", "second", "seen", "counts", "seen_ones", "ones", "categories")


def _parts_of_sums(weight: np.ndarray, means: np.ndarray, **sums: Any) -> tuple[Any, ...]:
    """Return the parts of a statistic, given sums by component."""
    mass = sums["mass"]
    step, second = sums["first"] / np.where(mass > 0, mass, 1.0), sums["second"]
    if second.ndim == 3:
        scatter = second - weight[:, None, None] * step[:, :, None] * step[:, None, :]
        moments: Any = Moments(weight=weight, mean=means + step, scatter=scatter)
    else:
        given = {"weight": mass, "mean": means + step, "scatter": second - mass * step * step}
        moments = DiagonalMoments(**given, total=weight, unseen=0.0 * weight)
    zeros = np.maximum(sums["seen_ones"] - sums["ones"], 0.0)
    return (
        moments,
        Totals(weight=sums["seen"], total=sums["counts"]),
        Counts(counts=np.stack([zeros, sums["ones"]], axis=-1)),
        Counts(counts=sums["categories"]),
    )


@value
class TableExpectation:
    """The E-step at some parameters: called with encoded rows, it returns their `TableSums`."""

    encoding: TableEncoding
    params: TableParameters
    scores: ColumnScores
    penalty: float

    def __call__(self, block: EncodedRows) -> TableSums:
        """Return r_nk ∝ π_k Π_j p(x_nj | k), and the sums that r weights."""
        joint = self.scores(block.x)
        if block.patterns is not None:
            joint += joint_scores(self.params)(block.patterns)
        evidence = log_sum_exp(joint)
        responsibilities = np.exp(joint - evidence[:, None])
        responsibilities[responsibilities < LEAST_RESPONSIBILITY] = 0.0
        total = evidence.sum() if block.weights is None else evidence @ block.weights
        sums = weighted_sums(block, responsibilities, self.params, self.encoding)
        return replace(sums, log_likelihood=float(total) + block.log_base, penalty=self.penalty)


def joint_scores(params: TableParameters) -> JointNormalScores:
    """Return the scores of normal columns that depend on each other."""
    return JointNormalScores(mean=params.means, covariance=params.variances)


def families(encoding: TableEncoding, params: TableParameters) -> tuple[ColumnFamily, ...]:
    """Return the families of the columns, in the order of the parts of `TableSums`."""
    layout = encoding.layout
    return (
        NormalColumns(layout, encoding.normal, params.means),
        CountColumns(layout, encoding.counted),
        BernoulliColumns(layout, encoding.binary),
        CategoricalColumns(layout, encoding.categorical),
    )


def weighted_sums(
    block: EncodedRows, responsibilities: np.ndarray, params: TableParameters, encoding: TableEncoding
) -> TableSums:
    """Return the sums of a block that responsibilities (n, K) weight."""
    membership = Responsibilities.of(responsibilities, block.weights)
    normal, *counted, categorical = families(encoding, params)
    if block.patterns is None:
        moments = normal.summarize(some_columns(block.x, normal.where), membership)
    else:
        moments = joint_moments(block.patterns, membership, joint_scores(params))
    sums = [family.summarize(some_columns(block.x, family.where), membership) for family in counted]
    return TableSums(
        weight=membership.total,
        parts=(moments, *sums, categorical.summarize(block.indicators, membership)),
        log_likelihood=0.0,
        penalty=0.0,
        params=params,
    )


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
        encoding = self.encoding
        with np.errstate(divide="ignore"):
            log_weights = np.maximum(np.log(params.weights), LOG_ZERO)
        if encoding.joint:
            _, whitener = factors(params.variances)  # (Σ⁻¹)_jj = Σ_i W_ij²
            log_weights = log_weights - 0.5 * np.sum(whitener**2, axis=1) @ self.reg_covar
        scores = ColumnScores.of(
            encoding.independent_columns(params),
            log_weights,
            relative=True,
            average=encoding.average,
            least=LOG_ZERO,
            noise=self.reg_covar,
        )
        penalty = self._log_prior(scores, params)
        return TableExpectation(encoding=encoding, params=params, scores=scores, penalty=penalty)

    def maximize(self, sums: TableSums) -> TableParameters:
        """Return the estimates of the sums; a component without rows keeps its parameters."""
        before, alpha, encoding = sums.params, self.alpha, self.encoding
        normal, *others = families(encoding, before)
        moments, *rest = sums.parts
        scatter = self.prior.scatter if encoding.joint else np.diag(self.prior.scatter)
        numbers = NormalPrior(
            mean=before.means,
            variance=before.variances,
            added=self.reg_covar,
            scatter=scatter,
            weight=self.prior.weight,
        )
        if encoding.joint:
            means, variances = joint_estimate(moments, numbers)
        else:
            found = normal.estimate(moments, numbers)
            means, variances = found["mean"], found["variance"]
        binary = np.stack([1.0 - before.ones, before.ones], axis=-1).reshape(len(before.ones), -1)
        two = np.full(len(encoding.binary), 2)
        priors = (
            RatePrior(pseudocounts=alpha, average=encoding.average, otherwise=before.rates),
            CategoryPrior(sizes=two, pseudocounts=alpha, otherwise=binary),
            CategoryPrior(sizes=encoding.sizes, pseudocounts=alpha, otherwise=before.probabilities),
        )
        each = (family.estimate(*given) for family, *given in zip(others, rest, priors, strict=True))
        counts, ones, categories = each
        return TableParameters(
            weights=sums.weight / sums.weight.sum(),
            means=means,
            variances=variances,
            rates=counts["rate"],
            ones=ones["probability"],
            probabilities=categories["probabilities"],
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
        return self.maximize(weighted_sums(block, responsibilities[seen], average, self.encoding))

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
        return found + self.alpha * scores.log_prior if self.alpha else found


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
