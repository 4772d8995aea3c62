"""
Least squares with intervals
============================

Least squares with Student-t intervals of new observations, and of the mean.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(4)
x = rng.uniform(0.0, 10.0, size=25)
y = 1.0 + 0.6 * x + rng.normal(0.0, 0.8, size=25)

model = tractable.LinearRegression().fit(x[:, None], y)
low, high = model.coef_interval(0.95)[0]
noise = model.noise_variance_
print(f"slope {model.coef_[0]:.3f}, between {low:.3f} and {high:.3f}; noise variance {noise:.3f}")

# %%
# The wide band holds 90% of new points, the narrow one the line. Both widen away from the data.
ax = tractable.plot(model, X=x[:, None], y=y, grid=np.linspace(-4.0, 14.0, 100))
ax.set(xlabel="x")
plt.show()
