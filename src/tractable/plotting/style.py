"""The style of all pictures: colours, legends, titles, and labels that show names as they are written."""

from collections.abc import Iterator, Sequence
from typing import Any

#: Okabe and Ito (2008), in the order in which series are drawn.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")

#: A legend with more entries than this is placed beside the axes.
MAX_INSIDE = 10

#: A legend has at most this many entries; the others are counted in a last line.
MAX_LEGEND = 24

#: A character of no width: matplotlib leaves out labels that are empty or begin with an underscore.
ZERO_WIDTH = "\u200b"


def axes_for(ax: Any) -> Any:
    """Return the given axes, or new ones in a figure of their own."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(6.0, 4.2), layout="constrained")[1]


def finish(
    ax: Any,
    *,
    boxed: bool = False,
    beside: bool = False,
    head: str = "",
    whole_numbers: bool = False,
    **labels: Any,
) -> Any:
    """Set labels and limits of the axes, hide two spines, add the :func:`legend`, and return the axes.

    With `whole_numbers`, the ticks of the horizontal axis are whole numbers.
    """
    ax.set(**labels)
    if whole_numbers:
        ax.xaxis.get_major_locator().set_params(integer=True)
    hide_spines(ax)
    legend(ax, boxed=boxed, beside=beside, head=head)
    return ax


def hide_spines(ax: Any) -> None:
    """Hide the upper and right spines."""
    ax.spines[["top", "right"]].set_visible(False)


def title(ax: Any, *parts: str) -> None:
    """Set a title of the parts that are not empty."""
    text = "; ".join(part for part in parts if part)
    if text:
        ax.set_title(text, fontsize="medium")


def which_columns(names: Sequence[str], dim: int) -> str:
    """Return which of `dim` columns are drawn; an empty text if all of them are.

    Examples
    --------
    >>> which_columns(["width", "height"], 3)
    'width and height, of 3 columns'
    """
    return f"{' and '.join(names)}, of {dim} columns" if dim > len(names) else ""


def legend(ax: Any, *, boxed: bool = False, beside: bool = False, head: str = "") -> None:
    """Add a legend with the title `head` if anything on the axes has a label.

    It is `boxed`, with a frame, in pictures whose marks could be taken for those of the legend, and placed
    `beside` the axes if so wanted or if it has more than `MAX_INSIDE` entries.
    """
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

    handles, names = ax.get_legend_handles_labels()
    if len(names) > MAX_LEGEND:
        more = f"and {len(names) - MAX_LEGEND} more"
        handles, names = [*handles[:MAX_LEGEND], Line2D([], [], ls="none")], [*names[:MAX_LEGEND], more]
    many = len(names) > MAX_INSIDE
    style: dict[str, Any] = {"title": head or None, "title_fontsize": "small"}
    if many or boxed:
        style["fontsize"] = "x-small" if len(names) > 16 else "small"
    if many or beside:
        style |= {"frameon": False, "loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    elif boxed:
        style |= {"framealpha": 0.9, "loc": "best"}
    else:  # legible where it covers marks
        style |= {"framealpha": 0.75, "edgecolor": "none", "loc": "best"}
    if handles:
        for handle in ax.legend(handles, names, **style).legend_handles:
            if isinstance(handle, PathCollection):  # opaque, though the marks themselves may be transparent
                handle.set_alpha(1.0)


def legend_label(name: Any) -> str:
    r"""Return a name as a label that legends show even if it is empty or begins with an underscore.

    Examples
    --------
    >>> legend_label("late"), legend_label("_late")
    ('late', '\u200b_late')
    """
    text = str(name)
    return ZERO_WIDTH + text if not text or text.startswith("_") else text


def show_literally(artist: Any) -> Any:
    """Turn off mathematical text for every name on axes or in a figure, and return what was given.

    A dollar sign in the name of a column is a dollar sign. Numbers along axes may still be set as
    mathematics, as powers of ten are.
    """
    for text in _names_on(artist):
        text.set_parse_math(False)
        text.set_text(text.get_text().removeprefix(ZERO_WIDTH))
    for drawn in [*getattr(artist, "collections", ()), *getattr(artist, "images", ())]:
        if drawn.colorbar is not None:  # which has axes of its own
            show_literally(drawn.colorbar.ax)
    return artist


def _names_on(artist: Any) -> Iterator[Any]:
    """Yield the texts on an artist but for numbers along axes, whose ticks are made when they are drawn."""
    from matplotlib.axis import Axis
    from matplotlib.text import Text
    from matplotlib.ticker import LogFormatter, ScalarFormatter

    if isinstance(artist, Text):
        yield artist
    elif isinstance(artist, Axis) and isinstance(
        artist.get_major_formatter(), (LogFormatter, ScalarFormatter)
    ):
        yield artist.label
    else:
        for child in artist.get_children():
            yield from _names_on(child)
