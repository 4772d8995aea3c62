"""Sources of rows: arrays, frames, batches and files behind one contract."""

from tractable.arrays.namespace import is_sparse
from tractable.data.arrays import ArraySource, DeviceArraySource, SparseSource
from tractable.data.blocks import block_rows, map_entries, map_rows, reduce_blocks, tree_sum
from tractable.data.dispatch import as_source, is_streamed, sample_rows, with_passes
from tractable.data.files import scan
from tractable.data.frames import is_frame
from tractable.data.predict_to import predict_to
from tractable.data.row_sample import draw_rows
from tractable.data.source import MAX_BATCH_ROWS, Batch, Composed, ForwardingSource, Prepared, Source, Whole
from tractable.data.table_columns import TableColumns

__all__ = [
    "MAX_BATCH_ROWS",
    "ArraySource",
    "Batch",
    "Composed",
    "DeviceArraySource",
    "ForwardingSource",
    "Prepared",
    "Source",
    "SparseSource",
    "TableColumns",
    "Whole",
    "as_source",
    "block_rows",
    "draw_rows",
    "is_frame",
    "is_sparse",
    "is_streamed",
    "map_entries",
    "map_rows",
    "predict_to",
    "reduce_blocks",
    "sample_rows",
    "scan",
    "tree_sum",
    "with_passes",
]
