"""
The singular value decomposition
================================

Every matrix is a rotation, a scaling along the axes, and another rotation: its singular value decomposition,
A = U S Vᵀ. A circle becomes an ellipse whose semi-axes are the singular values. Where one of them is nearly
zero, the inverse multiplies errors by a large factor: the regression is ill-conditioned.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.arrays import thin_svd

A = np.array([[1.6, 0.7], [0.3, 1.1]])
parts = thin_svd(A)
U, S, Vt = parts.left, parts.singular, parts.right.T
print(f"singular values {S[0]:.4f} and {S[1]:.4f}, condition {S[0] / S[1]:.3f}")

angle = np.linspace(0.0, 2.0 * np.pi, 200)
circle = np.stack([np.cos(angle), np.sin(angle)])
steps = {
    "a circle": np.eye(2),
    "turned: Vᵀ": Vt,
    "stretched: S Vᵀ": np.diag(S) @ Vt,
    "turned: U S Vᵀ = A": U @ np.diag(S) @ Vt,
}
fig, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained", sharey=True)
for ax, (name, step) in zip(axes, steps.items(), strict=True):
    ax.plot(*(step @ circle), color="0.6")
    for direction, colour in zip(Vt, ("#0072B2", "#D55E00"), strict=True):
        ax.annotate(
            "", step @ direction, (0.0, 0.0), arrowprops={"arrowstyle": "->", "color": colour, "lw": 1.8}
        )
    ax.set(title=name, xlim=(-2.2, 2.2), ylim=(-2.2, 2.2), aspect="equal", xlabel="first axis")
axes[0].set_ylabel("second axis")

# %%
# Least squares reads it backwards: turn the targets by Uᵀ, divide by the stretches, turn by V.
rng = np.random.default_rng(0)
X = rng.standard_normal((50, 3))
y = X @ [1.0, -2.0, 0.5] + 0.1 * rng.standard_normal(50)
parts = thin_svd(X)
by_hand = parts.right @ ((parts.left.T @ y) / parts.singular)
model = tractable.LinearRegression(solver="svd", fit_intercept=False).fit(X, y)
print("by hand   ", by_hand.round(6))
print("the model ", model.coef_.round(6))
plt.show()
