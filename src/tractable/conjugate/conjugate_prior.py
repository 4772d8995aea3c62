"""The model that is conjugate to a likelihood."""

from typing import Any

from tractable.conjugate import counts, normal
from tractable.conjugate.model import ConjugateModel
from tractable.distributions.distribution import Distribution

#: Every pair: the family of the likelihood, what is not known of it, and the model.
PAIRS: dict[tuple[str, str], type[ConjugateModel]] = {
    ("Bernoulli", "probability"): counts.BernoulliModel,
    ("Binomial", "probability"): counts.BinomialModel,
    ("Categorical", "probabilities"): counts.CategoricalModel,
    ("Multinomial", "probabilities"): counts.MultinomialModel,
    ("Poisson", "rate"): counts.PoissonModel,
    ("Normal", "mean"): normal.NormalMeanModel,
    ("Normal", "precision"): normal.NormalPrecisionModel,
    ("Normal", "both"): normal.NormalModel,
    ("MultivariateNormal", "mean"): normal.NormalMeanModel,
    ("MultivariateNormal", "precision"): normal.NormalPrecisionModel,
    ("MultivariateNormal", "both"): normal.MultivariateNormalModel,
}

#: Names under which the precision of a normal distribution may be asked for.
_SPREADS = ("variance", "stddev", "covariance")


def conjugate_prior(likelihood: Any, unknown: str | None = None) -> type[ConjugateModel]:
    """Return the conjugate model of a likelihood: its prior and posterior are of one family.

    Parameters
    ----------
    likelihood : type of Distribution, Distribution or str
        The family of the data, a member of it, or its name.
    unknown : str, optional
        The parameter that is not known: ``"probability"``, ``"probabilities"``, ``"rate"``, ``"mean"``,
        ``"precision"``, or ``"both"`` the mean and the precision. May be left out where a family has one.

    Returns
    -------
    type of ConjugateModel
        Its `prior_families` are the families that the prior may be of.

    Examples
    --------
    >>> model = conjugate_prior("Binomial")
    >>> model.__name__, [family.__name__ for family in model.prior_families]
    ('BinomialModel', ['Beta'])
    >>> conjugate_prior("Normal", "both").__name__
    'NormalModel'
    >>> conjugate_prior("Normal", "median")
    Traceback (most recent call last):
    ValueError: no conjugate model of Normal with unknown 'median'; there are: Bernoulli (probability), ...
    """
    name = _family(likelihood)
    found = [model for (family, what), model in PAIRS.items() if family == name and unknown in (what, None)]
    if len(found) == 1:
        return found[0]
    own = ", ".join(repr(what) for family, what in PAIRS if family == name)
    if found:
        raise ValueError(f"likelihood {name} has several conjugate models; give unknown, one of {own}")
    if "'precision'" in own and unknown in _SPREADS:
        raise ValueError(
            f"unknown must be one of {own}, got {unknown!r}: ask for its inverse, the 'precision'"
        )
    known = ", ".join(f"{family} ({what})" for family, what in PAIRS)
    asked = "" if unknown is None else f" with unknown {unknown!r}"
    raise ValueError(f"no conjugate model of {name}{asked}; there are: {known}")


def _family(likelihood: Any) -> str:
    if isinstance(likelihood, str):
        return likelihood
    family = type(likelihood) if isinstance(likelihood, Distribution) else likelihood
    return getattr(family, "__name__", repr(family))
