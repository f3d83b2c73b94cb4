"""The benchmark of the call-out runs, in a form of seconds: its parts are tested, and never how fast anything is."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import envoy, h2load


@pytest.mark.skipif(not h2load.is_there(), reason="h2load is not here: Debian has it in nghttp2-client")
def test_every_way_is_measured(tmp_path: Path) -> None:
    (round_,) = envoy.measure(envoy.SETUPS[-1], tmp_path, envoy.Length(1, 0.3))
    assert set(round_) == set(envoy.WAYS)
    assert all(timed.requests and timed.median_us > 0 for timed in round_.values())
