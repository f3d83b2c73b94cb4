"""Reports made of Envoy's access log say what the providers saw and did."""

from __future__ import annotations

import socket

import pytest

from router_service.v1.trace_pb2 import Trace
from tests.envoy import providers as does
from tests.envoy.providers import Answer
from tests.envoy.proxy import Envoy
from tests.envoy.world import World, attempts

Told = tuple[str, str, int]


def told(trace: Trace) -> list[Told]:
    """(endpoint_id, failure_class, status_code) of each attempt; 0 is no status."""
    return [(one.endpoint_id, one.failure_class, one.status_code) for one in attempts(trace)]


BETA_ANSWERS = ("m@beta", "", 200)


@pytest.mark.parametrize(
    ("fault", "first", "rest", "outcome"),
    [
        (does.resets, ("m@alpha", "ambiguous", 0), [BETA_ANSWERS], "accepted"),
        (does.hangs, ("m@alpha", "ambiguous", 0), [BETA_ANSWERS], "accepted"),
        (does.answers(429), ("m@alpha", "transient", 429), [BETA_ANSWERS], "accepted"),
        (does.answers(401), ("m@alpha", "permanent", 401), [BETA_ANSWERS], "accepted"),
        (does.answers(404), ("m@alpha", "incompatible", 404), [BETA_ANSWERS], "accepted"),
        (does.answers(503), ("m@alpha", "transient", 503), [BETA_ANSWERS], "accepted"),
        (does.answers(400), ("m@alpha", "permanent", 400), [], "failed"),
        (does.answers(307, location="https://elsewhere.example/"), ("m@alpha", "permanent", 307), [], "failed"),
        (does.breaks_off, ("m@alpha", "ambiguous", 0), [], "ambiguous"),
        (does.streams, ("m@alpha", "", 200), [], "accepted"),
    ],
    ids=["reset", "hang", "429", "401", "404", "503", "400", "redirect", "broken off", "stream"],
)
def test_each_attempt_is_reported_as_it_went(
    world: World, envoy: Envoy, fault: Answer, first: Told, rest: list[Told], outcome: str
) -> None:
    world.providers["alpha"].answer = fault
    trace_id = _trace_id(envoy)
    trace = world.trace(trace_id)
    assert told(trace) == [first, *rest]
    assert [report.outcome for report in trace.reports] == [outcome]
    assert [f"m@{seen.provider}" for seen in world.providers.saw()] == [one.endpoint_id for one in attempts(trace)]


def _trace_id(envoy: Envoy) -> str:
    """The decision of a request, read off its headers alone: the body may break off."""
    with socket.create_connection(("127.0.0.1", envoy.port), 20) as connection:
        request = "POST /v1/chat/completions HTTP/1.1\r\nhost: edge\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"
        connection.sendall(request.encode())
        got = b""
        while part := connection.recv(65536):
            got += part
    lines = got.decode().split("\r\n")
    return next(line.partition(": ")[2] for line in lines if line.startswith("x-router-trace-id"))


def test_an_endpoint_that_was_never_reached_counts_as_an_attempt_that_nobody_saw(world: World, envoy: Envoy) -> None:
    world.providers.stop("alpha")
    trace = world.trace(envoy.post().headers["x-router-trace-id"])
    assert told(trace) == [("m@alpha", "transient", 0), BETA_ANSWERS]


def test_a_list_that_failed_to_its_end_is_a_failed_operation(world: World, envoy: Envoy) -> None:
    for name in ("alpha", "beta"):
        world.providers[name].answer = does.answers(503)
    trace = world.trace(envoy.post().headers["x-router-trace-id"])
    assert told(trace) == [("m@alpha", "transient", 503), ("m@beta", "transient", 503)]
    assert trace.reports[0].outcome == "failed"


def test_what_an_endpoint_asks_for_is_told(world: World, envoy: Envoy) -> None:
    world.providers["gamma"].answer = does.answers(429, retry_after="7")
    got = envoy.post({"model": "other"}, x_router_policy="world")
    (limited,) = attempts(world.trace(got.headers["x-router-trace-id"]))
    assert (limited.endpoint_id, limited.failure_class, limited.retry_after_ms) == ("other@gamma", "transient", 7000)


def test_times_and_ids_are_told(world: World, envoy: Envoy) -> None:
    world.providers["alpha"].answer = does.answers(503)
    trace = world.trace(envoy.post().headers["x-router-trace-id"])
    failed, answered = attempts(trace)
    assert (failed.attempt_id, answered.attempt_id) == ("1", "2")
    assert failed.started_at.ToMilliseconds() <= answered.started_at.ToMilliseconds()
    assert answered.HasField("latency_ms")
    assert answered.HasField("time_to_first_token_ms")
    request_id = world.providers["alpha"].seen[0].headers["x-request-id"]
    assert trace.operation_id == request_id == trace.reports[0].operation_id


def test_an_answer_that_its_endpoint_marks_final_is_told_as_that(world: World, envoy: Envoy) -> None:
    world.providers["alpha"].answer = does.answers(400, x_should_retry="false")
    trace = world.trace(envoy.post().headers["x-router-trace-id"])
    (attempt,) = attempts(trace)
    assert (attempt.failure_class, attempt.error_code) == ("permanent", "x_should_retry_false")


@pytest.mark.parametrize("answer", [does.hangs, does.never_ends], ids=["before the answer", "within it"])
def test_a_client_that_hangs_up_is_told_as_that_and_counts_against_nobody(
    world: World, envoy: Envoy, answer: Answer
) -> None:
    world.providers["alpha"].answer = answer
    with socket.create_connection(("127.0.0.1", envoy.port), 20) as connection:
        connection.sendall(b"POST /v1/x HTTP/1.1\r\nhost: edge\r\ncontent-length: 2\r\n\r\n{}")
        while not world.providers["alpha"].seen:
            pass
        if answer is does.never_ends:
            assert connection.recv(65536)
    request_id = world.providers["alpha"].seen[0].headers["x-request-id"]
    trace = world.trace_of(request_id)
    assert [report.outcome for report in trace.reports] == ["cancelled"]
    assert told(trace) == [("m@alpha", "", 499)]


def test_a_refusal_has_no_report(world: World, envoy: Envoy) -> None:
    refused = envoy.post({"model": "nn"}).headers["x-router-trace-id"]
    world.trace(envoy.post().headers["x-router-trace-id"])  # what was logged after it has come
    assert not world.trace(refused, reported=False).reports
