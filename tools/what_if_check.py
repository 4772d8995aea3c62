"""Ask the panel of a report by its controls, in headless Chromium, and compare its answers with Python's.

Several tables: mixed with missing entries, numbers alone, one column, skewed columns, constant, whole and
dated columns, many patterns of missing entries, names and categories that are markup. On each some columns
are fixed, and what the page then shows is read: it has to be what `condition`, `marginal` and `log_prob`
give, to 1e-9.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from tools.browser import Browser, Page

from tractable import datasets
from tractable.report import overview, table_of, what_if
from tractable.report.joint import joint_mixture, question_table
from tractable.report.page import page
from tractable.report.table import Table

TOLERANCE = 1e-9

#: A name that would run a script, were it markup.
HOSTILE = "</script><img src=x onerror=window.hacked=1>\"'&"

#: Fix columns by their controls, as a reader does, and read what the page then says.
ASK = """(async () => {
  const frame = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const buttons = [...document.querySelectorAll(".tools button")];
  buttons.find(b => b.textContent === "Release all").click();
  await frame();
  for (const [j, value] of GIVEN) {
    const control = document.getElementById("fix-" + j);
    control.value = value;
    control.dispatchEvent(new Event(control.tagName === "SELECT" ? "change" : "input", {bubbles: true}));
  }
  await frame();
  const values = e => [...e.querySelectorAll("data")].map(d => Number(d.value));
  const cards = [...document.querySelectorAll(".card")], panel = window.tractable;
  return {
    names: cards.map(c => c.getAttribute("aria-label")),
    fixed: cards.map(c => c.classList.contains("fixed")),
    cards: cards.map(values),
    answers: [...document.querySelectorAll(".answer")].map(values),
    completion: panel.completed ?? null,
    log: panel.completedLog ?? null,
    curves: panel.cards.map((c, j) => c.grid
      ? [c.grid[40], panel.model.conditionOthers(panel.codes, j).density(c.grid[40])] : null),
    hacked: window.hacked ?? null,
  };
})()"""


def tables() -> dict[str, Table]:
    """Return the tables on which the panel is asked."""
    rng = np.random.default_rng(0)
    penguins = datasets.load("penguins").frame
    n = 240
    x = rng.normal(size=(n, 3))
    odd = pd.DataFrame(
        {
            HOSTILE: np.where(x[:, 0] > 0.2, HOSTILE, "a & b <i>"),
            "size": x[:, 0] * 1e6 + 5e6,
            "whole": np.rint(20 + 6 * x[:, 1] + 4 * x[:, 0]),
            "same": "always",
            "when": pd.date_range("2024-01-01", periods=n),
            "grade": pd.Categorical(
                np.array(["low", "mid", "high"])[np.digitize(x[:, 0] + 0.5 * x[:, 2], [-0.5, 0.6])],
                categories=["low", "mid", "high"],
                ordered=True,
            ),
            "tiny": x[:, 2] * 1e-7,
        }
    )
    holes = pd.DataFrame(rng.normal(size=(400, 6)) @ rng.normal(size=(6, 6)), columns=list("abcdef"))
    holes = holes.mask(rng.random(holes.shape) < 0.2)
    wide = pd.DataFrame(
        rng.normal(size=(600, 20)) @ rng.normal(size=(20, 20)), columns=list("abcdefghijklmnopqrst")
    )
    return {
        "mixed, with missing entries": table_of(penguins),
        "numbers alone": table_of(datasets.load("iris").frame.drop(columns="species")),
        "skewed columns": table_of(datasets.load("wine").frame),
        "one column": table_of(penguins[["body_mass_g"]]),
        "one column of categories": table_of(penguins[["island"]]),
        "whole, constant and dated columns, markup as names": table_of(odd),
        "many patterns of missing entries": table_of(holes),
        "twenty columns": table_of(wide),
    }


class Asked(NamedTuple):
    """The rows as a model has them, the columns of logarithms among them, and the model."""

    frame: Any
    logged: tuple[str, ...]
    model: Any


def written(table: Table, path: Path, target: str | None = None) -> Asked:
    """Write a page with the panel of a table, and return the model behind it."""
    rng = np.random.default_rng(0)
    sections = [
        overview.section(table, target=target, rng=rng),
        what_if.section(table, target=target, rng=rng),
    ]
    text = page(
        "A table", [one for one in sections if one is not None], rows=what_if.rows_data(table, target)
    )
    path.write_text(text, encoding="utf-8")
    asked = question_table(table)
    return Asked(asked.frame, asked.logged, joint_mixture(asked))


def questions(found: Any, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield what is fixed: nothing, entries of rows, entries of several rows together, whole rows."""
    names = list(found.frame.columns)
    complete = found.frame.dropna()
    complete = complete.assign(**np.exp(complete[list(found.logged)]))
    yield {}
    for size in sorted({1, 2, len(names) // 2, len(names) - 1, len(names)} & set(range(1, len(names) + 1))):
        chosen = [names[j] for j in rng.permutation(len(names))[:size]]
        rows = rng.integers(len(complete), size=size if size <= len(names) // 2 else 1)
        yield {name: complete[name].iloc[rows[i % len(rows)]] for i, name in enumerate(chosen)}


def wrong_answers(tab: Page, found: Any, given: dict[str, Any]) -> Iterator[str]:
    """Yield where the page differs from Python, after fixing some columns."""
    model, names = found.model, list(found.frame.columns)
    levels = {name: list(found.frame[name].cat.categories) for name in found.frame.select_dtypes("category")}
    fixed = {name: levels[name].index(x) if name in levels else float(x) for name, x in given.items()}
    asked = [[names.index(name), repr(x)] for name, x in fixed.items()]
    answer = tab.evaluate(ASK.replace("GIVEN", json.dumps(asked)))
    if answer["names"] != names or answer["fixed"] != [name in given for name in names]:
        yield f"the columns are {answer['names']}, fixed {answer['fixed']}"
        return
    if answer["hacked"] is not None:
        yield "a name was taken as markup"
    inner = {name: np.log(x) if name in found.logged else x for name, x in fixed.items()}
    density = model.distribution_
    scale = found.frame.std(numeric_only=True).to_dict()
    for j, name in enumerate(names):
        others = {key: x for key, x in inner.items() if key != name}
        of = (density.condition(others) if others else density).marginal([name])
        shown, logged = answer["cards"][j], name in found.logged
        if name in levels:
            expected = of.prob([[code] for code in range(len(levels[name]))])
            expected = [*expected, *([expected[fixed[name]]] if name in fixed else [])]
            yield from _differ(f"probabilities of {name!r}", shown, expected, 1.0)
            continue
        number, step = of.as_univariate(), scale[name]
        low, middle, high = (float(number.icdf(q)) for q in (0.05, 0.5, 0.95))
        ends = [low, high] if name in fixed else [middle, low, high]
        last = [float(number.cdf(inner[name]))] if name in fixed else []
        yield from _differ(
            f"interval of {name!r}", np.log(shown[: len(ends)]) if logged else shown[: len(ends)], ends, step
        )
        yield from _differ(f"cdf of {name!r}", shown[len(ends) :], last, 1.0)
        at, height = answer["curves"][j]
        yield from _differ(f"density of {name!r}", [height * step], [float(number.prob(at)) * step], 1.0)
    yield from _strangeness(answer, found, density, inner)
    yield from _completion(answer, found, density, inner)


def _strangeness(answer: Any, found: Any, density: Any, inner: dict[str, Any]) -> Iterator[str]:
    if not inner:
        return
    names = list(inner)
    part = found.frame[names].dropna()
    categories = set(found.frame.select_dtypes("category"))
    codes = np.column_stack([
        part[name].cat.codes if name in categories else part[name] for name in names
    ])  # fmt: skip
    marginal = density.marginal(names)
    log = float(marginal.log_prob(np.array([list(inner.values())], dtype=float))[0])
    logs = np.asarray(marginal.log_prob(codes.astype(float)))
    share, shown = answer["answers"][1]
    yield from _differ("log density", [shown], [log], max(1.0, abs(log)))
    slack = float(np.mean(np.abs(logs - log) < 1e-8))  # rows of the same entries are no stranger
    if abs(share - float(np.mean(logs < log - 1e-8))) > slack + 1e-12:
        yield f"{share} of the rows are stranger, not {np.mean(logs < log)}"


def _completion(answer: Any, found: Any, density: Any, inner: dict[str, Any]) -> Iterator[str]:
    names = list(found.frame.columns)
    free = [name for name in names if name not in inner]
    if not free:
        return
    row = np.array([answer["completion"]], dtype=float)
    log = float(density.log_prob(row)[0])
    yield from _differ("log density of the completion", [answer["log"]], [log], max(1.0, abs(log)))
    for name, x in inner.items():
        yield from _differ(f"{name!r} in the completion", [row[0, names.index(name)]], [x], abs(x) or 1.0)
    # No row that differs in one free entry has a higher density, and no component's best row.
    scale = found.frame.std(numeric_only=True).to_dict()
    rows = []
    for name in free:
        j = names.index(name)
        if name in scale:
            steps = [scale[name] * step for step in (-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0)]
            tried = [row[0, j] + step for step in steps]
        else:
            tried = list(range(found.frame[name].cat.categories.size))
        for x in tried:
            rows.append(row[0].copy())
            rows[-1][j] = x
    given = density.condition(inner) if inner else density
    where = [names.index(name) for name in free]
    for start in np.asarray(given.components.mode):
        rows.append(row[0].copy())
        rows[-1][where] = start
    best = float(np.max(density.log_prob(np.array(rows))))
    if best > log + TOLERANCE * max(1.0, abs(log)):
        yield f"a row of log density {best} is more likely than the completion, of {log}"


def _differ(what: str, shown: Any, expected: Any, scale: float) -> Iterator[str]:
    shown, expected = np.asarray(shown, dtype=float), np.asarray(expected, dtype=float)
    if shown.shape != expected.shape:
        yield f"{what}: {shown.size} numbers, not {expected.size}"
    elif shown.size and not np.max(np.abs(shown - expected)) <= TOLERANCE * scale:
        yield f"{what}: {shown.tolist()}, not {expected.tolist()}"


def problems(browser: Browser, folder: Path) -> Iterator[str]:
    """Yield where the panel of a table answers otherwise than Python."""
    path = folder / "asked.html"
    for title, table in tables().items():
        found = written(table, path)
        tab = Page(browser)
        tab.open(path)
        for given in questions(found, np.random.default_rng(1)):
            yield from (f"{title}, given {given}: {what}" for what in wrong_answers(tab, found, given))
        tab.close()


def blind_spots(browser: Browser, folder: Path) -> Iterator[str]:
    """Yield faults of a model's numbers, one a page, that are not found."""
    table = tables()["numbers alone"]
    path = folder / "wrong.html"
    found = written(table, path)
    text = path.read_text(encoding="utf-8")
    model = what_if.model_data(found.model)
    for name, at in (("means", (0, 1)), ("covariances", (0, 1, 1)), ("weights", (0,))):
        x: Any = model[name]
        for i in at:
            x = x[i]
        path.write_text(text.replace(repr(x), repr(x * (1.0 + 1e-6)), 1), encoding="utf-8")
        tab = Page(browser)
        tab.open(path)
        given = found.frame.iloc[0, [0]].to_dict()
        if not list(wrong_answers(tab, found, given)):
            yield f"not found: one of the {name} is wrong by a millionth"
        tab.close()
