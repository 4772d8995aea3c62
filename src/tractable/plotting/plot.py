"""A picture of anything that was fitted."""

from functools import singledispatch
from typing import Any

from tractable.plotting.style import axes_for

__all__ = ["draw", "plot"]


def plot(x: Any, *, ax: Any = None, **options: Any) -> Any:
    """Draw a fitted model, a distribution or a result.

    Parameters
    ----------
    x : distribution, fitted estimator or result
    ax : matplotlib Axes, optional
        Where to draw; new axes when not given.
    **options
        What the picture of this kind of object takes. Distributions: `data`, rows to show behind it; `dims`,
        the one or two columns to show; `coverage` or `coverages`, the probabilities that intervals and
        regions hold; `label`, what a number is called; `labels`, what the members of a batch are. Regressions
        on one column: `X` and `y`, the rows to show; `coverage`, of the band; `grid`, where to draw it.
        Classifiers of one or two columns: `data` and `y`, the rows to show and their classes; `limits`, of
        each column; `levels`, the probabilities to draw contours of; `n_cells`, along each side.

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
    from tractable.plotting import pictures  # noqa: F401  (each module registers what it draws)

    return draw(x, axes_for(ax), **options)


@singledispatch
def draw(x: Any, ax: Any, **options: Any) -> Any:  # noqa: ARG001
    """Draw x on the axes and return them; each kind of object registers its own."""
    known = sorted(kind.__name__ for kind in draw.registry if kind is not object)
    raise ValueError(f"x must be something with a picture ({', '.join(known)}), got {type(x).__name__}")
