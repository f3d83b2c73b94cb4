"""What the time of one Decide is made of, without gRPC: `python -m benchmarks.parts [ENDPOINTS] [--different]`.

Prints the time of the whole path and the functions with the greatest share of it. A profiler makes calls of small
functions look dearer than they are, so the shares are no more than a guide; the total is measured without it.
"""

from __future__ import annotations

import argparse
import cProfile
import itertools
import pstats
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.catalogues import models_of
from benchmarks.figures import table
from benchmarks.inprocess import InProcess, door
from benchmarks.requests import requests

_SHOWN = 25


def main(arguments: Sequence[str]) -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(prog="benchmarks.parts", description=__doc__)
    parser.add_argument("endpoints", nargs="?", type=int, default=5_000)
    parser.add_argument("--different", action="store_true", help="every request different, not the same 100 again")
    asked = parser.parse_args(arguments)
    with TemporaryDirectory() as folder:
        call = door(InProcess(asked.endpoints, Path(folder)).snapshot)
    every = [one.SerializeToString() for one in requests(8_000, models_of(asked.endpoints))]
    if asked.different:
        before, timed, profiled = every[:2_000], every[2_000:5_000], every[5_000:]
    else:
        before, timed = every[:100], list(itertools.islice(itertools.cycle(every[:100]), 20_000))
        profiled = timed
    for message in before:
        call(message)
    begun = time.thread_time()
    for message in timed:
        call(message)
    print(f"{(time.thread_time() - begun) / len(timed) * 1e6:.1f} µs a call at {asked.endpoints:,} endpoints\n")
    profile = cProfile.Profile()
    profile.enable()
    for message in profiled:
        call(message)
    profile.disable()
    print(
        "\n".join(table(("share", "µs with the profiler", "calls a Decide", "function"), _rows(profile, len(profiled))))
    )


def _rows(profile: cProfile.Profile, calls: int) -> list[list[str]]:
    found = pstats.Stats(profile).get_stats_profile()
    total = sum(one.tottime for one in found.func_profiles.values())
    most = sorted(found.func_profiles.items(), key=lambda item: -item[1].tottime)[:_SHOWN]
    return [
        [
            f"{one.tottime / total:.1%}",
            f"{one.tottime / calls * 1e6:.2f}",
            f"{int(one.ncalls.partition('/')[0]) / calls:.1f}",
            f"`{name}` {Path(one.file_name).name if one.file_name != '~' else 'built in'}",
        ]
        for name, one in most
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
