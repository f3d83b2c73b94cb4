"""Messages of external processing: what Envoy tells of a request step by step, and what it is answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf.struct_pb2 import Struct

from router_service.domain.decision import Decision
from router_service.envoy.v1 import processing_pb2 as pb
from router_service.envoy.v1.http_pb2 import HttpStatus
from router_service.wire.envoy.answers import denial_headers, header, raw, request_headers
from router_service.wire.envoy.ask import Said
from router_service.wire.envoy.errors import MISCONFIGURED, Denial
from router_service.wire.envoy.keys import BODY_NAMESPACE, REASON, TRACE_ID
from router_service.wire.envoy.messages import joined, plain_metadata, plain_struct
from router_service.wire.envoy.pool import DESTINATION, LB, SUBSET_HINT, subset_of

_STATUS = ":status"
_BODIES = ("request_body", "response_body")
_MODES = ("request_body_mode", "response_body_mode")
_NONE = pb.BODY_SEND_MODE_UNSPECIFIED
NO_ENDPOINT = Denial(
    503,
    "no_endpoint_available",
    "None of the endpoints that the proxy offers for this request is one of the catalogue's.",
    transient=True,
)


def said_in_headers(message: pb.ProcessingRequest) -> Said:
    """What the headers of a request say. Raises InvalidRequest for a body that makes no sense."""
    left = plain_metadata(message.metadata_context, BODY_NAMESPACE)
    return Said.of(joined(message.request_headers.headers), left)


def hints_in(message: pb.ProcessingRequest) -> frozenset[str] | None:
    """The places that the request is narrowed to; None where it is not."""
    return subset_of(plain_metadata(message.metadata_context, SUBSET_HINT))


def mode_problem(message: pb.ProcessingRequest) -> Denial | None:
    """Why a request cannot be processed as the filter is set: bodies have no part in a decision, and stay in Envoy."""
    problems = [
        f"processing_mode.{name} is {_mode_name(mode)}; set it to NONE"
        for name in _MODES
        if (mode := getattr(message.protocol_config, name)) != _NONE
    ]
    if message.observability_mode:
        problems.append("observability_mode is true; set it to false, so that requests wait for their decision")
    kind = message.WhichOneof("request")
    if kind in _BODIES and not problems:
        problems.append(f"it sends the {kind}; set processing_mode.{kind}_mode to NONE")
    if not problems:
        return None
    told = f"The proxy's external processing is misconfigured: {'; '.join(problems)}."
    return Denial(500, MISCONFIGURED, told)


def _mode_name(mode: int) -> str:
    known = pb.BodySendMode.DESCRIPTOR.values_by_number.get(mode)
    return str(mode) if known is None else known.name.removeprefix("BODY_SEND_MODE_")


def status_and_headers(message: pb.ProcessingRequest) -> tuple[int, dict[str, str]]:
    """The status of a response, 0 where it has none that makes sense, and its headers."""
    headers = dict(joined(message.response_headers.headers))
    status = headers.get(_STATUS, "")
    return int(status) if status.isascii() and status.isdecimal() else 0, headers


def told_of_response(message: pb.ProcessingRequest) -> Mapping[str, Any]:
    """What Envoy tells of a response: the attributes that the filter is set to send, and who served it."""
    told = plain_metadata(message.metadata_context, LB)
    for struct in message.attributes.values():
        told |= plain_struct(struct)
    return told


def go_on(decision: Decision, places: Sequence[str], trace_id: str) -> bytes:
    """Lets a request go on, to the first of its places that answers."""
    headers, removed = request_headers(decision)
    listed = ",".join(places)
    metadata = Struct()
    metadata.update({LB: {DESTINATION: listed}})
    headers += [header(DESTINATION, listed), header(TRACE_ID, trace_id)]
    mutation = pb.HeaderMutation(set_headers=raw(headers), remove_headers=removed)
    response = pb.CommonResponse(header_mutation=mutation, clear_route_cache=True)
    return pb.ProcessingResponse(
        request_headers=pb.HeadersResponse(response=response), dynamic_metadata=metadata
    ).SerializeToString()


def answered(decision: Decision, trace_id: str) -> bytes:
    """Lets a response go on to the client, with what it was decided by."""
    mutation = pb.HeaderMutation(set_headers=raw([header(TRACE_ID, trace_id), header(REASON, decision.sentence)]))
    response = pb.CommonResponse(header_mutation=mutation)
    return pb.ProcessingResponse(response_headers=pb.HeadersResponse(response=response)).SerializeToString()


def ended(denial: Denial, trace_id: str, retry_after_s: int | None) -> bytes:
    """Ends a request."""
    headers = pb.HeaderMutation(set_headers=raw(denial_headers(denial, trace_id, retry_after_s)))
    return pb.ProcessingResponse(
        immediate_response=pb.ImmediateResponse(
            status=HttpStatus(code=denial.status), headers=headers, body=denial.body, details=denial.code
        )
    ).SerializeToString()


UNCHANGED: Mapping[str, bytes] = {
    "response_headers": pb.ProcessingResponse(response_headers=pb.HeadersResponse()).SerializeToString(),
    "request_trailers": pb.ProcessingResponse(request_trailers=pb.TrailersResponse()).SerializeToString(),
    "response_trailers": pb.ProcessingResponse(response_trailers=pb.TrailersResponse()).SerializeToString(),
}
"""The answers that leave a step as it is, by its name."""
