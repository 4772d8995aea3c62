"""
Which variables are independent
===============================

A directed graph says what depends on what directly. Whether two variables are independent given others is
read off the paths between them.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.graph import explain_separation, implied_independencies

# %%
# Rain and the sprinkler make the grass wet, and wet grass is slippery. Rain says nothing of the sprinkler,
# until the grass, or something that follows from it, is seen: then one explains the other away.
garden = "rain -> wet <- sprinkler; wet -> slippery"
questions = [("rain", "sprinkler", ()), ("rain", "sprinkler", "slippery"), ("rain", "slippery", "wet")]
fig, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, (x, y, given) in zip(axes, questions, strict=True):
    why = explain_separation(garden, x, y, given)
    print(why, end="\n\n")
    tractable.plot(why, ax=ax)
plt.show()

# %%
# All independencies follow from those of the pairs that are not adjacent.
print(*implied_independencies(garden), sep="\n")

# %%
# Regression as a graph: inputs X and weights w cause the target y. The weights are independent of the inputs
# before the target is seen, and dependent on them after: which is why data teach something about w.
regression = "X -> y <- w"
print(tractable.d_separated(regression, "w", "X"), tractable.d_separated(regression, "w", "X", given="y"))

# %%
# Naive Bayes as a graph: among children of all ages height and vocabulary go together, among children of one
# age they do not.
naive_bayes = "age -> height; age -> vocabulary"
print(
    tractable.d_separated(naive_bayes, "height", "vocabulary"),
    tractable.d_separated(naive_bayes, "height", "vocabulary", given="age"),
)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
tractable.plot(explain_separation(regression, "w", "X", "y"), ax=axes[0])
tractable.plot(explain_separation(naive_bayes, "height", "vocabulary", "age"), ax=axes[1])
plt.show()

# %%
# The same in numbers: a Gaussian network over the second graph, in which the correlation of height and
# vocabulary vanishes given age.
children = tractable.graph.LinearGaussianNetwork(
    coefficients={"age": {}, "height": {"age": 6.0}, "vocabulary": {"age": 2.5}},
    intercepts={"age": 8.0, "height": 80.0},
    noise_variances={"age": 6.0, "height": 25.0, "vocabulary": 9.0},
).joint()


def correlation(distribution):
    covariance = distribution.marginal(["height", "vocabulary"]).covariance
    return covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])


all_ages, one_age = correlation(children), correlation(children.condition({"age": 8.0}))
print(f"correlation {all_ages:.2f} among all children, {abs(one_age):.2f} among those of eight")
