"""
Ask a table: what if?
=====================

The last section of a report asks the joint distribution of the columns: fix some, and every other one shows
what is then to be expected. These are the same questions in Python.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

penguins = tractable.datasets.load("penguins").frame.drop(columns="year")
model = tractable.TableMixture(6, n_init=2, random_state=0).fit(penguins)
species = model.categories_["species"]

# %%
# One row, and what if it were heavier? The other entries of the row that are fixed stay as they are; each
# column that is free has a distribution given these.
row = penguins.iloc[300]
fixed = {"island": row["island"], "sex": row["sex"]}
masses = np.linspace(2700.0, 6300.0, 200)
print(row.to_string())


def given(mass):
    return model.condition({**fixed, "body_mass_g": mass})


for mass in (3500.0, 4500.0, 5500.0):
    low, high = given(mass).marginal(["flipper_length_mm"]).as_univariate().interval(0.9)
    print(f"{mass:.0f} g: a flipper of {low:.0f} to {high:.0f} mm with a probability of 90%")

# %%
# How strange is a row? Its log density is compared with that of all rows in the same columns. Here body mass
# and bill depth alone: each is usual by itself, and together they are not.
columns = ["bill_depth_mm", "body_mass_g"]
pair = model.marginal(columns)
rows = penguins[columns].dropna()
log_densities = pair.log_prob(rows.to_numpy())
odd = np.array([17.5, 5200.0])
share = np.mean(log_densities < pair.log_prob(odd))
print(f"{share:.1%} of the rows are stranger than a depth of {odd[0]:g} mm at {odd[1]:g} g")

fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
probabilities = np.stack([given(masses).marginal(["species"]).prob(np.full((200, 1), c)) for c in range(3)])
for name, probability, colour in zip(species, probabilities, ("#0072B2", "#E69F00", "#009E73"), strict=True):
    axes[0].plot(masses, probability, color=colour, label=name)
axes[0].axvline(row["body_mass_g"], color="gray", lw=1, ls=":")
axes[0].set(xlabel="body mass, g", ylabel="probability", title=f"species, {row['island']}, {row['sex']}")
axes[0].legend(frameon=False)
lengths = np.linspace(165.0, 240.0, 300)
for mass, colour in ((3500.0, "#56B4E9"), (4500.0, "#0072B2"), (5500.0, "#D55E00")):
    density = given(mass).marginal(["flipper_length_mm"]).prob(lengths[:, None])
    axes[1].fill_between(lengths, density, alpha=0.2, color=colour, lw=0)
    axes[1].plot(lengths, density, color=colour, label=f"{mass:.0f} g")
usual = model.marginal(["flipper_length_mm"]).prob(lengths[:, None])
axes[1].plot(lengths, usual, "--", color="gray", label="any row")
axes[1].set(xlabel="flipper length, mm", ylabel="density", title="flipper, given the mass")
axes[1].legend(frameon=False)
axes[2].scatter(rows["body_mass_g"], rows["bill_depth_mm"], s=12, c=log_densities, cmap="Blues_r")
axes[2].plot(odd[1], odd[0], "X", ms=11, color="#D55E00", label=f"{share:.1%} of rows are stranger")
axes[2].set(xlabel="body mass, g", ylabel="bill depth, mm", title="how strange?")
axes[2].legend(frameon=False, loc="lower left")
plt.show()

# %%
# The same, to be moved by sliders, is the section *Ask the table* of ``tractable report penguins.csv``, whose
# page conditions the mixture by itself, offline.
