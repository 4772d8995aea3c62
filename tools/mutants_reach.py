"""A plugin of pytest that records which tests reach which functions; see `tools/mutants.py`."""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
INSIDE = f"{ROOT}/src/tractable/"
#: Tests that are kept of a function: the shortest, and not all from one file.
MOST, MOST_OF_A_FILE = 60, 12

_called: set[CodeType] = set()
_tests: dict[str, list[tuple[float, str]]] = {}


def _profile(frame: FrameType, event: str, _: Any) -> None:
    if event == "call":
        _called.add(frame.f_code)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Collect what the test calls, in every thread."""
    _called.clear()
    began = time.perf_counter()
    threading.setprofile(_profile)
    sys.setprofile(_profile)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        cost = round(time.perf_counter() - began, 3)
        for code in _called:
            if code.co_filename.startswith(INSIDE):
                function = f"{Path(code.co_filename).relative_to(ROOT)}:{code.co_qualname}"
                _tests.setdefault(function, []).append((cost, item.nodeid))


def pytest_sessionfinish() -> None:
    """Write the shortest tests of each function, one file a worker."""
    found = {}
    for function, tests in _tests.items():
        kept: list[tuple[float, str]] = []
        of_file: dict[str, int] = {}
        for cost, test in sorted(tests):
            file = test.partition("::")[0]
            of_file[file] = of_file.get(file, 0) + 1
            if of_file[file] <= MOST_OF_A_FILE and len(kept) < MOST:
                kept.append((cost, test))
        found[function] = kept
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    path = ROOT / ".mutants" / f"reach{worker}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(found), "utf-8")
