"""An index of rows that pandas or R wrote beside the columns was learned from as a feature, silently."""

import warnings

import numpy as np
import pandas as pd
import pytest

import tractable

FRAME = pd.DataFrame({"km": [1.5, 8.0, 3.0, 2.0], "fare": [7.0, 21.0, 9.0, 8.0]})


def write(frame, path, **options):
    (frame.to_csv if path.suffix == ".csv" else frame.to_parquet)(path, **options)
    return path


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("some", [[0, 1, 3], [2, 0, 3]], ids=["some rows", "shuffled rows"])
def test_the_index_is_left_out_and_said_so(tmp_path, ending, some):
    path = write(FRAME.iloc[some], tmp_path / f"t{ending}")
    with pytest.warns(UserWarning, match=r"row index.*features="):
        source = tractable.scan(path, target="fare")
    assert source.feature_names == ("km",)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = tractable.LinearRegression().fit(source)
    np.testing.assert_allclose(
        fitted.coef_, tractable.LinearRegression().fit(FRAME.iloc[some], "fare").coef_, rtol=1e-9
    )


def test_names_that_pandas_and_r_give(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv")
    pd.read_csv(tmp_path / "a.csv").to_csv(tmp_path / "b.csv", index=False)  # "Unnamed: 0"
    (tmp_path / "c.csv").write_text('"","km","fare"\n"Ulm",1.5,7\n"Bonn",8.0,21\n')
    FRAME.set_index(pd.Index(list("abcd"), name="city")).to_parquet(tmp_path / "d.parquet")
    for name in ("a.csv", "b.csv", "c.csv", "d.parquet"):
        with pytest.warns(UserWarning, match="row index"):
            assert tractable.scan(tmp_path / name).feature_names == ("km", "fare")


def test_files_of_which_one_has_an_index(tmp_path):
    FRAME.to_parquet(tmp_path / "1.parquet")
    FRAME.iloc[[0, 1, 3]].to_parquet(tmp_path / "2.parquet")
    with pytest.warns(UserWarning, match="row index"):
        assert tractable.scan(tmp_path).feature_names == ("km", "fare")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_column_that_is_named_is_kept(tmp_path, ending):
    path = write(FRAME.iloc[[0, 1, 3]], tmp_path / f"t{ending}")
    index = "" if ending == ".csv" else "__index_level_0__"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tractable.scan(path, features=[index, "km"]).feature_names == (index, "km")
        assert tractable.scan(path, target=index).feature_names == ("km", "fare")


def test_other_columns_are_features(tmp_path):
    (tmp_path / "repeats.csv").write_text(",km\n1,2\n1,3\n")
    (tmp_path / "fractions.csv").write_text(",km\n1.5,2\n2.5,3\n")
    (tmp_path / "alone.csv").write_text('""\n1\n2\n')
    (tmp_path / "named.csv").write_text("id,km\n0,2\n1,3\n")
    FRAME.to_parquet(tmp_path / "range.parquet")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = {path.stem: tractable.scan(path).n_features for path in tmp_path.iterdir()}
    assert found == {"repeats": 2, "fractions": 2, "alone": 1, "named": 2, "range": 2}


def test_the_first_column_of_a_matrix_may_be_the_target(tmp_path, rng):
    X = rng.normal(size=(30, 3))
    np.save(tmp_path / "x.npy", X)
    fitted = tractable.LinearRegression().fit(tractable.scan(tmp_path / "x.npy", target=0))
    np.testing.assert_allclose(fitted.coef_, tractable.LinearRegression().fit(X[:, 1:], X[:, 0]).coef_)
    assert fitted.score(tractable.scan(tmp_path / "x.npy", target=0)) == pytest.approx(
        fitted.score(X[:, 1:], X[:, 0])
    )
