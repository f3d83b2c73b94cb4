"""The services beside this one's own, health and reflection, with limits of their own: whoever asks is not known.

One connection has few of their calls, and beyond so many in all the oldest of whoever has most gives way.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import grpc
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from router_service.asks import LimitReached, Unanswerable
from router_service.server import limits
from router_service.server.admission import Admission, Context, stranger, too_large
from router_service.server.health_service import Statuses
from router_service.server.waiting import Held, Waiting
from router_service.wire.read import parse

Handlers = Mapping[str, "grpc.RpcMethodHandler[Any, Any]"]
_Message = TypeVar("_Message", bound=Message)
_SOCKET = "unix:"  # the peer of every connection of a Unix socket, which cannot be told apart


class Open:
    """Calls of one kind that stay open."""

    def __init__(self, most: int, of_a_connection: int, what: str) -> None:
        self._most, self._of_a_connection, self._what = most, of_a_connection, what
        self._held: dict[Held, None] = {}
        self._connections: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._held)

    @contextmanager
    def held(self, peer: str) -> Iterator[None]:
        """Holds one open. Raises LimitReached at once, or where it has to give way."""
        own = self._connections[peer]
        if own >= self._of_a_connection and peer != _SOCKET:
            what = f"{own} {self._what} of this connection are open, which is all that one may have"
            raise LimitReached(limits.BESIDE, f"{what}: use those, or end some")
        if len(self._held) >= self._most:
            self._make_way()
        held = Held(stranger(peer), time.perf_counter(), 0, asyncio.current_task())
        self._held[held] = None
        self._connections[peer] += 1
        try:
            yield
        except asyncio.CancelledError as cancelled:
            raise held.ended(cancelled) from None
        finally:
            del self._held[held]
            self._connections[peer] -= 1
            if not self._connections[peer]:
                del self._connections[peer]

    def _make_way(self) -> None:
        left = [held for held in self._held if held.error is None]
        if len(left) < self._most:
            return
        having = Counter(held.key for held in left)
        most = max(having.values())
        oldest = next(held for held in left if having[held.key] == most)
        what = f"{self._most} {self._what} are open, which is all that may be, and this is the oldest"
        oldest.end(LimitReached(limits.BESIDE, f"{what}: ask again later"))


class Beside:
    """Health and reflection of one server. `refuse` ends a call with the status of an error."""

    def __init__(
        self,
        refuse: Callable[[Context, Unanswerable], Awaitable[None]],
        admission: Admission,
        largest: int,
        stalled_s: float,
    ) -> None:
        """`largest` is the greatest message that gRPC reads there."""
        self._refuse, self._admission = refuse, admission
        places = limits.arriving(largest, limits.ARRIVING_BESIDE_BYTES)
        self.waiting = Waiting(places, limits.ARRIVING_QUEUE, stalled_s)
        self._watches = Open(limits.WATCHES, limits.WATCHES_A_CONNECTION, "calls of Watch")
        few = min(limits.REFLECTIONS, max(1, places // 2))
        self._reflections = Open(few, limits.REFLECTIONS_A_CONNECTION, "streams of reflection")

    @property
    def count(self) -> int:
        """How many of their calls stay open."""
        return self._watches.count + self._reflections.count

    def health(self, statuses: Statuses) -> Handlers:
        """The methods of grpc.health.v1.Health."""

        async def check(context: Context) -> health_pb2.HealthCheckResponse:
            name = (await self._message(health_pb2.HealthCheckRequest, context, limits.PROBE_BYTES)).service
            status = statuses.of(name)
            if status is None:
                known = ", ".join(f'"{one}"' for one in statuses.names)
                await context.abort(grpc.StatusCode.NOT_FOUND, f'no service is named "{name}"; ask for one of {known}')
            return health_pb2.HealthCheckResponse(status=status)

        async def watch(context: Context) -> None:
            name = (await self._message(health_pb2.HealthCheckRequest, context, limits.PROBE_BYTES)).service
            with self._watches.held(context.peer()):
                await statuses.tell(name, context.write)

        serialized = health_pb2.HealthCheckResponse.SerializeToString
        return {
            "Check": grpc.stream_unary_rpc_method_handler(self._answering(check), None, serialized),
            "Watch": grpc.stream_stream_rpc_method_handler(self._answering(watch), None, serialized),
        }

    def reflection(self, names: Iterable[str]) -> Handlers:
        """The methods of server reflection, which tells of these services."""
        answers = reflection.aio.ReflectionServicer(names)

        async def tell(context: Context) -> None:
            with self._reflections.held(context.peer()):
                while (raw := await self._next(context, limits.MESSAGE_BYTES)) is not None:
                    asked = _one(parse(reflection_pb2.ServerReflectionRequest, raw))
                    async for answer in answers.ServerReflectionInfo(asked, context):
                        await context.write(answer)

        serialized = reflection_pb2.ServerReflectionResponse.SerializeToString
        return {"ServerReflectionInfo": grpc.stream_stream_rpc_method_handler(self._answering(tell), None, serialized)}

    def _answering(self, answer: Callable[[Context], Awaitable[Any]]) -> Any:
        async def call(_items: Any, context: Context) -> Any:
            try:
                return await answer(context)
            except Unanswerable as error:
                await self._refuse(context, error)

        return call

    async def _message(self, kind: type[_Message], context: Context, largest: int) -> _Message:
        """The one message of a call. Raises Unanswerable."""
        raw = await self.waiting.message(stranger(context.peer()), context, time.perf_counter())
        await self._turn(raw, context, largest)
        return parse(kind, raw)

    async def _next(self, context: Context, largest: int) -> bytes | None:
        """The next message of a stream, or None at its end. Raises Unanswerable."""
        raw = await self.waiting.next(stranger(context.peer()), context, time.perf_counter())
        if raw is not None:
            await self._turn(raw, context, largest)
        return raw

    async def _turn(self, raw: bytes, context: Context, largest: int) -> None:
        """Waits for the turn of a message where its sender takes more than its share of a busy server."""
        if len(raw) > largest:
            raise too_large(len(raw), largest)
        key = stranger(context.peer())
        await self._admission.wait_if_wanted(key, time.perf_counter())
        self._admission.turns.took(key, limits.PROBE_S)


async def _one(message: _Message) -> AsyncIterator[_Message]:
    yield message
