"""
Angles
======

The directions in which 76 turtles walked after treatment (Stephens, 1969), in degrees. Angles have no first
and no last value: the mean of 350° and 10° is not 180°. The von Mises distribution is the normal distribution
of the circle.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import tractable

listed = """
8 9 13 13 14 18 22 27 30 34 38 38 40 44 45 47 48 48 48 48 50 53 56 57 58 58 61 63 64 64 64 65 65 68 70 73 78
78 78 83 83 88 88 88 90 92 92 93 95 96 98 100 103 106 113 118 138 153 153 155 204 215 223 226 237 238 243 244
250 251 257 268 285 319 343 350
"""
degrees = np.array(listed.split(), dtype=float)
angles = np.deg2rad(degrees)
one = tractable.VonMises.fit(angles)
direction = np.rad2deg(float(one.location)) % 360.0
print(f"mean direction {direction:.1f}°, mean of the numbers {degrees.mean():.1f}°")
print(f"concentration {float(one.concentration):.2f}")

# %%
# Some turtles walked the opposite way. A mixture of two opposite directions has one parameter more, and says
# how many.


def opposite(parameters):
    """Two von Mises distributions of opposite directions: location, log concentration, log odds."""
    location, log_concentration, log_odds = parameters
    ahead = 1.0 / (1.0 + np.exp(-log_odds))
    return tractable.Mixture(
        components=tractable.VonMises(
            location=np.array([location, location + np.pi]), concentration=np.exp(log_concentration)
        ),
        weights=np.array([ahead, 1.0 - ahead]),
    )


found = minimize(lambda p: -float(np.sum(opposite(p).log_prob(angles))), [1.0, 1.0, 1.0])
two = opposite(found.x)
print(
    f"{two.weights[0]:.2f} of them towards {np.rad2deg(found.x[0]) % 360.0:.1f}°, the others the opposite way"
)
for name, dist, k in (("one direction", one, 2), ("two opposite directions", two, 3)):
    print(f"{name}: AIC {2 * k - 2 * float(np.sum(dist.log_prob(angles))):.1f}")

fig = plt.figure(figsize=(10, 4.4), layout="constrained")
flat = fig.add_subplot(1, 2, 1)
tractable.plot(one, ax=flat)
flat.set(xlabel="radians", title="one direction, along a line")
rose = fig.add_subplot(1, 2, 2, projection="polar")
edges = np.linspace(0.0, 2.0 * np.pi, 25)
counts = np.histogram(angles, edges)[0]
rose.bar(edges[:-1], counts / len(angles) / np.diff(edges), np.diff(edges), align="edge", color="0.85")
around = np.linspace(0.0, 2.0 * np.pi, 361)
rose.plot(around, one.prob(around), color="#0072B2", label="one direction")
rose.plot(around, two.prob(around), color="#D55E00", label="two opposite directions")
rose.set(yticks=[])
rose.legend(loc="lower left", bbox_to_anchor=(0.8, 0.9), frameon=False)
plt.show()
