"""
Ask, complete and compare tables
================================

A joint distribution of all columns of a table answers three questions: what one column is given others, what
the missing entries may be, and whether another table is of the same kind. The commands ``tractable ask``,
``tractable complete`` and ``tractable compare`` do the same without code.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.report import compare_tables, completed_frames, joint_mixture, joint_table

penguins = tractable.datasets.load("penguins").frame.drop(columns="year")

# %%
# A mixture over all columns, numbers and words, with its gaps; BIC chooses its size. Conditioned on some
# columns it is the distribution of the others.
model = joint_mixture(joint_table(penguins))
masses = {
    sex: model.condition({"species": "Gentoo", "sex": sex}).marginal(["body_mass_g"]).as_univariate()
    for sex in ("female", "male")
}
for sex, mass in masses.items():
    low, high = mass.interval(0.9)
    print(f"{sex}: {mass.mean:.0f} g, nine in ten between {low:.0f} and {high:.0f} g")

# %%
# A third of the masses are lost, more of heavy birds (by their flippers). The mean of those that are left is
# too low. Each of twenty completed tables has the entries drawn given the rest of the row; by Rubin's rules
# the variance of the pooled mean is that of one table plus what the draws differ by.
rng = np.random.default_rng(0)
flippers = penguins["flipper_length_mm"].fillna(200.0)
lost = rng.random(len(penguins)) < 1.0 / (1.0 + np.exp(-(flippers - 208.0) / 5.0))
holes = penguins.assign(body_mass_g=penguins["body_mass_g"].mask(lost))
draws, _ = completed_frames(holes, 20, random_state=0)
means = np.array([one["body_mass_g"].mean() for one in draws])
within = np.mean([one["body_mass_g"].var() / len(one) for one in draws])
error = np.sqrt(within + (1.0 + 1.0 / len(draws)) * means.var(ddof=1))
print(f"{lost.mean():.0%} lost; all birds {penguins['body_mass_g'].mean():.0f} g")
print(f"those left {holes['body_mass_g'].mean():.0f} g, completed {means.mean():.0f} ± {error:.0f} g")

# %%
# Halves of one table do not differ; without one species many columns and pairs do. Holm's method keeps the
# probability of any false alarm below 0.05, however many comparisons there are.
order = rng.permutation(len(penguins))
first, second = penguins.iloc[order[::2]], penguins.iloc[order[1::2]]
same = compare_tables(first, second)
other = compare_tables(first, second[second["species"] != "Gentoo"])
print(f"halves: {len(same.drifted)} of {len(same.comparisons)} changed")
print(f"without Gentoo: {len(other.drifted)} of {len(other.comparisons)} changed")

# %%
# The densities of the first question, the means of the second, and the changes of the third in standard
# errors.
fig, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
grid = np.linspace(3500.0, 6700.0, 300)
for (sex, mass), colour in zip(masses.items(), ("#D55E00", "#0072B2"), strict=True):
    axes[0].plot(grid, mass.prob(grid), color=colour, label=sex)
axes[0].set(title="mass of a Gentoo, given its sex", xlabel="g", yticks=[])
axes[0].legend(frameon=False)
axes[1].hist(means, bins=8, color="#56B4E9")
for x, text, colour in (
    (penguins["body_mass_g"].mean(), "all birds", "black"),
    (holes["body_mass_g"].mean(), "those left", "#D55E00"),
):
    axes[1].axvline(x, color=colour, label=text)
axes[1].set(title="mean mass of completed tables", xlabel="g", yticks=[])
axes[1].legend(frameon=False)
columns = [one for one in other.comparisons if one.what == "column"]
for k, found in enumerate(columns):
    half = (found.high - found.low) / 3.92
    colour = "#D55E00" if found.adjusted < other.level else "0.6"
    axes[2].barh(-k, abs(found.change) / half, color=colour)
axes[2].set_yticks(-np.arange(len(columns)), [one.name for one in columns])
axes[2].set(title="without Gentoo: change by column", xlabel="standard errors")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
