"""Spans of calls: each continues its caller's trace, and tells what was decided (docs/operating.md, Traces of calls).

Names and attributes of the call follow OpenTelemetry's conventions for RPC; what is this service's own begins with
`router.`. Imported only where spans are on, since it needs the extra `otel`.
"""

from __future__ import annotations

import inspect
from asyncio import CancelledError
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import grpc
from opentelemetry import propagate, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Span, SpanKind, StatusCode

from router_service import __version__
from router_service.asks import Answer
from router_service.domain.decision import Refusal

FLUSH_MS = 2_000
"""How long an end waits for the collector to take the last spans."""
# What is the server's fault, by the conventions; the others are answers that a caller asked for.
_FAULTS = {"UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"}
_SHAPES = {False: "unary", True: "stream"}
_CODES = {code.value[0]: code.name for code in grpc.StatusCode}
_in_stream: ContextVar[bool] = ContextVar("in_stream", default=False)

Handlers = Mapping[str, "grpc.RpcMethodHandler[Any, Any]"]


class Spans:
    """Makes the spans of one server's calls."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("router_service", __version__)

    def around(self, services: Mapping[str, Handlers]) -> dict[str, Handlers]:
        """The methods of each service by its full name, each with a span around every call."""
        return {
            service: {name: self._traced(f"{service}/{name}", handler) for name, handler in handlers.items()}
            for service, handlers in services.items()
        }

    def told(self, answer: Answer) -> None:
        """Adds what was decided to the span of the call; of a stream's items each is an event of its span."""
        span = trace.get_current_span()
        if not span.is_recording():
            return
        attributes = _attributes(answer)
        if _in_stream.get():
            span.add_event("decided", attributes)
        else:
            span.set_attributes(attributes)

    def close(self) -> None:
        """Gives the collector what is left, for some seconds at most, and ends the thread that does it."""
        self._provider.force_flush(FLUSH_MS)
        self._provider.shutdown()

    def _traced(self, method: str, handler: grpc.RpcMethodHandler[Any, Any]) -> grpc.RpcMethodHandler[Any, Any]:
        asked, answered = (_SHAPES[shape] for shape in (handler.request_streaming, handler.response_streaming))
        kind = f"{asked}_{answered}"
        handle = getattr(handler, kind)

        async def call(request: Any, context: Any) -> Any:
            with self._span(method, context, in_stream=handler.request_streaming) as span, _code_of(span, context):
                return await handle(request, context)

        async def stream(request: Any, context: Any) -> AsyncIterator[Any]:
            with self._span(method, context, in_stream=handler.request_streaming) as span, _code_of(span, context):
                async for answer in handle(request, context):
                    yield answer

        make: Any = getattr(grpc, f"{kind}_rpc_method_handler")
        wrapped: grpc.RpcMethodHandler[Any, Any] = make(stream if inspect.isasyncgenfunction(handle) else call)
        return wrapped

    @contextmanager
    def _span(self, method: str, context: Any, *, in_stream: bool) -> Iterator[Span]:
        carrier = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        attributes = {"rpc.system.name": "grpc", "rpc.method": method}
        token = _in_stream.set(in_stream)
        try:
            with self._tracer.start_as_current_span(
                method,
                propagate.extract(carrier),
                SpanKind.SERVER,
                attributes,
                record_exception=False,  # an exception's text may hold what no span may
                set_status_on_exception=False,
            ) as span:
                yield span
        finally:
            _in_stream.reset(token)


@contextmanager
def _code_of(span: Span, context: Any) -> Iterator[None]:
    """Tells the span which status the call had in the end."""
    code = ""
    try:
        yield
    except (CancelledError, GeneratorExit):
        code = grpc.StatusCode.CANCELLED.name
        raise
    finally:
        said = context.code()
        code = code or (said.name if isinstance(said, grpc.StatusCode) else _CODES.get(said or 0, "UNKNOWN"))
        span.set_attribute("rpc.response.status_code", code)
        if code != grpc.StatusCode.OK.name:
            span.set_attribute("error.type", code)
        if code in _FAULTS:
            span.set_status(StatusCode.ERROR)


def _attributes(answer: Answer) -> dict[str, str | int]:
    """What of an answer a span tells: nothing that a payload could be in, and no more than these."""
    result = answer.result
    told: dict[str, str | int] = {
        "router.trace_id": answer.trace_id,
        "router.policy_id": result.policy_id,
        "router.catalog_version": answer.catalog_version,
        "router.considered": result.considered,
        "router.excluded": result.excluded,
    }
    if isinstance(result, Refusal):
        return told | {"router.outcome": result.code, "router.candidates": 0}
    return told | {
        "router.outcome": "decided",
        "router.candidates": len(result.candidates),
        "router.endpoint_id": result.candidates[0].endpoint_id,
    }


def add_span(_logger: Any, _level: str, line: dict[str, Any]) -> dict[str, Any]:
    """A line of the log with the span it was written in, where there is one."""
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        line["otel_trace_id"] = trace.format_trace_id(context.trace_id)
        line["otel_span_id"] = trace.format_span_id(context.span_id)
    return line
