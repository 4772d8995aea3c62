"""Docstrings of everything public: a plain first line, every name explained, and an example.

Methods, and the values that models and functions return, explain every name that they list.
Fitted attributes are compared with the fits of the catalogue in `test_names.py`.
"""

import inspect
import re
from importlib import import_module
from typing import get_args, get_type_hints

import pytest

import tractable
from docstring_sections import entries, names
from tractable.statistics import Statistic

#: Packages whose exports users construct or call under the package's name.
PACKAGES = ("covariance", "kernels", "smoothing", "spatial", "statistics")

#: Packages whose exports no user calls or is given.
INTERNAL = {"arrays", "base", "cli", "columns", "inference", "primitives"}

#: A function of more parameters than these lists them.
FEW = 2


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


def exported():
    """Every class and function that a public package exports, results included."""
    modules = [
        import_module(f"tractable.{name}") for name in (*set(tractable.PACKAGES) - INTERNAL, "engines.glm")
    ]
    found = {
        f"{m.__name__.partition('.')[2]}.{name}": getattr(m, name) for m in modules for name in m.__all__
    }
    kept = {name: x for name, x in sorted(found.items()) if inspect.isclass(x) or inspect.isfunction(x)}
    return {name: x for name, x in kept.items() if not (inspect.isclass(x) and issubclass(x, Exception))}


def methods(cls):
    """The public methods of a class that are this library's, bound where they are of the class."""
    found = {name: getattr(cls, name, None) for name in dir(cls) if not name.startswith("_")}
    return {
        name: x
        for name, x in found.items()
        if (inspect.isfunction(x) or inspect.ismethod(x)) and x.__module__.startswith("tractable")
    }


def returned(functions):
    """Classes of this library that functions return, alone or in a tuple, with names of their fields."""
    hints = [get_type_hints(f).get("return") for f in functions]
    found = {cls for hint in hints for cls in (hint, *get_args(hint)) if inspect.isclass(cls)}
    ours = [cls for cls in found if cls.__module__.startswith("tractable") and not inspect.isabstract(cls)]
    return {
        cls.__qualname__: cls for cls in sorted(ours, key=lambda cls: cls.__qualname__) if parameters(cls)
    }


OBJECTS, EXPORTED = public(), exported()


def found_in(objects, faults):
    """The faults of each object that has any, by its name."""
    found = {name: faults(x) for name, x in objects.items()}
    return {name: left for name, left in found.items() if left}


def parameters(x):
    """Names of the parameters, without the instance that a method is called on."""
    return {*inspect.signature(x).parameters} - {"self"}


def undocumented(x):
    """Parameters of the signature that the docstring leaves out, and names that are no parameters."""
    return parameters(x) ^ names(inspect.getdoc(x) or "", "Parameters")


def unexplained(x):
    """Names of parameters and attributes with a type at most, and no sentence."""
    text = inspect.getdoc(x) or ""
    pairs = [pair for title in ("Parameters", "Attributes") for pair in entries(text, title)]
    return [heads for heads, below in pairs if not below.strip()]


def gaps(x):
    """Names without an explanation in a list, or missing from it; a function of few parameters needs none."""
    listed = "Parameters\n---" in (inspect.getdoc(x) or "")
    needed = inspect.isroutine(x) and len(parameters(x)) > FEW
    whole = not inspect.isabstract(x) and (listed or needed)
    return [*unexplained(x), *(sorted(undocumented(x)) if whole else [])]


def first_line(x):
    """What is wrong with the first line of a docstring."""
    first, *rest = inspect.getdoc(x).split("\n")
    rules = {
        "the first line is a sentence": first.endswith("."),
        "a formula stands below, or after the name of what it is of": re.match(r"[A-Z][\w'-]*[ ,:]", first),
        "the first sentence takes one line, and a blank line follows": not rest or rest[0] == "",
    }
    return [rule for rule, kept in rules.items() if not kept]


def without_example(x):
    return ">>> " not in (inspect.getdoc(x) or "").partition("Examples\n--------\n")[2]


def gaps_of_members(x):
    return found_in({"": x} | (methods(x) if inspect.isclass(x) else {}), gaps)


@pytest.mark.parametrize("faults", [first_line, undocumented, unexplained, without_example])
def test_what_is_public_is_documented(faults):
    assert found_in(OBJECTS, faults) == {}


def test_methods_and_results_explain_what_they_list():
    assert found_in(EXPORTED, gaps_of_members) == {}


RETURNED = returned(filter(inspect.isfunction, EXPORTED.values()))


@pytest.mark.parametrize("faults", [undocumented, unexplained])
def test_every_field_of_a_result_is_explained(faults):
    assert found_in(RETURNED, faults) == {}


def test_gaps_are_seen():
    def formula(a):
        """a² is
        a square."""

    assert len(found_in({"formula": formula}, first_line)["formula"]) == 3
    assert without_example(formula)

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
    assert gaps(gap) == [["c"], ["f_"], "d", "e"]
    assert gaps(lambda a, b: None) == []
    assert gaps(lambda a, b, c: None) == ["a", "b", "c"]
