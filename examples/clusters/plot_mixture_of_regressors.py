"""
Traffic at a junction: a multimodal regression
==============================================

Cars at a junction go straight on or turn: the conditional mean lies between the two roads. A mixture of
regressors has a curve for each, and predicts a density with two modes. A mixture of experts also learns where
each curve is used.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

import tractable

rng = np.random.default_rng(0)


def cars(n):
    """Positions of cars: along the road x, across it y; the side road leaves at x = 5 and soon turns away."""
    turns = rng.random(n) < 0.4
    x = np.where(turns, rng.uniform(0.0, 8.0, n), rng.uniform(0.0, 10.0, n))
    y = np.where(turns, 0.35 * np.maximum(x - 5.0, 0.0) ** 2, 0.0) + 0.15 * rng.standard_normal(n)
    return x[:, None], y


x, y = cars(500)
new_x, new_y = cars(2000)

# %%
# One curve is drawn between the ways. It is the best single answer to a question that has two.


def curves(model):
    """A pipeline of basis functions and a mixture."""
    return make_pipeline(tractable.SplineBasis(5), model).fit(x, y)


models = {
    "one regression": curves(tractable.MixtureOfRegressors(1)),
    "mixture of regressors": curves(tractable.MixtureOfRegressors(2, tol=1e-5, random_state=0)),
    "mixture of experts": curves(tractable.MixtureOfExperts(2, gate_alpha=0.1, tol=1e-5, random_state=0)),
}


def predicted(model, where):
    """The predictive distribution behind the basis functions."""
    return model[-1].predict_dist(model[:-1].transform(where))


# %%
# How well do they predict cars that they have not seen? The more so, the more probable they find them. With
# constant mixing weights both ways are as likely everywhere, and density is given where there is no road: to
# the side road beyond the point where it was last seen. The gate knows where each way is used.
for name, model in models.items():
    print(f"{name:>22}: {predicted(model, new_x).log_prob(new_y).mean():.3f} nats a new car")

# %%
# The darker, the more probable.
grid = np.linspace(0.0, 10.0, 200)[:, None]
levels = np.linspace(-1.0, 7.0, 200)
fig, axes = plt.subplots(1, 3, figsize=(13.0, 4.0), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    density = predicted(model, grid).prob(levels[:, None])
    ax.pcolormesh(grid[:, 0], levels, np.sqrt(density), cmap="Blues", shading="gouraud", rasterized=True)
    ax.scatter(x[:, 0], y, s=4, color="0.3", lw=0)
    ax.set(title=name, xlabel="along the road", ylim=(-1.0, 7.0))
axes[0].set_ylabel("across it")

# %%
# The modes are the ways that a car may be on: one before the junction, two after it, and one again where the
# side road has gone. Before the junction both curves are one, so the gate's probabilities there mean little.
gate = models["mixture of experts"]
for where in (3.0, 7.0, 9.5):
    here = predicted(gate, [[where]])[0]
    likely = [float(m) for m in here.modes() if here.prob(m) > 0.05 * here.prob(here.mode)]
    print(f"at {where}: modes {np.round(likely, 1)}, mean {float(here.mean):.1f}")

fig, (above, below) = plt.subplots(1, 2, figsize=(11.0, 4.0), layout="constrained")
tractable.plot(predicted(gate, [[7.0]])[0], ax=above, label="across the road, at 7 along it")
probabilities = gate[-1].gate_proba(gate[:-1].transform(grid))
below.plot(grid[:, 0], probabilities, lw=1.5)
below.set(xlabel="along the road", ylabel="probability of each way", ylim=(-0.02, 1.02))
below.spines[["top", "right"]].set_visible(False)

# %%
# With one column and no basis functions, the picture is drawn by itself.
low = rng.uniform(0.0, 4.0, 300)
second = rng.random(300) < 1.0 / (1.0 + np.exp(-3.0 * (low - 2.0)))
height = np.where(second, 3.0 + 2.0 * low, 9.0 - low) + 0.4 * rng.standard_normal(300)
fig, pair = plt.subplots(1, 2, figsize=(11.0, 4.0), sharey=True, layout="constrained")
for ax, kind in zip(pair, (tractable.MixtureOfRegressors, tractable.MixtureOfExperts), strict=True):
    fitted = kind(random_state=0).fit(low[:, None], height)
    tractable.plot(fitted, X=low[:, None], y=height, ax=ax)
    ax.set_title(f"{kind.__name__}, BIC {fitted.bic(low[:, None], height):.0f}")
plt.show()
