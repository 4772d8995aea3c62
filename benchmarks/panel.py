"""How fast the panel of a report answers: 20 columns, 12 components, 2,000 rows, in headless Chromium.

    python -m benchmarks.panel

A column is moved by its slider, and fixed and released in turn, which compares all rows of the page anew,
with one, ten and all columns fixed. What counts is the CPU time of the page's thread, painting included; the
wall time from the event to the end of the layout is printed beside it. It fails where an answer takes more
CPU time than the goal of 50 ms, or the page has more than 5 MB.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from tools.browser import BrowserError, Page, running

from tractable import TableMixture
from tractable.report import Section, table_of
from tractable.report.page import page
from tractable.report.what_if import panel_data, rows_data

GOAL_MS, MOST_BYTES = 50.0, 5_000_000
N_ROWS, N_NUMBERS, N_CATEGORIES, N_COMPONENTS = 2_000, 14, 6, 12

#: Fix some columns at the entries of the first row.
FIX = """(() => {
  const panel = window.tractable;
  panel.clear();
  panel.cards.forEach((card, j) => { if (j < FIXED) card.value = panel.valueOf(0, j); });
  panel.update();
})()"""

#: Ask so many times, and return the wall times.
ASK = """(async () => {
  const panel = window.tractable, times = [];
  const {slider} = panel.cards[0], last = panel.cards[Math.max(FIXED - 1, 1)];
  const value = panel.valueOf(0, last.j);
  const acts = {
    move: i => {
      slider.value = Number(slider.min) + (0.2 + 0.6 * i / TIMES) * (slider.max - slider.min);
      slider.dispatchEvent(new Event("input", {bubbles: true}));
    },
    change: i => last.set(i % 2 ? value : NaN),
  };
  for (let i = 0; i < TIMES; i++) {
    const began = performance.now();
    acts.KIND(i);
    await new Promise(done => requestAnimationFrame(() => {
      document.body.getBoundingClientRect();
      times.push(performance.now() - began);
      setTimeout(done);
    }));
  }
  return times;
})()"""

#: How often each question is asked.
TIMES = 40


def made(path: Path) -> None:
    """Write a page with a panel of 20 columns and 12 components."""
    rng = np.random.default_rng(0)
    centres, which = rng.normal(size=(N_COMPONENTS, N_NUMBERS)) * 2.0, rng.integers(N_COMPONENTS, size=N_ROWS)
    numbers = (
        centres[which] + rng.normal(size=(N_ROWS, N_NUMBERS)) @ rng.normal(size=(N_NUMBERS, N_NUMBERS)) / 4.0
    )
    frame = pd.DataFrame(numbers, columns=[f"number {j + 1}" for j in range(N_NUMBERS)])
    for j in range(N_CATEGORIES):
        codes = (which + rng.integers(3, size=N_ROWS) + j) % 6
        frame[f"category {j + 1}"] = np.array([f"level {c}" for c in "abcdef"])[codes]
    table = table_of(frame)
    rows = table.frame.astype(table.category_types(list(frame)))
    model = TableMixture(N_COMPONENTS, covariance_type="full", random_state=0).fit(rows)
    words = dict.fromkeys(("done", "meaning", "assumptions", "code"), "")
    section = Section(key="what_if", title="Ask", data={"model": panel_data(model, table)}, **words)
    path.write_text(page("20 columns", [section], rows=rows_data(table)), encoding="utf-8")


def cpu_seconds(tab: Page) -> float:
    """Return the CPU seconds that the thread of the page has taken."""
    metrics = tab.ask("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "ThreadTime"))


def measured(path: Path) -> dict[str, dict[str, float]]:
    """Return milliseconds of CPU and of wall time an answer, by what was fixed and what was done."""
    found = {}
    with running() as browser:
        tab = Page(browser)
        tab.ask("Performance.enable")
        tab.resize(1200)
        tab.open(path)
        for fixed in (1, 10, 20):
            for kind, name in (("move", "a slider is moved"), ("change", "a column is fixed or released")):
                ask = ASK.replace("FIXED", str(fixed)).replace("KIND", kind).replace("TIMES", str(TIMES))
                tab.evaluate(FIX.replace("FIXED", str(fixed)))
                tab.evaluate(ask)  # compiled and warm
                began = cpu_seconds(tab)
                walls = tab.evaluate(ask)
                cpu = 1000.0 * (cpu_seconds(tab) - began) / TIMES
                found[f"{fixed} of 20 fixed, {name}"] = {"cpu": cpu, "wall": float(np.median(walls))}
        tab.close()
    return found


def main() -> int:
    """Print the times, and return 1 where a goal is missed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "panel.html"
        made(path)
        size = path.stat().st_size
        try:
            times = measured(path)
        except BrowserError as error:
            print(f"error: {error}")
            return 2
    print(f"page: {size:,} bytes (goal: {MOST_BYTES:,})")
    for what, one in times.items():
        print(f"{what}: {one['cpu']:.1f} ms of CPU, median {one['wall']:.1f} ms (goal: {GOAL_MS:g} ms)")
    return int(size > MOST_BYTES or max(one["cpu"] for one in times.values()) > GOAL_MS)


if __name__ == "__main__":
    sys.exit(main())
