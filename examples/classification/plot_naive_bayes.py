"""
Naive Bayes with columns of different kinds
===========================================

The table of penguins has numeric and categorical columns, and missing entries. Naive Bayes assumes that the
columns are independent given the species, each with its own family; missing entries are integrated out, in
`fit` and in prediction.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

penguins = tractable.datasets.load("penguins").frame.drop(columns="year")
model = tractable.NaiveBayes({"body_mass_g": "kernel"}).fit(penguins, y="species")
for column, likelihood in model.likelihoods_.items():
    print(f"{column:18} {likelihood}")
print("missing entries:", int(penguins.isna().sum().sum()))

# %%
# One bird with more and more columns observed: missing columns leave the probabilities unchanged.
columns = ["body_mass_g", "flipper_length_mm", "island", "bill_depth_mm", "bill_length_mm", "sex"]
bird = penguins[penguins["species"] == "Chinstrap"].iloc[[3]].drop(columns="species")
known = [[]] + [columns[: i + 1] for i in range(len(columns))]
views = [bird.assign(**dict.fromkeys(set(columns) - set(some))) for some in known]
probabilities = np.stack([model.predict_proba(view)[0] for view in views])

# %%
# The model is a joint distribution, which can be conditioned on any columns: the species given the mass, and
# the bill of a heavy bird.
mass = np.linspace(2600.0, 6400.0, 300)
given_mass = model.condition(["body_mass_g"], mass[:, None])
bill = np.linspace(30.0, 62.0, 300)
heavy = model.condition({"body_mass_g": 5500.0}).marginal(["bill_length_mm"])
light = model.condition({"body_mass_g": 3500.0}).marginal(["bill_length_mm"])

# %%
# And it draws new birds: as a table like the one that was learned, with their species.
drawn, species = model.sample(300, random_state=0)
print(drawn.head(3).to_string())

colors = dict(zip(model.classes_, ("#0072B2", "#E69F00", "#009E73"), strict=True))
fig, axes = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained")
left = np.zeros(len(known))
for k, name in enumerate(model.classes_):
    axes[0, 0].barh(range(len(known)), probabilities[:, k], left=left, color=colors[name])
    left += probabilities[:, k]
    axes[0, 1].plot(mass, given_mass.weights[:, k], color=colors[name], label=name)
axes[0, 0].set_yticks(range(len(known)), ["nothing known", *(f"+ {c}" for c in columns)])
axes[0, 0].invert_yaxis()
axes[0, 0].set(xlim=(0, 1), xlabel="probability", title="one bird, more and more columns observed")
axes[0, 1].legend(frameon=False, loc="center right")
axes[0, 1].set(xlabel="body mass, g", ylabel="probability", title="species, given the mass")
axes[1, 0].plot(bill, heavy.prob(bill[:, None]), color="black", label="5500 g")
axes[1, 0].plot(bill, light.prob(bill[:, None]), "--", color="black", label="3500 g")
axes[1, 0].set(xlabel="bill length, mm", ylabel="density", title="the bill, given the mass")
axes[1, 0].legend(frameon=False)
for name in model.classes_:
    real, made = penguins[penguins["species"] == name], drawn[species == name]
    axes[1, 1].plot(real["bill_length_mm"], real["bill_depth_mm"], ".", color=colors[name], ms=5)
    axes[1, 1].plot(made["bill_length_mm"], made["bill_depth_mm"], "+", color=colors[name], ms=6, alpha=0.5)
axes[1, 1].plot([], [], ".", color="gray", label="measured")
axes[1, 1].plot([], [], "+", color="gray", label="drawn")
axes[1, 1].set(xlabel="bill length, mm", ylabel="bill depth, mm", title="drawn: no slope within a species")
axes[1, 1].legend(frameon=False, loc="lower left")
plt.show()
