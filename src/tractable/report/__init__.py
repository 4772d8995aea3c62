"""A report on a table: what is in it, in one page that needs nothing else.

The package is called as a function: ``tractable.report(frame, target="y")`` returns a `Report`, which shows
itself in a notebook. Beside the page itself it has what the code on a page runs, for readers who go on from
there.
"""

import sys
from inspect import signature
from types import ModuleType

from tractable.data.text import TableError
from tractable.report.candidates import Candidate, classifiers, log_regressors, regressors
from tractable.report.drift import Comparison, Drift, compare_tables
from tractable.report.fitted import (
    BoostedClasses,
    BoostedNumbers,
    BoostedTrees,
    EncodedModel,
    Encoder,
    FrameModel,
    JointModel,
    NearClasses,
    NearNumbers,
    OfLogarithm,
    SameForAll,
    encoder,
)
from tractable.report.held_out import HeldOut, Importance, compared, folds, held_out, importances
from tractable.report.joint import JointTable, completed_frames, joint_mixture, joint_table, question_table
from tractable.report.map import PrincipalAxes, filled, principal_axes
from tractable.report.mutual_information import pairwise_dependence
from tractable.report.page import Grid, Picture, Section
from tractable.report.predictor import TableColumn, TablePredictor, best_predictor
from tractable.report.reading import read_table, table_of
from tractable.report.report import Report, ReportSummary, make_report, report_on
from tractable.report.rows import copied_rows
from tractable.report.table import Column, Table
from tractable.report.time_order import with_dates

__all__ = [
    "BoostedClasses",
    "BoostedNumbers",
    "BoostedTrees",
    "Candidate",
    "Column",
    "Comparison",
    "Drift",
    "EncodedModel",
    "Encoder",
    "FrameModel",
    "Grid",
    "HeldOut",
    "Importance",
    "JointModel",
    "JointTable",
    "NearClasses",
    "NearNumbers",
    "OfLogarithm",
    "Picture",
    "PrincipalAxes",
    "Report",
    "ReportSummary",
    "SameForAll",
    "Section",
    "Table",
    "TableColumn",
    "TableError",
    "TablePredictor",
    "best_predictor",
    "classifiers",
    "compare_tables",
    "compared",
    "completed_frames",
    "copied_rows",
    "encoder",
    "filled",
    "folds",
    "held_out",
    "importances",
    "joint_mixture",
    "joint_table",
    "log_regressors",
    "make_report",
    "pairwise_dependence",
    "principal_axes",
    "question_table",
    "read_table",
    "regressors",
    "report_on",
    "table_of",
    "with_dates",
]


class _CallableModule(ModuleType):
    """The class of this package, which is also the verb of its name, whatever is imported first."""

    __call__ = staticmethod(report_on)
    __signature__ = signature(report_on)


sys.modules[__name__].__class__ = _CallableModule
