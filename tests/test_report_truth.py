"""What a report says is true of the table: rows by their numbers, groups that are apart, times, leaks."""

import numpy as np
import pandas as pd
import pytest

from quick import some
from tractable.report import folds, read_table, table_of, with_dates
from tractable.report.candidates import _near_classes, _near_numbers, is_skewed, regressors
from tractable.report.clusters import section as clusters
from tractable.report.dependence import pairs_of, reversals
from tractable.report.dependence import section as dependence
from tractable.report.fitted import encoder
from tractable.report.held_out import model_rows
from tractable.report.map import section as map_of_rows
from tractable.report.mixtures import extreme_rows
from tractable.report.models import _compared_models, leaking_columns
from tractable.report.models import section as models
from tractable.report.outliers import section as outliers
from tractable.report.overview import density_of
from tractable.report.overview import section as overview
from tractable.report.page import Section, number_text, summary_of
from tractable.report.rows import chosen_rows
from tractable.report.time_order import time_order
from tractable.value import replace


@pytest.mark.slow
def test_outliers_of_a_sample_have_the_numbers_of_the_table(rng):
    frame = pd.DataFrame(rng.normal(size=(3000, 3)), columns=list("abc"))
    strange = np.arange(0, 3000, 100)
    frame.loc[strange, "a"] = 40.0
    table = table_of(frame, max_rows=900)
    found = outliers(table, rng=rng)
    assert table.is_sample
    assert found.findings["n_outliers"] >= 3
    assert set(found.findings["positions"]) & set(strange.tolist())
    for row in found.tables[0].rows[:3]:
        assert frame["a"].iloc[int(row[0].replace(",", "")) - 1] == 40.0


def test_rare_categories_are_known_from_the_whole_table(rng):
    n = 60
    frame = pd.DataFrame({"x": rng.normal(size=n), "y": rng.normal(size=n), "c": rng.integers(1, 4, n)})
    frame.loc[7, ["x", "c"]] = [30.0, 9]  # the only row of its category is an outlier
    found = outliers(table_of(frame, kinds={"c": "category"}), rng=rng)
    assert found.findings["positions"][0] == 7


def test_expected_ranges_of_positive_skewed_columns_are_positive(rng):
    frame = pd.DataFrame({"price": np.exp(rng.normal(size=300)), "x": rng.normal(size=300)})
    frame.loc[5, "price"] = 3000.0
    found = outliers(table_of(frame), rng=rng)
    assert found.findings["positions"][0] == 5
    said = found.tables[0].rows[0][-1]
    low = float(said.split("expected ")[1].split(" to ")[0])
    assert low > 0.0


@pytest.mark.slow
def test_a_model_that_does_not_fit_calls_no_row_an_outlier(rng):
    # Many rows at a corner that no normal distribution has.
    x = rng.standard_t(1.2, size=(400, 3))
    found = outliers(table_of(pd.DataFrame(x, columns=list("abc"))), rng=rng)
    assert found.findings["n_outliers"] == 0 < found.findings["n_beyond"]
    assert found.meaning.startswith(
        ("No row is called an outlier", "How many rows are outliers is not known")
    )


def test_extreme_rows_are_few(rng):
    x = rng.normal(size=(500, 2))
    x[3, 1] = 100.0
    assert extreme_rows(x).nonzero()[0].tolist() == [3]
    assert not extreme_rows(rng.standard_t(1.0, size=(500, 1))).any()  # long tails, no extreme rows


def test_two_clouds_are_groups_and_a_curve_is_none(rng):
    clouds = np.r_[rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + np.array([8.0, 0.0])]
    found = clusters(table_of(pd.DataFrame(clouds, columns=["a", "b"])), rng=rng)
    assert found.findings["natural"]
    assert found.findings["n_clusters"] == 2
    assert f"found again in {found.findings['found_again']} of 20" in found.meaning
    t = rng.uniform(0.0, np.pi, 600)
    curve = np.c_[np.cos(t), np.sin(t)] + rng.normal(size=(600, 2)) * 0.05
    found = clusters(table_of(pd.DataFrame(curve, columns=["a", "b"])), rng=rng)
    assert not found.findings["natural"]
    assert found.findings["n_clusters"] == 1
    assert "no natural number of groups" in found.meaning


def test_columns_of_one_value_mostly_make_no_groups(rng):
    rain = np.where(rng.random(400) < 0.5, 0.0, rng.gamma(2.0, 3.0, 400))
    frame = pd.DataFrame({"rain": rain, "wind": rng.normal(size=400), "heat": rng.normal(size=400)})
    found = clusters(table_of(frame), rng=rng)
    assert not found.findings["natural"]
    assert any("rain" in note for note in found.notes)


def test_decades_of_a_series_are_no_groups(rng):
    years = np.arange(1900, 2000)
    level = np.repeat([0.0, 6.0], 50) + 0.3 * rng.normal(size=100)
    frame = pd.DataFrame(
        {"date": pd.to_datetime(years.astype(str)), "x": level, "y": 2.0 * level + rng.normal(size=100)}
    )
    found = clusters(table_of(frame), rng=rng)
    assert not found.findings["natural"]
    assert "stretches of date" in found.meaning


def seasonal(rng, n=1500):
    days = pd.date_range("2018-01-01", periods=n)
    y = 10.0 * (days.day_of_week >= 5) + 2.0 * (days.year - 2018) + rng.normal(size=n)
    return pd.DataFrame({"day": days, "noise": rng.normal(size=n), "sold": y})


@pytest.mark.slow
def test_dates_predict_by_trend_and_season(rng):
    frame = seasonal(rng, 700)
    table = with_dates(table_of(frame))
    assert {"day (year)", "day (weekday)"} <= set(table.names())
    assert table.column("day (weekday)").levels[0] == "Monday"
    year = table.frame["day (year)"]
    assert year.iloc[0] == 2018.0
    assert (np.diff(year) > 0.0).all()
    rows = model_rows(table, "sold")
    assert "day (weekday)" in rows.X.columns
    found = models(table_of(frame), target="sold", rng=rng)
    assert next(iter(found.findings["what_matters"])) == "day (weekday)"


@pytest.mark.slow
def test_rows_in_time_are_judged_by_stretches_of_it(rng):
    n = 300
    walk = np.cumsum(rng.normal(size=n))
    frame = pd.DataFrame({"year": np.arange(n) // 4 + 1900, "x": rng.normal(size=n), "y": walk})
    times = time_order(table_of(frame, kinds={"year": "number"}))
    assert times.column == "year"
    assert times.correlations["y"] > 0.8
    assert "x" not in times.correlations
    splits = folds(walk, classes=False, times=np.arange(n)[::-1])
    assert all(np.ptp(test) == len(test) - 1 for _, test in splits)
    found = models(table_of(frame), target="y", rng=rng)
    assert found.findings["in_time"] == "year"
    assert "Beware of time" in found.meaning


def test_rows_without_a_time_are_in_no_order(rng):
    frame = pd.DataFrame({"a": np.sort(rng.normal(size=100)), "b": rng.normal(size=100)})
    assert time_order(table_of(frame)) is None


def test_ordered_categories_stay_ordered():
    sizes = pd.Categorical(["mid", "low", "high", None] * 10, categories=["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"size": sizes, "education": [1.0, 2.0, 3.0, 4.0] * 10, "x": np.arange(40.0) ** 0.5})
    table = table_of(frame)
    assert table.column("size").levels == ("low", "mid", "high")
    assert table.column("education").levels == ("1", "2", "3", "4")  # and not "1.0"
    X = frame[["size"]]
    steps = encoder(X)(X)[:3]  # of mid, low, high: beyond low, beyond mid, missing
    assert steps[:, :2].tolist() == [[1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]


@pytest.mark.slow
def test_a_flexible_learner_is_compared(rng):
    assert "gradient boosting" in [one.name for one in regressors()]
    x = rng.uniform(-3.0, 3.0, size=(300, 2))
    y = np.where(x[:, 0] * x[:, 1] > 0.0, 5.0, -5.0) + rng.normal(size=300)  # no linear model can say that
    found = models(table_of(pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y})), target="y", rng=rng)
    assert found.findings["best"] in (
        "gradient boosting",
        "nearest-neighbour regression",
        "mixture of all columns",
    )


@pytest.mark.parametrize("kind", some(["classes", "number"]))
def test_a_column_that_tells_the_target_is_a_leak(kind, rng):
    n = 200
    y = rng.normal(size=n) if kind == "number" else np.where(rng.random(n) < 0.4, "yes", "no")
    told = np.exp(y) if kind == "number" else np.where(y == "yes", "paid", "open")
    frame = pd.DataFrame({"told": told, "other": rng.normal(size=n), "y": y})
    rows = model_rows(table_of(frame), "y")
    assert [name for name, _ in leaking_columns(rows)] == ["told"]
    found = models(table_of(frame), target="y", rng=rng)
    assert "Beware of a leak. told" in found.meaning


def test_reversals_compare_the_same_rows(rng):
    group = np.repeat(["a", "b", "c"], 40).astype(object)
    shift = np.repeat([0.0, 5.0, 10.0], 40)
    x = rng.normal(size=120) + shift
    y = -x + 2.0 * shift + 0.3 * rng.normal(size=120)
    group[::2] = None  # half of the rows are in no group
    table = table_of(pd.DataFrame({"x": x, "y": y, "g": group}))
    (one,) = reversals(table, pairs_of(table))
    mine = pd.notna(group)
    assert one.n == mine.sum()
    assert one.overall == pytest.approx(np.corrcoef(x[mine], y[mine])[0, 1])
    rest = pd.DataFrame({"x": x[mine], "y": y[mine]})
    rest -= rest.groupby(group[mine]).transform("mean")
    assert one.within == pytest.approx(rest.corr().iloc[0, 1])


@pytest.mark.parametrize("learn", [_near_numbers, _near_classes])
def test_neighbours_at_one_distance_do_not_depend_on_the_order_of_rows(learn, rng):
    n = 200
    X = pd.DataFrame(
        {
            "c": pd.Categorical(rng.integers(0, 3, n).astype(str)),
            "d": pd.Categorical(rng.integers(0, 2, n).astype(str)),
        }
    )
    y = rng.integers(0, 2, n) if learn is _near_classes else rng.normal(size=n)
    order = rng.permutation(n)
    new = X.head(12)
    a, b = learn(X, y)(new), learn(X.iloc[order], y[order])(new)
    read = (lambda d: d.probabilities) if learn is _near_classes else (lambda d: d.mean)
    np.testing.assert_allclose(read(a), read(b), rtol=1e-12)


def test_one_far_number_does_not_make_a_column_skewed(rng):
    x = rng.normal(size=200) + 20.0
    x[0] = 300.0
    assert not is_skewed(x)
    assert is_skewed(np.exp(rng.normal(size=200)))


def test_the_summary_has_five_findings_predictions_first():
    def of(key, meaning):
        return Section(key=key, title=key, done="", meaning=meaning, assumptions="", code="")

    sections = [of(key, f"About {key}. More.") for key in ("overview", "clusters", "map", "outliers")]
    sections.append(of("models", "It is right by 1.5. More.\nBeware of a leak. It is x. And more."))
    found = summary_of(sections)
    assert found[:2] == ("It is right by 1.5.", "Beware of a leak. It is x.")
    assert len(found) == 5
    assert summary_of([replace(section, headline="") for section in sections]) == found[1:2]


def test_the_numbers_of_rows_and_columns_are_no_finding(rng):
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60)})
    whole, holes = overview(table_of(frame), rng=rng), overview(table_of(frame.mask(frame > 1.5)), rng=rng)
    assert whole.meaning.startswith("60 rows; 2 columns of numbers.")
    assert summary_of([whole]) == ()
    assert summary_of([holes])[0].startswith("Entries are missing in ")


def test_columns_that_are_mostly_missing_are_named_in_one_note(rng):
    frame = pd.DataFrame({"x": rng.normal(size=80), "y": rng.normal(size=80), "c": ["a", "b"] * 40})
    frame = frame.assign(hole=frame["x"].where(frame.index < 12), gap=frame["c"].where(frame.index < 12))
    notes = chosen_rows(table_of(frame)).notes
    assert notes == ("Left out, since most of their entries are missing: hole and gap.",)


@pytest.mark.parametrize(
    ("x", "text"),
    [(0.0, "0"), (-0.00012, "-0.00012"), (1234567.0, "1,234,567"), (0.1 + 0.2, "0.3"), (99.999, "100")],
)
def test_numbers_have_one_format(x, text):
    assert number_text(x) == text


def captions(frame):
    found = overview(table_of(frame), rng=np.random.default_rng(0))
    return {picture.alt.split(" of ")[1].split(":")[0]: picture for picture in found.pictures}


def test_few_repeated_numbers_are_bars_and_zeros_of_skewed_ones_are_counted(rng):
    money = np.r_[np.zeros(7), np.exp(rng.normal(15.0, 2.0, 393))]
    drawn = captions(pd.DataFrame({"share": rng.choice([0.0, 4.5, 14.5, 24.5], 400), "money": money}))
    assert "4 different values" in drawn["share"].caption
    assert drawn["money"].caption.endswith("logarithmic axis without 7 that are 0")
    grades = np.r_[rng.choice(np.arange(12) + 0.25, 400), np.full(1200, 0.5)]
    said = captions(pd.DataFrame({"grade": grades}))["grade"].caption
    assert said.endswith("a bar for each of 13 values; 75% are 0.5, a bar that is cut off")


def test_heaps_of_equal_numbers_make_no_modes(rng):
    """As in the ages of houses: one decimal, and a limit that one row in twelve has."""
    x = np.minimum(np.round(rng.normal(80.0, 20.0, 500), 1), 100.0)
    at = np.linspace(20.0, 95.0, 300)
    height, _ = density_of(x, None, at)
    modes = np.sum((height[1:-1] > height[:-2]) & (height[1:-1] > height[2:]))
    assert np.mean(x == 100.0) > 0.08
    assert modes <= 3


def test_one_pair_of_columns_is_named(rng):
    x = rng.normal(size=80)
    related = pd.DataFrame({"x": x, "y": x + 0.3 * rng.normal(size=80)})
    found = dependence(table_of(related), target="y", rng=rng)
    assert found.meaning.startswith("x and y depend on each other by more than chance: strength 0.")
    assert found.done.startswith("The two columns were compared")
    assert len(found.tables) == 1
    found = dependence(table_of(related.assign(y=rng.normal(size=80))), rng=rng)
    assert found.meaning == "x and y do not depend on each other by more than chance would give."


def test_of_equal_rows_the_first_is_listed(rng):
    frame = pd.DataFrame({"a": rng.choice(["x", "y"], 300), "b": rng.choice(["u", "v"], 300)})
    frame.loc[[11, 17, 40], ["a", "b"]] = ["z", "w"]
    (grid,) = outliers(table_of(frame), rng=rng).tables
    assert grid.rows[0][0] == "12"
    assert not {"18", "41"} & {row[0] for row in grid.rows}
    assert grid.note.endswith("Of rows with the same entries the first is listed.")


def test_models_that_need_more_rows_are_named_in_one_note(rng):
    frame = pd.DataFrame({"x": rng.normal(size=30), "c": list("abcdefghij") * 3, "y": rng.normal(size=30)})
    rows = model_rows(table_of(frame), "y")
    splits = folds(rows.y, classes=False)
    _, notes = _compared_models(rows, None, splits)
    assert notes == [
        "Mixture of regressions left out: too few rows (30) for 2 columns, 10 with one for each category."
    ]


def test_a_map_of_two_columns_is_no_finding(rng):
    found = map_of_rows(table_of(pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])), rng=rng)
    assert found.meaning.startswith("The map shows both columns of numbers; its first direction holds ")
    assert summary_of([found]) == ()


def test_rows_of_rare_classes_have_the_colour_of_others(rng):
    classes = np.repeat([f"c{k}" for k in range(14)], 10)
    frame = pd.DataFrame({"a": rng.normal(size=140), "b": rng.normal(size=140), "y": classes})
    found = map_of_rows(table_of(frame), target="y", rng=rng)
    assert ">other<" in found.pictures[1].svg


@pytest.mark.parametrize("read", [table_of, read_table], ids=["frame", "file"])
def test_a_film_called_missing_is_not_missing(read, tmp_path):
    titles = [f"Film {k}" for k in range(300)]
    titles[7], titles[9] = "Missing", "?"
    numbers = [str(k % 50 / 4.0) for k in range(299)]
    frame = pd.DataFrame({"title": titles, "x": [*numbers, "missing"]})
    if read is read_table:
        frame.to_csv(tmp_path / "films.csv", index=False)
        frame = tmp_path / "films.csv"
    table = read(frame)
    assert table.column("title").n_missing == 1  # the question mark
    assert table.frame["title"][7] == "Missing"
    assert table.column("x").kind == "number"
    assert table.column("x").n_missing == 1


def test_the_user_has_the_last_word_on_kinds():
    frame = pd.DataFrame({"code": [1, 2, 3, 1] * 10, "id": range(40), "x": np.arange(40.0) ** 0.5})
    table = table_of(frame, kinds={"code": "number"}, ignore=["id"])
    assert table.column("code").kind == "number"
    assert "id" not in table.names()
    for options, said in (
        ({"kinds": {"code": "odd"}}, "kind: of 'code' must be one of"),
        ({"kinds": {"cod": "number"}}, "kind: no column 'cod'"),
        ({"ignore": ["ids"]}, "ignore: no column 'ids'"),
        ({"ignore": ["x"], "target": "x"}, "ignore: 'x' is the target"),
        ({"ignore": ["x", "id", "code"]}, "ignore: no column of the table is left"),
    ):
        with pytest.raises(ValueError, match=said):
            table_of(frame, **options)


def test_texts_that_are_named_like_times_give_no_order(rng):
    entries = [f"{year} quarter {k}" for year in range(2000, 2012) for k in range(1, 5)]
    frame = pd.DataFrame({"period": entries, "x": rng.normal(size=48)})
    assert time_order(table_of(frame)) is None


def test_entries_that_are_there_for_one_class_alone_are_leaks(rng):
    left = rng.random(200) < 0.6
    frame = pd.DataFrame(
        {
            "left": np.where(left, "yes", "no"),
            "reason": np.where(left, rng.choice(["price", "service"], 200), None),
            "age": rng.normal(40.0, 10.0, 200),
        }
    )
    rows = model_rows(table_of(frame, target="left"), "left")
    assert [name for name, share in leaking_columns(rows) if share == 1.0] == ["reason"]


@pytest.mark.slow
def test_columns_that_determine_the_target_are_warned_of(rng):
    x = rng.normal(size=(60, 2))
    frame = pd.DataFrame({"y": x[:, 0], "cents": 100.0 * x[:, 0] + 3.0, "z": x[:, 1]})
    found = models(table_of(frame, target="y"), target="y", rng=rng)
    assert "Beware of a leak. cents determines y, and is left out." in found.meaning
    assert found.findings["leaks"] == ["cents"]
