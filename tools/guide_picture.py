"""Draw the picture of the guide's page on pictures: one table, three ways.

python tools/guide_picture.py writes docs/_static/pictures.png.
"""

from pathlib import Path

import matplotlib.pyplot as plt

import tractable

HERE = Path(__file__).parent.parent / "docs" / "_static" / "pictures.png"


def main():
    """Draw what the page's code draws."""
    geyser = tractable.datasets.load("old_faithful").frame
    X, y = geyser[["eruptions"]], geyser["waiting"]
    mixture = tractable.GaussianMixture(2, random_state=0).fit(geyser)
    fig, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    tractable.plot(tractable.BayesianRidge().fit(X, y), ax=axes[0], X=X, y=y, coverage=0.9)
    tractable.plot(mixture.marginal(["waiting"]), ax=axes[1])
    tractable.plot(tractable.select_components(geyser, range(1, 5)), ax=axes[2])
    fig.savefig(HERE, dpi=100)


if __name__ == "__main__":
    main()
