"""
Bias and variance, estimated
============================

A straight line fitted to a sine has a large bias. A polynomial of degree eight has a small bias and a large
variance. Fits to many training sets estimate both, with standard errors; together with the noise they add up
to the error on new data.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import tractable


def wave(x):
    return np.sin(2 * np.pi * x[:, 0])


x, points = np.linspace(0, 1, 25)[:, None], np.linspace(0, 1, 50)[:, None]
found = {}
for degree in (1, 3, 8):
    model = make_pipeline(tractable.PolynomialBasis(degree), tractable.LinearRegression())
    found[degree] = tractable.bias_variance(model, wave, 0.3, x, points=points, n_repeats=200, rng=0)
    parts = found[degree].average
    print(
        f"degree {degree}: bias² {parts.bias2.value:.5f} ± {parts.bias2.standard_error:.5f}, "
        f"variance {parts.variance.value:.4f} ± {parts.variance.standard_error:.4f}, "
        f"with noise {parts.total:.4f}; measured {parts.error.value:.4f} ± {parts.error.standard_error:.4f}"
    )

# %%
# Along the line: where each model goes wrong.
fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
for ax, (degree, result) in zip(axes, found.items(), strict=True):
    tractable.plot(result, ax=ax)
    if degree < 8:
        ax.get_legend().remove()
    ax.set(title=f"degree {degree}", ylim=(0, 0.6), ylabel="expected squared error" if degree == 1 else "")
plt.show()
