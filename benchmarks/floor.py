"""The floor: the service's own gRPC library and options with nothing behind them, answering fixed bytes.

`python -m benchmarks.floor SIZE` answers every unary call with SIZE bytes, and every message of a bidi stream too.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import grpc
import uvloop

from router_service.server.limits import ASKING_BYTES, USUAL, transport_options

UNARY, STREAM = "/floor.Floor/Unary", "/floor.Floor/Stream"


class Floor(grpc.GenericRpcHandler):
    """Answers with the same bytes, whatever is asked; no message is read or written."""

    def __init__(self, answer: bytes) -> None:
        async def unary(request: bytes, context: Any) -> bytes:  # noqa: ARG001 - gRPC's signature
            return answer

        async def stream(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[bytes]:  # noqa: ARG001
            async for _ in requests:
                yield answer

        self._handlers: dict[str, Any] = {
            UNARY: grpc.unary_unary_rpc_method_handler(unary),
            STREAM: grpc.stream_stream_rpc_method_handler(stream),
        }

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> Any:
        return self._handlers.get(handler_call_details.method)


async def run(floor: Floor) -> None:
    """Runs a floor on a port of the system's choice until SIGTERM."""
    server = grpc.aio.server(options=transport_options(USUAL.connections, ASKING_BYTES))
    server.add_generic_rpc_handlers((floor,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"listening on 127.0.0.1:{port}", file=sys.stderr, flush=True)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await stop.wait()
    await server.stop(0)


if __name__ == "__main__":
    uvloop.run(run(Floor(bytes(int(sys.argv[1])))))
