"""
A map from genes, without the map
=================================

The first two principal components of the genes of 1,387 Europeans resemble the map of Europe (Novembre and
others 2008). The genes are not ours to show; here are made ones. People live in two dimensions, and the
frequency of each of 2,000 variants changes smoothly from place to place, by a little. PCA sees only who has
which variant, 0, 1 or 2 times, and finds the map, turned, with north and south where it puts them.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)
n, variants = 600, 2000
home = rng.uniform([0.0, 0.0], [3.0, 2.0], size=(n, 2))  # degrees east and north, say
slope = 0.5 * rng.standard_normal((2, variants))
frequency = 1.0 / (1.0 + np.exp(-(rng.standard_normal(variants) + (home - home.mean(axis=0)) @ slope)))
genes = rng.binomial(2, frequency).astype(float)

pca = tractable.PCA(2).fit(genes)
scores = pca.transform(genes)
print("variance along each:", pca.explained_variance_ratio_.round(3))

# %%
# How well the two components tell where somebody lives, by a regression of the place on them.
place = tractable.LinearRegression().fit(scores, home)
r2 = [tractable.r2_score(home[:, j], place.predict(scores)[:, j]) for j in range(2)]
print(f"share of the variance of the place that they explain: east {r2[0]:.2f}, north {r2[1]:.2f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, at, words in ((left, home, ("east", "north")), (right, scores, ("component 1", "component 2"))):
    ax.scatter(*at.T, c=np.column_stack([home / [3.0, 2.0], np.full(n, 0.5)]), s=10)
    ax.set(xlabel=words[0], ylabel=words[1])

# %%
# How many components there are beside noise, by several criteria side by side, of a hundred variants.
found = tractable.select_n_components(genes[:, :100], random_state=0)
print(found)
tractable.plot(found)
