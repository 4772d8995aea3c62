"""Draws of Markov chains, with what is known of every step, and their diagnostics."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from tractable.sampling.diagnostics import Diagnosis, diagnose
from tractable.value import replace, value


@value
class Chains:
    """Draws of Markov chains.

    Parameters
    ----------
    draws : mapping of str to array (n_chains, n_draws, ...)
        The draws of each variable; that of a target without names is "x".
    info : mapping of str to array (n_chains, n_draws)
        What steps say of themselves: "acceptance", "log_prob", "divergent" and so on.
    names : mapping of str to tuple of str, optional
        Names of the entries of variables that are vectors.
    n_warm_up : int
        Steps of each chain before the first draw, which are not kept.
    thin : int
        One in so many steps was kept.

    Examples
    --------
    >>> draws = np.random.default_rng(0).standard_normal((4, 1000, 2))
    >>> chains = Chains(draws={"x": draws}, names={"x": ("width", "height")})
    >>> chains.summary().loc["x[width]", ["sd", "r_hat"]].round(1).tolist()
    [1.0, 1.0]
    """

    draws: Mapping[str, np.ndarray]
    info: Mapping[str, np.ndarray] = None  # type: ignore[assignment]
    names: Mapping[str, Any] = None  # type: ignore[assignment]
    n_warm_up: int = 0
    thin: int = 1

    def __post_init__(self) -> None:
        if not self.draws:
            raise ValueError("draws must have at least one variable")
        shapes = {np.shape(x)[:2] for part in (self.draws, self.info or {}) for x in part.values()}
        if len(shapes) != 1 or len(next(iter(shapes))) != 2:
            raise ValueError(f"draws and info must be (n_chains, n_draws, ...) alike, got {sorted(shapes)}")
        for name in ("info", "names"):
            object.__setattr__(self, name, dict(getattr(self, name) or {}))
        object.__setattr__(self, "draws", {k: np.asarray(x) for k, x in self.draws.items()})

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(next(iter(self.draws.values())).shape[0])

    @property
    def n_draws(self) -> int:
        """Number of draws of each chain."""
        return int(next(iter(self.draws.values())).shape[1])

    def __getitem__(self, name: str) -> np.ndarray:
        """Return the draws of a variable, (n_chains, n_draws, ...)."""
        if name not in self.draws:
            raise KeyError(f"{name!r} is no variable of these chains: {', '.join(self.draws)}")
        return self.draws[name]

    def flat(self, name: str | None = None) -> np.ndarray:
        """Return the draws of all chains of a variable one after the other, (n_chains * n_draws, ...).

        The name may be left out where there is one variable.
        """
        if name is None:
            if len(self.draws) > 1:
                raise ValueError(f"name must be one of {[*self.draws]}")
            name = next(iter(self.draws))
        x = self[name]
        return x.reshape(-1, *x.shape[2:])

    @property
    def acceptance(self) -> float:
        """Mean probability with which proposals were accepted; NaN where steps do not say."""
        return float(np.mean(self.info["acceptance"])) if "acceptance" in self.info else np.nan

    @property
    def n_divergent(self) -> int:
        """Number of draws whose trajectory left the level of its energy: there the target is too curved."""
        return int(np.sum(self.info["divergent"])) if "divergent" in self.info else 0

    @cached_property
    def diagnoses(self) -> dict[str, Diagnosis]:
        """Diagnostics of every variable."""
        return {name: diagnose(x) for name, x in self.draws.items()}

    @property
    def ess(self) -> float:
        """The smallest effective sample size of any entry, bulk or tail."""
        return min(float(np.min([d.ess_bulk, d.ess_tail])) for d in self.diagnoses.values())

    def complaints(self) -> list[str]:
        """Return in words why the draws are not to be trusted; nothing where there is no sign of it."""
        found = [f"{k}: {line}" for k, d in self.diagnoses.items() for line in d.complaints(self.n_chains)]
        if self.n_divergent:
            found.append(
                f"{self.n_divergent} of {self.n_chains * self.n_draws} draws diverged: the chains do not "
                "enter the regions where the target is most curved; raise target_acceptance, or transform it"
            )
        return found

    def summary(self) -> Any:
        """Return a pandas frame: a row an entry, its mean, deviation, quantiles and diagnostics."""
        import pandas as pd

        parts = []
        for name in self.draws:
            d, flat = self.diagnoses[name], self.flat(name)
            low, middle, high = np.quantile(flat, (0.05, 0.5, 0.95), axis=0)
            columns = {
                "mean": d.mean, "sd": d.sd, "5%": low, "median": middle, "95%": high,
                "mcse_mean": d.mcse_mean, "ess_bulk": d.ess_bulk, "ess_tail": d.ess_tail, "r_hat": d.r_hat,
            }  # fmt: skip
            rows = self.entries(name)
            parts.append(pd.DataFrame({k: np.ravel(c) for k, c in columns.items()}, index=rows))
        return pd.concat(parts)

    def entries(self, name: str) -> list[str]:
        """Return the names of the entries of a variable, such as "x[0]"."""
        shape = self[name].shape[2:]
        if not shape:
            return [name]
        given = self.names.get(name)
        if given is not None:
            return [f"{name}[{one}]" for one in given]
        return [f"{name}[{', '.join(map(str, index))}]" for index in np.ndindex(shape)]

    def map(self, function: Callable[[dict[str, np.ndarray]], Mapping[str, Any]]) -> "Chains":
        """Return chains of other variables, computed from the draws (n_chains, n_draws, ...) of these.

        Examples
        --------
        >>> chains = Chains(draws={"log_scale": np.zeros((2, 5))})
        >>> chains.map(lambda x: {"scale": np.exp(x["log_scale"])})["scale"].shape
        (2, 5)
        """
        return replace(self, draws=dict(function(dict(self.draws))), names=None)

    def to_arviz(self) -> Any:
        """Return ArviZ's `InferenceData`, with the draws as the posterior and what is known of steps.

        ArviZ is needed: ``pip install tractable[mcmc]``.
        """
        try:
            import warnings

            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                import arviz
        except ImportError as error:
            raise ImportError("to_arviz needs ArviZ: pip install tractable[mcmc]") from error
        called = {"log_prob": "lp", "acceptance": "acceptance_rate", "divergent": "diverging"}
        coords = {f"{k}_entry": list(v) for k, v in self.names.items()}
        return arviz.from_dict(
            posterior=dict(self.draws),
            sample_stats={called.get(k, k): x for k, x in self.info.items()} or None,
            coords=coords or None,
            dims={k: [f"{k}_entry"] for k in self.names} or None,
        )
