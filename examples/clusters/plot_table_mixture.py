"""
A mixture model of a table
==========================

Penguins were weighed and measured on three islands. The table has numeric and categorical columns, and
missing entries. A mixture over its columns is a joint distribution: it can be conditioned on any columns to
predict the others.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

penguins = tractable.datasets.load("penguins").frame.drop(columns="year")
print(penguins.isna().sum().to_string())

# %%
# Kinds of columns come from their types. How many components? The Bayesian information criterion says.
counts = range(1, 11)
fits = [tractable.TableMixture(k, n_init=5, random_state=0).fit(penguins) for k in counts]
bic = [fit.bic(penguins) for fit in fits]
model = fits[int(np.argmin(bic))]
print(model.kinds_)
print(f"{model.n_components} components, by BIC")

# %%
# Each component is a product over the columns. The components correspond, without labels, to species
# and sexes.
species, sex = model.categories_["species"], model.categories_["sex"]
parts = dict(zip(model.feature_names_in_, model.distribution_.components.parts, strict=True))
for k in np.argsort(-model.weights_):
    kind = species[int(np.argmax(parts["species"].probabilities[k]))]
    female = parts["sex"].probabilities[k, 0]
    mass = parts["body_mass_g"].mean[k]
    print(f"{model.weights_[k]:.2f}  {kind:9}  {mass:5.0f} g  female {female:.2f}")

# %%
# Any columns given any others. What does a bill say of the species, and what do species and sex say of the
# mass?
lengths = np.linspace(32.0, 60.0, 200)
given_bill = model.condition(["bill_length_mm"], lengths[:, None]).marginal(["species"])
probabilities = np.stack([given_bill.prob(np.full((200, 1), float(c))) for c in range(3)])

mass = np.linspace(2500.0, 6700.0, 300)
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
axes[0].plot(list(counts), bic, "o-", color="#0072B2")
axes[0].set(xlabel="components", ylabel="BIC", title="how many components")
colors = dict(zip(species, ("#0072B2", "#E69F00", "#009E73"), strict=True))
for name, probability in zip(species, probabilities, strict=True):
    axes[1].plot(lengths, probability, color=colors[name], label=name)
axes[1].set(xlabel="bill length, mm", ylabel="probability", title="species, given the bill")
axes[1].legend(frameon=False)
for name in species:
    for one, line in zip(sex, ("--", "-"), strict=True):
        density = model.condition({"species": name, "sex": one}).marginal(["body_mass_g"])
        axes[2].plot(mass, density.prob(mass[:, None]), line, color=colors[name])
for one, line in zip(sex, ("--", "-"), strict=True):
    axes[2].plot([], [], line, color="gray", label=one)
axes[2].legend(frameon=False, loc="upper right")
axes[2].set_ylim(0.0, 0.0018)
axes[2].set(xlabel="body mass, g", ylabel="density", title="mass, given species and sex")
plt.show()

# %%
# Missing entries are imputed given the rest of the row: with the most probable values, or several times with
# draws, which show their uncertainty.
missing = penguins["sex"].isna() & penguins["body_mass_g"].notna()
print(model.impute(penguins)[missing][["species", "body_mass_g", "sex"]].to_string())
draws = model.impute(penguins, 200, random_state=0)
drawn = np.mean([(table["sex"][missing] == "male").to_numpy() for table in draws], axis=0)

# %%
# Is that right? Hide a tenth of what is known, and compare: by the mixture, by the mean or the commonest
# category.
rng = np.random.default_rng(0)
hidden = penguins.copy()
masks = {name: (rng.random(len(penguins)) < 0.1) & penguins[name].notna() for name in penguins}
for name, mask in masks.items():
    hidden.loc[mask, name] = None
guess = tractable.TableMixture(model.n_components, n_init=5, random_state=0).fit(hidden).impute(hidden)
errors = {}
for name, mask in masks.items():
    truth, known = penguins[name][mask], hidden[name].dropna()
    if model.kinds_[name] == "normal":
        by_model = np.sqrt(np.mean((guess[name][mask] - truth) ** 2))
        by_mean = np.sqrt(np.mean((known.mean() - truth) ** 2))
    else:
        by_model = np.mean(guess[name][mask] != truth)
        by_mean = np.mean(known.mode()[0] != truth)
    errors[name] = by_model / by_mean
fig, axes = plt.subplots(1, 2, figsize=(12, 3.8), layout="constrained", width_ratios=[2, 1])
axes[0].barh(list(errors), list(errors.values()), color="#0072B2")
axes[0].axvline(1.0, color="black", lw=1)
axes[0].invert_yaxis()
axes[0].set(
    xlabel="error, as a probability of that of the mean or the commonest category", title="hidden entries"
)
rows = penguins[missing]
axes[1].barh(
    [f"{s}, {m:.0f} g" for s, m in zip(rows["species"], rows["body_mass_g"], strict=True)],
    drawn,
    color="#E69F00",
)
axes[1].set(xlabel="probability of being male", xlim=(0, 1), title="sex not recorded")
plt.show()
