"""Entries of Envoy's access log become reports: one for each attempt, and one for the request that they were made for.

An attempt's entry knows the cluster, the status and the times; only the request's knows the decision. Both have the
request's id, by which they are joined: whichever comes first waits for the other (docs/envoy.md, Reports).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from router_service.domain.problems import LIST_LENGTH, TEXT_LENGTH
from router_service.domain.readers import TEXT_MAX
from router_service.domain.report import ATTEMPTS_MAX, OutcomeReport
from router_service.envoy.v1 import access_log_pb2 as pb
from router_service.wire.envoy.answers import PRIORITY_GROUPS, TRACE
from router_service.wire.envoy.seen import GIVEN_UP, LOST, NOT_REACHED, answered

NAMESPACE = "envoy.filters.http.ext_authz"
PENDING_MAX = 20_000
"""Requests, and attempts of these, that wait at once; the oldest beyond are reported by what is known of them."""
PATIENCE_MS, SWEEP_MS = 10_000, 1_000
"""How long a request that has ended waits for the entries of its attempts."""
FORGOTTEN_MS = 3_600_000
"""How long attempts wait for the end of their request, which may be told to another process."""

# What the entry of a request tells of the whole of it, and of no attempt.
_OF_THE_WHOLE = ("latency_ms", "started_at", "time_to_first_token_ms")
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
    """A request that has ended: its decision, how many attempts were sent, and how it went.

    `last` is its last attempt as far as its own entry tells, for where that attempt's entry is lost.
    """

    trace_id: str
    request_id: str
    last: dict[str, Any]
    attempts: int
    unreachable: str
    client_gone: bool
    timed_out: bool
    at: int


class Pending(msgspec.Struct):
    """What is known of a request so far, of which the first was told at `since` (ms)."""

    since: int
    attempts: list[dict[str, Any]]
    ended: Ended | None = None

    def is_overdue(self, now: int) -> bool:
        """Whether it has waited long enough, also where the clock was set back."""
        if self.ended is None:
            return not 0 <= now - self.since < FORGOTTEN_MS
        return not 0 <= now - self.ended.at < PATIENCE_MS


Whole = tuple[Ended, list[dict[str, Any]]]
"""A request that has ended, and the raw fields of its attempts."""


class Joiner:
    """Joins the entries that one caller tells. The memory is bounded."""

    def __init__(self, limited: Callable[[str], None] = lambda _: None) -> None:
        """`limited` is told of each entry that is let go of, by the limit that it is beyond."""
        self._pending: dict[str, Pending] = {}
        self._weight = self._swept_at = 0
        self._limited = limited

    def take(self, message: pb.StreamAccessLogsMessage, now: int) -> Iterator[Whole]:
        """The requests that some entries complete, at the instant `now` (ms)."""
        for entry in message.http_logs.log_entry:
            request_id = entry.request.request_id
            common = entry.common_properties
            if not request_id or common.intermediate_log_entry:
                continue
            if len(request_id) > TEXT_MAX:
                self._limited(TEXT_LENGTH)
                continue
            if common.access_log_type == pb.LOG_TYPE_UPSTREAM_END:
                self._add(request_id, _attempt(entry, now), now)
            elif common.access_log_type == pb.LOG_TYPE_DOWNSTREAM_END:
                ended = _ended(entry, now)
                if ended is None:
                    self._pop(request_id)
                    continue
                self._of(request_id, now).ended = ended
            yield from self._complete(request_id)
        yield from self.overdue(now)

    @property
    def waiting(self) -> int:
        """How many requests wait for entries."""
        return len(self._pending)

    def overdue(self, now: int) -> Iterator[Whole]:
        """Requests that waited long enough, looked for once a second, and the oldest where too much waits."""
        if not 0 <= now - self._swept_at < SWEEP_MS:
            self._swept_at = now
            yield from self._let_go([one for one, pending in self._pending.items() if pending.is_overdue(now)])
        while self._weight > PENDING_MAX:
            self._limited(LIST_LENGTH)
            yield from self._let_go(list(islice(self._pending, 1)))

    def rest(self) -> Iterator[Whole]:
        """All requests that have ended, by what is known of them: no more is to come."""
        yield from self._let_go([one for one, pending in self._pending.items() if pending.ended is not None])

    def _of(self, request_id: str, now: int) -> Pending:
        pending = self._pending.get(request_id)
        if pending is None:
            pending = self._pending[request_id] = Pending(now, [])
            self._weight += 1
        return pending

    def _add(self, request_id: str, attempt: dict[str, Any], now: int) -> None:
        attempts = self._of(request_id, now).attempts
        if len(attempts) >= ATTEMPTS_MAX:
            self._limited(LIST_LENGTH)
            return
        attempts.append(attempt)
        self._weight += 1

    def _pop(self, request_id: str) -> Pending | None:
        pending = self._pending.pop(request_id, None)
        if pending is not None:
            self._weight -= 1 + len(pending.attempts)
        return pending

    def _complete(self, request_id: str) -> Iterator[Whole]:
        pending = self._pending.get(request_id)
        if pending is not None and pending.ended is not None and len(pending.attempts) >= pending.ended.attempts:
            yield from self._let_go([request_id])

    def _let_go(self, request_ids: Sequence[str]) -> Iterator[Whole]:
        for request_id in request_ids:
            pending = self._pop(request_id)
            if pending is not None and pending.ended is not None:
                yield pending.ended, pending.attempts


def _attempt(entry: pb.HttpLogEntry, now: int) -> dict[str, Any]:
    """The raw fields of an attempt, but for its id."""
    common, response = entry.common_properties, entry.response
    # One character more than there may be, so that its report is refused for it.
    cluster = common.upstream_cluster[: TEXT_MAX + 1]
    attempt: dict[str, Any] = {"endpoint_id": cluster, "latency_ms": _ms(common.duration)}
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
    count = common.upstream_request_attempt_count
    # The last attempt was never sent where its cluster had no address.
    unsent = count > 0 and flags.no_healthy_upstream
    return Ended(
        trace_id=trace_id[: TEXT_MAX + 1],
        request_id=entry.request.request_id,
        last={name: told for name, told in _attempt(entry, now).items() if name not in _OF_THE_WHOLE},
        # More than a report may have does not come.
        attempts=min(count - 1 if unsent else count, ATTEMPTS_MAX),
        unreachable=_name_of(groups[count - 1]) if unsent and count <= len(groups) else "",
        client_gone=any(getattr(flags, flag) for flag in _CLIENT_GONE),
        timed_out=flags.duration_timeout,
        at=now,
    )


def _name_of(group: Any) -> str:
    name: str = group.struct_value.fields["name"].string_value
    return name[: TEXT_MAX + 1]


def report_of(ended: Ended, attempts: list[dict[str, Any]]) -> OutcomeReport:
    """The report of a request, its attempts in the order of their beginning. Raises InvalidValue.

    Where entries of attempts are lost, the last one is told as the request's own entry has it, without its times.
    """
    made = sorted(attempts, key=lambda one: one.get("started_at", 0))
    lost = len(made) < ended.attempts and ended.last["endpoint_id"]
    if lost and not any(ended.last.items() <= one.items() for one in made):
        made = [*made, ended.last]
    if ended.unreachable:
        made.append({"endpoint_id": ended.unreachable, **NOT_REACHED})
    numbered: list[Mapping[str, Any]] = [{"attempt_id": str(number), **one} for number, one in enumerate(made, start=1)]
    raw = {"trace_id": ended.trace_id, "operation_id": ended.request_id, "outcome": outcome_of(ended, numbered)}
    return OutcomeReport.read(raw, numbered)


def outcome_of(ended: Ended, attempts: Sequence[Mapping[str, Any]]) -> str:
    """How a request ended, by its last attempt where the client was there until the end."""
    if not attempts and ended.attempts:
        return "ambiguous"  # some were sent, of which nothing is known
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
