"""External authorisation: Envoy asks before a request goes on, and is told the clusters to try in order, or why not."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import grpc

from router_service.asks import Answer, CatalogNotLoaded, InvalidRequest, Unanswerable
from router_service.domain.caller import Caller
from router_service.domain.decision import Refusal
from router_service.domain.problems import Problem
from router_service.router import Router
from router_service.server.envoy.narrowing import Narrowing
from router_service.server.rpc import Calls
from router_service.server.told import Told
from router_service.wire.envoy.answers import check_response, denied_response, retry_after_s
from router_service.wire.envoy.ask import by_header
from router_service.wire.envoy.check import CheckReader
from router_service.wire.envoy.errors import Deniable, RouteMisconfigured, denial_of_error, denial_of_refusal
from router_service.wire.envoy.keys import CLUSTERS
from router_service.wire.envoy.route import PLACE

SERVICE = "envoy.service.auth.v3.Authorization"
_NO_CLUSTERS = Problem(
    PLACE + CLUSTERS, "missing", "list the clusters that this Envoy has, as `router-service envoy` prints them"
)


class AuthorizationDoor:
    """Check. Takes and gives the bytes of messages."""

    def __init__(self, router: Router, calls: Calls, told: Told, log: Any) -> None:
        self._router, self._calls, self._tell, self._log = router, calls, told, log
        self._read, self._narrowing = CheckReader().read, Narrowing(router)

    def handlers(self) -> dict[str, grpc.RpcMethodHandler[Any, Any]]:
        """The method by its name."""
        return {"Check": grpc.unary_unary_rpc_method_handler(self._calls.unary("Check", self._check))}

    def _check(self, caller: Caller, raw: bytes) -> bytes | Awaitable[bytes]:
        try:
            answer, narrowed = self._decide(caller, raw)
        except CatalogNotLoaded:
            raise  # it is this instance's alone: a call that fails so is made to another one, and a denial is final
        except Deniable as error:
            return self._denied(error)
        if isinstance(answer, Answer):
            return self._answered(caller, answer, narrowed=narrowed)
        return self._awaited(caller, answer, narrowed=narrowed)

    def _decide(self, caller: Caller, raw: bytes) -> tuple[Answer | Awaitable[Answer], bool]:
        """The answer, and whether this Envoy lacks endpoints that the policy admits. Raises one of Deniable."""
        route, ask = self._read(raw)
        if route.clusters is None:
            raise RouteMisconfigured([_NO_CLUSTERS])
        narrowed = self._narrowing.narrowed(caller, ask, route.clusters)
        try:
            return self._router.decide(caller, narrowed), narrowed is not ask
        except InvalidRequest as invalid:
            raise by_header(invalid) from None

    async def _awaited(self, caller: Caller, answer: Awaitable[Answer], *, narrowed: bool) -> bytes:
        try:
            return self._answered(caller, await answer, narrowed=narrowed)
        except Unanswerable as error:
            return self._denied(error)

    def _answered(self, caller: Caller, answer: Answer, *, narrowed: bool) -> bytes:
        self._tell(caller, answer)
        result = answer.result
        if not isinstance(result, Refusal):
            return check_response(result, answer.trace_id)
        wait = retry_after_s(result.retry_at, answer.now)
        return denied_response(denial_of_refusal(result, narrowed=narrowed), answer.trace_id, wait)

    def _denied(self, error: Exception) -> bytes:
        if isinstance(error, Unanswerable):
            self._calls.limited(error)
        denial = denial_of_error(error)
        level = self._log.warning if isinstance(error, RouteMisconfigured) else self._log.info
        level("denied", door="Check", code=denial.code, message=denial.message)
        return denied_response(denial, "", None)
