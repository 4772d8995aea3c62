"""The columns of tables: their types in and out, what they may not hold, and very many categories."""

import datetime as dt
import tracemalloc
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tractable
from rows.discrete_mixtures import KINDS, expected, frame, table, table_steps
from tractable.value import parameters, replace


@pytest.fixture(params=["pandas", "polars"])
def any_frame(request):
    return frame() if request.param == "pandas" else pl.from_pandas(frame())


def fitted(X, **options):
    return tractable.TableMixture(3, kinds={"visits": "poisson"}, random_state=0, **options).fit(X)


def of_types():
    x, rng = frame(), np.random.default_rng(0)
    return pd.DataFrame({
        "size": x["size"],
        "visits": x["visits"].astype("Int64"),
        "grade": pd.Categorical(x["class"], categories=["low", "mid", "high", "never"], ordered=True),
        "member": x["member"],
        "word": pd.Series(rng.choice(["b", "a"], len(x)), dtype="string"),
    })  # fmt: skip


def _types(X):
    return dict(zip(X.schema.names, X.schema.types, strict=True)) if isinstance(X, pa.Table) else X.schema


def polars_types():
    found = pl.from_pandas(of_types())
    return found.with_columns(
        found["grade"].cast(pl.String).cast(pl.Enum(["low", "mid", "high", "never"])),
        found["word"].cast(pl.Categorical),
    )


@pytest.mark.parametrize(
    "make", [of_types, polars_types, lambda: pa.Table.from_pandas(of_types(), preserve_index=False)]
)
def test_what_comes_out_has_the_types_of_what_went_in(make):
    X = make()
    model = tractable.TableMixture(3, kinds={"visits": "poisson"}, random_state=0).fit(X)
    assert model.categories_["grade"] == ("low", "mid", "high", "never")
    drawn, _ = model.sample(30, random_state=0)
    full = model.impute(X)
    several = model.impute(X, 2, random_state=0)
    for made in (drawn, full, *several):
        assert type(made) is type(X)
        if isinstance(X, pd.DataFrame):
            pd.testing.assert_series_equal(made.dtypes, X.dtypes)
            assert not made.isna().any().any()
        else:
            assert _types(made) == _types(X)
        assert np.all(np.isfinite(model.score_samples(made)))
    if isinstance(X, pa.Table):
        assert all(column.null_count == 0 for column in full.columns)


def test_holes_of_whole_numbers_are_filled_with_means_as_floats():
    x = frame()[["size", "visits"]].astype({"visits": "Int64"})
    for X in (x, pl.from_pandas(x), pa.Table.from_pandas(x, preserve_index=False)):
        full = tractable.TableMixture(3, random_state=0).fit(X).impute(X)
        assert type(full) is type(X)
        visits = np.asarray(full["visits"], dtype=float)
        assert not np.all(visits == np.floor(visits))


IMPOSSIBLE = [
    ("poisson", -1.0, "Negative values"),
    ("poisson", 0.5, "whole"),
    ("bernoulli", 7.0, "zeros and ones"),
    ("bernoulli", 0.5, "whole"),
    ("categorical", 9.0, "no category 9"),
    ("categorical", -1.0, "Negative values"),
    ("categorical", 0.5, "whole"),
    ("normal", np.inf, "finite|infinity"),
]


@pytest.mark.parametrize(("kind", "entry", "named"), IMPOSSIBLE)
def test_what_no_row_can_hold_is_refused_where_it_is_asked(kind, entry, named):
    x = table(holes=0.0)
    model = tractable.TableMixture(3, kinds=KINDS, random_state=0).fit(x)
    j = KINDS.index(kind)
    row = x[:2].copy()
    row[1, j] = entry
    asks = (
        model.predict_proba,
        model.score_samples,
        model.impute,
        model.summarize,
        lambda r: model.condition({j: r[1, j]}),
    )
    for ask in asks:
        with pytest.raises(ValueError, match=named):
            ask(row)
    if kind != "normal":
        with pytest.raises(ValueError, match=named):
            model.score([row[:1], row[1:]])


def test_a_column_is_given_once(any_frame):
    model = fitted(any_frame)
    with pytest.raises(ValueError, match="dims gives the column 'member' twice"):
        model.condition({"member": True, 3: False})
    with pytest.raises(ValueError, match="kinds names the column 3 twice"):
        tractable.TableMixture(kinds={"member": "bernoulli", 3: "normal"}).fit(any_frame)


def test_columns_of_named_frames_are_named(any_frame):
    with pytest.raises(ValueError, match="whole numbers in the column 'price'"):
        tractable.TableMixture(kinds={"price": "poisson"}).fit(any_frame)
    with pytest.raises(ValueError, match="no observed value in the columns \\['size'\\]"):
        tractable.TableMixture(kinds={"size": "poisson"}).fit(frame().assign(size=np.nan))


DAY = dt.date(2020, 1, 1)
DATES = [
    pd.date_range("2020", periods=150),
    pd.Series([DAY] * 150, dtype=object),
    pd.Series([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * 150, dtype=object),
    pd.period_range("2020", periods=150),
    pd.timedelta_range(0, periods=150),
    pd.array([DAY] * 150, dtype=pd.ArrowDtype(pa.date32())),
    pd.array([dt.time(12)] * 150, dtype=pd.ArrowDtype(pa.time64("us"))),
]


@pytest.mark.parametrize("dates", DATES, ids=lambda d: str(d.dtype))
def test_dates_have_one_answer(dates):
    X = frame().assign(day=dates)
    frames = (
        [X] if isinstance(dates.dtype, pd.PeriodDtype) else [X, pa.Table.from_pandas(X), pl.from_pandas(X)]
    )
    for each in frames:
        with pytest.raises(ValueError, match="column 'day' holds dates or times: give a number"):
            tractable.TableMixture().fit(each)
        with pytest.raises(ValueError, match="'day' must be numbers"):
            tractable.TableMixture(kinds={"day": "normal"}).fit(each)
    few = X[:20].assign(day=X["day"][:1].repeat(20).to_numpy())
    told = tractable.TableMixture(kinds={"day": "categorical"}).fit(few)
    assert len(told.categories_["day"]) == 1


def test_decimals_are_numbers():
    price = [Decimal("1.25"), Decimal("2.50"), None, Decimal("3.75")] * 10
    X = pd.DataFrame({"price": pd.Series(price, dtype=object)})
    same = tractable.TableMixture().fit(X.astype(float))
    for each in (X, pa.Table.from_pandas(X), pl.from_pandas(X)):
        model = tractable.TableMixture().fit(each)
        assert model.kinds_ == {"price": "normal"}
        np.testing.assert_allclose(model.score_samples(each), same.score_samples(X.astype(float)))
        full = np.asarray(model.impute(each)["price"], dtype=float)
        np.testing.assert_allclose(full[2], 2.5)
        assert len(model.sample(5, random_state=0)[0]) == 5


@pytest.mark.parametrize("odd", [[1, 2], {"a": 1}, 1j, object()])
def test_what_is_neither_number_nor_category_is_named(odd):
    X = frame().assign(odd=pd.Series([odd] * 150, dtype=object))
    with pytest.raises(ValueError, match="'odd'"):
        tractable.TableMixture().fit(X)
    if isinstance(odd, (list, dict)):
        with pytest.raises(ValueError, match="'odd'"):
            tractable.TableMixture(kinds={"odd": "categorical"}).fit(X)
        plain = tractable.TableMixture().fit(frame())
        with pytest.raises(ValueError, match="'class'"):
            plain.predict(frame().assign(**{"class": X["odd"]}))


def test_categories_that_a_fold_lacks_may_be_taken_as_missing(any_frame):
    most = any_frame[:140] if isinstance(any_frame, pd.DataFrame) else any_frame.head(140)
    odd = frame().assign(**{"class": ["huge"] * 75 + frame()["class"].tolist()[75:]})
    holes = frame().assign(**{"class": [None] * 75 + frame()["class"].tolist()[75:]})
    with pytest.raises(ValueError, match=r'no category .huge.*CategoricalDtype.*unseen="missing"'):
        fitted(most).score_samples(odd)
    model = fitted(most, unseen="missing")
    with pytest.warns(UserWarning, match="'class'.*'huge'.*taken as missing"):
        found = model.score_samples(odd)
    np.testing.assert_array_equal(found, model.score_samples(holes))
    with pytest.raises(ValueError, match="unseen"):
        fitted(most, unseen="ignore")


def test_codes_that_a_fold_lacks_may_be_taken_as_missing():
    x = table(holes=0.0)
    model = tractable.TableMixture(3, kinds=KINDS, random_state=0, unseen="missing").fit(x)
    odd, hole = x[:3].copy(), x[:3].copy()
    odd[1, 2], hole[1, 2] = 5.0, np.nan
    for ask in (model.score_samples, model.predict_proba):
        with pytest.warns(UserWarning, match="taken as missing"):
            found = ask(odd)
        np.testing.assert_array_equal(found, ask(hole))
    with pytest.raises(ValueError, match="no category 5"):
        model.condition({2: 5})


def test_categories_without_rows_change_no_sums():
    """A column that declares hundreds of categories has the sums of one that declares those seen."""
    x = table(400, holes=0.1)
    narrow = table_steps(x)
    params = narrow.initial(np.random.default_rng(0))
    encoding = replace(narrow.encoding, sizes=np.array([301]))
    wide = replace(narrow, encoding=encoding)
    more = replace(params, probabilities=np.hstack([params.probabilities, np.zeros((3, 298))]))
    a, b = expected(narrow, params), expected(wide, more)
    *parts, categories = a.parts
    *others, more_categories = b.parts
    assert len(parts) == 3  # of the normal columns, of counts, and of zeros and ones
    sums = [(a.weight, b.weight), (a.log_likelihood, b.log_likelihood)]
    for one, other in zip(parts, others, strict=True):
        sums += [(x, getattr(other, name)) for name, x in parameters(one).items()]
    for x, y in sums:
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(categories.counts, more_categories.counts[:, :3], rtol=1e-10)
    assert np.all(more_categories.counts[:, 3:] == 0.0)


def test_a_column_of_many_categories_takes_little_memory():
    rng, n, size = np.random.default_rng(0), 4_000, 10_000
    group = rng.integers(0, 2, n)
    X = pd.DataFrame({
        "id": [f"u{i}" for i in rng.integers(0, size, n)],
        "x": rng.normal(4.0 * group, 1.0),
    })  # fmt: skip
    X.loc[::20, "id"] = None

    def work(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = tractable.TableMixture(2, random_state=0, max_iter=3).fit(X)
        model.impute(X)
        model.impute(X, 1, random_state=0)

    work(X)  # what is imported, or compiled, is not counted
    tracemalloc.start()
    work(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * size  # bytes: an eighth of one array of indicators


def test_too_many_categories_are_named():
    X = pd.DataFrame({"id": [f"u{i}" for i in range(65_537)]})
    with pytest.raises(ValueError, match="column 'id' has 65537 categories, more than 65536"):
        tractable.TableMixture().fit(X)
