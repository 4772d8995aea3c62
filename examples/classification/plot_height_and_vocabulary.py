"""
Conditional independence: height and vocabulary
===============================================

Height and vocabulary are dependent in a population with children, because both grow with age. Given the age,
they are independent. This is the assumption of naive Bayes, which does not require columns to be independent
over all classes.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.datasets import AGES, HEIGHTS, VOCABULARIES, make_height_vocabulary_age

X, age = make_height_vocabulary_age(20_000, random_state=0)
height, words = (X[name].cat.codes.to_numpy() for name in ("height", "vocabulary"))


def information(first, second):
    """Mutual information of two columns in nats: what one says of the other."""
    joint = np.histogram2d(first, second, bins=[np.arange(6) - 0.5] * 2)[0]
    joint /= joint.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    return float(np.sum(joint * np.log(np.where(joint > 0, joint / np.maximum(apart, 1e-300), 1.0))))


# %%
# Each picture shows the distribution of the vocabulary given the height: every row sums to one. Among all
# people the rows differ; among people of one age they are equal up to sampling error.
within = {a: information(height[age == a], words[age == a]) for a in AGES}
print(f"all people: {information(height, words):.3f} nats")
print("of one age:", {a: round(nats, 3) for a, nats in within.items()})
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained", sharey=True)
groups = {"all people": np.full(len(age), True), "age 5-10": age == "5-10", "age 15-20": age == "15-20"}
for ax, (title, group) in zip(axes, groups.items(), strict=True):
    counts = np.histogram2d(height[group], words[group], bins=[np.arange(6) - 0.5] * 2)[0]
    total = counts.sum(axis=1, keepdims=True)
    shares = np.where(total >= 50, counts / np.maximum(total, 1), np.nan)  # fewer say little
    shown = ax.imshow(shares, origin="lower", cmap="Blues", vmin=0, vmax=1)
    ax.set_xticks(range(5), VOCABULARIES, fontsize=7)
    ax.set_yticks(range(5), HEIGHTS)
    ax.set(title=title, xlabel="vocabulary")
axes[0].set_ylabel("height")
fig.colorbar(shown, ax=axes, label="fraction of people of this height")

# %%
# So naive Bayes may multiply the likelihoods of height and vocabulary, given the age.
model = tractable.NaiveBayes().fit(X, age)
fresh, truth = make_height_vocabulary_age(20_000, random_state=1)
p = model.predict_proba(fresh)
baseline = tractable.log_loss(truth, np.tile(model.class_prior_, (len(truth), 1)), classes=model.classes_)
loss = tractable.log_loss(truth, p, classes=model.classes_)
print(f"log loss {loss:.3f} nats a person; of the class priors {baseline:.3f}")
curve = tractable.class_calibration(truth, p, classes=model.classes_)
print(f"predicted {curve.predicted.round(2).tolist()}\n observed {curve.observed.round(2).tolist()}")
fig, ax = plt.subplots(figsize=(6.6, 3.8), layout="constrained")
tractable.plot(curve, ax=ax)
plt.show()
