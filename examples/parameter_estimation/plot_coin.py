"""
A coin: Beta prior and Bernoulli likelihood
===========================================

Maximum likelihood gives heads the probability one after three heads in a row. A Beta prior is equivalent to a
number of earlier tosses, and its influence decreases as tosses arrive.
"""

import matplotlib.pyplot as plt

import tractable
from tractable.conjugate import BernoulliModel
from tractable.distributions import Beta

coin = BernoulliModel(prior=Beta(alpha=2.0, beta=2.0))
tosses = coin.summarize([1, 1, 1])
after = coin.update(tosses)
print(f"after three heads: maximum likelihood {coin.maximum_likelihood(tosses):.3f},")
print(f"mode of the posterior {after.mode():.3f}, mean of the posterior {after.mean():.3f}")

# %%
# A coin with a probability of heads of 0.3. The posterior is the prior of the next batch, so the order of the
# batches does not matter, nor their sizes.
batches = [
    [1, 1, 1],
    [0, 0, 1, 0, 0],
    [0, 1, 0, 0, 0, 1, 0, 0, 1, 0] * 3,
    [0, 0, 1, 0, 1, 0, 0, 1, 0, 0] * 20,
]
steps = coin.trace(coin.summarize(batch) for batch in batches)
ax = tractable.plot(steps, labels=["prior", "3 tosses", "8", "38", "238"])
ax.axvline(0.3, color="0.5", linewidth=0.8)
plt.show()

# %%
# The posterior after all of them, and the evidence for a fair coin: of a prior concentrated at ½, against
# that of the Beta prior.
print("90% interval: {:.3f} to {:.3f}".format(*steps[-1].interval(0.9)))
everything = sum((coin.summarize(batch) for batch in batches[1:]), coin.summarize(batches[0]))
fair = BernoulliModel.from_mean_strength(0.5, 1e9)
print(f"log evidence: fair {fair.log_evidence(everything):.1f}, any bias {coin.log_evidence(everything):.1f}")
