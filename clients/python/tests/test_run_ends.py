"""How a run ends otherwise: cancelled from outside, by a fault of the caller's own, without an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from clients.python.tests.scripted import TRACE_ID, ScriptedService, scripted_service
from router_service_client import AsyncRouterClient, CallFailed, Inline, NotAnswered, RouterClient, Try

TWO = {"candidates": [{"endpoint_id": "a", "need_ms": 1}, {"endpoint_id": "b", "need_ms": 1}]}
Service = tuple[ScriptedService, str]


@pytest.fixture
def service() -> Iterator[Service]:
    with scripted_service() as both:
        both[0].case = TWO
        yield both


def told(service: ScriptedService) -> tuple[str, list[tuple[str, str, int]]]:
    (report,) = service.reports
    return report.outcome, [(one.endpoint_id, one.failure_class, one.status_code) for one in report.attempts]


async def test_a_task_that_is_cancelled_cancels_its_call_and_reports_it(service: Service) -> None:
    begun, ended = asyncio.Event(), []

    async def call(attempt: Try) -> None:
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(attempt.endpoint_id)
            raise

    async with AsyncRouterClient(service[1]) as client:
        task = asyncio.create_task(client.run(None, call))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert ended == ["a"]
    assert told(service[0]) == ("cancelled", [("a", "", 499)])


async def test_an_attempt_that_takes_too_long_is_cancelled(service: Service) -> None:
    async def call(attempt: Try) -> str:
        await asyncio.sleep(60 if attempt.number == 1 else 0)
        return attempt.endpoint_id

    async with AsyncRouterClient(service[1]) as client:
        run = await client.run(None, call, replayable=True, deadline_ms=2000)
    assert run.answer() == "b"
    assert told(service[0]) == ("accepted", [("a", "ambiguous", 0), ("b", "", 0)])
    assert run.attempts[0].timeout_ms <= 1110  # 45/77 of 1900
    assert run.attempts[0].latency_ms >= run.attempts[0].timeout_ms - 100


def test_an_interrupt_is_reported_and_raised(service: Service) -> None:
    def call(_attempt: Try) -> None:
        raise KeyboardInterrupt

    with RouterClient(service[1]) as client, pytest.raises(KeyboardInterrupt):
        client.run(None, call)
    assert told(service[0]) == ("cancelled", [("a", "", 499)])


def test_a_fault_of_ones_own_is_reported_and_raised(service: Service) -> None:
    def call(_attempt: Try) -> None:
        raise KeyError("mine")

    with RouterClient(service[1]) as client, pytest.raises(KeyError, match="mine"):
        client.run(None, call)
    assert told(service[0]) == ("failed", [("a", "", 499)])


def test_a_fault_in_acceptance_is_raised_too(service: Service) -> None:
    def accept(answer: str) -> str:
        raise LookupError(answer)

    with RouterClient(service[1]) as client, pytest.raises(LookupError):
        client.run(None, lambda attempt: "words", accept=accept)
    assert told(service[0]) == ("failed", [("a", "", 499)])


def test_an_acceptance_without_words_is_a_fault_of_ones_own_too(service: Service) -> None:
    with (
        RouterClient(service[1]) as client,
        pytest.raises(TypeError, match=r"accept says in words .* it returned bool"),
    ):
        client.run(None, lambda attempt: "words", accept=lambda answer: True)  # type: ignore[arg-type, return-value]
    assert told(service[0]) == ("failed", [("a", "", 499)])


def test_starts_are_whole_milliseconds_as_the_service_keeps_them(service: Service) -> None:
    with RouterClient(service[1]) as client:
        client.run(None, lambda attempt: "words")
    (attempt,) = service[0].reports[0].attempts
    assert attempt.started_at.nanos % 1_000_000 == 0


def test_no_answer_says_what_was_tried(service: Service) -> None:
    def call(attempt: Try) -> str:
        raise CallFailed.http(503 if attempt.number == 1 else 400, body={"error": {"code": "content_filter"}})

    with RouterClient(service[1]) as client:
        run = client.run(None, call)
    with pytest.raises(NotAnswered, match=r"failed: tried: a \(permanent 503 content_filter\)") as raised:
        run.answer()
    assert raised.value.run is run
    assert run.failure is not None
    assert run.failure.status == 503


def test_a_refusal_says_why(service: Service) -> None:
    service[0].case = {"refusal": {"code": "model_not_found", "http_status": 404, "retry_after_ms": 0}}
    with RouterClient(service[1]) as client:
        run = client.run(None, lambda attempt: "words", model="x")
    with pytest.raises(NotAnswered, match="refused: "):
        run.answer()
    assert run.refusal is not None
    assert run.refusal.http_status == 404


def test_what_the_endpoint_tells_is_reported_and_acceptance_only_where_it_was_asked(service: Service) -> None:
    def call(attempt: Try) -> None:
        attempt.first_token()
        attempt.tell(input_tokens=5, output_tokens=0, finish_reason="stop", cost=0.5, status_code=200)

    with RouterClient(service[1]) as client:
        run = client.run(None, call)
    assert run.answer() is None
    (attempt,) = service[0].reports[0].attempts
    assert (attempt.input_tokens, attempt.finish_reason, attempt.cost) == (5, "stop", 0.5)
    assert attempt.HasField("output_tokens")
    assert attempt.HasField("time_to_first_token_ms")
    assert attempt.validation_result == ""


def test_candidates_of_ones_own_are_not_reported(service: Service) -> None:
    with RouterClient(service[1]) as client:
        run = client.run(None, lambda attempt: "words", inline=Inline(), operation_id="mine")
    assert run.report is None
    assert service[0].reports == []
    assert service[0].asked[0].operation_id == "mine"


def test_candidates_that_cannot_be_called_are_passed_over(service: Service) -> None:
    with RouterClient(service[1]) as client:
        run = client.run(None, lambda attempt: attempt.endpoint_id, can_call=lambda one: one.endpoint_id == "b")
        nobody = client.run(None, lambda attempt: attempt.endpoint_id, can_call=lambda one: False)
    assert run.answer() == "b"
    assert (nobody.outcome, nobody.attempts) == ("failed", ())
    assert [(one.outcome, len(one.attempts)) for one in service[0].reports] == [("accepted", 1), ("failed", 0)]


def test_a_call_sees_the_decision(service: Service) -> None:
    with RouterClient(service[1]) as client:
        run = client.run(None, lambda attempt: (attempt.decision.trace_id, len(attempt.decision.candidates)))
    assert run.answer() == (TRACE_ID, 2)


async def test_what_was_passed_on_may_take_the_time_that_was_kept_for_others(service: Service) -> None:
    extended: list[tuple[int | None, int | None]] = []

    async def call(attempt: Try) -> str:
        before = attempt.timeout_ms
        attempt.passed_on = True
        extended.append((before, attempt.timeout_ms))
        await asyncio.sleep(1.3)  # longer than its share of 1110 ms, shorter than all of 1900
        return attempt.endpoint_id

    async with AsyncRouterClient(service[1]) as client:
        run = await client.run(None, call, deadline_ms=2000)
    assert run.answer() == "a"
    ((share, all_of_it),) = extended
    assert share is not None
    assert all_of_it is not None
    assert share <= 1110  # 45/77 of 1900
    assert 1300 < all_of_it <= 1900
    assert run.attempts[0].timeout_ms == share  # what had been set for it


async def test_what_was_passed_on_ends_with_the_deadline_all_the_same(service: Service) -> None:
    async def call(attempt: Try) -> None:
        attempt.passed_on = True
        await asyncio.sleep(60)

    async with AsyncRouterClient(service[1]) as client:
        run = await client.run(None, call, replayable=True, deadline_ms=600)
    assert (run.outcome, len(run.attempts)) == ("ambiguous", 1)
    assert run.attempts[0].latency_ms >= 500
