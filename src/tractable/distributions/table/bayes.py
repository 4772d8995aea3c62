"""Bayes' rule, of tables and of arrays."""

from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.log_space import softmax
from tractable.arrays.namespace import namespace_of
from tractable.distributions.checks import check_nonnegative, check_probabilities, exactly_one
from tractable.distributions.probabilities import log_or_minus_inf
from tractable.distributions.table.table import ProbabilityTable, axis_names


def bayes_rule(prior: Any, likelihood: Any = None, *, log_likelihood: Any = None) -> Any:
    """Return the posterior p(y | x) = p(x | y) p(y) / Σ_y p(x | y) p(y), of tables or of arrays.

    Parameters
    ----------
    prior : ProbabilityTable or array (*batch, K)
        p(y).
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
    p = as_reals("prior", prior)
    check_probabilities("prior", p)
    x = as_reals(name, given, p)
    xp = namespace_of(p)
    if name == "likelihood":
        check_nonnegative(name, x)
        joint = p * x
        evidence = xp.sum(joint, axis=-1, keepdims=True)
        _check_evidence(name, xp.all(evidence > 0))
        return joint / evidence
    if bool(xp.any(xp.isnan(x))) or bool(xp.any(x == xp.inf)):
        raise ValueError("log_likelihood must be numbers or -inf, got NaN or inf")
    log_joint = log_or_minus_inf(p) + x
    _check_evidence(name, xp.all(xp.max(log_joint, axis=-1) > -xp.inf))
    return softmax(log_joint)


def _check_evidence(name: str, positive: Any) -> None:
    if not bool(positive):
        raise ValueError(f"{name} must be positive for a hypothesis of positive prior probability")
