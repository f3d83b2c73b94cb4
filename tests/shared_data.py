"""Data from outside the repository: tests that want it say so, and skip clearly where it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared(name: str) -> Path:
    """The path of a file of the shared data; the test that asks is skipped where it is not there."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the shared data is not here: no {name} in a folder `shared` beside the repository")
    return path
