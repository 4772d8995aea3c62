"""
Sequential updates need the variance
====================================

Two batches of ten measurements around 5. The posterior of the first is the prior of the second: a mean and a
*variance*. If the variance is passed as a standard deviation, it is squared once more, and the prior of the
second batch is too narrow. A distribution as a value avoids the mistake.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.conjugate import NormalMeanModel
from tractable.distributions import Normal

z = [0.5377, 1.8339, -2.2588, 0.8622, 0.3188, -1.3077, -0.4336, 0.3426, 3.5784, 2.7694]
z += [-1.3499, 3.0349, 0.7254, -0.0631, 0.7147, -0.2050, -0.1241, 1.4897, 1.4090, 1.4172]
batches = (5.0 + 2.0 * np.array(z)).reshape(2, 10)

# %%
# The noise of each batch is taken from the batch itself. The prior of the second model is the posterior
# of the first.
prior = Normal(mean=0.0, variance=1.0)
noise = batches.var(axis=1, ddof=1)
first = NormalMeanModel(prior=prior, variance=noise[0]).update_rows(batches[0])
second = NormalMeanModel(prior=first.prior, variance=noise[1]).update_rows(batches[1])

misread = Normal(mean=first.prior.mean, stddev=first.prior.variance)  # a variance taken for a deviation
wrong = NormalMeanModel(prior=misread, variance=noise[1]).update_rows(batches[1])

posteriors = {
    "prior": prior,
    "10 rows": first.prior,
    "20 rows": second.prior,
    "20 rows, misread": wrong.prior,
}
for name, posterior in posteriors.items():
    print(f"{name:17s} mean {posterior.mean:.6f}, variance {posterior.variance:.6f}")

# %%
# The wrong prior shrinks the result towards the mean of the first batch, and is narrower than the posterior
# of all twenty rows.
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
x = np.linspace(-3.0, 13.0, 500)
styles = [{"color": "0.6"}, {"color": "#56B4E9"}, {"color": "#0072B2"}, {"color": "#D55E00", "ls": "--"}]
for (name, posterior), style in zip(posteriors.items(), styles, strict=True):
    ax.plot(x, posterior.prob(x), label=name, **style)
ax.plot(batches.ravel(), np.full(20, -0.02), "|", color="0.3", markersize=8, label="rows")
ax.set(xlabel="mean", ylabel="density", xlim=(-3.0, 13.0))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper right")

# %%
# With known noise, one model is updated batch by batch, and equals that of all rows at once.
known = NormalMeanModel(prior=prior, variance=4.0)
steps = known.trace(known.summarize(batch) for batch in batches)
at_once = known.update_rows(batches.ravel())
for name, model in {"10 rows": steps[1], "20 rows": steps[2], "20 rows at once": at_once}.items():
    print(f"{name:17s} mean {model.mean():.6f}, variance {model.prior.variance:.6f}")
ax = tractable.plot(steps, labels=["prior", "10 rows", "20"])
plt.show()
