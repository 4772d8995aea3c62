"""Take the picture of the report that the README and the documentation show.

python -m tools.report_picture writes docs/_static/report.png; it needs Chromium.
"""

import base64
import io
import tempfile
from pathlib import Path

from PIL import Image
from tools.browser import Page, running
from typer.testing import CliRunner

from tractable.cli import app

HERE = Path(__file__).parent.parent / "docs" / "_static" / "report.png"
WIDTH, HEIGHT = 1200, 1330  # the summary and the columns


def main() -> None:
    """Write a report on the penguins, open it, and keep its beginning as a picture of 128 colours."""
    with tempfile.TemporaryDirectory() as folder, running() as browser:
        report = Path(folder) / "report.html"
        done = CliRunner().invoke(app, ["report", "--target", "species", "-o", str(report), "--quiet"])
        if done.exit_code:
            raise SystemExit(done.output)
        page = Page(browser)
        page.resize(WIDTH)
        page.open(report)
        area = {"x": 0, "y": 0, "width": WIDTH, "height": HEIGHT, "scale": 1}
        shot = page.ask("Page.captureScreenshot", format="png", clip=area, captureBeyondViewport=True)
    picture = Image.open(io.BytesIO(base64.b64decode(shot["data"]))).convert("RGB")
    picture.quantize(128).save(HERE, optimize=True)


if __name__ == "__main__":
    main()
