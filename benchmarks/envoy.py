"""Envoy: what the call-out adds to a request, against none, and against a trivial answer of the same gRPC library."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc

from benchmarks import h2load
from benchmarks.envoy_config import NONE, SERVICE, TRIVIAL, three_listeners
from benchmarks.envoy_floor import CHECK
from benchmarks.figures import Section, at_most, median, spread, table
from benchmarks.processes import GENERATOR_CORE, START_S, STOP_S, Server, pinned, service
from router_service.catalog.load import load
from router_service.catalog.snapshot import Snapshot
from router_service.cli.options import example_catalog
from router_service.edge.choices import Choices, Place
from router_service.edge.upstreams import Upstreams, upstreams_of
from router_service.envoy.v1 import authorization_pb2 as auth

GOAL = 1.15
ENVOY = Path(sys.executable).with_name("envoy")
WAYS = (NONE, TRIVIAL, SERVICE)
BODY = json.dumps({"model": "auto", "messages": [{"role": "user", "content": "x" * 2000}]}).encode()
HEADERS = {
    "x-router-task": "coding",
    "x-router-language": "de",
    "x-router-input-tokens": "500",
    "x-router-output-tokens": "300",
}


@dataclass(frozen=True, slots=True)
class Setup:
    """What is on at the service; in a flag `{folder}` stands for a folder of the run."""

    on: str
    flags: tuple[str, ...]
    reports: bool = False


SETUPS = (
    Setup("metrics, log of refusals", ("--store", "none", "--admin", "127.0.0.1:0")),
    Setup("that, SQLite traces", ("--store", "sqlite:{folder}/router.db", "--admin", "127.0.0.1:0")),
    Setup("that, a report of each request", ("--store", "sqlite:{folder}/router.db", "--admin", "127.0.0.1:0"), True),
)


@dataclass(frozen=True, slots=True)
class Length:
    """How many rounds of how many seconds."""

    rounds: int
    seconds: float


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section of results, after each set of flags what there is so far."""
    missing = [name for name, there in (("h2load", h2load.is_there()), ("envoy", ENVOY.exists())) if not there]
    if missing:
        yield Section("Envoy", (f"Skipped: no {' and no '.join(missing)} here.",))
        return
    length = Length(9, 0.4) if quick else Length(30, 0.5)
    rows: list[list[str]] = []
    for setup in SETUPS:
        with TemporaryDirectory() as folder:
            rows.append(_row(setup, measure(setup, Path(folder), length)))
        yield Section("Envoy", tuple(_told(length, rows)))


@dataclass(frozen=True, slots=True)
class Timed:
    """One round by one way: the median time of a request in µs, how many there were, and the server's CPU time."""

    median_us: float
    requests: int
    cpu_s: float


def measure(setup: Setup, folder: Path, length: Length) -> list[dict[str, Timed]]:
    """Every round by each way; which way goes first turns."""
    snapshot = Snapshot.of(load(example_catalog()), 0)
    upstreams = upstreams_of(snapshot, Choices(listen=Place("", 0), service=Place("", 0)), 0)
    flags = [flag.replace("{folder}", str(folder)) for flag in setup.flags]
    with service(example_catalog(), folder, [*flags, "--envoy-authz"]) as serving:
        answer = folder / "answer"
        answer.write_bytes(_answer(serving.address, upstreams))
        with Server("benchmarks.envoy_floor", [str(answer)], folder) as trivial:
            config = three_listeners(upstreams, serving.address, trivial.address, reports=setup.reports)
            with _envoy(config, folder) as ports:
                for way in WAYS:
                    _warm_up(ports[way])
                servers, rounds = {TRIVIAL: trivial, SERVICE: serving}, []
                for number in range(length.rounds):
                    turned = [*WAYS[number % 3 :], *WAYS[: number % 3]]
                    rounds.append({way: _timed(ports[way], servers.get(way), folder, length.seconds) for way in turned})
                return rounds


def _answer(address: str, upstreams: Upstreams) -> bytes:
    """What the service answers to the request of this benchmark: the trivial answer is these bytes, always."""
    clusters = ",".join(one.name for one in upstreams.listed)
    request = auth.CheckRequest(
        attributes=auth.Attributes(
            request=auth.Request(http=auth.HttpRequest(headers=HEADERS)), context_extensions={"clusters": clusters}
        )
    )
    with grpc.insecure_channel(address) as channel:
        call: Any = channel.unary_unary(CHECK)
        answer: bytes = call(request.SerializeToString(), timeout=30)
    if auth.CheckResponse.FromString(answer).status.code:
        raise AssertionError("the service refuses the request of this benchmark")
    return answer


@contextmanager
def _envoy(config: str, folder: Path) -> Iterator[dict[str, int]]:
    """Envoy on the generator's core; gives the port of each listener by its name."""
    file, admin, said = folder / "envoy.json", folder / "admin.txt", folder / "envoy.log"
    file.write_text(config, encoding="utf-8")
    command = [str(ENVOY), "-c", str(file), "--disable-hot-restart", "--concurrency", "1", "-l", "error"]
    with said.open("wb") as log:
        process = subprocess.Popen(
            pinned(GENERATOR_CORE, [*command, "--admin-address-path", str(admin)]), stdout=log, stderr=log
        )
    try:
        yield _ports(process, admin, said)
    finally:
        process.terminate()
        process.wait(STOP_S)


def _ports(process: subprocess.Popen[bytes], admin: Path, said: Path) -> dict[str, int]:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            listeners = json.loads(_get(admin.read_text(encoding="utf-8"), "/listeners?format=json"))
            if _get(admin.read_text(encoding="utf-8"), "/ready").strip() == b"LIVE":
                addresses = {one["name"]: one["local_address"] for one in listeners["listener_statuses"]}
                return {name: addresses[name]["socket_address"]["port_value"] for name in WAYS}
        except (OSError, ValueError, KeyError, http.client.HTTPException):
            time.sleep(0.05)
    raise RuntimeError(f"Envoy does not serve:\n{said.read_text(encoding='utf-8')[-2000:]}")


def _get(address: str, path: str) -> bytes:
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    finally:
        connection.close()


def _warm_up(port: int) -> None:
    """Asks until it is answered, since Envoy waits for the service to be healthy."""
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("POST", "/v1/chat/completions", BODY, {"content-type": "application/json", **HEADERS})
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            return
        time.sleep(0.1)
    raise RuntimeError(f"Envoy goes on answering {status}")


def _timed(port: int, server: Server | None, folder: Path, seconds: float) -> Timed:
    """One round: one request after the other on one connection."""
    before = server.cpu_s() if server is not None else 0.0
    body, log = folder / "body", folder / "h2load.log"
    body.write_bytes(BODY)
    log.unlink(missing_ok=True)
    headers = [f"--header={name}: {value}" for name, value in {"content-type": "application/json", **HEADERS}.items()]
    shape = ["--clients=1", "--max-concurrent-streams=1", f"--duration={seconds * 1000:.0f}ms"]
    command = ["h2load", *shape, *headers, f"--data={body}", f"--log-file={log}"]
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    subprocess.run(pinned(GENERATOR_CORE, [*command, url]), check=True, capture_output=True, timeout=seconds + START_S)
    times = []
    for line in log.read_text(encoding="ascii").splitlines():
        _, status, took = line.split("\t")[:3]
        if status == "200":
            times.append(int(took))
        elif status != "-1":  # -1: cut off by the end of the round
            raise RuntimeError(f"h2load: a request was answered with HTTP status {status}")
    if not times:
        raise RuntimeError("h2load: the round was too short to measure")
    cpu_s = server.cpu_s() - before if server is not None else 0.0
    return Timed(median(times[len(times) // 10 :]), len(times), cpu_s)


def _row(setup: Setup, rounds: Sequence[dict[str, Timed]]) -> list[str]:
    times = [{way: one.median_us for way, one in each.items()} for each in rounds]
    added = [(one[SERVICE] - one[NONE]) / (one[TRIVIAL] - one[NONE]) for one in times]
    return [
        setup.on,
        *(f"{median(one[way] for one in times):.0f} µs" for way in WAYS),
        spread([one[SERVICE] / one[NONE] for one in times]),
        spread([one[SERVICE] / one[TRIVIAL] for one in times]),
        f"{median(added):.2f}",
        at_most(median(added), GOAL),
        f"{_cpu_us(rounds, SERVICE) / _cpu_us(rounds, TRIVIAL):.2f}",
        f"{_cpu_us(rounds, TRIVIAL):.0f} µs",
    ]


def _cpu_us(rounds: Sequence[dict[str, Timed]], way: str) -> float:
    """The server's processor time per request over all rounds: the kernel tells it in hundredths of a second."""
    return sum(one[way].cpu_s for one in rounds) / sum(one[way].requests for one in rounds) * 1e6


def _told(length: Length, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield (
        f"A request through Envoy, one at a time on one connection, with the example catalogue: medians of "
        f"{length.rounds} rounds of {length.seconds:g} s, in which each way had its turn. Envoy, the load and the "
        "backend (Envoy itself) share a core, the service or the trivial answer has the other. The trivial answer is "
        "the service's own bytes, given unread by the same gRPC library with the same options. CPU is the server's own "
        "per request, which other load on the machine hardly moves."
    )
    yield ""
    times = ("no call-out", "trivial answer", "the service", "over none", "over trivial")
    head = ("on", *times, "added, over trivial's", "goal", "CPU", "trivial's CPU")
    yield from table(head, rows)


if __name__ == "__main__":
    for section in run(quick=True):
        print(section.text)
