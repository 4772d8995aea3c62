"""What is wrong with a fit, in numbers and in sentences."""

import numpy as np

from tractable.value import value

__all__ = ["Diagnosis", "Finding"]


@value
class Finding:
    """One trouble that a linear fit can have, and whether it has it.

    Parameters
    ----------
    trouble : str
        "weak signal", "not linear" or "outliers".
    present : bool
    sentence : str
        What was found, in words.
    numbers : dict
        What it was told from.
    """

    trouble: str
    present: bool
    sentence: str
    numbers: dict[str, float]


@value
class Diagnosis:
    """What `diagnose` found about a fit; :func:`tractable.plot` draws the residuals.

    Parameters
    ----------
    findings : tuple of Finding
        About the signal, about curvature, about outliers, in this order.
    fitted, residuals : arrays (n,)
    leverage : array (n,)
        hᵢ, the weight of a row's target in its own prediction; they add up to the number of parameters.
    studentized : array (n,)
        Residuals in units of their standard error, each with the noise estimated without its own row: t
        distributed.
    cooks_distance : array (n,)
        How far all predictions move when a row is left out, in units of their uncertainty.
    outliers : array of int
        Rows that stick out or bend the fit, worst first.
    """

    findings: tuple[Finding, ...]
    fitted: np.ndarray
    residuals: np.ndarray
    leverage: np.ndarray
    studentized: np.ndarray
    cooks_distance: np.ndarray
    outliers: np.ndarray

    def __getitem__(self, trouble: str) -> Finding:
        """Return the finding about a trouble."""
        for finding in self.findings:
            if finding.trouble == trouble:
                return finding
        raise KeyError(trouble)

    @property
    def troubles(self) -> tuple[str, ...]:
        """The troubles that the fit has."""
        return tuple(finding.trouble for finding in self.findings if finding.present)

    def __str__(self) -> str:
        return "\n".join(finding.sentence for finding in self.findings)
