"""
The perceptron algorithm
========================

The perceptron changes its coefficients only at misclassified rows: the row is added to the coefficients of
its class. For linearly separable classes it converges after finitely many mistakes.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

import tractable

rng = np.random.default_rng(5)
X = rng.uniform(-1.0, 1.0, (80, 2))
side = X @ [0.8, 0.6] - 0.1
apart = np.abs(side) > 0.02
X, y = X[apart], np.where(side > 0, "above", "below")[apart]

# %%
# `partial_fit` is one pass over the rows it is given. Given one at a time it shows every correction: the
# lines after each mistake, the later the darker. There can be no more than (R/γ)² of them, whatever the order
# of the rows, with R the longest row, a constant for the intercept among its entries, and γ the margin
# (Novikoff).
model = tractable.Perceptron()
lines, visits = [], 20 * len(X)
for visit in range(visits):
    row = visit % len(X)
    model.partial_fit(X[[row]], y[[row]], classes=["above", "below"])
    weights = np.append(model.coef_[0], model.intercept_)
    if not lines or not np.array_equal(weights, lines[-1][1]):
        lines.append((visit + 1, weights))
print(f"{len(lines)} mistakes in {visits} visits, the last of them at visit {lines[-1][0]}")
print(f"rows on the right side at the end: {model.score(X, y):.0%}")
unit = 2.0 ** np.floor(np.log2(np.abs(X).max()))  # the column of the intercept has the size of X
constant = np.full((len(X), 1), unit)
line = np.array([-0.1 / unit, 0.8, 0.6])
longest = np.linalg.norm(np.hstack([constant, X]), axis=1).max()
margin = np.abs(np.hstack([constant, X]) @ line).min() / np.linalg.norm(line)
print(f"at most there could have been {(longest / margin) ** 2:.0f}")

# %%
# For classes that overlap the perceptron does not converge: its last line depends on the last mistake. The
# average of all its lines, or the best line found, has a smaller variance.
noisy = np.where(side + rng.normal(0.0, 0.25, 80) > 0, "above", "below")[apart]
trials = {}
for keep in ("last", "pocket", "average"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it does not settle, which is the point
        fits = [
            tractable.Perceptron(max_iter=n, keep=keep, shuffle=True, random_state=0).fit(X, noisy)
            for n in range(1, 31)
        ]
    trials[keep] = [1 - fit.score(X, noisy) for fit in fits]
    print(f"{keep:>8}: wrong after 10, 20 and 30 passes", np.round(trials[keep], 3)[[9, 19, 29]])

fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
for label, colour in (("above", "#0072B2"), ("below", "#E69F00")):
    left.plot(*X[y == label].T, ".", color=colour, label=label)
for n, (_, (a, b, c)) in enumerate(lines, start=1):
    along = np.array([-1.2, 1.2])
    if b:
        left.plot(
            along,
            -(a * along + c) / b,
            color="black",
            alpha=(n / len(lines)) ** 2,
            lw=0.8 + (n == len(lines)),
        )
left.set(xlabel="x0", ylabel="x1", xlim=(-1.1, 1.1), ylim=(-1.1, 1.1), title=f"{len(lines)} mistakes")
left.legend(loc="upper right")
for (keep, wrong), colour in zip(trials.items(), ("#D55E00", "#009E73", "#0072B2"), strict=True):
    right.plot(range(1, 31), wrong, color=colour, label=keep)
right.set(
    xlabel="passes over the rows", ylabel="fraction of rows misclassified", title="classes that overlap"
)
right.legend(frameon=False)
plt.show()
