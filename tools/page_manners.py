"""Use a report as a reader does, in headless Chromium: by keyboard, by its lists of rows, in the dark.

Every control must have a name, sliders and bars answer to arrow keys, lists of rows hold the rows that a bar
or a cluster stands for, a download is the table, and no script but the page's own runs. Pages with one fault
each are used first: a check that does not find its fault is worth nothing.
"""

import base64
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tools.browser import Browser, Page

from tractable import datasets
from tractable.report import clusters, overview, table_of, what_if
from tractable.report.page import page

#: Roles of what is used, which must have names.
CONTROLS = {"button", "slider", "spinbutton", "combobox", "searchbox", "textbox", "dialog", "link"}

SETTLED = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

#: The lines of the open list of rows, and what it says of them.
LISTED = """(() => {
  const list = document.querySelector("dialog[open]");
  return list && {
    title: list.querySelector("h2").textContent,
    said: list.querySelector("[role=status]").textContent,
    lines: [...list.querySelectorAll("tbody tr")].map(tr => [...tr.cells].map(td => td.textContent)),
  };
})()"""

#: The keys that are pressed, with their codes.
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}


def press(tab: Page, key: str) -> None:
    """Press a key, as on a keyboard."""
    code: dict[str, Any] = {"key": key, "code": key, "windowsVirtualKeyCode": KEYS[key]}
    text = {"text": "\r"} if key == "Enter" else {}
    tab.ask("Input.dispatchKeyEvent", type="keyDown", **code, **text)
    tab.ask("Input.dispatchKeyEvent", type="keyUp", **code)
    tab.evaluate(SETTLED)


def click(tab: Page, selector: str, text: str) -> None:
    """Click the first element that matches a selector and has a text."""
    tab.evaluate(
        f"[...document.querySelectorAll({json.dumps(selector)})]"
        f".find(e => e.textContent === {json.dumps(text)}).click()"
    )
    tab.evaluate(SETTLED)


def use(browser: Browser, path: Path, sections: Any, frame: Any, checks: Any) -> Iterator[str]:
    """Open a page, and yield what cannot be done on it."""
    tab = Page(browser)
    tab.resize(1200)
    tab.open(path)
    for check in checks:
        yield from check(tab, frame, sections)
    tab.close()


def written(path: Path) -> tuple[Any, Any]:
    """Write the page of the penguins, and return its sections and the table."""
    frame = datasets.load("penguins").frame
    table, rng = table_of(frame), np.random.default_rng(0)
    sections: list[Any] = [one.section(table, rng=rng) for one in (overview, clusters, what_if)]
    path.write_text(page("Penguins", sections, rows=what_if.rows_data(table)), encoding="utf-8")
    return sections, frame


def problems(browser: Browser, folder: Path) -> Iterator[str]:
    """Yield faults that are not found, each on a page of its own, and what cannot be done on the page."""
    path = folder / "used.html"
    sections, frame = written(path)
    text = path.read_text(encoding="utf-8")
    checks = (_names, _sliders, _bars, _clusters, _tables, _dark, _strangers, _download)
    for fault, (old, new, check) in FAULTS.items():
        (folder / "faulty.html").write_text(_changed(text, old, new), encoding="utf-8")
        if not list(use(browser, folder / "faulty.html", sections, frame, [check])):
            yield f"not found: {fault}"
    yield from use(browser, path, sections, frame, checks)


def _changed(text: str, old: str, new: str) -> str:
    """Return a page with a fault, and with the hash of the script that it then has."""
    if old not in text:
        raise ValueError(f"{old!r} is not on the page")
    changed = text.replace(old, new)
    before, after = (
        base64.b64encode(
            hashlib.sha256(one.rpartition("<script>")[2].partition("</script>")[0].encode()).digest()
        )
        for one in (text, changed)
    )
    return changed.replace(before.decode("ascii"), after.decode("ascii"))


def _names(tab: Page, _frame: Any, _sections: Any) -> Iterator[str]:
    nodes = tab.ask("Accessibility.getFullAXTree")["nodes"]
    roles = [node.get("role", {}).get("value") for node in nodes]
    nameless = [
        role
        for node, role in zip(nodes, roles, strict=True)
        if role in CONTROLS and not node.get("ignored") and not node.get("name", {}).get("value", "").strip()
    ]
    if nameless:
        yield f"controls without a name: {nameless[:5]}"
    if roles.count("slider") != 4 or roles.count("combobox") < 5:
        yield f"{roles.count('slider')} sliders and {roles.count('combobox')} lists, not 4 and at least 5"


def _sliders(tab: Page, _frame: Any, _sections: Any) -> Iterator[str]:
    focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.id"
    card = "document.querySelector('.card:has(input[type=range])')"
    tab.evaluate(f"{card}.querySelector('input[type=range]').focus()")
    press(tab, "ArrowRight")
    fixed = tab.evaluate(f"{card}.classList.contains('fixed')")
    first = tab.evaluate(f"Number({card}.querySelector('input[type=number]').value)")
    press(tab, "ArrowRight")
    second = tab.evaluate(f"Number({card}.querySelector('input[type=number]').value)")
    if not (fixed and second > first):
        yield f"arrows do not move a slider: fixed {fixed}, from {first} to {second}"
    press(tab, "Tab")
    if tab.evaluate(focused) != tab.evaluate(f"{card}.querySelector('input[type=number]').id"):
        yield f"after a slider comes {tab.evaluate(focused)!r}, not its number"
    tab.evaluate(f"{card}.querySelector('.quiet').click()")
    tab.evaluate(SETTLED)
    if tab.evaluate(f"{card}.classList.contains('fixed')"):
        yield "a column that is released stays fixed"


def _bars(tab: Page, frame: Any, sections: Any) -> Iterator[str]:
    for picture in sections[0].pictures:
        name = json.dumps(picture.column)
        find = (
            "[...document.querySelectorAll('figure[data-bars]')]"
            f".find(f => JSON.parse(f.dataset.bars).column === {name})"
        )
        tab.evaluate(f"({find}).querySelector('.bar-of-rows').focus()")
        press(tab, "ArrowRight")
        press(tab, "Enter")
        listed = tab.evaluate(LISTED)
        press(tab, "Escape")
        bar, x = picture.bars[1 % len(picture.bars)], frame[picture.column]
        if isinstance(bar, str):
            expected = x.astype("Int64").astype(str) == bar if x.dtype.kind == "f" else x.astype(str) == bar
        else:
            expected = (x >= bar[0]) & (x < bar[1])
        if listed is None:
            yield f"no rows are listed behind a bar of {picture.column}"
        elif [int(line[0]) - 1 for line in listed["lines"]] != np.flatnonzero(expected)[:200].tolist():
            yield f"{listed['title']}: {listed['said']} where there are {expected.sum()}"
        if tab.evaluate(LISTED) is not None:
            yield "Escape does not close a list of rows"


def _clusters(tab: Page, frame: Any, sections: Any) -> Iterator[str]:
    for number, size, *_ in sections[1].tables[0].rows:
        click(tab, "[data-first=cluster] td button", number)
        listed = tab.evaluate(LISTED)
        if listed is None or len(listed["lines"]) != int(size):
            yield f"cluster {number} has {size} rows, and listed are: {listed and listed['said']}"
        press(tab, "Escape")
    click(tab, ".tools button", "Choose from the rows")
    tab.evaluate("""(() => {
      const words = document.querySelector("dialog input");
      words.value = "chinstrap";
      words.dispatchEvent(new Event("input"));
    })()""")
    expected = f"{(frame['species'] == 'Chinstrap').sum()} rows"
    if (said := tab.evaluate(LISTED)["said"].split(".")[0]) != expected:
        yield f"a search finds {said}, not {expected}"
    click(tab, "dialog th button", "body_mass_g")
    rows = [int(line[0]) - 1 for line in tab.evaluate(LISTED)["lines"]]
    if not (np.diff(frame["body_mass_g"].iloc[rows]) >= 0).all():
        yield "a list of rows is not sorted by a column"
    click(tab, "dialog tbody button", str(rows[0] + 1))
    chosen = tab.evaluate("[window.tractable.number.value, window.tractable.cards.map(c => c.code)]")
    names = [one["name"] for one in sections[2].data["model"]["columns"]]
    mass = chosen[1][names.index("body_mass_g")]
    if chosen[0] != str(rows[0] + 1) or mass != frame["body_mass_g"].iloc[rows[0]]:
        yield f"row {rows[0] + 1} of the list is {chosen} in the panel"
    click(tab, ".tools button", "Release all")


def _tables(tab: Page, _frame: Any, _sections: Any) -> Iterator[str]:
    column = "[...document.querySelectorAll('#overview tbody tr')].map(r => r.cells[3].textContent)"
    before, orders = tab.evaluate(column), []
    for _ in range(3):
        click(tab, "#overview th button", "different")
        orders.append(tab.evaluate(column))
    up = sorted(before, key=int)
    if orders != [up, up[::-1], before]:
        yield f"a table is sorted as {orders}"


def _dark(tab: Page, _frame: Any, _sections: Any) -> Iterator[str]:
    colours = "['color', 'backgroundColor'].map(c => getComputedStyle(document.body)[c])"
    light = tab.evaluate(colours)
    tab.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = tab.evaluate(colours)
    tab.ask("Emulation.setEmulatedMedia", features=[])
    for name, (ink, paper) in (("light", light), ("dark", dark)):
        if _contrast(ink, paper) < 7.0:
            yield f"a contrast of {_contrast(ink, paper):.1f} between {ink} and {paper}, {name}"
    if _luminance(dark[1]) > 0.05 or _luminance(light[1]) < 0.9:
        yield f"the page is {light[1]} by day and {dark[1]} by night"


def _luminance(colour: str) -> float:
    """Return the relative luminance of ``rgb(r, g, b)``, as WCAG defines it."""
    parts = np.array([int(x) for x in colour[4:-1].split(",")]) / 255.0
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _contrast(a: str, b: str) -> float:
    low, high = sorted((_luminance(a), _luminance(b)))
    return (high + 0.05) / (low + 0.05)


def _strangers(tab: Page, _frame: Any, _sections: Any) -> Iterator[str]:
    """Put markup with scripts into the page: its policy must not let them run."""
    run = tab.evaluate("""(async () => {
      const script = document.createElement("script");
      script.textContent = "window.hacked = 1";
      document.body.append(script);
      const box = document.createElement("div");
      box.innerHTML = "<img src=data:, onerror='window.hacked = 2'><style>body { opacity: .5 }</style>";
      document.body.append(box);
      await new Promise(done => setTimeout(done, 200));
      const found = [window.hacked ?? null, getComputedStyle(document.body).opacity];
      script.remove();
      box.remove();
      return found;
    })()""")
    if run != [None, "1"]:
        yield f"scripts and styles of others run: {run}"


def _download(tab: Page, frame: Any, _sections: Any) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        tab.browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder)
        click(tab, ".tools button", "Choose from the rows")
        click(tab, "dialog button", "Download as CSV")
        path, end = Path(folder) / "rows.csv", time.monotonic() + 30.0
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.1)
        if not path.exists():
            yield "nothing is downloaded"
            return
        found = pd.read_csv(path)
    if found["row"].tolist() != list(range(1, len(frame) + 1)):
        yield "the rows that are downloaded are not all rows"
    for name in frame.columns:
        if found[name].dtype.kind != frame[name].dtype.kind or not frame[name].reset_index(drop=True).equals(
            found[name].astype(frame[name].dtype)
        ):
            yield f"what is downloaded of {name} is not what the table has"


#: Pages with one fault each: what is changed, and the check that has to find it.
FAULTS = {
    "a slider without a name": ("${column.name}, slider", "", _names),
    "a slider that only moves": ("oninput: () => this.slide()", "oninput: () => 0", _sliders),
    "bars that arrows do not reach": ("ArrowRight: 1", "ArrowRight: 0", _bars),
    "rows of another bar": ("x === code", "x !== code", _bars),
    "rows of another cluster": ("rowsOf(clusters.name, name)", "rowsOf(clusters.name, '1')", _clusters),
    "a search that finds all": ("!words || says(i)", "true", _clusters),
    "rows in no order": ("gaps || sign * compare(key(a), key(b))", "gaps", _clusters),
    "a table in no order": ("gaps || sign * compare(keys.get(a), keys.get(b))", "gaps", _tables),
    "digits lost in a download": ("String(values[i])", "String(Math.round(values[i]))", _download),
    "a policy that lets scripts run": (
        "script-src &#x27;sha256-",
        "script-src &#x27;unsafe-inline&#x27; &#x27;",
        _strangers,
    ),
}
