"""The Bayesian committee machine: exact Gaussian processes of blocks of rows, combined."""

from functools import reduce
from operator import add
from typing import Any, Self

import numpy as np

from tractable.arrays.limits import check_squarable
from tractable.arrays.linalg import jittered_cholesky, solve_cholesky, symmetrize
from tractable.arrays.random import as_generator
from tractable.base import (
    ModelTags,
    all_or_nothing,
    check_choice,
    check_count,
    check_fitted,
    check_number,
)
from tractable.base.stored_rows import check_held_columns, check_stored_rows
from tractable.base.validation import check_targets
from tractable.covariance import Full
from tractable.distributions import MultivariateNormal
from tractable.gaussian_process.base import ScalableGaussianProcess, spread_of_targets
from tractable.gaussian_process.comparison import ExactComparison, compared
from tractable.gaussian_process.mean import MeanFunction
from tractable.gaussian_process.model import Prior
from tractable.gaussian_process.posteriors.exact import Observations
from tractable.gaussian_process.rows import TrainingRows
from tractable.gaussian_process.search import default_kernel
from tractable.kernels import Kernel
from tractable.primitives.threads import blas_for_rows, even_blocks
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace, value

#: How the members may be combined.
VARIANTS = ("bayesian", "robust")
#: Rows of a block where the number of blocks is not given.
ROWS_OF_A_BLOCK = 500
#: Entries of the matrix between new rows and the rows of a block.
BLOCK_ENTRIES = 2**20

_NONE = np.zeros(0)
_ZERO = MeanFunction(constant=False, columns=(), shift=_NONE, scale=_NONE)


@value
class CommitteeSums:
    """What a member says of the function at some rows; they add.

    Parameters
    ----------
    precision : array (q,)
        Σ βᵢ / σᵢ².
    product : array (q,)
        Σ βᵢ mᵢ / σᵢ².
    count : array (q,)
        Σ βᵢ, by which the prior is counted too often.
    """

    precision: np.ndarray
    product: np.ndarray
    count: np.ndarray

    def __add__(self, other: "CommitteeSums") -> "CommitteeSums":
        return CommitteeSums(
            precision=self.precision + other.precision,
            product=self.product + other.product,
            count=self.count + other.count,
        )


class BayesianCommittee(ScalableGaussianProcess):
    """Exact Gaussian processes of blocks of rows, combined by the product rule: O(n m²) for blocks of m rows.

    The posteriors of the function given each block are multiplied, and divided by the prior that each has
    counted: p(f | D) ∝ Π p(f | Dᵢ) / p(f)^(M - 1) (Tresp 2000), Σ*⁻¹ = Σᵢ Σᵢ⁻¹ - (M - 1) K**⁻¹ and
    m* = Σ* Σᵢ Σᵢ⁻¹mᵢ. "robust" weighs each member by how much it has learned there, βᵢ = ½ log(k**/σᵢ²)
    (Deisenroth and Ng 2015), so that far from all rows the prior is left.

    It is approximate: blocks count as independent given the function at the queries. `predict_joint` combines
    at all queries at once, which is the nearer to the exact process the more queries there are;
    `predict_dist` at each alone, where bands of the function are too narrow, so that intervals are of targets
    alone. `compare_to_exact` measures it. The hyper-parameters, of all members,
    maximise the sum of the evidences of the blocks. The mean of the targets is subtracted.

    It is a fold over blocks: `partial_fit` adds members at the hyper-parameters of the first call, in time
    that does not grow with the cube of the rows before, and equals `fit` on the same blocks.

    Parameters
    ----------
    kernel : Kernel, optional
        k, with noise as a term `White`; by default a squared exponential with a length scale for each column.
    n_subsets : int, optional
        M, the number of blocks, into which distinct rows are dealt at random; by default one for 500 rows.
        There are no more blocks than distinct rows; a block may have one row.
    variant : {"robust", "bayesian"}
        How members are combined at each query.
    noise_variance : float, optional
        σ² where it is known, positive; by default it is learned.
    optimizer : {"fmin_l_bfgs_b"} or None
        The search for hyper-parameters; None keeps those of the kernel.
    n_restarts_optimizer : int
        Number of further searches, from starting values drawn within the bounds; the best is kept.
    tol : float
        Relative change of the objective at which a search stops.
    max_iter : int
        Maximum number of iterations of a search.
    random_state : None, int, RandomState or Generator
        Where the blocks and starting values come from.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel at its hyper-parameters, without noise.
    noise_variance_ : float
        σ².
    block_log_evidence_ : float
        The sum of the log evidences of the blocks, each as if it were alone.
    n_subsets_ : int
        Number of blocks, of all calls.
    offset_ : float
        The mean of the targets.
    X_train_ : array of shape (n_samples, n_features)
        The rows that differ, block after block.
    converged_ : bool
        Whether the best search ended by its tolerance.
    n_iter_ : int
        Improvements of the objective in the best search, one at least.
    residual_dof_ : float
        Number of targets less one and the learned hyper-parameters, three at least.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    NystromGaussianProcess : the function through inducing points.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> from tractable.kernels import RBF, White
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0.0, 10.0, (900, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(900)
    >>> model = tractable.BayesianCommittee(RBF() + White(0.01), n_subsets=3, optimizer=None, random_state=0)
    >>> model.fit(X, y).predict([[2.0]]).round(1)
    array([0.9])
    """

    model_tags = ModelTags(kind="discriminative", parametric=False, streaming="no")

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_subsets: int | None = None,
        variant: str = "robust",
        noise_variance: float | None = None,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        tol: float = 1e-8,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            noise_variance=noise_variance,
            optimizer=optimizer,
            n_restarts_optimizer=n_restarts_optimizer,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.n_subsets, self.variant = n_subsets, variant

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, blocks: Any = None) -> Self:
        """Deal rows to blocks, learn hyper-parameters, and the posterior of each block.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows, which are read into memory.
        y : array of shape (n_samples,) or column name
            Targets.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        blocks : array of shape (n_samples,), optional
            The block of each row, by any labels, in place of random ones; `n_subsets` is then not used.
        """
        self._check_parameters()
        rng = as_generator(self.random_state)
        held, labels = self._rows(X, y, sample_weight, blocks, reset=True)
        total = float(held.weights.sum())
        self.offset_ = float(held.weights @ held.y[:, 0] / total)
        held = replace(held, y=held.y - self.offset_)
        standardizer = Standardizer.from_moments(DiagonalMoments.of(held.x, held.weights))

        def default(variance: float) -> Kernel:
            return default_kernel(standardizer, list(range(held.x.shape[1])), variance)

        variance = float(held.weights @ held.y[:, 0] ** 2 / total)
        prior = self._prior(default, spread_of_targets(variance, self.offset_))
        parts = self._blocks(held, labels, prior.noise_variance, rng.spawn(1)[0])

        def evidence(at: Prior) -> tuple[float, np.ndarray]:
            found = [at.log_evidence(part) for part in parts]
            gradient = sum((at.gradient_of(one) for one in found), np.zeros(len(at.theta)))
            return sum(one.value for one in found), gradient

        with blas_for_rows(max(len(part.x) for part in parts)):
            prior, search = self._learned(prior, evidence, rng)
            self._set_members(prior, tuple(prior.posterior(part) for part in parts))
        self._total_ = total
        self._set_learned(prior, search, total, 1.0)
        return self

    @all_or_nothing(afresh=False)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, blocks: Any = None) -> Self:
        """Add blocks of rows at the hyper-parameters there are; the first call is `fit`.

        The rows of a call are dealt to blocks of their own as those of `fit` are, so that with `n_subsets=1`
        each call is a block. Members there are keep their factors, and have the mean of all targets
        subtracted: O(m²) for each of m rows. `fit` on all rows finds new hyper-parameters.

        Parameters
        ----------
        X, y, sample_weight, blocks
            As in `fit`; a block of this call is none of an earlier one, whatever its label.
        """
        if not hasattr(self, "_members_"):
            return self.fit(X, y, sample_weight, blocks=blocks)
        self._check_parameters()
        held, labels = self._rows(X, y, sample_weight, blocks, reset=False)
        prior, added = self._prior_, float(held.weights.sum())
        gap = float(held.weights @ (held.y[:, 0] - self.offset_)) / (self._total_ + added)
        self.offset_ += gap
        held = replace(held, y=held.y - self.offset_)
        rng = as_generator(self.random_state).spawn(1)[0]
        parts = self._blocks(held, labels, prior.noise_variance, rng)
        with blas_for_rows(max(len(part.x) for part in parts)):
            before = tuple(member.lowered(gap) for member in self._members_)
            self._set_members(prior, before + tuple(prior.posterior(part) for part in parts))
        self._total_ += added
        self._set_dof(self._total_, 1.0)
        return self

    @property
    def X_train_(self) -> np.ndarray:  # noqa: N802  (the name that processes have for their rows)
        """The rows that differ, block after block, (n, n_features)."""
        return np.concatenate([member.rows.x for member in self._members_])

    def predict_joint(self, X: Any, *, include_noise: bool = True) -> MultivariateNormal:
        """Return the joint distribution of all rows, members combined at all of them at once.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of new targets (default) or of the function.
        """
        check_fitted(self)
        x = check_held_columns(self, X)
        prior = symmetrize(self.kernel_(x, x)) + 1e-10 * float(np.max(self.kernel_.diagonal(x))) * np.eye(
            len(x)
        )
        root = jittered_cholesky(prior, name="the covariance of the function at X").lower
        identity = np.eye(len(x))
        # In units of the prior, f = L z: precisions of z are I + Σ (Sᵢ⁻¹ - I), with Sᵢ = L⁻¹ Σᵢ L⁻ᵀ.
        precision, product = identity.copy(), np.zeros(len(x))
        for member in self._members_:
            mean, explained = self._white(member, x, root)
            inner = np.eye(len(explained)) - explained @ explained.T
            # (I - AᵀA)⁻¹ - I = Aᵀ (I - AAᵀ)⁻¹ A
            gain = explained.T @ np.linalg.solve(symmetrize(inner), explained)
            precision += gain
            product += mean + gain @ mean
        lower = jittered_cholesky(symmetrize(precision), name="the precision of the function at X").lower
        mean = root @ solve_cholesky(lower, product[:, None])[:, 0]
        covariance = (self._widening_ if self._n_learned_ else 1.0) * (
            root @ solve_cholesky(lower, root.T) + (self.noise_variance_ * identity if include_noise else 0.0)
        )
        return MultivariateNormal(mean=self.offset_ + mean, covariance=Full.jittered(symmetrize(covariance)))

    def compare_to_exact(self, n: int = 1000) -> ExactComparison:
        """Return how far it is from the exact process on n of the rows, at these hyper-parameters.

        The n rows are in as many blocks as the fit has, or one a row.

        Parameters
        ----------
        n : int
            How many rows.
        """
        check_fitted(self)
        check_number("n", n, least=1, whole=True)
        x = np.concatenate([member.rows.x for member in self._members_])
        y = np.concatenate([member.rows.y[:, 0] for member in self._members_])
        order = np.random.default_rng(0).permutation(len(x))
        prior = Prior(kernel=self.kernel_, noise=self.noise_variance_)

        def approximate(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> Any:
            parts = np.array_split(np.arange(len(x)), min(self.n_subsets_, len(x)))
            members = [
                prior.posterior(
                    Observations(
                        x=x[p], y=y[p][:, None], basis=np.zeros((len(p), 0)), noise_scale=np.ones(len(p))
                    )
                )
                for p in parts
            ]
            evidence = sum(member.log_evidence(self.noise_variance_) for member in members)
            return float(evidence), *self._combined(at, members)

        return compared(self.kernel_, self.noise_variance_, x[order], y[order], int(n), approximate)

    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = self._combined(x, self._members_)
        return self.offset_ + mean, variance

    def _too_coarse(self) -> str:
        if self.n_subsets_ == 1:
            return ""
        return (
            "members are combined at each row alone, as if they were independent there, and bands of the "
            "function are too narrow. Ask for intervals of targets, or for predict_joint"
        )

    def _combined(self, x: np.ndarray, members: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances of the function at rows by members, each row alone, (q,) each."""
        largest = max(len(member.rows.x) for member in members)
        means, variances = [], []
        for rows in even_blocks(len(x), max(1, BLOCK_ENTRIES // largest)):
            prior = self.kernel_.diagonal(x[rows])
            with blas_for_rows(largest):
                sums = reduce(add, (self._said(member, x[rows], prior) for member in members))
            precision = sums.precision + (1.0 - sums.count) / prior
            least = 1.0 / prior if self.variant == "robust" else np.finfo(np.float64).eps / prior
            precision = np.maximum(precision, least)
            means.append(sums.product / precision)
            variances.append(1.0 / precision)
        return np.concatenate(means), np.concatenate(variances)

    def _said(self, member: Any, x: np.ndarray, prior: np.ndarray) -> CommitteeSums:
        mean, variance = _member_moments(member, self.kernel_, x, prior)
        count = np.ones(len(x))
        if self.variant == "robust":
            count = 0.5 * np.log(prior / variance)
        return CommitteeSums(precision=count / variance, product=count * mean / variance, count=count)

    def _white(self, member: Any, x: np.ndarray, root: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return L⁻¹mᵢ (q,), and A (n, q) with L⁻¹ Σᵢ L⁻ᵀ = I - AᵀA."""
        from scipy.linalg import solve_triangular

        cross = self.kernel_(x, member.rows.x)
        white = solve_triangular(root, cross, lower=True)
        noise = self.noise_variance_ * member.rows.noise_scale
        covariance = self.kernel_(member.rows.x) + np.diag(noise)
        lower = jittered_cholesky(symmetrize(covariance)).lower
        dual = solve_cholesky(lower, member.rows.y)[:, 0]
        return white @ dual, solve_triangular(lower, white.T, lower=True)

    def _set_members(self, prior: Prior, members: tuple[Any, ...]) -> None:
        self._members_, self.n_subsets_ = members, len(members)
        self.block_log_evidence_ = float(sum(m.log_evidence(prior.noise_variance) for m in members))

    def _blocks(
        self, rows: TrainingRows, labels: np.ndarray | None, noise: float, rng: np.random.Generator
    ) -> list[Observations]:
        """Return the rows in blocks, equal rows of a block joined: by labels, or else at random."""
        if labels is None:
            return self._dealt(rows.observations(_ZERO, join=True, noise=noise), rng)
        order = np.argsort(labels, kind="stable")
        ends = np.flatnonzero(np.diff(labels[order])) + 1
        return [rows.only(p).observations(_ZERO, join=True, noise=noise) for p in np.split(order, ends)]

    def _dealt(self, rows: Observations, rng: np.random.Generator) -> list[Observations]:
        """Return the rows in random blocks; what equal rows say of the noise besides is with the first."""
        n = len(rows.x)
        wanted = -(-n // ROWS_OF_A_BLOCK) if self.n_subsets is None else int(self.n_subsets)
        # From a sorted order, so that the order in which rows are given does not matter.
        order = np.lexsort(rows.x.T[::-1])[rng.permutation(n)]
        parts = np.array_split(order, min(wanted, n))
        said = {"n_repeats": rows.n_repeats, "log_repeats": rows.log_repeats, "within": rows.within}
        return [
            Observations(
                x=rows.x[part],
                y=rows.y[part],
                basis=rows.basis[part],
                noise_scale=rows.noise_scale[part],
                **(said if i == 0 else {}),
            )
            for i, part in enumerate(parts)
        ]

    def _rows(
        self, X: Any, y: Any, sample_weight: Any, blocks: Any, *, reset: bool
    ) -> tuple[TrainingRows, np.ndarray | None]:
        """Return the rows of positive weight, and the codes of their blocks where they are given."""
        from sklearn.utils.validation import column_or_1d

        rows = check_stored_rows(self, X, y, sample_weight, supervised=True, drop=False, reset=reset)
        targets = column_or_1d(check_targets(self, rows.y, rows.data), warn=True).astype(np.float64)
        check_squarable("y", targets, nonzero=reset)
        n = len(targets)
        weights = np.ones(n) if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
        some = np.flatnonzero(weights > 0.0)
        if not len(some):
            raise ValueError("sample_weight must have a positive entry, all are zero")
        x = check_squarable("X", rows.data)
        held = TrainingRows(x=x, y=targets[:, None], weights=weights, noise_scale=np.ones(n)).only(some)
        return held, None if blocks is None else _block_codes(blocks, n)[some]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_subsets is not None:
            check_count("n_subsets", self.n_subsets, least=1)
        check_choice("variant", self.variant, VARIANTS)


def _block_codes(blocks: Any, n: int) -> np.ndarray:
    """Return a number for the block of each of n rows, (n,)."""
    labels = np.asarray(blocks)
    if labels.shape != (n,):
        raise ValueError(f"blocks must have a label for each of {n} rows, got shape {labels.shape}")
    try:
        return np.unique(labels, return_inverse=True)[1]
    except TypeError:
        raise ValueError("blocks must be labels of one type, which can be sorted") from None


def _member_moments(
    member: Any, kernel: Kernel, x: np.ndarray, prior: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance of the function at rows by one member, (q,) each."""
    cross, none = member.cross(kernel, x), x[:, :0]
    mean, variance = member.mean(cross, none)[:, 0], member.variance(kernel, x, cross, none)
    return mean, np.clip(variance, np.finfo(np.float64).eps * prior, prior)
