"""A report on a table: what is in it, in one page that needs nothing else."""

from tractable.report.reading import read_table, table_of
from tractable.report.section import Grid, Picture, Section
from tractable.report.table import Column, Table, TableError

__all__ = ["Column", "Grid", "Picture", "Section", "Table", "TableError", "read_table", "table_of"]
