"""What came of decisions, and what they were: the methods of RouterService around reports and traces."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import AsyncIterator, Awaitable, Generator, Sequence
from itertools import accumulate
from typing import Any

import grpc
from google.rpc import code_pb2

from router_service.asks import EndpointNotListed, InvalidRequest, Unanswerable
from router_service.catalog.slices import unhurried
from router_service.domain.caller import Caller
from router_service.domain.problems import Problem
from router_service.domain.readers import TEXT_MAX
from router_service.router import Router
from router_service.server.admission import Context
from router_service.server.metrics import UNREAD, Metrics
from router_service.server.reporting import Reporting
from router_service.server.rpc import Calls
from router_service.server.streams import Stream
from router_service.store.interface import Taken, Trace, TracePage
from router_service.v1 import error_reason_pb2 as reason_pb
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.errors import item_error, kind_of
from router_service.wire.read import parse
from router_service.wire.report import read_report, under_report
from router_service.wire.trace import read_asked_trace, read_query, write_listed, write_trace

# What the named reports of a stream's answer may take, so that the answer fits gRPC's usual 4 MiB and a client that
# sends nothing but nonsense cannot make the server's memory grow.
REJECTED_BYTES = 1024 * 1024
# The same for a page of traces: a request may have lists of a thousand entries.
PAGE_BYTES = 2 * 1024 * 1024


class HistoryServicer:
    """Report, ReportStream, GetTrace and ListTraces, all through one router. Takes and gives the bytes of messages."""

    def __init__(self, router: Router, calls: Calls, metrics: Metrics) -> None:
        self._router, self._calls, self._reporting = router, calls, Reporting(router, metrics)

    def handlers(self) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """The methods by name, to stand beside those of RouterServicer."""
        return {
            "Report": grpc.unary_unary_rpc_method_handler(self._calls.unary("Report", self._report)),
            "ReportStream": grpc.stream_unary_rpc_method_handler(self._report_stream),
            "GetTrace": grpc.unary_unary_rpc_method_handler(self._calls.unary("GetTrace", self._get_trace)),
            "ListTraces": grpc.unary_unary_rpc_method_handler(self._calls.unary("ListTraces", self._list_traces)),
        }

    def _report(self, caller: Caller, raw: bytes) -> Awaitable[bytes]:
        return self._reported(caller, parse(pb.ReportRequest, raw))

    async def _reported(self, caller: Caller, request: pb.ReportRequest) -> bytes:
        taken = await self._take(caller, request)
        return pb.ReportResponse(accepted=taken.accepted, duplicates=taken.duplicates).SerializeToString()

    async def _report_stream(self, _items: AsyncIterator[bytes], context: Context) -> bytes:
        async with self._calls.stream("ReportStream", context) as stream:
            return await self._take_all(stream)
        raise AssertionError("a stream that may not be ends there")

    async def _take_all(self, stream: Stream) -> bytes:
        """Takes reports one after the other, in the order of their coming; what is wrong with one stays with it."""
        summary, room = pb.ReportStreamResponse(), REJECTED_BYTES
        position, patient = 0, True
        async for raw in stream.items():
            outcome = await self._item(stream.caller(), raw, patient=patient)
            if isinstance(outcome, Taken):
                summary.accepted += outcome.accepted
                summary.duplicates += outcome.duplicates
            else:
                # One that waited for a trace in vain has waited for all: a stream of old ones must end in time.
                patient = patient and outcome.error.reason != reason_pb.ERROR_REASON_TRACE_NOT_FOUND
                outcome.position = position
                room -= outcome.ByteSize()
                if room >= 0:
                    summary.rejected.append(outcome)
                else:
                    summary.more_rejected += 1
            position += 1
        return summary.SerializeToString()

    async def _item(self, caller: Caller, raw: bytes, *, patient: bool) -> Taken | pb.RejectedReport:
        """What became of one report of a stream."""
        start, code, trace_id = time.perf_counter(), grpc.StatusCode.OK, ""
        try:
            request = parse(pb.ReportStreamRequest, raw)
            trace_id = request.report.trace_id[:TEXT_MAX]
            return await self._take(caller, request, patient=patient)
        except Unanswerable as problem:
            self._calls.limited(problem)
            code, error = kind_of(problem)[0], item_error(problem)
        except Exception as fault:  # noqa: BLE001 - a fault in one item must not end the stream
            code = grpc.StatusCode.INTERNAL
            status = self._calls.fault("ReportStream", fault)
            error = reason_pb.ItemError(
                code=code_pb2.INTERNAL, message=status.message, reason=reason_pb.ERROR_REASON_INTERNAL
            )
        finally:
            self._calls.item("ReportStream", code, start)
        return pb.RejectedReport(trace_id=trace_id, error=error)

    async def _take(
        self, caller: Caller, request: pb.ReportRequest | pb.ReportStreamRequest, *, patient: bool = True
    ) -> Taken:
        """Takes a report and counts what became of it. Raises Unanswerable."""
        try:
            report = read_report(request)
        except Exception as problem:
            self._reporting.refused(UNREAD, problem)
            raise
        try:
            return await self._reporting.take(caller, report, patient=patient)
        except EndpointNotListed as unlisted:
            raise EndpointNotListed(under_report(unlisted.problems)) from None

    async def _get_trace(self, caller: Caller, raw: bytes) -> bytes:
        stored = await self._router.trace(caller, read_asked_trace(parse(pb.GetTraceRequest, raw)))
        return pb.GetTraceResponse(trace=write_trace(stored)).SerializeToString()

    async def _list_traces(self, caller: Caller, raw: bytes) -> bytes:
        request = parse(pb.ListTracesRequest, raw)
        query, limit = read_query(request)
        cursor = _cursor(request.page_token)
        async with self._calls.admission.lane("ListTraces", caller) as pause_s:
            page = await self._router.traces(caller, query, cursor, limit)
            while (fitting := _fitting(page.traces)) < len(page.traces):
                page = await self._router.traces(caller, query, cursor, fitting)
            return await unhurried(_listed(page), pause_s)


def _listed(page: TracePage) -> Generator[None, None, bytes]:
    """A page as a message."""
    token = base64.urlsafe_b64encode(page.next_cursor.encode()).decode()
    response = pb.ListTracesResponse(next_page_token=token)
    for trace in page.traces:
        response.traces.append(write_listed(trace))
        yield
    return response.SerializeToString()


def _fitting(traces: Sequence[Trace]) -> int:
    """How many of the first traces fit on a page; one does in any case."""
    sizes = accumulate(len(trace.request) + len(trace.answer) for trace in traces)
    return max(1, sum(size <= PAGE_BYTES for size in sizes)) if traces else 0


def _cursor(page_token: str) -> str:
    """The store's cursor, of the token that was made of it. Raises InvalidRequest."""
    try:
        return base64.b64decode(page_token.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError):
        cure = "use the next_page_token of a page as it is, or none"
        raise InvalidRequest([Problem("page_token", "it was not made here", cure)]) from None
