"""
The number of columns of a polynomial
=====================================

One input and powers up to the third: four columns, the constant included. With a hundred inputs and all their
products there are 176,851. Without the products between inputs, the number grows linearly.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

for inputs in (1, 2, 10, 100):
    print(f"{inputs:3d} input(s): {tractable.n_monomials(inputs, 3):,} products of degree up to three")

# %%
# The basis has them in order of their degree, and names them.
basis = tractable.PolynomialBasis(3, kind="monomial", include_bias=True).fit(np.zeros((2, 2)))
print(", ".join(basis.get_feature_names_out(["a", "b"])))

# %%
# The steepness of a line is the degree: D inputs have about Dᴹ/M! products of degree up to M.
inputs = np.unique(np.geomspace(1, 100, 30).astype(int))
fig, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for degree, colour in zip((1, 2, 3, 5), ("#56B4E9", "#009E73", "#0072B2", "#D55E00"), strict=True):
    counts = [tractable.n_monomials(int(d), degree) for d in inputs]
    ax.plot(inputs, counts, color=colour, label=f"degree {degree}")
alone = [tractable.n_monomials(int(d), 3, interactions=False) for d in inputs]
ax.plot(inputs, alone, color="#0072B2", ls="--", label="degree 3, no products")
ax.axhline(1e6, color="0.7", lw=0.8, zorder=0)
ax.text(100.0, 1.3e6, "a million", color="0.4", fontsize=9, ha="right")
ax.set(xscale="log", yscale="log", xlabel="inputs", ylabel="columns", ylim=(1, 1e9))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
plt.show()
