"""Runs with a real service and a real backend that does wrong in every way; what the service knows of it afterwards."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from clients.conformance.faults import Backend
from clients.conformance.live import RUNS, Live, live
from router_service_client import AsyncRouterClient, CallFailed, RouterClient, Run, Try, candidates, seen_of_response

Service = tuple[Live, Backend]
ANSWER = {"total": 12}


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with live("threads", "asyncio") as both:
        yield both


def calling(places: Live) -> Callable[[Try], object]:
    """What makes one attempt with the standard library."""

    def call(attempt: Try) -> object:
        path = attempt.endpoint_id.partition("@")[0]
        where = urlsplit(places.refused if path == "refused" else places.backend)
        connection = http.client.HTTPConnection(where.netloc, timeout=attempt.timeout)
        try:
            connection.request("POST", f"/{path}", b"{}")
            response = connection.getresponse()
            if response.status >= 400:
                raise CallFailed(seen_of_response(response))
            attempt.first_token()
            first = response.read(4)
            attempt.passed_on = path == "truncated"  # as a proxy does that streams
            return json.loads(first + response.read())
        finally:
            connection.close()

    return call


def accept(answer: object) -> str:
    return "" if isinstance(answer, dict) and "total" in answer else "no total"


def check(run: Run[object], fault: str, model: str, router: str) -> None:
    expected: dict[str, Any] = RUNS[fault]
    assert run.outcome == expected["outcome"]
    assert run.result == (ANSWER if expected["outcome"] == "accepted" else None)
    assert [[one.failure_class, one.status_code] for one in run.attempts] == expected["attempts"]
    assert {one.endpoint_id for one in run.attempts} <= {f"{fault}@{model}", f"good@{model}"}
    assert run.report is not None
    with RouterClient(router) as client:
        trace = client.get_trace(run.report.trace_id)
        left = [one.endpoint_id for one in candidates(client.decide(model=model))]
    (told,) = trace.reports
    assert told.outcome == expected["outcome"]
    assert [one.attempt_id for one in told.attempts] == [one.attempt_id for one in run.attempts]
    if "retry_after_ms" in expected:  # the bad endpoint is left out for so long
        assert run.attempts[0].retry_after_ms == expected["retry_after_ms"]
        assert left == [f"good@{model}"]


def asked_for(fault: str, kind: str) -> dict[str, Any]:
    return {"model": f"{fault}-{kind}", **{name: RUNS[fault][name] for name in ("replayable", "deadline_ms")}}


@pytest.mark.parametrize("fault", RUNS)
def test_threads(fault: str, service: Service) -> None:
    places, backend = service
    backend.asked.clear()
    asked = asked_for(fault, "threads")
    with RouterClient(places.router) as router:
        run = router.run(None, calling(places), accept=accept, **asked)
    check(run, fault, asked["model"], places.router)
    assert len(backend.asked) == len(run.attempts) - 2 * (fault == "refused")
    assert router.reports.outbox.delivered == 1


@pytest.mark.parametrize("fault", RUNS)
async def test_asyncio(fault: str, service: Service) -> None:
    places, _ = service
    call, asked = calling(places), asked_for(fault, "asyncio")
    async with AsyncRouterClient(places.router) as router:
        run = await router.run(None, lambda attempt: asyncio.to_thread(call, attempt), accept=accept, **asked)
    await asyncio.to_thread(check, run, fault, asked["model"], places.router)
    assert router.reports.outbox.delivered == 1


def test_the_example_answers(service: Service) -> None:
    places, _ = service
    example = Path(__file__).parent.parent / "examples" / "ask.py"
    assert len(example.read_text("utf-8").splitlines()) <= 40
    done = subprocess.run(
        [sys.executable, example, f"{places.backend}/v1", "Is it?"],
        env={**os.environ, "ROUTER": places.router},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Yes.\n"
    assert "at attempt 1" in done.stderr
