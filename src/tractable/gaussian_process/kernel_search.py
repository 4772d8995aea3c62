"""Kernels grown by evidence: sums of products of simple kernels, one step at a time."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from math import log
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.random import as_generator, either_seed_name
from tractable.base import check_count, check_table
from tractable.base.validation import check_targets
from tractable.data import is_frame
from tractable.data.table_columns import as_pandas
from tractable.gaussian_process.estimator import GaussianProcessRegressor
from tractable.gaussian_process.explain import FunctionParts
from tractable.gaussian_process.mean import check_mean
from tractable.kernels import (
    RBF,
    Kernel,
    Linear,
    Matern,
    Periodic,
    Product,
    RationalQuadratic,
    Scaled,
    Subspace,
    Sum,
    White,
)
from tractable.value import replace, value

#: The kernels that sums and products are made of.
BASES = ("rbf", "linear", "periodic", "matern", "rational_quadratic")

#: A step is taken where the criterion rises by more than this.
RISE = 0.5

#: The search for hyper-parameters of a candidate is rougher than that of the kernel that is chosen.
ROUGH: dict[str, Any] = {"tol": 1e-8, "max_iter": 150}

#: How many frequencies of a periodogram are looked at.
FREQUENCIES = 512


@value
class Factor:
    """A simple kernel of one column, and its name."""

    base: str
    column: int
    kernel: Kernel

    @property
    def key(self) -> tuple[str, int]:
        """What the factor is, without its hyper-parameters."""
        return self.base, self.column


@value
class Term:
    """A scale times a product of simple kernels: a term of a sum."""

    scale: float
    factors: tuple[Factor, ...]

    @property
    def key(self) -> tuple[tuple[str, int], ...]:
        """What the term is: its factors in any order."""
        return tuple(sorted(factor.key for factor in self.factors))


@value
class KernelCandidate:
    """A kernel that was tried, fitted to the rows.

    Parameters
    ----------
    expression : str
        The kernel in short, with the columns that its parts are of.
    kernel : Kernel
        The kernel at its most probable hyper-parameters, with noise.
    log_evidence : float
        log p(y | X) there.
    criterion : float
        log p(y | X) - ½ p log n, with p hyper-parameters learned from n rows: about the evidence with these
        integrated out (Schwarz).
    loo_log_density : float
        Mean log density of a target given the other rows.
    depth : int
        The number of simple kernels in it.
    """

    expression: str
    kernel: Kernel
    log_evidence: float
    criterion: float
    loo_log_density: float
    depth: int


@value
class KernelSearch:
    """What `search_kernel` found: the kernel, the way to it, and all that was tried.

    Parameters
    ----------
    model : GaussianProcessRegressor
        Fitted to all rows with the kernel that was chosen.
    path : tuple of KernelCandidate
        The best candidate of each depth, up to the one chosen, which is the last; `tractable.plot` draws it.
    candidates : tuple of KernelCandidate
        All that were tried, in their order.
    n_rows : int
        The number of rows that candidates were fitted to.
    """

    model: GaussianProcessRegressor
    path: tuple[KernelCandidate, ...]
    candidates: tuple[KernelCandidate, ...]
    n_rows: int

    @property
    def best(self) -> KernelCandidate:
        """The candidate that was chosen."""
        return self.path[-1]

    @property
    def kernel(self) -> Kernel:
        """The kernel that was chosen, fitted to all rows."""
        return self.model.kernel_

    def decompose(self, X: Any) -> FunctionParts:
        """Return the parts of the function at rows X, one for each term; `tractable.plot` draws them."""
        return self.model.decompose(X)

    def __str__(self) -> str:
        """Return the path as a table, a line a step."""
        lines = ["criterion  log evidence  log density of left-out targets  kernel"]
        for step in self.path:
            numbers = f"{step.criterion:9.2f}  {step.log_evidence:12.2f}  {step.loo_log_density:31.4f}"
            lines.append(f"{numbers}  {step.expression}")
        return "\n".join(lines)


@either_seed_name
def search_kernel(
    X: Any,
    y: Any,
    *,
    kernels: Any = ("rbf", "linear", "periodic"),
    max_depth: int = 4,
    beam: int = 2,
    mean: Any = "constant",
    max_rows: int = 300,
    random_state: Any = None,
) -> KernelSearch:
    """Return a Gaussian process whose kernel is a sum of products of simple ones, grown by evidence.

    Each step adds a simple kernel of one column to a sum, or multiplies a term by it, and keeps the `beam`
    best kernels by the criterion log p(y | X) - ½ p log n (Duvenaud et al. 2013). A step begins where the
    kernel before it ended, with periods from the periodogram of its residuals. The search ends where no step
    raises the criterion.

    Parameters
    ----------
    X : array or frame (n, d)
        Rows of numbers.
    y : array (n,)
        Targets.
    kernels : sequence of str
        The simple kernels: "rbf", "linear", "periodic", "matern" (ν = 3/2), "rational_quadratic".
    max_depth : int
        The most simple kernels in one.
    beam : int
        How many kernels of each depth are grown.
    mean : str or basis
        The mean of the process, as `GaussianProcessRegressor` takes it.
    max_rows : int
        Candidates are fitted to so many rows at most, drawn at random; the one that is chosen to all.
    random_state : None, int, RandomState or Generator
        Where the draw of rows comes from.

    Returns
    -------
    KernelSearch

    Examples
    --------
    >>> import numpy as np, tractable
    >>> x = np.linspace(0.0, 6.0, 60)[:, None]
    >>> y = 2.0 * x[:, 0] + np.sin(2.0 * np.pi * x[:, 0]) + 0.05 * np.random.default_rng(0).normal(size=60)
    >>> found = tractable.search_kernel(x, y, max_depth=2)
    >>> found.best.expression
    'Linear + Periodic'
    """
    bases = _checked_bases(kernels)
    for name, given in (("max_depth", max_depth), ("beam", beam), ("max_rows", max_rows)):
        check_count(name, given, least=2 if name == "max_rows" else 1)
    check_mean(mean)
    rng = as_generator(random_state, name="random_state")
    if is_frame(X):
        words = [name for name, column in as_pandas(X)[0].items() if column.dtype.kind not in "fiub"]
        if words:
            raise ValueError(f"X must have columns of numbers, and the column {words[0]!r} is none")
    x = check_table(X)
    targets = np.asarray(check_targets(GaussianProcessRegressor(mean=mean), y, x, allow_nan=True))
    if np.isnan(targets).any():
        raise ValueError("y contains NaN: a search needs the target of every row, leave out rows without one")
    if targets.ndim != 1:
        raise ValueError(f"y must be one target a row, got shape {targets.shape}")
    if len(x) < 2:
        raise ValueError("X must have two rows at least")
    names = tuple(map(str, getattr(X, "columns", [f"x{j}" for j in range(x.shape[1])])))
    rows = np.arange(len(x))
    if len(x) > max_rows:
        rows = np.sort(rng.choice(len(x), max_rows, replace=False))
    growth = _Growth(x[rows], targets[rows], bases, mean, names)
    path, tried = _grown(growth, max_depth, beam)
    final = GaussianProcessRegressor(path[-1].kernel, mean=mean)
    with _quiet():
        final.fit(X, targets)
    return KernelSearch(model=final, path=tuple(path), candidates=tuple(tried), n_rows=len(rows))


def _grown(
    growth: "_Growth", max_depth: int, beam: int
) -> tuple[list[KernelCandidate], list[KernelCandidate]]:
    """Return the best candidate of every depth while they rise, and all that were tried."""
    path: list[KernelCandidate] = []
    tried: list[KernelCandidate] = []
    kept: list[_Fitted] = []
    seen: set[Any] = set()
    for depth in range(1, max_depth + 1):
        found: list[_Fitted] = []
        for terms, noise in growth.starts(kept) if depth > 1 else growth.first():
            key = tuple(sorted(term.key for term in terms))
            if key not in seen:
                seen.add(key)
                fitted = growth.fitted(terms, noise, depth)
                found += [] if fitted is None else [fitted]
        tried += [one.candidate for one in found]
        found.sort(key=lambda one: -one.candidate.criterion)
        if not found or (path and found[0].candidate.criterion <= path[-1].criterion + RISE):
            break
        path.append(found[0].candidate)
        kept = found[:beam]
    if not path:
        raise ValueError("X and y have no kernel of these that can be fitted")
    return path, tried


@value
class _Fitted:
    """A candidate, its terms at their hyper-parameters, and what is left of the targets."""

    candidate: KernelCandidate
    terms: tuple[Term, ...]
    noise: float
    residuals: np.ndarray


class _Growth:
    """The rows, and what a step may add."""

    def __init__(self, x: np.ndarray, y: np.ndarray, bases: tuple[str, ...], mean: Any, names: Any) -> None:
        self.x, self.y, self.bases, self.mean, self.names = x, y, bases, mean, names
        spread = x.std(axis=0)
        self.spread = np.where(spread > 0.0, spread, 1.0)
        self.columns = [j for j in range(x.shape[1]) if spread[j] > 0.0]
        self.variance = float(y.var()) or float(np.mean(y**2)) or 1.0

    def first(self) -> Any:
        """Yield the terms of one simple kernel, and the noise that a search begins with."""
        line = self.y - self.y.mean()
        for factor in self._factors(line, 0.0):
            yield (Term(scale=self._scale(factor, self.variance), factors=(factor,)),), 0.1 * self.variance

    def starts(self, kept: list[_Fitted]) -> Any:
        """Yield the terms that a step from the kernels kept makes, and the noise there."""
        for one in kept:
            left = max(float(np.mean(one.residuals**2)), 1e-6 * self.variance)
            for factor in self._factors(one.residuals, 0.0):
                if factor.base == "linear" and any(term.key == (factor.key,) for term in one.terms):
                    continue  # two lines are one
                yield (*one.terms, Term(scale=self._scale(factor, left), factors=(factor,))), one.noise
            for factor in self._factors(one.residuals, 1.0):
                for i, term in enumerate(one.terms):
                    # Two squared exponentials of one column are one, and so are two lines through its centre.
                    if factor.key in (held.key for held in term.factors):
                        continue
                    scale = term.scale * self._scale(factor, 1.0)
                    grown = Term(scale=scale, factors=(*term.factors, factor))
                    yield (*one.terms[:i], grown, *one.terms[i + 1 :]), one.noise

    def fitted(self, terms: tuple[Term, ...], noise: float, depth: int) -> _Fitted | None:
        """Return a candidate at its most probable hyper-parameters; None where it cannot be fitted."""
        v = self.variance
        kernel = Sum(
            [*(self._kernel(term) for term in terms), White(noise, noise_level_bounds=(1e-8 * v, 10.0 * v))]
        )
        model = GaussianProcessRegressor(kernel, mean=self.mean, **ROUGH)
        try:
            with _quiet():
                model.fit(self.x, self.y)
        except ValueError:
            return None
        found: Any = model.kernel_
        criterion = model.log_evidence_ - 0.5 * len(found.theta) * log(len(self.y))
        candidate = KernelCandidate(
            expression=" + ".join(self._shown(term) for term in terms),
            kernel=found,
            log_evidence=float(model.log_evidence_),
            criterion=float(criterion),
            loo_log_density=float(model.loo_log_density_),
            depth=depth,
        )
        return _Fitted(
            candidate=candidate,
            terms=tuple(self._at(term, part) for term, part in zip(terms, found.terms, strict=False)),
            noise=float(found.terms[-1].noise_level),
            residuals=self.y - model.predict(self.x),
        )

    def _factors(self, residuals: np.ndarray, offset: float) -> Any:
        """Yield the simple kernels of every column; a line in a product has an `offset` of its own."""
        for j in self.columns:
            for base in self.bases:
                yield Factor(base=base, column=j, kernel=self._base(base, j, residuals, offset))

    def _base(self, base: str, j: int, residuals: np.ndarray, offset: float) -> Kernel:
        unit = float(self.spread[j])
        lengths: dict[str, Any] = {"length_scale_bounds": (1e-2 * unit, 1e3 * unit)}
        if base == "rbf":
            return RBF(unit, **lengths)
        if base == "matern":
            return Matern(unit, **lengths)
        if base == "rational_quadratic":
            return RationalQuadratic(unit, alpha=1.0, alpha_bounds=(1e-2, 1e2), **lengths)
        if base == "linear":
            bounds = (1e-3 * unit, 1e3 * unit)
            return Linear(offset * unit, sigma_0_bounds=bounds, center=float(self.x[:, j].mean()))
        period = strongest_period(self.x[:, j], residuals)
        bounds = (0.5 * period, 2.0 * period)
        return Periodic(1.0, periodicity=period, length_scale_bounds=(0.1, 10.0), periodicity_bounds=bounds)

    def _scale(self, factor: Factor, variance: float) -> float:
        """Return a scale at which a term has about this variance."""
        unit = float(self.spread[factor.column])
        return variance / unit**2 if factor.base == "linear" else variance

    def _kernel(self, term: Term) -> Kernel:
        parts = [self._placed(factor) for factor in term.factors]
        joined = parts[0] if len(parts) == 1 else Product(parts)
        scale = term.scale
        return Scaled(joined, scale, scale_bounds=(1e-8 * scale, 1e6 * scale))

    def _placed(self, factor: Factor) -> Kernel:
        return factor.kernel if self.x.shape[1] == 1 else Subspace(factor.kernel, [factor.column])

    def _at(self, term: Term, part: Any) -> Term:
        """Return the term with the hyper-parameters of its fitted kernel."""
        inner = part.kernel.factors if len(term.factors) > 1 else (part.kernel,)
        bare = [k.kernel if isinstance(k, Subspace) else k for k in inner]
        factors = tuple(replace(f, kernel=k) for f, k in zip(term.factors, bare, strict=True))
        return Term(scale=float(part.scale), factors=factors)

    def _shown(self, term: Term) -> str:
        one = self.x.shape[1] == 1
        parts = [type(f.kernel).__name__ + ("" if one else f"({self.names[f.column]})") for f in term.factors]
        return " * ".join(parts)


def strongest_period(x: np.ndarray, y: np.ndarray) -> float:
    """Return the period of the largest peak of the periodogram of y, freed of a line, at uneven x.

    From half the range down to four times the median gap between neighbouring x, or to a quarter of the range
    where gaps are wider.
    """
    line = np.polynomial.Polynomial.fit(x, y, 1)
    rest = y - line(x)
    places = np.unique(x)
    width = float(places[-1] - places[0])
    least = max(4.0 * float(np.median(np.diff(places))), width / FREQUENCIES)
    lowest, highest = 2.0 / width, max(1.0 / least, 4.0 / width)
    # Evenly spaced and finer than the width of a peak, 1 over the range.
    n = int(min(8 * FREQUENCIES, max(64, 8 * width * (highest - lowest))))
    frequencies = np.linspace(lowest, highest, n)
    waves = np.exp(2j * np.pi * np.outer(frequencies, x - places[0]))
    return float(1.0 / frequencies[int(np.argmax(np.abs(waves @ rest)))])


def _checked_bases(kernels: Any) -> tuple[str, ...]:
    try:
        found = (kernels,) if isinstance(kernels, str) else tuple(kernels)
    except TypeError:
        found = ()
    if not found or any(base not in BASES for base in found) or len(set(found)) < len(found):
        raise ValueError(f"kernels must be some of {[*BASES]}, each once, got {kernels!r}")
    return found


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out warnings of searches that end early: candidates need no more digits than tell them apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
