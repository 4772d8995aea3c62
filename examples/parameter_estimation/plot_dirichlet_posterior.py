"""
A Dirichlet posterior on the simplex
====================================

How often is stone, paper or scissors played? Three probabilities that sum to one are a point of a triangle,
and their posterior is a Dirichlet distribution on it. Each game adds one to a count, and the posterior
becomes narrower.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.conjugate import CategoricalModel

names = ["stone", "paper", "scissors"]
rng = np.random.default_rng(10)
played = rng.choice(3, size=100, p=[0.5, 0.3, 0.2])
player = CategoricalModel.from_pseudocounts([2.0, 2.0, 2.0])

fig, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
for ax, n in zip(axes, (0, 10, 100), strict=True):
    after = player.update(player.summarize(played[:n]))
    tractable.plot(after.prior, ax=ax, names=names).set_title(f"{n} games", pad=16)
    text = ", ".join(
        f"{name} {p:.3f}" for name, p in zip(names, after.predictive().probabilities, strict=True)
    )
    print(f"{n:3d} games: next {text}")
for ax in axes[:2]:
    if ax.get_legend():
        ax.get_legend().remove()

# %%
# Is stone really played more often than paper? Probabilities of such statements are estimated by draws.
draws = after.prior.sample(20_000, rng=0)
print(f"stone before paper with probability {np.mean(draws[:, 0] > draws[:, 1]):.3f}")
print(f"stone more than half of the time with probability {np.mean(draws[:, 0] > 0.5):.3f}")
plt.show()
