"""Exact neighbours in 64 dimensions."""

from benchmarks.neighbours import memory_limit, row

ROW = row(
    name="knn_64",
    shows="The 10 nearest of 100,000 points for 10,000 rows, D = 64, in double precision.",
    dim=64,
    peers=("scikit-learn brute", "faiss"),
    targets={"scikit-learn brute": 1.8, "faiss": 1.0},
    limit="the matrix product of rows and points in single precision, and one look at each entry.",
    memory_limit_mb=memory_limit(64),
)
