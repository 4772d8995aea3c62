"""
Stochastic gradient descent: least mean squares
===============================================

Least mean squares updates the coefficients after each row, w + η (t − wᵀφ) φ, without storing a matrix or the
rows. For steps η below 2/λ, with λ the largest eigenvalue of the mean of φφᵀ, it converges on average; above,
it diverges.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.engines import StepSize

rng = np.random.default_rng(6)
truth = np.array([1.0, -2.0])
X = rng.standard_normal((3000, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
y = X @ truth + 0.3 * rng.standard_normal(3000)
exact = tractable.LinearRegression(fit_intercept=False).fit(X, y).coef_
largest = np.linalg.eigvalsh(X.T @ X / len(X))[-1]
print(f"least squares {exact.round(4)}; steps must stay below 2/λ = {2 / largest:.3f}")

# %%
# A stream, twenty rows at a time. Constant steps come near fast and then wander, the farther the larger they
# are; steps that shrink, or the average over the way, settle. Exact least squares needs a small matrix, and
# is nearer from the first rows on.
models = {
    "step 0.1": tractable.LeastMeanSquares(step=0.1, fit_intercept=False),
    "step 0.01": tractable.LeastMeanSquares(step=0.01, fit_intercept=False),
    "step 6/(N + 60)": tractable.LeastMeanSquares(step=StepSize(scale=6.0, offset=60.0), fit_intercept=False),
    "step 0.1, averaged": tractable.LeastMeanSquares(step=0.1, average=True, fit_intercept=False),
    "least squares": tractable.LinearRegression(fit_intercept=False),
}
colours = ("#E69F00", "#56B4E9", "#0072B2", "#009E73", "0.3")
fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for (name, model), colour in zip(models.items(), colours, strict=True):
    far = []
    for start in range(0, 3000, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
        far.append(np.linalg.norm(model.coef_ - truth))
    ax.plot(np.arange(20, 3001, 20), far, color=colour, lw=1.1, label=name)
    print(f"{name:18s} ends {far[-1]:.4f} from the truth")
ax.set(yscale="log", xlabel="rows seen", ylabel="distance from the truth")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, fontsize=8)

# %%
# All rows in one batch, where the bound is exact: just below it the way zigzags, and just above it the model
# refuses and says why.
w0, w1 = np.meshgrid(np.linspace(-2.2, 3.2, 100), np.linspace(-4.5, 1.5, 100))
error = np.mean((y - w0[..., None] * X[:, 0] - w1[..., None] * X[:, 1]) ** 2, axis=-1)
fig, ax = plt.subplots(figsize=(6.0, 4.8), layout="constrained")
ax.contour(w0, w1, error, levels=[0.3, 1, 3, 6, 10], colors="0.8", linewidths=0.8)
for share, colour in ((0.25, "#0072B2"), (0.95, "#E69F00")):
    model = tractable.LeastMeanSquares(
        fit_intercept=False, batch_size=None, step=share * 2 / largest, shuffle=False
    )
    way = [np.zeros(2)] + [model.partial_fit(X, y).coef_.copy() for _ in range(25)]
    ax.plot(*np.array(way).T, "o-", ms=3, lw=0.9, color=colour, label=f"{share:g} of the bound")
ax.plot(*exact, "+", ms=10, color="#D55E00", label="least squares")
ax.set(xlabel="first weight", ylabel="second weight")
ax.legend(frameon=False, fontsize=8)
ax.spines[["top", "right"]].set_visible(False)
try:
    model.set_params(step=1.05 * 2 / largest).fit(X, y)
except ValueError as error:
    print("above the bound:", error)
plt.show()
