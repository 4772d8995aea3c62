"""Gaussian densities: a curve in one dimension, ellipses in two."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.base import check_fitted
from tractable.density import GaussianDensity
from tractable.distributions import MultivariateNormal, Normal
from tractable.plotting.plot import draw
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

COVERAGES = (0.5, 0.9, 0.99)


@draw.register
def _estimator(x: GaussianDensity, ax: Any, **options: Any) -> Any:
    check_fitted(x)
    return draw(x.distribution_, ax, **options)


@draw.register
def _normal(x: Normal, ax: Any, *, data: Any = None, label: str = "", coverage: float = 0.9) -> Any:
    if x.batch_shape:
        raise ValueError(f"x must be one distribution, got a batch of shape {x.batch_shape}")
    if data is not None:
        rows = np.asarray(data, dtype=float).reshape(-1)
        ax.hist(rows[~np.isnan(rows)], bins="fd", density=True, color="0.85", label="data")
    return _curve(x, ax, name=label or "x", coverage=coverage)


@draw.register
def _multivariate(
    x: MultivariateNormal,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverages: Sequence[float] = COVERAGES,
) -> Any:
    if x.batch_shape:
        raise ValueError(f"x must be one distribution, got a batch of shape {x.batch_shape}")
    dim = x.event_shape[0]
    shown = x.marginal(range(min(dim, 2)) if dims is None else dims)
    positions = _positions(x, dims, dim)
    names = [x.names[j] if x.names else f"x{j}" for j in positions]
    rows = None if data is None else np.asarray(data, dtype=float)[:, positions]
    if len(positions) == 1:
        one = Normal(mean=shown.mean[0], variance=shown.variance[0])
        ax = _normal(one, ax, data=rows, label=names[0], coverage=max(coverages))
    elif len(positions) == 2:
        _ellipses(shown, ax, rows, names, coverages)
    else:
        raise ValueError(f"dims must name one or two columns, got {dims!r}")
    if dim > len(positions):
        ax.set_title(f"{' and '.join(names)}, of {dim} columns", fontsize="medium")
    return ax


def _positions(x: MultivariateNormal, dims: Any, dim: int) -> list[int]:
    from tractable.covariance.dims import resolve_dims

    return list(resolve_dims(range(min(dim, 2)) if dims is None else dims, dim, x.names))


def _curve(x: Normal, ax: Any, *, name: str, coverage: float) -> Any:
    mean, sd = float(x.mean), float(x.stddev)
    grid = np.linspace(mean - 4 * sd, mean + 4 * sd, 400)
    density = x.prob(grid)
    low, high = x.interval(coverage)
    inside = (grid >= low) & (grid <= high)
    ax.fill_between(grid[inside], density[inside], color=COLOURS[0], alpha=0.2, lw=0, label=f"{coverage:.0%}")
    ax.plot(grid, density, color=COLOURS[0], label="density")
    ax.set(xlabel=name, ylabel="density", ylim=(0, None))
    quiet(ax)
    legend(ax)
    return ax


def _ellipses(
    x: MultivariateNormal, ax: Any, rows: np.ndarray | None, names: list[str], coverages: Sequence[float]
) -> None:
    if rows is not None:
        ax.scatter(*rows.T, s=9, color="0.6", lw=0, label="data")
    angle = np.linspace(0, 2 * np.pi, 200)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    lower = np.linalg.cholesky(x.covariance)
    for shade, coverage in zip((1.0, 0.7, 0.45, 0.3, 0.2), sorted(coverages), strict=False):
        # In two dimensions the squared Mahalanobis radius is exponential.
        edge = x.mean + np.sqrt(-2 * np.log1p(-coverage)) * circle @ lower.T
        ax.plot(*edge.T, color=COLOURS[0], alpha=shade, label=f"{coverage:.0%}")
    ax.plot(*x.mean, marker="+", ms=9, color=COLOURS[5], lw=0, label="mean")
    ax.set(xlabel=names[0], ylabel=names[1])
    quiet(ax)
    legend(ax)
