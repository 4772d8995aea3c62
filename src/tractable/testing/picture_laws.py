"""Laws of pictures: drawn on the axes given, not empty, labelled, repeatable."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from tractable.plotting.plot import plot
from tractable.plotting.style import axes_for
from tractable.testing.assertions import check_laws, laws_above
from tractable.value import value


@value
class Picture:
    """Something to draw, and the options to draw it with."""

    shows: Any
    options: dict[str, Any]


def axes_are_new_when_not_given(picture: Picture, rng: np.random.Generator) -> None:
    """Without axes a figure of its own is made, and its axes are returned."""
    drawn = _drawn(picture)
    assert hasattr(drawn.ax, "get_xlabel"), f"plot returned {type(drawn.ax).__name__}, not axes"
    assert drawn.n_figures == 1


def axes_that_are_given_are_drawn_on(picture: Picture, rng: np.random.Generator) -> None:
    """Given axes are used and returned, and no other figure is made."""
    drawn = _drawn_on_given(picture)
    assert drawn.ax is drawn.given, "the axes that were given are not returned"
    assert drawn.n_figures == 0, "a figure was made though axes were given"


def something_is_drawn(picture: Picture, rng: np.random.Generator) -> None:
    """There are marks inside the limits of the axes."""
    ax = _drawn(picture).ax
    assert ax.has_data(), "the axes are empty"
    box, limits = ax.dataLim, ax.viewLim
    assert np.isfinite([box.x0, box.x1, box.y0, box.y1]).all(), f"marks reach {box}"
    assert box.xmin < limits.xmax and box.xmax > limits.xmin, "the marks are outside the picture"  # noqa: PT018


def axes_are_labelled(picture: Picture, rng: np.random.Generator) -> None:
    """Both axes have labels."""
    ax = _drawn(picture).ax
    assert ax.get_xlabel(), "the horizontal axis has no label"
    assert ax.get_ylabel(), "the vertical axis has no label"


def drawing_is_quiet(picture: Picture, rng: np.random.Generator) -> None:
    """Neither making the picture nor rendering it warns."""
    drawn = _drawn(picture)
    with warnings.catch_warnings(record=True) as rendering:
        warnings.simplefilter("always")
        drawn.ax.figure.canvas.draw()
    for warning in (*drawn.warnings, *rendering):
        raise AssertionError(f"drawing warns: {warning.message}")


def pictures_repeat(picture: Picture, rng: np.random.Generator) -> None:
    """The same thing drawn twice is the same picture."""
    first, second = _drawn(picture).ax, _drawn_on_given(picture).ax
    assert len(first.get_children()) == len(second.get_children())
    for a, b in zip(first.lines, second.lines, strict=True):
        np.testing.assert_array_equal(a.get_xydata(), b.get_xydata())
    np.testing.assert_array_equal(first.viewLim.get_points(), second.viewLim.get_points())


def unknown_options_are_refused(picture: Picture, rng: np.random.Generator) -> None:
    """A misspelt option is an error that names it and the known options."""
    with _figures():
        message = _refusal(picture)
        assert "'colour_of_nothing'" in message, f"the option is not named: {message}"
        assert "takes ax" in message, f"the options there are are not named: {message}"


def refusals_leave_no_figure(picture: Picture, rng: np.random.Generator) -> None:
    """A picture that was refused leaves nothing open."""
    with _figures() as open_figures:
        before = open_figures()
        _refusal(picture)
        assert open_figures() == before, "a refused picture left a figure behind"


PICTURE_LAWS = laws_above(globals())


@value
class _Drawn:
    """The axes of a picture, those that were given, how many figures were made for it, and its warnings."""

    ax: Any
    given: Any
    n_figures: int
    warnings: tuple[Any, ...]


@lru_cache(maxsize=1)
def _drawn(picture: Picture) -> _Drawn:
    """Return a picture on axes of its own, drawn once for the laws that only look at it."""
    return _plotted(picture, None)


@lru_cache(maxsize=1)
def _drawn_on_given(picture: Picture) -> _Drawn:
    """Return a picture on axes that are there before, drawn once likewise."""
    with _figures():
        return _plotted(picture, axes_for(None))  # of the same size: room decides about labels of lines


def _plotted(picture: Picture, given: Any) -> _Drawn:
    with _figures() as open_figures, warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        before = len(open_figures())
        ax = plot(picture.shows, ax=given, **picture.options)
        made = len(open_figures()) - before
    return _Drawn(ax=ax, given=given, n_figures=made, warnings=tuple(found))


def _refusal(picture: Picture) -> str:
    """Return the message about an unknown option."""
    try:
        plot(picture.shows, **picture.options, colour_of_nothing="red")
    except TypeError as error:
        return str(error)
    raise AssertionError("an unknown option was taken")


@contextmanager
def _figures() -> Iterator[Callable[[], list[int]]]:
    """Close what a law opens; gives the function that lists open figures."""
    from matplotlib import pyplot as plt

    before = set(plt.get_fignums())
    try:
        yield plt.get_fignums
    finally:
        for number in set(plt.get_fignums()) - before:
            plt.close(number)


def check_picture(shows: Any, rng: Any = 0, **options: Any) -> None:
    """Run every law of pictures on what `tractable.plot` makes of something.

    Parameters
    ----------
    shows : object
        What is drawn.
    rng : int or Generator
        Where randomness comes from.
    **options
        Given to `tractable.plot`.

    Examples
    --------
    >>> import tractable
    >>> check_picture(tractable.Normal(mean=0.0, variance=1.0), coverage=0.5)
    """
    check_laws(PICTURE_LAWS, Picture(shows=shows, options=options), rng)
