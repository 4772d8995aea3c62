"""Products with sparse rows, compiled."""

from tractable.primitives.compiled_options import entry


# Sums are not reordered: the compiler would use gather instructions, which take longer than single reads.
@entry(
    "DENSE_VECTOR UNSIGNED INDICES DENSE_VECTOR FLOAT DENSE_VECTOR FLOAT OUT_VECTOR OUT_VECTOR",
    fastmath={"contract"},
)
def residual_products(data, columns, starts, v, offset, root, alpha, u, out):  # type: ignore[no-untyped-def]
    """Overwrite u with r = root (X v + offset) - alpha u and add Xᵀ(root r) to `out`; return Σ root r.

    An empty `root` is one. Each row is read once: its entries are in the cache when `out` needs them.
    """
    total = 0.0
    for i in range(len(u)):
        x, at = data[starts[i] : starts[i + 1]], columns[starts[i] : starts[i + 1]]
        one = root[i] if root.size else 1.0
        found = offset
        for j in range(len(x)):
            found += x[j] * v[at[j]]
        found = one * found - alpha * u[i]
        u[i] = found
        found *= one
        total += found
        for j in range(len(x)):
            out[at[j]] += x[j] * found
    return total
