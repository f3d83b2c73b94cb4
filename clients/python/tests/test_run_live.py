"""Runs with a real service and a real backend that does wrong in every way; what the service knows of it afterwards."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from clients.python.tests.conftest import serving
from clients.python.tests.faults import Backend, closed_port, faulty_backend
from router_service_client import AsyncRouterClient, CallFailed, RouterClient, Run, Try, candidates, seen_of_response


@dataclass(frozen=True)
class Expected:
    """How a run ends, and (class, status) of its attempts, the good endpoint's last."""

    outcome: str
    attempts: tuple[tuple[str, int], ...]
    replayable: bool = False
    deadline_ms: int = 8000


OK = ("", 0)
FAULTS = {
    "refused": Expected("accepted", (("transient", 0), ("transient", 0), OK)),
    "reset": Expected("ambiguous", (("ambiguous", 0),)),
    "hang": Expected("accepted", (("ambiguous", 0), OK), replayable=True, deadline_ms=2500),
    "limited": Expected("accepted", (("transient", 429), OK)),
    "ill": Expected("accepted", (("transient", 503), OK)),
    "truncated": Expected("ambiguous", (("ambiguous", 0),), replayable=True),
    "malformed": Expected("accepted", (("invalid_response", 200), OK)),
    "schema": Expected("accepted", (("invalid_response", 200), OK)),
}


@pytest.fixture(scope="module")
def backend() -> Iterator[Backend]:
    with faulty_backend() as backend:
        yield backend


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("live")
    catalog = folder / "catalog.yaml"
    catalog.write_text(catalogue(), "utf-8")
    with serving("--listen", "127.0.0.1:0", "--catalog", str(catalog), "--store", f"sqlite:{folder}/db") as address:
        yield address


def catalogue() -> str:
    """For every fault and each client a model of its own, served by a cheap bad endpoint and a dear good one."""
    lines = ["currency: EUR", "default_policy: all", "policies: [{policy_id: all}]", "models:"]
    models = [f"{fault}-{kind}" for fault in FAULTS for kind in ("threads", "asyncio")]
    lines += [f"  - {{model: {model}, model_type: text, context_window: 8192}}" for model in models]
    lines.append("endpoints:")
    for model in models:
        for place, price in ((model.partition("-")[0], 1), ("good", 9)):
            where = "provider: p, country: DE, sovereignty: eu-owned, kind: hosted, status: up"
            figures = f"latency_ms: 10, input_price: {price}, output_price: {price}"
            lines.append(f'  - {{endpoint_id: "{place}@{model}", model: {model}, {where}, {figures}}}')
    return "\n".join(lines) + "\n"


def calling(backend: Backend) -> Callable[[Try], object]:
    """What makes one attempt with the standard library."""

    def call(attempt: Try) -> object:
        path = attempt.endpoint_id.partition("@")[0]
        port = closed_port() if path == "refused" else backend.port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=attempt.timeout)
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


def check(run: Run[object], expected: Expected, fault: str, model: str, service: str) -> None:
    assert run.outcome == expected.outcome
    assert run.result == ({"total": 12} if expected.outcome == "accepted" else None)
    assert [(one.failure_class, one.status_code) for one in run.attempts] == list(expected.attempts)
    assert {one.endpoint_id for one in run.attempts} <= {f"{fault}@{model}", f"good@{model}"}
    assert run.report is not None
    with RouterClient(service) as router:
        trace = router.get_trace(run.report.trace_id)
        left = [one.endpoint_id for one in candidates(router.decide(model=model))]
    (told,) = trace.reports
    assert told.outcome == expected.outcome
    assert [one.attempt_id for one in told.attempts] == [one.attempt_id for one in run.attempts]
    if fault == "limited":  # for 30 seconds
        assert run.attempts[0].retry_after_ms == 30_000
        assert left == [f"good@{model}"]


@pytest.mark.parametrize("fault", FAULTS)
def test_threads(fault: str, service: str, backend: Backend) -> None:
    expected, model = FAULTS[fault], f"{fault}-threads"
    backend.asked.clear()
    with RouterClient(service) as router:
        run = router.run(
            None,
            calling(backend),
            accept=accept,
            replayable=expected.replayable,
            model=model,
            deadline_ms=expected.deadline_ms,
        )
    check(run, expected, fault, model, service)
    assert len(backend.asked) == len(run.attempts) - 2 * (fault == "refused")
    assert router.reports.outbox.delivered == 1


@pytest.mark.parametrize("fault", FAULTS)
async def test_asyncio(fault: str, service: str, backend: Backend) -> None:
    expected, model = FAULTS[fault], f"{fault}-asyncio"
    call = calling(backend)
    async with AsyncRouterClient(service) as router:
        run = await router.run(
            None,
            lambda attempt: asyncio.to_thread(call, attempt),
            accept=accept,
            replayable=expected.replayable,
            model=model,
            deadline_ms=expected.deadline_ms,
        )
    await asyncio.to_thread(check, run, expected, fault, model, service)
    assert router.reports.outbox.delivered == 1


def test_the_example_answers(service: str, backend: Backend) -> None:
    example = Path(__file__).parent.parent / "examples" / "ask.py"
    assert len(example.read_text("utf-8").splitlines()) <= 40
    done = subprocess.run(
        [sys.executable, example, f"http://127.0.0.1:{backend.port}/v1", "Is it?"],
        env={**os.environ, "ROUTER": service},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Yes.\n"
    assert "at attempt 1" in done.stderr
