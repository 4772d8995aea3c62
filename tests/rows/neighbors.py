"""Models of neighbours."""

from rows.row import Row
from tractable.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from tractable.spatial import Minkowski

STEPS = {
    "quantiles_invert_the_cdf": "the targets of K neighbours are a sample, whose cdf has steps",
    "intervals_are_equal_tailed": "intervals end at targets of neighbours: two may be the same",
}
ALONE = {
    **STEPS,
    "noise_widens_the_prediction": "at a row of the training set it speaks alone: there is no spread",
}
ROWS = [
    Row("NearestNeighbors", NearestNeighbors),
    Row(
        "NearestNeighbors-tree", lambda: NearestNeighbors(n_neighbors=2, index="kd_tree", metric="manhattan")
    ),
    Row("KNeighborsClassifier", KNeighborsClassifier),
    Row("KNeighborsClassifier-one", lambda: KNeighborsClassifier(1, index="kd_tree")),
    Row("KNeighborsClassifier-distance", lambda: KNeighborsClassifier(4, weights="distance")),
    Row(
        "KNeighborsClassifier-loo",
        lambda: KNeighborsClassifier("loo", max_neighbors=4, metric=Minkowski(m=3)),
    ),
    Row("KNeighborsRegressor", KNeighborsRegressor, exempt=STEPS),
    Row("KNeighborsRegressor-distance", lambda: KNeighborsRegressor(4, weights="distance"), exempt=ALONE),
    Row("KNeighborsRegressor-loo", lambda: KNeighborsRegressor("loo", max_neighbors=4), exempt=STEPS),
]
