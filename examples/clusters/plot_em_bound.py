"""
The lower bound that EM maximises
=================================

The log likelihood of a mixture has no closed-form maximum. The E-step constructs a lower bound that touches
the log likelihood at the current parameters; the M-step maximises the bound, so the log likelihood cannot
decrease.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(3)
x = np.concatenate([rng.normal(0.0, 1.0, 120), rng.normal(3.0, 1.0, 80)])


def mixture(mean):
    """Two normal components, of which all is known but the mean of the second."""
    return tractable.Mixture(
        weights=[0.6, 0.4], components=tractable.Normal(mean=[0.0, mean], stddev=[1.0, 1.0])
    )


# %%
# For any guess q of the hidden labels, log p(x) is a bound plus the divergence of q from their posterior. The
# E-step makes q the posterior: no divergence is left, and the bound touches. The M-step moves the mean to the
# top of the bound; now q is no longer the posterior, so the likelihood lies above the bound by a divergence.
mean = 0.3
print("   mean    log p(x)     bound  divergence")
path = []
for _ in range(5):
    q = mixture(mean).responsibilities(x)
    before = tractable.decompose_evidence(q, mixture(mean).log_joint(x))
    moved = float(q[:, 1] @ x / q[:, 1].sum())
    after = tractable.decompose_evidence(q, mixture(moved).log_joint(x))
    for at, parts in ((mean, before), (moved, after)):
        print(f"{at:7.4f}  {parts.evidence:10.4f} {parts.bound:9.4f}  {abs(parts.divergence):10.4f}")
    path.append((mean, moved, q))
    mean = moved

# %%
# The likelihood, and the bounds of three steps: a dot where each touches, a triangle at its top. A bound may
# be far too low elsewhere; the step to its top is safe all the same.
grid = np.linspace(-1.0, 6.0, 300)
likelihood = [mixture(m).log_prob(x).sum() for m in grid]
fig, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
ax.plot(grid, likelihood, color="0.3", lw=2.5, label="log p(x)")
for (old, new, q), colour in zip(path[:3], ("#0072B2", "#E69F00", "#009E73"), strict=True):
    ax.plot(
        grid,
        [tractable.elbo(q, mixture(m).log_joint(x)) for m in grid],
        color=colour,
        label=f"bound at {old:.2f}",
    )
    ax.plot(old, mixture(old).log_prob(x).sum(), "o", color=colour)
    ax.plot(new, tractable.elbo(q, mixture(new).log_joint(x)), "^", color=colour)
ax.set(
    xlabel="mean of the second component", ylabel="nats", ylim=(min(likelihood) - 60, max(likelihood) + 20)
)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
