"""Which module of `pictures` draws a kind of object: it is imported when one is drawn, and not before."""

__all__ = ["MODULES"]

_KINDS = {
    "assessment": "CVCurve CalibrationCurve BiasVariance",
    "bases": "Basis",
    "class_scores": "ConfusionMatrix ClassCalibration",
    "classifiers": "ClassifierMixin BayesClassifier LinearDiscriminantFunction",
    "clusters": "ClusterReport NumberOfClusters",
    "component_choice": "ComponentChoice",
    "compound": "Mixture Product MultivariateStudentT",
    "conjugate": "ConjugateModel Updates",
    "count_vectors": "CountVectors",
    "diagnosis": "Diagnosis",
    "dirichlet": "Dirichlet",
    "evidence": "EvidenceDecomposition",
    "gaussian": "GaussianDensity MultivariateNormal",
    "grids": "GridPosterior",
    "histogram": "Histogram HistogramDensity BinSearch",
    "kernel_density": "KernelDensity SmoothedEmpirical",
    "kmeans": "KMeans",
    "likelihoods": "LikelihoodComparison",
    "matrices": "Wishart InverseWishart NormalWishart NormalGamma",
    "mean_shift": "MeanShift",
    "mixtures": "EMMixture",
    "near_rows": "NearestNeighbors Brute",
    "neighbor_densities": "NearestNeighborDensity AdaptiveKernelDensity",
    "neighbors": "NeighborCurve",
    "partitions": "PlaneIndex KDTree",
    "paths": "LassoPath LarsPath LassoCV LassoLars",
    "pipelines": "Pipeline",
    "regression": "RegressorMixin PredictiveMixin",
    "regression_mixtures": "BaseRegressionMixture",
    "searches": "BandwidthSearch SearchReport",
    "univariate": "Univariate",
    "vectors": "Empirical MultivariateLaplace Stacked",
}

#: The name of a class, and the module that draws it and its descendants.
MODULES = {kind: module for module, kinds in _KINDS.items() for kind in kinds.split()}
