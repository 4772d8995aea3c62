"""The page on scikit-learn names every check that an estimator is exempt from."""

from pathlib import Path

from catalogue import ESTIMATORS

PAGE = Path(__file__).parent.parent / "docs" / "coming_from_scikit_learn.md"


def test_every_exemption_is_on_the_page():
    section = PAGE.read_text().partition("## Checks of scikit-learn that do not apply")[2]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    for row in ESTIMATORS:
        kind = type(row.make()).__name__
        for check in row.exempt:
            if check.startswith("check_") and not row.name.startswith("toy-"):
                assert any(f"`{check}`" in line and f"`{kind}`" in line for line in lines), (kind, check)
