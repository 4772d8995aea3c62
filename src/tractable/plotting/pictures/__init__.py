"""One module for each kind of picture; importing it registers what it draws."""

from tractable.plotting.pictures import (
    assessment,
    clusters,
    compound,
    conjugate,
    diagnosis,
    dirichlet,
    gaussian,
    histogram,
    kmeans,
    mixtures,
    neighbors,
    paths,
    regression,
    regression_mixtures,
    results,
    univariate,
)

__all__ = [
    "assessment",
    "clusters",
    "compound",
    "conjugate",
    "diagnosis",
    "dirichlet",
    "gaussian",
    "histogram",
    "kmeans",
    "mixtures",
    "neighbors",
    "paths",
    "regression",
    "regression_mixtures",
    "results",
    "univariate",
]
