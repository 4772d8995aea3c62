"""Markov chains: traces, ranks and autocorrelations; posteriors beside their approximations; weights."""

from typing import Any

import numpy as np

from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, finish, title
from tractable.sampling import Chains, ImportanceSample, PosteriorSample, autocorrelation

#: Draws of a chain that a trace shows at most.
MOST_DRAWS = 2000
#: Bins of ranks.
N_BINS = 20
#: Entries of a posterior that are compared in one picture at most.
MOST_ENTRIES = 30
SHOWS = ("trace", "ranks", "autocorrelation")


@picture.register
def _chains(x: Chains, ax: Any, *, show: str = "trace", variable: str | None = None, entry: Any = 0) -> Any:
    """Draw the trace of an entry of a variable, its ranks, or its autocorrelation, chain by chain."""
    if show not in SHOWS:
        raise ValueError(f"show must be one of {[*SHOWS]}, got {show!r}")
    name = next(iter(x.draws)) if variable is None else variable
    if name not in x.draws:
        raise ValueError(f"variable must be one of {[*x.draws]}, got {variable!r}")
    draws, label = _entry(x, name, entry)
    if show == "trace":
        step = max(1, draws.shape[1] // MOST_DRAWS)
        for c, one in enumerate(draws):
            at = np.arange(0, len(one), step)
            ax.plot(at, one[::step], lw=0.6, color=COLOURS[c % len(COLOURS)], label=f"chain {c}")
        ax.set(xlabel="draw", ylabel=label)
    elif show == "ranks":
        order = np.argsort(draws.ravel(), kind="stable")
        ranks = np.empty(draws.size)
        ranks[order] = np.arange(draws.size)
        edges = np.linspace(0, draws.size, N_BINS + 1)
        for c, one in enumerate(ranks.reshape(draws.shape)):
            counts = np.histogram(one, edges)[0]
            ax.stairs(counts, edges, color=COLOURS[c % len(COLOURS)], label=f"chain {c}")
        ax.axhline(draws.shape[1] / N_BINS, color="0.5", lw=0.8, ls="--", label="if all chains are alike")
        ax.set(xlabel=f"rank of {label} among all chains", ylabel="draws", ylim=(0, None))
    else:
        lags = min(draws.shape[1] - 1, 100)
        for c, one in enumerate(autocorrelation(draws)[:, : lags + 1]):
            ax.plot(np.arange(lags + 1), one, lw=1.0, color=COLOURS[c % len(COLOURS)], label=f"chain {c}")
        ax.axhline(0.0, color="0.6", lw=0.8)
        ax.set(xlabel="lag", ylabel=f"autocorrelation of {label}")
    found = x.diagnoses[name]
    index = np.ravel_multi_index(entry, np.shape(found.r_hat)) if isinstance(entry, tuple) else entry
    r_hat, ess = (float(np.ravel(part)[index]) for part in (found.r_hat, found.ess_bulk))
    title(ax, f"R-hat {r_hat:.3f}, effective sample size {ess:.0f}")
    return finish(ax, beside=True)


def _entry(x: Chains, name: str, entry: Any) -> tuple[np.ndarray, str]:
    """Return the draws (n_chains, n_draws) of one entry of a variable, and its name."""
    draws, names = x[name], x.entries(name)
    flat = draws.reshape(*draws.shape[:2], -1)
    index = np.ravel_multi_index(entry, draws.shape[2:]) if isinstance(entry, tuple) else entry
    if not (isinstance(index, (int, np.integer)) and 0 <= index < flat.shape[2]):
        raise ValueError(f"entry must be a number from 0 to {flat.shape[2] - 1}, or an index, got {entry!r}")
    return flat[:, :, index], names[index]


@picture.register
def _posterior(x: PosteriorSample, ax: Any, *, coverage: float = 0.9) -> Any:
    """Draw intervals of every parameter, sampled and approximated, in standard deviations about the mean."""
    from scipy.special import ndtri

    tail, height = 0.5 * (1.0 - coverage), 0
    names: list[str] = []
    wide = float(ndtri(1.0 - tail))
    for name, (mean, sd) in x.approximation.items():
        found, entries = x.chains.diagnoses[name], x.chains.entries(name)
        draws = x.chains.flat(name).reshape(x.chains.n_chains * x.chains.n_draws, -1)
        low, high = np.quantile(draws, (tail, 1.0 - tail), axis=0)
        for i, entry in enumerate(entries[: MOST_ENTRIES - height]):
            center, unit = np.ravel(found.mean)[i], np.ravel(found.sd)[i] or 1.0
            first = not names
            ax.plot(
                [(low[i] - center) / unit, (high[i] - center) / unit], [-height] * 2, lw=3, color=COLOURS[0],
                label=f"{coverage:.0%}, sampled" if first else None,
            )  # fmt: skip
            middle, spread = (np.ravel(mean)[i] - center) / unit, wide * np.ravel(sd)[i] / unit
            ax.errorbar(
                [middle], [-height - 0.3], xerr=[spread], fmt="o", ms=4, color=COLOURS[1],
                label=f"{coverage:.0%}, {x.kind}" if first else None,
            )  # fmt: skip
            names.append(entry)
            height += 1
    ax.axvline(0.0, color="0.8", lw=0.8, zorder=0)
    ax.set_yticks([-i - 0.15 for i in range(len(names))], names)
    ax.set(xlabel="sampled standard deviations from the sampled mean", ylabel="parameter")
    return finish(ax, beside=True)


@picture.register
def _weights(x: ImportanceSample, ax: Any) -> Any:
    """Draw the share of the total that the largest weights have."""
    shares = np.cumsum(np.sort(x.weights)[::-1])
    ax.plot(np.arange(1, len(shares) + 1) / len(shares), shares, color=COLOURS[0], label="weights")
    ax.plot([0, 1], [0, 1], color="0.6", lw=0.8, label="equal weights")
    ax.set(xlabel="share of the draws, the heaviest first", ylabel="share of the weight")
    title(ax, f"effective sample size {x.ess:.0f} of {len(shares)}, Pareto's k {x.pareto_k:.2f}")
    return finish(ax, xlim=(0, 1), ylim=(0, 1.02))
