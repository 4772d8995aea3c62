"""A report on a table: what is in it, in one page that needs nothing else.

Beside the page itself: what the code on a page runs, for readers who go on from there.
"""

from tractable.data.text import TableError
from tractable.report.candidates import Candidate, classifiers, encoder, log_regressors, regressors
from tractable.report.held_out import HeldOut, Importance, compared, folds, held_out, importances
from tractable.report.map import PrincipalAxes, filled, principal_axes
from tractable.report.mutual_information import pairwise_dependence
from tractable.report.page import Grid, Picture, Section
from tractable.report.reading import read_table, table_of
from tractable.report.report import ReportSummary, make_report
from tractable.report.rows import copied_rows
from tractable.report.table import Column, Table
from tractable.report.time_order import with_dates

__all__ = [
    "Candidate",
    "Column",
    "Grid",
    "HeldOut",
    "Importance",
    "Picture",
    "PrincipalAxes",
    "ReportSummary",
    "Section",
    "Table",
    "TableError",
    "classifiers",
    "compared",
    "copied_rows",
    "encoder",
    "filled",
    "folds",
    "held_out",
    "importances",
    "log_regressors",
    "make_report",
    "pairwise_dependence",
    "principal_axes",
    "read_table",
    "regressors",
    "table_of",
    "with_dates",
]
