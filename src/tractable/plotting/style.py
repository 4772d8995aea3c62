"""One style for every picture: colours that everybody can tell apart, and few lines."""

from collections.abc import Sequence
from typing import Any

__all__ = [
    "COLOURS",
    "MOST_INSIDE",
    "as_written",
    "axes_for",
    "legend",
    "legend_name",
    "quiet",
    "title",
    "which_columns",
]

#: Okabe and Ito (2008), in the order in which series are drawn.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")

#: A legend of more names than this would cover the picture: it goes beside it.
MOST_INSIDE = 10

#: More names than this find no room beside it either: the others are counted.
MOST_NAMED = 24


def axes_for(ax: Any) -> Any:
    """Return the axes to draw on: the given ones, or new ones in a figure of their own."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(6.0, 4.2), layout="constrained")[1]


def quiet(ax: Any) -> None:
    """Take away the lines that carry nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def title(ax: Any, *parts: str) -> None:
    """Say above the picture what it shows: of several parts, those that say something."""
    told = "; ".join(part for part in parts if part)
    if told:
        ax.set_title(told, fontsize="medium")


def which_columns(names: Sequence[str], dim: int) -> str:
    """Say which columns are drawn where there are more; nothing where all of them are.

    Examples
    --------
    >>> which_columns(["width", "height"], 3)
    'width and height, of 3 columns'
    """
    return f"{' and '.join(names)}, of {dim} columns" if dim > len(names) else ""


def legend(ax: Any, *, boxed: bool = False, beside: bool = False, head: str = "") -> None:
    """Show what the colours mean, where anything is labelled.

    Parameters
    ----------
    ax : matplotlib Axes
    boxed : bool
        Within a line of its own, where its marks could be taken for rows.
    beside : bool
        Outside the picture, where there is no room within; many names always are.
    head : str
        Above the names.
    """
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

    handles, names = ax.get_legend_handles_labels()
    if len(names) > MOST_NAMED:
        more = f"and {len(names) - MOST_NAMED} more"
        handles, names = [*handles[:MOST_NAMED], Line2D([], [], ls="none")], [*names[:MOST_NAMED], more]
    many = len(names) > MOST_INSIDE
    style: dict[str, Any] = {"title": head or None, "title_fontsize": "small"}
    if many or boxed:
        style["fontsize"] = "x-small" if len(names) > 16 else "small"
    if many or beside:
        style |= {"frameon": False, "loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    elif boxed:
        style |= {"framealpha": 0.9, "loc": "best"}
    else:  # where it lies over marks, it can be read all the same
        style |= {"framealpha": 0.75, "edgecolor": "none", "loc": "best"}
    if handles:
        for handle in ax.legend(handles, names, **style).legend_handles:
            if isinstance(handle, PathCollection):  # a mark by itself is not pale
                handle.set_alpha(1.0)


#: Of no width: matplotlib leaves a label out of legends that is empty or begins with an underscore.
ZERO_WIDTH = "\u200b"


def legend_name(name: Any) -> str:
    r"""Return a name as a label that legends show, whatever it begins with; `as_written` shows it as it is.

    Examples
    --------
    >>> legend_name("late"), legend_name("_late")
    ('late', '\u200b_late')
    """
    text = str(name)
    return ZERO_WIDTH + text if not text or text.startswith("_") else text


def as_written(artist: Any) -> Any:
    """Show every name on the axes, or in the figure, letter by letter, and return what was given.

    Dollars are dollars. Only numbers along axes may be set as mathematics: powers of ten are.
    """
    from matplotlib.axis import Axis
    from matplotlib.text import Text
    from matplotlib.ticker import LogFormatter, ScalarFormatter

    for text in artist.findobj(Text):
        text.set_parse_math(False)
        text.set_text(text.get_text().removeprefix(ZERO_WIDTH))
    for axis in artist.findobj(Axis):
        if isinstance(axis.get_major_formatter(), (LogFormatter, ScalarFormatter)):
            for text in axis.findobj(Text):
                text.set_parse_math(text is not axis.label)
    for drawn in [*getattr(artist, "collections", ()), *getattr(artist, "images", ())]:
        if drawn.colorbar is not None:  # which has axes of its own
            as_written(drawn.colorbar.ax)
    return artist
