"""Random faults of a real world, and invariants that are checked on every answer: `python -m tests.chaos`."""
