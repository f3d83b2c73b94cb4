"""Daily budgets through the router: what is reserved, what is settled, what is refused, and when the day ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import msgspec
import pytest

from router_service.asks import Answer, Ask, Memory
from router_service.catalog.content import Content
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.domain.caller import LOCAL
from router_service.domain.decision import Decision, Refusal
from router_service.domain.policy import Policy
from router_service.domain.report import OutcomeReport, ReportedAttempt
from router_service.domain.request import RouteRequest
from router_service.router import Router
from router_service.store.interface import Spending, StoreLost
from router_service.wire.trace import CODEC
from tests.builders import endpoint
from tests.memory_store import MemoryStore

NOON = 1_796_040_000_000  # 2026-11-30T12:00:00Z
CENT = 10**10  # in 10⁻¹²
PAID = endpoint("paid@eu", input_price=10, output_price=10, latency_ms=900)
FREE = endpoint("free@eu", input_price=0, output_price=0, latency_ms=100)


class Setting:
    """A router over some endpoints with one policy and a budget, on a clock that is set by hand."""

    def __init__(self, *endpoints: Any, store: Any = None, **policy: Any) -> None:
        self.now = NOON
        self.store = MemoryStore() if store is None else store
        self.served = Served()
        self.endpoints = tuple(sorted(endpoints or (PAID,), key=lambda one: one.endpoint_id))
        self.serve(**({"daily_budget": 0.5} | policy))
        self.memory = Memory.of(self.store, CODEC, lambda _: None)
        self.router = Router(self.served, lambda: self.now, memory=self.memory)

    def serve(self, **policy: Any) -> None:
        content = Content(
            currency="EUR",
            endpoints=self.endpoints,
            policies=(Policy.read({"policy_id": "p"} | policy),),
            default_policy="p",
        )
        self.served.install(Snapshot.of(content, self.now))

    async def decide(self, **request: Any) -> Answer:
        answer = self.router.decide(LOCAL, Ask(RouteRequest.read(request)))
        return await answer if isinstance(answer, Awaitable) else answer

    async def cent(self, **request: Any) -> Answer:
        """A request that may cost one cent: 1,000 tokens at 10 a million."""
        return await self.decide(input_tokens=600, output_tokens=400, **request)

    async def spending(self, day: str = "2026-11-30") -> Spending:
        return await self.store.spending("p", day)

    async def report(self, answer: Answer, *attempts: ReportedAttempt, outcome: str = "accepted") -> Any:
        return await self.router.report(
            LOCAL, OutcomeReport(trace_id=answer.trace_id, outcome=outcome, attempts=tuple(attempts))
        )


def _attempt(number: int = 1, endpoint_id: str = "paid@eu", **facts: Any) -> ReportedAttempt:
    return ReportedAttempt(attempt_id=f"a{number}", endpoint_id=endpoint_id, **facts)


def _code(answer: Answer) -> str:
    return answer.result.code if isinstance(answer.result, Refusal) else "decided"


async def test_a_hundred_at_once_admit_exactly_as_many_as_the_budget_pays() -> None:
    setting = Setting()
    answers = await asyncio.gather(*(setting.cent() for _ in range(100)))
    codes = [_code(answer) for answer in answers]
    assert codes.count("decided") == 50
    assert codes.count("budget_exceeded") == 50
    assert await setting.spending() == Spending(0, 50 * CENT)


async def test_what_is_left_admits_a_cheaper_request() -> None:
    setting = Setting(daily_budget=0.015)
    assert _code(await setting.cent()) == "decided"
    assert _code(await setting.cent()) == "budget_exceeded"
    assert _code(await setting.decide(input_tokens=300, output_tokens=100)) == "decided"
    assert (await setting.spending()).total == CENT + 4 * CENT // 10


async def test_the_budget_narrows_the_list_and_the_cheaper_candidate_stays() -> None:
    setting = Setting(PAID, endpoint("cheap@eu", input_price=1, output_price=1), daily_budget=0.005)
    answer = await setting.cent()
    assert isinstance(answer.result, Decision)
    assert [one.endpoint_id for one in answer.result.candidates] == ["cheap@eu"]
    assert answer.result.reasons == {"cost_above_limit": 1}


async def test_a_free_primary_with_a_paid_fallback_is_charged_as_the_paid_one_until_reported() -> None:
    setting = Setting(FREE, PAID)
    answer = await setting.cent()
    assert isinstance(answer.result, Decision)
    assert [one.endpoint_id for one in answer.result.candidates] == ["free@eu", "paid@eu"]
    assert await setting.spending() == Spending(0, CENT)
    await setting.report(answer, _attempt(endpoint_id="free@eu", input_tokens=600, output_tokens=100))
    assert await setting.spending() == Spending(0, 0)


async def test_the_fallback_that_ran_is_what_is_charged_at_its_own_prices() -> None:
    setting = Setting(FREE, PAID)
    answer = await setting.cent()
    await setting.report(
        answer,
        _attempt(1, "free@eu", failure_class="transient", status_code=503),
        _attempt(2, "paid@eu", input_tokens=600, output_tokens=200),
    )
    assert await setting.spending() == Spending(8 * CENT // 10, 0)


async def test_a_report_that_comes_twice_counts_once_and_a_late_attempt_adds() -> None:
    setting = Setting()
    answer = await setting.cent()
    for expected in ((1, 0), (0, 1)):
        taken = await setting.report(answer, _attempt(1, input_tokens=500, output_tokens=0))
        assert (taken.accepted, taken.duplicates) == expected
    assert await setting.spending() == Spending(5 * CENT // 10, 0)
    await setting.report(answer, _attempt(2, cost=2 * CENT))
    assert await setting.spending() == Spending(5 * CENT // 10 + 2 * CENT, 0)


async def test_prices_are_those_of_the_decision_whatever_serves_at_the_report() -> None:
    setting = Setting()
    answer = await setting.cent()
    setting.endpoints = (msgspec.structs.replace(PAID, input_price=10**10, output_price=10**10),)
    setting.serve(daily_budget=0.5)
    await setting.report(answer, _attempt(input_tokens=600, output_tokens=400))
    assert await setting.spending() == Spending(CENT, 0)


@pytest.mark.parametrize(
    ("facts", "settled"),
    [
        ({}, CENT),  # a success that tells no tokens: its estimate
        ({"failure_class": "transient"}, 0),
        ({"failure_class": "invalid_response", "input_tokens": 600, "output_tokens": 400}, CENT),
        ({"input_tokens": 0, "output_tokens": 0}, 0),
        ({"cost": 123}, 123),
        ({"output_tokens": 400}, CENT),  # half told: at least its estimate
        ({"failure_class": "transient", "output_tokens": 400}, 4 * CENT // 10),
    ],
)
async def test_what_an_attempt_settles_at(facts: dict[str, Any], settled: int) -> None:
    setting = Setting()
    await setting.report(await setting.cent(), _attempt(**facts))
    assert await setting.spending() == Spending(settled, 0)


async def test_never_reported_settles_at_its_estimate_and_a_late_report_puts_it_right() -> None:
    setting = Setting()
    answer = await setting.cent()
    assert await setting.store.expire(NOON + 15 * 60_000 - 1, 100) == 0
    assert await setting.store.expire(NOON + 15 * 60_000, 100) == 1
    assert await setting.spending() == Spending(CENT, 0)
    setting.now = NOON + 86_400_000
    await setting.report(answer, _attempt(input_tokens=100, output_tokens=0))
    assert await setting.spending() == Spending(CENT // 10, 0)
    assert await setting.spending("2026-12-01") == Spending(0, 0)


async def test_the_refusal_says_when_the_day_ends_and_the_next_one_begins_anew() -> None:
    setting = Setting(daily_budget=0.01, time_zone="Europe/Berlin")
    setting.now = 1_793_000_000_000  # 2026-10-26 in Berlin
    await setting.cent()
    refused = (await setting.cent()).result
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.http_status, refused.transient) == ("budget_exceeded", 429, True)
    assert refused.retry_at is not None
    assert "2026-10-26 is spent; the day ends at 2026-10-26T23:00:00Z" in refused.message
    setting.now = refused.retry_at - 1
    assert _code(await setting.cent()) == "budget_exceeded"
    setting.now = refused.retry_at
    assert _code(await setting.cent()) == "decided"
    setting.now -= 1  # a clock that steps back finds the day before spent
    assert _code(await setting.cent()) == "budget_exceeded"


async def test_a_budget_that_is_changed_while_running_counts_from_the_next_decision() -> None:
    setting = Setting(daily_budget=0.01)
    await setting.cent()
    assert _code(await setting.cent()) == "budget_exceeded"
    setting.serve(daily_budget=0.02)
    assert _code(await setting.cent()) == "decided"
    setting.serve(daily_budget=0.005)
    assert _code(await setting.cent()) == "budget_exceeded"
    setting.serve(daily_budget=1)
    assert _code(await setting.cent()) == "decided"


async def test_without_token_counts_the_default_reservation_is_reserved() -> None:
    setting = Setting(daily_budget=0.025, default_reservation=0.01)
    codes = [_code(await setting.decide()) for _ in range(3)]
    assert codes == ["decided", "decided", "budget_exceeded"]
    assert (await setting.spending()).reserved == 2 * CENT
    nothing = Setting(daily_budget=0.01)
    assert [_code(await nothing.decide()) for _ in range(3)] == ["decided"] * 3
    await nothing.cent()
    assert _code(await nothing.decide()) == "budget_exceeded"


async def test_what_was_heard_last_takes_no_candidate_away() -> None:
    setting = Setting(PAID, endpoint("cheap@eu", input_price=1, output_price=1), daily_budget=0.015)
    first = await setting.cent()
    await setting.report(first, _attempt(endpoint_id="cheap@eu", cost=1))
    second = await setting.cent()
    assert isinstance(second.result, Decision)
    assert len(second.result.candidates) == 2
    assert await setting.spending() == Spending(1, CENT)


async def test_what_is_reserved_without_an_answer_is_given_back() -> None:
    class Deaf(MemoryStore):
        deaf = True

        async def reserve(self, reservation: Any) -> Any:
            made = await super().reserve(reservation)
            if self.deaf:
                raise StoreLost("memory: the answer was lost")
            return made

    setting = Setting(store=Deaf())
    assert _code(await setting.cent()) == "budget_exceeded"
    assert await setting.spending() == Spending(0, CENT)
    await setting.memory.budgets.give_back(setting.now)
    assert await setting.spending() == Spending(0, 0)


async def test_a_success_that_tells_nothing_of_a_request_without_counts_settles_at_the_default() -> None:
    setting = Setting(default_reservation=0.02)
    await setting.report(await setting.decide(), _attempt())
    assert await setting.spending() == Spending(2 * CENT, 0)


async def test_a_refusal_of_the_engine_stays_its_own_and_reserves_nothing() -> None:
    setting = Setting()
    answer = await setting.cent(residency="eu-owned")
    assert _code(answer) == "no_endpoint_for_policy"
    assert _code(await setting.cent(max_cost=0.000001)) == "no_endpoint_for_policy"
    assert await setting.spending() == Spending(0, 0)


async def test_a_budget_of_zero_admits_nothing() -> None:
    assert _code(await Setting(FREE, daily_budget=0).cent()) == "budget_exceeded"


async def test_a_lost_store_closes_the_budget_or_opens_it_as_the_policy_says() -> None:
    closed = Setting(store=MemoryStore(lost=True))
    refused = (await closed.cent()).result
    assert isinstance(refused, Refusal)
    assert refused.code == "budget_exceeded"
    assert "its store is lost" in refused.message
    closed.store.lost = False
    assert _code(await closed.cent()) == "decided"
    assert _code(await Setting(store=MemoryStore(lost=True), budget_fail_open=True).cent()) == "decided"


async def test_explain_reserves_nothing() -> None:
    setting = Setting()
    await setting.router.explain(LOCAL, Ask(RouteRequest.read({"input_tokens": 600, "output_tokens": 400})))
    assert await setting.spending() == Spending(0, 0)
