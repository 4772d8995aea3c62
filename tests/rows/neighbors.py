"""Models of neighbours."""

from rows.row import Row
from tractable.density import AdaptiveKernelDensity, NearestNeighborDensity
from tractable.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from tractable.spatial import Minkowski

INFINITE = {
    "degenerate_rows_are_answered_or_refused": "where K rows coincide the estimate is infinite, which is said"
}
ROWS = [
    Row("NearestNeighborDensity", NearestNeighborDensity, exempt=INFINITE),
    Row(
        "NearestNeighborDensity-unbiased",
        lambda: NearestNeighborDensity(8, correct_bias=True, metric="manhattan"),
        exempt=INFINITE,
    ),
    Row("AdaptiveKernelDensity", AdaptiveKernelDensity),
    Row("AdaptiveKernelDensity-ball", lambda: AdaptiveKernelDensity(4, shrinkage=1.0)),
    Row("AdaptiveKernelDensity-balloon", lambda: AdaptiveKernelDensity(5, variant="balloon")),
    Row("AdaptiveKernelDensity-balloon-cv", lambda: AdaptiveKernelDensity(variant="balloon")),
    Row("NearestNeighbors", NearestNeighbors),
    Row("NearestNeighbors-one", lambda: NearestNeighbors(n_neighbors=1, index="brute")),
    Row(
        "NearestNeighbors-tree",
        lambda: NearestNeighbors(n_neighbors=2, index="kd_tree", metric="manhattan"),
    ),
    Row("KNeighborsClassifier", KNeighborsClassifier),
    Row("KNeighborsClassifier-nan-euclidean", lambda: KNeighborsClassifier(4, metric="nan_euclidean")),
    Row("KNeighborsClassifier-one", lambda: KNeighborsClassifier(1, index="kd_tree")),
    Row("KNeighborsClassifier-distance", lambda: KNeighborsClassifier(4, weights="distance")),
    Row(
        "KNeighborsClassifier-loo",
        lambda: KNeighborsClassifier("loo", max_neighbors=4, metric=Minkowski(m=3)),
    ),
    Row(
        "KNeighborsClassifier-forest",
        lambda: KNeighborsClassifier(3, index="randomized_forest", random_state=0),
    ),
    Row("KNeighborsRegressor", KNeighborsRegressor),
    Row("KNeighborsRegressor-order", lambda: KNeighborsRegressor(4, p=1.5)),
    Row("KNeighborsRegressor-nan-euclidean", lambda: KNeighborsRegressor(metric="nan_euclidean")),
    Row("KNeighborsRegressor-many", lambda: KNeighborsRegressor(25)),
    Row("KNeighborsRegressor-distance", lambda: KNeighborsRegressor(4, weights="distance")),
    Row("KNeighborsRegressor-loo", lambda: KNeighborsRegressor("loo", max_neighbors=4)),
]
