"""
Choosing the degree of a polynomial
===================================

Polynomials of degree one to ten for thirty noisy points of a sine. The training error always decreases with
the degree. The held-out error increases once the noise is fitted. So does the evidence decrease, without
held-out rows: a flexible model spreads its probability over many data sets.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(4)
x = np.sort(rng.uniform(0.0, 1.0, size=30))[:, None]
y = np.sin(2.0 * np.pi * x[:, 0]) + 0.3 * rng.standard_normal(30)

degrees = range(1, 11)
training, left_out, evidence = [], [], []
for degree in degrees:
    columns = tractable.PolynomialBasis(degree, include_bias=True).fit_transform(x)
    line = tractable.LinearRegression(fit_intercept=False).fit(columns, y)
    residual = y - line.predict(columns)
    training.append(np.mean(residual**2))
    left_out.append(np.mean((residual / (1.0 - line.leverage(columns))) ** 2))
    evidence.append(tractable.BayesianRidge(fit_intercept=False).fit(columns, y).log_evidence_)
    print(
        f"degree {degree}: training error {training[-1]:.4f}, left out {left_out[-1]:.4f}, "
        f"log evidence {evidence[-1]:.2f}"
    )
print(f"least error on rows left out: degree {1 + np.argmin(left_out)}")
print(f"most evidence: degree {1 + np.argmax(evidence)}")

# %%
# The three judges.
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].plot(degrees, training, "o-", ms=4, color="0.6", label="fitted rows")
axes[0].plot(degrees, left_out, "o-", ms=4, color="#E69F00", label="rows left out")
axes[0].axhline(0.09, color="0.8", lw=0.8, zorder=0, label="noise")
axes[0].set(xlabel="degree", ylabel="mean squared error", yscale="log", xticks=degrees)
axes[0].legend(frameon=False)
axes[1].plot(degrees, evidence, "o-", ms=4, color="#0072B2")
axes[1].plot(1 + np.argmax(evidence), np.max(evidence), "o", ms=10, mfc="none", color="#D55E00")
axes[1].set(xlabel="degree", ylabel="log evidence", xticks=degrees)
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
