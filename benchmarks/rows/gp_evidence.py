"""Evidence of a Gaussian process with its gradient."""

from benchmarks.gaussian_process import (
    bare,
    check_evidence,
    evidence,
    gpytorch,
    setup,
    their_evidence,
    torch_evidence,
)
from benchmarks.row import Row, at_least


def check(mine, theirs):
    """As `check_evidence`; of GPyTorch, whose parameters are others, the value alone."""
    check_evidence(mine[:1] if theirs.shape == (1,) else mine, theirs)


N_ROWS = 2_000
#: Compared where it is installed, which `make bench` leaves to others: it brings gigabytes of torch.
TORCH = {} if gpytorch is None else {"GPyTorch": torch_evidence}

ROW = Row(
    name="gp_evidence",
    shows="Evidence with gradient, squared exponential with 10 length scales and noise, 2,000 rows.",
    setup=setup,
    size=(N_ROWS, 10),
    dry_size=(60, 4),
    ours=evidence,
    peers={
        "scikit-learn": their_evidence,
        "dpotrf and dpotri": bare,
        **TORCH,
    },
    check=check,
    targets={"scikit-learn": at_least(6.0), **dict.fromkeys(TORCH, at_least(3.0))},
    memory_limit_mb=1.3 * 8 * N_ROWS**2 / 1e6,
    limit="a Cholesky factor, its inverse, and the kernel at half of all pairs, twice.",
    reason="Of the memory 36 MB are its arrays, 1.14 matrices of rows × rows; the rest are buffers of BLAS.",
)
