"""
A table with gaps, filled in with its uncertainty
=================================================

Chemical measurements of wines, a fifth of which are hidden. Probabilistic PCA is fitted to what is left, by
EM over the latent dimensions: missing entries are marginalised, not guessed. It then fills them in by their
means given the rest of the row, with standard deviations; intervals made of these hold as many of the hidden
values as they say.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import tractable

wine = load_wine(as_frame=True).data
Z = ((wine - wine.mean()) / wine.std()).to_numpy()
rng = np.random.default_rng(0)
hidden = rng.random(Z.shape) < 0.2
gaps = np.where(hidden, np.nan, Z)

model = tractable.ProbabilisticPCA("bic").fit(gaps)
filled, std = model.impute(gaps, return_std=True)
error = float(np.sqrt(np.mean((filled - Z)[hidden] ** 2)))
by_means = float(np.sqrt(np.mean((np.nanmean(gaps, axis=0) - Z)[hidden] ** 2)))
held = float(np.mean(np.abs(filled - Z)[hidden] < 1.645 * std[hidden]))
print(f"{model.n_components_} components, {model.n_iter_} iterations")
print(f"error {error:.2f} standard deviations, of the columns' means {by_means:.2f}")
print(f"{held:.0%} of the hidden values are within 90% intervals")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.errorbar(Z[hidden], filled[hidden], std[hidden], fmt=".", ms=4, lw=0.5, color="0.4")
left.axline((0, 0), slope=1.0, color="#D55E00", lw=1)
left.set(xlabel="hidden value", ylabel="filled in, ± one standard deviation")
right.plot(np.arange(1, len(model.order_scores_) + 1), model.order_scores_, ".-")
right.set(xlabel="components", ylabel="BIC")
