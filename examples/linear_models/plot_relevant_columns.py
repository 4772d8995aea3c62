"""
Automatic relevance determination
=================================

Ten measurements of patients and the progression of their diabetes; ten more columns here are noise. With one
prior for all coefficients, no coefficient is exactly zero. With a prior for each, maximising the evidence
drives the precisions of irrelevant columns to infinity, and prunes them: automatic relevance determination,
ARD.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

frame = tractable.datasets.load("diabetes").frame.copy()
y = frame.pop("progression")
table = (frame - frame.mean()) / frame.std()
rng = np.random.default_rng(0)
for i in range(10):
    table[f"noise {i}"] = rng.standard_normal(len(table))

one = tractable.BayesianRidge().fit(table, y)
each = tractable.ARDRegression(threshold_lambda=1e3).fit(table, y)
kept = [name for name, gone in zip(table.columns, each.pruned_, strict=True) if not gone]
print(f"kept {len(kept)} of {table.shape[1]} columns: {', '.join(kept)}")
print(f"log evidence: one prior {one.log_evidence_:.1f}, a prior each {each.log_evidence_:.1f}")

# %%
# Weights with their standard deviations. The shaded half of the columns is noise. One of them stays: among
# ten columns of noise, one that seems to say something is no rarity, and its weight is small.
names, place = list(table.columns), np.arange(table.shape[1])
spread = np.zeros(len(names))
spread[~each.pruned_] = np.sqrt(np.diag(each.sigma_))
fig, axes = plt.subplots(2, 1, figsize=(9, 5.6), sharex=True, sharey=True, layout="constrained")
for ax, model, errors, title in (
    (axes[0], one, np.sqrt(np.diag(one.sigma_)), "one prior for all"),
    (axes[1], each, spread, "a prior for each"),
):
    ax.axvspan(9.5, 19.5, color="0.93", zorder=0)
    gone = getattr(model, "pruned_", np.zeros(len(names), dtype=bool))
    style = {"fmt": "o", "ms": 4, "capsize": 3, "color": "#0072B2", "label": "± 2 s.d."}
    ax.errorbar(place[~gone], model.coef_[~gone], 2.0 * errors[~gone], **style)
    if gone.any():
        ax.plot(place[gone], np.zeros(gone.sum()), "x", color="#D55E00", label="pruned")
    ax.axhline(0.0, color="0.6", lw=0.6)
    ax.set(ylabel="weight", title=title, xlim=(-0.5, 19.5))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right")
axes[1].set_xticks(place, names, rotation=45, ha="right")
plt.show()
