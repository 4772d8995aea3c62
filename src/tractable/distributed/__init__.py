"""Collections of Dask as sources: rows are reduced on the workers that hold them, by a tree.

Models do not know it: `tractable.data.as_source` finds this package when it is given a collection.
"""

from tractable.distributed.collections import collection_source
from tractable.distributed.results import lazy_result, predict_to_folder
from tractable.distributed.source import DaskSource
from tractable.distributed.tables import DaskTables, collection_tables

__all__ = [
    "DaskSource",
    "DaskTables",
    "collection_source",
    "collection_tables",
    "lazy_result",
    "predict_to_folder",
]
