"""Bayes' rule, of tables and of arrays."""

from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.log_space import softmax
from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.checks import check_probabilities, exactly_one
from tractable.distributions.probabilities import log_or_minus_inf
from tractable.distributions.table.factor import as_masses, is_exact
from tractable.distributions.table.table import ProbabilityTable, axis_names


def bayes_rule(prior: Any, likelihood: Any = None, *, log_likelihood: Any = None) -> Any:
    """Return the posterior p(y | x) = p(x | y) p(y) / Σ_y p(x | y) p(y), of tables or of arrays.

    Parameters
    ----------
    prior : ProbabilityTable or array (*batch, K)
        p(y); where prior and likelihood are fractions, so is the posterior.
    likelihood : ProbabilityTable or array (*batch, K)
        The table p(x | y), conditional on the variables of the prior, for which the posterior of all x is
        returned; or p(x | y) of what was observed, for each of the K hypotheses.
    log_likelihood : array (*batch, K), optional
        Its logarithm in place of it, which may be below what exp can represent.

    Returns
    -------
    ProbabilityTable or array (*batch, K)

    Examples
    --------
    >>> import numpy as np
    >>> bayes_rule([0.2, 0.8], [0.5, 0.1]).round(4)
    array([0.5556, 0.4444])
    >>> bayes_rule([0.2, 0.8], log_likelihood=np.log([0.5, 0.1]) - 1000.0).round(4)
    array([0.5556, 0.4444])
    """
    name, given = exactly_one(likelihood=likelihood, log_likelihood=log_likelihood)
    if isinstance(prior, ProbabilityTable) or isinstance(given, ProbabilityTable):
        if not (isinstance(prior, ProbabilityTable) and isinstance(given, ProbabilityTable)):
            raise ValueError("prior and likelihood must be both tables or both arrays")
        if not set(prior.names) <= axis_names(given.given):
            raise ValueError(f"likelihood must be conditional on {', '.join(prior.names)}, as p(x | y) is")
        return (prior * given).conditional(given.names)
    p = as_masses("prior", prior)
    if name == "likelihood":
        x = as_masses(name, given)
        if is_exact(p) and is_exact(x):
            return _exact(p, x)
        given = x.astype(np.float64) if is_exact(x) else x
    p = p.astype(np.float64) if is_exact(p) else p
    check_probabilities("prior", p)
    x = as_reals(name, given, p)
    _check_shapes(name, p, x)
    xp = namespace_of(p)
    if name == "likelihood":
        x = log_or_minus_inf(x)  # whose products with the prior neither overflow nor vanish
    if bool(xp.any(xp.isnan(x))) or bool(xp.any(x == xp.inf)):
        raise ValueError("log_likelihood must be numbers or -inf, got NaN or inf")
    log_joint = log_or_minus_inf(p) + x
    _check_evidence(name, xp.all(xp.max(log_joint, axis=-1) > -xp.inf))
    return softmax(log_joint)


def _exact(p: Array, x: Array) -> Array:
    """Return the posterior of fractions, in fractions."""
    _check_shapes("likelihood", p, x)
    if any(total != 1 for total in np.ravel(p.sum(axis=-1)).tolist()):
        raise ValueError("prior must be probabilities that add up to 1")
    joint = p * x
    evidence = joint.sum(axis=-1, keepdims=True)
    _check_evidence("likelihood", np.all(evidence > 0))
    return joint / evidence


def _check_shapes(name: str, p: Array, x: Array) -> None:
    if not p.ndim or not x.ndim or p.shape[-1] != x.shape[-1]:
        raise ValueError(
            f"prior and {name} must have the hypotheses on their last axes, "
            f"got shapes {tuple(p.shape)} and {tuple(x.shape)}"
        )


def _check_evidence(name: str, positive: Any) -> None:
    if not bool(positive):
        raise ValueError(f"{name} must be positive for a hypothesis of positive prior probability")
