"""Headless Chromium, spoken to in DevTools' language through a pipe: Debian's `chromium` is enough."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 120.0  # seconds for any one answer, on however busy a machine
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND",  # what a page asks for is seen, and never fetched
    "--remote-debugging-pipe",
)


class BrowserError(Exception):
    """The browser is not there, does not answer, or has gone: no verdict on the page."""


class Browser:
    """A running browser: commands go in, answers and events come out."""

    def __init__(self, write: int, read: int) -> None:
        self.write, self.read, self.rest, self.number = write, read, b"", 0
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command and return its answer; events that come in between are kept."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        try:
            os.write(self.write, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise BrowserError(f"the browser went away before {method}") from None
        while (found := self.next(method)).get("id") != self.number:
            self.events.append(found)
        if "error" in found:
            raise BrowserError(f"{method}: {found['error'].get('message', found['error'])}")
        return found["result"]

    def next(self, awaited: str) -> dict[str, Any]:
        """Return the next answer or event."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.read], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise BrowserError(f"no word from the browser for {PATIENCE:g} s, waiting for {awaited}")
            part = os.read(self.read, 2**20)
            if not part:
                raise BrowserError(f"the browser went away, waiting for {awaited}")
            self.rest += part
        text, _, self.rest = self.rest.partition(b"\0")
        return json.loads(text)


class Page:
    """One tab, and what it said since it was opened."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.ask("Target.attachToTarget", targetId=self.target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to this tab."""
        return self.browser.ask(method, self.session, **params)

    def open(self, path: Path) -> None:
        """Go to a file and wait until it is loaded."""
        answer = self.ask("Page.navigate", url=path.resolve().as_uri())
        if answer.get("errorText"):
            raise BrowserError(f"{path}: {answer['errorText']}")
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.browser.events.append(self.browser.next("the page to load"))

    def evaluate(self, expression: str) -> Any:
        """Return the value of an expression, awaited if it is a promise."""
        answer = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in answer:
            raise BrowserError(f"a question failed: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def resize(self, width: int) -> None:
        """Give the page a width; a narrow one is a phone's."""
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 500,
        )

    def close(self) -> None:
        self.browser.ask("Target.closeTarget", targetId=self.target)

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for event in self.browser.events if event.get("sessionId") == self.session]


@contextmanager
def running() -> Iterator[Browser]:
    """Start a browser with a home of its own, and end it afterwards."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        raise BrowserError("Chromium is needed: apt-get install --no-install-recommends chromium")
    to_child, to_parent = os.pipe(), os.pipe()

    def pipes() -> None:  # DevTools' pipe is at 3 and 4
        os.dup2(os.dup(to_child[0]), 3)
        os.dup2(os.dup(to_parent[1]), 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        log = Path(home) / "log"
        with log.open("wb") as words:
            child = subprocess.Popen(  # noqa: S603
                [program, *FLAGS, f"--user-data-dir={home}/profile"],
                preexec_fn=pipes,  # noqa: PLW1509  (no threads here)
                close_fds=False,
                env={**os.environ, "HOME": home},
                stdout=words,
                stderr=words,
            )
        os.close(to_child[0])
        os.close(to_parent[1])
        try:
            yield Browser(to_child[1], to_parent[0])
        except BrowserError as error:
            raise BrowserError(
                f"{error}\n{program} said last:\n{log.read_text(errors='replace')[-2000:]}"
            ) from None
        finally:
            _end(child)
            os.close(to_child[1])
            os.close(to_parent[0])


def _end(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    with suppress(subprocess.TimeoutExpired):
        child.wait(20)
        return
    child.kill()
    child.wait(20)
