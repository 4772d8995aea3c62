"""
A joint distribution of a whole table
=====================================

Penguins were weighed and measured on three islands. A latent tree gives each column of the table a hidden
state, and lets the states form a tree. It is a joint distribution of numbers and categories: any columns can
be given, and any others asked for. Its answers should agree with the rows of the table.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

penguins = tractable.datasets.load("penguins").frame.drop(columns="year")
model = tractable.LatentTreeDensity(random_state=0).fit(penguins)

# %%
# Held-out rows choose the number of states, of which one, independent columns, is always tried. More states
# must be better by more than a standard error.
for (n_states, start), density in model.held_out_.items():
    print(f"{n_states:2d} states, start {start:4}: log density of a held-out row {density:.2f}")
print(f"chosen: {model.n_states_} states")

# %%
# The tree joins columns with the most information about each other.
for column, parent in model.parents_.items():
    print(f"{column:18} {'is the root' if parent is None else 'depends on ' + parent}")

# %%
# How probable is each species, given the island? The answers of the model beside the counts of the table.
species = model.categories_["species"]
answers, counts = {}, {}
for island, rows in penguins.groupby("island"):
    given = model.condition({"island": island}).marginal(["species"])
    answers[island] = given.prob(np.arange(3.0)[:, None])
    counts[island] = np.array([np.mean(rows["species"] == name) for name in species])
    pairs = zip(species, answers[island], counts[island], strict=True)
    print(f"{island:9}", ", ".join(f"{name} {p:.2f} (counted {count:.2f})" for name, p, count in pairs))

# %%
# Numbers keep the support and the heaps of their columns. Draws from the model look like rows of the table.
print(model.sample(4, random_state=0).to_string())

# %%
# The tree, and the distribution of body mass given flipper lengths. A short and a long flipper belong to
# different species.
fig, (left, right) = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
tractable.plot(model, ax=left)
mass = np.linspace(2500.0, 6700.0, 500)
for flipper, color in ((185.0, "#0072B2"), (200.0, "#E69F00"), (220.0, "#009E73")):
    density = model.condition({"flipper_length_mm": flipper}).marginal(["body_mass_g"])
    right.plot(mass, density.prob(mass[:, None]), color=color, label=f"flipper {flipper:.0f} mm")
right.set(xlabel="body mass, g", ylabel="density", title="body mass, given the flipper")
right.legend(frameon=False)
plt.show()
