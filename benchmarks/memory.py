"""Peak memory of one contender above what the process held before, in a process of its own.

The contender first runs on the small data, so that imports and compiled code belong to the baseline; the data
itself does too, unless it is a file.
"""

import json
import os
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STATUS = Path("/proc/self/status")


def peak_above_baseline(row, contender, folder, *, dry=False):
    """Return bytes, measured in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.memory", row.name, contender, str(folder), str(int(dry))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"memory of {row.name}, {contender}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measured_here(row, contender, folder, *, dry):
    """Run in the fresh process."""
    run = row.contenders[contender]
    run(row.setup(row.dry_size, folder))
    data = row.setup(row.dry_size if dry else row.size, folder)
    forget_peak()
    baseline = resident()
    run(data)
    return max(0, peak() - baseline)


def forget_peak():
    """Let the kernel start the high-water mark anew, where it can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def resident():
    """Bytes held now; the peak so far where the system does not say."""
    return _status("VmRSS") if STATUS.exists() else peak()


def peak():
    """Most bytes held at once."""
    if STATUS.exists():
        return _status("VmHWM")
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(name):
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    name, contender, folder, dry = sys.argv[1:]
    row = import_module(f"benchmarks.rows.{name}").ROW  # and not what other rows import
    print(json.dumps(measured_here(row, contender, Path(folder), dry=dry == "1")))
