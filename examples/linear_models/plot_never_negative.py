"""
A positive semi-definite matrix
===============================

The matrix with rows (9, -15) and (-15, 25) has the quadratic form xᵀAx = (3x₁ - 5x₂)², which is never
negative, so it can be a covariance. It is zero along a line: the matrix is positive *semi*-definite, not
definite, and a Gaussian with it has no density.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.arrays import is_pd, is_psd

A = np.array([[9.0, -15.0], [-15.0, 25.0]])
for x in ([5.0, 3.0], [5.0, 2.0]):
    print(f"at {x}: xᵀAx = {x @ A @ x:g}, and (3x₁ - 5x₂)² = {(3 * x[0] - 5 * x[1]) ** 2:g}")
eigenvalues, directions = np.linalg.eigh(A)
print("eigenvalues", eigenvalues.round(12) + 0.0)  # the sum turns -0 into 0
print("never negative:", is_psd(A), "- and zero at the origin alone:", is_pd(A))

# %%
# Its contours are parallel lines, with the minimum on the line through (5, 3). Over the directions of x the
# form varies between the two eigenvalues. With 5 added to the diagonal it is positive; with 5 subtracted it
# has negative values, and is not a covariance.
grid = np.linspace(-6.0, 6.0, 200)
x1, x2 = np.meshgrid(grid, grid)
angle = np.linspace(0.0, np.pi, 400)
circle = np.stack([np.cos(angle), np.sin(angle)])
fig, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
lines = left.contour(x1, x2, (3.0 * x1 - 5.0 * x2) ** 2, levels=[4, 25, 100, 225, 400, 900], cmap="viridis")
left.clabel(lines, fontsize=8)
left.plot(grid, 0.6 * grid, color="#D55E00", label="minimum: eigenvalue 0")
left.plot([5.0, 5.0], [3.0, 2.0], "ko", ms=5, label="(5, 3) and (5, 2)")
left.set(xlabel="x₁", ylabel="x₂", ylim=(-6.0, 6.0), aspect="equal", title="xᵀAx")
left.legend(loc="lower right", fontsize=8)
for words, added, style in (("A + 5I", 5.0, "--"), ("A", 0.0, "-"), ("A - 5I", -5.0, ":")):
    matrix = A + added * np.eye(2)
    name = "definite" if is_pd(matrix) else "semi-definite" if is_psd(matrix) else "indefinite"
    form = np.einsum("in,ij,jn->n", circle, matrix, circle)
    right.plot(np.degrees(angle), form, style, color="#0072B2", label=f"{words}: {name}")
right.axhline(0.0, color="0.7", lw=0.8, zorder=0)
right.set(
    xlabel="direction of x, in degrees",
    ylabel="xᵀ(A + cI)x at length one",
    title="half around: the other half repeats it",
)
right.legend(fontsize=8)

# %%
# It is the covariance of rows on a line. A distribution is refused, for its density would be infinite there
# and zero elsewhere. A fit to such rows says what is wrong, adds to the variances the least that makes the
# matrix definite in double precision, and says how much that was.
rows = np.outer(np.arange(-3.0, 4.0), [1.5, -2.5])
print("covariance of the rows:", np.cov(rows.T, ddof=0).tolist())
try:
    tractable.MultivariateNormal(mean=[0.0, 0.0], covariance=A)
except ValueError as error:
    print("refused:", error)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = tractable.GaussianDensity().fit(rows)
print(f"{caught[0].category.__name__}: {str(caught[0].message).partition(';')[0]}")
print("added to the variances:", model.jitter_)
plt.show()
