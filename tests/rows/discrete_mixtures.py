"""Mixtures over categories, yes-or-no and the columns of tables."""

from rows.row import Row
from tractable.mixture import BernoulliMixture, CategoricalMixture, TableMixture

SHUFFLED = "random start: the check shuffles the rows, and the start depends on their order"
EXEMPT = {
    "check_sample_weight_equivalence_on_dense_data": SHUFFLED,
}

FRACTIONS = {
    "check_sample_weight_equivalence_on_dense_data": "the check gives fractions, whatever the tags say"
}

ROWS = [
    Row("BernoulliMixture", BernoulliMixture),
    Row(
        "BernoulliMixture-3",
        lambda: BernoulliMixture(3, binarize=2.0, random_state=0),
        {"extreme_scales_change_units_alone": "a threshold other than zero has the units of the columns"},
    ),
    Row("CategoricalMixture", CategoricalMixture, FRACTIONS),
    Row("CategoricalMixture-2", lambda: CategoricalMixture(2, alpha=0.5, random_state=0), FRACTIONS),
    Row("TableMixture", TableMixture),
    Row("TableMixture-3", lambda: TableMixture(3, n_init=2, random_state=0), EXEMPT),
]
