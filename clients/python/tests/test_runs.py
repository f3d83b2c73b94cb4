"""Whole runs of the vectors, by both clients over the wire, without waiting."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import grpc
import pytest

from clients.python.tests.scripted import TRACE_ID, Case, ScriptedService, World, scripted_service, vectors
from router_service_client import (
    AsyncRouterClient,
    AsyncRuntime,
    CallFailed,
    Report,
    RouterClient,
    RouterUnavailable,
    Run,
    Runtime,
    Seen,
    Try,
)

RUNS = vectors("runs.json")
Service = tuple[ScriptedService, str]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with scripted_service() as both:
        yield both


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[RouterClient]:
    with RouterClient(service[1]) as client:
        yield client


class Backends:
    """Endpoints that do what the script says, one line a call or a cancelled wait."""

    def __init__(self, run: Case, service: ScriptedService) -> None:
        self.script = list(run["script"])
        self.world = World(list(run["draws"]), datetime.fromisoformat(RUNS["now"]))
        self.refusing: dict[str, str] = {}
        service.case, service.world, service.reports = run["decide"], self.world, []

    def call(self, attempt: Try) -> str:
        line = self.script.pop(0)
        step = {"call": attempt.endpoint_id, "timeout_ms": attempt.timeout_ms}
        self.world.steps.append(step)
        self.world.gone_ms += line["takes_ms"]
        attempt.passed_on = line.get("passed_on", False)
        if attempt.passed_on and attempt.timeout_ms is not None:
            step["extended_ms"] = attempt.timeout_ms
        if "seen" in line:
            raise CallFailed(Seen(**line["seen"]))
        self.refusing[line["answer"]] = line.get("not_accepted", "")
        return str(line["answer"])

    def accept(self, answer: str) -> str:
        return self.refusing[answer]

    def sleep(self, seconds: float) -> None:
        self.world.wait(seconds)
        if self.script and self.script[0].get("seen", {}).get("kind") == "caller_cancelled":
            self.script.pop(0)
            raise CallFailed.cancelled()

    async def call_async(self, attempt: Try) -> str:
        return self.call(attempt)

    async def sleep_async(self, seconds: float) -> None:
        self.sleep(seconds)


def arguments(case: Case, world: World) -> dict[str, Any]:
    clocks = {"clock": world.clock, "now": world.now, "random": world.random}
    return {"replayable": case["replayable"], "operation_id": "mine", **case["request"], "clocks": clocks}


def as_written(report: Report | None, world: World) -> Case | None:
    """A report as the vectors write it: what is not told is left out, instants are ms since the run began."""
    if report is None:
        return None
    attempts = []
    for one in report.attempts:
        fields = {field.name: value for field, value in one.ListFields()}
        started = fields.pop("started_at").ToMilliseconds() - round(world.start.timestamp() * 1000)
        attempts.append({**fields, "started_ms": started})
    return {"outcome": report.outcome, "attempts": attempts}


def check(case: Case, run: Run[str] | None, backends: Backends, service: ScriptedService) -> None:
    expected = case["expect"]
    assert backends.world.steps == expected["steps"]
    assert not backends.script
    assert not backends.world.draws
    told = service.reports[0] if service.reports else None
    assert len(service.reports) == (expected["report"] is not None)
    assert as_written(told, backends.world) == expected["report"]
    if run is None:
        assert expected["outcome"] == "error"
        return
    assert (run.outcome, run.result) == (expected["outcome"], expected["answer"])
    assert run.report == told
    assert list(run.attempts) == (list(told.attempts) if told else [])
    if told:
        assert (told.trace_id, told.operation_id) == (TRACE_ID, "mine")
    else:
        assert run.refusal is not None
        assert run.decision is None


@pytest.mark.parametrize("case", RUNS["runs"], ids=lambda case: case["name"])
def test_threads(case: Case, service: Service, client: RouterClient) -> None:
    backends = Backends(case, service[0])
    given = arguments(case, backends.world)
    runtime = Runtime(sleep=backends.sleep, **given.pop("clocks"))
    run = None
    if case["expect"]["outcome"] == "error":
        with pytest.raises(RouterUnavailable):
            client.run(None, backends.call, accept=backends.accept, runtime=runtime, **given)
    else:
        run = client.run(None, backends.call, accept=backends.accept, runtime=runtime, **given)
    assert client.reports.flush()
    check(case, run, backends, service[0])


@pytest.mark.parametrize("case", RUNS["runs"], ids=lambda case: case["name"])
async def test_asyncio(case: Case, service: Service) -> None:
    backends = Backends(case, service[0])
    given = arguments(case, backends.world)
    runtime = AsyncRuntime(sleep=backends.sleep_async, **given.pop("clocks"))
    run = None
    async with AsyncRouterClient(service[1]) as client:
        if case["expect"]["outcome"] == "error":
            with pytest.raises(RouterUnavailable):
                await client.run(None, backends.call_async, accept=backends.accept, runtime=runtime, **given)
        else:
            run = await client.run(None, backends.call_async, accept=backends.accept, runtime=runtime, **given)
    check(case, run, backends, service[0])


def test_a_service_that_is_not_there_means_no_call(tmp_path: object) -> None:
    def call(attempt: Try) -> str:
        pytest.fail(f"{attempt.endpoint_id} was called")

    with RouterClient(f"unix:{tmp_path}/nothing.sock") as client, pytest.raises(RouterUnavailable) as raised:
        client.run(None, call, model="auto")
    assert raised.value.code is grpc.StatusCode.UNAVAILABLE
