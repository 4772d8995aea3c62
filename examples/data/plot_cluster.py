"""
A mixture on a cluster
======================

Rows in the partitions of a Dask dataframe stay where they are: each worker sums up its own, and the sums are
added. The fit is that of the table in memory, up to rounding, wherever the partitions are cut.
"""

import dask.dataframe as dd
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

import tractable

# %%
# A cluster on this machine. Here its two workers are threads, so that the script can be run as it is; in a
# program leave out ``processes=False``, and put the main part under ``if __name__ == "__main__":``. Only this
# line is another for machines reached by SSH, or on Kubernetes.
client = Client(LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"))

# %%
# The eruptions of Old Faithful, sorted by the waiting time: no partition looks like the whole.
table = tractable.datasets.load("old_faithful").frame.sort_values("waiting", ignore_index=True)
rows = dd.from_pandas(table, npartitions=3, sort=False)

# %%
# The same call for both, and the same answer.
model = tractable.GaussianMixture(2, random_state=0).fit(rows)
whole = tractable.GaussianMixture(2, random_state=0).fit(table)
print("iterations:", model.n_iter_, "and", whole.n_iter_)
print("largest difference of the means:", np.abs(model.means_ - whole.means_).max())

# %%
# Answers are lazy dataframes and series like the rows: nothing is computed until it is asked for.
found = rows.assign(component=model.predict(rows), log_density=model.score_samples(rows))
print(found.nlargest(2, "log_density").compute().round(2))

# %%
# Left, what each worker has seen; right, the density that all of them have fitted.
fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharex=True, sharey=True)
for number, colour in enumerate(("#0072B2", "#D55E00", "#009E73")):
    part = rows.get_partition(number).compute()
    axes[0].scatter(
        part["eruptions"], part["waiting"], s=12, color=colour, lw=0, label=f"partition {number + 1}"
    )
grid = np.stack(np.meshgrid(np.linspace(1.2, 5.6, 120), np.linspace(38, 100, 120)), axis=-1)
density = model.distribution_.log_prob(grid)
axes[1].contourf(*np.moveaxis(grid, -1, 0), np.exp(density), levels=12, cmap="Blues")
axes[1].scatter(table["eruptions"], table["waiting"], s=5, color="0.35", lw=0)
axes[0].set(title="three partitions", ylabel="minutes to the next eruption")
axes[1].set(title="one mixture")
for ax in axes:
    ax.set_xlabel("minutes of the eruption")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].legend(frameon=False, loc="lower right")
plt.show()

# %%
client.shutdown()
