"""What may happen to a stream: another endpoint before its first word and none after it; clients that leave."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from typing import Any

import openai
import pytest

from clients.openai_proxy.tests.backend import Backend
from clients.openai_proxy.tests.behaviours import FLOOD_BYTES, TEXT, WORDS
from clients.openai_proxy.tests.conftest import Reports
from clients.openai_proxy.tests.world import PATIENCE_S, ProxyProcess, until

SAID: Any = [{"role": "user", "content": "Good morning?"}]
TIMED_OUT = pytest.raises(openai.APITimeoutError)
HEAD = "POST /v1/chat/completions HTTP/1.1\r\nHost: proxy\r\nContent-Type: application/json\r\n"


def streamed(sdk: openai.OpenAI, model: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """The words of a stream, and the block that came with its last chunk."""
    chunks = list(sdk.chat.completions.create(model=model, messages=SAID, stream=True, **more))
    text = "".join(one.choices[0].delta.content or "" for one in chunks if one.choices)
    assert chunks[-1].model_extra is not None
    return text, chunks[-1].model_extra["router"]


def broken(sdk: openai.OpenAI, model: str, backend: Backend, **more: Any) -> tuple[str, openai.APIError, Any]:
    """The words that came before a stream broke, the error in their place, and the headers."""
    words, headers = [], None
    create = sdk.chat.completions.with_streaming_response.create
    try:
        with create(model=model, messages=SAID, stream=True, **more) as raw:
            headers = raw.headers
            for one in raw.parse():
                words.append(one.choices[0].delta.content or "")
                if "".join(words) == "".join(WORDS[:2]):
                    backend.go_on.set()
    except openai.APIError as error:
        return "".join(words), error, headers
    raise AssertionError("".join(words))


def by_hand(proxy: ProxyProcess, model: str) -> socket.socket:
    """A connection on which a stream was asked for."""
    host, _, port = proxy.root.removeprefix("http://").partition(":")
    body = json.dumps({"model": model, "messages": SAID, "stream": True})
    connection = socket.create_connection((host, int(port)), PATIENCE_S)
    connection.sendall(f"{HEAD}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    return connection


@pytest.mark.parametrize("model", ["ill-then-good", "refused-then-good", "no-json-then-good", "hidden-error-then-good"])
def test_before_the_first_word_the_next_one_takes_over(model: str, sdk: openai.OpenAI) -> None:
    text, told = streamed(sdk, model)
    assert text == TEXT
    assert told["endpoint_id"] == f"good@{model}"
    assert told["attempts"][-1]["endpoint_id"] == f"good@{model}"
    assert told["attempts"][0]["failure_class"] in {"transient", "invalid_response"}


@pytest.mark.parametrize("model", ["dies-early-then-good", "mute-then-good"])
def test_a_role_is_no_word(model: str, replaying: openai.OpenAI) -> None:
    text, told = streamed(replaying, model)
    assert text == TEXT
    assert len(told["attempts"]) == 2


@pytest.mark.parametrize("model", ["dies", "stops"])
def test_after_the_first_word_there_is_an_error_and_never_the_words_of_another(
    model: str, replaying: openai.OpenAI, backend: Backend, reports: Reports
) -> None:
    text, error, headers = broken(replaying, f"{model}-then-good", backend)
    assert text == "".join(WORDS[:2])
    assert error.code == "outcome_unknown"
    assert f"{model}@{model}-then-good (ambiguous)" in error.message
    assert [one.behaviour for one in backend.got] == [model]
    report = reports.of(headers["x-router-trace-id"])
    assert (report.outcome, [one.failure_class for one in report.attempts]) == ("ambiguous", ["ambiguous"])
    assert report.attempts[0].HasField("time_to_first_token_ms")


def test_what_the_endpoint_says_when_it_gives_up_is_passed_on(sdk: openai.OpenAI, backend: Backend) -> None:
    text, error, _ = broken(sdk, "gives-up-then-good", backend)
    assert text == "".join(WORDS[:2])
    assert (error.message, error.code, error.type) == ("The model was overloaded by you.", "overloaded", "server_error")
    assert [one.behaviour for one in backend.got] == ["gives-up"]


def test_what_an_endpoint_said_before_another_took_over_is_not_what_the_other_says(
    sdk: openai.OpenAI, backend: Backend
) -> None:
    text, error, _ = broken(sdk, "error-first-then-dies", backend)
    assert text == "".join(WORDS[:2])
    assert (error.code, [one.behaviour for one in backend.got]) == ("outcome_unknown", ["error-first", "dies"])


def test_a_stream_without_an_end_mark_is_whole(sdk: openai.OpenAI) -> None:
    text, told = streamed(sdk, "no-mark")
    assert text == TEXT
    assert told["attempts"][0]["failure_class"] is None


def test_a_stream_outlives_the_share_of_its_attempt(sdk: openai.OpenAI, backend: Backend, reports: Reports) -> None:
    """Once words went on nobody can take over, so the time that was kept for others is its own."""
    deadline_ms = 2000
    begun = time.monotonic()
    text, error, headers = broken(
        sdk, "endless-then-good", backend, extra_headers={"x-router-deadline-ms": str(deadline_ms)}
    )
    assert text.startswith("on on ")
    assert isinstance(error, openai.APIError)
    report = reports.of(headers["x-router-trace-id"])
    assert report.attempts[0].timeout_ms <= 1110  # 45/77 of 1900
    assert report.attempts[0].latency_ms > 1500
    assert time.monotonic() - begun < PATIENCE_S
    assert backend.left.wait(PATIENCE_S)


@pytest.mark.parametrize("model", ["endless", "waits"])
def test_a_client_that_hangs_up_ends_the_call_and_is_reported(
    model: str, proxy: ProxyProcess, backend: Backend, reports: Reports
) -> None:
    with by_hand(proxy, model) as connection:
        if model == "endless":
            assert connection.recv(4096)
        else:
            until(lambda: backend.got)
    assert backend.left.wait(PATIENCE_S)
    report = reports.last()
    assert (report.outcome, report.attempts[0].status_code, report.attempts[0].failure_class) == ("cancelled", 499, "")


def test_a_client_that_hangs_up_on_a_plain_answer(proxy: ProxyProcess, backend: Backend, reports: Reports) -> None:
    with openai.OpenAI(base_url=proxy.url, api_key="k", timeout=0.5, max_retries=0) as sdk, TIMED_OUT:
        sdk.chat.completions.create(model="waits", messages=SAID)
    assert backend.left.wait(PATIENCE_S)
    assert reports.last().outcome == "cancelled"


def test_a_client_that_takes_nothing_holds_the_endpoint_back_and_not_the_memory(
    start: Callable[..., ProxyProcess], backend: Backend, reports: Reports
) -> None:
    proxy = start(limits={"stall_ms": 1500})
    before = proxy.rss_mb()
    with by_hand(proxy, "flood"):
        until(lambda: backend_is_quiet(backend))
        assert backend.sent < FLOOD_BYTES / 2  # what the kernel's buffers hold, and little else
        assert proxy.rss_mb() - before < 24
        report = reports.last()  # it was given up, and the endpoint is not blamed
    assert (report.outcome, report.attempts[0].failure_class, report.attempts[0].status_code) == ("cancelled", "", 499)


def backend_is_quiet(backend: Backend) -> bool:
    """Whether it has begun, and then has not sent anything for a while."""
    sent = backend.sent
    time.sleep(0.5)
    return 0 < sent == backend.sent


def test_a_slow_client_gets_all_of_it(proxy: ProxyProcess, backend: Backend) -> None:
    with by_hand(proxy, "flood") as connection:
        until(lambda: backend_is_quiet(backend))
        read, tail = 0, b""
        while not tail.endswith(b"0\r\n\r\n"):
            piece = connection.recv(1 << 20)
            assert piece
            read += len(piece)
            tail = (tail + piece)[-4096:]
    assert read > FLOOD_BYTES
    assert b'"router":{"trace_id"' in tail
    assert b"data: [DONE]" in tail
