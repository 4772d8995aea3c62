"""
One suitable column, or many columns
====================================

Fifteen points of y = eˣ. A straight line explains 79% of the variance; powers of x come closer with every
degree; the column eˣ itself fits exactly. The leave-one-out error compares the models without refits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import tractable
from tractable import metrics

x = np.linspace(1.0, 5.0, 15)[:, None]
y = np.exp(x[:, 0])

bases = {
    "line": tractable.PolynomialBasis(1, kind="monomial"),
    "square": tractable.PolynomialBasis(2, kind="monomial"),
    "cube": tractable.PolynomialBasis(3, kind="monomial"),
    "exponential": tractable.FunctionBasis(["identity", "exp"]),
}
models = {name: make_pipeline(basis, tractable.LinearRegression()).fit(x, y) for name, basis in bases.items()}

# %%
# With a leverage h, the error of a row that was left out is its residual divided by 1 − h: leave-one-out,
# LOO. Generalised cross-validation, GCV, takes the mean of the leverages for each.
print("             R²        LOO        GCV        weights, intercept first")
for name, model in models.items():
    line, columns = model[-1], model[0].transform(x)
    residual, leverage = y - model.predict(x), line.leverage(columns)
    loo = np.mean((residual / (1.0 - leverage)) ** 2)
    gcv = np.mean(residual**2) / (1.0 - leverage.mean()) ** 2
    weights = " ".join(f"{w:.8f}" for w in np.round([line.intercept_, *line.coef_], 8) + 0.0)
    print(f"{name:11s} {model.score(x, y):.6f} {loo:10.5f} {gcv:10.5f}  {weights}")

# %%
# Other ways of saying how far the line is off.
fitted = models["line"].predict(x)
print(f"sum of squared errors {np.sum((y - fitted) ** 2):.5f}")
print(
    f"MSE {metrics.mean_squared_error(y, fitted):.5f}, RMSE {metrics.root_mean_squared_error(y, fitted):.5f}"
)
print(f"RMSE in units of the spread of y {metrics.normalized_rmse(y, fitted):.6f}")
print(f"MAE {metrics.mean_absolute_error(y, fitted):.5f}")

# %%
# Beyond the points, only the model with the right column goes on rightly.
grid = np.linspace(0.5, 6.0, 200)[:, None]
fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for (name, model), colour in zip(models.items(), ("#E69F00", "#009E73", "#56B4E9", "#0072B2"), strict=True):
    ax.plot(grid[:, 0], model.predict(grid), color=colour, label=name)
ax.plot(x[:, 0], y, "o", ms=4, color="0.3", label="rows")
ax.set(xlabel="x", ylabel="y", ylim=(-60, 420))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
