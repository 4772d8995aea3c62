"""A picture of anything that was fitted."""

from functools import singledispatch
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from tractable.base import check_fitted
from tractable.plotting.given import check_axes, checked_options
from tractable.plotting.labels import as_written
from tractable.plotting.options import UnknownOptionError, with_options
from tractable.plotting.picture_modules import MODULES
from tractable.plotting.style import axes_for

__all__ = ["draw", "draw_as", "load_pictures", "picture", "plot"]

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
