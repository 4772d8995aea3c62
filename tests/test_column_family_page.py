"""The family of columns that the developer page adds: it obeys every law, and naive Bayes knows its name."""

import re
from pathlib import Path

import numpy as np
import pytest

from rows.columns import case, positive
from tractable import NaiveBayes
from tractable.columns import likelihoods, table
from tractable.testing import check_columns_family

PAGE = Path(__file__).parents[1] / "docs" / "developer" / "add_a_column_family.md"


@pytest.fixture
def exponential(monkeypatch):
    [code] = re.findall(r'```python\n(""".*?)```', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(code, names)
    monkeypatch.setitem(likelihoods.LIKELIHOODS, "exponential", "normal")
    monkeypatch.setitem(table.FAMILIES, ("exponential",), names["ExponentialColumns"])


@pytest.mark.usefixtures("exponential")
def test_the_family_of_the_page_obeys_every_law(rng):
    check_columns_family(case("exponential", draw=positive), rng)


@pytest.mark.usefixtures("exponential")
def test_naive_bayes_knows_the_family_of_the_page(rng):
    labels = rng.integers(0, 2, 400)
    x = rng.exponential(np.array([1.0, 5.0])[labels])[:, None]
    model = NaiveBayes("exponential", pseudocounts=0.0).fit(x, labels)
    rates = [len(own) / own.sum() for own in (x[labels == 0], x[labels == 1])]
    np.testing.assert_allclose(model.class_distributions_.parts[0].mean, np.divide(1.0, rates))
    with pytest.raises(ValueError, match="column 0, which is exponential"):
        model.fit(-x, labels)
