"""Names as they are: what columns and classes are called is never read as mathematics, and never left out."""

from typing import Any

__all__ = ["as_written", "legend_name"]

#: Of no width: matplotlib leaves a label out of legends that is empty or begins with an underscore.
SHOWN = "\u200b"


def legend_name(name: Any) -> str:
    r"""Return a name as a label that legends show, whatever it begins with; `as_written` shows it as it is.

    Examples
    --------
    >>> legend_name("late"), legend_name("_late")
    ('late', '\u200b_late')
    """
    text = str(name)
    return SHOWN + text if not text or text.startswith("_") else text


def as_written(artist: Any) -> Any:
    """Show every name on the axes, or in the figure, letter by letter, and return what was given.

    Dollars are dollars. Only numbers along axes may be set as mathematics: powers of ten are.
    """
    from matplotlib.axis import Axis
    from matplotlib.text import Text
    from matplotlib.ticker import LogFormatter, ScalarFormatter

    for text in artist.findobj(Text):
        text.set_parse_math(False)
        text.set_text(text.get_text().removeprefix(SHOWN))
    for axis in artist.findobj(Axis):
        if isinstance(axis.get_major_formatter(), (LogFormatter, ScalarFormatter)):
            for text in axis.findobj(Text):
                text.set_parse_math(text is not axis.label)
    for drawn in [*getattr(artist, "collections", ()), *getattr(artist, "images", ())]:
        if drawn.colorbar is not None:  # which has axes of its own
            as_written(drawn.colorbar.ax)
    return artist
