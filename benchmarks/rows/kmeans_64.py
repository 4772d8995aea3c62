"""K-means in 64 dimensions."""

from benchmarks.kmeans import row

ROW = row(
    name="kmeans_64",
    shows="20 iterations of k-means on 200,000 × 64, 64 clusters.",
    size=(200_000, 64, 64),
)
