"""The architecture is a test: complete catalogues, layers, light imports, documented names."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
import tomllib
from dataclasses import is_dataclass
from pathlib import Path

import pytest

import tractable
from catalogue import CONJUGATE_MODELS, COVARIANCES, DISTRIBUTIONS, ESTIMATORS, KERNELS, STATISTICS
from tractable.testing.kernel_laws import KernelOfRows
from tractable.testing.statistic_laws import StatisticOfRows

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "tractable"
POINTS = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 1.0, 1.0]]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def public(package):
    module = importlib.import_module(package)
    return {name: getattr(module, name) for name in module.__all__}


def missing_rows(package, rows, kind):
    """Public concrete classes of a package that no row of the catalogue makes."""
    made = {_made(row.make()) for row in rows}
    wanted = [c for c in public(package).values() if inspect.isclass(c) and kind(c)]
    return [c.__name__ for c in wanted if c not in made and not inspect.isabstract(c)]


def _made(instance):
    """The class under examination: a statistic or a kernel may come with the rows it is for."""
    instance = instance.statistic if isinstance(instance, StatisticOfRows) else instance
    instance = instance.kernel if isinstance(instance, KernelOfRows) else instance
    return instance if isinstance(instance, type) else type(instance)


def test_every_statistic_is_in_the_catalogue():
    assert missing_rows("tractable.statistics", STATISTICS, lambda c: hasattr(c, "of")) == []


def test_every_distribution_is_in_the_catalogue():
    from tractable.distributions import Distribution

    assert missing_rows("tractable.distributions", DISTRIBUTIONS, lambda c: issubclass(c, Distribution)) == []


def test_every_covariance_is_in_the_catalogue():
    from tractable.covariance import Covariance

    assert missing_rows("tractable.covariance", COVARIANCES, lambda c: issubclass(c, Covariance)) == []


def test_every_conjugate_model_is_in_the_catalogue():
    from tractable.conjugate import ConjugateModel

    assert (
        missing_rows("tractable.conjugate", CONJUGATE_MODELS, lambda c: issubclass(c, ConjugateModel)) == []
    )


def test_every_kernel_is_in_the_catalogue():
    from tractable.kernels import Kernel

    assert missing_rows("tractable.kernels", KERNELS, lambda c: issubclass(c, Kernel)) == []


def test_every_index_is_in_the_catalogue():
    from rows import hyperplane_indexes, indexes
    from tractable.spatial import Index

    made = {type(row.make()(POINTS)) for row in (*indexes.ROWS, *hyperplane_indexes.ROWS)}
    wanted = [c for c in public("tractable.spatial").values() if inspect.isclass(c) and issubclass(c, Index)]
    assert [c for c in wanted if c not in made and not inspect.isabstract(c)] == []


def test_every_estimator_is_in_the_catalogue():
    from tractable.base import Estimator

    made = {type(row.make()) for row in ESTIMATORS}
    found = [getattr(tractable, name) for name in tractable.PUBLIC]
    assert [c for c in found if inspect.isclass(c) and issubclass(c, Estimator) and c not in made] == []


def test_every_public_name_exists_and_has_a_runnable_example():
    for name, module in tractable.PUBLIC.items():
        assert name in importlib.import_module(module).__all__
        assert ">>>" in (inspect.getdoc(getattr(tractable, name)) or ""), f"tractable.{name} has no example"


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="GausianDensity"):
        tractable.GausianDensity  # noqa: B018
    assert "GaussianDensity" in dir(tractable)


def test_every_subpackage_is_an_attribute():
    built = {p.parent.name for p in SOURCE.glob("[!_]*/__init__.py")}
    assert set(tractable.PACKAGES) == built
    for name in built:
        assert tractable.__getattr__(name) is importlib.import_module(f"tractable.{name}")
    assert built <= set(dir(tractable))


def test_every_module_says_what_it_is_for():
    for _, name, _ in pkgutil.walk_packages([str(SOURCE)], "tractable."):
        assert importlib.import_module(name).__doc__, f"{name} has no docstring"


def test_values_are_immutable():
    for _, name, _ in pkgutil.walk_packages([str(SOURCE)], "tractable."):
        for found in vars(importlib.import_module(name)).values():
            if inspect.isclass(found) and is_dataclass(found) and found.__module__ == name:
                assert found.__dataclass_params__.frozen, f"{found} can be changed"


def test_only_planned_packages_are_in_brackets():
    layers = next(c for c in PROJECT["tool"]["importlinter"]["contracts"] if c["type"] == "layers")["layers"]
    packages = [name.strip() for layer in layers for name in layer.split("|")]
    built = {p.stem if p.suffix else p.name for p in SOURCE.iterdir() if not p.name.startswith(("__", "py."))}
    assert {name for name in packages if not name.startswith("(")} == built
    assert not {name.strip("()") for name in packages if name.startswith("(")} & built


def test_every_package_is_under_every_ban():
    """A new package must not slip past a contract that lists packages by name."""
    built = {f"tractable.{p.stem}" for p in SOURCE.iterdir() if not p.name.startswith(("_", "py."))}
    allowed = {
        "Only the compiled modules of primitives know Numba": {"tractable.primitives"},
        "Only arrays knows other array libraries": {"tractable.arrays", "tractable.testing"},
        "Scikit-learn enters at base": {
            f"tractable.{above}"
            for above in (
                "base",
                "classification",
                "decomposition",
                "density",
                "distributed",
                "gaussian_process",
                "graph",
                "interop",
                "kernel_regression",
                "linear_model",
                "manifold",
                "mixture",
                "neighbors",
                "persistence",
                "plotting",
                "report",
                "selection",
                "testing",
            )
        },
    }
    for contract in PROJECT["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "forbidden":
            assert set(contract["source_modules"]) == built - allowed[contract["name"]], contract["name"]


HEAVY = (
    "scipy",
    "sklearn",
    "numba",
    "pyarrow",
    "pandas",
    "polars",
    "matplotlib",
    "dask",
    "torch",
    "rich",
    "typer",
)


def loaded_by(code):
    ask = f"{code}; import sys; print(*sorted({{m.split('.')[0] for m in sys.modules}}))"
    run = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize(
    ("names", "allowed"),
    [
        (("datasets", "data", "Moments", "fold", "save", "persistence"), ()),
        (("MultivariateNormal", "metrics"), ("scipy",)),
    ],
)
def test_imports_are_light(names, allowed):
    code = "import tractable; " + "; ".join(f"tractable.{name}" for name in names)
    assert loaded_by(code) & set(HEAVY) <= set(allowed)


def test_what_every_model_imports_is_the_small_part_of_scikit_learn():
    """Selection and metrics load pictures and progress bars: functions that need them import them."""
    for path in (SOURCE / "base").rglob("*.py"):
        imported = [
            node.module for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom)
        ]
        large = ("sklearn.model_selection", "sklearn.metrics", "sklearn.preprocessing", "sklearn.pipeline")
        assert not [name for name in imported if name and name.startswith(large)], path.name


@pytest.mark.slow
def test_a_model_loads_what_it_needs_and_no_more():
    # Scikit-learn brings pandas, and pandas pyarrow.
    loaded = loaded_by("import tractable; tractable.GaussianDensity")
    assert loaded & set(HEAVY) <= loaded_by("import sklearn.base")


def test_only_data_and_primitives_know_about_the_pool_of_threads():
    """Models fold, map rows, or call `tractable.primitives.blocks`: where tasks run is not their concern."""
    for path in SOURCE.rglob("*.py"):
        below = path.relative_to(SOURCE).parts[0] in ("data", "primitives")
        assert below or not re.search("ordered_map|ThreadPool", path.read_text()), path


def test_products_in_statistics_release_the_interpreter_lock():
    """NumPy's `@` keeps it, and blocks on other threads wait: `tractable.arrays.linalg.product` does not."""
    for path in (SOURCE / "statistics").glob("*.py"):
        operators = [node.op for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.BinOp)]
        assert not any(isinstance(each, ast.MatMult) for each in operators), path.name


def test_numba_kernels_follow_the_rules():
    """Cached, free of the interpreter lock, never parallel: threads come from the fold."""
    for path in (SOURCE / "primitives").rglob("compiled*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
            # `Kernel` alone calls Numba: it frees the lock, and its cache may be missing or damaged.
            assert name not in ("jit", "njit") or path.name == "compiled_options.py", path.name
            if isinstance(node, ast.Call) and name in ("compiled", "entry", "njit"):
                options = {k.arg: ast.unparse(k.value) for k in node.keywords}
                assert name != "njit" or options.get("nogil") == "True", path.name
                assert "cache" not in options, path.name
                assert "parallel" not in options, path.name
                assert not {"nnan", "ninf", "fast"} & set(re.findall(r"\w+", options.get("fastmath", ""))), (
                    path.name
                )
