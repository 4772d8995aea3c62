"""A marginal given evidence in the network of an alarm system for patients."""

import warnings
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np

from benchmarks.row import Row, at_least
from tractable import BayesianNetwork, ProbabilityTable

EVIDENCE = {"HRBP": "HIGH", "CVP": "LOW", "BP": "LOW", "EXPCO2": "LOW"}
ASKED = ("HYPOVOLEMIA", "LVFAILURE", "CATECHOL", "INTUBATION", "KINKEDTUBE")


def setup(size, folder):  # noqa: ARG001  (pgmpy carries the network)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what pgmpy imports
        from pgmpy.inference import VariableElimination
        from pgmpy.utils import get_example_model

        model = get_example_model("alarm")
    return SimpleNamespace(
        network=of_pgmpy(model), elimination=VariableElimination(model), asked=ASKED[:size]
    )


def of_pgmpy(model):
    """The same network here: their tables have the variable first, then its parents."""
    tables = []
    for cpd in model.cpds:
        cpd.normalize()  # the file has seven digits
        own, *above = cpd.variables
        levels = cpd.state_names
        tables.append(
            ProbabilityTable(
                probabilities=np.moveaxis(np.asarray(cpd.values, dtype=float), 0, -1),
                axes={own: levels[own]},
                given={name: levels[name] for name in above},
            )
        )
    return BayesianNetwork(tables=tables)


def ours(data):
    answers = {}
    for name in data.asked:  # each a question of its own: no sum is kept for the next
        found = data.network.condition(EVIDENCE).marginal(name)
        answers[name] = dict(zip(found.axes[0][1], found.probabilities, strict=True))
    return answers


def pgmpys(data):
    answers = {}
    for name in data.asked:
        found = data.elimination.query([name], evidence=EVIDENCE, show_progress=False)
        answers[name] = dict(zip(found.state_names[name], found.values, strict=True))
    return answers


def check(mine, theirs):
    for name, answer in theirs.items():
        for level, p in answer.items():
            np.testing.assert_allclose(mine[name][level], p, rtol=1e-9)


PEERS = {"pgmpy": pgmpys} if find_spec("pgmpy") else {}

ROW = Row(
    name="alarm_marginal",
    shows="Marginals of 5 variables of alarm (37 variables, 46 edges), each given 4 others.",
    setup=setup,
    size=5,
    dry_size=1,
    ours=ours,
    peers=PEERS,
    check=check,
    targets={"pgmpy": at_least(5.0)},
    limit="calls of einsum on small arrays; the order of the sums is kept for the variables observed.",
    absent=() if PEERS else ("pgmpy",),
)
