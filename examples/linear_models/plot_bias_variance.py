"""
Bias and variance, measured
===========================

A straight line misses a sine wave the same way whatever the data: its error is bias. A polynomial of degree
eight follows the wave, and the noise of every new training set too: its error is variance. Fitting each to
many training sets shows both, with standard errors, and that with the noise they add up to the error on
fresh data.
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
