"""What a Gaussian process has learned: parts of a sum, relevance of columns, correlation of rows."""

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of, to_numpy
from tractable.base import check_number
from tractable.distributions import Normal, StudentT
from tractable.gaussian_process.model import GaussianProcess
from tractable.gaussian_process.posteriors.exact import signal_diagonal
from tractable.kernels import Kernel, Sum
from tractable.value import value

#: Rows of the fit that are compared with each other, at most.
MOST_ROWS = 2000
#: Pairs of rows by which the relevance of a column is estimated, about; two for each row at least.
MOST_PAIRS = 4000
#: Below this correlation with the nearest other row, a row says nothing of others.
LEAST_NEAREST = 0.05
#: Above this mean correlation, all rows say the same.
MOST_MEAN = 0.99


@value
class FunctionParts:
    """The parts of a function whose kernel is a sum, each with its posterior; `tractable.plot` draws them.

    Parameters
    ----------
    names : tuple of str
        The mean, where there is one, and the terms of the kernel.
    rows : array (q, d)
        Where the parts are.
    mean : array (k, q)
        Posterior mean of each part.
    scale : array (k, q)
        Its standard deviation, or the scale of Student's t.
    dof : float
        Degrees of freedom of Student's t; infinite where the distribution is normal.
    columns : tuple of str
        Names of the columns.
    """

    names: tuple[str, ...]
    rows: Array
    mean: Array
    scale: Array
    dof: float
    columns: tuple[str, ...]

    def distribution(self) -> Normal | StudentT:
        """Return the posterior of the parts, of batch shape (k, q)."""
        if self.dof == inf:
            return Normal(mean=self.mean, stddev=self.scale)
        return StudentT(dof=self.dof, location=self.mean, scale=self.scale)

    def interval(self, coverage: float = 0.9) -> np.ndarray:
        """Return the equal-tailed interval of each part at each row, (k, q, 2)."""
        check_number("coverage", coverage, above=0.0, below=1.0)
        tail = 0.5 * (1.0 - coverage)
        found = self.distribution()
        return np.stack([to_numpy(found.icdf(level)) for level in (tail, 1.0 - tail)], axis=-1)


@value
class Relevance:
    """How much each column matters to the prediction; `tractable.plot` draws it.

    Parameters
    ----------
    names : tuple of str
        Names of the columns.
    relevance : array (d,)
        ½ E[(m(x) - m(x'))²] / Var m(x), where x' is x with this column of another row, and m the posterior
        mean: its total sensitivity index, the mean over pairs of rows. 0 of a column that does not matter, 1
        of the only one that does.
    """

    names: tuple[str, ...]
    relevance: np.ndarray

    @property
    def order(self) -> np.ndarray:
        """Positions of the columns, the most relevant first."""
        return np.argsort(-self.relevance, kind="stable")

    def __str__(self) -> str:
        """Return the columns in order of relevance, a line each."""
        width = max(map(len, self.names))
        return "\n".join(f"{self.names[j]:<{width}}  {self.relevance[j]:.3f}" for j in self.order)


@value
class KernelDiagnosis:
    """How far the rows of a fit are correlated under the kernel.

    Parameters
    ----------
    mean_correlation : float
        Mean of |k(x, x')| / √(k(x, x) k(x', x')) over pairs of different rows.
    nearest_correlation : float
        Its largest value of a row with another, the median of rows.
    verdict : {"balanced", "near-diagonal", "near-constant"}
        A matrix near a diagonal one overfits: no row says anything of another, and predictions elsewhere are
        the mean. One near a constant oversmooths.
    """

    mean_correlation: float
    nearest_correlation: float
    verdict: str


def function_parts(process: GaussianProcess, x: Array, columns: tuple[str, ...]) -> FunctionParts:
    """Return the posterior of the mean and of each term of the kernel at rows.

    Of independent functions f = Σ f_i the posterior of one has the mean k_i(x, X) P y and the covariance
    k_i(x, x') - k_i(x, X) P k_i(X, x').

    Parameters
    ----------
    process : GaussianProcess
        The posterior, of one target.
    x : array (q, d)
        Rows.
    columns : tuple of str
        Names of the columns.
    """
    xp, posterior, kernel = namespace_of(x), process.parts[0].posterior, process.prior.kernel
    names, means, variances = [], [], []
    basis, shift, scale = process.mean(x), float(process.shift[0]), float(process.scale[0])
    m = basis.shape[1]
    if m:
        names.append("mean")
        means.append(shift + scale * (basis @ posterior.coef[:m, 0]))
        variances.append(scale**2 * posterior.mean_variance(basis))
    terms = kernel.terms if isinstance(kernel, Sum) else (kernel,)
    for term, (mean, variance) in zip(terms, posterior.terms(terms, x), strict=True):
        names.append(_name(term, columns))
        means.append(scale * mean + (0.0 if m or means else shift))
        variances.append(scale**2 * variance)
    return FunctionParts(
        names=tuple(names),
        rows=x,
        mean=xp.stack(means),
        scale=xp.sqrt(process.widening * xp.stack(variances)),
        dof=process.dof,
        columns=columns,
    )


def column_relevance(predict_mean: Callable[[Any], Any], x: np.ndarray, names: tuple[str, ...]) -> Relevance:
    """Return the total sensitivity index of the posterior mean to each column, the mean over targets.

    Parameters
    ----------
    predict_mean : callable
        From rows (q, d) to means (q, t).
    x : array (n, d)
        The rows of the fit.
    names : tuple of str
        Names of the columns.
    """
    rows = x[np.random.default_rng(0).permutation(len(x))[:MOST_ROWS]]
    n = len(rows)
    mean = predict_mean(rows)
    # Each row beside others: those at some distances in a random order, in a circle.
    distances = np.linspace(1, n - 1, max(2, MOST_PAIRS // n), dtype=np.int64)
    steps = np.unique(distances[distances > 0])
    total, by_column = np.zeros(mean.shape[1]), np.zeros((rows.shape[1], mean.shape[1]))
    for step in steps:
        total += np.sum((np.roll(mean, step, axis=0) - mean) ** 2, axis=0)
        for j in range(rows.shape[1]):
            changed = rows.copy()
            changed[:, j] = np.roll(rows[:, j], step)
            by_column[j] += np.sum((predict_mean(changed) - mean) ** 2, axis=0)
    # What rounding makes of a constant is no variance.
    rounding = 1e-20 * len(steps) * np.sum(mean**2, axis=0)
    total = np.where(total > rounding, total, np.inf)
    return Relevance(names=names, relevance=np.mean(by_column / total, axis=1))


def kernel_diagnosis(kernel: Kernel, x: np.ndarray) -> KernelDiagnosis:
    """Return how far rows are correlated under the kernel."""
    rows = x[np.random.default_rng(0).permutation(len(x))[:MOST_ROWS]] if len(x) > MOST_ROWS else x
    n = len(rows)
    root = np.sqrt(signal_diagonal(kernel, rows))
    matrix = (
        np.abs(kernel(rows, rows)) / np.where(root > 0, root, 1.0) / np.where(root > 0, root, 1.0)[:, None]
    )
    np.fill_diagonal(matrix, 0.0)
    mean = float(matrix.sum() / max(n * (n - 1), 1))
    nearest = float(np.median(matrix.max(axis=1, initial=0.0)))
    verdict = "near-diagonal" if nearest < LEAST_NEAREST else "balanced"
    verdict = "near-constant" if mean > MOST_MEAN else verdict
    return KernelDiagnosis(mean_correlation=mean, nearest_correlation=nearest, verdict=verdict)


def _name(kernel: Kernel, columns: tuple[str, ...]) -> str:
    """Return a short name of a term: its classes, with the columns that it is of."""
    inner = [_name(part, columns) for part in kernel.parts]
    name = type(kernel).__name__
    if name == "Scaled":
        return inner[0]
    if name == "Product":
        return " * ".join(inner)
    if name == "Subspace":
        return f"{inner[0]}({', '.join(columns[int(j)] for j in kernel.columns)})"  # type: ignore[attr-defined]
    return f"{name}({', '.join(inner)})" if inner else name
