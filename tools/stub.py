"""Write `src/tractable/__init__.pyi`, the types of the public names, from the table in `__init__.py`.

The package finds its names when they are used, which no type checker follows: the stub says where each is.
"""

from pathlib import Path

import tractable

STUB = Path(__file__).parent.parent / "src" / "tractable" / "__init__.pyi"
HEAD = "# Types of the public names, written by `python -m tools.stub` from the table in `__init__.py`.\n"

#: Packages that are called too, and the function that a call is; for a type checker they are that function.
CALLED = {"report": "report_on"}


def stub() -> str:
    """Return the text of the stub."""
    homes = [("tractable", name) for name in tractable.PACKAGES if name not in CALLED]
    homes += [(f"tractable.{name}", function) for name, function in CALLED.items()]
    homes += [(_home(module, name), name) for name, module in tractable.PUBLIC.items()]
    # The redundant `as` is how a stub says that a name is exported.
    imports = [f"from {module} import {name} as {name}" for module, name in sorted(homes, key=_order)]
    called = [f"{name} = {function}" for name, function in CALLED.items()]
    tables = ["PACKAGES: tuple[str, ...]", "PUBLIC: dict[str, str]", "__version__: str"]
    return "\n".join([HEAD, *imports, "", *called, *tables, ""])


def _home(package: str, name: str) -> str:
    """Return where to import a name from: not from a package that has a module of the same name."""
    folder = STUB.parent.parent / package.replace(".", "/")
    return f"{package}.{name}" if (folder / f"{name}.py").exists() else package


def _order(home: tuple[str, str]) -> tuple[str, int, str]:
    """Return the place of an import among others: constants, classes and functions of a module in turn."""
    module, name = home
    return module, 0 if name.isupper() else 1 if name[0].isupper() else 2, name


if __name__ == "__main__":
    STUB.write_text(stub())
