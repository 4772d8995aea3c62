"""Mixtures with their components, products by the column, and other joint densities."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.distributions import (
    Categorical,
    Distribution,
    Mixture,
    MultivariateNormal,
    MultivariateStudentT,
    Product,
    Univariate,
)
from tractable.plotting.batches import draw_batch
from tractable.plotting.columns import as_number, chosen_columns, named_columns, shown_data, told_coverages
from tractable.plotting.curves import curve_points, prob_at
from tractable.plotting.draws import draw_draws
from tractable.plotting.matrices import edge, radius_holding
from tractable.plotting.options import with_options
from tractable.plotting.plot import draw, draw_as, picture
from tractable.plotting.regions import draw_plane
from tractable.plotting.style import COLOURS, title, which_columns

__all__ = ["usual_columns"]

#: Components beyond this many are only seen in the whole.
MOST_COMPONENTS = 20


@picture.register
def _mixture(x: Mixture, ax: Any, **options: Any) -> Any:
    if hasattr(x, "cdf"):
        return _numbers(x, ax, **options)
    return with_options(_joint, x, ax, options)


def _numbers(x: Mixture, ax: Any, **options: Any) -> Any:
    """Draw the density, and under it each component times its weight."""
    if not x.batch_shape and x.n_components <= MOST_COMPONENTS:
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
    """Draw one column as a curve, or two as regions; of a product the first column when not told."""
    held, regions = told_coverages(coverage, coverages)
    dims, most = usual_columns(x, dims), 1 if isinstance(x, Product) else 2
    if x.batch_shape:
        told: dict[str, Any] = {"labels": labels, "coverages": regions, "most": most}
        return draw_batch(x, ax, data=data, dims=dims, **told)
    columns = chosen_columns(x, dims, most=most)
    names, rows = named_columns(x, columns), shown_data(x, data, columns)
    part: Any = x.marginal(columns)  # type: ignore[attr-defined]
    if len(columns) == 1:
        number = as_number(part)
        if hasattr(number, "cdf"):
            ax = draw(number, ax, data=rows, label=names[0], coverage=held)
        else:  # components of different families, which have no quantiles together
            ax = draw_draws(x, ax, columns, names, rows)
    else:
        ax = _pair(part, ax, rows, names, regions)
    title(ax, which_columns(names, x.event_shape[0]))
    return ax


def usual_columns(x: Distribution, dims: Any) -> Any:
    """Return the columns to draw; when not told, and some are counted: two measured ones, or the first."""
    if dims is not None or not isinstance(x, Mixture) or not _has_counts(x):
        return dims
    parts = x.components.parts if isinstance(x.components, Product) else ()
    measured = [j for j, part in enumerate(parts) if not part.discrete and not part.event_shape]
    plain = len(parts) == x.event_shape[0]
    return measured[:2] if plain and len(measured) > 1 else [0]


def _pair(
    x: Distribution, ax: Any, rows: np.ndarray | None, names: Sequence[str], coverages: Sequence[float]
) -> Any:
    if _has_counts(x):
        raise ValueError("dims must name one column where columns are counted, or two that are not")
    if isinstance(x, Mixture) and isinstance(x.components, MultivariateNormal):
        _components(x, ax)
    return draw_plane(x, ax, data=rows, names=names, coverages=coverages)


def _components(x: Mixture, ax: Any) -> None:
    """Draw the half of each component nearest its mean, the fainter the smaller its weight."""
    if x.n_components > MOST_COMPONENTS:
        return  # the first of them would say nothing of the others
    components: Any = x.components
    covariances = np.asarray(components.covariance, dtype=float)
    covariances = np.broadcast_to(covariances, (x.n_components, 2, 2))
    strength = np.sqrt(x.weights / x.weights.max())
    for k in range(x.n_components):
        ring = edge(components.mean[k], covariances[k], radius_holding(0.5))
        label = "components, 50%" if k == 0 else None
        ax.plot(*ring.T, color=COLOURS[5], lw=1.0, ls="--", zorder=3, alpha=float(strength[k]), label=label)


def _has_counts(x: Distribution) -> bool:
    if isinstance(x, Mixture):
        return _has_counts(x.components)
    return any(part.discrete for part in x.parts) if isinstance(x, Product) else x.discrete
