"""
Numerical accuracy of least squares
===================================

A polynomial of degree ten in powers of x, away from zero, has a condition number of 10¹⁵. The exact
coefficients are known as fractions, so correct digits can be counted. The normal equations, XᵀXw = Xᵀy,
square the condition number and lose every digit; a QR decomposition keeps some, also for streamed rows;
iterative refinement with residuals in twice the precision recovers all of them.
"""

import warnings
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)
x = np.round(np.linspace(-9.0, -3.0, 82), 3)
y = np.round(0.8 + 0.05 * np.cos(1.3 * x) + 0.003 * rng.standard_normal(82), 4)
X = np.stack([x**k for k in range(1, 11)], axis=1)


def solve_exactly(X, y):
    """Least squares in fractions: elimination on the normal equations, without a single rounding."""
    A = [[Fraction(1), *map(Fraction, row)] for row in X.tolist()]
    t, n = [Fraction(v) for v in y.tolist()], len(A[0])
    M = [[sum(r[i] * r[j] for r in A) for j in range(n)] for i in range(n)]
    M = [[*row, sum(r[i] * v for r, v in zip(A, t, strict=True))] for i, row in enumerate(M)]
    for k in range(n):
        M[k] = [v / M[k][k] for v in M[k]]
        for i in range(n):
            if i != k:
                M[i] = [a - M[i][k] * b for a, b in zip(M[i], M[k], strict=True)]
    return np.array([float(row[-1]) for row in M])


truth = solve_exactly(X, y)
print(f"condition of the columns {np.linalg.cond(np.column_stack([np.ones(82), X])):.1e}")


def digits(model):
    """Correct digits of each weight, none to sixteen."""
    off = np.abs(np.append(model.intercept_, model.coef_) / truth - 1.0)
    return np.clip(-np.log10(np.maximum(off, 1e-16)), 0.0, 16.0)


# %%
# The same rows, solved in four ways. The normal equations warn that they have lost their way.
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    normal = tractable.LinearRegression(solver="normal").fit(X, y)
print("the normal equations say:", said[0].message)
streamed = tractable.LinearRegression()
for start in range(0, 82, 10):
    streamed.partial_fit(X[start : start + 10], y[start : start + 10])
models = {
    "normal equations": normal,
    "QR": tractable.LinearRegression().fit(X, y),
    "QR, rows streamed": streamed,
    "QR, refined": tractable.LinearRegression(refine=True).fit(X, y),
}
fig, ax = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
for (name, model), colour in zip(models.items(), ("#D55E00", "#E69F00", "#009E73", "#0072B2"), strict=True):
    right = digits(model)
    print(f"{name:17s} at least {right.min():4.1f} correct digits")
    ax.plot(np.arange(11), right, "o-", ms=4, color=colour, label=name)
ax.set(xlabel="power of x", ylabel="correct digits of its weight", ylim=(-0.5, 17), xticks=np.arange(11))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))

# %%
# Better still is a basis that does not lose them: Legendre polynomials on the range of x give the same curve.
legendre = tractable.PolynomialBasis(10).fit_transform(x[:, None])
print(f"condition of Legendre polynomials {np.linalg.cond(legendre):.1f}")
plt.show()
