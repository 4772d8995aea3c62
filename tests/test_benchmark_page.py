"""The page of results says what was measured, wins and losses alike, and nothing else."""

import json
from dataclasses import replace
from itertools import chain

import pytest
from benchmarks import measured
from benchmarks import page as page_module
from benchmarks.behind import behind
from benchmarks.front import TELLING, front_table
from benchmarks.machine import machine
from benchmarks.page import BEGIN, END, inserted, main
from benchmarks.peers import package_of, rival
from benchmarks.rows import all_rows
from benchmarks.sections import by_section, sections_of
from benchmarks.sentences import page
from benchmarks.targets import counted, unexplained, unjudged


def sample(wall):
    return {"wall": wall, "cpu": 2.0 * wall, "foreign": 0.0}


def raw(name="kmeans_16", *, peer="faiss", ratios=(2.0, 3.0, 4.0), met=True, **changes):
    """One row of a file of results."""
    duel = {
        "peer": peer,
        "ratio": sorted(ratios)[len(ratios) // 2] if ratios else None,
        "cpu_ratio": 1.5 if ratios else None,
        "target": "at least 2×",
        "met": met,
        "discarded": 0 if ratios else 21,
        "pairs": [{"ours": sample(0.1), "peer": sample(0.1 * ratio)} for ratio in ratios],
    }
    row = {
        "name": name,
        "measured": "2026-01-02T00:00:00Z",
        "size": repr(all_rows()[name].size) if name in all_rows() else None,
        "problem": "",
        "note": "ours finds 99 %, faiss 98 %",
        "first_call_seconds": {"ours": 0.5, peer: 0.001},
        "peak_bytes_above_baseline": {"ours": 50e6, peer: 3e6},
        "memory_limit_mb": 60.0,
        "memory_met": True,
        "duels": [duel],
    }
    return {**row, **changes}


def today(**changes):
    """The rows as they are, down to one."""
    told = replace(all_rows()["kmeans_16"], shows="Twenty iterations.", limit="a matrix product.", **changes)
    return {"kmeans_16": told}


@pytest.fixture
def kept(tmp_path):
    """Write rows into files of results and merge them."""

    def merged(*files):
        paths = []
        for number, rows in enumerate(files):
            paths.append(tmp_path / f"2026010{number + 1}T000000Z.json")
            paths[-1].write_text(json.dumps({"machine": machine(), "rows": rows}))
        return measured.merged(measured.read(tmp_path / "nothing.json"), paths, all_rows())

    return merged


def test_every_row_is_in_one_section():
    assert {name: len(sections_of(name)) for name in all_rows()} == dict.fromkeys(all_rows(), 1)
    assert sorted(chain(*by_section(all_rows()).values())) == sorted(all_rows())


def test_the_page_is_what_the_tool_writes_from_what_is_kept():
    written = page_module.PAGE.read_text(encoding="utf-8")
    assert written == page(measured.read(), all_rows()), "run: make bench-page"


def test_the_table_of_the_readme_is_too():
    text = page_module.README.read_text(encoding="utf-8")
    assert text == inserted(text, front_table(measured.read(), all_rows())), "run: make bench-page"


def test_what_is_kept_is_of_rows_that_there_are():
    known = measured.read()
    assert all(measured.fits(row, all_rows().get(name)) for name, row in known["rows"].items())
    assert {row["machine"] for row in known["rows"].values()} == set(range(len(known["machines"])))


def test_a_row_is_told_in_full(kept):
    text = page(kept([raw()]), today())
    assert "| `kmeans_16` | faiss | **3.00** (2.00 to 4.00) | 1.50 | at least 2×: met |" in text
    version = machine()["packages"].get("faiss-cpu", "version not recorded")
    assert (
        f"`kmeans_16`: Twenty iterations. 100 ms, against 300 ms of faiss (faiss-cpu {version}) (3 pairs)."
        in text
    )
    assert "Peak memory 50 MB (target: at most 60 MB: met), against 3 MB of faiss." in text
    assert "ours finds 99 %, faiss 98 %. What bounds it: a matrix product." in text


def test_rows_without_a_measurement_are_said_not_to_have_one(kept):
    text = page(kept(), today())
    assert "`kmeans_16`: Twenty iterations. **Not measured.**" in text
    assert "| `kmeans_16` | scikit-learn lloyd | not measured | | at least 2×: not measured |" in text
    assert "|  | faiss | not measured | | at least 1×: not measured |" in text
    assert "Targets not measured, or not assessed: `kmeans_16`." in text
    assert "Nothing has been measured yet." in text
    assert front_table(kept(), all_rows()).count("| not measured |") == len(TELLING)


def test_losses_are_told_like_wins(kept):
    lost = raw(ratios=(0.4, 0.5, 0.6), met=False, memory_met=False)
    known = kept([lost])
    text = page(known, today(reason="Our product is slow."))
    assert "**0.50** (0.40 to 0.60) | 1.50 | at least 2×: **missed** |" in text
    assert "Why a target is missed: Our product is slow." in text
    section = behind(known, today())
    assert "Slower than a rival: `kmeans_16` (0.50 times as fast as faiss)." in section
    assert "`kmeans_16` (0.50 times faster than faiss, target at least 2×)" in section
    assert "`kmeans_16` (50 MB, target 60 MB)" in section
    assert "`kmeans_16` (50 MB against 3 MB of faiss)" in section
    assert "ours takes 500 ms on the median row" in section


def test_the_front_table_has_a_row_where_a_rival_is_furthest_ahead(kept):
    behind_all = raw("import_model", peer="import sklearn.base", ratios=(0.9,))
    known = kept(
        [
            raw("gmm_full", peer="scikit-learn"),
            behind_all,
            raw("kde_loo", peer="one evaluation", ratios=(0.1,)),
        ]
    )
    lines = front_table(known, all_rows()).splitlines()
    assert "| import sklearn.base | **0.90** (0.90 to 0.90) |" in lines[2 + len(TELLING)]
    assert not any("one evaluation" in line for line in lines)


def test_targets_without_a_measurement_are_counted_too(kept):
    told = today()["kmeans_16"]
    assert counted(kept(), today()) == (
        "Of 4 targets of time and memory: 0 met, 0 missed, 4 not measured or not assessed."
    )
    late = {**raw()["duels"][0], "peer": "scikit-learn lloyd", "met": False}
    known = kept([raw(duels=[late, *({**late, "peer": peer, "met": True} for peer in ("faiss", "other"))])])
    assert told.targets["faiss"].words == "at least 1×"  # and 2× was measured: that target is open
    assert counted(known, today()) == (
        "Of 4 targets of time and memory: 1 met, 1 missed, 2 not measured or not assessed."
    )
    assert unjudged(known, today()) == ["kmeans_16"]
    assert counted(known, today()) in front_table(known, today())
    assert counted(known, today()) in page(known, today())


def test_every_target_of_the_rows_is_counted():
    rows = all_rows().values()
    expected = sum(len(row.targets) + (row.memory_limit_mb is not None) for row in rows)
    for text in (page_module.PAGE, page_module.README):
        assert f"Of {expected} targets of time and memory:" in text.read_text(encoding="utf-8")


def test_a_missed_target_without_a_reason_is_named(kept):
    assert unexplained(kept([raw(memory_met=False)]), today()) == ["kmeans_16"]
    assert unexplained(kept([raw(met=False)]), today()) == ["kmeans_16"]
    assert unexplained(kept([raw(met=False)]), today(reason="Our product is slow.")) == []
    assert unexplained(kept([raw()]), today()) == []
    text = page(kept([raw(memory_met=False)]), today(reason="All rows are copied."))
    assert "Why a target is missed: All rows are copied." in text


def test_work_that_cores_hide_is_told(kept):
    known = kept([raw()])
    assert "More CPU than a rival: none." in behind(known, today())
    known["rows"]["kmeans_16"]["duels"][0]["cpu_ratio"] = 0.5
    assert "More CPU than a rival: `kmeans_16` (2.00 times the CPU of faiss, 3.00 times as fast)." in behind(
        known, today()
    )


def test_a_busy_machine_gives_no_figure_and_takes_none_away(kept):
    busy = raw(ratios=(), met=None, measured="2026-01-03T00:00:00Z")
    text = page(kept([busy]), today())
    assert "no figure: the machine was too busy, 21 pairs discarded" in text
    assert "at least 2×: not assessed" in text
    assert kept([raw()], [busy])["rows"]["kmeans_16"]["duels"][0]["ratio"] == 3.0


def test_the_newest_counts_and_rows_that_are_gone_do_not(kept):
    newer = raw(ratios=(5.0,), measured="2026-01-03T00:00:00Z")
    for files in ([raw()], [newer]), ([newer], [raw()]):
        assert kept(*files)["rows"]["kmeans_16"]["duels"][0]["ratio"] == 5.0
    assert not kept([raw("no_such_row")])["rows"]
    assert not kept([raw(size="another")])["rows"]
    unnamed = raw()
    del unnamed["measured"]
    assert kept([unnamed])["rows"]["kmeans_16"]["measured"] == "2026-01-01T00:00:00Z"


def test_answers_that_differ_replace_an_older_figure(kept):
    wrong = raw(problem="the answers differ: 1 and 2", duels=[], measured="2026-01-03T00:00:00Z")
    known = kept([raw()], [wrong])
    assert "no figure" in page(known, today())
    assert "`kmeans_16`: the answers differ: 1 and 2." in behind(known, today())


def test_merging_what_is_kept_changes_nothing(kept, tmp_path):
    known = kept([raw(), raw("gmm_full", peer="scikit-learn")])
    measured.write(known, tmp_path / "measured.json")
    assert measured.merged(measured.read(tmp_path / "measured.json"), [], all_rows()) == known


@pytest.mark.parametrize("text", ["no marks", f"{END}\n{BEGIN}", f"{BEGIN} {BEGIN} {END}"])
def test_a_text_without_marks_is_refused(text):
    with pytest.raises(SystemExit, match=r"README\.md needs a line <!-- benchmarks --> and below it"):
        inserted(text, "table")


def test_the_table_goes_between_the_marks():
    once = inserted(f"before\n{BEGIN}\nold\n{END}\nafter\n", r"| \1 |")
    assert once == f"before\n{BEGIN}\n\n| \\1 |\n{END}\nafter\n"
    assert inserted(once, r"| \1 |") == once


def test_check_names_a_text_that_is_out_of_date(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(page_module, "ROOT", tmp_path)
    monkeypatch.setattr(page_module, "PAGE", tmp_path / "benchmarks.md")
    monkeypatch.setattr(page_module, "README", tmp_path / "README.md")
    (tmp_path / "README.md").write_text(f"{BEGIN}\n{END}\n")
    assert main(["--check"]) == 1
    said = capsys.readouterr().out
    assert "benchmarks.md is not what measured.json says; run: make bench-page" in said
    assert "README.md is not" in said


def test_the_package_behind_a_peer():
    assert package_of("scikit-learn lbfgs") == "scikit-learn"
    assert package_of("SciPy cKDTree") == "scipy"
    assert package_of("exact (ours)") is None
    assert package_of("pandas: read_csv, describe") == "pandas"
    assert [rival(peer) for peer in ("faiss", "pandas: read_csv, describe", "exact (ours)")] == [
        True,
        False,
        False,
    ]


def test_versions_of_all_peers_are_recorded():
    wanted = {package_of(peer) for row in all_rows().values() for peer in row.peers} - {None}
    assert wanted <= set(machine()["packages"])
