"""Frames to learn from, a few megabytes at a time: for models that read columns of words."""

from collections.abc import Iterator
from typing import Any

from tractable.cli.rows import as_whole, missing_entries, missing_target
from tractable.cli.table import Table
from tractable.data.columns import Roles

__all__ = ["WatchedFrames"]


class WatchedFrames:
    """A table whose rows are counted as they pass; every walk over it starts anew.

    Parameters
    ----------
    table : Table
    roles : Roles
    holes : bool
        Whether the model takes rows with missing features.
    drop : bool
        Whether rows that it cannot take are left out; they are an error otherwise.
    label : str
        What to call the model in the error.
    whole : bool
        Whether the targets are labels that are whole numbers.
    """

    def __init__(
        self, table: Table, roles: Roles, *, holes: bool, drop: bool, label: str, whole: bool = False
    ) -> None:
        self.table, self.roles, self.drop, self.label, self.whole = table, roles, drop, label, whole
        self.needed = list(roles.targets if holes else (*roles.targets, *roles.features))
        self.counted = self.dropped = 0

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        counted = dropped = 0
        for block in self.table.blocks(self.roles.columns):
            frame = block.to_pandas()
            kept = self.kept(frame)
            counted += len(kept)
            dropped += len(frame) - len(kept)
            # A later pass may stop half-way.
            self.counted, self.dropped = max(self.counted, counted), max(self.dropped, dropped)
            if len(kept):
                yield self.parts(kept)
        if not counted:
            raise ValueError("there are no rows without missing entries")

    def kept(self, frame: Any) -> Any:
        """Return the rows that the model takes."""
        holes = frame[self.needed].isna()
        bad = holes.any(axis=1)
        if bad.any() and not self.drop:
            column = holes.columns[holes.any()][0]
            raise missing_target() if column == self.roles.target else missing_entries(self.label, column)
        return frame[~bad]

    def parts(self, frame: Any) -> tuple[Any, Any, Any]:
        """Return the features, the targets and the weights of some rows; None where there are none."""
        target, weight = self.roles.target, self.roles.weight
        y = None if target is None else frame[target].to_numpy()
        y = as_whole(y) if y is not None and self.whole else y
        return frame[list(self.roles.features)], y, None if weight is None else frame[weight].to_numpy()
