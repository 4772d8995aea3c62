"""
Generative or discriminative?
=============================

Linear discriminant analysis, naive Bayes with shared variances, and logistic regression all have linear
boundaries: one family of classifiers, fitted in two ways. A generative model estimates p(x | C) and applies
Bayes' rule; a discriminative one estimates p(C | x). Which is better depends on the number of rows, and on
whether the generative model is correct (Efron 1975; Ng and Jordan 2002).
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import tractable

sizes = np.array([12, 20, 40, 80, 200, 800, 3000])
d, n_repeats = 10, 12


def draw_normal(n, rng):
    """Two normal classes with one covariance: the assumption of linear discriminants and naive Bayes."""
    y = np.arange(n) % 2
    return rng.standard_normal((n, d)) + 0.55 * y[:, None], y


def draw_skew(n, rng):
    """Columns that are skew, and say the same things over again: no normal, and not independent."""
    y = np.arange(n) % 2
    shared = rng.exponential(size=(n, 2)) * (1.0 + 1.2 * y[:, None])
    return np.repeat(shared, d // 2, axis=1) ** 1.5 + 0.7 * rng.standard_normal((n, d)), y


models = {
    "naive Bayes": tractable.GaussianNB(shared_variance=True),
    "linear discriminant": tractable.LinearDiscriminant(),
    "logistic regression": tractable.LogisticRegression(C=np.inf),
}

# %%
# The error on new rows, averaged over training sets of each size. Maximum likelihood has no maximum where
# the classes are linearly separable, as small samples are, and logistic regression warns; the warnings are
# turned off here.


def learning_curve(draw):
    """Return the error of each model for each size, and its standard error."""
    fresh, truth = draw(20_000, np.random.default_rng(1))
    errors = {name: np.empty((n_repeats, len(sizes))) for name in models}
    for repeat in range(n_repeats):
        rng = np.random.default_rng(100 + repeat)
        X, y = draw(sizes[-1], rng)
        for place, n in enumerate(sizes):
            for name, model in models.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    errors[name][repeat, place] = np.mean(model.fit(X[:n], y[:n]).predict(fresh) != truth)
    return {name: (found.mean(axis=0), found.std(axis=0) / n_repeats**0.5) for name, found in errors.items()}


curves = {"assumption true": learning_curve(draw_normal), "assumption false": learning_curve(draw_skew)}

# %%
# Where the generative model is correct, it is better with few rows; with many there is no difference. Where
# it is not, naive Bayes is still better with few rows, and converges to a larger error than logistic
# regression. The Bayes error of the normal classes is dashed: with 3,000 rows all are near it.

known = tractable.BayesClassifier(
    class_distributions=tractable.MultivariateNormal(
        mean=[np.zeros(d), np.full(d, 0.55)], covariance=np.eye(d)
    )
)
least = tractable.bayes_error(known)
print(f"Bayes error: {float(least):.4f} ± {float(least.standard_error):.4f}")
fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
for ax, (what, curve) in zip(axes, curves.items(), strict=True):
    for (name, (mean, error)), colour in zip(curve.items(), ("#0072B2", "#56B4E9", "#D55E00"), strict=True):
        ax.fill_between(sizes, mean - 2 * error, mean + 2 * error, color=colour, alpha=0.2, lw=0)
        ax.plot(sizes, mean, ".-", color=colour, label=name)
    ax.set(xscale="log", xlabel="training rows", title=what)
axes[0].axhline(float(least), color="0.5", lw=0.8, ls="dashed")
axes[0].set_ylabel("error on new rows")
axes[0].legend(frameon=False)
for what, curve in curves.items():
    print(f"\n{what}: error with {sizes[1]}, {sizes[3]} and {sizes[-1]} rows")
    for name, (mean, _) in curve.items():
        print(f"{name:>20}: {mean[1]:.3f} {mean[3]:.3f} {mean[-1]:.3f}")
plt.show()
