"""An evidence in its two parts: what the bound reaches, and how far it falls short."""

from typing import Any

from tractable.engines import EvidenceDecomposition
from tractable.plotting.plot import picture
from tractable.plotting.style import COLOURS, legend, quiet

__all__: list[str] = []


@picture.register
def _evidence(x: EvidenceDecomposition, ax: Any) -> Any:
    """Draw the bound up to the evidence with the divergence between, and the bound from Q and the entropy."""
    low = min(x.bound, x.expected_complete)
    room = 0.25 * (max(x.evidence, x.bound) - low) or 1.0
    floor = low - room  # nats have no zero to start from
    for place, start, end, told, colour, label in (
        (0, floor, x.bound, x.bound, COLOURS[0], "bound L(q)"),
        (0, x.bound, x.evidence, x.divergence, COLOURS[1], "KL(q ‖ posterior)"),
        (1, floor, x.expected_complete, x.expected_complete, COLOURS[4], "Q, expected complete"),
        (1, x.expected_complete, x.bound, x.entropy, COLOURS[2], "entropy of q"),
    ):
        ax.bar(place, end - start, 0.6, bottom=start, color=colour, label=f"{label} = {told:.4g}")
    ax.axhline(x.evidence, color="0.3", lw=1.0, ls="--", label=f"log evidence = {x.evidence:.4g}")
    ax.set_xticks([0, 1], ["evidence", "bound"])
    ax.set(xlabel="what it is made of", ylabel="nats", xlim=(-0.5, 1.5), ylim=(floor, x.evidence + room))
    quiet(ax)
    legend(ax, beside=True)
    return ax
