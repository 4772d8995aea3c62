"""
Decision theory: losses and the reject option
=============================================

Class probabilities and a loss matrix give the decision of least expected loss. Here the class densities are
known, so that the optimum can be computed, and compared with fitted models.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

# %%
# A test result x of people who are well (nine of ten) or ill. The most probable class has the smallest error,
# the Bayes error, computed by quadrature.

test = tractable.BayesClassifier(
    class_distributions=tractable.Normal(mean=[0.0, 2.5], variance=[1.0, 1.0]),
    priors=[0.9, 0.1],
    classes=["well", "ill"],
)
ax = tractable.plot(test)
ax.set_title(f"least error {float(tractable.bayes_error(test)):.4f}")

# %%
# To send an ill person home costs a hundred times what a needless treatment does. The decision of least loss,
# argmin_j Σ_k L_kj p(C_k | x), moves the boundary by log 100 in the log odds: many are treated for each who
# is ill. A case may also be rejected (left to a doctor) at a loss of one half: where both decisions have a
# larger expected loss.

loss = np.array([[0.0, 1.0], [100.0, 0.0]])
x = np.linspace(-4.0, 5.0, 1801)
p_ill = test.predict_proba(x)[:, 1]

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(x, 100.0 * p_ill, label="send home")
ax.plot(x, 1.0 - p_ill, label="treat")
ax.axhline(0.5, color="0.5", label="reject")
decided = test.decide(x, loss=loss, reject_loss=0.5)
for what, colour in (("well", "#0072B2"), (None, "0.5"), ("ill", "#E69F00")):
    own = np.array([d == what for d in decided])
    ax.fill_between(x, 0.0, 0.06, where=own, color=colour, lw=0)
ax.set(xlabel="test result", ylabel="expected loss", ylim=(0.0, 2.0))
ax.legend(frameon=False)
for what, options in (
    ("say what is more probable", None),
    ("least loss", {"loss": loss}),
    ("least loss, doctor at 0.5", {"loss": loss, "reject_loss": 0.5}),
):
    if options is None:
        said = test.predict(x)
        risk = np.where(said == "well", 100.0 * p_ill, 1.0 - p_ill)
        cost = np.sum(risk * np.exp(test.score_samples(x))) * (x[1] - x[0])
    else:
        cost = float(tractable.bayes_error(test, **options))
    print(f"{what:>26}: {cost:.3f} a person")

# %%
# The loss of a rejection trades errors against rejections: the smaller it is, the more cases are rejected,
# and the fewer of the others are wrong (Chow 1970).

people, truth = test.sample(100_000, rng=0)
print("\n loss   rejected  wrong among the rest")
for reject_loss in (0.5, 0.3, 0.1, 0.03, 0.01):
    said = test.decide(people, reject_loss=reject_loss)
    kept = np.array([label is not None for label in said])
    print(f"{reject_loss:5.2f}  {1 - kept.mean():9.3f}  {np.mean(said[kept] != truth[kept]):20.4f}")

# %%
# Linear classifiers have linear boundaries. That between two classes is normal to the difference of their
# weights, signed distances are (wᵀx + w₀)/‖w‖, and regions are convex: the dotted lines are the boundaries of
# all pairs, of which only the parts between the two best classes count.

rng = np.random.default_rng(1)
y = np.repeat(["ash", "birch", "cedar"], 60)
X = np.repeat([[0.0, 0.0], [3.0, 0.5], [1.0, 3.0]], 60, axis=0) + rng.normal(size=(180, 2))
model = tractable.LinearDiscriminant().fit(X, y)
functions = tractable.discriminant_functions(model)
fig, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
tractable.plot(functions, data=X, y=y, ax=axes[0])
axes[0].set_title("regions, and the boundary of every pair")
tractable.plot(model, data=X, y=y, ax=axes[1])
axes[1].set_title("probabilities of the same model")
between = functions.pairwise_boundary("birch", "ash")
point = np.array([3.0, 2.0])
print("\ndistance to the surface between ash and birch:", between.signed_distance(point).round(3))
print("its nearest point:", between.project_to_boundary(point).round(3))
plt.show()
