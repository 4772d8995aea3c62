"""The page of a report: one HTML file with styles and pictures inside, without scripts or network."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from tractable.report.section import Grid, Picture, Section

__all__ = ["page"]

#: Nothing is fetched and no script is run, whatever text the data contains.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"

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
<style>
{style}</style>
</head>
<body>
<header>
<h1>{title}</h1>
{lead}{notes}{contents}</header>
<main>
{sections}
</main>
<footer>Made by tractable {version}.</footer>
</body>
</html>
"""


def page(title: str, sections: Sequence[Section], notes: Sequence[str] = (), *, lead: str = "") -> str:
    """Return a report as one HTML file; every text is escaped.

    Examples
    --------
    >>> words = {"done": "Nothing.", "meaning": "1 < 2", "assumptions": "None.", "code": "1 < 2"}
    >>> text = page("On <i>", [Section(key="a", title="A", **words)])
    >>> "On &lt;i&gt;" in text, "<p>1 &lt; 2</p>" in text, "<script" in text
    (True, True, False)
    """
    from tractable import __version__

    return PAGE.format(
        title=escape(title),
        policy=escape(POLICY),
        style=(files("tractable.report") / "page.css").read_text(encoding="utf-8"),
        lead=f'<p class="lead">{escape(lead)}</p>\n' if lead else "",
        notes=_notes(notes),
        contents=_contents(sections),
        sections="\n".join(_section(section) for section in sections),
        version=escape(__version__),
    )


def _contents(sections: Sequence[Section]) -> str:
    items = "".join(f'<li><a href="#{escape(s.key)}">{escape(s.title)}</a></li>' for s in sections)
    return f'<nav aria-label="Contents"><ol>{items}</ol></nav>\n' if items else ""


def _section(section: Section) -> str:
    parts = (
        f'<section id="{escape(section.key)}">',
        f"<h2>{escape(section.title)}</h2>",
        f'<div class="meaning">{_paragraphs(section.meaning)}</div>',
        _pictures(section.pictures),
        *(_grid(grid) for grid in section.tables),
        _notes(section.notes),
        '<dl class="how">',
        f"<dt>What was done</dt><dd>{escape(section.done)}</dd>",
        f"<dt>What it assumes</dt><dd>{escape(section.assumptions)}</dd>",
        "</dl>",
        _code(section.code),
        "</section>",
    )
    return "\n".join(part for part in parts if part)


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(part)}</p>" for part in text.split("\n") if part.strip())


def _pictures(pictures: Iterable[Picture]) -> str:
    drawn = "\n".join(_figure(picture) for picture in pictures)
    return f'<div class="pictures">\n{drawn}\n</div>' if drawn else ""


def _figure(picture: Picture) -> str:
    """Return a picture at about the size it was drawn at, so that its letters can be read."""
    caption = f"<figcaption>{escape(picture.caption)}</figcaption>" if picture.caption else ""
    kind = "wide" if picture.wide else "plain"
    size = f"--width: {picture.width:.0f}px"
    drawing = f'<div class="drawing" role="img" aria-label="{escape(picture.alt)}">{picture.svg}</div>'
    return f'<figure class="{kind}" style="{size}">{drawing}{caption}</figure>'


def _grid(grid: Grid) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in grid.head)
    body = "\n".join(
        "<tr>" + "".join(f"<td{_class(entry)}>{escape(entry)}</td>" for entry in row) + "</tr>"
        for row in grid.rows
    )
    title = f"<caption>{escape(grid.title)}</caption>" if grid.title else ""
    note = f'<p class="small">{escape(grid.note)}</p>' if grid.note else ""
    table = f"<table>{title}<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>{note}'


def _class(entry: str) -> str:
    """Return the CSS class of an entry: ``n`` for numbers, ``long`` for long texts."""
    if len(entry) > LONG:
        return ' class="long"'
    return ' class="n"' if entry[:1].isdigit() or (entry[:1] in "-−+<>≈" and len(entry) > 1) else ""


def _notes(notes: Sequence[str]) -> str:
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<ul class="notes">{items}</ul>\n' if items else ""


def _code(code: str) -> str:
    text = escape(code.strip("\n"))
    return f"<details><summary>The code</summary><pre><code>{text}</code></pre></details>" if text else ""
