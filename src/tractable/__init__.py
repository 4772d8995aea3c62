"""Probabilistic pattern recognition where every model is a distribution and learning is a fold.

Names are loaded where they are used: importing the package imports nothing heavy.
"""

from importlib import import_module

__version__ = "0.1.0.dev0"

#: Every public name and the module it lives in. It is also the allow-list of :func:`tractable.load`.
PUBLIC: dict[str, str] = {
    # estimators
    "ARDRegression": "tractable.linear_model",
    "AdaptiveKernelDensity": "tractable.density",
    "BayesianGaussianMixture": "tractable.mixture",
    "BernoulliMixture": "tractable.mixture",
    "BernoulliNB": "tractable.classification",
    "CategoricalMixture": "tractable.mixture",
    "CategoricalNB": "tractable.classification",
    "ElasticNet": "tractable.linear_model",
    "BayesianLinearRegression": "tractable.linear_model",
    "BayesianLogisticRegression": "tractable.classification",
    "BayesianRidge": "tractable.linear_model",
    "FisherDiscriminant": "tractable.classification",
    "FourierBasis": "tractable.linear_model",
    "FunctionBasis": "tractable.linear_model",
    "GaussianBasis": "tractable.linear_model",
    "GaussianDensity": "tractable.density",
    "GaussianMixture": "tractable.mixture",
    "GaussianNB": "tractable.classification",
    "GenerativeClassifier": "tractable.classification",
    "Histogram": "tractable.density",
    "KMeans": "tractable.mixture",
    "KernelDensity": "tractable.density",
    "KernelNB": "tractable.classification",
    "KNeighborsClassifier": "tractable.neighbors",
    "KNeighborsRegressor": "tractable.neighbors",
    "Lasso": "tractable.linear_model",
    "LassoCV": "tractable.linear_model",
    "LassoLars": "tractable.linear_model",
    "LeastMeanSquares": "tractable.linear_model",
    "LeastSquaresClassifier": "tractable.classification",
    "LinearDiscriminant": "tractable.classification",
    "LinearRegression": "tractable.linear_model",
    "LogisticRegression": "tractable.classification",
    "MeanShift": "tractable.density",
    "MixtureOfExperts": "tractable.mixture",
    "MixtureOfRegressors": "tractable.mixture",
    "MultinomialNB": "tractable.classification",
    "NaiveBayes": "tractable.classification",
    "NearestNeighborDensity": "tractable.density",
    "NearestNeighbors": "tractable.neighbors",
    "Perceptron": "tractable.classification",
    "PolynomialBasis": "tractable.linear_model",
    "QuadraticDiscriminant": "tractable.classification",
    "Ridge": "tractable.linear_model",
    "RidgeCV": "tractable.linear_model",
    "RobustRegression": "tractable.linear_model",
    "SigmoidBasis": "tractable.linear_model",
    "SplineBasis": "tractable.linear_model",
    "StudentTMixture": "tractable.mixture",
    "TableMixture": "tractable.mixture",
    # distributions
    "Bernoulli": "tractable.distributions",
    "BernoulliModel": "tractable.conjugate",
    "Beta": "tractable.distributions",
    "BetaBinomial": "tractable.distributions",
    "Binomial": "tractable.distributions",
    "BinomialModel": "tractable.conjugate",
    "Categorical": "tractable.distributions",
    "CategoricalModel": "tractable.conjugate",
    "Dirichlet": "tractable.distributions",
    "DirichletMultinomial": "tractable.distributions",
    "Empirical": "tractable.distributions",
    "Gamma": "tractable.distributions",
    "HistogramDensity": "tractable.distributions",
    "InverseGamma": "tractable.distributions",
    "InverseWishart": "tractable.distributions",
    "LabelCoding": "tractable.distributions",
    "Laplace": "tractable.distributions",
    "Mixture": "tractable.distributions",
    "Multinomial": "tractable.distributions",
    "MultinomialModel": "tractable.conjugate",
    "MultivariateLaplace": "tractable.distributions",
    "MultivariateNormal": "tractable.distributions",
    "MultivariateNormalModel": "tractable.conjugate",
    "MultivariateStudentT": "tractable.distributions",
    "NegativeBinomial": "tractable.distributions",
    "Normal": "tractable.distributions",
    "NormalMeanModel": "tractable.conjugate",
    "NormalModel": "tractable.conjugate",
    "NormalPrecisionModel": "tractable.conjugate",
    "NormalGamma": "tractable.distributions",
    "NormalWishart": "tractable.distributions",
    "Poisson": "tractable.distributions",
    "PoissonModel": "tractable.conjugate",
    "Product": "tractable.distributions",
    "SmoothedEmpirical": "tractable.distributions",
    "Stacked": "tractable.distributions",
    "StudentT": "tractable.distributions",
    "Uniform": "tractable.distributions",
    "Wishart": "tractable.distributions",
    # conjugate models
    "compare_likelihood": "tractable.distributions",
    "conjugate_prior": "tractable.conjugate",
    "empirical_bayes": "tractable.conjugate",
    "expectation": "tractable.distributions",
    "from_one_hot": "tractable.distributions",
    "grid_posterior": "tractable.distributions",
    "one_hot": "tractable.distributions",
    # functions of linear models
    "bridge_regression": "tractable.linear_model",
    "diagnose": "tractable.linear_model",
    "hierarchical_predictive": "tractable.linear_model",
    "lars_path": "tractable.linear_model",
    "lasso_path": "tractable.linear_model",
    "log_evidence": "tractable.linear_model",
    "lp_norm": "tractable.linear_model",
    "n_monomials": "tractable.linear_model",
    "negative_log_posterior": "tractable.linear_model",
    "ridge_objective": "tractable.linear_model",
    "tikhonov": "tractable.linear_model",
    # classes that are known, and the geometry of linear classifiers
    "BayesClassifier": "tractable.classification",
    "LinearDiscriminantFunction": "tractable.classification",
    "bayes_error": "tractable.classification",
    "discriminant_functions": "tractable.classification",
    # distances
    "minkowski": "tractable.spatial",
    # partitions
    "bell": "tractable.mixture",
    "best_partition": "tractable.mixture",
    "stirling2": "tractable.mixture",
    # scores
    "BinSearch": "tractable.density",
    "ConfusionMatrix": "tractable.metrics",
    "accuracy_score": "tractable.metrics",
    "bias_variance": "tractable.selection",
    "brier_score": "tractable.metrics",
    "calibration_curve": "tractable.metrics",
    "calinski_harabasz_score": "tractable.metrics",
    "class_calibration": "tractable.metrics",
    "cluster_report": "tractable.metrics",
    "confusion_matrix": "tractable.metrics",
    "crps": "tractable.metrics",
    "davies_bouldin_score": "tractable.metrics",
    "interval_coverage": "tractable.metrics",
    "log_loss": "tractable.metrics",
    "log_predictive_density": "tractable.metrics",
    "mean_absolute_error": "tractable.metrics",
    "mean_squared_error": "tractable.metrics",
    "normalized_rmse": "tractable.metrics",
    "expected_loss": "tractable.metrics",
    "least_loss": "tractable.metrics",
    "pit_values": "tractable.metrics",
    "r2_score": "tractable.metrics",
    "root_mean_squared_error": "tractable.metrics",
    "select_components": "tractable.selection",
    "select_n_clusters": "tractable.selection",
    "silhouette_samples": "tractable.metrics",
    "silhouette_score": "tractable.metrics",
    "train_val_test_split": "tractable.selection",
    # statistics
    "ByClass": "tractable.statistics",
    "Moments": "tractable.statistics",
    # engines
    "EvidenceDecomposition": "tractable.engines",
    "decompose_evidence": "tractable.engines",
    "elbo": "tractable.engines",
    "fold": "tractable.engines",
    # data
    "TableColumns": "tractable.data",
    "scan": "tractable.data",
    "predict_to": "tractable.data",
    # verbs
    "tags": "tractable.base",
    "checkpoint": "tractable.persistence",
    "load": "tractable.persistence",
    "plot": "tractable.plotting",
    "save": "tractable.persistence",
}

#: Packages whose names keep their prefix, `tractable.covariance.Full`.
PACKAGES = (
    "arrays",
    "classification",
    "conjugate",
    "covariance",
    "data",
    "datasets",
    "density",
    "distributions",
    "engines",
    "linear_model",
    "metrics",
    "mixture",
    "neighbors",
    "report",
    "spatial",
    "smoothing",
    "statistics",
    "testing",
)

__all__ = ["PACKAGES", "PUBLIC", "__version__", *PUBLIC]  # noqa: PLE0604  (the table is the list)


def __getattr__(name: str) -> object:
    if name in PUBLIC:
        found = getattr(import_module(PUBLIC[name]), name)
        globals()[name] = found
        return found
    if name in PACKAGES:
        return import_module(f"tractable.{name}")
    raise AttributeError(f"module 'tractable' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *PACKAGES})
