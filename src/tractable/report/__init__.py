"""A report on a table: what is in it, in one page that needs nothing else."""

from tractable.report.mutual_information import pairwise_dependence
from tractable.report.reading import read_table, table_of
from tractable.report.report import ReportSummary, make_report
from tractable.report.section import Grid, Picture, Section
from tractable.report.table import Column, Table, TableError

__all__ = [
    "Column",
    "Grid",
    "Picture",
    "ReportSummary",
    "Section",
    "Table",
    "TableError",
    "make_report",
    "pairwise_dependence",
    "read_table",
    "table_of",
]
