"""
Linear models of basis functions
================================

A model that is linear in its coefficients can be nonlinear in x: its columns are basis functions φ(x). Any
linear model takes them, in a pipeline.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import tractable

rng = np.random.default_rng(3)
x = np.sort(rng.uniform(0.0, 10.0, size=60))[:, None]
truth = np.sin(x[:, 0]) + 0.15 * x[:, 0]
y = truth + rng.normal(0.0, 0.25, size=60)

# %%
# A straight line is not enough here, and the residuals say so.
straight = tractable.LinearRegression().fit(x, y)
found = tractable.diagnose(straight, x, y)
print(found)
ax = tractable.plot(found)

# %%
# Five families of basis functions: polynomials, Gaussians, sigmoids, Fourier functions and splines.
bases = {
    "polynomials": tractable.PolynomialBasis(7),
    "Gaussians": tractable.GaussianBasis(8, strategy="uniform"),
    "sigmoids": tractable.SigmoidBasis(8, strategy="uniform"),
    "waves": tractable.FourierBasis(3, period=4 * np.pi),
    "splines": tractable.SplineBasis(6),
}
grid = np.linspace(0.0, 10.0, 200)[:, None]
fig, rows = plt.subplots(2, len(bases), figsize=(13.0, 5.0), sharex=True, sharey="row", layout="constrained")
for (name, basis), (above, below) in zip(bases.items(), rows.T, strict=True):
    model = make_pipeline(basis, tractable.LinearRegression()).fit(x, y)
    above.plot(grid[:, 0], basis.transform(grid), lw=1.0)
    above.set_title(name)
    below.scatter(x[:, 0], y, s=8, color="0.6", lw=0)
    below.plot(grid[:, 0], model.predict(grid), color="#0072B2")
    below.set_xlabel("x")
rows[0, 0].set_ylabel("φ(x)")
rows[1, 0].set_ylabel("y")

# %%
# More functions than needed follow the noise. A penalty chosen on rows left out holds them.
rich = tractable.GaussianBasis(40, width=0.4, strategy="uniform")
free = make_pipeline(rich, tractable.LinearRegression()).fit(x, y)
held = make_pipeline(rich, tractable.RidgeCV(alphas=np.logspace(-6, 2, 30))).fit(x, y)
fig, ax = plt.subplots(figsize=(6.0, 4.2), layout="constrained")
ax.scatter(x[:, 0], y, s=12, color="0.6", lw=0, label="data")
ax.plot(grid[:, 0], free.predict(grid), color="#E69F00", lw=1.0, label="least squares")
ax.plot(grid[:, 0], held.predict(grid), color="#0072B2", label="ridge, penalty chosen")
ax.set(xlabel="x", ylabel="y", ylim=(-2.0, 3.5))
ax.legend(frameon=False)

# %%
# A few wild targets bend squared errors, and hardly move a fit that expects them.
wild = y.copy()
wild[[5, 20, 41]] += [9.0, 8.0, 10.0]
splines = tractable.SplineBasis(6)
squared = make_pipeline(splines, tractable.LinearRegression()).fit(x, wild)
robust = make_pipeline(splines, tractable.RobustRegression("student")).fit(x, wild)
fig, ax = plt.subplots(figsize=(6.0, 4.2), layout="constrained")
ax.scatter(x[:, 0], wild, s=12, color="0.6", lw=0, label="data")
ax.plot(grid[:, 0], squared.predict(grid), color="#E69F00", label="Gaussian noise")
ax.plot(grid[:, 0], robust.predict(grid), color="#0072B2", label="Student noise")
ax.set(xlabel="x", ylabel="y")
ax.legend(frameon=False, loc="center right")
plt.show()
