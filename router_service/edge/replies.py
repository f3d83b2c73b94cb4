"""What Envoy answers by itself, where neither an endpoint nor the service does: errors as OpenAI shapes them.

Without it a client would get text or nothing at all, and would not learn whose doing it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from router_service.edge.choices import Choices
from router_service.edge.clusters import Config, typed
from router_service.wire.envoy.errors import INVALID_REQUEST, type_of

_DETAILS = "response.code_details"
_OWN = "%RESPONSE_CODE_DETAILS%"  # Envoy's word for what happened


class _Reply(NamedTuple):
    """One error: when it is answered, as CEL has it; `status` is one of those that it stands for."""

    when: str
    status: int
    code: str
    message: str


def replies_of(choices: Choices, prefix: str) -> Config:
    """The bodies of Envoy's own answers. A denial of the service's is one too, and stays as it is."""
    return {"mappers": [_mapper(reply) for reply in _replies(choices, prefix)]}


def _replies(choices: Choices, prefix: str) -> Iterator[_Reply]:
    """The first whose condition holds is the answer."""
    base = prefix.rstrip("/")
    yield _Reply(
        f'{_DETAILS} == "route_not_found"',
        404,
        "path_not_found",
        f"path: it does not begin with {prefix}; let the client's base URL end in {base}",
    )
    yield _Reply(
        f'{_DETAILS} == "request_payload_too_large"',
        413,
        "body_too_large",
        f"body: it has more than {choices.body_bytes} bytes; send less, or have the operator raise --body-limit",
    )
    yield _Reply(
        f'{_DETAILS} == "ext_authz_error"',
        503,
        "router_unavailable",
        "The router gives no decision, so the request goes nowhere; try again, or see that it runs with --envoy-authz",
    )
    yield _Reply(
        f'{_DETAILS} != "ext_authz_denied" && response.code >= 500',
        503,
        "endpoints_unavailable",
        f"The endpoint that was tried last gave no answer, by {_OWN}; try again, or look the trace up by its id",
    )
    yield _Reply(
        f'{_DETAILS} != "ext_authz_denied"',
        400,
        INVALID_REQUEST,
        f"request: the proxy cannot take it by {_OWN}; send an API request by HTTP/1.1 or HTTP/2",
    )


def _mapper(reply: _Reply) -> Config:
    condition = typed("extensions.access_loggers.filters.cel.v3.ExpressionFilter", expression=reply.when)
    error = {"message": reply.message, "type": type_of(reply.status), "param": None, "code": reply.code}
    return {
        "filter": {
            "extension_filter": {"name": "envoy.access_loggers.extension_filters.cel", "typed_config": condition}
        },
        "body_format_override": {"json_format": {"error": error}},
    }
