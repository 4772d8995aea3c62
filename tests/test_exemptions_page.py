"""The page on scikit-learn names every check and every law that an object of the catalogue is exempt from."""

from pathlib import Path

import pytest

import catalogue

PAGE = Path(__file__).parent.parent / "docs" / "coming_from_scikit_learn.md"
TABLES = ("DISTRIBUTIONS", "COVARIANCES", "KERNELS", "STATISTICS", "CONJUGATE_MODELS", "ESTIMATORS")


def lines_of(title):
    section = PAGE.read_text().partition(f"## {title}")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("|")]


def exemptions(table):
    """Class and law of every exemption."""
    return {
        (type(row.make()).__name__, law)
        for row in getattr(catalogue, table)
        for law in row.exempt
        if not row.name.startswith("toy-")
    }


@pytest.mark.parametrize("table", TABLES)
def test_every_exemption_is_on_the_page(table):
    checks = lines_of("Checks of scikit-learn that do not apply")
    laws = lines_of("Laws of this library that do not apply")
    for kind, law in exemptions(table):
        lines = checks if law.startswith("check_") else laws
        assert any(f"`{law}`" in line and f"`{kind}`" in line for line in lines), (kind, law)


def test_the_page_names_no_exemption_that_there_is_not():
    known = set().union(*map(exemptions, TABLES))
    for line in lines_of("Checks of scikit-learn that do not apply")[2:]:
        laws, kinds = (cell.split("`")[1::2] for cell in line.split("|")[1:3])
        assert all(any((kind, law) in known for law in laws) for kind in kinds), line
    for line in lines_of("Laws of this library that do not apply")[2:]:
        laws, kinds = (cell.split("`")[1::2] for cell in line.split("|")[1:3])
        assert all((kind, law) in known for kind in kinds for law in laws), line
