"""Type checkers and editors see the public names, though the package finds them when they are used."""

import os
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

from tools.stub import STUB, stub

import tractable

SOURCE = Path(tractable.__file__).parent
ROOT = SOURCE.parent.parent


def test_the_stub_has_every_public_name():
    assert STUB.read_text() == stub(), "run: python -m tools.stub"


def test_the_wheel_has_the_marker_and_the_stub():
    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert built["targets"]["wheel"] == {"packages": ["src/tractable"]}  # everything in the folder
    assert (SOURCE / "py.typed").exists()
    assert STUB.parent == SOURCE


def test_a_user_s_script_has_types(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            import tractable
            from tractable import GaussianMixture, MultivariateNormal, scan

            source = scan("trips.parquet", target="fare")
            mixture = GaussianMixture(2).fit(source)
            reveal_type(source)
            reveal_type(mixture)
            reveal_type(MultivariateNormal.fit)
            reveal_type(tractable.Normal(mean=0.0, stddev=1.0))
            reveal_type(tractable.Ridge().fit([[1.0]], [1.0]))
            reveal_type(tractable.r2_score)
            reveal_type(tractable.metrics.crps)
            tractable.GausianMixture
        """)
    )
    # With the settings and the cache of `make lint`, a second or two.
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", str(script)]
    told = {**os.environ, "MYPYPATH": "src"}
    found = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=told)
    said = [line.partition(": ")[2] for line in found.stdout.splitlines()]
    revealed = [line.removeprefix("note: Revealed type is ").strip('"') for line in said[:-1]]
    assert revealed[:2] == [
        "tractable.data.files.FileSource",
        "tractable.mixture.gaussian.estimator.GaussianMixture",
    ]
    assert revealed[2].endswith("-> tractable.distributions.normal.MultivariateNormal")
    assert revealed[3:5] == [
        "tractable.distributions.normal.Normal",
        "tractable.linear_model.ridge.estimator.Ridge",
    ]
    assert revealed[5].startswith("def (y_true: Any, y_pred: Any")
    assert revealed[6].startswith("def (distribution: Any, y: Any")
    assert said[-1].startswith('error: Module has no attribute "GausianMixture"; maybe "GaussianMixture"')
