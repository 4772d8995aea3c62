"""
Pictures of models and results
==============================

``tractable.plot(x)`` draws distributions, fitted models and results, by their type. The axes carry the names
of the columns, and the colours are safe for colour-blind readers.

.. note::
   Every option that a picture takes is named in the docstring of :func:`tractable.plot`. Axes that are
   given by ``ax=`` are drawn on and returned, so pictures go side by side, or over each other.
"""

# %%
# Three tables of the library, and a dozen things that can be made of them.

import matplotlib.pyplot as plt
import numpy as np

import tractable

geyser = tractable.datasets.load("old_faithful").frame  # eruptions, waiting: minutes
penguins = tractable.datasets.load("penguins").frame.dropna()
numbers = penguins.select_dtypes("number").drop(columns="year")
bills, species = numbers[["bill_length_mm", "bill_depth_mm"]], penguins["species"]
length, waiting = geyser[["eruptions"]], geyser["waiting"]

# %%
# Densities show the regions that hold half, 90 % and 99 % of new rows. A mixture shows its components as
# well, a histogram how far its heights may be off, and a posterior is a density like any other.

coin = tractable.BernoulliModel(prior=tractable.Beta(alpha=2.0, beta=2.0))
steps = coin.trace([coin.summarize([1, 1, 0]), coin.summarize([1] * 9 + [0] * 3)])

fig, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
tractable.plot(tractable.GaussianDensity().fit(bills), data=bills, ax=axes[0, 0])
tractable.plot(tractable.GaussianMixture(2, random_state=0).fit(geyser), data=geyser, ax=axes[0, 1])
tractable.plot(tractable.Histogram("fd").fit(geyser[["waiting"]]), ax=axes[1, 0])
tractable.plot(steps, ax=axes[1, 1])
for ax, title in zip(
    axes.flat, ("a Gaussian", "a mixture", "a histogram", "a coin, toss by toss"), strict=True
):
    ax.set_title(title)
plt.show()

# %%
# A regression on one column is drawn with two bands: the inner one is where the line may be, the outer one
# where new rows will lie. On several columns there is no such line; what was predicted is laid beside what
# was observed, and without any rows the coefficients are shown with their intervals.

line = tractable.LinearRegression().fit(length, waiting)
mass, others = penguins["body_mass_g"], numbers.drop(columns="body_mass_g")
several = tractable.LinearRegression().fit(others, mass)

fig, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
tractable.plot(line, data=length, y=waiting, ax=axes[0, 0])
tractable.plot(several, data=others, y=mass, ax=axes[0, 1])
tractable.plot(several, ax=axes[1, 0])
tractable.plot(tractable.lasso_path((others - others.mean()) / others.std(), mass), ax=axes[1, 1])
for ax, title in zip(axes.flat, ("one column", "three columns", "coefficients", "a path"), strict=True):
    ax.set_title(title)
plt.show()

# %%
# A classifier colours the regions, paler where probabilities are lower, with lines where it is 75 %, 90 % and
# 99 % sure. Of more than two columns it draws the plane at the means of the others. Its results are pictures
# too.

quadratic = tractable.QuadraticDiscriminant().fit(bills, species)
table = penguins.drop(columns="species")
bayes = tractable.NaiveBayes().fit(table, species)
confusion = tractable.confusion_matrix(species, quadratic.predict(bills))
choice = tractable.select_components(bills, range(1, 6), ["full", "tied"])

fig, axes = plt.subplots(2, 2, figsize=(10, 8), layout="constrained")
tractable.plot(quadratic, data=bills, y=species, ax=axes[0, 0])
tractable.plot(bayes, data=table, y=species, dims=["flipper_length_mm", "sex"], ax=axes[0, 1])
tractable.plot(confusion, ax=axes[1, 0])
tractable.plot(choice, ax=axes[1, 1])
plt.show()

# %%
# Something without a picture is refused, and told what has one.

try:
    tractable.plot(np.pi)
except ValueError as refusal:
    print(str(refusal)[:60], "…")
