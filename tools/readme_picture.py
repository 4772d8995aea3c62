"""Draw the README's picture: a Gaussian mixture fitted to a table with missing entries, and a conditional.

python tools/readme_picture.py writes docs/_static/old_faithful.png.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import tractable

HERE = Path(__file__).parent.parent / "docs" / "_static" / "old_faithful.png"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#6b7280"
SEEN = 2.85  # minutes: the eruption after which somebody waits


def main():
    """Fit the mixture to the incomplete table and draw it, its band and one conditional density."""
    geyser = tractable.datasets.load("old_faithful").frame
    incomplete = geyser.mask(np.random.default_rng(0).random(geyser.shape) < 0.2)
    model = tractable.GaussianMixture(2, random_state=0).fit(incomplete)
    plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})
    fig, (ax, side) = plt.subplots(
        1, 2, figsize=(9.6, 4.4), layout="constrained", sharey=True, width_ratios=[2.4, 1]
    )
    draw_band(ax, model)
    draw_rows(ax, incomplete)
    draw_answer(side, model.condition({"eruptions": SEEN}))
    ax.axvline(SEEN, color=ORANGE, lw=1.4)
    ax.annotate(f"{SEEN:g} minutes seen", (SEEN, 98), (6, 0), "data", "offset points", color=ORANGE)
    ax.text(5.35, 41.5, "ticks: the other entry is missing", color=ORANGE, ha="right", fontsize=10)
    n_missing = int(incomplete.isna().to_numpy().sum())
    ax.set_title(f"272 eruptions of Old Faithful, {n_missing} entries missing", loc="left", fontsize=12)
    ax.set(xlabel="eruption (minutes)", ylabel="wait for the next (minutes)", xlim=(1.3, 5.4), ylim=(38, 104))
    fig.savefig(HERE, dpi=150)


def draw_band(ax, model):
    """Draw the predictive distribution of the wait after every length of eruption."""
    x = np.linspace(1.3, 5.4, 300)
    wait = model.condition(["eruptions"], x[:, None])
    for coverage, shade in ((0.9, 0.14), (0.5, 0.22)):
        low, high = (np.ravel(end) for end in wait.interval(coverage))
        ax.fill_between(x, low, high, color=BLUE, alpha=shade, lw=0, label=f"{coverage:.0%} of waits")
    ax.plot(x, np.ravel(wait.mean), color=BLUE, lw=2, label="expected wait")


def draw_rows(ax, incomplete):
    """Draw complete rows as points, and rows with a hole as ticks on the axis of what is known."""
    whole = incomplete.dropna()
    ax.plot(whole["eruptions"], whole["waiting"], "o", ms=3.6, color="#1f2937", alpha=0.65, mew=0)
    for name, other, axis in (("eruptions", "waiting", "x"), ("waiting", "eruptions", "y")):
        known = incomplete[name][incomplete[other].isna()].dropna()
        ends = {"x": (known, np.full(len(known), 0.0)), "y": (np.full(len(known), 0.0), known)}[axis]
        transform = ax.get_xaxis_transform() if axis == "x" else ax.get_yaxis_transform()
        marker = 2 if axis == "x" else 1  # ticks that point into the picture
        ax.plot(*ends, ls="", marker=marker, ms=9, mew=1.1, color=ORANGE, alpha=0.6, transform=transform)
    ax.legend(frameon=False, loc="upper left", fontsize=10)


def draw_answer(ax, wait):
    """Draw the density of the wait after the eruption that was seen, sideways."""
    y = np.linspace(38, 104, 500)
    density = wait.prob(y[:, None])
    low, high = (float(np.ravel(end)[0]) for end in wait.interval(0.9))
    inside = (y >= low) & (y <= high)
    ax.fill_betweenx(y[inside], 0, density[inside], color=ORANGE, alpha=0.25, lw=0)
    ax.plot(density, y, color=ORANGE, lw=2)
    for end in (low, high):
        ax.axhline(end, color=ORANGE, lw=0.8, ls=":")
        ax.text(density.max() * 1.02, end, f"{end:.0f} min", color=ORANGE, ha="right", va="bottom")
    ax.set_title(f"p(wait | {SEEN:g} minutes)", loc="left", fontsize=12)
    ax.set(xlim=(0, None), xlabel="density")
    ax.set_xticks([])
    ax.tick_params(left=False)


if __name__ == "__main__":
    main()
