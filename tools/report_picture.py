"""Take the pictures of the report that the documentation shows: its beginning, and its panel of questions.

python -m tools.report_picture writes docs/_static/report.png and docs/_static/ask.png; it needs Chromium.
"""

import base64
import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from tools.browser import Page, running
from typer.testing import CliRunner

from tractable.cli import app

HERE = Path(__file__).parent.parent / "docs" / "_static"
WIDTH = 1200

#: Fixes the bill's length and the island, and returns where the panel is on the page.
ASK = """(() => {
  for (const [control, value] of [['fix-0', '48'], ['fix-5', '1']]) {
    const found = document.getElementById(control);
    found.value = value;
    for (const kind of ['input', 'change']) found.dispatchEvent(new Event(kind, {bubbles: true}));
  }
  const box = document.querySelector('#what_if').getBoundingClientRect();
  return {x: box.left + scrollX - 12, y: box.top + scrollY, width: box.width + 36, height: box.height - 60};
})()"""


def main() -> None:
    """Write a report on the penguins, open it, and keep two parts of it as pictures."""
    with tempfile.TemporaryDirectory() as folder, running() as browser:
        report = Path(folder) / "report.html"
        done = CliRunner().invoke(app, ["report", "--target", "species", "-o", str(report), "--quiet"])
        if done.exit_code:
            raise SystemExit(done.output)
        page = Page(browser)
        page.resize(WIDTH)
        page.open(report)
        save(page, "report.png", {"x": 0, "y": 0, "width": WIDTH, "height": 940})
        save(page, "ask.png", page.evaluate(ASK))


def save(page: Page, name: str, area: dict[str, Any]) -> None:
    """Keep a part of the page as a picture of 128 colours."""
    shot = page.ask(
        "Page.captureScreenshot", format="png", clip={**area, "scale": 1}, captureBeyondViewport=True
    )
    picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    picture.quantize(128).save(HERE / name, optimize=True)


if __name__ == "__main__":
    main()
