"""Ours and the peers, interleaved: `python -m benchmarks`, or `make bench ONLY=name`."""
