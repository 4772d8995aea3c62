"""
Logistic regression from Gaussian classes
=========================================

For two Gaussian classes the posterior probability is the sigmoid of the log odds, and the log odds are linear
for equal variances: the model of logistic regression. For different variances the log odds are quadratic, and
one class may have an interval with the other on both sides.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.arrays import sigmoid

x = np.linspace(-6.0, 8.0, 401)
fig, axes = plt.subplots(2, 3, figsize=(12, 6), layout="constrained", sharex=True)
for row, (title, deviations) in zip(
    axes, (("equal widths", [1.2, 1.2]), ("one wider", [1.0, 2.2])), strict=True
):
    classes = tractable.Normal(mean=[2.0, 0.0], stddev=deviations)
    known = tractable.BayesClassifier(class_distributions=classes, priors=[0.4, 0.6], classes=["one", "two"])
    p = known.predict_proba(x)[:, 0]
    log_odds = np.log(0.4) + classes[0].log_prob(x) - np.log(0.6) - classes[1].log_prob(x)
    print(f"{title}: p(one | x) is the sigmoid of the log odds: {np.allclose(p, sigmoid(log_odds))}")
    curve = np.polynomial.Polynomial.fit(x, log_odds, 2).convert().coef
    print(
        "   log odds = "
        + " ".join(f"{c:+.4f} {name}" for c, name in zip(curve, ("", "x", "x²"), strict=True))
    )
    for k, (share, colour) in enumerate(((0.4, "#0072B2"), (0.6, "#E69F00"))):
        row[0].plot(x, share * classes[k].prob(x), color=colour, label=["one", "two"][k])
    row[1].plot(x, log_odds, color="0.2")
    row[1].axhline(0.0, color="0.6", lw=0.8)
    row[2].plot(x, p, color="#0072B2")
    for edge in x[1:][np.diff(np.sign(log_odds)) != 0]:
        for ax in row:
            ax.axvline(edge, color="0.6", lw=0.8, ls="dashed")
    row[0].set(ylabel=title, title="share × density")
    row[1].set(title="log odds", ylim=(-12, 8))
    row[2].set(title="p(one | x)", ylim=(-0.02, 1.02))
axes[0, 0].legend(frameon=False)
for ax in axes.flat:
    ax.spines[["top", "right"]].set_visible(False)
for ax in axes[1]:
    ax.set_xlabel("x")

# %%
# What is learned from rows of the first pair: a discriminant learns means, variances and class priors, and
# the line follows; logistic regression learns the line alone. Both come near it: 2/1.44 is the slope.
classes = tractable.Normal(mean=[2.0, 0.0], stddev=[1.2, 1.2])
known = tractable.BayesClassifier(class_distributions=classes, priors=[0.4, 0.6], classes=["one", "two"])
values, labels = known.sample(1000, rng=0)
rows, is_one = np.reshape(values, (-1, 1)), np.asarray(labels) == "one"
models = {
    "linear discriminant": tractable.LinearDiscriminant().fit(rows, is_one),
    "logistic regression": tractable.LogisticRegression(C=np.inf).fit(rows, is_one),
}
for name, model in models.items():
    print(f"{name}: slope {model.coef_[0, 0]:.3f}, truth {2 / 1.44:.3f}")
plt.show()
