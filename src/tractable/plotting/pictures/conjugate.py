"""Conjugate models: distributions of parameters, prior and posterior, and their predictive distributions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.conjugate import ConjugateModel, NormalPrecisionModel, Updates
from tractable.conjugate.counts import DirichletModel
from tractable.distributions.gamma import Gamma, InverseGamma
from tractable.distributions.mean_precision import NormalGamma, NormalWishart
from tractable.distributions.wishart import InverseWishart, Wishart
from tractable.plotting.columns import check_show, check_single, resolve_coverages
from tractable.plotting.curves import curve_points, draw_curve, prob_at
from tractable.plotting.pictures.distributions import draw_bars
from tractable.plotting.plot import draw, picture, with_options
from tractable.plotting.regions import draw_regions, ellipse_points, highest_density_level, mahalanobis_radius
from tractable.plotting.style import COLOURS, finish, legend_label, title, which_columns

#: What `show` may be.
SHOWN = ("parameter", "predictive")

#: Draws of a matrix, or of a Gaussian.
N_DRAWS = 40


@picture.register
def _model(x: ConjugateModel, ax: Any, *, show: str = "parameter", **options: Any) -> Any:
    """Draw the distribution of the parameter, or with ``show="predictive"`` that of the next row."""
    check_show(show, SHOWN)
    if show == "predictive":
        return draw(x.predictive(), ax, **options)
    if isinstance(x, DirichletModel):
        return with_options(_dirichlet, x, ax, options)
    if isinstance(x, NormalPrecisionModel) and x.prior.event_shape not in ((), (1, 1)):
        return with_options(_covariances, x, ax, options)
    ax = draw(x.prior, ax, **options)
    if not x.prior.event_shape:
        ax.set(xlabel=x.unknown)
    return ax


@picture.register
def _updates(x: Updates, ax: Any, *, show: str = "parameter", labels: Sequence[str] | None = None) -> Any:
    """Draw one curve for each update, the later the darker."""
    check_show(show, SHOWN)
    shown = [model.prior if show == "parameter" else model.predictive() for model in x.models]
    if shown[0].event_shape:
        raise ValueError(f"x must be about a number, got events of shape {shown[0].event_shape}")
    names = ["prior", *(f"after {i}" for i in range(1, len(shown)))] if labels is None else list(labels)
    if len(names) != len(shown):
        raise ValueError(f"labels must have {len(shown)} entries, got {len(names)}")
    points = np.unique(np.concatenate([curve_points(d) for d in shown]))
    for i, (d, name) in enumerate(zip(shown, names, strict=True)):
        shade = 0.25 + 0.75 * i / max(len(shown) - 1, 1)
        style: dict[str, Any] = {"color": COLOURS[0], "alpha": shade} if i else {"color": COLOURS[5]}
        style["label"] = legend_label(name)
        if d.discrete:
            ax.plot(points, prob_at(d, points), "o-", ms=4, lw=0.8, **style)
        else:
            draw_curve(d, ax, points, **style)
    unknown = x.models[0].unknown if show == "parameter" else "x"
    height = "probability" if shown[0].discrete else "density"
    return finish(ax, xlabel=unknown, ylabel=height, ylim=(0, None))


def _dirichlet(
    x: DirichletModel, ax: Any, *, coverage: float = 0.9, names: Sequence[str] | None = None
) -> Any:
    """Draw the mean and the interval of the probability of each category."""
    ends = x.interval(coverage)
    return draw_bars(ax, x.mean(), ends, coverage=coverage, names=names, label="probability")


def _covariances(x: NormalPrecisionModel, ax: Any, *, coverage: float = 0.5, n_draws: int = N_DRAWS) -> Any:
    """Draw Gaussians about the known mean, with precisions drawn from their distribution."""
    precisions = np.asarray(x.prior.sample(n_draws, rng=0), dtype=float)
    means = np.broadcast_to(np.asarray(x.known_mean, dtype=float), precisions.shape[:-1])
    _draw_gaussians(ax, means, precisions, x.known_mean, x.prior.mean, coverage)
    return finish(ax)


@picture.register(Wishart)
@picture.register(InverseWishart)
def _wishart(x: Any, ax: Any, *, label: str = "", coverage: float = 0.9, n_draws: int = N_DRAWS) -> Any:
    """Draw ellipses z' x⁻¹ z = 1 of the first two columns of sampled matrices; of one number, its density."""
    check_single(x)
    wishart = isinstance(x, Wishart)
    if x.dim == 1:
        scale = float(x.scale[0, 0])
        number: Any = (
            Gamma(shape=0.5 * x.dof, rate=0.5 / scale)
            if wishart
            else InverseGamma(shape=0.5 * x.dof, scale=0.5 * scale)
        )
        return draw(number, ax, label=label or "x", coverage=coverage)
    draws = np.asarray(x.sample(n_draws, rng=0), dtype=float)[:, :2, :2]
    mean = np.asarray(x.mean, dtype=float)
    exists = wishart or bool(np.isfinite(mean).all())
    centre = mean if exists else np.asarray(x.mode, dtype=float)
    _ellipses(ax, np.zeros((n_draws, 2)), draws, 1.0, "draws")
    ring = ellipse_points(np.zeros(2), centre[:2, :2], 1.0)
    ax.plot(*ring.T, color=COLOURS[5], lw=1.8, label="mean" if exists else "mode")
    ax.set(xlabel="x0", ylabel="x1")
    title(ax, label or "z' x⁻¹ z = 1", which_columns(["x0", "x1"], x.dim))
    return finish(ax)


@picture.register
def _normal_wishart(x: NormalWishart, ax: Any, *, coverage: float = 0.5, n_draws: int = N_DRAWS) -> Any:
    """Draw sampled Gaussians: ellipses that hold `coverage` of each."""
    check_single(x)
    if x.dim == 1:  # the same distribution by another name
        scale = float(x.scale[0, 0])
        mean = float(x.mean.mean[0])
        return draw(NormalGamma(mean=mean, strength=x.strength, shape=0.5 * x.dof, rate=0.5 / scale), ax)
    means, precisions = (np.asarray(part, dtype=float) for part in x.sample(n_draws, rng=0))
    _draw_gaussians(ax, means, precisions, x.mean.mean, x.mean.precision, coverage)
    title(ax, which_columns(["x0", "x1"], x.dim))
    return finish(ax)


@picture.register
def _normal_gamma(
    x: NormalGamma, ax: Any, *, coverage: float | None = None, coverages: Sequence[float] | None = None
) -> Any:
    """Draw regions of highest density of the mean and the precision."""
    check_single(x)
    _, regions = resolve_coverages(coverage, coverages)
    (low, high), (least, most) = (d.interval(0.9999) for d in (x.mean_marginal(), x.precision_marginal()))
    mean = np.linspace(float(low), float(high), 241)
    precision = np.linspace(float(least), float(most), 240)
    density = np.asarray(x.prob(tuple(np.meshgrid(mean, precision))))
    levels = [highest_density_level(density, density, c) for c in regions]
    draw_regions(ax, mean, precision, density, levels, regions)
    return finish(ax, xlabel="mean", ylabel="precision")


def _draw_gaussians(
    ax: Any, means: np.ndarray, precisions: np.ndarray, mean: Any, precision: Any, coverage: float
) -> None:
    """Draw ellipses of Gaussians with the given means and precisions, and of the expected one."""
    radius = mahalanobis_radius(coverage)
    covariances = np.linalg.inv(precisions)[:, :2, :2]
    _ellipses(ax, means[:, :2], covariances, radius, f"{coverage:.0%} of draws")
    centre = np.linalg.inv(np.asarray(precision, dtype=float))[:2, :2]
    ring = ellipse_points(np.asarray(mean, dtype=float)[:2], centre, radius)
    ax.plot(*ring.T, color=COLOURS[5], lw=1.8, label=f"{coverage:.0%} of the mean")
    ax.set(xlabel="x0", ylabel="x1")


def _ellipses(ax: Any, means: np.ndarray, covariances: np.ndarray, radius: float, label: str) -> None:
    style = {"color": COLOURS[0], "alpha": 0.35, "lw": 0.8}
    for k, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        ax.plot(*ellipse_points(mean, covariance, radius).T, label=None if k else label, **style)
