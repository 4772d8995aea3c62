"""How many threads: what the user says, else what the machine, its container and OpenMP allow."""

import math
import os
import re
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import joblib
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tractable.primitives import compiled_options, threads
from tractable.primitives.threads import cpu_quota, default_threads


@pytest.fixture(autouse=True)
def eight_cores(monkeypatch):
    monkeypatch.setattr(threads, "_cores", lambda: 8)
    monkeypatch.setattr(threads, "_openmp_limits", list)
    for name in ("OMP_NUM_THREADS", "TRACTABLE_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, 8),
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "3,1"}, 3),
        ({"OMP_NUM_THREADS": " 2 "}, 2),
        ({"OMP_NUM_THREADS": "64"}, 8),
        ({"OMP_NUM_THREADS": "many"}, 8),
        ({"OMP_NUM_THREADS": "0"}, 8),
        ({"OMP_NUM_THREADS": "3", "TRACTABLE_NUM_THREADS": "5"}, 5),
        ({"TRACTABLE_NUM_THREADS": "16"}, 16),
        ({"TRACTABLE_NUM_THREADS": " 3 "}, 3),
        ({"TRACTABLE_NUM_THREADS": ""}, 8),
    ],
)
def test_variables(monkeypatch, variables, expected):
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert default_threads() == expected


@pytest.mark.parametrize("given", ["0", "-1", "2.5", "many", "²"])
def test_what_is_no_number_of_threads_is_said_once(given, monkeypatch):
    threads._warn_of_threads.cache_clear()
    monkeypatch.setenv("TRACTABLE_NUM_THREADS", given)
    with pytest.warns(UserWarning, match=re.escape(f"from 1, got {given!r}")):
        assert default_threads() == 8
    assert default_threads() == 8


@pytest.mark.parametrize(("asked", "most"), [(None, 2), ("1", 1), ("2", 2), ("5", 2)])
def test_blas_has_no_more_threads_than_are_asked_for(asked, most, monkeypatch, threads_of_blas):
    """Limits that overlap end in any order."""
    if asked is not None:
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", asked)
    large, small = threads.single_threaded_blas(False), threads.single_threaded_blas()
    large.__enter__()
    assert of_blas() == {most}
    small.__enter__()
    assert of_blas() == {1}
    large.__exit__()
    assert of_blas() == {1}
    small.__exit__()
    assert of_blas() == {2}
    with large:
        assert of_blas() == {most}
    assert of_blas() == {2}


def of_blas():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_limits_of_threadpoolctl(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(threads, "_cores", lambda: 8)
    for name in ("OMP_NUM_THREADS", "TRACTABLE_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    import sklearn.base  # noqa: F401  (it brings OpenMP)

    with threadpool_limits(limits=1):
        assert default_threads() == 1
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", "4")
        assert default_threads() == 4
        monkeypatch.delenv("TRACTABLE_NUM_THREADS")
    with threadpool_limits(limits=5, user_api="openmp"):
        assert default_threads() == 5
        with threadpool_limits(limits=1, user_api="blas"):
            assert default_threads() == 5


FILES = {
    "no groups": ({}, math.inf),
    "second version, no quota": (
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"},
        math.inf,
    ),
    "second version, in a container": (
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "250000 100000\n"},
        2.5,
    ),
    "second version, of a service in a slice": (
        {
            "proc/self/cgroup": "0::/big.slice/small.service\n",
            "sys/fs/cgroup/big.slice/cpu.max": "300000 100000\n",
            "sys/fs/cgroup/big.slice/small.service/cpu.max": "max 100000\n",
        },
        3.0,
    ),
    "first version": (
        {
            "proc/self/cgroup": "5:memory:/a\n4:cpu,cpuacct:/docker/7f\n",
            "sys/fs/cgroup/cpu,cpuacct/docker/7f/cpu.cfs_quota_us": "150000\n",
            "sys/fs/cgroup/cpu,cpuacct/docker/7f/cpu.cfs_period_us": "100000\n",
        },
        1.5,
    ),
    "first version, where the path of the host is not to be seen": (
        {
            "proc/self/cgroup": "4:cpuacct,cpu:/docker/7f\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        4.0,
    ),
    "first version, no quota": (
        {
            "proc/self/cgroup": "1:cpu:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        math.inf,
    ),
    "nonsense": ({"proc/self/cgroup": "what\n:\n", "sys/fs/cgroup/cpu.max": "no"}, math.inf),
    "a quota of a period of zero": (
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "100 0\n"},
        math.inf,
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_quotas(tmp_path, case):
    files, expected = FILES[case]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert cpu_quota(tmp_path) == expected


def test_half_a_core_is_one_thread(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(threads, "cpu_quota", lambda: 0.5)
    assert threads._cores.__wrapped__() == 1


def test_without_a_quota_the_cores_of_the_affinity(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(threads, "cpu_quota", lambda: math.inf)
    assert threads._cores.__wrapped__() >= 1


def test_workers_of_joblib_share_the_cores():
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        assert joblib.Parallel(n_jobs=2)(joblib.delayed(_fresh_default)() for _ in range(2)) == [1, 1]


def _fresh_default():
    from tractable.primitives.threads import default_threads

    return default_threads()


def test_a_worker_of_dask_is_started_with_one_thread():
    # As the nanny of Dask starts its workers: the variable is all that they are told.
    script = "from tractable.primitives.threads import default_threads; print(default_threads())"
    told = {"OMP_NUM_THREADS": "1", "PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", script], env=told, capture_output=True, text=True, check=True
    )
    assert found.stdout == "1\n"


def test_the_guide_lists_every_variable():
    source = Path(threads.__file__).parents[1]
    page = (source.parents[1] / "docs" / "guide" / "environment.md").read_text()
    read = {
        found
        for path in source.rglob("*.py")
        for found in re.findall(r"[A-Z]+_[A-Z_]+(?=\")", path.read_text())
    }
    variables = {name for name in read if name.startswith(("TRACTABLE_", "OMP_", "NUMBA_"))}
    assert variables
    assert {name for name in variables if f"`{name}`" not in page} == set()


def of_a_child(answer):
    """Return what `answer` gives in a process that is forked here."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, answer().encode())
        os._exit(0)
    os.close(write)
    try:
        with os.fdopen(read) as end:
            return end.read()
    finally:
        os.waitpid(child, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX says so of any fork
def test_a_process_forked_while_blas_is_limited_has_its_threads(threads_of_blas):
    def limits():
        before = of_blas()
        with threads.single_threaded_blas():
            limited = of_blas()
        return f"{before} {limited} {of_blas()}"

    with threads.single_threaded_blas():
        assert of_a_child(limits) == "{2} {1} {2}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # JAX says so of any fork
def test_a_process_forked_while_another_thread_compiles_compiles_too():
    locked, forked = Event(), Event()

    def compiling():
        with compiled_options._LOCK:
            locked.set()
            forked.wait(0.2)

    def compiles():
        return str(compiled_options._LOCK.acquire(timeout=5.0))

    other = Thread(target=compiling)
    other.start()
    locked.wait()
    try:
        assert of_a_child(compiles) == "True"
    finally:
        forked.set()
        other.join()
