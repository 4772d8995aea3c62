"""
Empirical Bayes for many small samples
======================================

Thirty clinics with five to two hundred patients each, and the fraction of patients that recovered. The
highest and lowest fractions belong to small clinics, by chance. A prior estimated from all clinics (empirical
Bayes) shrinks each fraction towards the common mean, the more the fewer patients there are.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.conjugate import BernoulliModel
from tractable.distributions import Beta

rng = np.random.default_rng(12)
sizes = np.sort(rng.choice([5, 10, 20, 50, 200], size=30))
truth = rng.beta(14.0, 6.0, size=30)
recovered = rng.binomial(sizes, truth)

start = BernoulliModel(prior=Beta(alpha=1.0, beta=1.0))
clinics = [start.summarize([1] * k + [0] * (n - k)) for k, n in zip(recovered, sizes, strict=True)]
learnt = tractable.empirical_bayes(start, clinics)
a, b = float(learnt.prior.alpha), float(learnt.prior.beta)
print(f"prior learnt: Beta({a:.2f}, {b:.2f}), mean {a / (a + b):.3f}, worth {a + b:.1f} patients")

# %%
# The posterior of every clinic is the estimated prior, updated by its own patients.
fractions = recovered / sizes
posteriors = [learnt.update(clinic) for clinic in clinics]
means = np.array([float(posterior.mean()) for posterior in posteriors])
low, high = np.array([posterior.interval(0.9) for posterior in posteriors]).T
for name, guess in {"fraction": fractions, "shrunk": means, "same for all": np.full(30, a / (a + b))}.items():
    print(f"{name:12s} root mean squared error {np.sqrt(np.mean((guess - truth) ** 2)):.4f}")

fig, ax = plt.subplots(figsize=(9, 4.2), layout="constrained")
place = np.arange(30)
ax.vlines(place, low, high, color="#0072B2", alpha=0.35, lw=3, label="90% of the posterior")
ax.plot(place, means, "o", ms=4, color="#0072B2", label="its mean")
ax.plot(place, fractions, "x", ms=5, color="#E69F00", label="fraction")
ax.plot(place, truth, "_", ms=9, color="0.2", label="truth")
ax.axhline(a / (a + b), color="0.7", lw=0.8, zorder=0)
ax.set_xticks(place, [str(n) for n in sizes], fontsize=7)
ax.set(xlabel="patients of the clinic", ylabel="fraction that recovers", ylim=(0.0, 1.05))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right", ncols=2)
plt.show()
