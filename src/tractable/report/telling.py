"""Which columns tell of a target, each by itself."""

from tractable.report.mutual_information import LEAST_ROWS, coded, information
from tractable.report.repeats import without_repeats
from tractable.report.table import Table

__all__ = ["telling_columns"]


def telling_columns(table: Table, target: str, rate: float = 0.01) -> list[str]:
    """Return the columns that depend on the target by more than chance, those that tell most first.

    Parameters
    ----------
    rate : float
        How probable it is at most that any one of them is there by chance (Bonferroni): a choice by so
        strict a test may be followed by models of the same rows, for it finds nothing in noise.
    """
    from scipy.special import chdtrc

    if target not in table.names("number", "category", "boolean"):
        return []
    names = table.names("number", "category", "boolean", "date", leave=target)
    table = without_repeats(table)
    y = coded(table, target)
    found = []
    for name in names:
        total, freedom, n = information(coded(table, name), y)
        if n >= LEAST_ROWS and freedom and chdtrc(freedom, 2.0 * n * total) < rate / len(names):
            found.append((total - freedom / (2.0 * n), name))
    return [name for _, name in sorted(found, key=lambda one: -one[0])]
