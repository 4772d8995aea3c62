"""The joint distribution of the columns of a table, for questions and for missing entries."""

import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator, either_seed_name
from tractable.data.names import number_of
from tractable.data.text import TableError
from tractable.mixture import TableMixture
from tractable.report.candidates import skewed_columns
from tractable.report.rows import chosen_rows, listed
from tractable.report.table import FEW_CODES, MAX_CATEGORIES, Table
from tractable.value import value

#: Numbers of components that are tried, until two in turn are worse, and rows for each of them at least.
SIZES, ROWS_EACH = (1, 2, 3, 4, 6, 8, 12), 10

#: Rows that the choice is made on, at most.
MAX_ROWS = 3_000

#: With more numbers, or patterns of missing ones, than this, they are independent within a component.
MAX_JOINT, MAX_PATTERNS = 25, 60

#: Numbers with at most so many decimals are taken as rounded.
MAX_DECIMALS = 4


@value
class JointTable:
    """The columns of a table that have a joint distribution, and how they are read.

    Parameters
    ----------
    frame : pandas frame
        The columns, numbers and categories.
    codes : tuple of str
        The columns of whole numbers that are taken as categories.
    notes : tuple of str
        What was left out, and why.
    logged : tuple of str
        The columns that are logarithms.
    """

    frame: Any
    codes: tuple[str, ...]
    notes: tuple[str, ...]
    logged: tuple[str, ...] = ()


def joint_table(frame: Any, *, codes: bool = True) -> JointTable:
    """Return the columns of a pandas frame that a mixture can describe.

    Columns of dates, of texts that are nearly all different, of one value alone and without any are left out.

    Parameters
    ----------
    frame : pandas frame
        The table.
    codes : bool
        Whether whole numbers of few values are categories.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"x": [1.5, 2.5, None] * 5, "k": [1, 2, 1] * 5, "one": ["a"] * 15})
    >>> table = joint_table(frame)
    >>> list(table.frame.columns), table.codes, table.notes
    (['x', 'k'], ('k',), ('Left out, of one value alone: one.',))
    """
    import pandas as pd

    kept, coded = {}, []
    left: dict[str, list[Any]] = {}
    for name in frame.columns:
        why = _unusable(frame[name])
        if why:
            left.setdefault(why, []).append(name)
            continue
        kept[name] = frame[name]
        if frame[name].dtype.kind in "fiu":
            kept[name] = frame[name].where(np.isfinite(frame[name].astype(float)))
            if codes and _is_coded(kept[name].dropna()):
                coded.append(name)
                kept[name] = kept[name].astype("Int64").astype("category")
        elif frame[name].dtype.kind != "b":
            kept[name] = frame[name].astype("category")  # with categories that a part of the rows may lack
    if not kept:
        raise TableError("the table has no column of numbers or categories that vary")
    notes = tuple(f"Left out, {why}: {listed(names)}." for why, names in left.items())
    return JointTable(frame=pd.DataFrame(kept, index=frame.index), codes=tuple(coded), notes=notes)


def question_table(table: Table, *, logarithms: bool = True) -> JointTable:
    """Return the columns of a table that its joint model can be asked for.

    Columns that hold another's numbers in other units, or hardly any entry, are left out, and of very many
    those that have least in common with the others. The page of a report and ``tractable ask`` have the same
    columns, and so the same model.

    Parameters
    ----------
    table : Table
        As `table_of` and `read_table` give it.
    logarithms : bool
        Whether positive numbers that are skewed become their logarithms.

    Examples
    --------
    >>> import pandas as pd
    >>> from tractable.report import table_of
    >>> frame = pd.DataFrame({"inches": [1.0, 2.5, 3.0] * 5, "k": ["a", "b", "a"] * 5})
    >>> found = question_table(table_of(frame.assign(cm=2.54 * frame["inches"])))
    >>> list(found.frame.columns), found.notes
    (['inches', 'k'], ('Left out, since another column has the same numbers in other units: cm.',))
    """
    rows = chosen_rows(table)
    names = [column.name for column in table.columns if column.name in rows.frame.columns]
    if not names:
        raise TableError("the table has no column of numbers or categories that vary")
    frame = rows.frame[names].astype(table.category_types(names))
    skewed = skewed_columns(frame[list(rows.numbers)]) if logarithms else []
    logged = tuple(name for name in skewed if (table.column(name).low or 0.0) > 0.0)  # of all rows
    frame = frame.assign(**{name: np.log(frame[name]) for name in logged})
    return JointTable(frame=frame, codes=(), notes=rows.notes, logged=logged)


def _unusable(column: Any) -> str:
    """Return why a mixture cannot describe a column; an empty text if it can."""
    seen = column.dropna()
    if not len(seen):
        return "without an entry"
    try:
        distinct = seen.nunique()
    except TypeError:  # values that have no hash, such as lists
        return "neither numbers nor words"
    if distinct < 2:
        return "of one value alone"
    if column.dtype.kind in "iu" and seen.astype(np.float64).nunique() < distinct:
        return "of numbers with more digits than a float has"
    if column.dtype.kind in "fiub" or hasattr(column.dtype, "categories"):
        return ""
    return _unusable_texts(seen, distinct)


def _unusable_texts(seen: Any, distinct: int) -> str:
    if not isinstance(seen.iloc[0], (str, bool)):
        return "neither numbers nor words"
    return "texts of too many values" if distinct > min(MAX_CATEGORIES, max(2, len(seen) // 2)) else ""


def _is_coded(seen: Any) -> bool:
    """Return whether numbers are whole, of few values, and each of these is frequent."""
    x = seen.to_numpy(dtype=np.float64)
    few = seen.nunique() <= FEW_CODES and len(x) >= 5 * seen.nunique()
    return bool(few and (np.abs(x) < 2**53).all() and (x == np.floor(x)).all())


@either_seed_name
def joint_mixture(
    table: JointTable,
    *,
    sizes: Sequence[int] = SIZES,
    random_state: Any = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> TableMixture:
    """Return the mixture of all columns of the least BIC, over numbers of components and covariance types.

    Parameters
    ----------
    table : JointTable
        The columns, as `joint_table` and `question_table` give them.
    sizes : sequence of int
        Numbers of components to try.
    random_state : None, int or Generator
        The same seed gives the same model.
    progress : callable
        Called with a text that says what is being fitted.

    Examples
    --------
    >>> import tractable
    >>> model = joint_mixture(joint_table(tractable.datasets.load("old_faithful").frame))
    >>> model.n_components, model.condition({"eruptions": 4.5}).mean.round(0)
    (2, array([81.]))
    """
    frame = table.frame.dropna(how="all")
    if len(frame) < ROWS_EACH:
        raise TableError(f"a joint model needs {ROWS_EACH} rows with an entry, and there are {len(frame)}")
    part = frame if len(frame) <= MAX_ROWS else frame.sample(MAX_ROWS, random_state=0)
    seed = int(as_generator(random_state).integers(2**31))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # collapsed components are not chosen
        found = _mixtures(part, sizes, None, seed, progress)
        if any(np.isinf(bic) for bic, _ in found):  # as of a column with many equal entries
            found += _mixtures(part, sizes, "data", seed, progress)
        best = min(found, key=lambda one: one[0])[1]
        if part is frame:
            return best
        progress(f"fitting {number_of(best.n_components, 'component')} to {number_of(len(frame), 'row')}")
        return _refitted(best, frame)


def _mixtures(
    part: Any, sizes: Sequence[int], prior: str | None, seed: int, progress: Callable[[str], None]
) -> list[tuple[float, TableMixture]]:
    """Return mixtures with their BIC, infinite where a component collapsed on one value."""
    found: list[tuple[float, TableMixture]] = []
    options: Any = {"covariance_prior": prior, "random_state": seed, "unseen": "missing"}
    for shape in _shapes(part):
        of_shape: list[float] = []
        for k in sizes:
            if k > 1 and len(part) < k * ROWS_EACH:
                break
            progress(f"fitting a mixture of {number_of(k, 'component')} to {number_of(len(part), 'row')}")
            model = TableMixture(k, covariance_type=shape, **options).fit(part)
            of_shape.append(np.inf if k > 1 and model.collapsed_.any() else model.bic(part))
            found.append((of_shape[-1], model))
            if len(of_shape) > 2 and min(of_shape[-2:]) > min(of_shape[:-2]):
                break
    return found


def _shapes(part: Any) -> tuple[str, ...]:
    numbers = part[[name for name in part.columns if part[name].dtype.kind in "fiu"]]
    few = 1 < numbers.shape[1] <= MAX_JOINT and len(numbers.isna().drop_duplicates()) <= MAX_PATTERNS
    return ("full", "diag") if few else ("diag",)


@either_seed_name
def completed_frames(
    frame: Any,
    n_draws: int = 5,
    *,
    random_state: Any = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[list[Any], JointTable]:
    """Return a pandas frame with its missing entries drawn from the joint model, several times.

    Multiple imputation: each draw is from a mixture fitted to rows that are weighted at random (the Bayesian
    bootstrap, Rubin 1981), so that the draws differ by what is not known of the model as well as by what is
    not known of the entries. Results are pooled by Rubin's rules. Numbers are
    rounded as those of their column are, and not negative where no entry of it is.

    Parameters
    ----------
    frame : pandas frame
        The table. Columns that `joint_table` leaves out keep their missing entries.
    n_draws : int
        Number of completed tables.
    random_state : None, int or Generator
        The same seed gives the same tables.
    progress : callable
        Called with a text that says what is being done.

    Returns
    -------
    frames : list of frames
        Like the given one.
    table : JointTable
        What the model is of.

    Examples
    --------
    >>> import tractable
    >>> penguins = tractable.datasets.load("penguins").frame
    >>> draws, _ = completed_frames(penguins[["body_mass_g", "sex"]], 2)
    >>> int(penguins["sex"].isna().sum()), [int(d["sex"].isna().sum()) for d in draws]
    (11, [0, 0])
    """
    table, rng = joint_table(frame), as_generator(random_state)
    missing = table.frame.isna()
    if not missing.to_numpy().any():
        return [frame.copy() for _ in range(n_draws)], table
    base = joint_mixture(table, random_state=rng, progress=progress)
    rows = table.frame.dropna(how="all")
    found = []
    for k in range(n_draws):
        progress(f"drawing table {k + 1} of {n_draws}")
        weights = rng.exponential(size=len(rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a component of a bootstrap sample may be small
            model = _refitted(base, rows, weights / weights.mean())
        [drawn] = model.impute(table.frame, n_draws=1, random_state=rng)
        found.append(_filled(frame, table, drawn))
    return found, table


def _refitted(base: TableMixture, rows: Any, weights: np.ndarray | None = None) -> TableMixture:
    """Return the mixture of other rows, or of rows of other weights, begun at an earlier fit."""
    found = deepcopy(base).set_params(warm_start=True).fit(rows, sample_weight=weights)
    return found.set_params(warm_start=False)


def _filled(frame: Any, table: JointTable, drawn: Any) -> Any:
    """Return a frame with drawn entries where its own are missing, in the types of its columns."""
    out = frame.copy()
    for name in table.frame.columns:
        gaps = frame[name].isna().to_numpy()
        if not gaps.any():
            continue
        entries, number = drawn[name][gaps], frame[name].dtype.kind in "fiu"
        if number and name not in table.codes:
            entries = _like_observed(entries.to_numpy(dtype=np.float64), frame[name].dropna())
        column = out[name].copy()
        column[gaps] = np.asarray(entries, dtype=np.float64 if number else object)
        out[name] = column
    return out


def _like_observed(x: np.ndarray, seen: Any) -> np.ndarray:
    """Return numbers rounded as the observed ones are, and not negative if none of those is.

    They may lie beyond the observed ones: which entries are missing may depend on others, and a limit would
    pull what depends on these to the middle.
    """
    observed = seen.to_numpy(dtype=np.float64)
    decimals: Sequence[int] = range(MAX_DECIMALS + 1)
    exact = next((d for d in decimals if np.array_equal(np.round(observed, d), observed)), None)
    x = x if exact is None else np.round(x, exact)
    return np.maximum(x, 0.0) if observed.min() >= 0.0 else x
