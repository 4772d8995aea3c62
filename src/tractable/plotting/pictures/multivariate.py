"""Distributions of vectors: curves of one column, ellipses or regions of two; mixtures and batches."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions import (
    Categorical,
    Distribution,
    Empirical,
    Laplace,
    Mixture,
    MultivariateLaplace,
    MultivariateNormal,
    MultivariateStudentT,
    Product,
    Stacked,
    Univariate,
)
from tractable.plotting.columns import (
    INTERVAL,
    check_single,
    chosen_columns,
    column_labels,
    data_columns,
    resolve_coverages,
)
from tractable.plotting.curves import batch_members, curve_points, draw_univariate_batch, prob_at
from tractable.plotting.plot import draw, draw_as, picture, with_options
from tractable.plotting.regions import (
    draw_batch,
    draw_density_regions,
    draw_samples,
    ellipse_points,
    mahalanobis_radius,
)
from tractable.plotting.rows import draw_rows
from tractable.plotting.style import COLOURS, finish, title, which_columns

__all__ = ["usual_columns"]

#: Mixtures of more components than this are drawn as a whole.
MAX_COMPONENTS = 20


@picture.register
def _multivariate(
    x: MultivariateNormal,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw one column as a curve, two as ellipses; of a batch, one curve or region for each member."""
    held, regions = resolve_coverages(coverage, coverages)
    if x.batch_shape:
        return draw_batch(x, ax, data=data, dims=dims, labels=labels, coverages=regions)
    columns = chosen_columns(x, dims)
    shown, names, rows = x.marginal(columns), column_labels(x, columns), data_columns(x, data, columns)
    if len(columns) == 1:
        ax = draw(shown.as_univariate(), ax, data=rows, label=names[0], coverage=held)
    else:
        _ellipses(shown, ax, rows, names, regions)
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


def _ellipses(
    x: MultivariateNormal, ax: Any, rows: np.ndarray | None, names: list[str], coverages: Sequence[float]
) -> None:
    if rows is not None:
        draw_rows(ax, rows)
    mean, covariance = np.asarray(x.mean, dtype=float), np.asarray(x.covariance, dtype=float)
    for shade, coverage in zip(np.linspace(1.0, 0.4, len(coverages)), coverages, strict=True):
        ring = ellipse_points(mean, covariance, mahalanobis_radius(coverage))
        ax.plot(*ring.T, color=COLOURS[0], alpha=shade, label=f"{coverage:.0%}")
    ax.plot(*mean, marker="+", ms=9, color=COLOURS[5], lw=0, label="mean")
    ax.set(xlabel=names[0], ylabel=names[1])
    finish(ax)


@picture.register
def _empirical(x: Empirical, ax: Any, **options: Any) -> Any:
    if x.event_shape:
        return with_options(_multivariate_empirical, x, ax, options)
    return draw_as(Univariate, x, ax, **options)


def _multivariate_empirical(x: Empirical, ax: Any, *, dims: Any = None, coverage: float = INTERVAL) -> Any:
    """Draw the values over two columns, with marks that grow with their probability; over one, stems."""
    if len(x.event_shape) > 1:
        raise ValueError(f"x must be of numbers or vectors to be drawn, got events of shape {x.event_shape}")
    columns = chosen_columns(x, dims)
    names, values = column_labels(x, columns), np.asarray(x.values, dtype=float)[:, columns]
    if len(columns) == 1:
        number = Empirical(values=values[:, 0], weights=x.probabilities)
        ax = draw(number, ax, label=names[0], coverage=coverage)
    else:
        probabilities = np.asarray(x.probabilities, dtype=float)
        sizes = 12.0 + 28.0 * probabilities / probabilities.max()
        draw_rows(ax, values, s=sizes, color=COLOURS[0], alpha=0.7, label="values")
        ax.plot(*np.asarray(x.mean, dtype=float)[columns], "+", ms=9, color=COLOURS[5], label="mean")
        ax.set(xlabel=names[0], ylabel=names[1])
        finish(ax)
    return _titled(ax, x, names)


@picture.register
def _laplace(
    x: MultivariateLaplace,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw regions of two columns; of more, whose marginals have no closed form, samples over two."""
    held, regions = resolve_coverages(coverage, coverages)
    columns = chosen_columns(x, dims)
    if x.batch_shape and x.dim <= 2:
        return draw_batch(x, ax, data=data, dims=dims, labels=labels, coverages=regions)
    check_single(x)
    names, rows = column_labels(x, columns), data_columns(x, data, columns)
    if x.dim == 1:
        number = Laplace(location=x.location[0], scale=x.scale)
        return draw(number, ax, data=rows, label=names[0], coverage=held)
    if columns == [0, 1] and x.dim == 2:
        return draw_density_regions(x, ax, data=rows, names=names, coverages=regions)
    return _titled(draw_samples(x, ax, columns, names, rows), x, names)


@picture.register
def _stacked(
    x: Stacked, ax: Any, *, data: Any = None, dims: Any = None, labels: Sequence[str] | None = None
) -> Any:
    """Draw each member of a batch in its colour."""
    if not x.batch_shape:
        return draw(x.members[0], ax, data=data)
    if x.event_shape:
        return draw_batch(x, ax, data=data, dims=dims, labels=labels, coverages=(0.9,))
    members, names = batch_members(x, labels)
    return draw_univariate_batch([_unstacked(member) for member in members], ax, names, "x")


def _unstacked(member: Any) -> Any:
    return member.members[0] if isinstance(member, Stacked) else member


def _titled(ax: Any, x: Any, names: Sequence[str]) -> Any:
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


@picture.register
def _mixture(x: Mixture, ax: Any, **options: Any) -> Any:
    if hasattr(x, "cdf"):
        return _univariate_mixture(x, ax, **options)
    return with_options(_joint, x, ax, options)


def _univariate_mixture(x: Mixture, ax: Any, **options: Any) -> Any:
    """Draw the density, and each component times its weight."""
    if not x.batch_shape and x.n_components <= MAX_COMPONENTS:
        points = curve_points(x)
        style: dict[str, Any] = (
            {"lw": 0.8, "ls": ":", "marker": "."} if x.discrete else {"lw": 1.0, "ls": "--"}
        )
        style |= {"ls": "none", "ms": 8} if isinstance(x.components, Categorical) else {}  # no order
        for k in range(x.n_components):
            height = float(x.weights[k]) * prob_at(x.components[k], points)
            colour, label = COLOURS[1 + k % (len(COLOURS) - 1)], "components" if k == 0 else None
            ax.plot(points, height, color=colour, label=label, zorder=3, **style)
    return draw_as(Univariate, x, ax, **options)


@picture.register(Product)
@picture.register(MultivariateStudentT)
def _joint(
    x: Distribution,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw one column as a curve, or two as regions; of a product the first column when not given."""
    held, regions = resolve_coverages(coverage, coverages)
    dims, most = usual_columns(x, dims), 1 if isinstance(x, Product) else 2
    if x.batch_shape:
        return draw_batch(x, ax, data=data, dims=dims, labels=labels, coverages=regions, most=most)
    columns = chosen_columns(x, dims, most=most)
    names, rows = column_labels(x, columns), data_columns(x, data, columns)
    part: Any = x.marginal(columns)  # type: ignore[attr-defined]
    if len(columns) == 1:
        number = part.as_univariate()
        if hasattr(number, "cdf"):
            ax = draw(number, ax, data=rows, label=names[0], coverage=held)
        else:  # components of different families have no common quantile function
            ax = draw_samples(x, ax, columns, names, rows)
    else:
        ax = _pair(part, ax, rows, names, regions)
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


def usual_columns(x: Distribution, dims: Any) -> Any:
    """Return `dims`, or for a mixture with discrete columns two continuous ones, else the first."""
    if dims is not None or not isinstance(x, Mixture) or not _is_discrete(x):
        return dims
    parts = x.components.parts if isinstance(x.components, Product) else ()
    continuous = [j for j, part in enumerate(parts) if not part.discrete and not part.event_shape]
    scalar = len(parts) == x.event_shape[0]
    return continuous[:2] if scalar and len(continuous) > 1 else [0]


def _pair(
    x: Distribution, ax: Any, rows: np.ndarray | None, names: Sequence[str], coverages: Sequence[float]
) -> Any:
    if _is_discrete(x):
        raise ValueError("dims must name one column if it is discrete, or two continuous ones")
    if isinstance(x, Mixture) and isinstance(x.components, MultivariateNormal):
        _components(x, ax)
    return draw_density_regions(x, ax, data=rows, names=names, coverages=coverages)


def _components(x: Mixture, ax: Any) -> None:
    """Draw the ellipse that holds half of each component, fainter for small weights."""
    if x.n_components > MAX_COMPONENTS:
        return
    components: Any = x.components
    covariances = np.asarray(components.covariance, dtype=float)
    covariances = np.broadcast_to(covariances, (x.n_components, 2, 2))
    strength = np.sqrt(x.weights / x.weights.max())
    for k in range(x.n_components):
        ring = ellipse_points(components.mean[k], covariances[k], mahalanobis_radius(0.5))
        label = "components, 50%" if k == 0 else None
        ax.plot(*ring.T, color=COLOURS[5], lw=1.0, ls="--", zorder=3, alpha=float(strength[k]), label=label)


def _is_discrete(x: Distribution) -> bool:
    if isinstance(x, Mixture):
        return _is_discrete(x.components)
    return any(part.discrete for part in x.parts) if isinstance(x, Product) else x.discrete
