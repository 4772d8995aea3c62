"""
Eight points: a linear discriminant and nearest neighbours
==========================================================

A linear discriminant models the classes as Gaussians with one covariance, and has a linear boundary. Nearest
neighbours take a vote. Eight points are few enough to follow both by hand.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

X = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)

# %%
# **The line.** Two classes of three points each. Their means and their common covariance Σ give the weights
# w = Σ⁻¹(μ₁ - μ₂), and the probability of a class is the sigmoid of wᵀx + w₀.
rows, y = X[[0, 3, 7, 2, 4, 5]], np.repeat(["one", "two"], 3)
model = tractable.LinearDiscriminant().fit(rows, y)
line = tractable.discriminant_functions(model).pairwise_boundary("one", "two")
print("means", *(mean.round(5).tolist() for mean in model.means_))
print("covariance", model.covariance_.round(6).tolist())
print(f"w = ({line.coef[0, 0]:.8f}, {line.coef[0, 1]:.8f}), w0 = {float(line.intercept[0]):.8f}")
print(f"signed distance of (2, 5): {float(line.signed_distance(X[1])):.8f}")
print(f"p(one | (5, 6.5)) = {model.predict_proba([[5.0, 6.5]])[0, 0]:.8f}")

# %%
# **The vote.** All eight points, in three classes. The three nearest to (4, 6) are one of each class: a tie.
# The nearest of them decides, and where two are equally near, as here, the smaller label.
clusters = np.array([1, 3, 2, 1, 2, 2, 3, 1])
at = np.array([[4.0, 6.0]])
voters = tractable.KNeighborsClassifier(3).fit(X, clusters)
distances, nearest = voters.kneighbors(at)
print("\nsquared distances:", np.sum((X - at) ** 2, axis=1))
print("the three nearest:", [f"X{i + 1} of class {clusters[i]}" for i in nearest[0]])
print("fractions of the votes:", voters.predict_proba(at)[0].round(4), "decision:", voters.predict(at)[0])

# %%
# Three points within √8: the same neighbours are a density, 3/(8 · π · 8).
density = np.exp(tractable.NearestNeighborDensity(3).fit(X).score_samples(at))[0]
print(f"density at (4, 6): {density:.8f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
box = ((0.0, 10.0), (1.0, 11.0))
tractable.plot(model, data=rows, y=y, limits=box, levels=(), ax=left)
left.plot(*X[[1, 6]].T, "s", color="0.4", ms=4)
left.set_title("linear boundary of two classes")
tractable.plot(voters, limits=box, ax=right)
right.plot(*at.T, "*", color="black", ms=13)
for i in nearest[0]:
    right.plot(*np.stack([at[0], X[i]], axis=1), color="black", lw=0.8, ls="dotted")
right.set_title("three neighbours, one of each class")
for ax in (left, right):
    for n, point in enumerate(X, start=1):
        ax.annotate(f"X{n}", point, xytext=(5, 5), textcoords="offset points", fontsize=8)
    ax.set_aspect("equal")
plt.show()
