"""Collections of Dask: kinds of input, bad input, and what happens when machines fail."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import tractable
from tractable.data import as_source, sample_rows
from tractable.primitives.threads import _guard

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(5)
X = RNG.standard_normal((600, 3)) + np.where(np.arange(600)[:, None] < 300, 0.0, 6.0)
Y = X @ [1.0, -2.0, 0.5] + RNG.standard_normal(600)
W = RNG.integers(0, 3, 600).astype(float)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y, w=W, kind=np.where(Y > 0, "high", "low"))
NUMBERS = FRAME[["a", "b", "c", "y", "w"]]


@pytest.fixture
def here():
    """Dask without a cluster: tasks run one after another in this thread."""
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    patience = {"distributed.comm.timeouts.connect": "120s"}  # processes start slowly on a busy machine
    with dask.config.set(patience), LocalCluster(**options) as cluster, Client(cluster) as found:
        yield found


def regression(*data, **options):
    return tractable.LinearRegression().fit(*data, **options)


def mixture(**options):
    return tractable.GaussianMixture(n_components=2, random_state=0, max_iter=8, tol=0.0, **options)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


def delayed_parts(*cuts, table=FRAME):
    return [dask.delayed(table.iloc[a:b]) for a, b in zip((0, *cuts), (*cuts, len(table)), strict=True)]


# Kinds of input


def test_targets_and_weights_may_be_collections_arrays_or_names(here):
    want = regression(X, Y, W).coef_
    rows = da.from_array(X, chunks=(170, 2))
    for y, w in ((Y, W), (da.from_array(Y, chunks=50), da.from_array(W, chunks=600))):
        close(regression(rows, y, w).coef_, want)
    frame = dd.from_pandas(NUMBERS, npartitions=4)
    close(regression(frame, "y", "w").coef_, want)
    features = frame[["a", "b", "c"]]
    close(regression(features, frame["y"], frame["w"]).coef_, want)
    close(regression(features, frame["y"].to_dask_array(), frame["w"]).coef_, want)
    two = regression(frame[["a", "b", "c", "y"]], ["c", "y"])
    close(two.coef_, regression(X[:, :2], np.column_stack([X[:, 2], Y])).coef_)


def test_delayed_partitions_are_arrays_frames_or_tuples(here):
    want = regression(X, Y).coef_
    tuples = [dask.delayed((X[a:b], Y[a:b])) for a, b in ((0, 100), (100, 100), (100, 600))]
    fitted = regression(tuples)
    close(fitted.coef_, want)
    table = FRAME[["a", "b", "c", "y"]]
    named = regression(delayed_parts(7, 7, 400, table=table), "y")
    close(named.coef_, want)
    assert list(named.feature_names_in_) == ["a", "b", "c"]
    found = np.concatenate(dask.compute(*fitted.predict([tuples[0], tuples[2]])))
    close(found, fitted.predict(X))


def test_tuples_may_be_delayed_part_by_part(here):
    cuts = [slice(0, 0), slice(0, 250), slice(250, 600)]
    parts = [tuple(dask.delayed(column[cut]) for column in (X, Y, W)) for cut in cuts]
    close(regression(parts).coef_, regression(X, Y, W).coef_)
    close(np.concatenate(dask.compute(*regression(parts).predict(parts[1:]))), regression(X, Y, W).predict(X))


def test_a_list_of_collections_is_refused(here):
    rows, frame = da.from_array(X, chunks=(200, 3)), dd.from_pandas(NUMBERS, npartitions=2)
    for parts in ([rows, rows], [frame, frame], [(rows, da.from_array(Y))], [dask.delayed(X), rows]):
        for answer in (tractable.GaussianDensity().fit, tractable.GaussianDensity().fit(X).score_samples):
            with pytest.raises(ValueError, match="which has partitions itself"):
                answer(parts)


def test_sizes_that_are_not_known_are_found(here):
    rows = da.from_array(X, chunks=(200, 3))
    some = rows[rows[:, 0] > 2.0]
    assert np.isnan(some.shape[0])
    close(mixture().fit(some).means_, mixture().fit(X[X[:, 0] > 2.0]).means_)
    frame = dd.from_pandas(NUMBERS, npartitions=5)
    frame = frame[frame["a"] > 5.0]  # partitions without rows
    close(regression(frame, "y").coef_, regression(NUMBERS[NUMBERS["a"] > 5.0], "y").coef_)


def test_categories_of_dataframes(here):
    table = FRAME.drop(columns="w").assign(size=pd.cut(FRAME["a"], 3, labels=["s", "m", "l"]))
    table["word"] = np.where(np.arange(600) == 599, "rare", "usual")  # in the last partition alone
    want = tractable.NaiveBayes().fit(table, "kind")
    frame = dd.from_pandas(table, npartitions=4)
    for rows in (frame, frame.assign(size=frame["size"].cat.as_unknown())):
        found = tractable.NaiveBayes().fit(rows, "kind")
        assert found.score(rows, "kind") == want.score(table, "kind")
        close(found.predict_proba(frame).compute(), want.predict_proba(table.drop(columns="kind")))
    labels = tractable.LinearDiscriminant().fit(frame[["a", "b", "kind"]], "kind")
    assert list(labels.classes_) == ["high", "low"]


def test_mixtures_of_tables_with_words(here, tmp_path):
    table = FRAME.drop(columns="w").assign(
        size=pd.cut(FRAME["a"], 3, labels=["s", "m", "l"]),
        zone=np.arange(600) % 5 + 10,
        open=np.arange(600) % 3 == 0,
        word=np.where(np.arange(600) == 599, "rare", "usual"),
    )
    table.loc[3, ["word", "b"]] = None

    def make():
        kinds = {"zone": "categorical"}
        return tractable.TableMixture(2, kinds=kinds, random_state=0, max_iter=6, tol=0.0)

    want = make().fit(table)
    assert want.kinds_["open"] == "bernoulli"
    frame = dd.from_pandas(table, npartitions=4)
    table.to_parquet(tmp_path / "table.parquet")
    for rows in (
        frame,
        frame.assign(size=frame["size"].cat.as_unknown()),
        dd.read_parquet(tmp_path / "table.parquet"),
        delayed_parts(0, 7, 400, table=table),
        [table.iloc[:0], table.iloc[:7], table.iloc[7:]],
        tractable.scan(tmp_path / "table.parquet"),
    ):
        found = make().fit(rows)
        assert found.kinds_ == want.kinds_
        assert found.categories_ == want.categories_
        close(found.weights_, want.weights_)
        close(found.score(rows), want.score(table))
        close(found.summarize(rows).objective, want.summarize(table).objective)
    close(found.predict_proba(frame).compute(), want.predict_proba(table))
    weighted = make().fit(frame, sample_weight=da.from_array(W, chunks=((150,) * 4,)))
    close(weighted.weights_, make().fit(table, sample_weight=W).weights_)


def test_networks_of_tables_with_words(here):
    table = FRAME[["kind"]].assign(word=np.where(np.arange(600) == 599, "rare", "usual"))
    frame = dd.from_pandas(table, npartitions=3)
    want = tractable.BayesianNetworkDensity().fit(table)
    found = tractable.BayesianNetworkDensity().fit(frame)
    close(found.score(frame), want.score(table))
    close(found.score_samples(frame).compute(), want.score_samples(table))


def test_bad_tables_with_words_are_one_error(here):
    table = FRAME[["a", "kind"]]
    make = tractable.TableMixture
    for parts, said in (
        ([table, table[["a"]]], "partition 1 of X.*'kind'"),
        ([table, X], "partition 1 of X"),
        ([table.iloc[:0], table.iloc[:0]], "no observed value"),
        ([table, table.assign(a="x")], "'a'"),
    ):
        with pytest.raises(ValueError, match=said):
            make().fit([dask.delayed(part) for part in parts])
    fitted = make().fit(table)
    with pytest.raises(ValueError, match=r"partition 1 of X.*'kind' has no category 'new'"):
        fitted.score([dask.delayed(table), dask.delayed(table.assign(kind="new"))])
    fitted.set_params(unseen="missing")
    with pytest.warns(UserWarning, match="'new'"):
        fitted.score([dask.delayed(table), dask.delayed(table.assign(kind="new"))])


def test_a_sample_is_the_one_that_the_table_in_memory_gives(here):
    for chunks in ((200, 3), ((599, 0, 1), 3)):
        for n in (50, 600):
            want, counted = sample_rows(X, W, n, np.random.default_rng(7))
            source = as_source(da.from_array(X, chunks=chunks), None, W)
            found, weights = sample_rows(source, None, n, np.random.default_rng(7))
            np.testing.assert_array_equal(found, want)
            np.testing.assert_array_equal(weights, counted)


# Answers


def test_answers_to_a_dataframe_keep_its_index(here):
    fitted = regression(NUMBERS, "y", "w")
    frame = dd.from_pandas(FRAME.set_index(np.arange(600) * 2), npartitions=3)
    answer = frame.assign(fare=fitted.predict(frame)).compute()
    close(answer["fare"], fitted.predict(FRAME[["a", "b", "c"]]))
    mean, stddev = fitted.predict(frame, return_std=True)
    close(stddev.compute(), fitted.predict(FRAME[["a", "b", "c"]], return_std=True)[1])
    assert mean.npartitions == 3


def test_answers_to_arrays_of_unknown_size(here):
    fitted, rows = mixture().fit(X), da.from_array(X, chunks=(200, 3))
    some = rows[rows[:, 0] > 5.0]  # the first partition has no rows
    want = X[X[:, 0] > 5.0]
    close(fitted.score_samples(some).compute(), fitted.score_samples(want))
    close(fitted.predict_proba(some).compute(), fitted.predict_proba(want))
    np.testing.assert_array_equal(fitted.predict(some).compute(), fitted.predict(want))


@pytest.mark.parametrize(
    "model",
    [tractable.TableMixture(2, random_state=0), tractable.BayesianNetworkDensity(), tractable.NaiveBayes()],
    ids=lambda model: type(model).__name__,
)
def test_answers_to_tables_with_words_are_lazy(here, model):
    table = FRAME[["kind"]].assign(word=np.where(np.arange(600) % 3, "usual", "rare"))
    classifies = isinstance(model, tractable.NaiveBayes)
    fitted = model.fit(table, "kind" if classifies else None)
    read = []

    def load(i):
        read.append(i)
        return table.iloc[200 * i : 200 * (i + 1)]

    frame = dd.from_map(load, range(3), meta=table.iloc[:0])
    answer = fitted.predict_proba if classifies else fitted.score_samples
    lazy = answer(frame)
    assert not read
    close(lazy.compute(), answer(table.drop(columns="kind") if classifies else table))
    assert sorted(read) == [0, 1, 2]


def test_rows_that_show_the_type_of_an_answer_come_from_one_partition(here):
    class Particular(tractable.GaussianDensity):
        """Refuses rows that are made up."""

        def predict(self, X):
            return tractable.distributed.lazy_result(self, "checked", X, (), {})

        def checked(self, X):
            if not np.isin(np.asarray(X), known).all():
                raise ValueError("unknown rows")
            return np.asarray(X)[:, 0]

    known, read = X, []

    def load(i):
        read.append(i)
        return NUMBERS[["a", "b", "c"]].iloc[: 200 * i]

    frame = dd.from_map(load, range(4), meta=NUMBERS[["a", "b", "c"]].iloc[:0])
    lazy = Particular().fit(X).predict(frame)
    assert read == [0, 1]  # the first has no rows
    close(lazy.compute(), np.concatenate([X[: 200 * i, 0] for i in range(4)]))


def test_an_output_in_memory_is_refused(here):
    fitted = tractable.PCA(n_components=1).fit(X).set_output(transform="pandas")
    with pytest.raises(ValueError, match="set_output"):
        fitted.transform(da.from_array(X))


def test_predictions_are_written_to_a_folder(here, tmp_path):
    fitted = regression(NUMBERS, "y", "w")
    frame = dd.from_pandas(FRAME, npartitions=3)
    path = tractable.predict_to(fitted, frame, tmp_path / "out", interval=0.9, columns=["kind"])
    found = pd.read_parquet(path)
    assert list(found.columns) == ["kind", "prediction", "low", "high"]
    close(found["prediction"], fitted.predict(FRAME[["a", "b", "c"]]))
    assert len(list(path.iterdir())) == 3
    assert tractable.scan(path, features=["prediction"]).n_rows == 600
    with pytest.raises(ValueError, match="there already"):
        tractable.predict_to(fitted, frame, path)


def test_no_half_written_output_is_left(here, tmp_path):
    fitted = regression(X, Y)
    spoiled = X.copy()
    spoiled[599, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        tractable.predict_to(fitted, da.from_array(spoiled, chunks=(200, 3)), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


# Bad input: one clear error, and the model is as it was


BAD = {
    "a column that a partition lacks": lambda: [FRAME[["a", "b"]], FRAME[["a"]]],
    "text among numbers": lambda: [FRAME[["a", "b"]], FRAME[["a", "b"]].assign(b="x")],
    "no rows": lambda: [FRAME[["a", "b"]].iloc[:0]] * 2,
    "targets beside one alone": lambda: [X, (X, Y)],
    "another width": lambda: [X, X[:, :2]],
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("make", [mixture, tractable.GaussianDensity])
def test_bad_partitions_are_one_error_before_the_first_pass(here, monkeypatch, kind, make):
    parts = [dask.delayed(part) for part in BAD[kind]()]
    monkeypatch.setattr(
        "tractable.distributed.source.DaskSource.reduce", lambda *_, **__: pytest.fail("a pass")
    )
    fresh = make()
    with pytest.raises(ValueError, match=r"partition 1|X has no rows"):
        fresh.fit(parts)
    assert not [name for name in vars(fresh) if name.endswith("_")]


def test_bad_dataframes_are_one_error_before_the_first_pass(here, monkeypatch):
    monkeypatch.setattr(
        "tractable.distributed.source.DaskSource.reduce", lambda *_, **__: pytest.fail("a pass")
    )
    table = FRAME[["a", "b"]]
    for second, said in (
        (table[["a"]], "partition 1 of X.*'b'"),
        (table.assign(b="x"), "partition 1 of X.*'b'"),
    ):
        parts = [dask.delayed(table), dask.delayed(second)]
        frame = dd.from_delayed(parts, meta=table.iloc[:0], verify_meta=False)
        with pytest.raises(ValueError, match=said):
            mixture().fit(frame)
    for bad, said in (
        (dd.from_pandas(table.iloc[:0], npartitions=1), "no rows"),
        (dd.from_pandas(FRAME, npartitions=2), "not numeric: 'kind'"),
        (dd.from_pandas(table, npartitions=2)["a"], "Series"),
        (da.from_array(X)[0], "2-D"),
        (da.from_array(X[:0]), "0 rows"),
        (da.from_array(X.astype(str)), "real numbers"),
        (da.from_array(X) * np.inf, "infinity"),
    ):
        monkeypatch.undo()
        with pytest.raises(ValueError, match=said):
            mixture().fit(bad)


def test_targets_and_weights_that_do_not_fit_the_rows(here):
    rows, frame = da.from_array(X, chunks=(200, 3)), dd.from_pandas(NUMBERS, npartitions=3)
    for args, said in (
        ((rows, Y[:-1]), "y has shape"),
        ((rows, da.from_array(Y[:-1])), "y has 599 rows"),
        ((rows, "y"), "no column 'y'"),
        ((frame, "z"), "no column 'z'"),
        ((frame, dd.from_pandas(NUMBERS["y"], npartitions=2)), "2 partitions"),
        ((frame, Y), "give a collection"),
        ((rows, Y, -W), "sample_weight"),
        ((rows, None), "y"),
    ):
        with pytest.raises(ValueError, match=said):
            regression(*args)


@pytest.mark.parametrize("make", [tractable.LinearRegression, tractable.Ridge, tractable.PCA, mixture])
def test_weights_that_are_zero_in_some_partitions_or_in_all(here, make):
    rows, some = da.from_array(X, chunks=(200, 3)), np.where(np.arange(600) < 200, 0.0, 1.0)
    close(make().fit(rows, Y, sample_weight=some).score(X, Y), make().fit(X[200:], Y[200:]).score(X, Y))
    for table, none in ((rows, da.zeros(600, chunks=200)), ([(X, Y, np.zeros(600))], None)):
        with pytest.raises(ValueError, match="sample_weight"):
            make().fit(table, None if none is None else Y, sample_weight=none)


@pytest.mark.parametrize("make", [mixture, tractable.PCA, tractable.GaussianDensity])
def test_models_of_the_rows_alone_ignore_the_targets_of_a_source(here, tmp_path, make):
    NUMBERS.drop(columns="w").to_parquet(tmp_path / "rows.parquet")
    want = make().fit(X).score(X)
    for rows in (
        [dask.delayed((X[:200], Y[:200])), dask.delayed((X[200:], Y[200:]))],
        [(X[:200], Y[:200]), (X[200:], Y[200:])],
        as_source(X, Y),
        tractable.scan(tmp_path / "rows.parquet", target="y"),
    ):
        close(make().fit(rows).score(rows), want)


def test_a_generator_is_refused_before_the_first_pass():
    for make in (mixture, tractable.GaussianDensity):
        with pytest.raises(ValueError, match="walked only once"):
            make().fit(X[i : i + 100] for i in range(0, 600, 100))


# Faults


def test_a_cluster_gives_the_answer_of_the_table(client):
    rows = da.from_array(X, chunks=(100, 3))
    close(
        mixture().fit(rows, sample_weight=da.from_array(W)).means_, mixture().fit(X, sample_weight=W).means_
    )
    close(client.compute(mixture().fit(X).score_samples(rows)).result(), mixture().fit(X).score_samples(X))


def test_a_fit_may_be_a_task_of_a_worker(client):
    tasks = [client.submit(fitted_in_a_task, X, pure=False) for _ in range(3)]  # more than there are threads
    for means in client.gather(tasks):
        close(means, mixture().fit(X).means_)


def fitted_in_a_task(rows):
    return mixture().fit(da.from_array(rows, chunks=(200, 3))).means_


def test_parameters_go_out_once_an_iteration_and_partitions_are_held(client):
    rows = da.from_array(np.tile(X, (20, 1)), chunks=(1000, 3))
    source = as_source(rows)
    source.reduce(len_of)
    source.reduce(len_of)
    held = source.partitions._held
    assert held is not None
    assert len(held[1]) == 12
    assert source.reduce(len_of) == 12_000


def len_of(batch):
    return batch.n_rows


def test_a_worker_killed_in_the_middle_costs_a_retry(client):
    rows = da.from_array(X, chunks=(60, 3)).map_blocks(slowly, dtype=float)
    pid = next(iter(client.run(os.getpid).values()))
    kill = threading.Timer(0.4, os.kill, (pid, signal.SIGKILL))
    kill.start()
    found = mixture().fit(rows)
    kill.join()
    close(found.means_, mixture().fit(X).means_)


def slowly(block):
    time.sleep(0.1)
    return block


@pytest.mark.slow
def test_a_process_killed_within_em_on_a_cluster_goes_on_from_its_checkpoint(tmp_path):
    path = tmp_path / "fit.checkpoint"
    script = textwrap.dedent(f"""
        import os, signal, sys
        sys.path[:0] = {sys.path!r}
        import dask.array as da, numpy as np, tractable
        from tractable.mixture.gaussian import steps
        X = np.random.default_rng(5).standard_normal((600, 3)) ** 3
        calls, own = [], steps.GaussianProblem.maximize if hasattr(steps, "GaussianProblem") else None
        import tractable.engines.checkpoint as saved
        save = saved.Checkpoint.save
        def killed(self, state):
            save(self, state)
            calls.append(1)
            if len(calls) == 4 and sys.argv[1] == "die":
                os.kill(os.getpid(), signal.SIGKILL)
        saved.Checkpoint.save = killed
        with tractable.checkpoint({str(path)!r}, every=0.0):
            model = tractable.GaussianMixture(n_components=2, random_state=0, max_iter=9, tol=0.0)
            model.fit(da.from_array(X, chunks=(100, 3)))
        np.save({str(tmp_path / "means.npy")!r}, model.means_)
        print(len(calls))
    """)
    run = lambda how: subprocess.run(  # noqa: E731
        [sys.executable, "-W", "ignore", "-c", script, how], check=False, capture_output=True, text=True
    )
    assert run("die").returncode == -signal.SIGKILL
    assert path.exists()
    resumed = run("live")
    assert resumed.returncode == 0, resumed.stderr
    means = np.load(tmp_path / "means.npy")
    whole = run("live")
    assert int(resumed.stdout) < int(whole.stdout)
    np.testing.assert_array_equal(means, np.load(tmp_path / "means.npy"))


@pytest.mark.parametrize("folder", ["missing", "a file"])
def test_a_checkpoint_that_cannot_be_written_is_said_at_the_start(tmp_path, folder):
    (tmp_path / "a file").write_text("")
    with pytest.raises(ValueError, match="path"), tractable.checkpoint(tmp_path / folder / "fit"):
        pytest.fail("the fit began")


def test_a_folder_without_permission_is_said_at_the_start(tmp_path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr("tractable.persistence.verbs.TemporaryFile", denied)
    with (
        pytest.raises(ValueError, match=r"path.*cannot be written.*denied"),
        tractable.checkpoint(tmp_path / "fit"),
    ):
        pytest.fail("the fit began")


def test_a_truncated_parquet_file_is_named(here, tmp_path):
    for i in range(3):
        NUMBERS.iloc[200 * i : 200 * (i + 1)].to_parquet(tmp_path / f"part{i}.parquet")
    whole = dd.read_parquet(tmp_path, columns=["a", "b", "c"])
    bad = tmp_path / "part1.parquet"
    bad.write_bytes(bad.read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"part1\.parquet"):
        mixture().fit(tractable.scan(tmp_path, features=["a", "b", "c"]))
    with pytest.raises(ValueError, match=r"part1\.parquet"):
        mixture().fit(whole)


def test_two_fits_at_once_do_not_disturb_each_other(here):
    makes = [mixture, tractable.LogisticRegression, lambda: tractable.KMeans(2, random_state=0)]
    want = [make().fit(X, Y > 0).score(X, Y > 0) for make in makes]
    found = [None] * 6

    def run(i):
        rows = X if i < 3 else da.from_array(X, chunks=(100, 3))
        with dask.config.set(scheduler="synchronous"):
            fitted = makes[i % 3]().fit(rows, Y > 0)
        found[i] = fitted.score(X, Y > 0)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(found, want * 2, rtol=1e-10)
    assert not _guard.limits


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_one_clear_error():
    from distributed import Client, LocalCluster

    one = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0", silence_logs=50)
    with one as cluster, Client(cluster) as own, own.as_current():
        rows = da.from_array(X, chunks=(60, 3)).map_blocks(slowly, dtype=float)
        threading.Timer(0.5, cluster.close).start()
        fresh = mixture()
        with pytest.raises(ConnectionError, match=r"scheduler of Dask.*has gone away"):
            fresh.fit(rows)
        assert not [name for name in vars(fresh) if name.endswith("_")]
