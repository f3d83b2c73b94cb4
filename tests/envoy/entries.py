"""Entries of an access log, as Envoy writes them."""

from __future__ import annotations

from google.protobuf.struct_pb2 import Struct

from router_service.envoy.v1 import access_log_pb2 as pb
from router_service.envoy.v1.http_pb2 import Metadata
from router_service.wire.envoy import log

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


def ended(request_id: str, attempts: int, trace_id: str = TRACE, last: str = "", status: int = 0) -> pb.HttpLogEntry:
    """A request's own entry, which tells the endpoint and the status of its last attempt too."""
    left = Struct()
    left.update({"trace_id": trace_id, "priority_groups": [{"name": "a"}, {"name": "b"}]})
    entry = pb.HttpLogEntry(
        common_properties=pb.LogCommon(
            access_log_type=pb.LOG_TYPE_DOWNSTREAM_END,
            upstream_cluster=last,
            upstream_request_attempt_count=attempts,
            metadata=Metadata(filter_metadata={log.NAMESPACE: left}),
        ),
        request=pb.LogRequest(request_id=request_id),
    )
    common = entry.common_properties
    common.duration.FromMilliseconds(500)
    common.time_to_first_upstream_tx_byte.FromMilliseconds(1)
    common.time_to_last_upstream_rx_byte.FromMilliseconds(3)
    entry.response.response_code.value = status
    return entry


def message_of(*entries: pb.HttpLogEntry) -> pb.StreamAccessLogsMessage:
    """A message with these entries."""
    return pb.StreamAccessLogsMessage(http_logs=pb.HttpLogEntries(log_entry=entries))
