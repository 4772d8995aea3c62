"""A page without fault, and the same with one fault each: what the check of the report must refuse."""

DRAWING = """<svg width="300" height="200" viewBox="0 0 300 200">
<path d="M0 200 L300 0" stroke="black"/><path d="M0 0 L300 200" stroke="red"/>
<path d="M9 9 L9 99" stroke="blue"/>
<text x="20" y="30" font-size="12">a line</text></svg>"""

GOOD = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Without fault</title></head>
<body><nav><a href="#one">One</a></nav>
<section id="one"><h2>One</h2>
<figure style="margin: 0"><div class="drawing">{DRAWING}</div></figure></section>
</body></html>
"""


def _added(markup: str) -> str:
    return GOOD.replace("</section>", f"{markup}</section>")


def _changed(old: str, new: str) -> str:
    if old not in GOOD:
        raise ValueError(f"{old!r} is not on the page")
    return GOOD.replace(old, new)


def broken_pages() -> dict[str, tuple[str, str]]:
    """Return pages by their fault, each with what has to be said of it."""
    return {
        "an error on the console": (_added("<script>console.error('oh')</script>"), "on the console: oh"),
        "an exception": (_added("<script>throw new Error('oh')</script>"), "an error: Error: oh"),
        "a script that cannot be read": (_added("<script>let = = 3</script>"), "an error: SyntaxError"),
        "a picture from elsewhere": (
            _added('<img src="http://example.com/a.png">'),
            "fetched: http://example",
        ),
        "a style sheet from elsewhere": (
            _added('<link rel="stylesheet" href="https://example.com/a.css">'),
            "fetched: https://example",
        ),
        "something fetched late": (
            _added("<script>setTimeout(() => fetch('http://example.com/late').catch(() => 0), 200)</script>"),
            "fetched: http://example.com/late",
        ),
        "a file beside the page": (_added('<img src="beside.png">'), "fetched: file:"),
        "a figure without size": (
            _changed('width="300" height="200"', 'width="0" height="0"'),
            "not to be seen",
        ),
        "a figure that is hidden": (
            _changed("<svg ", '<svg style="visibility: hidden" '),
            "figure 1 is blank",
        ),
        "a figure behind a sheet": (
            _added('<div style="position: absolute; inset: 0; background: white"></div>'),
            "figure 1 is blank",
        ),
        "a figure without a drawing": (_added("<figure>here it was</figure>"), "2 figures, 1 drawings"),
        "no figure": (_changed(DRAWING, ""), "0 drawings"),
        "too wide for a phone": (
            _added('<div style="width: 800px">wide</div>'),
            "at 375 pixels: the page is",
        ),
        "no word about the viewport": (
            _changed("width=device-width", "width=980"),
            "at 375 pixels: the page is",
        ),
        "letters too small": (_changed('font-size="12"', 'font-size="4"'), "letters of 4.0 pixels"),
        "a link to nowhere": (_changed('href="#one"', 'href="#two"'), "1 of them broken"),
        "a section that is missing": (
            _changed('<section id="one">', '<section id="two">').replace("#one", "#two"),
            "sections are missing: one",
        ),
        "more than five megabytes": (_added(f"<!-- {'x' * 5_000_000} -->"), "more than 5,000,000"),
    }
