"""The method index says what the library and the tests say."""

import pytest
from tools import method_index

TABLE = """\
<!-- counts -->
…
<!-- end -->
| row | what | API | test |
|---|---|---|---|
| DIST-31 | p(a\\|b) | `Moments` | – |
| KER-01 | kernels | planned: `kernels.NoSuchKernel` | – |
"""


def test_index_is_up_to_date(capsys):
    assert method_index.main(["--check"]) == 0, capsys.readouterr().out


def test_columns_are_made_from_the_library_and_the_markers():
    renewed = method_index.renewed_index(TABLE, {"DIST-31": ["tests/a.py", "tests/b.py"]})
    assert "| DIST-31 | p(a\\|b) | `Moments` | `tests/a.py`, `tests/b.py` |" in renewed
    assert "**2** rows; **1** have a name today, **1** are shown by a test." in renewed
    assert method_index.renewed_index(renewed, {"DIST-31": ["tests/a.py", "tests/b.py"]}) == renewed


@pytest.mark.parametrize(
    ("api", "there"),
    [
        ("Moments.of", True),
        ("GaussianDensity(ddof=1)", True),
        ("GaussianDensity(no_such_option=1)", False),
        ("NoSuchName", False),
        ("docs/conf.py", True),
        ("examples/no_such_script.py", False),
    ],
)
def test_a_name_is_planned_until_it_can_be_imported(api, there):
    assert method_index.exists(api) is there


def test_unknown_rows_and_rows_shown_but_planned_are_problems():
    found = method_index.problems(TABLE, {"DIST-99": ["tests/a.py"], "KER-01": ["tests/b.py"]})
    assert any("DIST-99" in line for line in found)
    assert any("KER-01: shown by" in line for line in found)


def test_markers_are_read_as_literals(tmp_path):
    tests = tmp_path / "tests"
    tests.mkdir()
    (tests / "test_a.py").write_text('@pytest.mark.spec("ROW-01", "ROW-02")\ndef test(): ...\n')
    assert method_index.markers(tests) == {row: ["tests/test_a.py"] for row in ("ROW-01", "ROW-02")}
    (tests / "test_b.py").write_text("@pytest.mark.spec(*ROWS)\ndef test(): ...\n")
    with pytest.raises(SystemExit, match=r"test_b\.py:1"):
        method_index.markers(tests)
