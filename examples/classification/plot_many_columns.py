"""
A classifier of many columns, in one plane
==========================================

Regions can be drawn over two columns. Of more, `tractable.plot` draws the rows along the two directions that
separate the classes best, the discriminants, and marks the rows that the classifier gets wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import tractable

# %%
# The wines have thirteen columns. Each axis says how much of the separation of the classes it shows, and the
# two columns it is most correlated with. Regions are the decisions at the mean of the other directions: a
# naive classifier, which takes columns for independent, has curved boundaries, a linear one straight ones.
wines = tractable.datasets.load("wine").frame
X, y = wines.drop(columns="cultivar"), wines["cultivar"]
fig, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
for ax, model in zip(axes, (tractable.GaussianNB(), tractable.LinearDiscriminant()), strict=True):
    model.fit(X, y)
    tractable.plot(model, ax=ax, data=X, y=y)
    print(f"{type(model).__name__}: {np.sum(model.predict(X) != y)} of {len(y)} wines misclassified")

# %%
# Ten digits of 64 pixels do not separate in a plane. Regions there would contradict the classifier for many
# rows, so there are none; the circles are its true mistakes.
pixels, digits = load_digits(return_X_y=True)
pixels = pixels[:, pixels[:1000].std(axis=0) > 0.0]  # some are always white
model = tractable.LinearDiscriminant(shrinkage="auto").fit(pixels[:1000], digits[:1000])
fig, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
tractable.plot(model, ax=ax, data=pixels[1000:], y=digits[1000:])
wrong = np.mean(model.predict(pixels[1000:]) != digits[1000:])
print(f"digits: {wrong:.1%} of new rows misclassified")
plt.show()
