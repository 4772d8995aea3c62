"""More of what `tractable.plot` draws: batches, beliefs about matrices, bases, searches."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rows import networks
from rows.row import Row
from tractable.classification import LogisticRegression
from tractable.conjugate import MultivariateNormalModel, NormalPrecisionModel
from tractable.decomposition import PCA, FactorAnalysis, KernelPCA, ProbabilisticPCA
from tractable.density import GaussianDensity, LatentTreeDensity
from tractable.distributions import (
    Dirichlet,
    Empirical,
    HistogramDensity,
    InverseWishart,
    Laplace,
    Multinomial,
    MultivariateLaplace,
    MultivariateNormal,
    Normal,
    NormalGamma,
    NormalWishart,
    Stacked,
    Wishart,
)
from tractable.engines import decompose_evidence
from tractable.gaussian_process import GaussianProcessRegressor, search_kernel
from tractable.graph import BayesianNetworkDensity, DirectedGraph, explain_separation
from tractable.kernels import RBF, Linear, White
from tractable.linear_model import GaussianBasis, Lasso, LinearRegression, PolynomialBasis
from tractable.manifold import ClassicalMDS
from tractable.metrics import neighborhood_report
from tractable.mixture import GaussianMixture, KMeans, TableMixture
from tractable.neighbors import NearestNeighbors
from tractable.sampling import Chains, PosteriorSample, importance
from tractable.selection import select_n_components
from tractable.smoothing import select_bandwidth
from tractable.spatial import Brute, KDTree
from tractable.testing.picture_laws import Picture

RNG = np.random.default_rng(1)
NUMBERS, ROWS = RNG.normal(size=60), RNG.normal(size=(60, 3))
SCALE = [[1.0, 0.3], [0.3, 0.5]]


PETS = pd.DataFrame(
    {"pet": np.array(["cat", "dog", "eel"])[np.arange(60) % 3], "age": NUMBERS + np.arange(60) % 3}
)


CHAINS = Chains(draws={"x": RNG.normal(size=(3, 50, 2))})


def posterior_sample():
    return PosteriorSample(chains=CHAINS, approximation={"x": (np.zeros(2), np.ones(2))}, kind="guess")


def importance_sample():
    return importance(Normal(mean=0.0, stddev=1.0), Normal(mean=0.0, stddev=2.0), 200, rng=0)


def mixture():
    return GaussianMixture(2, random_state=0).fit(ROWS)


def table_mixture():
    return TableMixture(2, random_state=0).fit(PETS)


def latent_tree():
    return LatentTreeDensity(2, random_state=0).fit(PETS)


def process(columns):
    """A sum of kernels at fixed hyper-parameters."""
    kernel = RBF(1.0) + 0.1 * Linear() + White(0.3)
    return GaussianProcessRegressor(kernel, optimizer=None).fit(ROWS[:, :columns], NUMBERS)


def scaled(last, columns, *, classes=False):
    """A pipeline over the first columns."""
    return make_pipeline(StandardScaler(), last).fit(ROWS[:, :columns], NUMBERS > 0 if classes else NUMBERS)


def row(name, shows, **options):
    return Row(name, cache(lambda: Picture(shows=shows(), options=options)))


GARDEN = "rain -> wet <- sprinkler; wet -> slippery"

PICTURES = [
    row("DirectedGraph", lambda: DirectedGraph.of(GARDEN)),
    row("Separation", lambda: explain_separation(GARDEN, "rain", "sprinkler", "slippery")),
    row("Separation-blocked", lambda: explain_separation(GARDEN, "rain", "slippery", "wet")),
    row("BayesianNetwork", networks.ROWS[0].make),
    row(
        "BayesianNetworkDensity",
        lambda: BayesianNetworkDensity().fit(PETS[["pet"]].assign(old=np.where(NUMBERS > 0, "yes", "no"))),
    ),
    row("GaussianMixture-responsibilities", mixture, data=ROWS, show="responsibilities"),
    row("GaussianMixture-shares", mixture, data=ROWS, dims=[1], show="responsibilities"),
    row("LatentTree", lambda: latent_tree().distribution_),
    row("LatentTreeDensity", latent_tree),
    row("TableMixture", table_mixture, dims=["pet"], data=PETS),
    row("TableMixture-numbers", table_mixture, dims=["age"], data=PETS),
    row(
        "TableMixture-responsibilities",
        table_mixture,
        dims=["pet", "age"],
        data=PETS,
        show="responsibilities",
    ),
    row("Pipeline", lambda: scaled(LinearRegression(), 1), X=ROWS[:, :1], y=NUMBERS),
    row("Pipeline-columns", lambda: scaled(LinearRegression(), 3), X=ROWS, y=NUMBERS),
    row("Pipeline-coefficients", lambda: scaled(LinearRegression(), 3)),
    row(
        "Pipeline-classes",
        lambda: scaled(LogisticRegression(), 2, classes=True),
        data=ROWS[:, :2],
        n_cells=20,
    ),
    row(
        "Pipeline-density",
        lambda: scaled(GaussianMixture(2, random_state=0), 2),
        data=ROWS[:, :2],
        n_cells=20,
    ),
    row("Pipeline-density-columns", lambda: scaled(GaussianDensity(), 3), data=ROWS),
    row(
        "MultivariateNormal-batch",
        lambda: MultivariateNormal(mean=[[0.0, 0.0], [3.0, 1.0]], covariance=np.eye(2)),
        labels=["before", "after"],
        data=ROWS[:, :2],
    ),
    row("Histogram-batch", lambda: HistogramDensity(edges=[0.0, 1.0, 2.0], counts=[[1.0, 2.0], [4.0, 1.0]])),
    row("Stacked", lambda: Stacked(members=[Normal(mean=0.0, variance=1.0), Laplace(location=5.0, scale=1)])),
    row("Wishart", lambda: Wishart(dof=7.0, scale=SCALE)),
    row("Wishart-1d", lambda: Wishart(dof=7.0, scale=[[0.5]]), label="precision"),
    row("InverseWishart", lambda: InverseWishart(dof=7.0, scale=SCALE)),
    row("NormalWishart", lambda: NormalWishart(mean=[1.0, -1.0], strength=2.0, dof=8.0, scale=SCALE)),
    row("NormalGamma", lambda: NormalGamma(mean=1.0, strength=2.0, shape=4.0, rate=3.0)),
    row(
        "MultivariateNormalModel",
        lambda: MultivariateNormalModel(
            prior=NormalWishart(mean=[1.0, -1.0], strength=2.0, dof=8.0, scale=SCALE)
        ),
    ),
    row(
        "NormalPrecisionModel-matrix",
        lambda: NormalPrecisionModel(prior=Wishart(dof=7.0, scale=SCALE), known_mean=[1.0, -2.0]),
    ),
    row("MultivariateLaplace", lambda: MultivariateLaplace(location=[0.0, 1.0], scale=1.0, norm="l1")),
    row("MultivariateLaplace-three", lambda: MultivariateLaplace(location=np.zeros(3), scale=1.0), data=ROWS),
    row("Empirical-pairs", lambda: Empirical(values=ROWS[:9, :2], weights=np.arange(1.0, 10.0))),
    row("Empirical-column", lambda: Empirical(values=ROWS[:9, :2]), dims=[1]),
    row(
        "Multinomial", lambda: Multinomial(n_trials=12, probabilities=[0.2, 0.5, 0.3]), names=["a", "b", "c"]
    ),
    row("Dirichlet-four", lambda: Dirichlet(concentration=[1.0, 2.0, 3.0, 4.0])),
    row("PolynomialBasis", lambda: PolynomialBasis(3).fit(ROWS[:, :1])),
    row("GaussianBasis", lambda: GaussianBasis(4).fit(ROWS), data=ROWS, dims=[1]),
    row("GaussianProcessRegressor", lambda: process(1)),
    row("GaussianProcessRegressor-data", lambda: process(1), data=ROWS[:5, :1], y=NUMBERS[:5], coverage=0.5),
    row("GaussianProcessRegressor-grid", lambda: process(1), grid=np.linspace(-5.0, 5.0, 30)),
    row("GaussianProcessRegressor-slice", lambda: process(3), column="x1"),
    row("GaussianProcessRegressor-relevant", lambda: process(3)),
    row("GaussianProcessRegressor-predicted", lambda: process(3), data=ROWS, y=NUMBERS),
    row("FunctionParts", lambda: process(1).decompose(ROWS[:, :1])),
    row("FunctionParts-slice", lambda: process(3).decompose(ROWS), column=2, coverage=0.5),
    row("Relevance", lambda: process(3).relevance()),
    row(
        "KernelSearch",
        lambda: search_kernel(ROWS[:30, :2], NUMBERS[:30], kernels=["rbf", "linear"], max_depth=2),
    ),
    row("PCA", lambda: PCA().fit(ROWS)),
    row("PCA-biplot", lambda: PCA(2).fit(ROWS), data=ROWS, dims=(1, 0), labels=NUMBERS > 0),
    row("PCA-reconstruction", lambda: PCA(2).fit(ROWS), data=ROWS, show="reconstruction"),
    row("ProbabilisticPCA", lambda: ProbabilisticPCA(1).fit(ROWS), data=ROWS),
    row("FactorAnalysis", lambda: FactorAnalysis(1).fit(ROWS)),
    row("KernelPCA", lambda: KernelPCA(2).fit(ROWS), data=ROWS),
    row("KernelPCA-scree", lambda: KernelPCA(3).fit(ROWS)),
    row("DimensionChoice", lambda: select_n_components(ROWS, random_state=0)),
    row("ClassicalMDS", lambda: ClassicalMDS().fit(ROWS), data=ROWS[:3] + 0.1, n_neighbors=4),
    row("ClassicalMDS-three", lambda: ClassicalMDS(3).fit(ROWS), dims=[2, 0]),
    row("ClassicalMDS-line", lambda: ClassicalMDS(1).fit(ROWS[:8]), labels=list("abcdefgh")),
    row("NeighborhoodReport", lambda: neighborhood_report(ROWS, ROWS[:, :2])),
    row("NearestNeighbors", lambda: NearestNeighbors(n_neighbors=2).fit(ROWS[:, :2])),
    row("NearestNeighbors-asked", lambda: NearestNeighbors(n_neighbors=3).fit(ROWS), data=ROWS[:2] + 0.1),
    row("Brute", lambda: Brute(ROWS[:, :2]), row=[0.5, 0.0], k=3),
    row("SearchReport", lambda: KDTree(ROWS).query(ROWS, 2, report=True)[2]),
    row("BandwidthSearch", lambda: select_bandwidth(NUMBERS, "loo")),
    row("EvidenceDecomposition", lambda: decompose_evidence(np.full((9, 2), 0.5), ROWS[:9, :2])),
    row("GaussianMixture-objective", lambda: GaussianMixture(2, random_state=0).fit(ROWS), show="objective"),
    row("KMeans-column", lambda: KMeans(3, random_state=0).fit(ROWS[:, :1]), data=ROWS[:, :1]),
    row("regression-columns", lambda: LinearRegression().fit(ROWS, NUMBERS), data=ROWS, y=NUMBERS),
    row("regression-coefficients", lambda: LinearRegression().fit(ROWS, NUMBERS), coverage=0.5),
    row("Chains", lambda: CHAINS),
    row("Chains-ranks", lambda: CHAINS, show="ranks", entry=1),
    row("Chains-autocorrelation", lambda: CHAINS, show="autocorrelation", variable="x"),
    row("PosteriorSample", posterior_sample, coverage=0.5),
    row("ImportanceSample", importance_sample),
    row("Lasso", lambda: Lasso(0.01).fit(ROWS[:, :1], NUMBERS), data=ROWS[:, :1], y=NUMBERS),
]
