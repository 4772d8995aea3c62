"""`plot`: pictures of distributions, fitted models and results, dispatched by type."""

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from sklearn.base import BaseEstimator

from tractable.base import Estimator, check_fitted
from tractable.data import is_frame
from tractable.plotting.rows import columns_by_name
from tractable.plotting.style import axes_for, show_literally

#: The module of `pictures` that draws each class and its descendants, imported when one is drawn.
_KINDS = {
    "assessment": "CalibrationCurve BiasVariance ConfusionMatrix ClassCalibration EvidenceDecomposition "
    "LikelihoodComparison EstimatorReport Bootstrap ModelComparison ScoreCurve ParameterChoice "
    "ThresholdCurve",
    "classifiers": "ClassifierMixin BayesClassifier LinearDiscriminantFunction",
    "clusters": "KMeans MeanShift ClusterReport NumberOfClusters ComponentChoice",
    "conjugate": "ConjugateModel Updates Wishart InverseWishart NormalWishart NormalGamma",
    "decomposition": "PCA LatentFactors KernelPCA DimensionChoice",
    "density": "GaussianDensity Histogram HistogramDensity BinSearch KernelDensity "
    "BandwidthSearch NearestNeighborDensity AdaptiveKernelDensity",
    "distributions": "Univariate GridPosterior MultivariateNormal MultivariateStudentT MultivariateLaplace "
    "Mixture Product Empirical SmoothedEmpirical Stacked Dirichlet CountVectors",
    "graphs": "DirectedGraph Separation BayesianNetwork BayesianNetworkDensity LatentTree LatentTreeDensity",
    "gaussian_process": "GaussianProcessRegressor FunctionParts Relevance KernelSearch",
    "linear_models": "LassoPath LarsPath SparseCV LassoLars CVCurve Basis Diagnosis RegressionSummary "
    "FormulaFit Influence",
    "manifold": "Embedding NeighborhoodReport",
    "mixtures": "EMMixture MixtureOfRegressors",
    "neighbors": "NearestNeighbors Brute NeighborCurve HyperplaneIndex KDTree SearchReport",
    "pipelines": "Pipeline",
    "regression": "RegressorMixin",
    "sampling": "Chains ImportanceSample PosteriorSample",
    "tables": "ProbabilityTable",
}

MODULES = {kind: module for module, kinds in _KINDS.items() for kind in kinds.split()}

#: What can be drawn, for the error message.
KINDS = (
    "a distribution or a batch of them, a fitted model or pipeline, a conjugate model and its updates, a "
    "path of coefficients, a curve of scores, a choice, a comparison, Markov chains, or an index "
    "of neighbours"
)


def plot(x: Any, *, ax: Any = None, **options: Any) -> Any:
    """Draw a fitted model, a distribution or a result.

    What is drawn:

    - distributions of numbers: the density with an interval, or probabilities as stems; of vectors: regions
      that hold half, 90 % and 99 %, mixtures with their components; also of categories, counts and matrices;
    - tables of probabilities: bars of one variable, a map of the cells of several;
    - directed graphs, Bayesian networks, latent trees, and what separates two nodes of one;
    - batches of up to eight distributions, each in its colour;
    - fitted densities: the same with the rows, and histograms with credible bands;
    - regressions: over one column the prediction with bands of the function and of new targets; over several
      predicted against observed targets; without rows, the coefficients with their intervals;
    - Gaussian processes: the function with both bands, over several columns a slice along `column`; the parts
      of a sum with bands; the relevance of columns; the path of a search for a kernel;
    - classifiers: the decision regions of two columns, or the class probabilities along one column; rows of
      more columns along their discriminants, those misclassified with circles;
    - pipelines that end in a regression, a classifier or a density: over their input columns;
    - mixtures and clusters: ellipses of components, centres with their cells, modes with their basins; of
      tables, categories by their names;
    - conjugate models: the distribution of the parameter, the predictive distribution, and updates in turn;
    - regression tables, and fits by formulas: the coefficients with their intervals, in comparable units (a
      forest plot); the influence of rows;
    - results: paths of coefficients, curves of cross-validation and of neighbours, numbers of components and
      of clusters, calibration, confusion, bias and variance, residuals, compared likelihoods, posteriors on
      grids, searches for bandwidths and bins, the decomposition of an evidence;
    - Markov chains: traces, ranks (``show="ranks"``) and autocorrelations of an entry of a variable;
      posteriors beside their approximations; importance weights;
    - neighbour indexes: the cells of a tree, and the points that a search visits;
    - principal components: the scree of a model; with `data` its rows along two components, and arrows of the
      columns (a biplot), or with ``show="reconstruction"`` rows beside their projections; numbers of
      components by several criteria;
    - maps of rows: the points, each in the colour of how far its neighbourhood can be trusted.

    Parameters
    ----------
    x : distribution, fitted estimator or result
        What to draw.
    ax : matplotlib Axes, optional
        Where to draw; new axes when not given.
    **options
        Options of the picture of this kind of object; the error for an unknown one lists them.
        Distributions: `data`, rows to draw behind it; `dims`, the one or two columns to draw; `coverage`,
        the probability of an interval (0.9), or `coverages`, those of regions; `label`, the name of a number;
        `labels`, those of the members of a batch. Regressions: `data` (or `X`) and `y`, the rows to draw and
        their targets, or the name of their column; `coverage`, of the band; `grid`, the points to draw it
        at. Classifiers: `data` and `y`, the rows to draw and their classes; `dims`, two columns to draw, the
        others held at their medians; `limits`, of each axis; `levels`, the probabilities to draw contours of;
        `n_cells`, along each side.
        Mixtures by EM: ``show="responsibilities"``, `data` in the colours of their components;
        ``show="objective"``, the objective at every iteration. Conjugate models: ``show="predictive"``.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import tractable
    >>> ax = tractable.plot(tractable.Normal(mean=0.0, stddev=1.0))
    >>> ax.get_ylabel()
    'density'
    """
    if isinstance(x, type):
        raise ValueError(f"x must be an object, fitted if it is an estimator, got the class {x.__name__}")
    load_pictures(type(x))
    drawn = picture.dispatch(type(x)) is not picture.dispatch(object)
    if isinstance(x, Estimator) or (drawn and isinstance(x, BaseEstimator)):
        check_fitted(x)
    if not drawn:
        picture(x, None)  # refuses
    _check_axes(ax)
    options = _checked_options(x, options)
    where = axes_for(ax)
    try:
        return show_literally(draw(x, where, **options))
    except BaseException as error:
        if ax is None:
            from matplotlib import pyplot as plt

            plt.close(where.figure)
        if isinstance(error, UnknownOptionError):
            raise TypeError(str(error)) from None
        raise


def draw(x: Any, ax: Any, **options: Any) -> Any:
    """Draw x on the axes and return them."""
    return draw_as(type(x), x, ax, **options)


def draw_as(kind: type, x: Any, ax: Any, **options: Any) -> Any:
    """Draw x by the picture of another class, usually a base class."""
    load_pictures(kind)
    return with_options(picture.dispatch(kind), x, ax, options)


@singledispatch
def picture(x: Any, ax: Any, **options: Any) -> Any:  # noqa: ARG001
    """Draw x on the axes and return them; each module of `pictures` registers its classes."""
    raise ValueError(f"x must be something with a picture: {KINDS}; got {type(x).__name__}")


def load_pictures(kind: type) -> None:
    """Import the modules that draw a class or its base classes; importing registers them."""
    for parent in kind.__mro__:
        if parent.__name__ in MODULES:
            import_module(f"tractable.plotting.pictures.{MODULES[parent.__name__]}")


class UnknownOptionError(TypeError):
    """An option that a picture does not take."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(dict.fromkeys(known))
        super().__init__(f"unknown option {name!r}: this picture takes {', '.join(['ax', *self.known])}")


def with_options(drawing: Callable[..., Any], x: Any, ax: Any, options: Mapping[str, Any]) -> Any:
    """Draw x with the options; the error for an unknown one lists those of the drawing.

    A drawing with ``**options`` passes them on to another; the error then lists the options of both.
    """
    own = check_options(drawing, options)
    try:
        return drawing(x, ax, **options)
    except UnknownOptionError as error:
        if error.name in own:
            raise
        raise UnknownOptionError(error.name, [*own, *error.known]) from None


def check_options(drawing: Callable[..., Any], options: Mapping[str, Any]) -> list[str]:
    """Return the named options of a drawing; refuse others unless it passes them on."""
    parameters = signature(drawing).parameters.values()
    own = [one.name for one in parameters if one.kind is Parameter.KEYWORD_ONLY]
    wrong = [name for name in options if name not in own]
    if wrong and not any(one.kind is Parameter.VAR_KEYWORD for one in parameters):
        raise UnknownOptionError(wrong[0], own)
    return own


def _checked_options(x: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with rows and targets as the model takes them.

    The target may be the name of a column of the rows, as in `fit`. Columns that the model was not fitted
    to are left out; there must be one target for each row.
    """
    found = dict(options)
    for argument in ("data", "X"):
        rows, y = found.get(argument), found.get("y")
        if rows is None:
            continue
        if is_frame(rows) and hasattr(rows, "column_names"):
            rows = rows.to_pandas()  # an Arrow table, whose columns have another interface
        if isinstance(y, str):
            if not is_frame(rows):
                message = f"y must be targets, or the name of a column where {argument} is a frame, got {y!r}"
                raise ValueError(message)
            found["y"] = columns_by_name(rows, [y], "y")[y]
            rows = rows[[name for name in rows.columns if name != y]]
        found[argument] = _fitted_columns(x, rows, argument)
        both: Any = (rows, found.get("y"))
        n, m = (len(part) if hasattr(part, "__len__") else None for part in both)
        if n is not None and m is not None and n != m:
            raise ValueError(f"y must have one entry for each row of {argument}, got {m} for {n} rows")
    return found


def _fitted_columns(x: Any, rows: Any, argument: str) -> Any:
    """Return the columns of a frame that the model was fitted to, in its order."""
    names = getattr(x, "feature_names_in_", None)
    if names is None or not is_frame(rows):
        return rows
    if hasattr(x, "distribution_") and not set(names) <= set(rows.columns):
        return rows  # the picture of a density needs only the columns that are drawn
    return columns_by_name(rows, list(names), argument)


def _check_axes(ax: Any) -> None:
    if ax is None:
        return
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ValueError(f"ax must be matplotlib axes, one of them, got {type(ax).__name__}")
