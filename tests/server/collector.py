"""An OTLP collector on loopback: the protocol's own service, which keeps the spans that it is sent."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as pb
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as stubs
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import Span

WAIT_S = 30


class Collector(stubs.TraceServiceServicer):
    """`spans` are those that came, each with what is said of its sender."""

    def __init__(self) -> None:
        self.address = ""
        self.spans: list[tuple[Resource, Span]] = []

    def Export(  # noqa: N802 - gRPC's name
        self,
        request: pb.ExportTraceServiceRequest,
        context: grpc.ServicerContext,  # noqa: ARG002 - gRPC's signature
    ) -> pb.ExportTraceServiceResponse:
        self.spans += [
            (of.resource, span) for of in request.resource_spans for scope in of.scope_spans for span in scope.spans
        ]
        return pb.ExportTraceServiceResponse()

    def wait_for(self, name: str, count: int = 1) -> list[Span]:
        """The spans of a name, when there are so many."""
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:
            found = [span for _, span in self.spans if span.name == name]
            if len(found) >= count:
                return found
            time.sleep(0.05)
        raise AssertionError(f"no {count} spans {name}: {[span.name for _, span in self.spans]}")


def told(span: Span | Span.Event) -> dict[str, str | int]:
    """The attributes of a span or an event."""
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector on a port of its own."""
    server, collector = grpc.server(ThreadPoolExecutor(2)), Collector()
    stubs.add_TraceServiceServicer_to_server(collector, server)
    collector.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield collector
    finally:
        server.stop(None).wait()
