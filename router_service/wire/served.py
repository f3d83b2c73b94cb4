"""Endpoints as they are served: what the catalogue says of one, and what is known of its health."""

from __future__ import annotations

import msgspec

from router_service.asks import InvalidRequest
from router_service.catalog.snapshot import Snapshot
from router_service.domain import words
from router_service.domain.fields import Field, Table, read_fields, table
from router_service.domain.readers import Text, Word
from router_service.health.board import Board
from router_service.health.state import blocked_until, observed, phase
from router_service.v1 import catalog_service_pb2 as pb
from router_service.wire.read import fields_of, unknown_fields
from router_service.wire.write import write_endpoint, write_timestamp

STATUSES = tuple(status for status in words.STATUSES if status != words.UNKNOWN)
_STATUS_FIELDS: Table = table(
    Field("endpoint_id", Text(), "the endpoint", required=True),
    Field("status", Word(STATUSES), "the status; empty gives it back to the catalogue"),
    Field("reason", Text(), "why"),
)


class AskedStatus(msgspec.Struct, frozen=True):
    """Which endpoint gets which status by hand, and why; an empty status gives it back to the catalogue."""

    endpoint_id: str
    status: str = ""
    reason: str = ""


def read_status(message: pb.SetEndpointStatusRequest) -> AskedStatus:
    """What is asked. Raises InvalidRequest with every field that makes no sense."""
    values, problems = read_fields(_STATUS_FIELDS, fields_of(message))
    problems = [*unknown_fields(message, ""), *problems]
    if problems:
        raise InvalidRequest(problems)
    return AskedStatus(**values)


def write_served(snapshot: Snapshot, position: int, board: Board, now: int) -> pb.ServedEndpoint:
    """The endpoint at a position of a snapshot, at the instant `now` (ms)."""
    recorded, endpoint = snapshot.recorded.endpoints[position], snapshot.index.endpoints[position]
    health = board.health(recorded.endpoint_id)
    latency_ms, error_rate = observed(health, now, board.thresholds)
    ends = (blocked_until(health, now, board.thresholds), endpoint.suppressed_until)
    return pb.ServedEndpoint(
        endpoint=write_endpoint(recorded),
        status=endpoint.status,
        circuit=phase(health, now),
        suppressed_until=write_timestamp(max((end for end in ends if end is not None and end > now), default=None)),
        observed_latency_ms=latency_ms,
        observed_error_rate=error_rate,
        reported_at=write_timestamp(health.reported_at),
        by_hand=None
        if health.by_hand is None
        else pb.StatusByHand(
            status=health.by_hand.status,
            reason=health.by_hand.reason,
            since=write_timestamp(health.by_hand.since),
        ),
    )
