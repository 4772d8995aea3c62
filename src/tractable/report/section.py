"""Sections of a report: texts, tables, the code that repeats them, and pictures from matplotlib figures."""

import base64
import hashlib
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tractable.plotting.style import show_literally
from tractable.value import value

__all__ = ["MAX_BYTES", "Grid", "Picture", "Section", "canvas", "picture_of", "shortened"]

#: The size of one picture; a larger drawing is stored as pixels.
MAX_BYTES = 300_000


@value
class Picture:
    """A picture on the page.

    Parameters
    ----------
    svg : str
        An ``<svg>`` element, or an ``<img>`` with the pixels as a data URL.
    alt : str
        What it shows, for readers who cannot see it.
    caption : str
        The text below it.
    wide : bool
        Whether it takes the whole width of the page.
    width : float
        The width of the figure, in pixels of 1/96 inch.

    Both texts are plain: the page escapes them.
    """

    svg: str
    alt: str
    caption: str = ""
    wide: bool = False
    width: float = 400.0


@value
class Grid:
    """A table of text: a title, the names of its columns, and rows of as many entries.

    Examples
    --------
    >>> Grid(title="Means", head=("column", "mean"), rows=(("age", "41.3"),)).rows[0][1]
    '41.3'
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    note: str = ""


@value
class Section:
    """One section of a report; its texts are plain, and the page escapes them.

    Parameters
    ----------
    key : str
        A short word, for links and for `findings`.
    title : str
    done : str
        What was done, in a sentence.
    meaning : str
        The result, in a sentence or two, with its numbers.
    assumptions : str
        The assumptions behind it, in a sentence.
    code : str
        Python that computes it again; it begins with the table's own `code`.
    pictures : tuple of Picture
    tables : tuple of Grid
    notes : tuple of str
        What was left out, and why.
    findings : dict
        The main numbers, for programs: text, numbers, lists and dicts of these.
    """

    key: str
    title: str
    done: str
    meaning: str
    assumptions: str
    code: str
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()
    findings: Any = None


@contextmanager
def canvas(
    rows: int = 1, columns: int = 1, *, width: float = 5.2, height: float = 3.4, **options: Any
) -> Iterator[Any]:
    """Yield a figure and its axes in the style of the report, for `picture_of`.

    `width` and `height` are inches of the whole figure. Pyplot is not used, so no window is opened and no
    figure stays open.

    Examples
    --------
    >>> with canvas() as (figure, ax):
    ...     _ = ax.plot([0, 1], [1, 0])
    ...     drawn = picture_of(figure, alt="a falling line")
    >>> drawn.svg[:4], drawn.alt
    ('<svg', 'a falling line')
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    style = {
        "font.size": 9.0,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "svg.fonttype": "none",
        "svg.hashsalt": "tractable",  # the same report has the same bytes
        "font.family": "sans-serif",
    }
    with rc_context(style):
        figure = Figure(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(rows, columns, **options)


def picture_of(
    figure: Any, alt: str, caption: str = "", *, wide: bool = False, pixels: bool = False
) -> Picture:
    """Return a matplotlib figure as a picture: SVG, or PNG with `pixels` or if the SVG is too large."""
    show_literally(figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # names in any script; browsers have the glyphs
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        drawn = "" if pixels else _svg(figure)
        if pixels or len(drawn.encode()) > MAX_BYTES:
            drawn = _image(figure)
    width = 96.0 * float(figure.get_figwidth())
    return Picture(svg=drawn, alt=alt, caption=caption, wide=wide, width=width)


def _svg(figure: Any) -> str:
    """Return the figure as an ``<svg>`` element without prologue or fixed size, with unique ids."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, count=1, flags=re.DOTALL)
    head, _, rest = text.partition(">")
    head = re.sub(r'\s(?:width|height|version|xmlns(?::xlink)?)="[^"]*"', "", head)
    return _unique_ids(f"{head}>{rest}").strip()


def _unique_ids(svg: str) -> str:
    """Prefix the ids of a drawing with a hash of it, because many drawings share a page."""
    tag = hashlib.sha256(svg.encode()).hexdigest()[:8]
    svg = re.sub(r'\bid="', f'id="{tag}-', svg)
    svg = re.sub(r'href="#', f'href="#{tag}-', svg)
    return svg.replace("url(#", f"url(#{tag}-")


def _image(figure: Any) -> str:
    """Return the figure as pixels, at the highest resolution within `MAX_BYTES`."""
    for dpi in (160, 110, 80, 60, 40):
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=dpi)
        if len(file.getvalue()) * 4 / 3 < MAX_BYTES:
            break
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<img src="data:image/png;base64,{data}" alt="">'


def shortened(text: str, most: int = 22) -> str:
    """Return text in one line, cut to at most so many characters.

    Examples
    --------
    >>> shortened("bill_length_mm", 8)
    'bill_le…'
    """
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
