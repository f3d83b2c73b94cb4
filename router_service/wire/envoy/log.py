"""Entries of Envoy's access log become reports: one for each attempt, and one for the request that they were made for.

An attempt's entry knows the cluster, the status and the times; only the request's knows the decision. Both have the
request's id, by which they are joined: whichever comes first waits for the other (docs/envoy.md, Reports).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from router_service.domain.report import ATTEMPTS_MAX, OutcomeReport
from router_service.envoy.v1 import access_log_pb2 as pb
from router_service.wire.envoy.answers import PRIORITY_GROUPS, TRACE
from router_service.wire.envoy.seen import GIVEN_UP, LOST, NOT_REACHED, answered

NAMESPACE = "envoy.filters.http.ext_authz"
PENDING_MAX = 20_000
"""Requests that wait for entries at once; the oldest of those beyond are reported by what is known of them."""
PATIENCE_MS, SWEEP_MS = 10_000, 1_000
"""How long a request that has ended waits for the entries of its attempts."""

# What says that an attempt ended without a whole answer, once a byte of the request was sent.
_LOST_FLAGS = (
    "upstream_request_timeout",
    "local_reset",
    "upstream_remote_reset",
    "upstream_connection_termination",
    "stream_idle_timeout",
    "duration_timeout",
    "upstream_protocol_error",
)
_CLIENT_GONE = ("downstream_connection_termination", "downstream_remote_reset")


class Ended(msgspec.Struct, frozen=True):
    """A request that has ended: its decision, the list of that, how many attempts were sent, and how it went."""

    trace_id: str
    request_id: str
    listed: tuple[str, ...]
    attempts: int
    unreachable: str
    client_gone: bool
    timed_out: bool
    at: int


class Pending(msgspec.Struct):
    """What is known of a request so far."""

    ended: Ended | None = None
    attempts: list[dict[str, Any]] = []


Whole = tuple[Ended, list[dict[str, Any]]]
"""A request that has ended, and the raw fields of its attempts."""


class Joiner:
    """Joins the entries of one stream. The memory is bounded."""

    def __init__(self) -> None:
        self._pending: dict[str, Pending] = {}
        self._swept_at = 0

    def take(self, message: pb.StreamAccessLogsMessage, now: int) -> Iterator[Whole]:
        """The requests that some entries complete, at the instant `now` (ms)."""
        for entry in message.http_logs.log_entry:
            request_id = entry.request.request_id
            common = entry.common_properties
            if not request_id or common.intermediate_log_entry:
                continue
            if common.access_log_type == pb.LOG_TYPE_UPSTREAM_END:
                self._of(request_id).attempts.append(_attempt(entry, now))
            elif common.access_log_type == pb.LOG_TYPE_DOWNSTREAM_END:
                ended = _ended(entry, now)
                if ended is None:
                    self._pending.pop(request_id, None)
                    continue
                self._of(request_id).ended = ended
            yield from self._complete(request_id)
        yield from self._overdue(now)

    @property
    def waiting(self) -> int:
        """How many requests wait for entries."""
        return len(self._pending)

    def _of(self, request_id: str) -> Pending:
        return self._pending.setdefault(request_id, Pending(attempts=[]))

    def _complete(self, request_id: str) -> Iterator[Whole]:
        pending = self._pending.get(request_id)
        if pending is not None and pending.ended is not None and len(pending.attempts) >= pending.ended.attempts:
            del self._pending[request_id]
            yield pending.ended, pending.attempts

    def _overdue(self, now: int) -> Iterator[Whole]:
        """Requests that waited long enough, and the oldest where too many wait; once a second."""
        if 0 <= now - self._swept_at < SWEEP_MS and len(self._pending) <= PENDING_MAX:
            return
        self._swept_at = now
        late = [
            request_id
            for request_id, pending in self._pending.items()
            if pending.ended is not None and not 0 <= now - pending.ended.at < PATIENCE_MS
        ]
        for request_id in [*late, *islice(self._pending, max(0, len(self._pending) - PENDING_MAX))]:
            pending = self._pending.pop(request_id, None)
            if pending is not None and pending.ended is not None:
                yield pending.ended, pending.attempts


def _attempt(entry: pb.HttpLogEntry, now: int) -> dict[str, Any]:
    """The raw fields of an attempt, but for its id."""
    common, response = entry.common_properties, entry.response
    attempt: dict[str, Any] = {"endpoint_id": common.upstream_cluster, "latency_ms": _ms(common.duration)}
    if common.HasField("start_time"):
        attempt["started_at"] = common.start_time.ToMilliseconds()
    status = response.response_code.value
    if common.response_flags.upstream_overflow:
        return attempt | GIVEN_UP  # Envoy's own limit held it back
    if not common.HasField("time_to_first_upstream_tx_byte"):
        return attempt | NOT_REACHED
    if any(getattr(common.response_flags, flag) for flag in _LOST_FLAGS):
        return attempt | LOST
    if not status or (status < 400 and not common.HasField("time_to_last_upstream_rx_byte")):
        # Nothing is said to be wrong and the answer is not whole: its client gave it up.
        return attempt | GIVEN_UP
    if status < 400 and common.HasField("time_to_first_upstream_rx_byte"):
        attempt["time_to_first_token_ms"] = _ms(common.time_to_first_upstream_rx_byte)
    return attempt | answered(status, dict(response.response_headers), now)


def _ended(entry: pb.HttpLogEntry, now: int) -> Ended | None:
    """What the entry of a request tells; None where no decision was made for it."""
    common, flags = entry.common_properties, entry.common_properties.response_flags
    left = common.metadata.filter_metadata
    if NAMESPACE not in left:
        return None
    fields = left[NAMESPACE].fields
    trace_id = fields[TRACE].string_value if TRACE in fields else ""
    if not trace_id:
        return None
    groups = fields[PRIORITY_GROUPS].list_value.values if PRIORITY_GROUPS in fields else ()
    listed = tuple(group.struct_value.fields["name"].string_value for group in groups)
    count = common.upstream_request_attempt_count
    # The last attempt was never sent where its cluster had no address.
    unsent = count > 0 and flags.no_healthy_upstream
    return Ended(
        trace_id=trace_id,
        request_id=entry.request.request_id,
        listed=listed,
        attempts=count - 1 if unsent else count,
        unreachable=listed[count - 1] if unsent and count <= len(listed) else "",
        client_gone=any(getattr(flags, flag) for flag in _CLIENT_GONE),
        timed_out=flags.duration_timeout,
        at=now,
    )


def report_of(ended: Ended, attempts: list[dict[str, Any]]) -> OutcomeReport:
    """The report of a request, its attempts in the order of their beginning. Raises InvalidValue."""
    made = sorted(attempts, key=lambda one: one.get("started_at", 0))[:ATTEMPTS_MAX]
    if ended.unreachable:
        made.append({"endpoint_id": ended.unreachable, **NOT_REACHED})
    numbered: list[Mapping[str, Any]] = [{"attempt_id": str(number), **one} for number, one in enumerate(made, start=1)]
    raw = {"trace_id": ended.trace_id, "operation_id": ended.request_id, "outcome": outcome_of(ended, numbered)}
    return OutcomeReport.read(raw, numbered)


def outcome_of(ended: Ended, attempts: Sequence[Mapping[str, Any]]) -> str:
    """How a request ended, by its last attempt where the client was there until the end."""
    last = attempts[-1] if attempts else {"failure_class": NOT_REACHED["failure_class"]}
    failure = last.get("failure_class", "")
    if ended.client_gone:
        return "cancelled"
    if ended.timed_out:
        return "deadline_exhausted"
    if not failure:
        return "accepted"
    return "ambiguous" if failure == LOST["failure_class"] else "failed"


def _ms(duration: Any) -> int:
    """A duration of protobuf in whole milliseconds."""
    return int(duration.seconds * 1000 + duration.nanos // 1_000_000)
