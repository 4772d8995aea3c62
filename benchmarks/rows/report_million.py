"""The report on a CSV file of a million rows."""

import numpy as np
import pandas as pd

from benchmarks.row import Row, under
from tractable.report import make_report

CITIES = np.array(["Bern", "Oslo", "Paris", "Rome"], dtype=object)
WORDS = np.array(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"], dtype=object)


def setup(n_rows, folder):
    path = folder / f"report_{n_rows}.csv"
    if not path.exists():
        table(n_rows).to_csv(path, index=False, float_format="%.6g")
    return path


def table(n):
    """Return 20 columns: groups of numbers, counts, categories, a date, texts, a target, and holes."""
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=n)
    x = np.hstack(
        [rng.normal(size=(n, 4)) @ rng.normal(size=(4, 4)) + 3 * np.eye(3, 4)[group] for _ in range(3)]
    )
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(12)])
    for j in range(3):
        frame[f"count{j}"] = rng.poisson(4.0 + j, n).astype(float)
    frame["city"] = CITIES[rng.integers(4, size=n)]
    frame["when"] = (np.datetime64("2020-01-01") + rng.integers(1000, size=n)).astype(str).astype(object)
    frame["note"] = WORDS[rng.integers(8, size=(4, n))].sum(axis=0)
    frame["flag"] = np.array(["no", "yes"], dtype=object)[rng.integers(2, size=n)]
    frame = frame.mask(rng.random(frame.shape) < 0.02)
    return frame.assign(y=2 * x[:, 0] - x[:, 5] + rng.normal(size=n))


def ours(path):
    made = make_report(path, target="y", path=path.with_suffix(".html"))
    return made.rows, made.columns


def read_and_describe(path):
    frame = pd.read_csv(path)
    frame.describe()
    return frame.shape


def check(mine, theirs):
    """The same rows and columns: one report counts them, the other holds them."""
    assert tuple(mine) == tuple(theirs)


ROW = Row(
    name="report_million",
    shows="The whole report, with models of a target, on a CSV file of 1,000,000 × 20.",
    setup=setup,
    size=1_000_000,
    dry_size=300,
    ours=ours,
    peers={"pandas: read_csv, describe": read_and_describe},
    check=check,
    targets={"pandas: read_csv, describe": under(180)},
    memory_limit_mb=2_000,
    limit="reading and counting the fields; the models see 20,000 rows, chosen at random.",
)
