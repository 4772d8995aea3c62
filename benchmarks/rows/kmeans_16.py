"""K-means in 16 dimensions."""

from benchmarks.kmeans import row

ROW = row(
    name="kmeans_16",
    shows="20 iterations of k-means on 200,000 × 16, 50 clusters.",
    size=(200_000, 16, 50),
)
