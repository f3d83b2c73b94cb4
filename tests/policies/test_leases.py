"""Leases: a busy policy reserves at once, and neither it nor two of them together ever spend more than there is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest

from router_service.asks import Answer, Ask
from router_service.domain.caller import LOCAL
from router_service.domain.request import RouteRequest
from router_service.policies.leases import BUSY, IDLE_MS, LEASE_MS
from router_service.store.interface import Reservation, Spending
from tests.memory_store import MemoryStore
from tests.policies.test_budgets import CENT, Setting, _attempt, _code

MINUTE = 60_000
CENT_ASK = Ask(RouteRequest.read({"input_tokens": 600, "output_tokens": 400}))


def at_once(setting: Setting) -> Answer | None:
    """A decision of one cent that had not to ask the store, if it had not."""
    answer = setting.router.decide(LOCAL, CENT_ASK)
    if isinstance(answer, Answer):
        return answer
    answer.close()  # type: ignore[attr-defined]
    return None


async def busy(**policy: object) -> Setting:
    """A policy that is busy, with its lease taken."""
    setting = Setting(**{"daily_budget": 1000} | policy)
    for _ in range(2 * BUSY):
        await setting.cent()
    await asyncio.sleep(0)
    return setting


async def settle(setting: Setting) -> None:
    await setting.memory.budgets.leases.close()


async def test_a_policy_that_is_not_busy_has_none() -> None:
    setting = Setting(daily_budget=1000)
    for _ in range(5 * BUSY):
        await setting.cent()
        setting.now += 2000 // BUSY
    assert at_once(setting) is None
    assert (await setting.spending()) == Spending(0, 5 * BUSY * CENT)


async def test_a_busy_one_decides_at_once_and_every_cent_is_counted() -> None:
    setting = await busy()
    calls = setting.store.calls
    made = [at_once(setting) for _ in range(10)]
    assert all(made)
    assert setting.store.calls == calls
    await settle(setting)
    assert await setting.spending() == Spending(0, (2 * BUSY + 10) * CENT)


async def test_a_report_that_comes_at_once_settles() -> None:
    setting = await busy()
    answer = at_once(setting)
    assert answer is not None
    await setting.report(answer, _attempt(input_tokens=100, output_tokens=0))
    await settle(setting)
    assert await setting.spending() == Spending(CENT // 10, 2 * BUSY * CENT)


@pytest.mark.parametrize("routers", [1, 2])
async def test_exactly_what_there_is_is_spent(routers: int) -> None:
    """Two share a store and what it holds; what one has put by is missed by the other for a moment only."""
    store = MemoryStore()
    settings = [Setting(store=store, daily_budget=30) for _ in range(routers)]
    admitted, quick = 0, 0
    for turn in range(4500):
        setting = settings[turn % 7 % routers]
        answer = setting.router.decide(LOCAL, CENT_ASK)
        quick += isinstance(answer, Answer)
        admitted += _code(answer if isinstance(answer, Answer) else await answer) == "decided"
        assert (await store.spending("p", "2026-11-30")).total <= 3000 * CENT
        if turn % 50 == 0:
            for one in settings:
                one.now += 100
    assert quick > 300
    for setting in settings:
        setting.now += IDLE_MS
        await setting.memory.budgets.leases.tend(setting.now)
    while _code(await settings[0].cent()) == "decided":
        admitted += 1
    assert admitted == 3000
    for setting in settings:
        await settle(setting)
    assert await store.spending("p", "2026-11-30") == Spending(0, 3000 * CENT)


async def test_one_that_is_killed_leaves_its_lease_as_spent() -> None:
    setting = await busy()
    held = (await setting.spending()).reserved
    assert held > 2 * BUSY * CENT
    made = sum(at_once(setting) is not None for _ in range(10))
    assert made == 10
    for taking in setting.memory.budgets.leases._taking.values():
        taking.cancel()
    # Nothing more is heard of it; whoever shares the store settles what is due.
    await setting.store.expire(setting.now + 15 * MINUTE, 1000)
    assert await setting.spending() == Spending(held, 0)


async def test_one_that_nobody_uses_goes_back() -> None:
    setting = await busy()
    leases = setting.memory.budgets.leases
    setting.now += IDLE_MS - 1
    await leases.tend(setting.now)
    assert (await setting.spending()).reserved > 2 * BUSY * CENT
    setting.now += 1
    await leases.tend(setting.now)
    assert await setting.spending() == Spending(0, 2 * BUSY * CENT)
    assert at_once(setting) is None


@pytest.mark.parametrize("step", [LEASE_MS, -1, 12 * 3600 * 1000])
async def test_it_ends_with_its_time_its_day_and_a_clock_that_steps_back(step: int) -> None:
    setting = await busy()
    assert at_once(setting) is not None
    setting.now += step
    assert at_once(setting) is None
    await settle(setting)
    assert await setting.spending() == Spending(0, (2 * BUSY + 1) * CENT)


class Interrupted(MemoryStore):
    """A store during whose writing of what was taken out of a lease something else is done, once."""

    then: Callable[[], object] | None = None

    async def draw(self, lease: str, drawn: Sequence[Reservation]) -> None:
        await super().draw(lease, drawn)
        then, self.then = self.then, None
        if then is not None:
            then()


async def test_what_is_taken_out_of_one_that_ends_while_it_is_written_still_counts() -> None:
    store = Interrupted()
    setting = await busy(store=store)
    made = [at_once(setting)]

    def one_more_and_its_end() -> None:
        made.append(at_once(setting))
        setting.now += LEASE_MS
        assert at_once(setting) is None

    store.then = one_more_and_its_end
    await setting.memory.budgets.leases.flush()
    await settle(setting)
    assert await setting.spending() == Spending(0, (2 * BUSY + 2) * CENT)
    assert made[1] is not None
    await setting.report(made[1], _attempt(input_tokens=100, output_tokens=0))
    assert await setting.spending() == Spending(CENT // 10, (2 * BUSY + 1) * CENT)


async def test_a_budget_that_is_changed_ends_it() -> None:
    setting = await busy()
    setting.serve(daily_budget=0.4)
    assert _code(await setting.cent()) == "budget_exceeded"
    setting.serve(daily_budget=0.41)
    assert _code(await setting.cent()) == "decided"


async def test_a_lost_store_closes_the_budget_until_what_was_taken_out_is_written() -> None:
    setting = await busy()
    assert at_once(setting) is not None
    setting.store.lost = True
    with pytest.raises(Exception, match="lost"):
        await setting.memory.recorder.flush()
    assert _code(await setting.cent()) == "budget_exceeded"
    setting.store.lost = False
    await setting.memory.recorder.flush()
    assert at_once(setting) is not None
    await setting.memory.budgets.give_back(setting.now)
    await settle(setting)
    assert await setting.spending() == Spending(0, (2 * BUSY + 2) * CENT)


async def test_what_is_left_of_it_is_not_refused_at_the_end_of_the_budget() -> None:
    setting = Setting(daily_budget=20)
    for _ in range(BUSY + 5):
        await setting.cent()
    await asyncio.sleep(0)
    left = 2000 - BUSY - 5
    # Dearer than what is left beside the lease, and not than what is left with it.
    answer = await setting.decide(input_tokens=left * 1000, output_tokens=0)
    assert _code(answer) == "decided"
    assert (await setting.spending()).total == 2000 * CENT
