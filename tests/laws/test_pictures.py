"""Every law of pictures on everything that is drawn."""

import os
import subprocess
import sys
from importlib import import_module

import matplotlib as mpl
import numpy as np
import pytest

import tractable
from catalogue import PICTURES, cross
from tractable.distributions import (
    Dirichlet,
    Mixture,
    MultivariateLaplace,
    MultivariateNormal,
    Normal,
    Poisson,
    Product,
    grid_posterior,
)
from tractable.plotting import plot
from tractable.plotting.plot import MODULES, picture
from tractable.testing import picture_laws
from tractable.testing.picture_laws import PICTURE_LAWS, Picture
from tractable.value import value

mpl.use("Agg")


@pytest.mark.spec("GMM-16")
@pytest.mark.parametrize(("law", "make"), cross(PICTURE_LAWS, PICTURES, most=1))
def test_picture_law(law, make, rng):
    law(make(), rng)


def test_everything_with_a_picture_is_in_the_catalogue():
    every_picture()
    shown = [type(row.make().shows) for row in PICTURES]
    drawn = [kind for kind in picture.registry if kind.__module__.startswith("tractable.")]
    assert [k.__name__ for k in drawn if not any(issubclass(s, k) for s in shown)] == []


def every_picture():
    """Import all that draws something."""
    for module in set(MODULES.values()):
        import_module(f"tractable.plotting.pictures.{module}")


def test_the_table_of_pictures_says_where_each_kind_is_drawn():
    """A kind that the table does not name would be drawn as its parent, or not at all."""
    every_picture()
    found = {
        kind.__name__: drawn.__module__.rpartition(".")[2]
        for kind, drawn in picture.registry.items()
        if kind is not object and drawn.__module__.startswith("tractable.plotting.pictures.")
    }
    assert found == MODULES


@pytest.mark.slow
def test_drawing_a_gaussian_imports_no_linear_model():
    code = (
        "import sys, tractable; tractable.plot(tractable.Normal(mean=0.0, variance=1.0)); "
        "assert not [m for m in sys.modules if m.startswith(('tractable.linear_model', 'tractable.mixture'))]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "MPLBACKEND": "Agg"})


@pytest.mark.parametrize(
    ("shows", "options", "named"),
    [
        (3.0, {}, "x must be something with a picture"),
        (Normal(mean=np.zeros(9), variance=1.0), {}, "at most 8"),
        (Normal(mean=[0.0, 1.0], variance=1.0), {"labels": ["a"]}, "labels"),
        (MultivariateNormal(mean=np.zeros((9, 2)), covariance=np.eye(2)), {}, "at most 8"),
        (MultivariateNormal(mean=np.zeros((2, 2)), covariance=np.eye(2)), {"labels": ["a"]}, "labels"),
        (MultivariateNormal(mean=np.zeros(3), covariance=np.eye(3)), {"dims": [0, 1, 2]}, "dims"),
        (MultivariateNormal(mean=np.zeros(3), covariance=np.eye(3)), {"dims": "a"}, "dims"),
        (Product(parts=[Poisson(rate=1.0), Normal(mean=0.0, variance=1.0)]), {"dims": [0, 1]}, "dims"),
        (Normal, {}, "got the class Normal"),
        (Dirichlet(concentration=np.ones((2, 3))), {}, "batch"),
        (Dirichlet(concentration=np.ones(3)), {"names": ["a"]}, "names"),
        (grid_posterior(np.zeros_like, np.zeros_like, [0.0, 1.0, 2.0]), {"names": ["a", "b"]}, "names"),
        (MultivariateLaplace(location=np.zeros((2, 3)), scale=1.0), {}, "batch"),
    ],
)
def test_refusals(shows, options, named):
    with pytest.raises(ValueError, match=named):
        plot(shows, **options)
    mpl.pyplot.close("all")


def broken(change):
    """A kind of object whose picture is the normal's, changed."""

    @value
    class Broken:
        pass

    @picture.register
    def _broken(x: Broken, ax, **options):
        return change(x, ax, **options)

    return Picture(shows=Broken(), options={})


def sketch(ax, points=(0.0, 1.0)):
    ax.plot(points, points)
    ax.set(xlabel="x", ylabel="y")
    return ax


def returns_the_figure(x, ax):
    return sketch(ax).figure


def draws_elsewhere(x, ax):
    return sketch(mpl.pyplot.subplots()[1])


def draws_nothing(x, ax):
    ax.set(xlabel="x", ylabel="y")
    return ax


def leaves_the_axes_bare(x, ax):
    ax.plot([0.0, 1.0])
    return ax


def complains(x, ax):
    np.log(np.zeros(1))
    return sketch(ax)


def differs(x, ax):
    return sketch(ax, np.random.default_rng().standard_normal(5))


def takes_anything(x, ax, **options):
    return sketch(ax)


def leaves_a_figure(x, ax, **options):
    mpl.pyplot.figure()
    raise TypeError("unknown option")


MUTANTS = [
    (picture_laws.axes_are_new_when_not_given, returns_the_figure),
    (picture_laws.axes_that_are_given_are_drawn_on, draws_elsewhere),
    (picture_laws.something_is_drawn, draws_nothing),
    (picture_laws.axes_are_labelled, leaves_the_axes_bare),
    (picture_laws.drawing_is_quiet, complains),
    (picture_laws.pictures_repeat, differs),
    (picture_laws.unknown_options_are_refused, takes_anything),
    (picture_laws.unknown_options_are_refused, leaves_a_figure),
    (picture_laws.refusals_leave_no_figure, leaves_a_figure),
]


@pytest.mark.parametrize(("law", "change"), MUTANTS)
def test_laws_of_pictures_have_power(law, change, rng):
    with pytest.raises(AssertionError):
        law(broken(change), rng)
    mpl.pyplot.close("all")


def test_every_law_of_pictures_has_a_mutant():
    assert {law for law, _ in MUTANTS} == set(PICTURE_LAWS)


def test_a_whole_figure_of_one_kind():
    """Curves drawn on the same axes keep company."""
    ax = tractable.plot(Normal(mean=0.0, variance=1.0))
    lines = len(ax.lines)
    tractable.plot(Normal(mean=1.0, variance=1.0), ax=ax)
    assert len(ax.lines) == 2 * lines
    mpl.pyplot.close(ax.figure)


@pytest.mark.slow
def test_many_components_are_not_drawn_one_by_one():
    """A kernel density is drawn without the hundred circles it is made of, not with the first of them."""
    few, many = (
        Mixture(components=MultivariateNormal(mean=np.arange(2.0 * n).reshape(n, 2), covariance=np.eye(2)))
        for n in (3, 100)
    )
    assert len(plot(few).lines) == 3 + len(plot(many).lines)
    mpl.pyplot.close("all")
