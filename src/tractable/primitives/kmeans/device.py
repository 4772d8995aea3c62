"""Assignment of many rows of a device to their nearest centres, in few passes over the rows."""

from functools import cache
from typing import Any

from tractable.arrays.devices import device_of, empty_tensor
from tractable.arrays.namespace import namespace_of
from tractable.primitives import SILENT, as_double

#: Rows that are looked at at a time, and entries of them.
DEVICE_ROWS, ENTRIES = 2**20, 2**30

#: Products of rows and centres that are held at a time, where the smallest is not found by the way.
PRODUCTS = 2**27

#: Rows, centres and columns that a group of threads multiplies at a time.
ROWS, CENTERS, COLUMNS = 128, 32, 32

#: Rows whose mean is at most so far from the origin, in units of their spread, lose no digits by it.
NEAR = 4.0

#: Squared distances to centres that are at least this share of those to the origin have twelve digits.
LEAST_SHARE = 1e-4

#: Rows of at most this size, and at least its inverse, have squares in single precision too.
LARGE = 2.0**20


@SILENT
def assign(x: Any, weights: Any, shift: Any, scale: float, centers: Any) -> dict[str, Any]:
    """Give rows to their nearest centres.

    Rows whose mean is near the origin are not shifted. Squared distances are |x|² + |c|² - 2 c·x, and by
    differences, two more passes, where rows are so much nearer to their centres that those lose digits.
    """
    x = as_double(x)
    double, kernel = namespace_of(x).float64, fused(x.device) if x.is_cuda and x.element_size() == 8 else None
    direct = 1.0 / LARGE <= scale <= LARGE and float(shift.abs().max()) * scale <= NEAR
    own = centers / scale + shift if direct else centers
    squares, (k, d) = (own * own).sum(dim=1), own.shape
    labels = x.new_empty(len(x), dtype=namespace_of(x).int64)
    sums, length, cost = (own.new_zeros(shape, dtype=double) for shape in ((k, d), (), ()))
    step = max(1, min(DEVICE_ROWS, ENTRIES // d, ENTRIES if kernel else PRODUCTS // k))
    parts = [slice(start, start + step) for start in range(0, len(x), step)]

    def rows(part: slice) -> Any:
        return x[part, :] if direct else (x[part, :] - shift) * scale

    for part in parts:
        z, w = rows(part), None if weights is None else weights[part]
        least = nearest(kernel, z, own, squares, labels[part])
        weighted = z if w is None else z * w[:, None]
        # Sums of parts are added in double precision, whatever the rows hold.
        sums += own.new_zeros(own.shape).index_add_(0, labels[part], weighted)
        length += weighted.reshape(-1).dot(z.reshape(-1))
        cost += least.sum() if w is None else least.dot(w)
    cost += length
    # Which waits for the device: once.
    counts = labels.bincount(None if weights is None else weights.to(double), minlength=k).to(double)
    if not cost > LEAST_SHARE * length:
        cost = length.new_zeros(())
        for part in parts:
            apart = (rows(part) - own[labels[part]]).norm(dim=1) ** 2
            cost += apart.sum() if weights is None else apart.dot(weights[part])
    if direct:
        sums, cost = (sums - counts[:, None] * shift) * scale, cost * scale**2
    return {"labels": labels, "sums": sums, "counts": counts, "cost": cost}


def nearest(kernel: Any, x: Any, centers: Any, squares: Any, labels: Any) -> Any:
    """Return min_k |c_k|² - 2 c_k·x of every row, and write which centre it is to `labels`."""
    if kernel is not None:
        return launched(kernel, x, centers, squares, labels)
    least, labels[:] = squares.addmm(x, centers.T, alpha=-2.0).min(dim=1)
    return least


def launched(kernel: Any, x: Any, centers: Any, squares: Any, labels: Any) -> Any:
    """Return `nearest` by the kernel of `fused`."""
    (n, d), k = x.shape, len(centers)
    least, blocks = x.new_empty(n), (-(-n // ROWS),)
    given = x, centers.contiguous(), squares, labels, least, n, k, d, *x.stride()
    with device_of(x):
        kernel[blocks](*given, ROWS, CENTERS, COLUMNS, num_warps=4)
    return least


@cache
def fused(place: Any) -> Any:
    """Return a kernel that keeps the products with centres in registers, or None where it is not compiled.

    It needs Triton, which comes with torch for CUDA, a GPU that Triton knows, and a C compiler.
    """
    try:
        kernel, x = _kernel(), empty_tensor(place).new_tensor([[1.0, 0.0], [0.0, 1.0]])
        labels = x.new_full((2,), -1, dtype=namespace_of(x).int64)
        launched(kernel, x, x, x.sum(dim=1), labels)
        return kernel if labels.tolist() == [0, 1] else None
    except Exception:  # noqa: BLE001  of any kind: the products of all pairs, and their smallest, serve as well
        return None


def _kernel() -> Any:
    import triton
    import triton.language as tl

    @triton.jit
    def nearest_center(  # type: ignore[no-untyped-def]  # noqa: ANN202
        x, centers, squares, labels, least, n, k, d, along, across,  # noqa: ANN001
        ROWS: tl.constexpr, CENTERS: tl.constexpr, COLUMNS: tl.constexpr,
    ):  # fmt: skip
        row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
        column = tl.arange(0, COLUMNS)
        inside = row < n
        best = tl.full((ROWS,), float("inf"), tl.float64)
        which = tl.zeros((ROWS,), tl.int32)
        for first in range(0, k, CENTERS):
            center = first + tl.arange(0, CENTERS)
            known = center < k
            products = tl.zeros((ROWS, CENTERS), tl.float64)
            for start in range(0, d, COLUMNS):
                at = start + column
                z = tl.load(
                    x + row[:, None] * along + at.to(tl.int64)[None, :] * across,
                    mask=inside[:, None] & (at < d)[None, :],
                    other=0.0,
                )
                c = tl.load(
                    centers + center[None, :] * d + at[:, None],
                    mask=known[None, :] & (at < d)[:, None],
                    other=0.0,
                )
                products = tl.dot(z, c, products, out_dtype=tl.float64)
            score = tl.load(squares + center, mask=known, other=float("inf"))[None, :] - 2.0 * products
            smallest, place = tl.min(score, axis=1, return_indices=True)
            closer = smallest < best
            best = tl.where(closer, smallest, best)
            which = tl.where(closer, first + place, which)
        tl.store(labels + row, which.to(tl.int64), mask=inside)
        tl.store(least + row, best, mask=inside)

    return nearest_center
