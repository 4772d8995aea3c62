"""`tractable complete`: multiple imputation from the joint model of all columns."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.report.joint import completed_frames, joint_mixture, joint_table


def holes(n=120, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(50.0, 10.0, n)
    frame = pd.DataFrame(
        {
            "age": np.round(x).astype(int),
            "income": np.round(30.0 * x + rng.normal(0.0, 100.0, n), 2),
            "group": np.where(x + rng.normal(0.0, 5.0, n) > 50.0, "old", "young"),
            "grade": rng.integers(1, 4, n),
            "member": rng.random(n) < 0.4,
            "note": [f"text {k}" for k in range(n)],
        }
    )
    for j, name in enumerate(["age", "income", "group", "grade", "member", "note"]):
        kind = "Int64" if name in ("age", "grade") else "boolean" if name == "member" else None
        column = frame[name] if kind is None else frame[name].astype(kind)
        frame[name] = column.mask(rng.random(n) < 0.1 + 0.02 * j)
    return frame


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    holes().to_csv("holes.csv", index=False)
    holes().to_parquet("holes.parquet", index=False)
    return tmp_path


def run(*words, **options):
    return CliRunner().invoke(app, ["complete", *words], **options)


@pytest.mark.parametrize("data", ["holes.csv", "holes.parquet"])
def test_one_long_table_with_the_types_of_its_columns(folder, data):
    found = run(data, "--draws", "3", "-o", "long.parquet")
    assert found.exit_code == 0, found.output
    assert "3 tables of 120 rows: " in found.stdout
    assert "warning: these columns keep their missing entries: note" in found.stderr
    long, given = pd.read_parquet("long.parquet"), holes()
    assert list(long.columns) == ["draw", "row", *given.columns]
    assert long["draw"].tolist() == [1] * 120 + [2] * 120 + [3] * 120
    assert long["row"].tolist() == [*range(1, 121)] * 3
    assert not long.drop(columns="note").isna().any().any()
    for name in ("age", "grade"):
        assert long[name].dtype.kind in "iu"
    assert set(long["group"]) == {"old", "young"}
    assert set(long["grade"]) == {1, 2, 3}
    assert set(long["member"]) == {True, False}
    assert np.array_equal(long["income"], long["income"].round(2))
    assert (long["age"] >= 0).all()
    for _, one in long.groupby("draw"):
        for name in given.columns:
            seen = given[name].notna().to_numpy()
            assert (one[name].to_numpy()[seen] == given[name].to_numpy()[seen]).all()
    missing = given["age"].isna().to_numpy()
    first, second = (long[long["draw"] == k]["age"].to_numpy()[missing] for k in (1, 2))
    assert not np.array_equal(first, second)


def test_a_seed_repeats_and_files_may_be_many(folder):
    holes(40).to_csv("holes.csv", index=False)
    assert run("holes.csv", "-n", "2", "--seed", "4", "-o", "a_{draw}.csv").exit_code == 0
    piped = run("-", "-n", "2", "--seed", "4", input=(folder / "holes.csv").read_bytes())
    assert piped.exit_code == 0
    (folder / "piped.csv").write_text(piped.stdout)
    long = pd.read_csv("piped.csv")
    for k in (1, 2):
        one = pd.read_csv(f"a_{k}.csv")
        pd.testing.assert_frame_equal(
            one,
            long[long["draw"] == k].drop(columns=["draw", "row"]).reset_index(drop=True),
            check_dtype=False,
        )
    other = run("holes.csv", "-n", "2", "--seed", "5")
    assert other.stdout != piped.stdout


def test_a_table_without_gaps_is_copied(folder):
    tractable.datasets.load("iris").frame.to_csv("iris.csv", index=False)
    found = run("iris.csv", "-n", "2", "-o", "out.csv", "--json")
    said = json.loads(found.stdout)
    assert said["drawn"] == 0
    assert "no missing entry" in said["warnings"][0]
    assert len(pd.read_csv("out.csv")) == 300


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("none.csv", "no such file or folder"),
        ("holes.csv -n 0", "--draws must be at least 1"),
        ("holes.csv --seed -1", "--seed must not be negative"),
        ("holes.csv -o out.xls", "--output must end in .parquet or .csv, or be -"),
        ("draws.csv -o out.csv", "DATA has a column 'draw', which is added"),
        ("words.csv -o out.csv", "no column of numbers or categories that vary"),
        ("holes.csv --json", "--output - and --json both write to standard output"),
    ],
)
def test_tables_that_cannot_be_completed(folder, words, said):
    (folder / "draws.csv").write_text("draw,x\n1,2\n2,\n3,4\n")
    (folder / "words.csv").write_text("x,y\na,b\na,\na,b\n")
    found = run(*words.split())
    assert (found.exit_code, said in found.stderr) == (2, True), found.output
    assert not (folder / "out.csv").exists()


def test_the_joint_model_finds_what_is_there():
    frame = tractable.datasets.load("penguins").frame
    model = joint_mixture(joint_table(frame))
    species = model.condition({"bill_length_mm": 50.0, "bill_depth_mm": 15.0}).marginal(["species"])
    assert model.categories_["species"][int(np.argmax(species.prob([[0.0], [1.0], [2.0]])))] == "Gentoo"


def test_many_equal_entries_do_not_leave_one_component(rng):
    """A component collapses on the zeros of a column of amounts; a prior keeps it from that."""
    dry = rng.random(300) < 0.6
    rain = np.where(dry, 0.0, rng.gamma(2.0, 5.0, 300))
    frame = pd.DataFrame({"rain": rain, "sky": np.where(dry, "sun", "grey")})
    model = joint_mixture(joint_table(frame))
    assert model.n_components > 1
    low, high = model.condition({"sky": "sun"}).as_univariate().interval(0.9)
    assert -1.0 < float(low) <= float(high) < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mean", "share"])
def test_intervals_pooled_by_rubin_s_rules_cover(kind):
    """Entries that are missing depending on others (at random): pooled 90 % intervals cover to five sigma.

    The complete rows alone do not: their mean is far off.
    """
    repeats, draws, n = 150, 8, 150
    held, by_rows = [], []
    for seed in range(repeats):
        rng = np.random.default_rng([seed, 7])
        x = rng.normal(size=n)
        y = 1.0 + 2.0 * x + rng.normal(size=n)
        c = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-1.5 * x)), "a", "b")
        gone = rng.random(n) < 1.0 / (1.0 + np.exp(-2.0 * x))  # about half, of large x
        frame = pd.DataFrame({"x": x, "y": np.where(gone, np.nan, y), "c": np.where(gone[::-1], None, c)})
        tables, _ = completed_frames(frame, draws, random_state=seed)
        found = np.array([estimate(kind, one) for one in tables])
        truth = {"mean": 1.0, "share": 0.5}[kind]
        within, between = found[:, 1].mean(), found[:, 0].var(ddof=1)
        total = within + (1.0 + 1.0 / draws) * between
        dof = (draws - 1.0) * (1.0 + within / max((1.0 + 1.0 / draws) * between, 1e-12)) ** 2
        half = stats.t.ppf(0.95, dof) * np.sqrt(total)
        held.append(abs(found[:, 0].mean() - truth) <= half)
        some = frame.dropna()
        value, variance = estimate(kind, some)
        by_rows.append(abs(value - truth) <= 1.645 * np.sqrt(variance))
    error = np.sqrt(0.09 / repeats)
    assert np.mean(held) > 0.9 - 5.0 * error
    if kind == "mean":
        assert np.mean(by_rows) < 0.5


def estimate(kind, frame):
    """Return an estimate from a complete table, and its sampling variance."""
    n = len(frame)
    if kind == "mean":
        return frame["y"].mean(), frame["y"].var() / n
    p = (frame["c"] == "a").mean()
    return p, p * (1.0 - p) / n
