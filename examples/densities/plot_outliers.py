"""
Outliers are rows of low density
================================

A row can be usual in every column, and unusual in their combination. A joint density finds such rows. Draws
from the model give a scale for the scores.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

columns = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
birds = tractable.datasets.load("penguins").frame[columns].copy()

# %%
# Three entries are altered. Each stays well within the range of its column.
birds.loc[10, "bill_depth_mm"] = 13.2
birds.loc[200, "body_mass_g"] = 3100.0
birds.loc[300, "flipper_length_mm"] = 222.0
altered = [10, 200, 300]
print(((birds.loc[altered] - birds.mean()) / birds.std()).round(1).to_string())

# %%
# A mixture of as many Gaussians as BIC asks for, fitted to all rows, the odd ones among them. Two birds were
# not measured: they say nothing, and their log density is zero. A row is an outlier if the model would draw
# one so improbable less than once in a thousand times.
model = tractable.select_components(birds, range(2, 5), "full").best_model
measured = birds.notna().any(axis=1)
scores = model.score_samples(birds)
density = model.distribution_
limit = np.quantile(density.log_prob(density.sample(100_000, rng=0)), 0.001)
flagged = birds.index[measured & (scores < limit)]
print(f"{model.n_components} components; the limit is {limit:.1f} nats")
print("rows below it:", dict(zip(flagged.tolist(), scores[flagged].round(1).tolist(), strict=True)))

# %%
# Which entry is to blame? The one that the others of the row find least probable: p(entry | the rest).
for row in altered:
    given = {name: model.condition(birds.drop(columns=name).loc[row].to_dict()) for name in columns}
    surprise = {name: -float(given[name].log_prob([birds.loc[row, name]])) for name in columns}
    worst = max(surprise, key=surprise.get)
    print(f"row {row}: {worst} {birds.loc[row, worst]:g}; the others say {given[worst].mean[0]:.0f}")

# %%
# In two columns at a time the altered birds stand apart only where the pair is the right one. The fourth bird
# was not altered: a Chinstrap with the longest bill but one of all.
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
for ax, (first, second) in zip(axes, ((0, 1), (0, 2), (2, 3)), strict=True):
    x, y = columns[first], columns[second]
    ax.scatter(birds[x], birds[y], s=10, color="0.7", lw=0, label="birds")
    ax.scatter(birds[x][flagged], birds[y][flagged], s=26, color="#0072B2", lw=0, label="low density")
    ax.scatter(birds[x][altered], birds[y][altered], s=110, fc="none", ec="#D55E00", lw=1.6, label="altered")
    ax.set(xlabel=x, ylabel=y)
    ax.spines[["top", "right"]].set_visible(False)
axes[2].legend(frameon=False, loc="upper left")
plt.show()
