"""What every call has around it: its caller is found and has the role, errors become rich statuses, calls are counted.

Faults stay inside.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

import grpc
from google.rpc import code_pb2, error_details_pb2, status_pb2

from router_service.asks import Draining, InvalidRequest, LimitReached, RoleMissing, Unanswerable, Unauthenticated
from router_service.domain.caller import Caller
from router_service.server.admission import LARGE, Admission, Context, key_of, stranger
from router_service.server.identity.access import Access, Visitor
from router_service.server.identity.roles import ROLES_OF, need
from router_service.server.limits import HELD_BACK, METADATA, METADATA_BYTES, USUAL
from router_service.server.metrics import Metrics
from router_service.server.streams import Stream
from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.wire.errors import DOMAIN, kind_of, status_of

_DETAILS, _CHALLENGE = "grpc-status-details-bin", "www-authenticate"
_LOOK_AGAIN_S = 0.01
_Denied = Callable[[bytes, str, Unauthenticated | RoleMissing], Awaitable[None]]
FOUND: ContextVar[tuple[Caller, str] | None] = ContextVar("found", default=None)
"""The caller of this call and whose calls it counts among, where they were found before its message was read."""


class Calls:
    """Runs handlers; one for all services of a server."""

    def __init__(self, metrics: Metrics, log: Any, access: Access, admission: Admission | None = None) -> None:
        """`admission` bounds what is under way; by default as a server without flags does, with `--stateless`."""
        self._metrics, self._log, self._access = metrics, log, access
        self.admission = admission or Admission(USUAL, stateless=True)
        self.streams: set[Stream] = set()
        self._under_way = self._beside = self._held_back = 0
        self._denied: dict[str, _Denied | None] = {}
        self._refused_at = 0.0

    async def idle(self) -> None:
        """Waits until no call and no stream of this server's own services is under way."""
        while self.count:  # noqa: ASYNC110 - asked once, at the end: no call need tell of its own
            await asyncio.sleep(_LOOK_AGAIN_S)

    @property
    def count(self) -> int:
        """How many calls and streams are under way."""
        return self._under_way + self._beside

    @property
    def refused_at(self) -> float:
        """When (of time.perf_counter) a call was refused last because the server is on its way out."""
        return self._refused_at

    def drain(self) -> None:
        """Refuses new calls from now on, and ends each stream once what was read of it is answered."""
        self.admission.drain()
        for stream in list(self.streams):
            stream.end()

    def break_off(self) -> None:
        """Ends all that is still under way, as far as it waits for something: its callers may ask another server."""
        for stream in list(self.streams):
            stream.break_off()
        self.admission.break_off()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Counts a stream, or work beside calls, for as long as it takes."""
        self._beside += 1
        try:
            yield
        finally:
            self._beside -= 1

    def unary(
        self,
        method: str,
        handle: Callable[[Caller, bytes], bytes | Awaitable[bytes]],
        denied: _Denied | None = None,
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """A handler that answers one call, or ends it with the status that its error stands for.

        `denied` is told of a call that was not let in, and of its peer's address.
        """
        called, clock, ok = self._metrics.called, time.perf_counter, grpc.StatusCode.OK.name
        found, roles = self._found, ROLES_OF[method]
        admission, largest = self.admission, self.admission.message_bytes(method)
        turns, wanted, at_work = admission.turns, admission.turns.wanted, admission.at_work
        self._denied[method] = denied

        async def answer(request: bytes, context: Context) -> bytes:
            begun = start = clock()
            code, key, handed_on = ok, "", 0.0
            self._under_way += 1
            try:
                if self._under_way > admission.most or len(request) > largest:
                    raise admission.refusal(len(request), largest)
                caller, key = FOUND.get() or found(context)
                need(caller, *roles)
                if (turn := wanted(key, start)) is not None or at_work:
                    await admission.wait(key, turn)
                    begun = clock()
                answered = handle(caller, request)
                if not isinstance(answered, bytes):
                    handed_on = clock()
                    answered = await admission.work(key, answered)
                if len(answered) > LARGE:
                    admission.send(key, len(answered))
            except Unanswerable as problem:
                error = await self._refused(problem, context.peer(), start)
                code = kind_of(error)[0].name
                await _tell_denied(denied, request, context, error)
                await _abort(context, error)
            except Exception as fault:  # noqa: BLE001 - no fault may show its inside to a caller
                code = grpc.StatusCode.INTERNAL.name
                await _abort_by_fault(context, self.fault(method, fault))
            else:
                return answered
            finally:
                ended = clock()
                called(method, code, ended - start)
                if turns.counts:
                    turns.took(key or stranger(context.peer()), (handed_on or ended) - begun)
                self._under_way -= 1

        return answer

    @asynccontextmanager
    async def stream(self, method: str, context: Context) -> AsyncIterator[Stream]:
        """Around a stream: what it gives finds the stream's caller, and is to be asked before each item.

        So a stream ends with its caller's right to it; and gently with the server, which waits for that.
        """
        start, admission = time.perf_counter(), self.admission
        caller = Visitor(self._access, context, ROLES_OF[method]).caller
        with self.under_way():
            try:
                key = key_of(caller(), context)
                await admission.wait_if_wanted(key, start)
                with admission.open_stream(key):
                    stream = Stream(method, caller, key, context, admission)
                    self.streams.add(stream)
                    try:
                        with stream.until_end():
                            yield stream
                    finally:
                        self.streams.discard(stream)
            except Unanswerable as problem:
                error = await self._refused(problem, context.peer(), start)
                self.item(method, kind_of(error)[0], start)
                await _abort(context, error)

    def _found(self, context: Context) -> tuple[Caller, str]:
        """The caller of a call, and whose calls it counts among. Raises Unauthenticated."""
        caller = self._access.find(context)
        return caller, key_of(caller, context)

    async def _refused(self, error: Unanswerable, peer: str, start: float) -> Unanswerable:
        """Why a call is refused in the end: who is not known waits for a turn too, which may come too late."""
        if isinstance(error, Unauthenticated | LimitReached) and self._held_back < HELD_BACK:
            self._held_back += 1
            try:
                await self.admission.wait_if_wanted(stranger(peer), start)
            except LimitReached as late:
                error = late
            finally:
                self._held_back -= 1
        self.limited(error)
        return error

    async def turn_away(self, method: str, context: Context, error: Unanswerable) -> NoReturn:
        """Ends a call whose message was not read."""
        start = time.perf_counter()
        with self.under_way():
            error = await self._refused(error, context.peer(), start)
            self.item(method, kind_of(error)[0], start)
            await _tell_denied(self._denied.get(method), b"", context, error)
            await _abort(context, error)

    async def too_much_metadata(self, _items: object, context: Context) -> None:
        """The handler of a call of any kind whose metadata is beyond the limit."""
        await self.refuse(
            context, LimitReached(METADATA, f"the metadata is too large: send at most {METADATA_BYTES} bytes")
        )

    async def refuse(self, context: Context, error: Unanswerable) -> NoReturn:
        """Ends a call that got no further than to a limit, or that no method of this service's own is about."""
        await _abort(context, await self._refused(error, context.peer(), time.perf_counter()))

    def limited(self, error: Unanswerable) -> None:
        """Counts the limits that a request was refused for."""
        if isinstance(error, LimitReached):
            self._metrics.limited(error.limit)
        elif isinstance(error, InvalidRequest):
            for limit in {problem.limit for problem in error.problems if problem.limit}:
                self._metrics.limited(limit)
        elif isinstance(error, Draining):
            self._refused_at = time.perf_counter()

    def fault(self, method: str, fault: Exception) -> status_pb2.Status:
        """Logs a fault of the service's own; the caller learns that there was one, and nothing of its inside."""
        self._log.error("fault", method=method, exc_info=fault)
        message = "the server met a fault of its own; its log says more"
        status = status_pb2.Status(code=code_pb2.INTERNAL, message=message)
        reason = reason_pb.ErrorReason.Name(reason_pb.ERROR_REASON_INTERNAL)
        status.details.add().Pack(error_details_pb2.ErrorInfo(reason=reason, domain=DOMAIN))
        return status

    def item(self, method: str, code: grpc.StatusCode, start: float) -> None:
        """Counts one item of a stream that began at `start` (of time.perf_counter)."""
        self._metrics.called(method, code.name, time.perf_counter() - start)


async def _tell_denied(denied: _Denied | None, request: bytes, context: Context, error: Unanswerable) -> None:
    if denied is not None and isinstance(error, Unauthenticated | RoleMissing):
        await denied(request, context.peer(), error)


async def _abort(context: Context, error: Unanswerable) -> NoReturn:
    status = status_of(error)
    challenge = ((_CHALLENGE, error.challenge),) if isinstance(error, Unauthenticated) else ()
    try:
        await context.abort(kind_of(error)[0], status.message, ((_DETAILS, status.SerializeToString()), *challenge))
    except grpc.aio.InternalError:
        # Its caller is gone, or gRPC has ended it itself, as one whose message is too large: there is nobody to tell.
        raise asyncio.CancelledError from None


async def _abort_by_fault(context: Context, status: status_pb2.Status) -> NoReturn:
    await context.abort(grpc.StatusCode.INTERNAL, status.message, ((_DETAILS, status.SerializeToString()),))
