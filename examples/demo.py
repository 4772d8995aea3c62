"""What `make demo` runs: fit a density to a bundled table, ask it questions, leave a picture."""

from pathlib import Path

from rich.console import Console
from rich.table import Table

import tractable

OUT = Path("demo")


def main() -> None:
    console = Console()
    table = tractable.datasets.load("old_faithful")
    model = tractable.GaussianDensity().fit(table.frame)

    columns = ", ".join(table.feature_names)
    console.print(f"\n[bold]{table.name}[/]: {len(table.frame)} eruptions of the geyser; columns {columns}.")
    console.print("One Gaussian, fitted in one pass.\n")

    shown = Table("column", "mean", "standard deviation", title="The fitted distribution")
    for name, mean, sd in zip(table.feature_names, model.location_, model.distribution_.stddev, strict=True):
        shown.add_row(name, f"{mean:.2f} min", f"{sd:.2f} min")
    console.print(shown)

    asked = Table(
        "after an eruption of", "wait", "90 % interval", title="A question: how long until the next?"
    )
    for minutes in (2.0, 3.0, 4.5):
        wait = model.condition({"eruptions": minutes})
        low, high = (float(edge[0]) for edge in wait.interval(0.9))
        asked.add_row(f"{minutes:.1f} min", f"{float(wait.mean[0]):.0f} min", f"{low:.0f} to {high:.0f} min")
    console.print(asked)

    strangest = model.outlier_scores(table.frame).argmax()
    row = ", ".join(f"{name} {value:g}" for name, value in table.frame.iloc[strangest].items())
    chance = float(model.tail_probability(table.frame)[strangest])
    console.print(
        f"The strangest row is number {strangest}: {row} (a stranger one has probability {chance:.4f})."
    )

    OUT.mkdir(exist_ok=True)
    picture, saved = OUT / "old_faithful.png", OUT / "old_faithful.tractable"
    ax = tractable.plot(model, data=table.frame)
    ax.figure.savefig(picture, dpi=150)
    tractable.save(model, saved)
    console.print(f"\nOpen [bold]{picture}[/]; the model is in {saved}: tractable.load({str(saved)!r}).\n")


if __name__ == "__main__":
    main()
