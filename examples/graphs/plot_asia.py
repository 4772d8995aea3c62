"""
A diagnosis with a Bayesian network
===================================

The network of Lauritzen and Spiegelhalter (1988): a visit to Asia and smoking are causes of lung diseases, an
X-ray and shortness of breath are signs of them. Every answer is exact.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable import BayesianNetwork, ProbabilityTable

LEVELS = ["no", "yes"]


def table(name, yes, *parents):
    """p(name | parents), from the probabilities of yes, the last parent changing fastest."""
    p = np.reshape(yes, [2] * len(parents))
    return ProbabilityTable(
        probabilities=np.stack([1.0 - p, p], axis=-1),
        axes={name: LEVELS},
        given=dict.fromkeys(parents, LEVELS),
    )


asia = BayesianNetwork(
    tables=[
        table("asia", 0.01),
        table("smoking", 0.5),
        table("tuberculosis", [0.01, 0.05], "asia"),
        table("cancer", [0.01, 0.1], "smoking"),
        table("bronchitis", [0.3, 0.6], "smoking"),
        table("either", [0.0, 1.0, 1.0, 1.0], "tuberculosis", "cancer"),
        table("xray", [0.05, 0.98], "either"),
        table("dyspnoea", [0.1, 0.8, 0.7, 0.9], "either", "bronchitis"),
    ]
)

# %%
# A patient is short of breath, has been to Asia, does not smoke, and has a dark X-ray: what is likely grows
# with what is known.
steps = [{}, {"dyspnoea": "yes"}, {"asia": "yes"}, {"smoking": "no"}, {"xray": "yes"}]
diseases = ["tuberculosis", "cancer", "bronchitis"]
seen, rows = {}, []
for step in steps:
    seen |= step
    known = asia.condition(seen) if seen else asia
    rows.append([float(known.marginal(name).probabilities[1]) for name in diseases])
    print(", ".join(f"{name} {p:.3f}" for name, p in zip(diseases, rows[-1], strict=True)), "given", seen)
rows = np.array(rows)

# %%
# The most probable explanation of everything at once, and how large the sums were.
print(known.most_probable())
print(asia.elimination("cancer"))

# %%
fig, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
tractable.plot(known, ax=axes[0])
axes[0].set_title("observed variables are grey")
labels = ["nothing", "+ short of breath", "+ Asia", "+ does not smoke", "+ dark X-ray"]
for name, column, color in zip(diseases, rows.T, ("#0072B2", "#E69F00", "#009E73"), strict=True):
    axes[1].plot(labels, column, "o-", color=color, label=name)
axes[1].set(xlabel="what is known", ylabel="probability", ylim=(0, 1))
axes[1].tick_params(axis="x", rotation=20)
axes[1].legend(frameon=False)
plt.show()
