"""What metrics read rather than count: circuits at the moment of a scrape, budgets as the store told them last."""

from __future__ import annotations

from typing import Any

import pytest

from router_service.asks import Memory
from router_service.catalog.content import Content
from router_service.catalog.served import Served
from router_service.catalog.snapshot import Snapshot
from router_service.domain.money import COST_UNIT
from router_service.domain.policy import Policy
from router_service.health.board import Board
from router_service.health.circuit import CLOSED, HALF_OPEN, OPEN
from router_service.health.effects import FAILURE
from router_service.health.observation import Observation
from router_service.server.log import make_logger
from router_service.server.metrics import Metrics
from router_service.server.states import CIRCUITS_MAX
from router_service.server.upkeep import Upkeep
from router_service.store.interface import Reservation, StoreLost
from router_service.store.watched import WatchedStore
from router_service.v1 import router_service_pb2 as pb
from router_service.wire.trace import CODEC
from tests.builders import NOW, endpoint
from tests.memory_store import MemoryStore
from tests.server.in_process import InProcess, history
from tests.server.test_reports import attempt, report

__all__ = ["history"]  # fixtures


async def fail(history: InProcess, endpoint_id: str, times: int) -> None:
    for number in range(times):
        answer = await history.router.Decide(pb.DecideRequest(policy_id="world"))
        failed = attempt(f"{number}", endpoint_id, failure_class="transient", status_code=503)
        await history.router.Report(report(answer.decision.trace_id, failed, outcome="failed"))


def states(history: InProcess) -> dict[str, float]:
    return {state: history.counted("router_circuits", state=state) for state in (CLOSED, HALF_OPEN, OPEN)}


async def test_a_circuit_is_told_while_it_is_not_closed(history: InProcess) -> None:
    assert states(history) == {CLOSED: 3, HALF_OPEN: 0, OPEN: 0}
    await fail(history, "large@us", 5)
    assert states(history) == {CLOSED: 2, HALF_OPEN: 0, OPEN: 1}
    assert history.counted("router_circuit_state", endpoint="large@us") == 2
    assert history.counted("router_circuit_transitions_total", endpoint="large@us", to=OPEN) == 1
    history.now += 30_000
    assert states(history) == {CLOSED: 2, HALF_OPEN: 1, OPEN: 0}
    assert history.counted("router_circuit_state", endpoint="large@us") == 1
    await fail(history, "large@us", 1)
    assert history.counted("router_circuit_transitions_total", endpoint="large@us", to=OPEN) == 2
    history.now += 60_000
    for number in range(2):
        answer = await history.router.Decide(pb.DecideRequest(policy_id="world"))
        await history.router.Report(report(answer.decision.trace_id, attempt(f"good{number}", "large@us")))
    assert states(history) == {CLOSED: 3, HALF_OPEN: 0, OPEN: 0}
    assert history.counted("router_circuit_transitions_total", endpoint="large@us", to=CLOSED) == 1
    assert "large@us" not in {
        sample.labels["endpoint"]
        for metric in history.metrics.registry.collect()
        if metric.name == "router_circuit_state"
        for sample in metric.samples
    }


async def test_pauses_by_an_endpoints_own_word_are_counted(history: InProcess) -> None:
    answer = await history.router.Decide(pb.DecideRequest(policy_id="world"))
    limited = attempt("1", "large@us", failure_class="transient", status_code=429)
    await history.router.Report(report(answer.decision.trace_id, limited, outcome="failed"))
    assert history.counted("router_suppressed_endpoints") == 1
    assert states(history)[CLOSED] == 3
    history.now += 10_000
    assert history.counted("router_suppressed_endpoints") == 0


def content(size: int, *policies: dict[str, Any]) -> Snapshot:
    endpoints = tuple(endpoint(f"m@{number:04}") for number in range(size))
    read = tuple(Policy.read(policy) for policy in policies)
    return Snapshot.of(Content(currency="SEK", endpoints=endpoints, policies=read, default_policy=""), NOW)


def test_only_so_many_circuits_are_told_by_name() -> None:
    metrics, board, size = Metrics(), Board(), 3 * CIRCUITS_MAX
    metrics.installed(content(size, {"policy_id": "p"}), changed=True)
    metrics.watch(board, lambda: NOW)
    for endpoint_id in (*(f"m@{number:04}" for number in range(size)), "of another catalogue"):
        for turn in range(5):
            board.observe(endpoint_id, Observation(trace_id=str(turn), decided_at=NOW, effect=FAILURE, at=NOW), NOW)
    assert metrics.registry.get_sample_value("router_circuits", {"state": OPEN}) == size
    (single,) = (one for one in metrics.registry.collect() if one.name == "router_circuit_state")
    assert len(single.samples) == CIRCUITS_MAX


class Budgets:
    """The upkeep of a store in memory, for a catalogue of these policies."""

    def __init__(self, *policies: dict[str, Any]) -> None:
        self.metrics, self.kept, served = Metrics(), MemoryStore(), Served(content(1, *policies))
        store = WatchedStore(self.kept)
        memory = Memory.of(store, CODEC, lambda _: None)
        log = make_logger("critical", "json")
        self._upkeep = Upkeep(memory, store, served, lambda: NOW, self.metrics, log, self._told)

    async def ask(self) -> None:
        """What it does at its beat."""
        await self._upkeep._tell_budgets()

    async def _told(self, healthy: bool) -> None: ...

    def told(self, name: str, policy: str) -> float | None:
        return self.metrics.registry.get_sample_value(name, {"policy": policy, "currency": "SEK"})


async def test_budgets_are_those_of_policies_that_have_one_on_their_own_day() -> None:
    budgets = Budgets(
        {"policy_id": "free"},
        {"policy_id": "capped", "daily_budget": 20, "time_zone": "Pacific/Auckland"},
    )
    # 2027-01-15T08:00Z is 21:00 of that day in Auckland.
    made = {"policy_id": "capped", "budget": 20 * COST_UNIT, "at": NOW, "expires_at": NOW}
    await budgets.kept.reserve(Reservation(trace_id="1", day="2027-01-15", amount=5 * COST_UNIT, **made))
    await budgets.kept.reserve(Reservation(trace_id="2", day="2027-01-15", amount=COST_UNIT // 2, **made))
    await budgets.kept.expire(NOW, 1)
    await budgets.ask()
    assert budgets.told("router_budget_limit", "capped") == 20
    assert budgets.told("router_budget_spent", "capped") == 5
    assert budgets.told("router_budget_reserved", "capped") == 0.5
    assert budgets.told("router_budget_limit", "free") is None
    asked = budgets.metrics.registry.get_sample_value("router_budgets_asked_timestamp_seconds")
    assert asked == NOW / 1000


async def test_while_the_store_is_lost_no_old_spending_is_told() -> None:
    budgets = Budgets({"policy_id": "capped", "daily_budget": 20})
    await budgets.ask()
    assert budgets.told("router_budget_spent", "capped") == 0
    budgets.kept.lost = True
    with pytest.raises(StoreLost):
        await budgets.ask()
    assert budgets.told("router_budget_spent", "capped") is None
    assert budgets.metrics.registry.get_sample_value("router_store_lost") == 1
    budgets.kept.lost = False
    await budgets.ask()
    assert budgets.told("router_budget_spent", "capped") == 0


async def test_a_scrape_asks_no_store() -> None:
    budgets = Budgets({"policy_id": "capped", "daily_budget": 20})
    await budgets.ask()
    before = budgets.kept.calls
    assert budgets.told("router_budget_spent", "capped") == 0
    assert budgets.kept.calls == before
