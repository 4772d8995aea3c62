"""The benchmark rows still run and still agree with their peers; the harness discards, retries and judges."""

import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks import contest as contest_module
from benchmarks.__main__ import chosen, main, remarks
from benchmarks.clock import Sample, cpu_seconds, foreign_share, measure, n_cores, running_children_seconds
from benchmarks.contest import Duel, Outcome, contest
from benchmarks.memory import peak_above_baseline
from benchmarks.report import as_json, rows_of, show
from benchmarks.row import Pair, Row, at_least, at_most_slower, under, within
from benchmarks.rows import all_rows

#: A row with a library as its peer; `make test-all` runs every row.
QUICK = ("normal_log_prob",)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in all_rows()]
)
def test_rows_run_and_agree(name, tmp_path, capsys):
    assert main(["--dry-run", "--only", name, "--json", str(tmp_path / "out.json")]) == 0
    assert name in capsys.readouterr().out
    (row,) = json.loads((tmp_path / "out.json").read_text())["rows"]
    assert row["problem"] == ""
    assert [duel["peer"] for duel in row["duels"]] == list(all_rows()[name].peers)
    assert all(duel["ratio"] > 0 and duel["met"] is None for duel in row["duels"])


if find_spec("torch"):  # as in `conftest.py`: where it is installed
    from benchmarks import device

    @pytest.mark.slow
    @pytest.mark.parametrize("name", device.ROWS)
    def test_rows_of_a_device_run_and_agree_on_small_tables(name, tmp_path, capsys):
        path = tmp_path / "out.json"
        given = ["--small", "--device", "cpu", "--turns", "1", "--only", name, "--json", str(path)]
        assert device.main(given) == 0
        assert name in capsys.readouterr().out
        assert json.loads(path.read_text())["rows"][name]["ours_s"] > 0


def test_rows_are_declared_in_full():
    for name, row in all_rows().items():
        assert Path(contest_module.__file__).with_name("rows").joinpath(f"{name}.py").exists()
        assert row.shows
        assert row.limit
        assert row.peers or row.absent
        assert set(row.targets) <= {*row.peers, *row.absent}


def toy(**changes):
    row = {
        "name": "toy",
        "shows": "A sum.",
        "setup": lambda size, _: np.ones(size),
        "size": 10,
        "dry_size": 3,
        "ours": np.sum,
        "peers": {"python": sum, "loop": lambda x: float(sum(x))},
        "check": np.testing.assert_allclose,
        "targets": {"python": at_least(2.0)},
        "limit": "nothing.",
    }
    return Row(**{**row, **changes})


class Clock:
    """Peers take three seconds and ours one; chosen measurements are disturbed."""

    def __init__(self, disturbed=()):
        self.calls, self.disturbed = [], disturbed

    def __call__(self, contender, _data, _repeats):
        self.calls.append(contender)
        seconds = 1.0 if contender is np.sum else 3.0
        disturbed = len(self.calls) - 1 in self.disturbed
        return Sample(wall=seconds * (1 + 5 * disturbed), cpu=2 * seconds, foreign=0.5 * disturbed)


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(contest_module, "LEAST_SECONDS", 0.0)


@pytest.mark.usefixtures("quick")
def test_the_order_rotates_and_ratios_are_medians(tmp_path):
    clock = Clock()
    outcome = contest(toy(), tmp_path, pairs=7, clock=clock)
    python, loop = outcome.duels
    assert len(clock.calls) == 21
    assert len({clock.calls[turn * 3] for turn in range(3)}) == 3
    assert python.ratios == [3.0] * 7
    assert loop.cpu_ratio == 3.0
    assert outcome.met(python) is True
    assert outcome.met(loop) is None


@pytest.mark.usefixtures("quick")
def test_disturbed_pairs_are_discarded_and_played_again(tmp_path):
    disturbed = {1, 8}  # in each of these rounds one peer, and so one pair
    outcome = contest(toy(), tmp_path, pairs=7, clock=Clock(disturbed))
    assert sum(duel.discarded for duel in outcome.duels) == 2
    assert all(len(duel.pairs) >= 7 and set(duel.ratios) == {3.0} for duel in outcome.duels)


@pytest.mark.usefixtures("quick")
def test_a_noisy_machine_is_said_and_judges_nothing(tmp_path):
    clock = Clock(disturbed=range(10_000))
    outcome = contest(toy(), tmp_path, pairs=7, clock=clock)
    assert len(clock.calls) == 3 * 3 * 7
    assert outcome.met(outcome.duels[0]) is None
    assert all("too noisy" in cells[2] for cells in rows_of(outcome))
    assert as_json(outcome)["duels"][0]["ratio"] is None


@pytest.mark.slow
def test_a_note_compares_the_answers_in_words(tmp_path, capsys):
    row = toy(note=lambda answers: " and ".join(f"{who} says {x:g}" for who, x in answers.items()))
    outcome = contest(row, tmp_path, dry=True)
    assert outcome.note == "ours says 3 and python says 3 and loop says 3"
    assert as_json(outcome)["note"] == outcome.note
    show([outcome])
    assert outcome.note in capsys.readouterr().out


class Rows:
    """A run of toy rows: what it writes, and the rows of which one breaks."""

    def __init__(self, monkeypatch, tmp_path, **rows):
        monkeypatch.setattr(command, "all_rows", lambda: rows)
        monkeypatch.setattr(command, "peak_above_baseline", lambda *_, **__: 1e6)
        self.path = tmp_path / "out.json"

    def run(self, *options):
        return main(["--dry-run", "--json", str(self.path), *options])

    @property
    def written(self):
        return {row["name"]: row for row in json.loads(self.path.read_text())["rows"]}


def raises(error):
    def contender(_data):
        raise error

    return contender


@pytest.mark.slow
def test_a_broken_row_does_not_end_a_run(monkeypatch, tmp_path, capsys):
    broken = toy(name="broken", ours=raises(OSError("no room left")))
    rows = Rows(monkeypatch, tmp_path, broken=broken, toy=toy())
    assert rows.run() == 1
    assert rows.written["broken"]["problem"] == "broken: OSError: no room left"
    assert rows.written["toy"]["duels"][0]["ratio"] > 0
    assert "no room left" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_is_broken_off_keeps_what_it_has(monkeypatch, tmp_path, capsys):
    rows = Rows(monkeypatch, tmp_path, toy=toy(), slow=toy(name="slow", ours=raises(KeyboardInterrupt())))
    assert rows.run() == 1
    assert list(rows.written) == ["toy"]
    assert rows.written["toy"]["seconds"] > 0
    assert "not run: slow" in capsys.readouterr().out


def test_no_row_begins_after_the_time_given(monkeypatch, tmp_path, capsys):
    rows = Rows(monkeypatch, tmp_path, toy=toy())
    assert rows.run("--minutes", "-1") == 1
    assert not rows.path.exists()
    assert "not run: toy" in capsys.readouterr().out


def test_rows_that_take_long_are_named():
    outcomes = [Outcome(row=toy(), seconds=150.0), Outcome(row=toy(name="quick"), seconds=100.0)]
    assert list(remarks(outcomes, [])) == ["more than two minutes: toy 2.5 min"]


@pytest.mark.slow
def test_peers_that_are_not_installed_are_named(tmp_path, capsys):
    outcome = contest(toy(absent=("faiss",)), tmp_path, dry=True)
    show([outcome])
    assert "faiss is not installed" in capsys.readouterr().out
    assert as_json(outcome)["absent"] == ["faiss"]


def test_target_digits_are_asserted():
    row = all_rows()["least_squares_digits"]
    data = row.setup(row.size, None)
    worse = [found * (1.0 + 1e-3) for found in row.ours(data)]
    with pytest.raises(AssertionError, match=r"degree 10: 3\.0 digits, target 6"):
        row.check(worse, worse)


def test_different_answers_get_no_figure(tmp_path):
    outcome = contest(toy(peers={"wrong": lambda x: x.sum() + 1}), tmp_path, dry=True)
    assert "the answers differ" in outcome.problem
    assert not outcome.duels
    assert "the answers differ" in rows_of(outcome)[0][2]


def duel(ours, peer):
    return [Pair(Sample(wall=ours, cpu=ours), Sample(wall=peer, cpu=peer))] * 7


@pytest.mark.parametrize(
    ("target", "good", "bad"),
    [
        (at_least(2.0), (1.0, 2.0), (1.0, 1.9)),
        (within(2.0), (2.0, 1.0), (2.1, 1.0)),
        (under(0.2), (0.19, 5.0), (0.2, 5.0)),
        (at_most_slower(0.25), (1.25, 1.0), (1.5, 1.0)),
    ],
)
def test_targets(target, good, bad):
    assert target.judge(duel(*good))
    assert not target.judge(duel(*bad))


def test_memory_targets():
    outcome = Outcome(
        row=toy(memory_limit_mb=1.0),
        first_call={"ours": 0.1, "python": 0.1},
        duels=[Duel(peer="python", pairs=duel(1.0, 2.0))],
    )
    assert outcome.memory_met is None
    outcome.memory = {"ours": 900_000}
    assert outcome.memory_met is True
    outcome.memory = {"ours": 1_100_000}
    assert outcome.memory_met is False
    assert "missed" in rows_of(outcome)[0][8]


def test_the_clock_counts_our_own_work():
    before = cpu_seconds()
    sample = measure(np.sort, np.random.default_rng(0).random(300_000), repeats=3)
    assert sample.wall > 0
    assert sample.cpu > 0
    assert cpu_seconds() >= before + 3 * sample.cpu - 1e-6


def test_the_clock_counts_children_that_still_run():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as child:
        end = time.monotonic() + 60.0
        while not (found := running_children_seconds()) and time.monotonic() < end:
            time.sleep(0.05)
        child.kill()
    assert found > 0.0


def test_foreign_share():
    cores = n_cores()
    assert foreign_share(busy=10.0, own=10.0, wall=10.0 / cores) == 0.0
    assert foreign_share(busy=10.0 * cores, own=5.0 * cores, wall=10.0) == pytest.approx(0.5, abs=0.01)


@pytest.mark.slow
def test_peak_memory_is_measured_in_a_fresh_process(tmp_path):
    row = all_rows()["fold_moments"]
    assert 0 <= peak_above_baseline(row, "np.cov", tmp_path, dry=True) < 1e9
    with pytest.raises(RuntimeError, match=r"No module named .benchmarks\.rows\.toy"):
        peak_above_baseline(toy(), "ours", tmp_path, dry=True)


def test_rows_are_chosen_by_name():
    assert [row.name for row in chosen(["import_*"])] == ["import_model", "import_time"]
    assert [row.name for row in chosen(["import_*"], ["*_time"])] == ["import_model"]
    assert len(chosen([])) == len(all_rows())
    with pytest.raises(SystemExit, match="no row is called nonsense; there are"):
        chosen(["nonsense"])
    with pytest.raises(SystemExit):
        main(["--pairs", "0"])
