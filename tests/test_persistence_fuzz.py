"""Changed and damaged files: every one is refused by a ValueError, or gives a model that works.

Fields, arrays and bytes of every model of the catalogue are changed at random, by a seed; the summary of the
tests says how many changed files were refused, accepted, and equal in their answers. `make test` takes some,
and `make test-all` many.
"""

import io
import zlib
from itertools import combinations

import numpy as np
import pytest

import quick
import tractable
from catalogue import DISTRIBUTIONS, ESTIMATORS
from changed_files import CHANGES, answers_of, by_array, judged, members_of, quietly
from persistence_samples import Mean, archived, refuses
from persistence_samples import model as saved_tree
from quick import late, some
from tractable.persistence import load, save
from tractable.report import best_predictor, table_of
from tractable.testing.estimator_laws import example, learn

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 3)) + np.repeat([[0.0], [3.0]], 30, axis=0)
Y = X @ [1.0, -2.0, 0.5] + 0.1 * RNG.normal(size=60)
LABELS = np.repeat(["a", "b"], 30)

MODELS = {
    "GaussianDensity": lambda: tractable.GaussianDensity().fit(X),
    "GaussianMixture": lambda: tractable.GaussianMixture(2, random_state=0).fit(X),
    "KMeans": lambda: tractable.KMeans(2, random_state=0).fit(X),
    "KernelDensity": lambda: tractable.KernelDensity().fit(X),
    "KNeighborsClassifier": lambda: tractable.KNeighborsClassifier(3).fit(X, LABELS),
    "LinearRegression": lambda: tractable.LinearRegression().fit(X, Y),
    "Ridge": lambda: tractable.Ridge().fit(X, Y),
    "BayesianLinearRegression": lambda: tractable.BayesianLinearRegression().fit(X, Y),
    "LogisticRegression": lambda: tractable.LogisticRegression().fit(X, LABELS),
    "BayesianLogisticRegression": lambda: tractable.BayesianLogisticRegression().fit(X, LABELS),
    "LinearDiscriminant": lambda: tractable.LinearDiscriminant().fit(X, LABELS),
    "Perceptron": lambda: tractable.Perceptron(random_state=0).fit(X, LABELS),
    "GaussianNB": lambda: tractable.GaussianNB().fit(X, LABELS),
    "SplineBasis": lambda: tractable.SplineBasis().fit(X),
}
#: By target, the candidates of the report; the first three are quick.
PREDICTORS = [
    *(("species", name) for name in ("gradient boosting", "naive Bayes")),
    *(
        ("body_mass_g", name)
        for name in ("linear regression", "gradient boosting", "nearest-neighbour regression")
    ),
    *(
        ("body_mass_g", name)
        for name in ("the mean alone", "Bayesian ridge regression", "mixture of regressions")
    ),
    ("body_mass_g", "mixture of all columns"),
    *(("species", name) for name in ("the base rate", "logistic regression", "linear discriminant analysis")),
    *(("species", name) for name in ("quadratic discriminant analysis", "nearest-neighbour voting")),
]


def first_of_each(rows):
    """Return the first row of each class, and the others."""
    first = list({type(row.make()): row for row in reversed(rows)}.values())
    return first, [row for row in rows if row not in first]


FIRST, LATER = first_of_each([row for row in ESTIMATORS if not row.name.startswith("toy-")])
# Functions of a user are not saved.
SAVED, SAVED_LATER = first_of_each([row for row in DISTRIBUTIONS if "-user" not in row.name])
#: Changed files of one model.
N_QUICK, N_SLOW = 6, 60


@pytest.fixture(scope="module", params=some(MODELS, 6))
def members(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / request.param
    save(MODELS[request.param](), path)
    return members_of(path)


def answers_before(members, path):
    """Return the answers of a model that is as it was saved."""
    with quietly():
        return answers_of(load(archived(members, path)), X[:4])


def damaged_bytes(whole, rng):
    """Return the bytes of an archive with one bit the other way, or without its end."""
    if rng.random() < 0.25:
        return whole[: rng.integers(len(whole))]
    damaged = bytearray(whole)
    damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
    return bytes(damaged)


def test_swapped_arrays(members, tmp_path, fuzzed):
    """Two arrays in each other's place: of one kind and shape the model works, of others most are refused."""
    before = answers_before(members, tmp_path / "m")
    arrays = {name: np.load(io.BytesIO(data)) for name, data in members.items() if name != "model.json"}
    outcomes = {True: [], False: []}
    for a, b in combinations(arrays, 2):
        alike = arrays[a].shape == arrays[b].shape and arrays[a].dtype == arrays[b].dtype
        found = judged({**members, a: members[b], b: members[a]}, tmp_path / "m", X[:4], before)
        assert found == "equal" or not np.array_equal(arrays[a], arrays[b])
        outcomes[alike].append(found)
        fuzzed["exchanged arrays", found] += 1
    used = [outcome for outcome in outcomes[False] if outcome != "equal"]  # by what the model is asked
    assert len(used) < 3 or used.count("refused") > used.count("accepted")


def test_damaged_archives(members, tmp_path, fuzzed):
    """With their checksums as they were."""
    before = answers_before(members, tmp_path / "m")
    whole = (tmp_path / "m").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(80):
        found = judged(damaged_bytes(whole, rng), tmp_path / "m", X[:4], before)
        fuzzed["damaged archives", found] += 1
        # What a checksum does not cover is of no use to anybody: dates and rights of members.
        assert found != "accepted"
    assert fuzzed["damaged archives", "refused"] > 40


def test_altered_arrays(members, tmp_path, fuzzed):
    """With their checksums made right again."""
    before, rng = answers_before(members, tmp_path / "m"), np.random.default_rng(0)
    for _ in range(40):
        fuzzed["changed arrays", judged(by_array(members, rng), tmp_path / "m", X[:4], before)] += 1
    assert fuzzed["changed arrays", "refused"]


def judge_changes(name, model, rows, path, fuzzed, kind):
    save(model, path)
    members = members_of(path)
    with quietly():
        before = answers_of(load(path), rows)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for number in range(N_QUICK if quick.ALONE else N_SLOW):
        change = CHANGES[rng.integers(len(CHANGES))]
        try:
            fuzzed[kind, judged(change(members, rng), path, rows, before)] += 1
        except Exception as error:
            raise AssertionError(f"{name}, {change.__name__} {number}: {error!r}") from error


@pytest.mark.parametrize("row", [*FIRST, *map(late, LATER)], ids=lambda row: row.name)
def test_changed_estimators(row, tmp_path, fuzzed):
    rows, y = example(row.make(), np.random.default_rng(0))
    judge_changes(row.name, learn(row.make(), rows, y), rows[:4], tmp_path / "m", fuzzed, "changed models")


@pytest.mark.parametrize("row", [*SAVED, *map(late, SAVED_LATER)], ids=lambda row: row.name)
def test_changed_distributions(row, tmp_path, fuzzed):
    judge_changes(row.name, row.make(), None, tmp_path / "m", fuzzed, "changed distributions")


@pytest.mark.parametrize(("target", "name"), some(PREDICTORS, 3, several=True))
def test_changed_predictors_of_tables(target, name, tmp_path, fuzzed):
    frame = tractable.datasets.load("penguins").frame
    model = best_predictor(table_of(frame), target, name)
    judge_changes(name, model, frame.iloc[::60], tmp_path / "m", fuzzed, "changed predictors")


def a_file_declaring(tree, path):
    return archived({"model.json": saved_tree(tree)}, path)


@pytest.mark.parametrize("n_entries", [2**16 + 1, 150_000_000, 10**30])
def test_a_range_is_not_an_array_of_its_entries(n_entries, tmp_path):
    """294 bytes took minutes and gigabytes."""
    entries = {"range": [0, n_entries, 1]}
    mean = {"value": {"class": "tractable:Normal", "parameters": {"mean": entries, "variance": 1.0}}}
    refuses(a_file_declaring(mean, tmp_path / "m"), "ranges given to a class have more than 65536 entries")
    two = {"range": [0, 40_000, 1]}
    both = {"value": {"class": "tractable:Normal", "parameters": {"mean": two, "variance": two}}}
    refuses(a_file_declaring(both, tmp_path / "m"), "ranges given to a class")
    assert load(a_file_declaring({"tuple": [entries, 1]}, tmp_path / "m")) == (range(n_entries), 1)


def test_a_range_at_the_limit_is_read(tmp_path):
    entries = {"range": [2**16, 0, -1]}
    mean = {"value": {"class": "tractable:Normal", "parameters": {"mean": entries, "variance": 1.0}}}
    assert load(a_file_declaring(mean, tmp_path / "m")).mean.shape == (2**16,)


def test_a_range_that_could_not_be_read_again_is_not_saved(tmp_path):
    with pytest.raises(
        ValueError, match=r"cannot save Mean.scale: ranges .* more than 65536 .*; give an array"
    ):
        save(Mean(scale=range(2**16 + 1)), tmp_path / "m")
    save(range(10**9), tmp_path / "m")
    assert load(tmp_path / "m") == range(10**9)


def test_numbers_that_name_sizes_take_no_memory(tmp_path):
    """A model is asked for rows of as many columns as it names, and makes as many columns as it learned."""
    sizes = {"n_features_in_": 150_000_000, "n_components": 2**63}
    for name, size in sizes.items():
        model = tractable.ClassicalMDS().fit(X)
        setattr(model, name, size)
        save(model, tmp_path / "m")
        if name == "n_features_in_":
            refuses(tmp_path / "m", "n_features_in_ is 150000000, which no fit gives")
        else:
            assert len(load(tmp_path / "m").get_feature_names_out()) == 2
            assert "9223372036854775808" in load(tmp_path / "m")._repr_html_()


def test_an_empty_array_declares_no_long_axes(tmp_path):
    save(np.zeros((0, 2**20)), tmp_path / "m")
    assert load(tmp_path / "m").shape == (0, 2**20)
    save(np.zeros((0, 2**20 + 1)), tmp_path / "m")
    refuses(tmp_path / "m", "no entries and declares the shape")


def test_parts_that_do_not_fit_each_other_are_refused(tmp_path):
    """Each of these loaded, and failed at the first rows that met the part."""
    targets = tractable.KNeighborsRegressor(3).fit(X, Y)
    targets.targets_ = targets.targets_[:-1]
    names = tractable.Ridge().fit(X, Y)
    names.feature_names_in_ = np.array(["a", "a", "b"], dtype=object)
    points = tractable.NearestNeighbors().fit(X)
    points.n_samples_fit_ = 59
    refused = {
        r"targets_ has the shape": targets,
        r"feature_names_in_": names,
        r"index_ has 60 points": points,
    }
    for message, model in refused.items():
        save(model, tmp_path / "m")
        refuses(tmp_path / "m", message)
