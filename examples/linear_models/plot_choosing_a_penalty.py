"""
Three ways to choose a penalty
==============================

Leave-one-out cross-validation, generalised cross-validation, which uses the mean leverage, and the evidence,
which also estimates the noise. Here they choose the penalty of a line through fifteen points of an
exponential curve.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

x = np.linspace(1.0, 5.0, 15)[:, None]
y = np.exp(x[:, 0])
alphas = np.array([0.0, 0.01, 0.1, 1.0, 10.0])

# %%
# Both weights are held here, the intercept too. `effective_dof_` counts how many of the two are left free: it
# is the trace of the matrix that turns targets into fitted values.
curves = {
    method: tractable.RidgeCV(alphas, method=method, penalize_intercept=True).fit(x, y).cv_curve_
    for method in ("loo", "gcv")
}
print("penalty  intercept    slope   free       MSE        LOO        GCV")
for i, alpha in enumerate(alphas):
    ridge = tractable.Ridge(alpha, penalize_intercept=True).fit(x, y)
    error = np.mean((y - ridge.predict(x)) ** 2)
    print(
        f"{alpha:7g} {ridge.intercept_:10.5f} {ridge.coef_[0]:8.5f} {ridge.effective_dof_:.6f} {error:.5f}  "
        f"{curves['loo'].scores[i]:.5f}  {curves['gcv'].scores[i]:.5f}"
    )
print("chosen:", {method: curve.best_alpha for method, curve in curves.items()})

# %%
# The evidence needs no grid: a fixed point finds both precisions. Their ratio is the penalty.
design = np.column_stack([np.ones(15), x])
flat = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}
bayes = tractable.BayesianRidge(fit_intercept=False, tol=1e-10, max_iter=10_000, **flat).fit(design, y)
print(f"precision of the weights {bayes.lambda_:.6e}, of the noise {bayes.alpha_:.6e}")
print(f"weights {bayes.coef_[0]:.5f} {bayes.coef_[1]:.5f}, of which {bayes.gamma_:.6f} decided by the rows")
print(f"log evidence {bayes.log_evidence_:.6f}, penalty {bayes.lambda_ / bayes.alpha_:.4f}")

# %%
# Over a finer grid: the error on rows left out, and the evidence of each penalty at the noise found. Leaving
# out hardly minds too small a penalty; the evidence does, because a wide prior would have foretold many other
# curves as well.
fine = np.logspace(-3, 2, 60)
left_out = tractable.RidgeCV(fine, penalize_intercept=True).fit(x, y).cv_curve_
evidence = [
    tractable.BayesianLinearRegression.from_precisions(
        noise_precision=bayes.alpha_, prior_precision=alpha * bayes.alpha_, fit_intercept=False
    )
    .fit(design, y)
    .log_evidence_
    for alpha in fine
]
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
tractable.plot(left_out, ax=axes[0])
axes[1].plot(fine, evidence, color="#0072B2")
axes[1].axvline(bayes.lambda_ / bayes.alpha_, color="#D55E00", ls="--", lw=1.0, label="fixed point")
axes[1].set(xscale="log", xlabel="alpha", ylabel="log evidence")
axes[1].spines[["top", "right"]].set_visible(False)
axes[1].legend(frameon=False)
plt.show()
