"""
A tree over the columns of a table
==================================

Which columns of a table depend on each other directly? The tree of greatest likelihood joins those of
greatest mutual information (Chow and Liu 1968). Fitted to the rows, it is a distribution: it answers
questions about any column given any others, and fills in missing entries.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import tractable

penguins = tractable.datasets.load("penguins").frame
table = penguins[["species", "island", "sex"]].copy()
for name in ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"):
    table[name] = pd.qcut(penguins[name], 4, labels=["least", "less", "more", "most"])
print(table.isna().sum().to_string())

# %%
# Entries are missing, and stay so: they are summed out, by EM.
model = tractable.BayesianNetworkDensity(root="species").fit(table)
print(model.graph_)
print(f"{model.n_parameters_} parameters, {model.n_iter_} iterations, converged: {model.converged_}")

# %%
# Is a tree enough? The information criterion compares graphs; one without edges knows nothing of dependence.
alone = tractable.BayesianNetworkDensity(graph="; ".join(table)).fit(table)
naive = tractable.BayesianNetworkDensity(graph={n: ["species"] if n != "species" else [] for n in table}).fit(
    table
)
criteria = {"no edges": alone.bic(table), "naive Bayes": naive.bic(table), "tree": model.bic(table)}
print(", ".join(f"{name} {value:.0f}" for name, value in criteria.items()))

# %%
# Any column given any others, and the entries that are missing.
heavy = model.condition({"body_mass_g": "most", "island": "Biscoe"})
print(
    dict(
        zip(
            model.categories_["species"],
            heavy.marginal("species").probabilities.round(3).tolist(),
            strict=True,
        )
    )
)
missing = table["sex"].isna() & table["body_mass_g"].notna()
print(model.impute(table)[missing][["species", "body_mass_g", "sex"]].to_string())

# %%
# Is that right? Hide a tenth of all entries, and compare with the commonest level of each column.
rng = np.random.default_rng(0)
hidden = table.mask(rng.random(table.shape) < 0.1)
guess = tractable.BayesianNetworkDensity().fit(hidden).impute(hidden)
gone = hidden.isna() & table.notna()
by_tree = {name: float(np.mean(guess[name][gone[name]] == table[name][gone[name]])) for name in table}
by_mode = {name: float(np.mean(table[name][gone[name]] == hidden[name].mode()[0])) for name in table}
fig, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained")
tractable.plot(model, ax=axes[0])
where = np.arange(len(by_tree))
axes[1].barh(where - 0.2, list(by_tree.values()), 0.4, color="#0072B2", label="tree")
axes[1].barh(where + 0.2, list(by_mode.values()), 0.4, color="#E69F00", label="commonest level")
axes[1].set_yticks(where, list(by_tree))
axes[1].invert_yaxis()
axes[1].set(xlabel="hidden entries found", ylabel="column", xlim=(0, 1))
axes[1].legend(frameon=False)
plt.show()
