"""RouterClient: the service's RPCs as methods."""

from __future__ import annotations

from types import TracebackType
from typing import Self, Unpack

import grpc

from router_service_client.channels import DEFAULT_TARGET, DEFAULT_TIMEOUT, open_channel
from router_service_client.errors import error_of
from router_service_client.messages import RouteFields, decide_request, explain_request
from router_service_client.v1.route_pb2 import RouteRequest
from router_service_client.v1.router_service_pb2 import DecideResponse, ExplainResponse, Inline
from router_service_client.v1.router_service_pb2_grpc import RouterServiceStub


class RouterClient:
    """A connection to a router-service, for threads; close it, or use it in a `with` statement.

    Args:
        target: `host:port` or `unix:/path`. Connecting happens with the first call, and again when it was lost.
        timeout: seconds that a call may take; a call's own `timeout` goes before it.
        credentials: TLS; without them the connection is plain.
        channel: a channel to use in the place of `target` and `credentials`; closing it stays with the caller.
    """

    def __init__(
        self,
        target: str = DEFAULT_TARGET,
        *,
        timeout: float = DEFAULT_TIMEOUT,
        credentials: grpc.ChannelCredentials | None = None,
        channel: grpc.Channel | None = None,
    ) -> None:
        self._own = open_channel(target, credentials) if channel is None else None
        self._stub = RouterServiceStub(channel or self._own)
        self._timeout = timeout

    def decide(
        self,
        request: RouteRequest | None = None,
        *,
        policy_id: str = "",
        request_id: str = "",
        inline: Inline | None = None,
        timeout: float | None = None,
        **fields: Unpack[RouteFields],
    ) -> DecideResponse:
        """The ranked, already filtered failover list of a request, or a refusal.

        Args:
            request: what the request needs; `fields` (`model=…, input_tokens=…`) go before its own.
            policy_id: the policy to decide under; empty means the catalogue's default.
            request_id: an id of the caller's own, echoed in the answer.
            inline: candidates and a policy of the caller's own, for a server started with `--stateless`.
            timeout: seconds that this call may take.
            fields: the fields of RouteRequest by name.

        Raises:
            RouterError: there is no answer; its subclass says why.
        """
        message = decide_request(request, policy_id, request_id, inline, fields)
        try:
            answer: DecideResponse = self._stub.Decide(message, timeout=self._seconds(timeout))
        except grpc.RpcError as failure:
            raise error_of(failure) from failure
        return answer

    def explain(
        self,
        request: RouteRequest | None = None,
        *,
        policy_id: str = "",
        request_id: str = "",
        inline: Inline | None = None,
        timeout: float | None = None,
        **fields: Unpack[RouteFields],
    ) -> ExplainResponse:
        """The decision that `decide` would make, and for every endpoint of the pool why it is in or out.

        Arguments and errors are those of `decide`.
        """
        message = explain_request(request, policy_id, request_id, inline, fields)
        try:
            answer: ExplainResponse = self._stub.Explain(message, timeout=self._seconds(timeout))
        except grpc.RpcError as failure:
            raise error_of(failure) from failure
        return answer

    def close(self) -> None:
        """Closes the connection; calls that still run are cancelled."""
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _seconds(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else timeout
