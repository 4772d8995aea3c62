"""
Linear and quadratic discriminant analysis
==========================================

For Gaussian classes with one covariance the boundary is a line; with a covariance for each class it is a
conic: an ellipse, a parabola or a hyperbola. The larger number of parameters needs more rows.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

classes = tractable.MultivariateNormal(
    mean=[[0.0, 0.0], [2.0, 1.0]],
    covariance=[[[0.3, 0.1], [0.1, 0.2]], [[2.5, -1.0], [-1.0, 1.5]]],
)
truth = tractable.BayesClassifier(class_distributions=classes, classes=["narrow", "wide"])
X, y = truth.sample(300, rng=0)
fresh, known = truth.sample(20_000, rng=1)

# %%
# Ellipses contain 90 % of each fitted class. With one covariance both are the same, which fits neither; the
# wide class lies on both sides of the narrow one, which needs a quadratic boundary.
fits = {
    "one covariance": tractable.LinearDiscriminant().fit(X, y),
    "one for each class": tractable.QuadraticDiscriminant().fit(X, y),
}
angle = np.linspace(0, 2 * np.pi, 200)
circle = np.sqrt(2 * np.log(10)) * np.stack([np.cos(angle), np.sin(angle)])
box = ((-4.5, 6.5), (-3.5, 5.0))
fig, axes = plt.subplots(1, 3, figsize=(13, 3.9), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, {**fits, "the truth": truth}.items(), strict=True):
    tractable.plot(model, data=X, y=y, limits=box, levels=(), ax=ax)
    parts = classes if model is truth else model.class_distributions_
    for mean, covariance, colour in zip(parts.mean, parts.covariance, ("#0072B2", "#B87900"), strict=True):
        ax.plot(*(mean[:, None] + np.linalg.cholesky(covariance) @ circle), color=colour, lw=2)
    wrong = np.mean(np.asarray(model.predict(fresh)) != known)
    ax.set_title(f"{name}: {wrong:.1%} wrong", fontsize="medium")
    print(f"{name:>18}: {wrong:.3f} of new rows wrong")
print(f"Bayes error: {float(tractable.bayes_error(truth)):.3f}")

# %%
# In ten columns a covariance has 55 parameters. For classes of equal covariance and few rows, one covariance
# for all has the smaller error; with many rows there is no difference.
d, sizes = 10, (60, 120, 250, 500, 1000, 2000)
alike = tractable.BayesClassifier(
    class_distributions=tractable.MultivariateNormal(
        mean=[np.zeros(d), np.full(d, 0.6)], covariance=np.eye(d)
    )
)
fresh, known = alike.sample(20_000, rng=2)
errors = {"one covariance": [], "one for each class": []}
for n in sizes:
    tries = [alike.sample(n, rng=100 + repeat) for repeat in range(12)]
    for name, kind in zip(
        errors, (tractable.LinearDiscriminant, tractable.QuadraticDiscriminant), strict=True
    ):
        errors[name].append(np.mean([1 - kind().fit(*rows).score(fresh, known) for rows in tries]))
fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
for (name, found), colour in zip(errors.items(), ("#0072B2", "#D55E00"), strict=True):
    ax.semilogx(sizes, found, "o-", color=colour, label=name)
ax.axhline(float(tractable.bayes_error(alike)), color="0.5", ls="dashed", label="Bayes error")
ax.set(xlabel="training rows", ylabel="error on new rows")
ax.set_xticks(sizes, [str(n) for n in sizes])
ax.minorticks_off()
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
