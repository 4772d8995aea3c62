"""`tractable compare`: what changed between two tables, from sums of each."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.report.drift import _homogeneity, compare_tables, correlations
from tractable.report.drift_sums import POWERS, Blocks, plan_of, with_clusters

PENGUINS = tractable.datasets.load("penguins").frame
WINE = tractable.datasets.load("wine").frame


def halves(frame, seed, share=0.5):
    order = np.random.default_rng(seed).permutation(len(frame))
    cut = int(share * len(frame))
    return frame.iloc[order[:cut]], frame.iloc[order[cut:]]


def named(found, what):
    return [one.name for one in found.drifted if one.what == what]


def test_the_sums_of_parts_are_those_of_the_whole():
    a, b = halves(PENGUINS, 0)
    plan, _, _ = plan_of([a, b])
    plan, _ = with_clusters(plan, [a, b], np.random.default_rng(0), lambda _: None)
    whole = Blocks.of(PENGUINS).fold(plan)
    parts = Blocks.of([PENGUINS[:50], PENGUINS[50:51], PENGUINS[51:51], PENGUINS[51:]]).fold(plan)
    assert (parts.n, parts.words) == (whole.n, whole.words)
    for mine, theirs in [
        (parts.seen, whole.seen),
        (parts.powers, whole.powers),
        (parts.members, whole.members),
        *((parts.numbers[name], x) for name, x in whole.numbers.items()),
    ]:
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
    assert whole.members[0].sum() == pytest.approx(344.0)


def test_the_tests_are_those_of_scipy(rng):
    a, b = pd.DataFrame({"x": rng.normal(size=60)}), pd.DataFrame({"x": rng.normal(0.4, 2.0, size=90)})
    [found] = compare_tables(a, b).comparisons
    welch = stats.ttest_ind(b["x"], a["x"], equal_var=False)
    np.testing.assert_allclose([found.low, found.high], welch.confidence_interval(0.95), rtol=1e-9)
    assert found.change == pytest.approx(b["x"].mean() - a["x"].mean())
    counts = np.array([[30.0, 25.0, 45.0], [60.0, 20.0, 40.0]])
    assert _homogeneity(counts) == pytest.approx(stats.chi2_contingency(counts, correction=False).pvalue)
    assert _homogeneity(np.array([[3.0, 0.0], [0.0, 3.0]])) == 1.0  # six rows say nothing


def test_correlations_have_their_standard_errors(rng):
    """From sums of powers alone, beside the bootstrap, of a pair that is not normal."""
    x = rng.exponential(size=(3000, 1)) + rng.exponential(size=(3000, 2)) * [1.0, 0.3]
    r, v, n = correlations(np.stack([(x**a).T @ x**b for a, b in POWERS]))
    np.testing.assert_allclose(r, np.corrcoef(x.T), rtol=1e-9)
    draws = [np.corrcoef(x[rng.integers(3000, size=3000)].T)[0, 1] for _ in range(400)]
    assert np.sqrt(v[0, 1] / n[0, 1]) == pytest.approx(np.std(draws), rel=5.0 / np.sqrt(2 * 400))


def test_halves_of_a_table_do_not_differ_and_changes_are_found():
    a, b = halves(PENGUINS, 1)
    assert not compare_tables(a, b).drifted
    heavy = b.assign(body_mass_g=b["body_mass_g"] * 1.1)
    assert named(compare_tables(a, heavy, clusters=False), "column") == ["body_mass_g"]
    wide = b.assign(body_mass_g=4200.0 + 2.0 * (b["body_mass_g"] - 4200.0))  # another spread alone
    assert named(compare_tables(a, wide, clusters=False), "column") == ["body_mass_g"]
    gaps = b.assign(sex=b["sex"].where(np.arange(len(b)) % 3 > 0))
    assert named(compare_tables(a, gaps, clusters=False), "missing") == ["sex"]
    shuffled = b.assign(body_mass_g=b["body_mass_g"].sample(frac=1.0, random_state=0).to_numpy())
    found = compare_tables(a, shuffled, clusters=False)
    assert not named(found, "column")
    assert "flipper_length_mm and body_mass_g" in named(found, "pair")
    found = compare_tables(a, b[b["species"] != "Gentoo"])
    gone = [one for one in found.drifted if one.what == "cluster" and one.new < 0.01]
    assert sum(one.old for one in gone) > 0.25  # a third of the rows
    assert "Categories of species that are gone, with their rows: Gentoo" in " ".join(found.notes)
    for one in found.comparisons:
        assert one.low <= one.change <= one.high
        assert one.p <= one.adjusted <= 1.0


def test_few_rows_and_odd_columns_are_told_honestly():
    few = PENGUINS[:6]
    found = compare_tables(few, PENGUINS[200:206])
    assert found.rows == (6, 6)
    assert "only large changes of columns can be seen" in found.notes[-1]
    same = pd.DataFrame({"c": [1.0] * 80, "w": ["a"] * 80, "e": [None] * 80, "x": np.arange(80.0)})
    found = compare_tables(same, same, clusters=False)
    assert {one.name for one in found.comparisons} <= {"c", "w", "x"}
    assert not found.drifted
    other = same.assign(c=2.0, w="b", n=1).drop(columns="e").astype({"x": str})
    found = compare_tables(same, other)
    assert set(named(found, "column")) == {"c", "w"}
    assert found.schema == (
        "In the old table alone: e.",
        "In the new table alone: n.",
        "x holds numbers in the old table and words in the new.",
    )
    assert "Categories of w that are new, with their rows: b (80)." in found.notes
    with pytest.raises(ValueError, match="the new table has 1 row: at least 2"):
        compare_tables(same, same[:1])
    with pytest.raises(ValueError, match="no column of numbers, dates or categories in common"):
        compare_tables(same[["e"]], same[["e"]])


def dated(start, rng, n=300):
    days = pd.Timestamp(start) + pd.to_timedelta(rng.uniform(0.0, 90.0, n), unit="D")
    return pd.DataFrame({"when": days.floor("s"), "x": rng.normal(size=n)})


@pytest.mark.parametrize("kind", ["moments", "of a zone", "days"])
def test_dates_are_compared_as_numbers_of_days(kind, rng):
    as_kind = {
        "moments": lambda when: when,
        "of a zone": lambda when: when.dt.tz_localize("Asia/Tokyo"),
        "days": lambda when: when.dt.date,
    }[kind]
    old, same, later = (
        frame.assign(when=as_kind(frame["when"]))
        for frame in (dated("2024-01-01", rng), dated("2024-01-01", rng), dated("2024-01-21", rng))
    )
    assert not compare_tables(old, same, clusters=False).drifted
    [found] = compare_tables(old, later, clusters=False).drifted
    assert (found.what, found.name) == ("column", "when")
    assert found.low < 20.0 < found.high
    numbers = [
        pd.to_datetime(frame["when"], utc=True) - pd.Timestamp("1970", tz="UTC") for frame in (old, later)
    ]
    days = [x.dt.total_seconds() / 86400.0 for x in numbers]
    as_numbers = compare_tables(*(pd.DataFrame({"when": x}) for x in days), clusters=False).comparisons[0]
    assert (found.change, found.p) == pytest.approx((as_numbers.change, as_numbers.p))


def test_periods_that_follow_each_other_are_no_drift(rng):
    found = compare_tables(dated("2023-01-01", rng), dated("2024-01-01", rng), clusters=False)
    assert [one.name for one in found.comparisons] == ["x"]
    assert "one period ends before the other begins: when, 2023-01-01 to 2023-03-3" in found.notes[0]
    assert "2024-03-30 in the new." in found.notes[0]
    odd = pd.DataFrame({"t": [pd.Timestamp("2024-01-01 08:00").time()] * 30, "x": np.arange(30.0)})
    assert "Not compared" in compare_tables(odd, odd).notes[0]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a, b = halves(WINE, 0)
    a.to_csv("a.csv", index=False)
    b.to_parquet("b.parquet", index=False)
    b.assign(alcohol=b["alcohol"] + 1.0).to_csv("c.csv", index=False)
    return tmp_path


def run(*words, **options):
    return CliRunner().invoke(app, ["compare", *words], **options)


def test_the_command_prints_what_changed(folder):
    found = run("a.csv", "b.parquet", "--no-clusters")
    assert found.exit_code == 0, found.output
    assert "result   no drift of " in found.stdout
    assert "any false alarm: 0.05, Holm's method" in found.stdout
    found = run("a.csv", "c.csv", "--no-clusters")
    assert "columns: 1 of 14 changed\n* alcohol\n    mean " in found.stdout
    assert all(len(line) <= 80 for line in found.stdout.splitlines()), found.stdout
    whole = run("a.csv", "c.csv", "--no-clusters", "--all").stdout
    assert whole.count("rank correlation") == 14 * 13 // 2
    piped = run("a.csv", "-", "--no-clusters", "--json", input=(folder / "c.csv").read_bytes())
    said = json.loads(piped.stdout)
    assert said["drifted"] == 1
    assert said["comparisons"][0]["name"] == "alcohol"
    assert said["comparisons"][0]["drifted"] is True
    assert said["n_comparisons"] == len(said["comparisons"])


def test_the_command_reads_and_prints_dates(folder, rng):
    dated("2024-01-01", rng).to_csv("old.csv", index=False)
    dated("2024-01-21", rng).assign(when=lambda t: t["when"].dt.strftime("%d.%m.%Y")).to_csv(
        "new.csv", index=False
    )
    found = run("old.csv", "new.csv", "--no-clusters")
    assert found.exit_code == 0, found.output
    assert "columns: 1 of 2 changed\n* when\n    mean " in found.stdout
    assert "2024-02-1" in found.stdout
    assert " days (+" in found.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a.csv none.csv", "no such file or folder: none.csv"),
        ("- -", "standard input is named twice"),
        ("a.csv c.csv --level 2", "--level is a probability between 0 and 1"),
        ("a.csv c.csv --seed -1", "--seed must not be negative"),
    ],
)
def test_comparisons_that_cannot_be(folder, words, said):
    found = run(*words.split(), input=(folder / "a.csv").read_bytes())
    assert (found.exit_code, found.stdout) == (2, "")
    assert said in found.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", ["penguins", "wine", "skewed"])
def test_the_rate_of_false_alarms_is_kept(name, rng):
    """Random parts of one table, of unequal size: any drift at most as often as the level, to five sigma."""
    skewed = pd.DataFrame(np.exp(rng.normal(size=(600, 4)) @ rng.normal(size=(4, 4))), columns=list("abcd"))
    frame = {"penguins": PENGUINS, "wine": WINE, "skewed": skewed}[name]
    repeats = 120
    alarms = [
        bool(
            compare_tables(
                *halves(frame, s, 0.5 if s % 2 else 0.3), clusters=s % 3 == 0, random_state=s
            ).drifted
        )
        for s in range(repeats)
    ]
    assert np.mean(alarms) < 0.05 + 5.0 * np.sqrt(0.05 * 0.95 / repeats)
