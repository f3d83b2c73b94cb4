"""Runs benchmarks and writes their results as they come: `python -m benchmarks [NAMES] [--quick]`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator

from benchmarks import churn, engine, memory, peers, stream, wire
from benchmarks.figures import Section
from benchmarks.results import PATH, Results

# By name, with the title of its section, in the order of the file.
BENCHMARKS: dict[str, tuple[str, Callable[..., Iterator[Section]]]] = {
    "wire": ("Wire", wire.run),
    "engine": ("Engine", engine.run),
    "stream": ("Stream", stream.run),
    "churn": ("Change under load", churn.run),
    "peers": ("Peers", peers.run),
    "memory": ("Memory and start", memory.run),
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
