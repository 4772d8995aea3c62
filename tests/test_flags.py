"""Parameters that are true or false are nothing else: a word is true for Python, whatever it says."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

import tractable
from tractable.base.parameters import check_flags
from tractable.cli import app
from tractable.cli.models import make_model, model_classes

X = np.array([[1.0], [2.0], [3.0], [5.0]])
Y = np.array([1.0, 2.0, 2.5, 4.0])


@pytest.mark.parametrize("word", ["no", "NO", "false", "False", "off", "Off"])
def test_no_in_any_words(word):
    assert make_model("Ridge", [f"fit_intercept={word}"]).fit_intercept is False


@pytest.mark.parametrize("word", ["yes", "Yes", "true", "TRUE", "on", "On"])
def test_yes_in_any_words(word):
    assert make_model("Ridge", [f"penalize_intercept={word}"]).penalize_intercept is True


@pytest.mark.parametrize("word", ["maybe", "0", "1", "None", "n"])
def test_other_words_are_refused(word):
    with pytest.raises(ValueError, match="--set fit_intercept is yes or no; got "):
        make_model("Ridge", [f"fit_intercept={word}"])


def test_flags_of_models_inside_models():
    settings = ["density=GaussianMixture", "density__warm_start=yes"]
    assert make_model("GenerativeClassifier", settings).density.warm_start is True
    with pytest.raises(ValueError, match="--set density__warm_start is yes or no"):
        make_model("GenerativeClassifier", [settings[0], "density__warm_start=maybe"])


def test_words_stay_words_where_they_are_asked_for():
    assert make_model("GaussianMixture", ["covariance_type=diag"]).covariance_type == "diag"


def test_a_fit_without_an_intercept_from_the_command(tmp_path):
    (tmp_path / "two.csv").write_text("a,y\n1,1\n2,2\n3,2.5\n5,4\n")
    words = ["fit", "Ridge", str(tmp_path / "two.csv"), "-t", "y", "-s", str(tmp_path / "m")]
    assert CliRunner().invoke(app, [*words, "--set", "fit_intercept=no"]).exit_code == 0
    model = tractable.load(tmp_path / "m")
    assert model.intercept_ == 0.0
    np.testing.assert_allclose(model.coef_, tractable.Ridge(fit_intercept=False).fit(X, Y).coef_)
    found = CliRunner().invoke(app, [*words, "--set", "fit_intercept=maybe"])
    assert (found.exit_code, found.stderr.splitlines()[-1]) == (
        2,
        "error: --set fit_intercept is yes or no; got 'maybe'",
    )


FLAGGED = [
    (name, flag)
    for name, kind in model_classes().items()
    for flag, parameter in inspect.signature(kind).parameters.items()
    if isinstance(parameter.default, bool)
]


@pytest.mark.parametrize(("name", "flag"), FLAGGED, ids=[f"{n}-{f}" for n, f in FLAGGED])
@pytest.mark.parametrize("word", ["no", 1, None])
def test_every_model_refuses_words_for_flags(name, flag, word):
    model = clone(make_model(name, ["density=GaussianDensity"] if name == "GenerativeClassifier" else []))
    with pytest.raises(ValueError, match=f"^{flag} must be True or False, got "):
        model.set_params(**{flag: word}).fit(X, Y)


def test_truth_values_of_numpy_are_truth_values():
    model = tractable.Ridge(fit_intercept=np.bool_(False))
    check_flags(model)
    assert model.fit(X, Y).intercept_ == 0.0
