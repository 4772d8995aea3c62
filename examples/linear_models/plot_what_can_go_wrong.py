"""
Diagnostics of a linear regression
==================================

Three reasons why a fitted line may be misleading: the column is uninformative, the relation is not linear, or
there are outliers. `diagnose` tests for all three.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(11)
x = np.linspace(0.0, 10.0, 40)[:, None]
noise = rng.standard_normal(40)
wild = np.where(np.isin(np.arange(40), [30, 37]), -14.0, 0.0)
tables = {
    "little to say": 0.02 * x[:, 0] + noise,
    "not a line": 0.25 * (x[:, 0] - 3.0) ** 2 + noise,
    "two wild rows": 1.0 + 0.8 * x[:, 0] + 0.6 * noise + wild,
}

found = {}
for name, y in tables.items():
    model = tractable.LinearRegression().fit(x, y)
    found[name] = tractable.diagnose(model, x, y)
    print(f"{name}: {', '.join(found[name].problems)}\n{found[name]}\n")

# %%
# The line and its bands above; below, the studentized residuals. Under the model they are within about three,
# without structure.
fig, rows = plt.subplots(2, 3, figsize=(11, 6.4), layout="constrained")
for (name, y), (above, below) in zip(tables.items(), rows.T, strict=True):
    tractable.plot(tractable.LinearRegression().fit(x, y), ax=above, X=x, y=y).set(title=name)
    tractable.plot(found[name], ax=below).set(title="")
    above.get_legend().remove()
    above.set(xlabel="x")
rows[0, 2].legend(frameon=False, loc="lower left", fontsize=8)

# %%
# Remedies: an uninformative column needs other columns, a nonlinear relation needs basis functions, and
# outliers need a model with heavy-tailed noise: Student's t gives them small `weights_`.
y = tables["two wild rows"]
squares = tractable.LinearRegression().fit(x, y)
robust = tractable.RobustRegression("student").fit(x, y)
print(f"slope 0.8: least squares {squares.coef_[0]:.3f}, Student-t noise {robust.coef_[0]:.3f}")
print("rows that counted least:", sorted(np.argsort(robust.row_weights_)[:2].tolist()))
fig, ax = plt.subplots(figsize=(6.0, 4.0), layout="constrained")
ax.scatter(
    x[:, 0],
    y,
    s=20,
    c=robust.row_weights_,
    cmap="Greys",
    vmin=-0.5,
    edgecolor="0.5",
    lw=0.5,
    label="rows, darker where they count",
)
ax.plot(x[:, 0], squares.predict(x), color="#E69F00", label="least squares")
ax.plot(x[:, 0], robust.predict(x), color="#0072B2", label="Student-t noise")
ax.set(xlabel="x", ylabel="y")
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
