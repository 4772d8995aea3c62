"""
Comparing models
================

Which model predicts new rows best? `compare` leaves rows out, and takes their log density under the model
fitted to the rest: one unit for every model that predicts a distribution, with standard errors of the
differences on the same rows. Evidence, AIC, BIC and leave-one-out stand beside it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import tractable
from tractable import BayesianRidge, GaussianProcessRegressor, LinearRegression, PolynomialBasis

# %%
# Sixty noisy points of a curve. Polynomials of degree 1, 3 and 12 by least squares and with a prior, and a
# Gaussian process.
rng = np.random.default_rng(1)
x = rng.uniform(-1.0, 1.0, size=(60, 1))
y = np.sin(4.0 * x[:, 0]) * np.exp(-x[:, 0]) + 0.3 * rng.standard_normal(60)
models = {
    "line": LinearRegression(),
    "cubic": make_pipeline(PolynomialBasis(3), LinearRegression()),
    "degree 12": make_pipeline(PolynomialBasis(12), LinearRegression()),
    "degree 12, Bayes": make_pipeline(PolynomialBasis(12), BayesianRidge()),
    "process": GaussianProcessRegressor(tractable.kernels.RBF(0.5)),
}
found = tractable.compare(models, x, y, cv=10)
print(found)
tractable.plot(found)
plt.show()

# %%
# Whether more rows would help: where the scores of training rows and of rows left out meet, they would not.
curve = tractable.learning_curve(models["degree 12"], x, y, train_sizes=[0.4, 0.6, 0.8, 1.0])
degrees = tractable.validation_curve(
    make_pipeline(PolynomialBasis(), LinearRegression()),
    x,
    y,
    param_name="polynomialbasis__degree",
    param_range=[1, 2, 3, 4, 5, 7, 9],
)
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, shown in zip(axes, (curve, degrees), strict=True):
    tractable.plot(shown, ax=ax)
plt.show()

# %%
# The degree by cross-validation, and by the evidence, which leaves no rows out.
model = make_pipeline(PolynomialBasis(), BayesianRidge())
grid = {"polynomialbasis__degree": [1, 2, 3, 4, 5, 7, 9]}
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, by in zip(axes, ("cv", "evidence"), strict=True):
    choice = tractable.choose_parameters(model, grid, x, y, by=by)
    print(f"by {by}: degree {choice.best['polynomialbasis__degree']}")
    tractable.plot(choice, ax=ax)
plt.show()

# %%
# Rows that repeat, follow a time or belong to groups are no fair test: a warning says so.
for sentence in tractable.dependence_of_rows(np.vstack([x, x[:20]])):
    print(sentence)
