"""Results of model choice: models side by side, curves of scores, candidates for parameters."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import freeze
from tractable.value import set_fields, value


@value
class ModelComparison:
    """Models side by side: the value of `compare`.

    Parameters
    ----------
    names : tuple of str
        The models, in the order given.
    scores : array (n, m)
        The log predictive density of each row that was left out, under the models fitted without it.
    weights : array (n,)
        How often each of these rows counts.
    clusters : array (n,)
        Rows with the same number belong together; each its own without groups.
    log_evidence, aic, bic, loo : array (m,)
        Of the fits to all rows, where a model has them: the log marginal likelihood, the criteria of Akaike
        and Schwarz, and the mean leave-one-out log density in closed form; NaN elsewhere.
    seconds : array (m,)
        Time of the fits of each model.
    models : tuple of estimators
        Fitted to all rows; empty where only the scores were asked for.
    """

    names: tuple[str, ...]
    scores: np.ndarray
    weights: np.ndarray
    clusters: np.ndarray
    log_evidence: np.ndarray
    aic: np.ndarray
    bic: np.ndarray
    loo: np.ndarray
    seconds: np.ndarray
    models: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        set_fields(self, scores=freeze(self.scores), weights=freeze(self.weights))

    @property
    def means(self) -> np.ndarray:
        """The mean log predictive density of a row, (m,), in nats."""
        return np.average(self.scores, weights=self.weights, axis=0)

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard errors of the means, (m,)."""
        return self._errors(self.scores)

    @property
    def differences(self) -> np.ndarray:
        """The mean of each model less that of the best, (m,)."""
        with np.errstate(invalid="ignore"):
            return self.means - self.means[self._order[0]]

    @property
    def difference_errors(self) -> np.ndarray:
        """Standard errors of the differences, (m,), from those of the same rows; NaN where not finite."""
        with np.errstate(invalid="ignore"):
            return self._errors(self.scores - self.scores[:, self._order[:1]])

    @property
    def ranking(self) -> tuple[str, ...]:
        """The names, the best first."""
        return tuple(self.names[i] for i in self._order)

    @property
    def best(self) -> str:
        """The name of the model with the greatest mean log predictive density."""
        return self.ranking[0]

    @property
    def best_model(self) -> Any:
        """The best model, fitted to all rows."""
        if not self.models:
            raise ValueError("models were not fitted to all rows: compare with criteria=True")
        return self.models[self._order[0]]

    @property
    def as_good(self) -> tuple[str, ...]:
        """The models within two standard errors of the best, which the rows cannot tell apart from it."""
        gap, error = self.differences, np.nan_to_num(self.difference_errors)
        return tuple(self.names[i] for i in self._order if gap[i] >= -2.0 * error[i])

    def to_frame(self) -> Any:
        """Return a pandas frame with a row for each model, the best first."""
        import pandas as pd

        columns = {
            "log_score": self.means,
            "standard_error": self.standard_errors,
            "difference": self.differences,
            "difference_error": self.difference_errors,
            "log_evidence": self.log_evidence,
            "aic": self.aic,
            "bic": self.bic,
            "loo": self.loo,
            "seconds": self.seconds,
        }
        frame = pd.DataFrame(columns, index=pd.Index(self.names, name="model"))
        return frame.iloc[self._order]

    def __str__(self) -> str:
        criteria = {"evidence": self.log_evidence, "AIC": self.aic, "BIC": self.bic, "LOO": self.loo}
        shown = {name: x for name, x in criteria.items() if np.isfinite(x).any()}
        head = ["model", "log score", "difference", *shown]
        lines = [head]
        for i in self._order:
            less = (
                "" if i == self._order[0] else f"{self.differences[i]:.3f} ± {self.difference_errors[i]:.3f}"
            )
            line = [self.names[i], f"{self.means[i]:.3f} ± {self.standard_errors[i]:.3f}", less]
            line += [_written(name, x[i]) for name, x in shown.items()]
            lines.append(line)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        texts = [
            "  ".join([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])]).rstrip()
            for line in lines
        ]
        tied = [name for name in self.as_good if name != self.best]
        end = (
            f"as good as the best, within two standard errors: {', '.join(tied)}"
            if tied
            else f"best: {self.best}"
        )
        return "\n".join([*texts, end])

    def __repr__(self) -> str:
        return str(self)

    @property
    def _order(self) -> np.ndarray:
        return np.argsort(-self.means, kind="stable")

    def _errors(self, x: np.ndarray) -> np.ndarray:
        """Standard errors of weighted means over rows, of which those of a cluster go together."""
        finite = np.isfinite(x).all(axis=0)
        x = np.where(finite, x, 0.0)
        total = self.weights.sum()
        away = (x - np.average(x, weights=self.weights, axis=0)) * self.weights[:, None]
        n_clusters = int(self.clusters.max()) + 1
        if n_clusters < len(x):
            away = np.stack(
                [np.bincount(self.clusters, column, minlength=n_clusters) for column in away.T], axis=1
            )
        n = max(2, n_clusters)
        return np.where(finite, np.sqrt(np.sum(away**2, axis=0) * n / (n - 1)) / total, np.nan)


def _written(name: str, x: float) -> str:
    return "" if not np.isfinite(x) else f"{x:.3f}" if name == "LOO" else f"{x:.1f}"


@value
class ScoreCurve:
    """Scores of training rows and of rows left out, over the number of rows or a parameter.

    Parameters
    ----------
    label : str
        What varies.
    values : array (k,)
        Its values.
    train, test : array (k, f)
        The scores of the training rows and of the rows left out, of each fold.
    """

    label: str
    values: np.ndarray
    train: np.ndarray
    test: np.ndarray

    def __post_init__(self) -> None:
        set_fields(self, **{k: freeze(np.asarray(getattr(self, k))) for k in ("values", "train", "test")})

    @property
    def best(self) -> Any:
        """The value with the greatest mean score of rows left out."""
        return self.values[int(np.nanargmax(self.test.mean(axis=1)))]

    def __str__(self) -> str:
        lines = [f"{self.label:>16}  {'train':>18}  {'left out':>18}"]
        for x, a, b in zip(self.values, self.train, self.test, strict=True):
            cells = [f"{s.mean():.4g} ± {s.std(ddof=1) / np.sqrt(len(s)):.2g}" for s in (a, b)]
            shown = f"{x:.4g}" if isinstance(x, (int, float, np.number)) else str(x)
            lines.append(f"{shown:>16}  {cells[0]:>18}  {cells[1]:>18}")
        return "\n".join(lines)


@value
class ParameterChoice:
    """Candidates for the parameters of a model and their scores: the value of `choose_parameters`.

    Parameters
    ----------
    by : {"cv", "evidence"}
        What the scores are: the mean held-out log predictive density of a row, or the log evidence.
    candidates : tuple of dict
        Parameters that were tried.
    scores : array (k,)
        The greater, the better.
    standard_errors : array (k,)
        Over folds; NaN of evidence.
    best_model : estimator
        With the best parameters, fitted to all rows.
    """

    by: str
    candidates: tuple[dict[str, Any], ...]
    scores: np.ndarray
    standard_errors: np.ndarray
    best_model: Any

    @property
    def best(self) -> dict[str, Any]:
        """The parameters with the greatest score."""
        return self.candidates[int(np.nanargmax(self.scores))]

    def to_frame(self) -> Any:
        """Return a pandas frame of the candidates, the best first."""
        import pandas as pd

        frame = pd.DataFrame(list(self.candidates))
        frame["score"], frame["standard_error"] = self.scores, self.standard_errors
        return frame.sort_values("score", ascending=False, kind="stable")

    def __str__(self) -> str:
        name = "log score" if self.by == "cv" else "log evidence"
        order = np.argsort(-np.nan_to_num(self.scores, nan=-np.inf), kind="stable")
        lines = [f"{self.scores[i]:.4f}  {self.candidates[i]}" for i in order]
        return "\n".join([name, *lines])
