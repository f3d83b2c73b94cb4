"""Entries of an access log are joined whatever their order, and what waits for too long or is too much is let go."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from google.protobuf.struct_pb2 import Struct

from router_service.envoy.v1 import access_log_pb2 as pb
from router_service.envoy.v1.http_pb2 import Metadata
from router_service.wire.envoy import log
from router_service.wire.envoy.log import Joiner, Whole, report_of

NOW = 1_800_000_000_000
TRACE = "0" * 32


def attempt(request_id: str, endpoint_id: str, status: int, at: int = 0) -> pb.HttpLogEntry:
    entry = pb.HttpLogEntry(
        common_properties=pb.LogCommon(upstream_cluster=endpoint_id, access_log_type=pb.LOG_TYPE_UPSTREAM_END),
        request=pb.LogRequest(request_id=request_id),
    )
    common = entry.common_properties
    common.start_time.FromMilliseconds(NOW + at)
    common.time_to_first_upstream_tx_byte.FromMilliseconds(1)
    common.time_to_first_upstream_rx_byte.FromMilliseconds(2)
    common.time_to_last_upstream_rx_byte.FromMilliseconds(3)
    entry.response.response_code.value = status
    return entry


def ended(request_id: str, attempts: int, trace_id: str = TRACE) -> pb.HttpLogEntry:
    left = Struct()
    left.update({"trace_id": trace_id, "priority_groups": [{"name": "a"}, {"name": "b"}]})
    return pb.HttpLogEntry(
        common_properties=pb.LogCommon(
            access_log_type=pb.LOG_TYPE_DOWNSTREAM_END,
            upstream_request_attempt_count=attempts,
            metadata=Metadata(filter_metadata={log.NAMESPACE: left}),
        ),
        request=pb.LogRequest(request_id=request_id),
    )


def take(joiner: Joiner, *entries: pb.HttpLogEntry, now: int = NOW) -> list[Whole]:
    return list(joiner.take(pb.StreamAccessLogsMessage(http_logs=pb.HttpLogEntries(log_entry=entries)), now))


def told(wholes: Sequence[Whole]) -> list[tuple[str, list[str]]]:
    """(operation_id, endpoints of the attempts in order) of each report."""
    reports = [report_of(*whole) for whole in wholes]
    return [(one.operation_id, [attempt.endpoint_id for attempt in one.attempts]) for one in reports]


def test_entries_are_joined_in_whatever_order_they_come() -> None:
    entries = (attempt("r", "a", 503), attempt("r", "b", 200, at=5), ended("r", 2))
    for some in permutations(entries):
        joiner = Joiner()
        assert told([whole for entry in some for whole in take(joiner, entry)]) == [("r", ["a", "b"])]
        assert not joiner.waiting


def test_requests_are_kept_apart() -> None:
    joiner = Joiner()
    assert not take(joiner, attempt("one", "a", 503), attempt("two", "a", 200))
    assert told(take(joiner, ended("two", 1), ended("one", 2))) == [("two", ["a"])]
    assert told(take(joiner, attempt("one", "b", 200, at=5))) == [("one", ["a", "b"])]


def test_a_request_without_a_decision_is_forgotten() -> None:
    joiner = Joiner()
    assert not take(joiner, attempt("r", "a", 200), ended("r", 1, trace_id=""))
    assert not joiner.waiting


def test_a_request_whose_attempts_do_not_come_is_reported_by_what_is_known() -> None:
    joiner = Joiner()
    assert not take(joiner, attempt("r", "a", 503), ended("r", 2))
    assert not take(joiner, now=NOW + log.PATIENCE_MS - 1)
    assert told(take(joiner, now=NOW + 2 * log.PATIENCE_MS)) == [("r", ["a"])]
    assert not joiner.waiting


def test_a_request_that_is_not_over_waits_for_as_long_as_it_takes() -> None:
    joiner = Joiner()
    assert not take(joiner, attempt("r", "a", 503))
    assert not take(joiner, now=NOW + 3_600_000)
    assert told(take(joiner, attempt("r", "b", 200, at=3_600_000), ended("r", 2), now=NOW + 3_600_000)) == [
        ("r", ["a", "b"])
    ]


def test_what_waits_is_bounded() -> None:
    joiner = Joiner()
    entries = [attempt(str(number), "a", 503) for number in range(log.PENDING_MAX + 10)]
    take(joiner, *entries)
    assert joiner.waiting <= log.PENDING_MAX


def test_entries_that_say_nothing_of_a_whole_request_are_passed_over() -> None:
    joiner = Joiner()
    early = ended("r", 1)
    early.common_properties.intermediate_log_entry = True
    nameless = ended("", 1)
    assert not take(joiner, early, nameless)
    assert not joiner.waiting
