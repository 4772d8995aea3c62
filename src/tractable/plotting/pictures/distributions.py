"""Distributions: curves of numbers, ellipses and regions of vectors, triangles and bars of probabilities."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.distributions import (
    Beta,
    Categorical,
    Dirichlet,
    Distribution,
    Empirical,
    GridPosterior,
    Mixture,
    MultivariateLaplace,
    MultivariateNormal,
    MultivariateStudentT,
    Product,
    SmoothedEmpirical,
    Stacked,
    Univariate,
)
from tractable.distributions.discrete.counting import CountVectors
from tractable.plotting.columns import (
    INTERVAL,
    REGIONS,
    check_single,
    chosen_columns,
    column_labels,
    data_columns,
    resolve_coverages,
)
from tractable.plotting.curves import (
    batch_members,
    curve_points,
    draw_band,
    draw_curve,
    draw_histogram,
    draw_stems,
    draw_univariate_batch,
    prob_at,
)
from tractable.plotting.plot import draw, draw_as, picture, with_options
from tractable.plotting.regions import (
    draw_batch,
    draw_density_regions,
    draw_regions,
    draw_samples,
    ellipse_points,
    highest_density_level,
    mahalanobis_radius,
)
from tractable.plotting.rows import draw_rows, sampled_rows
from tractable.plotting.style import COLOURS, finish, legend, title, which_columns
from tractable.smoothing import check_window


@picture.register
def _univariate(
    x: Univariate,
    ax: Any,
    *,
    data: Any = None,
    label: str = "x",
    labels: Sequence[str] | None = None,
    coverage: float = 0.9,
) -> Any:
    """Draw one distribution with its interval, or a curve for each member of a batch.

    `label` names the number, `labels` the members. Categories have no order and so no interval.
    """
    if data is not None:
        draw_histogram(x, ax, data)
    if x.batch_shape:
        members, names = batch_members(x, labels)
        return draw_univariate_batch(members, ax, names, label)
    points = curve_points(x)
    unordered = isinstance(getattr(x, "components", x), Categorical)
    height = "probability" if x.discrete else "density"
    if x.discrete:
        draw_stems(x, ax, points, color=COLOURS[0], label=height, coverage=None if unordered else coverage)
    else:
        draw_band(x, ax, points, coverage)
        draw_curve(x, ax, points, color=COLOURS[0], label=height)
    return finish(ax, xlabel=label or "x", ylabel=height, ylim=(0, None))


@picture.register
def _grid(
    x: GridPosterior,
    ax: Any,
    *,
    names: Sequence[str] | None = None,
    coverage: float | None = None,
    coverages: Sequence[float] | None = None,
) -> Any:
    """Draw the density of one parameter as a curve, of two as regions."""
    n = len(x.grid)
    if n > 2:
        raise ValueError(f"x must be about one or two parameters, got {n}; take a marginal")
    names = [f"parameter {i + 1}" for i in range(n)] if names is None else list(names)
    if len(names) != n:
        raise ValueError(f"names must have {n} entries, got {len(names)}")
    held, regions = resolve_coverages(coverage, coverages)
    density, mass = to_numpy(x.density), to_numpy(x.mass)
    axes = [to_numpy(axis) for axis in x.grid]
    if n == 1:
        low, high = (float(end) for end in x.interval(held))
        inside = (axes[0] >= low) & (axes[0] <= high)
        style = {"color": COLOURS[0], "alpha": 0.2, "lw": 0}
        ax.fill_between(axes[0][inside], density[inside], label=f"{held:.0%}", **style)
        ax.plot(axes[0], density, color=COLOURS[0], label="density")
        ax.set(xlabel=names[0], ylabel="density", ylim=(0, None))
    else:
        levels = [highest_density_level(density, mass, c) for c in regions]
        draw_regions(ax, axes[0], axes[1], density.T, levels, regions)
        ax.set(xlabel=names[0], ylabel=names[1])
    return finish(ax)


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
    placed = x.components.placed() if isinstance(x.components, Product) else []
    continuous = sorted(j for part, where in placed if not part.discrete for j in where)
    return continuous[:2] if len(continuous) > 1 else [0]


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


#: The corners of the triangle, at each of which one of three probabilities is 1.
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def draw_bars(
    ax: Any,
    mean: Any,
    interval: tuple[Any, Any],
    *,
    coverage: float,
    names: Sequence[str] | None,
    label: str,
    data: np.ndarray | None = None,
) -> Any:
    """Draw the mean and the interval of each category as bars; `data` (n, K) are observed rows."""
    mean, low, high = (np.asarray(part, dtype=float) for part in (mean, *interval))
    if names is not None and len(names) != len(mean):
        raise ValueError(f"names must have {len(mean)} entries, got {len(names)}")
    codes = np.arange(len(mean))
    ax.bar(codes, mean, color=COLOURS[0], alpha=0.35, label="mean")
    if data is not None:
        ax.plot(*np.broadcast_arrays(codes + 0.2, data[sampled_rows(data)]), "_", ms=9, color="0.4")
        ax.plot([], [], "_", ms=9, color="0.4", label="data")
    errors = np.maximum(np.stack([mean - low, high - mean]), 0.0)  # a mean may lie outside its interval
    ax.errorbar(codes, mean, errors, fmt="none", ecolor=COLOURS[0], capsize=3, label=f"{coverage:.0%}")
    if names is not None or len(mean) <= 20:
        ax.set_xticks(codes, [str(k) for k in codes] if names is None else [str(name) for name in names])
    return finish(ax, xlabel="category", ylabel=label, ylim=(0, None))


@picture.register
def _dirichlet(
    x: Dirichlet, ax: Any, *, data: Any = None, names: Sequence[str] | None = None, coverage: float = 0.9
) -> Any:
    """Draw the density of three probabilities over a triangle; of two as a curve, of more as bars."""
    check_single(x)
    k = x.event_shape[0]
    names = [f"x{j}" for j in range(k)] if names is None else list(names)
    if len(names) != k:
        raise ValueError(f"names must have {k} entries, got {len(names)}")
    if k == 2:
        first = None if data is None else np.asarray(data, dtype=float)[:, 0]
        return draw(x.marginal(0), ax, data=first, label=names[0], coverage=coverage)
    if k != 3:
        rows = None if data is None else np.asarray(data, dtype=float)
        total = x.concentration.sum()
        ends = Beta(alpha=x.concentration, beta=total - x.concentration).interval(coverage)
        return draw_bars(ax, x.mean, ends, coverage=coverage, names=names, label="share", data=rows)
    probabilities = _lattice()
    density = np.asarray(x.prob(probabilities))
    top = np.quantile(density[np.isfinite(density)], 0.995)
    ax.tricontourf(*(probabilities @ CORNERS).T, np.clip(density, 0.0, top), levels=12, cmap="Blues")
    ax.plot(*CORNERS[[0, 1, 2, 0]].T, color="0.4", lw=1.0)
    if data is not None:
        draw_rows(ax, np.asarray(data, dtype=float) @ CORNERS, color="0.3")
    ax.plot(*(np.asarray(x.mean) @ CORNERS), marker="+", ms=9, color=COLOURS[5], lw=0, label="mean")
    _frame(ax, names)
    return ax


def _lattice(n: int = 90) -> np.ndarray:
    """Return three probabilities at the points of a triangular lattice inside the triangle."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    keep = i + j < n
    whole = np.stack([i[keep], j[keep], n - 1 - (i + j)[keep]], axis=-1) + 1.0 / 3.0
    return whole / n


def _frame(ax: Any, names: Sequence[str]) -> None:
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[], xlabel=f"{names[0]} → {names[1]}", ylabel=f"→ {names[2]}")
    ax.spines[:].set_visible(False)
    offsets = ((0.0, -12.0), (0.0, -12.0), (0.0, 6.0))
    for name, corner, offset in zip(names, CORNERS, offsets, strict=True):
        ax.annotate(name, corner, offset, textcoords="offset points", ha="center")
    legend(ax)


@picture.register
def _counts(
    x: CountVectors, ax: Any, *, data: Any = None, names: Sequence[str] | None = None, coverage: float = 0.9
) -> Any:
    """Draw the mean and the interval of each count; `data` are rows of counts."""
    check_single(x)
    rows = None if data is None else np.asarray(data, dtype=float)
    if rows is not None and (rows.ndim != 2 or rows.shape[1] != x.n_classes):
        raise ValueError(f"data must be rows of {x.n_classes} counts, got shape {rows.shape}")
    ends = x.marginals.interval(coverage)
    return draw_bars(
        ax, x.mean, ends, coverage=coverage, names=names, label=f"count, of {int(x.n_trials)}", data=rows
    )
