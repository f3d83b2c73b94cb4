"""A short run of random faults over a real world holds every invariant; `python -m tests.chaos` is the long one."""

from __future__ import annotations

import os
import secrets

import click
import pytest

from tests.chaos.run import run
from tests.store.redis_server import binary

SECONDS = float(os.environ.get("ROUTER_SERVICE_CHAOS_SECONDS", "20"))
SEED = os.environ.get("ROUTER_SERVICE_CHAOS_SEED", "")


@pytest.mark.parametrize("kind", ["redis", "sqlite"])
def test_no_invariant_is_broken_by_random_faults(kind: str) -> None:
    if kind == "redis":
        binary()
    seed = int(SEED) if SEED else secrets.randbelow(10**9)
    click.echo(f"seed {seed}")
    record = run(SECONDS if kind == "redis" else SECONDS / 2, seed, kind)
    click.echo(record.table())
    assert not record.violations, f"seed {seed}:\n" + "\n".join(record.violations)
    # Enough was asked that the checks had something to hold.
    assert record.checks["all of it is what the reference says"] > 10
    assert record.checks["the store agrees with the ledger, to the cent"] == 1
