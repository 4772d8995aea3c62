"""Distributions of vectors: curves of one column, ellipses or regions of two; mixtures and batches."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions import (
    Categorical,
    Distribution,
    Empirical,
    Mixture,
    MultivariateLaplace,
    MultivariateNormal,
    MultivariateStudentT,
    Product,
    SmoothedEmpirical,
    Stacked,
    Univariate,
)
from tractable.plotting.columns import (
    INTERVAL,
    REGIONS,
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
from tractable.smoothing import check_window

#: Probabilities of the regions of smoothed samples when not given.
SMOOTHED_REGIONS = (0.5, 0.9)

#: Mixtures of more components than this are drawn as a whole.
MAX_COMPONENTS = 20


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
        finish(ax, xlabel=names[0], ylabel=names[1])
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


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
    members = [member.members[0] if isinstance(member, Stacked) else member for member in members]
    return draw_univariate_batch(members, ax, names, "x")


@picture.register
def _mixture(x: Mixture, ax: Any, **options: Any) -> Any:
    if hasattr(x, "cdf"):
        return _univariate_mixture(x, ax, **options)
    return with_options(_vectors, x, ax, options)


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


@picture.register
def _smoothed(x: SmoothedEmpirical, ax: Any, **options: Any) -> Any:
    return with_options(_vectors, x, ax, options) if x.event_shape else draw_as(Univariate, x, ax, **options)


@picture.register(MultivariateNormal)
@picture.register(MultivariateStudentT)
@picture.register(MultivariateLaplace)
@picture.register(Product)
def _vectors(
    x: Any,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
    labels: Sequence[str] | None = None,
) -> Any:
    """Draw one column as a curve, or two as regions; of a batch, a curve or region for each member.

    Of a product the first column when not given. Columns whose marginal has no closed form, or no quantiles,
    are drawn by samples.
    """
    smoothed = isinstance(x, SmoothedEmpirical)
    held, regions = resolve_coverages(coverage, coverages, SMOOTHED_REGIONS if smoothed else REGIONS)
    dims, most = usual_columns(x, dims), 1 if isinstance(x, Product) else 2
    columns = chosen_columns(x, dims, most=most)
    names = column_labels(x, columns)
    if x.batch_shape:
        if not _has_marginals(x) and len(columns) < x.event_shape[0]:
            check_single(x)
        return draw_batch(x, ax, data=data, dims=dims, labels=labels, coverages=regions, most=most)
    rows, whole = data_columns(x, data, columns), columns == list(range(x.event_shape[0]))
    part = x if whole else x.marginal(columns) if _has_marginals(x) else None
    number = part.as_univariate() if part is not None and len(columns) == 1 else None
    if part is not None and len(columns) == 2:
        _pair(part, ax, rows, names, regions)
    elif hasattr(number, "cdf"):
        draw(number, ax, data=rows, label=names[0], coverage=held)
    else:
        draw_samples(x, ax, columns, names, rows)
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


def _has_marginals(x: Any) -> bool:
    """Return whether the marginals of some columns belong to the family."""
    if isinstance(x, SmoothedEmpirical):
        return check_window(x.window).name == "gaussian"
    return not isinstance(x, MultivariateLaplace)


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
    if isinstance(x, MultivariateNormal):
        return _ellipses(x, ax, rows, names, coverages)
    if isinstance(x, Mixture) and isinstance(x.components, MultivariateNormal):
        _components(x, ax)
    return draw_density_regions(x, ax, data=rows, names=names, coverages=coverages)


def _ellipses(
    x: MultivariateNormal, ax: Any, rows: np.ndarray | None, names: Sequence[str], coverages: Sequence[float]
) -> Any:
    if rows is not None:
        draw_rows(ax, rows)
    mean, covariance = np.asarray(x.mean, dtype=float), np.asarray(x.covariance, dtype=float)
    for shade, coverage in zip(np.linspace(1.0, 0.4, len(coverages)), coverages, strict=True):
        ring = ellipse_points(mean, covariance, mahalanobis_radius(coverage))
        ax.plot(*ring.T, color=COLOURS[0], alpha=shade, label=f"{coverage:.0%}")
    ax.plot(*mean, marker="+", ms=9, color=COLOURS[5], lw=0, label="mean")
    return finish(ax, xlabel=names[0], ylabel=names[1])


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
