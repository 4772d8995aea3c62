"""
Digits as a map
===============

t-SNE puts rows that are neighbours in 64 columns beside each other in the plane. Each point's colour says how
far its neighbourhood can be trusted, and digits that were not there are placed in the map.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import tractable

# %%
# Images of 8 × 8 points; a hundred are kept aside.
digits = load_digits()
rng = np.random.default_rng(0)
order = rng.permutation(len(digits.data))
old, new = order[:-100], order[-100:]
model = tractable.TSNE(random_state=0).fit(digits.data[old])
print(f"{len(old)} rows, perplexity {model.perplexity_:g}: KL divergence {model.kl_divergence_:.3f}")

fig, ax = plt.subplots(figsize=(6.4, 5.2), layout="constrained")
for digit in range(10):
    mine = digits.target[old] == digit
    ax.scatter(*model.embedding_[mine].T, s=6, color=plt.cm.tab10(digit), label=str(digit))
ax.set(xlabel="coordinate 1", ylabel="coordinate 2", aspect="equal")
ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), markerscale=2.5)

# %%
# The classes were not told to it. The map is not the data: where points of different neighbourhoods had to
# meet, their trustworthiness is low.
report = tractable.neighborhood_report(digits.data[old], model.embedding_, n_neighbors=15)
print(report)
tractable.plot(report)

# %%
# By how much are neighbourhoods kept better than by the two directions of greatest variance?
linear = tractable.ClassicalMDS().fit_transform(digits.data[old])
before = tractable.neighborhood_report(digits.data[old], linear, n_neighbors=15)
print("classical scaling:", before)

# %%
# The hundred digits that were kept aside are placed, each where its own divergence from the map is least. The
# nearest point of the map nearly always is of its class.
placed = model.transform(digits.data[new])
near = tractable.NearestNeighbors(n_neighbors=1).fit(model.embedding_)
found = digits.target[old][near.kneighbors(placed, return_distance=False)[:, 0]]
right = float(np.mean(found == digits.target[new]))
print(f"{right:.0%} of the new digits lie beside one of their class")
tractable.plot(model, data=digits.data[new])
plt.show()
