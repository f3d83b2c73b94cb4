"""Stream: decisions a second of DecideStream against the floor's unary calls, and against its stream of fixed bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc

from benchmarks.catalogues import catalogue, models_of
from benchmarks.checking import DECIDE, DECIDE_STREAM, verify
from benchmarks.figures import Section, at_least, median, table
from benchmarks.floor import STREAM, UNARY
from benchmarks.goload import Generator, Shape, Unbuildable, write_bodies
from benchmarks.inprocess import comparable
from benchmarks.processes import Server, floor, service
from benchmarks.requests import requests
from benchmarks.rounds import Pair, Round, interleaved, ratio, told
from router_service.v1 import router_service_pb2 as pb

SIZE = 5_000
UNARY_GOAL, STREAM_GOAL = 2.0, 0.5
_UNARY = Shape(4, 32)
_STREAM = Shape(4, 4, stream=True, window=16)
# Few enough that the service remembers all their answers, and more than it remembers.
MESSAGES = {"the same 500 requests": 500, "every request different": 5_000}
_CHECKED = 200


def run(*, quick: bool = False) -> Iterator[Section]:
    """The section, or why there is none."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        try:
            generator = Generator(folder)
        except Unbuildable as reason:
            yield Section("Stream", (f"Skipped: {reason}; h2load cannot stream.",))
            return
        rounds, seconds = (3, 1.0) if quick else (5, 1.5)
        messages = [one.SerializeToString() for one in requests(max(MESSAGES.values()), models_of(SIZE))]
        rows: list[list[str]] = []
        with (
            service(catalogue(SIZE).write(folder), folder) as serving,
            floor(verify(serving, SIZE, messages[:_CHECKED], folder), folder) as empty,
        ):
            verify_stream(serving, messages[:_CHECKED])
            for name, count in MESSAGES.items():
                asked = write_bodies(messages[:count], folder / "unary")
                items = write_bodies(map(as_item, messages[:count]), folder / "items")
                load = partial(_load, generator, seconds=seconds)
                decisions = partial(load, serving, DECIDE_STREAM, items, _STREAM)
                decisions(0)  # until what is to be remembered is
                calls = interleaved(rounds, partial(load, empty, UNARY, asked, _UNARY), decisions)
                streams = interleaved(rounds, partial(load, empty, STREAM, items, _STREAM), decisions)
                rows.append(_row(name, calls, streams))
                yield Section("Stream", tuple(_told(rows, rounds)))


def _load(
    generator: Generator, server: Server, method: str, bodies: Path, shape: Shape, _: int, *, seconds: float
) -> Round:
    return generator.load(server, method, bodies, shape, seconds=seconds)


def as_item(message: bytes) -> bytes:
    """A DecideRequest's bytes as those of an item of the stream."""
    return pb.DecideStreamRequest(decide=pb.DecideRequest.FromString(message)).SerializeToString()


def verify_stream(server: Server, messages: Sequence[bytes]) -> None:
    """Checks that the stream answers in order what Decide answers. AssertionError where it does not."""
    with grpc.insecure_channel(server.address) as channel:
        call: Any = channel.unary_unary(DECIDE)
        expected = [comparable(call(message, timeout=30)) for message in messages]
        stream: Any = channel.stream_stream(DECIDE_STREAM)
        answers = stream(iter(map(as_item, messages)), timeout=120)
        # The two responses have the same fields with the same numbers.
        said = [comparable(answer) for answer in answers]
    if said != expected:
        raise AssertionError("DecideStream does not answer what Decide answers")


def _row(name: str, calls: Sequence[Pair], streams: Sequence[Pair]) -> list[str]:
    return [
        name,
        told(calls, "throughput"),
        at_least(ratio(calls, "throughput"), UNARY_GOAL),
        told(streams, "throughput"),
        at_least(ratio(streams, "throughput"), STREAM_GOAL),
        f"{median(pair.base.cpu for pair in calls):.0f}",
        f"{median(pair.base.cpu for pair in streams):.0f}",
        f"{median(pair.other.cpu for pair in streams):.0f}",
        f"{max(pair.base.generator for pair in streams):.2f}",
    ]


def _told(rows: Sequence[Sequence[str]], rounds: int) -> Iterator[str]:
    yield (
        f"DecideStream at {SIZE:,} endpoints, metrics and the log of refusals on: median (least–greatest) of {rounds} "
        f"pairs of rounds; {_STREAM.workers} streams with {_STREAM.window} messages under way each, against "
        f"{_UNARY.workers} unary calls at a time. The generator is written in Go; where its share of its core comes "
        "near 1 it is the bottleneck, and the empty stream could do more."
    )
    yield ""
    head = ("requests", "over unary calls", "goal", "over an empty stream", "goal", "µs CPU a unary call",
            "of an empty message", "of a decision", "generator's share, empty stream")  # fmt: skip
    yield from table(head, rows)
