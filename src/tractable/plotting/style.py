"""One style for every picture: colours that everybody can tell apart, and few lines."""

from typing import Any

__all__ = ["COLOURS", "axes_for", "legend", "quiet"]

#: Okabe and Ito (2008), in the order in which series are drawn.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")


def axes_for(ax: Any) -> Any:
    """Return the axes to draw on: the given ones, or new ones in a figure of their own."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(6.0, 4.2), layout="constrained")[1]


def quiet(ax: Any) -> None:
    """Take away the lines that carry nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def legend(ax: Any) -> None:
    """Show what the colours mean, where anything is labelled."""
    if ax.get_legend_handles_labels()[0]:
        # Where it lies over marks, it can be read all the same.
        ax.legend(framealpha=0.75, edgecolor="none", loc="best")
