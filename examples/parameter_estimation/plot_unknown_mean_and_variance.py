"""
Unknown mean and variance
=========================

With both unknown the posterior is normal-gamma, and the predictive distribution is a Student-t, whose tails
are heavier than those of the normal distribution with estimated parameters.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.conjugate import NormalModel
from tractable.distributions import Normal, NormalGamma

hours = np.array([3.0, 5.0, 7.0, 9.0, 10.0])
model = NormalModel(prior=NormalGamma(mean=0.0, strength=1.0, shape=2.0, rate=3.0)).update_rows(hours)
predictive = model.predictive()
posterior = model.prior
print(f"location {posterior.location:.6f} with the strength of {posterior.strength:g} rows")
print(f"precision: shape {posterior.shape:g}, rate {posterior.rate:.6f}")
print(
    f"next row: Student-t with {predictive.dof:g} degrees of freedom, scale² {predictive.scale**2:.6f}; "
    f"p(6) = {predictive.prob(6.0):.6f}"
)

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
tractable.plot(model, ax=axes[0])
x = np.linspace(-8, 18, 400)
plugged = Normal.fit(hours)
axes[1].plot(x, predictive.prob(x), color="#0072B2", label="predictive, Student-t")
axes[1].plot(x, plugged.prob(x), color="#E69F00", label="maximum likelihood, plugged in")
axes[1].plot(hours, np.zeros_like(hours), "|", color="0.3", markersize=12)
axes[1].set(xlabel="x", ylabel="density", ylim=(0, 0.21))
axes[1].spines[["top", "right"]].set_visible(False)
axes[1].legend(frameon=False, loc="upper left")
plt.show()

# %%
# The log evidence equals the sum of the log predictive densities of the rows, each given the rows before it.
start = NormalModel(prior=NormalGamma(mean=0.0, strength=1.0, shape=2.0, rate=3.0))
now, chain = start, 0.0
for row in hours:
    chain += float(now.predictive().log_prob(row))
    now = now.update_rows([row])
print(f"log evidence at once {start.log_evidence(start.summarize(hours)):.10f}, as a chain {chain:.10f}")
