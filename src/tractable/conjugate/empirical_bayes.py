"""Empirical Bayes: the prior that makes many groups of data most probable."""

import warnings
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np

from tractable.conjugate.checks import check_whole_number
from tractable.conjugate.model import ConjugateModel
from tractable.engines.newton import newton

__all__ = ["empirical_bayes"]

Model = TypeVar("Model", bound=ConjugateModel)

#: A maximum flatter than this, in logarithms of hyper-parameters, is at infinity.
_FLAT = 1e-6


def empirical_bayes(model: Model, statistics: Iterable[Any], *, max_iter: int = 200) -> Model:
    """Return the model whose prior maximises Σ log p(group), the summed evidence of several groups.

    Each group has a parameter of its own, drawn from the prior; the prior is learnt from all of them, and
    ``empirical_bayes(model, groups).update(group)`` shrinks each group towards the others as far as the data
    ask for it. Type II maximum likelihood, by Newton's method with exact derivatives on free numbers.

    Parameters
    ----------
    model : ConjugateModel
        Where the search starts: a model of counts, or one of the mean or the precision of numbers.
    statistics : iterable of statistics
        One for each group, as ``model.summarize`` returns them.
    max_iter : int
        The most steps to take.

    Warns
    -----
    RuntimeWarning
        Where no finite prior is best: groups that differ no more than chance are best explained by one shared
        parameter, an infinitely strong prior, and a very strong one is returned. Also where `max_iter` steps
        were too few.

    Examples
    --------
    >>> from tractable.conjugate import NormalMeanModel
    >>> from tractable.distributions import Normal
    >>> model = NormalMeanModel(prior=Normal(mean=0.0, variance=1.0), variance=1.0)
    >>> groups = [model.summarize([x]) for x in (1.0, 3.0, 5.0, 7.0)]
    >>> best = empirical_bayes(model, groups)
    >>> float(best.prior.mean.round(6)), float(best.prior.variance.round(6))
    (4.0, 4.0)
    >>> float(best.update(groups[0]).mean().round(6))
    1.6
    """
    groups = list(statistics) if isinstance(statistics, Iterable) else [None]
    strange = [group for group in groups if not hasattr(group, "weight")]
    if strange:
        raise ValueError(
            f"statistics must be what model.summarize returns for each group, got {strange[0]!r:.60}"
        )
    max_iter = check_whole_number("max_iter", max_iter)
    if not any(float(group.weight) > 0.0 for group in groups):
        raise ValueError("statistics must have a group with data in it")
    search = model._search(groups)  # noqa: SLF001
    found = newton(search.objective, search.start, tol=1e-14, max_iter=max_iter)
    best: Model = search.model(found.x)
    if float(np.linalg.eigvalsh(found.curvature).min()) < _FLAT:
        warnings.warn(
            "no finite prior is best: the groups differ no more than chance, or as much as they can",
            RuntimeWarning,
            stacklevel=2,
        )
    elif not found.converged:
        warnings.warn(f"not converged after {found.n_iter} steps", RuntimeWarning, stacklevel=2)
    return best
