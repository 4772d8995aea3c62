"""
Confusion matrix, calibration and ROC curve
===========================================

Accuracy alone does not show which classes are confused, whether predicted probabilities are calibrated, or
how a threshold trades false positives against false negatives.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

# %%
# Three classes in twelve columns that depend on each other. Naive Bayes takes them as independent, and counts
# the same evidence several times; a discriminant with full covariances does not.
rng = np.random.default_rng(0)
d = 12
spread = 0.7 + 0.3 * np.eye(d)
means = np.array([np.zeros(d), np.linspace(0.0, 1.5, d), np.linspace(1.5, 0.0, d)])
names = np.array(["ash", "birch", "cedar"])


def trees(n):
    """Rows and their classes."""
    which = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    return means[which] + rng.multivariate_normal(np.zeros(d), spread, n), names[which]


X, y = trees(600)
fresh, truth = trees(5000)
models = {
    "naive Bayes": tractable.GaussianNB().fit(X, y),
    "linear discriminant": tractable.LinearDiscriminant().fit(X, y),
}

# %%
# Rows of the matrix are true classes, columns are predictions.
fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    found = tractable.confusion_matrix(truth, model.predict(fresh))
    tractable.plot(found, ax=ax)
    ax.set_title(f"{name}: {found.accuracy:.1%} right", fontsize="medium")
    print(f"{name:>20}: recall {found.recall.round(3)}, precision {found.precision.round(3)}")

# %%
# Calibration: the accuracy as a function of the predicted probability of the most probable class. Naive Bayes
# is less accurate, and overconfident, which the log loss measures too.
fig, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    p = model.predict_proba(fresh)
    tractable.plot(tractable.class_calibration(truth, p, classes=model.classes_), ax=ax)
    ax.set_title(name, fontsize="medium")
    print(f"{name:>20}: log loss {tractable.log_loss(truth, p, classes=model.classes_):.3f} nats a row")

# %%
# How much of the calibration error is chance? With right probabilities it would fall into the interval. The
# Brier score in its parts: what calibration would save, less what the model knows, plus the uncertainty.
for name, model in models.items():
    p = model.predict_proba(fresh)
    found = tractable.class_calibration(truth, p, classes=model.classes_)
    low, high = found.error_if_right()
    print(f"{name:>20}: calibration error {found.error:.3f}, if right {low:.3f} to {high:.3f}")
    print(f"{name:>20}: {tractable.brier_decomposition(truth, p, classes=model.classes_)}")

# %%
# The ROC curve of the class cedar: true against false positives for every threshold of the probability; the
# dot is the threshold of one half. Beside it precision and recall, which show how many of the rows called
# cedar are none.
fig, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
cedar = truth == "cedar"
for (name, model), colour in zip(models.items(), ("#D55E00", "#0072B2"), strict=True):
    p = model.predict_proba(fresh)[:, 2]
    roc = tractable.roc_curve(cedar, p)
    tractable.plot(
        roc, ax=axes[0], label=f"{name}, area {roc.area:.3f} ± {roc.area_error:.3f}", colour=colour
    )
    axes[0].plot(np.mean(p[~cedar] > 0.5), np.mean(p[cedar] > 0.5), "o", color=colour)
    found = tractable.precision_recall_curve(cedar, p)
    tractable.plot(found, ax=axes[1], label=f"{name}, average {found.area:.3f}", colour=colour)
for ax in axes:
    ax.set_title("")
plt.show()
