"""
A line, and how sure it is
==========================

Least squares gives more than a line: Student's t says where new points will be, and where the line itself
could have been.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(4)
x = rng.uniform(0.0, 10.0, size=25)
y = 1.0 + 0.6 * x + rng.normal(0.0, 0.8, size=25)

model = tractable.LinearRegression().fit(x[:, None], y)
low, high = model.coef_interval(0.95)[0]
print(f"slope {model.coef_[0]:.3f}, between {low:.3f} and {high:.3f}; noise variance {model.sigma2_:.3f}")

# %%
# The wide band holds 90% of new points, the narrow one the line. Both widen away from the data.
ax = tractable.plot(model, X=x[:, None], y=y, grid=np.linspace(-4.0, 14.0, 100))

# %%
# Where columns nearly follow from one another, digits go. Powers of x up to the tenth, far from zero, leave
# seven correct digits of sixteen; reading the rows again, with residuals in twice the precision, brings them
# all back.
z = np.linspace(-9.0, -3.0, 82)
powers = np.stack([z**k for k in range(1, 11)], axis=1)
target = 0.8 + 0.05 * np.cos(1.3 * z)
once = tractable.LinearRegression().fit(powers, target)
refined = tractable.LinearRegression(refine=True).fit(powers, target)
print(f"condition of the columns {np.linalg.cond(powers):.0e}, rank {once.rank_} of {powers.shape[1]}")
print(f"one pass and refined differ by {np.max(np.abs(once.coef_ / refined.coef_ - 1)):.0e}")
plt.show()
