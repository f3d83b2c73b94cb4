"""Flood: how much longer one caller waits for its answers while another floods the server, kind by kind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import h2load
from benchmarks.catalogues import catalogue
from benchmarks.checking import DECIDE
from benchmarks.figures import Section, at_most, median, spread, table
from benchmarks.flooding import KINDS
from benchmarks.processes import GENERATOR_CORE, Server, pinned, service
from benchmarks.requests import framed
from router_service.callers.tokens import digest_of, new_token
from router_service.v1 import router_service_pb2 as pb
from router_service.v1.route_pb2 import RouteRequest

SIZE = 500
P99_GOAL = 3.0
H2LOAD_CALLS = "as many calls as there are answers, by h2load"
_LEAD_S, _MARGIN_S = 1.0, 60
_H2LOAD_CLIENTS, _H2LOAD_STREAMS = 10, 40
_ABOUT = {
    "calls": "400 calls at a time over 20 connections",
    "explanations": "40 Explains at a time",
    "huge": "messages that are too large, repeat something very often, or are wrong in a thousand places",
    "metadata": "metadata of 9 KB, of 60 KB and of 200 entries",
    "streams": "300 streams that are opened and kept",
    "unread-streams": "20 streams that send items and read no answer",
    "unread-answers": "20 explanations that nobody takes",
    "unsent-messages": "20 calls whose message never comes",
    "strangers": "2,000 calls without a credential, whose message never comes",
    "messageless": "calls that end without a message, 20 at a time",
    "watches": "90 calls of health Watch and as many streams of reflection that are opened and kept",
    "half-open": "200 connections that never finish their handshake, opened again every second",
    "all": "all of these at once, h2load's aside",
}


Times = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Pair:
    """A quiet round and one with a flood, right beside each other: times in µs, and how the flood's calls ended.

    Each time stands with the processor time that the server used meanwhile.
    """

    quiet: Times
    flooded: Times
    ends: dict[str, int]
    more_mb: float

    def ratio(self, part: float, *, own: bool = False) -> float:
        """Of a quantile of both: of the times, or of what the server used in them itself."""
        quiet, flooded = ([time[own] for time in times] for times in (self.quiet, self.flooded))
        return quantile(flooded, part) / quantile(quiet, part)


def quantile(times: Sequence[int], part: float) -> float:
    """Below which so great a part of the times lies."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section of results, after each kind what there is so far."""
    rounds, seconds = (1, 2.0) if quick else (3, 4.0)
    kinds = ["calls", "huge", "all"] if quick else [*KINDS, "all"]
    kinds = ([H2LOAD_CALLS] if h2load.is_there() else []) + kinds
    rows = []
    for kind in kinds:
        rows.append(_row(kind, measure(kind, rounds, seconds)))
        yield Section("Flood", tuple(_told(rounds, seconds, rows)))


def measure(kind: str, rounds: int, seconds: float) -> list[Pair]:
    """Pairs of rounds on one server; which of the two comes first alternates."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        light, heavy = write_callers(folder)
        flags = ("--callers", str(folder / "callers.yaml"), "--store", f"sqlite:{folder}/router.db")
        with service(catalogue(SIZE).write(folder), folder, flags) as server:
            bystander(server, 0.5, light)
            pairs = []
            for number in range(rounds):
                quiet = [] if number % 2 else bystander(server, seconds, light)
                before = server.rss_mb()
                with flooding(server, kind, seconds + 2 * _LEAD_S, heavy, folder) as ends:
                    flooded = bystander(server, seconds, light, after=_LEAD_S)
                    more = server.rss_mb() - before
                pairs.append(Pair(quiet or bystander(server, seconds, light, after=_LEAD_S), flooded, ends, more))
            return pairs


def write_callers(folder: Path) -> tuple[str, str]:
    """Two callers of every policy, and what each is known by."""
    tokens = {name: new_token() for name in ("light", "heavy")}
    callers = "".join(f"- {{caller: {name}, roles: [decide, report, read], policies: ['*']}}\n" for name in tokens)
    known = "".join(f"- {{sha256: {digest_of(token)}, caller: {name}}}\n" for name, token in tokens.items())
    (folder / "callers.yaml").write_text(f"callers:\n{callers}tokens:\n{known}", encoding="utf-8")
    return f"Bearer {tokens['light']}", f"Bearer {tokens['heavy']}"


def bystander(server: Server, seconds: float, token: str, *, after: float = 0.0) -> Times:
    """How long the answers of a caller took that does not flood; RuntimeError where one did not come."""
    wait = ["sh", "-c", f'sleep {after}; exec "$0" "$@"'] if after else []
    command = [
        *wait,
        sys.executable,
        "-m",
        "benchmarks.bystander",
        server.address,
        str(server.pid),
        str(seconds),
        token,
    ]
    done = subprocess.run(pinned(GENERATOR_CORE, command), capture_output=True, check=False, cwd=_root())
    if done.returncode:
        raise RuntimeError(f"a caller that does not flood got no answer: {done.stderr.decode(errors='replace')[-500:]}")
    return [(took, used) for took, used in json.loads(done.stdout)]


@contextmanager
def flooding(server: Server, kind: str, seconds: float, token: str, folder: Path) -> Iterator[dict[str, int]]:
    """A flood beside what is done in it; what is given tells how its calls ended once it has."""
    ends: dict[str, int] = {}
    command = [sys.executable, "-m", "benchmarks.flooding", server.address, str(seconds), token, kind]
    if kind == H2LOAD_CALLS:
        message = pb.DecideRequest(request=RouteRequest(input_tokens=1_200)).SerializeToString()
        (folder / "flood").write_bytes(framed(message))
        command = [
            *("h2load", f"--duration={seconds * 1000:.0f}ms", f"--clients={_H2LOAD_CLIENTS}"),
            *(f"--max-concurrent-streams={_H2LOAD_STREAMS}", f"--data={folder / 'flood'}"),
            *("--header=content-type: application/grpc", "--header=te: trailers", f"--header=authorization: {token}"),
            f"http://{server.address}{DECIDE}",
        ]
    with subprocess.Popen(
        pinned(GENERATOR_CORE, command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=_root()
    ) as process:
        yield ends
        said, _ = process.communicate(timeout=seconds + _MARGIN_S)
        if kind != H2LOAD_CALLS:
            ends.update(json.loads(said))


def _root() -> Path:
    return Path(__file__).resolve().parents[1]


def _row(kind: str, pairs: Sequence[Pair]) -> list[str]:
    ends = {name: sum(pair.ends.get(name, 0) for pair in pairs) for pair in pairs for name in pair.ends}
    return [
        _ABOUT.get(kind, kind),
        spread([pair.ratio(0.5) for pair in pairs]),
        spread([pair.ratio(0.99) for pair in pairs]),
        spread([pair.ratio(0.99, own=True) for pair in pairs]),
        at_most(median(pair.ratio(0.99) for pair in pairs), P99_GOAL),
        spread([pair.more_mb for pair in pairs], 0),
        ", ".join(f"{name} {count:,}" for name, count in sorted(ends.items(), key=lambda one: -one[1])) or "–",
    ]


def _told(rounds: int, seconds: float, rows: Sequence[Sequence[str]]) -> list[str]:
    note = (
        f"One caller asks for a decision every 4 ms while another floods the server over connections of its own, with "
        f"authentication on and traces in SQLite, {SIZE} endpoints: the first one's p50 and p99 over those of a quiet "
        f"round right beside it, median (least–greatest) of {rounds} pairs of {seconds:g} s. Both share the "
        "generators' core, the caller before the flood where the system allows it. *The server's own* is of the "
        "processor time that the server used while the caller waited, which other programs on the machine hardly move: "
        "on its one core it cannot have let anybody wait for longer. The goal is for p99. *More memory* is what the "
        "server holds at the end of the flood beyond what it held before."
    )
    head = ("flood", "p50", "p99", "p99, the server's own", "goal", "more memory, MB", "how the flood's calls ended")
    return [note, "", *table(head, rows)]


if __name__ == "__main__":
    for section in run(quick=True):
        print(section.text)
