"""One draw from each of ten thousand different Gammas."""

from dataclasses import replace

from benchmarks.rows import gamma_sample

ROW = replace(
    gamma_sample.ROW,
    name="gamma_sample_once",
    shows="One draw from each of 10,000 different Gammas.",
    size=(1, 10_000),
    limit="a normal and a uniform number a draw, by NumPy's own generator, on one core.",
    memory=False,
)
