"""The short table of the README: a dozen rows that tell, and the one where a rival is furthest ahead."""

import re

from benchmarks.figures import judged, times
from benchmarks.peers import rival
from benchmarks.targets import counted

#: Row, the peer it is shown against, and what is done.
TELLING = (
    ("linear_regression", "scikit-learn", "least squares, with the digits of a QR"),
    ("ridge_cv_tall", "scikit-learn", "ridge, fifty penalties judged by leave-one-out"),
    ("lasso_path", "celer", "lasso, a path of a hundred penalties"),
    ("gmm_full", "scikit-learn", "Gaussian mixture, ten iterations of EM"),
    ("kmeans_64", "faiss", "k-means, twenty iterations"),
    ("kde_1d", "scipy", "kernel density of one column"),
    ("mean_shift", "scikit-learn", "mean shift, from every row"),
    ("knn_3", "SciPy cKDTree", "ten nearest neighbours in 3 dimensions"),
    ("knn_64", "faiss", "ten nearest neighbours in 64 dimensions"),
    ("gaussian_nb_fit", "scikit-learn", "naive Bayes, the fit"),
    ("logistic_binary", "scikit-learn lbfgs", "logistic regression, with standard errors"),
    ("fold_moments", "np.cov", "mean and covariance in one pass"),
)


def front_table(known, today):
    """Return the table, in Markdown; what was not measured is said to be so."""
    lines = ["| what is done | against | times faster | target |", "|---|---|---|---|"]
    lines += [_line(known, *told) for told in (*TELLING, *_behind(known, today))]
    lines += [
        "",
        f"Medians of interleaved pairs, with their range{_where(known)}.",
        counted(known, today),
        "[The benchmark page](docs/benchmarks.md) has every row, and where the peers are better.",
    ]
    return "\n".join(lines) + "\n"


def _where(known):
    cpus = sorted({f"{each['usable_cores']} cores of an {_processor(each)}" for each in known["machines"]})
    dates = sorted(row["measured"][:10] for row in known["rows"].values())
    return f", on {' or '.join(cpus)}, {dates[-1]}" if dates else ""


def _processor(machine):
    """Return the name of a processor without trademarks and clock rate: Intel Xeon."""
    return re.sub(r"\((R|TM)\)| Processor| @.*", "", machine["cpu"]).strip()


def _line(known, name, peer, words):
    row = known["rows"].get(name)
    duel = row and next((duel for duel in row["duels"] if duel["peer"] == peer), None)
    figures = " not measured | " if duel is None or row["problem"] else f" {times(duel)} | {judged(duel)} "
    return f"| {words} (`{name}`) | {peer} |{figures}|"


def _behind(known, today):
    """Return the row where a rival is furthest ahead, unless it is there already, or no row is measured."""
    rivals = [
        (duel["ratio"], name, duel["peer"])
        for name, row in known["rows"].items()
        for duel in row["duels"]
        if duel["ratio"] and duel["target"] and rival(duel["peer"])  # a row on digits has no target of time
    ]
    if not rivals:
        return []
    _, name, peer = min(rivals)
    there = any((name, peer) == told[:2] for told in TELLING)
    return [] if there else [(name, peer, today[name].shows.removesuffix("."))]
