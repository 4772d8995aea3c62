"""Principal components: screes, biplots, reconstructions, and how many there should be."""

from typing import Any

import numpy as np

from tractable.base import check_answerable
from tractable.decomposition import PCA, DimensionChoice, KernelPCA
from tractable.decomposition.probabilistic.estimator import LatentFactors
from tractable.plotting.plot import picture
from tractable.plotting.rows import column_names, opacity, sample_note, sampled_rows
from tractable.plotting.style import COLOURS, finish, title

#: Columns that have arrows in a biplot, those of the longest.
MAX_ARROWS = 12

#: Bars of a scree.
MAX_BARS = 30

#: Rows that are drawn beside their reconstructions.
MAX_RECONSTRUCTED = 5

SHOWS = ("scree", "biplot", "reconstruction")


@picture.register
def _pca(
    x: PCA, ax: Any, *, data: Any = None, dims: Any = (0, 1), labels: Any = None, show: str | None = None
) -> Any:
    """Draw the scree of a model, or with `data` their scores and the columns; `labels` colour the rows."""
    return _components(x, ax, data, dims, labels, show, x.components_.T * np.sqrt(x.explained_variance_))


@picture.register
def _factors(
    x: LatentFactors,
    ax: Any,
    *,
    data: Any = None,
    dims: Any = (0, 1),
    labels: Any = None,
    show: str | None = None,
) -> Any:
    """Draw the fractions of the variance, or with `data` their latent means and the loadings."""
    return _components(x, ax, data, dims, labels, show, x.loadings_)


@picture.register
def _kernel(x: KernelPCA, ax: Any, *, data: Any = None, dims: Any = (0, 1), labels: Any = None) -> Any:
    """Draw the scree of the centred kernel matrix, or with `data` their scores."""
    check_answerable(x)
    if data is None:
        return _scree(ax, x.explained_variance_ratio_)
    return _points(ax, _scores(x, data), _two(dims, x.n_components_), labels)


@picture.register
def _choice(x: DimensionChoice, ax: Any) -> Any:
    """Draw the spectrum, what chance alone gives, and the number that each criterion chooses."""
    numbers = np.arange(1, len(x.variances) + 1)[:MAX_BARS]
    ax.plot(numbers, x.variances[:MAX_BARS], ".-", color=COLOURS[0], label="variance")
    if x.chance is not None:
        ax.plot(numbers, x.chance[:MAX_BARS], "--", color="0.5", label="95 % by chance")
    by_number: dict[int, list[str]] = {}
    for name, k in x.choices.items():
        by_number.setdefault(k, []).append(name.replace("_", " "))
    for j, (k, names) in enumerate(sorted(by_number.items())):
        said = f"{k}: {', '.join(names)}"
        ax.axvline(k + 0.5, color=COLOURS[1 + j % 6], lw=1.2, ls=":", label=said)
    ax.set_yscale("log")
    return finish(ax, boxed=True, whole_numbers=True, xlabel="component", ylabel="variance")


def _components(
    x: Any, ax: Any, data: Any, dims: Any, labels: Any, show: str | None, loadings: np.ndarray
) -> Any:
    check_answerable(x)
    show = show or ("scree" if data is None else "biplot")
    if show not in SHOWS:
        raise ValueError(f"show must be one of {[*SHOWS]}, got {show!r}")
    if show == "scree":
        total = float(np.trace(x.get_covariance()))
        return _scree(
            ax, np.sum(loadings**2, axis=0) / total if not isinstance(x, PCA) else x.explained_variance_ratio_
        )
    if data is None:
        raise ValueError(f"data must be rows to draw for show={show!r}")
    if show == "reconstruction":
        return _reconstruction(x, ax, data)
    columns = _two(dims, x.n_components_)
    scores = _scores(x, data)
    _points(ax, scores, columns, labels)
    _arrows(ax, scores[:, columns], loadings[:, columns], column_names(x))
    return ax


def _scree(ax: Any, ratio: np.ndarray) -> Any:
    shown = ratio[:MAX_BARS]
    numbers = np.arange(1, len(shown) + 1)
    ax.bar(numbers, shown, color=COLOURS[0], width=0.7, label="each")
    ax.plot(numbers, np.cumsum(shown), ".-", color=COLOURS[1], label="so far")
    ax.set_ylim(0.0, 1.02)
    return finish(ax, whole_numbers=True, xlabel="component", ylabel="fraction of the variance")


def _two(dims: Any, n_components: int) -> list[int]:
    """Return two components, one of them twice where there is one alone."""
    found = [0, 0] if n_components == 1 else [int(d) for d in dims]
    if len(found) != 2 or not all(0 <= d < n_components for d in found):
        raise ValueError(f"dims must be two components from 0 to {n_components - 1}, got {dims!r}")
    return found


def _scores(x: Any, data: Any) -> np.ndarray:
    return np.asarray(x.transform(data), dtype=float)


def _points(ax: Any, scores: np.ndarray, columns: list[int], labels: Any) -> Any:
    some = sampled_rows(scores)
    at = scores[some][:, columns]
    if columns[0] == columns[1]:
        at = np.column_stack([at[:, 0], np.arange(len(at))])
    style = {"s": 14, "lw": 0, "alpha": max(opacity(len(at)), 0.5), "zorder": 2}
    if labels is None:
        ax.scatter(*at.T, color=COLOURS[0], **style)
    else:
        named = np.asarray(labels)[some]
        for j, name in enumerate(np.unique(named)):
            ax.scatter(*at[named == name].T, color=COLOURS[j % len(COLOURS)], label=str(name), **style)
    title(ax, "", sample_note(len(scores)))
    ylabel = "row" if columns[0] == columns[1] else f"component {columns[1] + 1}"
    return finish(ax, boxed=True, xlabel=f"component {columns[0] + 1}", ylabel=ylabel)


def _arrows(ax: Any, scores: np.ndarray, loadings: np.ndarray, names: Any) -> None:
    """Draw the columns of the longest loadings as arrows, scaled to the rows."""
    lengths = np.sqrt(np.sum(loadings**2, axis=1))
    longest = np.argsort(-lengths, kind="stable")[:MAX_ARROWS]
    reach = 0.9 * float(np.abs(scores).max()) / (float(lengths.max()) or 1.0)
    for i in longest:
        tip = reach * loadings[i]
        ax.annotate("", xy=tip, xytext=(0, 0), arrowprops={"arrowstyle": "->", "color": "0.25", "lw": 1.0})
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
        ax.text(
            *(1.06 * tip), str(names[i])[:20], ha="center", va="center", fontsize=8, color="0.1", bbox=box
        )


def _reconstruction(x: Any, ax: Any, data: Any) -> Any:
    """Draw a few rows, column by column, and their projections on the subspace."""
    some = data[:MAX_RECONSTRUCTED]
    rows, back = (np.asarray(a, dtype=float) for a in (some, x.inverse_transform(x.transform(some))))
    positions = np.arange(rows.shape[1])
    for j, (row, near) in enumerate(zip(rows, back, strict=True)):
        colour = COLOURS[j % len(COLOURS)]
        ax.plot(positions, row, ".", color=colour, ms=4, label="row" if j == 0 else None)
        ax.plot(positions, near, "-", color=colour, lw=1, label="projected" if j == 0 else None)
    names = column_names(x)
    if len(names) <= 12:
        ax.set_xticks(positions, names, rotation=45, ha="right", fontsize=8)
    return finish(ax, boxed=True, xlabel="column", ylabel="value")
