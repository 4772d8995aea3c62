"""
A die and its pseudocounts
==========================

Six throws without a two. Its relative frequency is zero. Laplace's rule adds one pseudocount to each face:
the posterior mean under a flat Dirichlet prior, and the posterior mode under Dirichlet(2, …, 2).
"""

from fractions import Fraction

import matplotlib.pyplot as plt

import tractable
from tractable.conjugate import CategoricalModel

throws = [1, 3, 5, 4, 4, 6]
labels = [face - 1 for face in throws]
die = CategoricalModel.laplace(6)
counts = die.summarize(labels)
after = die.update(counts)
print("maximum likelihood", die.maximum_likelihood(counts).round(3))
probabilities = after.predictive().probabilities
print(
    "with pseudocounts ",
    probabilities.round(3),
    "=",
    *(Fraction(float(p)).limit_denominator(100) for p in probabilities),
)
print("mode, Dir(2, …, 2)", CategoricalModel.from_pseudocounts([2.0] * 6).update(counts).mode().round(3))

# %%
# What is known of each face after six throws, and after six hundred of the same kind.
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, times in zip(axes, (1, 100), strict=True):
    many = die.update(die.summarize(labels * times))
    tractable.plot(many, ax=ax, names=["1", "2", "3", "4", "5", "6"])
    ax.set(xlabel="face", title=f"{6 * times} throws")
plt.show()
