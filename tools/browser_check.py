"""Open a report in headless Chromium and see that it is as it should be.

    python -m tools.browser_check [report.html]

Without a file the report on the bundled table is made first, and has to have all its sections. Nothing may be
fetched, nothing may be said on the console, every figure must be seen and its letters be legible, and nothing
may stick out at the width of a desk or of a phone. Then the panel is asked on several tables, see
`what_if_check`, and the page is used by keyboard, see `page_manners`. Pages with one fault each are looked
at first: a check that does not find their faults is worth nothing.
"""

import base64
import io
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tools import page_manners, what_if_check
from tools.broken_pages import GOOD, broken_pages
from tools.browser import Browser, BrowserError, Page, running

WIDTHS = (1200, 768, 375, 360)
PAINTED_AT = (1200, 375)  # widths at which pixels are looked at
MOST_BYTES = 5_000_000
SECTIONS = ("overview", "dependence", "clusters", "map", "outliers", "models", "what_if")

#: Asked of the page at each width.
QUESTIONS = """(async () => {
  const width = WIDTH;
  await new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 50));
  const box = e => e.getBoundingClientRect();
  const figures = [...document.querySelectorAll(".drawing > *")];
  const seen = e => box(e).width > 100 && box(e).height > 50 && (e.tagName !== "IMG" || e.naturalWidth > 0)
    && (e.tagName !== "svg" || e.querySelectorAll("path, use, text").length > 3);
  const letters = figures.flatMap(f => [...f.querySelectorAll("text")])
    .map(t => [t.getScreenCTM(), parseFloat(getComputedStyle(t).fontSize)])
    .map(([m, size]) => Math.hypot(m.a, m.b) * size).filter(s => s > 0);  // turned letters are as large
  const out = [...document.querySelectorAll("body *")]
    .filter(e => !e.closest(".scroll, .drawing, pre") && box(e).right > width + 1);
  const links = [...document.querySelectorAll("nav a")];
  return {
    width: width,
    page: document.documentElement.scrollWidth,
    sections: [...document.querySelectorAll("section")].filter(s => box(s).height > 0).map(s => s.id),
    links: links.length,
    broken: links.filter(a => !document.querySelector(a.getAttribute("href"))).length,
    figures: figures.length,
    drawings: document.querySelectorAll("figure").length,
    unseen: figures.filter(f => !seen(f)).length,
    boxes: figures.map(f => [box(f).x + scrollX, box(f).y + scrollY, box(f).width, box(f).height]),
    smallest: letters.length ? Math.min(...letters) : null,
    out: out.slice(0, 3).map(e => e.tagName + "." + e.className),
  };
})()"""

#: What comes late comes within this time.
SETTLED = "new Promise(done => setTimeout(done, 500))"


def problems(browser: Browser, path: Path, sections: Sequence[str] = ()) -> list[str]:
    """Return what is wrong with a page, a sentence each."""
    size = path.stat().st_size
    found = [f"{size:,} bytes, more than {MOST_BYTES:,}"] if size > MOST_BYTES else []
    page = Page(browser)
    page.open(path)
    for width in WIDTHS:
        page.resize(width)
        answer = page.evaluate(QUESTIONS.replace("WIDTH", str(width)))
        found += [f"at {width} pixels: {what}" for what in _wrong(answer, sections)]
        if width in PAINTED_AT:
            found += [f"at {width} pixels: {what}" for what in _unpainted(page, answer["boxes"])]
    page.evaluate(SETTLED)
    found += [what for event in page.events if (what := _said(event, path))]
    page.close()
    return list(dict.fromkeys(found))


def _wrong(answer: dict[str, Any], sections: Sequence[str]) -> Iterator[str]:
    if answer["page"] > answer["width"] or answer["out"]:
        yield f"the page is {answer['page']} wide; sticking out: {answer['out']}"
    if not answer["figures"] or answer["unseen"] or answer["figures"] != answer["drawings"]:
        yield (
            f"{answer['drawings']} figures, {answer['figures']} drawings, {answer['unseen']} not to be seen"
        )
    if missing := [key for key in sections if key not in answer["sections"]]:
        yield f"sections are missing: {', '.join(missing)}"
    there = len(answer["sections"])
    if not there or answer["links"] != there or answer["broken"]:
        yield f"{answer['links']} links to {there} sections, {answer['broken']} of them broken"
    if answer["smallest"] is not None and answer["smallest"] < 6:
        yield f"letters of {answer['smallest']:.1f} pixels in a figure"


def _unpainted(page: Page, boxes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Photograph every figure: one of a single colour was not painted."""
    for number, (x, y, width, height) in enumerate(boxes, 1):
        if width >= 1 and height >= 1:
            clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
            photo = page.ask("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
            if _other_pixels(base64.b64decode(photo["data"])) < 0.002:
                yield f"figure {number} is blank"


def _other_pixels(png: bytes) -> float:
    """Return the share of pixels that have not the most common colour."""
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("L")
    counts = image.histogram()
    return 1.0 - max(counts) / sum(counts)


def _said(event: dict[str, Any], path: Path) -> str | None:
    """Return what an event means: a word on the console, or something fetched."""
    method, params = event.get("method"), event.get("params", {})
    if method == "Network.requestWillBeSent":
        url = params["request"]["url"]
        return None if url.startswith("data:") or url == path.resolve().as_uri() else f"fetched: {url[:200]}"
    if method == "Network.webSocketCreated":
        return f"fetched: {params['url'][:200]}"
    if method == "Runtime.exceptionThrown":
        details = params["exceptionDetails"]
        return f"an error: {details.get('exception', {}).get('description', details['text'])[:200]}"
    if method == "Runtime.consoleAPICalled":
        words = [str(arg.get("value", arg.get("description"))) for arg in params["args"]]
        return f"said on the console: {' '.join(words)[:200]}"
    return f"logged: {params['entry']['text'][:200]}" if method == "Log.entryAdded" else None


def blind_spots(browser: Browser, folder: Path) -> list[str]:
    """Look at a page without fault and at pages with one each, and return what was seen wrongly."""
    path = folder / "page.html"
    path.write_text(GOOD, encoding="utf-8")
    blind = [f"a page without fault is refused: {what}" for what in problems(browser, path, ("one",))]
    for fault, (text, sign) in broken_pages().items():
        path.write_text(text, encoding="utf-8")
        found = problems(browser, path, ("one",))
        if not any(sign in what for what in found):
            blind.append(f"not found: {fault} (found: {found or 'nothing'})")
    return blind


def main() -> int:
    """Return 0 where all is well, 1 where a page is not, 2 where the browser or the check is not."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            with running() as browser:
                if blind := blind_spots(browser, Path(folder)):
                    return _say("the check itself is blind", blind, 2)
                if blind := list(what_if_check.blind_spots(browser, Path(folder))):
                    return _say("the check of the panel is blind", blind, 2)
                print(f"{len(broken_pages())} pages with a fault each: all refused")
                path, sections = _report(Path(folder))
                found = problems(browser, path, sections)
                if sections:
                    found += what_if_check.problems(browser, Path(folder))
                    found += page_manners.problems(browser, Path(folder))
        except BrowserError as error:
            return _say("the browser cannot be asked", [str(error)], 2)
        if found:
            return _say(path.name, found, 1)
        print(f"{path.name}: {path.stat().st_size:,} bytes, seen at {', '.join(map(str, WIDTHS))} pixels")
        if sections:
            print("panel: asked on several tables, answers as in Python to 1e-9; used by keyboard")
    return 0


def _report(folder: Path) -> tuple[Path, Sequence[str]]:
    """Return the page to look at, and the sections it must have."""
    if len(sys.argv) > 1:
        return Path(sys.argv[1]), ()
    from tractable.report import make_report

    return Path(make_report(target="species", path=folder / "report.html").path), SECTIONS


def _say(where: str, found: Sequence[str], code: int) -> int:
    for what in found:
        print(f"error: {where}: {what}")
    return code


if __name__ == "__main__":
    sys.exit(main())
