"""A picture of anything that was fitted."""

from collections.abc import Callable, Mapping, Sequence
from functools import singledispatch
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

from sklearn.base import BaseEstimator

from tractable.base import check_fitted
from tractable.data import is_frame
from tractable.plotting.style import as_written, axes_for

__all__ = [
    "MODULES",
    "UnknownOptionError",
    "check_axes",
    "check_options",
    "checked_options",
    "columns_by_name",
    "draw",
    "draw_as",
    "load_pictures",
    "picture",
    "plot",
    "with_options",
]

_KINDS = {
    "assessment": "CalibrationCurve BiasVariance ConfusionMatrix ClassCalibration EvidenceDecomposition "
    "LikelihoodComparison",
    "categorical": "Dirichlet CountVectors",
    "classifiers": "ClassifierMixin BayesClassifier LinearDiscriminantFunction",
    "clusters": "KMeans MeanShift ClusterReport NumberOfClusters ComponentChoice",
    "conjugate": "ConjugateModel Updates Wishart InverseWishart NormalWishart NormalGamma",
    "density": "GaussianDensity Histogram UnivariateHistogram HistogramDensity BinSearch KernelDensity "
    "UnivariateSmoothedEmpirical SmoothedEmpirical BandwidthSearch NearestNeighborDensity "
    "AdaptiveKernelDensity",
    "linear_models": "LassoPath LarsPath LassoCV LassoLars CVCurve Basis Diagnosis",
    "mixtures": "EMMixture PlanesEstimator",
    "multivariate": "MultivariateNormal MultivariateStudentT MultivariateLaplace UnivariateMixture Mixture "
    "Product UnivariateEmpirical Empirical Stacked",
    "neighbors": "NearestNeighbors Brute NeighborCurve PlaneIndex KDTree SearchReport",
    "pipelines": "Pipeline",
    "regression": "RegressorMixin PredictiveMixin",
    "univariate": "Univariate GridPosterior",
}

#: The name of a class, and the module that draws it and its descendants.
MODULES = {kind: module for module, kinds in _KINDS.items() for kind in kinds.split()}


class UnknownOptionError(TypeError):
    """An option that a picture does not take."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name, self.known = name, tuple(dict.fromkeys(known))
        super().__init__(f"unknown option {name!r}: this picture takes {', '.join(['ax', *self.known])}")


def with_options(drawing: Callable[..., Any], x: Any, ax: Any, options: Mapping[str, Any]) -> Any:
    """Draw x with the options, unless there is one that the drawing does not take."""
    own = check_options(drawing, options)
    try:
        return drawing(x, ax, **options)
    except UnknownOptionError as error:
        if error.name in own:
            raise
        # What this one takes and what it hands on to are both there to be chosen from.
        raise UnknownOptionError(error.name, [*own, *error.known]) from None


def check_options(drawing: Callable[..., Any], options: Mapping[str, Any]) -> list[str]:
    """Return the options that a drawing names; refuse others, unless it hands them on."""
    found = signature(drawing).parameters.values()
    own = [one.name for one in found if one.kind is Parameter.KEYWORD_ONLY]
    wrong = [name for name in options if name not in own]
    if wrong and not any(one.kind is Parameter.VAR_KEYWORD for one in found):
        raise UnknownOptionError(wrong[0], own)
    return own


def check_axes(ax: Any) -> None:
    """Refuse what cannot be drawn on."""
    if ax is None:
        return
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ValueError(f"ax must be matplotlib axes, one of them, got {type(ax).__name__}")


def checked_options(x: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with rows and targets as the model knows them.

    A target may be told by its name among the columns of the rows, as `fit` takes it. Columns that the model
    does not know are left out; targets are one for each row.
    """
    found = dict(options)
    for what in ("data", "X"):
        rows, y = found.get(what), found.get("y")
        if rows is None:
            continue
        if is_frame(rows) and hasattr(rows, "column_names"):
            rows = rows.to_pandas()  # an Arrow table, which has columns by another name
        if isinstance(y, str):
            found["y"] = target_column(rows, y, what)
            rows = rows[[name for name in rows.columns if name != y]]
        found[what] = known_columns(x, rows, what)
        _check_lengths(rows, found.get("y"), what)
    return found


def target_column(rows: Any, y: str, what: str) -> Any:
    """Return the column of targets that is called y."""
    if not is_frame(rows):
        raise ValueError(f"y must be targets, or the name of a column where {what} is a frame, got {y!r}")
    return columns_by_name(rows, [y], "y")[y]


def known_columns(x: Any, rows: Any, what: str) -> Any:
    """Return the columns of a frame that the model was fitted to, in its order."""
    names = getattr(x, "feature_names_in_", None)
    if names is None or not is_frame(rows):
        return rows
    if hasattr(x, "distribution_") and not set(names) <= set(rows.columns):
        return rows  # a density needs no more of them than are shown
    return columns_by_name(rows, list(names), what)


def columns_by_name(rows: Any, names: list[Any], what: str) -> Any:
    """Return some columns of a frame; one that is not there is named, and so are those that are."""
    there = [*rows.columns]
    for name in names:
        if name not in there:
            told = ", ".join(map(str, there[:8])) + (", …" if len(there) > 8 else "")
            raise ValueError(f"{what} needs a column {name!r}, and the columns are {told}")
    return rows[names]


def _check_lengths(rows: Any, y: Any, what: str) -> None:
    n, m = (len(part) if hasattr(part, "__len__") else None for part in (rows, y))
    if n is not None and m is not None and n != m:
        raise ValueError(f"y must have one entry for each row of {what}, got {m} for {n} rows")


#: What has a picture, as people say it.
KINDS = (
    "a distribution or a batch of them, a fitted model or pipeline, a belief and its updates, a path of "
    "coefficients, a curve of scores, a choice, a comparison, or an index of neighbours"
)


def plot(x: Any, *, ax: Any = None, **options: Any) -> Any:
    """Draw a fitted model, a distribution or a result.

    What is drawn:

    - distributions of numbers: a density with its interval, or probabilities as stems; of vectors: regions
      that hold half, 90 % and 99 %, mixtures with their components; of shares, counts and matrices too;
    - batches of up to eight of them, each in its colour;
    - densities that were fitted: the same, over the rows, and histograms with credible bands;
    - regressions: over one column the prediction in bands of the function and of new targets; over several
      what was predicted beside what was observed; without rows, the coefficients with their intervals;
    - classifiers: the regions of the plane that go to each class, or probabilities along one column; of
      more columns the plane through the middle of the others, of categories the shares of classes;
    - pipelines that end in a regression, a classifier or a density: over the columns they were given;
    - mixtures and clusters: ellipses of components, centres with their cells, hills with their basins; of
      tables, categories by their names;
    - beliefs: the prior of a conjugate model, its predictive distribution, and its updates in turn;
    - results: paths of coefficients, curves of cross-validation and of neighbours, numbers of components and
      of clusters, calibration, confusion, bias and variance, residuals, compared likelihoods, posteriors on
      grids, searches for bandwidths and bins, the parts of an evidence;
    - neighbour indexes: the cells of a tree, and what a search looks at.

    Parameters
    ----------
    x : distribution, fitted estimator or result
    ax : matplotlib Axes, optional
        Where to draw; new axes when not given.
    **options
        What the picture of this kind of object takes; one that it does not take is refused by naming those.
        Distributions: `data`, rows to show behind it; `dims`, the one or two columns to show; `coverage`,
        what an interval holds, 0.9 unless told, or `coverages`, what regions hold; `label`, what a number
        is called; `labels`, what the members of a batch are. Regressions: `data` (or `X`) and `y`, the rows
        to show and their targets, or the name of their column; `coverage`, of the band; `grid`, where to draw
        it. Classifiers: `data` and `y`, the rows to show and their classes; `dims`, the two columns to draw;
        `limits`, of each; `levels`, the probabilities to draw contours of; `n_cells`, along each side.
        Mixtures by EM: ``show="responsibilities"``, `data` in the colours of the components they belong to;
        ``show="climb"``, the likelihood at every step. Conjugate models: ``show="predictive"``.

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
        raise ValueError(f"x must be one of its kind, fitted where it learns, got the class {x.__name__}")
    load_pictures(type(x))
    if picture.dispatch(type(x)) is picture.dispatch(object):
        picture(x, None)  # refuses
    if isinstance(x, BaseEstimator):
        check_fitted(x)
    check_axes(ax)
    options = checked_options(x, options)
    where = axes_for(ax)
    try:
        return as_written(draw(x, where, **options))
    except BaseException as error:
        if ax is None:
            _close(where.figure)  # nobody asked for an empty one
        if isinstance(error, UnknownOptionError):
            raise TypeError(str(error)) from None
        raise


def draw(x: Any, ax: Any, **options: Any) -> Any:
    """Draw x on the axes and return them."""
    return draw_as(type(x), x, ax, **options)


def draw_as(kind: type, x: Any, ax: Any, **options: Any) -> Any:
    """Draw x as what is of a kind is drawn."""
    load_pictures(kind)
    return with_options(picture.dispatch(kind), x, ax, options)


@singledispatch
def picture(x: Any, ax: Any, **options: Any) -> Any:  # noqa: ARG001
    """Draw x on the axes and return them; each kind of object registers its own."""
    raise ValueError(f"x must be something with a picture: {KINDS}; got {type(x).__name__}")


def _close(figure: Any) -> None:
    from matplotlib import pyplot as plt

    plt.close(figure)


def load_pictures(kind: type) -> None:
    """Import what draws a kind of object, or any it descends from: importing registers it."""
    for parent in kind.__mro__:
        if parent.__name__ in MODULES:
            import_module(f"tractable.plotting.pictures.{MODULES[parent.__name__]}")
