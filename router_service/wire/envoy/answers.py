"""Answers to Envoy as bytes: a decision is the order of the clusters to try, a refusal the end of the request.

What is the same for every same answer is made once and kept beside it; only the trace id is new each time. Messages
on the wire merge, so that it is a part of its own behind the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from google.protobuf.struct_pb2 import Struct

from router_service.domain.decision import Decision
from router_service.envoy.v1 import authorization_pb2 as pb
from router_service.envoy.v1.http_pb2 import APPEND_ACTION_OVERWRITE, HeaderValue, HeaderValueOption, HttpStatus
from router_service.wire.envoy.errors import Denial
from router_service.wire.envoy.keys import REASON, TRACE_ID

MAX_RETRIES = "x-envoy-max-retries"
TRY_TIMEOUT = "x-envoy-upstream-rq-per-try-timeout-ms"
PRIORITY_GROUPS, TRACE = "priority_groups", "trace_id"
"""Where the decision stands in the metadata of `envoy.filters.http.ext_authz`."""
_FORM = "envoy"
_PERMISSION_DENIED = 7
_PLAIN = "".join(map(chr, range(0x20, 0x7F))).replace("%", "")
_BLANK_ID = "0" * 32


def header(name: str, value: str) -> HeaderValueOption:
    """A header that takes the place of those that are there; what a header cannot hold is written as %XX."""
    if not (value.isascii() and value.isprintable()):
        value = quote(value, safe=_PLAIN)
    # Both forms are filled: older versions of Envoy look at the one, newer ones at the other where it is there.
    return HeaderValueOption(header=HeaderValue(key=name, value=value), append_action=APPEND_ACTION_OVERWRITE)


def raw(headers: Iterable[HeaderValueOption]) -> list[HeaderValueOption]:
    """The same headers as external processing takes them: their values as bytes."""
    return [
        HeaderValueOption(
            header=HeaderValue(key=one.header.key, raw_value=one.header.value.encode()), append_action=one.append_action
        )
        for one in headers
    ]


def check_response(decision: Decision, trace_id: str) -> bytes:
    """The bytes of a CheckResponse that lets a request go on along the list of a decision."""
    form = decision.forms.get(_FORM)
    if form is None:
        form = decision.forms[_FORM] = _ok_form(decision)
    return form + _TRACED.replace(_BLANK, trace_id.encode())


def denied_response(denial: Denial, trace_id: str, retry_after_s: int | None) -> bytes:
    """The bytes of a CheckResponse that ends a request."""
    return pb.CheckResponse(
        status=pb.RpcStatus(code=_PERMISSION_DENIED),
        denied_response=pb.DeniedHttpResponse(
            status=HttpStatus(code=denial.status),
            headers=denial_headers(denial, trace_id, retry_after_s),
            body=denial.body.decode(),
        ),
    ).SerializeToString()


def denial_headers(denial: Denial, trace_id: str, retry_after_s: int | None) -> list[HeaderValueOption]:
    """The headers of an answer that ends a request; `trace_id` is empty where nothing was decided."""
    headers = [header("content-type", "application/json"), header(REASON, denial.code)]
    if trace_id:
        headers.append(header(TRACE_ID, trace_id))
    if retry_after_s is not None:
        headers.append(header("retry-after", str(retry_after_s)))
    if not denial.transient:
        # OpenAI's SDKs try again on 409 and 5xx unless they are told not to.
        headers.append(header("x-should-retry", "false"))
    return headers


def request_headers(decision: Decision) -> tuple[list[HeaderValueOption], list[str]]:
    """The headers of a request that goes on, to set and to remove: what bounds Envoy's attempts, and the reason."""
    headers = [header(MAX_RETRIES, str(len(decision.candidates) - 1)), header(REASON, decision.sentence)]
    allowance = decision.candidates[0].allowance_ms
    if allowance is None:
        return headers, [TRY_TIMEOUT]  # a client's own
    return [*headers, header(TRY_TIMEOUT, str(allowance))], []


def _ok_form(decision: Decision) -> bytes:
    headers, removed = request_headers(decision)
    metadata = Struct()
    metadata.update({PRIORITY_GROUPS: [_group(one.endpoint_id) for one in decision.candidates]})
    return pb.CheckResponse(
        status=pb.RpcStatus(code=0),
        ok_response=pb.OkHttpResponse(
            headers=headers,
            headers_to_remove=removed,
            response_headers_to_add=[header(REASON, decision.sentence)],
        ),
        dynamic_metadata=metadata,
    ).SerializeToString()


def _group(endpoint_id: str) -> dict[str, Any]:
    return {"name": endpoint_id, "clusters": [{"cluster_name": endpoint_id, "weight": 1}]}


def _traced(trace_id: str) -> bytes:
    metadata = Struct()
    metadata.update({TRACE: trace_id})
    traced = [header(TRACE_ID, trace_id)]
    return pb.CheckResponse(
        ok_response=pb.OkHttpResponse(headers=traced, response_headers_to_add=traced), dynamic_metadata=metadata
    ).SerializeToString()


_BLANK = _BLANK_ID.encode()
_TRACED = _traced(_BLANK_ID)


def retry_after_s(retry_at: int | None, now: int) -> int | None:
    """The whole seconds of Retry-After from `now` to `retry_at` (ms), at least one; None where that is None."""
    return None if retry_at is None else max(1, -((now - retry_at) // 1000))
