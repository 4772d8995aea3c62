"""
The number of partitions
========================

The best clustering is the best of all partitions of the points. Their number grows too fast to try them all,
so algorithms start somewhere and improve.
"""

import matplotlib.pyplot as plt
import numpy as np

import tractable
from tractable.mixture import partitions

# %%
# Four points can be divided in 15 ways. Each line of the count says into how many clusters: once into one, 7
# times into two, 6 times into three, once into four.
corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
colours = np.array(["#0072B2", "#E69F00", "#009E73", "#CC79A7"])
ways = [labels for k in range(1, 5) for labels in partitions(4, k)]
fig, axes = plt.subplots(3, 5, figsize=(7, 4.4), layout="constrained")
for ax, labels in zip(axes.flat, ways, strict=True):
    ax.scatter(*corners.T, s=160, c=colours[np.asarray(labels)])
    ax.set(xlim=(-0.5, 1.5), ylim=(-0.5, 1.5), xticks=[], yticks=[], aspect="equal")
fig.suptitle(f"the {tractable.bell(4)} partitions of four points", fontsize="medium")

# %%
# Into K clusters there are S(n, K) ways (Stirling's numbers of the second kind), and the sum over K is Bell's
# number. Both are whole numbers, and are given as such however long they are.
for n, k in ((3, 2), (4, 2), (5, 3), (8, 3), (10, 4)):
    print(f"S({n}, {k}) = {tractable.stirling2(n, k)}")
print("Bell numbers:", ", ".join(str(tractable.bell(n)) for n in range(1, 11)))
print(f"seventy-one points: {tractable.bell(71)}, about {float(tractable.bell(71)):.4e}")

# %%
# A computer that looks at a thousand million partitions a second tries all those of 17 points within two
# minutes; for 25 it needs a century and a half.
sizes = np.arange(1, 41)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.semilogy(
    sizes, [float(tractable.bell(int(n))) for n in sizes], color="#0072B2", label="any number of clusters"
)
for k, colour in ((2, "#E69F00"), (3, "#009E73"), (5, "#CC79A7")):
    ways_of_k = [float(tractable.stirling2(int(n), k)) for n in sizes if n >= k]
    ax.semilogy(sizes[k - 1 :], ways_of_k, color=colour, label=f"{k} clusters")
for seconds, what in ((60.0, "a minute"), (3.2e9, "a century"), (4.35e17, "the age of the universe")):
    ax.axhline(1e9 * seconds, color="0.6", lw=0.8, ls="dashed")
    ax.text(1, 2e9 * seconds, what, color="0.4", fontsize=9)
ax.set(xlabel="points", ylabel="partitions", xlim=(0, 41))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="lower right")
years = [float(tractable.bell(n)) / 1e9 / 3.156e7 for n in (17, 25)]
print(f"17 points: {years[0] * 3.156e7:.0f} seconds; 25 points: {years[1]:.0f} years")
plt.show()
