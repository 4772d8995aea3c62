"""The threads of folds and maps: those of the rooms below, whose searches run on all cores too."""

from tractable.primitives.threads import default_threads, ordered_map, single_threaded_blas

__all__ = ["default_threads", "ordered_map", "single_threaded_blas"]
