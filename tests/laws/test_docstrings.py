"""Docstrings of everything public: a plain first line, every name explained, and an example.

Fitted attributes are compared with the fits of the catalogue in `test_names.py`.
"""

import inspect
import re
from importlib import import_module

import pytest

import tractable
from docstring_sections import entries, names
from tractable.statistics import Statistic

#: Packages whose exports users construct or call under the package's name.
PACKAGES = ("covariance", "smoothing", "spatial", "statistics")


def public():
    """Every public class and function; base classes and warnings are no part of the catalogue."""
    found = {name: getattr(tractable, name) for name in tractable.PUBLIC}
    for package in PACKAGES:
        module = import_module(f"tractable.{package}")
        found |= {f"{package}.{name}": getattr(module, name) for name in module.__all__}
    return {name: x for name, x in found.items() if documented(x)}


def documented(x):
    if inspect.isclass(x):
        return not (inspect.isabstract(x) or x is Statistic or issubclass(x, Exception))
    return inspect.isfunction(x)


OBJECTS = public()
each = pytest.mark.parametrize("x", OBJECTS.values(), ids=OBJECTS.keys())


def undocumented(x):
    """Parameters of the signature that the docstring leaves out, and names that are no parameters."""
    return {*inspect.signature(x).parameters} ^ names(inspect.getdoc(x) or "", "Parameters")


def unexplained(x):
    """Names of parameters and attributes with a type at most, and no sentence."""
    text = inspect.getdoc(x) or ""
    pairs = [pair for title in ("Parameters", "Attributes") for pair in entries(text, title)]
    return [heads for heads, below in pairs if not below.strip()]


@each
def test_the_first_line_is_one_sentence(x):
    first, *rest = inspect.getdoc(x).split("\n")
    assert first.endswith(".")
    assert re.match(r"[A-Z][\w'-]*[ ,:]", first), "a formula stands below, or after the name of what it is of"
    assert not rest or rest[0] == "", "the first sentence takes one line, and a blank line follows"


@each
def test_every_parameter_is_documented(x):
    assert sorted(undocumented(x)) == []


@each
def test_every_name_is_explained(x):
    assert unexplained(x) == []


@each
def test_there_is_an_example(x):
    assert ">>> " in (inspect.getdoc(x) or "").partition("Examples\n--------\n")[2]


def test_gaps_are_seen():
    def gap(a, b, *c, d=None):
        """Return a.

        Parameters
        ----------
        a, b : float
            Numbers.
        *c : float
        e : float
            No parameter.

        Attributes
        ----------
        f_ : float

        Notes
        -----
        None.
        """

    assert undocumented(gap) == {"d", "e"}
    assert unexplained(gap) == [["c"], ["f_"]]
