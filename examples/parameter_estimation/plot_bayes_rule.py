"""
Tables of probabilities and Bayes' rule
=======================================

A joint distribution of two variables is a table. Its sums are marginals, its rows divided by their sums are
conditionals, and Bayes' rule turns p(x | y) into p(y | x). With fractions all of it is exact.
"""

from fractions import Fraction

import matplotlib.pyplot as plt

import tractable
from tractable import ProbabilityTable

# %%
# Salaries by profession: the probability of a high salary is the sum of its row.
survey = ProbabilityTable(
    probabilities=[[0.05, 0.10, 0.20], [0.30, 0.25, 0.10]],
    axes={"salary": ["high", "low"], "profession": ["teacher", "driver", "doctor"]},
)
print(f"P(high) = 0.05 + 0.1 + 0.2 = {survey.probability(salary='high'):.2f}")
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
tractable.plot(survey, ax=left)
tractable.plot(survey.conditional("profession"), ax=right)
plt.show()

# %%
# Half of the tourists and one in ten of the locals speak English; one person in five is a tourist.
who = {"person": ["tourist", "local"]}
prior = ProbabilityTable(probabilities=[Fraction(1, 5), Fraction(4, 5)], axes=who)
likelihood = ProbabilityTable(
    probabilities=[[Fraction(1, 2), Fraction(1, 2)], [Fraction(1, 10), Fraction(9, 10)]],
    axes={"English": ["yes", "no"]},
    given=who,
)
joint = prior * likelihood
posterior = tractable.bayes_rule(prior, likelihood).condition({"English": "yes"})
print(f"P(English) = {joint.probability({'English': 'yes'})}")
print(f"P(tourist | English) = {posterior.probability(person='tourist')}")
fig, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
for ax, table, name in zip(axes, (prior, joint, posterior), ("prior", "joint", "posterior"), strict=True):
    tractable.plot(table, ax=ax)
    ax.set_title(name)
plt.show()

# %%
# A medical test: 1 % have the disease, 90 % of them test positive, and 5 % of the healthy. Repeated tests are
# independent given the state, and each posterior is the prior of the next test.
state = {"state": ["ill", "healthy"]}
belief = ProbabilityTable(probabilities=[Fraction(1, 100), Fraction(99, 100)], axes=state)
test = ProbabilityTable(
    probabilities=[[Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 20), Fraction(19, 20)]],
    axes={"result": ["positive", "negative"]},
    given=state,
)
for n in range(1, 4):
    belief = tractable.bayes_rule(belief, test).condition({"result": "positive"})
    p = belief.probability(state="ill")
    print(f"after {n} positive: {p} = {float(p):.4f}")
