"""Open a report in headless Chromium and see that it is as it should be.

    python tools/browser_check.py [report.html]

Without a file the report on the bundled table is made first. Nothing may be fetched, nothing may be said on
the console, every figure must be seen and its letters be legible, and nothing may stick out at the width of a
desk or of a phone. Chromium is spoken to through a pipe: nothing but Debian's package `chromium` is needed.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WIDTHS = (1200, 768, 400, 360)
MOST_BYTES = 5_000_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

#: Asked of the page at each width.
QUESTIONS = """(() => {
  const box = e => e.getBoundingClientRect();
  const figures = [...document.querySelectorAll(".drawing > *")];
  const seen = e => box(e).width > 100 && box(e).height > 50 && (e.tagName !== "IMG" || e.naturalWidth > 0)
    && (e.tagName !== "svg" || e.querySelectorAll("path, use, text").length > 3);
  const letters = figures.flatMap(f => [...f.querySelectorAll("text")])
    .map(t => t.getScreenCTM().a * parseFloat(getComputedStyle(t).fontSize)).filter(s => s > 0);
  const out = [...document.querySelectorAll("body *")]
    .filter(e => !e.closest(".scroll, .drawing, pre") && box(e).right > innerWidth + 1);
  const links = [...document.querySelectorAll("nav a")];
  return {
    width: innerWidth,
    page: document.documentElement.scrollWidth,
    sections: document.querySelectorAll("section").length,
    links: links.length,
    broken: links.filter(a => !document.querySelector(a.getAttribute("href"))).length,
    figures: figures.length,
    unseen: figures.filter(f => !seen(f)).length,
    smallest: letters.length ? Math.min(...letters) : null,
    out: out.slice(0, 3).map(e => e.tagName + "." + e.className),
  };
})()"""


class Browser:
    """One page of a browser, spoken to in DevTools' language, and what it said."""

    def __init__(self, write: int, read: int) -> None:
        self.write, self.read, self.rest, self.number = write, read, b"", 0
        self.events: list[dict[str, Any]] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command and return its answer; events that come in between are kept."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while (found := self._next()).get("id") != self.number:
            self.events.append(found)
        if "error" in found:
            raise RuntimeError(f"{method}: {found['error']}")
        return found["result"]

    def wait(self, method: str) -> None:
        """Wait for an event."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            part = os.read(self.read, 2**20)
            if not part:
                raise RuntimeError("the browser went away")
            self.rest += part
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser, and end it afterwards."""
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        sys.exit("Chromium is needed: apt-get install chromium")
    to_child, to_parent = os.pipe(), os.pipe()

    def pipes() -> None:  # DevTools' pipe is at 3 and 4
        os.dup2(os.dup(to_child[0]), 3)
        os.dup2(os.dup(to_parent[1]), 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        flags = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--remote-debugging-pipe",
            f"--user-data-dir={home}",
        ]
        command = [program, *flags]
        child = subprocess.Popen(  # noqa: S603
            command,
            preexec_fn=pipes,  # noqa: PLW1509  (no threads here)
            close_fds=False,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield Browser(to_child[1], to_parent[0])
        finally:
            child.terminate()
            child.wait(20)


def problems(path: Path) -> list[str]:
    """Return what is wrong with a page, a sentence each."""
    found = (
        [f"{path.stat().st_size:,} bytes, more than {MOST_BYTES:,}"]
        if path.stat().st_size > MOST_BYTES
        else []
    )
    with browser() as page:
        for domain in ("Page", "Network", "Runtime", "Log"):
            page.ask(f"{domain}.enable")
        page.ask("Page.navigate", url=path.resolve().as_uri())
        page.wait("Page.loadEventFired")
        for width in WIDTHS:
            page.ask(
                "Emulation.setDeviceMetricsOverride",
                width=width,
                height=900,
                deviceScaleFactor=1,
                mobile=width < 500,
            )
            answer = page.ask("Runtime.evaluate", expression=QUESTIONS, returnByValue=True)["result"]["value"]
            print(json.dumps(answer))
            found += [f"at {width} pixels: {what}" for what in _wrong(answer)]
        found += [what for event in page.events if (what := _said(event, path))]
    return found


def _wrong(answer: dict[str, Any]) -> Iterator[str]:
    if answer["page"] > answer["width"] or answer["out"]:
        yield f"the page is {answer['page']} wide; sticking out: {answer['out']}"
    if not answer["figures"] or answer["unseen"]:
        yield f"{answer['unseen']} of {answer['figures']} figures are not to be seen"
    if not answer["sections"] or answer["links"] != answer["sections"] or answer["broken"]:
        yield f"{answer['links']} links to {answer['sections']} sections, {answer['broken']} of them broken"
    if answer["smallest"] is not None and answer["smallest"] < 6:
        yield f"letters of {answer['smallest']:.1f} pixels in a figure"


def _said(event: dict[str, Any], path: Path) -> str | None:
    """Return what an event means: a word on the console, or something fetched."""
    method, params = event.get("method"), event.get("params", {})
    if method == "Network.requestWillBeSent":
        url = params["request"]["url"]
        return None if url.startswith("data:") or url == path.resolve().as_uri() else f"fetched: {url[:200]}"
    if method == "Runtime.exceptionThrown":
        return f"an error: {params['exceptionDetails']['text']}"
    if method == "Runtime.consoleAPICalled":
        return f"said on the console: {params['args']}"
    return f"logged: {params['entry']['text']}" if method == "Log.entryAdded" else None


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        if len(sys.argv) > 1:
            path = Path(sys.argv[1])
        else:
            from tractable.report import make_report

            path = Path(make_report(target="species", path=Path(folder) / "report.html").path)
        found = problems(path)
    for what in found:
        print(f"error: {what}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
