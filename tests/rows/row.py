"""What a row of the catalogue is."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """A named instance, made anew for every law; `exempt` maps a law's name to the reason it cannot hold."""

    name: str
    make: Callable[[], object]
    exempt: dict[str, str] = field(default_factory=dict)
