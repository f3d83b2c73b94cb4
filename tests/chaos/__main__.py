"""`python -m tests.chaos`: random faults for so many seconds; exit code 1 where an invariant did not hold."""

from __future__ import annotations

import argparse
import secrets
import signal
import sys

import click

from tests.chaos.run import run


def main() -> int:
    """Runs, and tells what was done and what was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=180, help="how long faults are done (default: 180)")
    parser.add_argument("--seed", type=int, default=None, help="what all is drawn from (default: a new one)")
    parser.add_argument("--store", choices=("redis", "sqlite"), default="redis", help="the store (default: redis)")
    asked = parser.parse_args()
    # All processes of the world are ended, whoever ends this one.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    seed = secrets.randbelow(10**9) if asked.seed is None else asked.seed
    click.echo(f"seed {seed}, {asked.seconds:g} s, on {asked.store}")
    record = run(asked.seconds, seed, asked.store)
    click.echo(record.table())
    for one in record.violations:
        click.echo(f"VIOLATION {one}")
    click.echo(f"{len(record.violations)} violations, seed {seed}")
    return 1 if record.violations else 0


if __name__ == "__main__":
    sys.exit(main())
