"""Estimators on simulated samples: bias, variance, mean squared error, efficiency and consistency."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import freeze, to_numpy
from tractable.arrays.random import as_generator, either_seed_name
from tractable.distributions.distribution import Distribution
from tractable.distributions.estimation.information import (
    as_functional,
    fisher_information,
    parameter_names,
)
from tractable.distributions.expectation import Estimate
from tractable.value import replace, set_fields, value


@value
class EstimatorReport:
    """What estimators gave on many samples of each size: the value of `estimator_report`.

    Parameters
    ----------
    names : tuple of str
        The estimators.
    sizes : array (m,)
        The sizes n of the samples, increasing.
    truth : float
        What they estimate.
    estimates : array (e, m, r)
        What each gave on r samples of each size.
    bounds : array (e, m)
        The least variance of an estimator of the same mean, (∂E[θ̂]/∂θ)² / (n I); NaN where not known.
    """

    names: tuple[str, ...]
    sizes: np.ndarray
    truth: float
    estimates: np.ndarray
    bounds: np.ndarray

    def __post_init__(self) -> None:
        arrays = {k: freeze(np.asarray(getattr(self, k))) for k in ("sizes", "estimates", "bounds")}
        set_fields(self, **arrays)

    @property
    def bias(self) -> Estimate:
        """E[θ̂] - θ, (e, m)."""
        return _mean(self.estimates - self.truth)

    @property
    def variance(self) -> Estimate:
        """E[(θ̂ - E[θ̂])²], (e, m), with 1/r: squared bias and variance add up to the error exactly."""
        return _mean((self.estimates - self.estimates.mean(axis=-1, keepdims=True)) ** 2)

    @property
    def mse(self) -> Estimate:
        """The mean squared error E[(θ̂ - θ)²], (e, m)."""
        return _mean((self.estimates - self.truth) ** 2)

    @property
    def efficiency(self) -> Estimate:
        """The Cramér-Rao bound over the variance, (e, m): 1 for an efficient estimator; NaN without one."""
        spread = self.variance
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = self.bounds / spread.value
            return Estimate(value=ratio, standard_error=ratio * spread.standard_error / spread.value)

    def relative_efficiency(self, first: str, second: str) -> Estimate:
        """Return Var[second] / Var[first] for each size, (m,): above 1 where the first is more efficient."""
        a, b = (self.estimates[self._index(name)] for name in (first, second))
        a, b = ((x - x.mean(axis=-1, keepdims=True)) ** 2 for x in (a, b))
        top, bottom = b.mean(axis=-1), a.mean(axis=-1)
        ratio = top / bottom
        # The delta method on the same samples, which makes the two variances go together.
        each = b / top[:, None] - a / bottom[:, None]
        return Estimate(value=ratio, standard_error=ratio * each.std(axis=-1) / np.sqrt(a.shape[-1]))

    def exceedance(self, epsilon: float) -> Estimate:
        """Return P(|θ̂ - θ| ≥ ε), (e, m), which vanishes as n grows if the estimator is consistent.

        By Chebyshev's inequality it is at most mse / ε².
        """
        if not epsilon > 0:
            raise ValueError(f"epsilon must be positive, got {epsilon!r}")
        return _mean((np.abs(self.estimates - self.truth) >= epsilon).astype(np.float64))

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each estimator and size."""
        import pandas as pd

        parts = {"bias": self.bias, "variance": self.variance, "mse": self.mse, "efficiency": self.efficiency}
        rows = [(name, int(n)) for name in self.names for n in self.sizes]
        frame = pd.DataFrame(rows, columns=["estimator", "n"])
        for name, part in parts.items():
            frame[name] = part.value.ravel()
            frame[f"{name}_error"] = part.standard_error.ravel()
        return frame

    def __str__(self) -> str:
        width = max(len("estimator"), *map(len, self.names))
        head = "  ".join(f"{name:>20}" for name in ("bias", "variance", "mse"))
        lines = [f"{'estimator':<{width}}  {'n':>6}  {head}  {'efficiency':>15}"]
        parts = (self.bias, self.variance, self.mse)
        for i, name in enumerate(self.names):
            for j, n in enumerate(self.sizes):
                cells = [f"{p.value[i, j]:.4g} ± {p.standard_error[i, j]:.1g}" for p in parts]
                ratio = self.efficiency
                known = np.isfinite(ratio.value[i, j])
                cells.append(f"{ratio.value[i, j]:.3f} ± {ratio.standard_error[i, j]:.1g}" if known else "")
                widths = (20, 20, 20, 15)
                shown = "  ".join(f"{cell:>{w}}" for cell, w in zip(cells, widths, strict=True))
                lines.append(f"{name:<{width}}  {int(n):>6}  {shown}".rstrip())
        return "\n".join(lines)

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise ValueError(f"there is no estimator {name!r}: they are {', '.join(self.names)}")
        return self.names.index(name)


@either_seed_name
def estimator_report(
    estimator: Callable[[np.ndarray], Any] | Mapping[str, Callable[[np.ndarray], Any]],
    distribution: Distribution,
    n: int | Sequence[int],
    of: Any = "mean",
    *,
    n_repeats: int = 2000,
    bound: bool = True,
    rng: Any = None,
) -> EstimatorReport:
    """Run estimators on many samples of a known distribution: bias, variance, error, efficiency.

    All estimators see the same samples, so that they are compared in pairs. The Cramér-Rao bound is the one
    of an estimator with the same mean as a function of the parameters, whose slope is measured on samples
    that are drawn alike at neighbouring parameters.

    Parameters
    ----------
    estimator : callable, or mapping of names to callables
        ``estimator(sample)``, a number of a sample (n, *event).
    distribution : Distribution
        What the samples are drawn from.
    n : int or sequence of int
        The size of the samples; growing sizes show consistency.
    of : str, callable or number
        What is estimated: a parameter or property by name, ``g(distribution)``, or its value.
    n_repeats : int
        Number of samples of each size.
    bound : bool
        Whether the Cramér-Rao bound is found, which draws 2 p times as many samples.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Returns
    -------
    EstimatorReport
        With `bias`, `variance`, `mse` and `efficiency`, each with standard errors; `tractable.plot` draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable import Normal
    >>> found = estimator_report(
    ...     {"mean": np.mean, "median": np.median}, Normal(mean=0.0, stddev=2.0), 25, rng=0
    ... )
    >>> found.variance.value.round(2).tolist(), found.bounds[0].round(2)
    ([[0.16], [0.25]], array([0.16]))
    >>> bool(abs(found.efficiency.value[0, 0] - 1.0) < 4 * found.efficiency.standard_error[0, 0])
    True
    """
    if not isinstance(distribution, Distribution) or distribution.batch_shape:
        raise ValueError("distribution must be one distribution, not a batch")
    named = dict(estimator) if isinstance(estimator, Mapping) else {_name(estimator): estimator}
    for name, function in named.items():
        if not callable(function):
            raise ValueError(f"estimator must be a function of a sample, got {function!r} as {name!r}")
    if not named:
        raise ValueError("estimator must hold at least one function")
    given = list(n) if isinstance(n, (Sequence, np.ndarray)) else [n]
    sizes = sorted({_size("n", size, 1) for size in given})
    if not sizes:
        raise ValueError("n must have at least one size of samples")
    repeats = _size("n_repeats", n_repeats, 10)
    truth = float(of) if _is_number(of) else as_functional(of)(distribution)
    if not np.isfinite(truth):
        raise ValueError(f"of must be finite, and is {truth} for this distribution")
    streams = as_generator(rng).spawn(len(sizes))
    seeds = [int(stream.integers(2**63)) for stream in streams]
    estimates = np.stack(
        [
            _simulated(named, distribution, size, repeats, seed)
            for size, seed in zip(sizes, seeds, strict=True)
        ],
        axis=1,
    )
    bounds = np.full(estimates.shape[:2], np.nan)
    if bound:
        bounds = _bounds(named, distribution, sizes, repeats, seeds)
    return EstimatorReport(
        names=tuple(named), sizes=np.array(sizes), truth=truth, estimates=estimates, bounds=bounds
    )


def _simulated(
    named: Mapping[str, Callable[[np.ndarray], Any]], d: Distribution, n: int, repeats: int, seed: int
) -> np.ndarray:
    """Return the estimates on samples of one size, (e, r)."""
    samples = to_numpy(d.sample(repeats * n, rng=seed)).reshape(repeats, n, *d.event_shape)
    found = np.empty((len(named), repeats))
    for i, (name, function) in enumerate(named.items()):
        for r, sample in enumerate(samples):
            given = np.asarray(function(sample))
            if given.ndim or given.dtype.kind not in "biuf":
                raise ValueError(f"estimator {name!r} must return one number, got {given!r:.60}")
            found[i, r] = given
        if not np.all(np.isfinite(found[i])):
            bad = int(np.argmin(np.isfinite(found[i])))
            raise ValueError(f"estimator {name!r} returned {found[i, bad]} for a sample of size {n}")
    return found


def _bounds(named: Any, d: Distribution, sizes: list[int], repeats: int, seeds: list[int]) -> np.ndarray:
    """Return ∇mᵀ (n I)⁻¹ ∇m with the mean m of each estimator, (e, sizes); NaN where there is none."""
    names = parameter_names(d)
    nothing = np.full((len(named), len(sizes)), np.nan)
    if not names:
        return nothing
    try:
        information = fisher_information(d, names, rng=0).value
        root = np.linalg.cholesky(information)
    except (ValueError, NotImplementedError, np.linalg.LinAlgError):
        return nothing
    found = np.empty_like(nothing)
    for j, (n, seed) in enumerate(zip(sizes, seeds, strict=True)):
        slopes = np.empty((len(names), len(named)))
        for k, name in enumerate(names):
            here = float(getattr(d, name))
            h = 0.02 * (abs(here) or 1.0)
            try:
                ends = [
                    _simulated(named, replace(d, **{name: here + s * h}), n, repeats, seed).mean(axis=1)
                    for s in (-1.0, 1.0)
                ]
            except ValueError:  # the end of a domain
                return nothing
            slopes[k] = (ends[1] - ends[0]) / (2.0 * h)
        white = np.linalg.solve(root, slopes)
        found[:, j] = np.sum(white**2, axis=0) / n
    return found


def _mean(each: np.ndarray) -> Estimate:
    # In units of the largest, whose squares neither overflow nor vanish.
    size = np.max(np.abs(each), axis=-1, keepdims=True)
    unit = np.where(size > 0, size, 1.0)
    spread = (each / unit).std(axis=-1, ddof=1) * unit[..., 0]
    return Estimate(value=each.mean(axis=-1), standard_error=spread / np.sqrt(each.shape[-1]))


def _name(function: Any) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _size(name: str, given: Any, least: int) -> int:
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < least:
        raise ValueError(f"{name} must be whole numbers from {least}, got {given!r}")
    return int(given)


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float, np.number)) and not isinstance(x, bool)
