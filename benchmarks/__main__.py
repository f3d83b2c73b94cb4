"""Runs benchmarks and writes their results as they come: `python -m benchmarks [NAMES] [--quick]`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

from benchmarks.churn import run as run_churn
from benchmarks.engine import run as run_engine
from benchmarks.envoy import run as run_envoy
from benchmarks.figures import Section
from benchmarks.flood import run as run_flood
from benchmarks.memory import run as run_memory
from benchmarks.peers import run as run_peers
from benchmarks.results import PATH, Results
from benchmarks.simulation.bench import run as run_simulation
from benchmarks.stream import run as run_stream
from benchmarks.wire import run as run_wire
from benchmarks.workers import run as run_workers

# By name, with the title of its section, in the order of the file.
BENCHMARKS: dict[str, tuple[str, Callable[..., Iterator[Section]]]] = {
    "wire": ("Wire", run_wire),
    "engine": ("Engine", run_engine),
    "stream": ("Stream", run_stream),
    "envoy": ("Envoy", run_envoy),
    "churn": ("Change under load", run_churn),
    "peers": ("Peers", run_peers),
    "flood": ("Flood", run_flood),
    "workers": ("Workers", run_workers),
    "memory": ("Memory and start", run_memory),
    "simulation": ("Simulation", run_simulation),
}


def main(arguments: list[str]) -> int:
    """Runs those named, or all; 1 where one failed."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(BENCHMARKS)}; none is all")
    parser.add_argument("--quick", action="store_true", help="fewer sizes, fewer and shorter rounds")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.names if name not in BENCHMARKS]:
        parser.error(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    results = Results(PATH, tuple(title for title, _ in BENCHMARKS.values()))
    failed = []
    for name in asked.names or BENCHMARKS:
        begun, text = time.monotonic(), ""
        print(f"… {name}", file=sys.stderr, flush=True)
        try:
            for section in BENCHMARKS[name][1](quick=asked.quick):
                text = results.put(section, quick=asked.quick)
        except (OSError, RuntimeError, AssertionError) as error:
            failed.append(name)
            print(f"{name}: {error}", file=sys.stderr)
        print(text, flush=True)
        print(f"… {name} took {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    print(f"{'failed: ' + ', '.join(failed) if failed else 'written to'} {PATH.name}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
