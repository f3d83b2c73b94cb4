"""What README's figures come from: `make bench`, or `python -m benchmarks NAMES` (docs/performance.md)."""
