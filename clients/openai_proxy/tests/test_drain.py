"""SIGTERM: not ready at once, what is under way ends, what does not end in time says so, and every report arrives."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from itertools import islice
from typing import Any

import httpx2
import openai

from clients.openai_proxy.tests.backend import Backend
from clients.openai_proxy.tests.behaviours import TEXT
from clients.openai_proxy.tests.conftest import Reports
from clients.openai_proxy.tests.world import ProxyProcess, until

SAID: Any = [{"role": "user", "content": "Good morning?"}]


def reading(proxy: ProxyProcess, model: str) -> tuple[threading.Thread, list[str], list[openai.APIError]]:
    """A stream that is read in the background: its words, and the error that it ends with."""
    words: list[str] = []
    errors: list[openai.APIError] = []

    def read() -> None:
        with openai.OpenAI(base_url=proxy.url, api_key="k", max_retries=0) as sdk:
            try:
                stream = sdk.chat.completions.create(model=model, messages=SAID, stream=True)
                for one in stream:
                    words.append(one.choices[0].delta.content or "")  # noqa: PERF401 - seen while it goes on
            except openai.APIError as error:
                errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    until(lambda: "".join(words))
    return thread, words, errors


def status_of(url: str) -> int:
    """The status of a probe; 0 where nobody listens any more."""
    try:
        return httpx2.get(url).status_code
    except httpx2.TransportError:
        return 0


def test_streams_end_and_reports_are_delivered(
    start: Callable[..., ProxyProcess], backend: Backend, reports: Reports
) -> None:
    proxy = start()
    assert status_of(f"{proxy.root}/readyz") == 200
    thread, words, errors = reading(proxy, "pause")
    proxy.process.send_signal(signal.SIGTERM)
    until(lambda: status_of(f"{proxy.root}/healthz") == 0)  # nobody new is let in
    assert proxy.process.poll() is None
    backend.go_on.set()
    thread.join()
    assert ("".join(words), errors) == (TEXT, [])
    assert proxy.stop(signal.SIGCONT) == 0
    report = reports.last()
    assert (report.outcome, report.attempts[0].endpoint_id) == ("accepted", "pause@pause")


def test_what_does_not_end_in_time_is_told_so(
    start: Callable[..., ProxyProcess], backend: Backend, reports: Reports
) -> None:
    proxy = start(limits={"grace_ms": 300})
    thread, words, errors = reading(proxy, "endless")
    waiting: list[httpx2.Response] = []
    body = {"model": "waits", "messages": SAID}
    asking = threading.Thread(
        target=lambda: waiting.append(httpx2.post(f"{proxy.url}/chat/completions", json=body, timeout=60))
    )
    asking.start()
    until(lambda: backend.asked("waits"))
    assert proxy.stop() == 0
    thread.join()
    asking.join()
    assert "".join(words).startswith("on on")
    assert [error.code for error in errors] == ["shutting_down"]
    assert (waiting[0].status_code, waiting[0].json()["error"]["code"]) == (503, "shutting_down")
    assert "x-should-retry" not in waiting[0].headers  # another one may answer
    newest = [one.trace_id for one in islice(reports.router.list_traces(page_size=2), 2)]
    assert {reports.of(one).outcome for one in newest} == {"cancelled"}
    assert {one["requests"] for one in proxy.logged("requests are cut off")} == {2}


def test_new_requests_are_taken_while_it_drains(start: Callable[..., ProxyProcess]) -> None:
    proxy = start(limits={"drain_ms": 60_000})
    with openai.OpenAI(base_url=proxy.url, api_key="k", max_retries=0) as sdk:
        proxy.process.send_signal(signal.SIGTERM)
        until(lambda: status_of(f"{proxy.root}/readyz") == 503)
        assert httpx2.get(f"{proxy.root}/readyz").json() == {"status": "draining"}
        assert sdk.chat.completions.create(model="good", messages=SAID).choices[0].message.content == TEXT
    assert proxy.stop(signal.SIGTERM) == -signal.SIGTERM  # a second one ends it at once
