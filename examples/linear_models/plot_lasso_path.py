"""
The lasso path of the diabetes data
===================================

Ten measurements of 442 patients, and the progression of their diabetes after a year. The lasso includes
columns one by one as the penalty decreases. Its path is piecewise linear, and least-angle regression finds
every knot exactly, also those at which a column leaves again.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

frame = tractable.datasets.load("diabetes").frame.copy()
y = frame.pop("progression")
X = (frame - frame.mean()) / frame.std()

path = tractable.lars_path(X, y)
for alpha, before, after in zip(path.alphas[1:], path.active[:-1], path.active[1:], strict=True):
    for j in set(after) ^ set(before):
        print(f"alpha {alpha:6.3f}: {X.columns[j]} {'enters' if j in after else 'leaves'}")

# %%
# Between knots coefficients are linear in the penalty, and in the sum of their sizes: the lines of the first
# picture are exact. The second is the same path on a grid of penalties, with the two that cross-validation
# offers: the least error on patients left out, and the fewest measurements within a standard error of it.
fig, axes = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained", sharey=True)
tractable.plot(path, ax=axes[0])
model = tractable.LassoCV(cv=10).fit(X, y)
tractable.plot(model, ax=axes[1])

# %%
# The coefficients of the simpler choice, read off the exact path.
simple = path.at(model.alpha_1se_)
print(f"alpha {model.alpha_1se_:.2f}: {np.count_nonzero(simple)} of {X.shape[1]} measurements")
for name, coefficient in zip(X.columns, simple, strict=True):
    print(f"  {name:5s} {coefficient:8.2f}")

# %%
# How the error on patients left out depends on the penalty.
tractable.plot(model.cv_curve_)
plt.show()
