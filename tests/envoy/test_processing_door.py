"""The door of external processing by itself: how its filter may be set, trailers, and a catalogue without a pool."""

from __future__ import annotations

import pytest

from router_service.envoy.v1 import processing_pb2 as proc
from tests.envoy.doors import PROCESS
from tests.server.conftest import ServerProcess


def process(server: ServerProcess, *messages: proc.ProcessingRequest) -> list[proc.ProcessingResponse]:
    call = server.channel().stream_stream(
        PROCESS, proc.ProcessingRequest.SerializeToString, proc.ProcessingResponse.FromString
    )
    return list(call(iter(messages), timeout=30))


@pytest.mark.parametrize(
    ("message", "told"),
    [
        (
            proc.ProcessingRequest(
                request_headers=proc.HttpHeaders(),
                protocol_config=proc.ProtocolConfiguration(
                    request_body_mode=proc.BODY_SEND_MODE_BUFFERED, response_body_mode=proc.BODY_SEND_MODE_STREAMED
                ),
            ),
            ("request_body_mode is BUFFERED; set it to NONE", "response_body_mode is STREAMED; set it to NONE"),
        ),
        (
            proc.ProcessingRequest(request_headers=proc.HttpHeaders(), observability_mode=True),
            ("observability_mode is true; set it to false",),
        ),
        (
            proc.ProcessingRequest(request_body=proc.HttpBody()),
            ("set processing_mode.request_body_mode to NONE",),
        ),
    ],
)
def test_a_filter_that_is_set_otherwise_is_told_so(
    server: ServerProcess, message: proc.ProcessingRequest, told: tuple[str, ...]
) -> None:
    (answer,) = process(server, message)
    body = answer.immediate_response.body.decode()
    assert answer.immediate_response.status.code == 500
    assert all(one in body for one in told), body


def test_trailers_go_on_as_they_are(server: ServerProcess) -> None:
    answers = process(
        server,
        proc.ProcessingRequest(request_trailers=proc.HttpTrailers()),
        proc.ProcessingRequest(response_headers=proc.HttpHeaders()),
        proc.ProcessingRequest(response_trailers=proc.HttpTrailers()),
    )
    assert [one.WhichOneof("response") for one in answers] == [
        "request_trailers",
        "response_headers",
        "response_trailers",
    ]


def test_a_catalogue_without_addresses_has_no_pool(server: ServerProcess) -> None:
    (answer,) = process(server, proc.ProcessingRequest(request_headers=proc.HttpHeaders()))
    assert answer.immediate_response.status.code == 503
