"""The checks can fail: each planted fault is caught, and the true answers beside them are not."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest

from router_service.v1 import router_service_pb2 as pb
from router_service.v1.explanation_pb2 import Explanation
from router_service.v1.route_pb2 import Decision, Refusal, RouteRequest
from router_service.v1.trace_pb2 import Trace
from tests.chaos.catalogues import Author, Book
from tests.chaos.checker import Checker
from tests.chaos.errors import wrong_error
from tests.chaos.forms import Result, result_of
from tests.chaos.knowledge import Drain, Knowledge
from tests.chaos.ledger import Kept, Ledger, Row
from tests.chaos.processes import Call, Instance
from tests.chaos.spells import Spells
from tests.server.live import NOW, serving

CATALOG = """\
currency: EUR
default_policy: eu
models: [{model: m}]
endpoints:
- {endpoint_id: a, model: m, provider: p, country: FR, sovereignty: eu-owned, input_price: 1, output_price: 1}
- {endpoint_id: b, model: m, provider: q, country: DE, sovereignty: eu-hosted, input_price: 2, output_price: 2}
- {endpoint_id: c, model: m, provider: q, country: DE, sovereignty: eu-hosted, input_price: 9, output_price: 9}
- {endpoint_id: dear, model: m, provider: p, country: FR, sovereignty: eu-owned, input_price: 90, output_price: 90}
- {endpoint_id: us, model: m, provider: r, country: US, sovereignty: global, input_price: 1, output_price: 1}
policies:
- {policy_id: eu, max_price: 50}
- {policy_id: daily, daily_budget: 0.01}
- {policy_id: classes, data_classes: [personal]}
"""
REQUEST: dict[str, Any] = {"input_tokens": 1000, "output_tokens": 1000}


@dataclass
class Told:
    """A true answer of a real server, with all that it tells of it."""

    book: Book
    result: Result
    trace: Trace
    explanation: Explanation
    policy_id: str = "eu"
    data_class: str = ""

    @property
    def candidates(self) -> Any:
        """The list of a decision."""
        assert isinstance(self.result, Decision)
        return self.result.candidates

    def wrong(self) -> list[str]:
        """What the checker says."""
        checker = Checker(self.book)
        found = checker.at_once(self.result, self.policy_id, REQUEST, self.data_class, NOW)
        return found or checker.in_full(self.trace, self.explanation, REQUEST)


async def _ask(tmp_path: Path, policy_id: str = "eu", drained: str = "", data_class: str = "") -> Told:
    book = Book()
    assert book.know(CATALOG, tmp_path) is not None
    async with serving(tmp_path, CATALOG) as live:
        if drained:
            await live.set_status(drained, "down")
        request = RouteRequest(**REQUEST)
        asked = pb.DecideRequest(policy_id=policy_id, request=request, data_class=data_class)
        result = result_of(await live.router.Decide(asked))
        trace = (await live.router.GetTrace(pb.GetTraceRequest(trace_id=result.trace_id))).trace
        return Told(book, result, trace, await live.explain(result.trace_id), policy_id, data_class)


@pytest.fixture
async def told(tmp_path: Path) -> Told:
    """A decision under the policy eu, with b drained by hand."""
    return await _ask(tmp_path, drained="b")


@pytest.mark.parametrize("ask", [{}, {"policy_id": "daily"}, {"policy_id": "classes", "data_class": "secret"}])
async def test_true_answers_are_right(ask: dict[str, Any], tmp_path: Path) -> None:
    told = await _ask(tmp_path, drained="b", **ask)
    assert told.wrong() == []


def _list(told: Told, endpoint_id: str) -> None:
    told.candidates[-1].endpoint_id = endpoint_id


def _other_version(told: Told) -> None:
    told.result.catalog_version = "0" * 32


def _turned_round(told: Told) -> None:
    one, other = told.candidates[0], told.candidates[1]
    (first := Decision().candidates.add()).CopyFrom(one)
    one.CopyFrom(other)
    other.CopyFrom(first)


def _twice(told: Told) -> None:
    told.candidates.add().CopyFrom(told.candidates[0])


def _miscounted(told: Told) -> None:
    told.result.excluded += 1


def _other_policy(told: Told) -> None:
    told.policy_id = "daily"


def _class_not_allowed(told: Told) -> None:
    told.policy_id, told.data_class, told.result.policy_id = "classes", "secret", "classes"


ANSWERS: dict[str, tuple[Callable[[Told], None], str]] = {
    "an endpoint outside the policy": (lambda told: _list(told, "us"), "us is listed in spite of sovereignty"),
    "an endpoint above the ceiling": (lambda told: _list(told, "dear"), "dear is listed in spite of price_above"),
    "an endpoint of nowhere": (lambda told: _list(told, "nowhere"), "not of version"),
    "a version that never was": (_other_version, "never good"),
    "a list in another order": (_turned_round, "not ranked"),
    "an endpoint twice": (_twice, "its list is"),
    "counts that do not add up": (_miscounted, "do not add up"),
    "another policy": (_other_policy, "made under"),
    "a class of data that is not allowed": (_class_not_allowed, "data class"),
}


@pytest.mark.parametrize("name", ANSWERS)
async def test_a_mutated_answer_is_caught_by_itself(told: Told, name: str) -> None:
    mutate, expected = ANSWERS[name]
    mutate(told)
    assert expected in "; ".join(told.wrong())


def _score(told: Told) -> None:
    told.explanation.decision.candidates[0].score += 1e-9


def _sentence(told: Told) -> None:
    told.explanation.decision.sentence += " "


def _shorter(told: Told) -> None:
    del told.explanation.decision.candidates[-1]


def _without_figures(told: Told) -> None:
    for one in told.explanation.endpoints:
        del one.figures[:]


def _no_reason(told: Told) -> None:
    del told.explanation.endpoints[-1].refused_by[:]


def _later(told: Told) -> None:
    told.trace.budget_max_cost = 0.000001


@pytest.mark.parametrize("mutate", [_score, _sentence, _shorter, _without_figures, _no_reason, _later])
async def test_a_mutated_explanation_is_not_what_the_reference_says(told: Told, mutate: Callable[[Told], None]) -> None:
    mutate(told)
    assert "not what the reference says" in "; ".join(told.wrong())


@pytest.mark.parametrize(("field", "value"), [("http_status", 500), ("transient", False), ("code", "no_luck")])
async def test_a_mutated_refusal_is_caught(tmp_path: Path, field: str, value: object) -> None:
    told = await _ask(tmp_path, "daily")
    refusal = Refusal(trace_id="1", policy_id="daily", code="budget_exceeded", http_status=429, transient=True)
    refusal.catalog_version, refusal.message = told.result.catalog_version, "It is spent."
    checker = Checker(told.book)
    assert checker.at_once(refusal, "daily", REQUEST, "", NOW) == []
    setattr(refusal, field, value)
    assert checker.at_once(refusal, "daily", REQUEST, "", NOW) != []


def _quiet() -> Any:
    """As much of a world as is looked at, in which nothing happens."""
    return SimpleNamespace(store_spells=Spells(), clock_spells=Spells())


def _instance(number: int = 0) -> Instance:
    return Instance(number, process=None, log=Path(), born=0)


def test_what_was_done_by_hand_is_held_against_lists(tmp_path: Path) -> None:
    book = Book()
    author = Author(random.Random(1), NOW)
    old, new = (book.know(author.next(), tmp_path) for _ in range(2))
    assert old is not None
    assert new is not None
    assert book.know(author.bad(), tmp_path) is None
    book.put(old.version)
    book.put(new.version)
    knowledge = Knowledge(_quiet(), book)
    here, other, now = _instance(0), _instance(1), time.monotonic()
    call = Call(here, now + 1, now + 2)
    assert knowledge.wrong_list(call, ["a", "b"], old.version) == []
    knowledge.drains.append(Drain("a", now, here, kept=True))
    assert "drained by hand" in knowledge.wrong_list(call, ["a"], new.version)[0]
    assert knowledge.wrong_list(call, ["b"], new.version) == []
    # Another instance may need a moment, and no longer.
    assert knowledge.wrong_list(replace(call, instance=other), ["a"], new.version) == []
    assert knowledge.wrong_list(Call(other, now + 60, now + 61), ["a"], new.version) != []
    knowledge.drains[0].back_at = now
    assert knowledge.wrong_list(call, ["a"], new.version) == []
    knowledge.paused(here, "b")
    assert "keeps it out" in knowledge.wrong_list(call, ["b"], new.version)[0]
    knowledge.loaded(here, new.version)
    assert "after a load of a later one" in knowledge.wrong_list(call, ["c"], old.version)[0]


async def test_a_figure_that_nobody_made_is_caught(told: Told) -> None:
    knowledge = Knowledge(_quiet(), told.book)
    assert "of nobody's" in knowledge.wrong_figures(told.explanation)[0]
    knowledge.setting("b", "down")
    assert knowledge.wrong_figures(told.explanation) == []


DAY = ("daily", "2026-11-30")


def _call(begun: float) -> Call:
    return Call(_instance(), begun, begun + 1)


def test_a_double_spending_is_caught() -> None:
    ledger = Ledger()
    assert ledger.add("1", DAY, 60, 100, _call(0)) == []
    # At the same time as the first, which may not have been made yet.
    assert ledger.add("2", DAY, 40, 100, _call(0.5)) == []
    assert ledger.add("3", DAY, 1, 100, _call(3)) != []
    assert ledger.add("4", ("daily", "2026-12-01"), 100, 100, _call(3)) == []


def test_what_a_report_settled_at_may_be_spent_again_and_no_more() -> None:
    ledger = Ledger()
    ledger.add("1", DAY, 100, 100, _call(0))
    ledger.reporting("1", 30)
    ledger.reported("1")
    assert ledger.add("2", DAY, 70, 100, _call(2)) == []
    assert ledger.add("3", DAY, 1, 100, _call(4)) != []


def test_a_store_that_disagrees_with_its_answers_is_caught() -> None:
    ledger = Ledger()
    ledger.add("1", DAY, 100, 1000, _call(0))
    ledger.add("2", DAY, 50, 1000, _call(0))
    ledger.reporting("2", 30)
    ledger.reported("2")
    right = [Row("1", DAY, 100, reported=False), Row("2", DAY, 50, reported=True)]
    assert ledger.audit(Kept({DAY: 130}, right)) == []
    assert "makes 130" in ledger.audit(Kept({DAY: 131}, right))[0]
    assert "are not in the store" in ledger.audit(Kept({DAY: 100}, right[:1]))[0]
    assert "by its answer" in ledger.audit(Kept({DAY: 129}, [replace(right[0], amount=99), right[1]]))[0]
    assert "report was answered" in ledger.audit(Kept({DAY: 150}, [right[0], replace(right[1], reported=False)]))[0]
    # What a killed process had taken out of its lease is covered by what it left.
    lease = Row("lease-1", DAY, 50, reported=False)
    assert ledger.audit(Kept({DAY: 150}, [right[0], lease])) == []


def _error(code: grpc.StatusCode) -> grpc.aio.AioRpcError:
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata())


def test_errors_without_a_cause_are_caught() -> None:
    world = _quiet()
    well, unavailable = _call(10), _error(grpc.StatusCode.UNAVAILABLE)
    for code in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DEADLINE_EXCEEDED):
        assert wrong_error(world, "Decide", well, _error(code)) != ""
    assert wrong_error(world, "Decide", well, unavailable) != ""
    killed, leaving = _call(10), _call(10)
    killed.instance.killed_at = 10.5
    leaving.instance.leaving_at = 10.5
    assert wrong_error(world, "Decide", killed, unavailable) == ""
    # A call that began before the SIGTERM is answered; a stream ends, and so does what comes after.
    assert wrong_error(world, "Decide", leaving, unavailable) != ""
    assert wrong_error(world, "DecideStream", leaving, unavailable, stream=True) == ""
    assert wrong_error(world, "Decide", replace(leaving, begun=11), unavailable) == ""
    cut = replace(_call(10), through_cutter=True)
    assert wrong_error(world, "Decide", cut, unavailable) != ""
    cut.instance.cutter.cuts.moment()
    assert wrong_error(world, "Decide", replace(cut, begun=0, ended=math.inf), unavailable) == ""
