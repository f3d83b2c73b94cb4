"""Change under load: p99 with a catalogue reload every 10 s and changing figures against quiet rounds, and stalls.

An endpoint's figures change by what is reported of it, which the service serves in its next snapshot.
Stalls are measured from outside: how long a health check, asked every millisecond, waits for its answer at the longest.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message

from benchmarks import h2load
from benchmarks.catalogues import catalogue, models_of
from benchmarks.checking import DECIDE
from benchmarks.figures import Section, at_most, median, spread, table
from benchmarks.processes import GENERATOR_CORE, Server, pinned, service
from benchmarks.requests import framed, requests
from benchmarks.rounds import Pair, Round, ratio, told
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest

SIZE = 5_000
P99_GOAL, STALL_GOAL_MS = 1.5, 5.0
GENERATORS, STREAMS, SHARE = 8, 64, 0.3
_SETTLE_S, _QUIET_S = 60, 0.5
_OBSERVED = 5  # reports until an observed figure is served
REPORT = "/router_service.v1.RouterService/Report"
_Response = TypeVar("_Response", bound=Message)


@dataclass(frozen=True, slots=True)
class Change:
    """What changes during a round: the catalogue after so many seconds, and an endpoint's figures every so many."""

    name: str
    catalogue_after_s: float | None
    figures_every_s: float | None


# Each round's probes: how long it took and what the server used, in µs.
Probes = list[list[tuple[int, int]]]

CHANGES = (
    Change("catalogue rewritten every 10 s", 1.0, None),
    Change("that, and an endpoint's figures every second", 1.0, 1.0),
)


class Files:
    """The catalogue's folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "catalogue"
        self.folder.mkdir()
        self._text = catalogue(SIZE).text
        self._line = next(line for line in self._text.splitlines() if "endpoint_id" in line)
        self._turn = 0
        self.rewrite_catalogue()

    def rewrite_catalogue(self) -> None:
        """The same catalogue with another latency of one endpoint, in place of the file in one step."""
        self._turn += 1
        changed = json.loads(self._line.removeprefix("- ")) | {"latency_ms": 300 + self._turn}
        self._replace("10-catalogue.yaml", self._text.replace(self._line, f"- {json.dumps(changed)}", 1))

    def _replace(self, name: str, text: str) -> None:
        beside = self.folder / f".{name}"
        beside.write_text(text, encoding="utf-8")
        beside.replace(self.folder / name)


def store_flags(folder: Path) -> tuple[str, ...]:
    """How a server is started that takes reports."""
    return ("--store", f"sqlite:{folder / 'reports.db'}", "--admin", "127.0.0.1:0")


class Reporter:
    """Decides and reports: each time another latency of one endpoint, which so has other figures a moment later."""

    def __init__(self, server: Server) -> None:
        self._channel = grpc.insecure_channel(server.address)
        self._turn = 0
        for _ in range(_OBSERVED):
            self.change_figures()

    def change_figures(self) -> None:
        """Other figures of the endpoint that a plain request is sent to."""
        self._turn += 1
        decided = self._call(DECIDE, pb.DecideRequest(request=RouteRequest(task="coding")), pb.DecideResponse).decision
        attempt = Attempt(
            attempt_id="1",
            endpoint_id=decided.candidates[0].endpoint_id,
            status_code=200,
            time_to_first_token_ms=300 + 37 * (self._turn % 10),
        )
        report = Report(trace_id=decided.trace_id, outcome="accepted", attempts=[attempt])
        self._call(REPORT, pb.ReportRequest(report=report), pb.ReportResponse)

    def _call(self, method: str, request: Message, response: type[_Response]) -> _Response:
        call: Any = self._channel.unary_unary(method)
        return response.FromString(call(request.SerializeToString(), timeout=30))


@contextmanager
def changing(files: Files, reporter: Reporter, change: Change | None, seconds: float) -> Iterator[None]:
    """Changes the files meanwhile, from a thread; the first change comes at once, so that every round has one."""
    if change is None:
        yield
        return
    over = threading.Event()

    def work() -> None:
        due: list[tuple[float, Callable[[], None]]] = []
        if change.catalogue_after_s is not None:
            due.append((change.catalogue_after_s, files.rewrite_catalogue))
        if change.figures_every_s is not None:
            times = int(seconds / change.figures_every_s)
            due += [(number * change.figures_every_s, reporter.change_figures) for number in range(times)]
        begun = time.monotonic()
        for at, do in sorted(due, key=lambda one: one[0]):
            if over.wait(max(0.0, begun + at - time.monotonic())):
                return
            do()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def settle(server: Server) -> None:
    """Waits until what was changed is loaded: nothing more is said, and next to no processor time used."""
    deadline, said, used = time.monotonic() + _SETTLE_S, -1, -1.0
    while time.monotonic() < deadline:
        now_said, now_used = server.said_bytes(), server.cpu_s()
        if now_said == said and now_used - used < _QUIET_S / 10:
            return
        said, used = now_said, now_used
        time.sleep(_QUIET_S)


@dataclass(frozen=True, slots=True)
class Length:
    """How long to measure: rounds of load, and shorter ones of probes."""

    rounds: int
    seconds: float
    probing_s: float


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section, or why there is none."""
    if not h2load.is_there():
        yield Section("Change under load", ("Skipped: no h2load here. On Debian: apt-get install nghttp2-client.",))
        return
    length = Length(1, 5.0, 3.0) if quick else Length(5, 10.0, 4.0)
    with TemporaryDirectory() as place:
        folder = Path(place)
        files = Files(folder)
        with service(files.folder, folder, store_flags(folder)) as server:
            server.wait_for(r"(listening) on")
            reporter = Reporter(server)
            times = {change: _probed(server, files, reporter, change, length) for change in (None, *CHANGES)}
            loads = _loaded(server, files, reporter, folder, length)
    rows = [_row(change, loads[change], times[None], times[change]) for change in CHANGES]
    yield Section("Change under load", tuple(_told(rows, length)))


def _loaded(
    server: Server, files: Files, reporter: Reporter, folder: Path, length: Length
) -> dict[Change | None, list[Pair]]:
    """Rounds of load in turns: quiet, and with each change; paired with the quiet one of their turn."""
    bodies = _bodies(folder, length.rounds)
    load = partial(h2load.load, server, DECIDE, folder=folder, streams=STREAMS)
    rate = SHARE * load(bodies[:GENERATORS], seconds=1.0).throughput
    pairs: dict[Change | None, list[Pair]] = {change: [] for change in CHANGES}
    for number in range(length.rounds):
        chosen = bodies[number * GENERATORS : (number + 1) * GENERATORS]
        done: dict[Change | None, Round] = {}
        turns = (None, *CHANGES)
        for change in turns if number % 2 else turns[::-1]:
            settle(server)
            with changing(files, reporter, change, length.seconds):
                done[change] = load(chosen, seconds=length.seconds, rate=rate)
        for change in CHANGES:
            pairs[change].append(Pair(done[None], done[change]))
    return pairs


def _bodies(folder: Path, rounds: int) -> list[Path]:
    bodies = []
    for number, message in enumerate(requests(rounds * GENERATORS, models_of(SIZE))):
        bodies.append(folder / f"body-{number}")
        bodies[-1].write_bytes(framed(message.SerializeToString()))
    return bodies


def _probed(server: Server, files: Files, reporter: Reporter, change: Change | None, length: Length) -> Probes:
    """Each round's probes."""
    rounds = []
    module = [sys.executable, "-m", "benchmarks.probe", server.address, str(server.pid), str(length.probing_s)]
    for _ in range(length.rounds):
        settle(server)
        with changing(files, reporter, change, length.probing_s):
            done = subprocess.run(
                pinned(GENERATOR_CORE, module),
                capture_output=True,
                check=True,
                timeout=length.probing_s + 60,
                cwd=Path(__file__).resolve().parents[1],
            )
        rounds.append(json.loads(done.stdout))
    return rounds


def _row(change: Change, pairs: list[Pair], quiet: Probes, changed: Probes) -> list[str]:
    own = _longest(changed, 1)
    return [
        change.name,
        told(pairs, "p50"),
        told(pairs, "p99"),
        at_most(ratio(pairs, "p99"), P99_GOAL),
        spread(_longest(quiet, 0), 1),
        spread(_longest(changed, 0), 1),
        spread(_longest(quiet, 1), 1),
        spread(own, 1),
        at_most(median(own), STALL_GOAL_MS),
    ]


def _longest(rounds: Probes, which: int) -> list[float]:
    """The longest wait (0), or the most own work in one (1), of each round in ms."""
    return [max(times[which] for times in probes) / 1_000 for probes in rounds]


def _told(rows: list[list[str]], length: Length) -> Iterator[str]:
    yield (
        f"{SIZE:,} endpoints, SQLite traces; {length.rounds} rounds of {length.seconds:g} s with the change against "
        f"quiet ones, in turns; median (least–greatest). The load is {SHARE:g} of the service's throughput. Stalls: "
        "the longest wait of a health check asked every millisecond without other load, and the most processor time "
        "that the server's process used in one, which bounds a stall of its own making; what other programs take of "
        "its core, and the niced process that loads a catalogue, is in the waits alone."
    )
    yield ""
    head = ("change", "p50", "p99", "goal", "longest wait quiet, ms", "with the change", "own work in it quiet, ms",
            "with the change", "goal")  # fmt: skip
    yield from table(head, rows)


if __name__ == "__main__":
    for section in run(quick=True):
        print(section.text)
