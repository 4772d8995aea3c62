"""Maps in few dimensions."""

from rows.row import Row
from tractable.manifold import TSNE, ClassicalMDS, Isomap, MetricMDS

DRAWN = "landmarks are drawn among the rows: of more rows, others"
UNIT = "the radius is a length in the unit of the rows"
SHORT = {"max_iter": 60, "early_exaggeration_iter": 20}
ROWS = [
    Row("ClassicalMDS", ClassicalMDS),
    Row("ClassicalMDS-manhattan", lambda: ClassicalMDS(3, metric="manhattan")),
    Row("Isomap", Isomap),
    Row(
        "Isomap-radius",
        lambda: Isomap(radius=2.0, n_components=1, metric="manhattan"),
        exempt={"units_scale_the_map_or_leave_it": UNIT},
    ),
    Row(
        "Isomap-landmarks",
        lambda: Isomap(n_neighbors=8, n_landmarks=20, random_state=0),
        exempt={
            "weights_are_repetitions": DRAWN,
            "check_sample_weight_equivalence_on_dense_data": DRAWN,
            "the_order_of_rows_does_not_matter": DRAWN,
        },
    ),
    Row("MetricMDS", MetricMDS),
    Row("MetricMDS-manhattan", lambda: MetricMDS(1, metric="manhattan")),
    Row("TSNE", TSNE),
    Row("TSNE-knn", lambda: TSNE(3, perplexity=4, bandwidth="knn", metric="manhattan", **SHORT)),
    Row("TSNE-fft", lambda: TSNE(perplexity=3, method="fft", **SHORT)),
]
