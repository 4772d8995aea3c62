"""
A map from distances
====================

A table of distances between cities determines where they lie, up to turning and mirroring. Classical scaling
finds the positions from the distances alone, and places further cities by theirs.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable

# %%
# Great-circle distances, in kilometres, between fourteen cities of Europe. Only the distances are used below;
# the degrees of latitude and longitude serve to compute them, and to check the map.
CITIES = {
    "Athens": (37.98, 23.73),
    "Berlin": (52.52, 13.40),
    "Budapest": (47.50, 19.04),
    "Dublin": (53.35, -6.26),
    "Helsinki": (60.17, 24.94),
    "Istanbul": (41.01, 28.98),
    "Lisbon": (38.72, -9.14),
    "London": (51.51, -0.13),
    "Madrid": (40.42, -3.70),
    "Oslo": (59.91, 10.75),
    "Paris": (48.86, 2.35),
    "Rome": (41.90, 12.50),
    "Vienna": (48.21, 16.37),
    "Warsaw": (52.23, 21.01),
}
names = list(CITIES)
latitude, longitude = np.radians(np.array(list(CITIES.values()))).T
sphere = np.column_stack(
    [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
)
chord = np.linalg.norm(sphere[:, None] - sphere, axis=2)
distances = 2.0 * 6371.0 * np.arcsin(np.minimum(chord / 2.0, 1.0))

# %%
# Eigenvectors of the doubly centred squares are the positions. The axes are those of greatest extent, so the
# map is turned until it fits the compass: the rotation, or reflection, that brings it nearest to longitudes
# and latitudes (Procrustes).
model = tractable.ClassicalMDS(metric="precomputed").fit(distances)
compass = 6371.0 * np.column_stack([np.cos(latitude.mean()) * longitude, latitude])
compass -= compass.mean(axis=0)
u, _, vt = np.linalg.svd(model.embedding_.T @ compass)
turned = model.embedding_ @ u @ vt
error = np.linalg.norm(turned - compass, axis=1)
print("typical distance from the compass:", round(float(np.median(error))), "km")

fig, ax = plt.subplots(figsize=(7, 5.4), layout="constrained")
ax.plot(*compass.T, "x", color="0.6", label="longitude and latitude, flattened")
ax.plot(*turned.T, "o", color="#0072B2", label="from the distances")
for name, at in zip(names, turned, strict=True):
    ax.annotate(name, at, xytext=(5, 4), textcoords="offset points", fontsize="small")
ax.set(xlabel="km towards the east", ylabel="km towards the north", aspect="equal")
ax.legend()

# %%
# The earth is round: no plane has all these distances. Metric scaling makes the distances themselves as near
# as possible, instead of the inner products, and its stress says how near that is.
metric = tractable.MetricMDS(metric="precomputed").fit(distances)
print(f"normalised stress {metric.normalized_stress_:.4f} after {metric.n_iter_} steps")

fig, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
above = np.triu_indices(len(names), 1)
for fitted, label, colour in ((model, "classical", "#E69F00"), (metric, "metric", "#0072B2")):
    found = np.linalg.norm(fitted.embedding_[:, None] - fitted.embedding_, axis=2)
    ax.plot(distances[above], (found - distances)[above], ".", color=colour, label=label)
ax.axhline(0.0, color="0.6", lw=0.8)
ax.set(xlabel="distance on the globe, km", ylabel="difference in the map, km")
ax.legend()

# %%
# A further city is placed by its distances from the others; here Copenhagen.
latitude_new, longitude_new = np.radians([55.68, 12.57])
there = np.array(
    [
        np.cos(latitude_new) * np.cos(longitude_new),
        np.cos(latitude_new) * np.sin(longitude_new),
        np.sin(latitude_new),
    ]
)
away = 2.0 * 6371.0 * np.arcsin(np.linalg.norm(sphere - there, axis=1) / 2.0)
placed = model.transform(away[None])
nearest = [names[i] for i in np.argsort(np.linalg.norm(model.embedding_ - placed, axis=1))[:2]]
print("Copenhagen is placed nearest to", " and ".join(nearest))
ax = tractable.plot(model, data=away[None], labels=names)
ax.set_title("fourteen cities, and Copenhagen placed")
plt.show()
