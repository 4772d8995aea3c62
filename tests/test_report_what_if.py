"""The panel of the page: its model and its rows, and the rows behind bars and clusters."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from tractable import GaussianMixture, TableMixture, datasets
from tractable.report import table_of, what_if
from tractable.report.clusters import section as clusters_section
from tractable.report.overview import section as overview


@pytest.fixture(scope="module")
def penguins():
    return datasets.load("penguins").frame


@pytest.fixture(scope="module")
def flowers():
    return datasets.load("iris").frame


@pytest.fixture(scope="module")
def table(flowers):
    return table_of(flowers)


def log_density(data, row):
    """log Σ_k π_k N(x | μ_k, Σ_k) Π_j p_kj of one row, as plainly as it can be written."""
    terms = []
    for k, weight in enumerate(data["weights"]):
        step = row[data["normal"]] - np.array(data["means"][k])
        covariance = np.array(data["covariances"][k])
        log = np.log(weight) - 0.5 * len(step) * np.log(2.0 * np.pi)
        if len(step):
            log += -0.5 * step @ np.linalg.solve(covariance, step) - 0.5 * np.linalg.slogdet(covariance)[1]
        log += sum(np.log(rows[k][int(row[int(j)])]) for j, rows in data["tables"].items())
        terms.append(log)
    return np.logaddexp.reduce(terms)


@pytest.mark.parametrize("covariance_type", ["full", "diag"])
def test_the_data_of_a_table_mixture_are_its_distribution(penguins, covariance_type):
    frame = penguins.assign(heavy=penguins["body_mass_g"] > 4200.0)
    model = TableMixture(3, covariance_type=covariance_type, random_state=0).fit(frame)
    data = json.loads(json.dumps(what_if.model_data(model)))
    rows = model.distribution_.sample(20, rng=0)
    expected = model.distribution_.log_prob(rows)
    found = [log_density(data, np.asarray(row)) for row in rows]
    assert model.kinds_["heavy"] == "bernoulli"
    assert np.allclose(found, expected, rtol=1e-11, atol=0.0)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_the_data_of_a_mixture_of_normals_are_its_distribution(covariance_type):
    frame = datasets.load("iris").frame.drop(columns="species")
    model = GaussianMixture(2, covariance_type=covariance_type, random_state=0).fit(frame)
    rows = frame.to_numpy()[:20]
    found = [log_density(what_if.model_data(model), row) for row in rows]
    assert np.allclose(found, model.score_samples(frame[:20]), rtol=1e-11, atol=0.0)


def test_components_without_rows_and_other_families():
    frame = pd.DataFrame({"x": np.arange(40.0), "n": np.arange(40) % 4})
    with pytest.raises(ValueError, match="Poisson columns, as column 1"):
        what_if.model_data(TableMixture(1, kinds={"n": "poisson"}).fit(frame))


def test_the_section_is_of_all_columns_and_its_code_runs(table, flowers, rng, capsys):
    section = what_if.section(table, target="species", rng=rng)
    model = section.data["model"]
    names = [column["name"] for column in model["columns"]]
    assert set(names) == {column.name for column in table.columns}
    assert model["target"] == "species"
    assert len(model["weights"]) == section.findings["n_components"]
    assert model["columns"][-1]["levels"] == ["setosa", "versicolor", "virginica"]
    exec(section.code, {"frame": flowers})
    said = capsys.readouterr().out
    assert "setosa" in said


@pytest.mark.parametrize("columns", [["petal_width"], ["species"], ["petal_width", "species"]])
def test_few_columns(flowers, columns, rng, capsys):
    section = what_if.section(table_of(flowers[columns]), rng=rng)
    assert [column["name"] for column in section.data["model"]["columns"]] == columns
    exec(section.code, {"frame": flowers[columns]})
    assert capsys.readouterr().out


def test_too_few_rows_make_no_section(rng):
    assert what_if.section(table_of(pd.DataFrame({"x": [1.0, 2.0, 3.5]})), rng=rng) is None


def test_skewed_columns_are_asked_by_their_logarithms(rng):
    x = rng.normal(size=200)
    frame = pd.DataFrame({"price": np.exp(1.5 * x), "size": x + rng.normal(size=200)})
    columns = what_if.section(table_of(frame), rng=rng).data["model"]["columns"]
    price, size = columns
    assert (price["logged"], size["logged"]) == (True, False)
    assert 0.0 < price["low"] < price["high"]


@pytest.fixture(scope="module")
def two():
    """A table of two groups, with missing entries, dates and names."""
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=n) + 9.0 * (np.arange(n) % 2),
            "kind": ["left", "right"] * (n // 2),
            "when": pd.date_range("2024-01-01", periods=n),
            "ring": [f"N{i}" for i in range(n)],
        }
    )
    frame.loc[3, "x"] = np.nan
    frame.loc[5, "kind"] = None
    return table_of(frame)


def test_rows_of_the_page(two):
    data = what_if.rows_data(two)
    assert data["numbers"] == list(range(1, 61))
    by_name = {column["name"]: column for column in data["columns"]}
    x = np.array([np.nan if x is None else x for x in by_name["x"]["values"]])
    assert np.array_equal(x, two.frame["x"], equal_nan=True)
    assert by_name["kind"]["levels"] == ["left", "right"]
    assert by_name["kind"]["values"][4:8] == [0, None, 0, 1]
    assert by_name["when"]["values"][1] == "2024-01-02"
    assert by_name["ring"]["values"][7] == "N7"
    first, second = (set(by_name["cluster"]["values"][part]) for part in (slice(0, 60, 2), slice(1, 60, 2)))
    assert len(first) == len(second) == 1
    assert first != second
    json.dumps(data, allow_nan=False)


@pytest.mark.slow
def test_a_column_that_is_called_cluster_stays(two):
    data = what_if.rows_data(table_of(two.frame.rename(columns={"kind": "cluster"})))
    names = [column["name"] for column in data["columns"]]
    assert names.count("cluster") == 1
    assert "cluster of the rows" in names


def test_many_rows_are_sampled_within_the_size_of_a_page(rng, monkeypatch):
    frame = pd.DataFrame(rng.normal(size=(1_500, 30)), columns=[f"x{j}" for j in range(30)])
    monkeypatch.setattr(what_if, "MAX_BYTES", 200_000)
    monkeypatch.setattr(what_if, "fitted_mixtures", lambda *_: None)  # which takes seconds
    frame["words"] = [f"{'word ' * 40}{i}" for i in range(len(frame))]
    table = table_of(frame)
    data = what_if.rows_data(table)
    assert len(json.dumps(data)) < 1.1 * what_if.MAX_BYTES
    assert 100 < len(data["numbers"]) < len(frame)
    assert data["numbers"] == sorted(set(data["numbers"]))
    assert data["total"] == 1_500
    i = data["numbers"][5] - 1
    assert data["columns"][0]["values"][5] == frame["x0"].iloc[i]


def test_bars_of_the_pictures_stand_for_the_rows_they_are_drawn_from(table, flowers, rng):
    pictures = {picture.column: picture for picture in overview(table, rng=rng).pictures}
    for name, picture in pictures.items():
        assert len(re.findall(r'id="[0-9a-f]+-bar-\d+"', picture.svg)) == len(picture.bars)
        if name in table.numbers():
            low, high = np.array(picture.bars).T
            closed = (low == high) | (high == high.max())  # as the script of the page has it
            x = flowers[name].to_numpy()[:, None]
            assert (((x >= low) & ((x < high) | (closed & (x <= high)))).sum(axis=1) == 1).all()
        else:
            assert set(picture.bars) == set(flowers[name])


def test_few_numbers_are_bars_of_one_value_each(rng):
    frame = pd.DataFrame({"x": [0.5, 1.5, 2.5] * 20, "y": rng.normal(size=60)})
    picture = overview(table_of(frame), rng=rng).pictures[0]
    assert picture.bars == ((0.5, 0.5), (1.5, 1.5), (2.5, 2.5))


def test_the_table_of_clusters_has_those_of_the_rows(two, rng):
    grid = clusters_section(two, rng=rng).tables[0]
    clusters = what_if.rows_data(two)["columns"][-1]
    counts = np.bincount([code for code in clusters["values"] if code is not None])
    assert grid.first == "cluster"
    assert [row[0] for row in grid.rows] == clusters["levels"]
    assert [row[1] for row in grid.rows] == [str(n) for n in counts]
