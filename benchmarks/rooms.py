"""Where each row stands on the page of results."""

from fnmatch import fnmatch

#: Room by room, the names of its rows; * matches anything.
ROOMS = {
    "Linear models": (
        "linear_regression",
        "tsqr",
        "ridge_cv_*",
        "lasso_path*",
        "lars_path",
        "bayesian_ridge",
        "ard",
    ),
    "Mixtures and k-means": ("gmm_*", "bayesian_gmm", "mixture_of_regressors", "kmeans_*", "silhouette"),
    "Densities and neighbours": (
        "histogram",
        "kde_*",
        "mean_shift",
        "knn_[0-9]*",
        "knn_dimensions",
        "knn_graph",
    ),
    "Classification": ("gaussian_nb_*", "lda_*", "qda_*", "logistic_*", "knn_classifier"),
    "Data and distributions": ("fold_*", "mvn_*", "normal_*", "gamma_*", "import_*"),
    "The command": ("report_*", "help_time"),
    "Digits": ("least_squares_digits*",),
}


def rooms_of(name):
    """Return the rooms that claim a row: one, as a test asks."""
    return [room for room, patterns in ROOMS.items() if any(fnmatch(name, pattern) for pattern in patterns)]


def in_rooms(names):
    """Return the names by room, in the order of the rooms and of their patterns."""
    return {
        room: list(dict.fromkeys(name for pattern in patterns for name in names if fnmatch(name, pattern)))
        for room, patterns in ROOMS.items()
    }
