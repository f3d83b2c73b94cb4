"""The metadata of a call, taken where gRPC makes it: to find the method of a call, it has made all of it once.

`ServicerContext.invocation_metadata` makes it anew, which takes as long as all else that finds a caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

import grpc

from router_service.server.limits import METADATA_BYTES

Metadata = tuple[tuple[str, str | bytes], ...]

# Each call is a task of its own, in which its method is looked up and then run.
_OF_THIS_CALL: ContextVar[Metadata | None] = ContextVar("metadata", default=None)


class Methods(grpc.GenericRpcHandler):
    """The methods of one service, as `grpc.method_handlers_generic_handler` serves them."""

    def __init__(
        self,
        service: str,
        handlers: Mapping[str, grpc.RpcMethodHandler[Any, Any]],
        too_much: grpc.RpcMethodHandler[Any, Any] | None = None,
    ) -> None:
        """`too_much` answers calls whose metadata is beyond the limit."""
        self._handlers = {f"/{service}/{name}": handler for name, handler in handlers.items()}
        self._too_much = too_much

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Finds the method of a call that begins."""
        handler = self._handlers.get(handler_call_details.method)
        if handler is None:
            return None
        metadata = handler_call_details.invocation_metadata
        if self._too_much is not None and sum([len(name) + len(value) for name, value in metadata]) > METADATA_BYTES:
            return self._too_much
        _OF_THIS_CALL.set(metadata)
        return handler


def metadata_of(context: grpc.aio.ServicerContext[Any, Any]) -> Metadata:
    """The metadata that the client of this call sent."""
    found = _OF_THIS_CALL.get()
    return found if found is not None else tuple(context.invocation_metadata() or ())
