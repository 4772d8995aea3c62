"""What a column of a table may hold, by its kind."""

from tractable.data.table_columns import TableColumns

__all__ = ["check_entries"]


def check_entries(
    columns: TableColumns,
    j: int,
    low: float,
    high: float,
    *,
    whole: bool,
    argument: str = "X",
    kind: str | None = None,
) -> None:
    """Refuse a counted column whose entries reach from `low` to `high`, unless its kind admits them."""
    kind, name = kind or columns.kinds[j], columns.label(j)
    if low < 0:
        raise ValueError(
            f"Negative values in data: {argument} has {low:g} in the column {name!r}, which is {kind}"
        )
    if not whole:
        raise ValueError(f"{argument} must have whole numbers in the column {name!r}, which is {kind}")
    if kind == "bernoulli" and high > 1:
        raise ValueError(
            f"{argument} must have zeros and ones in the column {name!r}, which is bernoulli; got {high:g}"
        )
