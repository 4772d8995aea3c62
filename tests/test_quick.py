"""What `make test` leaves to `make test-all`: no law of a family, no row of the catalogue, no first case."""

import pytest

import quick
from catalogue import cross, some_of_each_family
from quick import some
from rows.row import Row

ROWS = [Row(name, dict) for name in ("Normal", "Normal-far", "Normal-tiny", "Gamma", "k-means, streamed")]
TAKEN = [
    *("Normal-first", "Normal-second", "Normal-far-second", "Normal-tiny-first"),
    *("Gamma-first", "Gamma-second", "k-means, streamed-first", "k-means, streamed-second"),
]


def first(instance, rng):
    """A law."""


def second(instance, rng):
    """Another law."""


def taken(cases):
    return [case for case in cases if not any(mark.name == "slow" for mark in getattr(case, "marks", ()))]


@pytest.mark.parametrize("alone", [True, False])
def test_a_family_meets_every_law_and_every_row_meets_one(alone, monkeypatch):
    monkeypatch.setattr(quick, "ALONE", alone)
    crossed = cross([first, second], ROWS, most=1)
    assert [case.id for case in taken(crossed)] == TAKEN
    assert len(crossed) == (len(TAKEN) if alone else 2 * len(ROWS))
    assert [case.id for case in taken(some_of_each_family(ROWS))] == ["Normal", "Gamma", "k-means, streamed"]


def test_the_first_cases_are_taken():
    assert taken(some("abc")) == ["a"]
    assert taken(some([(1, 2), (3, 4), (5, 6)], 2, several=True)) == [(1, 2), (3, 4)]
    assert some([(1, 2), (3, 4)], several=True)[1].values == (3, 4)
    assert some([{}, {"a": 1}])[1].values == ({"a": 1},)
