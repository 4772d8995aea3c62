"""Maximum likelihood of x = W z + μ + noise, with z ~ N(0, I): probabilistic PCA and factor analysis.

Complete rows need their mean and scatter alone. Probabilistic PCA (noise of one variance) then has a closed
form (Tipping and Bishop 1999), and factor analysis (a variance a column) is a search over the noise alone.
Rows with missing entries are fitted by EM over the latent z: nothing is imputed, the likelihood is that of
the observed entries. Both work on standardized rows, of one scale for probabilistic PCA.
"""

from functools import cached_property
from operator import add
from typing import Any

import numpy as np

from tractable.arrays.devices import beside, beside_rows, on_host
from tractable.arrays.log_space import LOG_2PI
from tractable.arrays.namespace import namespace_of
from tractable.covariance import LowRankPlusDiagonal
from tractable.covariance.low_rank import LEAST_NOISE, fit_factors
from tractable.data import Batch, Source, Whole
from tractable.engines.em import EMProblem, squared_extrapolation
from tractable.engines.fold import fold
from tractable.engines.lbfgs import bounded_lbfgs
from tractable.engines.principal_components import components_of
from tractable.primitives import as_double
from tractable.primitives.factors import FactorPass, IncompleteRows, factor_pass, unpacked
from tractable.statistics import ColumnSummary, ScatterFactor, Standardizer
from tractable.value import replace, value

#: The least noise variance of probabilistic PCA, as a fraction of the mean variance of the columns.
LEAST_ISOTROPIC = LEAST_NOISE**2

#: Of so few columns the noise of factor analysis is found to the last digits, by so many of Newton's steps.
FEW_COLUMNS, NEWTON_STEPS = 64, 3

#: Rows that are grouped by their missing entries at a time.
GROUPED = 4096


@value
class FactorParameters:
    """Mean, loadings and noise of a model with latent factors, in standardized columns.

    Parameters
    ----------
    mean : array (d,)
        μ.
    loadings : array (d, r)
        W.
    noise : array (d,)
        The variances of the noise.

    Examples
    --------
    >>> one = FactorParameters(mean=np.zeros(2), loadings=np.array([[1.0], [2.0]]), noise=np.ones(2))
    >>> one.structure.dense().tolist()
    [[2.0, 2.0], [2.0, 5.0]]
    """

    mean: np.ndarray
    loadings: np.ndarray
    noise: np.ndarray

    @property
    def structure(self) -> LowRankPlusDiagonal:
        """The covariance W Wᵀ + D."""
        return LowRankPlusDiagonal(factor=self.loadings, variances=self.noise)


@value
class CompleteSums:
    """The statistic of complete rows: their mean and scatter, which do not depend on parameters."""

    moments: ScatterFactor
    log_likelihood: float
    penalty: float
    params: FactorParameters

    @property
    def objective(self) -> float:
        """The penalised log-likelihood."""
        return self.log_likelihood + self.penalty

    def __add__(self, other: Any) -> "CompleteSums":
        if not isinstance(other, CompleteSums):
            return NotImplemented
        total = self.log_likelihood + other.log_likelihood
        return replace(self, moments=self.moments + other.moments, log_likelihood=total)


@value
class FactorSums:
    """The expected statistics of rows at `params`: moments of the latent z, column by column.

    Parameters
    ----------
    counts, sums, squares : arrays (d,)
        Σ w, Σ w x and Σ w x² of the observed entries of each column.
    expected : FactorPass
        Sums of E[z] and E[z zᵀ], and of these with x.
    weight : float
        Of the rows in which anything is observed.
    log_likelihood, penalty : float
        Of the rows in their own scale; the log prior of the loadings, which counts once.
    params : FactorParameters
        Where the expectations were taken.
    """

    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray
    expected: FactorPass
    weight: float
    log_likelihood: float
    penalty: float
    params: FactorParameters

    @property
    def objective(self) -> float:
        """The penalised log-likelihood."""
        return self.log_likelihood + self.penalty

    def __add__(self, other: Any) -> "FactorSums":
        if not isinstance(other, FactorSums):
            return NotImplemented
        names = ("counts", "sums", "squares", "weight", "log_likelihood")
        both = {name: getattr(self, name) + getattr(other, name) for name in names}
        expected = FactorPass(*map(add, self.expected, other.expected))
        return replace(self, expected=expected, **both)


@value
class CompleteEStep:
    """The log-likelihood of complete rows, from their mean and scatter."""

    params: FactorParameters
    log_jacobian: float
    penalty: float

    def __call__(self, moments: ScatterFactor) -> CompleteSums:
        structure, n = self.params.structure, float(moments.weight)
        step = moments.mean - self.params.mean
        distance = _traced(structure, moments) + n * float(step @ structure.solve(step))
        log_norm = float(structure.log_det) + len(step) * LOG_2PI - 2.0 * self.log_jacobian
        log_likelihood = -0.5 * (n * log_norm + distance)
        return CompleteSums(
            moments=moments, log_likelihood=log_likelihood, penalty=self.penalty, params=self.params
        )


@value
class LatentEStep:
    """The moments of the latent factors of rows with missing entries."""

    params: FactorParameters
    log_scale: np.ndarray  # (d,), log |dz/dx| of each column
    penalty: float = 0.0

    def __call__(self, block: IncompleteRows) -> FactorSums:
        params = self.params
        expected = factor_pass(block, *beside((params.mean, params.loadings, params.noise), block.x))
        counts, sums, squares, expected = on_host((block.counts, block.sums, block.squares, expected))
        return FactorSums(
            counts=counts,
            sums=sums,
            squares=squares,
            expected=expected,
            weight=float(namespace_of(block.x).sum(block.weights)),
            log_likelihood=expected.log_likelihood + float(counts @ self.log_scale),
            penalty=self.penalty,
            params=self.params,
        )


@value
class GroupRows:
    """Standardize the rows of a block, and sort them by which entries are missing."""

    standardizer: Standardizer

    def __call__(self, block: Batch) -> IncompleteRows:
        rows = beside(self.standardizer, block.X).transform(as_double(block.X))
        return IncompleteRows.of(rows, block.weights)


@value
class FilledMoments:
    """Mean and scatter of standardized rows, with the means of the columns for what is missing."""

    standardizer: Standardizer

    @beside_rows
    def __call__(self, block: Batch) -> ScatterFactor:
        xp, z = namespace_of(block.X), self.standardizer.transform(as_double(block.X))
        return ScatterFactor.of(xp.where(xp.isnan(z), 0.0, z), block.weights)


@value
class FactorProblem(EMProblem):
    """The data and the two steps, of `rank` factors.

    Parameters
    ----------
    source : Source or None
        The rows; None for an M-step alone.
    summary : ColumnSummary or None
        Of their columns.
    standardizer : Standardizer
        Of the search.
    rank : int
        Number of factors.
    isotropic : bool
        Whether the noise has one variance (probabilistic PCA) or one a column (factor analysis).
    ard : bool
        Whether every column of W has a prior N(0, I/α) with an α of its own, which prunes.
    """

    source: Source | None
    summary: ColumnSummary | None
    standardizer: Standardizer
    rank: int
    isotropic: bool
    ard: bool = False
    weight: float = 1.0

    @property
    def total(self) -> float:
        """Weight of the rows in which anything is observed."""
        return 0.0 if self.summary is None else self.summary.total

    @property
    def complete(self) -> bool:
        """Whether every entry is observed."""
        return self.summary is not None and self.summary.complete

    @cached_property
    def moments(self) -> ScatterFactor:
        """Mean and scatter of the standardized rows; what is missing at the means."""
        assert self.source is not None
        if not self.complete:
            return self.source.reduce(FilledMoments(standardizer=self.standardizer))
        found: ScatterFactor = fold(ScatterFactor.of, self.source)
        scale = self.standardizer.scale
        return ScatterFactor(
            weight=found.weight,
            mean=self.standardizer.transform(found.mean),
            factor=None if found.factor is None else found.factor * scale,
            scatter=None if found.scatter is None else found.scatter * scale[:, None] * scale,
        )

    @cached_property
    def data(self) -> Any:
        """What the E-steps reduce: the scatter of complete rows, or rows sorted by what is missing."""
        if self.complete:
            return Whole(value=self.moments)
        assert self.source is not None
        return self.source.prepare(GroupRows(standardizer=self.standardizer), rows=GROUPED)

    @cached_property
    def floor(self) -> np.ndarray:
        """The least variance of the noise of each column; rounding, in a column that is constant."""
        if self.isotropic:
            return np.full(len(self.standardizer.scale), LEAST_ISOTROPIC)
        return np.where(self.standardizer.varies, LEAST_NOISE, 1.0)

    def initial(self, rng: np.random.Generator) -> FactorParameters:
        """Return the fit to the rows with the columns' means for what is missing."""
        return self.from_moments(self.moments)

    def expect(self, params: FactorParameters) -> Any:
        """Return the E-step at these parameters."""
        log_scale, penalty = np.log(self.standardizer.scale), self.log_prior(params)
        if self.complete:
            return CompleteEStep(params=params, log_jacobian=float(log_scale.sum()), penalty=penalty)
        return LatentEStep(params=params, log_scale=log_scale, penalty=penalty)

    def maximize(self, sums: Any) -> FactorParameters:
        """Return the M-step."""
        if isinstance(sums, CompleteSums):
            return self.from_moments(sums.moments, sums.params)
        params = sums.params
        if self.ard:
            return self._regressed(sums, self._precisions(params) * params.noise[0])
        return self._expanded(self._regressed(sums, np.zeros(self.rank)), sums)

    def extrapolate(self, start: Any, once: Any, twice: Any) -> FactorParameters | None:
        """Return parameters farther along two steps of EM, where these are slow."""
        if self.complete:
            return None
        far = squared_extrapolation(*(_vector(p) for p in (start, once, twice)))
        return None if far is None else _params(far, self.rank, self.floor)

    def from_moments(
        self, moments: ScatterFactor, before: FactorParameters | None = None
    ) -> FactorParameters:
        """Return the best fit to complete rows; the search of factor analysis begins at that before."""
        n, d = float(moments.weight), moments.dim
        if not self.isotropic:
            average = moments.moments().scatter / n + np.diag(np.where(self.standardizer.varies, 0.0, 1.0))
            start = None if before is None else before.noise
            return best_factors(moments.mean, average, self.rank, start, self.floor)
        if self.ard:
            found = components_of(moments)
            variances = np.zeros(d)
            variances[: found.n_components] = found.variances()
            lengths, noise = relevant_lengths(variances, n, self.weight**-2.0, float(self.floor[0]))
        else:
            found = components_of(moments, min(self.rank, _n_directions(moments)))
            noise = max(found.discarded_scatter / n / (d - self.rank), float(self.floor[0]))
            lengths = np.maximum(found.variances() - noise, 0.0)
        loadings = np.zeros((d, self.rank))
        k = min(len(lengths), found.n_components, self.rank)
        loadings[:, :k] = found.components[:k].T * np.sqrt(lengths[:k])
        return FactorParameters(mean=found.mean, loadings=loadings, noise=np.full(d, noise))

    def log_prior(self, params: FactorParameters) -> float:
        """Return log p(W | α) + log p(α) at the best α, up to a constant."""
        if not self.ard:
            return 0.0
        d = len(params.mean)
        return float(0.5 * d * np.sum(np.log(self._precisions(params))))

    def _precisions(self, params: FactorParameters) -> np.ndarray:
        """Return the α_i = d / (|w_i|² + b) that are best for given loadings.

        b = 1/n², an exponential prior on α, keeps the objective finite where columns are pruned; with it a
        column of length one costs d log n, as by the BIC of twice as many parameters.
        """
        return len(params.mean) / (np.sum(params.loadings**2, axis=0) + self.weight**-2.0)

    def _regressed(self, sums: FactorSums, penalty: np.ndarray) -> FactorParameters:
        """Return the regression of every column on (1, z), over the rows in which it is observed."""
        r, found = self.rank, sums.expected
        gram = np.empty((len(sums.counts), r + 1, r + 1))
        gram[:, 0, 0] = sums.counts
        gram[:, 0, 1:] = gram[:, 1:, 0] = found.first
        gram[:, 1:, 1:] = unpacked(found.second, r) + np.diag(penalty)
        right = np.concatenate([sums.sums[:, None], found.cross], axis=1)
        coef = np.linalg.solve(gram, right[:, :, None])[:, :, 0]
        # The residual sum of squares, without what the penalty takes from the regression.
        left = sums.squares - np.sum(coef * right, axis=1) - coef[:, 1:] ** 2 @ penalty
        noise = left / sums.counts
        if self.isotropic:
            noise = np.full(len(noise), left.sum() / sums.counts.sum())
        return FactorParameters(mean=coef[:, 0], loadings=coef[:, 1:], noise=np.maximum(noise, self.floor))

    def _expanded(self, params: FactorParameters, sums: FactorSums) -> FactorParameters:
        """Return the same with the latent z given a mean and covariance too, taken into μ and W.

        Parameter-expanded EM (Liu, Rubin and Wu 1998): every step raises the likelihood, in fewer of them.
        """
        mean = sums.expected.latent_first / sums.weight
        second = unpacked(sums.expected.latent_second, self.rank) / sums.weight
        root = np.linalg.cholesky(second - np.outer(mean, mean))
        return replace(params, mean=params.mean + params.loadings @ mean, loadings=params.loadings @ root)


def _n_directions(moments: ScatterFactor) -> int:
    return moments.dim if moments.factor is None else min(moments.factor.shape)


def _traced(structure: LowRankPlusDiagonal, moments: ScatterFactor) -> float:
    """Return tr(Σ⁻¹ S)."""
    if moments.factor is not None:
        return float(np.sum(structure.whiten(moments.factor) ** 2))
    return float(np.trace(structure.solve(moments.scatter)))


def best_factors(
    mean: np.ndarray, average: np.ndarray, rank: int, noise: np.ndarray | None, floor: np.ndarray
) -> FactorParameters:
    """Return the factors and noise of greatest likelihood for a covariance S, `average`, (d, d).

    For given noise ψ the best factors are eigenvectors of D^-½ S D^-½ with eigenvalues λ, and what is left is
    a function of log ψ alone (Jöreskog 1967), Σ log ψ + Σ_{kept} (1 + log λ_i) + Σ_{others} λ_i, whose
    derivatives are 1 - Σ_i c_i u_ij², c_i = 1 of those kept and λ_i of the others. It is minimised by L-BFGS
    within bounds, from noise that is given or a few steps of EM; of few columns Newton's method finds the
    last digits, which the value of the function is too flat to show.
    """
    variances = np.diagonal(average)
    if noise is None:
        noise = fit_factors(average[None], rank).variances[0]

    def spectrum(log_noise: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        root = np.exp(0.5 * log_noise)
        values, vectors = np.linalg.eigh(average / root[:, None] / root)
        values, vectors = values[::-1], vectors[:, ::-1]
        return values, vectors, (np.arange(len(values)) < rank) & (values > 1.0)

    def objective(log_noise: np.ndarray) -> tuple[float, np.ndarray]:
        values, vectors, kept = spectrum(log_noise)
        inside = np.where(kept, 1.0 + np.log(np.where(kept, values, 1.0)), values)
        slope = 1.0 - vectors**2 @ np.where(kept, 1.0, values)
        return float(np.sum(log_noise) + np.sum(inside)), slope

    least, most = np.log(floor), np.log(np.maximum(2.0 * variances, 2.0 * floor))
    start = np.clip(np.log(noise), least, most)
    found = bounded_lbfgs(objective, start, np.column_stack([least, most]), tol=1e-15, max_iter=500)
    log_noise = found.x
    for _ in range(NEWTON_STEPS if len(average) <= FEW_COLUMNS else 0):
        values, vectors, kept = spectrum(log_noise)
        gradient, hessian = objective(log_noise)[1], _curvature(values, vectors, kept)
        free = (log_noise > least) & (log_noise < most)
        step = np.zeros_like(log_noise)
        step[free] = np.linalg.lstsq(hessian[np.ix_(free, free)], gradient[free], rcond=1e-10)[0]
        if not np.max(np.abs(step), initial=0.0) < 1e-2:
            break
        log_noise = np.clip(log_noise - step, least, most)
    values, vectors, kept = spectrum(log_noise)
    lengths = np.sqrt(np.where(kept, values - 1.0, 0.0))[:rank]
    root = np.exp(0.5 * log_noise)
    return FactorParameters(
        mean=mean, loadings=root[:, None] * vectors[:, :rank] * lengths, noise=np.exp(log_noise)
    )


def _curvature(values: np.ndarray, vectors: np.ndarray, kept: np.ndarray) -> np.ndarray:
    """Return the second derivatives with respect to log ψ, by divided differences of c over λ, (d, d)."""
    c, gap = np.where(kept, 1.0, values), values[:, None] - values
    near = np.abs(gap) <= 1e-9 * values[0]
    slope = np.where(kept, 0.0, 1.0)
    ratio = np.where(near, 0.5 * (slope[:, None] + slope), (c[:, None] - c) / np.where(near, 1.0, gap))
    pairs = vectors[:, None, :] * vectors[None, :, :]
    return 0.5 * np.einsum("ijm,ml,ijl->ij", pairs, ratio * (values[:, None] + values), pairs, optimize=True)


def relevant_lengths(variances: np.ndarray, n: float, b: float, floor: float) -> tuple[np.ndarray, float]:
    """Return |w_i|² of the columns of W under a prior that prunes, (d - 1,), and the noise, of complete rows.

    Along eigenvectors of S the penalised likelihood is -n/2 Σ [log v_i + λ_i / v_i] - d/2 Σ log(|w_i|² + b)
    with v_i = |w_i|² + σ². For given σ² each |w_i|² is a root of a quadratic, and then σ² of an equation in
    one unknown; the two alternate for every number of columns, and the best is taken.

    Parameters
    ----------
    variances : array (d,)
        The eigenvalues λ of the covariance, the largest first.
    n : float
        Number of rows.
    b : float
        The prior's scale.
    floor : float
        The least noise.
    """
    d = len(variances)
    best: tuple[float, np.ndarray, float] = (-np.inf, np.zeros(d - 1), floor)
    for k in range(1, d):
        lam, noise = variances[:k], max(float(np.mean(variances[k:])), floor)
        lengths = np.maximum(lam - noise, 0.0)
        for _ in range(200):
            c = noise - b
            half = n * (lam + c)
            root = np.maximum(half**2 - 4.0 * (n + d) * n * lam * c, 0.0)
            lengths = np.maximum((half + np.sqrt(root)) / (2.0 * (n + d)) - noise, 0.0)
            v = lengths + noise
            # Of the columns kept, what shrinkage leaves of λ_i goes to the noise as well.
            weight = (noise / v) ** 2
            after = (np.sum(variances[k:]) + np.sum(weight * (lam - lengths))) / (d - k + np.sum(weight))
            after = max(float(after), floor)
            done = abs(after - noise) <= 1e-14 * noise
            noise = after
            if done:
                break
        v = np.concatenate([lengths, np.zeros(d - k)]) + noise
        prior = np.sum(np.log(lengths + b)) + (d - 1 - k) * np.log(b)
        score = -0.5 * n * float(np.sum(np.log(v) + variances / v)) - 0.5 * d * float(prior)
        if score > best[0]:
            best = score, np.concatenate([lengths, np.zeros(d - 1 - k)]), noise
    return best[1], best[2]


def _vector(params: FactorParameters) -> np.ndarray:
    return np.concatenate([params.mean, params.loadings.ravel(), np.log(params.noise)])


def _params(vector: np.ndarray, rank: int, floor: np.ndarray) -> FactorParameters | None:
    d = len(floor)
    with np.errstate(over="ignore"):
        noise = np.exp(vector[-d:])
    if not np.all(np.isfinite(vector)) or not np.all(np.isfinite(noise)):
        return None
    return FactorParameters(
        mean=vector[:d], loadings=vector[d:-d].reshape(d, rank), noise=np.maximum(noise, floor)
    )
