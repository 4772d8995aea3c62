"""
Tikhonov regularisation: a penalty on roughness
===============================================

Ridge regression shrinks coefficients towards zero. A matrix in the penalty, ½|Γw|², shrinks linear functions
of them: with second differences as Γ, the curvature of a curve. Here every point of a noisy signal is a
coefficient. Missing points are interpolated.
"""

import matplotlib.pyplot as plt
import numpy as np

from tractable import tikhonov

rng = np.random.default_rng(2)
n = 200
t = np.linspace(0.0, 1.0, n)
truth = np.sin(2.0 * np.pi * t) + 0.5 * np.sin(6.0 * np.pi * t)
signal = truth + 0.4 * rng.standard_normal(n)
seen = (t < 0.55) | (t > 0.65)
A = np.eye(n)[seen]
bends = np.diff(np.eye(n), n=2, axis=0)

curves = {lam: tikhonov(A, signal[seen], np.sqrt(lam) * bends) for lam in (1.0, 300.0, 1e6)}
for lam, curve in curves.items():
    error = np.sqrt(np.mean((curve - truth) ** 2))
    print(f"penalty {lam:9.0f}: error {error:.3f}, size of the bends {np.abs(bends @ curve).mean():.5f}")

fig, axes = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
for ax, (lam, curve), name in zip(axes, curves.items(), ("too rough", "right", "too stiff"), strict=True):
    ax.plot(t[seen], signal[seen], ".", ms=3, color="0.6", label="signal")
    ax.plot(t, truth, color="0.3", lw=0.8, ls="--", label="truth")
    ax.plot(t, curve, color="#0072B2", label="curve")
    ax.set(title=f"penalty {lam:g}: {name}", xlabel="t")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("signal")
axes[2].legend(frameon=False)

# %%
# The same penalty with Γ the identity is ridge regression: it pulls every point towards zero, and smooths
# nothing.
plain = tikhonov(A, signal[seen], np.eye(n))
share, hole = np.median(plain[seen] / signal[seen]), np.abs(plain[~seen]).max()
print(f"ridge: points are {share:.2f} of the signal, and {hole:.2f} in the hole")
plt.show()
