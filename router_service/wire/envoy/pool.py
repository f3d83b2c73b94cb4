"""External processing of pools: where endpoints are by `ip:port`, and what one request came to, told on its stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from router_service.catalog.snapshot import Snapshot
from router_service.domain.addresses import address_of
from router_service.domain.report import OutcomeReport
from router_service.wire.envoy.seen import LOST, NOT_REACHED, answered

DESTINATION = "x-gateway-destination-endpoint"
"""The header, and the key of `envoy.lb`, that hold the failover list: `ip:port,ip:port,…`."""
SERVED = "x-gateway-destination-endpoint-served"
SUBSET = "x-gateway-destination-endpoint-subset"
LB, SUBSET_HINT = "envoy.lb", "envoy.lb.subset_hint"
ADDRESS, ATTEMPTS, DETAILS = "upstream.address", "upstream.request_attempt_count", "response.code_details"
"""Attributes of a response that the filter is set to send."""

_FROM_ENDPOINT = "via_upstream"
# What Envoy says of its own answers: the parts that tell a connection that never was from an answer that never came.
_UNREACHED = ("connection_failure", "no_healthy_upstream", "connection_timeout", "overflow", "cluster_not_found")


class Pool(msgspec.Struct, frozen=True):
    """The endpoints of a version that have an IP address, by id and by `ip:port`; others are in no pool."""

    version: str
    by_id: Mapping[str, str]
    by_address: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(cls, snapshot: Snapshot) -> Pool:
        """The pool of a snapshot."""
        by_id: dict[str, str] = {}
        by_address: dict[str, tuple[str, ...]] = {}
        for endpoint in snapshot.content.endpoints:
            address = address_of(endpoint.address)
            if address is not None and address.is_ip:
                place = address.host_and_port
                by_id[endpoint.endpoint_id] = place
                by_address[place] = (*by_address.get(place, ()), endpoint.endpoint_id)
        return cls(snapshot.version, by_id, by_address)

    def within(self, hints: Iterable[str] | None) -> frozenset[str]:
        """The endpoints at the places of some hints, or all of the pool where there are none."""
        if hints is None:
            return frozenset(self.by_id)
        return frozenset(one for place in hints for one in self.by_address.get(place.strip(), ()))


def subset_of(metadata: Mapping[str, Any]) -> frozenset[str] | None:
    """The places that a hint narrows to, a list or `ip:port,ip:port`; None where there is no hint."""
    hint = metadata.get(SUBSET)
    if hint is None:
        return None
    places = hint if isinstance(hint, list) else str(hint).split(",")
    return frozenset(str(place).strip() for place in places if str(place).strip())


class Exchange(msgspec.Struct, frozen=True):
    """A decision under way on a stream: its list as (endpoint_id, place), since when (ms)."""

    trace_id: str
    operation_id: str
    listed: tuple[tuple[str, str], ...]
    at: int


def outcome_report(
    exchange: Exchange, status: int, headers: Mapping[str, str], told: Mapping[str, Any], now: int
) -> OutcomeReport:
    """The report of a request whose response has begun at the instant `now` (ms). Raises InvalidValue.

    Attempts before the one that served failed in ways that Envoy does not tell here, only that another was made.
    """
    count = max(1, int(told.get(ATTEMPTS) or 1))
    last = _served(exchange, str(told.get(SERVED) or told.get(ADDRESS) or ""), count)
    first = max(0, last - count + 1)
    attempts: list[Mapping[str, Any]] = [
        {"attempt_id": str(number), "endpoint_id": exchange.listed[place][0], **NOT_REACHED}
        for number, place in enumerate(range(first, last), start=1)
    ]
    final: dict[str, Any] = {"attempt_id": str(len(attempts) + 1), "endpoint_id": exchange.listed[last][0]}
    came_to = _came_to(status, headers, str(told.get(DETAILS) or _FROM_ENDPOINT), now)
    if not attempts and "status_code" in came_to:
        final |= {"started_at": exchange.at, **_times(now - exchange.at, status, headers)}
    attempts.append(final | came_to)
    failure = came_to.get("failure_class", "")
    outcome = "accepted" if not failure else "ambiguous" if came_to == LOST else "failed"
    return OutcomeReport.read(_raw(exchange, outcome), attempts)


def cancelled_report(exchange: Exchange) -> OutcomeReport:
    """The report of a request that ended before there was a response; which attempts were made is not told."""
    return OutcomeReport.read(_raw(exchange, "cancelled"), [])


def _raw(exchange: Exchange, outcome: str) -> dict[str, Any]:
    return {"trace_id": exchange.trace_id, "operation_id": exchange.operation_id, "outcome": outcome}


def _served(exchange: Exchange, place: str, count: int) -> int:
    """The position of the endpoint that was called last: the one at the place told, else by the number of attempts."""
    for position, (_, listed) in enumerate(exchange.listed):
        if listed == place:
            return position
    return min(count, len(exchange.listed)) - 1


def _came_to(status: int, headers: Mapping[str, str], details: str, now: int) -> dict[str, Any]:
    if details == _FROM_ENDPOINT:
        return answered(status, headers, now)
    return NOT_REACHED if any(part in details for part in _UNREACHED) else LOST


def _times(took: int, status: int, headers: Mapping[str, str]) -> dict[str, int]:
    """What the time until the headers is: until the first token of a stream, else of the whole answer."""
    if status >= 400 or not headers.get("content-type", "").startswith("text/event-stream"):
        return {"latency_ms": max(0, took)}
    return {"time_to_first_token_ms": max(0, took)}
