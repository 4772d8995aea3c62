"""Reports on tables of all sorts: written whole, without surprises, with the code to make them again."""

import json
from html.parser import HTMLParser

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from quick import some
from tractable import datasets
from tractable.report import TableError, make_report, read_table, table_of
from tractable.report.dependence import section as dependence
from tractable.report.overview import section as overview
from tractable.report.report import SECTIONS

mpl.use("Agg")


class Page(HTMLParser):
    """What a browser would see of a page, in short."""

    def __init__(self, text):
        super().__init__()
        self.text, self.tags, self.figures, self.code, self.words = text, [], 0, [], []
        self._in_code = self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.figures += tag == "figure"
        self._in_code = self._in_code or tag == "code"
        self._in_style = tag in ("style", "script")
        if tag == "code":
            self.code.append("")

    def handle_endtag(self, tag):
        self._in_code = self._in_code and tag != "code"
        self._in_style = False

    def handle_data(self, data):
        if self._in_code:
            self.code[-1] += data
        elif not self._in_style:
            self.words.append(data)

    @property
    def said(self):
        return " ".join(self.words)


@pytest.fixture
def report(tmp_path, monkeypatch):
    """Make a report, or its first sections alone, and return its summary and its page."""

    def made(data, n_sections=None, **options):
        monkeypatch.setattr("tractable.report.report.SECTIONS", SECTIONS[:n_sections])
        summary = make_report(data, path=tmp_path / "report.html", **options)
        return summary, Page((tmp_path / "report.html").read_text(encoding="utf-8"))

    return made


@pytest.fixture(scope="module")
def bundled(tmp_path_factory):
    """The report on the bundled table, made once."""
    path = tmp_path_factory.mktemp("bundled") / "report.html"
    summary = make_report(target="species", path=path)
    return summary, Page(path.read_text(encoding="utf-8"))


def columns(n=60, **more):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {"x": x, "y": 2 * x + rng.normal(size=n), "k": np.array(["a", "b"])[(x > 0) * 1], **more}
    )


@pytest.mark.slow
def test_the_bundled_table(bundled):
    summary, page = bundled
    assert (summary.rows, summary.columns, summary.target) == (344, 8, "species")
    assert summary.sections == (
        *("overview", "dependence", "clusters", "map", "outliers", "models"),
        "what_if",
    )
    assert not [note for note in summary.notes if "left out" in note]
    assert page.figures >= 14
    assert 100_000 < len(page.text.encode()) < 5_000_000
    assert page.tags.count("script") == 2
    assert "http:" not in page.text
    assert "https:" not in page.text
    json.dumps(summary.as_dict(), allow_nan=False)
    assert summary.findings["dependence"]["of_target"][0]["columns"] == ["species", "flipper_length_mm"]


OTHERS = [
    pytest.param(name, marks=() if name == "iris" else pytest.mark.slow)
    for name in datasets.names()
    if name != "penguins"
]


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_no_section_fails_on_the_other_bundled_tables(report, name):
    table = datasets.load(name)
    summary, _ = report(table.frame, target=table.target_name)
    assert not [note for note in summary.notes if "left out" in note]


def test_the_code_in_the_page_of_a_small_file_runs(report, tmp_path, capsys):
    columns(50).to_csv(tmp_path / "few.csv", index=False)
    summary, page = report(tmp_path / "few.csv", target="k")
    assert len(page.code) == len(summary.sections)
    for code in page.code:
        exec(code, {})
    assert "x number" in capsys.readouterr().out


@pytest.mark.slow
def test_the_code_in_the_page_of_the_bundled_table_runs(bundled, capsys):
    summary, page = bundled
    assert len(page.code) == len(summary.sections)
    for code in page.code:
        exec(code, {})
    assert "bill_length_mm number 2" in capsys.readouterr().out


@pytest.mark.slow
def test_a_file(report, tmp_path, capsys):
    datasets.load("iris").frame.to_csv(tmp_path / "iris.csv", index=False)
    summary, page = report(tmp_path / "iris.csv")
    assert summary.title == "Report on iris.csv"
    for code in page.code:
        exec(code, {})
    capsys.readouterr()


@pytest.mark.slow
def test_the_same_number_gives_the_same_page(report):
    frame = columns(300)
    first, second = (report(frame, random_state=3)[1].text for _ in range(2))
    assert first == second


def test_progress_is_told_and_does_not_go_back(report):
    told = []
    report(columns(12), n_sections=2, progress=lambda text, done: told.append((text, done)))
    parts = [done for _, done in told if done is not None]
    assert parts == sorted(parts)
    assert 0 <= parts[0] <= parts[-1] <= 1
    assert "looking at each column" in [text for text, _ in told]


def test_hostile_names_and_entries(report):
    bad = "<script>alert(1)</script>"
    frame = columns(
        30, **{bad: [bad, "b&b", "c"] * 10, "$x^{": np.arange(30.0) ** 2, "\x00": ["é"] * 15 + ["你"] * 15}
    )
    frame.columns = [*frame.columns[:-1], ""]
    summary, page = report(frame, target=bad)
    assert summary.target == bad
    assert page.tags.count("script") == 2
    assert bad in page.said
    assert "column 6" in page.said
    assert not [note for note in summary.notes if "left out" in note]


def test_one_column(report):
    summary, page = report(columns()[["x"]])
    assert "overview" in summary.sections
    assert "dependence" not in summary.sections
    assert page.figures >= 1


def test_one_row(report):
    summary, _ = report(columns(1))
    assert summary.rows == 1
    assert not [note for note in summary.notes if "left out" in note]


def test_all_missing(report):
    summary, page = report(pd.DataFrame({"a": [None] * 9, "b": [np.nan] * 9}))
    assert summary.sections == ("overview",)
    assert "2 empty" in page.said
    assert "Constant or empty columns: a and b" in page.said


@pytest.mark.slow
def test_ten_thousand_columns(report, tmp_path):
    rng = np.random.default_rng(0)
    names = [f"c{i}" for i in range(10_000)]
    pd.DataFrame(rng.normal(size=(40, 10_000)).round(3), columns=names).to_csv(
        tmp_path / "w.csv", index=False
    )
    summary, page = report(tmp_path / "w.csv", target="c9999")
    assert summary.columns == 10_000
    assert summary.target == "c9999"
    assert "10,000 columns; 100 of them are looked at" in page.said
    assert "24 of 100 columns are pictured" in page.said
    assert len(page.text.encode()) < 5_000_000
    with pytest.raises(TableError, match="did you mean 'c9998'"):
        make_report(tmp_path / "w.csv", target="C9998", path=tmp_path / "r.html")


@pytest.mark.slow
def test_dates_and_text(report):
    days = pd.date_range("2024-01-01", periods=60)
    words = [
        f"a long remark, number {i}, that nobody else has made before, and which goes on" for i in range(60)
    ]
    summary, page = report(columns(when=days, said=words, id=np.arange(60)), n_sections=2)
    assert summary.findings["overview"]["kinds"] == {
        "x": "number", "y": "number", "k": "category", "when": "date", "said": "text", "id": "identifier",
    }  # fmt: skip
    assert "2024-01-01 to 2024-02-29" in page.said
    assert "Not compared, since they have too many different values: said and id" in page.said


def test_a_target_that_does_not_exist(tmp_path):
    with pytest.raises(TableError, match="target: no column 'specie' in penguins; did you mean 'species'"):
        make_report(target="specie", path=tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entries", "words"),
    some(
        [
            (["same"] * 60, "one value only (always same)"),
            ([None] * 60, "no entry"),
            (list(range(60)), "names the rows"),
            (list(pd.date_range("2024-01-01", periods=60)), "dates"),
        ],
        several=True,
    ),
)
def test_a_target_that_cannot_be_predicted(report, entries, words):
    summary, page = report(columns(u=entries), n_sections=2, target="u")
    assert summary.target is None
    assert "The target 'u' cannot be predicted: " in page.said
    assert words in page.said
    assert "dependence" in summary.sections


def test_a_section_that_fails_is_left_out_and_said(report, monkeypatch):
    def broken(table, *, target, rng):
        raise ArithmeticError("too odd\nfor words")

    monkeypatch.setattr("tractable.report.dependence.section", broken)
    summary, page = report(columns(12), n_sections=2)
    assert "overview" in summary.sections
    assert "dependence" not in summary.sections
    assert (
        "A part of the report, comparing pairs of columns, failed on this table and is left out" in page.said
    )
    assert "for words" not in page.said


def test_a_page_that_cannot_be_written(tmp_path):
    with pytest.raises(TableError, match="path: no such folder: "):
        make_report(columns(), path=tmp_path / "nowhere" / "report.html")
    with pytest.raises(TableError, match=r"path: .* is a folder"):
        make_report(columns(), path=tmp_path)
    columns().to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(TableError, match=r"path: .*t.csv is a file that is being read"):
        make_report(tmp_path / "t.csv", path=tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").n_rows == 60


@pytest.mark.parametrize(
    "values",
    some(
        [
            np.r_[np.zeros(90), np.arange(10.0)],
            np.r_[np.random.default_rng(0).normal(size=99), 1e9],
            1e100 * np.random.default_rng(0).normal(size=100),
            1e-100 * np.random.default_rng(0).normal(size=100),
            1e9 + np.random.default_rng(0).normal(size=100),
            np.exp(3 * np.random.default_rng(0).normal(size=100)),
            np.r_[np.full(97, np.nan), 1.5, 2.5, 7.0],
            np.r_[np.full(91, np.nan), np.arange(9.0)] / 7,
        ],
    ),
    ids=[
        "many equal",
        "one far away",
        "huge",
        "tiny",
        "far from 0",
        "skewed",
        "three numbers",
        "few numbers",
    ],
)
def test_numbers_of_all_sizes(values, rng):
    table = table_of(columns(100, z=values))
    assert len(overview(table, rng=rng).pictures) == 4
    found = dependence(table, rng=rng)
    for pair in found.findings["strongest"]:
        assert 0 <= pair["strength"] <= 1


def test_long_tables_say_what_was_counted_and_what_was_sampled(tmp_path, rng):
    n = 30_000
    pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n)}).to_csv(tmp_path / "l.csv", index=False)
    table = read_table(tmp_path / "l.csv", max_rows=2000)
    assert "2,000 rows" in overview(table, rng=rng).done
    assert dependence(table, rng=rng).findings["pairs"] == 1
