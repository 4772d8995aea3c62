"""Every row, one a file; a new file here is a new row."""

import pkgutil
from importlib import import_module


def all_rows():
    """Return the rows by name, in the order of their files."""
    modules = sorted(info.name for info in pkgutil.iter_modules(__path__))
    rows = [import_module(f"{__name__}.{module}").ROW for module in modules]
    return {row.name: row for row in rows}
