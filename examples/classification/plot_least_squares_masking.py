"""
Masking: three classes in a line
================================

Least squares fits a linear function to the one-of-K code of each class, and predicts the largest. For a class
in the middle the code is 0, 1, 0 from left to right, whose linear fit is constant: it is nowhere the largest,
and the class is masked. Gaussian classes with one covariance have linear boundaries too, without masking.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

rng = np.random.default_rng(0)
centres = np.array([[-4.0, -4.0], [0.0, 0.0], [4.0, 4.0]])
y = np.repeat(["left", "middle", "right"], 100)
X = np.repeat(centres, 100, axis=0) + rng.standard_normal((300, 2))

models = {
    "least squares": tractable.LeastSquaresClassifier().fit(X, y),
    "linear discriminant": tractable.LinearDiscriminant().fit(X, y),
}
fig, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    tractable.plot(model, data=X, y=y, limits=((-7, 7), (-7, 7)), levels=(), ax=ax)
    ax.set_title(f"{name}: {model.score(X, y):.0%} right")

# %%
# Along the line through the classes, the outputs of least squares are straight, and one in sum; the middle
# one stays near a third. The probabilities of the Gaussian model take turns.

t = np.linspace(-7, 7, 201)
line = np.column_stack([t, t])
outputs = models["least squares"].outputs(line)
print("sums of the outputs:", np.ptp(outputs.sum(axis=1)).round(12) == 0.0)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for k, (label, colour) in enumerate(zip(model.classes_, ("#0072B2", "#E69F00", "#009E73"), strict=True)):
    axes[0].plot(t, outputs[:, k], color=colour, label=label)
    axes[1].plot(t, models["linear discriminant"].predict_proba(line)[:, k], color=colour)
axes[0].set(title="outputs of least squares", xlabel="along the line", ylabel="output")
axes[1].set(title="p(class | x) of the discriminant", xlabel="along the line", ylabel="probability")
axes[0].legend(frameon=False)
plt.show()
