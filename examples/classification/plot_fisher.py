"""
Fisher's linear discriminant
============================

The direction between the two class means does not separate elongated classes well. Fisher's direction
maximises the distance of the projected means relative to the scatter within classes.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)
spread = np.array([[3.0, 2.4], [2.4, 2.4]])
means = np.array([[0.0, 0.0], [2.5, -0.2]])
X = np.concatenate([rng.multivariate_normal(mean, spread, 200) for mean in means])
y = np.repeat(["left", "right"], 200)

# %%
# J(w) is the squared distance of the projected means over the projected scatter within classes. Fisher's
# direction, S_W⁻¹(m₂ - m₁), has the largest there is; the difference of the means has far less.
model = tractable.FisherDiscriminant().fit(X, y)
fisher = model.scalings_[:, 0] / np.linalg.norm(model.scalings_[:, 0])
plain = np.diff(model.means_, axis=0)[0]
plain /= np.linalg.norm(plain)


def criterion(w):
    """Between over within, along w."""
    return (w @ model.between_scatter_ @ w) / (w @ model.within_scatter_ @ w)


for name, w in (("difference of means", plain), ("Fisher", fisher)):
    print(f"{name:>20}: direction {w.round(3)}, J = {criterion(w):.3f}")
every = np.linspace(0.0, np.pi, 721)
turned = [criterion(np.array([np.cos(a), np.sin(a)])) for a in every]
print(f"the best of 721 directions: J = {max(turned):.3f}")

# %%
# The same rows, seen along both.
middle = X.mean(axis=0)
fig, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
colours = {"left": "#0072B2", "right": "#E69F00"}
for label, colour in colours.items():
    axes[0].plot(*X[y == label].T, ".", ms=4, color=colour, label=label)
for w, style, name in ((plain, "dashed", "difference of means"), (fisher, "solid", "Fisher")):
    ends = middle + np.array([[-5.0], [5.0]]) * w
    axes[0].plot(*ends.T, color="black", ls=style, lw=1.5, label=name)
axes[0].set(xlabel="x0", ylabel="x1", aspect="equal", xlim=(-6, 8), ylim=(-6, 8), title="two directions")
axes[0].legend(frameon=False, fontsize=8, loc="upper left")
for ax, w, title in ((axes[1], plain, "along the difference of means"), (axes[2], fisher, "along Fisher's")):
    seen = (X - middle) @ w
    bins = np.linspace(seen.min(), seen.max(), 40)
    for label, colour in colours.items():
        ax.hist(seen[y == label], bins=bins, color=colour, alpha=0.6)
    ax.set(xlabel="projection", title=f"{title}: J = {criterion(w):.2f}")
    ax.spines[["top", "right"]].set_visible(False)
axes[1].set_ylabel("rows")

# %%
# With K classes there are up to K - 1 directions. The thirteen measurements of the wine table, seen along
# two:
wine = tractable.datasets.load("wine").frame
measured = wine.drop(columns=wine.columns[-1])
kinds = wine[wine.columns[-1]]
seen = tractable.FisherDiscriminant().fit(measured, kinds)
places = np.asarray(seen.transform(measured))
fig, ax = plt.subplots(figsize=(6, 4.4), layout="constrained")
for kind, colour in zip(seen.classes_, ("#0072B2", "#E69F00", "#009E73"), strict=True):
    ax.plot(*places[kinds == kind].T, ".", color=colour, label=str(kind))
ax.set(xlabel="first direction", ylabel="second direction", title=f"{seen.score(measured, kinds):.0%} right")
ax.legend(frameon=False, title=kinds.name)
plt.show()
