"""Everything `tractable.plot` draws, with the options it takes."""

from functools import cache

import numpy as np
import pandas as pd

from rows.compound import PAIR
from rows.row import Row
from tractable.classification import (
    BayesClassifier,
    BayesianLogisticRegression,
    LinearDiscriminant,
    LinearDiscriminantFunction,
    Perceptron,
    QuadraticDiscriminant,
)
from tractable.conjugate import BernoulliModel, CategoricalModel, NormalModel
from tractable.density import (
    AdaptiveKernelDensity,
    GaussianDensity,
    Histogram,
    KernelDensity,
    MeanShift,
    NearestNeighborDensity,
)
from tractable.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Empirical,
    Gamma,
    HistogramDensity,
    Laplace,
    Mixture,
    MultivariateNormal,
    MultivariateStudentT,
    Normal,
    NormalGamma,
    Poisson,
    ProbabilityTable,
    Product,
    SmoothedEmpirical,
    StudentT,
    Uniform,
    bootstrap,
    compare_likelihood,
    estimator_report,
    grid_posterior,
)
from tractable.linear_model import (
    BayesianRidge,
    LassoCV,
    LassoLars,
    LinearRegression,
    RidgeCV,
    diagnose,
    fit_formula,
    lars_path,
    lasso_path,
)
from tractable.metrics import (
    calibration_curve,
    class_calibration,
    cluster_report,
    confusion_matrix,
    precision_recall_curve,
    roc_curve,
)
from tractable.mixture import GaussianMixture, KMeans, MixtureOfExperts, MixtureOfRegressors
from tractable.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tractable.selection import (
    bias_variance,
    choose_parameters,
    compare,
    learning_curve,
    select_components,
    select_n_clusters,
    validation_curve,
)
from tractable.spatial import KDTree, RandomizedForest, SpillTree, TSVQTree
from tractable.testing.picture_laws import Picture

RNG = np.random.default_rng(0)
NUMBERS, ROWS, COUNTS = RNG.normal(size=80), RNG.normal(size=(80, 3)), RNG.poisson(4.0, 80)
SPOILT = np.where(np.arange(80) == 7, 30.0, NUMBERS)
TABLE = Product(
    parts={"n": Poisson(rate=3.0), "x": Normal(mean=0.0, variance=1.0), "y": Gamma(shape=3.0, rate=1.0)}
)
TRIPLE = MultivariateNormal(mean=[0.0, 1.0, 2.0], covariance=np.eye(3) + 0.5, names=("a", "b", "c"))
CELLS = ProbabilityTable(
    probabilities=np.arange(24.0).reshape(2, 3, 4) / 276.0,
    axes={"day": ["yesterday", "today"], "sky": ["clear", "cloudy", "rain"], "wind": 4},
)
CODES = np.argmax(ROWS, axis=1)
WORDS = np.array(["ash", "birch", "cedar"])[CODES]
NORMAL = Normal(mean=0.0, variance=1.0)
COIN = BernoulliModel(prior=Beta(alpha=2.0, beta=5.0))


def row(name, shows, **options):
    """A row whose model is fitted once, for all laws: drawing changes nothing of what is drawn."""
    return Row(name, cache(lambda: Picture(shows=shows(), options=options)))


def posterior():
    """A mean and a precision, on a grid."""
    return grid_posterior(
        lambda m, p: Normal(mean=m[..., None], variance=1.0 / p[..., None]).log_prob(NUMBERS[:9]).sum(-1),
        lambda m, p: -0.5 * m**2 - p,
        (np.linspace(-3.0, 3.0, 61), np.linspace(0.05, 6.0, 71)),
    )


def number_of_clusters(*criteria):
    return select_n_clusters(
        ROWS[:40], range(2, 6), criterion=criteria, n_init=1, n_references=3, random_state=0
    )


def mixture(**options):
    return GaussianMixture(2, random_state=0, **options).fit(ROWS)


PICTURES = [
    row("GaussianMixture", mixture, data=ROWS),
    row("GaussianMixture-column", mixture, dims=[2]),
    row("ComponentChoice", lambda: select_components(ROWS, [1, 2], ["diag", "tied"]), criterion="icl"),
    row("Normal", lambda: Normal(mean=0.0, variance=1.0)),
    row("Normal-data", lambda: Normal(mean=0.0, variance=1.0), data=NUMBERS, label="height", coverage=0.5),
    row("Normal-batch", lambda: Normal(mean=[0.0, 5.0], variance=[1.0, 0.1]), labels=["before", "after"]),
    row("Normal-tiny", lambda: Normal(mean=0.0, stddev=1e-100)),
    row("Gamma-pole", lambda: Gamma(shape=0.3, rate=1.0)),
    row("Beta-poles", lambda: Beta(alpha=0.5, beta=0.5)),
    row("StudentT-Cauchy", lambda: StudentT(dof=1.0, location=0.0, scale=1.0)),
    row("Laplace", lambda: Laplace(location=0.0, scale=1.0)),
    row("Uniform", lambda: Uniform(low=-1.0, high=2.0)),
    row("Bernoulli", lambda: Bernoulli(probability=0.3)),
    row("Categorical", lambda: Categorical(probabilities=[0.2, 0.5, 0.3])),
    row("Poisson", lambda: Poisson(rate=4.0), data=COUNTS, label="visits"),
    row("Poisson-batch", lambda: Poisson(rate=[1.0, 6.0])),
    row("Poisson-large", lambda: Poisson(rate=1e5)),
    row("Empirical", lambda: Empirical(values=[3.0, 1.0, 2.5, 2.5])),
    row("Mixture", lambda: Mixture(components=Normal(mean=[-2.0, 3.0], variance=[1.0, 0.2])), data=NUMBERS),
    row(
        "Mixture-batch",
        lambda: Mixture(weights=[[0.2, 0.8], [0.9, 0.1]], components=Normal(mean=[0.0, 4.0], variance=1.0)),
    ),
    row("Mixture-counts", lambda: Mixture(components=Poisson(rate=[2.0, 12.0]))),
    row("Mixture-pair", lambda: Mixture(weights=[0.5, 0.3, 0.2], components=PAIR), data=ROWS[:, :2]),
    row("Mixture-column", lambda: Mixture(weights=[0.5, 0.3, 0.2], components=PAIR), dims="b"),
    row("Mixture-table", lambda: Mixture(components=TABLE.expand((2,))), dims=["x", "y"]),
    row("Mixture-table-column", lambda: Mixture(components=TABLE.expand((2,))), dims=["n"]),
    row("MultivariateNormal", lambda: TRIPLE, data=ROWS, coverages=(0.3, 0.8)),
    row("MultivariateNormal-column", lambda: TRIPLE, dims="c", data=ROWS),
    row("MultivariateStudentT", lambda: MultivariateStudentT(dof=3.0, location=[0.0, 1.0], scale=np.eye(2))),
    row("MultivariateStudentT-1d", lambda: MultivariateStudentT(dof=3.0, location=[0.0], scale=[[4.0]])),
    row("Product", lambda: TABLE),
    row(
        "ProbabilityTable-one",
        lambda: ProbabilityTable(probabilities=[0.2, 0.8], axes={"rain": ["no", "yes"]}),
    ),
    row("ProbabilityTable", lambda: CELLS),
    row("ProbabilityTable-pair", lambda: CELLS, dims=["sky", "day"], numbers=False),
    row("ProbabilityTable-given", lambda: CELLS.conditional("sky")),
    row("Product-pair", lambda: TABLE, dims=["y", "x"]),
    row("Dirichlet", lambda: Dirichlet(concentration=[2.0, 3.0, 5.0]), data=RNG.dirichlet([2, 3, 5], 40)),
    row("Dirichlet-edges", lambda: Dirichlet(concentration=[0.5, 0.5, 0.5]), names=["r", "g", "b"]),
    row("Dirichlet-two", lambda: Dirichlet(concentration=[2.0, 3.0]), coverage=0.8),
    row("GridPosterior", posterior, names=["mean", "precision"]),
    row("GridPosterior-one", lambda: posterior().marginal(0), coverage=0.5),
    row(
        "LikelihoodComparison",
        lambda: compare_likelihood(
            {
                "box": Uniform(low=-0.1, high=0.1),
                "wide": Normal(mean=0.0, variance=9.0),
                "Laplace": Laplace(location=0.0, scale=1.0),
            },
            NUMBERS,
        ),
    ),
    row(
        "EstimatorReport",
        lambda: estimator_report({"mean": np.mean, "median": np.median}, NORMAL, 9, n_repeats=50, rng=0),
    ),
    row(
        "EstimatorReport-sizes",
        lambda: estimator_report(np.var, NORMAL, [5, 20], "variance", n_repeats=50, rng=0),
        show="variance",
    ),
    row(
        "Bootstrap",
        lambda: bootstrap(np.median, NUMBERS, n_resamples=200, rng=0),
        coverage=0.5,
        label="median",
    ),
    row(
        "ModelComparison",
        lambda: compare(
            {"one": GaussianDensity(), "bins": Histogram(3), "kernel": KernelDensity()}, ROWS, cv=3
        ),
    ),
    row(
        "ScoreCurve",
        lambda: validation_curve(
            GaussianMixture(random_state=0), ROWS, param_name="n_components", param_range=[1, 2], cv=3
        ),
    ),
    row("ScoreCurve-rows", lambda: learning_curve(GaussianDensity(), ROWS, train_sizes=[0.3, 1.0], cv=3)),
    row(
        "ParameterChoice",
        lambda: choose_parameters(GaussianDensity(), {"covariance_type": ["full", "diag"]}, ROWS, cv=3),
    ),
    row(
        "ParameterChoice-evidence",
        lambda: choose_parameters(
            BayesianRidge(), {"fit_intercept": [True, False]}, ROWS, NUMBERS, by="evidence"
        ),
    ),
    row("ThresholdCurve", lambda: roc_curve(NUMBERS > 0, NUMBERS + ROWS[:, 0], n_resamples=50), label="sum"),
    row("ThresholdCurve-pr", lambda: precision_recall_curve(NUMBERS > 0, ROWS[:, 0], n_resamples=50)),
    row("Histogram", lambda: Histogram("fd").fit(ROWS[:, :1]), data=ROWS[:, :1], coverage=0.5),
    row("Histogram-pair", lambda: Histogram(5).fit(ROWS), data=ROWS),
    row("Histogram-column", lambda: Histogram(5).fit(ROWS), dims=[2]),
    row("HistogramDensity", lambda: HistogramDensity(edges=[0.0, 1.0, 3.0], counts=[4, 3]), label="wait"),
    row("BinSearch", lambda: Histogram("loo").fit(ROWS[:, :2]).search_),
    row("GaussianDensity", lambda: GaussianDensity().fit(ROWS), data=ROWS),
    row("KernelDensity", lambda: KernelDensity().fit(ROWS), data=ROWS),
    row("KernelDensity-column", lambda: KernelDensity().fit(ROWS), dims=[1], data=ROWS),
    row("NearestNeighborDensity", lambda: NearestNeighborDensity(7).fit(ROWS[:, :1])),
    row("NearestNeighborDensity-pair", lambda: NearestNeighborDensity(7).fit(ROWS[:, :2]), n_cells=40),
    row("AdaptiveKernelDensity", lambda: AdaptiveKernelDensity(9).fit(ROWS[:, :1])),
    row("AdaptiveKernelDensity-pair", lambda: AdaptiveKernelDensity(9).fit(ROWS[:, :2]), n_cells=40),
    row("AdaptiveKernelDensity-columns", lambda: AdaptiveKernelDensity(9).fit(ROWS), dims=[2], n_cells=40),
    row(
        "AdaptiveKernelDensity-balloon",
        lambda: AdaptiveKernelDensity(9, variant="balloon").fit(ROWS[:, :2]),
        n_cells=40,
        coverages=(0.3, 0.8),
    ),
    row("SmoothedEmpirical", lambda: SmoothedEmpirical(points=NUMBERS, bandwidth=0.4), label="wait"),
    row("KMeans", lambda: KMeans(3, random_state=0).fit(ROWS[:, :2]), data=ROWS[:, :2]),
    row("KMeans-columns", lambda: KMeans(9, random_state=0).fit(ROWS), data=ROWS, dims=[2, 0]),
    row("MeanShift", lambda: MeanShift(bandwidth=1.0, cluster_all=False).fit(ROWS[:, :2]), n_cells=30),
    row("MeanShift-columns", lambda: MeanShift(kernel="gaussian").fit(ROWS), dims=[2, 0]),
    row("BernoulliModel", lambda: COIN),
    row(
        "NormalModel",
        lambda: NormalModel(prior=NormalGamma(mean=0.0, strength=1.0, shape=2.0, rate=3.0)),
    ),
    row("Updates", lambda: COIN.trace(COIN.summarize(tosses) for tosses in ([1, 1, 0], [0] * 9))),
    row("regression", lambda: LinearRegression().fit(ROWS[:, :1], NUMBERS), X=ROWS[:, :1], y=NUMBERS),
    row(
        "MixtureOfRegressors",
        lambda: MixtureOfRegressors(random_state=0).fit(ROWS[:, :1], NUMBERS),
        X=ROWS[:, :1],
        y=NUMBERS,
    ),
    row(
        "MixtureOfExperts",
        lambda: MixtureOfExperts(3, random_state=0).fit(ROWS[:, :1], NUMBERS),
        grid=ROWS[:, 0],
    ),
    row("RegressionSummary", lambda: LinearRegression().fit(ROWS, SPOILT).summary()),
    row(
        "FormulaFit",
        lambda: fit_formula("y ~ a + b", pd.DataFrame(ROWS, columns=list("abc")).assign(y=SPOILT)),
    ),
    row("Influence", lambda: LinearRegression().fit(ROWS, SPOILT).influence(ROWS, SPOILT)),
    row("Diagnosis", lambda: diagnose(LinearRegression().fit(ROWS, SPOILT), ROWS, SPOILT)),
    row("LassoPath", lambda: lasso_path(ROWS, NUMBERS, n_alphas=9)),
    row("LassoPath-norm", lambda: lasso_path(ROWS, NUMBERS, n_alphas=9), against="norm", named=1),
    row("LarsPath", lambda: lars_path(ROWS, NUMBERS)),
    row("LarsPath-alpha", lambda: lars_path(ROWS, NUMBERS), against="alpha"),
    row("LassoLars", lambda: LassoLars(0.01).fit(ROWS, NUMBERS)),
    row("LassoCV", lambda: LassoCV(alphas=9).fit(ROWS, NUMBERS)),
    row("CategoricalModel", lambda: CategoricalModel(prior=Dirichlet(concentration=[1.0, 2.0, 3.0]))),
    row("CVCurve", lambda: RidgeCV(alphas=np.logspace(-2, 2, 9)).fit(ROWS, NUMBERS).cv_curve_),
    row("CalibrationCurve", lambda: calibration_curve(Normal(mean=0.0, variance=1.0), NUMBERS, rng=0)),
    row("ClusterReport", lambda: cluster_report(ROWS, np.arange(80) % 4)),
    row("ClusterReport-one", lambda: cluster_report(ROWS, ["all"] * 80)),
    row(
        "BayesianLogisticRegression",
        lambda: BayesianLogisticRegression().fit(ROWS[:, :2], WORDS),
        data=ROWS[:, :2],
        y=WORDS,
        n_cells=20,
    ),
    row(
        "BayesianLogisticRegression-line",
        lambda: BayesianLogisticRegression().fit(ROWS[:, :1], WORDS == "ash"),
        data=ROWS[:, :1],
        y=WORDS == "ash",
    ),
    row("LinearDiscriminant", lambda: LinearDiscriminant().fit(ROWS[:, :2], WORDS), n_cells=40),
    row(
        "QuadraticDiscriminant",
        lambda: QuadraticDiscriminant().fit(ROWS[:, :2], WORDS),
        data=ROWS[:, :2],
        levels=(0.5,),
        n_cells=40,
    ),
    row(
        "Perceptron",
        lambda: Perceptron(max_iter=1000).fit(ROWS[:, :2], ROWS[:, 0] > 0.1),
        limits=[(-2.0, 2.0), (-2.0, 2.0)],
        n_cells=40,
    ),
    row(
        "LinearDiscriminantFunction",
        lambda: LinearDiscriminantFunction(coef=np.eye(3)[:, :2], intercept=[0.0, 0.1, 0.2]),
        data=ROWS[:, :2],
        y=CODES,
        n_cells=40,
    ),
    row(
        "BayesClassifier",
        lambda: BayesClassifier(class_distributions=Normal(mean=[0.0, 2.0, 4.0], variance=[1.0, 0.1, 1.0])),
    ),
    row(
        "BayesClassifier-plane",
        lambda: BayesClassifier(class_distributions=PAIR, priors=[0.5, 0.3, 0.2]),
        n_cells=40,
    ),
    row("ConfusionMatrix", lambda: confusion_matrix(WORDS, np.roll(WORDS, 1))),
    row("ConfusionMatrix-counts", lambda: confusion_matrix(CODES, np.roll(CODES, 1)), normalize=False),
    row(
        "ClassCalibration",
        lambda: class_calibration(NUMBERS > 0, 1 / (1 + np.exp(-NUMBERS)), n_bins=5),
        label="model",
    ),
    row("KNeighborsClassifier", lambda: KNeighborsClassifier(3).fit(ROWS[:, :2], NUMBERS > 0.0), n_cells=40),
    row(
        "KNeighborsRegressor",
        lambda: KNeighborsRegressor(9).fit(ROWS[:, :1], NUMBERS),
        X=ROWS[:, :1],
        y=NUMBERS,
    ),
    row("NeighborCurve", lambda: KNeighborsClassifier("loo").fit(ROWS, NUMBERS > 0.0).loo_curve_),
    row("KDTree", lambda: KDTree(ROWS[:, :2], leaf_size=8), row=[0.5, 0.0], k=3),
    row("SpillTree", lambda: SpillTree(ROWS[:, :2], tau=0.1, leaf_size=16, random_state=0), row=[0.5, 0.0]),
    row("TSVQTree", lambda: TSVQTree(ROWS[:, :2], leaf_size=8, random_state=0)),
    row("RandomizedForest", lambda: RandomizedForest(ROWS[:, :2], leaf_size=8, random_state=0), tree=2),
    row("NumberOfClusters", lambda: number_of_clusters("silhouette")),
    row("NumberOfClusters-gap", lambda: number_of_clusters("gap")),
    row("NumberOfClusters-elbow", lambda: number_of_clusters("silhouette", "elbow"), criterion="elbow"),
    row(
        "BiasVariance",
        lambda: bias_variance(
            LinearRegression(), lambda X: np.sin(X[:, 0]), 0.3, ROWS[:30, :1], n_repeats=20, rng=0
        ),
    ),
]
