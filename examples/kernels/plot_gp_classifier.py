"""
Classes by a Gaussian process
=============================

Penguins of three species by the length of bill and flipper, Palmer archipelago. A latent function for each
species, a softmax of them, and Laplace's approximation of their posterior: probabilities are certain among
the rows of a species, and return to those of the prior far away, where nothing was measured. The evidence
sets one length scale for each column.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import tractable

table = tractable.datasets.load("penguins").frame
columns = ["bill_length_mm", "flipper_length_mm"]
known = table[[*columns, "species"]].dropna()
some = np.random.default_rng(0).permutation(len(known))
train, test = known.iloc[some[:150]], known.iloc[some[150:]]
model = tractable.GaussianProcessClassifier().fit(train[columns], train["species"])
accuracy = model.score(test[columns], test["species"])
print(f"accuracy {accuracy:.3f} of {len(test)} other penguins, log evidence {model.log_evidence_:.1f}")
print(model.relevance())

# %%
# The decision regions, and the probability of the most probable species over a wider range.
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
tractable.plot(model, ax=left, data=train[columns], y=train["species"])
bill, flipper = np.meshgrid(np.linspace(20.0, 75.0, 30), np.linspace(150.0, 260.0, 30))
grid = np.column_stack([bill.ravel(), flipper.ravel()])
certain = model.predict_proba(pd.DataFrame(grid, columns=columns)).max(axis=1)
levels = np.linspace(0.3, 1.0, 8)
shown = right.contourf(bill, flipper, certain.reshape(bill.shape), levels=levels, cmap="Greys")
fig.colorbar(shown, ax=right, label="probability of the most probable species")
for name, own in train.groupby("species"):
    right.scatter(own[columns[0]], own[columns[1]], s=8, label=name)
right.set(xlabel=columns[0], ylabel=columns[1])
right.legend()
plt.show()
