"""Maps in few dimensions."""

from rows.row import Row
from tractable.manifold import ClassicalMDS, MetricMDS

ROWS = [
    Row("ClassicalMDS", ClassicalMDS),
    Row("ClassicalMDS-manhattan", lambda: ClassicalMDS(3, metric="manhattan")),
    Row("MetricMDS", MetricMDS),
    Row("MetricMDS-manhattan", lambda: MetricMDS(1, metric="manhattan")),
]
