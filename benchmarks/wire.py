"""Wire: Decide against an empty unary call of the same library, options and answer size, in one run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import callers, h2load
from benchmarks.catalogues import catalogue, models_of
from benchmarks.checking import DECIDE, verify
from benchmarks.figures import Section, at_least, at_most, median, table
from benchmarks.floor import UNARY
from benchmarks.goload import Generator, Shape, Unbuildable, write_bodies
from benchmarks.processes import PLAIN, Server, floor, service
from benchmarks.requests import framed, requests, shapes
from benchmarks.rounds import Pair, Round, interleaved, ratio, told

GENERATORS, STREAMS = 16, 2
# The load of the second percentiles: this share of what the floor can do.
SHARE = 0.4
DIFFERENT = 5_000
P99_GOAL = 1.3


@dataclass(frozen=True, slots=True)
class Setup:
    """A set of a server's flags: what is on with them, the sizes to measure, the least throughput it is to have.

    In a flag `{folder}` stands for a folder of this run, in which there is a callers file.
    """

    on: str
    flags: tuple[str, ...]
    sizes: tuple[int, ...]
    goal: float

    @property
    def authenticates(self) -> bool:
        """Whether calls show a token; those of the floor do too, since that is the transport's."""
        return "--callers" in self.flags


SQLITE = ("--store", "sqlite://{folder}/traces.db", "--admin", "127.0.0.1:0")
CALLERS = ("--callers", "{folder}/" + callers.FILE)
LOG = "metrics, log of refusals"
SETUPS = (
    Setup(LOG, PLAIN, (40, 500, 5_000, 20_000), 0.85),
    Setup(f"{LOG}, authentication", (*PLAIN, *CALLERS), (5_000,), 0.85),
    Setup(f"{LOG}, SQLite traces", SQLITE, (5_000,), 0.75),
    Setup(f"{LOG}, SQLite traces, authentication", (*SQLITE, *CALLERS), (5_000,), 0.75),
)


@dataclass(frozen=True, slots=True)
class Length:
    """How long to measure: rounds as fast as they can, and at a share of that."""

    rounds: int
    seconds: float
    paced_s: float


@dataclass(frozen=True, slots=True)
class Measured:
    """The pairs of rounds at one size: as fast as they can, at a share of that, and with every request different."""

    full: list[Pair]
    paced: list[Pair]
    different: list[Pair]


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section of results, after each size what there is so far."""
    if not h2load.is_there():
        yield Section("Wire", ("Skipped: no h2load here. On Debian: apt-get install nghttp2-client.",))
        return
    length = Length(3, 1.0, 0.7) if quick else Length(5, 1.5, 1.0)
    with TemporaryDirectory() as folder:
        try:
            generator, missing = Generator(Path(folder)), ""
        except Unbuildable as reason:
            generator, missing = None, f"Every request different: skipped, {reason}."
        rows, different = [], []
        for setup in SETUPS:
            for size in setup.sizes[::2] if quick else setup.sizes:
                with TemporaryDirectory() as inner:
                    found = measure(setup, size, Path(inner), length, generator)
                rows.append(_row(setup, size, found))
                different += [_different_row(setup, size, found.different)] if found.different else []
                yield Section("Wire", (*_told(length, rows), "", *_told_different(different, missing)))


def measure(setup: Setup, size: int, folder: Path, length: Length, generator: Generator | None) -> Measured:
    """Interleaved rounds at one size."""
    messages = [one.SerializeToString() for one in requests(DIFFERENT, models_of(size))]
    asked = messages[: length.rounds * GENERATORS]
    authorization = callers.write_callers(folder) if setup.authenticates else ""
    with service(catalogue(size).write(folder), folder, flags_of(setup, folder)) as serving:
        answer_size = verify(serving, size, asked, folder, authorization)
        with floor(answer_size, folder) as empty:
            bodies = _bodies(asked, folder)

            def load(server: Server, method: str, number: int, rate: float | None = None) -> Round:
                chosen = bodies[number * GENERATORS : (number + 1) * GENERATORS]
                seconds = length.paced_s if rate else length.seconds
                return h2load.load(
                    server,
                    method,
                    chosen,
                    folder,
                    seconds=seconds,
                    streams=STREAMS,
                    rate=rate,
                    authorization=authorization,
                )

            full = interleaved(length.rounds, partial(load, empty, UNARY), partial(load, serving, DECIDE))
            rate = SHARE * median(pair.base.throughput for pair in full)
            slow = partial(load, rate=rate)
            paced = interleaved(length.rounds, partial(slow, empty, UNARY), partial(slow, serving, DECIDE))
            if generator is None:
                return Measured(full, paced, [])
            shape, file = Shape(GENERATORS, GENERATORS * STREAMS), write_bodies(messages, folder / "messages")
            vary = partial(
                generator.load, bodies=file, shape=shape, seconds=length.seconds, authorization=authorization
            )
            different = interleaved(length.rounds, lambda _: vary(empty, UNARY), lambda _: vary(serving, DECIDE))
            return Measured(full, paced, different)


def flags_of(setup: Setup, folder: Path) -> list[str]:
    """The flags of a server whose files are in a folder."""
    return [flag.replace("{folder}", str(folder)) for flag in setup.flags]


def _bodies(messages: Sequence[bytes], folder: Path) -> list[Path]:
    paths = []
    for number, message in enumerate(messages):
        path = folder / f"body-{number}"
        path.write_bytes(framed(message))
        paths.append(path)
    return paths


def _row(setup: Setup, size: int, found: Measured) -> list[str]:
    return [
        f"{size:,}",
        setup.on,
        told(found.full, "throughput"),
        at_least(ratio(found.full, "throughput"), setup.goal),
        told(found.full, "p50"),
        told(found.full, "p99"),
        at_most(ratio(found.full, "p99"), P99_GOAL),
        told(found.paced, "p50"),
        told(found.paced, "p99"),
        told(found.full, "cpu"),
        f"{median(pair.base.cpu for pair in found.full):.0f} µs",
    ]


def _told(length: Length, rows: Sequence[Sequence[str]]) -> list[str]:
    head = ("endpoints", "on", "throughput", "goal", "p50", "p99", "goal")
    paced = (f"p50 at {SHARE:g} load", f"p99 at {SHARE:g} load")
    note = (
        f"Decide over the floor: median (least–greatest) of the ratios of {length.rounds} pairs of rounds of "
        f"{length.seconds:g} s. {GENERATORS} h2load processes, each with a body of its own and {STREAMS} calls at a "
        f"time; other bodies every round, of {shapes()[0]}. Each body's answer was checked against the engine's in an "
        f"untimed pass. The first percentiles are of a saturated server, the second at {SHARE:g} of the floor's "
        "throughput. CPU is the server's own processor time per call, which other load on the machine hardly moves."
    )
    return [note, "", *table((*head, *paced, "CPU", "floor's CPU"), rows)]


def _different_row(setup: Setup, size: int, pairs: Sequence[Pair]) -> list[str]:
    busiest = max(max(pair.base.generator, pair.other.generator) for pair in pairs)
    return [
        f"{size:,}",
        setup.on,
        told(pairs, "throughput"),
        at_least(ratio(pairs, "throughput"), setup.goal),
        told(pairs, "p50"),
        told(pairs, "p99"),
        told(pairs, "cpu"),
        f"{busiest:.2f}",
    ]


def _told_different(rows: Sequence[Sequence[str]], missing: str) -> list[str]:
    if not rows:
        return [missing]
    note = (
        f"**Every request different**: the same by a Go generator that sends {DIFFERENT:,} different requests in turn, "
        "more than the service remembers answers of; a body that h2load repeats is answered from that memory."
    )
    head = ("endpoints", "on", "throughput", "goal", "p50", "p99", "CPU", "generator's share of its core")
    return [note, "", *table(head, rows)]


if __name__ == "__main__":
    for section in run(quick=True):
        print(section.text)
