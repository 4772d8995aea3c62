"""No output is an input or another output; links, pipes, devices, full disks and closed streams."""

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import tractable
from quick import late, some
from tractable.cli import app
from tractable.data.output import check_outputs

RNG = np.random.default_rng(0)
ROWS = pd.DataFrame({"x": RNG.normal(size=40).round(3), "y": RNG.normal(size=40).round(3)})
ROWS["k"] = np.where(ROWS["x"] + 0.3 * ROWS["y"] > 0.0, "a", "b")
ROWS.loc[3, "y"] = np.nan

#: Each command that writes: words in which OUT is the output, and how a complete output begins.
WRITERS = {
    "datasets": ("datasets iris -o OUT.csv", b"sepal_length"),
    "datasets parquet": ("datasets iris -o OUT.parquet", b"PAR1"),
    "report": ("report t.csv -o OUT", b"<!doctype html>"),
    "report --save": ("report t.csv -t k -o page.html --save OUT", b"PK"),
    "fit": ("fit GaussianNB t.csv -t k -s OUT", b"PK"),
    "predict": ("predict m t.csv -o OUT.csv", b"prediction"),
    "predict parquet": ("predict m t.csv -o OUT.parquet", b"PAR1"),
    "ask": ("ask t.csv x --save OUT", b"PK"),
    "complete": ("complete t.csv -n 2 -o OUT.csv", b"draw,row"),
    "complete each": ("complete t.csv -n 2 -o OUT_{draw}.csv", b"x,y,k"),
}

#: Those that take long wait for `make test-all`.
QUICK = [late(name) if "report" in name or name == "datasets parquet" else name for name in WRITERS]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    tractable.save(tractable.GaussianNB().fit(ROWS[["x", "y"]], ROWS["k"]), path)
    return path.read_bytes()


@pytest.fixture
def folder(tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    ROWS.to_csv("t.csv", index=False)
    ROWS.to_parquet("t.parquet", index=False)
    Path("m").write_bytes(model)
    return tmp_path


def run(words, **options):
    return CliRunner().invoke(app, words.split(), **options)


def contents(folder):
    """The bytes of every file, by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(words, folder, said="is a file that is being read; name another"):
    before = contents(folder)
    found = run(words)
    assert found.exit_code == 2, found.output
    assert [said in line for line in found.stderr.splitlines() if line.startswith("error: ")] == [True], (
        found.stderr
    )
    assert contents(folder) == before


# Inputs and other outputs

OVERWRITING = [
    "report IN -o IN",
    "report IN -t k --save IN",
    "fit GaussianNB IN -t k -s IN",
    "predict m IN -o IN",
    "ask IN x --save IN",
    "complete IN -o IN",
]


def another_name(how, folder):
    """Another name of t.csv."""
    if how == "itself":
        return "t.csv"
    if how == "other path":
        (folder / "sub").mkdir()
        return "sub/../t.csv"
    if how == "absolute":
        return str(folder / "t.csv")
    if how == "letter case":
        return "T.CSV"
    (folder / "other.csv").unlink(missing_ok=True)
    if how == "link":
        (folder / "other.csv").symlink_to("t.csv")
    elif how == "hard link":
        (folder / "other.csv").hardlink_to("t.csv")
    elif how == "link of link":
        (folder / "one.csv").symlink_to(folder / "t.csv")
        (folder / "other.csv").symlink_to("one.csv")
    return "other.csv"


NAMES = ("itself", "other path", "absolute", "letter case", "link", "hard link", "link of link")


@pytest.mark.parametrize("how", NAMES)
@pytest.mark.parametrize("words", OVERWRITING)
def test_no_output_is_an_input(folder, words, how):
    name = another_name(how, folder)
    command, *rest = words.split(" IN", 1)
    refused(f"{command} t.csv{rest[0].replace('IN', name)}", folder)
    if "link" in how:  # and the other way round: the table is given by the link
        refused(f"{command} {name}{rest[0].replace('IN', 't.csv')}", folder)


def test_no_numbered_output_is_an_input(folder):
    ROWS.to_csv("c_2.csv", index=False)
    refused("complete c_2.csv -n 3 -o c_{draw}.csv", folder)
    refused("complete c_*.csv -n 3 -o c_{draw}.csv", folder)
    assert run("complete c_2.csv -n 1 -o c_{draw}.csv").exit_code == 0


def test_no_output_is_the_model(folder):
    Path("m.csv").write_bytes(Path("m").read_bytes())
    refused("predict m.csv t.csv -o m.csv", folder)
    Path("link.csv").symlink_to("m.csv")
    refused("predict m.csv t.csv -o link.csv", folder)


def test_no_output_is_another_output(folder):
    twice = "is the file of --output too; name another"
    refused("report t.csv -t k -o r.html --save r.html", folder, twice)
    refused("report t.csv -t k -o r.html --save ./R.html", folder, twice)
    Path("s.html").symlink_to("r.html")
    refused("report t.csv -t k -o r.html --save s.html", folder, twice)
    refused("report t.csv -t k -o - --save -", folder, "is the second output that goes to standard output")


def test_a_table_of_the_folder_is_an_input_and_a_new_file_in_it_is_none(folder):
    Path("parts").mkdir()
    ROWS[:20].to_csv("parts/a.csv", index=False)
    ROWS[20:].to_csv("parts/b.csv", index=False)
    refused("fit GaussianNB parts -t k -s parts/b.csv", folder)
    assert run("fit GaussianNB parts -t k -s parts/c.tractable").exit_code == 0


def test_streams_that_are_files_are_inputs_and_outputs(folder):
    """As with `cat t.csv >> t.csv`."""
    before = contents(folder)
    for words, streams in (
        ("complete - -o t.csv", {"stdin": "rb"}),
        ("predict m t.csv", {"stdout": "ab"}),
    ):
        with Path("t.csv").open(next(iter(streams.values()))) as file:
            found = subprocess.run(
                [sys.executable, "-m", "tractable", *words.split()],
                **({"stdout": subprocess.PIPE} | dict.fromkeys(streams, file)),
                stderr=subprocess.PIPE,
                check=False,
            )
        assert (found.returncode, b"is a file that is being read" in found.stderr) == (2, True), found.stderr
        assert contents(folder) == before


def test_python_refuses_what_the_command_refuses(folder):
    Path("link.parquet").symlink_to("t.parquet")
    before = contents(folder)
    source = tractable.scan("t.parquet", features=["x"], target="k")
    fitted = tractable.GaussianNB().fit(source)
    for name in ("t.parquet", "link.parquet", folder / "t.parquet", "T.parquet"):
        with pytest.raises(ValueError, match=r"path: .* is a file that is being read"):
            tractable.save(fitted, name)
        with pytest.raises(ValueError, match=r"path: .* is a file that is being read"):
            tractable.predict_to(fitted, source, name)
    report = tractable.report("t.csv")
    with pytest.raises(ValueError, match=r"path: .* is a file that is being read"):
        report.save(folder / "t.csv")
    assert contents(folder) == before
    del source
    tractable.save(fitted, "t.parquet")  # nobody reads it any more
    assert zipfile.is_zipfile("t.parquet")


def test_files_that_may_be_written(folder):
    """The other side of the rule."""
    Path("copy.csv").write_bytes(Path("t.csv").read_bytes())
    check_outputs([("a", "copy.csv"), ("b", "/dev/null"), ("c", "/dev/null")], ["t.csv", "/dev/null"])


# Kinds of outputs


@pytest.mark.parametrize("name", QUICK)
def test_a_link_stays_and_its_target_gets_the_content(folder, name):
    words, begins = WRITERS[name]
    out = next(word for word in words.split() if "OUT" in word)
    link = Path(out.replace("OUT", "link").replace("{draw}", "1"))
    target = folder / ("target" + link.suffix)
    for old in (b"old", None):  # and one that leads to no file yet
        target.write_bytes(b"old") if old else target.unlink()
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        found = run(words.replace("OUT", "link"))
        assert found.exit_code == 0, found.stderr
        assert link.is_symlink()
        assert target.read_bytes().replace(b'"', b"").startswith(begins)


@pytest.mark.parametrize("name", QUICK)
def test_a_pipe_gets_the_content_and_stays_a_pipe(folder, name):
    words, begins = WRITERS[name]
    out = next(word for word in words.split() if "OUT" in word)
    pipe = Path(out.replace("OUT", "pipe").replace("{draw}", "1"))
    os.mkfifo(pipe)
    got = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    found = run(words.replace("OUT", "pipe"))
    reader.join(60)
    assert found.exit_code == 0, found.stderr
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert got[0].replace(b'"', b"").startswith(begins)


@pytest.mark.parametrize("name", QUICK)
def test_a_device_stays_a_device(folder, name):
    words, _ = WRITERS[name]
    out = next(word for word in words.split() if "OUT" in word)
    for device, code in (("/dev/null", 0), ("/dev/full", 2)):
        link = Path(out.replace("OUT", device[-4:]).replace("{draw}", "1"))
        link.symlink_to(device)
        before = set(folder.iterdir())
        found = run(words.replace("OUT", device[-4:]))
        assert found.exit_code == code, found.output
        assert stat.S_ISCHR(Path(device).stat().st_mode)
        if code:
            assert found.stderr.splitlines()[-1].startswith("error: ")
            assert "no space left on device" in found.stderr
            assert not [path for path in set(folder.iterdir()) - before if path.suffix == ".part"]


def test_a_device_needs_no_ending(folder):
    assert run("predict m t.csv -o /dev/null").exit_code == 0
    assert run("predict m t.csv -o /dev/full").exit_code == 2


def test_save_writes_to_pipes_devices_and_links(folder):
    os.mkfifo("pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append(Path("pipe").read_bytes()))
    reader.start()
    tractable.save({"a": np.arange(3.0)}, "pipe")
    reader.join(60)
    tractable.save({"a": np.arange(3.0)}, "file")
    assert got == [Path("file").read_bytes()]  # equal bytes wherever they go
    tractable.save([1], "/dev/null")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(OSError, match="No space left"):
        tractable.save([1], "/dev/full")
    Path("link").symlink_to("new")
    tractable.save([2], "link")
    assert Path("link").is_symlink()
    assert tractable.load("new") == [2]


@pytest.mark.parametrize(
    "make", [lambda path: path.mkdir(), lambda path: path.symlink_to(path)], ids=["folder", "loop"]
)
@pytest.mark.parametrize("name", QUICK)
def test_what_no_file_can_be_is_refused_before_any_work(folder, name, make):
    words, _ = WRITERS[name]
    out = next(word for word in words.split() if "OUT" in word)
    make(Path(out.replace("OUT", "out").replace("{draw}", "1")))
    found = run(words.replace("OUT", "out"))
    assert found.exit_code == 2
    assert "is a folder" in found.stderr or "cannot be written to: too many levels" in found.stderr
    assert not Path("page.html").exists()


# Full disks


def limited(words, size, **options):
    """Run the command where no file may grow beyond a size, as on a full disk."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return subprocess.run(
        [sys.executable, "-m", "tractable", *words.split()],
        capture_output=True,
        check=False,
        preexec_fn=limit,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        timeout=300,
        **options,
    )


@pytest.mark.parametrize("name", some(WRITERS, 2))
def test_a_full_disk_leaves_the_old_file(folder, name):
    words, _ = WRITERS[name]
    out = next(word for word in words.split() if "OUT" in word)
    old = Path(out.replace("OUT", "old").replace("{draw}", "1"))
    old.write_bytes(b"old")
    found = limited(words.replace("OUT", "old"), 16)
    assert found.returncode == 2, found.stderr
    assert old.read_bytes() == b"old"
    [error] = [line for line in found.stderr.decode().splitlines() if line.startswith("error: ")]
    assert "file too large" in error
    assert not list(folder.glob(".*"))


def test_a_full_disk_is_named_in_python(folder):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
    try:
        with pytest.raises(OSError, match="File too large") as found:
            tractable.save(np.zeros(1000), "m")
        with pytest.raises(OSError, match="File too large"):
            tractable.predict_to(tractable.GaussianNB().fit(ROWS[["x"]], ROWS["k"]), ROWS[["x"]], "o.parquet")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert found.value.filename == "m"
    assert not list(folder.glob(".*"))
    assert not Path("o.parquet").exists()


# Closed streams

CLOSED = {
    "stderr": [
        ("predict m t.csv -o OUT.csv", 0),
        ("ask t.csv x --save OUT", 0),
        ("complete t.csv -n 1 -o OUT.csv", 0),
        ("fit GaussianNB t.csv -t k -s OUT", 0),
        ("report t.csv -o OUT", 0),
        ("models Rigde", 2),
    ],
    "stdout": [
        ("predict m t.csv -o OUT.csv", 0),
        ("predict m t.csv", 2),
        ("fit GaussianNB t.csv -t k -s -", 2),
        ("models", 0),
    ],
    "stdin": [("predict m t.csv -o OUT.csv", 0), ("predict m - -o OUT.csv", 2)],
}


@pytest.mark.parametrize(
    ("stream", "words", "code"),
    some([(s, *case) for s, cases in CLOSED.items() for case in cases], 1, several=True),
)
def test_a_closed_stream_loses_no_output(folder, stream, words, code):
    sign = {"stdin": "<&-", "stdout": ">&-", "stderr": "2>&-"}[stream]
    command = f"{sys.executable} -m tractable {words.replace('OUT', 'out')} {sign}"
    found = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=300)
    assert found.returncode == code, found.stderr
    assert b"Traceback" not in found.stderr
    assert b"Exception ignored" not in found.stderr
    outputs = [path for path in folder.iterdir() if path.name.startswith("out")]
    assert len(outputs) == ("OUT" in words and code == 0)
    assert all(path.stat().st_size > 50 for path in outputs)
    if code and stream != "stderr":
        assert f"error: standard {stream[3:]}put is closed" in found.stderr.decode()


@pytest.mark.slow
@pytest.mark.parametrize("words", ["predict m t.csv", "models", "models --json", "ask t.csv x"])
def test_standard_output_that_is_full_is_an_error(folder, words):
    command = f"{sys.executable} -m tractable {words} > /dev/full"
    found = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=300)
    assert found.returncode == 2, found.stderr
    assert found.stderr.decode().splitlines()[-1] == "error: no space left on device"


# Ctrl-C


def test_a_signal_during_exit_changes_no_exit_code(folder):
    script = """
import atexit, os, signal, sys
from tractable.cli import main
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
sys.argv = ["tractable", "models", "Ridge"]
main()
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False, timeout=300)
    assert (found.returncode, found.stderr) == (0, b"")


@pytest.mark.parametrize("words", [("-m", "stopped"), ("stopped.py",)])
def test_an_interruption_of_code_that_is_text_has_the_exit_code(folder, words):
    """Data classes and named tuples are made by code that is text: imports are interrupted within it."""
    (folder / "stopped.py").write_text("""
import sys
from tractable.cli import main
from tractable.cli.console import open_console
from tractable.cli.program import app
@app.command()
def stopped():
    with open_console():
        exec("raise KeyboardInterrupt")
sys.argv = ["tractable", "stopped"]
main()
""")
    found = subprocess.run([sys.executable, *words], capture_output=True, check=False, timeout=300)
    assert (found.returncode, found.stderr.split()) == (130, [b"interrupted"])


@pytest.mark.slow
def test_a_process_that_is_stopped_ends_with_a_code(folder):
    """Stopped at seeded moments, it is done or has the code of an interruption."""
    rng = np.random.default_rng(0)
    pd.concat([ROWS] * 500).to_csv("t.csv", index=False)
    codes = []
    script = "print('begun', flush=True); from tractable.cli import main; main()"
    for pause in rng.uniform(0.1, 3.0, 24):
        process = subprocess.Popen(
            [sys.executable, "-c", script, "predict", "m", "t.csv", "-o", "o.csv"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout.readline() == b"begun\n"
        time.sleep(pause)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        codes.append(process.returncode)
        assert not list(folder.glob(".*.part"))
    assert set(codes) <= {0, 130}, codes
