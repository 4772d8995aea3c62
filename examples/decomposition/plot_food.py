"""
Seventeen foods in four countries
=================================

What is eaten in the four countries of the United Kingdom, in grams a person and week: four rows of seventeen
columns. The direction of greatest variance holds two thirds of it, and sets Northern Ireland apart; two
directions hold nearly all. There are fewer rows than columns, so the components come from the 4 × 4 matrix
of inner products.
"""

import matplotlib.pyplot as plt

import tractable

food = tractable.datasets.load("food").frame.set_index("food").T.astype(float)
pca = tractable.PCA(n_components=0.9).fit(food)
print("variance along each:", pca.explained_variance_ratio_.round(4))
scores = pca.transform(food)
for country, (first, second) in zip(food.index, scores, strict=True):
    print(f"{country:10} {first:8.1f} {second:8.1f}")

# %%
# A scree of all directions, and the countries with arrows of the foods in which they differ most.
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=[1, 1.6])
tractable.plot(tractable.PCA().fit(food), ax=left)
tractable.plot(pca, data=food, labels=food.index, ax=right)

# %%
# Probabilistic PCA has the same directions, scaled, and a likelihood.
for k in (1, 2):
    model = tractable.ProbabilisticPCA(k).fit(food)
    print(f"{k}: noise variance {model.noise_variance_:.1f}, log-likelihood {4 * model.score(food):.2f}")
