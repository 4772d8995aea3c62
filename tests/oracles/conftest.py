"""Compiled functions are compared with obvious ones whatever the size of the work."""

import pytest

import tractable.primitives


@pytest.fixture(autouse=True)
def _always_compiled(monkeypatch):
    monkeypatch.setattr(tractable.primitives, "COMPILED_WORK", 0)
