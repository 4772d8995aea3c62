"""
A file larger than memory
=========================

A Parquet file is read block by block, and each block is reduced to a sufficient statistic. So the file may be
larger than memory, and the fit is the same as in memory. Here the file is small; the calls are the same.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import tractable

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)

# %%
# Trips by taxi: written in twenty parts, as a stream would arrive. No more than one part is ever held.
schema = pa.schema([("distance", pa.float64()), ("minutes", pa.float64()), ("fare", pa.float64())])
with pq.ParquetWriter(folder / "trips.parquet", schema) as file:
    for _ in range(20):
        distance = rng.gamma(2.0, 2.5, 5_000)
        minutes = 4.0 + 2.5 * distance * rng.lognormal(0.0, 0.3, 5_000)
        fare = 2.5 + 1.6 * distance + 0.35 * minutes + rng.normal(0.0, 1.5, 5_000)
        file.write_table(pa.table([distance, minutes, fare], schema=schema))

# %%
# `scan` says what is to be read, and reads nothing yet. The fit walks over it.
trips = tractable.scan(folder / "trips.parquet", features=["distance", "minutes"], target="fare")
model = tractable.BayesianLinearRegression().fit(trips)
held = pq.read_table(folder / "trips.parquet").to_pandas()
memory = tractable.BayesianLinearRegression().fit(held[["distance", "minutes"]], held["fare"])
print("streamed ", dict(zip(model.feature_names_in_.tolist(), model.coef_.round(8).tolist(), strict=True)))
print("in memory", dict(zip(memory.feature_names_in_.tolist(), memory.coef_.round(8).tolist(), strict=True)))

# %%
# Predictions go the same way, from file to file, with an interval for each row; columns may be carried along.
out = tractable.predict_to(model, trips, folder / "fares.parquet", interval=0.9, columns=["fare"])
answers = pq.read_table(out).to_pandas()
print(answers.head(3).round(2).to_string())
inside = np.mean((answers["low"] < answers["fare"]) & (answers["fare"] < answers["high"]))
print(f"{len(answers)} rows, {inside:.1%} of the fares inside the 90 % interval")

# %%
# EM needs several passes, and walks over the file as often as that; a histogram needs one. Neither holds it.
both = tractable.scan(folder / "trips.parquet", features=["distance", "fare"])
mixture = tractable.GaussianMixture(4, random_state=0).fit(both)
counts = tractable.Histogram((60, 60)).fit(both)
fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
tractable.plot(counts, ax=axes[0])
axes[0].set_title(f"a histogram of {counts.counts_.sum():.0f} rows")
tractable.plot(mixture, ax=axes[1])
axes[1].set_title(f"a mixture, after {mixture.n_iter_} passes")
for ax in axes:
    ax.set(xlim=(-2, 22), ylim=(-5, 75))
plt.show()
