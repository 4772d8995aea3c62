"""`tractable ask`: what a model says of some columns, given others."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from tractable.cli.console import Console, StepProgress, split_names, with_console
from tractable.cli.streams import check_outputs, output_path

#: Quantiles of a number that are printed.
QUANTILES = "0.05,0.25,0.5,0.75,0.95"

#: The probability of values as rare as those given below which an answer is called an extrapolation.
RARE = 0.001


@with_console
def ask(
    console: Console,
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A saved model, or a table, to which one is fitted first.")
    ],
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help='Columns | given values: "price | carat=1, cut=Ideal".')
    ],
    interval: Annotated[
        float, typer.Option("--interval", "-i", metavar="COVERAGE", help="The coverage of the interval.")
    ] = 0.9,
    quantiles: Annotated[
        str, typer.Option("--quantiles", metavar="P,Q,…", help="The quantiles of numbers to print.")
    ] = QUANTILES,
    save: Annotated[
        Path | None,
        typer.Option("--save", "-s", metavar="FILE", help="Keep the model that was fitted to a table."),
    ] = None,
) -> None:
    """Ask a model for the distribution of columns, given the values of others.

    Left of the bar are columns, or events such as price>5000 and cut=Ideal, whose probability is given; right
    of it are values and ranges (carat>1, 0.5<carat<=1) that are known. Columns that are not named may have
    any value: they are integrated out. Names and values with signs in them are put in quotes.

    A model of all columns (TableMixture, GaussianMixture and others without a target) answers for any column;
    one that predicts a column answers for that one.

    Some examples:

      tractable ask penguins.csv "body_mass_g | species=Gentoo, sex=male"

      tractable ask joint.tractable "price, cut | carat=1"

      tractable ask joint.tractable "price>5000 | 0.9<carat<1.1" --json
    """
    from tractable.cli.questions import parse_question

    levels = _levels(quantiles)
    if not 0.0 < interval < 1.0:
        raise ValueError(f"--interval is a coverage between 0 and 1; got {interval:g}")
    asked = parse_question(question)
    console.leave_stdout_to("--save", save)
    check_outputs({"--save": save}, [model])
    with StepProgress(console) as step:
        answerer = _answerer(model, console, step, save)
    found = answerer.answers(asked)
    for text in found.notes:
        console.note([text])
    summaries = {name: one.summary(levels, interval) for name, one in found.columns.items()}
    said: dict[str, Any] = {"question": question, "model": answerer.label, "answers": summaries}
    if found.probability is not None:
        said["probability"] = found.probability
    if found.rarer is not None:
        said["share_of_rarer_values"] = found.rarer
        if found.rarer < RARE:
            console.warn(
                f"the model expects values as rare as those given in {_percent(found.rarer)} of the rows: "
                "the answer extrapolates"
            )
    console.result(said, _lines(asked, said, interval))


def _percent(share: float) -> str:
    return f"{share:.2%}" if share >= 1e-4 else "less than 0.01%"


def _levels(text: str) -> list[float]:
    try:
        levels = [float(part) for part in split_names(text)]
    except ValueError:
        levels = []
    if not levels or not all(0.0 < level < 1.0 for level in levels):
        raise ValueError(f"--quantiles are numbers between 0 and 1 with commas between them; got {text!r}")
    return levels


# Models


def _answerer(data: str, console: Console, step: StepProgress, save: Path | None) -> Any:
    """Return what answers: a saved model, or the joint model of a table."""
    from zipfile import is_zipfile

    from tractable.cli.predict import load_model, model_name
    from tractable.cli.questions import JointAnswerer, PredictionAnswerer
    from tractable.data.names import number_of
    from tractable.report.joint import joint_mixture

    if data != "-" and (data.endswith(".tractable") or (Path(data).is_file() and is_zipfile(data))):
        if save is not None:
            raise ValueError(f"--save keeps the model of a table, and {data} is a model already")
        step(f"loading {data}")
        model = load_model(Path(data))
        label = model_name(model)
        if not hasattr(model, "feature_names_in_"):
            raise ValueError(f"{data}: the {label} has no names of columns: it was fitted to numbers alone")
        predicts = _predicts(model)
        if not predicts and (hasattr(model, "condition") or hasattr(model, "conditional_probabilities")):
            return JointAnswerer(model=model, label=label)
        if predicts:
            return PredictionAnswerer(model=model, label=label)
        raise ValueError(f"{data}: {label} gives no distribution of a column")
    table = _table(data, console, step, logarithms=save is None)
    model = joint_mixture(table, progress=step)
    if save is not None:
        from tractable.persistence import save as save_model

        with output_path(save) as file:
            save_model(model, file)
        console.note([f"the joint model is saved: {save}"])
    label = f"a mixture of {number_of(model.n_components, 'component')}"
    return JointAnswerer(model=model, label=label, logged=table.logged)


def _predicts(model: Any) -> bool:
    """Return whether a model predicts a column of its own."""
    tags = getattr(model, "__sklearn_tags__", None)
    return tags is None or tags().estimator_type in ("regressor", "classifier")


def _table(data: str, console: Console, step: Callable[[str], None], *, logarithms: bool) -> Any:
    """Return the columns of a table that may be asked for; in their own units for a model that is kept."""
    from tractable.cli.tables import held_frame
    from tractable.report.joint import question_table
    from tractable.report.reading import table_of

    step(f"reading {data}")
    table = question_table(table_of(held_frame(data, console.note)), logarithms=logarithms)
    console.note(table.notes)
    return table


# Lines


def _lines(question: Any, said: Mapping[str, Any], coverage: float) -> list[str]:
    lines = []
    if "probability" in said:
        event = " and ".join(map(str, question.events))
        lines.append(f"P({event}) = {said['probability']:.4g}")
    width = max([len(name) for name in said["answers"]], default=0)
    for name, found in said["answers"].items():
        for i, text in enumerate(_of_one(found, coverage)):
            lines.append(f"{name if i == 0 else '':{width}s}  {text}".rstrip())
    return lines


def _of_one(found: Mapping[str, Any], coverage: float) -> list[str]:
    if found["kind"] == "category":
        width = max(len(name) for name in found["probabilities"])
        return [f"{name:{width}s}  {p:7.2%}" for name, p in found["probabilities"].items()]
    spread = f", standard deviation {found['stddev']:.5g}" if "stddev" in found else ""
    lines = [f"mean {found['mean']:.6g}{spread}"]
    if "median" in found:
        low, high = found["interval"]
        lines.append(f"median {found['median']:.6g}, {coverage:.0%} between {low:.6g} and {high:.6g}")
        at = [f"{float(level):.3g}: {x:.6g}" for level, x in found["quantiles"].items()]
        lines.append(f"quantiles  {'   '.join(at)}")
    return lines
