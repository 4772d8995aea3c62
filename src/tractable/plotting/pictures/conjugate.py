"""Beliefs before and after data, and what they predict."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.conjugate import ConjugateModel, NormalPrecisionModel, Updates
from tractable.conjugate.multinomial import DirichletModel
from tractable.plotting.bars import draw_bars
from tractable.plotting.curves import curve_points, draw_curve, prob_at
from tractable.plotting.labels import legend_name
from tractable.plotting.options import with_options
from tractable.plotting.pictures.matrices import draw_gaussians
from tractable.plotting.plot import draw, picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []

SHOWN = ("belief", "predictive")


@picture.register
def _model(x: ConjugateModel, ax: Any, *, show: str = "belief", **options: Any) -> Any:
    """Draw the belief about the parameter, or with ``show="predictive"`` the distribution of the next row."""
    if _checked(show) == "predictive":
        return draw(x.predictive(), ax, **options)
    if isinstance(x, DirichletModel):
        return with_options(_shares, x, ax, options)
    if isinstance(x, NormalPrecisionModel) and x.prior.event_shape not in ((), (1, 1)):
        return with_options(_covariances, x, ax, options)
    ax = draw(x.prior, ax, **options)
    if not x.prior.event_shape:
        ax.set(xlabel=x.unknown)
    return ax


@picture.register
def _updates(x: Updates, ax: Any, *, show: str = "belief", labels: Sequence[str] | None = None) -> Any:
    """Draw one curve for each step, the later the darker."""
    _checked(show)
    shown = [model.prior if show == "belief" else model.predictive() for model in x.models]
    if shown[0].event_shape:
        raise ValueError(f"x must be about a number, got events of shape {shown[0].event_shape}")
    names = ["prior", *(f"after {i}" for i in range(1, len(shown)))] if labels is None else list(labels)
    if len(names) != len(shown):
        raise ValueError(f"labels must have {len(shown)} entries, got {len(names)}")
    points = np.unique(np.concatenate([curve_points(d) for d in shown]))
    for i, (d, name) in enumerate(zip(shown, names, strict=True)):
        style: dict[str, Any] = {
            "color": COLOURS[0],
            "alpha": 0.25 + 0.75 * i / max(len(shown) - 1, 1),
            "label": legend_name(name),
        }
        style |= {"color": COLOURS[5], "alpha": 1.0} if i == 0 else {}
        if d.discrete:
            ax.plot(points, prob_at(d, points), "o-", ms=4, lw=0.8, **style)
        else:
            draw_curve(d, ax, points, **style)
    ax.set(xlabel=x.models[0].unknown if show == "belief" else "x")
    ax.set(ylabel="probability" if shown[0].discrete else "density")
    ax.set_ylim(bottom=0)
    quiet(ax)
    legend(ax)
    return ax


def _shares(x: DirichletModel, ax: Any, *, coverage: float = 0.9, names: Sequence[str] | None = None) -> Any:
    """Draw the expected share of each category, and the interval it lies in."""
    ends = x.interval(coverage)
    return draw_bars(ax, x.mean(), ends, coverage=coverage, names=names, label="probability")


def _covariances(x: NormalPrecisionModel, ax: Any, *, coverage: float = 0.5, n_draws: int = 40) -> Any:
    """Draw the Gaussians about the known mean that are believed possible."""
    precisions = np.asarray(x.prior.sample(n_draws, rng=0), dtype=float)
    means = np.broadcast_to(np.asarray(x.known_mean, dtype=float), precisions.shape[:-1])
    draw_gaussians(ax, means, precisions, x.known_mean, x.prior.mean, coverage)
    quiet(ax)
    legend(ax)
    return ax


def _checked(show: str) -> str:
    if show not in SHOWN:
        raise ValueError(f"show must be one of {', '.join(SHOWN)}, got {show!r}")
    return show
