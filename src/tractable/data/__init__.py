"""What a fold walks: arrays, frames, batches and files, behind one contract."""

from tractable.data.arrays import ArraySource
from tractable.data.dispatch import as_source, is_streamed
from tractable.data.files import scan
from tractable.data.frames import is_frame
from tractable.data.predict_to import predict_to
from tractable.data.sample import sample_rows
from tractable.data.source import MAX_BATCH_ROWS, Batch, PassedOn, Source
from tractable.data.table_columns import TableColumns

__all__ = [
    "MAX_BATCH_ROWS",
    "ArraySource",
    "Batch",
    "PassedOn",
    "Source",
    "TableColumns",
    "as_source",
    "is_frame",
    "is_streamed",
    "predict_to",
    "sample_rows",
    "scan",
]
