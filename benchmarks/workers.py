"""Workers: the throughput of several processes behind one port over that of one, on all cores of the machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import h2load
from benchmarks.catalogues import catalogue, models_of
from benchmarks.checking import DECIDE, verify
from benchmarks.figures import Section, median, table
from benchmarks.processes import CORES, EVERY_CORE, Server, service
from benchmarks.requests import framed, requests
from benchmarks.rounds import Pair, Round, interleaved, told

SIZE = 500
# Many connections, since the system spreads these over the workers and not the calls on them.
GENERATORS, STREAMS = 24, 4
WORKERS = 2


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section of results."""
    if not h2load.is_there():
        yield Section("Workers", ("Skipped: no h2load here. On Debian: apt-get install nghttp2-client.",))
        return
    rounds, seconds = (2, 1.0) if quick else (7, 2.0)
    rows = []
    for store in ("none", "sqlite"):
        rows.append(_row(store, measure(store, rounds, seconds)))
        yield Section("Workers", tuple(_told(rounds, seconds, rows)))


def measure(store: str, rounds: int, seconds: float) -> list[Pair]:
    """Rounds with one process and with several, in turn."""
    messages = [one.SerializeToString() for one in requests(rounds * GENERATORS, models_of(SIZE))]
    with TemporaryDirectory() as place:
        folder = Path(place)
        bodies = _bodies(messages, folder)

        def started(workers: int) -> Server:
            url = "none" if store == "none" else f"sqlite://{folder}/{workers}.db"
            flags = ("--store", url, "--workers", str(workers))
            return service(catalogue(SIZE).write(folder), folder, flags, cores=EVERY_CORE)

        def load(server: Server, number: int) -> Round:
            chosen = bodies[number * GENERATORS : (number + 1) * GENERATORS]
            return h2load.load(server, DECIDE, chosen, folder, seconds=seconds, streams=STREAMS)

        with started(1) as one, started(WORKERS) as several:
            for server in (one, several):
                verify(server, SIZE, messages[:GENERATORS], folder)
            return interleaved(rounds, partial(load, one), partial(load, several))


def _bodies(messages: Sequence[bytes], folder: Path) -> list[Path]:
    paths = [folder / f"body-{number}" for number in range(len(messages))]
    for path, message in zip(paths, messages, strict=True):
        path.write_bytes(framed(message))
    return paths


def _row(store: str, pairs: Sequence[Pair]) -> list[str]:
    return [
        store,
        f"{median(pair.base.throughput for pair in pairs):,.0f}",
        f"{median(pair.other.throughput for pair in pairs):,.0f}",
        told(pairs, "throughput"),
        told(pairs, "p50"),
        told(pairs, "p99"),
    ]


def _told(rounds: int, seconds: float, rows: Sequence[Sequence[str]]) -> list[str]:
    note = (
        f"`--workers {WORKERS}` over one process, {SIZE} endpoints, {GENERATORS} connections of {STREAMS} calls at a "
        f"time: median (least–greatest) of the ratios of {rounds} pairs of rounds of {seconds:g} s. Servers and "
        f"generators share the {CORES} cores of this machine, and one process leaves the other core to the generators; "
        "so what is told is less than a machine would show whose generators run elsewhere. Decisions a second are "
        "of this machine alone."
    )
    head = ("store", "one, calls/s", f"{WORKERS}, calls/s", "throughput", "p50", "p99")
    return [note, "", *table(head, rows)]


if __name__ == "__main__":
    for section in run(quick=True):
        print(section.text)
