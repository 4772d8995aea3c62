"""
A regression table
==================

What does a penguin weigh, given its flipper and its island? The table of the fit has estimates, standard
errors, t tests and intervals; the picture has the coefficients in comparable units, times the standard
deviations of their columns.
"""

import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline

import tractable

penguins = tractable.datasets.load("penguins").frame.dropna()
columns = ["island", "sex", "flipper_length_mm", "bill_length_mm", "bill_depth_mm"]
coded = make_pipeline(tractable.ContrastCoding(), tractable.LinearRegression())
model = coded.fit(penguins[columns], penguins["body_mass_g"])[-1]
table = model.summary()
print(table)

# %%
# Is the island needed at all? One test of both of its coefficients, and the same by two nested fits.
print(table.wald_test("island"))
smaller = make_pipeline(tractable.ContrastCoding(), tractable.LinearRegression())
smaller = smaller.fit(penguins[columns[1:]], penguins["body_mass_g"])[-1]
print(tractable.compare_nested(model, smaller))

# %%
# Intervals that do not assume equally large noise, and the penguins that move the fit most.
X = coded[:-1].transform(penguins[columns])
robust = model.summary(X, penguins["body_mass_g"], covariance="HC3")
influence = model.influence(X, penguins["body_mass_g"])
fig, (left, right) = plt.subplots(1, 2, figsize=(11.0, 4.0), layout="constrained")
tractable.plot(robust, ax=left)
tractable.plot(influence, ax=right)
plt.show()
