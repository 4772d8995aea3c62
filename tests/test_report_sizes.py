"""Numbers whose squares a computer has no number for: such columns are left out of models, and it is said."""

import numpy as np
import pandas as pd
import pytest

from quick import some
from tractable.report import clusters, models, outliers, table_of
from tractable.report import map as row_map
from tractable.report.held_out import model_rows
from tractable.report.rows import chosen_rows


@pytest.fixture
def table(rng):
    x = rng.normal(size=(80, 3))
    frame = pd.DataFrame(x, columns=list("abc")).assign(
        huge=1e300 * rng.normal(size=80), tiny=1e-300 * rng.normal(size=80), y=x[:, 0] + rng.normal(size=80)
    )
    return table_of(frame)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("section", some([row_map, clusters, outliers, models]))
def test_the_rest_of_the_table_has_its_sections(table, section, rng):
    found = section.section(table, target="y", rng=rng)
    assert any("too large or too small: huge and tiny" in note for note in found.notes)
    assert found.pictures


def test_a_target_in_other_units_is_found_however_large_they_are(table):
    frame = table.frame.assign(copy=2e300 * table.frame["y"])
    with np.errstate(over="raise"):
        assert model_rows(table_of(frame), "y").copies == ("copy",)


def test_the_usual_columns_are_all_kept(table):
    assert chosen_rows(table).numbers == ("a", "b", "c", "y")


def test_columns_of_one_value_have_a_picture(rng):
    table = table_of(pd.DataFrame({"b": ["x", "y"] * 30}))
    with np.errstate(all="raise"):
        assert outliers.section(table, rng=rng).pictures
