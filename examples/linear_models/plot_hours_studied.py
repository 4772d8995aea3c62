"""
Predictive variance and variance of the mean
============================================

Five students, the hours they studied, and their marks. With a known noise variance the posterior of the line
is Gaussian, and so is the prediction for three and a half hours: 8, with a standard deviation of 1.12. Not
0.49: that is the standard deviation of the mean, without the noise.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import tractable

hours = pd.DataFrame({"hours": [1.0, 2.0, 3.0, 4.0, 4.5]})
marks = np.array([3.0, 5.0, 7.0, 9.0, 10.0])

for variance in (1e6, 1e3):
    model = tractable.BayesianLinearRegression(
        prior_covariance=variance, noise_variance=1.0, penalize_intercept=True
    ).fit(hours, marks)
    posterior = model.posterior_.marginal(["hours", "intercept"])
    slope, intercept = posterior.mean
    (a, b), (_, c) = posterior.covariance
    print(f"prior variance {variance:.0e}: slope {slope:.8f}, intercept {intercept:.8f}")
    print(f"  covariance [[{a:.8f}, {b:.8f}], [{b:.8f}, {c:.8f}]], log evidence {model.log_evidence_:.7f}")

# %%
# With no prior at all, the numbers are fractions: the line at 3.5 hours has the variance 10/41, and a new
# mark one more, that of the noise.
flat = tractable.BayesianLinearRegression(prior_precision=0.0, noise_variance=1.0).fit(hours, marks)
asked = pd.DataFrame({"hours": [3.5]})
new, line = flat.predict_var(asked)[0], flat.predict_var(asked, include_noise=False)[0]
print(f"at 3.5 hours: {flat.predict(asked)[0]:.6f}; the line ± {line**0.5:.6f}, a new mark ± {new**0.5:.6f}")

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
tractable.plot(flat, ax=axes[0], X=hours, y=marks, grid=np.linspace(0.0, 6.0, 100)).set(ylabel="marks")
tractable.plot(flat.posterior_, ax=axes[1]).set(ylabel="slope: marks an hour")

# %%
# How large is the noise, if nobody knows? These marks lie exactly on 1 + 2 × hours, so the data say: none at
# all. The evidence grows without end as the noise shrinks; the search stops at rounding error, and warns.
design = np.column_stack([hours, np.ones(5)])
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    runaway = tractable.BayesianRidge(
        fit_intercept=False, alpha_1=0.0, alpha_2=0.0, lambda_1=0.0, lambda_2=0.0
    ).fit(design, marks)
print(f"precision of the weights {runaway.lambda_:.6f}, of the noise {runaway.alpha_:.1e}")
print(f"{said[0].category.__name__}: {said[0].message}")
plt.show()
