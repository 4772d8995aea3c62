"""Sections of a report, pictures from matplotlib figures, and the page: one HTML file."""

import base64
import hashlib
import io
import json
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import escape
from importlib.resources import files
from typing import Any

from tractable.plotting.style import show_literally
from tractable.value import value

#: Markers of groups of rows, beside their colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

#: Scatter plots of more points than `MAX_VECTOR` are stored as pixels; `MAX_POINTS` are drawn at most.
MAX_VECTOR, MAX_POINTS = 1_500, 4_000

#: The size of one picture; a larger drawing is stored as pixels.
MAX_BYTES = 300_000

#: Nothing is fetched, and no script is run and no style sheet used but the page's own, known by their hashes,
#: whatever text the data contains. Elements may have a style of their own: drawings need it.
POLICY = (
    "default-src 'none'; img-src data:; script-src '{script}'; style-src 'unsafe-inline'; "
    "style-src-elem '{style}'; style-src-attr 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)

#: Sections in the order in which their findings are summarised, and findings in the summary, at most.
SUMMARY, MAX_FINDINGS = ("models", "dependence", "clusters", "outliers", "overview", "map"), 5

#: Entries of more characters than this may be broken into lines.
LONG = 36


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{lead}{summary}{notes}{contents}</header>
<main>
{sections}
</main>
<footer>Made by tractable {version}.</footer>
<script type="application/json" id="page-data">{data}</script>
<script>{script}</script>
</body>
</html>
"""


#: Where the script builds the panel of a section; it takes the namespace of drawings from the one here.
PANEL = (
    '<div class="panel" data-panel><svg class="unseen"></svg>'
    "<noscript>The controls need JavaScript, which is off; all other sections do not.</noscript></div>"
)


@value
class Picture:
    """A picture on the page; its texts are plain, and the page escapes them.

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
    bars : tuple of str or of pairs of numbers
        What the bars with the gids ``bar-0``, ``bar-1``, … stand for: a category, or numbers from … to ….
    column : str
        The column that they are of.
    """

    svg: str
    alt: str
    caption: str = ""
    wide: bool = False
    width: float = 400.0
    bars: tuple[Any, ...] = ()
    column: str = ""


@value
class Grid:
    """A table of text: a title, the names of its columns, and rows of as many entries.

    With `first` the first entry of each row is the number of a "cluster", whose rows the page lists, or of a
    "row" of the table, which it takes to its panel.

    Examples
    --------
    >>> Grid(title="Means", head=("column", "mean"), rows=(("age", "41.3"),)).rows[0][1]
    '41.3'
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    note: str = ""
    first: str = ""


@value
class Section:
    """One section of a report; its texts are plain, and the page escapes them.

    Parameters
    ----------
    key : str
        A short word, for links and for `findings`.
    title : str
        The heading.
    done : str
        What was done, in a sentence.
    meaning : str
        The result, in a sentence or two, with its numbers.
    assumptions : str
        The assumptions behind it, in a sentence.
    code : str
        Python that computes it again; it begins with the table's own `code`.
    pictures : tuple of Picture
        Shown below the sentences.
    tables : tuple of Grid
        Shown below the pictures.
    notes : tuple of str
        What was left out, and why.
    findings : dict
        The main numbers, for programs: text, numbers, lists and dicts of these.
    headline : str
        The result in a sentence or two, for the summary of the page, empty if there is no finding; the first
        sentence of `meaning` when not given.
    data : dict
        What the script of the page reads for this section, as in JSON.
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
    headline: str | None = None
    data: Any = None

    @property
    def summary(self) -> tuple[str, ...]:
        """The headline, which may be empty, and the first sentences of each warning."""
        first, *rest = self.meaning.split("\n")
        warned = [" ".join(sentences(line)[:2]) for line in rest if line.startswith("Beware")]
        return (sentences(first)[0] if self.headline is None else self.headline, *warned)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text.

    Examples
    --------
    >>> sentences("It errs by 1.5. No more.")
    ['It errs by 1.5.', 'No more.']
    """
    return re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)


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
    figure: Any, alt: str, caption: str = "", *, wide: bool = False, pixels: bool = False, **bars: Any
) -> Picture:
    """Return a matplotlib figure as a picture: SVG, or PNG with `pixels` or if the SVG is too large.

    `bars` and `column` are those of `Picture`.
    """
    show_literally(figure)
    _write_plain_numbers(figure)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # names in any script; browsers have the glyphs
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        drawn = "" if pixels else _svg(figure)
        if pixels or len(drawn.encode()) > MAX_BYTES:
            drawn = _image(figure)
    width = 96.0 * float(figure.get_figwidth())
    return Picture(svg=drawn, alt=alt, caption=caption, wide=wide, width=width, **bars)


def _write_plain_numbers(figure: Any) -> None:
    """Label axes as readers write numbers: 40 and 100, not powers of ten, and 5M for five millions."""
    from matplotlib.ticker import LogFormatter, ScalarFormatter

    class PlainFormatter(LogFormatter):
        def __call__(self, x: float, pos: Any = None) -> str:
            return tick_text(x) if super().__call__(x, pos) else ""

    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        if axis.get_scale() == "log":
            axis.set_major_formatter(PlainFormatter())
            axis.set_minor_formatter(PlainFormatter(minor_thresholds=(1.5, 0.5)))
        elif type(axis.get_major_formatter()) is ScalarFormatter and _in_millions(axis):
            axis.set_major_formatter(lambda x, _: tick_text(x))


def _in_millions(axis: Any) -> bool:
    return 1e6 <= max(map(abs, axis.get_view_interval())) < 1e12


def _svg(figure: Any) -> str:
    """Return the figure as an ``<svg>`` element without prologue or fixed size, with unique ids."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    file = io.StringIO()
    if (layout := figure.get_layout_engine()) is not None:
        # Laid out once and here: `savefig` would draw the figure twice for it.
        FigureCanvasSVG(figure)
        layout.execute(figure)
        figure.set_layout_engine(None)
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = file.getvalue()
    text = text[text.index("<svg") :]
    # The page's style sheet has what the drawing's own says; its policy allows no other.
    for part in ("metadata", "style"):
        text = re.sub(rf"<{part}\b.*?</{part}>\s*", "", text, count=1, flags=re.DOTALL)
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


def capitalised(text: str) -> str:
    """Return a text as the beginning of a sentence.

    Examples
    --------
    >>> capitalised("gradient boosting of BMI")
    'Gradient boosting of BMI'
    """
    return f"{text[:1].upper()}{text[1:]}"


def number_text(x: float, digits: int = 4, *, commas: bool = True) -> str:
    """Return a number for readers: so many digits, no trailing zeros, and commas between thousands.

    Years are written without commas.

    Examples
    --------
    >>> number_text(12345.678), number_text(0.05), number_text(3.14159), number_text(-2.50), number_text(2e12)
    ('12,346', '0.05', '3.142', '-2.5', '2e+12')
    """
    x = float(x)
    if x == 0.0 or not math.isfinite(x):
        return f"{x:.0f}" if x == 0.0 else str(x)
    if not 1e-4 <= abs(x) < 1e9:
        return f"{x:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(x))))
    text = f"{x:,.{decimals}f}" if commas else f"{x:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def tick_text(x: float) -> str:
    """Return a number for an axis: three digits, millions and milliards as 5M and 5G.

    Examples
    --------
    >>> tick_text(40.0), tick_text(12_000.0), tick_text(2_500_000.0), tick_text(0.0)
    ('40', '12,000', '2.5M', '0')
    """
    power = next((k for k in (9, 6) if 10.0**k <= abs(x) < 10.0 ** (k + 3)), 0)
    return number_text(x / 10.0**power, 3) + {0: "", 6: "M", 9: "G"}[power]


def range_text(low: float, high: float, *, commas: bool = True) -> str:
    """Return a range with equally many decimals at both ends: three digits of its width.

    Examples
    --------
    >>> range_text(52.3312, 93.3), range_text(4.5421, 4.565), range_text(0.0213, 1234.5)
    ('52.3 to 93.3', '4.5421 to 4.5650', '0.0213 to 1,234')
    """
    width = high - low
    if not 1e-4 <= width < 1e9 or not max(abs(low), abs(high)) < 1e9 or 0.0 < 10.0 * low < high:
        return f"{number_text(low, commas=commas)} to {number_text(high, commas=commas)}"
    decimals = max(0, 2 - math.floor(math.log10(width)))
    return " to ".join(f"{end:z{',' if commas else ''}.{decimals}f}" for end in (low, high))


def number_and_error(x: float, error: float) -> tuple[str, str]:
    """Return a number and its standard error with equally many decimals: two digits of the error.

    Examples
    --------
    >>> number_and_error(1.8912, 0.1153), number_and_error(12345.6, 230.0), number_and_error(2.0, 0.0)
    (('1.89', '0.12'), ('12,346', '230'), ('2', '0'))
    """
    if not 1e-4 <= error < 1e9 or not abs(x) < 1e9:
        return number_text(x, 3), number_text(error, 2)
    decimals = max(0, 1 - math.floor(math.log10(error)))
    return f"{x:,.{decimals}f}", f"{error:,.{decimals}f}"


def percent_text(share: float) -> str:
    """Return a share in percent, for the ticks of an axis.

    Examples
    --------
    >>> percent_text(0.2), percent_text(0.075)
    ('20%', '7.5%')
    """
    return f"{100.0 * share:.4g}%"


def summary_of(sections: Sequence[Section]) -> tuple[str, ...]:
    """Return the main findings of a report, at most five, those about a target first."""
    order = {key: i for i, key in enumerate(SUMMARY)}
    ranked = sorted(sections, key=lambda section: order.get(section.key, len(order)))
    headlines = [section.summary[0] for section in ranked if section.summary[0]]
    warned: dict[str, str] = {}  # one that two sections give, as of time, is given once
    for section in ranked:
        for text in section.summary[1:]:
            warned.setdefault(text.partition(".")[0], text)
    # Warnings come after the finding that they are about, and before the rest.
    return tuple([*headlines[:1], *warned.values(), *headlines[1:]][:MAX_FINDINGS])


def page(
    title: str, sections: Sequence[Section], notes: Sequence[str] = (), *, lead: str = "", rows: Any = None
) -> str:
    """Return a report as one HTML file; every text is escaped.

    Parameters
    ----------
    title : str
        The title and the first heading.
    sections : sequence of Section
        The sections, in order.
    notes : sequence of str
        Notes on the whole, above the contents.
    lead : str
        A line below the title.
    rows : dict
        Rows of the table, as the script of the page reads them.

    Examples
    --------
    >>> words = {"done": "Nothing.", "meaning": "1 < 2", "assumptions": "None.", "code": "1 < 2"}
    >>> text = page("On <i>", [Section(key="a", title="A", **words)])
    >>> "On &lt;i&gt;" in text, "<p>1 &lt; 2</p>" in text, text.count("<script")
    (True, True, 2)
    """
    from tractable import __version__

    style, *scripts = (
        (files("tractable.report") / name).read_text(encoding="utf-8")
        for name in ("page.css", "mixture.js", "page.js")
    )
    script = "".join(scripts)
    data: dict[str, Any] = {} if rows is None else {"rows": rows}
    for section in sections:
        data.update(section.data or {})

    items = "".join(f'<li><a href="#{escape(s.key)}">{escape(s.title)}</a></li>' for s in sections)
    return PAGE.format(
        title=escape(title),
        policy=escape(POLICY.format(script=_hash(script), style=_hash(style))),
        style=style,
        script=script,
        data=json_text(data),
        lead=f'<p class="lead">{escape(lead)}</p>\n' if lead else "",
        summary=_summary(sections),
        notes=_notes(notes),
        contents=f'<nav aria-label="Contents"><ol>{items}</ol></nav>\n' if items else "",
        sections="\n".join(_section(section) for section in sections),
        version=escape(__version__),
    )


def _hash(text: str) -> str:
    """Return the hash of a script or style sheet, as a content security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def json_text(data: Any) -> str:
    """Return data as JSON that may stand in a ``script`` element: no character of it begins or ends markup.

    Examples
    --------
    >>> "<" in json_text({"k": "</script>"}), json.loads(json_text({"k": "</script>"}))
    (False, {'k': '</script>'})
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _section(section: Section) -> str:
    lines = [line for line in section.meaning.split("\n") if line.strip()]
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in lines)
    drawn = "\n".join(_figure(picture) for picture in section.pictures)
    # Cards are in columns as wide as the widest of them.
    columns = max((picture.width for picture in section.pictures if not picture.wide), default=0.0)
    parts = (
        f'<section id="{escape(section.key)}">',
        f"<h2>{escape(section.title)}</h2>",
        f'<div class="meaning">{paragraphs}</div>',
        PANEL if section.data else "",
        f'<div class="pictures" style="--width: {columns:.0f}px">\n{drawn}\n</div>' if drawn else "",
        *(_grid(grid) for grid in section.tables),
        _notes(section.notes),
        "<details><summary>Method, assumptions and code</summary>",
        '<dl class="how">',
        f"<dt>What was done</dt><dd>{escape(section.done)}</dd>",
        f"<dt>What it assumes</dt><dd>{escape(section.assumptions)}</dd>",
        "</dl>",
        _code(section.code),
        "</details>",
        "</section>",
    )
    return "\n".join(part for part in parts if part)


def _figure(picture: Picture) -> str:
    """Return a picture at about the size it was drawn at, so that its letters can be read."""
    caption = f"<figcaption>{escape(picture.caption)}</figcaption>" if picture.caption else ""
    kind = "wide" if picture.wide else "plain"
    size = f"--width: {picture.width:.0f}px"
    drawing = f'<div class="drawing" role="img" aria-label="{escape(picture.alt)}">{picture.svg}</div>'
    bars = json_text({"column": picture.column, "bars": picture.bars}) if picture.bars else ""
    data = f' data-bars="{escape(bars)}"' if bars else ""
    return f'<figure class="{kind}" style="{size}"{data}>{drawing}{caption}</figure>'


def _grid(grid: Grid) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in grid.head)
    body = "\n".join(
        "<tr>" + "".join(f"<td{_class(entry)}>{escape(entry)}</td>" for entry in row) + "</tr>"
        for row in grid.rows
    )
    title = f"<caption>{escape(grid.title)}</caption>" if grid.title else ""
    note = f'<p class="small">{escape(grid.note)}</p>' if grid.note else ""
    kind = f' data-first="{escape(grid.first)}"' if grid.first else ""
    table = f"<table{kind}>{title}<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>{note}'


def _class(entry: str) -> str:
    """Return the CSS class of an entry: ``n`` for numbers, ``long`` for long texts."""
    if len(entry) > LONG:
        return ' class="long"'
    return ' class="n"' if entry[:1].isdigit() or (entry[:1] in "-−+<>≈" and len(entry) > 1) else ""


def _notes(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<ul class="notes">{items}</ul>\n' if items else ""


def _summary(sections: Sequence[Section]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in summary_of(sections))
    return f'<h2>In short</h2>\n<ul class="summary">{items}</ul>\n' if items else ""


def _code(code: str) -> str:
    text = escape(code.strip("\n"))
    return f"<pre><code>{text}</code></pre>" if text else ""
