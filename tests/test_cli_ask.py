"""`tractable ask`: the distribution of columns given others, from saved models and from tables."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tractable
from tractable.cli import app
from tractable.cli.questions import JointAnswerer, parse_question
from tractable.report import joint_mixture, question_table, table_of, what_if

PENGUINS = tractable.datasets.load("penguins").frame.drop(columns="year")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table and with models of it."""
    path = tmp_path_factory.mktemp("ask")
    PENGUINS.to_csv(path / "penguins.csv", index=False)
    tractable.save(tractable.TableMixture(3, random_state=0).fit(PENGUINS), path / "diag.tractable")
    full = tractable.TableMixture(2, covariance_type="full", random_state=0).fit(PENGUINS)
    tractable.save(full, path / "full.tractable")
    numbers = PENGUINS[["bill_length_mm", "body_mass_g"]].dropna()
    tractable.save(tractable.GaussianMixture(2, random_state=0).fit(numbers), path / "normal.tractable")
    line = tractable.LinearRegression().fit(numbers[["bill_length_mm"]], numbers["body_mass_g"])
    tractable.save(line, path / "line.tractable")
    naive = tractable.NaiveBayes().fit(PENGUINS.drop(columns="island"), PENGUINS["island"])
    tractable.save(naive, path / "nb.tractable")
    words = PENGUINS[["species", "island", "sex"]].dropna()
    tractable.save(tractable.BayesianNetworkDensity().fit(words), path / "network.tractable")
    return path


def ask(folder, model, question, *words):
    return CliRunner().invoke(app, ["ask", str(folder / model), question, *words])


def answer(folder, model, question):
    found = ask(folder, model, question, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


@pytest.mark.parametrize("name", ["diag", "full"])
def test_an_answer_is_that_of_condition(folder, name):
    model = tractable.load(folder / f"{name}.tractable")
    said = answer(folder, f"{name}.tractable", "body_mass_g, species | sex=male, flipper_length_mm=200")
    given = model.condition({"sex": "male", "flipper_length_mm": 200.0})
    mass = given.marginal(["body_mass_g"]).as_univariate()
    found = said["answers"]["body_mass_g"]
    np.testing.assert_allclose([found["mean"], found["stddev"]], [mass.mean, mass.stddev], rtol=1e-12)
    np.testing.assert_allclose(found["interval"], mass.interval(0.9), rtol=1e-9)
    np.testing.assert_allclose(found["quantiles"]["0.25"], mass.icdf(0.25), rtol=1e-9)
    p = given.marginal(["species"]).prob(np.arange(3.0)[:, None])
    species = said["answers"]["species"]
    expected = dict(zip(model.categories_["species"], p, strict=True))
    assert species["probabilities"] == pytest.approx(expected, rel=1e-12)
    assert species["most_probable"] == max(expected, key=expected.get)


def test_ranges_are_those_of_draws(folder):
    """P(A | B) and p(x | B) of ranges, beside the share of many draws, within five standard errors."""
    model = tractable.load(folder / "diag.tractable")
    rows, _ = model.sample(200_000, random_state=0)
    given = (rows["flipper_length_mm"] > 195.0) & (rows["flipper_length_mm"] <= 210.0)
    within = rows[given]
    said = answer(
        folder, "diag.tractable", "body_mass_g, body_mass_g>4000, island=Biscoe | 195<flipper_length_mm<=210"
    )
    event = ((within["body_mass_g"] > 4000.0) & (within["island"] == "Biscoe")).to_numpy()
    error = np.sqrt(event.mean() * (1.0 - event.mean()) / len(event))
    assert abs(said["probability"] - event.mean()) < 5.0 * error
    mass = within["body_mass_g"].to_numpy()
    assert abs(said["answers"]["body_mass_g"]["mean"] - mass.mean()) < 5.0 * mass.std() / np.sqrt(len(mass))


def test_a_range_that_has_no_exact_answer_is_refused(folder):
    found = ask(folder, "full.tractable", "body_mass_g | flipper_length_mm>200")
    assert found.exit_code == 2
    assert "is correlated with 'body_mass_g'; give flipper_length_mm=… a value" in found.stderr
    said = answer(folder, "full.tractable", "species | flipper_length_mm>210")  # of another part: exact
    assert said["answers"]["species"]["most_probable"] == "Gentoo"


def test_any_joint_distribution_and_any_prediction_answers(folder):
    normal = answer(folder, "normal.tractable", "body_mass_g | bill_length_mm=45")["answers"]["body_mass_g"]
    model = tractable.load(folder / "normal.tractable")
    np.testing.assert_allclose(normal["mean"], model.condition({"bill_length_mm": 45.0}).mean[0], rtol=1e-12)
    line = answer(folder, "line.tractable", "body_mass_g | bill_length_mm=45")["answers"]["body_mass_g"]
    assert line["interval"][0] < line["mean"] < line["interval"][1]
    nb = answer(folder, "nb.tractable", "where | species=Gentoo")
    assert nb["answers"]["where"]["most_probable"] == "Biscoe"
    assert nb["notes"][0].startswith("not given, and taken as missing: bill_length_mm, ")
    network = answer(folder, "network.tractable", "island | species=Chinstrap")
    assert network["answers"]["island"]["most_probable"] == "Dream"


@pytest.mark.parametrize(
    ("model", "question", "same"),
    [
        (tractable.TableMixture(1), "body_mass_g | species=Gentoo", True),
        (tractable.TableMixture(1), "body_mass_g>4000 | species=Gentoo", True),
        (tractable.TableMixture(1), "species, body_mass_g", False),
        (tractable.TableMixture(1, covariance_type="full"), "species | body_mass_g=4000", True),
        (tractable.TableMixture(1, covariance_type="full"), "bill_length_mm | body_mass_g=4000", False),
        (tractable.TableMixture(2, random_state=0), "body_mass_g | species=Gentoo", False),
        (tractable.GaussianMixture(1, covariance_type="diag"), "bill_length_mm | body_mass_g=4000", True),
        (tractable.GaussianMixture(1), "bill_length_mm | body_mass_g=4000", False),
    ],
)
def test_that_nothing_changes_is_said(tmp_path, model, question, same):
    """Columns that are independent in a model of one component have one answer, whatever is given."""
    words = ["species"] if isinstance(model, tractable.TableMixture) else []
    tractable.save(model.fit(PENGUINS[["body_mass_g", "bill_length_mm", *words]]), tmp_path / "m.tractable")
    found = ask(tmp_path, "m.tractable", question)
    assert found.exit_code == 0, found.output
    assert ("note: what is given changes nothing: in " in found.stderr) == same
    assert ("fit it with more components (--set n_components=5), or ask the table" in found.stderr) == same


def test_rare_values_are_warned_of(folder):
    far = answer(folder, "diag.tractable", "species | body_mass_g=9000")
    assert far["share_of_rarer_values"] < 0.001
    assert "the answer extrapolates" in far["warnings"][0]
    assert "warnings" not in answer(folder, "diag.tractable", "species | body_mass_g=4000")


@pytest.mark.parametrize("name", ["species", "island", "sex"])
def test_categories_are_judged_by_their_probability(folder, name):
    """The share of rows with a category that is no more frequent; ties of the model count."""
    found = {}
    for category in PENGUINS[name].dropna().unique():
        said = answer(folder, "diag.tractable", f"body_mass_g | {name}={category}")
        found[category] = said["share_of_rarer_values"]
        assert "warnings" not in said
    counts = PENGUINS[name].value_counts(normalize=True)
    for category, share in found.items():
        wanted = (
            counts[counts <= counts[category] + 0.03].sum(),
            counts[counts <= counts[category] - 0.03].sum(),
        )
        assert wanted[1] - 0.05 < share < wanted[0] + 0.05


def test_a_given_category_warns_where_it_is_rare_and_only_there(tmp_path):
    """One row of 5,000 has it; the two halves of the table are equally frequent."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=5000).round(2), "half": ["a", "b"] * 2500})
    frame["where"] = ["odd"] + ["here"] * 4999
    tractable.save(tractable.TableMixture(1).fit(frame), tmp_path / "m.tractable")
    for given, rare in (("half=a", False), ("half=b", False), ("where=here", False), ("where=odd", True)):
        asked = "half" if "where" in given else "where"
        for also, far in (("", False), (", x=0.1", False), (", x=9", True)):
            said = answer(tmp_path, "m.tractable", f"{asked} | {given}{also}")
            assert ("warnings" in said) == (rare or far), (given, also)
            assert (said["share_of_rarer_values"] < 0.001) == (rare or far)


def test_a_question_about_half_of_the_rows_frightens_nobody(folder):
    for sex in ("male", "female"):
        assert "warnings" not in answer(folder, "penguins.csv", f"body_mass_g | sex={sex}")


def test_a_table_is_fitted_first(folder, tmp_path):
    kept = tmp_path / "joint.tractable"
    found = ask(folder, "penguins.csv", "body_mass_g | species=Gentoo, sex=male", "--save", kept)
    assert found.exit_code == 0, found.output
    lines = found.stdout.splitlines()
    assert lines[0].startswith("body_mass_g  mean 54")
    assert "90% between" in lines[1]
    assert all(len(line) <= 100 for line in lines)
    again = answer(tmp_path, "joint.tractable", "body_mass_g | species=Gentoo, sex=male")
    assert f"mean {again['answers']['body_mass_g']['mean']:.6g}" in lines[0]
    assert isinstance(tractable.load(kept), tractable.TableMixture)


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_columns_that_determine_each_other_are_asked(rng, tmp_path, noise):
    a = rng.choice(list("uvw"), 300)
    b = np.where(rng.random(300) < noise, rng.permutation(a), a)
    frame = pd.DataFrame({"a": a, "b": np.char.add(b, "x")})
    frame.to_csv(tmp_path / "pairs.csv", index=False)
    found = answer(tmp_path, "pairs.csv", "b | a=u")["answers"]["b"]["probabilities"]
    assert found["ux"] > 0.9
    assert what_if.section(table_of(frame), rng=rng) is not None


def test_a_table_answers_as_its_page_does(rng, tmp_path):
    """One model for the command and for the panel of the report, logarithms of skewed columns too."""
    x = rng.normal(size=150)
    frame = pd.DataFrame({
        "price": np.exp(6.0 + 1.2 * x),
        "size": 10.0 + x + 0.5 * rng.normal(size=150),
        "grade": np.where(x + rng.normal(size=150) > 0.0, "good", "fair"),
    })  # fmt: skip
    frame.to_csv(tmp_path / "sales.csv", index=False)
    panel = what_if.section(table_of(frame), rng=rng).data["model"]
    model = joint_mixture(question_table(table_of(frame)))
    assert [column["name"] for column in panel["columns"] if column.get("logged")] == ["price"]
    np.testing.assert_allclose(panel["weights"], model.weights_[model.weights_ > 0.0], rtol=1e-12)
    logs = model.condition({"size": 10.5, "grade": "good"}).marginal(["price"]).as_univariate()
    said = answer(tmp_path, "sales.csv", "price | size=10.5, grade=good")["answers"]["price"]
    np.testing.assert_allclose(said["interval"], np.exp(logs.interval(0.9)), rtol=1e-6)
    np.testing.assert_allclose(said["median"], np.exp(logs.icdf(0.5)), rtol=1e-6)
    mean = np.sum(logs.weights * np.exp(logs.components.mean + logs.components.variance / 2.0))
    np.testing.assert_allclose(said["mean"], mean, rtol=1e-9)
    event = answer(tmp_path, "sales.csv", "price>400 | size=10.5, grade=good")["probability"]
    np.testing.assert_allclose(event, logs.survival(np.log(400.0)), rtol=1e-6)
    given = answer(tmp_path, "sales.csv", "grade | price=400")["answers"]["grade"]["probabilities"]["good"]
    grades = model.condition({"price": np.log(400.0)}).marginal(["grade"])
    np.testing.assert_allclose(given, grades.prob([[1.0]])[0], rtol=1e-6)
    assert "'price' is positive in the table; got -1" in ask(tmp_path, "sales.csv", "grade | price=-1").stderr
    kept = tmp_path / "sales.tractable"  # a model that is kept is of the table's own units
    assert ask(tmp_path, "sales.csv", "size | price=400", "--save", kept).exit_code == 0
    saved = answer(tmp_path, "sales.tractable", "price")["answers"]["price"]["median"]
    assert 0.5 < saved / frame["price"].median() < 2.0


REFUSED = [
    ("diag.tractable", "mass | sex=male", "QUESTION: no column 'mass' in TableMixture; "),
    ("diag.tractable", "body_mass | sex=male", "did you mean 'body_mass_g'?"),
    ("diag.tractable", "body_mass_g | sex=mael", "'sex' has no category 'mael'; did you mean 'male'? it has"),
    ("diag.tractable", "body_mass_g | species=Emperor", "it has Adelie, Chinstrap, Gentoo"),
    ("diag.tractable", "species | body_mass_g=heavy", "'body_mass_g' is a number; got 'heavy'"),
    ("diag.tractable", "body_mass_g | sex>male", "'sex' is a category, which has no order"),
    ("diag.tractable", "body_mass_g | sex", "'sex' has no value; right of the bar is sex=…"),
    ("diag.tractable", "| sex=male", "QUESTION names no column"),
    ("diag.tractable", "a | b | c", "QUESTION has several bars"),
    ("diag.tractable", "sex, sex", "QUESTION asks for 'sex' twice"),
    ("diag.tractable", "sex | sex=male", "'sex' has a value, and is asked for or given again"),
    ("diag.tractable", "body_mass_g=4000", "has the probability zero; ask for a range"),
    ("diag.tractable", "sex | 5<body_mass_g<4", "has the probability zero"),
    ("diag.tractable", 'sex | "body_mass_g=3', "QUESTION has a quote that does not end"),
    ("diag.tractable", "sex | body_mass_g=", "lacks a name or a value"),
    ("diag.tractable", "sex | 1<2<body_mass_g<3", "no range such as 1<column<2"),
    ("line.tractable", "body_mass_g", "LinearRegression needs bill_length_mm=… too"),
    ("line.tractable", "bill_length_mm | bill_length_mm=3", "is asked for or given again"),
    ("line.tractable", "bill_length_mm", "predicts from 'bill_length_mm', and is not a model of it"),
    ("line.tractable", "y | bill_length_mm>3", "answers for no range"),
    ("none.tractable", "y", "no such file or directory"),
    ("none.csv", "y", "no such file or folder"),
]


@pytest.mark.parametrize(("model", "question", "said"), REFUSED)
def test_questions_that_cannot_be_answered(folder, model, question, said):
    found = ask(folder, model, question)
    assert found.exit_code == 2
    assert found.stdout == ""
    [line] = found.stderr.splitlines()
    assert line.startswith("error: ")
    assert said in line


def test_options_are_checked_first(folder):
    for words, said in {
        ("--interval", "1.5"): "--interval is a coverage between 0 and 1",
        ("--quantiles", "0.5,2"): "--quantiles are numbers between 0 and 1",
        ("--save", "none/m.tractable"): "--save: no such folder",
    }.items():
        assert said in ask(folder, "diag.tractable", "sex", *words).stderr
    assert "is a model already" in ask(folder, "diag.tractable", "sex", "--save", folder / "m").stderr


def test_quotes_and_turned_ranges():
    found = parse_question("'a|b' , \"x=y\" | 3 >= z, \"one, two\" = '5', q==red")
    assert found.columns == ("a|b", "x=y")
    assert [str(term) for term in found.given] == ["z<=3", "one, two=5", "q=red"]


def test_counts_and_truth_values(rng):
    import pandas as pd

    frame = pd.DataFrame({"visits": rng.poisson(3.0, 200), "member": rng.random(200) < 0.3})
    model = tractable.TableMixture(1, kinds={"visits": "poisson"}).fit(frame)
    answerer = JointAnswerer(model=model, label="model")
    rate = frame["visits"].mean()
    d = tractable.Poisson(rate=model.distribution_.components.placed()[0][0].rate[0])
    assert abs(float(d.rate) - rate) < 0.05
    for text, expected in {
        "visits>=2": 1.0 - d.cdf(1),
        "visits>2": 1.0 - d.cdf(2),
        "visits<2": d.cdf(1),
        "visits=2": d.prob(2),
        "1<visits<=4": d.cdf(4) - d.cdf(1),
    }.items():
        assert answerer.answers(parse_question(text)).probability == pytest.approx(float(expected), rel=1e-9)
    found = answerer.answers(parse_question("member | visits=3")).columns["member"]
    assert found.categories == (False, True)
    assert found.probabilities[1] == pytest.approx((frame["member"].sum() + 1.0) / 202.0)
