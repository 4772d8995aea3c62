"""The short table of the README: a dozen rows that tell, and the one where a rival is furthest ahead."""

from benchmarks.figures import judged, times
from benchmarks.peers import package_of

#: Row, and the peer it is shown against.
TELLING = (
    ("linear_regression", "scikit-learn"),
    ("ridge_cv_tall", "scikit-learn"),
    ("lasso_path", "celer"),
    ("gmm_full", "scikit-learn"),
    ("kmeans_64", "faiss"),
    ("kde_1d", "scipy"),
    ("mean_shift", "scikit-learn"),
    ("knn_3", "SciPy cKDTree"),
    ("knn_64", "faiss"),
    ("gaussian_nb_fit", "scikit-learn"),
    ("logistic_binary", "scikit-learn lbfgs"),
    ("fold_moments", "np.cov"),
)


def front_table(known):
    """Return the table, in Markdown; what was not measured is said to be so."""
    lines = ["| what is done | against | times faster | target |", "|---|---|---|---|"]
    lines += [_line(known, name, peer) for name, peer in (*TELLING, *_behind(known))]
    rows = known["rows"].values()
    counts = [duel["met"] for row in rows for duel in row["duels"]] + [row["memory_met"] for row in rows]
    met, missed = counts.count(True), counts.count(False)
    lines += [
        "",
        f"Of {met + missed} promises about time and memory, {met} are kept and {missed} are not.",
        "[The benchmark page](docs/benchmarks.md) has every row, and where the peers are better.",
    ]
    return "\n".join(lines) + "\n"


def _line(known, name, peer):
    row = known["rows"].get(name)
    duel = row and next((duel for duel in row["duels"] if duel["peer"] == peer), None)
    if duel is None or row["problem"]:
        return f"| `{name}` | {peer} | not measured | |"
    return f"| {row['shows']} | {peer} | {times(duel)} | {judged(duel)} |"


def _behind(known):
    """Return the row where a rival is furthest ahead, unless it is there already, or no row is measured."""
    rivals = [
        (duel["ratio"], name, duel["peer"])
        for name, row in known["rows"].items()
        for duel in row["duels"]
        if duel["ratio"] and package_of(duel["peer"])
    ]
    last = [min(rivals)[1:]] if rivals else []
    return [found for found in last if found not in TELLING]
