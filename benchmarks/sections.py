"""Where each row stands on the page of results."""

from fnmatch import fnmatch

#: Section by section, the names of its rows; * matches anything.
SECTIONS = {
    "Linear models": (
        "linear_regression",
        "tsqr",
        "ridge_cv_*",
        "lasso_path*",
        "elastic_net_cv",
        "lars_path",
        "bayesian_ridge",
        "ard",
        "poisson_regression",
        "gamma_regression",
        "quantile_regression",
    ),
    "Mixtures and k-means": (
        "gmm_*",
        "bayesian_gmm",
        "select_components",
        "mixture_of_regressors",
        "kmeans_*",
        "silhouette",
    ),
    "Densities and neighbours": (
        "histogram",
        "kde_*",
        "adaptive_kde",
        "mean_shift",
        "knn_[0-9]*",
        "knn_dimensions",
        "knn_graph",
    ),
    "Maps": ("tsne_*", "isomap_*", "smacof"),
    "Kernels and Gaussian processes": ("kernel_ridge_*", "gp_*", "gpc_*"),
    "Sparse rows": ("sparse_*",),
    "Dimension reduction": ("pca_*", "ppca_*", "factor_analysis", "kernel_pca"),
    "Classification": ("gaussian_nb_*", "lda_*", "qda_*", "logistic_*", "knn_classifier"),
    "Sampling": ("chain_diagnostics", "metropolis_gaussian", "mixture_gibbs", "nuts_*"),
    "Graphs": ("d_separation", "alarm_marginal"),
    "Data and distributions": (
        "compare*",
        "fold_*",
        "parquet_*",
        "mvn_*",
        "normal_*",
        "gamma_sample*",
        "import_*",
    ),
    "Clusters": ("dask_*",),
    "The command": ("report_*", "help_time"),
    "Digits": ("least_squares_digits*",),
}


def sections_of(name):
    """Return the sections that have a row: one, as a test checks."""
    return [
        section
        for section, patterns in SECTIONS.items()
        if any(fnmatch(name, pattern) for pattern in patterns)
    ]


def by_section(names):
    """Return the names by section, in the order of the sections and of their patterns."""
    return {
        section: list(dict.fromkeys(name for pattern in patterns for name in names if fnmatch(name, pattern)))
        for section, patterns in SECTIONS.items()
    }
