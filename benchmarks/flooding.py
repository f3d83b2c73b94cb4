"""Floods of every kind by one caller, bounded in count and time, on loopback.

`python -m benchmarks.flooding ADDRESS SECONDS TOKEN KIND…` floods a server and prints how its calls ended, as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import Any

import grpc

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.report_pb2 import Attempt, Report
from router_service.v1.route_pb2 import RouteRequest

_SERVICE = "/router_service.v1.RouterService"
_WATCH, _REFLECT = "/grpc.health.v1.Health/Watch", "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
CONNECTIONS, CALLS_EACH, STREAMS, UNREAD, HALF_OPEN = 20, 20, 300, 20, 200
STRANGERS, WATCHES = 2000, 90
_KB = 1024
_HELLO = bytes.fromhex("160301020001000001fc0303") + bytes(80)  # a part of a TLS client's first message


def _unknown_fields(size: int) -> bytes:
    """So many bytes of fields that no server knows, each as small as can be."""
    return bytes.fromhex("f83f01") * (size // 3)


def _decide(**fields: Any) -> bytes:
    return pb.DecideRequest(request=RouteRequest(**fields)).SerializeToString()


# Messages that are large, repeat something small very often, or are wrong in a thousand places.
HUGE = {
    "Decide": (
        _decide(exclude_endpoints=[f"{number:0200}" for number in range(1_000)]),
        _decide(exclude_endpoints=[f"{number:070}" for number in range(1_000)]),
        _decide(regions=[""] * 30_000),
        _decide(regions=["\x01" * 55] * 1_024),
        pb.DecideRequest().SerializeToString() + _unknown_fields(60 * _KB),
        _decide(model="\u202e" * 20_000),
        bytes.fromhex("fb3f") * 20_000,
    ),
    "Report": (
        pb.ReportRequest(report=Report(trace_id="0" * 32, attempts=[Attempt()] * 8_000)).SerializeToString(),
        pb.ReportRequest(report=Report(trace_id="\x01" * 15_000)).SerializeToString(),
    ),
}


class Flood:
    """What a caller does that means no good; `ends` counts how its calls ended."""

    def __init__(self, address: str, seconds: float, token: str) -> None:
        self._address, self._seconds, self._token = address, seconds, token
        self._until = 0.0
        self._channels: list[grpc.aio.Channel] = []
        self._held: list[Any] = []
        self.ends: Counter[str] = Counter()

    async def run(self, kinds: list[str]) -> None:
        """Floods in all of these ways at once."""
        self._until = time.monotonic() + self._seconds
        try:
            await asyncio.gather(*(KINDS[kind](self) for kind in kinds))
            await asyncio.sleep(max(0.0, self._until - time.monotonic()))
        finally:
            for call in self._held:
                call.cancel()
            await asyncio.gather(*(channel.close() for channel in self._channels))

    async def calls(self) -> None:
        """As many calls as are answered, over many connections."""
        await asyncio.gather(*(self._repeat("Decide", (_decide(),)) for _ in range(CONNECTIONS)))

    async def explanations(self) -> None:
        """Calls that make the most work."""
        message = pb.ExplainRequest().SerializeToString()
        await asyncio.gather(*(self._repeat("Explain", (message,)) for _ in range(2)))

    async def huge(self) -> None:
        """Messages that are large, repeat something very often, or are wrong in a thousand places."""
        each = [(method, messages) for method, messages in HUGE.items() for _ in range(3)]
        await asyncio.gather(*(self._repeat(method, messages, len(messages)) for method, messages in each))

    async def metadata(self) -> None:
        """Metadata that is too much: by a little, by a lot, and of many small entries."""
        for bomb in (
            (("x", "y" * 9_000),),
            (("x", "y" * 60_000),),
            tuple((f"k{number}", "v" * 50) for number in range(200)),
        ):
            await self._repeat("Decide", (_decide(),), 4, bomb, share=1 / 3)

    async def streams(self) -> None:
        """Streams that are opened, asked one thing, and kept."""
        item = pb.DecideStreamRequest(decide=pb.DecideRequest()).SerializeToString()
        for number in range(STREAMS):
            if number % 50 == 0:
                channel = self._channel()
            stream: Any = channel.stream_stream(f"{_SERVICE}/DecideStream")(metadata=self._credential)
            self._held.append(stream)

            async def ask(stream: Any = stream) -> None:
                await stream.write(item)
                await stream.read()
                raise_for(stream)

            await self._ends(ask())

    async def unread_streams(self) -> None:
        """Streams that send items as long as they may, and read no answer."""
        method: Any = self._channel().stream_stream(f"{_SERVICE}/DecideStream")
        item = pb.DecideStreamRequest(decide=pb.DecideRequest(request_id="r" * 200)).SerializeToString()

        async def write() -> None:
            stream: Any = method(metadata=self._credential)
            self._held.append(stream)
            with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError, TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout_at(asyncio.get_running_loop().time() + self._left):
                    while True:
                        await stream.write(item)

        await asyncio.gather(*(write() for _ in range(UNREAD)))

    async def unread_answers(self) -> None:
        """Large answers that are asked for and not taken."""
        method: Any = self._channel().unary_stream(f"{_SERVICE}/Explain")
        message = pb.ExplainRequest().SerializeToString()
        self._held += [method(message, metadata=self._credential) for _ in range(UNREAD)]

    async def unsent_messages(self) -> None:
        """Calls whose message never comes."""
        method: Any = self._channel().stream_unary(f"{_SERVICE}/Decide")
        self._held += [method(metadata=self._credential) for _ in range(UNREAD)]

    async def strangers(self) -> None:
        """Calls without a credential, whose message never comes either."""
        for number in range(STRANGERS):
            if number % 100 == 0:
                channel = self._channel()
            call: Any = channel.stream_unary(f"{_SERVICE}/Decide")()
            self._held.append(call)

    async def messageless(self) -> None:
        """Calls that end without the message that they are to bring."""
        method: Any = self._channel().stream_unary(f"{_SERVICE}/Decide")

        async def end() -> None:
            call = method(metadata=self._credential)
            await call.done_writing()
            await call

        while self._left > 0:
            await asyncio.gather(*(self._ends(end()) for _ in range(CALLS_EACH)))
            await asyncio.sleep(0.1)

    async def watches(self) -> None:
        """Calls of health and reflection that are opened and kept."""
        for path, number in ((_WATCH, WATCHES), (_REFLECT, WATCHES)):
            channel = self._channel()
            for _ in range(number):
                stream: Any = channel.stream_stream(path)()
                self._held.append(stream)
                if path == _WATCH:
                    with suppress(grpc.aio.AioRpcError, asyncio.InvalidStateError, asyncio.CancelledError):
                        await stream.write(b"")

    async def half_open(self) -> None:
        """Connections that never finish, or never begin, their handshake, opened again where they are closed."""
        host, _, port = self._address.rpartition(":")
        with ExitStack() as open_:
            while self._left > 0:
                for number in range(HALF_OPEN):
                    with suppress(OSError):
                        one = open_.enter_context(socket.create_connection((host, int(port)), timeout=1))
                        one.send(_HELLO[: number % len(_HELLO)])
                        self.ends["HALF_OPEN"] += 1
                await asyncio.sleep(min(1.0, max(0.0, self._left)))
                open_.pop_all().close()

    async def _repeat(
        self,
        method: str,
        messages: tuple[bytes, ...],
        at_once: int = CALLS_EACH,
        metadata: tuple[tuple[str, str], ...] = (),
        share: float = 1.0,
    ) -> None:
        """Calls over one connection, so many at a time, each time the next message."""
        call: Any = self._channel().unary_unary(f"{_SERVICE}/{method}")
        until = time.monotonic() + self._left * share

        async def one_after_the_other(first: int) -> None:
            number = first
            while time.monotonic() < until:
                message = messages[number % len(messages)]
                await self._ends(call(message, metadata=(*self._credential, *metadata), timeout=20))
                number += 1

        await asyncio.gather(*(one_after_the_other(number) for number in range(at_once)))

    async def _ends(self, call: Awaitable[Any]) -> None:
        try:
            await call
        except grpc.aio.AioRpcError as error:
            self.ends[error.code().name] += 1
        except asyncio.InvalidStateError:  # a stream that had ended before it was written to
            self.ends["ENDED"] += 1
        else:
            self.ends["OK"] += 1

    def _channel(self) -> grpc.aio.Channel:
        """A connection of its own."""
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 0)]
        options += [("grpc.max_receive_message_length", -1), ("grpc.max_metadata_size", 128 * _KB)]
        channel = grpc.aio.insecure_channel(self._address, options=options)
        self._channels.append(channel)
        return channel

    @property
    def _credential(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", self._token),) if self._token else ()

    @property
    def _left(self) -> float:
        return self._until - time.monotonic()


def raise_for(stream: Any) -> None:
    """Raises what a stream ended with, if it has."""
    if stream.done():
        raise asyncio.InvalidStateError


KINDS: dict[str, Callable[[Flood], Awaitable[None]]] = {
    "calls": Flood.calls,
    "explanations": Flood.explanations,
    "huge": Flood.huge,
    "metadata": Flood.metadata,
    "streams": Flood.streams,
    "unread-streams": Flood.unread_streams,
    "unread-answers": Flood.unread_answers,
    "unsent-messages": Flood.unsent_messages,
    "strangers": Flood.strangers,
    "messageless": Flood.messageless,
    "watches": Flood.watches,
    "half-open": Flood.half_open,
}


def main(arguments: list[str]) -> int:
    """Floods and tells of it."""
    parser = argparse.ArgumentParser(prog="benchmarks.flooding", description=__doc__)
    parser.add_argument("address")
    parser.add_argument("seconds", type=float)
    parser.add_argument("token", help="the value of the metadata authorization, or nothing")
    parser.add_argument("kinds", nargs="+", choices=[*KINDS, "all"])
    asked = parser.parse_args(arguments)
    flood = Flood(asked.address, asked.seconds, asked.token)
    asyncio.run(flood.run(list(KINDS) if "all" in asked.kinds else asked.kinds))
    print(json.dumps(flood.ends))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
